"""TorchScript: functions and modules stay Python, which is what a script means; files are refused.

Scripting changes how a program runs, not what it computes, so that running eagerly is the same
program. What a script could do besides (be saved, be read by another language) is refused.
"""

from __future__ import annotations

import functools
import typing
from collections.abc import Callable
from typing import Any, Final, NoReturn

from .base.missing_names import suggest_names as _suggest_names
from .base.warning import warn
from .nn import Module


def _deprecated(name: str) -> None:
    warn(f"`torch.jit.{name}` is deprecated. Please switch to `torch.compile` or `torch.export`.",
         DeprecationWarning)


def _no_files(*args: Any, **kwargs: Any) -> NoReturn:
    """Refuse: there are no compiled programs to write or read."""
    raise RuntimeError("retrograd runs scripted functions and modules as Python: there is no "
                       "compiled program to save or load. Save a module's state_dict() instead")


save = load = _no_files


class ScriptModule(Module):
    """A module of scripted methods: a module."""

    save = _no_files


class ScriptFunction:
    """The class of scripted functions, of which there are none: they stay functions."""


RecursiveScriptModule = TracedModule = TopLevelTracedModule = ScriptModule


def script(obj: Any, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None,
           example_inputs: Any = None) -> Any:
    """A function, class or module as it is: it runs as Python."""
    _deprecated("script")
    if not callable(obj):
        raise RuntimeError(f"script() expects a function, a class or a module, but got "
                           f"{type(obj).__name__}")
    return obj


def trace(func: Any, example_inputs: Any = None, *args: Any, example_kwarg_inputs: Any = None,
          **options: Any) -> Any:
    """A function or module as it is, after one call with the example inputs."""
    _deprecated("trace")
    if example_kwarg_inputs is not None:
        func(**example_kwarg_inputs)
    else:
        given = example_inputs if type(example_inputs) in (tuple, list) else (example_inputs,)
        func(*given)
    return func


def trace_module(mod: Any, inputs: dict[str, Any], *args: Any, **options: Any) -> Any:
    """A module as it is, after one call of each method that inputs are given for."""
    _deprecated("trace_method")
    for name, given in inputs.items():
        getattr(mod, name)(*(given if type(given) is tuple else (given,)))
    return mod


def _unchanged(fn: Any) -> Any:
    """What was given: a mark for a compiler that is not there."""
    return fn


_overload = _overload_method = export = interface = script_method = script_if_tracing = _unchanged


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Leave a function to Python, where all of them are; with or without parentheses."""
    return drop if callable(drop) else _unchanged


def unused(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Replace a method by an error in scripts; here it stays."""
    return fn


def is_scripting() -> bool:
    """Whether a script is being compiled: never."""
    return False


def is_tracing() -> bool:
    """Whether a function is being traced: never."""
    return False


def annotate(the_type: Any, the_value: Any) -> Any:
    """The value, whose type a script would be told."""
    return the_value


class Attribute(typing.NamedTuple):
    """A value with the type that a script would be told."""

    value: Any
    type: Any


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether a value is of a type, or of one of several."""
    import builtins

    return builtins.isinstance(obj, target_type)


def freeze(mod: Any, *args: Any, **options: Any) -> Any:
    """A module as it is, which must be in evaluation mode as in PyTorch."""
    if mod.training:
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode. "
                           "Please call .eval() on your module before freezing.")
    return mod


optimize_for_inference = _unchanged


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[[], Any]:
    """Call a function at once; :func:`wait` gives what it returned."""
    return functools.partial(_unchanged, func(*args, **kwargs))


def wait(future: Callable[[], Any]) -> Any:
    """What a forked function returned."""
    return future()


__all__ = ["Attribute", "Final", "RecursiveScriptModule", "ScriptFunction", "ScriptModule",
           "annotate", "export", "fork", "freeze", "ignore", "interface", "is_scripting",
           "is_tracing", "isinstance", "load", "optimize_for_inference", "save", "script",
           "script_if_tracing", "script_method", "trace", "trace_module", "unused", "wait"]

_suggest_names(__name__)
