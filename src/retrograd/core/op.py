"""Declaring an op: one forward, and one derivative rule per argument.

::

    @elementwise(operator="mul", inplace=True)
    def mul(input: Array, other: Array):
        '''Product of ``input`` and ``other``, broadcast together.'''
        return xp.multiply(input, other)

    mul.vjp(input=lambda g, other: g * conj(other),
            other=lambda g, input: g * conj(input))

The rule of an op with one array argument may stand in the declaration itself, as ``vjp=`` (of one
with several it is the rule of each), and so may a batching rule of one expression, as ``batches=``.

The decorated name becomes an ordinary function on tensors. Its first call compiles the declaration
into specialised source (see :mod:`retrograd.codegen`) and swaps that into the function object, so
every reference to it, imported anywhere, runs the fast code from then on.

A rule's parameters say what it needs, and so what is saved: ``g`` the incoming gradient, ``y`` the
output, ``like`` the shape and dtype of the input being differentiated, or any argument of the op by
name. Rules use operators and op functions only, never methods: the same rule runs on raw arrays in
an ordinary backward, and on tensors when a graph of the backward is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property, partial
from types import FunctionType
from typing import Any

from ..base.sources import Unwritten, file_name
from . import declaration
from .arguments import guard
from .extensions import extensions
from .out_rules import CASTABLE, FOUND, Out
from .signatures import LateSignature, show_plainly, signature_of, with_out
from .tensor import Tensor

Array = Any
Arrays = Any
Index = Any
Dim = int
Dims = Any
Ints = Any
Number = Any
Sizes = int | Sequence[int]  # what functions made of ops spread over dimensions
Flag = bool  # what they ask only whether it is true, so that it may be of another type
LooseInt = int  # a number at which they look themselves
LooseFloat = float

ARRAY, OPTIONAL, ARRAYS, INDEX, DIM, DIMS, INTS, STATIC = (
    "array", "optional", "arrays", "index", "dim", "dims", "ints", "static")
_KINDS = {
    "Array": ARRAY, "Array | None": OPTIONAL, "Arrays": ARRAYS, "Index": INDEX,
    "Index | None": "optional index", "Dim": DIM, "Dims": DIMS, "Ints": INTS,
}
_OF_ARRAYS, _OF_INDICES = (ARRAY, OPTIONAL, ARRAYS), (INDEX, "optional index")


class Param:
    """One argument of an op."""

    __slots__ = ("name", "kind", "note", "default", "keyword_only", "required")

    def __init__(self, name: str, annotation: str, default: Any, keyword_only: bool):
        self.name = name
        self.kind = _KINDS.get(annotation, STATIC)
        self.note = annotation
        self.default, self.keyword_only = default, keyword_only
        self.required = default is _NO_DEFAULT


_NO_DEFAULT = object()


@cache
def _required(name: str, annotation: str) -> Param:
    """An argument without a default; most are called as those of many other ops."""
    return Param(name, annotation, _NO_DEFAULT, False)


def parameters_of(kernel: Any) -> list[Param]:
    """The parameters of a kernel; ``inspect.signature`` would take most of the import's time."""
    code, notes = kernel.__code__, kernel.__annotations__
    count = code.co_argcount
    names = code.co_varnames[:count + code.co_kwonlyargcount]
    required = count - len(kernel.__defaults__ or ())
    found = [_required(name, notes.get(name, "")) for name in names[:required]]
    if required < len(names):
        defaults = dict(zip(names[required:count], kernel.__defaults__ or (), strict=True))
        defaults.update(kernel.__kwdefaults__ or {})
        found += [Param(name, notes.get(name, ""), defaults.get(name, _NO_DEFAULT), i >= count)
                  for i, name in enumerate(names[required:], required)]
    return found


class Declared:
    """What a declaration may say of an op."""

    promote: str | None = None
    title = ""  # what error messages call it: the public function, where this is an overload of one
    node = ""  # the name of its node, where that does not follow from its own
    outputs: tuple[str, ...] = ()
    differentiable: Any = None  # the places of the outputs that have gradients, if not all do
    saved: dict[str, str] = {}  # noqa: RUF012 - the public names of what its nodes save
    broadcasts = False
    slices = False  # it is a view that indexing with ints and slices gives
    quiet = False
    any_dtype = False
    of_complex = False  # its tensors are complex, which is rare elsewhere
    halves = True
    numbers: Any = None  # the arguments that may be Python numbers
    # How it is called, where PyTorch has several forms: what fits none is refused with all of them.
    forms: tuple[str, ...] = ()
    check: Callable[..., Any] | None = None
    # Refuses dtypes and options in the op's own words; floating dtypes always pass.
    guard: Callable[..., Any] | None = None
    fast: str | None = None
    is_plain = True  # its results are ordinary tensors, which is all that the fast path makes
    wide: str | None = None  # the argument that, zero-dim, keeps its precision beside halves
    rounds: str | None = None  # the number that is rounded to the half precision it meets
    within: tuple[str, ...] = ()  # the numbers that must fit the dtype of the data
    meets_arrays = False  # its operator takes NumPy arrays, which leave it to the tensor
    # Ops that the kernel does on the way to an argument, which the graph shows.
    steps: dict[str, Any] = {}  # noqa: RUF012
    # What it writes may share no memory with what it writes to; None: it is read beforehand.
    apart: bool | None = False
    stored = ""  # which dtypes that are only stored it takes: "any", as it computes nothing new, or
    # "complex", in whose wider kin it computes as PyTorch's ops do on a CPU
    compares = False  # its rules ask for values only to choose between tangents
    selects = False  # its elements are some of its operands', or zero
    fills = False  # it leaves nothing of what was in the memory it writes to, but one value
    replaces = ""  # what an error calls it where it puts given values in the place of others
    draws = False  # it draws random numbers: it gives others when it is run again
    keeps_reals = False  # it leaves real numbers as they are
    former = False  # its numbers once came before its tensors: see `former_calls`
    out: Out | None = None  # how it writes to given tensors, where that does not follow
    batches: str | None = None  # a way to take batches that many ops share: see `ops.batching`


