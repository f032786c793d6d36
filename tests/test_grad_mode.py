"""Grad modes: as contexts, decorators and functions, in threads and tasks; inference mode."""

import asyncio
import contextvars

import pytest

import retrograd as torch
from shared import in_thread


def leaf(*values):
    return torch.tensor(list(values), requires_grad=True)


enabled = torch.is_grad_enabled


# ---------------------------------------------------------------- contexts and functions


def test_contexts_nest_and_end():
    with torch.no_grad():
        assert not enabled()
        with torch.enable_grad():
            assert enabled()
        assert not enabled()
    assert enabled()
    with pytest.raises(ValueError), torch.no_grad():
        raise ValueError
    assert enabled()


def test_a_context_can_be_used_again_and_inside_itself():
    guard = torch.no_grad()
    with guard:
        with torch.enable_grad(), guard:
            assert not enabled()
        assert not enabled()
    with guard:
        assert not enabled()
    assert enabled()


def test_set_grad_enabled():
    torch.set_grad_enabled(False)
    assert not enabled()
    torch.set_grad_enabled(True)
    assert enabled()
    with torch.set_grad_enabled(False):
        assert not enabled()
    assert enabled()
    assert repr(torch.set_grad_enabled(True)).endswith("set_grad_enabled(mode=True)")
    for wrong in (1, None, "no"):
        with pytest.raises(TypeError, match=r"argument 'enabled' \(position 1\) must be bool"):
            torch.set_grad_enabled(wrong)
    assert enabled()


def test_leaves_can_be_made_while_nothing_is_recorded():
    with torch.no_grad():
        x = leaf(1.0)
        assert not (x * 2).requires_grad
    assert x.requires_grad


# ---------------------------------------------------------------- decorators


def test_decorated_functions_keep_their_name():
    @torch.no_grad()
    def double(x, extra=0):
        """Twice."""
        return x * 2 + extra, enabled()

    @torch.no_grad
    def bare():
        return enabled()

    @torch.set_grad_enabled(False)
    def switched():
        return enabled()

    y, mode = double(leaf(2.0), extra=1)
    assert (y.item(), y.requires_grad, mode) == (5.0, False, False)
    assert (double.__name__, double.__doc__) == ("double", "Twice.")
    assert not bare() and not switched() and enabled()


def test_a_decorated_function_may_call_itself():
    @torch.no_grad()
    def count(n):
        return [enabled(), *(count(n - 1) if n else [])]

    assert count(3) == [False] * 4
    assert enabled()


def test_a_decorated_generator_switches_only_while_it_runs():
    @torch.no_grad()
    def numbers():
        try:
            received = yield enabled()
            yield received, enabled()
        except ValueError:
            yield "caught", enabled()
        finally:
            closed.append(enabled())
        return "done"

    closed = []
    generator = numbers()
    assert next(generator) is False and enabled()
    assert generator.send("sent") == ("sent", False) and enabled()
    assert generator.throw(ValueError) == ("caught", False) and enabled()
    with pytest.raises(StopIteration, match="done"):
        next(generator)
    early = numbers()
    next(early)
    early.close()
    assert closed == [False, False] and enabled()


def test_a_decorated_class_switches_its_construction():
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):
        @torch.no_grad()
        class Thing:
            def __init__(self):
                self.mode = enabled()

            def later(self):
                return enabled()

    thing = Thing()
    assert not thing.mode and thing.later()


def test_a_decorated_coroutine_is_switched_until_it_ends():
    @torch.no_grad()
    async def work():
        before = enabled()
        await asyncio.sleep(0)
        return before, enabled()

    async def main():
        outside = asyncio.create_task(report())
        return await work(), enabled(), await outside

    async def report():
        return enabled()

    assert asyncio.run(main()) == ((False, False), True, True)


def test_a_decorated_async_generator_switches_only_while_it_runs():
    @torch.no_grad()
    async def numbers():
        try:
            received = yield enabled()
            yield received, enabled()
        except ValueError:
            yield "caught", enabled()
        finally:
            closed.append(enabled())

    async def main():
        generator = numbers()
        seen = [await anext(generator), enabled(), await generator.asend("sent"), enabled(),
                await generator.athrow(ValueError), enabled()]
        async for _ in generator:
            raise AssertionError
        early = numbers()
        await anext(early)
        await early.aclose()
        return seen

    closed = []
    assert asyncio.run(main()) == [False, True, ("sent", False), True, ("caught", False), True]
    assert closed == [False, False]


