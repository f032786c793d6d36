"""Collectives that gradients pass through."""

# ruff: noqa: F403

from ...base.missing_names import suggest_names as _suggest_names
from . import functional
from .functional import *

__all__ = functional.__all__

_suggest_names(__name__)
