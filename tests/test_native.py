"""Native kernels: each against the body that it stands over, and the crew of threads behind them.

A kernel is called directly, whatever its condition says, on arrays of every size; the function that
chooses is called on arrays in every arrangement.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import retrograd as torch
from retrograd.backend.numpy import attention, expressions, native, norm, pool, threads
from retrograd.backend.plain.conv import output_space
from retrograd.backend.plain.pool import pool_space

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

    def arranged(self, x: Any) -> Any:
        """The same elements in another arrangement of memory."""
        how = self.draw(st.sampled_from(["rows", "columns", "gaps", "reversed", "expanded", "odd"]))
        if how == "columns":
            return x.T.copy().T
        if how == "gaps":
            return np.stack([x, x], -1)[..., 0]
        if how == "reversed":
            return x[::-1].copy()[::-1]
        if how == "expanded" and x.ndim and x.shape[0]:
            return np.broadcast_to(x[:1], x.shape)
        if how == "odd":  # not aligned
            raw = np.empty(x.nbytes + 1, np.uint8)[1:].view(np.uint8)
            odd = np.frombuffer(raw.data, x.dtype, x.size) if x.dtype.kind != "V" else None
            if odd is not None:
                odd = odd.reshape(x.shape)
                odd[...] = x
                return odd
        return x


WRITING = {"index._add", "index.scatter_into"}
"""Bodies that write to their first argument, which may lie anywhere in memory."""
FILLING = {"norm._add_rows_at"}
"""Bodies that write to new memory."""
STEPPING = {"recurrent.lstm_step", "recurrent.lstm_step_gradient", "recurrent.gru_step",
            "recurrent.gru_step_gradient", "fused.sgd_step", "fused.momentum_step",
            "fused.adam_step"}
"""Bodies that write to several arguments, which lie in order."""

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


@case("matrices.product")
def _(arrays: Arrays) -> tuple[Any, ...]:
    lead = arrays.draw(st.sampled_from([(), (1,), (5,), (2, 3), (0, 2)]))
    rows, columns = (arrays.draw(st.sampled_from([0, 1, 3, 8, 31, 64, 129])) for _ in range(2))
    depth = arrays.draw(st.sampled_from([0, 1, 7, 32, 300]))
    return arrays.floats(*lead, rows, depth, wild=False), arrays.floats(*lead, depth, columns,
                                                                         wild=False)


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
    """A length without prime factors above 7, even or odd, short or long."""
    found = 1
    for factor in arrays.draw(st.lists(st.sampled_from([2, 2, 2, 3, 4, 5, 7, 8, 16]), max_size=7)):
        found *= factor if found * factor <= most else 1
    return found


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
    shape, dims, normalization = signals(arrays, lengths(arrays))
    if arrays.draw(st.booleans()) and len(dims) > 1:
        dims = dims[:-1]
    return spectrum(arrays, *shape), dims, normalization, arrays.draw(st.booleans())


@case("fourier.real_to_complex")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    shape, dims, normalization = signals(arrays, 2 * lengths(arrays))
    return arrays.floats(*shape, wild=False), dims, normalization, True


@case("fourier._whole_spectrum")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    shape, dims, normalization = signals(arrays, lengths(arrays))
    return arrays.floats(*shape, wild=False), dims, normalization


@case("fourier.complex_to_real")
def _(arrays: Arrays) -> tuple[Any, ...]:
    length = 2 * lengths(arrays)
    shape, dims, normalization = signals(arrays, length)
    return spectrum(arrays, *shape[:-1], length // 2 + 1), dims, normalization, length


@case("smooth.gelu", "smooth.tanh_gelu", "smooth.silu", "pointwise.rectified")
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


@case("pointwise.log_gamma", "pointwise.i0", "pointwise.i0e", "pointwise.i1", "pointwise.i1e",
      "pointwise.bessel_j0")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = FLOATS[0]
    scale = arrays.draw(st.sampled_from([0.3, 4.0, 20.0, 1e5]))
    return (arrays.floats(*arrays.shape(), scale=scale),)


@case("smooth.gelu_gradient", "smooth.tanh_gelu_gradient", "smooth.silu_gradient")
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


@case("norm.layer_norm")
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
    """The shapes of one convolution over one or two dimensions, and its settings."""

    def __init__(self, arrays: Arrays):
        def number(low: int, high: int) -> int:
            return arrays.draw(st.integers(low, high))

        rank = number(1, 2)
        self.groups = number(1, 3)
        per_group, kernels = number(1, 5), self.groups * number(1, 9)
        each = [(number(1, 4), number(1, 3), number(0, 3), number(1, 3)) for _ in range(rank)]
        kernel, self.stride, self.padding, self.dilation = zip(*each)
        space = [max(d * (k - 1) + 1 - 2 * p, 1) + number(0, 40 if rank == 1 else 15)
                 for k, s, p, d in each]
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
        (-0.0, array), (number[()], -number[()])]))


@case("create.copy_in_order")
def _(arrays: Arrays) -> tuple[Any, ...]:
    shape = arrays.shape(60_000)
    order = arrays.draw(st.permutations(range(len(shape))))
    return arrays.floats(*shape), tuple(order)


@case("normals.polar_normals")
def _(arrays: Arrays) -> tuple[Any, ...]:
    count = arrays.draw(st.integers(0, 40))
    words = indices(arrays, 0, 2**32, 4 * count)
    return words, (count, 2), arrays.draw(st.sampled_from(FLOATS[:2]))


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


@case("index.taken")
def _(arrays: Arrays) -> tuple[Any, ...]:
    array, index, dim = slices(arrays)
    return array, index.reshape(-1, 2) if index.size % 2 == 0 else index, (dim,)


@case("index._add")
def _(arrays: Arrays) -> tuple[Any, ...]:
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    array, index, dim = slices(arrays)
    values = arrays.floats(*array.shape[:dim], index.size, *array.shape[dim + 1:])
    return array, values, index, (dim,)


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


@case("norm.channel_norm")
def _(arrays: Arrays) -> tuple[Any, ...]:
    own = Channels(arrays)
    return own.x, own.weight, own.bias, own.groups, 1e-2


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


@case("reduce._sum_many")
def _(arrays: Arrays) -> tuple[Any, ...]:
    shape = arrays.shape() if arrays.draw(st.booleans()) else (70_000,)
    return (np.abs(arrays.floats(*shape)),)


@case("pointwise.zeroed", "pointwise.kept")
def _(arrays: Arrays) -> tuple[Any, ...]:
    x = arrays.floats(*arrays.shape())
    return x, arrays.placed(arrays.random.random(x.shape) < 0.5, np.dtype(bool))


def units(arrays: Arrays) -> tuple[Callable[[int], Any], int]:
    """What makes rows of some blocks of units, and how many units there are."""
    arrays.dtype = arrays.draw(st.sampled_from(FLOATS[:2]))
    samples, count = arrays.draw(st.integers(0, 9)), arrays.draw(st.integers(1, 70))
    return lambda blocks: arrays.floats(samples, blocks * count, wild=False), count


@case("recurrent.lstm_step")
def _(arrays: Arrays) -> tuple[Any, ...]:
    rows, _ = units(arrays)
    return rows(4), rows(4), rows(1), rows(1), rows(1), rows(1)


@case("recurrent.lstm_step_gradient")
def _(arrays: Arrays) -> tuple[Any, ...]:
    rows, _ = units(arrays)
    arrived = arrays.draw(st.sampled_from([None, rows(1)]))
    return np.tanh(rows(4)), rows(1), arrived, rows(1), rows(1), rows(4)


@case("recurrent.gru_step")
def _(arrays: Arrays) -> tuple[Any, ...]:
    rows, count = units(arrays)
    bias = arrays.draw(st.sampled_from([None, arrays.floats(3 * count, wild=False)]))
    return rows(3), bias, rows(3), rows(1), rows(1), rows(1)


@case("recurrent.gru_step_gradient")
def _(arrays: Arrays) -> tuple[Any, ...]:
    rows, _ = units(arrays)
    arrived = arrays.draw(st.sampled_from([None, rows(1)]))
    return np.tanh(rows(3)), rows(1), rows(1), arrived, rows(1), rows(3), rows(3)


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


examples = settings(max_examples=int(os.environ.get("RETROGRAD_NATIVE_EXAMPLES", "25")),
                    deadline=None, derandomize=True, database=None,
                    suppress_health_check=list(HealthCheck))


@needs_kernels
@pytest.mark.parametrize("name", native.OVER)
@examples
@given(data=st.data())
def test_a_kernel_gives_what_the_body_gives(name: str, data: Any) -> None:
    assert name in CASES, f"{name} has a native kernel and no case: give it one"
    threads.limit(data.draw(st.sampled_from([1, 2, 3])))
    compare(native.OVER[name].call, native.OVER[name].body, CASES[name](Arrays(data.draw)))


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
    args = tuple(arrays.arranged(a) if isinstance(a, np.ndarray) and a.ndim else a
                 for a in CASES[name](arrays))
    if name in FILLING or (name in WRITING and not args[0].flags.writeable):
        args = (args[0].copy(), *args[1:])
    if name in STEPPING:
        args = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)
    # Some bodies round to half precision at each step.
    compare(native.OVER[name].function, native.OVER[name].body, args, lenience=8)


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
    found = native.OVER["create.copy_in_order"].call(x, order)
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
    ("bessel_j0", "j0", -90, 90)])
def test_special_functions_are_exact_in_single_precision(
        name: str, theirs: str, low: float, high: float) -> None:
    x = np.linspace(low, high, 2003).astype(np.float32)
    found = native.OVER[f"pointwise.{name}"].call(x)
    exact = getattr(pytest.importorskip("scipy.special"), theirs)(x.astype(np.float64))
    assert (np.abs(found - exact) / np.spacing(np.abs(exact).astype(np.float32))).max() \
        < (2.5 if name == "logit" else 0.51)  # that one is computed in single precision


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
@pytest.mark.parametrize("dtype", FLOATS[:2])
@pytest.mark.parametrize("name", ["erf", "erfc", "erfcx", "erfinv", "ndtr", "log_ndtr", "logit",
                                  "log_gamma", "digamma", "entr", "i0", "i0e", "i1", "i1e",
                                  "bessel_j0"])
def test_special_functions_of_special_numbers(name: str, dtype: Any) -> None:
    tiny, huge = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    x = np.array([0, 1, 2, 3, 0.5, 1e-30, tiny, huge, np.inf], dtype)
    x = np.concatenate([x, -x, np.full(300, np.nan, dtype)])
    over = native.OVER[f"pointwise.{name}"]
    with np.errstate(all="ignore"):
        found, expected = over.function(x), over.body(x)
    assert np.allclose(found, expected, 1e-15 if dtype == np.float64 else 2e-7, 0, equal_nan=True)
    zero = expected == 0
    assert np.array_equal(np.signbit(found[zero]), np.signbit(expected[zero]))


# ---------------------------------------------------------------- Fourier transforms


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
def test_a_long_spectrum_whose_roots_are_in_no_table() -> None:
    x = noise(3 << 20)
    threads.limit(3)
    found = native.OVER["fourier.complex_to_complex"].call(x, (0,), 1, False)
    assert np.abs(found - np.fft.ifft(x, norm="ortho")).max() < 1e-5
    real = native.OVER["fourier.real_to_complex"].call(x.real.copy(), (0,), 1, True)
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

    fourier, half, real = (native.kernels[name]
                           for name in ("fourier", "half_fourier", "real_fourier"))
    numbers = np.ones((4, 6), np.float32)
    for call, error in [(lambda: fourier(ones(4, 11), ones(4, 11), 2, 1.0, True), "factors"),
                        (lambda: fourier(ones(4, 8), ones(8, 4), 2, 1.0, True), "shape"),
                        (lambda: fourier(ones(4, 8), ones(4, 8), 4, 1.0, True), "no such"),
                        (lambda: fourier(ones(4, 8), ones(4, 8), 0, 1.0, True), "no dim"),
                        (lambda: fourier(ones(4, 0), ones(4, 0), 2, 1.0, True), "factors"),
                        (lambda: fourier(ones(1 << 14, 1), ones(1 << 14, 1), 1, 1.0, True),
                         "too long"),
                        (lambda: half(numbers, ones(4, 5), 2, 1.0), "half a spectrum"),
                        (lambda: half(numbers, ones(3, 4), 2, 1.0), "different shapes"),
                        (lambda: half(numbers, ones(4), 2, 1.0), "different ranks"),
                        (lambda: real(ones(4, 3), np.ones((4, 5), "f"), 2, 1.0), "half a"),
                        (lambda: half(numbers, numbers, 2, 1.0), "no kernel for arrays of")]:
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
                        [0.0, -0.0, np.inf, -np.inf, np.nan, 50, -1e30]]).astype(dtype)
    zeros, gates = np.full((x.size, 4), -0.0, dtype), np.stack([x] * 4, 1)
    native.OVER["recurrent.lstm_step"].call(zeros, gates, *(np.zeros((x.size, 1), dtype)
                                                            for _ in range(4)))
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
