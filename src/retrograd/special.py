"""The public namespace ``retrograd.special``: what the ops declare for it."""

from __future__ import annotations

from . import ops as _ops  # noqa: F401 - declares them
from .base.missing_names import suggest_names as _suggest_names
from .core.op import PUBLIC as _PUBLIC
from .ops.elementwise import polynomials as _polynomials  # noqa: F401 - which are declared late

globals().update(_PUBLIC["special"])

__all__ = [*_PUBLIC["special"]]


def __dir__() -> list[str]:
    return sorted(__all__)


_suggest_names(__name__)
