"""``retrograd profile`` and ``retrograd bench``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import retrograd
from retrograd.cli import bench, main

SOURCE = Path(retrograd.__file__).parent.parent
PROGRAM = """
import sys
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x).tanh()

net = Net()
for _ in range(3):
    net(torch.ones(4, 8)).sum().backward()
print("the program has run", *sys.argv[1:])
sys.exit(3)
"""


def run(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "retrograd", *args], capture_output=True,
                          text=True, check=False, cwd=cwd,
                          env={**os.environ, "PYTHONPATH": str(SOURCE)})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path


def test_by_op_with_a_trace(folder: Path) -> None:
    done = run("profile", "-o", "trace.json", "program.py", "--sort", "count", "an argument",
               cwd=folder)
    assert done.returncode == 3 and not done.stderr
    assert "the program has run an argument" in done.stdout
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines() if "::" in line}
    assert rows["aten::linear"][-1] == "3" and "AddmmBackward0" in done.stdout
    assert "its ops" in done.stdout and "wrote trace.json" in done.stdout
    events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    linear = next(e for e in events if e["name"] == "aten::linear")
    assert linear["args"]["Module Hierarchy"] == "TOP(Net).layer(Linear)"
    assert "program.py(11): forward" in linear["args"]["Call stack"]


@pytest.mark.parametrize("by, row", [("line", "program.py(11): forward"),
                                     ("module", "TOP(Net).layer(Linear)")])
def test_by_place(by: str, row: str, folder: Path) -> None:
    done = run("profile", "--by", by, "--rows", "3", "program.py", cwd=folder)
    (found,) = [line for line in done.stdout.splitlines() if row in line]
    assert found.split()[-1] == {"line": "12", "module": "6"}[by]  # with their backward


def test_programs_that_fail_or_call_nothing(folder: Path) -> None:
    (folder / "fails.py").write_text("import torch\ntorch.ones(2) * 2\nraise ValueError('it')\n")
    done = run("profile", "fails.py", cwd=folder)
    assert done.returncode == 1 and "aten::mul" in done.stdout and "ValueError: it" in done.stderr
    (folder / "empty.py").write_text("x = 1\n")
    assert "no op was called" in run("profile", "empty.py", cwd=folder).stdout


@pytest.mark.parametrize("args, words", [
    (["profile"], "expected a script"), (["profile", "-o", "trace.txt", "x.py"], ".json"),
    (["profile", "-o", "no/such/folder/trace.json", "x.py"], "there is no directory"),
    (["profile", "--sort", "heat", "x.py"], "invalid choice"),
    (["profile", "--rows", "0", "x.py"], "at least 1")])
def test_wrong_options(args: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(args)
    assert stopped.value.code == 2 and words in capsys.readouterr().err


# ---------------------------------------------------------------- bench


def test_an_installed_package_says_where_the_suite_is(
        monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "PACKAGE", str(tmp_path / "site-packages" / "retrograd"))
    assert main(["bench"]) == 1
    assert "checkout of the source" in capsys.readouterr().err


def test_programs_are_listed_and_chosen(capsys: pytest.CaptureFixture[str],
                                        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert main(["bench", "--list"]) == 0
    names = capsys.readouterr().out.splitlines()
    assert len(names) > 50
    assert main(["bench", "--list", "--only", "^small"]) == 0
    assert capsys.readouterr().out.splitlines() == [n for n in names if n.startswith("small")]
    assert main(["bench", "--only", "no such program"]) == 1
    assert "--list shows them all" in capsys.readouterr().err
    assert main(["bench", "--only", "("]) == 2
    assert "no regular expression" in capsys.readouterr().err


def test_a_table_of_those_that_are_installed(tmp_path: Path) -> None:
    done = run("bench", "--only", "^small: 1,000 elementwise", "--seconds", "0.01", "--threads",
               "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    versions, header, row = done.stdout.splitlines()
    assert f"retrograd {retrograd.__version__}" in versions
    columns = header.split()
    assert columns[0] == "retrograd" and columns[-1] == "fastest"
    assert all(f"{name} not installed" not in versions for name in columns[:-1])
    assert float(row.split("backward")[1].split()[0]) > 0
