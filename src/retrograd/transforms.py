"""Dual numbers and batches: data that a transform puts under a tensor.

A tensor's raw data is an array, or one of the two holders defined here:

* :class:`Dual`: a value and its tangent (forward mode);
* :class:`Batched`: many values that the program sees as one (vmap).

The graph knows nothing of them. An op on such data is computed here, by the op's own rules, and the
call is recorded as any other; so reverse mode passes through forward mode and vmap, and they
through it, in any nesting. Holders nest: the one with the highest level is outermost.

**Gradients that come from outside.** Backward inside a transform meets its holders as ordinary
numbers. Backward from outside enters through the nodes that ended the transform, and what flows
there is marked ``outer``:

* a linear functional of a pair (p, t) is kept as the dual number G whose product with p + tε has
  the functional's value as its ε part. Dual numbers then obey the same rules as numbers, and for an
  input without a tangent the gradient is G's ε part;
* for an input that was the same for the whole batch, the gradient is the sum over the batch.

Both are settled where a gradient leaves a node (:func:`settle`).
"""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable
from typing import Any

from . import interpret
from .backend import numpy as xp
from .engine import _RUNNING
from .graph import LEAF, Like, Node, PlacedNode, View, next_sequence
from .interpret import TENSOR_CLASS, TRACED_TYPES, compute, wrap_any
from .modes import ACTIVE, MODE, switched
from .notices import warn
from .op import ARRAYS, DIM, DIMS, Op
from .sites import here
from .tensor import NATIVE, Tensor, edge_of

next_level = itertools.count(1).__next__


class CannotBatch(RuntimeError):
    """The program needs one value where vmap has many; :func:`retrograd.func.vmap` falls back."""

    level: int | None = None  # of the vmap whose values are needed one by one

    def at(self, level: int) -> CannotBatch:
        self.level = level
        return self


class Holder:
    """What both kinds of data share: they answer questions about the value the program sees."""

    __slots__ = ("level", "outer")
    __array_ufunc__ = None  # NumPy leaves arithmetic with a holder to the holder

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        count = 1
        for n in self.shape:
            count *= n
        return count

    def __add__(self, other: Any) -> Any:
        with switched(grad=False):
            return (wrap_any(self) + wrap_any(other))._data

    __radd__ = __add__


class Dual(Holder):
    """A value with its tangent."""

    __slots__ = ("primal", "tangent")

    def __init__(self, level: int, primal: Any, tangent: Any, outer: bool = False):
        self.level, self.primal, self.tangent, self.outer = level, primal, tangent, outer

    shape = property(lambda self: self.primal.shape)
    dtype = property(lambda self: self.primal.dtype)
    strides = property(lambda self: self.primal.strides)
    flags = property(lambda self: self.primal.flags)

    def item(self) -> Any:
        return self.primal.item()

    def tolist(self) -> Any:
        return self.primal.tolist()

    def copy(self, order: str = "K") -> Dual:
        return Dual(self.level, self.primal.copy(), self.tangent.copy(), self.outer)


class Batched(Holder):
    """Many values, along the first axis of ``value``."""

    __slots__ = ("value",)

    def __init__(self, level: int, value: Any, outer: bool = False):
        self.level, self.value, self.outer = level, value, outer

    shape = property(lambda self: self.value.shape[1:])
    dtype = property(lambda self: self.value.dtype)
    strides = property(lambda self: self.value.strides[1:])

    @property
    def flags(self) -> Any:
        return self.value.flags

    @property
    def batch(self) -> int:
        return self.value.shape[0]

    def item(self) -> Any:
        raise CannotBatch("vmap: It looks like you're calling .item() on a Tensor. We don't "
                          "support vmap over calling .item() on a Tensor, please try to rewrite "
                          "what you're doing with other operations.").at(self.level)

    def __bool__(self) -> bool:
        raise CannotBatch("vmap: It looks like you're attempting to use a Tensor in some "
                          "data-dependent control flow.").at(self.level)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self.read_directly()

    def read_directly(self, *args: Any, **kwargs: Any) -> CannotBatch:
        """The error of code that looks at the values themselves."""
        return CannotBatch("the function looks at the values of a batched tensor "
                           "themselves.").at(self.level)

    def copy(self, order: str = "K") -> Batched:
        return Batched(self.level, self.value.copy(), self.outer)


def _refuse(self: Batched, *args: Any, **kwargs: Any) -> Any:
    raise self.read_directly()


for _name in ("__array__", "__len__", "__iter__", "__getitem__", "__setitem__", "__int__",
              "__float__", "__index__", "__complex__", "__lt__", "__le__", "__gt__", "__ge__",
              "__mod__", "__mul__", "__sub__", "__truediv__", "__neg__", "__invert__", "__and__",
              "__or__"):
    setattr(Batched, _name, _refuse)


