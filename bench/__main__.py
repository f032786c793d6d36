"""The same programs in several libraries, in turns, as ratios of time.

A ratio below 1 means that retrograd is faster than PyTorch. Each library runs in a process of its
own. Results are compared with PyTorch's in float64 before a time counts; then all take turns, so
that a busy machine disturbs them alike. Best times are reported, and the ratio of the medians.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
import time
from typing import Any

import numpy as np

from . import report
from .declaring import LINES, Line
from .worker import Worker

LIBRARIES = ("torch", "retrograd", "jax", "autograd", "tinygrad", "mygrad")
ROUNDS = range(5, 40)
"""How many turns each library gets: as many as there is time for, within these bounds."""
REST = {"native": 0.01, "pure": 0.12}
"""Seconds before a turn: PyTorch's threads spin for eight milliseconds after their last work, and
OpenBLAS's, which NumPy alone multiplies by, for a tenth of a second, on the processors that the next
library needs."""
PROGRAMS = "^(train|kernels|science|writes|higher|data|small: (?!100 calls))"
"""The lines that are what somebody would run, and no single function."""
FAILED: list[str] = []
"""The lines in which PyTorch or retrograd failed, or did not agree."""
Times = dict[str, tuple[float, float]]
"""Best and median seconds of a step, by library."""


def agreeing(entry: Line, workers: dict[str, Worker]) -> dict[str, Worker]:
    """The libraries that find what PyTorch finds, in float64; retrograd has to."""
    found: dict[str, Worker] = {}
    wanted: list[Any] = []
    for name, worker in workers.items():
        try:
            worker.call("make", entry.name, "float64")
            results = worker.call("results", 2)
            wanted = wanted or results
            if len(results) != len(wanted) or not all(
                    np.allclose(r, w, rtol=entry.exact, atol=entry.exact * max(1.0, abs(w).max()))
                    for r, w in zip(results, wanted)):
                raise RuntimeError(f"{name} does not find what PyTorch finds")
        except RuntimeError as error:
            if name in LIBRARIES[:2]:
                raise
            print(f"{entry.name}: {error}")
        else:
            found[name] = worker
    return found


def measure(entry: Line, workers: dict[str, Worker], seconds: float) -> Times:
    """The times of the libraries that have a program for this line."""
    rest = REST["pure" if os.environ.get("RETROGRAD_KERNELS") == "0" else "native"]
    workers = agreeing(entry, workers)
    repeats = {}
    for name, worker in workers.items():
        worker.call("make", entry.name, "float32")
        worker.call("time", 2)
        repeats[name] = max(1, min(1000, int(0.02 / worker.call("time", 1))))
    times: dict[str, list[float]] = {name: [] for name in workers}
    end = time.perf_counter() + seconds
    for turn in range(ROUNDS.stop):
        if turn >= ROUNDS.start and time.perf_counter() > end:
            break
        for name, worker in workers.items():
            time.sleep(rest)
            times[name].append(worker.call("time", repeats[name]))
    return {name: (min(ts), statistics.median(ts)) for name, ts in times.items()}


def said(entry: Line, found: Times) -> str:
    """A row of the printed table."""
    cells = [f"{found[name][0] * 1e6:10.1f}" for name in ("torch", "retrograd")]
    ratio, medians = report.ratio(found), found["retrograd"][1] / found["torch"][1]
    row = f"{entry.name:84s}{''.join(cells)} {ratio:6.2f} {medians:6.2f}"
    if ratio > entry.goal:
        row += f"  above {entry.goal:g}"
    if entry.batches:
        row += "  " + " and ".join(f"{entry.batches / found[name][0]:.0f}"
                                   for name in ("torch", "retrograd")) + " batches/s"
    for name in LIBRARIES[2:]:
        if name in found:
            row += f"  {name} {found[name][0] / found['torch'][0]:.2f}"
    return row


def run(pattern: str, threads: int, seconds: float, libraries: list[str], clock: str
        ) -> dict[str, Times]:
    """Print a table for one count of threads, and return it."""
    everyone = {name: Worker(name, threads, clock) for name in libraries}
    try:
        return _run(pattern, threads, seconds, everyone)
    finally:
        for worker in everyone.values():
            worker.close()


def _run(pattern: str, threads: int, seconds: float, everyone: dict[str, Worker]
         ) -> dict[str, Times]:
    versions = {name: worker.call("version") for name, worker in everyone.items()}
    workers = {name: worker for name, worker in everyone.items() if versions[name]}
    known = {name: worker.call("lines") for name, worker in workers.items()}
    print(f"{threads} thread(s) each; " + ", ".join(f"{n} {v or 'not installed'}"
                                                    for n, v in versions.items()))
    print(f"{'':84s}{'torch µs':>10s}{'retrograd':>10s} {'ratio':>6s} {'median':>6s}")
    found = {}
    for name in LINES:
        if re.search(pattern, name):
            taking_part = {n: worker for n, worker in workers.items() if name in known[n]}
            try:
                found[name] = measure(LINES[name], taking_part, seconds)
            except RuntimeError as error:
                FAILED.append(name)
                print(f"{name}: {error}", flush=True)
            else:
                print(said(LINES[name], found[name]), flush=True)
    if found:
        ratios = list(map(report.ratio, found.values()))
        print(f"{len(found)} lines, geometric mean {report.geometric_mean(ratios):.3f}, "
              f"{sum(r > 1 for r in ratios)} above 1")
    return found


def memory(pattern: str, threads: int, steps: int = 20) -> dict[str, dict[str, float]]:
    """Print what each line takes of memory, in processes that run nothing else.

    Return the megabytes that it adds at most.
    """
    table: dict[str, dict[str, float]] = {}
    print(f"{'MB added at most, MB in all, page faults of a step':84s}"
          f"{'torch':>24s}{'retrograd':>24s}")
    for name in LINES:
        if re.search(pattern, name):
            row = f"{name:84s}"
            for library in LIBRARIES[:2]:
                worker = Worker(library, threads)
                worker.call("version")
                added, whole, faults = worker.call("memory", name, steps)
                row += f"{added:8.1f}{whole:8.1f}{faults:8.0f}"
                table.setdefault(name, {})[library] = round(added, 1)
                worker.close()
            print(row, flush=True)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="PATTERN",
                        help="the lines whose name this regular expression is found in")
    parser.add_argument("--threads", default="2", metavar="N[,N]",
                        help="threads of each library, or several counts one after the other")
    parser.add_argument("--seconds", type=float, default=1.2, help="time for each line")
    parser.add_argument("--clock", choices=["wall", "processor"], default="wall",
                        help="processor time disturbs less on a busy machine; it adds up threads")
    parser.add_argument("--libraries", default=",".join(LIBRARIES), metavar="NAME,...",
                        help="beside which libraries, where installed")
    parser.add_argument("--memory", action="store_true",
                        help="peaks of memory and page faults in the place of times")
    parser.add_argument("--record", action="store_true",
                        help="add the figures to bench/history.jsonl, and write docs/bench.md and "
                             "docs/bench.svg; with --memory, keep its figures for the page")
    parser.add_argument("--pure", action="store_true",
                        help="whole programs without the native kernels; with --record, keep the "
                             "figures for the page")
    asked = parser.parse_args()
    counts = [int(count) for count in asked.threads.split(",")]
    if asked.memory:
        for count in counts:
            table = memory(asked.only, count)
        if asked.record:
            report.keep(report.MEMORY, table)
        return
    libraries = ["torch", "retrograd", *(n for n in asked.libraries.split(",")
                                         if n in LIBRARIES[2:])]
    if asked.pure:
        os.environ["RETROGRAD_KERNELS"] = "0"
        table = run(asked.only or PROGRAMS, counts[-1], asked.seconds, libraries, asked.clock)
        if asked.record:
            report.keep(report.PURE, table)
        sys.exit(f"{len(FAILED)} lines failed" if FAILED else 0)
    started = report.load()
    tables = {count: run(asked.only, count, asked.seconds, libraries, asked.clock)
              for count in counts}
    from . import alone

    alone.show(asked.only)
    if asked.record:
        report.record(tables, started, asked.clock)
    sys.exit(f"{len(FAILED)} lines failed" if FAILED else 0)


if __name__ == "__main__":
    from . import lines  # noqa: F401

    main()
