"""Turns a declaration into the source of its fast path and of its node class.

Generated code handles the ordinary call: plain tensors of one floating dtype, grad mode on or off,
nothing else switched on. Whatever does not fit (Python types, promotion, subclasses, other modes,
errors to word) goes to :func:`retrograd.interpret.call`, which is general and slower.

Set the environment variable RETROGRAD_SHOW_CODE=mul to print what is generated for an op.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

from .backend import numpy as xp
from .errors import REQUIRED, canonical_dim, canonical_dims
from .forms import ARRAYS_4, ARRAYS_8, NUMBERS_4, NUMBERS_8, SCALAR_FORMS
from .formulas import written_out
from .graph import AGES, LEAF, Like, Node, Released, edges_with_steps, fit
from .modes import GRAD, MODE, NO_GRAD
from .op import ARRAY, ARRAYS, GENERATED, OPTIONAL, Op, direct, parameters_of, raw
from .sites import Site, user_frame
from .tensor import PLAIN, Tensor, edge_of

# Overflow gives inf, as everywhere in PyTorch; the fast path of the commonest ops runs without the
# guard that silences NumPy about it, which would cost a fifth of a small op's time. Where warnings
# are errors, the call ends up in the general path, which is guarded.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"retrograd\.")

_SHOW = os.environ.get("RETROGRAD_SHOW_CODE", "").split(",")


GENERATED.update(
    Site=Site, Tensor=Tensor, PLAIN=PLAIN, LEAF=LEAF, Like=Like, Released=Released, GRAD=GRAD,
    new=object.__new__,
    NO_GRAD=NO_GRAD, mode=MODE.get, ages=AGES, frame=sys._getframe,
    user_code=None, locate=None, fit=fit, edge_of=edge_of,
    F4=xp.FLOAT32, F8=xp.FLOAT64, forms4=ARRAYS_4, forms8=ARRAYS_8, scalar_form=SCALAR_FORMS.get,
    C4=ARRAYS_4.numbers, C8=ARRAYS_8.numbers, N4=NUMBERS_4, N8=NUMBERS_8,
    quieten=xp.quieten, QUIET=xp.QUIET, unhush=xp.unhush,
    canonical_dim=canonical_dim, canonical_dims=canonical_dims,
    REQUIRED=REQUIRED, generic=xp.generic, level=xp.level, ndarray=xp.ndarray,
)


def _locate(frame: Any) -> Any:
    """The user's frame; its code is remembered, since the next call most likely has the same."""
    found = user_frame(frame)
    if found is frame:
        GENERATED["user_code"] = found.f_code
    return found


GENERATED["locate"] = _locate


def rule_needs(op: Op) -> dict[str, list[str]]:
    """For each differentiable argument, the names its rule asks for."""
    return {arg: [p.name for p in parameters_of(rule)] for arg, rule in op.rules.items()}


class Plan:
    """What the node of an op stores, worked out from its rules.

    A ``lean`` one is that of the commonest call of an elementwise op: operands of one form and
    options left alone, so that gradients fit as they are.
    """

    def __init__(self, op: Op, lean: bool = False):
        self.op = op
        self.needs = rule_needs(op)
        self.arity = len(op.arrays)
        # Rules that ask for ``like`` bring their gradients to the input's shape and dtype; the
        # engine does it for the others of an op that broadcasts or promotes.
        self.likes = [i for i, a in enumerate(op.arrays) if "like" in self.needs.get(a, ())]
        self.fitted = [i for i, a in enumerate(op.arrays)
                       if op.fits and a in op.rules and i not in self.likes]
        asked = {name for names in self.needs.values() for name in names}
        # In the order in which the rules ask, which is that of PyTorch's pack hooks.
        order = dict.fromkeys(n for a in op.arrays for n in self.needs.get(a, ()))
        self.saved_arrays = [n for n in order if n in op.arrays or n in op.indices]
        self.saved_static = [n for n in op.static if n in asked]
        self.saved_outputs = [n for n in ("y", *op.outputs) if n in asked]
        self.defaults: dict[str, Any] = {}
        if lean:
            self.fitted = []
            self.defaults = {n: op.by_name[n].default for n in self.saved_static
                             if not op.by_name[n].required}
        known = {"g", "like", "y", "wanted", *op.outputs, *op.by_name}
        unknown = asked - known
        if unknown:
            raise TypeError(f"a rule of {op.name} asks for {sorted(unknown)}, which it has not")

    def users(self, name: str) -> list[int]:
        """Positions of the arguments whose rules need ``name``."""
        return [i for i, a in enumerate(self.op.arrays) if name in self.needs.get(a, ())]

    def slots(self) -> list[str]:
        names = []
        if self.arity > 1:
            names.append("next1")
        if self.arity > 2 or self.op.has_list:
            names.append("rest")
        names += [f"like{i}" for i in self.likes]
        if self.fitted:
            names.append("fits")
        names += [n for n in self.saved_static if n not in self.defaults]
        if self.saved_arrays or self.saved_outputs:
            # The line is named by the errors of saved values.
            names += ["code", "lasti", *self.saved_arrays]
        if self.saved_outputs:
            names += [*(f"out_{n}" for n in self.saved_outputs), "seal"]
        return names


