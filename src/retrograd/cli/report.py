"""The demo's report: one page with the curves, the graph and examples."""

from __future__ import annotations

import base64
import html
from importlib.resources import files
from typing import NamedTuple

from .. import viz
from ..core.tensor import Tensor
from ..utils.tensorboard._images import png, to_bytes
from ..viz._page import filled, palette

_RIGHT_ONES, _WRONG_ONES = 24, 24


class Read(NamedTuple):
    """A digit, what it is, what it was taken for, and how surely."""

    image: Tensor
    label: int
    answer: int
    certainty: float


def report(title: str, summary: str, facts: dict[str, str], history: viz.History,
           graph: viz.Graph, digits: list[Read]) -> str:
    """The whole page; nothing in it comes from anywhere else."""
    wrong = [read for read in digits if read.answer != read.label][:_WRONG_ONES]
    right = [read for read in digits if read.answer == read.label][:_RIGHT_ONES]
    return filled(
        files(__package__).joinpath("report.html").read_text(encoding="utf-8"),
        title=html.escape(title), summary=html.escape(summary), palette=palette(),
        facts="".join([f"<div><b>{html.escape(value)}</b>{html.escape(name)}</div>"
                       for name, value in facts.items()]),
        curves=str(viz.training(history, title=title, step="epoch", backend="svg")),
        graph=graph._repr_html_(), examples="".join(map(_figure, [*wrong, *right])))


def _figure(read: Read) -> str:
    is_wrong = read.answer != read.label
    said = f"{read.answer}, is {read.label}" if is_wrong else str(read.answer)
    return (f'<figure{" class=wrong" * is_wrong}><img alt="a handwritten {read.label}" '
            f'src="data:image/png;base64,{base64.b64encode(_png(read.image)).decode()}">'
            f"<figcaption>{said}<small>{read.certainty:.0%} sure</small></figcaption></figure>")


def _png(image: Tensor) -> bytes:
    """A picture with one channel of values from 0 to 1, dark on light."""
    return png(to_bytes((1 - image).permute(1, 2, 0)._array()))
