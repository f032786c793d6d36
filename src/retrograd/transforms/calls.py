"""The usual call of an op on a transform's data.

It does what :func:`retrograd.interpret.call` does in general, for arguments that need no promotion
and no words: numbers of one ordinary dtype, and nothing switched on but recording. Whatever else
there is, an error above all, is left to the general path.
"""

from __future__ import annotations

import sys
from typing import Any

from .. import interpret
from ..backend import numpy as xp
from ..codegen import node_class
from ..errors import canonical_dim, canonical_dims
from ..graph import next_sequence
from ..interpret import (
    TRACED_TYPES,
    Anomaly,
    attach_view,
    finish,
    is_differentiable,
    like_of,
    note_cut,
    static_values,
)
from ..modes import Mode
from ..op import ARRAY, DIM, DIMS, INDEX, INTS, OPTIONAL, Op
from ..replaying import keep_version
from ..sites import here, user_frame
from ..tensor import PLAIN, Tensor, edge_of
from .batched import way_of
from .data import F4, F8, number_tensor
from .dual import compute_dual
from .holders import Batched, TracedTensor, levels_of

new = object.__new__
quieten, unhush, QUIET = xp.quieten, xp.unhush, xp.QUIET


class CallPlan:
    """What of a call depends on the op alone."""

    __slots__ = ("params", "any_dtype", "is_view", "way", "node", "plan", "saved", "places")

    def __init__(self, op: Op):
        self.params = [(p.name, p.kind, p.name in op.numbers) for p in op.params]
        self.any_dtype = op.promote is None and not op.guard
        self.is_view = op.is_view
        self.way = way_of(op)
        self.node: Any = None
        if op.rules:
            self.node = node_class(op, "traced")
            self.plan = self.node.plan
            self.saved = [(name, self.plan.users(name)) for name in self.plan.saved_arrays]
            self.places = [i for i, name in enumerate(op.arrays) if name in op.rules]


_PLANS: dict[Op, CallPlan | None] = {}


def plan_of(op: Op) -> CallPlan | None:
    """The plan of an op's usual calls; None if it has none."""
    draws = op.kernel.__module__ == "retrograd.ops.random"  # what is left to another try is drawn
    found = _PLANS[op] = None if draws or op.has_list else CallPlan(op)
    return found


def call_traced(op: Op, args: tuple[Any, ...], mode: Mode) -> Any:
    """The result of a usual call, or NotImplemented."""
    plan = _PLANS[op] if op in _PLANS else plan_of(op)
    if plan is None or mode.inference or mode.saved_hooks or mode.intercept is not None:
        return NotImplemented
    tensors: list[Any] = []  # in the order of their parameters
    values: list[Any] = []
    token = quieten(QUIET)
    try:
        top = read(plan, args, tensors, values)
        if top is None:
            return NotImplemented
        result = plan.way(op, values, top) if top.__class__ is Batched else \
            compute_dual(op, values, top)
    except Exception:  # the general path says what is wrong
        return NotImplemented
    finally:
        unhush(token)
    if result.__class__ is tuple or result.__class__ is list or Anomaly.enabled:
        return finish(op, args, by_name(op, tensors), values, result, mode)
    out: Any = new(TracedTensor if result.__class__ in TRACED_TYPES else Tensor)
    out._data = result
    out._form = out._edge = out._view = out._vc = None
    if plan.is_view:
        attach_view(out, tensors[0], op, static_values(op, values), mode)
    for tensor in tensors:
        if tensor is not None and (tensor._edge is not None or tensor._view is not None
                                   or tensor._cut is not None):
            hang(op, plan, tensors, values, out, mode)
            break
    return out


_OPERANDS = {ARRAY, OPTIONAL}
_INDICES = {INDEX, "optional index"}


