"""Where gradients stop flowing: at which line, by what, and which leaves lie behind.

A tensor that was cut off from the graph keeps a cut in ``_cut``: a plain tuple, made where nothing
is recorded anyway; see :class:`Cut` for what its places mean. A node keeps the cuts of operands
that had no history. Values that leave the tensors altogether (``.item()``, ``.tolist()``,
``.numpy()``) cannot be followed; the last of those exits are remembered by their lines.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar
from typing import Any, NamedTuple
from weakref import ref

from ..base.call_sites import Site, is_internal, user_frame
from .graph import LEAF


class Behind(ref):  # type: ignore[type-arg]
    """What lies behind a cut. No program holds it: it forbids nothing that a weak one would."""

    __slots__ = ()
    __hash__ = ref.__hash__

    def __eq__(self, other: object) -> bool:  # by identity, since tensors compare by element
        known = self()
        return self is other or (known is not None and isinstance(other, Behind)
                                 and known is other())


Leaves = tuple[Behind, ...]


class Cut(NamedTuple):
    """One place where gradients stop: what a raw cut, a plain tuple, means."""

    code: Any
    lasti: int
    how: str  # "detach", "data", "no_grad", or the op that has no derivative
    behind: Leaves | None  # what lies behind it, leaves or nodes; None where that is not known
    earlier: tuple[Any, ...] = ()  # cuts, raw, of the operands that were cut off before
    depth: int = 0

    @property
    def site(self) -> Site:
        return Site(self.code, self.lasti)


class Memory:
    """How much is remembered; ``retrograd explain`` remembers everything."""

    depth = 8  # cuts one behind the other
    nodes = 512  # to look at for the leaves behind a cut
    seen = -1  # the age of the newest node that was behind a cut


REMEMBERS_ALL: ContextVar[bool] = ContextVar("retrograd.remembers_all_cuts", default=False)
"""Set while a function runs without a graph that will be computed again with one."""

KNOWN: dict[tuple[int, ...], Leaves] = {}
"""What lies behind the last cuts, by the ids of the leaves."""
MANY = 256  # then all are forgotten


def leaves_behind(edge: Any) -> Leaves:
    """The leaves that can be reached from an edge, weakly; or its node, if there are too many.

    As many nodes are looked at as have been recorded since the last time: looking costs a small
    part of what recording did.
    """
    node = edge.node if edge.is_output else edge
    allowed = node.seq - Memory.seen
    if allowed <= 0:
        return (Behind(node),)
    Memory.seen = node.seq
    if node._arity == 1 and (leaf := node.next0) is not None and not leaf._arity:
        leaves = [leaf]  # the usual case, without the sets of a longer way
    else:
        found = [node]
        seen = {node}
        leaves = []
        allowed = min(allowed, Memory.nodes)
        for known in found:
            if not known._arity:
                leaves.append(known)
                continue
            allowed -= not known.is_output
            if allowed < 0:
                return (Behind(node),)
            for edge in (known.node,) if known.is_output else known.edges():
                if edge is not None and edge not in seen:
                    seen.add(edge)
                    found.append(edge)
    ids = tuple([id(leaf) for leaf in leaves])  # of a known length: a cut one is not used again
    behind = KNOWN.get(ids)  # a million losses have the same parameters behind
    # Another leaf may have got the id of one that is gone.
    if behind is None or any([known() is not leaf for known, leaf in zip(behind, leaves)]):
        if len(KNOWN) > MANY:
            KNOWN.clear()
        behind = KNOWN[ids] = tuple([Behind(leaf) for leaf in leaves])
    return behind


def note_cut(out: Any, inputs: Any, how: str = "no_grad") -> None:
    """Remember the line where gradients stopped flowing to ``out``, if they did."""
    out._edge = None
    behind: Leaves = ()
    earlier: Any = ()
    is_here = False
    for tensor in inputs:
        if tensor is None:
            continue
        edge = tensor._edge
        if edge is not None:
            is_here = True
            behind += (Behind(tensor),) if edge is LEAF else leaves_behind(edge)
        elif (cut := tensor._cut) is not None and not any([cut is known for known in earlier]):
            earlier += (cut,)
    if is_here:
        frame = user_frame(sys._getframe(2))
        cut = (frame.f_code, frame.f_lasti, how, behind, (), 0)
        out._cut = joined(cut, earlier) if earlier else cut
    elif earlier:
        first = earlier[0]
        out._cut = first if len(earlier) == 1 else joined(first, first[4] + earlier[1:])


def joined(cut: Any, earlier: Any) -> Any:
    """A raw cut with those that lie before it, if they are not too many."""
    depth = 1 + max([before[5] for before in earlier])
    if depth < Memory.depth or REMEMBERS_ALL.get():
        return (*cut[:4], earlier, depth)
    return (*cut[:3], None, (), 0)


def cut_here(tensor: Any, how: str) -> Any:
    """The raw cut of what is made from a tensor without its history."""
    frame = user_frame(sys._getframe(2))
    edge = tensor._edge  # none of a view that requires grad as its base does
    behind = None if edge is None else (Behind(tensor),) if edge is LEAF else leaves_behind(edge)
    return (frame.f_code, frame.f_lasti, how, behind, (), 0)


def cut_once_more(cut: Any, how: str) -> Any:
    """The raw cut of what is made, without a history, from a tensor that has none already.

    It is the first one, but where that one will not be there when all is computed again.
    """
    if not REMEMBERS_ALL.get():
        return cut
    frame = user_frame(sys._getframe(2))
    behind = tuple([leaf for known in all_cuts([cut]) for leaf in known.behind or ()])
    return (frame.f_code, frame.f_lasti, how, behind, (), 0)


def keep_cuts(node: Any, *tensors: Any) -> None:
    """Have a node remember that some of its operands were cut off from the graph."""
    cuts = tuple([t._cut for t in tensors if t is not None and t._edge is None
                  and t._cut is not None])
    if not cuts:
        return
    notes = getattr(node, "_notes", None)
    if notes is None:
        node._notes = {"cuts": cuts}
    else:
        notes["cuts"] = cuts


EXITS: dict[tuple[Any, int], tuple[Any, ...]] = {}
"""The last values with a history that became Python's or NumPy's, by code and offset: the first
places of a raw cut, the age of the newest node then, and the functions that were running."""
_MOST_EXITS = 64


def note_exit(tensor: Any, how: str) -> None:
    """Remember that the values of a tensor, which had a history, leave the tensors."""
    frame = user_frame(sys._getframe(2))
    place = frame.f_code, frame.f_lasti
    known = EXITS.get(place)
    if known is not None and known[3] and known[3][0]() is not None:
        return  # of a loop, once is enough
    edge = tensor._edge
    behind = tensor._cut[3] if edge is None else (Behind(tensor),) if edge is LEAF \
        else leaves_behind(edge)
    age = Memory.seen if edge is None or edge is LEAF else \
        edge.node.seq if edge.is_output else edge.seq
    EXITS.pop(place, None)
    EXITS[place] = (*place, how, behind, age, callers(frame, 4))
    if len(EXITS) > _MOST_EXITS:
        EXITS.pop(next(iter(tuple(EXITS))), None)


def callers(frame: Any, most: int) -> tuple[Any, ...]:
    """The code of a frame and of those that called it, without this package's own."""
    found: tuple[Any, ...] = ()
    while frame is not None and len(found) < most:
        if not is_internal(frame.f_code.co_filename):
            found += (frame.f_code,)
        frame = frame.f_back
    return found


