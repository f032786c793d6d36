"""Code that stands in front of a function has its closure, and lines and handlers of its own."""

from __future__ import annotations

import dis
import traceback
from types import FunctionType
from typing import Any

import pytest

from retrograd.core.arguments import _closing_over, put_in_front


def template(before: int) -> FunctionType:
    """A function that handles what the function raises, after so many statements."""
    lines = ["def front(*args, **kwargs):", "    call = 'CALL'", *["    x = 1"] * before,
             "    try:", "        try:", "            return call(*args, **kwargs)",
             "        except KeyError:", "            return 'caught'", "    finally:",
             "        kwargs.get('done', list)()"]
    space: dict[str, Any] = {}
    exec(compile("\n".join(lines), "front.py", "exec"), space)
    return space["front"]


def function(free: int) -> FunctionType:
    """A function that closes over so many variables, in which their sum is raised or returned."""
    names = [f"v{i}" for i in range(free)]
    space: dict[str, Any] = {}
    exec("\n".join(["def make():", *[f"    {name} = {i}" for i, name in enumerate(names)],
                    "    def inner(error=None, done=None):",
                    f"        total = {' + '.join(['0', *names])}",
                    "        if error: raise error(total)", "        return total",
                    "    return inner"]), space)
    return space["make"]()


@pytest.mark.parametrize("free", [0, 1, 3])
@pytest.mark.parametrize("before", [0, 8, 9, 10, 14, 15, 16, 40, 1000, 2100])
def test_code_in_front_of_a_closure(free: int, before: int) -> None:
    outer, inner = template(before), function(free)
    plain = put_in_front(inner, lambda call: call, outer)
    total, done = sum(range(free)), []
    assert plain() == inner() == total
    assert inner.__wrapped__ is plain  # type: ignore[attr-defined]
    assert inner(KeyError, done=lambda: done.append(1)) == "caught"
    assert done == [1]
    with pytest.raises(ValueError, match=str(total)) as raised:
        inner(ValueError, done=lambda: done.append(2))
    assert done == [1, 2]
    frames = traceback.extract_tb(raised.tb)
    assert [(f.filename, f.lineno) for f in frames[1:2]] == [("front.py", before + 5)]
    frame = raised.traceback[1].frame.raw
    assert {f"v{i}": i for i in range(free)}.items() <= frame.f_locals.items()


@pytest.mark.parametrize("before", [0, 9, 15, 40, 1000, 2100])
def test_lines_and_handlers_begin_one_instruction_later(before: int) -> None:
    code = template(before).__code__
    later = _closing_over(code, ("a", "b"))
    assert _closing_over(code, ()) is code
    assert list(later.co_positions())[1:] == list(code.co_positions())
    assert next(iter(later.co_positions())) == (None,) * 4
    handlers, shifted = (dis._parse_exception_table(c) for c in (code, later))  # type: ignore[attr-defined]
    assert [(h.start + 2, h.end + 2, h.target + 2, h.depth, h.lasti) for h in handlers] == [
        (h.start, h.end, h.target, h.depth, h.lasti) for h in shifted]
