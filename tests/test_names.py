"""docs/names.md says which of PyTorch's names exist, and errors say why others do not."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import retrograd as torch
from retrograd.base import missing_reasons
from retrograd.base.missing_names import pytorch_names

DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_is_current() -> None:
    # In a new interpreter: what other tests import and declare adds to the namespaces.
    program = "import make_names; print(make_names.page(), end='')"
    done = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True,
                          check=True, cwd=DOCS)
    assert done.stdout == (DOCS / "names.md").read_text(encoding="utf-8"), "run `make docs`"


@pytest.mark.parametrize("pattern", missing_reasons._REASONS)
def test_every_reason_is_that_of_a_name_which_lacks(pattern: str) -> None:
    lacking = [name for space in ("", "Tensor", "nn") for name in pytorch_names()[space]
               if not hasattr(torch.Tensor if space == "Tensor" else
                              torch.nn if space else torch, name)]
    assert any(re.fullmatch(pattern, name) for name in lacking), "strike it"


def test_an_error_says_why() -> None:
    with pytest.raises(AttributeError, match="retrograd does not: there are no quantised tensors"):
        torch.quantize_per_tensor  # noqa: B018
    with pytest.raises(AttributeError, match=r"retrograd does not: .* the CPU"):
        torch.AcceleratorError  # noqa: B018
    assert missing_reasons.reason("lobpcg") == ""


def test_control_flow_by_functions() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    found = torch.cond(x > 2, lambda x: x * x, lambda x: -x, (x,))
    (doubled,) = torch.while_loop(lambda x: x < 20, lambda x: x * 2, (found,))
    assert doubled == 36 and torch.autograd.grad(doubled, x)[0] == 24


def test_elements_one_by_one() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    assert x.clone().apply_(lambda v: v * 2).equal(x * 2)
    assert x.t().clone().map_(x.t(), lambda a, b: a - b).eq(0).all()
    assert x.clone().map2_(x, torch.ones(1), lambda a, b, c: a + b + c).equal(2 * x + 1)
    assert x.t().dim_order() == (1, 0) and not x.is_xla
    with pytest.raises(RuntimeError, match="Can't call apply_"):
        x.clone().requires_grad_().apply_(abs)
    before = x.clone()
    with pytest.raises(ZeroDivisionError):
        x.apply_(lambda v: 1 / v)
    assert x.equal(before)
