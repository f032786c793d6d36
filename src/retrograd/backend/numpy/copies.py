"""Copies of NumPy arrays: large ones of which rows are columns, a few columns at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plain import copies as plain, fill_with_plain_bodies
from ..plain.copies import copy_in_rows
from . import LARGE, xp
from .native import native

_BITS = {size: np.dtype(name) for size, name in ((1, "u1"), (2, "i2"), (4, "i4"), (8, "i8"))}
_LINE = 32  # bytes that are written at a time


def can_be_moved(array: Any) -> bool:
    """Whether a kernel moves the elements of an array, in whatever order they lie."""
    size = array.dtype.itemsize
    return size in _BITS and array.flags.aligned and not any([s % size for s in array.strides])


def moved(array: Any, order: tuple[int, ...]) -> tuple[Any, Any]:
    """An array with its dimensions in ``order`` as one of integers of the same size, and one like
    it to be written to.
    """
    bits = array.transpose(order).view(_BITS[array.dtype.itemsize])
    return bits, np.empty(bits.shape, bits.dtype)


def back(order: tuple[int, ...]) -> tuple[int, ...]:
    """The order that undoes another one."""
    return tuple([order.index(d) for d in range(len(order))])


def as_bits(array: Any) -> Any:
    """An array as one of integers of the same size."""
    return array.view(_BITS[array.dtype.itemsize])


def lies_open(target: Any, source: Any) -> bool:
    """Whether a kernel writes one array to another of the same kind, row by row."""
    return target.dtype is source.dtype and target.shape == source.shape and target.ndim > 0 \
        and target.shape[-1] > 15 and target.strides[-1] == target.dtype.itemsize \
        and can_be_moved(target) and can_be_moved(source)


def is_turned(target: Any, source: Any) -> bool:
    """Whether all of an array is written from elements that lie in another order."""
    return target.flags.c_contiguous and not source.flags.c_contiguous


@native("copied_into(as_bits(source), as_bits(target)).view(target.dtype) "
        "if not is_turned(target, source) "
        "else copied_in_rows(as_bits(source), as_bits(target)).view(target.dtype)",
        as_bits, is_turned, lies_open, when="source.size >= LARGE and lies_open(target, source)")
def overwrite(target: Any, source: Any) -> Any:
    # Columns that become rows by way of a copy: what others see is written at once.
    target[...] = copy_in_rows(source) if _lies_across(source) else source
    return target


@native("copied_in_rows(*moved(array, order)).view(array.dtype).transpose(back(order))",
        can_be_moved, moved, back, when="array.size >= LARGE and can_be_moved(array)")
def copy_in_order(array: Any, order: tuple[int, ...]) -> Any:
    # Columns that become rows, a few of them at a time, so that no line of the cache is written
    # twice.
    source = array.transpose(order)
    if not _lies_across(source):
        return plain.copy_in_order(array, order)
    out, width = xp.empty_in_order(array.shape, order, array.dtype), max(1, _LINE // array.itemsize)
    rows = out.transpose(order)
    for start in range(0, source.shape[-1], width):
        part = (..., slice(start, start + width))
        rows[part] = source[part]
    return out


def _lies_across(array: Any) -> bool:
    """Whether neighbours along the last dimension of a large array are far apart."""
    return array.size >= LARGE and abs(array.strides[-1]) > max(_LINE, array.itemsize)


fill_with_plain_bodies(globals(), plain, copy_in_rows=native(
    "copied_in_rows(as_bits(array), as_bits(like(array))).base",  # which owns its memory
    as_bits, can_be_moved, when="array.size >= LARGE and can_be_moved(array)"))
