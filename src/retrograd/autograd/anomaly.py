"""Anomaly mode: backward looks for NaN, and what goes wrong in it names the forward call."""

from __future__ import annotations

from typing import Any

from ..base.errors import wrong_type
from ..base.modes import MODE, Mode
from ..base.warning import warn
from ..core.anomaly import Anomaly
from ..core.op import GENERATED


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode on or off, and whether it looks for NaN."""
    for position, (name, value) in enumerate({"enabled": enabled, "check_nan": check_nan}.items()):
        if not isinstance(value, bool):
            raise wrong_type("set_anomaly_enabled", name, position + 1, "bool", value)
    # Generated code meets a mode it does not know, and so takes the general path, which keeps the
    # stack of every call. With the mode off it costs nothing.
    get_mode = Mode if enabled else MODE.get
    # In one statement of stores, between which no interrupt comes.
    Anomaly.enabled, Anomaly.check_nan, GENERATED["get_mode"] = enabled, check_nan, get_mode


def _now() -> tuple[bool, bool, Any]:
    return Anomaly.enabled, Anomaly.check_nan, GENERATED["get_mode"]


class set_detect_anomaly:
    """Switch anomaly mode on or off at once; as a context manager the old setting returns."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.previous = _now()
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        # Stores alone: no interrupt comes before they are done.
        Anomaly.enabled, Anomaly.check_nan, GENERATED["get_mode"] = self.previous


class detect_anomaly:
    """Run a block in anomaly mode.

    A backward pass inside it raises when a gradient is NaN (unless ``check_nan`` is False), and
    whatever it raises comes with the traceback of the forward call.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        warn("Anomaly Detection has been enabled. This mode will increase the runtime and "
             "should only be enabled for debugging.", UserWarning)

    def __enter__(self) -> None:
        self.previous = _now()
        set_anomaly_enabled(True, self.check_nan)

    __exit__ = set_detect_anomaly.__exit__


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return Anomaly.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode looks for NaN."""
    return Anomaly.check_nan


__all__ = ["detect_anomaly", "is_anomaly_check_nan_enabled", "is_anomaly_enabled",
           "set_anomaly_enabled", "set_detect_anomaly"]
