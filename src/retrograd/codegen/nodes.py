"""The node class of an op: what runs in a backward pass."""

from __future__ import annotations

import functools
from typing import Any

from ..core import saved_values
from ..core.graph import Node, public_edge
from ..core.op import Op
from .node_layout import NodeLayout, has_lean_class
from .rules import (
    OnArrays,
    OnLargeArrays,
    OnLibrary,
    OnTensors,
    compile_pass_on,
    compile_pull,
    compile_release,
)


def node_class(op: Op, variant: Any = "real") -> Any:
    """The node class of ``op``: for real arrays, complex ones, or arrays inside a transform.

    For real arrays there is a "lean" one too, of which see :class:`NodeLayout`, and the same for
    "large" arrays. For those of another library than NumPy, ``variant`` is that library, and
    whether they are complex.
    """
    if op.nodes is None:
        op.nodes = {}
    found = op.nodes.get(variant)
    if found is None:
        found = op.nodes[variant] = _make_node_class(op, variant)
    return found


def _make_node_class(op: Op, variant: Any) -> type:
    if variant == "traced":
        return saved_values.traced_class(node_class(op))
    base: Any
    body: dict[str, Any] = {"__slots__": (), "__module__": "retrograd.generated"}
    if variant == "large":
        base = node_class(op, "lean")
        return _class(op, base, {**body, **_methods(op, base.layout, OnLargeArrays())})
    if variant == "complex" or isinstance(variant, tuple):
        base = node_class(op)
        way = OnLibrary(*variant) if variant != "complex" else OnArrays(True)
        return _class(op, base, {**body, **_methods(op, base.layout, way)})
    layout = NodeLayout(op, lean=variant == "lean")
    base = node_class(op, "lean") if variant == "real" and has_lean_class(op) else Node
    body |= {
        "__slots__": tuple([s for s in layout.slots() if base is Node or s not in base.slots]),
        "op": op, "layout": layout, "_arity": max(layout.arity, 3) if op.has_list else layout.arity,
        "slots": layout.slots(),
        "saves_output": "y" in layout.saved_outputs,
        "watch_output": saved_values.watch_output,
        **_methods(op, layout, OnArrays(False)),
        "replay": _Later(compile_pull, op, layout, OnTensors()),
        "release": _Later(compile_release, op, layout) if layout.saved_slots() else Node.release,
        "saved_names": saved_values.public_saved_names(op, layout),
        **saved_values.saved_properties(op, layout),
    }
    if variant == "lean":
        body |= {"fits": None, **layout.defaults}
    if len(op.outputs) > 1:
        body["outputs"] = len(op.outputs)
    if op.steps:
        body["next_functions"] = property(_edges_with_steps)
    if op.has_list:
        body["edges"] = lambda node: node.rest
    return _class(op, base, body)


def _class(op: Op, base: type, body: dict[str, Any]) -> type:
    made = type(op.node_name, (base,), body)
    for name, value in body.items():
        # Not by ``__set_name__``: Python would make another error of an interrupt in it.
        if isinstance(value, _Later):
            value.owner, value.name = made, name
    return made


def _methods(op: Op, layout: NodeLayout, way: OnArrays) -> dict[str, Any]:
    """What runs the rules on arrays; a list's gradients are as many as there were tensors."""
    return {"pull": _Later(compile_pull, op, layout, way),
            "pass_on": Node.pass_on if op.has_list else _Later(compile_pass_on, op, layout, way)}


class _Later:
    """A method that is compiled when it is first looked up: most programs need few of them."""

    owner: type
    name: str

    def __init__(self, compile: Any, *args: Any):
        self.compile, self.args = compile, args

    def __get__(self, node: Any, owner: type) -> Any:
        made = self.compile(*self.args)
        setattr(self.owner, self.name, made)
        return made if node is None else made.__get__(node)


# ---------------------------------------------------------------- steps of an op


def _edges_with_steps(node: Any) -> tuple[tuple[Any, int], ...]:
    """``next_functions`` of an op that takes a step of its own on the way to one of its inputs."""
    return tuple(public_edge(edge) if edge is None or name not in node.op.steps
                 else (_shown_step(node, name, edge), 0)
                 for name, edge in zip(node.op.arrays, node.edges(), strict=True))


def _shown_step(node: Any, name: str, edge: Any) -> Any:
    """The node that a separate op would have made; it exists once somebody looks at it."""
    if node.shown_steps is None:
        node.shown_steps = {}
    known = node.shown_steps
    if name not in known:
        known[name] = _shown_class(node.op.steps[name].op)()
        known[name].seq, known[name].next0 = node.seq, edge
    return known[name]


@functools.cache
def _shown_class(op: Any) -> Any:
    def register_hook(self: Any, fn: Any) -> None:
        raise RuntimeError(f"{op.node_name} is part of the operation after it and has no gradients "
                           "of its own: register the hook on that node or on the tensor")

    return type(op.node_name, (node_class(op),),
                {"__slots__": (), "register_hook": register_hook,
                 "register_prehook": register_hook})
