"""The usual call of an op on a transform's data, written out for each op.

It does what :func:`retrograd.core.general.call` does in general, for arguments that need no
promotion and no words: numbers of one ordinary dtype, and nothing switched on but recording.
Whatever else there is, an error above all, is left to the general path.
"""

from __future__ import annotations

import sys
from typing import Any

from ..backend import xp
from ..base.call_sites import here, user_frame
from ..base.errors import canonical_dim, canonical_dims
from ..base.modes import Mode
from ..codegen import node_class
from ..core import general
from ..core.general import (
    TRACED_TYPES,
    Anomaly,
    attach_view,
    finish,
    is_differentiable,
    like_of,
    note_cut,
)
from ..core.graph import AGES
from ..core.op import ARRAY, DIM, DIMS, INTS, OPTIONAL, Op, Param
from ..core.saved_values import keep_version
from ..core.tensor import PLAIN, Tensor, edge_of
from .batched import way_of
from .data import F4, F8, compiled, number_tensor
from .dual import compute_dual
from .holders import Batched, TracedTensor, levels_of

_CALLS: dict[Op, Any] = {}


def call_traced(op: Op, args: tuple[Any, ...], mode: Mode) -> Any:
    """The result of a usual call, or NotImplemented."""
    made = _CALLS[op] if op in _CALLS else written(op)
    if made is None or mode.inference or mode.saved_hooks or mode.intercept is not None:
        return NotImplemented
    return made(args, mode)


general.TRACED_CALL = call_traced


def written(op: Op) -> Any:
    """The usual call of ``op`` as a function; None if there is none."""
    # What is tried twice is drawn twice.
    _CALLS[op] = None if op.draws or op.has_list or not op.arrays else compiled(
        f"{op.name} call", "call", _call_source(op),
        {**_NAMES, "op": op, "way": way_of(op),
         "Node": node_class(op, "traced") if op.rules else None})
    return _CALLS[op]


_NAMES: dict[str, Any] = {
    "TracedTensor": TracedTensor, "Tensor": Tensor, "PLAIN": PLAIN, "Batched": Batched,
    "TRACED_TYPES": TRACED_TYPES, "F4": F4, "F8": F8, "QUIET": xp.QUIET, "quieten": xp.quieten,
    "unhush": xp.unhush, "new": object.__new__, "ages": AGES, "frame": sys._getframe,
    "canonical_dim": canonical_dim, "canonical_dims": canonical_dims, "Anomaly": Anomaly,
    "number_tensor": number_tensor, "compute_dual": compute_dual, "attach_view": attach_view,
    "finish": finish, "note_cut": note_cut, "edge_of": edge_of, "levels_of": levels_of,
    "like_of": like_of, "is_differentiable": is_differentiable, "here": here,
    "keep_version": keep_version, "user_frame": user_frame,
}


def _call_source(op: Op) -> list[str]:
    """The function's lines: an argument ``x`` is called ``t_x`` in them, and its data ``d_x``."""
    params = [p for p in op.params if p.name in op.arrays or p.name in op.indices]
    values = ", ".join(f"d_{p.name}" if p in params else f"t_{p.name}" for p in op.params)
    by_name = ", ".join(f"{p.name!r}: t_{p.name}" for p in params)
    body = ["".join(f"t_{name}, " for name in op.by_name) + "= args", "top = None"]
    for param in params:
        body += _read_source(op, param, param is params[0])
    body += ["if top is None: return NotImplemented",
             "token = quieten(QUIET)",
             "try:",
             *(f"    {line}" for line in _dims_source(op, params[0].name)),
             f"    values = [{values}]",
             "    y = way(op, values, top) if top.__class__ is Batched else "
             "compute_dual(op, values, top)",
             "except Exception: return NotImplemented",  # the general path says what is wrong
             "finally: unhush(token)",
             "if y.__class__ is tuple or y.__class__ is list or Anomaly.enabled:",
             f"    return finish(op, args, {{{by_name}}}, values, y, mode)",
             "out = new(TracedTensor if y.__class__ in TRACED_TYPES else Tensor)",
             "out._data = y",
             "out._form = out._edge = out._view = out._vc = None"]
    if op.is_view:
        static = "".join(f"t_{n}, " for n in op.static)
        body.append(f"attach_view(out, t_{op.arrays[0]}, op, ({static}), mode)")
    if op.rules:
        body += _hang_source(op)
    tensors = [f"t_{p.name}" for p in params]
    cut = " or ".join(f"{t} is not None and ({t}._edge is not None or {t}._cut is not None)"
                      for t in tensors)
    body += [f"if {cut}: note_cut(out, ({', '.join(tensors)},))", "return out"]
    return ["def call(args, mode):", *(f"    {line}" for line in body)]


