"""What reductions, sorting and counting refuse, and in which words."""

from __future__ import annotations

import math
from typing import Any

from ...backend import reduce as reduce_kernels, xp
from ...backend.interface import is_data, kind_of
from ...base import dtypes
from ...base.errors import canonical_dims, no_overload, size_mismatch, wrong_type
from ...base.warning import warn
from ...core.tensor import Tensor
from ..reductions.arguments import _PYTHON_TYPES, UNSET, _np
from .common import unsupported


def need_elements(function: str, shape: tuple[int, ...], dim: int,
                  colon: str = "():") -> None:
    """Raise if a dimension that something must be picked from is empty."""
    if shape and not shape[dim]:
        raise IndexError(f"{function}{colon} Expected reduction dim {dim} to have non-zero size.")


SUM_FORMS = ("*, torch.dtype dtype = None",
             "tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None")


def check_whole(function: str, keepdim: Any, keepdims: Any, dtype: Any, input: Any = None,
                out: Any = None) -> None:
    """Refuse arguments that a sum or mean of all elements does not take."""
    if out is not None:
        raise no_overload(function, (input,), *SUM_FORMS, out=out)
    if keepdim or keepdims is not UNSET:
        raise no_overload(function, (keepdim,), *SUM_FORMS)
    if not isinstance(dtype, dtypes.dtype) and dtype not in _PYTHON_TYPES:
        forms = "".join([f"\n * ({form})" for form in SUM_FORMS])
        raise TypeError(f"{function}() received an invalid combination of arguments - got (dtype="
                        f"{type(dtype).__name__}, ), but expected one of:{forms}\n")


def checked_dims(function: str, dim: Any, keepdim: Any, axis: Any, keepdims: Any) -> Any:
    """``dim`` and ``keepdim``, which NumPy's names may stand for."""
    dim = dim if axis is UNSET else axis
    keepdim = keepdim if keepdims is UNSET else keepdims
    if isinstance(dim, (str, float, bool)):
        raise no_overload(function, (dim,), *SUM_FORMS)
    if keepdim is not True and keepdim is not False:
        raise wrong_type(function, "keepdim", None, "bool", keepdim)
    return dim, keepdim


def check_mean(input: Any, dtype: Any, name: str = "mean") -> None:
    kind = input.dtype if dtype is None else _np(dtype)
    if kind_of(kind) in "biu":
        where = "Input" if dtype is None else "Optional"
        raise RuntimeError(f"{name}(): could not infer output dtype. {where} dtype must be either "
                           "a floating point or complex dtype. Got: "
                           f"{dtypes.from_numpy_dtype(kind).alias}")


def need_any(name: str, input: Any) -> None:
    if not input.size:
        raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == "
                           "0. Specify the reduction dim with the 'dim' argument.")


def one_dim(function: str, dim: Any) -> Any:
    if isinstance(dim, (float, str, tuple, list)):
        raise no_overload(function, (dim,), "", "Tensor other", "int dim, bool keepdim = False")
    if isinstance(dim, Tensor):
        raise TypeError(f"{function}(): argument 'dim' (position 1) must be int, not Tensor")
    return dim


def check_extremes(name: str, kernel: str, input: Any, dim: Any) -> None:
    unsupported(kernel, input.dtype, "c")
    if dim and input.ndim:
        for d in dim:
            need_elements(name, input.shape, d)
    else:
        need_any(name, input)


def check_arg(name: str, input: Any, dim: Any) -> None:
    if kind_of(input.dtype) in "cb":
        kind = "complex" if kind_of(input.dtype) == "c" else "bool"
        raise RuntimeError(f"{name}(): does not support {kind} input")
    if dim is None:
        if not input.size:
            raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() "
                             "== 0.")
    else:
        need_elements(name, input.shape, dim)


def index_dim(function: str, dim: Any) -> Any:
    if isinstance(dim, (Tensor, float, str, tuple, list)):
        raise wrong_type(function, "dim", 1, "int", dim)
    return dim


def check_spread(name: str, input: Any, dim: Any, correction: Any) -> None:
    kind = input.dtype
    if not (kind.is_floating_point or kind.is_complex):
        raise RuntimeError("std and var only support floating point and complex dtypes")
    shape = input._data.shape
    if dim is not None:
        dim = canonical_dims(dim, len(shape))
    if reduce_kernels.count_along(shape, dim) <= correction:
        warn(f"{name}(): degrees of freedom is <= 0. Correction should be strictly less "
             "than the reduction factor (input numel divided by output numel).",
             UserWarning)


# ---------------------------------------------------------------- quantiles

INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def check_quantile(input: Any, q: Any, interpolation: str) -> None:
    def need(condition: bool, message: str) -> None:
        if not condition:
            raise RuntimeError(f"quantile() {message}")

    need(input.numel() > 0, "input tensor must be non-empty")
    need(q.ndim <= 1, "q must be a scalar or 1D tensor")
    need(input.dtype in (dtypes.float32, dtypes.float64),
         "input tensor must be either float or double dtype")
    need(q.dtype is input.dtype, "q tensor must be same dtype as the input tensor")
    need(interpolation in INTERPOLATIONS, "interpolation must be one of linear, lower, higher, "
         f"midpoint or nearest, but got {interpolation}")
    # Inside a transform there is no one value to look at.
    if is_data(q._data):
        need(bool(((q._data >= 0) & (q._data <= 1)).all()), "q values must be in the range [0, 1]")


