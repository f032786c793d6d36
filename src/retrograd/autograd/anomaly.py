"""Anomaly mode: backward looks for NaN and names the forward line."""

from __future__ import annotations

import warnings
from typing import Any

from ..backend import numpy as xp
from ..interpret import Anomaly
from ..modes import MODE, Mode
from ..op import GENERATED


def _set(enabled: bool, check_nan: bool) -> None:
    Anomaly.enabled, Anomaly.check_nan = enabled, check_nan
    # Generated code meets a mode it does not know, and so takes the general path.
    GENERATED["mode"] = _general_mode if enabled else MODE.get


def _general_mode() -> Mode:
    return Mode()


class set_detect_anomaly:
    """Switch anomaly mode on or off; also a context manager."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.previous = (Anomaly.enabled, Anomaly.check_nan)
        _set(bool(mode), check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        _set(*self.previous)


class detect_anomaly:
    """Run a block in anomaly mode."""

    def __init__(self, check_nan: bool = True) -> None:
        self.previous = (Anomaly.enabled, Anomaly.check_nan)
        self.check_nan = check_nan
        warnings.warn("Anomaly Detection has been enabled. This mode will increase the runtime and "
                      "should only be enabled for debugging.", UserWarning, stacklevel=2)

    def __enter__(self) -> None:
        self.previous = (Anomaly.enabled, Anomaly.check_nan)
        _set(True, self.check_nan)

    def __exit__(self, *exc: object) -> None:
        _set(*self.previous)


def is_anomaly_enabled() -> bool:
    return Anomaly.enabled


def is_anomaly_check_nan_enabled() -> bool:
    return Anomaly.check_nan


def has_nan(value: Any) -> bool:
    data = getattr(value, "_data", value)
    return bool(xp.isnan(data).any())


def explain(node: Any, error: Exception | None) -> None:
    """Warn with the stack of the forward call whose backward failed."""
    stack = node.metadata.get("traceback_")
    name = node.name()
    if stack is None:
        text = (f"Error detected in {name}. No forward pass information available. Enable detect "
                "anomaly during forward pass for more information.")
    else:
        text = (f"Error detected in {name}. Traceback of forward call that caused the error:\n"
                + "".join(stack))
    warnings.warn(text, UserWarning, stacklevel=4)
