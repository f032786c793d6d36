"""The function of an op: the ordinary call, and the way out to the general one."""

from __future__ import annotations

from typing import Any

from ..backend import xp
from ..core.binding import direct
from ..core.formulas import written_out
from ..core.op import GENERATED, OPTIONAL, Op
from .compiling import RESERVED, numbers_source, site_source
from .nodes import node_class
from .plan import Plan, has_lean_class


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
    if with_out and op.takes_out:
        if not star:
            parts.append("*")
        parts.append("out=None")
    return ", ".join(parts)


def forward_source(op: Op, general: str = "call", with_out: bool = True) -> list[str]:
    """The function of an op; ``general`` names the way of the calls it does not handle itself."""
    clash = RESERVED & op.by_name.keys()
    if clash:
        raise TypeError(f"{op.name} has an argument called {clash.pop()}, which is a name of "
                        "generated code")
    with_out = with_out and op.takes_out
    everything = "".join(p.name + ", " for p in op.params)
    slow = f"{general}({op.name}_op, ({everything}){', out' if with_out else ''})"
    lines = [f"def {op.name}({signature_source(op, with_out)}):"]
    if not (op.has_list or op.kind == "slow" or (is_cut(op) and not op.is_view)):
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
    conditions = type_tests(op)
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
    emit("m = get_mode()")
    emit("if m is GRAD or m is NO_GRAD:")
    pad += "    "
    compute = [f"{p.name} = canonical_{p.kind}({p.name}, a_{first}.ndim)" for p in op.params
               if p.kind in ("dim", "dims")]
    for line in attempt_source(op, [*compute, *compute_source(op)]):
        emit(line)
    pad += "    "
    if is_cut(op):
        return lines + [pad + line for line in _parts_source(op, plan or Plan(op), slow)]
    if op.outputs:
        emit(f"{', '.join(f'y{nr}' for nr in range(len(op.outputs)))} = y")
        unlike = [f"y{nr}.dtype is not dt" for nr in _differentiable(op)]
        if unlike and not op.any_dtype:
            # A result of another dtype needs a node of another class.
            emit(f"if {' or '.join(unlike)}: return {slow}")
    for nr, out in enumerate(_outs(op)):
        emit(f"{out} = new(Tensor)")
        emit(f"{out}._data = y{nr if op.outputs else ''}")
        emit(f"{out}._form = {_result_form(op) if plan else None}")
        if op.is_view:
            static = "".join(n + ", " for n in op.static)
            emit(f"attach_view({out}, {first}, {op.name}_op, ({static}), m)")
        else:
            emit(f"{out}._view = {out}._vc = None")
    if plan is None:
        lines += [pad + line for line in _unrecorded_source(op, _cut_test(op, ("_edge", "_cut")))]
        return lines
    lines += _record_source(op, plan, pad)
    return lines


def attempt_source(op: Op, lines: list[str]) -> list[str]:
    """Lines that try ``lines``, with NumPy quiet; what is to follow where that works is indented.

    The handler is left before the general path words the error, which is then the only one to see.
    """
    if not op.quiet:
        lines = ["token = quieten(QUIET)", "try:", *("    " + line for line in lines),
                 "finally: unhush(token)"]
    return ["try:", *("    " + line for line in lines), "except Exception: pass", "else:"]


def is_cut(op: Op) -> bool:
    """Whether the results are parts, of which there may be any number."""
    return op.outputs == ("list",)


def _parts_source(op: Op, plan: Plan, slow: str) -> list[str]:
    """Lines that return the views of one tensor's parts."""
    (name,) = op.arrays
    GENERATED[f"{op.name}_node"] = node_class(op)
    static = "".join(n + ", " for n in op.static)
    return ["outs = []",
            "for part in y:",
            "    out = new(Tensor); out._data = part; out._form = out._edge = None",
            f"    attach_view(out, {name}, {op.name}_op, ({static}len(outs)), m, 'multi')",
            "    outs.append(out)",
            "outs = tuple(outs)",
            f"edge = {name}._edge if {name}._view is None else edge_of({name})",
            "if edge is None or m is NO_GRAD:",
            f"    if edge is not None or {name}._cut is not None:",
            f"        for out in outs: note_cut(out, ({name},))",
            "    return outs",
            f"dt = a_{name}.dtype",
            f"if dt is not F4 and dt is not F8: return {slow}",
            f"node = {op.name}_node()",
            "node.seq = next(ages)",
            f"node.next0 = {name} if edge is LEAF else edge",
            *(f"node.like{i} = {_like_of(op, i)}" for i in plan.likes),
            *(f"node.{n} = {n}" for n in plan.saved_static),
            "node.outputs = len(outs)",
            "for nr, out in enumerate(outs): out._edge = output_edge(node, nr)",
            "return outs"]


def _outs(op: Op) -> list[str]:
    """The variables of the results."""
    return [f"out{nr}" for nr in range(len(op.outputs))] if op.outputs else ["out"]


def _differentiable(op: Op) -> Any:
    """The numbers of the outputs that have gradients."""
    return range(len(op.outputs)) if op.differentiable_outputs is None else \
        op.differentiable_outputs


def tensors_of(op: Op) -> list[str]:
    """The arguments that are tensors, in order."""
    return [n for n in op.by_name if n in op.arrays or n in op.indices]


def _cut_test(op: Op, attributes: tuple[str, ...]) -> str:
    """A condition that a history ended at one of the arguments, or ends here."""
    return "if " + " or ".join(
        f"{f'{n} is not None and ' if is_optional(op, n) else ''}{n}.{attribute} is not None"
        for n in tensors_of(op) for attribute in attributes)


def is_optional(op: Op, name: str) -> bool:
    return op.by_name[name].kind in (OPTIONAL, "optional index")


