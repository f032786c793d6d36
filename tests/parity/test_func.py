"""The transforms of ``torch.func``: results, structure, checks and messages."""

from __future__ import annotations

import collections
import importlib
import itertools
import warnings

from parity.harness import behaviour, behaviour_of_each

Pair = collections.namedtuple("Pair", "first second")


def vector(torch):
    return torch.tensor([1.0, 2.0])


def matrix(torch):
    return torch.arange(6.0).reshape(3, 2)


# grad


@behaviour
def grad_refuses(torch, log):
    grad, x = torch.func.grad, matrix(torch)
    log.raises(lambda: grad(lambda x: x)(x))
    log.raises(lambda: grad(lambda x: 3)(x))
    log.raises(lambda: grad(lambda x: (x.sum(), x.sum()))(x))
    log.raises(lambda: grad(lambda x: x.sum())(torch.arange(3)))
    log.raises(lambda: grad(lambda x: x)(3))
    log.raises(lambda: grad(lambda x: x.sum())(x + 1j))
    log.raises(lambda: grad(lambda x: x.sum(), has_aux=True)(x))
    log.raises(lambda: grad(lambda x: [x.sum(), x], has_aux=True)(x))
    log.raises(lambda: grad(lambda x: (x.sum(), "a"), has_aux=True)(x))


@behaviour_of_each([1, -3, "a", [0], None, 1.0])
def argnums_are_checked(torch, log, argnums):
    x = vector(torch)
    functions = (torch.func.grad, torch.func.jacrev, torch.func.jacfwd, torch.func.grad_and_value)
    for transform in functions:
        log.raises(lambda t=transform: t(lambda x: x.sum(), argnums=argnums)(x))


@behaviour
def argnums_tuples_are_checked(torch, log):
    x = vector(torch)
    for argnums in ((), (0, 0), (0, "a"), (0, 5)):
        log.raises(lambda a=argnums: torch.func.grad(lambda x, y: x.sum(), argnums=a)(x, x))


@behaviour
def gradients_by_argnums(torch, log):
    x, y = vector(torch), torch.tensor([3.0, 4.0])
    for argnums in (0, 1, -1, (0,), (1, 0), (0, 1)):
        log(torch.func.grad(lambda a, b: (a * b * b).sum(), argnums=argnums)(x, y))
    log(torch.func.grad(lambda x: torch.ones(()))(x))


@behaviour
def gradients_in_containers(torch, log):
    x = vector(torch)
    tree = {"a": x, "b": [torch.tensor(2.0), Pair(x + 1, x + 2)]}
    found = torch.func.grad(lambda t: (t["a"] * t["b"][1].first).sum() * t["b"][0])(tree)
    log(found["a"], found["b"][0], tuple(found["b"][1]), type(found["b"][1]).__name__)


@behaviour
def values_and_auxiliary_outputs(torch, log):
    x = vector(torch)
    log(torch.func.grad(lambda x: (x.sum(), {"a": x * 2}), has_aux=True)(x))
    log(torch.func.grad_and_value(lambda x: x.prod())(x))
    log(torch.func.grad_and_value(lambda x: (x.prod(), [x]), has_aux=True)(x))


# vjp


@behaviour
def vjp_refuses(torch, log):
    vjp, x = torch.func.vjp, matrix(torch)
    log.raises(lambda: vjp(lambda x: 3, x))
    log.raises(lambda: vjp(lambda x: (), x))
    log.raises(lambda: vjp(lambda x: x, 3))
    log.raises(lambda: vjp(lambda x: x.long(), x))
    log.raises(lambda: vjp(lambda x: x * 2, x, has_aux=True))
    log.raises(lambda: vjp(lambda x: (x * 2, 3), x, has_aux=True))
    log.raises(lambda: vjp(lambda x: (x, x * 2), x)[1](x))
    log.raises(lambda: vjp(lambda x: {"a": x}, x)[1]({"b": x}))
    log.raises(lambda: vjp(lambda x: x * 2, x)[1](torch.ones(3)))
    log.raises(lambda: vjp(lambda x: x * 2, x)[1](3))


