"""Writes to views of bases in every layout, with gradients that arrive in every other.

The gradient of what a write left alone, of what it overwrote and of what it wrote must be right
wherever in memory the gradient of the base lies.
"""

from __future__ import annotations

import itertools

from parity.harness import behaviour_of_each

SHAPE = (3, 4, 5)
LAYOUTS = {
    "in rows": lambda torch, x: x.contiguous(),
    "transposed": lambda torch, x: x.transpose(0, 2).contiguous().transpose(0, 2),
    "swapped inside": lambda torch, x: x.transpose(1, 2).contiguous().transpose(1, 2),
    "apart": lambda torch, x: torch.stack([x, x], -1)[..., 1],
    "within more": lambda torch, x: torch.cat([x, x, x], 1)[:, 4:8],
}
GRADIENTS = LAYOUTS | {
    "repeated": lambda torch, g: g[:1].expand(SHAPE),
    "one number": lambda torch, g: g[0, 0, 0].expand(SHAPE),
    "repeated inside": lambda torch, g: g[:, :, :1].expand(SHAPE),
}
VIEWS = {
    "row": lambda x: x[1], "column": lambda x: x[:, 2], "last": lambda x: x[..., -1],
    "some": lambda x: x[1:, ::2], "every second": lambda x: x[..., 1::2],
    "turned": lambda x: x.transpose(0, 1), "part of turned": lambda x: x.permute(2, 0, 1)[1:3, 1],
    "diagonal": lambda x: x.diagonal(0, 0, 1), "window": lambda x: x.unfold(1, 2, 2)[:, 1],
    "more": lambda x: x.unsqueeze(1)[:2], "all": lambda x: x[:], "one": lambda x: x[1, 2, 3],
    "view of a view": lambda x: x[1:][..., 1:][:, 2],
}
WRITES = {
    "mul": lambda v, w: v.mul_(w), "copy": lambda v, w: v.copy_(w.expand_as(v)),
    "fill": lambda v, w: v.fill_(2.0), "add": lambda v, w: v.add_(w, alpha=3),
    "sin": lambda v, w: v.sin_(),
}


def base_of(torch, layout):
    x = (torch.arange(60.0, dtype=torch.float64).reshape(SHAPE) / 60).requires_grad_()
    return x, LAYOUTS[layout](torch, x * 2).clone(memory_format=torch.preserve_format)


@behaviour_of_each([(f"{layout}, {view}", layout, view) for layout in LAYOUTS for view in VIEWS])
def a_write_to_a_view(torch, log, _, layout, view):
    for name, write in WRITES.items():
        for arriving, laid in GRADIENTS.items():
            x, base = base_of(torch, layout)
            w = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
            write(VIEWS[view](base), w)
            gradient = torch.cos(torch.arange(60.0, dtype=torch.float64)).reshape(SHAPE)
            base.backward(laid(torch, gradient))
            log(name, arriving, w.grad is None)
            log.values(x.grad, *[] if w.grad is None else [w.grad])


@behaviour_of_each([f"{one}, {other}" for one, other in itertools.combinations(VIEWS, 2)])
def two_writes_to_views(torch, log, names):
    """The second one through a view that was taken before the first was written to."""
    one, other = names.split(", ")
    for layout in ("in rows", "transposed"):
        x, base = base_of(torch, layout)
        w = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
        first, second = VIEWS[one](base), VIEWS[other](base)
        first.mul_(w)
        second.add_(w)
        (first * 2).sum().backward(retain_graph=True)
        log.values(x.grad, w.grad)
        second.square().sum().backward(retain_graph=True)
        log.values(x.grad, w.grad)
        (grown,) = torch.autograd.grad(base.pow(3).sum(), x, create_graph=True)
        grown.sum().backward()
        log.values(grown, x.grad, w.grad)


def a_plain_tensor(torch, w):
    return torch.full((2,), 3.0, dtype=torch.float64)


def a_base_that_was_given_a_history(torch, w):
    whole = torch.full((4,), 3.0, dtype=torch.float64)
    part = whole[1:3]
    whole.mul_(w)
    return part


def a_part_that_was_given_one(torch, w):
    whole = torch.full((4,), 3.0, dtype=torch.float64)
    part = whole[1:3]
    whole[:3].mul_(w)
    return part


