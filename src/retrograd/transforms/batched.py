"""vmap: an op on batches."""

from __future__ import annotations

from typing import Any

from ..interpret import TRACED_TYPES, compute, wrap_any
from ..modes import switched
from ..notices import warn
from ..op import DIM, DIMS, Op
from ..sites import here
from .holders import Batched, CannotBatch, mapped


def compute_batched(op: Op, values: list[Any], top: Batched) -> Any:
    """An op on batches: by its batching rule, by its kind, or one value at a time."""
    level = top.level
    size = top.batch

    def is_batched(v: Any) -> bool:
        return type(v) is Batched and v.level == level

    outer = any(v.outer for value in values
                for v in (value if type(value) in (list, tuple) else (value,)) if is_batched(v))
    flags = [[is_batched(x) for x in v] if type(v) in (list, tuple) else is_batched(v)
             for v in values]
    inner = mapped(values, lambda v: v.value if is_batched(v) else v)
    result = NotImplemented
    rule = batching_rule(op)
    if rule is not None:
        try:
            with switched(grad=False, saved_hooks=(), override=True, journal=None):
                result = _unwrapped(rule(*_rule_arguments(op, inner, flags, size, level)))
        except CannotBatch as error:
            raise error if error.level is not None else error.at(level)  # noqa: B904
    if result is NotImplemented and op.kind == "elementwise":
        result = compute(op, _aligned(op, inner, flags))
    if result is NotImplemented:
        result = _shifted(op, inner, flags)
    if result is NotImplemented:
        result = _one_at_a_time(op, inner, flags, size)
    if isinstance(result, (tuple, list)):
        return type(result)(Batched(level, r, outer) for r in result)
    return Batched(level, result, outer)


def batching_rule(op: Op) -> Any:
    """The op's batching rule; the first question reads the rules in."""
    from ..ops import batching  # noqa: F401  (only now: most programs never batch)

    return op.batch_rule


class BatchArguments:
    """What a batching rule is given first: which arguments are batched, and how many there are."""

    __slots__ = ("size", "flags", "level")

    def __init__(self, size: int, flags: dict[str, Any], level: int):
        self.size, self.flags, self.level = size, flags, level

    def but(self, **flags: Any) -> BatchArguments:
        """The same batch with other arguments."""
        return BatchArguments(self.size, flags, self.level)

    def __getitem__(self, name: str) -> Any:
        return self.flags[name]


def _rule_arguments(op: Op, inner: list[Any], flags: list[Any], size: int,
                    level: int) -> list[Any]:
    """A batching rule's arguments: the batch, then the op's own with the batch in front."""
    by_name = {p.name: f for p, f in zip(op.params, flags, strict=True)}
    wrapped = []
    for param, value in zip(op.params, inner, strict=True):
        if param.name in op.arrays or param.name in op.indices:
            wrapped.append(None if value is None else [wrap_any(v) for v in value]
                           if isinstance(value, list) else wrap_any(value))
        else:
            wrapped.append(value)
    return [BatchArguments(size, by_name, level), *wrapped]


def _unwrapped(result: Any) -> Any:
    if result is NotImplemented:
        return result
    if isinstance(result, (tuple, list)):
        return type(result)(r._data for r in result)
    return result._data


def _aligned(op: Op, inner: list[Any], flags: list[Any]) -> list[Any]:
    """Pad the logical ranks, so that batches broadcast as their values would."""
    rank = 0
    for param, value, flag in zip(op.params, inner, flags, strict=True):
        if value is not None and param.name in op.arrays + op.indices:
            rank = max(rank, value.ndim - (1 if flag else 0))
    values = []
    for param, value, flag in zip(op.params, inner, flags, strict=True):
        if flag is True and param.name in op.arrays + op.indices and value.ndim - 1 < rank:
            shape = (value.shape[0], *(1,) * (rank - value.ndim + 1), *value.shape[1:])
            value = reshape_data(value, shape)
        values.append(value)
    return values


def reshape_data(data: Any, shape: tuple[int, ...]) -> Any:
    from ..ops.shape import _reshape

    return compute(_reshape.op, [data, shape])


_SHIFTS = {DIM, DIMS}


def _shifted(op: Op, inner: list[Any], flags: list[Any]) -> Any:
    """An op with dims, computed on the whole batch: every dim moves right by one."""
    if len(op.arrays) != 1 or op.indices or not any(p.kind in _SHIFTS for p in op.params):
        return NotImplemented
    if any(p.name in ("size", "input_sizes", "shape", "source") for p in op.params):
        return NotImplemented
    position = next(i for i, p in enumerate(op.params) if p.name == op.arrays[0])
    if flags[position] is not True:
        return NotImplemented
    data = inner[position]
    # A zero-dim value has one dim to name all the same.
    lonely = data.ndim == 1
    rank = max(data.ndim - 1, 1)
    values = []
    for param, value in zip(op.params, inner, strict=True):
        if param.kind == DIM:
            value = value + 1
        elif param.kind == DIMS:
            value = tuple(range(1, rank + 1)) if value is None or value == () else tuple(
                [d + 1 for d in value])
        elif param.name == op.arrays[0] and lonely:
            value = reshape_data(data, (data.shape[0], 1))
        values.append(value)
    result = compute(op, values)
    if not lonely:
        return result
    if isinstance(result, (tuple, list)):
        return type(result)(reshape_data(r, (data.shape[0],)) for r in result)
    return reshape_data(result, (data.shape[0],))


_TOLD: set[str] = set()


def _one_at_a_time(op: Op, inner: list[Any], flags: list[Any], size: int) -> Any:
    """The fallback that always works: a loop over the batch."""
    if op.name not in _TOLD:
        _TOLD.add(op.name)
        warn(f"There is a performance drop because we have not yet implemented the batching rule "
             f"for {op.name}: vmap runs it once for each of {size} values here:\n  {here(2)}")
    results = []
    for i in range(size):
        values = []
        for value, flag in zip(inner, flags, strict=True):
            if isinstance(flag, list):
                values.append(type(value)(pick(v, i) if f else v
                                          for v, f in zip(value, flag, strict=True)))
            else:
                values.append(pick(value, i) if flag else value)
        results.append(compute(op, values))
    if not results:
        raise ValueError(f"vmap: a batch of size 0 reached {op.name}, which has no batching rule")
    if isinstance(results[0], (tuple, list)):
        return type(results[0])(stack_data(list(parts)) for parts in zip(*results, strict=True))
    return stack_data(results)


def pick(data: Any, index: int) -> Any:
    from ..ops.shape import _select

    return compute(_select.op, [data, 0, index])


def stack_data(parts: list[Any]) -> Any:
    from ..ops.join import _stack

    return compute(_stack.op, [parts, 0])


TRACED_TYPES[Batched] = compute_batched