@behaviour
def vjp_pulls_back(torch, log):
    vjp, x = torch.func.vjp, matrix(torch)
    log(vjp(lambda x: x * 2, x)[1](x), vjp(lambda x, y: x * y, x, x + 1)[1](x))
    log(vjp(lambda x: (x, x * 2), x)[1]((x, x)), vjp(lambda x: {"a": x}, x)[1]({"a": x}))
    log(vjp(lambda d: d["a"], {"a": x})[1](x), vjp(lambda x: x * 2, x)[0])
    output, pull, aux = vjp(lambda x: (x * 2, [x]), x, has_aux=True)
    log(output, pull(x), pull(x * 2), aux)


@behaviour
def gradients_of_what_is_no_real_scalar_in_a_batch(torch, log):
    x = torch.ones(2, 3)
    for grad in (torch.func.grad, torch.func.grad_and_value):
        log.raises(torch.vmap(grad(lambda x: (x * 1j).sum())), x)
        log.raises(torch.vmap(grad(lambda z: (z * 2).sum())), x * 1j)
        log.raises(torch.vmap(grad(lambda x: x * 2)), x)
        log(torch.vmap(grad(lambda x: x.long().sum()))(x))


@behaviour
def what_is_pulled_back_has_the_history_of_any_cotangent(torch, log):
    x, seed = matrix(torch), matrix(torch).requires_grad_()
    _, pull = torch.func.vjp(lambda x: (x * 2, x.sin()), x)
    for given in ((seed, x), (x, seed), (x, x)):
        (found,) = pull(given)
        log(found.requires_grad)
        if found.requires_grad:
            log(torch.autograd.grad(found.sum(), seed))
        with torch.no_grad():
            log(pull(given))


@behaviour_of_each([0, 1, 3])
def with_aux_a_function_returns_a_pair(torch, log, count):
    func, x = torch.func, vector(torch)
    for transform in (func.grad, func.grad_and_value, func.jacrev, func.jacfwd):
        log.raises(lambda t=transform: t(lambda x: (x.sum(),) * count, has_aux=True)(x))
    log.raises(lambda: func.vjp(lambda x: (x,) * count, x, has_aux=True))
    log.raises(lambda: func.jvp(lambda x: (x,) * count, (x,), (x,), has_aux=True))


@behaviour
def vjp_frees_the_graph_where_that_is_asked(torch, log):
    x, w = vector(torch), vector(torch).requires_grad_()
    for create in (None, False, True):
        _, pull = torch.func.vjp(lambda x: (x * w).exp(), x)
        log(pull(x, retain_graph=True, create_graph=create)[0].requires_grad)
        log(pull(x, retain_graph=False, create_graph=create))
        log.raises(pull, x)
    log(w.grad)
    torch.func.grad(lambda x: (x * w).exp().sum())(x)
    torch.func.jacrev(lambda x: (x * w).exp())(x)
    log(w.grad)


WATCHED = {
    "each by itself": lambda x, w, c: (x ** 2).sum() + (w ** 3).sum(),
    "by each other": lambda x, w, c: (x * w).sum(),
    "by what is neither": lambda x, w, c: (x * c).sum() + (w ** 2).sum(),
    "linearly": lambda x, w, c: (x * 3 - w).sum(),
    "by several paths": lambda x, w, c: ((x * 2).sin() * (x * 2).cos() + x.unbind()[0]
                                         + (w * c).sum()).sum(),
}


@behaviour_of_each(WATCHED)
def what_gradients_depend_on(torch, log, name):
    for requiring in itertools.product([False, True], repeat=3):
        values = [vector(torch), vector(torch) + 1, vector(torch) - 3]
        log_dependences(torch, log, WATCHED[name], *[
            value.requires_grad_(r) for value, r in zip(values, requiring)])


def log_dependences(torch, log, f, x, w, c):
    one = torch.func.grad(lambda x: f(x, w, c))(x)
    two = torch.func.grad(lambda x, w: f(x, w, c), argnums=(0, 1))(x, w)
    pulled = torch.func.vjp(lambda x, w: f(x, w, c), x, w)[1](torch.ones(()))
    jacobians = torch.func.jacrev(lambda x, w: f(x, w, c).reshape(1), argnums=(0, 1))(x, w)
    for found in (one, *two, *pulled, *jacobians):
        log(found.detach(), found.requires_grad)
        if found.requires_grad:
            log(torch.autograd.grad(found.sum(), [t for t in (x, w, c) if t.requires_grad],
                                    allow_unused=True))
    log([t.grad for t in (x, w, c)])


