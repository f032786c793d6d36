"""Where data and gradients enter a transform and leave it."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any

from ..backend.interface import library_of
from ..backend.numpy import ndarray
from ..base.modes import ACTIVE, MODE
from ..core.computing import compute
from ..core.extensions import extensions
from ..core.graph import INFERENCE, JointVersion, PlacedNode, View
from ..core.tensor import Tensor, edge_of, wrap_any
from .raw_rules import run_on_data
from .tangent_history import VALUE, Part, requires_grad, subsets
from .traced_data import (
    Batched,
    Dual,
    TracedData,
    levels_from_outside,
    levels_of,
    sizes_of,
    with_tangents,
    zeros_like_data,
)

# ---------------------------------------------------------------- entering and leaving


class Boundary(PlacedNode):
    """A node at a transform's edge; both directions are linear, and each is the other's adjoint."""

    __slots__ = ("forward", "adjoint", "levels", "reads")
    forward: Any
    adjoint: Any
    levels: Any
    reads: Any  # the levels of which a tangent is taken out; None where that is not known

    def parts_behind(self, part: Part) -> list[tuple[Any, Part]]:
        """See :mod:`.tangent_history`."""
        if self.reads is None:
            return [(self.next0, inner) for inner in subsets(part)]
        return [(self.next0, part | self.reads)]

    def pull(self, g: Any, *wanted: Any) -> Any:
        return settle(self.adjoint(g), self.levels)

    def replay(self, g: Any, *wanted: Any) -> Any:
        return settle_tensor(recorded(g, self.adjoint, self.forward, None), self.levels)


def recorded(tensor: Tensor, forward: Callable[[Any], Any], adjoint: Callable[[Any], Any],
             reads: Part | None = VALUE) -> Tensor:
    """``forward`` of a tensor's raw data as a tensor in the graph."""
    out = wrap_any(forward(tensor._array()))
    edge = edge_of(tensor)
    if edge is not None and MODE.get().grad:
        node = Boundary().placed()
        node.next0 = edge
        node.forward, node.adjoint, node.reads = forward, adjoint, reads
        node.levels = levels_of(tensor._data)
        out._edge = node
    elif tensor._cut is not None:
        out._cut = tensor._cut
    return out


def move_axis(data: Any, source: int, destination: int) -> Any:
    """``moveaxis`` of raw data, that of transforms included."""
    if source == destination:
        return data
    from ..ops.shapes.dimensions import _permute

    order = [d for d in range(data.ndim) if d != source]
    order.insert(destination, source)
    return compute(_permute.op, [data, tuple(order)])


def _below(data: Any, level: int, change: Callable[[Any, int], Any], depth: int = 0) -> Any:
    """Apply ``change`` to the part of ``data`` under everything traced above ``level``.

    ``change`` is told how many batch axes lie in front of the dims it knows.
    """
    if isinstance(data, Dual) and data.level > level:
        return Dual(data.level, _below(data.primal, level, change, depth),
                    _below(data.tangent, level, change, depth), data.outer)
    if isinstance(data, Batched) and data.level > level:
        return Batched(data.level, _below(data.value, level, change, depth + 1), data.outer)
    return change(data, depth)


def enter_batch(data: Any, dim: int, level: int, outer: bool = False) -> Any:
    """Raw data with its axis ``dim`` turned into a batch."""
    if dim == 0 and data.__class__ is ndarray:
        return Batched(level, data, outer)

    def change(inner: Any, depth: int) -> Any:
        return Batched(level, move_axis(inner, dim + depth, 0), outer)

    return _below(data, level, change)


def leave_batch(data: Any, dim: int, level: int, size: int) -> Any:
    """Raw data with its batch turned back into axis ``dim``; repeated if it had none."""
    if dim == 0 and data.__class__ is Batched and data.level == level:
        return data.value

    def change(inner: Any, depth: int) -> Any:
        if isinstance(inner, Batched) and inner.level == level:
            return move_axis(inner.value, 0, dim + depth)
        return move_axis(_repeated(inner, size), 0, dim + depth)

    return _below(data, level, change)


def in_every_batch(tensor: Tensor, sizes: dict[int, int]) -> Tensor:
    """A tensor outside the graph, repeated for each batch (by level) that it has no part in."""
    data = tensor._array()
    for level, size in sorted(sizes.items()):
        if level not in levels_of(data):
            data = _below(data, level, _repeating(level, size, outer=False))
    return wrap_any(data)


