"""``SummaryWriter``: what a training loop calls to have its progress shown by TensorBoard."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from typing import Any

from . import summary as make
from ._embedding import write_embedding
from ._messages import EventFileWriter, events, projector

Event, SessionLog = events.Event, events.SessionLog

_ABSENT = {"add_graph": "there is no traced graph of a model to write",
           "add_onnx_graph": "graphs in the ONNX format are not read",
           "add_video": "it needs an encoder of moving pictures; add_images writes single ones"}
"""The methods of PyTorch's that are missing, and why."""


def _default_bins() -> list[float]:
    """Limits that grow by a tenth each, from 1e-12 to 1e20, on both sides of zero."""
    limits, limit = [], 1e-12
    while limit < 1e20:
        limits.append(limit)
        limit *= 1.1
    return [*(-each for each in reversed(limits)), 0, *limits]


class FileWriter:
    """Writes messages for TensorBoard into one file."""

    def __init__(self, log_dir: str | os.PathLike[str], max_queue: int = 10, flush_secs: int = 120,
                 filename_suffix: str = ""):
        self.event_writer = EventFileWriter(os.fspath(log_dir), max_queue, flush_secs,
                                            filename_suffix)

    def get_logdir(self) -> str:
        """The folder of the file."""
        return self.event_writer.get_logdir()

    def add_event(self, event: Any, step: int | None = None, walltime: float | None = None) -> None:
        """Write an ``Event``."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary: Any, global_step: int | None = None,
                    walltime: float | None = None) -> None:
        """Write a ``Summary``."""
        self.add_event(Event(summary=summary), global_step, walltime)

    def flush(self) -> None:
        """Bring everything to the disk."""
        self.event_writer.flush()

    def close(self) -> None:
        """Finish the file."""
        self.event_writer.close()


class SummaryWriter:
    """Writes numbers, histograms, pictures, sounds, texts and more for TensorBoard to show."""

    def __init__(self, log_dir: str | os.PathLike[str] | None = None, comment: str = "",
                 purge_step: int | None = None, max_queue: int = 10, flush_secs: int = 120,
                 filename_suffix: str = ""):
        if not log_dir:
            began = time.strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{began}_{socket.gethostname()}{comment}")
        self.log_dir, self.purge_step = log_dir, purge_step
        self.max_queue, self.flush_secs = max_queue, flush_secs
        self.filename_suffix = filename_suffix
        self.default_bins = _default_bins()
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self._projector_config = projector.ProjectorConfig()
        self._get_file_writer()

    def _new_file(self, folder: str | os.PathLike[str]) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def _get_file_writer(self) -> FileWriter:
        if self.file_writer is not None:
            return self.file_writer
        self.file_writer = file = self._new_file(self.log_dir)  # again, where it was closed
        self.all_writers = {file.get_logdir(): file}
        if self.purge_step is not None:
            file.add_event(Event(step=self.purge_step, file_version="brain.Event:2"))
            file.add_event(Event(step=self.purge_step,
                                 session_log=SessionLog(status=SessionLog.START)))
            self.purge_step = None
        return file

    def get_logdir(self) -> str | os.PathLike[str]:
        """The folder that is written to."""
        return self.log_dir

    def _add(self, summary: Any, step: int | None = None, walltime: float | None = None) -> None:
        self._get_file_writer().add_summary(summary, step, walltime)

    def add_scalar(self, tag: str, scalar_value: Any, global_step: int | None = None,
                   walltime: float | None = None, new_style: bool = False,
                   double_precision: bool = False) -> None:
        """Write one number."""
        self._add(make.scalar(tag, scalar_value, new_style, double_precision), global_step,
                  walltime)

    def add_scalars(self, main_tag: str, tag_scalar_dict: dict[str, Any],
                    global_step: int | None = None, walltime: float | None = None) -> None:
        """Write several numbers to be drawn in one chart, each in a run of its own."""
        walltime = time.time() if walltime is None else walltime
        made = {tag: make.scalar(main_tag, value) for tag, value in tag_scalar_dict.items()}
        log_dir = self._get_file_writer().get_logdir()
        assert self.all_writers is not None
        for tag, summary in made.items():
            folder = f"{log_dir}/{main_tag.replace('/', '_')}_{tag}"
            if folder not in self.all_writers:
                self.all_writers[folder] = self._new_file(folder)
            self.all_writers[folder].add_summary(summary, global_step, walltime)

    def add_tensor(self, tag: str, tensor: Any, global_step: int | None = None,
                   walltime: float | None = None) -> None:
        """Write a whole tensor."""
        self._add(make.tensor_proto(tag, tensor), global_step, walltime)

    def add_histogram(self, tag: str, values: Any, global_step: int | None = None,
                      bins: Any = "tensorflow", walltime: float | None = None,
                      max_bins: int | None = None) -> None:
        """Write how values are distributed."""
        if isinstance(bins, str) and bins == "tensorflow":
            bins = self.default_bins
        self._add(make.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(self, tag: str, min: Any, max: Any, num: Any, sum: Any, sum_squares: Any,
                          bucket_limits: Any, bucket_counts: Any, global_step: int | None = None,
                          walltime: float | None = None) -> None:
        """Write a histogram that has been counted already."""
        self._add(make.histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits,
                                     bucket_counts), global_step, walltime)

    def add_image(self, tag: str, img_tensor: Any, global_step: int | None = None,
                  walltime: float | None = None, dataformats: str = "CHW") -> None:
        """Write an image of bytes, or of numbers from 0 to 1."""
        self._add(make.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(self, tag: str, img_tensor: Any, global_step: int | None = None,
                   walltime: float | None = None, dataformats: str = "NCHW") -> None:
        """Write a batch of images, eight beside each other."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_image_with_boxes(self, tag: str, img_tensor: Any, box_tensor: Any,
                             global_step: int | None = None, walltime: float | None = None,
                             rescale: float = 1, dataformats: str = "CHW",
                             labels: str | Sequence[str] | None = None) -> None:
        """Write an image with boxes drawn on it; labels that do not fit their number are left."""
        names = [labels] if isinstance(labels, str) else labels
        if names is not None and len(names) != len(box_tensor):
            names = None
        self._add(make.image_boxes(tag, img_tensor, box_tensor, rescale, dataformats, names),
                  global_step, walltime)

    def add_figure(self, tag: str, figure: Any, global_step: int | None = None, close: bool = True,
                   walltime: float | None = None) -> None:
        """Write what matplotlib draws of a figure, or of a list of them."""
        self._add(make.figure(tag, figure, close), global_step, walltime)

    def add_audio(self, tag: str, snd_tensor: Any, global_step: int | None = None,
                  sample_rate: int = 44100, walltime: float | None = None) -> None:
        """Write a sound, whose amplitudes are between -1 and 1."""
        self._add(make.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_text(self, tag: str, text_string: str, global_step: int | None = None,
                 walltime: float | None = None) -> None:
        """Write a text."""
        self._add(make.text(tag, text_string), global_step, walltime)

    def add_hparams(self, hparam_dict: dict[str, Any], metric_dict: dict[str, Any],
                    hparam_domain_discrete: dict[str, list[Any]] | None = None,
                    run_name: str | None = None, global_step: int | None = None) -> None:
        """Write hyperparameters and what they led to, in a run of their own."""
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        summaries = [*make.hparams(hparam_dict, metric_dict, hparam_domain_discrete),
                     *(make.scalar(name, value) for name, value in metric_dict.items())]
        log_dir = self._get_file_writer().get_logdir()
        with SummaryWriter(os.path.join(log_dir, run_name or str(time.time()))) as run:
            for summary in summaries:
                run._add(summary, global_step)

    def add_custom_scalars(self, layout: dict[str, dict[str, Any]]) -> None:
        """Write which scalars are drawn together, once for a writer."""
        self._add(make.custom_scalars(layout))

    def add_custom_scalars_multilinechart(self, tags: Sequence[str], category: str = "default",
                                          title: str = "untitled") -> None:
        """Write that scalars are the lines of one chart."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(self, tags: Sequence[str], category: str = "default",
                                       title: str = "untitled") -> None:
        """Write that three scalars are a line and the margin below and above it."""
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_pr_curve(self, tag: str, labels: Any, predictions: Any, global_step: int | None = None,
                     num_thresholds: int = 127, weights: Any = None,
                     walltime: float | None = None) -> None:
        """Write the precision and the recall of predictions from 0 to 1."""
        self._add(make.pr_curve(tag, labels, predictions, num_thresholds, weights), global_step,
                  walltime)

    def add_pr_curve_raw(self, tag: str, true_positive_counts: Any, false_positive_counts: Any,
                         true_negative_counts: Any, false_negative_counts: Any, precision: Any,
                         recall: Any, global_step: int | None = None, num_thresholds: int = 127,
                         weights: Any = None, walltime: float | None = None) -> None:
        """Write a curve of precision over recall that has been counted already."""
        self._add(make.pr_curve_raw(tag, true_positive_counts, false_positive_counts,
                                    true_negative_counts, false_negative_counts, precision, recall,
                                    num_thresholds), global_step, walltime)

    def add_embedding(self, mat: Any, metadata: Sequence[Any] | None = None, label_img: Any = None,
                      global_step: int | None = None, tag: str = "default",
                      metadata_header: Sequence[str] | None = None) -> None:
        """Write points for the projector, with a label and a small image of each where given."""
        step = str(global_step or 0).zfill(5)
        folder = tag.replace("%", "%25").replace("/", "%2f").replace("\\", "%5c")
        write_embedding(self._projector_config, self._get_file_writer().get_logdir(),
                        f"{step}/{folder}", f"{tag}:{step}", make.to_array(mat), metadata,
                        None if label_img is None else make.to_array(label_img), metadata_header)

    def add_mesh(self, tag: str, vertices: Any, colors: Any = None, faces: Any = None,
                 config_dict: dict[str, Any] | None = None, global_step: int | None = None,
                 walltime: float | None = None) -> None:
        """Write points in space, with their colours and the triangles between them."""
        self._add(make.mesh(tag, vertices, colors, faces, config_dict), global_step, walltime)

    def flush(self) -> None:
        """Bring everything to the disk."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Finish the files; what is added later begins another."""
        for writer in (self.all_writers or {}).values():
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        if name in _ABSENT:
            raise AttributeError(f"SummaryWriter.{name} does not exist here yet: {_ABSENT[name]}")
        raise AttributeError(f"'SummaryWriter' object has no attribute '{name}'")


__all__ = ["FileWriter", "SummaryWriter"]
