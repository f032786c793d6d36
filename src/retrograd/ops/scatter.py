"""Gathering and scattering: one index per element, along one dimension, or under a mask."""

from __future__ import annotations

from typing import Any

from ..backend import index as xi
from ..backend import xp
from ..base.errors import canonical_dim, no_dims, size_mismatch
from ..base.warning import warn
from ..core.inplace import call_inplace
from ..core.op import Array, Dim, Index, Number, composite, linear, op, publish
from ..core.tensor import Tensor, wrap
from .compare import eq
from .masking import kept, where
from .parts import slice_backward
from .shape import _view, expand, joint_shape, no_overload, reshape, sum_to_size_of, zeros_of
from .writing import NUMBERS, dtype_name, fills_shared

# ---------------------------------------------------------------- one index per element


def _check_integers(function: str, index: Any) -> None:
    if index.dtype != xp.INT64 and index.dtype != xp.int32:
        raise RuntimeError(f"{function}(): Expected dtype int32/int64 for index")


@linear(any_dtype=True, quiet=True)
def gather(input: Array, dim: Dim, index: Index, *, sparse_grad: bool = False) -> Any:
    """The elements of ``input`` whose coordinate along ``dim`` is given by ``index``."""
    _check_gather(input, dim, index)
    if not index.size:
        return xp.empty(index.shape, input.dtype)
    return xi.gathered(input, dim, index)


gather.vjp(input=lambda g, like, dim, index: scatter_add(zeros_of(g, like.shape), dim, index, g))


def _check_gather(input: Any, dim: int, index: Any) -> None:
    if not index.size:
        return
    _check_integers("gather", index)
    if (index.ndim or 1) != (input.ndim or 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for d, n in enumerate(index.shape):
        if d != dim and n > input.shape[d]:
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(index.shape)} to be no "
                f"larger than self {list(input.shape)} apart from dimension {dim}")


def _check_scatter(array: Any, dim: int, index: Any, src: Any) -> None:
    if index.size:
        _check_integers("scatter", index)
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


def _scatter(array: Any, dim: int, index: Any, src: Any, how: str = "") -> None:
    _check_scatter(array, dim, index, src)
    if index.size:
        xi.scatter_into(array, dim, index, src, how)


def _scatter_number(array: Any, dim: int, index: Any, value: Any, how: str = "") -> None:
    _check_scatter(array, dim, index, None)
    if index.size:
        xi.scatter_into(array, dim, index, xi.number_as(value, array.dtype), how)


def _on_copy(write: Any, input: Any, *rest: Any) -> Any:
    """A copy of ``input`` that ``write``, the kernel of the in-place variant, has written to."""
    out = xp.array(input, order="C")
    write(out, *rest)
    return out


def scattered_part(g: Any, dim: int, index: Any, like: Any) -> Any:
    """What of ``g`` came from a source that ``index`` may cover only in part."""
    return padded(gather(g, dim, index), like.shape)


@op(any_dtype=True, inplace=True)
def scatter_add(input: Array, dim: Dim, index: Index, src: Array) -> Any:
    """``input`` with ``src`` added where ``index`` points along ``dim``."""
    return _on_copy(_write_scatter_add, input, dim, index, src)


@scatter_add.write
def _write_scatter_add(array: Any, dim: int, index: Any, src: Any) -> None:
    _scatter(array, dim, index, src, "add")


scatter_add.vjp(input=lambda g: g,
                src=lambda g, like, dim, index: scattered_part(g, dim, index, like))


@op(function=None, method=False, any_dtype=True, node="ScatterBackward0")
def _scatter_src(input: Array, dim: Dim, index: Index, src: Array) -> Any:
    return _on_copy(_scatter, input, dim, index, src)


_scatter_src.write(_scatter)
_scatter_src.vjp(input=lambda g, dim, index: _scatter_value(g, dim, index, 0.0),
                 src=lambda g, like, dim, index: scattered_part(g, dim, index, like))


@op(function=None, method=False, any_dtype=True, node="ScatterBackward1")
def _scatter_value(input: Array, dim: Dim, index: Index, value: Number) -> Any:
    return _on_copy(_scatter_number, input, dim, index, value)


