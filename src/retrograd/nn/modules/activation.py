"""Activation functions as layers."""

from typing import Any

from ...base.warning import warn
from ...core.tensor import Tensor
from ...ops.nn.attention_heads import added_mask
from .. import functional as F, init
from ..parameter import add_parameters, empty_parameter
from ._options import Applying, Shown
from .linear import NonDynamicallyQuantizableLinear
from .module import Module

__all__ = ["CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh",
           "LeakyReLU", "LogSigmoid", "LogSoftmax", "Mish", "MultiheadAttention", "PReLU", "RReLU",
           "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax", "Softmax2d", "Softmin",
           "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold"]


class _Unary(Applying):
    """An activation without options."""

    def forward(self, input: Tensor) -> Tensor:
        return self._function(input)


class _InPlace(Applying, Shown):
    """An activation without options but the one to overwrite its input."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return self._function(input, self.inplace)


class _Exponential(Applying, Shown, options="alpha"):
    """An activation that approaches ``-alpha``."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        return self._function(input, self.alpha, self.inplace)


class ReLU(_InPlace, function="relu"):
    """``max(0, x)``, elementwise."""


class Tanh(Module):
    """The hyperbolic tangent, elementwise."""

    def forward(self, input: Tensor) -> Tensor:
        return input.tanh()


class Sigmoid(Module):
    """``1 / (1 + exp(-x))``, elementwise."""

    def forward(self, input: Tensor) -> Tensor:
        return input.sigmoid()


class GELU(Module):
    """``x`` times the normal distribution function of ``x``, exact or by ``tanh``."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class SiLU(_InPlace, function="silu"):
    """``x * sigmoid(x)``, elementwise."""


class LeakyReLU(Shown, options="negative_slope"):
    """``x`` where positive, ``negative_slope * x`` elsewhere."""

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class ELU(_Exponential, function="elu"):
    """``x`` where positive, ``alpha * (exp(x) - 1)`` elsewhere."""


class Softplus(Shown, options="beta threshold"):
    """``log(1 + exp(beta * x)) / beta``, linear above ``threshold``."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)


class _AlongDim(Applying, Shown, options="dim"):
    """An activation that looks at all values along a dimension."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return self._function(input, self.dim)


class Softmax(_AlongDim, function="softmax"):
    """Exponentials along ``dim``, scaled so that they sum to one."""


class LogSoftmax(_AlongDim, function="log_softmax"):
    """The logarithm of :class:`Softmax`, computed stably."""


class Softmin(_AlongDim, function="softmin"):
    """:class:`Softmax` of the negated values."""


class Softmax2d(Module):
    """:class:`Softmax` over the channels at each place of an image."""

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D "
                             "instead")
        return F.softmax(input, -3)


class Threshold(Shown, options="threshold value"):
    """``x`` where it exceeds ``threshold``, ``value`` elsewhere."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)


class RReLU(Shown, options="lower upper"):
    """:class:`LeakyReLU` with a slope drawn for each element while training."""

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3,
                 inplace: bool = False) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class Hardtanh(Shown, options="min_val max_val"):
    """``x``, but at least ``min_val`` and at most ``max_val``."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False,
                 min_value: float | None = None, max_value: float | None = None) -> None:
        super().__init__()
        if min_value is not None:
            warn("keyword argument `min_value` is deprecated and renamed to `min_val`",
                 FutureWarning)
            min_val = min_value
        if max_value is not None:
            warn("keyword argument `max_value` is deprecated and renamed to `max_val`",
                 FutureWarning)
            max_val = max_value
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({max_val}) must be greater than min_val ({min_val})")

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh, options=""):
    """``x``, but at least 0 and at most 6."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


class Hardsigmoid(_InPlace, function="hardsigmoid"):
    """A piecewise linear :class:`Sigmoid`."""

    def extra_repr(self) -> str:
        return ""


class Hardswish(_InPlace, function="hardswish"):
    """``x`` times :class:`Hardsigmoid` of ``x``."""

    def extra_repr(self) -> str:
        return ""


class SELU(_InPlace, function="selu"):
    """:class:`ELU` with the constants that keep mean and variance."""


class Mish(_InPlace, function="mish"):
    """``x * tanh(softplus(x))``, elementwise."""


