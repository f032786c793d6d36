"""Native kernels: each against the body that it stands over, and the crew of threads behind them.

A kernel is called directly, whatever its condition says, on arrays of every size; the function that
chooses is called on arrays in every arrangement.
"""

from __future__ import annotations

import inspect
import math
import os
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import retrograd as torch
from retrograd.backend.numpy import (
    attention,
    expressions,
    fourier,
    matrices,
    native,
    norm,
    polynomials,
    pool,
    systems,
    threads,
)
from retrograd.backend.plain.conv import output_space
from retrograd.backend.plain.pointwise import add_multiple
from retrograd.backend.plain.pool import pool_space
from retrograd.codegen import general_path

HERE = Path(torch.__file__).parent / "backend" / "numpy"
for path in HERE.glob("[a-z]*.py"):
    import_module(f"retrograd.backend.numpy.{path.stem}")

needs_kernels = pytest.mark.skipif(native.package is None, reason="there are no native kernels")
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.float16), BFLOAT16]
DIGITS = {FLOATS[0]: 4e-6, FLOATS[1]: 1e-13, FLOATS[2]: 2e-3, BFLOAT16: 1.6e-2}
SIZES = st.one_of(st.integers(0, 70), st.sampled_from([127, 128, 129, 1000, 4096, 4097, 9001]))


@pytest.fixture(autouse=True)
def _threads_as_before() -> Iterator[None]:
    before = threads.count()
    yield
    threads.limit(before)


# ---------------------------------------------------------------- arrays


class Arrays:
    """Makes arrays as kernels meet them: anywhere in memory, with odd values."""

    def __init__(self, draw: Callable[[Any], Any]):
        self.draw = draw
        self.random = np.random.default_rng(draw(st.integers(0, 10_000)))
        self.dtype = draw(st.sampled_from(FLOATS))
        self.wild = draw(st.sampled_from([0.0, 0.0, 0.02]))

    def size(self) -> int:
        return self.draw(SIZES)

    def shape(self, most: int = 20_000) -> tuple[int, ...]:
        """One to three dimensions, of any size or none."""
        shape = [self.size()]
        for _ in range(self.draw(st.integers(0, 2))):
            n = self.draw(st.integers(0, 9)) if np.prod(shape) * 70 > most else self.draw(
                st.integers(0, 70))
            shape.insert(self.draw(st.integers(0, len(shape))), n)
        return tuple(shape)

    def floats(self, *shape: int, dtype: Any = None, scale: float = 2.0, wild: bool = True) -> Any:
        """Numbers that begin anywhere in their memory, a few of them not finite."""
        dtype = dtype or self.dtype
        values = self.random.standard_normal(shape) * scale
        if self.wild and wild:
            odd = self.random.random(shape) < self.wild
            values = np.where(odd, self.random.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-42],
                                                      shape), values)
        return self.placed(values, dtype)

    def placed(self, values: Any, dtype: Any) -> Any:
        start = self.draw(st.integers(0, 3))
        whole = np.empty(values.size + start, dtype)
        with np.errstate(all="ignore"):
            whole[start:] = values.reshape(-1)
        return whole[start:].reshape(values.shape)

    def arranged(self, x: Any, repeated: bool = True) -> Any:
        """The same elements in another arrangement of memory, or some of them ``repeated``."""
        how = self.draw(st.sampled_from(["rows", "columns", "gaps", "reversed", "expanded", "odd"]))
        if how == "columns":
            return x.T.copy().T
        if how == "gaps":
            return np.stack([x, x], -1)[..., 0]
        if how == "reversed":
            return x[::-1].copy()[::-1]
        if how == "expanded" and repeated and x.ndim and x.shape[0]:
            return np.broadcast_to(x[:1], x.shape)
        if how == "odd":  # not aligned
            raw = np.empty(x.nbytes + 1, np.uint8)[1:].view(np.uint8)
            odd = np.frombuffer(raw.data, x.dtype, x.size) if x.dtype.kind != "V" else None
            if odd is not None:
                odd = odd.reshape(x.shape)
                odd[...] = x
                return odd
        return x


ILL_POSED = {"matrices.reflections"}
"""Bodies that find little but rounding in equal rows."""
WRITING = {"index._add", "index.scatter_into", "copies.overwrite"}
"""Bodies that write to their first argument, which may lie anywhere in memory."""
FILLING = {"norm._add_rows_at", "index._add_rows"}
"""Bodies that write to new memory."""
STEPPING = {"recurrent.lstm_steps", "recurrent.lstm_gradients", "recurrent.gru_steps",
            "recurrent.gru_gradients", "fused.sgd_step", "fused.momentum_step",
            "fused.adam_step", "norm.blend", "whole_steps.factored_step",
            "whole_steps.unfactored_step"}
"""Bodies that write to several arguments, which lie in order."""

LENIENCE = {"whole_steps.towards_orthogonal": 4000, "attention.attention_gradients": 2}
"""Of what is rounded to bfloat16 on the way: another order of sums may round to its neighbour.

And of differences of sums: what attends to one key has a gradient of zero, and rounding's rest.
"""

Case = Callable[[Arrays], tuple[Any, ...]]
CASES: dict[str, Case] = {}


def case(*names: str) -> Callable[[Case], Case]:
    """The decorated function makes arguments for the kernels over these bodies."""
    def declare(function: Case) -> Case:
        for name in names:
            assert name not in CASES, f"{name} has its case already"
            CASES[name] = function
        return function
    return declare


@case("softmax.softmax", "softmax.log_softmax")
def _(arrays: Arrays) -> tuple[Any, ...]:
    shape = arrays.shape()
    return arrays.floats(*shape), arrays.draw(st.integers(0, len(shape) - 1))


@case("sorting._rows_order")
def _(arrays: Arrays) -> tuple[Any, ...]:
    # Equal elements stand as the C++ library leaves them, so there are none.
    shape = arrays.shape()
    distinct = arrays.random.permutation(int(np.prod(shape))).reshape(shape)
    dtype = arrays.draw(st.sampled_from([np.dtype(np.float64), np.dtype(np.int64)]))
    return arrays.placed(distinct, dtype), arrays.draw(st.booleans())


@case("sorting.in_order")
def _(arrays: Arrays) -> tuple[Any, ...]:
    shape, dtype = arrays.shape(), arrays.draw(st.sampled_from(FLOATS[:2]))
    given = arrays.random.choice([1.0, -2.0, 0.0, -0.0, np.inf, -np.inf, np.nan, 0.5], shape)
    return (arrays.placed(given, dtype), len(shape) - 1, arrays.draw(st.booleans()),
            arrays.draw(st.booleans()))


@case("softmax.softmax_gradient", "softmax.log_softmax_gradient")
def _(arrays: Arrays) -> tuple[Any, ...]:
    shape = arrays.shape()
    axis = arrays.draw(st.integers(0, len(shape) - 1))
    return arrays.floats(*shape), arrays.floats(*shape), axis


