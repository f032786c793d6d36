"""Distributions: their draws, densities and moments agree with each other, and with mathematics."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys
import warnings
from typing import Any, ClassVar

import numpy as np
import pytest

import retrograd as torch
from retrograd import distributions as D
from retrograd.distributions import constraints, transforms


def t(*values: float) -> torch.Tensor:
    return torch.tensor(values[0] if len(values) == 1 else values, dtype=torch.float64)


CONTINUOUS = {  # of one real variable, with the ends of an interval that holds nearly all of it
    "Beta": (lambda: D.Beta(t(1.5), t(2.5)), 0, 1),
    "Cauchy": (lambda: D.Cauchy(t(0.5), t(0.2)), -2000, 2000),
    "Chi2": (lambda: D.Chi2(t(3.0)), 0, 60),
    "ContinuousBernoulli": (lambda: D.ContinuousBernoulli(t(0.3)), 0, 1),
    "Exponential": (lambda: D.Exponential(t(1.5)), 0, 30),
    "FisherSnedecor": (lambda: D.FisherSnedecor(t(6.0), t(12.0)), 1e-9, 200),
    "Gamma": (lambda: D.Gamma(t(2.5), t(1.5)), 0, 40),
    "GeneralizedPareto": (lambda: D.GeneralizedPareto(t(1.0), t(0.5), t(0.1)), 1, 200),
    "Gumbel": (lambda: D.Gumbel(t(0.5), t(1.2)), -10, 50),
    "HalfCauchy": (lambda: D.HalfCauchy(t(0.2)), 0, 4000),
    "HalfNormal": (lambda: D.HalfNormal(t(1.5)), 0, 20),
    "InverseGamma": (lambda: D.InverseGamma(t(5.0), t(2.0)), 1e-6, 60),
    "Kumaraswamy": (lambda: D.Kumaraswamy(t(1.5), t(2.5)), 1e-9, 1 - 1e-9),
    "Laplace": (lambda: D.Laplace(t(0.5), t(0.7)), -20, 20),
    "LogNormal": (lambda: D.LogNormal(t(0.2), t(0.5)), 1e-9, 60),
    "Normal": (lambda: D.Normal(t(0.5), t(1.5)), -15, 15),
    "Pareto": (lambda: D.Pareto(t(0.5), t(5.0)), 0.5, 200),
    "StudentT": (lambda: D.StudentT(t(5.0), t(0.5), t(1.5)), -900, 900),
    "Uniform": (lambda: D.Uniform(t(-1.0), t(2.0)), -1, 2),
    "VonMises": (lambda: D.VonMises(t(0.5), t(1.5)), -math.pi, math.pi),
    "Weibull": (lambda: D.Weibull(t(1.2), t(1.7)), 1e-9, 20),
    "Mixture": (lambda: D.MixtureSameFamily(D.Categorical(t(0.3, 0.7)),
                                            D.Normal(t(-1.0, 1.0), t(0.5, 1.0))), -15, 15),
}
DISCRETE = {
    "Bernoulli": (lambda: D.Bernoulli(t(0.3)), 1),
    "Binomial": (lambda: D.Binomial(9, t(0.3)), 9),
    "Categorical": (lambda: D.Categorical(t(0.2, 0.5, 0.3)), 2),
    "Geometric": (lambda: D.Geometric(t(0.3)), 120),
    "NegativeBinomial": (lambda: D.NegativeBinomial(t(3.0), t(0.4)), 120),
    "Poisson": (lambda: D.Poisson(t(3.5)), 60),
}
VECTORS = {
    "Dirichlet": lambda: D.Dirichlet(t(1.5, 2.5, 0.8)),
    "LogisticNormal": lambda: D.LogisticNormal(t(0.2, -0.3), t(0.5, 0.8)),
    "LowRankMultivariateNormal": lambda: D.LowRankMultivariateNormal(
        t(0.5, -1.0), t(1.0, 0.5).unsqueeze(-1), t(0.5, 1.5)),
    "Multinomial": lambda: D.Multinomial(5, t(0.2, 0.5, 0.3)),
    "MultivariateNormal": lambda: D.MultivariateNormal(
        t(0.5, -1.0), torch.tensor([[2.0, 0.6], [0.6, 1.0]], dtype=torch.float64)),
    "OneHotCategorical": lambda: D.OneHotCategorical(t(0.2, 0.5, 0.3)),
    "OneHotCategoricalStraightThrough": lambda: D.OneHotCategoricalStraightThrough(
        t(0.2, 0.5, 0.3)),
    "Independent": lambda: D.Independent(D.Normal(t(0.5, -1.0), t(0.5, 1.5)), 1),
    "Wishart": lambda: D.Wishart(t(5.0), torch.eye(2, dtype=torch.float64)),
    "LKJCholesky": lambda: D.LKJCholesky(3, t(1.5)),
    "RelaxedBernoulli": lambda: D.RelaxedBernoulli(t(0.7), t(0.3)),
    "RelaxedOneHotCategorical": lambda: D.RelaxedOneHotCategorical(t(0.7), t(0.2, 0.5, 0.3)),
    "TransformedDistribution": lambda: D.TransformedDistribution(
        D.Normal(t(0.5), t(1.0)), [D.TanhTransform(), D.AffineTransform(1.0, -2.0)]),
}
ALL = {**{name: made[0] for name, made in (CONTINUOUS | DISCRETE).items()}, **VECTORS}


def test_every_family_is_tried() -> None:
    families = {name for name in D.__all__ if isinstance(getattr(D, name), type)
                and issubclass(getattr(D, name), D.Distribution)}
    abstract = {"Distribution", "ExponentialFamily"}
    assert families - abstract == set(ALL) - {"Mixture"} | {"MixtureSameFamily"}


# ---------------------------------------------------------------- densities


def integral(density: Any, low: float, high: float) -> float:
    """The integral of a density with long tails or poles at its ends, by tanh-sinh quadrature."""
    middle = np.linspace(-3.2, 3.2, 4001)
    x = np.tanh(np.pi / 2 * np.sinh(middle))
    weights = np.pi / 2 * np.cosh(middle) / np.cosh(np.pi / 2 * np.sinh(middle)) ** 2
    center, half = (low + high) / 2, (high - low) / 2
    inside = np.abs(x) < 1
    values = np.nan_to_num(density(torch.tensor(center + half * x[inside])).numpy())
    return float((values * weights[inside]).sum() * half * (middle[1] - middle[0]))


@pytest.mark.parametrize("name", CONTINUOUS)
def test_densities_have_mass_one_and_the_stated_moments(name: str) -> None:
    make, low, high = CONTINUOUS[name]
    made = make()
    made._validate_args = False

    def total(weigh: Any) -> float:
        # From the middle outwards, where the mass is.
        split = float(made.sample((500,)).median())
        return sum(integral(lambda x: made.log_prob(x).exp() * weigh(x), a, b)
                   for a, b in ((low, split), (split, high)))

    torch.manual_seed(0)
    heavy = "Cauchy" in name
    assert total(torch.ones_like) == pytest.approx(1, abs=2e-3 if heavy else 1e-4)
    if heavy or name == "VonMises":
        return
    mean = float(made.mean)
    assert total(lambda x: x) == pytest.approx(mean, abs=1e-3)
    assert total(lambda x: (x - mean) ** 2) == pytest.approx(float(made.variance), rel=2e-2)
    if name not in ("Mixture", "FisherSnedecor"):  # without an entropy in closed form
        surprise = total(lambda x: -made.log_prob(x))
        assert surprise == pytest.approx(float(made.entropy()), abs=2e-3)


@pytest.mark.parametrize("name", DISCRETE)
def test_probabilities_add_up_to_one_with_the_stated_moments(name: str) -> None:
    make, last = DISCRETE[name]
    made = make()
    values = torch.arange(last + 1, dtype=torch.float64)
    chances = made.log_prob(values).exp()
    assert float(chances.sum()) == pytest.approx(1, abs=1e-8)
    if name != "Categorical":
        mean = float((chances * values).sum())
        assert mean == pytest.approx(float(made.mean), abs=1e-6)
        assert float((chances * (values - mean) ** 2).sum()) == pytest.approx(
            float(made.variance), abs=1e-5)
    if made.has_enumerate_support:
        assert torch.equal(made.enumerate_support().double(), values)


# ---------------------------------------------------------------- draws


@pytest.mark.parametrize("name", [*ALL])
def test_draws_have_the_stated_moments(name: str) -> None:
    made = ALL[name]()
    torch.manual_seed(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = made.sample((4000,)).double()
    assert tuple(drawn.shape) == (4000, *made.batch_shape, *made.event_shape)
    assert made.support.check(drawn).all()
    assert made.log_prob(drawn[:9]).isfinite().all()
    try:
        mean, variance = made.mean, made.variance
    except NotImplementedError:
        return
    if name not in ("Cauchy", "HalfCauchy", "Categorical", "VonMises"):
        error = 5 * (variance / 4000).sqrt() + 1e-9
        assert ((drawn.mean(0) - mean).abs() <= error).all(), (drawn.mean(0), mean)
        assert (drawn.var(0) <= 1.5 * variance + 1e-9).all()
        assert (drawn.var(0) >= 0.6 * variance - 1e-9).all()


@pytest.mark.parametrize("name", [n for n in CONTINUOUS if n not in (
    "Beta", "Chi2", "FisherSnedecor", "Gamma", "InverseGamma", "StudentT", "VonMises", "Mixture")])
def test_quantiles_undo_the_distribution_function(name: str) -> None:
    made = CONTINUOUS[name][0]()
    chances = torch.linspace(0.05, 0.95, 19, dtype=torch.float64)
    assert torch.allclose(made.cdf(made.icdf(chances)), chances, atol=1e-9)
    torch.manual_seed(2)
    below = (made.sample((4000, 1)) <= made.icdf(chances)).double().mean(0)
    assert (below - chances).abs().max() < 0.04


@pytest.mark.parametrize("name", ["Beta", "Gamma", "Chi2", "StudentT", "FisherSnedecor",
                                  "InverseGamma", "Dirichlet"])
def test_gradients_through_gamma_draws_follow_the_mean(name: str) -> None:
    """The mean of the draws' gradients is the gradient of the mean."""
    made = {"Beta": lambda a: D.Beta(a, t(2.5)), "Gamma": lambda a: D.Gamma(a, t(1.5)),
            "Chi2": D.Chi2, "StudentT": lambda a: D.StudentT(t(9.0), a),
            "FisherSnedecor": lambda a: D.FisherSnedecor(t(3.0), a),
            "InverseGamma": lambda a: D.InverseGamma(a, t(2.0)),
            "Dirichlet": lambda a: D.Dirichlet(torch.stack([a, t(4.0), t(9.0)]))}[name]
    a = t(12.0).requires_grad_()
    distribution = made(a)
    torch.manual_seed(3)
    drawn = distribution.rsample((4000,))
    weight = torch.arange(3, dtype=torch.float64) if name == "Dirichlet" else t(1.0)
    (found,) = torch.autograd.grad((drawn * weight).sum() / 4000, a, retain_graph=True)
    (wanted,) = torch.autograd.grad((distribution.mean * weight).sum(), a)
    assert found.item() == pytest.approx(wanted.item(), rel=0.1, abs=3e-3)


