"""Per-sample gradients of an ordinary recorded computation."""

from __future__ import annotations

from typing import Any

from ..autograd.backward import grad as graph_grad
from ..base import trees
from ..base.call_sites import here
from ..base.modes import switched
from ..core.tensor import Tensor
from .batching import vmap


def per_sample_grad(losses: Tensor, parameters: Any, *, retain_graph: bool = False,
                    create_graph: bool = False, chunk_size: int | None = None) -> Any:
    """The gradient of every element of a loss vector, from one batched backward pass.

    ``losses`` is the vector of losses, one for each sample, of any recorded program: nothing has to
    be rewritten as a function of its parameters. ``parameters`` is a tensor, a module, or any
    nested container of tensors; the result has its structure (for a module: a dict by name), each
    tensor with a dimension for the samples in front. Samples that do not reach a parameter have
    zeros there.

    >>> model, x, y = nn.Linear(3, 2), torch.ones(4, 3), torch.tensor([0, 1, 0, 1])
    >>> losses = torch.nn.functional.cross_entropy(model(x), y, reduction="none")
    >>> norms = {n: g.flatten(1).norm(dim=1) for n, g in per_sample_grad(losses, model).items()}

    All samples go back through the graph at once, ``chunk_size`` at a time if memory is short.
    """
    if not isinstance(losses, Tensor):
        raise TypeError(f"per_sample_grad: losses must be a Tensor, got {type(losses).__name__}")
    if losses.dim() != 1:
        raise RuntimeError("per_sample_grad: losses must be a vector with one loss for each "
                           f"sample, got a tensor of shape {list(losses.shape)}; use "
                           "reduction='none'")
    if hasattr(parameters, "named_parameters"):
        parameters = {n: p for n, p in parameters.named_parameters() if p.requires_grad}
    leaves, structure = trees.flatten(parameters)
    for leaf in leaves:
        if not (isinstance(leaf, Tensor) and leaf.requires_grad):
            raise RuntimeError("per_sample_grad: every parameter must be a Tensor that requires "
                               "grad")
    keep = retain_graph or create_graph

    def backward(direction: Tensor) -> list[Tensor]:
        return list(graph_grad([losses], leaves, [direction], retain_graph=True,
                               create_graph=create_graph, allow_unused=True,
                               materialize_grads=True))

    with switched(grad=create_graph):
        directions = losses.new_zeros((len(losses), len(losses)))
        directions.fill_diagonal_(1)
        found = vmap(backward, chunk_size=chunk_size)(directions)
    if not keep:
        _release(losses)
    return trees.unflatten(list(found), structure)


def _release(losses: Tensor) -> None:
    """Free what backward needed, as a single backward pass would have."""
    from ..core.engine import Schedule
    from ..core.graph import Released
    from ..core.tensor import edge_of

    edge = edge_of(losses)
    if edge is None:
        return
    by = Released(here(3))
    for node in Schedule([edge], None).order:
        node.release(by)
