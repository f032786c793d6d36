"""What products refuse, and in which words."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from ...base.errors import length_of, no_dims
from ...core.tensor import Tensor
from ..shapes.expanding import _check_expand, joint_shape
from .common import c_name, scalar_type, unsupported


def sizes_text(shape: Any) -> str:
    return "x".join(map(str, shape))


def check_mm(input: Any, mat2: Any) -> None:
    if input.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    if input.shape[1] != mat2.shape[0]:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied "
                           f"({sizes_text(input.shape)} and {sizes_text(mat2.shape)})")
    if input.dtype != mat2.dtype:
        raise RuntimeError("expected m1 and m2 to have the same dtype, but got: "
                           f"{c_name(input)} != {c_name(mat2)}")
    unsupported("addmm_impl_cpu_", input.dtype, "b")


def check_expanded(input: Any, shape: tuple[int, ...]) -> None:
    if input.shape != shape:
        _check_expand(input, shape)


def check_mv(input: Any, vec: Any) -> None:
    if not input.ndim:
        raise no_dims(0)
    if input.ndim != 2 or vec.ndim != 1:
        raise RuntimeError("vector + matrix @ vector expected, got "
                           f"1, {input.ndim}, {vec.ndim}")
    if input.dtype != vec.dtype:
        raise RuntimeError("addmv input tensors must have the same dtype, but got "
                           f"{scalar_type(vec)}, {scalar_type(input)}, and {scalar_type(vec)}")
    if input.shape[1] != vec.shape[0]:
        raise mv_mismatch(input.shape, vec)
    unsupported("addmv_impl_cpu", input.dtype, "b")


def mv_mismatch(shape: tuple[int, ...], vec: Any) -> RuntimeError:
    return RuntimeError(f"size mismatch, got input ({shape[0]}), mat ({sizes_text(shape)}), vec "
                        f"({vec.shape[0]})")


def check_dot(input: Any, other: Any, name: str = "dot") -> None:
    if input.ndim != 1 or other.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {input.ndim}D and {other.ndim}D tensors")
    if input.dtype != other.dtype:
        raise RuntimeError("dot : expected both vectors to have same dtype, but found "
                           f"{scalar_type(input)} and {scalar_type(other)}")
    if input.shape != other.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{input.shape[0]}] and src "
            f"[{other.shape[0]}] to have the same number of elements, but got {input.shape[0]} "
            f"and {other.shape[0]} elements respectively")
    unsupported(name, input.dtype, "b")


def check_bmm(input: Any, mat2: Any) -> None:
    if input.ndim != 3:
        raise RuntimeError("batch1 must be a 3D tensor")
    if mat2.ndim != 3:
        raise RuntimeError("batch2 must be a 3D tensor")
    expected = [input.shape[0], input.shape[2]]
    if list(mat2.shape[:2]) != expected:
        raise RuntimeError("Expected size for first two dimensions of batch2 tensor to be: "
                           f"{expected} but got: {list(mat2.shape[:2])}.")
    check_same_type(input, mat2)
    unsupported("bmm", input.dtype, "b")


_INNER_RANKS = {"mm": (2, 2), "bmm": (3, 3), "mv": (2, 1)}
_ADDED_PRODUCTS = {"addmm": "mm", "addmv": "mv", "baddbmm": "bmm", "addbmm": "bmm"}


def check_inner_ranks(batch: Any, a: Any, b: Any) -> None:
    """What a product refuses inside vmap: values of other ranks than it is for."""
    name = _ADDED_PRODUCTS.get(batch.name, batch.name)
    before = name is not batch.name  # the tensor that the product is added to
    left, right = list(batch.flags.values())[before:before + 2]
    given = a.ndim - bool(left), b.ndim - bool(right)
    wanted = _INNER_RANKS.get(name, (1, 1))
    if given == wanted:
        return
    if wanted == (1, 1):
        raise RuntimeError("Got wrong shapes for dot")
    raise RuntimeError(f"Shape mismatch: Got incorrect dims for {name}(a, b). a has dim {given[0]}"
                       f"and b has dim {given[1]}but expected them to have dim {wanted[0]} and "
                       f"dim {wanted[1]}")


def check_same_type(input: Any, other: Any) -> None:
    if input.dtype != other.dtype:
        raise RuntimeError(f"expected scalar type {scalar_type(input)} but found "
                           f"{scalar_type(other)}")


def check_batched(input: Any, other: Any) -> None:
    left, right = input.shape[:-2], other.shape[:-2]
    batch = left if left == right else joint_shape(left, right)
    if input.shape[-1] != other.shape[-2]:
        count = math.prod(batch)
        raise RuntimeError("Expected size for first two dimensions of batch2 tensor to be: "
                           f"[{count}, {input.shape[-1]}] but got: [{count}, {other.shape[-2]}].")
    check_same_type(input, other)
    unsupported("bmm", input.dtype, "b")


def check_addition(input: Any, mat1: Any, mat2: Any) -> None:
    if mat1.ndim != 2:
        raise RuntimeError(f"mat1 must be a matrix, got {mat1.ndim}-D tensor")
    if mat2.ndim != 2:
        raise RuntimeError(f"mat2 must be a matrix, got {mat2.ndim}-D tensor")
    if mat1.shape[1] != mat2.shape[0]:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied "
                           f"({sizes_text(mat1.shape)} and {sizes_text(mat2.shape)})")
    check_expanded(input, (mat1.shape[0], mat2.shape[1]))
    if input.dtype != mat2.dtype:
        raise RuntimeError("self and mat2 must have the same dtype, but got "
                           f"{scalar_type(input)} and {scalar_type(mat2)}")
    if mat1.dtype != mat2.dtype:
        raise RuntimeError("mat1 and mat2 must have the same dtype, but got "
                           f"{scalar_type(mat1)} and {scalar_type(mat2)}")
    unsupported("addmm_impl_cpu_", mat1.dtype, "b")


def check_addmv(input: Any, mat: Any, vec: Any) -> None:
    if mat.ndim != 2 or vec.ndim != 1 or input.ndim > 1:
        raise RuntimeError("vector + matrix @ vector expected, got "
                           f"{input.ndim}, {mat.ndim}, {vec.ndim}")
    if mat.shape[1] != vec.shape[0] or input.size not in (1, mat.shape[0]):
        raise RuntimeError(f"size mismatch, got input ({input.size}), mat "
                           f"({sizes_text(mat.shape)}), vec ({vec.shape[0]})")
    if not input.dtype == mat.dtype == vec.dtype:
        raise RuntimeError("addmv input tensors must have the same dtype, but got "
                           f"{scalar_type(input)}, {scalar_type(mat)}, and {scalar_type(vec)}")
    unsupported("addmv_impl_cpu", mat.dtype, "b")


def check_vectors(input: Any, vec1: Any, vec2: Any) -> None:
    check_vector("vec1", vec1.ndim)
    check_vector("vec2", vec2.ndim)
    check_expanded(input, (vec1.shape[0], vec2.shape[0]))


def check_vector(name: str, rank: int) -> None:
    if rank != 1:
        raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {rank}-D")


def check_batches(input: Any, batch1: Any, batch2: Any, summed: bool) -> None:
    if batch1.ndim < 2 or batch2.ndim < 3:
        for batch, dim in ((batch1, 0), (batch1, 1), (batch2, 2)):
            length_of(batch.shape, dim)  # words the refusal
    shape = (batch1.shape[1], batch2.shape[2])
    check_expanded(input, shape if summed else (batch1.shape[0], *shape))
    check_bmm(batch1, batch2)
    check_same_type(input, batch1)


def expect_vectors(**vectors: Tensor) -> None:
    for name, vector in vectors.items():
        if vector.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {vector.ndim}-D")


def check_chain(tensors: list[Any]) -> None:
    for i, tensor in enumerate(tensors[1:-1], 1):
        if tensor.ndim != 2:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {tensor.ndim}D")
    for i, (a, b) in enumerate(pairwise(tensors)):
        if a.shape[-1] != b.shape[0]:
            raise RuntimeError(f"multi_dot(): tensors {i} and {i + 1} with shapes {list(a.shape)} "
                               f"and {list(b.shape)} cannot be multiplied")


def check_bilinear(input1: Tensor, input2: Tensor, weight: Tensor) -> None:
    if input1.ndim != input2.ndim:
        raise RuntimeError("bilinear(): input dimensions do not match: got "
                           f"{input1.ndim} and {input2.ndim}")
    for i, (m, n) in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=True)):
        if m != n:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {i}: got "
                               f"{m} and {n}")
    for i, tensor in enumerate((input1, input2), 1):
        wanted, given = length_of(weight.shape, i), length_of(tensor.shape, -1)
        if given != wanted:
            raise RuntimeError(f"bilinear(): input{i} size does not match weight size: got "
                               f"{given} but expected {wanted}")
