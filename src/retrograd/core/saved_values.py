"""What generated node classes call: unpacking saved values, and running rules on tensors."""

from __future__ import annotations

import functools
import weakref
from functools import partial
from typing import Any, cast

from ..base import dtypes
from ..base.modes import MODE, switched
from .extensions import TRACED_TYPES, extensions
from .graph import LEAF, Like, Node, OutputEdge, Released, Version, notes_of, short_name, stale
from .op import ARRAYS, REGISTRY, Op
from .tensor import Tensor, class_for, edge_of, wrap_any


class PackedValue:
    """A saved value in the keeping of a pair of saved-tensor hooks.

    Of a dual number they keep value and tangent one by one: a hook may detach what it is given.
    """

    __slots__ = ("value", "unpack_hook", "join")
    value: Any
    join: Any

    def __init__(self, tensor: Tensor, hooks: tuple[Any, Any], is_output: bool = False):
        pack, self.unpack_hook = hooks
        parts = tensor._data.parts() if tensor._is_traced else None
        self.join = None if parts is None else tensor._data.of_parts
        if parts is not None:
            self.value = [PackedValue(wrap_any(part), hooks) for part in parts]
            return
        version = tensor._version
        # What a hook does with the value is no part of the graph.
        with switched(grad=False, saved_hooks=()):
            self.value = pack(tensor)
            if is_output and self.value is tensor:
                self.value = tensor._off_graph()  # the node would hold its own output: a cycle
        if tensor._version != version:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as "
                "input to pack hook cannot be modified by in-place operations as this can lead to "
                "unexpected side-effects. Please open an issue if you need to perform in-place "
                "operations on the input to a pack hook.")

    def unpack(self) -> Tensor:
        if self.join is not None:
            return wrap_any(self.join(*[part.unpack()._data for part in self.value]))
        with switched(saved_hooks=()):
            found = self.unpack_hook(self.value)
        if not isinstance(found, Tensor):
            raise TypeError("Output of saved tensor unpack_hook expected to be a Tensor but got "
                            f"result of type {type(found).__name__}")
        return found


# ---------------------------------------------------------------- saved values


def describe_origin(edge: Any) -> str:
    """The clause of the in-place error that says where the overwritten value came from."""
    if edge is None or not (isinstance(edge, Node) or getattr(edge, "is_output", False)) \
            or edge.leads_nowhere:
        return ""
    maker, nr = (edge.node, edge.nr) if edge.is_output else (edge, 0)
    return f", which is output {nr} of {short_name(maker)},"


def stale_input(node: Node, name: str) -> None:
    tensor = getattr(node, name)
    if not isinstance(tensor, Tensor):
        return
    edge = edge_of(tensor)
    stale(node, describe_origin(edge), saved_version(node, name), tensor._vc,  # type: ignore[arg-type]
          tensor._data.shape, tensor.dtype)


def keep_version(node: Node, name: str, version: int) -> None:
    """Note that the memory of a saved argument had been written to before it was saved."""
    if node.saved_versions is None:
        node.saved_versions = {}
    node.saved_versions[name] = version


def saved_version(node: Node, name: str) -> int:
    return (node.saved_versions or {}).get(name, 0)


def check_version(node: Node, name: str, counter: Version) -> None:
    """Raise if a saved argument, whose memory has been written to, was since it was saved."""
    if counter.n != saved_version(node, name):
        stale_input(node, name)


def sealed(**outputs: Tensor) -> dict[str, Version]:
    """The counters of outputs that a node of several saved, all of them new."""
    counters: dict[str, Any] = outputs  # in whose place they come
    for name, out in outputs.items():
        out._vc = counters[name] = Version()
    return counters


def stale_output(node: Any, name: str = "y") -> None:
    y = getattr(node, "out_" + name)
    if name != "y":
        maker = output_edge(node, node.op.outputs.index(name)) \
            if differentiable_output(node.op, name) else None
        counter, version = node.seal[name], 0
    else:
        maker = (node.output_origin and node.output_origin()) or node
        counter, version = node.seal
    stale(node, describe_origin(maker), version, counter, y.shape,
          dtypes.from_numpy_dtype(y.dtype))


def watch_output(node: Any, counter: Version, edge: Any) -> Version:
    """The output this node saved gets a version counter, unless the node has one for it."""
    if isinstance(edge, OutputEdge) and edge.nr:
        return counter
    if node.seal is None:
        node.seal = (counter, counter.n)
    return node.seal[0]


def unpack_input(node: Any, name: str, edge: Any) -> Any:
    """A saved argument as a tensor with the history it had when it was saved."""
    saved = getattr(node, name)
    if saved is None:
        return None
    if isinstance(saved, PackedValue):
        data = saved.unpack()
        return attach(data, edge)
    version = saved._vc  # refuses if it was released
    if version is not None:
        check_version(node, name, version)
    known = saved._edge
    if saved._wrapped_number:
        # In a rule a number has the dtype the op computed with; alone it would have the default.
        # One that was kept in more digits than the op has yields to the gradient's dtype.
        return saved if name == node.op.wide else wrap_any(saved._data)
    if known is edge or (known is LEAF and edge is saved):
        return saved
    return attach(saved, edge)


