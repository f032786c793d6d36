"""``gradcheck`` and ``gradgradcheck`` beside PyTorch."""

from __future__ import annotations

import functools
import warnings

import shared
from parity.harness import behaviour, behaviour_of_each

vector = functools.partial(shared.vector, grad=True)


def cube(torch, **changes):
    return shared.cube(torch, **changes).apply


def verdict(torch, log, check, *args, lines=1, **options):
    """Log what a check says: its answer, or the start of its refusal."""
    try:
        log(check(*args, **options))
    except Exception as error:
        log(type(error).__name__, str(error).split("\n")[:lines])
        log(type(error).__mro__[1].__name__)
    try:
        log(check(*args, raise_exception=False, **options))
    except Exception as error:
        log(type(error).__name__)


MODES = [("slow", {}), ("fast", {"fast_mode": True}),
         ("forward", {"check_forward_ad": True, "check_backward_ad": False}),
         ("fast_forward", {"check_forward_ad": True, "check_backward_ad": False,
                           "fast_mode": True}),
         ("both", {"check_forward_ad": True}),
         ("batched", {"check_batched_grad": True}),
         ("all", {"check_forward_ad": True, "check_batched_grad": True,
                  "check_batched_forward_grad": True, "check_grad_dtypes": True})]


@behaviour_of_each(MODES)
def right_derivatives_pass(torch, log, name, options):
    warnings.simplefilter("ignore")
    x, y = vector(torch, 0.3, -0.7, 1.1), vector(torch, 1.0, 2.0, 3.0)
    check = torch.autograd.gradcheck
    for program, inputs in (
            (lambda x: x.sin(), x), (lambda x, y: x * y, (x, y)), (lambda x: x.sum(), [x]),
            (lambda x, y: (x.exp(), (x * y).sum()), (x, y)), (lambda x, n: x ** n, (x, 3)),
            (lambda x, y: torch.outer(x, y), (x, y)), (cube(torch), x),
            (lambda x, c: x * c, (x, y.detach())), (lambda x: x[:0], x),
            (lambda x: (x * 2, x.detach()) if name != "fast_forward" else x * 2, x)):
        verdict(torch, log, check, program, inputs, **options)


@behaviour_of_each(MODES[:2] + MODES[4:5])
def second_derivatives_pass(torch, log, name, options):
    warnings.simplefilter("ignore")
    x, y = vector(torch, 0.3, -0.7, 1.1), vector(torch, 1.0, 2.0, 3.0)
    options = {"check_fwd_over_rev" if k == "check_forward_ad" else k: v
               for k, v in options.items()}
    check = torch.autograd.gradgradcheck
    for program, inputs in (
            (lambda x: x.sin(), x), (lambda x, y: x * y, (x, y)),
            (lambda x, y: (x.exp(), (x * y).sum()), (x, y)), (lambda x, n: x ** n, (x, 3)),
            (cube(torch), x)):
        verdict(torch, log, check, program, inputs, **options)
    verdict(torch, log, check, lambda x: x ** 3, x, vector(torch, 1.0, 2.0, 3.0), **options)
    verdict(torch, log, check, lambda x: x ** 3, x, vector(torch, 1.0, 2.0, 3.0, grad=False),
            **options)
    verdict(torch, log, check, lambda x: x ** 3, x, gen_non_contig_grad_outputs=True, **options)


@behaviour_of_each([[], [1], [3], [2, 3]])
def gradients_with_gaps_are_made_where_they_are_asked_for(torch, log, shape):
    contiguous = []

    def backward(ctx, g):
        contiguous.append(g.is_contiguous())
        return g * 3 * ctx.saved_tensors[0] ** 2

    x = torch.ones(shape, dtype=torch.float64, requires_grad=True)
    for gaps in (False, True):
        log(torch.autograd.gradgradcheck(cube(torch, backward=backward), x, fast_mode=True,
                                         gen_non_contig_grad_outputs=gaps), contiguous[0])
        contiguous.clear()


WRONG = ["factor", "sign", "zero", "shape", "dtype", "none", "one_element"]


@behaviour_of_each([(kind, name, options) for kind in WRONG for name, options in MODES[:2]])
def wrong_gradients_are_found(torch, log, kind, name, options):
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        right = g * 3 * x ** 2
        if kind == "factor":
            return right * 1.01
        if kind == "sign":
            return -right
        if kind == "zero":
            return right * 0
        if kind == "shape":
            return right.sum().reshape(1)
        if kind == "dtype":
            return right.float()
        if kind == "none":
            return None
        return right * torch.tensor([1.0, 1.0, 2.0], dtype=torch.float64)

    x = vector(torch, 0.3, -0.7, 1.1)
    verdict(torch, log, torch.autograd.gradcheck, cube(torch, backward=backward), x, **options)


