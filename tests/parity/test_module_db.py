"""PyTorch's own catalogue of modules, built and run by both libraries.

Each is built with the same seed, which must give the same weights, state and text; it is run in
training and in evaluation, and outputs, gradients, gradients of gradients where PyTorch checks them
itself, and buffers are compared: in float64 to nine digits, in float32 by units in the last place.
"""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
import torch

import retrograd as rg
from retrograd import serialization

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_modules import DecorateInfo, module_db

torch.set_num_threads(1)  # arrays this small only wait for other threads

MISSING: set[str] = set()
"""Modules that retrograd does not have; one that it has must not stand here."""

MODULES = {info.name.split(".")[-1]: info for info in module_db
           if "quantized" not in info.name and "intrinsic" not in info.name}
TOLERANCE = {"rtol": 1e-9, "atol": 1e-9}
ULPS = 64
"""How many units in the last place a float32 result may be off: of 1, or of its largest element."""


def translated(value: Any) -> Any:
    """An argument of PyTorch's catalogue, in retrograd's terms."""
    if isinstance(value, torch.nn.Parameter):
        return rg.nn.Parameter(translated(value.data), requires_grad=value.requires_grad)
    if isinstance(value, torch.Tensor):
        made = rg.tensor(value.detach().numpy())
        return made.requires_grad_() if value.requires_grad else made
    if isinstance(value, torch.dtype):
        return getattr(rg, str(value).removeprefix("torch."))
    if isinstance(value, torch.nn.Module):
        return loaded(value)
    if isinstance(value, torch.nn.LinearCrossEntropyOptions):
        return rg.nn.LinearCrossEntropyOptions(**translated(asdict(value)))
    if isinstance(value, torch.nn.utils.rnn.PackedSequence):
        return rg.nn.utils.rnn.PackedSequence(*map(translated, value))
    if isinstance(value, (list, tuple)):
        return type(value)(map(translated, value))
    if isinstance(value, dict):
        return {key: translated(item) for key, item in value.items()}
    if value in (torch.nn.functional.relu, torch.nn.functional.gelu):
        return getattr(rg.nn.functional, value.__name__)
    return value


def loaded(module: torch.nn.Module) -> Any:
    """A module of PyTorch's by way of a file."""
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    return serialization.load(file, weights_only=False)


def tensors(value: Any) -> list[Any]:
    if isinstance(value, (torch.Tensor, rg.Tensor)):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in tensors(item)]
    if isinstance(value, dict):
        return [t for item in value.values() for t in tensors(item)]
    return []


def same(mine: Any, theirs: Any, what: str) -> None:
    found, expected = mine.detach().numpy(), theirs.detach().numpy()
    if expected.dtype == np.float32:
        size = np.abs(expected[np.isfinite(expected)]).max(initial=0)
        np.testing.assert_allclose(found, expected, err_msg=what, rtol=0,
                                   atol=ULPS * np.spacing(max(size, np.float32(1))))
    else:
        np.testing.assert_allclose(found, expected, err_msg=what, **TOLERANCE)


def calls(info: Any, training: bool, dtype: torch.dtype) -> list[Any]:
    torch.manual_seed(2)
    made = info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True,
                                   training=training)
    return [call for call in made if call.forward_input is not None and not any(
        "torch._C" in repr(type(v)) or getattr(v, "__module__", "") == "torch._C._nn"
        for v in (*call.constructor_input.args, *call.constructor_input.kwargs.values()))]


def is_checked_twice(info: Any) -> bool:
    """Whether PyTorch's own tests differentiate the module's gradients, and pass."""
    left_out = any(d.test_name == "test_gradgrad" and d.active_if is not False
                   for d in info.decorators if isinstance(d, DecorateInfo))
    return info.supports_gradgrad and not left_out


