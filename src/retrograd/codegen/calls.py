"""The calls of an op, written out: plain ones, ones inside a transform, and writes in place.

Each reads its arguments, computes, records and returns; what it does not handle itself it leaves
to the general path, by ``slow``. Only the words between differ: see :mod:`.operands` for reading
and :mod:`.recording` for recording.
"""

from __future__ import annotations

from ..backend.numpy import ufunc
from ..core.binding import direct, positional
from ..core.formulas import written_out
from ..core.op import ARRAY, GENERATED, Op
from .compiling import fused_source, is_small, large_source, numbers_source, site_source
from .node_layout import NodeLayout
from .nodes import node_class
from .operands import (
    dims_source,
    keeps_form,
    level_source,
    read_source,
    read_traced_source,
    takes_number,
    tensors_of,
    type_tests,
)
from .recording import (
    differentiable_outputs,
    edges_source,
    like_source,
    next_source,
    outs_of,
    record_source,
    small_source,
    unrecorded_source,
)
from .switch import GeneralPath


def signature_source(op: Op, with_out: bool) -> str:
    """The parameter list of the public function."""
    parts = []
    star = False
    for p in op.params:
        if p.keyword_only and not star and not op.former:
            parts.append("*")
            star = True
        if p.required:
            parts.append(f"{p.name}=REQUIRED")
        else:
            GENERATED[f"{op.name}_default_{p.name}"] = p.default
            parts.append(f"{p.name}={op.name}_default_{p.name}")
    if with_out:
        if not star:
            parts.append("*")
        parts.append("out=None")
    return ", ".join(parts)


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


# ---------------------------------------------------------------- plain calls


def forward_source(op: Op, general: str = "call", with_out: bool = True) -> list[str]:
    """The function of an op; ``general`` names the way of the calls it does not handle itself."""
    with_out = with_out and op.takes_out
    everything = "".join(p.name + ", " for p in op.params)
    slow = f"{general}({op.name}_op, ({everything}){', out' if with_out else ''})"
    lines = [f"def {op.name}({signature_source(op, with_out)}):"]
    if GeneralPath.only or not op.arrays or op.kind == "slow" or (is_cut(op) and not op.is_view):
        pass  # the way there is all
    elif op.has_list:
        lines += indented(_list_path(op, slow, with_out))
    else:
        lines += indented(_fast_path(op, slow, with_out))
    return [*lines, "    # Whatever is not usual: the general path.", f"    return {slow}"]


def recorded_source(op: Op) -> list[str]:
    """A function that records a call whose result ``y`` is computed later; None if it is unusual.

    It has the arguments of the op, all by position.
    """
    names = ", ".join(p.name for p in op.params)
    attempt = attempt_source([*dims_source(op), *_check_source(op), "pass"], is_guarded=False)
    return [f"def {op.name}(y, {names}):", *indented(_fast_path(op, "None", False, attempt))]


def _fast_path(op: Op, slow: str, with_out: bool, attempt: list[str] | None = None) -> list[str]:
    """The nested ifs of the ordinary call; falling out of them means the general path.

    ``attempt`` are the lines that compute its result.
    """
    GENERATED[f"{op.name}_kernel"] = direct(op.kernel)
    finish = _parts_source(op, slow) if is_cut(op) else [
        *_outputs_source(op, slow),
        *(record_source(op, NodeLayout(op)) if op.rules
          else unrecorded_source(op, ("_edge", "_cut")))]
    compute = attempt or attempt_source(
        [*dims_source(op), *compute_source(op, small_source(op))], not op.quiet)
    compute += indented(finish)
    same = " and dtype is None" if op.gives_dtype else ""
    same += "".join([f" and type({p.name}) is {p.note}" for p in op.whole_numbers])
    same += "".join([f" and type({p.name}) in REAL" for p in op.factors])
    return ["# The usual call: plain tensors of one floating dtype, in an ordinary mode.",
            f"if {type_tests(op)}{' and out is None' if with_out else ''}{same}:",
            *indented(read_source(op, slow, op.former and with_out)), "    m = get_mode()",
            "    if m is GRAD or m is NO_GRAD:", *indented(indented(compute))]