class TracedTensor(Tensor):
    """A tensor whose data belongs to a transform; never takes the fast path."""

    __slots__ = ()
    _is_traced = True

    def numpy(self, *, force: bool = False) -> Any:
        data = self._data
        while isinstance(data, Dual):
            data = data.primal
        if isinstance(data, Batched):
            raise data.read_directly()
        return wrap_any(data).numpy(force=force) if self._edge is None else super().numpy()

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        from .printing import tensor_repr, wrapper_repr

        data = self._data
        if isinstance(data, Batched):
            around = ACTIVE.get()
            depth = around.index(data.level) + 1 if data.level in around else data.level
            return wrapper_repr("BatchedTensor", depth, repr(wrap_any(data.value)), 0)
        from . import dtypes

        while isinstance(data, Dual) and data.level not in ACTIVE.get():
            data = data.primal
        return tensor_repr(xp.as_array(_innermost(data)), self.dtype,
                           default_dtype=dtypes.get_default_dtype(),
                           requires_grad=self._edge is not None and self.grad_fn is None,
                           grad_fn_name=None if self.grad_fn is None else self.grad_fn.name(),
                           tangent=wrap_any(data.tangent) if isinstance(data, Dual) else None)

    def data_ptr(self) -> int:
        return xp.address(_memory(self._data))

    def storage_offset(self) -> int:
        return wrap_any(_memory(self._data)).storage_offset()

    def detach(self) -> Tensor:
        """A tensor on the same memory, outside the graph and without tangents."""
        out = self._off_graph()
        if isinstance(self._data, Holder):
            return _with_data(out, without_tangents(self._data))
        return out

    @property
    def data(self) -> Tensor:
        """A tensor on the same memory, without graph, tangents, or a share in the version."""
        return _with_data(Tensor.data.fget(self), without_tangents(self._data))

    @data.setter
    def data(self, value: Tensor) -> None:
        Tensor.data.fset(self, value)


def _with_data(tensor: Tensor, data: Any) -> Tensor:
    tensor._replace_data(data)
    tensor.__class__ = TENSOR_CLASS.get(type(data), Tensor)
    return tensor


def _innermost(data: Any) -> Any:
    while isinstance(data, Dual):
        data = data.primal
    return data


def _memory(data: Any) -> Any:
    """The array under all holders."""
    while isinstance(data, Holder):
        data = data.primal if isinstance(data, Dual) else data.value
    return data


def innermost(data: Any) -> Any:
    """The array at the bottom of nested holders: of dual numbers, the values."""
    while isinstance(data, Holder):
        data = data.primal if isinstance(data, Dual) else data.value
    return data


TracedTensor.__name__ = TracedTensor.__qualname__ = "Tensor"
NATIVE.add(TracedTensor)
TENSOR_CLASS[Dual] = TENSOR_CLASS[Batched] = TracedTensor


def levels_of(data: Any) -> tuple[int, ...]:
    """The levels of all the holders that ``data`` is made of."""
    return tuple(sizes_of(data))


def sizes_of(data: Any) -> dict[int, int]:
    """The same, with the size of each batch (0 for a dual level)."""
    found: dict[int, int] = {}
    while isinstance(data, Holder):
        if isinstance(data, Dual):
            found[data.level] = 0
            found.update(sizes_of(data.tangent))
            data = data.primal
        else:
            found[data.level] = data.batch
            data = data.value
    return found


def levels_of_any(values: list[Any]) -> tuple[int, ...]:
    """The levels of all data among ``values``, lists included."""
    found: set[int] = set()
    for value in values:
        for item in value if type(value) in (list, tuple) else (value,):
            found.update(levels_of(item))
    return tuple(sorted(found))


class as_inside:
    """Run a block as inside given levels, which may be closed already."""

    __slots__ = ("levels", "token")

    def __init__(self, levels: tuple[int, ...]):
        self.levels = levels

    def __enter__(self) -> None:
        self.token = ACTIVE.set((*ACTIVE.get(), *self.levels))

    def __exit__(self, *exc: object) -> None:
        ACTIVE.reset(self.token)


class active:
    """Run a block inside a new level."""

    def __enter__(self) -> int:
        self.level = next_level()
        self.token = ACTIVE.set((*ACTIVE.get(), self.level))
        _BEGUN[self.level] = next_sequence()
        return self.level

    def __exit__(self, *exc: object) -> None:
        ACTIVE.reset(self.token)
        del _BEGUN[self.level]


_BEGUN: dict[int, int] = {}
"""The place in the order of all nodes where each level that is being run began."""


def made_inside(tensor: Tensor, level: int) -> bool:
    """Whether a tensor's history has a part inside ``level``."""
    edge = edge_of(tensor)
    maker = edge.node if edge is not None and getattr(edge, "is_output", False) else edge
    return isinstance(maker, Node) and maker.seq > _BEGUN.get(level, 0)


# ---------------------------------------------------------------- forward mode


def _map(values: list[Any], part: Callable[[Any], Any]) -> list[Any]:
    return [type(v)(part(x) for x in v) if type(v) in (list, tuple) else part(v) for v in values]


