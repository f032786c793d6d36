"""Generated code can be seen: by inspect, debuggers, tracebacks, the environment and the command.

And it can be left out: every call then takes the general path.
"""

from __future__ import annotations

import inspect
import io
import linecache
import os
import pdb
import pickle
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
from retrograd.backend import xp
from retrograd.base import sources
from retrograd.cli import main
from retrograd.codegen import general_path, node_class
from retrograd.codegen.names import functions_called, near, ops_of
from retrograd.core.op import REGISTRY, Array, elementwise
from retrograd.core.saved_values import pull_on_tensors


def lines_of(code):
    """The lines that a program prints on its standard output and standard error."""
    name, _, text = code.partition(":")
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True,
                         env={**os.environ, **dict([name.split("=")])})
    return ran.stdout.splitlines(), ran.stderr.splitlines()


@pytest.fixture
def fresh():
    """An op that was never called."""
    @elementwise(function=None, method=False, inplace=True)
    def shown_once(input: Array) -> Any:
        return xp.sin(input)

    op = shown_once.op
    try:
        yield shown_once
    finally:
        REGISTRY.pop("shown_once")
        delattr(torch.Tensor, "shown_once_")
    assert op.function is shown_once


def test_a_function_has_source_before_its_first_call(fresh):
    before = fresh.__code__
    text = inspect.getsource(fresh)
    assert text.startswith("def shown_once(") and "call(shown_once_op" in text
    assert fresh.__code__ is not before, "asking for the source compiles it"
    assert inspect.getsource(fresh) == text
    assert inspect.getsource(fresh.op.inplace_function).startswith("def shown_once_(")


@pytest.mark.parametrize("function", [torch.sin, torch.mm, torch.Tensor.add_, torch.Tensor.__mul__,
                                      torch.Tensor.unbind])
def test_source_outlives_a_check_of_the_cache(function):
    text = inspect.getsource(function)
    linecache.checkcache()
    assert inspect.getsource(function) == text
    assert text.startswith("def ")
    lines, first = inspect.getsourcelines(function)
    assert "".join(lines) == text and first == 1


def test_the_source_that_is_shown_is_what_runs():
    torch.sin(torch.ones(3))
    code = torch.sin.__code__
    made = compile("".join(linecache.getlines(code.co_filename)), code.co_filename, "exec")
    shown = next(c for c in made.co_consts if inspect.iscode(c))
    assert shown.co_code == code.co_code and shown.co_filename == code.co_filename


def test_every_function_of_an_op_has_a_file_of_its_own():
    x = torch.ones(3, requires_grad=True)
    (x * torch.ones(2, 3)).sum().backward()
    (x * x).sum().backward()
    codes = [torch.mul.__code__, torch.Tensor.__mul__.__code__]
    for variant in ("lean", "real", "complex"):
        node = node_class(torch.mul.op, variant)
        codes += [node.pull.__code__, node.pass_on.__code__]
    codes.append(node.replay.__code__)
    assert len({code.co_filename for code in codes}) == len(codes)
    for code in codes:
        assert inspect.getsource(code).split("(")[0] == f"def {code.co_name.strip('_')}" or \
            code.co_name == "mul"


def test_two_sources_of_one_label_are_told_apart():
    one = sources.keep("test label", ["def f():", "    return 1"])
    two = sources.keep("test label", ["def f():", "    return 2"])
    assert one != two
    assert sources.keep("test label", ["def f():", "    return 2"]) == two
    assert linecache.getline(one, 2) == "    return 1\n"
    assert linecache.getline(two, 2) == "    return 2\n"


def test_tracebacks_show_generated_lines():
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    y.detach().mul_(2)
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()
    text = "".join(traceback.format_exception(caught.value))
    # Where other tests had another source of this name, a number follows it.
    assert '<retrograd exp real pass_on' in text and "stale_output(self)" in text


