"""Short programs that random ones were shrunk to: each differed once."""

from __future__ import annotations

import importlib
import itertools
import warnings

import pytest

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
        log.raises(torch.cdist, x.float(), x)
    x = torch.ones(2, 2)
    log.raises(torch.cdist, x, x.double())
    log.raises(torch.cdist, x.double(), x)
    log(torch.cdist(torch.ones(0, 2), x.double()).shape)


# ---------------------------------------------------------------- hooks and what they are given


def _sparing(torch):
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return x * 2, y * 3

    return custom(torch, lambda ctx, g, h: (None if g is None else g * 2,
                                            None if h is None else h * 3), forward,
                  name="Sparing").apply


@behaviour_of_each(["backward", "inputs", "grad", "create_graph"])
def hooks_of_a_leaf_that_gets_no_gradient(torch, log, how):
    x, w = leaf(torch, 1.0, 2.0), leaf(torch, 1.0, 2.0)
    heard = []
    x.register_hook(lambda g: heard.append(("tensor", g)))
    x.register_post_accumulate_grad_hook(lambda p: heard.append("accumulated"))
    node = (x * 1).grad_fn.next_functions[0][0]
    node.register_prehook(lambda given: heard.append(("before", given)))
    node.register_hook(lambda made, given: heard.append(("after", made, given)))
    z = _sparing(torch)(x, w)[1].sum()
    if how == "grad":
        log(torch.autograd.grad(z, [x, w], allow_unused=True))
    else:
        options = {"inputs": {"inputs": [x]}, "create_graph": {"create_graph": True}}
        z.backward(**options.get(how, {}))
    log(heard, x.grad)
    x.register_hook(lambda g: torch.ones(2))
    log.raises(lambda: _sparing(torch)(x, w)[1].sum().backward())


@behaviour_of_each(["both", "alone", "unbound", "accumulated"])
def what_grad_gives_of_a_tensor_with_a_hook(torch, log, how):
    x = leaf(torch, 1.0, 2.0)
    y = x * 2
    a, b = y.unbind(0)
    (b if how == "unbound" else y).register_hook(lambda g: g * 0)
    if how == "accumulated":
        y.retain_grad()
        (y ** 2).sum().backward(inputs=[x, y])
        log(x.grad, y.grad)
    elif how == "unbound":
        log(torch.autograd.grad(a * b, [x, a, b], retain_graph=True),
            torch.autograd.grad(a * b, [a, b]))
    else:
        log(torch.autograd.grad((y ** 2).sum(), [x, y] if how == "both" else [y]))


@behaviour
def the_gradient_of_what_a_function_overwrites_is_dropped(torch, log):
    double = _doubled(torch).apply
    for part in (slice(None), slice(1)):
        base = leaf(torch, 1.0, 2.0) * 3
        y = base[part]
        y.retain_grad()
        y.sum().backward(retain_graph=True)
        log(y.grad, double(y).grad, y.grad)
        y.sum().backward()
        log(y.grad)


# A hook that detaches takes tangents away: it has to be given value and tangent one by one.
KEPT = {"detached": lambda t: t.detach().clone(), "copied": lambda t: t.clone(),
        "array": lambda t: t.detach().numpy().copy()}
TAKEN_OUT = {"sin": lambda torch, a: a.sin(), "cube": lambda torch, a: a * a * a,
             "exp": lambda torch, a: a.exp()}


@behaviour_of_each((f"{kept} {name}", KEPT[kept], TAKEN_OUT[name])
                   for kept in KEPT for name in TAKEN_OUT)
def saved_tensor_hooks_in_forward_mode(torch, log, name, pack, f):
    x = leaf(torch, 1.0, 2.0)

    def unpack(kept):
        return kept if isinstance(kept, torch.Tensor) else torch.from_numpy(kept)

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        tangent = torch.func.jvp(lambda a: f(torch, a), (x,), (x,))[1]
    log.values(torch.autograd.grad(tangent.sum(), x)[0])


# ---------------------------------------------------------------- views and modes


