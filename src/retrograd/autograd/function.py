"""Custom differentiable functions: the user gives forward and backward.

The context that both are handed *is* the recorded node, so whatever forward leaves on it is what
``y.grad_fn`` shows, and it dies with the graph.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ..backend.interface import kind_of
from ..base import dtypes
from ..base.call_sites import here
from ..base.modes import GRAD, MODE, NO_GRAD, Mode, switched
from ..base.warning import warn
from ..core.anomaly import Anomaly, remember_stack, remember_values
from ..core.cuts import keep_cuts, note_cut
from ..core.engine import as_tensor_gradient, current_schedule, raw_gradient
from ..core.graph import (
    INFERENCE,
    LEAF,
    LEAFS_OWN,
    Like,
    PlacedNode,
    Released,
    View,
    fit,
    stale,
)
from ..core.inplace import move_retained, rebase, refuse_view
from ..core.libraries import library_among
from ..core.recording import is_differentiable
from ..core.saved_values import (
    PackedValue,
    SavedTensor,
    attach,
    describe_origin,
    fit_tensor,
    output_edge,
)
from ..core.tensor import Tensor, class_of_views, edge_of, fill, wrap, wrap_any

# ---------------------------------------------------------------- the context


class FunctionCtx:
    """What ``forward`` tells ``backward``, and the engine, about one call."""

    to_save: tuple[Any, ...] | None = None
    saved_for_forward: tuple[Any, ...] | None = None
    dirty_tensors: tuple[Any, ...] | None = None
    non_differentiable: tuple[Any, ...] | None = None
    materialize_grads = True
    _materialize_non_diff_grads = True  # also those of outputs that cannot have one
    _is_pure_view = False  # whether a view that forward returns is the whole of the function

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors until backward asks for ``saved_tensors``; None is kept too."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for ``jvp``."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                raise AssertionError("save_for_forward expects all arguments to be tensors; you "
                                     "should save non-tensors as attributes on ctx.")
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Say which inputs forward wrote to; it must return them."""
        self.dirty_tensors = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Does nothing: shared memory is tracked without it."""
        warn("`mark_shared_storage` is deprecated. Tensors with shared storages are "
             "automatically tracked. Note that calls to `set_()` are not tracked",
             FutureWarning)

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Say which outputs have no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward sees zeros (the default) or None for outputs without a gradient."""
        self.materialize_grads = value


class _SavedOutput:
    """An output that its own node saved: the data and not the tensor, which would be a cycle."""

    __slots__ = ("counter", "data", "nr", "version")

    def __init__(self, output: Tensor):
        self.data = output._array()
        self.nr = output.output_nr
        self.counter = output._counter()
        self.version = self.counter.n

    def unpack(self, node: BackwardCFunction) -> Tensor:
        if self.counter.n != self.version:
            stale(node, describe_origin(output_edge(node, self.nr)), self.version,
                  self.counter, self.data.shape, dtypes.from_numpy_dtype(self.data.dtype))
        out = wrap(self.data, output_edge(node, self.nr))
        out._vc = self.counter
        return out


class _SavedInput:
    """A saved tensor, its version, and the history it had."""

    __slots__ = ("tensor", "version")

    def __init__(self, tensor: Tensor):
        self.tensor = tensor
        counter = tensor._vc
        self.version = 0 if counter is None else counter.n

    def unpack(self, node: BackwardCFunction) -> Tensor:
        tensor = self.tensor
        counter = tensor._vc
        if counter is not None and counter.n != self.version:
            stale(node, describe_origin(edge_of(tensor)), self.version,
                  counter, tensor._data.shape, tensor.dtype)
        return tensor


class _SavedPacked:
    """A saved tensor in the keeping of saved-tensor hooks."""

    __slots__ = ("edge", "nr", "packed")

    def __init__(self, tensor: Tensor, hooks: tuple[Any, Any], own: BackwardCFunction | None):
        # An own output is attached again by its number: its edge would be a cycle.
        self.nr = None if own is None else tensor.output_nr
        self.edge = edge_of(tensor) if own is None else None
        self.packed = PackedValue(tensor, hooks, is_output=own is not None)

    def unpack(self, node: BackwardCFunction) -> Tensor:
        edge = self.edge if self.nr is None else output_edge(node, self.nr)
        return attach(self.packed.unpack(), edge)


