"""Activations with random numbers: rrelu, gumbel_softmax."""

from __future__ import annotations

from typing import Any

from ...backend import pointwise as pointwise_kernels
from ...core.libraries import computed
from ...core.op import Array, Flag, Index, composite, elementwise, public
from ...core.tensor import Tensor, wrap, wrap_any
from ..checks.common import kinds
from ..elementwise.exponentials import log
from ..elementwise.number_operands import in_place
from ..elementwise.where import zeros_as
from .activations import functional, leaky_slope
from .softmax import _softmax


@elementwise(inplace=True, node="RreluWithNoiseBackward0", title="rrelu",
             guard=kinds("f", "leaky_relu_cpu"),
             vjp=lambda g, input, noise: _rrelu_backward(g, input, noise))
def _rrelu(input: Array, noise: Index, lower: float, upper: float, training: bool) -> Any:
    return input * noise


@elementwise(numbers=(), node="RreluWithNoiseBackwardBackward0")
def _rrelu_backward(input: Array, source: Array, noise: Index) -> Any:
    return input * noise


_rrelu_backward.vjp(input=lambda g, source, noise: _rrelu_backward(g, source, noise),
                    source=lambda g: zeros_as(g))


def _rrelu_call(made: Any, input: Tensor, lower: float, upper: float, training: bool,
                generator: Any = None) -> Tensor:
    from ...random import stream_for

    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if training:
        stream = stream_for(input._data, generator)
        noise = wrap(computed(pointwise_kernels.random_slopes, input._data, lower, upper, stream))
    else:
        noise = leaky_slope(input.detach(), (lower + upper) / 2)
    return made(input, noise, lower, upper, training)


@composite()
def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False,
          generator: Any = None) -> Tensor:
    """A leaky unit with random slopes while training, and their mean otherwise."""
    return _rrelu_call(_rrelu, input, lower, upper, training, generator)


@public("rrelu_", method=False)
def rrelu_(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False,
           generator: Any = None) -> Tensor:
    """In-place version of :func:`rrelu`."""
    return _rrelu_call(in_place(_rrelu), input, lower, upper, training, generator)


@functional("rrelu")
def _functional_rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3,
                      training: bool = False, inplace: Flag = False) -> Tensor:
    """A leaky unit with random slopes while training, and their mean otherwise."""
    return (rrelu_ if inplace else rrelu)(input, lower, upper, training)


@composite(function="nn.functional")
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: Flag = False, eps: float = 1e-10,
                   dim: int = -1) -> Tensor:
    """A differentiable sample of a category, nearly one-hot for small ``tau``."""
    from ...random import stream_for
    from ..creation.random import drawn

    stream, kind = stream_for(logits._data), logits.dtype.np
    noise = -log(wrap_any(drawn(lambda whole: stream.exponential(whole, kind), logits.shape)))
    soft = _softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    # The gradient of the soft sample stands in for that of the hard one.
    peaks = wrap(computed(pointwise_kernels.one_hot_of_largest, soft._data, dim))
    return peaks - soft.detach() + soft