@behaviour_of_each([True, False])
def a_view_was_looked_at_before_its_base_required_grad(torch, log, looked):
    base = torch.ones(3)
    view = base.view(3)
    base.mul_(2)
    if looked:
        log(view.requires_grad, view.grad_fn)
    base.requires_grad_()
    log(view.requires_grad, torch.autograd.grad((view ** 2).sum(), view)[0])


OF_A_VIEW = {"vjp": lambda torch, x: torch.func.vjp(torch.sin, x)[0],
             "jvp": lambda torch, x: torch.func.jvp(torch.sin, (x,), (torch.ones(2),))[1],
             "jacrev": lambda torch, x: torch.func.jacrev(torch.sin)(x),
             "jacfwd": lambda torch, x: torch.func.jacfwd(torch.sin)(x),
             "linear": lambda torch, x: torch.func.jacfwd(lambda a: a[0])(x)}


@behaviour_of_each((name, OF_A_VIEW[name]) for name in OF_A_VIEW)
def transforms_of_a_view_taken_in_inference_mode(torch, log, name, transform):
    x = leaf(torch, 1.0, 2.0)
    with torch.inference_mode():
        view = x.view(2)
    log(transform(torch, view).requires_grad)


@behaviour
def copies_made_in_inference_mode(torch, log):
    import copy

    with torch.inference_mode():
        log([made(torch.ones(2)).is_inference() for made in (copy.copy, copy.deepcopy)])
        of_leaf = copy.copy(leaf(torch, 1.0))
    log(of_leaf.is_inference(), of_leaf.requires_grad)


@behaviour
def inference_tensors_in_a_checkpoint(torch, log):
    with torch.inference_mode():
        x = torch.ones(2)
    checkpoint = _checkpoint(torch)
    log.raises(checkpoint, torch.sin, x, use_reentrant=False)
    with torch.no_grad():
        log(checkpoint(torch.sin, x, use_reentrant=False))
    log(checkpoint(lambda parts: parts[0] * 2, [x], use_reentrant=False))


@behaviour
def memory_that_is_read_and_written_in_another_order(torch, log):
    x = torch.arange(4.0).view(2, 2)
    flat = x.view(4)
    log.raises(x.mT.copy_, x)
    log.raises(flat[:3].copy_, flat[1:])
    log.raises(x.__setitem__, slice(None), x.mT)
    x[0] = x[1]
    log(x.copy_(x), x.mT.copy_(x.clone()))


@behaviour
def one_value_under_a_mask_has_to_fit(torch, log):
    x, yes = torch.ones(2), torch.tensor([True, False])
    log.raises(x.__setitem__, yes, torch.tensor([1j]))
    log.raises(x.__setitem__, ~yes & yes, torch.tensor([1j]))
    log.raises(x.index_fill, 0, torch.tensor([0]), torch.tensor(1j))
    x[yes] = torch.tensor([2 + 0j])
    log(x)


@behaviour
def paddings_and_directions_that_are_no_real_numbers(torch, log):
    x = torch.ones(1, 3)
    for value in (1j, "a"):
        log.raises(torch.nn.functional.pad, x, (1, 0), value=value)
    log.raises(torch.nn.functional.pad, x, (1, 0), "reflect", value=1j)
    log.raises(torch.func.jvp, torch.sin, (x,), (x.to(torch.int16),))
    log.raises(torch.func.jvp, torch.sin, (x,), (torch.ones(2, dtype=torch.bool),))


# ---------------------------------------------------------------- what derivatives require


@behaviour
def derivatives_that_have_no_history(torch, log):
    x, one = torch.tensor(2.0, requires_grad=True), torch.ones(())
    for f in (lambda a: a.prod(), lambda a: a.prod(0)):
        log(f(x), torch.autograd.grad(f(x), x, create_graph=True)[0].requires_grad,
            torch.func.jvp(f, (x,), (one,))[1].requires_grad)
    log(torch.autograd.grad(x.prod(dtype=torch.float64), x)[0])
    a, b = leaf(torch, [1.0], [2.0]), torch.ones(2, 1)
    log([g.requires_grad for g in torch.func.grad(
        lambda a, b: (a.transpose(0, 1) * b).sum(), (0, 1))(a, b)])


