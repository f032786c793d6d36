"""The public namespace ``retrograd.special``: what the ops declare for it."""

from __future__ import annotations

from . import ops as ops
from .core.op import PUBLIC

globals().update(PUBLIC["special"])
