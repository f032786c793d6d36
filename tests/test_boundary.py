"""The boundary to array libraries: an interface that is named, and nothing beside it."""

from __future__ import annotations

import ast
import copy
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrograd as rg
from retrograd.backend import interface, strict, xp
from retrograd.core.tensor import wrap

SOURCE = Path(__file__).parent.parent / "src" / "retrograd"
ABOVE = [path for path in sorted(SOURCE.rglob("*.py"))
         if path.relative_to(SOURCE).parts[0] != "backend"]
PLAIN = sorted((SOURCE / "backend" / "plain").glob("[a-z]*.py"))

OWN_ATTRIBUTES = {
    "flags": {"batch", "self", "sys"},  # which arguments of a call are batched; Python's own
    "strides": {"self", "where"},  # of a geometry, in elements
    "base": {"view", "_view", "known", "parent", "v", "self"},  # the tensor that a view looks at
    "accumulate": {"itertools", "self"},  # whether a backward pass adds to .grad
    # The place in a journal; the level of an error; an option of a command.
    "at": {"journal", "error", "options", None},
    "reduce": {"functools"}, "reduceat": set(), "__array_interface__": set(), "owndata": set(),
    "ctypes": set(), "tobytes": set(),
}
"""What arrays of NumPy alone have, with the names of whatever else has an attribute called so."""


