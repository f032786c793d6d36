"""Programs that import torch, run with this package in PyTorch's place."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import retrograd
from retrograd.cli.doctor import examine, resolve

SOURCE = str(Path(retrograd.__file__).parent.parent)


def run(*arguments: str, cwd: Path, **files: str) -> subprocess.CompletedProcess[str]:
    """What Python does with some arguments in a folder with some files; dots are slashes."""
    for name, text in files.items():
        path = cwd / (name.replace("__in__", "/") + ".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return subprocess.run([sys.executable, "-W", "error", *arguments], cwd=cwd, text=True,
                          capture_output=True, env={**os.environ, "PYTHONPATH": SOURCE})


def served(code: str, cwd: Path, **files: str) -> str:
    """What a program prints that begins with ``as_torch``."""
    done = run("-c", "import retrograd\nretrograd.as_torch()\n" + code, cwd=cwd, **files)
    assert done.returncode == 0, done.stderr
    return done.stdout


def program(*arguments: str, cwd: Path, **files: str) -> subprocess.CompletedProcess[str]:
    """What ``retrograd run`` does."""
    return run("-m", "retrograd", "run", *arguments, cwd=cwd, **files)


# ---------------------------------------------------------------- modules


def test_every_name_has_one_module(tmp_path: Path) -> None:
    assert served("""
import sys, torch.nn.functional as F, torch.optim.lr_scheduler
from torch import nn, Tensor
from torch.utils.data import DataLoader
assert nn is retrograd.nn is torch.nn is sys.modules["torch.nn"]
assert sys.modules["torch.nn.functional"] is retrograd.nn.functional is F
assert torch.optim.lr_scheduler is retrograd.optim.lr_scheduler
assert Tensor is retrograd.Tensor and torch.save is retrograd.save
assert torch.autograd is retrograd.autograd and torch.nn.Linear is retrograd.nn.Linear
assert retrograd.nn.__name__ == retrograd.nn.__spec__.name == "retrograd.nn"
assert torch.torch is torch and {type(torch.ones(1)), torch.Tensor} == {retrograd.Tensor}
print(torch.__name__, type(torch.ones(1)), dir(torch) == dir(retrograd))
""", tmp_path) == "torch <class 'torch.Tensor'> True\n"


def test_tensors_of_every_kind_work_as_they_do_otherwise(tmp_path: Path) -> None:
    assert served("""
import torch
class Named(torch.Tensor):
    seen = []
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        cls.seen.append(function.__name__)
        return super().__torch_function__(function, types, args, kwargs)
x = torch.ones(2).as_subclass(Named)
print(type(x + 1).__name__, type(torch.stack([x, x])).__name__, Named.seen)
print(type(torch.nn.Parameter(x)).__name__)
layer = torch.nn.Linear(2, 1).to("meta")
print(layer.weight.requires_grad, layer.to_empty(device="cpu").weight.device)
sparse = torch.eye(2).to_sparse().requires_grad_()
print(sparse.is_sparse, sparse.requires_grad, torch.sparse.sum(sparse * 2).item())
lazy = torch.nn.LazyLinear(3)
print(lazy(torch.ones(1, 2)).shape, lazy.weight.shape)
""", tmp_path) == """\
Named Named ['add', 'stack']
Named
True cpu
True True 4.0
torch.Size([1, 3]) torch.Size([3, 2])
"""


def test_functorch_is_served_too(tmp_path: Path) -> None:
    assert served("""
import warnings, torch
from functorch import make_functional_with_buffers, vmap
class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
        self.second.weight = self.first.weight
        self.norm = torch.nn.BatchNorm1d(2)
    def forward(self, x):
        return self.norm(self.second(self.first(x)))
model, x = Tied(), torch.tensor([[1.0, 2.0], [3.0, 5.0]])
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    function, params, buffers = make_functional_with_buffers(model)
    many = vmap(lambda p: (p * p).sum())(torch.ones(3, 2))
print([w.category.__name__ for w in told], many)
print(function.param_names, [p.requires_grad for p in params],
      function.stateless_model.norm.weight.device)
