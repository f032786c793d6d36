"""``autograd.functional`` and batched gradients beside PyTorch."""

from __future__ import annotations

from parity.harness import behaviour, behaviour_of_each
from shared import saving, vector

PRODUCTS = ("vjp", "jvp", "vhp", "hvp")
MATRICES = ("jacobian", "hessian")


def scalar_of_two(x, y):
    return (x.exp() * y.pow(2) + x * y).sum()


def two_outputs(x, y):
    return x.sin() * y, (x * y.exp()).sum()


def shown(log, results):
    """Log nested results by value and by whether they have a graph."""
    if isinstance(results, (tuple, list)):
        log(len(results), type(results).__name__)
        for r in results:
            shown(log, r)
    else:
        log.values(results)
        log(results.requires_grad, results.is_leaf)


# Products


@behaviour_of_each([(name, graph) for name in PRODUCTS for graph in (False, True)])
def products_of_one_input(torch, log, name, graph):
    def f(x):
        return (x.sin() * x.exp()).sum()

    x = vector(torch, 0.3, -0.7, 1.1, grad=True)
    v = torch.tensor(1.5, dtype=torch.float64) if name == "vjp" else vector(torch, 1.0, 2.0, -1.0)
    out, product = getattr(torch.autograd.functional, name)(f, x, v, create_graph=graph)
    shown(log, (out, product))
    if graph:
        (slope,) = torch.autograd.grad(product.sum(), x)
        log.values(slope)
    log(x.grad)


@behaviour_of_each([(name, graph) for name in PRODUCTS for graph in (False, True)])
def products_of_inputs_without_grad(torch, log, name, graph):
    x = vector(torch, 0.3, -0.7)
    v = torch.tensor(1.5, dtype=torch.float64) if name == "vjp" else vector(torch, 1.0, 2.0)
    f = getattr(torch.autograd.functional, name)
    shown(log, f(lambda x: (x ** 3).sum(), x, v, create_graph=graph))
    log(x.requires_grad)


@behaviour_of_each(PRODUCTS)
def products_of_two_inputs(torch, log, name):
    x, y = vector(torch, 0.3, -0.7), vector(torch, 1.2, 0.4)
    f = getattr(torch.autograd.functional, name)
    if name == "vjp":
        shown(log, f(two_outputs, (x, y), (vector(torch, 1.0, 2.0),
                                           torch.tensor(3.0, dtype=torch.float64))))
    elif name == "jvp":
        shown(log, f(two_outputs, (x, y), (vector(torch, 1.0, 2.0), vector(torch, 3.0, 4.0))))
    else:
        shown(log, f(scalar_of_two, (x, y), (vector(torch, 1.0, 2.0), vector(torch, 3.0, 4.0))))


@behaviour_of_each(PRODUCTS)
def the_vector_may_be_missing_for_single_elements(torch, log, name):
    f = getattr(torch.autograd.functional, name)
    shown(log, f(lambda x: (x ** 3).sum(), vector(torch, 2.0)))
    shown(log, f(lambda x: x ** 3, torch.tensor(2.0)))


@behaviour_of_each(PRODUCTS)
def the_vector_is_checked(torch, log, name):
    f = getattr(torch.autograd.functional, name)
    x, y = vector(torch, 0.3, -0.7), vector(torch, 1.2, 0.4)
    g = (lambda x: x * 2) if name in ("vjp", "jvp") else (lambda x: (x * x).sum())
    log.raises(f, g, x)
    log.raises(f, g, x, vector(torch, 1.0, 2.0, 3.0))
    log.raises(f, g, x, (x, x))
    log.raises(f, g, x, [x])
    log.raises(f, g, x, 3.0)
    log.raises(f, two_outputs if name in ("vjp", "jvp") else scalar_of_two, (x, y), x)
    log.raises(f, two_outputs if name in ("vjp", "jvp") else scalar_of_two, (x, y), (x, x[:1]))
    log.raises(f, two_outputs if name in ("vjp", "jvp") else scalar_of_two, (x, y), (x, 1.0))
    log.raises(f, two_outputs if name in ("vjp", "jvp") else scalar_of_two, (x, y))


