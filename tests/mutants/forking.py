"""Tests that were collected once, run in copies of the process that did it."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Callable
from typing import Any

from _pytest.runner import runtestprotocol
from _pytest.warnings import catch_warnings_for_item


def passes(item: Any, following: Any) -> bool:
    # With the warnings that the test's own marks let pass.
    with catch_warnings_for_item(item.config, item.ihook, "runtest", item=item):
        return not any(report.failed for report in
                       runtestprotocol(item, log=False, nextitem=following))


PATIENCE = 10  # seconds on the clock for one of the processor, on a machine that others use too


def within(run: Callable[[], None], seconds: float) -> int | None:
    """The exit status of a function in a copy of this process, or None if it takes too long.

    The seconds are those of the processor.
    """
    child = os.fork()
    if not child:
        try:
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
            os.setpgid(0, 0)
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
            run()
        finally:
            os._exit(99)
    ends = time.monotonic() + PATIENCE * seconds
    while time.monotonic() < ends:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            # A process is killed for want of memory too, which says nothing.
            return None if code in (-signal.SIGXCPU, -signal.SIGKILL) else code
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None
