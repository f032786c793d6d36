"""What the ops on matrices share: checks, and shapes that meet matrices."""

from __future__ import annotations

from typing import Any

from ...backend import matrices, xp
from ...backend.interface import kind_of
from ...base import dtypes
from ...base.errors import no_kernel
from ...core.op import Index, op
from ..batching import repeated, run
from ..checks.common import scalar_type
from ..shapes.reshaping import reshape


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
    if numbers == "kernel" and (kind_of(input.dtype) in "biu"
                                or matrices.is_low_precision(input.dtype)):
        raise no_kernel(kernel, dtypes.from_numpy_dtype(input.dtype))
    if kind_of(input.dtype) in "biu":
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got "
                           f"{scalar_type(input)}")
    if matrices.is_low_precision(input.dtype) and numbers == "precise":
        if kernel:
            raise no_kernel(kernel, dtypes.from_numpy_dtype(input.dtype))
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got "
                           f"{scalar_type(input)}")


def columns_of(values: Any) -> Any:
    """A number per matrix column, shaped to multiply columns."""
    return reshape(values, (*values.shape[:-1], 1, values.shape[-1]))


def rows_of(values: Any) -> Any:
    """A number per matrix row, shaped to multiply rows."""
    return reshape(values, (*values.shape, 1))


def per_matrix(values: Any) -> Any:
    """A number per matrix, shaped to multiply it."""
    return reshape(values, (*values.shape, 1, 1))


@op(batches=lambda batch, input: repeated(batch.size, run("_identity", input)))
def _identity(input: Index) -> Any:
    """The identity matrix of ``input``'s last dimension and dtype."""
    return xp.eye(input.shape[-1], dtype=input.dtype)
