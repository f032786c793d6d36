"""The files that the projector of TensorBoard reads beside the events."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...backend import xp
from ._images import grid, png, to_bytes
from ._messages import projector, text_format


def sprite(images: Any) -> bytes:
    """Small images ``(N, C, H, W)`` in one picture as high as it is wide."""
    pixels = grid(images, math.ceil(len(images) ** 0.5)).transpose(1, 2, 0)
    side = pixels.shape[1]
    if pixels.shape[0] > side:
        raise ValueError("label_img holds images that are wider than high or square: their grid "
                         f"must fit into a square, got {images.shape}")
    square = xp.zeros((side, side, 3), pixels.dtype)
    square[:len(pixels)] = pixels
    return png(to_bytes(square))


def labels(metadata: Sequence[Any], header: Sequence[str] | None) -> str:
    """A line for each point, of several columns where they have headers."""
    if not header:
        return "".join(f"{label}\n" for label in metadata)
    if len(header) != len(metadata[0]):
        raise AssertionError("len of header must be equal to the number of columns in metadata")
    return "".join("\t".join(map(str, line)) + "\n" for line in [header, *metadata])


def write_embedding(config: Any, log_dir: str, subfolder: str, name: str, points: Any,
                    metadata: Sequence[Any] | None, images: Any, header: Sequence[str] | None,
                    ) -> None:
    """Write the points with what is known of them, and add them to the configuration."""
    if points.ndim != 2:
        raise AssertionError("mat should be 2D, where mat.size(0) is the number of data points")
    # Everything is made, and with that checked, before the first file is written.
    files = {"tensors.tsv": "".join("\t".join(map(str, row)) + "\n"
                                    for row in points.tolist()).encode()}
    info = projector.EmbeddingInfo(tensor_name=name, tensor_path=f"{subfolder}/tensors.tsv")
    if metadata is not None:
        if len(metadata) != len(points):
            raise AssertionError("#labels should equal with #data points")
        files["metadata.tsv"] = labels(metadata, header).encode()
        info.metadata_path = f"{subfolder}/metadata.tsv"
    if images is not None:
        if len(images) != len(points):
            raise AssertionError("#images should equal with #data points")
        files["sprite.png"] = sprite(images)
        info.sprite.image_path = f"{subfolder}/sprite.png"
        info.sprite.single_image_dim.extend([images.shape[3], images.shape[2]])
    folder = Path(log_dir, subfolder)
    if folder.is_dir():
        print("warning: Embedding dir exists, did you set global_step for add_embedding()?")
    elif folder.exists():
        raise NotADirectoryError(f"Path: `{folder}` exists, but is a file. Cannot proceed.")
    os.makedirs(folder, exist_ok=True)
    for file, content in files.items():
        (folder / file).write_bytes(content)
    config.embeddings.append(info)
    Path(log_dir, "projector_config.pbtxt").write_text(text_format.MessageToString(config))
