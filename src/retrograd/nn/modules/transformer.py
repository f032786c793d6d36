"""Encoders and decoders made of attention."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from ...base import dtypes
from ...base.modes import MODE
from ...base.warning import warn
from ...core.tensor import Tensor
from ...ops.creation.filled import full
from ...ops.nn.attention_heads import added_mask
from .. import functional as F, init
from .activation import MultiheadAttention
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

__all__ = ["Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
           "TransformerEncoderLayer"]

Activation = str | Callable[[Tensor], Tensor]


class Transformer(Module):
    """An encoder of a source, and a decoder of a target that looks at it."""

    def __init__(self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6,
                 num_decoder_layers: int = 6, dim_feedforward: int = 2048, dropout: float = 0.1,
                 activation: Activation = F.relu, custom_encoder: Any = None,
                 custom_decoder: Any = None, layer_norm_eps: float = 1e-5,
                 batch_first: bool = False, norm_first: bool = False, bias: bool = True,
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps,
                   batch_first, norm_first, bias, device, dtype)
        norm = {"eps": layer_norm_eps, "bias": bias, "device": device, "dtype": dtype}
        self.encoder = custom_encoder if custom_encoder is not None else TransformerEncoder(
            TransformerEncoderLayer(*options), num_encoder_layers, LayerNorm(d_model, **norm))
        self.decoder = custom_decoder if custom_decoder is not None else TransformerDecoder(
            TransformerDecoderLayer(*options), num_decoder_layers, LayerNorm(d_model, **norm))
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None,
                tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
                src_key_padding_mask: Tensor | None = None,
                tgt_key_padding_mask: Tensor | None = None,
                memory_key_padding_mask: Tensor | None = None, src_is_causal: bool | None = None,
                tgt_is_causal: bool | None = None, memory_is_causal: bool = False) -> Tensor:
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask,
                              is_causal=src_is_causal)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                            tgt_key_padding_mask=tgt_key_padding_mask,
                            memory_key_padding_mask=memory_key_padding_mask,
                            tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal)

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """The mask that lets each place look at itself and at those before it."""
        return full((sz, sz), -math.inf, dtype=dtype, device=device).triu(1)

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)


class TransformerEncoder(Module):
    """Layers of :class:`TransformerEncoderLayer`, one after the other."""

    def __init__(self, encoder_layer: TransformerEncoderLayer, num_layers: int,
                 norm: Module | None = None, enable_nested_tensor: bool = True,
                 mask_check: bool = True) -> None:
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        obstacle = _obstacle(encoder_layer)
        self.use_nested_tensor = enable_nested_tensor and not obstacle
        if enable_nested_tensor and obstacle:
            warn("enable_nested_tensor is True, but self.use_nested_tensor is False because "
                 f"{obstacle}")

    def forward(self, src: Tensor, mask: Tensor | None = None,
                src_key_padding_mask: Tensor | None = None,
                is_causal: bool | None = None) -> Tensor:
        padding = added_mask(src_key_padding_mask, "src_key_padding_mask", mask, "mask", src)
        mask = added_mask(mask, "mask", None, "", src, check_other=False)
        first = self.layers[0]
        is_causal = _is_causal(mask, is_causal, _length(src, first.self_attn.batch_first))
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=is_causal, src_key_padding_mask=padding)
        if src_key_padding_mask is not None and self._leaves_padding_out(src, mask,
                                                                         src_key_padding_mask):
            # Inference without gradients computes nothing for what is padded.
            output = output.masked_fill(_is_padding(src_key_padding_mask).unsqueeze(-1), 0.0)
        return output if self.norm is None else self.norm(output)

    def _leaves_padding_out(self, src: Tensor, mask: Tensor | None, padding: Tensor) -> bool:
        if not self.use_nested_tensor or self.training or mask is not None or src.dim() != 3:
            return False
        if MODE.get().records and any(p.requires_grad for p in (src, *self.parameters())):
            return False
        if not self.mask_check:
            return True
        is_padding = _is_padding(padding)
        return bool((is_padding[:, 1:] >= is_padding[:, :-1]).all())


def _is_padding(mask: Tensor) -> Tensor:
    return mask if mask.dtype == dtypes.bool else mask == -math.inf


def _obstacle(layer: Any) -> str:
    """Why inference cannot leave padding out, if it cannot."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    if layer.norm_first:
        return "encoder_layer.norm_first was True"
    if not layer.self_attn.batch_first:
        return ("encoder_layer.self_attn.batch_first was not True(use batch_first for better "
                "inference performance)")
    if not layer.self_attn._qkv_same_embed_dim:
        return "encoder_layer.self_attn._qkv_same_embed_dim was not True"
    if layer.self_attn.in_proj_bias is None:
        return "encoder_layer.self_attn was passed bias=False"
    if not layer.activation_relu_or_gelu:
        return "encoder_layer.activation_relu_or_gelu was not True"
    if layer.norm1.eps != layer.norm2.eps:
        return "encoder_layer.norm1.eps was not equal to encoder_layer.norm2.eps"
    if layer.self_attn.num_heads % 2 == 1:
        return "encoder_layer.self_attn.num_heads is odd"
    return ""


