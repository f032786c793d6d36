"""``retrograd run``: a program, as Python runs it, with ``torch`` served by this package."""

from __future__ import annotations

import atexit
import builtins
import importlib.util
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from ..as_torch import as_torch
from ..base import missing_names

_LONGEST_LIST = 20


class CannotRun(Exception):
    """There is no such program; the words say why, the number is the exit status."""


@contextmanager
def reporting(report: Callable[[], Any]) -> Iterator[None]:
    """Call ``report`` after the program that runs inside, also if it failed or exited."""
    try:
        yield
    except CannotRun:
        raise
    except BaseException:
        report()
        raise
    report()


def run(program: list[str], is_module: bool, command: str = "run") -> int:
    """Run a file, a folder or a module with its arguments, as ``__main__``; its exit status.

    ``command`` is what the user called, in whose name errors are told.
    """
    as_torch()
    interrupted: list[BaseException] = []
    atexit.register(_die_if, interrupted)  # first of all, and so called last
    sys.argv = list(program)
    try:
        code, attributes = _module(program[0]) if is_module else _file(program[0])
        main = ModuleType("__main__")
        vars(main).update(attributes, __builtins__=builtins)
        sys.modules["__main__"] = main
        exec(code, vars(main))
    except (CannotRun, SystemExit):
        raise
    except BaseException as error:
        _report(error)
        if isinstance(error, KeyboardInterrupt):
            interrupted.append(error)
        return 1
    finally:
        _list_missing(command)
    return 0


def _module(name: str) -> tuple[CodeType, dict[str, Any]]:
    """The code of a module, or of the ``__main__`` of a package, and what its globals hold."""
    _put_first_on_path(os.getcwd())
    sys.argv[0] = "-m"
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
            if spec is None:
                raise CannotRun(f"No module named {name}.__main__; {name!r} is a package and "
                                "cannot be directly executed", 1)
    except (ImportError, ValueError, TypeError) as error:
        raise CannotRun(f"Error while finding module specification for {name!r} "
                        f"({type(error).__name__}: {error})", 1) from None
    if spec is None:
        raise CannotRun(f"No module named {name}", 1)
    return _of_spec(spec)


def _file(path: str) -> tuple[CodeType, dict[str, Any]]:
    """The code of a file, or of the ``__main__`` in a folder or zip file; what its globals hold."""
    full = os.path.abspath(path)
    spec = PathFinder.find_spec("__main__", [full])
    if spec is not None:
        _put_first_on_path(path)
        return _of_spec(spec)
    if os.path.isdir(path):
        raise CannotRun(f"can't find '__main__' module in {full!r}", 1)
    _put_first_on_path(os.path.dirname(os.path.realpath(path)))
    try:
        with io.open_code(full) as file:
            code = compile(file.read(), full, "exec", dont_inherit=True)
    except OSError as error:
        raise CannotRun(f"can't open file {full!r}: [Errno {error.errno}] {error.strerror}",
                        2) from None
    return code, {"__file__": full, "__cached__": None, "__package__": None, "__spec__": None,
                  "__loader__": SourceFileLoader("__main__", full)}


def _of_spec(spec: ModuleSpec) -> tuple[CodeType, dict[str, Any]]:
    loader: Any = spec.loader
    code = loader.get_code(spec.name)
    if code is None:
        raise CannotRun(f"No code object available for {spec.name}", 1)
    if sys.argv[0] == "-m":
        sys.argv[0] = spec.origin or "-m"
    return code, {"__file__": spec.origin, "__cached__": spec.cached, "__package__": spec.parent,
                  "__spec__": spec, "__loader__": loader}


def _put_first_on_path(folder: str) -> None:
    """What Python does before it runs a program; the place holds the folder of this command."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _report(error: BaseException) -> None:
    """Let the program's own hook print an error; its first frame is the program's."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def _die_if(interrupted: list[BaseException]) -> None:
    """End by the signal that interrupted the program, as Python does: a shell's loop ends too."""
    if interrupted:
        sys.stdout.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)


def _list_missing(command: str) -> None:
    found = missing_names.met_of_pytorch()
    if found:
        print(f"retrograd {command}: names of torch that were looked for and are not here yet "
              f"({len(found)}):", file=sys.stderr)
        for space, name in found[:_LONGEST_LIST]:
            nearby = missing_names.hint(name, space, ()).partition("; ")[2]
            print("  " + ".".join(filter(None, ("torch", space, name)))
                  + (nearby and f" ({nearby})"), file=sys.stderr)
        if len(found) > _LONGEST_LIST:
            print(f"  and {len(found) - _LONGEST_LIST} more", file=sys.stderr)
