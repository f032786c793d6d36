"""Clamping, and the greater or smaller of two."""

from __future__ import annotations

from typing import Any

from ...backend import pointwise as pointwise_kernels, xp
from ...base import dtypes
from ...base.errors import does_not_fit, no_overload
from ...core.op import Array, Number, composite, elementwise, public
from ...core.operands import fitting_number
from ...core.tensor import Tensor
from ..checks.common import kinds
from ..checks.elementwise import CLAMP, CLAMP_ONE_SIDE, check_bounded, check_clamp
from .comparison import isnan
from .expressions import binary
from .number_operands import in_place, is_operand, plain_number, widened
from .where import kept, where, zeroed


def _bounded(input: Any, low: Any, high: Any) -> Any:
    for bound in (low, high):
        if bound is not None:
            input = widened(input, bound)
    try:
        return pointwise_kernels.bounded(input, low, high)
    except OverflowError:
        return pointwise_kernels.bounded(input, _whole(low, input.dtype), _whole(high, input.dtype))


def _whole(bound: Any, dtype: Any) -> Any:
    """A whole number in a dtype; in one without a sign a negative number goes around once."""
    limits = xp.iinfo(dtype)
    if bound is None or limits.min <= bound <= limits.max:
        return bound
    if limits.min or abs(bound) > limits.max:
        raise does_not_fit(dtypes.from_numpy_dtype(dtype))
    return limits.max + 1 + bound


@elementwise(inplace=True, quiet=True, guard=check_clamp, node="ClampBackward1", title="clamp",
             compares=True, vjp=lambda g, input, min, max: kept(g, _within(input, min, max)))
def _clamp_numbers(input: Array, min: Number = None, max: Number = None) -> Any:
    return _bounded(input, min, max)


def _within(input: Any, low: Any, high: Any) -> Any:
    """Where ``input`` lies between the bounds; NaN does not."""
    if high is None:
        return input >= low
    return input <= high if low is None else (input >= low) & (input <= high)


@elementwise(inplace=True, quiet=True, guard=CLAMP, node="ClampBackward0", title="clamp",
             compares=True)
def _clamp_tensors(input: Array, min: Array, max: Array) -> Any:
    return xp.minimum(xp.maximum(input, min), max)


_clamp_tensors.vjp(
    input=lambda g, input, min, max: kept(g, (input >= min) & (input <= max)),
    min=lambda g, input, min, max: kept(g, (input < min) & (min < max)),
    max=lambda g, input, min, max: kept(g, (input > max) | (max < min)))
# Unlike a gradient, the tangent of a NaN passes.
_clamp_tensors.jvp(
    input=lambda tangent, input, min, max: zeroed(
        tangent, (input < min) | (input > max) | (min > max)),
    min=lambda tangent, input, min, max: kept(tangent, (input < min) & ~(min > max)),
    max=lambda tangent, input, min, max: kept(
        tangent, (min > max) | ((input > max) & ~(input < min))))


def _lower_bound(name: str, node: str, **tangents: Any) -> Any:
    @elementwise(name=name, inplace=True, quiet=True, guard=CLAMP_ONE_SIDE, node=node,
                 title="clamp", compares=True)
    def bounded(input: Array, min: Array) -> Any:
        return xp.maximum(input, min)

    bounded.vjp(input=lambda g, input, min: kept(g, input >= min),
                min=lambda g, input, min: kept(g, input < min))
    bounded.jvp(**tangents)
    return bounded


def _upper_bound(name: str, node: str, **tangents: Any) -> Any:
    @elementwise(name=name, inplace=True, quiet=True, guard=CLAMP_ONE_SIDE, node=node,
                 title="clamp", compares=True)
    def bounded(input: Array, max: Array) -> Any:
        return xp.minimum(input, max)

    bounded.vjp(input=lambda g, input, max: kept(g, input <= max),
                max=lambda g, input, max: kept(g, input > max))
    bounded.jvp(**tangents)
    return bounded


# Unlike a gradient, the tangent of two equals is the bound's, and that of a NaN too.
_clamp_to_min = _lower_bound("_clamp_to_min", "ClampBackward0",
                             input=lambda tangent, input, min: kept(tangent, input > min),
                             min=lambda tangent, input, min: zeroed(tangent, input > min))
_clamp_to_max = _upper_bound("_clamp_to_max", "ClampBackward0",
                             input=lambda tangent, input, max: kept(tangent, input < max),
                             max=lambda tangent, input, max: zeroed(tangent, input < max))
# Here the tangent of two equals is the input's.
_clamp_min_tensor = _lower_bound("_clamp_min_tensor", "ClampMinBackward1",
                                 input=lambda tangent, input, min: kept(tangent, input >= min),
                                 min=lambda tangent, input, min: zeroed(tangent, input >= min))
_clamp_max_tensor = _upper_bound("_clamp_max_tensor", "ClampMaxBackward1",
                                 input=lambda tangent, input, max: kept(tangent, input <= max),
                                 max=lambda tangent, input, max: zeroed(tangent, input <= max))


@elementwise(inplace=True, quiet=True, guard=check_clamp, node="ClampMinBackward0",
             title="clamp_min", compares=True,
             vjp=lambda g, input, min: kept(g, input >= min))
def _clamp_min_number(input: Array, min: Number) -> Any:
    return _bounded(input, min, None)


@elementwise(inplace=True, quiet=True, guard=check_clamp, node="ClampMaxBackward0",
             title="clamp_max", compares=True,
             vjp=lambda g, input, max: kept(g, input <= max))
def _clamp_max_number(input: Array, max: Number) -> Any:
    return _bounded(input, None, max)


_BOUNDS = (float, int, type(None))


