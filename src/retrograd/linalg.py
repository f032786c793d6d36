"""The public namespace ``retrograd.linalg``: what the ops declare for it."""

from __future__ import annotations

from . import ops as ops
from .op import PUBLIC

globals().update(PUBLIC["linalg"])
