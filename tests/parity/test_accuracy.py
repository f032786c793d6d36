"""Elementary functions and activations: how far from the exact value, beside how far PyTorch is.

Each is drawn many numbers, enough of them that kernels take them, and may be 1.5 units in the last
place off the exact value, or as far as PyTorch is on the same numbers. Special numbers give what
PyTorch makes of them. Slopes are compared where none is nearly 0, which any unit is too small for.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

import retrograd

Wide = np.longdouble
COUNT = 30_000  # twice as many as a kernel is worth its call for
ALLOWED = 1.5
ALIKE = 1.1  # so much the largest of many errors differs between formulas of equal errors
DTYPES = [np.float32, np.float64]
BITS = "any bits"
TINY = ("log", 1e-30, 1.0)
SCALE, CUBIC = np.sqrt(Wide(2) / np.arccos(Wide(-1))), Wide("0.044715")
LOG_TWO = np.log(Wide(2))

needs_more_digits = pytest.mark.skipif(np.finfo(Wide).eps > 1e-18, reason="long doubles are short")


def sigmoid(x):
    return np.where(x > 0, 1, np.exp(np.minimum(x, 0))) / (1 + np.exp(-abs(x)))


def slope_of_gate(x, v, slope):
    return sigmoid(v) * (1 + x * slope * sigmoid(-v))


def tanh_gate(x):
    return 2 * SCALE * (x + CUBIC * x ** 3)


def mish_parts(x):
    """The tangent of the softplus, and what it is below 1."""
    e = np.exp(-abs(x))
    gate, rest = np.where(x < 0, e * (e + 2), 2 * e + 1), np.where(x < 0, 2, 2 * e * e)
    return gate / (gate + rest), rest / (gate + rest)


def mish_slope(x):
    gate, rest = mish_parts(x)
    return gate + x * sigmoid(x) * rest * (1 + gate)


def function(name):
    return lambda lib, *given: getattr(lib, name)(*given)


def activation(name, **options):
    return lambda lib, x: getattr(lib.nn.functional, name)(x, **options)


# The call, its exact value, its exact slope or none, and what numbers are drawn from.
CASES = {
    "exp": (function("exp"), np.exp, np.exp, BITS, (-1, 1), (-80, 80)),
    "exp2": (function("exp2"), np.exp2, lambda x: np.exp2(x) * LOG_TWO, BITS, (-1, 1), (-120, 120)),
    "expm1": (function("expm1"), np.expm1, None, BITS, (-1, 1), (-20, 80), TINY),
    "log": (function("log"), np.log, lambda x: 1 / x, BITS, (0, 2), (0.9, 1.1)),
    "log2": (function("log2"), np.log2, None, BITS, (0, 2), (0.9, 1.1)),
    "log10": (function("log10"), np.log10, None, BITS, (0, 2), (0.9, 1.1)),
    "log1p": (function("log1p"), np.log1p, lambda x: 1 / (x + 1), (-0.9, 1), (0, 1e4), TINY),
    "sqrt": (function("sqrt"), np.sqrt, lambda x: 0.5 / np.sqrt(x), BITS, (0, 10)),
    "rsqrt": (function("rsqrt"), lambda x: 1 / np.sqrt(x), None, BITS, (0, 10)),
    "reciprocal": (function("reciprocal"), lambda x: 1 / x, lambda x: -1 / (x * x), (-10, 10)),
    "sin": (function("sin"), np.sin, np.cos, (-1, 1), (-100, 100), (-1e6, 1e6)),
    "cos": (function("cos"), np.cos, lambda x: -np.sin(x), (-1, 1), (-100, 100), (-1e6, 1e6)),
    "tan": (function("tan"), np.tan, None, (-1, 1), (-100, 100)),
    "asin": (function("asin"), np.arcsin, None, (-1, 1), TINY),
    "acos": (function("acos"), np.arccos, None, (-1, 1), TINY),
    "atan": (function("atan"), np.arctan, lambda x: 1 / (x * x + 1), BITS, (-1, 1), (-100, 100)),
    "sinh": (function("sinh"), np.sinh, None, (-1, 1), (-80, 80), TINY),
    "cosh": (function("cosh"), np.cosh, None, (-1, 1), (-80, 80)),
    "tanh": (function("tanh"), np.tanh, None, BITS, (-1, 1), (-10, 10), TINY),
    "asinh": (function("asinh"), np.arcsinh, None, BITS, (-1, 1), (-100, 100)),
    "acosh": (function("acosh"), np.arccosh, None, (1, 2), (1, 100)),
    "atanh": (function("atanh"), np.arctanh, None, (-1, 1), TINY),
    "sigmoid": (function("sigmoid"), sigmoid, None, BITS, (-1, 1), (-80, 80)),
    "silu": (activation("silu"), lambda x: x * sigmoid(x), lambda x: slope_of_gate(x, x, 1),
             (-1, 1), (-1, 10), (-10, -2), (-80, -10), TINY),
    "gelu with a tangent": (
        activation("gelu", approximate="tanh"), lambda x: x * sigmoid(tanh_gate(x)),
        lambda x: slope_of_gate(x, tanh_gate(x), 2 * SCALE * (1 + 3 * CUBIC * x * x)),
        (-0.5, 1), (0, 10), (-5, -1), TINY),
    "mish": (activation("mish"), lambda x: x * mish_parts(x)[0], mish_slope,
             (-1, 1), (-1, 20), (-80, -2), TINY),
    "softplus": (activation("softplus"), lambda x: np.log1p(np.exp(x)), sigmoid,
                 (-1, 1), (-80, 20)),
    "logsigmoid": (activation("logsigmoid"), lambda x: np.minimum(x, 0) - np.log1p(np.exp(-abs(x))),
                   lambda x: sigmoid(-x), (-1, 1), (-80, 80)),
    "elu": (activation("elu"), lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
            lambda x: np.exp(np.minimum(x, 0)), (-1, 1), (-80, 80)),
    "softsign": (activation("softsign"), lambda x: x / (1 + abs(x)), None, BITS, (-1, 1)),
}


PAIRS = {
    "xlogy": (lambda lib, x, y: lib.special.xlogy(x, y), lambda x, y: x * np.log(y),
              ((-10, 10), (0, 2)), ((-10, 10), (0.9, 1.1)), ((0, 1), (0, 1))),
    "xlog1py": (lambda lib, x, y: lib.special.xlog1py(x, y), lambda x, y: x * np.log1p(y),
                ((-10, 10), (-0.9, 2)), ((0, 1), (0, 1)), ((0, 1), TINY)),
    "atan2": (function("atan2"), np.arctan2, (BITS, BITS), ((-1, 1), (-1, 1))),
    "hypot": (function("hypot"), np.hypot, (BITS, BITS), ((-1, 1), (-1, 1))),
    "pow": (function("pow"), np.power, ((0, 30), (-12, 12)), ((0.9, 1.1), (-100, 100))),
    "logaddexp": (function("logaddexp"), lambda x, y: np.logaddexp(x, y),
                  ((0, 1), (0, 1)), ((-100, 100), (-100, 100))),
    "logaddexp2": (function("logaddexp2"), lambda x, y: np.logaddexp2(x, y),
                   ((0, 1), (0, 1)), ((-100, 100), (-100, 100))),
}


def drawn(stream, source, dtype):
    if source is BITS:
        whole = np.uint32 if dtype is np.float32 else np.uint64
        x = stream.integers(0, np.iinfo(whole).max, 2 * COUNT, whole).view(dtype)
        return x[np.isfinite(x)][:COUNT]
    if source[0] == "log":
        return np.exp(stream.uniform(*np.log(source[1:]), COUNT)).astype(dtype)
    return stream.uniform(*source, COUNT).astype(dtype)


def units_off(found, exact):
    """How many units in the last place a result is off at most; of normal numbers alone."""
    info = np.finfo(found.dtype)
    usual = (abs(exact) > info.smallest_normal) & (abs(exact) < info.max)
    found, exact = found[usual], exact[usual]
    apart = abs(found.astype(Wide) - exact) / np.spacing(abs(exact).astype(found.dtype))
    return np.where(np.isnan(found), np.inf, apart).max(initial=0)


def assert_as_exact(call, exact, slope, given):
    results = []
    for lib in (retrograd, torch):
        x = [lib.from_numpy(numbers.copy()) for numbers in given]
        if slope is not None:
            x[0].requires_grad_()
        y = call(lib, *x)
        results.append([y.detach().numpy()])
        if slope is not None:
            results[-1].append(lib.autograd.grad(y, x[0], lib.ones_like(y))[0].numpy())
    wide = [numbers.astype(Wide) for numbers in given]
    for ours, theirs, of in zip(*results, (exact, slope)):
        with np.errstate(all="ignore"):
            known = of(*wide)
        mine, allowed = units_off(ours, known), max(ALLOWED, ALIKE * units_off(theirs, known))
        assert mine <= allowed, f"{mine:.3f} rather than {allowed:.3f}"


@needs_more_digits
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CASES)
def test_a_function_is_as_exact_as_pytorchs(name, dtype):
    call, exact, slope, *sources = CASES[name]
    stream = np.random.default_rng(0)
    for source in sources:
        assert_as_exact(call, exact, slope, [drawn(stream, source, dtype)])


@needs_more_digits
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PAIRS)
def test_a_function_of_two_is_as_exact_as_pytorchs(name, dtype):
    call, exact, *sources = PAIRS[name]
    stream = np.random.default_rng(0)
    for pair in sources:
        assert_as_exact(call, exact, None, [drawn(stream, source, dtype) for source in pair])


def assert_of_the_same_signs(found, expected):
    zero = (expected == 0) & (found == 0)
    assert np.array_equal(np.signbit(found[zero]), np.signbit(expected[zero]))


def special_numbers(dtype):
    info = np.finfo(dtype)
    tiny = [info.smallest_subnormal, info.smallest_normal / 8, info.smallest_normal]
    sizes = np.array([0.0, *tiny, 0.5, 1.0, 3.0, 80.0, info.max / 2, np.inf], dtype)
    return np.concatenate([sizes, -sizes, [dtype(np.nan)]])


def assert_alike(found, expected):
    digits = 40 * np.finfo(found.dtype).eps
    np.testing.assert_allclose(found, expected, rtol=digits, atol=digits)
    tiny = np.finfo(found.dtype).smallest_normal
    beside = (abs(expected) < tiny) & (expected != 0)
    assert (abs(found[beside] - expected[beside]) <= 4 * np.spacing(tiny)).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CASES)
def test_special_numbers_give_pytorchs(name, dtype):
    call, numbers = CASES[name][0], special_numbers(dtype)
    given = np.resize(numbers, COUNT)
    results = []
    for lib in (retrograd, torch):
        x = lib.from_numpy(given.copy()).requires_grad_()
        y = call(lib, x)
        (slope,) = lib.autograd.grad(y, x, lib.ones_like(y))
        results.append((y.detach().numpy()[:numbers.size], slope.numpy()[:numbers.size - 1]))
    for found, expected in zip(*results):  # about slopes at NaN PyTorch's own loops disagree
        assert_alike(found, expected)
    assert_of_the_same_signs(results[0][0], results[1][0])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PAIRS)
def test_pairs_of_special_numbers_give_pytorchs(name, dtype):
    pairs = np.array(np.meshgrid(*[special_numbers(dtype)] * 2)).reshape(2, -1)
    whole = [np.resize(numbers, COUNT) for numbers in pairs]
    found, expected = (PAIRS[name][0](lib, *map(lib.from_numpy, whole)).numpy()[:pairs.shape[1]]
                       for lib in (retrograd, torch))
    assert_alike(found, expected)
    assert_of_the_same_signs(found, expected)
