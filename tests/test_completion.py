"""Editors complete names and show signatures: jedi, which IPython and many editors ask."""

from __future__ import annotations

from pathlib import Path

import jedi
import pytest

import retrograd as torch

ROOT = Path(__file__).parents[1]
TORCH = "import retrograd as torch\n"
TENSOR = TORCH + "x = torch.tensor([1.])\n"
MODEL = "from retrograd import nn\nmodel = nn.Sequential(nn.Linear(2, 3))\n"
FUNCTIONAL = "import retrograd.nn.functional as F\n"


def script(code: str) -> jedi.Script:
    project = jedi.Project(str(ROOT / "tests"), added_sys_path=[str(ROOT / "src")])
    return jedi.Script(code, project=project)


@pytest.mark.parametrize(("code", "expected"), [
    (TORCH + "torch.", {"tensor", "zeros", "sin", "float32", "Tensor", "nn", "vmap", "no_grad"}),
    (TORCH + "torch.soft", {"softmax"}),
    (TENSOR + "x.", {"sum", "backward", "grad", "shape", "T", "add_", "register_hook"}),
    (TENSOR + "x.su", {"sum", "sub", "sub_"}),
    (TENSOR + "(x * 2 + 1).sin().su", {"sum"}),
    (TENSOR + "x.max(0).", {"values", "indices"}),
    (TENSOR + "x.numpy().", {"astype", "T"}),
    (FUNCTIONAL + "F.rel", {"relu", "relu_", "relu6"}),
    (TORCH + "F = torch.nn.functional\nF.cross", {"cross_entropy"}),
    (MODEL + "model.", {"parameters", "state_dict", "train", "zero_grad", "append"}),
    (TORCH + "torch.autograd.grad", {"grad", "gradcheck", "gradgradcheck"}),
    (TORCH + "torch.linalg.", {"qr", "svd", "norm"}),
    (TORCH + "torch.utils.", {"data", "checkpoint"}),
], ids=lambda v: v.splitlines()[-1] if isinstance(v, str) else "")
def test_names_are_completed(code: str, expected: set[str]) -> None:
    assert expected <= {found.name for found in script(code).complete()}


@pytest.mark.parametrize(("code", "expected", "doc"), [
    (TORCH + "torch.addmm(", ["addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, "],
     "beta * input"),
    (TENSOR + "x.sum(", ["sum(*, dtype:", "sum(dim:", "sum(*, dtype:"], "Sum over"),
    (TENSOR + "x.size(", ["size(dim: None=None) -> Size", "size(dim: int) -> int"], ""),
    (FUNCTIONAL + "F.relu(", ["relu(input: Tensor, inplace: bool=False) -> Tensor"], ""),
    (MODEL + "nn.Linear(", ["Linear(in_features: int, out_features: int, bias: bool=True"], ""),
], ids=lambda v: v.splitlines()[-1] if isinstance(v, str) and v else "")
def test_signatures_are_shown(code: str, expected: list[str], doc: str) -> None:
    found = script(code).get_signatures()
    assert len(found) == len(expected)
    for signature, start in zip(found, expected, strict=True):
        assert signature.to_string().startswith(start)
        assert doc in signature.docstring(raw=True)


def test_a_running_interpreter_completes_too() -> None:
    """As IPython asks: of the objects themselves."""
    names = {"torch": torch, "x": torch.ones(2)}
    assert "sum" in {found.name for found in jedi.Interpreter("x.su", [names]).complete()}
    (found,) = jedi.Interpreter("torch.addmm(", [names]).get_signatures()
    assert [p.name for p in found.params] == ["input", "mat1", "mat2", "beta", "alpha", "out"]
    (found,) = jedi.Interpreter("x.gather(", [names]).get_signatures()
    assert [p.name for p in found.params][:2] == ["dim", "index"]
