"""Every code block of the documents that describe autograd, run under both libraries."""

from __future__ import annotations

import importlib

import pytest

from parity import harness
from seeds.runner import Block, blocks, run


@pytest.mark.parametrize("block", list(blocks()), ids=lambda block: block.name)
def test_block_does_the_same_under_both(block: Block) -> None:
    theirs, ours = record(block, "torch"), record(block, harness.SUBJECT)
    harness.compare(block.name, theirs, ours)


def record(block: Block, library: str) -> harness.Record:
    """What a block prints, warns about and raises, and the tensors it leaves behind."""
    outcome = run(block, library)
    raised = outcome.raised and harness.Raised(*outcome.raised)
    left = [
        harness.Observation(0, name, value)
        for name, value in tensors_of(outcome.namespace, library)
    ]
    warned = [harness.Warned(*warning) for warning in outcome.warned]
    return harness.Record(left, outcome.printed, warned, raised)


def tensors_of(namespace: dict, library: str):
    nn = importlib.import_module(library).nn
    for name, value in namespace.items():
        if harness.is_tensor(value):
            yield name, harness.observe(value)
            if value.is_leaf:
                yield f"{name}.grad", harness.observe(value.grad)
        elif isinstance(value, nn.Module):
            for key, parameter in value.named_parameters():
                yield f"{name}.{key}", harness.observe(parameter)
                yield f"{name}.{key}.grad", harness.observe(parameter.grad)
