"""How many functions of the package are called for what programs do often: as many as before.

A quick way that is not taken, what is kept but not found again, and what is done twice give the
same values: no other test would notice, and times vary too much to be compared. The numbers stand
in sweeps/counted_calls.json; RETROGRAD_OUTCOMES=write writes what is found, which should be fewer.
"""

from __future__ import annotations

import gc
import inspect
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import retrograd as rg
from retrograd.autograd.backward import Passes
from retrograd.codegen.switch import GeneralPath

pytestmark = pytest.mark.skipif(GeneralPath.only, reason="the general path is not quick")

NUMBERS_FILE = Path(__file__).parent / "sweeps" / "counted_calls.json"
PACKAGE = Path(rg.__file__).parent
ELSEWHERE = ("backend", "amp", "overrides.py", "core/overriding.py", "core/arguments.py",
             "base/call_sites.py", "base/loading.py")
"""Where more is called if kernels are installed, or if a program has used a mode before."""


NOT_COUNTED = {"<listcomp>", "<dictcomp>", "<setcomp>", "__eq__", "_locate"}
"""What newer interpreters do not call, and what depends on which keys meet in a dictionary."""


class Twice(rg.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any) -> Any:
        return x * 2

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2 + 0 * ctx.saved_tensors[0]

    @staticmethod
    def jvp(ctx: Any, t: Any) -> Any:
        return t * 2


def written(x: Any, y: Any) -> Any:
    x = x * y
    x.mul_(y).add_(x, alpha=2).clamp_(-1.0)
    return x


def put(x: Any, y: Any) -> Any:
    x = x * y
    x[1:] = y[1:] * 2
    x[0, 0] = 1.0
    return x


def parts_written(x: Any, y: Any) -> Any:
    x = x * y
    x[1:].mul_(2.0)
    x[0].add_(y[0])
    x.t().exp_()
    return x


def layer(x: Any, y: Any) -> Any:
    return rg.nn.functional.linear(x, y, y[:, 0]).tanh()


# Of two tensors of three rows and three columns.
PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "sin": lambda x, y: x.sin(),
    "product": lambda x, y: x * y,
    "with numbers": lambda x, y: 2.0 - x * 3.0 / 4,
    "broadcast": lambda x, y: x * y[0] + y.sum(),
    "quotient": lambda x, y: x / (y * y + 1),
    "sum": lambda x, y: x.sum(),
    "sum of rows": lambda x, y: x.sum(1, keepdim=True),
    "mean": lambda x, y: x.mean(),
    "scalars": lambda x, y: x.sum() * y.sum() + x.sum().exp(),
    "matmul": lambda x, y: x @ y,
    "linear": layer,
    "cat": lambda x, y: rg.cat([x, y]),
    "stack": lambda x, y: rg.stack([x, y], 1),
    "split": lambda x, y: x.split(2, 1)[0],
    "max": lambda x, y: x.max(1).values,
    "slice": lambda x, y: x[:, 1:],
    "index": lambda x, y: x[rg.tensor([0, 2])],
    "gather": lambda x, y: x.gather(1, rg.tensor([[0], [1], [2]])),
    "reshape": lambda x, y: x.reshape(-1),
    "expand": lambda x, y: x[:1].expand(3, 3),
    "detach": lambda x, y: x * x.detach(),
    "where": lambda x, y: rg.where(x > y, x, y),
    "clamp": lambda x, y: x.clamp(-0.5, 0.5),
    "addcmul": lambda x, y: rg.addcmul(x, x, y, value=0.5),
    "softmax": lambda x, y: x.softmax(-1),
    "cross entropy": lambda x, y: rg.nn.functional.cross_entropy(x, rg.tensor([0, 1, 2])),
    "norm": lambda x, y: rg.linalg.norm(x),
    "convolution": lambda x, y: rg.nn.functional.conv1d(x[None], y[:, :, None]),
    "einsum": lambda x, y: rg.einsum("ij,kj->ik", x, y),
    "written": written,
    "put": put,
    "parts written": parts_written,
    "element": lambda x, y: x[0, 1],
    "number written": lambda x, y: (x * y).fill_(2.0).add_(x),
    "complex": lambda x, y: rg.complex(x, y).exp().abs(),
    "spectrum": lambda x, y: rg.fft.ifft(rg.fft.fft(rg.complex(x, y))).abs(),
    "half a spectrum": lambda x, y: rg.fft.irfft(rg.fft.rfft(x) * 2),
    "custom": lambda x, y: Twice.apply(x),
}


def leaves() -> tuple[Any, Any]:
    x, y = inputs()
    return x.requires_grad_(), y.requires_grad_()


def inputs() -> tuple[Any, Any]:
    rg.manual_seed(0)
    return rg.rand(3, 3, dtype=rg.float64), rg.rand(3, 3, dtype=rg.float64)


def scalar(h: Any) -> Any:
    return lambda x, y: h(x, y).sum()


def without_recording(h: Any, x: Any, y: Any) -> Any:
    with rg.no_grad():
        return h(x, y)


def inferred(h: Any, x: Any, y: Any) -> Any:
    with rg.inference_mode():
        return h(x, y)


def accumulated(h: Any, x: Any, y: Any) -> None:
    for _ in range(2):
        h(x, y).sum().backward()


def kept(h: Any, x: Any, y: Any) -> None:
    z = h(x, y).sum()
    z.backward(retain_graph=True)
    z.backward()


def watched(h: Any, x: Any, y: Any) -> None:
    x.register_hook(lambda g: g)
    z = h(x, y)
    z.retain_grad()
    z.grad_fn.register_hook(lambda into, out: None)
    z.sum().backward()


def packed(h: Any, x: Any, y: Any) -> None:
    with rg.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        h(x, y).sum().backward()


