"""What a kernel may ask of an array library, and which library an array belongs to.

Kernels and rules are written against a namespace ``xp`` that offers exactly the names below. For
NumPy it is :data:`retrograd.backend.xp`; for an array of another type, :func:`library_of` finds the
namespace of its library, and kernels are bound to that (their code, with another meaning of
``xp``). Generated code tests for NumPy's own array class and dtype objects by identity: that only
recognises the ordinary call, and whatever is not ordinary comes here.

**Arrays.** An array has ``shape``, ``dtype``, ``ndim``, ``size``, ``T``, ``real``, ``imag``, the
methods of :data:`METHODS`, Python's arithmetic, comparison and bit operators (also in place) with
arrays of its library and Python numbers, and indexing for reading and writing by ints, slices,
``None``, ``...`` and arrays of ints or bools of its library. Iterating gives views along the first
dimension. ``item()``, ``tolist()``, ``bool()``, ``int()`` and ``float()`` read values, which may
mean to wait for them. A dtype is a NumPy dtype descriptor in every library. A reduction to zero
dims gives something with the same attributes: an array, or for NumPy a scalar, which ``as_array``
makes an array of.

**Functions.** They are NumPy's, with the parameters named in the tables; what is not named is not
promised (``out``, ``initial``, ``where``, the methods of ufuncs, and so on), nor are NumPy arrays
and NumPy scalars accepted where arrays of another library are meant; ``asarray`` moves them.

**Another library** is one small module that calls :func:`namespace`, and :func:`register` with its
array type. For CuPy: ``cupy`` itself has the functions, and ``cupy.linalg`` those of linear
algebra; ``special`` looks in ``cupyx.scipy.special`` and ``fft`` in ``cupy.fft``; ``as_strided``,
``element_strides``, ``storage_of``, ``offset_in``, ``address``, ``is_contiguous``, ``is_writable``,
``owns_memory``, ``viewed`` and ``retyped`` are a line each on what its arrays have, ``to_numpy`` is
``cupy.asnumpy``, ``is_scalar`` is never so, and quiet floating point is nothing. The other
:data:`QUESTIONS` have plain bodies in :mod:`.plain.layouts`, and so have all kernels; tuned ones
can come one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from types import FunctionType, ModuleType
from typing import Any

from .plain import layouts


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


METHODS = {
    "reshape": "copy", "transpose": "", "astype": "", "copy": "", "conj": "", "item": "",
    "tolist": "", "sum": "axis dtype keepdims", "any": "axis keepdims", "all": "axis keepdims",
    "max": "axis keepdims", "min": "axis keepdims", "argmax": "axis", "argmin": "axis",
    "swapaxes": "", "ravel": "", "squeeze": "axis", "diagonal": "",
}
"""The methods of arrays, each with the keyword arguments it takes."""

ELEMENTWISE = _names(
    "absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and bitwise_or "
    "bitwise_xor ceil conj copysign cos cosh divide equal exp exp2 expm1 floor floor_divide fmax "
    "fmin fmod gcd greater greater_equal hypot invert isfinite isinf isnan lcm left_shift less "
    "less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or "
    "logical_xor maximum minimum multiply negative nextafter not_equal power reciprocal remainder "
    "right_shift rint sign signbit sin sinh sqrt tan tanh trunc frexp "
    "where clip isreal angle abs")
"""Functions of arrays that are broadcast together, without keyword arguments."""

FUNCTIONS = dict.fromkeys(ELEMENTWISE, "") | {
    # what they make
    "zeros": "dtype", "ones": "dtype", "empty": "dtype", "full": "dtype", "arange": "dtype",
    "eye": "dtype", "tri": "dtype", "zeros_like": "dtype", "ones_like": "dtype",
    "empty_like": "dtype", "full_like": "dtype", "indices": "dtype", "asarray": "dtype",
    "array": "dtype", "tril_indices": "", "triu_indices": "",
    # reductions and scans
    "sum": "axis dtype keepdims", "prod": "axis dtype keepdims", "max": "axis keepdims",
    "min": "axis keepdims", "any": "axis keepdims", "all": "axis keepdims", "argmax": "axis",
    "argmin": "axis", "count_nonzero": "axis", "cumsum": "axis dtype", "cumprod": "axis dtype",
    # order
    "argsort": "axis kind", "unique": "return_index return_inverse return_counts", "nonzero": "",
    "flatnonzero": "", "isin": "", "bincount": "weights minlength",
    # arrangement
    "stack": "axis", "concatenate": "axis", "split": "axis", "broadcast_to": "",
    "broadcast_arrays": "", "moveaxis": "", "expand_dims": "axis", "squeeze": "axis",
    "flip": "axis", "roll": "axis", "rot90": "", "repeat": "axis", "tile": "", "diagonal": "",
    "take": "axis", "take_along_axis": "axis", "put_along_axis": "axis", "atleast_1d": "",
    "ascontiguousarray": "", "ravel": "", "unravel_index": "",
    # products
    "matmul": "", "outer": "",
    # of shapes and dtypes alone
    "broadcast_shapes": "", "promote_types": "", "dtype": "", "iinfo": "",
}
"""The functions, each with the keyword arguments it takes."""

FFT = dict.fromkeys(("fft", "ifft", "rfft", "irfft"), "n axis norm")
"""The Fourier transforms that ``xp.fft(name)`` gives, each with the keyword arguments it takes.

