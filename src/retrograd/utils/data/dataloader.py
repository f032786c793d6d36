"""DataLoader: batches of a data set, in order or shuffled, fetched here or by threads."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .collate import default_collate, default_convert
from .dataset import IterableDataset, Subset, TensorDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler, draw_seed
from .worker import Worker, WorkerInfo, fetch_by_index, fetch_in_turn

_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _Forever:
    """The sampler of an iterable data set, which takes no indices."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class DataLoader:
    """Iterate over a data set in batches.

    The order of a shuffled loader is PyTorch's for the same seed. With ``num_workers``, threads
    fetch batches ahead of time; they share memory with the program, and its random generator.
    """

    def __init__(self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None,
                 sampler: Iterable[Any] | None = None, batch_sampler: Iterable[list] | None = None,
                 num_workers: int = 0, collate_fn: Callable[[list], Any] | None = None,
                 pin_memory: bool = False, drop_last: bool = False, timeout: float = 0,
                 worker_init_fn: Callable[[int], None] | None = None,
                 multiprocessing_context: Any = None, generator: Any = None, *,
                 prefetch_factor: int | None = None, persistent_workers: bool = False,
                 pin_memory_device: str = "", in_order: bool = True) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers,
                       multiprocessing_context)
        if pin_memory:
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device "
                "pinned memory won't be used.", stacklevel=2)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.in_order = in_order
        self.generator = generator
        self.persistent_workers = persistent_workers
        self._by_index = not isinstance(dataset, IterableDataset)
        if not self._by_index:
            _check_iterable_options(shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, "
                    "sampler, and drop_last")
            batch_size = None
            drop_last = False
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with "
                "drop_last")
        if sampler is None:
            sampler = self._default_sampler(bool(shuffle))
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.collate_fn = collate_fn
        self._length_asked: int | None = None
        self._initialized = True

    def _default_sampler(self, shuffle: bool) -> Iterable[Any]:
        if not self._by_index:
            return _Forever()
        if shuffle:
            return RandomSampler(self.dataset, generator=self.generator)
        return SequentialSampler(self.dataset)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and self.__dict__.get("_initialized"):
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    def __iter__(self) -> Iterator[Any]:
        # Drawn before the sampler's own seed: that order makes the batches PyTorch's.
        base_seed = draw_seed(self.generator)
        indices = iter(self.sampler if self.batch_sampler is None else self.batch_sampler)
        if self.num_workers:
            batches = self._from_workers(indices, base_seed)
        else:
            batches = map(self._make_fetch(), indices)
            if not self._by_index:
                batches = _until_stop(batches)
        if self._length_asked is not None:
            batches = self._warn_past_length(batches)
        return batches

    def _from_workers(self, indices: Iterator[Any], base_seed: int) -> Iterator[Any]:
        workers = [Worker(WorkerInfo(number, self.num_workers, base_seed + number, self.dataset),
                          self._make_fetch, self.worker_init_fn)
                   for number in range(self.num_workers)]
        ahead = self.prefetch_factor or 1
        if self._by_index:
            return fetch_by_index(workers, indices, ahead, self.timeout)
        return fetch_in_turn(workers, ahead, self.timeout)

    def _make_fetch(self) -> Callable[[Any], Any]:
        """Return the function that turns an index, or a list of them, into a batch."""
        dataset, collate = self.dataset, self.collate_fn
        if not self._by_index:
            return self._make_stream_fetch()
        if self.batch_sampler is None:
            return lambda index: collate(dataset[index])
        if collate is default_collate and (pick := _row_picker(dataset)):
            return pick
        fetch_many = getattr(dataset, "__getitems__", None)
        if callable(fetch_many):
            return lambda indices: collate(fetch_many(indices))
        return lambda indices: collate([dataset[index] for index in indices])

    def _make_stream_fetch(self) -> Callable[[Any], Any]:
        stream, collate = iter(self.dataset), self.collate_fn
        if self.batch_sampler is None:
            return lambda _: collate(next(stream))

        def fetch(_: Any) -> Any:
            samples = list(itertools.islice(stream, self.batch_size))
            if not samples or (self.drop_last and len(samples) < (self.batch_size or 1)):
                raise StopIteration
            return collate(samples)

        return fetch

    def _warn_past_length(self, batches: Iterator[Any]) -> Iterator[Any]:
        for count, batch in enumerate(batches, start=1):
            if self._length_asked is not None and count > self._length_asked:
                warnings.warn(
                    f"Length of IterableDataset {self.dataset} was reported to be "
                    f"{self._length_asked} (when accessing len(dataloader)), but {count} samples "
                    "have been fetched. ", stacklevel=2)
            yield batch

    def __len__(self) -> int:
        if self._by_index:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]
        length = len(self.dataset)
        if self.batch_size is not None:
            exact = length / self.batch_size
            length = math.floor(exact) if self.drop_last else math.ceil(exact)
        self._length_asked = length
        return length


def _row_picker(dataset: Any) -> Callable[[list[int]], list] | None:
    """Return a function that picks whole batches of rows, or None if only single rows will do.

    Picking rows of a tensor at once gives what stacking them gives, without the detour; rows that
    are part of a graph are stacked, as their history would show.
    """
    if isinstance(dataset, Subset):
        pick = _row_picker(dataset.dataset) if type(dataset) is Subset else None
        indices = dataset.indices
        return pick and (lambda batch: pick([indices[i] for i in batch]))
    if type(dataset) is not TensorDataset:
        return None
    tensors = dataset.tensors
    if any(tensor.requires_grad for tensor in tensors):
        return None
    return lambda batch: [tensor[batch] for tensor in tensors]


def _until_stop(batches: Iterator[Any]) -> Iterator[Any]:
    # ``map`` passes on the StopIteration of an exhausted data set, which ends this loop.
    yield from batches


def _check_workers(num_workers: int, timeout: float, prefetch_factor: int | None,
                   persistent_workers: bool, multiprocessing_context: Any) -> None:
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable "
                         "multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > "
            "0 to enable multiprocessing, otherwise set prefetch_factor to None.")
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")
    if multiprocessing_context is not None:
        raise ValueError(
            "multiprocessing_context is not supported: the workers of this DataLoader are threads")


def _check_iterable_options(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    if shuffle not in {False, None}:
        raise ValueError(
            "DataLoader with IterableDataset: expected unspecified shuffle option, but got "
            f"shuffle={shuffle}")
    if sampler is not None:
        raise ValueError(
            "DataLoader with IterableDataset: expected unspecified sampler option, but got "
            f"sampler={sampler}")
    if batch_sampler is not None:
        raise ValueError(
            "DataLoader with IterableDataset: expected unspecified batch_sampler option, but got "
            f"batch_sampler={batch_sampler}")
