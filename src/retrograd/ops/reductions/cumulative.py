"""Along a dimension: running sums, products and extremes, differences, integrals."""

from __future__ import annotations

from typing import Any

from ... import return_types
from ...backend import reduce as reduce_kernels, xp
from ...backend.interface import kind_of
from ...base import dtypes
from ...base.errors import c_name, canonical_dim, existing_dim, no_dims
from ...core.op import Array, Dim, composite, elementwise, linear, op
from ...core.out_argument import run_into
from ...core.out_rules import CASTABLE, Out
from ...core.tensor import Tensor
from ..checks.common import no_complex, unsupported
from ..checks.reductions import check_diff
from ..elementwise.conjugate import conj
from ..elementwise.exponentials import exp
from ..memory.casts import cast_gradient, in_dtype_of
from ..shapes.dimensions import squeeze
from ..shapes.joining import cat
from ..shapes.reshaping import zeros_of
from ..shapes.slicing import _slice, narrow, slice_backward
from ..sorting.sorting import _put_along
from .arguments import _np
from .products import exclusive_cumprod, recurrence, shift
from .sums import _sum_dims

# ---------------------------------------------------------------- sums and products


@linear(inplace=True, out=Out(computes=True),
        vjp=lambda g, like, dim: cast_gradient(_sums_from_end(g, dim), like.dtype))
def cumsum(input: Array, dim: Dim, *, dtype: Any = None) -> Any:
    """Running sum along ``dim``."""
    _check_running("cumsum_out_cpu", dtype)
    return reduce_kernels.running_sums(input, dim, _np(dtype))


@cumsum.write
def _write_cumsum(array: Any, dim: int, dtype: Any) -> None:
    _write_running("cumsum_out_cpu", reduce_kernels.running_sums, array, dim, dtype)


def _check_running(kernel: str, dtype: Any) -> None:
    if dtype is not None:
        unsupported(kernel, dtype.np, "b")


def _write_running(kernel: str, function: Any, array: Any, dim: int, dtype: Any) -> None:
    if dtype is not None and dtype.np != array.dtype:
        raise RuntimeError(f"Bad in-place call: input tensor dtype {c_name(array)} and output "
                           f"tensor dtype {c_name(xp.empty(0, dtype.np))} should match")
    if array.ndim and array.size:
        unsupported(kernel, array.dtype, "b")
        array[...] = function(array, dim, None)


@linear(node="FlipBackward0", vjp=lambda g, dim: cumsum(g, dim))
def _sums_from_end(input: Array, dim: Dim) -> Any:
    """The sum of each element and all after it."""
    return reduce_kernels.reversed_sums(input, dim)


@op(inplace=True, out=Out(computes=True))
def cumprod(input: Array, dim: Dim, *, dtype: Any = None) -> Any:
    """Running product along ``dim``."""
    _check_running("cumprod_out_cpu", dtype)
    return reduce_kernels.running_products(input, dim, _np(dtype))


@cumprod.write
def _write_cumprod(array: Any, dim: int, dtype: Any) -> None:
    _write_running("cumprod_out_cpu", reduce_kernels.running_products, array, dim, dtype)


cumprod.vjp(input=lambda g, like, input, dim: cast_gradient(
    _cumprod_backward(g, in_dtype_of(g, input), dim) if like.shape else g, like.dtype))


def _cumprod_backward(g: Any, input: Any, dim: int) -> Any:
    """Free of divisions, so that zeros are no trouble: what comes before times what comes after."""
    return conj(exclusive_cumprod(input, dim, False)) * recurrence(
        shift(conj(input), dim, True), g, dim, True)


_SAME_TYPE = Out("expected scalar_type {result} but found {out}")


@op(out=_SAME_TYPE, vjp=lambda g, like, input, y, dim:
    _logcumsumexp_backward(g, like, input, y, dim) if like.shape else g)
def logcumsumexp(input: Array, dim: Dim) -> Any:
    """The logarithm of the running sum of exponentials along ``dim``."""
    unsupported("logcumsumexp_out_cpu", input.dtype, "biu")
    return reduce_kernels.log_sums(input, dim)


def _logcumsumexp_backward(g: Any, like: Any, input: Any, y: Any, dim: int) -> Any:
    """Every exponent is at most zero: later outputs are never smaller."""
    n = like.shape[dim]
    if n < 2:
        return g
    decay = exp(conj(_slice(y, dim, 0, n - 1, 1) - _slice(y, dim, 1, n, 1)))
    whole = slice_backward(decay, like.shape, dim, 0, n - 1, 1)
    return exp(conj(input - y)) * recurrence(whole, g, dim, True)


# ---------------------------------------------------------------- extremes


