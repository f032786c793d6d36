"""Recording a call: lines that make its node, for plain calls and for those inside a transform.

In general this is done by :func:`retrograd.core.recording.record`. In the lines an argument ``x``
is called so, its raw data ``a_x``; ``y`` is the raw result and ``out`` the tensor that holds it;
``m`` is the mode, and ``e0``, ``e1``... are the edges of the arguments.
"""

from __future__ import annotations

from typing import Any

from ..core.op import GENERATED, Op
from .compiling import is_small, site_source
from .node_layout import NodeLayout, has_lean_class
from .nodes import node_class
from .operands import is_optional, keeps_form, takes_number, tensors_of


def outs_of(op: Op) -> list[str]:
    """The variables of the results."""
    return [f"out{nr}" for nr in range(len(op.outputs))] if op.outputs else ["out"]


def differentiable_outputs(op: Op) -> Any:
    """The numbers of the outputs that have gradients."""
    return range(len(op.outputs)) if op.differentiable is None else \
        op.differentiable


def unrecorded_source(op: Op, attributes: tuple[str, ...], how: str = "") -> list[str]:
    """Lines that return results without a history, which remember where it ended.

    It did if an argument has one of the ``attributes``; without any, that is asked of them all.
    """
    outs, tensors = outs_of(op), "".join(f"{n}, " for n in tensors_of(op))
    ended = " or ".join(
        f"{f'{n} is not None and ' if is_optional(op, n) else ''}{n}.{attribute} is not None"
        for n in tensors_of(op) for attribute in attributes)
    how = how or ("" if op.rules else op.name)
    cut = [f"note_cut({out}, ({tensors}){how and f', {how!r}'})" for out in outs]
    if ended:
        cut = [f"if {ended}:", *("    " + line for line in cut)]
    return [" = ".join(f"{out}._edge" for out in outs) + " = None", *cut,
            "return " + ", ".join(outs)]


def record_source(op: Op, layout: NodeLayout, is_traced: bool = False) -> list[str]:
    """Lines that record a call if any argument has an edge, and return its results."""
    edges = " and ".join(f"e{i} is None" for i in range(len(op.arrays)))
    lines = ["# Where gradients would go; without any such edge there is nothing to record.",
             *edges_source(op), f"if {edges}:",
             *("    " + line for line in unrecorded_source(op, ("_cut",)))]
    depth = 1
    if is_traced:
        depth = 3  # below the op's function, the general path and the way from there to here
        lines += ["if not m.grad:", *("    " + line for line in unrecorded_source(op, ())),
                  "if not is_differentiable(out):",
                  *("    " + line for line in unrecorded_source(op, (), op.name))]
    else:
        lines += ["if m is NO_GRAD:", *("    " + line for line in unrecorded_source(op, ()))]
    lines += ["# Record: the node, its place in the order of all, its edges, what its rules need.",
              *_node_source(op, layout, is_traced), *_cuts_source(op), "node.seq = next(ages)"]
    if layout.saved_slots() or len(op.outputs) > len(differentiable_outputs(op)):
        lines += site_source(depth)
    if layout.saved_slots():
        lines.append("node.code = code; node.lasti = f.f_lasti")
    lines += [*next_source(op), *(f"node.like{i} = {like_source(op, i)}" for i in layout.likes),
              *_saved_source(op, layout)]
    if is_traced:
        levels = ", ".join(f"levels_of(a_{name})" for name in op.arrays)
        lines.append(f"node.input_levels = [{levels}]")
    if not op.outputs:
        return [*lines, "out._edge = node", "return out"]
    outs, connected = outs_of(op), differentiable_outputs(op)
    cut = [out for nr, out in enumerate(outs) if nr not in connected]
    lines += [f"{outs[nr]}._edge = output_edge(node, {nr})" for nr in connected]
    if cut:
        lines += [" = ".join(f"{out}._edge" for out in cut) + " = None",
                  " = ".join(f"{out}._cut" for out in cut)
                  + f" = code, f.f_lasti, {op.name!r}, (ref(node),), (), 0"]
    return [*lines, "return " + ", ".join(outs)]


def edges_source(op: Op) -> list[str]:
    """Lines that read the arguments' edges: of a leaf, LEAF or the leaf itself."""
    lines = []
    for i, name in enumerate(op.arrays):
        read = f"{name}._edge if {name}._view is None else edge_of({name})"
        if is_optional(op, name):
            read = f"None if {name} is None else {read}"
        lines.append(f"e{i} = {read if name in op.rules else None}")
    return lines


def next_source(op: Op) -> list[str]:
    """Lines that give a node its edges."""
    edges = [f"{name} if e{i} is LEAF else e{i}" for i, name in enumerate(op.arrays)]
    lines = [f"node.next{i} = {edge}" for i, edge in enumerate(edges[:2])]
    rest = "".join(f"({edge}), " for edge in edges[2:])
    return [*lines, f"node.rest = ({rest})"] if rest else lines


def _cuts_source(op: Op) -> list[str]:
    """Lines that have a new node remember operands that were cut off from the graph.

    An op of one operand would not be recorded if that had no history; of two, one has.
    """
    positions = {name: i for i, name in enumerate(op.arrays)}
    lines = []
    for name in tensors_of(op) if len(tensors_of(op)) > 1 else ():
        tests = [f"e{positions[name]} is None"] if name in positions else []
        tests += [f"{name} is not None"] if is_optional(op, name) else []
        lines.append(" and ".join([*tests, f"(c := {name}._cut) is not None"]))
    if len(lines) == 2:
        return [f"{word} {test}: node._notes = {{'cuts': (c,)}}"
                for word, test in zip(("if", "elif"), lines, strict=True)]
    return [f"if {' or '.join(lines)}: keep_cuts(node, {', '.join(tensors_of(op))})"] \
        if lines else []


