"""Overwriting memory: copy_, fill_, zero_."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from ...backend import copies as copy_kernels, index as index_kernels, xp
from ...backend.interface import kind_of
from ...base.call_sites import here
from ...base.errors import wrong_type
from ...base.modes import GRAD, MODE, NO_GRAD, ReplayedViews
from ...base.warning import warn
from ...codegen import node_class
from ...codegen.switch import GeneralPath
from ...core.graph import INFERENCE, next_sequence
from ...core.inplace import call_inplace, owner_of_history, write_by, write_recorded
from ...core.op import Array, Number, op, public
from ...core.tensor import PLAIN, Tensor, edge_of, method, wrap
from ..batching import aligned, batched, inner_rank, rank_of
from ..checks.indexing import check_fill_value
from ..shapes.expanding import joint_shape
from ..shapes.reshaping import no_overload, zeros_of
from .casts import in_dtype_of

NUMBERS = (bool, int, float, complex)


def writes_freely(target: Tensor, *sources: Any) -> bool:
    """Whether a write to ``target`` is only that: no graph, no transform, no override."""
    mode = MODE.get()
    if type(target) not in PLAIN or target._vc is INFERENCE \
            or (mode is not GRAD and mode is not NO_GRAD):
        return False
    for source in sources:
        if type(source) not in PLAIN:
            return False
    if mode is NO_GRAD:
        return True
    for tensor in (target, *sources):
        # A part may have got a history with its base, and nobody have asked for it yet.
        if tensor._edge is not None or (
                tensor._view is not None and tensor._view.base._edge is not None):
            return False
    return True


def is_writable(array: Any) -> bool:
    """Whether each element of ``array`` may be written to, and lies in memory of its own."""
    return xp.is_writable(array) and (xp.is_contiguous(array) or not xp.has_overlap(array))


# ---------------------------------------------------------------- copying


@op(node="CopyBackwards", broadcasts=True, any_dtype=True, replaces="inplace arithmetic")
def _copy(input: Array, src: Array) -> Any:
    """``src`` in the shape and dtype of ``input``, whose values do not matter."""
    out = xp.empty_like(xp.as_array(input))
    write_copy(out, src)
    return out


@_copy.write
def write_copy(array: Any, src: Any) -> None:
    check_copy(array, src)
    copy_kernels.overwrite(array, real_part(src, array.dtype))


_copy.vjp(input=lambda g: zeros_of(g, g.shape),
          src=lambda g: g)


# ---------------------------------------------------------------- overwriting


@_copy.batch
def _(batch: Any, input: Any, src: Any) -> Any:
    input = batched(batch, "input", input)
    return _copy(input, aligned(batch, "src", src, inner_rank(input)))


def check_copy(array: Any, src: Any) -> None:
    if src.shape == array.shape or not src.shape:
        return
    joint = joint_shape(array.shape, src.shape)
    if joint != array.shape:
        raise RuntimeError(f"output with shape {list(array.shape)} doesn't match the broadcast "
                           f"shape {list(joint)}")


def real_part(src: Any, dtype: Any) -> Any:
    """``src``, without its imaginary part where ``dtype`` has none; NumPy converts the rest."""
    if src.dtype != dtype and (xp.is_stored_only(dtype) or xp.is_stored_only(src.dtype)):
        return xp.cast(src, dtype)
    if kind_of(src.dtype) != "c" or kind_of(dtype) in "cb":
        return src
    warn("Casting complex values to real discards the imaginary part", once=True)
    return src.real


_LARGE = 1 << 14  # elements, from which a kernel is worth its call


@method("copy_")
def copy_(input: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Overwrite with the values of ``src``, broadcast and cast."""
    if not isinstance(src, Tensor):
        if not isinstance(src, NUMBERS):
            raise wrong_type("copy_", "other", 1, "Tensor", src)
        src = wrap(xp.asarray(src))
    if writes_freely(input, src):
        array, data = input._array(), src._data
        if array.dtype is data.dtype and array.shape == data.shape and is_writable(array) \
                and not xp.may_share_memory(array, data):
            if array.size < _LARGE:
                input._counter().store(array, ..., data)
            else:
                write_by(copy_kernels.overwrite, input, data)
            return input
    if MODE.get() is GRAD and copied_plainly(input, src):
        return input
    return call_inplace(_copy.op, (input, src))


