"""PyTorch's own catalogue of sample calls, run by both libraries.

``make parity`` tries all calls of each op in one dtype; with RETROGRAD_SWEEP=full (``make sweep``)
in every dtype of ``DTYPES``. Known differences are in tests/sweeps/op_db_differences.json, with a
reason for every call that differs, and how it does in outcomes.json beside it
(RETROGRAD_OUTCOMES=write writes that); a call that differs no more has to be struck from there, and
one that differs in another way is a failure. With RETROGRAD_SWEEP_REPORT=file what was found is
added to that file: ``python -m tests.sweeps.table file`` prints how much of the catalogue agrees,
and ``python -m tests.sweeps.strike file`` does the striking.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest
import torch
from tests.sweeps.cases import OUTCOMES_FILE, tensors, write_outcomes

import retrograd as rg
from parity.harness import essential, same_message

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db

torch.set_num_threads(1)

FULL = os.environ.get("RETROGRAD_SWEEP") == "full"
DTYPES = (torch.float64, torch.float32, torch.complex128, torch.bfloat16, torch.float16,
          torch.int64, torch.bool)
TOLERANCES = {torch.float64: 1e-7, torch.complex128: 1e-7, torch.float32: 1e-4,
              torch.complex64: 1e-4}
HALF_TOLERANCE = 1e-2
DIFFERENCES_FILE = Path(__file__).parents[1] / "sweeps" / "op_db_differences.json"
DIFFERENCES = json.loads(DIFFERENCES_FILE.read_text())
REPORT = os.environ.get("RETROGRAD_SWEEP_REPORT")

# Their memory is not initialised, so only dtype and shape can be compared.
UNINITIALISED = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided",
                 "empty_permuted", "resize_", "resize_as_"}


class Unlike(AssertionError):
    """The two libraries gave different results; ``outcome`` says how, without their numbers."""

    def __init__(self, said: str, outcome: str = ""):
        super().__init__(said)
        self.outcome = outcome or said


# ---------------------------------------------------------------- which ops


def resolved(lib: Any, name: str) -> Any:
    """The function or method called ``name``, or None."""
    places: list[Callable[[], Any]] = [
        lambda: functools.reduce(getattr, name.removeprefix("torch.").split("."), lib),
        lambda: getattr(lib.Tensor, name), lambda: getattr(lib.ops.aten, name)]
    for place in places:
        with contextlib.suppress(AttributeError):
            if callable(found := place()):
                return found
    return None


def title(info: Any) -> str:
    return f"{info.name}:{info.variant_test_name}" if info.variant_test_name else info.name


def subject_of(info: Any) -> Callable[..., Any]:
    """What the catalogue calls, in retrograd: the function itself or a wrapper around it."""
    if isinstance(info.op, FunctionType) and info.op is not resolved(torch, info.name):
        return rebound(info.op)
    return resolved(rg, info.name) or resolved(rg, info.op.__name__)


def rebound(function: Any) -> Any:
    """A helper of the catalogue, with retrograd where it names torch."""
    if not isinstance(function, FunctionType):
        return function
    names = {**function.__globals__, "torch": rg, "wrapper_set_seed": seeded}
    made = FunctionType(function.__code__, names, function.__name__, function.__defaults__,
                        function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def seeded(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a random op from the seed that the catalogue uses."""
    rg.manual_seed(42)
    return op(*args, **kwargs)


# Kernels for other devices, which PyTorch refuses on the CPU.
ELSEWHERE = ("jiterator_", "torch.ops.aten._flash_", "torch.ops.aten._efficient_")
OPS = {title(info): info for info in op_db
       if not info.name.startswith(ELSEWHERE) and subject_of(info) is not None}


def dtype_of(info: Any) -> torch.dtype:
    """The dtype in which an op is tried first; differences in it are those of its "values"."""
    wanted = (torch.float64, torch.int64, torch.complex128, torch.bool)
    return next((d for d in wanted if info.supports_dtype(d, "cpu")), torch.float32)


