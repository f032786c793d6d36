"""Names that do not exist: what is nearby, what there is instead, and whether PyTorch has them."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from .loading import loaded

_PACKAGE = __name__.partition(".")[0]
_SPACES = ("", "Tensor", "nn.functional", "linalg", "special", "nn", "optim", "func", "autograd",
           "autograd.functional", "optim.lr_scheduler", "nn.utils", "nn.init", "utils.data")
"""Where a name may be found that was looked for elsewhere; the top level has no name."""
MET: dict[tuple[str, str], None] | None = None
"""The namespaces and names that were looked for in vain, where somebody wants to know."""


class _Words:
    """The text of an error, found when it is read: most are caught by ``hasattr``."""

    __slots__ = ("start", "name", "space", "owner")

    def __init__(self, start: str, name: str, space: str, owner: Any) -> None:
        self.start, self.name, self.space, self.owner = start, name, space, owner

    def __str__(self) -> str:
        return self.start + hint(self.name, self.space, dir(self.owner))

    def __repr__(self) -> str:
        return repr(str(self))

    def __reduce__(self) -> Any:
        return str, (str(self),)


def missing(start: str, name: str, space: str, owner: Any) -> AttributeError:
    """The error of a name that ``owner`` lacks; PyTorch calls the place ``space``.

    It carries no object, of which Python would make a suggestion of its own beside this one.
    """
    if name.startswith("_"):  # asked for by protocols, in vain and often
        return AttributeError(start, name=name)
    note(space, name)
    return AttributeError(_Words(start, name, space, owner), name=name)


def note(space: str, name: str) -> None:
    """Remember that a name was looked for in vain."""
    if MET is not None:
        MET[space, name] = None


def met_of_pytorch() -> list[tuple[str, str]]:
    """The names that were looked for in vain and that PyTorch has, or may have."""
    known = pytorch_names()
    return [(space, name) for space, name in MET or () if name in known.get(space, (name,))
            and ".".join(filter(None, (_PACKAGE, space, name))) not in sys.modules]


def missing_attribute(owner: Any, name: str, space: str) -> AttributeError:
    """The error of an attribute that an object lacks."""
    return missing(f"'{type(owner).__name__}' object has no attribute '{name}'", name, space, owner)


def refuse(module: str, name: str) -> NoReturn:
    """Raise the error of a name that a module lacks."""
    owner, space = sys.modules[module], module.partition(".")[2]
    error = missing(f"module '{module}' has no attribute '{name}'", name, space, owner)
    if name.startswith("_") or f"{module}.{name}" in sys.modules or not _is_from_import():
        raise error
    words = _Words(f"cannot import name '{name}' from '{module}'", name, space, owner)
    raise ImportError(words, name=module, path=getattr(owner, "__file__", None))


def _is_from_import() -> bool:
    """Whether the program is at a ``from ... import``, which drops the words of AttributeErrors."""
    from opcode import opmap

    frame = sys._getframe(2)
    while frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE and frame.f_back:
        frame = frame.f_back
    return frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"]


def suggest_names(module: str) -> None:
    """Let a module and its parts say what is near a name that they lack; checkers see nothing."""
    for name, part in sys.modules.copy().items():
        if name == module or name.startswith(module + "."):
            vars(part).setdefault("__getattr__", functools.partial(refuse, part.__name__))


def hint(name: str, space: str, names: Iterable[str]) -> str:
    """What to say of a missing name, after that it is missing; ``names`` are those that exist."""
    instead = next(_elsewhere(name, space), "")
    if name in pytorch_names().get(space, ()):
        from .missing_reasons import reason

        why = reason(name)
        return ": PyTorch has it, retrograd does not" + (f": {why}" if why else " yet") + (
            instead and f"; there is {instead}")
    if instead:
        return f"; there is {instead}"
    import difflib

    near = difflib.get_close_matches(name, [n for n in names if not n.startswith("_")])
    quoted = " or ".join(", ".join(map(repr, near)).rsplit(", ", 1))
    return (near and f". Did you mean {quoted}?") or ""


def _elsewhere(name: str, space: str) -> Iterator[str]:
    """Where retrograd has something of this name, or the function that a module is made of."""
    known = pytorch_names()
    for other in sorted(_SPACES, key=lambda place: name not in known.get(place, (name,))):
        found = namespace(other)
        if other != space and name in found:
            yield ".".join(filter(None, (_PACKAGE, other, name)))
    if space == "nn":
        written = {n.replace("_", ""): n for n in namespace("nn.functional")}
        bare = name.lower()
        for key in (bare, bare.removesuffix("loss"), re.sub(r"\dd$", "", bare)):
            if key in written:
                yield f"{_PACKAGE}.nn.functional.{written[key]}"


def namespace(space: str) -> dict[str, Any]:
    """The public names of one of our namespaces, which PyTorch calls ``space``."""
    if space == "Tensor":
        found = dict.fromkeys(dir(sys.modules[_PACKAGE].Tensor))
    else:
        found = vars(loaded(".".join(filter(None, (_PACKAGE, space)))))
    # A copy is made at once; a list of pairs is not, and other threads may load names meanwhile.
    return {n: value for n, value in found.copy().items() if not n.startswith("_")}


def pytorch_names() -> dict[str, frozenset[str]]:
    """PyTorch's public names, by namespace."""
    with open(os.path.splitext(__file__)[0] + ".txt", encoding="utf-8") as file:
        lines = file.read().splitlines()
    return {space: frozenset(names.split()) for space, names in
            (line.split(":") for line in lines if not line.startswith("#"))}
