"""Backward in which a gradient of exactly zero stays zero; ``autograd.safe_where`` switches it on.

The untaken branch of a ``where``, what a ``clamp`` or a mask leaves out, gets a gradient of zero.
Further back that zero meets derivatives which are infinite just where the branch was not to be
taken, and 0 x inf is NaN. A derivative is a linear function of the gradient that arrives, and such
a function of zero is zero: so an element whose gradient is exactly zero passes zero on, wherever
the rule of an elementwise op gave something that is not finite; and an op of any other kind passes
zeros on if all that arrived is zero. The elements are looked at before they are summed up where an
operand was broadcast, since one NaN would spoil the sum. Finite results are left as they are, so
that zeros which happen to be there keep their own derivatives: a recorded pass is differentiated
further like any other, and stays safe if it is run in a block of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import reduce
from typing import Any

from ..backend.interface import is_data, library_of
from .extensions import TRACED_TYPES
from .graph import fit
from .op import REGISTRY
from .saved_values import fit_tensor
from .tensor import Tensor, wrap_any


class SafeZeros:
    """Whether that is switched on, and whether it ever was: a pass looks only then."""

    setting: ContextVar[bool] = ContextVar("retrograd.safe_zeros", default=False)
    asked_for = False


def run_safely(node: Any, g: Any, wanted: Any, recorded: bool) -> Any:
    """The gradients of a node's inputs, in which zero times infinity is zero."""
    op = getattr(node, "op", None)
    by_element = op is not None and op.kind == "elementwise" and not isinstance(g, list)
    fits: Any = getattr(node, "fits", None) if by_element else None
    if fits is not None:
        node.fits = None  # gradients come in the shape of what arrived
    try:
        results = node.replay(g, *wanted) if recorded else node.pull(g, *wanted)
    finally:
        if fits is not None:
            node.fits = fits
    is_one = not isinstance(results, tuple)
    results = [None if r is None else settled(g, r, by_element)
               for r in ((results,) if is_one else results)]
    for place, position in enumerate(node.layout.fitted if fits is not None else ()):
        if results[position] is not None:
            results[position] = (fit_tensor if recorded else fit)(results[position], fits[place])
    return results[0] if is_one else tuple(results)


def settled(g: Any, result: Any, by_element: bool) -> Any:
    """``result`` with zeros where the gradient was zero and it is not finite."""
    if isinstance(result, (list, tuple)):
        return result
    if isinstance(result, Tensor) and result._is_traced:
        return _settled_tensor(g, result, by_element)
    raw = result._data if isinstance(result, Tensor) else result
    library = library_of(raw)
    if not is_data(raw) or library.isfinite(raw).all():
        return result
    if isinstance(result, Tensor):
        return _settled_tensor(g, result, by_element)
    spoilt = ~library.isfinite(raw)
    if by_element and g.shape == raw.shape:
        spoilt &= g == 0
    elif any((part != 0).any() for part in (g if isinstance(g, list) else [g]) if part is not None):
        return result
    return library.where(spoilt, library.zeros_like(raw), raw)


def _settled_tensor(g: Any, result: Tensor, by_element: bool) -> Tensor:
    """The same with ops, recorded, and on any data: of a dual number the tangent counts too."""
    either = _function("logical_or")
    arrived = [_of_parts(part._data, _is_not_zero, either)
               for part in (g if isinstance(g, list) else [g]) if part is not None]
    if not by_element or g._data.shape != result._data.shape:
        arrived = [_function("_any")(part, None, False) for part in arrived]
    kept = reduce(either, arrived)
    finite = _of_parts(result._data, _function("isfinite"), _function("logical_and"))
    return _function("where")(_function("logical_not")(either(kept, finite)), 0, result)


def _of_parts(data: Any, test: Callable[[Any], Any], join: Callable[[Any, Any], Any]) -> Any:
    """A test of each element of raw data, joined where an element has a value and a tangent."""
    slots = type(data).__slots__ if type(data) in TRACED_TYPES else ()
    if "tangent" in slots:
        return join(_of_parts(data.primal, test, join), _of_parts(data.tangent, test, join))
    if "value" in slots:
        inside = _of_parts(data.value, test, join)
        return wrap_any(type(data)(data.level, inside._data, data.outer))
    return test(wrap_any(data))


def _is_not_zero(tensor: Tensor) -> Any:
    return _function("ne")(tensor, 0)


def _function(name: str) -> Any:
    return REGISTRY[name].function
