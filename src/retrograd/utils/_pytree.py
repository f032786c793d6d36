"""Nested containers with PyTorch's names: flattened to leaves and a spec, mapped, and put back.

What a container is made of is said by a :class:`NodeDef`, for those of Python in
:mod:`retrograd.base.trees` and for a user's by :func:`register_pytree_node`.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import json
import types
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any, NamedTuple

from .. import return_types
from ..base import trees
from ..base.locks import new_lock
from ..base.missing_names import suggest_names as _suggest_names
from ..base.trees import (
    BUILTIN_TYPES,
    LEAF,
    NodeDef,
    TreeSpec,
    is_namedtuple_class,
    node_type as _get_node_type,
    treespec_leaf as treespec_leaf,
)
from ..base.warning import warn

PyTree = Any
Context = Any
KeyPath = tuple[Any, ...]
IsLeaf = Callable[[Any], bool] | None
NO_SERIALIZED_TYPE_NAME_FOUND = "NO_SERIALIZED_TYPE_NAME_FOUND"
DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL = 1


# ---------------------------------------------------------------- keys


@dataclasses.dataclass(frozen=True, slots=True)
class SequenceKey:
    """The place of a child in a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """The child."""
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True, slots=True)
class MappingKey:
    """The key of a child in a mapping."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """The child."""
        return mapping[self.key]


@dataclasses.dataclass(frozen=True, slots=True)
class GetAttrKey:
    """The name of a child that is an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """The child."""
        return getattr(obj, self.name)


def keystr(kp: KeyPath) -> str:
    """A path as one would write it in Python."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What lies at the end of a path."""
    for key in kp:
        obj = key.get(obj)
    return obj


# ---------------------------------------------------------------- what containers are made of


class _SerializeNodeDef(NamedTuple):
    """How the spec of a type of container is written as text."""

    typ: Any
    serialized_type_name: str
    to_dumpable_context: Callable[[Context], Any] | None
    from_dumpable_context: Callable[[Any], Context] | None


SUPPORTED_NODES = trees.NODES
SUPPORTED_SERIALIZED_TYPES: dict[Any, _SerializeNodeDef] = {}
SERIALIZED_TYPE_TO_PYTHON_TYPE: dict[str, Any] = {}
CONSTANT_NODES: set[type] = set()
_LOCK = new_lock()


def register_pytree_node(cls: Any, flatten_fn: Any, unflatten_fn: Any, *,
                         serialized_type_name: str | None = None, to_dumpable_context: Any = None,
                         from_dumpable_context: Any = None, flatten_with_keys_fn: Any = None
                         ) -> None:
    """Have a class taken apart: ``flatten_fn(obj)`` gives its children and what else it holds."""
    with _LOCK:
        if cls in SUPPORTED_NODES:
            raise ValueError(f"{cls} is already registered as pytree node.")
        _private_register_pytree_node(
            cls, flatten_fn, unflatten_fn, serialized_type_name=serialized_type_name,
            to_dumpable_context=to_dumpable_context, from_dumpable_context=from_dumpable_context,
            flatten_with_keys_fn=flatten_with_keys_fn)


def _private_register_pytree_node(cls: Any, flatten_fn: Any, unflatten_fn: Any, *,
                                  serialized_type_name: str | None = None,
                                  to_dumpable_context: Any = None,
                                  from_dumpable_context: Any = None,
                                  flatten_with_keys_fn: Any = None) -> None:
    """The same, which replaces a registration with a warning."""
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(f"Both to_dumpable_context and from_dumpable_context for {cls} must be "
                         "None or registered.")
    with _LOCK:
        if cls in SUPPORTED_NODES:
            warn(f"{cls} is already registered as pytree node. Overwriting the previous "
                 "registration.")
        name = serialized_type_name or NO_SERIALIZED_TYPE_NAME_FOUND
        SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
        SUPPORTED_SERIALIZED_TYPES[cls] = _SerializeNodeDef(cls, name, to_dumpable_context,
                                                            from_dumpable_context)
        SERIALIZED_TYPE_TO_PYTHON_TYPE[name] = cls