_scatter_value.write(_scatter_number)
_scatter_value.vjp(input=lambda g, dim, index: _scatter_value(g, dim, index, 0.0))


def no_derivative(name: str) -> Any:
    raise RuntimeError(f"derivative for {name} is not implemented")


@op(function=None, method=False, any_dtype=True, node="NotImplemented")
def _scatter_combine_src(input: Array, dim: Dim, index: Index, src: Array, reduce: str) -> Any:
    return _on_copy(_write_combine_src, input, dim, index, src, reduce)


@_scatter_combine_src.write
def _write_combine_src(array: Any, dim: int, index: Any, src: Any, reduce: str) -> None:
    _check_combine(reduce)
    _scatter(array, dim, index, src, reduce)


_scatter_combine_src.vjp(input=lambda g: no_derivative("aten::scatter"),
                         src=lambda g: no_derivative("aten::scatter"))


@op(function=None, method=False, any_dtype=True, node="NotImplemented")
def _scatter_combine_value(input: Array, dim: Dim, index: Index, value: Number,
                           reduce: str) -> Any:
    return _on_copy(_write_combine_value, input, dim, index, value, reduce)


@_scatter_combine_value.write
def _write_combine_value(array: Any, dim: int, index: Any, value: Any, reduce: str) -> None:
    _check_combine(reduce)
    _scatter_number(array, dim, index, value, reduce)


_scatter_combine_value.vjp(input=lambda g: no_derivative("aten::scatter"))


def _check_combine(reduce: str) -> None:
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")


def _scatter_call(name: str, input: Any, dim: Any, index: Any, src: Any, value: Any,
                  reduce: Any) -> tuple[Any, tuple[Any, ...]]:
    """The op and the arguments that a call of ``scatter`` stands for."""
    given = value if src is None else src
    if not isinstance(given, (Tensor, *NUMBERS)):
        raise no_overload(name, [("int dim", "Tensor index", "Tensor src"),
                                 ("int dim", "Tensor index", "Tensor src", "*", "str reduce"),
                                 ("int dim", "Tensor index", "Number value"),
                                 ("int dim", "Tensor index", "Number value", "*", "str reduce")],
                          dim, index, given)
    from_tensor = isinstance(given, Tensor)
    if reduce is None:
        return (_scatter_src if from_tensor else _scatter_value), (input, dim, index, given)
    if from_tensor:
        warn("The reduce argument of torch.scatter with Tensor src is deprecated and will be "
             "removed in a future PyTorch release. Use torch.scatter_reduce instead for more "
             "reduction options.", once=True)
    return (_scatter_combine_src if from_tensor else _scatter_combine_value), (
        input, dim, index, given, reduce)


def scatter(input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None,
            reduce: Any = None, out: Any = None) -> Tensor:
    """``input`` with ``src`` (or a number) written where ``index`` points along ``dim``."""
    function, args = _scatter_call("scatter", input, dim, index, src, value, reduce)
    return function(*args, out=out)


def scatter_(input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None,
             reduce: Any = None) -> Tensor:
    """Write ``src`` (or a number) where ``index`` points along ``dim``, in place."""
    function, args = _scatter_call("scatter_", input, dim, index, src, value, reduce)
    return call_inplace(function.op, args)


publish(scatter, "scatter")
publish(scatter_, "scatter_", function=None)


# ---------------------------------------------------------------- scattering with a reduction


@op(any_dtype=True, inplace=True)
def scatter_reduce(input: Array, dim: Dim, index: Index, src: Array, reduce: str, *,
                   include_self: bool = True) -> Any:
    """``input`` with ``src`` reduced into it where ``index`` points along ``dim``."""
    return _on_copy(_write_scatter_reduce, input, dim, index, src, reduce, include_self)


@scatter_reduce.write
def _write_scatter_reduce(array: Any, dim: int, index: Any, src: Any, reduce: str,
                          include_self: bool) -> None:
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError("reduce argument must be either sum, prod, mean, amax or amin, got "
                           f"{reduce}")
    _check_scatter(array, dim, index, src)
    if index.size:
        xi.reduce_into(array, dim, index, src, reduce, include_self)


