"""Batching rules: how vmap computes each op on a whole batch at once.

Elementwise ops need none, and an op with one array and some dims is shifted by
:mod:`retrograd.transforms`. A rule here gets the batch (its size, and which arguments have one),
then the op's arguments, where those that are batched carry the batch as dim 0. It returns the
result with the batch as dim 0. Rules are written in ops, so they work inside other transforms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..dtypes import int64
from ..errors import canonical_dim
from ..op import REGISTRY
from ..random import VMAPS
from ..transforms import CannotBatch
from .compare import eq, ne
from .conv import _convolution, _convolution_input, _convolution_weight
from .convert import _to_copy, clone
from .create import arange
from .index import _index_put, index, index_backward
from .join import _cat, _stack
from .loss import MEAN, NONE, SUM, _likelihood_gradient, _nll_loss
from .masking import conj, kept, where, zeroed
from .norm import (
    _embedding_gradient,
    _layer_norm,
    _standardize,
    _standardize_gradient,
    _weighted_rows,
)
from .pointwise import rsqrt
from .product import _batched, _rows_times_matrix, mm, scaled
from .rearrange import _flip, _repeat, _roll
from .reduce import _any, _mean_dims, _sum_dims
from .scan import cumsum
from .scatter import _scatter_src, _scatter_value, gather, index_add, index_select, scatter_add
from .shape import (
    _as_strided,
    _permute,
    _select,
    _slice,
    _squeeze,
    _unsafe_view,
    _view,
    alias,
    as_strided_backward,
    broadcast_shapes,
    broadcast_tensors,
    diagonal,
    diagonal_backward,
    expand,
    infer_size,
    movedim,
    reshape,
    select_backward,
    slice_backward,
    strided_from,
    sum_to_size_of,
    transpose,
    unsqueeze,
)
from .sort import _searchsorted
from .writing import _as_strided_scatter, _copy

RULES: dict[str, Callable[..., Any]] = {}


def rule(*names: str) -> Callable[[Any], Any]:
    """Declare the batching rule of the ops called ``names``."""

    def declare(function: Any) -> Any:
        for name in names:
            RULES[name] = function
        return function

    return declare


def run(name: str, *values: Any) -> Any:
    """An op on arguments in the order of its declaration."""
    op = REGISTRY[name]
    plain, named = [], {}
    for param, value in zip(op.params, values, strict=True):
        if param.keyword_only:
            named[param.name] = value
        else:
            plain.append(value)
    return op.function(*plain, **named)


# ---------------------------------------------------------------- bringing batches in line


def batched(batch: Any, name: str, value: Any) -> Any:
    """An argument with the batch in front: repeated where it had none."""
    if value is None or batch[name]:
        return value
    return repeated(batch.size, value)


def repeated(size: int, value: Any) -> Any:
    return expand(unsqueeze(value, 0), (size, *value.shape))


def all_batched(batch: Any, **given: Any) -> list[Any]:
    """Every argument with the batch in front."""
    return [batched(batch, name, value) for name, value in given.items()]


def with_rank(value: Any, rank: int) -> Any:
    """A batched tensor whose values get leading dims of length one up to ``rank``; a view."""
    for _ in range(rank + 1 - value.ndim):
        value = unsqueeze(value, 1)
    return value


def all_aligned(batch: Any, **given: Any) -> list[Any]:
    """Every argument with the batch in front and of one rank."""
    rank = max(t.ndim - bool(batch[name]) for name, t in given.items() if t is not None)
    return [None if t is None else with_rank(batched(batch, name, t), rank)
            for name, t in given.items()]


def folded(value: Any) -> Any:
    """The batch merged into the next dim."""
    return reshape(value, (value.shape[0] * value.shape[1], *value.shape[2:]))


def unfolded(batch: Any, value: Any) -> Any:
    """The batch taken out of the first dim again."""
    rest = value.shape[0] // batch.size if batch.size else 0
    return reshape(value, (batch.size, rest, *value.shape[1:]))


def merged(value: Any, dim: int) -> Any:
    """The batch merged into dim ``dim`` of the values, in front of it."""
    moved = movedim(value, 0, dim)
    shape = moved.shape
    return reshape(moved, (*shape[:dim], shape[dim] * shape[dim + 1], *shape[dim + 2:]))


def unmerged(batch: Any, value: Any, dim: int) -> Any:
    """The batch taken out of dim ``dim`` again."""
    shape = value.shape
    parts = shape[dim] // batch.size if batch.size else 0
    return movedim(reshape(value, (*shape[:dim], batch.size, parts, *shape[dim + 1:])), dim, 0)


def shifted(dims: Any) -> tuple[int, ...]:
    return tuple([d + 1 for d in dims])


def span(start: int, length: int) -> tuple[int, ...]:
    """``length`` dims from ``start`` on."""
    return tuple(range(start, start + length))


def inner_rank(value: Any) -> int:
    """The rank of each value of a batch."""
    return value.ndim - 1


def flat(value: Any) -> Any:
    """Each value of a batch in one dim."""
    return reshape(value, (value.shape[0], math.prod(value.shape[1:])))


# ---------------------------------------------------------------- rules that many ops share


def itself(*names: str) -> None:
    """The op works on any leading dims: it is called on the whole batch."""
    for name in names:
        RULES[name] = _calling(name)


def _calling(name: str) -> Any:
    def call(batch: Any, *values: Any) -> Any:
        return run(name, *values)

    return call


def on_planes(*names: str) -> None:
    """The op treats its planes alike: the batch counts as more of them."""
    for name in names:
        RULES[name] = _calling_on_planes(name)


def _calling_on_planes(name: str) -> Any:
    op = REGISTRY.get(name)

    def call(batch: Any, *values: Any) -> Any:
        given = [folded(batched(batch, p.name, v))
                 if p.name in op.arrays or p.name in op.indices else v
                 for p, v in zip(op.params, values, strict=True)]
        return unfolded(batch, run(name, *given))

    return call


itself("alias", "view_as_real", "view_as_complex", "_real", "_imag", "complex_of", "_packed_clone",
       "clone", "_to_copy", "_to_exact", "_frexp", "_fill_number", "_full_of_number", "_zero",
       "_inv", "_det", "_cofactors", "_slogdet", "_cholesky", "_old_cholesky", "_qr", "_eigh",
       "_eig", "_svd", "_pinv", "_matrix_exp", "_rank", "_bad_minors", "_zero_pivots", "_im2col",
       "_col2im", "constant_pad_nd", "pixel_shuffle", "pixel_unshuffle", "_one_hot")
on_planes("_take_from_planes", "_put_in_planes", "_max_positions", "_max_pool1d", "_max_pool2d",
          "_max_pool3d", "_spread_average", "_average_pool1d", "_average_pool2d",
          "_average_pool3d", "_adaptive_positions", "_adaptive_max1d", "_adaptive_max2d",
          "_adaptive_max3d")


# ---------------------------------------------------------------- shapes


def _reshaping(function: Any) -> Any:
    def call(batch: Any, input: Any, size: Any) -> Any:
        count = math.prod(input.shape[1:])
        return function(input, (batch.size, *infer_size(tuple(size), count)))

    return call


RULES["_view"] = _reshaping(_view)
RULES["_unsafe_view"] = RULES["_reshape"] = _reshaping(_unsafe_view)
RULES["_reshape_copy"] = _reshaping(lambda input, size: _unsafe_view(clone(input), size))


@rule("expand")
def _(batch: Any, input: Any, size: Any) -> Any:
    return expand(with_rank(input, len(size)), (batch.size, *size))


@rule("sum_to_size_of")
def _(batch: Any, input: Any, size: Any) -> Any:
    lead = inner_rank(input) - len(size)
    total = sum_to_size_of(input, (batch.size, *(1,) * lead, *size))
    return reshape(total, (batch.size, *size))


@rule("_permute")
def _(batch: Any, input: Any, dims: Any) -> Any:
    return _permute(input, (0, *shifted(dims)))


@rule("t", "t_in_place")
def _(batch: Any, input: Any) -> Any:
    if inner_rank(input) > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is "
                           f"{inner_rank(input)}D")
    return transpose(input, 1, 2) if inner_rank(input) == 2 else alias(input)


@rule("unsqueeze", "unsqueeze_in_place")
def _(batch: Any, input: Any, dim: int) -> Any:
    return unsqueeze(input, canonical_dim(dim, input.ndim) + 1)


@rule("_squeeze", "_squeeze_dims", "squeeze_in_place", "squeeze_dims_in_place")
def _(batch: Any, input: Any, dim: Any) -> Any:
    return _squeeze(input, shifted(dim)) if inner_rank(input) else alias(input)


@rule("_select")
def _(batch: Any, input: Any, dim: int, index: int) -> Any:
    return _select(input, dim + 1, index)


@rule("select_backward")
def _(batch: Any, input: Any, input_sizes: Any, dim: int, index: int) -> Any:
    return select_backward(input, (batch.size, *input_sizes), dim + 1, index)


@rule("_slice")
def _(batch: Any, input: Any, dim: int, start: int, end: int, step: int) -> Any:
    return _slice(input, dim + 1, start, end, step)


@rule("slice_backward")
def _(batch: Any, input: Any, input_sizes: Any, dim: int, start: int, end: int, step: int) -> Any:
    return slice_backward(input, (batch.size, *input_sizes), dim + 1, start, end, step)


@rule("diagonal_backward")
def _(batch: Any, input: Any, input_sizes: Any, offset: int, dim1: int, dim2: int) -> Any:
    return diagonal_backward(input, (batch.size, *input_sizes), offset, dim1 + 1, dim2 + 1)


@rule("unfold_backward")
def _(batch: Any, input: Any, input_sizes: Any, dim: int, size: int, step: int) -> Any:
    if not input_sizes:
        return reshape(input, (batch.size,))
    return run("unfold_backward", input, (batch.size, *input_sizes), dim + 1, size, step)


@rule("unfold")
def _(batch: Any, input: Any, dimension: int, size: int, step: int) -> Any:
    if not inner_rank(input):
        return unsqueeze(input, 1)
    return run("unfold", input, dimension + 1, size, step)


# ---------------------------------------------------------------- strides


@rule("_as_strided", "as_strided_in_place")
def _(batch: Any, input: Any, size: Any, stride: Any, storage_offset: Any, source: Any) -> Any:
    return _as_strided(input, (batch.size, *size), (input.stride(0), *stride), storage_offset,
                       source)


def _laid_side_by_side(size: int, source: Any, view_size: Any, view_stride: Any,
                       offset: Any) -> tuple[Any, Any, Any]:
    """The layout of a batch whose values have one layout each, and of the batch of views."""
    shape, strides, own = source
    start = own if offset is None else offset
    length = 1 + max(own + _reach(shape, strides), start + _reach(view_size, view_stride))
    return ((size, *shape), (length, *strides), own), (size, *view_size), (length, *view_stride)


def _reach(shape: Any, strides: Any) -> int:
    return sum((n - 1) * s for n, s in zip(shape, strides, strict=True) if n)


@rule("as_strided_backward")
def _(batch: Any, input: Any, source: Any, size: Any, stride: Any, offset: Any) -> Any:
    return as_strided_backward(
        input, *_laid_side_by_side(batch.size, source, size, stride, offset), offset)


@rule("strided_from")
def _(batch: Any, input: Any, source: Any, size: Any, stride: Any, offset: Any) -> Any:
    return strided_from(
        input, *_laid_side_by_side(batch.size, source, size, stride, offset), offset)


@rule("_as_strided_scatter")
def _(batch: Any, input: Any, src: Any, size: Any, stride: Any, offset: int, source: Any) -> Any:
    input, src = all_batched(batch, input=input, src=src)
    whole, size, stride = _laid_side_by_side(batch.size, source, size, stride, offset)
    return _as_strided_scatter(input, src, size, stride, offset, whole)


# ---------------------------------------------------------------- joining and rearranging


@rule("_cat")
def _(batch: Any, tensors: Any, dim: int) -> Any:
    parts = []
    for i, (tensor, flag) in enumerate(zip(tensors, batch["tensors"], strict=True)):
        if tensor.ndim == bool(flag):
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
        parts.append(tensor if flag else repeated(batch.size, tensor))
    # One-dimensional empty values join with anything, by PyTorch's legacy rule.
    used = [p for p in parts if p.ndim != 2 or p.shape[1] != 0] or parts
    return _cat(used, canonical_dim(dim, max(inner_rank(p) for p in used)) + 1)


@rule("_stack")
def _(batch: Any, tensors: Any, dim: int) -> Any:
    parts = [tensor if flag else repeated(batch.size, tensor)
             for tensor, flag in zip(tensors, batch["tensors"], strict=True)]
    return _stack(parts, canonical_dim(dim, parts[0].ndim) + 1)


@rule("_block_diag")
def _(batch: Any, tensors: Any) -> Any:
    blocks = [with_rank(tensor if flag else repeated(batch.size, tensor), 2)
              for tensor, flag in zip(tensors, batch["tensors"], strict=True)]
    width = sum(block.shape[2] for block in blocks)
    rows, start = [], 0
    for block in blocks:
        _, height, own = block.shape
        rows.append(slice_backward(block, (batch.size, height, width), 2, start, start + own, 1))
        start += own
    return _cat(rows, 1)


@rule("_flip")
def _(batch: Any, input: Any, dims: Any) -> Any:
    return _flip(input, shifted(dims))


@rule("_roll")
def _(batch: Any, input: Any, shifts: Any, dims: Any) -> Any:
    if dims:
        return _roll(input, shifts, shifted(dims))
    return reshape(_roll(flat(input), shifts, (1,)), input.shape)


@rule("_rot90")
def _(batch: Any, input: Any, k: int, dims: Any) -> Any:
    return run("_rot90", input, k, shifted(dims))


@rule("_repeat")
def _(batch: Any, input: Any, repeats: Any) -> Any:
    return _repeat(with_rank(input, len(repeats)), (1, *repeats))


def _triangle(name: str) -> Any:
    def call(batch: Any, input: Any, diagonal: int) -> Any:
        if inner_rank(input) < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        return run(name, input, diagonal)

    return call


RULES["tril"], RULES["triu"] = _triangle("tril"), _triangle("triu")


@rule("diag_embed")
def _(batch: Any, input: Any, offset: int, dim1: int, dim2: int) -> Any:
    first, second = (canonical_dim(d, input.ndim) + 1 for d in (dim1, dim2))
    shape = list(input.shape[:-1])
    for dim in sorted((first, second)):
        shape.insert(dim, input.shape[-1] + abs(offset))
    return diagonal_backward(input, tuple(shape), offset, first, second)


@rule("_diagonal_copy")
def _(batch: Any, input: Any, offset: int) -> Any:
    return clone(diagonal(input, offset, 1, 2))


@rule("_on_diagonal")
def _(batch: Any, input: Any, shape: Any, offset: int) -> Any:
    return diagonal_backward(input, (batch.size, *shape), offset, 1, 2)


# ---------------------------------------------------------------- overwriting


@rule("_copy")
def _(batch: Any, input: Any, src: Any) -> Any:
    rank = input.ndim - bool(batch["input"])
    src = with_rank(src, rank) if batch["src"] else src
    return _copy(batched(batch, "input", input), src)


@rule("_fill_tensor", "_full_of_tensor")
def _(batch: Any, input: Any, value: Any) -> Any:
    if value.ndim > bool(batch["value"]):
        raise RuntimeError("fill_ only supports 0-dimension value tensor but got tensor with "
                           f"{value.ndim - bool(batch['value'])} dimensions.")
    input = batched(batch, "input", input)
    return _copy(input, with_rank(value, inner_rank(input)) if batch["value"] else value)


@rule("_select_scatter")
def _(batch: Any, input: Any, src: Any, dim: int, index: int) -> Any:
    return run("_select_scatter", *all_batched(batch, input=input, src=src), dim + 1, index)


@rule("_slice_scatter")
def _(batch: Any, input: Any, src: Any, dim: int, start: int, end: int, step: int) -> Any:
    return run("_slice_scatter", *all_batched(batch, input=input, src=src), dim + 1, start, end,
               step)


@rule("diagonal_scatter")
def _(batch: Any, input: Any, src: Any, offset: int, dim1: int, dim2: int) -> Any:
    return run("diagonal_scatter", *all_batched(batch, input=input, src=src), offset, dim1 + 1,
               dim2 + 1)


# ---------------------------------------------------------------- index tensors
# Index tensors on several dims lie stacked, and what they reach stands where the first of them
# stood if the dims are adjacent, and in front otherwise.


def is_mask(index: Any) -> bool:
    return index._data.dtype.kind == "b"


def _adjacent(dims: Any) -> bool:
    return dims[-1] - dims[0] == len(dims) - 1


def _inner_position(dims: Any) -> int:
    return dims[0] if _adjacent(dims) else 0


def _with_batch_index(batch: Any, index: Any, count: int) -> Any:
    """Index tensors for ``count`` dims, (count, batch, *inner), behind one that walks the batch."""
    inner = index if count > 1 else unsqueeze(index, 1)
    inner = movedim(inner, 0, 1)
    shape = inner.shape[1:]
    walk = reshape(arange(batch.size), (1, batch.size, *(1,) * (len(shape) - 1)))
    return _cat([expand(walk, (1, *shape)), inner], 0)


def _dims_to_front(input: Any, dims: Any, lead: int) -> Any:
    """``input`` with ``dims`` moved right behind the first ``lead`` dims."""
    return movedim(input, tuple([d + lead for d in dims]),
                   tuple(range(lead, lead + len(dims))))


def _dims_back(output: Any, dims: Any, lead: int) -> Any:
    return movedim(output, tuple(range(lead, lead + len(dims))), tuple([d + lead for d in dims]))


def _own_index(index: Any, count: int) -> Any:
    """Batched index tensors for ``count`` dims of a tensor without a batch."""
    return movedim(index, 0, 1) if count > 1 else index


def _index_rank(index: Any, count: int) -> int:
    """The rank of what each value of a batch of indices reaches."""
    return inner_rank(index) - (1 if count > 1 else 0)


@rule("index")
def _index_rule(batch: Any, input: Any, at: Any, dims: Any) -> Any:
    if not batch["index"]:
        found = index(input, at, shifted(dims))
        if is_mask(at) or _adjacent(dims):
            return found
        return movedim(found, at.ndim - 1, 0)
    if is_mask(at):
        raise CannotBatch("vmap: It looks like you're indexing with a batched mask, whose values "
                          "select different numbers of elements.")
    lead = int(bool(batch["input"]))
    moved = _dims_to_front(input, dims, lead)
    if lead:
        found = index(moved, _with_batch_index(batch, at, len(dims)), tuple(range(len(dims) + 1)))
    else:
        found = index(moved, _own_index(at, len(dims)), tuple(range(len(dims))))
    rank, position = _index_rank(at, len(dims)), _inner_position(dims)
    if not position:
        return found
    return movedim(found, span(1, rank), span(1 + position, rank))


@rule("index_backward")
def _(batch: Any, input: Any, at: Any, shape: Any, dims: Any) -> Any:
    if not batch["index"]:
        if not (is_mask(at) or _adjacent(dims)):
            input = movedim(input, 0, at.ndim - 1)
        return index_backward(input, at, (batch.size, *shape), shifted(dims))
    if is_mask(at):
        return NotImplemented
    input = _inner_to_front(batched(batch, "input", input), at, dims)
    rest = tuple([n for d, n in enumerate(shape) if d not in dims])
    whole = (batch.size, *(shape[d] for d in dims), *rest)
    found = index_backward(input, _with_batch_index(batch, at, len(dims)), whole,
                           tuple(range(len(dims) + 1)))
    return _dims_back(found, dims, 1)


def _inner_to_front(values: Any, index: Any, dims: Any) -> Any:
    """Batched values of an indexing result with what the index reached right behind the batch."""
    rank, position = _index_rank(index, len(dims)), _inner_position(dims)
    if not position:
        return values
    return movedim(values, span(1 + position, rank), span(1, rank))


@rule("_index_put")
def _(batch: Any, input: Any, values: Any, at: Any, dims: Any, accumulate: bool) -> Any:
    if batch["index"]:
        if is_mask(at):
            return _put_under_masks(batch, input, values, at, dims, accumulate)
        return _put_at_batched(batch, input, values, at, dims, accumulate)
    input = batched(batch, "input", input)
    if batch["values"]:
        rank = inner_rank(input) - (at.ndim if is_mask(at) else len(dims)) + _reached_rank(at, dims)
        values = with_rank(values, rank)
        if not (is_mask(at) or _adjacent(dims)):
            values = movedim(values, 0, at.ndim - 1)
    return _index_put(input, values, at, shifted(dims), accumulate)


def _reached_rank(index: Any, dims: Any) -> int:
    if is_mask(index):
        return 1
    return index.ndim - (1 if len(dims) > 1 else 0)


def _put_at_batched(batch: Any, input: Any, values: Any, at: Any, dims: Any,
                    accumulate: bool) -> Any:
    input = _dims_to_front(batched(batch, "input", input), dims, 1)
    inner = _index_rank(at, len(dims))
    rank = inner_rank(input) - len(dims) + inner
    values = with_rank(batched(batch, "values", values), rank)
    values = _inner_to_front(values, at, dims)
    found = _index_put(input, values, _with_batch_index(batch, at, len(dims)),
                       tuple(range(len(dims) + 1)), accumulate)
    return _dims_back(found, dims, 1)


def _put_under_masks(batch: Any, input: Any, values: Any, mask: Any, dims: Any,
                     accumulate: bool) -> Any:
    """One value for all elements under a mask; several would differ in number."""
    if math.prod(values.shape[bool(batch["values"]):]) != 1:
        raise CannotBatch("vmap: It looks like you're writing several values under a batched mask, "
                          "whose values select different numbers of elements.")
    input = batched(batch, "input", input)
    rank = inner_rank(input)
    after = rank - dims[0] - inner_rank(mask)
    mask = reshape(mask, (mask.shape[0], *(1,) * dims[0], *mask.shape[1:], *(1,) * after))
    values = reshape(values, (batch.size, *(1,) * rank) if batch["values"] else ())
    if values.dtype != input.dtype:
        values = _to_copy(values, input.dtype)
    return input + kept(values, mask) if accumulate else where(mask, values, input)


# ---------------------------------------------------------------- one index per element


def _with_one_dim(value: Any) -> Any:
    """A batch of zero-dim values as a batch of vectors of length one."""
    return unsqueeze(value, 1) if value is not None and value.ndim == 1 else value


@rule("gather")
def _(batch: Any, input: Any, dim: int, at: Any, sparse_grad: bool) -> Any:
    input, at = all_batched(batch, input=input, index=at)
    found = gather(_with_one_dim(input), dim + 1, _with_one_dim(at))
    return reshape(found, at.shape)


def _scattering(name: str) -> Any:
    def call(batch: Any, input: Any, dim: int, at: Any, source: Any, *rest: Any) -> Any:
        input, at = all_batched(batch, input=input, index=at)
        if "src" in batch.flags:
            source = _with_one_dim(batched(batch, "src", source))
        found = run(name, _with_one_dim(input), dim + 1, _with_one_dim(at), source, *rest)
        return reshape(found, input.shape) if input.ndim == 1 else found

    return call


for _name in ("scatter_add", "_scatter_src", "_scatter_value", "_scatter_combine_src",
              "_scatter_combine_value", "scatter_reduce"):
    RULES[_name] = _scattering(_name)


# ---------------------------------------------------------------- one index for a whole slice


@rule("index_select")
def _(batch: Any, input: Any, dim: int, at: Any) -> Any:
    if batch["index"] and at.ndim == 1:
        at = unsqueeze(at, 1)
    if inner_rank(input) == 0 and batch["input"]:
        return input
    if not batch["index"]:
        return index_select(input, dim + 1, at)
    if not batch["input"] and not input.ndim:
        return repeated(batch.size, input)
    return _index_rule(batch, input, at, (dim,))


def _slice_index(batch: Any, at: Any, input: Any, dim: int) -> Any:
    """An index for slices along ``dim`` as one for each of their elements."""
    at = at if batch["index"] else repeated(batch.size, at)
    at = unsqueeze(at, 1) if at.ndim == 1 else at
    shape = [1] * input.ndim
    shape[0], shape[dim + 1] = at.shape
    whole = [n if i != dim + 1 else at.shape[1] for i, n in enumerate(input.shape)]
    return expand(reshape(at, tuple(shape)), tuple(whole))


def _slices(batch: Any, input: Any, dim: int, at: Any, source: Any) -> tuple[Any, Any, Any]:
    """The arguments of a scatter along ``dim + 1`` that writes whole slices."""
    input = _with_one_dim(batched(batch, "input", input))
    at = _slice_index(batch, at, input, dim)
    return input, at, reshape(batched(batch, "source", source), at.shape)


@rule("index_add")
def _(batch: Any, input: Any, dim: int, at: Any, source: Any, alpha: Any) -> Any:
    rank = input.ndim - bool(batch["input"])
    if not batch["index"] and rank and source.ndim - bool(batch["source"]) == rank:
        input, source = all_batched(batch, input=input, source=source)
        return index_add(input, dim + 1, at, source, alpha=alpha)
    whole, at, source = _slices(batch, input, dim, at, source)
    found = scatter_add(whole, dim + 1, at, scaled(source, alpha))
    return found if rank else reshape(found, (batch.size,))


@rule("index_copy")
def _(batch: Any, input: Any, dim: int, at: Any, source: Any) -> Any:
    rank = input.ndim - bool(batch["input"])
    whole, at, source = _slices(batch, input, dim, at, source)
    found = _scatter_src(whole, dim + 1, at, source)
    return found if rank else reshape(found, (batch.size,))


@rule("_index_fill_value")
def _(batch: Any, input: Any, dim: int, at: Any, value: Any) -> Any:
    input = batched(batch, "input", input)
    whole = _with_one_dim(input)
    found = _scatter_value(whole, dim + 1, _slice_index(batch, at, whole, dim), value)
    return reshape(found, input.shape) if input.ndim == 1 else found


@rule("_index_fill_tensor")
def _(batch: Any, input: Any, dim: int, at: Any, value: Any) -> Any:
    if value.ndim > bool(batch["value"]):
        raise RuntimeError("index_fill_ only supports a 0-dimensional value tensor, but got tensor "
                           f"with {value.ndim - bool(batch['value'])} dimension(s).")
    input = batched(batch, "input", input)
    whole = _with_one_dim(input)
    at = _slice_index(batch, at, whole, dim)
    if value.dtype != whole.dtype:
        value = _to_copy(value, whole.dtype)
    value = with_rank(value, inner_rank(whole)) if batch["value"] else value
    found = _scatter_src(whole, dim + 1, at, expand(value, at.shape))
    return reshape(found, input.shape) if input.ndim == 1 else found


# ---------------------------------------------------------------- positions in the flattened tensor


def _from_front(at: Any, count: int) -> Any:
    """Flat positions counted from the front; those out of range are left for the op to refuse."""
    return where(at < 0, at + count, at)


@rule("take")
def _(batch: Any, input: Any, at: Any) -> Any:
    if not batch["input"]:
        return run("take", input, at)
    at = batched(batch, "index", at)
    values = flat(input)
    return reshape(gather(values, 1, _from_front(flat(at), values.shape[1])), at.shape)


@rule("_put")
def _(batch: Any, input: Any, at: Any, source: Any, accumulate: bool) -> Any:
    input, at, source = all_batched(batch, input=input, index=at, source=source)
    values = flat(input)
    write = scatter_add if accumulate else _scatter_src
    found = write(values, 1, _from_front(flat(at), values.shape[1]), flat(source))
    return reshape(found, input.shape)


# ---------------------------------------------------------------- masks


@rule("_masked_fill_value")
def _(batch: Any, input: Any, mask: Any, value: Any) -> Any:
    return run("_masked_fill_value", *all_aligned(batch, input=input, mask=mask), value)


@rule("_masked_fill_tensor")
def _(batch: Any, input: Any, mask: Any, value: Any) -> Any:
    if value.ndim > bool(batch["value"]):
        raise RuntimeError("masked_fill_ only supports a 0-dimensional value tensor, but got "
                           f"tensor with {value.ndim - bool(batch['value'])} dimension(s).")
    input, mask, value = all_aligned(batch, input=input, mask=mask, value=value)
    return where(mask, value if value.dtype == input.dtype else _to_copy(value, input.dtype), input)


def _jointly_shaped(batch: Any, input: Any, mask: Any) -> tuple[Any, Any]:
    """A batched input and a mask without a batch, both in the shape that they broadcast to."""
    joint = tuple(broadcast_shapes(tuple(input.shape[1:]), tuple(mask.shape)))
    return expand(with_rank(input, len(joint)), (batch.size, *joint)), expand(mask, joint)


@rule("masked_select")
def _(batch: Any, input: Any, mask: Any) -> Any:
    if batch["mask"]:
        raise CannotBatch("vmap: It looks like you're selecting with a batched mask, whose values "
                          "select different numbers of elements.")
    input, mask = _jointly_shaped(batch, input, mask)
    return index(input, mask, (1,)) if mask.ndim else index(
        unsqueeze(input, 1), unsqueeze(mask, 0), (1,))


@rule("masked_place")
def _(batch: Any, input: Any, mask: Any, shape: Any) -> Any:
    if batch["mask"]:
        return NotImplemented
    if not shape:
        found = index_backward(input, unsqueeze(mask, 0), (batch.size, 1), (1,))
        return reshape(found, (batch.size,))
    return index_backward(input, expand(mask, tuple(shape)), (batch.size, *shape), (1,))


def _ranks(mask: Any, count: int) -> Any:
    """Which of the true elements each one of a flat mask is, and some number below ``count``
    elsewhere."""
    nth = cumsum(_to_copy(mask, int64), 1) - 1
    return where(mask, nth, nth * 0) if count else nth


@rule("_masked_scatter")
def _(batch: Any, input: Any, mask: Any, source: Any) -> Any:
    input, mask = broadcast_tensors(*all_aligned(batch, input=input, mask=mask))
    source = flat(batched(batch, "source", source))
    if not source.shape[1]:
        return clone(input)
    try:
        taken = gather(source, 1, _ranks(flat(mask), source.shape[1]))
    except RuntimeError:
        raise RuntimeError("Number of elements of source < number of ones in mask") from None
    return where(mask, reshape(taken, input.shape), input)


@rule("masked_part")
def _(batch: Any, input: Any, mask: Any, shape: Any) -> Any:
    input, mask = broadcast_tensors(*all_aligned(batch, input=input, mask=mask))
    count = math.prod(shape)
    if not count:
        return input.new_zeros((batch.size, *shape))
    mask, values = flat(mask), flat(input)
    found = scatter_add(input.new_zeros((batch.size, count)), 1, _ranks(mask, count),
                        kept(values, mask))
    return reshape(found, (batch.size, *shape))


# ---------------------------------------------------------------- sorted sequences and sets


@rule("_searchsorted")
def _(batch: Any, sorted_sequence: Any, input: Any, out_int32: bool, right: bool,
      sorter: Any) -> Any:
    rows, values = all_batched(batch, sorted_sequence=sorted_sequence, input=input)
    sorter = batched(batch, "sorter", sorter)
    if inner_rank(rows) == 1 and not batch["sorted_sequence"] and not (
            sorter is not None and batch["sorter"]):
        return _searchsorted(sorted_sequence, values, out_int32, right,
                             None if sorter is None else _select(sorter, 0, 0))
    if inner_rank(rows) == 1:
        found = _searchsorted(rows, flat(values), out_int32, right, sorter)
        return reshape(found, values.shape)
    return _searchsorted(rows, values, out_int32, right, sorter)


@rule("_isin")
def _(batch: Any, elements: Any, test_elements: Any, invert: bool) -> Any:
    if not batch["test_elements"]:
        return run("_isin", elements, test_elements, invert)
    elements = batched(batch, "elements", elements)
    wanted = flat(test_elements)
    wanted = reshape(wanted, (batch.size, *(1,) * inner_rank(elements), wanted.shape[1]))
    found = eq(unsqueeze(elements, elements.ndim), wanted)
    found = _any(found, (found.ndim - 1,), False)
    return ~found if invert else found


def _of_dynamic_size(*names: str) -> None:
    def refuse(name: str) -> Any:
        def call(batch: Any, *values: Any) -> Any:
            raise CannotBatch(f"vmap: the size of what {name} returns depends on the values, which "
                              "differ in a batch.")

        return call

    for name in names:
        RULES[name] = refuse(REGISTRY[name].title if name in REGISTRY else name)


_of_dynamic_size("_unique2", "_unique_dim", "_unique_consecutive", "_counts", "_weighted_counts")


# ---------------------------------------------------------------- products


def _product(batch: Any, left: str, a: Any, right: str, b: Any) -> Any:
    """``matmul`` behind the batch."""
    has_a, has_b = bool(batch[left]), bool(batch[right])
    rank_a, rank_b = a.ndim - has_a, b.ndim - has_b
    if not has_b and rank_b == 2 and rank_a:
        return _rows_times_matrix(a, b)
    if not has_a and rank_a == 2 and rank_b == 1:
        return mm(b, transpose(a, 0, 1))
    if not has_a and rank_a == 2 == rank_b:
        return transpose(_rows_times_matrix(transpose(b, 1, 2), transpose(a, 0, 1)), 1, 2)
    a = unsqueeze(a, a.ndim - 1) if rank_a == 1 else a
    b = unsqueeze(b, b.ndim) if rank_b == 1 else b
    rank = max(a.ndim - has_a, b.ndim - has_b)
    a = with_rank(a, rank) if has_a else a
    b = with_rank(b, rank) if has_b else b
    y = _batched(a, b)
    if rank_b == 1:
        y = _select(y, y.ndim - 1, 0)
    return _select(y, y.ndim - 1 - (rank_b != 1), 0) if rank_a == 1 else y


def _multiplying(left: str, right: str) -> Any:
    def call(batch: Any, a: Any, b: Any) -> Any:
        return _product(batch, left, a, right, b)

    return call


RULES["mm"] = RULES["bmm"] = _multiplying("input", "mat2")
RULES["mv"] = _multiplying("input", "vec")
RULES["dot"] = _multiplying("input", "tensor")
for _name in ("_vecmat", "_rows_times_matrix", "_rows_times_vector", "_batched", "_batched_by_one",
              "_vector_times_batch"):
    RULES[_name] = _multiplying("input", "other")


@rule("vdot")
def _(batch: Any, input: Any, other: Any) -> Any:
    return _product(batch, "input", conj(input), "other", other)


def _added(batch: Any, input: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """``beta * input + alpha * product``; an input times zero counts as zero."""
    product = scaled(product, alpha)
    if beta == 0:
        return product
    input = with_rank(input, inner_rank(product)) if batch["input"] else input
    return scaled(input, beta) + product


def _adding(left: str, right: str, summed: bool = False) -> Any:
    def call(batch: Any, input: Any, a: Any, b: Any, beta: Any, alpha: Any) -> Any:
        if not (batch[left] or batch[right]):
            a = repeated(batch.size, a)
            batch = batch.but(**{**batch.flags, left: True})
        product = _product(batch, left, a, right, b)
        product = _sum_dims(product, (1,)) if summed else product
        return _added(batch, input, product, beta, alpha)

    return call


RULES["addmm"] = _adding("mat1", "mat2")
RULES["addmv"] = _adding("mat", "vec")
RULES["baddbmm"] = _adding("batch1", "batch2")
RULES["addbmm"] = _adding("batch1", "batch2", summed=True)


@rule("addr")
def _(batch: Any, input: Any, vec1: Any, vec2: Any, beta: Any, alpha: Any) -> Any:
    column = unsqueeze(vec1, vec1.ndim)
    row = unsqueeze(vec2, vec2.ndim - 1)
    product = column * row
    if not (batch["vec1"] or batch["vec2"]):
        product = repeated(batch.size, product)
    return _added(batch, input, product, beta, alpha)


@rule("_linear", "_linear_rows")
def _(batch: Any, bias: Any, input: Any, weight: Any) -> Any:
    if batch["input"] or batch["weight"]:
        y = _product(batch, "input", input, "weight", transpose(weight, -2, -1))
    else:
        y = repeated(batch.size, run("_rows_times_matrix", input, transpose(weight, 0, 1))
                     if input.ndim > 1 else run("_vecmat", input, transpose(weight, 0, 1)))
    return y + (with_rank(bias, inner_rank(y)) if batch["bias"] else bias)


@rule("_linear_plain")
def _(batch: Any, input: Any, weight: Any) -> Any:
    return _product(batch, "input", input, "weight", transpose(weight, -2, -1))


@rule("_bilinear")
def _(batch: Any, input1: Any, input2: Any, weight: Any) -> Any:
    input1, input2 = all_batched(batch, input1=input1, input2=input2)
    if not batch["weight"]:
        return unfolded(batch, run("_bilinear", folded(input1), folded(input2), weight))
    along = _batched(unsqueeze(input1, 1), weight) * unsqueeze(input2, 1)
    return transpose(_sum_dims(along, (3,)), 1, 2)


@rule("sum_rows")
def _(batch: Any, input: Any) -> Any:
    return _sum_dims(input, (1,))


# ---------------------------------------------------------------- linear algebra


@rule("_cross")
def _(batch: Any, input: Any, other: Any, dim: int) -> Any:
    input, other = all_aligned(batch, input=input, other=other)
    return run("_cross", input, other, canonical_dim(dim, inner_rank(input)) + 1)


@rule("_identity")
def _(batch: Any, input: Any) -> Any:
    return repeated(batch.size, run("_identity", input))


def _systems(batch: Any, A: Any, B: Any, columns: int) -> tuple[Any, Any]:
    """Matrices and right-hand sides with the batch in front and leading dims of one rank."""
    A, B = all_batched(batch, A=A, B=B)
    lead = max(A.ndim - 2, B.ndim - columns)
    return with_rank(A, lead - 1 + 2), with_rank(B, lead - 1 + columns)


@rule("_solve")
def _(batch: Any, A: Any, B: Any, vector: bool) -> Any:
    return run("_solve", *_systems(batch, A, B, 1 if vector else 2), vector)


@rule("_solve_triangular")
def _(batch: Any, A: Any, B: Any, upper: bool, unitriangular: bool) -> Any:
    return run("_solve_triangular", *_systems(batch, A, B, 2), upper, unitriangular)


# ---------------------------------------------------------------- softmax


def _softmax_gradient(name: str) -> Any:
    def call(batch: Any, input: Any, output: Any, dim: int) -> Any:
        input, output = all_batched(batch, input=input, output=output)
        found = run(name, _with_one_dim(input), _with_one_dim(output), dim + 1)
        return reshape(found, input.shape) if input.ndim == 1 else found

    return call


for _name in ("softmax_backward", "log_softmax_backward"):
    RULES[_name] = _softmax_gradient(_name)


# ---------------------------------------------------------------- convolution
# A batch of inputs is folded into the samples. A batch of weights becomes groups: each group's
# channels meet their own weights.


def _plus_bias(batch: Any, y: Any, bias: Any, space: int) -> Any:
    """``y`` (batch, samples, channels, *space) plus a number for each channel."""
    if bias is None:
        return y
    shape = (batch.size, 1) if batch["bias"] else (1, 1)
    return y + reshape(bias, (*shape, bias.shape[-1], *(1,) * space))


@rule("_convolution")
def _(batch: Any, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
      groups: int) -> Any:
    settings = (stride, padding, dilation)
    if not batch["weight"]:
        if not batch["input"]:
            y = repeated(batch.size, _convolution(input, weight, None, *settings, groups))
        else:
            y = unfolded(batch, _convolution(folded(input), weight, None, *settings, groups))
    elif not batch["input"] and groups == 1:
        y = unmerged(batch, _convolution(input, folded(weight), None, *settings, 1), 1)
    else:
        y = _convolution(merged(batched(batch, "input", input), 1), folded(weight), None, *settings,
                         groups * batch.size)
        y = unmerged(batch, y, 1)
    return _plus_bias(batch, y, bias, len(stride))


@rule("_convolution_input")
def _to_input(batch: Any, output: Any, weight: Any, shape: Any, stride: Any, padding: Any,
              dilation: Any, groups: int) -> Any:
    settings = (stride, padding, dilation)
    if not batch["weight"]:
        whole = (batch.size * shape[0], *shape[1:])
        return unfolded(batch, _convolution_input(folded(output), weight, whole, *settings, groups))
    whole = (shape[0], batch.size * shape[1], *shape[2:])
    found = _convolution_input(merged(batched(batch, "output", output), 1), folded(weight), whole,
                               *settings, groups * batch.size)
    return unmerged(batch, found, 1)


@rule("_convolution_weight")
def _(batch: Any, output: Any, input: Any, shape: Any, stride: Any, padding: Any, dilation: Any,
      groups: int) -> Any:
    output, input = all_batched(batch, output=output, input=input)
    whole = (batch.size * shape[0], *shape[1:])
    found = _convolution_weight(merged(output, 1), merged(input, 1), whole, stride, padding,
                                dilation, groups * batch.size)
    return unfolded(batch, found)


@rule("_transposed")
def _(batch: Any, input: Any, weight: Any, bias: Any, shape: Any, stride: Any, padding: Any,
      dilation: Any, groups: int) -> Any:
    if not (batch["input"] or batch["weight"]):
        y = repeated(batch.size, _convolution_input(input, weight, shape, stride, padding, dilation,
                                                    groups))
    else:
        own = batch.but(output=batch["input"], weight=batch["weight"])
        y = _to_input(own, input, weight, shape, stride, padding, dilation, groups)
    return _plus_bias(batch, y, bias, len(stride))


# ---------------------------------------------------------------- recipes along axes


def _shifted_recipe(recipe: Any) -> Any:
    return tuple([(axis + 1 if axis >= 0 else axis, *rest) for axis, *rest in recipe])


def _along_axes(name: str) -> Any:
    def call(batch: Any, input: Any, recipe: Any, *rest: Any) -> Any:
        return run(name, input, _shifted_recipe(recipe), *rest)

    return call


for _name in ("_take_axes", "_multiply_axes",
              *(f"_adaptive_average{n}d" for n in (1, 2, 3)),
              *(f"_pad_{mode}{n}d" for mode in ("reflect", "replicate", "circular")
                for n in (1, 2, 3)),
              *(f"_upsample_nearest{n}d" for n in (1, 2, 3)),
              *(f"_upsample_nearest_exact{n}d" for n in (1, 2, 3)),
              "_upsample_linear1d", "_upsample_bilinear2d", "_upsample_bicubic2d",
              "_upsample_trilinear3d"):
    RULES[_name] = _along_axes(_name)


@rule("_spread_axes")
def _(batch: Any, input: Any, recipe: Any, sizes: Any) -> Any:
    return run("_spread_axes", input, _shifted_recipe(recipe), (batch.size, *sizes))


# ---------------------------------------------------------------- normalisation


@rule("_standardize")
def _(batch: Any, input: Any, axes: Any, eps: float) -> Any:
    return _standardize(input, shifted(axes), eps)


@rule("_standardize_gradient")
def _(batch: Any, output: Any, input: Any, axes: Any, eps: float) -> Any:
    output, input = all_batched(batch, output=output, input=input)
    return _standardize_gradient(output, input, shifted(axes), eps)


@rule("_inverse_deviation")
def _(batch: Any, input: Any, axes: Any, eps: float) -> Any:
    return run("_inverse_deviation", input, shifted(axes), eps)


@rule("_layer_norm")
def _(batch: Any, input: Any, weight: Any, bias: Any, rank: int, eps: float) -> Any:
    if batch["input"] and not (batch["weight"] or batch["bias"]):
        return _layer_norm(input, weight, bias, rank, eps)
    input = batched(batch, "input", input)
    y = _layer_norm(input, None, None, rank, eps)
    if weight is not None:
        y = y * (with_rank(weight, inner_rank(y)) if batch["weight"] else weight)
    if bias is not None:
        y = y + (with_rank(bias, inner_rank(y)) if batch["bias"] else bias)
    return y


def _for_channels(batch: Any, name: str, parameter: Any, rank: int) -> Any:
    """A number per channel, shaped to meet (batch, samples, channels, *space)."""
    shape = (batch.size, 1) if batch[name] else (1, 1)
    return reshape(parameter, (*shape, parameter.shape[-1], *(1,) * (rank - 2)))


def _scaled_channels(batch: Any, y: Any, weight: Any, bias: Any) -> Any:
    rank = inner_rank(y)
    if weight is not None:
        y = y * _for_channels(batch, "weight", weight, rank)
    return y if bias is None else y + _for_channels(batch, "bias", bias, rank)


@rule("_batch_norm")
def _(batch: Any, input: Any, weight: Any, bias: Any, eps: float) -> Any:
    input = batched(batch, "input", input)
    axes = (1, *range(3, input.ndim))
    return _scaled_channels(batch, _standardize(input, axes, eps), weight, bias)


@rule("_batch_norm_fixed")
def _(batch: Any, input: Any, weight: Any, bias: Any, mean: Any, var: Any, eps: float) -> Any:
    input = batched(batch, "input", input)
    rank = inner_rank(input)
    y = (input - _for_channels(batch, "mean", mean, rank)) * rsqrt(
        _for_channels(batch, "var", var, rank) + eps)
    return _scaled_channels(batch, y, weight, bias)


@rule("_group_norm")
def _(batch: Any, input: Any, weight: Any, bias: Any, groups: int, eps: float) -> Any:
    input = batched(batch, "input", input)
    _, samples, *rest = input.shape
    rows = reshape(input, (batch.size, samples * groups, math.prod(rest) // groups))
    y = reshape(_standardize(rows, (2,), eps), input.shape)
    return _scaled_channels(batch, y, weight, bias)


# ---------------------------------------------------------------- embedding


def _numbered_rows(batch: Any, indices: Any, rows: int) -> Any:
    """Indices of rows in a batch of tables that are laid one below the other."""
    indices = batched(batch, "indices", indices)
    start = reshape(arange(batch.size) * rows, (batch.size, *(1,) * inner_rank(indices)))
    return indices + start


def _without_padding(batch: Any, values: Any, indices: Any, padding_idx: int) -> Any:
    """``values`` of rows, with zeros for the row that takes no gradient."""
    if padding_idx < 0:
        return values
    return zeroed(values, unsqueeze(eq(batched(batch, "indices", indices), padding_idx),
                                    values.ndim - 1))


@rule("_embedding")
def _(batch: Any, weight: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    if not batch["weight"]:
        return run("_embedding", weight, indices, padding_idx, scale_grad_by_freq)
    return run("_embedding", folded(weight), _numbered_rows(batch, indices, weight.shape[1]), -1,
               False)


@rule("_embedding_gradient")
def _(batch: Any, output: Any, indices: Any, rows: int, padding_idx: int,
      scale_grad_by_freq: bool) -> Any:
    output = _without_padding(batch, batched(batch, "output", output), indices, padding_idx)
    found = _embedding_gradient(output, _numbered_rows(batch, indices, rows), batch.size * rows, -1,
                                scale_grad_by_freq)
    return unfolded(batch, found)


@rule("_weighted_rows")
def _(batch: Any, weight: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    weight = batched(batch, "weight", weight)
    found = _weighted_rows(folded(weight), _numbered_rows(batch, indices, weight.shape[1]), -1,
                           scale_grad_by_freq)
    return _without_padding(batch, found, indices, padding_idx)


# ---------------------------------------------------------------- losses


def _reduced(values: Any, reduction: int) -> Any:
    """The losses of each value of the batch, summed up or averaged."""
    if reduction == NONE or values.ndim == 1:
        return values
    return (_mean_dims if reduction == MEAN else _sum_dims)(values, tuple(range(1, values.ndim)))


def _elementwise_loss(name: str) -> Any:
    op = REGISTRY.get(name)

    def call(batch: Any, *values: Any) -> Any:
        given = dict(zip([p.name for p in op.params], values, strict=True))
        tensors = {n: v for n, v in given.items() if n in op.arrays or n in op.indices}
        given.update(zip(tensors, all_aligned(batch, **tensors), strict=True))
        reduction = given["reduction"]
        given["reduction"] = NONE
        return _reduced(run(name, *given.values()), reduction)

    return call


for _name in ("_mse_loss", "_smooth_l1_loss", "_huber_loss", "_binary_cross_entropy",
              "_logistic_loss", "_soft_margin_loss"):
    RULES[_name] = _elementwise_loss(_name)


def _class_weights(batch: Any, target: Any, weight: Any, ignore_index: int, like: Any) -> Any:
    """What each batched target's likelihood counts."""
    counted = ne(target, ignore_index)
    if weight is None:
        return _to_copy(counted, like.dtype)
    safe = kept(target, counted)
    picked = _index_rule(batch.but(index=True, input=True), weight, safe, (0,)) \
        if batch["weight"] else index(weight, safe, (0,))
    return kept(picked, counted)