class _Taken:
    """Takes the place of saved values that may be looked at once, and were."""

    def refuse(self) -> None:
        raise RuntimeError(
            "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is "
            "set on the autograd.Function. Either access saved_tensors only once, or set "
            "clear_saved_tensors_on_access=False.")


_TAKEN = _Taken()


class _RawSaved(SavedTensor):
    """One saved value of a custom function."""

    def __init__(self, node: BackwardCFunction, position: int):
        self._node, self._position = node, position

    def _entry(self) -> Any:
        saved = self._node._saved
        return saved if isinstance(saved, Released) else saved[self._position]

    def unpack(self) -> Tensor | None:
        entry = self._entry()
        return None if entry is None else entry.unpack(self._node)

    def _kept(self) -> Any:
        entry = self._entry()
        return getattr(entry, "packed", getattr(entry, "tensor", entry))

    def _pack(self, hooks: tuple[Any, Any]) -> None:
        node, position, entry = self._node, self._position, self._entry()
        own = node if isinstance(entry, _SavedOutput) else None
        packed = _SavedPacked(entry.unpack(node), hooks, own)
        node._saved = (*node._saved[:position], packed, *node._saved[position + 1:])


def _save(node: BackwardCFunction, mode: Mode) -> tuple[Any, ...]:
    """What forward wanted to save, as it is kept."""
    tensors, node.to_save = node.to_save or (), None  # at once: a hook may raise
    kept: list[Any] = []
    for position, tensor in enumerate(tensors):
        if tensor is None:
            kept.append(None)
            continue
        if not isinstance(tensor, Tensor):
            raise TypeError("save_for_backward can only save variables, but argument "
                            f"{position} is of type {type(tensor).__name__}")
        edge = tensor._edge
        is_own = edge is node or (edge is not None and edge is not LEAF and edge.is_output
                                  and edge.node is node)
        if mode.saved_hooks:
            kept.append(_SavedPacked(tensor, mode.saved_hooks[-1], node if is_own else None))
        else:
            kept.append(_SavedOutput(tensor) if is_own else _SavedInput(tensor))
    return tuple(kept)


# ---------------------------------------------------------------- the node


