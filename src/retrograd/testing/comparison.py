"""``assert_close``: nested values compared in pairs, with errors that say where and by how much."""

from __future__ import annotations

import cmath
import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import retrograd

from ..backend import xp
from ..base import dtypes
from ..base.warning import warn
from ..core.tensor import Tensor

_TOLERANCES = {
    dtypes.float16: (1e-3, 1e-5), dtypes.bfloat16: (1.6e-2, 1e-5), dtypes.float32: (1.3e-6, 1e-5),
    dtypes.float64: (1e-7, 1e-7), dtypes.complex32: (1e-3, 1e-5),
    dtypes.complex64: (1.3e-6, 1e-5), dtypes.complex128: (1e-7, 1e-7)}
"""The relative and absolute difference that a dtype's rounding excuses; others excuse none."""

_OLD_TOLERANCES = {dtypes.float16: (1e-3, 1e-3), dtypes.float32: (1e-4, 1e-5),
                   dtypes.float64: (1e-5, 1e-8)}
_NUMBERS = {int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128}


def assert_close(actual: Any, expected: Any, *, allow_subclasses: bool = True,
                 rtol: float | None = None, atol: float | None = None, equal_nan: bool = False,
                 check_device: bool = True, check_dtype: bool = True, check_layout: bool = True,
                 check_stride: bool = False, msg: str | Callable[[str], str] | None = None
                 ) -> None:
    """Raise an AssertionError unless tensors, numbers or containers of them are close."""
    __tracebackhide__ = True
    checks = [name for name, is_wanted in (("layout", check_layout), ("stride()", check_stride),
                                           ("device", check_device), ("dtype", check_dtype))
              if is_wanted]
    options = _Options(rtol, atol, equal_nan, allow_subclasses, checks)
    # All pairs are found before any is compared: what cannot be compared is said first.
    for pair in list(_pairs(actual, expected, (), options)):
        difference = pair.difference()
        if difference is not None:
            if not isinstance(msg, str):
                text = difference + _at(pair.place)
                msg = msg(text) if callable(msg) else text
            raise AssertionError(msg)


def assert_allclose(actual: Any, expected: Any, rtol: float | None = None,
                    atol: float | None = None, equal_nan: bool = True, msg: str = "") -> None:
    """The predecessor of :func:`assert_close`, which accepts more."""
    warn("`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a "
         "future release. Please use `torch.testing.assert_close()` instead. You can find detailed "
         "upgrade instructions in https://github.com/pytorch/pytorch/issues/61844.", FutureWarning)
    if not isinstance(actual, Tensor):
        actual = retrograd.tensor(actual)
    if not isinstance(expected, Tensor):
        expected = retrograd.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        rtol, atol = _loosest(_OLD_TOLERANCES, actual.dtype, expected.dtype)
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False,
                 msg=msg or None)


@dataclass
class _Options:
    rtol: float | None
    atol: float | None
    equal_nan: bool
    allow_subclasses: bool
    checks: list[str]


# ---------------------------------------------------------------- finding what to compare


def _pairs(actual: Any, expected: Any, place: tuple[Any, ...], options: _Options
           ) -> Iterator[_Pair]:
    """The pairs of values at equal places of two containers, or the values themselves."""
    if _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            raise AssertionError(f"The length of the sequences mismatch: {len(actual)} != "
                                 f"{len(expected)}{_at(place)}")
        keys: Any = range(len(actual))
    elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
        keys = _common_keys(actual, expected, place)
    else:
        yield _pair(actual, expected, place, options)
        return
    for key in keys:
        yield from _pairs(actual[key], expected[key], (*place, key), options)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _common_keys(actual: Any, expected: Any, place: tuple[Any, ...]) -> Any:
    ours, theirs = set(actual), set(expected)
    if ours != theirs:
        raise AssertionError("The keys of the mappings do not match:\n"
                             f"Missing keys in the actual mapping: {sorted(theirs - ours)}\n"
                             f"Additional keys in the actual mapping: {sorted(ours - theirs)}"
                             f"{_at(place)}")
    with contextlib.suppress(TypeError):  # in an order that is the same every time, if there is one
        return sorted(ours)
    return ours


def _at(place: tuple[Any, ...]) -> str:
    if not place:
        return ""
    return f"\n\nThe failure occurred for item {''.join(f'[{key!r}]' for key in place)}"


def _pair(actual: Any, expected: Any, place: tuple[Any, ...], options: _Options) -> _Pair:
    """What compares two values that are no containers."""
    plain = _python_number(actual), _python_number(expected)
    if actual is None or expected is None:
        return _Identical("None mismatch", actual, expected, place)
    if all(isinstance(value, bool) for value in plain):
        return _Identical("Booleans mismatch", *plain, ())  # PyTorch does not say where either
    if all(type(value) in _NUMBERS for value in plain):
        return _Numbers(*plain, place, options)
    if (isinstance(actual, type(expected)) or isinstance(expected, type(actual))) and (
            options.allow_subclasses or type(actual) is type(expected)):
        with contextlib.suppress(_NoTensor):
            return _Tensors(_as_tensor(actual), _as_tensor(expected), place, options)
    raise TypeError("No comparison pair was able to handle inputs of type "
                    f"{type(actual)} and {type(expected)}.{_at(place)}")


def _python_number(value: Any) -> Any:
    return value.item() if xp.is_scalar(value) else value


class _NoTensor(Exception):
    """A value that no tensor can be made of."""


