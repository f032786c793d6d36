"""Families that are others transformed."""

from __future__ import annotations

import math
from operator import attrgetter
from typing import Any, ClassVar

import retrograd as rg

from ..base import dtypes
from ..core.tensor import Tensor
from . import constraints
from .categories import ExpRelaxedCategorical
from .combined import TransformedDistribution
from .counts import LogitRelaxedBernoulli
from .gammas import Exponential, Gamma
from .lines import Cauchy, Normal, Uniform
from .transforms import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    StickBreakingTransform,
)
from .utils import broadcast_all, euler_constant

__all__ = ["Gumbel", "HalfCauchy", "HalfNormal", "InverseGamma", "Kumaraswamy", "LogNormal",
           "LogisticNormal", "Pareto", "RelaxedBernoulli", "RelaxedOneHotCategorical", "Weibull"]

_LOCATION_SCALE = {"loc": constraints.real, "scale": constraints.positive}


class _Half(TransformedDistribution):
    """The absolute values of a symmetric distribution around 0."""

    arg_constraints: ClassVar[Any] = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    scale = property(attrgetter("base_dist.scale"))
    mode = property(lambda self: rg.zeros_like(self.scale))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        found = self.base_dist.log_prob(value) + math.log(2)
        return rg.where(value >= 0, found, -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Tensor) -> Tensor:  # type: ignore[override]
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    """The absolute values of normal draws around 0."""

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(),
                         validate_args=validate_args)

    mean = property(lambda self: self.scale * math.sqrt(2 / math.pi))
    variance = property(lambda self: self.scale.pow(2) * (1 - 2 / math.pi))


class HalfCauchy(_Half):
    """The absolute values of Cauchy draws around 0."""

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(),
                         validate_args=validate_args)

    mean = property(lambda self: self._filled(math.inf, self.scale))
    variance = property(lambda self: self.base_dist.variance)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        return super().log_prob(value.to(self.scale.dtype))


class LogNormal(TransformedDistribution):
    """The exponentials of normal draws."""

    arg_constraints: ClassVar[Any] = _LOCATION_SCALE
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args=validate_args), ExpTransform(),
                         validate_args=validate_args)

    loc = property(attrgetter("base_dist.loc"))
    scale = property(attrgetter("base_dist.scale"))
    mean = property(lambda self: (self.loc + self.scale.pow(2) / 2).exp())
    mode = property(lambda self: (self.loc - self.scale.square()).exp())

    @property
    def variance(self) -> Tensor:
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc


class LogisticNormal(TransformedDistribution):
    """Shares that are broken off a stick by normal draws."""

    arg_constraints: ClassVar[Any] = _LOCATION_SCALE
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base if base.batch_shape else base.expand([1]),
                         StickBreakingTransform(), validate_args=validate_args)

    loc = property(attrgetter("base_dist.base_dist.loc"))
    scale = property(attrgetter("base_dist.base_dist.scale"))


class InverseGamma(TransformedDistribution):
    """The reciprocals of gamma draws."""

    arg_constraints: ClassVar[Any] = {"concentration": constraints.positive,
                                      "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())),
                         validate_args=validate_args)

    concentration = property(attrgetter("base_dist.concentration"))
    rate = property(attrgetter("base_dist.rate"))
    mode = property(lambda self: self.rate / (self.concentration + 1))

    @property
    def mean(self) -> Tensor:
        below = self.concentration - 1
        return rg.where(below > 0, self.rate / below, math.inf)

    @property
    def variance(self) -> Tensor:
        below = self.concentration - 1
        found = self.rate.square() / (below.square() * (self.concentration - 2))
        return rg.where(self.concentration > 2, found, math.inf)

    def entropy(self) -> Tensor:
        return (self.concentration + self.rate.log() + self.concentration.lgamma()
                - (1 + self.concentration) * self.concentration.digamma())


class Gumbel(TransformedDistribution):
    """The largest of many draws, in the limit."""

    arg_constraints: ClassVar[Any] = _LOCATION_SCALE
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        info = dtypes.finfo(self.loc.dtype)
        base = Uniform(rg.full_like(self.loc, info.tiny), rg.full_like(self.loc, 1 - info.eps),
                       validate_args=validate_args)
        super().__init__(base, [
            ExpTransform().inv, AffineTransform(0, -rg.ones_like(self.scale)),
            ExpTransform().inv, AffineTransform(loc, -self.scale)], validate_args=validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        y = (self.loc - value) / self.scale
        return y - y.exp() - self.scale.log()

    mean = property(lambda self: self.loc + self.scale * euler_constant)
    mode = property(lambda self: self.loc)
    stddev = property(lambda self: math.pi / math.sqrt(6) * self.scale)
    variance = property(lambda self: self.stddev.pow(2))

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_constant)


