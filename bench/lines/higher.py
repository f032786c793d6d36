"""Derivatives of derivatives."""

from __future__ import annotations

from typing import Any

from ..declaring import Step, line, taken
from .training import rosenbrock


def two_layers(lib: Any, n: int, hidden: int, out: int) -> tuple[Any, ...]:
    lib.manual_seed(0)
    return (lib.randn(n, hidden) * 0.3, lib.randn(hidden) * 0.1, lib.randn(hidden, out) * 0.3)


@line("higher: Rosenbrock Hessian n=100, functional.hessian", goal=0.7)
def hessian(lib: Any) -> Step:
    x = lib.linspace(-1, 1, 100, dtype=lib.float64)
    return lambda: lib.autograd.functional.hessian(rosenbrock, x)


@line("higher: Hessian-vector product of a small MLP", goal=0.7)
def hvp(lib: Any) -> Step:
    w1, b1, w2 = two_layers(lib, 16, 32, 1)
    x = lib.randn(64, 16)
    v = lib.ones_like(w1)

    def loss(w: Any) -> Any:
        return ((lib.tanh(x @ w + b1) @ w2) ** 2).mean()

    return lambda: lib.autograd.functional.hvp(loss, w1, v)


@line("higher: Jacobian of a 50-50 MLP, functional.jacobian", goal=0.7)
def jacobian(lib: Any) -> Step:
    w1, b1, w2 = two_layers(lib, 50, 50, 50)
    x = lib.randn(50)
    return lambda: lib.autograd.functional.jacobian(lambda z: lib.tanh(z @ w1 + b1) @ w2, x)


@line("higher: a MAML step (one inner step, second order)", goal=0.7)
def maml(lib: Any) -> Step:
    w1, b1, w2 = (t.requires_grad_() for t in two_layers(lib, 8, 16, 1))
    x, y = lib.randn(16, 8), lib.randn(16, 1)

    def net(ws: Any, inputs: Any) -> Any:
        return lib.tanh(inputs @ ws[0] + ws[1]) @ ws[2]

    def step() -> Any:
        ws = [w1, b1, w2]
        inner = ((net(ws, x) - y) ** 2).mean()
        grads = lib.autograd.grad(inner, ws, create_graph=True)
        fast = [w - 0.1 * g for w, g in zip(ws, grads, strict=True)]
        ((net(fast, x) - y) ** 2).mean().backward()
        return taken(*ws)

    return step


@line("higher: a gradient-penalty step", goal=0.7)
def gradient_penalty(lib: Any) -> Step:
    w1, b1, w2 = (t.requires_grad_() for t in two_layers(lib, 8, 32, 1))
    x = lib.randn(32, 8).requires_grad_()

    def step() -> Any:
        out = lib.tanh(x @ w1 + b1) @ w2
        (g,) = lib.autograd.grad(out.sum(), x, create_graph=True)
        penalty = ((g.norm(2, dim=1) - 1) ** 2).mean()
        penalty.backward()
        return taken(w1, b1, w2)

    return step
