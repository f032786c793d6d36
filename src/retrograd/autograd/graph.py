"""Looking at the graph, and hooks on what it saves and on groups of gradients."""

from __future__ import annotations

import abc
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ..backend.interface import is_array, library_of
from ..base.missing_names import suggest_names as _suggest_names
from ..base.modes import MODE, enter, switched
from ..core.engine import current_schedule, memory_of
from ..core.extensions import TRACED_TYPES
from ..core.graph import Like, Node as RecordedNode, RemovableHandle
from ..core.saved_values import output_edge
from ..core.tensor import AccumulateGrad, Tensor, edge_of, wrap_any

# ---------------------------------------------------------------- nodes and edges


class Node(abc.ABC):
    """What every ``grad_fn`` is an instance of."""

    @abc.abstractmethod
    def name(self) -> str:
        """The name of the recorded operation."""

    @property
    @abc.abstractmethod
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """Where this node sends gradients: pairs of a node and the number of its output."""

    @abc.abstractmethod
    def metadata(self) -> dict[str, Any]:
        """A dictionary for whatever one wants to keep with the node."""

    @abc.abstractmethod
    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after the node ran."""

    @abc.abstractmethod
    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before the node runs."""

    @abc.abstractmethod
    def _sequence_nr(self) -> int:
        """Nodes recorded later have higher numbers."""


Node.register(RecordedNode)


