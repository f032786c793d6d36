"""What gathering, scattering and masks refuse, and in which words."""

from __future__ import annotations

from typing import Any

from ...backend import index as index_kernels, xp
from ...backend.interface import kind_of
from .common import c_name, scalar_type, unsupported


def check_integers(function: str, index: Any) -> None:
    if index.dtype != xp.INT64 and index.dtype != xp.int32:
        raise RuntimeError(f"{function}(): Expected dtype int32/int64 for index")


def check_gather(input: Any, dim: int, index: Any) -> None:
    if not index.size:
        return
    check_integers("gather", index)
    if (index.ndim or 1) != (input.ndim or 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for d, n in enumerate(index.shape):
        if d != dim and n > input.shape[d]:
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(index.shape)} to be no "
                f"larger than self {list(input.shape)} apart from dimension {dim}")


def check_scatter(array: Any, dim: int, index: Any, src: Any) -> None:
    if index.size:
        check_integers("scatter", index)
    if src is not None and src.dtype != array.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if not index.size:
        return
    if (index.ndim or 1) != (array.ndim or 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
    if src is not None and (index.ndim or 1) != (src.ndim or 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    own, given = array.shape or (1,), index.shape or (1,)
    too_large = any(n > own[d] for d, n in enumerate(given) if d != dim)
    if src is not None:
        source = src.shape or (1,)
        too_large = too_large or any(n > source[d] for d, n in enumerate(given))
    if too_large:
        tail = "" if src is None else f" and to be no larger size than src {list(src.shape)}"
        raise RuntimeError(f"Expected index {list(index.shape)} to be no larger than self "
                           f"{list(array.shape)} apart from dimension {dim}{tail}")


def check_combine(reduce: str) -> None:
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")


def check_in_range(array: Any, dim: int, index: Any) -> None:
    """Refuse a negative index, too, which NumPy would count from the end."""
    index_kernels.check_range(xp.as_array(index), array.shape[dim] if array.ndim else 1, dim)


def slices_are_empty(array: Any, dim: int) -> bool:
    return 0 in slice_shape(array, dim)


def slice_shape(array: Any, dim: int) -> tuple[int, ...]:
    return (*array.shape[:dim], *array.shape[dim + 1:])


def outside(input: Any, dim: int, index: Any) -> Exception:
    """PyTorch's error of an index that is out of range, which has three forms."""
    if input.ndim < 2:
        return IndexError("index out of range in self")
    length = input.shape[dim]
    if not length:
        return RuntimeError("index_select(): self indexing axis dim should be positive")
    if dim != 1 and input.size:
        return IndexError("index out of range in self")
    wrong = xp.as_array(index)[(index < 0) | (index >= length)].flat[0]
    return RuntimeError("INDICES element is out of DATA bounds, "
                        f"id={wrong} axis_dim={length}")


def check_selection(input: Any, index: Any) -> None:
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype is not xp.INT64 and index.dtype != xp.INT64 and index.dtype != xp.int32:
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if not input.ndim and index.size != 1:
        raise RuntimeError("index_select(): Index to scalar can have only 1 value, got "
                           f"{index.size} value(s)")


def check_combined(function: str, array: Any, index: Any, source: Any) -> None:
    """What slices of ``source`` may not be added to ``array``, or reduced into it."""
    if index.ndim > 1:
        raise IndexError(f"{function}(): Index is supposed to be a vector, but got dim: "
                         f"{index.ndim} with type: {scalar_type(index)} and size: "
                         f"{list(index.shape)}")
    if index.dtype != xp.INT64 and index.dtype != xp.int32:
        raise RuntimeError(f"{function}(): Expected dtype int32/int64 for index but got: "
                           f"{scalar_type(index)}")
    if array.dtype != source.dtype:
        raise RuntimeError(f"{function}(): self ({scalar_type(array)}) and source "
                           f"({scalar_type(source)}) must have the same scalar type")


def check_reduced(array: Any, reduce: str, include_self: bool) -> None:
    """Refuse to reduce dtypes for which PyTorch has no kernel, of which it has several."""
    if not include_self:
        unsupported("index_reduce_func_exclude_input_init", array.dtype, "bc")
    elif array.ndim < 2:
        unsupported("index_func_", array.dtype, "bc")
    elif reduce == "mean":
        unsupported("div_floor_cpu", array.dtype, "b")
    elif reduce != "prod":
        unsupported("maximum_cpu" if reduce == "amax" else "minimum_cpu", array.dtype, "c")


def check_slices(array: Any, dim: int, source: Any) -> None:
    if array.ndim != source.ndim or slice_shape(array, dim) != slice_shape(source, dim):
        raise RuntimeError("source tensor shape must match self tensor shape, excluding the "
                           f"specified dimension. Got self.shape = {list(array.shape)} "
                           f"source.shape = {list(source.shape)}")


def check_index_add(array: Any, dim: int, index: Any, source: Any) -> None:
    check_combined("index_add_", array, index, source)
    check_slices(array, dim, source)
    length = source.shape[dim] if source.ndim else 1
    if index.size != length:
        raise RuntimeError(f"index_add_(): Number of indices ({index.size}) should be equal to "
                           f"source.size(dim): ({length}), for dim: {dim}")


def check_index_copy(array: Any, dim: int, index: Any, source: Any) -> None:
    if index.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if not source.ndim and index.size != 1:
        raise IndexError("index_copy_(): When source is scalar, index should have one element (got "
                         f"{index.size})")
    if array.ndim != source.ndim and array.ndim and source.ndim:
        raise IndexError("index_copy_(): When source and destination are not scalars, their "
                         f"dimensionality must match. Source dimensionality ({source.ndim}), "
                         f"destination dimensionality ({array.ndim})")
    if index.dtype != xp.INT64:
        raise RuntimeError("index_copy_(): Expected a long tensor for index, but got "
                           f"{scalar_type(index)}")
    if array.dtype != source.dtype:
        raise RuntimeError("index_copy_(): self and source expected to have the same dtype, but "
                           f"got (self) {scalar_type(array)} and (source) {scalar_type(source)}")
    own, given = slice_shape(array, dim), slice_shape(source, dim)
    if own != given:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"slice shape: {' '.join(map(str, own))} at dimension {dim} and source slice shape: "
            f"{' '.join(map(str, given))} at dimension {dim if source.ndim else 0}.")
    if source.ndim and index.size != source.shape[dim]:
        raise IndexError(f"index_copy_(): Number of indices ({index.size}) should be equal to "
                         f"source.size(dim) ({source.shape[dim]})")
    if slices_are_empty(array, dim):
        return
    try:
        check_in_range(array, dim, index)
    except RuntimeError as error:
        raise IndexError(f"index_copy_(): {error}") from None


def check_index_fill(index: Any) -> None:
    if index.dtype != xp.INT64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")


def check_flat(function: str, index: Any, count: int) -> None:
    if index.dtype != xp.INT64:
        raise RuntimeError(f"{function}(): Expected a long tensor for index, but got "
                           f"{scalar_type(index)}")
    if index.size and not count:
        raise IndexError("put_(): Tried to put elements into an empty tensor" if function == "put_"
                         else "take(): tried to take from an empty tensor")
    if index.size and (index.min() < -count or index.max() >= count):
        flat = xp.asarray(index).reshape(-1)
        wrong = flat[(flat < -count) | (flat >= count)][0]
        raise IndexError(f"out of range: tried to access index {wrong} on a tensor of {count} "
                         "elements.")


def check_put(array: Any, index: Any, source: Any) -> None:
    if index.dtype == xp.INT64 and array.dtype != source.dtype:
        raise RuntimeError("put_(): self and source expected to have the same dtype, but got "
                           f"self.dtype = {scalar_type(array)} and source.dtype = "
                           f"{scalar_type(source)}")
    if index.size != source.size:
        raise IndexError("put_(): Expected source and index to have the same number of elements, "
                         f"but got source.numel() = {source.size}, index.numel() = {index.size}")
    check_flat("put_", index, array.size)


def check_mask(mask: Any) -> None:
    if mask.dtype != xp.BOOL:
        raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype "
                           f"{c_name(mask)}")


def check_masked_scatter(input: Any, mask: Any, source: Any) -> None:
    if input.dtype != source.dtype:
        raise RuntimeError("masked_scatter: expected self and source to have same dtypes but got"
                           f"{scalar_type(input)} and {scalar_type(source)}")
    if mask.dtype != xp.BOOL:
        raise RuntimeError("masked_scatter_ only supports boolean masks, but got mask with dtype "
                           f"{scalar_type(mask)}")


def check_fill_is_real(input: Any, is_complex: bool) -> None:
    if is_complex and kind_of(input.dtype) != "c":
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not "
                           "supported")


def check_fill_value(function: str, rank: int) -> None:
    if rank:
        raise RuntimeError(f"{function} only supports a 0-dimensional value tensor, but got tensor "
                           f"with {rank} dimension(s).")