FILLED = {"zero_": lambda torch, a: (a ** 3).zero_(), "fill_": lambda torch, a: (a ** 3).fill_(2),
          "fill": lambda torch, a: torch.fill(a ** 3, 2.0), "of nothing": lambda torch, a: a * 0,
          "of itself": lambda torch, a: a.clone().zero_(),
          "floor": lambda torch, a: (a ** 3).floor()}


@behaviour_of_each((name, FILLED[name]) for name in FILLED)
def tangents_that_were_filled_with_zeros(torch, log, name, f):
    x = leaf(torch, 1.0, 2.0)
    log(torch.func.jvp(lambda a: f(torch, a) + a, (x,), (torch.ones(2),))[1].requires_grad)


@behaviour
def derivatives_of_what_is_empty_or_has_no_dims(torch, log):
    x = torch.tensor([], requires_grad=True)
    rows = torch.func.jacrev(torch.exp)(x)
    slope = torch.autograd.grad(rows.sin().sum(), x, create_graph=True)[0]
    log(torch.autograd.grad(slope.sum(), x)[0])
    jacobian = torch.autograd.functional.jacobian
    log.values(jacobian(lambda a: a.norm().flip(0), torch.ones(4), strategy="forward-mode",
                        vectorize=True))


@behaviour
def linearized_functions_require_grad_where_they_depend_on_it(torch, log):
    x, one = leaf(torch, 1.0, 2.0), torch.ones(2)
    for f, at in ((torch.sin, x), (torch.sin, x.detach()), (lambda a: a * 2, x),
                  (lambda a: a * x, x.detach()), (lambda a: a + x, x.detach())):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of PyTorch's tracer
            value, push = torch.func.linearize(f, at)
            log(value.requires_grad, push(one).requires_grad, push(x).requires_grad)


@behaviour
def quantiles_are_no_views(torch, log):
    x = torch.rand(2, 2, requires_grad=True)
    for found in (x.quantile(0.4, 1), x.quantile(0.4), x.nanquantile(0.4, 1, keepdim=True)):
        log(found._is_view(), found.detach_().requires_grad)


# ---------------------------------------------------------------- what nobody needs


@behaviour_of_each(["grad", "two outputs", "backward", "leaf", "parts"])
def the_hooks_of_a_single_output(torch, log, how):
    x, w = leaf(torch, 1.0, 2.0), leaf(torch, 1.0, 2.0)
    y = x * 2
    heard = []
    for tensor, name in ((x, "x"), (y, "y")):
        tensor.register_hook(lambda g, name=name: heard.append((name, g)))
    y.retain_grad()
    a, b = y.unbind(0)
    b.register_hook(lambda g: heard.append(("b", g)))
    if how == "backward":
        y.backward(torch.ones(2), inputs=[w])
    else:
        outputs = {"two outputs": [y, y], "leaf": [x], "parts": [a]}.get(how, [y])
        log(torch.autograd.grad(outputs, w, [torch.ones_like(t) for t in outputs],
                                allow_unused=True))
    log(heard, y.grad)


@behaviour
def backward_from_a_view_taken_before_its_base_required_grad(torch, log):
    x = torch.ones(2)
    view = x.view(2)
    x.requires_grad = True
    log.raises(view.backward, torch.ones(2))
    log.raises(torch.autograd.grad, view, x, torch.ones(2))
    log(view.requires_grad, torch.autograd.grad(view.sum(), x, allow_unused=True))


@behaviour
def complex_numbers_are_not_searched(torch, log):
    edges, z = torch.tensor([0.0, 1.0]), torch.tensor([1j])
    log.raises(torch.searchsorted, edges, z)
    log.raises(torch.bucketize, z, edges)
    log(torch.searchsorted(edges, z[:0]).shape)


@behaviour_of_each([("randn", lambda torch: torch.randn(3, dtype=torch.float64)),
                    ("blocks", lambda torch: torch.randn(20)),
                    ("half", lambda torch: torch.randn(20, dtype=torch.float16)),
                    ("complex", lambda torch: torch.randn(9, dtype=torch.complex64)),
                    ("normal_", lambda torch: torch.empty(19).normal_())])
def draws_have_no_memory_to_spare(torch, log, name, draw):
    torch.manual_seed(0)
    drawn = draw(torch)
    log(drawn.untyped_storage().nbytes())
    log.values(drawn)


@behaviour_of_each(["channels_last", "channels_last_3d"])
def orders_of_memory_inside_vmap(torch, log, name):
    x, order = torch.ones(2, 3), getattr(torch, name)
    log.raises(torch.vmap(lambda v: v.clone(memory_format=order)), x)
    log.raises(torch.vmap(lambda v: v.contiguous(memory_format=order)), x)
    log.raises(torch.vmap(lambda v: v.as_strided([1, 2], [1])), x)


@behaviour_of_each([(2, 1), (1, 2), (0, 1), (10, 3)])
def strides_of_new_memory_inside_vmap(torch, log, *strides):
    log(torch.vmap(lambda v: v.new_empty_strided((2, 2), strides))(torch.ones(3)).stride())


OUTPUTS = {"sort": lambda torch, x: x.sort(0)[0], "max": lambda torch, x: x.max(0)[0],
           "topk": lambda torch, x: x.topk(1)[0],
           "var_mean": lambda torch, x: torch.var_mean(x, 0)[1],
           "unbind": lambda torch, x: x.unbind(0)[1], "frexp": lambda torch, x: torch.frexp(x)[0]}


@behaviour_of_each((name, OUTPUTS[name]) for name in OUTPUTS)
def hooks_of_a_node_are_told_of_outputs_with_gradients(torch, log, name, f):
    y = f(torch, leaf(torch, [3.0, 1.0], [2.0, 5.0]))
    heard = []
    y.grad_fn.register_prehook(lambda given: heard.append(given))
    y.grad_fn.register_prehook(lambda given: tuple(None if g is None else g * 2 for g in given))
    y.grad_fn.register_hook(lambda made, given: heard.append((made, given)))
    y.sum().backward()
    log(heard)


@behaviour_of_each(["bool", "int32", "float16"])
def running_sums_in_place(torch, log, dtype):
    kind = getattr(torch, dtype)
    for shape in ((), (3,), (0,)):
        for name in ("cumsum_", "cumprod_"):
            x = torch.ones(shape, dtype=kind)
            if kind is torch.bool and shape == (3,):
                log.raises(getattr(x, name), 0)
            else:
                log(getattr(x, name)(0))
            log.raises(getattr(x, name), 0, dtype=torch.float64)


@behaviour_of_each([False, True])
def hooks_are_shown_gradients_that_nobody_needs(torch, log, create):
    product = custom(torch, lambda ctx, g: (g * 2, g * 3), lambda ctx, x, y: x * 2 + y * 3)
    y = product.apply(leaf(torch, 1.0, 2.0), torch.ones(2))
    y.grad_fn.register_hook(lambda made, given: log([g.detach() for g in made]))
    y.sum().backward(create_graph=create)


LAYOUTS = {"transposed": lambda torch: torch.zeros(3, 4).T,
           "diagonal": lambda torch: torch.zeros(3, 3, 4, 5).diagonal(),
           "strided": lambda torch: torch.zeros(4, 8)[:, ::2],
           "permuted": lambda torch: torch.zeros(2, 3, 4, 2).permute(1, 3, 0, 2)}
DRAWS = {"bernoulli_": lambda torch, t: t.bernoulli_(0.5),
         "bernoulli_ of a tensor": lambda torch, t: t.bernoulli_(torch.full((), 0.5)),
         "normal_": lambda torch, t: t.normal_(), "uniform_": lambda torch, t: t.uniform_(),
         "random_": lambda torch, t: t.random_(0, 9),
         "exponential_": lambda torch, t: t.exponential_(),
         "dropout": lambda torch, t: torch.nn.functional.dropout(t + 1),
         "dropout in place": lambda torch, t: torch.dropout_(t.add_(1), 0.5, True)}


@behaviour_of_each((f"{draw} {layout}", DRAWS[draw], LAYOUTS[layout])
                   for draw in DRAWS for layout in LAYOUTS)
