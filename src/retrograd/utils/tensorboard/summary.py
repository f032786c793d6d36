"""What is written, as the messages that TensorBoard reads: one function for each kind."""

from __future__ import annotations

import io
import json
import wave
from collections.abc import Sequence
from numbers import Number
from typing import Any

from ...backend import xp
from ...backend.histograms import histogram as count_in_bins
from ...base import dtypes
from ...core.tensor import Tensor
from ._images import drawn_figure, png, rows_of_pixels, with_boxes
from ._messages import (
    MeshPluginData,
    PrCurvePluginData,
    TextPluginData,
    chart_layout,
    chart_names,
    hparams_api,
    hparams_data,
    hparams_names,
    json_values,
    mesh_names,
    shapes,
    summaries,
    tensors,
)

Summary, SummaryMetadata = summaries.Summary, summaries.SummaryMetadata
TensorProto = tensors.TensorProto


def to_array(values: Any) -> Any:
    """The numbers of a tensor, an array or one number."""
    if isinstance(values, Tensor):
        values = values.detach()
        return (values.float() if values.dtype is dtypes.bfloat16 else values).numpy()
    if hasattr(values, "__array__"):
        return xp.asarray(values)
    if isinstance(values, Number | str):
        return xp.array([values])
    raise NotImplementedError(
        f"Got {type(values)}, but numpy array or torch tensor are expected.")


def _to_array_or_lists(values: Any) -> Any:
    """Like :func:`to_array`, and of lists too."""
    return xp.asarray(values) if isinstance(values, list | tuple) else to_array(values)


def _of_plugin(tag: str, name: str, content: Any = None, **value: Any) -> Any:
    about = SummaryMetadata.PluginData(
        plugin_name=name, content=b"" if content is None else content.SerializeToString())
    return Summary(value=[Summary.Value(tag=tag, metadata=SummaryMetadata(plugin_data=about),
                                        **value)])


def _tensor(kind: str, shape: Sequence[int], **values: Any) -> Any:
    sizes = [shapes.TensorShapeProto.Dim(size=size) for size in shape]
    return TensorProto(dtype=kind, tensor_shape=shapes.TensorShapeProto(dim=sizes), **values)


def scalar(tag: str, value: Any, new_style: bool = False, double_precision: bool = False) -> Any:
    """One number."""
    array = to_array(value).squeeze()
    if array.ndim:
        raise AssertionError("Tensor should contain one element (0 dimensions). Was given size: "
                             f"{array.size} and {array.ndim} dimensions.")
    number = float(array)
    if not new_style:
        return Summary(value=[Summary.Value(tag=tag, simple_value=number)])
    made = TensorProto(dtype="DT_DOUBLE", double_val=[number]) if double_precision \
        else TensorProto(dtype="DT_FLOAT", float_val=[number])
    return _of_plugin(tag, "scalars", tensor=made)


_TENSOR_FIELDS = {dtypes.float32: ("DT_FLOAT", "float_val"),
                  dtypes.float64: ("DT_DOUBLE", "double_val"),
                  dtypes.int8: ("DT_INT8", "int_val"), dtypes.int16: ("DT_INT16", "int_val"),
                  dtypes.int32: ("DT_INT32", "int_val"), dtypes.int64: ("DT_INT64", "int64_val"),
                  dtypes.uint8: ("DT_UINT8", "uint32_val"), dtypes.bool: ("DT_BOOL", "bool_val")}


def tensor_proto(tag: str, tensor: Tensor) -> Any:
    """A whole tensor."""
    if tensor.dtype not in _TENSOR_FIELDS:
        raise ValueError(f"{tag} has unsupported tensor dtype {tensor.dtype}")
    kind, field = _TENSOR_FIELDS[tensor.dtype]
    return _of_plugin(tag, "tensor", tensor=_tensor(
        kind, tensor.shape, **{field: to_array(tensor).reshape(-1).tolist()}))


def histogram_raw(tag: str, min: Any, max: Any, num: Any, sum: Any, sum_squares: Any,
                  bucket_limits: Any, bucket_counts: Any) -> Any:
    """A histogram that has been counted already."""
    if len(bucket_limits) != len(bucket_counts):
        raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
    made = summaries.HistogramProto(min=min, max=max, num=num, sum=sum, sum_squares=sum_squares,
                          bucket_limit=bucket_limits, bucket=bucket_counts)
    return Summary(value=[Summary.Value(tag=tag, histo=made)])