def a_part_taken_without_recording(torch, w):
    whole = torch.full((4,), 3.0, dtype=torch.float64) * w
    with torch.no_grad():
        return whole[1:3]


KINDS = {
    "plain": a_plain_tensor,
    "a plain part": lambda torch, w: torch.full((4,), 3.0, dtype=torch.float64)[1:3],
    "a result": lambda torch, w: a_plain_tensor(torch, w) * w,
    "a part of a result": lambda torch, w: (torch.full((4,), 3.0, dtype=torch.float64) * w)[1:3],
    "an older part": a_base_that_was_given_a_history,
    "a sibling": a_part_that_was_given_one,
    "detached": lambda torch, w: (a_plain_tensor(torch, w) * w).detach(),
    "a part of what is detached": lambda torch, w: (
        torch.full((4,), 3.0, dtype=torch.float64) * w).detach()[1:3],
    "unrecorded": a_part_taken_without_recording,
    "a leaf": lambda torch, w: torch.full((2,), 3.0, dtype=torch.float64, requires_grad=True),
    "a part of a leaf": lambda torch, w: torch.full((4,), 3.0, dtype=torch.float64,
                                                    requires_grad=True)[1:3],
}
"""Tensors that have a history, have none, or get it from the memory that they look at."""
OF_TWO = {
    "add": lambda a, b: a.add_(b), "sub": lambda a, b: a.sub_(b, alpha=2),
    "mul": lambda a, b: a.mul_(b), "div": lambda a, b: a.div_(b),
    "copy": lambda a, b: a.copy_(b), "operator": lambda a, b: a.__iadd__(b),
    "lerp": lambda a, b: a.lerp_(b, 0.25), "atan2": lambda a, b: a.atan2_(b),
    "itself": lambda a, b: (b * 1, a.mul_(a))[1], "number": lambda a, b: (b * 1, a.mul_(2))[1],
    "function": lambda a, b: (b * 1, a.tanh_())[1],
}


@behaviour_of_each([(f"{target} by {other}", target, other) for target in KINDS for other in KINDS])
def a_write_of_one_kind_by_another(torch, log, _, target, other):
    for name, write in OF_TWO.items():
        for grad in (True, False):
            w = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
            a, b = KINDS[target](torch, w), KINDS[other](torch, w)
            log(name, grad)
            if target in ("an older part", "a sibling"):
                assert a.grad_fn is not None  # PyTorch refuses writes to it before that
            try:
                with torch.set_grad_enabled(grad):
                    write(a, b)
                log(a._version, b._version)
                log(a.requires_grad, a.grad_fn is None, b.requires_grad)
                log.values(a.detach(), b.detach())
                total = (a * 2 + b.sin()).sum()
                log(total.requires_grad)
                if total.requires_grad:
                    total.backward()
                    log.values(*[] if w.grad is None else [w.grad])
            except RuntimeError as error:
                log(type(error).__name__, str(error).split(". ")[0].split(":")[0])


def scaled(torch, part):
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x

    return Scaled.apply(part)


def put(torch, part, at):
    whole = torch.zeros(3, 2, dtype=torch.float64)
    whole[at] = part
    return whole


def written_to(torch, part):
    """A program that writes to a buffer, whose part is its result."""
    def program(x):
        whole = torch.zeros(2, 2, dtype=torch.float64)
        row = whole[0]
        whole.copy_(x * part)
        return row
    return program


def double(torch, *shape):
    return torch.ones(*shape, dtype=torch.float64)


