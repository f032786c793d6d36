"""Layers that exchange channels for pixels, or channels for channels."""

from ._options import Handing

__all__ = ["ChannelShuffle", "PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Handing, function="pixel_shuffle", options="upscale_factor"):
    """Lay groups of channels out as pixels of a larger image."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor


class PixelUnshuffle(Handing, function="pixel_unshuffle", options="downscale_factor"):
    """Undo :class:`PixelShuffle`."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor


class ChannelShuffle(Handing, function="channel_shuffle", options="groups"):
    """Mix the channels of several groups: the first of each, then the second of each."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups
