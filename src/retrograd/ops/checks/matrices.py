"""What functions of factored matrices refuse."""

from __future__ import annotations

from typing import Any

from ...backend import xp
from ...backend.interface import kind_of
from ...backend.plain.precision import is_half
from ...base import dtypes
from ...base.errors import dim_out_of_range, no_dims, no_kernel
from .common import scalar_type


def _refuse_kernel(kernel: str, matrix: Any) -> None:
    """Raise for integers and halves, which PyTorch has no such kernel for."""
    if kind_of(matrix.dtype) in "biu" or is_half(matrix.dtype):
        raise no_kernel(kernel, dtypes.from_numpy_dtype(matrix.dtype))


def check_matrices(name: str, input: Any, square: bool = True, kernel: str = "",
                   numbers: str = "precise") -> None:
    """Refuse what is no batch of (square) matrices of a precise floating dtype.

    ``numbers`` may also be "floating" or "any"; ``kernel`` names what PyTorch lacks for others,
    for integers only if ``numbers`` is "kernel".
    """
    if input.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if square and input.shape[-1] != input.shape[-2]:
        raise RuntimeError(f"{name}: A must be batches of square matrices, but they are "
                           f"{input.shape[-2]} by {input.shape[-1]} matrices")
    if numbers == "any":
        return
    if numbers == "kernel":
        _refuse_kernel(kernel, input)
    if kind_of(input.dtype) in "biu":
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got "
                           f"{scalar_type(input)}")
    if is_half(input.dtype) and numbers == "precise":
        if kernel:
            raise no_kernel(kernel, dtypes.from_numpy_dtype(input.dtype))
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got "
                           f"{scalar_type(input)}")


def check_factorable(name: str, A: Any) -> None:
    """Of LU factors."""
    if A.ndim < 2:
        raise RuntimeError(f"{name}: Expected tensor with 2 or more dimensions. Got size: "
                           f"{list(A.shape)} instead")
    _refuse_kernel("lu_cpu", A)


def check_pivoted(pivot: bool) -> None:
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


def check_packed(LU: Any, pivots: Any, order: bool) -> None:
    """Of what ``lu_unpack`` takes apart."""
    if not LU.ndim:
        raise no_dims(-1)
    if LU.ndim < 2:
        raise RuntimeError("torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: "
                           f"{list(LU.shape)} instead")
    if not order:
        return
    if pivots.dtype != xp.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 "
            "dtype.\nNote: this function is intended to be used with the output produced by "
            "torch.linalg.lu_factor")
    if tuple(pivots.shape) != (*LU.shape[:-2], min(LU.shape[-2:])) or (
            pivots.size and not 1 <= pivots.min() <= pivots.max() <= LU.shape[-2]):
        raise RuntimeError("pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
                           "Did you properly pass the result of lu_factor?")


def check_lu_system(LU: Any, pivots: Any, B: Any, left: bool) -> None:
    """Of what ``lu_solve`` solves."""
    check_matrices("torch.linalg.lu_solve", LU, numbers="floating")
    name = "linalg.lu_solve"
    if pivots.dtype != xp.int32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    if B.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions.")
    if LU.dtype != B.dtype:
        raise RuntimeError(f"{name}: Expected LU and B to have the same dtype, but found LU of "
                           f"type {scalar_type(LU)} and B of type {scalar_type(B)} instead")
    if LU.shape[-1] != B.shape[-2 if left else -1]:
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'} ({LU.shape[-2]}x{LU.shape[-1]} and "
            f"{B.shape[-2]}x{B.shape[-1]})")
    if not pivots.ndim or pivots.shape[-1] != LU.shape[-1]:
        raise RuntimeError(f"{name}: Number of pivots per batch should be same as the dimension of "
                           "the matrix")
    _check_pivots_of(name, "LU", LU, pivots)
    _refuse_kernel("linalg.lu_solve_cpu", LU)


def _check_pivots_of(name: str, factor: str, matrix: Any, pivots: Any) -> None:
    if tuple(pivots.shape) != tuple(matrix.shape[:-1]):
        raise RuntimeError(f"{name}: Expected {factor}.shape[:-1] and pivots.shape to be the same, "
                           f"but got pivots with shape {list(pivots.shape)} instead")


def check_swaps(pivots: Any, rows: int) -> None:
    """Of the rows that an LU factorisation swapped."""
    if not pivots.size:
        return
    for bad, bound in ((pivots.min() < 1, "greater or equal to 1"),
                       (pivots.max() > rows, "smaller or equal to LU.size(-2)")):
        if bad:
            raise RuntimeError(f"Pivots given to lu_solve must all be {bound}. Did you properly "
                               "pass the result of lu_factor?")


def check_block_swaps(pivots: Any, rows: int) -> None:
    """Of the rows that an LDL factorisation swapped."""
    for bad, bound in ((pivots == 0, ">= 1"), (xp.absolute(pivots) > rows, "<= LD.size(-2)")):
        if bad.any():
            raise RuntimeError(f"Pivots given to ldl_solve must all satisfy |pivot| {bound}. Did "
                               "you properly pass the result of ldl_factor?")