def copied_plainly(target: Tensor, src: Tensor) -> bool:
    """Do the ordinary recorded copy, of the same shape and dtype; False for any other."""
    if src._data.shape != target._data.shape or GeneralPath.only:
        return False
    if is_written_back(target, src):
        target._counter().bump()
        return True
    owner, edge = owner_of_history(target, [src]), edge_of(src)
    if owner is None or (owner._edge is None and edge is None):
        return False
    node = _copy_node()()
    node.seq, node.fits = next_sequence(), None
    node.next0, node.next1 = owner._edge, edge
    site = here(2)
    if owner is target and owner._edge is not None:
        node.place = site  # of what ends a history
    write_recorded(target, owner, node, src._data, site)
    return True


@cache
def _copy_node() -> Any:
    made = node_class(_copy.op)
    made.overwrites = True
    return made


def is_written_back(target: Tensor, src: Tensor) -> bool:
    """Whether both are the same part of one base, the history of which nobody has looked at since.

    That is the second half of ``x[i] += y``, which changes neither values nor gradients.
    """
    view, known = target._view, src._view
    return view is not None and known is not None and view.base is known.base \
        and not view.origin and type(target) in PLAIN and not target._retains \
        and was_written_to(src) and target._data.dtype == src._data.dtype \
        and xp.same_memory(target._data, src._data)


def was_written_to(src: Tensor) -> bool:
    """Whether a view was written to, and nobody has looked at its history since."""
    counter = src._vc
    return type(src) in PLAIN and not src._retains and counter is not None \
        and counter is not INFERENCE and src._view.version != counter.n \
        and xp.is_array(src._data) and not ReplayedViews.asked_for \
        and not xp.has_overlap(src._data)


# ---------------------------------------------------------------- filling


def _filled(input: Any, value: Any) -> Any:
    out = xp.empty_like(xp.as_array(input))
    out[...] = value
    return out


@op(node="FillBackward2", any_dtype=True, fills=True, batches="leading",
    vjp=lambda g: zeros_of(g, g.shape))
def _fill_number(input: Array, value: Number) -> Any:
    return _filled(input, index_kernels.number_as(value, input.dtype))


@_fill_number.write
def _write_number(array: Any, value: Any) -> None:
    array[...] = index_kernels.number_as(value, array.dtype)


@op(node="FillBackward3", broadcasts=True, any_dtype=True, apart=None, fills=True,
    replaces="fill_")
def _fill_tensor(input: Array, value: Array) -> Any:
    check_fill(value.ndim)
    return _filled(input, real_part(value, input.dtype))


@_fill_tensor.write
def _write_tensor(array: Any, value: Any) -> None:
    check_fill(value.ndim)
    array[...] = real_part(value, array.dtype)


_fill_tensor.vjp(input=lambda g: zeros_of(g, g.shape),
                 value=lambda g: g)


def fills_shared(function: str, target: Tensor, value: Any, *others: Any) -> bool:
    """Whether this fill goes to memory that elements share: allowed where nothing is recorded."""
    array = target._data
    if isinstance(value, Tensor) and not value.ndim:
        others = (value, *others)
    elif not isinstance(value, NUMBERS):
        return False
    if not writes_freely(target, *others) or not xp.is_array(array) \
            or not xp.has_overlap(array):
        return False
    warn(f"Use of {function} on expanded tensors is deprecated. Please clone() the tensor before "
         "performing this operation. This also applies to advanced indexing e.g. tensor[mask] = "
         "scalar")
    return True