@pytest.mark.parametrize("shape", [0.01, 0.3, 1.0, 4.0, 60.0, 3000.0, 2e5])
@pytest.mark.parametrize("chance", [1e-3, 0.2, 0.7, 0.9999])
def test_slopes_of_gamma_draws_keep_the_quantile(shape: float, chance: float) -> None:
    special = pytest.importorskip("scipy.special")
    drawn, step = float(special.gammaincinv(shape, chance)), shape * 1e-5
    if drawn < 1e-300:
        return
    wanted = float(special.gammaincinv(shape + step, chance)
                   - special.gammaincinv(shape - step, chance)) / (2 * step)
    found = torch._standard_gamma_grad(t(shape), t(drawn))
    assert float(found) == pytest.approx(wanted, rel=1e-4)


@pytest.mark.parametrize("a", [0.05, 0.9, 5.0, 200.0])
@pytest.mark.parametrize("b", [0.05, 0.9, 5.0, 200.0])
def test_slopes_of_beta_draws_keep_the_quantile(a: float, b: float) -> None:
    special = pytest.importorskip("scipy.special")
    for chance in (0.01, 0.4, 0.99):
        drawn, step = float(special.betaincinv(a, b, chance)), a * 1e-5
        if not 1e-200 < drawn < 1 - 1e-9:
            continue
        wanted = float(special.betaincinv(a + step, b, chance)
                       - special.betaincinv(a - step, b, chance)) / (2 * step) / (1 - drawn)
        found = torch._dirichlet_grad(t(drawn), t(a), t(a + b))
        assert float(found) == pytest.approx(wanted, rel=1e-3), (drawn, chance)


