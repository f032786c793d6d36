"""Writing in place to tensors that belong to a transform."""

from __future__ import annotations

from typing import Any

from ..backend import xp
from ..backend.interface import library_of
from ..core.computing import compute
from ..core.extensions import extensions
from ..core.tensor import Tensor, wrap_any
from .boundary import Crossing, joined
from .traced_data import (
    ROOMS,
    Batched,
    CannotBatch,
    Dual,
    TracedData,
    TracedTensor,
    has_tangents,
    innermost,
    sizes_of,
    spine,
    value_of,
    zeros_like_data,
)


def write_traced(target: Tensor, result: Any) -> None:
    """Put raw data into a tensor's memory where one or both belong to a transform."""
    given = spine(result)
    for level in sorted(set(given) - set(spine(target._data))):
        _lift(target, level, given[level])
    for level, traced in spine(target._data).items():
        if isinstance(traced, Dual) and level in given:
            wanted = given[level].tangent
            if not _has_room(traced.tangent, wanted):
                _widen(target, level, {**sizes_of(traced.tangent), **sizes_of(wanted)})
    _write(target._array(), result)


def _has_room(data: Any, other: Any) -> bool:
    """Whether ``data`` has a place for each part of ``other``."""
    if not isinstance(other, TracedData):
        return True
    if not isinstance(data, TracedData) or data.level < other.level:
        return False
    same = data.level == other.level
    if data.level in ROOMS:
        return same
    if isinstance(data, Batched):
        return _has_room(data.value, other.value if same else other)
    return _has_room(data.primal, other.primal if same else other) and (
        not same or _has_room(data.tangent, other.tangent))


def not_batched(what: str) -> str:
    """Why values of a batch cannot be written to a tensor that is the same for all of it."""
    return (f"vmap: {what}(self, *extra_args) is not possible because there exists a Tensor "
            "`other` in extra_args that has more elements than `self`. This happened due to "
            "`other` being vmapped over but `self` not being vmapped over in a vmap. Please try "
            f"to use out-of-place operators instead of {what}. If said operator is being called "
            "inside the PyTorch framework, please file a bug report instead.")


def _lift(target: Tensor, level: int, traced: Any) -> None:
    """Give a tensor, its base and its other views room for a transform's data."""
    if isinstance(traced, Batched):
        raise CannotBatch(not_batched("inplace arithmetic")).at(level)
    base = target if target._view is None else target._view.base
    base._array()
    places = [(view, _geometry(base, view)) for view in _views_of(base)]
    inside = {n: size for n, size in sizes_of(traced.tangent).items() if n < level}
    # The views look at the tangents of tangents too, which joining would make for each by itself.
    around: dict[int, int | None] = {
        n: None for n, own in spine(base._data).items() if n > level and isinstance(own, Dual)}
    tangent = _room(base._data, inside | around)
    carry_tangent(base, level, tangent)
    for view, where in places:
        carry_tangent(view, level, _part(tangent, where))


def _widen(target: Tensor, level: int, sizes: dict[int, int | None]) -> None:
    """Give a dual tensor, its base and its other views tangents of more levels."""
    base = target if target._view is None else target._view.base
    tensors = [base, *_views_of(base)]
    places = [_geometry(base, view) for view in tensors[1:]]
    own = spine(base._data)[level]
    wider = _room(own.primal, sizes)
    _write(wider, own.tangent)
    own.tangent = wider
    # A view is one of what the program sees, which the batches further out are not part of.
    around = [n for n, traced in spine(base._data).items()
              if n > level and isinstance(traced, Batched)]
    for n in reversed(around):
        wider = Batched(n, wider)
    for view, where in zip(tensors[1:], places, strict=True):
        part = _part(wider, where)
        for _ in around:
            part = part.value
        spine(view._data)[level].tangent = part


def _room(like: Any, sizes: dict[int, int | None]) -> Any:
    """Zeros laid out as ``like``, with room for the data of further levels (see sizes_of)."""
    like = value_of(like)
    if isinstance(like, Batched):
        own = {n: size for n, size in sizes_of(like).items() if size is not None}
        if sizes.keys() <= own.keys():
            return zeros_like_data(like)
        sizes = {**own, **sizes}
        values = innermost(like)
        like = values[(0,) * len(own)] if 0 not in own.values() else library_of(values).empty(
            values.shape[len(own):], values.dtype)
    batches = [size for _, size in sorted(sizes.items()) if size is not None]

    def build(levels: list[int]) -> Any:
        if not levels:
            return library_of(like).zeros_as(like, batches)
        *lower, level = levels
        if level in ROOMS:
            return ROOMS[level](library_of(like).zeros_as(like, batches))
        if sizes[level] is not None:
            return Batched(level, build(lower))
        return Dual(level, build(lower), build(lower))

    return build(sorted(sizes))


def _part(data: Any, where: Any) -> Any:
    """The part of a base's tangent that a view of this geometry looks at."""
    if where.chain:
        for step, static in where.chain:
            if isinstance(step, Crossing):
                data = step.on_data(data, *static)
            elif step.outputs == ("list",):
                data = compute(step, [data, *static[:-1]])[static[-1]]
            else:
                data = compute(step, [data, *static])
        return data
    if isinstance(data, Dual | Batched):
        return data.mapped(lambda part: _part(part, where))
    if isinstance(data, TracedData):
        return data.part(where.of_array)
    return where.of_array(data)


def _views_of(base: Tensor) -> list[Tensor]:
    """The tensors that look at the memory of ``base``."""
    known = [] if base._vc is None else base._vc.views or []
    views = [tensor for tensor in [reference() for reference in known] if tensor is not None]
    # A detached twin shares the memory, and has views of its own.
    return [tensor for tensor in views if tensor._view.base is base]


def _geometry(base: Tensor, view: Tensor) -> Any:
    from ..core.inplace import Geometry

    twin = wrap_any(value_of(view._data))
    twin._view = view._view
    return Geometry(wrap_any(value_of(base._data)), twin)


def carry_tangent(tensor: Tensor, level: int, tangent: Any) -> None:
    """Make a tensor dual in place."""
    tensor._replace_data(joined(tensor._data, tangent, level))
    tensor.__class__ = TracedTensor


def _write(target: Any, result: Any) -> None:
    if isinstance(target, Dual):
        same = isinstance(result, Dual) and result.level == target.level
        _write(target.primal, result.primal if same else result)
        if has_tangents(target.level):
            _write(target.tangent, result.tangent if same else xp.zeros((), target.tangent.dtype))
    elif isinstance(target, Batched):
        if isinstance(result, Batched) and result.level == target.level:
            result = result.value
        elif isinstance(result, TracedData):
            # Its own batch comes first in memory: the one of this level is to be broadcast.
            result = result.reshape((1, *result.shape))
        _write(target.value, result)
    elif isinstance(target, TracedData):
        target.overwrite(result)
    elif isinstance(result, TracedData):
        raise CannotBatch("a value inside a transform cannot be written to a tensor outside "
                          "it").at(result.level)
    else:
        target[...] = result


extensions.fill(traced_write=write_traced)
