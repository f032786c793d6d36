"""``weights_only``: what the names in a file may mean, and what may be done with them."""

from __future__ import annotations

import pickle
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..base import dtypes
from ..core.tensor import Size, Tensor
from . import _names
from ._names import StorageType

_BLOCKED = frozenset({"sys", "os", "posix", "nt"})
_SAFE: list[Any] = []

ADVICE = (
    "Weights only load failed. This file can still be loaded, to do so you have two options, "
    "\033[1mdo those steps only if you trust the source of the checkpoint\033[0m. \n\t(1) In "
    "PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from "
    "`False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will likely "
    "succeed, but it can result in arbitrary code execution. Do it only if you got the file from a "
    "trusted source.\n\t(2) Alternatively, to load with `weights_only=True` please check the "
    "recommended steps in the following error message.\n\tWeightsUnpickler error: ")


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let files name these classes and functions, or (one, its name in the file) pairs."""
    for entry in safe_globals:
        if not (callable(entry) or (isinstance(entry, tuple) and len(entry) == 2)):
            raise ValueError("Expected either a global or a tuple of (global, name) but got "
                             f"{entry!r}")
    _SAFE.extend(e for e in safe_globals if e not in _SAFE)


def get_safe_globals() -> list[Any]:
    """What :func:`add_safe_globals` was told."""
    return list(_SAFE)


def clear_safe_globals() -> None:
    """Forget what :func:`add_safe_globals` was told."""
    _SAFE.clear()


@contextmanager
def safe_globals(safe_globals: list[Any]) -> Iterator[None]:
    """:func:`add_safe_globals` for the length of a block."""
    before = get_safe_globals()
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        _SAFE[:] = before


def allowed_by_user() -> dict[str, Any]:
    """What the program allows beyond the ordinary, by the name that a file has for it."""
    named = {}
    for entry in _SAFE:
        if isinstance(entry, tuple):
            named[entry[1]] = entry[0]
        else:
            known = _names.torch_name(entry) or (entry.__module__, entry.__qualname__)
            named[".".join(known)] = entry
    return named


def _encode(text: Any, encoding: Any) -> bytes:
    """``codecs.encode`` as pickles of bytes in protocol 2 use it."""
    if type(text) is not str or encoding != "latin1":
        raise pickle.UnpicklingError("_codecs.encode is allowed for latin1 alone")
    return text.encode("latin1")


_ORDINARY = {**_names.NAMED, **_names.PLAIN, **_names.TENSOR_TYPES,
             "_codecs.encode": _encode}


class NotAllowed(pickle.UnpicklingError):
    """A file names what the program may allow it; any other refusal is final."""


class Allowed:
    """The names one file may use, and the calls it may make with them."""

    def __init__(self) -> None:
        self.own = allowed_by_user()
        self.met: set[str] = set()

    def find_class(self, module: str, name: str) -> Any:
        """The meaning of a name, if it is allowed."""
        full = f"{module}.{name}"
        found = _ORDINARY.get(full, self.own.get(full))
        if found is not None:
            return found
        self.met.add(full)
        if module.partition(".")[0] in _BLOCKED:
            raise pickle.UnpicklingError(
                f"Trying to load unsupported GLOBAL {full} whose module {module} is blocked.")
        raise NotAllowed(
            f"Unsupported global: GLOBAL {full} was not an allowed global by default. Please use "
            f"`torch.serialization.add_safe_globals([{full}])` or the "
            f"`torch.serialization.safe_globals([{full}])` context manager to allowlist this "
            "global if you trust this class/function.")

    def call(self, function: Any, args: tuple[Any, ...], is_new: bool) -> Any:
        """A call that a file asks for; of our own functions, only in the form that was saved."""
        if any(function is own for own in self.own.values()):
            return function.__new__(function, *args) if is_new else function(*args)
        form = _FORMS.get(function) if isinstance(function, type) else None
        if form is not None:
            form(*args)
        elif (not any(function is known for known in _names.NAMED.values())
                and function is not _encode) or isinstance(function, (StorageType, dtypes.dtype)):
            raise pickle.UnpicklingError(f"a file may not call {function!r}")
        return function(*args)

    def build(self, instance: Any, state: Any) -> None:
        """Fill an instance: of an allowed class, or attributes of an ordered dict."""
        if any(type(instance) is own for own in self.own.values()):
            if hasattr(instance, "__setstate__"):
                instance.__setstate__(state)
            else:
                instance.__dict__.update(state)
        elif type(instance) is OrderedDict and type(state) is dict:
            instance.__dict__.update({str(key): value for key, value in state.items()})
        else:
            raise pickle.UnpicklingError(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via "
                f"`add_safe_globals`, but got {type(instance)}")


def _of(*kinds: tuple[type, ...]) -> Any:
    """A check that arguments are of these kinds, one tuple of types for each."""

    def form(*args: Any) -> None:
        if len(args) > len(kinds) or any(
                type(a) not in kind for a, kind in zip(args, kinds, strict=False)):
            raise pickle.UnpicklingError(
                f"arguments of types {[type(a).__name__ for a in args]} are not those of a saved "
                "value")

    return form


_NUMBER = (int, float)
_FORMS: dict[Any, Any] = {
    OrderedDict: _of((list, tuple)), Counter: _of((dict,)), set: _of((list, tuple)),
    bytearray: _of((bytes, bytearray)),  # not a number: that many bytes would be made
    complex: _of(_NUMBER, _NUMBER), Size: _of((tuple, list)),
    dtypes.device: _of((str,), (int,)), Tensor: _of(),
}
"""The arguments with which a file may call a class."""
