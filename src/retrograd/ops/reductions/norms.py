"""Norms of vectors, and tensors of bounded norm."""

from __future__ import annotations

import math
from typing import Any

from ...backend import distance as distance_kernels, xp
from ...backend.interface import kind_of
from ...base.errors import canonical_dim, wrong_type
from ...core.op import Array, Dims, composite, elementwise, op
from ...core.out_argument import run_into
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..checks.common import scalar_type
from ..checks.reductions import check_norm
from ..elementwise.arithmetic import abs, sgn
from ..elementwise.conjugate import conj
from ..memory.casts import cast_gradient, in_dtype_of
from ..shapes.expanding import restore_dims
from .arguments import _np
from .extremes import _equals, _share
from .sums import _sum_dims
from .variance import ratio


@op(node="LinalgVectorNormBackward0", title="linalg_vector_norm")
def _vector_norm(input: Array, ord: float, dim: Dims, keepdim: bool, dtype: Any) -> Any:
    check_norm(input, ord, dim, dtype)
    return distance_kernels.norm(input, ord, dim, keepdim, _np(dtype))


_vector_norm.vjp(input=lambda g, like, input, y, ord, dim, keepdim: None if ord == 0 else (
    cast_gradient(norm_backward(restore_dims(g, like, dim, keepdim),
                                restore_dims(y, like, dim, keepdim), input, ord, dim),
                  like.dtype)))


def norm_backward(g: Any, norm: Any, input: Any, ord: float, dim: Any) -> Any:
    """The gradient of a norm over ``dim``; zero where the norm has none because it is zero."""
    if ord == 2:
        return input * ratio(g, norm)
    if ord == 1:
        return sgn(input) * g
    if ord == math.inf or ord == -math.inf:
        return sgn(input) * _share(g, _equals(abs(input), norm, dim, True), dim, True)
    if ord < 1:
        return ratio(sgn(input), abs(input) ** (1 - ord)) * (g * norm ** (1 - ord))
    if ord < 2:
        return sgn(input) * abs(input) ** (ord - 1) * ratio(g, norm ** (ord - 1))
    return input * abs(input) ** (ord - 2) * ratio(g, norm ** (ord - 1))


@composite(function="linalg")
def vector_norm(x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *,
                dtype: Any = None, out: Any = None) -> Any:
    """The ``ord``-norm of the vectors along ``dim``, or of all elements."""
    if xp.is_scalar(ord):
        ord = ord.item()
    if not isinstance(ord, (int, float)):
        raise wrong_type("linalg_vector_norm", "ord", 2, "Number", ord)
    return _vector_norm(x, float(ord), dim, keepdim, dtype, out=out)


@composite(method=True)
def norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, out: Any = None,
         dtype: Any = None) -> Any:
    """The ``p``-norm over ``dim``: a number, "fro" or "nuc"."""
    if p == "nuc":
        return run_into(out, "norm", Out(), _nuclear_norm, input, dim, keepdim)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"linalg.matrix_norm: Order {p} not supported.")
    return _vector_norm(input, 2.0 if p in (None, "fro") else float(p), dim, keepdim, dtype,
                        out=out)


def _nuclear_norm(input: Any, dim: Any, keepdim: bool) -> Any:
    """The sum of singular values."""
    from ..linalg.functions import matrix_norm

    dims = (-2, -1) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
    return matrix_norm(input, "nuc", dims, keepdim)


def _other_dims(input: Any, dim: int) -> tuple[int, ...]:
    own = canonical_dim(dim, input.ndim)
    return tuple([d for d in range(input.ndim) if d != own])


@op(inplace=True, vjp=lambda g, input, p, dim, maxnorm:
    _renorm_backward(g, input, p, _other_dims(input, dim), maxnorm))
def renorm(input: Array, p: float, dim: int, maxnorm: float) -> Any:
    """Scale each slice along ``dim`` whose ``p``-norm exceeds ``maxnorm`` down to it."""
    if kind_of(input.dtype) in "biu":
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as "
                           f"input. Got {scalar_type(input)}")
    if input.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.ndim} "
                           "dimensions")
    if not p > 0:  # it may be NaN
        raise RuntimeError("renorm: non-positive-norm not supported")
    if not maxnorm >= 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    return distance_kernels.renormed(input, float(p), _other_dims(input, dim), maxnorm)


@renorm.batch
def _(batch: Any, input: Any, p: float, dim: int, maxnorm: float) -> Any:
    own = canonical_dim(dim, input.ndim - 1) + 1
    dims = tuple([d for d in range(1, input.ndim) if d != own])
    size = _vector_norm(input, float(p), dims, True, None)
    return input * (_shrinking(size, maxnorm) + (1 - _exceeds(size, maxnorm)))


@elementwise()
def _exceeds(input: Array, bound: float) -> Any:
    """One where ``input`` is larger than ``bound``, else zero."""
    return (input > bound).astype(input.dtype)


def _shrinking(size: Any, maxnorm: float) -> Any:
    """What slices of norm ``size`` are multiplied by, if that is not one."""
    return _exceeds(size, maxnorm) * maxnorm / (size + 1e-7)


def _renorm_backward(g: Any, input: Any, p: float, dims: Any, maxnorm: float) -> Any:
    size = _vector_norm(input, float(p), dims, True, None)
    shrink = _shrinking(size, maxnorm)
    along = in_dtype_of(size, _sum_dims(g * conj(input), dims, True))
    pull = -along * shrink / (size + 1e-7)
    return g * (shrink + (1 - _exceeds(size, maxnorm))) + norm_backward(pull, size, input, p, dims)
