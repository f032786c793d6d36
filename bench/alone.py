"""Figures that are not a ratio to PyTorch's time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import retrograd


def seconds(step: Callable[[], Any], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        step()
    return (time.perf_counter() - start) / repeats


DEPTH = """
import time, retrograd

x = retrograd.ones(8, requires_grad=True)
c = retrograd.full((8,), 1.0000001)

def chain(n):
    y = x
    for _ in range(n // 2):
        y = y * c
        y = y + c
    y.sum().backward()
    x.grad = None

def seconds(n):  # of a million ops, in chains of n
    start = time.process_time()
    for _ in range(1_000_000 // n):
        chain(n)
    return time.process_time() - start

rounds = [(seconds(1_000), seconds(1_000_000)) for _ in range(4)]
print(*map(min, zip(*rounds)))
"""


def depth_ratio() -> float:
    """Time per op of a chain of a million ops, over that of a thousand.

    In a process of its own: Python's collector, which walks over every object there is while the
    chain grows, would otherwise visit PyTorch's objects too.
    """
    ran = subprocess.run([sys.executable, "-c", DEPTH], capture_output=True, text=True, check=True)
    small, large = map(float, ran.stdout.split())
    return large / small


def import_ratio() -> float:
    """``import retrograd`` over ``import numpy``, each in fresh processes, taken in turns."""
    best = {"numpy": float("inf"), "retrograd": float("inf")}
    code = "import time; t=time.perf_counter(); import {}; print(time.perf_counter()-t)"
    # As an installed package has it: the first import leaves compiled files for the others.
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(9):
        for name in best:
            out = subprocess.run([sys.executable, "-c", code.format(name)], capture_output=True,
                                 text=True, check=True, env=env)
            best[name] = min(best[name], float(out.stdout))
    return best["retrograd"] / best["numpy"]


def tridiagonal(x: Any) -> Any:
    """A system of equations, each with its neighbours' unknowns."""
    padded = retrograd.nn.functional.pad(x, (1, 1))
    return padded[2:] * x - padded[:-2].sin() + x**2


def laplacian(u: Any) -> Any:
    """A nonlinear equation on a grid, by five points."""
    padded = retrograd.nn.functional.pad(u, (1, 1, 1, 1))
    around = padded[2:, 1:-1] + padded[:-2, 1:-1] + padded[1:-1, 2:] + padded[1:-1, :-2]
    return around - 4 * u + u.exp()


def rosenbrock_chain(x: Any) -> Any:
    return (100 * (x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2).sum()


SPARSE = {
    "Jacobian of a tridiagonal system, 100,000 unknowns": (tridiagonal, "jacobian", (100_000,)),
    "Jacobian of a Laplace equation on 300x300 points": (laplacian, "jacobian", (300, 300)),
    "Hessian of Rosenbrock's function, 100,000 numbers": (rosenbrock_chain, "hessian", (100_000,))}


def sparse_line(name: str) -> str:
    """The times of a call and of its sparse derivative, and how much that holds."""
    func, derivative, shape = SPARSE[name]
    x = retrograd.rand(*shape, dtype=retrograd.float64)
    wanted = getattr(retrograd.func, derivative)(func, sparse="auto")
    once, whole = (min(seconds(step, 1) for _ in range(5)) for step in (
        lambda: func(x), lambda: wanted(x)))
    return f"{once * 1e3:7.2f}ms {whole * 1e3:8.1f}ms {wanted(x).nnz:10,d} nonzeros"


def numpy_programs() -> dict[str, str]:
    """The programs of docs/numpy.md, as they stand there."""
    page = (Path(__file__).parent.parent / "docs" / "numpy.md").read_text()
    sections = [(part.split("\n", 1)[0], re.search(r"```python\n(.*?)```", part, re.DOTALL))
                for part in page.split("\n## ")]
    return {name: block[1] for name, block in sections if block and "def program(" in block[1]}


def numpy_line(source: str) -> tuple[float, float]:
    """The times of a program's gradient by the package autograd, and by retrograd."""
    import autograd

    ours: dict[str, Any] = {}
    theirs: dict[str, Any] = {}
    exec(source, ours)
    exec(source.replace("import numpy as np", "import autograd.numpy as np"), theirs)
    slope = autograd.grad(theirs["program"])

    def step() -> Any:
        start = retrograd.tensor(ours["start"], requires_grad=True)
        ours["program"](start).backward()
        return start.grad

    wanted = slope(theirs["start"])
    assert abs(step().numpy() - wanted).max() <= 1e-9 * abs(wanted).max()
    rounds = [(seconds(lambda: slope(theirs["start"]), 5), seconds(step, 5)) for _ in range(12)]
    return min(r[0] for r in rounds), min(r[1] for r in rounds)


def show(pattern: str) -> None:
    """Print the figures whose name the pattern is found in."""
    for name, figure in {"depth: cost per op at 1,000,000 ops over that at 1,000": depth_ratio,
                         "import: retrograd over numpy": import_ratio}.items():
        if re.search(pattern, name):
            print(f"{name:104s} {figure():6.2f}", flush=True)
    for name in SPARSE:
        if re.search(pattern, f"sparse: {name}"):
            print(f"{'sparse: ' + name:84s} {sparse_line(name)}", flush=True)
    for name, source in numpy_programs().items():
        row = f"numpy: {name}, beside the package autograd"
        if re.search(pattern, row):
            theirs, ours = numpy_line(source)
            print(f"{row:84s}{theirs * 1e6:10.1f}{ours * 1e6:10.1f} {ours / theirs:6.2f}",
                  flush=True)
