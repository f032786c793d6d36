"""NumPy's ufuncs on tensors: the op of each, its dtypes, and what ufuncs do beyond a call."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ..backend import xp
from ..backend.numpy import ndarray, protocol as numpy
from ..base import dtypes
from ..core.op import PUBLIC
from ..core.tensor import Tensor, wrap
from . import reductions
from .operands import (
    WEAK,
    any_recorded,
    cast,
    constant,
    dtype_of,
    given,
    is_recorded,
    operand,
    refused,
    torch,
    values,
    words,
)

special: Any = SimpleNamespace(**PUBLIC["special"])

VALUES = words(
    "bitwise_and bitwise_count bitwise_or bitwise_xor equal gcd greater greater_equal invert "
    "isfinite isinf isnan isnat lcm left_shift less less_equal logical_and logical_not logical_or "
    "logical_xor nextafter not_equal right_shift signbit spacing")
"""The ufuncs whose results have no gradient; they come back as NumPy's own."""

RENAMED = {"absolute": "abs", "conjugate": "conj", "degrees": "rad2deg", "divide": "true_divide",
           "fabs": "abs", "multiply": "mul", "power": "pow", "radians": "deg2rad",
           "rint": "round", "sign": "sgn"}
"""The ops that have another name than the ufunc they compute."""

SPECIAL = {"j0": "bessel_j0", "j1": "bessel_j1", "k0": "modified_bessel_k0",
           "k1": "modified_bessel_k1", "y0": "bessel_y0", "y1": "bessel_y1",
           "k0e": "scaled_modified_bessel_k0", "k1e": "scaled_modified_bessel_k1"}
"""The same for SciPy's special functions."""


# ---------------------------------------------------------------- those that no one op computes


def cbrt(x: Any) -> Any:
    return torch.copysign(torch.pow(torch.abs(x), 1 / 3), x)


def heaviside(x: Any, at_zero: Any) -> Any:
    return torch.where(x == 0, at_zero, torch.where(x > 0, 1.0, 0.0) + 0 * x)


def modf(x: Any) -> Any:
    whole = torch.trunc(x)
    return x - whole, whole


def frexp(x: Any) -> Any:
    exponent = numpy.named("frexp")(values(x))[1]
    return torch.ldexp(x, operand(-exponent)), exponent


def floor_divide(x: Any, other: Any) -> Any:
    return torch.floor(x / other)


def divmod(x: Any, other: Any) -> Any:
    return floor_divide(x, other), torch.remainder(x, other)


def vecdot(x: Any, other: Any) -> Any:
    return (torch.conj(x) * other).sum(-1)


def matvec(x: Any, vector: Any) -> Any:
    return torch.matmul(x, vector[..., None])[..., 0]


def vecmat(vector: Any, x: Any) -> Any:
    return torch.matmul(torch.conj(vector)[..., None, :], x)[..., 0, :]


COMPOSED = {function.__name__: function for function in (
    cbrt, heaviside, modf, frexp, floor_divide, divmod, vecdot, matvec, vecmat)}
FLOATS = (xp.FLOAT32, xp.FLOAT64)
UNSAVED = words("add subtract")
"""The ufuncs that keep none of their operands for the gradient: their arrays are not copied."""
TAKE_NUMBERS = words("add subtract multiply divide power")
"""The ufuncs whose ops take a Python number as it is."""


def op_of(ufunc: Any) -> Any:
    """The function that computes a ufunc on tensors, or None."""
    name, home = ufunc.__name__, numpy.home_of(ufunc)
    if home == "scipy.special":
        return getattr(special, SPECIAL.get(name, name), None)
    if home != "numpy":
        return None
    return COMPOSED.get(name) or getattr(torch, RENAMED.get(name, name), None)


# ---------------------------------------------------------------- calls

_usual: dict[Any, Any] = {}
"""The ops of elementwise ufuncs that were called, by the ufunc; None for those with more to do."""


def usual(ufunc: Any, inputs: tuple[Any, ...]) -> Any:
    """The usual call: an elementwise ufunc of tensors, arrays and numbers of one floating dtype.

    None where it takes more.
    """
    try:
        op = _usual[ufunc]
    except KeyError:
        name = ufunc.__name__
        op = _usual[ufunc] = None if name in VALUES or name in COMPOSED or name == "ldexp" \
            or ufunc.signature is not None else op_of(ufunc)
    if op is None:
        return None
    dtype, recorded = None, False
    for value in inputs:
        if isinstance(value, Tensor):
            if value._data.dtype is not dtype:
                if dtype is not None or value._data.dtype not in FLOATS:
                    return None
                dtype = value._data.dtype
            recorded = recorded or is_recorded(value)
    if not recorded:
        return None
    operands = []
    for place, value in enumerate(inputs):
        if value.__class__ is ndarray:
            if value.dtype is not dtype:
                return None
            value = wrap(value) if ufunc.__name__ in UNSAVED else constant(value)
        elif not isinstance(value, Tensor) and not (
                place and type(value) in (int, float) and ufunc.__name__ in TAKE_NUMBERS):
            return None
        operands.append(value)
    found = op(*operands)
    return found if found.requires_grad or found._is_traced else None


