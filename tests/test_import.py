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
