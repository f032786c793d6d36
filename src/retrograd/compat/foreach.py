"""``torch._foreach_add_`` and its kin, by which optimizers handle a list of tensors in one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base.errors import type_name, wrong_type
from ..core.op import PUBLIC
from ..core.signatures import named
from ..core.tensor import Tensor

_BOTH = """abs acos add addcdiv addcmul asin atan ceil clamp_max clamp_min cos cosh div erf erfc exp
expm1 floor frac lerp lgamma log log10 log1p log2 maximum minimum mul neg pow reciprocal round rsqrt
sigmoid sign sin sinh sqrt sub tan tanh trunc""".split()  # noqa: SIM905 - a list of 43 literals would hide the names
_NAMES = [*_BOTH, "clone", "max", "norm", *[name + "_" for name in (*_BOTH, "copy", "zero")]]
_POSITIONAL = ("scalar", "other", "weight", "exponent", "src")
_OF_A_NUMBER = {"maximum": "clamp_min", "minimum": "clamp_max"}


def _function_of_one(name: str) -> Callable[..., Any]:
    """What is done to each tensor of a list."""
    if name.endswith("_"):
        return lambda target, *rest, **options: getattr(target, name)(*rest, **options)
    return PUBLIC["linalg"]["vector_norm"] if name == "norm" else PUBLIC["torch"][name]


def _call_for_one(name: str, first: Any, *rest: Any, **options: Any) -> Any:
    base, writes = name.rstrip("_"), name.endswith("_")
    if base in ("addcdiv", "addcmul") and len(rest) > 2:
        *rest, options["value"] = rest  # type: ignore[assignment]
    if base in _OF_A_NUMBER and not isinstance(rest[0], Tensor):
        name = _OF_A_NUMBER[base] + "_" * writes
    return _function_of_one(name)(first, *rest, **options)


def _rows(title: str, given: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """The arguments of each single call: what is no list is the same for all."""
    lists = [values for values in given if isinstance(values, (list, tuple))]
    if not lists:
        raise wrong_type(title, "self", 1, "tuple of Tensors", given[0])
    if not lists[0]:
        raise RuntimeError("Tensor list must have at least one tensor.")
    for place, value in enumerate(given[0] if given[0] is lists[0] else ()):
        if not isinstance(value, Tensor):
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got "
                            f"{type_name(value)}")
    for other in lists[1:]:
        if len(other) != len(lists[0]):
            raise RuntimeError(
                "Tensor lists must have the same number of tensors, got "
                f"{len(lists[0])} and {len(other)}" if any(isinstance(v, Tensor) for v in other)
                else "Tensor list must have same number of elements as scalar list.")
    return [tuple([values[place] if isinstance(values, (list, tuple)) else values
                   for values in given]) for place in range(len(lists[0]))]


def _foreach(name: str) -> Callable[..., Any]:
    @named(f"_foreach_{name}", f"``{name}`` of every tensor of a list.")
    def over_lists(self: Any, *args: Any, **options: Any) -> Any:
        listed = [key for key, value in options.items() if isinstance(value, (list, tuple))]
        extra = [options.pop(key) for key in (*listed, *_POSITIONAL) if key in options]
        results = [_call_for_one(name, *row, **options)
                   for row in _rows(over_lists.__name__, (self, *args, *extra))]
        return self if name.endswith("_") else tuple(results)

    return over_lists


for _name in _NAMES:
    globals()[f"_foreach_{_name}"] = _foreach(_name)
