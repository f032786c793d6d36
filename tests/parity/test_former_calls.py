"""Calls with the numbers in front, as PyTorch's first versions took them and it still does."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import pytest
import torch

import retrograd as rg
from parity.harness import essential, oracle, subject

_PRODUCTS = ("addmm", "addmv", "addr", "addbmm", "baddbmm")
CALLS = [
    *(f"torch.{n}(x, 2, y)" for n in ("add", "sub")), "torch.add(x, 2, y, out=x.clone())",
    "torch.add(x, 2, 3)", "torch.add(k, 2, x)", "torch.add(x.double(), 2.5, y)",
    *(f"x.{n}(-0.5, y)" for n in ("add", "add_", "sub", "sub_")),
    *(f"torch.{n}(x, 2, y, z)" for n in ("addcmul", "addcdiv")),
    *(f"x.{n}(-2, y, z)" for n in ("addcmul", "addcmul_", "addcdiv", "addcdiv_")),
    *(f"torch.{n}(2, {n}[0], 3, *{n}[1:])" for n in _PRODUCTS),
    *(f"torch.{n}(2, *{n})" for n in _PRODUCTS),
    *(f"{n}[0].{n}{end}(2, 3, *{n}[1:])" for n in _PRODUCTS for end in ("", "_")),
    *(f"{n}[0].{n}{end}(2, *{n}[1:])" for n in _PRODUCTS for end in ("", "_"))]


def operands(lib: Any, grad: bool) -> dict[str, Any]:
    def made(*size: int) -> Any:
        count = 1
        for n in size:
            count *= n
        tensor = (lib.arange(float(count)) + 1).reshape(size) / 3
        return tensor.requires_grad_().clone() if grad else tensor

    return {"torch": lib, "x": made(3), "y": made(3) + 1, "z": made(3) + 2,
            "k": lib.tensor([1, 2, 3]), "addmm": (made(2, 2), made(2, 3), made(3, 2)),
            "addmv": (made(2), made(2, 3), made(3)), "addr": (made(2, 3), made(2), made(3)),
            "addbmm": (made(2, 2), made(1, 2, 3), made(1, 3, 2)),
            "baddbmm": (made(1, 2, 2), made(1, 2, 3), made(1, 3, 2))}


@pytest.mark.filterwarnings("ignore:This overload of")
@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("call", CALLS)
def test_the_numbers_may_come_first(call: str, grad: bool) -> None:
    if grad and "out=" in call:
        pytest.skip("out= is not for tensors with a history")
    ours, theirs = (eval(call, operands(lib, grad)) for lib in (rg, torch))
    assert str(ours.dtype) == str(theirs.dtype)
    torch.testing.assert_close(torch.tensor(ours.tolist()), torch.tensor(theirs.tolist()))
    assert (ours.grad_fn is None) == (theirs.grad_fn is None)
    if grad:
        assert ours.grad_fn.name() == theirs.grad_fn.name()


@pytest.mark.parametrize("call", [call for call in CALLS if call != "torch.add(x, 2, 3)"
                                  and (not call.startswith("x.") or "_(" in call)])
def test_what_is_said_of_the_former_order(call: str) -> None:
    """Of functions and of methods that are no functions too."""
    heard = []
    for lib in (oracle(), subject()):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            eval(call, operands(lib, False))
        heard.append([essential(str(warning.message)) for warning in caught])
    assert len(heard[0]) == len(heard[1]) == 1
    assert heard[0][0].startswith(heard[1][0])  # PyTorch may know yet another way


@pytest.mark.parametrize("call", ["torch.add(1, x, y)", "torch.addcmul(2, x, y, z)",
                                  "torch.add(x, y, z)", "x.add_(y, z)", "torch.add(x, 'a', y)",
                                  "x.addmm(2, 3, 4, x)", "torch.addmm(2, x, 3, y, z, 4)"])
def test_other_orders_are_refused(call: str) -> None:
    for lib in (rg, torch):
        names = operands(lib, False)
        before = names["x"].tolist()
        with pytest.raises(TypeError):
            eval(call, names)
        assert names["x"].tolist() == before


@pytest.mark.parametrize("call", ["torch.add(x, 2, x)", "x.addcdiv_(2, x, x)",
                                  "x.addmv(2, 3, m, x)", "torch.addr(2, m, x, x)"])
def test_the_warning_is_the_same_and_given_once(call: str) -> None:
    words = []
    for lib in ("retrograd", "torch"):
        program = (f"import warnings, {lib} as torch\nwarnings.simplefilter('always')\n"
                   f"x = torch.ones(2); m = torch.ones(2, 2)\n"
                   f"for _ in range(2): {call}\n")
        text = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                              check=True).stderr
        words.append(text.partition("UserWarning: ")[2].partition(" (Triggered")[0].strip())
        assert text.count("UserWarning") == 1
    assert words[0] == words[1]
