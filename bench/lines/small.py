"""Small tensors: what a call costs beside its arithmetic."""

from __future__ import annotations

from typing import Any

from ..declaring import Step, line, taken

X = [0.5, -0.2, 0.1, 0.9, -0.7, 0.3, 0.2, -0.1]
C = [1.1, 0.9, 1.2, 0.8, 1.0, 1.05, 0.95, 1.01]


def chain(x: Any, c: Any, sin: Any, tanh: Any) -> Any:
    """A thousand elementwise ops, in any library."""
    y = x
    for _ in range(125):
        y = y * c
        y = y + c
        y = sin(y)
        y = y * 0.5
        y = y - c
        y = tanh(y)
        y = y / c
        y = -y
    return y.sum()


@line("small: 1,000 elementwise ops on 8 elements, forward and backward", goal=0.4)
def elementwise(lib: Any) -> Step:
    x, c = lib.tensor(X, requires_grad=True), lib.tensor(C)
    sin, tanh = lib.sin, lib.tanh

    def step() -> Any:
        chain(x, c, sin, tanh).backward()
        return taken(x)

    return step


@line("small: 1,000 multiplications and additions on 8 elements, forward and backward", goal=0.5)
def products(lib: Any) -> Step:
    x = lib.tensor(X, requires_grad=True)
    c = lib.tensor([1.001, 0.9, 1.002, 0.8, 1.0, 1.005, 0.95, 1.01])

    def step() -> Any:
        y = x
        for _ in range(500):
            y = y * c
            y = y + c
        y.sum().backward()
        return taken(x)

    return step


@line("small: a scalar expression graph of 2,000 nodes", goal=0.4)
def scalars(lib: Any) -> Step:
    a = lib.tensor(0.5, requires_grad=True)
    b = lib.tensor(-0.3, requires_grad=True)

    def step() -> Any:
        y = a
        for _ in range(500):
            y = y * b
            y = y + a
            y = y.tanh()
            y = y * 0.9
        y.backward()
        return taken(a, b)

    return step


@line("small: forward only under no_grad, 1,000 ops on 8 elements", goal=0.5)
def inference(lib: Any) -> Step:
    x = lib.ones(8)
    c = lib.full((8,), 1.01)

    def step() -> Any:
        with lib.no_grad():
            y = x
            for _ in range(500):
                y = y * c
                y = y + c
        return y

    return step


@line("small: views, 500 slices, reshapes and transposes", goal=0.5)
def views(lib: Any) -> Step:
    x = lib.ones(4, 6, requires_grad=True)

    def step() -> Any:
        total = x[0, 0]
        for _ in range(100):
            y = x.reshape(6, 4).t()[1:3]
            total = total + y[0, 1]
        total.backward()
        return taken(x)

    return step


def calls(name: str, call: Any) -> None:
    """A line of a hundred calls of ``call(lib, x, rows, index)``, without gradients."""

    @line(f"small: 100 calls of {name}")
    def make(lib: Any) -> Step:
        lib.manual_seed(0)
        x, rows, index = lib.randn(8), lib.randn(8, 4), lib.tensor([0, 5, 2])

        def step() -> Any:
            for _ in range(99):
                call(lib, x, rows, index)
            return call(lib, x, rows, index)

        return step


for _name, _call in {
        "randn": lambda lib, x, rows, index: lib.randn(8),
        "rand": lambda lib, x, rows, index: lib.rand(8),
        "arange": lambda lib, x, rows, index: lib.arange(8),
        "zeros": lambda lib, x, rows, index: lib.zeros(8),
        "detach": lambda lib, x, rows, index: x.detach(),
        "median": lambda lib, x, rows, index: x.median(),
        "cummax": lambda lib, x, rows, index: x.cummax(0)[0],
        "sort": lambda lib, x, rows, index: x.sort()[0],
        "stack": lambda lib, x, rows, index: lib.stack([x, x, x, x]),
        "index_select": lambda lib, x, rows, index: rows.index_select(0, index),
        "x[index]": lambda lib, x, rows, index: rows[index]}.items():
    calls(_name, _call)


@line("small: 100 calls of backward on a leaf")
def backward_of_a_leaf(lib: Any) -> Step:
    x, gradient = lib.ones(3, requires_grad=True), lib.ones(3)

    def step() -> Any:
        for _ in range(100):
            x.backward(gradient)
        return taken(x)

    return step