def compute_dual(op: Op, values: list[Any], top: Dual) -> Any:
    """An op on dual numbers: on the values by itself, on the tangents by its rule."""
    level = top.level

    def is_dual(v: Any) -> bool:
        return type(v) is Dual and v.level == level

    def primal(v: Any) -> Any:
        return v.primal if is_dual(v) else v

    primals = _map(values, primal)
    outer = any(v.outer for value in values
                for v in (value if type(value) in (list, tuple) else (value,)) if is_dual(v))
    y = compute(op, primals)
    if not outer and not has_tangents(level):
        return y
    tangents: dict[str, Any] = {}
    for param, value in zip(op.params, values, strict=True):
        if param.kind == ARRAYS:
            if any(is_dual(v) for v in value):
                tangents[param.name] = [v.tangent if is_dual(v) else None for v in value]
        elif is_dual(value) and param.name in op.arrays:
            tangents[param.name] = value.tangent
    if not tangents or not (op.rules or op.forward_rules or op.kind in ("linear", "view")):
        return y
    with switched(grad=False, saved_hooks=(), override=True):
        slopes = push_forward(op, primals, y, tangents)
    if isinstance(y, (tuple, list)):
        return type(y)(part if slope is None else Dual(level, part, slope, outer)
                       for part, slope in zip(y, slopes, strict=True))
    return y if slopes is None else Dual(level, y, slopes, outer)


def has_tangents(level: int) -> bool:
    """Whether tangents of ``level`` count: not once it is closed, unless backward asks for them."""
    if _RUNNING.get() is not None:
        return True
    mode = MODE.get()
    return level in ACTIVE.get() and mode.forward_grad and not mode.inference


def dual_levels(data: Any) -> list[int]:
    """The levels at which a value has tangents that count."""
    return [level for level, holder in _spine(data).items()
            if isinstance(holder, Dual) and has_tangents(level)]


def without_tangents(data: Any) -> Any:
    """Raw data without any tangents."""
    if isinstance(data, Dual):
        return without_tangents(data.primal)
    if isinstance(data, Batched):
        return Batched(data.level, without_tangents(data.value), data.outer)
    return data


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
    by_name = dict(zip((p.name for p in op.params), primals, strict=True))
    if op.forward_rules and set(tangents) <= set(op.forward_rules):
        return _by_forward_rules(op, by_name, y, tangents)
    if op.kind in ("linear", "view") and len(op.arrays) == 1:
        return _by_linearity(op, by_name, tangents)
    if op.kind == "elementwise":
        return _by_elementwise_rule(op, by_name, y, tangents)
    return _by_transposing_twice(op, by_name, y, tangents)


def _fitted(slope: Tensor, y: Any) -> Any:
    """A tangent in the shape and dtype of its value."""
    from .ops.convert import cast_gradient
    from .ops.shape import expand

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


def zeros_like_data(data: Any) -> Any:
    if isinstance(data, Dual):
        return zeros_like_data(data.primal)
    if isinstance(data, Batched):
        return Batched(data.level, zeros_like_data(data.value), data.outer)
    return xp.zeros(data.shape, data.dtype)


def _by_elementwise_rule(op: Op, by_name: dict[str, Any], y: Any, tangents: dict[str, Any]) -> Any:
    from .ops.pointwise import conj

    total: Any = None
    for name, tangent in tangents.items():
        rule = op.rules.get(name)
        if rule is None:
            continue
        t = wrap_any(tangent)
        complex_numbers = t.is_complex() or y.dtype.kind == "c"
        like = Like(tuple(by_name[name].shape), by_name[name].dtype)
        g = conj(t) if t.is_complex() else t
        if g._data.dtype != y.dtype and not t.is_complex():
            from .ops.convert import cast_gradient

            g = cast_gradient(g, y.dtype)
        if tuple(g._data.shape) != tuple(y.shape):
            from .ops.shape import expand

            g = expand(g, tuple(y.shape))
        value = rule(*_arguments(op, by_name, y, codegen_parameters(rule), g=g, like=like))
        if complex_numbers and value.is_complex():
            value = conj(value)
        total = value if total is None else total + value
    return None if total is None else _fitted(total, y)


