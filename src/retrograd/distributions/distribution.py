"""The base of all families: shapes, validation, and what can be said without knowing the family."""

from __future__ import annotations

from typing import Any, ClassVar

import retrograd as rg

from ..autograd.grad_mode import no_grad
from ..base import dtypes
from ..base.warning import warn
from ..core.tensor import Size, Tensor
from . import constraints
from .utils import _sum_rightmost, lazy_property, logits_to_probs, probs_to_logits

__all__ = ["Distribution", "ExponentialFamily"]

_PACKAGE = __name__.rpartition(".")[0]
_NO_SHAPE = Size()


def _absent(name: str) -> Any:
    """A property that a family may have and this one has not."""

    def refuse(self: Any) -> Any:
        raise NotImplementedError(*[f"{type(self)} does not implement mode"] * (name == "mode"))

    return property(refuse, doc=f"The {name} of the distribution.")


class Distribution:
    """A distribution whose parameters are batched by ``batch_shape``, of events of ``event_shape``.

    Parameters are checked when it is made, and values when their probability is asked for, unless
    ``validate_args`` is False.
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args = __debug__
    _family: ClassVar[Any] = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__module__.startswith(_PACKAGE):
            cls._family = cls

    def __init__(self, batch_shape: Size = _NO_SHAPE, event_shape: Size = _NO_SHAPE,
                 validate_args: bool | None = None) -> None:
        self._batch_shape, self._event_shape = batch_shape, event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()
        super().__init__()

    def _validate_parameters(self) -> None:
        try:
            regions = self.arg_constraints
        except NotImplementedError:
            warn(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = "
                "{}` or initialize the distribution with `validate_args=False` to turn off "
                "validation.")
            return
        for name, region in regions.items():
            if constraints.is_dependent(region) or (name not in vars(self) and isinstance(
                    getattr(type(self), name), lazy_property)):
                continue
            value = getattr(self, name)
            if not region.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to satisfy the constraint "
                    f"{region!r}, but found invalid values:\n{value}")

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Choose whether distributions validate what they are given unless they are told."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    # ------------------------------------------------------------ shapes

    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters of single events."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of a single event."""
        return self._event_shape

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        return Size(sample_shape) + self._batch_shape + self._event_shape

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for a larger batch, on the memory of the same parameters."""
        if self._family is None:
            raise NotImplementedError
        batch_shape = Size(batch_shape)
        return self._fill(self._get_checked_instance(self._family, _instance), batch_shape,
                          self._expanded(batch_shape))

    def _expanded(self, batch_shape: Size) -> dict[str, Any]:
        """The attributes for a larger batch; what was computed lazily is left out."""
        regions: dict[str, Any] = {}
        for cls in reversed(type(self).__mro__):
            own = vars(cls).get("arg_constraints")
            regions.update(own if isinstance(own, dict) else {})
        regions.update(self.arg_constraints)
        found = {}
        for name, value in vars(self).items():
            if name in regions:
                own = value.dim() - regions[name].event_dim
                value = value.expand(batch_shape + value.shape[own:])
            elif isinstance(value, Distribution):
                value = value.expand(self._batch_of_part(name, batch_shape))
            elif isinstance(getattr(type(self), name, None), lazy_property):
                continue
            found[name] = value
        return found

    def _batch_of_part(self, name: str, batch_shape: Size) -> Any:
        """The batch of a distribution that this one is made of, if its own is ``batch_shape``."""
        return batch_shape

    def _fill(self, made: Any, batch_shape: Size, attributes: dict[str, Any]) -> Any:
        vars(made).update(attributes)
        Distribution.__init__(made, batch_shape, self._event_shape, validate_args=False)
        made._validate_args = self._validate_args
        return made

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ != cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ "
                "method must also define a custom .expand() method.")
        return self.__new__(type(self)) if _instance is None else _instance

    # ------------------------------------------------------------ what families define

    arg_constraints: ClassVar[Any] = _absent("regions of the parameters")
    support: Any = _absent("region of values")
    mean: Any = _absent("mean")
    mode: Any = _absent("mode")
    variance: Any = _absent("variance")
    stddev: Any = property(lambda self: self.variance.sqrt(), doc="The standard deviation.")

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw ``sample_shape`` values for each parameter of the batch."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw values through which gradients pass to the parameters."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """Draw ``n`` values: deprecated, ``sample((n,))`` does that."""
        warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.",
             FutureWarning)
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density, or of the probability, at ``value``."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of values up to ``value``."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """The values up to which the probabilities are ``value``."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values of a discrete distribution, along the first dimension."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The entropy for each parameter of the batch."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """The exponential of the entropy."""
        return self.entropy().exp()

    # ------------------------------------------------------------ for families

    def _check(self, value: Tensor) -> None:
        if self._validate_args:
            self._validate_sample(value)

    def _validate_sample(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        events = self._event_shape
        if value.shape[value.dim() - len(events):] != events:
            raise ValueError("The right-most size of value must match event_shape: "
                             f"{value.size()} vs {events}.")
        expected = self._batch_shape + events
        for size, wanted in zip(reversed(value.shape), reversed(expected), strict=False):
            if size != 1 and wanted != 1 and size != wanted:
                raise ValueError("Value is not broadcastable with batch_shape+event_shape: "
                                 f"{value.size()} vs {expected}.")
        try:
            support = self.support
        except NotImplementedError:
            warn(f"{type(self)} does not define `support` to enable sample validation. "
                 "Please initialize the distribution with `validate_args=False` to turn "
                 "off validation.")
            return
        if support is None:
            raise AssertionError("support is unexpectedly None")
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) of the distribution {self!r}, but found "
                f"invalid values:\n{value}")

    def _enumerated(self, values: Tensor, expand: bool) -> Tensor:
        """Values along the first dimension, beside the dimensions of the batch."""
        events = values.shape[1:]
        values = values.view((-1, *(1,) * len(self._batch_shape), *events))
        return values.expand((-1, *self._batch_shape, *events)) if expand else values

    def _filled(self, number: float, like: Tensor) -> Tensor:
        return rg.full(self._extended_shape(), number, dtype=like.dtype)

    def __repr__(self) -> str:
        shown = (f"{name}: {value if value.numel() == 1 else value.size()}" for name, value in (
            (name, vars(self)[name]) for name in self.arg_constraints if name in vars(self)))
        return f"{type(self).__name__}({', '.join(shown)})"


class ExponentialFamily(Distribution):
    """A family whose log-density is linear in functions of the value, but for a normaliser.

    The coefficients are the natural parameters. Entropies and divergences follow from the
    normaliser and its gradient.
    """

    _natural_params: Any = _absent("natural parameters")
    _mean_carrier_measure: Any = _absent("mean of the carrier measure")

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        raise NotImplementedError

    def entropy(self) -> Tensor:
        natural, log_normalizer, slopes = self._differentiated()
        result = log_normalizer - self._mean_carrier_measure
        for parameter, slope in zip(natural, slopes, strict=True):
            result = result - (parameter * slope).reshape((*self._batch_shape, -1)).sum(-1)
        return result

    def _differentiated(self) -> tuple[list[Tensor], Tensor, Any]:
        """The natural parameters, cut loose; the normaliser there, and its gradient."""
        natural = [parameter.detach().requires_grad_() for parameter in self._natural_params]
        log_normalizer = self._log_normalizer(*natural)
        return natural, log_normalizer, rg.autograd.grad(log_normalizer.sum(), natural,
                                                         create_graph=True)

    def _bregman_divergence(self, other: ExponentialFamily) -> Tensor:
        """The divergence from another member of the same family."""
        natural, log_normalizer, slopes = self._differentiated()
        theirs = other._natural_params
        result = other._log_normalizer(*theirs) - log_normalizer
        for parameter, target, slope in zip(natural, theirs, slopes, strict=True):
            result = result - _sum_rightmost((target - parameter) * slope, len(other.event_shape))
        return result


class ProbsOrLogits(Distribution):
    """A family given by probabilities or by their logits; the other follows when asked for."""

    _binary = True

    @lazy_property
    def logits(self) -> Tensor:
        return probs_to_logits(self.probs, self._binary)

    @lazy_property
    def probs(self) -> Tensor:
        return logits_to_probs(self.logits, self._binary)

    @staticmethod
    def _given(probs: Any, logits: Any) -> tuple[str, Any]:
        """Which of the two was given, and its value."""
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        return ("logits", logits) if probs is None else ("probs", probs)

    @property
    def _param(self) -> Tensor:
        own = vars(self)
        return own["probs"] if "probs" in own else own["logits"]

    @property
    def param_shape(self) -> Size:
        """The shape of the probabilities."""
        return self._param.size()

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)


def tiny(tensor: Tensor) -> float:
    """The least positive number of a tensor's dtype."""
    return dtypes.finfo(tensor.dtype).tiny
