"""The pictures of docs/backward.md, drawn by the package itself when the site is built."""

from __future__ import annotations

import retrograd as torch


def layer() -> str:
    """A layer and its loss."""
    model = torch.nn.Linear(3, 2)
    return torch.viz.graph(model(torch.ones(4, 3)).tanh().pow(2).mean(), params=model).svg()


def diamond() -> str:
    """A value that is used twice."""
    x = torch.tensor(3.0, requires_grad=True)
    a = x * 2
    return torch.viz.graph(a.sin() + a.exp(), params={"x": x}).svg()


ALL = {"layer": layer, "diamond": diamond}
