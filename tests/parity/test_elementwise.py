"""Elementwise ops beside PyTorch: promotion of every pair of dtypes, in place, at hard values."""

from __future__ import annotations

import itertools
import math
import operator
import warnings

import numpy as np
import pytest
import torch

import retrograd

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128",
]
NUMBERS = (True, 2, 2.5, 1 + 2j)
BINARY = [
    "add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "pow", "maximum", "fmin",
    "eq", "lt", "atan2", "hypot", "logaddexp", "copysign", "xlogy", "bitwise_and",
    "bitwise_left_shift", "logical_and", "float_power", "rsub", "nextafter", "gcd", "isclose",
    "where",
]
OPERATORS = [
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift",
    "rshift", "eq", "ne", "lt", "le", "gt", "ge",
]
IN_PLACE = ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow"]
UNARY = [
    "abs", "sign", "sgn", "square", "reciprocal", "rsqrt", "sqrt", "exp", "exp2", "expm1",
    "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
    "cosh", "tanh", "asinh", "acosh", "atanh", "sinc", "deg2rad", "floor", "ceil", "round",
    "trunc", "frac", "nan_to_num", "erf", "erfc", "erfinv", "lgamma", "digamma", "sigmoid",
    "logit", "angle", "neg", "positive", "signbit", "isnan", "isinf", "isfinite", "isposinf",
    "isreal", "logical_not", "bitwise_not", "relu",
]
TOLERANCE = {"torch.float16": 4e-3, "torch.bfloat16": 2e-2, "torch.float32": 2e-5,
             "torch.complex64": 2e-5}


def has_no_arrays(*dtypes, number=None):
    """Whether the result would be of half precision and complex, which no backend array is."""
    return "float16" in dtypes and ("complex64" in dtypes or "complex128" in dtypes
                                    or isinstance(number, complex))


def made(lib, dtype, zero_dim=False):
    return lib.tensor(2.0 if zero_dim else [3.0, 1.0, 2.0]).to(getattr(lib, dtype))


