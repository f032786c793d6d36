"""Rewrites ``recorded/`` with what the documents' code blocks do under PyTorch.

Run it as ``python tests/seeds/record.py`` in an environment that has PyTorch.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from parity.harness import essential
from seeds.runner import DOCUMENTS, FOLDER, blocks, run


def record(document: str) -> dict[str, dict]:
    """What each block of ``document`` does under PyTorch, by title."""
    recorded = {}
    for block in blocks():
        if block.document != document:
            continue
        outcome = run(block, "torch")
        recorded[block.title] = {
            "printed": outcome.printed.splitlines(),
            "warned": [[category, essential(text)] for category, text in outcome.warned],
            "raised": outcome.raised and [outcome.raised[0], essential(outcome.raised[1])],
            "left": outcome.left,
        }
    return recorded


def main() -> None:
    """Record every document."""
    for document in DOCUMENTS:
        path = FOLDER / "recorded" / f"{document}.json"
        path.write_text(json.dumps(record(document), indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