class CELU(_Exponential, function="celu"):
    """:class:`ELU` that is smooth for every ``alpha``."""


class GLU(Shown, options="dim"):
    """One half of the values along ``dim``, times the sigmoid of the other."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)


class LogSigmoid(_Unary, function="logsigmoid"):
    """The logarithm of :class:`Sigmoid`, computed stably."""


class _Shrink(Applying):
    """An activation that is zero up to ``lambd``."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return self._function(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(_Shrink, function="hardshrink"):
    """``x`` where it is farther than ``lambd`` from zero, zero elsewhere."""


class Softshrink(_Shrink, function="softshrink"):
    """``x`` moved towards zero by ``lambd``."""


class Softsign(_Unary, function="softsign"):
    """``x / (1 + |x|)``, elementwise."""


class Tanhshrink(_Unary, function="tanhshrink"):
    """``x - tanh(x)``, elementwise."""


class PReLU(Module):
    """:class:`LeakyReLU` with a learned slope, one in all or one per channel."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = empty_parameter((num_parameters,), device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set every slope to ``init``."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class MultiheadAttention(Module):
    """Attention of queries to keys, in several heads whose results are joined and projected."""

    in_proj_weight: Tensor | None
    in_proj_bias: Tensor | None
    bias_k: Tensor | None
    bias_v: Tensor | None

    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
                 add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: int | None = None,
                 vdim: int | None = None, batch_first: bool = False, device: Any = None,
                 dtype: Any = None) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError("embed_dim and num_heads must be greater than 0, got "
                             f"embed_dim={embed_dim} and num_heads={num_heads} instead")
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads, self.dropout, self.batch_first = num_heads, dropout, batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        joined = self._qkv_same_embed_dim
        add_parameters(self, {
            "q_proj_weight": (embed_dim, embed_dim), "k_proj_weight": (embed_dim, self.kdim),
            "v_proj_weight": (embed_dim, self.vdim), "in_proj_weight": (3 * embed_dim, embed_dim),
            "in_proj_bias": 3 * embed_dim}, device, dtype, q_proj_weight=not joined,
            k_proj_weight=not joined, v_proj_weight=not joined, in_proj_weight=joined,
            in_proj_bias=bias)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        add_parameters(self, dict.fromkeys(("bias_k", "bias_v"), (1, 1, embed_dim)), device, dtype,
                       bias_k=add_bias_kv, bias_v=add_bias_kv)
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Draw the projections by Xavier's rule; biases are zero."""
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            if getattr(self, name) is not None:
                init.xavier_uniform_(getattr(self, name))
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for part in (self.bias_k, self.bias_v):
            if part is not None:
                init.xavier_normal_(part)

    def __setstate__(self, state: dict[str, Any]) -> None:
        state.setdefault("_qkv_same_embed_dim", True)
        super().__setstate__(state)

    def forward(self, query: Tensor, key: Tensor, value: Tensor,
                key_padding_mask: Tensor | None = None, need_weights: bool = True,
                attn_mask: Tensor | None = None, average_attn_weights: bool = True,
                is_causal: bool = False) -> tuple[Tensor, Tensor | None]:
        is_batched = query.dim() == 3
        key_padding_mask = added_mask(key_padding_mask, "key_padding_mask", attn_mask,
                                       "attn_mask", query)
        attn_mask = added_mask(attn_mask, "attn_mask", None, "", query, check_other=False)
        if self.batch_first and is_batched:
            query, key, value = _turned(query, key, value)
        separate = {} if self._qkv_same_embed_dim else {
            "use_separate_proj_weight": True, "q_proj_weight": self.q_proj_weight,
            "k_proj_weight": self.k_proj_weight, "v_proj_weight": self.v_proj_weight}
        output, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight,
            self.in_proj_bias, self.bias_k, self.bias_v, self.add_zero_attn, self.dropout,
            self.out_proj.weight, self.out_proj.bias, training=self.training,
            key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask,
            average_attn_weights=average_attn_weights, is_causal=is_causal, **separate)
        if self.batch_first and is_batched:
            return output.transpose(1, 0), weights
        return output, weights


def _turned(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Batch and length exchanged; what was one tensor stays one, for one projection of all."""
    turned = {id(t): t.transpose(1, 0) for t in (query, key, value)}
    return turned[id(query)], turned[id(key)], turned[id(value)]
