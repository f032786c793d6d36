"""A graph dies by reference counting alone, however deep it is."""

import contextlib
import gc
import tracemalloc
import warnings
import weakref

import pytest

import retrograd as torch
from retrograd.autograd import Function
from retrograd.autograd.graph import register_multi_grad_hook, saved_tensors_hooks


@pytest.fixture(autouse=True)
def without_the_collector():
    """Nothing here may depend on the garbage collector."""
    gc.collect()
    gc.freeze()  # what other tests left is not looked at again
    gc.disable()
    yield
    gc.enable()


def leaf(*values):
    return torch.tensor(list(values), requires_grad=True)


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        _, y = ctx.saved_tensors
        return g * y


class Double(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return g * 2


def arithmetic(x):
    return (x * x + x.exp() / x.tanh()).sum()


def views(x):
    y = x * 1
    v = y.view(2, 1).t()[0]
    return (v * y.unbind()[0]).sum()


def writes_to_views(x):
    y = torch.zeros(3)
    y[:2] = x
    y[1:].mul_(x)
    return y.sum()


def writes(x):
    y = x * 1
    y.add_(x).mul_(3).exp_()
    return y.sum()


def custom_functions(x):
    return Exp.apply(Exp.apply(x)).sum()


def custom_writes(x):
    y = x * 1
    Double.apply(y)
    Double.apply(y[:1])
    return y.sum()


def several_outputs(x):
    a, b = x.unbind()
    return torch.stack([a * b, b]).sum()


def tensor_hooks(x):
    y = x * 2
    y.register_hook(lambda g: g * 2)
    y.retain_grad()
    y.grad_fn.register_prehook(lambda g: None)
    y.grad_fn.register_hook(lambda i, o: None)
    return y.sum()


def groups_of_hooks(x):
    a, b = x * 2, x * 3
    register_multi_grad_hook((a, b), lambda grads: None)
    register_multi_grad_hook((a, b), lambda grad: None, mode="any")
    return (a * b).sum()


def packed(x):
    with saved_tensors_hooks(lambda t: t, lambda t: t):
        return Exp.apply((x * x).exp().tanh()).sum()


def hooked_saved_values(x):
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t)
    return y.sum()


def second_derivatives(x):
    (g,) = torch.autograd.grad((x.exp() * x * x).sum(), x, create_graph=True)
    return (g * g).sum()


def modules(x):
    net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    return torch.nn.functional.mse_loss(net(x), torch.zeros(1))


def looked_at(x):
    y = x * x
    _ = y.grad_fn.next_functions[0][0].name(), y.grad_fn._saved_self, y.grad_fn.metadata
    _ = torch.autograd.graph.get_gradient_edge(y)
    return y.sum()


def anomalous(x):
    with torch.autograd.set_detect_anomaly(True):
        return (x * x).exp().sum()


GRAPHS = [arithmetic, views, writes_to_views, writes, custom_functions, custom_writes,
          several_outputs, tensor_hooks, groups_of_hooks, packed, hooked_saved_values,
          second_derivatives, modules, looked_at, anomalous]


def nodes_under(root):
    """Weak references to every node of a graph except the accumulators, and to their edges."""
    found, pending = {}, [root]
    while pending:
        node = pending.pop()
        if node is None or id(node) in found or hasattr(node, "variable"):
            continue
        found[id(node)] = weakref.ref(node)
        pending += [n for n, _ in node.next_functions]
    return list(found.values())


@pytest.mark.parametrize("make", GRAPHS)
@pytest.mark.parametrize("use", ["dropped", "run", "run twice", "differentiated"])
def test_a_graph_is_freed_at_once(make, use):
    make(leaf(0.5, 0.25))  # compiles the operations it uses
    gc.collect()
    x = leaf(0.5, 0.25)
    loss = make(x)
    if use == "run":
        loss.backward()
    elif use == "run twice":
        loss.backward(retain_graph=True)
        loss.backward()
    elif use == "differentiated":
        torch.autograd.grad(loss, x, create_graph=True)
    nodes = nodes_under(loss.grad_fn)
    assert nodes and all(ref() is not None for ref in nodes)
    del loss
    assert [ref().name() for ref in nodes if ref() is not None] == []
    assert gc.collect() == 0


def test_a_leaf_with_hooks_is_freed_at_once():
    x = leaf(1.0)
    y = x * 2
    x.register_hook(lambda g: None)
    x.register_post_accumulate_grad_hook(lambda p: None)
    accumulate = y.grad_fn.next_functions[0][0]
    accumulate.register_hook(lambda i, o: None)
    accumulate.register_prehook(lambda o: None)
    register_multi_grad_hook((x,), lambda grads: None)
    y.backward()
    reference = weakref.ref(x)
    del x, y, accumulate
    assert reference() is None