# ---------------------------------------------------------------- threads and tasks


def test_every_thread_has_a_mode_of_its_own():
    with torch.no_grad():
        assert in_thread(enabled)
    assert in_thread(lambda: torch.set_grad_enabled(False) and enabled()) is False
    assert enabled()
    with torch.inference_mode():
        assert not in_thread(torch.is_inference_mode_enabled)


def test_tasks_that_interleave_keep_their_modes():
    async def work(context, steps):
        with context:
            for _ in range(steps):
                await asyncio.sleep(0)
                modes.append((type(context).__name__, enabled()))
        return enabled()

    async def main():
        return await asyncio.gather(work(torch.no_grad(), 3), work(torch.enable_grad(), 5),
                                    work(torch.no_grad(), 4))

    modes = []
    assert asyncio.run(main()) == [True, True, True]
    assert set(modes) == {("no_grad", False), ("enable_grad", True)}


def test_a_task_starts_in_the_mode_of_its_maker():
    async def main():
        with torch.no_grad():
            task = asyncio.create_task(report())
        return await task, enabled()

    async def report():
        return enabled()

    assert asyncio.run(main()) == (False, True)


def test_a_context_run_does_not_leak():
    def switch():
        torch.set_grad_enabled(False)
        return enabled()

    assert contextvars.copy_context().run(switch) is False
    assert enabled()


# ---------------------------------------------------------------- views and modes


def test_views_made_without_recording():
    x = leaf(1.0, 2.0)
    with torch.no_grad():
        v = x[:1]
    assert v.requires_grad and v.is_leaf and v.grad_fn is None
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being "
                                           "modified inplace with grad mode enabled"):
        v.add_(1)
    with torch.no_grad():
        v.add_(1)
        assert v.item() == 2.0
    assert x.tolist() == [2.0, 2.0]


# ---------------------------------------------------------------- inference mode


def test_inference_tensors():
    with torch.inference_mode():
        assert torch.is_inference_mode_enabled() and not enabled()
        x = torch.ones(2)
        x.add_(1)
        y = x * leaf(1.0)
        assert y.is_inference() and not y.requires_grad
    assert x.is_inference() and not torch.is_inference_mode_enabled()
    assert not x.clone().is_inference()
    assert not (x * 2).is_inference()
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        _ = x._version


@pytest.mark.parametrize("use", [
    lambda x: x * leaf(1.0, 2.0),
    lambda x: Saves.apply(leaf(1.0, 2.0), x),
])
def test_inference_tensors_are_not_saved_for_backward(use):
    with torch.inference_mode():
        x = torch.ones(2)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        use(x)


class Saves(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(y)
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return g, None


@pytest.mark.parametrize("write", [lambda x: x.add_(1), lambda x: x.__setitem__(0, 5.0),
                                   lambda x: torch.add(x, 1, out=x)])
def test_inference_tensors_are_not_written_to_outside(write):
    with torch.inference_mode():
        x = torch.ones(2)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside Inference"):
        write(x)


def test_inference_tensors_cannot_start_to_require_grad():
    with torch.inference_mode():
        x = torch.ones(2)
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor"):
        x.requires_grad_()
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor"):
        torch.nn.Parameter(x)


def test_inference_mode_wins_over_enable_grad():
    x = leaf(1.0)
    with torch.inference_mode():
        with torch.enable_grad():
            assert enabled()
            assert not (x * 2).requires_grad
        with torch.inference_mode(False):
            assert enabled() and (x * 2).requires_grad
            assert not torch.ones(1).is_inference()
        assert torch.is_inference_mode_enabled()


def test_inference_mode_as_a_decorator():
    @torch.inference_mode()
    def run():
        return torch.ones(1).is_inference()

    @torch.inference_mode
    def bare():
        return torch.ones(1).is_inference()

    @torch.inference_mode(mode=False)
    def off():
        return torch.ones(1).is_inference()

    assert run() and bare() and not off()


def test_normal_tensors_in_inference_mode():
    x, plain = leaf(1.0, 2.0), torch.zeros(2)
    with torch.inference_mode():
        plain.add_(1)
        v = x[:1]
        assert not v.is_inference()
    assert plain._version == 1
    with pytest.raises(RuntimeError, match="A view was created in inference mode and is being "
                                           "modified inplace in normal mode"):
        v.add_(1)


def test_backward_in_inference_mode():
    x = leaf(2.0)
    y = x * x
    with torch.inference_mode():
        y.backward()
    assert x.grad.item() == 4.0
