"""Runs a program in PyTorch and in retrograd, statement by statement, and finds where they part."""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import re
import signal
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from . import statements
from .drawing import Statement, Writer

LENGTH = 25
SECONDS = 20
# How far results of one statement may be apart, in parts of the largest element.
TOLERANCES = {"float64": 1e-6, "complex128": 1e-6, "float32": 1e-4, "complex64": 1e-4,
              "float16": 2e-2, "complex32": 2e-2, "bfloat16": 1e-1}
HARD = ("raises", "type", "dtype", "shape", "value", "requires_grad", "grad")


BEFORE_A_PASS = ("does not require grad", "only for scalar outputs", "Mismatch in shape",
                 "not have been used", "is not defined", "has no attribute")


class Difference(NamedTuple):
    """One observation in which the libraries part."""

    what: str
    name: str
    theirs: Any
    ours: Any

    @property
    def is_hard(self) -> bool:
        """Whether a program's results depend on it."""
        return self.what in HARD


class Raised(NamedTuple):
    """An exception."""

    type: str
    message: str

    def __repr__(self) -> str:
        return f"{self.type}: {self.message[:300]}"


class Library:
    """One library and the names of the program that runs in it."""

    def __init__(self, name: str) -> None:
        self.torch = importlib.import_module(name)
        importlib.import_module(name + ".utils.checkpoint")
        # What a program finds without having defined it.
        self.prelude: dict[str, Any] = {**vars(builtins), "torch": self.torch}
        exec(statements.PRELUDE, self.prelude)
        self.start()

    def start(self) -> None:
        """Forget the last program."""
        self.log: list[Any] = []
        self.names: dict[str, Any] = {"__builtins__": self.prelude, "log": self.log}
        self.prelude["log"] = self.log
        self.torch.set_grad_enabled(True)
        self.torch.set_default_dtype(self.torch.float32)
        self.torch.default_generator.manual_seed(0)  # alone: PyTorch notes who seeds all devices

    def run(self, code: Any) -> Raised | None:
        """Run one statement; the exception that it raised, if it did."""
        try:
            exec(code, self.names)
        except TimeoutError:
            raise
        except Exception as error:
            return Raised(type(error).__name__, str(error))
        return None

    def observed(self) -> dict[str, Any]:
        """The program's own names."""
        return {name: value for name, value in self.names.items() if name[0] != "_"}


theirs: Library
ours: Library


def load() -> None:
    """Import both libraries."""
    global theirs, ours
    theirs, ours = Library("torch"), Library("retrograd")
    theirs.torch.set_num_threads(1)


# ------------------------------------------------------------------------------------ excluded


# What PyTorch says that it cannot do, and retrograd does: in its words, with the reason.
LIMITS = {
    "don't yet support saved tensor hooks": "transforms and hooks of saved tensors go together",
    "it must override the setup_context": "older custom functions can be transformed too",
    "it must have a `vmap` staticmethod": "a custom function is run in a loop",
    "must implement the jvp function": "a tangent follows from the backward of a custom function",
    "Batching rule not implemented": "vmap runs whatever it cannot batch in a loop",
    "vmap: ": "as above",
    "view size is not compatible": "layouts are NumPy's, see DIFFERENCES.md",
    "self.stride(-1) must be 1 to view": "as above",
    "to be real but received complex": "functions of complex numbers have Jacobians",
    "Nested forward mode AD is not supported": "forward mode nests",
    "INTERNAL ASSERT": "a fault",
    "_will_engine_execute_node": "hooks on several tensors go with autograd.grad",
    "stack expects a non-empty TensorList": "a Jacobian may be empty",
    "index 0 is out of bounds for dimension 0 with size 0": "as above",
    "ZeroTensors are immutable": "a fault",
    "does not support automatic differentiation for outputs with complex": "complex gradients",
    "may have escaped from inside a function being vmapped": "a checkpoint inside a vmap",
    "which is output 0 of AsStrided": "a fault: nothing was written to",
    "A different number of tensors was saved": "a checkpoint may be transformed",
    "which is output 0 of MaskedFill": "a fault of norm: nothing was written to",
    "Tensor that doesn't have storage": "allow_mutation_on_saved_tensors and vmap go together",
    "the derivative for '": "more derivatives are implemented",
    "in at::autocast::prioritize": "halves of two kinds are joined in float32",
    "Inference tensors cannot be saved": "rules ask for other values here and there",
    "Could this error message be improved": "a fault",
}
# What retrograd says of what PyTorch lets pass, for the reason that DIFFERENCES.md gives.
REFUSED = ("more than one element of the written-to tensor",
           "are out of bounds for storage of size",
           "Inplace update to inference tensor outside")