def classes(arrays: Arrays) -> tuple[int, Any]:
    """How many there are, and one for each row."""
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    count = arrays.draw(st.sampled_from([1, 2, 10, 65, 300]))
    rows = min(arrays.size(), 20_000 // count)
    return count, arrays.placed(arrays.random.integers(0, count, rows), np.int64)


def counting(arrays: Arrays) -> tuple[int, int]:
    """The reduction, and the class that does not count."""
    return arrays.draw(st.integers(0, 2)), arrays.draw(st.sampled_from([-100, 0, 1]))


@case("loss.negative_likelihood")
def _(arrays: Arrays) -> tuple[Any, ...]:
    count, target = classes(arrays)
    return arrays.floats(len(target), count), target, None, *counting(arrays)


@case("loss.spread_likelihood")
def _(arrays: Arrays) -> tuple[Any, ...]:
    count, target = classes(arrays)
    reduction, ignored = counting(arrays)
    g = arrays.floats(*() if reduction else target.shape)
    return g, (len(target), count), target, None, reduction, ignored


@case("loss.smooth_error")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    shape = arrays.draw(st.sampled_from([arrays.shape(), (70_001,)]))
    shapes_of_error = arrays.draw(st.sampled_from([(1.0, 1.0, 1.0), (0.3, 1 / 0.3, 1.0),
                                                   (2.0, 1.0, 2.0), (np.inf, 1.0, np.inf)]))
    return (arrays.floats(*shape), arrays.floats(*shape), *shapes_of_error,
            arrays.draw(st.sampled_from([1, 2])))


@case("loss.smooth_gradient")
def _(arrays: Arrays) -> tuple[Any, ...]:
    x, target, _, bend, steepest, _ = CASES["loss.smooth_error"](arrays)
    g = arrays.floats(*x.shape) if arrays.draw(st.booleans()) else arrays.dtype.type(0.3)
    return g, x, target, bend, steepest


@case("pointwise.leaky_gradient")
def _(arrays: Arrays) -> tuple[Any, ...]:
    shape = arrays.shape()
    return (arrays.floats(*shape), arrays.floats(*shape),
            arrays.draw(st.sampled_from([0.25, 0.0, 2.0, -0.5])))


@case("matrices.product")
def _(arrays: Arrays) -> tuple[Any, ...]:
    lead = arrays.draw(st.sampled_from([(2, 3), (), (1,), (5,), (0, 2)]))
    rows, columns = (arrays.draw(st.sampled_from([129, 64, 31, 8, 3, 1, 0])) for _ in range(2))
    depth = arrays.draw(st.sampled_from([300, 32, 7, 1, 0]))  # the first ones are tried first
    return arrays.floats(*lead, rows, depth, wild=False), arrays.floats(*lead, depth, columns,
                                                                         wild=False)


def matrix_sizes(arrays: Arrays) -> list[int]:
    """Rows, depth and columns of a product: some in whole panels and strips, some not.

    The first ones of each are tried first, and are large enough for kernels.
    """
    return [arrays.draw(st.sampled_from(sizes)) for sizes in (
        [129, 0, 1, 5, 12, 31, 300], [300, 0, 1, 7, 32, 700], [64, 0, 1, 16, 33, 129, 500])]


def turned(arrays: Arrays, rows: int, columns: int) -> Any:
    """A matrix by rows or by columns."""
    if arrays.draw(st.booleans()):
        return arrays.floats(rows, columns, wild=False)
    return arrays.floats(columns, rows, wild=False).T


@case("matrices.dot")
def _(arrays: Arrays) -> tuple[Any, ...]:
    rows, depth, columns = matrix_sizes(arrays)
    return turned(arrays, rows, depth), turned(arrays, depth, columns)


@case("matrices.affine")
def _(arrays: Arrays) -> tuple[Any, ...]:
    rows, depth, columns = matrix_sizes(arrays)
    return turned(arrays, rows, depth), turned(arrays, columns, depth), arrays.floats(columns)


def square(arrays: Arrays, *lead: int, most: int = 24) -> Any:
    """Matrices that are far from singular, of single or double precision."""
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    size = arrays.draw(st.integers(1, most))
    found = arrays.floats(*lead, size, size, wild=False, scale=0.5 / size)
    found += np.eye(size, dtype=found.dtype)
    return found


LEADS = st.sampled_from([(), (1,), (5,), (2, 3), (70,)])


@case("systems.solve_triangular")
def _(arrays: Arrays) -> tuple[Any, ...]:
    lead = arrays.draw(LEADS)
    a = square(arrays, *lead, most=70)
    columns = arrays.draw(st.sampled_from([1, 2, 8, 33, 64, 100]))
    b = arrays.floats(*lead[arrays.draw(st.integers(0, len(lead))):], a.shape[-1], columns,
                      wild=False)
    return a, b, arrays.draw(st.booleans()), arrays.draw(st.booleans())


@case("systems.lu_factor")
def _(arrays: Arrays) -> tuple[Any, ...]:
    lead = arrays.draw(LEADS)
    a = square(arrays, *lead, most=24 if lead else 120)
    return (a[..., :arrays.draw(st.integers(1, a.shape[-1]))].copy(),)


@case("systems.row_order")
def _(arrays: Arrays) -> tuple[Any, ...]:
    rows, lead = arrays.draw(st.integers(1, 30)), arrays.draw(LEADS)
    steps = arrays.draw(st.integers(0, rows))
    return arrays.random.integers(np.arange(steps), rows, (*lead, steps)).astype("i") + 1, rows


@case("systems.lu_solve")
def _(arrays: Arrays) -> tuple[Any, ...]:
    lead = arrays.draw(LEADS)
    packed, pivots, _ = systems.lu_factor(square(arrays, *lead, most=40))
    columns = arrays.draw(st.sampled_from([1, 2, 9, 33, 100]))
    b = arrays.floats(*lead[arrays.draw(st.integers(0, len(lead))):], packed.shape[-1], columns,
                      wild=False)
    return packed, pivots, b, arrays.draw(st.booleans())


@case("matrices.reflections")
def _(arrays: Arrays) -> tuple[Any, ...]:
    a = square(arrays, *arrays.draw(LEADS))
    few = arrays.draw(st.integers(1, a.shape[-1]))
    return (a[..., :few].copy() if arrays.draw(st.booleans()) else a[..., :few, :].copy(),)


@case("matrices.reflected_identity")
def _(arrays: Arrays) -> tuple[Any, ...]:
    a = square(arrays, *arrays.draw(LEADS))
    packed, tau = matrices.reflections(a[..., :arrays.draw(st.integers(1, a.shape[-1]))])
    return packed, tau, arrays.draw(st.integers(tau.shape[-1], a.shape[-1]))


@case("systems.reflected")
def _(arrays: Arrays) -> tuple[Any, ...]:
    lead = arrays.draw(LEADS)
    a = square(arrays, *lead)
    packed, tau = matrices.reflections(a[..., :arrays.draw(st.integers(1, a.shape[-1]))])
    vectors = np.tril(packed, -1) + np.eye(*packed.shape[-2:], dtype=packed.dtype)
    c = arrays.floats(*lead[arrays.draw(st.integers(0, len(lead))):], a.shape[-1],
                      arrays.draw(st.integers(1, 40)), wild=False)
    return vectors, tau, c, arrays.draw(st.booleans())


@case("matrices.cross")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    shape = list(arrays.shape(3000))
    axis = arrays.draw(st.integers(0, len(shape)))
    shape.insert(axis, 3)
    a, b = arrays.floats(*shape, wild=False), arrays.floats(*shape, wild=False)
    return a, b, axis - arrays.draw(st.sampled_from([0, len(shape)]))


@case("systems._volume", "systems._sign_and_size")
def _(arrays: Arrays) -> tuple[Any, ...]:
    packed, pivots, _ = systems.lu_factor(square(arrays, *arrays.draw(LEADS), most=24))
    return np.ascontiguousarray(packed), pivots


@case("systems._inverted", "systems.cofactors")
def _(arrays: Arrays) -> tuple[Any, ...]:
    a = square(arrays, *arrays.draw(LEADS), most=16)
    packed, pivots, _ = systems.lu_factor(a)
    return a, np.ascontiguousarray(packed), pivots


@case("systems.ldl_factor")
def _(arrays: Arrays) -> tuple[Any, ...]:
    a = square(arrays, *arrays.draw(LEADS), most=48)
    a = a + a.swapaxes(-1, -2)
    if arrays.draw(st.booleans()):  # blocks of two rows
        a = a * (1 - np.eye(a.shape[-1], dtype=a.dtype))
    return a, False


@case("systems._cholesky_factors")
def _(arrays: Arrays) -> tuple[Any, ...]:
    return square(arrays, *arrays.draw(LEADS), most=48), arrays.draw(st.booleans())


def heads(arrays: Arrays) -> tuple[Any, ...]:
    """Queries, keys, values, a mask or none, whether it is causal, and the scale."""
    lead = arrays.draw(st.sampled_from([(), (3,), (2, 2)]))
    queries, keys = (arrays.draw(st.sampled_from([1, 2, 9, 33, 64, 130, 300])) for _ in range(2))
    width, depth = (arrays.draw(st.sampled_from([1, 7, 16, 32, 40])) for _ in range(2))
    kind = arrays.draw(st.sampled_from(["none", "causal", "bool", "float"]))
    mask = None if kind in ("none", "causal") else arrays.floats(queries, keys, wild=False)
    if kind == "bool":
        mask = np.less(mask, 1.5)
    return (*[arrays.floats(*lead, *shape, wild=False) for shape in (
        (queries, width), (keys, width), (keys, depth))], mask, kind == "causal", 0.3)


@case("attention.attention")
def _(arrays: Arrays) -> tuple[Any, ...]:
    return heads(arrays)


@case("attention.attention_gradients")
def _(arrays: Arrays) -> tuple[Any, ...]:
    query, key, value, *rest = heads(arrays)
    output, sums = attention.attention(query, key, value, *rest)
    return arrays.floats(*output.shape, wild=False), query, key, value, output, sums, *rest


@case("matrices.triangle")
def _(arrays: Arrays) -> tuple[Any, ...]:
    shape = (*arrays.shape(), arrays.draw(st.integers(0, 70)))
    return arrays.floats(*shape), arrays.draw(st.integers(-80, 80)), arrays.draw(st.booleans())


def lengths(arrays: Arrays, most: int = 3000) -> int:
    """A length without prime factors above 61, even or odd, short or long."""
    found = 1
    for factor in arrays.draw(st.lists(
            st.sampled_from([2, 2, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 37, 61]), max_size=7)):
        found *= factor if found * factor <= most else 1
    return found


def any_length(arrays: Arrays) -> int:
    """The same, or one with other factors."""
    return arrays.draw(st.one_of(st.just(0), st.sampled_from([67, 134, 201, 499, 998, 1018, 2038])
                                 )) or lengths(arrays)


def signals(arrays: Arrays, last: int) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """A shape that ends with ``last``, dims to be transformed with that one, and a scaling."""
    lead = arrays.draw(st.lists(st.just(0), max_size=2))
    most = max(1, 20_000 // last)
    shape = (*[lengths(arrays, min(most, 90) if len(lead) == 1 else int(most ** 0.5))
               for _ in lead], last)
    others = [dim for dim in range(len(lead)) if arrays.draw(st.booleans())]
    return shape, (*others, len(lead)), arrays.draw(st.sampled_from([0, 1, 2]))


def spectrum(arrays: Arrays, *shape: int) -> Any:
    real, imaginary = (arrays.floats(*shape, dtype=np.dtype(float), wild=False) for _ in range(2))
    return arrays.placed(real + 1j * imaginary,
                         np.dtype(arrays.draw(st.sampled_from(["complex64", "complex128"]))))


@case("fourier.complex_to_complex")
def _(arrays: Arrays) -> tuple[Any, ...]:
    shape, dims, normalization = signals(arrays, any_length(arrays))
    if arrays.draw(st.booleans()) and len(dims) > 1:
        dims = dims[:-1]
    return spectrum(arrays, *shape), dims, normalization, arrays.draw(st.booleans())


@case("primes.convolved")
def _(arrays: Arrays) -> tuple[Any, ...]:
    length = arrays.draw(st.sampled_from([101, 109, 211, 1009]))
    rows = arrays.draw(st.sampled_from([0, 1, 2, 5, 17]))
    return spectrum(arrays, rows, length), arrays.draw(st.booleans()), fourier.complex_to_complex


def pairs(arrays: Arrays) -> float:
    """What those frequencies of half a spectrum that stand for two are scaled by."""
    return float(arrays.draw(st.sampled_from([1.0, 0.5, 2.0])))


@case("fourier.real_to_complex")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    shape, dims, normalization = signals(arrays, any_length(arrays))
    return arrays.floats(*shape, wild=False), dims, normalization, True, pairs(arrays)


@case("fourier._whole_spectrum")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    shape, dims, normalization = signals(arrays, any_length(arrays))
    return arrays.floats(*shape, wild=False), dims, normalization


@case("fourier.complex_to_real")
def _(arrays: Arrays) -> tuple[Any, ...]:
    length = any_length(arrays)
    shape, dims, normalization = signals(arrays, length)
    return (spectrum(arrays, *shape[:-1], length // 2 + 1), dims, normalization, length,
            pairs(arrays))


@case("smooth.gelu", "smooth.tanh_gelu", "smooth.silu", "smooth.mish", "pointwise.rectified")
def _(arrays: Arrays) -> tuple[Any, ...]:
    return (arrays.floats(*arrays.shape(), scale=4),)


@case("pointwise.erf", "pointwise.erfc", "pointwise.erfinv", "pointwise.ndtr", "pointwise.log_ndtr",
      "pointwise.logit", "pointwise.trigamma", "pointwise.entr")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    return (arrays.floats(*arrays.shape(), scale=arrays.draw(st.sampled_from([0.3, 4.0, 20.0]))),)


@case("pointwise.logit_gradient")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    shape = arrays.shape()
    x = arrays.floats(*shape, scale=0.7)
    return arrays.floats(*shape), np.where(abs(x * (1 - x)) < 1e-3, arrays.dtype.type(0), x)


@case("pointwise.digamma")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    scale = arrays.draw(st.sampled_from([0.3, 4.0, 20.0, 1e5]))
    return (abs(arrays.floats(*arrays.shape(), scale=scale)),)  # near poles the body is less exact


@case("pointwise.log_ndtr_gradient")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    shape = arrays.shape()  # far from zero the body loses digits
    return arrays.floats(*shape, wild=False), np.sin(arrays.floats(*shape, wild=False)) \
        * arrays.dtype.type(3)


@case("pointwise.erfinv_gradient")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    shape = arrays.shape()  # near 1 a slope multiplies what the body rounds
    return arrays.floats(*shape, wild=False), np.sin(arrays.floats(*shape, wild=False)) \
        * arrays.dtype.type(0.99)


@case("polynomials.chebyshev_polynomial_t", "polynomials.chebyshev_polynomial_u",
      "polynomials.chebyshev_polynomial_v", "polynomials.chebyshev_polynomial_w",
      "polynomials.hermite_polynomial_h", "polynomials.hermite_polynomial_he",
      "polynomials.laguerre_polynomial_l", "polynomials.legendre_polynomial_p")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    x = arrays.floats(*arrays.shape(), wild=False)
    return x, arrays.dtype.type(arrays.draw(st.integers(0, 6)))


@case("pointwise.erfcx")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    return (arrays.floats(*arrays.shape(), scale=arrays.draw(st.sampled_from([0.3, 1.0]))),)


@case("pointwise.log_gamma", "pointwise.ndtri")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    scale = arrays.draw(st.sampled_from([0.3, 4.0, 20.0, 1e5]))
    return (arrays.floats(*arrays.shape(), scale=scale),)


@case("pointwise.i0", "pointwise.i0e", "pointwise.i1", "pointwise.i1e",
      "pointwise.bessel_j0", "pointwise.bessel_j1", "pointwise.bessel_y0", "pointwise.bessel_y1",
      "pointwise.modified_bessel_k0", "pointwise.modified_bessel_k1",
      "pointwise.scaled_modified_bessel_k0", "pointwise.scaled_modified_bessel_k1",
      "pointwise.airy_ai", "pointwise.sine_ratio", "pointwise.sinc")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    scale = arrays.draw(st.sampled_from([0.3, 4.0, 20.0, 1e5]))
    return (arrays.floats(*arrays.shape(), scale=scale),)


def positive_pairs(arrays: Arrays) -> tuple[Any, Any]:
    """Two arrays of one shape, or one of them a number or a row of it; few are negative."""
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    shape, scale = arrays.shape(), arrays.draw(st.sampled_from([0.3, 2.0, 20.0]))
    found = [abs(arrays.floats(*shape, scale=scale)) for _ in range(2)]
    which = arrays.draw(st.integers(0, 1))
    cut = arrays.draw(st.sampled_from([None, "row", "number"]))
    if cut == "row" and all(shape):
        found[which] = found[which][:1]
    elif cut == "number" and all(shape):
        found[which] = np.asarray(found[which].reshape(-1)[0])
    return found[0], found[1]


@case("pointwise.xlogy", "pointwise.xlog1py")
def _(arrays: Arrays) -> tuple[Any, ...]:
    x, y = positive_pairs(arrays)
    return arrays.draw(st.sampled_from([1, -1])) * x, y


@case("pointwise.log_add_exp")
def _(arrays: Arrays) -> tuple[Any, ...]:
    return *CASES["pointwise.xlogy"](arrays), arrays.draw(st.booleans())


@case("pointwise.gammainc", "pointwise.gammaincc")
def _(arrays: Arrays) -> tuple[Any, ...]:
    return positive_pairs(arrays)


@case("pointwise.zeta")
def _(arrays: Arrays) -> tuple[Any, ...]:
    s, q = positive_pairs(arrays)
    return 1 + s, np.where(q < 0.01, q.dtype.type(1), q)  # so small ones are infinite in float32


@case("pointwise.slope_of_trigamma")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    x = arrays.floats(*arrays.shape(), scale=20)
    with np.errstate(invalid="ignore"):
        near = abs(x - np.rint(x)) < 0.05  # to a pole
    return np.where(near, x.dtype.type(0.5), x), arrays.draw(st.integers(2, 5))


@case("smooth.gelu_gradient", "smooth.tanh_gelu_gradient", "smooth.silu_gradient",
      "smooth.mish_gradient")
def _(arrays: Arrays) -> tuple[Any, ...]:
    shape = arrays.shape()  # a slope may be 0 or nearly so, which an infinite gradient would tell
    return arrays.floats(*shape, wild=False), arrays.floats(*shape, scale=4)


def rows_with_parameters(arrays: Arrays) -> tuple[Any, int, list[Any]]:
    """An array, how many of its last dimensions are a row, and two parameters or none."""
    shape = arrays.shape()
    rank = arrays.draw(st.integers(1, len(shape)))
    parameters = [arrays.floats(*shape[len(shape) - rank:]) if arrays.draw(st.booleans()) else None
                  for _ in range(2)]
    return arrays.floats(*shape), rank, parameters


@case("norm.layer_norm", "norm.layer_normed")
def _(arrays: Arrays) -> tuple[Any, ...]:
    x, rank, (weight, bias) = rows_with_parameters(arrays)
    return x, rank, 1e-2, weight, bias


def moments(arrays: Arrays, x: Any, rank: int) -> tuple[Any, Any]:
    if arrays.draw(st.booleans()):
        return None, None
    return norm.layer_norm(x, rank, 1e-2, None, None)[1:]


@case("norm.layer_input_gradient", "norm.layer_gradients")
def _(arrays: Arrays) -> tuple[Any, ...]:
    x, rank, (weight, _) = rows_with_parameters(arrays)
    return arrays.floats(*x.shape), x, weight, *moments(arrays, x, rank), rank, 1e-2


@case("norm.layer_weight_gradient")
def _(arrays: Arrays) -> tuple[Any, ...]:
    x, rank, _ = rows_with_parameters(arrays)
    return arrays.floats(*x.shape), x, *moments(arrays, x, rank), rank, 1e-2


class Convolution:
    """The shapes of one convolution over one to three dimensions, and its settings.

    Few channels and kernels are computed in another way than many.
    """

    def __init__(self, arrays: Arrays):
        def number(low: int, high: int) -> int:
            return arrays.draw(st.integers(low, high))

        rank = number(1, 3)
        self.groups = number(1, 3)
        per_group, kernels = number(1, 5), self.groups * number(1, 9)
        if arrays.draw(st.booleans()):  # whole panels and strips, and what is left over
            per_group = arrays.draw(st.sampled_from([12, 16, 17, 33, 50]))
            kernels = self.groups * arrays.draw(st.sampled_from([4, 16, 24, 25, 43]))
        each = [(number(1, 4), number(1, 3), number(0, 3), number(1, 3)) for _ in range(rank)]
        kernel, self.stride, self.padding, self.dilation = zip(*each)
        space = [max(d * (k - 1) + 1 - 2 * p, 1) + number(0, (40, 15, 5)[rank - 1])
                 for k, s, p, d in each]
        if arrays.draw(st.booleans()):  # rows of results that are whole vectors
            space = [number(10, (60, 60, 15)[rank - 1]) for _ in each]
            k, s, p, d = each[-1]
            space[-1] = (16 * number(1, 2) - 1) * s + d * (k - 1) + 1 - 2 * p
        self.x = (number(1, 3), self.groups * per_group, *space)
        self.weight = (kernels, per_group, *kernel)
        self.y = (self.x[0], kernels, *output_space(tuple(space), kernel, self.stride,
                                                    self.padding, self.dilation))
        self.settings = (self.stride, self.padding, self.dilation, self.groups)


@case("conv.convolve")
def _(arrays: Arrays) -> tuple[Any, ...]:
    own = Convolution(arrays)
    bias = arrays.floats(own.y[1]) if arrays.draw(st.booleans()) else None
    return arrays.floats(*own.x), arrays.floats(*own.weight), bias, *own.settings


@case("conv.convolve_input_gradient")
def _(arrays: Arrays) -> tuple[Any, ...]:
    own = Convolution(arrays)
    # What padding times an infinite weight is depends on how much is padded.
    return (arrays.floats(*own.y), arrays.floats(*own.weight, wild=False), own.x, *own.settings)


@case("conv.convolve_weight_gradient")
def _(arrays: Arrays) -> tuple[Any, ...]:
    own = Convolution(arrays)
    return arrays.floats(*own.y), arrays.floats(*own.x), own.weight, *own.settings


class Pooling:
    """Planes and the windows over them."""

    def __init__(self, arrays: Arrays, dilated: bool = True):
        def number(low: int, high: int) -> int:
            return arrays.draw(st.integers(low, high))

        rank = number(1, 2)
        each = []
        for _ in range(rank):
            kernel = number(1, 4)
            each.append((kernel, number(1, 3), number(0, kernel // 2),
                         number(1, 3) if dilated else 1))
        self.kernel, self.stride, self.padding, self.dilation = zip(*each)
        self.space = tuple([d * (k - 1) + 1 + number(0, 30) for k, s, p, d in each])
        self.out = pool_space(self.space, self.kernel, self.stride, self.padding, self.dilation,
                              arrays.draw(st.booleans()))
        self.planes = (number(1, 3), number(1, 4))

    def max_settings(self) -> tuple[Any, ...]:
        return self.kernel, self.stride, self.padding, self.dilation, self.out


@case("pool.max_pool", "pool.max_pool_with_places")
def _(arrays: Arrays) -> tuple[Any, ...]:
    own = Pooling(arrays)
    return arrays.floats(*own.planes, *own.space), *own.max_settings()


@case("pool.scatter_places")
def _(arrays: Arrays) -> tuple[Any, ...]:
    own = Pooling(arrays)
    x = arrays.floats(*own.planes, *own.space)
    places = pool.max_pool_with_places(x, *own.max_settings())[1]
    return arrays.floats(*places.shape), places, own.space, *own.max_settings(), False


def averaging(arrays: Arrays) -> tuple[Any, ...]:
    return arrays.draw(st.booleans()), arrays.draw(st.sampled_from([None, 3]))


@case("pool.average_pool")
def _(arrays: Arrays) -> tuple[Any, ...]:
    own = Pooling(arrays, dilated=False)
    return (arrays.floats(*own.planes, *own.space), own.kernel, own.stride, own.padding, own.out,
            *averaging(arrays))


@case("pool.average_pool_gradient")
def _(arrays: Arrays) -> tuple[Any, ...]:
    own = Pooling(arrays, dilated=False)
    return (arrays.floats(*own.planes, *own.out), own.space, own.kernel, own.stride, own.padding,
            *averaging(arrays))


@case("reduce.running_extreme")
def _(arrays: Arrays) -> tuple[Any, ...]:
    shape = arrays.shape()
    x = arrays.floats(*shape)
    if arrays.draw(st.booleans()):  # numbers that are met again
        x = arrays.placed(np.round(x.astype(np.float32)), arrays.dtype)
    return x, arrays.draw(st.integers(0, len(shape) - 1)), arrays.draw(st.booleans())


def eighths(arrays: Arrays) -> Any:
    """Numbers whose sums are exact in single precision."""
    x = arrays.floats(*arrays.shape(), dtype=np.float32, scale=1.0)
    return arrays.placed(np.round(x * 8) / 8, arrays.dtype)


@case("reduce.running_sums")
def _(arrays: Arrays) -> tuple[Any, ...]:
    x = eighths(arrays)
    return x, arrays.draw(st.integers(0, x.ndim - 1)), arrays.draw(st.sampled_from([None, x.dtype]))


@case("reduce.reversed_sums")
def _(arrays: Arrays) -> tuple[Any, ...]:
    x = eighths(arrays)
    return x, arrays.draw(st.integers(0, x.ndim - 1))


@case("reduce.running_products")
def _(arrays: Arrays) -> tuple[Any, ...]:
    shape = arrays.shape()
    x = arrays.random.choice([1.0, -1.0, 1.0, 0.5, 2.0], shape)
    return arrays.placed(x, arrays.dtype), arrays.draw(st.integers(0, len(shape) - 1)), None


@case("sorting.largest_indices")
def _(arrays: Arrays) -> tuple[Any, ...]:
    *lead, n = arrays.shape()
    dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    # No two are equal, of which any may be chosen.
    order = arrays.random.permuted(np.tile(np.arange(n), (*lead, 1)), axis=-1)
    return (arrays.placed(order, dtype), arrays.draw(st.integers(0, min(n, 80))), len(lead),
            arrays.draw(st.booleans()), True)


@case("pointwise.chosen")
def _(arrays: Arrays) -> tuple[Any, ...]:
    shape, dtype = arrays.shape(), arrays.draw(st.sampled_from(FLOATS[:2]))
    mask = arrays.placed(arrays.random.random(shape) < 0.5, bool)
    array, number = arrays.floats(*shape, dtype=dtype), arrays.floats(dtype=dtype)
    return mask, *arrays.draw(st.sampled_from([
        (array, array[::-1].copy()), (array, number), (number[()], array), (array, 2),
        (-0.0, array), (number[()], -number[()]), (number[()], 2), (3, number[()])]))


@case("copies.copy_in_rows")
def _(arrays: Arrays) -> tuple[Any, ...]:
    return (arrays.floats(*arrays.shape(60_000)),)


@case("copies.overwrite")
def _(arrays: Arrays) -> tuple[Any, ...]:
    rows = arrays.shape(40_000)
    wide = [900] if math.prod(rows) < 4_000 else []  # rather than gigabytes
    shape = (*rows, arrays.draw(st.sampled_from([1, 16, 17, *wide])))
    return arrays.floats(*shape), arrays.floats(*shape)


@case("create.converted")
def _(arrays: Arrays) -> tuple[Any, ...]:
    pairs = [(np.dtype(a), np.dtype(b)) for a, b in (("f4", "f8"), ("f8", "f4"), ("f4", "f2"),
             ("f2", "f4"), ("?", "f4"), ("?", "f8"), ("i8", "f4"), ("i8", "f8"))]
    source, target = arrays.draw(st.sampled_from([*pairs, (FLOATS[0], BFLOAT16),
                                                  (BFLOAT16, FLOATS[0])]))
    x = arrays.floats(*arrays.shape(), dtype=np.dtype(np.float64), wild=source.kind in "fV")
    if source.kind == "i":
        x = np.round(x * 1e17)
    return arrays.placed(x, source), target


@case("reduce.product")
def _(arrays: Arrays) -> tuple[Any, ...]:
    shape = arrays.shape()
    x = arrays.random.choice([1.0, -1.0, 1.0, 0.5, 2.0], shape)
    if arrays.draw(st.booleans()):
        shape, x = (70_000,), np.where(np.arange(70_000) % 7_000, 1.0, 3.0)
    axis = arrays.draw(st.integers(0, len(shape) - 1))
    return arrays.placed(x, arrays.dtype), axis, arrays.draw(st.booleans()), None


@case("reduce.variance", "reduce.standard_deviation")
def _(arrays: Arrays) -> tuple[Any, ...]:
    x, dim, keepdims, _ = CASES["reduce.total"](arrays)
    return x, dim, keepdims, arrays.draw(st.sampled_from([0, 1, 2.5]))


@case("reduce.sum_of_numbers")
def _(arrays: Arrays) -> tuple[Any, ...]:
    x, dim, keepdims, dtype = CASES["reduce.total"](arrays)
    return x, dim, keepdims, dtype


@case("distance.lengths", "distance.sizes")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))  # halves are widened before
    x, *rest, _ = CASES["reduce.total"](arrays)
    # Sums of whole numbers are exact: NumPy's of others lose digits down long columns.
    return arrays.placed(arrays.random.integers(-3, 4, x.shape), x.dtype), *rest


@case("reduce.exclusive_products")
def _(arrays: Arrays) -> tuple[Any, ...]:
    x, axis, _ = CASES["reduce.running_products"](arrays)
    return x, axis, arrays.draw(st.booleans())


@case("reduce.recurrence")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))  # halves are rounded at each step
    shape = arrays.shape()
    factor = np.clip(arrays.floats(*shape, scale=0.4, wild=False), -0.9, 0.9)
    return (factor, arrays.floats(*shape, wild=False), arrays.draw(st.integers(0, len(shape) - 1)),
            arrays.draw(st.booleans()))


def points(arrays: Arrays) -> tuple[Any, Any]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    lead = arrays.draw(st.sampled_from([(), (1,), (3,), (2, 2)]))
    m, n = (arrays.draw(st.sampled_from([0, 1, 3, 4, 17, 40])) for _ in range(2))
    dims = arrays.draw(st.sampled_from([1, 2, 5, 33]))
    x, z = (arrays.floats(*lead, count, dims, wild=False) for count in (m, n))
    z[..., :1, :] = x[..., :1, :] if m else z[..., :1, :]  # two that are the same
    return x, z


@case("distance.pairwise")
def _(arrays: Arrays) -> tuple[Any, ...]:
    return *points(arrays), arrays.draw(st.sampled_from([1.0, 2.0]))


@case("distance.pairwise_gradient")
def _(arrays: Arrays) -> tuple[Any, ...]:
    x, z = points(arrays)
    apart = x[..., :, None, :] - z[..., None, :, :]
    y = arrays.placed(np.sqrt((apart * apart).sum(-1)), arrays.dtype)
    return arrays.floats(*y.shape, wild=False), x, z, y


@case("copies.copy_in_order")
def _(arrays: Arrays) -> tuple[Any, ...]:
    shape = arrays.shape(60_000)
    order = arrays.draw(st.permutations(range(len(shape))))
    return arrays.floats(*shape), tuple(order)


@case("made_of_words.polar_normals")
def _(arrays: Arrays) -> tuple[Any, ...]:
    count = arrays.draw(st.integers(0, 40))
    words = indices(arrays, 0, 2**32, 4 * count)
    return words, (count, 2), arrays.draw(st.sampled_from(FLOATS[:2]))


