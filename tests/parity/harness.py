"""Runs one program under PyTorch and under retrograd and compares what each of them observed.

A program is a function of ``torch`` (the library that runs it) and ``log`` (a ``Log``). Whatever it
logs, returns, prints, warns about or raises is turned at once into plain data, so that a later
in-place write cannot change an earlier observation; the two records are then compared.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import inspect
import io
import math
import os
import re
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

# Setting PARITY_SUBJECT=torch compares PyTorch with itself, which shows flaky programs.
SUBJECT = os.environ.get("PARITY_SUBJECT", "retrograd")

TOLERANCES = {
    "torch.float64": (1e-9, 1e-11),
    "torch.complex128": (1e-9, 1e-11),
    "torch.float32": (1e-5, 1e-6),
    "torch.complex64": (1e-5, 1e-6),
    "torch.float16": (2e-3, 1e-3),
    "torch.bfloat16": (2e-2, 1e-2),
}
PYTHON_FLOAT_TOLERANCE = (1e-5, 1e-7)
SHOWN_DIFFERENCES = 6


# ---------------------------------------------------------------------------------------------
# Observations: plain data that can be compared after the program has gone on


@dataclasses.dataclass(frozen=True)
class TensorFacts:
    """What is compared of a tensor, in the order in which differences are reported."""

    type: str
    dtype: str
    shape: tuple[int, ...]
    values: Any
    requires_grad: bool
    is_leaf: bool
    grad_fn: tuple[str, str] | None
    version: Any


@dataclasses.dataclass(frozen=True)
class ValueFacts:
    """What is compared of a tensor whose graph and version are incidental."""

    dtype: str
    shape: tuple[int, ...]
    values: Any


@dataclasses.dataclass(frozen=True)
class ArrayFacts:
    """What is compared of a NumPy array."""

    dtype: str
    shape: tuple[int, ...]
    values: Any


@dataclasses.dataclass(frozen=True)
class Raised:
    """An exception: its type's name and its message."""

    type: str
    message: str


@dataclasses.dataclass(frozen=True)
class Warned(Raised):
    """A warning, and the line of the program that it names; a library's own lines are nothing."""

    place: tuple[str, int] | None = None


@dataclasses.dataclass(frozen=True)
class Named:
    """A value of which only a description is compared."""

    kind: str
    text: str


@dataclasses.dataclass(frozen=True)
class Observation:
    """One logged value and the line that logged it."""

    line: int
    label: str
    value: Any


@dataclasses.dataclass
class Record:
    """Everything one library showed of a program."""

    observations: list[Observation]
    printed: str
    warned: list[Warned]
    raised: Raised | None
    trace: str = ""


def is_tensor(value: Any) -> bool:
    """Whether ``value`` is a tensor of either library."""
    return any(c.__name__ == "Tensor" and _is_library(c.__module__) for c in type(value).__mro__)


def _is_library(module: str) -> bool:
    return module.split(".")[0] in ("torch", SUBJECT)


def _version_of(tensor: Any) -> Any:
    try:
        version = tensor._version
    except RuntimeError:
        return "inference"
    # How often a gradient was written while it was accumulated is the engine's own affair, and a
    # gradient cannot be told from other tensors outside the graph: programs log those versions.
    return version if tensor.requires_grad else None


def values_of(tensor: Any) -> Any:
    """The elements as nested lists."""
    # PyTorch gives some zero gradients no memory until they take part in arithmetic.
    if getattr(tensor, "_is_zerotensor", bool)():
        tensor = tensor.detach() + 0
    return tensor.tolist()


def tensor_facts(tensor: Any) -> TensorFacts:
    """The facts of a tensor as they are now."""
    node = tensor.grad_fn
    return TensorFacts(
        type=type(tensor).__name__,
        dtype=str(tensor.dtype),
        shape=tuple(tensor.shape),
        values=values_of(tensor),
        requires_grad=tensor.requires_grad,
        is_leaf=tensor.is_leaf,
        grad_fn=None if node is None else (node.name(), type(node).__name__),
        version=_version_of(tensor),
    )


def hide_addresses(text: str) -> str:
    """``text`` with memory addresses replaced, since they differ from run to run."""
    return re.sub(r"0x[0-9a-fA-F]{6,}", "0x…", text)


