"""Backward inside a transform: gradients go through nodes as raw data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import replaying
from ..graph import Identity, Like, Released
from ..interpret import wrap_any
from ..op import REGISTRY
from ..replaying import Packed, check_version, replay_traced, stale_output
from .boundary import Boundary, MakeDual, settle
from .data import ARRAYS, F4, F8, cast_data, on_data, on_holders
from .holders import Holder

Pulled = tuple[Any, ...]
Way = Callable[[Any, Any, tuple[Any, ...]], Pulled]
_WAYS: dict[type, Way] = {}


def pull_data(node: Any, g: Any, wanted: tuple[Any, ...]) -> Pulled:
    """The gradients of a node's inputs that are wanted, as raw data."""
    cls = node.__class__
    way = _WAYS.get(cls)
    if way is None:
        way = _WAYS[cls] = _way_of(cls)
    return way(node, g, wanted)


def takes_any_data(node: Any) -> bool:
    """Whether a node runs nothing but ops."""
    return hasattr(node, "op") or isinstance(node, _INDIFFERENT)


_INDIFFERENT = (Identity, Boundary, MakeDual)


def _way_of(cls: Any) -> Way:
    if issubclass(cls, _INDIFFERENT):
        return _by_pull
    return OpPull(cls) if has_data_rules(cls) else _on_tensors


def has_data_rules(cls: Any) -> bool:
    """Whether the rules behind a class of nodes all work on raw data."""
    op = getattr(cls, "op", None)
    return op is not None and not op.has_list and len(op.outputs) < 2 and \
        all(map(on_data, op.rules.values()))


def pull_quickly(node: Any, g: Any, wanted: tuple[Any, ...]) -> Pulled | None:
    """What a node's ``pull`` returns, by rules on raw data; None where it takes tensors."""
    cls = node.__class__
    way = _WAYS.get(cls)
    if way is None:
        way = _WAYS[cls] = _way_of(cls)
    if way.__class__ is not OpPull or g is None:
        return None
    try:
        return way.pulled(node, g, wanted or (node.next0,))
    except Exception:  # the rules on tensors say what is wrong
        return None


replaying.TRACED_PULL = pull_quickly


def _by_pull(node: Any, g: Any, wanted: tuple[Any, ...]) -> Pulled:
    """The way of nodes that are indifferent to what a gradient is made of."""
    return (node.pull(g),) if node._arity == 1 else node.pull(g, *wanted)


def _on_tensors(node: Any, g: Any, wanted: tuple[Any, ...]) -> Pulled:
    """The way of any node."""
    gradient = None if g is None else wrap_any(g)
    found = node.replay(gradient) if node._arity == 1 else node.replay(gradient, *wanted)
    results = found if isinstance(found, tuple) else (found,)
    return tuple([None if r is None else r._data for r in results])


class OpPull:
    """The way of an op's nodes: its rules, on raw data of one real dtype."""

    def __init__(self, cls: Any):
        op, plan = cls.op, cls.plan
        self.rules = [(i, on_data(op.rules[name]), plan.needs[name])
                      for i, name in enumerate(op.arrays) if name in op.rules]
        self.arity = plan.arity
        self.saved = set(plan.saved_arrays)
        self.outputs = set(plan.saved_outputs)
        self.fitted = {i: k for k, i in enumerate(plan.fitted)}
        self.is_traced = cls.replay is replay_traced

    def __call__(self, node: Any, g: Any, wanted: tuple[Any, ...]) -> Pulled:
        if not self.is_traced and g.__class__ in ARRAYS:
            return _by_pull(node, g, wanted)
        try:
            found = self.pulled(node, g, wanted)
        except Exception:  # the rules on tensors say what is wrong
            found = None
        return _on_tensors(node, g, wanted) if found is None else found

    def pulled(self, node: Any, g: Any, wanted: tuple[Any, ...]) -> Pulled | None:
        """The gradients by rules on raw data; None if that takes more than they know."""
        dtype = g.dtype
        if not (dtype is F4 or dtype is F8):
            return None
        known: dict[str, Any] = {"g": g, "wanted": wanted}
        results: list[Any] = [None] * self.arity
        levels = node.input_levels
        for i, rule, needs in self.rules:
            if wanted[i] is None:
                continue
            arguments = []
            for need in needs:
                if need in known:
                    arguments.append(known[need])
                elif need == "like":
                    arguments.append(getattr(node, f"like{i}"))
                else:
                    value = self.read(node, need, dtype)
                    if value is _UNREADABLE:
                        return None
                    known[need] = value
                    arguments.append(value)
            result = rule(*arguments)
            if result is not None:
                fits = node.fits if i in self.fitted else None
                if fits is not None:
                    result = fit_data(result, fits[self.fitted[i]])
                if levels is not None and isinstance(result, Holder):
                    result = settle(result, levels[i])
            results[i] = result
        return tuple(results)

    def read(self, node: Any, name: str, dtype: Any) -> Any:
        """A saved value; it must be of ``dtype`` if it is data."""
        if name in self.saved:
            tensor = getattr(node, name)
            if tensor is None:
                return None
            if tensor.__class__ is Packed:
                return _UNREADABLE
            version = tensor._vc  # refuses if it was released
            if version is not None and version.n:
                check_version(node, name, version)
            data = tensor._data
            is_number = data.dtype is dtype
        elif name in self.outputs:
            data = getattr(node, f"out_{name}")
            if data.__class__ is Released:
                data.refuse()
            if data.__class__ is Packed:
                return _UNREADABLE
            if node.seal is not None and node.seal[0].n != node.seal[1]:
                stale_output(node)
            is_number = data.dtype is dtype
        else:
            return getattr(node, name)
        return data if is_number or data.dtype.kind in "bi" else _UNREADABLE


_UNREADABLE = object()


def fit_data(gradient: Any, like: Like | None) -> Any:
    """:func:`retrograd.graph.fit` on raw data."""
    if like is None:
        return gradient
    if gradient.shape != like.shape:
        gradient = on_holders(REGISTRY["sum_to_size_of"])(gradient, like.shape)
    return cast_data(gradient, like.dtype)
