"""The node class of an op: what runs in a backward pass."""

from __future__ import annotations

from typing import Any

from ..core.binding import raw
from ..core.formulas import written_out
from ..core.graph import Node, edges_with_steps
from ..core.op import ARRAY, GENERATED, OPTIONAL, Op
from .compiling import compile_function, numbers_source
from .plan import Plan, has_lean_class


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
    from ..core import saved_values

    if variant == "traced":
        return saved_values.traced_class(node_class(op))
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
        "watch_output": saved_values.watch_output,
        "pull": _Later(_compile_pull, op, plan, False),
        "pass_on": _Later(_compile_pass_on, op, plan, False),
        "replay": _Later(_compile_replay, op, plan),
        "release": _Later(_compile_release, op, plan) if plan.saved_slots() else Node.release,
        "saved_names": saved_values.public_saved_names(op, plan),
        **saved_values.saved_properties(op, plan),
    }
    if variant == "lean":
        body |= {"fits": None, **plan.defaults}
    if len(op.outputs) > 1:
        body["outputs"] = len(op.outputs)
    if op.steps:
        body["next_functions"] = property(edges_with_steps)
    if op.has_list:
        body["pull"] = saved_values.pull_list
        body["pass_on"] = Node.pass_on
        body["replay"] = saved_values.replay_list
        body["edges"] = saved_values.list_edges
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


def _compile_pull(op: Op, plan: Plan, is_complex: bool) -> Any:
    """``pull``: returns the gradients that are wanted."""
    lines = [f"def pull(self, g{''.join(', ' + w for w in _wanted(plan))}):"]
    lines += _unpack_source(op, plan)
    for i, arg in enumerate(op.arrays):
        if arg not in op.rules:
            lines.append(f"    r{i} = None")
            continue
        lines += _if_wanted(plan, i, _rule_source(op, plan, i, is_complex))
    lines.append("    return " + ", ".join(f"r{i}" for i in range(plan.arity)))
    return compile_function(f"{op.name} backward", "pull", lines, op)


def _compile_pass_on(op: Op, plan: Plan, is_complex: bool) -> Any:
    """``pass_on``: frees what was saved, and adds the gradients up where they belong."""
    lines = ["def pass_on(self, g, by, grads):"]
    for i in range(plan.arity):
        edge = ("self.next0", "self.next1")[i] if i < 2 else f"self.rest[{i - 2}]"
        lines.append(f"    w{i} = {edge}")
    lines += _unpack_source(op, plan)
    if plan.saved_slots():
        lines.append("    " + " = ".join(f"self.{s}" for s in plan.saved_slots()) + " = by")
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
        lines += _if_wanted(plan, i, result)
    lines.append("    return " + ", ".join(f"r{i}" for i in range(plan.arity)))
    return compile_function(f"{op.name} replay", "replay", lines, op)


def _compile_release(op: Op, plan: Plan) -> Any:
    lines = ["def release(self, by):",
             "    " + " = ".join(f"self.{s}" for s in plan.saved_slots()) + " = by"]
    return compile_function(f"{op.name} release", "release", lines, op)


def _wanted(plan: Plan) -> list[str]:
    """The parameters by which the engine says which gradients it wants."""
    return [] if plan.arity == 1 else [f"w{i}" for i in range(plan.arity)]


def _if_wanted(plan: Plan, i: int, result: list[str]) -> list[str]:
    """Lines that set ``r{i}`` by those in ``result``, if that gradient is wanted."""
    if plan.arity == 1:
        return ["    " + line for line in result]
    return [f"    if w{i} is None: r{i} = None", "    else:",
            *("        " + line for line in result)]


def _saved_condition(plan: Plan, name: str) -> str | None:
    """When ``name`` is needed, given which gradients are wanted; None for always."""
    users = plan.users(name)
    if plan.arity == 1 or len(users) == plan.arity:
        return None
    return " or ".join(f"w{i} is not None" for i in users)


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
        lines.append(numbers_source(rule, constants, "g"))
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