scatter_reduce.vjp(
    input=lambda g, input, dim, index, src, reduce, include_self, y:
        reduced_to_input(g, input, dim, index, src, reduce, include_self, y),
    src=lambda g, like, input, dim, index, src, reduce, include_self, y:
        reduced_to_src(g, like, input, dim, index, src, reduce, include_self, y))


def reduced_to_input(g: Any, input: Any, dim: int, index: Any, src: Any, reduce: str,
                     include_self: bool, y: Any) -> Any:
    if not include_self:
        return _scatter_value(g, dim, index, 0.0)
    if reduce == "sum":
        return g
    if reduce == "mean":
        return g / contributions(g, input, dim, index, src, include_self)
    if reduce == "prod":
        zero = mask_of_zeros(input)
        filled = _masked_fill_value(input, zero, 1.0)
        others = scatter_reduce(filled, dim, index, src, "prod", include_self=include_self)
        return g * others / filled
    return share_of_extremes(g, input, dim, index, src, y) * marked_equal(g, input, y)


def reduced_to_src(g: Any, like: Any, input: Any, dim: int, index: Any, src: Any, reduce: str,
                   include_self: bool, y: Any) -> Any:
    if reduce == "sum":
        return scattered_part(g, dim, index, like)
    if reduce == "mean":
        shared = g / contributions(g, input, dim, index, src, include_self)
        return scattered_part(shared, dim, index, like)
    covered = covered_part(src, index)
    if reduce == "prod":
        part = product_to_src(g, input, dim, index, covered, include_self, y)
    else:
        at_source = gather(y, dim, index)
        part = gather(share_of_extremes(g, input, dim, index, covered, y, include_self), dim,
                      index) * marked_equal(g, covered, at_source)
    return padded(part, like.shape)


def product_to_src(g: Any, input: Any, dim: int, index: Any, src: Any, include_self: bool,
                   y: Any) -> Any:
    """A product's gradient, where a zero factor leaves only the others' product to it."""
    zero = mask_of_zeros(src)
    zeros_here = scatter_add(zeros_of(g, input.shape), dim, index, ones_where(g, zero))
    single = zero & mask_of_ones(gather(zeros_here, dim, index))
    without_zero = scatter_reduce(input, dim, index, _masked_fill_value(src, single, 1.0), "prod",
                                  include_self=include_self)
    at_zero = gather(g * without_zero, dim, index)
    elsewhere = gather(g * y, dim, index) / _masked_fill_value(src, zero, 1.0)
    return at_zero * ones_where(g, single) + elsewhere * ones_where(g, ~single)


def padded(part: Any, shape: Any) -> Any:
    """``part`` in the corner of zeros of ``shape``."""
    for d, n in enumerate(shape):
        if part.shape[d] != n:
            whole = (*part.shape[:d], n, *part.shape[d + 1:])
            part = slice_backward(part, whole, d, 0, part.shape[d], 1)
    return part


def covered_part(src: Any, index: Any) -> Any:
    """The part of ``src`` that ``index`` covers."""
    return src[tuple([slice(n) for n in index.shape])] if src.shape != index.shape else src


def contributions(g: Any, input: Any, dim: int, index: Any, src: Any, include_self: bool) -> Any:
    """How many values met at each element, at least one."""
    counts = constant_like(g, input.shape, 1.0 if include_self else 0.0)
    counts = scatter_add(counts, dim, index, constant_like(g, index.shape, 1.0))
    return _masked_fill_value(counts, mask_of_zeros(counts), 1.0)


def share_of_extremes(g: Any, input: Any, dim: int, index: Any, src: Any, y: Any,
                      include_self: bool = True) -> Any:
    """``g`` shared out evenly among the values that equal the extreme."""
    winners = marked_equal(g, covered_part(src, index), gather(y, dim, index))
    start = marked_equal(g, input, y) if include_self else _scatter_value(
        marked_equal(g, input, y), dim, index, 0.0)
    count = scatter_add(start, dim, index, winners)
    return g / _masked_fill_value(count, mask_of_zeros(count), 1.0)