y = function(params, buffers, x)
print(torch.equal(y, model(x)), buffers[2], model.norm.num_batches_tracked)
y.square().sum().backward()
print(params[0].grad.shape, model.first.weight.grad)
""", tmp_path) == """\
['FutureWarning', 'FutureWarning'] tensor([2., 2., 2.])
('first.weight', 'first.bias', 'second.bias', 'norm.weight', 'norm.bias') \
[True, True, True, True, True] \
meta
True tensor(1) tensor(1)
torch.Size([2, 2]) None
"""


def test_nothing_is_imported_before_it_is_used(tmp_path: Path) -> None:
    assert served("""
import importlib.util, sys
print(importlib.util.find_spec("torch").name, "torch" in sys.modules)
import torch
print([m for m in ("nn", "optim", "serialization") if f"retrograd.{m}" in sys.modules])
torch.nn
print([m for m in ("nn", "optim", "serialization") if f"retrograd.{m}" in sys.modules])
""", tmp_path) == "torch False\n[]\n['nn']\n"


def test_the_version_is_pytorch_s_for_those_who_ask_for_torch(tmp_path: Path) -> None:
    version = served(f"""
import importlib.metadata, torch, torch.version
assert retrograd.__version__ == retrograd.version.__version__ == "{retrograd.__version__}"
assert torch.__version__ == torch.version.__version__ == importlib.metadata.version("torch")
assert importlib.metadata.distribution("torch").metadata["Name"] == "torch"
assert "torch" in [d.metadata["Name"] for d in importlib.metadata.distributions()]
print(torch.__version__)
""", tmp_path)
    number, _, own = version.strip().partition("+")
    assert tuple(map(int, number.split("."))) >= (2, 0) and own == "retrograd"


def test_it_comes_too_late_after_pytorch(tmp_path: Path) -> None:
    done = run("-c", "import torch, retrograd; retrograd.as_torch()", cwd=tmp_path, torch="")
    assert done.returncode == 1
    assert "RuntimeError: PyTorch itself has been imported already, from" in done.stderr


def test_an_installed_pytorch_is_left_alone(tmp_path: Path) -> None:
    assert served("import torch; print(torch.ones(2))", tmp_path,
                  torch="raise SystemExit(3)") == "tensor([1., 1.])\n"


MISSING = {
    "import torch.nonsense": "ModuleNotFoundError: No module named 'torch.nonsense'",
    "import torch.nn.nonsense": "ModuleNotFoundError: No module named 'torch.nn.nonsense'",
    "from torch import Tensr": "ImportError: cannot import name 'Tensr' from 'torch'. Did you mean "
                               "'Tensor'",
    "from torch.nn import Linaer": "ImportError: cannot import name 'Linaer' from 'torch.nn'. Did "
                                   "you mean 'Linear'",
    "from torch.nn.functional import rellu": "ImportError: cannot import name 'rellu' from",
    "from torch import relu6": "cannot import name 'relu6' from 'torch'; there is "
                               "retrograd.nn.functional.relu6",
    "torch.sine": "AttributeError: module 'torch' has no attribute 'sine'. Did you mean 'sin'",
    "import torch.core": "ModuleNotFoundError: No module named 'torch.core'",
    "torch.codegen": "AttributeError: module 'torch' has no attribute 'codegen'",
}


def test_a_missing_name_is_named_with_what_is_nearby(tmp_path: Path) -> None:
    found = json.loads(served(f"""
import importlib.util, json, torch
assert importlib.util.find_spec("torch.nonsense") is None
assert not hasattr(torch, "nonsense") and not hasattr(torch, "core")
words = []
for statement in {list(MISSING)}:
    try:
        exec(statement)
    except Exception as error:
        words.append(f"{{type(error).__name__}}: {{error}}")
print(json.dumps(words))
""", tmp_path))
    for words, expected in zip(found, MISSING.values(), strict=True):
        assert expected in words


def test_pickles_that_name_pytorch_s_classes(tmp_path: Path) -> None:
    assert served("""
import pickle
print(pickle.loads(b"ctorch.nn.modules.linear\\nLinear\\n.") is retrograd.nn.Linear,
      pickle.loads(b"ctorch\\nSize\\n((K\\x01K\\x02ttR."),
      pickle.loads(pickle.dumps([retrograd.ones(2), retrograd.float32, retrograd.Tensor])))
