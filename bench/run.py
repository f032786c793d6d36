"""PyTorch and retrograd side by side: the same programs, alternated, as ratios of time.

    make bench                 all of it
    python bench/run.py small  only the lines whose name contains "small"

A ratio below 1 means that retrograd is faster. Each figure is the best of several rounds in which
the two take turns, so that a busy machine disturbs both alike.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch

import retrograd

torch.set_num_threads(int(os.environ.get("BENCH_THREADS", "2")))
LIBRARIES = {"torch": torch, "retrograd": retrograd}


class Line(NamedTuple):
    """One program: what it makes once, and the step that is timed.

    A step may return a number; the two libraries have to agree on it before any time counts.
    """

    name: str
    make: Callable[[Any], Callable[[], Any]]
    goal: float | None = None
    rounds: int = 15
    batches: int = 0


LINES: list[Line] = []


def line(name: str, goal: float | None = None, rounds: int = 15, batches: int = 0
         ) -> Callable[[Any], Any]:
    def add(make: Any) -> Any:
        LINES.append(Line(name, make, goal, rounds, batches))
        return make

    return add


def seconds(step: Callable[[], None], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        step()
    return (time.perf_counter() - start) / repeats


def measure(entry: Line) -> tuple[float, float]:
    """The best time of each library, taken in turns."""
    steps = {name: entry.make(lib) for name, lib in LIBRARIES.items()}
    best = dict.fromkeys(steps, float("inf"))
    repeats = {}
    theirs, ours = (step() for step in steps.values())
    if theirs is not None and not math.isclose(theirs, ours, rel_tol=1e-4, abs_tol=1e-5):
        raise AssertionError(f"{entry.name}: PyTorch finds {theirs}, retrograd {ours}")
    for name, step in steps.items():
        once = seconds(step, 1)
        repeats[name] = max(1, min(200, int(0.02 / max(once, 1e-7))))
    for _ in range(entry.rounds):
        for name, step in steps.items():
            best[name] = min(best[name], seconds(step, repeats[name]))
    return best["torch"], best["retrograd"]


# ---------------------------------------------------------------- small tensors: overhead


@line("small: 1,000 elementwise ops on 8 elements, forward and backward", goal=0.4)
def elementwise(lib: Any) -> Callable[[], None]:
    x = lib.tensor([0.5, -0.2, 0.1, 0.9, -0.7, 0.3, 0.2, -0.1], requires_grad=True)
    c = lib.tensor([1.1, 0.9, 1.2, 0.8, 1.0, 1.05, 0.95, 1.01])

    def step() -> None:
        y = x
        for _ in range(125):
            y = y * c
            y = y + c
            y = y.sin()
            y = y * 0.5
            y = y - c
            y = y.tanh()
            y = y / c
            y = -y
        y.sum().backward()
        x.grad = None

    return step


@line("small: 1,000 multiplications and additions on 8 elements, forward and backward")
def products(lib: Any) -> Callable[[], None]:
    x = lib.tensor([0.5, -0.2, 0.1, 0.9, -0.7, 0.3, 0.2, -0.1], requires_grad=True)
    c = lib.tensor([1.001, 0.9, 1.002, 0.8, 1.0, 1.005, 0.95, 1.01])

    def step() -> None:
        y = x
        for _ in range(500):
            y = y * c
            y = y + c
        y.sum().backward()
        x.grad = None

    return step


@line("small: a scalar expression graph of 2,000 nodes", goal=0.4)
def scalars(lib: Any) -> Callable[[], None]:
    a = lib.tensor(0.5, requires_grad=True)
    b = lib.tensor(-0.3, requires_grad=True)

    def step() -> None:
        y = a
        for _ in range(500):
            y = y * b
            y = y + a
            y = y.tanh()
            y = y * 0.9
        y.backward()
        a.grad = b.grad = None

    return step


@line("small: forward only under no_grad, 1,000 ops on 8 elements")
def inference(lib: Any) -> Callable[[], None]:
    x = lib.ones(8)
    c = lib.full((8,), 1.01)

    def step() -> None:
        with lib.no_grad():
            y = x
            for _ in range(500):
                y = y * c
                y = y + c

    return step


@line("small: views, 500 slices, reshapes and transposes")
def views(lib: Any) -> Callable[[], None]:
    x = lib.ones(4, 6, requires_grad=True)

    def step() -> None:
        total = x[0, 0]
        for _ in range(100):
            y = x.reshape(6, 4).t()[1:3]
            total = total + y[0, 1]
        total.backward()
        x.grad = None

    return step


@line("train: an MLP 64-64-64 step, batch 32, Adam", goal=0.5)
def mlp(lib: Any) -> Callable[[], None]:
    lib.manual_seed(0)
    model = lib.nn.Sequential(lib.nn.Linear(64, 64), lib.nn.ReLU(), lib.nn.Linear(64, 64))
    optimizer = lib.optim.Adam(model.parameters(), lr=1e-3)
    loss_fn = lib.nn.MSELoss()
    x, y = lib.randn(32, 64), lib.randn(32, 64)

    def step() -> None:
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()

    return step


@line("train: a small convolutional net, batch 16, SGD", rounds=8)
def convnet(lib: Any) -> Callable[[], None]:
    lib.manual_seed(0)
    nn = lib.nn
    model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.Flatten(),
                          nn.Linear(16 * 16, 10))
    optimizer = lib.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    loss_fn = nn.CrossEntropyLoss()
    x, y = lib.randn(16, 1, 8, 8), lib.randint(0, 10, (16,))

    def step() -> None:
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()

    return step


@line("kernels: matrix products 512x512, forward and backward", rounds=6)
def products_large(lib: Any) -> Callable[[], None]:
    lib.manual_seed(0)
    a = lib.randn(512, 512, requires_grad=True)
    b = lib.randn(512, 512, requires_grad=True)

    def step() -> None:
        (a @ b).sum().backward()
        a.grad = b.grad = None

    return step


# ---------------------------------------------------------------- layers and losses


def layer(name: str, shapes: list[tuple[int, ...]], prepare: Callable[[Any], Callable[..., Any]],
          rounds: int = 40) -> None:
    """A line for ``prepare(lib)(*tensors)``, forward and backward; all tensors require grad."""

    @line(f"layers: {name}", rounds=rounds)
    def make(lib: Any) -> Callable[[], None]:
        lib.manual_seed(0)
        tensors = [lib.randn(*shape).requires_grad_() for shape in shapes]
        call = prepare(lib)
        gradient = lib.ones_like(call(*tensors).detach())

        def step() -> None:
            call(*tensors).backward(gradient)
            for tensor in tensors:
                tensor.grad = None

        return step


def cross_entropy(lib: Any, rows: int, classes: int) -> Callable[..., Any]:
    target = lib.arange(rows) % classes
    return lambda x: lib.nn.functional.cross_entropy(x, target)


def batch_norm(lib: Any, channels: int) -> Callable[..., Any]:
    mean, var = lib.zeros(channels), lib.ones(channels)
    return lambda x, w, b: lib.nn.functional.batch_norm(x, mean, var, w, b, training=True)


def embedding(lib: Any, rows: int, count: int) -> Callable[..., Any]:
    indices = lib.randint(0, rows, (count,))
    return lambda weight: lib.nn.functional.embedding(indices, weight)


for _rows, _classes in ((32, 10), (256, 1000)):
    _size, _shapes = f"{_rows}x{_classes}", [(_rows, _classes)]
    layer(f"cross_entropy {_size}", _shapes,
          lambda lib, n=_rows, c=_classes: cross_entropy(lib, n, c))
    layer(f"softmax {_size}", _shapes, lambda lib: lambda x: lib.softmax(x, -1))
    layer(f"gelu {_size}", _shapes, lambda lib: lib.nn.functional.gelu)
    layer(f"silu {_size}", _shapes, lambda lib: lib.nn.functional.silu)
    layer(f"dropout {_size}", _shapes, lambda lib: lib.nn.functional.dropout)
for _shape in ((32, 64), (64, 128, 512)):
    layer(f"layer_norm {'x'.join(map(str, _shape))}", [_shape, _shape[-1:], _shape[-1:]],
          lambda lib, n=_shape[-1]: lambda x, w, b: lib.nn.functional.layer_norm(x, (n,), w, b),
          rounds=10 if len(_shape) > 2 else 40)
for _images in ((16, 8, 8, 8), (16, 32, 32, 32)):
    _size, _channels = "x".join(map(str, _images)), _images[1]
    _parameters = [(_channels,), (_channels,)]
    layer(f"batch_norm {_size}", [_images, *_parameters],
          lambda lib, c=_channels: batch_norm(lib, c))
    layer(f"group_norm {_size}", [_images, *_parameters],
          lambda lib: lambda x, w, b: lib.nn.functional.group_norm(x, 4, w, b))
    layer(f"conv2d 3x3 {_size}", [_images, (_channels, _channels, 3, 3), (_channels,)],
          lambda lib: lambda x, w, b: lib.nn.functional.conv2d(x, w, b, padding=1))
    layer(f"max_pool2d {_size}", [_images],
          lambda lib: lambda x: lib.nn.functional.max_pool2d(x, 2))
    layer(f"avg_pool2d {_size}", [_images],
          lambda lib: lambda x: lib.nn.functional.avg_pool2d(x, 2))
for _heads in ((2, 2, 8, 8), (8, 4, 64, 32)):
    layer(f"causal attention {'x'.join(map(str, _heads))}", [_heads] * 3,
          lambda lib: lambda q, k, v: lib.nn.functional.scaled_dot_product_attention(
              q, k, v, is_causal=True))
for _rows, _count in ((100, 32), (10_000, 640)):
    layer(f"embedding {_rows}x64, {_count} indices", [(_rows, 64)],
          lambda lib, n=_rows, count=_count: embedding(lib, n, count))


# ---------------------------------------------------------------- linear algebra


def matrices(name: str, size: int, call: Callable[..., Any], dtype: str = "float64") -> None:
    """A line for ``call(lib, A, L, b)``, forward and backward: A = L @ L.mH, b one column."""

    @line(f"linalg: {name}", rounds=10)
    def make(lib: Any) -> Callable[[], None]:
        lib.manual_seed(0)
        kind = getattr(lib, dtype)
        factor = lib.tril(lib.randn(size, size, dtype=kind)) / size + lib.eye(size, dtype=kind)
        tensors = [t.requires_grad_() for t in (factor @ factor.mH, factor,
                                                lib.randn(size, 1, dtype=kind))]
        gradient = lib.ones_like(call(lib, *tensors).detach())

        def step() -> None:
            call(lib, *tensors).backward(gradient)
            for tensor in tensors:
                tensor.grad = None

        return step


for _dtype in ("float64", "float32"):
    matrices(f"cholesky 500 {_dtype}", 500, lambda lib, A, L, b: lib.linalg.cholesky(A), _dtype)
    matrices(f"solve_triangular 500 {_dtype}", 500,
             lambda lib, A, L, b: lib.linalg.solve_triangular(L, b, upper=False), _dtype)
    matrices(f"cholesky_solve 500 {_dtype}", 500,
             lambda lib, A, L, b: lib.cholesky_solve(b, L), _dtype)
    matrices(f"svd 200 {_dtype}", 200, lambda lib, A, L, b: lib.linalg.svd(A)[1], _dtype)
    matrices(f"eigh 200 {_dtype}", 200, lambda lib, A, L, b: lib.linalg.eigh(A)[0], _dtype)


# ---------------------------------------------------------------- higher order


def rosenbrock(x: Any) -> Any:
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def two_layers(lib: Any, n: int, hidden: int, out: int) -> tuple[Any, ...]:
    lib.manual_seed(0)
    return (lib.randn(n, hidden) * 0.3, lib.randn(hidden) * 0.1, lib.randn(hidden, out) * 0.3)


@line("higher: Rosenbrock Hessian n=100, functional.hessian", goal=0.7, rounds=5)
def hessian(lib: Any) -> Callable[[], None]:
    x = lib.linspace(-1, 1, 100, dtype=lib.float64)

    def step() -> None:
        lib.autograd.functional.hessian(rosenbrock, x)

    return step


@line("higher: Hessian-vector product of a small MLP", goal=0.7)
def hvp(lib: Any) -> Callable[[], None]:
    w1, b1, w2 = two_layers(lib, 16, 32, 1)
    x = lib.randn(64, 16)
    v = lib.ones_like(w1)

    def loss(w: Any) -> Any:
        return ((lib.tanh(x @ w + b1) @ w2) ** 2).mean()

    def step() -> None:
        lib.autograd.functional.hvp(loss, w1, v)

    return step


@line("higher: Jacobian of a 50-50 MLP, functional.jacobian", goal=0.7, rounds=8)
def jacobian(lib: Any) -> Callable[[], None]:
    w1, b1, w2 = two_layers(lib, 50, 50, 50)
    x = lib.randn(50)

    def step() -> None:
        lib.autograd.functional.jacobian(lambda z: lib.tanh(z @ w1 + b1) @ w2, x)

    return step


@line("higher: a MAML step (one inner step, second order)", goal=0.7)
def maml(lib: Any) -> Callable[[], None]:
    w1, b1, w2 = (t.requires_grad_() for t in two_layers(lib, 8, 16, 1))
    x, y = lib.randn(16, 8), lib.randn(16, 1)

    def net(ws: Any, inputs: Any) -> Any:
        return lib.tanh(inputs @ ws[0] + ws[1]) @ ws[2]

    def step() -> None:
        ws = [w1, b1, w2]
        inner = ((net(ws, x) - y) ** 2).mean()
        grads = lib.autograd.grad(inner, ws, create_graph=True)
        fast = [w - 0.1 * g for w, g in zip(ws, grads, strict=True)]
        ((net(fast, x) - y) ** 2).mean().backward()
        for w in ws:
            w.grad = None

    return step


@line("higher: a gradient-penalty step", goal=0.7)
def gradient_penalty(lib: Any) -> Callable[[], None]:
    w1, b1, w2 = (t.requires_grad_() for t in two_layers(lib, 8, 32, 1))
    x = lib.randn(32, 8).requires_grad_()

    def step() -> None:
        out = lib.tanh(x @ w1 + b1) @ w2
        (g,) = lib.autograd.grad(out.sum(), x, create_graph=True)
        penalty = ((g.norm(2, dim=1) - 1) ** 2).mean()
        penalty.backward()
        for w in (w1, b1, w2):
            w.grad = None

    return step


# ---------------------------------------------------------------- Fourier transforms


def _fourier_line(kind: str, shape: tuple[int, ...], dtype: str) -> None:
    numbers = " by ".join(f"{n:,}" for n in shape)

    @line(f"fft: {kind} of {numbers} numbers, {dtype}, forward and backward", goal=1.5)
    def transform(lib: Any) -> Callable[[], float]:
        lib.manual_seed(0)
        x = lib.randn(*shape, dtype=getattr(lib, dtype), requires_grad=True)
        function = getattr(lib.fft, kind)

        def step() -> float:
            spectrum = function(x)
            spectrum.backward(spectrum.detach())
            found = float(x.grad.reshape(-1)[1].real)
            x.grad = None
            return found

        return step


for _kind, _dtypes in (("fft", ("complex64", "complex128")), ("rfft", ("float32", "float64"))):
    for _shape in ((64,), (1 << 20,), (64, 1024)):
        for _dtype in _dtypes:
            _fourier_line(_kind, _shape, _dtype)


# ---------------------------------------------------------------- whole modules and loaders


@line("train: a residual block with batch norm, batch 16", rounds=8)
def residual_block(lib: Any) -> Callable[[], None]:
    lib.manual_seed(0)
    nn = lib.nn
    body = nn.Sequential(nn.Conv2d(16, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
                         nn.Conv2d(16, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16))
    x = lib.randn(16, 16, 16, 16)

    def step() -> Any:
        body.zero_grad()
        loss = nn.functional.relu(body(x) + x).square().mean()
        loss.backward()
        return loss.item()

    return step


@line("train: an LSTM module, 2 layers of 64, 32 steps, batch 16", rounds=8)
def lstm(lib: Any) -> Callable[[], None]:
    lib.manual_seed(0)
    model = lib.nn.LSTM(32, 64, num_layers=2)
    x = lib.randn(32, 16, 32)

    def step() -> Any:
        model.zero_grad()
        out, (hidden, cell) = model(x)
        loss = (out ** 2).mean() + hidden.mean() + cell.mean()
        loss.backward()
        return loss.item()

    return step


@line("train: LBFGS, 20 iterations on a function of 50 numbers", rounds=8)
def lbfgs(lib: Any) -> Callable[[], None]:
    def step() -> Any:
        x = lib.linspace(-1, 1, 50, dtype=lib.float64).requires_grad_()
        optimizer = lib.optim.LBFGS([x], lr=0.01, max_iter=20)

        def closure() -> Any:
            optimizer.zero_grad()
            loss = rosenbrock(x)
            loss.backward()
            return loss

        optimizer.step(closure)
        return rosenbrock(x).item()

    return step


def loading(workers: int, name: str, make_dataset: Callable[[Any, Any, Any], Any]) -> None:
    """A line for an epoch of 32 batches of 64 images."""

    @line(f"data: an epoch of 32 batches, {name}, {workers} workers", rounds=8, batches=32)
    def make(lib: Any) -> Callable[[], None]:
        lib.manual_seed(0)
        images, labels = lib.randn(2048, 1, 28, 28), lib.arange(2048) % 10
        loader = lib.utils.data.DataLoader(
            make_dataset(lib, images, labels), 64, shuffle=True, num_workers=workers,
            persistent_workers=workers > 0, generator=lib.Generator().manual_seed(1))

        def step() -> Any:
            return float(sum(x[0, 0, 0, 0] * y[0] for x, y in loader))

        return step


def pairs(lib: Any, images: Any, labels: Any) -> Any:
    """Samples that are made one by one, as a program's own data set makes them."""

    class Pairs(lib.utils.data.Dataset):  # type: ignore[misc, name-defined]
        def __len__(self) -> int:
            return len(images)

        def __getitem__(self, index: int) -> Any:
            return (images[index] - 0.5) * 2.0, index % 10

    return Pairs()


