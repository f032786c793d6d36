"""The ledger: bytes saved for backward, each piece of memory once, by line, op and module."""

from __future__ import annotations

import gc
import inspect
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd import nn
from retrograd.autograd import ledger
from retrograd.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 30), nn.Tanh())
        self.head = nn.Linear(30, 5)

    def forward(self, x: Any) -> Any:
        h = self.body(x)
        return self.head(h)


# Of a batch of 32: the input of each Linear (of which the second is what ReLU made and saved, and
# the third what Tanh did), and what the loss needs: log-probabilities and targets.
BY_HAND = {"x": 32 * 10 * 4, "relu": 32 * 20 * 4, "tanh": 32 * 30 * 4, "log_softmax": 32 * 5 * 4,
           "targets": 32 * 8}
WEIGHTS = (20 * 30 + 30 * 5) * 4  # of the second and third layer; the first's input needs none


def test_the_total_of_a_known_model_is_the_sum_computed_by_hand() -> None:
    net, x, target = Net(), torch.ones(32, 10), torch.zeros(32, dtype=torch.int64)
    with ledger() as held:
        loss = nn.functional.cross_entropy(net(x), target)
        total = sum(BY_HAND.values())
        # The loss may keep the sum of the weights beside: one number.
        assert total <= held.current <= total + 8
        assert held.parameters == WEIGHTS
        assert sum(row.bytes for row in held.rows("op")) == held.current == held.peak
        assert {row.name: row.bytes for row in held.rows("module")} | {"": 0} == {
            "Net.body.0": BY_HAND["x"], "Net.body.1": BY_HAND["relu"],
            "Net.body.3": BY_HAND["tanh"], "": 0}
        lines = {row.name: row.bytes for row in held.rows("line")}
        _, first = inspect.getsourcelines(Net.forward)
        assert lines[f"{__file__}:{first + 1}"] == sum(
            BY_HAND[name] for name in ("x", "relu", "tanh"))
        peak = held.current
        loss.backward()
        assert (held.current, held.parameters, held.peak) == (0, 0, peak)
        assert sum(row.bytes for row in held.rows("op")) == peak  # at the peak, which is over
        assert held.rows("op", "now") == []


def test_a_piece_of_memory_counts_once_and_whole() -> None:
    x = torch.ones(100, 10, requires_grad=True)
    with ledger() as held:
        y = x * 2
        kept = [y[i].sin() for i in range(10)]  # views of one storage
        assert held.current == 4000
        z = y.exp()  # saves what it made
        assert held.current == 8000
        wide = torch.ones(1, requires_grad=True) * torch.ones(1).expand(10**6)
        assert held.current == 8004
        del kept, z, wide
        gc.collect()
        assert held.current == 0 and held.peak == 8004


def test_graphs_that_die_make_room_and_the_peak_stays() -> None:
    x = torch.ones(1000, requires_grad=True)
    with ledger() as held:
        for _ in range(5):
            y = x.exp()
            y.sum().backward()
            y = None
        assert held.peak == 4000 and held.current == 0
        a, b = x.exp(), x.exp()
        assert held.peak == held.current == 8000
    assert held.current == 8000
    del a, b
    assert held.current == 0
    c = x.exp()  # after the block
    assert held.current == 0 and c.requires_grad


def test_a_retained_graph_stays_and_higher_orders_are_counted() -> None:
    x = torch.ones(1000, requires_grad=True)
    with ledger() as held:
        y = x.exp()
        loss = (y * y).sum()
        before = held.current
        loss.backward(retain_graph=True)
        assert held.current == before == 4000
        (slope,) = torch.autograd.grad(loss, x, create_graph=True)
        assert held.current > before
        slope.sum().backward()
        del loss, y, slope
        gc.collect()
        assert held.current == 0


