"""NumPy as an array library: its own functions, and what it is asked in this package's words."""

from __future__ import annotations

import math
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import Any

import numpy as np
from numpy._core import umath

from ..interface import kind_of, namespace, register  # noqa: F401 (kind_of is one of its names)
from .loops import linalg  # noqa: F401 (so is this)

ndarray = np.ndarray
generic = np.generic
NUMBERS = (np.bool_, np.number, np.object_)  # the classes of scalars that are numbers
ufunc = np.ufunc
newaxis = None

FLOAT32 = np.dtype("float32")
FLOAT64 = np.dtype("float64")
COMPLEX64 = np.dtype("complex64")
COMPLEX128 = np.dtype("complex128")
BOOL = np.dtype("bool")
INT64 = np.dtype("int64")

LARGE = 1 << 14
"""The number of elements from which threads are worth their while, be it for a single step."""


# Floating point exceptions are values here (inf, nan), never warnings. Setting NumPy's own
# context variable costs a tenth of ``np.errstate``; the public API is the fallback.
#
# Whoever silences NumPy asks for ``error_state()`` first, calls ``quieten(QUIET)`` as the first
# thing of a ``try``, and ends with ``quieten(state)``: whenever an interrupt comes, the state is
# what it was. No interrupt comes between the end of a ``try`` and a ``finally`` that calls C.
try:
    _error_state: Any = umath._extobj_contextvar
    QUIET: Any = umath._make_extobj(all="ignore")
    error_state, quieten = _error_state.get, _error_state.set
except AttributeError:  # pragma: no cover - a NumPy without these internals
    QUIET = dict.fromkeys(("divide", "over", "under", "invalid"), "ignore")
    error_state = np.geterr

    def quieten(state: Any) -> Any:
        np.seterr(**state)


class quiet:
    """Silences floating point warnings in a block."""

    __slots__ = ("before",)

    def __enter__(self) -> None:
        self.before = error_state()
        try:
            quieten(QUIET)
        except BaseException:
            quieten(self.before)
            raise

    def __exit__(self, *exc: object) -> None:
        quieten(self.before)


def optional(module: str, what: str) -> Any:
    """A module of a library that only some functions need; ``what`` needs it now."""
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != library:
            raise
    raise ModuleNotFoundError(f"{what} needs {library}, which is not installed: pip install "
                              f"{library}", name=library)


def narrow(name: str) -> np.dtype:
    """A dtype that NumPy itself does not have: complex32 as pairs, or one of ml_dtypes."""
    if name == "complex32":
        return np.dtype([("real", np.float16), ("imag", np.float16)])
    return np.dtype(getattr(optional("ml_dtypes", name), name))


def is_stored_only(dtype: np.dtype) -> bool:
    """Whether a dtype is one of those that are converted before anything is computed."""
    return dtype.itemsize != 2 if dtype.kind == "V" else dtype.kind == "f" and dtype.itemsize == 1


def float_info(dtype: np.dtype) -> Any:
    """The limits of a floating dtype, those of ml_dtypes included."""
    if dtype.kind == "V" or dtype.itemsize == 1:
        return optional("ml_dtypes", dtype.name).finfo(dtype)
    return np.finfo(dtype)


@cache
def special(name: str) -> Any:
    """A function of scipy.special, loaded when first needed; threads share large arrays."""
    from .sharing import shared

    return shared(getattr(optional("scipy.special", f"special.{name}"), name))


@cache
def fft(name: str) -> Any:
    """A function of numpy.fft, loaded when first needed."""
    return getattr(import_module("numpy.fft"), name)


@cache
def _module(name: str) -> Any:
    """One of this package, all of which need what is here."""
    return import_module(f"{__name__}.{name}")


def as_strided(array: np.ndarray, shape: tuple, strides: tuple, offset: int) -> np.ndarray:
    """The view of ``array``'s memory with ``strides`` and ``offset`` counted in elements.

    ``offset`` is relative to the array's own first element.
    """
    itemsize = array.dtype.itemsize
    if not shape and not offset:
        return array.reshape(()) if array.size == 1 else _strided(array, (), (), 0)
    return _strided(array, shape, tuple([s * itemsize for s in strides]), offset * itemsize)