def _register_pytree_node(cls: Any, flatten_fn: Any, unflatten_fn: Any, **options: Any) -> None:
    """The older name."""
    warn("`torch.utils._pytree._register_pytree_node` is deprecated. Please use "
         "`torch.utils._pytree.register_pytree_node` instead.", FutureWarning)
    _private_register_pytree_node(cls, flatten_fn, unflatten_fn, **options)


def _deregister_pytree_node(cls: Any) -> None:
    """Have a class be a leaf again."""
    with _LOCK:
        del SUPPORTED_NODES[cls]
        del SERIALIZED_TYPE_TO_PYTHON_TYPE[SUPPORTED_SERIALIZED_TYPES.pop(cls).serialized_type_name]
        CONSTANT_NODES.discard(cls)


def register_dataclass(cls: Any, *, field_names: list[str] | None = None,
                       drop_field_names: list[str] | None = None,
                       serialized_type_name: str | None = None) -> None:
    """Have the fields of a dataclass be children; a field that is None is none."""
    names = _fields_of(cls, field_names, set(drop_field_names or ()))

    def flatten(obj: Any) -> tuple[list[Any], Context]:
        given = [name for name in names if getattr(obj, name) is not None]
        return [getattr(obj, name) for name in given], [
            given, [name for name in names if name not in given]]

    def unflatten(values: Iterable[Any], context: Context) -> Any:
        given, absent = context
        return cls(**dict(zip(given, values, strict=True)), **dict.fromkeys(absent))

    def flatten_with_keys(obj: Any) -> tuple[list[Any], Context]:
        values, (given, _) = flatten(obj)
        return [(GetAttrKey(n), v) for n, v in zip(given, values, strict=True)], given

    _private_register_pytree_node(cls, flatten, unflatten,
                                  serialized_type_name=serialized_type_name,
                                  flatten_with_keys_fn=flatten_with_keys)


def _fields_of(cls: Any, field_names: list[str] | None, dropped: set[str]) -> list[str]:
    if not dataclasses.is_dataclass(cls):
        if field_names is None:
            raise ValueError("field_names must be specified with a list of all fields used to "
                             f"initialize {cls}, as it is not a dataclass.")
        return field_names
    known = [field.name for field in dataclasses.fields(cls) if field.init]
    if field_names is None:
        return known
    missing = set(known) - dropped - set(field_names)
    unexpected = set(field_names) - (set(known) - dropped)
    words = "field_names does not include all dataclass fields.\n"
    if missing:
        words += (f"Missing fields in `field_names`: {missing}. If you want to include these "
                  "fields in the pytree, please add them to `field_names`, otherwise please add "
                  "them to `drop_field_names`.\n")
    if unexpected:
        words += (f"Unexpected fields in `field_names`: {unexpected}. Please remove these fields, "
                  "or add them to `drop_field_names`.\n")
    if missing or unexpected:
        raise ValueError(words)
    return field_names


@dataclasses.dataclass(frozen=True, slots=True)
class ConstantNode:
    """The context of a constant: the value itself."""

    value: Any


def register_constant(cls: type) -> None:
    """Have the instances of a class be part of a spec, not leaves."""
    for method, default in (("__eq__", object.__eq__), ("__hash__", None)):
        if getattr(cls, method) is default:
            raise TypeError(f"register_constant(cls) expects `cls` to have a non-default "
                            f"`{method}` implementation.")

    def flatten(value: Any) -> tuple[list[Any], Context]:
        return [], ConstantNode(value)

    with _LOCK:
        _private_register_pytree_node(cls, flatten, lambda _, context: context.value,
                                      flatten_with_keys_fn=flatten)
        CONSTANT_NODES.add(cls)


def is_constant_class(cls: Any) -> bool:
    """Whether a class was registered as one of constants."""
    return isinstance(cls, type) and cls in CONSTANT_NODES


def _register_namedtuple(cls: Any, *, serialized_type_name: str) -> None:
    """Give a namedtuple's class the name that specs of it are written with."""
    known = SUPPORTED_NODES[namedtuple]
    _private_register_pytree_node(
        cls, known.flatten_fn, known.unflatten_fn, serialized_type_name=serialized_type_name,
        to_dumpable_context=_namedtuple_name, from_dumpable_context=_namedtuple_of,
        flatten_with_keys_fn=known.flatten_with_keys_fn)