_CLAMP_FORMS = (
    "Tensor input, Tensor min = None, Tensor max = None, *, Tensor out = None",
    "Tensor input, Number min = None, Number max = None, *, Tensor out = None")
_CLAMP_METHOD_FORMS = ("Tensor min = None, Tensor max = None",
                       "Number min = None, Number max = None")


def _clamp_call(input: Any, low: Any, high: Any, is_method: bool = False
                ) -> tuple[Any, tuple[Any, ...]]:
    """Which op clamps to these bounds, and its arguments."""
    if not all(b is None or is_operand(b) for b in (low, high)) or not isinstance(input, Tensor):
        given = (low,) if high is None else (low, high)
        if is_method:
            raise no_overload("clamp", given, *_CLAMP_METHOD_FORMS)
        raise no_overload("clamp", (input, *given), *_CLAMP_FORMS)
    if low is None and high is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if not isinstance(low, Tensor) and not isinstance(high, Tensor):
        return _clamp_numbers, (input, fitting_number(low, input._data),
                                fitting_number(high, input._data))
    if high is None:
        return _clamp_to_min, (input, low)
    if low is None:
        return _clamp_to_max, (input, high)
    return _clamp_tensors, (input, low, high)


@composite(aliases=("clip",))
def clamp(input: Tensor, min: Any = None, max: Any = None, *, out: Any = None) -> Tensor:
    """``input`` held between two bounds, either of which may be missing."""
    if out is None and type(min) in _BOUNDS and type(max) in _BOUNDS and min is not max:
        return _clamp_numbers(input, min, max)
    made, args = _clamp_call(input, min, max)
    return made(*args, out=out)


@public("clamp", function=None, aliases=("clip",))
def _clamp_method(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """``input`` held between two bounds, either of which may be missing."""
    if type(min) in _BOUNDS and type(max) in _BOUNDS and min is not max:
        return _clamp_numbers(input, min, max)
    made, args = _clamp_call(input, min, max, True)
    return made(*args)


@public("clamp_", aliases=("clip_",))
def clamp_(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """In-place version of :func:`clamp`."""
    made, args = _clamp_call(input, min, max, True)
    return in_place(made)(*args)


@composite(method=True)
def clamp_min(input: Tensor, min: Any, *, out: Any = None) -> Tensor:
    """``input``, or ``min`` where that is greater."""
    check_bounded("clamp_min", input, min)
    if isinstance(min, Tensor):
        return _clamp_min_tensor(input, min, out=out)
    return _clamp_min_number(input, plain_number(min), out=out)


@composite(method=True)
def clamp_max(input: Tensor, max: Any, *, out: Any = None) -> Tensor:
    """``input``, or ``max`` where that is less."""
    check_bounded("clamp_max", input, max)
    if isinstance(max, Tensor):
        return _clamp_max_tensor(input, max, out=out)
    return _clamp_max_number(input, plain_number(max), out=out)


@public("clamp_min_")
def clamp_min_(input: Tensor, min: Any) -> Tensor:
    """In-place version of :func:`clamp_min`."""
    return in_place(_clamp_min_tensor if isinstance(min, Tensor) else _clamp_min_number)(input, min)


@public("clamp_max_")
def clamp_max_(input: Tensor, max: Any) -> Tensor:
    """In-place version of :func:`clamp_max`."""
    return in_place(_clamp_max_tensor if isinstance(max, Tensor) else _clamp_max_number)(input, max)


def _extremum(name: str, doc: str, kernel: Any, **rules: Any) -> Any:
    """Declare the greater or smaller of two."""
    return binary(name, doc, kernel, quiet=True, numbers=(), compares=True, guard=kinds(
        "bif", f"{name}_cpu", c=(RuntimeError, f"{name} not implemented for complex tensors.")),
        **rules)


def _share(g: Any, a: Any, b: Any) -> Any:
    return where(a == b, g / 2, g)


maximum = _extremum(
    "maximum", "The greater of two, NaN if either is; equals share the gradient.",
    lambda input, other: xp.maximum(input, other),
    input=lambda g, input, other: zeroed(_share(g, input, other), input < other),
    other=lambda g, input, other: zeroed(_share(g, input, other), other < input))
minimum = _extremum(
    "minimum", "The smaller of two, NaN if either is; equals share the gradient.",
    lambda input, other: xp.minimum(input, other),
    input=lambda g, input, other: zeroed(_share(g, input, other), input > other),
    other=lambda g, input, other: zeroed(_share(g, input, other), other > input))
# Unlike a gradient, the tangent of a NaN is the second's.
maximum.jvp(input=lambda tangent, input, other: kept(_share(tangent, input, other), input >= other),
            other=lambda tangent, input, other: zeroed(
                _share(tangent, input, other), input > other))
minimum.jvp(input=lambda tangent, input, other: kept(_share(tangent, input, other), input <= other),
            other=lambda tangent, input, other: zeroed(
                _share(tangent, input, other), input < other))
fmax = _extremum(
    "fmax", "The greater of two, ignoring NaN; of equals, the first takes the gradient.",
    lambda input, other: xp.fmax(input, other),
    input=lambda g, input, other: kept(g, (input >= other) | isnan(other)),
    other=lambda g, input, other: zeroed(g, (input >= other) | isnan(other)))
fmin = _extremum(
    "fmin", "The smaller of two, ignoring NaN; of equals, the first takes the gradient.",
    lambda input, other: xp.fmin(input, other),
    input=lambda g, input, other: kept(g, (input <= other) | isnan(other)),
    other=lambda g, input, other: zeroed(g, (input <= other) | isnan(other)))
# The tangent of two equals is the second's.
fmax.jvp(input=lambda tangent, input, other: kept(tangent, (input > other) | isnan(other)),
         other=lambda tangent, input, other: zeroed(tangent, (input > other) | isnan(other)))