# ---------------------------------------------------------------- node classes


def has_lean_class(op: Op) -> bool:
    return op.kind == "elementwise" and not (op.indices or op.has_list or op.outputs)


def node_class(op: Op, variant: str = "real") -> Any:
    """The node class of ``op``: for real arrays, complex ones, or arrays inside a transform.

    For real arrays there is a "lean" one too, of which see :class:`Plan`.
    """
    if op.nodes is None:
        op.nodes = {}
    found = op.nodes.get(variant)
    if found is None:
        found = op.nodes[variant] = _make_node_class(op, variant)
    return found


def _make_node_class(op: Op, variant: str) -> type:
    from . import replaying

    if variant == "traced":
        return replaying.traced_class(node_class(op))
    body: dict[str, Any] = {"__slots__": (), "__module__": "retrograd.generated"}
    if variant == "complex":
        base = node_class(op)
        if not op.has_list:
            body["pull"] = _Later(_compile_pull, op, base.plan, True)
            body["pass_on"] = _Later(_compile_pass_on, op, base.plan, True)
        return type(op.node_name, (base,), body)
    plan = Plan(op, lean=variant == "lean")
    base = node_class(op, "lean") if variant == "real" and has_lean_class(op) else Node
    body |= {
        "__slots__": tuple([s for s in plan.slots() if base is Node or s not in base.slots]),
        "op": op, "plan": plan, "_arity": max(plan.arity, 3) if op.has_list else plan.arity,
        "slots": plan.slots(),
        "saves_output": "y" in plan.saved_outputs,
        "watch_output": replaying.watch_output,
        "pull": _Later(_compile_pull, op, plan, False),
        "pass_on": _Later(_compile_pass_on, op, plan, False),
        "replay": _Later(_compile_replay, op, plan),
        "release": _Later(_compile_release, op, plan) if _saved_slots(plan) else Node.release,
        "saved_names": replaying.public_saved_names(op, plan),
        **replaying.saved_properties(op, plan),
    }
    if variant == "lean":
        body |= {"fits": None, **plan.defaults}
    if len(op.outputs) > 1:
        body["outputs"] = len(op.outputs)
    if op.steps:
        body["next_functions"] = property(edges_with_steps)
    if op.has_list:
        body["pull"] = replaying.pull_list
        body["pass_on"] = Node.pass_on
        body["replay"] = replaying.replay_list
        body["edges"] = replaying.list_edges
    return type(op.node_name, (base,), body)


class _Later:
    """A method that is compiled when it is first looked up: most programs need few of them."""

    def __init__(self, compile: Any, *args: Any):
        self.compile, self.args = compile, args

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner, self.name = owner, name

    def __get__(self, node: Any, owner: type) -> Any:
        made = self.compile(*self.args)
        setattr(self.owner, self.name, made)
        return made if node is None else made.__get__(node)


def _wanted(plan: Plan) -> list[str]:
    """The parameters by which the engine says which gradients it wants."""
    return [] if plan.arity == 1 else [f"w{i}" for i in range(plan.arity)]


def _saved_condition(plan: Plan, name: str) -> str | None:
    """When ``name`` is needed, given which gradients are wanted; None for always."""
    users = plan.users(name)
    if plan.arity == 1 or len(users) == plan.arity:
        return None
    return " or ".join(f"w{i} is not None" for i in users)


def _compile_pull(op: Op, plan: Plan, is_complex: bool) -> Any:
    """``pull``: returns the gradients that are wanted."""
    lines = [f"def pull(self, g{''.join(', ' + w for w in _wanted(plan))}):"]
    lines += _unpack_source(op, plan)
    for i, arg in enumerate(op.arrays):
        if arg not in op.rules:
            lines.append(f"    r{i} = None")
            continue
        result = _rule_source(op, plan, i, is_complex)
        if plan.arity == 1:
            lines += ["    " + r for r in result]
        else:
            lines.append(f"    if w{i} is None: r{i} = None")
            lines.append("    else:")
            lines += ["        " + r for r in result]
    lines.append("    return " + ", ".join(f"r{i}" for i in range(plan.arity)))
    return compile_function(f"{op.name} backward", "pull", lines, op)