def is_namedtuple_instance(obj: Any) -> bool:
    """Whether a value is a namedtuple."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj: Any) -> bool:
    """Whether a value or a class is one of namedtuples."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def _namedtuple_name(context: Any) -> str:
    known = SUPPORTED_SERIALIZED_TYPES.get(context)
    if known is None or known.serialized_type_name == NO_SERIALIZED_TYPE_NAME_FOUND:
        how = "didn't register" if known is None else "couldn't find"
        raise NotImplementedError(f"Can't serialize TreeSpec of namedtuple class {context} because "
                                  f"we {how} a serializated_type_name. Please register using "
                                  "`_register_namedtuple`.")
    return known.serialized_type_name


def _namedtuple_of(name: str) -> Any:
    if name not in SERIALIZED_TYPE_TO_PYTHON_TYPE:
        raise NotImplementedError(f"Can't deserialize TreeSpec of namedtuple class {name} because "
                                  "we couldn't find a serializated name.")
    return SERIALIZED_TYPE_TO_PYTHON_TYPE[name]


def _factory_name(context: Any) -> dict[str, Any]:
    factory, keys = context
    return {"default_factory_module": factory.__module__,
            "default_factory_name": factory.__qualname__, "dict_context": keys}


def _factory_of(written: dict[str, Any]) -> list[Any]:
    module = importlib.import_module(written["default_factory_module"])
    return [getattr(module, written["default_factory_name"]), written["dict_context"]]


STANDARD_DICT_TYPES = trees.DICTS

# The keys of children by what a container holds besides them, where they are no numbers.
_KEYS: dict[Any, Callable[[Any], Iterable[Any]]] = {
    dict: lambda context: map(MappingKey, context),
    OrderedDict: lambda context: map(MappingKey, context),
    defaultdict: lambda context: map(MappingKey, context[1]),
    namedtuple: lambda context: map(GetAttrKey, context._fields)}
_DUMPED = {namedtuple: (_namedtuple_name, _namedtuple_of),
           defaultdict: (_factory_name, _factory_of)}


def _complete(cls: Any) -> None:
    """Give a type of container that is known keys, and names to write it with."""
    _, flatten, unflatten, _ = SUPPORTED_NODES[cls]

    def flatten_with_keys(tree: Any) -> tuple[list[Any], Context]:
        values, context = flatten(tree)
        keys = _KEYS[cls](context) if cls in _KEYS else map(SequenceKey, range(len(values)))
        return list(zip(keys, values, strict=True)), context

    name = f"{cls.__module__}.{cls.__name__}"
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten, unflatten, flatten_with_keys)
    SUPPORTED_SERIALIZED_TYPES[cls] = _SerializeNodeDef(cls, name, *_DUMPED.get(cls, (None, None)))
    SERIALIZED_TYPE_TO_PYTHON_TYPE[name] = cls
    if cls in BUILTIN_TYPES:  # by names that programs use for classes of their own
        name = f"_{cls.__name__.lower()}"
        globals().update({f"{name}_flatten": flatten, f"{name}_unflatten": unflatten,
                          f"{name}_flatten_with_keys": flatten_with_keys})


for _cls in (*BUILTIN_TYPES, *map(return_types.__dict__.get, dir(return_types))):
    if _cls in SUPPORTED_NODES:
        _complete(_cls)


def tree_is_leaf(tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether a value is no container, or is said to be none."""
    return bool(is_leaf is not None and is_leaf(tree)) or _get_node_type(
        tree) not in SUPPORTED_NODES


# ---------------------------------------------------------------- specs


class _LeafMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TreeSpec) and instance.is_leaf()


class LeafSpec(metaclass=_LeafMeta):
    """The spec of a leaf: the class answers ``isinstance``, calling it gives the one spec."""

    def __new__(cls) -> Any:
        return LEAF


PyTreeSpec = TreeSpec


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The spec of a tuple of specs."""
    children = list(iterable)
    if any(not isinstance(child, TreeSpec) for child in children):
        raise ValueError(f"Expected a tuple of TreeSpec values, got: {children!r}.")
    return TreeSpec(tuple, None, children)


def treespec_dict(mapping: Any = (), /, **kwargs: TreeSpec) -> TreeSpec:
    """The spec of a dict of specs."""
    children = dict(mapping, **kwargs)
    if any(not isinstance(child, TreeSpec) for child in children.values()):
        raise ValueError(f"Expected a dictionary of TreeSpec values, got: {children!r}.")
    return TreeSpec(dict, list(children), list(children.values()))


# ---------------------------------------------------------------- flattening and mapping


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves from left to right, and the spec that puts them back."""
    return trees.flatten(tree, is_leaf)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """The container of a spec that holds ``leaves``."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError("Expected `treespec` to be an instance of PyTreeSpec but got item of type "
                        f"{type(treespec)}.")
    return treespec.unflatten(leaves)


