"""A progress bar on a terminal; plain lines elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from operator import length_hint
from typing import Any, TextIO, TypeVar

Item = TypeVar("Item")

_PARTS = " ▏▎▍▌▋▊▉█"
_REDRAW_SECONDS = 0.05


def bar(share: float, width: int) -> str:
    """Return a bar of ``width`` characters, filled to ``share`` in steps of an eighth."""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    full, part = divmod(eighths, 8)
    drawn = "█" * full + (_PARTS[part] if part else "")
    return drawn.ljust(width)


class Progress:
    """Shows how far a run of ``total`` steps has come, and one line for each finished part.

    On a terminal that is a bar. Elsewhere it is nothing, or a line at each tenth of the way if
    ``lines`` asks for it.
    """

    def __init__(self, total: int | None, stream: TextIO | None = None, title: str = "",
                 lines: bool = False) -> None:
        self.total, self.title = total, title
        self.done = 0
        self.stream = sys.stdout if stream is None else stream
        self.live = self.stream.isatty() and _can_encode(self.stream)
        self.lines = lines and not self.live
        self.drawn_at = 0.0
        self.started = time.perf_counter()

    def advance(self, note: str = "") -> None:
        """Count one step and redraw the bar, though not more often than the eye can follow."""
        self.done += 1
        now = time.perf_counter()
        if self.live and (now - self.drawn_at > _REDRAW_SECONDS or self.done == self.total):
            self.drawn_at = now
            self._draw(note)
        elif self.lines and self._is_a_tenth():
            self.line(f"{self.title}{self._state()}  {note}".strip())

    def line(self, text: str) -> None:
        """Print a line above the bar."""
        self._clear()
        print(text, file=self.stream, flush=True)

    def close(self) -> None:
        """Remove the bar."""
        self._clear()

    def _is_a_tenth(self) -> bool:
        """Whether a tenth of the way is reached; without an end, a power of two."""
        if self.total is None:
            return self.done & (self.done - 1) == 0
        return self.done * 10 // self.total > (self.done - 1) * 10 // self.total

    def _state(self) -> str:
        elapsed = time.perf_counter() - self.started
        if self.total is None:
            return f" {self.done} steps  {elapsed:3.0f} s"
        share = self.done / self.total
        return f" {share:4.0%}  {elapsed / share * (1 - share):3.0f} s left"

    def _draw(self, note: str) -> None:
        columns = shutil.get_terminal_size().columns
        tail = f"{self._state()}  {note}"
        width = max(min(40, columns - len(self.title) - len(tail) - 2), 4)
        drawn = bar(self.done / self.total, width) if self.total else ""
        self.stream.write("\r" + f"{self.title}{drawn}{tail}"[: columns - 1] + "\x1b[K")
        self.stream.flush()

    def _clear(self) -> None:
        if self.live:
            self.stream.write("\r\x1b[K")
            self.stream.flush()


class RichProgress(Progress):
    """The same, drawn by rich."""

    shown: Any = None

    def _draw(self, note: str) -> None:
        from rich import progress as rich
        from rich.console import Console

        if self.shown is None:
            self.shown = rich.Progress(
                rich.TextColumn("{task.description}"), rich.BarColumn(), rich.TaskProgressColumn(),
                rich.TimeRemainingColumn(), rich.TextColumn("{task.fields[note]}"), transient=True,
                console=Console(file=self.stream))
            self.task = self.shown.add_task(self.title.strip(), total=self.total, note="")
        self.shown.start()
        self.shown.update(self.task, completed=self.done, note=note)

    def _clear(self) -> None:
        if self.shown is not None:
            self.shown.stop()


class Steps(Iterable[Item]):
    """The items of ``items``, with a bar that shows how many have been used up."""

    def __init__(self, items: Iterable[Item], shown: Progress) -> None:
        self.items, self.shown = items, shown
        self.text = ""

    def __iter__(self) -> Iterator[Item]:
        self.shown.done, self.shown.started = 0, time.perf_counter()
        try:
            for item in self.items:
                yield item
                self.shown.advance(self.text)
        finally:
            self.shown.close()

    def __len__(self) -> int:
        return len(self.items)  # type: ignore[arg-type]

    def note(self, text: str) -> None:
        """Show ``text`` beside the bar from the next step on."""
        self.text = text

    def line(self, text: str) -> None:
        """Print a line above the bar."""
        self.shown.line(text)


def progress(items: Iterable[Item], title: str = "", total: int | None = None,
             show: bool | None = None, stream: TextIO | None = None) -> Steps[Item]:
    """Go through ``items``, such as a loader's batches, and show how far one has come.

    A terminal gets a bar, by rich if it is installed; other streams get nothing, or a line at each
    tenth of the way with ``show=True``. ``show=False`` is silent everywhere.
    """
    if total is None:
        total = length_hint(items, -1)
    kind = Progress if find_spec("rich") is None else RichProgress
    shown = kind(None if total < 0 else total, stream, title and f"{title} ", lines=bool(show))
    shown.live = shown.live and show is not False
    return Steps(items, shown)


def _can_encode(stream: TextIO) -> bool:
    try:
        _PARTS.encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