for _workers in (0, 2):
    loading(_workers, "rows of tensors",
            lambda lib, *tensors: lib.utils.data.TensorDataset(*tensors))
    loading(_workers, "samples made in Python", pairs)


# ---------------------------------------------------------------- transforms of functions


def tanh_net(lib: Any, n: int, hidden: int, out: int) -> Callable[[Any], Any]:
    w1, b1, w2 = two_layers(lib, n, hidden, out)
    return lambda x: lib.tanh(x @ w1 + b1) @ w2


@line("transforms: func.grad of a small MLP's loss")
def func_grad(lib: Any) -> Callable[[], None]:
    w1, b1, w2 = two_layers(lib, 16, 32, 1)
    x = lib.randn(64, 16)
    slope = lib.func.grad(lambda w: ((lib.tanh(x @ w + b1) @ w2) ** 2).mean())
    return lambda: slope(w1)


@line("transforms: vjp of a small MLP")
def func_vjp(lib: Any) -> Callable[[], None]:
    net = tanh_net(lib, 16, 32, 4)
    x, v = lib.randn(64, 16), lib.randn(64, 4)
    return lambda: lib.func.vjp(net, x)[1](v)


@line("transforms: jvp of a small MLP")
def func_jvp(lib: Any) -> Callable[[], None]:
    net = tanh_net(lib, 16, 32, 4)
    x, v = lib.randn(64, 16), lib.randn(64, 16)
    return lambda: lib.func.jvp(net, (x,), (v,))


