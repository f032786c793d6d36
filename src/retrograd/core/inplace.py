"""Writing in place: checks, version bumps, and history rebased through views."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

from ..backend import create, xp
from ..backend.interface import is_array, library_of
from ..backend.numpy import LARGE
from ..base import call_sites, dtypes
from ..base.errors import REQUIRED, missing_arguments, wrong_type
from ..base.modes import GRAD, MODE, NO_GRAD, RUNNING, Mode, ReplayedViews, switched
from ..codegen import fused, node_class, recorder
from ..codegen.compiling import offer
from .arguments import refuse_options
from .computing import compute, outermost
from .cuts import note_cut
from .extensions import TRACED_TYPES, extensions
from .former_calls import in_present_order
from .graph import (
    INFERENCE,
    LEAF,
    NOBODY,
    Node,
    OutputEdge,
    PlacedNode,
    Released,
    Version,
    View,
    next_sequence,
    public_edge,
    short_name,
    sum_of,
)
from .libraries import brought, in_library, library_among
from .op import Op
from .operands import prepare, run_in
from .overriding import dispatch_override, overriding
from .recording import collect_edges, flat_tensors, is_differentiable, record
from .saved_values import PackedValue, pull_on_tensors
from .tensor import PLAIN, Tensor, edge_of, wrap, wrap_any


def call_inplace_operator(op: Op, args: tuple[Any, ...]) -> Any:
    """A write by way of a Python operator: an unknown operand type is the other side's business."""
    try:
        return call_inplace(op, args)
    except TypeError as error:
        if getattr(error, "unknown_operand", False):
            return NotImplemented
        raise


def call_inplace(op: Op, args: tuple[Any, ...]) -> Any:
    """Run ``op`` and write its result over its first argument."""
    if op.former:
        args = in_present_order(op, args, "_")
    mode = MODE.get()
    target = args[0]
    if mode.override or mode.functions:
        found = overriding(args)
        if found or mode.functions:
            return dispatch_override(inplace_function(op), found, op, args)
    if mode.profile is not None:
        return mode.profile.op(op, partial(run_in, mode.but(profile=None), inplace_function(op), op,
                                           args), args, "_")
    if not isinstance(target, Tensor):
        if target is REQUIRED:
            raise missing_arguments(op.title + "_", ["input"])
        raise wrong_type(f"{op.name}_", "input", 1, "Tensor", target)
    if mode is GRAD and op.kind == "elementwise" and recorded_plainly(op, target, args):
        return target
    view = target._view
    if view is not None and view.origin and mode.records and (
            view.base._edge is not None
            or any(isinstance(a, Tensor) and edge_of(a) is not None for a in args)):
        refuse_view(target, view)
    try:
        tensors, values = prepare(op, args, written=True)
    except RuntimeError as error:
        refused: RuntimeError | None = error
    except TypeError as error:
        refuse_options(op, args, error, written=True)
        raise
    else:
        refused = None
    if refused is not None:
        # That the target may not be written to at all is the first thing to say.
        check_writable(target, any(isinstance(a, Tensor) and a.requires_grad for a in args), mode)
        raise refused
    edges = collect_edges(op, tensors)
    check_writable(target, any(e is not None for e in edges), mode)
    if mode.journal is not None:
        mode.journal.note_write(op, target, tensors)
    if len(values) > 1 and op.apart is not None:
        check_overlap(target, values, op.apart)
    direct = op.writer is not None and outermost(values) is None
    if not direct:
        try:
            result = compute(op, values)
        except Exception as error:
            refuse_options(op, args, error, written=True)
            raise
        if op.writer is None:
            check_result(target, result)
    node = history = None
    counter = target._counter()
    if mode.records and any(e is not None for e in edges) and op.rules \
            and is_differentiable(target):
        target._array()
        tensors = keep_overwritten(op, tensors, edges)
        node = record(op, tensors, values, edges, (target,), mode, attach=False)
        save_output(node, target, counter)
        if direct and node.site.code is None:
            node.place = call_sites.here(2)
        history = Rebasing(target, node)
    if direct:
        write_directly(op, target, values, history)
    else:
        write(target, result, counter, history)
    if history is not None:
        pack_output(node, target, mode)
        history.finish()
    elif target._edge is None and len(op.arrays) > 1:
        note_cut(target, flat_tensors(tensors))
        if target._cut is not None and target._view is not None:
            target._view.base._cut = target._cut
    return target


