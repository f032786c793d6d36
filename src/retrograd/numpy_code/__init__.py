"""NumPy code that meets tensors: its functions and operators are recorded.

NumPy asks the classes of its arguments whether they compute a function themselves
(``__array_ufunc__``, ``__array_function__``). A tensor that requires grad does: the function of
NumPy's name in this package runs in its place, with NumPy's arguments and dtypes, and is made of
ops. One that requires none is treated as PyTorch treats it; where PyTorch raises, as one that does.
Loaded when a tensor first meets NumPy.
"""

from __future__ import annotations

from typing import Any

from ..backend.numpy import generic, ndarray, protocol as numpy
from ..base.call_sites import is_at_operator
from ..core.extensions import extensions
from ..core.tensor import Tensor, warn_of_store, wrap
from . import fft, linalg, numerics, products, rearranging, reductions, shapes, ufuncs
from .operands import any_recorded, refused, values, words

# ---------------------------------------------------------------- which function does it

VALUES = words(
    "all allclose any argmax argmin argpartition argsort argwhere array2string array_equal "
    "array_equiv array_repr array_str busday_count busday_offset can_cast common_type "
    "count_nonzero datetime_as_string diag_indices_from digitize einsum_path flatnonzero "
    "histogram2d histogram_bin_edges histogramdd is_busday isclose iscomplex isin "
    "isneginf isposinf isreal ix_ lexsort may_share_memory min_scalar_type nanargmax "
    "nanargmin nonzero packbits ravel_multi_index result_type save savetxt savez "
    "savez_compressed searchsorted shares_memory tril_indices_from triu_indices_from "
    "unpackbits unravel_index linalg.matrix_rank")
"""The functions whose results have no gradient; they come back as NumPy's own."""

LIKE = words("arange empty eye frombuffer fromfile fromfunction fromiter fromstring full "
             "genfromtxt identity loadtxt ones require tri zeros")
"""The functions that meet a tensor as ``like=`` alone: it asks for a tensor."""

_PLACES = {"linalg": linalg, "fft": fft}


def name_of(function: Any) -> str:
    """A function's public name, without the leading ``numpy.``"""
    return f"{function.__module__}.{function.__name__}".removeprefix("numpy.")


def handler_of(function: Any) -> Any:
    """The function that does the same on tensors, or None."""
    name = name_of(function)
    if name in VALUES:
        return lambda *args, **kwargs: function(*values(args), **{
            key: values(value) for key, value in kwargs.items()})
    if name in rearranging.MOVED:
        return rearranging.moved(name)
    if name in rearranging.WRITTEN:
        return rearranging.written(name)
    if name in rearranging.CHOSEN:
        return rearranging.chosen(name)
    home, _, last = name.rpartition(".")
    if home == "lib.scimath":
        return numerics.by_scimath(name)
    places = [_PLACES[home]] if home in _PLACES else [] if home else [
        reductions, shapes, products, numerics, rearranging]
    return next((vars(place)[last] for place in places
                 if getattr(vars(place).get(last), "__module__", "").startswith(__name__)), None)


_handlers: dict[Any, Any] = {}


