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
