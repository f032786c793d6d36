"""Padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...backend import conv as conv_kernels, index as index_kernels
from ...base.errors import wrong_type
from ...core.op import Array, composite, op
from ...core.tensor import Tensor
from ..checks.images import check_pad, check_sides
from ..shapes.flipping import negated
from ..shapes.reshaping import sizes
from .along_axes import _declare_taking


@op(method=False, batches="leading")
def constant_pad_nd(input: Array, pad: Any, value: Any = 0) -> Any:
    """``input`` with ``value`` around it; a negative ``pad`` cuts off."""
    check_sides(input.shape, pad)
    if value:  # which may be NaN
        value = index_kernels.number_as(value, input.dtype)
    return conv_kernels.padded_by(input, pad, value)


constant_pad_nd.vjp(input=lambda g, pad: constant_pad_nd(g, negated(pad)))
constant_pad_nd.jvp(input=lambda tangent, pad: constant_pad_nd(tangent, pad))


_PADDING = {"reflect": "ReflectionPad{}DBackward0", "replicate": "ReplicationPad{}DBackward0",
            "circular": "CopySlices"}
_PAD = {(mode, rank): _declare_taking(f"_pad_{mode}{rank}d", node.format(rank))
        for mode, node in _PADDING.items() for rank in (1, 2, 3)}


@composite(function="nn.functional")
def pad(input: Tensor, pad: Sequence[int], mode: str = "constant",
        value: float | None = None) -> Tensor:
    """``input`` with its last dimensions lengthened (last one first, both sides)."""
    if isinstance(value, (complex, str, list, tuple)):
        raise wrong_type("pad", "value", 4, "float", value)
    sides = sizes((pad,))
    if len(sides) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(sides) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(sides)} and input of dimension {input.ndim}")
    if mode == "constant":
        return constant_pad_nd(input, sides, 0 if value is None else float(value))
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    check_pad(input, sides, mode)
    recipe = tuple([(input.ndim - 1 - i, conv_kernels.take_sides(
        sides[2 * i], sides[2 * i + 1], input.shape[input.ndim - 1 - i], mode))
        for i in range(len(sides) // 2)])
    return _PAD[mode, len(sides) // 2](input, recipe)
