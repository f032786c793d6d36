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
from ..graph import Like, next_sequence
from ..interpret import (
    TENSOR_CLASS,
    TRACED_TYPES,
    Anomaly,
    attach_view,
    finish,
    is_differentiable,
    note_cut,
    static_values,
)
from ..modes import Mode
from ..op import ARRAY, DIM, DIMS, INDEX, INTS, OPTIONAL, Op
from ..replaying import keep_version
from ..sites import here, user_frame
from ..tensor import PLAIN, Tensor, edge_of
from .data import F4, F8, number_tensor
from .holders import TracedTensor, levels_of


class CallPlan:
    """What of a call depends on the op alone."""

    __slots__ = ("params", "any_dtype", "node", "plan")

    def __init__(self, op: Op):
        self.params = [(p.name, p.kind, p.name in op.numbers) for p in op.params]
        self.any_dtype = op.promote is None and not op.guard
        self.node: Any = node_class(op, "traced") if op.rules else None
        self.plan = self.node.plan if op.rules else None


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
    tensors: dict[str, Any] = {}
    token = xp.hush()
    try:
        values, top = read(op, plan, args, tensors)
        if top is None:
            return NotImplemented
        result = TRACED_TYPES[top.__class__](op, values, top)
    except Exception:  # the general path says what is wrong
        return NotImplemented
    finally:
        xp.unhush(token)
    if result.__class__ is tuple or result.__class__ is list or Anomaly.enabled:
        return finish(op, args, tensors, values, result, mode)
    out: Any = object.__new__(TENSOR_CLASS.get(result.__class__, Tensor))
    out._data = result
    out._form = out._edge = out._view = out._vc = None
    if op.is_view:
        attach_view(out, tensors[op.arrays[0]], op, static_values(op, values), mode)
    if mode.grad and op.rules:
        edges = [edge_of(t) if t is not None and name in op.rules else None
                 for name in op.arrays for t in (tensors[name],)]
        if any(e is not None for e in edges):
            record(op, plan, tensors, values, edges, out)
            return out
    for tensor in tensors.values():
        if tensor is not None and (tensor._edge is not None or tensor._cut is not None):
            note_cut(out, tensors.values())
            break
    return out


_OPERANDS = {ARRAY, OPTIONAL}
_INDICES = {INDEX, "optional index"}


def read(op: Op, plan: CallPlan, args: tuple[Any, ...],
         tensors: dict[str, Any]) -> tuple[list[Any], Any]:
    """The raw value of every argument, and the outermost transform's data among them or None.

    ``tensors`` gets the tensor arguments by name.
    """
    values: list[Any] = []
    dtype = top = None
    rank = 0
    for (name, kind, takes_number), value in zip(plan.params, args, strict=True):
        if kind in _OPERANDS:
            cls = value.__class__
            if cls is TracedTensor:
                data = value._data
                if top is None or data.level > top.level:
                    top = data
            elif cls is Tensor or cls in PLAIN:
                data = value._array() if op.is_view else value._data
                if data.__class__ in TRACED_TYPES:
                    return values, None
            elif (cls is float or cls is int) and takes_number and dtype is not None:
                value = number_tensor(value, dtype)
                data = value._data
            elif value is None and kind == OPTIONAL:
                tensors[name] = None
                values.append(None)
                continue
            else:
                return values, None
            if not plan.any_dtype and data.dtype is not dtype:
                if dtype is not None or not (data.dtype is F4 or data.dtype is F8):
                    return values, None
                dtype = data.dtype
            if not tensors:
                rank = data.ndim
            tensors[name] = value
            values.append(data)
        elif kind in _INDICES:
            tensors[name] = value
            data = None if value is None else value._data
            if data.__class__ in TRACED_TYPES and (top is None or data.level > top.level):
                top = data
            values.append(data)
        elif kind == DIM:
            values.append(canonical_dim(value, rank))
        elif kind == DIMS:
            values.append(canonical_dims(value, rank))
        elif kind == INTS:
            values.append(tuple(value) if isinstance(value, (tuple, list)) else (value,))
        else:
            values.append(value)
    return values, top


def record(op: Op, call: CallPlan, tensors: dict[str, Any], values: list[Any], edges: list[Any],
           out: Any) -> None:
    """Make the node of a call: see :func:`retrograd.interpret.record`."""
    if not is_differentiable(out):
        out._cut = here(3)
        return
    plan = call.plan
    node = call.node()
    node.seq = next_sequence()
    if plan.saved_arrays or plan.saved_outputs:
        frame = user_frame(sys._getframe(2))
        node.code, node.lasti = frame.f_code, frame.f_lasti
    node.next0 = edges[0]
    if plan.arity > 1:
        node.next1 = edges[1]
        if plan.arity > 2:
            node.rest = tuple(edges[2:])
    arrays = [tensors[name] for name in op.arrays]
    for i in plan.likes:
        setattr(node, f"like{i}", None if arrays[i] is None else
                Like(arrays[i]._data.shape, arrays[i]._data.dtype))
    if plan.fitted:
        node.fits = fits_of(op, [arrays[i] for i in plan.fitted], out._data)
    for name in plan.saved_arrays:
        tensor = tensors[name]
        if tensor is not None and all(edges[i] is None for i in plan.users(name)):
            tensor = None
        setattr(node, name, tensor)
        if tensor is not None and tensor._vc is not None and tensor._vc.n:
            keep_version(node, name, tensor._vc.n)
    if plan.saved_static:
        by_name = dict(zip(op.by_name, values, strict=True))
        for name in plan.saved_static:
            setattr(node, name, by_name[name])
    if plan.saved_outputs:
        node.out_y = out._data
        node.seal = None if out._vc is None else (out._vc, out._vc.n)
    node.input_levels = [() if t is None else levels_of(t._data) for t in arrays]
    out._edge = node


def fits_of(op: Op, given: list[Any], y: Any) -> Any:
    """What gradients have to be brought to, where the operands were broadcast."""
    if op.kind != "elementwise":
        return tuple([None if t is None else Like(t._data.shape, t._data.dtype) for t in given])
    shape = y.shape
    fits = [None if t is None or t._data.shape == shape else Like(t._data.shape, t._data.dtype)
            for t in given]
    return tuple(fits) if any(f is not None for f in fits) else None


interpret.TRACED_CALL = call_traced  # type: ignore[attr-defined]
