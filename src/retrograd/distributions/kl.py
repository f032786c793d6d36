"""The Kullback-Leibler divergence, by the families of its two arguments.

Most pairs follow one formula: minus the entropy of the first, minus the mean under the first of the
second's log-density. That mean needs few facts of the first: its moments, the mean of its
logarithm, the mean of an exponential. So each fact is written once for a family, and each density
once in terms of the facts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import retrograd as rg

from ..base.warning import warn
from ..core.tensor import Tensor
from ..nn.functional import softplus
from .categories import Categorical, OneHotCategorical
from .combined import Independent, TransformedDistribution
from .counts import Bernoulli, Binomial, ContinuousBernoulli, Geometric, Poisson
from .distribution import Distribution, ExponentialFamily
from .gammas import Beta, Dirichlet, Exponential, Gamma
from .lines import Cauchy, Laplace, Normal, Uniform
from .matrices import LowRankMultivariateNormal, MultivariateNormal
from .transformed import Gumbel, HalfNormal, Pareto
from .utils import _sum_rightmost, euler_constant

__all__ = ["register_kl", "kl_divergence"]

Divergence = Callable[[Any, Any], Any]

_KL_REGISTRY: dict[tuple[type, type], Divergence] = {}
_KL_MEMOIZE: dict[tuple[type, type], Any] = {}


def register_kl(type_p: Any, type_q: Any) -> Callable[[Divergence], Divergence]:
    """A decorator that makes a function the divergence of two families, and of those derived.

    A family is a class; other libraries have base classes of their own.
    """
    for name, kind in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(kind, type):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {kind}")

    def register(function: Divergence) -> Divergence:
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()
        return function

    return register


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The mean under ``p`` of how much its log-density exceeds that of ``q``, for each of a batch.
    """
    kinds = type(p), type(q)
    if kinds not in _KL_MEMOIZE:
        _KL_MEMOIZE[kinds] = _closest(*kinds)
    divergence = _KL_MEMOIZE[kinds]
    if divergence is None:
        raise NotImplementedError("No KL(p || q) is implemented for p type "
                                  f"{type(p).__name__} and q type {type(q).__name__}")
    return divergence(p, q)


def _closest(type_p: type, type_q: type) -> Divergence | None:
    """What is registered for the nearest ancestors of both; ``p`` decides where they disagree."""
    p_line, q_line = type_p.__mro__, type_q.__mro__
    matches = [(p, q) for p, q in _KL_REGISTRY if p in p_line and q in q_line]
    if not matches:
        return None
    by_p = min(matches, key=lambda pair: (p_line.index(pair[0]), q_line.index(pair[1])))
    by_q = min(matches, key=lambda pair: (q_line.index(pair[1]), p_line.index(pair[0])))
    if _KL_REGISTRY[by_p] is not _KL_REGISTRY[by_q]:
        warn(f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please "
             f"register_kl({by_p[0].__name__}, {by_q[1].__name__})", RuntimeWarning)
    return _KL_REGISTRY[by_p]


# ---------------------------------------------------------------- facts of the first argument


def _x_log_x(x: Tensor) -> Tensor:
    return x.xlogy(x)


def _uniform_log(low: Tensor, high: Tensor) -> Tensor:
    """The mean logarithm between two numbers."""
    return (_x_log_x(high) - _x_log_x(low)) / (high - low) - 1


_MEAN_LOG: dict[type, Callable[[Any], Tensor]] = {
    Beta: lambda p: p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma(),
    Exponential: lambda p: -p.rate.log() - euler_constant,
    Gamma: lambda p: p.concentration.digamma() - p.rate.log(),
    Pareto: lambda p: p.scale.log() + p.alpha.reciprocal(),
    Uniform: lambda p: _uniform_log(p.low, p.high)}
"""The mean logarithm of a variable."""

_MEAN_EXP: dict[type, Callable[[Any, Tensor], Tensor]] = {
    Exponential: lambda p, scale: p.rate * scale / (p.rate * scale + 1),
    Gamma: lambda p, scale: (1 + (p.rate * scale).reciprocal()).pow(-p.concentration),
    Normal: lambda p, scale: (-p.loc / scale + 0.5 * (p.scale / scale).pow(2)).exp(),
    Uniform: lambda p, scale: ((-p.low / scale).exp() - (-p.high / scale).exp())
    * scale / (p.high - p.low)}
"""The mean of ``exp(-x / scale)``."""


# ---------------------------------------------------------------- densities of the second argument


def _log_normal(p: Any, q: Normal) -> Tensor:
    square = p.variance + (p.mean - q.loc).pow(2)
    return -0.5 * square / q.scale.pow(2) - q.scale.log() - 0.5 * math.log(2 * math.pi)