@behaviour_of_each(PRODUCTS + MATRICES)
def inputs_and_outputs_are_checked(torch, log, name):
    f = getattr(torch.autograd.functional, name)
    x = vector(torch, 0.3)
    log.raises(f, lambda x: x, 1.0)
    log.raises(f, lambda x: x, [x])
    log.raises(f, lambda x, y: x, (x, 1.0))
    log.raises(f, lambda x: 1.0, x)
    log.raises(f, lambda x: [x], x)
    log.raises(f, lambda x: (x, 2), x)
    log.raises(f, lambda x: {"a": x}, x)


@behaviour_of_each(("vhp", "hvp", "hessian"))
def second_derivatives_need_one_scalar(torch, log, name):
    f = getattr(torch.autograd.functional, name)
    x = vector(torch, 0.3, 0.4)
    args = () if name == "hessian" else (x,)
    log.raises(f, lambda x: (x.sum(), x.sum()), x, *args)
    log.raises(f, lambda x: (x.sum(),), x, *args)
    log.raises(f, lambda x: x * 2, x, *args)
    shown(log, f(lambda x: (x ** 3).sum().reshape(1, 1), x, *args))


@behaviour_of_each([(name, graph) for name in PRODUCTS + MATRICES for graph in (False, True)])
def strict_mode_finds_independence(torch, log, name, graph):
    f = getattr(torch.autograd.functional, name)
    x, y = vector(torch, 0.3, grad=True), vector(torch, 1.2, grad=True)
    one = () if name in MATRICES else (x,)
    two = () if name in MATRICES else ((x, y) if name != "vjp" else x,)
    programs = [
        lambda x, y: x.sum(), lambda x, y: (x * y).sum(), lambda x, y: (x ** 3 + y).sum(),
        lambda x, y: (x * x + y * y).sum(), lambda x, y: (x ** 3 * y ** 3).sum(),
        lambda x, y: (x.detach() * y).sum(), lambda x, y: x.detach().sum(),
        lambda x, y: (x ** 3 + y ** 3).sum(), lambda x, y: (x + y).sum()]
    for g in programs:
        for strict in (False, True):
            try:
                result = f(lambda x, y, g=g: g(x, y).reshape(1), (x, y), *two, create_graph=graph,
                           strict=strict)
            except RuntimeError as error:
                log(str(error))
            else:
                log.values(*_flat(result))
    for g in (lambda x: x, lambda x: x.detach(), lambda x: x * x, lambda x: x ** 3):
        for strict in (False, True):
            try:
                result = f(lambda x, g=g: g(x).sum().reshape(1), x, *one, create_graph=graph,
                           strict=strict)
            except RuntimeError as error:
                log(str(error))
            else:
                log.values(*_flat(result))


def _flat(results):
    if isinstance(results, tuple):
        return [leaf for r in results for leaf in _flat(r)]
    return [results]


@behaviour_of_each(PRODUCTS)
def nothing_stays_behind(torch, log, name):
    f = getattr(torch.autograd.functional, name)
    w = vector(torch, 2.0, 3.0, grad=True)
    x = vector(torch, 0.3, 0.4, grad=True)
    v = torch.tensor(1.0, dtype=torch.float64) if name == "vjp" else x.detach()
    shown(log, f(lambda x: (w * x ** 3).sum(), x, v))
    log(w.grad, x.grad, x.requires_grad)
    with torch.no_grad():
        shown(log, f(lambda x: (w * x ** 3).sum(), x, v))
        log(torch.is_grad_enabled())
    _, product = f(lambda x: (w * x ** 3).sum(), x, v, create_graph=True)
    log.values(*torch.autograd.grad(product.sum(), (w, x)))


@behaviour_of_each(PRODUCTS)
def gradients_pass_through_the_vector(torch, log, name):
    f = getattr(torch.autograd.functional, name)
    x = vector(torch, 0.3, 0.4)
    v = torch.tensor(1.0, dtype=torch.float64, requires_grad=True) if name == "vjp" \
        else vector(torch, 2.0, 3.0, grad=True)
    _, product = f(lambda x: (x ** 3).sum(), x, v, create_graph=True)
    log.values(*torch.autograd.grad(product.sum(), v))
    _, product = f(lambda x: (x ** 3).sum(), x, v)
    log(product.requires_grad)


