"""The functions of ``torch.fft``: lengths, dims and scaling are settled, then an op transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...backend import xp
from ...base import dtypes
from ...base.errors import existing_dim
from ...core.op import composite, publish
from ...core.out_argument import run_into
from ...core.out_rules import CASTABLE, Out
from ...core.tensor import Tensor
from ..creation.options import out_dtype
from ..creation.ranges import arange
from ..elementwise.conjugate import conj
from ..memory.casts import cast
from ..nn.padding import constant_pad_nd
from ..shapes.flipping import roll
from ..shapes.slicing import _slice
from .transforms import _fft_c2c, _fft_c2r, _fft_r2c

Ints = int | Sequence[int]

FORWARD = frozenset(("fft", "rfft", "hfft"))
TO_REAL = frozenset(("irfft", "hfft"))
OF_REAL = frozenset(("rfft", "ihfft"))
WHAT = {
    "fft": "The discrete Fourier transform", "ifft": "The inverse of :func:`fft{}`",
    "rfft": "The half of :func:`fft{}` that says all of a real signal",
    "irfft": "The inverse of :func:`rfft{}`",
    "hfft": "The real spectrum of a Hermitian signal, of which half is given",
    "ihfft": "The inverse of :func:`hfft{}`"}
"""What each kind of transform is."""

# ---------------------------------------------------------------- settling arguments


def promoted(input: Tensor, to_complex: bool) -> Tensor:
    """``input`` in a dtype that can be transformed."""
    kind = input.dtype
    if kind.is_complex:
        return input
    if not kind.is_floating_point:
        kind = dtypes.get_default_dtype()
    if kind not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(f"Unsupported dtype {kind.alias}")
    return cast(input, kind.to_complex() if to_complex else kind)


def normalization_of(norm: str | None, forward: bool) -> int:
    """The number that the ops have for a way of scaling."""
    if norm == "ortho":
        return 1
    if norm not in (None, "backward", "forward"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    return 2 if (norm == "forward") == forward else 0


def resized(input: Tensor, dims: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """``input`` cut off, or with zeros behind it, to have ``sizes`` along ``dims``."""
    sides = [0] * (2 * input.ndim)
    for dim, size in zip(dims, sizes, strict=True):
        if input.shape[dim] < size:
            sides[2 * (input.ndim - dim) - 1] = size - input.shape[dim]
        elif input.shape[dim] > size:
            input = _slice(input, dim, 0, size, 1)
    return constant_pad_nd(input, tuple(sides)) if any(sides) else input


def _check_length(n: int) -> int:
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    return n


_OUT = Out(CASTABLE)


def _check_out(name: str, out: Any, is_complex: bool) -> None:
    if isinstance(out, Tensor) and (
            not out.is_complex() if is_complex else not out.is_floating_point()):
        kind = "complex" if is_complex else "floating point"
        raise RuntimeError(f"{name} expects a {kind} output tensor, but got {out.dtype.alias}")


def _listed(value: Any) -> list[int] | None:
    return None if value is None else [value] if isinstance(value, int) else list(value)


def _dims_and_sizes(input: Tensor, s: Any, dim: Any) -> tuple[list[int], list[int]]:
    """The dims to transform, and how many points of each; all of them, if nothing is said."""
    sizes, dims = _listed(s), _listed(dim)
    if dims is not None:
        dims = [existing_dim(d, input.ndim) for d in dims]
        if len(set(dims)) < len(dims):
            raise RuntimeError("FFT dims must be unique")
    if sizes is None:
        dims = list(range(input.ndim)) if dims is None else dims
        sizes = [-1] * len(dims)
    elif dims is not None and len(dims) != len(sizes):
        raise RuntimeError("When given, dim and shape arguments must have the same length")
    elif len(sizes) > input.ndim:
        raise RuntimeError(f"Got shape with {len(sizes)} values but input tensor only has "
                           f"{input.ndim} dimensions.")
    elif dims is None:
        dims = list(range(input.ndim - len(sizes), input.ndim))
    return dims, [_check_length(input.shape[d] if n == -1 else n)
                  for d, n in zip(dims, sizes, strict=True)]


# ---------------------------------------------------------------- transforms of settled arguments


def _half_spectrum(input: Any, dims: list[int], normalization: int, forward: bool,
                   onesided: bool = True) -> Any:
    """The spectrum of real numbers; backwards it is the conjugate, along the last dim."""
    if forward:
        return _fft_r2c(input, tuple(dims), normalization, onesided)
    found = conj(_fft_r2c(input, (dims[-1],), normalization, onesided))
    return _fft_c2c(found, tuple(dims[:-1]), normalization, False) if dims[1:] else found


def _from_half(input: Any, dims: list[int], normalization: int, forward: bool, length: int) -> Any:
    """The real numbers of half a spectrum; forwards it is that of the conjugate."""
    if not forward:
        return _fft_c2r(input, tuple(dims), normalization, length)
    if dims[1:]:
        input = _fft_c2c(input, tuple(dims[:-1]), normalization, True)
    return _fft_c2r(conj(input), (dims[-1],), normalization, length)


_USUAL: dict[str, dict[Any, tuple[Any, bool | None]]] = {
    "fft": {xp.FLOAT32: (_fft_r2c, False), xp.FLOAT64: (_fft_r2c, False),
            xp.COMPLEX64: (_fft_c2c, True), xp.COMPLEX128: (_fft_c2c, True)},
    "ifft": {xp.COMPLEX64: (_fft_c2c, False), xp.COMPLEX128: (_fft_c2c, False)},
    "rfft": {xp.FLOAT32: (_fft_r2c, True), xp.FLOAT64: (_fft_r2c, True)},
    "irfft": {xp.COMPLEX64: (_fft_c2r, None), xp.COMPLEX128: (_fft_c2r, None)}}
"""The op that a kind of transform is for tensors of a dtype, and the last thing it is told.

