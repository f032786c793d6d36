"""What each element depends on: tangents that hold sets of inputs in the place of numbers.

Forward mode pushes tangents through a program by the rules of its ops. Here the tangent of an
element is the set of the inputs that it depends on, so the same rules tell the sparsity pattern of
the Jacobian at a point. A rule is linear in the tangent; what a linear op does with sets is found
from the op itself where its kind does not say it:

* an op that *moves* elements is run on labels, which are found again in its result;
* an op that *adds* elements up is a mover the other way round: its reverse rule is run on labels;
* an op with dims is taken to mix what lies along them;
* a small one is run on each unit vector;
* of any other nothing is known: every element depends on all, and a warning says so once.
"""

from __future__ import annotations

from typing import Any

from ..backend import index_sets, xp
from ..base.modes import MODE
from ..base.warning import warn
from ..core.computing import compute
from ..core.extensions import TENSOR_CLASS, TRACED_TYPES
from ..core.graph import Like
from ..core.op import DIM, DIMS, Op
from ..core.tensor import wrap_any
from .dual import codegen_parameters
from .raw_rules import unrecorded
from .traced_data import ROOMS, TracedData, TracedTensor, Unreadable, mapped, next_level

_SMALL = 300
"""Up to so many elements a linear op is run on each unit vector."""


class IndexSets(TracedData):
    """Sets of inputs, in the place of the tangent of a value."""

    __slots__ = ("ids", "dtype", "table")
    batch = None
    value = None

    def __init__(self, level: int, ids: Any, dtype: Any, table: Any):
        self.level, self.outer = level, False
        self.ids, self.dtype, self.table = ids, dtype, table

    shape = property(lambda self: self.ids.shape)
    ndim = property(lambda self: self.ids.ndim)

    def with_ids(self, ids: Any, dtype: Any = None) -> IndexSets:
        """Other sets of the same computation."""
        return IndexSets(self.level, ids, self.dtype if dtype is None else dtype, self.table)

    def copy(self, order: str = "K") -> IndexSets:
        return self.with_ids(self.ids.copy())

    def constant(self, make: str) -> Any:
        """Numbers, which depend on nothing, of the same shape and dtype."""
        return getattr(xp, make)(self.shape, self.dtype)

    def part(self, of_array: Any) -> IndexSets:
        """What a view of the base looks at."""
        return self.with_ids(of_array(self.ids))

    def overwrite(self, result: Any) -> None:
        """Put sets, or nothing, in the place of these."""
        self.ids[...] = result.ids if isinstance(result, IndexSets) else 0

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        error = Unreadable("what depends on an input has no value here")
        error.all_of = everything
        raise error

    item = tolist = __bool__ = __array__ = __len__ = __iter__ = _refuse
    __int__ = __float__ = __index__ = __complex__ = _refuse


TENSOR_CLASS[IndexSets] = TracedTensor


class Dependencies:
    """The inputs of one computation, and the sets that its elements depend on."""

    def __init__(self, count: int):
        self.table = index_sets.SetTable(count)
        self.level = next_level()
        ROOMS[self.level] = self._room

    def close(self) -> None:
        del ROOMS[self.level]

    def _room(self, like: Any) -> IndexSets:
        """Sets with nothing in them, laid out in memory as an array is."""
        ids = xp.zeros_strided(like.shape, xp.element_strides(like), xp.INT64)
        return IndexSets(self.level, ids, like.dtype, self.table)

    def inputs(self, like: Any, first: int) -> IndexSets:
        """A set for each element of an input."""
        ids = self.table.singles(first, like.size).reshape(like.shape)
        return IndexSets(self.level, ids, like.dtype, self.table)


def everything(title: str, y: Any, tangents: list[Any]) -> Any:
    """The sets of outputs that may depend on all that their inputs depend on."""
    known = [t for t in tangents if isinstance(t, IndexSets)]
    if getattr(y, "size", 2) > 1:
        warn(f"{title}: how its result depends on its input is not known; each element is taken to "
             "depend on all of it (a dense block of the Jacobian)", once=True)
    first = known[0]
    ids = xp.concatenate([k.ids.reshape(-1) for k in known])
    union = first.table.along(ids, (0,))

    def spread(part: Any) -> Any:
        return first.with_ids(xp.copied(xp.broadcast_to(union.reshape(()), part.shape)), part.dtype)

    return type(y)(map(spread, y)) if isinstance(y, (tuple, list)) else spread(y)