def _by_transposing_twice(op: Op, by_name: dict[str, Any], y: Any, tangents: dict[str, Any]) -> Any:
    """Jv as the transpose of u ↦ Jᵀu, which the reverse rules give as a graph."""
    from .autograd.backward import grad
    from .ops.convert import cast_gradient

    outputs = list(y) if isinstance(y, (tuple, list)) else [y]
    seeds = []
    for nr, part in enumerate(outputs):
        floating = part.dtype.kind in "fc"
        allowed = op.differentiable_outputs is None or nr in op.differentiable_outputs
        seed = wrap_any(zeros_like_data(part)) if floating and allowed else None
        seeds.append(seed)
    pulled: list[Tensor] = []
    directions: list[Tensor] = []
    with switched(grad=True):
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
                    from .replaying import fit_tensor

                    r = fit_tensor(r, shape)
                pulled.append(r)
                directions.append(cast_gradient(wrap_any(t), r._data.dtype))
        live = [s for s in seeds if s is not None]
        if pulled:
            with as_inside(levels_of_any([*by_name.values(), *tangents.values()])):
                slopes = iter(grad(pulled, live, directions, allow_unused=True))
        else:
            slopes = iter([None] * len(live))
    found = []
    for seed, part in zip(seeds, outputs, strict=True):
        slope = next(slopes) if seed is not None else None
        if seed is not None and slope is None:
            slope = wrap_any(zeros_like_data(part))
        found.append(None if slope is None else _fitted(slope, part))
    return found if isinstance(y, (tuple, list)) else found[0]


# ---------------------------------------------------------------- vmap


def compute_batched(op: Op, values: list[Any], top: Batched) -> Any:
    """An op on batches: by its batching rule, by its kind, or one value at a time."""
    level = top.level
    size = top.batch

    def is_batched(v: Any) -> bool:
        return type(v) is Batched and v.level == level

    outer = any(v.outer for value in values
                for v in (value if type(value) in (list, tuple) else (value,)) if is_batched(v))
    flags = [[is_batched(x) for x in v] if type(v) in (list, tuple) else is_batched(v)
             for v in values]
    inner = _map(values, lambda v: v.value if is_batched(v) else v)
    result = NotImplemented
    rule = batching_rule(op)
    if rule is not None:
        try:
            with switched(grad=False, saved_hooks=(), override=True, journal=None):
                result = _unwrapped(rule(*_rule_arguments(op, inner, flags, size, level)))
        except CannotBatch as error:
            raise error if error.level is not None else error.at(level)  # noqa: B904
    if result is NotImplemented and op.kind == "elementwise":
        result = compute(op, _aligned(op, inner, flags))
    if result is NotImplemented:
        result = _shifted(op, inner, flags)
    if result is NotImplemented:
        result = _one_at_a_time(op, inner, flags, size)
    if isinstance(result, (tuple, list)):
        return type(result)(Batched(level, r, outer) for r in result)
    return Batched(level, result, outer)


def batching_rule(op: Op) -> Any:
    """The op's batching rule; the first question reads the rules in."""
    from .ops import batching  # noqa: F401  (only now: most programs never batch)

    return op.batch_rule


class BatchArguments:
    """What a batching rule is given first: which arguments are batched, and how many there are."""

    __slots__ = ("size", "flags", "level")

    def __init__(self, size: int, flags: dict[str, Any], level: int):
        self.size, self.flags, self.level = size, flags, level

    def but(self, **flags: Any) -> BatchArguments:
        """The same batch with other arguments."""
        return BatchArguments(self.size, flags, self.level)

    def __getitem__(self, name: str) -> Any:
        return self.flags[name]


def _rule_arguments(op: Op, inner: list[Any], flags: list[Any], size: int,
                    level: int) -> list[Any]:
    """A batching rule's arguments: the batch, then the op's own with the batch in front."""
    by_name = {p.name: f for p, f in zip(op.params, flags, strict=True)}
    wrapped = []
    for param, value in zip(op.params, inner, strict=True):
        if param.name in op.arrays or param.name in op.indices:
            wrapped.append(None if value is None else [wrap_any(v) for v in value]
                           if isinstance(value, list) else wrap_any(value))
        else:
            wrapped.append(value)
    return [BatchArguments(size, by_name, level), *wrapped]


def _unwrapped(result: Any) -> Any:
    if result is NotImplemented:
        return result
    if isinstance(result, (tuple, list)):
        return type(result)(r._data for r in result)
    return result._data


def _aligned(op: Op, inner: list[Any], flags: list[Any]) -> list[Any]:
    """Pad the logical ranks, so that batches broadcast as their values would."""
    rank = 0
    for param, value, flag in zip(op.params, inner, flags, strict=True):
        if value is not None and param.name in op.arrays + op.indices:
            rank = max(rank, value.ndim - (1 if flag else 0))
    values = []
    for param, value, flag in zip(op.params, inner, flags, strict=True):
        if flag is True and param.name in op.arrays + op.indices and value.ndim - 1 < rank:
            shape = (value.shape[0], *(1,) * (rank - value.ndim + 1), *value.shape[1:])
            value = reshape_data(value, shape)
        values.append(value)
    return values


def reshape_data(data: Any, shape: tuple[int, ...]) -> Any:
    from .ops.shape import _reshape

    return compute(_reshape.op, [data, shape])


_SHIFTS = {DIM, DIMS}


