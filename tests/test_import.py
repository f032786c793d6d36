"""What `import retrograd` costs and what it brings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import retrograd

SOURCE = Path(retrograd.__file__).parent.parent


def run(code: str, cache: Path | None = None) -> str:
    """What a program prints in a new interpreter."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPATH"] = str(SOURCE)
    if cache is not None:
        env["PYTHONPYCACHEPREFIX"] = str(cache)
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


def test_import_takes_at_most_twice_as_long_as_numpy(tmp_path: Path) -> None:
    timed = ("import time; start = time.perf_counter(); import {0}; "
             "print(time.perf_counter() - start)")
    names = ("numpy", "retrograd")
    for name in names:
        run(f"import {name}", tmp_path)  # writes the bytecode
    # The fastest of several is what the imports cost; the rest is what else the machine did.
    best = {name: min(float(run(timed.format(name), tmp_path)) for _ in range(7))
            for name in names}
    assert best["retrograd"] <= 2 * best["numpy"]


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