@behaviour_of_each(PRODUCTS)
def a_function_may_be_asked_inside_no_grad(torch, log, name):
    f = getattr(torch.autograd.functional, name)
    x = vector(torch, 0.3, grad=True)
    with torch.no_grad():
        shown(log, f(lambda x: (x ** 3).sum(), x, create_graph=True))
        shown(log, f(lambda x: (x ** 3).sum(), x))


@behaviour
def outputs_that_are_integers_or_constants(torch, log):
    F = torch.autograd.functional
    x = vector(torch, 0.3, 1.7)
    shown(log, F.jacobian(lambda x: (x * 2, x.round().to(torch.int64)), x))
    shown(log, F.vjp(lambda x: (x * 2, x.round().to(torch.int64)), x, (x, torch.tensor([1, 1]))))
    log.raises(F.vjp, lambda x: x.long(), x, torch.tensor([1, 1]), strict=True)
    log.raises(F.jacobian, lambda x: x.long(), torch.tensor([1, 2]))
    log.raises(F.jacobian, lambda x: x * 2, torch.tensor([1, 2]))
    shown(log, F.jacobian(lambda x: torch.ones(2, 3), x))
    shown(log, F.jacobian(lambda x: (x.sum(), torch.ones(2)), x))


@behaviour
def complex_jacobians(torch, log):
    F = torch.autograd.functional
    z = torch.tensor([1.0 + 2j, -0.5j], dtype=torch.complex128)
    shown(log, F.jacobian(lambda z: z.abs(), z))
    shown(log, F.vjp(lambda z: z * z.conj(), z, z))
    shown(log, F.jvp(lambda z: z * z, z, z))
    log.raises(F.hessian, lambda z: (z * z.conj()).real.sum(), z)


@behaviour
def a_hessian_that_is_not_symmetric(torch, log):
    product = saving(torch, lambda x, y: x * y, lambda g, x, y: (g * y ** 2, g * x ** 3))

    def f(x, y):
        return product.apply(x, y).sum()

    x, y = vector(torch, 2.0, 3.0), vector(torch, 5.0, 7.0)
    v = (vector(torch, 1.0, 2.0), vector(torch, 3.0, 4.0))
    shown(log, torch.autograd.functional.hvp(f, (x, y), v))
    shown(log, torch.autograd.functional.vhp(f, (x, y), v))
    shown(log, torch.autograd.functional.hessian(f, (x, y)))


@behaviour
def a_hook_that_makes_the_hessian_unsymmetric(torch, log):
    def f(x, y):
        z = x * 1
        z.register_hook(lambda g: g * 3)
        return (z * y).sum()

    x, y = vector(torch, 2.0, 3.0), vector(torch, 5.0, 7.0)
    v = (vector(torch, 1.0, 2.0), vector(torch, 3.0, 4.0))
    shown(log, torch.autograd.functional.hvp(f, (x, y), v))
    shown(log, torch.autograd.functional.vhp(f, (x, y), v))


# Matrices


STRATEGIES = [("rows", {}), ("vectorized", {"vectorize": True}),
              ("forward", {"vectorize": True, "strategy": "forward-mode"})]
HESSIAN_STRATEGIES = [("rows", {}), ("vectorized", {"vectorize": True}),
                      ("forward", {"vectorize": True, "outer_jacobian_strategy": "forward-mode"})]