# ---------------------------------------------------------------- an op on sets


def compute_sets(op: Op, values: list[Any], top: IndexSets) -> Any:
    """An op on sets; it is a linear one, as rules are linear in tangents."""
    if op.kind == "view":
        return _view(op, values, top)
    if op.kind == "elementwise" and not op.selects:
        return _elementwise(op, values, top)
    given = _sets_among(values)
    if _is_linear(op, values):
        for way in (_KNOWN.get(op.name, _unknown), _moved, _added_up, _along_dims,
                    _by_unit_vectors):
            found = way(op, values, given)
            if found is not None:
                return found
    return everything(op.title, _model(op, values), given)


TRACED_TYPES[IndexSets] = compute_sets


def _sets_among(values: list[Any]) -> list[IndexSets]:
    return [x for v in values for x in (v if type(v) in (list, tuple) else (v,))
            if isinstance(x, IndexSets)]


def _unknown(op: Op, values: list[Any], given: list[IndexSets]) -> Any:
    return None


def _is_linear(op: Op, values: list[Any]) -> bool:
    """Whether an op is linear in its sets together: no rule of theirs asks for one of them."""
    if op.kind in ("linear", "elementwise"):
        return True
    held = {name for name, value in zip(op.by_name, values, strict=True) if _sets_among([value])}
    known = {*held, "y", *op.outputs}
    return all(name in op.rules and known.isdisjoint(codegen_parameters(op.rules[name]))
               for name in held)


def _model(op: Op, values: list[Any]) -> Any:
    """The op on zeros in the place of sets: the shapes and dtypes of its result."""
    return compute(op, mapped(values, lambda v: v.constant("zeros")
                              if isinstance(v, IndexSets) else v))


def _view(op: Op, values: list[Any], top: IndexSets) -> Any:
    if op.name in ("_real", "_imag"):
        return top.with_ids(top.ids, _model(op, values).dtype)
    if op.name == "view_as_real":
        pairs = xp.broadcast_to(top.ids[..., None], (*top.shape, 2))
        return top.with_ids(xp.copied(pairs), _model(op, values).dtype)
    if op.name == "view_as_complex":
        return top.with_ids(top.table.along(top.ids, (top.ndim - 1,))[..., 0],
                            _model(op, values).dtype)
    found = compute(op, [top.ids if v is top else v for v in values])
    if type(found) in (list, tuple):
        return type(found)(map(top.with_ids, found))
    return top.with_ids(found)


def _elementwise(op: Op, values: list[Any], top: IndexSets) -> Any:
    shape = xp.broadcast_shapes(*[v.shape for v in values if hasattr(v, "shape")])
    small = mapped(values, lambda v: xp.zeros((), v.dtype) if hasattr(v, "shape") else v)
    arrays = [xp.broadcast_to(v.ids, shape) for v in values if isinstance(v, IndexSets)]
    found = top.table.united(arrays) if len(arrays) > 1 else arrays[0]
    model = compute(op, small)
    if type(model) in (list, tuple):
        return type(model)(top.with_ids(xp.copied(found), part.dtype) for part in model)
    return top.with_ids(xp.copied(found), model.dtype)


def _moved(op: Op, values: list[Any], given: list[IndexSets]) -> Any:
    """By labels that are found again in the result, if it holds nothing else."""
    total = 0
    starts = []
    for sets in given:
        starts.append(total)
        total += sets.size
    fresh = iter(starts)
    labelled = mapped(values, lambda v: index_sets.labels(v.size, next(fresh)).reshape(v.shape)
                      if isinstance(v, IndexSets) else v)
    try:
        found = compute(op, labelled)
    except Exception:  # it takes no such numbers
        return None
    parts = list(found) if type(found) in (list, tuple) else [found]
    places = [index_sets.places_of(xp.asarray(p), total) for p in parts if p.dtype == xp.FLOAT64]
    if len(places) != len(parts) or any(p is None for p in places):
        return None
    ids = xp.concatenate([xp.zeros(1, xp.INT64), *(s.ids.reshape(-1) for s in given)])
    dtype = given[0].dtype
    results = [given[0].with_ids(ids[p], dtype) for p in places]
    return type(found)(results) if type(found) in (list, tuple) else results[0]


