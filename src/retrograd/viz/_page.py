"""The page on which a graph is explored: one file, with nothing to fetch."""

from __future__ import annotations

import html
import json
import math
import os
from dataclasses import fields
from importlib.resources import files
from typing import Any

from ._boxes import HEIGHT, PADDING, TITLE
from ._drawing import CLOSED
from ._palette import COLORS, SANS, shape_text
from ._records import Records, Vertex


def page(records: Records, labels: list[tuple[str, str]], box_labels: list[tuple[str, str]],
         title: str) -> str:
    """The whole HTML document."""
    data = {"title": title, "font": SANS, "colors": list(COLORS),
            "sizes": {"height": HEIGHT, "padding": PADDING, "title": TITLE, "closed": CLOSED},
            "vertices": [{"label": label, **_plain(vertex)}
                         for vertex, (label, _) in zip(records.vertices, labels)],
            "edges": records.edges,
            "boxes": [{"name": box.name, "type": box.type, "parent": box.parent,
                       "title": known, "more": more, "rows": box.rows,
                       "parts": [[part.kind, part.ref, *_rounded(part[2:])] for part in box.parts],
                       "gaps": _rounded(box.gaps), "lines": box.lines,
                       "left": round(box.left, 1), "right": round(box.right, 1),
                       "closed": round(box.closed, 1)}
                      for box, (known, more) in zip(records.boxes, box_labels)]}
    return filled(_file("explorer.html"), title=html.escape(title), palette=palette(),
                  style=_file("explorer.css"), script=_file("explorer.js"), data=as_json(data))


def as_json(value: Any) -> str:
    """JSON that can stand in a script element: no text in it can end the element."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def filled(template: str, **texts: str) -> str:
    """A template with its ``{{names}}`` replaced; what is put in is not looked through again."""
    parts = template.split("{{")
    return parts[0] + "".join([texts[name] + rest for name, rest in
                               (part.split("}}", 1) for part in parts[1:])])


def palette() -> str:
    """The colours as CSS variables, by what the reader's system prefers or the page is told."""
    light, dark = ("".join([f"--{name}:{shades[shade]};" for name, shades in COLORS.items()])
                   for shade in (0, 1))
    return (f":root{{--sans:{SANS};color-scheme:light dark;{light}}}\n"
            f"@media(prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
            f":root[data-theme=light]{{color-scheme:light;{light}}}\n"
            f":root[data-theme=dark]{{color-scheme:dark;{dark}}}")


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _plain(vertex: Vertex) -> dict[str, Any]:
    """What there is to say of a vertex; whatever is empty is left out."""
    found = {field.name: getattr(vertex, field.name) for field in fields(vertex)}
    found["shape"] = shape_text(vertex.shape)
    found["saved"] = [(each.name, shape_text(each.shape), each.dtype, each.bytes)
                      for each in vertex.saved]
    if vertex.place is not None:
        found["place"] = vertex.place._replace(file=_near(vertex.place.file))
    if vertex.norm is not None and not math.isfinite(vertex.norm):
        found["norm"] = str(vertex.norm)
    return {name: value for name, value in found.items()
            if value or (name == "norm" and value is not None)}


def _near(file: str) -> str:
    """The name of a file as seen from where the program runs, if it lies below."""
    here = os.getcwd() + os.sep
    return file.removeprefix(here)


def _rounded(values: Any) -> list[float]:
    return [round(value, 1) for value in values]