def _list_path(op: Op, slow: str, with_out: bool) -> list[str]:
    """The same for an op over a list of tensors, whose rule asks for nothing but their shapes."""
    layout = NodeLayout(op)
    if not op.rules or len(tensors_of(op)) > 1 or layout.saved_slots() or op.outputs or op.is_view \
            or op.promote == "float":
        return []
    (name,) = op.arrays
    GENERATED[f"{op.name}_kernel"], GENERATED[f"{op.name}_node"] = op.kernel, node_class(op)
    finish = ["out = new(Tensor)", "out._data = y",
              "out._form = out._edge = out._view = out._vc = out._cut = None",
              "if is_live:",
              f"    node = {op.name}_node()",
              "    node.seq = next(ages)",
              "    node.next0 = None; node.rest = tuple(edges)",
              *(f"    node.like{i} = [Like(a.shape, dt) for a in a_{name}]" for i in layout.likes),
              *(f"    node.{n} = {n}" for n in layout.saved_static),
              "    out._edge = node",
              "return out"]
    return ["# The usual call: a list of plain tensors of one dtype, in an ordinary mode.",
            "m = get_mode()",
            f"if (m is GRAD or m is NO_GRAD) and (type({name}) is list or type({name}) is tuple)"
            f"{' and out is None' if with_out else ''}:",
            f"    a_{name} = []; dt = None; is_live = False",
            f"    for t in {name}:",
            "        if t.__class__ is not Tensor and type(t) not in PLAIN or t._cut is not None: "
            f"return {slow}",
            "        a = t._data",
            "        if a.dtype is not dt:",
            f"            if dt is not None: return {slow}",
            "            dt = a.dtype",
            f"        a_{name}.append(a)",
            "        if t._edge is not None or t._view is not None: is_live = True",
            "    if is_live:",
            f"        edges = [edge_of(t) for t in {name}]",
            "        is_live = any([e is not None for e in edges])",
            "        if is_live and (m is NO_GRAD or (dt is not F4 and dt is not F8)): "
            f"return {slow}",
            *indented(attempt_source(compute_source(op, "True"), not op.quiet)),
            *indented(indented(finish))]


def attempt_source(lines: list[str], is_guarded: bool) -> list[str]:
    """Lines that try ``lines``, with NumPy quiet; what is to follow where that works is indented.

    The handler is left before the general path words the error, which is then the only one to see.
    """
    if is_guarded:
        lines = ["errors = error_state()", "try:", "    quieten(QUIET)", *indented(lines),
                 "finally: quieten(errors)"]
    return ["try:", *indented(lines), "except Exception: pass", "else:"]


def _outputs_source(op: Op, slow: str) -> list[str]:
    """Lines that make the tensors of the results."""
    lines = ["# The results as tensors."]
    if op.outputs:
        lines.append(f"{', '.join(f'y{nr}' for nr in range(len(op.outputs)))} = y")
        unlike = [f"y{nr}.dtype is not dt" for nr in differentiable_outputs(op)]
        if unlike and not op.any_dtype:
            # A result of another dtype needs a node of another class.
            lines.append(f"if {' or '.join(unlike)}: return {slow}")
    for nr, out in enumerate(outs_of(op)):
        lines += [f"{out} = new(Tensor)", f"{out}._data = y{nr if op.outputs else ''}",
                  f"{out}._form = {_result_form(op) if op.rules else None}",
                  *([f"{out}._cut = None", *_usual_view_source(op, out)] if op.is_view
                    else [f"{out}._view = {out}._vc = {out}._cut = None"])]
    return lines


def _view_source(op: Op, out: str) -> str:
    return f"attach_view({out}, {op.arrays[0]}, {op.name}_op, {_static_source(op)}, m)"