def attributes(path: Path) -> Iterator[tuple[ast.Attribute, str | None]]:
    """The attributes that a file reads, each with the last name of what it is read from."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute):
            owner = node.value
            yield node, (owner.id if isinstance(owner, ast.Name) else
                         owner.attr if isinstance(owner, ast.Attribute) else None)


@pytest.mark.parametrize("path", ABOVE, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_above_the_boundary_relies_on_what_only_numpy_arrays_have(path: Path) -> None:
    for node, owner in attributes(path):
        allowed = OWN_ATTRIBUTES.get(node.attr)
        assert allowed is None or owner in allowed, f"{path}:{node.lineno}: {ast.unparse(node)}"
        assert node.attr not in ("type", "kind") or owner != "dtype", \
            f"{path}:{node.lineno}: {ast.unparse(node)}"
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            assert node.func.attr != "item" or not node.args, f"{path}:{node.lineno}: item(i)"


@pytest.mark.parametrize("path", ABOVE + PLAIN, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_library_is_asked_for_what_the_interface_names(path: Path) -> None:
    for node, owner in attributes(path):
        if owner in ("xp", "library"):
            known = interface.NAMES | {"__name__"}
            assert node.attr in known, f"{path}:{node.lineno}: {ast.unparse(node)}"
        elif ast.unparse(node.value) == "xp.linalg":
            assert node.attr in interface.LINALG, f"{path}:{node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize("library", [xp, strict.xp], ids=["numpy", "strict"])
def test_a_library_offers_exactly_what_the_interface_names(library: Any) -> None:
    assert {name for name in vars(library) if not name.startswith("__")} == interface.NAMES
    linalg = {name for name in vars(library.linalg) if not name.startswith("__")}
    assert linalg == interface.LINALG.keys()


def test_the_interface_names_nothing_that_nobody_asks_for() -> None:
    asked = set()
    for path in SOURCE.rglob("*.py"):
        for node, owner in attributes(path):
            if owner in ("xp", "library") or "library_of(" in ast.unparse(node.value):
                asked.add(node.attr)
    assert not interface.NAMES - asked


# ---------------------------------------------------------------- the library for the tests


def foreign(*values: Any, grad: bool = False) -> Any:
    return wrap(strict.xp.asarray(np.array(values))).requires_grad_(grad)


def values(tensor: Any) -> Any:
    assert isinstance(tensor._data, strict.Array)
    return tensor.tolist()


@pytest.mark.parametrize("attempt", [
    lambda a: np.sin(a), lambda a: np.asarray(a), lambda a: np.concatenate([a, a]),
    lambda a: a + np.float64(1), lambda a: np.float64(1) * a, lambda a: a * np.ones(2),
    lambda a: strict.xp.exp(a, out=a), lambda a: strict.xp.sum(a, initial=0),
    lambda a: strict.xp.sum(np.ones(2)), lambda a: a.strides, lambda a: a.flags, lambda a: a.base,
    lambda a: a.__array_interface__, lambda a: a.item(0), lambda a: hash(a)])
def test_strict_refuses_what_is_not_promised(attempt: Any) -> None:
    with pytest.raises((TypeError, AttributeError)):
        attempt(strict.xp.asarray([1.0, 2.0]))


def test_strict_has_no_scalars() -> None:
    array = strict.xp.asarray([1.0, 2.0])
    for found in (array.sum(), array[0], strict.xp.max(array), array[0] * 2):
        assert isinstance(found, strict.Array) and found.shape == ()


def test_a_tensor_is_computed_in_the_library_of_its_array() -> None:
    x = foreign(1.0, 2.0, grad=True)
    assert isinstance(x, rg.Tensor) and type(x).__name__ == "Tensor"
    y = (2 * x.exp() + x).sum()
    y.backward()
    y = (2 * x.exp() + x).sum()
    y.backward()  # adds to what is there
    assert values(x.grad) == pytest.approx([4 * np.e + 2, 4 * np.e**2 + 2])
    assert repr(x.detach()) == repr(rg.tensor([1.0, 2.0], dtype=rg.float64))


def test_tensors_of_two_libraries_do_not_meet_unasked() -> None:
    with pytest.raises(RuntimeError, match="same device"):
        foreign(1.0, 2.0) + rg.ones(2, dtype=rg.float64)
    for parts in ([foreign(1.0), rg.ones(1)], [rg.ones(1), foreign(1.0)]):
        with pytest.raises(RuntimeError, match="same device"):
            rg.cat(parts)
    assert values(foreign(1.0, 2.0) + rg.tensor(2.0, dtype=rg.float64)) == [3.0, 4.0]
    assert values(foreign(1.0, 2.0)[[1, 0]]) == [2.0, 1.0]


def test_what_is_made_after_the_model_of_a_tensor_stays_in_its_library() -> None:
    x = foreign(1.0, 2.0)
    for made in (x.new_zeros(2), x.new_full((2,), 3.0), x.new_tensor([1.0]), rg.zeros_like(x),
                 rg.full_like(x, 2.0), rg.rand_like(x), x.clone(), x.float(), rg.empty_like(x)):
        assert isinstance(made._data, strict.Array)
    assert not isinstance(rg.zeros(2)._data, strict.Array)


def test_writes_and_views_in_another_library() -> None:
    x = foreign(1.0, 2.0, 3.0, grad=True)
    y = x * 1
    y[1:].mul_(x[1:])
    y[0] = 5.0
    y.sum().backward()
    assert values(y) == [5.0, 4.0, 9.0] and values(x.grad) == [0.0, 4.0, 6.0]
    z = foreign(1.0, 2.0, 3.0)
    z[foreign(0, 2)] = 7.0
    z[z > 6] = 1.0
    assert values(z) == [1.0, 2.0, 1.0]
    assert (z[1:].storage_offset(), z[1:].stride(), z.untyped_storage().nbytes()) == (1, (1,), 24)
    with pytest.raises(RuntimeError, match="single memory location"):
        foreign(1.0).expand(2).add_(1)


def test_transforms_in_another_library() -> None:
    def cube(x: Any) -> Any:
        return (x**3).sum()

    x, one = foreign(1.0, 2.0), foreign(1.0, 1.0)
    assert values(rg.func.grad(cube)(x)) == [3.0, 12.0]
    assert values(rg.func.hessian(cube)(x)) == [[6.0, 0.0], [0.0, 12.0]]
    assert [values(t) for t in rg.func.jvp(cube, (x,), (one,))] == [9.0, 15.0]
    assert values(rg.func.vmap(cube)(rg.stack([x, one]))) == [9.0, 2.0]
    assert rg.autograd.gradcheck(cube, (foreign(1.0, 2.0, grad=True),))
    assert rg.autograd.gradgradcheck(cube, (foreign(1.0, 2.0, grad=True),))


@pytest.mark.parametrize("dtype", [rg.bfloat16, rg.float16, rg.float32, rg.complex128])
def test_other_dtypes_in_another_library(dtype: Any) -> None:
    def gradient(x: Any) -> Any:
        x = x.to(dtype).requires_grad_()
        (x * x.conj() + x.exp() / 3).abs().sum().backward()
        return x.grad

    found, wanted = gradient(foreign(0.5, 2.0)), gradient(rg.tensor([0.5, 2.0]).double())
    assert values(found) == wanted.tolist() and found.dtype is dtype


def test_copies_in_another_library() -> None:
    x = foreign(1.0, 2.0, grad=True)
    for twin in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert values(twin) == [1.0, 2.0] and twin.requires_grad
    assert isinstance(x.detach().numpy(), np.ndarray)


@pytest.mark.parametrize("make", [
    lambda params: rg.optim.SGD(params, lr=0.1, momentum=0.9),
    lambda params: rg.optim.Adam(params, lr=0.1)])
def test_optimizers_in_another_library(make: Any) -> None:
    def trained(w: Any) -> Any:
        optimizer = make([w])
        for _ in range(3):
            optimizer.zero_grad()
            (w * w).sum().backward()
            optimizer.step()
        return w

    found = trained(foreign(1.0, 2.0, grad=True))
    wanted = trained(rg.tensor([1.0, 2.0], dtype=rg.float64, requires_grad=True))
    assert values(found) == pytest.approx(wanted.tolist(), rel=1e-12)