@behaviour_of_each(STRATEGIES)
def jacobians(torch, log, name, options):
    J = torch.autograd.functional.jacobian
    x, y = vector(torch, 0.3, -0.7), vector(torch, 1.2, 0.4)
    m = torch.arange(6, dtype=torch.float64).reshape(2, 3) / 3
    shown(log, J(lambda x: x.sin(), x, **options))
    shown(log, J(two_outputs, (x, y), **options))
    shown(log, J(lambda x: two_outputs(x, y), x, **options))
    shown(log, J(lambda x, y: x * y.sum(), (x, y), **options))
    shown(log, J(lambda x: (x,), (x,), **options))
    shown(log, J(lambda m: m.exp().sum(0), m, **options))
    shown(log, J(lambda m: (m @ m.t()).tanh(), m, **options))
    shown(log, J(lambda x, m: (x @ m, m.cumsum(1) * x.sum()), (x, m), **options))
    shown(log, J(lambda x, y: x.sum(), (x, y), **options))
    shown(log, J(lambda s: s ** 2, torch.tensor(3.0), **options))
    shown(log, J(lambda m: m.max(dim=1).values, m, **options))
    shown(log, J(lambda m: m.sort(dim=1, descending=True).values.prod(0), m, **options))


@behaviour_of_each(HESSIAN_STRATEGIES)
def hessians(torch, log, name, options):
    H = torch.autograd.functional.hessian
    x, y = vector(torch, 0.3, -0.7), vector(torch, 1.2, 0.4)
    m = torch.arange(6, dtype=torch.float64).reshape(2, 3) / 3
    shown(log, H(lambda x: (x ** 3).sum(), x, **options))
    shown(log, H(scalar_of_two, (x, y), **options))
    shown(log, H(lambda x: scalar_of_two(x, x), (x,), **options))
    shown(log, H(lambda m: (m @ m.t()).tanh().sum(), m, **options))
    shown(log, H(lambda m: m.logsumexp(1).prod(), m, **options))


@behaviour_of_each(HESSIAN_STRATEGIES[:2])
def hessians_where_parts_are_constant(torch, log, name, options):
    H = torch.autograd.functional.hessian
    x, y = vector(torch, 0.3, -0.7), vector(torch, 1.2, 0.4)
    shown(log, H(lambda x, y: (x ** 3).sum(), (x, y), **options))
    shown(log, H(lambda x, y: (x ** 2).sum() + y.sum(), (x, y), **options))
    shown(log, H(lambda x: x.sum(), x, **options))


@behaviour_of_each([(name, graph) for name in ("rows", "vectorized") for graph in (False, True)])
def matrices_with_a_graph(torch, log, name, graph):
    F = torch.autograd.functional
    options = {"vectorize": name == "vectorized", "create_graph": graph}
    x, y = vector(torch, 0.3, -0.7, grad=True), vector(torch, 1.2, 0.4, grad=True)
    results = [F.jacobian(two_outputs, (x, y), **options),
               F.hessian(scalar_of_two, (x, y), **options),
               F.jacobian(lambda x: x * 2, x, **options), F.jacobian(lambda x: x * y, x, **options)]
    for r in results:
        shown(log, r)
    if graph:
        total = sum(part.pow(2).sum() for part in _flat(tuple(results)))
        log.values(*torch.autograd.grad(total, (x, y)))
    log(x.grad, y.grad)
    plain = vector(torch, 0.3)
    shown(log, F.jacobian(lambda p: p ** 3, plain, **options))


@behaviour_of_each(STRATEGIES)
def jacobians_of_dtypes(torch, log, name, options):
    J = torch.autograd.functional.jacobian
    x = torch.tensor([1.0, 2.0])
    shown(log, J(lambda x: x.double() * 2, x, **options))
    shown(log, J(lambda x: x.half() * 2, x, **options))
    shown(log, J(lambda x, y: x * y, (x, x.double()), **options))


@behaviour_of_each(STRATEGIES)
def jacobians_with_weights_outside(torch, log, name, options):
    w = vector(torch, 2.0, 3.0, grad=True)
    x = vector(torch, 0.5, 0.25, grad=True)
    result = torch.autograd.functional.jacobian(lambda x: (w * x).sin(), x, **options)
    shown(log, result)
    log(w.grad, x.grad)
    y = x * 2
    shown(log, torch.autograd.functional.jacobian(lambda y: y * y, y, **options))


