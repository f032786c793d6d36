"""Transforms of functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..declaring import Step, line
from .higher import two_layers


def tanh_net(lib: Any, n: int, hidden: int, out: int) -> Callable[[Any], Any]:
    w1, b1, w2 = two_layers(lib, n, hidden, out)
    return lambda x: lib.tanh(x @ w1 + b1) @ w2


@line("transforms: func.grad of a small MLP's loss")
def func_grad(lib: Any) -> Step:
    w1, b1, w2 = two_layers(lib, 16, 32, 1)
    x = lib.randn(64, 16)
    slope = lib.func.grad(lambda w: ((lib.tanh(x @ w + b1) @ w2) ** 2).mean())
    return lambda: slope(w1)


@line("transforms: vjp of a small MLP")
def func_vjp(lib: Any) -> Step:
    net = tanh_net(lib, 16, 32, 4)
    x, v = lib.randn(64, 16), lib.randn(64, 4)
    return lambda: lib.func.vjp(net, x)[1](v)


@line("transforms: jvp of a small MLP")
def func_jvp(lib: Any) -> Step:
    net = tanh_net(lib, 16, 32, 4)
    x, v = lib.randn(64, 16), lib.randn(64, 16)
    return lambda: lib.func.jvp(net, (x,), (v,))


@line("transforms: vmap of 6 elementwise ops")
def vmap_elementwise(lib: Any) -> Step:
    lib.manual_seed(0)
    x, c = lib.randn(64, 8), lib.randn(8)
    mapped = lib.func.vmap(lambda z: (z * c + c).sin().tanh() * z - c)
    return lambda: mapped(x)


@line("transforms: vmap of a small MLP")
def vmap_net(lib: Any) -> Step:
    mapped = lib.func.vmap(tanh_net(lib, 16, 32, 4))
    x = lib.randn(64, 16)
    return lambda: mapped(x)


@line("transforms: per-sample gradients by functional_call, batch 64")
def per_sample(lib: Any) -> Step:
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
def ensemble(lib: Any) -> Step:
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
def func_jacrev(lib: Any) -> Step:
    rows = lib.func.jacrev(tanh_net(lib, 50, 50, 50))
    x = lib.randn(50)
    return lambda: rows(x)


@line("transforms: jacfwd of a 50-50 MLP")
def func_jacfwd(lib: Any) -> Step:
    columns = lib.func.jacfwd(tanh_net(lib, 50, 50, 50))
    x = lib.randn(50)
    return lambda: columns(x)


@line("transforms: hessian of a 50-50 MLP's sum")
def func_hessian(lib: Any) -> Step:
    net = tanh_net(lib, 50, 50, 50)
    second = lib.func.hessian(lambda x: net(x).sum())
    x = lib.randn(50)
    return lambda: second(x)


@line("transforms: Hessian-vector product, jvp of grad")
def jvp_of_grad(lib: Any) -> Step:
    w1, b1, w2 = two_layers(lib, 16, 32, 1)
    x, v = lib.randn(64, 16), lib.ones_like(w1)
    slope = lib.func.grad(lambda w: ((lib.tanh(x @ w + b1) @ w2) ** 2).mean())
    return lambda: lib.func.jvp(slope, (w1,), (v,))


@line("transforms: vmap of jacrev of a small MLP")
def vmap_jacrev(lib: Any) -> Step:
    mapped = lib.func.vmap(lib.func.jacrev(tanh_net(lib, 8, 16, 4)))
    x = lib.randn(32, 8)
    return lambda: mapped(x)


@line("transforms: vmap of hessian of a scalar function")
def vmap_hessian(lib: Any) -> Step:
    lib.manual_seed(0)
    mapped = lib.func.vmap(lib.func.hessian(lambda z: (z.sin() * z.exp()).sum() * (z ** 2).sum()))
    x = lib.randn(32, 4)
    return lambda: mapped(x)


@line("transforms: MAML over 10 tasks, grad of vmap of grad")
def maml_of_tasks(lib: Any) -> Step:
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
