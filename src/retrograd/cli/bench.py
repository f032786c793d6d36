"""``retrograd bench``: programs side by side in every library that is installed.

The programs are those of ``bench/`` in a checkout of the source; each library runs in a process of
its own, results are compared before a time counts, and all take turns.
"""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any

from ..base.call_sites import PACKAGE

_PEERS = ("torch", "jax", "autograd", "tinygrad", "mygrad")


def bench(pattern: str | None, threads: int, seconds: float, only_list: bool) -> int:
    """Print a table with a column for each library; the exit status."""
    suite = _suite()
    if suite is None:
        print("retrograd bench: error: the programs that it times are not in the installed "
              "package: run it from a checkout of the source, installed with `pip install -e .`",
              file=sys.stderr)
        return 1
    try:
        chosen = _chosen(suite, pattern)
    except re.error as error:
        print(f"retrograd bench: error: {pattern!r} is no regular expression: {error}",
              file=sys.stderr)
        return 2
    if not chosen:
        print(f"retrograd bench: error: no program's name has {pattern!r}; --list shows them all",
              file=sys.stderr)
        return 1
    if only_list:
        print(*(suite.declaring.LINES if pattern is None else chosen), sep="\n")
        return 0
    workers: dict[str, Any] = {}
    try:
        for name in ("retrograd", *_PEERS):
            workers[name] = suite.worker.Worker(name, threads)
        return _measured(suite, workers, chosen, threads, seconds)
    finally:
        for worker in workers.values():
            worker.close()


def _suite() -> Any:
    """The benchmark suite beside this package's source, or None."""
    root = Path(PACKAGE).parent.parent
    if not (root / "bench" / "declaring.py").is_file():
        return None
    sys.path.insert(0, str(root))  # the processes of the libraries look there too
    suite = importlib.import_module("bench.__main__")
    for name in ("declaring", "worker", "lines"):
        setattr(suite, name, importlib.import_module(f"bench.{name}"))
    return suite


def _chosen(suite: Any, pattern: str | None) -> list[str]:
    lines = suite.declaring.LINES
    if pattern is not None:
        return [name for name in lines if re.search(pattern, name)]
    others = suite.declaring.OTHERS.values()
    return [name for name in lines if others and all(name in programs for programs in others)] \
        or list(lines)


def _measured(suite: Any, workers: dict[str, Any], chosen: list[str], threads: int, seconds: float
              ) -> int:
    versions = {name: worker.call("version") for name, worker in workers.items()}
    here = {name: worker for name, worker in workers.items() if versions[name]}
    known = {name: set(worker.call("lines")) for name, worker in here.items()}
    print(f"microseconds of a step at best, {threads} thread(s) each: "
          + ", ".join(f"{name} {version or 'not installed'}"
                      for name, version in versions.items()))
    width = max(map(len, chosen)) + 2
    print(f"{'':{width}}" + "".join([f"{name:>12}" for name in here]) + "   fastest")
    failed = 0
    for name in chosen:
        taking_part = {n: worker for n, worker in here.items() if name in known[n]}
        try:
            found = suite.measure(suite.declaring.LINES[name], taking_part, seconds)
        except RuntimeError as error:
            failed += 1
            print(f"{name:{width}}{error}", flush=True)
            continue
        cells = [f"{found[n][0] * 1e6:12.1f}" if n in found else f"{'-':>12}" for n in here]
        print(f"{name:{width}}{''.join(cells)}   {min(found, key=lambda n: found[n][0])}",
              flush=True)
    return 1 if failed else 0
