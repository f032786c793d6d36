"""The command line: the demo trains, reports and draws; bad arguments are explained."""

import io
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

import retrograd
from retrograd.cli import main
from retrograd.cli.demo import split_digits
from retrograd.cli.progress import Progress, RichProgress, bar, progress
from retrograd.viz._charts import line_chart

SVG = "{http://www.w3.org/2000/svg}"


def accuracy(text, kind):
    return float(re.search(rf"{kind} accuracy\s+([\d.]+)%", text).group(1))


def test_the_demo_reads_unseen_digits(tmp_path, capsys):
    picture = tmp_path / "loss.svg"
    assert main(["demo", "--output", str(picture)]) == 0
    printed = capsys.readouterr().out
    assert accuracy(printed, "test") >= 97
    assert accuracy(printed, "train") >= 99
    assert float(re.search(r"took ([\d.]+) s", printed).group(1)) < 30
    root = ElementTree.parse(picture).getroot()
    curves = root.findall(f"{SVG}polyline")
    assert len(curves) == 2
    assert all(len(curve.get("points").split()) == 13 for curve in curves)


def test_the_demo_repeats_itself(tmp_path):
    def run():
        command = [sys.executable, "-m", "retrograd", "demo", "--epochs", "1", "--seed", "3"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        return re.sub(r"took .*", "", done.stdout)

    first = run()
    assert run() == first
    assert "\r" not in first and "epoch  1/1" in first
    assert (tmp_path / "retrograd-demo.svg").exists()


def test_the_demo_leaves_the_number_of_threads_alone(tmp_path):
    before = retrograd.get_num_threads()
    main(["demo", "--epochs", "1", "--output", str(tmp_path / "loss.svg")])
    assert retrograd.get_num_threads() == before


def test_no_digit_is_in_both_parts():
    train, test = split_digits()
    assert not set(train.indices) & set(test.indices)
    assert sorted(train.indices + test.indices) == list(range(1797))
    assert len(test) == 359


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["demo", "--epochs", "0"], "argument --epochs: expected at least 1, got 0"),
        (["demo", "--epochs", "many"], "argument --epochs: expected a whole number, got 'many'"),
        (["demo", "--seed", "-1"], "argument --seed: expected a number from 0"),
        (["demo", "--output", "loss.png"], "expected a name that ends in .svg, got 'loss.png'"),
        (["demo", "--output", "/nowhere/loss.svg"], "there is no directory '/nowhere'"),
        (["paint"], "invalid choice: 'paint'"),
        (["demo", "--colour"], "unrecognized arguments: --colour"),
    ],
)
def test_bad_arguments(arguments, message, capsys):
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2
    assert message in capsys.readouterr().err


