"""Strike from the known differences what differs no more, according to the report of a sweep."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

DIFFERENCES_FILE = Path(__file__).with_name("op_db_differences.json")


def struck(known: dict[str, Any], report: list[list[Any]]) -> dict[str, Any]:
    """``known`` without the calls that the report has seen agree."""
    for name, kind, count, found in report:
        entry = known.get(name, {}).get(kind)
        if entry is None:
            continue
        remaining = {n: why for n, why in entry.items() if int(n) >= count or n in found}
        known[name][kind] = remaining
        if not remaining:
            del known[name][kind]
    return {name: kinds for name, kinds in known.items() if kinds}


def write(known: dict[str, Any]) -> None:
    lines = [f"{json.dumps(name)}: {json.dumps(known[name])}" for name in sorted(known)]
    DIFFERENCES_FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    lines = Path(sys.argv[1]).read_text().splitlines()
    write(struck(json.loads(DIFFERENCES_FILE.read_text()), [json.loads(line) for line in lines]))
