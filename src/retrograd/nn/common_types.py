"""Names for the types of sizes and ratios: one for all dimensions, or one for each."""

from typing import Any, TypeVar

from ..core.tensor import Tensor

T = TypeVar("T")

_size_any_t = int | tuple[int, ...]
_ratio_any_t = float | tuple[float, ...]
_size_any_opt_t = int | None | tuple[int | None, ...]
_size_2_opt_t = int | None | tuple[int | None, int | None]
_size_3_opt_t = int | None | tuple[int | None, int | None, int | None]
_ratio_2_t = float | tuple[float, float]
_ratio_3_t = float | tuple[float, float, float]
_tensor_list_t = Tensor | tuple[Tensor, ...]
_maybe_indices_t = Tensor | tuple[Tensor, Tensor]


def _one_or(kind: Any, *parts: Any) -> Any:
    return kind | tuple[parts]  # type: ignore[valid-type]


_scalar_or_tuple_any_t = _one_or(T, T, ...)
for _count in range(1, 7):
    globals()[f"_size_{_count}_t"] = _one_or(int, *(int,) * _count)
    globals()[f"_scalar_or_tuple_{_count}_t"] = _one_or(T, *(T,) * _count)