def tree_iter(tree: PyTree, is_leaf: IsLeaf = None) -> Iterator[Any]:
    """The leaves, one after the other."""
    if tree_is_leaf(tree, is_leaf):
        yield tree
    else:
        for child in SUPPORTED_NODES[_get_node_type(tree)].flatten_fn(tree)[0]:
            yield from tree_iter(child, is_leaf)


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves from left to right."""
    return list(tree_iter(tree, is_leaf))


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """The spec alone."""
    return tree_flatten(tree, is_leaf)[1]


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """The leaves of a call's arguments."""
    return tree_leaves([*args, *kwargs.values()])


def tree_map(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
             ) -> PyTree:
    """The same container of what ``func`` makes of the leaves, of one or of several alike."""
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec.unflatten(map(func, leaves, *[spec.flatten_up_to(rest) for rest in rests]))


def tree_map_(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
              ) -> PyTree:
    """Call ``func`` on every leaf and return the container as it was given."""
    leaves, spec = tree_flatten(tree, is_leaf)
    deque(map(func, leaves, *[spec.flatten_up_to(rest) for rest in rests]), maxlen=0)
    return tree


def map_only(type_or_types_or_pred: Any, /) -> Callable[[Callable[[Any], Any]], Any]:
    """Have a function leave alone whatever is not of some types, or not as a predicate says."""
    if isinstance(type_or_types_or_pred, (type, tuple, types.UnionType)):
        def chosen(value: Any) -> bool:
            return isinstance(value, type_or_types_or_pred)
    elif callable(type_or_types_or_pred):
        chosen = type_or_types_or_pred
    else:
        raise TypeError("Argument must be a type, a tuple of types, or a callable.")

    def decorate(func: Callable[[Any], Any]) -> Callable[[Any], Any]:
        @functools.wraps(func)
        def mapped(value: Any) -> Any:
            return func(value) if chosen(value) else value

        return mapped

    return decorate


def tree_map_only(type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: PyTree,
                  is_leaf: IsLeaf = None) -> PyTree:
    """:func:`tree_map` over the leaves of some types; the others stay."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: PyTree,
                   is_leaf: IsLeaf = None) -> PyTree:
    """:func:`tree_map_` over the leaves of some types."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether something is so of every leaf."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether something is so of any leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree,
                  is_leaf: IsLeaf = None) -> bool:
    """Whether something is so of every leaf of some types."""
    return all(pred(leaf) for leaf in tree_iter(tree, is_leaf) if isinstance(leaf, type_or_types))


def tree_any_only(type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree,
                  is_leaf: IsLeaf = None) -> bool:
    """Whether something is so of any leaf of some types."""
    return any(pred(leaf) for leaf in tree_iter(tree, is_leaf) if isinstance(leaf, type_or_types))


def _broadcast_to_and_flatten(tree: PyTree, treespec: TreeSpec, is_leaf: IsLeaf = None
                              ) -> list[Any] | None:
    """One value for every leaf of a spec, from a container that may end before it does."""
    return trees.broadcast_prefix(tree, treespec, is_leaf)


# ---------------------------------------------------------------- paths


def tree_leaves_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """The leaves, each with the path to it."""
    return list(_with_paths((), tree, is_leaf))


