"""Dtypes that are stored and converted, beside PyTorch: float8; complex32, which computes too."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import retrograd as rg
from parity.harness import same_message

EIGHTS = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")
pytestmark = pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")  # PyTorch's
NAMES = (*EIGHTS, "complex32")
OTHERS = ("float64", "float32", "float16", "bfloat16", "int64", "uint8", "bool", "complex64")


def numbers(lib: Any, dtype: str) -> Any:
    """Ordinary, tiny, huge and special numbers, in one dtype of some library."""
    spread = np.concatenate([np.linspace(-20, 20, 81), np.logspace(-9, 6, 60),
                             [0.0, 448.0, 449.0, 464.0, 465.0, 480.0, 57344.0, 61440.0, 65504.0]])
    return lib.tensor(spread, dtype=lib.float64).to(getattr(lib, dtype))


def bits(tensor: Any) -> Any:
    flat = tensor.detach().contiguous().reshape(-1)
    return (flat.view(torch.uint8) if isinstance(flat, torch.Tensor) else
            flat.view(rg.uint8)).tolist()


def facts(value: Any) -> Any:
    """What can be compared: dtype, shape and bits of tensors, and whatever else as it is."""
    if isinstance(value, (torch.Tensor, rg.Tensor)):
        return str(value.dtype), tuple(value.shape), bits(value)
    if isinstance(value, (tuple, list)):
        return [facts(part) for part in value]
    return repr(value).replace("retrograd", "torch")


def outcome(run: Callable[[Any], Any], lib: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return facts(run(lib))
        except Exception as error:
            return error


def check(run: Callable[[Any], Any]) -> None:
    theirs, ours = outcome(run, torch), outcome(run, rg)
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        assert type(ours) is type(theirs), (theirs, ours)
    else:
        assert ours == theirs


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("other", OTHERS)
def test_conversions_give_the_same_bits(dtype: str, other: str) -> None:
    signed = (lambda x: x.abs()) if other == "uint8" or "e8m0" in dtype else lambda x: x
    if other not in ("bool", "int64", "uint8"):
        check(lambda lib: signed(numbers(lib, other)).to(getattr(lib, dtype)))

    def back(lib: Any) -> Any:
        held = signed(numbers(lib, "float32").clamp(-15, 15)).to(getattr(lib, dtype))
        return held.to(getattr(lib, other))

    check(back)


@pytest.mark.parametrize("dtype", EIGHTS)
def test_every_pattern_of_bits_is_read_alike(dtype: str) -> None:
    found, wanted = (lib.arange(256, dtype=lib.uint8).view(getattr(lib, dtype)).float().tolist()
                     for lib in (rg, torch))
    assert np.array_equal(found, wanted, equal_nan=True)


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "repr": lambda lib, x: repr(x),
    "repr of an element": lambda lib, x: repr(x[0, 0]),
    "tolist": lambda lib, x: x.tolist(),
    "item": lambda lib, x: x[1, 1].item(),
    "bool of an element": lambda lib, x: bool(x[1, 1]),
    "tensor": lambda lib, x: lib.tensor([1.0, 2.0], dtype=x.dtype),
    "zeros": lambda lib, x: lib.zeros(2, 3, dtype=x.dtype),
    "ones": lambda lib, x: lib.ones(2, dtype=x.dtype),
    "full": lambda lib, x: lib.full((2,), 2.0, dtype=x.dtype),
    "ones like": lambda lib, x: lib.ones_like(x),
    "new": lambda lib, x: x.new_full((2,), 4),
    "size of an element": lambda lib, x: (x.element_size(), x.dtype.itemsize),
    "kind": lambda lib, x: (x.is_floating_point(), x.is_complex(), x.dtype.is_signed),
    "row": lambda lib, x: x[1],
    "columns": lambda lib, x: x[:, ::2],
    "transposed": lambda lib, x: x.T.contiguous(),
    "reshaped": lambda lib, x: x.reshape(3, 2),
    "expanded": lambda lib, x: x[None].expand(2, 2, 3).clone(),
    "flipped": lambda lib, x: x.flip(0),
    "rolled": lambda lib, x: x.roll(1, 1),
    "repeated": lambda lib, x: x.repeat(2, 1),
    "joined": lambda lib, x: lib.cat([x, x], 1),
    "stacked": lambda lib, x: lib.stack([x, x]),
    "split": lambda lib, x: x.split(1),
    "indexed": lambda lib, x: x[lib.tensor([1, 0, 1])],
    "masked": lambda lib, x: x[lib.tensor([True, False])],
    "selected": lambda lib, x: x.index_select(1, lib.tensor([2, 0])),
    "chosen": lambda lib, x: lib.where(lib.tensor([True, False, True]), x, x.flip(0)),
    "equal elements": lambda lib, x: x == x.roll(3),
    "unequal elements": lambda lib, x: x != x.roll(3),
    "not a number": lambda lib, x: x.isnan(),
    "filled": lambda lib, x: x.clone().fill_(2),
    "emptied": lambda lib, x: x.clone().zero_() if "e8m0" not in str(x.dtype) else x,
    "written": lambda lib, x: written(x.clone(), 2.0),
    "copied from": lambda lib, x: x.clone().copy_(lib.arange(1.0, 7.0).reshape(2, 3)),
    "copied to": lambda lib, x: lib.zeros(2, 3).copy_(x) if not x.is_complex() else x,
    "deep copy": lambda lib, x: copy.deepcopy(x),
    "file": lambda lib, x: saved(lib, x),
    "gradient": lambda lib, x: gradient(lib, x.dtype),
    "numpy": lambda lib, x: x.numpy(),
    "sum": lambda lib, x: x.sum(),
    "exp": lambda lib, x: x.exp(),
    "with another": lambda lib, x: x.exp() + lib.ones(2, 3),
    "sorted": lambda lib, x: x.cumsum(0),
    "limits": lambda lib, x: [getattr(lib.finfo(x.dtype), name) for name in (
        "bits", "eps", "max", "min", "tiny", "smallest_normal", "dtype")
        if name != "eps" or not str(x.dtype).endswith("e5m2fnuz")],  # which has two bits, not three
}


def written(x: Any, value: Any) -> Any:
    x[0] = value
    x[1, 1:] = x[0, 1:]
    return x


def saved(lib: Any, x: Any) -> Any:
    file = io.BytesIO()
    lib.save({"x": x, "row": x[1]}, file)
    file.seek(0)
    found = lib.load(file)
    return found["x"], found["row"], found["row"].data_ptr() - found["x"].data_ptr()


def gradient(lib: Any, dtype: Any) -> Any:
    leaf = lib.tensor([1.0, 2.0, 4.0], requires_grad=True)
    held = leaf.to(dtype)
    total = (held.to(lib.complex64).real if dtype.is_complex else held.float()).sum()
    total.backward()
    return held.requires_grad, leaf.grad.to(dtype)


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(dtype: str, program: str) -> None:
    def run(lib: Any) -> Any:
        x = lib.tensor([[1.0, 2.0, 4.0], [0.5, 8.0, 16.0]]).to(getattr(lib, dtype))
        return PROGRAMS[program](lib, x)

    check(run)


@pytest.mark.parametrize("dtype", NAMES)
def test_pickles(dtype: str) -> None:
    held = rg.tensor([[1.0, 2.0], [4.0, 0.5]]).to(getattr(rg, dtype))
    assert facts(pickle.loads(pickle.dumps(held))) == facts(held)


def test_files_of_pytorch_are_read() -> None:
    for dtype in NAMES:
        file = io.BytesIO()
        held = torch.tensor([[1.0, 2.0], [4.0, 0.5]]).to(getattr(torch, dtype))
        torch.save(held, file)
        file.seek(0)
        assert facts(rg.load(file)) == facts(held)


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("other", (*NAMES, *OTHERS))
def test_promotion(dtype: str, other: str) -> None:
    check(lambda lib: lib.promote_types(getattr(lib, dtype), getattr(lib, other)))


def test_parts_of_complex_halves() -> None:
    def run(lib: Any) -> Any:
        parts = lib.tensor([[1.0, 2.0], [4.0, 0.5]], dtype=lib.float16)
        whole = lib.view_as_complex(parts)
        made = lib.complex(parts[0], parts[1])
        lib.view_as_real(whole)[0, 1] = 3
        return whole, made, lib.view_as_real(made), parts, whole.real, whole.imag, made.chalf()

    check(run)


ARITHMETIC: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sum": lambda lib, x, z: z + z,
    "multiple": lambda lib, x, z: lib.add(z, z, alpha=2),
    "difference": lambda lib, x, z: z - x,
    "from a number": lambda lib, x, z: 1j - x,
    "from one": lambda lib, x, z: 1 - z,
    "product": lambda lib, x, z: z * z * x,
    "turned": lambda lib, x, z: x * 1j,
    "in single": lambda lib, x, z: z * lib.ones(3, dtype=lib.complex64),
    "by zero dims": lambda lib, x, z: z * lib.tensor(1j, dtype=lib.complex128),
    "negative": lambda lib, x, z: -z,
    "length": lambda lib, x, z: abs(z),
    "direction": lambda lib, x, z: z.detach().sgn(),
    "conjugate": lambda lib, x, z: z.conj().resolve_conj(),
    "joined": lambda lib, x, z: lib.cat([z, z * 2]),
    "stacked": lambda lib, x, z: lib.stack([z, z * 2]),
    "chosen": lambda lib, x, z: lib.where(x > 0, x, 1j),
    "in place": lambda lib, x, z: z.clone().mul_(2 + 1j),
    "part": lambda lib, x, z: (z * (2 + 1j)).imag,
    "quotient": lambda lib, x, z: z / 2,
    "exponential": lambda lib, x, z: z.exp(),
    "direction that turns": lambda lib, x, z: z.sgn(),
    "batch": lambda lib, x, z: lib.vmap(lambda a: a * (a + 1j))(x),
    "tangent": lambda lib, x, z: lib.func.jvp(lambda a: a * (a + 1j), (x,), (lib.ones_like(x),))[1],
}


@pytest.mark.parametrize("name", ARITHMETIC)
def test_complex_halves_are_computed_and_differentiated(name: str) -> None:
    def run(lib: Any) -> Any:
        x = lib.tensor([0.5, -1.25, 2.0], dtype=lib.float16, requires_grad=True)
        y = ARITHMETIC[name](lib, x, lib.complex(x, x * 2))
        if not y.requires_grad:
            return y
        return y, *lib.autograd.grad(y, x, lib.full_like(y, 0.5))

    check(run)


def test_what_is_not_computed_says_so() -> None:
    for dtype in NAMES:
        x = rg.ones(3).to(getattr(rg, dtype))
        with pytest.raises(NotImplementedError) as found:
            x.exp()
        with pytest.raises(NotImplementedError) as wanted:
            torch.ones(3).to(getattr(torch, dtype)).exp()
        assert same_message(str(wanted.value).partition('" ')[2], str(found.value).partition(
            '" ')[2])


@pytest.mark.parametrize("take", [
    lambda x: x[0], lambda x: x[:, 1:], lambda x: x.t(), lambda x: x.reshape(-1),
    lambda x: x.clone(), lambda x: x.real, lambda x: x.flip(0), lambda x: x.diagonal(),
    lambda x: x[[0, 1, 0]], lambda x: x[:, [2, 0, 2]], lambda x: x[x.real > 1],
    lambda x: x.as_strided((2, 2), (1, 1))])
def test_gradients_of_two_parts_meet(take: Callable[[Any], Any]) -> None:
    def run(lib: Any) -> Any:
        whole = lib.tensor([[1 + 2j, 3, 2 - 1j], [1, 2, 3j]]).to(lib.complex32).requires_grad_()
        for x in (whole, whole * 1):
            (size(take(x)) + size(take(x))).backward()
        return whole.grad

    def size(part: Any) -> Any:
        return part.abs().float().sum()

    check(run)


def test_gradients_of_taken_rows_meet() -> None:
    def run(lib: Any) -> Any:
        x = lib.tensor([[1 + 2j, 3, 2 - 1j], [1, 2, 3j]]).to(lib.complex32).requires_grad_()
        for dim in (0, 1):
            x.index_select(dim, lib.tensor([1, 0, 1])).abs().float().sum().backward()
        return x.grad

    check(run)


@pytest.mark.parametrize("take", [
    lambda x: x.expand(2, 2, 3), lambda x: x.repeat(2, 2), lambda x: x.unfold(1, 2, 1),
    lambda x: x.gather(0, rg.tensor([[0, 1, 1], [0, 0, 1]])),
    lambda x: x.take(rg.tensor([0, 4, 0])), lambda x: x + rg.ones(4, 1, 1, dtype=rg.complex32)])
def test_what_has_a_value_has_a_gradient(take: Callable[[Any], Any]) -> None:
    """PyTorch has no kernel for these gradients; ours are those of twice the precision, rounded."""
    found, wanted = [
        rg.tensor([[1 + 2j, 3, 2 - 1j], [1, 2, 3j]]).to(dtype).requires_grad_()
        for dtype in (rg.complex32, rg.complex64)]
    for x in (found, wanted):
        take(x).to(rg.complex64).abs().sum().backward()
    assert found.grad.dtype is rg.complex32
    rg.testing.assert_close(found.grad.to(rg.complex64), wanted.grad, rtol=2e-3, atol=2e-3)
