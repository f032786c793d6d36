"""Covariance and correlation."""

from __future__ import annotations

from typing import Any

from ...backend.interface import is_data
from ...base.warning import warn
from ...core.op import composite
from ...core.tensor import Tensor
from ..elementwise.clamping import clamp
from ..elementwise.complex_numbers import complex
from ..elementwise.conjugate import conj
from ..elementwise.exponentials import sqrt
from ..shapes.complex_views import real
from ..shapes.dimensions import squeeze, unsqueeze
from ..shapes.reshaping import reshape
from ..shapes.slicing import diagonal
from .sums import _sum, _sum_dims


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
        if is_data(w._data) and (w._data < 0).any():
            raise RuntimeError(f"cov(): {name} cannot be negative")
    if fweights is not None and aweights is not None:
        return fweights * aweights
    return fweights if aweights is None else aweights


@composite(method=True)
def cov(input: Tensor, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """The covariance matrix of variables in rows, observed in columns."""
    if input.ndim > 2:
        raise RuntimeError("cov(): expected input to have two or fewer dimensions but got an input "
                           f"with {input.ndim} dimensions")
    rows = reshape(input, (1, -1)) if input.ndim < 2 else input
    count = rows.shape[1]
    weights = _observation_weights(fweights, aweights, count)
    weighted = rows if weights is None else rows * weights
    sum_of_weights: Any = count if weights is None else _sum(weights)
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
        warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than "
             "the number of observations.", UserWarning)
        factor = factor * 0
    return factor


def _is_all_zero(total: Tensor) -> bool:
    return is_data(total._data) and bool(total._data == 0)


def _is_degenerate(factor: Any) -> bool:
    if isinstance(factor, Tensor):
        return is_data(factor._data) and bool(factor._data <= 0)
    return factor <= 0


@composite(method=True)
def corrcoef(input: Tensor) -> Any:
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
        return complex(clamp(found.real, -1, 1), clamp(found.imag, -1, 1))
    return clamp(found, -1, 1)
