"""What lies row by row in PyTorch does so here, so that ``view`` takes it: inputs in any layout.

The other way round results may differ: here they lie row by row more often (``conv2d`` of images
whose channels come last, factors of matrices, Fourier transforms), which no program can fail by.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from tests.sweeps.cases import tensors

import retrograd as rg
from parity.test_op_db import OPS, UNINITIALISED, Arguments, dtype_of, quietly, seed_all, subject_of

MOST_SAMPLES = 3
ARRANGED: dict[str, Callable[[Any, Any], Any]] = {
    "reversed": lambda lib, x: x.transpose(0, -1).contiguous().transpose(0, -1)
    if x.ndim > 1 else x,
    "sliced": lambda lib, x: lib.stack([x, x], -1)[..., 0],
    "channels last": lambda lib, x: x.contiguous(memory_format=lib.channels_last)
    if x.ndim == 4 else x,
}
# Transposed results of LAPACK's routines there, which write column by column.
ELSEWHERE = {"svd_lowrank", "pca_lowrank", "linalg.lu_solve"}


class Arranged(Arguments):
    """A sample's arguments, which lie otherwise in memory than row by row."""

    def __init__(self, lib: Any, sample: Any, arrange: Callable[[Any, Any], Any]) -> None:
        self.arrange = arrange
        super().__init__(lib, sample)

    def tensor(self, value: Any) -> Any:
        return self.arrange(self.lib, super().tensor(value)) if value.layout == torch.strided \
            else super().tensor(value)


def called(function: Any, given: Arguments) -> list[Any]:
    given.lib.manual_seed(42)
    return tensors(given.lib, function(*given.args, **given.kwargs))


@pytest.mark.parametrize("name", [name for name, info in OPS.items()
                                  if info.name not in UNINITIALISED | ELSEWHERE])
def test_layouts(name: str) -> None:
    info = OPS[name]
    seed_all()
    with quietly():
        samples = list(info.sample_inputs("cpu", dtype_of(info), requires_grad=False))
        for sample in samples[:MOST_SAMPLES]:
            for arrangement, arrange in ARRANGED.items():
                try:
                    wanted = called(info.op, Arranged(torch, sample, arrange))
                except (RuntimeError, NotImplementedError):  # PyTorch's own `view` inside
                    continue
                found = called(subject_of(info), Arranged(rg, sample, arrange))
                for theirs, ours in zip(wanted, found, strict=True):
                    if theirs.layout == torch.strided and theirs.is_contiguous():
                        assert ours.is_contiguous(), (arrangement, sample, theirs.stride(),
                                                      ours.stride())
