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


ARGUED = [
    "torch.add(x, x)", "x + x", "2 * x", "x.sum()", "x.sum(0)", "x.add_(1)", "x.max()",
    "x.argmax(0)", "x[0]", "torch.cat([x, x])", "torch.stack([x])", "torch.zeros(2)",
    "torch.zeros_like(x)", "torch.nn.functional.linear(x, x)", "x.softmax(0)",
    "torch.linalg.norm(x)", "x.tolist()", "torch.add(x, x, out=torch.empty(2, 2))",
    "torch.add(x, x, alpha=2)", "torch.argmax(x)", "torch.argmax(x, 1)", "torch.argmax(x, 1, True)",
    "torch.argmax(x, keepdim=True)", "x.std()", "x.std(0)", "torch.std(x, 0)",
    "torch.var(x, 0, keepdim=True)", "torch.clamp(x, 0)", "torch.clamp(x, max=1)", "x.clamp(0, 1)",
    "torch.cumsum(x, 0)", "torch.roll(x, 1)", "torch.roll(x, 1, 0)", "torch.flatten(x)",
    "torch.flatten(x, 0, 1)", "torch.diagonal(x)", "torch.diagonal(x, 1)",
    "torch.nn.functional.softplus(x)", "torch.softmax(x, 0)", "torch.sort(x)", "torch.sort(x, 0)",
    "torch.topk(x, 1)", "torch.addmm(x, x, x)", "torch.addmm(x, x, x, beta=2)",
    "torch.lerp(x, x, 0.5)", "torch.mean(x, 0)", "torch.mean(x)", "torch.tril(x)",
    "torch.tril(x, 1)", "torch.where(x > 0, x, x)", "torch.gather(x, 0, k[None])",
    "torch.squeeze(x)",
    "torch.squeeze(x, 0)", "x.transpose(0, 1)", "x.view(-1)", "x.reshape(4)", "x.reshape(2, 2)",
    "x.permute(1, 0)", "x.expand(3, 2, 2)", "x.repeat(2, 1)", "torch.logsumexp(x, 0)",
    "torch.nan_to_num(x)", "torch.nan_to_num(x, 1.0)", "torch.round(x)",
    "torch.round(x, decimals=1)", "torch.quantile(x, 0.5)", "torch.nn.functional.avg_pool1d(x, 2)",
    "torch.kthvalue(x, 1)", "torch.index_select(x, 0, k)", "x.index_add(0, k, x)",
    "x.index_add(0, k, x, alpha=2)", "torch.nn.functional.one_hot(k)", "torch.einsum('ij->i', x)",
    "torch.meshgrid(k, k, indexing='ij')", "torch.repeat_interleave(x, 2)", "torch.unbind(x)",
    "torch.chunk(x, 2)", "torch.flip(x, (0,))", "torch.prod(x)", "torch.prod(x, 0)",
    "torch.all(x > 0)", "torch.amax(x)", "torch.amax(x, 0)", "torch.allclose(x, x)",
    "torch.isclose(x, x)", "torch.logit(x, 0.1)", "torch.polygamma(1, x)",
    "torch.cross(x[:, [0, 1, 1]], x[:, [0, 1, 1]], dim=1)",
    "torch.bincount(k)", "torch.searchsorted(x[0], x[0])", "torch.diff(x)",
    "torch.nn.functional.interpolate(x[None], scale_factor=2)", "x.to(torch.float64)",
    "x.type(torch.float64)", "x.float()", "x.masked_fill(x > 0, 1)", "x.index_fill(0, k, 1)",
    "x.fill_(1)", "x.zero_()", "x.uniform_()", "x.normal_(0, 1)", "x.copy_(x)", "x.detach()",
    "x.clone()", "x.contiguous()"]


def shown(value: Any, tensor: type) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [shown(item, tensor) for item in value]
    return "tensor" if isinstance(value, tensor) else repr(value).replace("retrograd", "torch")


@pytest.mark.parametrize("call", ARGUED)
def test_a_class_is_given_the_arguments_of_a_call(call: str) -> None:
    seen = []
    for name in LIBRARIES:
        torch: Any = importlib.import_module(name)
        log: list[Any] = []

        class Noted(torch.Tensor):  # type: ignore[name-defined, misc]
            @classmethod
            def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None,
                                   log: Any = log, torch: Any = torch) -> Any:
                log.append((func.__name__, shown(args, torch.Tensor),
                            {key: shown(value, torch.Tensor)
                             for key, value in (kwargs or {}).items()}))
                return super().__torch_function__(func, types, args, kwargs or {})

        names = {"torch": torch, "x": torch.ones(2, 2).as_subclass(Noted),
                 "k": torch.tensor([0, 1])}
        log.clear()
        eval(call, names)
        seen.append(log[:1])
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
