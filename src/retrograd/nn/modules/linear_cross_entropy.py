"""A linear layer together with its cross entropy."""

import math
from dataclasses import dataclass
from typing import Any

from ...base import dtypes
from ...core.tensor import Tensor
from .. import functional as F
from .linear import Linear
from .loss import _WeightedLoss

__all__ = ["LinearCrossEntropyLoss", "LinearCrossEntropyOptions"]

_HALVES = (dtypes.float16, dtypes.bfloat16)


@dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """How many rows' scores are held at once.

    Sums are computed in float32 for half precision under every ``acc_policy``, and a graph may be
    used again with or without ``allow_retain_graph``.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: dtypes.dtype | None = None

    def __post_init__(self) -> None:
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if self.chunking_method not in (None, "auto"):
            name, colon, factor = str(self.chunking_method).partition(":")
            if name != "aspect_ratio" or (colon and not (factor.isdigit() and int(factor))):
                raise ValueError(f"invalid chunking_method: {self.chunking_method!r}")
        rows = self.batch_chunk_size
        if rows is not None and not (isinstance(rows, int) and rows > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {rows!r}")
        if self.acc_dtype not in (None, *_HALVES, dtypes.float32, dtypes.float64):
            raise ValueError("acc_dtype must be one of {None, torch.float16, torch.bfloat16, "
                             f"torch.float32, torch.float64}}, got {self.acc_dtype!r}. Pass "
                             "acc_dtype=None to let the op pick automatically.")

    def _chunk_of(self, rows: int, features: int, classes: int, dtype: dtypes.dtype) -> int:
        """The number of rows whose scores are held at once."""
        wide = self.acc_dtype
        if wide not in (None, dtype) and not (dtype in _HALVES and wide is dtypes.float32):
            raise RuntimeError("linear_cross_entropy supports float32 acc_dtype with "
                               f"float16/bfloat16 inputs, but got {wide} acc_dtype and {dtype} "
                               "inputs.")
        method, given = self.chunking_method, self.batch_chunk_size
        if method == "auto":
            method = None if given is not None else \
                "aspect_ratio" if dtype in _HALVES else "aspect_ratio:2"
        if method is None:
            return max(1, min(given or rows, rows))
        # As many that their scores take no more memory than all of the input, over a factor.
        wanted = -(-rows // -(-classes // features)) if classes and features else rows
        power = 1 << (wanted - 1).bit_length() if wanted > 0 else 0
        found = min(power // int(method.partition(":")[2] or 1), rows)
        if given is not None and given != found:
            raise ValueError(f"batch_chunk_size (={given}) and chunking_method ('{method}') give "
                             f"different chunk sizes ({given} vs {found}); pass only one.")
        return max(1, found)


class LinearCrossEntropyLoss(_WeightedLoss):
    """The cross entropy of the scores of a linear layer, which belongs to the loss."""

    def __init__(self, in_features: int, num_classes: int, *, out_features: tuple[int, ...] = (),
                 bias: bool = False, device: Any = None, dtype: Any = None,
                 reduction: str = "mean", weight: Tensor | None = None,
                 ignore_index: int | None = None, label_smoothing: float = 0.0,
                 options: LinearCrossEntropyOptions | None = None) -> None:
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got "
                               f"{tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError("expected label_smoothing to be in range [0, 1], got "
                               f"{label_smoothing}")
        super().__init__(weight, reduction=reduction)
        self.num_classes, self.out_features = num_classes, out_features
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        self.linear = Linear(in_features, math.prod(out_features, start=num_classes), bias=bias,
                             device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        shape, bias = (self.num_classes, *self.out_features), self.linear.bias
        return F.linear_cross_entropy(
            input, self.linear.weight.reshape((*shape, self.linear.in_features)), target,
            linear_bias=None if bias is None else bias.reshape(shape), weight=self.weight,
            reduction=self.reduction, ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing, options=self.options)

    def extra_repr(self) -> str:
        return (f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
                f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
                f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
                f"label_smoothing={self.label_smoothing}, options={self.options}")
