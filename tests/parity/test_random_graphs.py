"""Random programs of operations, views and in-place writes, run under both libraries.

A program is plain data, so that Hypothesis can shrink it and print it: leaves by shape, and steps
that name an operation and its operands by number. Numbers are taken modulo what exists, and
operands that do not fit are made to fit by a rule on shapes alone, so that nearly every program
does something.
"""

from __future__ import annotations

import contextlib
import os
import re
from typing import Any, NamedTuple

from hypothesis import HealthCheck, given, note, settings, strategies as st

from parity import harness

EXAMPLES = int(os.environ.get("PARITY_EXAMPLES", "400"))
SHAPES = ((3,), (2, 3), (2, 2, 3), (), (3, 1), (4,))
MOST_STEPS = 14


class Step(NamedTuple):
    """One operation on numbered tensors; what ``p`` and ``q`` mean depends on it."""

    kind: str
    name: str
    first: int
    second: int
    p: int
    q: int
    recording: bool

    def __repr__(self) -> str:
        mode = "" if self.recording else " under no_grad"
        return f"<{self.kind} {self.name} t{self.first} t{self.second} p={self.p} q={self.q}{mode}>"


class Program(NamedTuple):
    """Leaves, steps, and how gradients are asked for at the end.

    Steps work on the leaves themselves or, since leaves cannot be written to, on copies of them.
    """

    leaves: tuple[tuple[tuple[int, ...], bool], ...]
    copied: bool
    steps: tuple[Step, ...]
    ending: str


# What steps do. Each takes the library and operands that already fit.