def called(ufunc: Any, inputs: tuple[Any, ...], where: Any = True, dtype: Any = None,
           order: str = "K", subok: bool = True, casting: str = "same_kind", out: Any = None,
           **others: Any) -> Any:
    """``ufunc(*inputs)``, recorded."""
    name = ufunc.__name__
    if name in VALUES:
        return _values_of(ufunc, inputs, where=where, dtype=dtype, out=out, **others)
    op = op_of(ufunc)
    if op is None:
        raise refused(name, f"no op computes '{name}'; write it in functions of NumPy or in a "
                            "torch.autograd.Function")
    if others:
        raise refused(name, f"'{next(iter(others))}=' is not taken here")
    found = op(*computed_in(ufunc, inputs, dtype))
    if any_recorded(inputs) and not any_recorded((found,)):
        raise refused(name, "its op has no derivative")
    if where is not True:
        first = out[0] if isinstance(out, tuple) else out
        found = torch.where(operand(where), found, torch.zeros_like(found) if first is None
                            else operand(first))
    if out is None:
        return found
    if isinstance(found, tuple):
        return tuple([given(part, place, name) for part, place in zip(found, out, strict=True)])
    return given(found, out, name)


def computed_in(ufunc: Any, inputs: tuple[Any, ...], dtype: Any) -> list[Any]:
    """The operands in the dtypes of NumPy's loop; numbers stay, where an op takes them."""
    asked = None if dtype is None else numpy.as_dtype(
        dtype.np if isinstance(dtype, dtypes.dtype) else dtype)
    loop = numpy.loop_dtypes(ufunc, tuple([
        type(v) if type(v) in WEAK else dtype_of(v) for v in inputs]), asked)
    numbers = ufunc.__name__ in TAKE_NUMBERS
    return [value if numbers and place and type(value) in (int, float)
            else cast(constant(value) if value.__class__ is ndarray else operand(value), kind)
            for place, (value, kind) in enumerate(zip(inputs, loop, strict=False))]


def _values_of(ufunc: Any, inputs: tuple[Any, ...], **options: Any) -> Any:
    return ufunc(*values(inputs), **{name: values(value) for name, value in options.items()
                                     if value is not None})


# ---------------------------------------------------------------- reduce, accumulate, outer, at

REDUCED = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}
ACCUMULATED = {"add": torch.cumsum, "multiply": torch.cumprod, "logaddexp": torch.logcumsumexp,
               "maximum": lambda x, dim: torch.cummax(x, dim)[0],
               "minimum": lambda x, dim: torch.cummin(x, dim)[0]}


def reduced(ufunc: Any, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None,
            keepdims: bool = False, **options: Any) -> Any:
    """``ufunc.reduce``: along the first axis unless told otherwise."""
    name = ufunc.__name__
    if name in VALUES:
        return numpy.method(ufunc, "reduce")(values(array), axis, dtype, values(out), keepdims,
                                             **options)
    if name == "logaddexp" and not options:
        x = operand(array)
        return given(torch.logsumexp(x, reductions.axes_of(x, axis), keepdims), out, name)
    if name not in REDUCED:
        raise _no_method(ufunc, "reduce")
    if REDUCED[name] in ("sum", "prod"):
        options["dtype"] = dtype
    return getattr(reductions, REDUCED[name])(array, axis, out=out, keepdims=keepdims, **options)


def accumulated(ufunc: Any, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    """``ufunc.accumulate``: what is reduced so far, at every place along an axis."""
    name = ufunc.__name__
    if name in VALUES:
        return numpy.method(ufunc, "accumulate")(values(array), axis, dtype, values(out))
    if name not in ACCUMULATED:
        raise _no_method(ufunc, "accumulate")
    x = operand(array)
    x = x if dtype is None else cast(x, dtype)
    return given(ACCUMULATED[name](x, reductions.axis_of(x, axis)), out, name)


def outer(ufunc: Any, first: Any, second: Any, **options: Any) -> Any:
    """``ufunc.outer``: each element of one operand with each of the other."""
    first, second = operand(first), operand(second)
    return called(ufunc, (first.reshape(*first.shape, *[1] * second.ndim), second), **options)


def at(ufunc: Any, target: Any, indices: Any, *rest: Any) -> None:
    """``ufunc.at``: in place, counting places that are named several times."""
    name = ufunc.__name__
    if not isinstance(target, Tensor):
        raise refused(f"{name}.at", "an ndarray cannot hold a gradient: write to a tensor")
    if name not in ("add", "subtract"):
        raise _no_method(ufunc, "at")
    amount = cast(operand(rest[0]), target._data.dtype)
    place = numpy.named("arange")(target.numel()).reshape(target.shape)[values(indices)]
    flat = operand(numpy.named("ravel")(place))
    amount = torch.broadcast_to(amount if name == "add" else -amount, place.shape).reshape(-1)
    target.add_(torch.zeros_like(target).reshape(-1).index_add(0, flat, amount)
                .reshape(target.shape))


def _no_method(ufunc: Any, method: str) -> RuntimeError:
    return refused(f"{ufunc.__name__}.{method}", "write it as a loop over np." + ufunc.__name__)


METHODS: dict[str, Any] = {
    "__call__": lambda ufunc, *inputs, **options: called(ufunc, inputs, **options),
    "reduce": reduced, "accumulate": accumulated, "outer": outer, "at": at}


def run(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A method of a ufunc on operands of which one is recorded."""
    if method not in METHODS:
        raise _no_method(ufunc, method)
    return METHODS[method](ufunc, *inputs, **options)
