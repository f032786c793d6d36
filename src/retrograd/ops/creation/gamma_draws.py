"""Draws of the gamma family, through which gradients pass, and of the binomial distribution."""

from __future__ import annotations

from typing import Any

from ...backend import implicit as implicit_kernels, xp
from ...backend.interface import kind_of
from ...base import dtypes
from ...base.errors import size_mismatch
from ...core.op import Array, elementwise, op, public
from ...core.tensor import Tensor
from ...random import Generator, stream_of
from ..batching import all_aligned, run
from ..checks.common import kinds, no_derivative, no_derivative_of
from ..reductions.sums import _sum_dims
from .random import _need_different, for_each_vmap


def _drawn_for_each(batch: Any, *values: Any) -> Any:
    _need_different(batch)
    return run(batch.name, *values)


# ---------------------------------------------------------------- gamma


@elementwise(numbers=(), function="torch", guard=kinds("f", "_standard_gamma_grad_cpu"),
             vjp=lambda g: no_derivative_of("_standard_gamma_grad"))
def _standard_gamma_grad(input: Array, output: Array) -> Any:
    """The derivative of the gamma draws ``output`` by their concentrations ``input``."""
    return implicit_kernels.gamma_slope(input, output)


@op(draws=True, node="StandardGammaBackward0", batches=_drawn_for_each,
    vjp=lambda g, input, y: g * _standard_gamma_grad(input, y))
def _gamma_draw(input: Array, generator: Any = None) -> Any:
    return stream_of(generator).gamma(xp.as_array(input))


@public("_standard_gamma", method=False)
def _standard_gamma(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Gamma draws of rate 1 with the concentrations in ``input``, which receive gradients."""
    return _gamma_draw(for_each_vmap(input), generator)  # type: ignore[no-any-return]


# ---------------------------------------------------------------- Dirichlet


@elementwise(numbers=(), function="torch", guard=kinds("f", "_dirichlet_grad_cpu"),
             vjp=lambda g: no_derivative_of("_dirichlet_grad"))
def _dirichlet_grad(x: Array, alpha: Array, total: Array) -> Any:
    """The derivative of Dirichlet draws by their own concentrations, before normalisation."""
    return implicit_kernels.beta_slope(x, alpha, total)


def _row_sum(value: Any) -> Any:
    return _sum_dims(value, (-1,), True) if value.ndim else value


@op(draws=True, node="_DirichletBackward", batches=_drawn_for_each, vjp=lambda g, input, y: (
    _dirichlet_grad(y, input, _row_sum(input)) * (g - _row_sum(y * g))))
def _dirichlet_draw(input: Array, generator: Any = None) -> Any:
    return stream_of(generator).dirichlet(xp.as_array(input))


@public("_sample_dirichlet", method=False)
def _sample_dirichlet(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Dirichlet draws with the concentrations in the rows of ``input``, which receive gradients."""
    return _dirichlet_draw(for_each_vmap(input), generator)  # type: ignore[no-any-return]


# ---------------------------------------------------------------- binomial


@op(draws=True, node="NotImplemented", broadcasts=True,
    vjp=lambda g: no_derivative("aten::binomial"))
def _binomial(count: Array, prob: Array, generator: Any = None) -> Any:
    for name, dtype in (("count", count.dtype), ("prob", prob.dtype)):
        if kind_of(dtype) not in "fV":
            raise ValueError(f"binomial only supports floating-point dtypes for {name}, got: "
                             f"{dtypes.from_numpy_dtype(dtype).alias}")
    try:
        counts, chances = xp.broadcast_arrays(xp.as_array(count), xp.as_array(prob))
    except ValueError:
        raise size_mismatch([count.shape, prob.shape]) from None
    return stream_of(generator).binomial(counts, chances.astype(counts.dtype))


@_binomial.batch
def _(batch: Any, count: Any, prob: Any, generator: Any) -> Any:
    return _drawn_for_each(batch, *all_aligned(batch, count=count, prob=prob), generator)


@public("binomial", method=False)
def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """Numbers of successes in ``count`` trials, each with probability ``prob``."""
    return _binomial(for_each_vmap(count), prob, generator)  # type: ignore[no-any-return]
