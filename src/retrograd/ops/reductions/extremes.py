"""The largest and smallest, and where they are."""

from __future__ import annotations

from typing import Any

from ... import return_types
from ...backend import reduce as reduce_kernels
from ...backend import xp
from ...backend.interface import kind_of
from ...core.op import Array, Dim, Dims, Index, composite, linear, op
from ...core.tensor import Tensor
from ..batching import all_batched, dims_behind, flat, inner_rank, run
from ..checks.common import unsupported
from ..checks.reductions import (
    check_arg,
    check_extremes,
    index_dim,
    need_any,
    need_elements,
    one_dim,
)
from ..elementwise.clamping import maximum, minimum
from ..elementwise.where import kept
from ..shapes.expanding import restore_dims
from ..shapes.reshaping import reshape
from ..sorting.sorting import into, put_selected
from .arguments import numpy_names
from .variance import _added


@linear(vjp=lambda g, mask, dim, keepdim: _average(g, mask, dim, keepdim))
def _share(input: Array, mask: Index, dim: Any, keepdim: bool) -> Any:
    """A reduction's gradient in equal parts over the places in ``mask``."""
    return reduce_kernels.shared(input, mask, dim)


@linear(vjp=lambda g, mask, dim, keepdim: _share(g, mask, dim, keepdim))
def _average(input: Array, mask: Index, dim: Any, keepdim: bool) -> Any:
    return reduce_kernels.averaged(input, mask, dim, keepdim)


@_share.batch
@_average.batch
def _(batch: Any, input: Any, mask: Any, dim: Any, keepdim: bool) -> Any:
    input, mask = all_batched(batch, input=input, mask=mask)
    if mask.ndim == 1:
        return kept(input, mask)
    return run(batch.name, input, mask, dims_behind(dim, inner_rank(mask)), keepdim)


@op()
def _winners(input: Array, value: Array, dim: Any, keepdim: bool) -> Any:
    """Where ``input`` holds the value it was reduced to over ``dim``, which may be NaN."""
    return reduce_kernels.winners(input, restore_dims(value, input, dim, keepdim))


@op()
def _equals(input: Array, value: Array, dim: Any, keepdim: bool) -> Any:
    """Where ``input`` holds the value it was reduced to over ``dim``; NaN is nowhere."""
    return input == restore_dims(value, input, dim, keepdim)


@_winners.batch
@_equals.batch
def _(batch: Any, input: Any, value: Any, dim: Any, keepdim: bool) -> Any:
    input, value = all_batched(batch, input=input, value=value)
    if input.ndim == 1:
        return run(batch.name, input, value, None, True)
    return run(batch.name, input, value, dims_behind(dim, inner_rank(input)), keepdim)


def _of_whole_backward(g: Any, input: Any, y: Any) -> Any:
    """Elements that equal the result share the gradient; a NaN equals itself."""
    return _share(g, _winners(input, y, None, False), None, False)


def _extreme_backward(g: Any, input: Any, y: Any, dim: Any, keepdim: bool) -> Any:
    """Elements that equal the result share the gradient; a NaN equals nothing."""
    return _share(g, _equals(input, y, dim, keepdim), dim, keepdim)


def _selected_backward(g: Any, like: Any, indices: Any, dim: int, keepdim: bool) -> Any:
    return put_selected(g[0], indices, like, dim, keepdim)


@op(node="MaxBackward1", quiet=True, batches=lambda batch, input: amax(flat(input), 1),
    vjp=_of_whole_backward)
def _max(input: Array) -> Any:
    need_any("max", input)
    unsupported("max_all", input.dtype, "c")
    return xp.max(input)


@op(node="MinBackward1", quiet=True, batches=lambda batch, input: amin(flat(input), 1),
    vjp=_of_whole_backward)
def _min(input: Array) -> Any:
    need_any("min", input)
    unsupported("min_all", input.dtype, "c")
    return xp.min(input)


def _extreme_along(name: str, find: Any, input: Any, dim: int, keepdim: bool) -> Any:
    need_elements(name, input.shape, dim)
    if kind_of(input.dtype) == "c":
        raise RuntimeError(f"{name}(): does not support complex input")
    if not input.ndim:
        return xp.array(input), xp.zeros((), xp.INT64)
    index = reduce_kernels.arg_extreme(find, input, dim, True)
    return reduce_kernels.taken_at(input, index, dim, keepdim), (
        index if keepdim else xp.squeeze(index, dim))


@op(outputs=("values", "indices"), differentiable=(0,), node="MaxBackward0", title="max",
    vjp=_selected_backward)
def _max_dim(input: Array, dim: Dim, keepdim: bool) -> Any:
    return _extreme_along("max", xp.argmax, input, dim, keepdim)


