"""What is written for TensorBoard is what its own reader reads."""

from __future__ import annotations

import inspect
import io
import sys
import warnings
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.utils.tensorboard import _images

pytest.importorskip("tensorboard")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    from retrograd.utils.tensorboard import FileWriter, SummaryWriter

Image = pytest.importorskip("PIL.Image")


def read(folder: Path) -> Any:
    found = EventAccumulator(str(folder))
    found.Reload()
    return found


def pixels(encoded: bytes) -> Any:
    return np.asarray(Image.open(io.BytesIO(encoded)))


@pytest.mark.parametrize(("shape", "order", "seen"), [
    ((3, 4, 5), "CHW", (4, 5, 3)), ((1, 4, 5), "CHW", (4, 5, 3)), ((4, 5, 3), "HWC", (4, 5, 3)),
    ((4, 5, 4), "HWC", (4, 5, 4)), ((4, 5), "HW", (4, 5, 3)), ((5, 4), "wh", (4, 5, 3)),
    ((10, 3, 4, 5), "NCHW", (8, 40, 3)), ((2, 4, 5, 1), "NHWC", (4, 10, 3))])
def test_images_in_every_order(tmp_path: Path, shape: Any, order: str, seen: Any) -> None:
    values = torch.randint(0, 256, shape, dtype=torch.uint8)
    with SummaryWriter(tmp_path) as writer:
        writer.add_image("bytes", values, 3, dataformats=order)
        writer.add_images("parts", values / 255, 4, dataformats=order)
    found = read(tmp_path)
    (image,) = found.Images("bytes")
    shown = pixels(image.encoded_image_string)
    assert (image.step, image.height, image.width) == (3, *seen[:2]) and shown.shape == seen
    parts = pixels(found.Images("parts")[0].encoded_image_string)
    assert abs(shown.astype(int) - parts.astype(int)).max() <= 1
    if order == "CHW" and shape[0] == 3:
        np.testing.assert_array_equal(shown, values.permute(1, 2, 0).numpy())


def test_what_is_no_image_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        for bad, order, error in [(torch.ones(3, 4), "CHW", AssertionError),
                                  (torch.ones(3, 4, 4), "CCW", AssertionError),
                                  (torch.ones(3, 4, 4), "NHW", ValueError),
                                  (torch.ones(5, 4, 4), "CHW", ValueError),
                                  (torch.ones(3, 0, 4), "CHW", ValueError),
                                  ("name", "CHW", AssertionError),
                                  ([1], "CHW", NotImplementedError)]:
            with pytest.raises(error):
                writer.add_image("image", bad, dataformats=order)
    assert read(tmp_path).Tags()["images"] == []


def test_scalars_have_a_run_each_and_open_again(tmp_path: Path) -> None:
    writer = SummaryWriter(tmp_path)
    writer.add_scalars("a/b", {"x": 1, "y": torch.tensor(2.0, dtype=torch.bfloat16)}, 5)
    assert writer.all_writers is not None and len(writer.all_writers) == 3
    writer.close()
    writer.close()
    writer.flush()
    writer.add_scalar("late", np.float32(3), 6)
    assert isinstance(writer.file_writer, FileWriter) and writer.get_logdir() == tmp_path
    writer.close()
    assert [(e.step, e.value) for e in read(tmp_path / "a_b_y").Scalars("a/b")] == [(5, 2.0)]
    assert read(tmp_path).Scalars("late")[0].value == 3
    with pytest.raises(AssertionError, match="one element"):
        writer.add_scalar("many", torch.ones(2))