OVERWRITTEN = "has been modified by an inplace operation"
FREED = "backward through the graph a second time"
# Tensors inside a transform require grad here, so that autograd.grad works there; and linearize
# runs the function, which PyTorch traces: it refuses writes, hooks and functions of its own.
INSIDE = re.compile(r"(vmap|func\.\w+|functional\.\w+)\(.*(?<!func\.)\bgrad\(")
FORWARD = re.compile(r"jvp|jacfwd|hessian|forward-mode|hvp|linearize")
DERIVATIVE = re.compile(FORWARD.pattern + r"|grad\(|vjp|jac")
# Other differences that DIFFERENCES.md states: in what, what it is in PyTorch (None: anything), and
# the programs in which it may be.
STATED = (
    # A tangent has the dtype of its value; PyTorch's of a zero-dim one may have a wider one.
    *[("dtype", f"torch.{wide}", FORWARD) for wide in ("float64", "float32", "complex128")],
    # PyTorch takes no second tangent of a custom function: it gives zeros.
    ("value", None, re.compile(r"(jvp|jacfwd)\(.*(jvp|jacfwd)\(.*Cube")),
    ("requires_grad", False, re.compile(r"(jvp|jacfwd)\(.*(jvp|jacfwd)\(.*Cube")),
    # In inference mode PyTorch's linearize and forward-mode Jacobians give zeros.
    ("value", None, re.compile(r"inference_mode\((True)?\):(\n.*)*(linearize|forward-mode)")),
)


def is_excluded(statement: Statement, found: Difference) -> bool:
    """Whether PyTorch only says that it cannot do what retrograd does."""
    if _is_of_inference_alone(statement):
        return True
    if found.what != "raises" or found.ours is not None:
        return found.what == "raises" and found.theirs is None and any(
            words in found.ours.message for words in REFUSED)
    message = found.theirs.message
    if "more than one element of the written-to" in message:
        return FORWARD.search(statement.text) is not None  # a tangent is computed in memory alone
    if "range of [-1, 0], but got 1" in message:
        return re.search(r"flip\(0\)|unfold", statement.text) is not None  # zero-dim, in a batch
    if "0 elements into shape" in message or "for tensor of size [0" in message:
        return re.search("func|vmap", statement.text) is not None  # a batch may be empty
    if "Can't detach views in-place" in message:  # of a node that is part of another here
        return not any(tensor._is_view() for tensor in _operands(statement, ours))
    if "with a bool tensor is not supported" in message:
        return "grad(" in statement.text or "backward(" in statement.text  # a fault of pow
    return any(words in message for words in LIMITS) or "linearize(" in statement.text or (
        "does not require grad" in message and INSIDE.search(statement.text) is not None)


def is_stated(program: list[Statement], found: Difference) -> bool:
    """Whether DIFFERENCES.md states such a difference."""
    text = "\n".join(statement.text for statement in program)
    return any(found.what == what and theirs in (None, found.theirs) and pattern.search(text)
               for what, theirs, pattern in STATED) or (
        found.what == "value" and (_writes_over_its_operand(program[-1])
                                   or _depends_on_the_layout(program[-1]))) or (
        DERIVATIVE.search(text) is not None and _is_of_zeros(found)) or (
        found.what == "value" and _zero_to_the_zeroth(program[-1], found)) or (
        found.what == "requires_grad" and _is_of_inference_alone(program[-1])) or (
        # A recorded backward pass keeps the dtypes of its gradients, also under autocast.
        found.what in ("value", "grad") and "autocast(" in text
        and isinstance(found.ours, np.ndarray) and _close(found.theirs, found.ours, "float16"))


