"""Layered drawings of directed acyclic graphs: ranks, few crossings, straight long edges.

Items have a rank, the row in which they lie, below everything that leads to them. An edge that
passes rows is split by *bends*, items without width, so that rows are all there is to think of:
bends are ordered among the items, and a chain of them is kept upright where that is possible.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from itertools import pairwise
from math import isqrt
from typing import NamedTuple

MOST_BENDS = 20_000
"""Edges that would take more bends than this in all are drawn straight over what lies between."""
_SWEEPS, _MANY = 8, 10_000  # half as often, if there are many items
_BEND_WIDTH = 6.0


class Item(NamedTuple):
    """What is to be placed: how far it reaches to both sides of its x; ``where`` pins its rank.

    Of the items that lead to another, a light one is the last to lie straight above it.
    """

    left: float
    right: float
    where: str = ""  # "first" or "last" row
    is_light: bool = False


class Layered(NamedTuple):
    """Rows of items from top to bottom, the x of each item, and the items that each edge passes."""

    rows: list[list[int]]
    x: list[float]
    chains: list[list[int]]


Edge = tuple[int, int]


def layered(items: Sequence[Item], edges: Sequence[Edge], gap: float = 18.0) -> Layered:
    """Place items whose edges lead downwards; each edge's source must come before its target."""
    ranks = ranked(items, edges)
    graph = _Rows(items, ranks, edges, gap)
    graph.reduce_crossings()
    return Layered(graph.rows, graph.coordinates(), graph.chains)


