"""The device of new tensors as a context to enter or a decorator, by PyTorch's inner names."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..base import dtypes


class DeviceContext:
    """New tensors are made on a device, as in ``with torch.device(...)``."""

    def __init__(self, device: Any) -> None:
        self.device = dtypes.device(device)

    def __enter__(self) -> None:
        self.device.__enter__()

    def __exit__(self, *exc: object) -> None:
        self.device.__exit__(*exc)


def device_decorator(device: Any, func: Callable[..., Any]) -> Callable[..., Any]:
    """A function that runs inside the context ``device``."""

    @functools.wraps(func)
    def on_device(*args: Any, **kwargs: Any) -> Any:
        with device:
            return func(*args, **kwargs)

    return on_device


def set_device(device: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator of functions whose new tensors are made on ``device``."""
    return functools.partial(device_decorator, dtypes.device(device))
