"""Small programs to interrupt. Each is a generator that yields after every statement.

It is given its objects (``objects(...)`` makes them anew for each run), and yields what it
computed. A statement that is interrupted has changed each tensor wholly or not at all.
"""

from __future__ import annotations

import copy
import io
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

import retrograd as torch
from retrograd.autograd import measured_functions
from retrograd.utils.checkpoint import checkpoint

PROGRAMS: dict[str, tuple[Callable[[], Any], Callable[[Any], Iterator[Any]]]] = {}


def program(**made: Callable[[], Any]) -> Callable[[Any], Any]:
    """Declare a program and how its objects are made."""

    def declare(body: Any) -> Any:
        PROGRAMS[body.__name__] = (
            lambda: SimpleNamespace(**{name: make() for name, make in made.items()}), body)
        return body

    return declare


def values(*numbers: float, grad: bool = False) -> Callable[[], Any]:
    return lambda: torch.tensor(numbers, dtype=torch.float64, requires_grad=grad)


def source() -> Any:
    return torch.Generator().manual_seed(5)


def model() -> Any:
    made = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    with torch.no_grad():
        for i, p in enumerate(made.parameters()):
            p.copy_(torch.linspace(-1, 1, p.numel()).reshape(p.shape) * (i + 1))
    return made


def nothing_left(made: Any) -> list[Any]:
    return [t.detach().clone() for t in made]


@program(x=values(0.5, 1.5, grad=True), w=values(2.0, 3.0, grad=True))
def calls_and_backward(s: Any) -> Iterator[Any]:
    y = (s.x * s.w).sin() + s.x / s.w - s.w.log()
    yield y
    y.sum().backward()
    yield s.x.grad
    (s.x.exp() * s.w).sum().backward()  # adds to gradients that are there
    yield s.w.grad


@program(x=values(0.5, 1.5, grad=True))
def higher_order(s: Any) -> Iterator[Any]:
    (g,) = torch.autograd.grad((s.x.tanh() * s.x.log()).sum(), s.x, create_graph=True)
    yield g
    g.pow(2).sum().backward()
    yield s.x.grad


@program(x=values(0.5, -1.5, 0.0), y=values(1.0, 2.0, 3.0))
def unrecorded_writes(s: Any) -> Iterator[Any]:
    s.x.mul_(2)
    yield s.x
    s.x.log_()
    yield s.x
    s.x += s.y
    yield s.x
    s.x[1] = 7.0
    yield s.x
    s.x.fill_(3.0)
    yield s.x
    s.x.copy_(s.y)
    yield s.x
    s.x.zero_()
    yield s.x


@program(x=values(0.5, -1.5, 0.0), y=values(1.0, 2.0, 3.0))
def indexed_writes(s: Any) -> Iterator[Any]:
    s.x.index_add_(0, torch.tensor([0, 0, 2]), s.y)
    yield s.x
    s.x.masked_fill_(torch.tensor([True, False, True]), 4.0)
    yield s.x
    s.x[torch.tensor([2, 0])] = s.y[:2]
    yield s.x
    s.x.scatter_reduce_(0, torch.tensor([1, 1, 0]), s.y, "mean")
    yield s.x
    s.x.masked_scatter_(torch.tensor([True, False, True]), s.y)
    yield s.x
    s.x.index_put_((torch.tensor([1, 1]),), s.y[1:], accumulate=True)
    yield s.x


@program(x=values(0.5, 1.5, grad=True))
def recorded_writes(s: Any) -> Iterator[Any]:
    s.a = s.x * 2
    yield s.a
    s.a.sin_()
    yield s.a
    s.a.mul_(s.x)
    yield s.a
    s.a += 1
    yield s.a
    s.a[0] = s.x[1]
    yield s.a
    s.a.sum().backward()
    yield s.x.grad


@program(x=values(*[0.5, 1.5] * 8200, grad=True))
def large_writes(s: Any) -> Iterator[Any]:
    s.a = s.x * 2
    yield s.a
    s.a.add_(s.x, alpha=0.5)
    yield s.a
    s.a.sigmoid_()
    yield s.a
    s.a[:16390].sub_(s.x[5:6], alpha=3)
    yield s.a
    with torch.no_grad():
        s.x.add_(1, alpha=0.5)
    yield s.x


