"""Mutations of a source file: every place where one word, sign or statement can be changed."""

from __future__ import annotations

import ast
import copy
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS = {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt,
               ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
               ast.In: ast.NotIn, ast.NotIn: ast.In}
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
OPPOSITES = {"min": "max", "minimum": "maximum", "amin": "amax", "argmin": "argmax", "any": "all",
             "floor": "ceil", "real": "imag", "tril": "triu", "zeros": "ones", "fmin": "fmax"}
OPPOSITES |= {theirs: ours for ours, theirs in OPPOSITES.items()}


@dataclass(frozen=True)
class Mutation:
    """One change: what stands between two places of a file, and what stands there instead."""

    path: Path
    kind: str
    line: int
    span: tuple[int, int]  # in bytes
    text: str

    def applied(self, source: bytes) -> bytes:
        start, end = self.span
        # The lines that follow keep their numbers, which errors and tests speak of.
        lines = source[start:end].count(b"\n") - self.text.count("\n")
        closing = self.text[-1:] if self.text.endswith(")") else ""
        text = self.text.removesuffix(closing) + "\n" * lines + closing
        return source[:start] + text.encode() + source[end:]


def mutations(path: Path) -> list[Mutation]:
    """Every mutation of a file, in the order of its lines."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    tree = ast.parse(source)
    arrays = "backend" in path.parts or path.name == "dependencies.py"
    same = (_same_lengths(tree) if arrays else set()) | _thresholds(tree)
    for node in _nodes(tree):
        for kind, changed in _changes(node) if node not in same else ():
            place = node.test if isinstance(node, ast.If | ast.While) else node
            span = (starts[place.lineno - 1] + place.col_offset,
                    starts[place.end_lineno - 1] + place.end_col_offset)
            text = changed if isinstance(changed, str) else f"({ast.unparse(changed)})"
            found.append(Mutation(path, kind, place.lineno, span, text))
    return found


def draw(files: list[Path], count: int, seed: str) -> list[Mutation]:
    """``count`` mutations of these files; each kind of change is as likely as every other."""
    by_kind = defaultdict(list)
    for path in sorted(files):
        for mutation in mutations(path):
            by_kind[mutation.kind].append(mutation)
    choose = random.Random(seed)
    chosen: dict[Mutation, None] = {}
    while len(chosen) < min(count, sum(map(len, by_kind.values()))):
        chosen[choose.choice(by_kind[choose.choice(sorted(by_kind))])] = None
    return list(chosen)


def _nodes(node: ast.AST, inside: bool = False) -> Iterator[ast.expr | ast.stmt]:
    """Expressions and statements that do something when the program runs."""
    if isinstance(node, ast.JoinedStr | ast.Raise | ast.Import | ast.ImportFrom | ast.Assert):
        return  # wording, and names that nothing would be without
    if isinstance(node, ast.keyword) and node.arg in ("strict", "maxsize", "quiet"):
        # Of zip: an assertion too. Of a cache: how much it keeps. Of a declaration: that NumPy need
        # not be told to be quiet first; if it is, nothing else comes of it.
        return
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.expr) or (isinstance(node, ast.stmt)
                                      and (inside or isinstance(node, ast.Expr))):
        yield node
    inside = inside or isinstance(node, ast.FunctionDef)
    warns = isinstance(node, ast.Call) and ast.unparse(node.func).endswith("warn")
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_params") or (warns and name == "args"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _nodes(child, inside)


def _same_lengths(tree: ast.AST) -> set[ast.AST]:
    """The 1 of each -1 that is a length of a new shape: NumPy takes every negative number for it.

    Tensors do not, whose rules are elsewhere than the kernels on arrays.
    """
    shapes = [call for call in ast.walk(tree) if isinstance(call, ast.Call)
              and isinstance(call.func, ast.Attribute) and call.func.attr == "reshape"]
    lengths = [length for call in shapes for given in call.args
               for length in (given.elts if isinstance(given, ast.Tuple) else [given])]
    return {length.operand for length in lengths if isinstance(length, ast.UnaryOp)
            and isinstance(length.operand, ast.Constant) and length.operand.value == 1}


HOW_MANY = re.compile(r"_?(FEW|MANY|SMALL|LARGE)(_[A-Z]+)?")


def _thresholds(tree: ast.Module) -> set[ast.AST]:
    """What says how many are few, many, small or large, and exactly at which number they become so.

    That is where another way begins that gives the same, which tests see on both sides: whether it
    begins one earlier makes no difference. Only whole numbers are meant that are called so, and
    with which nothing is done but comparing.
    """
    compared = {part: node for node in ast.walk(tree) if isinstance(node, ast.Compare)
                for part in (node.left, *node.comparators) if isinstance(part, ast.Name)
                and isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)}
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Load) and HOW_MANY.fullmatch(node.id)]
    given = {s.targets[0].id: list(ast.walk(s.value)) for s in tree.body
             if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)}
    others = {node.id for node in used if node not in compared} | {
        name for name, parts in given.items()
        if any(isinstance(part, ast.Constant) and type(part.value) is not int for part in parts)}
    meant = {node.id for node in used} - others
    return {compared[node] for node in used if node.id in meant}.union(
        *(parts for name, parts in given.items() if name in meant))


def _changes(node: ast.expr | ast.stmt) -> Iterator[tuple[str, ast.expr | str]]:
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in COMPARISONS:
            yield "comparison", _with(node, ops=[COMPARISONS[type(operator)]()])
        case ast.BinOp(left=left, op=operator, right=right):
            if type(operator) in OPERATORS and not isinstance(left, ast.Constant | ast.JoinedStr):
                yield "operator", _with(node, op=OPERATORS[type(operator)]())
            if isinstance(operator, ast.Add | ast.Sub | ast.Mult):
                yield "term dropped", left
            if isinstance(operator, ast.Sub | ast.Div):
                yield "operands swapped", _with(node, left=right, right=left)
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield "sign or not dropped", operand
        case ast.BoolOp(op=operator, values=values):
            yield "and/or", _with(node, op=ast.Or() if isinstance(operator, ast.And) else ast.And())
            yield "condition dropped", values[0]
        case ast.IfExp(test=test):
            yield "negated", _with(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.Constant(value=bool(value)):
            yield "constant", str(not value)
        case ast.Constant(value=int(value)):
            yield "constant", str(value + 1)
        case ast.Constant(value=float(value)):
            yield "constant", str(value * 2 or 1.0)
        case ast.Call(func=ast.Name(id="conj"), args=[argument]):
            yield "conj dropped", argument
        case ast.Call(func=ast.Name(id=name)) if name in OPPOSITES:
            yield "opposite", _with(node, func=ast.Name(OPPOSITES[name]))
        case ast.Call(func=ast.Attribute(attr=name)) if name in OPPOSITES:
            yield "opposite", _with(node, func=_with(node.func, attr=OPPOSITES[name]))
        case ast.Expr(value=ast.Call()) | ast.AugAssign():
            yield "statement deleted", "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "statement deleted", "pass"
        case ast.If(test=test) | ast.While(test=test):
            yield "negated", ast.UnaryOp(ast.Not(), test)


def _with(node: ast.expr, **fields: object) -> ast.expr:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed
