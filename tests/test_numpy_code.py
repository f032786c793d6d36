"""NumPy code on tensors: every function against NumPy's own values, gradients by differences."""

from __future__ import annotations

import operator
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing.overrides import (
    get_overridable_numpy_array_functions,
    get_overridable_numpy_ufuncs,
)

import numpy_calls
import retrograd as torch
from retrograd import numpy_code
from retrograd.base import warning


def drawn() -> dict[str, np.ndarray]:
    """What the sample calls differentiate."""
    rng = np.random.default_rng(3)

    def normal(*shape: int) -> np.ndarray:
        return rng.normal(size=shape)

    square = normal(3, 3)
    n = normal(4)
    n[2] = np.nan
    return {"x": normal(4), "y": normal(4) + 0.1, "p": rng.uniform(0.5, 2, 4),
            "u": rng.uniform(-0.8, 0.8, 4), "w": np.array([-1.2, -0.3, 0.4, 1.1]),
            "m": normal(3, 4), "k": normal(2, 3, 4), "z": normal(4) + 1j * normal(4),
            "c": normal(3, 4) + 1j * normal(3, 4), "q": square + np.eye(3),
            "s": square @ square.T + 2 * np.eye(3), "n": n}


DATA = drawn()
CONSTANTS: dict[str, Any] = {
    "np": np, "a": np.array([0.3, -1.1, 0.7, 0.2]), "i": np.array([1, 0, 2, 3]),
    "b": np.random.default_rng(4).normal(size=(3, 4)), "mask": np.array([True, False, True, True])}


def lines(*blocks: str) -> list[str]:
    return [line for block in blocks for line in block.strip().splitlines()]


def names_in(line: str) -> list[str]:
    """The data that a call uses."""
    return [name for name in DATA if re.search(rf"(?<![\w.'\"]){name}(?!\w|=|')", line)]


def parts(result: Any) -> list[Any]:
    if isinstance(result, (list, tuple)):
        return [part for item in result for part in parts(item)]
    return [result]


def evaluated(line: str, names: list[str], given: Any) -> list[Any]:
    return parts(eval(line, {**CONSTANTS, **dict(zip(names, given, strict=True))}))


def as_numpy(value: Any) -> np.ndarray:
    return value.detach().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)


def leaves(names: list[str]) -> list[Any]:
    return [torch.tensor(DATA[name], requires_grad=True) for name in names]


def assert_same(ours: Any, theirs: Any) -> None:
    """The same values, dtype and shape."""
    found, wanted = as_numpy(ours), np.asarray(theirs)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    if wanted.dtype.kind not in "fc":
        np.testing.assert_array_equal(found, wanted)
    else:
        close = 1e-6 if wanted.dtype in (np.float32, np.complex64) else 1e-10
        np.testing.assert_allclose(found, wanted, rtol=close, atol=close)


RECORDED = lines(numpy_calls.UFUNCS, numpy_calls.OPERATORS, numpy_calls.FUNCTIONS,
                 numpy_calls.LINALG, numpy_calls.FFT)


@pytest.mark.parametrize("line", RECORDED)
def test_values_are_numpys_and_gradients_right(line: str) -> None:
    names = names_in(line)
    theirs = evaluated(line, names, [DATA[name] for name in names])
    tensors = leaves(names)
    ours = evaluated(line, names, tensors)
    assert len(ours) == len(theirs)
    for found, wanted in zip(ours, theirs, strict=True):
        assert_same(found, wanted)
    kept = [isinstance(part, torch.Tensor) and part.requires_grad for part in ours]
    assert any(kept)
    if any(part.dtype == torch.float32 for part in ours):  # too coarse for differences
        ours[0].sum().backward()
        assert all(tensor.grad.dtype == torch.float64 for tensor in tensors)
        return

    def function(*given: Any) -> Any:
        return tuple([torch.as_tensor(part) for part, keep in zip(
            evaluated(line, names, given), kept, strict=True) if keep])

    assert torch.autograd.gradcheck(function, tuple(tensors))
    if "n" not in names:  # and where nothing had a tangent, NumPy would compute alone
        assert torch.autograd.gradcheck(function, tuple(tensors), check_forward_ad=True,
                                        check_backward_ad=False, check_undefined_grad=False)
    assert torch.autograd.gradgradcheck(function, tuple(tensors))


