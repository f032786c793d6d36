"""Fourier transforms: what holds of every spectrum, and what single precision and lateness mean."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import retrograd as torch

PAIRS = [("fft", "ifft"), ("rfft", "irfft"), ("ihfft", "hfft")]


def signal(*shape: int, dtype: Any = torch.float64) -> torch.Tensor:
    torch.manual_seed(0)
    return torch.randn(*shape, dtype=dtype)


@pytest.mark.parametrize("norm", [None, "forward", "ortho"])
@pytest.mark.parametrize("size", [(5, 6), (5, 7), (64, 65)])
@pytest.mark.parametrize(("there", "back"), PAIRS)
def test_transforms_undo_each_other(there: str, back: str, size: tuple[int, int], norm: Any
                                    ) -> None:
    x = signal(*size)
    for dims in ("", "2", "n"):
        more = {"n": size[1]} if not dims else {"s": size}
        if there == "fft":
            more = {}
        spectrum = getattr(torch.fft, there + dims)(x, norm=norm)
        again = getattr(torch.fft, back + dims)(spectrum, norm=norm, **more)
        assert torch.allclose(again.real, x)


@pytest.mark.parametrize("size", [8, 5000])
def test_single_precision_stays_single(size: int) -> None:
    x = signal(size, dtype=torch.float32).requires_grad_()
    for name in ("fft", "rfft", "ifft", "ihfft", "fftn", "rfftn"):
        found = getattr(torch.fft, name)(x)
        assert found.dtype is torch.complex64
        found.abs().sum().backward()
    for name in ("irfft", "hfft", "irfftn", "hfftn"):
        assert getattr(torch.fft, name)(x).dtype is torch.float32
    assert x.grad is not None and x.grad.dtype is torch.float32


def test_the_sum_of_squares_is_that_of_the_spectrum() -> None:
    x = signal(3, 50).requires_grad_()
    spectrum = torch.fft.fft(x, norm="ortho")
    power = (spectrum * spectrum.conj()).real.sum()
    assert torch.allclose(power, (x * x).sum())
    (gradient,) = torch.autograd.grad(power, x)
    assert torch.allclose(gradient, 2 * x)


@pytest.mark.parametrize("size", [1, 2, 5, 6, 3000, 3001])
def test_a_gradient_of_half_a_spectrum_is_that_of_the_same_part_of_the_whole(size: int) -> None:
    x = signal(size)
    half = size // 2 + 1
    weights = signal(half, 2)
    gradients = []
    for take in (torch.fft.rfft, lambda x: torch.fft.fft(x)[:half]):
        x.grad = None
        (torch.view_as_real(take(x.requires_grad_())) * weights).sum().backward()
        gradients.append(x.grad)
    assert torch.allclose(*gradients)


def test_short_times_come_back() -> None:
    x, window = signal(2, 100).requires_grad_(), torch.linspace(0.5, 1.5, 16, dtype=torch.float64)
    spectra = x.stft(16, 5, window=window, return_complex=True)
    again = spectra.istft(16, 5, window=window, length=100)
    assert torch.allclose(again, x)
    (gradient,) = torch.autograd.grad(again.square().sum(), x)
    assert torch.allclose(gradient, 2 * x)


def test_windows_that_leave_gaps_are_refused() -> None:
    spectra = torch.ones(5, 4, dtype=torch.complex128)
    with pytest.raises(RuntimeError, match="window overlap add min: 1"):
        torch.istft(spectra, 8, 4, window=torch.zeros(8, dtype=torch.float64))


def test_frequencies_are_those_of_numpy() -> None:
    for n in range(8):
        if n:
            assert np.allclose(torch.fft.fftfreq(n, 0.5), np.fft.fftfreq(n, 0.5))
            assert np.allclose(torch.fft.rfftfreq(n, 0.5), np.fft.rfftfreq(n, 0.5))
        x = torch.arange(n)
        assert torch.equal(torch.fft.ifftshift(torch.fft.fftshift(x)), x)


def test_wrong_arguments_change_nothing() -> None:
    x, out = signal(4), torch.zeros(4, dtype=torch.complex128)
    with pytest.raises(RuntimeError, match="Invalid normalization mode"):
        torch.fft.fft(x, norm="loud", out=out)
    with pytest.raises(RuntimeError, match="Unsupported dtype BFloat16"):
        torch.fft.fft(x.bfloat16(), out=out)
    with pytest.raises(RuntimeError, match="rfft expects a real input tensor"):
        torch.fft.rfft(out, out=out)
    assert not out.any()


def test_spectra_need_no_scipy() -> None:
    program = ("import sys\nsys.modules['scipy'] = None\nimport retrograd as torch\n"
               "x = torch.arange(6000.).requires_grad_()\n"
               "torch.fft.rfft(x).abs().sum().backward()\nprint(torch.fft.rfft(x).dtype)")
    done = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True,
                          check=True)
    assert done.stdout.strip() == "torch.complex64"


def test_what_is_declared_late_is_there_for_all_threads() -> None:
    program = """