# jvp


@behaviour
def jvp_refuses(torch, log):
    jvp, x = torch.func.jvp, matrix(torch)
    log.raises(lambda: jvp(lambda x: x, x, (x,)))
    log.raises(lambda: jvp(lambda x: x, (x,), x))
    log.raises(lambda: jvp(lambda x: x, [x], [x]))
    log.raises(lambda: jvp(lambda x: x, (x,), (torch.ones(2),)))
    log.raises(lambda: jvp(lambda x: x, (x,), (x, x)))
    log.raises(lambda: jvp(lambda x: x, (3,), (3,)))
    log.raises(lambda: jvp(lambda x: x, (x,), (3,)))
    log.raises(lambda: jvp(lambda: x, (), ()))
    log.raises(lambda: jvp(lambda x: 3, (x,), (x,)))
    log.raises(lambda: jvp(lambda x: x, (x,), (x,), has_aux=True))
    log.raises(lambda: jvp(lambda x: torch.ones(2), (x,), (x,), strict=True))
    log.raises(lambda: jvp(lambda x: x, (torch.arange(3),), (torch.arange(3),)))


@behaviour
def jvp_pushes_forward(torch, log):
    jvp, x = torch.func.jvp, matrix(torch)
    log(jvp(lambda x: x.sin(), (x,), (x,)), jvp(lambda x: torch.ones(2), (x,), (x,)))
    log(jvp(lambda x: (x * 3, x * 2), (x,), (x,), has_aux=True))
    log(jvp(lambda d, y: {"o": d["a"] * y}, ({"a": x}, x), ({"a": x}, x + 1)))


# Jacobians


@behaviour_of_each(["jacrev", "jacfwd"])
def jacobians(torch, log, name):
    jac, x, y = getattr(torch.func, name), vector(torch), torch.tensor([3.0, 4.0])
    log(jac(lambda x: x * 2)(x), jac(lambda x, y: (x * y, x), argnums=(0, 1))(x, y))
    log(jac(lambda x: (x * 2, x), has_aux=True)(x))
    log(jac(lambda d: {"o": d["a"] * d["b"]})({"a": x, "b": y}))
    log(jac(lambda x: (x.sum(), {"a": x.outer(x)}))(x), jac(lambda x, y: x * y, argnums=1)(x, y))
    log.raises(lambda: jac(lambda x: 3)(x))


@behaviour
def jacobians_refuse(torch, log):
    x = vector(torch)
    log.raises(lambda: torch.func.jacrev(lambda x: x, chunk_size=0))
    log.raises(lambda: torch.func.jacrev(lambda x: x.long())(x))
    log.raises(lambda: torch.func.jacrev(lambda x: (x, 3), has_aux=True)(x))
    log.raises(lambda: torch.func.jacfwd(lambda x: x, has_aux=True)(x))
    log.raises(lambda: torch.func.jacfwd(lambda x: x * torch.rand(2))(x))
    log.raises(lambda: torch.func.jacfwd(lambda x: x, randomness="some")(x))


@behaviour
def hessians(torch, log):
    x, y = vector(torch), torch.tensor([3.0, 4.0])
    log(torch.func.hessian(lambda x: (x ** 3).sum())(x))
    log(torch.func.jacrev(lambda x: x.sin(), chunk_size=1)(x))
    log(torch.func.hessian(lambda x, y: (x * x * y).sum(), argnums=(0, 1))(x, y))