None is the length of the real numbers.
"""

_NONE = (None, None)


def _along_one_dim(name: str, input: Tensor, n: int | None, dim: int, norm: str | None,
                   out: Tensor | None) -> Tensor:
    forward, to_real = name in FORWARD, name in TO_REAL
    of_real = name in OF_REAL or not (to_real or input.is_complex())
    if of_real and input.is_complex():
        raise RuntimeError(f"{name} expects a real input tensor, but got {input.dtype.alias}")
    _check_out(name, out, not to_real)
    input = promoted(input, not of_real)
    dims = [existing_dim(dim, input._data.ndim)]
    size = input._data.shape[dims[0]]
    length = _check_length(n if n is not None else 2 * (size - 1) if to_real else size)
    if n is not None:
        input = resized(input, dims, [n // 2 + 1 if to_real else n])
    normalization = normalization_of(norm, forward)
    if to_real:
        found = _from_half(input, dims, normalization, forward, length)
    elif of_real:
        found = _half_spectrum(input, dims, normalization, forward, name in OF_REAL)
    else:
        found = _fft_c2c(input, tuple(dims), normalization, forward)
    return found if out is None else run_into(out, name, _OUT, lambda: found)  # type: ignore[no-any-return]


def _along_dims(name: str, input: Tensor, s: Any, dim: Any, norm: str | None,
                out: Tensor | None) -> Tensor:
    kind, length = name[:-1], 0
    forward, to_real, of_real = kind in FORWARD, kind in TO_REAL, kind in OF_REAL
    if name == "rfftn" and input.is_complex():
        raise RuntimeError(f"{name} expects a real-valued input tensor, but got "
                           f"{input.dtype.alias}")
    dims, sizes = _dims_and_sizes(input, s, dim)
    if not dims and (to_real or of_real):
        raise RuntimeError(f"{name} must transform at least one axis")
    if of_real and input.is_complex():
        raise RuntimeError(f"Only supports floating-point dtypes, but found: {input.dtype.alias}")
    if to_real:
        asked = -1 if s is None else _listed(s)[-1]  # type: ignore[index]
        length = _check_length(2 * (input.shape[dims[-1]] - 1) if asked == -1 else asked)
        sizes[-1] = length // 2 + 1
    _check_out(name, out, not to_real)
    input = resized(promoted(input, not of_real), dims, sizes)
    normalization = normalization_of(norm, forward)
    if to_real:
        found = _from_half(input, dims, normalization, forward, length)
    elif of_real:
        found = _half_spectrum(input, dims, normalization, forward)
    else:
        found = _fft_c2c(input, tuple(dims), normalization, forward)
    return found if out is None else run_into(out, name, _OUT, lambda: found)  # type: ignore[no-any-return]


# ---------------------------------------------------------------- the public functions


def _declare(kind: str, what: str) -> None:
    usual, forward = _USUAL.get(kind, {}).get, kind in FORWARD
    not_scaled = normalization_of(None, forward)

    @composite(function="fft", name=kind, doc=f"{what.format('')}, along ``dim``.")
    def along_one(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
                  out: Tensor | None = None) -> Tensor:
        # The usual call; of all others it is settled first what they ask for.
        if n is out is None and type(input) is Tensor and type(dim) is int:
            shape = input._data.shape
            rank, (transform, last) = len(shape), usual(input._data.dtype, _NONE)
            if transform and -rank <= dim < rank and shape[dim] > (last is None):
                return transform(  # type: ignore[no-any-return]
                    input, (dim % rank,),
                    not_scaled if norm is None else normalization_of(norm, forward),
                    2 * (shape[dim] - 1) if last is None else last)
        return _along_one_dim(kind, input, n, dim, norm, out)

    @composite(function="fft", name=f"{kind}2", doc=f"{what.format(2)}, along two dims.")
    def along_two(input: Tensor, s: Ints | None = None, dim: Ints = (-2, -1),
                  norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
        return _along_dims(f"{kind}n", input, s, dim, norm, out)

    @composite(function="fft", name=f"{kind}n", doc=f"{what.format('n')}, along several dims.")
    def along_several(input: Tensor, s: Ints | None = None, dim: Ints | None = None,
                      norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
        return _along_dims(f"{kind}n", input, s, dim, norm, out)


for _kind, _what in WHAT.items():
    _declare(_kind, _what)


def _shifted(input: Tensor, dim: Any, extra: int) -> Tensor:
    dims = list(range(input.ndim)) if dim is None else _listed(dim) or []
    steps = [(input.shape[existing_dim(d, input.ndim)] + extra) // 2 for d in dims]
    return roll(input, steps, dims)


@composite(function="fft")
def fftshift(input: Tensor, dim: Ints | None = None) -> Tensor:
    """A spectrum with the frequency zero moved from its start to its middle."""
    return _shifted(input, dim, 0)


@composite(function="fft")
def ifftshift(input: Tensor, dim: Ints | None = None) -> Tensor:
    """A spectrum with the frequency zero moved back from its middle to its start."""
    return _shifted(input, dim, 1)


def _frequencies(name: str, first: int, n: int, d: float, out: Any, dtype: Any,
                 options: dict[str, Any]) -> Tensor:
    kind = out_dtype(name, dtype, out)
    if not (kind.is_floating_point or kind.is_complex):
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    requires_grad = options.pop("requires_grad")
    found = arange(first, first + n if name == "fftfreq" else n // 2 + 1, dtype=kind, **options)
    if name == "fftfreq":
        found = roll(found, first, 0)
    found.mul_(1.0 / (n * d) if n * d else float("inf"))
    return run_into(out, name, _OUT, lambda: found.requires_grad_(requires_grad))  # type: ignore[no-any-return]


def fftfreq(n: int, d: float = 1.0, *, out: Tensor | None = None, dtype: Any = None,
            layout: Any = None, device: Any = None, pin_memory: bool = False,
            requires_grad: bool = False) -> Tensor:
    """The frequencies of a spectrum of ``n`` points that lie ``d`` apart."""
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    return _frequencies("fftfreq", -(n // 2), n, d, out, dtype, {
        "layout": layout, "device": device, "requires_grad": requires_grad})


def rfftfreq(n: int, d: float = 1.0, *, out: Tensor | None = None, dtype: Any = None,
             layout: Any = None, device: Any = None, pin_memory: bool = False,
             requires_grad: bool = False) -> Tensor:
    """The frequencies of half a spectrum of ``n`` points that lie ``d`` apart."""
    return _frequencies("rfftfreq", 0, n, d, out, dtype, {
        "layout": layout, "device": device, "requires_grad": requires_grad})


for _function in (fftfreq, rfftfreq):
    publish(_function, _function.__name__, method=False, function="fft")
