"""Timing statements: ``Timer``, what it measured, and tables that compare."""

from __future__ import annotations

import statistics
import textwrap
import timeit
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ..base.missing_names import suggest_names as _suggest_names
from ..compat.settings import get_num_threads, set_num_threads

_UNITS = ((1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1.0, "s"))


def select_unit(t: float) -> tuple[str, float]:
    """The unit that a time reads best in, and its length in seconds."""
    scale, name = next(((s, n) for s, n in reversed(_UNITS) if t >= s), _UNITS[-1])
    return name, scale


@dataclass
class TaskSpec:
    """What is measured: the statement and how it is called in tables."""

    stmt: str
    setup: str = "pass"
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The name of the measurement."""
        return (self.label or self.stmt) + (f": {self.sub_label}" if self.sub_label else "")

    def summarize(self) -> str:
        """The name, the description and the setup, where there are such."""
        apart = "\n" + textwrap.indent(self.setup, "  ") if "\n" in self.setup else f" {self.setup}"
        parts = [self.title, self.description, "" if self.setup == "pass" else f"setup:{apart}"]
        return "\n".join(part + "\n" * ("\n" in part) for part in parts if part)


@dataclass(repr=False)
class Measurement:
    """Times of one statement; each is of ``number_per_run`` executions."""

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = field(default=None)

    @property
    def times(self) -> list[float]:
        """Seconds for one execution, by run."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self) -> float:
        """The middle of them."""
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        """Their average."""
        return statistics.fmean(self.times)

    @property
    def _quarters(self) -> tuple[float, float]:
        """The time below which a quarter of them lies, and the one above which a quarter does."""
        low, _, high = statistics.quantiles(self.times * (1 + (len(self.times) < 2)), n=4,
                                            method="inclusive")
        return low, high

    @property
    def iqr(self) -> float:
        """The distance between the first and the third quarter."""
        low, high = self._quarters
        return high - low

    @property
    def num_threads(self) -> int:
        """How many threads products were allowed."""
        return self.task_spec.num_threads

    @property
    def title(self) -> str:
        """The name of what was measured."""
        return self.task_spec.title

    def __getattr__(self, name: str) -> Any:
        if name in ("stmt", "label", "sub_label", "description", "env", "setup"):
            return getattr(self.task_spec, name)
        raise AttributeError(f"'Measurement' object has no attribute '{name}'")

    def __repr__(self) -> str:
        unit, scale = select_unit(self.median)
        low, high = self._quarters
        runs, threads = len(self.raw_times), self.num_threads
        lines = [object.__repr__(self), self.task_spec.summarize(),
                 f"  {'Median: ' * (runs > 1)}{self.median / scale:.2f} {unit}"]
        if runs >= 4:
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({low / scale:.2f} to "
                         f"{high / scale:.2f})")
        lines.append(f"  {runs} measurement{'s' * (runs > 1)}, {self.number_per_run} runs "
                     f"{'per measurement,' if runs > 1 else ','} {threads} "
                     f"thread{'s' * (threads > 1)}")
        spread = self.iqr / self.median
        if spread >= 0.1:
            lines.append(f"  WARNING: Interquartile range is {spread * 100:.1f}% of the median "
                         "measurement.\n           This "
                         + ("suggests significant environmental influence." if spread >= 0.25
                            else "could indicate system fluctuation."))
        return "\n".join(lines)

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Measurements of equal statements as one."""
        found: dict[Any, Measurement] = {}
        for one in measurements:
            key = (repr(one.task_spec), one.number_per_run)
            known = found.setdefault(key, Measurement(one.number_per_run, [], one.task_spec))
            known.raw_times.extend(one.raw_times)
        return list(found.values())


class Timer:
    """Times a statement, with as many threads for products as it is told."""

    def __init__(self, stmt: str = "pass", setup: str = "pass", global_setup: str = "",
                 timer: Callable[[], float] = timeit.default_timer,
                 globals: dict[str, Any] | None = None, label: str | None = None,
                 sub_label: str | None = None, description: str | None = None,
                 env: str | None = None, num_threads: int = 1, language: Any = "python"):
        if str(language).lower() not in ("python", "py", "language.python"):
            raise ValueError("retrograd.utils.benchmark times Python statements: there is no "
                             "compiler for others")
        self._task_spec = TaskSpec(stmt, setup, label, sub_label, description, env, num_threads)
        names = dict(globals or {})
        names.setdefault("torch", __import__(__package__.partition(".")[0]))
        self._timer = timeit.Timer(stmt, setup, timer, names)

    def timeit(self, number: int = 1000000) -> Measurement:
        """One measurement of ``number`` executions, after a short warm-up."""
        with _threads(self._task_spec.num_threads):
            self._timer.timeit(max(number // 100, 2))
            return Measurement(number, [self._timer.timeit(number)], self._task_spec)

    def blocked_autorange(self, callback: Any = None, min_run_time: float = 0.2) -> Measurement:
        """Measurements of blocks that are long enough to be measured, for some time."""
        with _threads(self._task_spec.num_threads):
            number = 1
            while (took := self._timer.timeit(number)) < min_run_time / 1000:
                number *= 10
            number = max(1, int(number * min_run_time / 100 / took)) if took else number
            times: list[float] = []
            while sum(times) < min_run_time or len(times) < 2:
                times.append(self._timer.timeit(number))
                if callback is not None:
                    callback(number, times[-1])
            return Measurement(number, times, self._task_spec)

    def adaptive_autorange(self, threshold: float = 0.1, *, min_run_time: float = 0.01,
                           max_run_time: float = 10.0, callback: Any = None) -> Measurement:
        """Measurements until their spread is small beside their middle."""
        found = self.blocked_autorange(callback, min_run_time)
        while sum(found.raw_times) < max_run_time and found.iqr > threshold * found.median:
            found.raw_times += self.blocked_autorange(callback, min_run_time).raw_times
        return found

    autorange = blocked_autorange


class _threads:
    """A block in which products may use some threads."""

    def __init__(self, count: int):
        self.count = count

    def __enter__(self) -> None:
        self.before = get_num_threads()
        set_num_threads(self.count)

    def __exit__(self, *exc: object) -> None:
        set_num_threads(self.before)


_UNIT_NAMES = {"ns": "nanoseconds", "us": "microseconds", "ms": "milliseconds", "s": "seconds"}


class Compare:
    """A table of measurements: a row for each statement, a column for each description."""

    def __init__(self, results: Iterable[Measurement]):
        self._results = list(results)
        self._trims = False

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements."""
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Show three figures, no more."""
        self._trims = True

    def colorize(self, rowwise: bool = False) -> None:
        """Accepted: tables are plain."""

    highlight_warnings = colorize

    def __str__(self) -> str:
        results = Measurement.merge(self._results)
        unit, scale = select_unit(min(one.median for one in results))
        columns = list(dict.fromkeys(one.description or one.stmt for one in results))
        rows = list(dict.fromkeys((one.num_threads, one.sub_label or one.stmt)
                                  for one in results))
        cells = {(one.num_threads, one.sub_label or one.stmt, one.description or one.stmt):
                 f"{one.median / scale:{'.3g' if self._trims else '.1f'}}" for one in results}
        table = [["", *columns]] + [[f"{label} ({threads} thread{'s' * (threads > 1)})",
                                     *[cells.get((threads, label, c), "") for c in columns]]
                                    for threads, label in rows]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  |  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True))
                 for row in table]
        title = next((one.label for one in results if one.label), "")
        return f"[{f' {title} '.center(len(lines[0]) - 2, '-')}]\n" + "\n".join(lines) + \
            f"\n\nTimes are in {_UNIT_NAMES[unit]} ({unit})."

    def print(self) -> None:
        """Print the table."""
        print(str(self))


__all__ = ["Compare", "Measurement", "TaskSpec", "Timer", "select_unit"]

_suggest_names(__name__)
