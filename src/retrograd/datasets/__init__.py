"""Data sets that come with the package."""

from ._digits import digits

__all__ = ["digits"]