class _Window:
    """Exposes a memory window of an array through the array interface; keeps it alive."""

    def __init__(self, owner: np.ndarray, shape: tuple, strides: tuple, offset: int,
                 kind: str | None = None):
        address, readonly = owner.__array_interface__["data"]
        self.__array_interface__ = {
            "shape": shape,
            "strides": strides,
            "typestr": kind or (owner.dtype.str if owner.dtype.isbuiltin == 1
                                else f"|V{owner.itemsize}"),
            "data": (address + offset, readonly),
            "version": 3,
        }
        self.owner = owner


def _strided(array: np.ndarray, shape: tuple, byte_strides: tuple, offset: int) -> np.ndarray:
    if math.prod(shape) == 0:
        return np.empty(shape, array.dtype)
    if not isinstance(array, np.ndarray):
        array = np.asarray(array)  # a scalar has no memory that a window could keep alive
    if array.flags.c_contiguous:
        try:  # the quick way, within the array's own elements
            return np.ndarray(shape, array.dtype, array, offset, byte_strides)
        except (TypeError, ValueError):
            pass
    window = np.asarray(_Window(array, shape, byte_strides, offset))
    return window if window.dtype == array.dtype else window.view(array.dtype)


def address(array: Any) -> int:
    """Where the first element lies in memory."""
    return array.__array_interface__["data"][0] if isinstance(array, np.ndarray) else 0


