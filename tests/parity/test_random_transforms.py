"""Random functions inside random nests of transforms, and gradients that enter these from outside.

The function looks at its argument and at tensors of the program around it, so that every transform
meets data that it does not map or push forward, and a gradient has to leave it again.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import retrograd

PROGRAMS = int(os.environ.get("PARITY_EXAMPLES", "400"))
PARTS = 16
KNOWN = {18: "the second derivative of a norm that is zero, which is not a number in PyTorch",
         138: "a custom function's own jvp is not differentiated again by PyTorch",
         288: "a custom function's own jvp is not differentiated again by PyTorch"}


def fitted(v: Any, u: Any) -> Any:
    """Something of ``u`` that goes with ``v``."""
    return u if u.shape == v.shape else u.sum()


def flat(v: Any) -> Any:
    return v.reshape(-1)


def put(torch: Any, v: Any, u: Any) -> Any:
    v = flat(v).clone()
    v[0] = u.sum()
    return v


def written(torch: Any, v: Any, u: Any) -> Any:
    v = v * 1
    v.mul_(fitted(v, u)).add_(0.5)
    return v


def filled(torch: Any, v: Any, u: Any) -> Any:
    found = torch.stack([u.sum(), v.sum()])
    return found.index_fill(0, torch.tensor([0]), 0.25)


def cubed(torch: Any, v: Any, u: Any) -> Any:
    class Cube(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(a: Any, b: Any) -> Any:
            return a * a * a * b, a * b

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            a, b = ctx.saved_tensors
            return g * 3 * a * a * b + h * b, g * a * a * a + h * a

        @staticmethod
        def jvp(ctx: Any, s: Any, t: Any) -> Any:
            a, b = ctx.saved_tensors
            return 3 * a * a * b * s + a * a * a * t, s * b + a * t

    one, other = Cube.apply(v, fitted(v, u) * torch.ones_like(v))
    return one + other * other


STEPS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sin": lambda torch, v, u: v.sin(),
    "tanh": lambda torch, v, u: (v * 0.5).tanh(),
    "square": lambda torch, v, u: v * v,
    "number": lambda torch, v, u: 2 - 1.5 * v,
    "mul": lambda torch, v, u: v * fitted(v, u),
    "sub": lambda torch, v, u: fitted(v, u) - v,
    "div": lambda torch, v, u: v / (2 + fitted(v, u) ** 2),
    "add": lambda torch, v, u: torch.add(v, fitted(v, u), alpha=3),
    "addcmul": lambda torch, v, u: torch.addcmul(v, v, fitted(v, u), value=0.5),
    "lerp": lambda torch, v, u: torch.lerp(v, v.cos(), fitted(v, u)),
    "where": lambda torch, v, u: torch.where(v > 0.2, v, fitted(v, u)),
    "maximum": lambda torch, v, u: torch.maximum(v, u.sum() * torch.ones_like(v)),
    "clamp": lambda torch, v, u: v.clamp(min=u.sum() * 0.1),
    "sum": lambda torch, v, u: v.sum(),
    "mean": lambda torch, v, u: v.mean(-1, keepdim=True) if v.dim() else v,
    "max": lambda torch, v, u: v.max(-1).values if v.dim() else v,
    "sort": lambda torch, v, u: flat(v).sort(descending=True)[0],
    "gather": lambda torch, v, u: flat(v).gather(0, flat(u).argsort() * 0),
    "softmax": lambda torch, v, u: v.softmax(-1) if v.dim() else v,
    "norm": lambda torch, v, u: v.norm() * u,
    "cumsum": lambda torch, v, u: flat(v).cumsum(0),
    "prod": lambda torch, v, u: flat(v)[:3].prod() + u,
    "cat": lambda torch, v, u: torch.cat([flat(v), flat(u)])[:4],
    "stack": lambda torch, v, u: torch.stack([v.sum(), u.sum(), v.sin().sum()]),
    "unbind": lambda torch, v, u: v.unbind(0)[-1] * u.sum() if v.dim() else v,
    "split": lambda torch, v, u: flat(v).tensor_split(2)[0].exp() * 0.3,
    "flip": lambda torch, v, u: flat(v).flip(0),
    "slice": lambda torch, v, u: v[..., 1:] if v.dim() and v.shape[-1] > 1 else v,
    "unsqueeze": lambda torch, v, u: v.unsqueeze(-1),
    "transpose": lambda torch, v, u: v.transpose(0, -1) if v.dim() else v,
    "expand": lambda torch, v, u: v.sum().expand(2),
    "outer": lambda torch, v, u: torch.outer(flat(v)[:3], flat(u)[:2]),
    "matmul": lambda torch, v, u: torch.outer(flat(v)[:2], flat(u)[:2]) @ flat(v)[:1].expand(
        flat(u)[:2].shape[0]),
    "einsum": lambda torch, v, u: torch.einsum("i,j->j", flat(v), flat(u)[:3]),
    "detach": lambda torch, v, u: v * v.detach() + fitted(v, u),
    "clone": lambda torch, v, u: v.clone(),
    "new": lambda torch, v, u: torch.zeros(2, dtype=v.dtype) + v.sum(),
    "put": put,
    "write": written,
    "fill": filled,
    "custom": cubed,
    "single": lambda torch, v, u: v.float().to(torch.float64) * 0.5,
    "several": lambda torch, v, u: sum(torch.aminmax(flat(v))) * u,
}
NESTS: dict[str, Callable[..., Any]] = {
    "vmap": lambda torch, h, x, w: torch.vmap(h)(torch.stack([x, x * 2, w * x])),
    "vmap dims": lambda torch, h, x, w: torch.vmap(h, 1, -1)(torch.outer(x, w[:2])),
    "vmap of two": lambda torch, h, x, w: torch.vmap(lambda a, b: h(a * b.sum()), (None, 0))(
        x, torch.stack([w, x])),
    "vmap of another": lambda torch, h, x, w: torch.vmap(lambda c: h(x) * c)(w[:2]),
    "vmap in parts": lambda torch, h, x, w: torch.vmap(h, chunk_size=2)(
        torch.stack([x, x * 2, w * x])),
    "jvp": lambda torch, h, x, w: torch.func.jvp(h, (x,), (w * x,))[1],
    "jvp of ones": lambda torch, h, x, w: sum(torch.func.jvp(h, (x * 2,), (torch.ones_like(x),))),
    "jvp of another": lambda torch, h, x, w: torch.func.jvp(lambda c: h(x * c), (w,), (x,))[1],
    "grad": lambda torch, h, x, w: torch.func.grad(lambda a: h(a).sin().sum())(x),
    "grad and value": lambda torch, h, x, w: sum(torch.func.grad_and_value(
        lambda a, b: (h(a) * b.sum()).sum(), 1)(x, w)),
    "vjp": lambda torch, h, x, w: pulled(torch, h, x),
    "jacfwd": lambda torch, h, x, w: torch.func.jacfwd(h)(x),
    "jacrev": lambda torch, h, x, w: torch.func.jacrev(h)(x * w),
    "jacrev in parts": lambda torch, h, x, w: torch.func.jacrev(h, chunk_size=2)(x),
    "backward": lambda torch, h, x, w: torch.autograd.grad(
        (h(x) * w.sum()).sin().sum(), w, create_graph=True)[0],
}


def pulled(torch: Any, h: Any, x: Any) -> Any:
    y, pull = torch.func.vjp(h, x)
    return pull(y.sin())[0]


def outcome(torch: Any, seed: int) -> tuple[list[np.ndarray], str]:
    """The value of a nest, its gradients and theirs; and what it was."""
    draw, numbers = random.Random(seed), np.random.RandomState(seed)
    x, w, constant = (torch.tensor(numbers.randn(3), requires_grad=grad)
                      for grad in (True, True, False))
    steps = draw.choices(list(STEPS), k=draw.randint(2, 6))
    others = draw.choices(range(4), k=len(steps))
    names = draw.choices(list(NESTS), k=draw.choice([1, 2, 2, 3]))

    def program(v: Any) -> Any:
        start = v
        for step, other in zip(steps, others, strict=True):
            v = STEPS[step](torch, v, (start, w, constant, v)[other])
        return v

    for name in names:
        program = lambda v, h=program, name=name: NESTS[name](torch, h, v, w)
    y = program(x)
    # Whether what is zero everywhere requires grad is no question here.
    total = y.sin().sum() + 0 * (x.sum() * w.sum())
    first = torch.autograd.grad(total, (x, w), create_graph=True)
    second = torch.autograd.grad(sum((g * g).sum() for g in first), (x, w))
    return [t.detach().numpy() for t in (y, *first, *second)], f"{names} of {steps} with {others}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(PARTS))
def test_nests_of_transforms_do_the_same(part: int) -> None:
    compared = 0
    for seed in set(range(part, PROGRAMS, PARTS)) - KNOWN.keys():
        try:
            wanted, what = outcome(torch, seed)
        except (RuntimeError, NotImplementedError, ValueError):
            continue  # there is more here that can be nested
        compared += 1
        for ours, theirs in zip(outcome(retrograd, seed)[0], wanted, strict=True):
            np.testing.assert_allclose(ours, theirs, 1e-7, 1e-9, err_msg=f"seed {seed}: {what}")
    assert compared > PROGRAMS // PARTS // 2
