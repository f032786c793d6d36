"""Threads: graphs of their own, leaves they share, and the hooks and modes of each."""

import _thread
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import retrograd as torch
from retrograd.backend.numpy import sharing
from retrograd.backend.numpy.sharing import over_blocks
from retrograd.backend.numpy.threads import blas_function, one_thread

THREADS = 8


@pytest.fixture(autouse=True)
def switching_often():
    """Give races a chance: threads take turns every few instructions."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def in_threads(work):
    """Run ``work(i)`` in several threads at once; raises what any of them raised."""
    start = threading.Barrier(THREADS)
    results, errors = {}, []

    def run(i):
        try:
            start.wait()
            results[i] = work(i)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [results[i] for i in range(THREADS)]


def test_graphs_of_different_threads():
    def work(i):
        x = torch.tensor([float(i), 1.0], requires_grad=True)
        for _ in range(50):
            (x * x).sum().backward()
        return x.grad.tolist()

    assert in_threads(work) == [[100.0 * i, 100.0] for i in range(THREADS)]


def test_a_shared_leaf_loses_nothing():
    x = torch.zeros(100, requires_grad=True)

    def work(i):
        for _ in range(100):
            (x * 2).sum().backward()

    in_threads(work)
    assert x.grad.tolist() == [2.0 * 100 * THREADS] * 100


def test_a_shared_leaf_loses_nothing_when_its_first_gradient_arrives_everywhere_at_once():
    for _ in range(50):
        x = torch.zeros(3, requires_grad=True)
        in_threads(lambda i, x=x: (x * 2).sum().backward())
        assert x.grad.tolist() == [2.0 * THREADS] * 3


def test_a_shared_graph():
    x = torch.ones(3, requires_grad=True)
    y = (x * x).exp().sum()
    in_threads(lambda i: y.backward(retain_graph=True))
    single = torch.autograd.grad(y, x)[0]
    assert x.grad.tolist() == pytest.approx((single * THREADS).tolist())


def test_hooks_run_in_the_thread_that_called_backward():
    x = torch.ones(1, requires_grad=True)
    y = x * 2
    callers = []
    y.register_hook(lambda g: callers.append(threading.get_ident()))
    x.register_post_accumulate_grad_hook(lambda p: callers.append(threading.get_ident()))
    threads = in_threads(lambda i: [y.backward(retain_graph=True), threading.get_ident()][1])
    assert sorted(callers) == sorted(threads * 2)


def test_groups_of_hooks_tell_the_passes_apart():
    x, w = (torch.ones(1, requires_grad=True) for _ in range(2))
    seen = []
    torch.autograd.graph.register_multi_grad_hook((x, w), lambda grads: seen.append(
        [g.item() for g in grads]))
    in_threads(lambda i: [(x * w * i).backward() for _ in range(20)])
    assert sorted(seen) == sorted([[float(i), float(i)] for i in range(THREADS)] * 20)


def test_modes_are_per_thread():
    x = torch.ones(1, requires_grad=True)

    def work(i):
        with torch.set_grad_enabled(i % 2 == 0):
            return [(x * 2).requires_grad for _ in range(200)]

    assert in_threads(work) == [[i % 2 == 0] * 200 for i in range(THREADS)]


def test_a_decorated_function_in_many_threads():
    @torch.no_grad()
    def work(i):
        return [torch.is_grad_enabled() for _ in range(100)]

    assert in_threads(work) == [[False] * 100] * THREADS
    assert in_threads(lambda i: (work(i), torch.is_grad_enabled())[1]) == [True] * THREADS


def test_saved_tensor_hooks_are_per_thread():
    x = torch.ones(1, requires_grad=True)

    def work(i):
        packed = []
        if i % 2:
            with torch.autograd.graph.saved_tensors_hooks(
                    lambda t: packed.append(t) or t, lambda t: t):
                for _ in range(50):
                    _ = x.exp()
        else:
            for _ in range(50):
                _ = x.exp()
        return len(packed)

    assert in_threads(work) == [50 * (i % 2) for i in range(THREADS)]


def test_ops_first_called_in_many_threads():
    x = torch.tensor([0.5], requires_grad=True)

    def work(i):
        y = x.atanh().cosh() + x.erfinv().expm1()
        return torch.autograd.grad(y, x)[0].item()

    assert len(set(in_threads(work))) == 1


def test_a_graph_made_here_runs_backward_there():
    x = torch.ones(1, requires_grad=True)
    y = x * x
    thread = threading.Thread(target=y.backward)
    thread.start()
    thread.join()
    assert x.grad.item() == 2.0


def test_custom_functions_in_many_threads():
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None

    x = torch.ones(1, requires_grad=True)
    in_threads(lambda i: [Scale.apply(x, float(i)).backward() for _ in range(20)])
    assert x.grad.item() == 20.0 * sum(range(THREADS))


WHILE_FORKING = """
import os, signal, threading, warnings
import retrograd as torch
warnings.simplefilter("ignore")  # Python's own, about threads in the parent

