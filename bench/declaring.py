"""How a line of the suite is declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Step = Callable[[], Any]
"""What is timed. It returns numbers, tensors or lists of them, which are compared beforehand."""


class Line(NamedTuple):
    """One program: ``make(lib)`` makes what it needs once, and returns the step that is timed."""

    name: str
    make: Callable[[Any], Step]
    goal: float = 1.0
    batches: int = 0
    exact: float = 1e-7


LINES: dict[str, Line] = {}
OTHERS: dict[str, dict[str, Callable[[str], Step]]] = {}
"""By library and line: ``make(dtype)`` for the same program in JAX, autograd, tinygrad, MyGrad."""


def line(name: str, goal: float = 1.0, batches: int = 0, exact: float = 1e-7
         ) -> Callable[[Any], Any]:
    """Declare a line: ``goal`` is the ratio that is wanted, ``exact`` how near to PyTorch's its
    results must be in float64, ``batches`` how many of them a step brings.
    """

    def add(make: Any) -> Any:
        if name in LINES:
            raise ValueError(f"there is a line {name!r} already")
        LINES[name] = Line(name, make, goal, batches, exact)
        return make

    return add


def other(library: str, name: str) -> Callable[[Any], Any]:
    """Declare the program of the line ``name`` as users of ``library`` write it."""

    def add(make: Any) -> Any:
        OTHERS.setdefault(library, {})[LINES[name].name] = make
        return make

    return add


def numbers(seed: int, *shape: int) -> np.ndarray:
    """Normally distributed numbers, the same ones for every library."""
    return np.random.default_rng(seed).standard_normal(shape)


def tensor(lib: Any, seed: int, *shape: int) -> Any:
    """A tensor of ``numbers``, in the default dtype."""
    return lib.tensor(numbers(seed, *shape), dtype=lib.get_default_dtype())


def precise(lib: Any, dtype: str) -> Any:
    """The dtype of that name; while results are compared, its twin of double precision."""
    if lib.get_default_dtype() == lib.float64:
        dtype = {"float32": "float64", "complex64": "complex128"}.get(dtype, dtype)
    return getattr(lib, dtype)


def taken(*leaves: Any) -> list[Any]:
    """The gradients of leaves, which have none afterwards."""
    found = [leaf.grad for leaf in leaves]
    for leaf in leaves:
        leaf.grad = None
    return found


def training(optimizer: Any, loss_of: Callable[[], Any]) -> Step:
    """The usual training step; it returns the loss."""

    def step() -> Any:
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        return loss

    return step