class Op(Declared):
    """A declared operation: what its declaration says, and what follows from that."""

    own_batch_rule: Callable[..., Any] | None = None
    joint_rule: Callable[..., Any] | None = None
    writer: Callable[..., Any] | None = None
    function: Any = None
    inplace_function: Any = None
    operator_function: Any = None
    inplace_operator_function: Any = None
    nodes: dict[str, type] | None = None

    def __init__(self, kernel: Callable[..., Any], kind: str, **options: Any):
        vars(self).update(options)
        self.name = kernel.__name__
        self.kernel, self.kind = kernel, kind
        self.title = self.title or self.name.lstrip("_")
        self.node_name = self.node or _camel(self.name) + "Backward0"
        self.params = parameters_of(kernel)
        self.by_name = {p.name: p for p in self.params}
        self.arrays: list[str] = []
        self.indices: list[str] = []
        self.static: list[str] = []
        for p in self.params:
            (self.arrays if p.kind in _OF_ARRAYS else
             self.indices if p.kind in _OF_INDICES else self.static).append(p.name)
        self.keywords = [p.name for p in self.params if p.keyword_only]
        self.has_list = ARRAYS in [p.kind for p in self.params]
        self.fits = kind == "elementwise" or self.broadcasts
        if self.numbers is None:
            self.numbers = self.arrays[1:] if kind == "elementwise" else ()
        self.rules: dict[str, Callable[..., Any]] = {}
        self.forward_rules: dict[str, Callable[..., Any]] = {}

    @property
    def gives_dtype(self) -> bool:
        """Whether a caller may ask for a result of another dtype."""
        return "dtype" in self.by_name and not self.by_name["dtype"].required

    @cached_property
    def whole_numbers(self) -> list[Param]:
        """The arguments that callers must give as ints or bools: nothing else is taken for one."""
        return [p for p in self.params if p.note in ("int", "bool")] if self.is_public else []

    @cached_property
    def factors(self) -> list[Param]:
        """The numbers that callers give; elementwise kernels look at theirs themselves."""
        return [p for p in self.params if p.note == "Number"] \
            if self.is_public and self.kind != "elementwise" else []

    @cached_property
    def is_public(self) -> bool:
        return hasattr(Tensor, self.name) or any(self.name in names for names in PUBLIC.values())

    @property
    def is_view(self) -> bool:
        return self.kind == "view"

    @property
    def takes_out(self) -> bool:
        return not self.is_view and "out" not in self.by_name and not self.outputs

    @property
    def out_rule(self) -> Out:
        """How it writes to the tensor given as ``out=``."""
        if self.out is not None or self.kind != "elementwise":
            return self.out or Out()
        return Out(FOUND if self.promote == "same" and len(self.arrays) == 1 else CASTABLE)

    def vjp(self, **rules: Callable[..., Any]) -> None:
        """Give the reverse rule of each differentiable argument."""
        for name, rule in rules.items():
            declaration.check_rule(self, "vjp", name, rule, self.rules)
        self.rules.update(rules)

    def vjp_jointly(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Give what finds the gradients of all arguments at once, on arrays, where all are wanted.

        It returns what the reverse rules return, and asks for nothing that they do not ask for.
        """
        declaration.check_joint_rule(self, rule)
        self.joint_rule = rule
        return rule

    def jvp(self, **rules: Callable[..., Any]) -> None:
        """Give forward rules, where they do not follow from the reverse ones."""
        for name, rule in rules.items():
            declaration.check_rule(self, "jvp", name, rule, self.forward_rules)
        self.forward_rules.update(rules)

    def batch(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Give the batching rule, where it does not follow from the op's kind."""
        declaration.check_batching_rule(self, rule)
        self.own_batch_rule = rule
        return rule

    @property
    def batch_rule(self) -> Callable[..., Any] | None:
        return self.own_batch_rule or WAYS_TO_BATCH.get(self.batches)

    def write(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """Give the kernel of the in-place variant, which writes to its first argument's memory.

        It must raise before it writes, never after.
        """
        declaration.check_writer(self, kernel)
        self.writer = kernel
        return kernel

    def __repr__(self) -> str:
        return f"<op {self.name}>"


WAYS_TO_BATCH: dict[str | None, Callable[..., Any]] = {}
"""Batching rules that many ops share, by what their declarations say in ``batches``."""

REGISTRY: dict[str, Op] = {}
"""Every declared op by its function name."""

DECLARING: set[str] = set()
"""The modules that declare ops; their functions are what rules are written in."""

COMPOSITES: dict[str, Any] = {}
"""Functions made of ops, by name; they need no rules."""

PUBLIC: dict[str, dict[str, Any]] = {"torch": {}, "nn.functional": {}, "linalg": {}, "special": {},
                                     "fft": {}, "ops.aten": {}}
"""What each public namespace offers."""


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.strip("_").split("_"))


# ---------------------------------------------------------------- the function that compiles itself

GENERATED: dict[str, Any] = {"__name__": "retrograd.generated", "__builtins__": __builtins__}
"""The globals of all generated code."""


def _first_call(name: str, variant: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _compiled(name, variant)(*args, **kwargs)


def _compiled(name: str, variant: str) -> Any:
    """A function of an op, which is its attribute ``variant``, with generated code put into it."""
    return extensions.build(REGISTRY[name], variant)


GENERATED["_first_call"] = _first_call

# In one line: until it is compiled, a function shows the first line of what it will be.
_STUB = (lambda *args, **kwargs: _first_call("OP", "VARIANT", args, kwargs)).__code__


_LABELS = {"operator_function": "{op} operator", "inplace_operator_function": "{op}_ operator"}


def self_compiling(op: Op, variant: str, name: str, doc: str | None) -> Any:
    """A function whose first call compiles the op and takes over the compiled code."""
    given = {"OP": op.name, "VARIANT": variant}
    label = _LABELS.get(variant, "{name}").format(op=op.name, name=name)
    code = _STUB.replace(co_consts=tuple([given.get(c, c) for c in _STUB.co_consts]), co_name=name,
                         co_qualname=name, co_filename=file_name(label), co_firstlineno=1)
    Unwritten(code.co_filename, partial(_compiled, op.name, variant))
    made: Any = FunctionType(code, GENERATED, name)
    made.__doc__ = doc
    made.__module__ = "retrograd"
    made.op = op
    made.__signature__ = LateSignature(signature_of, op, variant == "function" and op.takes_out)
    setattr(op, variant, made)
    return made


# ---------------------------------------------------------------- the decorators


def _register(kernel: Callable[..., Any], kind: str, *, method: bool | str = True,
              function: str | None = "torch", operator: str | None = None,
              inplace: bool = False, aliases: Iterable[str] = (), **options: Any) -> Any:
    declaration.check_kernel(kernel, _KINDS, REGISTRY, GENERATED)
    op = Op(kernel, kind, **options)
    declaration.check_facts(op, inplace)
    declaration.check_public_name(op.name, PUBLIC.get(function or "", ()))
    DECLARING.add(kernel.__module__)
    made = self_compiling(op, "function", op.name, kernel.__doc__)
    made.vjp, made.jvp, made.batch, made.write = op.vjp, op.jvp, op.batch, op.write
    made.vjp_jointly = op.vjp_jointly
    REGISTRY[op.name] = op
    publish(made, op.name, method=method, function=function, aliases=aliases)
    if operator:
        setattr(Tensor, f"__{operator}__",
                self_compiling(op, "operator_function", f"__{operator}__", kernel.__doc__))
    if inplace:
        name = op.name + "_"
        doc = f"In-place version of :func:`{op.name}`."
        written = self_compiling(op, "inplace_function", name, doc)
        publish(written, name, method=True, function="torch" if inplace == "function" else None,
                aliases=[a + "_" for a in aliases])
        if operator and not operator.startswith("r"):
            dunder = f"__i{operator.strip('_')}__"
            setattr(Tensor, dunder,
                    self_compiling(op, "inplace_operator_function", dunder, doc))
    return made


def home_of(function: Any) -> str:
    """The module in which a function is written; a public one says that it is from elsewhere."""
    return getattr(function, "home", function.__module__)


def title_of(name: str, namespace: str | None) -> str:
    """What PyTorch's errors call a function."""
    return f"{namespace}_{name}" if namespace in ("linalg", "special", "fft") else name


def publish(made: Any, name: str, *, method: bool | str = True, function: str | None = "torch",
            operator: str | None = None, aliases: Iterable[str] = (), out: Out | None = None
            ) -> None:
    """Offer a function under its public names; ``out`` says how it writes to given tensors."""
    title = title_of(name, function)
    if out is not None:
        made.out = title, out
        guard(made, closures=True, title=title)
        made.__signature__ = LateSignature(with_out, made.unguarded)
    elif not hasattr(made, "op"):
        guard(made, title=title)
        show_plainly(made)
    # It is named after the first place where users find it, and so does pickle.
    if function is not None and (not hasattr(made, "home") or made.__qualname__[:7] == "Tensor."):
        made.home = home_of(made)
        made.__module__ = "retrograd" if function == "torch" else f"retrograd.{function}"
        made.__qualname__ = name
    elif function is None and method and not hasattr(made, "home"):
        made.home, made.__module__ = made.__module__, "retrograd"
        made.__qualname__ = f"Tensor.{name}"
    for public in (name, *aliases):
        if function is not None:
            PUBLIC[function][public] = made
        if method:
            setattr(Tensor, method if isinstance(method, str) and public == name else public, made)
    if operator:
        setattr(Tensor, f"__{operator}__", made)


def public(name: str, **options: Any) -> Callable[[Any], Any]:
    """Offer the function below under a public name, with the options of :func:`publish`."""

    def declare(function: Any) -> Any:
        publish(function, name, **options)
        return function

    return declare


_OPTIONS = {*_register.__kwdefaults__,  # type: ignore[misc]
            *(name for name in vars(Declared) if not name.startswith("__"))}


_PRIVATE = {"function": None, "method": False}
"""What holds for ops whose name begins with an underscore, unless their declaration says more."""


def _declare(kind: str, options: dict[str, Any]) -> Callable[[Any], Any]:
    declaration.check_options(options, _OPTIONS | {"name", "doc", "vjp"}, PUBLIC)
    name, doc, vjp = [options.pop(option, None) for option in ("name", "doc", "vjp")]
    batch_rule = options.pop("batches") if callable(options.get("batches")) else None

    def declare(kernel: Any) -> Any:
        _rename(kernel, name, doc)
        private = _PRIVATE if kernel.__name__.startswith("_") else {}
        made = _register(kernel, kind, **{**private, **options})
        if vjp is not None:
            made.vjp(**dict.fromkeys(made.op.arrays, vjp))
        if batch_rule is not None:
            made.batch(batch_rule)
        return made

    return declare


def _rename(function: Any, name: str | None, doc: str | None) -> None:
    """Give a function that several ops are made of, and what it wraps, one op's name and doc."""
    while name is not None and function is not None:
        function.__name__ = function.__qualname__ = name
        function.__doc__ = doc
        function = getattr(function, "__wrapped__", None)


def elementwise(**options: Any) -> Callable[[Any], Any]:
    """Declare an op that broadcasts its arguments and works element by element."""
    return _declare("elementwise", {"promote": "same", **options})


def linear(**options: Any) -> Callable[[Any], Any]:
    """Declare an op that is linear in its array argument: its forward rule is the op itself."""
    return _declare("linear", options)


def view(**options: Any) -> Callable[[Any], Any]:
    """Declare an op whose output looks at its input's memory."""
    return _declare("view", {"any_dtype": True, **options})


def op(**options: Any) -> Callable[[Any], Any]:
    """Declare any other op."""
    return _declare("op", options)


def composite(*, method: bool | str = False, function: str | None = "torch",
              operator: str | None = None, aliases: Iterable[str] = (),
              name: str | None = None, doc: str | None = None, out: Out | None = None
              ) -> Callable[[Any], Any]:
    """Declare a function made of ops; it is differentiable because they are.

    One that is made inside another function has its ``name`` and ``doc`` from there.
    """

    declaration.check_options({"function": function}, ("function",), PUBLIC)

    def declare(fn: Any) -> Any:
        _rename(fn, name, doc)
        declaration.check_public_name(fn.__name__, PUBLIC.get(function or "", ()))
        # No wrapper: the ops it calls honour subclasses and modes.
        if name is not None and not hasattr(fn, "__wrapped__") and out is None:
            guard(fn, closures=True, title=title_of(name, function))
        COMPOSITES[fn.__name__] = fn
        publish(fn, fn.__name__, method=method, function=function, operator=operator,
                aliases=aliases, out=out)
        return fn

    return declare


def by_factor(sign: str) -> Callable[[Any], Any]:
    """Declare a rule that multiplies by an argument, usually 1, with this sign."""

    def declare(rule: Any) -> Any:
        rule.sign_of_factor = sign
        return rule

    return declare