def kind_of(info: Any, dtype: torch.dtype) -> str:
    """Under which name differences in ``dtype`` are listed."""
    return "values" if dtype == dtype_of(info) else str(dtype).removeprefix("torch.")


def is_swept(info: Any, dtype: torch.dtype) -> bool:
    return dtype == dtype_of(info) or (FULL and info.supports_dtype(dtype, "cpu"))


# ---------------------------------------------------------------- the tests


@pytest.mark.parametrize("name, kind", [
    (name, kind_of(info, dtype)) for name, info in OPS.items()
    for dtype in dict.fromkeys((dtype_of(info), *DTYPES)) if is_swept(info, dtype)])
def test_sample_inputs(name: str, kind: str) -> None:
    info = OPS[name]
    dtype = dtype_of(info) if kind == "values" else getattr(torch, kind)
    seed_all()
    differentiable = (info.supports_autograd and dtype in info.backward_dtypes
                      and (dtype.is_floating_point or dtype.is_complex))
    with quietly():
        samples = list(info.sample_inputs("cpu", dtype, requires_grad=differentiable))
    settle(name, kind, samples, lambda sample: compare_sample(info, sample))


@pytest.mark.parametrize("name", [name for name, info in OPS.items() if info.error_inputs_func])
def test_error_inputs(name: str) -> None:
    info = OPS[name]
    seed_all()
    with quietly():
        wrong = list(info.error_inputs("cpu"))
    settle(name, "errors", wrong, lambda error: compare_error(info, error.sample_input))


def settle(name: str, kind: str, calls: list[Any], compare: Callable[[Any], None]) -> None:
    """Compare every call, and what differs with what is known to differ."""
    found: dict[int, str] = {}
    outcomes: dict[str, str] = {}
    for number, sample in enumerate(calls):
        try:
            with quietly():
                compare(sample)
        except Exception as error:
            found[number] = f"{type(error).__name__}: {str(error)[:500]}"
            outcomes[str(number)] = getattr(error, "outcome", f"raises {type(error).__name__}")
    if REPORT:
        with open(REPORT, "a") as file:
            file.write(json.dumps([name, kind, len(calls), found]) + "\n")
    known = {int(number) for number in DIFFERENCES.get(name, {}).get(kind, {})}
    new = [f"call {n}: {found[n]}" for n in found if n not in known]
    assert not new, f"{len(new)} of {len(calls)} calls differ\n" + "\n".join(new[:4])
    assert known <= set(found), f"calls {sorted(known - set(found))} differ no more: strike them"
    compare_outcomes(f"{name}, {kind} of the catalogue", outcomes)


def compare_outcomes(place: str, found: dict[str, str]) -> None:
    """Fail for a call that differs in another way than it did."""
    known = json.loads(OUTCOMES_FILE.read_text()).get(place, {})
    if os.environ.get("RETROGRAD_OUTCOMES") == "write":
        known = found
        write_outcomes(place, known)
    assert found == known, f"known to differ, but not in this way: {found}"


def test_known_differences_have_reasons() -> None:
    for name, kinds in DIFFERENCES.items():
        assert name in OPS
        for kind, known in kinds.items():
            assert kind in ("values", "errors") or getattr(torch, kind) in DTYPES
            assert known and all(reason.strip() for reason in known.values())


def test_a_call_that_differs_in_another_way_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RETROGRAD_OUTCOMES", raising=False)
    place, known = next((place, known) for place, known in
                        json.loads(OUTCOMES_FILE.read_text()).items() if "catalogue" in place)
    compare_outcomes(place, known)
    for number in known:
        with pytest.raises(AssertionError, match="not in this way"):
            compare_outcomes(place, known | {number: "raises NameError"})
    with pytest.raises(AssertionError, match="not in this way"):
        compare_outcomes("sin, values of the catalogue", {"0": "raises NameError"})