def random_numbers_come_in_the_order_of_memory(torch, log, name, draw, make):
    torch.manual_seed(1)
    log.values(draw(torch, make(torch)))


@behaviour
def a_mask_without_dims(torch, log):
    for x in (torch.tensor(1, dtype=torch.int32), torch.ones(2, dtype=torch.int32)):
        log.raises(x.__setitem__, torch.tensor(True), torch.tensor([1.5]))
        x[torch.tensor(True)] = 2
        log(x)


@behaviour
def a_view_of_what_requires_grad_no_more(torch, log):
    x = torch.ones(2)
    view = x.view(2)
    x.requires_grad_()
    log(view.requires_grad, (view * 2).requires_grad)
    x.requires_grad_(False)
    log(view.requires_grad, (view * 2).requires_grad, view.is_leaf)


@behaviour
def a_part_is_copied_onto_itself(torch, log):
    x = torch.ones(3)
    part = x[:2]
    part.copy_(part)
    log(part.requires_grad, x.requires_grad, part.copy_(x[:2]).requires_grad)


@behaviour_of_each([("softmax", lambda a: a.softmax(-1)),
                    ("log_softmax", lambda a: a.log_softmax(-1)),
                    ("tanh", lambda a: a.tanh())])
def gradients_of_directions_of_second_tangents(torch, log, name, f):
    x, c = leaf(torch, [0.3, -0.5], [1.2, 0.4]), torch.tensor([[0.7, 0.1], [-0.2, 0.9]])
    for at in (x, c):
        found = torch.func.jvp(lambda a: torch.func.jvp(f, (a,), (c,))[1], (at,), (x,))[1]
        log.values(torch.autograd.grad(found.trace(), x)[0])


@behaviour
def numbers_to_search_for_yield_to_the_dtype_of_the_boundaries(torch, log):
    bounds = torch.tensor([0.0, 1.0, 2.0])
    for value in (torch.tensor(5e-324, dtype=torch.float64), 1.0000000001,
                  torch.tensor([5e-324], dtype=torch.float64), torch.tensor(1)):
        log(torch.searchsorted(bounds, value), torch.bucketize(value, bounds, right=True))
    log(torch.searchsorted(torch.tensor([0, 1, 2]), 1.5))


@behaviour_of_each(itertools.product(("float64", "float16", "bfloat16"), ("float32", "float16")))
def a_logistic_loss_has_the_dtype_of_its_target(torch, log, kind, wanted):
    x = torch.linspace(-1, 1, 4, dtype=getattr(torch, kind), requires_grad=True)
    y = torch.tensor([0, 1, 1, 0], dtype=getattr(torch, wanted))
    for reduction in ("none", "mean"):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(x, y, reduction=reduction)
        log(loss.dtype, torch.autograd.grad(loss.sum(), x)[0].dtype)


@behaviour
def nothing_is_filled_where_slices_are_empty(torch, log):
    for shape, dim in (((0, 0), -1), ((3, 0), 0), ((0, 3), 1)):
        log(torch.zeros(shape).index_fill_(dim, torch.tensor([2]), 1.0))
    log.raises(torch.zeros(0, 3).index_fill_, 1, torch.tensor([2.0]), 1.0)


@behaviour_of_each([1, 0, 2])
def truth_values_have_products_without_sums(torch, log, length):
    a, b = torch.ones(3, length, dtype=torch.bool), torch.ones(2, length, dtype=torch.bool)
    if length < 2:
        log(torch.einsum("ij,kj->ik", a, b), torch.einsum("...i,...i->...", a, ~a))
    else:
        log.raises(torch.einsum, "ij,kj->ik", a, b)
    log(torch.einsum("ij,ij->ij", a, ~a))


@behaviour_of_each(["float16", "bfloat16", "float32"])
def counts_of_intervals_are_rounded_at_every_step(torch, log, kind):
    x = ((torch.arange(61) - 30) / 15).to(getattr(torch, kind))
    log(torch.histc(x, 10, -1, 1), torch.histc(x, 7), torch.histc(x, 3, -0.7, 1.3))