def test_the_line_of_the_user_is_still_found():
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    y.detach().mul_(2)
    with pytest.raises(RuntimeError, match=r"test_generated_code\.py.*\n.*y = x\.exp\(\)"):
        y.sum().backward()


def test_a_debugger_steps_through_generated_lines():
    x = torch.ones(3)
    torch.sin(x)
    out = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO("step\nnext\nnext\nlist 1, 3\ncontinue\n"), stdout=out,
                       nosigint=True, readrc=False)
    debugger.use_rawinput = False
    debugger.runcall(lambda: torch.sin(x))
    text = out.getvalue()
    assert "<retrograd sin>" in text
    assert "-> def sin(input" in text or "-> if " in text or "-> a_input" in text
    assert "def sin(input" in text and "a_input" in text


def test_a_source_that_cannot_be_written_says_why():
    def refuse():
        raise TypeError("no such rule")

    sources.Unwritten("<retrograd refused>", refuse)
    try:
        assert linecache.getlines("<retrograd refused>")[0] == "# no code: no such rule\n"
    finally:
        linecache.cache.pop("<retrograd refused>")


def test_functions_can_still_be_pickled_and_compiled_by_threads(fresh):
    assert pickle.loads(pickle.dumps(torch.sin)) is torch.sin
    found = []
    x = torch.ones(3)

    def work():
        found.append((inspect.getsource(fresh), fresh(x).tolist()))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and all(item == found[0] for item in found)


# ---------------------------------------------------------------- names


@pytest.mark.parametrize("name, ops", [
    ("sum", {"_sum", "_sum_dims"}), ("torch.sum", {"_sum", "_sum_dims"}),
    ("Tensor.sum", {"_sum", "_sum_dims"}), ("retrograd.sin", {"sin"}), ("Tensor.add_", {"add"}),
    ("torch.Tensor.add_", {"add"}), ("nn.functional.relu", {"relu"}), ("F.relu", {"relu"}),
    ("torch.nn.functional.relu", {"relu"}), ("nn.functional.sigmoid", {"sigmoid"}),
    ("_sum_dims", {"_sum_dims"}), ("__mul__", {"mul"}), ("torch.linalg.det", {"_det"}),
    ("torch.dropout", {"mul", "transpose"}), ("F.threshold", set()), ("threshold", {"threshold"}),
])
def test_a_name_stands_for_ops(name, ops):
    found = {op.name for function in functions_called(name).values() for op in ops_of(function)}
    assert found == ops


def test_ops_by_way_of_other_composites_are_found_where_that_is_asked():
    function = torch.nn.functional.triplet_margin_with_distance_loss
    own = {op.name for op in ops_of(function, through_composites=False)}
    assert own == {"_clamp_min_number", "minimum"}
    assert own | {"_mean", "_sum"} < {op.name for op in ops_of(function)}


def test_an_unknown_name_stands_for_nothing():
    assert functions_called("sinn") == functions_called("linalg.sin") == {}
    assert "sin" in near("torch.sinn")


def test_the_environment_names_functions_whose_code_is_printed():
    program = ("import retrograd as t\n"
               "x = t.ones(2, 3, requires_grad=True)\n"
               "(x + 1).sum().backward()\n"
               "t.func.vmap(t.sum)(x)\n"
               "t.celu(x)\n")  # a name of two functions, one of which is the op
    printed, said = lines_of(f"RETROGRAD_SHOW_CODE=torch.sum, sinn,Tensor.cos,celu:{program}")
    shown = {line for line in printed if line.startswith("# <retrograd ")}
    assert {"# <retrograd _sum>", "# <retrograd _sum real pass_on>",
            "# <retrograd _sum traced call>", "# <retrograd celu>"} <= shown
    assert not any(" add" in line for line in shown)
    assert any(line.startswith("def _sum(") for line in printed)
    assert len(said) == 2
    assert "'sinn': there is no such function; near it: sin" in said[0]
    assert "'Tensor.cos': none of its ops was used" in said[1]


