"""``backward`` and ``grad``: checking what was asked for, and running the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..backend import numpy as xp
from ..engine import run
from ..interpret import TRACED_TYPES, wrap_any
from ..modes import switched
from ..tensor import Tensor, edge_of
from .graph import GradientEdge


def backward(tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None,
             create_graph: bool = False, grad_variables: Any = None, inputs: Any = None) -> None:
    """Accumulate the gradients of ``tensors`` into the leaves they were made from."""
    outputs = as_tuple(tensors)
    if inputs is not None:
        inputs = as_tuple(inputs)
        if not inputs:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
        _warn_not_leaves(inputs)
    roots, gradients = starting(outputs, as_gradients(grad_tensors, outputs), create_graph)
    retain = create_graph if retain_graph is None else retain_graph
    targets = None if inputs is None else [target_edge(t) for t in inputs]
    captured = _run(roots, gradients, retain, create_graph, targets, accumulate=True)
    if inputs is not None:
        _store_non_leaf(inputs, targets or [], captured, create_graph)


def grad(outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None,
         create_graph: bool = False, only_inputs: bool = True, allow_unused: bool | None = None,
         is_grads_batched: bool = False, materialize_grads: bool = False) -> tuple[Any, ...]:
    """The gradients of ``outputs`` with respect to ``inputs``, as a tuple."""
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads="
                         "True, but got: allow_unused=False.")
    if allow_unused is None:
        allow_unused = materialize_grads
    out = as_tuple(outputs)
    if is_grads_batched:
        from .functional import batched_grad

        return batched_grad(out, as_tuple(inputs), as_gradients(grad_outputs, out), retain_graph,
                            create_graph, allow_unused, materialize_grads)
    wanted = as_tuple(inputs)
    for tensor in wanted:
        if isinstance(tensor, Tensor) and tensor._edge is None:
            raise RuntimeError("One of the differentiated Tensors does not require grad"
                               + why_cut(tensor))
    roots, gradients = starting(out, as_gradients(grad_outputs, out), create_graph)
    retain = create_graph if retain_graph is None else retain_graph
    targets = [target_edge(t) for t in wanted]
    captured = _run(roots, gradients, retain, create_graph, targets, accumulate=False)
    results: list[Any] = []
    for tensor, edge in zip(wanted, targets, strict=True):
        found = captured.get(edge)
        if found is None:
            if not allow_unused:
                raise RuntimeError("One of the differentiated Tensors appears to not have been "
                                   "used in the graph. Set allow_unused=True if this is the "
                                   "desired behavior.")
            results.append(_zeros_for(tensor) if materialize_grads else None)
        else:
            results.append(found if isinstance(found, Tensor) else wrap_any(own(found)))
    return tuple(results)


def _zeros_for(tensor: Any) -> Any:
    from .. import zeros_like

    if isinstance(tensor, GradientEdge):
        raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
    return zeros_like(tensor, requires_grad=False)


def own(data: Any) -> Any:
    """A returned gradient is an array nobody else writes to."""
    return xp.asarray(data) if isinstance(data, xp.generic) else data


def _run(roots: list[Any], gradients: list[Any], retain: bool, create_graph: bool,
         targets: Any, accumulate: bool) -> dict[Any, Any]:
    if not create_graph:
        if any(type(g) in TRACED_TYPES for g in gradients):
            # Inside a transform gradients are its data, which rules meet as tensors.
            with switched(grad=False):
                return run(roots, [wrap_any(g) for g in gradients], retain=retain, recorded=True,
                           targets=targets, accumulate=accumulate)
        return run(roots, gradients, retain=retain, recorded=False, targets=targets,
                   accumulate=accumulate)
    with switched(grad=True):
        return run(roots, gradients, retain=retain, recorded=True, targets=targets,
                   accumulate=accumulate)


def as_tuple(value: Any) -> tuple[Any, ...]:
    if isinstance(value, (Tensor, GradientEdge)):
        return (value,)
    return tuple(value)


def as_gradients(given: Any, outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    if given is None:
        return (None,) * len(outputs)
    gradients = (given,) if isinstance(given, Tensor) else tuple(given) \
        if isinstance(given, Sequence) else (given,)
    if len(gradients) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(gradients)} gradients")
    return gradients


def target_edge(tensor: Any) -> Any:
    if isinstance(tensor, GradientEdge):
        return tensor.as_edge()
    if not isinstance(tensor, Tensor):
        raise TypeError("inputs must be Tensors or GradientEdges, not "
                        f"{type(tensor).__name__}")
    edge = edge_of(tensor)
    if edge is None:
        raise RuntimeError("One of the differentiated Tensors does not require grad"
                           + why_cut(tensor))
    return edge


def why_cut(tensor: Any) -> str:
    """Says which line kept a tensor out of the graph, where that is known."""
    cut = getattr(tensor, "_cut", None)
    return "" if cut is None else f"\nGradients stopped flowing here:\n  {cut}"


def starting(outputs: tuple[Any, ...], gradients: tuple[Any, ...],
             create_graph: bool) -> tuple[list[Any], list[Any]]:
    """The edges to start from and the gradient of each, checked."""
    roots: list[Any] = []
    values: list[Any] = []
    for position, (output, gradient) in enumerate(zip(outputs, gradients, strict=True)):
        if isinstance(output, GradientEdge):
            if gradient is None:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            roots.append(output.as_edge())
            values.append(gradient if create_graph else gradient._data)
            continue
        if not isinstance(output, Tensor):
            raise TypeError("gradients can be taken of Tensors or GradientEdges, not "
                            f"{type(output).__name__}")
        if gradient is None:
            if output._edge is not None:
                gradient = implicit(output)
        elif not isinstance(gradient, Tensor):
            raise TypeError("gradients can be either Tensors or None, but got "
                            f"{type(gradient).__name__}")
        else:
            check_gradient(position, output, gradient)
        edge = edge_of(output)
        if edge is None:
            raise RuntimeError(f"element {position} of tensors does not require grad and does not "
                               "have a grad_fn" + why_cut(output))
        roots.append(edge)
        values.append(gradient if create_graph else gradient._data)  # type: ignore[union-attr]
    return roots, values


def implicit(output: Tensor) -> Tensor:
    """The gradient of a scalar with respect to itself."""
    data = output._data
    if data.size != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    kind = output.dtype
    if not kind.is_floating_point:
        raise RuntimeError("grad can be implicitly created only for real scalar outputs but got "
                           f"{kind!r}")
    if type(data) in TRACED_TYPES:
        with switched(grad=False):
            return output.detach() * 0 + 1
    return wrap_any(xp.ones(data.shape, data.dtype))


def check_gradient(position: int, output: Tensor, gradient: Tensor) -> None:
    if tuple(gradient._data.shape) != tuple(output._data.shape):
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{position}] has a shape of {gradient.shape!r} and "
            f"output[{position}] has a shape of {output.shape!r}.")
    if gradient.is_complex() != output.is_complex():
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. "
            f"Mismatch in dtype: grad_output[{position}] has a dtype of {gradient.dtype!r} and "
            f"output[{position}] has a dtype of {output.dtype!r}.")


def _warn_not_leaves(inputs: tuple[Any, ...]) -> None:
    for tensor in inputs:
        if isinstance(tensor, Tensor) and tensor._edge is None:
            raise RuntimeError("One of the differentiated Tensors does not require grad"
                               + why_cut(tensor))


def _store_non_leaf(inputs: tuple[Any, ...], targets: list[Any], captured: dict[Any, Any],
                    create_graph: bool) -> None:
    """``backward(inputs=[y])`` accumulates into non-leaf tensors too."""
    from ..engine import accumulate_into

    for tensor, edge in zip(inputs, targets, strict=True):
        if isinstance(tensor, Tensor) and edge is not tensor and captured.get(edge) is not None:
            accumulate_into(tensor, captured[edge], create_graph)


__all__ = ["backward", "dtypes", "grad"]
