"""``autograd.forward_ad`` and ``Function.jvp`` beside PyTorch."""

from __future__ import annotations

import warnings
from dataclasses import replace

import pytest
import torch
from tests.sweeps.cases import ENTRIES, cases, tensors

import retrograd
import shared
from parity.harness import behaviour, behaviour_of_each
from shared import custom, vector


def pair(torch, log, tensor):
    """Log a tensor's value and tangent."""
    primal, tangent = torch.autograd.forward_ad.unpack_dual(tensor)
    log.values(primal)
    if tangent is None:
        log("no tangent")
    else:
        log.values(tangent)


def inside(program):
    """A program that runs inside a level, with a dual vector."""

    def run(torch, log):
        fw = torch.autograd.forward_ad
        with fw.dual_level():
            x = fw.make_dual(vector(torch, 1.0, 2.0, 3.0), vector(torch, 0.5, -1.0, 2.0))
            program(torch, log, fw, x)

    run.__name__ = program.__name__
    run.__code__ = run.__code__.replace(co_firstlineno=program.__code__.co_firstlineno)
    return behaviour(run)


# Levels


@behaviour
def levels_open_and_close(torch, log):
    fw = torch.autograd.forward_ad
    log.raises(fw.exit_dual_level)
    level = fw.enter_dual_level()
    log(level)
    log.raises(fw.enter_dual_level)
    log.raises(fw.exit_dual_level, level=7)
    fw.exit_dual_level(level=level)
    with fw.dual_level() as level:
        log(level)
        with_error = fw.dual_level()
        log.raises(with_error.__enter__)
    log.raises(fw.exit_dual_level)
    fw.enter_dual_level()
    fw.exit_dual_level()


@behaviour
def a_level_is_closed_by_an_error(torch, log):
    fw = torch.autograd.forward_ad
    try:
        with fw.dual_level():
            raise KeyError("inside")
    except KeyError as error:
        log(str(error))
    with fw.dual_level() as level:
        log(level)


@behaviour
def what_make_dual_refuses(torch, log):
    fw = torch.autograd.forward_ad
    x = vector(torch, 1.0, 2.0)
    log.raises(fw.make_dual, x, x)
    with fw.dual_level():
        log.raises(fw.make_dual, torch.tensor([1, 2]), x)
        log.raises(fw.make_dual, x, torch.tensor([1, 2]))
        log.raises(fw.make_dual, torch.tensor([True]), torch.tensor([True]))
        log.raises(fw.make_dual, x, x[:1])
        log.raises(fw.make_dual, x, x.float())
        log.refuses(fw.make_dual, x, 1.0)
        log.refuses(fw.make_dual, 1.0, x)
        log.raises(fw.make_dual, x.float(), x.float() * 1j)
        log.raises(fw.make_dual, x, x, level=-1)


@behaviour
def what_unpack_dual_gives(torch, log):
    fw = torch.autograd.forward_ad
    x, t = vector(torch, 1.0, 2.0), vector(torch, 3.0, 4.0)
    result = fw.unpack_dual(x)
    log(type(result).__name__, result._fields, result.tangent)
    log.values(result.primal)
    with fw.dual_level():
        log(fw.unpack_dual(x).tangent)
        dual = fw.make_dual(x, t)
        primal, tangent = fw.unpack_dual(dual)
        log.values(primal, tangent)
        log(primal is x, primal.data_ptr() == x.data_ptr(), tangent.requires_grad)
        log(tangent.data_ptr() == t.data_ptr())
        log(fw.unpack_dual(x).tangent, fw.unpack_dual(primal).tangent)
        log.refuses(fw.unpack_dual, 1.0)
    log(fw.unpack_dual(dual).tangent)


@behaviour
def tangents_are_gone_after_the_level(torch, log):
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        dual = fw.make_dual(vector(torch, 1.0, 2.0), vector(torch, 3.0, 4.0))
        y = dual.exp()
    log(fw.unpack_dual(dual).tangent, fw.unpack_dual(y).tangent)
    log(repr(dual), repr(y))
    log.values(y * 2)
    with fw.dual_level():
        log(fw.unpack_dual(dual).tangent)
        log(fw.unpack_dual(y * dual).tangent)
        again = fw.make_dual(dual, vector(torch, 1.0, 1.0))
        pair(torch, log, again * y)
    log.values(dual, y)
    log(dual.tolist(), y.sum().item(), dual.numpy())


@behaviour
def a_dead_dual_tensor_is_an_ordinary_one(torch, log):
    fw = torch.autograd.forward_ad
    x = vector(torch, 1.0, 2.0, grad=True)
    with fw.dual_level():
        y = fw.make_dual(x, vector(torch, 3.0, 4.0)) ** 3
    y.sum().backward()
    log.values(x.grad)
    with fw.dual_level():
        log(fw.unpack_dual(x.grad).tangent)
    z = y.detach().clone()
    z.mul_(2)
    log.values(z, y)


# Arithmetic


