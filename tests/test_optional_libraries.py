"""Without SciPy and ml_dtypes everything works but what they compute, which says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCKING = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("scipy", "ml_dtypes"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name.partition(".")[0])

sys.meta_path.insert(0, Absent())
import retrograd as torch
"""
SWEEP = """
import json, warnings
from tests.sweeps.cases import ENTRIES, cases, tensors

warnings.simplefilter("ignore")
found = {}
for name, entry in ENTRIES.items():
    for number, case in enumerate(cases(torch, entry)):
        try:
            for result in tensors(torch, case.run(case.leaves())):
                if result.requires_grad and not number:
                    result.backward(torch.ones_like(result), retain_graph=True)
        except ModuleNotFoundError as error:
            found[name] = f"{error.name}: {error}"
print(json.dumps(found))
"""
NEED_SCIPY = {
    "erf", "erfc", "erfinv", "lgamma", "digamma", "polygamma", "Tensor.polygamma", "mvlgamma",
    "igamma", "igammac", "i0", "nn.functional.gelu", "_standard_gamma", "_standard_gamma_grad",
    "_sample_dirichlet", "_dirichlet_grad", *(f"special.{name}" for name in (
        "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "digamma", "entr", "erf",
        "erfc", "erfcx", "erfinv", "gammainc", "gammaincc", "gammaln", "i0", "i0e", "i1", "i1e",
        "log_ndtr", "modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0",
        "modified_bessel_k1", "multigammaln", "ndtr", "ndtri", "polygamma", "psi",
        "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "xlog1py", "zeta"))}
"""The functions that are SciPy's; nothing else needs it."""
NEED_ML_DTYPES = {"Tensor.bfloat16"}


def run(program: str) -> str:
    """What a program prints where neither library nor a native kernel is installed."""
    done = subprocess.run([sys.executable, "-c", BLOCKING + program], text=True, cwd=ROOT,
                          env={**os.environ, "RETROGRAD_KERNELS": "0"}, capture_output=True,
                          check=False)
    assert not done.returncode, done.stderr
    return done.stdout


def test_only_these_functions_need_them() -> None:
    found = json.loads(run(SWEEP))
    assert {n for n, text in found.items() if text.startswith("scipy")} == NEED_SCIPY
    assert {n for n, text in found.items() if text.startswith("ml_dtypes")} == NEED_ML_DTYPES
    for text in found.values():
        library = text.partition(":")[0]
        assert text.endswith(f" needs {library}, which is not installed: pip install {library}")


@pytest.mark.parametrize(("call", "message"), [
    ("torch.erf(torch.ones(2))", "erf(): special.erf needs scipy"),
    ("torch.nn.functional.gelu(torch.ones(2))", "gelu(): special.erf needs scipy"),
    ("torch.func.vmap(torch.erf)(torch.ones(2))", "special.erf needs scipy"),
    ("torch.ones(2, dtype=torch.bfloat16)", "bfloat16 needs ml_dtypes"),
])
def test_the_error_names_the_function_and_what_to_install(call: str, message: str) -> None:
    assert message in run(f"""
try:
    {call}
except ModuleNotFoundError as error:
    print(error)
    assert error.__context__ is None or error.__suppress_context__
""")


@pytest.mark.parametrize("program", [
    """
from retrograd import nn, optim
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.LayerNorm(8), nn.Dropout(0.1), nn.Linear(8, 3))
step = optim.AdamW(model.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randint(3, (16,))
for _ in range(30):
    step.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    step.step()
print(loss.item() < 0.5)
""", """
a = torch.randn(4, 4, dtype=torch.float64, requires_grad=True)
values = [torch.linalg.svd(a)[1], torch.linalg.inv(a), torch.linalg.qr(a)[1], torch.linalg.det(a),
          torch.matrix_exp(a), torch.linalg.eigh(a @ a.T)[0], torch.linalg.solve(a, a.T)]
sum(v.sum() for v in values).backward()
print(bool(a.grad.isfinite().all()))
""", """
f = lambda x: (x.sin() * x.sigmoid()).sum()
x = torch.ones(3)
found = [torch.func.hessian(f)(x), torch.func.jacfwd(torch.sin)(x), torch.func.vmap(f)(x)]
print(str(torch.ones(2)) == "tensor([1., 1.])" and found[0].shape == (3, 3))
""", """
import pickle
print(torch.equal(pickle.loads(pickle.dumps(torch.ones(2).half())), torch.ones(2).half()))
""",
])
def test_programs_run_without_them(program: str) -> None:
    assert run(program).split() == ["True"]