def constant_like(like: Any, shape: Any, value: float) -> Any:
    if isinstance(like, Tensor):
        return wrap(xp.full(shape, value, like._data.dtype))
    return xp.full(shape, value, like.dtype)


def mask_of_zeros(value: Any) -> Any:
    return eq(value, constant_like(value, (), 0.0))


def mask_of_ones(value: Any) -> Any:
    return eq(value, constant_like(value, (), 1.0))


def ones_where(like: Any, mask: Any) -> Any:
    return where(mask, constant_like(like, (), 1.0), constant_like(like, (), 0.0))


def marked_equal(g: Any, a: Any, b: Any) -> Any:
    return ones_where(g, eq(a, b))


# ---------------------------------------------------------------- one index for a whole slice


def _check_in_range(array: Any, dim: int, index: Any) -> None:
    """Refuse a negative index, too, which NumPy would count from the end."""
    xi.check_range(xp.as_array(index), array.shape[dim] if array.ndim else 1, dim)


def _slices_are_empty(array: Any, dim: int) -> bool:
    return not array.size and array.shape[dim] > 0


def _overwrite_slices(array: Any, dim: int, index: Any, values: Any) -> None:
    if _slices_are_empty(array, dim):
        return
    array = array if array.ndim else array.reshape(1)
    index = xp.atleast_1d(index)
    try:
        xi.put(array, values, index, (dim,), False)
    except IndexError:
        raise xi.out_of_bounds(array, index, (dim,), dim) from None


def _slice_shape(array: Any, dim: int) -> tuple[int, ...]:
    return (*array.shape[:dim], *array.shape[dim + 1:])


@linear(any_dtype=True, quiet=True)
def index_select(input: Array, dim: Dim, index: Index) -> Any:
    """The slices of ``input`` along ``dim`` that ``index`` lists."""
    _check_selection(input, index)
    try:
        _check_in_range(input, dim, index)
    except RuntimeError:
        raise _outside(input, dim, index) from None
    return xp.take(input, xp.atleast_1d(index), axis=dim) if input.ndim else input


index_select.vjp(input=lambda g, like, dim, index:
                 index_add(zeros_of(g, like.shape), dim, index, g))


def _outside(input: Any, dim: int, index: Any) -> Exception:
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


def _check_selection(input: Any, index: Any) -> None:
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype != xp.INT64 and index.dtype != xp.int32:
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if not input.ndim and index.size != 1:
        raise RuntimeError("index_select(): Index to scalar can have only 1 value, got "
                           f"{index.size} value(s)")


@op(any_dtype=True, inplace=True)
def index_add(input: Array, dim: Dim, index: Index, source: Array, *, alpha: Number = 1) -> Any:
    """``input`` with ``alpha`` times the slices of ``source`` added where ``index`` says."""
    return _on_copy(_write_index_add, input, dim, index, source, alpha)


@index_add.write
def _write_index_add(array: Any, dim: int, index: Any, source: Any, alpha: Any) -> None:
    _check_index_add(array, dim, index, source)
    if not array.size and array.ndim > 1:
        return
    try:
        _check_in_range(array, dim, index)
    except RuntimeError:
        if alpha == 1 and array.ndim > 1 and dim in (0, array.ndim - 1):
            raise
        raise IndexError("index out of range in self") from None
    if alpha != 1:
        source = source * (int(alpha) if array.dtype.kind in "iu" else alpha)
        source = xp.cast(source, array.dtype)
    if not array.ndim:
        array[...] = array + source
        return
    xi.put(array, source, xp.atleast_1d(index), (dim,), True)


index_add.vjp(input=lambda g: g,
              source=lambda g, like, dim, index, alpha: reshape(
                  index_select(g, dim, index) if alpha == 1
                  else index_select(g, dim, index) * alpha, like.shape))


