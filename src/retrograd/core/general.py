"""The general path of an op call: whatever the generated fast path does not handle.

Arguments are checked and promoted (:mod:`.operands`), the op is computed on raw data
(:mod:`.computing`), and the call is recorded (:mod:`.recording`); that is what generated code does
for the usual calls, and what it is held to.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ..backend import xp
from ..backend.numpy import ndarray
from ..base.errors import in_bytes, is_of_dims, too_many_dims
from ..base.modes import MODE
from ..codegen.compiling import offer
from .arguments import refuse_options
from .computing import compute
from .extensions import TRACED_TENSORS, extensions
from .former_calls import in_present_order
from .holders import nodes_behind, note_holders
from .op import Op
from .operands import prepare, run_in
from .out_argument import in_dtype_of, write_out
from .overriding import dispatch_override, overriding
from .recording import collect_edges, finish
from .tensor import PLAIN, Tensor, wrap


def call_operator(op: Op, args: tuple[Any, ...], out: Any = None) -> Any:
    """A call by way of a Python operator: an unknown operand type is the other side's business."""
    if ndarray in map(type, args) and not op.meets_arrays and not MODE.get().functions:
        return NotImplemented  # arrays know what to do with tensors
    try:
        return call(op, args, out)
    except TypeError as error:
        if not getattr(error, "unknown_operand", False):
            raise
        if op.meets_arrays and any(map(xp.is_array, args)):
            return call(op, tuple([wrap(a) if xp.is_array(a) else a for a in args]), out)
        return NotImplemented


def call(op: Op, args: tuple[Any, ...], out: Any = None) -> Any:
    """Run ``op`` on ``args`` (one for each parameter, in order)."""
    if op.former:
        args = in_present_order(op, args)
    mode = MODE.get()
    if mode.functions:
        return dispatch_override(op.function, overriding(args), op, args, out)
    if out is None and mode.autocast is not None:
        args = mode.autocast.cast_for(op, args)
        return run_in(mode.but(autocast=None), op.function, op, args)
    if mode.profile is not None and not (mode.override and overriding(args)):
        return mode.profile.op(op, partial(run_in, mode.but(profile=None), op.function, op, args,
                                           out), args)
    if out is None:
        for value in args:
            if value.__class__ in TRACED_TENSORS:
                result = extensions.traced_call(op, args, mode)
                if result is not NotImplemented:
                    return result
                break
        else:
            if mode.journal is not None and is_beside(op, args):
                # Which kept it from the fast path.
                return run_in(mode.but(journal=None), op.function, op, args)
    elif op.out_rule.computes and isinstance(out, Tensor):
        args = in_dtype_of(op, args, out)
    if mode.override:
        found = overriding(args)
        if found:
            return dispatch_override(op.function, found, op, args, out)
    try:
        tensors, values = prepare(op, args)
    except TypeError as error:
        refuse_options(op, args, error)
        raise
    try:
        result = compute(op, values) if mode.intercept is None \
            else mode.intercept.compute(op, values, compute)
    except Exception as error:
        if mode.records and op.rules and isinstance(error, RuntimeError):
            collect_edges(op, tensors)  # a refused history is the first thing to say
        if isinstance(error, MemoryError):
            refused = in_bytes(error)
            note_holders(refused, nodes_behind(collect_edges(op, tensors)))
            raise refused from None
        if is_of_dims(error):
            raise too_many_dims(op.title) from None
        if isinstance(error, ModuleNotFoundError):
            raise ModuleNotFoundError(f"{op.title}(): {error}", name=error.name) from None
        refuse_options(op, args, error)
        raise
    if out is not None:
        return write_out(op, tensors, result, out)
    made = finish(op, tensors, values, result, mode)
    if mode.intercept is not None:
        mode.intercept.made(made)
    return made


def is_beside(op: Op, args: tuple[Any, ...]) -> bool:
    """Whether a call inside a vmap has nothing to do with it: plain tensors, and nothing drawn."""
    return not op.has_list and not op.draws and all(
        type(value) in PLAIN or not isinstance(value, Tensor) for value in args)


offer(call, call_operator)

__all__ = ["call", "call_operator"]
