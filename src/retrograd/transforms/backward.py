"""Backward inside a transform: gradients go through nodes as raw data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..codegen import Plan
from ..core import saved_values
from ..core.general import TRACED_TYPES, wrap_any
from ..core.graph import Identity, Released
from ..core.op import Op
from ..core.saved_values import Packed, check_version, replay_traced, stale_output
from .boundary import Boundary, MakeDual, settle
from .data import ARRAYS, F4, F8, compiled, fit_data, on_data

Pulled = tuple[Any, ...]
Way = Callable[[Any, Any, tuple[Any, ...]], Pulled]
_WAYS: dict[type, Way] = {}


def pull_data(node: Any, g: Any, wanted: tuple[Any, ...]) -> Pulled:
    """The gradients of a node's inputs that are wanted, as raw data."""
    cls = node.__class__
    way = _WAYS.get(cls)
    if way is None:
        way = _WAYS[cls] = _way_of(cls)
    return way(node, g, wanted)


def takes_any_data(node: Any) -> bool:
    """Whether a node runs nothing but ops."""
    return hasattr(node, "op") or isinstance(node, _INDIFFERENT)


_INDIFFERENT = (Identity, Boundary, MakeDual)


def _way_of(cls: Any) -> Way:
    if issubclass(cls, _INDIFFERENT):
        return _by_pull
    return OpPull(cls) if has_data_rules(cls) else _on_tensors


def has_data_rules(cls: Any) -> bool:
    """Whether the rules behind a class of nodes all work on raw data."""
    op = getattr(cls, "op", None)
    return op is not None and not op.has_list and not op.outputs and \
        all(map(on_data, op.rules.values()))


def pull_quickly(node: Any, g: Any, wanted: tuple[Any, ...]) -> Pulled | None:
    """What a node's ``pull`` returns, by rules on raw data; None where it takes tensors."""
    cls = node.__class__
    way = _WAYS.get(cls)
    if way is None:
        way = _WAYS[cls] = _way_of(cls)
    if way.__class__ is not OpPull or g is None:
        return None
    try:
        return way.pulled(node, g, wanted or (node.next0,))
    except Exception:  # the rules on tensors say what is wrong
        return None


saved_values.TRACED_PULL = pull_quickly


def _by_pull(node: Any, g: Any, wanted: tuple[Any, ...]) -> Pulled:
    """The way of nodes that are indifferent to what a gradient is made of."""
    return (node.pull(g),) if node._arity == 1 else node.pull(g, *wanted)


def _on_tensors(node: Any, g: Any, wanted: tuple[Any, ...]) -> Pulled:
    """The way of any node."""
    gradient = None if g is None else wrap_any(g)
    found = node.replay(gradient) if node._arity == 1 else node.replay(gradient, *wanted)
    results = found if isinstance(found, tuple) else (found,)
    return tuple([None if r is None else r._data for r in results])


class OpPull:
    """The way of an op's nodes: its rules, on raw data of one real dtype."""

    def __init__(self, cls: Any):
        self.is_traced = cls.replay is replay_traced
        rules = {f"rule{i}": on_data(rule) for i, rule in enumerate(cls.op.rules.values())}
        self.pulled = compiled(f"{cls.op.name} pull", "pull", _pull_source(cls.op, cls.plan),
                               {**_NAMES, **rules})

    def __call__(self, node: Any, g: Any, wanted: tuple[Any, ...]) -> Pulled:
        if not self.is_traced and g.__class__ in ARRAYS:
            return _by_pull(node, g, wanted)
        try:
            found = self.pulled(node, g, wanted)
        except Exception:  # the rules on tensors say what is wrong
            found = None
        return _on_tensors(node, g, wanted) if found is None else found


def _pull_source(op: Op, plan: Plan) -> list[str]:
    """A function of a node, its gradient, and the edges that want some: the gradients for them.

    It returns None if that takes more than rules on raw data.
    """
    body = ["dtype = g.dtype",
            "if dtype is not F4 and dtype is not F8: return None",
            "".join(f"w{i}, " for i in range(plan.arity)) + "= wanted",
            "levels = node.input_levels"]
    for name in plan.saved_arrays:
        users = " or ".join(f"w{i} is not None" for i in plan.users(name))
        body += [f"if {users}:", *(f"    {line}" for line in _saved_source(name))]
    for name in plan.saved_outputs:
        body += _output_source(name)
    for i, (name, needs) in enumerate((n, plan.needs[n]) for n in op.rules):
        body += _rule_source(op, plan, op.arrays.index(name), f"rule{i}", needs)
    body += [f"r{i} = None" for i, name in enumerate(op.arrays) if name not in op.rules]
    body.append("return " + "".join(f"r{i}, " for i in range(plan.arity)))
    return ["def pull(node, g, wanted):", *(f"    {line}" for line in body)]


def _saved_source(name: str) -> list[str]:
    """Lines that set ``d_x`` to the data of the saved argument ``x``."""
    return [f"saved = node.{name}",
            f"if saved is None: d_{name} = None",
            "else:",
            "    if saved.__class__ is Packed: return None",
            "    version = saved._vc",  # refuses if it was released
            "    if version is not None and version.n: "
            f"check_version(node, {name!r}, version)",
            f"    d_{name} = saved._data",
            *(f"    {line}" for line in _dtype_source(name))]


def _output_source(name: str) -> list[str]:
    """Lines that set ``d_x`` to the saved output ``x``."""
    return [f"d_{name} = node.out_{name}",
            f"if d_{name}.__class__ is Released: d_{name}.refuse()",
            f"if d_{name}.__class__ is Packed: return None",
            "if node.seal is not None and node.seal[0].n != node.seal[1]: stale_output(node)",
            *_dtype_source(name)]


def _dtype_source(name: str) -> list[str]:
    return [f"if d_{name}.dtype is not dtype and d_{name}.dtype.kind not in 'bi': return None"]


def _rule_source(op: Op, plan: Plan, i: int, rule: str, needs: list[str]) -> list[str]:
    """Lines that set ``r0``, ``r1``... to the gradient of an argument."""
    given = {"g": "g", "like": f"node.like{i}", "wanted": "wanted",
             **{n: f"d_{n}" for n in (*plan.saved_arrays, *plan.saved_outputs)}}
    call = ", ".join(given.get(n, f"node.{n}") for n in needs)
    lines = [f"if w{i} is None: r{i} = None", "else:", f"    r{i} = {rule}({call})"]
    if i in plan.fitted:
        place = plan.fitted.index(i)
        lines.append(f"    if node.fits is not None: r{i} = fit_data(r{i}, node.fits[{place}])")
    return [*lines, f"    if levels is not None and r{i}.__class__ in TRACED_TYPES: "
                    f"r{i} = settle(r{i}, levels[{i}])"]


_NAMES: dict[str, Any] = {
    "F4": F4, "F8": F8, "Packed": Packed, "Released": Released, "TRACED_TYPES": TRACED_TYPES,
    "check_version": check_version, "stale_output": stale_output, "fit_data": fit_data,
    "settle": settle,
}