class BackwardCFunction(PlacedNode, FunctionCtx):
    """The node of a custom function, which is also its context."""

    __slots__ = ("_inputs", "_results", "_saved", "dirty_tensors", "non_differentiable", "outputs",
                 "rest", "to_save")
    _arity = 3
    runs_undefined = True
    _inputs: Any
    _results: Any
    _saved: Any  # a tuple, or Released
    _levels: list[tuple[int, ...]] | None = None  # of the transforms that each input belonged to
    _forward_cls: type[Function]

    def edges(self) -> tuple[Any, ...]:
        return self.rest

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        every = super().next_functions
        return tuple([every[place] for place in self._shown_inputs(len(every))])

    def _shown_inputs(self, count: int) -> list[int]:
        # Arguments that are not tensors have no edge.
        return [place for place in range(count) if self._inputs[place] is not None]

    def name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {id(self):#x}>"

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """For each argument of forward, whether it requires grad."""
        return tuple([edge is not None for edge in self.rest])

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """What ``save_for_backward`` was given."""
        saved = self._saved
        if saved.__class__ is Released or saved.__class__ is _Taken:
            saved.refuse()
        unpacked = tuple([None if entry is None else entry.unpack(self) for entry in saved])
        if self._forward_cls.clear_saved_tensors_on_access and saved:
            self._saved = _TAKEN
        return unpacked

    @property
    def saved_variables(self) -> tuple[Tensor | None, ...]:
        """The old name of ``saved_tensors``."""
        warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[_RawSaved, ...]:
        if isinstance(self._saved, Released):
            self._saved.refuse()
        return tuple(_RawSaved(self, i) for i in range(len(self._saved)))

    def release(self, by: Released) -> None:
        self._saved = by

    def maybe_clear_saved_tensors(self) -> None:
        """Free what was saved before the backward pass does, if it does."""
        if not current_schedule().retains:
            self.release(Released(here(1)))

    def apply(self, *args: Any) -> Any:
        """Run the user's backward on the gradients of the outputs."""
        gradients = list(args)
        del args  # so that a function that empties the list lets go of them
        return self._backward_of(gradients)

    def _backward_of(self, gradients: list[Any]) -> Any:
        """The user's backward; one that takes its gradients in a list may empty it."""
        function = self._forward_cls
        if function.boxed_grads_call:
            return _user_backward(function)(self, gradients)
        return _user_backward(function)(self, *gradients)

    # ---- what the engine calls

    def pull(self, g: Any, *wanted: Any) -> Any:
        several = [g] if self.outputs == 1 else g or (None,) * self.outputs
        given = [as_tensor_gradient(x, False) for x in several]
        mode = MODE.get()
        if mode is NO_GRAD:
            results = self._checked(given)
        else:
            try:
                MODE.set(NO_GRAD if mode is GRAD else mode.but(grad=False))
                results = self._checked(given)
            finally:
                MODE.set(mode)
        if self._levels is not None:
            results = self._settled(results)
        # Hooks of the node are shown gradients that nobody needs, too.
        return tuple([None if result is None else raw_gradient(result)
                      if edge is None or (like.shape == result._data.shape
                                          and like.dtype is result._data.dtype)
                      else fit(raw_gradient(result), like)
                      for result, like, edge in zip(results, self._inputs, self.rest,
                                                    strict=False)])

    def replay(self, g: Any, *wanted: Any) -> Any:
        given = [g] if self.outputs == 1 else list(g or (None,) * self.outputs)
        results = self._checked(given)
        if self._levels is not None:
            results = self._settled(results)
        return tuple([result if edge is None or result is None else fit_tensor(result, like)
                      for result, like, edge in zip(results, self._inputs, self.rest,
                                                    strict=False)])

    def _settled(self, results: tuple[Any, ...]) -> tuple[Any, ...]:
        """Gradients without the transforms' data that the inputs did not have."""
        from ..transforms import settle_tensor

        return tuple([None if r is None else settle_tensor(r, levels)
                      for r, levels in zip(results, self._levels or (), strict=False)])

    def _checked(self, given: list[Any]) -> tuple[Any, ...]:
        """What the user's backward returns for these gradients, checked against the inputs."""
        if self.materialize_grads and any(g is None for g in given):
            library = library_among([g._data for g in given if g is not None])
            given[:] = [g if g is not None or like is None
                        else wrap_any(library.zeros(like.shape, like.dtype))
                        for g, like in zip(given, self._results, strict=True)]
        results = self._backward_of(given)
        if not isinstance(results, tuple):
            results = (results,)
        inputs = self._inputs
        if len(results) != len(inputs):
            results = self._without_surplus(results)
        for position, (result, like, edge) in enumerate(
                zip(results, inputs, self.rest, strict=True)):
            if result is None:
                continue
            if like is None:
                raise RuntimeError(
                    f"function {self.name()} returned a gradient different than None at position "
                    f"{position + 1}, but the corresponding forward input was not a Variable")
            if not isinstance(result, Tensor):
                raise RuntimeError(f"expected Variable or None (got {type(result).__name__})")
            if edge is not None:
                self._check_gradient(position, result, like)
        return results

    def _without_surplus(self, results: tuple[Any, ...]) -> tuple[Any, ...]:
        """Too many gradients are fine if the surplus is None."""
        expected = len(self._inputs)
        if len(results) < expected or any(r is not None for r in results[expected:]):
            raise RuntimeError(f"function {self.name()} returned an incorrect number of gradients "
                               f"(expected {expected}, got {len(results)})")
        return results[:expected]

    def _check_gradient(self, position: int, gradient: Tensor, like: Like) -> None:
        shape = gradient._data.shape
        if shape != like.shape and not _expands_to(like.shape, shape):
            raise RuntimeError(
                f"Function {self.name()} returned an invalid gradient at index {position} - got "
                f"{list(shape)} but expected shape compatible with {list(like.shape)}")
        if gradient._data.dtype is like.dtype or like.dtype is None:
            return
        is_complex = gradient.is_complex()
        if not gradient.is_floating_point() and is_complex != (kind_of(like.dtype) == "c"):
            raise RuntimeError(
                "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == "
                "grad_is_complex) to be true, but got false.  (Could this error message be "
                "improved?  If so, please report an enhancement request to PyTorch.)")


def _expands_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    if len(shape) > len(target):
        return False
    return all(n in (1, m) for n, m in zip(reversed(shape), reversed(target), strict=False))


def _user_backward(cls: type[Function]) -> Callable[..., Any]:
    has_vjp = cls.vjp is not Function.vjp
    if cls.backward is not Function.backward:
        if has_vjp:
            raise RuntimeError("Implementing both 'backward' and 'vjp' for a custom Function is "
                               "not allowed. You should only implement one of them.")
        return cls.backward
    return cls.vjp if has_vjp else cls.backward


# ---------------------------------------------------------------- the function


class FunctionMeta(type):
    """Gives every function a node class of its own, named after it."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,),
                                 {"__slots__": (), "_forward_cls": cls,
                                  "__module__": "torch.autograd.function"})
        super().__init__(name, bases, namespace)


class Function(FunctionCtx, metaclass=FunctionMeta):
    """Base of custom differentiable functions.

    >>> class Exp(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         y = x.exp()
    ...         ctx.save_for_backward(y)
    ...         return y
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (y,) = ctx.saved_tensors
    ...         return g * y
    """

    _backward_cls: type[BackwardCFunction]
    generate_vmap_rule = False
    boxed_grads_call = False  # whether backward is given a list of gradients
    clear_saved_tensors_on_access = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version of PyTorch.", DeprecationWarning)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)")

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs: ``forward(ctx, ...)``, or ``forward(...)`` with setup_context."""
        raise NotImplementedError("You must implement the forward function for custom "
                                  "autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Fill ``ctx`` after a ``forward`` that does not take it."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any, **kwargs: Any) -> Any:
        """The gradients of the inputs, from those of the outputs."""
        raise NotImplementedError("You must implement either the backward or vjp method for your "
                                  "custom autograd.Function to use it with backward mode AD.")

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any, **kwargs: Any) -> Any:
        """The tangents of the outputs, from those of the inputs."""
        raise NotImplementedError("You must implement the jvp function for custom "
                                  "autograd.Function to use it with forward mode AD.")

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any, **kwargs: Any) -> Any:
        """The batched outputs and the dims they are batched along."""
        raise NotImplementedError("To use autograd.Function with vmap, you must either override "
                                  "the vmap staticmethod or set generate_vmap_rule=True.")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the function and record it."""
        separate = cls.setup_context is not _NO_SETUP
        if kwargs or separate:
            args = _positional(cls.forward, args, kwargs, skip=not separate)
        node = cls._backward_cls()
        node._saved = ()
        node.to_save = node.dirty_tensors = node.non_differentiable = None
        edges: list[Any] = []
        likes: list[Like | None] = []
        cut: list[Tensor] = []
        requires_grad = traced = False
        for value in args:
            if isinstance(value, Tensor):
                if value._is_traced:
                    traced = True
                edge = value._edge if value._view is None else edge_of(value)
                if edge is None:
                    likes.append(_UNUSED)
                    if value._cut is not None:
                        cut.append(value)
                else:
                    requires_grad = True
                    data, dtype = value._data, value._data.dtype
                    if edge is LEAF:
                        edge = value
                        if value._grad_dtype is not LEAFS_OWN:
                            dtype = value._grad_dtype
                    likes.append(Like(data.shape, dtype))
                edges.append(edge)
            else:
                edges.append(None)
                likes.append(None)
        node.rest = tuple(edges)
        node._inputs = likes
        mode = MODE.get()
        if traced:
            mapped = _mapped(cls, node, args)
            if mapped is not NotImplemented:
                return mapped
            output = _run_traced(cls, node, args, separate, mode)
        elif mode.grad:
            try:
                MODE.set(NO_GRAD if mode is GRAD else mode.but(grad=False))
                output = _run_forward(cls, node, args) if separate else cls.forward(node, *args)
            finally:
                MODE.set(mode)
        else:
            output = _run_forward(cls, node, args) if separate else cls.forward(node, *args)
        recording = requires_grad and mode.records
        if recording:
            node.placed().next0 = None
            if cut:
                keep_cuts(node, *cut)
            if Anomaly.enabled:
                remember_stack(node)
                remember_values(node, {f"argument {i}": a for i, a in enumerate(args)},
                                output if isinstance(output, tuple) else (output,))
            if type(output) is Tensor and _is_simple(node, output, args):
                # The usual case: one new tensor.
                node.outputs = 1
                data = output._data
                node._results = (Like(data.shape, data.dtype),)
                output._edge = node
                if node.to_save:
                    node._saved = _save(node, mode)
                if mode.ledger is not None:
                    mode.ledger.note(node)
                return output
        outputs = output if isinstance(output, tuple) else (output,)
        node.outputs = len(outputs)
        outputs = _wrapped(node, args, outputs, recording, mode)
        if recording:
            everywhere = node._materialize_non_diff_grads
            node._results = tuple([Like(o._data.shape, o._data.dtype) if isinstance(o, Tensor)
                                   and (everywhere or o._edge is not None) else None
                                   for o in outputs])
            if node.to_save:
                node._saved = _save(node, mode)
            if mode.ledger is not None:
                mode.ledger.note(node)
        node.to_save = node.dirty_tensors = node.non_differentiable = None
        return outputs if isinstance(output, tuple) else outputs[0]


_NO_SETUP = Function.setup_context
_UNUSED = Like((), None)  # of a tensor that needs no gradient


def _is_simple(node: BackwardCFunction, output: Tensor, args: tuple[Any, ...]) -> bool:
    """Whether ``output`` is a differentiable tensor that forward made, and no view."""
    if node.dirty_tensors is not None or node.non_differentiable is not None \
            or output._view is not None or kind_of(output._data.dtype) != "f":
        return False
    return all(value is not output for value in args)


def _run_forward(cls: type[Function], node: BackwardCFunction, args: tuple[Any, ...]) -> Any:
    output = cls.forward(*args)
    cls.setup_context(node, args, output)
    return output


def _mapped(cls: type[Function], node: BackwardCFunction, args: tuple[Any, ...]) -> Any:
    """The call under vmap, if the arguments belong to one; NotImplemented if not, or if forward
    may see the whole batch. The node then has to know what its gradients are to be fitted to."""
    from ..transforms import levels_of
    from .custom_vmap import apply_batched

    found = apply_batched(cls, args)
    if found is NotImplemented:
        node._levels = [levels_of(a._data) if isinstance(a, Tensor) else () for a in args]
    return found


def _run_traced(cls: type[Function], node: BackwardCFunction, args: tuple[Any, ...],
                separate: bool, mode: Mode) -> Any:
    """Forward on arguments that belong to a transform."""
    from .custom_forward import run_forward

    def forward(values: tuple[Any, ...]) -> Any:
        return _run_forward(cls, node, values) if separate else cls.forward(node, *values)

    with switched(grad=False):
        return run_forward(node, args, forward, mode)


def _positional(forward: Any, args: tuple[Any, ...], kwargs: dict[str, Any],
                skip: bool) -> tuple[Any, ...]:
    """All arguments of forward in order, with its defaults filled in."""
    code = getattr(forward, "__code__", None)
    if code is not None and not kwargs and len(args) == code.co_argcount - skip \
            and not code.co_kwonlyargcount:
        return args
    parameters = list(inspect.signature(forward).parameters.values())[skip:]
    by_position = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY,
                                                       p.VAR_POSITIONAL)]
    known = {p.name for p in by_position if p.kind is p.POSITIONAL_OR_KEYWORD}
    for name in kwargs:
        if name not in known:
            binding = not skip and all(p.name != name for p in parameters)
            raise TypeError(f"{'' if binding else 'forward() '}got an unexpected keyword argument "
                            f"'{name}'")
    bound = inspect.Signature(by_position).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args


# ---------------------------------------------------------------- outputs


def _wrapped(node: BackwardCFunction, args: tuple[Any, ...], outputs: tuple[Any, ...],
             recording: bool, mode: Mode) -> tuple[Any, ...]:
    """The outputs with ``node`` as their origin, where they are differentiable."""
    dirty = _identities(node.dirty_tensors, "mark_dirty can only accept variables, but argument")
    constant = _identities(node.non_differentiable,
                           "mark_non_differentiable only accepts variable arguments, but got")
    unreturned = set(dirty)
    inputs = {id(a) for a in args if isinstance(a, Tensor)}
    tensors = sum([isinstance(o, Tensor) for o in outputs])
    if node._is_pure_view and (tensors > 1 or len(inputs) > 1):
        raise RuntimeError("Pure view custom Function can only have one input Tensor and one "
                           "output Tensor. Open an issue if you need to support more.")
    wrapped: list[Any] = []
    views: list[View] = []
    differentiated = 0
    for nr, output in enumerate(outputs):
        if not isinstance(output, Tensor):
            wrapped.append(output)
            continue
        is_input, is_dirty = id(output) in inputs, id(output) in dirty
        differentiable = recording and id(output) not in constant and is_differentiable(output)
        if is_dirty:
            if not is_input:
                if output._view is not None:
                    raise RuntimeError(_NOT_AN_INPUT)
                warn(_NOT_AN_INPUT, UserWarning)
            unreturned.discard(id(output))
        if not differentiable:
            wrapped.append(_undifferentiable(output, args, is_input, is_dirty, recording, mode))
        elif is_dirty:
            _rebased(node, nr, output, tensors)
            wrapped.append(output)
        elif is_input:
            wrapped.append(_aliased(output, output_edge(node, nr), mode))
        else:
            output._edge = output_edge(node, nr)
            wrapped.append(output)
        view = wrapped[-1]._view
        if view is not None and not (is_input and is_dirty):
            view.origin = "" if node._is_pure_view else "function"
            view.version = wrapped[-1]._counter().n
            views.append(view)
        differentiated += differentiable
    if differentiated > 1:
        for view in views:
            view.origin = "multi"
    if unreturned:
        raise RuntimeError("Some elements marked as dirty during the forward method were not "
                           "returned as output. The inputs that are modified inplace must all be "
                           "outputs of the Function.")
    return tuple(wrapped)


_NOT_AN_INPUT = ("ctx.mark_dirty() received a tensor that was not an input. Only input Tensors "
                 "that have been mutated should be passed to ctx.mark_dirty().")


def _identities(tensors: tuple[Any, ...] | None, refusal: str) -> set[int]:
    if not tensors:
        return set()
    for position, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise RuntimeError(f"{refusal} {position} is of type {type(tensor).__name__}"
                               if "dirty" in refusal else f"{refusal} {type(tensor).__name__}")
    return {id(t) for t in tensors}


def _aliased(source: Tensor, edge: Any, mode: Mode) -> Tensor:
    """A new tensor on the memory of an input that forward returned as it was."""
    from ..ops.memory.strides import alias

    out = fill(object.__new__(class_of_views(source)), source._array(), edge)
    if source._vc is INFERENCE or mode.inference:
        out._vc = source._vc
        return out
    parent = source._view
    base = source if parent is None else parent.base
    out._vc = base._counter()
    out._view = View.of(base, parent, alias.op, (), "function", out._vc.n)
    out._vc.note_view(out)
    return out


def _undifferentiable(output: Tensor, args: tuple[Any, ...], is_input: bool, is_dirty: bool,
                      recording: bool, mode: Mode) -> Tensor:
    if is_dirty and output._vc is not INFERENCE:
        output._counter().bump()
    if not is_input:
        if output._edge is not None and output._view is None:
            output.detach_()
        elif output._edge is None and not recording:
            note_cut(output, [a for a in args if isinstance(a, Tensor)])
        return output
    if output._edge is not None:
        return output._off_graph()
    return output if is_dirty else _aliased(output, None, mode)


def _rebased(node: BackwardCFunction, nr: int, output: Tensor, tensors: int) -> None:
    """Make ``node`` the latest write to an input that forward marked as dirty."""
    view = output._view
    if view is not None and tensors > 1:
        raise RuntimeError(
            "If your Function modifies inplace an input that is a view of another Tensor, your "
            "Function cannot return more than one Tensor. This is not supported by the current "
            "autograd engine. You should either make sure the input is not a view (using .clone() "
            "for example) or make your Function only return one Tensor (potentially splitting it "
            "into two Functions: one doing the inplace that returns a single Tensor and a second "
            "one that does the other operations). You can ask on the forum "
            "https://discuss.pytorch.org/ if you need help to do this change.")
    output._counter().bump()
    if output._edge is LEAF:
        raise RuntimeError("a leaf Variable that requires grad has been used in an in-place "
                           "operation.")
    if view is not None and view.origin:
        refuse_view(output, view)
    if view is not None and (view.base._edge is LEAF or (
            view.base._edge is None and output._edge is not None)):
        raise RuntimeError("a view of a leaf Variable that requires grad is being used in an "
                           "in-place operation.")
    output._grad = None  # it was that of the former value
    if view is not None or node.outputs == 1:
        rebase(output, node)
    else:
        before, output._edge = output._edge, output_edge(node, nr)
        if output._retains and before is not None:
            move_retained(output, before, node, nr)


class InplaceFunction(Function):
    """A function with an ``inplace`` flag; kept for old code."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


