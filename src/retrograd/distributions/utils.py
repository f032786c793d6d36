"""What the families share: parameters brought to one shape, probabilities and their logits."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import retrograd as rg

from ..base import dtypes
from ..core.tensor import Size, Tensor
from ..nn import functional as F
from ..overrides import is_tensor_like

__all__ = ["broadcast_all", "logits_to_probs", "clamp_probs", "probs_to_logits", "lazy_property",
           "tril_matrix_to_vec", "vec_to_tril_matrix"]

euler_constant = 0.57721566490153286060
NUMBERS = (int, float, bool)


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Tensors of one shape; numbers become tensors of the first tensor's dtype."""
    if not all(is_tensor_like(value) or isinstance(value, NUMBERS) for value in values):
        raise ValueError("Input arguments must all be instances of Number, torch.Tensor or "
                         "objects implementing __torch_function__.")
    dtype = next((value.dtype for value in values if isinstance(value, Tensor)),
                 dtypes.get_default_dtype())
    made = [value if is_tensor_like(value) else rg.tensor(value, dtype=dtype) for value in values]
    return tuple(rg.broadcast_tensors(*made))


def _standard_normal(shape: Any, dtype: Any, device: Any = None) -> Tensor:
    return rg.randn(shape, dtype=dtype, device=device)


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """The sum over the last ``dim`` dimensions."""
    return value.reshape((*value.shape[:-dim], -1)).sum(-1) if dim else value


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities from log-odds, or from unnormalised logarithms along the last dimension."""
    return rg.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities kept away from 0 and 1 by what their dtype can tell apart."""
    eps = dtypes.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Log-odds, or logarithms, of probabilities."""
    inside = clamp_probs(probs)
    return inside.log() - (-inside).log1p() if is_binary else inside.log()


class lazy_property:
    """An attribute that is computed, with gradients, when it is first asked for."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: Any, obj_type: Any = None) -> Any:
        if instance is None:
            return _LazyOnClass(self.wrapped)
        with rg.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _LazyOnClass(lazy_property, property):
    """What a lazy property looks like on its class: a property, for those who ask."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        property.__init__(self, wrapped)


def _lower_part(size: int, diag: int) -> Tensor:
    """Which elements of a square matrix lie on or below a diagonal."""
    return rg.ones(size, size, dtype=dtypes.bool).tril(diag)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The lower triangles of a batch of matrices, row after row."""
    size = mat.shape[-1]
    if not -size <= diag < size:
        raise ValueError(f"diag ({diag}) provided is outside [{-size}, {size - 1}].")
    return mat[..., _lower_part(size, diag)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The matrices whose lower triangles are the vectors in ``vec``."""
    shift = 1 + 2 * diag
    size = ((shift ** 2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1)) ** 0.5 - shift) / 2
    if round(size) - size > dtypes.finfo(vec.dtype).eps:
        raise ValueError(f"The size of last dimension is {vec.shape[-1]} which cannot be expressed "
                         "as the lower triangular part of a square D x D matrix.")
    n = round(size)
    made = vec.new_zeros(vec.shape[:-1] + Size((n, n)))
    made[..., _lower_part(n, diag)] = vec
    return made
