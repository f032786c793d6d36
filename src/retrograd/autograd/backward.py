"""``backward`` and ``grad``: checking what was asked for, and running the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import cycle
from sys import modules
from typing import Any

from ..backend import xp
from ..backend.interface import is_array, kind_of, library_of
from ..base import dtypes, warning
from ..base.errors import noted, type_name
from ..base.modes import MODE, RUNNING, switched
from ..base.warning import warn
from ..core.cuts import Cut, last_exits, where_made
from ..core.engine import Schedule, run
from ..core.extensions import TRACED_TYPES, extensions
from ..core.graph import Like
from ..core.saved_values import fit_tensor
from ..core.tensor import Tensor, edge_of, wrap_any
from .graph import GradientEdge

Roots = Tensor | GradientEdge | Sequence[Tensor | GradientEdge]
Gradients = Tensor | Sequence[Tensor | None] | None


def backward(tensors: Roots, grad_tensors: Gradients = None, retain_graph: bool | None = None,
             create_graph: bool = False, grad_variables: Gradients = None,
             inputs: Roots | None = None) -> None:
    """Accumulate the gradients of ``tensors`` into the leaves they were made from.

    With ``inputs`` only these get a gradient, also where they are not leaves.
    """
    if grad_variables is not None:
        warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning)
        if grad_tensors is not None:
            raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both "
                               "passed to `backward()`. Please only use `grad_tensors`.")
        grad_tensors = grad_variables
    outputs = (tensors,) if isinstance(tensors, Tensor) else as_tuple(tensors)
    wanted = None
    if inputs is not None:
        wanted = as_tuple(inputs)
        if not wanted:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    when_over = announced(outputs, wanted) if WATCHERS else ()
    roots, gradients = starting(outputs, as_gradients(grad_tensors, outputs), create_graph)
    targets = None if wanted is None else [_accumulating_edge(t) for t in wanted]
    if create_graph:
        warning.warn(
            "Using backward() with create_graph=True will create a reference cycle between the "
            "parameter and its gradient which can cause a memory leak. We recommend using "
            "autograd.grad when creating the graph to avoid this. If you have to use this "
            "function, make sure to reset the .grad fields of your parameters to None after use "
            "to break the cycle and avoid the leak.", once=True)
    retain = create_graph if retain_graph is None else retain_graph
    (_run if create_graph or "logging" in modules else run)(
        roots, gradients, retain, create_graph, targets, True)
    for callback in when_over:
        callback()
    if not create_graph and Passes.are_watched and next(Passes.turns) and outputs:
        if Passes.look is None:
            from . import growth  # noqa: F401 - which fills it
        Passes.look(outputs[0], retain)


extensions.fill(backward=backward)


def grad(outputs: Roots, inputs: Roots, grad_outputs: Gradients = None,
         retain_graph: bool | None = None, create_graph: bool = False, only_inputs: bool = True,
         allow_unused: bool | None = None, is_grads_batched: bool = False,
         materialize_grads: bool = False) -> tuple[Tensor, ...]:
    """The gradients of ``outputs`` with respect to ``inputs``, as a tuple.

    >>> import retrograd as torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> (slope,) = grad(x * x, x, create_graph=True)
    >>> grad(slope, x)
    (tensor(2.),)
    """
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads="
                         "True, but got: allow_unused=False.")
    if allow_unused is None:
        allow_unused = materialize_grads
    if not only_inputs:
        warn("only_inputs argument is deprecated and is ignored now (defaults to True). "
             "To accumulate gradient for other parts of the graph, please use "
             "torch.autograd.backward.", FutureWarning)
    out, wanted = as_tuple(outputs), as_tuple(inputs)
    if is_grads_batched:
        if not wanted:
            raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
        from .functional import batched_grad

        return batched_grad(out, wanted, as_gradients(grad_outputs, out), retain_graph,
                            create_graph, allow_unused, materialize_grads)
    when_over = announced(out, wanted) if WATCHERS else ()
    roots, gradients = starting(out, as_gradients(grad_outputs, out), create_graph)
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    retain = create_graph if retain_graph is None else retain_graph
    targets = [target_edge(t) for t in wanted]
    captured = _run(roots, gradients, retain, create_graph, targets, accumulate=False)
    for callback in when_over:
        callback()
    results: list[Any] = []
    for position, (tensor, edge) in enumerate(zip(wanted, targets, strict=True)):
        found = captured.get(edge)
        if found is not None:
            results.append(found if create_graph else _result(found, grad_outputs))
        elif not allow_unused:
            from .explaining import why_unused

            raise RuntimeError(f"The differentiated Tensor at index {position} appears to not have "
                               "been used in the graph. Set allow_unused=True if this is the "
                               "desired behavior." + why_unused(out, tensor))
        else:
            results.append(_zeros_for(tensor, create_graph) if materialize_grads else None)
    return tuple(results)


WATCHERS: list[Callable[[tuple[Any, ...], tuple[Any, ...] | None], Callable[[], Any]]] = []
"""Who is told of every pass, and when it is over: see :mod:`retrograd.autograd.watching`."""


class Passes:
    """Of all passes some are looked at, in turn: see :mod:`.growth`."""

    EVERY = 8
    turns = cycle((False,) * (EVERY - 1) + (True,))
    are_watched = True
    look: Any = None  # what looks at one, once it is loaded


def announced(outputs: tuple[Any, ...],
              inputs: tuple[Any, ...] | None) -> list[Callable[[], Any]]:
    """Tell those who watch of a pass that is none of another one's; what to call at its end."""
    if RUNNING.get() is not None:
        return []
    return [watcher(outputs, inputs) for watcher in WATCHERS]


