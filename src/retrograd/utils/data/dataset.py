"""Data sets: what a loader draws samples from."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from ...core.tensor import Tensor
from ...ops.creation.random import randperm
from ...random import default_generator

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Samples by index: subclasses define ``__getitem__`` and usually ``__len__``."""

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Any) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Samples one after another: subclasses define ``__iter__``."""

    def __add__(self, other: Any) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Tensors of equal length; a sample is a row of each.

    >>> TensorDataset(retrograd.tensor([1.0, 2.0]), retrograd.tensor([0, 1]))[1]
    (tensor(2.), tensor(1))
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensor.size(0) != tensors[0].size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class ConcatDataset(Dataset[T_co]):
    """Several data sets, one after another."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(itertools.accumulate(map(len, self.datasets)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> T_co:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        number = bisect.bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[number - 1] if number else 0
        return self.datasets[number][index - before]


class ChainDataset(IterableDataset):
    """Several iterable data sets, one after another."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        super().__init__()
        self.datasets = datasets

    def _checked(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset

    def __iter__(self) -> Iterator[Any]:
        for dataset in self._checked():
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._checked())


class Subset(Dataset[T_co]):
    """The samples of a data set at given indices."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> T_co:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[T_co]:
        """Return several samples at once."""
        inner = [self.indices[i] for i in indices]
        fetch = getattr(self.dataset, "__getitems__", None)
        return fetch(inner) if callable(fetch) else [self.dataset[i] for i in inner]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[int | float],
                 generator: Any = None) -> list[Subset]:
    """Split a data set at random into parts of given lengths, or of given fractions."""
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _whole_lengths(len(dataset), lengths)
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    generator = default_generator if generator is None else generator
    order = randperm(int(sum(lengths)), generator=generator).tolist()
    ends = itertools.accumulate(lengths)
    return [Subset(dataset, order[int(end) - int(length):int(end)])
            for end, length in zip(ends, lengths)]


def _whole_lengths(total: int, fractions: Sequence[float]) -> list[int]:
    for place, fraction in enumerate(fractions):
        if fraction < 0 or fraction > 1:
            raise ValueError(f"Fraction at index {place} is not between 0 and 1")
    lengths = [math.floor(total * fraction) for fraction in fractions]
    for place in range(total - sum(lengths)):
        lengths[place % len(lengths)] += 1
    for place, length in enumerate(lengths):
        if length == 0:
            warnings.warn(
                f"Length of split at index {place} is 0. This might result in an empty dataset.",
                stacklevel=3)
    return lengths
