"""Writes what is expected: see the package."""

from __future__ import annotations

from .declarations import DECLARATIONS
from .text import path_of, text_of

for name in DECLARATIONS:
    path_of(name).write_text(text_of(name))
