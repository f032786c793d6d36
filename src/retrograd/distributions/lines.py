"""Distributions on the real line, a part of it, or the circle."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import retrograd as rg

from ..autograd.grad_mode import no_grad
from ..base import dtypes
from ..core.tensor import Tensor
from . import constraints
from .distribution import Distribution, ExponentialFamily
from .gammas import Chi2
from .utils import _standard_normal, broadcast_all, lazy_property

__all__ = ["Cauchy", "GeneralizedPareto", "Laplace", "Normal", "StudentT", "Uniform", "VonMises"]

_LOG_ROOT_TWO_PI = math.log(math.sqrt(2 * math.pi))


class _LocationScale(Distribution):
    """A distribution on the real line that is moved by ``loc`` and stretched by ``scale``."""

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    mean = mode = property(lambda self: self.loc)

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)


class Normal(_LocationScale, ExponentialFamily):
    """The normal distribution."""

    _mean_carrier_measure = 0
    stddev = property(lambda self: self.scale)
    variance = property(lambda self: self.stddev.pow(2))

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return rg.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        drawn = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype)
        return self.loc + drawn * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        return (-(value - self.loc) ** 2 / (2 * self.scale ** 2) - self.scale.log()
                - _LOG_ROOT_TWO_PI)

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        return 0.5 * (1 + ((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)).erf())

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()

    _natural_params = property(lambda self: (
        self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()))

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        return -0.25 * x.pow(2) / y + 0.5 * (-math.pi / y).log()


class Laplace(_LocationScale):
    """The Laplace distribution: two exponential ones, back to back."""

    stddev = property(lambda self: 2 ** 0.5 * self.scale)
    variance = property(lambda self: 2 * self.scale.pow(2))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        uniform = rg.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype).uniform_(
            dtypes.finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * uniform.sign() * (-uniform.abs()).log1p()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        apart = value - self.loc
        return 0.5 - 0.5 * apart.sign() * (-apart.abs() / self.scale).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        from_half = value - 0.5
        return self.loc - self.scale * from_half.sign() * (-2 * from_half.abs()).log1p()

    def entropy(self) -> Tensor:
        return 1 + (2 * self.scale).log()


class Cauchy(_LocationScale):
    """The Cauchy distribution, the ratio of two normal variables."""

    mean = property(lambda self: self._filled(math.nan, self.loc))
    mode = property(lambda self: self.loc)
    variance = property(lambda self: self._filled(math.inf, self.loc))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        drawn = rg.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype).cauchy_()
        return self.loc + drawn * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        return (-math.log(math.pi) - self.scale.log()
                - (((value - self.loc) / self.scale) ** 2).log1p())

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()


class StudentT(Distribution):
    """A normal variable over the root of a chi-squared one."""

    arg_constraints: ClassVar[Any] = {"df": constraints.positive, "loc": constraints.real,
                                      "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0,
                 validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.shape, validate_args=validate_args)

    mean = property(lambda self: self.loc.masked_fill(self.df <= 1, math.nan))
    mode = property(lambda self: self.loc)

    @property
    def variance(self) -> Tensor:
        df = self.df.masked_fill(self.df <= 2, 3.0)  # whatever has no pole there
        finite = self.scale.pow(2) * df / (df - 2)
        return finite.masked_fill(self.df <= 2, math.inf).masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        drawn = _standard_normal(self._extended_shape(sample_shape), self.df.dtype)
        return self.loc + self.scale * (
            drawn * (self._chi2.rsample(sample_shape) / self.df).rsqrt())

    def _log_beta(self) -> Tensor:
        """The logarithm of the beta function of half of ``df`` and one half."""
        return (0.5 * self.df).lgamma() + 0.5 * math.log(math.pi) - (0.5 * (self.df + 1)).lgamma()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        square = ((value - self.loc) / self.scale) ** 2.0
        return (-0.5 * (self.df + 1.0) * (square / self.df).log1p()
                - (self.scale.log() + 0.5 * self.df.log() + self._log_beta()))

    def entropy(self) -> Tensor:
        above = 0.5 * (self.df + 1)
        return (self.scale.log() + above * (above.digamma() - (0.5 * self.df).digamma())
                + 0.5 * self.df.log() + self._log_beta())


class Uniform(Distribution):
    """All values from ``low`` to below ``high`` alike."""

    has_rsample = True
    arg_constraints: ClassVar[Any] = property(lambda self: {
        "low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)})

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.interval(self.low, self.high)

    mean = property(lambda self: (self.high + self.low) / 2)
    mode = property(lambda self: math.nan * self.high)
    stddev = property(lambda self: (self.high - self.low) / 12 ** 0.5)
    variance = property(lambda self: (self.high - self.low).pow(2) / 12)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        drawn = rg.rand(self._extended_shape(sample_shape), dtype=self.low.dtype)
        return self.low + drawn * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        inside = (self.low <= value) & (value < self.high)
        return inside.type_as(self.low).log() - (self.high - self.low).log()

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return (self.high - self.low).log()


class GeneralizedPareto(Distribution):
    """What exceeds a high threshold: exponential where the concentration is 0, else a power."""

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive,
                                      "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any,
                 validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, rg.where(self.concentration < 0, end, math.inf))

    mode = property(lambda self: self.loc)

    @property
    def mean(self) -> Tensor:
        exists = self.concentration < 1
        safe = rg.where(exists, self.concentration, 0.5)
        return rg.where(exists, self.loc + self.scale / (1 - safe), math.nan)

    @property
    def variance(self) -> Tensor:
        exists = self.concentration < 0.5
        safe = rg.where(exists, self.concentration, 0.25)
        found = self.scale ** 2 / ((1 - safe) ** 2 * (1 - 2 * safe))
        return rg.where(exists, found, math.nan)

    def _exponential(self) -> tuple[Tensor, Tensor]:
        """Where it is exponential, and the concentration with a 1 in those places."""
        zero = self.concentration.isclose(rg.zeros_like(self.concentration))
        return zero, rg.where(zero, 1.0, self.concentration)

    def _standard(self, value: Tensor) -> Tensor:
        self._check(value)
        return (value - self.loc) / self.scale

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.icdf(rg.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        standard = self._standard(value)
        zero, safe = self._exponential()
        power = 1 / safe + rg.ones_like(standard)
        found = rg.where(power == 0, power, power * (safe * standard).log1p())
        return -self.scale.log() - rg.where(zero, standard, found)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of values above ``value``."""
        standard = self._standard(value)
        zero, safe = self._exponential()
        return rg.where(zero, -standard, -(safe * standard).log1p() / safe)

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of :meth:`cdf`."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        return self.log_cdf(value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        zero, safe = self._exponential()
        log_above = (-value).log1p()
        return rg.where(zero, self.loc - self.scale * log_above,
                        self.loc + self.scale / safe * (-safe * log_above).expm1())

    def entropy(self) -> Tensor:
        return self.scale.log() + self.concentration + 1