SCALED = ("Cauchy", "Gumbel", "Laplace", "LogNormal", "Normal")
OF_NOISE = {
    **{name: (getattr(D, name), t(0.5), t(1.5)) for name in SCALED},
    "ContinuousBernoulli": (D.ContinuousBernoulli, t(0.3)),
    "Exponential": (D.Exponential, t(1.5)),
    "GeneralizedPareto": (D.GeneralizedPareto, t(1.0), t(0.5), t(0.1)),
    "HalfCauchy": (D.HalfCauchy, t(0.5)),
    "HalfNormal": (D.HalfNormal, t(0.5)),
    "Kumaraswamy": (D.Kumaraswamy, t(1.5), t(2.5)),
    "LogisticNormal": (D.LogisticNormal, t(0.2, -0.3), t(0.5, 0.8)),
    "LowRankMultivariateNormal": (D.LowRankMultivariateNormal, t(0.5, -1.0),
                                  t(1.0, 0.5).unsqueeze(-1), t(0.5, 1.5)),
    "MultivariateNormal": (lambda loc, root: D.MultivariateNormal(loc, scale_tril=root.tril()),
                           t(0.5, -1.0), t(1.0, 0.5, 0.3, 2.0).reshape(2, 2)),
    "Pareto": (D.Pareto, t(0.5), t(5.0)),
    "RelaxedBernoulli": (D.RelaxedBernoulli, t(0.7), t(0.3)),
    "RelaxedOneHotCategorical": (D.RelaxedOneHotCategorical, t(0.7), t(0.2, 0.5, 0.3)),
    "Uniform": (D.Uniform, t(-1.0), t(2.0)),
    "Weibull": (D.Weibull, t(1.2), t(1.7)),
}