def ranked(items: Sequence[Item], edges: Sequence[Edge]) -> list[int]:
    """The row of each item: below its sources, and as near to its targets as costs no length."""
    above: list[list[int]] = [[] for _ in items]
    below: list[list[int]] = [[] for _ in items]
    for source, target in edges:
        if source >= target:
            raise ValueError("an edge must lead from an item to a later one")
        above[target].append(source)
        below[source].append(target)
    if not edges:  # several rows of what nothing is joined to
        wide = max(4, isqrt(2 * len(items)))
        return [item // wide for item in range(len(items))]
    ranks = [0] * len(items)
    for item, sources in enumerate(above):
        ranks[item] = max([ranks[source] + 1 for source in sources], default=0)
    last = max(ranks, default=0)
    for item in reversed(range(len(items))):
        where = items[item].where
        if where == "last":
            ranks[item] = last
        elif where != "first" and below[item] and len(above[item]) <= len(below[item]):
            ranks[item] = min([ranks[target] for target in below[item]]) - 1
    return ranks


class _Rows:
    """The items and bends in their rows."""

    def __init__(self, items: Sequence[Item], ranks: list[int], edges: Sequence[Edge],
                 gap: float) -> None:
        self.gap = gap
        self.count = len(items)
        self.left = [item.left for item in items]
        self.right = [item.right for item in items]
        self.light = {number for number, item in enumerate(items) if item.is_light}
        self.rows: list[list[int]] = [[] for _ in range(max(ranks, default=-1) + 1)]
        self.above: list[list[int]] = [[] for _ in items]
        self.below: list[list[int]] = [[] for _ in items]
        self.ranks = list(ranks)
        longest = _longest_bent([ranks[b] - ranks[a] for a, b in edges])
        self.chains = [self._chain(a, b, longest) for a, b in edges]
        self.order = [0] * len(self.ranks)
        self._first_order()

    def _chain(self, source: int, target: int, longest: int) -> list[int]:
        span = self.ranks[target] - self.ranks[source]
        if span > longest:
            return [source, target]
        chain = [source]
        for rank in range(self.ranks[source] + 1, self.ranks[target]):
            chain.append(len(self.ranks))
            self.ranks.append(rank)
            self.left.append(_BEND_WIDTH / 2)
            self.right.append(_BEND_WIDTH / 2)
            self.above.append([])
            self.below.append([])
        chain.append(target)
        for a, b in pairwise(chain):
            self.below[a].append(b)
            self.above[b].append(a)
        return chain

    # ------------------------------------------------------------------ the order within rows

    def _first_order(self) -> None:
        """Items in the order in which they are met from the ends upwards, depth first."""
        seen = [False] * len(self.ranks)
        for start in sorted(range(len(self.ranks)), key=lambda item: -self.ranks[item]):
            pending = [start]
            while pending:
                item = pending.pop()
                if not seen[item]:
                    seen[item] = True
                    self.rows[self.ranks[item]].append(item)
                    pending += reversed(self.above[item])
        self._number(self.rows)

    def _number(self, rows: list[list[int]]) -> None:
        for row in rows:
            for place, item in enumerate(row):
                self.order[item] = place

    def reduce_crossings(self) -> None:
        """Sort rows by where their neighbours lie, downwards and upwards; the best order stays."""
        best, fewest = [list(row) for row in self.rows], self.crossings()
        for sweep in range(_SWEEPS if len(self.ranks) < _MANY else _SWEEPS // 2):
            if not fewest:
                break
            downwards = sweep % 2 == 0
            neighbours = self.above if downwards else self.below
            for row in self.rows if downwards else reversed(self.rows):
                row.sort(key=lambda item: self._middle(item, neighbours))
                self._number([row])
            found = self.crossings()
            if found < fewest:
                best, fewest = [list(row) for row in self.rows], found
        self.rows = best
        self._number(best)
        if len(self.ranks) < 2000:
            self._exchange_neighbours()

    def _middle(self, item: int, neighbours: list[list[int]]) -> float:
        near = neighbours[item]
        if not near:
            return self.order[item]
        return sum([self.order[other] for other in near]) / len(near)

    def crossings(self) -> int:
        """How many pairs of edges between neighbouring rows cross."""
        found = 0
        for row in self.rows[1:]:
            seen: list[int] = []
            for item in row:
                places = sorted([self.order[other] for other in self.above[item]])
                for place in places:
                    found += len(seen) - bisect_left(seen, place + 1)
                for place in places:
                    insort(seen, place)
        return found

    def _exchange_neighbours(self) -> None:
        """Let two items that lie side by side change places wherever that saves a crossing."""
        for _ in range(_SWEEPS):
            improved = False
            for row in self.rows:
                for place in range(len(row) - 1):
                    a, b = row[place], row[place + 1]
                    if self._crossed(a, b) > self._crossed(b, a):
                        row[place], row[place + 1] = b, a
                        self.order[a], self.order[b] = place + 1, place
                        improved = True
            if not improved:
                break

    def _crossed(self, a: int, b: int) -> int:
        """Crossings between the edges of two items if ``a`` lies left of ``b``."""
        order = self.order
        return sum([order[p] > order[q] for side in (self.above, self.below)
                    for p in side[a] for q in side[b]])

    # ------------------------------------------------------------------ coordinates

    def coordinates(self) -> list[float]:
        """The x of every item: the middle of four drawings, each drawn towards one corner.

        In each of them every pair of neighbours keeps its distance, and so it does in the middle.
        """
        crossed = self._crossing_long_edges()
        drawings = []
        for rows, neighbours in ((self.rows, self.above), (self.rows[::-1], self.below)):
            for is_mirrored in (False, True):
                drawings.append(self._drawn_to_a_side(rows, neighbours, crossed, is_mirrored))
        if not self.ranks:
            return []
        narrowest = min(drawings, key=lambda xs: max(xs) - min(xs))
        for number, xs in enumerate(drawings):
            extreme = max if number % 2 else min
            shift = extreme(narrowest) - extreme(xs)
            drawings[number] = [x + shift for x in xs]
        return [sum(sorted(four)[1:3]) / 2 for four in zip(*drawings)]

    def _crossing_long_edges(self) -> set[Edge]:
        """The pieces of edges that cross a piece between two bends, which is to be upright."""
        found = set()
        for row in self.rows[1:]:
            inner = [(self.order[self.above[item][0]], self.order[item]) for item in row
                     if item >= self.count and self.above[item][0] >= self.count]
            if not inner:
                continue
            for item in row:
                for other in self.above[item]:
                    if item >= self.count and other >= self.count:
                        continue
                    place = (self.order[other], self.order[item])
                    at = bisect_left(inner, (place[1],), key=lambda pair: (pair[1],))
                    # The nearest on both sides are enough: upright pieces seldom cross each other.
                    for upper, lower in inner[max(at - 1, 0):at + 1]:
                        if (upper - place[0]) * (lower - place[1]) < 0:
                            found.add((other, item))
        return found

    def _drawn_to_a_side(self, rows: list[list[int]], neighbours: list[list[int]],
                         crossed: set[Edge], is_mirrored: bool) -> list[float]:
        sign = -1 if is_mirrored else 1
        order = [sign * place for place in self.order]
        rows = [row[::sign] for row in rows]
        left, right = (self.right, self.left) if is_mirrored else (self.left, self.right)
        block = self._blocks(rows, neighbours, order, crossed)
        xs = self._packed(rows, block, left, right)
        return [sign * xs[block[item]] for item in range(len(block))]

    def _blocks(self, rows: list[list[int]], neighbours: list[list[int]], order: list[int],
                crossed: set[Edge]) -> list[int]:
        """For each item the first of its block: items in one line, each the middle of the next."""
        block = list(range(len(order)))
        for row in rows[1:]:
            free = -len(order)
            taken: set[int] = set()
            for item in row:
                near = sorted([other for other in neighbours[item] if other not in self.light]
                              or neighbours[item], key=order.__getitem__)
                for other in near[(len(near) - 1) // 2:len(near) // 2 + 1]:
                    if other in taken or order[other] < free or (
                            (other, item) in crossed or (item, other) in crossed):
                        continue
                    block[item] = block[other]
                    free = order[other]
                    taken.add(other)
                    break
        return block

    def _packed(self, rows: list[list[int]], block: list[int], left: list[float],
                right: list[float]) -> list[float]:
        """The x of each block: as far left as those beside it allow, then towards its own."""
        apart: dict[Edge, float] = {}
        for row in rows:
            for a, b in pairwise(row):
                pair = block[a], block[b]
                apart[pair] = max(apart.get(pair, 0.0), right[a] + self.gap + left[b])
        after: dict[int, list[int]] = {}
        waiting = [0] * len(block)
        for a, b in apart:
            after.setdefault(a, []).append(b)
            waiting[b] += 1
        ordered = [first for first, known in enumerate(block) if first == known
                   and not waiting[first]]
        xs = [0.0] * len(block)
        for first in ordered:
            for other in after.get(first, ()):
                xs[other] = max(xs[other], xs[first] + apart[first, other])
                waiting[other] -= 1
                if not waiting[other]:
                    ordered.append(other)
        linked: dict[int, list[int]] = {}
        for item, near in enumerate(self.above):
            for other in near:
                a, b = block[item], block[other]
                if a != b:
                    linked.setdefault(a, []).append(b)
                    linked.setdefault(b, []).append(a)
        for _ in range(2):
            for first in reversed(ordered):
                wanted = sorted([xs[other] for other in linked.get(first, ())])
                if wanted and wanted[len(wanted) // 2] > xs[first]:
                    room = min([xs[other] - apart[first, other]
                                for other in after.get(first, ())], default=float("inf"))
                    xs[first] = max(xs[first], min(room, wanted[len(wanted) // 2]))
        return xs


def _longest_bent(spans: list[int]) -> int:
    """The longest edge that gets bends, so that there are not too many in all."""
    total = 0
    for span in sorted(spans):
        total += span - 1
        if total > MOST_BENDS:
            return span - 1
    return max(spans, default=1)
