"""What tests use: comparing values within tolerances, and tensors of drawn values."""

from ..base.missing_names import suggest_names as _suggest_names
from .comparison import assert_allclose, assert_close
from .drawing import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

_suggest_names(__name__)
