"""Data sets that come with the package."""

from retrograd.datasets._digits import digits

__all__ = ["digits"]
