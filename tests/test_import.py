"""What `import retrograd` costs and what it brings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import retrograd

SOURCE = Path(retrograd.__file__).parent.parent


def run(code: str) -> str:
    """What a program prints in a new interpreter."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPATH"] = str(SOURCE)
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], env=env, text=True,
                          capture_output=True, check=True)
    return done.stdout


def test_import_loads_numpy_and_little_else() -> None:
    loaded = run("import retrograd, sys; print(*sys.modules)").split()
    heavy = ("scipy", "ml_dtypes", "torch", "rich", "numpy.random", "multiprocessing", "asyncio",
             "retrograd.nn", "retrograd.optim", "retrograd.func")
    assert not [m for m in loaded if m in heavy]


def test_import_prints_nothing() -> None:
    assert run("import retrograd") == ""


@pytest.mark.parametrize("name", sorted(retrograd._LAZY))
def test_submodules_load_when_asked_for(name: str) -> None:
    assert getattr(retrograd, name).__name__ == f"retrograd.{name}"
    assert name in dir(retrograd)


def test_kernels_load_at_first_use_and_once_for_all_threads() -> None:
    program = """
import sys, threading, types, retrograd
from retrograd.backend import conv
print("retrograd.backend.numpy.conv" in sys.modules)
sys.setswitchinterval(1e-6)
barrier, found = threading.Barrier(8), []
def look():
    barrier.wait()
    found.append((conv.windows, conv.inner_part))
threads = [threading.Thread(target=look) for _ in range(8)]
[t.start() for t in threads], [t.join() for t in threads]
loaded = sys.modules["retrograd.backend.numpy.conv"]
print(found == [(loaded.windows, loaded.inner_part)] * 8, type(conv) is types.ModuleType)
"""
    assert run(program).split() == ["False", "True", "True"]


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="module 'retrograd' has no attribute 'nonsense'"):
        retrograd.nonsense  # noqa: B018


def test_every_public_name_can_be_imported() -> None:
    program = "from retrograd import " + ", ".join(
        n for n in dir(retrograd) if not n.startswith("__"))
    run(program)


def test_version_is_the_distribution_s() -> None:
    import tomllib

    project = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text())["project"]
    assert retrograd.__version__ == project["version"] == retrograd.version.__version__


def test_functions_stay_themselves_when_a_subclass_looks_out() -> None:
    """Code that is put in front of a function hides neither its signature nor its rules' view."""
    program = """
import inspect, retrograd
from retrograd.core.binding import raw
before = str(inspect.signature(retrograd.flatten))
class Watching(retrograd.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})
print(str(inspect.signature(retrograd.flatten)) == before,
      raw(retrograd.flatten, False).__code__.co_filename.endswith("reshaping.py"))
"""
    assert run(program).split() == ["True", "True"]


def test_completion_offers_public_names_only() -> None:
    offered = run("import retrograd; print(*dir(retrograd))").split()
    machinery = {"annotations", "backend", "base", "codegen", "compat", "core", "ops", "transforms"}
    assert not machinery & set(offered)
    assert [name for name in offered if name.startswith("_")] == ["_C", "__version__"]
    assert {"Tensor", "nn", "optim", "sin", "float32", "autograd", "vmap"} <= set(offered)


MODULES = [".".join(path.with_suffix("").relative_to(SOURCE).parts)
           for path in sorted((SOURCE / "retrograd").rglob("*.py")) if path.stem != "__main__"]
CHILDREN = [name for name in MODULES if name.count(".") and not name.endswith("__init__")]

HIDDEN = """
import importlib, sys, types

def kind(name):
    package, _, child = name.rpartition(".")
    found = getattr(importlib.import_module(package), child, None)
    return "module" if isinstance(found, types.ModuleType) else "value" if found else "nothing"
"""


def test_no_function_is_hidden_by_a_module_of_its_name() -> None:
    """A name means the same whichever module of the package is imported first."""
    usual = dict(line.split() for line in run(
        HIDDEN + f"for name in {CHILDREN}: print(name, kind(name))").splitlines())
    functions = [name for name in CHILDREN if usual[name] == "value"]
    assert {"retrograd.autograd.gradcheck", "retrograd.autograd.backward"} <= set(functions)
    for name in functions:
        first = f"importlib.import_module({name!r})\n"
        assert run(HIDDEN + first + f"print(kind({name!r}))") == "value\n"
    everything = HIDDEN + f"for name in {CHILDREN}: importlib.import_module(name)\n"
    assert run(everything + f"print(*map(kind, {functions}))").split() == ["value"] * len(functions)


def test_the_module_of_gradcheck_can_be_imported_by_name() -> None:
    program = """
from retrograd.autograd.gradcheck import GradcheckError
import retrograd.autograd.gradcheck
import retrograd as torch
print(torch.autograd.gradcheck.__name__, torch.autograd.gradgradcheck.__name__,
      torch.autograd.GradcheckError is GradcheckError)
"""
    assert run(program).split() == ["gradcheck", "gradgradcheck", "True"]