def _operands(statement: Statement, library: Library) -> list[Any]:
    return [library.names[name] for name in re.findall(r"\bv\d+\b", statement.text)
            if isinstance(library.names.get(name), library.torch.Tensor)]


def _writes_over_its_operand(statement: Statement) -> bool:
    """Whether a statement writes to memory that it reads, which PyTorch does in no sure order."""
    tensors = {id(t): t for t in _operands(statement, theirs)}.values()
    memory = {t.untyped_storage().data_ptr() for t in tensors}
    overlap = any(t.numel() > 1 + sum(s * (n - 1) for s, n in zip(t.stride(), t.shape))
                  for t in tensors)
    return re.search(r"_\(| [-+*/]= |Doubled", statement.text) is not None and (
        overlap or len(memory) < len(tensors))


def _is_of_zeros(found: Difference) -> bool:
    """Whether a derivative is constant, and its history, where it has one, is of zeros."""
    if found.what == "requires_grad":
        library = ours if found.theirs is False else theirs
        given = eval(found.name, {}, library.names)
        leaves = [value for value in library.observed().values() if isinstance(
            value, library.torch.Tensor) and value.requires_grad and value.is_leaf]
        try:
            return not leaves or not any(map(_is_not_zero, library.torch.autograd.grad(
                given, leaves, library.torch.ones_like(given), retain_graph=True,
                allow_unused=True)))
        except RuntimeError:  # the program freed or overwrote what it would take to tell
            return False
    return found.theirs is None and isinstance(found.ours, ours.torch.Tensor) \
        and not _is_not_zero(found.ours)


def _is_not_zero(gradient: Any) -> bool:
    return gradient is not None and bool((gradient != 0).any())


def _zero_to_the_zeroth(statement: Statement, found: Difference) -> bool:
    """Whether complex powers differ alone where PyTorch's 0 ** 0 is not a number."""
    if "**" not in statement.text or not isinstance(found.ours, np.ndarray) or \
            found.ours.dtype.kind != "c":
        return False
    at = np.isnan(found.theirs) & ~np.isnan(found.ours)
    return bool((found.ours[at] == 1).all()) and _close(
        found.theirs[~at], found.ours[~at], str(found.ours.dtype))


def _is_of_inference_alone(statement: Statement) -> bool:
    """Whether all that is given are inference tensors: they are not recorded by PyTorch."""
    value = statement._replace(text=statement.text.rpartition(" = ")[2])
    given = _operands(value, theirs)
    return any(t.requires_grad for t in given) and all(t.is_inference() for t in given)


def _depends_on_the_layout(statement: Statement) -> bool:
    """Whether a statement's result depends on how a tensor lies in memory, and it lies otherwise.

    Layouts differ as DIFFERENCES.md says. Random numbers come in the order of memory, too.
    """
    return re.search(r"dropout|rand|normal|uniform|bernoulli|as_strided|(reshape|view)\(-1\).*_\(",
                     statement.text) is not None and any(
        a.numel() and a.stride() != b.stride() for a, b in zip(
            _operands(statement, theirs), _operands(statement, ours), strict=True))


# ------------------------------------------------------------------------------------ comparing


def compare(closely: bool) -> Iterator[Difference]:
    """Every difference between the names of both libraries; their values alone, or closely."""
    global facts
    facts = SAFE_FACTS if not closely else FACTS if looks_for_soft_ones else DECISIVE_FACTS
    mine = ours.observed()
    for name, value in theirs.observed().items():
        yield from _compare(name, value, mine.get(name, "missing"))