def element_strides(array: Any) -> tuple[int, ...]:
    if not array.size and 0 in array.strides:
        # NumPy gives new arrays without elements no strides to speak of.
        return tuple(math.prod(max(n, 1) for n in array.shape[d + 1:])
                     for d in range(array.ndim))
    itemsize = array.dtype.itemsize
    return tuple([s // itemsize for s in array.strides])


def in_rows(array: Any) -> Any:
    """``array`` with its elements row by row in memory: a copy, if they lie in another order."""
    if array.flags.c_contiguous:
        return array
    return array.copy() if array.size < LARGE else _module("copies").copy_in_rows(array)


def storage_of(array: np.ndarray) -> Any:
    """The object that owns the memory ``array`` looks at."""
    base = array.base
    if base.__class__ is np.ndarray and base.base is None:
        return base  # the usual part of an array
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    owner = base.base
    if isinstance(owner, _Window):
        return storage_of(owner.owner)
    return base


def is_dense(array: Any) -> bool:
    """Whether the elements fill their memory without gaps or overlaps, in some order."""
    expected = array.dtype.itemsize
    for stride, size in sorted(zip(array.strides, array.shape, strict=True)):
        if size == 1:
            continue
        if stride != expected:
            return False
        expected *= size
    return True


def has_overlap(array: Any) -> bool:
    """Whether two indices may reach the same element (an expanded dimension)."""
    return 0 in array.strides and array.size > 0 and any(
        s == 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True))


def are_apart(target: Any, *others: Any) -> bool:
    """Whether a write to ``target`` surely reaches each element once, and no other operand."""
    if target.base is not None and has_overlap(target):
        return False
    if not others:
        return True
    mine = _owner(target)
    for other in others:
        if other is target:
            continue
        theirs = _owner(other)
        if (theirs is mine or theirs is None or mine is None) \
                and np.may_share_memory(target, other):
            return False
    return True


def _owner(array: Any) -> Any:
    """The array that has the memory of this one for its own; None where that is not plain."""
    base = array.base
    return array if base is None else base if base.__class__ is np.ndarray and base.base is None \
        else None


_add_up: Any = np.add.reduce


def unbroadcast(array: Any, shape: tuple) -> Any:
    """Sum ``array`` down to ``shape``, undoing a broadcast."""
    if array.shape == shape:
        return array
    lead = array.ndim - len(shape)
    axes = tuple(range(lead)) + tuple(
        i + lead for i, n in enumerate(shape) if n == 1 and array.shape[i + lead] != 1
    )
    if axes:
        dtype = array.dtype
        if dtype.itemsize == 2 and dtype.kind in "fV":  # half precision accumulates in float32
            return np.add.reduce(array.astype(np.float32), axis=axes).astype(dtype).reshape(shape)
        try:
            array = _add_up(array, axis=axes, dtype=dtype if dtype.kind in "fc" else None,
                            keepdims=not lead)
        except TypeError:
            if not dtype.names:
                raise
            pairs = np.empty(shape, dtype)
            for part in dtype.names:
                pairs[part] = unbroadcast(array[part], shape)
            return pairs
    # What owns its memory is left as it is: a leaf may keep it.
    return array if array.shape == shape else array.reshape(shape)


def cast(array: Any, dtype: np.dtype) -> Any:
    """``array`` as ``dtype``; the real part where a complex value becomes real."""
    if array.dtype is dtype:
        return array
    if (dtype.isbuiltin != 1 or array.dtype.isbuiltin != 1) and (
            is_stored_only(dtype) or is_stored_only(array.dtype)):
        return _cast_stored(array, dtype)
    if array.dtype.kind == "c" and dtype.kind not in "cb":
        array = array.real
    if 0 in array.strides:
        return _dense(array, dtype)  # NumPy would let an expanded dimension run fastest
    if array.size >= LARGE:
        return _module("create").converted(array, dtype)
    return array.astype(dtype)


def _cast_stored(array: Any, dtype: np.dtype) -> Any:
    """To or from a dtype that is only stored, by way of single precision."""
    if array.dtype == dtype:
        return array
    if array.dtype.names:  # pairs of halves
        wide = np.empty_like(array, np.complex64)
        wide.real, wide.imag = array["real"], array["imag"]
        return cast(wide, dtype)
    if dtype.names:
        wide = cast(array, np.dtype(np.complex64))
        pairs = np.empty_like(wide, dtype)
        pairs["real"], pairs["imag"] = wide.real, wide.imag
        return pairs
    if is_stored_only(array.dtype):
        return cast(array.astype(np.float32), dtype)
    single = cast(array, np.dtype(np.float32))
    if dtype.name == "float8_e4m3fn":  # without infinities: the largest number stands for them
        single = np.clip(single, -448.0, 448.0)
    elif dtype.name == "float8_e8m0fnu":  # powers of two alone, without a sign
        single = np.maximum(np.abs(single), np.float32(2.0 ** -127))
    return single.astype(dtype)


def as_array(value: Any) -> np.ndarray:
    """An ndarray of ``value``, which may be a NumPy scalar."""
    return value if isinstance(value, np.ndarray) else np.asarray(value)


# ---------------------------------------------------------------- layouts


def viewed(array: Any, shape: tuple) -> Any:
    """``array`` in another shape on the same memory, or None where that is impossible."""
    try:
        return array.reshape(shape, copy=False)
    except ValueError:
        return None


def expanded(array: np.ndarray, shape: tuple) -> np.ndarray:
    """A writable view with length-one dimensions repeated."""
    if array.shape == shape:
        return array[...]
    lead = len(shape) - array.ndim
    strides = (0,) * lead + tuple(
        0 if own == 1 and n != 1 else s
        for n, own, s in zip(shape[lead:], array.shape, array.strides, strict=True))
    return _strided(array, shape, strides, 0)


def writable_diagonal(array: np.ndarray, offset: int, axis1: int, axis2: int) -> np.ndarray:
    """``array.diagonal`` as a view that can be written to."""
    view = array.diagonal(offset, axis1, axis2)
    if not view.size:
        return np.empty(view.shape, view.dtype)
    view.flags.writeable = array.flags.writeable
    return view


def broadcast(array: Any, shape: tuple) -> Any:
    """``array`` repeated to ``shape``; a small one is copied, which is cheaper than a view."""
    if array.shape == shape:
        return array
    if math.prod(shape) <= 4096:
        out = np.empty(shape, array.dtype)
        out[...] = array
        return out
    return expanded(np.asarray(array), shape)


def complex_pairs(array: np.ndarray) -> np.ndarray:
    """Complex memory as (real, imag) pairs."""
    array = np.asarray(array)  # the real part of a scalar is a number apart, with no imaginary one
    if array.dtype.names:
        return _strided(array["real"], (*array.shape, 2), (*array.strides, 2), 0)
    half = array.real.dtype
    return _strided(array.real, (*array.shape, 2), (*array.strides, half.itemsize), 0)


def pairs_as_complex(array: np.ndarray) -> np.ndarray:
    """(real, imag) pairs as complex numbers on the same memory."""
    kind = narrow("complex32") if array.dtype == np.float16 else np.dtype(
        np.complex64 if array.dtype == np.float32 else np.complex128)
    if not array.size:  # its strides say nothing
        return np.empty(array.shape[:-1], kind)
    if array.strides[-1] != array.itemsize or any(s % kind.itemsize for s in array.strides[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    window = _Window(array, (*array.shape[:-1],), array.strides[:-1], 0, kind.str)
    return np.asarray(window).view(kind)


def copied(array: Any) -> Any:
    """A dense copy whose dimensions lie in memory in the same order."""
    if not isinstance(array, np.ndarray):
        return array
    if array.size >= LARGE:
        order, copies = xp.dense_order(array), _module("copies")
        return copies.copy_in_rows(array) if order == tuple(range(array.ndim)) \
            else copies.copy_in_order(array, order)
    if 0 not in array.strides:
        return array.copy(order="K")
    return _dense(array, array.dtype)


def _dense(array: Any, dtype: np.dtype) -> Any:
    out = xp.empty_in_order(array.shape, xp.dense_order(array), dtype)
    out[...] = array
    return out


def level(a: Any, b: Any) -> tuple[Any, Any]:
    """A NumPy scalar and an array as two of a kind, which NumPy computes with much faster."""
    if isinstance(a, np.ndarray):
        return (a[()], b) if not a.ndim else (a, np.asarray(b))
    return (a, b[()]) if not b.ndim else (np.asarray(a), b)


# ---------------------------------------------------------------- questions


def is_array(value: Any) -> bool:
    """Whether ``value`` is an array of this library, with memory of its own or another's."""
    return isinstance(value, np.ndarray)


def is_scalar(value: Any) -> bool:
    """Whether ``value`` is a number of this library's own, which NumPy has for zero-dim data."""
    return isinstance(value, np.generic)


is_writable = attrgetter("flags.writeable")
# Whether the elements lie in memory in the order of their indices, without gaps.
is_contiguous = attrgetter("flags.c_contiguous")


def owns_memory(array: np.ndarray) -> bool:
    """Whether the array is no view of another one, nor of memory from elsewhere."""
    return array.base is None


def same_layout(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether the elements of both lie in memory in the same way, if in different places."""
    return a.strides == b.strides


def can_stand_for(a: Any, b: Any) -> bool:
    """Whether ``a`` is an array with memory of its own, laid out as the array ``b`` is."""
    return isinstance(a, np.ndarray) and a.base is None and isinstance(b, np.ndarray) \
        and a.strides == b.strides


def retyped(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The memory of a packed vector read as elements of another dtype."""
    return array.view(dtype)


def offset_in(array: np.ndarray, base: np.ndarray) -> int:
    """How many elements of ``array`` its first one lies behind the first one of ``base``."""
    return (address(array) - address(base)) // array.dtype.itemsize


def _repeats(index: Any, size: int) -> bool:
    """Whether an index of so many elements may name one more than once; few indices are looked at.
    """
    parts = [part for part in (index if isinstance(index, tuple) else (index,))
             if isinstance(part, np.ndarray)]
    return len(parts) != 1 or parts[0].size * 16 > size \
        or np.unique(parts[0]).size < parts[0].size


def add_at(array: np.ndarray, index: Any, values: Any) -> None:
    """Add ``values`` at the places of ``index``, which may name a place more than once."""
    if array.dtype.itemsize == 2 and array.dtype.kind in "fV" and _repeats(index, array.size):
        sums = array.astype(np.float32)  # in which half precision accumulates
        np.add.at(sums, index, np.asarray(values).astype(np.float32))
        array[...] = sums.astype(array.dtype)
        return
    try:
        np.add.at(array, index, values)
    except TypeError:
        if not array.dtype.names:
            raise
        for part in array.dtype.names:  # pairs of halves
            np.add.at(array[part], index, values[part])


def number(value: Any, dtype: np.dtype) -> Any:
    """Zero-dim data, as reductions give it."""
    return dtype.type(value)


def to_numpy(array: np.ndarray) -> np.ndarray:
    """The array as one of NumPy's; a copy, unless it is."""
    return array


# ---------------------------------------------------------------- functions, called quicker

# NumPy's own look for arguments of other libraries first, which takes longer than a small array.


def _reduction(name: str, ufunc: Any) -> Any:
    reduce = ufunc.reduce

    def reduced(array: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        return reduce(array, axis, dtype, None, keepdims)

    reduced.__name__ = name
    return reduced


def _scan(name: str, ufunc: Any) -> Any:
    accumulate = ufunc.accumulate

    def scanned(array: Any, axis: int | None = None, dtype: Any = None) -> Any:
        if axis is not None and array.size >= LARGE and array.size >= 64 * array.shape[axis] \
                and array.dtype.char in "fd" and (dtype is None or dtype == array.dtype):
            return _scanned_at_once(ufunc, array, axis)
        return accumulate(np.ravel(array) if axis is None else array, axis, dtype)

    scanned.__name__ = name
    return scanned


def _scanned_at_once(ufunc: Any, array: Any, axis: int) -> Any:
    """A scan of many rows, one step of all of them after the other: NumPy takes row by row."""
    steps = in_rows(np.moveaxis(array, axis, 0))
    found = np.empty(steps.shape, steps.dtype)
    found[0] = steps[0]
    for before, step, now in zip(found, steps[1:], found[1:]):
        ufunc(before, step, out=now)
    return in_rows(np.moveaxis(found, 0, axis))


def take(array: Any, index: Any, axis: int | None = None) -> Any:
    if axis is None or index.size < 256:
        return array.take(index, axis)
    return _module("index").slices_at(array, index, axis)


def repeat(array: Any, count: Any, axis: int | None = None) -> Any:
    return array.repeat(count, axis)


def argsort(array: Any, axis: int | None = -1, kind: str | None = None) -> Any:
    return array.argsort(axis, kind)


_SHARED = 1024  # elements of a mask for as many as are large


def where(mask: Any, left: Any, right: Any) -> Any:
    if not isinstance(mask, np.ndarray) or (mask.size < LARGE and (
            mask.size < _SHARED or getattr(left, "size", 1) < LARGE)):
        return np.where(mask, left, right)
    return _module("pointwise").chosen(mask, left, right)


def concatenate(arrays: Any, axis: int = 0) -> Any:
    if getattr(arrays[0], "size", 0) < LARGE:
        return np.concatenate(arrays, axis=axis)
    return _module("create").joined(arrays, axis)


def roll(array: Any, shifts: Any, axis: Any = None) -> Any:
    if type(axis) is not tuple or len(axis) != 1 or not (length := array.shape[axis[0]]):
        return np.roll(array, shifts, axis)
    # Two parts that change places: NumPy's own takes longer to find them than to copy few numbers.
    dim, cut = axis[0] % array.ndim, length - shifts[0] % length
    before = (slice(None),) * dim
    return concatenate((array[(*before, slice(cut, None))], array[(*before, slice(0, cut))]), dim)


_QUICK = [_reduction("sum", np.add), _reduction("prod", np.multiply),
          _reduction("max", np.maximum), _reduction("min", np.minimum),
          _reduction("any", np.logical_or), _reduction("all", np.logical_and),
          _scan("cumsum", np.add), _scan("cumprod", np.multiply)]

xp = namespace("numpy", {**globals(), **{quick.__name__: quick for quick in _QUICK}}, np)
register(xp)