def attach(tensor: Tensor, edge: Any) -> Tensor:
    """``tensor``'s data with the history that ``edge`` stands for."""
    if isinstance(edge, Tensor):
        return edge if edge._data is tensor._data else attach_data(tensor, edge)
    # A leaf that was told only later to require gradients is saved as what it is by now.
    kept = edge is None and (tensor._edge is None or tensor._edge is LEAF)
    return tensor if kept else attach_data(tensor, edge)


def attach_data(tensor: Tensor, edge: Any) -> Tensor:
    if isinstance(edge, Tensor):
        with switched(grad=True, saved_hooks=(), inference=False):
            alias: Tensor = REGISTRY["alias"].function(edge)
        alias._replace_data(tensor._data)
        alias._view, alias._vc = None, tensor._counter()  # it is the other tensor's memory
        return alias
    out: Any = object.__new__(type(tensor) if tensor._is_traced else class_for(tensor._data))
    out._data = tensor._data
    out._edge = edge
    out._form = out._view = out._cut = None
    out._vc = tensor._vc
    return out


def unpack_output(node: Any, name: str) -> Tensor:
    """A saved output as a tensor that this node made."""
    saved = getattr(node, "out_" + name)
    if isinstance(saved, Released):
        saved.refuse()
    position = node.op.outputs.index(name) if name != "y" and node.op.outputs else 0
    edge = output_edge(node, position)
    if isinstance(saved, PackedValue):
        return attach_data(saved.unpack(), edge if differentiable_output(node.op, name) else None)
    seal = node.seal
    if name != "y":
        seal = seal[name], 0
    if seal is not None and seal[0].n != seal[1]:
        stale_output(node, name)
    out = wrap_any(saved)
    if differentiable_output(node.op, name):
        if node.output_origin is not None:
            node.reached_alone = True
        out._edge = edge
        out._vc = None if seal is None else seal[0]
    return out


def output_edge(node: Any, position: int) -> Any:
    """The edge of output ``position``; one object per output, so that gradients meet there."""
    if node.outputs == 1:
        return node
    refs = notes_of(node).setdefault("output_edges", {})
    known = refs.get(position)
    known = known and known()
    if known is None:
        known = OutputEdge(node, position)
        refs[position] = weakref.ref(known)
    return known


def differentiable_output(op: Op, name: str) -> bool:
    if name == "y" or op.differentiable is None:
        return True
    return op.outputs.index(name) in op.differentiable


# ---------------------------------------------------------------- running rules on tensors


def fit_tensor(gradient: Tensor, like: Like | None) -> Tensor:
    """:func:`retrograd.core.graph.fit` on tensors, recorded."""
    if like is None:
        return gradient
    if tuple(gradient._data.shape) != like.shape:
        gradient = REGISTRY["sum_to_size_of"].function(gradient, like.shape)
    if gradient._data.dtype != like.dtype and like.dtype is not None:
        gradient = REGISTRY["_to_copy"].function(gradient, dtypes.from_numpy_dtype(like.dtype))
    return gradient


def wrap_gradient(g: Any) -> Any:
    if isinstance(g, (tuple, list)):
        return [None if x is None else wrap_any(x) for x in g]
    return wrap_any(g)


def pull_on_tensors(node: Any, g: Any, *wanted: Any) -> Any:
    """``pull`` by way of ``replay``, for values that are not plain arrays."""
    # Without a transform's data anywhere there is nothing to be quick about.
    quick = extensions.traced_pull(node, g, wanted) if TRACED_TYPES else None
    if quick is not None:
        return quick if node._arity > 1 else quick[0]
    with switched(grad=False, autocast=None):
        result = pull_by_replay(node, g, wanted)
    return result if node._arity > 1 else result[0]


def pull_by_replay(node: Any, g: Any, wanted: tuple[Any, ...]) -> tuple[Any, ...]:
    """The gradients of a node's inputs as raw data, by its rules on tensors."""
    gradient = None if g is None else wrap_gradient(g)
    found = node.replay(gradient) if node._arity == 1 else node.replay(gradient, *wanted)
    results = found if isinstance(found, tuple) else (found,)
    return tuple([None if r is None else r._data for r in results])


@functools.cache
def traced_class(cls: Any) -> Any:
    """A node class's twin for calls inside a transform, and for saved values in hooks' keeping."""
    if cls.replay is replay_traced:
        return cls
    return type(cls.__name__, (cls,),
                {"__slots__": (), "__module__": cls.__module__, "pull": pull_on_tensors,
                 "replay": replay_traced, "pass_on": Node.pass_on})


def replay_traced(node: Any, g: Any, *wanted: Any) -> Any:
    """``replay`` of a call inside a transform: gradients lose what their inputs never had."""
    result = super(type(node), node).replay(g, *wanted)
    levels = node.input_levels
    if levels is None or not TRACED_TYPES:
        return result
    if isinstance(result, tuple):
        return tuple([None if r is None else extensions.settle(r, known)
                      for r, known in zip(result, levels, strict=True)])
    return None if result is None else extensions.settle(result, levels[0])