def _shifted(op: Op, inner: list[Any], flags: list[Any]) -> Any:
    """An op with dims, computed on the whole batch: every dim moves right by one."""
    if len(op.arrays) != 1 or op.indices or not any(p.kind in _SHIFTS for p in op.params):
        return NotImplemented
    if any(p.name in ("size", "input_sizes", "shape", "source") for p in op.params):
        return NotImplemented
    position = next(i for i, p in enumerate(op.params) if p.name == op.arrays[0])
    if flags[position] is not True:
        return NotImplemented
    data = inner[position]
    # A zero-dim value has one dim to name all the same.
    lonely = data.ndim == 1
    rank = max(data.ndim - 1, 1)
    values = []
    for param, value in zip(op.params, inner, strict=True):
        if param.kind == DIM:
            value = value + 1
        elif param.kind == DIMS:
            value = tuple(range(1, rank + 1)) if value is None or value == () else tuple(
                [d + 1 for d in value])
        elif param.name == op.arrays[0] and lonely:
            value = reshape_data(data, (data.shape[0], 1))
        values.append(value)
    result = compute(op, values)
    if not lonely:
        return result
    if isinstance(result, (tuple, list)):
        return type(result)(reshape_data(r, (data.shape[0],)) for r in result)
    return reshape_data(result, (data.shape[0],))


_TOLD: set[str] = set()


def _one_at_a_time(op: Op, inner: list[Any], flags: list[Any], size: int) -> Any:
    """The fallback that always works: a loop over the batch."""
    if op.name not in _TOLD:
        _TOLD.add(op.name)
        warn(f"There is a performance drop because we have not yet implemented the batching rule "
             f"for {op.name}: vmap runs it once for each of {size} values here:\n  {here(2)}")
    results = []
    for i in range(size):
        values = []
        for value, flag in zip(inner, flags, strict=True):
            if isinstance(flag, list):
                values.append(type(value)(pick(v, i) if f else v
                                          for v, f in zip(value, flag, strict=True)))
            else:
                values.append(pick(value, i) if flag else value)
        results.append(compute(op, values))
    if not results:
        raise ValueError(f"vmap: a batch of size 0 reached {op.name}, which has no batching rule")
    if isinstance(results[0], (tuple, list)):
        return type(results[0])(stack_data(list(parts)) for parts in zip(*results, strict=True))
    return stack_data(results)


def pick(data: Any, index: int) -> Any:
    from .ops.shape import _select

    return compute(_select.op, [data, 0, index])


def stack_data(parts: list[Any]) -> Any:
    from .ops.join import _stack

    return compute(_stack.op, [parts, 0])


TRACED_TYPES[Dual] = compute_dual
TRACED_TYPES[Batched] = compute_batched


# ---------------------------------------------------------------- writing in place


def write_traced(target: Tensor, result: Any) -> None:
    """Put raw data into a tensor's memory where one or both belong to a transform."""
    given = _spine(result)
    for level in sorted(set(given) - set(_spine(target._data))):
        _lift(target, level, given[level])
    for level, holder in _spine(target._data).items():
        if isinstance(holder, Dual) and level in given:
            known, wanted = sizes_of(holder.tangent), sizes_of(given[level].tangent)
            if not set(wanted) <= set(known):
                _widen(target, level, {**known, **wanted})
    _write(target._data, result)


def _spine(data: Any) -> dict[int, Any]:
    """The holders met on the way to the value itself, tangents left aside."""
    found = {}
    while isinstance(data, Holder):
        found[data.level] = data
        data = data.primal if isinstance(data, Dual) else data.value
    return found


def _lift(target: Tensor, level: int, holder: Any) -> None:
    """Give a tensor, its base and its other views room for a transform's data."""
    if isinstance(holder, Batched):
        raise CannotBatch("vmap: inplace arithmetic(self, *extra_args) is not possible because "
                          "there exists a Tensor `other` in extra_args that has more elements "
                          "than `self`. This happened due to `other` being vmapped over but "
                          "`self` not being vmapped over in a vmap. Please try to use out-of-place "
                          "operators instead of inplace arithmetic.").at(level)
    base = target if target._view is None else target._view.base
    base._array()
    places = [(view, _geometry(base, view)) for view in _views_of(base)]
    inside = {n: size for n, size in sizes_of(holder.tangent).items() if n < level}
    tangent = _room(base._data, inside)
    carry_tangent(base, level, tangent)
    for view, where in places:
        carry_tangent(view, level, _part(tangent, where))


def _widen(target: Tensor, level: int, sizes: dict[int, int]) -> None:
    """Give a dual tensor, its base and its other views tangents of more levels."""
    base = target if target._view is None else target._view.base
    tensors = [base, *_views_of(base)]
    places = [_geometry(base, view) for view in tensors[1:]]
    own = _spine(base._data)[level]
    wider = _room(own.primal, sizes)
    _write(wider, own.tangent)
    own.tangent = wider
    for view, where in zip(tensors[1:], places, strict=True):
        _spine(view._data)[level].tangent = _part(wider, where)