def observe(value: Any) -> Any:
    """``value`` as plain data."""
    if value is None or type(value) in (bool, int, float, complex, bytes):
        return value
    if isinstance(value, str):
        return hide_addresses(value)
    if is_tensor(value):
        return tensor_facts(value)
    if isinstance(value, BaseException):
        return Raised(type(value).__name__, str(value))
    if isinstance(value, dict):
        return {observe(k): observe(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return _observe_sequence(value)
    if isinstance(value, (set, frozenset)):
        return sorted((observe(v) for v in value), key=repr)
    if type(value).__module__ == "numpy":
        return _observe_numpy(value)
    if isinstance(value, type):
        return Named("class", value.__name__)
    if hasattr(value, "next_functions"):
        return Named("node", f"{value.name()} {type(value).__name__}")
    if type(value).__name__ in ("dtype", "device", "layout", "memory_format"):
        return Named(type(value).__name__, str(value))
    if dataclasses.is_dataclass(value):
        fields = {f.name: observe(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return (Named("dataclass", type(value).__name__), fields)
    return Named(type(value).__name__, hide_addresses(repr(value)))


def _observe_sequence(value: Any) -> Any:
    items = tuple(observe(v) for v in value)
    kind = type(value).__name__
    if kind == "tuple":
        return items
    if kind == "list":
        return list(items)
    return (Named("sequence", kind), items)


def _observe_numpy(value: Any) -> Any:
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        return ArrayFacts(str(value.dtype), tuple(value.shape), value.tolist())
    return Named("numpy", hide_addresses(repr(value)))


class Log:
    """Takes a program's observations."""

    def __init__(self, library: str = SUBJECT) -> None:
        self.library = library
        self.observations: list[Observation] = []

    def __call__(self, *values: Any, **named: Any) -> None:
        """Record each value with everything that is compared of it."""
        line = sys._getframe(1).f_lineno
        for value in values:
            self._add(line, "", observe(value))
        for label, value in named.items():
            self._add(line, label, observe(value))

    def values(self, *tensors: Any) -> None:
        """Record dtype, shape and values only, where the graph and version are incidental."""
        line = sys._getframe(1).f_lineno
        for tensor in tensors:
            facts = ValueFacts(str(tensor.dtype), tuple(tensor.shape), values_of(tensor))
            self._add(line, "values", facts)

    def layout(self, *tensors: Any) -> None:
        """Record how each tensor lies in memory."""
        line = sys._getframe(1).f_lineno
        for tensor in tensors:
            facts = {
                "shape": tuple(tensor.shape),
                "stride": tuple(tensor.stride()),
                "storage_offset": tensor.storage_offset(),
                "is_contiguous": tensor.is_contiguous(),
            }
            self._add(line, "layout", facts)

    def graph(self, *tensors: Any) -> None:
        """Record the graph behind each tensor as nested node names."""
        line = sys._getframe(1).f_lineno
        for tensor in tensors:
            self._add(line, "graph", graph_of(tensor.grad_fn))

    def saved(self, *tensors: Any) -> None:
        """Record the ``_saved_*`` attributes of the node behind each tensor."""
        line = sys._getframe(1).f_lineno
        for tensor in tensors:
            node = tensor.grad_fn
            # Sizes and strides kept as "sym" values belong to PyTorch's compiler.
            names = [n for n in sorted(dir(node)) if n.startswith("_saved_") and "_sym_" not in n]
            self._add(line, "saved", {n: observe(getattr(node, n)) for n in names})

    def raises(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """Record the exception of ``call``, or its result if there was none."""
        line = sys._getframe(1).f_lineno
        try:
            result = observe(call(*args, **kwargs))
        except Exception as error:
            self._add(line, "raises", observe(error))
        else:
            self._add(line, "returns", result)

    def refuses(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """Record only the type of the exception of ``call``, where its wording is an internal."""
        line = sys._getframe(1).f_lineno
        try:
            result = call(*args, **kwargs)
        except Exception as error:
            self._add(line, "refuses", type(error).__name__)
        else:
            self._add(line, "returns", observe(result))

    def warns(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """Record what ``call`` warned about, apart from the program's other warnings."""
        line = sys._getframe(1).f_lineno
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = call(*args, **kwargs)
        self._add(line, "warns", ([_warned(w) for w in caught], observe(result)))

    def differs(self, value: Any, *, torch: Any, retrograd: Any) -> None:
        """State a deliberate difference: what ``value`` is in each library (see DIFFERENCES.md)."""
        stated, observed = observe({"torch": torch}.get(self.library, retrograd)), observe(value)
        if any(differences(stated, observed)):
            raise AssertionError(f"{self.library} is stated to give {_show(stated)}, but gave "
                                 f"{_show(observed)}")
        self._add(sys._getframe(1).f_lineno, "stated difference", "as stated")

    def _add(self, line: int, label: str, value: Any) -> None:
        self.observations.append(Observation(line, label, value))


def graph_of(node: Any) -> Any:
    """The names of ``node`` and, nested below it, of the nodes it passes gradients to."""
    if node is None:
        return None
    return [node.name(), [(graph_of(n), nr) for n, nr in node.next_functions]]


# ---------------------------------------------------------------------------------------------
# Running


def run(program: Callable[..., Any], library: types.ModuleType, *args: Any) -> Record:
    """Run ``program`` under ``library`` and return what it showed."""
    log = Log(library.__name__)
    printed = io.StringIO()
    raised, trace = None, ""
    with warnings.catch_warnings(record=True) as caught, _fresh_state(library):
        warnings.simplefilter("always")
        with contextlib.redirect_stdout(printed):
            try:
                result = _call(program, library, log, args)
                if result is not None:
                    log(returned=result)
                del result
            except Exception as error:
                raised = Raised(type(error).__name__, str(error))
                trace = traceback.format_exc()
    warned = [_warned(w) for w in caught if not _about_pytorch(w)]
    return Record(log.observations, hide_addresses(printed.getvalue()), warned, raised, trace)


def _warned(warning: warnings.WarningMessage) -> Warned:
    folder, _, file = warning.filename.rpartition("/")
    # NumPy names the line that called it, here or there.
    place = (file, warning.lineno) if folder.endswith("/tests/parity") \
        and warning.category is not RuntimeWarning else None
    return Warned(warning.category.__name__, str(warning.message), place)


def _about_pytorch(warning: warnings.WarningMessage) -> bool:
    """Whether the fault found is PyTorch's own: NumPy's protocols, or a compiler it uses inside."""
    return str(warning.message).startswith(("__array_", "`torch.jit.script` is deprecated"))


def _call(program: Callable[..., Any], library: Any, log: Log, args: tuple[Any, ...]) -> Any:
    wants_log = "log" in inspect.signature(program).parameters
    return program(library, log, *args) if wants_log else program(library, *args)


@contextlib.contextmanager
def _fresh_state(library: Any) -> Iterator[None]:
    """Start from a known seed, and undo global settings that a program may have left changed."""
    library.manual_seed(0)
    try:
        yield
    finally:
        library.set_grad_enabled(True)
        library.set_default_dtype(library.float32)
        library.set_printoptions(profile="default")
        library.autograd.set_detect_anomaly(False)


def oracle() -> types.ModuleType:
    """PyTorch, set to warn every time instead of once per process."""
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    torch.set_warn_always(True)
    return torch


def subject() -> types.ModuleType:
    """The library under test."""
    library = importlib.import_module(SUBJECT)
    if hasattr(library, "set_warn_always"):
        library.set_warn_always(True)
    return library


# ---------------------------------------------------------------------------------------------
# Comparing


class Mismatch(AssertionError):
    """The two libraries showed different things."""


CUT_FROM_TORCH = (
    "\nException raised from",
    " (Triggered internally at",
    "\n(Triggered internally at",
    # The list of overloads and the traceback's frames are PyTorch's own.
    ", but expected one of:",
    " Traceback of forward call that caused the error:",
    "\nCompile with `TORCH_USE_CUDA_DSA`",
)


def essential(message: str) -> str:
    """PyTorch's message without what only makes sense inside PyTorch."""
    for marker in CUT_FROM_TORCH:
        message = message.split(marker)[0]
    return _sets_in_order(hide_addresses(message)).rstrip()


def _sets_in_order(message: str) -> str:
    """A message in which a set of words, which has another order in each process, is sorted."""
    return re.sub(r"\{('\w+'(?:, '\w+')*)\}",
                  lambda found: "{" + ", ".join(sorted(found[1].split(", "))) + "}", message)


def same_message(theirs: str, ours: str) -> bool:
    """Whether ``ours`` says what ``theirs`` says; it may go on after that."""
    wanted = essential(theirs)
    return _sets_in_order(hide_addresses(ours)).startswith(wanted) if wanted else not ours.strip()


def close(theirs: Any, ours: Any, tolerance: tuple[float, float]) -> bool:
    """Whether two nested lists of numbers agree; nan equals nan, integers must be equal."""
    if isinstance(theirs, (list, tuple)):
        return (
            isinstance(ours, (list, tuple))
            and len(theirs) == len(ours)
            and all(close(t, o, tolerance) for t, o in zip(theirs, ours))
        )
    if type(theirs) is not type(ours):
        return False
    if isinstance(theirs, complex):
        parts = ((theirs.real, ours.real), (theirs.imag, ours.imag))
        return all(_close_floats(t, o, tolerance, abs(theirs)) for t, o in parts)
    if isinstance(theirs, float):
        return _close_floats(theirs, ours, tolerance, abs(theirs))
    return bool(theirs == ours)


def _close_floats(theirs: float, ours: float, tolerance: tuple[float, float], scale: float) -> bool:
    if math.isnan(theirs) or math.isnan(ours):
        return math.isnan(theirs) and math.isnan(ours)
    if math.isinf(theirs) or math.isinf(ours):
        return theirs == ours
    relative, absolute = tolerance
    return abs(theirs - ours) <= absolute + relative * (scale if math.isfinite(scale) else 0.0)


def differences(theirs: Any, ours: Any, path: str = "") -> Iterator[str]:
    """Describe every difference between two observations, most telling first."""
    if type(theirs) is not type(ours):
        yield _unlike(path, "", theirs, ours)
    elif isinstance(theirs, (TensorFacts, ValueFacts)):
        yield from _tensor_differences(theirs, ours, path)
    elif isinstance(theirs, ArrayFacts):
        if (theirs.dtype, theirs.shape) != (ours.dtype, ours.shape):
            described = (theirs.dtype, theirs.shape), (ours.dtype, ours.shape)
            yield _unlike(path, "dtype and shape", *described)
        elif not close(theirs.values, ours.values, PYTHON_FLOAT_TOLERANCE):
            yield _unlike(path, "values", theirs.values, ours.values)
    elif isinstance(theirs, Raised):
        yield from _raised_differences(theirs, ours, path)
    elif isinstance(theirs, dict):
        yield from _dict_differences(theirs, ours, path)
    elif isinstance(theirs, (list, tuple)):
        if len(theirs) != len(ours):
            yield _unlike(path, "length", theirs, ours)
        else:
            for i, (t, o) in enumerate(zip(theirs, ours)):
                yield from differences(t, o, f"{path}[{i}]")
    elif isinstance(theirs, (float, complex)):
        if not close(theirs, ours, PYTHON_FLOAT_TOLERANCE):
            yield _unlike(path, "", theirs, ours)
    elif theirs != ours:
        yield _unlike(path, "", theirs, ours)


def _tensor_differences(theirs: Any, ours: Any, path: str) -> Iterator[str]:
    for field in dataclasses.fields(theirs):
        t, o = getattr(theirs, field.name), getattr(ours, field.name)
        if field.name == "values":
            same = close(t, o, TOLERANCES.get(theirs.dtype, (0.0, 0.0)))
        else:
            same = t == o
        if not same:
            yield _unlike(path, field.name, t, o)


def _raised_differences(theirs: Raised, ours: Raised, path: str) -> Iterator[str]:
    if theirs.type != ours.type:
        yield _unlike(path, "exception", theirs, ours)
    elif not same_message(theirs.message, ours.message):
        yield _unlike(path, "message", essential(theirs.message), ours.message)
    elif isinstance(theirs, Warned) and theirs.place not in (None, ours.place):
        yield _unlike(path, f"place of {theirs.message[:70]!r}", theirs.place, ours.place)


def _dict_differences(theirs: dict, ours: dict, path: str) -> Iterator[str]:
    if list(theirs) != list(ours):
        yield _unlike(path, "keys", list(theirs), list(ours))
    for key in theirs:
        if key in ours:
            yield from differences(theirs[key], ours[key], f"{path}[{key!r}]")


def _unlike(path: str, what: str, theirs: Any, ours: Any) -> str:
    where = " ".join(part for part in (path, what) if part)
    heading = f"{where}\n" if where else ""
    return f"{heading}      torch:     {_show(theirs)}\n      {SUBJECT + ':':<11}{_show(ours)}"


def _show(value: Any) -> str:
    if isinstance(value, Raised):
        return f"raised {value.type}: {value.message[:1500]}"
    if isinstance(value, Named):
        return f"{value.kind} {value.text}"
    return repr(value)[:1500]


def record_differences(theirs: Record, ours: Record) -> Iterator[str]:
    """Describe every difference between two runs of a program."""
    for t, o in zip(theirs.observations, ours.observations):
        where = f"line {t.line}{', ' + t.label if t.label else ''}: "
        if (t.line, t.label) != (o.line, o.label):
            yield f"{where}went another way, to line {o.line}, {o.label}: {_show(o.value)}" + (
                f"\n      torch:     {_show(t.value)}"
            )
            break
        for difference in differences(t.value, o.value):
            yield where + difference
    missing = len(theirs.observations) - len(ours.observations)
    if theirs.raised is None and ours.raised is not None:
        yield f"only {SUBJECT} raised {_show(ours.raised)}"
    elif theirs.raised is not None and ours.raised is None:
        yield f"only torch raised {_show(theirs.raised)}"
    elif theirs.raised is not None and ours.raised is not None:
        for difference in _raised_differences(theirs.raised, ours.raised, ""):
            yield f"at the end: {difference}"
    if missing and ours.raised is None:
        yield f"{SUBJECT} made {-missing:+d} observations"
    if theirs.printed != ours.printed:
        yield _unlike("", "printed", theirs.printed, ours.printed)
    yield from _warning_differences(theirs.warned, ours.warned)


def _warning_differences(theirs: list[Warned], ours: list[Warned]) -> Iterator[str]:
    if len(theirs) != len(ours):
        yield _unlike("", "warnings", theirs, ours)
    for t, o in zip(theirs, ours):
        yield from _raised_differences(t, o, "warning")


def compare(name: str, theirs: Record, ours: Record) -> None:
    """Raise ``Mismatch`` with the first differences, if there are any."""
    found = list(record_differences(theirs, ours))
    if not found:
        return
    lines = [f"{name}: {SUBJECT} differs from PyTorch"]
    lines += [f"  {i + 1}. {text}" for i, text in enumerate(found[:SHOWN_DIFFERENCES])]
    if len(found) > SHOWN_DIFFERENCES:
        lines.append(f"  and {len(found) - SHOWN_DIFFERENCES} more")
    if ours.raised is not None and ours.raised != theirs.raised:
        lines += ["", ours.trace.rstrip()]
    raise Mismatch("\n".join(lines))


def check(program: Callable[..., Any], *args: Any, name: str | None = None) -> None:
    """Run ``program`` under both libraries and raise ``Mismatch`` if they differ."""
    theirs = run(program, oracle(), *args)
    if theirs.raised is not None:
        # An expected error is logged with ``log.raises``; this one is a mistake in the program.
        raise Mismatch(f"{name or program.__name__} fails under PyTorch:\n{theirs.trace}")
    ours = run(program, subject(), *args)
    compare(name or program.__name__, theirs, ours)


# ---------------------------------------------------------------------------------------------
# Declaring programs


@dataclasses.dataclass(frozen=True)
class Behaviour:
    """A program that both libraries must run alike, with the arguments of its cases."""

    program: Callable[..., Any]
    cases: tuple[tuple[str, tuple[Any, ...]], ...] = (("", ()),)


def behaviour(program: Callable[..., Any]) -> Behaviour:
    """Declare ``program`` as a behaviour; it becomes a test case of its own."""
    return Behaviour(program)


def behaviour_of_each(cases: Iterable[Any]) -> Callable[[Callable[..., Any]], Behaviour]:
    """Declare a program that is run once with each of ``cases`` as its further arguments."""
    named = tuple((_case_name(c), c if isinstance(c, tuple) else (c,)) for c in cases)
    return lambda program: Behaviour(program, named)


def _case_name(case: Any) -> str:
    first = case[0] if isinstance(case, tuple) else case
    if callable(first) and hasattr(first, "__name__"):
        return first.__name__
    if isinstance(case, tuple):
        return "-".join(str(c) for c in case if isinstance(c, (str, int, float)))
    return str(first)
