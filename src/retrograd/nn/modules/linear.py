"""Layers that multiply by a matrix, and the layer that does nothing."""

import math
from typing import Any

from ...core.tensor import Tensor
from .. import functional as F, init
from ..parameter import Parameter, add_parameters
from .lazy import WaitsForOneSize
from .module import Module

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]


class Identity(Module):
    """Return the input, whatever arguments it was built with."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """Apply ``y = x @ weight.T + bias`` to the last dimension."""

    weight: Parameter
    bias: Parameter

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        add_parameters(self, self._shapes(), device, dtype, bias=bias)
        self.reset_parameters()

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"weight": (self.out_features, self.in_features), "bias": (self.out_features,)}

    def reset_parameters(self) -> None:
        """Draw weight and bias uniformly from ±1/√in_features."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (f"in_features={self.in_features}, out_features={self.out_features}, "
                f"bias={self.bias is not None}")


class LazyLinear(WaitsForOneSize, Linear):
    """:class:`Linear` for inputs of a size that the first one decides."""

    inferred = "in_features"

    def __init__(self, out_features: int, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self._wait(device, dtype, weight=True, bias=bias)
        self.out_features = out_features

    def _size_in(self, input: Tensor) -> int:
        return input.shape[-1]

    def initialize_parameters(self, input: Tensor) -> None:  # type: ignore[override]
        super().initialize_parameters(input)
        if self.in_features == 0:  # the weight was loaded
            given, known = input.shape[-1], self.weight.shape[-1]
            if given != known:
                raise AssertionError(f"The in_features inferred from input: {given} is not equal "
                                     f"to in_features from self.weight: {known}")
            self.in_features = given


class NonDynamicallyQuantizableLinear(Linear):
    """:class:`Linear` under the name that attention has for its last one."""


class Bilinear(Module):
    """Apply ``y = x1 @ weight @ x2 + bias`` to the last dimensions."""

    bias: Tensor | None

    def __init__(self, in1_features: int, in2_features: int, out_features: int, bias: bool = True,
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        if in1_features == 0:
            raise ValueError("in1_features must be > 0, but got (in1_features=0)")
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features = out_features
        add_parameters(self, {"weight": (out_features, in1_features, in2_features),
                              "bias": out_features}, device, dtype, bias=bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias uniformly from ±1/√in1_features."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
                f"out_features={self.out_features}, bias={self.bias is not None}")