@inside
def tangents_of_elementary_ops(torch, log, fw, x):
    c = vector(torch, 2.0, 3.0, 4.0)
    for y in (x + 1, 2 * x, x * c, x / c, c / x, x ** 3, 2 ** x, x.exp(), x.log(), x.sin(), -x,
              x.sqrt(), x.tanh(), x.sigmoid(), x.relu(), x.abs(), x.clamp(1.5, 2.5), x * x, x - x,
              torch.atan2(x, c), torch.where(c > 2.5, x, c), torch.maximum(x, c)):
        pair(torch, log, y)


@inside
def tangents_of_reductions_and_products(torch, log, fw, x):
    m = torch.arange(9, dtype=torch.float64).reshape(3, 3) / 4
    for y in (x.sum(), x.mean(), x.prod(), x.max(), x.norm(), x.var(), x.logsumexp(0), x.cumsum(0),
              x.softmax(0), m @ x, x @ m, x.dot(x), torch.outer(x, x), x.sort().values,
              torch.cat([x, x * 2]), torch.stack([x, x]), x.flip(0), x[1:], x[[0, 2]], x.view(3, 1),
              x.expand(2, 3), torch.einsum("i,j->ij", x, x), torch.linalg.norm(x), x.std()):
        pair(torch, log, y)
    values, indices = x.max(dim=0)
    pair(torch, log, values)
    log(indices, fw.unpack_dual(indices).tangent)


@inside
def results_without_a_tangent(torch, log, fw, x):
    for y in (x > 1, x.argmax(), x.long(), x.isnan(), x.sign(), x.round(), x.floor(),
              torch.zeros_like(x), x.new_ones(2), x.numel(), x.shape):
        log(fw.unpack_dual(y).tangent if isinstance(y, torch.Tensor) else y)


@inside
def what_stops_tangents(torch, log, fw, x):
    pair(torch, log, x.detach())
    pair(torch, log, x.data)
    pair(torch, log, x.clone())
    pair(torch, log, x.detach().clone())
    pair(torch, log, x.float())
    pair(torch, log, x.to(torch.float64))
    pair(torch, log, x.contiguous())
    with torch.no_grad():
        pair(torch, log, x * 2)
    with torch.inference_mode():
        pair(torch, log, x * 2)
    with torch.enable_grad():
        pair(torch, log, x * 2)
    log(x.item() if x.numel() == 1 else x.tolist(), x.requires_grad, x.is_leaf)
    y = x.clone()
    log(y.detach_() is y, y.requires_grad)
    pair(torch, log, y)
    pair(torch, log, y * x)


@inside
def forward_mode_switched_off(torch, log, fw, x):
    log(fw._is_fwd_grad_enabled())
    with fw._set_fwd_grad_enabled(False):
        log(fw._is_fwd_grad_enabled())
        y = x * 2
        pair(torch, log, y)
        pair(torch, log, x)
    pair(torch, log, y)
    pair(torch, log, x * 2)


@inside
def texts_of_dual_tensors(torch, log, fw, x):
    log(repr(x), str(x * 2), repr(x.sum()), repr(x.detach()))
    w = vector(torch, 1.0, grad=True)
    log(repr(fw.make_dual(w, vector(torch, 2.0))))
    log(repr(fw.make_dual(torch.tensor(1.0), torch.tensor(2.0))))


@inside
def questions_about_dual_tensors(torch, log, fw, x):
    log(x.shape, x.dtype, x.stride(), x.dim(), x.numel(), x.is_contiguous(), x.tolist())
    log(type(x).__name__, isinstance(x, torch.Tensor), len(x), bool(x.sum() > 1), float(x[0]))
    log(x.numpy(), [float(v) for v in x], x.element_size(), x.data_ptr() == x.detach().data_ptr())


@behaviour
def complex_and_zero_dim_duals(torch, log):
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        z = fw.make_dual(torch.tensor([1.0 + 2j, 3j]), torch.tensor([1j, 2.0 + 0j]))
        for y in (z * z, z.conj(), z.abs(), z.real, z.imag, z.exp(), z.angle(),
                  torch.view_as_real(z), z * 2.0, z.sum()):
            pair(torch, log, y)
        s = fw.make_dual(torch.tensor(2.0), torch.tensor(1.0))
        for y in (s * s, s + 1, s ** 2, s.exp(), 3 - s, s * torch.tensor([1.0, 2.0])):
            pair(torch, log, y)
        pair(torch, log, torch.complex(s, s * 2))


@behaviour
def duals_of_several_dtypes(torch, log):
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
        pair(torch, log, x.double() * 2)
        pair(torch, log, x * vector(torch, 1.0, 2.0))
        pair(torch, log, x.half())
        pair(torch, log, x * torch.tensor([1, 2]))


# Writes and views


