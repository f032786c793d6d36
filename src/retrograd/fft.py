"""The public namespace ``retrograd.fft``: what the ops declare for it."""

from __future__ import annotations

from . import ops as ops
from .op import PUBLIC

globals().update(PUBLIC["fft"])