def where_made(edge: Any, what: str = "The tensor") -> str:
    """The sentence of an error that says which line made the tensor of an edge, if it is known."""
    words = "was made here"
    while edge is not None and edge is not LEAF and edge._arity:
        if not edge.is_output:
            if edge.site.code is not None:
                return f"\n{what} {words}:\n  {edge.site}"
            words = "was made from what was computed here"
        edge = edge.node if edge.is_output else next((e for e in edge.edges() if e is not None),
                                                     None)
    return ""


def last_exits() -> str:
    """Lines for an error about a missing history: where values with one left the tensors.

    That is in a function which is still running, or in one that such a function called.
    """
    running = {code for code in callers(user_frame(sys._getframe(1)), 2)
               if "site-packages" not in code.co_filename}
    sites = list(dict.fromkeys(str(Site(*raw[:2])) + f"\n    by .{raw[2]}()"
                               for raw in reversed(tuple(EXITS.values()))
                               if not running.isdisjoint(raw[5])))[:3]
    return "" if not sites else (
        "Values that had a history left the tensors here, the last ones first; what is made from "
        "such numbers has none:\n  " + "\n  ".join(sites))


def all_cuts(raw: Any) -> list[Cut]:
    """Raw cuts and those that lie before them, each once."""
    found: dict[int, Any] = {}
    pending = list(raw)
    while pending:
        cut = pending.pop()
        if id(cut) not in found:
            found[id(cut)] = cut
            pending += cut[4]
    return [Cut(*cut) for cut in found.values()]
