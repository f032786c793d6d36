"""The largest and smallest, and where they are."""

from __future__ import annotations

from typing import Any

from ... import return_types
from ...backend import reduce as reduce_kernels, xp
from ...backend.interface import kind_of
from ...base.errors import no_overload
from ...core.op import Array, Dim, Dims, Index, composite, linear, op
from ...core.out_argument import run_into
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..batching import all_batched, dims_behind, flat, inner_rank, run
from ..checks import reductions as checks
from ..checks.common import unsupported
from ..elementwise.clamping import maximum, minimum
from ..elementwise.where import kept
from ..shapes.expanding import restore_dims
from ..shapes.reshaping import reshape
from ..sorting.sorting import put_selected
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


def _extreme_along(name: str, find: Any, input: Any, dim: int, keepdim: bool) -> Any:
    checks.need_elements(name, input.shape, dim)
    if kind_of(input.dtype) == "c":
        raise RuntimeError(f"{name}(): does not support complex input")
    if not input.ndim:
        return xp.array(input), xp.zeros((), xp.INT64)
    index = reduce_kernels.arg_extreme(find, input, dim, True)
    return reduce_kernels.taken_at(input, index, dim, keepdim), (
        index if keepdim else index.squeeze(dim))


_FORMS = ("Tensor input, *, Tensor out = None", "Tensor input, Tensor other, *, Tensor out = None",
          "Tensor input, int dim, bool keepdim = False, *, tuple of Tensors out = None")


def _declare_extreme(name: str, superlative: str, comparative: str, find: Any, find_index: Any,
                     of_two: Any) -> tuple[Any, Any, Any]:
    """Declare ``max`` or ``min`` and its kin: over dims, and of indices."""
    node = name.capitalize()

    @op(name=f"a{name}", doc=f"The {superlative} element over ``dim``; equal ones share the "
        "gradient.", node=f"A{name}Backward0", vjp=_extreme_backward, out=Out(
            "Expected the dtype for input and out to match, but got {result} for input's dtype "
            "and {out} for out's dtype."))
    def over_dims(input: Array, dim: Dims = (), keepdim: bool = False) -> Any:
        checks.check_extremes(f"a{name}", f"{name}_values_cpu", input, dim)
        return reduce_kernels.extreme(find, input, dim, keepdim)

    @op(name=f"_{name}", node=f"{node}Backward1", quiet=True, vjp=_of_whole_backward, out=Out(
        "Expected canCast( typeMetaToScalarType(self.dtype()), typeMetaToScalarType(out.dtype())) "
        "to be true, but got false.", castable=True),
        batches=lambda batch, input: over_dims(flat(input), 1))
    def of_all(input: Array) -> Any:
        checks.need_any(name, input)
        unsupported(f"{name}_all", input.dtype, "c")
        return find(input)

    @op(name=f"_{name}_dim", outputs=("values", "indices"), differentiable=(0,),
        node=f"{node}Backward0", title=name, vjp=_selected_backward)
    def along(input: Array, dim: Dim, keepdim: bool) -> Any:
        return _extreme_along(name, find_index, input, dim, keepdim)

    @op(name=f"_arg{name}", batches=_arg_of_each)
    def arg(input: Array, dim: Dims, keepdim: bool) -> Any:
        axis = None if dim is None else dim[0]
        checks.check_arg(f"arg{name}", input, axis)
        return reduce_kernels.arg_extreme(find_index, input, axis, keepdim)

    @composite(method=True, name=name, doc=f"The {superlative} element; along ``dim`` also its "
               f"index; or the {comparative} of two tensors.")
    @numpy_names
    def extreme(input: Tensor, dim: Any = None, keepdim: bool = False, *,
                other: Tensor | None = None, out: Any = None) -> Any:
        if dim is None and other is None:
            if keepdim:
                raise no_overload(name, (input,), *_FORMS, keepdim=keepdim)
            return of_all(input, out=out)
        if isinstance(dim, Tensor) and keepdim is False:
            other = dim
        if not isinstance(input, Tensor):
            raise no_overload(name, (input, dim if other is None else other), *_FORMS)
        if other is not None:
            return of_two(input, other, out=out)
        found = run_into(out, name, Out(), along, input, checks.one_dim(name, dim), keepdim)
        return getattr(return_types, name)(found)

    @composite(method=True, name=f"arg{name}", doc=f"The index of the first {superlative} element, "
               "along ``dim`` or of the flattened tensor.")
    @numpy_names
    def index(input: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
        return arg(input, checks.index_dim(f"arg{name}", dim), keepdim, out=out)

    return extreme, over_dims, index


def _arg_of_each(batch: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    if dim is not None and input.ndim > 1:
        return run(batch.name, input, dim[0] + 1, keepdim)
    found = run(batch.name, flat(input), 1, False)
    return reshape(found, (batch.size, *(1,) * inner_rank(input))) if keepdim else found


max, amax, argmax = _declare_extreme("max", "largest", "larger", xp.max, xp.argmax, maximum)
min, amin, argmin = _declare_extreme("min", "smallest", "smaller", xp.min, xp.argmin, minimum)


@op(outputs=("min", "max"), node="AminmaxBackward0", vjp=lambda g, input, min, max, dim, keepdim:
    _aminmax_backward(g[0], g[1], input, min, max, dim, keepdim))
def _aminmax(input: Array, dim: Dims, keepdim: bool) -> Any:
    unsupported("aminmax_cpu", input.dtype, "c")
    if dim is None and not input.size:
        raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the "
                           "operation has no identity.")
    if dim is not None:
        checks.need_elements("aminmax", input.shape, dim[0], ":")
    return (reduce_kernels.extreme(xp.min, input, dim, keepdim),
            reduce_kernels.extreme(xp.max, input, dim, keepdim))


def _aminmax_backward(g_min: Any, g_max: Any, input: Any, low: Any, high: Any, dim: Any,
                      keepdim: bool) -> Any:
    return _added(None if g_min is None else _extreme_backward(g_min, input, low, dim, keepdim),
                  None if g_max is None else _extreme_backward(g_max, input, high, dim, keepdim))


@composite(method=True, out=Out())
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """The smallest and the largest element along ``dim``."""
    return return_types.aminmax(_aminmax(input, dim, keepdim))