@inside
def views_see_tangents(torch, log, fw, x):
    pair(torch, log, x[0])
    pair(torch, log, x[1:])
    pair(torch, log, x.view(3, 1).t())
    y = x.clone()
    part = y[:2]
    part.mul_(3)
    pair(torch, log, y)
    pair(torch, log, part)
    y[2] = 7.0
    pair(torch, log, y)
    y[0] = x[1] * x[2]
    pair(torch, log, y)
    pair(torch, log, part)


@inside
def a_buffer_becomes_dual(torch, log, fw, x):
    buffer = torch.zeros(4, dtype=torch.float64)
    view = buffer[1:]
    buffer[0] = x[0]
    pair(torch, log, buffer)
    pair(torch, log, view)
    view.copy_(x)
    pair(torch, log, buffer)
    pair(torch, log, view)
    other = torch.ones(3, dtype=torch.float64)
    other.mul_(x)
    pair(torch, log, other)
    other.add_(x, alpha=2)
    pair(torch, log, other)


@inside
def writes_that_remove_tangents(torch, log, fw, x):
    y = x.clone()
    y.zero_()
    pair(torch, log, y)
    y = x.clone()
    y.fill_(2.0)
    pair(torch, log, y)
    y = x.clone()
    y.copy_(torch.ones(3, dtype=torch.float64))
    pair(torch, log, y)
    y = x.clone()
    y[1:] = torch.zeros(2, dtype=torch.float64)
    pair(torch, log, y)


@inside
def writes_in_place(torch, log, fw, x):
    y = x.clone()
    for write in (lambda y: y.add_(1), lambda y: y.mul_(x), lambda y: y.exp_(),
                  lambda y: y.div_(x), lambda y: y.sub_(x), lambda y: y.sin_(),
                  lambda y: y.clamp_(max=0.9), lambda y: y.masked_fill_(x > 2, 0.0),
                  lambda y: y.index_add_(0, torch.tensor([0, 1, 2]), x), lambda y: y.cumsum_(0)):
        write(y)
        pair(torch, log, y)
    y += x
    pair(torch, log, y)
    y[[0, 1]] = x[:2] * 2
    pair(torch, log, y)


@inside
def a_write_to_the_dual_itself(torch, log, fw, x):
    primal = fw.unpack_dual(x).primal
    x.mul_(2)
    pair(torch, log, x)
    log.values(primal)


@behaviour
def the_dual_shares_its_primals_memory(torch, log):
    fw = torch.autograd.forward_ad
    p, t = vector(torch, 1.0, 2.0), vector(torch, 3.0, 4.0)
    with fw.dual_level():
        x = fw.make_dual(p, t)
        p.mul_(10)
        pair(torch, log, x)
        x.add_(1)
        log.values(p, t)


@behaviour
def a_view_of_a_plain_tensor_written_with_duals(torch, log):
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        base = torch.zeros(2, 3, dtype=torch.float64)
        row, column = base[0], base[:, 1]
        x = fw.make_dual(vector(torch, 1.0, 2.0, 3.0), vector(torch, 0.5, -1.0, 2.0))
        row.copy_(x)
        pair(torch, log, base)
        pair(torch, log, row)
        pair(torch, log, column)
        column.mul_(5)
        pair(torch, log, base)
        pair(torch, log, base.t() @ base)


# With reverse mode


@behaviour
def forward_over_reverse(torch, log):
    fw = torch.autograd.forward_ad
    x, v = vector(torch, 0.5, 1.5, grad=True), vector(torch, 1.0, -2.0)
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        (g,) = torch.autograd.grad((dual.exp() * dual.sum()).sum(), dual)
        pair(torch, log, g)
        dual = fw.make_dual(x, v)
        (g,) = torch.autograd.grad((dual ** 3).sum(), x)
        pair(torch, log, g)
        (fw.make_dual(x, v) ** 3).sum().backward()
        pair(torch, log, x.grad)
    log.values(x.grad)


@behaviour
def reverse_over_forward(torch, log):
    fw = torch.autograd.forward_ad
    x, v = vector(torch, 0.5, 1.5, grad=True), vector(torch, 1.0, -2.0, grad=True)
    with fw.dual_level():
        y = (fw.make_dual(x, v).exp() * x.sum()).sum()
        primal, tangent = fw.unpack_dual(y)
        log(primal.requires_grad, tangent.requires_grad)
        log.values(*torch.autograd.grad(tangent, (x, v), retain_graph=True))
        log.values(*torch.autograd.grad(primal, x, retain_graph=True))
    log.values(*torch.autograd.grad(tangent, (x, v)))


@behaviour
def reverse_over_forward_after_the_level(torch, log):
    fw = torch.autograd.forward_ad
    x, v = vector(torch, 0.5, 1.5, grad=True), vector(torch, 1.0, -2.0)
    with fw.dual_level():
        y = torch.tanh(fw.make_dual(x, v) ** 2)
        tangent = fw.unpack_dual(y).tangent
    tangent.sum().backward()
    log.values(x.grad)


