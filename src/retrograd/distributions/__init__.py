"""Probability distributions: draws, densities, moments, divergences, and transforms of them."""

# ruff: noqa: F401 - what is imported here is what is offered

from __future__ import annotations

import sys as _sys

from ..base.missing_names import suggest_names as _suggest_names
from . import (
    categories,
    combined,
    constraint_registry,
    constraints,
    counts,
    distribution,
    gammas,
    kl,
    lines,
    matrices,
    transformed,
    transforms,
    utils,
)
from .categories import (
    Categorical,
    Multinomial,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from .combined import Independent, MixtureSameFamily, TransformedDistribution
from .constraint_registry import biject_to, transform_to
from .counts import Bernoulli, Binomial, ContinuousBernoulli, Geometric, NegativeBinomial, Poisson
from .distribution import Distribution, ExponentialFamily
from .gammas import Beta, Chi2, Dirichlet, Exponential, FisherSnedecor, Gamma
from .kl import kl_divergence, register_kl
from .lines import Cauchy, GeneralizedPareto, Laplace, Normal, StudentT, Uniform, VonMises
from .matrices import LKJCholesky, LowRankMultivariateNormal, MultivariateNormal, Wishart
from .transformed import (
    Gumbel,
    HalfCauchy,
    HalfNormal,
    InverseGamma,
    Kumaraswamy,
    LogisticNormal,
    LogNormal,
    Pareto,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
    Weibull,
)
from .transforms import (
    AbsTransform,
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli",
    "Dirichlet", "Distribution", "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma",
    "GeneralizedPareto", "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent",
    "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal",
    "LowRankMultivariateNormal", "MixtureSameFamily", "Multinomial", "MultivariateNormal",
    "NegativeBinomial", "Normal", "OneHotCategorical", "OneHotCategoricalStraightThrough",
    "Pareto", "RelaxedBernoulli", "RelaxedOneHotCategorical", "StudentT", "Poisson", "Uniform",
    "VonMises", "Weibull", "Wishart", "TransformedDistribution", "biject_to", "kl_divergence",
    "register_kl", "transform_to", "AbsTransform", "AffineTransform", "CatTransform",
    "ComposeTransform", "CorrCholeskyTransform", "CumulativeDistributionTransform",
    "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform",
    "SoftplusTransform", "TanhTransform", "SoftmaxTransform", "StackTransform",
    "StickBreakingTransform", "Transform", "identity_transform"]

# PyTorch has a module for each family, which programs import from.
for _module, _names in (
        (categories, "categorical multinomial one_hot_categorical relaxed_categorical"),
        (combined, "independent mixture_same_family transformed_distribution"),
        (counts, "bernoulli binomial continuous_bernoulli geometric negative_binomial poisson "
                 "relaxed_bernoulli"),
        (distribution, "exp_family"),
        (gammas, "beta chi2 dirichlet exponential fishersnedecor gamma"),
        (lines, "cauchy generalized_pareto laplace normal studentT uniform von_mises"),
        (matrices, "lkj_cholesky lowrank_multivariate_normal multivariate_normal wishart"),
        (transformed, "gumbel half_cauchy half_normal inverse_gamma kumaraswamy log_normal "
                      "logistic_normal pareto weibull")):
    for _name in _names.split():
        globals()[_name] = _sys.modules[f"{__name__}.{_name}"] = _module

# Two families stand apart from what PyTorch has beside them in their modules.
counts.RelaxedBernoulli = RelaxedBernoulli  # type: ignore[attr-defined]
categories.RelaxedOneHotCategorical = RelaxedOneHotCategorical  # type: ignore[attr-defined]

_suggest_names(__name__)