def _check_index_add(array: Any, dim: int, index: Any, source: Any) -> None:
    if index.ndim > 1:
        raise IndexError(f"index_add_(): Index is supposed to be a vector, but got dim: "
                         f"{index.ndim} with type: {dtype_name(index)} and size: "
                         f"{list(index.shape)}")
    if index.dtype != xp.INT64 and index.dtype != xp.int32:
        raise RuntimeError("index_add_(): Expected dtype int32/int64 for index but got: "
                           f"{dtype_name(index)}")
    if array.dtype != source.dtype:
        raise RuntimeError(f"index_add_(): self ({dtype_name(array)}) and source "
                           f"({dtype_name(source)}) must have the same scalar type")
    own, given = _slice_shape(array, dim), _slice_shape(source, dim)
    if array.ndim != source.ndim or own != given:
        raise RuntimeError("source tensor shape must match self tensor shape, excluding the "
                           f"specified dimension. Got self.shape = {list(array.shape)} "
                           f"source.shape = {list(source.shape)}")
    length = source.shape[dim] if source.ndim else 1
    if index.size != length:
        raise RuntimeError(f"index_add_(): Number of indices ({index.size}) should be equal to "
                           f"source.size(dim): ({length}), for dim: {dim}")


@op(any_dtype=True, inplace=True)
def index_copy(input: Array, dim: Dim, index: Index, source: Array) -> Any:
    """``input`` with the slices of ``source`` written where ``index`` says."""
    return _on_copy(_write_index_copy, input, dim, index, source)


@index_copy.write
def _write_index_copy(array: Any, dim: int, index: Any, source: Any) -> None:
    _check_index_copy(array, dim, index, source)
    _overwrite_slices(array, dim, index, source)


index_copy.vjp(input=lambda g, dim, index: _index_fill_value(g, dim, index, 0.0),
               source=lambda g, like, dim, index:
               reshape(index_select(g, dim, index), like.shape))


def _check_index_copy(array: Any, dim: int, index: Any, source: Any) -> None:
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
                           f"{dtype_name(index)}")
    if array.dtype != source.dtype:
        raise RuntimeError("index_copy_(): self and source expected to have the same dtype, but "
                           f"got (self) {dtype_name(array)} and (source) {dtype_name(source)}")
    own, given = _slice_shape(array, dim), _slice_shape(source, dim)
    if own != given:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"slice shape: {' '.join(map(str, own))} at dimension {dim} and source slice shape: "
            f"{' '.join(map(str, given))} at dimension {dim if source.ndim else 0}.")
    if source.ndim and index.size != source.shape[dim]:
        raise IndexError(f"index_copy_(): Number of indices ({index.size}) should be equal to "
                         f"source.size(dim) ({source.shape[dim]})")
    if _slices_are_empty(array, dim):
        return
    try:
        _check_in_range(array, dim, index)
    except RuntimeError as error:
        raise IndexError(f"index_copy_(): {error}") from None


@op(function=None, method=False, any_dtype=True, node="IndexFillBackward0")
def _index_fill_value(input: Array, dim: Dim, index: Index, value: Number) -> Any:
    return _on_copy(_write_index_fill, input, dim, index, value)


@_index_fill_value.write
def _write_index_fill(array: Any, dim: int, index: Any, value: Any) -> None:
    _check_index_fill(index)
    if isinstance(value, complex) and array.dtype.kind != "c":
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not "
                           "supported")
    _overwrite_slices(array, dim, index, xi.number_as(value, array.dtype))


_index_fill_value.vjp(input=lambda g, dim, index: _index_fill_value(g, dim, index, 0.0))


@op(function=None, method=False, any_dtype=True, node="IndexFillBackward1")
def _index_fill_tensor(input: Array, dim: Dim, index: Index, value: Array) -> Any:
    return _on_copy(_write_index_fill_tensor, input, dim, index, value)


@_index_fill_tensor.write
def _write_index_fill_tensor(array: Any, dim: int, index: Any, value: Any) -> None:
    _check_index_fill(index)
    _check_fill_value("index_fill_", value)
    _overwrite_slices(array, dim, index, xp.cast(value, array.dtype))


_index_fill_tensor.vjp(
    input=lambda g, dim, index: _index_fill_value(g, dim, index, 0.0),
    value=lambda g, like, dim, index: cast_to(sum_to_size_of(
        g - _index_fill_value(g, dim, index, 0.0), ()), like))


