"""Where older programs find :mod:`..tensor`."""

from ..tensor import *  # noqa: F403
