"""Forward mode: an op on dual numbers."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..backend.interface import kind_of
from ..base import dtypes
from ..base.modes import MODE, switched
from ..core.computing import compute
from ..core.engine import run
from ..core.extensions import TRACED_TYPES
from ..core.graph import LEAF, Like
from ..core.op import ARRAYS as LIST, Op
from ..core.tensor import Tensor, edge_of, wrap_any
from .raw_rules import (
    ARRAYS,
    F4,
    F8,
    are_real,
    cast_data,
    expand_data,
    on_data,
    operands_of,
    quickest,
    unrecorded,
)
from .traced_data import (
    Dual,
    Unreadable,
    as_inside,
    has_tangents,
    levels_from_outside,
    levels_of_any,
    with_tangents,
    zeros_like_data,
)


def compute_dual(op: Op, values: list[Any], top: Dual) -> Any:
    """An op on dual numbers: on the values by itself, on the tangents by its rule."""
    level = top.level
    outer = False
    primals: list[Any] = []
    tangents: dict[str, Any] = {}
    for name, value in zip(op.by_name, values, strict=True):
        cls = value.__class__
        if cls is Dual and value.level == level:
            outer = outer or value.outer
            if name in op.arrays:
                tangents[name] = value.tangent
            value = value.primal
        elif cls is list or cls is tuple:
            marks = [x.__class__ is Dual and x.level == level for x in value]
            if True in marks:
                outer = outer or any(x.outer for x, f in zip(value, marks, strict=True) if f)
                if op.by_name[name].kind == LIST:
                    tangents[name] = [x.tangent if f else None
                                      for x, f in zip(value, marks, strict=True)]
                value = cls(x.primal if f else x for x, f in zip(value, marks, strict=True))
        primals.append(value)
    y = way_of(op).value(op, primals)
    if not outer and not has_tangents(level):
        return y
    if not tangents or not (op.rules or op.forward_rules or op.kind in ("linear", "view")):
        return y
    try:
        slopes = push_forward(op, primals, y, tangents)
    except Unreadable as error:
        slopes = error.all_of(op.title, y, [
            t for value in tangents.values() for t in (value if isinstance(value, list)
                                                       else [value])])
    if isinstance(y, (tuple, list)):
        return type(y)(part if slope is None else Dual(level, part, slope, outer)
                       for part, slope in zip(y, slopes, strict=True))
    return y if slopes is None else Dual(level, y, slopes, outer)


def check_tangent(primal: Tensor, tangent: Tensor) -> None:
    """Raise unless ``tangent`` can be the tangent of ``primal``."""
    for value in (primal, tangent):
        if not (value.is_floating_point() or value.is_complex()):
            raise RuntimeError("Expected both tensor and its forward grad to be floating point or "
                               "complex")
    if tuple(primal.shape) != tuple(tangent.shape):
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(primal.shape)} while the "
            f"given forward gradient is of size {list(tangent.shape)}.")


def push_forward(op: Op, primals: list[Any], y: Any, tangents: dict[str, Any]) -> Any:
    """The tangent of the output(s), raw."""
    by_name = dict(zip(op.by_name, primals, strict=True))
    way = way_of(op)
    forward = way.forward and tangents.keys() <= way.forward.keys()
    if not forward and op.kind in ("linear", "view") and len(op.arrays) == 1:
        return _by_linearity(op, by_name, tangents)
    rules = way.forward if forward else way.elementwise
    if rules and way.is_real(primals, y, tangents):
        used = [(name, rules[name]) for name in tangents if name in rules]
        if all(rule is not None for _, (rule, _) in used):
            try:
                return _on_data(op, used, by_name, y, tangents)
            except Exception:  # the rules on tensors say what is wrong
                pass
    before = MODE.get()
    try:
        MODE.set(unrecorded(before))
        if forward:
            return _by_forward_rules(op, by_name, y, tangents)
        if op.kind == "elementwise":
            return _by_elementwise_rule(op, by_name, y, tangents)
        return _by_transposing_twice(op, by_name, y, tangents)
    except NotImplementedError as error:
        raise NotImplementedError(
            f"Trying to use forward AD with {op.title} that does not support it because it has "
            f"not been implemented yet: {error}") from None
    finally:
        MODE.set(before)


class DualWay:
    """An op's rules for tangents on raw data, each with what it asks for."""

    def __init__(self, op: Op):
        self.operands = operands_of(op)
        self.has_one_output = not op.outputs
        self.kernel = None if op.check or op.has_list or op.indices else quickest(op)
        self.forward = {name: (on_data(rule), codegen_parameters(rule))
                        for name, rule in op.forward_rules.items()}
        self.elementwise = {name: (on_data(rule), codegen_parameters(rule))
                            for name, rule in op.rules.items() if op.kind == "elementwise"}

    def value(self, op: Op, primals: list[Any]) -> Any:
        """The op on the values of dual numbers."""
        if self.kernel is not None:
            for i in self.operands:
                data = primals[i]
                if data.__class__ not in ARRAYS or not (data.dtype is F4 or data.dtype is F8):
                    break
            else:
                return self.kernel(*primals)
        return compute(op, primals)

    def is_real(self, primals: list[Any], y: Any, tangents: dict[str, Any]) -> bool:
        """Whether all data is real numbers of one ordinary dtype."""
        if not self.has_one_output or not are_real(primals, self.operands):
            return False
        dtype = y.dtype
        return (dtype is F4 or dtype is F8) and all(
            t.__class__ is not list and t.dtype is dtype for t in tangents.values())


