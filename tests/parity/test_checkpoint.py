"""``utils.checkpoint`` beside PyTorch."""

from __future__ import annotations

import contextlib
import functools
import warnings

import shared
from parity.harness import behaviour, behaviour_of_each

BOTH = ["reentrant", "plain"]


vector = functools.partial(shared.vector, grad=True)


def tools(torch, kind="plain"):
    """The module, and ``checkpoint`` in one of its variants."""
    import importlib

    module = importlib.import_module(f"{torch.__name__}.utils.checkpoint")

    def checkpoint(*args, **kwargs):
        return module.checkpoint(*args, use_reentrant=kind == "reentrant", **kwargs)

    return module, checkpoint


def counted(function):
    """A function and the list of its calls."""
    calls = []

    def run(*args, **kwargs):
        calls.append(1)
        return function(*args, **kwargs)

    return run, calls


@behaviour_of_each(BOTH)
def gradients_are_the_same(torch, log, kind):
    _, checkpoint = tools(torch, kind)
    f, calls = counted(lambda x, y: (x.sin() * y.exp()).tanh())
    x, y = vector(torch, 0.3, -0.7), vector(torch, 1.0, 2.0)
    out = checkpoint(f, x, y)
    log.values(out)
    log(len(calls), out.requires_grad, out.is_leaf)
    out.sum().backward()
    log(len(calls), x.grad, y.grad)


@behaviour_of_each(BOTH)
def a_chain_of_checkpoints(torch, log, kind):
    _, checkpoint = tools(torch, kind)
    x = vector(torch, 0.3, -0.7)
    w = vector(torch, 1.5)
    y = x
    for _ in range(4):
        y = checkpoint(lambda t: (t * w).sin() + t, y)
    y.sum().backward()
    log(x.grad, w.grad)


@behaviour_of_each(BOTH)
def several_outputs_and_odd_arguments(torch, log, kind):
    _, checkpoint = tools(torch, kind)
    x, y = vector(torch, 0.3, -0.7), vector(torch, 1.0, 2.0, grad=False)
    seen = []

    def f(x, y, n, name, nothing):
        seen.append((n, name, nothing))
        return x * y * n, 7, x.exp()

    a, b, c = checkpoint(f, x, y, 3, "name", None)
    log(b, a.requires_grad, c.requires_grad)
    (a * c).sum().backward()
    log(x.grad, y.grad, seen)
    x.grad = None
    checkpoint(f, x, y, 3, "name", None)[2].sum().backward()
    log(x.grad)


@behaviour
def keyword_arguments(torch, log):
    module, checkpoint = tools(torch)
    x = vector(torch, 0.3, -0.7)
    y = checkpoint(lambda x, *, scale, shift=0: (x * scale).exp() + shift, x, scale=2, shift=x)
    y.sum().backward()
    log(x.grad)
    nested = checkpoint(lambda d: d["a"][0] * d["b"], {"a": [x], "b": x.detach()})
    nested.sum().backward()
    log(x.grad)
    log.raises(module.checkpoint, lambda x: x, x, use_reentrant=True, scale=2)
    log.raises(module.checkpoint, lambda x: x, x, use_reentrant=True, debug=True)
    log.raises(module.checkpoint, lambda x: x, x, use_reentrant=True,
               context_fn=lambda: (contextlib.nullcontext(), contextlib.nullcontext()))
    log.raises(module.checkpoint, lambda x: x, x, use_reentrant=False, determinism_check="maybe")
    log.raises(module.checkpoint_sequential, [torch.sin], 1, x, use_reentrant=False, scale=2)


@behaviour
def which_variant_must_be_said(torch, log):
    module, _ = tools(torch)
    x = vector(torch, 0.3, -0.7)
    log.warns(module.checkpoint, torch.sin, x)
    log.warns(module.checkpoint_sequential, [torch.sin, torch.cos], 2, x)
    log.warns(module.checkpoint, torch.sin, x.detach(), use_reentrant=True)
    log.warns(module.checkpoint, torch.sin, x.detach(), use_reentrant=False)


@behaviour
def reentrant_checkpoints_refuse_grad(torch, log):
    _, checkpoint = tools(torch, "reentrant")
    x = vector(torch, 0.3, -0.7)
    log.raises(torch.autograd.grad, checkpoint(torch.sin, x).sum(), x)
    log.raises(checkpoint(torch.sin, x).sum().backward, inputs=[x])
    y = checkpoint(lambda x: x.detach() * 2, x)
    log(y.requires_grad)
    log.raises(y.sum().backward)


