"""Named results of functions that return several tensors, printed as PyTorch prints them."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from .base import trees


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
    made = type(name, (_Result,), body)
    trees.add_kind(made, lambda found: None, lambda values, context: made(values))
    return made


_NAMES = {
    "values indices": "max min median nanmedian mode kthvalue sort topk cummax cummin",
    "min max": "aminmax",
    "mantissa exponent": "frexp",
    "sign logabsdet": "slogdet linalg_slogdet",
    "Q R": "qr linalg_qr",
    "U S V": "svd",
    "inverse info": "linalg_inv_ex",
    "L info": "linalg_cholesky_ex",
    "result info": "linalg_solve_ex",
    "P L U": "linalg_lu lu_unpack",
    "LU pivots": "linalg_lu_factor",
    "LU pivots info": "linalg_lu_factor_ex _lu_with_info",
    "LD pivots": "linalg_ldl_factor",
    "LD pivots info": "linalg_ldl_factor_ex",
    "solution cloned_coefficient": "triangular_solve",
    "a tau": "geqrf",
    "eigenvalues eigenvectors": "linalg_eig linalg_eigh",
    "U S Vh": "linalg_svd",
    "hist bin_edges": "histogram histogramdd",
    "solution residuals rank singular_values": "linalg_lstsq"}
"""The fields of results, and the functions that return them."""

globals().update({name: result_type(name, *fields.split())
                  for fields, names in _NAMES.items() for name in names.split()})


def __dir__() -> list[str]:
    return sorted(name for name, value in globals().items()
                  if callable(value) and value.__module__ == __name__)
