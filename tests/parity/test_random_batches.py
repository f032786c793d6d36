"""Random programs of views and writes inside vmap, run under both libraries.

What is written inside is memory and history outside, so the tensor that is mapped over is looked
at afterwards too, with all gradients.
"""

from __future__ import annotations

import os
import random
from typing import Any

import numpy as np
import pytest
import torch

import retrograd

PROGRAMS = int(os.environ.get("PARITY_EXAMPLES", "400")) // 4


def put_first(torch: Any, v: Any, u: Any) -> Any:
    if v.dim():
        v[0] = u.sum()
    return v


STEPS = {
    "transpose": lambda torch, v, u: v.transpose(0, -1),
    "slice": lambda torch, v, u: v[1:] if v.dim() and v.shape[0] > 1 else v,
    "unsqueeze": lambda torch, v, u: v.unsqueeze(0),
    "scale": lambda torch, v, u: v * u.sum(),
    "clone": lambda torch, v, u: v.clone(),
    "mul_": lambda torch, v, u: v.mul_(1.5),
    "add_": lambda torch, v, u: v.add_(u.sum()),
    "copy_": lambda torch, v, u: v.copy_(v.sin()),
    "put": put_first,
    "vmap": lambda torch, v, u: torch.vmap(lambda row: row.mul_(3))(v) if v.dim() else v,
}


def outcome(torch: Any, seed: int) -> list[Any]:
    """The values, flags, version and gradients that a program leaves behind."""
    draw, numbers = random.Random(seed), np.random.RandomState(seed)

    def tensor(*shape: int, requires_grad: bool) -> Any:
        return torch.tensor(numbers.randn(*shape), requires_grad=requires_grad)

    a = tensor(2, 3, 2, requires_grad=True)
    base = a * 2
    before = base * base
    x = draw.choice([base, base.transpose(0, 1), base[:, :2], base.view(2, 3, 2)])
    dim = draw.randrange(3)
    u = tensor(x.shape[dim], 2, requires_grad=draw.random() < 0.6)
    steps = draw.choices(list(STEPS), k=draw.randint(1, 4))

    def program(v: Any, u: Any) -> Any:
        first = v * 1
        for step in steps:
            v = STEPS[step](torch, v, u)
        return v, first

    outs = torch.vmap(program, (dim, 0), draw.choice([0, 1]))(x, u)
    if draw.random() < 0.4:
        outs[0].mul_(0.5)
    if draw.random() < 0.3:
        base.add_(1)
    total = sum((out * out).sum() for out in outs) + (base * 3).sum()
    if draw.random() < 0.2:
        total = total + before.sum()
    leaves = [leaf for leaf in (a, u) if leaf.requires_grad]
    gradients = torch.autograd.grad(total, leaves, allow_unused=True, materialize_grads=True)
    return [*[t.detach().numpy() for t in (*outs, base)], np.array(base._version),
            np.array([out.requires_grad for out in outs]), *[g.numpy() for g in gradients]]


@pytest.mark.parametrize("part", range(4))
def test_what_is_written_inside_vmap_is_as_in_pytorch(part: int) -> None:
    compared = 0
    for seed in range(part, PROGRAMS, 4):
        try:
            wanted = outcome(torch, seed)
        except RuntimeError:
            with pytest.raises(RuntimeError):
                outcome(retrograd, seed)
            continue
        compared += 1
        for ours, theirs in zip(outcome(retrograd, seed), wanted, strict=True):
            np.testing.assert_allclose(ours, theirs, err_msg=f"seed {seed}")
    assert compared > PROGRAMS // 16
