"""Sampling for one of several processes that train together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from ...ops.creation.random import randperm
from ...random import Generator
from .sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """The share of one process of all indices; every process gets equally many."""

    def __init__(self, dataset: Any, num_replicas: int | None = None, rank: int | None = None,
                 shuffle: bool = True, seed: int = 0, drop_last: bool = False) -> None:
        if num_replicas is None or rank is None:
            from ... import distributed

            num_replicas = distributed.get_world_size() if num_replicas is None else num_replicas
            rank = distributed.get_rank() if rank is None else rank
        if rank >= num_replicas or rank < 0:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.epoch = 0
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        whole = len(dataset) / num_replicas
        self.num_samples = math.floor(whole) if drop_last else math.ceil(whole)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        indices = list(range(len(self.dataset)))
        if self.shuffle:
            generator = Generator().manual_seed(self.seed + self.epoch)
            indices = randperm(len(self.dataset), generator=generator).tolist()
        # What is missing is taken from the beginning again; what is too much is left out.
        shared = itertools.islice(itertools.cycle(indices), self.total_size)
        return itertools.islice(shared, self.rank, None, self.num_replicas)

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Shuffle differently in each epoch; every process has to be told the same."""
        self.epoch = epoch
