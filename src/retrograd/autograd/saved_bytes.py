"""``ledger``: the bytes that are saved for backward, by line, op and module."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple
from weakref import ref

from ..backend.interface import is_array
from ..base.call_sites import Site, user_frame
from ..base.modes import MODE, enter
from ..base.tables import plain_table, rich_table, size
from ..core.graph import short_name
from ..core.holders import add_holders, bytes_in, memory_in, saved_data


class Saved:
    """Memory that is kept for backward: by whom first, since and until when.

    Time is the number of the node that was recorded.
    """

    __slots__ = ("bytes", "site", "op", "module", "is_parameter", "since", "until", "nodes",
                 "memory")

    def __init__(self, memory: Any, op: str, site: Site, module: str, is_parameter: bool,
                 since: int):
        self.bytes = bytes_in(memory)
        self.op, self.site, self.module, self.is_parameter = op, site, module, is_parameter
        self.since: int = since
        self.until: int | None = None
        self.nodes = 0
        self.memory = ref(memory) if is_array(memory) else partial(_itself, memory)

    @property
    def line(self) -> str:
        code = self.site.code
        return "an unknown line" if code is None else f"{code.co_filename}:{self.site.line}"


def _itself(value: Any) -> Any:
    return value


class Row(NamedTuple):
    """The bytes saved by one line, op or module, in how many pieces."""

    name: str
    bytes: int
    pieces: int


class ledger:
    """Count what is saved for backward inside a block, each piece of memory once.

    ``current`` and ``peak`` are bytes, without those of parameters, which live anyway and are
    counted in ``parameters``. ``rows("line")``, ``rows("op")`` and ``rows("module")`` say who saved
    what was held at the peak; printed, it is a table by line. What hooks on saved tensors made of
    them counts in their place, and of a checkpoint its inputs and the state of random numbers.

    >>> import retrograd as torch
    >>> x = torch.ones(1000, requires_grad=True)
    >>> with ledger() as l:
    ...     y = x.exp() * x.sin()
    >>> l.current, [(row.name, row.bytes) for row in l.rows("op")]
    (8000, [('Exp', 4000), ('Mul', 4000)])
    >>> y.sum().backward()
    >>> l.current, l.peak
    (0, 8000)
    """

    def __init__(self) -> None:
        self.time = 0
        self.peak = self._current = self._parameters = 0
        self._peak_time = 0
        self._by_memory: dict[int, Saved] = {}
        self._by_node: dict[int, tuple[Any, list[tuple[int, Saved]]]] = {}
        self._over: list[Saved] = []  # what is held no longer, and was at the peak
        self._names: dict[tuple[int, int], str] = {}

    def __enter__(self) -> ledger:
        self._outside = enter(MODE, MODE.get().but(ledger=self))
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        after = self._outside
        try:  # other switches may have been changed for good
            after = MODE.get().but(ledger=self._outside.ledger)
        finally:
            MODE.set(after)
        if isinstance(error, MemoryError):
            held = sorted(self.saved("now"), key=lambda s: -s.bytes)[:10]
            add_holders(error, self.current, [(s.bytes, s.op, s.site) for s in held])

    # ------------------------------------------------------------ keeping it

    def note(self, node: Any) -> None:
        """Count what a node that was just recorded has saved."""
        self.time += 1
        held: list[tuple[int, Saved]] = []
        module = None
        for data, is_leaf in saved_data(node):
            memory = memory_in(data)
            known = self._by_memory.get(id(memory))
            if known is None or known.memory() is not memory:
                if module is None:
                    frame = sys._getframe(1)
                    module, op = self._module(frame), short_name(node)
                    user = user_frame(frame)
                    site = Site(user.f_code, user.f_lasti)
                known = Saved(memory, op, site, module, is_leaf, self.time)
                self._by_memory[id(memory)] = known
                self._add(known, known.bytes)
            if not any(known is other for _, other in held):
                known.nodes += 1
                held.append((id(memory), known))
        if held:
            self._by_node[id(node)] = (ref(node, partial(self._gone, id(node))), held)
        if self._current > self.peak:
            self.peak, self._peak_time = self._current, self.time
            self._over.clear()  # which was over before this peak

    def _add(self, saved: Saved, count: int) -> None:
        if saved.is_parameter:
            self._parameters += count
        else:
            self._current += count

    def _gone(self, number: int, _: Any = None) -> None:
        """Forget what a node held that is no more, or that has let go of it."""
        for key, saved in self._by_node.pop(number, (None, ()))[1]:
            saved.nodes -= 1
            if not saved.nodes:
                self._add(saved, -saved.bytes)
                saved.until = self.time
                if self._by_memory.get(key) is saved:
                    del self._by_memory[key]
                if saved.since <= self._peak_time:
                    self._over.append(saved)

    def settle(self) -> None:
        """Notice which nodes a backward pass has freed."""
        for number, (node, _) in list(self._by_node.items()):
            alive = node()
            if alive is None or next(saved_data(alive), None) is None:
                self._gone(number)

    def _module(self, frame: Any) -> str:
        """The module whose ``forward`` is running, by the way to it from the outermost."""
        found = []
        while frame is not None:
            code = frame.f_code
            if code.co_name == "forward" and code.co_varnames[:1] == ("self",):
                module = frame.f_locals.get("self")
                if hasattr(type(module), "named_modules"):
                    found.append(module)
            frame = frame.f_back
        path = ""
        for outer, inner in zip([None, *reversed(found)], reversed(found), strict=False):
            path = f"{path}.{self._name(outer, inner)}" if path else type(inner).__name__
        return path

    def _name(self, outer: Any, inner: Any) -> str:
        """What a module is called inside another one."""
        key = id(outer), id(inner)
        if key not in self._names:
            self._names[key] = next((name for name, module in outer.named_modules()
                                     if module is inner), type(inner).__name__)
        return self._names[key]

    # ------------------------------------------------------------ looking at it

    @property
    def current(self) -> int:
        """The bytes that are held now."""
        self.settle()
        return self._current

    @property
    def parameters(self) -> int:
        """The bytes of parameters that are held now, which are not counted otherwise."""
        self.settle()
        return self._parameters

    def saved(self, when: str = "peak") -> Iterator[Saved]:
        """Every piece of memory that was held at the peak, or is held now."""
        if when not in ("peak", "now"):
            raise ValueError(f"ledger: 'when' must be 'peak' or 'now', not {when!r}")
        self.settle()
        pieces = {id(s): s for _, held in list(self._by_node.values()) for _, s in held}
        for saved in [*pieces.values(), *(self._over if when == "peak" else ())]:
            if not saved.is_parameter and (when == "now" or saved.since <= self._peak_time):
                yield saved

    def rows(self, by: str = "line", when: str = "peak") -> list[Row]:
        """The bytes by "line", "op" or "module", the largest first."""
        if by not in ("line", "op", "module"):
            raise ValueError(f"ledger: 'by' must be 'line', 'op' or 'module', not {by!r}")
        sums: dict[str, list[int]] = {}
        for saved in self.saved(when):
            entry = sums.setdefault(getattr(saved, by), [0, 0])
            entry[0] += saved.bytes
            entry[1] += 1
        return sorted([Row(name, *entry) for name, entry in sums.items()],
                      key=lambda row: (-row.bytes, row.name))

    def _title(self) -> str:
        return (f"saved for backward: {size(self.current)} now, {size(self.peak)} at the peak; "
                f"parameters not counted: {size(self.parameters)}")

    def _cells(self, by: str, limit: int) -> list[tuple[str, str, str]]:
        rows = self.rows(by)
        cells = [(size(row.bytes), str(row.pieces), row.name or "(none)") for row in rows[:limit]]
        if len(rows) > limit:
            cells.append((size(sum(row.bytes for row in rows[limit:])), "",
                          f"and {len(rows) - limit} more"))
        return cells

    def table(self, by: str = "line", limit: int = 20) -> str:
        """A table of plain text of what was held at the peak."""
        return f"{self._title()}\n\n" + plain_table(("bytes", "pieces", by),
                                                    self._cells(by, limit), right=(0, 1))

    def __str__(self) -> str:
        return self.table()

    def __rich__(self) -> Any:
        return rich_table(self._title(), ("bytes", "pieces", "line"), self._cells("line", 20),
                          right=(0, 1))
