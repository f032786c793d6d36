"""``SummaryWriter``, where the tensorboard package is installed."""

from __future__ import annotations

import os
import socket
import time
from importlib import import_module
from typing import Any

from ..core.tensor import Tensor


def _part(module: str, name: str) -> Any:
    """A class of the tensorboard package, which must be installed."""
    try:
        return getattr(import_module(f"tensorboard.{module}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "tensorboard":
            raise
        raise ModuleNotFoundError("No module named 'tensorboard'. SummaryWriter writes through it: "
                                  "pip install tensorboard", name="tensorboard") from None


Event = _part("compat.proto.event_pb2", "Event")
HistogramProto = _part("compat.proto.summary_pb2", "HistogramProto")
Summary = _part("compat.proto.summary_pb2", "Summary")
SummaryMetadata = _part("compat.proto.summary_pb2", "SummaryMetadata")
TensorProto = _part("compat.proto.tensor_pb2", "TensorProto")
TensorShapeProto = _part("compat.proto.tensor_shape_pb2", "TensorShapeProto")
EventFileWriter = _part("summary.writer.event_file_writer", "EventFileWriter")


def _numbers(values: Any) -> list[float]:
    found = values.detach().double().flatten().tolist() if isinstance(values, Tensor) \
        else list(getattr(values, "flat", values))
    return [float(value) for value in found]


class SummaryWriter:
    """Writes scalars, histograms and texts for TensorBoard to show."""

    def __init__(self, log_dir: str | os.PathLike[str] | None = None, comment: str = "",
                 purge_step: int | None = None, max_queue: int = 10, flush_secs: int = 120,
                 filename_suffix: str = ""):
        if not log_dir:
            began = time.strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{began}_{socket.gethostname()}{comment}")
        self.log_dir = os.fspath(log_dir)
        self._options = (self.log_dir, max_queue, flush_secs, filename_suffix)
        self._file: Any = EventFileWriter(*self._options)

    def get_logdir(self) -> str:
        """The folder that is written to."""
        return self.log_dir

    def _add(self, value: Any, step: int | None, walltime: float | None) -> None:
        if self._file is None:  # closed, and opened again as PyTorch's is
            self._file = EventFileWriter(*self._options)
        event = Event(summary=Summary(value=[value]), wall_time=walltime or time.time())
        if step is not None:
            event.step = int(step)
        self._file.add_event(event)

    def add_scalar(self, tag: str, scalar_value: Any, global_step: int | None = None,
                   walltime: float | None = None, new_style: bool = False,
                   double_precision: bool = False) -> None:
        """Write one number."""
        (number,) = _numbers([scalar_value] if not isinstance(scalar_value, Tensor)
                             else scalar_value)
        self._add(Summary.Value(tag=tag, simple_value=number), global_step, walltime)

    def add_scalars(self, main_tag: str, tag_scalar_dict: dict[str, Any],
                    global_step: int | None = None, walltime: float | None = None) -> None:
        """Write several numbers under one heading."""
        for tag, value in tag_scalar_dict.items():
            self.add_scalar(f"{main_tag}/{tag}", value, global_step, walltime)

    def add_histogram(self, tag: str, values: Any, global_step: int | None = None,
                      bins: Any = "tensorflow", walltime: float | None = None,
                      max_bins: int | None = None) -> None:
        """Write how values are distributed, in thirty bins of equal width."""
        found = sorted(_numbers(values))
        if not found:
            raise ValueError("The input has no element.")
        low, high = found[0], found[-1]
        width = (high - low) / 30 or 1.0
        limits, counts = [low + width * (i + 1) for i in range(30)], [0] * 30
        for value in found:
            counts[min(int((value - low) / width), 29)] += 1
        made = HistogramProto(min=low, max=high, num=len(found), sum=sum(found),
                              sum_squares=sum(v * v for v in found), bucket_limit=limits,
                              bucket=counts)
        self._add(Summary.Value(tag=tag, histo=made), global_step, walltime)

    def add_text(self, tag: str, text_string: str, global_step: int | None = None,
                 walltime: float | None = None) -> None:
        """Write a text."""
        about = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text"))
        tensor = TensorProto(dtype="DT_STRING", string_val=[text_string.encode()],
                             tensor_shape=TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)]))
        self._add(Summary.Value(tag=f"{tag}/text_summary", metadata=about, tensor=tensor),
                  global_step, walltime)

    def flush(self) -> None:
        """Bring everything to the disk."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Finish the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("add_"):
            raise AttributeError(f"SummaryWriter.{name} does not exist here yet: scalars, "
                                 "histograms and texts can be written")
        raise AttributeError(f"'SummaryWriter' object has no attribute '{name}'")


__all__ = ["SummaryWriter"]
