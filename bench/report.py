"""The figures of a run as a table, a chart and a row of the history."""

from __future__ import annotations

import json
import math
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
HISTORY, PAGE, CHART = (ROOT / "bench" / "history.jsonl", ROOT / "docs" / "bench.md",
                        ROOT / "docs" / "bench.svg")
MEMORY = ROOT / "bench" / "memory.json"
"""What lines took of memory when that was last measured, by library: see :func:`bench.worker`."""
PURE = ROOT / "bench" / "pure.json"
"""What whole programs took without the native kernels when that was last measured."""
INTRODUCTION = """# How fast it is

What a step takes beside PyTorch, each library in a process of its own, in turns: best times, in
microseconds, and their ratio (below 1: quicker than PyTorch). Results agree with PyTorch's in
float64 before a time counts. `make bench` measures it anew; `python -m bench --help` says how to
ask for a part. `make bench-docs` writes this page and adds a row to `bench/history.jsonl`.

![ratios to PyTorch's time](bench.svg)
"""
Tables = Mapping[int, Mapping[str, Mapping[str, tuple[float, float]]]]


def load() -> float:
    """How busy the machine is: runnable processes of the last minute, on average."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else math.nan


def record(tables: Tables, started: float, clock: str) -> None:
    """Add the tables, by count of threads, to the history and write the page and the chart."""
    conditions = {"date": time.strftime("%Y-%m-%d %H:%M"), "commit": _commit(),
                  "machine": f"{platform.machine()}, {os.cpu_count()} processors",
                  "load": [started, load()], "clock": clock}
    with HISTORY.open("a") as file:
        for threads, table in tables.items():
            times = {name: {library: [float(f"{t * 1e6:.4g}") for t in pair]
                            for library, pair in found.items()} for name, found in table.items()}
            file.write(json.dumps({**conditions, "threads": threads, "times": times}) + "\n")
    PAGE.write_text(page(tables, conditions))
    CHART.write_text(chart({name: {count: ratio(table[name]) for count, table in tables.items()
                                   if name in table}
                            for name in next(iter(tables.values()))}))


def _commit() -> str:
    asked = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True,
                           text=True, check=False)
    return asked.stdout.strip()


def ratio(found: Mapping[str, tuple[float, float]]) -> float:
    return found["retrograd"][0] / found["torch"][0]


def geometric_mean(ratios: Iterable[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, ratios)))


def page(tables: Tables, conditions: Mapping[str, Any]) -> str:
    """The Markdown page: a table of ratios, and one beside the other libraries."""
    counts = list(tables)
    rows = [INTRODUCTION, f"Measured on {conditions['date']} at commit {conditions['commit']}, "
            f"{conditions['machine']}, {conditions['clock']} time, load {conditions['load'][0]} "
            f"before and {conditions['load'][1]} after.\n"]
    heads = [f"PyTorch, {_threads(n)} | retrograd | ratio" for n in counts]
    rows += [f"| | {' | '.join(heads)} |", "|---|" + "--:|--:|--:|" * len(counts)]
    names = list(next(iter(tables.values())))
    for name in names:
        cells = []
        for count in counts:
            found = tables[count][name]
            cells += [f"{found['torch'][0] * 1e6:,.1f}", f"{found['retrograd'][0] * 1e6:,.1f}",
                      f"{ratio(found):.2f}"]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    means = [f"| | **{geometric_mean(map(ratio, tables[n].values())):.2f}**" for n in counts]
    rows += [f"| geometric mean | {' | '.join(means)} |", "", *_beside_others(tables[counts[-1]]),
             *_pure(), *_memory()]
    return "\n".join(rows) + "\n"


def keep(place: Path, table: Mapping[str, Mapping[str, Any]]) -> None:
    """Keep what is measured apart from the rest, by line, for the page that is written next."""
    known = json.loads(place.read_text()) if place.exists() else {}
    place.write_text(json.dumps({**known, **table}, indent=0) + "\n")


def _pure() -> list[str]:
    if not PURE.exists():
        return []
    table = json.loads(PURE.read_text())
    rows = ["", "## Without the native kernels\n",
            "Whole programs on NumPy alone, most of whose functions use one thread, beside two of "
            "PyTorch (`python -m bench --pure`).\n",
            "| | PyTorch | retrograd | ratio |", "|---|--:|--:|--:|"]
    rows += [f"| {name} | {found['torch'][0] * 1e6:,.1f} | {found['retrograd'][0] * 1e6:,.1f} | "
             f"{ratio(found):.2f} |" for name, found in table.items()]
    return [*rows, f"| geometric mean | | | **{geometric_mean(map(ratio, table.values())):.2f}** |"]


def _memory() -> list[str]:
    if not MEMORY.exists():
        return []
    rows = ["", "## Memory\n",
            "Megabytes by which forty steps raise the peak of resident memory above what it is "
            "after the import, in a process that runs nothing else (`python -m bench --memory`).\n",
            "| | PyTorch | retrograd | ratio |", "|---|--:|--:|--:|"]
    for name, found in json.loads(MEMORY.read_text()).items():
        torch, own = found["torch"], found["retrograd"]
        rows.append(f"| {name} | {torch:.1f} | {own:.1f} | {own / torch:.2f} |")
    return rows


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"


def _beside_others(table: Mapping[str, Mapping[str, tuple[float, float]]]) -> list[str]:
    libraries = list(dict.fromkeys(library for found in table.values() for library in found))
    several = {name: found for name, found in table.items() if len(found) > 2}
    if not several:
        return []
    rows = ["## Beside other libraries\n",
            "Microseconds of a step; JAX and tinygrad compile it before, which is not counted.\n",
            f"| | {' | '.join(libraries)} |", "|---|" + "--:|" * len(libraries)]
    for name, found in several.items():
        cells = [f"{found[n][0] * 1e6:,.1f}" if n in found else "" for n in libraries]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return rows


def chart(ratios: Mapping[str, Mapping[int, float]]) -> str:
    """An SVG document of bars on a logarithmic scale, one for each count of threads."""
    left, width, row, top = 470, 400, 15, 44
    values = [r for by_count in ratios.values() for r in by_count.values()]
    low, high = min(0.1, *values), max(4.0, *values)
    counts = list(next(iter(ratios.values())))
    colors = dict(zip(counts, ("#92c5de", "#2166ac", "#053061")))

    def place(value: float) -> float:
        return left + width * math.log(value / low) / math.log(high / low)

    height = top + row * len(ratios) + 30
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 60} {height}" '
             'font-family="Helvetica, Arial, sans-serif" font-size="11">',
             "<title>retrograd's time over PyTorch's</title>",
             '<rect width="100%" height="100%" fill="#ffffff"/>']
    legend = left
    for count in counts:
        parts.append(f'<rect x="{legend}" y="10" width="10" height="10" fill="{colors[count]}"/>'
                     f'<text x="{legend + 14}" y="19">{_threads(count)}</text>')
        legend += 90
    for tick in (0.1, 0.2, 0.5, 1, 2, 4, 8, 16):
        if low <= tick <= high:
            x, color = place(tick), "#222222" if tick == 1 else "#e3e3e3"
            parts.append(f'<line x1="{x:.1f}" y1="{top - 6}" x2="{x:.1f}" y2="{height - 24}" '
                         f'stroke="{color}"/><text x="{x:.1f}" y="{top - 10}" '
                         f'text-anchor="middle">{tick:g}</text>')
    for number, (name, by_count) in enumerate(ratios.items()):
        y, thick = top + row * number, (row - 3) / len(counts)
        parts.append(f'<text x="{left - 8}" y="{y + 10}" text-anchor="end">{name}</text>')
        for place_in_row, (count, value) in enumerate(by_count.items()):
            start, end = sorted((place(1), place(value)))
            color = colors[count] if value <= 1 else "#d6604d"
            parts.append(f'<rect x="{start:.1f}" y="{y + thick * place_in_row:.1f}" '
                         f'width="{max(end - start, 0.5):.1f}" height="{thick:.1f}" '
                         f'fill="{color}"/>')
        parts.append(f'<text x="{left + width + 8}" y="{y + 10}">{value:.2f}</text>')
    return "\n".join([*parts, "</svg>", ""])
