"""A fault in a running process: the code of a function is exchanged where it is."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType


def changed_functions(path: Path, source: bytes, faulty: bytes) -> list[tuple[CodeType, CodeType]]:
    """The functions that a fault is in, before and with it, outermost first.

    There are none if what it changes runs when the module is imported.
    """
    before, after = (compile(text, str(path), "exec", dont_inherit=True)
                     for text in (source, faulty))
    found = []
    while True:
        pairs = list(zip(_inner(before), _inner(after)))
        inner = [(a, b) for a, b in pairs if _differ(a, b)]
        if not inner or any(a.co_qualname != b.co_qualname for a, b in pairs):
            return found if found and found[-1] == (before, after) else []
        before, after = inner[0]
        if before.co_flags & 2:  # it has fast locals: a function, not the body of a class
            found.append(inner[0])


def exchange(functions: list[tuple[CodeType, CodeType]]) -> bool:
    """Exchange the code of these functions; whether there are any, and theirs can be exchanged."""
    gc.unfreeze()  # the collector sees nothing of what was frozen when the tests were collected
    known = [function for function in gc.get_objects() if type(function) is FunctionType]
    gc.freeze()
    found = [(function, after) for function in known for before, after in functions
             if function.__code__ == before
             and function.__code__.co_filename == before.co_filename]
    if any(_is_made_of(function.__code__, before) for function in known for before, _ in functions):
        return False
    try:
        for function, after in found:
            function.__code__ = after
    except ValueError:  # it closes over more or fewer variables
        return False
    return bool(found)


def _is_made_of(code: CodeType, template: CodeType) -> bool:
    """Whether a function of another name got its code from one that stands there."""
    return (code.co_filename, code.co_firstlineno) == (
        template.co_filename, template.co_firstlineno) and code.co_qualname != template.co_qualname


def _inner(code: CodeType) -> Iterator[CodeType]:
    return (constant for constant in code.co_consts if isinstance(constant, CodeType))


def _differ(one: CodeType, other: CodeType) -> bool:
    """Whether two codes do something else; that one stands elsewhere in its line is nothing."""
    if (one.co_code, one.co_names, one.co_varnames, one.co_freevars) != (
            other.co_code, other.co_names, other.co_varnames, other.co_freevars):
        return True
    return len(one.co_consts) != len(other.co_consts) or any(
        _differ(a, b) if isinstance(a, CodeType) and isinstance(b, CodeType)
        else (type(a), repr(a)) != (type(b), repr(b))
        for a, b in zip(one.co_consts, other.co_consts))