def cast_to(g: Any, like: Any) -> Any:
    from ..core.graph import fit
    from ..core.saved_values import fit_tensor

    return fit_tensor(g, like) if isinstance(g, Tensor) else fit(g, like)


def _check_index_fill(index: Any) -> None:
    if index.dtype != xp.INT64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")


def _check_fill_value(function: str, value: Any) -> None:
    if value.ndim:
        raise RuntimeError(f"{function} only supports a 0-dimensional value tensor, but got tensor "
                           f"with {value.ndim} dimension(s).")


def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """``input`` with the slices along ``dim`` that ``index`` lists set to ``value``."""
    function = _index_fill_tensor if isinstance(value, Tensor) else _index_fill_value
    return function(input, dim, index, value)


def index_fill_(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Set the slices along ``dim`` that ``index`` lists to ``value``, in place."""
    function = _index_fill_tensor if isinstance(value, Tensor) else _index_fill_value
    if isinstance(value, NUMBERS) and fills_shared("index_fill_", input, index):
        function.op.writer(input._data, canonical_dim(dim, input.ndim), index._data, value)
        input._counter().bump()
        return input
    return call_inplace(function.op, (input, dim, index, value))


publish(index_fill, "index_fill")
publish(index_fill_, "index_fill_", function=None)


# ---------------------------------------------------------------- positions in the flattened tensor


def _check_flat(function: str, index: Any, count: int) -> None:
    if index.dtype != xp.INT64:
        raise RuntimeError(f"{function}(): Expected a long tensor for index, but got "
                           f"{dtype_name(index)}")
    if index.size and (index.min() < -count or index.max() >= count):
        flat = xp.asarray(index).reshape(-1)
        wrong = flat[(flat < -count) | (flat >= count)][0]
        raise IndexError(f"out of range: tried to access index {wrong} on a tensor of {count} "
                         "elements.")


@linear(any_dtype=True)
def take(input: Array, index: Index) -> Any:
    """The elements at ``index``, counted through the flattened ``input``."""
    _check_flat("take", index, input.size)
    return xp.as_array(input).reshape(-1).take(index)


take.vjp(input=lambda g, like, index: _put(zeros_of(g, like.shape), index, g, True))


@op(function=None, method=False, any_dtype=True, node="PutBackward0")
def _put(input: Array, index: Index, source: Array, accumulate: bool) -> Any:
    return _on_copy(_write_put, input, index, source, accumulate)


@_put.write
def _write_put(array: Any, index: Any, source: Any, accumulate: bool) -> None:
    _check_put(array, index, source)
    flat, copy = xi.packed(array)
    xi.put(flat, xp.as_array(source).reshape(-1), xp.as_array(index).reshape(-1), (0,), accumulate)
    if copy is not None:
        array[...] = copy


_put.vjp(input=lambda g, index, accumulate:
         g if accumulate else _put(g, index, zeros_of(g, index.shape), False),
         source=lambda g, like, index: reshape(take(g, index), like.shape))


def _check_put(array: Any, index: Any, source: Any) -> None:
    if index.dtype == xp.INT64 and array.dtype != source.dtype:
        raise RuntimeError("put_(): self and source expected to have the same dtype, but got "
                           f"self.dtype = {dtype_name(array)} and source.dtype = "
                           f"{dtype_name(source)}")
    if index.size != source.size:
        raise IndexError("put_(): Expected source and index to have the same number of elements, "
                         f"but got source.numel() = {source.size}, index.numel() = {index.size}")
    _check_flat("put_", index, array.size)


def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """``input`` with ``source`` written at ``index``, counted through the flattened tensor."""
    return _put(input, index, source, accumulate)


def put_(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Write ``source`` at ``index``, counted through the flattened tensor, in place."""
    return call_inplace(_put.op, (input, index, source, accumulate))


publish(put, "put")
publish(put_, "put_", function=None)


@composite(method=True)
def take_along_dim(input: Any, indices: Any, dim: Any = None, *, out: Any = None) -> Any:
    """The elements whose coordinate along ``dim`` is given by ``indices``, broadcast together."""
    if indices._data.dtype != xp.INT64:
        raise RuntimeError("torch.take_along_dim(): dtype of indices should be Long but got "
                           f"{dtype_name(indices._data)}")
    if dim is None:
        return gather(_view(input, (-1,)) if input.is_contiguous() else reshape(input, (-1,)), 0,
                      reshape(indices, (-1,)), out=out)
    if input.ndim != indices.ndim:
        raise RuntimeError("torch.take_along_dim(): input and indices should have the same number "
                           f"of dimensions, but got {input.ndim} dimensions for input, and "
                           f"{indices.ndim} dimensions for indices")
    d = canonical_dim(dim, input.ndim)
    if not input.ndim:
        raise no_dims(d)
    own, given = list(input.shape), list(indices.shape)
    own[d] = given[d] = 1
    joint = list(joint_shape(tuple(own), tuple(given)))
    joint[d] = input.shape[d]
    wide = expand(input, tuple(joint))
    joint[d] = indices.shape[d]
    wrapped = indices % max(input.shape[d], 1)
    return gather(wide, d, expand(wrapped, tuple(joint)), out=out)


# ---------------------------------------------------------------- masks


_C_DTYPES = {"Long": "long int", "Byte": "unsigned char", "Int": "int", "Float": "float",
             "Double": "double", "Short": "short", "Char": "signed char"}


def _check_mask(mask: Any) -> None:
    if mask.dtype != xp.BOOL:
        name = dtype_name(mask)
        raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype "
                           f"{_C_DTYPES.get(name, name)}")