# ---------------------------------------------------------------- retrograd show


def test_show_prints_declaration_rules_and_code(capsys):
    assert main(["show", "sin"]) == 0
    text = capsys.readouterr().out
    kernel = inspect.getsourcefile(torch.sin.op.kernel)
    line = inspect.getsourcelines(torch.sin.op.kernel)[1]
    for part in (f"# {kernel}, line {line}\n", "@elementwise(", "sin.vjp(input=lambda g",
                 "\ndef sin(input", "\ndef sin_(input", "\ndef pass_on(self", "\ndef pull(self",
                 "\ndef replay(self", "\ndef call(args, m)", "\ndef pull(self, g, wanted"):
        assert part in text, part


def test_show_follows_a_composite_to_its_ops(capsys):
    assert main(["show", "torch.sum"]) == 0
    text = capsys.readouterr().out
    assert "torch.sum: a function made of _sum, _sum_dims" in text
    assert "\ndef sum(input" in text and "\ndef _sum_dims(input" in text


def test_show_explains_a_misspelt_name(capsys):
    assert main(["show", "sin", "torch.sinn"]) == 1
    printed = capsys.readouterr()
    assert "torch.sin: an op" in printed.out
    assert "there is no function called 'torch.sinn'; near it: sin" in printed.err


@pytest.mark.parametrize("name", ["mul", "cat", "max", "layer_norm", "svd", "bernoulli", "where",
                                  "Tensor.__getitem__", "Tensor.backward", "split", "xlogy"])
def test_show_has_something_to_say_of_any_kind_of_function(name, capsys):
    assert main(["show", name]) == 0
    assert "its source is not at hand" not in capsys.readouterr().out


# ---------------------------------------------------------------- the general path


def gradient_of(function, x):
    x = x.detach().requires_grad_()
    y = function(x)
    y.sum().backward()
    return y, x.grad


def test_the_general_path_can_be_all_there_is():
    x = torch.randn(4)
    fast, expected = gradient_of(lambda x: (x.sin() * x).exp(), x)
    with general_path():
        assert "_data" not in inspect.getsource(torch.sin)
        assert inspect.getsource(torch.sin) != inspect.getsource(torch.Tensor.sin_)
        y, grad = gradient_of(lambda x: (x.sin() * x).exp(), x)
        assert type(y.grad_fn).pull is pull_on_tensors
        assert type(y.grad_fn).__name__ == "ExpBackward0"
    assert "_data" in inspect.getsource(torch.sin)
    assert type(fast.grad_fn).pull is not pull_on_tensors
    assert torch.equal(y, fast) and torch.equal(grad, expected)


def test_the_switch_is_a_function_too_and_nests():
    try:
        general_path(True)
        with general_path(False):
            assert "_data" in inspect.getsource(torch.mul)
        assert "_data" not in inspect.getsource(torch.mul)
    finally:
        general_path(False)
    assert "_data" in inspect.getsource(torch.mul)


def test_transforms_take_the_general_path_too():
    x = torch.randn(3, 4)
    quick = torch.func.jacrev(torch.tanh)(x), torch.vmap(torch.sin)(x)
    with general_path():
        slow = torch.func.jacrev(torch.tanh)(x), torch.vmap(torch.sin)(x)
    assert all(torch.equal(a, b) for a, b in zip(quick, slow))


def test_the_core_works_by_the_general_path_alone():
    """Backward then runs the rules as they are declared."""
    tests = Path(__file__).parent
    files = [str(tests / f"test_{name}.py") for name in ("engine", "inplace", "views", "hooks",
                                                         "forward_ad")]
    ran = subprocess.run([sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider",
                          *files], capture_output=True, text=True, cwd=tests.parent,
                         env={**os.environ, "RETROGRAD_GENERAL": "1"})
    assert ran.returncode == 0, ran.stdout[-3000:]
