"""Functions of sparse tensors."""

from __future__ import annotations

from typing import Any

from ..base.missing_names import suggest_names as _suggest_names
from ..core.tensor import Tensor
from ..ops.sparse import (
    arithmetic as _arithmetic,
    functions as _functions,  # noqa: F401 - which fills the table
)
from ..ops.sparse.tensor import FUNCTIONS as _FUNCTIONS

__all__ = ["addmm", "as_sparse_gradcheck", "check_sparse_tensor_invariants", "log_softmax", "mm",
           "sampled_addmm", "softmax", "spdiags", "sum"]


def mm(sparse: Tensor, dense: Tensor, reduce: str | None = None) -> Tensor:
    """The product of a sparse matrix and a strided or a sparse one.

    ``reduce`` says what is done with the products of a row: sum, mean, amax or amin.
    """
    if reduce not in (None, "sum"):
        return _arithmetic.reduced_product(sparse, dense, reduce)
    return _FUNCTIONS["mm"](sparse, dense)  # type: ignore[no-any-return]


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0) -> Tensor:
    """``beta * mat + alpha * (mat1 @ mat2)``, where ``mat1`` is sparse."""
    return _FUNCTIONS["addmm"](mat, mat1, mat2, beta=beta, alpha=alpha)  # type: ignore[no-any-return]


def sampled_addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0,
                  out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)`` in the places of a sparse ``input`` alone."""
    return _arithmetic.sampled_product(input, mat1, mat2, beta, alpha)


def sum(input: Tensor, dim: Any = None, dtype: Any = None) -> Tensor:
    """The sum of a sparse tensor, along dims or of all it has."""
    return _FUNCTIONS["sum"](input, dim, dtype=dtype)  # type: ignore[no-any-return]


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The softmax along a dim of the elements that are there."""
    return _FUNCTIONS["softmax"](input, dim, dtype=dtype)  # type: ignore[no-any-return]


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The logarithm of the softmax along a dim of the elements that are there."""
    return _FUNCTIONS["log_softmax"](input, dim, dtype=dtype)  # type: ignore[no-any-return]


def spdiags(diagonals: Tensor, offsets: Tensor, shape: Any, layout: Any = None) -> Tensor:
    """A sparse matrix of given diagonals, a row for each offset."""
    return _arithmetic.of_diagonals(diagonals, offsets, shape, layout)


class check_sparse_tensor_invariants:
    """Places are always checked here; the switch exists for programs that set it."""

    @staticmethod
    def is_enabled() -> bool:
        return True

    @staticmethod
    def enable() -> None:
        """Nothing: they are checked."""

    @staticmethod
    def disable() -> None:
        """Nothing: they are checked all the same."""

    def __init__(self, enable: bool = True) -> None:
        self.state = enable

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        pass

    def __call__(self, function: Any) -> Any:
        return function


def as_sparse_gradcheck(gradcheck: Any) -> Any:
    """A gradcheck that takes functions of sparse tensors: by way of their values."""
    return _arithmetic.gradcheck_by_values(gradcheck)


_suggest_names(__name__)
