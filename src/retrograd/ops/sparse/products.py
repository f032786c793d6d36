"""Products of a sparse and a dense matrix whose result is sparse, and PyTorch's older names."""

from __future__ import annotations

from typing import Any

from ...backend import xp
from ...core.op import PUBLIC, Number, public, publish
from ...core.tensor import Tensor, wrap
from .arithmetic import add, multiply, product
from .creation import build
from .tensor import SparseTensor


def _rows_of_product(name: str, sparse: Any, dense: Tensor) -> tuple[Tensor, Any, Any]:
    """The rows that are not zero, their places, and the shape of the product."""
    if sparse.shape[1] != dense.shape[0]:
        raise RuntimeError(f"{name}: Argument #3: Expected dim 0 size {sparse.shape[1]}, got "
                           f"{dense.shape[0]}")
    rows = xp.unique(sparse._data.indices[0])
    found = product(sparse, dense)
    return found[wrap(rows)], rows, tuple(found.shape)


@public("hspmm", method=False)
def hspmm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """The product of a sparse and a dense matrix, sparse in its rows alone."""
    if not mat1.is_sparse:
        raise NotImplementedError("Could not run 'aten::hspmm' with arguments from the "
                                  f"'{'' if mat1.layout.name == 'strided' else 'SparseCsr'}CPU' "
                                  "backend.")
    values, rows, shape = _rows_of_product("hspmm", mat1, mat2)
    return build(values, rows[None], shape, True)


@public("smm")
def smm(input: Tensor, mat: Tensor) -> Tensor:
    """The product of a sparse and a dense matrix, as a sparse one."""
    if not input.is_sparse:
        raise RuntimeError("tensor.sspaddmm(...) can only be called on sparse tensors")
    values, rows, shape = _rows_of_product("sspaddmm", input, mat)
    places = xp.stack([xp.repeat(rows, shape[1]), xp.arange(len(rows) * shape[1]) % shape[1]])
    return build(values.reshape(-1), places, shape, True)


@public("sspaddmm")
def sspaddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1,
             alpha: Number = 1) -> Tensor:
    """A sparse matrix times ``beta``, and a product as of :func:`smm` times ``alpha``."""
    if not isinstance(input, SparseTensor):
        raise RuntimeError("tensor.sspaddmm(...) can only be called on sparse tensors")
    return add(multiply(input, beta), multiply(smm(mat1, mat2), alpha))


for _name, _made in {"spmm": PUBLIC["torch"]["mm"], "dsmm": PUBLIC["torch"]["mm"], "hsmm": hspmm,
                     "saddmm": sspaddmm}.items():
    publish(_made, _name, method=False)
