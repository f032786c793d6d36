"""Functions of neural networks, as modules use them: what the ops declare for this namespace."""

from __future__ import annotations

from .. import ops as _ops  # noqa: F401 - declares them
from ..core.op import PUBLIC
from ..ops.products import grouped as _grouped  # noqa: F401 - which declares it
from ..ops.products.scaled import ScalingType, SwizzleType  # noqa: F401 - public

# PyTorch offers these both here and at the top level.
_SHARED = (
    "adaptive_avg_pool1d", "avg_pool1d", "bilinear", "celu_", "channel_shuffle", "conv1d",
    "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
    "cosine_similarity", "hardshrink", "logsigmoid", "native_channel_shuffle", "one_hot",
    "pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle", "prelu", "relu_", "rrelu_",
    "selu_", "sigmoid", "softplus", "softshrink", "tanh", "threshold_", "relu", "selu", "celu",
    "softmax", "log_softmax", "dropout", "layer_norm", "group_norm", "instance_norm",
    "batch_norm", "rms_norm", "embedding", "threshold", "rrelu", "max_pool1d",
)

globals().update({name: PUBLIC["torch"][name] for name in _SHARED if name in PUBLIC["torch"]})
globals().update(PUBLIC["nn.functional"])


def __dir__() -> list[str]:
    return sorted(name for name, value in globals().items()
                  if callable(value) and not name.startswith("_"))
