"""What a program wrote and drew while vmap tried to run it all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..backend.interface import library_of
from ..base.modes import MODE, switched
from ..core.graph import INFERENCE
from ..core.inplace import check_writable
from ..core.op import Op
from ..core.tensor import Tensor, edge_of
from ..random import VMAPS, Generator
from ..transforms import Dual, MappedInput, TracedData, innermost, levels_of, not_batched


def _arrays(data: Any) -> list[Any]:
    """The arrays that raw data is made of."""
    if isinstance(data, Dual):
        return [*_arrays(data.primal), *_arrays(data.tangent)]
    return _arrays(data.value) if isinstance(data, TracedData) else [data]


def _base_of(tensor: Tensor) -> Tensor:
    return tensor if tensor._view is None else tensor._view.base


class Journal:
    """Remembers the state before each write to a tensor from outside, and before the first draw."""

    def __init__(self, parent: Any):
        self.parent = parent  # a journal, or whatever else hears of writes
        self.level = 0
        self.mapped: list[MappedInput] = []
        self.writes: list[tuple[Any, ...]] = []
        self.draws: dict[Generator, Tensor] = {}
        self.replaced: Tensor | None = None  # where the last write put values of the whole batch

    def at(self, level: int) -> Journal:
        self.level = level
        return self

    def note_write(self, op: Op, target: Tensor, tensors: dict[str, Any]) -> None:
        """``op`` is about to write to ``target``."""
        levels = levels_of(target._data)
        replaces = [journal.looks_at(op, target, tensors) for journal in self._with_parents()]
        refused = next((how for how, level, _ in reversed(VMAPS.get()) if how == "error"
                        or (how == "different" and level not in levels)), None)
        if refused == "different" and op.draws and not any(replaces):
            raise RuntimeError(
                "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This "
                "will appear like same randomness. If this is necessary for your usage, please "
                "file an issue with functorch.")
        self._note(target, any(edge_of(t) is not None for t in tensors.values()
                               if isinstance(t, Tensor)))

    def note_out(self, function: str, target: Tensor, result: Any) -> None:
        """A result is about to be written to a tensor given as ``out=``."""
        for journal in self._with_parents():
            journal.looks_at_out(function, target, result)
        self._note(target, False)

    def _with_parents(self) -> Iterator[Any]:
        journal: Any = self
        while journal is not None:
            yield journal
            journal = journal.parent

    def looks_at(self, op: Op, target: Tensor, tensors: dict[str, Any]) -> bool:
        """Note whether the whole batch's values are about to be put into ``target``."""
        replaces = bool(op.replaces) and self.level not in levels_of(target._data) and not any(
            self._has_batch(tensors[name]) for name in op.indices if name != "p") and any(
            self._has_batch(tensor) for tensor in tensors.values())
        self.replaced = _base_of(target) if replaces else None
        return replaces

    def looks_at_out(self, function: str, target: Tensor, result: Any) -> None:
        """The same of a tensor given as ``out=``."""
        self.replaced = _base_of(target) if self.level in levels_of(result) else None

    def _has_batch(self, value: Any) -> bool:
        return isinstance(value, Tensor) and self.level in levels_of(value._data)

    def _note(self, target: Tensor, requires_grad: bool) -> None:
        base = _base_of(target)
        if self.level in levels_of(target._data):
            entry = next((entry for entry in self.mapped if entry.inside is base), None)
            if entry is None:
                return  # made inside this vmap
            check_writable(entry.outside, requires_grad, MODE.get())
        arrays = _arrays(target._array())
        counter = target._counter()
        version = None if counter is INFERENCE else counter.n
        self.writes.append((target, target._edge, base, base._edge, version, target._data, arrays,
                            [array.copy() for array in arrays]))

    def note_draw(self, generator: Generator) -> None:
        """Numbers are about to be drawn."""
        if generator not in self.draws:
            self.draws[generator] = generator.get_state()

    def close(self) -> None:
        """The program ran to its end: what it did is now part of the program around it."""
        around = [journal for journal in self._with_parents() if isinstance(journal, Journal)][1:]
        if around:
            around[0].writes += self.writes
            for generator, state in self.draws.items():
                around[0].draws.setdefault(generator, state)

    def undo(self) -> None:
        """Put everything back, the latest write first."""
        for target, edge, base, base_edge, version, data, arrays, copies in reversed(self.writes):
            for array, copy in zip(arrays, copies, strict=True):
                array[...] = copy
            target._replace_data(data)
            if version is not None:
                target._counter().n = version
            target._edge, base._edge = edge, base_edge
        for generator, state in self.draws.items():
            generator.set_state(state)


class FirstTurn(Journal):
    """What the first turn of a loop writes: not to memory that every turn would overwrite.

    Such memory is known from the attempt to run all turns at once; what the program
    makes itself is another in each turn.
    """

    def __init__(self, attempt: Journal, tell: Callable[[], None]):
        super().__init__(attempt.parent)
        self.shared = innermost(attempt.replaced._array())  # type: ignore[union-attr]
        self.tell = tell

    def watch(self, run: Callable[[], Any]) -> Any:
        """What ``run`` returns; if it is stopped, everything is as it was before."""
        try:
            with switched(journal=self):
                result = run()
            self.tell()
        except BaseException:
            self.undo()
            raise
        self.close()
        return result

    def _is_shared(self, target: Tensor) -> bool:
        memory = innermost(_base_of(target)._array())
        return library_of(memory).may_share_memory(memory, self.shared)  # type: ignore[no-any-return]

    def looks_at(self, op: Op, target: Tensor, tensors: dict[str, Any]) -> bool:
        if op.replaces and self._is_shared(target):
            raise RuntimeError(not_batched(op.replaces))
        return False

    def looks_at_out(self, function: str, target: Tensor, result: Any) -> None:
        if self._is_shared(target):
            raise RuntimeError(f"Batching rule not implemented for aten::{function}.out; the "
                               "fallback path doesn't work on out= or view ops.")
