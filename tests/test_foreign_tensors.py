"""Tensors of PyTorch, and other arrays with ``__torch_function__``: refused in words that help."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch


def again(cls: type, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """Run the function as it stands, as PyTorch's tensors do."""
    return func(*args, **(kwargs or {}))


def refuse(cls: type, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    return NotImplemented


def stand_in(name: str, module: str, hook: Any) -> Any:
    """An array of another library, with two elements."""
    members = {"__module__": module, "__torch_function__": classmethod(hook), "shape": (2,),
               "ndim": 1, "__array__": lambda self, dtype=None, copy=None: np.ones(2, "float32")}
    base = type(f"{name}Base", (), {"__module__": f"{module}._C"})
    return type(name, (base,), members)()


PYTORCH_S = stand_in("Tensor", "torch", again)
CALLS: list[Callable[[Any], Any]] = [
    lambda t: torch.ones(2) + t,
    lambda t: t + torch.ones(2),
    lambda t: torch.ones(2) @ t,
    lambda t: t @ torch.ones(2),
    lambda t: torch.ones(2) ** t,
    lambda t: t - torch.ones(2),
    lambda t: t / torch.ones(2),
    lambda t: torch.ones(2).add_(t),
    lambda t: operator.imul(torch.ones(2), t),
    lambda t: torch.ones(2).sub(t),
    lambda t: torch.add(torch.ones(2), t),
    lambda t: torch.add(torch.ones(2), other=t),
    lambda t: torch.sin(t),
    lambda t: torch.sum(t),
    lambda t: torch.max(t),
    lambda t: torch.matmul(t, torch.ones(2)),
    lambda t: torch.cat([torch.ones(2), t]),
    lambda t: torch.stack([t, t]),
    lambda t: torch.softmax(t, 0),
    lambda t: torch.zeros_like(t),
    lambda t: torch.einsum("i,i", torch.ones(2), t),
    lambda t: torch.nn.functional.relu(t),
    lambda t: torch.nn.functional.mse_loss(t, torch.ones(2)),
    lambda t: torch.nn.Linear(2, 2)(t),
    lambda t: torch.ones(2).copy_(t),
    lambda t: torch.ones(2).__setitem__(slice(None), t),
]


@pytest.mark.parametrize("call", CALLS)
def test_a_tensor_of_pytorch_is_named_with_what_to_do(call: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"PyTorch's Tensor \(retrograd\.from_numpy\(t\.detach\(\)"):
        call(PYTORCH_S)


@pytest.mark.parametrize("call", [
    lambda t: torch.ones(2)[t],
    lambda t: torch.ones(2).__setitem__(t, 1.0),
    lambda t: torch.nn.Parameter(t),
    lambda t: torch.ones(2) == t,
    lambda t: setattr(torch.ones(2), "grad", t),
    lambda t: setattr(torch.ones(2), "data", t),
])
def test_so_it_is_elsewhere(call: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match="PyTorch's Tensor"):
        call(PYTORCH_S)


@pytest.mark.parametrize("make", [torch.tensor, torch.as_tensor, torch.asarray])
def test_a_tensor_is_made_of_its_values(make: Callable[[Any], torch.Tensor]) -> None:
    assert make(PYTORCH_S).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("call", [c for c in CALLS if CALLS.index(c) not in (24, 25)])
@pytest.mark.parametrize("hook", [again, refuse])
def test_an_array_that_hands_the_call_back_is_a_type_error(call: Callable[[Any], Any],
                                                           hook: Any) -> None:
    with pytest.raises(TypeError):
        call(stand_in("Strange", "strange", hook))


def test_a_class_may_call_the_function_again_with_other_arguments() -> None:
    class Wrapper:
        def __init__(self, value: Any) -> None:
            self.value = value

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
                               ) -> Any:
            if len(args) > 1 and args[1] == 0:
                return func(args[0])
            return func(*[a.value if isinstance(a, cls) else a for a in args], **(kwargs or {}))

    assert torch.sum(Wrapper(Wrapper(torch.ones(3))), 0).item() == 3.0
