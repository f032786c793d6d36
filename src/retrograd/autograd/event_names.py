"""PyTorch's names for what a profiler shows: of ops, and of functions that are made of them."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from ..core.op import PUBLIC, Op, home_of
from ..core.tensor import Tensor

_PREFIXES = {"torch": "", "nn.functional": "", "linalg": "linalg_", "special": "special_",
             "fft": "fft_"}
_RENAMED = {"cross_entropy": "cross_entropy_loss", "logsigmoid": "log_sigmoid"}
_NAMES: dict[Op, str] = {}
_UNPUBLISHED = (
    "_to_copy _unsafe_view alias expand index _prelu_kernel _convolution _unique2 uniform "
    "exponential cauchy geometric random _masked_softmax log_normal _fft_c2c _fft_r2c _fft_c2r "
    "slice_backward select_backward diagonal_backward unfold_backward gelu_backward silu_backward "
    "logit_backward tanh_backward sigmoid_backward "
    "_reshape_alias copy zero slice repeat set im2col col2im nll_loss2d view upsample_nearest1d "
    "upsample_nearest2d "
    "upsample_nearest3d _upsample_nearest_exact1d _upsample_nearest_exact2d "
    "_upsample_nearest_exact3d upsample_linear1d upsample_bilinear2d upsample_bicubic2d "
    "upsample_trilinear3d unique_dim")
"""PyTorch's names of ops that are no public functions there."""
_VARIANTS = ("number numbers tensor tensors dim dims value src of rows plain floor trunc real in "
             "place mean std both to min max")
"""How the forms of an op tell themselves apart in this package."""
_IN_PYTHON = {
    "torch": "as_tensor asarray broadcast_shapes from_dlpack from_numpy frombuffer tensor "
             "to_dlpack unique unravel_index pca_lowrank svd_lowrank lu is_floating_point "
             "is_complex is_conj is_neg is_inference is_signed is_same_size result_type can_cast "
             "promote_types is_nonzero numel lobpcg",
    "nn.functional": "affine_grid dropout1d dropout2d dropout3d fold gaussian_nll_loss grid_sample "
                     "grouped_mm gumbel_softmax interpolate linear_cross_entropy scaled_mm "
                     "local_response_norm "
                     "lp_pool1d lp_pool2d lp_pool3d max_unpool1d multi_head_attention_forward "
                     "multilabel_soft_margin_loss normalize softmin softsign tanhshrink "
                     "triplet_margin_with_distance_loss upsample upsample_bilinear "
                     "upsample_nearest adaptive_max_pool1d_with_indices "
                     "adaptive_max_pool2d_with_indices adaptive_max_pool3d_with_indices "
                     "fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices"}
"""Functions that PyTorch writes in Python, or that compute nothing: what they call is shown."""
_METHODS = ("item", "detach", "contiguous", "to", "copy_", "resize_", "repeat", "tile", "new_zeros",
            "new_ones", "new_empty", "new_full", "uniform_", "random_", "bernoulli_", "reshape",
            "view", "permute", "expand", "sum_to_size", "index_fill_", "masked_scatter_",
            "fill_diagonal_", "put_", "div_", "lerp_", "pow_", "float_power_", "masked_fill_",
            "scatter_", "clamp", "where", "split", "flip", "transpose_", "unsqueeze_", "squeeze_",
            "t_", "remainder_", "fmod_")


def name_of(op: Op) -> str:
    """What PyTorch calls an op; those that only this package has are called after it."""
    found = _NAMES.get(op)
    if found is None:
        found = _NAMES[op] = _public_name(op) or f"retrograd::{op.title}"
    return found


def _public_name(op: Op) -> str:
    """The name of the function that an op is, or that it is a part of."""
    name = op.name.strip("_")
    for unpublished in (op.name, name):
        if unpublished in _UNPUBLISHED.split():
            return f"aten::{unpublished}"
    parts = name.split("_")
    while parts and parts[-1] in _VARIANTS.split():
        parts.pop()
    for candidate in (name, op.title, "_".join(parts)):
        for space, prefix in _PREFIXES.items():
            if candidate in PUBLIC[space] and candidate not in _IN_PYTHON.get(space, "").split():
                return _in_aten(prefix, candidate)
    return ""


def _in_aten(prefix: str, name: str) -> str:
    full = name if name.startswith(prefix) else prefix + name
    return f"aten::{_RENAMED.get(full, full)}"


def functions_to_watch() -> dict[FunctionType, str]:
    """The functions made of ops that are events, with PyTorch's names."""
    found: dict[FunctionType, str] = {}
    for space, prefix in _PREFIXES.items():
        skipped = _IN_PYTHON.get(space, "").split()
        for name, function in list(PUBLIC[space].items()):
            if name not in skipped and _is_composite(function):
                found.setdefault(function, _in_aten(prefix, name))
    for name in _METHODS:
        function = vars(Tensor)[name]
        if _is_composite(function):
            found.setdefault(function, f"aten::{name}")
    return found


def _is_composite(function: Any) -> bool:
    return isinstance(function, FunctionType) and not hasattr(function, "op") \
        and home_of(function) != "retrograd.ops.late"