def twice(h: Any, x: Any, y: Any) -> Any:
    z = h(x, y)
    g, = rg.autograd.grad(z.sum(), x, create_graph=True)
    return rg.autograd.grad((g * g).sum() + z.sum(), (x, y), allow_unused=True)


def several(h: Any, x: Any, y: Any) -> Any:
    z = h(x, y)
    return rg.autograd.grad(z, x, rg.ones(2, *z.shape, dtype=z.dtype), is_grads_batched=True)


def dual(h: Any, x: Any, y: Any) -> Any:
    with rg.autograd.forward_ad.dual_level():
        z = h(rg.autograd.forward_ad.make_dual(x, y), y)
        return rg.autograd.forward_ad.unpack_dual(z)


def pulled(h: Any, x: Any, y: Any) -> Any:
    z, pull = rg.func.vjp(h, x, y)
    return pull(z)


def linearized(h: Any, x: Any, y: Any) -> Any:
    _, push = rg.func.linearize(lambda x: h(x, y), x)
    return push(y)


def both(x: Any) -> Any:
    return rg.stack([x, x])


def pushed(h: Any) -> Any:
    return lambda x, y: rg.func.jvp(lambda x: h(x, y), (x,), (y,))[1]


WITH_LEAVES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "recorded": lambda h, x, y: h(x, y),
    "not recorded": without_recording,
    "inferred": inferred,
    "single": lambda h, x, y: h(x.float(), y.float()).sum().backward(),
    "grad": lambda h, x, y: rg.autograd.grad(h(x, y).sum(), x),
    "accumulated": accumulated,
    "into one": lambda h, x, y: h(x, y).sum().backward(inputs=[x]),
    "kept": kept,
    "watched": watched,
    "packed": packed,
    "twice": twice,
    "several": several,
    "Hessian": lambda h, x, y: rg.autograd.functional.hessian(lambda x: scalar(h)(x, y), x),
}
WITHOUT: dict[str, Callable[[Any, Any, Any], Any]] = {
    "constant": lambda h, x, y: h(x, y),
    "dual": dual,
    "pushed": lambda h, x, y: pushed(h)(x, y),
    "pulled": pulled,
    "linearized": linearized,
    "func.grad": lambda h, x, y: rg.func.grad(scalar(h))(x, y),
    "grad of grad": lambda h, x, y: rg.func.grad(scalar(rg.func.grad(scalar(h))))(x, y),
    "vmap": lambda h, x, y: rg.vmap(h, randomness="same")(both(x), both(y)),
    "vmap of one": lambda h, x, y: rg.vmap(h, (1, None), randomness="same")(rg.stack([x, x], 1), y),
    "vmap in parts": lambda h, x, y: rg.vmap(h, randomness="same", chunk_size=1)(both(x), both(y)),
    "vmap of vmap": lambda h, x, y: rg.vmap(rg.vmap(h, (0, None), randomness="same"), (None, 0),
                                           randomness="same")(both(x), both(y)),
    "vmap of grad": lambda h, x, y: rg.vmap(rg.func.grad(scalar(h)), randomness="same")(
        both(x), both(y)),
    "vmap of pushed": lambda h, x, y: rg.vmap(pushed(h), randomness="same")(both(x), both(y)),
    "grad of vmap": lambda h, x, y: rg.func.grad(scalar(rg.vmap(h, randomness="same")))(
        both(x), both(y)),
    "grad of pushed": lambda h, x, y: rg.func.grad(scalar(pushed(h)))(x, y),
    "pushed grad": lambda h, x, y: pushed(rg.func.grad(scalar(h)))(x, y),
    "pushed twice": lambda h, x, y: pushed(pushed(h))(x, y),
    "jacrev": lambda h, x, y: rg.func.jacrev(h)(x, y),
    "jacfwd": lambda h, x, y: rg.func.jacfwd(h, randomness="same")(x, y),
    "hessian": lambda h, x, y: rg.func.jacfwd(rg.func.jacrev(scalar(h)), randomness="same")(x, y),
}


def calls(run: Callable[..., Any], *given: Any) -> int:
    """How many functions of the package, and of what it generates, are called."""
    met: list[Any] = []

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            met.append(frame.f_code)

    gc.disable()  # what is collected meanwhile may have callbacks
    sys.setprofile(note)
    try:
        run(*given)
    finally:
        sys.setprofile(None)
        gc.enable()
    return sum(map(counts, met))


def counts(code: Any) -> bool:
    if code.co_flags & inspect.CO_GENERATOR or code.co_name in NOT_COUNTED:
        return False
    path = Path(code.co_filename)
    if PACKAGE in path.parents:
        return not str(path.relative_to(PACKAGE)).startswith(ELSEWHERE)
    return code.co_filename.startswith("<retrograd") and "native" not in code.co_filename


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_done_often_takes_as_many_calls(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Passes, "are_watched", False)  # some are, in turn
    h = PROGRAMS[name]
    ways = [(situation, way, make) for ways, make in ((WITH_LEAVES, leaves), (WITHOUT, inputs))
            for situation, way in ways.items()]
    for _ in range(2):  # what is compiled, or looked up once, is known then
        for _, way, make in ways:
            way(h, *make())
    found = {situation: calls(way, h, *make()) for situation, way, make in ways}
    numbers = json.loads(NUMBERS_FILE.read_text())
    if os.environ.get("RETROGRAD_OUTCOMES") == "write":
        numbers = {known: numbers[known] for known in numbers if known in PROGRAMS} | {name: found}
        lines = [f"{json.dumps(known)}: {json.dumps(numbers[known])}" for known in sorted(numbers)]
        NUMBERS_FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    assert found == numbers[name]
