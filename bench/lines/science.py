"""Simulations and models of science: loops of small and middling arrays, and factorisations."""

from __future__ import annotations

from typing import Any

from ..declaring import Step, line, numbers, taken, tensor


def springs(side: int = 8) -> tuple[list[int], list[int]]:
    """The ends of the springs of a square net."""
    across = [(side * r + c, side * r + c + 1) for r in range(side) for c in range(side - 1)]
    down = [(side * r + c, side * r + c + side) for r in range(side - 1) for c in range(side)]
    first, second = zip(*across, *down, strict=True)
    return list(first), list(second)


@line("science: 64 masses and 112 springs, 50 steps")
def masses(lib: Any) -> Step:
    first, second = (lib.tensor(end) for end in springs())
    start = tensor(lib, 0, 64, 2).requires_grad_()
    stiffness = lib.tensor(0.5, requires_grad=True)

    def step() -> Any:
        x, v = start, lib.zeros(64, 2)
        for _ in range(50):
            along = x[first] - x[second]
            length = (along.square().sum(1, keepdim=True) + 1e-6).sqrt()
            pull = stiffness * (length - 1) * along / length
            force = lib.zeros(64, 2)
            force.index_put_((first,), -pull, accumulate=True)
            force.index_put_((second,), pull, accumulate=True)
            v = 0.99 * v + 0.05 * force
            x = x + 0.05 * v
        x.square().sum().backward()
        return taken(start, stiffness)

    return step


@line("science: a neural ODE, 40 steps of RK4, batch 32")
def ode(lib: Any) -> Step:
    w1, b1, w2 = (tensor(lib, seed, *shape).mul(0.3).requires_grad_()
                  for seed, shape in enumerate([(2, 32), (32,), (32, 2)]))
    start = tensor(lib, 3, 32, 2)

    def slope(y: Any) -> Any:
        return lib.tanh(y @ w1 + b1) @ w2

    def step() -> Any:
        y, h = start, 0.05
        for _ in range(40):
            k1 = slope(y)
            k2 = slope(y + h / 2 * k1)
            k3 = slope(y + h / 2 * k2)
            k4 = slope(y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        y.square().mean().backward()
        return taken(w1, b1, w2)

    return step


def likelihood(lib: Any) -> tuple[Any, Any]:
    """The negative logarithmic likelihood of a Gaussian process, and its parameters."""
    x = lib.tensor(numbers(0, 500), dtype=lib.float64)
    y = lib.sin(3 * x) + 0.1 * lib.tensor(numbers(1, 500), dtype=lib.float64)
    square = (x[:, None] - x[None, :]) ** 2
    unit = lib.eye(500, dtype=lib.float64)

    def loss(logs: Any) -> Any:
        scale, width, noise = logs.exp().unbind()
        covariance = scale * lib.exp(-0.5 * square / width**2) + noise * unit
        factor = lib.linalg.cholesky(covariance)
        found = lib.cholesky_solve(y[:, None], factor)
        return 0.5 * y @ found[:, 0] + factor.diagonal().log().sum()

    return loss, lib.tensor([0.0, -0.5, -2.0], dtype=lib.float64)


@line("science: a Gaussian process of 500 points, gradient")
def process(lib: Any) -> Step:
    loss, logs = likelihood(lib)
    logs.requires_grad_()

    def step() -> Any:
        loss(logs).backward()
        return taken(logs)

    return step


@line("science: a Gaussian process of 500 points, Hessian")
def process_hessian(lib: Any) -> Step:
    loss, logs = likelihood(lib)
    return lambda: lib.autograd.functional.hessian(loss, logs)
