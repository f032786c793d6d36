"""Recording a call: results as tensors, their node with what its rules need, views and cuts.

:mod:`retrograd.codegen.recording` writes this out for the usual calls.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

from ..backend import xp
from ..backend.interface import kind_of
from ..base import call_sites
from ..base.modes import GRAD, Mode
from ..codegen import NodeLayout, node_class
from ..codegen.compiling import offer
from ..codegen.switch import GeneralPath
from .anomaly import Anomaly, remember_stack, remember_values
from .computing import half_among
from .cuts import keep_cuts, note_cut
from .extensions import TRACED_TYPES, extensions
from .graph import INFERENCE, Like, Node, View, next_sequence
from .libraries import library_among
from .op import Op
from .saved_values import PackedValue, keep_version, output_edge, sealed
from .tensor import Tensor, edge_of, wrap_any


def finish(op: Op, tensors: dict[str, Any], values: list[Any], result: Any, mode: Mode) -> Any:
    """Wrap the raw result and record the call."""
    if op.is_view and not op.outputs and type(result) is not tuple:
        out = wrap_any(result)
        first = tensors[op.arrays[0]]
        attach_view(out, first, op, static_values(op, values), mode)
        outs: tuple[Tensor, ...] = (out,)
    elif isinstance(result, (tuple, list)):
        outs = tuple([wrap_any(r) for r in result])
        if op.is_view:
            static = static_values(op, values)
            for nr, out in enumerate(outs):
                attach_view(out, tensors[op.arrays[0]], op, (*static, nr), mode, "multi")
    else:
        outs = (wrap_any(result),)
    edges = collect_edges(op, tensors)
    if not mode.records or all(e is None for e in edges):
        how = "no_grad" if op.rules and not mode.records else op.name
        for out in outs:
            note_cut(out, flat_tensors(tensors), how)
    else:
        record(op, tensors, values, edges, outs, mode)
    return outs if isinstance(result, (tuple, list)) else outs[0]


def static_values(op: Op, values: list[Any]) -> tuple[Any, ...]:
    return tuple([v for p, v in zip(op.params, values, strict=True) if p.name in op.static])


def flat_tensors(tensors: dict[str, Any]) -> list[Tensor]:
    flat: list[Tensor] = []
    for value in tensors.values():
        if isinstance(value, list):
            flat += value
        elif value is not None:
            flat.append(value)
    return flat


def collect_edges(op: Op, tensors: dict[str, Any]) -> list[Any]:
    edges = []
    for name in op.arrays:
        value = tensors[name]
        differentiable = name in op.rules
        for tensor in value if isinstance(value, list) else (value,):
            edges.append(edge_of(tensor) if tensor is not None and differentiable else None)
    return edges


def record(op: Op, tensors: dict[str, Any], values: list[Any], edges: list[Any],
           outs: tuple[Tensor, ...], mode: Mode, *, attach: bool = True) -> Node:
    """Make the node of this call and hang the outputs on it."""
    variant = node_variant(flat_tensors(tensors), outs, mode)
    cls = node_class(op, variant)
    layout: NodeLayout = cls.layout  # type: ignore[attr-defined]
    node: Any = cls()
    node.seq = next_sequence()
    if layout.saved_arrays or layout.saved_outputs:
        node.code, node.lasti = call_sites.here(2)
    if Anomaly.enabled:
        remember_stack(node)
        if attach:
            remember_values(node, tensors, outs)
    if op.has_list:
        node.next0 = None
        node.rest = tuple(edges)
    else:
        node.next0 = edges[0]
        if layout.arity > 1:
            node.next1 = edges[1]
        if layout.arity > 2:
            node.rest = tuple(edges[2:])
    keep_cuts(node, *flat_tensors(tensors))
    fill_likes(op, layout, node, tensors, values, outs)
    save(op, layout, node, tensors, values, edges, outs, mode, attach)
    if variant == "traced":
        remember_levels(op, node, tensors)
    if attach:
        hang(op, node, outs)
    if mode.ledger is not None:
        mode.ledger.note(node)
    return node


def node_variant(inputs: list[Tensor], outs: tuple[Tensor, ...], mode: Mode) -> Any:
    """Which of an op's node classes a call needs: see :func:`retrograd.codegen.node_class`."""
    # Half precision goes by way of tensors too: raw rules would widen it, tensors round as they go.
    if GeneralPath.only or mode.saved_hooks or half_among([t._data for t in outs]) is not None:
        return "traced"
    variant = "real"
    for tensor in (*inputs, *outs):
        data = tensor._data
        if type(data) in TRACED_TYPES:
            return "traced"
        if kind_of(data.dtype) == "c":
            variant = "complex"
    library = library_among([t._data for t in outs])
    return variant if library is xp else (library, variant == "complex")


def remember_levels(op: Op, node: Any, tensors: dict[str, Any]) -> None:
    """Which transforms' data each input was made of, for the gradients that will leave there."""
    found: list[tuple[int, ...]] = []
    for name in op.arrays:
        value = tensors[name]
        for tensor in value if isinstance(value, list) else (value,):
            is_traced = tensor is not None and type(tensor._data) in TRACED_TYPES
            found.append(extensions.levels_of(tensor._data) if is_traced else ())
    node.input_levels = found


