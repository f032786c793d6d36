"""Batching rules: how vmap computes each op on a whole batch at once.

Elementwise ops need none, and ops along dims have them moved by :mod:`retrograd.transforms`. Others
name a way that many share (``batches="leading"``, see the end), or have a rule beside them. It
gets the batch (its size, the op's name, and which arguments have one), then the op's arguments,
where those that are batched carry the batch as dim 0, and returns the result with the batch as
dim 0. Rules are written in ops, so they work inside other transforms.
"""

from __future__ import annotations

import math
from typing import Any

from ..core.op import REGISTRY, WAYS_TO_BATCH
from .shapes.dimensions import movedim, unsqueeze
from .shapes.expanding import expand
from .shapes.reshaping import reshape, with_rank


def run(name: str, *values: Any) -> Any:
    """An op on arguments in the order of its declaration."""
    op = REGISTRY[name]
    named = {p.name: v for p, v in zip(op.params, values, strict=True) if p.keyword_only}
    return op.function(*values[:len(values) - len(named)], **named)


# ---------------------------------------------------------------- bringing batches in line


def batched(batch: Any, name: str, value: Any) -> Any:
    """An argument with the batch in front: repeated where it had none."""
    if value is None or batch[name]:
        return value
    return repeated(batch.size, value)


def repeated(size: int, value: Any) -> Any:
    return expand(unsqueeze(value, 0), (size, *value.shape))


def all_batched(batch: Any, **given: Any) -> list[Any]:
    """Every argument with the batch in front."""
    return [batched(batch, name, value) for name, value in given.items()]


def each_batched(batch: Any, tensors: Any) -> list[Any]:
    """The tensors of the argument that is a list, all with the batch in front."""
    return [tensor if flag else repeated(batch.size, tensor)
            for tensor, flag in zip(tensors, batch["tensors"], strict=True)]


def rank_of(batch: Any, name: str, value: Any) -> int:
    """The rank of an argument, not counting the batch."""
    return value.ndim - bool(batch[name])


def aligned(batch: Any, name: str, value: Any, rank: int) -> Any:
    """An argument that broadcasts with batched values of ``rank``."""
    return with_rank(value, rank) if batch[name] else value


def as_operands(batch: Any, **given: Any) -> list[Any]:
    """Tensors that broadcast with each other behind the batch, which some may not have."""
    rank = max(rank_of(batch, name, t) for name, t in given.items())
    return [aligned(batch, name, t, rank) for name, t in given.items()]


def all_aligned(batch: Any, **given: Any) -> list[Any]:
    """Every argument with the batch in front and of one rank."""
    rank = max(rank_of(batch, name, t) for name, t in given.items() if t is not None)
    return [None if t is None else with_rank(batched(batch, name, t), rank)
            for name, t in given.items()]


def with_one_dim(value: Any) -> Any:
    """A batch of zero-dim values as a batch of vectors of length one."""
    return unsqueeze(value, 1) if value is not None and value.ndim == 1 else value


def without_one_dim(found: Any, input: Any) -> Any:
    """What was found for :func:`with_one_dim` of ``input``, in the shape of ``input``."""
    return reshape(found, input.shape) if input.ndim == 1 else found


def folded(value: Any) -> Any:
    """The batch merged into the next dim."""
    return reshape(value, (value.shape[0] * value.shape[1], *value.shape[2:]))


def unfolded(batch: Any, value: Any) -> Any:
    """The batch taken out of the first dim again."""
    rest = value.shape[0] // batch.size if batch.size else 0
    return reshape(value, (batch.size, rest, *value.shape[1:]))


def merged(value: Any, dim: int) -> Any:
    """The batch merged into dim ``dim`` of the values, in front of it."""
    moved = movedim(value, 0, dim)
    shape = moved.shape
    return reshape(moved, (*shape[:dim], shape[dim] * shape[dim + 1], *shape[dim + 2:]))


def unmerged(batch: Any, value: Any, dim: int) -> Any:
    """The batch taken out of dim ``dim`` again."""
    shape = value.shape
    parts = shape[dim] // batch.size if batch.size else 0
    return movedim(reshape(value, (*shape[:dim], batch.size, parts, *shape[dim + 1:])), dim, 0)


def shifted(dims: Any) -> tuple[int, ...]:
    return tuple([d + 1 for d in dims])


def inner_rank(value: Any) -> int:
    """The rank of each value of a batch."""
    return value.ndim - 1


def flat(value: Any) -> Any:
    """Each value of a batch in one dim."""
    return reshape(value, (value.shape[0], math.prod(value.shape[1:])))


def dims_behind(dim: Any, rank: int) -> tuple[int, ...]:
    """``dim`` of values of ``rank`` dims, behind a batch; none means all."""
    return tuple([d + 1 for d in dim or range(rank)])


# ---------------------------------------------------------------- ways that many ops share


def way(function: Any) -> Any:
    """Declare a batching rule that ops ask for by its name, as ``batches="leading"``."""
    WAYS_TO_BATCH[function.__name__] = function
    return function


@way
def leading(batch: Any, *values: Any) -> Any:
    """The op works on any leading dims: it is called on the whole batch."""
    return run(batch.name, *values)


def of_rank(least: int, name: str, doc: str) -> None:
    """Declare the same way for ops that need so many dims, which a batch must not stand in for."""

    def leading_beyond(batch: Any, *values: Any) -> Any:
        op = REGISTRY[batch.name]
        marks = [batch[p.name] is True for p in op.params]
        given = next(i for i, p in enumerate(op.params) if p.name == (op.arrays or op.indices)[0])
        if values[given].ndim - marks[given] < least and batch.size:
            one = [value[0] if mark else value for value, mark in zip(values, marks, strict=True)]
            run(batch.name, *one)  # which says what is wrong
        return leading(batch, *values)

    leading_beyond.__name__, leading_beyond.__doc__ = name, doc
    way(leading_beyond)


of_rank(1, "vectors", "The op works on any dims before the last one.")
of_rank(2, "matrices", "The op works on any dims before the last two.")

_DIMS = frozenset(("dim", "dims", "dim1", "dim2", "axes"))
_SIZES = frozenset(("shape", "input_sizes"))


@way
def dims(batch: Any, *values: Any) -> Any:
    """The op is told its dims and sizes: dims move by one, and sizes get the batch in front."""
    op = REGISTRY[batch.name]
    given = []
    for param, value in zip(op.params, values, strict=True):
        if param.name in _DIMS:
            value = value + 1 if isinstance(value, int) else shifted(value)
        elif param.name in _SIZES:
            value = (batch.size, *value)
        elif param.name in op.arrays:
            value = batched(batch, param.name, value)
        given.append(value)
    return run(batch.name, *given)


@way
def planes(batch: Any, *values: Any) -> Any:
    """The op treats its planes alike: the batch counts as more of them."""
    op = REGISTRY[batch.name]
    given = [folded(batched(batch, p.name, v)) if p.name in op.arrays or p.name in op.indices else v
             for p, v in zip(op.params, values, strict=True)]
    found = run(batch.name, *given)
    return tuple([unfolded(batch, part) for part in found]) if isinstance(found, tuple) \
        else unfolded(batch, found)