def _compare(name: str, a: Any, b: Any) -> Iterator[Difference]:
    if isinstance(a, theirs.torch.Tensor) and isinstance(b, ours.torch.Tensor):
        yield from _compare_tensors(name, a, b)
    elif isinstance(a, dict) and isinstance(b, dict):
        yield from _compare(name, list(a), list(b))
        yield from _compare(name, list(a.values()), list(b.values()))
    elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        if len(a) != len(b):
            yield Difference("value", name, a, b)
        for i, (first, second) in enumerate(zip(a, b)):
            yield from _compare(f"{name}[{i}]", first, second)
    elif isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape or not _close(a, b, str(a.dtype)):
            yield Difference("value", name, a, b)
    elif isinstance(a, str) and isinstance(b, str):
        # Nodes may have other names, as DIFFERENCES.md says: they are compared by themselves.
        if _without_nodes(a) != _without_nodes(b):
            yield Difference("value", name, a, b)
    elif isinstance(a, (bool, int, str)) or a is None:
        if type(a) is not type(b) or a != b:
            yield Difference("value", name, a, b)
    elif isinstance(a, (float, complex)):
        if type(a) is not type(b) or not _close(np.array(a), np.array(b), "float32"):
            yield Difference("value", name, a, b)
    elif type(a).__name__ != type(b).__name__:
        yield Difference("type", name, type(a).__name__, type(b).__name__)


def _without_nodes(text: str) -> str:
    return re.sub(r"\w+Backward\d?>?", "", text)


name_of = functools.cache(str)  # of a dtype

FACTS = {
    "dtype": lambda t: name_of(t.dtype),
    "shape": lambda t: tuple(t.shape),
    "requires_grad": lambda t: t.requires_grad,
    "is_leaf": lambda t: t.is_leaf,
    "type": lambda t: type(t).__name__,
    "grad_fn": lambda t: t.grad_fn and t.grad_fn.name(),
    "is_inference": lambda t: t.is_inference(),
    "retains_grad": lambda t: t.retains_grad,
    "version": lambda t: t._version,
    "strides": lambda t: tuple(t.stride()) if t.numel() else None,
}
# Those of which a difference is hard, and ``is_leaf``, which renews the history of a view; and what
# can be read without renewing it.
DECISIVE_FACTS = {what: FACTS[what] for what in FACTS if what in (*HARD, "is_leaf")}
SAFE_FACTS = {what: FACTS[what] for what in ("dtype", "shape")}
looks_for_soft_ones = False
facts = FACTS


def _fact(read: Any, tensor: Any) -> Any:
    try:
        return read(tensor)
    except Exception as error:
        return f"raises {type(error).__name__}"


def _agree(a: Any, b: Any) -> bool:
    """Whether all facts can be read, and are the same."""
    try:
        return all([read(a) == read(b) for read in facts.values()])
    except Exception:
        return False


def _compare_tensors(name: str, a: Any, b: Any) -> Iterator[Difference]:
    for what, read in () if _agree(a, b) else facts.items():
        first, second = _fact(read, a), _fact(read, b)
        if first != second:
            yield Difference(what, name, first, second)
            if what in ("dtype", "shape"):
                return
    yield from _compare_values("value", name, a, b)
    if "is_leaf" in facts and (_fact(FACTS["is_leaf"], a) is True or a.retains_grad):
        yield from _compare_gradients(name, a.grad, b.grad)


def _compare_gradients(name: str, a: Any, b: Any) -> Iterator[Difference]:
    if (a is None) != (b is None):
        yield Difference("grad", name, a, b)
    elif a is not None:
        for what in ("dtype", "shape", "requires_grad"):
            first, second = FACTS[what](a), FACTS[what](b)
            if first != second:
                yield Difference("grad", f"{name} {what}", first, second)
                return
        yield from _compare_values("grad", name, a, b)