way_of = cache(DualWay)


def _on_data(op: Op, rules: list[Any], by_name: dict[str, Any], y: Any,
             tangents: dict[str, Any]) -> Any:
    """The tangent by rules that work on raw data; they call what they get ``g`` or ``tangent``."""
    shape = y.shape
    total = None
    for name, (rule, needs) in rules:
        tangent = tangents[name]
        if op.kind == "elementwise" and tangent.shape != shape:
            tangent = expand_data(tangent, shape)
        like, known = by_name[name], {"g": tangent, "tangent": tangent, "y": y}
        value = rule(*[known[need] if need in known else Like(like.shape, like.dtype)
                       if need == "like" else by_name[need] for need in needs])
        total = value if total is None else total + value
    if total is None:
        return None
    if total.shape != shape:
        total = expand_data(total, shape)
    return cast_data(total, y.dtype)


def _fitted(slope: Tensor, y: Any) -> Any:
    """A tangent in the shape and dtype of its value."""
    from ..ops.memory.casts import cast_gradient
    from ..ops.shapes.expanding import expand

    if tuple(slope._data.shape) != tuple(y.shape):
        slope = expand(slope, tuple(y.shape))
    if slope._data.dtype != y.dtype:
        slope = cast_gradient(slope, y.dtype)
    return slope._data


def _arguments(op: Op, by_name: dict[str, Any], y: Any, needs: list[str],
               **extra: Any) -> list[Any]:
    """What a rule asks for, as tensors."""
    found = []
    for name in needs:
        if name in extra:
            found.append(extra[name])
        elif name == "y":
            found.append(wrap_any(y))
        elif name in op.outputs:
            found.append(wrap_any(y[op.outputs.index(name)]))
        elif name in op.arrays or name in op.indices:
            value = by_name[name]
            found.append(None if value is None else
                         [wrap_any(v) for v in value] if isinstance(value, list) else
                         wrap_any(value))
        else:
            found.append(by_name[name])
    return found


def _by_forward_rules(op: Op, by_name: dict[str, Any], y: Any, tangents: dict[str, Any]) -> Any:
    total = None
    for name, tangent in tangents.items():
        rule = op.forward_rules[name]
        needs = codegen_parameters(rule)
        value = rule(*_arguments(op, by_name, y, needs, tangent=wrap_any(tangent)))
        if isinstance(value, tuple):
            total = list(value) if total is None else [
                b if a is None else a if b is None else a + b
                for a, b in zip(total, value, strict=True)]
        else:
            total = value if total is None else total + value
    if isinstance(total, list):
        return [None if t is None else _fitted(t, part) for t, part in zip(total, y, strict=True)]
    return None if total is None else _fitted(total, y)


def codegen_parameters(rule: Any) -> list[str]:
    code = rule.__code__
    return list(code.co_varnames[:code.co_argcount])