@line("transforms: vmap of 6 elementwise ops")
def vmap_elementwise(lib: Any) -> Callable[[], None]:
    lib.manual_seed(0)
    x, c = lib.randn(64, 8), lib.randn(8)
    mapped = lib.func.vmap(lambda z: (z * c + c).sin().tanh() * z - c)
    return lambda: mapped(x)


@line("transforms: vmap of a small MLP")
def vmap_net(lib: Any) -> Callable[[], None]:
    mapped = lib.func.vmap(tanh_net(lib, 16, 32, 4))
    x = lib.randn(64, 16)
    return lambda: mapped(x)


@line("transforms: per-sample gradients by functional_call, batch 64")
def per_sample(lib: Any) -> Callable[[], None]:
    lib.manual_seed(0)
    model = lib.nn.Sequential(lib.nn.Linear(16, 32), lib.nn.ReLU(), lib.nn.Linear(32, 10))
    weights = {name: p.detach() for name, p in model.named_parameters()}
    x, y = lib.randn(64, 16), lib.randint(0, 10, (64,))

    def loss(weights: Any, sample: Any, label: Any) -> Any:
        out = lib.func.functional_call(model, weights, (sample.unsqueeze(0),))
        return lib.nn.functional.cross_entropy(out, label.unsqueeze(0))

    gradients = lib.func.vmap(lib.func.grad(loss), in_dims=(None, 0, 0))
    return lambda: gradients(weights, x, y)