def _static_source(op: Op) -> str:
    return f"({''.join(f'{n}, ' for n in op.static)})"


def _usual_view_source(op: Op, out: str) -> list[str]:
    """Lines that do what ``attach_view`` does for memory that has been looked at before."""
    first = op.arrays[0]
    return [f"above = {first}._view; owner = {first} if above is None else above.base",
            "vc = owner._vc",
            f"if vc is None or vc is INFERENCE or vc.views is None: {_view_source(op, out)}",
            "else:",
            f"    view = {out}._view = View(); {out}._vc = vc",
            f"    view.base = owner; view.parent = above; view.op = {op.name}_op",
            f"    view.static = {_static_source(op)}; view.version = vc.n",
            "    view.origin = 'no_grad' if m is NO_GRAD else '' if above is None "
            "else above.origin",
            f"    vc.views.append(ref({out}))",
            "    if len(vc.views) > vc.room: vc.forget_dead_views()"]


def is_cut(op: Op) -> bool:
    """Whether the results are parts, of which there may be any number."""
    return op.outputs == ("list",)


def _parts_source(op: Op, slow: str) -> list[str]:
    """Lines that return the views of one tensor's parts."""
    (name,) = op.arrays
    layout = NodeLayout(op)
    GENERATED[f"{op.name}_node"] = node_class(op)
    static = "".join(f"{n}, " for n in op.static)
    return ["outs = []",
            "for part in y:",
            "    out = new(Tensor); out._data = part; "
            "out._form = out._edge = out._cut = None",
            f"    attach_view(out, {name}, {op.name}_op, ({static}len(outs)), m, 'multi')",
            "    outs.append(out)",
            "outs = tuple(outs)",
            *edges_source(op),
            "if e0 is None or m is NO_GRAD:",
            f"    if e0 is not None or {name}._cut is not None:",
            f"        for out in outs: note_cut(out, ({name},))",
            "    return outs",
            f"dt = a_{name}.dtype",
            f"if dt is not F4 and dt is not F8: return {slow}",
            f"node = {op.name}_node()",
            "node.seq = next(ages)",
            *next_source(op),
            *(f"node.like{i} = {like_source(op, i)}" for i in layout.likes),
            *(f"node.{n} = {n}" for n in layout.saved_static),
            "node.outputs = len(outs)",
            "for nr, out in enumerate(outs): out._edge = output_edge(node, nr)",
            "return outs"]


def _result_form(op: Op) -> str:
    """An expression for the form of the result, by the form ``form`` of the operands."""
    if not keeps_form(op):
        return "None"
    if op.fast or _kernel_formula(op)[1] or isinstance(direct(op.kernel), ufunc):
        return "form"
    # Of other kernels it is not known whether they make arrays of scalars.
    return f"form if y.__class__ is a_{op.arrays[0]}.__class__ else None"


def compute_source(op: Op, small: str) -> list[str]:
    """Lines that set ``y``, the raw output; ``small`` is the condition that no array is large."""
    lines = _check_source(op)
    kernel = _fused(op, f"{op.name}_kernel({_call_source(op)})", small)
    if not op.fast:
        return [*lines, *(_kernel_source(op, small) or [f"y = {kernel}"])]
    # A Python operator: on NumPy scalars it is ten times as fast as the ufunc.
    options = [p for p in op.params if p.name in op.static]
    usual = " and ".join(f"{p.name} is {op.name}_default_{p.name}" for p in options)
    formula = large_source(op.name, op.fast.format(*(f"a_{n}" for n in op.arrays)), [], small)
    if usual:  # the number may be the tensor of a former call
        are_numbers = " and ".join(f"type({p.name}) in NUMBERS" for p in options)
        formula = f"({formula}) if {usual} else {kernel} if {are_numbers} " \
                  "else left_to_the_general_path()"
    return [*lines, f"y = {formula}"]


def _given_source(op: Op) -> list[str]:
    """The arguments of a kernel, in order."""
    return [f"a_{p.name}" if p.name in tensors_of(op) else p.name for p in op.params]