@case("made_of_words.mask")
def _(arrays: Arrays) -> tuple[Any, ...]:
    shape = arrays.shape(70_000)
    width = arrays.draw(st.sampled_from([1, 2]))  # words for each element
    words = indices(arrays, 0, 2**(63 // width), width * int(np.prod(shape)))
    value = arrays.dtype.type(arrays.draw(st.sampled_from([1.0, 2.0, 1.1])))
    return words, shape, arrays.dtype, arrays.draw(st.integers(0, 2**53)), value


def indices(arrays: Arrays, low: int, high: int, *shape: int) -> Any:
    return arrays.placed(arrays.random.integers(low, high, shape), np.dtype(np.int64))


def slices(arrays: Arrays) -> tuple[Any, Any, int]:
    """An array, an index, and the dimension of which it names positions."""
    shape = (arrays.draw(st.integers(1, 40)), *arrays.shape()[:2])
    dim = arrays.draw(st.integers(0, len(shape) - 1))
    shape = tuple(max(n, 1) if i == dim else n for i, n in enumerate(shape))
    index = indices(arrays, -shape[dim], shape[dim], arrays.draw(st.integers(0, 300)))
    return arrays.floats(*shape), index, dim


@case("index.side_by_side")
def _(arrays: Arrays) -> tuple[Any, ...]:
    shape = arrays.shape()
    return [arrays.floats(*shape) for _ in range(arrays.draw(st.integers(1, 5)))], 0


@case("index.slices_at")
def _(arrays: Arrays) -> tuple[Any, ...]:
    array, index, dim = slices(arrays)
    return array, index.reshape(-1, 2) if index.size % 2 == 0 else index, dim


@case("index.selected")
def _(arrays: Arrays) -> tuple[Any, ...]:
    array, index, dim = slices(arrays)
    return array, dim, indices(arrays, 0, array.shape[dim], index.size)


@case("norm.look_up")
def _(arrays: Arrays) -> tuple[Any, ...]:
    rows, width = (arrays.draw(st.integers(low, 70)) for low in (1, 0))
    shape = arrays.draw(st.lists(st.integers(0, 30), min_size=1, max_size=2))
    return arrays.floats(rows, width), indices(arrays, 0, rows, *shape)


@case("norm.add_rows")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    count, width, times = (arrays.draw(st.integers(1, n)) for n in (50, 70, 400))
    shape = (2, times) if arrays.draw(st.booleans()) else (times,)
    return (arrays.floats(*shape, width, wild=False), indices(arrays, 0, count, *shape), count,
            arrays.draw(st.integers(-1, count)), False)


@case("index._add")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    array, index, dim = slices(arrays)
    values = arrays.floats(*array.shape[:dim], index.size, *array.shape[dim + 1:])
    return array, values, index, (dim,)


@case("index._add_rows")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    count, width, times = (arrays.draw(st.integers(1, n)) for n in (50, 70, 400))
    return (arrays.floats(count, width), arrays.floats(times, width),
            indices(arrays, -count, count, times))


@case("norm._add_rows_at")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    count, width, times = (arrays.draw(st.integers(1, n)) for n in (50, 70, 400))
    index = indices(arrays, 0, count, times)
    return (np.zeros((count, width), arrays.dtype), index, arrays.floats(times, width, wild=False),
            np.bincount(index))


def elements(arrays: Arrays) -> tuple[Any, Any, int]:
    """An array, a dimension and an index with one number for each element of a window."""
    shape = tuple(max(n, 1) for n in arrays.shape(5000))
    dim = arrays.draw(st.integers(0, len(shape) - 1))
    window = [arrays.draw(st.integers(0, n + 3 if d == dim else n)) for d, n in enumerate(shape)]
    return arrays.floats(*shape), dim, indices(arrays, 0, shape[dim], *window)


@case("index.gathered")
def _(arrays: Arrays) -> tuple[Any, ...]:
    return elements(arrays)


@case("index.scatter_into")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    array, dim, index = elements(arrays)
    return array, dim, index, arrays.floats(*index.shape), "add"


class Channels:
    """Samples of some channels, how these share statistics, and parameters or none."""

    def __init__(self, arrays: Arrays):
        groups, together = (arrays.draw(st.integers(1, 3)) for _ in range(2))
        self.shape = (arrays.draw(st.integers(1, 4)), groups * together,
                      *arrays.draw(st.lists(st.integers(1, 40), min_size=1, max_size=2)))
        self.groups = arrays.draw(st.sampled_from([None, groups]))
        self.x = arrays.floats(*self.shape, wild=False)
        self.weight, self.bias = (arrays.floats(self.shape[1], wild=False)
                                  if arrays.draw(st.booleans()) else None for _ in range(2))
        self.moments = norm.channel_norm(self.x, None, None, self.groups, 1e-2)[1:3]


@case("norm.channel_norm", "norm.channel_normed")
def _(arrays: Arrays) -> tuple[Any, ...]:
    own = Channels(arrays)
    return own.x, own.weight, own.bias, own.groups, 1e-2


@case("norm.blend")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    channels = arrays.draw(st.integers(0, 40))
    found = [arrays.floats(channels * arrays.draw(st.integers(1, 3)), 1)] * 2
    return arrays.floats(channels), arrays.floats(channels), *found, 12, 0.1


@case("norm.channel_input_gradient", "norm.channel_gradients")
def _(arrays: Arrays) -> tuple[Any, ...]:
    own = Channels(arrays)
    g = arrays.floats(*own.shape, wild=False)
    moments = own.moments if arrays.draw(st.booleans()) else (None, None)
    return g, own.x, own.weight, *moments, own.groups, 1e-2


@case("norm.channel_weight_gradient")
def _(arrays: Arrays) -> tuple[Any, ...]:
    own = Channels(arrays)
    return arrays.floats(*own.shape, wild=False), own.x, *own.moments, own.groups, 1e-2


@case("norm.channel_sums")
def _(arrays: Arrays) -> tuple[Any, ...]:
    return (Channels(arrays).x,)


@case("norm._shifted_channels")
def _(arrays: Arrays) -> tuple[Any, ...]:
    x = Channels(arrays).x
    wide = np.dtype(np.float32) if x.dtype.itemsize == 2 else x.dtype
    return x, *(arrays.floats(x.shape[1], dtype=wide) for _ in range(2))


@case("reduce.total")
def _(arrays: Arrays) -> tuple[Any, ...]:
    shape = (*arrays.shape(), arrays.draw(st.integers(0, 5)))
    if arrays.draw(st.booleans()):
        shape = (arrays.draw(st.sampled_from([1, 2, 40_000])), arrays.draw(st.integers(1, 5)))
    first = arrays.draw(st.integers(0, len(shape) - 1))
    last = arrays.draw(st.integers(first + 1, len(shape) - (first == 0)))
    # Of one sign, so that no digits are lost.
    return (np.abs(arrays.floats(*shape)), tuple(range(first, last)), arrays.draw(st.booleans()),
            None)


@case("rows.total")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    return (abs(arrays.floats(arrays.draw(st.sampled_from([0, 1, 70, 5000, 70_000])), wild=False)),)


@case("reduce._sum_many")
def _(arrays: Arrays) -> tuple[Any, ...]:
    shape = arrays.shape() if arrays.draw(st.booleans()) else (70_000,)
    return (np.abs(arrays.floats(*shape)),)


@case("pointwise.zeroed", "pointwise.kept")
def _(arrays: Arrays) -> tuple[Any, ...]:
    x = arrays.floats(*arrays.shape())
    return x, arrays.placed(arrays.random.random(x.shape) < 0.5, np.dtype(bool))


@case("whole_steps.towards_orthogonal")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = np.dtype("float32")
    sizes = sorted(arrays.draw(st.sampled_from([0, 1, 7, 12, 40, 130])) for _ in range(2))
    found = arrays.floats(arrays.draw(st.integers(0, 3)), *sizes, wild=False)
    found /= np.maximum(1, np.sqrt(np.square(found).sum((-2, -1), keepdims=True)))
    return found.astype("bfloat16").astype("f"), arrays.draw(st.integers(0, 3)), 3.4, -4.8, 2.0


class Steps:
    """Steps of a layer with so many gates: some samples begin later, or end earlier."""

    def __init__(self, arrays: Arrays, gates: int):
        arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
        sizes = arrays.draw(st.lists(st.integers(0, 20), min_size=1, max_size=5))
        self.arrays, self.units = arrays, arrays.draw(st.integers(1, 40))
        self.samples, self.count = max(sizes), sum(sizes)
        ends = np.cumsum(sizes)
        self.spans = np.stack([ends - sizes, ends], 1)
        self.weight = arrays.floats(gates * self.units, self.units, wild=False, scale=0.3)
        self.arrived = arrays.draw(st.sampled_from([None, self.rows()]))

    def rows(self, blocks: int = 1) -> Any:
        return self.arrays.floats(self.count, blocks * self.units, wild=False)

    def state(self) -> Any:
        return self.arrays.floats(self.samples, self.units, wild=False)


@case("recurrent.lstm_steps")
def _(arrays: Arrays) -> tuple[Any, ...]:
    own = Steps(arrays, 4)
    return (own.weight, own.spans, own.rows(4), own.state(), own.state(), own.rows(), own.rows(),
            own.rows())


@case("recurrent.lstm_gradients")
def _(arrays: Arrays) -> tuple[Any, ...]:
    own = Steps(arrays, 4)
    return (own.weight, own.spans, np.tanh(own.rows(4)), own.rows(), own.arrived, own.state(),
            own.state(), own.rows(4))


@case("recurrent.gru_steps")
def _(arrays: Arrays) -> tuple[Any, ...]:
    own = Steps(arrays, 3)
    bias = arrays.draw(st.sampled_from([None, arrays.floats(3 * own.units, wild=False)]))
    return own.weight, bias, own.spans, own.rows(3), own.state(), own.rows(), own.rows(), own.rows()


@case("recurrent.gru_gradients")
def _(arrays: Arrays) -> tuple[Any, ...]:
    own = Steps(arrays, 3)
    return (own.weight, own.spans, np.tanh(own.rows(3)), own.rows(), own.rows(), own.arrived,
            own.state(), own.rows(3), own.rows(3))


def moving(arrays: Arrays, states: int) -> tuple[Any, ...]:
    """A parameter, its gradient and so much state."""
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    size = arrays.size()
    return tuple(arrays.floats(size) for _ in range(2 + states))


@case("fused.sgd_step")
def _(arrays: Arrays) -> tuple[Any, ...]:
    flags = arrays.draw(st.sampled_from([0, 0.1])), arrays.draw(st.booleans())
    return *moving(arrays, 0), 0.3, *flags


@case("fused.momentum_step")
def _(arrays: Arrays) -> tuple[Any, ...]:
    numbers = [arrays.draw(st.sampled_from(pair)) for pair in ((1, 0.7), (0, 0.1))]
    flags = [arrays.draw(st.booleans()) for _ in range(2)]
    return *moving(arrays, 1), 0.3, 0.9, *numbers, *flags


@case("fused.adam_step")
def _(arrays: Arrays) -> tuple[Any, ...]:
    param, grad, first, second, largest = moving(arrays, 3)
    numbers = [arrays.draw(st.sampled_from(pair)) for pair in ((0, 0.1), (1, 0.99))]
    flags = [arrays.draw(st.booleans()) for _ in range(2)]
    return (param, grad, first, abs(second), abs(largest), 0.9, 0.99, 1e-8, -0.01, *numbers,
            *flags)


@case("whole_steps.factored_step")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    lead = arrays.draw(st.sampled_from([(), (2,), (3, 2)]))
    rows, columns = [arrays.draw(st.sampled_from([1, 2, 7, 65, 130])) for _ in range(2)]
    param, grad = [arrays.floats(*lead, rows, columns) for _ in range(2)]
    return (param, grad, abs(arrays.floats(*lead, rows, 1)), abs(arrays.floats(*lead, 1, columns)),
            *sizes_of_steps(arrays))


@case("whole_steps.unfactored_step")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    param, grad, variance = arrays.floats(3, 1 + arrays.size())
    return param, grad, abs(variance), *sizes_of_steps(arrays)


def sizes_of_steps(arrays: Arrays) -> tuple[float, ...]:
    """The weight of new squares, the rate, and what variances, sizes and directions may be."""
    return (arrays.draw(st.sampled_from([0.2, 0.7, 1.0])), 0.1, 1e-3, 1e-3,
            arrays.draw(st.sampled_from([1.0, 1.5])), arrays.draw(st.sampled_from([1, 0.9])))


@needs_kernels
@pytest.mark.parametrize("name", ["fused.sgd_step", "fused.momentum_step", "fused.adam_step"])
@settings(max_examples=10, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_a_step_has_the_bits_of_its_body(name: str, data: Any) -> None:
    args = CASES[name](Arrays(data.draw))
    theirs = copies(args, False)
    with np.errstate(all="ignore"):
        native.OVER[name].call(*args)
        native.OVER[name].body(*theirs)
    for mine, other in zip(args, theirs):
        assert np.array_equal(mine, other, equal_nan=isinstance(mine, np.ndarray))


# ---------------------------------------------------------------- against the bodies


def assert_close(found: Any, expected: Any, lenience: float = 1) -> None:
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            assert_close(one, other, lenience)
        return
    if not isinstance(expected, np.ndarray | np.generic):
        assert found == expected
        return
    assert found.shape == expected.shape
    if found.dtype.kind == "c":
        found, expected = (x.astype(found.dtype).reshape(-1).view(found.real.dtype)
                           for x in (found, expected))
    if found.dtype not in DIGITS:
        assert np.array_equal(found, expected)
        return
    digits = DIGITS[found.dtype]
    expected = expected.astype(found.dtype)
    found, expected = found.astype(np.float64), expected.astype(np.float64)
    usual = np.isfinite(expected)
    assert np.array_equal(found[~usual], expected[~usual], equal_nan=True)
    scale = max(1.0, np.abs(expected[usual]).max(initial=0))
    assert np.abs(found[usual] - expected[usual]).max(initial=0) <= digits * scale * lenience


def dtypes_of(result: Any) -> Any:
    return [dtypes_of(r) for r in result] if isinstance(result, tuple) else getattr(
        result, "dtype", type(result))


def copies(args: tuple[Any, ...], widened: bool) -> tuple[Any, ...]:
    return tuple(a if not isinstance(a, np.ndarray) else a.astype(np.float32)
                 if widened and a.dtype.itemsize == 2 and a.dtype in DIGITS else a.copy()
                 for a in args)


def compare(function: Callable[..., Any], body: Callable[..., Any], args: tuple[Any, ...],
            lenience: float = 1) -> None:
    """Both give the same, and leave the same in their arguments.

    Kernels of half precision compute in float32 throughout, and are compared with that.
    """
    same, theirs = copies(args, False), copies(args, True)
    with np.errstate(all="ignore"):
        kinds = dtypes_of(body(*same))
        found, expected = function(*args), body(*theirs)
        assert dtypes_of(found) == kinds
        assert_close(found, expected, lenience)
        for mine, other in zip(args, theirs):
            if isinstance(mine, np.ndarray):
                assert_close(mine, other, lenience)


examples = settings(max_examples=int(os.environ.get("RETROGRAD_NATIVE_EXAMPLES", "16")),
                    deadline=None, derandomize=True, database=None,
                    suppress_health_check=list(HealthCheck))


@needs_kernels
@pytest.mark.parametrize("name", native.OVER)
@examples
@given(data=st.data())
def test_a_kernel_gives_what_the_body_gives(name: str, data: Any) -> None:
    assert name in CASES, f"{name} has a native kernel and no case: give it one"
    threads.limit(data.draw(st.sampled_from([1, 2, 3])))
    compare(native.OVER[name].call, native.OVER[name].body, CASES[name](Arrays(data.draw)),
            LENIENCE.get(name, 1))


@needs_kernels
@examples
@given(data=st.data())
def test_a_list_may_hold_arrays_in_any_arrangement(data: Any) -> None:
    arrays = Arrays(data.draw)
    parts, axis = CASES["index.side_by_side"](arrays)
    parts = [arrays.arranged(part) for part in parts]
    compare(native.OVER["index.side_by_side"].function, native.OVER["index.side_by_side"].body,
            (parts, axis))
    for other in (parts[0][:1], np.zeros((1, *parts[0].shape))):
        if other.shape != parts[0].shape:
            with pytest.raises(ValueError):
                native.OVER["index.side_by_side"].function([*parts, other], axis)


@needs_kernels
@pytest.mark.parametrize("name", native.OVER)
@examples
@given(data=st.data())
def test_a_kernel_is_chosen_only_for_what_it_can_do(name: str, data: Any) -> None:
    arrays = Arrays(data.draw)
    args = tuple(arrays.arranged(a, name not in ILL_POSED)
                 if isinstance(a, np.ndarray) and a.ndim else a for a in CASES[name](arrays))
    if name in FILLING or (name in WRITING and not args[0].flags.writeable):
        args = (args[0].copy(), *args[1:])
    if name in STEPPING:
        args = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)
    # Some bodies round to half precision at each step.
    compare(native.OVER[name].function, native.OVER[name].body, args, max(8, LENIENCE.get(name, 8)))


@needs_kernels
@pytest.mark.parametrize("name", native.OVER)
def test_a_kernel_is_chosen_where_it_can_do_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For some of its own cases, at least: the body gives the same, and is slower."""
    function, asked, taken = native.OVER[name].function, [], []
    monkeypatch.setitem(function.__globals__, "_body", lambda *args, **options: asked.append(0))

    def choose(data: Any) -> None:
        args = CASES[name](Arrays(data.draw))
        asked.clear()
        with np.errstate(all="ignore"):
            function(*args)
        taken.append(not asked)

    for count in (16, 200):  # few kernels need more than the first
        if not any(taken):
            settings(examples, max_examples=count)(given(data=st.data())(choose))()
    assert any(taken)


class Own(np.ndarray):
    """A class of arrays of somebody's own."""


SPREAD = {
    "layer_norm": lambda x: torch.nn.functional.layer_norm(x, x.shape[-1:]),
    "group_norm": lambda x: torch.nn.functional.group_norm(x, 2),
    "softmax": lambda x: torch.nn.functional.softmax(x, -1),
    "gelu": torch.nn.functional.gelu,
    "conv2d": lambda x: torch.nn.functional.conv2d(x, x.detach()[:3, :, :3, :3] * 1),
    "max_pool2d": lambda x: torch.nn.functional.max_pool2d(x, 2)}


@needs_kernels
@pytest.mark.parametrize("name", SPREAD)
def test_a_gradient_that_a_sum_has_spread_takes_the_kernels(
        name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.randn(4, 6, 30, 32, requires_grad=True)
    y = SPREAD[name](x)
    g = torch.ones(()).expand(y.shape)
    wanted, = torch.autograd.grad(y, x, g.contiguous(), retain_graph=True)
    bodies = []
    for label, over in native.OVER.items():
        if native.GRADIENTS & {*inspect.signature(over.body).parameters}:
            monkeypatch.setitem(over.function.__globals__, "_body",
                                lambda *args, label=label: bodies.append(label))
    found, = torch.autograd.grad(y, x, g, retain_graph=True)
    assert not bodies and torch.equal(found, wanted)


@needs_kernels
def test_convolutions_of_what_lies_in_another_order_take_the_kernels(
        monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.randn(4, 20, 20, 6).permute(0, 3, 1, 2).requires_grad_()
    weight = torch.randn(3, 3, 6, 8).permute(3, 2, 0, 1).requires_grad_()
    convolve = torch.nn.functional.conv2d
    inputs = [t.detach().contiguous().requires_grad_() for t in (x, weight)]
    wanted = torch.autograd.grad(convolve(*inputs).square().sum(), inputs)
    bodies = []
    for label, over in native.OVER.items():
        if label.startswith("conv."):
            monkeypatch.setitem(over.function.__globals__, "_body",
                                lambda *args, label=label: bodies.append(label))
    found = torch.autograd.grad(convolve(x, weight).square().sum(), (x, weight))
    assert not bodies and all(map(torch.equal, found, wanted))


@needs_kernels
@pytest.mark.parametrize("name", ["ready", "in_order", "strided", "indexed"])
@settings(examples, max_examples=60)
@given(data=st.data())
def test_kernels_say_what_they_can_read(name: str, data: Any) -> None:
    """As the functions of the same name do, of numbers too, and of what is no plain array."""
    arrays = Arrays(data.draw)

    def some() -> Any:
        dtype = data.draw(st.sampled_from([*FLOATS, *map(np.dtype, ("i8", "i4", "F", ">f4", "?"))]))
        shape = arrays.draw(st.sampled_from([(3, 4), (5,), (1, 1), (), (0, 2)]))
        array = arrays.random.integers(0, 2, shape).astype(dtype)
        array = arrays.arranged(array, repeated=False) if shape else array
        kind = arrays.draw(st.sampled_from(["array", "array", "subclass", "number"]))
        if kind == "number" and array.size:
            return array[(0,) * array.ndim]
        return array.view(Own) if kind == "subclass" else array

    given = [some() for _ in range(2 if name == "indexed" else arrays.draw(st.integers(1, 3)))]
    if name in ("ready", "in_order") and arrays.draw(st.booleans()):
        given.append(None)
    assert native.HELPERS[name](*given) == bool(getattr(native, name)(*given))


@needs_kernels
def test_what_kernels_are_asked_of_no_array() -> None:
    for name in ("ready", "in_order", "strided"):
        with pytest.raises(AttributeError):
            native.HELPERS[name](3)
    with pytest.raises(TypeError):
        native.HELPERS["ready"]()
    with pytest.raises(TypeError):
        native.HELPERS["indexed"](np.ones(3))


def test_every_case_is_for_a_kernel() -> None:
    assert native.package is None or set(CASES) == set(native.OVER)


@needs_kernels
def test_every_declared_kernel_is_in_the_distribution() -> None:
    import re

    declared = {match for path in HERE.glob("*.py")
                for match in re.findall(r"native\(\s*\"(\w+)\(", path.read_text())}
    assert declared and declared <= set(native.kernels)


@needs_kernels
def test_kernels_refuse_what_does_not_fit() -> None:
    softmax, x = native.kernels["softmax"], np.ones((4, 5), np.float32)
    for given_, error in [((x,), "3 arguments are needed, not 1"),
                          ((x, np.empty_like(x), 2), "no such dimension"),
                          ((x, np.empty_like(x), -1), "no such dimension"),
                          ((x, np.empty((4, 4), np.float32), 1), "another shape"),
                          ((x.T, np.empty_like(x), 1), "C-contiguous"),
                          ((x, np.empty((4, 5)), 1), "no kernel for arrays of these dtypes"),
                          ((x.astype(int), np.empty_like(x), 1), "no kernel for arrays of these"),
                          ((x.astype(">f4"), np.empty_like(x), 1), "no kernel for arrays of"),
                          ((x, np.broadcast_to(x, x.shape), 1), "read-only"),
                          ((x, np.empty_like(x), None), "integer"),
                          ((3, np.empty_like(x), 1), "bytes-like")]:
        with pytest.raises((TypeError, ValueError, BufferError), match=error):
            softmax(*given_)


# ---------------------------------------------------------------- copies and orders


@needs_kernels
@examples
@given(data=st.data())
def test_copies_of_any_arrangement_have_the_same_bits(data: Any) -> None:
    kind = data.draw(st.sampled_from(["?", "u1", "i2", "f2", "i4", "f4", "i8", "f8", "c8"]))
    shape = data.draw(st.sampled_from([(3, 5), (64, 64), (17, 33), (1, 40, 70), (130, 9, 31),
                                       (2, 3, 40, 50), (5, 1, 1, 300), (257, 129), (40_000,)]))
    bits = np.random.default_rng(0).integers(0, 2 if kind == "?" else 120, shape)
    x = bits.astype(kind).transpose(data.draw(st.permutations(range(len(shape)))))
    for axis, step in enumerate(data.draw(st.tuples(*[st.sampled_from([1, 1, 1, -1, 2, -3])
                                                      for _ in shape]))):
        x = x[(slice(None),) * axis + (slice(None, None, step),)]
    if data.draw(st.booleans()):
        x = np.broadcast_to(x[:1], x.shape)
    order = tuple(data.draw(st.permutations(range(x.ndim))))
    threads.limit(data.draw(st.sampled_from([1, 2, 3])))
    found = native.OVER["copies.copy_in_order"].call(x, order)
    assert found.dtype == x.dtype and np.array_equal(found, x)
    assert found.transpose(order).flags.c_contiguous and not np.shares_memory(found, x)


@needs_kernels
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", FLOATS[:2])
def test_the_first_few_are_those_of_a_stable_order(dtype: Any, largest: bool) -> None:
    random = np.random.default_rng(0)
    x = random.integers(0, 40, (30, 700)).astype(dtype)
    x[random.random(x.shape) < 0.01] = np.nan
    x[random.random(x.shape) < 0.01] = np.inf
    x[3:5] = np.nan
    keys = np.where(np.isnan(x), np.inf, np.where(np.isinf(x), 1e9, x)) * (-1 if largest else 1)
    for k in (1, 7, 64):
        found = native.OVER["sorting.largest_indices"].call(x, k, 1, largest, True)
        assert np.array_equal(found, np.argsort(keys, 1, kind="stable")[:, :k])


# ---------------------------------------------------------------- special functions


def normal_probability(x: Any, logarithm: bool) -> Any:
    """SciPy's, with what it loses where x over the root of two is rounded."""
    library = pytest.importorskip("scipy.special")
    whole = -x.astype(np.longdouble) / np.sqrt(np.longdouble(2))
    at = whole.astype(np.float64)
    taken = (whole - at) * (2 / np.sqrt(np.pi))
    below = (library.erfc(at) - np.exp(-at.astype(np.longdouble) ** 2) * taken) / 2
    if not logarithm:
        return below
    scaled = (library.erfcx(np.maximum(at, 0)) - taken) / 2
    above = (library.erfc(-at) + np.exp(-at.astype(np.longdouble) ** 2) * taken) / 2
    return np.where(x < -1, np.log(scaled) - x.astype(np.longdouble) ** 2 / 2,
                    np.log1p(-np.minimum(above, 0.9)))


EXACT_VALUES = {
    "erfc": (1.3, [(0.5729102520668293, 0.4178152108811378),
                   (0.5491418639253898, 0.43739251663216877),
                   (5.753365147458456, 4.0691244942843847e-16),
                   (13.205963057485105, 7.754682162519133e-78),
                   (24.257409794524115, 6.573780253008633e-258)]),
    "erfinv": (1, [(0.1243173159368659, 0.1106229479710985),
                   (0.26999884321495127, 0.24403951557980721),
                   (0.8013531455536276, 0.908926569774982),
                   (0.8182330764174903, 0.9442240115422521)]),
    "ndtr": (1.3, [(-0.8762691636872517, 0.19044186227045876),
                   (-0.7285709900330406, 0.23313206464750835),
                   (-36.60563507495498, 1.1633304913756366e-293),
                   (-35.234586545313924, 2.954502275369466e-272)]),
    "log_ndtr": (4, [(11.42882963707683, -1.500633149124302e-30),
                     (11.550610701858234, -3.664886787051783e-31)]),
    "ndtri": (1.3, [(0.1644290415480113, -0.9764165505313702),
                    (0.23290808710199767, -0.7293032671489517),
                    (0.7897696787591797, 0.8056223363456388),
                    (0.8251326139681512, 0.9351038705476714)]),
    "log_gamma": (2, [(-3.1421146706492635, 0.011465825719204306),
                      (-6.999736952961701, -0.2814533544002851),
                      (-2.504675085036986, -0.06129681499146682),
                      (1.4792904125935982, -0.12133622986353464),
                      (1.46087915983999, -0.12148601614421893),
                      (11.047843991871812, 15.217038560154577),
                      (11.300823389659183, 15.816140300114348)]),
    "airy_ai": (5, [(23.724338541082602, 4.4608882089957747e-35),
                    (24.430766128037362, 1.383070088170012e-36),
                    (85.00697185864459, 1.11398282274547e-228),
                    (87.75004641397277, 9.366611020102772e-240)]),
    "i0": (1.2, [(7.2887480595084355, 220.3442504877951), (6.641734215628688, 121.1040876957111),
                 (5.735675195094508, 52.856818844769656), (13.11876630375452, 55421.91278008088)]),
    "i0e": (1.2, [(-3.5010922892632834, 0.22276377857689372),
                  (-7.336067646398067, 0.15002953926202137),
                  (-6.144324051756872, 0.16458889868765486),
                  (-684.4130602786441, 0.015252122982432514)]),
    "i1": (1.2, [(-6.000013229987072, -61.34269103382291),
                 (7.3843410558247555, 223.85427667764762),
                 (16.015959942836822, 878560.3560913003),
                 (-472.1126826382207, -1.9928509203346337e+203)]),
    "i1e": (1.2, [(1.5968763442137508, 0.21902736768567976),
                  (1.5624282281993165, 0.21908457821667887),
                  (-5.683071483159932, -0.1555650527428376)]),
    "bessel_j0": (1.2, [(2.4048255576957756, -1.4443744637988674e-15),
                        (2.404825557695766, 3.627677177273307e-15),
                        (5.520078110286324, 4.5057152230960766e-15)]),
    "bessel_j1": (1.2, [(3.831705970207508, 1.7271129444024065e-15),
                        (7.015586669815629, 2.9603730769583045e-15),
                        (7.015586669815563, -1.6764795698669057e-14)]),
    "bessel_y0": (1.2, [(0.9226143742204904, 0.025126437425298482),
                        (2.7277706483838746, 0.45403818855173034)]),
    "bessel_y1": (1.2, [(2.1709055171275087, -0.013744237459774095),
                        (5.51740581432419, -0.02957901513101511),
                        (5.755863083239343, -0.10595816039377365)]),
    "modified_bessel_k0": (1.2, [(21.82552878669046, 8.860086596739339e-11),
                                 (23.796483147304745, 1.1827334956263685e-11),
                                 (400.27254491169265, 9.132487135941048e-176)]),
    "sine_ratio": (1.2, [(4.61186723108213, -0.21573733413835727),
                         (3.1410392872300075, 0.00017617300547434882),
                         (476.3922784230033, -0.0018982863103857767)])}
"""Units in the last place, and numbers with values of 160 bits, as they are rounded."""


@needs_kernels
@pytest.mark.parametrize("name", EXACT_VALUES)
def test_special_functions_have_their_exact_values(name: str) -> None:
    units, pairs = EXACT_VALUES[name]
    x, exact = np.array(pairs).T
    found = native.OVER[f"pointwise.{name}"].call(x.copy())
    assert (np.abs(found - exact) / np.spacing(np.abs(exact))).max() <= units


@needs_kernels
@pytest.mark.parametrize(("dtype", "units", "pairs"), [
    (np.float64, 2, [(36.5, 2.025341716211746e-290), (29.123456789, 2.641735269589491e-185),
                     (11.75, 4.1784875445426455e-31), (4.3, 3.853552583183501e-05),
                     (0.7, 0.41192475041929066), (-0.96875, 1.5001645781654582),
                     (-1.03125, 1.5502201686534862), (-7.25, 7.383122234872753),
                     (-50.0, 50.019984031905636), (-1e6, 1000000.000001), (-1e200, 1e200)]),
    (np.float32, 0.51, [(12.984375, 9.799172371833697e-38), (0.5, 0.5091604338370335),
                        (10.699999809265137, 5.491909040040429e-26),
                        (6.300000190734863, 9.60142183438108e-10), (-1.5, 1.938677166622543),
                        (-0.699999988079071, 1.2904993303739536),
                        (-9.199999809265137, 9.30626682046006), (-1e6, 1000000.000001)])])
def test_the_slope_of_log_ndtr_keeps_its_digits_at_both_ends(dtype: Any, units: float,
                                                             pairs: Any) -> None:
    x, exact = np.array(pairs).T
    slope = native.OVER["pointwise.log_ndtr_gradient"].call
    found = slope(np.full(x.shape, 2, dtype), x.astype(dtype)).astype(np.float64) / 2
    assert (np.abs(found - exact) / np.spacing(exact.astype(dtype))).max() <= units
    x = np.array([np.inf, -np.inf, np.nan, 41], dtype)
    assert np.array_equal(slope(np.ones_like(x), x), [0, np.inf, np.nan, 0], equal_nan=True)


@needs_kernels
def test_the_slope_of_erfinv_keeps_its_digits_where_it_is_steep() -> None:
    x = np.array([0.9999999999996152, 0.9999999999475863, 0.9999999999998412, -0.6692433198918952,
                  1, -1, 1.5, np.nan])
    exact = [248531882050.2445, 2010593172.292821, 593017649319.5751, 1.4221705578972723]
    found = native.OVER["pointwise.erfinv_gradient"].call(np.ones_like(x), x)
    assert (np.abs(found[:4] - exact) / np.spacing(exact)).max() <= 2
    assert np.array_equal(found[4:], [np.inf, np.inf, np.nan, np.nan], equal_nan=True)


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS[:2])
@pytest.mark.parametrize(("name", "low", "high"), [
    ("erf", -6, 6), ("erfc", -6, 9), ("ndtr", -9, 9), ("trigamma", 1e-3, 40),
    ("trigamma", -9.96, -0.05), ("digamma", 1e-3, 1.4), ("digamma", 1.5, 40),
    ("erfcx", -3, 60), ("erfinv", -0.99999, 0.99999), ("log_ndtr", -40, 4)])
def test_special_functions_are_within_their_units_in_the_last_place(
        name: str, low: float, high: float, dtype: Any) -> None:
    x = np.linspace(low, high, 2003).astype(dtype)
    found = native.OVER[f"pointwise.{name}"].call(x)
    library = pytest.importorskip("scipy.special")
    wide = x.astype(np.float64)
    if name in ("ndtr", "log_ndtr"):
        exact = normal_probability(wide, name == "log_ndtr")
    else:
        exact = library.zeta(2.0, wide) if name == "trigamma" \
            else getattr(library, {"digamma": "psi"}.get(name, name))(wide)
    apart = np.abs(found - exact) / np.spacing(np.abs(exact).astype(dtype))
    # In double precision both have errors, SciPy's the larger ones where results are tiny.
    assert apart.max() < (0.51 if dtype == np.float32 else 100 if low < -5 < 5 < high else 16)


@needs_kernels
@pytest.mark.parametrize(("name", "theirs", "low", "high"), [
    ("log_gamma", "gammaln", -9.96, 12), ("log_gamma", "gammaln", 1e-9, 1e-4),
    ("log_gamma", "gammaln", 10, 1e30), ("logit", "logit", 1e-6, 0.999999), ("i0", "i0", -80, 80),
    ("i1", "i1", -80, 80), ("i0e", "i0e", -300, 300), ("i1e", "i1e", -300, 300),
    ("bessel_j0", "j0", -90, 90), ("modified_bessel_k0", "k0", 1e-9, 80),
    ("modified_bessel_k1", "k1", 1e-9, 80), ("scaled_modified_bessel_k0", "k0e", 1e-9, 300),
    ("scaled_modified_bessel_k1", "k1e", 1e-9, 300), ("ndtri", "ndtri", 1e-30, 1e-3),
    ("ndtri", "ndtri", 0.01, 0.99)])
def test_special_functions_are_exact_in_single_precision(
        name: str, theirs: str, low: float, high: float) -> None:
    x = np.linspace(low, high, 2003).astype(np.float32)
    found = native.OVER[f"pointwise.{name}"].call(x)
    exact = getattr(pytest.importorskip("scipy.special"), theirs)(x.astype(np.float64))
    assert (np.abs(found - exact) / np.spacing(np.abs(exact).astype(np.float32))).max() \
        < (2.5 if name == "logit" else 0.51)  # that one is computed in single precision


@needs_kernels
@pytest.mark.parametrize(("dtype", "most"), [(FLOATS[0], 1e-6), (FLOATS[1], 2e-14)])
def test_the_lower_tail_of_gelu_keeps_its_digits(dtype: Any, most: float) -> None:
    x = np.linspace(-12, -0.7, 20_001).astype(dtype)
    wide = x.astype(np.float64)
    exact = wide * normal_probability(wide, False)
    assert np.allclose(native.OVER["smooth.gelu"].function(x), exact, most, 0)


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS[:2])
@pytest.mark.parametrize("name", ["silu_gradient", "tanh_gelu_gradient"])
def test_slopes_that_are_nearly_one_keep_their_digits(name: str, dtype: Any) -> None:
    x = np.linspace(4, 40, 20_001).astype(dtype)
    wide = x.astype(np.longdouble)
    u = wide if name == "silu_gradient" else \
        2 * np.sqrt(2 / np.longdouble(np.pi)) * (wide + wide ** 3 * np.longdouble("0.044715"))
    slope = 1 if name == "silu_gradient" else \
        2 * np.sqrt(2 / np.longdouble(np.pi)) * (1 + wide ** 2 * 3 * np.longdouble("0.044715"))
    rest = np.exp(-u) / (1 + np.exp(-u))
    exact = (1 - rest) * (1 + wide * slope * rest)
    found = native.OVER[f"smooth.{name}"].function(np.ones_like(x), x)
    assert (np.abs(found - exact) <= 2 * np.finfo(dtype).eps).all()


@needs_kernels
def test_the_slope_of_erfinv_is_exact_up_to_the_ends() -> None:
    library = pytest.importorskip("scipy.special")
    away = np.geomspace(2.0 ** -24, 0.5, 2003)
    x = np.concatenate([np.linspace(-0.99, 0.99, 2003), 1 - away, away - 1,
                        np.geomspace(1e-45, 0.1, 300)]).astype(np.float32)
    slope = native.OVER["pointwise.erfinv_gradient"].function
    exact = np.sqrt(np.pi) / 2 * np.exp(library.erfinv(x.astype(np.float64)) ** 2)
    found = slope(np.full_like(x, -2), x)
    assert (np.abs(found / -2 - exact) / np.spacing(exact.astype(np.float32))).max() < 4
    x[:6] = [1, -1, 1.5, -np.inf, np.inf, np.nan]
    assert np.array_equal(slope(np.full_like(x, -2), x)[:6], [-np.inf] * 2 + [np.nan] * 4,
                          equal_nan=True)


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS[:2])
def test_logit_is_exact_near_its_ends_and_its_middle(dtype: Any) -> None:
    tiny = np.finfo(dtype).smallest_subnormal
    away = np.geomspace(float(np.finfo(dtype).eps) / 2, 0.4, 2003)
    x = np.concatenate([np.geomspace(tiny, 0.3, 2003, dtype=np.longdouble), 1 - away,
                        0.5 + away / 2, 0.5 - away / 2]).astype(dtype)
    wide = x.astype(np.longdouble)
    exact = np.where(abs(wide - 0.5) < 0.2, 2 * np.arctanh(np.clip(2 * wide - 1, -0.9, 0.9)),
                     np.log(wide) - np.log1p(-wide))
    usual = exact != 0
    apart = np.abs(native.OVER["pointwise.logit"].function(x) - exact)[usual]
    assert (apart / np.spacing(np.abs(exact[usual]).astype(dtype))).max() < 5


@needs_kernels
def test_digamma_of_negative_numbers_is_mirrored() -> None:
    library = pytest.importorskip("scipy.special")
    x = np.linspace(-30, 0, 5003)
    x = x[np.abs(x - np.rint(x)) > 1e-3]
    angle = np.pi * (x - np.rint(x))
    expected = library.psi(1 - x) - np.pi * np.cos(angle) / np.sin(angle)
    assert np.allclose(native.OVER["pointwise.digamma"].call(x), expected, 1e-13, 1e-13)


@needs_kernels
def test_airys_function_is_exact_beside_its_size() -> None:
    x = np.concatenate([np.linspace(-60, 20, 8001), -np.geomspace(60, 1e5, 301)]).astype(np.float32)
    found = native.OVER["pointwise.airy_ai"].call(x)
    exact = pytest.importorskip("scipy.special").airy(x.astype(np.float64))[0]
    size = np.where(x < -2, 1 / np.maximum(-x, 1) ** 0.25, np.abs(exact))
    assert (np.abs(found - exact) <= 7e-8 * size).all()


@needs_kernels
@pytest.mark.parametrize(("name", "theirs", "low", "high"), [
    ("i0", "i0", -80, 80), ("i1", "i1", -80, 80), ("i0e", "i0e", -700, 700),
    ("i1e", "i1e", -700, 700), ("modified_bessel_k0", "k0", 1e-9, 80),
    ("modified_bessel_k1", "k1", 1e-9, 80), ("scaled_modified_bessel_k0", "k0e", 1e-9, 700),
    ("scaled_modified_bessel_k1", "k1e", 1e-9, 700)])
def test_growing_bessel_functions_are_exact_in_double_precision(
        name: str, theirs: str, low: float, high: float) -> None:
    x = np.concatenate([np.linspace(low, high, 4003), np.linspace(max(low, -2), 2, 1003)])
    found = native.OVER[f"pointwise.{name}"].call(x)
    exact = getattr(pytest.importorskip("scipy.special"), theirs)(x)
    assert (np.abs(found - exact) <= 16 * np.spacing(np.abs(exact))).all()  # both have errors


@needs_kernels
@pytest.mark.parametrize(("name", "theirs"), [("bessel_j0", "j0"), ("bessel_j1", "j1"),
                                              ("bessel_y0", "y0"), ("bessel_y1", "y1")])
def test_waves_are_exact_in_double_precision(name: str, theirs: str) -> None:
    x = np.concatenate([np.linspace(1e-3, 9, 4001), np.linspace(9, 90, 4001),
                        np.geomspace(90, 1e8, 301)])
    found = native.OVER[f"pointwise.{name}"].call(x)
    exact = getattr(pytest.importorskip("scipy.special"), theirs)(x)
    size = np.maximum(np.abs(exact), 1 / np.sqrt(x))
    assert (np.abs(found - exact) <= 3e-15 * size + np.spacing(x) / np.sqrt(x)).all()  # SciPy's


@needs_kernels
def test_airys_function_is_exact_in_double_precision() -> None:
    x = np.concatenate([np.linspace(-60, 20, 8001), np.linspace(-5, 2, 4001),
                        -np.geomspace(60, 1e5, 301)])
    found = native.OVER["pointwise.airy_ai"].call(x)
    exact = pytest.importorskip("scipy.special").airy(x)[0]
    angle = np.abs(x) ** 1.5  # whose last digits are lost
    size = np.where(x < -1, 1 / np.maximum(-x, 1) ** 0.25, np.abs(exact))
    theirs = np.where((x > 1) & (x < 3), 2e-14, 2e-15)
    assert (np.abs(found - exact) <= (theirs + 4e-16 * angle) * size).all()


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS[:2])
def test_the_ratio_of_the_sine_is_exact(dtype: Any) -> None:
    x = np.concatenate([np.linspace(-30, 30, 4001), np.geomspace(1e-320, 1e300, 4001)])
    limits = np.finfo(dtype)
    x = x[(np.abs(x) > limits.tiny) & (np.abs(x) < 1e15)].astype(dtype)
    wide = x.astype(np.longdouble)
    found, exact = native.OVER["pointwise.sine_ratio"].call(x), np.sin(wide) / wide
    assert (np.abs(found - exact) <= 1.5 * limits.eps * np.minimum(1, 1 / np.abs(wide))).all()
    assert np.array_equal(native.OVER["pointwise.sine_ratio"].call(
        np.array([0, -0.0, np.inf, -np.inf, np.nan], dtype)), [1, 1, 0, 0, np.nan], equal_nan=True)