def draw():
    torch.randn(300), torch.rand(5)

def descend():
    x = torch.randn(20, requires_grad=True)
    (x.sin() * x).sum().backward()

for work in (draw, descend):
    draw(), descend()  # nothing is imported, then, while a process is forked
    going = True
    def run(work=work):
        while going:
            work()
    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    outcomes = []
    for _ in range(6):
        child = os.fork()
        if not child:
            signal.alarm(300)  # on the clock, of a machine that others use too
            try:
                draw(), descend(), torch.manual_seed(1)
            except BaseException:
                os._exit(1)
            os._exit(0)
        outcomes.append(os.waitpid(child, 0)[1])
    going = False
    for thread in threads:
        thread.join()
    assert outcomes == [0] * 6, (work, outcomes)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_while_other_threads_draw_and_descend():
    done = subprocess.run([sys.executable, "-c", WHILE_FORKING], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


WHILE_LOADING = """
import os, signal, sys, threading, time, warnings
from importlib import import_module
import retrograd as torch
warnings.simplefilter("ignore")
sys.setswitchinterval(1e-5)
NAMES = ["nn", "optim", "fft", "linalg", "utils.data", "sparse", "special", "func", "signal"]

def load():
    for name in NAMES:
        import_module(f"retrograd.{name}")
    x = torch.randn(8, requires_grad=True)
    for op in (torch.sin, torch.exp, torch.cumsum, torch.softmax):
        (op(x, 0) if op in (torch.cumsum, torch.softmax) else op(x)).sum().backward()

threads = [threading.Thread(target=load) for _ in range(4)]
for thread in threads:
    thread.start()
outcomes = []
for k in range(6):
    time.sleep(0.004 * k)
    child = os.fork()
    if not child:
        signal.alarm(300)  # on the clock, of a machine that others use too
        try:
            load()
        except BaseException:
            os._exit(1)
        os._exit(0)
    outcomes.append(os.waitpid(child, 0)[1])
for thread in threads:
    thread.join()
assert outcomes == [0] * 6, outcomes
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_while_other_threads_load_and_compile_for_the_first_time():
    done = subprocess.run([sys.executable, "-c", WHILE_LOADING], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


BEGINNING_TO_LOAD = """
import os, signal, threading, time
from importlib import _bootstrap, import_module
from retrograd.base import locks

asked, of_parts = locks._are_importing, _bootstrap._module_locks["retrograd."]()

def begin():
    of_parts.acquire()
    time.sleep(0.5)
    of_parts.release()

def nobody_loads(*given):
    found = asked(*given)
    if not found:  # and now somebody who knows the lock takes it
        threading.Thread(target=begin).start()
        time.sleep(0.2)
    return found

locks._are_importing = nobody_loads
child = os.fork()
if not child:
    signal.alarm(300)
    import_module("retrograd.signal")
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_while_another_thread_begins_to_load():
    done = subprocess.run([sys.executable, "-c", BEGINNING_TO_LOAD],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# ---------------------------------------------------------------- first use


@pytest.mark.parametrize("seed", range(40 if "full" in os.environ.get("RETROGRAD_FAULTS", "")
                                       else 5))
def test_the_first_use_of_everything_in_many_threads(seed):
    done = subprocess.run([sys.executable, "-m", "tests.faults.first_use", str(seed)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


# ---------------------------------------------------------------- large arrays, in blocks


@pytest.fixture
def number_of_threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def met_by(count, blocks):
    """The threads that take part in work, the first block of each of which waits for ``count``."""
    for _ in range(3000):
        if len(sharing._idle) == len(sharing._made):  # none is late for what came before
            break
        time.sleep(0.01)
    there, names = threading.Barrier(count), set()

    def compute(part):
        if threading.get_ident() not in names:
            names.add(threading.get_ident())
            there.wait(30)

    over_blocks(compute, blocks, 1)
    return names


@pytest.fixture(autouse=True)
def _others_are_idle(monkeypatch):
    """Those of earlier tests, or BLAS's, may not be."""
    monkeypatch.setattr(sharing._Busy, "now", lambda self: 0)


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize(("rows", "block"), [(0, 4), (1, 4), (17, 4), (16, 4), (100, 7)])
def test_blocks_are_the_same_however_many_threads_there_are(number_of_threads, count, rows, block):
    number_of_threads(count)
    met = []
    over_blocks(lambda part: met.append((part.start, part.stop)), rows, block)
    assert sorted(met) == [(i, min(i + block, rows)) for i in range(0, rows, block)]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_as_many_threads_take_part_as_there_may_be(number_of_threads, count):
    number_of_threads(count)
    names = met_by(count, 20)
    assert len(names) == count and threading.get_ident() in names
    assert met_by(count, 20) == names  # they are still there


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2,
                    reason="needs two processors that threads can be kept off")
def test_helpers_are_kept_off_the_processor_of_the_caller(number_of_threads, monkeypatch):
    number_of_threads(2)
    met_by(2, 20)
    there = os.sched_getaffinity(0)
    for here in [*sorted(there)[:2], -1]:
        monkeypatch.setattr(sharing, "processor", lambda here=here: here)
        met_by(2, 20)
        called = [helper for helper in sharing._made if helper.elsewhere == here]
        assert called and all(
            os.sched_getaffinity(helper.number) == there - {here} for helper in called)
    assert os.sched_getaffinity(0) == there

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    monkeypatch.setattr(sharing, "processor", lambda: max(there))
    assert len(met_by(2, 20)) == 2


def test_threads_do_not_help_while_others_are_at_work(number_of_threads, monkeypatch):
    class Clocks:
        whole = process = own = 0.0
        perf_counter = property(lambda self: lambda: self.whole)
        process_time = property(lambda self: lambda: self.process)
        thread_time = property(lambda self: lambda: self.own)

    monkeypatch.undo()
    number_of_threads(3)
    clocks = Clocks()
    monkeypatch.setattr(sharing, "time", clocks)
    sharing._busy.note()
    for others, helpers in ((0, 2), (0.4, 2), (1.1, 1), (2, 0), (7, 0)):
        clocks.whole, clocks.process, clocks.own = 1.0, 0.3 + others, 0.3
        called = []
        monkeypatch.setattr(sharing, "_idle_helper", called.append)
        monkeypatch.setattr(sharing._busy, "clock", 0.0)
        monkeypatch.setattr(sharing._busy, "others", 0.0)
        met = []
        over_blocks(met.append, 8, 1)
        assert len(met) == 8 and bool(called) == bool(helpers)
    clocks.process = 0.0  # as in a process that was forked
    assert sharing._busy.now() == 0
    sharing._busy.note()


def test_results_are_the_same_however_many_threads_there_are(number_of_threads):
    x = torch.randn(300, 1000, generator=torch.Generator().manual_seed(0)).requires_grad_()
    found = []
    for count in (1, 2, 5):
        number_of_threads(count)
        y = torch.nn.functional.layer_norm(torch.nn.functional.gelu(x), (1000,))
        z = torch.softmax(y, -1) + torch.log_softmax(y, -1)
        found.append((z, *torch.autograd.grad(z.square().sum(), x)))
    for others in found[1:]:
        assert all(map(torch.equal, found[0], others))


@pytest.mark.parametrize("part", [0, 99])
def test_an_error_in_any_block_is_raised_and_the_threads_are_of_use_again(number_of_threads, part):
    number_of_threads(2)
    before = threading.active_count()

    def compute(some):
        if some.start == part:
            np.divide(np.ones(1), np.zeros(1))

    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        over_blocks(compute, 100, 1)
    assert threading.active_count() == before and len(met_by(2, 20)) == 2


def test_an_interrupt_waits_for_the_block_that_another_thread_has(number_of_threads):
    number_of_threads(2)
    begun, finished, caller = threading.Event(), [], threading.get_ident()

    def compute(part):
        if threading.get_ident() != caller:
            begun.set()
            time.sleep(0.3)
            finished.append(part)
        elif not begun.wait(30):
            raise AssertionError("nobody helped")

    signal.signal(signal.SIGALRM, lambda *_: signal.default_int_handler(signal.SIGINT, None))
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt):
            over_blocks(compute, 2, 1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    assert len(finished) == 1 and len(met_by(2, 20)) == 2


def test_blocks_inside_of_blocks_and_of_many_threads_at_once(number_of_threads):
    number_of_threads(3)

    def work(i):
        out = np.zeros((20, 30))
        over_blocks(lambda rows: over_blocks(
            lambda columns: out[rows, columns].__iadd__(i), 30, 4), 20, 3)
        return out

    for i, out in enumerate(in_threads(work)):
        assert (out == i).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_threads_of_its_own(number_of_threads):
    number_of_threads(2)
    met_by(2, 20)
    child = os.fork()
    if not child:
        try:
            os._exit(len(met_by(2, 20)))
        finally:
            os._exit(99)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
    assert len(met_by(2, 20)) == 2


def test_nothing_is_kept_of_what_was_computed(number_of_threads):
    number_of_threads(2)

    class Compute:
        def __call__(self, part):
            time.sleep(0.001)

    compute = Compute()
    there = weakref.ref(compute)
    over_blocks(compute, 20, 1)
    del compute
    for _ in range(100):
        if there() is None:
            return
        time.sleep(0.01)  # a helper that came late lets go of it as soon as it has looked
    raise AssertionError("a helper keeps the last work")


def test_blocks_are_computed_where_no_thread_can_be_made(number_of_threads, monkeypatch):
    def start(*given):
        raise RuntimeError("can't start new thread")

    number_of_threads(3)
    monkeypatch.setattr(sharing, "_idle", [])
    monkeypatch.setattr(sharing, "_made", [])
    monkeypatch.setattr(_thread, "start_new_thread", start)
    met = []
    over_blocks(met.append, 8, 1)
    assert sorted(part.start for part in met) == list(range(8))


needs_openblas = pytest.mark.skipif(blas_function("set_num_threads") is None,
                                    reason="NumPy came without OpenBLAS")


@needs_openblas
def test_one_thread_for_a_while(number_of_threads):
    actual = blas_function("get_num_threads")
    number_of_threads(3)
    with one_thread:
        with one_thread:
            assert actual() == 1 and torch.get_num_threads() == 3
        assert actual() == 1
        number_of_threads(2)
        assert actual() == 1 and torch.get_num_threads() == 2
    assert actual() == torch.get_num_threads() == 2


WHILE_ASKING = """
import os, signal, threading
import retrograd
from retrograd.base import loading, locks
locks._hold_all()
asked = loading.lock_of_parts()
if asked is not None:
    # Another thread asks for the lock that the forking one has, and is gone in the child.
    asking = threading.Thread(target=asked.lock.acquire)
    asking.start()
    asking.join()
signal.alarm(60)
locks._release_all_in_child()
from retrograd import nn, optim
assert asked is None or not asked.count
thread = threading.Thread(target=lambda: __import__("retrograd.distributions"))
thread.start()
thread.join()
"""


def test_a_fork_while_another_thread_asks_for_a_lock_that_is_held():
    done = subprocess.run([sys.executable, "-c", WHILE_ASKING], capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stderr)


@needs_openblas
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_takes_no_block_of_another_thread_along(number_of_threads):
    number_of_threads(3)
    inside, done = threading.Event(), threading.Event()

    def stay():
        with one_thread:
            inside.set()
            done.wait()

    other = threading.Thread(target=stay)
    other.start()
    inside.wait()
    child = os.fork()
    if not child:
        os._exit(0 if blas_function("get_num_threads")() == 3 and not one_thread.inside else 1)
    done.set()
    other.join()
    assert os.waitpid(child, 0)[1] == 0
