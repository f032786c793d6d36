"""The common errors name the line of the user's program that caused them, wherever it stands."""

from __future__ import annotations

import linecache
import re
from typing import Any

import pytest

import retrograd as torch

# What each program does on the line in question (with ``x``, ``w`` and ``h`` at hand), what it does
# with the outcome, and how the error begins: PyTorch's own words.
ERRORS = {
    "no graph": ("torch.tensor((x * 2).tolist()).sum()", "found.backward()",
                 "element 0 of tensors does not require grad and does not have a grad_fn"),
    "no graph, by numbers": ("torch.tensor((x * 2).sum().item())", "found.backward()",
                             "element 0 of tensors does not require grad and does not have a"),
    "backward twice": ("(h.sum().backward(), h)[1]", "found.sum().backward()",
                       "Trying to backward through the graph a second time"),
    "grad None": ("(x * w.detach()).sum()", "torch.autograd.grad(found, w)",
                  "The differentiated Tensor at index 0 appears to not have been used"),
    "grad None, by no_grad": ("x * torch.no_grad()(lambda: w * 2)()",
                              "torch.autograd.grad(found.sum(), w)",
                              "The differentiated Tensor at index 0 appears to not have been used"),
    "in-place overwrite": ("(h, h.add_(1))[0]", "found.sum().backward()",
                           "one of the variables needed for gradient computation has been modified "
                           "by an inplace operation"),
    "accidental detach": ("(x * 3).detach() * 2", "found.sum().backward()",
                          "element 0 of tensors does not require grad and does not have a grad_fn"),
    "an integer cast": ("(x * 3).long() * 2", "found.sum().backward()",
                        "element 0 of tensors does not require grad and does not have a grad_fn"),
    "non-scalar backward": ("x * 2", "found.backward()",
                            "grad can be implicitly created only for scalar outputs"),
    "numpy": ("x * 2", "found.numpy()", "Can't call numpy() on Tensor that requires grad. Use "
              "tensor.detach().numpy() instead."),
}

START = """
import functools
import torch
x = torch.ones(3, requires_grad=True)
w = torch.ones(3, requires_grad=True)
h = x.exp()
"""
PLACES = {
    "a script": "found = {bad}  # here\n",
    "a module": """
class Net(torch.nn.Module):
    def forward(self, x):
        return {bad}  # here
found = torch.nn.Sequential(Net())(x)
""",
    "a comprehension": """
found = [
    {bad}  # here
    for _ in range(1)][0]
""",
    "a decorated function": """
def decorated(function):
    @functools.wraps(function)
    def run(*args):
        return function(*args)
    return run

@decorated
@torch.enable_grad()
def compute(x):
    return {bad}  # here
found = compute(x)
""",
    "a notebook cell": "found = {bad}  # here\nfound",
}


def message_of(error: BaseException) -> str:
    return "\n".join([str(error), *getattr(error, "__notes__", ())])


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ERRORS)
def test_the_error_names_the_line(kind: str, place: str) -> None:
    bad, then, words = ERRORS[kind]
    source = START + PLACES[place].format(bad=bad)
    filename = f"<ipython-input-7-{len(kind)}>" if "notebook" in place else f"/x/{place}.py"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    line = 1 + [("# here" in text) for text in source.splitlines()].index(True)
    program = compile(source, filename, "exec")
    space: dict[str, Any] = {"__name__": "__main__"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(__import__("sys").modules, "torch", torch)
        exec(program, space)
    with pytest.raises(RuntimeError) as raised:
        exec(then, space)
    message = message_of(raised.value)
    assert message.startswith(words)
    named = re.findall(r'File "(.*?)", line (\d+), in', message)
    assert (filename, str(line)) in named
    if kind == "in-place overwrite":  # which also names where the value was saved
        assert named == [(filename, "6"), (filename, str(line))]
    elif "no graph" in kind:  # the last of the lines where numbers left the graph
        assert named[0] == (filename, str(line))
    else:
        assert named == [(filename, str(line))]
    assert source.splitlines()[line - 1].strip() in message


def test_the_line_of_a_value_that_keeps_none_is_that_of_what_it_was_made_from() -> None:
    x = torch.ones(3, requires_grad=True)
    y = (x * 2).view(3, 1)
    with pytest.raises(RuntimeError, match=r"(?s)numpy.*from what was computed here.*x \* 2"):
        y.numpy()
    with pytest.raises(RuntimeError, match=r"instead\.$"):
        x.numpy()  # no line made it


def test_a_format_and_a_truth_value_are_no_exits() -> None:
    from retrograd.core.cuts import EXITS

    EXITS.clear()
    x = torch.tensor(2.0, requires_grad=True)
    y = x * 2
    f"{y:.2f} {y}"
    bool(y)
    repr(y)
    assert not EXITS
    y.item()
    y.detach().numpy()
    assert [exit[2] for exit in EXITS.values()] == ["item", "numpy"]
    for _ in range(100):
        y.item()
    assert len(EXITS) == 3
    for i in range(100):  # of many, the last are kept
        exec(compile("\n" * i + "y.item()", "<many>", "exec"), {"y": y})
    assert len(EXITS) == 64 and next(reversed(EXITS))[0].co_filename == "<many>"
    EXITS.clear()