def _compile_pass_on(op: Op, plan: Plan, is_complex: bool) -> Any:
    """``pass_on``: frees what was saved, and adds the gradients up where they belong."""
    lines = ["def pass_on(self, g, by, grads):"]
    for i in range(plan.arity):
        edge = ("self.next0", "self.next1")[i] if i < 2 else f"self.rest[{i - 2}]"
        lines.append(f"    w{i} = {edge}")
    lines += _unpack_source(op, plan)
    if _saved_slots(plan):
        lines.append("    " + " = ".join(f"self.{s}" for s in _saved_slots(plan)) + " = by")
    for i, arg in enumerate(op.arrays):
        if arg not in op.rules:
            continue
        result = _rule_source(op, plan, i, is_complex)
        lines.append(f"    if w{i} is not None:")
        lines += ["        " + r for r in result]
        add = f"grads[w{i}] = grads[w{i}] + r{i} if w{i} in grads else r{i}"
        # A rule may say that there is no gradient; the commonest ones cannot.
        safe = inlined(op, plan, i, is_complex) is not None
        lines.append(f"        {add}" if safe else f"        if r{i} is not None: {add}")
    if len(lines) == 1:
        lines.append("    pass")
    return compile_function(f"{op.name} backward", "pass_on", lines, op)


def _unpack_source(op: Op, plan: Plan) -> list[str]:
    """Reads what was saved and checks that it is still what it was."""
    lines = []
    for name in plan.saved_arrays:
        body = [f"t = self.{name}",
                f"if (vc := t._vc) is not None and vc.n: check_version(self, {name!r}, vc)",
                f"{name} = t._data"]
        if op.by_name[name].kind in (OPTIONAL, "optional index"):
            body = [f"t = self.{name}", f"if t is None: {name} = None", "else:",
                    *("    " + b for b in body[1:])]
        condition = _saved_condition(plan, name)
        if condition:
            lines.append(f"    if {condition}:")
            lines += ["        " + b for b in body]
        else:
            lines += ["    " + b for b in body]
    for name in plan.saved_outputs:
        lines.append(f"    {name} = self.out_{name}")
        lines.append(f"    if {name}.__class__ is Released: {name}.refuse()")
    if "y" in plan.saved_outputs:
        lines.append("    if (seal := self.seal) is not None and seal[0].n != seal[1]: "
                     "stale_output(self)")
    return lines


def _rule_source(op: Op, plan: Plan, i: int, is_complex: bool) -> list[str]:
    """Lines that set ``r{i}``, the gradient of argument ``i``, on raw arrays."""
    arg = op.arrays[i]
    rule = f"{op.name}_{'complex' if is_complex else 'real'}_rule{i}"
    formula, constants = inlined(op, plan, i, is_complex) or ("", [])
    lines = []
    if not formula:
        GENERATED[rule] = raw(op.rules[arg], is_complex)
        formula = f"{rule}({', '.join(_rule_call(op, plan, i))})"
    elif constants:
        lines.append(_numbers_source(rule, constants, "g"))
    lines.append(f"r{i} = {formula}")
    if i in plan.fitted:
        lines.append(f"if self.fits is not None: "
                     f"r{i} = fit(r{i}, self.fits[{plan.fitted.index(i)}])")
    return lines


def _rule_call(op: Op, plan: Plan, i: int) -> list[str]:
    """What a rule is called with, in generated code."""
    return [n if n in ("g", "y", *op.outputs) or n in plan.saved_arrays
            else f"self.like{i}" if n == "like"
            else f"({', '.join(f'w{k}' for k in range(plan.arity))},)" if n == "wanted"
            else f"self.{n}" for n in plan.needs[op.arrays[i]]]


def _saved_slots(plan: Plan) -> list[str]:
    return [*plan.saved_arrays, *(f"out_{n}" for n in plan.saved_outputs)]


def _numbers_source(label: str, constants: list[float], array: str) -> str:
    """Sets ``number`` to a formula's constants as they are met soonest by ``array``.

    An array meets a zero-dim array in half the time it takes to meet a Python number; for a NumPy
    scalar it is the other way round.
    """
    for name, dtype in (("4", xp.FLOAT32), ("8", xp.FLOAT64)):
        GENERATED[label + name] = [xp.asarray(c, dtype=dtype) for c in constants]
    GENERATED[label + "n"] = constants
    return (f"number = {label}n if {array}.__class__ is not ndarray else "
            f"{label}4 if {array}.dtype is F4 else {label}8 if {array}.dtype is F8 else {label}n")


