"""Products over dims."""

from __future__ import annotations

from typing import Any

from ...backend import reduce as reduce_kernels
from ...base.errors import no_overload
from ...core.op import Array, Dim, composite, linear, op
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..batching import flat
from ..elementwise.conjugate import conj
from ..shapes.reshaping import reshape
from .arguments import _np, numpy_names
from .sums import _spread


@op(node="ProdBackward0", out=Out(computes=True),
    batches=lambda batch, input, dtype: _prod_dim(flat(input), 1, False, dtype))
def _prod(input: Array, dtype: Any = None) -> Any:
    return reduce_kernels.product(input, None, False, _np(dtype))


_prod.vjp(input=lambda g, like, input: _spread(g, like, None, False) * conj(
    reshape(_products_of_others(reshape(input, (-1,)), 0), like.shape)))


@op(node="ProdBackward1", title="prod", out=Out(computes=True),
    vjp=lambda g, like, input, dim, keepdim:
    _spread(g, like, (dim,), keepdim) * conj(_products_of_others(input, dim)))
def _prod_dim(input: Array, dim: Dim, keepdim: bool = False, dtype: Any = None) -> Any:
    return reduce_kernels.product(input, dim, keepdim, _np(dtype))


def _declare_prod_of_one(name: str, node: str) -> Any:
    """Of a zero-dim tensor no value is asked for, and so its derivative has no history."""
    @linear(name=name, node=node, title="prod", batches="leading",
            vjp=lambda g, like: _spread(g, like, None, False))
    def prod_of_one(input: Array, dtype: Any = None) -> Any:
        return reduce_kernels.product(input, (), False, _np(dtype))

    return prod_of_one


_prod_of_one = _declare_prod_of_one("_prod_of_one", "ProdBackward0")
_prod_of_one_dim = _declare_prod_of_one("_prod_of_one_dim", "ProdBackward1")


@op(vjp=lambda g, input, dim: _others_backward(g, input, dim) if input.ndim else g * 0)
def _products_of_others(input: Array, dim: Dim) -> Any:
    """The product of all other elements along ``dim``: no division, so zeros are no trouble."""
    return reduce_kernels.products_of_others(input, dim)


def _others_backward(g: Any, input: Any, dim: int) -> Any:
    before, after = exclusive_cumprod(input, dim, False), exclusive_cumprod(input, dim, True)
    return (exclusive_cumprod_backward(g * conj(after), input, before, dim, False)
            + exclusive_cumprod_backward(g * conj(before), input, after, dim, True))


@op(function=None, method=False,
    vjp=lambda g, input, y, dim, reverse: exclusive_cumprod_backward(g, input, y, dim, reverse))
def exclusive_cumprod(input: Array, dim: Dim, reverse: bool) -> Any:
    """The product of the elements before each one along ``dim``, or of those after it."""
    return reduce_kernels.exclusive_products(input, dim, reverse)


def exclusive_cumprod_backward(g: Any, input: Any, y: Any, dim: int, reverse: bool) -> Any:
    """An element multiplies all later products: collect them from the far end."""
    return conj(y) * recurrence(shift(conj(input), dim, not reverse), shift(g, dim, not reverse),
                                dim, not reverse)


@linear(function=None, method=False, vjp=lambda g, dim, reverse: shift(g, dim, not reverse))
def shift(input: Array, dim: Dim, reverse: bool) -> Any:
    """Each element's predecessor along ``dim`` (successor, if ``reverse``); zero at the edge."""
    return reduce_kernels.shifted(input, dim, reverse)


@op(function=None, method=False, batches="dims")
def recurrence(factor: Array, term: Array, dim: int, reverse: bool) -> Any:
    """``y[k] = factor[k] * y[k - 1] + term[k]`` along ``dim``, from the far end if ``reverse``."""
    return reduce_kernels.recurrence(factor, term, dim, reverse)


recurrence.vjp(
    factor=lambda g, factor, y, dim, reverse:
        recurrence(shift(conj(factor), dim, not reverse), g, dim, not reverse)
        * conj(shift(y, dim, reverse)),
    term=lambda g, factor, dim, reverse:
        recurrence(shift(conj(factor), dim, not reverse), g, dim, not reverse))


_PROD_FORMS = ("*, torch.dtype dtype = None",
               "int dim, bool keepdim = False, *, torch.dtype dtype = None")


@composite(method=True)
@numpy_names
def prod(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None,
         out: Any = None) -> Any:
    """Product along ``dim``; of all elements by default."""
    if dim is None:
        if out is not None:
            raise no_overload("prod", (input,), *_PROD_FORMS, out=out)
        if keepdim:
            raise no_overload("prod", (input,), *_PROD_FORMS, keepdim=keepdim)
        return _prod(input, dtype) if input.ndim else _prod_of_one(input, dtype)
    if isinstance(dim, (tuple, list)):
        raise no_overload("prod", (dim,), *_PROD_FORMS)
    if not input.ndim and dim in (0, -1) and out is None:
        return _prod_of_one_dim(input, dtype)
    return _prod_dim(input, dim, keepdim, dtype, out=out)