def _losses(values: Any, weights: Any, reduction: int) -> Any:
    if reduction == NONE:
        return values
    total = _reduced(values, SUM)
    return total / _reduced(weights, SUM) if reduction == MEAN else total


@rule("_nll_loss", "_nll_loss2d")
def _(batch: Any, input: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    input, target = all_batched(batch, input=input, target=target)
    if inner_rank(input) == 1:
        single = target.ndim == 2
        values = _nll_loss(input, reshape(target, (batch.size,)), None, NONE, ignore_index)
        values = reshape(values, target.shape) if single and reduction == NONE else values
        target = target if values.ndim == target.ndim else reshape(target, (batch.size,))
    else:
        values = unfolded(batch, _nll_loss(folded(input), folded(target), None, NONE, ignore_index))
    weights = _class_weights(batch, target, weight, ignore_index, input)
    if weight is not None:
        values = values * weights
    return _losses(values, weights, reduction)


@rule("_likelihood_gradient")
def _(batch: Any, output: Any, target: Any, weight: Any, shape: Any, reduction: int,
      ignore_index: int) -> Any:
    output, target = all_batched(batch, output=output, target=target)
    if len(shape) == 1:
        target, output = reshape(target, (batch.size,)), reshape(output, (batch.size,))
    weights = _class_weights(batch, target, weight, ignore_index, output)
    if reduction == MEAN:
        output = output / _reduced(weights, SUM)
    g = reshape(output, (batch.size, *(1,) * inner_rank(target))) if reduction != NONE else output
    g = expand(g * weights, target.shape)
    if len(shape) == 1:
        return _likelihood_gradient(g, target, None, (batch.size, *shape), NONE, ignore_index)
    whole = (batch.size * shape[0], *shape[1:])
    return unfolded(batch, _likelihood_gradient(folded(g), folded(target), None, whole, NONE,
                                                ignore_index))


def _hinges(batch: Any, name: str, tensors: list[Any], weight: Any, target: Any, *rest: Any) -> Any:
    """A hinge op on all samples of the batch; a batch of weights multiplies what comes out."""
    found = unfolded(batch, run(name, *map(folded, tensors), None if batch["weight"] else weight,
                                *rest))
    if not batch["weight"]:
        return found
    factor = _class_weights(batch, target, weight, -1, found)
    return found * (factor if found.ndim == 2 else unsqueeze(factor, 2))


@rule("_multi_margin_loss")
def _(batch: Any, input: Any, target: Any, weight: Any, p: int, margin: float,
      reduction: int) -> Any:
    input, target = all_batched(batch, input=input, target=target)
    values = _hinges(batch, "_multi_margin_loss", [input, target], weight, target, p, margin, NONE)
    return _reduced(values, reduction)


@rule("_hinge_slopes")
def _(batch: Any, input: Any, target: Any, weight: Any, p: int, margin: float) -> Any:
    input, target = all_batched(batch, input=input, target=target)
    return _hinges(batch, "_hinge_slopes", [input, target], weight, target, p, margin)


@rule("_hinge_curvature")
def _(batch: Any, output: Any, input: Any, target: Any, weight: Any, p: int, margin: float) -> Any:
    output, input, target = all_batched(batch, output=output, input=input, target=target)
    return _hinges(batch, "_hinge_curvature", [output, input, target], weight, target, p, margin)


# ---------------------------------------------------------------- random numbers


def _randomness(batch: Any) -> str:
    """Whether the values of this batch want different numbers or the same."""
    return next((how for how, level, _ in VMAPS.get() if level == batch.level), "different")


def _overwriting_with_draws(name: str) -> Any:
    def call(batch: Any, input: Any, *rest: Any) -> Any:
        if _randomness(batch) == "same":
            return repeated(batch.size, run(name, _select(input, 0, 0), *rest))
        return run(name, input, *rest)

    return call


for _name in ("uniform", "normal", "log_normal", "exponential", "cauchy", "geometric", "random",
              "_random_below", "_random_any", "bernoulli"):
    RULES[_name] = _overwriting_with_draws(_name)


def _need_different(batch: Any) -> None:
    if _randomness(batch) == "same":
        raise CannotBatch("vmap: the same random numbers are wanted for different distributions.")


@rule("_bernoulli_tensor")
def _(batch: Any, input: Any, p: Any, generator: Any) -> Any:
    if not batch["p"]:
        return _overwriting_with_draws("_bernoulli_tensor")(batch, input, p, generator)
    _need_different(batch)
    input = batched(batch, "input", input)
    return run("_bernoulli_tensor", input, with_rank(p, inner_rank(input)), generator)


def _drawing(name: str) -> Any:
    def call(batch: Any, *values: Any) -> Any:
        _need_different(batch)
        return run(name, *values)

    return call


for _name in ("_bernoulli", "_poisson", "_normal_mean", "_normal_std"):
    RULES[_name] = _drawing(_name)


@rule("_normal_both")
def _(batch: Any, mean: Any, std: Any, generator: Any) -> Any:
    _need_different(batch)
    return run("_normal_both", *all_aligned(batch, mean=mean, std=std), generator)


@rule("_multinomial")
def _(batch: Any, input: Any, num_samples: int, replacement: bool, generator: Any) -> Any:
    _need_different(batch)
    if inner_rank(input) == 1:
        return run("_multinomial", input, num_samples, replacement, generator)
    return unfolded(batch, run("_multinomial", folded(input), num_samples, replacement, generator))


for _name, _rule in RULES.items():
    if _name in REGISTRY:
        REGISTRY[_name].batch(_rule)