_CONDITIONAL = {(rule.__code__.co_code, rule.__code__.co_consts): sources for rule, *sources in (
    (lambda g, a: g if a == 1 else g * a, "{0} if {1} == 1 else {0} * {1}", "{0}"),
    (lambda g, a: -g if a == 1 else g * -a, "-{0} if {1} == 1 else {0} * -{1}", "-{0}"),
)}
"""The rules with a factor (of ``add`` and ``sub``), by their bytecode; and for a factor of 1."""


def inlined(op: Op, plan: Plan, i: int, is_complex: bool) -> tuple[str, list[float]] | None:
    """The rule of argument ``i`` as an expression with its constants, if it is that simple.

    Written out where it is used it saves a function call, a good part of a small op's cost.
    """
    rule = op.rules[op.arrays[i]]
    code = rule.__code__
    call = _rule_call(op, plan, i)
    sources = _CONDITIONAL.get((code.co_code, code.co_consts))
    if sources is not None:
        return sources[plan.defaults.get(call[1].removeprefix("self.")) == 1].format(*call), []
    if op.outputs or (is_complex and code.co_names):
        return None
    known = {"g", "y", *(n for n in op.arrays if op.by_name[n].kind == ARRAY)}
    return written_out(rule, [n if n in known else None for n in call], GENERATED)


def _compile_replay(op: Op, plan: Plan) -> Any:
    prefix = f"{op.name}_tensor"
    lines = [f"def replay(self, g{''.join(', ' + w for w in _wanted(plan))}):"]
    for name in plan.saved_arrays:
        position = op.arrays.index(name) if name in op.arrays else -1
        edge = ("None" if position < 0 else
                ("self.next0", "self.next1")[position] if position < 2 else
                f"self.rest[{position - 2}]")
        condition = _saved_condition(plan, name)
        line = f"{name} = unpack_input(self, {name!r}, {edge})"
        lines.append(f"    if {condition}: {line}" if condition else f"    {line}")
    for name in plan.saved_outputs:
        lines.append(f"    {name} = unpack_output(self, {name!r})")
    for i, arg in enumerate(op.arrays):
        if arg not in op.rules:
            lines.append(f"    r{i} = None")
            continue
        GENERATED[f"{prefix}_rule{i}"] = op.rules[arg]
        call = _rule_call(op, plan, i)
        result = [f"r{i} = {prefix}_rule{i}({', '.join(call)})"]
        if i in plan.fitted:
            result.append(f"if self.fits is not None: "
                          f"r{i} = fit_tensor(r{i}, self.fits[{plan.fitted.index(i)}])")
        if plan.arity == 1:
            lines += ["    " + r for r in result]
        else:
            lines.append(f"    if w{i} is None: r{i} = None")
            lines.append("    else:")
            lines += ["        " + r for r in result]
    lines.append("    return " + ", ".join(f"r{i}" for i in range(plan.arity)))
    return compile_function(f"{op.name} replay", "replay", lines, op)


def _compile_release(op: Op, plan: Plan) -> Any:
    lines = ["def release(self, by):",
             "    " + " = ".join(f"self.{s}" for s in _saved_slots(plan)) + " = by"]
    return compile_function(f"{op.name} release", "release", lines, op)


# ---------------------------------------------------------------- the forward function


def signature_source(op: Op, with_out: bool = True) -> str:
    """The parameter list of the public function."""
    parts = []
    star = False
    for p in op.params:
        if p.keyword_only and not star:
            parts.append("*")
            star = True
        if p.required:
            parts.append(f"{p.name}=REQUIRED")
        else:
            GENERATED[f"{op.name}_default_{p.name}"] = p.default
            parts.append(f"{p.name}={op.name}_default_{p.name}")
    if with_out and takes_out(op):
        if not star:
            parts.append("*")
        parts.append("out=None")
    return ", ".join(parts)


def takes_out(op: Op) -> bool:
    return not op.is_view and "out" not in op.by_name and not op.outputs


def _swap(function: Any, made: Any) -> None:
    """Give a function object other code; the code comes last, another thread may be calling it."""
    function.__defaults__ = made.__defaults__
    function.__kwdefaults__ = made.__kwdefaults__
    function.__code__ = made.__code__


def build(op: Op) -> None:
    """Compile ``op`` and swap the code into its function."""
    source = _forward_source(op)
    made = compile_function(op.name, op.name, source, op)
    _swap(op.function, made)


