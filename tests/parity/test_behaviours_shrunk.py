"""Short programs that random ones were shrunk to: each differed once."""

from __future__ import annotations

import importlib

from parity.harness import behaviour, behaviour_of_each
from shared import custom, leaf

HALVES = ["float16", "bfloat16"]


def _checkpoint(torch):
    return importlib.import_module(torch.__name__ + ".utils.checkpoint").checkpoint


def _doubled(torch):
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    return custom(torch, lambda ctx, g: g * 2, forward, name="Doubled")


# ---------------------------------------------------------------- zero-dim values in transforms


def _through_a_view(x):
    y = x * 1
    y.view(1).mul_(3)
    return y


def _under_a_view(x):
    y = x * 1
    view = y.view(1)
    y.mul_(3)
    return view.sum()


def _through_a_window(x):
    y = x * x
    y.unfold(-1, 1, 1).mul_(2)
    return y * x


def _zeroed(x):
    y = x * 1
    y.zero_()
    return y + x


WRITES = {f.__name__: f for f in (_through_a_view, _under_a_view, _through_a_window, _zeroed)}
TRANSFORMS = {
    "jvp": lambda torch, f, x: torch.func.jvp(f, (x,), (torch.tensor(1.0),)),
    "hessian": lambda torch, f, x: torch.func.hessian(lambda a: f(a) ** 2)(x),
    "vmap": lambda torch, f, x: torch.vmap(f)(torch.stack([x, x + 1])),
    "vmap of jacfwd": lambda torch, f, x: torch.vmap(torch.func.jacfwd(f))(torch.stack([x, x])),
    "jvp of grad": lambda torch, f, x: torch.func.jvp(torch.func.grad(f), (x,), (x,)),
}


@behaviour_of_each((f"{write} {transform}", WRITES[write], TRANSFORMS[transform])
                   for write in WRITES for transform in TRANSFORMS)
def zero_dim_values_are_written_inside_transforms(torch, log, name, write, transform):
    found = transform(torch, write, torch.tensor(2.0))
    log.values(*(found if isinstance(found, tuple) else (found,)))


# ---------------------------------------------------------------- half precision


@behaviour_of_each(HALVES)
def tangents_by_transposed_rules(torch, log, dtype):
    x = torch.arange(1.0, 4.0, dtype=getattr(torch, dtype))
    log.values(*torch.func.jvp(lambda a: a.prod(), (x,), (x,)))
    log.values(torch.func.jacrev(torch.func.jacfwd(lambda a: a.logsumexp(-1)))(x))


@behaviour_of_each(HALVES)
def numbers_beside_a_zero_dim_tensor(torch, log, dtype):
    x = torch.tensor(3.0, dtype=getattr(torch, dtype), requires_grad=True)
    for f in (lambda a: a * 3.0, lambda a: a / 3.0, lambda a: a ** 3, lambda a: 2.0 - a):
        (slope,) = torch.autograd.grad(f(x), x, create_graph=True)
        log(slope.dtype)
        if slope.requires_grad:
            log(torch.autograd.grad(slope, x)[0].dtype)


# ---------------------------------------------------------------- what was saved is overwritten

SEVERAL = {
    "aminmax": lambda torch, x: torch.aminmax(x, dim=0),
    "max": lambda torch, x: x.max(0),
    "sort": lambda torch, x: x.sort(0),
    "svd": lambda torch, x: torch.linalg.svd(x)[:2],
    "qr": lambda torch, x: torch.linalg.qr(x),
    "cummax": lambda torch, x: x.cummax(0),
}


@behaviour_of_each((f"{name} {written}", SEVERAL[name], written)
                   for name in SEVERAL for written in (0, 1))
def one_of_several_outputs_is_overwritten(torch, log, name, call, written):
    x = leaf(torch, [1.0, 2.0], [4.0, 3.0]).clone()
    outputs = call(torch, x)
    with torch.no_grad():
        outputs[written].add_(1)
    log.refuses(lambda: outputs[0].sum().backward())


@behaviour
def what_was_saved_inside_a_vmap_is_overwritten(torch, log):
    x = leaf(torch, [1.0, 2.0], [4.0, 3.0]).clone()
    y = torch.vmap(lambda a: a ** 3)(x)
    x.add_(1)
    log.refuses(lambda: y.sum().backward())


# ---------------------------------------------------------------- gradients


@behaviour
def a_gradient_passes_through(torch, log):
    g = leaf(torch, 1.0, 2.0)
    y = g.sin()
    for output, target in ((y, y), (y, g), (g.view(2), g)):
        log(torch.autograd.grad(output, target, g, retain_graph=True)[0].requires_grad)
    for output, target in ((y, y), (y, g)):
        log(torch.autograd.grad(output, target, torch.stack([g, g]), is_grads_batched=True,
                                retain_graph=True)[0].requires_grad)


