"""Checkpointing: less memory, the same gradients."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from typing import Any

import pytest

import retrograd as torch
from retrograd.utils import checkpoint as module
from retrograd.utils.checkpoint import CheckpointPolicy, checkpoint, checkpoint_sequential

BOTH = pytest.mark.parametrize("reentrant", [True, False], ids=["reentrant", "plain"])


def layer(x: Any) -> Any:
    return (x.sin() * 0.9).tanh() + x.cos()


def deep(x: Any, blocks: int, wrap: Any) -> Any:
    def block(t: Any) -> Any:
        for _ in range(8):
            t = layer(t)
        return t

    for _ in range(blocks):
        x = wrap(block, x)
    return x.sum()


def peak_bytes(run: Any) -> int:
    gc.collect()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@BOTH
def test_peak_memory_falls(reentrant: bool) -> None:
    x = torch.rand(20_000, dtype=torch.float64, requires_grad=True)

    def plainly() -> None:
        deep(x, 10, lambda f, t: f(t)).backward()

    def checkpointed() -> None:
        deep(x, 10, lambda f, t: checkpoint(f, t, use_reentrant=reentrant)).backward()

    plainly()
    expected, x.grad = x.grad, None
    checkpointed()
    assert torch.equal(x.grad, expected)
    x.grad = None
    without = peak_bytes(plainly)
    x.grad = None
    with_it = peak_bytes(checkpointed)
    # 10 blocks of 8 layers: what one block saves, and the inputs of ten.
    assert with_it < 0.3 * without


def test_nothing_is_saved_by_the_first_run() -> None:
    x = torch.rand(1000, requires_grad=True)
    kept: list[Any] = []

    def f(t: Any) -> Any:
        y = t.exp()
        kept.append(weakref.ref(y))
        return y.sin()

    out = checkpoint(f, x, use_reentrant=False)
    assert kept[0]() is None
    out.sum().backward()
    assert torch.allclose(x.grad, x.detach().exp().cos() * x.detach().exp())


def test_recomputed_values_are_let_go() -> None:
    x = torch.rand(1000, requires_grad=True)
    seen: list[Any] = []

    def f(t: Any) -> Any:
        y = t.exp()
        seen.append(weakref.ref(y))
        return y.sin() * 2

    out = checkpoint(f, x, use_reentrant=False)
    out.sum().backward(retain_graph=True)
    assert [r() for r in seen] == [None, None]
    out.sum().backward()
    assert len(seen) == 3


def test_half_of_a_backward_recomputes_only_what_it_needs() -> None:
    x = torch.rand(5, dtype=torch.float64, requires_grad=True)
    y = torch.rand(5, dtype=torch.float64, requires_grad=True)
    calls = []

    def f(t: Any) -> Any:
        calls.append(1)
        return t.sin()

    a = checkpoint(f, x, use_reentrant=False)
    b = checkpoint(f, y, use_reentrant=False)
    torch.autograd.grad((a + b).sum(), x)
    assert len(calls) == 3


@pytest.mark.parametrize("kept", [[], [torch.mm], [torch.mm, torch.sin]], ids=len)
def test_results_of_listed_ops_are_kept(kept: list[Any]) -> None:
    w = torch.rand(3, 3, dtype=torch.float64, requires_grad=True)
    x = torch.rand(3, 3, dtype=torch.float64, requires_grad=True)
    out = checkpoint(lambda t: torch.mm(t, w).sin().exp(), x, use_reentrant=False,
                     context_fn=lambda: module.create_selective_checkpoint_contexts(kept))
    found = torch.autograd.grad(out.sum(), (x, w))
    expected = torch.autograd.grad(torch.mm(x, w).sin().exp().sum(), (x, w))
    for g, e in zip(found, expected, strict=True):
        assert torch.allclose(g, e)


def test_a_policy_decides_op_by_op() -> None:
    x = torch.rand(4, dtype=torch.float64, requires_grad=True)
    asked: list[tuple[str, bool]] = []

    def policy(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
        asked.append((op.__name__, ctx.is_recompute))
        return CheckpointPolicy.MUST_SAVE if op is torch.exp else CheckpointPolicy.MUST_RECOMPUTE

    out = checkpoint(lambda t: t.exp().sin().cos(), x, use_reentrant=False,
                     context_fn=lambda: module.create_selective_checkpoint_contexts(policy))
    assert asked == [("exp", False), ("sin", False), ("cos", False)]
    (g,) = torch.autograd.grad(out.sum(), x)
    y = x.detach().exp()
    assert torch.allclose(g, -y.sin().sin() * y.cos() * y)
    assert len(asked) == 3  # the second run knows what was said in the first


def test_a_selective_region_can_be_used_once() -> None:
    x = torch.rand(4, requires_grad=True)
    out = checkpoint(lambda t: t.exp().sin(), x, use_reentrant=False,
                     context_fn=lambda: module.create_selective_checkpoint_contexts([torch.exp]))
    out.sum().backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="Trying to backward an extra time"):
        out.sum().backward()


def test_what_a_list_of_ops_refuses() -> None:
    with pytest.raises(ValueError, match="Expected op in `op_list`"):
        module.create_selective_checkpoint_contexts(["mm"])
    with pytest.raises(TypeError, match="must be either a function or a list"):
        module.create_selective_checkpoint_contexts(3)


def test_a_debugged_checkpoint_shows_both_runs() -> None:
    runs = []

    def f(t: Any) -> Any:
        runs.append(1)
        return (t.sin() if len(runs) == 1 else t[:1].cos()).sum()

    x = torch.rand(3, requires_grad=True)
    out = checkpoint(f, x, use_reentrant=False, debug=True)
    with pytest.raises(module.CheckpointError) as caught:
        out.backward()
    first, second = str(caught.value).split("during recomputation")
    assert "sin([3])" in first and "cos([1])" in second
    assert __file__ in first


def test_forward_mode_goes_through() -> None:
    x, v = torch.rand(3, dtype=torch.float64), torch.rand(3, dtype=torch.float64)

    def f(t: Any) -> Any:
        return checkpoint(lambda s: s.sin() * s, t, use_reentrant=False)

    _, slope = torch.func.jvp(f, (x,), (v,))
    assert torch.allclose(slope, (x.cos() * x + x.sin()) * v)
    (h,) = torch.func.jvp(torch.func.grad(lambda t: f(t).sum()), (x,), (v,))[1:]
    assert torch.allclose(h, (2 * x.cos() - x * x.sin()) * v)


def test_a_hessian_through_nested_checkpoints() -> None:
    def f(t: Any) -> Any:
        return checkpoint(lambda a: checkpoint(lambda b: b.sin() * b, a * a,
                                               use_reentrant=False).exp(), t,
                          use_reentrant=False).sum()

    x = torch.rand(3, dtype=torch.float64)
    expected = torch.autograd.functional.hessian(
        lambda t: ((t * t).sin() * (t * t)).exp().sum(), x)
    assert torch.allclose(torch.autograd.functional.hessian(f, x), expected)


@BOTH
def test_modules_and_sequences(reentrant: bool) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(*[m for _ in range(3) for m in
                                  (torch.nn.Linear(4, 4), torch.nn.Tanh())])
    x = torch.rand(2, 4, requires_grad=True)
    model(x).sum().backward()
    expected = [p.grad.clone() for p in (x, *model.parameters())]
    for p in (x, *model.parameters()):
        p.grad = None
    checkpoint_sequential(model, 3, x, use_reentrant=reentrant).sum().backward()
    for p, e in zip((x, *model.parameters()), expected, strict=True):
        assert torch.allclose(p.grad, e)


def test_the_graph_of_a_checkpoint_dies_with_its_output() -> None:
    x = torch.rand(10, requires_grad=True)
    middle = x * 2
    alive = weakref.ref(middle)
    out = checkpoint(torch.sin, middle, use_reentrant=False)
    del middle
    gc.disable()
    try:
        assert alive() is not None
        del out
        assert alive() is None
    finally:
        gc.enable()


TRANSFORMED = {
    "vmap": lambda x, w: torch.func.vmap(lambda r: (r.sin() * r * w).exp().sum())(x),
    "nested vmap": lambda x, w: torch.func.vmap(torch.func.vmap(lambda r: (r * r).exp()))(x * w),
    "vmap of grad": lambda x, w: torch.func.vmap(torch.func.grad(
        lambda r: (r.sin() * r * w).sum()))(x),
    "jvp": lambda x, w: torch.func.jvp(lambda r: r.sin() * r * w, (x,), (x.detach(),))[1],
    "vmap of jvp": lambda x, w: torch.func.vmap(lambda r: torch.func.jvp(
        lambda a: (a.sin() * a * w).exp(), (r,), (r,))[1])(x),
    "jacfwd": lambda x, w: torch.func.jacfwd(lambda r: r.sin() * r * w)(x),
    "qr": lambda x, w: torch.func.vmap(lambda r: torch.linalg.qr(r.outer(w) + r.diag())[0])(x),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_transforms_inside_have_the_same_gradients(name: str) -> None:
    x = torch.linspace(0.2, 1.4, 6, dtype=torch.float64).reshape(2, 3).requires_grad_()
    w = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    function = TRANSFORMED[name]
    wanted = torch.autograd.grad(function(x, w).sum(), (x, w))
    once = checkpoint(function, x, w, use_reentrant=False)
    twice = checkpoint(lambda *args: checkpoint(function, *args, use_reentrant=False), x, w,
                       use_reentrant=False)
    for found in (once, twice):
        for a, b in zip(torch.autograd.grad(found.sum(), (x, w)), wanted, strict=True):
            torch.testing.assert_close(a, b)