They keep single precision; ``fft`` takes real arrays too, and gives their whole spectrum.
"""

LINALG = dict.fromkeys(("eigh", "eig", "eigvals", "eigvalsh", "qr", "det", "slogdet", "cholesky",
                        "inv", "solve", "LinAlgError"), "") | {"svd": "full_matrices compute_uv"}
"""The functions in ``xp.linalg`` with the keyword arguments they take, and what they raise.

``cholesky`` reads and gives the lower triangle, and ``solve`` takes as many matrices on both sides.
"""

QUESTIONS = _names(
    # what it is
    "is_array is_scalar as_array to_numpy number kind_of float_info narrow is_stored_only "
    "cast "
    # its memory
    "owns_memory same_memory same_layout may_share_memory storage_of offset_in address is_writable "
    "can_stand_for is_contiguous is_dense has_overlap are_apart element_strides copy_with_memory "
    # views of it, and arrays laid out in a given way
    "as_strided viewed retyped expanded broadcast writable_diagonal windows add_windows "
    "complex_pairs pairs_as_complex zeros_strided zeros_as in_rows packed copied dense_order "
    "empty_in_order reach positions unbroadcast level add_at "
    # quiet floating point
    "error_state quieten quiet QUIET "
    # functions that a library may have elsewhere
    "special fft")
"""What is asked in the words of this package: see plain/layouts.py and the NumPy library."""

CONSTANTS = _names(
    "FLOAT32 FLOAT64 COMPLEX64 COMPLEX128 BOOL INT64 bool_ uint8 int8 int16 int32 int64 "
    "float32 float64 complex64 complex128 nan inf pi")

NAMES = frozenset((*FUNCTIONS, *QUESTIONS, *CONSTANTS, "linalg"))
"""Everything that a library's namespace offers."""


def namespace(name: str, own: dict[str, Any], library: Any) -> Any:
    """The namespace of a library: ``own`` answers first, then plain bodies, then its functions."""
    made = ModuleType(f"retrograd.backend.{name}.xp")
    names = {"xp": made, "__builtins__": __builtins__, "__name__": made.__name__}
    bodies = {n: FunctionType(body.__code__, names, n, body.__defaults__)
              for n, body in vars(layouts).items() if isinstance(body, FunctionType)}
    vars(made).update({n: own[n] if n in own else bodies.get(n) or getattr(library, n)
                       for n in NAMES - {"linalg"}})
    made.linalg = own.get("linalg") or part(library.linalg, LINALG)  # type: ignore[attr-defined]
    return made


def part(library: Any, names: Iterable[str]) -> Any:
    """A namespace of these names alone."""
    made = ModuleType(library.__name__)
    vars(made).update({name: getattr(library, name) for name in names})
    return made


NONE, MEAN, SUM = 0, 1, 2
"""What kernels of losses are to do with the losses of single elements."""

# Of a dtype, in one letter: b(ool), i(nt), u(nsigned), f(loat), c(omplex), or V for bfloat16.
kind_of = attrgetter("kind")

LIBRARIES: dict[type, Any] = {}
"""The namespace of each library but the default one, by the type of its arrays."""
_default: Any = None


def register(library: Any, array_type: type | None = None) -> None:
    """Let arrays of ``array_type`` be computed by ``library``; without a type, all the others."""
    global _default
    if array_type is None:
        _default = library
    else:
        LIBRARIES[array_type] = library


def library_of(data: Any) -> Any:
    """The namespace of the library that ``data`` belongs to; NumPy's for whatever is no array."""
    return LIBRARIES.get(type(data), _default)


def is_array(data: Any) -> bool:
    """Whether ``data`` is an array of some library."""
    return type(data) in LIBRARIES or _default.is_array(data)


def is_data(value: Any) -> bool:
    """Whether ``value`` is raw data of some library: an array, or a scalar of NumPy's."""
    return type(value) in LIBRARIES or _default.is_array(value) or _default.is_scalar(value)