ROUNDED = {"floor": lambda torch, x: x.floor(), "sign": lambda torch, x: x.sign(),
           "round": lambda torch, x: x.round(),
           "div": lambda torch, x: torch.div(x, 2, rounding_mode="floor")}


@behaviour_of_each(ROUNDED.items())
def zero_gradients_have_no_history(torch, log, name, f):
    x = leaf(torch, 1.5, -2.5)
    (f(torch, x) ** 2).sum().backward(create_graph=True)
    log(x.grad.requires_grad, x.grad)


@behaviour_of_each([("sum", lambda x, dtype: x.sum(dtype=dtype)),
                    ("sum over", lambda x, dtype: x.sum(0, dtype=dtype)),
                    ("prod", lambda x, dtype: x.prod(0, dtype=dtype)),
                    ("cumsum", lambda x, dtype: x.cumsum(0, dtype=dtype))])
def integers_have_no_gradients(torch, log, name, f):
    x = leaf(torch, 1.5, -2.5)
    log.raises(lambda: f(x, torch.int8))
    log.raises(lambda: f(x, torch.int64))
    log(f(x, torch.float64), f(x.detach(), torch.int8))


@behaviour
def rows_of_complex_outputs(torch, log):
    log.raises(lambda: torch.func.jacrev(lambda a: a * 1j)(torch.ones(2)))


# ---------------------------------------------------------------- memory


@behaviour
def a_number_is_selected_by_index(torch, log):
    x = torch.tensor(2.0)
    y = x.index_select(0, torch.tensor([0]))
    y.neg_()
    log(x, y)


@behaviour
def views_cannot_leave_the_graph(torch, log):
    log.raises(lambda: torch.ones(2, 2).diagonal().detach_())
    log.raises(lambda: torch.ones(2, 2).detach().detach_())


IN_PLACE_SHAPES = [("t_", lambda x: x.t_()), ("transpose_", lambda x: x.transpose_(0, 1)),
                   ("unsqueeze_", lambda x: x.unsqueeze_(0)), ("squeeze_", lambda x: x.squeeze_())]


@behaviour_of_each(IN_PLACE_SHAPES)
def inference_tensors_keep_their_shape(torch, log, name, change):
    with torch.inference_mode():
        x = torch.ones(1, 3)
        change(torch.ones(1, 3))
    log.raises(change, x)


@behaviour_of_each(IN_PLACE_SHAPES)
def expanded_tensors_change_their_shape(torch, log, name, change):
    x = leaf(torch, [1.0], [2.0]).clone().expand(2, 3)
    change(x)
    log(x.shape, x)


VIEWS_OF_A_LEAF = [("part", lambda base: base.view(2, 1), lambda v: v[:1]),
                   ("alias", lambda base: base.view(2), lambda v: v[:]),
                   ("zero-dim", lambda base: base.sum().view(()), lambda v: v.view(()))]


@behaviour_of_each(VIEWS_OF_A_LEAF)
def a_function_writes_to_a_view_of_a_leaf(torch, log, name, view, part):
    x = view(torch.ones(2)).requires_grad_()
    log.raises(lambda: _doubled(torch).apply(part(x)))


@behaviour_of_each([True, False])
def checkpoints_where_hooks_are_disabled(torch, log, in_backward):
    x = leaf(torch, 1.0, 2.0)
    if in_backward:
        y = _checkpoint(torch)(torch.sin, x, use_reentrant=False)
    with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
        log.raises(lambda: y.sum().backward() if in_backward else
                   _checkpoint(torch)(torch.sin, x, use_reentrant=False))


# ---------------------------------------------------------------- numbers into memory


def _assigned(torch, value, dtype):
    x = torch.zeros(2, dtype=dtype)
    x[0] = value
    return x


STORED = {
    "tensor": lambda torch, n, dtype: torch.tensor([n], dtype=dtype),
    "full": lambda torch, n, dtype: torch.full((2,), n, dtype=dtype),
    "scalar_tensor": lambda torch, n, dtype: torch.scalar_tensor(n, dtype=dtype),
    "fill_": lambda torch, n, dtype: torch.zeros(2, dtype=dtype).fill_(n),
    "setitem": _assigned,
    "new_tensor": lambda torch, n, dtype: torch.zeros(1, dtype=dtype).new_tensor([n]),
}


@behaviour_of_each(STORED.items())
def negative_floats_are_not_unsigned(torch, log, name, store):
    for number in (-0.5, -1.5, 2.5, 0.0):
        log.refuses(store, torch, number, torch.uint8)
    log.refuses(store, torch, -0.5, torch.int8)


@behaviour
def complex_numbers_are_not_real(torch, log):
    log.refuses(torch.scalar_tensor, 1j, dtype=torch.float16)


