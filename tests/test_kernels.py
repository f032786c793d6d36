"""Kernels that choose between algorithms by size: each of them against the plain definition."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.backend.numpy import conv, norm, pool, rows, smooth

F = torch.nn.functional


def numbers(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


# ---------------------------------------------------------------- rows


@pytest.mark.parametrize("shape", [(3, 2), (300, 5), (40, 70), (2, 9000), (70_000, 10),
                                   (300, 1000)])
def test_rows(shape: tuple[int, int]) -> None:
    x, y = numbers(*shape), numbers(*shape, seed=1)
    assert np.allclose(rows.row_sums(x), x.sum(1, keepdims=True))
    assert np.allclose(rows.row_products(x, y), (x * y).sum(1, keepdims=True))
    assert np.array_equal(rows.row_maxima(x), x.max(1, keepdims=True))
    assert np.array_equal(rows.row_maxima(x.T.copy().T), x.max(1, keepdims=True))
    assert np.allclose(rows.column_sums(x), x.sum(0))
    x[1, 1] = np.nan
    assert np.isnan(rows.row_maxima(x)).sum() == 1


@pytest.mark.parametrize("shape", [(3, 300), (5, 70, 1000)])
def test_large_softmax_is_that_of_its_rows(shape: tuple[int, ...]) -> None:
    x = torch.tensor(numbers(*shape), requires_grad=True)
    for function in (torch.softmax, torch.log_softmax):
        whole = function(x, -1)
        for part, row in zip(whole.reshape(-1, shape[-1])[:3], x.reshape(-1, shape[-1]),
                             strict=False):
            assert torch.allclose(part, function(row, 0))


# ---------------------------------------------------------------- normalisation


def gradients(function: Any, *tensors: Any) -> list[Any]:
    given = [t.detach().requires_grad_() for t in tensors]
    y = function(*given)
    return [y, *torch.autograd.grad(y.pow(3).sum(), given)]


@pytest.mark.parametrize("width", [100, 600])
def test_large_layer_norm_is_that_of_its_parts(width: int) -> None:
    x, weight, bias = (torch.tensor(numbers(*s, seed=len(s))) for s in (
        (300, 4, width), (width,), (width,)))
    function = lambda x, w, b: F.layer_norm(x, (width,), w, b)
    whole = gradients(function, x, weight, bias)
    parts = [gradients(function, x[i:i + 30], weight, bias) for i in range(0, 300, 30)]
    for nr, join in enumerate((torch.cat, torch.cat, sum, sum)):
        assert torch.allclose(whole[nr], join([part[nr] for part in parts]))


@pytest.mark.parametrize("shape", [(4, 6, 3), (4, 6, 300), (20, 6, 30, 40)])
def test_moments_that_are_kept_are_those_that_are_computed(shape: tuple[int, ...]) -> None:
    x, g, weight = numbers(*shape), numbers(*shape, seed=1), numbers(6, seed=2)
    for groups in (None, 3):
        y, mean, scale, _ = norm.channel_norm(x, weight, None, groups, 1e-5)
        axes = (0, *range(2, len(shape)))
        if groups is None:
            apart = x - x.mean(axes, keepdims=True)
            plain = apart / np.sqrt((apart ** 2).mean(axes, keepdims=True) + 1e-5)
            assert np.allclose(y, plain * weight.reshape(-1, *(1,) * (len(shape) - 2)))
        for function, given in ((norm.channel_input_gradient, (g, x, weight)),
                                (norm.channel_weight_gradient, (g, x))):
            assert np.allclose(function(*given, mean, scale, groups, 1e-5),
                               function(*given, None, None, groups, 1e-5))


@pytest.mark.parametrize(("count", "indices"), [(50, 20), (10, 40), (5000, 800), (20, 800)])
def test_rows_are_added_up_by_index(count: int, indices: int) -> None:
    g = numbers(indices, 16)
    where = np.random.default_rng(1).integers(0, count, indices)
    expected = np.zeros((count, 16))
    np.add.at(expected, where, g)
    assert np.allclose(norm.add_rows(g, where, count, -1, False), expected)
    expected /= np.maximum(np.bincount(where, minlength=count), 1)[:, None]
    assert np.allclose(norm.add_rows(g, where, count, -1, True), expected)


# ---------------------------------------------------------------- convolution and pooling

SETTINGS = [(1, 0, 1, 1), (1, 1, 1, 1), (1, 2, 2, 1), (2, 1, 1, 1), (1, 1, 1, 2), (2, 0, 2, 2)]


@pytest.mark.parametrize(("stride", "padding", "dilation", "groups"), SETTINGS)
@pytest.mark.parametrize("space", [(7,), (6, 5), (20, 17), (5, 5, 6)])
def test_convolution(space: tuple[int, ...], stride: int, padding: int, dilation: int,
                     groups: int) -> None:
    rank = len(space)
    x = numbers(3, 4, *space)
    weight = numbers(6, 4 // groups, *(3, 2, 2)[:rank], seed=1)
    steps = [(n,) * rank for n in (stride, padding, dilation)]
    y = conv.convolve(x, weight, None, *steps, groups)
    wide = np.pad(x, [(0, 0), (0, 0), *[(padding, padding)] * rank])
    expected = np.zeros_like(y)
    for place in itertools.product(*map(range, weight.shape[2:])):
        part = wide[(..., *[slice(i * dilation, i * dilation + (n - 1) * stride + 1, stride)
                            for i, n in zip(place, y.shape[2:], strict=True)])]
        kernel = weight[(..., *place)].reshape(groups, 6 // groups, -1)
        split = part.reshape(3, groups, 4 // groups, *part.shape[2:])
        expected += np.einsum("goc,ngc...->ngo...", kernel, split).reshape(y.shape)
    assert np.allclose(y, expected)
    # What is linear is known by its inner products.
    g = numbers(*y.shape, seed=2)
    total = (g * y).sum()
    assert np.isclose((conv.convolve_input_gradient(g, weight, x.shape, *steps, groups) * x).sum(),
                      total)
    assert np.isclose((conv.convolve_weight_gradient(g, x, weight.shape, *steps, groups)
                       * weight).sum(), total)


def places_of_maxima(x: Any, kernel: int, stride: int, padding: int, out: Any) -> Any:
    """The first maximum, or last NaN, of every window, found one by one."""
    height, width = x.shape[-2:]
    found = np.zeros((*x.shape[:-2], *out), np.int64)
    for index in np.ndindex(*found.shape):
        plane, best = x[index[:-2]], None
        starts = [i * stride - padding for i in index[-2:]]
        for i, j in itertools.product(range(kernel), repeat=2):
            r, c = starts[0] + i, starts[1] + j
            if 0 <= r < height and 0 <= c < width and (
                    best is None or plane[r, c] > plane[best] or np.isnan(plane[r, c])):
                best = (r, c)
        assert best is not None
        found[index] = best[0] * width + best[1]
    return found


@pytest.mark.parametrize(("kernel", "stride", "padding"), [(2, 2, 0), (3, 2, 1), (3, 1, 0)])
@pytest.mark.parametrize("shape", [(2, 8, 9), (20, 8, 9), (2, 9, 20)])
def test_max_pooling(shape: tuple[int, ...], kernel: int, stride: int, padding: int) -> None:
    x = np.random.default_rng(0).integers(-1, 2, shape).astype(float)
    x[0, 2:4, 2:6] = np.nan
    x[1, :3, :3] = -np.inf
    pairs = [(n, n) for n in (kernel, stride, padding)]
    out = pool.pool_space(shape[1:], *pairs, (1, 1), False)
    given = (*pairs, (1, 1), out)
    expected = places_of_maxima(x, kernel, stride, padding, out)
    values, places = pool.max_pool_with_places(x, *given)
    indices = pool.indices_of_places(places, shape[1:], *given)
    assert np.array_equal(indices, expected)
    taken = pool.gather_planes(x, expected, 2)
    assert np.array_equal(values, taken, equal_nan=True)
    assert np.array_equal(pool.max_pool(x, *given), taken, equal_nan=True)
    g = numbers(*taken.shape)
    apart = stride >= kernel
    assert np.allclose(pool.scatter_places(g, places, shape[1:], *given, apart),
                       pool.scatter_planes(g, expected, shape[1:], apart))


# ---------------------------------------------------------------- smooth units


@pytest.mark.parametrize("count", [100, 5000, 70_000])
def test_smooth_units_of_any_size(count: int) -> None:
    x = np.linspace(-9, 9, count).astype(np.float32)
    exact = x.astype(np.float64)
    assert np.abs(smooth.gelu(x) - smooth.gelu(exact)).max() < 1e-6
    assert np.abs(smooth.gelu_gradient(x, x) - smooth.gelu_gradient(exact, exact)).max() < 1e-5
    assert np.allclose(smooth.silu(x), exact / (1 + np.exp(-exact)), atol=1e-6)
    for function in (smooth.gelu, smooth.tanh_gelu, smooth.silu):
        found = function(np.full(count, np.nan, np.float32))
        assert np.isnan(found).all()


@pytest.mark.parametrize("function", [
    lambda x: (smooth.gelu(x), smooth.gelu_gradient(1.0 + 0 * x, x)),
    lambda x: (smooth.tanh_gelu(x), smooth.tanh_gelu_gradient(1.0 + 0 * x, x)),
    lambda x: (smooth.silu(x), smooth.silu_gradient(1.0 + 0 * x, x))])
def test_slopes_are_those_of_the_curves(function: Any) -> None:
    x, step = numbers(200) * 3, 1e-6
    slope = (function(x + step)[0] - function(x - step)[0]) / (2 * step)
    assert np.allclose(function(x)[1], slope, atol=1e-7)
