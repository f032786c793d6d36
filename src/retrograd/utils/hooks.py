"""The handle that registering a hook returns."""

from ..core.graph import RemovableHandle

__all__ = ["RemovableHandle"]
