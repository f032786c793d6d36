"""Norms, distances and correlations."""

from __future__ import annotations

import math
import warnings
from typing import Any

from ..backend import distance as arrays
from ..backend import xp
from ..base import dtypes
from ..base.errors import canonical_dim
from ..core.op import Array, Dims, composite, elementwise, op
from ..core.tensor import Tensor
from .convert import cast_gradient
from .parts import diagonal, real
from .pointwise import abs, clamp, conj, sgn, sqrt
from .reduce import _equals, _np, _share, _sum, _sum_dims, ratio
from .scan import in_dtype_of
from .shape import joint_shape, reshape, restore_dims, squeeze, unsqueeze, zeros_of
from .sort import into_one

# ---------------------------------------------------------------- norms of vectors


def _check_norm(input: Any, ord: float, dim: Any) -> None:
    if input.dtype.kind in "biu":
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as "
                           f"input. Got {dtypes.from_numpy_dtype(input.dtype).alias}")
    if input.size or not (ord < 0 or ord == math.inf):
        return
    if not dim:
        raise RuntimeError(f"linalg.vector_norm cannot compute the {ord:g} norm on an empty tensor "
                           "because the operation does not have an identity")
    for d in dim:
        if not input.shape[d]:
            raise RuntimeError(f"linalg.vector_norm cannot compute the {ord:g} norm on the "
                               f"dimension {d}because this dimension is empty and the operation "
                               "does not have an identity")


@op(function=None, method=False, node="LinalgVectorNormBackward0", title="linalg_vector_norm")
def _vector_norm(input: Array, ord: float, dim: Dims, keepdim: bool, dtype: Any) -> Any:
    _check_norm(input, ord, dim)
    return arrays.norm(input, ord, dim, keepdim, _np(dtype))


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
def vector_norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None,
                out: Any = None) -> Any:
    """The ``ord``-norm of the vectors along ``dim``, or of all elements."""
    if not isinstance(ord, (int, float)):
        raise TypeError("linalg_vector_norm(): argument 'ord' (position 2) must be Number, not "
                        f"{type(ord).__name__}")
    return _vector_norm(x, float(ord), dim, keepdim, dtype, out=out)


@composite(method=True)
def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, out: Any = None,
         dtype: Any = None) -> Any:
    """The ``p``-norm over ``dim``: a number, "fro" or "nuc"."""
    if p == "nuc":
        return into_one(out, _nuclear_norm(input, dim, keepdim))
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"linalg.matrix_norm: Order {p} not supported.")
    return _vector_norm(input, 2.0 if p in (None, "fro") else float(p), dim, keepdim, dtype,
                        out=out)


def _nuclear_norm(input: Any, dim: Any, keepdim: bool) -> Any:
    """The sum of singular values."""
    from .linalg.functions import matrix_norm

    dims = (-2, -1) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
    return matrix_norm(input, "nuc", dims, keepdim)


# ---------------------------------------------------------------- distances


@op(broadcasts=True, node="DistBackward0", promote="same")
def dist(input: Array, other: Array, p: float = 2) -> Any:
    """The ``p``-norm of the difference of two tensors."""
    if input.dtype.kind in "biu":
        raise RuntimeError("norm(): input dtype should be either floating point or complex. Got "
                           f"{dtypes.from_numpy_dtype(input.dtype).alias} instead.")
    if input.shape != other.shape:
        joint_shape(input.shape, other.shape)
    apart = input - other
    _check_norm(apart, float(p), None)
    return arrays.norm(apart, float(p), None, False, None)


dist.vjp(input=lambda g, input, other, y, p: _dist_backward(g, y, input - other, p),
         other=lambda g, input, other, y, p: _dist_backward(g, y, other - input, p))


def _dist_backward(g: Any, y: Any, apart: Any, p: float) -> Any:
    if p == 0:
        return None
    return norm_backward(restore_dims(g, apart, None, False), restore_dims(y, apart, None, False),
                         apart, p, None)


def _check_cdist(x1: Any, x2: Any, p: float) -> None:
    for name, x in (("X1", x1), ("X2", x2)):
        if x.dtype.kind not in "fV":
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: "
                               f"{dtypes.from_numpy_dtype(x.dtype).alias}")
    for name, x in (("X1", x1), ("X2", x2)):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError("X1 and X2 must have the same number of columns. X1: "
                           f"{x1.shape[-1]} X2: {x2.shape[-1]}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")


@op(function=None, method=False, broadcasts=True, node="CdistBackward0")
def _cdist(x1: Array, x2: Array, p: float) -> Any:
    _check_cdist(x1, x2, p)
    return arrays.pairwise(x1, x2, p)


_cdist.vjp(x1=lambda g, x1, x2, y, p: _over_pairs(_pair_backward(g, x1, x2, y, p), 2),
           x2=lambda g, x1, x2, y, p: -_over_pairs(_pair_backward(g, x1, x2, y, p), 3))


def _pair_backward(g: Any, x1: Any, x2: Any, y: Any, p: float) -> Any:
    """The gradient of each pair's difference, which is the last dimension."""
    apart = unsqueeze(x1, -2) - unsqueeze(x2, -3)
    g, y = unsqueeze(g, -1), unsqueeze(y, -1)
    if p == 0:
        return zeros_of(g, apart.shape)
    if p == math.inf:
        # Unlike a norm's, this gradient goes in full to every largest coordinate.
        return sgn(apart) * g * _attains(apart, y)
    return norm_backward(g, y, apart, p, (apart.ndim - 1,))