def _room(like: Any, sizes: dict[int, int]) -> Any:
    """Zeros laid out as ``like``, with room for the data of further levels (see sizes_of)."""
    like = _innermost(like)
    if isinstance(like, Batched):
        if not set(sizes) <= set(sizes_of(like)):
            raise CannotBatch("a tangent of several levels cannot be written to a batch").at(
                max(sizes))
        return zeros_like_data(like)
    batches = [sizes[n] for n in sorted(sizes) if sizes[n]]

    def build(levels: list[int]) -> Any:
        if not levels:
            return xp.zeros_as(like, batches)
        *lower, level = levels
        if sizes[level]:
            return Batched(level, build(lower))
        return Dual(level, build(lower), build(lower))

    return build(sorted(sizes))


def _part(data: Any, where: Any) -> Any:
    """The part of a base's tangent that a view of this geometry looks at."""
    if where.chain:
        for step, static in where.chain:
            if step.outputs == ("list",):
                data = compute(step, [data, *static[:-1]])[static[-1]]
            else:
                data = compute(step, [data, *static])
        return data
    if isinstance(data, Dual):
        return Dual(data.level, _part(data.primal, where), _part(data.tangent, where), data.outer)
    if isinstance(data, Batched):
        return Batched(data.level, _part(data.value, where), data.outer)
    return where.of_array(data)


def _views_of(base: Tensor) -> list[Tensor]:
    """The tensors that look at the memory of ``base``; only the garbage collector knows them all.

    Looking for them is slow, and seldom needed: once for each plain tensor that a dual number is
    written into.
    """
    if base._vc is None:
        return []
    views = [v for v in gc.get_referrers(base) if type(v) is View and v.base is base]
    return [t for t in gc.get_referrers(*views) if isinstance(t, Tensor) and t._view in views] \
        if views else []


def _geometry(base: Tensor, view: Tensor) -> Any:
    from .inplace import Geometry

    twin = wrap_any(_innermost(view._data))
    twin._view = view._view
    return Geometry(wrap_any(_innermost(base._data)), twin)


def carry_tangent(tensor: Tensor, level: int, tangent: Any) -> None:
    """Make a tensor dual in place."""
    tensor._replace_data(_joined(tensor._data, tangent, level))
    tensor.__class__ = TracedTensor


def _joined(p: Any, t: Any, level: int) -> Any:
    """A value and its tangent as one; the holders of higher levels stay outside."""
    top = max((x for x in (p, t) if isinstance(x, Holder)), key=lambda x: x.level, default=None)
    if top is None or top.level < level:
        return Dual(level, p, t)
    p_has, t_has = (isinstance(x, Holder) and x.level == top.level for x in (p, t))
    if isinstance(top, Batched):
        return Batched(top.level, _joined(p.value if p_has else _repeated(p, top.batch),
                                          t.value if t_has else _repeated(t, top.batch), level),
                       top.outer)
    first, second = (p.primal, p.tangent) if p_has else (p, zeros_like_data(p))
    slope, turn = (t.primal, t.tangent) if t_has else (t, zeros_like_data(t))
    return Dual(top.level, _joined(first, slope, level), _joined(second, turn, level), top.outer)


def _write(target: Any, result: Any) -> None:
    if isinstance(target, Dual):
        same = isinstance(result, Dual) and result.level == target.level
        _write(target.primal, result.primal if same else result)
        if has_tangents(target.level):
            _write(target.tangent, result.tangent if same else xp.zeros((), target.tangent.dtype))
    elif isinstance(target, Batched):
        same = isinstance(result, Batched) and result.level == target.level
        value = result.value if same else result
        _write(target.value, value)
    elif isinstance(result, Holder):
        raise CannotBatch("a value inside a transform cannot be written to a tensor outside "
                          "it").at(result.level)
    else:
        target[...] = result


interpret.TRACED_WRITE = write_traced  # type: ignore[attr-defined]


# ---------------------------------------------------------------- entering and leaving


class _Boundary(PlacedNode):
    """A node at a transform's edge; both directions are linear, and each is the other's adjoint."""

    __slots__ = ("forward", "adjoint", "levels")

    def pull(self, g: Any, *wanted: Any) -> Any:
        return settle(self.adjoint(g), self.levels)

    def replay(self, g: Any, *wanted: Any) -> Any:
        return settle_tensor(recorded(g, self.adjoint, self.forward), self.levels)


def recorded(tensor: Tensor, forward: Callable[[Any], Any],
             adjoint: Callable[[Any], Any]) -> Tensor:
    """``forward`` of a tensor's raw data as a tensor in the graph."""
    out = wrap_any(forward(tensor._array()))
    edge = edge_of(tensor)
    if edge is not None and MODE.get().grad:
        node = _Boundary()
        node.seq = next_sequence()
        node.code, node.lasti = here(2)
        node.next0 = edge
        node.forward, node.adjoint = forward, adjoint
        node.levels = levels_of(tensor._data)
        out._edge = node
    elif tensor._cut is not None:
        out._cut = tensor._cut
    return out


