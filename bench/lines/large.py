"""One op each on 1024x1024 numbers, forward and backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..declaring import Step, line, taken, tensor

OPS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "x.t().contiguous()": lambda lib, x, y: x.t().contiguous(),
    "permute and contiguous": lambda lib, x, y:
        x.reshape(64, 128, 128).permute(2, 0, 1).contiguous(),
    "sin": lambda lib, x, y: x.sin(),
    "where": lambda lib, x, y: lib.where(x > y, x, y),
    "masked_fill": lambda lib, x, y: x.masked_fill(y > 0, 1.0),
    "clamp": lambda lib, x, y: x.clamp(-1, 1),
    "cumsum along rows": lambda lib, x, y: x.cumsum(1),
    "cumsum along columns": lambda lib, x, y: x.cumsum(0),
    "cumprod": lambda lib, x, y: (x / 100 + 1).cumprod(1),
    "topk": lambda lib, x, y: x.topk(10).values,
    "sum of columns": lambda lib, x, y: x.sum(0),
    "max of rows": lambda lib, x, y: x.max(1).values,
    "cat": lambda lib, x, y: lib.cat([x, y], 1),
    "flip": lambda lib, x, y: x.flip(1),
    "pow": lambda lib, x, y: x.abs() ** 2.5,
    "in-place add_ and mul_": lambda lib, x, y: (x * 1.5).add_(y).mul_(0.5),
    "leaky_relu": lambda lib, x, y: lib.nn.functional.leaky_relu(x),
    "elu": lambda lib, x, y: lib.nn.functional.elu(x),
    "smooth_l1_loss": lambda lib, x, y: lib.nn.functional.smooth_l1_loss(x, y),
    "norm of rows": lambda lib, x, y: x.norm(dim=1),
    "prod of rows": lambda lib, x, y: (x / 100 + 1).prod(1),
    "cdist of 64 numbers": lambda lib, x, y: lib.cdist(x[:, :64], y[:, :64]),
    "lerp": lambda lib, x, y: lib.lerp(x, y, 0.3),
    "addcmul": lambda lib, x, y: lib.addcmul(x, x, y, value=0.5),
    "remainder": lambda lib, x, y: lib.remainder(x, 0.7),
    "log1p": lambda lib, x, y: x.abs().log1p(),
    "tanh": lambda lib, x, y: x.tanh()}
WRITES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "copy_ of a transpose": lambda lib, x, y: x.copy_(y.t()),
    "add_": lambda lib, x, y: x.add_(y, alpha=1e-6),
    "mul_ by a number": lambda lib, x, y: x.mul_(1.0),
    "to half precision": lambda lib, x, y: x.half()}


def large(name: str, call: Callable[[Any, Any, Any], Any]) -> None:
    """A line for one op."""

    @line(f"large: {name}, 1024x1024, forward and backward")
    def make(lib: Any) -> Step:
        x, y = tensor(lib, 0, 1024, 1024).requires_grad_(), tensor(lib, 1, 1024, 1024)
        gradient = lib.ones_like(call(lib, x, y).detach())

        def step() -> Any:
            call(lib, x, y).backward(gradient)
            return taken(x)

        return step


for _name, _call in OPS.items():
    large(_name, _call)


def without_history(name: str, call: Callable[[Any, Any, Any], Any]) -> None:
    """A line for a write or a copy of which nothing is recorded."""

    @line(f"large: {name}, 1024x1024")
    def make(lib: Any) -> Step:
        x, y = tensor(lib, 0, 1024, 1024), tensor(lib, 1, 1024, 1024)
        return lambda: call(lib, x, y)[:2, :2]


for _name, _call in WRITES.items():
    without_history(_name, _call)
