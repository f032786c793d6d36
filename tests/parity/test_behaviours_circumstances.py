"""Ordinary calls in circumstances that are easily forgotten: modes, half precision, late writes."""

from __future__ import annotations

import importlib
import operator
import re
import warnings

import numpy as np
import pytest

import retrograd as rg
from parity.harness import behaviour, behaviour_of_each
from shared import leaf

HALVES = [("float16", "float16"), ("bfloat16", "bfloat16")]


def _checkpoint(torch):
    return importlib.import_module(torch.__name__ + ".utils.checkpoint")


# ---------------------------------------------------------------- inputs overwritten afterwards

INPUTS = {
    "a constant": lambda torch: torch.full((3,), 2.0),
    "an intermediate": lambda torch: torch.full((3,), 2.0, requires_grad=True) * 1,
    "integers": lambda torch: torch.tensor([1, 2, 3]),
    "a view": lambda torch: torch.full((6,), 2.0)[::2],
}


@behaviour_of_each(INPUTS.items())
def the_input_of_a_checkpoint_is_overwritten(torch, log, name, make):
    x, y = leaf(torch, 1.0, 1.0, 1.0), make(torch)
    z = _checkpoint(torch).checkpoint(lambda a, b: (a * b).sin(), y, x, use_reentrant=False)
    with torch.no_grad():
        y.zero_()
    log.raises(lambda: z.sum().backward())
    log(x.grad)


@behaviour
def the_input_of_a_checkpoint_is_written_before(torch, log):
    x, y = leaf(torch, 1.0, 1.0, 1.0), torch.zeros(3)
    y.add_(2)
    z = _checkpoint(torch).checkpoint(lambda a, b: (a * b).sin(), y, x, use_reentrant=False)
    z.sum().backward()
    log(x.grad)


@behaviour
def a_saved_tensor_leaves_the_graph(torch, log):
    x = leaf(torch, 1.0, 2.0)
    a = x.clone()
    b = a.sin()
    a.detach_()
    log(a, a._version, b)
    log.raises(lambda: b.sum().backward())


@behaviour
def a_tensor_that_left_the_graph_is_used_and_written_to(torch, log):
    x = leaf(torch, 1.0, 2.0)
    a = x * 2
    a.detach_()
    c = x * a
    log(c)
    c.sum().backward(retain_graph=True)
    log(x.grad)
    a.mul_(3)
    log(a, a._version)
    log.raises(lambda: c.sum().backward())


@behaviour
def views_keep_their_gradients_when_the_base_is_written(torch, log):
    x = leaf(torch, 1.0, 2.0, 3.0, 4.0).clone()
    a, b = x.view(2, 2), x[1:]
    a.retain_grad()
    b.retain_grad()
    x.mul_(2)
    (a.sum() + b.sum()).backward()
    log(a.grad, b.grad)


@behaviour
def one_of_two_views_is_written(torch, log):
    x = leaf(torch, 1.0, 2.0, 3.0, 4.0).clone()
    a, b = x.view(2, 2), x[1:]
    a.retain_grad()
    b.retain_grad()
    a.mul_(2)
    (x.sum() + b.sum()).backward()
    log(a.grad, b.grad)


# ---------------------------------------------------------------- inference mode

TRANSFORMS = {
    "grad": lambda torch, f, x: torch.func.grad(lambda a: f(a).sum())(x),
    "vjp": lambda torch, f, x: torch.func.vjp(f, x)[1](torch.ones(2)),
    "jvp": lambda torch, f, x: torch.func.jvp(f, (x,), (x,)),
    "hessian": lambda torch, f, x: torch.func.hessian(lambda a: f(a).sum())(x),
    "jacfwd": lambda torch, f, x: torch.func.jacfwd(f)(x),
    "jacrev": lambda torch, f, x: torch.func.jacrev(f)(x),
    "grad of grad": lambda torch, f, x: torch.func.grad(
        lambda b: torch.func.grad(lambda a: f(a).sum())(b).sum())(x),
}


@behaviour_of_each(TRANSFORMS.items())
def transforms_inside_inference_mode(torch, log, name, transform):
    outside = torch.tensor([1.0, 2.0])
    with torch.inference_mode():
        made = torch.tensor([3.0, 4.0])
        results = [transform(torch, lambda a: a ** 3 * made, outside),
                   transform(torch, lambda a: a ** 3 * outside, made)]
    results.append(transform(torch, lambda a: a ** 3 * made, outside))
    for result in results:
        log.values(*(result if isinstance(result, tuple) else [result]))


@behaviour
def gradients_taken_in_inference_mode_are_ordinary_tensors(torch, log):
    x = torch.tensor([1.0, 2.0])
    with torch.inference_mode():
        value, pull = torch.func.vjp(lambda a: a.sin() * a, x)
        made = [value, *pull(x), *torch.func.jvp(torch.sin, (x,), (x,)),
                torch.func.grad(lambda a: a.sin().sum())(x), torch.func.jacrev(torch.sin)(x)[0],
                torch.func.jacfwd(torch.sin)(x)[0], torch.vmap(torch.func.grad(torch.sin))(x),
                torch.func.hessian(lambda a: a.sin().sum())(x)[0], torch.vmap(torch.sin)(x)]
    log([t.is_inference() for t in made])
    w = leaf(torch, 3.0, 4.0)
    log(*torch.autograd.grad((w * made[1]).sum(), w))


@behaviour
def inference_mode_is_off_inside_a_transform(torch, log):
    seen = []
    with torch.inference_mode():
        torch.func.grad(lambda a: (seen.append(torch.is_inference_mode_enabled()), a.sum())[1])(
            torch.ones(2))
        seen.append(torch.is_inference_mode_enabled())
    log(seen)


# ---------------------------------------------------------------- half precision


