"""Regions that parameters and values lie in, and checks of whether they do."""

from __future__ import annotations

from typing import Any

import retrograd as rg

from ..base import dtypes
from ..core.tensor import Tensor

__all__ = ["Constraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property",
           "greater_than", "greater_than_eq", "independent", "integer_interval", "interval",
           "half_open_interval", "is_dependent", "less_than", "lower_cholesky", "lower_triangular",
           "MixtureSameFamilyConstraint", "multinomial", "nonnegative", "nonnegative_integer",
           "one_hot", "positive", "positive_semidefinite", "positive_definite", "positive_integer",
           "real", "real_vector", "simplex", "square", "stack", "symmetric", "unit_interval"]


class Constraint:
    """A region of values; the last ``event_dim`` dimensions of a value are checked together."""

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Tensor) -> Tensor:
        """Whether each event in ``value`` lies in the region."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return type(self).__name__[1:] + "()"


# ---------------------------------------------------------------- regions that depend on others


class _Dependent(Constraint):
    """A region that depends on other parameters or values, and cannot be checked alone."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
                 ) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def _known(self, name: str) -> Any:
        value = getattr(self, "_" + name)
        if value is NotImplemented:
            raise NotImplementedError(f".{name} cannot be determined statically")
        return value

    is_discrete = property(lambda self: self._known("is_discrete"))
    event_dim = property(lambda self: self._known("event_dim"))

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
                 ) -> _Dependent:
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim)

    def check(self, value: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Whether a region depends on other parameters or values."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property that gives a region; its class has what is known of the region without values."""

    def __init__(self, fn: Any = None, *, is_discrete: Any = NotImplemented,
                 event_dim: Any = NotImplemented) -> None:
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Any) -> _DependentProperty:  # type: ignore[override]
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


# ---------------------------------------------------------------- regions made of others


def _require_constraint(given: Any) -> None:
    if not isinstance(given, Constraint):
        raise AssertionError(f"base_constraint must be a Constraint, got {type(given).__name__}")


class _IndependentConstraint(Constraint):
    """A region whose last batch dimensions are checked together."""

    def __init__(self, base_constraint: Any, reinterpreted_batch_ndims: int) -> None:
        _require_constraint(base_constraint)
        if not isinstance(reinterpreted_batch_ndims, int):
            raise AssertionError("reinterpreted_batch_ndims must be an int, got "
                                 f"{type(reinterpreted_batch_ndims).__name__}")
        if reinterpreted_batch_ndims < 0:
            raise AssertionError("reinterpreted_batch_ndims must be >= 0, got "
                                 f"{reinterpreted_batch_ndims}")
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    is_discrete = property(lambda self: self.base_constraint.is_discrete)
    event_dim = property(
        lambda self: self.base_constraint.event_dim + self.reinterpreted_batch_ndims)

    def check(self, value: Tensor) -> Tensor:
        result = self.base_constraint.check(value)
        kept = result.dim() - self.reinterpreted_batch_ndims
        if kept < 0:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return result.reshape((*result.shape[:kept], -1)).all(-1)

    def __repr__(self) -> str:
        return (f"{type(self).__name__[1:]}({self.base_constraint!r}, "
                f"{self.reinterpreted_batch_ndims})")


class MixtureSameFamilyConstraint(Constraint):
    """The region of a mixture's values: that of all of its components."""

    def __init__(self, base_constraint: Any) -> None:
        _require_constraint(base_constraint)
        self.base_constraint = base_constraint

    is_discrete = property(lambda self: self.base_constraint.is_discrete)
    event_dim = property(lambda self: self.base_constraint.event_dim)

    def check(self, value: Tensor) -> Tensor:
        result = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        kept = value.dim() - self.event_dim
        if kept < 0:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return result.reshape((*result.shape[:kept], -1)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


class _Several(Constraint):
    """Several regions side by side along ``dim``."""

    def __init__(self, cseq: Any, dim: int = 0) -> None:
        if not all(isinstance(each, Constraint) for each in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq, self.dim = list(cseq), dim

    is_discrete = property(lambda self: any(each.is_discrete for each in self.cseq))
    event_dim = property(lambda self: max(each.event_dim for each in self.cseq))

    def _require_dim(self, value: Tensor) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(
                f"dim {self.dim} out of range for value with {value.dim()} dimensions")


class _Cat(_Several):
    """Regions of slices along ``dim``, as :func:`cat` joins them."""

    def __init__(self, cseq: Any, dim: int = 0, lengths: Any = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})")

    def check(self, value: Tensor) -> Tensor:
        self._require_dim(value)
        starts = [sum(self.lengths[:i]) for i in range(len(self.lengths))]
        return rg.cat([each.check(value.narrow(self.dim, start, length)) for each, start, length
                       in zip(self.cseq, starts, self.lengths, strict=True)], self.dim)


class _Stack(_Several):
    """Regions of elements along ``dim``, as :func:`stack` puts them together."""

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        dim = max(each.event_dim for each in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Tensor) -> Tensor:
        self._require_dim(value)
        return rg.stack([each.check(part) for part, each in zip(
            value.unbind(self.dim), self.cseq, strict=False)], self.dim)


# ---------------------------------------------------------------- numbers


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _Real(Constraint):
    def check(self, value: Tensor) -> Tensor:
        return value == value  # not nan


class _Bounded(Constraint):
    """A region between bounds, which are all that its objects hold."""

    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"{type(self).__name__[1:]}({bounds})"


class _Above(_Bounded):
    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound


class _Below(_Bounded):
    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound


class _Between(_Bounded):
    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound


def _whole(value: Tensor, inside: Tensor) -> Tensor:
    """Where a value is inside of bounds, and has no fraction if its dtype allows for one."""
    return inside & (value % 1 == 0) if value.dtype.is_floating_point else inside


class _IntegerInterval(_Between):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return _whole(value, (self.lower_bound <= value) & (value <= self.upper_bound))


class _IntegerLessThan(_Below):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return _whole(value, value <= self.upper_bound)


class _IntegerGreaterThan(_Above):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return _whole(value, value >= self.lower_bound)


class _GreaterThan(_Above):
    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound < value


class _GreaterThanEq(_Above):
    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound <= value


class _LessThan(_Below):
    def check(self, value: Tensor) -> Tensor:
        return value < self.upper_bound


class _Interval(_Between):
    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value < self.upper_bound)


# ---------------------------------------------------------------- vectors


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return boolean.check(value).all(-1) & (value.sum(-1) == 1)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return (x >= 0).all(-1) & (x.sum(-1) <= self.upper_bound)


# ---------------------------------------------------------------- matrices


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).all(-1).all(-1)


class _LowerCholesky(_LowerTriangular):
    def check(self, value: Tensor) -> Tensor:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    def check(self, value: Tensor) -> Tensor:
        tolerance = dtypes.finfo(value.dtype).eps * value.size(-1) * 10
        lengths = rg.linalg.norm(value.detach(), dim=-1)
        return super().check(value) & ((lengths - 1).abs() <= tolerance).all(-1)


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return rg.full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=dtypes.bool)


class _Symmetric(_Square):
    def check(self, value: Tensor) -> Tensor:
        is_square = super().check(value)
        return rg.isclose(value, value.mT, atol=1e-6).all(-2).all(-1) if is_square.all() \
            else is_square


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        is_symmetric = super().check(value)
        return (rg.linalg.eigvalsh(value) >= 0).all(-1) if is_symmetric.all() else is_symmetric


class _PositiveDefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        is_symmetric = super().check(value)
        return rg.linalg.cholesky_ex(value).info == 0 if is_symmetric.all() else is_symmetric


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
