"""Initial values of parameters; the same seed gives PyTorch's numbers."""

import math
from collections.abc import Callable
from typing import Any

import retrograd

from ..backend import xp
from ..base.warning import warn
from ..core.tensor import Tensor

_GAIN_ONE = {"linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
             "conv_transpose3d", "sigmoid"}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the factor that keeps the variance of activations through a nonlinearity."""
    if nonlinearity in _GAIN_ONE:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "selu":
        return 3.0 / 4
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill ``tensor`` with values drawn uniformly from [a, b)."""
    with retrograd.no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill ``tensor`` with values drawn from a normal distribution."""
    with retrograd.no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0,
                  b: float = 2.0, generator: Any = None) -> Tensor:
    """Fill ``tensor`` from a normal distribution cut off outside [a, b]."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warn("mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
             "The distribution of values may be incorrect.")
    inside = _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std)
    fill = _redraw_outside if inside > 0.3 else _accept_by_density
    with retrograd.no_grad():
        fill(tensor, mean, std, a, b, generator)
    return tensor


def _redraw_outside(tensor: Tensor, mean: float, std: float, a: float, b: float,
                    generator: Any) -> None:
    """Draw normal values, and draw again where they fall outside [a, b]."""
    low, high = (tensor.new_tensor(bound).item() for bound in (a, b))
    tensor.normal_(mean, std, generator=generator)
    while (outside := (tensor < low) | (tensor > high)).any():
        fresh = retrograd.empty_like(tensor).normal_(mean, std, generator=generator)
        tensor.copy_(retrograd.where(outside, fresh, tensor))


def _accept_by_density(tensor: Tensor, mean: float, std: float, a: float, b: float,
                       generator: Any) -> None:
    """Draw uniformly from [a, b], and keep a value as often as its density demands."""
    log_peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    pending = retrograd.ones_like(tensor, dtype=retrograd.bool)
    while pending.any():
        drawn = retrograd.empty_like(tensor).uniform_(a, b, generator=generator)
        chance = retrograd.empty_like(tensor).uniform_(generator=generator)
        tensor.copy_(retrograd.where(pending, drawn, tensor))
        log_density = ((drawn - mean) / std) ** 2 * -0.5 - log_peak
        pending = pending & (chance.log() > log_density)


def _normal_cdf(x: float) -> float:
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill ``tensor`` with ``val``."""
    with retrograd.no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill ``tensor`` with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill ``tensor`` with zeros."""
    with retrograd.no_grad():
        return tensor.zero_()


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with retrograd.no_grad():
        return tensor.copy_(retrograd.eye(*tensor.shape, dtype=tensor.dtype))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill a convolution kernel so that it passes its input channels through."""
    if tensor.ndimension() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.size(0) % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = tensor.size(0) // groups
    centre = tuple(size // 2 for size in tensor.shape[2:])
    with retrograd.no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(per_group, tensor.size(1))):
                tensor[(group * per_group + channel, channel, *centre)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    if tensor.dim() < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    receptive = math.prod(tensor.shape[2:])
    return tensor.size(1) * receptive, tensor.size(0) * receptive


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    modes = ["fan_in", "fan_out"]
    if mode not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {modes}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode)]


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill ``tensor`` uniformly, with variance ``gain² · 2 / (fan_in + fan_out)``."""
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill ``tensor`` normally, with variance ``gain² · 2 / (fan_in + fan_out)``."""
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def _xavier_std(tensor: Tensor, gain: float) -> float:
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return gain * math.sqrt(2.0 / float(fan_in + fan_out))


def kaiming_uniform_(tensor: Tensor, a: float = 0, mode: str = "fan_in",
                     nonlinearity: str = "leaky_relu", generator: Any = None) -> Tensor:
    """Fill ``tensor`` uniformly, with variance ``gain² / fan``."""
    if 0 in tensor.shape:
        return _nothing_to_do(tensor)
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor: Tensor, a: float = 0, mode: str = "fan_in",
                    nonlinearity: str = "leaky_relu", generator: Any = None) -> Tensor:
    """Fill ``tensor`` normally, with variance ``gain² / fan``."""
    if 0 in tensor.shape:
        return _nothing_to_do(tensor)
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def _nothing_to_do(tensor: Tensor) -> Tensor:
    warn("Initializing zero-element tensors is a no-op")
    return tensor


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Fill ``tensor`` with an orthogonal matrix, trailing dimensions flattened."""
    if tensor.ndimension() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    cols = tensor.numel() // rows
    flattened = tensor.new_empty((rows, cols)).normal_(0, 1, generator=generator)
    q, r = xp.linalg.qr((flattened.t() if rows < cols else flattened).numpy())
    # The signs of R's diagonal are fixed so that the draw is uniform over orthogonal matrices.
    q = retrograd.from_numpy(q * xp.sign(xp.diagonal(r)))
    with retrograd.no_grad():
        return tensor.copy_((q.t() if rows < cols else q).reshape(tensor.shape)).mul_(gain)


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Fill a matrix normally, then zero the fraction ``sparsity`` of every column."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, cols = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with retrograd.no_grad():
        tensor.normal_(0, std, generator=generator)
        for col in range(cols):
            # PyTorch permutes with the default generator here, whatever ``generator`` is.
            tensor[retrograd.randperm(rows)[:zeros], col] = 0
    return tensor


def _deprecated(function: Any) -> Callable[..., Tensor]:
    new = function.__name__
    old = new[:-1]

    def forward_call(*args: Any, **kwargs: Any) -> Tensor:
        warn(f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.",
             FutureWarning)
        return function(*args, **kwargs)

    forward_call.__name__ = old
    forward_call.__doc__ = f"The deprecated name of ``{new}``."
    return forward_call


(uniform, normal, constant, eye, dirac, xavier_uniform, xavier_normal, kaiming_uniform,
 kaiming_normal, orthogonal, sparse) = map(_deprecated, (
     uniform_, normal_, constant_, eye_, dirac_, xavier_uniform_, xavier_normal_, kaiming_uniform_,
     kaiming_normal_, orthogonal_, sparse_))
