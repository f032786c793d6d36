"""Reading the arguments of a call: lines that check that they are the usual ones.

In the lines an argument ``x`` is called so, and its raw data ``a_x``.
"""

from __future__ import annotations

from ..core.op import ARRAY, DIM, DIMS, INTS, OPTIONAL, Op
from .node_layout import has_lean_class


def tensors_of(op: Op) -> list[str]:
    """The arguments that are tensors, in order."""
    return [n for n in op.by_name if n in op.arrays or n in op.indices]


def is_optional(op: Op, name: str) -> bool:
    return op.by_name[name].kind in (OPTIONAL, "optional index")


def takes_number(op: Op) -> bool:
    """Whether the second of two operands may be a Python number."""
    return op.kind == "elementwise" and op.promote in ("same", "float") and \
        len(op.arrays) == 2 and op.arrays[1] in op.numbers


def keeps_form(op: Op) -> bool:
    """Whether operands of one form give a result of that form."""
    return has_lean_class(op) and op.promote in ("same", "float") and not op.any_dtype


# ---------------------------------------------------------------- plain calls


def type_tests(op: Op) -> str:
    """The condition that all arguments are plain tensors; one may be a number, which is read."""
    tests = []
    for name in (*op.arrays, *op.indices):
        if takes_number(op) and name == op.arrays[1]:
            continue
        test = f"(type({name}) is Tensor or type({name}) in PLAIN)"
        tests.append(f"({name} is None or {test})" if is_optional(op, name) else test)
    return " and ".join(tests)


def read_source(op: Op, slow: str, may_be_former: bool) -> list[str]:
    """Lines that read the operands' data and check that the dtypes agree.

    Where it may, ``form`` is set to the form that all of them have, or to None. In a call that
    ``may_be_former`` a number is an operand if nothing was given after it.
    """
    first, *others = op.arrays
    start = [f"a_{first} = {first}._data"]
    if op.is_view:  # of a scalar there are none
        start.append(f"if a_{first}.__class__ is not ndarray: a_{first} = {first}._array()")
    read = [f"a_{n} = " + (f"None if {n} is None else {n}._data" if is_optional(op, n)
                           else f"{n}._data") for n in (*others, *op.indices)]
    if op.any_dtype:
        return [*start, *read]
    unlike = [f"({n} is not None and a_{n}.dtype is not dt)" if is_optional(op, n)
              else f"a_{n}.dtype is not dt" for n in others]
    refused = " or ".join([unusual_source(op), *unlike])
    check = [f"dt = a_{first}.dtype", f"if {refused}: return {slow}"]
    if op.fast and others:
        check.append(level_source(op))
    if keeps_form(op):
        differ = [f"({n} is not None and {n}._form is not form)" if is_optional(op, n)
                  else f"{n}._form is not form" for n in others]
        check = [f"form = {first}._form", f"if {' or '.join(['form is None', *differ])}:",
                 *(["    form = None"] if differ else []), *("    " + line for line in check)]
    if not takes_number(op):
        return [*start, *read, *check]
    other = others[0]
    number = [f"dt = a_{first}.dtype",
              f"if dt is not F4 and dt is not F8: return {slow}",
              f"if a_{first}.__class__ is ndarray: {other} = (C4 if dt is F4 else C8)[{other}]",
              f"else: {other} = (N4 if dt is F4 else N8)[{other}]"]
    if keeps_form(op):
        number = [f"form = {first}._form", f"if form is not None: {other} = form.numbers[{other}]",
                  "else:", *("    " + line for line in number)]
    is_number = f"type({other}) is float or type({other}) is int"
    if may_be_former:
        is_number = f"{op.static[0]} is {op.name}_default_{op.static[0]} and ({is_number})"
    return [*start,
            f"if type({other}) is Tensor or type({other}) in PLAIN:",
            *("    " + line for line in (*read, *check)),
            f"elif {is_number}:",
            *("    " + line for line in (*number, *read)),
            f"else: return {slow}"]


def unusual_source(op: Op) -> str:
    """Whether an op has to take the general path because of a dtype, as an expression."""
    return "dt is not Z8 and dt is not Z16" if op.of_complex else "dt is not F4 and dt is not F8"


def level_source(op: Op) -> str:
    """A line that makes arrays or scalars of two operands of which one is each."""
    one, two = (f"a_{n}" for n in op.arrays)
    return f"if {one}.__class__ is not {two}.__class__: {one}, {two} = level({one}, {two})"


def dims_source(op: Op) -> list[str]:
    """Lines that bring dims and sizes to the form in which ops are computed."""
    first = tensors_of(op)[0]
    lines = []
    for p in op.params:
        if p.kind == DIM:
            lines += [f"rank = a_{first}.ndim",
                      f"if {p.name}.__class__ is not int or not -rank <= {p.name} < rank: "
                      f"{p.name} = canonical_dim({p.name}, rank)",
                      f"elif {p.name} < 0: {p.name} += rank"]
        elif p.kind == DIMS:
            lines += [f"rank = a_{first}.ndim",
                      f"if {p.name}.__class__ is not int or not -rank <= {p.name} < rank: "
                      f"{p.name} = canonical_dims({p.name}, rank)",
                      f"else: {p.name} = ({p.name},) if {p.name} >= 0 else ({p.name} + rank,)"]
        elif p.kind == INTS:
            lines.append(f"if {p.name}.__class__ is not tuple: {p.name} = tuple({p.name}) "
                         f"if isinstance({p.name}, (tuple, list)) else ({p.name},)")
    return lines


# ---------------------------------------------------------------- calls inside a transform


def read_traced_source(op: Op, slow: str) -> list[str]:
    """Lines that read the data of all tensors; ``top`` is set to what is outermost of it."""
    lines = ["top = None"]
    for name in tensors_of(op):
        lines += _read_one_source(op, name, slow)
    return [*lines, f"if top is None: return {slow}"]


def _read_one_source(op: Op, name: str, slow: str) -> list[str]:
    data = f"a_{name}"
    higher = f"    if top is None or {data}.level > top.level: top = {data}"
    if op.by_name[name].kind not in (ARRAY, OPTIONAL):
        return [f"c = {name}.__class__",
                f"if c is TracedTensor or c is Tensor or c in PLAIN: {data} = {name}._data",
                f"elif {name} is None: {data} = None",
                f"else: return {slow}",
                f"if {data}.__class__ in TRACED_TYPES:", higher]
    read = f"    {data} = {name}.{'_array()' if op.is_view else '_data'}"  # of a scalar no views
    lines = [f"c = {name}.__class__",
             "if c is TracedTensor:",
             read,
             higher,
             "elif c is Tensor or c in PLAIN:",
             read,
             f"    if {data}.__class__ in TRACED_TYPES: return {slow}"]
    checks_dtype = op.promote is not None or op.guard is not None
    sets_dtype = checks_dtype and name == op.arrays[0]
    if name in op.numbers and checks_dtype and not sets_dtype:
        lines += ["elif c is float or c is int:",
                  f"    {name} = (C4 if dt is F4 else C8)[{name}]",
                  f"    {data} = {name}._data"]
    if is_optional(op, name):
        lines.append(f"elif {name} is None: {data} = None")
    lines.append(f"else: return {slow}")
    if sets_dtype:
        lines += [f"dt = {data}.dtype", f"if dt is not F4 and dt is not F8: return {slow}"]
    elif checks_dtype:
        given = f"{data} is not None and " if is_optional(op, name) else ""
        lines.append(f"if {given}{data}.dtype is not dt: return {slow}")
    return lines
