"""Custom functions under vmap: by their own rule, or one value at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..base import trees
from ..base.call_sites import here
from ..base.warning import warn
from ..core.computing import outermost
from ..core.tensor import Tensor
from ..random import VMAPS
from ..transforms import Batched, batch_in, batch_out, batch_repeated, levels_of, made_inside

_MORE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    """What a custom function's ``vmap`` is told of the batch."""

    batch_size: int
    randomness: str


def apply_batched(cls: Any, args: tuple[Any, ...]) -> Any:
    """``cls.apply`` on batched arguments; NotImplemented if forward may see the batch itself."""
    from .function import Function

    leaves, structure = trees.flatten(args)
    top = outermost([a._data for a in leaves if isinstance(a, Tensor)])
    if not isinstance(top, Batched):
        return NotImplemented
    has_rule = cls.vmap is not Function.vmap
    if cls.generate_vmap_rule:
        if has_rule:
            raise RuntimeError(
                f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True "
                "and an overridden vmap staticmethod. Please set generate_vmap_rule=False or "
                f"delete the overridden vmap staticmethod to avoid ambiguity. {_MORE}")
        return NotImplemented
    level, size = top.level, top.batch
    # What is differentiated inside this vmap has a gradient for each value.
    leaves = [batch_repeated(a, level, size) if isinstance(a, Tensor)
              and level not in levels_of(a._data) and made_inside(a, level) else a for a in leaves]
    dims = [0 if isinstance(a, Tensor) and level in levels_of(a._data) else None for a in leaves]
    whole = [a if d is None else batch_out(a, 0, level, size)
             for a, d in zip(leaves, dims, strict=True)]
    if has_rule:
        output, where = _by_own_rule(cls, whole, dims, structure, level, size)
    else:
        output, where = _one_by_one(cls, whole, dims, structure, size)
    outs, out_structure = trees.flatten(output)
    return trees.unflatten([o if d is None or not isinstance(o, Tensor)
                            else batch_in(o, d % max(o.dim(), 1), level)
                            for o, d in zip(outs, where, strict=True)], out_structure)


def _by_own_rule(cls: Any, whole: list[Any], dims: list[Any], structure: Any, level: int,
                 size: int) -> tuple[Any, list[Any]]:
    randomness = next((how for how, at, _ in VMAPS.get() if at == level), "error")
    returned = cls.vmap(VmapInfo(size, randomness), trees.unflatten(dims, structure),
                        *trees.unflatten(whole, structure))
    if not isinstance(returned, tuple) or len(returned) != 2:
        got = f"{len(returned)} returns" if isinstance(returned, tuple) else f"a {type(returned)}"
        raise RuntimeError("Expected the vmap staticmethod to have two returns, an output and "
                           "out_dims with pytree structure compatible with the output. Got "
                           f"{got} instead")
    output, out_dims = returned
    out_structure = trees.flatten(output)[1]
    where = trees.broadcast_prefix(out_dims, out_structure)
    if where is None:
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) "
            f"tuple. Expected out_dims={out_dims} to be compatible with the structure of `output`. "
            f"out_dims has structure {trees.flatten(out_dims)[1]} but output has structure "
            f"{out_structure}. {_MORE}")
    return output, where


_TOLD: set[type] = set()


def _one_by_one(cls: Any, whole: list[Any], dims: list[Any], structure: Any,
                size: int) -> tuple[Any, list[Any]]:
    """The function without a rule: called for each value, the outputs stacked."""
    from ..ops.shapes.joining import stack

    if cls not in _TOLD:
        _TOLD.add(cls)
        warn(f"vmap runs {cls.__name__} once for each of {size} values, because it has no vmap "
             f"staticmethod, and generate_vmap_rule is not set. It is called here:\n  {here(4)}")
    rows = []
    out_structure: Any = None
    for i in range(size):
        own = [a if d is None else a.select(d, i) for a, d in zip(whole, dims, strict=True)]
        outs, out_structure = trees.flatten(cls.apply(*trees.unflatten(own, structure)))
        rows.append(outs)
    if not rows:
        raise ValueError(f"vmap: a batch of size 0 reached {cls.__name__}, which has no vmap "
                         "staticmethod")
    joined, where = [], []
    for parts in zip(*rows, strict=True):
        batched = isinstance(parts[0], Tensor)
        joined.append(stack(list(parts), 0) if batched else parts[0])
        where.append(0 if batched else None)
    return trees.unflatten(joined, out_structure), where
