"""Which dtypes every function takes, beside PyTorch: what it refuses, and what its results are."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from tests.samples import Call, Recipe, resolve
from tests.sweeps.cases import ENTRIES, tensors

import retrograd as rg

DTYPES = ("bool", "uint8", "int32", "int64", "float16", "complex64")

_HALVES = "half precision is computed in float32 here; PyTorch has no such kernel"
_CELLS = "the gates of whole numbers are floating point numbers, as those of other cells"
_SINGLE = "PyTorch takes single elements of dtypes that have no order"
_KERNEL = "PyTorch has a kernel for bool, which it needs for nothing"


def _known(names: str, dtype: str, reason: str) -> dict[tuple[str, str], str]:
    return {(name, dtype): reason for name in names.split()}


KNOWN = {
    **_known("_dirichlet_grad _standard_gamma_grad special.airy_ai nn.functional.avg_pool3d "
             "nn.functional.lp_pool3d special.bessel_j0 special.bessel_j1 special.bessel_y0 "
             "special.bessel_y1 special.erfcx special.log_ndtr special.modified_bessel_i0 "
             "special.modified_bessel_i1 special.modified_bessel_k0 special.modified_bessel_k1 "
             "nn.functional.multi_margin_loss special.ndtri special.scaled_modified_bessel_k0 "
             "special.scaled_modified_bessel_k1 special.spherical_bessel_j0 special.zeta "
             "polar ops.aten._upsample_bilinear2d_aa", "float16", _HALVES),
    **_known("convolution", "complex64", "conv2d and the others take them, here and there"),
    **_known("linalg.cholesky linalg.cholesky_ex", "float16",
             "refused as by the other factorisations"),
    **_known("nn.functional.fold istft", "bool", _KERNEL),
    **_known("gru_cell lstm_cell", "uint8", _CELLS),
    **_known("gru_cell lstm_cell", "int32", _CELLS),
    **_known("gru_cell lstm_cell", "int64", _CELLS),
    **_known("nn.functional.soft_margin_loss", "complex64",
             "a loss of complex numbers has no minimum"),
    **_known("nn.functional.conv1d nn.functional.conv2d", "uint8",
             "dilated ones are computed as those without gaps are"),
    **_known("histc histogram histogramdd", "uint8",
             "PyTorch looks at a given range before it looks for a kernel"),
    **_known("aminmax", "complex64", "PyTorch refuses single elements in other words"),
    **_known("cummax cummin kthvalue mode", "complex64", _SINGLE),
    **_known("kthvalue", "bool", _SINGLE),
}
"""What differs, by function and dtype."""


def outcome(lib: Any, name: str, sample: Call, dtype: str) -> Any:
    """The dtypes of the results of a call in this dtype, or the name of its error."""

    def make(value: Any) -> Any:
        if isinstance(value, Recipe):
            made = lib.tensor(value.array(dtype if dtype.startswith("complex") else "float64"))
            return made.to(getattr(lib, dtype)) if value.kind in ("float", "distinct") else made
        if isinstance(value, (list, tuple)):
            return type(value)(make(part) for part in value)
        return value

    args, kwargs = make(sample.args), {key: make(part) for key, part in sample.kwargs.items()}
    try:
        found = resolve(lib, name)(*args, **kwargs)
    except Exception as error:
        return type(error).__name__
    return [str(y.dtype) for y in tensors(lib, found)]


@pytest.mark.parametrize("name", ENTRIES)
def test_dtypes_are_taken_and_refused_alike(name: str) -> None:
    first, *others = samples_of_each_kind(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {(dtype, how): (outcome(torch, name, sample, dtype),
                                outcome(rg, name, sample, dtype))
                 for how, sample in (first, *others)
                 for dtype in (DTYPES if sample is first[1] else TELLING)}
    unlike = {place: pair for place, pair in found.items() if pair[0] != pair[1]}
    new = {place: pair for place, pair in unlike.items() if (name, place[0]) not in KNOWN}
    assert not new, f"torch and retrograd: {new}"
    gone = {dtype for known, dtype in KNOWN if known == name} - {dtype for dtype, _ in unlike}
    assert not gone, f"alike now, so strike them from the known ones: {gone}"


TELLING = ("bool", "uint8", "complex64")  # of which kernels are the first to be missing


def samples_of_each_kind(name: str) -> list[tuple[Any, Call]]:
    """Samples that differ in more than shapes and numbers, with what they differ in."""
    calls = [call for call in ENTRIES[name].calls if not any(
        isinstance(a, Recipe) and 0 in a.shape for a in call.args)] or ENTRIES[name].calls[:1]
    by_kind: dict[Any, Call] = {}
    for call in calls:
        by_kind.setdefault(kind_of((*call.args, *call.kwargs.items())), call)
    return list(by_kind.items())


def kind_of(value: Any) -> Any:
    match value:
        case Recipe(kind=kind, shape=shape):
            return kind, bool(shape)
        case list() | tuple():
            return tuple(map(kind_of, value))
        case str() | bool() | None:
            return value
    return type(value)


EVERY = sorted({str(getattr(torch, name)).removeprefix("torch.") for name in dir(torch)
                if isinstance(getattr(torch, name), torch.dtype)} & set(dir(rg)))
MAKERS = {
    "zeros": lambda lib, d: lib.zeros(3, dtype=d), "ones": lambda lib, d: lib.ones(2, 2, dtype=d),
    "full": lambda lib, d: lib.full((3,), 1, dtype=d), "eye": lambda lib, d: lib.eye(2, 3, dtype=d),
    "full of a fraction": lambda lib, d: lib.full((3,), 1.5, dtype=d),
    "full of True": lambda lib, d: lib.full((3,), True, dtype=d),
    "arange": lambda lib, d: lib.arange(1, 5, dtype=d),
    "arange by fractions": lambda lib, d: lib.arange(0.5, 3, 0.75, dtype=d),
    "arange to a fraction": lambda lib, d: lib.arange(0.5, 3.6, dtype=d),
    "arange backwards": lambda lib, d: lib.arange(5, 0, -1.5, dtype=d),
    "linspace": lambda lib, d: lib.linspace(0, 3, 5, dtype=d),
    "logspace": lambda lib, d: lib.logspace(0, 2, 3, dtype=d),
    "tensor": lambda lib, d: lib.tensor([0, 1, 2.75], dtype=d),
    "tensor of nothing": lambda lib, d: lib.tensor([], dtype=d),
    "a negative": lambda lib, d: lib.tensor([1, -1, 2], dtype=d),
    "a bool": lambda lib, d: lib.tensor([True, False], dtype=d),
    "zeros_like": lambda lib, d: lib.zeros_like(lib.ones(2), dtype=d),
    "ones_like": lambda lib, d: lib.ones_like(lib.ones(2, dtype=d)),
    "full_like": lambda lib, d: lib.full_like(lib.ones(2, dtype=d), 2),
    "new_ones": lambda lib, d: lib.ones(1).new_ones((2,), dtype=d),
    "new_full": lambda lib, d: lib.zeros(1, dtype=d).new_full((2,), 1),
    "new_tensor": lambda lib, d: lib.zeros(1, dtype=d).new_tensor([1, 0]),
    "fill_": lambda lib, d: lib.empty(2, dtype=d).fill_(1),
    "zero_": lambda lib, d: lib.ones(2, dtype=d).zero_(),
    "written to": lambda lib, d: lib.zeros(2, dtype=d).copy_(lib.tensor([1.0, 0.25])),
    "scalar_tensor": lambda lib, d: lib.scalar_tensor(1, dtype=d),
    "tril_indices": lambda lib, d: lib.tril_indices(3, 2, dtype=d),
    "hann_window": lambda lib, d: lib.hann_window(4, dtype=d),
    "view of bytes": lambda lib, d: lib.zeros(16, dtype=lib.uint8).view(d),
    "clone": lambda lib, d: lib.ones(2, dtype=d).clone()[1:],
    "cat": lambda lib, d: lib.cat([lib.ones(1, dtype=d), lib.zeros(1, dtype=d)]),
    "item": lambda lib, d: lib.tensor(lib.ones((), dtype=d).item()),
    "tolist": lambda lib, d: lib.tensor(lib.ones(2, dtype=d).tolist()),
    "printed": lambda lib, d: repr(lib.ones(2, dtype=d)),
}


def made(lib: Any, maker: str, dtype: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = MAKERS[maker](lib, getattr(lib, dtype))
            if isinstance(found, str):
                return found
            wide = lib.complex128 if found.dtype.is_complex else lib.float64
            return str(found.dtype), tuple(found.shape), found.to(wide).tolist()
        except Exception as error:
            return type(error).__name__


@pytest.mark.parametrize("maker", MAKERS)
def test_tensors_of_every_dtype_are_made_alike(maker: str) -> None:
    found = {dtype: (made(torch, maker, dtype), made(rg, maker, dtype)) for dtype in EVERY}
    unlike = {dtype: pair for dtype, pair in found.items() if pair[0] != pair[1]}
    if maker == "logspace":  # powers, which may be rounded otherwise
        unlike = {dtype: (theirs, ours) for dtype, (theirs, ours) in unlike.items()
                  if theirs[:2] != ours[:2] or not np.allclose(theirs[2], ours[2], rtol=1e-6)}
    assert not unlike