def test_errors_leave_nothing_behind():
    x = leaf(1.0, 2.0)
    for wrong in (lambda: x + torch.ones(3), lambda: x + "text", lambda: x == None,  # noqa: E711
                  lambda: (x * x).backward(), lambda: torch.ones(2).sum().backward()):
        with contextlib.suppress(RuntimeError, TypeError):
            wrong()
    assert gc.collect() == 0


def test_what_backward_freed_is_free():
    x = leaf(1.0, 2.0)
    y = x.exp()
    data = weakref.ref(y)
    loss = (y * y).sum()
    del y
    assert data() is not None
    loss.backward()
    assert data() is None


def test_the_cycle_that_create_graph_makes_is_broken_by_clearing_grad():
    x = leaf(2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (x * x * x).backward(create_graph=True)
    reference = weakref.ref(x)
    x.grad = None
    del x
    assert reference() is None


def test_training_leaves_memory_flat():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    inputs, targets = torch.randn(32, 8), torch.randn(32, 1)

    def step():
        optimizer.zero_grad()
        y = net(inputs)
        y.register_hook(lambda g: g * 1)
        with saved_tensors_hooks(lambda t: t, lambda t: t):
            z = Exp.apply(y * 0.1)
        buffer = torch.zeros(32, 1)
        buffer[:16] = z[:16]
        loss = ((buffer - targets) ** 2).mean()
        loss.backward()
        optimizer.step()

    tracemalloc.start()
    try:
        for _ in range(300):  # until the interpreter's own free lists are full
            step()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(1000):
            step()
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert after - before < 20_000


WRITES = {
    "mul by a constant": (lambda y, c, w: y.mul_(c), 1.0),
    "mul by what is differentiated": (lambda y, c, w: y.mul_(w), 2.0),
    "mul by a part of a constant": (lambda y, c, w: y.mul_(c[:]), 2.0),  # it may get a history
    "div by a constant": (lambda y, c, w: y.div_(c), 1.0),
    "add": (lambda y, c, w: y.add_(w), 1.0),
    "a part": (lambda y, c, w: y[:].mul_(c), 1.0),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_write_copies_what_it_overwrites_only_for_a_rule_that_may_ask(name):
    """There is the result, before it is written, and no other array of this size."""
    write, most = WRITES[name]
    size = 1 << 13
    x = torch.ones(size, requires_grad=True)
    c, w = torch.full((size,), 2.0), torch.full((size,), 2.0, requires_grad=True)
    for _ in range(2):  # what is compiled is known then
        y = x * 1
        tracemalloc.start()
        try:
            write(y, c, w)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert (most - 0.5) * 4 * size < peak < (most + 0.5) * 4 * size


# ---------------------------------------------------------------- depth


def chain_of(make, x, length):
    for _ in range(length):
        x = make(x)
    return x


def test_a_chain_of_a_million_operations():
    x = torch.tensor(1.0, requires_grad=True)
    y = chain_of(lambda t: t + 1, x, 500_000)
    y = chain_of(lambda t: t * 1.0, y, 500_000)
    last = weakref.ref(y.grad_fn)
    first = weakref.ref(x._accumulator())
    y.backward()
    assert x.grad.item() == 1.0
    del y
    assert last() is None and first() is None


DEEP = {
    "saving inputs": lambda t: t * t.detach(),
    "saving outputs": lambda t: t.tanh(),
    "views": lambda t: t.view(1, 1).view(1),
    "custom functions": Exp.apply,
    "in place": lambda t: (t * 1).mul_(1.0),
    "several outputs": lambda t: torch.stack(t.unbind()),
    "hooked": lambda t: [t, t.register_hook(lambda g: None)][0] * 1.0,
}


@pytest.mark.parametrize("make", DEEP.values(), ids=DEEP)
def test_deep_graphs_of_every_kind(make):
    x = leaf(0.5)
    y = chain_of(make, x * 1, 20_000)
    last = weakref.ref(y.grad_fn)
    y.backward(retain_graph=True)  # so that saved values are freed with the chain
    assert x.grad is not None
    del y
    assert last() is None


def test_deep_history_through_one_buffer():
    x = leaf(1.0)
    buffer = torch.zeros(2)
    for _ in range(20_000):
        buffer[1:] = buffer[:1] + x
    node = weakref.ref(buffer.grad_fn)
    buffer.sum().backward()
    assert x.grad.item() == 1.0
    del buffer
    assert node() is None


def test_a_deep_second_derivative():
    x = leaf(1.0)
    y = chain_of(lambda t: t * 1.0001, x * x, 5_000)
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    node = weakref.ref(g.grad_fn)
    (h,) = torch.autograd.grad(g, x)
    assert h.item() == pytest.approx(2 * 1.0001**5_000, rel=1e-3)
    del y, g
    assert node() is None
