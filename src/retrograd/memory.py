"""Freed memory: how much of it the process keeps for its next arrays, and how to give it back."""

from __future__ import annotations

from .backend.numpy.memory import give_back, keep, kept

__all__ = ["give_back", "keep", "kept"]