def check_fill(rank: int) -> None:
    if rank:
        raise RuntimeError("fill_ only supports 0-dimension value tensor but got tensor with "
                           f"{rank} dimensions.")


@public("fill_", method=False)
@method("fill_")
def fill_(input: Tensor, value: Any) -> Tensor:
    """Overwrite every element with ``value``, a number or a zero-dim tensor."""
    if isinstance(value, Tensor):
        return call_inplace(_fill_tensor.op, (input, value))
    if xp.is_scalar(value):
        value = value.item()
    if not isinstance(value, NUMBERS):
        raise no_overload("fill_", [("Tensor value",), ("Number value",)], value)
    if writes_freely(input):
        array = input._array()
        # One value for all: it does not matter if elements share memory.
        if xp.is_writable(array):
            input._counter().store(array, ..., index_kernels.number_as(value, array.dtype))
            return input
    return call_inplace(_fill_number.op, (input, value))


@op(node="FillBackward0", any_dtype=True, fills=True, batches="leading",
    vjp=lambda g: zeros_of(g, g.shape))
def _full_of_number(input: Array, value: Number) -> Any:
    return _filled(input, index_kernels.number_as(value, input.dtype))


@op(node="FillBackward1", broadcasts=True, any_dtype=True, fills=True)
def _full_of_tensor(input: Array, value: Array) -> Any:
    check_fill(value.ndim)
    return _filled(input, real_part(value, input.dtype))


_full_of_tensor.vjp(input=lambda g: zeros_of(g, g.shape),
                    value=lambda g: g)


@_fill_tensor.batch
@_full_of_tensor.batch
def _(batch: Any, input: Any, value: Any) -> Any:
    check_fill(rank_of(batch, "value", value))
    input = batched(batch, "input", input)
    return _copy(input, aligned(batch, "value", value, inner_rank(input)))


def _fill_value(function: str, batch: Any, value: Any, input: Any) -> Any:
    """What ``function`` fills with, in the dtype of what it fills."""
    check_fill_value(function, rank_of(batch, "value", value))
    return in_dtype_of(input, value)


@public("fill", method=False)
def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor shaped like ``input`` with every element ``value``."""
    if isinstance(value, Tensor):
        return _full_of_tensor(input, value)
    if isinstance(value, (tuple, list, str)):
        raise no_overload("fill", [("Tensor input", "Tensor value"),
                                   ("Tensor input", "Number value")], input, value)
    return _full_of_number(input, value)


@op(any_dtype=True, node="ZeroBackward0", fills=True, batches="leading",
    vjp=lambda g: zeros_of(g, g.shape))
def _zero(input: Array) -> Any:
    """Zeros in the shape of ``input``."""
    return xp.zeros(input.shape, input.dtype)


@_zero.write
def _write_zero(array: Any) -> None:
    array[...] = xp.zeros((), array.dtype)  # of which 0 may be none


@public("zero_", method=False)
@method("zero_")
def zero_(input: Tensor) -> Tensor:
    """Overwrite every element with zero."""
    if writes_freely(input):
        array = input._array()
        if xp.is_writable(array):
            input._counter().store(array, ..., xp.zeros((), array.dtype))
            return input
    return call_inplace(_zero.op, (input,))


def on_copy(write: Any, input: Any, *rest: Any, **named: Any) -> Any:
    """A copy of ``input`` that ``write``, the kernel of the in-place variant, has written to."""
    out = xp.as_array(input).copy()
    write(out, *rest, **named)
    return out


def written_op(**options: Any) -> Callable[[Any], Any]:
    """Declare an op by the kernel of its in-place variant, which otherwise writes to a copy."""

    def declare(write: Any) -> Any:
        @wraps(write)
        def kernel(input: Any, *rest: Any, **named: Any) -> Any:
            return on_copy(write, input, *rest, **named)

        made = op(any_dtype=True, **options)(write)
        made.op.kernel = kernel
        made.write(write)
        return made

    return declare
