"""Some of the programs as users of JAX, autograd, tinygrad and MyGrad write them."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy

from ..declaring import LINES, Step, numbers, other
from . import kernels, science, small, training, writes  # noqa: F401
from .science import springs
from .training import rosenbrock

CHAIN = "small: 1,000 elementwise ops on 8 elements, forward and backward"
MLP = "train: an MLP by hand, 64-64-64, batch 32, gradients alone"
ARITHMETIC = "kernels: arithmetic on 1024x1024"
ACTIVATIONS = "kernels: GELU, layer norm and softmax on 1024x1024"
ATTENTION = "kernels: attention by einsum, 8 heads, 128 tokens, batch 4"
HEAT = "writes: a heat equation, 2,000 slices of 100 points"
ODE = "science: a neural ODE, 40 steps of RK4, batch 32"
MASSES = "science: 64 masses and 112 springs, 50 steps"
HESSIAN = "higher: Rosenbrock Hessian n=100, functional.hessian"


def repeated(np: Any, count: int, body: Callable[[Any], Any], start: Any) -> Any:
    """``body`` applied ``count`` times: in JAX a loop that is compiled once."""
    if np.__name__.startswith("jax"):
        return importlib.import_module("jax.lax").fori_loop(0, count, lambda _, u: body(u), start)
    for _ in range(count):
        start = body(start)
    return start


def mlp(np: Any) -> Any:
    def loss(w1: Any, b1: Any, w2: Any, x: Any, y: Any) -> Any:
        return np.mean((np.tanh(np.matmul(x, w1) + b1) @ w2 - y) ** 2)

    return loss


def arithmetic(np: Any) -> Any:
    return lambda x, y: np.mean(np.maximum((x * y + x) * 0.5 - y, 0) * x)


def activations(np: Any) -> Any:
    erf = importlib.import_module(np.__name__.replace("numpy", "scipy") + ".special").erf

    def loss(x: Any, target: Any) -> Any:
        y = 0.5 * x * (1 + erf(x / math.sqrt(2)))
        y = y - np.mean(y, -1, keepdims=True)
        y = y / np.sqrt(np.mean(y * y, -1, keepdims=True) + 1e-5)
        y = np.exp(y - np.max(y, -1, keepdims=True))
        return np.sum(y / np.sum(y, -1, keepdims=True) * target)

    return loss


def attention(np: Any) -> Any:
    def loss(q: Any, k: Any, v: Any) -> Any:
        scores = np.einsum("bqhd,bkhd->bhqk", q, k) / 32 ** 0.5
        scores = np.exp(scores - np.max(scores, -1, keepdims=True))
        shares = scores / np.sum(scores, -1, keepdims=True)
        return np.sum(np.einsum("bhqk,bkhd->bqhd", shares, v) ** 2)

    return loss


def heat(np: Any) -> Any:
    def loss(start: Any, rate: Any) -> Any:
        def step(u: Any) -> Any:
            middle = u[1:-1] + rate * (u[2:] - 2 * u[1:-1] + u[:-2])
            return np.concatenate([u[:1], middle, u[-1:]])

        return np.sum(repeated(np, 2000, step, start) ** 2)

    return loss


def ode(np: Any) -> Any:
    def loss(w1: Any, b1: Any, w2: Any, start: Any) -> Any:
        def slope(y: Any) -> Any:
            return np.tanh(y @ w1 + b1) @ w2

        def step(y: Any, h: float = 0.05) -> Any:
            k1 = slope(y)
            k2 = slope(y + h / 2 * k1)
            k3 = slope(y + h / 2 * k2)
            k4 = slope(y + h * k3)
            return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

        return np.mean(repeated(np, 40, step, start) ** 2)

    return loss


def masses(np: Any) -> Any:
    first, second = map(numpy.array, springs())
    # autograd has no writes; its users sum with a matrix.
    ends = numpy.zeros((64, 112))
    ends[second, range(112)], ends[first, range(112)] = 1, -1

    def sums(pull: Any) -> Any:
        if not np.__name__.startswith("jax"):
            return ends @ pull
        return np.zeros((64, 2), pull.dtype).at[second].add(pull).at[first].add(-pull)

    def loss(start: Any, stiffness: Any) -> Any:
        def step(state: Any) -> Any:
            x, v = state
            along = x[first] - x[second]
            length = np.sqrt(np.sum(along ** 2, 1, keepdims=True) + 1e-6)
            v = 0.99 * v + 0.05 * sums(stiffness * (length - 1) * along / length)
            return x + 0.05 * v, v

        return np.sum(repeated(np, 50, step, (start, 0 * start))[0] ** 2)

    return loss


def weights(scale: float, *shapes: tuple[int, ...]) -> list[Any]:
    return [scale * numbers(seed, *shape) for seed, shape in enumerate(shapes)]


# By line: the program, its inputs, and how many of them its gradient is asked for.
PROGRAMS: dict[str, tuple[Callable[[Any], Any], list[Any], int]] = {
    CHAIN: (lambda np: lambda x, c: small.chain(x, c, np.sin, np.tanh), [small.X, small.C], 1),
    MLP: (mlp, [*weights(0.1, (64, 64), (64,), (64, 64)), numbers(3, 32, 64), numbers(4, 32, 64)],
          3),
    ARITHMETIC: (arithmetic, [numbers(0, 1024, 1024), numbers(1, 1024, 1024)], 1),
    ACTIVATIONS: (activations, [numbers(0, 1024, 1024), numbers(1, 1024, 1024)], 1),
    ATTENTION: (attention, [numbers(seed, 4, 128, 8, 32) for seed in range(3)], 3),
    HEAT: (heat, [numbers(0, 100), 0.2], 2),
    ODE: (ode, [*weights(0.3, (2, 32), (32,), (32, 2)), numbers(3, 32, 2)], 3),
    MASSES: (masses, [numbers(0, 64, 2), 0.5], 2)}


def in_jax(name: str) -> None:
    program, inputs, count = PROGRAMS[name]

    @other("jax", name)
    def make(dtype: str) -> Step:
        import jax

        jax.config.update("jax_enable_x64", dtype == "float64")
        arrays = [jax.numpy.asarray(value, dtype) for value in inputs]
        slope = jax.jit(jax.grad(program(jax.numpy), tuple(range(count))))
        return lambda: jax.block_until_ready(slope(*arrays))


def in_autograd(name: str) -> None:
    program, inputs, count = PROGRAMS[name]

    @other("autograd", name)
    def make(dtype: str) -> Step:
        import autograd

        arrays = [numpy.asarray(value, dtype) for value in inputs]
        np = importlib.import_module("autograd.numpy")
        slope = autograd.grad(program(np), tuple(range(count)))
        return lambda: slope(*arrays)


def in_mygrad(name: str) -> None:
    program, inputs, count = PROGRAMS[name]

    @other("mygrad", name)
    def make(dtype: str) -> Step:
        import mygrad

        leaves = [mygrad.tensor(numpy.asarray(value, dtype)) for value in inputs[:count]]
        rest = [numpy.asarray(value, dtype) for value in inputs[count:]]
        loss = program(mygrad)

        def step() -> Any:
            loss(*leaves, *rest).backward()
            return [leaf.grad for leaf in leaves]

        return step


class _Tinygrad:
    """The functions that the programs name, on tinygrad's tensors."""

    __name__ = "tinygrad"
    sin = staticmethod(lambda x: x.sin())
    tanh = staticmethod(lambda x: x.tanh())
    exp = staticmethod(lambda x: x.exp())
    mean = staticmethod(lambda x: x.mean())
    sum = staticmethod(lambda x, axis=None, keepdims=False: x.sum(axis, keepdim=keepdims))
    max = staticmethod(lambda x, axis, keepdims: x.max(axis, keepdim=keepdims))
    maximum = staticmethod(lambda x, other: x.maximum(other))
    matmul = staticmethod(lambda x, y: x @ y)

    @staticmethod
    def einsum(formula: str, *operands: Any) -> Any:
        import tinygrad

        return tinygrad.Tensor.einsum(formula, *operands)


