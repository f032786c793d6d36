"""Writes PyTorch's public names: ``python -m tests.sweeps.pytorch_names``, where PyTorch is."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

import torch

import retrograd.base.missing_names

TARGET = Path(retrograd.base.missing_names.__file__).with_suffix(".txt")
MODULES = ("", "amp", "autograd", "autograd.forward_ad", "autograd.functional", "autograd.graph",
           "backends", "cuda", "distributions", "fft", "func", "linalg", "nn", "nn.functional",
           "nn.init", "nn.utils", "optim", "optim.lr_scheduler", "overrides", "random", "sparse",
           "special", "utils", "utils.checkpoint", "utils.data")
CLASSES = {"Tensor": torch.Tensor, "nn.Module": torch.nn.Module}


def belongs(value: Any, listed: bool | None) -> bool:
    """Whether a value found in one of PyTorch's modules is offered there, by what can be seen.

    ``listed`` is whether the module's ``__all__`` names it, if there is one.
    """
    if listed or inspect.ismodule(value):
        return bool(listed) or value.__name__.startswith("torch.")
    home = getattr(value, "__module__", None)
    foreign = isinstance(home, str) and home.split(".")[0] in sys.stdlib_module_names
    return listed is None and not foreign and not isinstance(value, (bool, str, dict, list, tuple))


def names_of(space: str) -> list[str]:
    """The public names of a namespace."""
    if space in CLASSES:
        return [name for name in dir(CLASSES[space]) if not name.startswith("_")]
    module = importlib.import_module(".".join(filter(None, ("torch", space))))
    listed = getattr(module, "__all__", None)
    return [name for name in dir(module) if not name.startswith("_")
            and belongs(getattr(module, name), None if listed is None else name in listed)]


def text() -> str:
    lines = [f"{space}: {' '.join(names_of(space))}" for space in sorted({*MODULES, *CLASSES})]
    version = torch.__version__.partition("+")[0]
    return "\n".join([f"# The public names of PyTorch {version}, by namespace.", *lines, ""])


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