@behaviour_of_each([(kind, name, options) for kind in ("factor", "zero", "shape")
                    for name, options in MODES[2:4]])
def wrong_tangents_are_found(torch, log, kind, name, options):
    def jvp(ctx, t):
        (x,) = ctx.saved_tensors
        right = t * 3 * x ** 2
        return right * 1.01 if kind == "factor" else right * 0 if kind == "zero" else right[:1]

    x = vector(torch, 0.3, -0.7, 1.1)
    verdict(torch, log, torch.autograd.gradcheck, cube(torch, jvp=jvp), x, **options)


@behaviour
def the_text_of_a_mismatch(torch, log):
    x, y = vector(torch, 1.0, 2.0), vector(torch, 3.0)

    def program(x, y):
        return x.sum() + y, cube(torch, backward=lambda ctx, g: g * 2)(x) * y

    try:
        torch.autograd.gradcheck(program, (x, y))
    except torch.autograd.gradcheck.__globals__["GradcheckError"] as error:
        text = str(error)
    log(text.split("numerical:")[0], text.count("tensor("), "analytical:tensor" in text)


@behaviour
def nondeterministic_backward(torch, log):
    calls = []

    def backward(ctx, g):
        calls.append(1)
        return g * 3 * ctx.saved_tensors[0] ** 2 + 1e-7 * len(calls) * g

    x = vector(torch, 1.0, 2.0)
    f = cube(torch, backward=backward)
    verdict(torch, log, torch.autograd.gradcheck, f, x, lines=20)
    verdict(torch, log, torch.autograd.gradcheck, f, x, fast_mode=True, lines=20)
    verdict(torch, log, torch.autograd.gradcheck, f, x, nondet_tol=1e-5)


@behaviour_of_each(["nan", "inf", "-inf"])
def gradients_that_are_no_numbers_are_the_same_again(torch, log, value):
    def backward(ctx, g):
        calls.append(1)
        return g * torch.tensor([float(value), 3.0], dtype=torch.float64) + torch.tensor(
            [0.0, 1e-7 * len(calls)], dtype=torch.float64)

    for options in ({}, {"nondet_tol": 1e-3}, {"nondet_tol": 1e-9}):
        calls = []
        try:
            torch.autograd.gradcheck(cube(torch, backward=backward), vector(torch, 1.0, 1.0),
                                     check_undefined_grad=False, **options)
        except RuntimeError as error:
            log(str(error).split(",")[0])


@behaviour
def a_gradient_that_ignores_what_comes_in(torch, log):
    x = vector(torch, 1.0)
    f = cube(torch, forward=lambda ctx, x: x.clone(), backward=lambda ctx, g: torch.ones_like(g))
    verdict(torch, log, torch.autograd.gradcheck, f, x)


@behaviour
def undefined_gradients(torch, log):
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    def careful(ctx, a, b):
        if a is None and b is None:
            return None
        return (0 if a is None else a * 2) + (0 if b is None else b * 3)

    def wrong(ctx, a, b):
        return torch.ones(2, dtype=torch.float64) if a is None or b is None else a * 2 + b * 3

    x = vector(torch, 1.0, 2.0)
    for backward in (careful, lambda ctx, a, b: a * 2 + b * 3, wrong):
        f = cube(torch, forward=forward, backward=backward)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            verdict(torch, log, torch.autograd.gradcheck, f, x, check_undefined_grad=False)
            verdict(torch, log, torch.autograd.gradcheck, f, x)
        log([str(w.message)[:80] for w in caught])


@behaviour
def an_undefined_gradient_of_one_output_among_three(torch, log):
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 2, x * 2

    def backward(ctx, *grads):
        given = [g for g in grads if g is not None]
        return sum(given) * 2 + (len(given) == 2) if given else None

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdict(torch, log, torch.autograd.gradcheck,
                cube(torch, forward=forward, backward=backward), vector(torch, 1.0, 2.0))


@behaviour
def what_gradcheck_refuses(torch, log):
    check, twice = torch.autograd.gradcheck, torch.autograd.gradgradcheck
    x = vector(torch, 1.0, 2.0)
    log.raises(check, lambda x: x, x.detach())
    log.raises(check, lambda x: x, (1, 2))
    log.raises(check, lambda x: x * 2, x.detach().expand(3, 2).requires_grad_())
    log.raises(check, lambda x: x, x, check_forward_ad=False, check_backward_ad=False)
    log.raises(check, lambda x: x, x, check_batched_grad=True, check_backward_ad=False,
               check_forward_ad=True)
    log.raises(check, lambda x: x, x, check_batched_forward_grad=True)
    log.raises(twice, lambda x: x, x, check_rev_over_rev=False)
    log.raises(twice, lambda x: x, x, check_rev_over_rev=False, check_fwd_over_rev=True)
    log.raises(twice, lambda x: x, x, check_rev_over_rev=False, check_fwd_over_rev=True,
               check_undefined_grad=False, check_batched_grad=True)
    log.raises(twice, lambda x: x.detach(), x.detach())
    log.raises(check, lambda x, y: x, (x, x), eps=1e-3, atl=3)


