"""Call sites: which line of the user's program did something.

A site is kept as a code object and an instruction offset, two words that cost nothing to hold;
file, line and source text are worked out only when an error is worded.
"""

from __future__ import annotations

import linecache
import os
import sys
from opcode import opmap
from types import CodeType, FrameType
from typing import NamedTuple

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class _IsInternal(dict[str, bool]):
    """Whether a source file belongs to this package (or is code it generated)."""

    def __missing__(self, filename: str) -> bool:
        known = filename.startswith((PACKAGE, "<retrograd"))
        self[filename] = known
        return known


is_internal = _IsInternal().__getitem__


class Site(NamedTuple):
    """One instruction of the program."""

    code: CodeType | None
    lasti: int

    @property
    def line(self) -> int:
        if self.code is None:
            return 0
        for index, (start, _, _, _) in enumerate(self.code.co_positions()):
            if index == self.lasti // 2:
                return start or self.code.co_firstlineno
        return self.code.co_firstlineno

    def __str__(self) -> str:
        if self.code is None:
            return "an unknown line"
        line = self.line
        source = linecache.getline(self.code.co_filename, line).strip()
        where = f'File "{self.code.co_filename}", line {line}, in {self.code.co_name}'
        return f"{where}\n    {source}" if source else where


_OPERATORS = {opmap["BINARY_OP"], opmap["COMPARE_OP"]}
_STORES = {opmap[name] for name in ("STORE_SUBSCR", "STORE_SLICE") if name in opmap}


def is_at_operator(frame: FrameType) -> bool:
    """Whether a frame is at an operator of two operands, rather than at a call."""
    return frame.f_code.co_code[frame.f_lasti] in _OPERATORS


def is_at_store(frame: FrameType) -> bool:
    """Whether a frame is storing into something between brackets."""
    return frame.f_code.co_code[frame.f_lasti] in _STORES


def user_frame(frame: FrameType, last: FrameType | None = None) -> FrameType:
    """The nearest calling frame that is not this package's own, or ``last`` if that comes first."""
    while is_internal(frame.f_code.co_filename):
        caller = frame.f_back
        if caller is None or frame is last:
            break
        frame = caller
    return frame


def here(depth: int = 1) -> Site:
    """The user's line that is being run."""
    frame = user_frame(sys._getframe(depth))
    return tuple.__new__(Site, (frame.f_code, frame.f_lasti))  # without a call of Python code
