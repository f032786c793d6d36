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