USES = {
    "requires grad": lambda torch, part: part.requires_grad,
    "is a leaf, asked for its node": lambda torch, part: (part.grad_fn is None, part.is_leaf),
    "backward": lambda torch, part: part.sum().backward(),
    "its own backward": lambda torch, part: part.backward(double(torch, 2)),
    "autograd.backward": lambda torch, part: torch.autograd.backward([part], [double(torch, 2)]),
    "Function": scaled,
    "out": lambda torch, part: torch.add(part, 1, out=torch.zeros(2, dtype=torch.float64)),
    "out of several": lambda torch, part: torch.cat(
        [double(torch, 2), part], out=torch.zeros(4, dtype=torch.float64)),
    "is the output": lambda torch, part: torch.add(double(torch, 2), 1, out=part),
    "row": lambda torch, part: put(torch, part, 1),
    "column": lambda torch, part: put(torch, part[:, None], (slice(2), slice(1))),
    "chosen rows": lambda torch, part: put(torch, part, torch.tensor([0, 2])),
    "where": lambda torch, part: put(torch, part[0], torch.tensor([True, False, True])),
    "index_put": lambda torch, part: double(torch, 2).index_put_((torch.tensor([0, 0]),), part),
    "fill": lambda torch, part: double(torch, 2).fill_(part[0]),
    "masked_fill": lambda torch, part: double(torch, 2).masked_fill_(
        torch.tensor([True, False]), part[1]),
    "copy of another dtype": lambda torch, part: torch.ones(2).copy_(part),
    "copy of another shape": lambda torch, part: double(torch, 3, 2).copy_(part),
    "set data": lambda torch, part: setattr(part, "data", double(torch, 2)),
    "numpy": lambda torch, part: part.numpy(),
    "detach": lambda torch, part: part.detach().requires_grad,
    "detach_": lambda torch, part: part.detach_(),
    "a part of it": lambda torch, part: part[1:],
    "parts": lambda torch, part: part.unbind(0)[1],
    "a part, unrecorded": lambda torch, part: torch.no_grad()(lambda: part[1:])(),
    "a view of it": lambda torch, part: part.view(2, 1),
    "stacked": lambda torch, part: torch.stack([part, part * 2]),
    "parameter": lambda torch, part: torch.nn.Parameter(part).requires_grad,
    "copy.deepcopy": lambda torch, part: __import__("copy").deepcopy(part),
    "checkpoint": lambda torch, part: torch.utils.checkpoint.checkpoint(
        lambda x: x.sin(), part, use_reentrant=False),
    "reentrant checkpoint": lambda torch, part: torch.utils.checkpoint.checkpoint(
        lambda x: x.sin(), part, use_reentrant=True),
    "func.grad": lambda torch, part: torch.func.grad(
        lambda x: (x * part).sum())(double(torch, 2)),
    "func.vjp": lambda torch, part: torch.func.vjp(
        written_to(torch, part), double(torch, 2))[1](double(torch, 2))[0],
    "func.grad of a part": lambda torch, part: torch.func.grad(
        lambda x: written_to(torch, part)(x)[0])(double(torch, 2)),
    "func.grad and a part": lambda torch, part: torch.func.grad(
        lambda x: (x.sum(), written_to(torch, part)(x)), has_aux=True)(double(torch, 2))[1],
    "func.jacrev": lambda torch, part: torch.func.jacrev(
        written_to(torch, part))(double(torch, 2)),
    "functional.jacobian": lambda torch, part: torch.autograd.functional.jacobian(
        written_to(torch, part), double(torch, 2)),
    "functional.vjp": lambda torch, part: torch.autograd.functional.vjp(
        written_to(torch, part), double(torch, 2), double(torch, 2))[1],
    "seed": lambda torch, part: torch.autograd.grad(
        (y := double(torch, 2).requires_grad_()).sin(), y, part, create_graph=True)[0],
    "vjp's seed": lambda torch, part: torch.func.vjp(torch.sin, double(torch, 2))[1](part)[0],
    "saved": lambda torch, part: part.exp() * part,
}


@behaviour_of_each([f"{use}: {kind}" for use in USES
                    for kind in ("an older part", "a sibling", "a part of a result")])
def a_use_of_a_part_that_was_given_a_history(torch, log, case):
    """Nobody has asked for its history since the whole was written to."""
    use, kind = case.rsplit(": ", 1)
    w = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    part = KINDS[kind](torch, w)
    try:
        found = USES[use](torch, part)
        if isinstance(found, torch.Tensor):
            log.values(found.detach())
            log(found.requires_grad)
            if found.requires_grad:
                (found * found).sum().backward()
        else:
            log(found)
    except RuntimeError as error:
        log(str(error).split(". ")[0].split(": ")[-1])
    log(w.grad is None)
    log.values(*[] if w.grad is None else [w.grad])
