"""Mixed precision: ops that choose their dtypes themselves, and losses scaled against underflow."""

from ..base.missing_names import suggest_names as _suggest_names
from .autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

_suggest_names(__name__)
