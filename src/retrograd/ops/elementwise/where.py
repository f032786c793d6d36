"""Masks and choices: where, and what the rules of other ops are written with."""

from __future__ import annotations

from typing import Any

from ...backend import pointwise as pointwise_kernels, xp
from ...backend.interface import library_of
from ...base import dtypes
from ...base.errors import no_overload
from ...base.warning import warn
from ...core.op import Array, Index, Number, elementwise, public
from ...core.operands import fitted
from ...core.out_rules import Out
from ...core.tensor import Tensor, wrap
from .expressions import unary
from .number_operands import BOTH, is_operand


@elementwise(function=None, method=False, node="MaskedFillBackward0",
             vjp=lambda g, mask: zeroed(g, mask))
def zeroed(input: Array, mask: Index) -> Any:
    """``input`` with zeros where ``mask`` is true, whatever stood there."""
    return pointwise_kernels.zeroed(input, mask)


@elementwise(function=None, method=False, node="MaskedFillBackward0",
             vjp=lambda g, mask: kept(g, mask))
def kept(input: Array, mask: Index) -> Any:
    """``input`` with zeros where ``mask`` is false, whatever stood there."""
    return pointwise_kernels.kept(input, mask)


@elementwise(function=None, method=False, numbers=(), node="ThresholdBackwardBackward0")
def zeroed_by(input: Array, source: Array, mask: Index) -> Any:
    """:func:`zeroed` by a mask made from ``source``, on record as a function of both."""
    return pointwise_kernels.zeroed(input, mask)


zeroed_by.vjp(input=lambda g, source, mask: zeroed_by(g, source, mask),
              source=lambda g: zeros_as(g))
zeros_as = unary("zeros_as", "Zeros in the shape and dtype of ``input``.",
                 lambda input: xp.zeros_like(input), None, function=None, method=False, quiet=True)


def _condition(condition: Any) -> Any:
    if condition.dtype.name == "uint8":
        warn("where received a uint8 condition tensor. This behavior is deprecated and will be "
             "removed in a future version of PyTorch. Use a boolean condition instead.")
        return condition.astype(xp.BOOL)
    kind = dtypes.from_numpy_dtype(condition.dtype)
    raise RuntimeError("where expected condition to be a boolean tensor, but got a tensor with "
                       f"dtype {kind.alias}")


@elementwise(function=None, method=False, quiet=True, numbers=BOTH,
             out=Out("Expected out type to be {result} but got {out}"))
def where(condition: Index, input: Array, other: Array) -> Any:
    """``input`` where ``condition`` holds, ``other`` elsewhere."""
    if condition.dtype is not xp.BOOL and condition.dtype != xp.BOOL:
        condition = _condition(condition)
    return xp.where(condition, input, other)


where.vjp(input=lambda g, condition: kept(g, condition),
          other=lambda g, condition: zeroed(g, condition))
_WHERE_FORMS = ("Tensor condition",
                "Tensor condition, Tensor input, Tensor other, *, Tensor out = None",
                "Tensor condition, Number self, Tensor other",
                "Tensor condition, Tensor input, Number other",
                "Tensor condition, Number self, Number other")


@public("where", method=False)
def _where(condition: Any, input: Tensor | Number | None = None,
           other: Tensor | Number | None = None, *, out: Any = None) -> Any:
    """``input`` where ``condition`` holds, ``other`` elsewhere; alone, where it holds."""
    if input is None and other is None and isinstance(condition, Tensor):
        library = library_of(condition._data)
        return tuple([wrap(found)
                      for found in library.nonzero(library.atleast_1d(condition._data))])
    if not isinstance(condition, Tensor) or not (is_operand(input) and is_operand(other)):
        given = tuple(v for v in (condition, input, other) if v is not None)
        raise no_overload("where", given, *_WHERE_FORMS)
    for number, beside in ((input, other), (other, input)):
        if type(number) is int and isinstance(beside, Tensor) and not beside.is_floating_point():
            fitted(number, beside._data.dtype)
    return where(condition, input, other, out=out)


@public("where", function=None)
def _where_method(input: Tensor, condition: Tensor, other: Tensor | Number) -> Tensor:
    """``input`` where ``condition`` holds, ``other`` elsewhere."""
    return _where(condition, input, other)
