"""Nested containers: flattened to leaves and a spec that puts them back, and mapped.

What a container is made of is said by a :class:`NodeDef`, for those of Python in a table here, and
for a user's by :mod:`retrograd.utils._pytree`, which offers all this under PyTorch's names.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from .warning import warn

_HOME = "retrograd.utils._pytree"


class NodeDef(NamedTuple):
    """How a type of container is taken apart and put together."""

    type: Any
    flatten_fn: Callable[[Any], tuple[list[Any], Any]]
    unflatten_fn: Callable[[Iterable[Any], Any], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Any]] | None = None


NodeDef.__module__ = _HOME
NODES: dict[Any, NodeDef] = {}
"""What the containers of each type are made of; all namedtuples count as one type."""

DICTS: frozenset[Any] = frozenset({dict, OrderedDict, defaultdict})


def add_kind(cls: Any, context_of: Callable[[Any], Any], unflatten: Callable[..., Any]) -> None:
    """Have a type taken apart into its values, and what else it holds."""
    is_dict = cls in DICTS

    def flatten(tree: Any) -> tuple[list[Any], Any]:
        return list(tree.values() if is_dict else tree), context_of(tree)

    NODES[cls] = NodeDef(cls, flatten, unflatten)


def _filled(made: Any, keys: Any, values: Iterable[Any]) -> Any:
    made.update(zip(keys, values, strict=True))
    return made


add_kind(tuple, lambda d: None, lambda values, context: tuple(values))
add_kind(list, lambda d: None, lambda values, context: list(values))
add_kind(deque, lambda d: d.maxlen, lambda values, context: deque(values, maxlen=context))
add_kind(dict, list, lambda values, context: _filled({}, context, values))
add_kind(OrderedDict, list, lambda values, context: _filled(OrderedDict(), context, values))
add_kind(defaultdict, lambda d: [d.default_factory, list(d)],
         lambda values, context: _filled(defaultdict(context[0]), context[1], values))
add_kind(namedtuple, type, lambda values, context: context(*values))
BUILTIN_TYPES: frozenset[Any] = frozenset(NODES)


def is_namedtuple_class(cls: Any) -> bool:
    """Whether a class is one of namedtuples."""
    return isinstance(cls, type) and issubclass(cls, tuple) and isinstance(
        getattr(cls, "_fields", None), tuple) and callable(getattr(cls, "_make", None))


is_namedtuple_class.__module__ = _HOME


def node_type(tree: Any) -> Any:
    """The type by which a value is a container, if it is one."""
    kind = type(tree)
    return namedtuple if kind is not tuple and is_namedtuple_class(kind) else kind


class TreeSpec:
    """The structure of a nested container, without its leaves."""

    __module__ = _HOME
    __slots__ = ("type", "_context", "_children")
    type: Any
    _context: Any
    _children: list[TreeSpec]

    def __init__(self, type: Any, context: Any, children_specs: list[TreeSpec]):
        put = object.__setattr__
        put(self, "type", type)
        put(self, "_context", context)
        put(self, "_children", children_specs)

    def __setattr__(self, name: str, value: Any) -> None:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __reduce__(self) -> Any:
        return (treespec_leaf, ()) if self.is_leaf() else (
            TreeSpec, (self.type, self._context, self._children))

    def __repr__(self, indent: int = 0) -> str:
        if self.type is None:
            return "*"
        inner = (",\n" + " " * (indent + 2)).join(c.__repr__(indent + 2) for c in self._children)
        return f"TreeSpec({self.type.__name__}, {self._context}, [{inner}])"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return self is other or (self.type == other.type and self._context == other._context
                                 and self._children == other._children)

    def __hash__(self) -> int:
        context = self._context
        if self.type is defaultdict:
            context = (context[0], tuple(context[1]))
        elif self.type in DICTS:
            context = tuple(context)
        elif self.type not in BUILTIN_TYPES:
            context = None  # which may not be hashable; equal specs have equal hashes all the same
        return hash((self.type, context, tuple(self._children)))

    @property
    def num_nodes(self) -> int:
        """How many containers and leaves there are in it, itself among them."""
        return 1 + sum([child.num_nodes for child in self._children])

    @property
    def num_leaves(self) -> int:
        """How many leaves it has."""
        return 1 if self.type is None else sum([child.num_leaves for child in self._children])

    @property
    def num_children(self) -> int:
        """How many children it has."""
        return len(self._children)

    @property
    def context(self) -> Any:
        """What the container holds besides its children."""
        return self._context

    @property
    def children_specs(self) -> list[TreeSpec]:
        """The older name of :meth:`children`."""
        warn("`treespec.children_specs` is deprecated. Use `treespec.child(index)` to access a "
             "single child, or `treespec.children()` to get all children.", FutureWarning)
        return self._children

    def is_leaf(self) -> bool:
        """Whether this is the spec of a leaf."""
        return self.type is None

    def children(self) -> list[TreeSpec]:
        """The specs of the children."""
        return self._children.copy()

    def child(self, index: int) -> TreeSpec:
        """The spec of one child."""
        return self._children[index]

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The container of this structure that holds ``leaves``."""
        given = leaves if isinstance(leaves, (list, tuple)) else list(leaves)
        if len(given) != self.num_leaves:
            raise ValueError(f"treespec.unflatten(leaves): `leaves` has length {len(given)} but "
                             f"the spec refers to a pytree that holds {self.num_leaves} items "
                             f"({self}).")
        return self._built(iter(given))

    def _built(self, leaves: Iterator[Any]) -> Any:
        if self.type is None:
            return next(leaves)
        return NODES[self.type].unflatten_fn(
            [next(leaves) if child is LEAF else child._built(leaves) for child in self._children],
            self._context)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """What another container holds in the places of this one's leaves."""
        found: list[Any] = []
        self._take(tree, found)
        return found

    def _take(self, tree: Any, found: list[Any]) -> None:
        if self.is_leaf():
            found.append(tree)
            return
        for child, spec in zip(self._matched(tree), self._children, strict=True):
            spec._take(child, found)

    def _matched(self, tree: Any) -> list[Any]:
        """The children of a container, which must be like this one."""
        kind = node_type(tree)
        are_dicts = self.type in DICTS and kind in DICTS
        if kind != self.type and not are_dicts:
            start = "Node type" if self.type in BUILTIN_TYPES else "Type"
            raise ValueError(f"{start} mismatch; expected {self.type!r}, but got {kind!r}.")
        children, context = NODES[kind].flatten_fn(tree)
        if len(children) != self.num_children:
            raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got "
                             f"{len(children)}.")
        if are_dicts:
            return self._by_key(tree)
        if self.type not in BUILTIN_TYPES and context != self._context:
            raise ValueError(f"Node context mismatch for custom node type {self.type!r}.")
        if self.type is not deque and context != self._context:
            raise ValueError(f"Node context mismatch for node type {self.type!r}; expected "
                             f"{self._context!r}, but got {context!r}.")
        return children

    def _by_key(self, tree: Mapping[Any, Any]) -> list[Any]:
        keys = self._context[1] if self.type is defaultdict else self._context
        if set(tree) != set(keys):
            words = "".join(f"; {what} key(s): {found}" for what, found in (
                ("missing", set(keys) - set(tree)), ("extra", set(tree) - set(keys))) if found)
            raise ValueError(f"Node keys mismatch{words}.")
        return [tree[key] for key in keys]