# ---------------------------------------------------------------- once_differentiable


class PassedThrough(PlacedNode):
    """A node whose outputs are its inputs; says what becomes of their gradients."""

    __slots__ = ("origins",)
    _arity = 3
    origins: tuple[Any, ...]

    def edges(self) -> tuple[Any, ...]:
        return self.origins

    def outputs_of(self, tensors: tuple[Any, ...]) -> tuple[Any, ...]:
        """The tensors, and whatever else there is, with this node as their origin."""
        self.origins = tuple([edge_of(t) if isinstance(t, Tensor) else None for t in tensors])
        self.placed()  # after its inputs: a view may have renewed its history
        self.outputs = len(tensors)
        return tuple([wrap(t._array(), output_edge(self, nr)) if isinstance(t, Tensor) else t
                      for nr, t in enumerate(tensors)])


class Error(PassedThrough):
    """Stands where a derivative would begin that cannot be taken, and refuses it."""

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message = message

    def pull(self, g: Any, *wanted: Any) -> Any:
        raise RuntimeError(self.message)

    replay = pull


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a ``backward`` that is not itself differentiable."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with switched(grad=False):
            results = fn(ctx, *args)
        if not MODE.get().grad:
            return results
        if not any(isinstance(a, Tensor) and edge_of(a) is not None for a in args):
            return results
        several = results if isinstance(results, tuple) else (results,)
        refused = Error("trying to differentiate twice a function that was marked with "
                        "@once_differentiable").outputs_of(
            tuple([r.detach().requires_grad_() if isinstance(r, Tensor) else r for r in several]))
        return refused if isinstance(results, tuple) else refused[0]

    return wrapper


__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "FunctionMeta", "InplaceFunction",
           "once_differentiable"]
