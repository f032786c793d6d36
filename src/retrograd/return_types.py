"""Named results of functions that return several tensors, printed as PyTorch prints them."""

from __future__ import annotations

from operator import itemgetter
from typing import Any


class _Result(tuple):
    """A tuple whose items also have names; made from one sequence."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()
    n_fields = n_sequence_fields = n_unnamed_fields = 0

    def __new__(cls, values: Any) -> Any:
        made = tuple.__new__(cls, values)
        if len(made) != cls.n_fields:
            raise TypeError(f"{cls.__module__}.{cls.__name__}() takes a {cls.n_fields}-sequence "
                            f"({len(made)}-sequence given)")
        return made

    def __repr__(self) -> str:
        items = ",\n".join([f"{n}={v!r}" for n, v in zip(self.__match_args__, self, strict=True)])
        return f"torch.return_types.{type(self).__name__}(\n{items})"

    def __reduce__(self) -> Any:
        return (type(self), (tuple(self),))


def result_type(name: str, *fields: str) -> Any:
    """A new named result with the given fields."""
    body: dict[str, Any] = {
        "__slots__": (), "__module__": __name__, "__qualname__": name,
        "__match_args__": fields, "n_fields": len(fields), "n_sequence_fields": len(fields),
    }
    for position, field in enumerate(fields):
        body[field] = property(itemgetter(position))
    return type(name, (_Result,), body)


max = result_type("max", "values", "indices")
min = result_type("min", "values", "indices")
aminmax = result_type("aminmax", "min", "max")
median = result_type("median", "values", "indices")
nanmedian = result_type("nanmedian", "values", "indices")
mode = result_type("mode", "values", "indices")
kthvalue = result_type("kthvalue", "values", "indices")
sort = result_type("sort", "values", "indices")
topk = result_type("topk", "values", "indices")
cummax = result_type("cummax", "values", "indices")
cummin = result_type("cummin", "values", "indices")
frexp = result_type("frexp", "mantissa", "exponent")
slogdet = result_type("slogdet", "sign", "logabsdet")
qr = result_type("qr", "Q", "R")
svd = result_type("svd", "U", "S", "V")
linalg_inv_ex = result_type("linalg_inv_ex", "inverse", "info")
linalg_slogdet = result_type("linalg_slogdet", "sign", "logabsdet")
linalg_cholesky_ex = result_type("linalg_cholesky_ex", "L", "info")
linalg_solve_ex = result_type("linalg_solve_ex", "result", "info")
linalg_lu = result_type("linalg_lu", "P", "L", "U")
linalg_lu_factor = result_type("linalg_lu_factor", "LU", "pivots")
linalg_lu_factor_ex = result_type("linalg_lu_factor_ex", "LU", "pivots", "info")
linalg_ldl_factor = result_type("linalg_ldl_factor", "LD", "pivots")
linalg_ldl_factor_ex = result_type("linalg_ldl_factor_ex", "LD", "pivots", "info")
_lu_with_info = result_type("_lu_with_info", "LU", "pivots", "info")
lu_unpack = result_type("lu_unpack", "P", "L", "U")
triangular_solve = result_type("triangular_solve", "solution", "cloned_coefficient")
geqrf = result_type("geqrf", "a", "tau")
linalg_qr = result_type("linalg_qr", "Q", "R")
linalg_eig = result_type("linalg_eig", "eigenvalues", "eigenvectors")
linalg_eigh = result_type("linalg_eigh", "eigenvalues", "eigenvectors")
linalg_svd = result_type("linalg_svd", "U", "S", "Vh")
histogram = result_type("histogram", "hist", "bin_edges")
histogramdd = result_type("histogramdd", "hist", "bin_edges")
linalg_lstsq = result_type("linalg_lstsq", "solution", "residuals", "rank", "singular_values")


def __dir__() -> list[str]:
    return sorted(name for name, value in globals().items()
                  if callable(value) and value.__module__ == __name__)
