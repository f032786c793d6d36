"""Mixed precision: what it costs when off, and what it must not break."""

from __future__ import annotations

import asyncio
import copy
import pickle
import threading

import pytest

import retrograd as torch
from retrograd.base.modes import GRAD, MODE, NO_GRAD
from tests.test_import import run


def test_off_is_the_ordinary_mode() -> None:
    with torch.autocast("cpu"):
        with torch.autocast("cpu", enabled=False):
            assert MODE.get() is GRAD
        assert MODE.get() is not GRAD
        with torch.no_grad(), torch.autocast("cpu", enabled=False):
            assert MODE.get() is NO_GRAD
    assert MODE.get() is GRAD


def test_functions_look_only_after_the_first_use() -> None:
    program = """
import inspect, retrograd as torch
code = torch.matmul.__code__
signature = str(inspect.signature(torch.matmul))
x = torch.ones(2, 2)
x @ x
torch.autocast("cpu", enabled=False).__enter__()
print(torch.matmul.__code__ is code)
with torch.autocast("cpu"):
    print(torch.matmul.__code__ is code, (x @ x).dtype)
print((x @ x).dtype, str(inspect.signature(torch.matmul)) == signature)
"""
    assert run(program).split() == ["True", "False", "torch.bfloat16", "torch.float32", "True"]


def test_threads_that_use_it_first_at_once() -> None:
    program = """
import sys, threading, retrograd as torch
sys.setswitchinterval(1e-6)
barrier, found = threading.Barrier(6), []
def product():
    barrier.wait()
    with torch.autocast("cpu"):
        found.append((torch.ones(2, 2) @ torch.ones(2, 2)).dtype)
threads = [threading.Thread(target=product) for _ in range(6)]
[t.start() for t in threads], [t.join() for t in threads]
print(found == [torch.bfloat16] * 6)
"""
    assert run(program).split() == ["True"]


def test_tasks_have_their_own() -> None:
    async def inside() -> bool:
        with torch.autocast("cpu"):
            await asyncio.sleep(0)
            return torch.is_autocast_enabled("cpu")

    async def outside() -> bool:
        await asyncio.sleep(0)
        return torch.is_autocast_enabled("cpu")

    async def both() -> list[bool]:
        return list(await asyncio.gather(inside(), outside()))

    assert asyncio.run(both()) == [True, False]


def test_a_weight_that_was_written_to_is_cast_again() -> None:
    w = torch.ones(1, 1, requires_grad=True)
    with torch.autocast("cpu"):
        assert (torch.ones(1, 1) @ w).item() == 1
        with torch.no_grad():
            w.mul_(3)
        assert (torch.ones(1, 1) @ w).item() == 3


def test_casts_are_forgotten_with_the_block() -> None:
    w = torch.ones(1, 1, requires_grad=True)
    with torch.autocast("cpu"):
        torch.ones(1, 1) @ w
        cache = MODE.get().autocast.cache
        with torch.autocast("cpu"):
            assert MODE.get().autocast.cache is cache and len(cache) == 1
        torch.clear_autocast_cache()
        assert not cache


def test_what_was_computed_without_recording_is_not_remembered() -> None:
    w = torch.ones(1, 1, requires_grad=True)
    with torch.autocast("cpu"):
        with torch.no_grad():
            torch.ones(1, 1) @ w
        (torch.ones(1, 1) @ w).sum().backward()
    assert w.grad is not None and w.grad.dtype is torch.float32


def test_subclasses_and_derivatives_of_derivatives() -> None:
    class Named(torch.Tensor):
        pass

    x = torch.ones(2, 2, requires_grad=True)
    with torch.autocast("cpu"):
        assert type(torch.ones(2, 2).as_subclass(Named) @ x) is Named
        (first,) = torch.autograd.grad(((x @ x) * (x @ x)).float().sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert first.dtype is second.dtype is torch.float32


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_empty_expanded_and_strided_arguments(dtype: torch.dtype) -> None:
    with torch.autocast("cpu", dtype=dtype):
        assert (torch.ones(0, 3) @ torch.ones(3, 2)).shape == (0, 2)
        assert (torch.ones(1, 3).expand(2, 3) @ torch.ones(2, 3).t()).dtype is dtype


def test_a_scaler_is_copied_between_iterations() -> None:
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    scaler.scale(torch.ones(1))
    for made in (copy.deepcopy(scaler), pickle.loads(pickle.dumps(scaler))):
        assert made.state_dict() == scaler.state_dict()
    w = torch.ones(1, requires_grad=True)
    w.grad = torch.ones(1)
    scaler.unscale_(torch.optim.SGD([w], lr=0.1))
    with pytest.raises(AssertionError, match="may only be pickled at the beginning"):
        pickle.dumps(scaler)


def test_an_interrupt_leaves_it_off() -> None:
    with pytest.raises(KeyboardInterrupt), torch.autocast("cpu"):
        raise KeyboardInterrupt
    assert MODE.get() is GRAD
    started = threading.Thread(target=lambda: torch.autocast("cpu").__enter__())
    started.start(), started.join()
    assert MODE.get() is GRAD