@needs_kernels
@pytest.mark.parametrize(("name", "theirs"), [("bessel_j1", "j1"), ("bessel_y0", "y0"),
                                              ("bessel_y1", "y1")])
def test_waves_are_exact_beside_their_size(name: str, theirs: str) -> None:
    x = np.concatenate([np.linspace(1e-3, 90, 4001), np.geomspace(90, 1e8, 301)]).astype(np.float32)
    found = native.OVER[f"pointwise.{name}"].call(x)
    exact = getattr(pytest.importorskip("scipy.special"), theirs)(x.astype(np.float64))
    assert (np.abs(found - exact) <= 6e-8 * np.maximum(np.abs(exact), 1 / np.sqrt(x))).all()


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS[:2])
@pytest.mark.parametrize("name", ["erf", "erfc", "erfcx", "erfinv", "ndtr", "log_ndtr", "logit",
                                  "log_gamma", "digamma", "entr", "i0", "i0e", "i1", "i1e",
                                  "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "ndtri",
                                  "modified_bessel_k0", "modified_bessel_k1",
                                  "scaled_modified_bessel_k0", "scaled_modified_bessel_k1",
                                  "sine_ratio", "sinc"])
def test_special_functions_of_special_numbers(name: str, dtype: Any) -> None:
    tiny, huge = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    x = np.array([0, 1, 2, 3, 0.5, 1e-30, tiny, huge, np.inf], dtype)
    x = np.concatenate([x, -x, np.full(300, np.nan, dtype)])
    over = native.OVER[f"pointwise.{name}"]
    with np.errstate(all="ignore"):
        found, expected = over.function(x), over.body(x)
        if name == "log_gamma":  # SciPy has infinities there
            expected = np.where(np.abs(x) == tiny, -np.log(tiny, dtype=dtype), expected)
        if "bessel_k" in name and dtype == np.float64:  # which SciPy divides by two
            at_tiny = 744.5560034370396 if "k0" in name else np.inf
            expected = np.where(x == tiny, at_tiny, expected)
        if name in ("i1", "i1e", "bessel_j1"):  # half of the smallest number is itself or none
            expected = np.where((np.abs(x) == tiny) & (np.abs(found) <= tiny), found, expected)
    assert np.allclose(found, expected, 1e-15 if dtype == np.float64 else 2e-7, 0, equal_nan=True)
    zero = expected == 0
    assert np.array_equal(np.signbit(found[zero]), np.signbit(expected[zero]))


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS[:2])
@pytest.mark.parametrize("dim", [0, 1])
def test_sums_and_variances_keep_their_digits(dim: int, dtype: Any) -> None:
    x = np.random.default_rng(0).uniform(1, 2, (3000, 40) if dim == 0 else (40, 3000)).astype(dtype)
    wide = x.astype(np.longdouble)

    def apart(found: Any, exact: Any) -> Any:
        return (np.abs(found - exact) / np.spacing(exact.astype(dtype))).max()

    # Rows by as many numbers at once as a register holds: one in the worst case.
    assert apart(native.OVER["reduce.total"].call(x, (dim,), False), wide.sum(dim)) < (
        5 if dim else 2.5)
    most = 0.51 if dtype == np.float32 else 6  # the one is computed as the other
    for name, exact in (("variance", wide.var(dim)), ("standard_deviation", wide.std(dim))):
        found, mean = native.OVER[f"reduce.{name}"].call(x, (dim,), False, 0)
        assert apart(found, exact) < most and apart(mean, wide.mean(dim)) < most


