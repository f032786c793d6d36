"""Derivative rules as source text: what a rule computes, written out where it is needed.

A rule is run once on names instead of arrays. If all it does with them is arithmetic and
elementwise functions, the text that comes out replaces a call of the rule; any other rule refuses
by raising, and is called.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from ..backend import xp
from .binding import Meaning, bound, direct, same
from .op import Op

_NUMBERS = (int, float)


class NotAFormula(Exception):
    """A rule does more than arithmetic."""


class Formula:
    """An expression in the making; ``source`` is its text."""

    __slots__ = ("source", "spent", "text")

    def __init__(self, text: Text, source: str):
        self.text, self.source = text, source
        self.spent = False

    def __neg__(self) -> Formula:
        return Formula(self.text, f"(-{self.text.use(self)})")

    def _refuse(self, *args: Any) -> Any:
        raise NotAFormula

    __bool__ = __eq__ = __ne__ = _refuse  # type: ignore[assignment]
    __getattr__ = __getitem__ = __iter__ = __len__ = __call__ = __pow__ = _refuse
    __matmul__ = __rmatmul__ = __rpow__ = _refuse
    __hash__ = None  # type: ignore[assignment]


def _operator(sign: str, is_reflected: bool = False) -> Any:
    return lambda self, other: self.text.binary(other, sign, self) if is_reflected \
        else self.text.binary(self, sign, other)


for _name, _sign in {"add": "+", "sub": "-", "mul": "*", "truediv": "/"}.items():
    setattr(Formula, f"__{_name}__", _operator(_sign))
    setattr(Formula, f"__r{_name}__", _operator(_sign, is_reflected=True))
for _name, _sign in {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
    setattr(Formula, f"__{_name}__", _operator(_sign))


class Text(Meaning):
    """What one rule computes: the expression, and the constants and functions it names."""

    def __init__(self, kernels: dict[str, Any]):
        super().__init__()
        self.kernels = kernels
        self.constants: list[float] = []

    def use(self, part: Formula) -> str:
        """The text of a part; one that is not just a name may be used once."""
        if not part.source.isidentifier():
            if part.spent:
                raise NotAFormula
            part.spent = True
        return part.source

    def binary(self, left: Any, sign: str, right: Any) -> Formula:
        return Formula(self, f"({self.operand(left)} {sign} {self.operand(right)})")

    def operand(self, value: Any) -> str:
        if isinstance(value, Formula):
            return self.use(value)
        if type(value) not in _NUMBERS:
            raise NotAFormula
        self.constants.append(value)
        return f"constants[{len(self.constants) - 1}]"

    def of(self, value: Any, bind: Any) -> Any:
        if isinstance(getattr(value, "op", None), Op):
            return self.function(value.op)
        if value is xp:
            return _Backend(self)
        return value if value is math or isinstance(value, _NUMBERS) else self.refuse

    def function(self, op: Op) -> Any:
        if op.keeps_reals:
            return same
        if op.static or op.outputs or op.has_list:
            return self.refuse
        call = self.call(f"{op.name}_kernel", direct(op.kernel), len(op.params))
        if op.kind != "elementwise":
            return lambda *values: call(*values) if all(map(_is_name, values)) else self.refuse()
        if not _is_arithmetic(op):
            return call
        formula = bound(op.kernel, self)
        return lambda *values: formula(*values) if all(map(_is_name, values)) else call(*values)

    def call(self, name: str, kernel: Any, arity: int) -> Any:
        def called(*values: Any) -> Formula:
            if len(values) != arity:
                raise NotAFormula
            return Formula(self, f"{name}({', '.join([self.operand(v) for v in values])})")

        self.kernels[name] = kernel
        return called

    def refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise NotAFormula


@cache
def _is_arithmetic(op: Op) -> bool:
    """Whether a kernel of several operands is a formula itself, which may be written out in others.
    """
    return len(op.params) > 1 and written_out(op.kernel, [*op.by_name], {}) is not None


def _is_name(value: Any) -> bool:
    return isinstance(value, Formula) and value.source.isidentifier()


class _Backend:
    """The backend inside a formula: its elementwise functions."""

    def __init__(self, text: Text):
        self.text = text

    def __getattr__(self, name: str) -> Any:
        function = getattr(xp, name)
        arity = getattr(function, "nin", 0)  # only elementwise functions have it
        return self.text.call(f"xp_{name}", function, arity) if arity else self.text.refuse


def written_out(rule: Any, arguments: list[str | None],
                kernels: dict[str, Any]) -> tuple[str, list[float]] | None:
    """A rule or kernel on real arrays as an expression, with its constants: ``constants[0]``...

    ``arguments`` are the names its array arguments have where the expression will stand, None for
    what is not an array. The kernels the expression names are added to ``kernels``.
    """
    text = Text(kernels)
    if not all(arguments):
        return None
    try:
        found = bound(rule, text)(*[Formula(text, a) for a in arguments if a is not None])
    except (NotAFormula, NameError, TypeError, AttributeError):
        return None
    finally:
        text.functions.clear()  # it names the text, and would keep it until the next collection
    if not isinstance(found, Formula):
        return None
    source = found.source
    return (source[1:-1] if source.startswith("(") else source), text.constants
