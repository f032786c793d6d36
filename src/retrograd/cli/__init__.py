"""The ``retrograd`` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.command is None:
        parser.print_help()
        return 0
    if "program" in options:
        _take_late_options(options)
    from .run import CannotRun

    try:
        return options.run(import_module(f".{options.home}", __package__), options)
    except CannotRun as error:
        words, status = error.args
        print(f"retrograd {options.command}: error: {words}", file=sys.stderr)
        return status
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return 130
    except OSError as error:
        print(f"retrograd {options.command}: error: {error}", file=sys.stderr)
        return 1


def _program(options: argparse.Namespace) -> tuple[list[str], bool, str]:
    """The program that a command is to run, whether it is a module, and the command's name."""
    if not options.program and not options.module:
        options.parser.error("expected a script, or -m and a module")
    return options.module or options.program, bool(options.module), options.command


def _take_late_options(options: argparse.Namespace) -> None:
    """Take the options of a command that were written after the script or module it runs.

    What follows ``--``, and what the command does not know, goes to the program.
    """
    name = "module" if options.module else "program"
    given = getattr(options, name)
    end = given.index("--") if "--" in given else len(given)
    late = argparse.ArgumentParser(add_help=False, allow_abbrev=False, prog=options.parser.prog,
                                   argument_default=argparse.SUPPRESS)
    own = [action for action in options.parser._actions
           if action.option_strings and action.dest not in ("help", "module")]
    if own:
        for action in own:
            late._add_action(action)
        _, rest = late.parse_known_args(given[1:end], options)
        setattr(options, name, [*given[:1], *rest, *given[end + 1:]])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="retrograd",
        description="Automatic differentiation with PyTorch's API, on NumPy arrays.")
    commands = parser.add_subparsers(dest="command", metavar="command")
    demo = commands.add_parser(
        "demo", help="train a digit classifier, draw its loss curve and write a report",
        description="Train a small convolutional network on 1,797 handwritten digits, a fifth of "
        "them held out; write a picture of the loss curve, and beside it, with the ending .html, a "
        "report with curves, the graph of a step and examples.")
    demo.add_argument("--epochs", type=_positive, default=12,
                      help="passes over the training data (default: 12)")
    demo.add_argument("--seed", type=_seed, default=0,
                      help="seed of split, weights and order (default: 0)")
    demo.add_argument(
        "--output", type=_path_ending(".svg"), default=Path("retrograd-demo.svg"),
        help="where to write the loss curve, an SVG file (default: retrograd-demo.svg)")
    demo.set_defaults(home="demo", run=lambda demo, options: demo.run_demo(
        options.epochs, options.seed, options.output))
    graph = commands.add_parser(
        "graph", help="run a PyTorch program and draw the graph of a backward pass",
        usage="retrograd graph [-h] [-o file] [--pass number] (script | -m module) [argument ...]",
        description="Run an unmodified program as `retrograd run` does, and write the graph of one "
        "of its backward passes: a page to explore it (.html), or a picture (.svg).")
    graph.add_argument("-o", "--output", type=_path_ending(".html", ".svg"),
                       default=Path("graph.html"), help="where to write it (default: graph.html)")
    graph.add_argument("--pass", dest="which", type=_positive, default=1, metavar="number",
                       help="which backward pass to draw (default: 1, the first)")
    _takes_program(graph, "graph", lambda graph, options: graph.graph_program(
        _program(options), options.output, options.which))
    run = commands.add_parser(
        "run", help="run a PyTorch program with retrograd in PyTorch's place",
        usage="retrograd run [-h] (script | -m module) [argument ...]",
        description="Run an unmodified program in which `import torch` and everything below it "
        "gives retrograd. The names of torch that it looked for in vain are listed at the end.")
    _takes_program(run, "run", lambda run, options: run.run(*_program(options)))
    explain = commands.add_parser(
        "explain", help="run a program and say which parameters its gradients reach, and why not",
        usage="retrograd explain [-h] [--at {first,last}] (script | -m module) [argument ...]",
        description="Run a program as `retrograd run` does, then print for each parameter of its "
        "last backward pass whether a gradient reaches it and along which path, or the line that "
        "cut it off. Arguments after -- are the program's.")
    explain.add_argument("--at", choices=("first", "last"), default="last",
                         help="which backward pass to explain (default: last)")
    _takes_program(explain, "explain", lambda explain, options: explain.explain(
        _program(options), options.at))
    profile = commands.add_parser(
        "profile", help="run a program and print what its ops cost, forward and backward",
        usage="retrograd profile [-h] [-o TRACE] [--by WHAT] [--sort KEY] [--rows N] "
        "(script | -m module) [argument ...]",
        description="Run a program as `retrograd run` does, and print a table of its ops at the "
        "end: time by themselves and in all, memory of their results, calls.")
    profile.add_argument("-o", "--output", type=_path_ending(".json", ".json.gz"), metavar="TRACE",
                         help="also write a trace (.json or .json.gz) for chrome://tracing")
    profile.add_argument("--by", choices=("op", "line", "module"), default="op",
                         help="a row for each op, for each line of the program or for each module; "
                         "the latter two have the backward passes of their ops (default: op)")
    profile.add_argument("--sort", default="self_cpu_time_total", metavar="KEY", choices=(
        "self_cpu_time_total", "cpu_time_total", "cpu_time", "count", "cpu_memory_usage",
        "self_cpu_memory_usage"),
        help="self_cpu_time_total (the default), cpu_time_total, cpu_time, count, cpu_memory_usage "
        "or self_cpu_memory_usage")
    profile.add_argument("--rows", type=_positive, default=30, metavar="N",
                         help="how many rows (default: 30)")
    _takes_program(profile, "profile", lambda profile, options: profile.profile_program(
        _program(options), options.by, options.sort, options.rows, options.output))
    bench = commands.add_parser(
        "bench", help="time programs side by side in every library that is installed",
        description="Time programs of the benchmark suite in retrograd and in whichever of "
        "PyTorch, JAX, autograd, tinygrad and MyGrad are installed, after comparing what they "
        "compute. The suite is in a checkout of the source, not in the installed package.")
    bench.add_argument("--only", metavar="PATTERN",
                       help="the programs whose name this regular expression is found in "
                       "(default: those that every library has)")
    bench.add_argument("--all", action="store_true", help="every program: takes minutes")
    bench.add_argument("--list", action="store_true", help="print the names of the programs")
    bench.add_argument("--threads", type=_positive, default=2,
                       help="threads of each library (default: 2)")
    bench.add_argument("--seconds", type=float, default=1.0, help="time for each program")
    bench.set_defaults(home="bench", run=lambda bench, options: bench.bench(
        ".*" if options.all else options.only, options.threads, options.seconds, options.list))
    doctor = commands.add_parser(
        "doctor", help="list the names of torch that a program uses, and which are missing",
        description="List, without running anything, the names of torch that programs use and "
        "which of them are missing. Methods of tensors can only be guessed. The exit status is 1 "
        "if a name is missing.")
    doctor.add_argument("names", nargs="+", metavar="path", help="a Python file or a folder")
    doctor.add_argument("--json", action="store_true", help="print JSON, with every place")
    doctor.set_defaults(home="doctor",
                        run=lambda doctor, options: doctor.doctor(options.names, options.json))
    show = commands.add_parser(
        "show", help="print how a function is declared and the code generated for it",
        description="Print the declaration of a function (kernel and derivative rules, with file "
        "and line) and the code that is generated for it: call, backward, in-place, transforms.")
    show.add_argument("names", nargs="+", metavar="name",
                      help="such as sum, torch.sum, Tensor.add_ or nn.functional.relu")
    show.set_defaults(home="show",
                      run=lambda show, options: max(show.show(name) for name in options.names))
    return parser


