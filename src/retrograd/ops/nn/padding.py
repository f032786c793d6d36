"""Padding."""

from __future__ import annotations

from typing import Any

from ...backend import conv as images
from ...core.op import Array, composite, op
from ...core.tensor import Tensor
from .along_axes import _declare_taking
from .sizes import Ints


def _check_sides(shape: Ints, pad: Any) -> None:
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * len(shape):
        raise RuntimeError("Length of pad should be no more than twice the number of dimensions of "
                           f"the input. Pad length is {len(pad)}while the input has {len(shape)}"
                           "dimensions.")
    for i in range(len(pad) // 2):
        n, before, after = shape[-1 - i], pad[2 * i], pad[2 * i + 1]
        if min(n + before, n + after, n + before + after) < 0:
            raise RuntimeError("narrow(): length must be non-negative.")


@op(method=False)
def constant_pad_nd(input: Array, pad: Any, value: Any = 0) -> Any:
    """``input`` with ``value`` around it; a negative ``pad`` cuts off."""
    _check_sides(input.shape, pad)
    return images.padded_by(input, pad, value)


constant_pad_nd.vjp(input=lambda g, pad: constant_pad_nd(g, negated(pad)))
constant_pad_nd.jvp(input=lambda tangent, pad: constant_pad_nd(tangent, pad))


def negated(numbers: Any) -> Ints:
    return tuple([-n for n in numbers])


_PADDING = {("reflect", 1): "ReflectionPad1DBackward0", ("reflect", 2): "ReflectionPad2DBackward0",
            ("reflect", 3): "ReflectionPad3DBackward0",
            ("replicate", 1): "ReplicationPad1DBackward0",
            ("replicate", 2): "ReplicationPad2DBackward0",
            ("replicate", 3): "ReplicationPad3DBackward0",
            ("circular", 1): "CopySlices", ("circular", 2): "CopySlices",
            ("circular", 3): "CopySlices"}
_PAD = {key: _declare_taking(f"_pad_{key[0]}{key[1]}d", node) for key, node in _PADDING.items()}


def _check_pad(input: Tensor, pad: Ints, mode: str) -> None:
    rank = len(pad) // 2
    if input.ndim not in (rank + 1, rank + 2):
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {input.ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)")
    if mode != "circular" and 0 in input.shape[-rank - 1:]:
        raise RuntimeError(f"Expected {rank + 1}D or {rank + 2}D (batch mode) tensor with possibly "
                           "0 batch size and other non-zero dimensions for input, but got: "
                           f"{list(input.shape)}")
    for i in range(rank):
        axis = input.ndim - 1 - i
        n, before, after = input.shape[axis], pad[2 * i], pad[2 * i + 1]
        if mode == "reflect" and (before >= n or after >= n):
            raise RuntimeError(
                f"Argument #{4 + 2 * i}: Padding size should be less than the corresponding input "
                f"dimension, but got: padding ({before}, {after}) at dimension {axis} of input "
                f"{list(input.shape)}")
        if mode == "circular" and (before > n or after > n):
            raise RuntimeError("Padding value causes wrapping around more than once.")
    if min(pad) < 0:
        _check_cut(tuple(input.shape), pad, mode)


def _check_cut(shape: Ints, pad: Ints, mode: str) -> None:
    """Negative padding must leave something."""
    rank = len(pad) // 2
    space, cuts = shape[-rank:], list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    out = tuple([n + before + after for n, (before, after) in zip(space, cuts, strict=True)])
    if mode == "circular":
        kept = [n + min(before, 0) + min(after, 0)
                for n, (before, after) in zip(space, cuts, strict=True)]
        # Of a dimension of which nothing is kept nothing can come round.
        if min(out) < 0 or any(k <= 0 < n for k, n in zip(kept, out, strict=True)):
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
        return
    axes = "DHW"[-rank:]
    if max(out) < 1:
        before = ", ".join([f"{axis}: {n}" for axis, n in zip(axes, space, strict=True)])
        before = before.replace(", H", " H")
        after = " ".join([f"{axis}: {n}" for axis, n in zip(axes, out, strict=True)])
        # Only images that are replicated have a space before the bracket.
        gap = " " if mode == "replicate" and rank == 2 else ""
        raise RuntimeError(f"input ({before}{gap}) is too small. Calculated output {after}")
    if min(out) < 0:
        raise RuntimeError("Trying to create tensor with negative dimension "
                           f"{min(out)}: {[*shape[:-rank], *out]}")


@composite(function="nn.functional")
def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """``input`` with its last dimensions lengthened (last one first, both sides)."""
    sides = tuple([int(n) for n in pad])
    if len(sides) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(sides) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(sides)} and input of dimension {input.ndim}")
    if mode == "constant":
        return constant_pad_nd(input, sides, 0 if value is None else value)
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    _check_pad(input, sides, mode)
    recipe = tuple([(input.ndim - 1 - i, images.take_sides(
        sides[2 * i], sides[2 * i + 1], input.shape[input.ndim - 1 - i], mode))
        for i in range(len(sides) // 2)])
    return _PAD[mode, len(sides) // 2](input, recipe)