def test_custom_functions_writes_checkpoints_and_transforms() -> None:
    class Keeps(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            ctx.save_for_backward(a * 2)
            ctx.also = torch.ones(10)
            return a * 3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (saved,) = ctx.saved_tensors
            return g * saved

    x = torch.ones(100, requires_grad=True)
    with ledger() as held:
        y = Keeps.apply(x)
        assert held.current == 440 and held.rows("op")[0].name == "Keeps"
        y.sum().backward()
        del y
        assert held.current == 0
        z = x * 1
        z[:50] = (x[:50] + 1).exp()
        assert held.current == 400 // 2
        z.sum().backward()
        assert held.current == 0
        u = checkpoint(lambda t: t.exp().sin().exp(), x + 1, use_reentrant=False)
        assert held.current == 400 + torch.get_rng_state().nbytes  # its input, and the state
        u.sum().backward()
        assert held.current == 0
        mapped = torch.vmap(lambda row: (row * x).exp())(torch.ones(3, 100))
        assert held.current >= 1200
        mapped.sum().backward()
        del u, mapped
        gc.collect()
        assert held.current == 0


class Boxed:
    def __init__(self, tensor: Any):
        self.tensor = tensor


@pytest.mark.parametrize("pack, unpack, size", [
    (lambda t: t.clone(), lambda t: t, 400), (lambda t: t, lambda t: t, 400),
    (lambda t: t.half(), lambda t: t.float(), 200),
    (lambda t: t.numpy().copy(), torch.from_numpy, 400),
    (lambda t: {"here": (t.clone(),)}, lambda d: d["here"][0], 400),
    (lambda t: Boxed(t.clone()), lambda box: box.tensor, 400),
    (lambda t: Boxed(t.numpy().copy()), lambda box: torch.from_numpy(box.tensor), 400),
    (lambda t: t.numpy().tobytes(), lambda b: torch.tensor(np.frombuffer(b, "f4")), 400),
    (lambda t: 7, lambda n: torch.full((100,), 2.718281828), 0)])
def test_what_hooks_keep_counts_in_the_place_of_what_was_saved(pack: Any, unpack: Any,
                                                               size: int) -> None:
    x = torch.ones(100, requires_grad=True)
    with ledger() as held, torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x.exp()
        assert held.current == size
        z = y.sum()
        z.backward()
        assert (held.current, held.peak) == (0, size)
        assert torch.allclose(x.grad, torch.full((100,), 2.718281828), 1e-3)


def test_nested_checkpoints_and_what_recomputing_holds() -> None:
    x = torch.ones(100, requires_grad=True)
    state = torch.get_rng_state().nbytes

    def inner(t: Any) -> Any:
        return checkpoint(lambda u: u.exp().sin(), t * 2, use_reentrant=False)

    with ledger() as held:
        y = checkpoint(inner, x + 1, use_reentrant=False)
        assert 400 + state <= held.current <= 400 + 2 * state  # of the outer one, and both states
        before = held.current
        y.sum().backward()
        del y
        gc.collect()
        assert held.current == 0 and held.peak > before  # while it was computed again


@pytest.mark.parametrize("dtype, size", [(torch.bfloat16, 2), (torch.float16, 2),
                                         (torch.float64, 8), (torch.complex64, 8)])
def test_bytes_are_those_of_the_dtype(dtype: Any, size: int) -> None:
    x = torch.ones(50, dtype=dtype, requires_grad=True)
    with ledger() as held:
        y = x.exp()
    assert held.current == 50 * size and y.requires_grad


def test_other_modes_go_on_and_empty_blocks_are_empty() -> None:
    x = torch.ones(3, requires_grad=True)
    with ledger() as outer, torch.no_grad():
        assert not (x * 2).requires_grad
        with ledger() as inner, torch.enable_grad():
            y = x.exp()
    assert outer.peak == 0 and inner.peak == 12 and y.requires_grad
    assert str(outer).splitlines()[0].startswith("saved for backward: 0 B now, 0 B at the peak")
    assert torch.is_grad_enabled()
    for wrong in (lambda: inner.rows("colour"), lambda: inner.rows("op", "then")):
        with pytest.raises(ValueError, match="ledger"):
            wrong()


def test_what_it_prints() -> None:
    x = torch.ones(1000, requires_grad=True)
    with ledger() as held:
        kept = [x.exp(), x.exp(), x.tanh()]
    text = held.table("op")
    assert text.splitlines()[2:] == ["  bytes  pieces  op",
                                     "-------  ------  ----",
                                     "7.8 KiB       2  Exp",
                                     "3.9 KiB       1  Tanh"]
    assert "and 1 more" in held.table("op", limit=1) and len(kept) == 3
    from rich.console import Console

    with (console := Console(width=200)).capture() as capture:
        console.print(held)
    assert f"{__file__}:" in capture.get()


def test_an_error_of_memory_names_the_largest_holders() -> None:
    x = torch.ones(1000, requires_grad=True)
    y = x
    for n in range(15):
        y = y.exp().repeat(2) if n < 3 else y.sin()
    with pytest.raises(MemoryError) as raised:
        y[:1].expand(10**8, 10**7) * 2
    (note,) = raised.value.__notes__
    assert note.startswith("402.3 KiB are kept for backward; the largest holders:")
    assert note.count(f'File "{__file__}"') == 10 and "y.sin()" in note
    held_first = note.splitlines()[3].split()
    assert held_first[:3] == ["31.2", "KiB", "Sin"]


def test_an_error_of_memory_in_backward_and_in_a_ledger_does_too() -> None:
    def fail(g: Any) -> Any:
        raise MemoryError("no more")

    x = torch.ones(1000, requires_grad=True)
    first = x.exp()
    y = first.sin()
    y.register_hook(fail)
    with pytest.raises(MemoryError, match="no more") as raised:
        y.sum().backward()
    assert "3.9 KiB are kept for backward" in raised.value.__notes__[0]
    with pytest.raises(MemoryError) as raised, ledger():
        z = x.exp()
        kept = [x[:n].exp() for n in range(1, 30)]
        raise MemoryError
    assert "x.exp()" in raised.value.__notes__[0] and z.requires_grad and len(kept) == 29
    assert raised.value.__notes__[0].count(f'File "{__file__}"') == 10
