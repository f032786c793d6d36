"""There is no XPU here; programs that ask are told so."""

from .base.missing_names import suggest_names as _suggest_names
from .compat.accelerators import absent as _absent

globals().update(_absent(__name__, "XPU", AssertionError, "Torch not compiled with XPU enabled"))

_suggest_names(__name__)
