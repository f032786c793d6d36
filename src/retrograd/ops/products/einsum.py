"""Sums of products named by subscripts."""

from __future__ import annotations

import math
from typing import Any

from ...base import dtypes
from ...core.op import composite
from ...core.tensor import Tensor
from ..reductions.sums import sum as reduce_sum
from ..reductions.truth import _any
from ..shapes.dimensions import _permute
from ..shapes.reshaping import _view, reshape
from ..shapes.slicing import diagonal
from .matmul import _batched_pairs, bmm

# Labels sort as the implicit output does: ellipsis dimensions, upper case, lower case.
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
Labels = list[Any]
_ELLIPSIS = "..."


def _fail(message: str) -> RuntimeError:
    return RuntimeError(f"einsum(): {message}")


def _parse_labels(text: str, start: int, whose: str) -> Labels:
    """The letters of one operand, with ``...`` where an ellipsis stands."""
    labels: Labels = []
    position = 0
    while position < len(text):
        character = text[position]
        if character == ".":
            if _ELLIPSIS in labels:
                raise _fail(f"found '.' for {whose} " + (
                    "but an ellipsis (...) was already found" if whose == "output"
                    else "for which an ellipsis was already found"))
            if text[position:position + 3] != _ELLIPSIS:
                raise _fail(f"found '.' for {whose} that is not part of any ellipsis"
                            + (" (...)" if whose == "output" else ""))
            labels.append(_ELLIPSIS)
            position += 3
            continue
        if character != " ":
            if character not in _LETTERS:
                raise _fail(f"invalid subscript given at index {start + position} in the equation "
                            "string, subscripts must be in [a-zA-Z]")
            labels.append(character)
        position += 1
    return labels


def _parse_equation(equation: str) -> tuple[list[Labels], Labels | None]:
    left, arrow, right = equation.partition("->")
    inputs, start = [], 0
    for number, part in enumerate(left.split(",")):
        inputs.append(_parse_labels(part, start, f"operand {number}"))
        start += len(part) + 1
    output = _parse_labels(right, len(left) + 2, "output") if arrow else None
    return inputs, output


def _list_labels(indices: Any, whose: str) -> Labels:
    text = ""
    for index in indices:
        if index is Ellipsis:
            text += _ELLIPSIS
        elif 0 <= index < len(_LETTERS):
            text += _LETTERS[index]
        else:
            raise ValueError("einsum(): subscript in subscript list is not within the valid range "
                             "[0, 52)")
    return _parse_labels(text, 0, whose)