def _joint_shape(mask: Any, input: Any) -> tuple[int, ...]:
    return joint_shape(mask.shape, input.shape)


def _fill_masked(array: Any, mask: Any, value: Any) -> None:
    shape = _joint_shape(mask, array)
    if shape != array.shape:
        raise RuntimeError(f"output with shape {list(array.shape)} doesn't match the broadcast "
                           f"shape {list(shape)}")
    xp.copyto(array, value, where=mask)


def _masked(input: Any, mask: Any, value: Any) -> Any:
    if mask.shape != input.shape:
        _joint_shape(mask, input)
    return xp.in_rows(xp.where(mask, value, input))


@op(function=None, method=False, any_dtype=True, broadcasts=True, node="MaskedFillBackward0",
    quiet=True)
def _masked_fill_value(input: Array, mask: Index, value: Number) -> Any:
    _check_mask(mask)
    return _masked(input, mask, xi.number_as(value, input.dtype))


@_masked_fill_value.write
def _write_masked_fill(array: Any, mask: Any, value: Any) -> None:
    _check_mask(mask)
    _fill_masked(array, mask, xi.number_as(value, array.dtype))


_masked_fill_value.vjp(input=lambda g, mask: _masked_fill_value(g, mask, 0.0))


@op(function=None, method=False, any_dtype=True, broadcasts=True, node="MaskedFillBackward1")
def _masked_fill_tensor(input: Array, mask: Index, value: Array) -> Any:
    _check_mask(mask)
    _check_fill_value("masked_fill_", value)
    return _masked(input, mask, xp.cast(value, input.dtype))


@_masked_fill_tensor.write
def _write_masked_fill_tensor(array: Any, mask: Any, value: Any) -> None:
    _check_mask(mask)
    _check_fill_value("masked_fill_", value)
    _fill_masked(array, mask, xp.cast(value, array.dtype))


_masked_fill_tensor.vjp(input=lambda g, mask: _masked_fill_value(g, mask, 0.0),
                        value=lambda g, mask: kept(g, mask))


def _masked_fill_op(name: str, mask: Any, value: Any) -> Any:
    if isinstance(value, Tensor):
        return _masked_fill_tensor
    if not isinstance(value, NUMBERS):
        raise no_overload(name, [("Tensor mask", "Tensor value"), ("Tensor mask", "Number value")],
                          mask, value)
    return _masked_fill_value


def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """``input`` with ``value`` where ``mask`` is true."""
    return _masked_fill_op("masked_fill", mask, value)(input, mask, value)


