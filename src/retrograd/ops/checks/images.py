"""What padding, folding, resampling and dropout of planes refuse, and in which words."""

from __future__ import annotations

from typing import Any

from ...base import dtypes
from ...base.errors import dim_out_of_range, no_dims, no_kernel
from ...base.warning import warn
from ...core.tensor import Tensor
from ..nn.sizes import Ints


def check_sides(shape: Ints, pad: Any) -> None:
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


def check_pad(input: Tensor, pad: Ints, mode: str) -> None:
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
        check_cut(tuple(input.shape), pad, mode)
    if mode != "circular" and input.dtype is dtypes.bool:
        kernel = "reflection" if mode == "reflect" else "replication"
        raise no_kernel(f"{kernel}_pad{rank}d", input.dtype)


def check_cut(shape: Ints, pad: Ints, mode: str) -> None:
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


def check_blocks(kernel: Ints, dilation: Ints, padding: Ints, stride: Ints) -> None:
    for name, label, sizes in (
            ("kernel size", "kernel", kernel), ("dilation", "dilation", dilation),
            ("padding", "pad", padding), ("stride", "stride", stride)):
        needed = "non-negative" if name == "padding" else "greater than zero"
        if min(sizes) < (name != "padding"):
            raise RuntimeError(f"{name} should be {needed}, but got {label}_height: {sizes[0]} "
                               f"{label}_width: {sizes[1]}")


def check_planes_to_unfold(shape: Ints, kernel: Ints, dilation: Ints, padding: Ints,
                           stride: Ints) -> None:
    rank = len(shape)
    if not rank:
        raise no_dims(-1)
    if rank == 1:
        raise dim_out_of_range(-2, rank)
    check_blocks(kernel, dilation, padding, stride)
    if rank == 2 and shape[1]:
        raise dim_out_of_range(2, rank)
    if rank not in (3, 4) or 0 in shape[-3:]:
        raise RuntimeError("Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and "
                           f"other non-zero dimensions for input, but got: {list(shape)}")


def floats_and_bytes(given: dict[str, Any], common: dtypes.dtype) -> None:
    if not common.is_floating_point and common is not dtypes.uint8:
        two = given["input"].ndim == 4
        raise no_kernel("upsample_nearest2d_channels_last" if two
                        else "compute_indices_weights_nearest", common)


def check_resampling(shape: Ints, out: Ints) -> None:
    space = shape[2:]
    if min(space) < 1 or min(out) < 1:
        axes = "DHW"[-len(space):]
        before, after = (", ".join([f"{axis}: {n}" for axis, n in zip(axes, sizes, strict=True)])
                         for sizes in (space, out))
        link = "and output" if len(space) == 1 else "output"
        raise RuntimeError("Input and output sizes should be greater than 0, but got input "
                           f"({before}) {link} ({after})")
    if not shape[1]:
        raise RuntimeError(f"Non-empty {len(shape)}D data tensor expected but got a tensor with "
                           f"sizes {list(shape)}")


def check_shuffle(name: str, factor_name: str, rank: int, factor: int) -> None:
    if rank < 3:
        raise RuntimeError(f"{name} expects input to have at least 3 dimensions, but got input "
                           f"with {rank} dimension(s)")
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {factor_name}, but got {factor}")


def check_probability(p: float, error: type[Exception] = RuntimeError) -> None:
    if p < 0 or p > 1:
        raise error(f"dropout probability has to be between 0 and 1, but got {p:g}"
                    if error is RuntimeError else
                    f"dropout probability has to be between 0 and 1, but got {p}")


def check_spatial(rank: int, spatial: int) -> None:
    """Refuse or, as long as that is tolerated, warn of input that is not channels in space."""
    name, few, many = f"dropout{spatial}d", spatial + 1, spatial + 2
    if spatial == 2 and rank == 3:
        warn("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D "
             "dropout behavior is desired - input is interpreted as shape (N, C, L), where C is "
             "the channel dim. This behavior will change in a future release to interpret the "
             "input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D "
             "channel-wise dropout behavior, please switch to using dropout1d instead.")
    if rank in (few, many):
        return
    note = (f"Note that {name} exists to provide channel-wise dropout on inputs with {spatial} "
            f"spatial dimension{'s' * (spatial > 1)}, a channel dimension, and an optional batch "
            f"dimension (i.e. {few}D or {many}D inputs).")
    if spatial == 1:
        raise RuntimeError(f"{name}: Expected {few}D or {many}D input, but received a {rank}D "
                           f"input. {note}")
    warn(f"{name}: Received a {rank}-D input to {name}, which is deprecated and will result in an "
         "error in a future release. To retain the behavior and silence this warning, please use "
         f"dropout instead. {note}")


def check_channel_groups(shape: Ints, groups: int) -> None:
    if len(shape) < 3:
        raise RuntimeError("channel_shuffle expects input with > 2 dims, but got input with sizes "
                           f"{list(shape)}")
    if groups <= 0:
        raise RuntimeError("Number of groups to divide channels in must be positive. Value of "
                           f"groups:{groups}")
    if shape[1] % groups:
        raise RuntimeError("Number of channels must be divisible by groups. Got "
                           f"{shape[1]} channels and {groups} groups.")