def batched_like(model: Tensor, made: Tensor) -> Tensor:
    """A fresh tensor in memory of its own for every value of the batches that ``model`` is in."""
    sizes = [(level, size) for level, size in sorted(sizes_of(model._data).items())
             if size is not None]
    if not sizes:
        return made
    plain = made._array()
    library, lengths = library_of(plain), tuple([size for _, size in sizes])
    data: Any
    if library.is_contiguous(plain) or not plain.size:
        data = library.empty((*lengths, *plain.shape), plain.dtype)
    else:
        strides = library.element_strides(plain)
        rows = library.empty((*lengths, library.reach(plain.shape, strides) + 1), plain.dtype)
        data = library.as_strided(rows, (*lengths, *plain.shape),
                                  (*library.element_strides(rows)[:-1], *strides), 0)
    data[...] = plain
    for level, _ in sizes:
        data = Batched(level, data)
    out = wrap_any(data)
    out._edge = made._edge
    return out


def batch_in(tensor: Tensor, dim: int, level: int) -> Tensor:
    """A tensor as one value of a batch along ``dim``; it shares the memory and its version."""
    size = tensor.shape[dim]
    out = recorded(tensor, lambda x: _entered(x, dim, level),
                   lambda g: leave_batch(g, dim, level, size))
    out._vc = tensor._counter()
    return out


def _entered(data: Any, dim: int, level: int) -> Any:
    return enter_batch(data, dim, level, outer=level not in ACTIVE.get())


def batch_repeated(tensor: Tensor, level: int, size: int) -> Tensor:
    """A tensor that was the same for the whole batch, as a batch of equal values."""
    return recorded(tensor, lambda x: _below(x, level, lambda inner, depth: Batched(
        level, _repeated(inner, size))), lambda g: g)


def batch_out(tensor: Tensor, dim: int, level: int, size: int) -> Tensor:
    """The whole batch as an ordinary tensor; it shares the memory and its version."""
    out = recorded(tensor, lambda x: leave_batch(x, dim, level, size),
                   lambda g: _entered(g, dim, level))
    # What was saved inside of it notices later writes.
    out._vc = tensor._counter() if tensor._vc is None else tensor._vc
    return out


class Crossing:
    """A step of a view that enters or leaves a batch, in the place of an op."""

    outputs, slices = (), False

    def __init__(self, on_tensors: Callable[..., Tensor], on_data: Callable[..., Any]):
        self.function, self.on_data = on_tensors, on_data


ENTERING = Crossing(batch_in, _entered)
LEAVING = Crossing(batch_out, leave_batch)


class MappedInput:
    """One tensor that vmap maps over: the program sees ``inside``, in the memory of ``outside``."""

    __slots__ = ("outside", "dim", "level", "inside", "edge", "data")

    def __init__(self, outside: Tensor, dim: int, level: int):
        self.outside, self.dim, self.level = outside, dim, level
        self.inside = batch_in(outside, dim, level)
        self.edge, self.data = self.inside._edge, self.inside._data

    def pass_on_history(self) -> None:
        """What was written inside is the history of the tensor outside."""
        inside = self.inside
        if inside._edge is not self.edge and inside._data is self.data:
            counter = self.outside._counter()
            version = counter.n
            self.outside.copy_(batch_out(inside, self.dim, self.level,
                                         self.outside.shape[self.dim]))
            counter.n = version  # it was counted when it was written inside
            if self.outside._view is not None:
                self.outside._view.version = -1

    def view_outside(self, tensor: Tensor, dim: int, size: int) -> Tensor:
        """What the program returned, which lies in this memory, as a view outside."""
        if self.inside._data is not self.data:
            return batch_out(tensor, dim, self.level, size)
        if tensor is self.inside:
            return self.outside if dim == self.dim else self.outside.movedim(self.dim, dim)
        out = batch_out(tensor, dim, self.level, size)
        steps: list[tuple[Any, tuple[Any, ...]]] = [(LEAVING, (dim, self.level, size))]
        view = tensor._view
        origin = view.origin  # type: ignore[union-attr]
        while view is not None:
            steps.append((view.op, view.static))
            view = view.parent
        steps.append((ENTERING, (self.dim, self.level)))
        parent = self.outside._view
        base = self.outside if parent is None else parent.base
        counter = base._counter()
        for op, static in reversed(steps):
            parent = View.of(base, parent, op, static, origin, counter.n)
        out._view, out._vc = parent, counter
        counter.note_view(out)
        return out


def dual_part(data: Any, level: int, part: str) -> Any:
    def change(inner: Any, depth: int) -> Any:
        if isinstance(inner, Dual) and inner.level == level:
            return getattr(inner, part)
        return inner if part == "primal" else _zeros_like_gradient(inner)

    return _below(data, level, change)