def built(info: Any, call: Any, training: bool, dtype: torch.dtype) -> tuple[Any, Any]:
    """The module in both libraries, with the same weights."""
    args, options = call.constructor_input.args, call.constructor_input.kwargs
    torch.manual_seed(0)
    rg.manual_seed(0)
    theirs = info.module_cls(*args, **options).to(dtype).train(training)
    mine = getattr(rg.nn, info.name.split(".")[-1])(*translated(args), **translated(options))
    mine = mine.to(translated(dtype)).train(training)
    assert repr(mine) == repr(theirs)
    assert list(mine.state_dict()) == list(theirs.state_dict())
    waiting = {key for key, value in theirs.state_dict().items()
               if torch.nn.parameter.is_lazy(value)}
    assert {k for k, v in mine.state_dict().items() if rg.nn.parameter.is_lazy(v)} == waiting
    if not waiting:
        for key, value in theirs.state_dict().items():
            np.testing.assert_allclose(mine.state_dict()[key].numpy(), value.numpy(), rtol=1e-6,
                                       err_msg=f"initial {key}")
        mine.load_state_dict({k: translated(v) for k, v in theirs.state_dict().items()})
    return mine, theirs


def compare(info: Any, call: Any, training: bool, dtype: torch.dtype) -> None:
    mine, theirs = built(info, call, training, dtype)
    given = (call.forward_input.args, call.forward_input.kwargs)
    own = translated(given)
    torch.manual_seed(1)
    rg.manual_seed(1)
    expected = theirs(*given[0], **given[1])
    found = mine(*own[0], **own[1])
    pairs = list(zip(tensors(found), tensors(expected), strict=True))
    for a, b in pairs:
        same(a, b, "output")
        assert a.requires_grad == b.requires_grad
    roots = [(a, b) for a, b in pairs if b.requires_grad]
    if roots:
        twice = dtype == torch.float64 and is_checked_twice(info)
        leaves = [(f"gradient of {key}", q, p) for (key, p), q in zip(
            theirs.named_parameters(), mine.parameters(), strict=True)]
        leaves += [("gradient of an input", a, b) for a, b in zip(
            tensors(own), tensors(given), strict=True) if b.is_leaf and b.requires_grad]
        total([a for a, _ in roots], dtype).backward(create_graph=twice)
        total([b for _, b in roots], dtype).backward(create_graph=twice)
        for what, a, b in leaves:
            assert (a.grad is None) == (b.grad is None), what
            if b.grad is not None:
                same(a.grad, b.grad, what)
        if twice:
            compare_second_derivatives(leaves)
    for key, value in theirs.state_dict().items():
        same(mine.state_dict()[key], value, f"{key} afterwards")


def like(y: Any, values: np.ndarray) -> Any:
    lib = torch if isinstance(y, torch.Tensor) else rg
    return lib.tensor(values, dtype=y.dtype)


def total(outputs: list[Any], dtype: torch.dtype) -> Any:
    """What is differentiated: squares, or what does not depend on digits that have cancelled."""
    if dtype == torch.float64:
        return sum((y * y).sum() for y in outputs)
    numbers = np.random.RandomState(3)
    return sum((y * like(y, numbers.rand(*y.shape) + 0.5)).sum() for y in outputs)


def compare_second_derivatives(leaves: list[tuple[str, Any, Any]]) -> None:
    """Differentiate the sum of the squares of all gradients once more."""
    slopes = [(a.grad, b.grad) for _, a, b in leaves if b.grad is not None]
    if not any(b.requires_grad for _, b in slopes):
        return
    wanted = [b for _, _, b in leaves if b.requires_grad]
    expected = torch.autograd.grad(sum((b * b).sum() for _, b in slopes), wanted,
                                   materialize_grads=True)
    found = rg.autograd.grad(sum((a * a).sum() for a, _ in slopes),
                             [a for _, a, b in leaves if b.requires_grad], materialize_grads=True)
    for (what, _, _), a, b in zip(leaves, found, expected, strict=True):
        same(a, b, f"{what}, differentiated")