class TransformerDecoder(Module):
    """Layers of :class:`TransformerDecoderLayer`, one after the other."""

    def __init__(self, decoder_layer: TransformerDecoderLayer, num_layers: int,
                 norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None,
                memory_mask: Tensor | None = None, tgt_key_padding_mask: Tensor | None = None,
                memory_key_padding_mask: Tensor | None = None, tgt_is_causal: bool | None = None,
                memory_is_causal: bool = False) -> Tensor:
        length = _length(tgt, self.layers[0].self_attn.batch_first)
        tgt_is_causal = _is_causal(tgt_mask, tgt_is_causal, length)
        output = tgt
        for layer in self.layers:
            output = layer(output, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                           tgt_key_padding_mask=tgt_key_padding_mask,
                           memory_key_padding_mask=memory_key_padding_mask,
                           tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal)
        return output if self.norm is None else self.norm(output)


class _Layer(Module):
    """What layers of encoders and decoders share: their parts, each with a norm and a dropout.

    Two are attention to oneself and a small network; a third is attention to a memory.
    """

    def __init__(self, parts: int, d_model: int, nhead: int, dim_feedforward: int, dropout: float,
                 activation: Activation, layer_norm_eps: float, batch_first: bool,
                 norm_first: bool, bias: bool, device: Any, dtype: Any) -> None:
        super().__init__()
        for name in ("self_attn", "multihead_attn")[:parts - 1]:
            setattr(self, name, MultiheadAttention(
                d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, device=device,
                dtype=dtype))
        self.norm_first = norm_first
        self.linear1 = Linear(d_model, dim_feedforward, bias, device, dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, device, dtype)
        for i in range(1, parts + 1):
            setattr(self, f"norm{i}", LayerNorm(d_model, layer_norm_eps, bias=bias, device=device,
                                                dtype=dtype))
        for i in range(1, parts + 1):
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = _activation(activation)

    def _attended(self, attention: Module, dropout: Module, x: Tensor, memory: Tensor,
                  mask: Tensor | None, padding: Tensor | None, is_causal: bool) -> Tensor:
        found = attention(x, memory, memory, attn_mask=mask, key_padding_mask=padding,
                          is_causal=is_causal, need_weights=False)[0]
        return dropout(found)

    def _network(self, x: Tensor, dropout: Module) -> Tensor:
        return dropout(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoderLayer(_Layer):
    """Attention to oneself, then a small network, each added to its input and normalised."""

    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
                 activation: Activation = F.relu, layer_norm_eps: float = 1e-5,
                 batch_first: bool = False, norm_first: bool = False, bias: bool = True,
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__(2, d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps,
                         batch_first, norm_first, bias, device, dtype)
        self.activation_relu_or_gelu = 1 if self.activation is F.relu else \
            2 if self.activation is F.gelu else 0

    def forward(self, src: Tensor, src_mask: Tensor | None = None,
                src_key_padding_mask: Tensor | None = None, is_causal: bool = False) -> Tensor:
        padding = added_mask(src_key_padding_mask, "src_key_padding_mask", src_mask, "src_mask",
                              src)
        mask = added_mask(src_mask, "src_mask", None, "", src, check_other=False)

        def attended(x: Tensor) -> Tensor:
            return self._attended(self.self_attn, self.dropout1, x, x, mask, padding, is_causal)

        x = src
        if self.norm_first:
            x = x + attended(self.norm1(x))
            return x + self._network(self.norm2(x), self.dropout2)
        x = self.norm1(x + attended(x))
        return self.norm2(x + self._network(x, self.dropout2))


class TransformerDecoderLayer(_Layer):
    """Attention to oneself, attention to a memory, then a small network."""

    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
                 activation: Activation = F.relu, layer_norm_eps: float = 1e-5,
                 batch_first: bool = False, norm_first: bool = False, bias: bool = True,
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__(3, d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps,
                         batch_first, norm_first, bias, device, dtype)

    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None,
                memory_mask: Tensor | None = None, tgt_key_padding_mask: Tensor | None = None,
                memory_key_padding_mask: Tensor | None = None, tgt_is_causal: bool = False,
                memory_is_causal: bool = False) -> Tensor:
        def to_itself(x: Tensor) -> Tensor:
            return self._attended(self.self_attn, self.dropout1, x, x, tgt_mask,
                                  tgt_key_padding_mask, tgt_is_causal)

        def to_memory(x: Tensor) -> Tensor:
            return self._attended(self.multihead_attn, self.dropout2, x, memory, memory_mask,
                                  memory_key_padding_mask, memory_is_causal)

        x = tgt
        if self.norm_first:
            x = x + to_itself(self.norm1(x))
            x = x + to_memory(self.norm2(x))
            return x + self._network(self.norm3(x), self.dropout3)
        x = self.norm1(x + to_itself(x))
        x = self.norm2(x + to_memory(x))
        return self.norm3(x + self._network(x, self.dropout3))


def _copies(module: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(count)])


def _activation(given: Activation) -> Callable[[Tensor], Tensor]:
    if not isinstance(given, str):
        return given
    if given not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    return getattr(F, given)


def _length(x: Tensor, batch_first: bool) -> int | None:
    return x.size(1 if batch_first and x.dim() == 3 else 0)


def _is_causal(mask: Tensor | None, asked: bool | None, length: int | None) -> bool:
    """Whether a mask is the causal one, if nobody says."""
    if asked is not None:
        return asked
    if mask is None or length is None or tuple(mask.shape) != (length, length):
        return False
    causal = Transformer.generate_square_subsequent_mask(length, dtype=mask.dtype) \
        if mask.is_floating_point() else None
    return causal is not None and bool((mask == causal).all())