@behaviour_of_each(HALVES)
def gradients_of_a_broadcast_accumulate_in_single_precision(torch, log, name, dtype):
    kind = getattr(torch, dtype)
    ones = torch.ones(5000, dtype=kind)
    b = torch.zeros(1, dtype=kind, requires_grad=True)
    (ones + b).backward(ones)
    log(b.grad)
    b.grad = None
    b.expand(5000).backward(ones)
    log(b.grad, ones.sum_to_size(1))
    matrix = torch.ones(3000, 2, dtype=kind)
    row = torch.zeros(2, dtype=kind, requires_grad=True)
    (matrix * row + row).backward(matrix)
    log(row.grad)


ADDED_UP = {
    "scatter_add": lambda torch, x, i, o: x.scatter_add(0, i, o),
    "scatter_add_": lambda torch, x, i, o: x.clone().scatter_add_(0, i, o),
    "scatter_add of rows": lambda torch, x, i, o: x[:, None].expand(2, 3).scatter_add(
        0, i[:, None].expand(-1, 3), o[:, None].expand(-1, 3)),
    "scatter_reduce": lambda torch, x, i, o: x.scatter_reduce(0, i, o, "sum"),
    "mean": lambda torch, x, i, o: x.scatter_reduce(0, i, o, "mean", include_self=False),
    "index_add": lambda torch, x, i, o: x[:, None].index_add(0, i, o[:, None]),
    "gather": lambda torch, x, i, o: torch.func.vjp(lambda a: a.gather(0, i), x)[1](o)[0],
    "take_along_dim": lambda torch, x, i, o: torch.func.vjp(
        lambda a: a.take_along_dim(i, 0), x)[1](o)[0],
    "as_strided": lambda torch, x, i, o: torch.func.vjp(
        lambda a: a.as_strided((5000,), (0,)), x)[1](o)[0],
    "interpolate": lambda torch, x, i, o: torch.func.vjp(
        lambda a: torch.nn.functional.interpolate(a.view(1, 1, 2), 5000), x)[1](
        o.view(1, 1, -1))[0],
}


@behaviour_of_each([(f"{name} {dtype}", call, dtype) for name, call in ADDED_UP.items()
                    for dtype, _ in HALVES])
def what_comes_to_one_place_is_added_up_in_single_precision(torch, log, name, call, dtype):
    kind = getattr(torch, dtype)
    x, i = torch.zeros(2, dtype=kind), torch.zeros(5000, dtype=torch.int64)
    log.values(call(torch, x, i, torch.ones(5000, dtype=kind)))
    i[1::2] = 1
    log.values(call(torch, x, i, torch.full((5000,), 0.3, dtype=kind)))


@behaviour_of_each(HALVES)
def windows_are_averaged_in_single_precision(torch, log, name, dtype):
    x = torch.arange(2000.0).to(getattr(torch, dtype)).view(1, 1, -1) / 256
    log(torch.nn.functional.avg_pool1d(x, 1000, 250))


NUMBERS = {
    f"{name} {number}": (name, number) for number in (1e5, 0.3, 1e-8, 3)
    for name in ("mul", "div", "add", "sub", "rsub", "remainder", "fmod", "floor_divide")
}


@behaviour_of_each([(key, *value, dtype) for key, value in NUMBERS.items()
                    for dtype in ("float16", "bfloat16")])
def numbers_beside_half_precision(torch, log, name, function, number, dtype):
    x = torch.tensor([1e-3, 100.0, 7.5, -7.25, 0.3, 5.3], dtype=getattr(torch, dtype))
    log(getattr(torch, function)(x, number))
    if function in ("mul", "div"):
        log(getattr(torch, function)(x, torch.tensor(number)))


@behaviour_of_each(HALVES)
def half_precision_attention(torch, log, name, dtype):
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 3, 4, 8).to(getattr(torch, dtype)) for _ in range(3))
    attend = torch.nn.functional.scaled_dot_product_attention
    mask = torch.randn(4, 4)
    for options in ({}, {"is_causal": True}, {"attn_mask": mask > 0},
                    {"attn_mask": mask.to(q.dtype)}, {"scale": 0.3}):
        log.values(attend(q, k, v, **options))


BEYOND = {
    "clamp max": lambda torch, x, n: x.clamp(max=n),
    "clamp min": lambda torch, x, n: x.clamp(min=n),
    "clamp": lambda torch, x, n: x.clamp(-abs(n), abs(n)),
    "clamp_": lambda torch, x, n: x.clone().clamp_(max=n),
    "clamp_max": lambda torch, x, n: x.clamp_max(n),
    "pow": lambda torch, x, n: x ** n,
    "pow_": lambda torch, x, n: x.clone().pow_(n),
    "hardtanh": lambda torch, x, n: torch.nn.functional.hardtanh(x, -abs(n), abs(n)),
    "hardshrink": lambda torch, x, n: torch.nn.functional.hardshrink(x, n),
    "index_add": lambda torch, x, n: x.index_add(0, torch.tensor([1]), x[:1], alpha=n),
    "masked_fill": lambda torch, x, n: x.masked_fill(x > 0, n),
}


@behaviour_of_each([(f"{name} {dtype}", call, dtype) for name, call in BEYOND.items()
                    for dtype in ("float16", "bfloat16", "uint8", "int8")
                    if dtype.endswith("16") or name == "index_add"])
def numbers_that_the_dtype_cannot_hold(torch, log, name, call, dtype):
    x = torch.tensor([1.0, 2.0]).to(getattr(torch, dtype))
    for number in (1e5, -1e5, 1e39, float("inf"), 3.0) if dtype.endswith("16") \
            else (300, -1, -129, 1 << 40, 1.5, 3):
        log.raises(lambda number=number: call(torch, x, number))


LOGARITHMS = {
    "pow": lambda torch, a, b: torch.pow(a, b), "base": lambda torch, a, b: torch.pow(b, a),
    "xlogy": lambda torch, a, b: torch.xlogy(a, b), "other": lambda torch, a, b: torch.xlogy(b, a),
}


