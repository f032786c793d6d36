"""What a declaration may say; whatever it may not is refused where it stands, not in a backward."""

from __future__ import annotations

import dis
from collections.abc import Iterable, Iterator
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .graph import Node
from .tensor import Tensor

SHARED = ("shape", "ndim", "dtype")
"""The attributes that arrays, tensors and the data of transforms share."""
RESERVED = {
    "by", "grads", "m", "form", "dt", "s", "y", "f", "code", "lasti", "vc", "token", "constants",
    "node", "outs", "part", "nr", "t", "g", "args", "top", "c", "plain", "like", "wanted",
    "a", "e", "edges", "is_live",
    "tangent", "fits", "seal", "call", "call_operator", "call_inplace", "call_inplace_operator",
    "unpack_input", "unpack_output"}
"""Names that generated code and rules have for something else; its globals join them."""
_NOTES = {note for kind in ("Any", "bool", "int", "float", "complex", "str", "Number")
          for note in (kind, f"{kind} | None")}
"""The annotations of arguments that are no arrays."""
_OF_CONTAINERS = frozenset((*dir(tuple), *dir(list), *dir(dict)))
_VARIABLE = 0x04 | 0x08  # *args, **kwargs


def is_ours(function: Any) -> bool:
    """Whether this package declares it: its tests look into its rules, at no cost to the import."""
    return str(function.__module__).startswith("retrograd.")


def nearest(name: str, known: Iterable[str]) -> str:
    """`` (did you mean 'x'?)``, if something is called nearly like it."""
    import difflib  # takes two milliseconds

    found = difflib.get_close_matches(name, list(known), 1)
    return f" (did you mean {found[0]!r}?)" if found else ""


def listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


# ---------------------------------------------------------------- kernels and options


def check_kernel(kernel: Any, kinds: Iterable[str], declared: Any, generated: Any) -> None:
    """Raise unless an op can be made of a kernel's name and arguments."""
    if not isinstance(kernel, FunctionType):
        raise TypeError(f"an op is declared by a function, not by {kernel!r}")
    name, code, notes = kernel.__name__, kernel.__code__, kernel.__annotations__
    if name in declared:
        raise TypeError(f"an op called '{name}' is declared already, in "
                        f"{declared[name].kernel.__module__}: give this one another name")
    if code.co_flags & _VARIABLE:
        raise TypeError(f"{name}: an op names each of its arguments; it cannot take *args or "
                        "**kwargs")
    for argument in code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]:
        note = notes.get(argument, "")
        if note.__class__ is not str:
            raise TypeError(f"{name}: annotations are read as they are written; put 'from "
                            "__future__ import annotations' at the top of the file")
        if note not in kinds and note not in _NOTES:
            what = f"annotated {note!r}" if note else "not annotated"
            raise TypeError(
                f"{name}: argument '{argument}' is {what}{nearest(note, (*kinds, *_NOTES))}; write "
                f"one of {listed(kinds)}, or, if it is no array, Any, bool, int, float, complex, "
                "str or Number")
        if argument in RESERVED or argument in generated:
            raise TypeError(f"{name}: an argument cannot be called '{argument}', which is a name "
                            "of generated code: call it otherwise")


def check_options(options: dict[str, Any], known: Any, namespaces: Any) -> None:
    """Raise for an option of a declaration that does not exist, or has no such value."""
    for option in options.keys() - known:
        raise TypeError(f"there is no option '{option}'{nearest(option, known)}; the options of a "
                        f"declaration are {listed(sorted(known))}")
    if options.get("promote") not in (None, "same", "float"):
        raise TypeError(f"promote={options['promote']!r}: write 'same' (operands get their common "
                        "dtype), 'float' (a floating one) or None")
    if options.get("function") is not None and options["function"] not in namespaces:
        raise TypeError(f"function={options['function']!r} is no public namespace; write one of "
                        f"{listed(namespaces)}, or None for a function that is not public")