def _arguments(args: tuple[Any, ...]) -> tuple[list[Labels], Labels | None, list[Tensor]]:
    """The labels of the inputs and of the output, and the operands."""
    if len(args) < 2:
        raise ValueError("einsum(): must specify the equation string and at least one operand, or "
                         "at least one operand and its subscripts list")
    if isinstance(args[0], Tensor):
        inputs = [_list_labels(indices, f"operand {number}")
                  for number, indices in enumerate(args[1::2][:len(args) // 2])]
        operands = list(args[0::2][:len(args) // 2])
        return inputs, _list_labels(args[-1], "output") if len(args) % 2 else None, operands
    operands = list(args[1:])
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
    inputs, output = _parse_equation(args[0])
    return inputs, output, operands


def _spell_out(inputs: list[Labels], operands: list[Tensor]) -> tuple[list[Labels], int]:
    """Every ellipsis replaced by numbered dimensions (counted from the right, below zero)."""
    if len(operands) != len(inputs):
        word = "fewer" if len(operands) < len(inputs) else "more"
        raise _fail(f"{word} operands were provided than specified in the equation")
    spelled, widest = [], 0
    for number, (labels, operand) in enumerate(zip(inputs, operands, strict=True)):
        named = len(labels) - (_ELLIPSIS in labels)
        hidden = operand.ndim - named
        if hidden < 0 or (hidden and _ELLIPSIS not in labels):
            raise _fail(f"the number of subscripts in the equation ({named}) "
                        + ("does not match" if _ELLIPSIS not in labels else "is more than")
                        + f" the number of dimensions ({operand.ndim}) for operand {number}"
                        + (" and no ellipsis was given" if _ELLIPSIS not in labels else ""))
        widest = max(widest, hidden)
        spelled.append([x for label in labels for x in (
            range(-hidden, 0) if label == _ELLIPSIS else (label,))])
    return spelled, widest


def _check_output(output: Labels, inputs: list[Labels]) -> None:
    for position, label in enumerate(output):
        if label in output[:position]:
            raise _fail(f"output subscript {label} appears more than once in the output")
        if isinstance(label, str) and not any(label in labels for labels in inputs):
            raise _fail(f"output subscript {label} does not appear in the equation for any input "
                        "operand")


def _output_labels(output: Labels | None, inputs: list[Labels], widest: int) -> Labels:
    hidden = list(range(-widest, 0))
    if output is not None:
        return [x for label in output for x in (hidden if label == _ELLIPSIS else (label,))]
    named = [label for labels in inputs for label in labels if isinstance(label, str)]
    return hidden + sorted(label for label in set(named) if named.count(label) == 1)


def _without_repeats(operand: Tensor, labels: Labels, number: int) -> tuple[Tensor, Labels]:
    """A label that is repeated in one operand stands for the diagonal."""
    labels = list(labels)
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            if operand.shape[first] != operand.shape[second]:
                raise _fail(f"subscript {label} is repeated for operand {number} but the sizes "
                            f"don't match, {operand.shape[second]} != {operand.shape[first]}")
            operand = diagonal(operand, 0, first, second)
            labels = [x for i, x in enumerate(labels) if i not in (first, second)] + [label]
    return operand, labels


def _label_sizes(operands: list[Tensor], inputs: list[Labels]) -> dict[Any, int]:
    sizes: dict[Any, int] = {}
    for number, (operand, labels) in enumerate(zip(operands, inputs, strict=True)):
        for label, size in zip(labels, operand.shape, strict=True):
            known = sizes.get(label, 1)
            if known != size and 1 not in (known, size):
                shown = label if isinstance(label, str) else "..."
                raise _fail(f"subscript {shown} has size {size} for operand {number} which does "
                            f"not broadcast with previously seen size {known}")
            sizes[label] = max(known, size) if 0 not in (known, size) else 0
    return sizes


def _reduced(operand: Tensor, labels: Labels, keep: set[Any],
             sizes: dict[Any, int]) -> tuple[Tensor, Labels]:
    """``operand`` without labels that nobody else needs, and without ones it is broadcast over."""
    gone = [i for i, x in enumerate(labels)
            if x not in keep or (operand.shape[i] == 1 and sizes[x] != 1)]
    if not gone:
        return operand, labels
    kept = [x for i, x in enumerate(labels) if i not in gone]
    shape = tuple([n for i, n in enumerate(operand.shape) if i not in gone])
    if any(operand.shape[i] != 1 or labels[i] not in keep for i in gone):
        return reduce_sum(operand, tuple(gone)), kept
    return reshape(operand, shape), kept


def _ordered(operand: Tensor, labels: Labels, wanted: Labels) -> Tensor:
    order = tuple([labels.index(x) for x in wanted])
    return operand if order == tuple(range(len(order))) else _permute(operand, order)


def _contract(a: Tensor, left: Labels, b: Tensor, right: Labels, keep: set[Any],
              wanted: Labels) -> tuple[Tensor, Labels]:
    """The product of two operands, summed over the labels nobody needs afterwards."""
    shared = [x for x in left if x in right]
    batch = [x for x in shared if x in keep]
    inner = [x for x in shared if x not in keep]
    rows = [x for x in left if x not in right]
    cols = [x for x in right if x not in left]
    size = dict(zip(left, a.shape, strict=True)) | dict(zip(right, b.shape, strict=True))
    lengths = [math.prod(size[x] for x in group) for group in (batch, rows, inner, cols)]
    if inner and lengths[2] < 2 and a.dtype is dtypes.bool:  # nothing to add up: no product either
        product, labels = _contract(a, left, b, right, keep.union(inner), wanted)
        gone = tuple([labels.index(x) for x in inner])
        return _any(product, gone, False), [x for x in labels if x not in inner]
    if not inner:  # in the order of the whole result, so that nothing is left to be permuted
        spread = [k for k in wanted if k in size] + [k for k in size if k not in wanted]
        x, y = (reshape(_ordered(operand, own, [k for k in spread if k in own]),
                        tuple([size[k] if k in own else 1 for k in spread]))
                for operand, own in ((a, left), (b, right)))
        return x * y, spread
    x, y = _ordered(a, left, batch + rows + inner), _ordered(b, right, batch + inner + cols)
    labels = batch + rows + cols
    if len(batch) > 1 and len(rows) == len(inner) == len(cols) == 1:
        found = _batched_pairs(x, y)  # merging the batch would take copies
    else:
        found = bmm(reshape(x, (lengths[0], lengths[1], lengths[2])),
                    reshape(y, (lengths[0], lengths[2], lengths[3])))
    return _view(found, tuple([size[k] for k in labels])), labels


def _finished(result: Tensor, labels: Labels, output: Labels, multiplied: bool,
              untouched: Tensor) -> Tensor:
    """``result`` with its dimensions in the order of ``output``; missing ones have length one."""
    result = _ordered(result, labels, [x for x in output if x in labels])
    sizes = iter(result.shape)
    shape = tuple([next(sizes) if x in labels else 1 for x in output])
    if multiplied or shape != tuple(result.shape):
        return reshape(result, shape)
    # An operand that nothing happened to is returned as a view of itself.
    return _permute(result, tuple(range(result.ndim))) if untouched is result else result


@composite()
def einsum(*args: Any) -> Tensor:
    """The sum of products of the operands over the subscripts that the output does not name."""
    inputs, output, operands = _arguments(args)
    inputs, widest = _spell_out(inputs, operands)
    wanted = _output_labels(output, inputs, widest)
    _check_output(wanted, inputs)
    pairs = [_without_repeats(t, labels, i)
             for i, (t, labels) in enumerate(zip(operands, inputs, strict=True))]
    sizes = _label_sizes([t for t, _ in pairs], [labels for _, labels in pairs])
    result, labels, multiplied = None, [], False
    for i, (operand, own) in enumerate(pairs):
        keep = set(wanted).union(*(later for _, later in pairs[i + 1:]))
        earlier: set[str] = set(labels) if result is not None else set()
        operand, own = _reduced(operand, own, keep | earlier, sizes)
        if result is None:
            result, labels = operand, own
        else:
            inner = (set(labels) & set(own)) - keep
            result, labels = _contract(result, labels, operand, own, keep, wanted)
            result, labels = _reduced(result, labels, keep, sizes)
            multiplied = bool(inner)
    assert result is not None
    return _finished(result, labels, wanted, multiplied, operands[0])