@behaviour
def plain_checkpoints_with_grad(torch, log):
    _, checkpoint = tools(torch)
    x, w = vector(torch, 0.3, -0.7), vector(torch, 2.0)
    y = checkpoint(lambda x: (x * w).sin(), x)
    log(*torch.autograd.grad(y.sum(), (x, w), retain_graph=True))
    log(*torch.autograd.grad(y.sum(), x))
    y = checkpoint(lambda x: x.detach() * 2, x)
    log(y.requires_grad)


@behaviour_of_each(BOTH)
def inputs_without_gradient(torch, log, kind):
    warnings.simplefilter("ignore")
    _, checkpoint = tools(torch, kind)
    w = vector(torch, 2.0, 3.0)
    y = checkpoint(lambda x: (x * w).sin(), vector(torch, 0.3, -0.7, grad=False))
    log(y.requires_grad)
    if kind == "plain":
        y.sum().backward()
        log(w.grad)
    with torch.no_grad():
        f, calls = counted(torch.sin)
        log(checkpoint(f, w), len(calls))


@behaviour_of_each(BOTH)
def random_numbers_repeat(torch, log, kind):
    _, checkpoint = tools(torch, kind)
    x = torch.ones(20, requires_grad=True)
    seen = []

    def f(x):
        mask = torch.rand(20) > 0.5
        seen.append(mask.tolist())
        return x * mask

    torch.manual_seed(3)
    y = checkpoint(f, x)
    after = torch.rand(3)
    y.sum().backward()
    log(seen[0] == seen[1], len(seen), torch.equal(x.grad, torch.tensor(seen[0]).float()))
    torch.manual_seed(3)
    torch.rand(20)
    log(torch.equal(after, torch.rand(3)), torch.equal(torch.rand(2), torch.rand(2)))
    seen.clear()
    y = checkpoint(f, x, preserve_rng_state=False)
    y.sum().backward()
    log(seen[0] == seen[1])


@behaviour_of_each(BOTH)
def dropout_in_a_module(torch, log, kind):
    _, checkpoint = tools(torch, kind)
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5), torch.nn.Tanh())
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.linspace(-1, 1, p.numel()).view_as(p))
    x = torch.ones(3, 4, requires_grad=True)
    torch.manual_seed(0)
    y = checkpoint(model, x)
    torch.rand(5)
    y.sum().backward()
    torch.manual_seed(0)
    plain = model(x)
    grads = torch.autograd.grad(plain.sum(), (x, model[0].weight))
    log(torch.equal(y, plain), torch.allclose(x.grad, grads[0]),
        torch.allclose(model[0].weight.grad, grads[1]))


@behaviour_of_each(BOTH)
def two_backwards(torch, log, kind):
    _, checkpoint = tools(torch, kind)
    x = vector(torch, 0.3, -0.7)
    f, calls = counted(lambda x: x.sin().exp())
    y = checkpoint(f, x)
    y.sum().backward(retain_graph=True)
    log(x.grad, len(calls))
    y.sum().backward(retain_graph=True)
    log(x.grad, len(calls))
    y.sum().backward()
    log(x.grad, len(calls))
    log.raises(y.sum().backward)


@behaviour
def second_derivatives(torch, log):
    _, checkpoint = tools(torch)
    x = vector(torch, 0.3, -0.7)
    y = checkpoint(lambda x: x.sin() * x.exp(), x)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    log.values(g)
    (h,) = torch.autograd.grad(g.sum(), x, create_graph=True)
    log.values(h)
    log(*torch.autograd.grad(h.sum(), x))
    penalty = checkpoint(lambda x: x ** 3, x)
    (g,) = torch.autograd.grad(penalty.sum(), x, create_graph=True)
    checkpoint(lambda g: (g ** 2).sum(), g).backward()
    log(x.grad)


@behaviour_of_each(BOTH)
def nested_checkpoints(torch, log, kind):
    _, checkpoint = tools(torch, kind)
    x = vector(torch, 0.3, -0.7)
    inner, inside = counted(lambda t: t.sin() * t)
    outer, outside = counted(lambda t: checkpoint(inner, t.exp()).cos())
    y = checkpoint(outer, x)
    log(len(inside), len(outside))
    y.sum().backward()
    log(x.grad, len(outside))
    deep = checkpoint(lambda a: checkpoint(lambda b: checkpoint(torch.sin, b.exp()) * b, a * 2), x)
    deep.sum().backward()
    log(x.grad)