def _declare_running_extreme(name: str, what: str, largest: bool) -> Any:
    named, refuse_complex = getattr(return_types, name), no_complex(f"{name}_cpu")

    def guard(given: dict[str, Any], common: dtypes.dtype) -> None:
        canonical_dim(given["dim"], given["input"].ndim)  # whose error comes first
        refuse_complex(given, common)

    @op(name=f"_{name}", outputs=("values", "indices"), differentiable=(0,), quiet=True,
        node=f"{name.capitalize()}Backward0", guard=guard,
        vjp=lambda g, like, indices, dim: _put_along(g[0], indices, like.shape, dim, False))
    def running(input: Array, dim: Dim) -> Any:
        return reduce_kernels.running_extreme(input, dim, largest)

    @composite(method=True, name=name,
               doc=f"Running {what} along ``dim``, and where it was last met.")
    def extreme(input: Tensor, dim: int, *, out: Any = None) -> Any:
        return tuple_of(named, running(input, dim) if out is None else
                        run_into(out, name, _SAME_TYPE, running, input, dim))

    return extreme


tuple_of = tuple.__new__


cummax = _declare_running_extreme("cummax", "maximum", True)
cummin = _declare_running_extreme("cummin", "minimum", False)


@composite(method=True, out=Out(CASTABLE, apart=True))
def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The ``n``-th differences of neighbours along ``dim``."""
    if not input.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    d = canonical_dim(dim, input.ndim)
    check_diff(input, d, prepend)
    check_diff(input, d, append)
    parts = [t for t in (prepend, input, append) if t is not None]
    found = cat(parts, d) if len(parts) > 1 else input
    if not n:
        return input.new_zeros(tuple(input.shape)).copy_(input)
    for _ in range(n if n < found.shape[d] else found.shape[d]):
        later, earlier = _neighbours(found, d)
        found = later != earlier if kind_of(found._data.dtype) == "b" else later - earlier
    return found


def _neighbours(input: Any, dim: int) -> tuple[Any, Any]:
    """All elements along ``dim`` but the first, and all but the last."""
    length = input.shape[dim]
    rest = length - 1 if length else 0
    return narrow(input, dim, length - rest, rest), narrow(input, dim, 0, rest)


def _widths(name: str, x: Any, y: Any, dim: int) -> Any:
    """The distances between sample points, in a shape that broadcasts with ``y``."""
    if x.ndim == 1:
        if x.shape[0] != y.shape[dim]:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        x = x.reshape((-1,) + (1,) * (y.ndim - 1 - dim)) if y.ndim > 1 else x
        later, earlier = _neighbours(x, 0)
    else:
        x = x if x.ndim else x.reshape((1,) * y.ndim)
        later, earlier = _neighbours(x, canonical_dim(dim - y.ndim, x.ndim))
    return later - earlier


def _distances(name: str, x: Any, dx: Any, y: Any, dim: int) -> Any:
    """The widths as a tensor or a number, whichever of ``x`` and ``dx`` was given."""
    if x is None:
        return 1 if dx is None else dx
    if not isinstance(x, Tensor):
        return x
    return _widths(name, x, y, dim)


@elementwise(node="MulBackward1", promote="float", vjp=lambda g, number: g * number)
def _times(input: Array, number: Any) -> Any:
    return input * number


@elementwise(node="DivBackward1", promote="float", vjp=lambda g: g / 2)
def _half(input: Array) -> Any:
    return input / 2


def _refuse_bool(function: str, y: Tensor) -> None:
    if y.dtype is dtypes.bool:
        raise RuntimeError(f"{function}: received a bool input for `y`, but bool is not supported")


@composite(aliases=("trapz",))
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Any:
    """The integral of ``y`` along ``dim`` by the trapezoidal rule."""
    _refuse_bool("trapezoid", y)
    d = existing_dim(dim if x is None else canonical_dim(dim, y.ndim), y.ndim)
    if not y.shape[d]:
        return zeros_of(y, tuple([n for i, n in enumerate(y.shape) if i != d]))
    width = _distances("trapezoid", x, dx, y, d)
    if not isinstance(width, Tensor):
        ends = narrow(y, d, 0, 1) + narrow(y, d, y.shape[d] - 1, 1)
        return _times(_sum_dims(y, d) - _times(squeeze(ends, d), 0.5), width)
    later, earlier = _neighbours(y, d)
    return _half(_sum_dims((later + earlier) * width, d - y.ndim))


@composite()
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None,
                         dim: int = -1) -> Any:
    """The running integral of ``y`` along ``dim`` by the trapezoidal rule."""
    _refuse_bool("cumulative_trapezoid", y)
    if not y.ndim:
        d = canonical_dim(dim, 0) if x is not None else dim
        raise (no_dims(d) if isinstance(x, Tensor) and x.ndim == 1 else
               IndexError("slice() cannot be applied to a 0-dim tensor."))
    d = canonical_dim(dim, y.ndim)
    width = _distances("cumulative_trapezoid", x, dx, y, d)
    later, earlier = _neighbours(y, d)
    if not isinstance(width, Tensor):
        return cumsum(_times(later + earlier, width / 2.0), d)
    return _half(cumsum((later + earlier) * width, d - y.ndim))