@program(x=values(0.5, 1.5, 2.5, 3.5, grad=True))
def writes_to_views(s: Any) -> Iterator[Any]:
    s.a = s.x * 1
    yield s.a
    s.b = s.a.view(2, 2)
    yield s.b
    s.c = s.b[0]
    yield s.c
    s.c.mul_(s.x[:2])
    yield s.a
    s.b.t().sin_()
    yield s.a
    s.c.copy_(s.x[2:])
    yield s.b
    (s.a * s.c.sum()).sum().backward()
    yield s.x.grad


@program(x=values(0.5, 1.5, grad=True))
def retained_gradients(s: Any) -> Iterator[Any]:
    s.a = s.x * 2
    yield s.a
    s.a.retain_grad()
    yield s.a
    s.a.mul_(s.x)
    yield s.a
    s.a.sum().backward()
    yield s.a.grad, s.x.grad


@program(x=values(0.5, 1.5))
def flags(s: Any) -> Iterator[Any]:
    s.x.requires_grad_()
    yield s.x
    s.y = s.x * 2
    yield s.y
    s.y.detach_()
    yield s.y
    s.x.data = torch.tensor([4.0, 5.0], dtype=torch.float64)
    yield s.x
    s.x.grad = torch.ones(2, dtype=torch.float64)
    yield s.x


@program(x=values(0.5, 1.5, grad=True))
def hooks(s: Any) -> Iterator[Any]:
    y = s.x * 3
    handle = y.register_hook(lambda g: g * 2)
    s.x.register_hook(lambda g: g + 1)
    s.x.register_post_accumulate_grad_hook(lambda p: None)
    y.grad_fn.register_hook(lambda inputs, outputs: None)
    y.grad_fn.register_prehook(lambda outputs: None)
    yield y
    y.sum().backward()
    yield s.x.grad
    handle.remove()
    yield y


@program(x=values(0.5, 1.5, grad=True))
def saved_tensor_hooks(s: Any) -> Iterator[Any]:
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.numpy().copy(),
                                                  lambda a: torch.tensor(a)):
        y = s.x.detach().exp() * s.x.sin()
    yield y
    with torch.autograd.graph.save_on_cpu():
        z = s.x * s.x
    yield z
    (y + z).sum().backward()
    yield s.x.grad


@program(x=values(0.5, 1.5, grad=True))
def writes_to_what_is_saved(s: Any) -> Iterator[Any]:
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        s.a = s.x * 2
        y = s.a.sin() * s.a
        yield y
        s.a.mul_(3)
        yield s.a
        (y * s.a.exp()).sum().backward()
        yield s.x.grad
    yield s.a + 1


@program(x=values(0.5, 1.5, grad=True))
def checkpoints(s: Any) -> Iterator[Any]:
    y = checkpoint(lambda a: a.sin().exp(), s.x, use_reentrant=False)
    yield y
    y.sum().backward()
    yield s.x.grad
    y = checkpoint(lambda a: a.cos().exp(), s.x, use_reentrant=True)
    yield y
    y.sum().backward()
    yield s.x.grad


class Cubed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x ** 2


@program(x=values(0.5, 1.5, grad=True))
def custom_function(s: Any) -> Iterator[Any]:
    y = Cubed.apply(s.x)
    yield y
    y.sum().backward()
    yield s.x.grad


@program(x=values(0.5, 1.5))
def batches(s: Any) -> Iterator[Any]:
    yield torch.func.vmap(lambda a: a.sin() * a.sum())(torch.stack([s.x, s.x * 2]))
    yield torch.func.vmap(torch.func.grad(lambda a: a.exp().sum()))(torch.stack([s.x, s.x]))
    yield torch.func.vmap(lambda a: a.clone().mul_(2))(torch.stack([s.x, s.x]))


@program(x=values(0.5, 1.5))
def forward_mode(s: Any) -> Iterator[Any]:
    yield torch.func.jvp(lambda a: a.sin() / a, (s.x,), (s.x,))
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(s.x, s.x) * s.x
        tangent = torch.autograd.forward_ad.unpack_dual(dual).tangent
    yield tangent
    yield torch.func.hessian(lambda a: (a ** 3).sum())(s.x)
    yield torch.func.jacrev(torch.exp)(s.x)


@program(x=values(0.5, 1.5, grad=True))
def modes(s: Any) -> Iterator[Any]:
    with torch.no_grad():
        y = s.x * 2
    yield y
    with torch.inference_mode():
        z = s.x * 2
    yield z + 1
    with torch.set_grad_enabled(False), torch.enable_grad():
        y = s.x / 3
    yield y
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = torch.ones(2, 2) @ torch.ones(2, 2)
    yield y


