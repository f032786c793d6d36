"""Draws of one among several outcomes, as an index, one-hot, counted, or relaxed."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, ClassVar

import retrograd as rg

from ..base import dtypes
from ..core.tensor import Size, Tensor
from ..nn.functional import one_hot
from . import constraints
from .counts import Binomial
from .distribution import Distribution, ProbsOrLogits
from .utils import broadcast_all, clamp_probs

__all__ = ["Categorical", "Multinomial", "OneHotCategorical", "OneHotCategoricalStraightThrough"]

_REGIONS = {"probs": constraints.simplex, "logits": constraints.real_vector}


class Categorical(ProbsOrLogits):
    """An index, with the probabilities along the last dimension of ``probs``."""

    arg_constraints: ClassVar[Any] = _REGIONS
    has_enumerate_support = True
    _binary = False

    def __init__(self, probs: Tensor | None = None, logits: Tensor | None = None,
                 validate_args: bool | None = None) -> None:
        name, given = self._given(probs, logits)
        if given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if name == "probs":
            self.probs = given / given.sum(-1, keepdim=True)
        else:
            self.logits = given - given.logsumexp(-1, keepdim=True)
        self._num_events = given.shape[-1]
        super().__init__(given.shape[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    mean = variance = property(lambda self: self._filled(rg.nan, self.probs))
    mode = property(lambda self: self.probs.argmax(-1))

    def sample(self, sample_shape: Any = ()) -> Tensor:
        count = Size(sample_shape).numel()
        rows = self.probs.reshape(-1, self._num_events)
        return rg.multinomial(rows, count, True).T.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        index, logits = value.long().unsqueeze(-1), self.logits
        if value.shape != logits.shape[:-1]:
            index, logits = rg.broadcast_tensors(index, logits)
        return logits.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        # The logarithm of what never happens, which may be infinite, counts nothing.
        finite = self.logits.clamp(min=dtypes.finfo(self.logits.dtype).min)
        return -(finite * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._enumerated(rg.arange(self._num_events), expand)


class _OverCategorical(Distribution):
    """A distribution of vectors that is given by a categorical one."""

    arg_constraints: ClassVar[Any] = _REGIONS
    _categorical: Categorical

    def _init_over(self, categorical: Categorical, validate_args: bool | None) -> None:
        self._categorical = categorical
        Distribution.__init__(self, categorical.batch_shape, categorical.param_shape[-1:],
                              validate_args=validate_args)

    probs = property(attrgetter("_categorical.probs"))
    logits = property(attrgetter("_categorical.logits"))
    param_shape = property(attrgetter("_categorical.param_shape"))
    _param = property(attrgetter("_categorical._param"))

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._categorical._new(*args, **kwargs)


class OneHotCategorical(_OverCategorical):
    """A one among zeros, in the place of the outcome."""

    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Tensor | None = None, logits: Tensor | None = None,
                 validate_args: bool | None = None) -> None:
        self._init_over(Categorical(probs, logits), validate_args)

    mean = property(lambda self: self.probs)
    mode = property(lambda self: self._one_hot(self._categorical.mode))
    variance = property(lambda self: self.probs * (1 - self.probs))

    def _one_hot(self, index: Tensor) -> Tensor:
        return one_hot(index, self._categorical._num_events).to(self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return self._one_hot(self._categorical.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._enumerated(rg.eye(self.event_shape[0], dtype=self._param.dtype), expand)


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """One-hot draws whose gradient is passed to the probabilities as it is."""

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        drawn, probs = self.sample(sample_shape), self.probs
        return drawn + (probs - probs.detach())


class Multinomial(_OverCategorical):
    """How often each outcome occurs in ``total_count`` draws."""

    total_count: int

    def __init__(self, total_count: int = 1, probs: Tensor | None = None,
                 logits: Tensor | None = None, validate_args: bool | None = None) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._init_over(Categorical(probs, logits), validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    mean = property(lambda self: self.probs * self.total_count)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape: Any = ()) -> Tensor:
        drawn = self._categorical.sample((self.total_count, *sample_shape)).movedim(0, -1)
        counts = rg.zeros(self._extended_shape(sample_shape), dtype=drawn.dtype)
        return counts.scatter_add_(-1, drawn, rg.ones_like(drawn)).type_as(self.probs)

    def entropy(self) -> Tensor:
        # The logarithms of the factorials of the counts, each of which is binomial.
        each = Binomial(self.total_count, self.probs)
        counts = each.enumerate_support(expand=False)[1:]
        factorials = (each.log_prob(counts).exp() * (counts + 1).lgamma()).sum([0, -1])
        total = rg.tensor(self.total_count)
        return total * self._categorical.entropy() - (total + 1).lgamma() + factorials

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -rg.inf), 0)
        return ((value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1)
                + (logits * value).sum(-1))


class ExpRelaxedCategorical(_OverCategorical):
    """The logarithms of a relaxed one-hot vector: a point inside of the simplex."""

    support = constraints.real_vector
    has_rsample = True

    def __init__(self, temperature: Tensor, probs: Tensor | None = None,
                 logits: Tensor | None = None, validate_args: bool | None = None) -> None:
        self.temperature = temperature
        self._init_over(Categorical(probs, logits), validate_args)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        uniform = clamp_probs(rg.rand(self._extended_shape(sample_shape), dtype=self.logits.dtype))
        scores = (self.logits - (-uniform.log()).log()) / self.temperature
        return scores - scores.logsumexp(-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        last = self._categorical._num_events - 1
        logits, value = broadcast_all(self.logits, value)
        score = logits - value * self.temperature
        score = (score - score.logsumexp(-1, keepdim=True)).sum(-1)
        log_scale = (rg.full_like(self.temperature, float(last + 1)).lgamma()
                     + self.temperature.log() * last)
        return score + log_scale
