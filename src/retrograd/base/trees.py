"""Nested containers: flattening dicts, lists and tuples to a list of leaves, and back."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, NamedTuple


class Structure(NamedTuple):
    """The shape of a nested container; a leaf has kind None."""

    kind: Any
    keys: Any
    children: tuple[Any, ...]

    @property
    def leaves(self) -> int:
        return 1 if self.kind is None else sum(c.leaves for c in self.children)

    def _named(self) -> tuple[Any, Any]:
        """The container's type, and what it keeps besides its values."""
        kind = self.kind
        if type(self.keys) is _Rest:
            return kind, self.keys.context
        if isinstance(kind, tuple):
            return kind[0], [kind[1], list(self.keys)]
        if self.keys is not None:
            return kind, list(self.keys)
        return kind, kind if hasattr(kind, "_fields") else None

    def described(self, indent: int = 0) -> str:
        """The structure in the words of PyTorch's tree specs."""
        if self.kind is None:
            return "*"
        kind, context = self._named()
        inner = (",\n" + " " * (indent + 2)).join(c.described(indent + 2) for c in self.children)
        return f"TreeSpec({kind.__name__}, {context}, [{inner}])"

    __repr__ = __str__ = described  # type: ignore[assignment,misc]

    def pictured(self) -> str:
        """The container as it would print, with a star for every leaf."""
        if self.kind is None:
            return "*"
        parts = [c.pictured() for c in self.children]
        kind = self._named()[0]
        if self.keys is not None and type(self.keys) is not _Rest:
            inner = ", ".join(f"{k!r}: {v}" for k, v in zip(self.keys, parts, strict=True))
            return f"{{{inner}}}" if kind is dict else f"{kind.__name__}({{{inner}}})"
        inner = ", ".join(parts)
        if kind is list:
            return f"[{inner}]"
        if kind is tuple:
            return f"({inner},)" if len(parts) == 1 else f"({inner})"
        if hasattr(kind, "_fields"):
            named = ", ".join(f"{n}={v}" for n, v in zip(kind._fields, parts, strict=True))
            return f"{kind.__name__}({named})"
        return f"{kind.__name__}([{inner}])"


LEAF = Structure(None, None, ())

REGISTERED: dict[type, tuple[Callable[[Any], tuple[Any, Any]], Callable[[Any, Any], Any]]] = {}
"""A user's containers: how each is taken apart, and put together of children and the rest."""


class _Rest(NamedTuple):
    """What a user's container holds besides its children, in the place of keys."""

    context: Any


def _parts(value: Any) -> tuple[Any, Any, Any] | None:
    kind = type(value)
    if kind is tuple or kind is list:
        return kind, None, value
    if kind is dict or kind is OrderedDict:
        return kind, tuple(value), list(value.values())
    if kind is defaultdict:
        return (defaultdict, value.default_factory), tuple(value), list(value.values())
    if kind is deque or (isinstance(value, tuple) and (
            hasattr(kind, "_fields") or hasattr(kind, "n_sequence_fields"))):
        return kind, None, list(value)
    if REGISTERED and kind in REGISTERED:
        values, context = REGISTERED[kind][0](value)
        return kind, _Rest(context), list(values)
    return None


def flatten(tree: Any) -> tuple[list[Any], Structure]:
    """The leaves from left to right, and what is needed to put them back."""
    leaves: list[Any] = []
    return leaves, _collect(tree, leaves)


def _collect(tree: Any, leaves: list[Any]) -> Structure:
    """Add the leaves of ``tree`` to ``leaves``."""
    parts = _parts(tree)
    if parts is None:
        leaves.append(tree)
        return LEAF
    kind, keys, values = parts
    return Structure(kind, keys, tuple([_collect(value, leaves) for value in values]))


def unflatten(leaves: list[Any], structure: Structure) -> Any:
    """The container of ``structure`` holding ``leaves``."""
    if structure is LEAF:
        return leaves[0]
    return _build(iter(leaves), structure)


def _build(items: Any, structure: Structure) -> Any:
    kind = structure.kind
    values = [next(items) if child is LEAF else _build(items, child)
              for child in structure.children]
    if kind is tuple:
        return tuple(values)
    if kind is list:
        return values
    if type(structure.keys) is _Rest:
        return REGISTERED[kind][1](values, structure.keys.context)
    if isinstance(kind, tuple):
        made = kind[0](kind[1])
        made.update(zip(structure.keys, values, strict=True))
        return made
    if structure.keys is not None:
        return kind(zip(structure.keys, values, strict=True))
    if hasattr(kind, "_fields"):
        return kind(*values)
    return kind(values)


def tree_map(function: Callable[[Any], Any], tree: Any) -> Any:
    """The same container with ``function`` applied to every leaf."""
    leaves, structure = flatten(tree)
    return unflatten([function(leaf) for leaf in leaves], structure)


def broadcast_prefix(prefix: Any, structure: Structure) -> list[Any] | None:
    """One value of ``prefix`` for every leaf, or None where it does not fit the structure."""
    parts = _parts(prefix)
    if parts is None:
        return [prefix] * structure.leaves
    kind, keys, values = parts
    if kind != structure.kind or keys != structure.keys or len(values) != len(structure.children):
        return None
    found: list[Any] = []
    for value, child in zip(values, structure.children, strict=True):
        inner = broadcast_prefix(value, child)
        if inner is None:
            return None
        found += inner
    return found