class VonMises(Distribution):
    """The normal distribution's likeness on the circle, from -π to π."""

    arg_constraints: ClassVar[Any] = {"loc": constraints.real,
                                      "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    mean = mode = property(lambda self: self.loc)

    @lazy_property
    def variance(self) -> Tensor:
        return 1 - rg.special.i1e(self.concentration) / rg.special.i0e(self.concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        log_i0 = rg.special.i0e(self.concentration).log() + self.concentration
        return (self.concentration * (value - self.loc).cos() - math.log(2 * math.pi) - log_i0)

    @lazy_property
    def _proposal_r(self) -> Tensor:
        """The parameter of the wrapped Cauchy distribution that covers this one."""
        kappa = self.concentration.double()
        tau = 1 + (1 + 4 * kappa ** 2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        return rg.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho ** 2) / (2 * rho))

    @no_grad()
    def sample(self, sample_shape: Any = ()) -> Tensor:
        loc, kappa, r = self.loc.double(), self.concentration.double(), self._proposal_r
        shape = self._extended_shape(sample_shape)
        angle = rg.empty(shape, dtype=dtypes.float64)
        done = rg.zeros(shape, dtype=dtypes.bool)
        while not done.all():  # the method of Best and Fisher
            turn, level, side = rg.rand((3, *shape), dtype=dtypes.float64).unbind()
            z = (math.pi * turn).cos()
            cosine = (1 + r * z) / (r + z)
            c = kappa * (r - cosine)
            accepted = (c * (2 - c) - level > 0) | ((c / level).log() + 1 - c >= 0)
            angle = rg.where(accepted, (side - 0.5).sign() * cosine.acos(), angle)
            done = done | accepted
        return ((angle + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)