@behaviour_of_each(["func", "functional", "forward_ad"])
def a_tangent_that_was_overwritten_is_missed_by_a_backward(torch, log, way):
    x, v = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([1.0, 3.0])
    if way == "func":
        slope = torch.func.jvp(lambda a: a ** 3, (x,), (v,))[1]
    elif way == "functional":
        slope = torch.autograd.functional.jvp(lambda a: a ** 3, x, v, create_graph=True)[1]
    else:
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(x, v)
            slope = torch.autograd.forward_ad.unpack_dual(dual ** 3).tangent
    log(torch.autograd.grad(slope.sum(), x, retain_graph=True))
    v.mul_(10)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(slope.sum(), x)


@behaviour_of_each(["grad", "vjp", "jacrev"])
def a_view_that_was_written_to_enters_a_transform(torch, log, way):
    x = torch.tensor([0.3, 0.7], requires_grad=True)
    y = x * 1
    view = y.view(2, 1).mul_(2)
    if way == "grad":
        found = torch.func.grad(lambda a: (a ** 3).sum())(view)
    elif way == "vjp":
        found = torch.func.vjp(lambda a: a ** 3, view)[0]
    else:
        found = torch.func.jacrev(lambda a: a ** 3)(view)
    torch.autograd.backward([found.sum(), view.sum()])
    log(x.grad)


@behaviour_of_each(["i...,j...->ij...", "i,j->ji", "ij,jk->kij", "a,b,c->cab"])
def products_without_sums_lie_in_memory_as_they_are_named(torch, log, equation):
    shapes = {"i...": (2, 3), "j...": (4, 3), "ij": (2, 3), "jk": (3, 4)}
    operands = [torch.arange(1.0, 1 + torch.ones(shapes.get(k, (2,))).numel()).reshape(
        shapes.get(k, (2,))) for k in equation.split("->")[0].split(",")]
    found = torch.einsum(equation, *operands)
    log(found, found.is_contiguous() if equation != "ij,jk->kij" else None)


@behaviour
def squeezing_a_number_of_a_batch_is_refused(torch, log):
    log.raises(torch.vmap(lambda a: torch.squeeze(a, 1)), torch.ones(3))
    log.raises(torch.squeeze, torch.ones(()), 1)


@behaviour
def nothing_leaves_the_graph_in_inference_mode(torch, log):
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    with torch.inference_mode():
        log(y.detach_() is y, y[:2].detach_().requires_grad)
    log(y.requires_grad, torch.autograd.grad(y.sum(), x))


@behaviour
def positions_of_nothing_are_not_looked_at_by_a_write(torch, log):
    x = torch.zeros(2, 3)
    x[:0, [5]] = 2
    x[:0, torch.tensor([5])] *= 2
    log(x)
    log.raises(x.__getitem__, (slice(0), [5]))
    log.raises(torch.zeros(0, 3).__setitem__, [5], 1.0)


@behaviour_of_each([(0, 0), (0, 0, 2), (2, 0), (0, 2)])
def a_dimension_without_elements_has_no_position(torch, log, *shape):
    index = torch.tensor([0])

    def write(key, value):
        torch.zeros(shape)[key] = value

    for key in (index, (slice(None), index)):
        log.raises(lambda key=key: torch.zeros(shape)[key].shape)
        for value in (1.5, torch.zeros(()), torch.zeros((1,) * len(shape))):
            log.raises(write, key, value)
    for accumulate in (False, True):
        log.raises(torch.zeros(shape).index_put_, (index,), torch.tensor(3.0), accumulate)
    log.raises(torch.zeros(shape).take, index)
    log.raises(torch.zeros(shape).put_, index, torch.zeros(1))


@behaviour
def a_batch_of_no_directions_is_written_to(torch, log):
    def copied(a):
        return torch.zeros_like(a).copy_(a)

    found = torch.autograd.functional.jacobian(copied, torch.rand(0, 2), strategy="forward-mode",
                                               vectorize=True)
    log(found.shape, torch.vmap(copied)(torch.ones(0, 3)).shape)