def build_operator(op: Op) -> None:
    """Compile the function behind an operator, which leaves unknown types to the other side."""
    source = _forward_source(op, "call_operator", with_out=False)
    made = compile_function(f"{op.name} operator", op.name, source, op)
    _swap(op.operator_function, made)


def build_inplace(op: Op) -> None:
    """Compile the in-place variant."""
    name = op.name + "_"
    general = f"call_inplace({op.name}_op, ({''.join(p.name + ', ' for p in op.params)}))"
    lines = [f"def {name}({signature_source(op, with_out=False)}):",
             *("    " + line for line in _write_path(op, general)),
             f"    return {general}"]
    made = compile_function(name, name, lines, op)
    _swap(op.inplace_function, made)


def compile_function(label: str, name: str, lines: list[str], op: Op) -> Any:
    """Execute generated source and return the function it defines."""
    from . import inplace, interpret, replaying

    GENERATED.setdefault("call", interpret.call)
    GENERATED.setdefault("goes_unrecorded", inplace.goes_unrecorded)
    GENERATED.setdefault("call_operator", interpret.call_operator)
    GENERATED.setdefault("call_inplace", interpret.call_inplace)
    GENERATED.setdefault("attach_view", interpret.attach_view)
    GENERATED.setdefault("note_cut", interpret.note_cut)
    GENERATED.setdefault("check_version", replaying.check_version)
    GENERATED.setdefault("keep_version", replaying.keep_version)
    GENERATED.setdefault("stale_output", replaying.stale_output)
    GENERATED.setdefault("unpack_input", replaying.unpack_input)
    GENERATED.setdefault("unpack_output", replaying.unpack_output)
    GENERATED.setdefault("fit_tensor", replaying.fit_tensor)
    GENERATED.setdefault(f"{op.name}_op", op)
    source = "\n".join(lines)
    if op.name in _SHOW:
        print(source, end="\n\n")
    scope: dict[str, Any] = {}
    exec(compile(source, f"<retrograd {label}>", "exec"), GENERATED, scope)
    return scope[name]


def _forward_source(op: Op, general: str = "call", with_out: bool = True) -> list[str]:
    """The function of an op; ``general`` names the way of the calls it does not handle itself."""
    with_out = with_out and takes_out(op)
    everything = "".join(p.name + ", " for p in op.params)
    slow = f"{general}({op.name}_op, ({everything}){', out' if with_out else ''})"
    lines = [f"def {op.name}({signature_source(op, with_out)}):"]
    if not (op.has_list or op.outputs or op.kind == "slow"):
        lines += ["    " + line for line in _fast_path(op, slow, with_out)]
    lines.append(f"    return {slow}")
    return lines


def _fast_path(op: Op, slow: str, with_out: bool) -> list[str]:
    """The nested ifs of the ordinary call; falling out of them means the general path."""
    plan = Plan(op) if op.rules else None
    GENERATED[f"{op.name}_kernel"] = direct(op.kernel)
    arrays = op.arrays
    first = arrays[0] if arrays else None
    if first is None:
        return []
    lines: list[str] = []
    conditions = _type_tests(op)
    if with_out:
        conditions.append("out is None")
    pad = ""

    def emit(text: str) -> None:
        lines.append(pad + text)

    emit(f"if {' and '.join(conditions)}:")
    pad += "    "
    read = "._array()" if op.is_view else "._data"
    emit(f"a_{first} = {first}{read}")
    for line in _operand_source(op, slow):
        emit(line)
    emit("m = mode()")
    emit("if m is GRAD or m is NO_GRAD:")
    pad += "    "
    if not op.quiet:
        emit("token = quieten(QUIET)")
    emit("try:")
    for p in op.params:
        if p.kind == "dim":
            emit(f"    {p.name} = canonical_dim({p.name}, a_{first}.ndim)")
        elif p.kind == "dims":
            emit(f"    {p.name} = canonical_dims({p.name}, a_{first}.ndim)")
    for line in _compute_source(op):
        emit("    " + line)
    emit(f"except Exception: return {slow}")
    if not op.quiet:
        emit("finally: unhush(token)")
    emit("out = new(Tensor)")
    emit("out._data = y")
    emit(f"out._form = {_result_form(op) if plan else None}")
    if op.is_view:
        static = "".join(n + ", " for n in op.static)
        emit(f"attach_view(out, {first}, {op.name}_op, ({static}), m)")
    else:
        emit("out._view = out._vc = None")
    if plan is None:
        emit("out._edge = None")
        cut = " or ".join(f"{n}._edge is not None or {n}._cut is not None" for n in arrays
                          if op.by_name[n].kind == ARRAY)
        if cut:
            emit(f"if {cut}: note_cut(out, ({''.join(n + ', ' for n in arrays)}))")
        emit("return out")
        return lines
    lines += _record_source(op, plan, pad)
    return lines