def read(plan: CallPlan, args: tuple[Any, ...], tensors: list[Any], values: list[Any]) -> Any:
    """The outermost transform's data among the arguments, None if the call is not usual.

    The tensor arguments are added to ``tensors``, the raw value of every argument to ``values``.
    """
    dtype = top = None
    rank = 0
    for (_, kind, takes_number), value in zip(plan.params, args, strict=True):
        if kind in _OPERANDS:
            cls = value.__class__
            if cls is TracedTensor:
                data = value._data
                if top is None or data.level > top.level:
                    top = data
            elif cls is Tensor or cls in PLAIN:
                data = value._array() if plan.is_view else value._data
                if data.__class__ in TRACED_TYPES:
                    return None
            elif (cls is float or cls is int) and takes_number and dtype is not None:
                value = number_tensor(value, dtype)
                data = value._data
            elif value is None and kind == OPTIONAL:
                tensors.append(None)
                values.append(None)
                continue
            else:
                return None
            if not plan.any_dtype:
                found = data.dtype
                if found is not dtype:
                    if dtype is not None or not (found is F4 or found is F8):
                        return None
                    dtype = found
            if not tensors:
                rank = data.ndim
            tensors.append(value)
            values.append(data)
        elif kind in _INDICES:
            data = None if value is None else value._data
            if data.__class__ in TRACED_TYPES and (top is None or data.level > top.level):
                top = data
            tensors.append(value)
            values.append(data)
        elif kind == DIM:
            values.append(canonical_dim(value, rank))
        elif kind == DIMS:
            values.append(canonical_dims(value, rank))
        elif kind == INTS:
            values.append(tuple(value) if isinstance(value, (tuple, list)) else (value,))
        else:
            values.append(value)
    return top


def by_name(op: Op, tensors: list[Any]) -> dict[str, Any]:
    """The tensor arguments by their names."""
    names = [n for n in op.by_name if n in op.arrays or n in op.indices]
    return dict(zip(names, tensors, strict=True))


# ---------------------------------------------------------------- recording


def hang(op: Op, plan: CallPlan, tensors: list[Any], values: list[Any], out: Any,
         mode: Mode) -> None:
    """Give the output of a call its place in the graph, or note why it has none."""
    if mode.grad and plan.node is not None:
        arrays = tensors if not op.indices else [by_name(op, tensors)[n] for n in op.arrays]
        edges: list[Any] = [None] * len(arrays)
        live = False
        for i in plan.places:
            if arrays[i] is not None:
                edge = edges[i] = edge_of(arrays[i])
                live = live or edge is not None
        if live:
            record(op, plan, arrays, tensors, values, edges, out)
            return
    note_cut(out, tensors)


def record(op: Op, call: CallPlan, arrays: list[Any], tensors: list[Any], values: list[Any],
           edges: list[Any], out: Any) -> None:
    """Make the node of a call: see :func:`retrograd.interpret.record`."""
    if not is_differentiable(out):
        out._cut = here(4)
        return
    plan = call.plan
    node = call.node()
    node.seq = next_sequence()
    if call.saved or plan.saved_outputs:
        frame = user_frame(sys._getframe(4))
        node.code, node.lasti = frame.f_code, frame.f_lasti
    node.next0 = edges[0]
    if plan.arity > 1:
        node.next1 = edges[1]
        if plan.arity > 2:
            node.rest = tuple(edges[2:])
    for i in plan.likes:
        setattr(node, f"like{i}", like_of(arrays[i]))
    if plan.fitted:
        node.fits = fits_of(op, [arrays[i] for i in plan.fitted], out._data)
    for name, users in call.saved:
        tensor = arrays[op.arrays.index(name)] if name in op.arrays else by_name(op, tensors)[name]
        if tensor is not None and all(edges[i] is None for i in users):
            tensor = None
        setattr(node, name, tensor)
        if tensor is not None and tensor._vc is not None and tensor._vc.n:
            keep_version(node, name, tensor._vc.n)
    if plan.saved_static:
        given = dict(zip(op.by_name, values, strict=True))
        for name in plan.saved_static:
            setattr(node, name, given[name])
    if plan.saved_outputs:
        node.out_y = out._data
        node.seal = None if out._vc is None else (out._vc, out._vc.n)
    node.input_levels = [() if t is None else levels_of(t._data) for t in arrays]
    out._edge = node


def fits_of(op: Op, given: list[Any], y: Any) -> Any:
    """What gradients have to be brought to, where the operands were broadcast."""
    if op.kind != "elementwise":
        return tuple([like_of(t) for t in given])
    shape = y.shape
    fits = [None if t is None or t._data.shape == shape else like_of(t) for t in given]
    return tuple(fits) if any(fits) else None


interpret.TRACED_CALL = call_traced  # type: ignore[attr-defined]
