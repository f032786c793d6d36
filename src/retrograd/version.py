"""The version of this package."""

from __future__ import annotations

__version__ = "0.1.0"
cuda = hip = rocm = xpu = None
debug = False
git_version = "Unknown"