@op(outputs=("values", "indices"), differentiable=(0,), node="MinBackward0", title="min",
    vjp=_selected_backward)
def _min_dim(input: Array, dim: Dim, keepdim: bool) -> Any:
    return _extreme_along("min", xp.argmin, input, dim, keepdim)


@composite(method=True)
@numpy_names
def max(input: Tensor, dim: Any = None, keepdim: Any = False, *, other: Tensor | None = None,
        out: Any = None) -> Any:
    """The largest element; along ``dim`` also its index; or the larger of two tensors."""
    if dim is None and other is None:
        return _max(input, out=out)
    return _extreme("max", maximum, _max_dim, input, dim, keepdim, other, out)


@composite(method=True)
@numpy_names
def min(input: Tensor, dim: Any = None, keepdim: Any = False, *, other: Tensor | None = None,
        out: Any = None) -> Any:
    """The smallest element; along ``dim`` also its index; or the smaller of two tensors."""
    if dim is None and other is None:
        return _min(input, out=out)
    return _extreme("min", minimum, _min_dim, input, dim, keepdim, other, out)


def _extreme(name: str, of_two: Any, along: Any, input: Any, dim: Any, keepdim: Any, other: Any,
             out: Any) -> Any:
    if isinstance(dim, Tensor) and keepdim is False:
        other = dim
    if other is not None:
        return of_two(input, other, out=out)
    found = along(input, one_dim(name, dim), keepdim)
    return getattr(return_types, name)(into(name, out, found))


@op(node="AmaxBackward0", vjp=_extreme_backward)
def amax(input: Array, dim: Dims = (), keepdim: bool = False) -> Any:
    """The largest element over ``dim``; equal ones share the gradient."""
    check_extremes("amax", "max_values_cpu", input, dim)
    return reduce_kernels.extreme(xp.max, input, dim, keepdim)


@op(node="AminBackward0", vjp=_extreme_backward)
def amin(input: Array, dim: Dims = (), keepdim: bool = False) -> Any:
    """The smallest element over ``dim``; equal ones share the gradient."""
    check_extremes("amin", "min_values_cpu", input, dim)
    return reduce_kernels.extreme(xp.min, input, dim, keepdim)


@op(outputs=("min", "max"), node="AminmaxBackward0", vjp=lambda g, input, min, max, dim, keepdim:
    _aminmax_backward(g[0], g[1], input, min, max, dim, keepdim))
def _aminmax(input: Array, dim: Dims, keepdim: bool) -> Any:
    unsupported("aminmax_cpu", input.dtype, "c")
    if dim is None and not input.size:
        raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the "
                           "operation has no identity.")
    if dim is not None:
        need_elements("aminmax", input.shape, dim[0], ":")
    return (reduce_kernels.extreme(xp.min, input, dim, keepdim),
            reduce_kernels.extreme(xp.max, input, dim, keepdim))


def _aminmax_backward(g_min: Any, g_max: Any, input: Any, low: Any, high: Any, dim: Any,
                      keepdim: bool) -> Any:
    return _added(None if g_min is None else _extreme_backward(g_min, input, low, dim, keepdim),
                  None if g_max is None else _extreme_backward(g_max, input, high, dim, keepdim))


@composite(method=True)
def aminmax(input: Tensor, *, dim: Any = None, keepdim: bool = False, out: Any = None) -> Any:
    """The smallest and the largest element along ``dim``."""
    return return_types.aminmax(into("aminmax", out, _aminmax(input, dim, keepdim)))


@op()
def _argmax(input: Array, dim: Dims, keepdim: bool) -> Any:
    axis = None if dim is None else dim[0]
    check_arg("argmax", input, axis)
    return reduce_kernels.arg_extreme(xp.argmax, input, axis, keepdim)


@op()
def _argmin(input: Array, dim: Dims, keepdim: bool) -> Any:
    axis = None if dim is None else dim[0]
    check_arg("argmin", input, axis)
    return reduce_kernels.arg_extreme(xp.argmin, input, axis, keepdim)


@_argmax.batch
@_argmin.batch
def _(batch: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    if dim is not None and input.ndim > 1:
        return run(batch.name, input, dim[0] + 1, keepdim)
    found = run(batch.name, flat(input), 1, False)
    return reshape(found, (batch.size, *(1,) * inner_rank(input))) if keepdim else found


@composite(method=True)
@numpy_names
def argmax(input: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The index of the first largest element, along ``dim`` or of the flattened tensor."""
    return _argmax(input, index_dim("argmax", dim), keepdim, out=out)


@composite(method=True)
@numpy_names
def argmin(input: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The index of the first smallest element, along ``dim`` or of the flattened tensor."""
    return _argmin(input, index_dim("argmin", dim), keepdim, out=out)
