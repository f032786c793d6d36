"""Single precision is kept: on the way through linear algebra, Fourier transforms and special
functions no array becomes double, which would take twice the memory and time.

Every sample call is watched, forward and backward: what Python functions return, of this package or
of NumPy and SciPy, and what their variables hold then.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType
from typing import Any

import numpy as np
import pytest

import retrograd as torch

from .samples import array, call, load_all, resolve

DOUBLE = (np.dtype(np.float64), np.dtype(np.complex128))
ENTRIES = {name: entry for name, entry in load_all().items()
           if name.startswith(("linalg.", "fft.", "special."))}
EXCEPT = {"special.polygamma": "a factorial meets a value of zeta that may be too small by itself"}
"""Functions in which arrays are double all the same, and why."""

LARGE = {name: (array(40, 40),) * count for names, count in (
    ("inv det slogdet cholesky_ex eigh eigvalsh eig eigvals svdvals svd qr lu lu_factor pinv "
     "matrix_exp cond ldl_factor", 1), ("solve lstsq", 2)) for name in names.split()}
"""Matrices that are large enough for routines of their own."""


def calls() -> Iterator[Any]:
    for name, entry in ENTRIES.items():
        for number, sample in enumerate(entry.calls):
            yield pytest.param(name, sample, id=f"{name}-{number}")
    for name, args in LARGE.items():
        yield pytest.param(f"linalg.{name}", call(*args), id=f"linalg.{name}-large")


class Watch:
    """Remembers where arrays of double precision were seen that are more than a number."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, frame: FrameType, event: str, value: Any) -> None:
        if event == "return":
            for name, held in (("its result", value), *frame.f_locals.items()):
                if isinstance(held, np.ndarray) and held.dtype in DOUBLE and held.size > 1:
                    code = frame.f_code
                    self.seen.append(f"{name} of {code.co_name} in {code.co_filename}")

    def __enter__(self) -> Watch:
        sys.setprofile(self)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)


def run(name: str, sample: Any, dtype: str) -> list[str]:
    """Where a call in that dtype, and its backward pass, made arrays double."""
    args, kwargs, _ = sample.build(torch, dtype)
    function = resolve(torch, name)
    with Watch() as watch:
        found = function(*args, **kwargs)
        outputs = [y for y in (found if isinstance(found, tuple) else (found,))
                   if isinstance(y, torch.Tensor) and y.requires_grad]
        ones = [torch.ones_like(y) for y in outputs]
        with suppress(RuntimeError):  # where there is no derivative, or none here
            torch.autograd.backward(outputs, ones)
    return watch.seen


@pytest.mark.parametrize("name, sample", list(calls()))
def test_single_precision_is_kept(name: str, sample: Any) -> None:
    run(name, sample, "float32")  # whatever is made when first needed
    seen = run(name, sample, "float32")
    assert name in EXCEPT or not seen, "\n".join(sorted(set(seen)))


def test_what_becomes_double_is_noticed() -> None:
    def careless(x: Any) -> Any:
        wide = x.astype(np.float64)
        return (wide * 2).astype(np.float32)

    with Watch() as watch:
        careless(np.ones(3, np.float32))
    assert any("wide of careless" in line for line in watch.seen)