@line("transforms: an ensemble of 8 MLPs, stack_module_state")
def ensemble(lib: Any) -> Callable[[], None]:
    lib.manual_seed(0)
    models = [lib.nn.Sequential(lib.nn.Linear(16, 32), lib.nn.ReLU(), lib.nn.Linear(32, 4))
              for _ in range(8)]
    state = [{name: t.detach() for name, t in tensors.items()}
             for tensors in lib.func.stack_module_state(models)]
    x = lib.randn(32, 16)
    mapped = lib.func.vmap(
        lambda weights, buffers, z: lib.func.functional_call(models[0], (weights, buffers), (z,)),
        in_dims=(0, 0, None))
    return lambda: mapped(*state, x)


@line("transforms: jacrev of a 50-50 MLP")
def func_jacrev(lib: Any) -> Callable[[], None]:
    rows = lib.func.jacrev(tanh_net(lib, 50, 50, 50))
    x = lib.randn(50)
    return lambda: rows(x)


@line("transforms: jacfwd of a 50-50 MLP")
def func_jacfwd(lib: Any) -> Callable[[], None]:
    columns = lib.func.jacfwd(tanh_net(lib, 50, 50, 50))
    x = lib.randn(50)
    return lambda: columns(x)


@line("transforms: hessian of a 50-50 MLP's sum", rounds=8)
def func_hessian(lib: Any) -> Callable[[], None]:
    net = tanh_net(lib, 50, 50, 50)
    second = lib.func.hessian(lambda x: net(x).sum())
    x = lib.randn(50)
    return lambda: second(x)