import sys, threading, retrograd as torch
assert "retrograd.ops.fourier.short_time" not in sys.modules and "stft" in dir(torch)
sys.setswitchinterval(1e-6)
x, window = torch.ones(20), torch.ones(8)
barrier, found = threading.Barrier(8), []
def look(i):
    barrier.wait()
    call = torch.stft if i % 2 else torch.Tensor.stft
    found.append(call(x, 8, window=window, return_complex=True).shape)
threads = [threading.Thread(target=look, args=(i,)) for i in range(8)]
[t.start() for t in threads], [t.join() for t in threads]
print(len(found), set(found) == {(5, 11)}, torch.Tensor.stft is torch.stft)
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], text=True,
                          capture_output=True, check=True)
    assert done.stdout.split() == ["8", "True", "True"]


def test_subclasses_see_late_functions() -> None:
    class Named(torch.Tensor):
        called: list[str] = []  # noqa: RUF012

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
                               ) -> Any:
            cls.called.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    found = torch.fft.fft(torch.ones(4).as_subclass(Named))
    assert type(found) is Named and "fft" in Named.called[0]


def test_zeros_are_added_behind_whichever_dim_is_transformed() -> None:
    x = torch.arange(6.0).reshape(3, 2)
    longer = torch.cat([x, torch.zeros(1, 2)])
    assert torch.fft.fft(x, n=4, dim=0).tolist() == torch.fft.fft(longer, dim=0).tolist()


@pytest.mark.parametrize("shape", [(1, 4001), (2, 1009), (3, 1009), (5, 4, 101), (64, 37),
                                   (2049, 11)], ids=str)
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_real_rows_of_prime_length(shape: tuple[int, ...], norm: str, dtype: str) -> None:
    x = np.random.default_rng(0).normal(size=shape)
    tolerance = 3e-6 if dtype == "float32" else 1e-13
    found = torch.fft.rfft(torch.tensor(x, dtype=getattr(torch, dtype)), norm=norm)
    spectrum = np.fft.rfft(x, norm=norm)
    assert abs(found.numpy() - spectrum).max() < tolerance * abs(spectrum).max()
    half = found + 0
    half[..., 0] += 0.3j * half[..., 0].abs().max()  # which does not count
    assert abs(torch.fft.irfft(half, shape[-1], norm=norm).numpy() - x).max() \
        < tolerance * abs(x).max()


@pytest.mark.parametrize("length", [1009, 998, 37, 15, 5])
def test_rows_of_prime_length_are_transformed_apart(length: int) -> None:
    x = torch.ones(100, length)
    x[0, 3], x[1] = float("nan"), 1e20
    x[50:] = torch.sin(torch.arange(float(length))) * 1e-4
    for there, back in PAIRS:
        spectrum = getattr(torch.fft, there)(x)
        alone = getattr(torch.fft, there)(x[60].double())
        assert spectrum[0].isnan().all() and not spectrum[1:].isnan().any()
        assert (spectrum[60] - alone).abs().max() < 1e-6 * alone.abs().max()
        more = {} if back == "ifft" else {"n": length}
        assert (getattr(torch.fft, back)(spectrum, **more)[50:].real - x[50:]).abs().max() < 1e-9