@pytest.mark.parametrize("line", lines(numpy_calls.PREDICATES))
def test_what_has_no_gradient_comes_back_as_numpys(line: str) -> None:
    names = names_in(line)
    ours = eval(line, {**CONSTANTS, **dict(zip(names, leaves(names), strict=True))})
    theirs = eval(line, {**CONSTANTS, **DATA})
    assert type(ours) is type(theirs)
    for found, wanted in zip(parts(ours), parts(theirs), strict=True):
        assert type(found) is type(wanted)
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("line", lines(numpy_calls.WRITES))
def test_writes_into_tensors_are_recorded(line: str) -> None:
    names = names_in(line)

    def written(make: Any, *given: Any) -> Any:
        t, r = make(np.arange(4.0)), make(np.arange(12.0).reshape(3, 4))
        exec(line, {**CONSTANTS, **dict(zip(names, given, strict=True)), "t": t, "r": r})
        return t, r

    theirs = written(np.copy, *[DATA[name] for name in names])
    tensors = leaves(names)
    for found, wanted in zip(written(torch.tensor, *tensors), theirs, strict=True):
        assert_same(found, wanted)
    assert torch.autograd.gradcheck(lambda *given: written(torch.tensor, *given), tuple(tensors))


# ---------------------------------------------------------------- nothing is forgotten

REFUSED = {
    "busday_count", "busday_offset", "datetime_as_string", "is_busday", "packbits", "unpackbits",
    "ravel_multi_index", "unravel_index", "ix_", "save", "savetxt", "savez", "savez_compressed",
    *numpy_code.LIKE, "array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray"}
"""Functions that meet no differentiated numbers: dates, bits, indices, files, new arrays."""
TEXT = re.compile(r"^(_|is(al|de|di|lo|nu|sp|ti|up|nat)|count|endswith|find|index|rfind|rindex|"
                  "startswith|str_len)")
INTEGERS = {"bitwise_and", "bitwise_count", "bitwise_or", "bitwise_xor", "gcd", "invert", "lcm",
            "left_shift", "right_shift"}


def test_every_function_of_numpy_is_sampled_or_known_to_meet_no_gradient() -> None:
    called = set(re.findall(r"np\.([\w.]+?)\(", "\n".join(lines(
        *[block for name, block in vars(numpy_calls).items() if name.isupper()]))))
    functions = {numpy_code.name_of(function)
                 for function in get_overridable_numpy_array_functions()}
    spaces = {"", "fft", "linalg", "lib.scimath", "lib.stride_tricks"}  # others may be loaded
    functions = {name for name in functions if name.rpartition(".")[0] in spaces}
    assert functions - called <= REFUSED <= functions
    ufuncs = {ufunc.__name__ for ufunc in get_overridable_numpy_ufuncs()
              if not TEXT.match(ufunc.__name__)} - {"clip"}
    assert ufuncs - called == INTEGERS
    assert len(functions & called) > 230