LEAF = TreeSpec(None, None, [])


def treespec_leaf() -> TreeSpec:
    """The spec of a leaf."""
    return LEAF


treespec_leaf.__module__ = _HOME


def flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """The leaves from left to right, and the spec that puts them back."""
    if type(tree) not in NODES and not isinstance(tree, tuple):
        return [tree], LEAF
    leaves: list[Any] = []
    return leaves, _collect(tree, leaves, is_leaf)


def _collect(tree: Any, leaves: list[Any], is_leaf: Callable[[Any], bool] | None) -> TreeSpec:
    """Add the leaves of ``tree`` to ``leaves``."""
    kind = type(tree)
    if kind is not tuple and isinstance(tree, tuple):
        kind = node_type(tree)
    node = NODES.get(kind)
    if node is None or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return LEAF
    children, context = node.flatten_fn(tree)
    return TreeSpec(kind, context, [_collect(child, leaves, is_leaf) for child in children])


def unflatten(leaves: Iterable[Any], spec: TreeSpec) -> Any:
    """The container of a spec that holds ``leaves``, of which there are as many as it has."""
    items = iter(leaves)
    return next(items) if spec is LEAF else spec._built(items)


def tree_map(function: Callable[[Any], Any], tree: Any) -> Any:
    """The same container with ``function`` applied to every leaf."""
    leaves, spec = flatten(tree)
    return unflatten(map(function, leaves), spec)


def broadcast_prefix(prefix: Any, spec: TreeSpec, is_leaf: Callable[[Any], bool] | None = None
                     ) -> list[Any] | None:
    """One value of ``prefix`` for every leaf, or None where it does not fit the spec."""
    if type(prefix) is spec.type is tuple and is_leaf is None and len(prefix) == spec.num_children:
        several = [broadcast_prefix(value, child) for value, child in zip(
            prefix, spec._children, strict=True)]  # as a rule it is one value for each argument
        return None if None in several else list(chain(*several))
    leaves, own = flatten(prefix, is_leaf)
    if own is LEAF:
        return leaves * spec.num_leaves
    try:
        parts = own.flatten_up_to(unflatten([0] * spec.num_leaves, spec))
    except ValueError:
        return None
    return [leaf for leaf, part in zip(leaves, parts, strict=True)
            for _ in flatten(part, is_leaf)[0]]


class _Star:
    def __repr__(self) -> str:
        return "*"


def pictured(spec: TreeSpec) -> str:
    """The container of a spec as it would print, with a star for every leaf."""
    return repr(spec.unflatten([_Star()] * spec.num_leaves))