def move_axis(data: Any, source: int, destination: int) -> Any:
    """``moveaxis`` of raw data, holders included."""
    if source == destination:
        return data
    from .ops.shape import _permute

    order = [d for d in range(data.ndim) if d != source]
    order.insert(destination, source)
    return compute(_permute.op, [data, tuple(order)])


def _below(data: Any, level: int, change: Callable[[Any, int], Any], depth: int = 0) -> Any:
    """Apply ``change`` to the part of ``data`` under every holder above ``level``.

    ``change`` is told how many batch axes lie in front of the dims it knows.
    """
    if isinstance(data, Dual) and data.level > level:
        return Dual(data.level, _below(data.primal, level, change, depth),
                    _below(data.tangent, level, change, depth), data.outer)
    if isinstance(data, Batched) and data.level > level:
        return Batched(data.level, _below(data.value, level, change, depth + 1), data.outer)
    return change(data, depth)


def enter_batch(data: Any, dim: int, level: int, outer: bool = False) -> Any:
    """Raw data with its axis ``dim`` turned into a batch."""
    def change(inner: Any, depth: int) -> Any:
        return Batched(level, move_axis(inner, dim + depth, 0), outer)

    return _below(data, level, change)


def leave_batch(data: Any, dim: int, level: int, size: int) -> Any:
    """Raw data with its batch turned back into axis ``dim``; repeated if it had none."""
    def change(inner: Any, depth: int) -> Any:
        if isinstance(inner, Batched) and inner.level == level:
            return move_axis(inner.value, 0, dim + depth)
        return move_axis(_repeated(inner, size), 0, dim + depth)

    return _below(data, level, change)


def in_every_batch(tensor: Tensor, sizes: dict[int, int]) -> Tensor:
    """A tensor outside the graph, repeated for each batch (by level) that it has no part in."""
    data = tensor._array()
    for level, size in sorted(sizes.items()):
        if level not in levels_of(data):
            data = _below(data, level, _repeating(level, size, outer=False))
    return wrap_any(data)


def batched_like(model: Tensor, made: Tensor) -> Tensor:
    """A fresh tensor in memory of its own for every value of the batches that ``model`` is in."""
    sizes = [(level, size) for level, size in sorted(sizes_of(model._data).items()) if size]
    if not sizes:
        return made
    plain = made._array()
    data: Any = xp.empty((*(size for _, size in sizes), *plain.shape), plain.dtype)
    data[...] = plain
    for level, _ in sizes:
        data = Batched(level, data)
    out = wrap_any(data)
    out._edge = made._edge
    return out


def batch_in(tensor: Tensor, dim: int, level: int) -> Tensor:
    """A tensor as one value of a batch along ``dim``."""
    size = tensor.shape[dim]
    return recorded(tensor, lambda x: enter_batch(x, dim, level),
                    lambda g: leave_batch(g, dim, level, size))


def batch_repeated(tensor: Tensor, level: int, size: int) -> Tensor:
    """A tensor that was the same for the whole batch, as a batch of equal values."""
    return recorded(tensor, lambda x: _below(x, level, lambda inner, depth: Batched(
        level, _repeated(inner, size))), lambda g: g)


def batch_out(tensor: Tensor, dim: int, level: int, size: int) -> Tensor:
    """The whole batch as an ordinary tensor."""
    return recorded(tensor, lambda x: leave_batch(x, dim, level, size),
                    lambda g: enter_batch(g, dim, level, outer=level not in ACTIVE.get()))


def dual_part(data: Any, level: int, part: str) -> Any:
    def change(inner: Any, depth: int) -> Any:
        if isinstance(inner, Dual) and inner.level == level:
            return getattr(inner, part)
        return inner if part == "primal" else zeros_like_data(inner)

    return _below(data, level, change)


def _as_functional(level: int, part: str, missing: dict[int, int]) -> Callable[[Any], Any]:
    """The functional that reads one part of a pair, scaled by g: see this module's text.

    ``missing`` are the batches that the pair has but this part does not. Such a part counts once,
    not once for each value: its gradient is given to the first value of the batch.
    """
    def pair(g: Any) -> Any:
        for other, size in missing.items():
            g = _first_of_batch(g, other, size)

        def change(inner: Any, depth: int) -> Any:
            zero = zeros_like_data(inner)
            if part == "tangent":
                return Dual(level, inner, zero, True)
            return Dual(level, zero, inner, True)

        return _below(g, level, change)

    return pair


def _first_of_batch(g: Any, level: int, size: int) -> Any:
    from .ops.shape import select_backward

    def change(inner: Any, depth: int) -> Any:
        whole = compute(select_backward.op, [inner, (size, *inner.shape), 0, 0])
        return Batched(level, whole, True)

    return _below(g, level, change)