def _takes_program(parser: argparse.ArgumentParser, home: str,
                   run: Callable[[Any, argparse.Namespace], int]) -> None:
    """Have a command, which ``run`` calls in the module ``home``, take a program."""
    parser.add_argument("-m", dest="module", nargs=argparse.REMAINDER, default=[],
                        metavar=("module", "argument"),
                        help="a module or package, and its arguments")
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="script argument ...",
                        help="a file, or a folder or zip file with a __main__.py; and its "
                        "arguments")
    parser.set_defaults(home=home, run=run, parser=parser)


def _positive(text: str) -> int:
    value = _whole_number(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, got {value}")
    return value


def _seed(text: str) -> int:
    value = _whole_number(text)
    if not 0 <= value < 2**63:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 2**63 - 1, got {value}")
    return value


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, got {text!r}") from None


def _path_ending(*endings: str) -> Callable[[str], Path]:
    return lambda text: _path(text, *endings)


def _path(text: str, *endings: str) -> Path:
    """The name of a file to be written, with one of these endings."""
    path = Path(text)
    if not path.name.lower().endswith(endings):
        raise argparse.ArgumentTypeError(
            f"expected a name that ends in {' or '.join(endings)}, got {text!r}")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no directory {str(path.parent)!r}")
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is a directory")
    return path