@needs_kernels
def test_many_losses_are_added_up_to_all_digits() -> None:
    rows = np.random.default_rng(0).standard_normal((30_000, 3))
    found = native.OVER["loss.negative_likelihood"].call(
        rows, np.arange(30_000) % 3, None, 2, -100)
    exact = -math.fsum(rows[np.arange(30_000), np.arange(30_000) % 3])
    assert abs(found - exact) <= math.ulp(exact)
    rows[7] = -np.inf
    assert native.OVER["loss.negative_likelihood"].call(
        rows, np.arange(30_000) % 3, None, 2, -100) == np.inf


def test_running_sums_of_exponentials_keep_their_digits() -> None:
    x = np.random.default_rng(0).uniform(0, 1, 4000).astype(np.float32)
    found = torch.from_numpy(x).logcumsumexp(0).numpy()
    exact = np.log(np.cumsum(np.exp(x.astype(np.longdouble))))
    assert (np.abs(found - exact) / np.spacing(found)).max() < 0.51


def test_the_deviation_of_halves_is_rounded_once() -> None:
    x = torch.tensor([[300.0], [-300.0]] * 20).half()
    assert x.std(0).tolist() == [303.75] and x.var(0).tolist() == [math.inf]


GAMMAS = [(0.01, 1, 0.001, 1.3), (0.1, 6, 0.1, 6), (1e-9, 1e-3, 1e-3, 3), (5, 99, 5, 99),
          (97, 103, 90, 110), (100, 1e3, 80, 1300), (1e6, 1e6, 997e3, 1003e3), (9, 30, 0.1, 40)]
"""Ranges of both arguments in which other methods meet."""


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS[:2])
@pytest.mark.parametrize("name", ["gammainc", "gammaincc"])
@pytest.mark.parametrize("bounds", GAMMAS)
def test_incomplete_gamma_functions_are_exact(
        bounds: tuple[float, ...], name: str, dtype: Any) -> None:
    random = np.random.default_rng(0)
    a, x = (random.uniform(low, high, 4001).astype(dtype)
            for low, high in (bounds[:2], bounds[2:]))
    found = native.OVER[f"pointwise.{name}"].call(a, x)
    wide = a.astype(np.float64), x.astype(np.float64)
    exact = getattr(pytest.importorskip("scipy.special"), name)(*wide)
    if dtype == np.float32:
        usual = exact > np.finfo(np.float32).tiny
        units = np.abs(found - exact)[usual] / np.spacing(exact[usual].astype(np.float32))
        assert units.max() < 0.51
        return
    exponent = np.abs(wide[0] * np.log(wide[1] / wide[0])) + np.abs(wide[1] - wide[0])
    assert (np.abs(found - exact) <= (1e-13 + 4e-15 * exponent) * exact + 1e-300).all()  # SciPy's


@needs_kernels
@pytest.mark.parametrize(("name", "a", "x", "exact"), [
    ("gammainc", 57.12890262566568, 20.50030514811713, 2.4457813068980213e-11),
    ("gammainc", 54.02084526937766, 25.774596872442473, 8.117668779099391e-07),
    ("gammainc", 5.6947063390309385, 0.0002743486524004145, 1.2732010565583127e-23),
    ("gammaincc", 2.959353962954859, 570.4790411547972, 2.296984114519691e-243),
    ("gammaincc", 18.130772451304892, 38.562268420291474, 8.957869783311068e-05)])
def test_large_exponents_take_no_digits_from_incomplete_gamma_functions(
        name: str, a: float, x: float, exact: float) -> None:
    found = native.OVER[f"pointwise.{name}"].call(np.array([a]), np.array([x]))
    assert abs(found[0] - exact) <= 10 * np.spacing(exact)


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS[:2])
@pytest.mark.parametrize("name", ["gammainc", "gammaincc", "zeta"])
def test_functions_of_pairs_of_special_numbers(name: str, dtype: Any) -> None:
    tiny, huge = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    ends = [0, 1, 2, 3, 0.5, 1.5, tiny, huge, np.inf]
    ends = np.array(ends + [-end for end in ends] + [np.nan], dtype)
    a, x = (m.reshape(-1) for m in np.meshgrid(ends, ends))
    over = native.OVER[f"pointwise.{name}"]
    with np.errstate(all="ignore"):
        if name == "zeta":  # SciPy adds up as many terms as there are below 0
            usual = (x > -10) & ((x > tiny) | (x <= 0)) & (np.abs(a) < 1e30)
        else:  # it loses the smallest and the largest numbers
            usual = (a != tiny) & (a != huge) & (x != tiny)
        found, expected = over.function(a[usual], x[usual]), over.body(a[usual], x[usual])
    assert np.allclose(found, expected, 5e-14 if dtype == np.float64 else 3e-7, 0, equal_nan=True)
    with np.errstate(all="raise"):
        over.function(a[usual], x[usual])


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS[:2])
def test_incomplete_gamma_functions_keep_the_smallest_numbers(dtype: Any) -> None:
    tiny, huge = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    a, x = (np.array(v * 40, dtype) for v in ([tiny, 1, tiny, huge], [1, tiny, tiny, 3]))
    lower, upper = (native.OVER[f"pointwise.{name}"].function(a, x)[:4]
                    for name in ("gammainc", "gammaincc"))
    assert lower.tolist() == [1, tiny, 1, 0]
    assert upper[1] == upper[3] == 1 and (upper[[0, 2]] < 1e-30).all()


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS[:2])
def test_zeta_is_exact(dtype: Any) -> None:
    library, random = pytest.importorskip("scipy.special"), np.random.default_rng(0)
    for low, high, least, most in ((1.01, 2, 0.1, 5), (2, 10, 0.3, 10), (1.5, 3, 10, 1e3),
                                   (5, 12, 0.5, 12)):
        s, q = (random.uniform(a, b, 3001).astype(dtype) for a, b in ((low, high), (least, most)))
        found, exact = native.OVER["pointwise.zeta"].call(s, q), library.zeta(
            s.astype(np.float64), q.astype(np.float64))
        assert (np.abs(found - exact) / np.spacing(exact.astype(dtype))).max() < (
            0.51 if dtype == np.float32 else 12)


ZETA = [(3, -7.515583070390113, 1.5305453805060554), (5, -8.496040449885658, -2.538854204834062),
        (15, -6.500355131969368, 698.2338466092856), (2, -6.497349546529495, 9.727618987087256),
        (3, -7.499929265051001, 0.000892165449099605), (3, -0.495616, -0.009645657607996289),
        (5, -1.4999896, 0.006407785600062294), (7, -3.4999, -0.35841904483206327),
        (3, -0.001, -999999998.7946898), (7, -0.5, 0.06035822750419901),
        (4, -299.25, 259.75757607829667), (3, -123456789.375, -15.046768557437233),
        (9, -0.9999, 1.0000000000009911e+36),
        (1.0162273428589539, 5.00340405308295, 60.13575481682057),
        (58.22926448432838, 11.01597111561693, 2.1210659745220167e-61),
        (150.5, 3.7, 3.0594300490511812e-86), (3.25, 0.001, 5623413253.059182),
        (1e20, 1.0, 1.0), (1e20, 2.0, 0.0), (1e29, 0.5, np.inf), (1101.0, -1.25, -np.inf)]
"""Numbers with values of 160 bits, as they are rounded; terms of both signs nearly cancel."""


@needs_kernels
def test_zeta_has_its_exact_values() -> None:
    s, q, exact = np.array(ZETA).T
    found = native.OVER["pointwise.zeta"].call(s.copy(), q.copy())
    usual = np.isfinite(exact)
    assert np.array_equal(found[~usual], exact[~usual])
    assert (np.abs(found[usual] - exact[usual]) <= np.abs(np.spacing(exact[usual]))).all()


# ---------------------------------------------------------------- Fourier transforms


# ---------------------------------------------------------------- factors and eigenvectors


def with_odd_values(a: Any, odd: str) -> Any:
    """Matrices in which elimination meets a zero pivot, or what is no number."""
    if odd == "zeros":
        a[:, 1] = 0
        a[:, a.shape[1] // 2] = a[:, 0]
    elif odd:
        a[a.shape[0] // 2, a.shape[1] // 2] = float(odd)
    return a


def error_of_factors(packed: Any, rows: Any) -> Any:
    steps, wide = min(rows.shape), packed.astype(float)
    lower = np.tril(wide[:, :steps], -1) + np.eye(len(rows), steps)
    return abs(lower @ np.triu(wide[:steps]) - rows).max()


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS[:2])
@pytest.mark.parametrize("shape", [(49, 49), (64, 64), (200, 200), (131, 70), (70, 131), (333, 49)])
def test_factors_of_large_matrices_are_those_of_lapack(shape: tuple[int, int], dtype: Any) -> None:
    factors, random = native.OVER["systems.lu_factor"], np.random.default_rng(0)
    a = random.standard_normal(shape).astype(dtype)
    # Older processors round the product of each step too, where LAPACK's build need not.
    most = 2 if native.package.variant in ("v3", "v4") else 3
    for placed in (a, a.T.copy().T, a[::-1, ::-1]):
        (packed, pivots, info), (theirs, wanted, _) = factors.call(placed), factors.body(placed)
        assert np.array_equal(pivots, wanted) and info == 0
        rows = placed[systems.row_order(pivots, shape[0])]
        assert error_of_factors(packed, rows) < most * error_of_factors(theirs, rows)
    for count in (1, 3):
        threads.limit(count)
        assert np.array_equal(factors.call(a[None])[0][0], factors.call(a)[0])


@needs_kernels
@pytest.mark.parametrize("odd", ["zeros", "nan", "inf"])
def test_large_matrices_without_factors_are_told_as_lapack_tells_them(odd: str) -> None:
    factors = native.OVER["systems.lu_factor"]
    a = with_odd_values(np.random.default_rng(0).standard_normal((60, 60)), odd)
    (packed, pivots, info), (wanted, swaps, failed) = factors.call(a), factors.body(a)
    assert info == failed and np.array_equal(pivots[:30], swaps[:30])
    assert np.allclose(np.triu(packed[:29]), np.triu(wanted[:29]), equal_nan=True)
    assert np.isfinite(packed).sum() == np.isfinite(wanted).sum()


def tridiagonal(d: Any, e: Any) -> Any:
    return np.diag(d) + np.diag(e, 1) + np.diag(e, -1)


def symmetric_matrices(n: int) -> dict[str, Any]:
    """Symmetric matrices, some of whose eigenvalues meet, or are far apart."""
    random = np.random.default_rng(n)
    a, grades = random.standard_normal((n, n)), 10.0 ** -np.linspace(0, 12, n)
    q, few = np.linalg.qr(a)[0], random.integers(0, 3, n)
    near = 1 + 1e-6 * random.standard_normal(n)
    return {"random": a + a.T, "few values": q * few @ q.T, "near ones": q * near @ q.T,
            "graded": (a + a.T) * np.sqrt(np.outer(grades, grades)),
            "graded upwards": (a + a.T) * np.sqrt(np.outer(grades, grades))[::-1, ::-1],
            "wilkinson": tridiagonal(abs(np.arange(n) - n // 2), np.ones(n - 1)),
            "glued": tridiagonal(np.arange(n) % 7, np.where(np.arange(1, n) % 7, 1, 1e-9)),
            "diagonal": np.diag(random.standard_normal(n)), "zeros": np.zeros((n, n)),
            "ones": np.ones((n, n)), "large": (a + a.T) * 1e35, "small": (a + a.T) * 1e-36}


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS[:2])
@pytest.mark.parametrize("n", [17, 33, 48, 100, 201])
def test_eigenvectors_are_as_exact_as_lapacks(n: int, dtype: Any) -> None:
    rounding = max(40, n) * np.finfo(dtype).eps
    for name, matrix in symmetric_matrices(n).items():
        a = matrix.astype(dtype)
        exact = np.linalg.eigvalsh(a.astype(float))
        size = abs(exact).max() or 1
        for lower in (True, False):
            # Of the other triangle nothing is read.
            seen = np.where(np.tri(n, dtype=bool) == lower, a, np.nan)
            seen[np.diag_indices(n)] = np.diag(a)
            values, vectors, failed = matrices.eigenvectors(seen, lower)
            wide, half = vectors.astype(float), (a / size).astype(float)
            assert not failed and (np.diff(values) >= 0).all(), name
            assert abs(half @ wide - wide * (values / size)).max() < rounding, name
            assert abs(wide.T @ wide - np.eye(n)).max() < rounding, name
            assert abs(values - exact).max() < rounding * size, name


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS[:2])
def test_eigenvectors_have_the_same_bits_on_all_threads_and_in_all_places(dtype: Any) -> None:
    a = symmetric_matrices(150)["random"].astype(dtype)
    found = []
    for count in (1, 2, 3):
        threads.limit(count)
        found += [matrices.eigenvectors(a, True)]
        found += [[part[1] for part in matrices.eigenvectors(np.stack([a + 1, a, -a]), True)]]
    assert all(np.array_equal(x, y) for each in found[1:] for x, y in zip(each, found[0]))


@needs_kernels
@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_matrices_that_are_not_finite_have_no_eigenvectors(odd: float) -> None:
    a = np.stack([np.eye(40), np.eye(40)])
    a[1, 30, 20] = odd
    assert list(matrices.eigenvectors(a, True)[2]) == [0, 1]
    assert list(matrices.eigenvectors(a, False)[2]) == [0, 0]


@needs_kernels
def test_the_kernel_of_eigenvectors_refuses_what_does_not_fit() -> None:
    find, a, values, vectors, failed = native.kernels["symmetric_eigenvectors"], np.eye(20), *(
        np.empty(shape) for shape in ((20,), (20, 20))), np.empty((), "i")
    for wrong in ((a[:19], values, vectors[:19], failed), (a, values[:19], vectors, failed),
                  (a, values, vectors[:19], failed), (a, values, vectors, np.empty(2, "i"))):
        with pytest.raises(ValueError):
            find(*wrong, True)


def noise(*shape: int, dtype: str = "complex64") -> Any:
    random = np.random.default_rng(0)
    return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(dtype)


@needs_kernels
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("shape", [(1, 64), (40, 96), (3, 1000), (20, 1024), (1, 1 << 17)])
def test_spectra_are_as_exact_as_scipys(shape: tuple[int, ...], dtype: str) -> None:
    x, transform = noise(*shape, dtype=dtype), native.OVER["fourier.complex_to_complex"].call
    exact = np.fft.fft(x.astype(np.clongdouble))

    def error(found: Any) -> float:
        return float(np.sqrt(np.mean(np.abs(found - exact) ** 2) / np.mean(np.abs(exact) ** 2)))

    theirs = pytest.importorskip("scipy.fft").fft(x)  # in single precision throughout
    assert error(transform(x, (1,), 0, True)) < error(theirs) + 0.2 * np.finfo(dtype).eps


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS[:2])
@pytest.mark.parametrize("rows", [1, 3, 16, 37])
def test_real_spectra_of_all_lengths(rows: int, dtype: Any) -> None:
    for length in (*range(1, 41), 67, 74, 101, 134, 255, 998):
        x = noise(rows, length).real.astype(dtype)
        half = native.OVER["fourier.real_to_complex"].call(x, (1,), 0, True, 1.0)
        exact = np.fft.rfft(x.astype(np.float64))
        bound = 6 * np.finfo(dtype).eps * np.sqrt(length)
        assert half.dtype == np.result_type(dtype, np.complex64)
        assert np.abs(half - exact).max() <= bound * 4
        back = native.OVER["fourier.complex_to_real"].call(half, (1,), 2, length, 1.0)
        assert back.dtype == dtype and np.abs(back - x).max() <= bound