def in_tinygrad(name: str) -> None:
    program, inputs, count = PROGRAMS[name]

    @other("tinygrad", name)
    def make(dtype: str) -> Step:
        import tinygrad

        tensors = [tinygrad.Tensor(numpy.asarray(value, dtype), dtype=dtype).realize()
                   for value in inputs]
        loss = program(_Tinygrad)

        @tinygrad.TinyJit
        def slope(*tensors: Any) -> Any:
            return [g.realize() for g in loss(*tensors).gradient(*tensors[:count])]

        return lambda: [g.numpy() for g in slope(*tensors)]


for _name in PROGRAMS:
    in_jax(_name)
    in_autograd(_name)
for _name in (CHAIN, MLP, ARITHMETIC):
    in_mygrad(_name)
for _name in (MLP, ARITHMETIC, ATTENTION):  # the chain takes minutes to compile
    in_tinygrad(_name)


@other("jax", HESSIAN)
def hessian_in_jax(dtype: str) -> Step:
    import jax

    jax.config.update("jax_enable_x64", True)
    x = jax.numpy.linspace(-1, 1, 100, dtype="float64")
    second = jax.jit(jax.hessian(rosenbrock))
    return lambda: jax.block_until_ready(second(x))


@other("autograd", HESSIAN)
def hessian_in_autograd(dtype: str) -> Step:
    import autograd

    np = importlib.import_module("autograd.numpy")
    second = autograd.hessian(
        lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2))
    return lambda: second(numpy.linspace(-1, 1, 100))


assert set(PROGRAMS) <= set(LINES)
