"""A pytest plugin that keeps what the tests of all ops found, for docs/ops.md.

Used as ``pytest -p tests.sweeps.findings tests/test_every_op.py``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FINDINGS_FILE = Path(__file__).with_name("findings.json")

_found: dict[str, dict[str, str]] = {}


def pytest_runtest_logreport(report: Any) -> None:
    """Collect one test's finding; with several workers, the reports reach the first process."""
    if report.when != "call":
        return
    for key, value in report.user_properties:
        if key == "finding":
            name, column, dtype, result = value
            _found.setdefault(name, {})[f"{column} in {dtype}"] = result


def pytest_sessionfinish(session: Any) -> None:
    if hasattr(session.config, "workerinput") or not _found:
        return
    lines = [f"{json.dumps(name)}: {json.dumps(_found[name], sort_keys=True)}"
             for name in sorted(_found)]
    FINDINGS_FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
