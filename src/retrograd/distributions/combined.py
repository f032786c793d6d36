"""Distributions made of others: seen as one event, transformed, or mixed."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar

import retrograd as rg

from ..autograd.grad_mode import no_grad
from ..core.tensor import Size, Tensor
from . import constraints
from .categories import Categorical
from .distribution import Distribution
from .transforms import ComposeTransform, Transform
from .utils import _sum_rightmost

__all__ = ["Independent", "MixtureSameFamily", "TransformedDistribution"]

D = TypeVar("D", bound=Distribution)


class Independent(Distribution, Generic[D]):
    """A distribution whose last batch dimensions count as one event."""

    arg_constraints: ClassVar[Any] = {}
    base_dist: D

    def __init__(self, base_distribution: D, reinterpreted_batch_ndims: int,
                 validate_args: bool | None = None) -> None:
        batch_shape = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch_shape):
            raise ValueError("Expected reinterpreted_batch_ndims <= len(base_distribution.batch_"
                             f"shape), actual {reinterpreted_batch_ndims} vs {len(batch_shape)}")
        cut = len(batch_shape) - reinterpreted_batch_ndims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(batch_shape[:cut], batch_shape[cut:] + base_distribution.event_shape,
                         validate_args=validate_args)

    def _batch_of_part(self, name: str, batch_shape: Size) -> Any:
        return batch_shape + self.event_shape[:self.reinterpreted_batch_ndims]

    has_rsample = property(lambda self: self.base_dist.has_rsample)
    has_enumerate_support = property(lambda self: (
        self.reinterpreted_batch_ndims <= 0 and self.base_dist.has_enumerate_support))
    mean = property(lambda self: self.base_dist.mean)
    mode = property(lambda self: self.base_dist.mode)
    variance = property(lambda self: self.base_dist.variance)

    @constraints.dependent_property
    def support(self) -> Any:
        region = self.base_dist.support
        return constraints.independent(region, self.reinterpreted_batch_ndims) \
            if self.reinterpreted_batch_ndims else region

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """The distribution of a transformed variable."""

    arg_constraints: ClassVar[Any] = {}

    def __init__(self, base_distribution: Distribution, transforms: Transform | list[Transform],
                 validate_args: bool | None = None) -> None:
        if isinstance(transforms, Transform):
            self.transforms = [transforms]
        elif not isinstance(transforms, list):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        elif not all(isinstance(each, Transform) for each in transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        else:
            self.transforms = transforms
        whole = ComposeTransform(self.transforms)
        needed, given = whole.domain.event_dim, len(base_distribution.event_shape)
        base_shape = base_distribution.batch_shape + base_distribution.event_shape
        if len(base_shape) < needed:
            raise ValueError("base_distribution needs to have shape with size at least "
                             f"{needed}, but got {base_shape}.")
        shape = whole.forward_shape(base_shape)
        wanted = whole.inverse_shape(shape)
        if base_shape != wanted:
            base_distribution = base_distribution.expand(wanted[:len(wanted) - given])
        self.base_dist: Any = base_distribution if needed <= given else Independent(
            base_distribution, needed - given)
        made = whole.codomain.event_dim
        cut = len(shape) - max(made, given + made - needed)
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def _batch_of_part(self, name: str, batch_shape: Size) -> Any:
        shape: Any = ComposeTransform(self.transforms).inverse_shape(batch_shape + self.event_shape)
        return shape[:len(shape) - len(self.base_dist.event_shape)]

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        region = self.transforms[-1].codomain
        extra = len(self.event_shape) - region.event_dim
        return constraints.independent(region, extra) if extra > 0 else region

    has_rsample = property(lambda self: self.base_dist.has_rsample)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self._forward(self.base_dist.rsample(sample_shape))

    def _forward(self, value: Tensor) -> Tensor:
        for transform in self.transforms:
            value = transform(value)
        return value

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        event_dim = len(self.event_shape)
        result: Any = 0.0
        for transform in reversed(self.transforms):
            before = transform.inv(value)
            inner = transform.domain.event_dim
            event_dim += inner - transform.codomain.event_dim
            result = result - _sum_rightmost(
                transform.log_abs_det_jacobian(before, value), event_dim - inner)
            value = before
        return result + _sum_rightmost(self.base_dist.log_prob(value),
                                       event_dim - len(self.base_dist.event_shape))

    def _monotonize_cdf(self, value: Tensor) -> Tensor:
        """A probability counted from the other end where the transforms turn the line around."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._forward(self.base_dist.icdf(self._monotonize_cdf(value)))