def check_public_name(name: str, namespace: Any) -> None:
    """Raise if a namespace offers something of that name already."""
    if name in namespace:
        raise TypeError(f"there is a public function '{name}' already: give this one another name, "
                        "or function=None if it is not public")


def check_facts(op: Any, inplace: Any) -> None:
    """Raise for options that contradict each other or the op's arguments."""
    outputs = op.outputs
    if outputs:
        if not isinstance(outputs, tuple) or not all(
                isinstance(n, str) and n.isidentifier() for n in outputs):
            raise TypeError(f"{op.name}: outputs={outputs!r}: write a tuple with a name for each "
                            "output, as in outputs=('values', 'indices')")
        for name in outputs:
            if outputs.count(name) > 1 or name in op.by_name or name in RESERVED:
                raise TypeError(f"{op.name}: no output can be called '{name}', which is the name "
                                "of something else: call it otherwise")
    if inplace and (not op.params or op.params[0].kind != "array"):
        raise TypeError(f"{op.name}: inplace writes to the first argument, which must be an Array")
    if inplace and (outputs or op.is_view):
        raise TypeError(f"{op.name}: inplace is for ops with one output, in memory of its own")
    for option, names in (("numbers", op.numbers), ("steps", op.steps)):
        for name in names:
            if name not in op.arrays:
                raise TypeError(f"{op.name}: {option} names '{name}', which is no array argument; "
                                f"those are {listed(op.arrays)}")
    for name in op.saved:
        if name not in op.by_name and name != "y" and name not in outputs:
            raise TypeError(f"{op.name}: saved names '{name}', which is neither an argument nor an "
                            "output")


# ---------------------------------------------------------------- rules


def check_rule(op: Any, way: str, argument: str, rule: Any, given: Any) -> None:
    """Raise unless ``rule`` can be the ``way`` ("vjp" or "jvp") rule of an argument."""
    if argument not in op.arrays:
        what = "is no array" if argument in op.by_name else \
            f"does not exist{nearest(argument, op.arrays)}"
        raise TypeError(f"{op.name}.{way}: the argument '{argument}' {what}; rules are for "
                        f"{listed(op.arrays)}")
    if argument in given:
        raise TypeError(f"{_label(op, way, argument)} is given already; an argument has one")
    if not isinstance(rule, FunctionType):
        raise TypeError(f"{_label(op, way, argument)} must be a function, not {rule!r}")
    code = rule.__code__
    if code.co_flags & _VARIABLE or code.co_kwonlyargcount or rule.__defaults__:
        raise TypeError(f"{_label(op, way, argument)} names what it needs as plain parameters: no "
                        "*args, **kwargs, keyword-only ones or defaults")
    own, names = _OWN[way], code.co_varnames[:code.co_argcount]
    for name in names:
        if name in op.by_name:
            if name in op.static and way == "vjp" and name in _OF_NODES:
                raise TypeError(f"{_label(op, way, argument)} asks for '{name}', and nodes have "
                                "something else of that name: call the argument otherwise")
        elif name not in own and name not in op.outputs:
            known = (*own, *op.outputs, *op.by_name)
            raise TypeError(f"{_label(op, way, argument)} asks for '{name}'{nearest(name, known)}; "
                            f"it can have {listed(known)}")
    if op.has_list and way == "vjp" and (
            (op.fits and "like" not in names) or any(n not in op.static for n in names
                                                     if n in op.by_name)):
        raise TypeError(f"{_label(op, way, argument)}, over a list of tensors, may ask for like, "
                        "and for no tensors")
    if not is_ours(rule):
        check_body(op, _label(op, way, argument), rule)


