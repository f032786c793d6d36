"""Which call of a module each recorded node belongs to.

Nodes are numbered in the order in which they were recorded. Inside :func:`recording` every call of
a module notes the numbers at its begin and its end, so that a node belongs to the innermost call
around its number: recording itself costs nothing more. Of a graph that was recorded without that,
the parameters that a node uses and the method it was recorded in tell as much as they can.
"""

from __future__ import annotations

import weakref
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import get_ident
from types import FunctionType
from typing import Any, NamedTuple

from .. import nn
from ..base.call_sites import is_internal
from ..core.graph import next_sequence

Path = tuple[str, ...]
"""The names of modules from the outermost to the innermost; a further call of one has its number
behind its name."""


class Call:
    """One call of a module: who called, and the numbers of the nodes that it recorded."""

    __slots__ = ("module", "title", "caller", "begin", "end", "__weakref__")

    def __init__(self, module: nn.Module, caller: Call | None) -> None:
        self.module = weakref.ref(module)
        self.title = type(module).__name__
        self.caller = caller
        self.begin, self.end = next_sequence(), -1

    def holds(self, number: int) -> bool:
        return self.begin < number and (self.end < 0 or number < self.end)


CALLS: deque[Call] = deque(maxlen=100_000)
"""The calls that were noted, by their begin."""


@contextmanager
def noting_calls() -> Iterator[None]:
    """Note the calls of modules in this block, by this thread."""
    running: list[Call] = []
    thread = get_ident()

    def enter(module: nn.Module, args: Any) -> None:
        if get_ident() != thread:
            return
        call = Call(module, running[-1] if running else None)
        CALLS.append(call)
        running.append(call)

    def leave(module: nn.Module, args: Any, output: Any) -> None:
        # Calls that an interrupt left have no end of their own.
        while running and get_ident() == thread:
            call = running.pop()
            call.end = next_sequence()
            if call.module() is module:
                break

    handles = (nn.modules.module.register_module_forward_pre_hook(enter),
               nn.modules.module.register_module_forward_hook(leave, always_call=True))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


class Owner(NamedTuple):
    """Where a node belongs: the path of its module's call, and the class of each module there."""

    path: Path
    types: Path


def owners(nodes: Sequence[Any], names: dict[int, str],
           modules: Sequence[tuple[str, nn.Module]]) -> list[Owner]:
    """The owner of each node; ``nodes`` come by age, ``names`` are those of leaves by identity."""
    inferred = _inferred(nodes, names, modules)
    calls = list(CALLS)
    begins = [call.begin for call in calls]
    known = _CallNames(modules)
    types = {name: type(module).__name__ for name, module in modules}
    found = []
    for node, guess in zip(nodes, inferred):
        at = bisect_right(begins, node.seq) - 1
        call: Call | None = calls[at] if at >= 0 else None
        while call is not None and not call.holds(node.seq):
            call = call.caller
        if call is not None:
            found.append(known.owner(call))
        else:
            found.append(Owner(guess, tuple([types.get(".".join(guess[:end]), "")
                                             for end in range(1, len(guess) + 1)])))
    return found


class _CallNames:
    """What calls are called: each by the way from its caller's module to its own."""

    def __init__(self, modules: Sequence[tuple[str, nn.Module]]) -> None:
        self.outer = {id(module): name for name, module in modules}
        self.inner: dict[int, dict[int, str]] = {}
        self.seen: dict[Call, Owner] = {}
        self.used: dict[Path, int] = {}

    def owner(self, call: Call) -> Owner:
        pending = [call]
        while pending[-1] not in self.seen:
            caller = pending[-1].caller
            if caller is None or caller in self.seen:
                self._name(pending[-1])
            else:
                pending.append(caller)
            while len(pending) > 1 and pending[-1] in self.seen:
                pending.pop()
        return self.seen[call]

    def _name(self, call: Call) -> None:
        module = call.module()
        before = Owner((), ()) if call.caller is None else self.seen[call.caller]
        names = self.outer
        if call.caller is not None:
            outer = call.caller.module()
            names = {} if outer is None else self.inner.setdefault(
                id(outer), {id(each): name for name, each in outer.named_modules()})
        name = names.get(id(module), "") or call.title
        path = (*before.path, name)
        times = self.used[path] = self.used.get(path, 0) + 1
        if times > 1:
            path = (*before.path, f"{name} ({times})")
        self.seen[call] = Owner(path, (*before.types, call.title))


def _inferred(nodes: Sequence[Any], names: dict[int, str],
              modules: Sequence[tuple[str, nn.Module]]) -> list[Path]:
    """The modules that nodes seem to belong to, by their parameters and the methods they are in."""
    called = _Called(modules)
    used = [_common([called.path(names[id(edge)].rpartition(".")[0]) for edge in node.edges()
                     if id(edge) in names]) for node in nodes]
    after: list[Path | None] = [None] * len(nodes)
    coming: Path | None = None
    for place in reversed(range(len(nodes))):
        coming = after[place] = coming if used[place] is None else used[place]
    before: Path | None = None
    found: list[Path] = []
    for node, own, following in zip(nodes, used, after):
        before = before if own is None else own
        if own is not None:
            found.append(own)
            continue
        around = [path for path in (before, following) if path is not None]
        possible = [path for path in called.methods.get(getattr(node, "code", None), ())
                    if any(other[:len(path)] == path for other in around)]
        found.append(max(possible, key=len) if possible else
                     called.between(*around) if len(around) > 1 else ())
    return found


class _Called:
    """The modules that can be called, which lists of modules cannot: their paths and methods."""

    def __init__(self, modules: Sequence[tuple[str, nn.Module]]) -> None:
        self.names = None if not modules else {
            name for name, module in modules if type(module).forward is not nn.Module.forward}
        self.methods: dict[Any, list[Path]] = {}
        for name, module in modules:
            for cls in type(module).__mro__:
                for value in vars(cls).values():
                    if isinstance(value, FunctionType) \
                            and not is_internal(value.__code__.co_filename):
                        self.methods.setdefault(value.__code__, []).append(self.path(name))

    def between(self, before: Path, after: Path) -> Path:
        """What is run between two modules: what both are in; of a list, the one that was run."""
        parts = ".".join(before).split(".")
        shared = _common([tuple(parts), tuple(".".join(after).split("."))]) or ()
        if shared and self.names is not None:
            while ".".join(shared) not in self.names and len(shared) < len(parts):
                shared = tuple(parts[:len(shared) + 1])
        return self.path(".".join(shared))

    def path(self, name: str) -> Path:
        """A dotted name as names of modules, each as its caller knows it: "layers.0", "norm"."""
        found, start = [], 0
        parts = name.split(".") if name else []
        for end in range(1, len(parts) + 1):
            if self.names is None or end == len(parts) or ".".join(parts[:end]) in self.names:
                found.append(".".join(parts[start:end]))
                start = end
        return tuple(found)


def _common(paths: Sequence[Path]) -> Path | None:
    """What all paths begin with."""
    if not paths:
        return None
    shared = [names[0] if len(set(names)) == 1 else None for names in zip(*paths)]
    return paths[0][:shared.index(None) if None in shared else len(shared)]