# ---------------------------------------------------------------- norms of vectors


def check_norm(input: Any, ord: float, dim: Any, dtype: Any) -> None:
    if kind_of(input.dtype) in "biu":
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as "
                           f"input. Got {dtypes.from_numpy_dtype(input.dtype).alias}")
    if dtype is not None:
        _check_norm_dtype(dtypes.from_numpy_dtype(input.dtype), dtype)
    if input.size or not (ord < 0 or ord == math.inf):
        return
    if not dim:
        raise RuntimeError(f"linalg.vector_norm cannot compute the {ord:g} norm on an empty tensor "
                           "because the operation does not have an identity")
    for d in dim:
        if not input.shape[d]:
            raise RuntimeError(f"linalg.vector_norm cannot compute the {ord:g} norm on the "
                               f"dimension {d}because this dimension is empty and the operation "
                               "does not have an identity")


def _check_norm_dtype(own: dtypes.dtype, asked: dtypes.dtype) -> None:
    """Refuse to compute a norm in a dtype that has no room for its input."""
    if not (asked.is_floating_point or asked.is_complex):
        wrong = f"dtype should be floating point or complex, but got {asked.alias}"
    elif own.is_complex != asked.is_complex:
        kind = "complex" if own.is_complex else "real"
        wrong = f"dtype should be {kind} for {kind} inputs, but got {asked.alias}"
    elif dtypes.promote_types(own, asked) is not asked:
        wrong = (f"the dtype of the input ({own.alias}) should be convertible without narrowing to "
                 f"the specified dtype ({asked.alias})")
    else:
        return
    raise RuntimeError(f"linalg.vector_norm: {wrong}")


def check_cdist(x1: Any, x2: Any, p: float) -> None:
    for name, x in (("X1", x1), ("X2", x2)):
        if kind_of(x.dtype) not in "fV":
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: "
                               f"{dtypes.from_numpy_dtype(x.dtype).alias}")
    for name, x in (("X1", x1), ("X2", x2)):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError("X1 and X2 must have the same number of columns. X1: "
                           f"{x1.shape[-1]} X2: {x2.shape[-1]}")
    try:
        xp.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    except ValueError:
        raise size_mismatch([x1.shape[:-2], x2.shape[:-2]]) from None
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if x1.dtype.itemsize == 2:
        raise NotImplementedError("\"cdist\" not implemented for "
                                  f"'{dtypes.from_numpy_dtype(x1.dtype).alias}'")


def check_same_dtype(x1: Any, x2: Any) -> None:
    """Raise if points that can be compared are of two floating dtypes."""
    if x1.dtype is not x2.dtype and x1.dtype.itemsize > 2 \
            and x1.dtype.is_floating_point and x2.dtype.is_floating_point \
            and x1.ndim > 1 < x2.ndim and x1.numel() and x2.numel():
        raise RuntimeError(f"expected scalar type {x1.dtype.alias} but found {x2.dtype.alias}")


# ---------------------------------------------------------------- differences and integrals


def check_diff(input: Any, dim: int, added: Any) -> None:
    if added is None:
        return
    if added.ndim != input.ndim:
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for i, (n, own) in enumerate(zip(added.shape, input.shape, strict=True)):
        if i != dim and n != own:
            raise RuntimeError("diff expects the shape of tensor to prepend or append to match "
                               "that of input except along the differencing dimension; input.size("
                               f"{i}) = {own}, but got tensor.size({i}) = {n}")


def check_search(boundaries: Any, values: Any, sorter: Any) -> None:
    if sorter is not None and sorter.shape != boundaries.shape:
        raise RuntimeError("torch.searchsorted(): boundary and sorter must have the same size, "
                           f"but got boundary tensor {list(boundaries.shape)}and got sorter "
                           f"tensor {list(sorter.shape)}")
    if sorter is not None and sorter.dtype != xp.INT64:
        raise RuntimeError("torch.searchsorted(): sorter must be a tensor of long dtype but got "
                           f"dtype {dtypes.from_numpy_dtype(sorter.dtype).alias}")
    if not values.ndim and boundaries.ndim != 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
            f"dimension is 1, but we got boundaries tensor dim({boundaries.ndim}) and input "
            "value's dim(0) numel(1)")
    if not boundaries.ndim:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should have positive "
                           "dimension, but got 0 dimension")
    if boundaries.ndim > 1 and boundaries.shape[:-1] != values.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            "dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {list(boundaries.shape)} and input value tensor "
            f"{list(values.shape)}")


def check_slices(shape: tuple[int, ...], dim: int) -> None:
    """Refuse slices without elements, which cannot be told apart."""
    if shape.count(0) > 1:
        raise RuntimeError("Number of zero sized dimensions is more than one, so unique cannot be "
                           "applied ")
    if 0 in shape and shape[dim]:
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique "
                           "cannot be applied")


def check_counts(input: Any, minlength: int) -> None:
    unsupported("bincount_cpu", input.dtype, "fcVb")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if input.ndim != 1 or (input.size and input.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
