"""TorchFunctionMode: an object that sees every public function inside a block."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from retrograd.base.modes import GRAD, MODE
from shared import in_thread

LIBRARIES = ["retrograd", "torch"]


@pytest.fixture(params=LIBRARIES)
def lib(request: pytest.FixtureRequest) -> Any:
    return importlib.import_module(request.param)


def noting(lib: Any, log: list[Any], label: str = "", answer: Any = None) -> Any:
    """A mode that notes the names of the functions it sees."""
    overrides = importlib.import_module(f"{lib.__name__}.overrides")

    class Noting(overrides.TorchFunctionMode):  # type: ignore[name-defined, misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (),
                               kwargs: Any = None) -> Any:
            log.append(label + func.__name__)
            return func(*args, **(kwargs or {})) if answer is None else answer

    return Noting()


CALLS = ["torch.add(x, x)", "x + x", "2 * x", "x.sum()", "x.sum(0)", "x.add_(1)", "x.max()",
         "x.argmax(0)", "x[0]", "torch.cat([x, x])", "torch.stack([x])", "torch.zeros(2)",
         "torch.rand(2)", "torch.tensor([1.])", "torch.arange(3)", "torch.zeros_like(x)",
         "torch.nn.functional.linear(x, x)", "torch.nn.functional.relu(x)", "x.softmax(0)",
         "torch.nn.functional.cross_entropy(x, k)", "torch.linalg.norm(x)", "x.tolist()", "len(x)",
         "x.numpy()", "x.requires_grad_()", "torch.add(x, x, out=torch.empty(2, 2))",
         "torch.is_tensor(x)", "torch.is_grad_enabled()"]


@pytest.mark.parametrize("call", CALLS)
def test_every_public_function_is_seen_once(call: str) -> None:
    seen = []
    for name in LIBRARIES:
        torch: Any = importlib.import_module(name)
        names = {"torch": torch, "x": torch.ones(2, 2), "k": torch.tensor([0, 1])}
        log: list[str] = []
        with noting(torch, log):
            eval(call, names)
        seen.append(log)
    assert seen[0] == seen[1]


def test_the_last_of_several_modes_comes_first(lib: Any) -> None:
    log: list[str] = []
    x = lib.ones(2)
    with lib.no_grad(), noting(lib, log, "outer "), noting(lib, log, "inner "):
        x.sin()
    x.cos()
    assert log == ["inner sin", "outer sin"]


def test_a_mode_may_answer_itself(lib: Any) -> None:
    x = lib.ones(2)
    with noting(lib, [], answer=5):
        assert lib.sin(x) == 5
        assert x.clone() == 5
    assert lib.sin(x).shape == (2,)
    with noting(lib, [], answer=NotImplemented), pytest.raises(TypeError, match="Multiple dis"):
        lib.sin(x)


def test_a_mode_ends_with_its_block(lib: Any) -> None:
    log: list[str] = []
    mode = noting(lib, log)
    with pytest.raises(ZeroDivisionError), mode:
        raise ZeroDivisionError
    lib.ones(2).sin()
    assert log == []
    x = lib.ones(2)
    with mode as entered, mode:  # twice: a call is seen twice
        assert entered is mode
        x.sin()
    assert log == ["sin", "sin"]
    assert MODE.get() is GRAD


def test_what_is_switched_inside_stays_switched(lib: Any) -> None:
    try:
        with noting(lib, []):
            lib.set_grad_enabled(False)
        assert not lib.is_grad_enabled()
    finally:
        lib.set_grad_enabled(True)


def test_a_mode_is_its_thread_s(lib: Any) -> None:
    log: list[str] = []
    x = lib.ones(2)
    with noting(lib, log):
        in_thread(lambda: x.sin())
    assert log == []


def test_gradients_flow_through_a_mode(lib: Any) -> None:
    log: list[str] = []
    x = lib.ones(2, requires_grad=True)
    with noting(lib, log):
        y = (x * x).sum()
        y.backward()
    assert log[-1] == "backward"
    assert x.grad.tolist() == [2, 2]


def test_without_a_meaning_a_mode_refuses(lib: Any) -> None:
    overrides = importlib.import_module(f"{lib.__name__}.overrides")
    x = lib.ones(2)
    with overrides.TorchFunctionMode(), pytest.raises(NotImplementedError):
        x.sin()
    with overrides.BaseTorchFunctionMode():
        assert x.exp().shape == (2,)
