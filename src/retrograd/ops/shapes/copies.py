"""Views in memory of their own: what a function shows, and then a copy of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ...base import dtypes, layouts
from ...base.errors import canonical_dim
from ...core.op import composite
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..memory.casts import clone
from .complex_views import view_as_complex, view_as_real
from .slicing import _slice

_TYPES = {"input": "Tensor", "implicit": "bool", "unfold_copy.size": "int",
          "squeeze_copy.dim": "int | Sequence[int]",
          **dict.fromkeys(("size", "stride", "dims", "split_sizes"), "Sequence[int]")}
"""The types of arguments that are no ints."""
_OUT = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="Any")

_VIEWS: dict[str, Callable[..., Any]] = {
    "alias": lambda input: input,
    "as_strided": lambda input, size, stride, storage_offset=None: input.as_strided(
        size, stride, storage_offset),
    "detach": lambda input: input.detach(),
    "diagonal": lambda input, offset=0, dim1=0, dim2=1: input.diagonal(offset, dim1, dim2),
    "expand": lambda input, size, *, implicit=False: input.expand(size),
    "narrow": lambda input, dim, start, length: input.narrow(dim, start, length),
    "permute": lambda input, dims: input.permute(dims),
    "select": lambda input, dim, index: input.select(dim, index),
    "slice": lambda input, dim=0, start=None, end=None, step=1: _part(input, dim, start, end, step),
    "split": lambda input, split_size, dim=0: input.split(split_size, dim),
    "split_with_sizes": lambda input, split_sizes, dim=0: input.split_with_sizes(split_sizes, dim),
    "squeeze": lambda input, dim=None: input.squeeze() if dim is None else input.squeeze(dim),
    "t": lambda input: input.t(),
    "transpose": lambda input, dim0, dim1: input.transpose(dim0, dim1),
    "unbind": lambda input, dim=0: input.unbind(dim),
    "unfold": lambda input, dimension, size, step: input.unfold(dimension, size, step),
    "unsqueeze": lambda input, dim: input.unsqueeze(dim),
    # Copied in any case: no memory has to be shared.
    "view": lambda input, size: input.view(size) if isinstance(size, dtypes.dtype)
    else input.reshape(size),
    "view_as_complex": lambda input: view_as_complex(input),
    "view_as_real": lambda input: view_as_real(input)}
"""What each function shows of its input, before it is copied."""


def _part(input: Tensor, dim: int, start: int | None, end: int | None, step: int) -> Any:
    if not input.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    axis = canonical_dim(dim, input.ndim)
    first, last, _ = slice(start, end, step).indices(input.shape[axis])
    return _slice(input, axis, first, max(first, last), step)


def _copy(view: Tensor) -> Any:
    return clone(view, memory_format=layouts.contiguous_format)


def _declare(name: str, view: Callable[..., Any], doc: str) -> None:
    """Declare ``name``, which takes what ``view`` takes, and ``out``."""

    @composite(name=name, doc=doc, method=name == "narrow_copy", out=Out())
    def copied(*args: Any, **kwargs: Any) -> Any:
        found = view(*args, **kwargs)
        return tuple([_copy(part) for part in found]) if isinstance(found, (tuple, list)) \
            else _copy(found)

    shown = inspect.signature(view)
    copied.__signature__ = shown.replace(parameters=[  # type: ignore[attr-defined]
        *(p.replace(annotation=_annotation(name, p)) for p in shown.parameters.values()), _OUT])


def _annotation(name: str, parameter: inspect.Parameter) -> str:
    found = _TYPES.get(f"{name}.{parameter.name}") or _TYPES.get(parameter.name, "int")
    return f"{found} | None" if parameter.default is None else found


for _name, _view in _VIEWS.items():
    _declare(f"{_name}_copy", _view, f"What ``{_name}`` shows, in memory of its own.")
