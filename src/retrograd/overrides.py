"""Subclasses of Tensor: handing calls over to ``__torch_function__``."""

from __future__ import annotations

from typing import Any

from .modes import switched
from .tensor import Tensor


def handle(function: Any, found: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Offer a call to the classes that override it, most derived first, then left to right."""
    ordered: list[Any] = []
    for item in found:
        if any(type(item) is type(known) for known in ordered):
            continue
        place = len(ordered)
        for i, known in enumerate(ordered):
            if issubclass(type(item), type(known)):
                place = i
                break
        ordered.insert(place, item)
    types = tuple(type(item) for item in ordered)
    for item in ordered:
        result = type(item).__torch_function__(function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    raise TypeError(f"no implementation found for '{_name(function)}' on types that implement "
                    f"__torch_function__: {list(types)}")


def _name(function: Any) -> str:
    module = getattr(function, "__module__", "")
    name = getattr(function, "__name__", repr(function))
    return f"{module}.{name}" if module else name


def default_torch_function(cls: type, func: Any, types: Any, args: Any, kwargs: dict[str, Any]
                           ) -> Any:
    """Run the call as on plain tensors, and give its results the subclass."""
    if not all(issubclass(cls, t) for t in types):
        return NotImplemented
    with switched(override=False):
        result = func(*args, **kwargs)
    return _converted(result, cls)


def _converted(result: Any, cls: type) -> Any:
    if cls is Tensor:
        return result
    if isinstance(result, Tensor) and not isinstance(result, cls):
        return as_subclass(result, cls)
    if isinstance(result, (tuple, list)):
        items = [_converted(item, cls) for item in result]
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)
    return result


def as_subclass(tensor: Tensor, cls: type) -> Any:
    """``tensor``'s data and place in the graph as an instance of ``cls``."""
    out = object.__new__(cls)
    out._data, out._edge, out._view, out._vc = tensor._data, tensor._edge, tensor._view, tensor._vc
    return out
