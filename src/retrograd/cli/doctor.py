"""``retrograd doctor``: the names of torch that a program uses, read from its source."""

from __future__ import annotations

import ast
import builtins
import json
import sys
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import retrograd

from ..base import missing_names

_GUARDS = {"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"}


class Uses(ast.NodeVisitor):
    """The names of torch in one file, each with the lines where it stands.

    A name is known by what was imported, and by plain assignments of such names. Whether
    ``x.name`` is a method of a tensor cannot be seen: it is a guess wherever PyTorch's tensors have
    a method of this name and ours have not.
    """

    def __init__(self) -> None:
        self.aliases: dict[str, str] = {}
        self.certain: dict[str, list[int]] = {}
        self.guarded: dict[str, list[int]] = {}
        self.methods: dict[str, list[int]] = {}
        self.guards = 0

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name.partition(".")[0] == "torch":
                self._use(alias.name, node)
                self.aliases[alias.asname or "torch"] = alias.name if alias.asname else "torch"

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level or str(node.module).partition(".")[0] != "torch":
            return
        for alias in node.names:
            full = str(node.module) if alias.name == "*" else f"{node.module}.{alias.name}"
            self._use(full, node)
            self.aliases[alias.asname or alias.name] = full

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        name = self._torch_name(node.value)
        for target in node.targets:
            if name and isinstance(target, ast.Name):
                self.aliases[target.id] = name

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = self._torch_name(node)
        if name is not None:
            self._use(name, node)
        else:
            if isinstance(node.ctx, ast.Load):
                self.methods.setdefault(node.attr, []).append(node.lineno)
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        match node:
            case ast.Call(ast.Name("getattr"), [of, ast.Constant(str() as attribute)]):
                owner = self._torch_name(of)
                if owner is not None:
                    self._use(f"{owner}.{attribute}", node)
        self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> None:
        caught = [n.id for handler in node.handlers if handler.type is not None
                  for n in ast.walk(handler.type) if isinstance(n, ast.Name)]
        is_guard = bool(_GUARDS & set(caught)) or any(h.type is None for h in node.handlers)
        self.guards += is_guard
        for statement in node.body:
            self.visit(statement)
        self.guards -= is_guard
        for other in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(other)

    def _torch_name(self, node: ast.AST) -> str | None:
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.aliases:
            return None
        return ".".join([self.aliases[node.id], *reversed(parts)])

    def _use(self, name: str, node: Any) -> None:
        found = self.guarded if self.guards else self.certain
        found.setdefault(name, []).append(node.lineno)


def resolve(name: str) -> tuple[str, bool]:
    """The part of a name that is torch's (not an attribute of some value), and whether it exists.

    ``torch.float32.itemsize`` asks for ``torch.float32`` alone.
    """
    owner: Any = retrograd
    parts = name.split(".")
    if parts[1:2] and parts[1] in vars(retrograd)["_INTERNAL"]:
        return ".".join(parts[:2]), False
    for place, part in enumerate(parts[1:], 2):
        known = ".".join(parts[:place])
        if not isinstance(owner, ModuleType | type):
            return ".".join(parts[:place - 1]), True
        try:
            owner = getattr(owner, part)
        except AttributeError:
            owner = _submodule(known) if isinstance(owner, ModuleType) else None
            if owner is None:
                return known, False
    return name, True


def _submodule(name: str) -> ModuleType | None:
    try:
        return import_module("retrograd" + name.removeprefix("torch"))
    except ImportError:
        return None


def examine(paths: list[Path]) -> dict[str, Any]:
    """What the files use of torch: names that are here, that are missing, and guesses."""
    report: dict[str, dict[str, Any]] = {"here": {}, "missing": {}, "guarded": {}, "perhaps": {}}
    for path in paths:
        uses = Uses()
        uses.visit(ast.parse(path.read_bytes(), str(path)))
        for group, found in (("missing", uses.certain), ("guarded", uses.guarded)):
            for name, lines in found.items():
                part, exists = resolve(name)
                places = report["here" if exists else group].setdefault(part, [])
                places += [f"{path}:{line}" for line in lines]
        if uses.aliases:
            for name in uses.methods.keys() & _methods_we_lack():
                places = report["perhaps"].setdefault(f"Tensor.{name}", [])
                places += [f"{path}:{line}" for line in uses.methods[name]]
    return {group: dict(sorted(found.items())) for group, found in report.items()}


def _methods_we_lack() -> frozenset[str]:
    """Methods of PyTorch's tensors alone, that no builtin type has."""
    common = {n for kind in vars(builtins).values() if isinstance(kind, type) for n in dir(kind)}
    return missing_names.pytorch_names()["Tensor"] - set(dir(retrograd.Tensor)) - common


def files_of(names: list[str]) -> Iterator[Path]:
    """The Python files that are named, and those in the folders that are."""
    for path in map(Path, names):
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def doctor(names: list[str], as_json: bool) -> int:
    """Print what programs use of torch; 1 if something is missing, 2 if a file cannot be read."""
    try:
        paths = list(files_of(names))
        report = examine(paths)
    except (OSError, SyntaxError, ValueError) as error:
        print(f"retrograd doctor: error: {error}", file=sys.stderr)
        return 2
    if as_json:
        print(json.dumps(report, indent=1))
    else:
        print("\n".join(_lines(report, len(paths))))
    return 1 if report["missing"] else 0


_TITLES = {"missing": "missing:", "guarded": "missing, where the program is prepared for it:",
           "perhaps": "perhaps missing, if these are methods of tensors:"}


def _lines(report: dict[str, Any], files: int) -> Iterator[str]:
    for group, title in _TITLES.items():
        if report[group]:
            yield title
        for name, places in report[group].items():
            more = f" and {len(places) - 1} more" if len(places) > 1 else ""
            yield f"  {name}  {places[0]}{more}{_instead(name)}"
    if report["here"]:
        yield "here:"
        yield textwrap.fill(", ".join(report["here"]), 100, initial_indent="  ",
                            subsequent_indent="  ")
    count = "1 file" if files == 1 else f"{files} files"
    yield (f"{count}: {len(report['here'])} names of torch are here, "
           f"{len(report['missing'])} missing")


def _instead(name: str) -> str:
    space, _, last = name.removeprefix("torch.").rpartition(".")
    found = missing_names.hint(last, space, ()).partition("there is ")[2]
    return found and f"  (there is {found})"
