"""There is no MTIA here; programs that ask are told so."""

from .base.missing_names import suggest_names as _suggest_names
from .compat.accelerators import absent as _absent

globals().update(_absent(__name__, "MTIA", RuntimeError,
                         "Cannot execute this without MTIA backend."))

_suggest_names(__name__)