def _log_exponential(p: Any, q: Exponential) -> Tensor:
    return q.rate.log() - q.rate * p.mean


def _log_gamma(p: Any, q: Gamma) -> Tensor:
    return (q.concentration * q.rate.log() - q.concentration.lgamma()
            + (q.concentration - 1) * _MEAN_LOG[_family(p)](p) - q.rate * p.mean)


def _log_gumbel(p: Any, q: Gumbel) -> Tensor:
    return ((q.loc - p.mean) / q.scale - q.scale.log()
            - (q.loc / q.scale).exp() * _MEAN_EXP[_family(p)](p, q.scale))


def _log_pareto(p: Any, q: Pareto) -> Tensor:
    return (q.alpha.log() + q.alpha * q.scale.log()
            - (q.alpha + 1) * _MEAN_LOG[_family(p)](p))


def _log_continuous_bernoulli(p: Any, q: ContinuousBernoulli) -> Tensor:
    return p.mean * q.logits + (-q.probs).log1p() + q._cont_bern_log_norm()


def _log_uniform(p: Any, q: Uniform) -> Tensor:
    return -(q.high - q.low).log()


def _log_beta(p: Uniform, q: Beta) -> Tensor:
    a, b = q.concentration1, q.concentration0
    return ((a - 1) * _uniform_log(p.low, p.high) + (b - 1) * _uniform_log(1 - p.high, 1 - p.low)
            - q._log_normalizer(a, b))


def _log_poisson(p: Any, q: Poisson) -> Tensor:
    return p.mean * q.rate.log() - q.rate  # a count of 0 or 1 has no factorial


def _family(p: Distribution) -> type:
    return next(kind for kind in type(p).__mro__ if kind in _MEAN_LOG or kind in _MEAN_EXP)


def _cross(log_density: Callable[[Any, Any], Tensor],
           outside: Callable[[Any, Any], Tensor] | None = None) -> Divergence:
    """The divergence by a mean log-density; infinite ``outside`` of the second's support."""

    def divergence(p: Any, q: Any) -> Tensor:
        found = -p.entropy() - log_density(p, q)
        return found if outside is None else found.masked_fill(outside(p, q), math.inf)

    return divergence


def _beside_unit(p: Any, q: Uniform) -> Tensor:
    return (q.low > 0) | (q.high < 1)


def _reaches_below(p: Uniform, q: Any) -> Tensor:
    return p.low < q.support.lower_bound


_p: Any
_q: Any
_density: Any
for _density, _q, _all_p in (
        (_log_normal, Normal, (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace,
                               Uniform)),
        (_log_exponential, Exponential, (Beta, ContinuousBernoulli, Gamma)),
        (_log_gamma, Gamma, (Beta, Exponential)),
        (_log_gumbel, Gumbel, (Exponential, Gamma, Normal, Uniform)),
        (_log_continuous_bernoulli, ContinuousBernoulli, (Beta,)),
        (_log_poisson, Poisson, (Bernoulli,))):
    for _p in _all_p:
        register_kl(_p, _q)(_cross(_density))

for _p, _q, _density, _outside in (
        (Beta, Uniform, _log_uniform, _beside_unit),
        # PyTorch counts every interval that starts or ends inside as one beside the unit interval.
        (ContinuousBernoulli, Uniform, _log_uniform,
         lambda p, q: (q.low >= 0) | (q.high <= 1)),
        (Uniform, ContinuousBernoulli, _log_continuous_bernoulli,
         lambda p, q: (p.high >= 1) | (p.low <= 0)),
        (Uniform, Beta, _log_beta, lambda p, q: (p.high > 1) | (p.low < 0)),
        (Uniform, Exponential, _log_exponential, _reaches_below),
        (Uniform, Gamma, _log_gamma, _reaches_below),
        (Uniform, Pareto, _log_pareto, _reaches_below),
        (Pareto, Exponential, _log_exponential, lambda p, q: p.alpha <= 1),
        (Pareto, Gamma, _log_gamma, lambda p, q: p.alpha <= 1),
        (Pareto, Normal, _log_normal, lambda p, q: p.alpha <= 2)):
    register_kl(_p, _q)(_cross(_density, _outside))


# ---------------------------------------------------------------- values that the second never has


def _infinite(parameter: str) -> Divergence:
    return lambda p, q: rg.full_like(getattr(p, parameter), math.inf)


