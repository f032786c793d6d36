"""How much of PyTorch's catalogue of ops agrees, for each dtype, from the report of a sweep.

``exists``: entries whose function is here; ``exact``: those whose every sample call gives PyTorch's
values and gradients; ``with reason``: those where the calls that do not are known to differ, each
with its reason; of the entries that PyTorch supports in that dtype on the CPU.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parity import test_op_db as sweep


def rows(report: list[list[Any]]) -> Iterator[tuple[str, int, int, int, int]]:
    """For each dtype: entries that exist, agree, and differ with a reason, of how many."""
    found = {(name, kind): differing for name, kind, _, differing in report}
    for dtype in sweep.DTYPES:
        infos = [info for info in sweep.op_db if info.supports_dtype(dtype, "cpu")]
        counts = [0, 0, 0]
        for info in infos:
            name, kind = sweep.title(info), sweep.kind_of(info, dtype)
            known = sweep.DIFFERENCES.get(name, {}).get(kind, {})
            differing = found.get((name, kind))
            counts[0] += name in sweep.OPS
            counts[1] += differing == {}
            counts[2] += bool(differing) and set(differing) <= set(known)
        yield str(dtype).removeprefix("torch."), *counts, len(infos)


def errors(report: list[list[Any]]) -> tuple[int, int]:
    """Of how many wrong calls how many are refused as by PyTorch."""
    tried = [(count, len(differing)) for _, kind, count, differing in report if kind == "errors"]
    calls = sum(count for count, _ in tried)
    return calls - sum(differing for _, differing in tried), calls


def main(path: str) -> None:
    report = [json.loads(line) for line in Path(path).read_text().splitlines()]
    print(f"{'dtype':<12}{'exists':>8}{'exact':>8}{'with reason':>13}{'of':>6}")
    for name, exists, exact, reasoned, total in rows(report):
        print(f"{name:<12}{exists:>8}{exact:>8}{reasoned:>13}{total:>6}")
    same, total = errors(report)
    print(f"wrong calls refused with PyTorch's type and first sentence: {same} of {total}")


if __name__ == "__main__":
    main(sys.argv[1])