@behaviour
def early_stop(torch, log):
    module, checkpoint = tools(torch)
    x = vector(torch, 0.3, -0.7)
    after = []

    def f(x):
        y = x.sin()
        after.append(1)
        return y + 1

    checkpoint(f, x).sum().backward()
    log(len(after))
    with module.set_checkpoint_early_stop(False):
        y = checkpoint(f, x)
    y.sum().backward()
    log(len(after))
    checkpoint(f, x, early_stop=False).sum().backward()
    log(len(after), x.grad)


def first_lines(log, call, count):
    try:
        call()
    except RuntimeError as error:
        log(type(error).__name__, str(error).split("\n")[:count])
    else:
        log("nothing raised")


@behaviour_of_each(["shape", "dtype", "fewer", "more"])
def two_runs_that_differ(torch, log, kind):
    module, checkpoint = tools(torch)
    runs = []

    def f(x):
        runs.append(1)
        again = len(runs) % 2 == 0
        if kind == "shape":
            return (x[:1] if again else x).sin().sum()
        if kind == "dtype":
            return (x.float() if again else x).exp().sum()
        y = x.sin()
        if kind == "fewer":
            return y.sum() if again else y.cos().sum()
        return y.cos().exp().sum() if again else y.cos().sum()

    x = vector(torch, 0.3, -0.7)
    first_lines(log, checkpoint(f, x).backward, 7)
    runs.clear()
    first_lines(log, checkpoint(f, x, early_stop=False).backward, 7)
    runs.clear()
    if kind == "shape":
        first_lines(log, checkpoint(f, x, debug=True).backward, 3)
        runs.clear()
        with module.set_checkpoint_debug_enabled(True):
            out = checkpoint(f, x)
        first_lines(log, out.backward, 3)
    log(issubclass(module.CheckpointError, RuntimeError))


@behaviour
def the_check_can_be_left_out(torch, log):
    _, checkpoint = tools(torch)
    runs = []

    def f(x):
        runs.append(1)
        return (x.float() if len(runs) == 2 else x).exp().sum()

    x = vector(torch, 0.3, -0.7)
    checkpoint(f, x, determinism_check="none").backward()
    log(len(runs), x.grad.shape)


@behaviour
def contexts_around_both_runs(torch, log):
    _, checkpoint = tools(torch)
    events = []

    @contextlib.contextmanager
    def told(name):
        events.append("enter " + name)
        yield
        events.append("leave " + name)

    x = vector(torch, 0.3, -0.7)
    y = checkpoint(torch.sin, x, context_fn=lambda: (told("forward"), told("again")))
    log(events)
    y.sum().backward()
    log(events, x.grad)
    log.raises(checkpoint, torch.sin, x, debug=True,
               context_fn=lambda: (told("forward"), told("again")))


@behaviour_of_each(BOTH)
def hooks_inside_and_around(torch, log, kind):
    _, checkpoint = tools(torch, kind)
    x = vector(torch, 0.3, -0.7)
    seen = []

    def f(t):
        y = t.sin()
        if y.requires_grad:
            y.register_hook(lambda g: seen.append(g.tolist()))
        return y * 2

    out = checkpoint(f, x)
    out.register_hook(lambda g: g * 3)
    x.register_hook(lambda g: g * 10)
    out.sum().backward()
    log(x.grad, seen)


@behaviour
def saved_tensor_hooks_around_and_inside(torch, log):
    _, checkpoint = tools(torch)
    x = vector(torch, 0.3, -0.7)
    packed = []

    def pack(t):
        packed.append(tuple(t.shape))
        return t

    hooks = torch.autograd.graph.saved_tensors_hooks
    with hooks(pack, lambda t: t):
        y = checkpoint(lambda t: t.sin().exp(), x * 2)
    y.sum().backward()
    log(x.grad)
    packed.clear()

    def inside(t):
        with hooks(pack, lambda t: t):
            return t.sin().exp()

    x.grad = None
    checkpoint(inside, x).sum().backward()
    log(x.grad, len(packed) > 0)


@behaviour_of_each(BOTH)
def functions_that_write_in_place(torch, log, kind):
    _, checkpoint = tools(torch, kind)
    x = vector(torch, 0.3, -0.7)

    def f(t):
        y = t * 1
        y[0] = t[1] ** 2
        return y.mul_(t).relu_()

    checkpoint(f, x).sum().backward()
    log(x.grad)