def _run(roots: list[Any], gradients: list[Any], retain: bool, create_graph: bool,
         targets: Any, accumulate: bool, logged: bool = False) -> dict[Any, Any]:
    if not logged and "logging" in modules and _log.is_heard():
        with _log.of_nodes(roots):
            return _run(roots, gradients, retain, create_graph, targets, accumulate, True)
    if create_graph and not MODE.get().grad:
        with switched(grad=True):
            return run(roots, gradients, retain, True, targets, accumulate)
    return run(roots, gradients, retain, create_graph, targets, accumulate)


class _Log:
    """The log of what a backward pass runs; whoever listens has imported ``logging``."""

    logger: Any = None

    def is_heard(self) -> bool:
        if self.logger is None:
            self.logger = modules["logging"].getLogger(f"{__package__}.graph")
        return self.logger.isEnabledFor(modules["logging"].DEBUG)

    @contextmanager
    def of_nodes(self, roots: list[Any]) -> Iterator[None]:
        """Write down every node that is about to run, inside this block."""
        schedule = Schedule(roots, None)
        nodes = [*schedule.order, *[leaf._accumulator() for leaf in schedule.leaves]]
        handles = [node.register_prehook(partial(self.note, node)) for node in nodes]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def note(self, node: Any, gradients: tuple[Any, ...]) -> None:
        shown = ",".join("None" if g is None else f"{g.dtype.name}{list(g.shape)}"
                         for g in gradients)
        self.logger.debug(f"Executing: {node} with grad_outputs: [{shown}]")


_log = _Log()


def _zeros_for(tensor: Any, requires_grad: bool) -> Tensor:
    if isinstance(tensor, GradientEdge):
        raise RuntimeError("materialize_grads cannot be used when the given input is a "
                           "GradientEdge")
    if type(tensor._data) in TRACED_TYPES:
        from ..transforms import zeros_like_data

        zeros = zeros_like_data(tensor._data)
    else:
        zeros = library_of(tensor._data).zeros_like(tensor._data)
    return wrap_any(zeros).requires_grad_(requires_grad)


def _result(found: Any, given: Any) -> Tensor:
    """A gradient as a tensor: the given one that it still is, if that requires grad."""
    data = found._data if isinstance(found, Tensor) else found
    for tensor in () if given is None else (given,) if isinstance(given, Tensor) else given:
        if tensor is not None and tensor.requires_grad and (tensor._data is data or (
                is_array(data) and is_array(tensor._data)
                and library_of(data).same_memory(data, tensor._data))):
            return tensor  # type: ignore[no-any-return]
    return found if isinstance(found, Tensor) else wrap_any(own(data))


def own(data: Any) -> Any:
    """A gradient that is returned is an array, also a zero-dim one."""
    return xp.asarray(data) if xp.is_scalar(data) else data


# ---------------------------------------------------------------- where gradients go


def as_tuple(value: Any) -> tuple[Any, ...]:
    if isinstance(value, (Tensor, GradientEdge)):
        return (value,)
    return tuple(value)


def target_edge(tensor: Any) -> Any:
    if isinstance(tensor, GradientEdge):
        return tensor.as_edge()
    if not isinstance(tensor, Tensor):
        raise RuntimeError("all inputs have to be Tensors or GradientEdges, but got "
                           f"{type(tensor).__name__}")
    edge = edge_of(tensor)
    if edge is None:
        raise RuntimeError("One of the differentiated Tensors does not require grad"
                           + why_cut(tensor))
    return tensor if edge.leads_nowhere else edge  # no graph has such a tensor for its end