def owner_of_history(target: Tensor, others: list[Tensor]) -> Tensor | None:
    """Whose history an ordinary recorded write changes: the target's, or that of its base.

    That is one of float tensors of one dtype, to memory of which no operand looks at a part; None
    for any other write, and for one that is not recorded.
    """
    data, view, owner = target._data, target._view, target
    if view is not None:
        owner = view.base
        if view.origin or type(owner) not in PLAIN or owner._retains or ReplayedViews.asked_for \
                or owner._data.__class__ is not data.__class__ \
                or owner._data.dtype is not data.dtype \
                or (owner._edge is None and target._edge is not None):
            return None
    edge = owner._edge
    if type(target) not in PLAIN or edge is LEAF or not xp.is_array(data) \
            or target._vc is INFERENCE or target._retains \
            or (data.dtype is not xp.FLOAT32 and data.dtype is not xp.FLOAT64):
        return None
    for other in others:
        if type(other) not in PLAIN or other._data.dtype is not data.dtype:
            return None
    if edge is None:
        for other in others:
            if has_history(other):
                break
        else:
            return None
    if not xp.are_apart(data, *[other._data for other in others]) or not xp.is_writable(data):
        return None
    return owner


def recorded_plainly(op: Op, target: Tensor, args: tuple[Any, ...]) -> bool:
    """Do the ordinary recorded write by way of the op itself; False for any other."""
    if not op.rules:
        return False
    known = _facts(op)
    owner = owner_of_history(target, [arg for place in known.operands
                                      if isinstance(arg := args[place], Tensor)])
    if owner is None:
        return False
    is_saved = False
    # Rules of other operands ask for what is overwritten, if those may have a history.
    for i in known.askers:
        if not i or (isinstance(args[i], Tensor) and (
                args[i]._edge is not None or args[i]._view is not None)):
            is_saved = True
    if owner is not target and (known.saves_output or is_saved):
        return False  # what is saved of a part has the history of that part
    data, source = target._data, target
    if is_saved:
        source = wrap(data.copy(), owner._edge)  # what is overwritten may be asked for
    elif owner is not target:
        source = wrap(data, owner._edge)  # whose own history nobody will ask for
    fill = filling(op, data, source._data, args) if data.size >= LARGE else None
    result = None if fill is None else recorder(op)(data, source, *args[1:])
    if result is None:
        fill, keywords = None, op.keywords
        try:
            if keywords:
                count = len(args) - len(keywords)
                result = op.function(source, *args[1:count],
                                     **dict(zip(keywords, args[count:], strict=True)))
            else:
                result = op.function(source, *args[1:])
        except TypeError:  # whose words are those of the call: the general way has the write's
            return False
    y, node = result._data, result._edge
    if y.shape != data.shape or y.dtype is not data.dtype or node is None:
        return False
    if known.saves_output:
        save_output(node, target, target._counter())
    site = (node.code, node.lasti) if known.saves else call_sites.here(2)
    write_recorded(target, owner, node, y, site, fill)
    return True


class _Facts(NamedTuple):
    """What an ordinary recorded write asks of an op."""

    operands: tuple[int, ...]  # the places of arguments, but the first, that are no indices
    askers: tuple[int, ...]  # the places of those whose rules ask for the first
    saves: bool  # whether its nodes save values, and so know their line
    saves_output: bool


@cache
def _facts(op: Op) -> _Facts:
    layout = node_class(op).layout
    operands = [place for place, p in enumerate(op.params) if place and p.name not in op.indices]
    return _Facts(tuple(operands), tuple(layout.users(op.arrays[0])),
                  bool(layout.saved_slots()), bool(layout.saved_outputs))


