"""Parameters as one vector, and back."""

from collections.abc import Iterable

from ...core.tensor import Tensor
from ...ops.shapes.joining import cat
from ..modules.module import typename


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return all parameters, flattened and joined."""
    return cat([parameter.view(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Let the parameters hold consecutive parts of ``vec``, in their own shapes."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    start = 0
    for parameter in parameters:
        stop = start + parameter.numel()
        parameter.data = vec[start:stop].view_as(parameter).data
        start = stop