def check_joint_rule(op: Any, rule: Any) -> None:
    """Raise unless ``rule`` can find the gradients of all arguments of ``op`` at once."""
    if op.joint_rule is not None:
        raise TypeError(f"{op.name}.vjp_jointly: there is such a rule already; an op has one")
    if op.has_list or op.fits or len(op.arrays) < 2 or set(op.arrays) != set(op.rules):
        raise TypeError(f"{op.name}.vjp_jointly: it is for several arrays that all have rules, "
                        "which fit their gradients themselves")
    asked = {name for other in op.rules.values()
             for name in other.__code__.co_varnames[:other.__code__.co_argcount]}
    for name in rule.__code__.co_varnames[:rule.__code__.co_argcount]:
        if name not in asked - {"like", "wanted"}:
            raise TypeError(f"{op.name}.vjp_jointly asks for '{name}'; it can have what the rules "
                            f"ask for: {listed(sorted(asked - {'like', 'wanted'}))}")


_OWN = {"vjp": ("g", "y", "like", "wanted"), "jvp": ("tangent", "y")}
"""What rules may ask for beside the op's arguments and outputs."""
_OF_NODES = frozenset(dir(Node))


def _label(op: Any, way: str, argument: str) -> str:
    return f"{op.name}.{way}: the rule of '{argument}'"


def check_body(op: Any, label: str, rule: Any) -> None:
    """Raise if a rule asks its operands for what only some of the data it meets can do."""
    operands = {"g", "y", "tangent", "like", *op.outputs, *op.arrays, *op.indices}
    for owner, attribute, is_global in reads(rule.__code__):
        if is_global:
            value = rule.__globals__.get(owner)
            if isinstance(value, ModuleType) and value.__name__.split(".")[0] == "numpy":
                raise TypeError(f"{label} calls NumPy ({owner}), which knows only arrays; rules "
                                "run on tensors too: write it with op functions")
        elif attribute and attribute not in SHARED and (
                owner in operands or (owner not in op.static and hasattr(Tensor, attribute)
                                      and attribute not in _OF_CONTAINERS)):
            raise TypeError(
                f"{label} asks {owner or 'a value'} for '.{attribute}', which arrays, tensors and "
                f"the data of transforms do not share: write it with operators, op functions "
                f"(`{attribute}(...)`, not a method) and {listed(SHARED)}")


def check_batching_rule(op: Any, rule: Any) -> None:
    """Raise unless ``rule`` takes a batch and the op's arguments."""
    if op.batch_rule is not None and op.batch_rule is not rule:
        raise TypeError(f"{op.name}.batch: the batching rule is given already; an op has one")
    if not takes(rule, len(op.params) + 1):
        raise TypeError(f"{op.name}.batch: a batching rule is called with the batch and all "
                        f"arguments in order: (batch, {listed(op.by_name)})")


def check_writer(op: Any, kernel: Any) -> None:
    """Raise unless ``kernel`` takes the op's arguments, the first one to write to."""
    if not takes(kernel, len(op.params)):
        raise TypeError(f"{op.name}.write: the kernel that writes is called with all arguments in "
                        f"order: ({listed(op.by_name)})")


def takes(function: Any, count: int) -> bool:
    """Whether a function can be called with so many arguments, some of them perhaps by name."""
    if isinstance(function, partial):
        return takes(function.func, count + len(function.args) + len(function.keywords))
    if not isinstance(function, FunctionType):
        return callable(function)
    code = function.__code__
    most = code.co_argcount + code.co_kwonlyargcount
    least = most - len(function.__defaults__ or ()) - len(function.__kwdefaults__ or ())
    return least <= count and (count <= most or bool(code.co_flags & _VARIABLE))


# ---------------------------------------------------------------- what code reads


def reads(code: CodeType) -> Iterator[tuple[str, str, bool]]:
    """What code reads: a name, an attribute of it or nothing, and whether the name is global.

    The name is empty for an attribute of what has none.
    """
    owner, is_global = "", False
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            owner, is_global = step.argval, True
            yield owner, "", True
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            yield owner, step.argval, is_global
            owner = owner if is_global else ""
        elif step.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "STORE_FAST_LOAD_FAST")):
            # Newer versions load two at once, the one to look at last.
            owner = step.argval if isinstance(step.argval, str) else step.argval[-1]
            is_global = False
        elif step.opname != "EXTENDED_ARG":
            owner, is_global = "", False
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from reads(const)