@pytest.mark.parametrize("name", OF_NOISE)
def test_gradients_through_draws_are_those_of_the_function_of_noise(name: str) -> None:
    make, *parameters = OF_NOISE[name]

    def drawn(*values: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(4)
        return make(*values).rsample((3,))

    torch.autograd.gradcheck(drawn, [value.requires_grad_() for value in parameters],
                             check_batched_grad=False)


def test_straight_through_draws_pass_gradients_to_the_probabilities() -> None:
    probs = t(0.2, 0.3, 0.5).requires_grad_()
    made = D.OneHotCategoricalStraightThrough(probs)
    drawn = made.rsample((5,))
    assert torch.equal(drawn, drawn.round())
    drawn[:, 1].sum().backward()
    assert probs.grad is not None and float(probs.grad[1]) > 0


def test_draws_in_vmap_differ_or_agree_as_wanted() -> None:
    def draw(rate: torch.Tensor) -> torch.Tensor:
        return D.Gamma(rate, torch.ones(()), validate_args=False).rsample()

    rates = torch.full((4,), 2.0)
    different = torch.func.vmap(draw, randomness="different")(rates)
    assert len(set(different.tolist())) == 4
    with pytest.raises(RuntimeError, match="randomness error mode"):
        torch.func.vmap(draw)(rates)


# ---------------------------------------------------------------- objects


@pytest.mark.parametrize("name", ALL)
def test_copies_and_pickles_behave_alike(name: str) -> None:
    made = ALL[name]()
    value = made.sample()
    for copied in (copy.deepcopy(made), copy.copy(made), pickle.loads(pickle.dumps(made))):
        assert torch.equal(copied.log_prob(value), made.log_prob(value))
        assert repr(copied) == repr(made) and copied.batch_shape == made.batch_shape


@pytest.mark.parametrize("name", ALL)
def test_expanding_shares_memory_and_keeps_the_density(name: str) -> None:
    made = ALL[name]()
    value = made.sample()
    wide = made.expand((3, 2))
    assert wide.batch_shape == (3, 2) and wide.event_shape == made.event_shape
    assert torch.allclose(wide.log_prob(value), made.log_prob(value).expand(3, 2))
    assert wide.sample((4,)).shape == (4, 3, 2, *made.event_shape)


def test_subclasses_with_their_own_constructor_must_say_how_they_expand() -> None:
    class Centered(D.Normal):
        def __init__(self, scale: Any) -> None:
            super().__init__(0.0, scale)

    with pytest.raises(NotImplementedError, match="Subclass Centered of Normal that defines a cust"
                                                  "om __init__ method must also define a custom"):
        Centered(1.0).expand((2,))

    class Renamed(D.Normal):
        pass

    assert type(Renamed(0.0, 1.0).expand((2,))) is Renamed


def test_a_distribution_of_ones_own() -> None:
    class Fair(D.Distribution):
        arg_constraints: ClassVar[Any] = {}
        support = constraints.boolean

        def sample(self, sample_shape: Any = ()) -> torch.Tensor:
            return torch.bernoulli(torch.full(self._extended_shape(sample_shape), 0.5))

        def log_prob(self, value: torch.Tensor) -> torch.Tensor:
            self._validate_sample(value)
            return torch.full_like(value, math.log(0.5))

    made = Fair(torch.Size((2,)))
    assert made.sample((3,)).shape == (3, 2)
    assert made.log_prob(made.sample()).exp().tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="within the support"):
        made.log_prob(torch.tensor([2.0, 1.0]))
    with pytest.raises(NotImplementedError):
        made.expand((3, 2))
    assert torch.equal(D.Independent(made, 1).log_prob(torch.ones(2)),
                       torch.tensor(2 * math.log(0.5)))


