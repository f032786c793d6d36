"""``np.linalg`` on tensors: where names and arguments are PyTorch's, PyTorch's function."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ..core.op import PUBLIC
from ..core.tensor import Tensor
from . import products, shapes
from .operands import axis_of, common, given, inexact, numpy, refused, torch, values

of: Any = SimpleNamespace(**PUBLIC["linalg"])


def _of_matrix(name: str) -> Any:
    """A function of one matrix, or a stack of them, that needs no translation."""
    op = getattr(of, name)
    return lambda a, *args, **options: op(inexact(a), *args, **options)


cholesky, cond, det, eigh, eigvalsh, inv, matrix_power, slogdet, svdvals, tensorinv = map(
    _of_matrix, ("cholesky", "cond", "det", "eigh", "eigvalsh", "inv", "matrix_power", "slogdet",
                 "svdvals", "tensorinv"))
cross, outer, tensordot = products.cross, products.outer, products.tensordot
matrix_transpose = shapes.matrix_transpose


def solve(a: Any, b: Any) -> Tensor:
    a, b = common(inexact(a), inexact(b))
    if b.ndim == 1:
        return of.solve(a, b)
    space = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return of.solve(torch.broadcast_to(a, (*space, *a.shape[-2:])),
                    torch.broadcast_to(b, (*space, *b.shape[-2:])))


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Tensor:
    x = inexact(a)
    share = rcond if rcond is not None else 1e-15 if rtol is None else rtol
    return of.pinv(x, rtol=share, hermitian=hermitian)


def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    a, b = common(inexact(a), inexact(b))
    _, _, rank, singular = numpy.named("linalg.lstsq")(values(a), values(b), rcond)
    (m, n), eps = a.shape, numpy.named("finfo")(a._data.dtype).eps
    found = torch.matmul(of.pinv(a, rtol=eps * max(m, n) if rcond is None else
                                 max(rcond, 0 if rcond >= 0 else eps)), b)
    rest = torch.abs(b - torch.matmul(a, found)) ** 2
    rest = torch.atleast_1d(rest.sum(0)) if rank == n and m > n else rest.reshape(-1)[:0]
    return found, rest, rank, (of.svdvals(a) if len(singular) else singular)


def eig(a: Any) -> Any:
    found = of.eig(inexact(a))
    if values(found[0]).imag.any() or inexact(a).dtype.is_complex:
        return found
    return type(found)((torch.real(found[0]), torch.real(found[1])))


def eigvals(a: Any) -> Tensor:
    found = of.eigvals(inexact(a))
    complex_ = inexact(a).dtype.is_complex or values(found).imag.any()
    return found if complex_ else torch.real(found)


def qr(a: Any, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "complete", "r"):
        raise refused("linalg.qr", f"mode={mode!r} has no gradient: write mode='reduced'")
    found = of.qr(inexact(a), "reduced" if mode == "r" else mode)
    return found[1] if mode == "r" else found


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
        ) -> Any:
    x = inexact(a)
    if not compute_uv:
        return of.svdvals(x)
    return of.svd(x, full_matrices=full_matrices and x.shape[-1] != x.shape[-2])


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    x = inexact(x)
    if axis is None and ord is None:
        found = of.vector_norm(x)
        return found.reshape([1] * x.ndim) if keepdims else found
    return of.norm(x, ord, axis, keepdims)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    return of.matrix_norm(inexact(x), ord, keepdim=keepdims)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Tensor:
    return of.vector_norm(inexact(x), ord, axis, keepdims)


def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    return given(of.multi_dot(common(*arrays)), out, "linalg.multi_dot")


def matmul(x1: Any, x2: Any, /) -> Tensor:
    return torch.matmul(*common(x1, x2))


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    return of.vecdot(*common(x1, x2), dim=axis)


def diagonal(x: Any, /, *, offset: int = 0) -> Tensor:
    return shapes.diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    return shapes.trace(x, offset, -2, -1, dtype)


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Tensor:
    a, b = common(inexact(a), inexact(b))
    if axes is not None:
        a = torch.movedim(a, [axis_of(a, axis) for axis in axes],
                          list(range(a.ndim - len(axes), a.ndim)))
    return of.tensorsolve(a, b)