def _by_linearity(op: Op, by_name: dict[str, Any], tangents: dict[str, Any]) -> Any:
    (name,) = op.arrays
    tangent = tangents[name]
    if isinstance(tangent, list):
        tangent = [zeros_like_data(v) if t is None else t
                   for t, v in zip(tangent, by_name[name], strict=True)]
    values = [tangent if p.name == name else by_name[p.name] for p in op.params]
    return compute(op, values)


def _by_elementwise_rule(op: Op, by_name: dict[str, Any], y: Any, tangents: dict[str, Any]) -> Any:
    from ..ops.elementwise.conjugate import conj

    total: Any = None
    for name, tangent in tangents.items():
        rule = op.rules.get(name)
        if rule is None:
            continue
        t = wrap_any(tangent)
        complex_numbers = t.is_complex() or kind_of(y.dtype) == "c"
        like = Like(tuple(by_name[name].shape), by_name[name].dtype)
        g = conj(t) if t.is_complex() else t
        if g._data.dtype != y.dtype and not t.is_complex():
            from ..ops.memory.casts import cast_gradient

            g = cast_gradient(g, y.dtype)
        if tuple(g._data.shape) != tuple(y.shape):
            from ..ops.shapes.expanding import expand

            g = expand(g, tuple(y.shape))
        value = rule(*_arguments(op, by_name, y, codegen_parameters(rule), g=g, like=like))
        if complex_numbers and value.is_complex():
            value = conj(value)
        total = value if total is None else total + value
    return None if total is None else _fitted(total, y)


def _by_transposing_twice(op: Op, by_name: dict[str, Any], y: Any, tangents: dict[str, Any]) -> Any:
    """Jv as the transpose of u ↦ Jᵀu, which the reverse rules give as a graph."""
    from ..ops.memory.casts import cast_gradient

    outputs = list(y) if isinstance(y, (tuple, list)) else [y]
    levels = levels_from_outside([*by_name.values(), *tangents.values()])
    seeds = []
    for nr, part in enumerate(outputs):
        floating = dtypes.category(dtypes.from_numpy_dtype(part.dtype)) > 1
        allowed = op.differentiable is None or nr in op.differentiable
        seed = wrap_any(with_tangents(zeros_like_data(part), levels)) if floating and allowed \
            else None
        seeds.append(seed)
    pulled: list[Tensor] = []
    directions: list[Tensor] = []
    with switched(grad=True, inference=False):
        for seed in seeds:
            if seed is not None:
                seed._edge = LEAF
        g = seeds if isinstance(y, (tuple, list)) else seeds[0]
        for name, tangent in tangents.items():
            rule = op.rules.get(name)
            if rule is None:
                continue
            value = by_name[name]
            many = isinstance(value, list)
            like: Any = [Like(tuple(v.shape), v.dtype) for v in value] if many else \
                Like(tuple(value.shape), value.dtype)
            wanted = tuple(n if n in tangents else None for n in op.arrays)
            result = rule(*_arguments(op, by_name, y, codegen_parameters(rule), g=g, like=like,
                                      wanted=wanted))
            for r, t, shape in zip(result if many else [result], tangent if many else [tangent],
                                   like if many else [like], strict=True):
                if r is None or t is None or r._edge is None:
                    continue
                if op.fits:
                    from ..core.saved_values import fit_tensor

                    r = fit_tensor(r, shape)
                pulled.append(r)
                directions.append(cast_gradient(wrap_any(t), r._data.dtype))
        live = [s for s in seeds if s is not None]
        if pulled:
            with as_inside(levels_of_any([*by_name.values(), *tangents.values()])):
                slopes: Any = run([edge_of(r) for r in pulled], [d._data for d in directions],
                                  retain=False, recorded=False, targets=live, accumulate=False)
        else:
            slopes = {}
    found: list[Any] = []
    for seed, part in zip(seeds, outputs, strict=True):
        if seed is None:
            found.append(None)
        else:
            slope = slopes.get(seed)
            if not isinstance(slope, Tensor):
                slope = wrap_any(zeros_like_data(part) if slope is None else slope)
            found.append(_fitted(slope, part))
    return found if isinstance(y, (tuple, list)) else found[0]


TRACED_TYPES[Dual] = compute_dual