@behaviour_of_each([(f"{name} {narrow} {wide}", call, narrow, wide)
                    for name, call in LOGARITHMS.items() for narrow, wide in
                    (("float32", "float64"), ("float16", "float32"))])
def gradients_have_the_digits_of_their_result(torch, log, name, call, narrow, wide):
    a = leaf(torch, 1.1, 2.3, 0.7, dtype=getattr(torch, narrow))
    b = leaf(torch, 2.9, 0.3, 1.7, dtype=getattr(torch, wide))
    for gradient in torch.autograd.grad(call(torch, a, b).sum(), (a, b)):
        log.values(gradient)


@behaviour
def thresholds_in_half_precision(torch, log):
    x = torch.tensor([0.3, -0.3, 0.31], dtype=torch.bfloat16)
    log(torch.nn.functional.hardshrink(x, 0.3), torch.nn.functional.threshold(x, 0.3, 9))


# ---------------------------------------------------------------- results overwritten afterwards

LEAVING = {
    "an output": lambda torch, x: torch.vmap(torch.exp)(x),
    "along another dim": lambda torch, x: torch.vmap(torch.exp, 1, 1)(x),
    "of the sigmoid": lambda torch, x: torch.vmap(torch.sigmoid)(x),
    "an input of another": lambda torch, x: torch.vmap(
        lambda a: ((b := a * 2), b * a))(x),
    "in a nest": lambda torch, x: torch.vmap(torch.vmap(torch.tanh))(x),
    "of an inner function": lambda torch, x: torch.vmap(
        lambda a: torch.func.vjp(torch.exp, a)[0])(x),
    "written inside": lambda torch, x: torch.vmap(lambda a: (a * 1).exp_())(x),
    "not saved": lambda torch, x: torch.vmap(lambda a: a * 2)(x),
}


@behaviour_of_each(LEAVING.items())
def what_left_a_vmap_is_overwritten(torch, log, name, make):
    x = leaf(torch, [1.0, 2.0], [4.0, 3.0])
    results = make(torch, x)
    first, last = (results, results) if isinstance(results, torch.Tensor) else results
    log.values(first, last)
    first.add_(1)
    log.refuses(lambda: last.sum().backward())
    log(x.grad)


PUSHED = {
    "the value": lambda torch, x, v: (torch.func.jvp(torch.exp, (x,), (v,))[0],) * 2,
    "the value of a tangent": lambda torch, x, v: torch.func.jvp(torch.exp, (x,), (v,)),
    "the tangent": lambda torch, x, v: (torch.func.jvp(torch.exp, (x,), (v,))[1],) * 2,
    "the tangent of a value": lambda torch, x, v: torch.func.jvp(torch.exp, (x,), (v,))[::-1],
    "the value in a batch": lambda torch, x, v: torch.vmap(
        lambda a, b: torch.func.jvp(torch.exp, (a,), (b,)))(x, v),
    "the value of a batch": lambda torch, x, v: torch.func.jvp(torch.vmap(torch.exp), (x,), (v,)),
}


@behaviour_of_each(PUSHED.items())
def what_forward_mode_gave_is_overwritten(torch, log, name, make):
    x = leaf(torch, 1.0, 2.0)
    first, last = make(torch, x, torch.tensor([1.0, 3.0]))
    log.values(first, last)
    first.add_(1)
    log.refuses(lambda: last.sum().backward())
    log(x.grad)


@pytest.mark.parametrize("function", [
    lambda a: a.exp(), lambda a: a.exp().view(2, 1), lambda a: a.exp()[None], rg.vmap(rg.exp)])
def test_what_was_pulled_back_through_is_not_written_to_unnoticed(function):
    # PyTorch's gradient is that of what was written.
    x = rg.tensor([1.0, 2.0])
    out, pull = rg.func.vjp(function, x)
    seed = rg.ones(out.shape)
    assert rg.allclose(pull(seed)[0], x.exp())
    out.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        pull(seed)


# ---------------------------------------------------------------- transforms

NAMED = {
    "sort": lambda torch, x: torch.vmap(torch.sort)(x),
    "max": lambda torch, x: torch.vmap(lambda a: torch.max(a, 0))(x),
    "topk": lambda torch, x: torch.vmap(torch.topk, in_dims=(0, None))(x, 2),
    "slogdet": lambda torch, x: torch.vmap(torch.slogdet)(x @ x.mT + torch.eye(3)),
    "svd": lambda torch, x: torch.vmap(torch.svd)(x).S,
}


@behaviour_of_each(NAMED.items())
def named_results_of_a_vmap(torch, log, name, call):
    torch.manual_seed(0)
    result = call(torch, torch.randn(2, 3, 3))
    log(type(result).__name__)
    log.values(*([result] if name == "svd" else result))


RANKS = {"mm": ((2, 3), (2, 3)), "bmm": ((2, 3, 3), (2, 3, 3)), "mv": ((2, 3), (2, 3)),
         "dot": ((2, 3, 3), (2, 3, 3)), "vdot": ((2, 3, 3), (2, 3, 3)),
         "addmm": ((2, 3), (2, 3), (2, 3)), "addmv": ((2, 3), (2, 3), (2, 3)),
         "baddbmm": ((2, 3, 3),) * 3, "addbmm": ((2, 3, 3),) * 3, "addr": ((2, 3, 3),) * 3}


@behaviour_of_each(RANKS.items())
def products_of_wrong_ranks_in_a_vmap(torch, log, name, shapes):
    log.raises(lambda: torch.vmap(getattr(torch, name))(*[torch.ones(s) for s in shapes]))


# ---------------------------------------------------------------- small things


@behaviour
def unused_inputs_get_zeros_that_can_be_differentiated(torch, log):
    x, y = leaf(torch, 1.0, 2.0), leaf(torch, 3.0)
    for create_graph in (False, True):
        found = torch.autograd.grad((x * x).sum(), (x, y), allow_unused=True,
                                    materialize_grads=True, create_graph=create_graph)
        log(*found)