@pytest.mark.parametrize(("line", "words"), [
    ("np.array([x[0], x[1]])", "np.stack and np.concatenate join tensors"),
    ("np.asarray(x)", "np.stack and np.concatenate join tensors"),
    ("np.r_[x, 1.0]", "np.stack and np.concatenate join tensors"),
    ("np.random.default_rng(0).normal(x, 1.0)", "detach"),
    ("np.frompyfunc(abs, 1, 1)(x)", "no op computes"),
    ("np.add.reduceat(x, [0, 2])", "write it as a loop over np.add"),
    ("np.subtract.reduce(x)", "write it as a loop over np.subtract"),
    ("np.multiply.at(x, [0], 2.0)", "write it as a loop over np.multiply"),
    ("np.add.at(a, [0], x[0])", "write to a tensor"),
    ("np.add(x, a, out=np.empty(4))", "cannot hold a gradient"),
    ("np.sum(m, axis=0, out=np.empty(4))", "cannot hold a gradient"),
    ("np.copyto(a, x)", "write to a tensor"),
    ("np.pad(x, 2, 'linear_ramp')", "np.concatenate"),
    ("np.quantile(x, 0.5, method='hazen')", "only method="),
    ("np.polyfit(a, x, 1, full=True)", "np.linalg.lstsq"),
    ("np.linalg.qr(m, 'raw')", "mode='reduced'"),
    ("np.lib.scimath.arcsin(m * 9)", "branch cut"),
    ("np.lib.recfunctions.unstructured_to_structured(x)", "there is no derivative of it here"),
])
def test_what_cannot_be_recorded_says_what_to_write(line: str, words: str) -> None:
    import numpy.lib.recfunctions  # noqa: F401

    x, m = leaves(["x", "m"])
    with pytest.raises(RuntimeError, match=re.escape(words)):
        eval(line, {**CONSTANTS, "x": x, "m": m})


@pytest.mark.parametrize(("line", "error"), [
    ("np.concatenate([m, x])", ValueError), ("np.dot(m, m)", ValueError),
    ("np.stack([m, x])", ValueError), ("np.sum(x, axis=3)", np.exceptions.AxisError),
    ("np.squeeze(m, axis=0)", ValueError), ("np.split(x, 3)", ValueError),
    ("np.convolve(x, [])", ValueError), ("np.gradient(x[:1])", ValueError),
    ("np.max(x, where=mask)", ValueError), ("np.cross(m, m)", ValueError),
    ("np.insert(x, 9, 1.0)", IndexError), ("np.sin(x, 3, 4, 5)", TypeError),
    ("np.add(x, 'text')", TypeError), ("np.multiply(x, np.array(['text'] * 4))", TypeError),
    ("np.average(x, weights=np.zeros(4))", ZeroDivisionError)])
def test_wrong_calls_fail_as_numpys_do(line: str, error: type[Exception]) -> None:
    x, m = leaves(["x", "m"])
    for data in ({"x": x, "m": m}, DATA):
        with pytest.raises(error):
            eval(line, {**CONSTANTS, **data})


# ---------------------------------------------------------------- dtypes


@pytest.mark.parametrize("line", ["np.add(t, a)", "a * t", "t - a", "np.where(t > 0, t, a)",
                                  "np.concatenate([t, a])", "np.dot(a, t)", "np.hypot(t, a)",
                                  "t * a[0]", "np.multiply(a[0], t)", "np.arctan2(a, t)",
                                  "np.stack([t, a])", "np.maximum(t, 0)", "np.power(t, 2)"])
@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
@pytest.mark.parametrize("other", ["float32", "float64", "int32", "int64", "bool", "complex64"])
def test_dtypes_are_those_numpy_gives(line: str, kind: str, other: str) -> None:
    if other == "complex64" and ("arctan2" in line or "hypot" in line or line == "t * a[0]"):
        return
    if other == "bool" and "-" in line:
        return
    t, a = np.array([1, 2, 3], kind), np.array([1, 0, 1], other)
    tensor = torch.tensor(t, requires_grad=True)
    wanted = eval(line, {"np": np, "t": t, "a": a})
    found = eval(line, {"np": np, "t": tensor, "a": a})
    if line == "t * a[0]":  # a number of NumPy's beside an operator is a number, as in PyTorch
        wanted = wanted.astype(t.dtype)
    assert as_numpy(found).dtype == wanted.dtype
    assert found.requires_grad
    (found.real if found.dtype.is_complex else found).sum().backward()
    assert tensor.grad.dtype == tensor.dtype