def test_what_a_family_leaves_out_is_warned_of() -> None:
    class Bare(D.Distribution):
        pass

    with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
        made = Bare()
    with pytest.warns(UserWarning, match="does not define `support`"):
        made._validate_sample(torch.tensor(1.0))
    with pytest.warns(FutureWarning, match="sample_n"):
        D.Normal(0.0, 1.0).sample_n(2)


def test_validation_can_be_turned_off_and_on() -> None:
    with pytest.raises(ValueError, match=r"Expected parameter scale \(Tensor of shape \(\)\) of "
                                         r"distribution Normal\(loc: 0.0, scale: -1.0\) to satisfy "
                                         r"the constraint GreaterThan\(lower_bound=0.0\)"):
        D.Normal(0.0, -1.0)
    D.Normal(0.0, -1.0, validate_args=False)
    D.Distribution.set_default_validate_args(False)
    try:
        D.Normal(0.0, -1.0)
        assert D.Uniform(0.0, 1.0).log_prob(torch.tensor(2.0)) == -math.inf
    finally:
        D.Distribution.set_default_validate_args(True)


def test_half_precision_and_empty_batches() -> None:
    for dtype in (torch.bfloat16, torch.float16):
        made = D.Normal(torch.zeros(3, dtype=dtype), torch.ones(3, dtype=dtype))
        assert made.rsample((2,)).dtype is dtype and made.log_prob(made.sample()).dtype is dtype
        assert D.Categorical(logits=torch.zeros(3, dtype=dtype)).log_prob(
            torch.tensor(1)).dtype is dtype
    empty = D.Gamma(torch.ones(0), torch.ones(0))
    assert empty.sample((2,)).shape == (2, 0) and empty.entropy().shape == (0,)