""", tmp_path) == \
        "True torch.Size([1, 2]) [tensor([1., 1.]), torch.float32, <class 'torch.Tensor'>]\n"


# ---------------------------------------------------------------- retrograd run

ECHO = """
import sys, torch
print(__name__, __file__, sys.argv, sys.path[0], globals() is vars(sys.modules["__main__"]))
"""


def test_a_script_runs_as_python_runs_it(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    done = program("inner/echo.py", "-m", "--flag", "x", cwd=tmp_path, inner__in__echo=ECHO)
    plain = run("inner/echo.py", "-m", "--flag", "x", cwd=tmp_path,
                inner__in__echo=ECHO.replace(", torch", ""))
    assert (done.stdout, done.stderr, done.returncode) == (plain.stdout, "", 0)
    assert str(tmp_path / "inner" / "echo.py") in done.stdout


def test_a_package_runs_as_python_runs_it(tmp_path: Path) -> None:
    main = "print(__spec__.name, __package__)" + ECHO
    files = {"p__in____init__": "print(__name__)", "p__in____main__": main, "m": ECHO}
    for name in ("p", "m"):
        done = program("-m", name, "-m", "--flag", cwd=tmp_path, **files)
        bare = {n: text.replace(", torch", "") for n, text in files.items()}
        plain = run("-m", name, "-m", "--flag", cwd=tmp_path, **bare)
        assert (done.stdout, done.stderr, done.returncode) == (plain.stdout, "", 0)


def test_folders_and_zip_files_run(tmp_path: Path) -> None:
    done = program("folder", cwd=tmp_path, folder__in____main__=ECHO)
    assert done.stdout.startswith("__main__") and "folder" in done.stdout
    with zipfile.ZipFile(tmp_path / "app.pyz", "w") as archive:
        archive.writestr("__main__.py", ECHO)
    done = program("app.pyz", cwd=tmp_path)
    assert done.stdout.startswith("__main__") and "app.pyz" in done.stdout


@pytest.fixture
def interrupts_arrive() -> Iterator[None]:
    """Programs that a shell starts in the background ignore interrupts, and so do theirs."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts_arrive")
@pytest.mark.parametrize("end, status", [
    ("sys.exit(7)", 7), ("sys.exit('words')", 1), ("1 / 0", 1), ("sys.exit()", 0),
    ("os.kill(os.getpid(), signal.SIGINT)", -signal.SIGINT)])
def test_a_program_ends_as_it_ends_under_python(tmp_path: Path, end: str, status: int) -> None:
    text = ("import atexit, os, signal, sys\natexit.register(print, 'last')\n"
            f"def f():\n    {end}\nf()")
    done, plain = program("end.py", cwd=tmp_path, end=text), run("end.py", cwd=tmp_path, end=text)
    assert done.returncode == plain.returncode == status
    assert (done.stdout, done.stderr) == (plain.stdout, plain.stderr)


@pytest.mark.parametrize("arguments, words, status", [
    (["nowhere.py"], "can't open file", 2), (["-m", "nowhere"], "No module named nowhere", 1),
    (["-m", "nowhere.deep"], "No module named 'nowhere'", 1), (["."], "can't find '__main__'", 1),
    (["-m", "p"], "'p' is a package and cannot be directly executed", 1),
    (["broken.py"], "SyntaxError: ", 1), ([], "expected a script, or -m and a module", 2)])
def test_what_cannot_run_is_said(tmp_path: Path, arguments: list[str], words: str,
                                 status: int) -> None:
    done = program(*arguments, cwd=tmp_path, broken="def f(:\n", p__in____init__="")
    assert done.returncode == status
    assert words in done.stderr and "Traceback" not in done.stderr


def test_missing_names_are_listed_at_the_end(tmp_path: Path) -> None:
    name = next(n for n in sorted(retrograd.base.missing_names.pytorch_names()[""])
                if not hasattr(retrograd, n))
    done = program("p.py", cwd=tmp_path, p=f"import torch\ngetattr(torch, {name!r}, 0)\n"
                                           "hasattr(torch, 'nonsense')\nprint('done')")
    assert done.stdout == "done\n" and done.returncode == 0
    assert done.stderr.splitlines()[0].endswith("are not here yet (1):")
    assert done.stderr.splitlines()[1].split()[0] == f"torch.{name}"


