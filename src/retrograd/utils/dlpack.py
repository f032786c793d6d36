"""Sharing memory with other array libraries through DLPack."""

from __future__ import annotations

from ..ops.creation.from_data import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
