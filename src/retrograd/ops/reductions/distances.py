"""Distances between points."""

from __future__ import annotations

import math
from typing import Any

from ...backend import distance as distance_kernels, xp
from ...backend.interface import kind_of
from ...base import dtypes
from ...core.binding import raw_body
from ...core.op import Array, composite, elementwise, op
from ...core.tensor import Tensor
from ..batching import as_operands, flat
from ..checks.reductions import check_cdist, check_norm, check_same_dtype
from ..elementwise.arithmetic import sgn
from ..shapes.dimensions import unsqueeze
from ..shapes.expanding import joint_shape, restore_dims
from ..shapes.reshaping import zeros_of
from .norms import _vector_norm, norm_backward
from .sums import _sum_dims


@op(broadcasts=True, node="DistBackward0", promote="same")
def dist(input: Array, other: Array, p: float = 2) -> Any:
    """The ``p``-norm of the difference of two tensors."""
    if kind_of(input.dtype) in "biu":
        raise RuntimeError("norm(): input dtype should be either floating point or complex. Got "
                           f"{dtypes.from_numpy_dtype(input.dtype).alias} instead.")
    if input.shape != other.shape:
        joint_shape(input.shape, other.shape)
    apart = input - other
    check_norm(apart, float(p), None, None)
    return distance_kernels.norm(apart, float(p), None, False, None)


dist.vjp(input=lambda g, input, other, y, p: _dist_backward(g, y, input - other, p),
         other=lambda g, input, other, y, p: _dist_backward(g, y, other - input, p))


@dist.batch
def _(batch: Any, input: Any, other: Any, p: float) -> Any:
    input, other = as_operands(batch, input=input, other=other)
    return _vector_norm(flat(input - other), float(p), 1, False, None)


def _dist_backward(g: Any, y: Any, apart: Any, p: float) -> Any:
    if p == 0:
        return None
    return norm_backward(restore_dims(g, apart, None, False), restore_dims(y, apart, None, False),
                         apart, p, None)


@op(broadcasts=True, node="CdistBackward0",
    batches=lambda batch, x1, x2, p: _cdist(*as_operands(batch, x1=x1, x2=x2), p))
def _cdist(x1: Array, x2: Array, p: float) -> Any:
    check_cdist(x1, x2, p)
    return distance_kernels.pairwise(x1, x2, p)


_cdist.vjp(x1=lambda g, x1, x2, y, p: _first_gradient(g, x1, x2, y, p),
           x2=lambda g, x1, x2, y, p: _second_gradient(g, x1, x2, y, p))


def _first_gradient(g: Any, x1: Any, x2: Any, y: Any, p: float) -> Any:
    return _over_pairs(_pair_backward(g, x1, x2, y, p), 2)


def _second_gradient(g: Any, x1: Any, x2: Any, y: Any, p: float) -> Any:
    return -_over_pairs(_pair_backward(g, x1, x2, y, p), 3)


# On arrays the differences of all pairs are not held at once, where there is a kernel for that.


@raw_body(_first_gradient)
def _(g: Any, x1: Any, x2: Any, y: Any, p: float) -> Any:
    if p == 2 and xp.is_array(x1):
        return distance_kernels.pairwise_gradient(g, x1, x2, y)
    return _over_pairs(_pair_backward(g, x1, x2, y, p), 2)


@raw_body(_second_gradient)
def _(g: Any, x1: Any, x2: Any, y: Any, p: float) -> Any:
    if p == 2 and xp.is_array(x2):
        return distance_kernels.pairwise_gradient(xp.moveaxis(g, -1, -2), x2, x1,
                                                  xp.moveaxis(y, -1, -2))
    return -_over_pairs(_pair_backward(g, x1, x2, y, p), 3)


def _pair_backward(g: Any, x1: Any, x2: Any, y: Any, p: float) -> Any:
    """The gradient of each pair's difference, which is the last dimension."""
    return difference_backward(g, unsqueeze(x1, -2) - unsqueeze(x2, -3), y, p)


def difference_backward(g: Any, apart: Any, y: Any, p: float) -> Any:
    g, y = unsqueeze(g, -1), unsqueeze(y, -1)
    if p == 0:
        return zeros_of(g, apart.shape)
    if p == math.inf:
        # Unlike a norm's, this gradient goes in full to every largest coordinate.
        return sgn(apart) * g * _attains(apart, y)
    return norm_backward(g, y, apart, p, None)  # which asks for dims where p is infinite


def _over_pairs(gradient: Any, from_end: int) -> Any:
    return _sum_dims(gradient, (gradient.ndim - from_end,))


@elementwise()
def _attains(input: Array, bound: Array) -> Any:
    """One where the absolute value reaches ``bound``, else zero."""
    return (xp.abs(input) == bound).astype(input.dtype)


@composite()
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: Any = None) -> Any:
    """The ``p``-norm distance between each row of ``x1`` and each row of ``x2``."""
    check_same_dtype(x1, x2)
    if compute_mode not in _WAYS:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return _cdist(x1, x2, float(p))


_WAYS = (None, "use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist",
         "donot_use_mm_for_euclid_dist")
"""How PyTorch may be told to compute, which makes no difference here."""
