"""NumPy's linear algebra in the precision of its arguments.

NumPy's own functions compute single precision in double, in twice the time and memory, though
the loops under them exist in both; but for QR, which :mod:`.matrices` has another way for.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from ..interface import LINALG, part


class _Loops:
    """The loops, without the signatures that ask for double precision."""

    def __init__(self, library: Any) -> None:
        self.library = library

    def __getattr__(self, name: str) -> Any:
        loop = getattr(self.library, name)
        return lambda *args, signature=None: loop(*args)


def _common_type(*arrays: Any) -> tuple[Any, Any]:
    """The type to compute in, and the same for the result."""
    kind = np.result_type(*arrays)
    kind = kind if kind.char in "fdFD" else np.dtype(np.float64)
    return kind.type, kind.type


def _keeping(function: Any) -> Any:
    """NumPy's function on other global names, which is all that it takes."""
    body: Any = getattr(function, "_implementation", None)
    names = dict(getattr(body, "__globals__", {}))
    if "_umath_linalg" not in names:
        return function
    names |= {"_umath_linalg": _Loops(names["_umath_linalg"]), "_commonType": _common_type}
    made = FunctionType(body.__code__, names, body.__name__, body.__defaults__, body.__closure__)
    made.__kwdefaults__ = body.__kwdefaults__
    return made


linalg = part(np.linalg, LINALG)
for _name, _function in list(vars(linalg).items()):
    if _name in LINALG and _name != "qr" and not isinstance(_function, type):
        setattr(linalg, _name, _keeping(_function))