def test_no_warning_where_floating_point_errors_raise() -> None:
    with np.errstate(all="raise"):
        for name in ("Gamma", "Beta", "Poisson", "Binomial", "Normal", "VonMises"):
            made = ALL[name]()
            made.log_prob(made.sample((3,)))


def test_threads_that_load_it_at_once() -> None:
    program = ("import threading, retrograd as torch\n"
               "found = []\n"
               "def use(): found.append(torch.distributions.Normal(0., 1.).sample())\n"
               "threads = [threading.Thread(target=use) for _ in range(6)]\n"
               "[x.start() for x in threads]; [x.join() for x in threads]\n"
               "assert len(found) == 6\n")
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


# ---------------------------------------------------------------- transforms and divergences


TRANSFORMS = [
    (transforms.ExpTransform(), ()), (transforms.SigmoidTransform(), ()),
    (transforms.TanhTransform(), ()), (transforms.SoftplusTransform(), ()),
    (transforms.PowerTransform(t(1.7)), ()), (transforms.AffineTransform(t(1.0), t(-2.0)), ()),
    (transforms.StickBreakingTransform(), (3,)), (transforms.CorrCholeskyTransform(), (3,)),
    (transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(1., 3.)]),
     ()),
    (transforms.CumulativeDistributionTransform(D.Normal(t(0.5), t(2.0))), ()),
    (transforms.ReshapeTransform((4,), (2, 2)), (4,)),
    (transforms.CatTransform([transforms.ExpTransform(), transforms.TanhTransform()], -1, [1, 2]),
     (3,)),
    (transforms.StackTransform([transforms.ExpTransform(), transforms.TanhTransform()], -1), (2,)),
]


@pytest.mark.parametrize(("transform", "event"), TRANSFORMS, ids=repr)
def test_transforms_invert_and_know_their_jacobian(transform: Any, event: tuple[int, ...]) -> None:
    x = torch.linspace(0.1, 0.9, 4 * math.prod(event), dtype=torch.float64).reshape(4, *event)
    y = transform(x)
    assert torch.allclose(transform.inv(y), x, atol=1e-9)
    assert transform.inv.inv is transform
    assert transform.codomain.check(y).all()
    found = transform.log_abs_det_jacobian(x, y)
    assert torch.allclose(transform.inv.log_abs_det_jacobian(y, x), -found)
    for row in range(4):
        jacobian = torch.autograd.functional.jacobian(transform, x[row])
        size = x[row].numel()
        flat = jacobian.reshape(-1, size) if event else jacobian.reshape(1, 1)
        if type(transform) is transforms.StickBreakingTransform:
            flat = flat[:-1]
        elif type(transform) is transforms.CorrCholeskyTransform:
            flat = jacobian[torch.ones(3, 3).tril(-1).bool()]
        wanted = torch.linalg.slogdet(flat).logabsdet
        assert float(found[row].sum()) == pytest.approx(float(wanted), abs=1e-8)


def test_a_cache_gives_back_what_was_put_in() -> None:
    transform = transforms.TanhTransform(cache_size=1)
    x = torch.tensor(30.0)
    assert transform.inv(transform(x)) is x
    assert math.isinf(transforms.TanhTransform().inv(torch.tanh(x)))


