"""Text of tensors: `repr`, `str` and the print options, character for character as PyTorch."""

from __future__ import annotations

import contextlib
import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ..backend.interface import library_of


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


def set_printoptions(precision: int | None = None, threshold: float | None = None,
                     edgeitems: int | None = None, linewidth: int | None = None,
                     profile: str | None = None, sci_mode: bool | None = None) -> None:
    """Change how tensors print; a profile is applied before the options given beside it."""
    global _options
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems,
             "linewidth": linewidth}
    changes = {name: value for name, value in given.items() if value is not None}
    # An unknown profile changes nothing, and sci_mode goes back to automatic unless it is given
    # again: both are PyTorch's behaviour.
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


class _Layout(NamedTuple):
    """How every element of one tensor is written, and the room it takes in a line."""

    write: Callable[[Any], str]
    room: int


def _aligned(text: Callable[[Any], str], values: Sequence[Any]) -> _Layout:
    """Each element as ``text`` writes it, as wide as the widest of ``values``."""
    width = max([len(text(value)) for value in values], default=1)
    return _Layout(lambda value: text(value).rjust(width), width)


def _float_layout(values: Sequence[float]) -> _Layout:
    telling = [value for value in values if value != 0 and math.isfinite(value)]
    integral = all(value.is_integer() for value in telling)
    scientific = bool(telling) and (_needs_exponent(telling, integral) if _options.sci_mode is None
                                    else _options.sci_mode)
    spec = f".{_options.precision}{'e' if scientific else 'f'}"
    if scientific or not integral:
        return _aligned(lambda value: format(value, spec), telling)
    return _aligned(lambda value: format(value, ".0f") + "." * math.isfinite(value), telling)


def _needs_exponent(values: Sequence[float], integral: bool) -> bool:
    smallest, largest = min(map(abs, values)), max(map(abs, values))
    return (not integral and smallest < 1e-4) or largest > 1e8 or largest / smallest > 1000


def _complex_layout(values: Sequence[complex]) -> _Layout:
    real = _float_layout([value.real for value in values])
    imaginary = _float_layout([value.imag for value in values])

    def write(value: complex) -> str:
        text = imaginary.write(value.imag).lstrip()
        return f"{real.write(value.real)}{'' if text.startswith('-') else '+'}{text}j"

    return _Layout(write, real.room + imaginary.room + 1)


def _layout_of(values: Sequence[Any], dtype: Any) -> _Layout:
    return _complex_layout(values) if dtype.is_complex else \
        _float_layout(values) if dtype.is_floating_point else _aligned(str, values)


def _shown_items(array: Any, edge: int) -> Any:
    """The items that a summary shows as nested lists, with `...` where it leaves some out."""
    # Slicing before tolist keeps the cost at what is printed, not at the array's size.
    if array.ndim == 0 or max(array.shape) <= 2 * edge:
        return array.tolist()
    length = array.shape[0]
    if array.ndim == 1:
        return [*array[:edge].tolist(), ..., *array[length - edge:].tolist()]
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
    lines = [", ".join(texts[start:start + per_line]) for start in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _nested_text(items: Any, ndim: int, layout: _Layout, indent: int) -> str:
    if ndim == 0:
        return layout.write(items)
    if ndim == 1:
        return _row_text(items, layout, indent)
    blocks = ["..." if item is ... else _nested_text(item, ndim - 1, layout, indent + 1)
              for item in items]
    return "[" + ("," + "\n" * (ndim - 1) + " " * (indent + 1)).join(blocks) + "]"


def format_data(array: Any, dtype: Any, indent: int) -> str:
    """The values of a tensor in brackets, its later lines indented past `indent` columns."""
    if array.size == 0:
        return "[]"
    summarised = array.size > _options.threshold
    if summarised and not _options.edgeitems and array.ndim:
        return "[...]"
    items = _shown_items(array, _options.edgeitems) if summarised else array.tolist()
    layout = _layout_of(_numbers_among(items, array.ndim), dtype)
    return _nested_text(items, array.ndim, layout, indent)


def _shape_and_dtype_suffixes(array: Any, dtype: Any, default_dtype: Any) -> list[str]:
    # An empty tensor shows no values that would tell its dtype or, unless 1-d, its shape.
    evident = [default_dtype.name]
    if array.size:
        default_complex = "complex128" if default_dtype.name == "float64" else "complex64"
        evident += [default_complex, "int64", "bool"]
    shape_is_hidden = not _options.edgeitems if array.size else array.ndim != 1
    return ([f"size={tuple(array.shape)}"] if shape_is_hidden else []) \
        + ([] if dtype.name in evident else [f"dtype={dtype}"])


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


def tensor_repr(array: Any, dtype: Any, *, default_dtype: Any, requires_grad: bool = False,
                grad_fn_name: str | None = None, tangent: object = None, kind: str = "tensor(",
                is_parameter: bool = False, extra: Sequence[str] = (),
                contents: str | None = None) -> str:
    """The text of a tensor with everything that its values alone do not tell.

    `kind` opens the text (a subclass's name and a parenthesis), `extra` holds suffixes that come
    before all others (a device), `tangent` is a dual tensor's tangent (shown as it formats itself)
    and `contents` stands in place of the values. `is_parameter` marks a parameter, of
    which only a subclass shows it here.
    """
    indent = len(kind)
    body = format_data(array, dtype, indent) if contents is None else contents
    suffixes = [*extra, *_shape_and_dtype_suffixes(array, dtype, default_dtype)]
    if grad_fn_name is not None:
        suffixes.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    text = _with_suffixes(kind + body, suffixes, indent)
    return f"Parameter({text})" if is_parameter and kind != "tensor(" else text


def sparse_repr(parts: dict[str, tuple[Any, Any]], suffixes: Sequence[str],
                own_line: bool) -> str:
    """The text of a sparse tensor: its parts, arrays with their dtypes, and what else there is."""
    shown = []
    for name, (array, dtype) in parts.items():
        hidden = "" if array.size else f", size={tuple(array.shape)}"
        shown.append(f"{name}=tensor({format_data(array, dtype, len(name) + 15)}{hidden})")
    text = "tensor(" + (",\n" + " " * 7).join(shown)
    if own_line:
        text += ",\n" + " " * 7 + suffixes[0]
        suffixes = suffixes[1:]
    return _with_suffixes(text, suffixes, 7)


def wrapper_repr(kind: str, level: int, value: str, batch_dim: int | None = None) -> str:
    """The text of a tensor inside a function transform, around the text of the one it wraps."""
    batch = "" if batch_dim is None else f", bdim={batch_dim}"
    return f"{kind}(lvl={level}{batch}, value=\n{textwrap.indent(value, '    ')}\n)"


def repr_of(tensor: Any, is_plain: bool, contents: str | None = None) -> str:
    """The text of a :class:`~retrograd.core.tensor.Tensor` with its place in the graph."""
    from ..base import dtypes

    data = library_of(tensor._data).to_numpy(dtypes.readable(tensor._data))
    try:
        node = tensor.grad_fn
        name = None if node is None else node.name().rpartition("::")[2]
    except RuntimeError:  # a view whose history is refused
        name = "Invalid"
    return tensor_repr(
        data, tensor.dtype, default_dtype=dtypes.get_default_dtype(),
        requires_grad=tensor.requires_grad,
        grad_fn_name=name,
        kind="tensor(" if is_plain else f"{type(tensor).__name__}(", is_parameter=tensor._is_param,
        contents=contents)