@behaviour
def membership_of_unordered_values(torch, log):
    x = torch.ones(2)
    log.raises(torch.isin, x, True)
    log.raises(torch.isin, x * 1j, x)
    log(torch.isin(x, 1))


# ---------------------------------------------------------------- checkpoints around transforms

CHECKPOINTED = {
    "vmap": lambda torch, a: torch.vmap(lambda c: (c.sin() * c.sum()).exp())(a),
    "jvp": lambda torch, a: torch.func.jvp(torch.sin, (a,), (torch.ones_like(a),))[1],
    "jacfwd": lambda torch, a: torch.func.jacfwd(torch.sin)(a),
    "vmap of jvp": lambda torch, a: torch.vmap(
        lambda c: torch.func.jvp(lambda d: d * d.sum(), (c,), (c,))[1])(a),
}


@behaviour_of_each((f"{name} {'nested' if nested else ''}", CHECKPOINTED[name], nested)
                   for name in CHECKPOINTED for nested in (False, True))
def a_transform_is_run_again_by_its_checkpoint(torch, log, name, f, nested):
    x = leaf(torch, [0.1, 0.2], [0.3, 0.4])
    checkpoint = _checkpoint(torch)

    def inner(a):
        return checkpoint(lambda b: f(torch, b), a, use_reentrant=False)

    y = checkpoint(inner, x, use_reentrant=False) if nested else inner(x)
    (first,) = torch.autograd.grad(y.tanh().sum(), x, create_graph=not nested)
    log.values(first.detach())
    if not nested:
        log.values(torch.autograd.grad((first * first).sum(), x)[0])


PARTS_WRITTEN = [("number", lambda a: a.__setitem__(0, 3.0)), ("view", lambda a: a[:1].add_(3)),
                 ("whole", lambda a: a.__setitem__(None, a.sum()))]


@behaviour_of_each(PARTS_WRITTEN)
def backward_twice_through_a_written_part(torch, log, name, write):
    a = leaf(torch, 1.0, 2.0) + 1
    write(a)
    a.sum().backward(retain_graph=True)
    a.sum().backward()
    log.raises(lambda: a.sum().backward())


# ---------------------------------------------------------------- what the results require


@behaviour
def gradients_that_depend_on_one_argument_alone(torch, log):
    x, ones = leaf(torch, 1.0, 2.0), torch.ones(2)

    def f(a, b):
        return (b * b.sum()) * (a + b)

    for found in (torch.func.grad(lambda a, b: f(a, b).sum(), (0, 1))(x, ones),
                  torch.func.jacrev(f, (0, 1))(x, ones)):
        log([part.requires_grad for part in found])
    second = torch.func.grad(lambda a: torch.func.grad(lambda b: (b ** 3).sum())(a).sum())
    log(second(ones), second(x).requires_grad)


@behaviour
def a_gradient_passes_through_hooks_and_several_outputs(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x.sin()
    y.grad_fn.register_hook(lambda inputs, outputs: None)
    part = x.chunk(2)[1]
    for output, given in ((y, torch.stack([y, x])), (part, torch.stack([part, torch.ones(1)]))):
        log(torch.autograd.grad(output, output, given, is_grads_batched=True,
                                retain_graph=True)[0].requires_grad)


@behaviour
def the_mantissa_is_overwritten(torch, log):
    x = leaf(torch, 0.0, 3.0, -5.0)
    mantissa = torch.frexp(x)[0]
    mantissa.mul_(2)
    mantissa.sum().backward()
    log(x.grad)


@behaviour
def complex_numbers_as_real_ones(torch, log):
    log(float(torch.tensor(2 + 0j)), int(torch.tensor(-3 + 0j)))
    log.raises(float, torch.tensor(2 + 1j))
    log.raises(int, torch.tensor(2 + 1j))


@behaviour_of_each(HALVES)
def a_zero_dim_factor(torch, log, dtype):
    x = torch.tensor(3.0, dtype=getattr(torch, dtype))
    log(torch.func.grad(lambda a: a * x)(x))
    y = torch.tensor(3.0, dtype=getattr(torch, dtype), requires_grad=True)
    log(torch.autograd.grad(y * x, y, create_graph=True)[0].dtype)


@behaviour
def values_of_transforms_are_saved_where_writes_are_allowed(torch, log):
    x = leaf(torch, 1.0, 2.0)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        tangent = torch.func.jvp(lambda a: a ** 3, (x,), (x.detach(),))[1]
        log.values(torch.autograd.grad(tangent.sum(), x)[0])


@behaviour
def distances_in_half_precision(torch, log):
    for dtype in (torch.float16, torch.bfloat16):
        x = torch.ones(2, 2, dtype=dtype)
        log.raises(torch.cdist, x, x)
