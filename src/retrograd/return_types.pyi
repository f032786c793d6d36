"""Named results of functions that return several tensors, printed as PyTorch prints them."""

# Written by `make stubs` from the declared functions and docs/stub_types.py.
# ruff: noqa

from typing import Any

from .core.tensor import Tensor

class _Result(tuple[Tensor, ...]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int

def result_type(name: str, *fields: str) -> Any:
    """A new named result with the given fields."""
    ...

class max(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class min(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class median(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class nanmedian(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class mode(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class kthvalue(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class sort(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class topk(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class cummax(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class cummin(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class aminmax(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def min(self) -> Tensor: ...
    @property
    def max(self) -> Tensor: ...

class frexp(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def mantissa(self) -> Tensor: ...
    @property
    def exponent(self) -> Tensor: ...

class slogdet(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def sign(self) -> Tensor: ...
    @property
    def logabsdet(self) -> Tensor: ...

class linalg_slogdet(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def sign(self) -> Tensor: ...
    @property
    def logabsdet(self) -> Tensor: ...

class qr(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def Q(self) -> Tensor: ...
    @property
    def R(self) -> Tensor: ...

class linalg_qr(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def Q(self) -> Tensor: ...
    @property
    def R(self) -> Tensor: ...

class svd(tuple[Tensor, Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def U(self) -> Tensor: ...
    @property
    def S(self) -> Tensor: ...
    @property
    def V(self) -> Tensor: ...

class linalg_inv_ex(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def inverse(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...

class linalg_cholesky_ex(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def L(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...

class linalg_solve_ex(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def result(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...

class linalg_lu(tuple[Tensor, Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def P(self) -> Tensor: ...
    @property
    def L(self) -> Tensor: ...
    @property
    def U(self) -> Tensor: ...

class lu_unpack(tuple[Tensor, Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def P(self) -> Tensor: ...
    @property
    def L(self) -> Tensor: ...
    @property
    def U(self) -> Tensor: ...

class linalg_lu_factor(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def LU(self) -> Tensor: ...
    @property
    def pivots(self) -> Tensor: ...

class linalg_lu_factor_ex(tuple[Tensor, Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def LU(self) -> Tensor: ...
    @property
    def pivots(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...

class _lu_with_info(tuple[Tensor, Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def LU(self) -> Tensor: ...
    @property
    def pivots(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...

class linalg_ldl_factor(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def LD(self) -> Tensor: ...
    @property
    def pivots(self) -> Tensor: ...

class linalg_ldl_factor_ex(tuple[Tensor, Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def LD(self) -> Tensor: ...
    @property
    def pivots(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...

class triangular_solve(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def solution(self) -> Tensor: ...
    @property
    def cloned_coefficient(self) -> Tensor: ...

class geqrf(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def a(self) -> Tensor: ...
    @property
    def tau(self) -> Tensor: ...

class linalg_eig(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def eigenvalues(self) -> Tensor: ...
    @property
    def eigenvectors(self) -> Tensor: ...

class linalg_eigh(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def eigenvalues(self) -> Tensor: ...
    @property
    def eigenvectors(self) -> Tensor: ...

class linalg_svd(tuple[Tensor, Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def U(self) -> Tensor: ...
    @property
    def S(self) -> Tensor: ...
    @property
    def Vh(self) -> Tensor: ...

class histogram(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def hist(self) -> Tensor: ...
    @property
    def bin_edges(self) -> Tensor: ...

class histogramdd(tuple[Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def hist(self) -> Tensor: ...
    @property
    def bin_edges(self) -> Tensor: ...

class linalg_lstsq(tuple[Tensor, Tensor, Tensor, Tensor]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    def __new__(cls, values: Any) -> Any: ...
    @property
    def solution(self) -> Tensor: ...
    @property
    def residuals(self) -> Tensor: ...
    @property
    def rank(self) -> Tensor: ...
    @property
    def singular_values(self) -> Tensor: ...