def _call_source(op: Op) -> str:
    return ", ".join((f"{p.name}=" if p.keyword_only else "") + given
                     for p, given in zip(op.params, _given_source(op), strict=True))


def _check_source(op: Op) -> list[str]:
    """Lines that look at the arguments before anything is computed."""
    if not op.check:
        return []
    GENERATED[f"{op.name}_check"] = op.check
    return [f"{op.name}_check({_call_source(op)})"]


def _fused(op: Op, usual: str, small: str) -> str:
    """An expression for what ``usual`` is, which large arrays have computed in one pass."""
    if not is_fusible(op):
        return usual
    return fused_source(op.name, positional(op), ", ".join(_given_source(op)), usual, small)


def is_fusible(op: Op) -> bool:
    """Whether large arrays may be computed in one pass: of one dtype, and element by element."""
    return op.kind == "elementwise" and not op.any_dtype and not op.outputs and not op.has_list


def _kernel_source(op: Op, small: str) -> list[str]:
    """Lines that set ``y``, for an elementwise kernel that is a formula.

    One without constants is called, unless large arrays have it computed by a native kernel.
    """
    formula, constants = _kernel_formula(op)
    chosen = large_source(op.name, formula, constants, small) if formula else ""
    if chosen == formula and not constants:
        return []
    if chosen == formula:
        chosen = _fused(op, formula, small)
    numbers = numbers_source(f"{op.name}_kernel_number", constants, f"a_{op.arrays[0]}")
    return [*([numbers] if constants else []), f"y = {chosen}"]


def _kernel_formula(op: Op) -> tuple[str, list[float]]:
    """An elementwise kernel as a formula with its constants; empty for any other."""
    if op.kind != "elementwise" or op.static or op.any_dtype:
        return "", []
    return written_out(op.kernel, [f"a_{n}" for n in op.by_name], GENERATED) or ("", [])


# ---------------------------------------------------------------- calls inside a transform


def traced_source(op: Op) -> list[str]:
    """The call of an op on a transform's data, by ``way`` for batches; see ``transforms.calls``."""
    slow = "NotImplemented"
    values = ", ".join(f"a_{n}" if n in tensors_of(op) else n for n in op.by_name)
    tensors = ", ".join(f"{n!r}: {n}" for n in tensors_of(op))
    compute = attempt_source([
        *dims_source(op),
        f"y = {op.name}_way({op.name}_op, [{values}], top) if top.__class__ is Batched else "
        f"compute_dual({op.name}_op, [{values}], top)"], is_guarded=True)
    finish = [f"return finish({op.name}_op, {{{tensors}}}, [{values}], y, m)"]
    if not op.outputs:
        finish = ["# Several results, and stacks to remember, are left to the general path's end.",
                  "if y.__class__ is tuple or y.__class__ is list or Anomaly.enabled "
                  "or m.ledger is not None:",
                  *indented(finish),
                  "# The result as a tensor.",
                  "out = new(TracedTensor if y.__class__ in TRACED_TYPES else Tensor)",
                  "out._data = y",
                  "out._form = out._edge = out._view = out._vc = out._cut = None",
                  *([_view_source(op, "out")] if op.is_view else []),
                  *(record_source(op, NodeLayout(op), is_traced=True) if op.rules
                    else unrecorded_source(op, ("_edge", "_cut")))]
    return ["def call(args, m):", f"    {''.join(f'{name}, ' for name in op.by_name)}= args",
            "    # The usual call: real numbers of one dtype, of which some are a transform's.",
            *indented(read_traced_source(op, slow)), *indented(compute),
            *indented(indented(finish)),
            "    # Whatever is not usual: the general path.", f"    return {slow}"]


# ---------------------------------------------------------------- writes in place