def test_an_unwritable_picture_is_an_error(tmp_path, capsys, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied", "loss.svg")

    monkeypatch.setattr("pathlib.Path.write_text", refuse)
    assert main(["demo", "--epochs", "1", "--output", str(tmp_path / "loss.svg")]) == 1
    assert "Permission denied: 'loss.svg'" in capsys.readouterr().err


def test_without_a_command_the_help_is_shown(capsys):
    assert main([]) == 0
    assert "demo" in capsys.readouterr().out


# ---------------------------------------------------------------- progress


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def test_bars_fill_in_eighths():
    assert bar(0, 4) == "    "
    assert bar(0.5, 4) == "██  "
    assert bar(1 / 32, 4) == "▏   "
    assert bar(1, 4) == bar(2, 4) == "████"


def test_a_terminal_gets_a_live_bar():
    stream = Terminal()
    progress = Progress(2, stream)
    progress.advance("loss 1")
    progress.line("half")
    progress.advance("loss 0")
    progress.close()
    text = stream.getvalue()
    assert "100%" in text and "loss 0" in text and text.count("\r") >= 4
    assert text.endswith("\r\x1b[K")


def test_other_streams_get_plain_lines():
    stream = io.StringIO()
    progress = Progress(2, stream)
    progress.advance("loss 1")
    progress.line("half")
    progress.close()
    assert stream.getvalue() == "half\n"


@pytest.fixture(params=["rich", "plain"])
def terminal(request, monkeypatch):
    """A terminal, where rich is installed or not."""
    if request.param == "plain":
        monkeypatch.setattr("retrograd.cli.progress.find_spec", lambda name: None)
    stream = Terminal()
    assert isinstance(progress([], stream=stream).shown, RichProgress) == (request.param == "rich")
    return stream


def test_a_loop_shows_how_far_it_has_come(terminal):
    loader = retrograd.utils.data.DataLoader(range(6), batch_size=2)
    batches = progress(loader, "reading", stream=terminal)
    for _ in range(2):  # as often as the loader itself
        found = []
        for batch in batches:
            found.append(batch.tolist())
            batches.note("loss 0.5")
        batches.line("finished")
        assert found == [[0, 1], [2, 3], [4, 5]]
    text = terminal.getvalue()
    assert len(batches) == 3 and "100%" in text and "loss 0.5" in text and "reading" in text
    assert text.count("finished\n") == 2


@pytest.mark.parametrize("leave", ["break", "raise"])
def test_a_bar_goes_when_its_loop_is_left(terminal, leave):
    with suppress(ZeroDivisionError):
        for item in progress(iter(range(100)), stream=terminal):
            if item == 50 and leave == "break":
                break
            1 / (50 - item)
    assert terminal.getvalue().endswith(("\x1b[K", "\x1b[?25h", "\x1b[2K"))


def test_a_loop_is_quiet_unless_it_is_asked():
    stream, terminal = io.StringIO(), Terminal()
    assert list(progress(range(20), stream=stream)) == list(range(20))
    assert list(progress(range(20), stream=terminal, show=False)) == list(range(20))
    assert stream.getvalue() == terminal.getvalue() == ""
    for _ in progress(range(20), "going", stream=stream, show=True):
        pass
    lines = stream.getvalue().splitlines()
    assert len(lines) == 10 and lines[0].startswith("going   10%") and "100%" in lines[-1]
    for _ in progress((i for i in range(5)), stream=stream, show=True):
        pass
    assert [line.split()[:2] for line in stream.getvalue().splitlines()[10:]] == \
        [[n, "steps"] for n in "124"]


# ---------------------------------------------------------------- the picture


def drawn(series, **labels):
    options = {"title": "t", "subtitle": "s", "x_label": "x", "y_label": "y", **labels}
    return ElementTree.fromstring(line_chart(series, **options))


def test_higher_losses_are_drawn_higher():
    root = drawn({"a": [(0, 2.0), (1, 0.5), (2, 0.05)]})
    (curve,) = root.findall(f"{SVG}polyline")
    places = [tuple(map(float, point.split(","))) for point in curve.get("points").split()]
    assert places == sorted(places)
    steps = [b[1] - a[1] for a, b in pairwise(places)]
    assert all(step > 0 for step in steps)
    ticks = [text.text for text in root.findall(f"{SVG}text")]
    assert {"0.05", "0.1", "1", "2", "a", "0"} <= set(ticks)


def test_everything_is_inside_the_picture_and_labels_keep_apart():
    root = drawn({"a": [(0, 1.0), (30, 0.001)], "b": [(0, 2.0), (30, 0.00101)]}, title="a < b & c")
    width, height = float(root.get("width")), float(root.get("height"))
    for text in root.findall(f"{SVG}text"):
        assert 0 < float(text.get("x")) < width and 0 < float(text.get("y")) < height
    labels = [t for t in root.findall(f"{SVG}text") if t.text in "ab"]
    first, second = (float(label.get("y")) for label in labels)
    assert abs(first - second) >= 17
    assert root.find(f"{SVG}title").text == "a < b & c"


@pytest.mark.parametrize("points", [[(0, 1.0)], [(0, 1.0), (1, 0.0)], [(0, 3.0), (1, 3.0)]])
def test_odd_curves_are_drawn(points):
    assert len(drawn({"a": points}).findall(f"{SVG}polyline")) == 1


def test_nothing_to_draw_is_an_error():
    with pytest.raises(ValueError, match="at least one positive, finite value"):
        drawn({"a": [(0, 0.0)]})


# ---------------------------------------------------------------- the README


def readme_programs():
    text = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


@pytest.mark.parametrize("program", readme_programs())
def test_programs_of_the_readme_run_and_print_what_it_says(program, capsys):
    exec(compile(program, "README.md", "exec"), {})
    promised = [line.split("#")[1].strip() for line in program.splitlines() if "print(" in line]
    assert capsys.readouterr().out.splitlines() == promised