@behaviour
def outputs_without_gradients(torch, log):
    x = vector(torch, 1.0, 2.0)
    for options in ({}, {"fast_mode": True}):
        verdict(torch, log, torch.autograd.gradcheck, lambda x: x.detach() * 0, x, **options)
        verdict(torch, log, torch.autograd.gradcheck, lambda x: x.detach() * 2, x, **options)


@behaviour
def outputs_that_change_with_the_input(torch, log):
    x = vector(torch, 1.0, 2.0)
    verdict(torch, log, torch.autograd.gradcheck,
            lambda x: x[: 1 + int(bool(x[0] > 1))] * 2, x)
    verdict(torch, log, torch.autograd.gradcheck,
            lambda x: x * 2 if bool(x[0] >= 1) else x.float() * 2, x)


@behaviour
def single_precision_warns(torch, log):
    x = vector(torch, 1.0, 2.0, dtype=torch.float32)
    log.warns(torch.autograd.gradcheck, lambda x: x * 2, x, atol=1e-1, eps=1e-2)
    log.warns(torch.autograd.gradcheck, lambda x: x * 2, (x, ), raise_exception=False, eps=1e-2,
              rtol=1e-1)


@behaviour_of_each(MODES[:5])
def complex_numbers(torch, log, name, options):
    warnings.simplefilter("ignore")
    z = torch.tensor([1.0 + 2j, -0.5j], dtype=torch.complex128, requires_grad=True)
    x = vector(torch, 0.3, -0.7)
    check = torch.autograd.gradcheck
    for program, inputs in (
            (lambda z: z * z, z), (lambda z: z.abs(), z), (lambda z: (z * z.conj()).real, z),
            (lambda x: torch.complex(x, x ** 2), x), (lambda z, x: z * x, (z, x)),
            (lambda z: z.exp().sum(), z), (lambda z: (z.real, z * 2), z)):
        verdict(torch, log, check, program, inputs, **options)


@behaviour_of_each(MODES[:4])
def wrong_complex_gradients(torch, log, name, options):
    def backward(ctx, g):
        (z,) = ctx.saved_tensors
        return g * 3 * z ** 2  # not conjugated

    def jvp(ctx, t):
        return t.conj() * 3 * ctx.saved_tensors[0] ** 2

    z = torch.tensor([1.0 + 2j, -0.5j], dtype=torch.complex128, requires_grad=True)
    verdict(torch, log, torch.autograd.gradcheck, cube(torch, backward=backward, jvp=jvp), z,
            **options)


@behaviour
def tolerances(torch, log):
    x = vector(torch, 1.0, 2.0)
    off = cube(torch, backward=lambda ctx, g: g * (3 * ctx.saved_tensors[0] ** 2 + 0.01))
    check = torch.autograd.gradcheck
    for options in ({}, {"atol": 0.1}, {"rtol": 0.1}, {"atol": 0.0, "rtol": 1e-3},
                    {"eps": 1e-2, "atol": 1e-1}):
        verdict(torch, log, check, off, x, **options)
        verdict(torch, log, check, off, x, fast_mode=True, **options)


@behaviour
def wrong_second_derivatives(torch, log):
    once = shared.saving(torch, lambda x: x ** 3, lambda g, x: g * 3 * (x * x.detach())).apply
    x = vector(torch, 1.0, 2.0)
    verdict(torch, log, torch.autograd.gradcheck, once, x)
    verdict(torch, log, torch.autograd.gradgradcheck, once, x)
    verdict(torch, log, torch.autograd.gradgradcheck, once, x, fast_mode=True)


@behaviour
def programs_and_modules(torch, log):
    warnings.simplefilter("ignore")
    x = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(2, 3).requires_grad_()
    layer = torch.nn.Linear(3, 2).double()
    check = torch.autograd.gradcheck
    log(check(layer, x), torch.autograd.gradgradcheck(layer, x))
    log(check(lambda w: torch.nn.functional.linear(x, w), layer.weight))
    log(check(lambda x: torch.nn.functional.softmax(x, 1), x, check_forward_ad=True))
    log(torch.autograd.gradgradcheck(lambda x: torch.tanh(x) @ x.t(), x, check_fwd_over_rev=True))
    log(x.grad, layer.weight.grad)
    log.values(x)


