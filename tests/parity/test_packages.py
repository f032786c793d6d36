"""Packages that import torch work on this package as they do on PyTorch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import retrograd

ENV = {**os.environ, "PYTHONPATH": str(Path(retrograd.__file__).parent.parent),
       "OMP_NUM_THREADS": "1"}
PROGRAMS = {
    "einops": """
import torch
from einops import einsum, pack, rearrange, reduce, repeat
from einops.layers.torch import Rearrange, Reduce
x = torch.arange(24.0).reshape(2, 3, 4).requires_grad_()
print(rearrange(x, "b c d -> d (b c)"), reduce(x, "b c d -> b", "mean"))
print(repeat(x, "b c d -> b (c 2) d").sum(), einsum(x, x, "b c d, b e d -> b c e"))
torch.manual_seed(0)
model = torch.nn.Sequential(Rearrange("b c d -> b (c d)"), torch.nn.Linear(12, 3),
                            Reduce("b c -> b", "max"))
model(x).sum().backward()
print(x.grad, pack([x, x[:, 0]], "b *")[0].shape, model)
""",
    "torchdiffeq": """
import torch
from torchdiffeq import odeint, odeint_adjoint
torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
class Field(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)
    def forward(self, t, y):
        return torch.tanh(self.layer(y)) * t.cos()
field, times, start = Field(), torch.linspace(0, 1, 5), torch.ones(2)
for method in ("dopri5", "dopri8", "bosh3", "adaptive_heun", "rk4", "euler", "implicit_adams"):
    print(method, odeint(field, start, times, method=method)[-1])
for solve in (odeint, odeint_adjoint):
    field.zero_grad()
    solve(field, start, times)[-1].sum().backward()
    print(field.layer.weight.grad)
""",
}


def run(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], env=ENV, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_package_prints_the_same(name: str, tmp_path: Path) -> None:
    pytest.importorskip(name)
    path = tmp_path / "program.py"
    path.write_text(PROGRAMS[name])
    assert run("-m", "retrograd", "run", str(path)) == run(str(path))


DTYPES = ["float16", "bfloat16", "float32", "float64", "uint8", "uint16", "uint32", "uint64",
          "int8", "int16", "int32", "int64", "bool", "complex64"]


def test_safetensors_go_both_ways(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.torch")
    values = {name: torch.tensor([[0, 1, 2]]).to(getattr(torch, name)) for name in DTYPES}
    safetensors.save_file(values, tmp_path / "theirs")
    program = tmp_path / "program.py"
    program.write_text(f"""
import torch
from safetensors.torch import load_file, save_file
found = load_file({str(tmp_path / "theirs")!r})
print(all(str(t.dtype) == f"torch.{{n}}" and t.tolist() == [[0, 1, 2]] or n == "bool"
          for n, t in found.items()), len(found))
save_file(found, {str(tmp_path / "ours")!r})
""")
    assert run("-m", "retrograd", "run", str(program)) == f"True {len(DTYPES)}\n"
    back = safetensors.load_file(tmp_path / "ours")
    assert back.keys() == values.keys()
    assert all(torch.equal(back[n], t) and back[n].dtype is t.dtype for n, t in values.items())