@behaviour
def custom_functions_inside(torch, log):
    _, checkpoint = tools(torch)
    x = vector(torch, 0.3, -0.7)
    checkpoint(lambda t: shared.cube(torch).apply(t.exp()), x).sum().backward()
    log(x.grad)


@behaviour_of_each([(kind, segments) for kind in BOTH for segments in (1, 2, 3)])
def sequences(torch, log, kind, segments):
    module, _ = tools(torch)
    counts = [0] * 5

    def step(i):
        def run(t):
            counts[i] += 1
            return (t * (i + 1)).sin()

        return run

    x = vector(torch, 0.3, -0.7)
    y = module.checkpoint_sequential([step(i) for i in range(5)], segments, x,
                                     use_reentrant=kind == "reentrant")
    y.sum().backward()
    log(x.grad, counts)
    model = torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Sigmoid(), torch.nn.Tanh())
    x.grad = None
    module.checkpoint_sequential(model, segments, x,
                                 use_reentrant=kind == "reentrant").sum().backward()
    log(x.grad)


@behaviour
def errors_in_the_function(torch, log):
    _, checkpoint = tools(torch)
    x = vector(torch, 0.3)

    def fails(x):
        raise KeyError("inside")

    log.raises(checkpoint, fails, x)
    runs = []

    def fails_again(x):
        runs.append(1)
        y = x.sin()
        if len(runs) == 2:
            raise KeyError("again")
        return y.exp()

    log.raises(checkpoint(fails_again, x).sum().backward)


@behaviour
def small_helpers(torch, log):
    module, _ = tools(torch)
    x = vector(torch, 0.3)
    found = module.detach_variable((x * 2, 3, x.detach()))
    log(found[0].is_leaf, found[0].requires_grad, found[1], found[2].requires_grad)
    log.raises(module.detach_variable, [x])
    log.warns(module.check_backward_validity, [x.detach()])
    log.warns(module.check_backward_validity, [x])
    contexts = module.noop_context_fn()
    log(len(contexts))
    log([p.name for p in module.CheckpointPolicy][:4])
    log.refuses(module.create_selective_checkpoint_contexts, 3)
    log.refuses(module.create_selective_checkpoint_contexts, ["mm"])


@behaviour
def backward_inside_the_function(torch, log):
    _, checkpoint = tools(torch)
    x = vector(torch, 0.3, -0.7)

    def f(x):
        y = x.sin()
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        return (g * y).exp()

    checkpoint(f, x).sum().backward()
    log(x.grad)


@behaviour_of_each([("noticed", False), ("allowed", True)])
def a_kept_result_that_was_overwritten(torch, log, name, allowed):
    module, checkpoint = tools(torch)
    policies = module.CheckpointPolicy

    def policy(ctx, op, *args, **kwargs):
        return policies.MUST_SAVE if "sin" in str(op) else policies.PREFER_RECOMPUTE

    def contexts():
        return module.create_selective_checkpoint_contexts(policy, allowed)

    def f(x):
        y = x.sin()
        z = y * y
        with torch.no_grad():
            y.mul_(2)
        return z.exp()

    x = vector(torch, 0.3, -0.7)
    log.raises(checkpoint(f, x, context_fn=contexts).sum().backward)
    log(x.grad)


@behaviour_of_each([(f"{nested} {early}", (nested, early))
                    for nested in ("once", "twice", "gradient", "both") for early in (True, False)])
def checkpoints_in_each_other_and_gradients_inside(torch, log, name, kind):
    nested, early = kind
    module, checkpoint = tools(torch)

    def wrapped(function):
        return lambda x: checkpoint(function, x)

    def slope(function):
        def at(x):
            with torch.enable_grad():
                return torch.autograd.grad(function(x).sum(), x, create_graph=True)[0]

        return at

    def f(x):
        return x.sin().exp().sin()

    def g(x):
        torch.autograd.grad(x.sin().exp().sum(), x)
        return x.cos().exp()

    ways = {"once": wrapped, "twice": lambda fn: wrapped(wrapped(fn)),
            "gradient": lambda fn: wrapped(slope(wrapped(fn))),
            "both": lambda fn: slope(wrapped(slope(wrapped(fn))))}
    with module.set_checkpoint_early_stop(early):
        for function in (f, g):
            x = vector(torch, 0.3, -0.7)
            ways[nested](function)(x).sum().backward()
            log(x.grad)


