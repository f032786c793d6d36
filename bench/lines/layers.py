"""Layers and losses, each alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..declaring import Step, line, taken


def layer(name: str, shapes: list[tuple[int, ...]], prepare: Callable[[Any], Callable[..., Any]]
          ) -> None:
    """A line for ``prepare(lib)(*tensors)``, forward and backward; all tensors require grad."""

    @line(f"layers: {name}")
    def make(lib: Any) -> Step:
        lib.manual_seed(0)
        tensors = [lib.randn(*shape).requires_grad_() for shape in shapes]
        call = prepare(lib)
        gradient = lib.ones_like(call(*tensors).detach())

        def step() -> Any:
            call(*tensors).backward(gradient)
            return taken(*tensors)

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
          lambda lib, n=_shape[-1]: lambda x, w, b: lib.nn.functional.layer_norm(x, (n,), w, b))
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
