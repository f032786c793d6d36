"""Where programs find what shares work out to devices, too."""

from . import _scatter_kwargs as scatter_kwargs, gather, scatter

__all__ = ["gather", "scatter", "scatter_kwargs"]
