"""What surrounds the collectives of a training."""

from ...base.missing_names import suggest_names as _suggest_names
from .join import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]

_suggest_names(__name__)
