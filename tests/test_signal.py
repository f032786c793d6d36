"""Windows: what each of them promises, old and new names alike."""

from __future__ import annotations

import math

import pytest

import retrograd as torch

W = torch.signal.windows
OWN = {"general_cosine": {"a": (0.5, 0.3, 0.2)}}
NAMES = W.__all__


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", [0, 1, 2, 7, 8])
def test_a_symmetric_window_is_its_own_mirror_image(name: str, count: int) -> None:
    found = getattr(W, name)(count, dtype=torch.float64, **OWN.get(name, {}))
    assert found.shape == (count,) and found.dtype is torch.float64
    assert torch.allclose(found, found.flip(0)) and (not count or found.max() <= 1 + 1e-12)


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"cosine"}))
def test_a_periodic_window_is_a_longer_symmetric_one_without_its_end(name: str) -> None:
    make, own = getattr(W, name), OWN.get(name, {})
    assert torch.allclose(make(8, sym=False, **own), make(9, **own)[:8])


@pytest.mark.parametrize("name", ["hann", "hamming", "blackman", "bartlett", "kaiser"])
def test_older_names_give_the_same_windows(name: str) -> None:
    for count in (0, 1, 6, 7):
        older = getattr(torch, f"{name}_window")
        for periodic in (True, False):
            assert torch.allclose(older(count, periodic, dtype=torch.float64),
                                  getattr(W, name)(count, sym=not periodic, dtype=torch.float64))
    assert older(4, requires_grad=True).is_leaf


def test_shifted_windows_add_up_to_a_constant() -> None:
    window = torch.hann_window(16, dtype=torch.float64)
    assert torch.allclose(window[:8] + window[8:], torch.ones(8, dtype=torch.float64))


@pytest.mark.parametrize("name", NAMES)
def test_wrong_arguments_are_refused(name: str) -> None:
    make, own = getattr(W, name), OWN.get(name, {})
    with pytest.raises(ValueError, match="non-negative window length, got M=-1"):
        make(-1, **own)
    with pytest.raises(ValueError, match=r"float32 or float64 dtypes, got: torch\.int64"):
        make(4, dtype=torch.int64, **own)


def test_weights_are_exact() -> None:
    assert W.exponential(3, tau=2.0)[0].item() == pytest.approx(math.exp(-0.5))
    assert W.gaussian(3, std=2.0)[0].item() == pytest.approx(math.exp(-0.125))
    with pytest.raises(ValueError, match="Coefficients cannot be empty"):
        W.general_cosine(4, a=[])
