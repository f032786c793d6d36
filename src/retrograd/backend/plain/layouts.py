"""Layouts in memory, for every library that can take a strided view and tell its strides.

Each namespace gets these bodies with itself as ``xp``, but for those that it has its own of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what a body is bound to; when NumPy's namespace is made, there is none yet
    from .. import xp

# ---------------------------------------------------------------- how an array lies


def reach(shape: tuple, strides: tuple) -> int:
    """The farthest element, counted from the first."""
    return sum((n - 1) * s for n, s in zip(shape, strides, strict=True) if n) if all(shape) else 0


def positions(shape: tuple, strides: tuple, offset: int) -> Any:
    """Where each element of a strided view lies in memory."""
    where = xp.full(shape, offset, xp.INT64)
    for axis, (n, s) in enumerate(zip(shape, strides, strict=True)):
        step = xp.arange(n, dtype=xp.INT64) * s
        where += step.reshape((n,) + (1,) * (len(shape) - axis - 1))
    return where


def same_layout(a: Any, b: Any) -> bool:
    """Whether the elements of both lie in memory in the same way, if in different places."""
    return bool(xp.element_strides(a) == xp.element_strides(b))


def can_stand_for(a: Any, b: Any) -> bool:
    """Whether ``a`` is an array with memory of its own, laid out as the array ``b`` is."""
    return xp.is_array(a) and xp.is_array(b) and xp.owns_memory(a) and xp.same_layout(a, b)


def same_memory(a: Any, b: Any) -> bool:
    """Whether each element of ``a`` lies where the same element of ``b`` does."""
    return a.shape == b.shape and xp.same_layout(a, b) and not xp.offset_in(a, b)


def is_dense(array: Any) -> bool:
    """Whether the elements fill their memory without gaps or overlaps, in some order."""
    expected = 1
    for stride, size in sorted(zip(xp.element_strides(array), array.shape, strict=True)):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


def has_overlap(array: Any) -> bool:
    """Whether two indices may reach the same element (an expanded dimension)."""
    return array.size > 0 and any(
        s == 0 and n > 1 for s, n in zip(xp.element_strides(array), array.shape, strict=True))


def are_apart(target: Any, *others: Any) -> bool:
    """Whether a write to ``target`` surely reaches each element once, and no other operand."""
    return not xp.has_overlap(target) and not any(
        other is not target and xp.may_share_memory(target, other) for other in others)


def dense_order(array: Any) -> tuple[int, ...]:
    """The dimensions from the slowest to the fastest varying one.

    An expanded dimension has no place of its own; it stays beside its left neighbour.
    """
    order = list(range(array.ndim))
    strides, shape = [abs(n) for n in xp.element_strides(array)], array.shape
    for i in range(1, array.ndim):
        here = i
        for before in range(i - 1, -1, -1):
            a, b = strides[order[before]], strides[order[here]]
            if a == 0 or b == 0:
                continue
            if a > b or (a == b and shape[order[before]] >= shape[order[here]]):
                break
            order[before], order[here] = order[here], order[before]
            here = before
    return tuple(order)


# ---------------------------------------------------------------- new arrays


def zeros_strided(shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any,
                  batches: tuple[int, ...] | list[int] = ()) -> Any:
    """Zeros in memory with these strides (in elements), once for each value of ``batches``."""
    reach = [(n - 1) * s for n, s in zip(shape, strides, strict=True) if n]
    low, high = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
    memory = xp.zeros((*batches, high - low + 1), dtype)
    return xp.as_strided(memory, (*batches, *shape),
                         (*xp.element_strides(memory)[:-1], *strides), -low)


def zeros_as(like: Any, batches: tuple[int, ...] | list[int] = ()) -> Any:
    """Zeros laid out in memory as ``like`` is, once for each value of ``batches``."""
    return xp.zeros_strided(like.shape, xp.element_strides(like), like.dtype, batches)


def empty_in_order(shape: tuple, order: tuple[int, ...], dtype: Any) -> Any:
    """An uninitialised dense array with its dimensions laid out in ``order``."""
    packed = xp.empty([shape[d] for d in order], dtype)
    places = [0] * len(order)
    for place, d in enumerate(order):
        places[d] = place
    return packed.transpose(places)


def number(value: Any, dtype: Any) -> Any:
    """Zero-dim data, as reductions give it."""
    return xp.asarray(value, dtype=dtype)


# ---------------------------------------------------------------- copies


def in_rows(array: Any) -> Any:
    """``array`` with its elements row by row in memory: a copy, if they lie in another order."""
    return array if xp.is_contiguous(array) else array.copy()


def copied(array: Any) -> Any:
    """A dense copy whose dimensions lie in memory in the same order."""
    out = xp.empty_in_order(array.shape, xp.dense_order(array), array.dtype)
    out[...] = array
    return out


def cast(array: Any, dtype: Any) -> Any:
    """``array`` as ``dtype``; the real part where a complex value becomes real."""
    if array.dtype == dtype:
        return array
    if xp.kind_of(array.dtype) == "c" and xp.kind_of(dtype) not in "cb":
        array = array.real
    out = xp.empty_in_order(array.shape, xp.dense_order(array), dtype)
    out[...] = array
    return out


def packed(array: Any) -> tuple[Any, tuple[int, ...] | None]:
    """A C-contiguous array of the elements, and the transposition that undoes the packing."""
    if xp.is_contiguous(array):
        return array, None
    strides = xp.element_strides(array)
    order = sorted(range(array.ndim), key=lambda d: -strides[d])
    back = tuple(order.index(d) for d in range(array.ndim))
    return xp.ascontiguousarray(array.transpose(order)), back


def unbroadcast(array: Any, shape: tuple) -> Any:
    """Sum ``array`` down to ``shape``, undoing a broadcast."""
    lead = array.ndim - len(shape)
    axes = tuple(range(lead)) + tuple(
        i + lead for i, n in enumerate(shape) if n == 1 and array.shape[i + lead] != 1)
    if axes:
        dtype = array.dtype
        if dtype.itemsize == 2 and xp.kind_of(dtype) in "fV":  # accumulates in float32
            return xp.sum(array.astype(xp.FLOAT32), axis=axes).astype(dtype).reshape(shape)
        array = xp.sum(array, axis=axes, dtype=dtype if xp.kind_of(dtype) in "fc" else None)
    return array.reshape(shape)


def level(a: Any, b: Any) -> tuple[Any, Any]:
    """Two operands as two of a kind, where a library has scalars besides arrays."""
    return a, b


# ---------------------------------------------------------------- views


def expanded(array: Any, shape: tuple) -> Any:
    """A writable view with length-one dimensions repeated."""
    lead = len(shape) - array.ndim
    strides = (0,) * lead + tuple(
        0 if own == 1 and n != 1 else s
        for n, own, s in zip(shape[lead:], array.shape, xp.element_strides(array), strict=True))
    return xp.as_strided(array, shape, strides, 0)


def broadcast(array: Any, shape: tuple) -> Any:
    """``array`` repeated to ``shape``."""
    return array if array.shape == shape else xp.expanded(array, shape)


def writable_diagonal(array: Any, offset: int, axis1: int, axis2: int) -> Any:
    """``array.diagonal`` as a view that can be written to."""
    view = array.diagonal(offset, axis1, axis2)
    if not view.size:
        return xp.empty(view.shape, view.dtype)
    return xp.as_strided(array, view.shape, xp.element_strides(view), xp.offset_in(view, array))


def windows(array: Any, axis: int, size: int, step: int) -> Any:
    """Sliding windows along ``axis`` as a new last dimension, on the same memory."""
    if not array.ndim:
        return xp.as_strided(array, (size,), (1,), 0)
    count = (array.shape[axis] - size) // step + 1
    own = xp.element_strides(array)
    return xp.as_strided(array, (*array.shape[:axis], count, *array.shape[axis + 1:], size),
                         (*own[:axis], own[axis] * step, *own[axis + 1:], own[axis]), 0)


def add_windows(gradient: Any, shape: tuple, axis: int, size: int, step: int) -> Any:
    """Add sliding windows up where they overlap: the adjoint of :func:`windows`."""
    whole = xp.zeros(shape, gradient.dtype)
    if not shape:
        return whole + gradient.reshape(())
    moved, parts = whole, gradient
    if axis % whole.ndim != whole.ndim - 1:
        moved, parts = xp.moveaxis(whole, axis, -1), xp.moveaxis(gradient, axis, -2)
    count = parts.shape[-2]
    if count * step <= size or not size:
        for i in range(count):
            moved[..., i * step:i * step + size] += parts[..., i, :]
        return whole
    # The pieces of all windows that lie as far from the start of theirs do not overlap; the last
    # ones first, so that the windows are added up in their order.
    for start in reversed(range(0, size, step)):
        stop = min(start + step, size)
        pieces = xp.windows(moved[..., start:], whole.ndim - 1, stop - start, step)
        pieces[..., :count, :] += parts[..., start:stop]
    return whole


def copy_with_memory(array: Any, memo: dict[int, Any]) -> Any:
    """A copy; arrays that share memory are given copies that share memory, by way of ``memo``."""
    owner = xp.storage_of(array)
    if not xp.is_dense(owner) or owner.dtype != array.dtype:
        return xp.copied(array)
    known = memo.get(xp.address(owner))
    if known is None:
        # The owner is kept alive with its copy, so that its place is taken by no other.
        known = memo[xp.address(owner)] = (xp.copied(owner), owner)
    return xp.as_strided(known[0], array.shape, xp.element_strides(array),
                         xp.offset_in(array, owner))