@behaviour
def options_that_exclude_each_other(torch, log):
    F = torch.autograd.functional
    x = vector(torch, 0.3, -0.7)
    log.raises(F.jacobian, lambda x: x, x, strategy="sideways")
    log.raises(F.hessian, lambda x: x.sum(), x, outer_jacobian_strategy="sideways")
    log.raises(F.jacobian, lambda x: x, x, strategy="forward-mode")
    log.raises(F.jacobian, lambda x: x, x, strategy="forward-mode", vectorize=True, strict=True)
    log.raises(F.jacobian, lambda x: x, x, strategy="forward-mode", vectorize=True,
               create_graph=True)
    log.raises(F.jacobian, lambda x: x, x, vectorize=True, strict=True)
    log.raises(F.hessian, lambda x: (x ** 2).sum(), x, vectorize=True, strict=True)
    log.raises(F.hessian, lambda x: (x ** 2).sum(), x, outer_jacobian_strategy="forward-mode")
    log.raises(F.hessian, lambda x: (x ** 2).sum(), x, outer_jacobian_strategy="forward-mode",
               create_graph=True, vectorize=True)


@behaviour
def empty_tensors(torch, log):
    F = torch.autograd.functional
    empty = torch.zeros(0, dtype=torch.float64)
    x = vector(torch, 1.0, 2.0)
    shown(log, F.vjp(lambda x: x * 2, empty, empty))
    shown(log, F.jvp(lambda x: x * 2, empty, empty))
    shown(log, F.vhp(lambda x: (x ** 2).sum(), empty, empty))
    shown(log, F.hvp(lambda x: (x ** 2).sum(), empty, empty))
    shown(log, F.jacobian(lambda x: x.sum(), empty))
    shown(log, F.hessian(lambda x: (x ** 2).sum() + x.sum(), torch.zeros(1, 0)[0][:0].reshape(0, 2)
                         .double().sum(0)))
    shown(log, F.jacobian(lambda x, e: x * 2, (x, empty)))
    shown(log, F.jacobian(lambda x, e: x * 2, (x, empty), vectorize=True))