def histogram(tag: str, values: Any, bins: Any, max_bins: int | None = None) -> Any:
    """How many of the values lie in each bin, from the first to the last that holds one."""
    found = to_array(values).astype(float).reshape(-1)
    if not found.size:
        raise ValueError("The input has no element.")
    counts, limits = count_in_bins(found, bins, max_bins)
    filled = xp.flatnonzero(counts)
    if not filled.size:
        raise ValueError("The histogram is empty: no value lies in any of its bins.")
    first, last = filled[0], filled[-1]
    # Only the upper limits are written: an empty bin at the left tells where the first begins.
    return histogram_raw(tag, found.min(), found.max(), len(found), found.sum(), found @ found,
                         limits[first:last + 2].tolist(), [0, *counts[first:last + 1].tolist()])


def text(tag: str, text: str) -> Any:
    """A text, which may be Markdown."""
    return _of_plugin(f"{tag}/text_summary", "text", TextPluginData(version=0),
                      tensor=_tensor("DT_STRING", [1], string_val=[text.encode()]))


def _picture(tag: str, pixels: Any, shape: tuple[int, int, int]) -> Any:
    height, width, channels = shape
    return Summary(value=[Summary.Value(tag=tag, image=Summary.Image(
        height=height, width=width, colorspace=channels, encoded_image_string=png(pixels)))])


def image(tag: str, tensor: Any, dataformats: str = "NCHW") -> Any:
    """One image, or a batch of them in a grid."""
    pixels = rows_of_pixels(to_array(tensor), dataformats)
    return _picture(tag, pixels, pixels.shape)


def image_boxes(tag: str, tensor_image: Any, tensor_boxes: Any, rescale: float = 1,
                dataformats: str = "CHW", labels: Sequence[str] | None = None) -> Any:
    """An image on which boxes are drawn."""
    pixels = rows_of_pixels(to_array(tensor_image), dataformats)
    drawn = with_boxes(pixels, to_array(tensor_boxes), labels, rescale)
    return _picture(tag, drawn, pixels.shape)  # the size before it was scaled, as PyTorch writes


def figure(tag: str, figures: Any, close: bool = True) -> Any:
    """A figure of matplotlib, or several in a grid."""
    if not isinstance(figures, list):
        return image(tag, drawn_figure(figures, close), "HWC")
    return image(tag, xp.stack([drawn_figure(each, close) for each in figures]), "NHWC")


def audio(tag: str, tensor: Any, sample_rate: int = 44100) -> Any:
    """A sound of one channel, whose amplitudes are between -1 and 1."""
    sound = to_array(tensor).squeeze()
    if sound.ndim != 1:
        raise AssertionError("input tensor should be 1 dimensional.")
    if abs(sound).max() > 1:
        print("warning: audio amplitude out of range, auto clipped.")
        sound = sound.clip(-1, 1)
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(sample_rate)
        file.writeframes(bytes((sound * 32767).astype("<i2")))
    made = Summary.Audio(sample_rate=sample_rate, num_channels=1, length_frames=len(sound),
                         encoded_audio_string=written.getvalue(), content_type="audio/wav")
    return Summary(value=[Summary.Value(tag=tag, audio=made)])


def _chart(title: str, kind: str, tags: Sequence[str]) -> Any:
    if kind != "Margin":
        lines = chart_layout.MultilineChartContent(tag=tags)
        return chart_layout.Chart(title=title, multiline=lines)
    if len(tags) != 3:
        raise AssertionError(f"Expected 3 tags, got {len(tags)}.")
    value, lower, upper = tags
    series = chart_layout.MarginChartContent.Series(value=value, lower=lower, upper=upper)
    return chart_layout.Chart(title=title, margin=chart_layout.MarginChartContent(series=[series]))


def custom_scalars(layout: dict[str, dict[str, Any]]) -> Any:
    """Which scalars are shown together: charts by their title, by the title of a category."""
    made = chart_layout.Layout(category=[
        chart_layout.Category(title=category, chart=[
            _chart(title, kind, tags) for title, (kind, tags) in charts.items()])
        for category, charts in layout.items()])
    return _of_plugin(chart_names.CONFIG_SUMMARY_TAG, chart_names.PLUGIN_NAME,
                      tensor=_tensor("DT_STRING", [], string_val=[made.SerializeToString()]))


_MOST_THRESHOLDS = 127
"""More of them cannot be shown."""


def pr_curve_raw(tag: str, tp: Any, fp: Any, tn: Any, fn: Any, precision: Any, recall: Any,
                 num_thresholds: int = _MOST_THRESHOLDS, weights: Any = None) -> Any:
    """A curve of precision over recall that has been counted already."""
    lines = xp.stack([_to_array_or_lists(line) for line in (tp, fp, tn, fn, precision, recall)])
    about = PrCurvePluginData(version=0, num_thresholds=min(num_thresholds, _MOST_THRESHOLDS))
    return _of_plugin(tag, "pr_curves", about, tensor=_tensor(
        "DT_FLOAT", lines.shape, float_val=lines.reshape(-1).tolist()))