UNARY = {
    "sin": lambda torch, a: a.sin(),
    "tanh": lambda torch, a: a.tanh(),
    "sigmoid": lambda torch, a: a.sigmoid(),
    "exp": lambda torch, a: (-a.abs()).exp(),
    "square": lambda torch, a: a**2,
    "cube": lambda torch, a: a**3,
    "neg": lambda torch, a: -a,
    "relu": lambda torch, a: a.relu(),
    "sqrt": lambda torch, a: (a.abs() + 1).sqrt(),
    "log": lambda torch, a: (a.abs() + 1).log(),
    "abs": lambda torch, a: a.abs(),
    "scale": lambda torch, a: a * 0.5,
    "clone": lambda torch, a: a.clone(),
    "clamp": lambda torch, a: a.clamp(-0.5, 0.5),
    "reciprocal": lambda torch, a: 1 / (a * a + 1),
    "softmax": lambda torch, a: a.reshape(-1).softmax(0),
    "cumsum": lambda torch, a: a.reshape(-1).cumsum(0),
    "flip": lambda torch, a: a.reshape(-1).flip(0),
    "contiguous": lambda torch, a: a.contiguous(),
    "repeat": lambda torch, a: a.reshape(-1)[:4].repeat(2),
    "gather": lambda torch, a: a.reshape(-1)[torch.tensor([0, 0, -1])],
    "mask": lambda torch, a: a[a > 0].sum(),
    "tril": lambda torch, a: a.reshape(-1, 1).expand(-1, 2).tril(),
    "pad": lambda torch, a: torch.nn.functional.pad(a.reshape(-1), (1, 1)),
}
BINARY = {
    "add": lambda torch, a, b: a + b,
    "sub": lambda torch, a, b: a - b,
    "mul": lambda torch, a, b: a * b,
    "div": lambda torch, a, b: a / (b * b + 1),
    "maximum": lambda torch, a, b: torch.maximum(a, b),
    "minimum": lambda torch, a, b: torch.minimum(a, b),
    "where": lambda torch, a, b: torch.where(a > b, a, b * 2),
    "lerp": lambda torch, a, b: torch.lerp(a, b, 0.3),
    "addcmul": lambda torch, a, b: torch.addcmul(a, b, b),
    "atan2": lambda torch, a, b: torch.atan2(a, b + 3),
    "cat": lambda torch, a, b: torch.cat([a.reshape(-1), b.reshape(-1)]),
    "stack": lambda torch, a, b: torch.stack([a.sum(), b.sum()]),
    "outer": lambda torch, a, b: torch.outer(a.reshape(-1)[:3], b.reshape(-1)[:2]),
    "dot": lambda torch, a, b: a.reshape(-1)[:1] @ b.reshape(-1)[:1],
    "masked_fill": lambda torch, a, b: a.masked_fill(a > 0, 0.5) + b,
}
REDUCTIONS = {
    "sum": lambda torch, a, dim, keep: a.sum(dim, keepdim=keep),
    "mean": lambda torch, a, dim, keep: a.mean(dim, keepdim=keep),
    "prod": lambda torch, a, dim, keep: a.prod(dim, keepdim=keep),
    "amax": lambda torch, a, dim, keep: a.amax(dim, keepdim=keep),
    "max": lambda torch, a, dim, keep: a.max(dim, keepdim=keep).values,
    "min": lambda torch, a, dim, keep: a.min(dim, keepdim=keep).values,
    "logsumexp": lambda torch, a, dim, keep: a.logsumexp(dim, keepdim=keep),
    "var": lambda torch, a, dim, keep: a.var(dim, unbiased=False, keepdim=keep),
    "norm": lambda torch, a, dim, keep: (a + 2).norm(dim=dim, keepdim=keep),
    "sort": lambda torch, a, dim, keep: a.sort(dim).values,
    "total": lambda torch, a, dim, keep: a.sum(),
}
VIEWS = {
    "select": lambda torch, a, p, q: a.select(p, q % a.shape[p]),
    "slice": lambda torch, a, p, q: a.narrow(
        p, q % a.shape[p], 1 + (q + p) % (a.shape[p] - q % a.shape[p])
    ),
    "step": lambda torch, a, p, q: a[q % a.shape[0] :: 2],
    "transpose": lambda torch, a, p, q: a.transpose(p, q % a.dim()),
    "view": lambda torch, a, p, q: a.view(-1),
    "view as column": lambda torch, a, p, q: a.view(-1, 1),
    "reshape": lambda torch, a, p, q: a.reshape(-1),
    "unsqueeze": lambda torch, a, p, q: a.unsqueeze(p),
    "squeeze": lambda torch, a, p, q: a.squeeze(),
    "expand": lambda torch, a, p, q: a.unsqueeze(0).expand(2, *a.shape),
    "diagonal": lambda torch, a, p, q: a.unsqueeze(0).diagonal(0, 0, p + 1),
    "reversed": lambda torch, a, p, q: a.permute(*range(a.dim() - 1, -1, -1)),
    "alias": lambda torch, a, p, q: a.view_as(a),
    "as_strided": lambda torch, a, p, q: a.as_strided(a.shape, a.stride()),
    "unfold": lambda torch, a, p, q: a.unfold(p, 1 + q % a.shape[p], 1 + q % a.shape[p]),
    "detach": lambda torch, a, p, q: a.detach(),
    "unbind": lambda torch, a, p, q: a.unbind(p)[q % a.shape[p]],
    "split": lambda torch, a, p, q: a.split(1, p)[q % a.shape[p]],
    "chunk": lambda torch, a, p, q: a.chunk(2, p)[0],
}
WRITES = {
    "add number": lambda torch, a, b: a.add_(0.5),
    "mul number": lambda torch, a, b: a.mul_(-1.5),
    "add": lambda torch, a, b: a.add_(b),
    "sub": lambda torch, a, b: a.sub_(b, alpha=2),
    "mul": lambda torch, a, b: a.mul_(b),
    "div": lambda torch, a, b: a.div_(b * b + 1),
    "copy": lambda torch, a, b: a.copy_(b),
    "zero": lambda torch, a, b: a.zero_(),
    "fill": lambda torch, a, b: a.fill_(0.25),
    "sin": lambda torch, a, b: a.sin_(),
    "tanh": lambda torch, a, b: a.tanh_(),
    "relu": lambda torch, a, b: a.relu_(),
    "neg": lambda torch, a, b: a.neg_(),
    "exp": lambda torch, a, b: a.clamp_(-1, 1).exp_(),
    "square": lambda torch, a, b: a.pow_(2),
    "masked_fill": lambda torch, a, b: a.masked_fill_(b > 0, -0.75),
    "setitem": lambda torch, a, b: a.__setitem__(..., b),
    "setitem first": lambda torch, a, b: a.__setitem__(0, b.sum()),
    "setitem index": lambda torch, a, b: a.__setitem__(torch.tensor([0]), b.sum()),
    "setitem mask": lambda torch, a, b: a.__setitem__(a > 0, b.sum()),
    "iadd slice": lambda torch, a, b: a[:1].add_(b.sum()),
}
FILLS = ("zero", "fill", "masked_fill", "setitem index", "setitem mask")
TABLES = {
    "unary": UNARY,
    "binary": BINARY,
    "reduce": REDUCTIONS,
    "view": VIEWS,
    "write": WRITES,
}


