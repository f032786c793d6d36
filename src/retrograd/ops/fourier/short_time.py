"""Spectra of windows that move along a signal, and the signal that they add up to."""

from __future__ import annotations

from typing import Any

from ...base import dtypes
from ...base.errors import dim_out_of_range
from ...base.warning import warn
from ...core.extensions import TRACED_TYPES
from ...core.op import Flag, composite
from ...core.tensor import Tensor
from ..creation.filled import ones
from ..nn.padding import constant_pad_nd, pad
from ..shapes.complex_views import view_as_real
from ..shapes.dimensions import squeeze, transpose, unsqueeze
from ..shapes.expanding import expand
from ..shapes.reshaping import reshape
from ..shapes.slicing import _slice, unfold, unfold_backward
from .transforms import _fft_c2c, _fft_c2r, _fft_r2c

_RECTANGULAR = ("To suppress this warning and use a rectangular window, explicitly set "
                "`window=torch.ones(n_fft, device=<device>)`.")


def _shown(value: Any) -> str:
    """An argument in the words of an error."""
    if isinstance(value, Tensor):
        return f"torch.{value.dtype.alias}Tensor{{{list(value.shape)}}}"
    return str(int(value)) if isinstance(value, bool) else str(value)


def _refusal(call: str, given: dict[str, Any], why: str) -> RuntimeError:
    shown = ", ".join([f"{name}={_shown(value)}" for name, value in given.items()])
    return RuntimeError(f"{call}, {shown}){why}")


def _in_the_middle(window: Tensor, n_fft: int) -> Tensor:
    """A window with zeros on both sides, as long as what is transformed."""
    missing = n_fft - window.shape[0]
    left = missing // 2
    return constant_pad_nd(window, (left, missing - left)) if missing else window


@composite(method=True)
def stft(input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
         window: Tensor | None = None, center: Flag = True, pad_mode: str = "reflect",
         normalized: bool = False, onesided: bool | None = None, return_complex: bool | None = None,
         align_to_window: bool | None = None) -> Tensor:
    """The spectra of windows that lie ``hop_length`` apart on a signal: frequencies by windows."""
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if center:
        lead, half = (1,) * (3 - input.ndim), n_fft // 2
        padded = pad(reshape(input, (*lead, *input.shape)), (half, half), pad_mode)
        input = reshape(padded, padded.shape[-input.ndim:])
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if window is None:
        warn("A window was not provided. A rectangular window will be applied,which is known to "
             "cause spectral leakage. Other windows such as torch.hann_window or "
             "torch.hamming_window are recommended to reduce spectral leakage." + _RECTANGULAR,
             once=True)
    is_complex = input.is_complex() or (window is not None and window.is_complex())
    if not (is_complex if return_complex is None else return_complex):
        if return_complex is None:
            raise RuntimeError("stft requires the return_complex parameter be given for real "
                               "inputs, and will further require that return_complex=True in a "
                               "future PyTorch release.")
        warn("stft with return_complex=False is deprecated. In a future pytorch release, stft will "
             "return complex tensors for all inputs, and return_complex=False will raise an error."
             "\nNote: you can still call torch.view_as_real on the complex output to recover the "
             "old return format.", once=True)
    _check_signal(input, window, {
        "n_fft": n_fft, "hop_length": hop, "win_length": width, "window": window,
        "normalized": normalized, "onesided": onesided, "return_complex": return_complex,
        "align_to_window": align_to_window})
    if align_to_window:
        side = (n_fft - width) // 2
        input = constant_pad_nd(input, (side, n_fft - width - side))
    if window is None and width < n_fft:
        window = ones(width, dtype=input.dtype)
    frames = unfold(input, -1, n_fft, hop)
    if window is not None:
        frames = frames * _in_the_middle(window, n_fft)
    _check_precision(frames)
    if is_complex and onesided:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    axis, scaled = (frames.ndim - 1,), int(bool(normalized))
    found = _fft_c2c(frames, axis, scaled, True) if is_complex else \
        _fft_r2c(frames, axis, scaled, onesided is None or bool(onesided))
    turned: Tensor = transpose(found, -2, -1)
    return turned if return_complex or return_complex is None else view_as_real(turned)


def _check_signal(input: Tensor, window: Tensor | None, given: dict[str, Any]) -> None:
    n_fft, hop, width = given["n_fft"], given["hop_length"], given["win_length"]
    least = width if given["align_to_window"] else n_fft
    why = ""
    if not (input.is_floating_point() or input.is_complex()):
        why = "expected a tensor of floating point or complex values"
    elif input.ndim not in (1, 2):
        why = "expected a 1D or 2D tensor"
    elif n_fft <= 0 or least > input.shape[-1]:
        why = f"expected 0 < n_fft < {input.shape[-1]}, but got n_fft={least}"
    elif hop <= 0:
        why = f"expected hop_length > 0, but got hop_length={hop}"
    elif not 0 < width <= n_fft:
        why = f"expected 0 < win_length <= n_fft, but got win_length={width}"
    elif window is not None and tuple(window.shape) != (width,):
        why = (f"expected a 1D window tensor of size equal to win_length={width}, but got window "
               f"with size {list(window.shape)}")
    if why:
        call = f"stft(torch.{input.dtype.alias}Tensor{list(input.shape)}"
        raise _refusal(call, given, " : " + why)