@behaviour
def weights_beside_duals(torch, log):
    fw = torch.autograd.forward_ad
    w = vector(torch, 2.0, 3.0, grad=True)
    with fw.dual_level():
        x = fw.make_dual(vector(torch, 1.0, 2.0), vector(torch, 0.5, 0.25))
        y = (w * x).sin().sum()
        log(y.requires_grad)
        tangent = fw.unpack_dual(y).tangent
        log.values(*torch.autograd.grad(tangent, w, retain_graph=True))
        log.values(*torch.autograd.grad(fw.unpack_dual(y).primal, w, retain_graph=True))
        pair(torch, log, torch.autograd.grad(y, w)[0])


@behaviour
def third_order_by_mixing(torch, log):
    fw = torch.autograd.forward_ad
    x, v = vector(torch, 0.5, 1.5, grad=True), vector(torch, 1.0, -2.0)
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        (g,) = torch.autograd.grad((dual ** 4).sum(), dual, create_graph=True)
        (h,) = torch.autograd.grad(g.sum(), dual, create_graph=True)
        pair(torch, log, h)
        tangent = fw.unpack_dual(g).tangent
        log.values(*torch.autograd.grad(tangent.sum(), x))


# Functions


def cube(torch, **changes):
    """x³ with a rule of forward mode that is recognisably its own."""
    jvp = lambda ctx, t: 10 * ctx.saved_tensors[0] ** 2 * t
    return shared.cube(torch, **{"jvp": jvp, **changes})


@inside
def jvp_of_a_function_is_used(torch, log, fw, x):
    pair(torch, log, cube(torch).apply(x))
    pair(torch, log, cube(torch).apply(x.detach()))
    pair(torch, log, cube(torch).apply(x * 2) * 3)


@behaviour
def jvp_of_a_function_and_gradients(torch, log):
    fw = torch.autograd.forward_ad
    x = vector(torch, 1.0, 2.0, grad=True)
    with fw.dual_level():
        dual = fw.make_dual(x, vector(torch, 1.0, 0.5))
        y = cube(torch).apply(dual)
        pair(torch, log, y)
        log(y.requires_grad, y.grad_fn.name())
        (g,) = torch.autograd.grad(y.sum(), x)
        pair(torch, log, g)


@inside
def a_function_without_jvp(torch, log, fw, x):
    Plain = custom(torch, lambda ctx, g: g * 2, lambda ctx, x: x * 2)
    log.raises(Plain.apply, x)
    log.values(Plain.apply(vector(torch, 1.0)))
    with fw._set_fwd_grad_enabled(False):
        pair(torch, log, Plain.apply(x))


@inside
def what_jvp_is_given(torch, log, fw, x):
    seen = []

    def forward(ctx, x, n, y, z):
        ctx.save_for_forward(x, y)
        return x * y

    def jvp(ctx, *tangents):
        seen.append([None if t is None else t.tolist() for t in tangents])
        seen.append([s.tolist() for s in ctx.saved_tensors])
        seen.append([fw.unpack_dual(s).tangent is None for s in ctx.saved_tensors])
        seen.append((torch.is_grad_enabled(), ctx.needs_input_grad))
        return tangents[0]

    F = cube(torch, forward=forward, jvp=jvp)
    y = vector(torch, 2.0, 3.0, 4.0)
    pair(torch, log, F.apply(x, 3, y, None))
    log(seen)

    def lazy(ctx, x, n, y, z):
        ctx.set_materialize_grads(False)
        return forward(ctx, x, n, y, z)

    seen.clear()
    pair(torch, log, cube(torch, forward=lazy, jvp=jvp).apply(x, 3, y, None))
    log(seen)


@inside
def a_function_with_several_outputs(torch, log, fw, x):
    def forward(ctx, x):
        ctx.save_for_forward(x)
        whole = x.long()
        ctx.mark_non_differentiable(whole)
        return x * 2, whole, x.sum()

    def jvp(ctx, t):
        return t * 2, None, t.sum()

    a, b, c = cube(torch, forward=forward, jvp=jvp).apply(x)
    pair(torch, log, a)
    pair(torch, log, b)
    pair(torch, log, c)


@inside
def what_jvp_must_return(torch, log, fw, x):
    log.raises(cube(torch, jvp=lambda ctx, t: (t, t)).apply, x)
    log.raises(cube(torch, jvp=lambda ctx, t: 3.0).apply, x)
    log.raises(cube(torch, jvp=lambda ctx, t: t[:1]).apply, x)
    log.raises(cube(torch, jvp=lambda ctx, t: t.float()).apply, x)
    pair(torch, log, cube(torch, jvp=lambda ctx, t: (t,)).apply(x))
    log.raises(cube(torch, jvp=lambda ctx, t: ()).apply, x)


@inside
def a_function_that_writes_to_its_input(torch, log, fw, x):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(3)

    y = x.clone()
    z = cube(torch, forward=forward, jvp=lambda ctx, t: t.mul_(3)).apply(y)
    log(z is y)
    pair(torch, log, z)
    pair(torch, log, y)
    log.raises(cube(torch, forward=forward, jvp=lambda ctx, t: t * 3).apply, x.clone())