@needs_kernels
def test_a_long_spectrum_whose_roots_are_in_no_table() -> None:
    x = noise(3 << 20)
    threads.limit(3)
    found = native.OVER["fourier.complex_to_complex"].call(x, (0,), 1, False)
    assert np.abs(found - np.fft.ifft(x, norm="ortho")).max() < 1e-5
    real = native.OVER["fourier.real_to_complex"].call(x.real.copy(), (0,), 1, True, 1.0)
    assert np.abs(real - np.fft.rfft(x.real, norm="ortho")).max() < 1e-5


@needs_kernels
def test_spectra_do_not_depend_on_the_number_of_threads() -> None:
    transform = native.OVER["fourier.complex_to_complex"].call
    for x, dims in ((noise(1 << 16), (0,)), (noise(300, 100), (1,)), (noise(60, 1000), (0, 1))):
        threads.limit(1)
        alone = transform(x, dims, 0, True)
        for count in (2, 5):
            threads.limit(count)
            assert np.array_equal(transform(x, dims, 0, True), alone)


@needs_kernels
def test_transforms_refuse_what_they_cannot_do() -> None:
    def ones(*shape: int) -> Any:
        return np.ones(shape, np.complex64)

    fourier, half, real, prime = (native.kernels[name] for name in (
        "complex_spectrum", "half_spectrum", "real_of_half", "prime_fourier"))
    numbers = np.ones((4, 6), np.float32)
    four, five = np.arange(4), np.arange(5) % 4
    for call, error in [(lambda: fourier(ones(67, 4), ones(67, 4), 1, 0, True), "factors"),
                        (lambda: prime(ones(2, 5), ones(2, 5), four, four, ones(4)), "lengths"),
                        (lambda: prime(ones(2, 5), ones(2, 5), four + 2, five, ones(4)), "place"),
                        (lambda: prime(ones(2, 5), ones(2, 5), four, five - 1, ones(4)), "place"),
                        (lambda: prime(ones(2, 68), ones(2, 68), four, five, ones(4)), "factors"),
                        (lambda: prime(ones(2, 5), ones(5, 2), four, five, ones(4)), "shape"),
                        (lambda: fourier(ones(4, 8), ones(8, 4), 2, 0, True), "shape"),
                        (lambda: fourier(ones(4, 8), ones(4, 8), 4, 0, True), "no such"),
                        (lambda: fourier(ones(4, 8), ones(4, 8), 0, 0, True), "no dim"),
                        (lambda: fourier(ones(4, 0), ones(4, 0), 2, 0, True), "no numbers"),
                        (lambda: fourier(ones(1 << 14, 1), ones(1 << 14, 1), 1, 0, True),
                         "too long"),
                        (lambda: fourier(ones(4, 8), ones(4, 8), 2, 3, True), "normalization"),
                        (lambda: half(numbers, ones(4, 5), 2, 0, 1.0), "half a spectrum"),
                        (lambda: half(numbers, ones(3, 4), 2, 0, 1.0), "different shapes"),
                        (lambda: half(numbers, ones(4), 2, 0, 1.0), "different ranks"),
                        (lambda: real(ones(4, 3), np.ones((4, 6), "f"), 2, 0, 1.0), "half a"),
                        (lambda: half(numbers, numbers, 2, 0, 1.0), "no kernel for arrays of")]:
        with pytest.raises((TypeError, ValueError), match=error):
            call()


# ---------------------------------------------------------------- expressions


FORMULAS = ["g * ((constants[0] - y) * y)", "constants[1] / (constants[0] + exp(-x))",
            "-(x - y) / y", "sqrt(absolute(x * x * y)) + g", "exp(x)",
            "x * constants[1] * x - constants[0]", "x * y", "x - constants[0]", "-x",
            "zeroed_by_kernel(g, y, (y <= constants[0]))", "zeroed_by_kernel(g, x, x > y) * y"]


@needs_kernels
@pytest.mark.parametrize("formula", FORMULAS)
@examples
@given(data=st.data())
def test_an_expression_is_computed_as_step_by_step(formula: str, data: Any) -> None:
    functions = {"exp": np.exp, "sqrt": np.sqrt, "absolute": np.absolute,
                 "zeroed_by_kernel": lambda g, y, mask: np.where(mask, g.dtype.type(0), g)}
    names, compute = expressions.expression(formula, [1.0, 2.5], functions, least=1)
    threads.limit(data.draw(st.sampled_from([1, 2, 3])))
    arrays = Arrays(data.draw)
    arrays.dtype = data.draw(st.sampled_from(FLOATS[:2]))
    shape = data.draw(st.sampled_from([(0,), (1,), (7,), (2048,), (2049,), (40, 1000), (5, 13200),
                                       (3, 20, 700), (2, 3, 1, 2048)]))
    values = [arrays.floats(*shape) for _ in names]
    how = data.draw(st.sampled_from(["rows", "columns", "number", "broadcast", "mixed", "fewer",
                                     "expanded"]))
    if how == "fewer":  # of which some dimensions are 1, or left out
        kept = [1 if data.draw(st.booleans()) else n for n in shape]
        values[-1] = arrays.floats(*kept[data.draw(st.integers(0, len(kept))):])
    if how == "expanded":
        values[0] = np.broadcast_to(values[0][..., :1], shape)
    if how == "columns":
        values[0] = values[0].T.copy().T
    if how == "number" and len(values) > 1:
        values[1] = values[1].dtype.type(3)
    if how == "broadcast":
        values[-1] = values[-1][:1]
    if how == "mixed" and len(values) > 1:
        values[1] = values[1].astype(np.float16)
    with np.errstate(all="ignore"):
        found = compute(*values)
        expected = eval(formula, {**functions, "constants": [1.0, 2.5]},
                        dict(zip(names, values)))
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    if "exp" in formula:
        usual = np.isfinite(expected)
        assert np.array_equal(usual, np.isfinite(found))
        np.testing.assert_allclose(found[usual], expected[usual],
                                   rtol=8 * np.finfo(found.dtype).eps)
    else:
        assert np.array_equal(found, expected, equal_nan=True)
        assert np.array_equal(np.signbit(found)[expected == 0], np.signbit(expected)[expected == 0])


FIRST: list[Any] = [np.add, np.subtract, np.multiply, np.divide]
SECOND: list[Any] = [
    lambda t, z: t + z, lambda t, z: t - z, lambda t, z: z - t, lambda t, z: t * z,
    lambda t, z: t / z, lambda t, z: z / t, np.maximum, lambda t, z: np.maximum(z, t),
    np.minimum, lambda t, z: np.minimum(z, t), lambda t, z: np.absolute(t),
    lambda t, z: np.sqrt(t), lambda t, z: t * t + z, lambda t, z: (t + z) * t - z * t]
COMPARED: list[Any] = [
    lambda x, y, z: np.where(x < y, z, x), lambda x, y, z: np.where(x <= y, z, 0),
    lambda x, y, z: np.where(x > y, 0, z), lambda x, y, z: np.where(x >= y, x + z, y),
    lambda x, y, z: np.where((x < y) & (z > y), x, z)]


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS[:2])
def test_two_steps_at_once_round_as_one_by_one(dtype: Any) -> None:
    drawn = np.random.default_rng(0)
    odd = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3e38, 1.0], dtype)
    x, y, z = (np.concatenate([np.concatenate([drawn.standard_normal(20_000).astype(dtype)] * 2),
                               drawn.permutation(np.resize(odd, 3000))]) for _ in "xyz")
    functions = [lambda x, y, z, f=f, g=g: g(f(x, y), z) for f in FIRST for g in SECOND]
    functions += [lambda x, y, z, g=g: g(x * 0.3, z) for g in SECOND] + COMPARED
    with np.errstate(all="ignore"):
        for function in functions:
            found, expected = expressions.Fused(function)(x, y, z), function(x, y, z)
            assert found is not expected and np.array_equal(found, expected, equal_nan=True)
            same = expected == 0
            assert np.array_equal(np.signbit(found)[same], np.signbit(expected)[same])
            into = x.copy()
            expressions.Fused(function).into(into, into, y, z)()
            assert np.array_equal(into, expected, equal_nan=True)


@needs_kernels
def test_pairs_are_made_of_steps_with_kernels() -> None:
    # Otherwise the test above compares NumPy with itself.
    x = np.ones(1 << 16, np.float32)
    for function in (lambda x, y: x * y + x, lambda x, y: np.where(x > y, x, y)):
        assert expressions.Fused(function)._prepared((x, x)) is not None


@needs_kernels
@pytest.mark.parametrize("name", polynomials._FAMILIES)
def test_polynomials_of_other_degrees_are_left_to_the_body(name: str) -> None:
    x, over = np.linspace(-2, 2, 300), native.OVER[f"polynomials.{name}"]
    most = min(polynomials._FAMILIES[name], 20)
    alike, above = np.full_like(x, most), most + (np.arange(300) == 9)
    for degree in (-1.0, -alike, above, *[most + 1.0] * (most < 20)):
        assert np.array_equal(over.function(x, degree), over.body(x, degree), equal_nan=True)
    assert np.array_equal(over.function(x, alike), over.function(x, float(most)))


@needs_kernels
def test_a_program_has_no_more_operands_than_there_are_places_for() -> None:
    x, numbers = np.linspace(1, 2, 1 << 10), 20

    def computed(x: Any, steps: int) -> Any:
        found = x
        for _ in range(steps):
            found = x - found
        for _ in range(numbers):
            found = found * 0.5
        return found

    most = expressions._MOST_OPERANDS - 2 * numbers - 1  # beside those with numbers, and the array
    for steps, is_made in ((most, True), (most + 1, False)):
        made = expressions.Fused(lambda x, steps=steps: computed(x, steps))
        assert (made._prepared((x,)) is not None) == is_made
        assert np.array_equal(made(x), computed(x, steps))


ANYWHERE: list[Any] = [
    lambda x, y, z: x * z, lambda x, y, z: z - x, lambda x, y, z: x + y * 0.3, lambda x, y, z: -x,
    lambda x, y, z: np.where(x > y, z, x), lambda x, y, z: np.where(x > 0.5, 2.0, y),
    lambda x, y, z: np.maximum(x * y, z), lambda x, y, z: x / y, lambda x, y, z: np.sqrt(x - z) * y]


@needs_kernels
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("dtype", FLOATS[:2])
def test_steps_begin_anywhere_in_a_line_of_the_cache(dtype: Any, count: int) -> None:
    """Arrays from every place in a line, beside numbers; what lies around the result stays."""
    threads.limit(count)
    drawn, number = np.random.default_rng(0), dtype.type(0.7)
    line = 64 // dtype.itemsize
    memory = [drawn.uniform(1, 2, 70_100).astype(dtype) for _ in range(3)]
    for nr, function in enumerate(ANYWHERE):
        for size in (1, line - 1, line, 2 * line + 3, 2100, 70_001):
            for start in range(0, line + 1, 1 if size < 70_001 else line // 4 + 1):
                x, y = memory[0][start:start + size], memory[1][(3 * start) % 7:][:size]
                expected, around = function(x, y, number), memory[2].copy()
                run = expressions._program_of(function, (x, y, number)).filling
                for first in {0, start, nr}:
                    out = around[first:first + size]
                    run(out, (1, 1, 1), [x, y, np.asarray(number)])()
                    assert np.array_equal(out, expected)
                    out[...] = memory[2][first:first + size]
                    assert np.array_equal(around, memory[2])
                own = x.copy()
                run(own, (1, 1, 1), [own, y, np.asarray(number)])()
                assert np.array_equal(own, expected)


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS)
def test_exact_kernels_begin_anywhere_in_a_line_of_the_cache(dtype: Any) -> None:
    drawn, line = np.random.default_rng(0), 64 // dtype.itemsize
    numbers = drawn.standard_normal(70_100).astype(dtype)
    around = np.full(70_100, 7, dtype)
    bits = np.dtype(f"i{dtype.itemsize}")
    run = native.kernels
    for size in (1, line - 1, 2 * line + 3, 70_001):
        for start in range(0, line + 1, 1 if size < 70_001 else line // 4 + 1):
            x, g = numbers[start:start + size], numbers[(3 * start) % 7:][:size]
            out = around[start:start + size]
            run["rectified"](x, out)
            assert np.array_equal(out, np.where(x > 0, x, dtype.type(0)))
            run["leaky_gradient"](g, x, out, 0.5)
            assert np.array_equal(out, np.where(x > 0, g, g * dtype.type(0.5)))
            run["copied_in_rows"](x[::-1].view(bits), out.view(bits))
            assert np.array_equal(out, x[::-1])
            out[...] = 7
            assert (around == 7).all()


def _layouts() -> dict[str, Any]:
    """Arrays that go together, in all the ways in which they may lie in memory."""
    x = np.arange(1.0, 25).reshape(4, 6)
    return {"rows": x, "other rows": x + 1, "columns": x.T.copy().T, "gaps": np.stack([x, x], -1)[
        ..., 0], "wide": np.arange(64.0).reshape(8, 8)[:4, :6], "backwards": x[:, ::-1],
        "columns with gaps": np.stack([x.T, x.T], -1)[..., 0].T, "one row": x[:1], "row": x[0],
        "column": x[:, :1], "expanded row": np.broadcast_to(x[0], (4, 6)),
        "expanded column": np.broadcast_to(x[:, :1], (4, 6)), "one number": x[:1, :1],
        "no dims": np.array(2.5), "more dims": np.arange(48.0).reshape(2, 4, 6),
        "turned": np.arange(48.0).reshape(6, 2, 4).transpose(1, 2, 0)}


@needs_kernels
def test_arrays_that_lie_in_any_way_are_read_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate, taken, ways = native.kernels["evaluated"], [], {}
    monkeypatch.setitem(native.kernels, "evaluated",
                        lambda *args: (taken.append(0), evaluate(*args))[1])
    both = expressions.Fused(lambda x, y: x * y - x)
    for one, x in _layouts().items():
        ways[one] = ""
        for other, y in _layouts().items():
            taken.clear()
            found, expected = both(x, y), x * y - x
            assert np.array_equal(found, expected), (one, other)
            assert found.strides == expected.strides, (one, other)
            ways[one] += "." if taken else "n"
    assert ways == WITH_EACH_OTHER


WITH_EACH_OTHER = {
    "rows": ".........n.n...n",
    "other rows": ".........n.n...n",
    "columns": "...nnnnnnnnn..nn",
    "gaps": "..n......n.n..nn",
    "wide": "..n......n.n..nn",
    "backwards": "..n......n.n..nn",
    "columns with gaps": "..n......n.n..nn",
    "one row": "..n......n.n...n",
    "row": "..n......n.n...n",
    "column": "nnnnnnnnn.nn..nn",
    "expanded row": "..n......n.n...n",
    "expanded column": "nnnnnnnnnnnnnnnn",
    "one number": "...........n....",
    "no dims": "...........n....",
    "more dims": "..nnnnn..n.n....",
    "turned": "nnnnnnnnnnnn....",
}
"""Which of these arrays are read by the kernel, or left to NumPy, together with each of them."""


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS[:2])
def test_exponentials_are_within_their_units_in_the_last_place(dtype: Any) -> None:
    low, high = (-87, 88.5) if dtype == np.float32 else (-708, 709)
    _, compute = expressions.expression("exp(x)", [], {"exp": np.exp})
    x = np.linspace(low, high, 300_001).astype(dtype)
    exact = np.exp(x.astype(np.longdouble))
    apart = np.abs(compute(x).astype(np.longdouble) - exact) / np.spacing(exact.astype(dtype))
    assert apart.max() < 1.5
    odd = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -2000, 2000, high + 1, low - 17],
                   dtype)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(compute(odd), np.exp(odd), rtol=1e-6, atol=0)


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS[:2])
def test_the_tangent_of_gates_is_within_its_units_in_the_last_place(dtype: Any) -> None:
    x = np.concatenate([np.linspace(-12, 12, 100_001), np.geomspace(1e-30, 1e-2, 10_001),
                        [0.0, np.inf, -np.inf, np.nan, 50, -1e30]]).astype(dtype)
    gates = np.stack([x] * 4, 1)
    native.OVER["recurrent.lstm_steps"].call(
        np.zeros((4, 1), dtype), np.array([[0, x.size]]), gates,
        *(np.zeros((x.size, 1), dtype) for _ in range(5)))
    found, exact = gates[:, 2], np.tanh(x.astype(np.longdouble))
    apart = np.abs(found - exact) / np.spacing(np.abs(exact).astype(dtype))
    assert apart[~np.isnan(x)].max() < 3  # NumPy's own is off by as much
    assert np.array_equal(np.isnan(found), np.isnan(x))
    assert np.array_equal(np.signbit(found), np.signbit(x))


@needs_kernels
def test_an_expression_with_anything_else_is_left_to_numpy() -> None:
    for formula in ("x ** 2 + x", "x if y else g", "cos(x) + x", "x + 1j", "x * y", "x[0] * y * y"):
        assert expressions.expression(formula, [], {"cos": np.cos}) is None