def masked_fill_(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Write ``value`` where ``mask`` is true, in place."""
    if isinstance(value, NUMBERS) and fills_shared("masked_fill_", input, mask):
        _write_masked_fill(input._data, mask._data, value)
        input._counter().bump()
        return input
    return call_inplace(_masked_fill_op("masked_fill_", mask, value).op, (input, mask, value))


publish(masked_fill, "masked_fill")
publish(masked_fill_, "masked_fill_", function=None)


@linear(any_dtype=True)
def masked_select(input: Array, mask: Index) -> Any:
    """The elements where ``mask`` is true, in one dimension."""
    if mask.dtype != xp.BOOL:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = _joint_shape(mask, input)
    return xp.broadcast_to(input, shape)[xp.broadcast_to(mask, shape)]


masked_select.vjp(input=lambda g, like, mask: sum_to_size_of(
    masked_place(g, mask, joint_of(mask.shape, like.shape)), like.shape))


def joint_of(a: Any, b: Any) -> tuple[int, ...]:
    return xp.broadcast_shapes(tuple(a), tuple(b))


@linear(function=None, method=False, any_dtype=True, node="MaskedScatterBackward0")
def masked_place(input: Array, mask: Index, shape: Any) -> Any:
    """Elements put in order where ``mask`` is true, in zeros of ``shape``."""
    out = xp.zeros(shape, input.dtype)
    out[xp.broadcast_to(mask, shape)] = input
    return out


masked_place.vjp(input=lambda g, mask: masked_select(g, mask))


@op(function=None, method=False, any_dtype=True, broadcasts=True, node="MaskedScatterBackward0")
def _masked_scatter(input: Array, mask: Index, source: Array) -> Any:
    _check_masked_scatter(input, mask, source)
    out = xp.array(xp.broadcast_to(input, _joint_shape(mask, input)), order="C")
    xi.masked_put(out, mask, source)
    return out


@_masked_scatter.write
def _write_masked_scatter(array: Any, mask: Any, source: Any) -> None:
    _check_masked_scatter(array, mask, source)
    if mask.ndim > array.ndim:
        raise RuntimeError(
            f"expand(CPUBoolType{{{list(mask.shape)}}}, size={list(array.shape)}): the number of "
            f"sizes provided ({array.ndim}) must be greater or equal to the number of dimensions "
            f"in the tensor ({mask.ndim})")
    if _joint_shape(mask, array) != array.shape:
        raise size_mismatch([array.shape, mask.shape])
    xi.masked_put(array, mask, source)


_masked_scatter.vjp(input=lambda g, mask: _masked_fill_value(g, mask, 0.0),
                    source=lambda g, like, mask: masked_part(g, mask, like.shape))


@linear(function=None, method=False, any_dtype=True, node="MaskedSelectBackward0")
def masked_part(input: Array, mask: Index, shape: Any) -> Any:
    """The elements where ``mask`` is true, in order, as the first ones of zeros of ``shape``."""
    found = xp.as_array(input)[xp.broadcast_to(mask, input.shape)]
    out = xp.zeros(shape, input.dtype)
    out.reshape(-1)[:found.size] = found
    return out


masked_part.vjp(input=lambda g, like, mask: _masked_scatter(
    zeros_of(g, like.shape), mask, g))


def _check_masked_scatter(input: Any, mask: Any, source: Any) -> None:
    if input.dtype != source.dtype:
        raise RuntimeError("masked_scatter: expected self and source to have same dtypes but got"
                           f"{dtype_name(input)} and {dtype_name(source)}")
    if mask.dtype != xp.BOOL:
        raise RuntimeError("masked_scatter_ only supports boolean masks, but got mask with dtype "
                           f"{dtype_name(mask)}")


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """``input`` with the elements of ``source`` put in order where ``mask`` is true."""
    return _masked_scatter(input, mask, source)


def masked_scatter_(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Put the elements of ``source`` in order where ``mask`` is true, in place."""
    return call_inplace(_masked_scatter.op, (input, mask, source))


publish(masked_scatter, "masked_scatter")
publish(masked_scatter_, "masked_scatter_", function=None)