@inside
def a_function_that_returns_its_input_or_a_view(torch, log, fw, x):
    same = cube(torch, forward=lambda ctx, x: x, jvp=lambda ctx, t: t.view_as(t))
    pair(torch, log, same.apply(x.clone()))
    view = cube(torch, forward=lambda ctx, x: x[1:], jvp=lambda ctx, t: t[1:])
    pair(torch, log, view.apply(x.clone()))
    log.raises(cube(torch, forward=lambda ctx, x: x[1:], jvp=lambda ctx, t: t[1:] * 2).apply,
               x.clone())
    log.raises(cube(torch, forward=lambda ctx, x: x, jvp=lambda ctx, t: t).apply, x.clone())


@inside
def tangents_of_outputs_that_have_none(torch, log, fw, x):
    def constant(ctx, x):
        y = x * 2
        ctx.mark_non_differentiable(y)
        return y

    log.raises(cube(torch, forward=lambda ctx, x: x.long(), jvp=lambda ctx, t: t).apply, x)
    log.raises(cube(torch, forward=constant, jvp=lambda ctx, t: t).apply, x)
    pair(torch, log, cube(torch, forward=constant, jvp=lambda ctx, t: None).apply(x))
    y, n = cube(torch, forward=lambda ctx, x: (x * 2, 3), jvp=lambda ctx, t: (t, None)).apply(x)
    pair(torch, log, y)
    log(n)
    log.raises(cube(torch, forward=lambda ctx, x: (x * 2, 3), jvp=lambda ctx, t: t).apply, x)
    log.raises(fw.make_dual, x, x)


@inside
def a_function_with_setup_context(torch, log, fw, x):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(x, n):
            return x ** n

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, n = inputs
            ctx.n = n
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)

        @staticmethod
        def jvp(ctx, t, _):
            (x,) = ctx.saved_tensors
            return ctx.n * x ** (ctx.n - 1) * t

    pair(torch, log, Square.apply(x, 2))


@behaviour
def save_for_forward_takes_tensors(torch, log):
    def forward(ctx, x):
        ctx.save_for_forward(x, None)
        ctx.save_for_forward(x, 3)
        return x

    log.raises(cube(torch, forward=forward).apply, vector(torch, 1.0))


@inside
def forward_of_a_function_sees_no_tangents(torch, log, fw, x):
    seen = []

    def forward(ctx, x):
        y = x * 2
        seen.append((fw._is_fwd_grad_enabled(), fw.unpack_dual(y).tangent is None))
        return y

    pair(torch, log, cube(torch, forward=forward, jvp=lambda ctx, t: t * 7).apply(x))
    log(seen)


# Modules


@behaviour
def a_module_with_dual_parameters(torch, log):
    fw = torch.autograd.forward_ad
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    model = model.double()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.linspace(-1, 1, p.numel(), dtype=torch.float64).view_as(p))
    x = torch.linspace(0, 1, 6, dtype=torch.float64).view(2, 3)
    params = dict(model.named_parameters())
    tangents = {name: torch.ones_like(p) for name, p in params.items()}
    with fw.dual_level():
        for name, p in params.items():
            owner, _, leaf = name.rpartition(".")
            module = model.get_submodule(owner)
            delattr(module, leaf)
            setattr(module, leaf, fw.make_dual(p, tangents[name]))
        out = model(x)
        pair(torch, log, out)
        log(out.requires_grad)
        pair(torch, log, torch.nn.functional.mse_loss(out, torch.zeros_like(out)))


@behaviour_of_each(["conv", "norm", "pool", "embedding", "loss"])
def layers_with_duals(torch, log, kind):
    fw = torch.autograd.forward_ad
    F = torch.nn.functional
    with fw.dual_level():
        x = torch.linspace(-1, 1, 32, dtype=torch.float64).view(1, 2, 4, 4)
        w = torch.linspace(-1, 1, 36, dtype=torch.float64).view(2, 2, 3, 3)
        dx, dw = fw.make_dual(x, x.cos()), fw.make_dual(w, w.sin())
        if kind == "conv":
            pair(torch, log, F.conv2d(dx, dw, padding=1))
        elif kind == "norm":
            pair(torch, log, F.layer_norm(dx, (4, 4)))
            pair(torch, log, F.batch_norm(dx, None, None, training=True))
        elif kind == "pool":
            pair(torch, log, F.max_pool2d(dx, 2))
            pair(torch, log, F.avg_pool2d(dx, 2))
        elif kind == "embedding":
            pair(torch, log, F.embedding(torch.tensor([0, 1, 0]), dw.reshape(2, 18)))
        else:
            pair(torch, log, F.cross_entropy(dx.reshape(8, 4), torch.arange(8) % 4))
            pair(torch, log, F.gelu(dx))


# Which part requires grad