def filling(op: Op, target: Any, first: Any, args: tuple[Any, ...]) -> Any:
    """The call of a kernel that computes an op into an array, of ``first`` and the other arguments.

    None where there is none.
    """
    in_one_pass = fused(op)
    if in_one_pass is None:
        return None
    given = [first]
    for param, value in zip(op.params[1:], args[1:], strict=True):
        if param.name in op.static:
            given.append(value)
        elif isinstance(value, Tensor):
            given.append(value._data)
        elif type(value) is float or type(value) is int:
            given.append(xp.number(value, target.dtype))
        else:
            return None
    return in_one_pass.into(target, *given)


def write_recorded(target: Tensor, owner: Tensor, node: Any, values: Any, site: tuple[Any, int],
                   fill: Any = None) -> None:
    """Write ``values`` over a tensor, as ``node`` records it: see :meth:`Version.store`.

    The call of a kernel, ``fill``, may do that.
    """
    (code, lasti), counter = site, target._counter()
    edge = node if owner is target else _copied(owner, target, node, code, lasti)
    data = target._data
    if fill is None and data.size >= LARGE:
        fill = create.filling(data, values)
    if fill is None:
        data[...], counter.n, counter.code, counter.lasti, owner._edge = \
            values, counter.n + 1, code, lasti, edge
    else:  # no interrupt comes between these stores and the end of the kernel's call
        counter.n, counter.code, counter.lasti, owner._edge = counter.n + 1, code, lasti, edge
        fill()


def has_history(tensor: Tensor) -> bool:
    """Whether a tensor, or the one that it is a part of, has a history."""
    return tensor._edge is not None or (
        tensor._view is not None and tensor._view.base._edge is not None)


def goes_unrecorded(target: Tensor, *others: Tensor) -> bool:
    """Whether a write to ``target`` needs nothing but the write: the fast path asks.

    That is so if it is surely not recorded, no history is cut off by it that an error might have to
    point to, and no other operand lies in the memory that is written.
    """
    mode = MODE.get()
    if target._vc is INFERENCE:
        return False
    if mode is GRAD:
        for tensor in (target, *others):
            if tensor._cut is not None or has_history(tensor):
                return False
            if tensor._view is not None and tensor._view.base._cut is not None:
                return False
    elif mode is not NO_GRAD:
        return False
    elif target._edge is None:
        for tensor in (target, *others):
            if tensor._edge is not None or tensor._cut is not None:
                return False
    return xp.are_apart(target._data, *[t._data for t in others])


def inplace_function(op: Op) -> Any:
    """The in-place variant of ``op`` as a function; made now for one that has no public form."""
    if op.inplace_function is None:
        def written(*args: Any) -> Any:
            return call_inplace(op, args)

        written.__name__ = written.__qualname__ = op.name.strip("_") + "_"
        op.inplace_function = written
    return op.inplace_function


def keep_overwritten(op: Op, tensors: dict[str, Any], edges: list[Any]) -> dict[str, Any]:
    """The arguments, with a copy of the one to be overwritten if a rule will ask for it."""

    first = op.arrays[0]
    data = tensors[first]._data
    users = node_class(op).layout.users(first)  # type: ignore[attr-defined]
    if not any(edges[i] is not None for i in users):
        return tensors
    kept = data.copy() if type(data) in TRACED_TYPES else library_of(data).copied(data)
    return {**tensors, first: wrap_any(kept)}


def save_output(node: Any, target: Tensor, counter: Any) -> None:
    """An output is saved as it will be after the write."""
    if node.layout.saved_outputs:
        node.out_y = target._data
        node.seal = (counter, counter.n + (counter is not INFERENCE))


def pack_output(node: Any, target: Tensor, mode: Mode) -> None:
    if mode.saved_hooks and node.layout.saved_outputs:
        node.out_y = PackedValue(target, mode.saved_hooks[-1], is_output=True)