def test_unconstrained_numbers_reach_every_region() -> None:
    x = torch.randn(5, 3, 3, dtype=torch.float64)
    for region in (constraints.real, constraints.positive, constraints.unit_interval,
                   constraints.interval(-2.0, 3.0), constraints.less_than(1.0),
                   constraints.simplex, constraints.corr_cholesky):
        y = D.biject_to(region)(x)
        assert region.check(y).all() and torch.allclose(D.biject_to(region).inv(y), x, atol=1e-5)
    for region in (constraints.lower_cholesky, constraints.positive_definite):
        assert region.check(D.transform_to(region)(x)).all()


@pytest.mark.parametrize(("p", "q"), [
    (p, q) for p, q in sorted(D.kl._KL_REGISTRY, key=str)
    if p.__name__ in CONTINUOUS and q.__name__ in CONTINUOUS],
    ids=lambda kind: kind.__name__)
def test_divergences_are_what_draws_say(p: type, q: type) -> None:
    first = CONTINUOUS[p.__name__][0]()
    second = {"Beta": D.Beta(t(2.0), t(1.5)), "Normal": D.Normal(t(0.2), t(2.0)),
              "Uniform": D.Uniform(t(-3.0), t(4.0)), "Gamma": D.Gamma(t(1.5), t(1.0)),
              "Pareto": D.Pareto(t(0.3), t(2.0)), "Gumbel": D.Gumbel(t(0.2), t(2.0))}.get(
                  q.__name__) or CONTINUOUS[q.__name__][0]()
    found = float(D.kl_divergence(first, second))
    if math.isinf(found):
        return
    torch.manual_seed(6)
    drawn = first.sample((20000,))
    second._validate_args = False
    excess = first.log_prob(drawn) - second.log_prob(drawn)
    assert found == pytest.approx(float(excess.mean()), abs=6 * float(excess.std()) / 140 + 1e-6)


def test_divergences_of_families_that_another_library_has() -> None:
    class Theirs:
        """A base class that is none of ours."""

    try:
        D.register_kl(Theirs, D.Normal)(lambda p, q: "theirs")
        assert D.kl_divergence(Theirs(), D.Normal(0.0, 1.0)) == "theirs"
    finally:
        D.kl._KL_REGISTRY.pop((Theirs, D.Normal), None)
        D.kl._KL_MEMOIZE.clear()
    with pytest.raises(TypeError, match="Expected type_q to be a Distribution subclass but got 3"):
        D.register_kl(D.Normal, 3)


def test_divergences_are_looked_up_by_the_nearest_ancestor() -> None:
    class Mine(D.Normal):
        pass

    one, other = Mine(0.0, 1.0), D.Normal(1.0, 2.0)
    assert torch.equal(D.kl_divergence(one, other), D.kl_divergence(D.Normal(0.0, 1.0), other))
    D.register_kl(Mine, D.Normal)(lambda p, q: "mine")
    try:
        assert D.kl_divergence(one, other) == "mine"
        D.register_kl(D.Normal, Mine)(lambda p, q: "other")
        with pytest.warns(RuntimeWarning, match=r"Ambiguous kl_divergence\(Mine, Mine\)"):
            D.kl_divergence(one, one)
    finally:
        for pair in ((Mine, D.Normal), (D.Normal, Mine)):
            D.kl._KL_REGISTRY.pop(pair, None)
        D.kl._KL_MEMOIZE.clear()
    with pytest.raises(NotImplementedError, match="No KL"):
        D.kl_divergence(D.Cauchy(0.0, 1.0), other)


def test_a_policy_learns_by_the_score_function() -> None:
    logits = torch.zeros(3, requires_grad=True)
    torch.manual_seed(0)
    for _ in range(60):
        policy = D.Categorical(logits=logits)
        action = policy.sample((16,))
        loss = -(policy.log_prob(action) * (action == 2)).mean()
        (slope,) = torch.autograd.grad(loss, logits)
        with torch.no_grad():
            logits -= slope
    assert D.Categorical(logits=logits).probs[2].item() > 0.8