def _takes_number(op: Op) -> bool:
    """Whether the second of two operands may be a Python number."""
    return op.kind == "elementwise" and op.promote in ("same", "float") and \
        len(op.arrays) == 2 and op.arrays[1] in op.numbers


def _type_tests(op: Op) -> list[str]:
    """The conditions that all arguments are plain tensors; of a number see ``_number_source``."""
    tests = []
    for name in (*op.arrays, *op.indices):
        if _takes_number(op) and name == op.arrays[1]:
            continue
        test = f"(type({name}) is Tensor or type({name}) in PLAIN)"
        optional = op.by_name[name].kind in (OPTIONAL, "optional index")
        tests.append(f"({name} is None or {test})" if optional else test)
    return tests


def _keeps_form(op: Op) -> bool:
    """Whether operands of one form give a result of that form."""
    return has_lean_class(op) and op.promote in ("same", "float") and not op.any_dtype


def _result_form(op: Op) -> str:
    """An expression for the form of the result, by the form ``k`` of the operands."""
    if not _keeps_form(op):
        return "None"
    if op.fast or _kernel_source(op) or isinstance(direct(op.kernel), xp.ufunc):
        return "k"
    # Of other kernels it is not known whether they make arrays of scalars.
    return f"k if y.__class__ is a_{op.arrays[0]}.__class__ else None"


def _operand_source(op: Op, slow: str) -> list[str]:
    """Lines that read the operands' data after the first's, and check that the dtypes agree.

    Where it may, ``k`` is set to the form that all of them have, or to None.
    """
    first, *others = op.arrays
    read = []
    for name in (*others, *op.indices):
        optional = op.by_name[name].kind in (OPTIONAL, "optional index")
        read.append(f"a_{name} = " + (f"None if {name} is None else {name}._data" if optional
                                      else f"{name}._data"))
    if op.any_dtype:
        return read
    unlike = []
    for name in others:
        test = f"a_{name}.dtype is not dt"
        unlike.append(f"({name} is not None and {test})" if op.by_name[name].kind == OPTIONAL
                      else test)
    refused = " or ".join(["dt is not F4 and dt is not F8", *unlike])
    check = [f"dt = a_{first}.dtype", f"if {refused}: return {slow}"]
    if op.fast and others:
        check.append(_level_source(op))
    if _keeps_form(op):
        differ = [f"({n} is not None and {n}._form is not k)" if op.by_name[n].kind == OPTIONAL
                  else f"{n}._form is not k" for n in others]
        check = [f"k = {first}._form", f"if {' or '.join(['k is None', *differ])}:",
                 *(["    k = None"] if differ else []), *("    " + line for line in check)]
    if not _takes_number(op):
        return [*read, *check]
    other = others[0]
    number = [f"dt = a_{first}.dtype",
              f"if dt is not F4 and dt is not F8: return {slow}",
              f"if a_{first}.__class__ is ndarray: {other} = (C4 if dt is F4 else C8)[{other}]",
              f"else: {other} = (N4 if dt is F4 else N8)[{other}]"]
    if _keeps_form(op):
        number = [f"k = {first}._form", f"if k is not None: {other} = k.numbers[{other}]",
                  "else:", *("    " + line for line in number)]
    return [f"if type({other}) is Tensor or type({other}) in PLAIN:",
            *("    " + line for line in (*read, *check)),
            f"elif type({other}) is float or type({other}) is int:",
            *("    " + line for line in (*number, *read)),
            f"else: return {slow}"]


def _level_source(op: Op) -> str:
    """A line that makes arrays or scalars of two operands of which one is each."""
    one, two = (f"a_{n}" for n in op.arrays)
    return f"if {one}.__class__ is not {two}.__class__: {one}, {two} = level({one}, {two})"


def _compute_source(op: Op) -> list[str]:
    """Lines that set ``y``, the raw output."""
    lines = []
    call = ", ".join((f"{p.name}=" if p.keyword_only else "") +
                     (f"a_{p.name}" if p.name in op.arrays or p.name in op.indices else p.name)
                     for p in op.params)
    if op.check:
        GENERATED[f"{op.name}_check"] = op.check
        lines.append(f"{op.name}_check({call})")
    if not op.fast:
        return [*lines, *(_kernel_source(op) or [f"y = {op.name}_kernel({call})"])]
    # A Python operator: on NumPy scalars it is ten times as fast as the ufunc.
    options = [p for p in op.params if p.name in op.static]
    usual = " and ".join(f"{p.name} is {op.name}_default_{p.name}" for p in options)
    formula = op.fast.format(*(f"a_{n}" for n in op.arrays))
    if usual:
        formula += f" if {usual} else {op.name}_kernel({call})"
    return [*lines, f"y = {formula}"]