class MixtureSameFamily(Distribution):
    """A mixture of the distributions along the last batch dimension of one."""

    arg_constraints: ClassVar[Any] = {}

    def __init__(self, mixture_distribution: Categorical, component_distribution: Distribution,
                 validate_args: bool | None = None) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of "
                             "torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of "
                             "torch.distributions.Distribution")
        self._component_distribution = component_distribution
        self._mixture_distribution = mixture_distribution
        weights = mixture_distribution.batch_shape
        *outer, count = component_distribution.batch_shape
        batch_shape = Size(outer)
        for size, other in zip(reversed(weights), reversed(batch_shape), strict=False):
            if size != 1 and other != 1 and size != other:
                raise ValueError(f"`mixture_distribution.batch_shape` ({weights}) is not compatible"
                                 f" with `component_distribution.batch_shape`({batch_shape})")
        self._num_component = mixture_distribution.logits.shape[-1]
        if self._num_component != count:
            raise ValueError(f"`mixture_distribution component` ({self._num_component}) does not "
                             f"equal `component_distribution.batch_shape[-1]` ({count})")
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(batch_shape, component_distribution.event_shape,
                         validate_args=validate_args)

    def _batch_of_part(self, name: str, batch_shape: Size) -> Any:
        is_mixed = name == "_component_distribution"
        return (*batch_shape, self._num_component) if is_mixed else batch_shape

    mixture_distribution = property(lambda self: self._mixture_distribution)
    component_distribution = property(lambda self: self._component_distribution)

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mean(self) -> Tensor:
        return self._average(self._component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        apart = self._component_distribution.mean - self._pad(self.mean)
        return self._average(self._component_distribution.variance) + self._average(apart.pow(2.0))

    def _average(self, values: Tensor) -> Tensor:
        """The mean over the components."""
        probs = self._mixture_distribution.probs
        weights = len(self._mixture_distribution.batch_shape)
        missing = 0 if weights == 1 else len(self.batch_shape) - weights
        probs = probs.reshape((*probs.shape[:-1], *[1] * missing, probs.shape[-1],
                               *[1] * self._event_ndims))
        return (probs * values).sum(-1 - self._event_ndims)

    def cdf(self, x: Tensor) -> Tensor:  # type: ignore[override]
        found = self._component_distribution.cdf(self._pad(x))
        return (found * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Tensor) -> Tensor:  # type: ignore[override]
        self._check(x)
        found = self._component_distribution.log_prob(self._pad(x))
        return rg.logsumexp(found + self._mixture_distribution.logits.log_softmax(-1), -1)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            chosen = self._mixture_distribution.sample(sample_shape)
            drawn = self._component_distribution.sample(sample_shape)
            dim = len(sample_shape) + len(self.batch_shape)
            places = chosen.reshape((*chosen.shape, *[1] * (self._event_ndims + 1))).expand(
                (*chosen.shape, 1, *self.event_shape))
            return drawn.gather(dim, places).squeeze(dim)

    def _pad(self, x: Tensor) -> Tensor:
        return x.unsqueeze(-1 - self._event_ndims)

    def __repr__(self) -> str:
        return (f"MixtureSameFamily(\n  {self._mixture_distribution},\n  "
                f"{self._component_distribution})")