PROGRAMS = {
    "itself": lambda torch, a, w: a,
    "view": lambda torch, a, w: a.view(-1),
    "part": lambda torch, a, w: a[0] + a[:1],
    "sum": lambda torch, a, w: a.sum(0) - a.mean(0),
    "scaled": lambda torch, a, w: a * 3.0,
    "sine": lambda torch, a, w: a.sin(),
    "square": lambda torch, a, w: a * a,
    "weighted": lambda torch, a, w: a * w,
    "moved": lambda torch, a, w: a + w,
    "product": lambda torch, a, w: a @ w.t(),
    "joined": lambda torch, a, w: torch.cat([a, w]),
    "chosen": lambda torch, a, w: torch.where(w > 0, a, w),
    "clamped": lambda torch, a, w: a.clamp(-1.0, 1.0),
    "sorted": lambda torch, a, w: a.sort().values,
    "rounded": lambda torch, a, w: a.round() + a.floor(),
    "nonlinear then linear": lambda torch, a, w: a.exp().t().sum(),
    "linear then nonlinear": lambda torch, a, w: a.t().sum().tanh(),
    "detached": lambda torch, a, w: a.detach() + w,
    "half detached": lambda torch, a, w: a.detach() * a,
    "unrecorded": lambda torch, a, w: _unrecorded(torch, a),
    "written": lambda torch, a, w: a.clone().mul_(w),
    "written in part": lambda torch, a, w: _written_in_part(a, w),
    "softmax": lambda torch, a, w: a.softmax(-1),
    "norm": lambda torch, a, w: a.norm(),
    "constant": lambda torch, a, w: w * 2,
}
FLAGS = [(value, slope, weight) for value in (False, True) for slope in (False, True)
         for weight in (False, True)]


def _unrecorded(torch, a):
    with torch.no_grad():
        return a * 2


def _written_in_part(a, w):
    b = a.clone()
    b[0] = w[0]
    return b


def _arguments(torch, value, slope, weight):
    x = torch.tensor([[0.3, -1.2], [2.0, 0.7]]).requires_grad_(value)
    v = torch.tensor([[1.0, 0.5], [-1.0, 2.0]]).requires_grad_(slope)
    w = torch.tensor([[1.5, -0.5], [0.2, 1.0]]).requires_grad_(weight)
    return x, v, w


def flagged(log, tensor):
    log.values(tensor)
    log(tensor.requires_grad)


@behaviour_of_each(PROGRAMS)
def the_parts_of_a_dual_number_require_grad_by_themselves(torch, log, name):
    fw = torch.autograd.forward_ad
    for flags in FLAGS:
        x, v, w = _arguments(torch, *flags)
        with fw.dual_level():
            dual = fw.make_dual(x, v)
            log(dual.requires_grad, dual.is_leaf)
            y = PROGRAMS[name](torch, dual, w)
            log(y.requires_grad, y.is_leaf, y.grad_fn is None)
            for part in fw.unpack_dual(y):
                if part is not None:
                    flagged(log, part)


@behaviour_of_each(PROGRAMS)
def results_of_jvp_require_grad_by_themselves(torch, log, name):
    for flags in FLAGS:
        x, v, w = _arguments(torch, *flags)
        parts = torch.func.jvp(lambda a: PROGRAMS[name](torch, a, w), (x,), (v,))  # noqa: B023
        for part in parts:
            flagged(log, part)
            leaves = [t for t in (x, v, w) if t.requires_grad]
            if part.requires_grad:
                log(*torch.autograd.grad(part.sum(), leaves, retain_graph=True, allow_unused=True,
                                         materialize_grads=True))


NESTS = {
    "jvp of jvp": lambda torch, f, x, v: torch.func.jvp(
        lambda a: torch.func.jvp(f, (a,), (v,))[1], (x,), (v,)),
    "jvp of jvp, by the direction": lambda torch, f, x, v: torch.func.jvp(
        lambda t: torch.func.jvp(f, (x,), (t,))[1], (v,), (x.detach(),)),
    "grad of jvp": lambda torch, f, x, v: torch.func.grad(
        lambda a: torch.func.jvp(f, (a,), (v,))[1].sum())(x),
    "grad of jvp, by the direction": lambda torch, f, x, v: torch.func.grad(
        lambda t: torch.func.jvp(f, (x,), (t,))[1].sum())(v),
    "jvp of grad": lambda torch, f, x, v: torch.func.jvp(
        torch.func.grad(lambda a: f(a).sum()), (x,), (v,)),
    "vmap of jvp": lambda torch, f, x, v: torch.func.vmap(
        lambda t: torch.func.jvp(f, (x,), (t,)))(v.expand(3, 2, 2)),
    "jvp of vmap": lambda torch, f, x, v: torch.func.jvp(
        torch.func.vmap(f), (x.expand(3, 2, 2),), (v.expand(3, 2, 2),)),
    "jacfwd": lambda torch, f, x, v: torch.func.jacfwd(f)(x),
    "jacrev": lambda torch, f, x, v: torch.func.jacrev(f)(x),
    "hessian": lambda torch, f, x, v: torch.func.hessian(lambda a: f(a).sum())(x),
    "vjp of jvp": lambda torch, f, x, v: torch.func.vjp(
        lambda a: torch.func.jvp(f, (a,), (v,)), x)[1](torch.func.jvp(f, (x,), (v,))),
}