def _write_path(op: Op, slow: str) -> list[str]:
    """The ordinary write, which is not recorded: see :func:`retrograd.inplace.goes_unrecorded`.

    A result of another shape or dtype, or a read-only array, is refused by the general path.
    """
    if op.kind != "elementwise" or op.promote is None or op.indices or op.outputs or op.writer or \
            op.any_dtype or any(op.by_name[n].kind != ARRAY for n in op.arrays):
        return []
    GENERATED[f"{op.name}_kernel"] = direct(op.kernel)
    first, *others = op.arrays
    check = [f"a_{n} = {n}._data" for n in others]
    check += [f"plain = {''.join(f'a_{n}.dtype is dt and ' for n in others)}"
              f"goes_unrecorded({', '.join(op.arrays)})"]
    if _takes_number(op):
        # Not kept as the constants of _number_source are: optimizers write with ever new numbers.
        check = [f"if type({others[0]}) is float or type({others[0]}) is int:",
                 f"    a_{others[0]} = dt.type({others[0]}); plain = goes_unrecorded({first})",
                 f"elif type({others[0]}) is Tensor or type({others[0]}) in PLAIN:",
                 *("    " + line for line in check),
                 "else: plain = False"]
    write = [*([_level_source(op)] if op.fast and others else []), *_compute_source(op),
             f"if y.dtype is not dt or y.shape != {first}._data.shape: return {slow}",
             f"{first}._data[...] = y"]
    write = ["try:", *("    " + line for line in write), f"except Exception: return {slow}"]
    if not op.quiet:
        write = ["token = quieten(QUIET)", *write, "finally: unhush(token)"]
    write += [f"vc = {first}._vc", f"if vc is None: vc = {first}._counter()", "vc.n += 1",
              *_site_source(), "vc.code = code; vc.lasti = f.f_lasti", f"return {first}"]
    body = [*check, "if plain:", *("    " + line for line in write)]
    lines = [f"a_{first} = {first}._data", f"dt = a_{first}.dtype",
             f"if (dt is F4 or dt is F8) and a_{first}.__class__ is ndarray:",
             *("    " + line for line in body)]
    return [f"if {' and '.join(_type_tests(op))}:", *("    " + line for line in lines)]


def _site_source() -> list[str]:
    """Lines that find the user's line: ``code`` and ``f.f_lasti``."""
    return ["f = frame(1); code = f.f_code",
            "if code is not user_code: f = locate(f); code = f.f_code"]


def _kernel_source(op: Op) -> list[str]:
    """Lines that set ``y``, for an elementwise kernel that is a formula with constants."""
    if op.kind != "elementwise" or op.static or op.any_dtype:
        return []
    formula, constants = written_out(op.kernel, [f"a_{n}" for n in op.by_name],
                                     GENERATED) or ("", [])
    if not constants:
        return []
    return [_numbers_source(f"{op.name}_kernel_number", constants, f"a_{op.arrays[0]}"),
            f"y = {formula}"]


