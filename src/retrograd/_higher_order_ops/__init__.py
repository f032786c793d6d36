"""Ops that take functions."""

from ..base.missing_names import suggest_names as _suggest_names
from .associative_scan import associative_scan

__all__ = ["associative_scan"]

_suggest_names(__name__)
