"""Running the rules of a node, written out: on arrays, on tensors, or on a transform's data.

In the lines ``self`` is the node, ``g`` its gradient, ``w0``, ``w1``... the edges that want one
(None for those that do not), and ``r0``, ``r1``... the gradients for them. A saved value is called
as the rules call it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.binding import TENSORS, bound, raw
from ..core.formulas import written_out
from ..core.graph import fit
from ..core.libraries import in_library, moved
from ..core.op import ARRAY, GENERATED, Op, parameters_of
from .compiling import compile_function, fused_source, is_small, large_source, numbers_source
from .node_layout import NodeLayout
from .operands import is_optional


class OnArrays:
    """Rules as they run in an ordinary backward pass."""

    fit = "fit"

    def __init__(self, is_complex: bool):
        self.is_complex = is_complex
        self.label = "complex" if is_complex else "real"

    def bind(self, rule: Any) -> Any:
        return raw(rule, self.is_complex)

    def formula(self, op: Op, layout: NodeLayout, i: int) -> tuple[str, list[float]] | None:
        """The rule of argument ``i`` as an expression with its constants, if it is that simple.

        Written out where it is used it saves a function call, a good part of a small op's cost.
        """
        rule = op.rules[op.arrays[i]]
        code = rule.__code__
        call = arguments_source(op, layout, i)
        sign = getattr(rule, "sign_of_factor", None)
        if sign is not None:
            g, factor = call
            usual = sign + g
            if layout.defaults.get(factor.removeprefix("self.")) == 1:
                return usual, []
            return f"{usual} if {factor} == 1 else {g} * {sign}{factor}", []
        if op.has_list or op.outputs or (self.is_complex and code.co_names):
            return None
        known = {"g", "y", *(n for n in op.arrays if op.by_name[n].kind == ARRAY)}
        return written_out(rule, [n if n in known else None for n in call], GENERATED)

    def small(self, layout: NodeLayout, array: str) -> str:
        """The condition that an array is too small for a native kernel.

        Nodes of large arrays have a class of their own where those of small ones are lean.
        """
        if self.label != "real" or layout.is_lean:
            return "True"
        return is_small(array)

    def sum(self, layout: NodeLayout, i: int) -> str:
        """An expression for a gradient that has arrived, and the one that meets it."""
        usual, large = f"grads[w{i}] + r{i}", f"added(grads, w{i}, r{i})"
        small = self.small(layout, f"r{i}")
        if small in ("True", "False"):
            return usual if small == "True" else large
        return f"({usual} if r{i}.__class__ is not ndarray or {small} else {large})"

    def read_input(self, op: Op, name: str) -> list[str]:
        """Lines that set ``name`` to a saved argument, if it is still what it was."""
        lines = [f"if (vc := t._vc) is not None and vc.n: check_version(self, {name!r}, vc)",
                 f"{name} = t._data", *self.check(name)]
        if is_optional(op, name):
            lines = [f"if t is None: {name} = None", "else:", *("    " + line for line in lines)]
        return [f"t = self.{name}", *lines]

    def read_output(self, name: str) -> list[str]:
        lines = [f"{name} = self.out_{name}", f"if {name}.__class__ is Released: {name}.refuse()"]
        if name == "y":
            lines.append("if (seal := self.seal) is not None and seal[0].n != seal[1]: "
                         "stale_output(self)")
        else:
            lines.append(f"if self.seal[{name!r}].n: stale_output(self, {name!r})")
        return [*lines, *self.check(name)]

    def check(self, name: str) -> list[str]:
        """Lines that look at a saved value before it is used."""
        return []

    def settle(self, i: int) -> list[str]:
        """Lines that look at a gradient before it is handed on."""
        return []


class OnLargeArrays(OnArrays):
    """The same on arrays of which it is known that they are large."""

    def __init__(self) -> None:
        super().__init__(False)

    def small(self, layout: NodeLayout, array: str) -> str:
        return "False"


class OnLibrary(OnArrays):
    """The same on the arrays of another library than NumPy."""

    def __init__(self, library: Any, is_complex: bool):
        super().__init__(is_complex)
        self.library = library
        self.label = f"{library.__name__.split('.')[-2]}_{self.label}"
        self.fit = f"fit_{self.label}"
        GENERATED[self.fit] = in_library(fit, library)

    def bind(self, rule: Any) -> Any:
        library, run = self.library, in_library(rule, self.library, self.is_complex)
        return lambda *given: run(*[moved(value, library) for value in given])

    def formula(self, op: Op, layout: NodeLayout, i: int) -> None:
        return None


class OnTensors(OnArrays):
    """Rules as they stand, which are recorded themselves."""

    fit = "fit_tensor"
    label = "tensor"

    def __init__(self) -> None:
        pass

    def bind(self, rule: Any) -> Any:
        return bound(rule, TENSORS)

    def formula(self, op: Op, layout: NodeLayout, i: int) -> None:
        return None

    def read_input(self, op: Op, name: str) -> list[str]:
        edge = _edge_source(op.arrays.index(name)) if name in op.arrays else None
        if edge is None:
            return [f"{name} = unpack_input(self, {name!r}, None)"]
        return [f"t = self.{name}; e = {edge}",
                # A tensor that is what it was, with the history that it had: the usual case.
                "if (t.__class__ is Tensor or t.__class__ in PLAIN) "
                "and (t._edge is e or (e is t and t._edge is LEAF)) "
                "and (t._vc is None or not t._vc.n) and not t._wrapped_number: "
                f"{name} = t",
                f"else: {name} = unpack_input(self, {name!r}, e)"]

    def read_output(self, name: str) -> list[str]:
        unpack = f"{name} = unpack_output(self, {name!r})"
        if name != "y":
            return [unpack]
        return ["t = self.out_y",
                # An array that nobody has written to, of a node that hooks know nothing of.
                "if t.__class__ is ndarray and self.seal is None "
                "and getattr(self, '_notes', None) is None:",
                "    y = new(Tensor); y._data = t; y._edge = self",
                "    y._form = y._view = y._vc = y._cut = None",
                f"else: {unpack}"]


class OnData(OnTensors):
    """Rules on raw data, a transform's above all, of one real dtype: ``dt``, which ``g`` has."""

    fit = "fit_data"
    label = "data"
    read_input = OnArrays.read_input
    read_output = OnArrays.read_output

    def __init__(self, bound: Callable[[Any], Any]):
        self.bound = bound

    def bind(self, rule: Any) -> Any:
        return self.bound(rule)

    def check(self, name: str) -> list[str]:
        return [f"if {name}.dtype is not dt and {name}.dtype.kind not in 'bi': return None"]

    def settle(self, i: int) -> list[str]:
        return [f"if levels is not None and r{i}.__class__ in TRACED_TYPES: "
                f"r{i} = settle(r{i}, levels[{i}])"]