def check_symmetric(A: Any) -> None:
    """Of LDL factors."""
    check_matrices("torch.linalg.ldl_factor_ex", A, numbers="floating")
    _refuse_kernel("ldl_factor_kernel_cpu", A)


def check_ldl_system(LD: Any, pivots: Any, B: Any) -> None:
    """Of what ``ldl_solve`` solves."""
    name = "torch.linalg.ldl_solve"
    check_matrices(name, LD, numbers="floating")
    if B.ndim < 2:
        raise dim_out_of_range(-2, B.ndim)
    _check_pivots_of(name, "LD", LD, pivots)
    if kind_of(pivots.dtype) not in "iu":
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {scalar_type(pivots)}")
    check_sizes(name, LD, B)
    _refuse_kernel("ldl_solve_kernel_cpu", LD)


def check_sizes(name: str, A: Any, b: Any) -> None:
    """Of matrices and right-hand sides."""
    if A.dtype != b.dtype:
        raise RuntimeError("Expected b and A to have the same dtype, but found b of type "
                           f"{scalar_type(b)} and A of type {scalar_type(A)} instead.")
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError("A must be batches of square matrices, but they are "
                           f"{A.shape[-2]} by {A.shape[-1]} matrices")
    if A.shape[-1] != b.shape[-2]:
        raise RuntimeError(f"Incompatible matrix sizes for {name}: each A matrix is {A.shape[-1]} "
                           f"by {A.shape[-1]} but each b matrix is {b.shape[-2]} by {b.shape[-1]}")


def check_old_triangle(b: Any, A: Any) -> None:
    """Of ``torch.triangular_solve``."""
    for name, matrix in (("b", b), ("A", A)):
        if matrix.ndim < 2:
            raise RuntimeError(f"torch.triangular_solve: Expected {name} to have at least 2 "
                               f"dimensions, but it has {matrix.ndim} dimensions instead")
    check_sizes("triangular_solve", A, b)
    _refuse_kernel("triangular_solve_cpu", A)


# ---------------------------------------------------------------- reflections


def check_geqrf(A: Any) -> None:
    if A.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    _refuse_kernel("geqrf_cpu", A)


def _check_batch(name: str, what: str, found: Any, wanted: Any) -> None:
    if tuple(found) != tuple(wanted):
        raise RuntimeError(f"{name}: Expected batch dimensions of {what} to be equal to "
                           f"input.shape[:-2], but got {list(found)}")


def _check_factors(name: str, A: Any, tau: Any) -> None:
    if A.ndim - tau.ndim != 1:
        raise RuntimeError(f"{name}: Expected tau to have one dimension less than input, but got "
                           f"tau.ndim equal to {tau.ndim} and input.ndim is equal to {A.ndim}")
    _check_batch(name, "tau", tau.shape[:-1], A.shape[:-2])


def check_reflections(A: Any, tau: Any) -> None:
    """Of ``householder_product``."""
    name = "torch.linalg.householder_product"
    if A.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if A.shape[-2] < A.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to "
                           "input.shape[-1]")
    if tau.ndim and A.shape[-1] < tau.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to "
                           "tau.shape[-1]")
    _check_factors(name, A, tau)
    if A.dtype != tau.dtype:
        raise RuntimeError(f"{name}: tau dtype {scalar_type(tau)} does not match input dtype "
                           f"{scalar_type(A)}")
    _refuse_kernel("orgqr_cpu", A)


def check_ormqr(A: Any, tau: Any, other: Any, left: bool) -> None:
    name = "torch.ormqr"
    for what, matrix in (("input", A), ("other", other)):
        if matrix.ndim < 2:
            raise RuntimeError(f"{name}: {what} must have at least 2 dimensions.")
    side = -2 if left else -1
    # Which of the two is asked first follows from the side that is multiplied.
    if left and other.shape[side] < (tau.shape[-1] if tau.ndim else 1):
        raise RuntimeError(f"{name}: other.shape[{side}] must be greater than or equal to "
                           "tau.shape[-1]")
    if other.shape[side] != A.shape[-2]:
        raise RuntimeError(f"{name}: other.shape[{side}] must be equal to input.shape[-2]")
    if tau.ndim and tau.shape[-1] != min(A.shape[-2:]):
        raise RuntimeError(f"{name}: tau.shape[-1] must be equal to min(other.shape[-2], "
                           "input.shape[-1])")
    _check_factors(name, A, tau)
    if A.ndim != other.ndim:
        raise RuntimeError(f"{name}: Expected other to have the same number of dimensions as "
                           f"input, but got other.ndim equal to {other.ndim} and input.ndim is "
                           f"equal to {A.ndim}")
    _check_batch(name, "other", other.shape[:-2], A.shape[:-2])
    for what, matrix in (("tau", tau), ("other", other)):
        if A.dtype != matrix.dtype:
            raise RuntimeError(f"{name}: Expected input and {what} to have the same dtype, but "
                               f"input has dtype{scalar_type(A)} and {what} has dtype "
                               f"{scalar_type(matrix)}")
    _refuse_kernel("ormqr_cpu", A)