def _read_source(op: Op, param: Param, comes_first: bool) -> list[str]:
    """Lines that set an argument's data, and ``top`` if that is outermost."""
    tensor, data, is_optional = f"t_{param.name}", f"d_{param.name}", param.kind == OPTIONAL
    higher = f"    if top is None or {data}.level > top.level: top = {data}"
    if param.kind not in (ARRAY, OPTIONAL):
        return [f"c = {tensor}.__class__",
                f"if c is TracedTensor or c is Tensor or c in PLAIN: {data} = {tensor}._data",
                f"elif {tensor} is None: {data} = None",
                "else: return NotImplemented",
                f"if {data}.__class__ in TRACED_TYPES:", higher]
    lines = [f"c = {tensor}.__class__",
             "if c is TracedTensor:",
             f"    {data} = {tensor}._data",
             f"    top = {data}" if comes_first else higher,
             "elif c is Tensor or c in PLAIN:",
             f"    {data} = {tensor}.{'_array()' if op.is_view else '_data'}",
             f"    if {data}.__class__ in TRACED_TYPES: return NotImplemented"]
    checks_dtype = op.promote is not None or op.guard is not None
    sets_dtype = checks_dtype and param.name == op.arrays[0]
    if param.name in op.numbers and checks_dtype and not sets_dtype:
        lines += ["elif c is float or c is int:",
                  f"    {tensor} = number_tensor({tensor}, dtype)",
                  f"    {data} = {tensor}._data"]
    if is_optional:
        lines.append(f"elif {tensor} is None: {data} = None")
    lines.append("else: return NotImplemented")
    if sets_dtype:
        lines += [f"dtype = {data}.dtype",
                  "if dtype is not F4 and dtype is not F8: return NotImplemented"]
    elif checks_dtype:
        given = f"{data} is not None and " if is_optional else ""
        lines.append(f"if {given}{data}.dtype is not dtype: return NotImplemented")
    return lines


def _dims_source(op: Op, first: str) -> list[str]:
    """Lines that bring dims and sizes to the form in which ops are computed."""
    lines = []
    for param in op.params:
        value = f"t_{param.name}"
        if param.kind == DIM:
            lines.append(f"{value} = canonical_dim({value}, d_{first}.ndim)")
        elif param.kind == DIMS:
            lines.append(f"{value} = canonical_dims({value}, d_{first}.ndim)")
        elif param.kind == INTS:
            lines.append(f"{value} = tuple({value}) if isinstance({value}, (tuple, list)) "
                         f"else ({value},)")
    return lines


def _hang_source(op: Op) -> list[str]:
    """Lines that give the output its node, and return it, if any input has an edge."""
    lines = []
    for i, name in enumerate(op.arrays):
        tensor = f"t_{name}"
        nothing = f"{tensor}._edge is None and {tensor}._view is None"
        if op.by_name[name].kind == OPTIONAL:
            nothing = f"{tensor} is None or ({nothing})"
        lines.append(f"e{i} = None if {nothing} else edge_of({tensor})" if name in op.rules
                     else f"e{i} = None")
    live = " or ".join(f"e{i} is not None" for i in range(len(op.arrays)))
    lines.append(f"if mode.grad and ({live}):")
    return [*lines, *(f"    {line}" for line in [*_record_source(op), "return out"])]


def _record_source(op: Op) -> list[str]:
    """Lines that make the node: see :func:`retrograd.core.general.record`."""
    plan = node_class(op).plan
    lines = ["if not is_differentiable(out):", "    out._cut = here(3)", "    return out",
             "node = Node()", "node.seq = next(ages)", "node.next0 = e0"]
    if plan.saved_arrays or plan.saved_outputs:
        lines += ["line = user_frame(frame(3))",
                  "node.code, node.lasti = line.f_code, line.f_lasti"]
    if plan.arity > 1:
        lines.append("node.next1 = e1")
    if plan.arity > 2:
        lines.append(f"node.rest = ({''.join(f'e{i}, ' for i in range(2, plan.arity))})")
    lines += [f"node.like{i} = like_of(t_{op.arrays[i]})" for i in plan.likes]
    lines += _fits_source(op, [op.arrays[i] for i in plan.fitted])
    for name in plan.saved_arrays:
        users = " or ".join(f"e{i} is not None" for i in plan.users(name))
        lines += [f"saved = node.{name} = t_{name} if {users} else None",
                  "if saved is not None and saved._vc is not None and saved._vc.n: "
                  f"keep_version(node, {name!r}, saved._vc.n)"]
    lines += [f"node.{name} = t_{name}" for name in plan.saved_static]
    if plan.saved_outputs:
        lines += ["node.out_y = y",
                  "node.seal = None if out._vc is None else (out._vc, out._vc.n)"]
    levels = ", ".join(f"levels_of(d_{name})" for name in op.arrays)
    return [*lines, f"node.input_levels = [{levels}]", "out._edge = node"]


def _fits_source(op: Op, fitted: list[str]) -> list[str]:
    """Lines that note what gradients have to be brought to, where operands were broadcast."""
    if not fitted:
        return []
    if op.kind != "elementwise":
        return [f"node.fits = ({''.join(f'like_of(t_{name}), ' for name in fitted)})"]
    likes = "".join(f"None if d_{name} is None or d_{name}.shape == shape else like_of(t_{name}), "
                    for name in fitted)
    return ["shape = y.shape", f"fits = ({likes})",
            "node.fits = None if " + " and ".join(f"fits[{k}] is None" for k in range(len(fitted)))
            + " else fits"]