def write(target: Tensor, result: Any, counter: Any, history: Rebasing | None) -> None:
    """Put raw data into a tensor's memory: the values, the count and the history at once."""
    if type(target._data) in TRACED_TYPES or type(result) in TRACED_TYPES:
        extensions.traced_write(target, result)
        counter.bump()
        if history is not None:
            history.commit()
        return
    array = target._array()
    errors = xp.error_state()
    try:  # not a block of ``quiet``: an interrupt may come as its end is called
        xp.quieten(xp.QUIET)
        if history is None:
            counter.store(array, ..., result)
        else:
            counter.store(array, ..., result, history.owner, history.edge)
    finally:
        xp.quieten(errors)


def write_directly(op: Op, target: Tensor, values: list[Any], history: Rebasing | None) -> None:
    library = library_among(values)
    if library is not xp:
        values = brought(op, values, library)
    writer = in_library(op.writer, library)
    errors = xp.error_state()
    try:
        xp.quieten(xp.QUIET)
        if history is None:
            write_by(writer, target, *values[1:])
        else:
            write_by(writer, target, *values[1:], owner=history.owner, edge=history.edge)
    finally:
        xp.quieten(errors)


def write_by(writer: Any, target: Tensor, *values: Any, owner: Any = NOBODY,
             edge: Any = None) -> None:
    """Let ``writer`` write to a tensor's memory, and count that: see :meth:`Version.store`."""
    counter, array = target._counter(), target._array()
    counted = Version() if counter is INFERENCE else counter
    code, lasti = call_sites.here(2)
    writer(array, *values)
    # No interrupt comes between the writer's last store and these.
    counted.n, counted.code, counted.lasti, owner._edge = counted.n + 1, code, lasti, edge


def check_history(target: Tensor, requires_grad: bool, mode: Mode) -> None:
    """Raise if ``target`` may not change now since that would break the graph."""
    if target._vc is INFERENCE:
        if not mode.inference:
            raise RuntimeError(
                "Inplace update to inference tensor outside InferenceMode is not allowed.You can "
                "make a clone to get a normal tensor before doing inplace update.See "
                "https://github.com/pytorch/rfcs/pull/17 for more details.")
        return
    if requires_grad and mode.records:
        view = target._view
        if view is not None and view.origin:
            refuse_view(target, view)
        if target._edge is LEAF and view is None:
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place "
                               "operation.")
        base = None if view is None else view.base._edge
        if view is not None and (base is LEAF or target._edge is LEAF
                                 or (base is None and target._edge is not None)):
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an "
                               "in-place operation.")


def check_writable(target: Tensor, requires_grad: bool, mode: Mode) -> None:
    """Raise if ``target`` may not be written to, for its history or its memory."""
    check_history(target, requires_grad, mode)
    if target._vc is INFERENCE:
        return
    if is_array(target._data):
        library = library_of(target._data)
        if library.has_overlap(target._data):
            raise RuntimeError(
                "unsupported operation: more than one element of the written-to tensor refers to "
                "a single memory location. Please clone() the tensor before performing the "
                "operation.")
        if not library.is_writable(target._data):
            raise RuntimeError("the tensor's memory is read-only (it came from a read-only array); "
                               "clone() it before writing to it")


_WRITTEN = "is being modified inplace"
_BASE_WRITTEN = "its base or another view of its base has been modified inplace"