@behaviour
def linearized_functions(torch, log):
    linearize, v = torch.func.linearize, vector(torch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, about its tracer
        push = linearize(lambda x: x.sin(), v)[1]
        of_dict = linearize(lambda d: {"o": d["a"] * 2}, {"a": v})[1]
        log(push(v), push(v * 2), of_dict({"a": v}))
        several = linearize(lambda x, y: (x * y, y.sin(), x.detach() * 2), v, v + 1)[1]
        constant = linearize(lambda x: (x.detach(), torch.ones(2)), v)[1]
        log.values(*several(v, v), *several(v, v * 0), *constant(v))
        seed = vector(torch).requires_grad_()
        for given in ((seed, v), (v, seed)):
            log(torch.autograd.grad(several(*given)[0].sum(), seed))
    log.raises(lambda: push(torch.ones(3)))
    log.raises(lambda: push(torch.ones(2).double()))
    log.raises(lambda: push(v, v))
    log.raises(lambda: of_dict({"b": v}))


# Nesting


@behaviour_of_each([",".join(order) for order in itertools.product(
    ("grad", "jvp", "vmap", "jacrev", "jacfwd", "vjp"), repeat=2)])
def two_transforms_in_any_order(torch, log, order):
    f = torch.func
    one = torch.ones(3, dtype=torch.float64)
    wrap = {
        "grad": lambda h: f.grad(lambda x: h(x).sum()),
        "jvp": lambda h: lambda x: f.jvp(h, (x,), (one * 0.5,))[1],
        "vmap": lambda h: lambda x: f.vmap(h)(torch.stack([x, x * 2, x * x])).sum(0),
        "jacrev": lambda h: lambda x: f.jacrev(h)(x),
        "jacfwd": lambda h: lambda x: f.jacfwd(h)(x),
        "vjp": lambda h: lambda x: f.vjp(h, x)[1](torch.ones_like(h(x)))[0],
    }

    def program(x):
        return (torch.sin(x) * x * x.exp()) * (x * x).sum()

    for name in order.split(","):
        program = wrap[name](program)
    log.values(program(torch.tensor([0.3, 0.7, -0.2], dtype=torch.float64)))


@behaviour_of_each(["jvp", "vmap", "jvp,vmap", "vmap,jvp", "jvp,jvp", "vmap,vmap"])
def gradients_from_outside_reach_the_parts_of_lists(torch, log, order):
    f, one = torch.func, torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)
    wrap = {"jvp": lambda h: lambda x: f.jvp(h, (x,), (one,))[1],
            "vmap": lambda h: lambda x: f.vmap(h)(torch.stack([x, x * 2])).sum(0)}
    splits = (lambda x: x.split((1, 2)), lambda x: (x[1:].unbind(0)[0], x[1:]),
              lambda x: (x.chunk(3)[0], x.unbind(0)[1]))
    joins = (lambda w, a, b: torch.cat([a.reshape(-1) * w[0], b.reshape(-1)]).sin(),
             lambda w, a, b: torch.stack([a.sum(), w[1], b.sin().sum()]).prod() * b,
             lambda w, a, b: torch.einsum("i,j->ij", w * a.sum(), b.reshape(-1)).exp())
    for split, join in itertools.product(splits, joins):
        x, w = [torch.tensor(v, dtype=torch.float64, requires_grad=True)
                for v in ([0.3, 0.7, -0.2], [1.5, 0.4])]
        program = lambda x, split=split, join=join, w=w: join(w, *split(x))
        for name in order.split(","):
            program = wrap[name](program)
        found = torch.autograd.grad(program(x).sum(), (x, w), create_graph=True)
        log.values(*found)
        log.values(*torch.autograd.grad(sum(g.sin().sum() for g in found), (x, w)))


@behaviour_of_each(["x", "t", "both"])
def one_part_of_a_pair_is_the_same_for_the_whole_batch(torch, log, mapped):
    f = torch.func
    dims = (0 if mapped != "t" else None, 0 if mapped != "x" else None)
    programs = (lambda x: x * 2, lambda x: x.sin(), lambda x: x.sum(), lambda x: x.flip(0) + x * x,
                lambda x: torch.cat([x, x * 3]), lambda x: x * x.detach())
    for program in programs:
        x, t = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (
            [[0.3, 0.7], [-0.2, 1.1], [0.5, 0.9]], [[1.5, 0.4], [2.0, -1.0], [0.25, 3.0]])]
        given = [v if d == 0 else v[0] for v, d in zip((x, t), dims)]
        out = f.vmap(lambda x, t, p=program: f.jvp(p, (x,), (t,)), dims)(*given)
        log.values(*[part.detach() for part in out])
        for weights in ((1.0, 0.0), (0.0, 1.0), (2.0, 3.0)):
            loss = sum((w * part.sin()).sum() for w, part in zip(weights, out))
            found = torch.autograd.grad(loss, (x, t), create_graph=True, materialize_grads=True)
            log.values(*[g.detach() for g in found])
            again = sum(g.cos().sum() for g in found)
            if again.requires_grad:
                log.values(*torch.autograd.grad(again, (x, t), materialize_grads=True,
                                                retain_graph=True))