# Where a derivative is zero because the program is linear, PyTorch knows it of a tangent that was
# never made; here the zeros are computed, and may require grad.
KNOWN_TO_BE_ZERO = {
    "jvp of jvp": {"weighted", "product", "written"},
    "jvp of jvp, by the direction": {"scaled", "weighted", "product", "written"},
    "grad of jvp": {"weighted", "product", "written"},
    "vjp of jvp": {"view", "moved", "joined"},
}


@behaviour_of_each(NESTS)
def parts_in_nests_require_grad_by_themselves(torch, log, nest):
    programs = {"view", "scaled", "sine", "weighted", "moved", "product", "joined", "written"}
    for name in sorted(programs - KNOWN_TO_BE_ZERO.get(nest, set())):
        for flags in FLAGS[::3]:
            x, v, w = _arguments(torch, *flags)
            found = NESTS[nest](torch, lambda a: PROGRAMS[name](torch, a, w), x, v)  # noqa: B023
            log(name, flags)
            for part in found if isinstance(found, tuple) else (found,):
                flagged(log, part)


OVERSTATED = {
    "special.xlog1py", "logdet", "slogdet", "linalg.slogdet",  # not recorded by PyTorch
    "addmm", "addmv", "addr", "baddbmm", "nn.functional.hinge_embedding_loss",  # made of products
    "scatter_reduce", "frexp", "sgn", "angle",  # whose rules ask for more than theirs
    "var_mean", "std_mean",  # one rule for both results
    "gradient", "adaptive_max_pool1d",
    *(f"nn.functional.adaptive_max_pool{n}d{rest}" for n in (1, 2, 3)
      for rest in ("", "_with_indices")),
}
"""The ops whose tangents require grad here, with their values, and not in PyTorch."""
UNLIKE = {"linalg.lstsq", "fill"}  # residuals have no gradient here; a constant's tangent is none


def parts_that_require_grad(case, values, slopes):
    """Which parts of an op's results require grad, if its arguments' values or slopes do."""
    fw = case.lib.autograd.forward_ad
    with fw.dual_level():
        duals = [fw.make_dual(t.clone().requires_grad_(values),
                              case.lib.ones_like(t).requires_grad_(slopes))
                 if t.is_floating_point() or t.is_complex() else t for t in case.inputs()]
        found = []
        for y in tensors(case.lib, case.run(duals)):
            value, slope = fw.unpack_dual(y)
            found.append((value.requires_grad, slope is not None and slope.requires_grad))
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("values", "slopes"), [(True, False), (False, True)])
def test_the_parts_of_every_result_require_grad_by_themselves(values, slopes):
    unlike, compared = {}, 0
    for name, entry in ENTRIES.items():
        case = next(iter(cases(retrograd, entry, "float64")), None)
        if case is None or name in UNLIKE:
            continue
        try:
            wanted = parts_that_require_grad(replace(case, lib=torch), values, slopes)
        except (RuntimeError, NotImplementedError, TypeError, AttributeError, ValueError):
            continue
        found = parts_that_require_grad(case, values, slopes)
        compared += 1
        if found != wanted and not (name in OVERSTATED and [a for a, _ in found] == [
                a for a, _ in wanted] and all(b or not c for (_, b), (_, c) in zip(
                    found, wanted, strict=True))):
            unlike[name] = (wanted, found)
    assert not unlike
    assert compared > 400


# ---------------------------------------------------------------- the tensors themselves


@behaviour
def a_tangent_comes_back_as_it_was_given(torch, log):
    forward_ad = torch.autograd.forward_ad
    x, v = torch.ones(2), torch.ones(2)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v)
        primal, tangent = forward_ad.unpack_dual(dual)
        log(tangent is v, primal is x,
            dual.untyped_storage().data_ptr() == x.untyped_storage().data_ptr())
        x.add_(1)
        log(dual._version, primal._version, forward_ad.unpack_dual(dual).tangent is v)
        dual.mul_(3)
        log.values(x, v, forward_ad.unpack_dual(dual).tangent)
        log(x._version, forward_ad.unpack_dual(dual).tangent is v)
        log.raises(lambda: forward_ad.make_dual(torch.ones(2), dual))
    log(forward_ad.unpack_dual(dual).tangent)


@behaviour
def a_recorded_write_gives_a_tangent_another_history(torch, log):
    forward_ad = torch.autograd.forward_ad
    x, v = vector(torch, 1.0, 2.0, grad=True), vector(torch, 3.0, 4.0, grad=True)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x * 1, v * 1)
        dual.mul_(x * x)
        tangent = forward_ad.unpack_dual(dual).tangent
        log(torch.autograd.grad(tangent.sum(), (x, v)))