def recorded(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of NumPy on tensors of which one is recorded."""
    try:
        handler = _handlers[function]
    except KeyError:
        handler = _handlers[function] = handler_of(function)
    if handler is None:
        raise refused(name_of(function), "there is no derivative of it here")
    return handler(*args, **kwargs)


# ---------------------------------------------------------------- what NumPy calls


def array_function(function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """A function of NumPy was called with a tensor."""
    for kind in types:
        if not issubclass(kind, (Tensor, ndarray)):
            return NotImplemented
    if any_recorded(args) or (kwargs and any_recorded(kwargs.values())):
        return recorded(function, args, kwargs)
    if name_of(function) in LIKE:
        return wrap(numpy.asarray(numpy.implementation(function, args, kwargs)))
    try:
        return numpy.implementation(function, args, kwargs)
    except Exception:
        try:
            return recorded(function, args, kwargs)
        except Exception:
            pass
        raise


def array_ufunc(frame: Any, ufunc: Any, method: str, inputs: tuple[Any, ...],
                options: dict[str, Any]) -> Any:
    """A ufunc was called with a tensor, or an operator of an array or a NumPy number met one."""
    is_call = method == "__call__"
    if is_call and not options:
        found = ufuncs.usual(ufunc, inputs)
        if found is not None:
            return found
    if is_call and len(inputs) == 2 and not options and isinstance(inputs[0], generic):
        number, tensor = inputs
        if ufunc.__name__ in REFLECTED and (
                (number.dtype == tensor._data.dtype and ufunc.__name__ not in ufuncs.VALUES)
                or is_at_operator(frame)):
            return getattr(tensor, REFLECTED[ufunc.__name__])(number.item())
    for value in (*inputs, *(options.get("out") or ())):
        if not isinstance(value, (Tensor, ndarray, generic)) \
                and getattr(type(value), "__array_ufunc__", None) is not None:
            return NotImplemented
    is_operator = is_call and is_at_operator(frame)
    if any_recorded(inputs) or any_recorded(options.values()):
        return operator(ufunc, inputs, **options) if is_operator \
            else ufuncs.run(ufunc, method, inputs, options)
    if is_operator:
        return operator_without_grad(ufunc, inputs, **options)
    bare = [Bare(v) if isinstance(v, Tensor) else v for v in inputs]
    return getattr(ufunc, method)(*bare, **options)


# From now on a tensor asks here, not where it would load this module.
vars(extensions).update(numpy_ufunc=array_ufunc, numpy_function=array_function)

REFLECTED = {
    "add": "__radd__", "subtract": "__rsub__", "multiply": "__rmul__", "divide": "__rtruediv__",
    "power": "__rpow__", "remainder": "__rmod__", "floor_divide": "__rfloordiv__",
    "equal": "__eq__", "not_equal": "__ne__", "less": "__gt__", "less_equal": "__ge__",
    "greater": "__lt__", "greater_equal": "__le__", "bitwise_and": "__rand__",
    "bitwise_or": "__ror__", "bitwise_xor": "__rxor__", "left_shift": "__rlshift__",
    "right_shift": "__rrshift__"}
"""The methods of a tensor on the right of an operator."""


class Bare:
    """A tensor as NumPy sees one whose class takes nothing over: an array, and how to wrap one."""

    __array_priority__ = Tensor.__array_priority__

    def __init__(self, tensor: Tensor):
        self.tensor = tensor

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.tensor.__array__(dtype, copy)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return self.tensor.__array_wrap__(array, context, return_scalar)


def operator(ufunc: Any, inputs: tuple[Any, ...], out: Any = None) -> Any:
    """An operator of an array and a tensor of which something is recorded."""
    if ufunc.__name__ in ("equal", "not_equal"):  # PyTorch knows these of arrays
        return compared(ufunc.__name__, *inputs)
    if out is not None and isinstance(out[0], ndarray):
        return written_to(out[0], ufunc, inputs)
    return ufuncs.run(ufunc, "__call__", inputs, {} if out is None else {"out": out})


def operator_without_grad(ufunc: Any, inputs: tuple[Any, ...], out: Any = None) -> Any:
    """An operator of an array and a tensor, of which nothing is recorded."""
    name = ufunc.__name__
    if out is not None:
        return ufunc(*values(inputs), out=out)
    if name in ("equal", "not_equal"):
        return compared(name, *inputs)
    if name == "divide" and isinstance(inputs[1], Tensor):
        return inputs[1].__rtruediv__(inputs[0])
    if isinstance(inputs[0], Tensor):  # which left it to the array
        return ufunc(*[Bare(v) if isinstance(v, Tensor) else v for v in inputs])
    return ufuncs.run(ufunc, "__call__", inputs, {})


def compared(name: str, first: Any, second: Any) -> Any:
    """``==`` or ``!=`` of a tensor and an array, on either side."""
    tensor, other = (first, second) if isinstance(first, Tensor) else (second, first)
    return getattr(tensor, REFLECTED[name])(other)


def written_to(array: Any, ufunc: Any, inputs: tuple[Any, ...]) -> Tensor:
    """``array += tensor``: the name stands for a tensor on the array's memory from then on."""
    if numpy.is_part(array):
        warn_of_store()
    found = ufuncs.run(ufunc, "__call__", inputs, {})
    if not numpy.named("can_cast")(found._data.dtype, array.dtype, "same_kind"):
        raise TypeError(f"Cannot cast ufunc '{ufunc.__name__}' output from {found._data.dtype!r} "
                        f"to {array.dtype!r} with casting rule 'same_kind'")
    return wrap(array).copy_(found)