def test_every_call_that_is_known_to_differ_has_an_outcome() -> None:
    outcomes = json.loads(OUTCOMES_FILE.read_text())
    for name, kinds in DIFFERENCES.items():
        for kind, known in kinds.items():
            assert set(known) == set(outcomes.pop(f"{name}, {kind} of the catalogue"))
    assert not [place for place in outcomes if place.endswith("of the catalogue")]


def test_most_of_the_catalogue_is_covered() -> None:
    assert len(OPS) >= 530


# ---------------------------------------------------------------- one call, two libraries


class Arguments:
    """A sample's arguments in one library, and its leaves."""

    def __init__(self, lib: Any, sample: Any) -> None:
        self.lib = lib
        self.leaves: list[Any] = []
        self.args = [self.convert(a) for a in (sample.input, *sample.args)]
        self.kwargs = {key: self.convert(value) for key, value in sample.kwargs.items()}

    def convert(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, torch.Size):
            return tuple(value)
        if isinstance(value, (list, tuple)):
            return type(value)([self.convert(v) for v in value])
        if isinstance(value, dict):
            return {key: self.convert(v) for key, v in value.items()}
        if self.lib is rg and isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return getattr(rg, str(value).removeprefix("torch."))
        if self.lib is rg and isinstance(value, torch.device):
            return rg.device(str(value))
        if self.lib is rg and isinstance(value, FunctionType):
            return rebound(value)
        if self.lib is rg and isinstance(value, torch.nn.LinearCrossEntropyOptions):
            return rg.nn.LinearCrossEntropyOptions(**self.convert(asdict(value)))
        if self.lib is rg and isinstance(value, torch.nn.PairwiseDistance):
            return rg.nn.PairwiseDistance(value.norm, value.eps, value.keepdim)
        return value

    def tensor(self, value: Any) -> Any:
        plain = value.detach().clone().resolve_conj().resolve_neg()
        if self.lib is rg:
            plain = to_retrograd(plain)
        if value.requires_grad:
            plain.requires_grad_()
            self.leaves.append(plain)
        return plain


def to_retrograd(tensor: Any) -> Any:
    if tensor.is_meta:
        return rg.empty(tuple(tensor.shape), dtype=getattr(rg, str(tensor.dtype)[6:]),
                        device="meta")
    if tensor.layout == torch.sparse_csr:
        return rg.sparse_csr_tensor(*map(to_retrograd, (
            tensor.crow_indices(), tensor.col_indices(), tensor.values())), tuple(tensor.shape))
    if tensor.is_floating_point() and tensor.dtype.itemsize == 1:  # NumPy has no such dtype
        return to_retrograd(tensor.view(torch.uint8)).view(getattr(rg, str(tensor.dtype)[6:]))
    if tensor.dtype == torch.bfloat16:
        return rg.from_numpy(tensor.float().numpy()).bfloat16()
    return rg.from_numpy(tensor.numpy().copy(order="K"))


def compare_sample(info: Any, sample: Any) -> None:
    theirs, ours = Arguments(torch, sample), Arguments(rg, sample)
    process = rebound(sample.output_process_fn_grad)
    try:
        wanted = run(info, info.op, theirs, sample.output_process_fn_grad)
    except Exception as error:
        # A view into larger memory cannot do without the memory that the copy left behind.
        compare_raised(error, raised(lambda: run(info, subject_of(info), ours, process)))
        return
    found = run(info, subject_of(info), ours, process)
    compare_all("output", info, wanted, found)
    compare_all("gradient", info, gradients(theirs, wanted), gradients(ours, found))


def run(info: Any, op: Any, given: Arguments, process: Any) -> list[Any]:
    given.lib.manual_seed(42)
    wrapper = info.gradcheck_wrapper if given.lib is torch else rebound(info.gradcheck_wrapper)
    # A leaf cannot be written, so in-place ops get a copy.
    args = [a.clone() if given.lib.is_tensor(a) and info.name.endswith("_") else a
            for a in given.args]
    output = wrapper(op, *args, **given.kwargs)
    return output_parts(given.lib, process(output))


