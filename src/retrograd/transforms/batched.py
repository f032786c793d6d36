"""vmap: an op on batches."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ..backend.numpy import ndarray
from ..base.call_sites import here
from ..base.modes import MODE
from ..base.warning import warn
from ..core.computing import compute
from ..core.extensions import TRACED_TYPES
from ..core.op import DIM, DIMS, Op
from ..core.tensor import wrap_any
from .raw_rules import (
    ARRAYS,
    F4,
    F8,
    are_real,
    expand_data,
    on_data,
    operands_of,
    quickest,
    unrecorded,
)
from .traced_data import Batched, CannotBatch


def compute_batched(op: Op, values: list[Any], top: Batched) -> Any:
    """An op on batches: by its batching rule, by its kind, or one value at a time."""
    return way_of(op)(op, values, top)


Way = Callable[[Op, list[Any], Batched], Any]


@cache
def way_of(op: Op) -> Way:
    """How an op is computed on batches."""
    rule = op.batch_rule
    positions = [i for i, p in enumerate(op.params) if p.name in op.arrays or p.name in op.indices]
    if rule is None and op.kind == "elementwise" and not op.check:
        if positions == [0]:
            return _of_one(quickest(op))
        if positions == [0, 1] and not op.indices:
            return _of_two(quickest(op))
    return OtherWay(op, rule)


def _of_one(kernel: Callable[..., Any]) -> Way:
    """The way of elementwise ops of one operand."""

    def way(op: Op, values: list[Any], top: Batched) -> Any:
        data = top.value
        if data.__class__ is ndarray and (data.dtype is F4 or data.dtype is F8):
            return Batched(top.level, kernel(data, *values[1:]), top.outer)
        return Batched(top.level, compute(op, [data, *values[1:]]), top.outer)

    return way


def _of_two(kernel: Callable[..., Any]) -> Way:
    """The way of elementwise ops of two operands."""

    def way(op: Op, values: list[Any], top: Batched) -> Any:
        a, b, *options = values
        level = top.level
        if a.__class__ is Batched and a.level == level:
            outer, a = a.outer, a.value
            if b.__class__ is Batched and b.level == level:
                outer = outer or b.outer
                b = b.value
                missing = a.ndim - b.ndim
                if missing > 0:
                    b = with_rank(b, a.ndim)
                elif missing:
                    a = with_rank(a, b.ndim)
            elif a.ndim <= b.ndim:
                a = with_rank(a, b.ndim + 1)
        else:
            outer, b = b.outer, b.value
            if b.ndim <= a.ndim:
                b = with_rank(b, a.ndim + 1)
        dtype = a.dtype
        if a.__class__ in ARRAYS and b.__class__ in ARRAYS and dtype is b.dtype and (
                dtype is F4 or dtype is F8):
            return Batched(level, kernel(a, b, *options), outer)
        return Batched(level, compute(op, [a, b, *options]), outer)

    return way


def with_rank(data: Any, rank: int) -> Any:
    """A batch with dims of length one after the first, up to ``rank`` dims in all."""
    shape = data.shape
    return data.reshape((shape[0], *(1,) * (rank - len(shape)), *shape[1:]))


class OtherWay:
    """By the op's rule, with dims moved, or one value at a time."""

    def __init__(self, op: Op, rule: Any):
        self.rule = rule
        self.quick = None if rule is None else on_data(rule)
        self.names = tuple(op.by_name)
        self.operands = operands_of(op)

    def __call__(self, op: Op, values: list[Any], top: Batched) -> Any:
        level = top.level
        size = top.value.shape[0]
        outer = False
        flags: list[Any] = []
        inner: list[Any] = []
        for value in values:
            cls = value.__class__
            if cls is Batched and value.level == level:
                flags.append(True)
                inner.append(value.value)
                outer = outer or value.outer
            elif cls is list or cls is tuple:
                marks = [x.__class__ is Batched and x.level == level for x in value]
                flags.append(marks)
                if True in marks:
                    outer = outer or any(x.outer for x, f in zip(value, marks, strict=True) if f)
                    value = cls(x.value if f else x for x, f in zip(value, marks, strict=True))
                inner.append(value)
            else:
                flags.append(False)
                inner.append(value)
        result = NotImplemented
        if self.rule is not None:
            result = self.by_rule(op, inner, flags, size, level)
        if result is NotImplemented and op.kind == "elementwise":
            result = compute(op, _aligned(op, inner, flags))
        if result is NotImplemented:
            result = _shifted(op, inner, flags, size)
        if result is NotImplemented:
            result = _one_at_a_time(op, inner, flags, size)
        if isinstance(result, (tuple, list)):
            return type(result)(Batched(level, r, outer) for r in result)
        return Batched(level, result, outer)

    def by_rule(self, op: Op, inner: list[Any], flags: list[Any], size: int, level: int) -> Any:
        """The batching rule's result on the whole batch, or NotImplemented."""
        batch = BatchArguments(op.name, size, dict(zip(self.names, flags, strict=True)), level)
        if self.quick is not None and are_real(inner, self.operands):
            try:
                return self.quick(batch, *inner)
            except Exception:  # the rule on tensors says what is wrong
                pass
        before = MODE.get()
        try:
            MODE.set(unrecorded(before))
            return _unwrapped(self.rule(batch, *_as_tensors(op, inner)))
        except CannotBatch as error:
            raise error if error.level is not None else error.at(level)  # noqa: B904
        finally:
            MODE.set(before)


