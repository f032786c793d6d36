"""The recorded graph: nodes, the edges between them, versions and views."""

from __future__ import annotations

import itertools
import sys
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Self

from ..backend import xp
from ..backend.interface import is_array
from ..base import call_sites
from ..base.locks import new_lock
from ..base.modes import DIFFERENTIATING, RUNNING
from .anomaly import Anomaly

AGES = itertools.count()
next_sequence = AGES.__next__


class _Leaf:
    """Stands in a leaf's ``_edge``: it requires grad and no node made it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "LEAF"


LEAF = _Leaf()
LEAFS_OWN = object()
"""Stands in a leaf's ``_grad_dtype``: its gradient has its own dtype. None lets it have any."""


class Like:
    """Shape and dtype of the input being differentiated; a dtype of None lets it be any."""

    __slots__ = ("shape", "dtype")

    def __init__(self, shape: tuple[int, ...], dtype: Any):
        self.shape, self.dtype = shape, dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)


class _Nobody:
    """Gets the edge of a write that changes no history."""

    __slots__ = ("_edge",)


NOBODY: Any = _Nobody()


class Version:
    """Counts the in-place writes to one memory; shared by a tensor, its views and detached twins.

    Remembers the line of the last write, for the error that a stale saved value raises; and,
    weakly, the tensors that were made as views of the memory.
    """

    __slots__ = ("n", "code", "lasti", "views", "room")

    def __init__(self, n: int = 0) -> None:
        self.n = n
        self.code: Any = None
        self.lasti = 0
        self.views: list[weakref.ref[Any]] | None = None
        self.room = 128  # how many views are noted before those that died are forgotten

    def note_view(self, tensor: Any) -> None:
        """Remember a view for as long as it lives."""
        if self.views is None:
            self.views = [weakref.ref(tensor)]
            return
        self.views.append(weakref.ref(tensor))
        if len(self.views) > self.room:
            self.forget_dead_views()

    def forget_dead_views(self) -> None:
        with _forgetting:  # views that other threads add meanwhile come after these
            views = self.views or []
            count = len(views)
            views[:count] = [known for known in views[:count] if known() is not None]
            self.room = 2 * len(views) + 128

    def bump(self, site: call_sites.Site | None = None) -> None:
        code, lasti = site or call_sites.here(2)
        self.n, self.code, self.lasti = self.n + 1, code, lasti

    def store(self, array: Any, key: Any, value: Any, owner: Any = NOBODY,
              edge: Any = None) -> None:
        """Write to the memory, count that, and give ``owner`` the edge that it has from then on.

        One statement of stores, all in C: no interrupt comes in the middle of it.
        """
        code, lasti = call_sites.here(2)
        array[key], self.n, self.code, self.lasti, owner._edge = \
            value, self.n + 1, code, lasti, edge


_forgetting = new_lock()


class _InferenceVersion(Version):
    """The counter of tensors made in inference mode: it counts nothing and cannot be saved.

    A function whose derivative :mod:`retrograd.func` takes may use them: its graph is its own.
    """

    __slots__ = ()

    def __init__(self) -> None:
        pass

    @property
    def n(self) -> int:  # type: ignore[override]
        self.check()
        return 0

    def check(self) -> None:
        """Raise where an inference tensor may not be saved."""
        if DIFFERENTIATING.get() or RUNNING.get() is not None:
            return
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
            "inference mode in computation tracked by autograd. To work around this, you can make "
            "a clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` "
            "instead of `torch.inference_mode()`.")

    def bump(self, site: call_sites.Site | None = None) -> None:
        pass

    def store(self, array: Any, key: Any, value: Any, owner: Any = None, edge: Any = None) -> None:
        array[key] = value


INFERENCE = _InferenceVersion()


def _of_value(name: str) -> Any:
    return property(lambda self: getattr(self.of_value, name),
                    lambda self, new: setattr(self.of_value, name, new))


def _of_last_write(name: str) -> Any:
    return property(lambda self: getattr(
        self.of_value if self.of_value.code is not None else self.of_tangent, name),
                    lambda self, new: setattr(self.of_value, name, new))


class JointVersion(Version):
    """The counter of a dual tensor: that of its value, which also goes on with its tangent's."""

    __slots__ = ("of_value", "of_tangent")

    def __init__(self, of_value: Version, of_tangent: Version) -> None:
        self.of_value, self.of_tangent = of_value, of_tangent

    views, room = map(_of_value, ("views", "room"))
    code, lasti = map(_of_last_write, ("code", "lasti"))

    @property
    def n(self) -> int:  # type: ignore[override]
        return self.of_value.n + self.of_tangent.n

    @n.setter
    def n(self, new: int) -> None:
        self.of_value.n = new - self.of_tangent.n


