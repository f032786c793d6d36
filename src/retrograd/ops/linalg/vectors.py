"""Products of vectors, and matrices of their powers."""

from __future__ import annotations

from typing import Any

from ...backend import matrices
from ...base import dtypes
from ...base.errors import canonical_dim, existing_dim
from ...base.warning import warn
from ...core.op import Array, composite, op, public
from ...core.out_rules import Out
from ...core.tensor import Tensor
from ..batching import all_aligned, inner_rank, run
from ..checks.common import unsupported
from ..elementwise.arithmetic import is_complex_value
from ..elementwise.conjugate import conj
from ..memory.casts import contiguous
from ..reductions.cumulative import cumprod
from ..reductions.sums import sum as reduce_sum
from ..shapes.dimensions import unsqueeze
from ..shapes.expanding import expand, joint_shape
from ..shapes.joining import cat


@op(node="LinalgCrossBackward0", broadcasts=True, promote="same", title="linalg_cross",
    out=Out(apart=True))
def _cross(input: Array, other: Array, dim: int) -> Any:
    unsupported("cross", input.dtype, "b")
    return matrices.cross(input, other, dim)


_cross.vjp(input=lambda g, other, dim: _cross(conj(other), g, dim),
           other=lambda g, input, dim: _cross(g, conj(input), dim))
_cross.jvp(input=lambda tangent, other, dim: _cross(tangent, other, dim),
           other=lambda tangent, input, dim: _cross(input, tangent, dim))


@_cross.batch
def _(batch: Any, input: Any, other: Any, dim: int) -> Any:
    input, other = all_aligned(batch, input=input, other=other)
    return run("_cross", input, other, canonical_dim(dim, inner_rank(input)) + 1)


@public("cross", method=False, function="linalg")
def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1,
                 out: Tensor | None = None) -> Tensor:
    """The cross product of vectors of length three along ``dim``."""
    left, right = input._data.shape, other._data.shape
    if len(left) != len(right):
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    axis = existing_dim(dim, len(left))
    if left[axis] != 3 or right[axis] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got "
                           f"{left[axis]} and {right[axis]}")
    joint_shape(left, right)
    return _cross(input, other, axis) if out is None else _cross(input, other, axis, out=out)


@composite(method=True)
def cross(input: Tensor, other: Tensor, dim: int | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """The cross product along ``dim``, by default the first dimension of length three."""
    if dim is None:
        warn("Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass "
             "the dim explicitly or simply use torch.linalg.cross.\nThe default value of dim will "
             "change to agree with that of linalg.cross in a future release.", once=True)
        dim = next((d for d, n in enumerate(input.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return linalg_cross(input, other, dim=dim, out=out)


@composite(function="linalg", out=Out(
    "linalg.vecdot: Expected out of dtype{result} but found {out}"))
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The dot products of vectors along ``dim``, the first ones conjugated."""
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        raise RuntimeError("linalg.vecdot: Expected a floating point or complex tensor as input. "
                           f"Got {x.dtype.alias}")
    return reduce_sum((conj(x) if is_complex_value(x) else x) * y, dim)


@composite(function="linalg")
def vander(x: Tensor, N: int | None = None) -> Tensor:
    """The powers 0 to N-1 of ``x``, along a new last dimension."""
    if x.dtype in (dtypes.bool, dtypes.float16, dtypes.bfloat16):
        raise RuntimeError("linalg.vander supports floating point, complex, and integer tensors, "
                           f"but got {x.dtype.alias}")
    x = x if x.ndim else unsqueeze(x, 0)
    count = x.shape[-1] if N is None else N
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    spread = contiguous(expand(unsqueeze(x, -1), (*x.shape, count - 1)))
    powers = cumprod(spread, -1)
    return cat([powers.new_ones((*x.shape, 1)), powers], -1)
