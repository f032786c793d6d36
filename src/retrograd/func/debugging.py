"""Looking at a transform's tensors."""

from __future__ import annotations

from ..core.tensor import Tensor, wrap_any
from ..transforms import Batched, TracedData, innermost


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """What lies inside a transform's tensor, to be looked at only: the whole batch, or the value.

    With ``recurse`` it is taken out of all transforms, else out of the innermost one.
    """
    data = tensor._data
    if not isinstance(data, TracedData):
        return tensor
    if recurse:
        return wrap_any(innermost(data))
    return wrap_any(data.value if isinstance(data, Batched) else data.primal)