def _of_shared(name: str) -> Any:
    """A property that stands for the same of ``self.shared``."""
    return property(lambda self: getattr(self.shared, name),
                    lambda self, value: setattr(self.shared, name, value))


class DetachedVersion(Version):
    """The counter of a tensor that left the graph in place: whoever saved it before must notice.

    It goes on counting in the counter of the memory, from a number that no other reaches.
    """

    __slots__ = ("shared",)
    START = 1 << 48
    code, lasti, views, room = map(_of_shared, Version.__slots__[1:])

    def __init__(self, shared: Version) -> None:
        self.shared = shared

    @property
    def n(self) -> int:  # type: ignore[override]
        return self.START + self.shared.n

    @n.setter
    def n(self, value: int) -> None:
        self.shared.n = value % self.START

    def store(self, *given: Any) -> None:
        self.shared.store(*given)


class View:
    """How a tensor looks at another one's memory."""

    __slots__ = ("base", "parent", "op", "static", "origin", "version")
    base: Any
    parent: View | None
    op: Any
    static: tuple[Any, ...]
    origin: str  # "", "no_grad", "multi", "inference" or "function"
    version: int  # of the memory, when ``_edge`` was last known to be true

    # Generated code calls the class, which is quicker than any function of Python's, and fills it.

    @classmethod
    def of(cls, base: Any, parent: View | None, op: Any, static: tuple[Any, ...], origin: str,
           version: int) -> View:
        view = cls()
        view.base, view.parent, view.op, view.static = base, parent, op, static
        view.origin, view.version = origin, version
        return view


class MovedView(View):
    """That of a tensor which was given other data: the op does not lead to it any more."""

    __slots__ = ()


class OutputEdge:
    """Output ``nr`` of a node that has several."""

    __slots__ = ("node", "nr", "__weakref__")
    is_output = True
    leads_nowhere = False
    _arity = -1
    seq = -1  # below every node's

    def __init__(self, node: Node, nr: int):
        self.node, self.nr = node, nr


class Released:
    """Takes the place of saved values that a backward pass has freed."""

    __slots__ = ("site",)

    def __init__(self, site: call_sites.Site):
        self.site = site

    def refuse(self) -> Any:
        raise RuntimeError(
            "Trying to backward through the graph a second time (or directly access saved tensors "
            "after they have already been freed). Saved intermediate values of the graph are "
            "freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you "
            "need to backward through the graph a second time or if you need to access saved "
            f"tensors after calling backward.\nThe first backward ran here:\n  {self.site}"
        )

    _data = property(refuse)
    _vc = property(refuse)


class RemovableHandle:
    """Undoes the registration of a hook; also a context manager.

    ``extra_dict`` names further dicts that know the hook by the handle's id.
    """

    next_id = 0

    def __init__(self, hooks_dict: dict[int, Any], *, extra_dict: Any = None):
        self.stores = [hooks_dict, *([extra_dict] if isinstance(extra_dict, dict)
                                      else extra_dict or ())]
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1

    def remove(self) -> None:
        for store in self.stores:
            store.pop(self.id, None)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def registered(owner: Any, hooks: str, hook: Any) -> RemovableHandle:
    """Keep a hook in the dict that ``owner`` has, or gets now, under the name ``hooks``."""
    if getattr(owner, hooks) is None:
        setattr(owner, hooks, OrderedDict())
    return kept_hook(getattr(owner, hooks), hook)


