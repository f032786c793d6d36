"""Writes in place that are recorded."""

from __future__ import annotations

from typing import Any

from ..declaring import Step, line, taken, tensor


@line("writes: 300 slices of a 100x16 buffer, forward and backward")
def slices(lib: Any) -> Step:
    w = tensor(lib, 0, 16).requires_grad_()

    def step() -> Any:
        buffer = lib.zeros(100, 16)
        for i in range(100):
            buffer[i] = (w * (0.01 * i)).sin()
        for i in range(100):
            buffer[i, 2:5] += w[:3]
        for i in range(99):
            buffer[i:i + 2].mul_(0.9)
        buffer.square().sum().backward()
        return taken(w)

    return step


@line("writes: a heat equation, 2,000 slices of 100 points")
def heat(lib: Any) -> Step:
    start = tensor(lib, 0, 100).requires_grad_()
    rate = lib.tensor(0.2, requires_grad=True)

    def step() -> Any:
        u = start.clone()
        for _ in range(2000):
            u[1:-1] = u[1:-1] + rate * (u[2:] - 2 * u[1:-1] + u[:-2])
        u.square().sum().backward()
        return taken(start, rate)

    return step