class Doubling(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@program(x=values(0.5, 1.5, grad=True))
def function_modes(s: Any) -> Iterator[Any]:
    with Doubling():
        y = torch.sin(s.x) + 1
    yield y
    y.sum().backward()
    yield s.x.grad


@program(x=values(0.5, 1.5, grad=True))
def anomaly_mode(s: Any) -> Iterator[Any]:
    with torch.autograd.detect_anomaly(check_nan=True):
        y = s.x.exp()
        yield y
        y.sum().backward()
        yield s.x.grad


# An interrupted draw may have used up some of its numbers: which ones, no program can tell.
@program(source=source)
def random_numbers(s: Any) -> Iterator[Any]:
    yield torch.randn(40, generator=s.source)
    yield torch.rand(3, generator=s.source)
    yield torch.randperm(5, generator=s.source)
    yield torch.randint(9, (4,), generator=s.source)
    s.source.manual_seed(9)
    yield None
    yield torch.randn(3, generator=s.source, dtype=torch.float64)
    s.source.set_state(torch.Generator().manual_seed(1).get_state())
    yield None
    yield torch.empty(3).uniform_(generator=s.source)


@program(model=model, x=lambda: torch.ones(2, 3))
def modules(s: Any) -> Iterator[Any]:
    handles = [s.model.register_forward_hook(lambda m, a, y: y * 2),
               s.model[0].register_forward_pre_hook(lambda m, a: None),
               s.model[2].register_full_backward_hook(lambda m, given, came: None)]
    yield s.model(s.x)
    s.model(s.x).sum().backward()
    yield s.model[0].weight.grad
    for handle in handles:
        handle.remove()
    yield s.model.eval()(s.x)
    s.model.zero_grad()
    yield s.model(s.x)


def trained(kind: str) -> Callable[[Any], Any]:
    def body(s: Any) -> Iterator[Any]:
        torch.nn.functional.mse_loss(s.model(s.x), s.y).backward()
        yield s.model[0].weight.grad
        s.optimizer = getattr(torch.optim, kind)(s.model.parameters(), lr=0.1)
        yield None
        s.optimizer.step()
        yield nothing_left(s.model.parameters())
        s.optimizer.zero_grad()
        yield None

    body.__name__ = kind.lower() + "_steps"
    return program(model=model, x=lambda: torch.ones(2, 3), y=lambda: torch.zeros(2, 2))(body)


for _kind in ("SGD", "Adam", "RMSprop", "Adagrad"):
    trained(_kind)


@program(x=values(0.5, 1.5, grad=True))
def files(s: Any) -> Iterator[Any]:
    file = io.BytesIO()
    torch.save({"x": s.x, "n": 3}, file)
    file.seek(0)
    yield torch.load(file)["x"]
    yield copy.deepcopy(s.x)


@program(x=lambda: torch.arange(6.0))
def data(s: Any) -> Iterator[Any]:
    dataset = torch.utils.data.TensorDataset(s.x)
    loader = torch.utils.data.DataLoader(dataset, batch_size=2, shuffle=True, generator=source())
    yield [batch for (batch,) in loader]


@program(x=lambda: torch.tensor([0.5, 1.5], dtype=torch.bfloat16, requires_grad=True))
def half_precision(s: Any) -> Iterator[Any]:
    y = (s.x * 2).exp() / 3
    yield y
    y.sum().backward()
    yield s.x.grad


@program(x=lambda: torch.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True))
def linear_algebra(s: Any) -> Iterator[Any]:
    y = torch.linalg.inv(s.x) @ s.x.t() + torch.einsum("ij,jk->ik", s.x, s.x)
    yield y
    torch.nn.functional.softmax(y, 1).log().sum().backward()
    yield s.x.grad
    yield s.x.detach().to(torch.int64), s.x.sort(), torch.cat([s.x, s.x]), repr(s.x)


def few_functions() -> dict[Any, str]:
    return {torch.softmax: "aten::softmax", torch.Tensor.sum: "aten::sum"}


@program(x=values(0.5, 1.5, grad=True))
def profiles(s: Any) -> Iterator[Any]:
    # Each function that looks out is the same places once more.
    with mock.patch.object(measured_functions, "functions_to_watch", few_functions):
        with torch.autograd.profiler.profile(with_stack=True, profile_memory=True) as prof:
            y = (s.x * 2).softmax(0).exp()
            with torch.autograd.profiler.record_function("block"):
                y.sum().backward()
        yield s.x.grad
    yield [(event.name, event.cpu_memory_usage) for event in prof.function_events]