class Kumaraswamy(TransformedDistribution):
    """A likeness of the beta distribution with a distribution function in closed form."""

    arg_constraints: ClassVar[Any] = {"concentration1": constraints.positive,
                                      "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
                 ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(rg.full_like(self.concentration0, 0), rg.full_like(self.concentration0, 1),
                       validate_args=validate_args)
        super().__init__(base, [
            PowerTransform(self.concentration0.reciprocal()), AffineTransform(1.0, -1.0),
            PowerTransform(self.concentration1.reciprocal())], validate_args=validate_args)

    def _moment(self, order: int) -> Tensor:
        a, b = 1 + order / self.concentration1, self.concentration0
        return b * (a.lgamma() + b.lgamma() - (a + b).lgamma()).exp()

    mean = property(lambda self: self._moment(1))
    variance = property(lambda self: self._moment(2) - self.mean.pow(2))

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        log_mode = b.reciprocal() * (-b).log1p() - (-b * a).log1p()
        return log_mode.masked_fill((b < 1) | (a < 1), math.nan).exp()

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        return (1 - b.reciprocal() + (1 - a.reciprocal()) * ((b + 1).digamma() + euler_constant)
                - a.log() - b.log())


class Pareto(TransformedDistribution):
    """What exceeds ``scale`` with a probability that falls as a power."""

    arg_constraints: ClassVar[Any] = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        super().__init__(Exponential(self.alpha, validate_args=validate_args),
                         [ExpTransform(), AffineTransform(0, self.scale)],
                         validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.greater_than_eq(self.scale)

    mode = property(lambda self: self.scale)

    @property
    def mean(self) -> Tensor:
        alpha = self.alpha.clamp(min=1)
        return alpha * self.scale / (alpha - 1)

    @property
    def variance(self) -> Tensor:
        alpha = self.alpha.clamp(min=2)
        return self.scale.pow(2) * alpha / ((alpha - 1).pow(2) * (alpha - 2))

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(TransformedDistribution):
    """Life times whose rate of failure is a power of the age."""

    arg_constraints: ClassVar[Any] = {"scale": constraints.positive,
                                      "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        base = Exponential(rg.ones_like(self.scale), validate_args=validate_args)
        super().__init__(base, [PowerTransform(self.concentration_reciprocal),
                                AffineTransform(0, self.scale)], validate_args=validate_args)

    concentration_reciprocal = property(lambda self: self.concentration.reciprocal())

    def _log_moment(self, order: int) -> Tensor:
        """The logarithm of the mean of a power, at scale 1."""
        return (1 + order * self.concentration_reciprocal).lgamma()

    mean = property(lambda self: self.scale * self._log_moment(1).exp())
    mode = property(lambda self: self.scale * (
        (self.concentration - 1) / self.concentration) ** self.concentration.reciprocal())
    variance = property(lambda self: self.scale.pow(2) * (
        self._log_moment(2).exp() - (2 * self._log_moment(1)).exp()))

    def entropy(self) -> Tensor:
        return (euler_constant * (1 - self.concentration_reciprocal)
                + (self.scale * self.concentration_reciprocal).log() + 1)


class RelaxedBernoulli(TransformedDistribution):
    """Values between 0 and 1, near the ends where the temperature is low."""

    arg_constraints: ClassVar[Any] = LogitRelaxedBernoulli.arg_constraints
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, temperature: Tensor, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(),
                         validate_args=validate_args)

    temperature = property(attrgetter("base_dist.temperature"))
    logits = property(attrgetter("base_dist.logits"))
    probs = property(attrgetter("base_dist.probs"))


class RelaxedOneHotCategorical(TransformedDistribution):
    """Points of the simplex, near its corners where the temperature is low."""

    arg_constraints: ClassVar[Any] = ExpRelaxedCategorical.arg_constraints
    support = constraints.simplex
    has_rsample = True

    def __init__(self, temperature: Tensor, probs: Tensor | None = None,
                 logits: Tensor | None = None, validate_args: bool | None = None) -> None:
        super().__init__(
            ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args),
            ExpTransform(), validate_args=validate_args)

    temperature = property(attrgetter("base_dist.temperature"))
    logits = property(attrgetter("base_dist.logits"))
    probs = property(attrgetter("base_dist.probs"))