def _with_paths(path: KeyPath, tree: PyTree, is_leaf: IsLeaf) -> Iterator[tuple[KeyPath, Any]]:
    if tree_is_leaf(tree, is_leaf):
        yield path, tree
        return
    kind = _get_node_type(tree)
    flatten_with_keys = SUPPORTED_NODES[kind].flatten_with_keys_fn
    if flatten_with_keys is None:
        raise ValueError(f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass a "
                         "flatten_with_keys_fn argument to register_pytree_node.")
    for key, child in flatten_with_keys(tree)[0]:
        yield from _with_paths((*path, key), child, is_leaf)


def tree_flatten_with_path(tree: PyTree, is_leaf: IsLeaf = None
                           ) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """The leaves with their paths, and the spec."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func: Callable[..., Any], tree: PyTree, *rests: PyTree,
                       is_leaf: IsLeaf = None) -> PyTree:
    """:func:`tree_map` with the path to a leaf as the first argument."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    paths, leaves = [path for path, _ in found], [leaf for _, leaf in found]
    return spec.unflatten(map(func, paths, leaves, *[spec.flatten_up_to(rest) for rest in rests]))


# ---------------------------------------------------------------- specs as text


class EnumEncoder(json.JSONEncoder):
    """Writes members of enumerations by their names."""

    def default(self, obj: Any) -> Any:
        """An enumeration's member as a dict."""
        if isinstance(obj, Enum):
            kind = type(obj)
            return {"__enum__": True, "fqn": f"{kind.__module__}:{kind.__qualname__}",
                    "name": obj.name}
        return super().default(obj)


def enum_object_hook(obj: dict[str, Any]) -> Any:
    """A member of an enumeration from the dict it was written as."""
    if "__enum__" not in obj:
        return obj
    module, _, name = obj["fqn"].partition(":")
    return functools.reduce(getattr, name.split("."), importlib.import_module(module))[obj["name"]]  # type: ignore[index]


def _as_json(spec: TreeSpec) -> dict[str, Any]:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    known = SUPPORTED_SERIALIZED_TYPES.get(spec.type)
    if known is None:
        raise NotImplementedError(f"Serializing {spec.type} in pytree is not registered.")
    if known.serialized_type_name == NO_SERIALIZED_TYPE_NAME_FOUND:
        raise NotImplementedError(f"No registered serialization name for {spec.type} found. Please "
                                  "update your _register_pytree_node call with a "
                                  "`serialized_type_name` kwarg.")
    try:
        context = known.to_dumpable_context(spec._context) if known.to_dumpable_context \
            else json.dumps(spec._context, cls=EnumEncoder)
    except TypeError as error:
        raise TypeError("Unable to serialize context. Please make the context json dump-able, or "
                        "register a custom serializer using _register_pytree_node.") from error
    return {"type": known.serialized_type_name, "context": context,
            "children_spec": [_as_json(child) for child in spec._children]}


def _from_json(written: dict[str, Any]) -> TreeSpec:
    if written["type"] is None:
        return LEAF
    if written["type"] not in SERIALIZED_TYPE_TO_PYTHON_TYPE:
        raise NotImplementedError(f"Deserializing {written['type']} in pytree is not registered.")
    kind = SERIALIZED_TYPE_TO_PYTHON_TYPE[written["type"]]
    read = SUPPORTED_SERIALIZED_TYPES[kind].from_dumpable_context
    context = read(written["context"]) if read \
        else json.loads(written["context"], object_hook=enum_object_hook)
    return TreeSpec(kind, context, [_from_json(child) for child in written["children_spec"]])


def _check_protocol(protocol: Any) -> None:
    if protocol != DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: "
                         f"{[DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL]}")


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """A spec as JSON."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError("Expected `treespec` to be an instance of PyTreeSpec but got item of type "
                        f"{type(treespec)}.")
    if protocol is None:
        protocol = DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL
    _check_protocol(protocol)
    return json.dumps((protocol, _as_json(treespec)), cls=EnumEncoder)


def treespec_loads(serialized: str) -> TreeSpec:
    """A spec from JSON."""
    protocol, written = json.loads(serialized)
    _check_protocol(protocol)
    return _from_json(written)


def treespec_pprint(treespec: TreeSpec) -> str:
    """The container of a spec as it would print, with a star for every leaf."""
    return trees.pictured(treespec)


_suggest_names(__name__)
