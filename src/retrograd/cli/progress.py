"""A progress bar on a terminal; plain lines elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TextIO

_PARTS = " ▏▎▍▌▋▊▉█"
_REDRAW_SECONDS = 0.05


def bar(share: float, width: int) -> str:
    """Return a bar of ``width`` characters, filled to ``share`` in steps of an eighth."""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    full, part = divmod(eighths, 8)
    drawn = "█" * full + (_PARTS[part] if part else "")
    return drawn.ljust(width)


class Progress:
    """Shows how far a run of ``total`` steps has come, and one line for each finished part."""

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self.total = total
        self.done = 0
        self.stream = sys.stdout if stream is None else stream
        self.live = self.stream.isatty() and _can_encode(self.stream)
        self.drawn_at = 0.0
        self.started = time.perf_counter()

    def advance(self, note: str = "") -> None:
        """Count one step and redraw the bar, though not more often than the eye can follow."""
        self.done += 1
        now = time.perf_counter()
        if self.live and (now - self.drawn_at > _REDRAW_SECONDS or self.done == self.total):
            self.drawn_at = now
            self._draw(note)

    def line(self, text: str) -> None:
        """Print a line above the bar."""
        self._clear()
        print(text, file=self.stream, flush=True)

    def close(self) -> None:
        """Remove the bar."""
        self._clear()

    def _draw(self, note: str) -> None:
        share = self.done / self.total
        elapsed = time.perf_counter() - self.started
        left = elapsed / share * (1 - share)
        columns = shutil.get_terminal_size().columns
        tail = f" {share:4.0%}  {left:3.0f} s left  {note}"
        width = max(min(40, columns - len(tail) - 2), 4)
        self.stream.write("\r" + f"{bar(share, width)}{tail}"[: columns - 1] + "\x1b[K")
        self.stream.flush()

    def _clear(self) -> None:
        if self.live:
            self.stream.write("\r\x1b[K")
            self.stream.flush()


def _can_encode(stream: TextIO) -> bool:
    try:
        _PARTS.encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
