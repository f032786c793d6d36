"""Grad modes, inference mode, anomaly mode, threads and tasks."""

from __future__ import annotations

import asyncio
import math
import threading

from parity.harness import behaviour, behaviour_of_each
from shared import custom, in_thread, leaf

# no_grad, enable_grad, set_grad_enabled


@behaviour
def no_grad_records_nothing(torch, log):
    x = leaf(torch, 2.0)
    with torch.no_grad():
        log(x * 2, torch.is_grad_enabled())
    log(x * 2, torch.is_grad_enabled())


@behaviour
def no_grad_still_makes_leaves_that_require_grad(torch, log):
    with torch.no_grad():
        x = leaf(torch, 2.0)
        y = torch.zeros(1).requires_grad_()
    log(x, y)
    (x * y).backward()
    log(x.grad, y.grad)


@behaviour
def enable_grad_inside_no_grad(torch, log):
    x = leaf(torch, 2.0)
    with torch.no_grad():
        with torch.enable_grad():
            log(x * 2, torch.is_grad_enabled())
        log(torch.is_grad_enabled())


@behaviour
def grad_mode_is_restored_after_an_error(torch, log):
    try:
        with torch.no_grad():
            raise ValueError
    except ValueError:
        pass
    log(torch.is_grad_enabled())


@behaviour
def set_grad_enabled_as_function_and_context(torch, log):
    torch.set_grad_enabled(False)
    log(torch.is_grad_enabled())
    torch.set_grad_enabled(True)
    log(torch.is_grad_enabled())
    with torch.set_grad_enabled(False):
        log(torch.is_grad_enabled())
    log(torch.is_grad_enabled())
    with torch.no_grad():
        torch.set_grad_enabled(True)
        log(torch.is_grad_enabled())
    log(torch.is_grad_enabled())


@behaviour
def set_grad_enabled_takes_booleans_only(torch, log):
    log.raises(torch.set_grad_enabled, 1)
    log.raises(torch.set_grad_enabled, "no")
    log.raises(torch.set_grad_enabled)
    log(torch.is_grad_enabled())


@behaviour_of_each(["no_grad", "enable_grad"])
def decorating_a_function(torch, log, mode):
    @getattr(torch, mode)()
    def double(x, extra=0):
        """Twice x."""
        return x * 2 + extra, torch.is_grad_enabled()

    log(
        double(leaf(torch, 2.0)), double(leaf(torch, 2.0), extra=1), double.__name__, double.__doc__
    )
    with torch.no_grad():
        log(double(leaf(torch, 2.0)))


@behaviour_of_each(["no_grad", "enable_grad"])
def decorating_without_parentheses(torch, log, mode):
    @getattr(torch, mode)
    def double(x):
        return x * 2, torch.is_grad_enabled()

    with torch.no_grad():
        log(double(leaf(torch, 2.0)))
    log(double(leaf(torch, 2.0)))


@behaviour
def decorating_with_set_grad_enabled(torch, log):
    @torch.set_grad_enabled(False)
    def double(x):
        return x * 2

    log(torch.is_grad_enabled(), double(leaf(torch, 2.0)), torch.is_grad_enabled())


@behaviour
def decorating_a_recursive_function(torch, log):
    @torch.no_grad()
    def countdown(n):
        modes.append(torch.is_grad_enabled())
        if n:
            countdown(n - 1)

    modes = []
    countdown(3)
    log(modes, torch.is_grad_enabled())


@behaviour
def decorating_a_generator(torch, log):
    @torch.no_grad()
    def numbers():
        received = yield torch.is_grad_enabled()
        log(received)
        try:
            yield torch.is_grad_enabled()
        except ValueError:
            yield "caught", torch.is_grad_enabled()
        return "done"

    generator = numbers()
    log(next(generator), torch.is_grad_enabled(), generator.send("sent"), torch.is_grad_enabled())
    log(generator.throw(ValueError), torch.is_grad_enabled())
    log.raises(lambda: next(generator))
    log(torch.is_grad_enabled())


@behaviour
def a_generator_keeps_its_mode_apart_from_the_caller(torch, log):
    @torch.enable_grad()
    def numbers():
        for _ in range(2):
            yield torch.is_grad_enabled()

    with torch.no_grad():
        for inside in numbers():
            log(inside, torch.is_grad_enabled())


@behaviour
def a_plain_generator_follows_its_own_context(torch, log):
    def numbers():
        with torch.no_grad():
            yield torch.is_grad_enabled()
            yield torch.is_grad_enabled()

    generator = numbers()
    log(next(generator), torch.is_grad_enabled())
    log(next(generator), torch.is_grad_enabled())
    log(list(generator), torch.is_grad_enabled())


@behaviour
def decorating_a_class(torch, log):
    @torch.no_grad()
    class Thing:
        def __init__(self, x):
            self.y = x * 2
            self.mode = torch.is_grad_enabled()

        def later(self):
            return torch.is_grad_enabled()

    thing = Thing(leaf(torch, 2.0))
    log(thing.y, thing.mode, thing.later())