@behaviour_of_each(["vmap,vmap", "jvp,vmap", "vmap,jvp", "jvp,jvp", "vmap", "jvp"])
def transforms_are_looked_into(torch, log, order):
    f = torch.func

    def look(x):
        for options in ({}, {"recurse": True}, {"recurse": False}):
            found = f.debug_unwrap(x, **options)
            log(tuple(found.shape), found is x)
            if options.get("recurse", True):
                log(found.tolist())
        return x * 2

    wrap = {"vmap": f.vmap, "jvp": lambda h: lambda x: f.jvp(h, (x,), (x,))[1]}
    program = look
    for name in order.split(","):
        program = wrap[name](program)
    program(torch.arange(12.0).reshape(2, 3, 2))


# Modules


@behaviour
def functional_call_refuses(torch, log):
    call, m, v = torch.func.functional_call, torch.nn.Linear(2, 1), vector(torch)
    given = {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}
    log.raises(lambda: call(m, (given, {"bias": given["bias"]}), (v,)))
    log.raises(lambda: call(m, (given, 3), (v,)))
    log.raises(lambda: call(m, 3, (v,)))
    log.raises(lambda: call(m, {"weight": given["weight"]}, (v,), strict=True))
    log.raises(lambda: call(m, {**given, "foo": v}, (v,), strict=True))
    log.raises(lambda: call(m, {"foo": v}, (v,), strict=True))
    log.raises(lambda: call(m, {**given, "foo.bar": v}, (v,)))
    log.raises(lambda: call(m, {"weight": 3}, (v,)))
    log.raises(lambda: call(3, given, (v,)))
    log.refuses(lambda: call(m, given))


@behaviour
def functional_call_calls(torch, log):
    call, m, v = torch.func.functional_call, torch.nn.Linear(2, 1), vector(torch)
    given = {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}
    log(call(m, given, (v,)), call(m, given, v), call(m, given, (), {"input": v}))
    log(call(m, given, None, {"input": v}), call(m, [given], (v,)))
    log(call(m, ({"weight": given["weight"]}, {"bias": given["bias"]}), (v,)))
    log(call(m, {**given, "foo": v}, (v,)), hasattr(m, "foo"))
    both = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
    state = {n: torch.ones_like(p) for n, p in both.named_parameters()}
    log(call(both, state, (v,), strict=True))


def tied(torch):
    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.foo = torch.nn.Parameter(torch.tensor([3.0]))
            self.tied = self.foo
            self.register_buffer("buf", torch.ones(1))

        def forward(self, x):
            return self.foo * x + self.tied + self.buf

    return Tied()


@behaviour
def tied_weights(torch, log):
    call, m = torch.func.functional_call, tied(torch)
    one, zero = torch.ones(1), torch.zeros(1)
    log(call(m, {"foo": zero}, (one,)), call(m, {"foo": zero}, (one,), tie_weights=False))
    log(call(m, {"foo": zero, "tied": zero}, (one,)))
    log.raises(lambda: call(m, {"foo": torch.zeros(1), "tied": torch.zeros(1)}, (one,)))
    log(call(m, {"foo": zero, "buf": zero}, (one,), strict=True))
    log.raises(lambda: call(m, {"foo": zero}, (one,), strict=True))


@behaviour
def stacked_states(torch, log):
    stack, linear = torch.func.stack_module_state, torch.nn.Linear
    torch.manual_seed(0)
    parameters, buffers = stack([linear(2, 1), linear(2, 1)])
    log(parameters, buffers)
    log.raises(lambda: stack([]))
    log.raises(lambda: stack([linear(2, 1), torch.nn.ReLU()]))
    log.raises(lambda: stack([linear(2, 1), linear(2, 1).eval()]))
    log.raises(lambda: stack([linear(2, 1), linear(3, 1)]))
    frozen = linear(2, 1).requires_grad_(False)
    log.raises(lambda: stack([linear(2, 1), frozen]))
    log(sorted(stack([frozen])[0]), [p.requires_grad for p in stack([frozen])[0].values()])
    log(stack([tied(torch)]))