def _read_part(tensor: Tensor, level: int, part: str) -> Tensor:
    whole = sizes_of(tensor._data)
    kept = sizes_of(dual_part(tensor._data, level, part))
    missing = {n: size for n, size in whole.items() if n not in kept and n != level and size}
    return recorded(tensor, lambda x: dual_part(x, level, part),
                    _as_functional(level, part, missing))


def dual_primal(tensor: Tensor, level: int) -> Tensor:
    """The value of a dual tensor."""
    return _read_part(tensor, level, "primal")


def dual_tangent(tensor: Tensor, level: int) -> Tensor:
    """The tangent of a dual tensor."""
    return _read_part(tensor, level, "tangent")


class _MakeDual(PlacedNode):
    """Joins a value and its tangent."""

    __slots__ = ("next1", "level", "levels")
    _arity = 2

    def name(self) -> str:
        return "ViewBackward0"

    def pull(self, g: Any, *wanted: Any) -> Any:
        value, slope = self._parts(g)
        return settle(value, self.levels[0]), settle(slope, self.levels[1])

    def _parts(self, g: Any) -> tuple[Any, Any]:
        holder = g
        while isinstance(holder, Holder) and holder.level > self.level:
            holder = holder.primal if isinstance(holder, Dual) else holder.value
        if isinstance(holder, Dual) and holder.level == self.level and not holder.outer:
            # Backward inside the level: the value's gradient is itself a dual number.
            return g, None
        return (dual_part(g, self.level, "tangent"), dual_part(g, self.level, "primal"))

    def replay(self, g: Any, *wanted: Any) -> Any:
        _, slope = self._parts(g._data)
        if slope is None:
            return settle_tensor(g, self.levels[0]), None
        return (settle_tensor(dual_tangent(g, self.level), self.levels[0]),
                settle_tensor(dual_primal(g, self.level), self.levels[1]))


def make_dual(primal: Tensor, tangent: Tensor, level: int) -> Tensor:
    """A dual tensor at ``level``."""
    out = wrap_any(_joined(primal._array(), tangent._array(), level))
    edges = (edge_of(primal), edge_of(tangent))
    if MODE.get().grad and any(e is not None for e in edges):
        node = _MakeDual()
        node.seq = next_sequence()
        node.code, node.lasti = here(2)
        node.next0, node.next1 = edges
        node.level = level
        node.levels = (levels_of(primal._data), levels_of(tangent._data))
        out._edge = node
    return out


# ---------------------------------------------------------------- where gradients leave a node


def is_settled(result: Any, levels: tuple[int, ...]) -> bool:
    if not isinstance(result, Holder):
        return True
    if result.outer and result.level not in levels:
        return False
    if isinstance(result, Dual):
        return is_settled(result.primal, levels) and is_settled(result.tangent, levels)
    return is_settled(result.value, levels)


def settle(result: Any, levels: tuple[int, ...]) -> Any:
    """A raw gradient without the outer holders its input did not have."""
    if is_settled(result, levels):
        return result
    if isinstance(result, Dual):
        if result.outer and result.level not in levels:
            return settle(result.tangent, levels)
        return Dual(result.level, settle(result.primal, levels), settle(result.tangent, levels),
                    result.outer)
    if result.outer and result.level not in levels:
        return settle(wrap_any(result.value).sum(0)._data, levels)
    return Batched(result.level, settle(result.value, levels), result.outer)


def _unsettle(g: Any, removed: dict[int, int]) -> Any:
    """The adjoint of :func:`settle`: give back the holders it removed."""
    for level, size in removed.items():
        if size:
            g = _below(g, level, _repeating(level, size, outer=True))
        else:
            g = _as_functional(level, "tangent", {})(g)
    return g


def _repeating(level: int, size: int, outer: bool) -> Callable[[Any, int], Any]:
    """A change for :func:`_below`: the same value for a whole batch."""
    return lambda inner, depth: Batched(level, _repeated(inner, size), outer)


def _repeated(data: Any, size: int) -> Any:
    """``data`` along a new first axis of length ``size``."""
    from .ops.shape import expand

    shape = tuple(data.shape)
    return compute(expand.op, [reshape_data(data, (1, *shape)), (size, *shape)])


def _outer_sizes(data: Any) -> dict[int, int]:
    found: dict[int, int] = {}
    if isinstance(data, Dual):
        if data.outer:
            found[data.level] = 0
        found.update(_outer_sizes(data.tangent))
        found.update(_outer_sizes(data.primal))
    elif isinstance(data, Batched):
        if data.outer:
            found[data.level] = data.batch
        found.update(_outer_sizes(data.value))
    return found


def settle_tensor(result: Tensor, levels: tuple[int, ...]) -> Tensor:
    """:func:`settle`, recorded."""
    data = result._data
    if is_settled(data, levels):
        return result
    removed = {n: size for n, size in sorted(_outer_sizes(data).items()) if n not in levels}
    return recorded(result, lambda x: settle(x, levels), lambda g: _unsettle(g, removed))
