"""Which dtypes every function takes, beside PyTorch: what it refuses, and what its results are."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from tests.samples import Call, Recipe, resolve
from tests.sweeps.cases import ENTRIES, tensors

import retrograd as rg

DTYPES = ("bool", "uint8", "int32", "int64", "float16", "complex64")

_HALVES = "half precision is computed in float32 here; PyTorch has no such kernel"
_CELLS = "the gates of whole numbers are floating point numbers, as those of other cells"
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
             "linalg.vander polar ops.aten._upsample_bilinear2d_aa", "float16", _HALVES),
    **_known("convolution", "complex64", "conv2d and the others take them, here and there"),
    **_known("linalg.cholesky linalg.cholesky_ex", "float16",
             "refused as by the other factorisations"),
    **_known("nn.functional.fold istft stft", "bool", _KERNEL),
    **_known("threshold nn.functional.threshold", "uint8",
             "the sample's value wraps around; PyTorch refuses it"),
    **_known("gru_cell lstm_cell", "uint8", _CELLS),
    **_known("gru_cell lstm_cell", "int32", _CELLS),
    **_known("gru_cell lstm_cell", "int64", _CELLS),
    **_known("nn.functional.soft_margin_loss", "complex64",
             "a loss of complex numbers has no minimum"),
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
    sample = next((call for call in ENTRIES[name].calls if not any(
        isinstance(a, Recipe) and 0 in a.shape for a in call.args)), ENTRIES[name].calls[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {dtype: (outcome(torch, name, sample, dtype), outcome(rg, name, sample, dtype))
                 for dtype in DTYPES}
    new = {dtype: pair for dtype, pair in found.items()
           if pair[0] != pair[1] and (name, dtype) not in KNOWN}
    assert not new, f"torch and retrograd: {new}"
    gone = [dtype for dtype, pair in found.items() if pair[0] == pair[1] and (name, dtype) in KNOWN]
    assert not gone, f"alike now, so strike them from the known ones: {gone}"