class GradientEdge(NamedTuple):
    """A place where gradients flow: output ``output_nr`` of ``node``."""

    node: Any
    output_nr: int
    ownership_token: Any = None

    def as_edge(self) -> Any:
        """The same place as the engine knows it."""
        if isinstance(self.node, AccumulateGrad):
            return self.node.variable
        return output_edge(self.node, self.output_nr)

    def like(self) -> Like | None:
        """Shape and dtype of what flows here, if the edge was made from a tensor."""
        if isinstance(self.node, AccumulateGrad):
            data = self.node.variable._data
            return Like(data.shape, data.dtype)
        return (self.node.edge_likes or {}).get(self.output_nr)


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge by which gradients reach ``tensor``; it stands for it in ``grad`` and backward."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not "
                           "require gradients")
    node = tensor.grad_fn
    if node is None:
        return GradientEdge(tensor._accumulator(), 0)
    data = tensor._data
    if node.edge_likes is None:
        node.edge_likes = {}
    node.edge_likes[tensor.output_nr] = Like(data.shape, data.dtype)
    return GradientEdge(node, tensor.output_nr)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a write that was made behind autograd's back."""
    if isinstance(tensor, Tensor):
        tensor = (tensor,)
    if not isinstance(tensor, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for each in tensor:
        if not each.is_inference():
            each._counter().bump()


# ---------------------------------------------------------------- hooks on saved values


class saved_tensors_hooks:
    """Have ``pack_hook`` keep what is saved for backward, and ``unpack_hook`` bring it back.

    >>> import retrograd as torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> with saved_tensors_hooks(lambda t: t.tolist(), lambda number: torch.tensor(number)):
    ...     y = x * x
    >>> y.backward()
    >>> x.grad
    tensor(6.)
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any],
                 unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> Any:
        mode = MODE.get()
        if mode.hooks_disabled is not None:
            raise RuntimeError(mode.hooks_disabled)
        for hook in (self.pack_hook, self.unpack_hook):
            if not callable(hook):
                raise TypeError("saved_tensors_hooks takes two callables, not "
                                f"{type(hook).__name__}")
        self._outside = enter(MODE, self._inside(mode))

    def __exit__(self, *exc: object) -> None:
        after = self._outside
        try:  # other switches may have been changed for good
            after = self._after(MODE.get())
        finally:
            MODE.set(after)

    def _inside(self, mode: Any) -> Any:
        return mode.but(saved_hooks=(*mode.saved_hooks, (self.pack_hook, self.unpack_hook)))

    def _after(self, mode: Any) -> Any:
        return mode.but(saved_hooks=mode.saved_hooks[:-1])


class save_on_cpu(saved_tensors_hooks):
    """Keep what is saved in the main memory, and bring it back to its device when needed."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        # Every tensor lives in the main memory already.
        super().__init__(lambda tensor: (tensor.device, tensor), lambda packed: packed[1])


class disable_saved_tensors_hooks:
    """Make ``saved_tensors_hooks`` raise ``error_message`` inside this block."""

    def __init__(self, error_message: str) -> None:
        self.error_message = error_message

    def __enter__(self) -> None:
        mode = MODE.get()
        if mode.saved_hooks:
            raise RuntimeError(self.error_message)
        self._outside = enter(MODE, mode.but(hooks_disabled=self.error_message))

    __exit__ = saved_tensors_hooks.__exit__

    def _after(self, mode: Any) -> Any:
        return mode.but(hooks_disabled=self._outside.hooks_disabled)


class _Handle:
    """Stands for one saved tensor as it was at one version of its memory."""

    __slots__ = ("key", "__weakref__")

    def __init__(self, key: tuple[int, ...]) -> None:
        self.key = key


def _arrays(data: Any) -> list[Any]:
    """The arrays that a write to a tensor's data goes to, of those that are saved as they are."""
    if type(data) in TRACED_TYPES:
        return [array for part in data.parts() or () for array in _arrays(part)]
    return [data] if is_array(data) else []


class _Mutations:
    """What was saved inside one :class:`allow_mutation_on_saved_tensors` block.

    A tensor is kept as it is until its memory is about to be written to, and copied then: as the
    journal of the mode it hears of every write beforehand.
    """

    def __init__(self) -> None:
        self.parent: Any = None
        self.cloned: Any = weakref.WeakKeyDictionary()
        self.original: Any = weakref.WeakKeyDictionary()
        self.tid_to_weakhandle: Any = weakref.WeakValueDictionary()
        self.by_memory: dict[int, list[weakref.ref[_Handle]]] = {}

    def pack(self, tensor: Tensor) -> _Handle:
        kept = tensor._off_graph()
        array = kept._array()
        if type(array) in TRACED_TYPES:  # it lies in several places: copied at once
            handle = _Handle((id(array),))
            self.cloned[handle] = wrap_any(array.copy())
            return handle
        memory = id(memory_of(array))
        key = (memory, library_of(array).address(array), kept._version, *array.shape,
               *kept.stride())
        handle = self.tid_to_weakhandle.get(key)
        if handle is None:  # found by others only when it is complete: there may be an interrupt
            handle = _Handle(key)
            self.original[handle] = kept
            self.by_memory.setdefault(memory, []).append(weakref.ref(handle))
            self.tid_to_weakhandle[key] = handle
        return handle

    def unpack(self, handle: _Handle) -> Tensor:
        if handle in self.cloned:
            return self.cloned[handle]
        if handle not in self.original:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
                "in which the graph was originally recorded.")
        return self.original[handle]

    # What a journal is asked for; ``parent`` is the one that was there before.

    def note_write(self, op: Any, target: Tensor, tensors: dict[str, Any]) -> None:
        self.looks_at(op, target, tensors)
        if self.parent is not None:
            self.parent.note_write(op, target, tensors)

    def note_out(self, function: str, target: Tensor, result: Any) -> None:
        self.looks_at_out(function, target, result)
        if self.parent is not None:
            self.parent.note_out(function, target, result)

    def note_draw(self, generator: Any) -> None:
        if self.parent is not None:
            self.parent.note_draw(generator)

    def looks_at(self, op: Any, target: Tensor, tensors: dict[str, Any]) -> bool:
        self.looks_at_out(op.name, target, None)
        return False

    def looks_at_out(self, function: str, target: Tensor, result: Any) -> None:
        """Copy what lies in the memory that is about to be written to."""
        for array in _arrays(target._data):
            memory = id(memory_of(array))
            for reference in self.by_memory.get(memory, ()):
                handle = reference()
                if handle is not None and handle in self.original:
                    with switched(grad=False, saved_hooks=(), journal=None):
                        self.cloned[handle] = self.original[handle].clone()
                    del self.original[handle]
                    # What is saved from here on is another, also of data that has no version.
                    self.tid_to_weakhandle.pop(handle.key, None)
            # No sooner: an interrupted copy is made before the write.
            self.by_memory.pop(memory, None)

    def clear(self) -> None:
        """Forget everything that was saved in this block."""
        for known in (self.cloned, self.original, self.tid_to_weakhandle, self.by_memory):
            known.clear()


