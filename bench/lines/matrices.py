"""Linear algebra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..declaring import Step, line, precise, taken


def matrices(name: str, size: int, call: Callable[..., Any], dtype: str = "float64") -> None:
    """A line for ``call(lib, A, L, b)``, forward and backward: A = L @ L.mH, b one column."""

    @line(f"linalg: {name}")
    def make(lib: Any) -> Step:
        lib.manual_seed(0)
        kind = precise(lib, dtype)
        factor = lib.tril(lib.randn(size, size, dtype=kind)) / size + lib.eye(size, dtype=kind)
        tensors = [t.requires_grad_() for t in (factor @ factor.mH, factor,
                                                lib.randn(size, 1, dtype=kind))]
        gradient = lib.ones_like(call(lib, *tensors).detach())

        def step() -> Any:
            call(lib, *tensors).backward(gradient)
            return taken(*(t for t in tensors if t.grad is not None))

        return step


for _dtype in ("float64", "float32"):
    matrices(f"cholesky 500 {_dtype}", 500, lambda lib, A, L, b: lib.linalg.cholesky(A), _dtype)
    matrices(f"solve_triangular 500 {_dtype}", 500,
             lambda lib, A, L, b: lib.linalg.solve_triangular(L, b, upper=False), _dtype)
    matrices(f"cholesky_solve 500 {_dtype}", 500,
             lambda lib, A, L, b: lib.cholesky_solve(b, L.tril()), _dtype)
    matrices(f"svd 200 {_dtype}", 200, lambda lib, A, L, b: lib.linalg.svd(A)[1], _dtype)
    matrices(f"eigh 200 {_dtype}", 200, lambda lib, A, L, b: lib.linalg.eigh(A)[0], _dtype)
    matrices(f"det 50 {_dtype}", 50, lambda lib, A, L, b: lib.linalg.det(A), _dtype)
    matrices(f"lu 50 {_dtype}", 50, lambda lib, A, L, b: lib.linalg.lu(A)[2], _dtype)
    matrices(f"inv 200 {_dtype}", 200, lambda lib, A, L, b: lib.linalg.inv(A), _dtype)
    matrices(f"solve 200 {_dtype}", 200, lambda lib, A, L, b: lib.linalg.solve(A, b), _dtype)
    matrices(f"lstsq 200 {_dtype}", 200, lambda lib, A, L, b: lib.linalg.lstsq(A, b)[0], _dtype)
    matrices(f"qr 200 {_dtype}", 200, lambda lib, A, L, b: lib.linalg.qr(A)[1], _dtype)
    matrices(f"eig 200 {_dtype}", 200, lambda lib, A, L, b: lib.linalg.eig(A + L)[0], _dtype)


def of_a_batch(name: str, call: Callable[..., Any], derived: bool = True) -> None:
    """A line for ``call(lib, A)`` of 500 symmetric matrices, and backward if it is ``derived``."""

    @line(f"linalg: {name} of 500 matrices of 4 by 4, float64")
    def make(lib: Any) -> Step:
        lib.manual_seed(0)
        A = lib.randn(500, 4, 4, dtype=lib.float64)
        A = (A + A.mT + 4 * lib.eye(4, dtype=lib.float64)).requires_grad_(derived)
        gradient = lib.ones_like(call(lib, A).detach())

        def step() -> Any:
            found = call(lib, A)
            if not derived:
                return [found]
            found.backward(gradient)
            return taken(A)

        return step


of_a_batch("det", lambda lib, A: lib.linalg.det(A))
of_a_batch("inv", lambda lib, A: lib.linalg.inv(A))
of_a_batch("ldl_factor", lambda lib, A: lib.linalg.ldl_factor(A)[0], derived=False)
of_a_batch("qr", lambda lib, A: lib.linalg.qr(A)[1])