CHILDREN = """
import torch
def work(x):
    return torch.__version__, x + 1
if __name__ == "__main__":
    import multiprocessing, sys
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        print(pool.map(work, [torch.ones(2)]))
"""


@pytest.mark.parametrize("how", ["fork", "spawn", "forkserver"])
def test_processes_of_a_program_serve_torch_too(tmp_path: Path, how: str) -> None:
    how_to_run = ["-m", "children"] if how == "spawn" else ["children.py"]
    done = program(*how_to_run, how, cwd=tmp_path, children=CHILDREN)
    assert done.stdout == "[('2.13.0+retrograd', tensor([2., 2.]))]\n", done.stderr


def test_pytest_runs_tests_with_it(tmp_path: Path) -> None:
    test = "import torch\ndef test_it():\n    assert torch.ones(2).sum() == 2\n"
    done = run("-m", "pytest", "-q", "-p", "retrograd.as_torch", "-p", "no:cacheprovider", ".",
               cwd=tmp_path, test_it=test, conftest="import torch.nn")
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


# ---------------------------------------------------------------- retrograd doctor

PATIENT = """
import torch, torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Nothing as N
from . import torch_like
try:
    from torch.nowhere import nothing
except ImportError:
    pass
T = torch.nn.utils
size = torch.float32.itemsize
def f(a: torch.Tensor) -> nn.Nonsense:
    T.clip_grad_norm_(a)
    F.relu(a) + F.nonsense(a) + getattr(torch, "stuff") + getattr(torch, "other", None)
    nn.Module.forward, nn.Module.quux, N.x.y, torch.core.tensor
    return a.sparse_mask().items(), torch_like.nonsense
"""


def test_the_doctor_reads_a_program(tmp_path: Path) -> None:
    (tmp_path / "patient.py").write_text(PATIENT)
    report = examine([tmp_path / "patient.py"])
    here, missing, guarded, perhaps = (set(report[k]) for k in
                                       ("here", "missing", "guarded", "perhaps"))
    assert missing == {f"torch.{n}" for n in ("utils.data.Nothing", "nn.Nonsense", "stuff", "core",
                                              "nn.functional.nonsense", "nn.Module.quux")}
    assert {"torch.nn.functional.relu", "torch.float32", "torch.nn.Module.forward", "torch.Tensor",
            "torch.nn.utils.clip_grad_norm_", "torch.utils.data.DataLoader"} <= here
    assert guarded == {"torch.nowhere"}
    assert perhaps == {"Tensor.sparse_mask"} - {f"Tensor.{n}" for n in dir(retrograd.Tensor)}
    assert [p.split(":")[-1] for p in report["missing"]["torch.utils.data.Nothing"]] == ["4", "15"]


@pytest.mark.parametrize("name, found", [
    ("torch", ("torch", True)), ("torch.nn.Linear", ("torch.nn.Linear", True)),
    ("torch.nn.Linear.nonsense", ("torch.nn.Linear.nonsense", False)),
    ("torch.float32.x.y", ("torch.float32", True)), ("torch.sin.__name__", ("torch.sin", True)),
    ("torch.nowhere.x", ("torch.nowhere", False)), ("torch.nn.modules.conv.Conv2d",
                                                   ("torch.nn.modules.conv.Conv2d", True))])
def test_names_are_resolved_as_far_as_they_are_torch_s(name: str, found: tuple[str, bool]) -> None:
    assert resolve(name) == found


@pytest.mark.parametrize("text, status, words", [
    ("import torch\ntorch.sin", 0, "2 names of torch are here, 0 missing"),
    ("import torch\ntorch.sine", 1, "torch.sine  patient.py:2"),
    ("print(1)", 0, "0 names of torch are here"), ("def f(:", 2, "invalid syntax")])
def test_the_doctor_s_words_and_exit_status(tmp_path: Path, text: str, status: int, words: str,
                                            monkeypatch: Any, capsys: Any) -> None:
    from retrograd.cli import main

    monkeypatch.chdir(tmp_path)
    Path("patient.py").write_text(text)
    assert main(["doctor", "patient.py"]) == status
    shown = capsys.readouterr()
    assert words in shown.out + shown.err
    if status < 2:
        assert main(["doctor", "--json", "."]) == status
        assert set(json.loads(capsys.readouterr().out)) == {"here", "missing", "guarded", "perhaps"}
