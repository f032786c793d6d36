"""Invertible functions of random variables, and how much they stretch or squeeze what is around."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import retrograd as rg

from ..base import dtypes
from ..core.tensor import Size, Tensor
from ..nn import functional as F
from ..nn.functional import pad, softplus
from . import constraints
from .distribution import Distribution
from .utils import (
    NUMBERS,
    _sum_rightmost,
    broadcast_all,
    lazy_property,
    tril_matrix_to_vec,
    vec_to_tril_matrix,
)

__all__ = ["AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform",
           "CorrCholeskyTransform", "CumulativeDistributionTransform", "ExpTransform",
           "IndependentTransform", "LowerCholeskyTransform", "PositiveDefiniteTransform",
           "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftplusTransform",
           "TanhTransform", "SoftmaxTransform", "StackTransform", "StickBreakingTransform",
           "Transform", "identity_transform"]

_TOO_FEW = "Too few dimensions on input"


class Transform:
    """A function from ``domain`` to ``codomain``; with a cache it remembers its last pair.

    A cache of one pair makes the inverse of what was just computed exact and free.
    """

    bijective: Any = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._inv: Transform | None = None
        self._cached_x_y: Any = None, None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_inv": None}

    @property
    def event_dim(self) -> int:
        """The number of dimensions that are transformed together."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim  # type: ignore[no-any-return]
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Transform:
        """The inverse; its inverse is this transform."""
        if self._inv is None:
            self._inv = _InverseTransform(self)
        return self._inv

    @property
    def sign(self) -> Any:
        """Whether it increases (1) or decreases (-1)."""
        raise NotImplementedError

    _arguments: tuple[str, ...] = ()  # the attributes that are arguments of the same names

    def _options(self) -> dict[str, Any] | None:
        """The arguments that make another one like this."""
        if not self._arguments and type(self).__init__ is not Transform.__init__:
            return None
        return {name: getattr(self, name) for name in self._arguments}

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same transform with another size of cache."""
        if self._cache_size == cache_size:
            return self
        options = self._options()
        if options is None:
            raise NotImplementedError(f"{type(self)}.with_cache is not implemented")
        return type(self)(**options, cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __call__(self, x: Tensor) -> Tensor:
        """``y`` for ``x``."""
        return self._remembered(x, 0, self._call)

    def _inv_call(self, y: Tensor) -> Tensor:
        return self._remembered(y, 1, self._inverse)

    def _remembered(self, given: Tensor, side: int, compute: Callable[[Tensor], Tensor]) -> Tensor:
        if self._cache_size == 0:
            return compute(given)
        if self._cached_x_y[side] is not given:
            found = compute(given)
            self._cached_x_y = (given, found) if side == 0 else (found, given)
        return self._cached_x_y[1 - side]  # type: ignore[no-any-return]

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """The logarithm of how much volume the transform makes of a little around ``x``."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return type(self).__name__ + "()"

    def forward_shape(self, shape: Any) -> Any:
        """The shape of the result for an argument of ``shape``."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of the argument for a result of ``shape``."""
        return shape


class _InverseTransform(Transform):
    """The inverse of a transform, which keeps the cache."""

    _inv: Transform

    def __init__(self, transform: Transform) -> None:
        super().__init__(transform._cache_size)
        self._inv = transform

    domain = constraints.dependent_property(lambda self: self._inv.codomain, is_discrete=False)
    codomain = constraints.dependent_property(lambda self: self._inv.domain, is_discrete=False)
    bijective = property(lambda self: self._inv.bijective)
    sign = property(lambda self: self._inv.sign)
    inv = property(lambda self: self._inv)

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"

    def __call__(self, x: Tensor) -> Tensor:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._inv.forward_shape(shape)


# ---------------------------------------------------------------- transforms made of others


def _widest(parts: Sequence[Transform], near: str, far: str) -> Any:
    """The region at the ``near`` end of a chain, with the dimensions that later parts need."""
    if not parts:
        return constraints.real
    region = getattr(parts[0], near)
    needed = getattr(parts[-1], far).event_dim
    for part in reversed(parts):
        here = getattr(part, near).event_dim
        needed = max(needed + here - getattr(part, far).event_dim, here)
    extra = needed - region.event_dim
    return constraints.independent(region, extra) if extra else region


