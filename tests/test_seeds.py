"""Every code block of the documents that describe autograd does what it does under PyTorch."""

from __future__ import annotations

import json
from functools import cache

import pytest

from seeds.runner import FOLDER, Block, blocks, run

BLOCKS = list(blocks())


@cache
def recorded(document: str) -> dict[str, dict]:
    return json.loads((FOLDER / "recorded" / f"{document}.json").read_text())


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_block_does_what_was_recorded(block: Block) -> None:
    wanted = recorded(block.document)[block.title]
    outcome = run(block, "retrograd")
    check_raised(outcome.raised, wanted["raised"])
    assert outcome.printed.splitlines() == wanted["printed"]
    assert len(outcome.warned) == len(wanted["warned"]), outcome.warned
    for ours, theirs in zip(outcome.warned, wanted["warned"]):
        assert ours[0] == theirs[0]
        assert ours[1].startswith(theirs[1])
    assert outcome.left == wanted["left"]


def check_raised(ours: tuple[str, str] | None, theirs: list[str] | None) -> None:
    """Messages may go on after PyTorch's own words."""
    if theirs is None:
        assert ours is None, f"{ours[0]}: {ours[1]}"
    else:
        assert ours is not None, f"expected {theirs[0]}"
        assert ours[0] == theirs[0]
        assert ours[1].startswith(theirs[1])


def test_every_recorded_block_exists() -> None:
    for document in {block.document for block in BLOCKS}:
        titles = [block.title for block in BLOCKS if block.document == document]
        assert list(recorded(document)) == titles
