"""Fourier transforms."""

from __future__ import annotations

from typing import Any

from ..declaring import Step, line, precise, taken


def _fourier_line(kind: str, shape: tuple[int, ...], dtype: str) -> None:
    numbers = " by ".join(f"{n:,}" for n in shape)

    @line(f"fft: {kind} of {numbers} numbers, {dtype}, forward and backward", goal=1.5)
    def transform(lib: Any) -> Step:
        lib.manual_seed(0)
        x = lib.randn(*shape, dtype=precise(lib, dtype), requires_grad=True)
        function = getattr(lib.fft, kind)

        def step() -> Any:
            spectrum = function(x)
            spectrum.backward(spectrum.detach())
            return taken(x)

        return step


for _kind, _dtypes in (("fft", ("complex64", "complex128")), ("rfft", ("float32", "float64"))):
    for _shape in ((64,), (1 << 20,), (64, 1024), (64, 1009)):
        for _dtype in _dtypes:
            _fourier_line(_kind, _shape, _dtype)
    _fourier_line(_kind, (10_000, 4), _dtypes[0])
    _fourier_line(_kind, (20_000, 5), _dtypes[0])
    _fourier_line(_kind, (100, 998), _dtypes[1])


@line("fft: stft of 16,000 numbers, windows of 512, float32, forward and backward", goal=1.5)
def stft(lib: Any) -> Step:
    lib.manual_seed(0)
    dtype = precise(lib, "float32")
    x = lib.randn(16_000, dtype=dtype, requires_grad=True)
    window = lib.hann_window(512, dtype=dtype)

    def step() -> Any:
        found = lib.stft(x, 512, 128, window=window, return_complex=True)
        found.backward(found.detach())
        return taken(x)

    return step
