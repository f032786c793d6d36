"""What a function shows of itself to ``inspect.signature``, ``help`` and editors at run time.

The code of an op's function says little before its first call, and afterwards it has defaults that
only word errors. So each function carries its signature, worked out when somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

from ..base.errors import REQUIRED

_GIVEN = {"Array": "Tensor", "Arrays": "Sequence[Tensor]", "Index": "Tensor", "Dim": "int",
          "Dims": "int | Sequence[int] | None", "Ints": "int | Sequence[int]",
          "Sizes": "int | Sequence[int]", "Flag": "bool", "LooseInt": "int", "LooseFloat": "float"}
"""What a caller gives, for each word that only declarations have."""
_WORDS = frozenset(f"{word}{rest}" for word in _GIVEN for rest in ("", " | None"))


def named(name: str, doc: str | None = None) -> Callable[[Any], Any]:
    """Call the function below, which another function makes, by a name of its own."""

    def call(function: Any) -> Any:
        function.__name__ = function.__qualname__ = name
        function.__doc__ = doc or function.__doc__
        return function

    return call


def public(annotation: Any) -> str:
    """What a caller gives for an argument that a declaration annotates so."""
    return " | ".join([_GIVEN.get(word, word) for word in str(annotation).split(" | ")])


class LateSignature(Signature):
    """A signature that is worked out, by a function of ``facts``, when it is looked at."""

    __slots__ = ("_facts", "_find")

    def __init__(self, find: Callable[..., Signature], *facts: Any):
        self._find = find
        self._facts = facts

    def __getattr__(self, name: str) -> Any:
        # What a signature knows lies in slots, which are empty as yet.
        if name not in Signature.__slots__:
            raise AttributeError(name)
        known = self._known()
        super().__init__(tuple(known.parameters.values()),
                         return_annotation=known.return_annotation)
        return getattr(self, name)

    def _known(self) -> Signature:
        return self._find(*self._facts)

    def replace(self, **changes: Any) -> Signature:  # type: ignore[override]
        return self._known().replace(**changes)

    __replace__ = replace  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return self._known().__reduce__()


_OUT = Parameter("out", Parameter.KEYWORD_ONLY, default=None, annotation="Tensor | None")


def signature_of(op: Any, with_out: bool) -> Signature:
    """The signature of an op's function on tensors."""
    notes = op.kernel.__annotations__
    parameters = [
        Parameter(p.name,
                  Parameter.KEYWORD_ONLY if p.keyword_only else Parameter.POSITIONAL_OR_KEYWORD,
                  default=Parameter.empty if p.required else p.default,
                  annotation=public(notes.get(p.name, "Any"))
                  + (" | Number" if p.name in op.numbers else ""))
        for p in op.params]
    if with_out:
        parameters.append(_OUT)
    result = "tuple[Tensor, ...]" if op.outputs else "Tensor"
    return Signature(parameters, return_annotation=result)


def show_plainly(function: Any) -> None:
    """Have a function made of ops show what a caller gives, and no default that words an error."""
    if REQUIRED in (function.__defaults__ or ()) or not _WORDS.isdisjoint(
            function.__annotations__.values()):
        plain = getattr(function, "unguarded", None)
        function.__signature__ = LateSignature(_plain, plain) if plain else _plain(function)


def _plain(function: Any) -> Signature:
    found = Signature.from_callable(function)
    return found.replace(parameters=[
        p.replace(default=Parameter.empty if p.default is REQUIRED else p.default,
                  annotation=public(p.annotation)) for p in found.parameters.values()])


def with_out(function: Any) -> Signature:
    """The signature of a function made of ops, whose results may go into given tensors."""
    found = _plain(function)
    out = _OUT if found.return_annotation == "Tensor" else _OUT.replace(annotation="Any")
    return found.replace(parameters=[*found.parameters.values(), out])