def hang(op: Op, node: Any, outs: tuple[Tensor, ...]) -> None:
    """Make ``node`` the origin of its outputs."""
    if len(outs) == 1 and not op.outputs and not op.is_view:
        if is_differentiable(outs[0]):
            outs[0]._edge = node
        elif op.gives_dtype:
            raise RuntimeError(f"Autograd not support dtype: {outs[0].dtype.alias}")
        else:
            outs[0]._cut = cut_at_output(node, op)
        return
    if node.outputs != len(outs):  # known of the class, unless it varies from call to call
        node.outputs = len(outs)
    for nr, out in enumerate(outs):
        has_gradient = op.differentiable is None or nr in op.differentiable
        if has_gradient and is_differentiable(out):
            out._edge = output_edge(node, nr)
        else:
            out._cut = cut_at_output(node, op)


def cut_at_output(node: Any, op: Op) -> Any:
    """The raw cut of a result that has no derivative."""
    return (*call_sites.here(3), op.name, (ref(node),), (), 0)


def is_differentiable(tensor: Tensor) -> bool:
    return kind_of(tensor._data.dtype) in "fcV"


def fill_likes(op: Op, layout: NodeLayout, node: Any, tensors: dict[str, Any], values: list[Any],
               outs: tuple[Tensor, ...]) -> None:
    for i in layout.likes:
        setattr(node, f"like{i}", like_of(tensors[op.arrays[i]]))
    if not layout.fitted:
        return
    shape, dtype = outs[0]._data.shape, outs[0]._data.dtype
    # A rule on half precision may leave it: the backend computes Python numbers with bfloat16 in
    # float32, and a factor of zero dims was kept in float32 beside float16.
    promotes = kind_of(dtype) == "V" or (op.wide is not None and dtype.itemsize == 2) or any(
        t._data.dtype != dtype for t in flat_tensors(tensors) if not t._wrapped_number)
    given = [tensors[op.arrays[i]] for i in layout.fitted]
    if op.kind == "elementwise" and not promotes:
        fits = tuple([None if t is None or t._data.shape == shape else like_of(t) for t in given])
        node.fits = fits if any(fits) else None
    else:
        node.fits = tuple([like_of(t) for t in given])


def like_of(tensor: Any) -> Any:
    """Shape and dtype of an argument; of each, for a list of tensors."""
    if isinstance(tensor, list):
        return [like_of(t) for t in tensor]
    return None if tensor is None else Like(tensor._data.shape, tensor._data.dtype)


def save(op: Op, layout: NodeLayout, node: Any, tensors: dict[str, Any], values: list[Any],
         edges: list[Any], outs: tuple[Tensor, ...], mode: Mode, hang_outputs: bool) -> None:
    by_name = dict(zip((p.name for p in op.params), values, strict=True))
    for name in layout.saved_arrays:
        tensor = tensors[name]
        needed = tensor is not None and any(edges[i] is not None for i in layout.users(name))
        if not needed:
            setattr(node, name, None)
            continue
        if tensor._data.dtype != by_name[name].dtype and tensor._edge is None and not (
                name == op.wide and tensor._data.dtype.itemsize == 2):
            # Saved as it was used, so that a rule never meets a wider dtype.
            tensor = constant(by_name[name], tensor)
        if tensor._vc is not None and tensor._vc.n:
            keep_version(node, name, tensor._vc.n)
        packs = mode.saved_hooks and not tensor._wrapped_number
        setattr(node, name, PackedValue(tensor, mode.saved_hooks[-1]) if packs else tensor)
    for name in layout.saved_static:
        setattr(node, name, by_name[name])
    for name in layout.saved_outputs:
        position = op.outputs.index(name) if name != "y" and op.outputs else 0
        out = outs[position]
        if mode.saved_hooks and hang_outputs:
            setattr(node, "out_" + name, PackedValue(out, mode.saved_hooks[-1], is_output=True))
        else:
            setattr(node, "out_" + name, out._data)
    if op.outputs and layout.saved_outputs:
        node.seal = sealed(**{name: outs[op.outputs.index(name)] for name in layout.saved_outputs})
    elif layout.saved_outputs:
        node.seal = None if outs[0]._vc is None else (outs[0]._vc, outs[0]._vc.n)


def constant(data: Any, source: Tensor) -> Tensor:
    made = wrap_any(data)
    if source._wrapped_number:
        made._wrapped_number = True
    else:
        made._vc = source._counter()
    return made


def attach_view(out: Tensor, source: Tensor, op: Op, static: tuple[Any, ...], mode: Mode,
                origin: str = "") -> None:
    """Let ``out`` look at ``source``'s memory."""
    # Written out and to the point: views are as common as arithmetic.
    parent = source._view
    if parent is None:
        base = source
    else:
        base = parent.base
        origin = origin or parent.origin
    counter = base._vc
    if counter is None:
        counter = base._counter()
    elif counter is INFERENCE:
        out._view = None
        out._vc = INFERENCE
        return
    if mode is not GRAD:
        origin = "inference" if mode.inference else origin if mode.grad else "no_grad"
    view = out._view = View()
    view.base = base
    view.parent = parent
    view.op = op
    view.static = static
    view.origin = origin
    view.version = counter.n
    out._vc = counter
    views = counter.views
    if views is None:
        counter.views = [ref(out)]
    else:
        views.append(ref(out))
        if len(views) > counter.room:
            counter.forget_dead_views()


def attach_part(out: Tensor, source: Tensor, steps: list[tuple[Any, tuple[Any, ...]]],
                mode: Mode) -> None:
    """Let ``out`` look at what several functions of ops lead to in ``source``'s memory."""
    function, static = steps[-1]
    attach_view(out, source, function.op, static, mode)
    view = out._view
    if view is None:
        return
    base, parent, origin, version = view.base, view.parent, view.origin, view.version
    for function, static in steps[:-1]:
        parent = View.of(base, parent, function.op, static, origin, version)
    view.parent = parent


offer(attach_view, keep_cuts, note_cut)
