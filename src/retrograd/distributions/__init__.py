"""Probability distributions: draws, densities, moments, divergences, and transforms of them."""

# ruff: noqa: F401, F403 - what is imported here is what is offered

from __future__ import annotations

import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..base.missing_names import suggest_names as _suggest_names
from . import categories, constraint_registry, constraints, counts, kl, transforms, utils
from .categories import *
from .combined import *
from .constraint_registry import biject_to, transform_to
from .counts import *
from .distribution import *
from .gammas import *
from .kl import *
from .lines import *
from .matrices import *
from .transformed import *
from .transformed import RelaxedBernoulli, RelaxedOneHotCategorical
from .transforms import *

if not _TYPE_CHECKING:  # to a checker what is imported so is what is offered
    __all__ = sorted([name for name, value in vars().items()
                      if callable(value) and not name.startswith("_")])

# PyTorch has a module for each family, which programs import from.
for _module, _names in (
        ("categories", "categorical multinomial one_hot_categorical relaxed_categorical"),
        ("combined", "independent mixture_same_family transformed_distribution"),
        ("counts", "bernoulli binomial continuous_bernoulli geometric negative_binomial poisson "
                   "relaxed_bernoulli"),
        ("distribution", "exp_family"),
        ("gammas", "beta chi2 dirichlet exponential fishersnedecor gamma"),
        ("lines", "cauchy generalized_pareto laplace normal studentT uniform von_mises"),
        ("matrices", "lkj_cholesky lowrank_multivariate_normal multivariate_normal wishart"),
        ("transformed", "gumbel half_cauchy half_normal inverse_gamma kumaraswamy log_normal "
                        "logistic_normal pareto weibull")):
    for _name in _names.split():
        globals()[_name] = _sys.modules[f"{__name__}.{_name}"] = \
            _sys.modules[f"{__name__}.{_module}"]

# Two families stand apart from what PyTorch has beside them in their modules.
counts.RelaxedBernoulli = RelaxedBernoulli  # type: ignore[attr-defined]
categories.RelaxedOneHotCategorical = RelaxedOneHotCategorical  # type: ignore[attr-defined]

_suggest_names(__name__)
