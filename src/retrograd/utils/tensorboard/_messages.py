"""The messages and names of the tensorboard package, which is no dependency of this one."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def _of(module: str) -> Any:
    return import_module(f"tensorboard.{module}")


events = _of("compat.proto.event_pb2")
summaries = _of("compat.proto.summary_pb2")
tensors = _of("compat.proto.tensor_pb2")
shapes = _of("compat.proto.tensor_shape_pb2")
EventFileWriter: Any = _of("summary.writer.event_file_writer").EventFileWriter
chart_layout = _of("plugins.custom_scalar.layout_pb2")
chart_names = _of("plugins.custom_scalar.metadata")
hparams_api = _of("plugins.hparams.api_pb2")
hparams_data = _of("plugins.hparams.plugin_data_pb2")
hparams_names = _of("plugins.hparams.metadata")
mesh_names = _of("plugins.mesh.metadata")
MeshPluginData: Any = _of("plugins.mesh.plugin_data_pb2").MeshPluginData
PrCurvePluginData: Any = _of("plugins.pr_curve.plugin_data_pb2").PrCurvePluginData
projector = _of("plugins.projector.projector_config_pb2")
TextPluginData: Any = _of("plugins.text.plugin_data_pb2").TextPluginData
json_values: Any = import_module("google.protobuf.struct_pb2")
text_format: Any = import_module("google.protobuf.text_format")