def write_source(op: Op, general: str = "call_inplace") -> list[str]:
    """The function of an op's in-place variant."""
    name = op.name + "_"
    slow = f"{general}({op.name}_op, ({''.join(p.name + ', ' for p in op.params)}))"
    return [f"def {name}({signature_source(op, with_out=False)}):",
            *indented(_write_path(op, slow)), "    # Whatever is not usual: the general path.",
            f"    return {slow}"]


def _unrecorded_source(names: list[str]) -> str:
    """A condition like ``goes_unrecorded``, which is asked where the answer is not at hand."""
    first = names[0]
    plain = [f"{n}._edge is {n}._view is {n}._cut is None" for n in names]
    # Arrays that have memory of their own are apart; one alone need only not be expanded.
    apart = [f"a_{n}.base is None" for n in names] if len(names) > 1 else \
        [f"(a_{first}.base is None or 0 not in a_{first}.strides)"]
    return (f"{' and '.join(plain + apart)} and get_mode() is GRAD and "
            f"{first}._vc is not INFERENCE or goes_unrecorded({', '.join(names)})")


def _write_path(op: Op, slow: str) -> list[str]:
    """The ordinary write, which is not recorded: see ``core.inplace.goes_unrecorded``.

    A result of another shape or dtype, or a read-only array, is refused by the general path.
    """
    if GeneralPath.only or op.kind != "elementwise" or op.promote is None or op.indices or \
            op.outputs or op.writer or op.any_dtype or \
            any(op.by_name[n].kind != ARRAY for n in op.arrays):
        return []
    GENERATED[f"{op.name}_kernel"] = direct(op.kernel)
    first, *others = op.arrays
    check = [f"a_{n} = {n}._data" for n in others]
    check += [f"plain = {''.join(f'a_{n}.dtype is dt and ' for n in others)}"
              f"({_unrecorded_source(op.arrays)})"]
    if takes_number(op):
        # Not kept as the constants of plain calls are: optimizers write with ever new numbers.
        check = [f"if type({others[0]}) is float or type({others[0]}) is int:",
                 f"    a_{others[0]} = dt.type({others[0]}); "
                 f"plain = {_unrecorded_source([first])}",
                 f"elif type({others[0]}) is Tensor or type({others[0]}) in PLAIN:",
                 *indented(check), "else: plain = None"]
    small = f"{first}._form is not None or {is_small(f'a_{first}')}"
    store = [f"if y.dtype is not dt or y.shape != {first}._data.shape: return {slow}",
             "# Stores without a call between them, after which an interrupt might come.",
             f"{first}._data[...] = y; vc.n += 1"]
    levelled = [level_source(op)] if op.fast and others else []
    write = [*levelled, *compute_source(op, small), *store]
    if f"{op.name}_fused" in GENERATED:
        given = ", ".join([f"{first}._data", *_given_source(op)])
        write = [f"if {small}:", *indented([*levelled, *compute_source(op, "True"), *store]),
                 "else:", *indented(_check_source(op)),
                 f"    fill = {op.name}_fused.into({given})",
                 "    if fill is None:",
                 *indented(indented([*compute_source(op, "False"), *store])),
                 "    else:  # the kernel writes where the array lies",
                 "        vc.n += 1; fill()"]
    done = ["# The memory has another version, whose line is remembered.",
            *site_source(), "vc.code = code; vc.lasti = f.f_lasti", f"return {first}"]
    body = [*check, "if plain:", f"    vc = {first}._vc",
            f"    if vc is None: vc = {first}._counter()",
            *indented(attempt_source(write, not op.quiet)), *indented(indented(done)),
            f"elif plain is False and get_mode() is GRAD and recorded_plainly({op.name}_op, "
            f"{first}, ({''.join(p.name + ', ' for p in op.params)})): return {first}"]
    return ["# The usual write: to an array of a floating dtype, of which nothing is recorded.",
            f"if {type_tests(op)}:", f"    a_{first} = {first}._data", f"    dt = a_{first}.dtype",
            f"    if (dt is F4 or dt is F8) and a_{first}.__class__ is ndarray:",
            *indented(indented(body))]
