"""float16 and bfloat16 are rounded where PyTorch rounds them: the same bits, not only near ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import retrograd as rg
from retrograd.backend.numpy import native

HALVES = ("float16", "bfloat16")


def numbers(lib: Any, dtype: str, *shape: int, seed: int = 0, size: float = 3.0) -> Any:
    drawn = np.random.RandomState(seed).standard_normal(shape) * size
    return lib.tensor(np.ravel(drawn)).reshape(shape).to(getattr(lib, dtype))


def classes(lib: Any, *shape: int, count: int) -> Any:
    drawn = np.random.RandomState(1).randint(0, count, shape)
    return lib.tensor(np.ravel(drawn)).reshape(shape)


def gradients(lib: Any, function: Callable[..., Any], *inputs: Any) -> list[Any]:
    leaves = [x.requires_grad_() for x in inputs]
    output = function(*leaves)
    seed = numbers(lib, str(output.dtype).partition(".")[2], *output.shape, seed=7)
    return [output, *lib.autograd.grad(output, leaves, seed)]


def losses(lib: Any, dtype: str, reduction: str) -> list[Any]:
    x, weight = numbers(lib, dtype, 3, 4, 30, 10), numbers(lib, dtype, 4, seed=2).abs()
    target = classes(lib, 3, 30, 10, count=4)
    loss = lib.nn.functional.nll_loss
    return [loss(x, target, reduction=reduction), loss(x, target, weight, reduction=reduction),
            loss(x[:, :, 0, 0], target[:, 0, 0], reduction=reduction),
            loss(x[:, :, :2, :8], target[:, :2, :8], weight, reduction=reduction)]


def of_logits(lib: Any, dtype: str) -> list[Any]:
    x, target = numbers(lib, dtype, 40, seed=3), numbers(lib, dtype, 40, seed=4).sigmoid()
    weight = numbers(lib, dtype, 40, seed=5)
    loss = lib.nn.functional.binary_cross_entropy_with_logits
    return [loss(x, target, weight, reduction="none"), loss(x, target, weight, reduction="sum"),
            loss(x, target, pos_weight=weight.abs(), reduction="none")]


def bins(lib: Any, dtype: str) -> list[Any]:
    x = numbers(lib, dtype, 200, size=4.0)
    return [lib.histc(x, count, low, high) for count in (7, 100, 333)
            for low, high in ((-10, 10), (-3, 0), (1, 5))]


def places(lib: Any, dtype: str) -> list[Any]:
    """Of the nearest elements, which say where each place was."""
    x, grid = numbers(lib, dtype, 2, 3, 17, 23), numbers(lib, dtype, 2, 30, 40, 2, size=0.7)
    return [lib.nn.functional.grid_sample(x, grid, "nearest", padding, align)
            for padding in ("zeros", "border", "reflection") for align in (True, False)]


def of_groups(lib: Any, dtype: str) -> list[Any]:
    return gradients(lib, lambda x: lib.nn.functional.group_norm(x, 2), numbers(lib, dtype, 4, 6))


def of_legs(lib: Any, dtype: str) -> list[Any]:
    return gradients(lib, lib.hypot, numbers(lib, dtype, 50), numbers(lib, dtype, 50, seed=1))


CALLS: dict[str, Callable[[Any, str], list[Any]]] = {
    **{f"nll_loss {how}": lambda lib, dtype, how=how: losses(lib, dtype, how)  # type: ignore[misc]
       for how in ("none", "mean", "sum")},
    "binary_cross_entropy_with_logits": of_logits, "histc": bins, "grid_sample": places,
    "group_norm": of_groups, "hypot": of_legs}


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", CALLS)
def test_the_same_bits(name: str, dtype: str) -> None:
    wanted, found = (CALLS[name](lib, dtype) for lib in (torch, rg))
    for i, (theirs, ours) in enumerate(zip(wanted, found, strict=True)):
        a, b = theirs.detach().float().numpy(), ours.detach().float().numpy()
        assert np.array_equal(a, b, equal_nan=True), (i, np.argwhere(a != b)[:5], a, b)


def test_the_gradient_of_an_overflowing_product_is_infinite() -> None:
    def gradient(lib: Any) -> Any:
        x = lib.full((6,), 100.0, dtype=lib.float16, requires_grad=True)
        whole = lib.ones(1, dtype=lib.float16).scatter_reduce(
            0, lib.zeros(6, dtype=lib.int64), x, "prod")
        return lib.autograd.grad(whole.sum(), x)[0].tolist()

    assert gradient(rg) == gradient(torch) == [float("inf")] * 6


@pytest.mark.skipif("sorting_order" not in native.kernels, reason="the order is the C++ library's")
@pytest.mark.parametrize("dtype", (*HALVES, "bool"))
@pytest.mark.parametrize("shape, dim", [((17,), 0), ((1000,), 0), ((40, 3), 0), ((3, 200), -1),
                                        ((4, 30, 2), 1), ((16,), 0)])
def test_equal_elements_stand_in_pytorchs_order(dtype: str, shape: tuple[int, ...],
                                                dim: int) -> None:
    def orders(lib: Any) -> list[Any]:
        x = (classes(lib, *shape, count=4) % (2 if dtype == "bool" else 4)).to(getattr(lib, dtype))
        if dtype != "bool":
            x[0] = float("nan")
        indices = [lib.sort(x, dim, descending)[1] for descending in (False, True)]
        return [*indices, x.argsort(dim), x.argsort(stable=True, dim=dim), lib.mode(x[1:], dim)[1],
                lib.sort(x, dim=dim, stable=True)[1],
                lib.sort(x[:1].expand(30, *shape[1:]), 0)[1]]

    assert [o.tolist() for o in orders(rg)] == [o.tolist() for o in orders(torch)]