@line("transforms: Hessian-vector product, jvp of grad")
def jvp_of_grad(lib: Any) -> Callable[[], None]:
    w1, b1, w2 = two_layers(lib, 16, 32, 1)
    x, v = lib.randn(64, 16), lib.ones_like(w1)
    slope = lib.func.grad(lambda w: ((lib.tanh(x @ w + b1) @ w2) ** 2).mean())
    return lambda: lib.func.jvp(slope, (w1,), (v,))


@line("transforms: vmap of jacrev of a small MLP")
def vmap_jacrev(lib: Any) -> Callable[[], None]:
    mapped = lib.func.vmap(lib.func.jacrev(tanh_net(lib, 8, 16, 4)))
    x = lib.randn(32, 8)
    return lambda: mapped(x)


@line("transforms: vmap of hessian of a scalar function", rounds=8)
def vmap_hessian(lib: Any) -> Callable[[], None]:
    lib.manual_seed(0)
    mapped = lib.func.vmap(lib.func.hessian(lambda z: (z.sin() * z.exp()).sum() * (z ** 2).sum()))
    x = lib.randn(32, 4)
    return lambda: mapped(x)


@line("transforms: MAML over 10 tasks, grad of vmap of grad", rounds=8)
def maml_of_tasks(lib: Any) -> Callable[[], None]:
    weights = two_layers(lib, 8, 16, 1)
    x, y = lib.randn(10, 16, 8), lib.randn(10, 16, 1)

    def loss(ws: Any, inputs: Any, wanted: Any) -> Any:
        return ((lib.tanh(inputs @ ws[0] + ws[1]) @ ws[2] - wanted) ** 2).mean()

    def after_a_step(ws: Any, inputs: Any, wanted: Any) -> Any:
        slopes = lib.func.grad(loss)(ws, inputs, wanted)
        return loss([w - 0.1 * g for w, g in zip(ws, slopes, strict=True)], inputs, wanted)

    tasks = lib.func.vmap(after_a_step, in_dims=(None, 0, 0))
    slope = lib.func.grad(lambda ws: tasks(ws, x, y).mean())
    return lambda: slope(weights)