def _unrecorded_source(op: Op, if_cut: str) -> list[str]:
    """Lines that return results without a history, which remember where it ended."""
    tensors = "".join(n + ", " for n in tensors_of(op))
    outs = _outs(op)
    return [" = ".join(f"{out}._edge" for out in outs) + " = None", if_cut + ":",
            *(f"    note_cut({out}, ({tensors}))" for out in outs), "return " + ", ".join(outs)]


def takes_number(op: Op) -> bool:
    """Whether the second of two operands may be a Python number."""
    return op.kind == "elementwise" and op.promote in ("same", "float") and \
        len(op.arrays) == 2 and op.arrays[1] in op.numbers


def type_tests(op: Op) -> list[str]:
    """The conditions that all arguments are plain tensors; of a number see ``_number_source``."""
    tests = []
    for name in (*op.arrays, *op.indices):
        if takes_number(op) and name == op.arrays[1]:
            continue
        test = f"(type({name}) is Tensor or type({name}) in PLAIN)"
        optional = op.by_name[name].kind in (OPTIONAL, "optional index")
        tests.append(f"({name} is None or {test})" if optional else test)
    return tests


def _keeps_form(op: Op) -> bool:
    """Whether operands of one form give a result of that form."""
    return has_lean_class(op) and op.promote in ("same", "float") and not op.any_dtype


def _result_form(op: Op) -> str:
    """An expression for the form of the result, by the form ``form`` of the operands."""
    if not _keeps_form(op):
        return "None"
    if op.fast or _kernel_source(op) or isinstance(direct(op.kernel), xp.ufunc):
        return "form"
    # Of other kernels it is not known whether they make arrays of scalars.
    return f"form if y.__class__ is a_{op.arrays[0]}.__class__ else None"


def _operand_source(op: Op, slow: str) -> list[str]:
    """Lines that read the operands' data after the first's, and check that the dtypes agree.

    Where it may, ``form`` is set to the form that all of them have, or to None.
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
        check.append(level_source(op))
    if _keeps_form(op):
        differ = [f"({n} is not None and {n}._form is not form)" if op.by_name[n].kind == OPTIONAL
                  else f"{n}._form is not form" for n in others]
        check = [f"form = {first}._form", f"if {' or '.join(['form is None', *differ])}:",
                 *(["    form = None"] if differ else []), *("    " + line for line in check)]
    if not takes_number(op):
        return [*read, *check]
    other = others[0]
    number = [f"dt = a_{first}.dtype",
              f"if dt is not F4 and dt is not F8: return {slow}",
              f"if a_{first}.__class__ is ndarray: {other} = (C4 if dt is F4 else C8)[{other}]",
              f"else: {other} = (N4 if dt is F4 else N8)[{other}]"]
    if _keeps_form(op):
        number = [f"form = {first}._form", f"if form is not None: {other} = form.numbers[{other}]",
                  "else:", *("    " + line for line in number)]
    return [f"if type({other}) is Tensor or type({other}) in PLAIN:",
            *("    " + line for line in (*read, *check)),
            f"elif type({other}) is float or type({other}) is int:",
            *("    " + line for line in (*number, *read)),
            f"else: return {slow}"]


def level_source(op: Op) -> str:
    """A line that makes arrays or scalars of two operands of which one is each."""
    one, two = (f"a_{n}" for n in op.arrays)
    return f"if {one}.__class__ is not {two}.__class__: {one}, {two} = level({one}, {two})"


def compute_source(op: Op) -> list[str]:
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


def _kernel_source(op: Op) -> list[str]:
    """Lines that set ``y``, for an elementwise kernel that is a formula with constants."""
    if op.kind != "elementwise" or op.static or op.any_dtype:
        return []
    formula, constants = written_out(op.kernel, [f"a_{n}" for n in op.by_name],
                                     GENERATED) or ("", [])
    if not constants:
        return []
    return [numbers_source(f"{op.name}_kernel_number", constants, f"a_{op.arrays[0]}"),
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
    outs = _outs(op)
    emit(f"if {' and '.join(f'e{i} is None' for i in range(len(arrays)))}:")
    for line in _unrecorded_source(op, _cut_test(op, ("_cut",))):
        emit(line, 1)
    emit("if m is NO_GRAD:")
    if op.outputs:
        for line in _unrecorded_source(op, "if True"):
            emit(line, 1)
    else:
        # The commonest of all: written out.
        tensors = "".join(n + ", " for n in tensors_of(op))
        emit(f"if {arrays[0]}._edge is None: note_cut(out, ({tensors}))", 1)
        emit("else:", 1)
        for line in (*site_source(), "out._cut = Site(code, f.f_lasti)"):
            emit(line, 2)
        emit("out._edge = None", 1)
        emit("return out", 1)
    for line in _node_source(op, plan):
        emit(line)
    emit("node.seq = next(ages)")
    if plan.saved_slots() or len(op.outputs) > len(_differentiable(op)):
        for line in site_source():
            emit(line)
    if plan.saved_slots():
        emit("node.code = code; node.lasti = f.f_lasti")
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
    for name in plan.saved_outputs:
        emit(f"node.out_{name} = y{op.outputs.index(name) if op.outputs else ''}")
    if plan.saved_outputs:
        emit("node.seal = None")
    if not op.outputs:
        emit("out._edge = node")
    for nr, name in enumerate(outs if op.outputs else ()):
        emit(f"{name}._edge = output_edge(node, {nr})" if nr in _differentiable(op) else
             f"{name}._edge = None; {name}._cut = Site(code, f.f_lasti)")
    emit("return " + ", ".join(outs))
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
            branches.append((["form is not None", *usual], [lean]))
        branches.append(([*usual, same], [lean, *_learn_source(op, op.arrays)]))
        if takes_number(op):
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