@behaviour
def a_generator_returns_itself(torch, log):
    generator = torch.Generator()
    log(generator.set_state(generator.get_state()) is generator)


@behaviour
def lists_that_hold_themselves(torch, log):
    one: list = []
    one.append(one)
    two: list = []
    two += [two, two]
    log.raises(lambda: torch.tensor(one))
    log.raises(lambda: torch.tensor(two))


# ---------------------------------------------------------------- operators beside NumPy and others

ARRAYS = {
    "a == t": lambda a, t: a == t,
    "t == a": lambda a, t: t == a,
    "a / t": lambda a, t: a / t,
    "t += a": lambda a, t: operator.iadd(t, a),
    "t *= a": lambda a, t: operator.imul(t, a),
    "t -= a": lambda a, t: operator.isub(t, a),
    "t /= a": lambda a, t: operator.itruediv(t, a),
}


@behaviour_of_each([(f"{key} {dtype}", call, dtype) for key, call in ARRAYS.items()
                    for dtype in ("float64", "int64", "bool")])
def arrays_beside_tensors(torch, log, name, call, dtype):
    array = np.array([1, 0], dtype=dtype)
    log.values(call(array.copy(), torch.tensor([1.0, 3.0])))
    log.values(call(array.copy(), torch.tensor([1, 3])) if "/=" not in name else torch.ones(1))
    # What requires grad PyTorch refuses; here it is recorded: see tests/test_numpy_code.py.


@behaviour
def operators_that_write_leave_the_unknown_to_the_other_side(torch, log):
    class Other:
        def __radd__(self, other):
            return "added"

    a = torch.ones(2)
    log(operator.iadd(a, Other()), a)
    log.raises(lambda: operator.iadd(a, object()))
    log.raises(lambda: operator.imul(a, "x"))


@behaviour_of_each([(name, name) for name in (
    "add", "sub", "mul", "truediv", "pow", "floordiv", "mod", "and", "or", "xor", "lshift",
    "rshift")])
def what_is_on_the_right_of_a_write_may_know_the_tensor(torch, log, name, sign):
    class Other:
        pass

    setattr(Other, f"__r{sign}__", lambda self, other: "reflected")
    write = getattr(operator, f"i{sign}")
    for a in (torch.ones(2), torch.ones(2, dtype=torch.int64)):
        log(write(a, Other()), a)
        log.raises(lambda a=a: write(a, object()))