# ---------------------------------------------------------------- the methods of a node


def compile_pull(op: Op, layout: NodeLayout, way: OnArrays) -> Any:
    """``pull``, or ``replay`` on tensors: returns the gradients that are wanted."""
    name = "replay" if way.fit == "fit_tensor" else "pull"
    wanted = ", *wanted" if op.has_list else "".join(f", w{i}" for i in range(layout.arity)) \
        if layout.arity > 1 else ""
    lines = [f"def {name}(self, g{wanted}):",
             *("    " + line for line in _run_source(op, layout, way)),
             "    return " + ", ".join(f"r{i}" for i in range(layout.arity))]
    return compile_function(f"{op.name} {way.label} {name}", name, lines, op)


def compile_pull_data(op: Op, layout: NodeLayout, way: OnData) -> Any:
    """``pull`` on raw data of any kind; returns None if that takes more than rules on raw data."""
    lines = ["dt = g.dtype",
             "if dt is not F4 and dt is not F8: return None",
             "".join(f"w{i}, " for i in range(layout.arity)) + "= wanted",
             "levels = self.input_levels",
             *_run_source(op, layout, way),
             "return " + "".join(f"r{i}, " for i in range(layout.arity))]
    return compile_function(f"{op.name} data pull", "pull",
                            ["def pull(self, g, wanted):", *("    " + line for line in lines)], op)


def compile_pass_on(op: Op, layout: NodeLayout, way: OnArrays) -> Any:
    """``pass_on``: frees what was saved, and adds the gradients up where they belong."""
    lines = [f"w{i} = {_edge_source(i)}" for i in range(layout.arity)]
    lines += _read_source(op, layout, way)
    if layout.saved_slots():
        lines += ["# Free what was saved.",
                  " = ".join(f"self.{s}" for s in layout.saved_slots()) + " = by"]
    one_by_one = []
    for i, arg in enumerate(op.arrays):
        if arg in op.rules:
            rule = (*_rule_source(op, layout, i, way), *_add_source(op, layout, i, way))
            one_by_one += [f"if w{i} is not None:", *("    " + line for line in rule)]
    lines += _jointly_source(op, layout, way, _add_source, one_by_one)
    return compile_function(
        f"{op.name} {way.label} pass_on", "pass_on",
        ["def pass_on(self, g, by, grads):", *("    " + line for line in lines)], op)


def compile_release(op: Op, layout: NodeLayout) -> Any:
    lines = ["def release(self, by):",
             "    " + " = ".join(f"self.{s}" for s in layout.saved_slots()) + " = by"]
    return compile_function(f"{op.name} release", "release", lines, op)


# ---------------------------------------------------------------- their parts