def kept_hook(hooks: OrderedDict[int, Any], hook: Any) -> RemovableHandle:
    """Keep a hook in a dict; what takes it out again."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def sum_of(known: Any, gradient: Any) -> Any:
    """Two gradients that meet; the backend cannot add complex halves."""
    try:
        return known + gradient
    except TypeError:
        if not (is_array(known) and xp.is_stored_only(known.dtype)):
            raise
        single = xp.dtype("complex64")
        return xp.cast(xp.cast(known, single) + xp.cast(gradient, single), known.dtype)


class _Note:
    """An attribute that few nodes have: it lies in ``_notes``, a dict made when it is needed.

    An instance dict, or ``__getattr__``, would cost every node memory and every look-up time.
    """

    def __init__(self, default: Any = None):
        self.default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, node: Any, owner: type | None = None) -> Any:
        try:
            return node._notes.get(self.name, self.default)
        except AttributeError:
            return self.default

    def __set__(self, node: Any, value: Any) -> None:
        try:
            node._notes[self.name] = value
        except AttributeError:
            node._notes = {self.name: value}


def notes_of(node: Any) -> dict[str, Any]:
    """The dict of what few nodes have, made now if there was none."""
    notes: dict[str, Any] | None = getattr(node, "_notes", None)
    if notes is None:
        notes = node._notes = {}
    return notes


class Node:
    """A recorded operation: what backward needs, and the edges to where gradients go next.

    ``next0`` and ``next1`` are the edges of the first two inputs and ``rest`` those of any others.
    An edge is a node, an :class:`OutputEdge`, a leaf tensor itself, or None. Subclasses made from
    op declarations add slots for what their rules save.

    A long program leaves millions of nodes behind, through which Python's collector walks again
    and again: every slot costs time there as well as memory.
    """

    __slots__ = ("seq", "next0", "_notes", "__weakref__")
    seq: int
    next0: Any
    next1: Any = None
    rest: tuple[Any, ...] = ()
    _arity = 1
    outputs = _Note(1)
    is_output = False
    is_leaf = False
    leads_nowhere = False
    runs_undefined = False
    overwrites = False  # whether it is the copy of its second input over the first
    is_watched = _Note(False)  # whether any hook is set on this node or on its outputs
    any_watched = False  # whether that was ever so of any node: a backward pass looks only then
    any_renumbered = False  # whether users have set the number of any node
    posthooks = _Note()
    prehooks = _Note()  # on the node, seen by register_prehook
    tensor_hooks = _Note()  # on output tensors: by nr, the one that was hooked first comes first
    retained = _Note()  # output nr -> weak reference of a retain_grad tensor
    edge_likes = _Note()
    input_levels = _Note()
    ranges = _Note()  # in anomaly mode, of the operands of a call whose result is not finite
    place = _Note()  # the line of a write that saves nothing
    cuts = _Note(())  # where operands without a history lost it: see core.cuts
    output_origin = _Note()  # weak reference of the view's node, if the saved output is a view
    reached_alone = _Note(False)  # whether the saved output was handed out with this node
    shown_steps = _Note()  # argument -> the node shown on the way to it
    saved_versions = _Note()  # argument -> how often its memory had been written to, if ever
    saved_names: tuple[tuple[str, str, str], ...] = ()  # (PyTorch's name, slot, kind)

    # ---- what the engine calls; generated for declared ops
    def pull(self, g: Any, *wanted: Any) -> Any:
        """Gradients of the inputs as arrays, from the output's gradient ``g``."""
        raise NotImplementedError

    def replay(self, g: Any, *wanted: Any) -> Any:
        """The same on tensors, recorded."""
        raise NotImplementedError

    def _shown_inputs(self, count: int) -> Sequence[int]:
        """Of the gradients that rules give, those that hooks are told of."""
        return range(count)

    def release(self, by: Released) -> None:
        """Free what was saved."""

    def pull_and_release(self, g: Any, by: Released, *wanted: Any) -> Any:
        """``pull``, then ``release``: one call in generated classes."""
        result = self.pull(g, *wanted)
        self.release(by)
        return result

    def pass_on(self, g: Any, by: Released, grads: dict[Any, Any]) -> None:
        """Run, free what was saved, and add each input's gradient to ``grads``."""
        edges = self.edges()
        if self._arity == 1:
            results = (self.pull_and_release(g, by),)
        else:
            results = self.pull_and_release(g, by, *edges)
        for edge, result in zip(edges, results, strict=False):
            if edge is not None and result is not None:
                grads[edge] = sum_of(grads[edge], result) if edge in grads else result

    def watch(self) -> None:
        """Note that a hook is being set here."""
        self.is_watched = True
        Node.any_watched = True

    # ---- what users see
    def edges(self) -> tuple[Any, ...]:
        if self._arity == 1:
            return (self.next0,)
        return (self.next0, self.next1, *self.rest)

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        return tuple(public_edge(e) for e in self.edges())

    @property
    def metadata(self) -> dict[str, Any]:
        if self._metadata is None:
            self._metadata = {}
        return self._metadata

    _metadata = _Note()

    @property
    def site(self) -> call_sites.Site:
        # Nodes that save nothing do not keep their line, but for writes that end a history.
        if self.place is not None:
            return self.place  # type: ignore[no-any-return]
        return call_sites.Site(getattr(self, "code", None), getattr(self, "lasti", 0))

    @property
    def requires_grad(self) -> bool:
        return True

    def name(self) -> str:
        name = type(self).__name__
        return f"torch::autograd::{name}" if name in _PREFIXED else name

    def __call__(self, *gradients: Any) -> Any:
        """The gradients of the inputs for these gradients of the outputs, recorded."""
        if len(gradients) != self.outputs:
            raise TypeError(f"expected {self.outputs} arguments, got {len(gradients)} instead")
        g = gradients[0] if self.outputs == 1 else list(gradients)
        return self.replay(g) if self._arity == 1 else self.replay(g, *self.edges())

    def _sequence_nr(self) -> int:
        return self.seq

    def _set_sequence_nr(self, number: int) -> None:
        """Have this node run before others that could run, too, and have lower numbers."""
        self.seq = number
        Node.any_renumbered = True

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after this node ran; it may replace the former."""
        self.watch()
        return registered(self, "posthooks", fn)

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before this node runs; it may replace them."""
        self.watch()
        return registered(self, "prehooks", fn)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