@behaviour
def decorating_methods(torch, log):
    class Thing:
        @torch.no_grad()
        def method(self):
            return torch.is_grad_enabled()

        @classmethod
        @torch.no_grad()
        def class_method(cls):
            return torch.is_grad_enabled()

        @staticmethod
        @torch.no_grad()
        def static_method():
            return torch.is_grad_enabled()

    log(Thing().method(), Thing.class_method(), Thing.static_method())


@behaviour
def decorating_a_coroutine(torch, log):
    @torch.no_grad()
    async def work():
        before = torch.is_grad_enabled()
        await asyncio.sleep(0)
        return before, torch.is_grad_enabled()

    log(torch.is_grad_enabled(), type(work).__name__)


@behaviour
def a_context_object_can_be_reused(torch, log):
    guard = torch.no_grad()
    for _ in range(2):
        with guard:
            log(torch.is_grad_enabled())
    log(torch.is_grad_enabled())


@behaviour
def nested_reuse_of_different_modes(torch, log):
    with torch.no_grad(), torch.enable_grad(), torch.no_grad():
        log(torch.is_grad_enabled())
    with torch.enable_grad():
        with torch.no_grad():
            log(torch.is_grad_enabled())
        log(torch.is_grad_enabled())


@behaviour
def views_made_in_no_grad(torch, log):
    x = leaf(torch, 1.0, 2.0)
    with torch.no_grad():
        v = x[0]
    log(v, v._is_view())
    y = x * 2
    with torch.no_grad():
        w = y[0]
    log(w, w._is_view(), w.grad_fn)


@behaviour
def parameter_update_in_no_grad(torch, log):
    w = leaf(torch, 1.0, 2.0)
    for _ in range(3):
        (w**2).sum().backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
            w.grad.zero_()
        log(w, w.grad)


@behaviour
def backward_inside_no_grad(torch, log):
    x = leaf(torch, 2.0)
    y = x**2
    with torch.no_grad():
        y.backward()
        log(x.grad)
    y = x**3
    with torch.no_grad():
        log(torch.autograd.grad(y, x, create_graph=True))


@behaviour
def copying_into_leaves_in_no_grad(torch, log):
    x = leaf(torch, 1.0, 2.0)
    with torch.no_grad():
        x.copy_(torch.tensor([5.0, 6.0]))
        x[0] = 7
        x.mul_(2)
        x.zero_()
        x.fill_(3)
    log(x)


# inference_mode


@behaviour
def inference_tensors_have_no_version(torch, log):
    with torch.inference_mode():
        x = torch.ones(2)
        log(torch.is_inference_mode_enabled(), torch.is_grad_enabled(), x.is_inference())
    log(x.is_inference(), torch.is_inference_mode_enabled(), x.requires_grad, x.is_leaf)
    log.raises(lambda: x._version)


@behaviour
def inference_tensors_cannot_be_saved_for_backward(torch, log):
    w = leaf(torch, 2.0, 3.0)
    with torch.inference_mode():
        x = torch.ones(2)
    log.raises(lambda: w * x)
    log(w + x)
    log(w * x.clone())


@behaviour
def inference_tensors_cannot_be_changed_outside(torch, log):
    with torch.inference_mode():
        x = torch.ones(2)
        x.add_(1)
    log.raises(x.add_, 1)
    log.raises(x.__setitem__, 0, 5.0)
    log.raises(x.requires_grad_)


@behaviour
def inference_tensors_with_requires_grad(torch, log):
    with torch.inference_mode():
        x = torch.ones(2, requires_grad=True)
        y = x * 2
        log(y.requires_grad, y.grad_fn, x.requires_grad)
    log.raises(lambda: x * 2)
    log(x.is_inference(), x.requires_grad)


@behaviour
def normal_tensors_inside_inference_mode(torch, log):
    w = leaf(torch, 2.0, 3.0)
    plain = torch.zeros(2)
    with torch.inference_mode():
        log((w * 2).is_inference(), w.is_inference(), w[0].is_inference(), w[0].requires_grad)
        plain.add_(1)
        v = w.view(2, 1)
        log(v.is_inference(), v._is_view())
    log(plain, plain._version)


@behaviour
def functional_operations_on_inference_tensors_outside(torch, log):
    with torch.inference_mode():
        x = torch.ones(2)
    y = x * 2
    log(y, y.is_inference(), x[0].is_inference(), x.detach().is_inference())
    log.raises(lambda: x.view(2, 1))


@behaviour
def inference_mode_as_decorator_and_argument(torch, log):
    @torch.inference_mode()
    def run(x):
        return (x * 2).is_inference()

    @torch.inference_mode
    def bare(x):
        return (x * 2).is_inference()

    log(run(torch.ones(1)), bare(torch.ones(1)))
    with torch.inference_mode(False):
        log(torch.is_inference_mode_enabled())
    with torch.inference_mode():
        with torch.inference_mode(mode=False):
            log(
                torch.is_inference_mode_enabled(),
                torch.ones(1).is_inference(),
                torch.is_grad_enabled(),
            )
        log(torch.is_inference_mode_enabled())
        with torch.enable_grad():
            log(torch.is_grad_enabled(), (leaf(torch, 1.0) * 2).requires_grad)


