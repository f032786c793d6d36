"""Anomaly mode in calls and in backward; :mod:`retrograd.autograd.anomaly` switches it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from ..backend.interface import is_data, kind_of, library_of
from ..base import warning
from ..base.call_sites import user_frame
from ..base.errors import noted
from ..base.modes import RUNNING


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


def run_checked(run: Callable[..., Any], node: Any, g: Any, wanted: Any, recorded: bool) -> Any:
    """Have ``run`` run a node of the graph: an error or a NaN names the forward call it is of."""
    previous, Anomaly.running = Anomaly.running, node
    try:
        results = run(node, g, wanted, recorded)
    except Exception:
        explain(node)
        raise
    finally:
        Anomaly.running = previous
    if Anomaly.check_nan:
        for position, result in enumerate(results if isinstance(results, tuple) else (results,)):
            if result is not None and _has_nan(result):
                explain(node)
                raise noted(RuntimeError(
                    f"Function '{node.name()}' returned nan values in its {position}th output.\n"
                    f"It was recorded here:\n  {node.site}"), origin_of_nan(node, g))
        note_infinite(node, g, results)
    return results


# ---------------------------------------------------------------- where a NaN comes from


def remember_values(node: Any, operands: dict[str, Any], results: Any) -> None:
    """Keep the ranges of a call's operands if its result is not finite and they are."""
    if Anomaly.check_nan and not all(map(_is_finite, results)) \
            and all(map(_is_finite, operands.values())):
        node.ranges = [*described(operands), *described({"result": results[0]})]


def note_infinite(node: Any, g: Any, results: Any) -> None:
    """Keep, for the pass that is running, the first node that made an infinite gradient."""
    schedule = RUNNING.get()
    if schedule is not None and Anomaly not in schedule.notes and not _is_finite(results):
        schedule.notes[Anomaly] = node, [*described(_saved(node)), *described(
            {"gradient that arrived": g, "gradient that it made": results})]


def origin_of_nan(node: Any, g: Any) -> str:
    """What the note of an error says of the first value that was not finite.

    That is one of the forward pass, if it has any; else the first gradient.
    """
    schedule = RUNNING.get()
    started = [known for known in ([node] if schedule is None else schedule.order)
               if known.ranges is not None]
    if started:
        first = min(started, key=lambda known: known.seq)
        words, lines = "computed by the forward call of", first.ranges
    elif schedule is not None and Anomaly in schedule.notes:
        (first, lines), words = schedule.notes[Anomaly], "a gradient of"
    else:
        first, words = node, "a gradient of"
        lines = [*described(_saved(node)), *described({"gradient that arrived": g})]
    return (f"The first value that is not finite was {words} {first.name()}, here:\n"
            f"  {_line_of(first)}\n" + "\n".join(f"  {line}" for line in lines))


def _line_of(node: Any) -> str:
    if node.site.code is not None:
        return str(node.site)
    stack = node.metadata.get("traceback_")
    return str(node.site) if stack is None else stack[-1].strip()


def _saved(node: Any) -> dict[str, Any]:
    """What a node saved, by name."""
    return {"result" if slot == "y" else slot:
            getattr(node, slot if kind == "input" else "out_" + slot, None)
            for _, slot, kind in node.saved_names if kind != "static"}


def described(values: dict[str, Any]) -> Iterator[str]:
    """A line for each value: how many numbers it has, from where to where, and what is odd."""
    for name, value in values.items():
        for data in _data_in(value):
            library = library_of(data)
            finite = data[library.isfinite(data)] if data.ndim else \
                library.as_array(data).reshape(-1)[:int(library.isfinite(data))]
            line = f"{name}: {data.size} value{'s' if data.size != 1 else ''}"
            if finite.size:
                absolute = kind_of(data.dtype) == "c"
                finite = abs(finite) if absolute else finite.astype(float)
                line += (f"{', absolutely' if absolute else ''} from {float(finite.min()):.6g} to "
                         f"{float(finite.max()):.6g}")
            for count, word in ((int(library.isnan(data).sum()), "nan"),
                                (int(library.isinf(data).sum()), "infinite"),
                                (int((data == 0).sum()), "zero")):
                line += f", {count} {word}" if count else ""
            yield line


def _is_finite(value: Any) -> bool:
    return all(bool(library_of(data).isfinite(data).all()) for data in _data_in(value))


def _data_in(value: Any) -> Iterator[Any]:
    """The numbers of a gradient, a tensor or several that are of a kind to be infinite."""
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from _data_in(part)
        return
    while hasattr(value, "_data"):
        value = value._data
    if is_data(value) and kind_of(value.dtype) in "fcV":
        yield value


def _has_nan(value: Any) -> bool:
    return any(bool(library_of(data).isnan(data).any()) for data in _data_in(value))


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