# ---------------------------------------------------------------- ops over a list of tensors


# ---------------------------------------------------------------- what users may look at


def public_saved_names(op: Op, layout: Any) -> tuple[tuple[str, str, str], ...]:
    """PyTorch's names of the saved values: ``input`` is its ``self``, ``y`` its ``result``."""
    rename = {"input": "self", "y": "result", **op.saved}
    single = [name for name in layout.saved_arrays if op.by_name[name].kind != ARRAYS]
    return tuple([(rename.get(name, name), name, kind) for kind, names in (
        ("input", single), ("output", layout.saved_outputs), ("static", layout.saved_static))
        for name in names])


def saved_properties(op: Op, layout: Any) -> dict[str, property]:
    """``_saved_other`` and ``_raw_saved_other`` for each value that nodes of this op save."""
    made = {}
    for public, name, kind in public_saved_names(op, layout):
        made[f"_saved_{public}"] = property(partial(saved_value, name=name, kind=kind))
        if kind != "static":
            made[f"_raw_saved_{public}"] = property(partial(RawSaved, name=name, kind=kind))
    return made


def saved_value(node: Any, name: str, kind: str) -> Any:
    """What a node saved under a name, as one of its ``saved_names`` says."""
    if kind == "static":
        return getattr(node, name)
    if kind == "output":
        if node.seal is None and name == "y":
            node.seal = (Version(), 0)  # which what is shown shares with the output
        return unpack_output(node, name)
    edge = dict(zip(node.op.arrays, node.edges(), strict=False)).get(name)
    return unpack_input(node, name, edge)


class SavedTensor:
    """One saved value, on which hooks can be set before backward."""

    def __init__(self) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    def unpack(self) -> Tensor | None:
        """The value with the history that it had."""
        raise NotImplementedError

    def _kept(self) -> Any:
        """What is kept of it: a tensor or its data, what hooks made of it, None or Released."""
        raise NotImplementedError

    def _pack(self, hooks: tuple[Any, Any]) -> None:
        """Give the value into the keeping of hooks."""
        raise NotImplementedError

    @property
    def data(self) -> Any:
        """What the pack hook returned, or the tensor; without its history if it was an output."""
        kept = self._kept()
        if isinstance(kept, PackedValue):
            return kept.value
        value = self.unpack()
        return value if value is None or value is kept else value._off_graph()

    @property
    def unpack_hook(self) -> Any:
        kept = self._kept()
        return kept.unpack_hook if isinstance(kept, PackedValue) else None

    def register_hooks(self, *hooks: Any) -> None:
        """Pack this saved value now; the second hook brings it back when backward needs it."""
        if len(hooks) != 2:
            raise TypeError("register_hooks(): incompatible function arguments: a hook that packs "
                            f"and one that unpacks are needed, got {len(hooks)}")
        check_hooks_fit(self._kept(), *hooks)
        self._pack(hooks)


class RawSaved(SavedTensor):
    """A saved value of an op's node."""

    def __init__(self, node: Any, name: str, kind: str):
        self._node, self._slot = node, name if kind == "input" else "out_" + name
        self.unpack = partial(saved_value, node, name, kind)  # type: ignore[method-assign]

    def _kept(self) -> Any:
        return getattr(self._node, self._slot)

    def _pack(self, hooks: tuple[Any, Any]) -> None:
        value, kind = cast(Tensor, self.unpack()), cast(Any, type(self._node))
        setattr(self._node, self._slot, PackedValue(value._off_graph(), hooks))
        self._node.__class__ = traced_class(kind)


class LoneSavedTensor(SavedTensor):
    """A tensor saved as a node would save it, by no node."""

    def __init__(self, tensor: Tensor, is_output: bool):
        hooks = MODE.get().saved_hooks
        self._value: Any = tensor._off_graph() if is_output else tensor
        self._edge = edge_of(tensor)
        if hooks:
            self._pack(hooks[-1])

    def unpack(self) -> Tensor:
        kept = self._value
        return attach(kept.unpack(), self._edge) if isinstance(kept, PackedValue) else kept

    def _kept(self) -> Any:
        return self._value

    def _pack(self, hooks: tuple[Any, Any]) -> None:
        self._value = PackedValue(self._value, hooks)


def check_hooks_fit(saved: Any, pack_hook: Any, unpack_hook: Any) -> None:
    """Raise unless a saved value can still be given to a pair of hooks."""
    for hook in (pack_hook, unpack_hook):
        if not callable(hook):
            raise TypeError("register_hooks(): incompatible function arguments: hooks must be "
                            f"callable, not {type(hook).__name__}")
    if isinstance(saved, Released):
        raise RuntimeError(
            "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate "
            "values of the graph are freed when you call .backward() or autograd.grad(). Specify "
            "retain_graph=True if you need to backward through the graph a second time or if you "
            "need to access saved variables after calling backward.")
    if saved is None:
        raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
    if isinstance(saved, PackedValue):
        raise RuntimeError("Calling register_hooks on a saved tensor whose hooks have already been "
                           "set. Hint: only one pair of hooks is allowed at a time.")
