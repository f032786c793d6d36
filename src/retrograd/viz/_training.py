"""``viz.training``: how a training went, as curves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from .. import nn, optim
from ..base.errors import type_name
from ..core.tensor import Tensor
from ._charts import Points, below_each_other, line_chart
from ._nodes import norm_of

LR, NORMS = "lr", "grad_norm"
"""The names in a history of the learning rate, and of the norms of gradients by layer."""


class History(list[dict[str, Any]]):
    """What a training tells of itself: one dict for each step, as :func:`training` draws them.

    :meth:`note` takes the learning rate from the optimizer and the norms of the gradients, by the
    module that holds the parameters, from the model.

    >>> model = nn.Linear(2, 1)
    >>> history = History(model, torch.optim.SGD(model.parameters(), lr=0.1))
    >>> model(torch.ones(1, 2)).sum().backward()
    >>> history.note(loss=0.5)
    >>> history[0]["lr"], sorted(history[0])
    (0.1, ['grad_norm', 'loss', 'lr'])
    """

    def __init__(self, model: nn.Module | None = None,
                 optimizer: optim.Optimizer | None = None) -> None:
        super().__init__()
        self.model, self.optimizer = model, optimizer

    def note(self, **values: Any) -> None:
        """Add a step: numbers by name, such as ``loss=...``."""
        step: dict[str, Any] = {name: _number(name, value) for name, value in values.items()}
        if self.optimizer is not None:
            step[LR] = _number(LR, self.optimizer.param_groups[0]["lr"])
        if self.model is not None:
            step[NORMS] = gradient_norms(self.model)
        self.append(step)


def gradient_norms(model: nn.Module) -> dict[str, float]:
    """The norm of the gradients of each module's own parameters, those that have any."""
    found: dict[str, list[float]] = {}
    for name, parameter in model.named_parameters():
        norm = None if parameter.grad is None else norm_of(parameter.grad)
        if norm is not None:
            found.setdefault(name.rpartition(".")[0] or name, []).append(norm)
    return {name: math.hypot(*norms) for name, norms in found.items()}


class Panel(NamedTuple):
    """One chart: what it is called and its curves."""

    title: str
    curves: Mapping[str, Points]
    is_log: bool


class Picture(str):
    """An SVG document that a notebook shows."""

    def _repr_svg_(self) -> str:
        return str(self)

    def savefig(self, path: str | Path) -> None:
        """Write it to a file whose name ends in .svg."""
        if Path(path).suffix.lower() != ".svg":
            raise ValueError(f"expected a name that ends in .svg, got {str(path)!r}: other formats "
                             "take matplotlib")
        Path(path).write_text(self, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} characters of SVG>"


def training(history: Any, *, title: str = "Training", step: str = "step",
             backend: str | None = None) -> Any:
    """Draw loss, learning rate and gradient norms by layer, step by step.

    ``history`` is a :class:`History`, any sequence of dicts, or a dict of sequences: numbers by
    name, of which "lr" is the learning rate and "grad_norm" has a number, or a dict of them by
    layer; all others are losses. ``step`` is what a step is called. Returns a figure of matplotlib
    where that is installed, else a :class:`Picture`; ``backend`` may ask for "matplotlib" or "svg".
    """
    panels = _panels(history)
    if backend not in (None, "matplotlib", "svg"):
        raise ValueError(f'backend must be "matplotlib" or "svg", got {backend!r}')
    if backend == "svg" or (backend is None and find_spec("matplotlib") is None):
        return Picture(below_each_other([
            line_chart(panel.curves, panel.title if number else title,
                       "" if number else panel.title, step,
                       panel.title + " (logarithmic)" * panel.is_log, panel.is_log)
            for number, panel in enumerate(panels)]))
    return _figure(panels, title, step)


def _panels(history: Any) -> list[Panel]:
    curves = _curves(history)
    losses = {name: points for name, points in curves.items()
              if name != LR and not name.startswith(NORMS)}
    norms = {name.removeprefix(NORMS + ".") or name: points for name, points in curves.items()
             if name.startswith(NORMS)}
    found = [Panel("loss", losses, _is_wide(losses)),
             Panel("learning rate", {LR: curves[LR]} if LR in curves else {}, False),
             Panel("gradient norm", norms, _is_wide(norms))]
    drawn = [panel for panel in found if any(
        math.isfinite(y) for points in panel.curves.values() for _, y in points)]
    if not drawn:
        raise ValueError("there is nothing to draw: the history holds no finite number")
    return drawn


def _is_wide(curves: Mapping[str, Points]) -> bool:
    """Whether values differ so much that only their logarithms can be seen."""
    values = [y for points in curves.values() for _, y in points if math.isfinite(y)]
    return bool(values) and min(values) > 0 and max(values) > 5 * min(values)


def _curves(history: Any) -> dict[str, list[tuple[float, float]]]:
    """The curves of a history by name; norms by layer are called ``grad_norm.layer``."""
    if isinstance(history, Mapping):
        columns = dict(_flat(history))
        if any(not isinstance(value, Iterable) for value in columns.values()):
            raise TypeError("training() takes a dict of sequences, or a sequence of dicts")
        return {name: [(float(step), _number(name, value)) for step, value in enumerate(values)]
                for name, values in columns.items()}
    if not isinstance(history, Sequence) or not all(isinstance(s, Mapping) for s in history):
        raise TypeError("training() takes a dict of sequences, or a sequence of dicts, not "
                        f"{type_name(history)}")
    found: dict[str, list[tuple[float, float]]] = {}
    for number, step in enumerate(history):
        for name, value in _flat(step):
            found.setdefault(name, []).append((float(number), _number(name, value)))
    return found


def _flat(values: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", each) for inner, each in value.items())
        else:
            yield name, value


def _number(name: str, value: Any) -> float:
    try:
        return float(value.detach().item() if isinstance(value, Tensor) else value)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{name} must be a number, not {type_name(value)}") from None


def _figure(panels: list[Panel], title: str, step: str) -> Any:
    """The panels as a figure of matplotlib."""
    figure = import_module("matplotlib.figure").Figure(figsize=(8, 2.9 * len(panels) + 0.4),
                                                       layout="constrained")
    figure.suptitle(title)
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axis, panel in zip(axes, panels):
        for name, points in panel.curves.items():
            axis.plot(*zip(*points), label=name)
        axis.set_ylabel(panel.title)
        axis.grid(alpha=0.3)
        if panel.is_log:
            axis.set_yscale("log")
        if len(panel.curves) > 1:
            axis.legend(fontsize="small", ncols=1 + len(panel.curves) // 12)
    axes[-1].set_xlabel(step)
    return figure
