"""``torch.compile`` and its settings: programs are run eagerly, and told so once."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any

from .base.missing_names import suggest_names as _suggest_names
from .nn import Module

_MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")


class OptimizedModule(Module):
    """What compiling a module gives: the module itself stands behind it, as ``_orig_mod``."""

    _orig_mod: Module

    def __init__(self, mod: Module) -> None:
        super().__init__()
        self._orig_mod = mod
        self.training = mod.training

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The module's own call."""
        return self._orig_mod(*args, **kwargs)

    def train(self, mode: bool = True) -> OptimizedModule:
        """Switch the module to training or evaluation."""
        self._orig_mod.train(mode)
        self.training = self._orig_mod.training
        return self

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        # What a program sets on the compiled module belongs to the one behind it.
        if "_modules" in self.__dict__ and "_orig_mod" in self._modules and name != "training":
            setattr(self._orig_mod, name, value)
        else:
            super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._orig_mod, name)


def compile(model: Any = None, *, fullgraph: bool = False, dynamic: bool | None = None,
            backend: Any = "inductor", mode: str | None = None,
            options: dict[str, Any] | None = None, disable: bool = False) -> Any:
    """A function as it is, or a module in an :class:`OptimizedModule`: both run eagerly."""
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified "
                           "at the same time.")
    if mode is not None and mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")
    if model is None:
        return functools.partial(compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend,
                                 mode=mode, options=options, disable=disable)
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    if disable:
        return model
    _say_once()
    return OptimizedModule(model) if isinstance(model, Module) else model


@functools.cache
def _say_once() -> None:
    """Say on the error stream, not by a warning, which some programs make an error."""
    logging.getLogger(__package__).warning("torch.compile: nothing is compiled yet, programs run "
                                           "eagerly")


def is_compiling() -> bool:
    """Whether a program is being compiled: never."""
    return False


is_dynamo_compiling = is_exporting = is_compiling


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Keep a function from being compiled: it stays what it is; also a decorator."""
    return _kept if fn is None else fn


def _kept(fn: Any) -> Any:
    """What was given."""
    return fn


allow_in_graph = assume_constant_result = _kept


def reset() -> None:
    """Forget what was compiled, which is nothing."""


def cudagraph_mark_step_begin() -> None:
    """Say that a step begins, to nobody."""


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """The compilers there are: none."""
    return []


def set_stance(stance: str = "default", *, skip_guard_eval_unsafe: bool = False,
               force_backend: Any = None) -> Callable[..., Any]:
    """Choose how much to compile: nothing is; as a decorator it changes nothing."""
    return _Stance()


class _Stance:
    """A block and a decorator without effect."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        pass

    def __call__(self, function: Any) -> Any:
        return function


_suggest_names(__name__)