@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
@pytest.mark.parametrize("name", sorted(MODULES.keys() - MISSING))
@pytest.mark.filterwarnings("ignore")
def test_a_module_is_pytorchs(name: str, training: bool) -> None:
    info = MODULES[name]
    for dtype in (torch.float64, torch.float32):
        if dtype == torch.float64 or training or info.train_and_eval_differ:
            ran = 0
            for call in calls(info, training, dtype):
                compare(info, call, training, dtype)
                ran += 1
            assert ran


def test_what_is_missing_is_listed() -> None:
    assert {name for name in MODULES if not hasattr(rg.nn, name)} == MISSING


@pytest.mark.parametrize("name", sorted(MODULES))
@pytest.mark.filterwarnings("ignore")
def test_a_module_starts_as_pytorchs_and_is_copied_whole(name: str) -> None:
    """Same seed, same bits; and what is copied, pickled or filled anew says and holds the same."""
    for call in calls(MODULES[name], training=True, dtype=torch.float64):
        args, options = call.constructor_input.args, call.constructor_input.kwargs
        torch.manual_seed(3)
        rg.manual_seed(3)
        theirs = MODULES[name].module_cls(*args, **options)
        mine = getattr(rg.nn, name)(*translated(args), **translated(options))
        waiting = any(rg.nn.parameter.is_lazy(p) for p in mine.parameters())
        state = {} if waiting else theirs.state_dict()
        for key, value in state.items():
            np.testing.assert_array_equal(mine.state_dict()[key].numpy(), value.numpy(), key)
        assert rg.rand(1).item() == torch.rand(1).item()  # as many numbers were drawn
        for other in (copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))):
            assert type(other) is type(mine)
            assert repr(other) == repr(mine)
            assert list(other.state_dict()) == list(mine.state_dict())
            for key in state:
                assert rg.equal(other.state_dict()[key], mine.state_dict()[key])
                assert other.state_dict()[key].data_ptr() != mine.state_dict()[key].data_ptr()


def plain(value: Any) -> Any:
    """An attribute as what both libraries would have: tensors and objects by their kind alone."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (torch.Tensor, rg.Tensor)):
        return "tensor", tuple(value.shape)
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [plain(item) for item in value]
    return getattr(value, "__name__", type(value).__name__)


@pytest.mark.parametrize("name", sorted(MODULES))
@pytest.mark.filterwarnings("ignore")
def test_what_a_module_knows_and_draws_anew_is_pytorchs(name: str) -> None:
    """Its attributes, those of its parts, and what ``reset_...`` makes of weights and buffers."""
    for call in calls(MODULES[name], training=True, dtype=torch.float64):
        args, options = call.constructor_input.args, call.constructor_input.kwargs
        theirs = MODULES[name].module_cls(*args, **options)
        mine = getattr(rg.nn, name)(*translated(args), **translated(options))
        found, expected = (dict(module.named_modules()) for module in (mine, theirs))
        assert list(found) == list(expected)
        for part, wanted in expected.items():
            facts = {key: plain(value) for key, value in vars(wanted).items() if key[0] != "_"}
            own = {key for key in vars(found[part]) if key[0] != "_"}
            assert {key: plain(getattr(found[part], key)) for key in {*facts, *own}} == facts, part
        resets = [key for key in dir(theirs) if key.lstrip("_").startswith("reset_")]
        assert [key for key in dir(mine) if key.lstrip("_").startswith("reset_")] == resets
        if any(rg.nn.parameter.is_lazy(p) for p in mine.parameters()):
            continue
        for reset in resets:
            for lib, module in ((torch, theirs), (rg, mine)):
                with lib.no_grad():
                    for tensor in module.state_dict().values():
                        tensor.fill_(3)
                lib.manual_seed(4)
                getattr(module, reset)()
            for key, value in theirs.state_dict().items():
                np.testing.assert_array_equal(mine.state_dict()[key].numpy(), value.numpy(), key)
