"""Channels that become pixels, and channels among channels."""

from __future__ import annotations

from typing import Any

from ...backend import xp
from ...core.op import Array, linear
from ..checks.images import check_channel_groups, check_shuffle


@linear(method=False, batches="leading")
def pixel_shuffle(input: Array, upscale_factor: int) -> Any:
    """Channels rearranged into blocks of ``upscale_factor`` squared pixels."""
    r = upscale_factor
    check_shuffle("pixel_shuffle", "upscale_factor", input.ndim, r)
    *lead, channels, height, width = input.shape
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={channels} is not divisible by {r * r}")
    n = len(lead)
    parts = input.reshape(*lead, channels // (r * r), r, r, height, width)
    moved = parts.transpose(*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return xp.in_rows(moved.reshape(*lead, channels // (r * r), height * r, width * r))


@linear(method=False, batches="leading")
def pixel_unshuffle(input: Array, downscale_factor: int) -> Any:
    """Blocks of pixels rearranged into channels: undoes :func:`pixel_shuffle`."""
    r = downscale_factor
    check_shuffle("pixel_unshuffle", "downscale_factor", input.ndim, r)
    *lead, channels, height, width = input.shape
    if height % r or width % r:
        axis, n = ("height", height) if height % r else ("width", width)
        raise RuntimeError(f"pixel_unshuffle expects {axis} to be divisible by downscale_factor, "
                           f"but input.size({-2 if axis == 'height' else -1})={n} is not "
                           f"divisible by {r}")
    n = len(lead)
    parts = input.reshape(*lead, channels, height // r, r, width // r, r)
    moved = parts.transpose(*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return xp.in_rows(moved.reshape(*lead, channels * r * r, height // r, width // r))


pixel_shuffle.vjp(input=lambda g, upscale_factor: pixel_unshuffle(g, upscale_factor))
pixel_unshuffle.vjp(input=lambda g, downscale_factor: pixel_shuffle(g, downscale_factor))


@linear(batches="planes", method=False, aliases=("native_channel_shuffle",))
def channel_shuffle(input: Array, groups: int) -> Any:
    """Channels in another order: the first of each group, then the second of each."""
    check_channel_groups(input.shape, groups)
    batch, channels, *space = input.shape
    parts = input.reshape(batch, groups, channels // groups, *space)
    return parts.swapaxes(1, 2).copy().reshape(input.shape)


channel_shuffle.vjp(input=lambda g, groups: channel_shuffle(g, g.shape[1] // groups or 1))
