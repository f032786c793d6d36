"""What a program wrote and drew while vmap tried to run it all at once."""

from __future__ import annotations

from typing import Any

from ..core.op import Op
from ..core.tensor import Tensor
from ..random import VMAPS, Generator
from ..transforms import Dual, TracedData, levels_of

_OVERWRITING = {"uniform", "normal", "log_normal", "exponential", "cauchy", "geometric", "random",
                "_random_below", "_random_any", "bernoulli", "_bernoulli_tensor"}
"""The ops that put random numbers into their first argument."""


def _arrays(data: Any) -> list[Any]:
    """The arrays that raw data is made of."""
    if isinstance(data, Dual):
        return [*_arrays(data.primal), *_arrays(data.tangent)]
    return _arrays(data.value) if isinstance(data, TracedData) else [data]


class Journal:
    """Remembers the state before each write to a tensor from outside, and before the first draw."""

    def __init__(self, parent: Journal | None):
        self.parent = parent
        self.level = 0
        self.writes: list[tuple[Any, ...]] = []
        self.draws: dict[Generator, Tensor] = {}

    def at(self, level: int) -> Journal:
        self.level = level
        return self

    def note_write(self, op: Op, target: Tensor) -> None:
        """``op`` is about to write to ``target``."""
        levels = levels_of(target._data)
        if op.name in _OVERWRITING and any(
                how == "different" and level not in levels for how, level, _ in VMAPS.get()):
            raise RuntimeError(
                "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This "
                "will appear like same randomness. If this is necessary for your usage, please "
                "file an issue with functorch.")
        if self.level in levels:
            return  # made inside this vmap
        base = target if target._view is None else target._view.base
        arrays = _arrays(target._array())
        self.writes.append((target, target._edge, base, base._edge, target._counter().n,
                            target._data, arrays, [array.copy() for array in arrays]))

    def note_draw(self, generator: Generator) -> None:
        """Numbers are about to be drawn."""
        if generator not in self.draws:
            self.draws[generator] = generator.get_state()

    def close(self) -> None:
        """The program ran to its end: what it did is now part of the program around it."""
        if self.parent is not None:
            self.parent.writes += self.writes
            for generator, state in self.draws.items():
                self.parent.draws.setdefault(generator, state)

    def undo(self) -> None:
        """Put everything back, the latest write first."""
        for target, edge, base, base_edge, version, data, arrays, copies in reversed(self.writes):
            for array, copy in zip(arrays, copies, strict=True):
                array[...] = copy
            target._replace_data(data)
            target._counter().n = version
            target._edge, base._edge = edge, base_edge
        for generator, state in self.draws.items():
            generator.set_state(state)
