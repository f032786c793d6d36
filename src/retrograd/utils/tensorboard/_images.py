"""Pixels in any order of dimensions, brought into rows and encoded as PNG."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ...backend import xp

_PNG_COLOURS = {1: 0, 2: 4, 3: 2, 4: 6}
"""The number by which PNG knows gray, gray with alpha, RGB and RGBA, by their channels."""


def grid(batch: Any, columns: int = 8) -> Any:
    """Images ``(N, C, H, W)`` side by side in rows, as one of ``(C, H', W')``."""
    if batch.ndim != 4 or batch.shape[1] not in (1, 3):
        raise AssertionError("Input should be a 4D array of images with 1 or 3 channels, got shape "
                             f"{batch.shape}")
    number, _, height, width = batch.shape
    columns = max(min(number, columns), 1)
    rows = -(-number // columns)
    places = xp.zeros((rows * columns, 3, height, width), batch.dtype)
    places[:number] = batch  # one channel becomes three alike
    places = places.reshape(rows, columns, 3, height, width).transpose(2, 0, 3, 1, 4)
    return places.reshape(3, rows * height, columns * width)


def rows_of_pixels(array: Any, dataformats: str) -> Any:
    """Bytes ``(H, W, C)`` from an image of bytes, or of numbers from 0 to 1, in a named order."""
    order = dataformats.upper()
    if len(set(order)) != len(order):
        raise AssertionError("You can not use the same dimension shorthand twice. "
                             f"input_format: {dataformats}")
    if array.ndim != len(order):
        raise AssertionError("size of input tensor and input format are different. "
                             f"tensor shape: {array.shape}, input_format: {dataformats}")
    wanted = {2: "HW", 3: "HWC", 4: "NCHW"}.get(len(order), "")
    if set(order) != set(wanted):
        raise ValueError(f"dataformats names the dimensions of NCHW, CHW or HW, got {dataformats}")
    image = array.transpose([order.index(letter) for letter in wanted])
    if wanted == "NCHW":
        image = grid(image).transpose(1, 2, 0)
    elif wanted == "HW" or image.shape[2] == 1:
        image = xp.repeat(image.reshape(*image.shape[:2], 1), 3, 2)
    return to_bytes(image)


def to_bytes(image: Any) -> Any:
    """Bytes as they are, other numbers from 0 to 1 in 255 parts; what lies outside is clipped."""
    scale = 1 if image.dtype == xp.uint8 else 255
    return (image.astype(xp.float32) * scale).clip(0, 255).astype(xp.uint8)


def png(image: Any) -> bytes:
    """An image of bytes ``(H, W, C)`` in the PNG format."""
    height, width, channels = image.shape
    if not image.size or channels not in _PNG_COLOURS:
        raise ValueError("an image has 1 to 4 channels and at least one pixel, got height, width "
                         f"and channels {image.shape}")
    lines = xp.zeros((height, 1 + width * channels), xp.uint8)  # each begins with "no filter"
    lines[:, 1:] = image.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, _PNG_COLOURS[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in [(b"IHDR", header), (b"IDAT", zlib.compress(bytes(lines))),
                           (b"IEND", b"")])


def _drawing(method: str, module: str, package: str) -> Any:
    """A module of a package that draws."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{method} draws with {package}, which cannot be imported: "
                          f"pip install {package}") from error


def with_boxes(image: Any, boxes: Any, labels: Sequence[str] | None, rescale: float) -> Any:
    """The image with red boxes ``(xmin, ymin, xmax, ymax)`` and their labels, drawn by Pillow."""
    Image, ImageDraw, ImageFont = (_drawing("add_image_with_boxes", f"PIL.{name}", "pillow")
                                   for name in ("Image", "ImageDraw", "ImageFont"))
    drawn = Image.fromarray(image)
    pen, font = ImageDraw.Draw(drawn), ImageFont.load_default()
    for place, (left, top, right, bottom) in enumerate(boxes.tolist()):
        corners = [(left, top), (left, bottom), (right, bottom), (right, top), (left, top)]
        pen.line(corners, width=2, fill="Red")
        if labels is not None and labels[place]:
            x0, y0, x1, y1 = font.getbbox(labels[place])
            margin = -(-(y1 - y0) // 20)
            over = bottom - (y1 - y0) - margin
            pen.rectangle([(left, over - margin), (left + x1 - x0, bottom)], fill="Red")
            pen.text((left + margin, over), labels[place], fill="black", font=font)
    size = int(drawn.width * rescale), int(drawn.height * rescale)
    return xp.asarray(drawn.resize(size, Image.Resampling.LANCZOS))


def drawn_figure(figure: Any, close: bool) -> Any:
    """What matplotlib draws of a figure, as bytes ``(H, W, 3)``."""
    backend, pyplot = (_drawing("add_figure", f"matplotlib.{name}", "matplotlib")
                       for name in ("backends.backend_agg", "pyplot"))
    canvas = backend.FigureCanvasAgg(figure)
    canvas.draw()
    pixels = xp.array(canvas.buffer_rgba())[..., :3]
    if close:
        pyplot.close(figure)
    return pixels
