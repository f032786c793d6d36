"""Functions of NumPy that only move elements about.

NumPy itself says where they go: it is given the numbers of the elements in the place of the
elements, and what it makes of them says which element lies where. So every option of every such
function means what NumPy means by it, and the gradient is that of one gather.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from .operands import cast, common, dtype_of, numpy, operand, refused, strongly, torch, values

MOVED = {
    "append": "arr values", "array_split": "ary", "atleast_1d": "arys", "atleast_2d": "arys",
    "atleast_3d": "arys", "block": "arrays", "choose": "choices", "column_stack": "tup",
    "compress": "a", "delete": "arr", "diagflat": "v", "dsplit": "ary",
    "dstack": "tup", "extract": "arr", "fliplr": "m", "flipud": "m", "hsplit": "ary",
    "insert": "arr values", "meshgrid": "xi", "pad": "array constant_values", "repeat": "a",
    "resize": "a", "rollaxis": "a", "rot90": "m", "select": "choicelist default", "split": "ary",
    "lib.stride_tricks.sliding_window_view": "x", "take": "a", "take_along_axis": "arr",
    "tile": "A", "unstack": "x", "vsplit": "ary",
}
"""The arguments whose elements appear in the result; zeros may stand between them."""

OF_FIRST = ("insert", "pad")
"""Those whose result has the dtype of their first argument."""
OF_EACH = ("atleast_1d", "atleast_2d", "atleast_3d", "meshgrid")
"""Those whose results have the dtypes of one argument each."""

WRITTEN = {"copyto": "dst src", "fill_diagonal": "a val", "place": "arr vals", "put": "a v",
           "putmask": "a values", "put_along_axis": "arr values"}
"""Functions that write elements of their second argument into the first."""

PADDED = ("constant", "edge", "reflect", "symmetric", "wrap", "empty")


class Numbering:
    """The elements of several arrays, numbered from one; nought stands for a zero."""

    def __init__(self) -> None:
        self.parts: list[Any] = []
        self.next = 1

    def of(self, value: Any) -> Any:
        """The numbers of an argument's elements, in its shape."""
        if isinstance(value, (list, tuple)):
            return [self.of(item) for item in value]
        self.parts.append(value)
        shape = tuple(value.shape) if isinstance(value, Tensor) else numpy.named("shape")(value)
        first, self.next = self.next, self.next + math.prod(shape)
        return numpy.named("arange")(first, self.next).reshape(shape)

    def elements(self, dtype: Any = None) -> Tensor:
        """The elements in the order of their numbers."""
        parts = common(*self.parts, dtype=dtype)
        return torch.cat([torch.zeros(1, dtype=parts[0].dtype), *[p.reshape(-1) for p in parts]])


def placed(elements: Tensor, found: Any) -> Any:
    """What NumPy made of numbers, made of the elements."""
    if isinstance(found, (list, tuple)):
        return type(found)([placed(elements, part) for part in found])
    return torch.take(elements, operand(numpy.named("ascontiguousarray")(found).reshape(
        numpy.named("shape")(found))))


def moved(name: str) -> Callable[..., Any]:
    """The function of this name on tensors."""
    function, data = numpy.named(name), MOVED[name].split()
    signature = inspect.signature(function)

    def called(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        numbering = Numbering()
        taken, passed = bound.arguments, {}
        if name == "pad":
            _check_padding(taken)
            passed = taken.pop("kwargs", {})
            if "constant_values" in passed:
                taken["constant_values"] = passed.pop("constant_values")
        if taken.pop("out", None) is not None:
            raise refused(name, "it has no out= here: assign to a tensor")
        numbers = {key: numbering.of(taken[key]) for key in data if key in taken}
        for key in taken:
            taken[key] = numbers[key] if key in numbers else values(taken[key])
        if "constant_values" in numbers:
            passed["constant_values"] = taken.pop("constant_values")
        if name == "append":
            numbering.parts = strongly(*numbering.parts)
        kinds = [dtype_of(part) for part in numbering.parts]
        found = placed(numbering.elements(kinds[0] if name in OF_FIRST else None),
                       function(*bound.args, **bound.kwargs, **passed))
        if name in OF_EACH and len(kinds) > 1:
            return type(found)([cast(part, kind) for part, kind in zip(found, kinds, strict=True)])
        return found

    return called


def _check_padding(given: dict[str, Any]) -> None:
    mode = given.get("mode", "constant")
    if mode not in PADDED or given.get("kwargs", {}).get("reflect_type", "even") != "even":
        raise refused("pad", f"mode={mode!r} computes what it pads with: write it as "
                             "np.concatenate() of the parts")


def written(name: str) -> Callable[..., None]:
    """The function of this name, which writes to its first argument."""
    function, (target, source) = numpy.named(name), WRITTEN[name].split()
    signature = inspect.signature(function)

    def called(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        taken = bound.arguments
        into = taken[target]
        if not isinstance(into, Tensor):
            raise refused(name, "an ndarray cannot hold a gradient: write to a tensor, such as "
                                "np.zeros_like() of one")
        numbering = Numbering()
        numbers = {key: numbering.of(into if key == target else operand(taken[key]))
                   for key in (target, source)}
        for key in taken:
            taken[key] = numbers[key] if key in numbers else values(taken[key])
        function(*bound.args, **bound.kwargs)
        into.copy_(placed(numbering.elements(into._data.dtype), numbers[target]))

    return called


# ---------------------------------------------------------------- chosen by their values


def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None,
         name: str = "argsort", **options: Any) -> Tensor:
    x = operand(a)
    x, axis = (x.reshape(-1), 0) if axis is None else (x, axis)
    if name == "argsort":
        options |= {"kind": kind, "stable": stable}
    place = numpy.named(name)(values(x), axis=axis, **options)
    return torch.take_along_dim(x, operand(place), axis)


def partition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
              ) -> Tensor:
    return sort(a, axis, name="argpartition", kth=kth)


def sort_complex(a: Any) -> Tensor:
    found = sort(operand(a), axis=0)
    return found if found.dtype.is_complex else cast(found, numpy.result_type(
        found._data.dtype, "complex64"))


def unique(ar: Any, return_index: bool = False, return_inverse: bool = False,
           return_counts: bool = False, axis: Any = None, **options: Any) -> Any:
    x = operand(ar)
    _, place, *rest = numpy.named("unique")(values(x), True, return_inverse, return_counts, axis,
                                            **options)
    found = torch.index_select(x.reshape(-1) if axis is None else x, axis or 0, operand(place))
    extra = [place] * return_index + rest
    return (found, *extra) if extra else found


def chosen(name: str) -> Callable[..., Any]:
    """A function whose first result is made of elements of its arguments, each once."""
    function = numpy.named(name)

    def called(*args: Any, **kwargs: Any) -> Any:
        found = function(*values(args), **values(kwargs))
        several = isinstance(found, tuple)
        parts = [operand(v).reshape(-1) for v in args if not isinstance(v, bool)]
        pool = torch.cat(common(*parts))
        _, first = numpy.named("unique")(values(pool), return_index=True)
        ordered = values(pool)[first]
        picked = found[0] if several else found
        place = first[numpy.named("searchsorted")(ordered, picked)]
        result = torch.take(pool, operand(place).reshape(picked.shape))
        if not several:
            return result
        return type(found)(result, *found[1:]) if hasattr(found, "_fields") else (
            result, *found[1:])

    return called


CHOSEN = ("intersect1d", "setdiff1d", "setxor1d", "union1d", "unique_all", "unique_counts",
          "unique_inverse", "unique_values")


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Tensor:
    x = operand(filt)
    data = values(x)
    there = numpy.named("argwhere")(data)
    low, high = (there.min(0), there.max(0) + 1) if len(there) else ([0] * x.ndim, [0] * x.ndim)
    axes = range(x.ndim) if axis is None else numpy.normalize_axis_tuple(axis, x.ndim)
    return x[tuple([slice(low[i] if "f" in trim.lower() and i in axes else 0,
                          high[i] if "b" in trim.lower() and i in axes else x.shape[i])
                    for i in range(x.ndim)])]