class ComposeTransform(Transform):
    """Transforms one after the other."""

    _arguments = ("parts",)

    def __init__(self, parts: list[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    domain = constraints.dependent_property(
        lambda self: _widest(self.parts, "domain", "codomain"), is_discrete=False)
    codomain = constraints.dependent_property(
        lambda self: _widest(self.parts[::-1], "codomain", "domain"), is_discrete=False)

    @lazy_property
    def bijective(self) -> bool:
        return all(part.bijective for part in self.parts)

    @lazy_property
    def sign(self) -> Any:
        return functools.reduce(operator.mul, (part.sign for part in self.parts), 1)

    @property
    def inv(self) -> Transform:
        if self._inv is None:
            self._inv = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv._inv = self
        return self._inv

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return rg.zeros_like(x)
        between = [x]
        for part in self.parts[:-1]:
            between.append(part(between[-1]))
        event_dim, total = self.domain.event_dim, None
        for part, before, after in zip(self.parts, between, [*between[1:], y], strict=True):
            term = _sum_rightmost(part.log_abs_det_jacobian(before, after),
                                  event_dim - part.domain.event_dim)
            total = term if total is None else total + term
            event_dim += part.codomain.event_dim - part.domain.event_dim
        return total  # type: ignore[return-value]

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose last batch dimensions count as one event."""

    _arguments = ("base_transform", "reinterpreted_batch_ndims")

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int,
                 cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    domain = constraints.dependent_property(lambda self: constraints.independent(
        self.base_transform.domain, self.reinterpreted_batch_ndims), is_discrete=False)
    codomain = constraints.dependent_property(lambda self: constraints.independent(
        self.base_transform.codomain, self.reinterpreted_batch_ndims), is_discrete=False)
    bijective = property(lambda self: self.base_transform.bijective)
    sign = property(lambda self: self.base_transform.sign)

    def _call(self, x: Tensor) -> Tensor:
        if x.dim() < self.domain.event_dim:
            raise ValueError(_TOO_FEW)
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        if y.dim() < self.codomain.event_dim:
            raise ValueError(_TOO_FEW)
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return _sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y),
                              self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return (f"{type(self).__name__}({self.base_transform!r}, "
                f"{self.reinterpreted_batch_ndims})")

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)


class _Several(Transform):
    """Transforms of the parts of a tensor along ``dim``."""

    def __init__(self, tseq: Sequence[Transform], dim: int, cache_size: int) -> None:
        if not all(isinstance(each, Transform) for each in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size)
        self.transforms = [each.with_cache(cache_size) for each in tseq] if cache_size \
            else list(tseq)
        self.dim = dim

    _wanted: tuple[str, Any]  # how many parts there are, and in which words

    def _require(self, **named: Tensor) -> None:
        for name, value in named.items():
            kind = "tensor" if len(named) == 1 else name
            if not -value.dim() <= self.dim < value.dim():
                raise AssertionError(
                    f"dim {self.dim} out of range for {kind} with {value.dim()} dimensions")
            words, count = self._wanted
            if value.size(self.dim) != count:
                raise AssertionError(f"{name}.size({self.dim}) = {value.size(self.dim)} must "
                                     f"equal {words} {count}")

    def _parts(self, value: Tensor) -> Any:
        raise NotImplementedError

    def _joined(self, parts: list[Tensor]) -> Tensor:
        raise NotImplementedError

    def _call(self, x: Tensor) -> Tensor:
        self._require(x=x)
        return self._joined([each(part) for each, part in zip(
            self.transforms, self._parts(x), strict=True)])

    def _inverse(self, y: Tensor) -> Tensor:
        self._require(y=y)
        return self._joined([each.inv(part) for each, part in zip(
            self.transforms, self._parts(y), strict=True)])

    def _jacobians(self, x: Tensor, y: Tensor) -> list[Tensor]:
        self._require(x=x, y=y)
        return [each.log_abs_det_jacobian(before, after) for each, before, after in zip(
            self.transforms, self._parts(x), self._parts(y), strict=True)]

    bijective = property(lambda self: all(each.bijective for each in self.transforms))


class CatTransform(_Several):
    """Transforms of slices along ``dim``, as :func:`cat` joins them."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0,
                 lengths: Sequence[int] | None = None, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match transforms "
                                 f"({len(self.transforms)})")

    def _options(self) -> dict[str, Any]:
        return {"tseq": self.transforms, "dim": self.dim, "lengths": self.lengths}

    @lazy_property
    def event_dim(self) -> int:
        return max(each.event_dim for each in self.transforms)

    @lazy_property
    def length(self) -> int:
        return sum(self.lengths)

    _wanted = property(lambda self: ("length", self.length))  # type: ignore[assignment]
    domain = constraints.dependent_property(lambda self: constraints.cat(
        [each.domain for each in self.transforms], self.dim, self.lengths))
    codomain = constraints.dependent_property(lambda self: constraints.cat(
        [each.codomain for each in self.transforms], self.dim, self.lengths))

    def _parts(self, value: Tensor) -> Any:
        return value.split(self.lengths, self.dim)

    def _joined(self, parts: list[Tensor]) -> Tensor:
        return rg.cat(parts, self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        found = [_sum_rightmost(term, self.event_dim - each.event_dim)
                 for each, term in zip(self.transforms, self._jacobians(x, y), strict=True)]
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        return rg.cat(found, dim) if dim < 0 else functools.reduce(operator.add, found)


class StackTransform(_Several):
    """Transforms of elements along ``dim``, as :func:`stack` puts them together."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    def _options(self) -> dict[str, Any]:
        return {"tseq": self.transforms, "dim": self.dim}

    _wanted = property(lambda self: (  # type: ignore[assignment]
        "len(transforms)", len(self.transforms)))
    domain = constraints.dependent_property(
        lambda self: constraints.stack([each.domain for each in self.transforms], self.dim))
    codomain = constraints.dependent_property(
        lambda self: constraints.stack([each.codomain for each in self.transforms], self.dim))

    def _parts(self, value: Tensor) -> Any:
        return value.unbind(self.dim)

    def _joined(self, parts: list[Tensor]) -> Tensor:
        return rg.stack(parts, self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self._joined(self._jacobians(x, y))


# ---------------------------------------------------------------- elementwise


class _Simple(Transform):
    """A transform without parameters: all of one class are equal."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)._defining())

    @classmethod
    def _defining(cls) -> type:
        """The class of this module that ``cls`` is, or derives from."""
        return next(each for each in cls.__mro__ if each.__module__ == __name__)


class _Increasing(_Simple):
    """A strictly increasing function of the real line."""

    domain = constraints.real
    bijective = True
    sign = 1  # type: ignore[assignment]


class ExpTransform(_Increasing):
    """``y = exp(x)``"""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


def _inside(y: Tensor) -> Tensor:
    """Numbers kept strictly between 0 and 1."""
    info = dtypes.finfo(y.dtype)
    return y.clamp(min=info.tiny, max=1.0 - info.eps)


def _clipped_sigmoid(x: Tensor) -> Tensor:
    return _inside(rg.sigmoid(x))


class SigmoidTransform(_Increasing):
    """``y = 1 / (1 + exp(-x))``"""

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        return _clipped_sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        y = _inside(y)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(_Increasing):
    """``y = log(1 + exp(x))``"""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


class TanhTransform(_Increasing):
    """``y = tanh(x)``"""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        # log(1 - tanh(x)²), which does not lose its digits where tanh is nearly 1
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AbsTransform(_Simple):
    """``y = |x|``"""

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class _Broadcasting(Transform):
    """An elementwise transform with parameters that its argument is broadcast with."""

    bijective = True

    def forward_shape(self, shape: Any) -> Any:
        return rg.broadcast_shapes(shape, *(getattr(getattr(self, name), "shape", ())
                                            for name in self._arguments))

    inverse_shape = forward_shape

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and all(
            _equal(getattr(self, name), getattr(other, name)) for name in self._arguments)


def _equal(one: Any, other: Any) -> bool:
    same = one == other
    return same if isinstance(same, bool) else bool(same.all())


class PowerTransform(_Broadcasting):
    """``y = x ** exponent``"""

    domain = codomain = constraints.positive
    _arguments = ("exponent",)

    def __init__(self, exponent: Tensor, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @lazy_property
    def sign(self) -> Any:
        return self.exponent.sign()

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()


class AffineTransform(_Broadcasting):
    """``y = loc + scale * x``"""

    _arguments = ("loc", "scale")

    def __init__(self, loc: Tensor | float, scale: Tensor | float, event_dim: int = 0,
                 cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    def _options(self) -> dict[str, Any]:
        return {"loc": self.loc, "scale": self.scale, "event_dim": self.event_dim}

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        dims = self.event_dim
        return constraints.independent(constraints.real, dims) if dims else constraints.real

    codomain = domain

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, NUMBERS):
            return (self.scale > 0) - (self.scale < 0)
        return self.scale.sign()

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        result = rg.full_like(x, math.log(abs(self.scale))) if isinstance(self.scale, NUMBERS) \
            else self.scale.abs().log()
        return _sum_rightmost(result, self.event_dim).expand(
            x.shape[:x.dim() - self.event_dim])


class CumulativeDistributionTransform(Transform):
    """``y = cdf(x)`` of a distribution."""

    _arguments = ("distribution",)
    bijective = True
    codomain = constraints.unit_interval
    sign = 1  # type: ignore[assignment]

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    domain = property(lambda self: self.distribution.support)

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)


# ---------------------------------------------------------------- vectors and matrices


class ReshapeTransform(Transform):
    """Events of another shape."""

    _arguments = ("in_shape", "out_shape")
    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size)

    domain = constraints.dependent_property(
        lambda self: constraints.independent(constraints.real, len(self.in_shape)))
    codomain = constraints.dependent_property(
        lambda self: constraints.independent(constraints.real, len(self.out_shape)))

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[:x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(y.shape[:y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[:x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Any:
        return _exchanged(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return _exchanged(shape, self.out_shape, self.in_shape)


def _exchanged(shape: Any, end: Size, other_end: Size) -> Any:
    cut = len(shape) - len(end)
    if cut < 0:
        raise ValueError(_TOO_FEW)
    if shape[cut:] != end:
        raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {end}")
    return shape[:cut] + other_end


class _OfVectors(_Simple):
    """A transform of vectors, which may change their length."""

    domain = constraints.real_vector
    _longer = 0  # by how much the result is longer

    def _resized(self, shape: Any, change: int) -> Any:
        if len(shape) < 1:
            raise ValueError(_TOO_FEW)
        return shape[:-1] + (shape[-1] + change,) if change else shape

    def forward_shape(self, shape: Any) -> Any:
        return self._resized(shape, self._longer)

    def inverse_shape(self, shape: Any) -> Any:
        return self._resized(shape, -self._longer)


class SoftmaxTransform(_OfVectors):
    """Exponentials over their sum: cheap, and not bijective."""

    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        powers = (x - x.max(-1, True)[0]).exp()
        return powers / powers.sum(-1, True)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()


class StickBreakingTransform(_OfVectors):
    """Shares of a stick: each number says how much of what is left is broken off."""

    codomain = constraints.simplex
    bijective = True
    _longer = 1

    @staticmethod
    def _offsets(count: int, like: Tensor) -> Tensor:
        """The logarithms that make zeros come out as equal shares."""
        return rg.arange(count, 0, -1, dtype=like.dtype).log()

    def _call(self, x: Tensor) -> Tensor:
        broken = _clipped_sigmoid(x - self._offsets(x.shape[-1], x))
        left = (1 - broken).cumprod(-1)
        return pad(broken, [0, 1], value=1) * pad(left, [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        shares = y[..., :-1]
        # Rounding may bring what is left down to zero or below.
        left = (1 - shares.cumsum(-1)).clamp(min=dtypes.finfo(y.dtype).tiny)
        return shares.log() - left.log() + self._offsets(shares.shape[-1], y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - self._offsets(x.shape[-1], x)
        return (-x + F.logsigmoid(x) + y[..., :-1].log()).sum(-1)


class CorrCholeskyTransform(Transform):
    """The Cholesky factor of a correlation matrix: rows of unit length by broken sticks."""

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = dtypes.finfo(x.dtype).eps
        partial = vec_to_tril_matrix(x.tanh().clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - partial * partial).sqrt().cumprod(-1)
        unit = partial + rg.eye(partial.shape[-1], dtype=x.dtype)
        return unit * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        left = pad((1 - (y * y).cumsum(-1))[..., :-1], [1, 0], value=1)
        partial = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (partial.log1p() - (-partial).log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor, intermediates: Any = None) -> Tensor:
        # Of the numbers below the diagonal: the rest of y follows from them.
        left = tril_matrix_to_vec(1 - (y * y).cumsum(-1), diag=-2)
        tanh_part = (x + softplus(-2 * x) - math.log(2.0)).sum(-1)
        return 0.5 * left.log().sum(-1) - 2 * tanh_part

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError(_TOO_FEW)
        size = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + (size, size)

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 2:
            raise ValueError(_TOO_FEW)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return shape[:-2] + (shape[-1] * (shape[-1] - 1) // 2,)


class LowerCholeskyTransform(_Simple):
    """The lower triangle with the exponential of its diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_Simple):
    """The product of such a triangle and its transpose."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(rg.linalg.cholesky(y))