@behaviour
def functions_that_write_in_place(torch, log):
    F = torch.autograd.functional
    x = vector(torch, 1.0, 2.0)

    def written(x):
        y = x * 1
        y[0] = x[1] ** 2
        return y.mul_(x)

    for options in ({}, {"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}):
        shown(log, F.jacobian(written, x, **options))
    shown(log, F.hessian(lambda x: written(x).sum(), x))
    shown(log, F.vhp(lambda x: written(x).sum(), x, x))
    shown(log, F.jvp(written, x, x))
    log.raises(F.jacobian, lambda x: x.mul_(2), x)
    log.raises(F.jacobian, lambda x: x.mul_(2), x.clone().requires_grad_(), create_graph=True)
    log.values(x)


@behaviour
def derivatives_of_derivatives(torch, log):
    F = torch.autograd.functional
    x = vector(torch, 1.0, 2.0)
    third = F.jacobian(lambda x: F.hessian(lambda x: (x ** 4).sum(), x, create_graph=True), x)
    shown(log, third)

    def cube(x):
        return x ** 3

    shown(log, F.jacobian(lambda x: F.jvp(cube, x, x.detach(), create_graph=True)[1], x))
    shown(log, F.jacobian(lambda x: F.vjp(cube, x, x.detach(), create_graph=True)[1], x,
                          vectorize=True))


@behaviour
def the_input_itself_is_not_what_the_function_gets(torch, log):
    x = vector(torch, 1.0, 2.0, grad=True)
    seen = []

    def f(y):
        seen.append((y is x, y.is_leaf, y.requires_grad))
        return (x * y).sum()

    F = torch.autograd.functional
    shown(log, F.vjp(f, x))
    shown(log, F.vjp(f, x, create_graph=True))
    shown(log, F.hessian(f, x))
    log(seen)


# is_grads_batched


@behaviour
def batched_gradients(torch, log):
    x, y = vector(torch, 1.0, 2.0, grad=True), vector(torch, 3.0, 4.0, grad=True)
    rows = torch.arange(6, dtype=torch.float64).reshape(3, 2)
    grad = torch.autograd.grad
    z = x * y
    for g in grad(z, (x, y), rows, retain_graph=True, is_grads_batched=True):
        log(g)
    s = z.sum()
    for g in grad((z, s), (x, y), (rows, rows[:, 0]), retain_graph=True, is_grads_batched=True):
        log(g)
    log.raises(grad, (z, s), x, (rows, None), retain_graph=True, is_grads_batched=True)
    log.raises(grad, z, x, retain_graph=True, is_grads_batched=True)
    log.raises(grad, z, x, rows + 0j, retain_graph=True, is_grads_batched=True)
    log.raises(grad, z, [], rows, retain_graph=True, is_grads_batched=True)
    log.raises(grad, z, (x, vector(torch, 1.0, grad=True)), rows, retain_graph=True,
               is_grads_batched=True)
    log(grad(z, (x, vector(torch, 1.0, grad=True)), rows, retain_graph=True, allow_unused=True,
             is_grads_batched=True))
    log.refuses(grad, z, x, vector(torch, 1.0, 2.0), retain_graph=True, is_grads_batched=True)
    log.refuses(grad, z, x, torch.ones(3, 5).double(), retain_graph=True, is_grads_batched=True)
    log.raises(grad, s, x, is_grads_batched=True, retain_graph=True)
    log.raises(grad, (z, s), x, (rows, rows[:2, 0]), retain_graph=True, is_grads_batched=True)
    log.raises(grad, s, x, torch.tensor(1.0).double(), retain_graph=True, is_grads_batched=True)
    log.raises(grad, z, x, rows.float(), retain_graph=True, is_grads_batched=True)


@behaviour
def batched_gradients_with_a_graph(torch, log):
    x = vector(torch, 1.0, 2.0, grad=True)
    rows = torch.eye(2, dtype=torch.float64)
    z = x.exp() * x.sum()
    (J,) = torch.autograd.grad(z, x, rows, create_graph=True, is_grads_batched=True)
    log.values(J)
    log(J.requires_grad)
    log.values(*torch.autograd.grad(J.pow(2).sum(), x))
    log.raises(torch.autograd.grad, (x * 2).sum(), x, torch.ones(3, dtype=torch.float64),
               is_grads_batched=True, materialize_grads=True)
    w = vector(torch, 5.0, grad=True)
    log.raises(torch.autograd.grad, (x * 2).sum(), (x, w), torch.ones(3, dtype=torch.float64),
               is_grads_batched=True, materialize_grads=True)


@behaviour
def batched_gradients_free_the_graph(torch, log):
    x = vector(torch, 1.0, 2.0, grad=True)
    z = x.exp() * x
    rows = torch.eye(2, dtype=torch.float64)
    log.values(*torch.autograd.grad(z, x, rows, is_grads_batched=True))
    log.raises(torch.autograd.grad, z, x, rows, is_grads_batched=True)


@behaviour
def the_helpers_that_other_libraries_import(torch, log):
    functional = torch.autograd.functional
    x, y = torch.ones(2), torch.zeros(3)
    for given in (x, (x,), (x, y), [x]):
        log.raises(functional._as_tuple, given, "inputs", "f")
    for given in (3, (x, 3)):
        for name in ("inputs", "outputs of the user-provided function"):
            log.raises(functional._as_tuple, given, name, "f")
    log(functional._tuple_postprocess((x,), False), functional._tuple_postprocess((x,), True))
    for first in (False, True):
        for second in (False, True):
            log(functional._tuple_postprocess(((x,), (y,)), (first, second)))


@behaviour
def recorded_products_that_depend_on_nothing(torch, log):
    F, x, v = torch.autograd.functional, torch.ones(2), torch.ones(2)
    for function in (F.vjp, F.jvp):
        for program in (lambda x: x * 2, lambda x: x * x, lambda x: (x * x, x * 3)):
            for strict in (False, True):
                log.raises(lambda f=function, p=program, s=strict: f(
                    p, x, v if p(x) is None or isinstance(p(x), torch.Tensor) else (v, v)
                    if f is F.vjp else v, create_graph=True, strict=s))
    for function in (F.vhp, F.hvp):
        for program in (lambda x: (x * x).sum(), lambda x: (x * x * x).sum(), lambda x: x.sum()):
            for strict in (False, True):
                log.raises(lambda f=function, p=program, s=strict: f(
                    p, x, v, create_graph=True, strict=s))