_PREFIXED = ("CopyBackwards", "CopySlices", "Error", "NotImplemented", "UndefinedGradBackward")


class PlacedNode(Node):
    """A node that knows the line it was made in."""

    __slots__ = ("code", "lasti")
    code: Any
    lasti: int

    def placed(self) -> Self:
        """This node, the newest of all, with the line that is being run."""
        self.seq = next_sequence()
        frame = call_sites.user_frame(sys._getframe(2))
        self.code, self.lasti = frame.f_code, frame.f_lasti
        return self


class Identity(PlacedNode):
    """A node that passes its gradient on; base of nodes that stand for one edge."""

    __slots__ = ()

    def pull(self, g: Any, *wanted: Any) -> Any:
        return g

    replay = pull


class Nowhere(Node):
    """Where gradients end of a view that was taken of a leaf while nothing was recorded."""

    __slots__ = ()
    leads_nowhere = True

    def __init__(self) -> None:
        self.seq, self.next0 = next_sequence(), None

    def pull(self, g: Any, *wanted: Any) -> Any:
        return None

    replay = pull


def public_edge(edge: Any) -> tuple[Any, int]:
    """An edge as ``next_functions`` shows it."""
    if edge is None or edge.leads_nowhere:
        return (None, 0)
    if edge.is_output:
        return (edge.node, edge.nr)
    if isinstance(edge, Node):
        return (edge, 0)
    return (edge._accumulator(), 0)


def short_name(node: Node) -> str:
    """A node's name as errors show it: Exp for ExpBackward0, Clamp1 for ClampBackward1."""
    stem, found, number = node.name().rpartition("Backward")
    if not found or not (number.isdigit() or not number):
        return node.name()
    return stem + number.removeprefix("0")


def _hint() -> str:
    if Anomaly.enabled:
        return ("the backtrace further above shows the operation that failed to compute its "
                "gradient. The variable in question was changed in there or anywhere later. Good "
                "luck!")
    return ("enable anomaly detection to find the operation that failed to compute its gradient, "
            "with torch.autograd.set_detect_anomaly(True, check_nan=False).")


def stale(saver: Any, label: str, expected: int, version: Version, shape: Any,
          dtype: Any) -> NoReturn:
    """Raise the error of a saved value that was overwritten, naming both lines.

    ``saver`` is the node, or whatever else has a name and a line, that needs the value.
    """
    start = DetachedVersion.START
    if expected < start <= version.n:
        raise RuntimeError("Trying to use a saved tensor that has been detached in-place, i.e. "
                           "with .detach_().This is not supported, please use out-of-place "
                           "`.detach()` instead")
    kind = "CPUBoolType" if dtype.alias == "Bool" else f"torch.{dtype.alias}Tensor"
    raise RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [{kind} {list(shape)}]{label} is at version {version.n % start}; "
        f"expected version {expected % start} instead. Hint: {_hint()}"
        f"\nThe value was saved for {saver.name()} here:\n  {saver.site}"
        f"\nand overwritten here:\n  {call_sites.Site(version.code, version.lasti)}"
    )


def fit(gradient: Any, like: Like | None) -> Any:
    """An array brought to the shape and dtype of the input it is the gradient of."""
    if like is None:
        return gradient
    if gradient.shape != like.shape:
        gradient = xp.unbroadcast(gradient, like.shape)
    if gradient.dtype is not like.dtype and like.dtype is not None:
        gradient = xp.cast(gradient, like.dtype)
    return gradient
