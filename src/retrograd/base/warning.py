"""Warnings that PyTorch gives once per process, unless told otherwise."""

from __future__ import annotations

import sys
import warnings

from .call_sites import user_frame

_given: set[str] = set()
_always = False


def set_warn_always(b: bool, /) -> None:
    """Give warnings every time that are otherwise given once per process."""
    global _always
    _always = bool(b)


def is_warn_always_enabled() -> bool:
    """Whether :func:`set_warn_always` is on."""
    return _always


def warn(message: str, category: type[Warning] = UserWarning, *, once: bool = False) -> None:
    """Warn on the user's line; with ``once``, only the first time in this process."""
    if once and not _always:
        if message in _given:
            return
        _given.add(message)
    frame = user_frame(sys._getframe(1))
    depth, here = 1, sys._getframe(0)
    while here is not None and here is not frame:
        depth, here = depth + 1, here.f_back  # type: ignore[assignment]
    warnings.warn(message, category, stacklevel=depth)
