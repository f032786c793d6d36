"""What public functions do with sparse tensors."""

from __future__ import annotations

from typing import Any

from ...base import layouts
from ...core.op import PUBLIC
from ...core.tensor import Tensor
from .arithmetic import (
    add,
    added_product,
    cast,
    divide,
    multiply,
    norm,
    of_values,
    power,
    product,
    softmax,
    subtract,
    summed,
)
from .conversion import (
    by_coordinates,
    coalesce,
    sparse_mask,
    to_dense,
    to_sparse,
    to_sparse_coo,
    to_sparse_csc,
    to_sparse_csr,
)
from .creation import build, finished
from .products import hspmm, smm, sspaddmm
from .shapes import item, joined, permuted, selected, transpose, turned
from .tensor import FUNCTIONS, SparseTensor


def _add_in_place(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    if isinstance(input, SparseTensor):
        return _replaced(input, add(input, other, alpha=alpha))
    source = by_coordinates(other)
    values = source._graph_values().to(input.dtype)
    return input.index_put_(tuple(source._indices()), values if alpha == 1 else values * alpha,
                            accumulate=True)


def _replaced(input: Any, made: Tensor) -> Tensor:
    if input.requires_grad and input.grad_fn is None and Tensor.is_leaf.fget(input):  # type: ignore[attr-defined]
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place "
                           "operation.")
    input._replace_data(made._data)
    input._edge = made._edge
    input._bump_version()
    return input  # type: ignore[no-any-return]


def _in_place(function: Any) -> Any:
    return lambda input, *args, **kwargs: _replaced(input, function(input, *args, **kwargs))


def _zero(input: Any) -> Tensor:
    empty = build(input._graph_values()[:0].detach(), input._data.indices[:, :0], input.shape, True,
                  input._data.layout)
    return _replaced(input, empty)


def _like_it(name: str) -> Any:
    def run(input: Any, **kwargs: Any) -> Tensor:
        if kwargs.get("layout") is layouts.strided:
            return PUBLIC["torch"][name.removesuffix("_like")](tuple(input.shape), **{
                "dtype": input.dtype, **kwargs})
        empty = input._graph_values()[:0].detach()
        kind = kwargs.get("dtype")
        return finished(build(empty if kind is None else empty.to(kind),
                               input._data.indices[:, :0], input.shape, True, input._data.layout),
                         kwargs.get("requires_grad", False))

    return run


def _clone(input: Any, *, memory_format: Any = None) -> Tensor:
    data = input._data
    return build(input._graph_values().clone(), data.indices.copy(), input.shape,
                 data.is_coalesced, data.layout)


def _is_same(test: str) -> Any:
    def run(input: Any, other: Any, *args: Any, **kwargs: Any) -> Any:
        return PUBLIC["torch"][test](*(to_dense(t) if isinstance(t, SparseTensor) else t
                                       for t in (input, other)), *args, **kwargs)

    return run


_OF_VALUES = (
    "neg negative abs absolute sqrt sin sinh tan tanh asin arcsin asinh arcsinh atan arctan atanh "
    "arctanh expm1 log1p sign sgn floor ceil round trunc frac relu erf erfinv square deg2rad "
    "rad2deg conj conj_physical isnan isinf isposinf isneginf signbit positive nan_to_num")
FUNCTIONS.update({
    **{name: of_values(name) for name in _OF_VALUES.split()},
    **{f"{name}_": _in_place(of_values(name)) for name in _OF_VALUES.split()},
    **{name: of_values(name) for name in ("float", "double", "half", "bfloat16", "int", "long")},
    "to": cast, "type_as": lambda input, other: cast(input, other.dtype),
    "permute": permuted,
    "add": add, "__add__": add, "__radd__": add, "sub": subtract, "subtract": subtract,
    "__sub__": subtract, "__rsub__": lambda input, other: subtract(other, input),
    "mul": multiply, "multiply": multiply, "__mul__": multiply, "__rmul__": multiply,
    "div": divide, "divide": divide, "true_divide": divide, "__truediv__": divide,
    "pow": power, "__pow__": power, "__neg__": of_values("neg"),
    "mm": product, "matmul": product, "__matmul__": product, "mv": product, "dot": product,
    "__rmatmul__": lambda input, other: product(other, input),
    "addmm": added_product,
    "sum": summed, "norm": norm, "softmax": softmax("softmax"),
    "log_softmax": softmax("log_softmax"),
    "transpose": transpose, "swapaxes": transpose, "swapdims": transpose, "t": turned,
    "cat": joined, "index_select": selected, "__getitem__": item,
    "select": lambda input, dim, index: item(input if dim == 0 else transpose(input, 0, dim),
                                              index),
    "add_": _add_in_place, "__iadd__": _add_in_place,
    "sub_": lambda input, other, *, alpha=1: _add_in_place(input, other, alpha=-alpha),
    "mul_": _in_place(multiply), "__imul__": _in_place(multiply),
    "div_": _in_place(divide), "__itruediv__": _in_place(divide),
    "zero_": _zero, "zeros_like": _like_it("zeros_like"), "empty_like": _like_it("empty_like"),
    "clone": _clone, "equal": _is_same("equal"), "allclose": _is_same("allclose"),
    "copy_": lambda input, src, non_blocking=False: _replaced(input, src),
    "is_same_size": lambda input, other: tuple(input.shape) == tuple(other.shape),
    **{f.__name__: f.unguarded for f in (to_sparse, to_sparse_coo, to_sparse_csr, to_sparse_csc,  # type: ignore[attr-defined]
                                         to_dense, coalesce, sparse_mask, hspmm, smm,
                                         sspaddmm)}})