def _added_up(op: Op, values: list[Any], given: list[IndexSets]) -> Any:
    """By labels of the result that the reverse rules bring to the operands."""
    if op.outputs or op.has_list:
        return None
    model = _model(op, values)
    g = wrap_any(index_sets.labels(model.size, 0).reshape(model.shape))
    by_name = dict(zip(op.by_name, values, strict=True))
    ids, groups = [], []
    for name, sets in by_name.items():
        if not isinstance(sets, IndexSets):
            continue
        rule = op.rules.get(name)
        if rule is None:
            return None
        needs = codegen_parameters(rule)
        like = Like(sets.shape, xp.FLOAT64)
        arguments = {"g": g, "like": like, "y": None}
        for other in needs:
            if other not in arguments:
                value = by_name.get(other)
                if isinstance(value, IndexSets):
                    return None  # linear in several: not an op that adds up
                arguments[other] = wrap_any(value) if hasattr(value, "dtype") else value
        before = MODE.get()
        try:
            MODE.set(unrecorded(before))
            pulled = rule(*[arguments[n] for n in needs])
        except Exception:  # it takes no such numbers
            return None
        finally:
            MODE.set(before)
        if pulled is None or tuple(pulled.shape) != tuple(sets.shape):
            return None
        places = index_sets.places_of(xp.asarray(pulled._array()), model.size)
        if places is None:
            return None
        ids.append(sets.ids.reshape(-1))
        groups.append(places.reshape(-1))
    first = given[0]
    found = first.table.grouped(xp.concatenate(ids), xp.concatenate(groups), model.size + 1)
    return first.with_ids(found[1:].reshape(model.shape), model.dtype)


def _along_dims(op: Op, values: list[Any], given: list[IndexSets]) -> Any:
    """All that lies along the op's dims is mixed, and nothing else."""
    named = [i for i, p in enumerate(op.params) if p.kind in (DIM, DIMS)]
    shape = given[0].shape
    if len(named) != 1 or any(s.shape != shape for s in given):
        return None
    dims = values[named[0]]
    rank = len(shape)
    dims = tuple(range(rank)) if dims is None or dims == () else \
        tuple(d % max(rank, 1) for d in (dims if isinstance(dims, (tuple, list)) else (dims,)))
    model = _model(op, values)
    if type(model) in (list, tuple):
        return None
    kept = tuple(1 if d in dims else n for d, n in enumerate(shape))
    table = given[0].table
    union = table.along(table.united([s.ids for s in given]), dims)
    if tuple(model.shape) == tuple(n for d, n in enumerate(shape) if d not in dims):
        union = union.reshape(model.shape)
    elif tuple(model.shape) not in (tuple(shape), kept):
        return None
    return given[0].with_ids(xp.copied(xp.broadcast_to(union, model.shape)), model.dtype)


def _by_unit_vectors(op: Op, values: list[Any], given: list[IndexSets]) -> Any:
    """The op on each unit vector, where those are few."""
    if sum(s.size for s in given) > _SMALL:
        return None
    model = _model(op, values)
    if type(model) in (list, tuple):
        return None
    ids, groups = [], []
    for sets in given:
        for k in range(sets.size):
            unit = xp.zeros((sets.size,), sets.dtype)
            unit[k] = 1
            reached = xp.flatnonzero(compute(op, _with_unit(values, sets, unit)))
            groups.append(reached)
            ids.append(xp.full(reached.shape, sets.ids.reshape(-1)[k], xp.INT64))
    first = given[0]
    found = first.table.grouped(xp.concatenate(ids), xp.concatenate(groups), model.size)
    return first.with_ids(found.reshape(model.shape), model.dtype)