def _zeros_like_gradient(data: Any) -> Any:
    """Zeros that are marked where ``data`` is a gradient from outside."""
    return with_tangents(zeros_like_data(data), levels_from_outside([data]))


def _as_functional(level: int, part: str, missing: dict[int, int | None]) -> Callable[[Any], Any]:
    """The functional that reads one part of a pair, scaled by g: see the package's text.

    ``missing`` are the levels that the pair has but this part does not. A part outside a batch
    counts once, not once for each value: its gradient is given to the first value of the batch.
    One without a tangent is the value of a pair whose tangent is zero.
    """
    def pair(g: Any) -> Any:
        for other, size in missing.items():
            g = _of_value(g, other) if size is None else _first_of_batch(g, other, size)

        def change(inner: Any, depth: int) -> Any:
            zero = _zeros_like_gradient(inner)
            if part == "tangent":
                return Dual(level, inner, zero, True)
            return Dual(level, zero, inner, True)

        return _below(g, level, change)

    return pair


def _of_value(g: Any, level: int) -> Any:
    """The functional that reads the value of a pair; inside its level gradients are numbers."""
    return g if level in ACTIVE.get() else _as_functional(level, "primal", {})(g)


def _value_of_functional(data: Any, level: int) -> Any:
    """The adjoint of :func:`_of_value`."""
    return data if level in ACTIVE.get() else dual_part(data, level, "primal")


def _first_of_batch(g: Any, level: int, size: int) -> Any:
    from ..ops.shapes.slicing import select_backward

    def change(inner: Any, depth: int) -> Any:
        whole = compute(select_backward.op, [inner, (size, *inner.shape), 0, 0])
        return Batched(level, whole, True)

    return _below(g, level, change)


def _of_first(data: Any, level: int) -> Any:
    """The adjoint of :func:`_first_of_batch`; data without such a batch stays as it is."""
    from ..ops.shapes.slicing import _select

    def change(inner: Any, depth: int) -> Any:
        if isinstance(inner, Batched) and inner.level == level:
            return compute(_select.op, [inner.value, 0, 0])
        return inner

    return _below(data, level, change)


def _read_part(tensor: Tensor, level: int, part: str) -> Tensor:
    whole = sizes_of(tensor._data)
    kept = sizes_of(dual_part(tensor._data, level, part))
    missing = {n: size for n, size in whole.items() if n not in kept and n != level}
    reads = frozenset((level,)) if part == "tangent" else VALUE

    def read(data: Any) -> Any:
        found = dual_part(data, level, part)
        for other, size in missing.items():
            change = _value_of_functional if size is None else _of_first
            found = change(found, other)
        return found

    out = recorded(tensor, read, _as_functional(level, part, missing), reads)
    if out._edge is not None and part == "primal":
        # What was saved notices later writes to the value, which is in its memory.
        out._vc = tensor._counter() if tensor._vc is None else tensor._vc
    elif out._edge is not None:
        out._data = out._data.copy()  # a tangent may be written to
    tangents = [n for n, size in kept.items() if size is None]
    if out._edge is not None and not any(
            requires_grad(out._edge, other) for other in subsets(tangents)):
        out._edge = None
    return out


def dual_primal(tensor: Tensor, level: int) -> Tensor:
    """The value of a dual tensor."""
    return _read_part(tensor, level, "primal")


def dual_tangent(tensor: Tensor, level: int) -> Tensor:
    """The tangent of a dual tensor."""
    return _read_part(tensor, level, "tangent")


class MakeDual(PlacedNode):
    """Joins a value and its tangent."""

    __slots__ = ("next1", "level", "levels")
    level: int
    levels: Any
    _arity = 2

    def name(self) -> str:
        return "ViewBackward0"

    def parts_behind(self, part: Part) -> list[tuple[Any, Part]]:
        if self.level in part:
            return [(self.next1, part - {self.level})]
        return [(self.next0, part)]

    def pull(self, g: Any, *wanted: Any) -> Any:
        value, slope = self._parts(g)
        return settle(value, self.levels[0]), settle(slope, self.levels[1])

    def _parts(self, g: Any) -> tuple[Any, Any]:
        inner = g
        while isinstance(inner, TracedData) and inner.level > self.level:
            inner = inner.primal if isinstance(inner, Dual) else inner.value
        if isinstance(inner, Dual) and inner.level == self.level and not inner.outer:
            # Backward inside the level: the value's gradient is itself a dual number.
            return g, None
        return (dual_part(g, self.level, "tangent"), dual_part(g, self.level, "primal"))

    def replay(self, g: Any, *wanted: Any) -> Any:
        _, slope = self._parts(g._data)
        if slope is None:
            return settle_tensor(g, self.levels[0]), None
        return (settle_tensor(dual_tangent(g, self.level), self.levels[0]),
                settle_tensor(dual_primal(g, self.level), self.levels[1]))