def test_hyperparameters_are_refused_before_a_run_begins(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        for given, metrics, domain, error in [([], {}, None, TypeError),
                                              ({"a": []}, {}, None, ValueError),
                                              ({"a": 1}, {}, {"a": ["x"]}, TypeError),
                                              ({"a": 1}, {"m": torch.ones(2)}, None,
                                               AssertionError)]:
            with pytest.raises(error):
                writer.add_hparams(given, metrics, domain, "run")
    assert not (tmp_path / "run").exists()


def test_figures_need_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with SummaryWriter(tmp_path) as writer:
        with monkeypatch.context() as without:
            without.setitem(sys.modules, "matplotlib", None)
            without.setitem(sys.modules, "matplotlib.pyplot", None)
            with pytest.raises(ImportError, match="pip install matplotlib"):
                writer.add_figure("figure", None)
        figure = pytest.importorskip("matplotlib.figure").Figure(figsize=(2, 1), dpi=50)
        figure.subplots().plot([1, 2])
        writer.add_figure("one", figure, 1)
        writer.add_figure("two", [figure, figure], 1)
    found = read(tmp_path)
    one, two = found.Images("one")[0], found.Images("two")[0]
    assert (one.width, one.height, two.width) == (100, 50, 200)
    assert len(np.unique(pixels(one.encoded_image_string))) > 2


def test_sounds_are_waves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_audio("sound", torch.tensor([[0.5, -2.0]]), 1, sample_rate=8000)
        with pytest.raises(AssertionError, match="1 dimensional"):
            writer.add_audio("sound", torch.ones(2, 2))
    assert "auto clipped" in capsys.readouterr().out
    (sound,) = read(tmp_path).Audio("sound")
    with wave.open(io.BytesIO(sound.encoded_audio_string)) as file:
        assert file.getframerate() == 8000
        assert np.frombuffer(file.readframes(2), "<i2").tolist() == [16383, -32767]


def test_what_is_missing_says_why(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        for name in ("add_graph", "add_onnx_graph", "add_video"):
            with pytest.raises(AttributeError, match=f"{name} does not exist here yet: "):
                getattr(writer, name)
        with pytest.raises(AssertionError, match="Expected 3 tags"):
            writer.add_custom_scalars_marginchart(["a"])
        with pytest.raises(AssertionError, match="#labels"):
            writer.add_embedding(torch.ones(2, 3), metadata=["a"])
        with pytest.raises(ValueError, match="no element"):
            writer.add_histogram("none", torch.ones(0))
    assert not (tmp_path / "00000").exists()


@pytest.mark.parametrize("shape", [(2, 2, 4, 4), (2, 4, 4, 4), (3, 0, 2, 2),
                                   (2, 3, 4), (2, 1, 4), (2, 3, 4, 4, 4), (3,)])
def test_images_have_one_channel_or_three(shape):
    with pytest.raises(AssertionError, match="1 or 3 channels"):
        _images.grid(np.zeros(shape))


@pytest.mark.parametrize("number, columns, rows", [(1, 1, 1), (7, 7, 1), (8, 8, 1), (9, 8, 2),
                                                   (17, 8, 3), (0, 1, 0)])
@pytest.mark.parametrize("channels", [1, 3])
def test_images_stand_in_rows_of_eight(number, columns, rows, channels):
    batch = np.arange(number * channels * 6.0).reshape(number, channels, 2, 3)
    made = _images.grid(batch)
    assert made.shape == (3, rows * 2, columns * 3)
    for i in range(rows * columns):
        top, left = i // columns * 2, i % columns * 3
        place = made[:, top:top + 2, left:left + 3]
        assert (place == (batch[i] if i < number else 0)).all()


def test_what_a_writer_is_without_options(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        assert (writer.max_queue, writer.flush_secs, writer.purge_step, writer.filename_suffix) == (
            10, 120, None, "")
        assert writer.get_logdir() == tmp_path
    assert [p.name.startswith("events.out.tfevents.") for p in tmp_path.iterdir()] == [True]
    for kind in (SummaryWriter, FileWriter):
        taken = inspect.signature(kind).parameters
        assert (taken["max_queue"].default, taken["flush_secs"].default,
                taken["filename_suffix"].default) == (10, 120, "")


@pytest.mark.parametrize("given", [([], {}), ({}, []), ([], [])])
def test_hyperparameters_are_dictionaries(tmp_path: Path, given: Any) -> None:
    with SummaryWriter(tmp_path) as writer, \
            pytest.raises(TypeError, match="hparam_dict and metric_dict should be dictionary"):
        writer.add_hparams(*given)


def test_a_run_of_hyperparameters_has_a_name(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_hparams({"lr": 1.0}, {"loss": 2.0}, run_name="mine")
        writer.add_hparams({"lr": 1.0}, {"loss": 2.0})
    names = sorted(p.name for p in tmp_path.iterdir() if p.is_dir())
    assert names[1:] == ["mine"] and float(names[0]) > 1e9
