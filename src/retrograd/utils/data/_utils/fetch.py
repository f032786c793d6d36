"""Fetching: from an index, or a list of them, to a batch."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from ....core.tensor import Tensor
from ..dataset import Subset, TensorDataset
from .collate import collate_tensor_fn, default_collate, default_collate_fn_map


class _BaseDatasetFetcher:
    """Makes batches of a data set."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any],
                 drop_last: bool) -> None:
        self.dataset, self.auto_collation = dataset, auto_collation
        self.collate_fn, self.drop_last = collate_fn, drop_last


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """Takes the next samples of a stream; of the index it minds only the length."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.dataset_iter = iter(self.dataset)
        self.ended = False

    def fetch(self, possibly_batched_index: Any) -> Any:
        """The next batch; StopIteration when the stream is at its end."""
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        wanted = len(possibly_batched_index)
        samples = list(itertools.islice(self.dataset_iter, wanted))
        self.ended = len(samples) < wanted
        if not samples or (self.drop_last and self.ended):
            raise StopIteration
        return self.collate_fn(samples)


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """Takes samples by index."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        stacks = self.auto_collation and self.collate_fn is default_collate \
            and default_collate_fn_map[Tensor] is collate_tensor_fn
        self._pick = _row_picker(self.dataset) if stacks else None

    def fetch(self, possibly_batched_index: Any) -> Any:
        """The sample of an index, or the batch of a list of them."""
        if not self.auto_collation:
            return self.collate_fn(self.dataset[possibly_batched_index])
        indices = possibly_batched_index
        if self._pick and set(map(type, indices)) == {int}:
            return self._pick(indices)
        fetch_many = getattr(self.dataset, "__getitems__", None)
        if callable(fetch_many):
            return self.collate_fn(fetch_many(indices))
        return self.collate_fn([self.dataset[index] for index in indices])


def _row_picker(dataset: Any) -> Callable[[Any], list] | None:
    """Return a function that picks whole batches of rows, or None if only single rows will do.

    Picking rows of a tensor at once gives what stacking them gives, without the detour; rows that
    are part of a graph are stacked, as their history would show.
    """
    if type(dataset) is Subset:
        pick = _row_picker(dataset.dataset)
        indices = dataset.indices
        return pick and (lambda batch: pick([indices[i] for i in batch]))
    if type(dataset) is not TensorDataset or any(t.requires_grad for t in dataset.tensors):
        return None
    tensors = dataset.tensors
    return lambda batch: [tensor[batch] for tensor in tensors]
