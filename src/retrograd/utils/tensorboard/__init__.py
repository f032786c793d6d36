"""``SummaryWriter``, where the tensorboard package is installed."""

from importlib import import_module as _import_module

try:
    _import_module("tensorboard")
except ModuleNotFoundError as error:
    if error.name != "tensorboard":
        raise
    raise ModuleNotFoundError("No module named 'tensorboard'. SummaryWriter writes through it: "
                              "pip install tensorboard", name="tensorboard") from None

from .writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "SummaryWriter"]
