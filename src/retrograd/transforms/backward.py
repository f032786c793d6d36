"""Backward inside a transform: gradients go through nodes as raw data."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ..codegen.rules import OnData, compile_pull_data
from ..codegen.switch import GeneralPath, when_switched
from ..core.extensions import extensions
from ..core.graph import Identity
from ..core.op import GENERATED
from ..core.saved_values import pull_by_replay, replay_traced
from .boundary import Boundary, MakeDual, settle
from .raw_rules import ARRAYS, fit_data, on_data

Pulled = tuple[Any, ...]
Way = Callable[[Any, Any, tuple[Any, ...]], Pulled]


def pull_data(node: Any, g: Any, wanted: tuple[Any, ...]) -> Pulled:
    """The gradients of a node's inputs that are wanted, as raw data."""
    return _way_of(node.__class__)(node, g, wanted)


def takes_any_data(node: Any) -> bool:
    """Whether a node runs nothing but ops."""
    return hasattr(node, "op") or isinstance(node, _INDIFFERENT)


_INDIFFERENT = (Identity, Boundary, MakeDual)


@cache
def _way_of(cls: Any) -> Way:
    if issubclass(cls, _INDIFFERENT):
        return _by_pull
    return OpPull(cls) if has_data_rules(cls) and not GeneralPath.only else pull_by_replay


when_switched(_way_of.cache_clear)


def has_data_rules(cls: Any) -> bool:
    """Whether the rules behind a class of nodes all work on raw data."""
    op = getattr(cls, "op", None)
    return op is not None and not op.has_list and not op.outputs and \
        all(map(on_data, op.rules.values()))


def pull_quickly(node: Any, g: Any, wanted: tuple[Any, ...]) -> Pulled | None:
    """What a node's ``pull`` returns, by rules on raw data; None where it takes tensors."""
    way = _way_of(node.__class__)
    if way.__class__ is not OpPull or g is None:
        return None
    try:
        return way.pulled(node, g, wanted or (node.next0,))
    except Exception:  # the rules on tensors say what is wrong
        return None


extensions.fill(traced_pull=pull_quickly)


def _by_pull(node: Any, g: Any, wanted: tuple[Any, ...]) -> Pulled:
    """The way of nodes that are indifferent to what a gradient is made of."""
    return (node.pull(g),) if node._arity == 1 else node.pull(g, *wanted)


class OpPull:
    """The way of an op's nodes: its rules, on raw data of one real dtype."""

    def __init__(self, cls: Any):
        self.is_traced = cls.replay is replay_traced
        self.pulled = compile_pull_data(cls.op, cls.layout, OnData(on_data))

    def __call__(self, node: Any, g: Any, wanted: tuple[Any, ...]) -> Pulled:
        if not self.is_traced and g.__class__ in ARRAYS:
            return _by_pull(node, g, wanted)
        try:
            found = self.pulled(node, g, wanted)
        except Exception:  # the rules on tensors say what is wrong
            found = None
        return pull_by_replay(node, g, wanted) if found is None else found


GENERATED.update(settle=settle, fit_data=fit_data)