def make_dual(primal: Tensor, tangent: Tensor, level: int) -> Tensor:
    """A dual tensor at ``level``."""
    out = wrap_any(joined(primal._array(), tangent._array(), level))
    counter, slope_counter = primal._counter(), tangent._counter()  # it is the same memory
    out._vc = counter if INFERENCE in (counter, slope_counter) else JointVersion(
        counter, slope_counter)
    edges = (edge_of(primal), edge_of(tangent))
    if MODE.get().grad and any(e is not None for e in edges):
        node = MakeDual().placed()
        node.next0, node.next1 = edges
        node.level = level
        node.levels = (levels_of(primal._data), levels_of(tangent._data))
        out._edge = node
    return out


def joined(p: Any, t: Any, level: int) -> Any:
    """A value and its tangent as one; the data of higher levels stays outside."""
    top = max((x for x in (p, t) if isinstance(x, TracedData)), key=lambda x: x.level, default=None)
    if top is None or top.level < level:
        return Dual(level, p, t)
    p_has, t_has = (isinstance(x, TracedData) and x.level == top.level for x in (p, t))
    if isinstance(top, Batched):
        return Batched(top.level, joined(p.value if p_has else _repeated(p, top.batch),
                                          t.value if t_has else _repeated(t, top.batch), level),
                       top.outer)
    first, second = (p.primal, p.tangent) if p_has else (p, zeros_like_data(p))
    slope, turn = (t.primal, t.tangent) if t_has else (t, zeros_like_data(t))
    return Dual(top.level, joined(first, slope, level), joined(second, turn, level), top.outer)


# ---------------------------------------------------------------- where gradients leave a node


def is_settled(result: Any, levels: tuple[int, ...]) -> bool:
    if not isinstance(result, TracedData):
        return True
    if result.outer and result.level not in levels:
        return False
    if isinstance(result, Dual):
        return is_settled(result.primal, levels) and is_settled(result.tangent, levels)
    return is_settled(result.value, levels)


def settle(result: Any, levels: tuple[int, ...]) -> Any:
    """A raw gradient without the outer levels its input did not have."""
    if is_settled(result, levels):
        return result
    return _without(result, _outer_sizes(result).keys() - set(levels))


def _without(data: Any, removed: Set[int]) -> Any:
    """A raw gradient without these of its outer levels."""
    if not _outer_sizes(data).keys() & removed:
        return data
    if not data.outer or data.level not in removed:
        return data.mapped(lambda part: _without(part, removed))
    return _without(data.tangent if isinstance(data, Dual)
                    else run_on_data("_sum_dims", data.value, (0,)), removed)


def _unsettle(g: Any, removed: dict[int, int | None]) -> Any:
    """The adjoint of :func:`settle`: give back the levels it removed."""
    for level, size in removed.items():
        if size is not None:
            g = _below(g, level, _repeating(level, size, outer=True))
        else:
            g = _as_functional(level, "tangent", {})(g)
    return g


def _repeating(level: int, size: int, outer: bool) -> Callable[[Any, int], Any]:
    """A change for :func:`_below`: the same value for a whole batch."""
    return lambda inner, depth: Batched(level, _repeated(inner, size), outer)


def _repeated(data: Any, size: int) -> Any:
    """``data`` along a new first axis of length ``size``."""
    from ..ops.shapes.expanding import expand

    shape = tuple(data.shape)
    return compute(expand.op, [data.reshape((1, *shape)), (size, *shape)])


def _outer_sizes(data: Any) -> dict[int, int | None]:
    """The outer levels of a gradient, with the sizes of those that are batches."""
    found: dict[int, int | None] = {}
    if isinstance(data, Dual):
        if data.outer:
            found[data.level] = None
        found.update(_outer_sizes(data.tangent))
        found.update(_outer_sizes(data.primal))
    elif isinstance(data, Batched):
        if data.outer:
            found[data.level] = data.batch
        found.update(_outer_sizes(data.value))
    return found


def settle_tensor(result: Tensor, levels: tuple[int, ...]) -> Tensor:
    """:func:`settle`, recorded."""
    data = result._data
    if data.__class__ is ndarray or is_settled(data, levels):
        return result
    removed = {n: size for n, size in sorted(_outer_sizes(data).items()) if n not in levels}
    # Later data may be of other outer levels too, which were not removed here.
    return recorded(result, lambda x: _without(x, removed.keys()),
                    lambda g: _unsettle(g, removed), None)


extensions.fill(settle=settle_tensor)