def pr_curve(tag: str, labels: Any, predictions: Any, num_thresholds: int = _MOST_THRESHOLDS,
             weights: Any = None) -> Any:
    """Precision and recall of predictions from 0 to 1, at evenly spaced thresholds."""
    number = min(num_thresholds, _MOST_THRESHOLDS)
    truth = to_array(labels).astype(xp.float64).reshape(-1)
    steps = xp.floor(to_array(predictions) * (number - 1)).astype(int).reshape(-1)
    weight = xp.broadcast_to(_to_array_or_lists(1.0 if weights is None else weights).reshape(-1),
                             truth.shape)
    inside = (steps >= 0) & (steps < number)

    def reached(counted: Any) -> Any:
        """How much lies at each threshold or above it."""
        return xp.bincount(steps[inside], (counted * weight)[inside], number)[::-1].cumsum()[::-1]
    tp, fp = reached(truth), reached(1.0 - truth)
    fn, least = tp[0] - tp, 1e-7
    return pr_curve_raw(tag, tp, fp, fp[0] - fp, fn, tp / xp.maximum(least, tp + fp),
                        tp / xp.maximum(least, tp + fn), number)


def mesh(tag: str, vertices: Any, colors: Any, faces: Any, config_dict: Any,
         display_name: str | None = None, description: str | None = None) -> Any:
    """Points in space, with their colours and the triangles between them where given."""
    parts = [(_to_array_or_lists(part), kind) for part, kind
             in [(vertices, MeshPluginData.VERTEX), (faces, MeshPluginData.FACE),
                 (colors, MeshPluginData.COLOR)] if part is not None]
    for part, _ in parts:
        if part.ndim != 3:
            raise ValueError("vertices, colors and faces have the shape (batch, number, 3), got "
                             f"{part.shape}")
    components = mesh_names.get_components_bitmask([kind for _, kind in parts])
    config = "{}" if config_dict is None else json.dumps(config_dict, sort_keys=True)
    return Summary(value=[Summary.Value(
        tag=mesh_names.get_instance_name(tag, kind),
        tensor=_tensor("DT_FLOAT", part.shape, float_val=part.reshape(-1).tolist()),
        metadata=mesh_names.create_summary_metadata(tag, display_name, kind, components,
                                                       part.shape, description, json_config=config))
        for part, kind in parts])


_HPARAM_KINDS = [((int, float), "number_value", "DATA_TYPE_FLOAT64"),
                 (str, "string_value", "DATA_TYPE_STRING")]


def _hparam(value: Any) -> tuple[Any, str, str]:
    if isinstance(value, Tensor):
        value = value.item()
    for types, field, kind in _HPARAM_KINDS:
        if isinstance(value, types):  # type: ignore[arg-type]
            return value, field, kind
    raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")


def hparams(hparam_dict: dict[str, Any], metric_dict: dict[str, Any],
            hparam_domain_discrete: dict[str, list[Any]] | None = None) -> tuple[Any, Any, Any]:
    """Hyperparameters and the names of metrics: the experiment, its beginning and its end."""
    domains = hparam_domain_discrete or {}
    for name, given in [("hparam_dict", hparam_dict), ("metric_dict", metric_dict),
                        ("hparam_domain_discrete", domains)]:
        if not isinstance(given, dict):
            raise TypeError(f"parameter: {name} should be a dictionary, nothing logged.")
    for name, domain in domains.items():
        if name not in hparam_dict or not isinstance(domain, list) or not all(
                isinstance(each, type(hparam_dict[name])) for each in domain):
            raise TypeError(f"parameter: hparam_domain_discrete[{name}] should be a list of same "
                            f"type as hparam_dict[{name}].")
    start, known = hparams_data.SessionStartInfo(), []
    for name, value in hparam_dict.items():
        if value is None:
            continue
        value, field, kind = _hparam(value)
        setattr(start.hparams[name], field, value)
        values = [json_values.Value(**{field: each}) for each in domains.get(name, ())]
        known.append(hparams_api.HParamInfo(
            name=name, type=hparams_api.DataType.Value(kind),
            domain_discrete=json_values.ListValue(values=values) if name in domains else None))
    metrics = [hparams_api.MetricInfo(name=hparams_api.MetricName(tag=name))
               for name in metric_dict]
    end = hparams_data.SessionEndInfo(status=hparams_api.Status.Value("STATUS_SUCCESS"))

    def part(tag: str, **content: Any) -> Any:
        version = hparams_names.PLUGIN_DATA_VERSION
        return _of_plugin(tag, hparams_names.PLUGIN_NAME,
                          hparams_data.HParamsPluginData(version=version, **content))
    return (part(hparams_names.EXPERIMENT_TAG,
                 experiment=hparams_api.Experiment(hparam_infos=known, metric_infos=metrics)),
            part(hparams_names.SESSION_START_INFO_TAG, session_start_info=start),
            part(hparams_names.SESSION_END_INFO_TAG, session_end_info=end))
