"""Arithmetic and reductions of sparse tensors."""

from __future__ import annotations

from typing import Any

from ...backend import coordinates, xp
from ...base import dtypes, layouts
from ...base.errors import canonical_dim
from ...base.modes import switched
from ...core.op import PUBLIC
from ...core.tensor import Tensor, wrap
from .conversion import by_coordinates, coalesce, in_layout, like, to_dense, to_sparse
from .creation import LAYOUTS, build
from .parts import sparse_product, values_at
from .shapes import transpose
from .tensor import SparseTensor


def of_values(name: str) -> Any:
    """A function with f(0) = 0, of each value."""
    function = PUBLIC["torch"].get(name) or getattr(Tensor, name)

    def run(input: Any, *args: Any, **kwargs: Any) -> Tensor:
        source = coalesce(input) if input.is_sparse and name not in _LINEAR else input
        return like(source, function(source._graph_values(), *args, **kwargs))

    return run


_LINEAR = ("neg", "negative", "conj", "float", "double", "half", "bfloat16")


def cast(input: Any, *args: Any, **kwargs: Any) -> Tensor:
    values = input._graph_values()
    made = values.to(*args, **kwargs)
    return input if made is values else like(input, made)


def add(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
    if not isinstance(other, Tensor) or (input.is_sparse and not isinstance(other, SparseTensor)):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    if tuple(input.shape) != tuple(other.shape):
        raise RuntimeError(f"add: expected sizes of 'self' and 'other' to match, but "
                           f"{list(input.shape)} != {list(other.shape)}")
    if isinstance(input, SparseTensor) != isinstance(other, SparseTensor):
        sparse, strided = (input, other) if isinstance(input, SparseTensor) else (other, input)
        return to_dense(sparse) + strided * alpha if sparse is input else \
            strided + to_dense(sparse) * alpha
    first, second = by_coordinates(input), by_coordinates(other)
    kind = dtypes.promote_types(input.dtype, other.dtype)
    values = PUBLIC["torch"]["cat"]([first._graph_values().to(kind),
                                     second._graph_values().to(kind) * alpha])
    places = xp.concatenate([first._data.indices, second._data.indices], axis=1)
    return in_layout(build(values, places, input.shape, False), input._data.layout)


def subtract(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
    return add(input, other, alpha=-alpha)


def multiply(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """Elementwise products: places that both have."""
    if not isinstance(input, SparseTensor):
        input, other = other, input
    values = input._graph_values()
    if not isinstance(other, Tensor) or (other.ndim == 0 and not isinstance(other, SparseTensor)):
        return like(input, values * other)
    if isinstance(other, SparseTensor):
        other = to_dense(other)
    with switched(override=False):
        factor = values_at(other.expand(tuple(input.shape)), wrap(input._data.indices))
    return like(input, values * factor)


def divide(input: Any, other: Any, *, rounding_mode: Any = None, out: Any = None) -> Tensor:
    if not isinstance(input, SparseTensor) or (isinstance(other, Tensor) and other.ndim):
        raise RuntimeError("Sparse division requires a scalar or zero-dim dense tensor divisor "
                           f"(got shape {list(getattr(other, 'shape', []))} for divisor)")
    source = input if rounding_mode is None else coalesce(input)
    return like(source, source._graph_values().div(other, rounding_mode=rounding_mode))


def power(input: Any, exponent: Any, *, out: Any = None) -> Tensor:
    source = coalesce(input) if input.is_sparse else input
    return like(source, source._graph_values() ** exponent)


def product(input: Any, mat2: Any, *, out: Any = None) -> Tensor:
    """A matrix product of which one side, or both, are sparse."""
    if not isinstance(input, SparseTensor):
        _check_product(input, mat2)
        turned = product(transpose(mat2, 0, 1), input.reshape(1, -1).T if input.ndim == 1
                          else input.T)
        return turned[:, 0] if input.ndim == 1 else turned.T
    _check_product(input, mat2)
    both = isinstance(mat2, SparseTensor)
    other = to_dense(mat2) if both else mat2
    columns = other[:, None] if other.ndim == 1 else other
    with switched(override=False):
        found = sparse_product(input._graph_values(), columns.contiguous(),
                               wrap(input._data.indices), tuple(input.shape))
    if both:
        return in_layout(to_sparse(found), input._data.layout)
    return found[:, 0] if other.ndim == 1 else found  # type: ignore[no-any-return]


def reduced_product(input: Any, other: Tensor, reduce: str) -> Tensor:
    """For each element of a product of matrices the mean or an extreme of what is added up."""
    if reduce not in ("mean", "amax", "amin", "prod"):
        raise RuntimeError("reduce argument must be either sum, prod, mean, amax or amin, got "
                           f"{reduce}")
    _check_product(input, other)
    rows, columns = (wrap(row) for row in input._data.indices)
    products = input._graph_values()[:, None] * other[columns]
    start = products.new_zeros((input.shape[0], other.shape[1]))
    return start.scatter_reduce(0, rows[:, None].expand(products.shape), products, reduce,
                                include_self=False)


def _check_product(a: Any, b: Any) -> None:
    """Raise unless two tensors can be multiplied as matrices."""
    shapes = [list(t.shape) for t in (a, b)]
    for t in (a, b):
        if isinstance(t, SparseTensor) and (t.ndim != 2 or t.dense_dim()):
            raise RuntimeError(f"a sparse product takes matrices, not a sparse tensor of {t.ndim} "
                               f"dims, {t.dense_dim()} of them dense")
    if not (1 <= a.ndim <= 2 and 1 <= b.ndim <= 2):
        raise RuntimeError(f"a sparse product takes matrices and vectors: {shapes}")
    if a.shape[-1] != b.shape[0]:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied "
                           f"({'x'.join(map(str, shapes[0]))} and "
                           f"{'x'.join(map(str, shapes[1]))})")
    if a.dtype is not b.dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {a.dtype} != "
                           f"{b.dtype}")


def added_product(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1,
                   out: Any = None) -> Tensor:
    found = product(mat1, mat2) * alpha
    start = input * beta
    return start + found  # type: ignore[no-any-return]


def summed(input: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None,
         out: Any = None) -> Tensor:
    values = input._graph_values() if dtype is None else input._graph_values().to(dtype)
    if dim is None or dim == ():
        return values.sum()
    dims = [canonical_dim(d, input.ndim)
            for d in (dim if isinstance(dim, (tuple, list)) else [dim])]
    count = input.sparse_dim()
    dense = [d - count + 1 for d in dims if d >= count]
    if dense:
        values = values.sum(dense, keepdim=keepdim)
    kept = [d for d in range(count) if d not in dims]
    if not kept and not keepdim:
        return values.sum(0)
    size = [1 if d in dims else n for d, n in enumerate(input.shape) if keepdim or d not in dims]
    places = input._data.indices
    places = xp.stack([xp.zeros_like(row) if d in dims else row for d, row in enumerate(places)]) \
        if keepdim else places[kept]
    found = coalesce(build(values, places, size, False))
    return found if input.is_sparse else in_layout(found, input._data.layout) \
        if found.ndim == 2 else to_dense(found)


def norm(input: Any, p: Any = "fro", *args: Any, **kwargs: Any) -> Tensor:
    if args or kwargs.get("dim") is not None:
        raise NotImplementedError("the norm of a sparse tensor is taken of all its elements")
    return coalesce(by_coordinates(input))._graph_values().norm(p)


def softmax(name: str) -> Any:
    def run(input: Any, dim: int, *, dtype: Any = None, _stacklevel: int = 3) -> Tensor:
        """Along a dim, of the elements that are there; the others count as minus infinity."""
        source: Any = coalesce(by_coordinates(input if dtype is None else cast(input, dtype)))
        if source.dense_dim():
            raise NotImplementedError(f"sparse.{name} of tensors with dense dims does not exist "
                                      "here")
        places = source._data.indices
        kept = [d for d in range(len(places)) if d != canonical_dim(dim, input.ndim)]
        numbers, count = coordinates.same_groups(places[kept], tuple(input.shape[d] for d in kept))
        owner, values = wrap(numbers), source._graph_values()
        top = values.detach().new_full((count,), float("-inf")).scatter_reduce(
            0, owner, values.detach(), "amax")
        shifted = values - top[owner]
        total = values.new_zeros(count).index_add(0, owner, shifted.exp())[owner]
        found = shifted.exp() / total if name == "softmax" else shifted - total.log()
        return like(source, found)

    return run


def sampled_product(input: Any, mat1: Tensor, mat2: Tensor, beta: Any, alpha: Any) -> Tensor:
    """A product of strided matrices, in the places of a sparse tensor alone."""
    rows, columns = (wrap(row) for row in input._data.indices)
    products = (mat1[rows] * mat2.T[columns]).sum(1)
    return like(input, input._graph_values() * beta + products * alpha)


def of_diagonals(diagonals: Tensor, offsets: Tensor, shape: Any, layout: Any) -> Tensor:
    """A sparse matrix of diagonals, each with as many of its numbers as have a place."""
    values = diagonals[None] if diagonals.ndim == 1 else diagonals
    row, column = (part.reshape(-1) for part in xp.broadcast_arrays(
        xp.as_array(offsets._data).reshape(-1, 1), xp.arange(values.shape[1])))
    places = xp.stack([column - row, column])
    (held,) = xp.nonzero((places[0] >= 0) & (places[0] < shape[0]) & (column < shape[1]))
    made = build(values.reshape(-1)[wrap(held)], places[:, held], shape, False)
    return in_layout(made, LAYOUTS[layout or layouts.sparse_coo])


def gradcheck_by_values(gradcheck: Any) -> Any:
    """``gradcheck`` of functions of sparse tensors, as functions of their values."""

    def check(func: Any, inputs: Any, **options: Any) -> Any:
        options.pop("masked", None)
        given = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
        flat = [t._data.values if isinstance(t, SparseTensor) else t for t in given]
        strided = tuple(wrap(f).requires_grad_(t.requires_grad) if isinstance(t, SparseTensor)
                        else t for f, t in zip(flat, given, strict=True))

        def of_values(*values: Any) -> Any:
            found = func(*[like(t, v) if isinstance(t, SparseTensor) else v
                           for t, v in zip(given, values, strict=True)])
            return to_dense(found) if isinstance(found, SparseTensor) else found

        return gradcheck(of_values, strided, **options)

    return check