# ---------------------------------------------------------------- figures of retrograd alone


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


# ---------------------------------------------------------------- sparse derivatives


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


# ---------------------------------------------------------------- NumPy code, beside autograd


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


def verdict(ratio: float, goal: float | None) -> str:
    if goal is None:
        return ""
    return f"goal {goal:.1f} {'met' if ratio <= goal else 'MISSED'}"


def rates(batches: int, theirs: float, ours: float) -> str:
    return f"{batches / theirs:.0f} and {batches / ours:.0f} batches/s" if batches else ""


def main(pattern: str = "") -> None:
    print(f"{'':68s} {'torch':>10s} {'retrograd':>10s} {'ratio':>6s}")
    for entry in LINES:
        if pattern in entry.name:
            theirs, ours = measure(entry)
            print(f"{entry.name:68s} {theirs * 1e6:8.1f}µs {ours * 1e6:8.1f}µs "
                  f"{ours / theirs:6.2f}  {verdict(ours / theirs, entry.goal)}"
                  f"{rates(entry.batches, theirs, ours)}", flush=True)
    if pattern in "depth: cost per op at 1,000,000 ops over that at 1,000":
        ratio = depth_ratio()
        print(f"{'depth: cost per op at 1,000,000 ops over that at 1,000':90s} {ratio:6.2f}  "
              f"{verdict(ratio, 1.5)}")
    if pattern in "import: retrograd over numpy":
        ratio = import_ratio()
        print(f"{'import: retrograd over numpy':90s} {ratio:6.2f}  {verdict(ratio, 2.0)}")

    for name in SPARSE:
        if pattern in f"sparse: {name}":
            print(f"{'sparse: ' + name:67s} {sparse_line(name)}", flush=True)

    for name, source in numpy_programs().items():
        if pattern in f"numpy: {name}":
            theirs, ours = numpy_line(source)
            print(f"{'numpy: ' + name + ', beside the package autograd':68s} {theirs * 1e6:8.1f}µs "
                  f"{ours * 1e6:8.1f}µs {ours / theirs:6.2f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
