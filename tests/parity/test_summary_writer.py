"""Beside PyTorch's writer: the same files, tags, steps, values and metadata."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch as pytorch

import retrograd

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader
    from torch.utils.tensorboard import SummaryWriter as Theirs

    from retrograd.utils.tensorboard import SummaryWriter as Ours
Image = pytest.importorskip("PIL.Image")

numbers = np.random.default_rng(0)
image = numbers.integers(0, 256, (3, 6, 7), dtype=np.uint8)
batch = (numbers.integers(0, 256, (10, 3, 4, 5)) / 256).astype(np.float32)
points = numbers.standard_normal((10, 3)).astype(np.float32)
chances, truth = numbers.random(50), numbers.integers(0, 2, 50)
CALLS: dict[str, Any] = {
    "scalar": lambda w, t: [w.add_scalar("a", t(np.array([1.25])), 3),
                            w.add_scalar("n", 1 / 3, 4, 5.5, True),
                            w.add_scalar("d", 1 / 3, new_style=True, double_precision=True)],
    "scalars": lambda w, t: w.add_scalars("a/b", {"x": 1, "y": t(np.array(2.5))}, 3),
    "tensor": lambda w, t: [w.add_tensor(str(kind), t(np.arange(6).reshape(2, 3).astype(kind)), 1)
                            for kind in ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "?"]],
    "histogram": lambda w, t: [w.add_histogram("h", t(points), 1),
                               w.add_histogram("m", t(points), 1, max_bins=100),
                               w.add_histogram("f", t(points), 1, bins="fd"),
                               w.add_histogram("i", t(truth), 1, bins=7)],
    "histogram_raw": lambda w, t: w.add_histogram_raw("r", 0, 2, 3, 4, 5.0, [1, 2], [2, 1], 1),
    "text": lambda w, t: w.add_text("t", "näher", 2),
    "image": lambda w, t: [w.add_image("b", t(image), 1),
                           w.add_image("g", t(image[:1]), 1),
                           w.add_image("x", t(image[0]), 1, dataformats="HW"),
                           w.add_image("f", t(batch[0]), 2),
                           w.add_image("o", t(points), 2, dataformats="WH"),
                           w.add_image("h", t(image.transpose(1, 2, 0).copy()), dataformats="HWC")],
    "images": lambda w, t: [w.add_images("n", t(batch), 1),
                            w.add_images("g", t(batch[:, :1]), 1)],
    "boxes": lambda w, t: [
        w.add_image_with_boxes("p", t(np.zeros((3, 40, 50))), t(np.array([[2, 3, 30, 35]])), 1),
        w.add_image_with_boxes("l", t(np.zeros((3, 40, 50))), t(np.array([[2, 3, 30, 35.]])), 1,
                               rescale=2, labels="cat")],
    "audio": lambda w, t: w.add_audio("s", t(chances), 1, 8000),
    "hparams": lambda w, t: w.add_hparams(
        {"lr": 0.1, "n": 3, "name": "sgd", "flag": True, "none": None}, {"loss": 0.5, "acc": 1},
        {"lr": [0.1, 0.2], "name": ["sgd", "adam"]}, "run", 4),
    "custom": lambda w, t: w.add_custom_scalars(
        {"c": {"m": ["Multiline", ["a", "b"]], "g": ["Margin", ["a", "b", "c"]]}, "d": {}}),
    "multiline": lambda w, t: w.add_custom_scalars_multilinechart(["a", "b"], "c"),
    "margin": lambda w, t: w.add_custom_scalars_marginchart(["a", "b", "c"], title="t"),
    "pr_curve": lambda w, t: [w.add_pr_curve("p", t(truth), t(chances), 1),
                              w.add_pr_curve("w", truth, chances, 1, 20, chances),
                              w.add_pr_curve("l", truth, chances, 1, 20, chances.tolist()),
                              w.add_pr_curve("b", truth, chances * 2 - 0.5, 1, 500)],
    "pr_curve_raw": lambda w, t: w.add_pr_curve_raw("r", *np.arange(30.0).reshape(6, 5), 1, 5),
    "embedding": lambda w, t: [
        w.add_embedding(t(points), [f"l{i}" for i in range(10)], t(batch), 7, "a/b%c"),
        w.add_embedding(t(points), [[i, "x"] for i in range(10)], metadata_header=["n", "x"])],
    "mesh": lambda w, t: w.add_mesh("m", t(points[None]), t(np.full((1, 10, 3), 9)),
                                    t(np.array([[[0, 1, 2]]])), {"camera": {"fov": 3}}, 2),
    "points": lambda w, t: w.add_mesh("m", [points.tolist()])}


def written(folder: Path) -> dict[str, Any]:
    """What each file of a folder holds, event files by the folder they are in."""
    found: dict[str, Any] = {}
    for file in sorted(folder.rglob("*")):
        place = str(file.relative_to(folder))
        if "tfevents" in file.name:
            found[str(Path(place).parent)] = [plain(e) for e in LegacyEventFileLoader(str(file)
                                                                                      ).Load()]
        elif file.suffix == ".png":
            found[place] = pixels(file.read_bytes())
        elif file.is_file():
            found[place] = file.read_text()
    return found


def pixels(encoded: bytes) -> Any:
    return np.asarray(Image.open(io.BytesIO(encoded))).tolist()


def plain(event: Any) -> tuple[Any, ...]:
    """An event without what differs from run to run: its time and how pictures are packed."""
    pictures = []
    event.wall_time = 0
    event.ClearField("source_metadata")
    for value in event.summary.value:
        if value.HasField("image"):
            pictures.append(pixels(value.image.encoded_image_string))
            value.image.encoded_image_string = b""
    return str(event), pictures


@pytest.mark.parametrize("name", CALLS)
def test_the_same_is_written(name: str, tmp_path: Path) -> None:
    for folder, writer, tensor in [("theirs", Theirs, pytorch.from_numpy),
                                   ("ours", Ours, retrograd.from_numpy)]:
        with writer(str(tmp_path / folder), purge_step=2 if name == "scalar" else None) as opened:
            CALLS[name](opened, lambda array, tensor=tensor: tensor(array))
    theirs, ours = written(tmp_path / "theirs"), written(tmp_path / "ours")
    assert ours.keys() == theirs.keys()
    for place in theirs:
        assert ours[place] == theirs[place], place
    assert any(len(events) > 1 for events in theirs.values())
