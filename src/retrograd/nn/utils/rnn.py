"""Sequences of several lengths in one batch: padded to the longest, or packed step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, NamedTuple

from ...base import dtypes
from ...core.tensor import Tensor
from ...ops.creation.from_data import tensor
from ...ops.shapes.joining import cat, stack

__all__ = ["PackedSequence", "invert_permutation", "pack_padded_sequence", "pad_packed_sequence",
           "pad_sequence", "unpad_sequence", "pack_sequence", "unpack_sequence"]

_UNSORTED = ("`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
             "You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
             "sidestep this requirement if you do not need ONNX exportability.")


def _to(dtype: dtypes.dtype) -> Callable[[Any], PackedSequence]:
    return lambda self: self.to(dtype=dtype)


class PackedSequence_(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(PackedSequence_):
    """Sequences step by step: the first steps of all, then the second steps of those that go on.

    ``batch_sizes`` says how many go on at each step; they are sorted by length, longest first.
    """

    __slots__ = ()

    def __new__(cls, data: Any, batch_sizes: Tensor | None = None,
                sorted_indices: Tensor | None = None,
                unsorted_indices: Tensor | None = None) -> PackedSequence:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The sequences with data of another dtype or on another device."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        return PackedSequence(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def cpu(self) -> PackedSequence:
        return self

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        return self.to(device="cuda")

    double, float, half = _to(dtypes.float64), _to(dtypes.float32), _to(dtypes.float16)
    long, int, short = _to(dtypes.int64), _to(dtypes.int32), _to(dtypes.int16)
    char, byte = _to(dtypes.int8), _to(dtypes.uint8)

    @property
    def is_cuda(self) -> bool:
        return False

    def pin_memory(self) -> PackedSequence:
        return self

    def is_pinned(self) -> bool:
        return False


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes ``permutation``."""
    return None if permutation is None else permutation.argsort()


def _numbers(lengths: Any) -> list[int]:
    return [int(n) for n in (lengths.tolist() if isinstance(lengths, Tensor) else lengths)]


def pack_padded_sequence(input: Tensor, lengths: Any, batch_first: bool = False,
                         enforce_sorted: bool = True) -> PackedSequence:
    """Pack a padded batch of sequences of these lengths."""
    counts = _numbers(lengths)
    sorted_indices = None
    if not enforce_sorted:
        given = tensor(counts, dtype=dtypes.int64)
        ordered, sorted_indices = given.sort(descending=True)
        counts = ordered.tolist()
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    steps = input.transpose(0, 1) if batch_first else input
    if len(counts) != steps.size(1):
        raise RuntimeError("Expected `len(lengths)` to be equal to batch_size, but got "
                           f"{len(counts)} (batch_size={steps.size(1)})")
    if any(n <= 0 for n in counts):
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element "
                           "in 'lengths' that is <= 0")
    if any(a < b for a, b in pairwise(counts)):
        raise RuntimeError(_UNSORTED)
    sizes = [sum(n > step for n in counts) for step in range(counts[0])]
    data = cat([steps[step, :size] for step, size in enumerate(sizes)
                         if step < steps.size(0)])
    return PackedSequence(data, tensor(sizes, dtype=dtypes.int64), sorted_indices)


def pad_packed_sequence(sequence: PackedSequence, batch_first: bool = False,
                        padding_value: float = 0.0,
                        total_length: int | None = None) -> tuple[Tensor, Tensor]:
    """The padded batch of packed sequences, and their lengths."""
    data, batch_sizes, _, unsorted_indices = sequence
    sizes = _numbers(batch_sizes)
    length = len(sizes) if total_length is None else total_length
    if length < len(sizes):
        raise ValueError("Expected total_length to be at least the length of the longest sequence "
                         f"in input, but got total_length={total_length} and max sequence length "
                         f"being {len(sizes)}")
    steps = []
    for step in data.split(sizes):
        missing = sizes[0] - step.size(0)
        if missing:
            blank = data.new_full((missing, *data.shape[1:]), padding_value)
            step = cat([step, blank])
        steps.append(step)
    blank = data.new_full((sizes[0], *data.shape[1:]), padding_value)
    padded = stack(steps + [blank] * (length - len(sizes)), 1 if batch_first else 0)
    lengths = tensor([sum(size > n for size in sizes) for n in range(sizes[0])],
                                dtype=dtypes.int64)
    if unsorted_indices is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, unsorted_indices), lengths[unsorted_indices]


def pad_sequence(sequences: Any, batch_first: bool = False, padding_value: float = 0.0,
                 padding_side: str = "right") -> Tensor:
    """Sequences of several lengths as one batch, padded to the longest."""
    if not isinstance(sequences, Iterable):
        raise RuntimeError("pad_sequence: Expected iterable for input sequences, but got arg of "
                           f"type: {type(sequences)}")
    if padding_side not in ("left", "right"):
        raise RuntimeError("Expected padding_side to be one of left or right, but got "
                           f"{padding_side}.")
    parts = list(sequences.unbind(0) if isinstance(sequences, Tensor) else sequences)
    if not parts:
        raise RuntimeError("received an empty list of sequences")
    longest = max(part.size(0) for part in parts)
    padded = []
    for part in parts:
        missing = longest - part.size(0)
        if missing:
            blank = part.new_full((missing, *part.shape[1:]), padding_value)
            part = cat([part, blank] if padding_side == "right" else [blank, part])
        padded.append(part)
    return stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor,
                   batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded batch, each in its own length."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[:n] for row, n in zip(rows.unbind(0), _numbers(lengths), strict=True)]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences of several lengths, packed."""
    lengths = [sequence.size(0) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences that were packed."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