def output_parts(lib: Any, output: Any) -> list[Any]:
    found = tensors(lib, output)
    return found or [output]


def gradients(given: Arguments, outputs: list[Any]) -> list[Any]:
    live = [y for y in outputs if given.lib.is_tensor(y) and y.requires_grad]
    if not live or not given.leaves:
        return []
    seeds = [seed(given.lib, y) for y in live]
    return list(given.lib.autograd.grad(live, given.leaves, seeds, allow_unused=True))


def seed(lib: Any, like: Any) -> Any:
    numbers = np.random.RandomState(sum(like.shape) + 3)
    values = numbers.rand(*like.shape) * 2 - 1
    if like.is_complex():
        values = values + 1j * (numbers.rand(*like.shape) * 2 - 1)
    # By way of one dimension: PyTorch gives an empty array with several of them odd strides.
    return lib.tensor(np.ravel(values)).to(like.dtype).reshape(like.shape)


def compare_all(what: str, info: Any, wanted: list[Any], found: list[Any]) -> None:
    if len(wanted) != len(found):
        raise Unlike(f"torch gave {len(wanted)} of {what}, retrograd {len(found)}")
    for i, (theirs, ours) in enumerate(zip(wanted, found)):
        if not isinstance(theirs, torch.Tensor):
            if theirs != ours and str(theirs) != str(ours):
                raise Unlike(f"{what} {i}: torch {theirs!r}, retrograd {ours!r}",
                             f"{what} {i} is another object")
        else:
            compare_tensors(f"{what} {i}", theirs, ours, info.name in UNINITIALISED)


def compare_tensors(what: str, theirs: Any, ours: Any, only_form: bool) -> None:
    if not isinstance(ours, rg.Tensor):
        raise Unlike(f"{what}: retrograd gave {ours!r}")
    form = (str(theirs.dtype), tuple(theirs.shape)), (str(ours.dtype), tuple(ours.shape))
    if form[0] != form[1]:
        raise Unlike(f"{what}: torch {form[0]}, retrograd {form[1]}")
    if only_form or theirs.dtype == torch.complex32:
        return
    a, b = plain_values(theirs), plain_values(ours)
    tolerance = TOLERANCES.get(theirs.dtype, HALF_TOLERANCE)
    size = np.abs(a[np.isfinite(a)]).max(initial=0.0) if a.ndim else 0.0
    same = np.allclose(a, b, rtol=tolerance, atol=tolerance * (1 + size), equal_nan=True)
    if not same:
        raise Unlike(f"{what}: torch {a}, retrograd {b}", f"{what} has other values")


def plain_values(tensor: Any) -> np.ndarray:
    if "float16" in str(tensor.dtype) or "float8" in str(tensor.dtype):
        tensor = tensor.float()
    tensor = tensor.detach() if tensor.layout in (torch.strided, rg.strided) else \
        tensor.detach().to_dense()
    force = {"force": True} if isinstance(tensor, torch.Tensor) else {}
    return np.asarray(tensor.resolve_conj().numpy(**force))


def compare_error(info: Any, sample: Any) -> None:
    wanted = raised(lambda: info.op(*Arguments(torch, sample).args,
                                    **Arguments(torch, sample).kwargs))
    given = Arguments(rg, sample)
    found = raised(lambda: subject_of(info)(*given.args, **given.kwargs))
    compare_raised(wanted, found)


def compare_raised(wanted: Exception | None, found: Exception | None) -> None:
    if wanted is None and found is None:
        return
    if wanted is None or not isinstance(found, type(wanted)):
        raise Unlike(f"torch raised {wanted!r}, retrograd {found!r}",
                     f"torch raised {type(wanted).__name__}, retrograd {type(found).__name__}")
    if not same_message(str(wanted), str(found)):
        raise Unlike(f"torch says {essential(str(wanted))!r}, retrograd {str(found)!r}")


def raised(function: Callable[[], Any]) -> Exception | None:
    try:
        function()
    except Exception as error:
        return error
    return None


def seed_all() -> None:
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