def _saved_source(op: Op, layout: NodeLayout) -> list[str]:
    """Lines that save the arguments and results that rules ask for."""
    lines = []
    for name in layout.saved_arrays:
        users = layout.users(name)
        given = f"{name} is not None and " if is_optional(op, name) else ""
        save = [f"node.{name} = {name}",
                f"if {given}(vc := {name}._vc) is not None and vc.n: "
                f"keep_version(node, {name!r}, vc.n)"]
        if len(users) < len(op.arrays):
            save = ["if " + " or ".join(f"e{i} is not None" for i in users) + ":",
                    *("    " + line for line in save), f"else: node.{name} = None"]
        lines += save
    for name in layout.saved_outputs:
        lines.append(f"node.out_{name} = y{op.outputs.index(name) if op.outputs else ''}")
    if op.outputs and layout.saved_outputs:
        sealed = ", ".join(f"{n}=out{op.outputs.index(n)}" for n in layout.saved_outputs)
        lines.append(f"node.seal = sealed({sealed})")
    elif layout.saved_outputs:
        lines.append("node.seal = None if out._vc is None else (out._vc, out._vc.n)" if op.is_view
                     else "node.seal = None")
    return lines


def _node_source(op: Op, layout: NodeLayout, is_traced: bool) -> list[str]:
    """Lines that make the node, with its options and what it needs to fit gradients to operands."""
    variant = "traced_node" if is_traced else "node"
    GENERATED[f"{op.name}_{variant}"] = node_class(
        op, "traced" if is_traced else "complex" if op.of_complex else "real")
    full = [f"node = {op.name}_{variant}()", *(f"node.{n} = {n}" for n in layout.saved_static),
            *_fits_source(op, layout)]
    if is_traced or op.of_complex or not has_lean_class(op):
        return full
    GENERATED[f"{op.name}_lean_node"] = node_class(op, "lean")
    GENERATED[f"{op.name}_large_node"] = node_class(op, "large")
    options = [n for n in layout.saved_static if not op.by_name[n].required]
    usual = [f"{n} is {op.name}_default_{n}" for n in options]

    def lean(small: str) -> list[str]:
        large = "" if small == "True" else f" if {small} else {op.name}_large_node()"
        return [f"node = {op.name}_lean_node(){large}",
                *(f"node.{n} = {n}" for n in layout.saved_static if n not in options)]

    known = is_small(f"a_{op.arrays[0]}") if keeps_form(op) else "True"
    branches = []
    if len(op.arrays) == 1:
        if not usual:
            return lean(small_source(op))
        branches.append((usual, lean(small_source(op))))
    else:
        same = " == ".join(f"a_{n}.shape" for n in op.arrays)
        if keeps_form(op):
            branches.append((["form is not None", *usual], lean("True")))
        branches.append(([*usual, same], [*lean(known), *_learn_source(op, op.arrays)]))
        if takes_number(op):
            branches.append(([*usual, "e1 is None", f"not a_{op.arrays[1]}.ndim"],
                             [*lean(known), *_learn_source(op, op.arrays[:1])]))
    lines: list[str] = []
    for conditions, body in branches:
        lines += [f"{'elif' if lines else 'if'} {' and '.join(conditions)}:",
                  *("    " + line for line in body)]
    return [*lines, "else:", *("    " + line for line in full)]


def small_source(op: Op) -> str:
    """The condition that no array is large: those that have a form are not."""
    first = is_small(f"a_{op.arrays[0]}")
    return f"form is not None or {first}" if keeps_form(op) else first


def _learn_source(op: Op, operands: list[str]) -> list[str]:
    """Lines that give operands, and the result, the form that they turned out to have."""
    if not keeps_form(op):
        return []
    targets = "".join(f" = {n}._form" for n in operands)
    return [f"s = a_{op.arrays[0]}.shape",
            f"if s: out._form{targets} = (forms4 if dt is F4 else forms8)[s]",
            "else: out._form = scalar_form(y.__class__)"]


def _fits_source(op: Op, layout: NodeLayout) -> list[str]:
    """Lines that note what gradients have to be brought to, where operands were broadcast."""
    if not layout.fitted:
        return []
    if op.kind != "elementwise":
        return [f"node.fits = ({''.join(like_source(op, i) + ', ' for i in layout.fitted)})"]
    if len(op.arrays) == 1 and not op.indices:  # which broadcast it too
        return ["node.fits = None"]
    likes = [f"l{i}" for i in layout.fitted]
    return ["s = y.shape",
            *(f"l{i} = None if e{i} is None or a_{op.arrays[i]}.shape == s else "
              f"{like_source(op, i)}" for i in layout.fitted),
            f"node.fits = ({', '.join(likes)},) if "
            f"{' or '.join(f'{like} is not None' for like in likes)} else None"]


def like_source(op: Op, i: int) -> str:
    """An expression for the shape and dtype of argument ``i``: its form, if that is known."""
    name = op.arrays[i]
    like = f"{name}._form or Like(a_{name}.shape, a_{name}.dtype)"
    return f"None if {name} is None else {like}" if is_optional(op, name) else like