def refuse_view(target: Tensor, view: View, what: str = _WRITTEN) -> None:
    """Raise, since a view of this origin could not get a true history."""
    maker = target._edge
    unrecorded = view.origin in ("no_grad", "inference")
    where = "in normal mode" if view.origin == "inference" else "with grad mode enabled"
    made_in = "inference mode" if view.origin == "inference" else "no_grad mode"
    if maker is None or maker is LEAF or maker.leads_nowhere:
        prefix = f"A view was created in {made_in} and {what} {where}. "
    else:
        of = f" of a view which was created in {made_in}" if unrecorded else ""
        node, nr = (maker.node, maker.nr) if maker.is_output else (maker, 0)
        prefix = f"Output {nr} of {short_name(node)} is a view{of} and {what}" \
                 f"{' ' + where if unrecorded else ''}. "
    if view.origin == "multi":
        raise RuntimeError(
            prefix + "This view is the output of a function that returns multiple views. Such "
            "functions do not allow the output views to be modified inplace. You should replace "
            "the inplace operation by an out-of-place one.")
    if view.origin == "function":
        raise RuntimeError(
            prefix + "This view was created inside a custom Function (or because an input was "
            "returned as-is) and the autograd logic to handle view+inplace would override the "
            "custom backward associated with the custom Function, leading to incorrect gradients. "
            "This behavior is forbidden. You can fix this by cloning the output of the custom "
            "Function.")
    block = "inference_mode" if view.origin == "inference" else "no_grad"
    raise RuntimeError(
        prefix + "Given that this use case is ambiguous and error-prone, it is forbidden. You can "
        "clarify your code by moving both the view and the inplace either both inside the "
        f"{block} block (if you don't want the inplace to be tracked) or both outside (if you want "
        "the inplace to be tracked).")


def check_overlap(target: Tensor, values: list[Any], apart: bool = False) -> None:
    """Raise if an argument lies partly, or ``apart`` at all, in the memory about to be written."""
    written = target._data
    if not is_array(written):
        return
    library = library_of(written)
    for value in values[1:]:
        if type(value) is type(written) and library.may_share_memory(written, value) \
                and (apart or not library.same_memory(value, written)) \
                and library.is_dense(value) and library.is_dense(written):
            raise RuntimeError(
                "unsupported operation: some elements of the input tensor and the written-to "
                "tensor refer to a single memory location. Please clone() the tensor before "
                "performing the operation.")


def check_result(target: Tensor, result: Any) -> None:
    if result.shape != target._data.shape:
        raise RuntimeError(f"output with shape {list(target.shape)} doesn't match the broadcast "
                           f"shape {list(result.shape)}")
    given, kept = dtypes.from_numpy_dtype(result.dtype), target.dtype
    if dtypes.category(given) > dtypes.category(kept):
        raise RuntimeError(f"result type {given.alias} can't be cast to the desired output type "
                           f"{kept.alias}")


