"""Where PyTorch defines its groups and collectives; some programs take them from there."""

from . import *  # noqa: F403
from .groups import default_group as _get_default_group  # noqa: F401
