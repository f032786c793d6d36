"""Pictures: the graph of a computation, and how a training went."""

from ._graph import Graph, graph, recording

__all__ = ["Graph", "graph", "recording"]