def _record_source(op: Op, plan: Plan, pad: str) -> list[str]:
    lines: list[str] = []

    def emit(text: str, depth: int = 0) -> None:
        lines.append(pad + "    " * depth + text)

    arrays = op.arrays
    for i, name in enumerate(arrays):
        read = f"{name}._edge if {name}._view is None else edge_of({name})"
        if op.by_name[name].kind == OPTIONAL:
            read = f"None if {name} is None else {read}"
        emit(f"e{i} = {read}")
    live = " and ".join(f"e{i} is None" for i in range(len(arrays)))
    tensors = "".join(n + ", " for n in arrays)
    emit(f"if {live}:")
    emit("out._edge = None", 1)
    cuts = " or ".join(f"{n}._cut is not None" for n in arrays if op.by_name[n].kind == ARRAY)
    if cuts:
        emit(f"if {cuts}: note_cut(out, ({tensors}))", 1)
    emit("return out", 1)
    emit("if m is NO_GRAD:")
    emit("out._edge = None", 1)
    emit(f"if {arrays[0]}._edge is None: note_cut(out, ({tensors}))", 1)
    emit("else:", 1)
    for line in (*_site_source(), "out._cut = Site(code, f.f_lasti)"):
        emit(line, 2)
    emit("return out", 1)
    for line in _node_source(op, plan):
        emit(line)
    emit("node.seq = next(ages)")
    if _saved_slots(plan):
        for line in (*_site_source(), "node.code = code; node.lasti = f.f_lasti"):
            emit(line)
    for i, name in enumerate(arrays):
        target = ("next0", "next1")[i] if i < 2 else None
        value = f"{name} if e{i} is LEAF else e{i}"
        if target:
            emit(f"node.{target} = {value}")
    if len(arrays) > 2:
        rest = "".join(f"({n} if e{i} is LEAF else e{i}), "
                       for i, n in enumerate(arrays) if i >= 2)
        emit(f"node.rest = ({rest})")
    for i in plan.likes:
        emit(f"node.like{i} = {_like_of(op, i)}")
    for name in plan.saved_arrays:
        users = plan.users(name)
        optional = op.by_name[name].kind in (OPTIONAL, "optional index")
        given = f"{name} is not None and " if optional else ""
        body = [f"node.{name} = {name}",
                f"if {given}(vc := {name}._vc) is not None and vc.n: "
                f"keep_version(node, {name!r}, vc.n)"]
        if len(users) == len(arrays):
            for b in body:
                emit(b)
        else:
            emit("if " + " or ".join(f"e{i} is not None" for i in users) + ":")
            for b in body:
                emit(b, 1)
            emit(f"else: node.{name} = None")
    for name in plan.saved_static:
        if not (has_lean_class(op) and not op.by_name[name].required):
            emit(f"node.{name} = {name}")
    if plan.saved_outputs:
        emit("node.out_y = y; node.seal = None")
    emit("out._edge = node")
    emit("return out")
    return lines


def _node_source(op: Op, plan: Plan) -> list[str]:
    """Lines that make the node, with what it needs to fit gradients to the operands."""
    GENERATED[f"{op.name}_node"] = node_class(op)
    full = [f"node = {op.name}_node()"]
    if not has_lean_class(op):
        if plan.fitted:
            full.append(f"node.fits = ({''.join(_like_of(op, i) + ', ' for i in plan.fitted)})")
        return full
    GENERATED[f"{op.name}_lean_node"] = node_class(op, "lean")
    lean = f"node = {op.name}_lean_node()"
    options = [n for n in plan.saved_static if not op.by_name[n].required]
    full += [f"node.{n} = {n}" for n in options]
    usual = [f"{n} is {op.name}_default_{n}" for n in options]
    branches = []
    if len(op.arrays) == 1:
        if not usual:
            return [lean]
        branches.append((usual, [lean]))
        full += ["node.fits = None"] if plan.fitted else []
    else:
        same = " == ".join(f"a_{n}.shape" for n in op.arrays)
        if _keeps_form(op):
            branches.append((["k is not None", *usual], [lean]))
        branches.append(([*usual, same], [lean, *_learn_source(op, op.arrays)]))
        if _takes_number(op):
            branches.append(([*usual, "e1 is None", f"not a_{op.arrays[1]}.ndim"],
                             [lean, *_learn_source(op, op.arrays[:1])]))
        full += _fits_source(op, plan)
    lines: list[str] = []
    for conditions, body in branches:
        lines += [f"{'elif' if lines else 'if'} {' and '.join(conditions)}:",
                  *("    " + line for line in body)]
    return [*lines, "else:", *("    " + line for line in full)]


def _learn_source(op: Op, operands: list[str]) -> list[str]:
    """Lines that give operands, and the result, the form that they turned out to have."""
    if not _keeps_form(op):
        return []
    targets = "".join(f" = {n}._form" for n in operands)
    return [f"s = a_{op.arrays[0]}.shape",
            f"if s: out._form{targets} = (forms4 if dt is F4 else forms8)[s]",
            "else: out._form = scalar_form(y.__class__)"]


def _fits_source(op: Op, plan: Plan) -> list[str]:
    """Lines that note the shapes of the operands that were broadcast."""
    if not plan.fitted:
        return []
    likes = [f"l{i}" for i in plan.fitted]
    return ["s = y.shape",
            *(f"l{i} = None if e{i} is None or a_{op.arrays[i]}.shape == s else {_like_of(op, i)}"
              for i in plan.fitted),
            f"node.fits = ({', '.join(likes)},) if "
            f"{' or '.join(f'{like} is not None' for like in likes)} else None"]


def _like_of(op: Op, i: int) -> str:
    array = f"a_{op.arrays[i]}"
    like = f"Like({array}.shape, {array}.dtype)"
    return f"None if {array} is None else {like}" if op.by_name[op.arrays[i]].kind == OPTIONAL \
        else like


__all__ = ["ARRAY", "ARRAYS", "build", "build_inplace", "node_class"]
