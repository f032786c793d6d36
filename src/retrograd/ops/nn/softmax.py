"""Softmax and its logarithm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...backend import softmax as softmax_kernels
from ...base import dtypes
from ...base.errors import REQUIRED
from ...base.warning import warn
from ...core.op import PUBLIC, Array, Dim, op, publish
from ...core.out_rules import Out
from ...core.signatures import named
from ...core.tensor import Tensor
from ..checks.common import kinds
from ..elementwise.exponentials import exp
from ..memory.casts import cast
from ..reductions.sums import _sum_dims
from .activations import functional


def _check_softmax(name: str) -> Callable[..., None]:
    def guard(given: dict[str, Any], common: dtypes.dtype) -> None:
        if dtypes.category(common) != 2:
            rank, dim = given["input"].ndim, given["dim"]
            last = "lastdim_" if rank == 0 or dim % rank == rank - 1 else ""
            kinds("f", f"{name}_{last}kernel_impl")(given, common)

    return guard


@op(node="SoftmaxBackward0", guard=_check_softmax("softmax"))
def _softmax(input: Array, dim: Dim) -> Any:
    return softmax_kernels.softmax(input, dim)


_softmax.vjp(input=lambda g, y, dim: softmax_backward(g, y, dim))
_softmax.jvp(input=lambda tangent, y, dim: softmax_backward(tangent, y, dim))


@op(function=None, method=False, node="SoftmaxBackwardDataBackward0")
def softmax_backward(input: Array, output: Array, dim: Dim) -> Any:
    """The gradient of softmax from that of its ``output``; it is its own transpose."""
    return softmax_kernels.softmax_gradient(input, output, dim)


softmax_backward.vjp(
    input=lambda g, output, dim: softmax_backward(g, output, dim),
    output=lambda g, input, output, dim: g * (input - _along(input * output, dim))
    - input * _along(g * output, dim))
softmax_backward.jvp(
    input=lambda tangent, output, dim: softmax_backward(tangent, output, dim),
    output=lambda tangent, input, output, dim: tangent * (input - _along(input * output, dim))
    - output * _along(input * tangent, dim))


def _along(value: Any, dim: int) -> Any:
    """The sums along ``dim``, which stays."""
    return _sum_dims(value, (dim,), True) if value.ndim else value


@op(node="LogSoftmaxBackward0", guard=_check_softmax("log_softmax"))
def _log_softmax(input: Array, dim: Dim) -> Any:
    return softmax_kernels.log_softmax(input, dim)


_log_softmax.vjp(input=lambda g, y, dim: log_softmax_backward(g, y, dim))
_log_softmax.jvp(input=lambda tangent, y, dim: tangent - _along(tangent * exp(y), dim))


@op(function=None, method=False, node="LogSoftmaxBackwardDataBackward0")
def log_softmax_backward(input: Array, output: Array, dim: Dim) -> Any:
    """The gradient of log_softmax from that of its ``output``."""
    return softmax_kernels.log_softmax_gradient(input, output, dim)


log_softmax_backward.vjp(
    input=lambda g, output, dim: g - _along(g * exp(output), dim),
    output=lambda g, input, output, dim: -(g * exp(output)) * _along(input, dim))
log_softmax_backward.jvp(
    input=lambda tangent, output, dim: log_softmax_backward(tangent, output, dim),
    output=lambda tangent, input, output, dim: -(tangent * exp(output)) * _along(input, dim))


def _public_softmax(name: str, made: Any, doc: str) -> Any:
    @named(name, doc)
    def at_top_level(input: Tensor = REQUIRED, dim: int = REQUIRED, dtype: Any = None) -> Tensor:
        if dtype is None:
            return made(input, dim)
        return made(cast(input, dtypes.as_dtype(dtype)), dim)

    @functional(name, doc)
    def with_default(input: Tensor, dim: int | None = None, _stacklevel: int = 3,
                     dtype: Any = None) -> Tensor:
        if dim is None:
            dim = _guessed_dim(name, input)
        return made(input, dim) if dtype is None else at_top_level(input, dim, dtype)

    publish(at_top_level, name, out=Out(copies=True))
    PUBLIC["special"][name] = at_top_level
    return with_default


def _guessed_dim(name: str, input: Tensor) -> int:
    warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
         "dim=X as an argument.")
    return 0 if input.ndim in (0, 1, 3) else 1


_functional_softmax = _public_softmax(
    "softmax", _softmax, "Exponentials along ``dim``, divided by their sum.")
_public_softmax("log_softmax", _log_softmax, "The logarithm of softmax, computed safely.")


@functional("softmin")
def _softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3,
             dtype: Any = None) -> Tensor:
    """Softmax of the negative."""
    if dim is None:
        dim = _guessed_dim("softmin", input)
    return _functional_softmax(-input, dim, dtype=dtype)