def outcome(lib, call):
    """The result as plain data, or the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            out = call(lib)
        except (RuntimeError, TypeError, NotImplementedError) as error:
            return f"{type(error).__name__}: {error}"
        return str(out.dtype), tuple(out.shape), np.array(out.to(lib.complex128).tolist())


def differs(call):
    expected, found = outcome(torch, call), outcome(retrograd, call)
    if isinstance(expected, str) or isinstance(found, str):
        return None if expected == found else (expected, found)
    same = expected[:2] == found[:2] and np.allclose(
        expected[2], found[2], rtol=TOLERANCE.get(expected[0], 1e-9), atol=1e-6, equal_nan=True)
    return None if same else (expected, found)


def assert_no_difference(calls):
    differences = {label: d for label, call in calls if (d := differs(call)) is not None}
    assert not differences


@pytest.mark.parametrize("name", BINARY)
def test_promotion_of_tensors(name):
    def calls():
        for first, second in itertools.product(DTYPES, DTYPES):
            for zero_dims in ((False, False), (False, True), (True, False)):
                if has_no_arrays(first, second):
                    continue

                def call(lib, first=first, second=second, zero_dims=zero_dims):
                    operands = made(lib, first, zero_dims[0]), made(lib, second, zero_dims[1])
                    if name == "where":
                        return lib.where(lib.tensor([True, False, True]), *operands)
                    return getattr(lib, name)(*operands)

                yield (first, second, zero_dims), call

    assert_no_difference(calls())


@pytest.mark.parametrize("name", OPERATORS)
def test_promotion_of_numbers(name):
    apply = getattr(operator, name)

    def calls():
        for dtype, number in itertools.product(DTYPES, NUMBERS):
            if has_no_arrays(dtype, number=number):
                continue
            yield (dtype, number), lambda lib, d=dtype, n=number: apply(made(lib, d), n)
            yield (number, dtype), lambda lib, d=dtype, n=number: apply(n, made(lib, d))

    assert_no_difference(calls())


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_keeps_the_dtype_or_refuses(name):
    apply = getattr(operator, name)
    # Which of two reasons to refuse comes first is PyTorch's own business.
    floating = [d for d in DTYPES if d not in ("bool",)]

    def calls():
        for first, second in itertools.product(floating, floating):
            if not has_no_arrays(first, second) and not (
                    name in ("ifloordiv", "imod") and "complex" in second):
                yield (first, second), lambda lib, a=first, b=second: apply(
                    made(lib, a), made(lib, b))

    assert_no_difference(calls())


@pytest.mark.parametrize("name", UNARY)
def test_every_dtype(name):
    assert_no_difference(
        (dtype, lambda lib, d=dtype: getattr(lib, name)(made(lib, d))) for dtype in DTYPES)


HARD = [-math.inf, -1e30, -20.5, -3.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 3.0, 6.0, 20.5, 1e30,
        math.inf, math.nan]
# Where PyTorch itself is inexact, or gives a NaN that mathematics does not.
INEXACT = {"digamma", "logit"}


def value_and_slope(lib, call, dtype, values=HARD):
    x = lib.tensor(values, dtype=lib.float64).to(getattr(lib, dtype)).requires_grad_()
    y = call(lib, x)
    if not y.requires_grad:
        return [y.numpy()]
    (slope,) = lib.autograd.grad(y, x, lib.ones_like(y), allow_unused=True)
    return [y.detach().numpy(), slope.numpy(force=True)]


@pytest.mark.parametrize("dtype", ("float64", "float32"))
@pytest.mark.parametrize("name", [n for n in UNARY if n not in INEXACT and n != "bitwise_not"])
def test_hard_values(name, dtype):
    def call(lib, x):
        return getattr(lib, name)(x)

    pairs = zip(value_and_slope(torch, call, dtype), value_and_slope(retrograd, call, dtype),
                strict=True)
    for expected, found in pairs:
        np.testing.assert_allclose(found, expected, rtol=3e-5 if dtype == "float32" else 1e-9,
                                   atol=1e-9)


BOUNDED = {
    "clamp": lambda lib, x: lib.clamp(x, -1, 1), "clamp min": lambda lib, x: lib.clamp(x, min=0.5),
    "clamp max": lambda lib, x: x.clamp_max(1.0), "pow 0": lambda lib, x: x ** 0,
    "pow 2": lambda lib, x: x ** 2, "pow -1": lambda lib, x: x ** -1,
    "pow 3": lambda lib, x: x ** 3, "pow of 0": lambda lib, x: 0 ** x,
    "pow of 2": lambda lib, x: 2 ** x, "remainder": lambda lib, x: x % 2.0,
    "fmod": lambda lib, x: lib.fmod(x, -3.0), "reversed": lambda lib, x: 1 - x,
    "inverse": lambda lib, x: 2 / x,
    **{name: lambda lib, x, n=name: getattr(lib.nn.functional, n)(x) for name in [
        "relu6", "leaky_relu", "elu", "selu", "celu", "silu", "mish", "softplus", "softsign",
        "hardtanh", "hardsigmoid", "hardswish", "tanhshrink", "softshrink", "hardshrink",
        "logsigmoid"
    ]},
}


@pytest.mark.parametrize("name", BOUNDED)
def test_hard_values_of_functions_with_options(name):
    # PyTorch's vectorised loops and their tails disagree about the slopes at NaN.
    numbers = [value for value in HARD if not math.isnan(value)]
    pairs = zip(value_and_slope(torch, BOUNDED[name], "float64", numbers),
                value_and_slope(retrograd, BOUNDED[name], "float64", numbers), strict=True)
    for expected, found in pairs:
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


RANDOM = {
    "dropout": lambda lib, x: lib.nn.functional.dropout(x, 0.3),
    "dropout of all": lambda lib, x: lib.nn.functional.dropout(x, 1.0),
    "dropout in place": lambda lib, x: lib.nn.functional.dropout(x * 1, 0.3, inplace=True),
    "dropout2d": lambda lib, x: lib.nn.functional.dropout2d(x.reshape(1, 3, 4, 5), 0.4),
    "feature_dropout": lambda lib, x: lib.feature_dropout(x, 0.3, True),
    "alpha_dropout": lambda lib, x: lib.nn.functional.alpha_dropout(x, 0.3, True),
    "feature_alpha_dropout": lambda lib, x: lib.nn.functional.feature_alpha_dropout(x, 0.3, True),
    "rrelu": lambda lib, x: lib.nn.functional.rrelu(x - 2, training=True),
    "gumbel_softmax": lambda lib, x: lib.nn.functional.gumbel_softmax(x, tau=0.7),
    "hard gumbel_softmax": lambda lib, x: lib.nn.functional.gumbel_softmax(x, hard=True),
}


@pytest.mark.parametrize("name", RANDOM)
def test_the_same_seed_draws_the_same(name):
    found = []
    for lib in (torch, retrograd):
        lib.manual_seed(7)
        x = lib.ones(3, 4, 5, requires_grad=True)
        y = RANDOM[name](lib, x)
        (y * lib.arange(5.0)).sum().backward()
        found.append((y.detach().numpy(), x.grad.numpy(), lib.rand(2).numpy()))
    for expected, got in zip(*found, strict=True):
        np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-6)