@behaviour
def saved_tensors_of_a_checkpoint_are_looked_at_once(torch, log):
    _, checkpoint = tools(torch)

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            _, y = ctx.saved_tensors
            log(y is constant)
            log.raises(lambda: ctx.saved_tensors)
            return g * y, None

    x, constant = vector(torch, 0.3, -0.7), torch.ones(2, dtype=torch.float64)
    checkpoint(lambda t, c: Twice.apply(t.sin(), c), x, constant).sum().backward()
    log(x.grad)


@behaviour
def passes_of_a_group_recompute_once(torch, log):
    module, checkpoint = tools(torch)
    calls = []

    def f(x):
        calls.append(1)
        y = x.sin().cos()
        return y, y.sin().cos()

    for grouped in (False, True):
        calls.clear()
        x = vector(torch, 0.3, -0.7)
        y, z = checkpoint(f, x)
        with module.GraphExecGroup() if grouped else module.noop_context_fn()[0]:
            (g,) = torch.autograd.grad(z.sum(), y)
            (g,) = torch.autograd.grad(y, x, g)
        log(g, len(calls))
    out = checkpoint(lambda t: t.sin().cos(), x)
    with module.GraphExecGroup():
        log.refuses(module.GraphExecGroup().__enter__)
        out.sum().backward(retain_graph=True)
        log.raises(out.sum().backward)


@behaviour
def a_stopped_recomputation_leaves_nothing_behind(torch, log):
    import gc
    import weakref

    _, checkpoint = tools(torch)
    known = []

    class Kept(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.clone()
            ctx.save_for_backward(y)
            known.append(weakref.ref(y))
            return y

        @staticmethod
        def backward(ctx, g):
            return ctx.saved_tensors[0] * g

    x = vector(torch, 0.3)
    gc.collect()
    gc.disable()
    try:
        checkpoint(Kept.apply, x).sum().backward()
        log([reference() is None for reference in known], x.grad)
    finally:
        gc.enable()


@behaviour
def ops_are_named_as_pytorch_names_them(torch, log):
    module, checkpoint = tools(torch)
    aten = torch.ops.aten
    log(str(aten.mm.default), repr(aten.mm), repr(aten.add.Tensor), aten.add.Tensor.name(),
        aten.sin.default(torch.ones(2)), aten.relu_(-torch.ones(2)),
        aten.linalg_inv.default(torch.eye(2)))
    log(aten.mm.default == aten.mm.default, aten.mm.default == aten.sin.default,
        len({aten.mm.default, aten.mm.default}))
    log.refuses(lambda: aten.there_is_no_such_op)
    log.refuses(module.create_selective_checkpoint_contexts, [aten.sin])
    x, w = vector(torch, 0.3, -0.7).reshape(1, 2), vector(torch, 1.0, 2.0)
    kept = [aten.mm.default, aten.sin.default]
    out = checkpoint(lambda t: torch.mm(t, w.reshape(2, 1)).sin().exp(), x, context_fn=lambda:
                     module.create_selective_checkpoint_contexts(kept))
    log(torch.autograd.grad(out.sum(), (x, w)))


@behaviour_of_each([("an op more", "exp"), ("a call more", "sin")])
def a_selective_recomputation_does_something_else(torch, log, name, extra):
    module, checkpoint = tools(torch)
    policies, calls = module.CheckpointPolicy, []

    def policy(ctx, op, *args, **kwargs):
        return policies.MUST_SAVE if op == torch.ops.aten.sin.default \
            else policies.PREFER_RECOMPUTE

    def f(x):
        calls.append(1)
        x = x.sin()
        if len(calls) > 1:
            x = getattr(x, extra)()
        return x.cos()

    out = checkpoint(f, vector(torch, 0.3), early_stop=False, context_fn=lambda:
                     module.create_selective_checkpoint_contexts(policy))
    log.refuses(out.sum().backward)


@behaviour
def a_policy_is_asked_in_the_first_run_alone(torch, log):
    module, checkpoint = tools(torch)
    policies, asked = module.CheckpointPolicy, []

    def policy(ctx, op, *args, **kwargs):
        asked.append((ctx.is_recompute, tuple(ctx.op_output.shape)))
        # Its answers may depend on what was asked before.
        return policies.MUST_SAVE if len(asked) % 2 else policies.PREFER_RECOMPUTE

    x = vector(torch, 0.3, -0.7)
    checkpoint(lambda t: t.sin().sin().sin(), x, context_fn=lambda:
               module.create_selective_checkpoint_contexts(policy)).sum().backward()
    log(asked, x.grad)