@behaviour
def backward_inside_inference_mode(torch, log):
    x = leaf(torch, 2.0)
    y = x**2
    with torch.inference_mode():
        log.raises(y.backward)
    log.raises(lambda: x.grad)


@behaviour
def inference_tensor_as_a_parameter(torch, log):
    with torch.inference_mode():
        w = torch.ones(2)
    log.raises(torch.nn.Parameter, w)
    log.values(w.clone().requires_grad_())


# Threads and tasks


@behaviour
def grad_mode_is_per_thread(torch, log):
    with torch.no_grad():
        log(in_thread(torch.is_grad_enabled), torch.is_grad_enabled())
    with torch.inference_mode():
        log(in_thread(torch.is_inference_mode_enabled))


@behaviour
def a_thread_does_not_change_the_caller(torch, log):
    def work():
        torch.set_grad_enabled(False)
        return torch.is_grad_enabled()

    log(in_thread(work), torch.is_grad_enabled())


@behaviour
def graphs_of_different_threads(torch, log):
    grads = {}

    def work(i):
        x = leaf(torch, float(i))
        for _ in range(20):
            (x**2).sum().backward()
        grads[i] = x.grad

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log([grads[i] for i in range(4)])


@behaviour
def one_leaf_accumulated_from_several_threads_loses_nothing(torch, log):
    x = leaf(torch, 1.0, 2.0)

    def work():
        for _ in range(50):
            (x * 2).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.values(x.grad)


@behaviour
def a_graph_built_in_one_thread_runs_backward_in_another(torch, log):
    x = leaf(torch, 3.0)
    y = x**2
    in_thread(y.backward)
    log(x.grad)


@behaviour
def an_error_in_a_thread_stays_there(torch, log):
    def work():
        try:
            torch.ones(2, requires_grad=True).backward()
        except RuntimeError as error:
            return error

    log(in_thread(work))


# Anomaly mode


@behaviour
def anomaly_mode_switches(torch, log):
    log(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    with torch.autograd.set_detect_anomaly(True):
        log(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        log(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    torch.autograd.set_detect_anomaly(True)
    log(torch.is_anomaly_enabled())
    torch.autograd.set_detect_anomaly(False)
    log(torch.is_anomaly_enabled())


@behaviour
def detect_anomaly_warns_on_entry(torch, log):
    with torch.autograd.detect_anomaly():
        log(torch.is_anomaly_enabled())
    with torch.autograd.detect_anomaly(check_nan=False):
        log(torch.is_anomaly_check_nan_enabled())
    log(torch.is_anomaly_enabled())


@behaviour
def anomaly_mode_finds_nan(torch, log):
    with torch.autograd.set_detect_anomaly(True):
        x = leaf(torch, 0.0)
        y = (x * 0).sqrt() * math.inf
        log.raises(y.sum().backward)


@behaviour
def anomaly_mode_finds_nan_from_sqrt(torch, log):
    x = leaf(torch, -1.0)
    with torch.autograd.set_detect_anomaly(True):
        y = x.sqrt()
        log.raises(y.sum().backward)


@behaviour
def anomaly_mode_without_nan_check(torch, log):
    x = leaf(torch, -1.0)
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        x.sqrt().sum().backward()
    log(x.grad)


@behaviour
def anomaly_mode_lets_inf_pass(torch, log):
    x = leaf(torch, 0.0)
    with torch.autograd.set_detect_anomaly(True):
        x.sqrt().sum().backward()
    log(x.grad)


@behaviour
def anomaly_mode_off_gives_nan(torch, log):
    x = leaf(torch, -1.0)
    x.sqrt().sum().backward()
    log(x.grad)


@behaviour
def anomaly_mode_names_the_node_of_a_failing_function(torch, log):
    def backward(ctx, g):
        raise RuntimeError("on purpose")

    Fails = custom(torch, backward)
    x = leaf(torch, 1.0)
    with torch.autograd.set_detect_anomaly(True):
        log.raises(Fails.apply(x).sum().backward)


@behaviour
def anomaly_mode_finds_nan_from_a_function(torch, log):
    Nan = custom(torch, lambda ctx, g: g * math.nan)
    x = leaf(torch, 1.0, 2.0)
    with torch.autograd.set_detect_anomaly(True):
        log.raises(Nan.apply(x).sum().backward)


@behaviour
def anomaly_mode_keeps_the_in_place_error(torch, log):
    with torch.autograd.set_detect_anomaly(True):
        x = leaf(torch, 1.0)
        y = x.exp()
        y.add_(1)
        log.raises(y.sum().backward)


# asyncio


@behaviour
def tasks_that_await_inside_no_grad(torch, log):
    async def work():
        with torch.no_grad():
            await asyncio.sleep(0)
            inside = torch.is_grad_enabled()
        return inside, torch.is_grad_enabled()

    async def alone():
        return await work()

    log(asyncio.run(alone()), torch.is_grad_enabled())


@behaviour
def multithreading_switch(torch, log):
    x = leaf(torch, 2.0)
    with torch.autograd.set_multithreading_enabled(False):
        (x**2).backward()
    log(x.grad)
