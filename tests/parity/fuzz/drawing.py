"""Draws random programs: fills in the templates of ``statements`` so that most of them make sense.

A statement is drawn while its program runs under PyTorch, so that operands fit and dimensions
exist; now and then one is drawn that does not, since what is refused is compared too.
"""

from __future__ import annotations

import ast
import functools
import math
import random
import re
from typing import Any, NamedTuple

from . import statements

CARELESS = 0.03
REAL = ("float32", "float64", "float32", "float64", "float16", "bfloat16")
COMPLEX = ("complex64", "complex128")
WHOLE = ("int64", "int32", "int16", "int8", "uint8")
NUMBERS = ("2", "-1", "0.5", "3", "-0.75", "1", "0", "2.0", "True", "1.5")
LARGE = 50
MOST_ELEMENTS = 100
TENSORS = ("t", "f", "r", "z", "i", "b", "m", "y", "q", "leaf")
PLACE = re.compile(r"\{(\w+)\}")


class Statement(NamedTuple):
    """One statement and the template it was made of."""

    text: str
    template: str


class Writer:
    """Draws the statements of one program; ``names`` are its own, as PyTorch has run it so far."""

    def __init__(self, seed: int, torch: Any, names: dict[str, Any]) -> None:
        self.random = random.Random(seed)
        self.torch, self.names = torch, names
        self.count = 0
        self.tensors: dict[str, Any] = {}
        self.tame: dict[str, bool] = {}
        self.is_small: dict[str, tuple[Any, int, bool]] = {}
        self.chosen: dict[str, str] = {}
        self.subject: Any = None
        self.dims: list[int] = []

    # ------------------------------------------------------------------------------ statements

    def statement(self) -> Statement:
        """The next statement."""
        self.tensors = {name: value for name, value in self.names.items()
                        if isinstance(value, self.torch.Tensor)}
        self.tame = {name: self._is_tame(name, value) for name, value in self.tensors.items()}
        few = len(self.tensors) < 3
        kinds = statements.KINDS
        kind = "create" if few else self.random.choices(
            list(kinds), [weight for _, weight in kinds.values()])[0]
        return self._block() if kind == "block" else self._of(kind)

    def _of(self, kind: str) -> Statement:
        template = self.random.choice(statements.KINDS[kind][0])
        self.subject, self.dims, self.chosen = None, [], {}
        text = self.filled(template)
        if not is_expression(template):
            try:
                ast.parse(text)
            except SyntaxError:  # it would assign to what stands for a missing tensor
                return self._of(kind)
            return Statement(text, template)
        if self._keeps_nothing(kind):
            return Statement(text, template)
        if re.search(statements.COPIED, text):
            text = f"own({text})"
        if kind in statements.GIVES_TWO:
            return Statement(f"{self._new_name()}, {self._new_name()} = {text}", template)
        return Statement(f"{self._new_name()} = {text}", template)

    def _keeps_nothing(self, kind: str) -> bool:
        return kind in statements.GIVES_NOTHING and self.random.random() < 0.8

    def _block(self) -> Statement:
        opening = self.random.choice(statements.BLOCK)
        inner = [self._of(self.random.choice(("unary", "binary", "view", "write", "write", "apply",
                                              "reduce", "state", "grad", "transform")))
                 for _ in range(self.random.choice((1, 1, 2)))]
        text = "".join(f"\n    {statement.text}" for statement in inner)
        return Statement(self.filled(opening) + text, f"{opening} {inner[-1].template}")

    def _new_name(self) -> str:
        if self.tensors and self.random.random() < 0.1:
            return self.random.choice(list(self.tensors))
        self.count += 1
        return f"v{self.count}"

    def filled(self, template: str) -> str:
        """The template with every place filled in; a tensor named twice is the same one."""
        return PLACE.sub(self._fill, template)

    def _fill(self, place: re.Match) -> str:
        name = place[1]
        if name not in TENSORS:
            return getattr(self, "_" + name)()
        if name not in self.chosen:
            self.chosen[name] = getattr(self, "_" + name)()
        return self.chosen[name]

    # ------------------------------------------------------------------------------ tensors

    def _pick(self, fits: Any, otherwise: str) -> str:
        names = [name for name, value in self.tensors.items() if fits(value)]
        tame = [name for name in names if self.tame[name]]
        if tame and self.random.random() > 0.02:
            names = tame
        if self.random.random() < CARELESS:
            names = list(self.tensors)
        if not names:
            self.subject = self.torch.zeros(2, 2)
            return otherwise
        # The newest are the likeliest, so that programs are deep rather than broad.
        name = names[max(self.random.randrange(len(names)), self.random.randrange(len(names)))]
        if self.subject is None:
            self.subject = self.tensors[name]
        return name

    def _is_tame(self, name: str, tensor: Any) -> bool:
        """Whether nothing in it is huge or not a number, and there is not too much of it."""
        count = tensor.numel()
        if count > MOST_ELEMENTS or tensor.dim() > 5:
            return False
        if count == 0:
            return self.random.random() < 0.5
        version = -1 if tensor.is_inference() else tensor._version
        seen, seen_version, is_small = self.is_small.get(name, (None, -1, False))
        if seen is not tensor or version == -1 or version != seen_version:
            is_small = bool((tensor.detach().to(self.torch.complex128).abs() < LARGE).all())
            self.is_small[name] = tensor, version, is_small
        return is_small

    def _t(self) -> str:
        return self._pick(lambda t: True, "torch.ones(2, 2)")

    def _f(self) -> str:
        wants_grad = self.random.random() < 0.75
        chosen = [t for t in self.tensors.values() if t.requires_grad]
        if wants_grad and chosen:
            return self._pick(lambda t: t.requires_grad, "")
        return self._pick(lambda t: t.is_floating_point() or t.is_complex(), "torch.ones(2, 2)")

    def _r(self) -> str:
        return self._pick(lambda t: t.is_floating_point(), "torch.ones(2, 2)")

    def _q(self) -> str:
        return self._pick(lambda t: t.is_floating_point() and t.is_contiguous(), "torch.ones(2, 2)")

    def _z(self) -> str:
        return self._pick(lambda t: t.is_complex(), "torch.ones(2, 2, dtype=torch.complex64)")

    def _i(self) -> str:
        return self._pick(lambda t: not t.is_floating_point() and not t.is_complex(),
                          "torch.tensor([[1, 2], [3, 4]])")

    def _b(self) -> str:
        return self._pick(lambda t: t.dtype is self.torch.bool,
                          "torch.tensor([[True, False], [True, True]])")

    def _m(self) -> str:
        return self._pick(lambda t: t.dim() >= 2 and t.numel() and
                          (t.is_floating_point() or t.is_complex()), "torch.ones(2, 2)")

    _w = _m

    def _leaf(self) -> str:
        return self._pick(lambda t: t.requires_grad and _is_leaf(t),
                          "torch.ones(2, 2, requires_grad=True)")

    def _y(self) -> str:
        return self._pick(lambda t: t.requires_grad and (self.random.random() < 0.3
                                                         or not _is_leaf(t)),
                          "torch.ones(2, 2, requires_grad=True).sin()")

    def _u(self) -> str:
        shape = self._subject_shape()

        def broadcasts(other: Any) -> bool:
            pairs = zip(reversed(shape), reversed(other.shape))
            return all(a == b or 1 in (a, b) for a, b in pairs)

        if self.random.random() < 0.25:
            return self._n()
        return self._pick(broadcasts, "torch.tensor(1.5)")

    def _same(self) -> str:
        shape, dtype = self._subject_shape(), self.subject.dtype
        if self.random.random() < 0.3:
            return f"torch.ones({tuple(shape)}, dtype={dtype})"
        return self._pick(lambda t: t.shape == shape and t.dtype is dtype,
                          f"torch.full({tuple(shape)}, {self._n()}, dtype={dtype})")

    def _subject_shape(self) -> Any:
        if self.subject is None:
            self.subject = self.torch.zeros(2, 2)
        return self.subject.shape

    # ------------------------------------------------------------------------------ arguments

    def _n(self) -> str:
        return "1j" if self.random.random() < 0.02 else self.random.choice(NUMBERS)

    def _x(self) -> str:
        return self.random.choice(("0.5", "-1.5", "2.0", "0.25", "-0.5"))

    def _k(self) -> str:
        return str(self.random.choice((1, 2, 2, 3, 3, 4)))

    def _zero_or_one(self) -> str:
        return self.random.choice("01")

    def _flag(self) -> str:
        return self.random.choice(("True", "False"))

    def _dt(self) -> str:
        return "torch." + self.random.choice((*REAL, *REAL, *COMPLEX, *WHOLE, *WHOLE, "bool"))

    def _fdt(self) -> str:
        return "torch." + self.random.choice((*REAL, *REAL, *REAL, *COMPLEX))

    def _dim(self) -> int:
        rank = len(self._subject_shape())
        if self.random.random() < CARELESS:
            return rank
        return self.random.randrange(-rank, rank) if rank else self.random.choice((0, -1))

    def _d(self) -> str:
        if not self.dims:
            self.dims.append(self._dim())
        return str(self.dims[0])

    def _e(self) -> str:
        return str(self._dim())

    def _dims(self) -> str:
        rank = len(self._subject_shape())
        return str(tuple(self.random.sample(range(rank), self.random.randint(0, rank))))

    def _perm(self) -> str:
        rank = len(self._subject_shape())
        return str(tuple(self.random.sample(range(rank), rank)))

    def _size(self) -> int:
        """How long the subject is along the dimension that was drawn."""
        dim, shape = int(self._d()), self._subject_shape()
        return shape[dim] if -len(shape) <= dim < len(shape) else 1

    def _at(self) -> str:
        return str(self.random.randrange(self._size() or 1))

    def _row(self) -> str:
        count = self._size() or 1
        rows = [self.random.randrange(count) for _ in range(self.random.choice((1, 2, 2)))]
        return f"torch.tensor({sorted(set(rows))})"

    def _shape(self) -> str:
        lengths = (1, 2, 2, 3, 3, 4) if self.random.random() < 0.95 else (0, 2)
        rank = self.random.choice((0, 1, 1, 2, 2, 2, 3))
        return str(tuple(self.random.choice(lengths) for _ in range(rank)))

    def _view(self) -> str:
        count = math.prod(self._subject_shape())
        if self.random.random() < CARELESS:
            count += 1
        halves = [(2, count // 2)] if count % 2 == 0 else []
        thirds = [(count // 3, 3), (1, count)] if count % 3 == 0 else []
        return str(self.random.choice([(count,), (count, 1), *halves, *thirds]))

    def _strides(self) -> str:
        return self.random.choice(("(2, 1)", "(1, 2)"))

    def _wider(self) -> str:
        shape = [self.random.choice((2, 3)) if length == 1 else length
                 for length in self._subject_shape()]
        return str(tuple([2] * self.random.choice((0, 0, 1)) + shape))

    def _values(self) -> str:
        shape = ast.literal_eval(self._shape())
        draw = self.random.choice((
            lambda: self.random.randint(-3, 3), lambda: self.random.random() < 0.5,
            lambda: round(self.random.uniform(-2, 2), 2),
            lambda: round(self.random.uniform(-2, 2), 2)))
        return str(_nested(shape, draw))

    def _mask(self) -> str:
        shape = self._subject_shape()
        if self.subject.is_complex() or self.random.random() < 0.3:
            return f"torch.tensor({_nested(shape, lambda: self.random.random() < 0.5)}, " \
                   "dtype=torch.bool)" if math.prod(shape) else f"torch.ones({tuple(shape)}) > 0"
        name = next((name for name, value in self.tensors.items() if value is self.subject), None)
        return f"({name} > {self._x()})" if name else "torch.tensor(True)"

    def _index(self) -> str:
        parts, shape = [], list(self._subject_shape())
        while shape and self.random.random() < 0.8:
            kind = self.random.randrange(9)
            length = shape[0]
            if kind == 0:
                parts.append("None")
                continue
            if kind == 1 and "..." not in parts:
                parts.append("...")
                shape = shape[self.random.randint(0, len(shape)):]
                continue
            shape.pop(0)
            parts.append(self._index_part(kind, length))
        if not parts:
            parts.append(self.random.choice(("...", "None", "()" if not shape else ":", "...")))
        return ", ".join(parts)

    def _index_part(self, kind: int, length: int) -> str:
        place = self.random.randrange(length) if length else 0
        if self.random.random() < CARELESS:
            place = length
        if kind == 2:
            return str(place - length if self.random.random() < 0.3 else place)
        if kind == 3:
            rows = [self.random.randrange(length or 1) for _ in range(2)]
            return self.random.choice((f"{rows}", f"torch.tensor({rows})", f"[{place}]",
                                       f"torch.tensor({place})", f"torch.tensor([[{place}]])"))
        if kind == 4:
            return f"{[self.random.random() < 0.5 for _ in range(length)]}" if length else ":"
        if kind == 5:
            return f"torch.arange({length}) {self.random.choice('<>')} {place}"
        return self.random.choice((":", ":", "1:", ":-1", "::2", f"{place}:", f":{place}", "-1:"))

    # ------------------------------------------------------------------------------ functions

    def _expression(self, parameters: str, depth: int) -> str:
        if depth == 0:
            return self.random.choice(parameters)
        template = self.random.choice(statements.SMOOTH)
        self.chosen = {}  # what a function captures is drawn anew
        # Only one operand is deep, or programs get long.
        deep = self._expression(parameters, depth - 1)
        template = template.replace("@", deep if deep in parameters else f"({deep})", 1)
        return self.filled(template.replace("@", self.random.choice(parameters)))

    def _fn(self) -> str:
        return f"lambda a: {self._expression('a', self.random.choice((1, 1, 2, 3)))}"

    def _fn2(self) -> str:
        return f"lambda a, b: {self._expression('ab', self.random.choice((1, 2, 2, 3)))} * (a + b)"

    def _loss(self) -> str:
        ending = self.random.choice((".sum()", ".mean()", ".sum()", ".pow(2).sum()"))
        return f"lambda a: ({self._expression('a', self.random.choice((1, 1, 2, 3)))}){ending}"

    def _loss2(self) -> str:
        return f"lambda a, b: ({self._expression('ab', self.random.choice((1, 2, 2)))} * b).sum()"


@functools.cache
def is_expression(template: str) -> bool:
    """Whether what a template makes has a value."""
    return isinstance(ast.parse(PLACE.sub("x", template)).body[0], ast.Expr)


def _is_leaf(tensor: Any) -> bool:
    try:
        return tensor.is_leaf
    except RuntimeError:  # a view that is out of date, and cannot be renewed
        return False


def _nested(shape: Any, draw: Any) -> Any:
    if not shape:
        return draw()
    return [_nested(shape[1:], draw) for _ in range(shape[0])]
