"""Copies and mixtures along axes, which padding, pooling and resampling are made of."""

from __future__ import annotations

from typing import Any

from ...backend import conv as conv_kernels
from ...core.op import Array, linear
from ..batching import run
from ..checks.common import kinds


@linear(batches=lambda batch, input, recipe, sizes:
        _spread_axes(input, _shifted_recipe(recipe), (batch.size, *sizes)))
def _spread_axes(input: Array, recipe: Any, sizes: Any) -> Any:
    return conv_kernels.spread_axes(input, recipe, sizes)


def _behind_batch(batch: Any, input: Any, recipe: Any, *rest: Any) -> Any:
    """The batching rule of ops with a recipe for some axes, which move by one."""
    return run(batch.name, input, _shifted_recipe(recipe), *rest)


def _shifted_recipe(recipe: Any) -> Any:
    return tuple([(axis + 1 if axis >= 0 else axis, *rest) for axis, *rest in recipe])


def _declare_taking(name: str, node: str, guard: Any = None) -> Any:
    """An op that copies positions along axes; variants differ in the name of their node."""
    @linear(name=name, node=node, guard=guard)
    def taken(input: Array, recipe: Any) -> Any:
        return conv_kernels.take_axes(input, recipe)

    taken.vjp(input=lambda g, like, recipe: _spread_axes(g, recipe, like.shape))
    taken.batch(_behind_batch)
    return taken


_take_axes = _declare_taking("_take_axes", "IndexSelectBackward0")
_spread_axes.vjp(input=lambda g, recipe: _take_axes(g, recipe))


@linear(node="MmBackward0", batches=_behind_batch,
        vjp=lambda g, recipe, transposed: _multiply_axes(g, recipe, not transposed))
def _multiply_axes(input: Array, recipe: Any, transposed: bool) -> Any:
    return conv_kernels.multiply_axes(input, recipe, transposed)


def _declare_mixing(name: str, node: str, lacking: str) -> Any:
    """An op that multiplies matrices onto axes; variants differ in the name of their node."""
    @linear(name=name, node=node, guard=kinds("f", lacking))
    def mixed(input: Array, recipe: Any) -> Any:
        return conv_kernels.multiply_axes(input, recipe, False)

    mixed.vjp(input=lambda g, recipe: _multiply_axes(g, recipe, True))
    mixed.batch(_behind_batch)
    return mixed