def lower(value: np.ndarray) -> np.ndarray:
    return value.astype("float32" if value.dtype.kind == "f" else "complex64")


@pytest.mark.parametrize("constants", [CONSTANTS, CONSTANTS | {
    name: lower(CONSTANTS[name]) for name in ("a", "b")}], ids=["float64", "float32"])
def test_every_function_gives_numpys_dtype_for_float32(constants: dict[str, Any]) -> None:
    for line in RECORDED:
        if re.search(r"np\.(float64|int64)\(", line):  # which are numbers here
            continue
        data = {name: lower(DATA[name]) for name in names_in(line)}
        theirs = parts(eval(line, {**constants, **data}))
        ours = parts(eval(line, {**constants, **{
            name: torch.tensor(value, requires_grad=True) for name, value in data.items()}}))
        assert [as_numpy(part).dtype for part in ours] == [
            np.asarray(part).dtype for part in theirs], line


def test_bfloat16_is_recorded_too() -> None:
    t = torch.tensor([1.0, 2.0], dtype=torch.bfloat16, requires_grad=True)
    found = np.sum(np.exp(t) * t)
    assert found.dtype == torch.bfloat16
    found.backward()
    assert t.grad.dtype == torch.bfloat16


# ---------------------------------------------------------------- arrays that are written to


def test_an_array_may_change_after_it_was_used() -> None:
    x, a = leaves(["x"])[0], np.ones(4)
    y = np.sum(a * x * x)
    a[:] = 100.0
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * DATA["x"])


def test_a_large_array_is_held_once_and_copied_when_it_changed() -> None:
    from retrograd.numpy_code.operands import _kept

    before = len(_kept)
    x, data = torch.ones(1000, dtype=torch.float64, requires_grad=True), np.arange(1000.0)
    total = sum(np.sum(data * x * x) + np.sum(np.hypot(data, x)) for _ in range(5))
    assert len(_kept) == before + 1
    data += 1.0
    total = total + np.sum(data * x * x)
    (slope,) = torch.autograd.grad(total, x)
    old, new = np.arange(1000.0), np.arange(1000.0) + 1
    np.testing.assert_allclose(slope.numpy(), 10 * old + 2 * new + 5 / np.hypot(old, 1.0))
    del total
    assert len(_kept) == before


def test_a_tangent_is_not_lost_in_silence_either(fresh_warnings: None) -> None:
    def stores(x: Any) -> Any:
        out = np.zeros(2)
        out[0] = x[0]
        return torch.tensor(out) * x.sum()

    x = torch.ones(2)
    with pytest.warns(UserWarning, match=re.escape("out[0] = x[0]")):
        torch.func.jvp(stores, (x,), (x,))
    with pytest.raises(RuntimeError, match=r"np\.stack and np\.concatenate"):
        torch.func.jvp(lambda x: torch.tensor(np.array(x)), (x,), (x,))


@pytest.fixture
def fresh_warnings() -> Iterator[None]:
    """Warnings that are given once are given again."""
    given = set(warning._given)
    warning._given.clear()
    yield
    warning._given |= given