def _add_source(op: Op, layout: NodeLayout, i: int, way: OnArrays) -> list[str]:
    """Lines that add ``r{i}`` up where it belongs."""
    add = [f"grads[w{i}] = {way.sum(layout, i)} if w{i} in grads else r{i}"]
    if op.any_dtype:
        add = [f"try: {add[0]}",
               f"except TypeError: grads[w{i}] = sum_of(grads[w{i}], r{i})"]
    if way.formula(op, layout, i) is None:
        # A rule may say that there is no gradient; one that is written out cannot.
        add = [f"if r{i} is not None:", *("    " + line for line in add)]
    return add


def _nothing_source(op: Op, layout: NodeLayout, i: int, way: OnArrays) -> list[str]:
    return []


def _jointly_source(op: Op, layout: NodeLayout, way: OnArrays, then: Any,
                    one_by_one: list[str]) -> list[str]:
    """Lines that find all gradients at once where all are wanted, and else ``one_by_one``.

    What follows for each of them is what ``then`` gives.
    """
    if op.joint_rule is None or way.label != "real":
        return one_by_one
    GENERATED[f"{op.name}_joint_rule"] = op.joint_rule
    needs = ", ".join(_argument_source(layout, p.name) for p in parameters_of(op.joint_rule))
    return ["if " + " and ".join(f"w{i} is not None" for i in range(layout.arity)) + ":",
            "    " + ", ".join(f"r{i}" for i in range(layout.arity))
            + f" = {op.name}_joint_rule({needs})",
            *("    " + line for i in range(layout.arity) for line in then(op, layout, i, way)),
            "else:", *("    " + line for line in one_by_one)]


def _run_source(op: Op, layout: NodeLayout, way: OnArrays) -> list[str]:
    """Lines that set ``r0``, ``r1``... to the gradients that are wanted."""
    lines: list[str] = []
    for i, arg in enumerate(op.arrays):
        if arg not in op.rules:
            lines.append(f"r{i} = None")
        elif layout.arity == 1:
            lines += _rule_source(op, layout, i, way)
        else:
            lines += [f"if w{i} is None: r{i} = None", "else:",
                      *("    " + line for line in _rule_source(op, layout, i, way))]
    return [*_read_source(op, layout, way),
            *_jointly_source(op, layout, way, _nothing_source, lines)]


def _read_source(op: Op, layout: NodeLayout, way: OnArrays) -> list[str]:
    """Lines that read what was saved, as far as the gradients that are wanted need it."""
    lines = ["# What was saved."] if layout.saved_slots() else []
    for name in layout.saved_arrays:
        read = way.read_input(op, name)
        users = layout.users(name)
        if len(users) < layout.arity:
            read = ["if " + " or ".join(f"w{i} is not None" for i in users) + ":",
                    *("    " + line for line in read)]
        lines += read
    for name in layout.saved_outputs:
        lines += way.read_output(name)
    return lines


def _rule_source(op: Op, layout: NodeLayout, i: int, way: OnArrays) -> list[str]:
    """Lines that set ``r{i}``, the gradient of argument ``i``."""
    rule = f"{op.name}_{way.label}_rule{i}"
    usual, constants = way.formula(op, layout, i) or ("", [])
    call = ", ".join(arguments_source(op, layout, i))
    if not usual:
        GENERATED[rule] = way.bind(op.rules[op.arrays[i]])
    formula = found = usual or f"{rule}({call})"
    if way.label == "real":
        small = way.small(layout, "g")
        if usual:
            found = large_source(rule, usual, constants, small)
        if found == formula and op.kind == "elementwise" and not op.any_dtype \
                and not formula.isidentifier():
            found = fused_source(rule, way.bind(op.rules[op.arrays[i]]), call, formula, small)
    lines = [numbers_source(rule, constants, "g")] if "constants[" in found else []
    lines.append(f"r{i} = {found}")
    if op.has_list:
        # A list of gradients, one for each tensor of the list.
        return [*lines, f"r{i} = tuple([None if w is None else r for r, w in "
                        f"zip(r{i}, wanted, strict=True)])"]
    if i in layout.fitted:
        lines.append("if self.fits is not None: "
                     f"r{i} = {way.fit}(r{i}, self.fits[{layout.fitted.index(i)}])")
    return [*lines, *way.settle(i)]


def arguments_source(op: Op, layout: NodeLayout, i: int) -> list[str]:
    """What a rule is called with."""
    wanted = "wanted" if op.has_list else f"({''.join(f'w{k}, ' for k in range(layout.arity))})"
    known = {"like": f"self.like{i}", "wanted": wanted}
    return [known.get(n) or _argument_source(layout, n) for n in layout.needs[op.arrays[i]]]


def _argument_source(layout: NodeLayout, name: str) -> str:
    is_read = name in ("g", "y", *layout.op.outputs, *layout.saved_arrays)
    return name if is_read else f"self.{name}"


def _edge_source(i: int) -> str:
    return f"self.next{i}" if i < 2 else f"self.rest[{i - 2}]"