@needs_kernels
def test_steps_that_cannot_be_taken_are_refused() -> None:
    compute, x, one = native.kernels["compute"], np.ones(4, np.float32), (1,)
    for given_ in [(b"\0\1\0\0", (), one, 0, x), (b"\0\1\0", (), one, 0, x.copy(), x),
                   (b"\x0d\1\0\0", (), one, 0, x.copy(), x),
                   (b"\0\0\0\0", (), one, 0, x.copy(), x), (b"\0\1\0\7", (), one, 0, x.copy(), x),
                   (b"\0\1\0\0", (), one, -1, x.copy(), x),
                   (b"\0\1\0\0", (), one, 0, x.copy(), x[:3].copy()),
                   (b"\0\1\0\0", (), one, 0, x, x > 0),
                   (b"\0\1\0\0", (), (), 0, x.copy(), x), (b"\0\1\0\0", (), (0,), 0, x.copy(), x),
                   (b"\0\1\0\0", (), (3,), 0, x.copy(), x[:2]),
                   (b"\0\1\0\0", (), (1.5,), 0, x.copy(), x),
                   (b"\0\1\0\0", ("a",), one, 0, x.copy(), x), ("", (), one, 0, x.copy(), x)]:
        with pytest.raises((TypeError, ValueError)):
            compute(*given_)


@needs_kernels
def test_updates_that_cannot_be_made_are_refused() -> None:
    update, x = native.kernels["update"], np.ones(4, np.float32)
    read_only = np.broadcast_to(x, x.shape)
    update(b"\0\0\1\xff", (2.0,), 0, 1, x.copy(), read_only)
    for given_ in [(b"\0\1\0\0", (), 0, 1, x, x.copy()), (b"\0\0\0", (), 0, 1, x),
                   (b"\x12\0\0\0", (), 0, 1, x), (b"\0\0\0\xff", (), 0, 1, x),
                   (b"\0\0\2\0", (), 1, 1, x), (b"\0\0\0\0", (), -1, 1, x),
                   (b"\0\0\0\0", (), 256, 1, x), (b"\0\0\0\0", (), 0, 2, x),
                   (b"\0\0\0\0", (), 0, -1, x), (b"\0\0\0\0", (), 0, 1, x, x[:3].copy()),
                   (b"\0\0\0\0", (), 0, 1, read_only), (b"\0\0\0\0", (), 0, 1, x > 0),
                   (b"\0\0\0\0", (), 0, 1, x, x > 0), (b"\0\0\0\0", (), 0, 1),
                   (b"\0\0\0\0", ("a",), 0, 1, x), ("", (), 0, 1, x)]:
        with pytest.raises((TypeError, ValueError, BufferError)):
            update(*given_)
    assert (x == 1).all()


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS[:2])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
def test_arithmetic_in_place_has_numpys_bits(name: str, dtype: Any) -> None:
    run, step = native.kernels["arithmetic"], expressions.STEPS[name]
    numbers = np.random.default_rng(0).normal(size=100_100).astype(dtype)
    others = numbers[::-1].copy()
    for count in (0, 1, 2, 7, 16, 17, 1000, 65_536, 100_003):
        for first in (0, 1, 5):  # where in a line of the cache the array begins
            for crew in (1, 2, 3):
                threads.limit(crew)
                for other in (others[3:3 + count], np.array(1.7, dtype), dtype.type(0.3)):
                    target = numbers.copy()
                    part = target[first:first + count]
                    run(step, part, other, 1)
                    expected = getattr(np, name)(numbers[first:first + count], other)
                    assert np.array_equal(part, expected)
                    if name in ("add", "subtract"):
                        run(step, part, other, 0.7)
                        expected = getattr(np, name)(expected, other * dtype.type(0.7))
                        assert np.array_equal(part, expected)
                    assert np.array_equal(target[:first], numbers[:first])
                    assert np.array_equal(target[first + count:], numbers[first + count:])


@needs_kernels
def test_a_function_is_a_step_of_arithmetic_only_where_it_is_nothing_else() -> None:
    def step(function: Any, *factor: Any) -> Any:
        fill = expressions.Fused(function).into(x, x, y, *factor)
        return fill.args[0] if fill and fill.func is native.kernels["arithmetic"] else None

    x, y = np.ones((2, 90_000), np.float32)
    steps = expressions.STEPS
    assert step(np.multiply) == steps["multiply"] and step(np.divide) == steps["divide"]
    assert step(lambda a, b: a + b) == steps["add"] and step(np.subtract) == steps["subtract"]
    assert step(lambda a, b, c: a + b * c, 0.5) == steps["add"]
    assert step(lambda a, b, c: a + c * b, 1) == steps["add"]
    assert step(lambda a, b, c: a + b * -c, 3) == steps["subtract"]
    assert step(lambda a, b, c: a - b * c, 2) == steps["subtract"]
    for other in (lambda a, b: a + b * 2.0, lambda a, b: b - a, lambda a, b: a + a,
                  lambda a, b: a * b + a, np.maximum, np.arctan2, lambda a, b: b):
        assert step(other) is None
    for other in (lambda a, b, c: a + b, lambda a, b, c: a * b, lambda a, b, c: a + b * (c + 1),
                  lambda a, b, c: a + b * 2, lambda a, b, c: b + a * c, lambda a, b, c: a * c + b):
        assert step(other, 0.5) is None
    assert step(lambda a, b, c: a + b * c, True) is None
    for dtype in FLOATS[:2]:  # a factor is rounded to the dtype before it is met
        x, y = np.ones((2, 90_000), dtype)
        assert step(add_multiple, 0.1) == steps["add"]


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS[:2])
@pytest.mark.parametrize("shape", [(16, 16), (33, 33), (70, 40), (40, 70), (150, 17), (17, 150),
                                   (3, 50, 64), (2, 2, 20, 31)])
def test_columns_are_reflected_in_blocks(shape: tuple[int, ...], dtype: Any) -> None:
    numbers, eps = np.random.default_rng(0).standard_normal(shape), np.finfo(dtype).eps
    size, least = max(shape[-2:]), min(shape[-2:])
    for scale in (1, 1e-35, 1e35, np.finfo(dtype).tiny, np.finfo(dtype).max / 1e3):
        rows = (numbers * scale).astype(dtype)
        wide = np.repeat(rows, 2, -1)
        columns = np.ascontiguousarray(rows.swapaxes(-1, -2)).swapaxes(-1, -2)
        for a in (rows, columns, wide[..., ::2], rows[..., ::-1, :]):
            assert matrices.are_in_blocks(a)
            packed, tau = matrices.reflections(a)
            q = matrices.reflected_identity(packed, tau, least)
            assert packed.shape == shape and tau.shape == (*shape[:-2], least)
            assert ((tau >= 0) & (tau <= 2)).all() and packed.dtype == tau.dtype == q.dtype == dtype
            assert np.abs(q.swapaxes(-1, -2) @ q - np.eye(least)).max() < size * eps
            r = np.triu(packed)[..., :least, :].astype("g") / scale
            assert np.abs(q.astype("g") @ r - a / np.longdouble(scale)).max() < size * eps * (
                1 if scale > 1e-37 else 8)
            whole = matrices.reflected_identity(packed[..., :least], tau, shape[-2])
            assert np.abs(whole.swapaxes(-1, -2) @ whole - np.eye(shape[-2])).max() < size * eps
            assert np.allclose(whole[..., :least], q, 0, size * eps)


@needs_kernels
def test_columns_that_are_zero_below_are_not_reflected() -> None:
    a = np.triu(np.random.default_rng(0).standard_normal((40, 40)))
    a[:, 5] = 0
    packed, tau = matrices.reflections(a)
    assert (packed == a).all() and not tau.any()
    assert (matrices.reflected_identity(packed, tau, 40) == np.eye(40)).all()
    a[30, 20] = np.nan
    assert np.isnan(matrices.reflections(a)[0][20, 20])


@needs_kernels
def test_inverses_that_do_not_fit_are_refused() -> None:
    inverses, cofactors = native.kernels["inverses"], native.kernels["cofactors"]
    packed, pivots = np.eye(3)[None], np.array([[1, 2, 3]], np.int32)
    found, volume = np.empty((1, 3, 3)), np.empty(1)
    assert np.array_equal(inverses(packed, pivots, found), packed)
    for wrong, error, message in [
            ((packed, pivots + 1, found), IndexError, "none of the rows"),
            ((packed, pivots - 1, found), IndexError, "none of the rows"),
            ((packed, pivots[:, :2].copy(), found), ValueError, "place for each"),
            ((packed, pivots, np.empty((3, 3))), ValueError, "another shape"),
            ((np.ones((1, 3, 2)), pivots, np.empty((1, 3, 2))), ValueError, "not square"),
            ((np.eye(17), np.arange(1, 18, dtype=np.int32), np.eye(17)), ValueError, "too large")]:
        with pytest.raises(error, match=message):
            inverses(*wrong)
    with pytest.raises(IndexError, match="singular"):
        cofactors(packed * 0, pivots, volume, found)
    with pytest.raises(ValueError, match="place for each"):
        cofactors(packed, pivots, np.empty(2), found)


@needs_kernels
def test_reflections_that_do_not_fit_are_refused() -> None:
    make, join = (native.kernels[name] for name in (
        "reflections_by_columns", "reflected_identity_by_columns"))
    a, tau = np.ones((20, 18)), np.ones(18)
    for given_ in [(a, np.ones((20, 18)), tau), (a, np.ones((18, 20)), tau[:17]), (a[0], a[0], tau),
                   (a, np.ones((18, 20), np.float32), tau), (a, np.ones((1, 18, 20)), tau)]:
        with pytest.raises((TypeError, ValueError, BufferError)):
            make(*given_)
    for given_ in [(a, tau, np.ones((17, 20))), (a, tau, np.ones((21, 20))), (a[:, :17], tau, a.T),
                   (a, tau[:, None], np.ones((18, 20))), (a, tau, np.ones((18, 19)))]:
        with pytest.raises((TypeError, ValueError, BufferError)):
            join(*given_)


@needs_kernels
def test_blocks_of_reflections_are_the_same_by_any_number_of_threads() -> None:
    a, found = np.random.default_rng(0).standard_normal((300, 260)), []
    for count in (1, 2, 3):
        threads.limit(count)
        packed, tau = matrices.reflections(a)
        found.append((packed, tau, matrices.reflected_identity(packed, tau, 280)))
    for other in found[1:]:
        assert all(map(np.array_equal, found[0], other))


@needs_kernels
def test_arithmetic_that_cannot_be_done_in_place_is_refused() -> None:
    run, x = native.kernels["arithmetic"], np.ones(4, np.float32)
    for given_ in [(4, x, x.copy()), (-1, x, x.copy()), (2, x, x[:3].copy()), (2, x, x.astype("d")),
                   (2, np.broadcast_to(x, x.shape), x), (2, x[::2], x[:2]), (2, x, x[::-1]),
                   (2, x, 1.0), (2, x > 0, x > 0), (2, x), (2, x, x, 2.0), (0, x, x, "1")]:
        if len(given_) == 3:
            given_ = (*given_, 1)
        with pytest.raises((TypeError, ValueError, BufferError)):
            run(*given_)
    assert (x == 1).all()


@needs_kernels
def test_arrays_that_are_not_looked_into_come_as_buffers() -> None:
    copied, softmax = native.kernels["copied_in_rows"], native.kernels["softmax"]
    deep = np.arange(2 ** 8, dtype=np.int32).reshape((2,) * 8)  # more dims than are looked at
    assert np.array_equal(copied(deep.T, np.empty_like(deep)), deep.T)
    halves = np.linspace(-2, 2, 12).reshape(3, 4).astype(BFLOAT16)
    assert np.allclose(softmax(halves, np.empty_like(halves), 1).astype("f").sum(1), 1, atol=0.02)

    class Own(np.ndarray):
        pass

    own = np.ones((3, 4), np.float32).view(Own)
    assert (softmax(own, np.empty((3, 4), np.float32), 1) == 0.25).all()
    assert (softmax(memoryview(own), np.empty((3, 4), np.float32), 1) == 0.25).all()
    bytes_ = np.zeros(50, np.uint8)
    apart = bytes_[1:49].view(np.float32).reshape(3, 4)  # no element begins where it should
    with pytest.raises((TypeError, ValueError)):
        softmax(apart, np.empty((3, 4), np.float32), 1)


@needs_kernels
def test_kernels_keep_no_arrays() -> None:
    x, y = np.ones((30, 40), np.float32), np.ones((30, 40), np.float32)
    known = sys.getrefcount(x), sys.getrefcount(y)
    for _ in range(10):
        native.kernels["softmax"](x, y, 1)
        native.kernels["stacked"]([x, x], np.empty((2, 30, 40), np.float32))
        with pytest.raises(ValueError, match="no such dimension"):
            native.kernels["softmax"](x, y, 2)
        with pytest.raises(IndexError):
            native.kernels["stacked"]([x, x[:2]], np.empty((2, 30, 40), np.float32))
    assert (sys.getrefcount(x), sys.getrefcount(y)) == known


@needs_kernels
def test_long_rows_are_copied_in_parts() -> None:
    numbers = np.arange(300_007)
    for crew in (1, 2, 3):
        threads.limit(crew)
        for x in (numbers, numbers[::-1], numbers[::3], numbers[1:].reshape(2, -1)[:, ::-1]):
            assert np.array_equal(native.kernels["copied_in_rows"](x, np.empty(x.shape, int)), x)


@needs_kernels
def test_gradients_are_added_where_they_lie() -> None:
    x = torch.zeros(300, 100, requires_grad=True)
    factor = torch.linspace(-1, 1, 30_000).reshape(300, 100)
    (x * factor).sum().backward()
    first = x.grad
    assert first is not None
    address, version = first.data_ptr(), first._version
    for gradient in (factor, factor.t().contiguous().t(), factor[:, :1].expand(300, 100),
                     torch.cat([factor, factor], 1)[:, 50:150]):
        expected = first + gradient
        x.backward(gradient)
        version += 1
        assert x.grad is first and first.data_ptr() == address and first._version == version
        assert torch.equal(first, expected)
    expected = first + first
    x.backward(first)  # which is read where it is written
    assert torch.equal(first, expected)
    before = first.clone()
    shifted = torch.as_strided(first, (299, 100), (100, 1), 100)
    part = torch.zeros(299, 100, requires_grad=True)
    part.grad = torch.as_strided(first, (299, 100), (100, 1))
    part.backward(shifted)
    assert torch.equal(first[:299], before[:299] + before[1:])


@needs_kernels
def test_results_go_into_large_outputs_of_any_layout() -> None:
    x, y = (torch.linspace(-1, 1, 40_000).reshape(200, 200) * n for n in (1, 2))
    expected = torch.cat([x, y], 1)
    for out in (torch.empty(200, 400), torch.empty(400, 200).t(), torch.zeros(200, 900)[:, 9:409],
                torch.empty(200, 800)[:, ::2], torch.empty(0)):
        version = out._version
        assert torch.cat([x, y], 1, out=out) is out
        assert torch.equal(out, expected) and out._version > version


@needs_kernels
def test_large_tensors_and_small_ones_have_the_same_gradients() -> None:
    x = torch.linspace(-4, 4, 40_000, dtype=torch.float64)
    for function in (torch.sigmoid, torch.tanh, lambda x: 1 / (x * x + 1), torch.rsqrt):
        whole, parts = (t.clone().requires_grad_() for t in (x.abs() + 1, x.abs() + 1))
        y = function(whole)
        y.sum().backward()
        z = torch.cat([function(part) for part in parts.split(100)])
        z.sum().backward()
        assert torch.allclose(y, z, rtol=1e-14)
        assert torch.allclose(whole.grad, parts.grad, rtol=1e-13)


ODD = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 3.0, -3.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 1e38,
       -1e38, 1e-3, 20.0, 89.0, -90.0, 6.0, -20.0, 3.4e6, 1e10]
functional = torch.nn.functional
UNARY = ("sin cos exp expm1 log log1p tanh sigmoid sqrt rsqrt square reciprocal floor ceil round "
         "trunc frac sign abs neg nan_to_num isnan isinf isfinite log2 log10 exp2 tan asin acos "
         "atan sinh cosh")
ACTIVATIONS = ("leaky_relu elu selu celu softplus hardtanh hardswish hardsigmoid relu6 mish "
               "logsigmoid softsign tanhshrink softshrink hardshrink silu gelu relu")
BINARY = ("add sub mul div maximum minimum fmax fmin fmod remainder floor_divide hypot copysign "
          "logaddexp xlogy pow atan2 eq lt ge ne")
ELEMENTWISE = {
    **{name: getattr(torch, name) for name in UNARY.split()},
    **{name: getattr(functional, name) for name in ACTIVATIONS.split()},
    **{f"{name} of two": getattr(torch, name) for name in BINARY.split()},
    **{f"pow {e}": lambda x, e=e: x ** e for e in (2, 3, 0.5, -1, -2, 2.5, 1.0)},
    "remainder of a number": lambda x: torch.remainder(x, 0.7),
    "fmod of a number": lambda x: torch.fmod(x, -0.7),
    "clamp": lambda x: x.clamp(-1, 2), "clamp_min": lambda x: x.clamp(min=0.5),
    "threshold": lambda x: functional.threshold(x, 0.1, 20.0),
    "lerp of two": lambda x, y: torch.lerp(x, y, 0.3),
    "lerp of tensors of two": lambda x, y: torch.lerp(x, y, x.abs().clamp(max=1)),
    "addcmul of two": lambda x, y: torch.addcmul(x, x, y, value=0.5),
    "addcdiv of two": lambda x, y: torch.addcdiv(x, x, y, value=0.5),
    "add alpha of two": lambda x, y: torch.add(x, y, alpha=0.25),
    "rsub": lambda x: 1 - x, "where of two": lambda x, y: torch.where(x > y, x, y * 2),
    "clamp tensor of two": lambda x, y: torch.clamp(x, min=y),
    "prelu": lambda x: functional.prelu(x, x.new_full((1,), 0.25))}
EXACT = {"floor", "ceil", "round", "trunc", "abs", "neg", "isnan", "isinf", "isfinite", "sign",
         "frac", "nan_to_num", "square", "sqrt", "fmod of two", "remainder of two",
         "floor_divide of two", "copysign of two", "leaky_relu", "hardtanh", "relu6", "lt of two",
         "eq of two", "remainder of a number", "fmod of a number", "fmax of two"}


@needs_kernels
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_large_arrays_have_the_values_and_gradients_of_small_ones(name: str, dtype: Any) -> None:
    """The one pass over a large array, and NumPy step by step on its parts."""
    function = ELEMENTWISE[name]
    stream = np.random.default_rng(0)
    usual = stream.standard_normal((2, 66_000)) * 2
    odd = np.array(np.meshgrid(ODD, ODD)).reshape(2, -1)
    values = np.concatenate([usual, odd], 1)
    if " of two" not in name:
        values = values[:1]
    whole = [torch.tensor(row, dtype=dtype, requires_grad=True) for row in values]
    parts = [torch.tensor(row, dtype=dtype, requires_grad=True) for row in values]
    y = function(*whole)
    pieces = zip(*[part.split(5000) for part in parts])
    z = torch.cat([function(*piece) for piece in pieces])
    assert y.dtype is z.dtype

    def same(found: Any, expected: Any, exact: bool) -> None:
        found, expected = found.detach().numpy(), expected.detach().numpy()
        assert np.array_equal(np.isnan(found), np.isnan(expected))
        if exact:
            assert np.array_equal(found, expected, equal_nan=True)
            zero = expected == 0
            assert np.array_equal(np.signbit(found[zero]), np.signbit(expected[zero]))
        else:
            info = np.finfo(found.dtype)
            np.testing.assert_allclose(found, expected, rtol=8 * info.eps, atol=8 * info.eps)

    if not y.is_floating_point():
        assert torch.equal(y, z)
        return
    same(y, z, name in EXACT)
    if name == "floor_divide of two":
        return
    y.backward(torch.ones_like(y) * 1.5)
    z.backward(torch.ones_like(z) * 1.5)
    for a, b in zip(whole, parts):
        same(a.grad, b.grad, False)