@behaviour
def the_input_is_left_as_it_was(torch, log):
    x = vector(torch, 1.0, 2.0)
    torch.autograd.gradcheck(lambda x: x * 3, x)
    log(x, x.grad, x._version, x.is_leaf)
    y = x * 2
    log(torch.autograd.gradcheck(lambda y: y * 3, y))
    log(y._version)
    view = torch.ones(2, 3, dtype=torch.float64).t().requires_grad_()
    log(torch.autograd.gradcheck(lambda v: v.exp(), view))


@behaviour
def jacobians_by_their_former_names(torch, log):
    import importlib

    module = importlib.import_module(torch.__name__ + ".autograd.gradcheck")
    a = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([3.0], dtype=torch.float64, requires_grad=True)
    log.warns(lambda: log.values(*module.get_numerical_jacobian(
        lambda inputs: (inputs[0] * inputs[1], inputs[0]), (a, b))))
    log.warns(lambda: log.values(*module.get_numerical_jacobian(
        lambda inputs: inputs[0] * inputs[1], (a, b), target=b)))
    jacobians, *answers = module.get_analytical_jacobian((a, b), a * b)
    log.values(*jacobians)
    log(answers)
    log.raises(lambda: module.get_numerical_jacobian(lambda xs: xs[0], (a,), grad_out=2.0))
    log.raises(lambda: module.get_analytical_jacobian((a,), a * 2, grad_out=2.0))


@behaviour
def random_numbers_in_a_batch_of_tangents(torch, log):
    def jvp(ctx, t):
        torch.randn_like(t)
        return t * 2

    function = type("Drawing", (torch.autograd.Function,), {
        "forward": staticmethod(lambda ctx, x: x * 2), "jvp": staticmethod(jvp),
        "backward": staticmethod(lambda ctx, g: g * 2)})
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    try:
        torch.autograd.gradcheck(function.apply, (x,), check_forward_ad=True,
                                 check_batched_forward_grad=True)
    except RuntimeError as error:
        log(type(error).__name__, str(error).partition("\n")[0])


@behaviour
def an_undefined_gradient_of_one_input_alone(torch, log):
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return x * y.detach() * 0 + x + y

    def backward(ctx, g):
        return (None, torch.ones(2, dtype=torch.float64)) if g is None else (g, g)

    inputs = (vector(torch, 1.0, 2.0), vector(torch, 3.0, 4.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdict(torch, log, torch.autograd.gradcheck,
                cube(torch, forward=forward, backward=backward), inputs)


@behaviour_of_each([("both", True), ("one", False)])
def how_often_a_function_is_run_forward(torch, log, name, second):
    runs = []

    class Copies(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x.clone(), y.clone()

        @staticmethod
        def jvp(ctx, x, y):
            runs.append(1)
            return x, y

    x, y = vector(torch, 0.3), vector(torch, 0.7).detach().requires_grad_(second)
    for fast in (False, True):
        for undefined, batched in ((False, False), (True, False), (True, True)):
            torch.autograd.gradcheck(Copies.apply, (x, y), fast_mode=fast, check_forward_ad=True,
                                     check_backward_ad=False, check_undefined_grad=undefined,
                                     check_batched_forward_grad=batched)
            log(len(runs))
            runs.clear()


@behaviour
def a_bent_function_of_complex_numbers_passes_in_fast_mode_too(torch, log):
    torch.manual_seed(97)
    z = (0.01 * torch.rand(2, dtype=torch.complex128)).requires_grad_()
    for fast in (True, False):
        verdict(torch, log, torch.autograd.gradcheck, lambda z: 1 / torch.norm(z), z,
                fast_mode=fast, atol=8.3e-6, rtol=1e-9)


@behaviour_of_each([(dtype, fast, forward) for dtype in ("float64", "complex128")
                    for fast in (False, True) for forward in (False, True)])
def limits_of_errors(torch, log, dtype, fast, forward):
    x = torch.tensor([0.5, -1.0, 2.0, 0.25], dtype=getattr(torch, dtype), requires_grad=True)
    for error in (0.01, -0.01):
        off = shared.custom(
            torch, lambda ctx, g, error=error: ((2 + error) * g.sum()).expand(4),
            lambda ctx, x: (2 * x.sum()).expand(5).clone(),
            jvp=lambda ctx, t, error=error: ((2 + error) * t.sum()).expand(5).clone())
        for atol, rtol in ((0.02, 0.0), (0.005, 0.0), (0.0, 0.01), (0.0, 0.0025), (0.005, 0.003)):
            log(torch.autograd.gradcheck(
                off.apply, x, atol=atol, rtol=rtol, fast_mode=fast, check_forward_ad=forward,
                check_backward_ad=not forward, raise_exception=False))