def _as_tensor(value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value
    try:
        return retrograd.as_tensor(value)
    except Exception:
        raise _NoTensor from None


# ---------------------------------------------------------------- tolerances


def _loosest(table: dict[Any, tuple[float, float]], *kinds: Any) -> tuple[float, float]:
    rtols, atols = zip(*(table.get(kind, (0.0, 0.0)) for kind in kinds))
    return max(rtols), max(atols)


def _tolerances(options: _Options, place: tuple[Any, ...], *kinds: Any) -> tuple[float, float]:
    if options.rtol is None and options.atol is None:
        return _loosest(_TOLERANCES, *kinds)
    if options.rtol is None or options.atol is None:
        raise ValueError("Both 'rtol' and 'atol' must be either specified or omitted, but got no "
                         f"{'rtol' if options.rtol is None else 'atol'}.{_at(place)}")
    return options.rtol, options.atol


# ---------------------------------------------------------------- comparing


class _Pair:
    """Two values at one place, which know how to say in what they differ."""

    place: tuple[Any, ...]

    def difference(self) -> str | None:
        raise NotImplementedError


class _Identical(_Pair):
    """Two values of which each exists once."""

    def __init__(self, what: str, actual: Any, expected: Any, place: tuple[Any, ...]):
        self.what, self.actual, self.expected, self.place = what, actual, expected, place

    def difference(self) -> str | None:
        if self.actual is self.expected:
            return None
        return f"{self.what}: {self.actual} is not {self.expected}"


class _Numbers(_Pair):
    def __init__(self, actual: Any, expected: Any, place: tuple[Any, ...], options: _Options):
        self.actual, self.expected, self.place, self.options = actual, expected, place, options
        kinds = [_NUMBERS[type(value)] for value in (actual, expected)]
        self.tolerances = _tolerances(options, place, *kinds)

    def difference(self) -> str | None:
        actual, expected = self.actual, self.expected
        if "dtype" in self.options.checks and type(actual) is not type(expected):
            return f"The (d)types do not match: {type(actual)} != {type(expected)}."
        both_nan = self.options.equal_nan and cmath.isnan(actual) and cmath.isnan(expected)
        if actual == expected or both_nan:
            return None
        rtol, atol = self.tolerances
        distance = abs(actual - expected)
        if cmath.isfinite(distance) and distance <= atol + rtol * abs(expected):
            return None
        return _number_difference(actual, expected, self.tolerances)


class _Tensors(_Pair):
    def __init__(self, actual: Tensor, expected: Tensor, place: tuple[Any, ...],
                 options: _Options):
        self.actual, self.expected, self.place, self.options = actual, expected, place, options
        self.tolerances = _tolerances(options, place, actual.dtype, expected.dtype)

    def difference(self) -> str | None:
        actual, expected = self.actual.detach(), self.expected.detach()
        for name in ("shape", *self.options.checks):
            ours, theirs = [_asked(tensor, name) for tensor in (actual, expected)]
            if ours != theirs:
                return f"The values for attribute '{name}' do not match: {ours} != {theirs}."
        if actual.dtype != expected.dtype:
            common = dtypes.promote_types(_signed(actual.dtype), _signed(expected.dtype))
            actual, expected = actual.to(common), expected.to(common)
        rtol, atol = self.tolerances
        matches = retrograd.isclose(actual, expected, rtol=rtol, atol=atol,
                                    equal_nan=self.options.equal_nan)
        if retrograd.all(matches):
            return None
        if not actual.shape:
            return _number_difference(actual.item(), expected.item(), self.tolerances)
        return _tensor_difference(actual, expected, matches, self.tolerances)


def _asked(tensor: Tensor, name: str) -> Any:
    return tensor.stride() if name == "stride()" else getattr(tensor, name)


def _signed(dtype: dtypes.dtype) -> dtypes.dtype:
    """A dtype that promotion knows, for the unsigned ones that it does not."""
    return dtypes.int64 if dtype in (dtypes.uint16, dtypes.uint32, dtypes.uint64) else dtype


# ---------------------------------------------------------------- words


def _number_difference(actual: Any, expected: Any, tolerances: tuple[float, float]) -> str:
    absolute = abs(actual - expected)
    relative = float("inf") if expected == 0 else absolute / abs(expected)
    return _worded("Scalars", f"Expected {expected} but got {actual}.", tolerances,
                   f"Absolute difference: {absolute}", f"Relative difference: {relative}")


def _tensor_difference(actual: Tensor, expected: Tensor, matches: Tensor,
                       tolerances: tuple[float, float]) -> str:
    if not actual.dtype.is_floating_point and not actual.dtype.is_complex:
        actual, expected = actual.long(), expected.long()
    wrong = matches.numel() - int(matches.sum())
    absolute = retrograd.abs(actual - expected).masked_fill(matches, 0)
    relative = (absolute / retrograd.abs(expected)).masked_fill(matches, 0)
    return _worded("Tensor-likes", f"Mismatched elements: {wrong} / {matches.numel()} "
                   f"({wrong / matches.numel():.1%})", tolerances,
                   _greatest("absolute", absolute), _greatest("relative", relative))


def _greatest(what: str, differences: Tensor) -> str:
    value, place = differences.flatten().max(0)
    flat, index = int(place), tuple[int, ...]()
    for size in reversed(differences.shape):
        flat, last = divmod(flat, size)
        index = (last, *index)
    return f"Greatest {what} difference: {value.item()} at index {index}"


def _worded(what: str, found: str, tolerances: tuple[float, float], absolute: str, relative: str
            ) -> str:
    rtol, atol = tolerances
    if rtol == 0 and atol == 0:
        return f"{what} are not equal!\n\n{found}\n{absolute}\n{relative}"
    return (f"{what} are not close!\n\n{found}\n{absolute} (up to {atol} allowed)\n"
            f"{relative} (up to {rtol} allowed)")
