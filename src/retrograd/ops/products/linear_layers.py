"""Linear and bilinear layers."""

from __future__ import annotations

from typing import Any

from ...backend import matrices
from ...backend.interface import kind_of
from ...base.errors import length_of, not_a_tensor
from ...core.op import Array, composite, linear as linear_op, op
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..batching import aligned, all_batched, folded, inner_rank, repeated, run, unfolded
from ..checks.common import unsupported
from ..checks.products import check_addition, check_bilinear, check_mm
from ..elementwise.conjugate import conj
from ..reductions.sums import _sum_dims
from ..shapes.dimensions import _permute, t, transpose, unsqueeze
from ..shapes.expanding import expand
from ..shapes.reshaping import reshape
from .added_products import addmm
from .matmul import (
    _batched,
    _product,
    _rows_times_matrix,
    _transposed_mm,
    _vecmat,
    flat_rows,
    matmul,
    mm,
)

# ---------------------------------------------------------------- linear layers


@linear_op(method=False, function=None, node="SumBackward1",
           vjp=lambda g, like: expand(g, like.shape),
           batches=lambda batch, input: _sum_dims(input, (1,)))
def sum_rows(input: Array) -> Any:
    """The sum of a matrix's rows."""
    return matrices.sum_rows(input)


@op(node="AddmmBackward0", saved={"input": "mat1", "weight": "mat2"}, steps={"weight": t})
def _linear(bias: Array, input: Array, weight: Array) -> Any:
    if input.dtype is not weight.dtype or bias.dtype is not weight.dtype \
            or input.shape[1] != weight.shape[1] or kind_of(input.dtype) == "b":
        check_addition(bias, input, weight.T)
    return matrices.affine(input, weight, bias)


_linear.vjp(bias=lambda g: sum_rows(g),
            input=lambda g, weight: mm(g, conj(weight)),
            weight=lambda g, input: _transposed_mm(g, conj(input)))
_linear.jvp(bias=lambda tangent, y: expand(tangent, y.shape),
            input=lambda tangent, weight: mm(tangent, t(weight)),
            weight=lambda tangent, input: mm(input, t(tangent)))


@op(node="ViewBackward0")
def _linear_rows(bias: Array, input: Array, weight: Array) -> Any:
    rows = matrices.fold(input)
    check_addition(bias, rows, weight.T)
    return matrices.affine(rows, weight, bias).reshape(*input.shape[:-1], weight.shape[0])


_linear_rows.vjp(bias=lambda g: sum_rows(flat_rows(g)),
                 input=lambda g, weight, like: reshape(mm(flat_rows(g), conj(weight)), like.shape),
                 weight=lambda g, input: _transposed_mm(flat_rows(g), conj(flat_rows(input))))
_linear_rows.jvp(bias=lambda tangent, y: expand(tangent, y.shape),
                 input=lambda tangent, weight: matmul_any(tangent, t(weight)),
                 weight=lambda tangent, input: matmul_any(input, t(tangent)))


@_linear.batch
@_linear_rows.batch
def _(batch: Any, bias: Any, input: Any, weight: Any) -> Any:
    if batch["input"] or batch["weight"]:
        own = batch.but(input=batch["input"], weight=batch["weight"])
        y = _times_weight(own, input, weight)
    else:
        name = "_rows_times_matrix" if input.ndim > 1 else "_vecmat"
        y = repeated(batch.size, run(name, input, transpose(weight, 0, 1)))
    return y + aligned(batch, "bias", bias, inner_rank(y))


def matmul_any(rows: Any, matrix: Any) -> Any:
    return _rows_times_matrix(rows, matrix) if rows.ndim > 1 else _vecmat(rows, matrix)


@op(node="MmBackward0", saved={"weight": "mat2"}, steps={"weight": t})
def _linear_plain(input: Array, weight: Array) -> Any:
    if input.dtype is not weight.dtype or input.shape[1] != weight.shape[1] \
            or kind_of(input.dtype) == "b":
        check_mm(input, weight.T)
    return matrices.dot(input, weight.T)


_linear_plain.vjp(input=lambda g, weight: mm(g, conj(weight)),
                  weight=lambda g, input: _transposed_mm(g, conj(input)))