def _accumulating_edge(tensor: Any) -> Any:
    """A target of ``backward(inputs=...)``: one that is not a leaf keeps its gradient too."""
    if isinstance(tensor, Tensor):
        if edge_of(tensor) is None:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False"
                               + why_cut(tensor))
        tensor.retain_grad()
    return target_edge(tensor)


def why_cut(tensor: Any) -> str:
    """Says which line kept a tensor out of the graph, where that is known."""
    cut = getattr(tensor, "_cut", None)
    return "" if cut is None else f"\nGradients stopped flowing here:\n  {Cut(*cut).site}"


# ---------------------------------------------------------------- where gradients start


def as_gradients(given: Any, outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    if given is None:
        return (None,) * len(outputs)
    gradients = (given,) if isinstance(given, Tensor) else tuple(given)
    if len(gradients) < len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(gradients)} gradients")
    return gradients[:len(outputs)]


def starting(outputs: tuple[Any, ...], gradients: tuple[Any, ...],
             create_graph: bool) -> tuple[list[Any], list[Any]]:
    """The edges to start from and the gradient of each, checked."""
    roots: list[Any] = []
    values: list[Any] = []
    for position, output in enumerate(outputs):
        gradient = gradients[position]
        if gradient is not None and not isinstance(gradient, Tensor):
            raise TypeError("gradients can be either Tensors or None, but got "
                            f"{type_name(gradient)}")
        if isinstance(output, Tensor):
            edge, like = edge_of(output), output._data
        elif isinstance(output, GradientEdge):
            edge, like = output.as_edge(), output.like()
        else:
            raise AssertionError("Expected output to be a torch.Tensor")
        if edge is None or edge.leads_nowhere:
            raise noted(RuntimeError(f"element {position} of tensors does not require grad and "
                                     "does not have a grad_fn" + why_cut(output)),
                        last_exits() if getattr(output, "_cut", None) is None else "")
        if gradient is None:
            gradient = implicit(output, like)
        elif like is not None:
            gradient = fitting(position, gradient, like)
        roots.append(edge)
        values.append(gradient if create_graph else gradient._data)
    return roots, values


def implicit(output: Tensor | GradientEdge, like: Like | None) -> Tensor:
    """The gradient of a scalar with respect to itself."""
    if like is None or (like.shape and any(n != 1 for n in like.shape)):
        made = where_made(output._edge, f"The output of shape {list(output.shape)}") \
            if isinstance(output, Tensor) else ""
        raise RuntimeError("grad can be implicitly created only for scalar outputs" + made)
    if kind_of(like.dtype) == "c":
        raise RuntimeError("grad can be implicitly created only for real scalar outputs but got "
                           f"{_dtype_of(like)!r}")
    if isinstance(output, Tensor) and type(output._data) in TRACED_TYPES:
        with switched(grad=False):
            ones: Tensor = output.detach() * 0 + 1  # type: ignore[assignment]
            return ones
    library = library_of(output._data) if isinstance(output, Tensor) else xp
    return wrap_any(library.ones(like.shape, like.dtype) if like.shape
                    else library.number(1, like.dtype))


def fitting(position: int, gradient: Tensor, like: Like) -> Tensor:
    """``gradient`` in the dtype of the output it starts from, which must have its shape."""
    data = gradient._data
    if data.dtype is like.dtype and data.shape == like.shape:
        return gradient
    if tuple(data.shape) != tuple(like.shape):
        from ..core.tensor import Size

        raise RuntimeError(
            f"Mismatch in shape: grad_output[{position}] has a shape of {gradient.shape!r} and "
            f"output[{position}] has a shape of {Size(like.shape)!r}.")
    if gradient.is_complex() != dtypes.from_numpy_dtype(like.dtype).is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. "
            f"Mismatch in dtype: grad_output[{position}] has a dtype of {gradient.dtype!r} and "
            f"output[{position}] has a dtype of {_dtype_of(like)!r}.")
    return gradient if data.dtype == like.dtype else fit_tensor(gradient, like)


def _calculate_shape(output: Tensor | GradientEdge, grad: Tensor,
                     is_grads_batched: bool) -> tuple[Any, Any]:
    """The shapes of an output and of one gradient for it, which should be alike."""
    like = output.like() if isinstance(output, GradientEdge) else output
    shape = None if like is None else like.shape
    return shape, grad.shape[1:] if is_grads_batched else grad.shape


def _dtype_of(like: Like) -> Any:
    from ..base.dtypes import from_numpy_dtype

    return from_numpy_dtype(like.dtype)


__all__ = ["backward", "grad"]