# Running a program


class Tensors:
    """The tensors of a running program, and which of them share memory."""

    def __init__(self, torch: Any, program: Program) -> None:
        self.torch = torch
        self.leaves: list[Any] = []
        self.values: list[Any] = []
        self.families: list[int] = []
        for number, (shape, requires_grad) in enumerate(program.leaves):
            leaf = starting_values(torch, shape, number).requires_grad_(requires_grad)
            self.leaves.append(leaf)
            self.add(leaf * 1 if program.copied else leaf, number)

    def add(self, value: Any, family: int | None = None) -> None:
        self.values.append(value)
        self.families.append(len(self.families) + 1000 if family is None else family)

    def pick(self, number: int) -> tuple[Any, int]:
        position = number % len(self.values)
        return self.values[position], self.families[position]


def starting_values(torch: Any, shape: tuple[int, ...], number: int) -> Any:
    count = 1
    for size in shape:
        count *= size
    # Irregular steps keep maxima unique and values away from the kinks of abs and relu.
    flat = [(0.37 * (i + 1) * (number + 1) + 0.211 * number) % 1.9 - 0.93 for i in range(count)]
    # A clone, since leaves that are views themselves have programs of their own.
    return torch.tensor(flat, dtype=torch.float64).reshape(shape).clone()


def fit(other: Any, target: Any) -> Any:
    """``other`` if it broadcasts to the shape of ``target``, and otherwise its sum."""
    if len(other.shape) > len(target.shape):
        return other.sum()
    pairs = zip(reversed(other.shape), reversed(target.shape))
    return other if all(o in (1, t) for o, t in pairs) else other.sum()


def is_expanded(tensor: Any) -> bool:
    """Whether several elements lie in the same place."""
    return any(s == 0 and n > 1 for s, n in zip(tensor.stride(), tensor.shape))


def perform(step: Step, tensors: Tensors) -> None:
    """Do one step, adding its result to the tensors."""
    torch, function = tensors.torch, TABLES[step.kind][step.name]
    a, family = tensors.pick(step.first)
    b, other_family = tensors.pick(step.second)
    if step.kind == "unary":
        tensors.add(function(torch, a))
    elif step.kind == "binary":
        tensors.add(function(torch, a, fit(b, a)))
    elif step.kind == "write":
        # Which elements are read before they are overwritten is undefined for shared memory.
        operand = b.clone() if family == other_family else b
        with contextlib.suppress(RuntimeError):
            _ = a.grad_fn  # PyTorch refuses some writes unless somebody looked: see DIFFERENCES.md
        if step.name in FILLS and step.recording and a.requires_grad and is_expanded(a):
            return  # refused at once, or only when backward runs: see DIFFERENCES.md
        function(torch, a, fit(operand, a))
    else:
        a = a.view(1) if a.dim() == 0 else a
        dim = step.p % a.dim()
        if step.kind == "reduce":
            tensors.add(function(torch, a, dim, step.q % 2 == 1))
        else:
            tensors.add(function(torch, a, dim, step.q), family)


