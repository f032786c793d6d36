"""Pictures: the graph of a computation, and how a training went."""

from ._graph import Graph, graph
from ._recording import recording
from ._training import History, Picture, training

__all__ = ["Graph", "graph", "recording", "History", "Picture", "training"]