class BatchArguments:
    """What a batching rule is given first: the name of the op, which arguments are batched, and how
    many there are."""

    __slots__ = ("name", "size", "flags", "level")

    def __init__(self, name: str, size: int, flags: dict[str, Any], level: int):
        self.name, self.size, self.flags, self.level = name, size, flags, level

    def but(self, **flags: Any) -> BatchArguments:
        """The same batch with other arguments."""
        return BatchArguments(self.name, self.size, flags, self.level)

    def __getitem__(self, name: str) -> Any:
        return self.flags[name]


def _as_tensors(op: Op, inner: list[Any]) -> list[Any]:
    """An op's arguments, raw data as tensors."""
    wrapped = []
    for param, value in zip(op.params, inner, strict=True):
        if param.name in op.arrays or param.name in op.indices:
            wrapped.append(None if value is None else [wrap_any(v) for v in value]
                           if isinstance(value, list) else wrap_any(value))
        else:
            wrapped.append(value)
    return wrapped


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
        if flag is True and param.name in op.arrays + op.indices:
            value = with_rank(value, rank + 1)
        values.append(value)
    return values


_SHIFTS = {DIM, DIMS}


def _shifted(op: Op, inner: list[Any], flags: list[Any], size: int) -> Any:
    """An op along dims, computed on the whole batch: every dim moves right by one."""
    if op.has_list or not any(p.kind in _SHIFTS for p in op.params) or any(
            p.name in ("size", "input_sizes", "shape", "source") for p in op.params):
        return NotImplemented
    rank = lonely = None
    values = []
    for param, value, flag in zip(op.params, inner, flags, strict=True):
        if value is not None and (param.name in op.arrays or param.name in op.indices):
            value = value if flag else _repeated(value, size)
            if rank is None:
                # A zero-dim value has one dim to name all the same.
                rank, lonely = max(value.ndim - 1, 1), value.ndim == 1
            if value.ndim == 1:
                value = value.reshape((size, 1))
        values.append(value)
    for i, param in enumerate(op.params):
        if param.kind == DIM:
            values[i] += 1
        elif param.kind == DIMS:
            values[i] = tuple([d + 1 for d in values[i] or range(rank or 0)])
    result = compute(op, values)
    if not lonely:
        return result
    if isinstance(result, (tuple, list)):
        return type(result)(r.reshape((size,)) for r in result)
    return result.reshape((size,))


def _repeated(data: Any, size: int) -> Any:
    """A value without a batch, for each value of the batch."""
    return expand_data(data.reshape((1, *data.shape)), (size, *data.shape))


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
    from ..ops.shapes.slicing import _select

    return compute(_select.op, [data, 0, index])


def stack_data(parts: list[Any]) -> Any:
    from ..ops.shapes.joining import _stack

    return compute(_stack.op, [parts, 0])


TRACED_TYPES[Batched] = compute_batched
