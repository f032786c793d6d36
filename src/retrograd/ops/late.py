"""Ops that are declared when something of their file is first asked for: most programs use few.

A file's functions are found by name in the top level, and its methods are on Tensor from the start:
they stand in for themselves until they are called.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..core.op import PUBLIC
from ..core.tensor import Tensor, attach

_FILES = {
    # file: functions of the top level, and those of them that are methods too
    "creation.windows": ("hann_window hamming_window blackman_window bartlett_window kaiser_window",
                         ""),
    "fourier.short_time": ("stft istft", "stft istft"),
}
_NAMESPACES = ("fourier", "elementwise.polynomials")
"""What public modules bring when they are imported."""

FUNCTIONS = {name: file for file, (names, _) in _FILES.items() for name in names.split()}
"""The file that declares each late function of the top level."""


def function(name: str) -> Any:
    """A late function of the top level."""
    import_module(f".{FUNCTIONS[name]}", __package__)
    return PUBLIC["torch"][name]


def load_all() -> None:
    """Declare everything, for whoever looks at all there is."""
    for file in (*_FILES, *_NAMESPACES):
        import_module(f".{file}", __package__)


def _stand_in(file: str, name: str) -> Any:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        import_module(f".{file}", __package__)  # which puts the method itself in this one's place
        return getattr(self, name)(*args, **kwargs)

    method.__name__, method.__qualname__ = name, f"Tensor.{name}"
    return method


attach(**{name: _stand_in(file, name) for file, (_, names) in _FILES.items()
          for name in names.split()})