def resize(target: Tensor, size: tuple[int, ...]) -> None:
    """Give a tensor another size: the same memory where it suffices, grown where not."""
    array = target._array()
    if array.shape == size:
        return
    library = library_of(array)
    owner = library.storage_of(array)
    held_bytes = owner.size * owner.dtype.itemsize
    offset = target.storage_offset()
    needed = offset + math.prod(size)
    if needed * array.dtype.itemsize <= held_bytes:
        made = library.as_strided(array, size, packed_strides(size), 0)
    else:
        memory = library.zeros(needed, array.dtype)
        held = library.as_strided(array, (held_bytes // array.dtype.itemsize - offset,), (1,), 0)
        memory[offset:offset + held.size] = held
        made = memory[offset:].reshape(size)
    target._replace_data(made)
    target._counter().bump()


def packed_strides(size: tuple[int, ...]) -> tuple[int, ...]:
    """The strides, in elements, of a packed tensor of ``size``."""
    strides, step = [], 1
    for n in reversed(size):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


# ---------------------------------------------------------------- history


class Rebasing:
    """``node`` writes to ``target``: it becomes its origin, and its base's by way of CopySlices.

    Everything is made beforehand; that ``owner`` gets ``edge`` is what makes it so.
    """

    __slots__ = ("target", "node", "owner", "edge", "before")

    def __init__(self, target: Tensor, node: Any):
        self.target, self.node = target, node
        view = target._view
        self.owner = target if view is None else view.base
        self.before = self.owner._edge
        self.edge = node if view is None else _copied(self.owner, target, node,
                                                      *call_sites.here(2))

    def commit(self) -> None:
        self.owner._edge = self.edge

    def finish(self) -> None:
        """What follows from the new history."""
        if self.owner._retains and self.before is not None and self.before is not LEAF:
            move_retained(self.owner, self.before, self.edge)
        if self.edge is self.node:
            return
        saves_output = getattr(type(self.node), "saves_output", False)
        if saves_output or ReplayedViews.asked_for:  # the history of the moment, however found
            refresh(self.target)
        if saves_output and isinstance(self.target._edge, Node):
            self.node.output_origin = weakref.ref(self.target._edge)


def _copied(base: Tensor, target: Tensor, node: Any, code: Any, lasti: int) -> Node:
    copied = CopySlices()
    copied.seq, copied.code, copied.lasti = next_sequence(), code, lasti
    copied.next0 = base if base._edge is LEAF else base._edge
    arity = node._arity
    if arity < 3:  # written out for the usual ones
        copied.next1, copied.rest = None if arity == 1 else node.next1, ()
        copied.inputs, copied._arity = arity, 2
    else:
        edges = node.edges()
        copied.next1, copied.rest = edges[1] if len(edges) > 1 else None, edges[2:]
        copied.inputs, copied._arity = len(edges), max(len(edges), 2)
    copied.fn, copied.given = node, None
    copied.view = place_in(base, target)
    return copied


def rebase(target: Tensor, node: Node) -> None:
    """Give a tensor the history that ``node`` has written to it."""
    history = Rebasing(target, node)
    history.commit()
    history.finish()


def move_retained(tensor: Tensor, old: Any, new: Node, output: int = 0) -> None:
    maker, nr = (old.node, old.nr) if old.is_output else (old, 0)
    if maker.retained and nr in maker.retained:
        new.watch()
        new.retained = {**(new.retained or {}), output: maker.retained.pop(nr)}


def refresh(target: Tensor) -> None:
    """Give a view the history its base has now."""
    view = target._view
    assert view is not None
    base = view.base
    if edge_of(base) is None:
        return  # it may require grad later, and its views with it
    if view.origin:
        if not MODE.get().records:
            return
        refuse_view(target, view, _BASE_WRITTEN)
    refreshed(target, base)
    view.version = target._vc.n  # type: ignore[union-attr]


def refreshed(target: Tensor, base: Tensor) -> None:
    with switched(grad=True, saved_hooks=(), inference=False):
        fresh = replayed_view(base, target)
    old, target._edge = target._edge, fresh._edge
    if target._retains and isinstance(old, Node | OutputEdge):
        move_retained(target, old, fresh._edge)


extensions.fill(refresh_view=refresh)


def replayed_view(base: Tensor, target: Tensor) -> Tensor:
    """The view ``target`` is, taken from ``base`` again and recorded."""
    return geometry_of_tensor(base, Geometry(base, target))


def geometry_of_tensor(tensor: Tensor, where: Geometry) -> Tensor:
    """The part of ``tensor``, laid out as the base is, that the view looks at, recorded."""
    if where.chain:
        for step, static in where.chain:
            if step.outputs == ("list",):
                tensor = step.function(tensor, *static[:-1])[static[-1]]
            else:
                tensor = step.function(tensor, *static)
        return tensor
    return tensor.as_strided(where.shape, where.strides, tensor.storage_offset() + where.offset)


def copy_laid_out(tensor: Tensor, where: Geometry) -> Tensor:
    """A copy of ``tensor`` that is laid out as the base is, recorded."""
    copied = tensor.clone()
    if where.chain or copied.stride() == where.base_strides:
        return copied
    return tensor.new_empty_strided(where.base_shape, where.base_strides).copy_(tensor)


def place_in(base: Tensor, view: Tensor) -> Geometry:
    """Where a view lies in its base."""
    whole, part = base._data, view._data
    if xp.is_array(whole) and xp.is_array(part) and xp.storage_of(part) is whole \
            and xp.is_contiguous(whole) \
            and not (ReplayedViews.asked_for and ReplayedViews.setting.get()):
        steps, step = [], view._view
        while step is not None and type(step) is View and step.op.slices:
            steps.append((step.op.kernel, step.static))
            step = step.parent
        if step is None:
            return Slices(whole, steps[::-1])
    return Geometry(base, view)


class Geometry:
    """Where a view lies in its base."""

    __slots__ = ("base_shape", "base_strides", "shape", "strides", "offset", "chain", "is_in_rows")

    def __init__(self, base: Tensor, view: Tensor):
        a, b = base._data, view._data
        self.base_shape, self.shape = a.shape, b.shape
        self.chain: Any = []
        by_strides = is_array(a) and type(b) is type(a) and a.dtype == b.dtype
        self.is_in_rows = by_strides and library_of(a).is_contiguous(a)
        if by_strides and not ReplayedViews.setting.get():
            library = library_of(a)
            self.base_strides = library.element_strides(a)
            self.strides = library.element_strides(b)
            # An array without elements may lie anywhere, and one that was given other data lies
            # elsewhere: it then counts as far into the base's memory as it begins in its own.
            if not b.size:
                self.offset = 0
            elif library.may_share_memory(a, b):
                self.offset = library.offset_in(b, a)
            else:
                self.offset = view.storage_offset() - base.storage_offset()
        else:
            self.base_strides = self.strides = ()
            self.offset = 0
            step = view._view
            while step is not None:
                self.chain.insert(0, (step.op, step.static))
                step = step.parent

    def of_array(self, like_base: Any) -> Any:
        """The part of an array laid out as the base is, that the view looks at.

        There may be further axes in front.
        """
        extra = like_base.ndim - len(self.base_shape)
        library = library_of(like_base)
        return library.as_strided(
            like_base, (*like_base.shape[:extra], *self.shape),
            (*library.element_strides(like_base)[:extra], *self.strides), self.offset)

    def fits(self, gradient: Any) -> bool:
        """Whether a gradient is laid out as the base is."""
        library = library_of(gradient)
        return (self.is_in_rows and library.is_contiguous(gradient)) or (
            library.is_dense(gradient) and library.element_strides(gradient) == self.base_strides)

    def copy_of(self, gradient: Any) -> Any:
        """A copy of ``gradient`` laid out as the base is."""
        library = library_of(gradient)
        if self.fits(gradient):
            return library.copied(gradient)
        laid_out = library.zeros_strided(self.base_shape, self.base_strides, gradient.dtype)
        laid_out[...] = gradient
        return laid_out

    def positions(self) -> Any:
        """For each element of the view, its number in the base."""
        count = xp.arange(math.prod(self.base_shape)).reshape(self.base_shape)
        return self.of_array(self.copy_of(count)).copy()


class Slices(Geometry):
    """Where a view lies that ints and slices have cut out of a base, which lies row by row.

    That is indexing a gradient once more; strides are found when something asks for them.
    """

    __slots__ = ("steps",)

    def __init__(self, base: Any, steps: list[tuple[Any, tuple[Any, ...]]]):
        self.base_shape, self.steps = base.shape, steps
        self.is_in_rows, self.chain = True, ()

    def of_array(self, like_base: Any) -> Any:
        if like_base.ndim != len(self.base_shape):
            return super().of_array(like_base)
        for kernel, static in self.steps:
            like_base = kernel(like_base, *static)
        return like_base

    def __getattr__(self, name: str) -> Any:
        if name not in Geometry.__slots__:
            raise AttributeError(name)
        whole = xp.empty(self.base_shape, xp.BOOL)
        part = self.of_array(whole)
        self.shape, self.base_strides = part.shape, xp.element_strides(whole)
        self.strides = xp.element_strides(part)
        self.offset = xp.offset_in(part, whole) if part.size else 0
        return getattr(self, name)


class CopySlices(PlacedNode):
    """The history of a base after one of its views was written to.

    The part of the incoming gradient that belongs to the view goes through ``fn``, the node of the
    write; the rest passes to whatever the base was before. What another such node has ``given``
    this one is memory that it made for it, which may be overwritten.
    """

    __slots__ = ("next1", "rest", "fn", "view", "inputs", "_arity", "given")
    fn: Any
    view: Any
    inputs: Any
    given: Callable[[], Any] | None

    def pass_on(self, g: Any, by: Released, grads: dict[Any, Any]) -> None:
        is_own = self.given is not None and self.given() is g \
            and not self.view.chain and self.view.fits(g)
        edges = self.edges()
        results = self._pulled(g, is_own, edges)
        self.release(by)
        if type(edges[0]) is CopySlices and xp.is_array(results[0]) and not self.view.chain:
            edges[0].given = weakref.ref(results[0])
        for edge, result in zip(edges, results, strict=False):
            if edge is not None and result is not None:
                grads[edge] = sum_of(grads[edge], result) if edge in grads else result

    def pull(self, g: Any, *wanted: Any) -> Any:
        return self._pulled(g, False, wanted)

    def _pulled(self, g: Any, is_own: bool, wanted: tuple[Any, ...]) -> Any:
        fn, view = self.fn, self.view
        if isinstance(fn, Released):
            fn.refuse()
        if view.chain or type(g) in TRACED_TYPES:
            return pull_on_tensors(self, g, *wanted)
        if not is_own:
            g = view.copy_of(library_of(g).as_array(g))
        part = view.of_array(g)
        if fn.overwrites:  # what was there before has no gradient
            result = fn.pull(part.copy(), None, *wanted[1:])
        else:
            result = self._through(fn.pull, part.copy(), wanted)
        if wanted[0] is not None:
            part[...] = 0 if result[0] is None else result[0]
        return (g if wanted[0] is not None else None, *self._others(result))

    def replay(self, g: Any, *wanted: Any) -> Any:
        fn, view = self.fn, self.view
        if isinstance(fn, Released):
            fn.refuse()
        if type(g._data) in TRACED_TYPES and not view.chain:
            return self._replay_by_position(g, wanted)
        whole = copy_laid_out(g, view)
        part = geometry_of_tensor(whole, view)
        result = self._through(fn.replay, part.clone(), wanted)
        if wanted[0] is not None:
            if result[0] is None:
                part.zero_()
            else:
                part.copy_(result[0])
        return (whole if wanted[0] is not None else None, *self._others(result))

    def _replay_by_position(self, g: Any, wanted: tuple[Any, ...]) -> Any:
        """The same without strides: a transform's gradient is not laid out as the base was."""
        positions = wrap_any(self.view.positions())
        flat = g.reshape((-1,))
        part = flat[positions]
        result = self._through(self.fn.replay, part, wanted)
        if wanted[0] is None:
            return (None, *self._others(result))
        filling = part * 0 if result[0] is None else result[0]
        whole = flat.scatter(0, positions.reshape((-1,)), filling.reshape((-1,)))
        return (whole.reshape(self.view.base_shape), *self._others(result))

    def _through(self, run: Any, part: Any, wanted: tuple[Any, ...]) -> tuple[Any, ...]:
        """What the node of the write makes of its part of a gradient."""
        if self.fn._arity == 1:
            return (run(part),)
        return run(part, self if wanted[0] is not None else None, *wanted[1:])

    def _others(self, result: tuple[Any, ...]) -> tuple[Any, ...]:
        rest = result[1:]
        return rest if len(rest) else (None,)

    def release(self, by: Released) -> None:
        # What was recorded of the write's own result may lead to the node itself, later.
        if not isinstance(self.fn, Released) and not (
                self.fn.reached_alone and RUNNING.get().reaches(self.fn)):
            self.fn.release(by)
        self.fn = by

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        return tuple(public_edge(e) for e in self.edges()[:self.inputs])


offer(call_inplace, call_inplace_operator, goes_unrecorded, recorded_plainly)

__all__ = ["CopySlices", "call_inplace", "check_writable", "rebase", "refresh"]