def _compare_values(what: str, name: str, a: Any, b: Any) -> Iterator[Difference]:
    try:
        if a.detach().numpy().tobytes() == b._data.tobytes():
            return
    except Exception:  # only _array can read it
        pass
    first, second = _fact(_array, a), _fact(_array, b)
    if isinstance(first, str) or isinstance(second, str):  # one cannot be read
        if type(first) is not type(second):
            yield Difference(what, name, first, second)
        return
    if first.tobytes() == second.tobytes():
        return
    if not _close(first, second, str(a.dtype).split(".")[1]):
        yield Difference(what, name, first, second)
    elif not (a.is_conj() or a.is_neg() or a._is_zerotensor() or a.dtype is theirs.torch.complex32):
        _take_over(a, second)


def _array(tensor: Any) -> Any:
    if isinstance(tensor, theirs.torch.Tensor):
        plain = tensor.detach().resolve_conj().resolve_neg()
        if plain._is_zerotensor():
            plain = plain + 0
        torch = theirs.torch
        if plain.dtype is torch.complex32:
            plain = plain.to(torch.complex64)
        return (plain.view(torch.int16) if plain.dtype is torch.bfloat16 else plain).numpy()
    if tensor.dtype is ours.torch.complex32:
        tensor = tensor.detach().to(ours.torch.complex64)
    data = tensor._data
    data = np.asarray(data if isinstance(data, (np.ndarray, np.generic)) else
                      tensor.detach().numpy())
    return data.view(np.int16) if tensor.dtype is ours.torch.bfloat16 else data


def _close(a: Any, b: Any, dtype: str) -> bool:
    if dtype == "bfloat16":
        a, b = (theirs.torch.from_numpy(np.array(x)).view(theirs.torch.bfloat16).double().numpy()
                for x in (a, b))
    if dtype not in TOLERANCES:
        return bool(np.array_equal(a, b))
    a, b = a.astype(np.complex128), b.astype(np.complex128)
    scale = np.abs(a[np.isfinite(a)]).max(initial=1)
    if scale * TOLERANCES[dtype] > 100:
        return True  # rounding alone may have changed the sign of such a sine
    return bool(np.allclose(a, b, 0, TOLERANCES[dtype] * scale, equal_nan=True))


def _take_over(theirs_tensor: Any, values: Any) -> None:
    """Write the bits of retrograd into PyTorch's memory, so that rounding does not add up."""
    torch = theirs.torch
    plain = theirs_tensor.detach()
    (plain.view(torch.int16) if plain.dtype is torch.bfloat16 else plain).numpy()[...] = values


# ------------------------------------------------------------------------------------ running


class Outcome(NamedTuple):
    """What a program came to: its statements, the first hard difference, and soft ones by kind."""

    program: list[Statement]
    difference: Difference | None
    soft: dict[str, Difference]


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    def late(*_: Any) -> None:
        raise TimeoutError

    previous = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)  # of the processor
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)


def random_program(seed: int) -> Outcome:
    """Draw a program and run it."""
    theirs.start()
    writer = Writer(seed, theirs.torch, theirs.names)
    watched = seed % 2 == 0
    return _run((writer.statement() for _ in range(LENGTH)), watched)


def run(program: list[Statement], watched: bool = True) -> Outcome:
    """Run a program again."""
    theirs.start()
    return _run(iter(program), watched)


def _run(program: Iterator[Statement], watched: bool) -> Outcome:
    """Run what is drawn; unless it is ``watched``, its graph is looked at in the end alone.

    Looking at a tensor may change it, when a view renews its history.
    """
    ours.start()
    done: list[Statement] = []
    soft: dict[str, Difference] = {}
    with _quietly():
        for statement in program:
            done.append(statement)
            code = compile(statement.text, "program", "exec")
            first, second = theirs.run(code), ours.run(code)
            if (first is None) != (second is None):
                found = Difference("raises", "", first, second)
                excused = is_excluded(statement, found) or _is_missed_by_one(done, first, second)
                return Outcome(done, None if excused else found, soft)
            if first and second and first.type != second.type:
                soft.setdefault("exception", Difference("exception", "", first, second))
            hard = _look(soft, watched)
            if hard and (first or is_stated(done, hard) or _is_rounding(done, hard)):
                # What a write that failed half-way has written is not promised.
                return Outcome(done, None, soft)
            if hard or (first and _is_broken_off(statement, first)):
                return Outcome(done, hard, soft)
        hard = None if watched else _look(soft, True)
        return Outcome(done, None if hard and is_stated(done, hard) else hard, soft)


