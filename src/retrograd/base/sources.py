"""Generated source, kept where debuggers, tracebacks and ``inspect`` look for a file's lines."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from typing import Any


def keep(label: str, lines: Sequence[str]) -> str:
    """Keep the lines of generated source and return the name of their "file".

    Another source of the same label gets a number: a frame must never show lines that it does not
    run.
    """
    text, number = [line + "\n" for line in lines], 1
    filename = file_name(label)
    while type(known := _lines(filename)) is list and known != text:
        number += 1
        filename = file_name(f"{label} {number}")
    _enter(filename, text)
    return filename


def file_name(label: str) -> str:
    # In angle brackets, which tells debuggers not to make a path of it.
    return f"<retrograd {label}>"


def _enter(filename: str, lines: Any) -> None:
    # Without a time of change: ``linecache.checkcache`` would look for a file, and drop it.
    linecache.cache[filename] = (0, None, lines, filename)


def _lines(filename: str) -> Any:
    known: Any = linecache.cache.get(filename)
    return None if known is None else known[2]


class Unwritten(Sequence[str]):
    """The lines of a function whose source is generated once somebody looks at it."""

    __slots__ = ("compiled",)

    def __init__(self, filename: str, compiled: Callable[[], Any]):
        self.compiled = compiled
        _enter(filename, self)

    def _written(self) -> Any:
        try:
            return _lines(self.compiled().__code__.co_filename)
        except Exception as error:  # asked while a traceback is printed, perhaps of this very error
            return [f"# no code: {error}\n"]

    def __len__(self) -> int:
        return len(self._written())

    def __getitem__(self, index: Any) -> Any:
        return self._written()[index]
