"""Text of tensors: `repr`, `str` and the print options, character for character as PyTorch."""

from __future__ import annotations

import contextlib
import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from ..backend.interface import library_of


class PrintableArray(Protocol):
    """What printing asks of an array, whichever library it comes from."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    def __getitem__(self, index: Any, /) -> Any: ...
    def tolist(self) -> Any: ...


class PrintableDType(Protocol):
    """What printing asks of a dtype; its `str` is the text after `dtype=`."""

    @property
    def name(self) -> str: ...
    @property
    def is_floating_point(self) -> bool: ...
    @property
    def is_complex(self) -> bool: ...


class _PrintOptions(NamedTuple):
    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}

_options = _PrintOptions()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change how tensors print; a profile is applied before the options given beside it."""
    global _options
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    # An unknown profile changes nothing, and sci_mode goes back to automatic unless it is
    # given again: both are PyTorch's behaviour.
    preset = {} if profile is None else _PROFILES.get(profile, {})
    _options = _options._replace(**{**preset, **changes, "sci_mode": sci_mode})


def get_printoptions() -> dict[str, Any]:
    """The print options in force, by name."""
    return _options._asdict()


@contextlib.contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Print with other options, as `set_printoptions` takes them, inside a `with` block."""
    global _options
    before = _options
    set_printoptions(**options)
    try:
        yield
    finally:
        _options = before


class _Notation(NamedTuple):
    """How one number is written, before it is aligned with the others."""

    spec: str
    trailing_point: bool = False

    def write(self, value: Any) -> str:
        text = format(value, self.spec)
        return text + "." if self.trailing_point and math.isfinite(value) else text


class _Column(NamedTuple):
    """A notation and the width that every number of a tensor is padded to."""

    notation: _Notation
    width: int

    def write(self, value: Any) -> str:
        return self.notation.write(value).rjust(self.width)


def _float_notation(scientific: bool, integral: bool) -> _Notation:
    if scientific:
        return _Notation(f".{_options.precision}e")
    if integral:
        return _Notation(".0f", trailing_point=True)
    return _Notation(f".{_options.precision}f")


def _spread_needs_exponent(magnitudes: Sequence[float], integral: bool) -> bool:
    smallest, largest = min(magnitudes), max(magnitudes)
    too_small = not integral and smallest < 1e-4
    return too_small or largest > 1e8 or largest / smallest > 1000


def _float_column(values: Sequence[float]) -> _Column:
    telling = [value for value in values if value != 0 and math.isfinite(value)]
    if not telling:
        return _Column(_float_notation(scientific=False, integral=True), width=1)
    integral = all(value.is_integer() for value in telling)
    scientific = _options.sci_mode
    if scientific is None:
        scientific = _spread_needs_exponent([abs(value) for value in telling], integral)
    notation = _float_notation(scientific, integral)
    return _Column(notation, max(len(notation.write(value)) for value in telling))


def _exact_column(values: Sequence[int]) -> _Column:
    return _Column(_Notation(""), max(len(str(value)) for value in values))


class _Layout(NamedTuple):
    """How every element of one tensor is written, and the room it takes in a line."""

    write: Callable[[Any], str]
    room: int


def _complex_layout(values: Sequence[complex]) -> _Layout:
    real_column = _float_column([value.real for value in values])
    imag_column = _float_column([value.imag for value in values])

    def write(value: complex) -> str:
        imag = imag_column.write(value.imag).lstrip()
        sign = "" if imag.startswith("-") else "+"
        return f"{real_column.write(value.real)}{sign}{imag}j"

    return _Layout(write, real_column.width + imag_column.width + 1)


def _layout_of(values: Sequence[Any], dtype: PrintableDType) -> _Layout:
    if dtype.is_complex:
        return _complex_layout(values)
    column = (_float_column if dtype.is_floating_point else _exact_column)(values)
    return _Layout(column.write, column.width)


def _shown_items(array: PrintableArray, edge: int) -> Any:
    """The items that a summary shows as nested lists, with `...` where it leaves some out."""
    # Slicing before tolist keeps the cost at what is printed, not at the array's size.
    if array.ndim == 0 or max(array.shape) <= 2 * edge:
        return array.tolist()
    length = array.shape[0]
    if array.ndim == 1:
        return [*array[:edge].tolist(), ..., *array[length - edge :].tolist()]
    if length <= 2 * edge:
        return [_shown_items(array[row], edge) for row in range(length)]
    first = [_shown_items(array[row], edge) for row in range(edge)]
    last = [_shown_items(array[row], edge) for row in range(length - edge, length)]
    return [*first, ..., *last]


def _numbers_among(items: Any, ndim: int) -> list[Any]:
    level = [items] if ndim == 0 else items
    for _ in range(ndim - 1):
        level = [item for group in level if group is not ... for item in group]
    return [item for item in level if item is not ...]


def _row_text(items: Sequence[Any], layout: _Layout, indent: int) -> str:
    texts = [" ..." if item is ... else layout.write(item) for item in items]
    per_line = max(1, math.floor((_options.linewidth - indent) / (layout.room + 2)))
    lines = [", ".join(texts[start : start + per_line]) for start in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _nested_text(items: Any, ndim: int, layout: _Layout, indent: int) -> str:
    if ndim == 0:
        return layout.write(items)
    if ndim == 1:
        return _row_text(items, layout, indent)
    blocks = [
        "..." if item is ... else _nested_text(item, ndim - 1, layout, indent + 1) for item in items
    ]
    return "[" + ("," + "\n" * (ndim - 1) + " " * (indent + 1)).join(blocks) + "]"


def format_data(array: PrintableArray, dtype: PrintableDType, indent: int) -> str:
    """The values of a tensor in brackets, its later lines indented past `indent` columns."""
    if array.size == 0:
        return "[]"
    summarised = array.size > _options.threshold
    if summarised and not _options.edgeitems and array.ndim:
        return "[...]"
    items = _shown_items(array, _options.edgeitems) if summarised else array.tolist()
    layout = _layout_of(_numbers_among(items, array.ndim), dtype)
    return _nested_text(items, array.ndim, layout, indent)


def _prints_without_dtype(dtype: PrintableDType, default_dtype: PrintableDType) -> bool:
    default_complex = "complex128" if default_dtype.name == "float64" else "complex64"
    return dtype.name in (default_dtype.name, default_complex, "int64", "bool")


def _shape_and_dtype_suffixes(
    shape: tuple[int, ...], empty: bool, dtype: PrintableDType, default_dtype: PrintableDType
) -> list[str]:
    # An empty tensor shows no values that would tell its dtype or, unless 1-d, its shape.
    shape_is_hidden = len(shape) != 1 if empty else not _options.edgeitems
    dtype_is_evident = (
        dtype.name == default_dtype.name if empty else _prints_without_dtype(dtype, default_dtype)
    )
    suffixes = [f"size={tuple(shape)}"] if shape_is_hidden else []
    return suffixes if dtype_is_evident else [*suffixes, f"dtype={dtype}"]


def _with_suffixes(text: str, suffixes: Sequence[str], indent: int) -> str:
    # PyTorch counts the last line of the values as two columns longer than it is, but a line
    # that it breaks here as long as it is.
    column = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if column + len(suffix) + 2 > _options.linewidth:
            text += ",\n" + " " * indent + suffix
            column = indent + len(suffix)
        else:
            text += ", " + suffix
            column += len(suffix) + 2
    return text + ")"


def tensor_repr(
    array: PrintableArray,
    dtype: PrintableDType,
    *,
    default_dtype: PrintableDType,
    requires_grad: bool = False,
    grad_fn_name: str | None = None,
    tangent: object = None,
    kind: str = "tensor(",
    is_parameter: bool = False,
    extra: Sequence[str] = (),
    contents: str | None = None,
) -> str:
    """The text of a tensor with everything that its values alone do not tell.

    `kind` opens the text (a subclass's name and a parenthesis), `extra` holds suffixes that come
    before all others (a device), `tangent` is a dual tensor's tangent (shown as it formats itself)
    and `contents` stands in place of the values. `is_parameter` marks a parameter, whose text
    `parameter_repr` then completes.
    """
    indent = len(kind)
    body = format_data(array, dtype, indent) if contents is None else contents
    suffixes = [
        *extra,
        *_shape_and_dtype_suffixes(array.shape, array.size == 0, dtype, default_dtype),
    ]
    if grad_fn_name is not None:
        suffixes.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    text = _with_suffixes(kind + body, suffixes, indent)
    return f"Parameter({text})" if is_parameter and kind != "tensor(" else text


def parameter_repr(text: str) -> str:
    """The text of an `nn.Parameter`, given what `tensor_repr` makes of it."""
    return "Parameter containing:\n" + text


def wrapper_repr(kind: str, level: int, value: str, batch_dim: int | None = None) -> str:
    """The text of a tensor inside a function transform, around the text of the one it wraps."""
    batch = "" if batch_dim is None else f", bdim={batch_dim}"
    return f"{kind}(lvl={level}{batch}, value=\n{textwrap.indent(value, '    ')}\n)"


def repr_of(tensor: Any, is_plain: bool, contents: str | None = None) -> str:
    """The text of a :class:`~retrograd.core.tensor.Tensor` with its place in the graph."""
    from ..base import dtypes

    data = library_of(tensor._data).to_numpy(tensor._data)
    if data.dtype.name == "bfloat16":
        data = data.astype("float32")
    node = tensor.grad_fn
    return tensor_repr(
        data, tensor.dtype, default_dtype=dtypes.get_default_dtype(),
        requires_grad=tensor.requires_grad,
        grad_fn_name=None if node is None else node.name().rpartition("::")[2],
        kind="tensor(" if is_plain else f"{type(tensor).__name__}(", is_parameter=tensor._is_param,
        contents=contents)