def test_a_store_into_an_array_warns_once_for_each_line(fresh_warnings: None) -> None:
    type("Watching", (torch.Tensor,), {})  # from then on methods look out for subclasses
    x = leaves(["x"])[0]
    out = np.zeros(4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for place in range(4):
            out[place] = x[place]
        out[:2] = x[:2]
        out[2:] += x[2:]
        row = out[:2]
        row *= x[:2]
    assert [warned.lineno for warned in caught] == sorted({warned.lineno for warned in caught})
    assert len(caught) == 4 and {warned.filename for warned in caught} == {__file__}
    assert "out[place] = x[place]" in str(caught[0].message)
    assert "np.zeros_like(tensor)" in str(caught[0].message)
    np.testing.assert_allclose(out, np.concatenate([DATA["x"][:2] ** 2, 2 * DATA["x"][2:]]))


def test_a_store_without_grad_is_silent(fresh_warnings: None) -> None:
    x, out = leaves(["x"])[0], np.zeros(4)
    out[0] = x.detach()[0]
    with torch.no_grad():
        out[:] = x
    np.testing.assert_array_equal(out, DATA["x"])


def test_float_still_warns_as_pytorch_does(fresh_warnings: None) -> None:
    with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar"):
        float(leaves(["x"])[0][0])


def test_adding_to_an_array_makes_its_name_a_tensor() -> None:
    x = leaves(["x"])[0]
    total = start = np.ones(4)
    for factor in (2.0, 3.0):
        total += factor * x
    np.testing.assert_allclose(start, 1 + 5 * DATA["x"])  # which sees the values
    assert isinstance(total, torch.Tensor)
    np.testing.assert_allclose(torch.autograd.grad(total.sum(), x)[0].numpy(), 5.0)
    counts = np.zeros(4, int)
    with pytest.raises(TypeError, match="Cannot cast ufunc 'add' output"):
        counts += x
    assert not counts.any()


def test_arrays_are_stored_into_tensors() -> None:
    x = leaves(["x"])[0]
    out = np.zeros_like(x)
    out[0] = x[0] ** 2
    out[1:3] = np.array([5.0, 6.0])
    out[3] = np.int64(7)
    out.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [2 * DATA["x"][0], 0, 0, 0])
    np.testing.assert_allclose(as_numpy(out)[1:], [5, 6, 7])


def test_a_tensor_is_not_written_to_backwards() -> None:
    x = torch.arange(4.0)
    with pytest.raises(ValueError, match="step must be greater than zero"):
        x[::-1] = 1.0
    assert x.tolist() == [0, 1, 2, 3]
    y = x[::-1]
    y[0] = 9
    assert x.tolist() == [0, 1, 2, 3]  # a copy


# ---------------------------------------------------------------- without grad, and in transforms


def test_without_grad_an_operator_of_an_array_gives_a_tensor() -> None:
    t, a = torch.tensor([1.0, 2.0]), np.array([3.0, 4.0])
    for op in (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow):
        found = {operator.add: a + t, operator.sub: a - t, operator.mul: a * t,
                 operator.truediv: a / t, operator.pow: a ** t}[op]
        assert type(found) is torch.Tensor
        np.testing.assert_allclose(found.numpy(), op(a, t.numpy()))
    mask = np.array([True, False]) & (t > 0)
    assert mask.dtype == bool and mask.tolist() == [True, False]


def program(x: Any) -> Any:
    y = np.sort(np.sin(x) * CONSTANTS["a"])
    return np.sum(np.where(y > 0, y, np.exp(y)) @ np.outer(y, CONSTANTS["a"])) + np.std(x[::-1])


def test_a_program_runs_in_every_mode() -> None:
    x = torch.tensor(DATA["x"])
    wanted = program(DATA["x"])
    with torch.no_grad():
        assert float(program(x.clone().requires_grad_())) == pytest.approx(wanted)
    with torch.inference_mode():
        assert float(program(x)) == pytest.approx(wanted)
    gradient, value = torch.func.grad_and_value(program)(x)
    assert float(value) == pytest.approx(wanted)
    value, tangent = torch.func.jvp(program, (x,), (torch.ones_like(x),))
    assert float(tangent) == pytest.approx(float(gradient.sum()))
    rows = torch.stack([x, x + 1])
    alike = torch.stack([torch.func.grad(program)(row) for row in rows])
    assert torch.allclose(torch.vmap(torch.func.grad(lambda v: np.sum(np.tanh(v * 2) ** 2)))(rows),
                          torch.stack([torch.func.grad(lambda v: (v * 2).tanh().square().sum())(row)
                                       for row in rows]))
    assert alike.shape == rows.shape
    hessian = torch.func.hessian(lambda v: np.sum(np.exp(v) * np.cumsum(v)))(x)
    assert torch.allclose(hessian, hessian.T)
    from retrograd.utils.checkpoint import checkpoint

    leaf = x.clone().requires_grad_()
    checkpoint(program, leaf, use_reentrant=False).backward()
    assert torch.allclose(leaf.grad, gradient)