@behaviour
def an_ensemble(torch, log):
    torch.manual_seed(0)
    models = [torch.nn.Linear(2, 3) for _ in range(3)]
    state = torch.func.stack_module_state(models)
    x = matrix(torch)

    def call(parameters, buffers):
        return torch.func.functional_call(models[0], (parameters, buffers), (x,))

    log.values(torch.func.vmap(call)(*state))
    log.values(torch.func.vmap(torch.func.grad(lambda p, b: call(p, b).sum()))(*state)["weight"])


# containers


CONTAINERS = {
    "tuple": lambda lib, x: (x, [x * 2, ()]),
    "dict": lambda lib, x: {"b": x, "a": [x * 2]},
    "ordered": lambda lib, x: collections.OrderedDict(b=x, a=x * 2),
    "default": lambda lib, x: collections.defaultdict(list, b=x, a=x * 2),
    "deque": lambda lib, x: collections.deque([x, x * 2]),
    "named": lambda lib, x: Pair(x, {"inner": x * 2}),
    "of a function": lambda lib, x: lib.max(x, 0),
    "of floats": lambda lib, x: lib.aminmax(x),
}
THROUGH = {
    "vmap": lambda lib, f, x: lib.func.vmap(f)(x),
    "vmap to the last": lambda lib, f, x: lib.func.vmap(f, out_dims=-1)(x),
    "into vmap": lambda lib, f, x: lib.func.vmap(lambda given: given)(f(x)),
    "jvp": lambda lib, f, x: lib.func.jvp(f, (x,), (x,)),
    "vjp": lambda lib, f, x: (lambda value, pull: (value, pull(value)))(*lib.func.vjp(f, x)),
    "jacrev": lambda lib, f, x: lib.func.jacrev(f)(x),
    "jacfwd": lambda lib, f, x: lib.func.jacfwd(f)(x),
    "aux": lambda lib, f, x: lib.func.grad(lambda x: (x.sum(), f(x)), has_aux=True)(x),
    "checkpoint": lambda lib, f, x: lib.utils.checkpoint.checkpoint(f, x, use_reentrant=False),
}


def contents(value):
    """A tree as types, keys and tensors."""
    if isinstance(value, dict):
        return type(value).__name__, {key: contents(part) for key, part in value.items()}
    if isinstance(value, (tuple, list, collections.deque)):
        return type(value).__name__, [contents(part) for part in value]
    return value


@behaviour_of_each([(f"{container} through {way}", (container, way))
                    for container in CONTAINERS for way in THROUGH])
def containers_go_through_transforms(torch, log, name, case):
    container, way = case
    x = torch.tensor([[3.0, 1.0, 2.0], [0.5, 4.0, -1.0], [1.5, -2.0, 6.0]])
    log.refuses(lambda: contents(THROUGH[way](torch, lambda x: CONTAINERS[container](torch, x), x)))


# modules as functions


@behaviour
def functions_of_new_modules(torch, log):
    functional = importlib.import_module(f"{torch.__name__}._functorch.make_functional")
    x = torch.arange(12.0).reshape(3, 2, 2)
    for shape in ((), (3,), [3]):
        torch.manual_seed(0)
        weights, function, names = functional.functional_init(torch.nn.Linear, shape)(2, 1)
        run = torch.vmap(function) if shape else function
        log.values(*weights, run(weights, (x,)))
        log([w.requires_grad for w in weights], names)
        torch.manual_seed(0)
        weights, buffers, function, names, others = functional.functional_init_with_buffers(
            torch.nn.BatchNorm1d, [3])(2)
        log.values(*weights, *buffers)
        log(names, others)
    log.raises(functional.functional_init(torch.nn.Linear, (2, 3)), 2, 1)
    log.raises(functional.functional_init(torch.nn.Linear, (0,)), 2, 1)
    log.refuses(functional.functional_init(torch.nn.BatchNorm1d), 2)
