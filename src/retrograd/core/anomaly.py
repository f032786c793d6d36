"""Anomaly mode in calls and in backward; :mod:`retrograd.autograd.anomaly` switches it."""

from __future__ import annotations

import sys
from typing import Any

from ..backend.interface import is_data, library_of
from ..base import warning
from ..base.call_sites import user_frame


class Anomaly:
    """Whether every recorded call keeps its whole stack, and backward looks for NaN."""

    enabled = False
    check_nan = True
    running: Any = None  # the node whose backward is recording further ones


def remember_stack(node: Any) -> None:
    """Keep the stack of the call that a node records."""
    import traceback

    node.metadata["traceback_"] = traceback.format_stack(user_frame(sys._getframe(1)))
    if Anomaly.running is not None:
        node.metadata["parent_"] = Anomaly.running


def run_checked(node: Any, g: Any, wanted: Any, recorded: bool) -> Any:
    """Run a node of the graph: an error or a NaN names the forward call it belongs to."""
    previous, Anomaly.running = Anomaly.running, node
    try:
        results = node.replay(g, *wanted) if recorded else node.pull(g, *wanted)
    except Exception:
        explain(node)
        raise
    finally:
        Anomaly.running = previous
    if Anomaly.check_nan:
        for position, result in enumerate(results if isinstance(results, tuple) else (results,)):
            if result is not None and _has_nan(result):
                explain(node)
                raise RuntimeError(f"Function '{node.name()}' returned nan values in its "
                                   f"{position}th output.\nIt was recorded here:\n  {node.site}")
    return results


def _has_nan(value: Any) -> bool:
    while hasattr(value, "_data"):
        value = value._data
    return is_data(value) and bool(library_of(value).isnan(value).any())


def _tell(message: str) -> None:
    """Warn of an error that is about to be raised; where warnings are errors, print it."""
    try:
        warning.warn(message)
    except Warning as refused:
        print(f"{type(refused).__name__}: {message}", file=sys.stderr)


def explain(node: Any) -> None:
    """Warn with the stacks of the forward calls whose backward failed."""
    stack = node.metadata.get("traceback_")
    if stack is None:
        _tell(f"Error detected in {node.name()}. No forward pass information available. Enable "
              "detect anomaly during forward pass for more information.")
        return
    _tell(f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n"
          + "".join(stack))
    parent = node.metadata.get("parent_")
    while parent is not None:
        stack = parent.metadata.get("traceback_")
        told = "No forward pass information available." if stack is None else (
            "Traceback of forward call that induced the previous calculation:\n" + "".join(stack))
        _tell(f"\n\nPrevious calculation was induced by {parent.name()}. {told}")
        parent = parent.metadata.get("parent_")
