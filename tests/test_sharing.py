"""SciPy's functions of large arrays are shared among threads, and nobody notices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from retrograd.backend import xp
from retrograd.backend.numpy import sharing, threads
from retrograd.backend.numpy.sharing import over_blocks, shared

pytest.importorskip("scipy")
X = np.random.default_rng(0).uniform(0.1, 3, 100_003)


@pytest.fixture(autouse=True)
def _three_threads() -> Iterator[None]:
    before = threads.count()
    threads.limit(3)
    yield
    threads.limit(before)


@pytest.fixture
def shared_out(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The counts of what is computed in blocks."""
    found: list[int] = []
    monkeypatch.setattr(sharing, "over_blocks", lambda compute, count, block: (
        found.append(count), over_blocks(compute, count, block)))
    return found


@pytest.mark.parametrize(("name", "arguments"), [
    ("k0", (X,)), ("zeta", (2.5, X)), ("zeta", (X + 1, X)), ("airy", (X.reshape(-1, 1),)),
    ("gammainc", (X.astype(np.float32), np.float32(2)))])
def test_parts_are_what_the_whole_is(name: str, arguments: tuple[object, ...],
                                     shared_out: list[int]) -> None:
    import scipy.special

    found, expected = xp.special(name)(*arguments), getattr(scipy.special, name)(*arguments)
    assert shared_out == [len(X)]
    for one, other in zip(found, expected, strict=True) if isinstance(expected, tuple) \
            else [(found, expected)]:
        assert one.dtype == other.dtype and np.array_equal(one, other)


def test_small_strided_and_broadcast_arrays_are_computed_in_one_go(
        shared_out: list[int]) -> None:
    k0, zeta = xp.special("k0"), xp.special("zeta")
    assert np.array_equal(k0(X[:1000]), k0(X)[:1000]) and len(shared_out) == 1
    assert k0(X[::2]).shape == (50_002,) and len(shared_out) == 1
    assert zeta(X[:300, None] + 1, X[:200]).shape == (300, 200) and len(shared_out) == 1


def test_what_is_said_about_floating_point_errors_holds_in_every_thread() -> None:
    x = np.where(np.arange(len(X)) > 90_000, 0.0, X)  # in the last part alone
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        shared(np.log)(x)
    with np.errstate(all="ignore"):
        assert np.isinf(shared(np.log)(x)[-1])