def test_floating_point_state_and_warnings_of_the_program_stay_out_of_it() -> None:
    x = torch.tensor([0.0, 1.0], dtype=torch.float64, requires_grad=True)
    with np.errstate(all="raise"):
        np.sum(np.log(x) * np.array([0.0, 1.0]))
        np.sum(np.array([1.0, 1.0]) / x)


def test_other_libraries_keep_their_say() -> None:
    class Mine:
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
            return "mine"

        def __array_function__(self, *call: Any) -> Any:
            return "mine"

    x = leaves(["x"])[0]
    assert np.add(x, Mine()) == np.add(Mine(), x) == "mine"
    assert np.concatenate([x, Mine()]) == "mine"


def test_parameters_and_subclasses_are_recorded() -> None:
    class Named(torch.Tensor):
        pass

    weight = torch.nn.Parameter(torch.ones(4))
    (np.sin(weight) * CONSTANTS["a"]).sum().backward()
    assert weight.grad is not None
    named = torch.ones(4, requires_grad=True).as_subclass(Named)
    assert np.sum(named * CONSTANTS["a"]).requires_grad


def test_special_functions_of_scipy_are_recorded() -> None:
    from scipy import special

    x, p = leaves(["u", "p"])
    for name in ("erf", "erfc", "expit", "ndtr", "log_ndtr", "i0", "i1"):
        function = getattr(special, name)
        assert_same(function(x), function(DATA["u"]))
        assert torch.autograd.gradcheck(function, (x,))
    for name in ("gammaln", "psi", "logit", "entr"):
        function = getattr(special, name)
        assert_same(function(p / 3), function(DATA["p"] / 3))
        assert torch.autograd.gradcheck(lambda v, f=function: f(v / 3), (p,))
    assert torch.autograd.gradcheck(special.xlogy, (x, p))
    with pytest.raises(RuntimeError, match="no op computes 'jv'"):
        special.jv(x, p)
    with pytest.raises(RuntimeError, match="its op has no derivative"):
        special.j0(x)


def test_like_asks_for_a_tensor() -> None:
    x = leaves(["x"])[0]
    made = np.array([x[0], 1.0, x[1] * 2], like=x)
    made.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [1, 2, 0, 0])
    assert type(np.zeros((2, 3), like=x)) is torch.Tensor
    assert np.ones(2, like=x).tolist() == [1, 1]
    assert np.array([1.0, 2.0], ndmin=2, like=x).shape == (1, 2)


def test_tensors_know_numpys_copies_and_casts() -> None:
    x = leaves(["x"])[0]
    assert x.copy() is not x and x.copy().requires_grad
    for kind in (np.float32, "float32", np.dtype("float32"), torch.float32):
        assert x.astype(kind).dtype == torch.float32
    assert x.astype(int).dtype == torch.int64 and not x.astype(int).requires_grad
    assert x.astype(float, copy=False) is x and x.astype(float) is not x
    with pytest.raises(TypeError):
        x.astype("text")


def test_it_is_loaded_when_first_needed() -> None:
    source = str(Path(torch.__file__).parent.parent)
    program = """
import sys, threading, numpy as np, retrograd as torch
assert "retrograd.numpy_code" not in sys.modules
x = torch.ones(3, requires_grad=True)
threads = [threading.Thread(target=lambda: found.append(np.sin(x) * np.ones(3))) for _ in range(8)]
found = []
[t.start() for t in threads]; [t.join() for t in threads]
assert len(found) == 8 and all(y.requires_grad for y in found)
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], text=True,
                          capture_output=True, env={"PYTHONPATH": source}, check=False)
    assert done.returncode == 0, done.stderr
