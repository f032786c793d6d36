"""Looking at the graph: gradient edges, and hooks on what it saves."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..graph import Node
from ..replaying import output_edge
from ..tensor import AccumulateGrad, Tensor


class GradientEdge(NamedTuple):
    """A place where gradients flow: output ``output_nr`` of ``node``."""

    node: Any
    output_nr: int
    ownership_token: Any = None

    def as_edge(self) -> Any:
        if isinstance(self.node, AccumulateGrad):
            return self.node.variable
        return output_edge(self.node, self.output_nr)


def increment_version(tensor: Any) -> None:
    """Count a write that was made behind autograd's back."""
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        t._counter().bump()


__all__ = ["GradientEdge", "Node", "increment_version"]
