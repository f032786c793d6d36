"""The reference, from signatures and docstrings: a page for each namespace."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from typing import Any

from retrograd.ops import late

SPACES = {
    "": "Functions", "Tensor": "", "autograd": "", "autograd.functional": "",
    "autograd.graph": "", "autograd.forward_ad": "", "func": "Transforms", "nn": "Modules",
    "nn.functional": "Functions of modules", "nn.init": "", "nn.utils": "", "optim": "Optimizers",
    "optim.lr_scheduler": "", "utils.data": "Data", "utils.checkpoint": "", "linalg": "",
    "special": "", "fft": "", "distributions": "", "profiler": "",
    "autograd.profiler": "", "viz": "Pictures", "amp": "", "testing": "", "sparse": "",
    "utils.benchmark": ""}
"""The namespaces, with the titles of their pages where the name would not say enough."""


def contents() -> Iterator[tuple[str, str]]:
    """The title and the path of each page."""
    for space, title in SPACES.items():
        full = f"torch.{space}".rstrip(".")
        yield f"{full}: {title.lower()}" if title else full, _path(space)


def pages() -> Iterator[tuple[str, Callable[[], str]]]:
    """The path of each page, and what makes it."""
    for space in SPACES:
        yield _path(space), partial(page, space)


def _path(space: str) -> str:
    return f"api/{space or 'torch'}.md"


@cache
def page(space: str) -> str:
    """A page: what the namespace is for, and each of its names."""
    late.load_all()
    full = f"torch.{space}".rstrip(".")
    if space == "Tensor":
        from retrograd import Tensor as home
    else:
        home = import_module(f"retrograd.{space}".rstrip("."))
    lines = [f"# {full}", "", _prose(inspect.getdoc(home) or ""), ""]
    for name, value in sorted(members(home).items(), key=lambda item: item[0].lower()):
        lines += [*entry(f"{full}.{name}", name, value), ""]
        if inspect.isclass(value) and space:
            for inner, method in sorted(methods(value).items()):
                lines += [f"**`{inner}{signature(method)}`**: "
                          + _prose(inspect.getdoc(method) or "").replace("\n", " "), ""]
    return "\n".join(lines)


def members(home: Any) -> dict[str, Any]:
    """The public functions and classes of a namespace that say what they are."""
    names = dir(home) if inspect.isclass(home) else getattr(home, "__all__", None) or dir(home)
    found = {name: getattr(home, name, None) for name in names if not name.startswith("_")}
    return {name: value for name, value in found.items()
            if (inspect.isclass(value) or callable(value)) and inspect.getdoc(value)
            and not inspect.ismodule(value)
            and str(getattr(value, "__module__", "retrograd")).startswith("retrograd")}


def methods(cls: type) -> dict[str, Any]:
    """The public methods that a class defines itself."""
    return {name: value for name, value in vars(cls).items()
            if not name.startswith("_") and inspect.isfunction(value) and inspect.getdoc(value)
            and value.__doc__}


def entry(full: str, name: str, value: Any) -> list[str]:
    """The heading, the signature and what the docstring says."""
    text = inspect.getdoc(value) or ""
    return [f"### {name}", "", f"`{full}{signature(value)}`", "", _prose(text)]


def signature(value: Any) -> str:
    """The signature of a callable, without annotations, as short as it is read."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "(…)"
    parts = [p.replace(annotation=p.empty, default=p.default if p.default is p.empty or len(
        repr(p.default)) < 25 else ...) for p in found.parameters.values() if p.name != "self"]
    text = str(found.replace(parameters=parts, return_annotation=inspect.Signature.empty))
    return re.sub(r"<[^<>]*>", "…", text)


def _prose(text: str) -> str:
    """A docstring as Markdown."""
    text = re.sub(r":\w+:`[~.]*([^`]+)`", r"`\1`", text).replace("``", "`")
    lines: list[str] = []
    in_example = False
    for line in text.splitlines():
        if line.lstrip().startswith(">>>") and not in_example:
            lines += ["", "```pycon"]
            in_example = True
        elif in_example and not line.strip():
            lines.append("```")
            in_example = False
        lines.append(line if in_example else line.replace("<", "&lt;") if "`" not in line else line)
    return "\n".join([*lines, "```"] if in_example else lines)