class allow_mutation_on_saved_tensors(saved_tensors_hooks):
    """Let tensors be written to after they were saved for backward.

    Each is copied before the first write to it, and the copies live until the block ends.
    """

    def __init__(self) -> None:
        self.mutations = _Mutations()
        super().__init__(self.mutations.pack, self.mutations.unpack)

    def __enter__(self) -> _Mutations:
        for pack, _unpack in MODE.get().saved_hooks:
            if isinstance(getattr(pack, "__self__", None), _Mutations):
                raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        self.mutations.parent = MODE.get().journal
        super().__enter__()
        return self.mutations

    def _inside(self, mode: Any) -> Any:
        return super()._inside(mode).but(journal=self.mutations)

    def _after(self, mode: Any) -> Any:
        self.mutations.clear()
        return super()._after(mode).but(journal=self.mutations.parent)


# ---------------------------------------------------------------- hooks on several tensors


class _MultiHandle(RemovableHandle):
    """Removes a hook from all its tensors."""

    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable[..., Any], *,
                             mode: str = "all") -> RemovableHandle:
    """Call ``fn`` once per backward pass that reaches these tensors.

    With ``"all"`` it is given the list of their gradients when the last has arrived (None for
    tensors that the pass does not reach); with ``"any"``, the first gradient to arrive.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        first = _First(fn)
        return _MultiHandle(tuple([t.register_hook(first) for t in tensors if t.requires_grad]))
    for tensor in tensors:
        if not tensor.requires_grad:
            raise AssertionError("Expected gradient function to be set")
    group = _Group(tensors, fn)
    return _MultiHandle(tuple([t.register_hook(group.hook(i)) for i, t in enumerate(tensors)]))


class _First:
    """Passes on the first gradient of each backward pass."""

    def __init__(self, fn: Callable[[Tensor], Any]) -> None:
        self.fn = fn

    def __call__(self, gradient: Tensor) -> None:
        seen = current_schedule().notes
        if self not in seen:
            seen[self] = True
            self.fn(gradient)


class _Group:
    """Collects the gradients of several tensors during a backward pass."""

    def __init__(self, tensors: Sequence[Tensor], fn: Callable[[Sequence[Any]], Any]) -> None:
        self.fn = fn
        # Weak, since the tensors hold the hooks.
        self.edges = [weakref.ref(edge_of(t)) for t in tensors]

    def hook(self, position: int) -> Callable[[Tensor | None], None]:
        def collect(gradient: Tensor | None) -> None:
            schedule = current_schedule()
            if self not in schedule.notes:
                expected = sum([schedule.reaches(edge()) for edge in self.edges])
                schedule.notes[self] = ([None] * len(self.edges), [expected])
            gradients, missing = schedule.notes[self]
            gradients[position] = gradient
            missing[0] -= 1
            if not missing[0]:
                del schedule.notes[self]
                self.fn(gradients)

        return collect


__all__ = ["GradientEdge", "Node", "allow_mutation_on_saved_tensors",
           "disable_saved_tensors_hooks", "get_gradient_edge", "increment_version",
           "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks"]

_suggest_names(__name__)