def run_program(torch: Any, log: harness.Log, program: Program) -> None:
    """Run a program; errors of single steps are observations like any other."""
    tensors = Tensors(torch, program)
    leaves = [t for t in tensors.leaves if t.requires_grad]
    for step in program.steps:
        with contextlib.nullcontext() if step.recording else torch.no_grad():
            log.raises(perform, step, tensors)
    for value in tensors.values:
        log.raises(lambda value=value: value)
    log.raises(without_maker, finish, torch, program.ending, tensors.values, leaves)
    # What a backward that fails has already added up is its own affair: see DIFFERENCES.md.
    if log.observations[-1].label == "returns":
        log([leaf.grad for leaf in leaves])
    log([value._version for value in tensors.values])


def without_maker(call: Any, *args: Any) -> Any:
    """``call``, whose errors do not say which node made an overwritten tensor.

    After several writes through views the name depends on which of their nodes are still alive.
    """
    try:
        return call(*args)
    except RuntimeError as error:
        message = re.sub(r", which is output \d+ of \w+,", "", str(error))
    raise RuntimeError(message)


def finish(torch: Any, ending: str, values: list, leaves: list) -> Any:
    """Differentiate a weighted sum of everything that requires grad."""
    terms = [(t * (1 + i % 3)).sum() for i, t in enumerate(values) if t.requires_grad]
    if not terms:
        return "nothing requires grad"
    loss = sum(terms[1:], terms[0])
    if ending == "backward":
        return loss.backward()
    if ending == "grad":
        return torch.autograd.grad(loss, leaves, allow_unused=True)
    first = torch.autograd.grad(loss, leaves, create_graph=True, allow_unused=True)
    squares = [(g * g).sum() for g in first if g is not None and g.requires_grad]
    if not squares:
        return [None if g is None else g.detach() for g in first]
    second = torch.autograd.grad(sum(squares[1:], squares[0]), leaves, allow_unused=True)
    return [None if g is None else g.detach() for g in first], second


# Drawing programs

indices = st.integers(0, 9)
small = st.integers(0, 3)
recording = st.sampled_from([True, True, True, True, False])


def steps_of(kind: str) -> st.SearchStrategy[Step]:
    names = st.sampled_from(sorted(TABLES[kind]))
    return st.builds(Step, st.just(kind), names, indices, indices, small, small, recording)


def programs(kinds: tuple[str, ...], endings: tuple[str, ...]) -> st.SearchStrategy[Program]:
    leaf = st.tuples(st.sampled_from(SHAPES), st.sampled_from([True, True, True, False]))
    leaves = st.lists(leaf, min_size=1, max_size=3).map(tuple)
    steps = st.one_of([steps_of(kind) for kind in kinds])
    listed = st.lists(steps, min_size=1, max_size=MOST_STEPS).map(tuple)
    copied = st.sampled_from([True, True, True, False])
    return st.builds(Program, leaves, copied, listed, st.sampled_from(endings))


def check(program: Program) -> None:
    start = f"leaves {program.leaves}, {'copied' if program.copied else 'themselves'}"
    note("\n".join([start, *map(repr, program.steps), f"then {program.ending}"]))
    harness.check(run_program, program, name="random program")


patient = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize="PARITY_EXAMPLES" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)


@patient
@given(programs(("unary", "binary", "reduce"), ("backward", "grad", "double")))
def test_graphs_of_operations(program: Program) -> None:
    check(program)


@patient
@given(programs(("unary", "binary", "view", "view"), ("backward", "grad", "double")))
def test_graphs_with_views(program: Program) -> None:
    check(program)


@patient
@given(programs(("unary", "binary", "view", "write"), ("backward", "grad", "double")))
def test_graphs_with_views_and_writes(program: Program) -> None:
    check(program)


@patient
@given(programs(("view", "write", "write"), ("backward", "double")))
def test_chains_of_views_and_writes(program: Program) -> None:
    check(program)
