"""Memory layouts and memory formats, as constants that print as PyTorch's do."""

from __future__ import annotations

from typing import Any

from ..backend.interface import library_of
from ..base.errors import wrong_type

__all__ = ["channels_last", "channels_last_3d", "contiguous_format", "layout", "memory_format",
           "preserve_format", "sparse_coo", "sparse_csc", "sparse_csr", "strided"]


class _Constant:
    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> Any:
        return self.name


class layout(_Constant):
    """How a tensor's elements are stored."""

    __slots__ = ()


class memory_format(_Constant):
    """In which order a dense tensor's dimensions lie in memory."""

    __slots__ = ()


strided = layout("strided")
sparse_coo = layout("sparse_coo")
sparse_csr = layout("sparse_csr")
sparse_csc = layout("sparse_csc")

preserve_format = memory_format("preserve_format")
contiguous_format = memory_format("contiguous_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")

CHANNELS_LAST_RANK = {channels_last: 4, channels_last_3d: 5}


def axis_order(rank: int, format: memory_format) -> tuple[int, ...]:
    """The dimensions from the slowest to the fastest varying one."""
    if format is contiguous_format:
        return tuple(range(rank))
    if rank != CHANNELS_LAST_RANK[format]:
        raise RuntimeError(f"required rank {CHANNELS_LAST_RANK[format]} tensor to use "
                           f"{format.name} format")
    return (0, *range(2, rank), 1)


def is_in_format(array: Any, format: memory_format) -> bool:
    """Whether an array is dense with its dimensions in the order ``format`` wants."""
    if not isinstance(format, memory_format):
        raise wrong_type("is_contiguous", "memory_format", None, "torch.memory_format", format)
    if format is preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    if format is not contiguous_format and array.ndim != CHANNELS_LAST_RANK[format]:
        return False
    return library_of(array).is_contiguous(array.transpose(axis_order(array.ndim, format)))


def check_layout(value: Any, function: str = "empty") -> None:
    """Raise unless ``value`` asks for the one layout there is."""
    if value is None or value is strided:
        return
    if not isinstance(value, layout):
        raise wrong_type(function, "layout", None, "torch.layout", value)
    raise NotImplementedError(f"retrograd stores tensors as {strided}, not as {value}")