def _is_rounding(program: list[Statement], found: Difference) -> bool:
    """Whether PyTorch's own result goes as far for operands that differ in their last digits."""
    if found.what != "value" or not isinstance(found.theirs, np.ndarray) \
            or found.theirs.dtype.kind not in "fc" or found.theirs.shape != found.ours.shape:
        return False
    names = {**theirs.names}
    there, moved = (_value_for(program, found.name, digits) for digits in (0, 4))
    theirs.names = names
    if there is None or moved is None or there.shape != moved.shape:
        return False
    return bool((np.abs(found.theirs - found.ours) <= 16 * np.abs(there - moved)).all())


def _value_for(program: list[Statement], name: str, digits: int) -> Any:
    """What PyTorch computes for a name, where the last statement's operands are off by so much."""
    theirs.start()
    for statement in program[:-1]:
        theirs.run(compile(statement.text, "program", "exec"))
    for tensor in _operands(program[-1], theirs):
        if tensor.is_floating_point() or tensor.is_complex():
            tensor.data.mul_(1 + digits * theirs.torch.finfo(tensor.dtype).eps)
    theirs.run(compile(program[-1].text, "program", "exec"))
    try:
        return _array(eval(name, {}, theirs.names))
    except Exception:
        return None


def _is_missed_by_one(program: list[Statement], first: Raised | None,
                      second: Raised | None) -> bool:
    """Whether one library misses what was overwritten or freed since, and the other does not.

    PyTorch's Kronecker product does not notice, and gives another gradient.
    """
    if first is not None:
        return any(words in first.message for words in (OVERWRITTEN, FREED)) \
            and _was_not_needed(program)
    return second is not None and OVERWRITTEN in second.message and any(
        "kron(" in statement.text for statement in program)


def _was_not_needed(program: list[Statement]) -> bool:
    """Whether retrograd's gradients are those of PyTorch when it keeps what is lost.

    Rules ask for other values here and there: of a quotient for the result, not for the dividend.
    """
    theirs.start()
    # It nests neither with itself nor with what disables hooks.
    texts = [re.sub(r"with torch.autograd.graph.(allow|disable)\w*\(.*\):", "if True:", s.text)
             for s in program]
    with theirs.torch.autograd.graph.allow_mutation_on_saved_tensors(), _retaining():
        raised = [theirs.run(compile(text, "program", "exec")) for text in texts]
    return raised[-1] is None and not any(found.is_hard for found in compare(True))


@contextlib.contextmanager
def _retaining() -> Iterator[None]:
    """PyTorch frees no graph."""
    autograd = theirs.torch.autograd
    run = autograd._engine_run_backward
    autograd._engine_run_backward = lambda outputs, gradients, retain, *rest, **named: run(
        outputs, gradients, True, *rest, **named)
    try:
        yield
    finally:
        autograd._engine_run_backward = run


def _is_broken_off(statement: Statement, raised: Raised) -> bool:
    """Whether a backward pass failed half-way: what it has done by then is not promised."""
    return re.search(r"backward\(|(?<!func\.)\bgrad\(", statement.text) is not None and not any(
        words in raised.message for words in BEFORE_A_PASS)


def _look(soft: dict[str, Difference], closely: bool) -> Difference | None:
    for found in compare(closely):
        if found.is_hard:
            return found
        soft.setdefault(found.what, found)
    return None
