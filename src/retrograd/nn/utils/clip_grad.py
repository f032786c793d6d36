"""Gradient clipping, in place."""

from collections.abc import Iterable

from ... import linalg
from ...autograd.grad_mode import no_grad
from ...base.warning import warn
from ...core.tensor import Tensor
from ...ops.creation.from_data import tensor
from ...ops.elementwise.clamping import clamp
from ...ops.elementwise.comparison import isfinite
from ...ops.shapes.joining import stack

Tensors = Tensor | Iterable[Tensor]


def _as_list(tensors: Tensors) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _grads(parameters: Tensors) -> list[Tensor]:
    grads = (parameter.grad for parameter in _as_list(parameters))
    return [grad for grad in grads if grad is not None]


def get_total_norm(tensors: Tensors, norm_type: float = 2.0, error_if_nonfinite: bool = False,
                   foreach: bool | None = None) -> Tensor:
    """Return the norm of all ``tensors`` taken together as one vector."""
    norm_type = float(norm_type)
    norms = [linalg.vector_norm(tensor, norm_type) for tensor in _as_list(tensors)]
    if not norms:
        return tensor(0.0)
    total = linalg.vector_norm(stack(norms), norm_type)
    if error_if_nonfinite and not isfinite(total).item():
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped. To disable this error and scale the gradients by the "
            "non-finite norm anyway, set `error_if_nonfinite=False`")
    return total


def clip_grads_with_norm_(parameters: Tensors, max_norm: float, total_norm: Tensor,
                          foreach: bool | None = None) -> None:
    """Scale gradients so that a norm of ``total_norm`` becomes at most ``max_norm``."""
    grads = _grads(parameters)
    if not grads:
        return
    scale = clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
    for grad in grads:
        grad.mul_(scale)


def clip_grad_norm_(parameters: Tensors, max_norm: float, norm_type: float = 2.0,
                    error_if_nonfinite: bool = False, foreach: bool | None = None) -> Tensor:
    """Scale all gradients together so that their norm is at most ``max_norm``; return the norm."""
    with no_grad():
        parameters = _as_list(parameters)
        total_norm = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite, foreach)
        clip_grads_with_norm_(parameters, max_norm, total_norm, foreach)
    return total_norm


def clip_grad_norm(parameters: Tensors, max_norm: float, norm_type: float = 2.0,
                   error_if_nonfinite: bool = False, foreach: bool | None = None) -> Tensor:
    """:func:`clip_grad_norm_` under its older name."""
    warn("`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
         "`torch.nn.utils.clip_grad_norm_`.", FutureWarning)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Clamp every gradient to ±``clip_value``."""
    clip_value = float(clip_value)
    with no_grad():
        for grad in _grads(parameters):
            grad.clamp_(min=-clip_value, max=clip_value)
