"""Trials and counts: success or failure, how many of them, and relaxations of that."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import retrograd as rg

from ..autograd.grad_mode import no_grad
from ..core.tensor import Tensor
from ..nn.functional import binary_cross_entropy_with_logits, logsigmoid
from . import constraints
from .distribution import ExponentialFamily, ProbsOrLogits, tiny
from .gammas import Gamma
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs

__all__ = ["Bernoulli", "Binomial", "ContinuousBernoulli", "Geometric", "NegativeBinomial",
           "Poisson"]

_REGIONS = {"probs": constraints.unit_interval, "logits": constraints.real}


class _Trials(ProbsOrLogits):
    """A family given by the chance of success, or its log-odds."""

    arg_constraints: ClassVar[Any] = _REGIONS

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
                 ) -> None:
        name, given = self._given(probs, logits)
        (value,) = broadcast_all(given)
        setattr(self, name, value)
        ProbsOrLogits.__init__(self, value.shape, validate_args=validate_args)

    def _cross_entropy(self, value: Tensor | None = None) -> Tensor:
        """That of one trial, or of the outcomes ``value``, in which the chance is broadcast."""
        logits, value = (self.logits, self.probs) if value is None else broadcast_all(
            self.logits, value)
        return binary_cross_entropy_with_logits(logits, value, reduction="none")


class Bernoulli(_Trials, ExponentialFamily):
    """1 with probability ``probs``, and 0 otherwise."""

    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0
    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    @property
    def mode(self) -> Tensor:
        return (self.probs >= 0.5).to(self.probs).masked_fill(self.probs == 0.5, math.nan)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            return rg.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        return -self._cross_entropy(value)

    def entropy(self) -> Tensor:
        return self._cross_entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._enumerated(rg.arange(2, dtype=self._param.dtype), expand)

    _natural_params = property(lambda self: (self.probs.logit(),))

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return x.exp().log1p()


class Geometric(_Trials):
    """The number of failures before the first success."""

    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
                 ) -> None:
        super().__init__(probs, logits, validate_args)
        if self._validate_args and probs is not None:
            value = self.probs
            valid = value > 0
            if not valid.all():
                raise ValueError(
                    f"Expected parameter probs ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to be positive but found "
                    f"invalid values:\n{value.data[~valid]}")

    mean = property(lambda self: 1.0 / self.probs - 1.0)
    mode = property(lambda self: rg.zeros_like(self.probs))
    variance = property(lambda self: (1.0 / self.probs - 1.0) / self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            uniform = rg.empty(self._extended_shape(sample_shape), dtype=self.probs.dtype
                               ).uniform_(tiny(self.probs), 1)
            return (uniform.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        value, probs = broadcast_all(value, self.probs)
        # A sure success has no failures before it: 0 * log(0) counts as 0.
        probs = probs.masked_fill((probs == 1) & (value == 0), 0)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        return self._cross_entropy() / self.probs


class _RepeatedTrials(ProbsOrLogits):
    """Trials until ``total_count``, which is broadcast with the chance of success."""

    def __init__(self, total_count: Any, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        name, given = self._given(probs, logits)
        count, value = broadcast_all(total_count, given)
        self.total_count = count.type_as(value)
        setattr(self, name, value)
        ProbsOrLogits.__init__(self, value.shape, validate_args=validate_args)


class Binomial(_RepeatedTrials):
    """The number of successes in ``total_count`` trials."""

    arg_constraints: ClassVar[Any] = {"total_count": constraints.nonnegative_integer, **_REGIONS}
    has_enumerate_support = True

    def __init__(self, total_count: Any = 1, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        super().__init__(total_count, probs, logits, validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    mean = property(lambda self: self.total_count * self.probs)
    mode = property(lambda self: ((self.total_count + 1) * self.probs).floor().clamp(
        max=self.total_count))
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return rg.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        count, logits = self.total_count, self.logits
        # log(1 + exp(logits)) is the positive part and what is left; its slope at 0 is one half.
        positive = (logits.clamp(min=0) + logits - logits.clamp(max=0)) / 2
        log_normalizer = count * (positive + (-logits.abs()).exp().log1p())
        return (value * logits - log_normalizer + (count + 1).lgamma() - (value + 1).lgamma()
                - (count - value + 1).lgamma())

    def entropy(self) -> Tensor:
        self._require_one_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._require_one_count("enumerate_support")
        return self._enumerated(rg.arange(1 + count, dtype=self._param.dtype), expand)

    def _require_one_count(self, function: str) -> int:
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{function}`.")
        return count


class NegativeBinomial(_RepeatedTrials):
    """The number of successes before ``total_count`` failures."""

    arg_constraints: ClassVar[Any] = {"total_count": constraints.greater_than_eq(0),
                                      "probs": constraints.half_open_interval(0.0, 1.0),
                                      "logits": constraints.real}
    support = constraints.nonnegative_integer
    mean = property(lambda self: self.total_count * self.logits.exp())
    mode = property(lambda self: ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)
                    )
    variance = property(lambda self: self.mean / (-self.logits).sigmoid())

    @lazy_property
    def _gamma(self) -> Gamma:
        return Gamma(self.total_count, (-self.logits).exp(), validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            return rg.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        count = self.total_count
        log_ways = (count + value).lgamma() - (1.0 + value).lgamma() - count.lgamma()
        log_ways = log_ways.masked_fill(count + value == 0.0, 0.0)
        return count * logsigmoid(-self.logits) + value * logsigmoid(self.logits) + log_ways


class Poisson(ExponentialFamily):
    """The number of events that come at a ``rate``."""

    arg_constraints: ClassVar[Any] = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    mean = variance = property(lambda self: self.rate)
    mode = property(lambda self: self.rate.floor())

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            return rg.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    _natural_params = property(lambda self: (self.rate.log(),))

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return x.exp()


class ContinuousBernoulli(_Trials, ExponentialFamily):
    """Values between 0 and 1 whose density is that of Bernoulli, continued and normalised.

    Its formulas lose their digits around a half: within ``lims``, Taylor polynomials stand in.
    """

    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, probs: Any = None, logits: Any = None, lims: Any = (0.499, 0.501),
                 validate_args: bool | None = None) -> None:
        self._lims = lims
        if probs is not None and logits is None:
            (probs,) = broadcast_all(probs)
            if validate_args is not None and not constraints.unit_interval.check(probs).all():
                raise ValueError("The parameter probs has invalid values")
            probs = clamp_probs(probs)
        super().__init__(probs, logits, validate_args)

    @lazy_property
    def probs(self) -> Tensor:
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _stable(self, formula: Tensor, taylor: Tensor) -> Tensor:
        return rg.where(self._outside_unstable_region(), formula, taylor)

    def _outside_unstable_region(self) -> Tensor:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> Tensor:
        """The chances, with one in the place of those that the formulas are not used for."""
        return rg.where(self._outside_unstable_region(), self.probs, self._lims[0])

    def _cut_log_odds(self) -> Tensor:
        cut = self._cut_probs()
        return cut.log() - (-cut).log1p()

    def _cont_bern_log_norm(self) -> Tensor:
        from_half = (2 * self._cut_probs() - 1).abs()
        square = (self.probs - 0.5).pow(2)
        return self._stable(self._cut_log_odds().abs().log() - from_half.log(),
                            math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * square) * square)

    @property
    def mean(self) -> Tensor:
        cut, apart = self._cut_probs(), self.probs - 0.5
        return self._stable(cut / (2.0 * cut - 1.0) - 1.0 / self._cut_log_odds(),
                            0.5 + (1.0 / 3.0 + 16.0 / 45.0 * apart.pow(2)) * apart)

    @property
    def variance(self) -> Tensor:
        cut, square = self._cut_probs(), (self.probs - 0.5).pow(2)
        formula = cut * (cut - 1.0) / (1.0 - 2.0 * cut).pow(2) + self._cut_log_odds().pow(-2)
        return self._stable(formula,
                            1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * square) * square)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.icdf(rg.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        return self._cont_bern_log_norm() - self._cross_entropy(value)

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        cut = self._cut_probs()
        formula = (cut.pow(value) * (1.0 - cut).pow(1.0 - value) + cut - 1.0) / (2.0 * cut - 1.0)
        inside = self._stable(formula, value)
        return rg.where(value <= 0, 0.0, rg.where(value >= 1, 1.0, inside))

    def icdf(self, value: Tensor) -> Tensor:
        cut = self._cut_probs()
        formula = ((value * (2.0 * cut - 1.0) - cut).log1p() - (-cut).log1p())
        return self._stable(formula / self._cut_log_odds(), value)

    def entropy(self) -> Tensor:
        log_failure = (-self.probs).log1p()
        return (self.mean * (log_failure - self.probs.log()) - self._cont_bern_log_norm()
                - log_failure)

    _natural_params = property(lambda self: (self.logits,))

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        outside = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = rg.where(outside, x, self._lims[0] - 0.5)
        return rg.where(outside, cut.expm1().abs().log() - cut.abs().log(),
                        0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0)


class LogitRelaxedBernoulli(_Trials):
    """The log-odds of a relaxed Bernoulli variable."""

    support = constraints.real

    def __init__(self, temperature: Tensor, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        uniform = clamp_probs(rg.rand(shape, dtype=probs.dtype))
        return (uniform.log() - (-uniform).log1p() + probs.log() - (-probs).log1p()
                ) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        apart = logits - value * self.temperature
        return self.temperature.log() + apart - 2 * apart.exp().log1p()