def _over_pairs(gradient: Any, from_end: int) -> Any:
    return _sum_dims(gradient, (gradient.ndim - from_end,))


@elementwise(function=None, method=False)
def _attains(input: Array, bound: Array) -> Any:
    """One where the absolute value reaches ``bound``, else zero."""
    return (xp.abs(input) == bound).astype(input.dtype)


@composite()
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: Any = None) -> Any:
    """The ``p``-norm distance between each row of ``x1`` and each row of ``x2``."""
    return _cdist(x1, x2, float(p))


# ---------------------------------------------------------------- bounded norms


def _other_dims(input: Any, dim: int) -> tuple[int, ...]:
    own = canonical_dim(dim, input.ndim)
    return tuple([d for d in range(input.ndim) if d != own])


@op(inplace=True)
def renorm(input: Array, p: float, dim: int, maxnorm: float) -> Any:
    """Scale each slice along ``dim`` whose ``p``-norm exceeds ``maxnorm`` down to it."""
    if input.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.ndim} "
                           "dimensions")
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    return arrays.renormed(input, float(p), _other_dims(input, dim), maxnorm)


renorm.vjp(input=lambda g, input, p, dim, maxnorm:
           _renorm_backward(g, input, p, _other_dims(input, dim), maxnorm))


@elementwise(function=None, method=False)
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


# ---------------------------------------------------------------- correlations


def _observation_weights(fweights: Any, aweights: Any, count: int) -> Any:
    for name, w in (("fweights", fweights), ("aweights", aweights)):
        if w is None:
            continue
        if w.ndim > 1:
            raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions but got "
                               f"{name} with {w.ndim} dimensions")
        whole = not (w.dtype.is_floating_point or w.dtype.is_complex)
        if name == "fweights" and not whole:
            raise RuntimeError("cov(): expected fweights to have integral dtype but got fweights "
                               f"with {w.dtype.alias} dtype")
        if name == "aweights" and not w.dtype.is_floating_point:
            raise RuntimeError("cov(): expected aweights to have floating point dtype but got "
                               f"aweights with {w.dtype.alias} dtype")
        if w.numel() != count:
            raise RuntimeError(f"cov(): expected {name} to have the same numel as there are "
                               f"observations in the input but got {w.numel()} != {count}")
        # Inside a transform there is no one value to look at.
        if isinstance(w._data, (xp.ndarray, xp.generic)) and (w._data < 0).any():
            raise RuntimeError(f"cov(): {name} cannot be negative")
    if fweights is not None and aweights is not None:
        return fweights * aweights
    return fweights if aweights is None else aweights


@composite(method=True)
def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """The covariance matrix of variables in rows, observed in columns."""
    if input.ndim > 2:
        raise RuntimeError("cov(): expected input to have two or fewer dimensions but got an input "
                           f"with {input.ndim} dimensions")
    rows = reshape(input, (1, -1)) if input.ndim < 2 else input
    count = rows.shape[1]
    weights = _observation_weights(fweights, aweights, count)
    weighted = rows if weights is None else rows * weights
    sum_of_weights = count if weights is None else _sum(weights)
    if weights is not None and _is_all_zero(sum_of_weights):
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    average = _sum_dims(weighted, 1) / sum_of_weights
    factor = _freedom(sum_of_weights, correction, weights, aweights)
    centred = rows - unsqueeze(average, 1)
    weighted = centred if weights is None else centred * weights
    return squeeze(centred @ conj(weighted.T) / factor)


def _freedom(sum_of_weights: Any, correction: int, weights: Any, aweights: Any) -> Any:
    """What the sum of products is divided by."""
    if correction == 0:
        factor = sum_of_weights
    elif aweights is not None:
        factor = sum_of_weights - correction * _sum(weights * aweights) / sum_of_weights
    else:
        factor = sum_of_weights - correction
    if _is_degenerate(factor):
        warnings.warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than "
                      "the number of observations.", UserWarning, stacklevel=3)
        factor = factor * 0
    return factor


def _is_all_zero(total: Tensor) -> bool:
    return isinstance(total._data, (xp.ndarray, xp.generic)) and bool(total._data == 0)


def _is_degenerate(factor: Any) -> bool:
    if isinstance(factor, Tensor):
        return isinstance(factor._data, (xp.ndarray, xp.generic)) and bool(factor._data <= 0)
    return factor <= 0


@composite(method=True)
def corrcoef(input: Any) -> Any:
    """The matrix of correlation coefficients of variables in rows, observed in columns."""
    if input.ndim > 2:
        raise RuntimeError("corrcoef(): expected input to have two or fewer dimensions but got an "
                           f"input with {input.ndim} dimensions")
    covariance = cov(input)
    if not covariance.ndim:
        return covariance / covariance
    variances = diagonal(covariance)
    deviations = sqrt(real(variances) if covariance.is_complex() else variances)
    found = covariance / unsqueeze(deviations, 1) / unsqueeze(deviations, 0)
    if found.is_complex():
        from .pointwise import complex

        return complex(clamp(found.real, -1, 1), clamp(found.imag, -1, 1))
    return clamp(found, -1, 1)