@behaviour
def backward_inside_backward_hundreds_deep(torch, log):
    class Nested(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            if ctx.depth:
                with torch.enable_grad():
                    t = torch.ones(1, requires_grad=True)
                    Nested.apply(t, ctx.depth - 1).sum().backward()
                g = g + t.grad
            return g, None

    x = leaf(torch, 1.0)
    Nested.apply(x, 400).sum().backward()
    log(x.grad)


# ---------------------------------------------------------------- odd arguments

WRITES_FROM_ITSELF = {
    "index_add_": lambda torch, t, i: t.index_add_(0, i, t),
    "index_copy_": lambda torch, t, i: t.index_copy_(0, i, t),
    "scatter_": lambda torch, t, i: t.scatter_(0, i, t),
    "scatter_add_": lambda torch, t, i: t.scatter_add_(0, i, t),
    "scatter_reduce_": lambda torch, t, i: t.scatter_reduce_(0, i, t, "sum"),
    "index_put_": lambda torch, t, i: t.index_put_((i,), t),
    "index_put_ of a part": lambda torch, t, i: t.index_put_((i[:2],), t[2:]),
    "put_": lambda torch, t, i: t.put_(i, t),
    "copy_": lambda torch, t, i: t.copy_(t),
    "masked_scatter_": lambda torch, t, i: t.masked_scatter_(t > 1, t),
    "fill_": lambda torch, t, i: t.fill_(t[1]),
}


@behaviour_of_each(WRITES_FROM_ITSELF.items())
def a_tensor_is_written_from_itself(torch, log, name, write):
    t = torch.arange(4.0)
    log.raises(lambda: write(torch, t, torch.tensor([1, 0, 3, 2])))
    log(t)


@behaviour_of_each([(name, name) for name in ("hstack", "vstack", "dstack", "column_stack")])
def stacks_want_a_sequence(torch, log, name, function):
    stack, t = getattr(torch, function), torch.ones(2, 3)
    for given in (t, [], [1], (t, "a"), [None], [t, None], np.ones(2), [np.ones(2)], iter([t, t]),
                  (t for _ in range(2)), {"a": t}, "ab", [[t]], None, 3):
        log.raises(lambda given=given: stack(given))
    log(stack((t, t)), stack([t]))


@behaviour_of_each([(name, name) for name in (
    "block_diag", "cartesian_prod", "broadcast_tensors", "atleast_1d", "atleast_2d",
    "atleast_3d")])
def what_takes_tensors_one_by_one_takes_nothing_else(torch, log, name, function):
    call, t = getattr(torch, function), torch.ones(2)
    for given in (([t, 1],), ([np.ones(2)],), (t, np.ones(2)), (t, None), (t, "a"), ([[t]],)):
        log.raises(lambda given=given: call(*given))
    if not function.startswith("atleast"):
        log.raises(lambda: call([t, t]))
    log(call(t, t))


@behaviour
def nothing_is_joined(torch, log):
    e = torch.empty(0)
    for dim in (0, 1, -1, 5):
        log(torch.cat([e, e], dim))
    log(torch.block_diag())


@behaviour
def bools_are_clamped_by_tensors(torch, log):
    b, c = torch.tensor([True, False]), torch.tensor([True, True])
    log(b.clamp(min=c), b.clamp(max=c))


BOUNDED = {
    "clamp": lambda torch, x, low, high: x.clamp(low, high),
    "clamp min": lambda torch, x, low, high: x.clamp(min=low),
    "clamp max": lambda torch, x, low, high: x.clamp(max=high),
    "clamp_": lambda torch, x, low, high: x.clone().clamp_(min=low),
    "clamp_min": lambda torch, x, low, high: torch.clamp_min(x, low),
    "clamp_max": lambda torch, x, low, high: torch.clamp_max(x, high),
    **{name: lambda torch, x, low, high, name=name: getattr(torch, name)(x, low)
       for name in ("maximum", "minimum", "fmax", "fmin")},
}


@behaviour_of_each(BOUNDED.items())
def values_that_lie_on_their_bounds(torch, log, name, call):
    nan = float("nan")
    x, low, high = (torch.tensor(v) for v in (
        [1.0, 2.0, 3.0, 0.0, 7.0, nan, 1.0, 1.0, nan],
        [1.0, 1.0, 1.0, 5.0, 5.0, 1.0, nan, 0.0, nan],
        [3.0, 2.0, 3.0, 4.0, 9.0, 1.0, 2.0, nan, 1.0]))
    one = torch.ones(9)
    found, tangent = torch.func.jvp(lambda *a: call(torch, *a), (x, low, high),
                                    (one, 10 * one, 100 * one))
    log.values(found, tangent)
    leaves = [t.clone().requires_grad_() for t in (x, low, high)]
    log(*torch.autograd.grad(call(torch, *leaves).sum(), leaves, allow_unused=True))


@behaviour
def powers_of_small_integers(torch, log):
    log(torch.vander(torch.tensor([1, 20, 3], dtype=torch.int8)),
        torch.vander(torch.tensor([True, False])))
    for dtype in (torch.float16, torch.bfloat16, torch.bool, torch.uint8):
        log.raises(lambda dtype=dtype: torch.linalg.vander(torch.tensor([1, 2, 3]).to(dtype)))


@behaviour
def the_diagonal_of_a_view_goes_on_below(torch, log):
    x = torch.zeros(7, 3, 3)
    x[:, 1].fill_diagonal_(1, wrap=True)
    y = torch.zeros(9, 4).t().contiguous().t()
    y.fill_diagonal_(2, wrap=True)
    log(x, y)


@behaviour
def small_complex_logarithms(torch, log):
    z = torch.tensor([1e-20 + 1e-20j, 1e-10j, 1e-9 + 1e-9j, -0.4 + 0.2j, 3 - 4j, -1 + 0j])
    for kind in (torch.complex64, torch.complex128):
        found = torch.log1p(z.to(kind))
        log.values(found.real, found.imag)
        # Beside the tolerance of zero; the second is half the square of its imaginary part.
        log.values(found.real[:3].double() * torch.tensor([1e20, 2e20, 1e9], dtype=torch.float64),
                   found.imag[:3].double() * torch.tensor([1e20, 1e10, 1e9], dtype=torch.float64))


@behaviour
def tolerances_as_tensors(torch, log):
    log(torch.isclose(torch.ones(2), torch.tensor([1.05, 1.5]), rtol=torch.tensor(0.1),
                      atol=torch.tensor(0.0)))


@behaviour
def unsigned_integers_are_subtracted(torch, log):
    ones = torch.ones(3, dtype=torch.uint8)
    log(ones.index_add(0, torch.tensor([0, 2]), ones[:2], alpha=-1))


@behaviour
def eigenvalues_of_nan(torch, log):
    log.raises(lambda: torch.linalg.eig(torch.full((2, 2), float("nan"))))


@behaviour
def a_tensor_is_set_to_its_storage(torch, log):
    x = torch.arange(6.0)
    x.set_(x.untyped_storage(), 2, (2,), (1,))
    log(x)
    log.refuses(lambda: x.set_(x.untyped_storage(), 1))
    log.refuses(lambda: x.set_(x, 1))
    log(x)


@behaviour
def recording_is_switched_by_truth_values(torch, log):
    x = torch.ones(2)
    for value in (1, 0, "a", None, 1.0, torch.tensor(True), False, True):
        log.raises(lambda value=value: x.requires_grad_(value))
    log(x)
    with torch.inference_mode():
        made = torch.ones(2).requires_grad_()
    log.raises(lambda: made.requires_grad_())
    log.raises(lambda: setattr(made, "requires_grad", True))
    log(made.requires_grad)


@behaviour
def ranges_reach_beyond_their_dtype_in_silence(torch, log):
    with np.errstate(all="raise"):
        log(torch.arange(0.0, 1e39, 1e38), torch.linspace(-3e38, 3e38, 5))
        log(torch.arange(0, 1e5, 3e4, dtype=torch.float16), torch.arange(0, 1e39, 2e38).half())
        log(torch.logspace(0, 50, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is deprecated
        with np.errstate(all="raise"):
            log(torch.range(0.0, 1e39, 1e38))


@behaviour
def ranges_fill_a_tensor_of_any_shape(torch, log):
    calls = {"arange": (0, 9), "linspace": (0, 8, 9), "logspace": (0, 8, 9), "range": (0, 8)}
    for name, args in calls.items():
        x = torch.zeros(3, 4)
        getattr(torch, name)(*args, out=x[:, 1:])
        log.values(x)


MATRIX_RESULTS = {
    "cond": 1, "slogdet": 2, "eigh": 2, "inv_ex": 2, "matrix_rank": 1, "qr": 2, "svd": 3,
    "cholesky_ex": 2,
}


@behaviour_of_each(MATRIX_RESULTS.items())
def matrix_functions_write_to_out(torch, log, name, count):
    function = getattr(torch.linalg, name)
    a = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
    found = function(a)
    found = list(found) if count > 1 else [found]
    out = [torch.empty(0, dtype=t.dtype) for t in found]
    function(a, out=tuple(out) if count > 1 else out[0])
    log.values(*[t.abs() for t in out])
    log([bool((x == y).all()) for x, y in zip(found, out, strict=True)])


# ---------------------------------------------------------------- views in odd places


@behaviour_of_each([("written base", "base"), ("written view", "view"), ("offset", "offset")])
def a_view_is_given_other_data(torch, log, name, way):
    g = leaf(torch, 1.0, 2.0)
    x = torch.zeros(4)
    v = x[1:3] if way == "offset" else x[:2]
    v.data = torch.full((2,), 5.0)
    (v if way == "view" else x[:2]).add_(g)
    log(x, v, v.requires_grad, v._base is x)
    torch.autograd.backward((v * 2).sum(), retain_graph=True)
    log(g.grad)


@behaviour
def a_view_taken_of_a_leaf_without_recording(torch, log):
    x = leaf(torch, 1.0, 2.0, 3.0, 4.0)
    with torch.no_grad():
        v = x.view(2, 2)
        w = v[0]
    log(v.requires_grad, v.is_leaf, v.grad_fn, w.requires_grad)
    y = v * x.view(2, 2)
    log([edge and edge.name() for edge, _ in (v * 2).grad_fn.next_functions])
    v.register_hook(lambda g: log("a hook"))
    (y.sum() + (w * 3).sum()).backward()
    log(v.grad, x.grad)
    log.raises(lambda: torch.autograd.grad((v * 2).sum(), v))
    log(torch.autograd.grad((v * 2).sum(), v, allow_unused=True))
    v.requires_grad_()
    (v * 2).sum().backward()
    log(v.grad, x.grad)


@behaviour_of_each([
    ("transposed", lambda torch: torch.arange(6.0).reshape(2, 3).t()),
    ("every other", lambda torch: torch.arange(10.0)[::2]),
    ("expanded", lambda torch: torch.ones(2, 1).expand(2, 3)),
    ("a part", lambda torch: torch.arange(12.0).reshape(3, 4)[1:, 1:3]),
    ("the end", lambda torch: torch.arange(10.0)[3:7].requires_grad_()),
    ("another dtype", lambda torch: torch.arange(4.0).view(torch.int32)[1:]),
    ("channels last", lambda torch: torch.ones(1, 2, 3, 4).to(memory_format=torch.channels_last)),
    ("nothing", lambda torch: torch.ones(3, 4)[:0]),
])
def layouts_are_kept_by_pickle_and_copy(torch, log, name, make):
    import copy
    import pickle

    x = make(torch)
    for kept in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
        log.values(kept.detach())
        log(kept.stride(), kept.requires_grad)
        if name not in ("another dtype", "nothing"):
            log(kept.storage_offset(), kept.untyped_storage().nbytes())


# ---------------------------------------------------------------- numbers


@behaviour_of_each([("L", "L"), ("U", "U")])
def gradients_of_eigenvectors_are_symmetric(torch, log, name, side):
    a = torch.arange(9.0, dtype=torch.float64).reshape(3, 3).sin().requires_grad_()
    values, vectors = torch.linalg.eigh(a, side)
    ((vectors ** 4) * torch.arange(9.0).reshape(3, 3) + values.sum()).sum().backward()
    log.values(a.grad)


@behaviour
def powers_in_integers_lie_between_integers(torch, log):
    for dtype in (torch.int64, torch.int32, torch.int8):
        log(torch.logspace(0.5, 2.7, 6, base=3, dtype=dtype),
            torch.logspace(-1.5, 2.7, 4, dtype=dtype), torch.logspace(0, 2, 5, dtype=dtype),
            torch.logspace(1.9, 3, 1, dtype=dtype))


@behaviour
def the_median_of_nothing(torch, log):
    for dtype in (torch.float32, torch.float16, torch.int64, torch.int32, torch.int8, torch.uint8):
        log(torch.empty(0, dtype=dtype).median(), torch.empty(0, dtype=dtype).nanmedian())
    log.raises(lambda: torch.empty(0, 3).median(0))
    log(torch.empty(0, 3).median(1))


@behaviour
def averages_whose_rates_are_tensors(torch, log):
    def moved(*rates, **options):
        p = leaf(torch, 1.0, 2.0)
        q = p.clone()
        optimizer = torch.optim.Adam([q], 0.1, rates, **options)
        for step in (1.0, 2.0):
            q.grad = torch.arange(2.0) + step
            optimizer.step()
        return torch.autograd.grad(q.sum(), [t for t in (p, *rates) if isinstance(t, torch.Tensor)])

    rates = [torch.tensor(0.9, requires_grad=True), torch.tensor(0.99, requires_grad=True)]
    log.values(*moved(*rates, differentiable=True))
    log.raises(lambda: moved(rates[0], 0.99))
    log.raises(lambda: moved(*rates, foreach=True))


# ---------------------------------------------------------------- numbers without an order or end

ODD_MATRICES = {
    "an infinity": [[float("inf"), 0.0], [0.0, 1.0]],
    "infinities beside": [[1.0, float("inf")], [float("inf"), 1.0]],
    "a NaN": [[float("nan"), 0.0], [0.0, 1.0]],
    "one of two": [[[1.0, 0.0], [0.0, -1.0]], [[float("inf"), 0.0], [0.0, 1.0]]],
}


@behaviour_of_each(ODD_MATRICES.items())
def decompositions_of_odd_matrices(torch, log, name, rows):
    A = torch.tensor(rows)
    log(torch.linalg.cholesky_ex(A).info)
    log.raises(lambda: torch.linalg.cholesky(A))
    if name == "an infinity":  # PyTorch's process ends with some of the others
        log(torch.linalg.eigvals(A).isnan())
    log.raises(lambda: torch.linalg.eig(A).eigenvalues.abs().isfinite().all(-1))


@behaviour
def singular_values_of_nan(torch, log):
    nan = torch.tensor([[float("nan"), 0.0], [0.0, 1.0]])
    log.raises(lambda: torch.linalg.svdvals(nan))
    log.raises(lambda: torch.linalg.svdvals(torch.stack([torch.eye(2), nan])))


@behaviour
def unique_rows_with_nan(torch, log):
    nan = float("nan")
    x = torch.tensor([[nan, 1.0], [nan, 1.0], [2.0, nan], [2.0, nan], [1.0, 1.0], [0.0, 3.0]])
    log(torch.unique(x, dim=0, return_inverse=True, return_counts=True))
    log(torch.unique(x, dim=1))


# ---------------------------------------------------------------- memory


@behaviour
def tensors_with_their_channels_last_are_joined(torch, log):
    x = torch.arange(120.0).reshape(2, 3, 4, 5).to(memory_format=torch.channels_last)
    y = torch.zeros(2, 3, 4, 5)
    z = torch.zeros(2, 3, 2, 4, 5).to(memory_format=torch.channels_last_3d)
    for parts, dim in (([x, x], 0), ([x, x], 1), ([x, x], 2), ([x, x], -1), ([x, y], 1),
                       ([y, x], 1), ([x[:0], x], 0), ([z, z], 1), ([z, z], 2)):
        found = torch.cat(parts, dim)
        log.layout(found)
        log.values(found)


@behaviour
def storages_are_constructor_arguments(torch, log):
    x = torch.tensor([1.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # typed storages are deprecated, which is said once
        typed = x.storage()
    for make in (torch.Tensor, torch.FloatTensor, x.new):
        for storage in (typed, x.untyped_storage()):
            made = make(storage)
            log(made, shares=made.data_ptr() == x.data_ptr())
    log.raises(lambda: torch.DoubleTensor(typed))
    log.raises(lambda: torch.LongTensor(typed))


@behaviour
def determinism_is_asked_for(torch, log):
    def settings():
        return (torch.are_deterministic_algorithms_enabled(), torch.get_deterministic_debug_mode(),
                torch.is_deterministic_algorithms_warn_only_enabled())

    try:
        for mode in ("default", "warn", "error", 1, 2, 0):
            torch.set_deterministic_debug_mode(mode)
            log(settings())
        torch.use_deterministic_algorithms(True, warn_only=True)
        log(settings())
        log.raises(lambda: torch.use_deterministic_algorithms(1))
        log(settings())
    finally:
        torch.use_deterministic_algorithms(False)


# ---------------------------------------------------------------- memory that overlaps itself

OVERLAPPING = {
    "a window": lambda torch: torch.arange(6.0).unfold(0, 3, 1),
    "expanded": lambda torch: torch.ones(2, 1).expand(2, 3),
    "strided": lambda torch: torch.arange(5.0).as_strided((3, 3), (1, 1)),
    "a vector": lambda torch: torch.ones(1).expand(4),
}
OVERLAPPED = {
    "add_": lambda torch, v: v.add_(1), "mul_": lambda torch, v: v.mul_(torch.ones(v.shape)),
    "copy_": lambda torch, v: v.copy_(torch.ones(v.shape)), "zero_": lambda torch, v: v.zero_(),
    "fill_": lambda torch, v: v.fill_(2), "an item": lambda torch, v: v.__setitem__(0, 5),
    "all": lambda torch, v: v.__setitem__(slice(None), 5.0), "sin_": lambda torch, v: v.sin_(),
    "clamp_": lambda torch, v: v.clamp_(0, 1), "relu_": lambda torch, v: v.relu_(),
    "masked_fill_": lambda torch, v: v.masked_fill_(v > 0, 1),
    "masked_scatter_": lambda torch, v: v.masked_scatter_(v > 0, torch.ones(v.shape)),
    "index_fill_": lambda torch, v: v.index_fill_(0, torch.tensor([0]), 3),
    "index_copy_": lambda torch, v: v.index_copy_(0, torch.tensor([0]), v[:1].clone()),
    "index_add_": lambda torch, v: v.index_add_(0, torch.tensor([0]), v[:1].clone()),
    "scatter_": lambda torch, v: v.scatter_(0, torch.zeros(v.shape, dtype=torch.int64), 1.0),
    "put_": lambda torch, v: v.put_(torch.tensor([0]), torch.ones(1)),
    "normal_": lambda torch, v: v.normal_(), "uniform_": lambda torch, v: v.uniform_(),
    "bernoulli_": lambda torch, v: v.bernoulli_(1.0), "cumsum_": lambda torch, v: v.cumsum_(0),
    "lerp_": lambda torch, v: v.lerp_(torch.ones(v.shape), 0.5), "pow_": lambda torch, v: v.pow_(2),
    "addcmul_": lambda torch, v: v.addcmul_(torch.ones(v.shape), torch.ones(v.shape)),
    "out": lambda torch, v: torch.sin(torch.ones(v.shape), out=v),
}


@behaviour_of_each(OVERLAPPED.items())
def what_overlaps_itself_is_written_to(torch, log, name, write):
    for make in OVERLAPPING.values():
        log.raises(lambda make=make: write(torch, make(torch)) is None)


# ---------------------------------------------------------------- arguments of other types

LOOSE = {
    "tril": lambda torch, t: t.tril(1.5), "triu": lambda torch, t: t.triu(1.0),
    "diagonal": lambda torch, t: t.diagonal(1.5), "sum": lambda torch, t: t.sum(1.0),
    "unsqueeze": lambda torch, t: t.unsqueeze(0.0), "roll": lambda torch, t: t.roll(1.5),
    "flip": lambda torch, t: t.flip(0.0), "rot90": lambda torch, t: t.rot90(1.5),
    "chunk": lambda torch, t: t.chunk(2.0), "split": lambda torch, t: t.split(1.5),
    "narrow": lambda torch, t: t.narrow(0, 0.0, 1), "select": lambda torch, t: t.select(0, 1.0),
    "view": lambda torch, t: t.view(3.0, 3), "reshape": lambda torch, t: t.reshape(9.0),
    "repeat": lambda torch, t: t.repeat(2.0, 1), "expand": lambda torch, t: t.expand(3.0, 3),
    "permute": lambda torch, t: t.permute(1.0, 0), "topk": lambda torch, t: t.topk(2.0),
    "sort": lambda torch, t: t.sort(descending=1), "softmax": lambda torch, t: t.softmax(1.0),
    "eye": lambda torch, t: torch.eye(3.0), "zeros": lambda torch, t: torch.zeros(2.0),
    "randperm": lambda torch, t: torch.randperm(3.0),
    "unfold": lambda torch, t: t.unfold(0, 2.0, 1),
    "argmax": lambda torch, t: t.argmax(keepdim=1), "movedim": lambda torch, t: t.movedim(0.0, 1),
    "indices": lambda torch, t: t.index_fill(0, torch.tensor([0.0]), 1),
    "repetitions": lambda torch, t: t.repeat_interleave(1.5),
    "a requirement": lambda torch, t: torch.ones(2, requires_grad="yes"),
    "a number of threads": lambda torch, t: torch.set_num_threads(1.5),
}


@behaviour_of_each(LOOSE.items())
def numbers_of_another_kind_are_refused(torch, log, name, call):
    log.refuses(lambda: call(torch, torch.ones(3, 3)))


@behaviour_of_each([(name, name) for name in (
    "silu", "gelu", "elu", "selu", "celu", "mish", "softplus", "hardswish", "hardsigmoid",
    "hardshrink", "softshrink", "leaky_relu", "logsigmoid", "relu", "relu6", "hardtanh",
    "sigmoid", "tanh", "tanhshrink", "softsign")])
def activations_of_other_dtypes(torch, log, name, function):
    for x in (torch.tensor([1 + 1j]), torch.tensor([1, 2]), torch.tensor([True, False])):
        log.raises(lambda x=x: getattr(torch.nn.functional, function)(x))


# ---------------------------------------------------------------- more than there is

HUGE = {
    "zeros": lambda torch: torch.zeros(10 ** 15), "empty": lambda torch: torch.empty(10 ** 15),
    "sides": lambda torch: torch.ones(10 ** 8, 10 ** 7), "eye": lambda torch: torch.eye(10 ** 8),
    "full": lambda torch: torch.full((10 ** 15,), 1.0),
    "doubles": lambda torch: torch.zeros(10 ** 15, dtype=torch.float64),
    "randn": lambda torch: torch.randn(10 ** 15), "arange": lambda torch: torch.arange(10 ** 15),
    "repeat": lambda torch: torch.ones(1).repeat(10 ** 15),
    "clone": lambda torch: torch.ones(1).expand(10 ** 15).clone(),
    "add": lambda torch: torch.ones(1).expand(10 ** 15) + 1,
    "linspace": lambda torch: torch.linspace(0, 1, 10 ** 15),
    "rand": lambda torch: torch.rand(10 ** 15),
}


@behaviour_of_each(HUGE.items())
def more_memory_than_there_is_is_named_in_bytes(torch, log, name, make):
    try:
        make(torch)
    except RuntimeError as error:
        log(re.search(r"you tried to allocate \d+ bytes", str(error)).group())


@behaviour
def a_handler_of_numpys_errors_hears_of_no_division(torch, log):
    heard = []
    handler = np.seterrcall(lambda *told: heard.append(told))
    try:
        with np.errstate(all="call"):
            x = torch.tensor([0.0, 1.0, -1.0], requires_grad=True)
            (1 / x).sum().backward()
            for y in (x / 0, x.log(), x.sqrt(), x.rsqrt(), x ** -1, x.reciprocal(), x // 0, x % 0,
                      x.sum() / 0, torch.tensor(0.0) / 0, x.half() / 0, x.std(), x.norm() / 0):
                log.raises(lambda y=y: torch.autograd.grad(y.sum(), x))
            torch.func.grad(lambda a: (1 / a).sum())(x.detach())
            torch.func.jvp(lambda a: 1 / a, (x.detach(),), (x.detach(),))
            torch.vmap(lambda a: 1 / a)(x)
            x.detach().div_(0)
            torch.linspace(-3e38, 3e38, 5)
    finally:
        np.seterrcall(handler)
    log(heard)


@behaviour_of_each([(f"{mode} {dtype}", mode, dtype) for mode in ("trunc", "floor", None)
                    for dtype in ("float16", "bfloat16")])
def quotients_of_half_precision_are_rounded_once(torch, log, name, mode, dtype):
    x = torch.tensor([1e-3, 100.0, 7.3, -7.3], dtype=getattr(torch, dtype))
    for number in (1e5, 0.3, 3, 1e-8, -1e5):
        log(x.div(number, rounding_mode=mode), x[2].div(number, rounding_mode=mode))


@behaviour
def a_typed_storage_is_set(torch, log):
    x = torch.arange(6.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # typed storages are deprecated, which is said once
        x.set_(x.storage(), 2, (2, 2), (2, 1))
        log(x, x.storage_offset())
        x.set_(x.storage())
    log(x)


@behaviour_of_each([("inner", (True, False)), ("outer", (False, True)), ("both", (False, False))])
def checkpoints_in_checkpoints_run_to_their_ends(torch, log, name, stops):
    runs = []

    def inner(a):
        runs.append("inner")
        b = a.sin().cos()
        runs.append("inner end")
        return b

    def outer(a):
        runs.append("outer")
        b = checkpoint(inner, a.exp(), use_reentrant=False, early_stop=stops[0]) * a
        runs.append("outer end")
        return b

    checkpoint = _checkpoint(torch).checkpoint
    x = leaf(torch, 0.5, 0.7)
    y = checkpoint(outer, x, use_reentrant=False, early_stop=stops[1])
    y.sum().backward()
    log(y, x.grad, runs)