for _p, _parameter, _all_q in (
        (Beta, "concentration1", (Pareto,)),
        (ContinuousBernoulli, "probs", (Pareto,)),
        (Exponential, "rate", (Beta, ContinuousBernoulli, Pareto, Uniform)),
        (Gamma, "concentration", (Beta, ContinuousBernoulli, Pareto, Uniform)),
        (Gumbel, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
        (Laplace, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
        (Normal, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
        (Pareto, "scale", (Beta, ContinuousBernoulli, Uniform)),
        (Poisson, "rate", (Bernoulli, Binomial))):
    for _q in _all_q:
        register_kl(_p, _q)(_infinite(_parameter))


# ---------------------------------------------------------------- two of one family


@register_kl(ExponentialFamily, ExponentialFamily)
def _kl_expfamily_expfamily(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    if type(p) is not type(q):
        raise NotImplementedError("The cross KL-divergence between different exponential families "
                                  "cannot be computed using Bregman divergences")
    return p._bregman_divergence(q)


@register_kl(Bernoulli, Bernoulli)
def _kl_bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    success = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    failure = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    return (_impossible(success, p.probs == 0, q.probs == 0)
            + _impossible(failure, p.probs == 1, q.probs == 1))


def _impossible(term: Tensor, for_p: Tensor, for_q: Tensor) -> Tensor:
    """A term that is infinite where ``q`` excludes the outcome, and 0 where ``p`` does."""
    return term.masked_fill(for_q, math.inf).masked_fill(for_p, 0)


@register_kl(Categorical, Categorical)
def _kl_categorical(p: Categorical, q: Categorical) -> Tensor:
    return _impossible(p.probs * (p.logits - q.logits), p.probs == 0, q.probs == 0).sum(-1)


@register_kl(Binomial, Binomial)
def _kl_binomial(p: Binomial, q: Binomial) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not "
                                  "implemented")
    each = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return (p.total_count * each).masked_fill(p.total_count > q.total_count, math.inf)


@register_kl(Dirichlet, Dirichlet)
def _kl_dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    mean_log = a.digamma() - a.sum(-1, True).digamma()
    return q._log_normalizer(b) - p._log_normalizer(a) + ((a - b) * mean_log).sum(-1)


@register_kl(Exponential, Exponential)
def _kl_exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Gamma, Gamma)
def _kl_gamma(p: Gamma, q: Gamma) -> Tensor:
    a, b = p.concentration, q.concentration
    return (b * (p.rate / q.rate).log() + b.lgamma() - a.lgamma() + (a - b) * a.digamma()
            + (q.rate - p.rate) * (a / p.rate))


@register_kl(Normal, Normal)
def _kl_normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Normal, Laplace)
def _kl_normal_laplace(p: Normal, q: Laplace) -> Tensor:
    apart = p.loc - q.loc
    units = apart / p.scale
    mean_distance = (math.sqrt(2 / math.pi) * p.scale * (-0.5 * units.pow(2)).exp()
                     + apart * (math.sqrt(0.5) * units).erf())
    return (mean_distance / q.scale - (p.scale / q.scale).log()
            - 0.5 * (1 + math.log(0.5 * math.pi)))


@register_kl(Laplace, Laplace)
def _kl_laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, apart = p.scale / q.scale, (p.loc - q.loc).abs()
    return apart / q.scale + ratio * (-apart / p.scale).exp() - ratio.log() - 1


@register_kl(Gumbel, Gumbel)
def _kl_gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    ratio, apart = p.scale / q.scale, (q.loc - p.loc) / q.scale
    return ((apart + (1 + ratio).lgamma()).exp() - ratio.log() - apart
            + ratio * euler_constant - (1 + euler_constant))


@register_kl(Uniform, Uniform)
def _kl_uniform(p: Uniform, q: Uniform) -> Tensor:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return found.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(Pareto, Pareto)
def _kl_pareto(p: Pareto, q: Pareto) -> Tensor:
    ratio = q.alpha / p.alpha
    found = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return found.masked_fill(p.scale < q.scale, math.inf)


for _p, _divergence in (
        (OneHotCategorical, lambda p, q: _kl_categorical(p._categorical, q._categorical)),
        (Beta, lambda p, q: kl_divergence(p._dirichlet, q._dirichlet)),
        (ContinuousBernoulli, lambda p, q:
         _log_continuous_bernoulli(p, p) - _log_continuous_bernoulli(p, q)),
        (Geometric, lambda p, q: -p.entropy() - (-q.probs).log1p() / p.probs - q.logits),
        (Poisson, lambda p, q: p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)),
        (HalfNormal, lambda p, q: _kl_normal(p.base_dist, q.base_dist)),
        (Cauchy, lambda p, q: ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
         - (4 * p.scale * q.scale).log())):
    register_kl(_p, _p)(_divergence)
for _p in (MultivariateNormal, LowRankMultivariateNormal):
    for _q in (MultivariateNormal, LowRankMultivariateNormal):
        register_kl(_p, _q)(lambda p, q: p._divergence(q))


# ---------------------------------------------------------------- distributions made of others


@register_kl(TransformedDistribution, TransformedDistribution)
def _kl_transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _kl_independent(p: Any, q: Any) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