_linear_plain.jvp(input=lambda tangent, weight: mm(tangent, t(weight)),
                  weight=lambda tangent, input: mm(input, t(tangent)))


@_linear_plain.batch
def _times_weight(batch: Any, input: Any, weight: Any) -> Any:
    return _product(batch, input, transpose(weight, -2, -1))


@composite(function="nn.functional", out=Out())
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``, over the last dimension."""
    try:
        rank, rows = input._data.ndim, weight._data.shape
        bias_shape = None if bias is None else bias._data.shape
    except AttributeError:
        raise _linear_type_error(input, weight, bias) from None
    if len(rows) == 2 and rank:
        if bias is None:
            return _linear_plain(input, weight) if rank == 2 else matmul(input, t(weight))
        if bias_shape == rows[:1]:
            return _linear(bias, input, weight) if rank == 2 else _linear_rows(bias, input, weight)
    return _unusual_linear(input, weight, bias)


def _linear_type_error(*args: Any) -> TypeError:
    names = ("input", "weight", "bias")
    wrong = next(i for i, a in enumerate(args) if not isinstance(a, Tensor))
    return not_a_tensor("linear", names[wrong], wrong + 1, args[wrong])


def _unusual_linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """A weight that is no matrix, or a bias of another shape than one number per row of it."""
    if not input.ndim or not weight.ndim:
        raise RuntimeError("both arguments to linear need to be at least 1D, but they are "
                           f"{input.ndim}D and {weight.ndim}D")
    if bias is None:
        return matmul(input, t(weight))
    if input.ndim == 2:
        return addmm(bias, input, t(weight))
    return reshape(addmm(bias, flat_rows(input), t(weight)),
                   (*input.shape[:-1], weight.shape[0]))


# ---------------------------------------------------------------- products of three


@op(node="TrilinearBackward0")
def _bilinear(input1: Array, input2: Array, weight: Array) -> Any:
    unsupported("bmm", input1.dtype, "b")
    return matrices.bilinear(input1, input2, weight)


_bilinear.vjp(
    input1=lambda g, input2, weight: _bilinear(conj(input2), g, conj(_permute(weight, (1, 2, 0)))),
    input2=lambda g, input1, weight: _bilinear(g, conj(input1), conj(_permute(weight, (2, 0, 1)))),
    weight=lambda g, input1, input2, like: reshape(mm(t(g), _row_products(
        conj(input1), conj(input2))), like.shape))
_bilinear.jvp(input1=lambda tangent, input2, weight: _bilinear(tangent, input2, weight),
              input2=lambda tangent, input1, weight: _bilinear(input1, tangent, weight),
              weight=lambda tangent, input1, input2: _bilinear(input1, input2, tangent))


@_bilinear.batch
def _(batch: Any, input1: Any, input2: Any, weight: Any) -> Any:
    input1, input2 = all_batched(batch, input1=input1, input2=input2)
    if not batch["weight"]:
        return unfolded(batch, run("_bilinear", folded(input1), folded(input2), weight))
    along = _batched(unsqueeze(input1, 1), weight) * unsqueeze(input2, 1)
    return transpose(_sum_dims(along, (3,)), 1, 2)


def _row_products(left: Any, right: Any) -> Any:
    """For each row, all products of an element on the left and one on the right."""
    rows, m, n = left.shape[0], left.shape[1], right.shape[1]
    return reshape(reshape(left, (rows, m, 1)) * reshape(right, (rows, 1, n)), (rows, m * n))


@composite()
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input1 @ weight[k] @ input2`` for each k, plus ``bias``, over the last dimensions."""
    check_bilinear(input1, input2, weight)
    if bias is not None and length_of(bias.shape, 0) != weight.shape[0]:
        raise RuntimeError(f"bilinear(): bias size does not match weight size: got "
                           f"{bias.shape[0]} but expected {weight.shape[0]}")
    y = _bilinear(reshape(input1, (-1, input1.shape[-1])), reshape(input2, (-1, input2.shape[-1])),
                  weight)
    y = reshape(y, (*input1.shape[:-1], weight.shape[0]))
    return y if bias is None else y + bias