@behaviour
def a_tangent_is_laid_out_as_its_value(torch, log):
    forward_ad = torch.autograd.forward_ad
    x, v = torch.arange(5.0)[:4], torch.arange(4.0)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v)
        tangent = forward_ad.unpack_dual(dual).tangent
        log(tangent is v, tangent)
        tangent *= 2
        log.values(v, *forward_ad.unpack_dual(dual.as_strided((2, 2), (1, 2), 1)))
        dual = forward_ad.make_dual(torch.ones(2, 3).t(), torch.arange(6.0).reshape(3, 2))
        log(forward_ad.unpack_dual(dual).tangent.stride())
        log.values(forward_ad.unpack_dual(dual.as_strided((6,), (1,))).tangent)
        nothing = torch.ones(1).as_strided((0,), (1,), 1), torch.ones(1).as_strided((0,), (1,), 2)
        log(forward_ad.unpack_dual(forward_ad.make_dual(*nothing)).tangent is nothing[1])


@behaviour
def dual_tensors_and_out(torch, log):
    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        dual, plain = forward_ad.make_dual(torch.ones(2), torch.ones(2)), torch.ones(2)
        log.raises(lambda: torch.add(plain, plain, out=dual))
        log.raises(lambda: torch.add(dual, plain, out=plain))


def _function(torch, forward, jvp):
    return type("Given", (torch.autograd.Function,), {
        "forward": staticmethod(forward), "jvp": staticmethod(jvp)})


@behaviour_of_each([(f"{way} {taken}", (way, taken)) for taken in ("", "a view")
                    for way in ("right", "copied", "copied, then viewed")])
def views_that_functions_return_have_views_as_tangents(torch, log, name, kind):
    way, taken = kind

    def jvp(ctx, t):
        slope = t.narrow(0, 0, 2)
        if "copied" in way:
            slope = slope.clone()
        return slope.view_as(slope) if "viewed" in way else slope

    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(3), torch.arange(3.0))
        dual = dual.view_as(dual) if taken else dual
        function = _function(torch, lambda ctx, x: x.narrow(0, 0, 2), jvp)
        log.raises(lambda: log.values(*forward_ad.unpack_dual(function.apply(dual))))


@behaviour
def an_input_returned_as_it_is_has_a_view_as_tangent(torch, log):
    forward_ad = torch.autograd.forward_ad
    v = torch.ones(2)
    with forward_ad.dual_level():
        for x in (torch.ones(2), torch.ones(2, requires_grad=True)):
            dual = forward_ad.make_dual(x, v)
            same = _function(torch, lambda ctx, x: x, lambda ctx, t: t.view_as(t)).apply(dual)
            log(same is dual, forward_ad.unpack_dual(same).tangent._base is v)
            log.raises(_function(torch, lambda ctx, x: x, lambda ctx, t: t).apply, dual)


@behaviour
def tangents_of_inputs_that_functions_write_to(torch, log):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        v = torch.ones(2)
        dual = forward_ad.make_dual(torch.ones(2), v)
        out = _function(torch, forward, lambda ctx, t: t.mul_(2)).apply(dual)
        log(out is dual, forward_ad.unpack_dual(out).tangent is v)
        log.values(v)
        for jvp in (lambda ctx, t: t, lambda ctx, t: t * 2):
            dual = forward_ad.make_dual(torch.ones(2), torch.ones(2))
            log.raises(_function(torch, forward, jvp).apply, dual)


@behaviour
def integers_have_no_tangents(torch, log):
    def jvp(ctx, t, none):
        log(none)
        return t, None

    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(2), torch.ones(2))
        function = _function(torch, lambda ctx, x, n: (x.clone(), n.clone()), jvp)
        first, second = function.apply(dual, torch.tensor(3))
        log.values(forward_ad.unpack_dual(first).tangent)
        log(forward_ad.unpack_dual(second).tangent)


@behaviour_of_each([("sort", lambda torch, x: tuple(x.sort())),
                    ("max", lambda torch, x: tuple(x.max(0))),
                    ("topk", lambda torch, x: tuple(x.topk(2))),
                    ("mode", lambda torch, x: tuple(x.mode(0))),
                    ("cummin", lambda torch, x: tuple(x.cummin(0)))])
def indices_have_no_tangent(torch, log, name, call):
    x, v = torch.tensor([0.3, -1.0, 2.0]), torch.tensor([1.0, 2.0, 3.0])
    with torch.autograd.forward_ad.dual_level():
        values, indices = call(torch, torch.autograd.forward_ad.make_dual(x, v))
        log(torch.autograd.forward_ad.unpack_dual(values).tangent,
            torch.autograd.forward_ad.unpack_dual(indices).tangent)


@inside
def the_memory_of_a_dual_number(torch, log, fw, x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, about typed storages
        log(x[1:].storage_offset(), x[1:].storage().tolist(), len(x.untyped_storage()))
    log(x[1:].data_ptr() - x.data_ptr(), bool(x[0]), bool(x[0] * 0), x.requires_grad)