def _check_precision(frames: Tensor) -> None:
    if frames.dtype in (dtypes.float16, dtypes.bfloat16):
        raise RuntimeError(f"MKL FFT doesn't support tensors of type: {frames.dtype.alias}")


@composite(method=True)
def istft(input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
          window: Tensor | None = None, center: bool = True, normalized: bool = False,
          onesided: bool | None = None, length: int | None = None,
          return_complex: bool = False) -> Tensor:
    """The signal of which :func:`stft` gave the spectra."""
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if window is None:
        warn("A window was not provided. A rectangular window will be applied.Please provide the "
             "same window used by stft to make the inversion lossless." + _RECTANGULAR, once=True)
    if not input.is_complex():
        raise RuntimeError("istft requires a complex-valued input tensor matching the output from "
                           "stft with return_complex=True.")
    if input.ndim < 2:
        raise dim_out_of_range(-2 - input.ndim, 1 + input.ndim)  # of pairs of real numbers
    call = f"istft(CPU{input.dtype.alias}Type{list(input.shape)}"
    given = {"n_fft": n_fft, "hop_length": hop, "win_length": width, "window": window,
             "center": center, "normalized": normalized, "onesided": onesided, "length": length,
             "return_complex": return_complex}
    half = input.shape[-2] != n_fft if onesided is None else onesided
    why = _why_no_spectra(input, window, n_fft, hop, width, half)
    if why:
        raise _refusal(call, given, " : " + why)
    several = input if input.ndim == 3 else unsqueeze(input, 0)
    if window is None:
        window = ones(width, dtype=input.dtype.to_real())
    window = _in_the_middle(window, n_fft)
    frames = _signals(transpose(several, 1, 2), window, n_fft, 1 if normalized else 2, half,
                      return_complex)
    count = frames.shape[1]
    whole = n_fft + hop * (count - 1)
    start = n_fft // 2 if center else 0
    stop = start + length if length is not None else whole - start
    signal, envelope = [
        _slice(unfold_backward(parts, (parts.shape[0], whole), 1, n_fft, hop), 1, start,
               min(stop, whole), 1)
        for parts in (frames * window, expand(window * window, (1, count, n_fft)))]
    if _is_nearly_zero(envelope):
        raise _refusal(call, given, " window overlap add min: 1\n[ CPUBoolType{} ]")
    found = signal / envelope
    if input.ndim == 2:
        found = squeeze(found, 0)
    if stop > whole:
        warn("The length of signal is shorter than the length parameter. Result is being padded "
             "with zeros in the tail. Please check your center and hop_length settings.")
        found = constant_pad_nd(found, (0, stop - whole))
    return found  # type: ignore[no-any-return]


def _why_no_spectra(input: Tensor, window: Tensor | None, n_fft: int, hop: int, width: int,
                    half: bool) -> str:
    """What is wrong with the arguments of :func:`istft`, or nothing."""
    rank, frequencies = input.ndim + 1, input.shape[-2]
    expected = "n_fft / 2 + 1 when onesided=True" if half else "n_fft when onesided=False"
    if not input.numel():
        return "input tensor cannot be empty."
    if rank not in (3, 4):
        return f"expected a tensor with 3 or 4 dimensions, but got {rank}"
    if frequencies != (n_fft // 2 + 1 if half else n_fft):
        return ("expected the frequency dimension (3rd to the last) of the input tensor to match "
                f"{expected}, but got {frequencies}")
    if not 0 < hop <= width:
        return "expected 0 < hop_length <= win_length"
    if not 0 < width <= n_fft:
        return "expected 0 < win_length <= n_fft"
    if window is not None and tuple(window.shape) != (width,):
        return "Invalid window shape. window has to be 1D and length of `win_length`"
    return ""


def _signals(spectra: Any, window: Tensor, n_fft: int, normalization: int, half: bool,
             return_complex: bool) -> Any:
    """The signal of each window: complex numbers, or real ones of half a spectrum."""
    if return_complex:
        if half:
            raise RuntimeError("Cannot have onesided output if window or input is complex")
        return _fft_c2c(spectra, (2,), normalization, False)
    if window.is_complex():
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    if not half:
        spectra = _slice(spectra, 2, 0, n_fft // 2 + 1, 1)
    return _fft_c2r(spectra, (2,), normalization, n_fft)


def _is_nearly_zero(envelope: Tensor) -> bool:
    """Whether the windows leave gaps; what a transform knows of them only later is trusted."""
    if type(envelope._data) in TRACED_TYPES:
        return False
    return bool(envelope.detach().abs().min() < 1e-11)