@needs_kernels
@pytest.mark.parametrize("name, exact, least, most", [
    ("sin", np.sin, -50, 50), ("sin", np.sin, 1e4, 2e5), ("cos", np.cos, -50, 50),
    ("log", np.log, 1e-30, 30), ("log", np.log, 0.9, 1.1), ("log1p", np.log1p, -0.9, 3),
    ("expm1", np.expm1, -3, 3), ("expm1", np.expm1, -20, 88), ("tanh", np.tanh, -9, 9),
    ("exp2", np.exp2, -126, 127.99), ("exp2", np.exp2, -2, 2), ("log2", np.log2, 1e-30, 30),
    ("log10", np.log10, 1e-30, 30), ("log10", np.log10, 0.9, 1.1), ("tan", np.tan, -50, 50),
    ("tan", np.tan, 1e4, 2e5), ("asin", np.arcsin, -1, 1), ("acos", np.arccos, -1, 1),
    ("atan", np.arctan, -6, 6), ("atan", np.arctan, -1e9, 1e9), ("cosh", np.cosh, -89, 89),
    ("cosh", np.cosh, -3, 3)])
def test_functions_are_within_their_units_in_the_last_place(name: str, exact: Any, least: float,
                                                            most: float) -> None:
    x = np.linspace(least, most, 400_001).astype(np.float32)
    found = getattr(torch, name)(torch.from_numpy(x)).numpy()
    wanted = exact(x.astype(np.float64))
    unit = np.spacing(np.maximum(np.abs(wanted), 1e-38).astype(np.float32))
    assert (np.abs(found - wanted) / unit).max() < 1.5


@needs_kernels
@pytest.mark.parametrize("name, exact", [
    ("exp2", np.exp2), ("log2", np.log2), ("log10", np.log10), ("tan", np.tan), ("asin", np.arcsin),
    ("acos", np.arccos), ("atan", np.arctan), ("cosh", np.cosh)])
def test_functions_of_odd_numbers_are_rounded_from_those_in_double(name: str, exact: Any) -> None:
    odd = np.array([*ODD, 1e-45, -1e-45, 3e38, 128, -149, -150.5, 8, 1000, 89.2, 2, -2], np.float32)
    found = getattr(torch, name)(torch.from_numpy(np.resize(odd, 40_000))).numpy()[:odd.size]
    with np.errstate(all="ignore"):
        wanted = exact(odd.astype(np.float64)).astype(np.float32)
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    zero = (wanted == 0) | np.isinf(wanted)
    assert np.array_equal(found[zero], wanted[zero])
    assert np.array_equal(np.signbit(found[zero]), np.signbit(wanted[zero]))
    usual = np.isfinite(wanted)
    apart = np.abs(found[usual].astype(np.float64) - wanted[usual])
    assert (apart <= np.spacing(np.abs(wanted[usual]))).all()


@needs_kernels
def test_angles_of_points_are_within_their_units_in_the_last_place() -> None:
    stream = np.random.default_rng(0)
    y, x = (stream.standard_normal((2, 200_000)) * np.exp(stream.normal(size=(2, 200_000)) * 9)
            ).astype(np.float32)
    found = torch.atan2(torch.from_numpy(y), torch.from_numpy(x)).numpy()
    wanted = np.arctan2(y.astype(np.float64), x)
    unit = np.spacing(np.abs(wanted).astype(np.float32))
    assert (np.abs(found - wanted) / unit).max() < 1.5
    y, x = np.array(np.meshgrid(ODD, ODD)).reshape(2, -1).astype(np.float32)
    found = torch.atan2(torch.from_numpy(np.resize(y, 40_000)),
                        torch.from_numpy(np.resize(x, 40_000))).numpy()[:y.size]
    wanted = np.arctan2(y.astype(np.float64), x).astype(np.float32)
    on_axes = (x == 0) | (y == 0) | (np.abs(x) == np.abs(y)) | np.isnan(wanted)
    assert np.array_equal(found[on_axes], wanted[on_axes], equal_nan=True)
    known = ~np.isnan(wanted)
    assert np.array_equal(np.signbit(found[known]), np.signbit(wanted[known]))


@needs_kernels
@pytest.mark.parametrize("count", [70, 20_000])
@pytest.mark.parametrize("name, exact", [
    ("xlogy", lambda x, y: x * np.log(y)), ("xlog1py", lambda x, y: x * np.log1p(y)),
    ("logaddexp", lambda x, y: np.logaddexp(-x, -y)),
    ("logaddexp2", lambda x, y: np.logaddexp2(-x, -y))])
def test_functions_of_two_are_rounded_once(name: str, exact: Any, count: int) -> None:
    """Sums of powers too, where their logarithms are nearly 0."""
    x, y = np.random.default_rng(0).uniform(1e-3, 2, (2, count)).astype(np.float32)
    sign = -1 if name.startswith("log") else 1
    found = getattr(torch.special, name, getattr(torch, name, None))(
        torch.from_numpy(sign * x), torch.from_numpy(sign * y)).numpy()
    wanted = exact(x.astype(np.float64), y.astype(np.float64))
    assert (np.abs(found - wanted) / np.spacing(np.abs(wanted).astype(np.float32))).max() < 0.51


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS[:2])
def test_sums_of_powers_of_special_numbers(dtype: Any) -> None:
    x, y = np.array(np.meshgrid(ODD, ODD)).reshape(2, -1).astype(dtype)
    for name, numpys in (("logaddexp", np.logaddexp), ("logaddexp2", np.logaddexp2)):
        found = getattr(torch, name)(torch.from_numpy(x), torch.from_numpy(y)).numpy()
        with np.errstate(all="ignore"):
            wanted = numpys(x, y)
        np.testing.assert_allclose(found, wanted, rtol=1e-6 if dtype == FLOATS[0] else 1e-14)


@needs_kernels
@pytest.mark.parametrize("dtype", FLOATS[:2])
def test_slopes_of_gates_end_where_exponentials_do(dtype: Any) -> None:
    x = np.resize([-1e15, -1000, 0.0, 1000, 1e15], 100).astype(dtype)
    for name, options in (("silu", {}), ("mish", {}), ("gelu", {"approximate": "tanh"})):
        leaf = torch.from_numpy(x.copy()).requires_grad_()
        y = getattr(functional, name)(leaf, **options)
        (slope,) = torch.autograd.grad(y, leaf, torch.ones_like(y))
        assert np.array_equal(y.detach().numpy(), np.where(x > 0, x, 0))
        middle = np.float32(0.6) if name == "mish" else 0.5
        np.testing.assert_allclose(slope.numpy(), np.where(x > 0, 1, np.where(x < 0, 0, middle)),
                                   rtol=1e-7)


@needs_kernels
def test_the_logarithm_of_the_largest_numbers() -> None:
    x = np.geomspace(1e30, np.finfo(np.float32).max, 70_000, dtype=np.float64).astype(np.float32)
    found = torch.log1p(torch.from_numpy(x)).numpy()
    assert (np.abs(found - np.log(x.astype(np.float64))) / np.spacing(found)).max() < 1.5


@needs_kernels
def test_powers_are_within_their_units_in_the_last_place() -> None:
    stream = np.random.default_rng(0)
    x = stream.uniform(1e-3, 30, 200_000).astype(np.float32)
    y = stream.uniform(-12, 12, 200_000).astype(np.float32)
    found = (torch.from_numpy(x) ** torch.from_numpy(y)).numpy()
    wanted = x.astype(np.float64) ** y
    assert (np.abs(found - wanted) / np.spacing(wanted.astype(np.float32))).max() < 1


@needs_kernels
@pytest.mark.parametrize("lay", [lambda x: x.t(), lambda x: x[:, :200], lambda x: x[::2],
                                 lambda x: x[:, :1].expand(-1, 300), lambda x: x[:1],
                                 lambda x: x[:, :1], lambda x: x.flip(0), lambda x: x.t()[::2]])
def test_large_arrays_of_any_layout_keep_numpys(lay: Any) -> None:
    x = torch.randn(300, 300)
    first = lay(x)
    for second in (x[tuple(slice(n) for n in first.shape)], lay(x.clone()), x[:1, :first.shape[1]]):
        found = torch.hypot(first, second)
        expected = np.hypot(first.numpy(), second.numpy())
        assert found.numpy().strides == expected.strides
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


@needs_kernels
def test_writes_to_large_arrays_go_where_they_lie() -> None:
    x = torch.linspace(-3, 3, 90_000).reshape(300, 300)
    known = x.clone()
    for write in (lambda t: t.sin_(), lambda t: t.add_(known.to(t.dtype), alpha=0.5),
                  lambda t: t.mul_(t), lambda t: t.clamp_(-1, 1), lambda t: t.sub_(2),
                  lambda t: t.lerp_(known.to(t.dtype), 0.25), lambda t: t.mul_(known[0]),
                  lambda t: t.div_(known[:1])):
        whole, parts = known.clone(), known.clone()
        address, version = whole.data_ptr(), whole._version
        assert write(whole) is whole
        assert whole.data_ptr() == address and whole._version == version + 1
        with torch.no_grad():
            expected = parts.double()
            np.testing.assert_allclose(whole.numpy(), write(expected).numpy(), rtol=1e-5, atol=1e-6)
    column, view = known.clone(), known.clone()
    view.t().exp_()
    assert torch.allclose(view, column.exp(), rtol=1e-6)
    view[:, :150].mul_(0.0)
    assert not view[:, :150].any() and view[:, 150:].any()
    shifted = known.reshape(-1).clone()
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        shifted[1:].add_(shifted[:-1])
    assert torch.equal(shifted, known.reshape(-1))


RECORDED: dict[str, Any] = {
    "number": lambda x, w, c: x.mul_(0.5), "whole number": lambda x, w, c: x.sub_(2),
    "alpha": lambda x, w, c: x.add_(c, alpha=0.3), "history": lambda x, w, c: x.add_(w, alpha=2),
    "two factors": lambda x, w, c: x.mul_(w), "constant": lambda x, w, c: x.div_(c),
    "row": lambda x, w, c: x.mul_(c[0]), "function": lambda x, w, c: x.sin_(),
    "output": lambda x, w, c: x.exp_(), "several steps": lambda x, w, c: x.sigmoid_(),
    "lerp": lambda x, w, c: x.lerp_(w, 0.25), "both": lambda x, w, c: x.add_(x, alpha=0.5),
    "clamp": lambda x, w, c: x.clamp_(-0.5, 0.5), "mask": lambda x, w, c: x.masked_fill_(c > 0, 3),
    "rows": lambda x, w, c: x[20:].mul_(0.5), "rows of two": lambda x, w, c: x[:280].mul_(w[20:]),
    "columns": lambda x, w, c: x.t().mul_(0.5), "addcmul": lambda x, w, c: x.addcmul_(w, c)}


@needs_kernels
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", RECORDED)
def test_recorded_writes_to_large_arrays_are_those_to_small_ones(name: str, dtype: Any) -> None:
    """Beside the general path, which computes into new memory."""
    write = RECORDED[name]
    stream = np.random.default_rng(0)
    numbers = [torch.tensor(stream.standard_normal((300, 300)), dtype=dtype) for _ in range(3)]

    def run() -> list[Any]:
        leaf, w = (t.clone().requires_grad_() for t in numbers[:2])
        x = leaf * 1.5
        data, version = x._data, x._version
        write(x, w, numbers[2])
        seen = [x._data is data, x._version - version, type(x.grad_fn).__name__]
        x.backward(numbers[2])
        return [*seen, x.detach(), leaf.grad, w.grad]

    found = run()
    with general_path():
        expected = run()
    assert found[:3] == expected[:3] and found[0]
    for a, b in zip(found[3:], expected[3:]):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)


@needs_kernels
def test_recorded_writes_to_large_arrays_need_no_other_memory() -> None:
    w, c = torch.ones(600, 600, requires_grad=True), torch.ones(600, 600)
    writes = [lambda x: x.mul_(0.5), lambda x: x.add_(c), lambda x: x.add_(w, alpha=2),
              lambda x: x.mul_(c), lambda x: x[100:].sub_(1)]
    for write in writes:
        x = w * 1
        write(x)  # what is compiled for it is kept
        tracemalloc.start()
        write(x)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < x.nbytes // 4


@needs_kernels
def test_what_a_large_write_changes_is_not_what_was_saved() -> None:
    w = torch.ones(300, 300, requires_grad=True)
    x = w * 1
    y = x * w
    x.mul_(2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward(torch.ones_like(y))
    x = w * 1
    x.mul_(x)  # of which one factor is saved as it was, and the other one is the result
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        x.backward(torch.ones_like(x))
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        w.mul_(2.0)
    assert (w.detach() == 1).all() and w._version == 0


@needs_kernels
def test_gradients_that_meet_are_added_up_in_memory_of_their_own() -> None:
    ones = np.ones((700, 100), np.float32)
    grads = {"whole": ones, "part": ones.repeat(2, 0)[:700],
             "expanded": np.broadcast_to(ones[:1], ones.shape)}
    for name, known in grads.items():
        found = expressions.added(grads, name, ones)
        assert (found == 2).all() and found.flags.c_contiguous
        assert not np.shares_memory(found, known)
    assert (ones == 1).all()


def test_large_tensors_are_added_up_as_small_ones_are() -> None:
    """Sums, products and accumulated gradients of arrays on both sides of the bound."""
    def gradients(x: Any, y: Any) -> Any:
        z = x * y + x
        a = (z.relu() * x + z) / (y.abs() + 1) - z.exp().sqrt() * x
        return torch.autograd.grad(a.mean() + (x * x).sum(), (x, y))

    x, y = (torch.linspace(-2, 2, 70_000, dtype=torch.float64).roll(shift).reshape(100, 700)
            for shift in (0, 700))
    whole = gradients(*(t.clone().requires_grad_() for t in (x, y)))
    x.requires_grad_(), y.requires_grad_()
    z = [xs * ys + xs for xs, ys in zip(x, y)]
    a = [(zs.relu() * xs + zs) / (ys.abs() + 1) - zs.exp().sqrt() * xs
         for xs, ys, zs in zip(x, y, z)]
    loss = sum(row.sum() for row in a) / 70_000 + sum((xs * xs).sum() for xs in x)
    for found, expected in zip(whole, torch.autograd.grad(loss, (x, y))):
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-13)


# ---------------------------------------------------------------- the crew of threads


LARGE = (300, 1000)


def large_softmax(seed: int = 0) -> tuple[Any, Any]:
    x = np.random.default_rng(seed).standard_normal(LARGE).astype(np.float32)
    exact = np.exp(x.astype(np.float64))
    return x, exact / exact.sum(1, keepdims=True)


@needs_kernels
def test_results_do_not_depend_on_the_number_of_threads() -> None:
    softmax, (x, _) = native.OVER["softmax.softmax"].function, large_softmax()
    threads.limit(1)
    alone = softmax(x, 1)
    for count in (2, 3, 8):
        threads.limit(count)
        assert np.array_equal(softmax(x, 1), alone)


@needs_kernels
def test_eight_threads_in_kernels_at_once() -> None:
    threads.limit(3)
    wrong: list[int] = []

    def work(seed: int) -> None:
        x, expected = large_softmax(seed)
        for _ in range(20):
            if not np.allclose(native.OVER["softmax.softmax"].function(x, 1), expected, atol=1e-6):
                wrong.append(seed)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert not worker.is_alive()
    assert not wrong


@needs_kernels
def test_pieces_that_share_out_work_of_their_own_are_each_done_once() -> None:
    """By whoever finds the crew in use, and so does all of them himself, at some depth."""
    threads.limit(3)
    x = np.random.default_rng(0).standard_normal((64, 1018)) + 0j  # with a large prime factor
    expected, wrong = np.fft.fft(x), []

    def work() -> None:
        for _ in range(150):
            found = fourier.complex_to_complex(x, (1,), 0, True)
            wrong.append(not np.allclose(found, expected, atol=1e-9))

    workers = [threading.Thread(target=work) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(100)
    assert len(wrong) == 900 and not any(wrong)


FORKS = """
import os, numpy as np, retrograd as torch
torch.set_num_threads(3)
x = torch.tensor(np.random.default_rng(0).standard_normal((300, 1000)).astype("f"))
before = torch.softmax(x, 1)
for _ in range(3):
    if not (child := os.fork()):
        again = torch.softmax(x, 1)
        if not (grandchild := os.fork()):
            os._exit(0 if torch.equal(torch.softmax(x, 1), before) else 1)
        os._exit(os.waitpid(grandchild, 0)[1] or not torch.equal(again, before))
    assert os.waitpid(child, 0)[1] == 0
    assert torch.equal(torch.softmax(x, 1), before)
"""


def run(program: str, **environment: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          timeout=120, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_kernels
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork_after_use() -> None:
    run(FORKS)


@needs_kernels
def test_the_process_ends_while_threads_are_in_kernels() -> None:
    run("import threading, numpy as np, retrograd as torch; torch.set_num_threads(3)\n"
        "x = torch.ones(300, 1000)\n"
        "def work():\n    while True: torch.softmax(x, 1)\n"
        "for _ in range(3): threading.Thread(target=work, daemon=True).start()\n"
        "import time; time.sleep(0.3)")


@needs_kernels
def test_the_number_of_threads_is_what_was_asked_for() -> None:
    threads.limit(5)
    assert native.package.kernels.threads() == 5
    shown = run("import retrograd; retrograd.show_config()", OMP_NUM_THREADS="7")
    assert "threads: 7" in shown and native.package.variant in shown


def test_kernels_can_be_left_out() -> None:
    shown = run("import retrograd; print(retrograd.softmax(retrograd.ones(2000), 0).sum().item());"
                "retrograd.show_config()", RETROGRAD_KERNELS="0")
    assert "pure NumPy" in shown


@needs_kernels
@pytest.mark.parametrize("variant", getattr(native.package, "VARIANTS", ()))
def test_every_build_that_this_processor_runs(variant: str) -> None:
    try:
        import_module(f"retrograd_kernels._{variant}")
    except ModuleNotFoundError:
        pytest.skip("not built")
    shown = run("import retrograd as torch; x = torch.arange(5000.).reshape(5, 1000) / 1000;"
                "assert torch.softmax(x, 1).sum(1).allclose(torch.ones(5)); torch.show_config()",
                RETROGRAD_KERNELS=variant)
    assert variant in shown


def test_neighbouring_dims_are_known() -> None:
    from retrograd.backend.numpy.native import neighbours

    array = np.zeros((2, 3, 4, 5))
    assert neighbours(array, (1, 2)) == neighbours(array, (2, 1)) == (1, 3)
    assert neighbours(array, (0,)) == (0, 1)
    for dim in [(0, 2), (-1,), (0, 1, 2, 3), None]:
        assert neighbours(array, dim) is None


def test_slopes_of_dilated_kernels_take_nothing_from_memory_behind_the_samples() -> None:
    numbers = np.random.default_rng(1)
    x = torch.tensor(numbers.normal(size=(1, 1, 9, 8, 13)))
    weight = torch.ones(1, 1, 4, 2, 4, dtype=torch.float64)
    weight.requires_grad_()
    for size in numbers.integers(1, 60_000, 200):
        torch.full((int(size),), float("nan"), dtype=torch.float64)
        np.full(size // 20, np.nan)
        y = torch.nn.functional.conv3d(x, weight, padding=4, dilation=3)
        (slopes,) = torch.autograd.grad(y.sum(), weight)
        assert slopes.isfinite().all()
