"""Embedding and one-hot vectors."""

from __future__ import annotations

from typing import Any

from ...backend import norm as norm_kernels, xp
from ...base import dtypes
from ...base.errors import length_of, no_dims
from ...base.modes import switched
from ...core.op import Array, Index, composite, op, public
from ...core.tensor import Tensor
from ..batching import batched, folded, inner_rank, run, unfolded
from ..checks.embeddings import check_index_kind
from ..creation.ranges import arange
from ..elementwise.comparison import eq
from ..elementwise.where import zeroed
from ..shapes.dimensions import unsqueeze
from ..shapes.reshaping import reshape


@op(saved={"weight": "weight"}, quiet=True)
def _embedding(weight: Array, indices: Index, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    return norm_kernels.look_up(weight, xp.as_array(indices))


@op(vjp=lambda g, indices, padding_idx, scale_grad_by_freq:
    _weighted_rows(g, indices, padding_idx, scale_grad_by_freq))
def _embedding_gradient(output: Array, indices: Index, rows: int, padding_idx: int,
                        scale_grad_by_freq: bool) -> Any:
    return norm_kernels.add_rows(output, xp.as_array(indices), rows, padding_idx,
                                 scale_grad_by_freq)


@op()
def _weighted_rows(weight: Array, indices: Index, padding_idx: int,
                   scale_grad_by_freq: bool) -> Any:
    return norm_kernels.weighted_rows(weight, xp.as_array(indices), padding_idx, scale_grad_by_freq)


@_weighted_rows.batch
def _(batch: Any, weight: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    weight = batched(batch, "weight", weight)
    found = _weighted_rows(folded(weight), _numbered_rows(batch, indices, weight.shape[1]), -1,
                           scale_grad_by_freq)
    return _without_padding(batch, found, indices, padding_idx)


for _rows in (_embedding, _weighted_rows):
    _rows.vjp(weight=lambda g, indices, like, padding_idx, scale_grad_by_freq: _embedding_gradient(
        g, indices, like.shape[0], padding_idx, scale_grad_by_freq))


@_embedding_gradient.batch
def _(batch: Any, output: Any, indices: Any, rows: int, padding_idx: int,
      scale_grad_by_freq: bool) -> Any:
    output = _without_padding(batch, batched(batch, "output", output), indices, padding_idx)
    found = _embedding_gradient(output, _numbered_rows(batch, indices, rows), batch.size * rows, -1,
                                scale_grad_by_freq)
    return unfolded(batch, found)


_embedding.jvp(weight=lambda tangent, indices: _embedding(tangent, indices, -1, False))


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


@_embedding.batch
def _(batch: Any, weight: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    if not batch["weight"]:
        return run("_embedding", weight, indices, padding_idx, scale_grad_by_freq)
    return run("_embedding", folded(weight), _numbered_rows(batch, indices, weight.shape[1]), -1,
               False)


@public("embedding", method=False)
def _torch_embedding(weight: Tensor, indices: Tensor, padding_idx: int = -1,
                     scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """:func:`embedding` with the argument order of ``torch.embedding``."""
    return _looked_up(weight, indices, padding_idx, scale_grad_by_freq, sparse)


def _looked_up(weight: Tensor, indices: Tensor, padding_idx: int, scale_grad_by_freq: bool,
               sparse: bool) -> Tensor:
    if weight._data.ndim != 2:
        # To record a gradient needs the number of rows, before anything is checked.
        recorded = weight.requires_grad and not weight.ndim
        raise no_dims(0) if recorded else RuntimeError("'weight' must be 2-D")
    if indices._data.dtype is not xp.INT64:
        check_index_kind("embedding", indices)
    if sparse:
        from ..sparse.rows import look_up

        return look_up(weight, indices, padding_idx, scale_grad_by_freq)
    return _embedding(weight, indices, padding_idx, scale_grad_by_freq)


def _padding_row(padding_idx: int, weight: Tensor) -> int:
    """The row that gets no gradient, counted from the first."""
    if padding_idx == 0:
        return 0
    count = length_of(tuple(weight.shape), 0)
    if not -count <= padding_idx < count:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx % count


def shorten_rows(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Scale the rows of ``weight`` at ``indices`` that are longer than ``max_norm``, in place."""
    with switched(grad=False):
        norm_kernels.shorten_rows(weight._array(), indices._data, max_norm, norm_type)
        weight._bump_version()
    return weight


@composite(function="nn.functional")
def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None,
              max_norm: float | None = None, norm_type: float = 2.0,
              scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """The rows of ``weight`` at the indices ``input``; no gradient reaches row ``padding_idx``."""
    padding = -1 if padding_idx is None else _padding_row(padding_idx, weight)
    if max_norm is not None:
        shorten_rows(weight, input, max_norm, norm_type)
    return _looked_up(weight, input, padding, scale_grad_by_freq, sparse)


@op(batches="leading")
def _one_hot(input: Index, classes: int) -> Any:
    return norm_kernels.one_hot(xp.as_array(input), classes)


@composite(function="nn.functional")
def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """Zeros with a one at each index, along a new last dimension."""
    if input.dtype is not dtypes.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if not input.numel():
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return _one_hot(input, num_classes)
    if num_classes > 0 and type(input)._is_traced:  # type: ignore[attr-defined]
        return _one_hot(input, num_classes)
    if int(input.min()) < 0:
        raise RuntimeError("Class values must be non-negative.")
    largest = int(input.max())
    if num_classes == -1:
        num_classes = largest + 1
    elif num_classes <= largest:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return _one_hot(input, num_classes)
