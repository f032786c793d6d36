"""Dropout."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...backend.interface import is_array, library_of
from ...core.libraries import in_library
from ...core.op import Flag, composite
from ...core.tensor import Tensor, wrap_any
from ...random import VMAPS, stream_for
from ..checks.images import check_probability, check_spatial
from ..creation.random import drawn, laid_out
from .activations import SELU_ALPHA, SELU_SCALE, functional


def _mask(input: Tensor, shape: Any, p: float, part: float = 1.0) -> Tensor:
    """Random zeros, and elsewhere one over ``part``."""
    data = input._data
    dtype, stream = data.dtype, stream_for(data)

    def draw(whole: Any) -> Any:
        return stream.dropout_mask(whole, dtype, p, part)

    if is_array(data) and shape == data.shape and not VMAPS.get():
        return wrap_any(in_library(laid_out, library_of(data))(data, draw))
    return wrap_any(drawn(draw, shape))


def _whole_shape(input: Tensor) -> Any:
    return input.shape


def _channel_shape(input: Tensor) -> tuple[int, ...]:
    if input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return (*input.shape[:2], *(1,) * (input.ndim - 2))


def _dropped(input: Tensor, p: float, train: bool, inplace: bool,
             shape_of: Callable[[Tensor], Any]) -> Tensor:
    if not train or p == 0 or 0 in input._data.shape:
        return input
    mask = _mask(input, shape_of(input), p, 1 if p == 1 else 1 - p)
    return input.mul_(mask) if inplace else input * mask


_ALPHA_DROPPED = SELU_ALPHA * SELU_SCALE


def _alpha_dropped(input: Tensor, p: float, train: bool, inplace: bool,
                   shape_of: Callable[[Tensor], Any]) -> Tensor:
    """Dropout to the value that keeps mean and variance of :func:`selu` units."""
    if not train or p == 0 or not input.numel():
        return input
    mask = _mask(input, shape_of(input), p)
    if p == 1:
        return input.mul_(mask) if inplace else input * mask
    scale = 1 / math.sqrt((_ALPHA_DROPPED ** 2 * p + 1) * (1 - p))
    shift = (mask - 1) * (_ALPHA_DROPPED * scale) + _ALPHA_DROPPED * scale * p
    scaled: Any = mask * scale
    return input.mul_(scaled).add_(shift) if inplace else input * scaled + shift


def _declare_dropout(name: str, doc: str, dropped: Any, shape_of: Callable[[Tensor], Any]) -> Any:
    """Publish a dropout at the top level, also in place."""

    @composite(name=name, doc=doc)
    def dropout(input: Tensor, p: float, train: bool) -> Tensor:
        check_probability(p)
        return dropped(input, p, train, False, shape_of)  # type: ignore[no-any-return]

    @composite(name=f"{name}_", doc=f"In-place version of :func:`{name}`.")
    def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
        check_probability(p)
        return dropped(input, p, train, True, shape_of)  # type: ignore[no-any-return]

    return dropout


dropout = _declare_dropout("dropout", "``input`` with elements zeroed at random and the rest "
                           "scaled up, while training.", _dropped, _whole_shape)
_declare_dropout("feature_dropout", "Dropout of whole channels.", _dropped, _channel_shape)
_declare_dropout("alpha_dropout", "Dropout to the value that keeps mean and variance of "
                 ":func:`selu` units.", _alpha_dropped, _whole_shape)
_declare_dropout("feature_alpha_dropout", ":func:`alpha_dropout` of whole channels.",
                 _alpha_dropped, _channel_shape)


@functional("dropout")
def _functional_dropout(input: Tensor, p: float = 0.5, training: bool = True,
                        inplace: Flag = False) -> Tensor:
    """``input`` with elements zeroed at random and the rest scaled up, while training."""
    if not 0 <= p <= 1:
        check_probability(p, ValueError)
    return _dropped(input, p, training, inplace, _whole_shape)


@functional("alpha_dropout")
def _functional_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False,
                              inplace: Flag = False) -> Tensor:
    """Dropout to the value that keeps mean and variance of :func:`selu` units."""
    check_probability(p, ValueError)
    return _alpha_dropped(input, p, training, inplace, _whole_shape)


@functional("feature_alpha_dropout")
def _functional_feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False,
                                      inplace: Flag = False) -> Tensor:
    """:func:`alpha_dropout` of whole channels."""
    check_probability(p, ValueError)
    return _alpha_dropped(input, p, training, inplace, _channel_shape)


def _channel_dropout(spatial: int) -> None:
    @composite(function="nn.functional", name=f"dropout{spatial}d",
               doc="Dropout of whole channels.")
    def function(input: Tensor, p: float = 0.5, training: bool = True,
                 inplace: Flag = False) -> Tensor:
        check_probability(p, ValueError)
        check_spatial(input.ndim, spatial)
        # Three dimensions are a batch of signals to dropout2d, not one image.
        batched = spatial == 2 or input.ndim == spatial + 2
        whole = input if batched else input.unsqueeze(0)
        found = _dropped(whole, p, training, inplace, _channel_shape)
        return found if batched else found.squeeze(0)


for _spatial in (1, 2, 3):
    _channel_dropout(_spatial)