def _with_unit(values: list[Any], sets: IndexSets, unit: Any) -> list[Any]:
    def number(value: Any) -> Any:
        if not isinstance(value, IndexSets):
            return value
        return unit.reshape(value.shape) if value is sets else value.constant("zeros")

    return mapped(values, number)


# ---------------------------------------------------------------- ops whose structure is known


def _product(op: Op, values: list[Any], given: list[IndexSets]) -> Any:
    """A product of matrices or vectors, of which one holds sets."""
    model, top = _model(op, values), given[0]
    left, right = values[0], values[1]
    if op.name in ("_linear_plain", "_mm_transposed"):
        right = _turned(right)
    elif op.name == "_transposed_mm":
        left = _turned(left)
    is_left = isinstance(left, IndexSets)
    a = left.ids if is_left else left
    b = right if is_left else right.ids
    a = a[None, :] if a.ndim == 1 else a
    b = b[:, None] if b.ndim == 1 else b
    found = top.table.product(a, b, True) if is_left else top.table.product(b, a, False)
    return top.with_ids(xp.copied(found.reshape(model.shape)), model.dtype)


def _turned(matrix: Any) -> Any:
    """The transpose of a matrix, which may hold sets."""
    return matrix.with_ids(matrix.ids.swapaxes(-1, -2)) if isinstance(matrix, IndexSets) else \
        matrix.swapaxes(-1, -2)


def _cumulative(op: Op, values: list[Any], given: list[IndexSets]) -> Any:
    top = given[0]
    if not top.ndim:
        return None
    return top.with_ids(top.table.up_to(top.ids, values[1] % top.ndim), _model(op, values).dtype)


def _from_end(op: Op, values: list[Any], given: list[IndexSets]) -> Any:
    top = given[0]
    if not top.ndim:
        return None
    dim = values[1] % top.ndim
    backwards = tuple(slice(None, None, -1) if d == dim else slice(None) for d in range(top.ndim))
    found = top.table.up_to(top.ids[backwards], dim)[backwards]
    return top.with_ids(xp.copied(found), _model(op, values).dtype)


def _convolved(op: Op, values: list[Any], given: list[IndexSets]) -> Any:
    """A convolution of sets, or its gradient by the input: by the places that meet."""
    named = dict(zip(op.by_name, values, strict=True))
    forward = op.name == "_convolution"
    sets = named["input" if forward else "output"]
    weight = named["weight"]
    if len(given) > 1 or given[0] is not sets:
        return None
    model = _model(op, values)
    groups = named["groups"]
    wide, narrow = (sets.shape[2:], model.shape[2:]) if forward else \
        (model.shape[2:], sets.shape[2:])
    inside, outside = index_sets.window_places(
        wide, narrow, weight.shape[2:], named["stride"], named["padding"], named["dilation"])
    source, target = (inside, outside) if forward else (outside, inside)
    batch, channels = sets.shape[:2]
    # All channels of a group are mixed.
    mixed = sets.table.along(sets.ids.reshape(batch, groups, channels // groups, -1), (2,))
    mixed = mixed.reshape(batch * groups, -1)
    size = 1
    for n in model.shape[2:]:
        size *= n
    rows = xp.arange(batch * groups)[:, None]
    found = sets.table.grouped(mixed[:, source].reshape(-1), (rows * size + target).reshape(-1),
                               batch * groups * size).reshape(batch, groups, 1, size)
    found = xp.broadcast_to(found, (batch, groups, model.shape[1] // groups, size))
    return sets.with_ids(xp.copied(found).reshape(model.shape), model.dtype)


_KNOWN: dict[str, Any] = {
    **dict.fromkeys(("mm", "mv", "dot", "vdot", "_vecmat", "bmm", "_rows_times_matrix",
                     "_rows_times_vector", "_batched", "_batched_by_one", "_batched_pairs",
                     "_vector_times_batch", "_linear_plain", "_mm_transposed", "_transposed_mm"),
                    _product),
    "cumsum": _cumulative, "_sums_from_end": _from_end,
    "_convolution": _convolved, "_convolution_input": _convolved}
