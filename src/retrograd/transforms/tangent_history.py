"""Which part of a dual number depends on something that requires grad.

A dual tensor has one edge for its value and its tangents together, and the graph is not told which
of them a gradient would flow to. It is found out where it matters, when a part is taken out or
somebody asks whether it requires grad, by walking back from the edge: a linear op's tangent depends
on tangents alone, any other's on the values that its rules ask for too.

A *part* is named by the levels of which the tangent is taken: none of them for the value itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, combinations
from typing import Any

from ..core.graph import Identity, Node
from ..core.inplace import CopySlices
from ..core.op import Op
from .dual import codegen_parameters

Part = frozenset[int]
VALUE: Part = frozenset()


def subsets(part: Iterable[int]) -> Iterator[Part]:
    """The parts within a part, the value first."""
    levels = list(part)
    return map(frozenset, chain.from_iterable(combinations(levels, n)
                                              for n in range(len(levels) + 1)))


def requires_grad(edge: Any, part: Part) -> bool:
    """Whether a part of the value behind ``edge`` depends on anything that requires grad."""
    pending = [(edge, part)]
    seen = set()
    while pending:
        edge, part = pending.pop()
        if edge is None:
            continue
        node = edge.node if edge.is_output else edge
        if (node, part) in seen:
            continue
        seen.add((node, part))
        ends = not isinstance(node, Node) or node.leads_nowhere
        origins = None if ends else _origins(node, part)
        if origins is None:
            if not part:
                return True
            continue
        pending += origins
    return False


def _origins(node: Any, part: Part) -> list[tuple[Any, Part]] | None:
    """The edges, with the parts of what lies behind them, that a part of an output depends on.

    None at the end of the way: what is there has no tangents, and requires grad.
    """
    if hasattr(node, "parts_behind"):
        return node.parts_behind(part)  # type: ignore[no-any-return]
    if isinstance(node, CopySlices):
        written = _of_op(node.fn, part) if hasattr(node.fn, "op") else None
        return [(node.next0, part), *(_anything(node.edges(), part) if written is None
                                      else written)]
    if hasattr(node, "op"):
        return _of_op(node, part)
    if isinstance(node, Identity):
        return None if getattr(node, "is_open", False) and not part else [(node.next0, part)]
    return _anything(node.edges(), part)


def _anything(edges: Iterable[Any], part: Part) -> list[tuple[Any, Part]]:
    return [(edge, inner) for edge in edges for inner in subsets(part)]


def _of_op(node: Any, part: Part) -> list[tuple[Any, Part]] | None:
    levels = node.input_levels
    if levels is None or not any(levels):
        return None
    edges = node.edges()
    if not part:
        return [(edge, VALUE) for edge in edges]
    op = node.op
    names = op.arrays * len(levels) if len(op.arrays) == 1 else op.arrays
    if len(names) != len(levels):  # a list among several arguments
        return _anything(edges, part)
    moving = {name for name, known in zip(names, levels, strict=True) if part & set(known)}
    asked = _asked_for(op, moving)
    found: list[tuple[Any, Part]] = []
    for name, edge, known in zip(names, edges, levels, strict=False):
        within = part.intersection(known)
        if within == part and (op.fills or not _is_zero(op.rules.get(name))):
            found.append((edge, part))
        if asked:
            found += [(edge, inner) for inner in subsets(within)
                      if inner != part and (inner or name in asked)]
    return found


def _is_zero(rule: Any) -> bool:
    """Whether a rule gives zeros whatever it is given."""
    return rule is not None and bool(rule.__code__.co_names) and \
        rule.__code__.co_names[0] in ("zeros_as", "zeros_of")


def _asked_for(op: Op, moving: set[str]) -> set[str]:
    """The arguments whose values the rules for tangents ask for.

    As in PyTorch an argument without a tangent counts as one with a tangent of zeros.
    """
    if moving <= op.forward_rules.keys():
        rules: dict[str, Any] = op.forward_rules
    elif op.kind in ("linear", "view") and len(op.arrays) == 1:
        return set()
    else:
        rules = op.rules
    if op.compares:
        return set()
    needs = {name for rule in rules.values() for name in codegen_parameters(rule)}
    results = {"y", *(name for n, name in enumerate(op.outputs)
                      if op.differentiable is None or n in op.differentiable)}
    return needs.intersection(op.arrays) if needs.isdisjoint(results) else set(op.arrays)
