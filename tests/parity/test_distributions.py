"""Every family, transform, constraint and divergence beside PyTorch's.

Distributions are written as expressions, evaluated once for each library. Parameters are drawn from
a seed by ``R(low, high, *event)``, for each shape of a batch, and require gradients.
"""

from __future__ import annotations

import itertools
import math
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import retrograd as rg
import retrograd.distributions


@pytest.fixture(autouse=True)
def arguments_are_validated(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch's compiler, which other tests load, puts an end to that for the whole process."""
    monkeypatch.setattr(torch.distributions.Distribution, "_validate_args", True)


BATCHES = [(), (2, 3)]
FAMILIES = {
    "Bernoulli": ["D.Bernoulli(R(.1, .9))", "D.Bernoulli(logits=R(-2, 2))", "D.Bernoulli(0.3)"],
    "Beta": ["D.Beta(R(.5, 3), R(.5, 3))", "D.Beta(R(1.5, 3), 2.)"],
    "Binomial": ["D.Binomial(7, R(.1, .9))", "D.Binomial(40, logits=R(-2, 2))"],
    "Categorical": ["D.Categorical(R(.1, .9, 4))", "D.Categorical(logits=R(-2, 2, 4))"],
    "Cauchy": ["D.Cauchy(R(-1, 1), R(.5, 2))", "D.Cauchy(0., 1.)"],
    "Chi2": ["D.Chi2(R(1, 6))"],
    "ContinuousBernoulli": ["D.ContinuousBernoulli(R(.1, .9))",
                            "D.ContinuousBernoulli(logits=R(-2, 2))",
                            "D.ContinuousBernoulli(R(.4995, .5005))"],
    "Dirichlet": ["D.Dirichlet(R(.5, 3, 4))", "D.Dirichlet(R(.2, .8, 2))"],
    "Exponential": ["D.Exponential(R(.5, 2))", "D.Exponential(2.)"],
    "FisherSnedecor": ["D.FisherSnedecor(R(1, 6), R(1, 9))"],
    "Gamma": ["D.Gamma(R(.3, 4), R(.5, 2))", "D.Gamma(R(.01, .3), 2.)"],
    "GeneralizedPareto": ["D.GeneralizedPareto(R(-1, 1), R(.5, 2), R(-.8, 1.2))",
                          "D.GeneralizedPareto(R(-1, 1), R(.5, 2), 0.)"],
    "Geometric": ["D.Geometric(R(.1, .9))", "D.Geometric(logits=R(-2, 2))"],
    "Gumbel": ["D.Gumbel(R(-1, 1), R(.5, 2))"],
    "HalfCauchy": ["D.HalfCauchy(R(.5, 2))"],
    "HalfNormal": ["D.HalfNormal(R(.5, 2))", "D.HalfNormal(1.)"],
    "Independent": ["D.Independent(D.Normal(R(-1, 1, 2), R(.5, 2, 2)), 1)",
                    "D.Independent(D.Bernoulli(R(.1, .9, 2, 3)), 2)",
                    "D.Independent(D.Poisson(R(1, 5)), 0)"],
    "InverseGamma": ["D.InverseGamma(R(.5, 4), R(.5, 2))"],
    "Kumaraswamy": ["D.Kumaraswamy(R(.5, 3), R(.5, 3))"],
    "LKJCholesky": ["D.LKJCholesky(3, R(.5, 3))", "D.LKJCholesky(2, 1.5)"],
    "Laplace": ["D.Laplace(R(-1, 1), R(.5, 2))"],
    "LogNormal": ["D.LogNormal(R(-1, 1), R(.5, 2))"],
    "LogisticNormal": ["D.LogisticNormal(R(-1, 1, 3), R(.5, 2, 3))"],
    "LowRankMultivariateNormal": [
        "D.LowRankMultivariateNormal(R(-1, 1, 4), R(-1, 1, 4, 2), R(.5, 2, 4))"],
    "MixtureSameFamily": [
        "D.MixtureSameFamily(D.Categorical(R(.1, .9, 4)), D.Normal(R(-1, 1, 4), R(.5, 2, 4)))",
        "D.MixtureSameFamily(D.Categorical(R(.1, .9, 2)), "
        "D.Independent(D.Laplace(R(-1, 1, 2, 3), R(.5, 2, 2, 3)), 1))"],
    "Multinomial": ["D.Multinomial(6, R(.1, .9, 4))", "D.Multinomial(5, logits=R(-2, 2, 3))"],
    "MultivariateNormal": [
        "D.MultivariateNormal(R(-1, 1, 3), scale_tril=tril(R(.5, 2, 3, 3)))",
        "D.MultivariateNormal(R(-1, 1, 3), spd(R(-1, 1, 3, 3)))",
        "D.MultivariateNormal(R(-1, 1, 3), precision_matrix=spd(R(-1, 1, 3, 3)))"],
    "NegativeBinomial": ["D.NegativeBinomial(R(1, 6), R(.1, .9))",
                         "D.NegativeBinomial(5, logits=R(-2, 1))"],
    "Normal": ["D.Normal(R(-1, 1), R(.5, 2))", "D.Normal(0., 1)", "D.Normal(R(-1, 1), 2)"],
    "OneHotCategorical": ["D.OneHotCategorical(R(.1, .9, 4))",
                          "D.OneHotCategorical(logits=R(-2, 2, 4))"],
    "OneHotCategoricalStraightThrough": ["D.OneHotCategoricalStraightThrough(R(.1, .9, 4))"],
    "Pareto": ["D.Pareto(R(.5, 2), R(.5, 4))"],
    "Poisson": ["D.Poisson(R(.5, 9))", "D.Poisson(R(10, 30))"],
    "RelaxedBernoulli": ["D.RelaxedBernoulli(t.tensor(.7, dtype=t.float64), R(.1, .9))",
                         "D.RelaxedBernoulli(t.tensor(2., dtype=t.float64), logits=R(-2, 2))"],
    "RelaxedOneHotCategorical": [
        "D.RelaxedOneHotCategorical(t.tensor(.7, dtype=t.float64), R(.1, .9, 4))",
        "D.RelaxedOneHotCategorical(t.tensor(2., dtype=t.float64), logits=R(-2, 2, 3))"],
    "StudentT": ["D.StudentT(R(.5, 4), R(-1, 1), R(.5, 2))", "D.StudentT(3.)"],
    "TransformedDistribution": [
        "D.TransformedDistribution(D.Normal(R(-1, 1), R(.5, 2)), [D.AffineTransform(R(-1, 1), "
        "R(-2, -.5)), D.TanhTransform()])",
        "D.TransformedDistribution(D.Normal(R(-1, 1, 6), 1.), D.ReshapeTransform((6,), (2, 3)))",
        "D.TransformedDistribution(D.Gamma(R(1, 2), R(1, 2)), [])"],
    "Uniform": ["D.Uniform(R(-2, -1), R(1, 2))", "D.Uniform(0., 3.)"],
    "VonMises": ["D.VonMises(R(-1, 1), R(.5, 2))", "D.VonMises(R(-1, 1), R(1e-6, 9))"],
    "Weibull": ["D.Weibull(R(.5, 2), R(.5, 3))"],
    "Wishart": ["D.Wishart(R(3.5, 6), scale_tril=tril(R(.5, 2, 3, 3)))",
                "D.Wishart(4., spd(R(-1, 1, 2, 2)))",
                "D.Wishart(R(3.5, 6), precision_matrix=spd(R(-1, 1, 3, 3)))"],
}
EXPRESSIONS = [each for family in FAMILIES.values() for each in family]
# Where a moment begins or ends to exist, and where one formula takes the place of another.
ROUND = ["D.Bernoulli(H(0, .5, 1))", "D.Beta(H(.5, 1, 2), 1.)", "D.Beta(1., H(.5, 1, 2))",
         "D.Binomial(4, H(0, .5, 1))", "D.Chi2(H(1, 2, 3))",
         "D.ContinuousBernoulli(H(.499, .5, .501))", "D.Dirichlet(H(1, 1, 2))",
         "D.FisherSnedecor(H(1, 2, 3), 5.)",
         "D.FisherSnedecor(5., H(2, 3, 4))", "D.Gamma(H(.5, 1, 2), 1.)", "D.Geometric(H(.5, 1))",
         "D.GeneralizedPareto(0., 1., H(.5, 1, -1))", "D.InverseGamma(H(1, 2, 3), 1.)",
         "D.Kumaraswamy(H(.5, 1, 2), 1.)", "D.Kumaraswamy(1., H(.5, 1, 2))",
         "D.Kumaraswamy(2., H(.5, 1, 2))", "D.LKJCholesky(3, H(.5, 1, 2))",
         "D.NegativeBinomial(H(1, 2), .5)", "D.NegativeBinomial(1., H(0, .5))",
         "D.Pareto(1., H(1, 2, 3))", "D.Poisson(H(0, 1, 10))", "D.StudentT(H(1, 2, 3))",
         "D.VonMises(0., H(3.75, 1e-3))", "D.Weibull(1., H(.5, 1, 2))",
         "D.Wishart(H(2, 3, 4), t.eye(2, dtype=t.float64))"]

# PyTorch has polynomials for the Bessel functions, good to seven digits, and their slopes to five.
APPROXIMATE = {"VonMises": 2e-5}
# PyTorch's log_prob has this family in the default dtype only.
SINGLE = ("GeneralizedPareto",)
# Its gradients through gamma draws are approximations, good to three digits or four.
SLOPES = ("Beta", "Chi2", "Dirichlet", "FisherSnedecor", "Gamma", "InverseGamma", "StudentT",
          "Wishart")
# On Intel's processors PyTorch draws these from a generator that it has only there.
EXPONENTIAL = ("Exponential", "Pareto", "Weibull")


def evaluated(lib: Any, expression: str, batch: tuple[int, ...], dtype: str = "float64"
              ) -> tuple[Any, list[Any]]:
    """The object that an expression gives in a library, and its parameters."""
    source, leaves = np.random.RandomState(0), []
    if any(name in expression for name in SINGLE):
        dtype = "float32"

    def random(low: float, high: float, *event: int) -> Any:
        values = low + (high - low) * source.rand(*batch, *event)
        leaf = lib.tensor(values, dtype=getattr(lib, dtype)).requires_grad_()
        leaves.append(leaf)
        return leaf

    names = {"D": lib.distributions, "t": lib, "R": random,
             "H": lambda *numbers: lib.tensor(numbers, dtype=getattr(lib, dtype)),
             "tril": lambda x: x.tril(),
             "spd": lambda x: x @ x.mT + lib.eye(x.shape[-1], dtype=x.dtype)}
    return eval(expression, names), leaves


def plain(value: Any) -> Any:
    """A result as something that does not depend on the library."""
    if hasattr(value, "detach"):
        return str(value.dtype), tuple(value.shape), value.detach().numpy()
    if isinstance(value, tuple) and not isinstance(value, (torch.Size, rg.Size)):
        return tuple(map(plain, value))
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


def outcome(compute: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return plain(compute())
        except Exception as error:
            words = str(error).replace("retrograd.distributions.", "torch.distributions.")
            # Classes are named with the modules they stand in.
            words = " ".join(part for part in words.split() if "<class" not in part
                             and "torch.distributions." not in part)
            return type(error).__name__, words


def check_alike(label: str, theirs: Any, ours: Any, tolerance: float = 1e-8) -> None:
    if isinstance(theirs, tuple) and len(theirs) == 3 and isinstance(theirs[2], np.ndarray):
        assert ours[:2] == theirs[:2], f"{label}: {ours} for {theirs}"
        if theirs[0] == "torch.float32":
            tolerance = max(tolerance, 5e-6)
        np.testing.assert_allclose(ours[2], theirs[2], rtol=tolerance, atol=tolerance * 1e-2,
                                   err_msg=label)
    elif isinstance(theirs, tuple) and theirs and isinstance(theirs[0], tuple):
        assert len(ours) == len(theirs), f"{label}: {ours} for {theirs}"
        for part, wanted in zip(ours, theirs, strict=True):
            check_alike(label, wanted, part, tolerance)
    else:
        assert ours == theirs, f"{label}: {ours} for {theirs}"


def beside(expression: str, batch: tuple[int, ...], ask: Any, tolerance: float = 1e-8) -> None:
    """Compare what ``ask(lib, distribution, parameters)`` finds, by name, in both libraries."""
    found = []
    for lib in (torch, rg):
        made, leaves = evaluated(lib, expression, batch)
        found.append({name: outcome(compute) for name, compute in ask(lib, made, leaves).items()})
    assert found[0].keys() == found[1].keys()
    for name, theirs in found[0].items():
        check_alike(f"{expression} {batch} {name}", theirs, found[1][name], tolerance)


def gradients(lib: Any, value: Any, leaves: list[Any]) -> Any:
    """The gradients of a tensor, weighted, by each parameter."""
    if not getattr(value, "requires_grad", False):
        return None
    weights = lib.linspace(0.5, 1.5, value.numel(), dtype=value.dtype).reshape(value.shape)
    return tuple(lib.zeros_like(leaf) if found is None else found for found, leaf in zip(
        lib.autograd.grad((value * weights).sum(), leaves, allow_unused=True, retain_graph=True),
        leaves, strict=True))


def family_of(expression: str) -> str:
    return expression.removeprefix("D.").partition("(")[0]


def tolerance_of(expression: str) -> float:
    # Numbers alone make parameters of single precision.
    single = not any(double in expression for double in ("R(", "H(")) \
        or family_of(expression) in SINGLE
    return APPROXIMATE.get(family_of(expression), 1e-6 if single else 1e-8)


def value_for(expression: str, batch: tuple[int, ...], shape: tuple[int, ...] = (4,)
              ) -> np.ndarray:
    """Values in the support: PyTorch's own draws."""
    made, _ = evaluated(torch, expression, batch)
    torch.manual_seed(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return made.sample(shape).numpy()


cases = pytest.mark.parametrize(("expression", "batch"),
                                [*itertools.product(EXPRESSIONS, BATCHES)])
cases_and_round = pytest.mark.parametrize(("expression", "batch"), [
    *itertools.product(EXPRESSIONS, BATCHES), *((expression, ()) for expression in ROUND)])


# ---------------------------------------------------------------- what a family says of itself


MOMENTS = ("mean", "mode", "variance", "stddev")


@cases_and_round
def test_shapes_moments_and_entropies(expression: str, batch: tuple[int, ...]) -> None:
    def ask(lib: Any, made: Any, leaves: list[Any]) -> dict[str, Any]:
        asked = {name: lambda name=name: getattr(made, name) for name in (
            "batch_shape", "event_shape", "has_rsample", "has_enumerate_support", "support",
            *MOMENTS)}
        asked["repr"] = lambda: repr(made)
        for name in ("entropy", "perplexity", "enumerate_support"):
            asked[name] = lambda name=name: getattr(made, name)()
        asked["unexpanded support"] = lambda: made.enumerate_support(expand=False)
        for name in MOMENTS:
            asked[f"gradient of {name}"] = lambda name=name: gradients(
                lib, getattr(made, name), leaves)
        asked["gradient of entropy"] = lambda: gradients(lib, made.entropy(), leaves)
        return asked

    beside(expression, batch, ask, tolerance_of(expression))


@cases_and_round
def test_densities_and_distribution_functions(expression: str, batch: tuple[int, ...]) -> None:
    given = value_for(expression, batch)
    chances = np.random.RandomState(1).rand(4, *batch)

    def ask(lib: Any, made: Any, leaves: list[Any]) -> dict[str, Any]:
        value, chance = lib.tensor(given), lib.tensor(chances)
        whole = value.clone().requires_grad_() if value.dtype.is_floating_point else value
        return {
            "log_prob": lambda: made.log_prob(value),
            "gradient of log_prob": lambda: gradients(lib, made.log_prob(whole), [
                *leaves, *[whole] * whole.requires_grad]),
            "cdf": lambda: made.cdf(value), "icdf": lambda: made.icdf(chance),
            "gradient of cdf": lambda: gradients(lib, made.cdf(value), leaves),
            "gradient of icdf": lambda: gradients(lib, made.icdf(chance), leaves)}

    beside(expression, batch, ask, tolerance_of(expression))


@cases
def test_a_seed_gives_the_same_draws(expression: str, batch: tuple[int, ...]) -> None:
    if any(name in expression for name in EXPONENTIAL) and not portable_exponentials():
        pytest.skip("this build of PyTorch draws exponentials from another generator")

    def ask(lib: Any, made: Any, leaves: list[Any]) -> dict[str, Any]:
        def seeded(draw: Any) -> Any:
            lib.manual_seed(3)
            return draw(), lib.rand(1)  # and the stream stands where it should

        return {"sample": lambda: seeded(lambda: made.sample((5,))),
                "one": lambda: seeded(made.sample),
                "many": lambda: seeded(lambda: made.sample((2, 40))),
                "rsample": lambda: seeded(lambda: made.rsample((5,)))}

    beside(expression, batch, ask)


@cases
def test_gradients_through_draws(expression: str, batch: tuple[int, ...]) -> None:
    if any(name in expression for name in EXPONENTIAL) and not portable_exponentials():
        pytest.skip("this build of PyTorch draws exponentials from another generator")

    def ask(lib: Any, made: Any, leaves: list[Any]) -> dict[str, Any]:
        def drawn() -> Any:
            lib.manual_seed(3)
            return gradients(lib, made.rsample((5,)), leaves)

        return {"rsample": drawn}

    if "Wishart" in expression:  # PyTorch overwrites what its own gradient needs
        made, leaves = evaluated(rg, expression, batch)
        assert all(gradient.isfinite().all() for gradient in gradients(rg, made.rsample(), leaves))
        return
    sloped = any(f"D.{name}(" in expression for name in SLOPES)
    beside(expression, batch, ask, 5e-3 if sloped else 1e-8)


def portable_exponentials() -> bool:
    torch.manual_seed(0)
    rg.manual_seed(0)
    return np.allclose(torch.empty(9).exponential_().numpy(), rg.empty(9).exponential_().numpy())


@cases
def test_expanding(expression: str, batch: tuple[int, ...]) -> None:
    given = value_for(expression, batch, (2, 4))
    shape = (4, *batch)

    def ask(lib: Any, made: Any, leaves: list[Any]) -> dict[str, Any]:
        value = lib.tensor(given)
        made = made.expand(shape)
        asked = {name: lambda name=name: getattr(made, name)
                 for name in ("batch_shape", "event_shape", "_validate_args", *MOMENTS)}
        return {**asked, "repr": lambda: repr(made), "log_prob": lambda: made.log_prob(value),
                # PyTorch forgets what this needs of a multinomial distribution.
                **({} if "Multinomial" in expression else {"entropy": lambda: made.entropy()}),
                "again": lambda: repr(made.expand((2, *shape))),
                "too small": lambda: made.expand((5, *batch))}

    beside(expression, batch, ask, tolerance_of(expression))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_single_precision(expression: str) -> None:
    found = []
    given = value_for(expression, (3,))
    for lib in (torch, rg):
        made, _ = evaluated(lib, expression.replace("float64", "float32"), (3,), "float32")
        value = lib.tensor(given)
        value = value.float() if value.dtype.is_floating_point else value
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made._validate_args = False
            found.append([outcome(lambda made=made, value=value: made.log_prob(value)),
                          outcome(lambda made=made: made.mean), outcome(made.entropy)])
    for theirs, ours in zip(*found, strict=True):
        check_alike(expression, theirs, ours, 2e-4)


# ---------------------------------------------------------------- refusals


INVALID_PARAMETERS = [
    "D.Normal(0., -1.)", "D.Normal(t.tensor([0., float('nan')]), 1.)", "D.Normal('a', 1.)",
    "D.Bernoulli(1.5)", "D.Bernoulli()", "D.Bernoulli(.5, .5)", "D.Binomial(-1, t.tensor(.5))",
    "D.Binomial(3)", "D.Categorical(t.tensor([-1., 2.]))", "D.Categorical(t.tensor(.5))",
    "D.Categorical(logits=t.tensor(.5))", "D.Categorical(t.tensor([[.5, float('nan')]]))",
    "D.Dirichlet(t.tensor(1.))", "D.Dirichlet(t.tensor([1., -1.]))", "D.Beta(-1., 1.)",
    "D.Gamma(0., 1.)", "D.Gamma(t.tensor([1., 2.]), t.tensor([1., 2., 3.]))",
    "D.Geometric(0.)", "D.Geometric(t.tensor([.5, 0.]))", "D.Geometric(2.)",
    "D.Uniform(1., 0.)", "D.Poisson(-1.)", "D.LKJCholesky(1)", "D.LKJCholesky(3, -1.)",
    "D.ContinuousBernoulli(1.5, validate_args=True)", "D.NegativeBinomial(-1., t.tensor(.5))",
    "D.NegativeBinomial(1., t.tensor(1.))", "D.Multinomial(t.tensor(3), t.tensor([.5, .5]))",
    "D.MultivariateNormal(t.tensor(1.), t.eye(1))", "D.MultivariateNormal(t.ones(2))",
    "D.MultivariateNormal(t.ones(2), t.eye(2), t.eye(2))",
    "D.MultivariateNormal(t.ones(2), t.ones(2))",
    "D.MultivariateNormal(t.ones(2), scale_tril=t.ones(2))",
    "D.MultivariateNormal(t.ones(2), scale_tril=t.ones(2, 2))",
    "D.MultivariateNormal(t.ones(2), -t.eye(2))",
    "D.MultivariateNormal(t.ones(2), t.tensor([[1., .5], [0., 1.]]))",
    "D.LowRankMultivariateNormal(t.tensor(1.), t.ones(1, 1), t.ones(1))",
    "D.LowRankMultivariateNormal(t.ones(2), t.ones(2), t.ones(2))",
    "D.LowRankMultivariateNormal(t.ones(2), t.ones(3, 1), t.ones(2))",
    "D.LowRankMultivariateNormal(t.ones(2), t.ones(2, 1), t.ones(3))",
    "D.LowRankMultivariateNormal(t.ones(2, 2), t.ones(3, 2, 1), t.ones(2))",
    "D.LowRankMultivariateNormal(t.ones(2), t.ones(2, 1), -t.ones(2))",
    "D.Wishart(1., t.eye(2))", "D.Wishart(3., t.eye(2), t.eye(2))", "D.Wishart(3., t.ones(2))",
    "D.Wishart(3., -t.eye(2))", "D.Wishart(t.tensor([3., .5]), t.eye(2))",
    "D.MixtureSameFamily(D.Normal(0., 1.), D.Normal(t.ones(2), 1.))",
    "D.MixtureSameFamily(D.Categorical(t.ones(2)), 1.)",
    "D.MixtureSameFamily(D.Categorical(t.ones(2)), D.Normal(t.ones(3), 1.))",
    "D.MixtureSameFamily(D.Categorical(t.ones(3, 2)), D.Normal(t.ones(4, 2), 1.))",
    "D.Independent(D.Normal(0., 1.), 1)", "D.TransformedDistribution(D.Normal(0., 1.), 1)",
    "D.TransformedDistribution(D.Normal(0., 1.), [1])",
    "D.TransformedDistribution(D.Normal(0., 1.), D.StickBreakingTransform())",
    "D.StudentT(-1.)", "D.VonMises(0., -1.)", "D.HalfNormal(-1.)", "D.HalfCauchy(-1.)",
    "D.LogNormal(0., -1.)", "D.Pareto(-1., 1.)", "D.Weibull(1., -1.)", "D.Kumaraswamy(-1., 1.)",
    "D.InverseGamma(-1., 1.)", "D.FisherSnedecor(-1., 1.)", "D.Gumbel(0., -1.)",
    "D.Laplace(0., -1.)", "D.Cauchy(0., -1.)", "D.Exponential(-1.)", "D.Chi2(-1.)",
    "D.GeneralizedPareto(0., -1., 1.)", "D.OneHotCategorical(t.tensor([-1., 2.]))",
    "D.RelaxedBernoulli(t.tensor(1.), 1.5)",
    "D.RelaxedOneHotCategorical(t.tensor(1.), t.tensor([-1., 2.]))",
    "D.Distribution.set_default_validate_args(3)", "D.PowerTransform('a')",
    "D.ExpTransform(cache_size=2)", "D.ReshapeTransform((2,), (3,))",
    "D.CatTransform([1])", "D.CatTransform([D.ExpTransform()], lengths=[1, 2])",
    "D.StackTransform([1])", "D.biject_to(D.constraints.dependent)",
    "D.biject_to.register(int, 1)", "D.constraints.independent(1, 1)",
    "D.constraints.independent(D.constraints.real, -1)",
    "D.constraints.independent(D.constraints.real, 'a')",
    "D.constraints.independent(D.constraints.real, 2).check(t.ones(1))",
    "D.constraints.cat([1])", "D.constraints.cat([D.constraints.real], lengths=[1, 2])",
    "D.constraints.dependent.check(1)", "D.constraints.dependent.event_dim",
    "D.constraints.dependent.is_discrete",
    "D.utils.vec_to_tril_matrix(t.ones(2))", "D.utils.tril_matrix_to_vec(t.ones(2, 2), 5)",
    "D.kl_divergence(D.Cauchy(0., 1.), D.Normal(0., 1.))",
    "D.kl_divergence(D.Gamma(1., 1.), D.Poisson(1.))",
    "D.kl_divergence(D.Binomial(2, t.tensor(.5)), D.Binomial(3, t.tensor(.5)))",
    "D.Distribution().mean", "D.Distribution().mode", "D.Distribution().sample()",
    "D.Distribution().expand((2,))", "D.Binomial(t.tensor([1., 2.]), t.tensor(.5)).entropy()",
    "D.Binomial(t.tensor([1., 2.]), t.tensor(.5)).enumerate_support()",
    "D.Independent(D.Bernoulli(t.ones(2)), 1).enumerate_support()",
]


@pytest.mark.parametrize("expression", INVALID_PARAMETERS)
def test_parameters_are_refused_in_the_same_words(expression: str) -> None:
    theirs, ours = (outcome(lambda lib=lib: evaluated(lib, expression, ())[0])
                    for lib in (torch, rg))
    check_alike(expression, theirs, ours)


INVALID_VALUES = [float("nan"), -1.0, 0.0, 0.5, 1.0, 1.5, 1e9]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values_are_refused_in_the_same_words(expression: str) -> None:
    event = evaluated(rg, expression, (2,))[0].event_shape

    def ask(lib: Any, made: Any, leaves: list[Any]) -> dict[str, Any]:
        asked = {f"all {number}": lambda number=number: made.log_prob(
            lib.full((2, *event), number, dtype=lib.float64)) for number in INVALID_VALUES}
        asked["shape"] = lambda: made.log_prob(lib.ones(3, 5, 7, dtype=lib.float64))
        asked["number"] = lambda: made.log_prob(1.0)
        return asked

    beside(expression, (2,), ask, tolerance_of(expression))


# ---------------------------------------------------------------- divergences


def registered(lib: Any) -> list[tuple[str, str]]:
    lib.distributions.kl_divergence  # noqa: B018 - loads what registers
    return sorted((p.__name__, q.__name__) for p, q in lib.distributions.kl._KL_REGISTRY)


def test_the_same_pairs_have_divergences() -> None:
    assert registered(rg) == registered(torch)


@pytest.mark.parametrize(("p", "q"), [(p, q) for p, q in registered(torch) if p in FAMILIES
                                      and q in FAMILIES])
def test_divergences(p: str, q: str) -> None:
    for first, second in itertools.product(FAMILIES[p], FAMILIES[q]):
        for batch in BATCHES:
            both = f"({first}, {second})"
            found = []
            for lib in (torch, rg):
                pair, leaves = evaluated(lib, both, batch)

                def divergence(lib: Any = lib, pair: Any = pair) -> Any:
                    return lib.distributions.kl_divergence(*pair)

                found.append((outcome(divergence), outcome(
                    lambda lib=lib, leaves=leaves, d=divergence: gradients(lib, d(), leaves))))
            exact = min(tolerance_of(first), tolerance_of(second)) == max(
                tolerance_of(first), tolerance_of(second)) == 1e-8
            check_alike(both, found[0][0], found[1][0], 1e-8 if exact else 1e-6)
            if len(found[0][0]) == 2 or np.isfinite(found[0][0][2]).all():
                check_alike(both + " gradient", found[0][1], found[1][1], 1e-7 if exact else 5e-6)


@pytest.mark.parametrize("expression", ["Normal", "Gamma", "Beta", "Dirichlet", "Exponential",
                                        "Bernoulli", "Poisson", "Wishart"])
def test_divergences_of_exponential_families_by_their_normalisers(expression: str) -> None:
    for made in FAMILIES[expression][:1]:
        both = f"({made}, {made})"
        found = []
        for lib in (torch, rg):
            general = lib.distributions.kl._KL_REGISTRY[(lib.distributions.ExponentialFamily,) * 2]
            pair, _ = evaluated(lib, both, (3,))
            found.append(outcome(lambda pair=pair, general=general: general(*pair)))
        check_alike(made, *found)


# ---------------------------------------------------------------- transforms


TRANSFORMS = {
    "D.AbsTransform()": (), "D.AffineTransform(R(-1, 1), R(.5, 2))": (),
    "D.AffineTransform(1., -2.)": (), "D.AffineTransform(R(-1, 1, 3), R(.5, 2, 3), 1)": (3,),
    "D.ExpTransform()": (), "D.ExpTransform().inv": (), "D.SigmoidTransform()": (),
    "D.SoftplusTransform()": (), "D.TanhTransform()": (), "D.PowerTransform(R(.5, 2))": (),
    "D.PowerTransform(t.tensor(-1.5))": (), "D.SoftmaxTransform()": (4,),
    "D.StickBreakingTransform()": (4,), "D.CorrCholeskyTransform()": (6,),
    "D.LowerCholeskyTransform()": (3, 3), "D.PositiveDefiniteTransform()": (3, 3),
    "D.ReshapeTransform((2, 3), (3, 2))": (2, 3), "D.identity_transform": (),
    "D.IndependentTransform(D.ExpTransform(), 1)": (3,),
    "D.ComposeTransform([D.ExpTransform(), D.AffineTransform(0., 2.)])": (),
    "D.ComposeTransform([D.AffineTransform(0., 2.), D.StickBreakingTransform()])": (3,),
    "D.ComposeTransform([D.ExpTransform(), D.AffineTransform(0., 2.)]).inv": (),
    "D.CatTransform([D.ExpTransform(), D.TanhTransform()], -1, [2, 1])": (3,),
    "D.StackTransform([D.ExpTransform(), D.TanhTransform()], -1)": (2,),
    "D.CumulativeDistributionTransform(D.Normal(R(-1, 1), R(.5, 2)))": (),
}


@pytest.mark.parametrize("cache_size", [0, 1])
@pytest.mark.parametrize("expression", TRANSFORMS)
def test_transforms(expression: str, cache_size: int) -> None:
    for batch in BATCHES:
        shape = (*batch, *TRANSFORMS[expression])
        given = np.asarray(0.1 + np.random.RandomState(2).rand(*shape))

        def ask(lib: Any, made: Any, leaves: list[Any], given: np.ndarray = given,
                shape: tuple[int, ...] = shape) -> dict[str, Any]:
            made = made.with_cache(cache_size)
            x = lib.tensor(given).requires_grad_()
            size = lib.Size(shape)
            y = made(x)
            asked = {name: lambda name=name: getattr(made, name) for name in (
                "bijective", "domain", "codomain", "event_dim", "sign", "_cache_size")}
            return {
                **asked, "repr": lambda: repr(made), "inverse's repr": lambda: repr(made.inv),
                "y": lambda: y, "x": lambda: made.inv(y), "fresh x": lambda: made.inv(y.detach()),
                "cached": lambda: made.inv(y) is x, "inverse": lambda: made.inv.inv is made,
                "log_abs_det_jacobian": lambda: made.log_abs_det_jacobian(x, y),
                "of the inverse": lambda: made.inv.log_abs_det_jacobian(y, x),
                "gradient": lambda: gradients(lib, made(x), [x, *leaves]),
                "gradient of the determinant": lambda: gradients(
                    lib, made.log_abs_det_jacobian(x, made(x)), [x, *leaves]),
                "forward_shape": lambda: made.forward_shape(size),
                "inverse_shape": lambda: made.inverse_shape(y.shape),
                "no dims": lambda: made.forward_shape(lib.Size(())),
                "inverse without dims": lambda: made.inverse_shape(lib.Size(())),
                "domain.check": lambda: made.domain.check(x),
                "codomain.check": lambda: made.codomain.check(y),
                "too few dims": lambda: made(lib.tensor(0.5)),
                "equal": lambda: (made == made, made == lib.distributions.ExpTransform(),
                                  made == made.with_cache(1 - cache_size))}

        beside(expression, batch, ask)


# ---------------------------------------------------------------- constraints


CONSTRAINTS = [
    "boolean", "one_hot", "nonnegative_integer", "positive_integer", "integer_interval(-1, 2)",
    "real", "real_vector", "positive", "nonnegative", "greater_than(.5)", "greater_than_eq(.5)",
    "less_than(.5)", "multinomial(3)", "unit_interval", "interval(-.5, .5)",
    "half_open_interval(-1., 1.)", "simplex", "lower_triangular", "lower_cholesky",
    "corr_cholesky", "square", "symmetric", "positive_semidefinite", "positive_definite",
    "independent(D.constraints.positive, 1)", "_IntegerLessThan(2)",
    "cat([D.constraints.positive, D.constraints.real], -1, [2, 1])",
    "stack([D.constraints.positive, D.constraints.real, D.constraints.boolean], -1)",
    "MixtureSameFamilyConstraint(D.constraints.positive)", "dependent",
    "dependent(is_discrete=True, event_dim=1)",
]
CHECKED = [np.random.RandomState(3).randn(2, 3, 3), np.eye(3), np.tril(np.ones((2, 3, 3))),
           np.zeros((3, 3)), -np.eye(3), np.full((3, 3), math.nan), np.full((2, 3), 1 / 3),
           np.linalg.cholesky(np.eye(3) + 0.5) / math.sqrt(1.5), np.ones((3, 2)),
           np.full((2, 3), math.inf), np.arange(9.0).reshape(3, 3),
           np.arange(-4.0, 5).reshape(3, 3) / 2,
           np.stack([np.eye(3), np.arange(9.0).reshape(3, 3)])]


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraints(name: str) -> None:
    def ask(lib: Any, made: Any, leaves: list[Any]) -> dict[str, Any]:
        asked = {f"check {i}": lambda value=value: made.check(lib.tensor(value))
                 for i, value in enumerate(CHECKED)}
        unconstrained = np.random.RandomState(4).randn(2, 3, 3)
        for kind in ("biject_to", "transform_to"):
            registry = getattr(lib.distributions, kind)
            asked[kind] = lambda registry=registry: repr(registry(made))
            asked[kind + " x"] = lambda registry=registry: registry(made)(
                lib.tensor(unconstrained))
        return {**asked, "repr": lambda: repr(made), "is_discrete": lambda: made.is_discrete,
                "event_dim": lambda: made.event_dim,
                "is_dependent": lambda: lib.distributions.constraints.is_dependent(made)}

    beside(f"D.constraints.{name}", (), ask)


# ---------------------------------------------------------------- names


def test_all_public_names_are_here() -> None:
    theirs = torch.distributions
    for ours, wanted in ((rg.distributions, theirs), *(
            (getattr(rg.distributions, name), getattr(theirs, name)) for name in (
                "constraints", "transforms", "utils", "kl", "constraint_registry"))):
        assert set(wanted.__all__) <= set(dir(ours)), wanted.__name__
        assert sorted(ours.__all__) == sorted(wanted.__all__), wanted.__name__


def test_every_module_is_here_with_its_families() -> None:
    for name, module in vars(torch.distributions).items():
        if type(module) is type(torch) and not name.startswith("_"):
            ours = __import__(f"retrograd.distributions.{name}", fromlist=["x"])
            missing = set(getattr(module, "__all__", ())) - set(dir(ours))
            assert not missing, (name, missing)


def test_calls_take_the_same_arguments() -> None:
    import inspect

    for name in torch.distributions.__all__:
        wanted, found = getattr(torch.distributions, name), getattr(rg.distributions, name)
        if isinstance(wanted, type):
            theirs, ours = (inspect.signature(each.__init__).parameters for each in (wanted, found))
            assert [(p.name, p.default, p.kind) for p in ours.values()] == [
                (p.name, p.default, p.kind) for p in theirs.values()], name


# ---------------------------------------------------------------- deliberate differences


def test_gradients_through_gamma_draws_are_exact() -> None:
    special = pytest.importorskip("scipy.special")
    shapes = np.array([0.7, 2.0, 5.0])
    drawn, step = special.gammaincinv(shapes, 0.7), 1e-5
    exact = (special.gammaincinv(shapes + step, 0.7)
             - special.gammaincinv(shapes - step, 0.7)) / (2 * step)
    theirs, ours = (lib._standard_gamma_grad(lib.tensor(shapes), lib.tensor(drawn)).numpy()
                    for lib in (torch, rg))
    np.testing.assert_allclose(ours, exact, rtol=1e-7)
    np.testing.assert_allclose(theirs, exact, rtol=2e-3)
    assert abs(theirs / exact - 1).max() > 1e-6


def test_bessel_functions_are_exact() -> None:
    special = pytest.importorskip("scipy.special")
    kappa = 2.5
    exact = kappa - math.log(2 * math.pi * special.i0(kappa))
    theirs, ours = (lib.distributions.VonMises(*lib.tensor([0.0, kappa], dtype=lib.float64))
                    .log_prob(lib.tensor(0.0, dtype=lib.float64)).item() for lib in (torch, rg))
    assert ours == pytest.approx(exact, abs=1e-14) and abs(theirs - exact) > 1e-12


def test_regular_wishart_draws_give_no_warning_and_have_gradients() -> None:
    for lib in (torch, rg):
        df = lib.tensor(4.0, requires_grad=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            drawn = lib.distributions.Wishart(df, lib.eye(2)).rsample((5,))
        assert bool(caught) == (lib is torch)
        if lib is torch:
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                drawn.sum().backward()
        else:
            drawn.sum().backward()
            assert df.grad.isfinite()


def test_what_pytorch_forgets_works() -> None:
    def multinomial(lib: Any) -> Any:
        return lib.distributions.Multinomial(3, lib.tensor([0.5, 0.5])).expand((2,)).entropy()

    def pareto(lib: Any) -> Any:
        return lib.distributions.GeneralizedPareto(*lib.ones(3, dtype=lib.float64)).log_prob(
            lib.tensor(2.0, dtype=lib.float64))

    for compute, error in ((multinomial, AttributeError), (pareto, RuntimeError)):
        assert compute(rg).isfinite().all()
        with pytest.raises(error):
            compute(torch)
