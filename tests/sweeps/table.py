"""How much of PyTorch's catalogue of ops agrees, for each dtype, from the report of a sweep.

``entries``: those that PyTorch itself runs on the CPU in that dtype; ``exists``: those whose
function is here; ``exact``: those whose every sample call gives PyTorch's values and gradients;
``with reason``: those where the calls that do not are known to differ, each with its reason. What
is found is printed, and kept in op_db_counts.json beside this file for docs/ops.md.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parity import test_op_db as sweep

COUNTS_FILE = Path(__file__).with_name("op_db_counts.json")


def rows(report: list[list[Any]]) -> Iterator[dict[str, Any]]:
    """For each dtype: entries that exist, agree, and differ with a reason, of how many."""
    found = {(name, kind): differing for name, kind, _, differing in report}
    for dtype in sweep.DTYPES:
        infos = [info for info in sweep.op_db if info.supports_dtype(dtype, "cpu")]
        here = [info for info in infos if not info.name.startswith(sweep.ELSEWHERE)]
        exact, reasons = 0, {}
        for info in here:
            name, kind = sweep.title(info), sweep.kind_of(info, dtype)
            known = sweep.DIFFERENCES.get(name, {}).get(kind, {})
            differing = found.get((name, kind))
            exact += differing == {}
            if differing and set(differing) <= set(known):
                reasons[name] = known[min(differing, key=int)]
        yield {"dtype": str(dtype).removeprefix("torch."), "entries": len(here),
               "exists": sum(sweep.title(info) in sweep.OPS for info in here), "exact": exact,
               "with reason": reasons, "elsewhere": len(infos) - len(here)}


def errors(report: list[list[Any]]) -> dict[str, Any]:
    """Of how many wrong calls how many are refused as by PyTorch, and why the others are not."""
    tried = [(name, count, differing) for name, kind, count, differing in report
             if kind == "errors"]
    calls = sum(count for _, count, _ in tried)
    return {"calls": calls, "alike": calls - sum(len(differing) for *_, differing in tried),
            "with reason": {name: sweep.DIFFERENCES[name]["errors"][min(differing, key=int)]
                            for name, _, differing in tried
                            if differing and name in sweep.DIFFERENCES}}


def main(path: str) -> None:
    lines = map(json.loads, Path(path).read_text().splitlines())
    report = list({(name, kind): [name, kind, *rest] for name, kind, *rest in lines}.values())
    table, refused = list(rows(report)), errors(report)
    print(f"{'dtype':<12}{'entries':>8}{'exists':>8}{'exact':>8}{'with reason':>13}")
    for row in table:
        print(f"{row['dtype']:<12}{row['entries']:>8}{row['exists']:>8}{row['exact']:>8}"
              f"{len(row['with reason']):>13}")
    print(f"on other devices alone: {max(row['elsewhere'] for row in table)} entries more")
    print("wrong calls refused with PyTorch's type and first sentence: "
          f"{refused['alike']} of {refused['calls']}")
    COUNTS_FILE.write_text(json.dumps({"dtypes": table, "errors": refused}, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
