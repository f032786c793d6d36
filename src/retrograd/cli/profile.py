"""``retrograd profile``: what a program's ops cost."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from ..autograd.profiler import profile
from ..autograd.profiler_util import _format_time
from .run import reporting, run


def profile_program(program: tuple[list[str], bool, str], by: str, sort: str, rows: int,
                    output: Path | None) -> int:
    """Run a program, print the table also if it failed or exited; the exit status."""
    prof = profile(profile_memory=True, with_stack=by == "line" or output is not None,
                   with_modules=by == "module" or output is not None)
    with reporting(partial(_report, prof, by, sort, rows, output)), prof:
        return run(*program)


def _report(prof: profile, by: str, sort: str, rows: int, output: Path | None) -> None:
    sys.stdout.flush()
    events = prof.key_averages(group_by_line=by == "line", group_by_module=by == "module")
    if not events:
        print("retrograd profile: " + ("no op was called" if by == "op" else
                                       f"no op was called in a {by} of the program"))
    else:
        print(events.table(sort_by=sort, row_limit=rows), end="")
    wall = prof.profiling_end_time_ns - prof.profiling_start_time_ns
    print(f"The program took {_format_time(wall / 1000)}, "
          f"its ops {_format_time(prof.self_cpu_time_total)} of it")
    if output is not None:
        prof.export_chrome_trace(str(output))
        print(f"wrote {output}: open it in chrome://tracing or https://ui.perfetto.dev")
