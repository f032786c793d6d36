"""Whoever watches is told of every backward pass that a program asks for."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
from retrograd.autograd.backward import WATCHERS
from retrograd.autograd.watching import watching
from retrograd.cli import _parser, _take_late_options

SOURCE = str(Path(torch.__file__).parent.parent)


def test_passes_are_told_with_their_line_and_their_leaves() -> None:
    passes: list[Any] = []
    over: list[Any] = []
    model = torch.nn.Sequential(torch.nn.Linear(2, 1))
    first = model[0]
    scale = torch.ones(1, requires_grad=True)
    loss = (model(torch.ones(3, 2)) * scale).sum()
    with watching(passes.append, over.append):
        loss.backward(retain_graph=True)
        line = inspect.currentframe().f_lineno - 1  # type: ignore[union-attr]
        torch.autograd.grad(loss, scale)
    loss_after = (scale * 2).sum()
    loss_after.backward()
    assert passes == over and len(passes) == 2 and not WATCHERS
    assert passes[0].outputs == (loss,) and passes[0].inputs is None
    assert passes[1].inputs == (scale,)
    assert (passes[0].site.code.co_filename, passes[0].site.line) == (__file__, line)
    leaves = passes[0].leaves()
    assert leaves["model.0.weight"] is first.weight and leaves["scale"] is scale
    assert list(leaves) == ["model.0.weight", "model.0.bias", "scale"]


def test_a_pass_that_fails_has_no_end_and_one_inside_another_is_passed_over() -> None:
    passes: list[Any] = []
    over: list[Any] = []
    x = torch.ones(1, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: torch.enable_grad()(lambda: (x * 3).sum().backward())())
    with watching(passes.append, over.append):
        y.sum().backward()
        with pytest.raises(RuntimeError, match="does not require grad"):
            torch.ones(()).backward()
    assert len(passes) == 2 and len(over) == 1


PROGRAM = """
import sys
import torch
w = torch.ones(3, requires_grad=True)
for step in range(int(sys.argv[1])):
    (w * step).sum().backward()
if "fail" in sys.argv:
    w.detach().sum().backward()
sys.exit(7)
"""


DRIVER = """
import sys
from retrograd.cli.watch import run_watched
ends = []

def report(seen):
    print("seen", seen.count, len(ends), *seen.last.leaves(), seen.first.site.line,
          seen.last.site.line) if seen.count else print("none")

for arguments in [["2"], ["0"], ["1", "fail"]]:
    ends.clear()
    try:
        print(run_watched((["script.py", *arguments], False, "explain"), report, end=ends.append))
    except SystemExit as exit:
        print("exit", exit)
"""


def test_a_program_is_run_and_reported_on(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(PROGRAM)
    done = subprocess.run([sys.executable, "-c", DRIVER], cwd=tmp_path, capture_output=True,
                          text=True, check=False, env={"PYTHONPATH": SOURCE})
    assert done.stdout.splitlines() == ["seen 2 2 w 6 6", "exit 7", "none", "exit 7",
                                        "seen 2 1 w 6 8", "1"], done.stderr
    assert f'{tmp_path / "script.py"}", line 8' in done.stderr


@pytest.mark.parametrize("command", ["run script.py -- -x 3", "run -m module -o y"])
def test_what_follows_a_program_is_its_own_where_the_command_has_no_options(command: str) -> None:
    options = _parser().parse_args(command.split())
    before = [*(options.module or options.program)]
    _take_late_options(options)
    assert (options.module or options.program) == before


def test_commands_on_programs_that_are_not_there_or_have_no_graph(tmp_path: Path) -> None:
    """One sentence each, and no traceback of the command's own."""
    def told(*command: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "retrograd", *command], capture_output=True,
                              text=True, check=False, env={"PYTHONPATH": SOURCE})

    for command in ("run", "explain", "graph", "profile"):
        done = told(command, tmp_path / "nowhere.py")
        assert done.returncode == 2 and done.stdout == "" and done.stderr.splitlines() == [
            f"retrograd {command}: error: can't open file {str(tmp_path / 'nowhere.py')!r}: "
            "[Errno 2] No such file or directory"]
    script = tmp_path / "script.py"
    script.write_text("import torch\nw = torch.ones(2, requires_grad=True)\n"
                      "w.detach().sum().backward()\n")
    picture = tmp_path / "graph.html"
    done = told("graph", "-o", picture, script)
    assert done.returncode == 1 and not picture.exists()
    assert done.stderr.count("Traceback") == 1  # the program's
    assert done.stderr.endswith("retrograd graph: error: there is no graph to draw: the tensor "
                                "does not require grad and does not have a grad_fn\nIt was cut off "
                                f'here:\n  File "{script}", line 3, in <module>\n'
                                "    w.detach().sum().backward()\n")
