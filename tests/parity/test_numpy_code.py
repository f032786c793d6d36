"""NumPy's functions and operators on tensors beside PyTorch's: what PyTorch answers stays.

Tensors that require no grad get PyTorch's answer wherever it has one; a tensor that requires grad
gets one where PyTorch raises, and NumPy's meaning of it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch

import numpy_calls
import retrograd

DATA = {
    "x": np.array([0.5, -1.25, 2.0, 0.75]), "y": np.array([1.5, 0.25, -0.5, 3.0]),
    "p": np.array([0.5, 1.25, 2.0, 0.75]), "u": np.array([0.5, -0.25, 0.125, 0.75]),
    "w": np.array([-1.25, -0.25, 0.5, 1.0]), "m": np.arange(12.0).reshape(3, 4) / 4 - 1,
    "k": np.arange(24.0).reshape(2, 3, 4) / 8 - 1, "z": np.array([1 + 2j, 0.5j, -1, 2 - 1j]),
    "c": (np.arange(12.0) + 1j).reshape(3, 4), "n": np.array([1.0, 2.0, np.nan, 0.5]),
    "q": np.array([[2.0, 1.0, 0.0], [0.5, 3.0, 1.0], [0.0, 1.0, 4.0]]),
    "s": np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])}
CONSTANTS = {"np": np, "a": np.array([0.25, -1.0, 0.75, 0.5]), "i": np.array([1, 0, 2, 3]),
             "b": np.arange(12.0).reshape(3, 4) / 3, "mask": np.array([True, False, True, True])}
LINES = [line for name in ("UFUNCS", "OPERATORS", "FUNCTIONS", "LINALG", "FFT", "PREDICATES")
         for line in getattr(numpy_calls, name).strip().splitlines()]


def answer(library: Any, line: str, kind: str, grad: bool) -> Any:
    """What a call gives: results as plain facts, or the error."""
    given = {}
    for name, value in DATA.items():
        value = value.astype(kind if value.dtype.kind == "f" else "complex64")
        given[name] = library.tensor(value)
        if grad:
            given[name].requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = eval(line, {**CONSTANTS, **given})
        except Exception as error:
            return error
    return [facts(library, part) for part in parts(found)]


def parts(result: Any) -> list[Any]:
    if isinstance(result, (list, tuple)):
        return [part for item in result for part in parts(item)]
    return [result]


def facts(library: Any, value: Any) -> Any:
    if isinstance(value, library.Tensor):
        return ("tensor", str(value.dtype), value.requires_grad,
                value.detach().resolve_conj().numpy())
    if isinstance(value, (np.ndarray, np.generic)):
        return (type(value).__name__, str(value.dtype), False, np.asarray(value))
    return (type(value).__name__, "", False, np.asarray(str(value)))


def assert_alike(ours: Any, theirs: Any) -> None:
    assert not isinstance(ours, Exception), ours
    assert len(ours) == len(theirs)
    for (kind, dtype, grad, found), (their_kind, their_dtype, their_grad, wanted) in zip(
            ours, theirs, strict=True):
        assert (kind, dtype, grad) == (their_kind, their_dtype, their_grad)
        if found.dtype.kind in "fc":
            np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=1e-6)
        else:
            np.testing.assert_array_equal(found, wanted)


ACCIDENTS = {
    "np.size(m)",  # both give a bound method, which prints as what it is
    "np.size(m, 1)",
    "np.empty_like(x) * 0 + x",  # of memory that nobody wrote to
}


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("line", [line for line in LINES if line not in ACCIDENTS])
def test_without_grad_what_pytorch_answers_stays(line: str, kind: str) -> None:
    theirs = answer(torch, line, kind, False)
    ours = answer(retrograd, line, kind, False)
    if isinstance(theirs, Exception):
        return  # where PyTorch raises, there may be an answer
    assert_alike(ours, theirs)


DEPARTURES = {"np.nonzero(x)", "np.array_equal(x, x)", "np.argwhere(x)", "np.shape(m)"}
"""Where PyTorch gives by accident what NumPy does not mean."""


@pytest.mark.parametrize("line", [line for line in LINES if line not in ACCIDENTS | DEPARTURES])
def test_with_grad_what_pytorch_records_is_recorded_alike(line: str) -> None:
    theirs = answer(torch, line, "float64", True)
    if isinstance(theirs, Exception):
        return
    assert_alike(answer(retrograd, line, "float64", True), theirs)
