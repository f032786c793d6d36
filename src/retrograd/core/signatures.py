"""What a function shows of itself to ``inspect.signature``, ``help`` and editors at run time.

The code of an op's function says little before its first call, and afterwards it has defaults that
only word errors. So each function carries its signature, worked out when somebody looks at it.
"""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any

from ..base.errors import REQUIRED

_GIVEN = {"Array": "Tensor", "Arrays": "Sequence[Tensor]", "Index": "Tensor", "Dim": "int",
          "Dims": "int | Sequence[int] | None", "Ints": "int | Sequence[int]",
          "Sizes": "int | Sequence[int]"}
"""What a caller gives, for each word that only declarations have."""


def public(annotation: Any) -> str:
    """What a caller gives for an argument that a declaration annotates so."""
    return " | ".join([_GIVEN.get(word, word) for word in str(annotation).split(" | ")])


class SignatureOfOp(Signature):
    """The signature that an op's declaration gives to a function, worked out when looked at."""

    __slots__ = ("_op", "_with_out")

    def __init__(self, op: Any, with_out: bool):
        self._op = op
        self._with_out = with_out

    def __getattr__(self, name: str) -> Any:
        # What a signature knows lies in slots, which are empty as yet.
        if name not in Signature.__slots__:
            raise AttributeError(name)
        known = self._known()
        super().__init__(tuple(known.parameters.values()),
                         return_annotation=known.return_annotation)
        return getattr(self, name)

    def _known(self) -> Signature:
        return signature_of(self._op, self._with_out)

    def replace(self, **changes: Any) -> Signature:  # type: ignore[override]
        return self._known().replace(**changes)

    __replace__ = replace  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return self._known().__reduce__()


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
        parameters.append(Parameter("out", Parameter.KEYWORD_ONLY, default=None,
                                    annotation="Tensor | None"))
    result = "tuple[Tensor, ...]" if op.outputs else "Tensor"
    return Signature(parameters, return_annotation=result)


def hide_required(function: Any) -> None:
    """Have a function show no default where it only words the error of a missing argument."""
    if REQUIRED not in (function.__defaults__ or ()):
        return
    found = Signature.from_callable(function)
    function.__signature__ = found.replace(parameters=[
        p.replace(default=Parameter.empty) if p.default is REQUIRED else p
        for p in found.parameters.values()])
