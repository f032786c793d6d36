"""Reverse mode: ``grad``, ``vjp``, ``jacrev`` and ``hessian``.

No levels are needed here. An input is passed to the function as a fresh node of the one flat graph,
so gradients taken at that node see the inner function alone, while the graph behind it goes on to
whatever differentiates outside.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..autograd.backward import own, starting
from ..backend.interface import kind_of, library_of
from ..base import trees
from ..base.modes import MODE, differentiating, switched
from ..core.engine import Schedule, run
from ..core.graph import Identity, Node
from ..core.tensor import Tensor, edge_of, wrap_any
from ..transforms import (
    Batched,
    CannotBatch,
    TracedData,
    innermost,
    leave_batch,
    next_level,
    ones_like_data,
    takes_any_data,
    zeros_like_data,
)


class FunctionInput(Identity):
    """Where a differentiated function's argument enters the graph."""

    __slots__ = ("is_open",)
    is_open: bool  # while the function runs: it will ask for gradients here


def entered(tensor: Tensor) -> Tensor:
    """``tensor`` behind a node of its own."""
    edge = edge_of(tensor)  # a view may renew its history, by a node that has to be the older one
    node = FunctionInput().placed()
    node.next0 = edge
    node.is_open = True
    out = wrap_any(tensor._array())
    out._edge = node
    out._vc = tensor._counter()
    return out


class Entered:
    """The differentiable arguments of one call, each behind its own node."""

    def __init__(self, tree: Any):
        leaves, self.structure = trees.flatten(tree)
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                raise ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)}")
            if not (leaf.is_floating_point() or leaf.is_complex()):
                raise RuntimeError("only Tensors of floating point dtype can require gradients")
        self.outside = leaves
        self.inside = [entered(leaf) for leaf in leaves]
        self.nodes = {t._edge for t in self.inside}

    @property
    def tree(self) -> Any:
        return trees.unflatten(list(self.inside), self.structure)

    def close(self) -> None:
        """The function has ended: no further gradients will be asked for here."""
        for node in self.nodes:
            node.is_open = False


def checked_aux(tree: Any) -> Any:
    """An auxiliary output, which may hold tensors only."""
    for leaf in trees.flatten(tree)[0]:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(leaf)}")
    return tree


def output_and_aux(output: Any, name: str) -> tuple[Any, Any]:
    """What a function with ``has_aux`` returned, in its two parts."""
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(f"{name}: output of function f should be a tuple: (output, aux) if "
                           "has_aux is True")
    return output


def check_outputs(leaves: list[Any], name: str) -> None:
    """Raise unless a function returned tensors, and at least one."""
    if not leaves or (len(leaves) == 1 and leaves[0] is None):
        raise RuntimeError(f"{name}: Expected f to be a function that has non-empty output (got "
                           f"output = {leaves})")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{name}: expected f(*primals) to return only tensors, got "
                               f"unsupported type {type(leaf)}")


def detached(tree: Any) -> Any:
    return trees.tree_map(lambda t: t._off_graph() if isinstance(t, Tensor) else t, tree)


class Backward:
    """The backward pass from a function's outputs to its arguments."""

    def __init__(self, outputs: list[Tensor], inputs: Entered, structure: Any = trees.LEAF):
        self.inputs, self.outputs, self.structure = inputs, outputs, structure
        self.watched = False  # from outside the function
        self.live = [o for o in outputs if edge_of(o) is not None]
        # What is written to a view later is not the function's.
        self.roots = [edge_of(o) for o in self.live]
        self.targets = [edge_of(t) for t in inputs.inside]
        self._schedule: Schedule | None = None

    def schedule(self) -> Schedule:
        # A hook may have been set, or a callback queued, since it was made.
        if self._schedule is None or Node.any_watched or self._schedule.callbacks is not None:
            self._schedule = Schedule(self.roots, set(self.targets))
        return self._schedule

    def is_watched(self) -> bool:
        """Whether anything but the arguments could ask for gradients of the outputs."""
        schedule = self.schedule()
        return bool(schedule.leaves) or any(
            n.leads_nowhere or (
                isinstance(n, FunctionInput) and n.is_open and n not in self.inputs.nodes)
            for n in schedule.order)

    def gradients(self, seeds: list[Any] | None, record: bool, retain: bool) -> list[Tensor]:
        """The gradients of the arguments, zeros where the outputs do not depend on one."""
        if not self.live:
            return [zeros_like(t) for t in self.inputs.outside]
        given = [_unit(o) for o in self.live] if seeds is None else \
            [s for o, s in zip(self.outputs, seeds, strict=True) if o._edge is not None]
        _, values = starting(tuple(self.live), tuple(given), record)
        with switched(grad=record, inference=False):
            found = run(self.roots, values, retain=retain, recorded=record,
                        targets=self.targets, accumulate=False, schedule=self.schedule())
            return [self._result(found.get(edge), t)
                    for edge, t in zip(self.targets, self.inputs.outside, strict=True)]

    def pull(self, cotangents: Any, retain: bool = True, record: bool | None = None) -> Any:
        """The gradients for given ones of the outputs, both in the structures of the function."""
        seeds, given = trees.flatten(cotangents)
        if given != self.structure:
            raise RuntimeError("Expected pytree structure of cotangents to be the same as pytree "
                               "structure of outputs to the function. cotangents: "
                               f"{trees.pictured(given)}, primal output: "
                               f"{trees.pictured(self.structure)}")
        for seed in seeds:
            if not (seed is None or isinstance(seed, Tensor)):
                raise TypeError("gradients can be either Tensors or None, but got "
                                f"{type(seed).__name__}")
        if record is None:
            record = MODE.get().records and (self.watched or any(
                s is not None and edge_of(s) is not None for s in seeds))
        return trees.unflatten(self.gradients(seeds, record, retain), self.inputs.structure)

    def rows(self, basis: list[Tensor], total: int) -> list[Tensor] | None:
        """The gradients for a batch of seeds, from one pass; None if that takes a whole vmap.

        A vmap around the pass is of no use where only ops are run in it.
        """
        mode = MODE.get()
        if mode.inference:
            with switched(inference=False):
                return self.rows(basis, total)
        if self.watched and mode.grad:
            return None
        schedule = self.schedule()
        if not schedule.is_unwatched or not all(map(takes_any_data, schedule.order)):
            return None
        level = next_level()
        seeds = [Batched(level, b._data) for o, b in zip(self.outputs, basis, strict=True)
                 if o._edge is not None]
        try:
            found = run(self.roots, seeds, retain=True, recorded=False,
                        targets=self.targets, accumulate=False, schedule=schedule)
        except CannotBatch:
            return None
        return [wrap_any(leave_batch(zeros_like_data(t._data) if (g := found.get(edge)) is None
                                     else g, 0, level, total))
                for edge, t in zip(self.targets, self.inputs.outside, strict=True)]

    def shown(self, tree: Any) -> tuple[Any, bool]:
        """What a function returned, with the histories that lead outside; whether any does."""
        is_live = False

        def with_history(value: Any) -> Any:
            nonlocal is_live
            if not isinstance(value, Tensor):
                return value
            edge = edge_of(value)
            if edge is None or not self._leads_outside(edge):
                return value._off_graph()
            is_live = True
            return value

        return trees.tree_map(with_history, tree), is_live

    def _result(self, found: Any, like: Tensor) -> Tensor:
        if found is None:
            return zeros_like(like)
        if not isinstance(found, Tensor):
            return wrap_any(own(found))
        if found._edge is not None and not self._leads_outside(found._edge):
            return found._off_graph()  # it was recorded for the sake of other arguments
        return found

    def _leads_outside(self, edge: Any) -> bool:
        """Whether a history ends anywhere but at arguments that have none themselves."""
        pending, seen = [edge], set()
        while pending:
            edge = pending.pop()
            node = edge.node if getattr(edge, "is_output", False) else edge
            if node is None or node in seen:
                continue
            if not isinstance(node, Node) or node.leads_nowhere or (
                    isinstance(node, FunctionInput) and node.is_open
                    and node not in self.inputs.nodes):
                return True
            seen.add(node)
            pending += node.edges()
        return False


def _unit(output: Tensor) -> Tensor | None:
    """The gradient of a real scalar by itself, in each of the batches it is in."""
    data = output._data
    is_scalar = isinstance(data, TracedData) and kind_of(data.dtype) == "f" and not data.ndim
    return wrap_any(ones_like_data(data)) if is_scalar else None


def zeros_like(tensor: Tensor) -> Tensor:
    return wrap_any(zeros_like_data(tensor._data))


# ---------------------------------------------------------------- grad


def checked_argnums(argnums: Any, args: tuple[Any, ...]) -> tuple[int, ...]:
    """The positions of the arguments to differentiate, counted from the front."""
    if isinstance(argnums, int):
        return (_checked_position(argnums, args),)
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if not argnums:
        raise RuntimeError("argnums must be non-empty")
    for n in argnums:
        if not isinstance(n, int):
            raise RuntimeError(f"argnum must be int, got: {type(n)}")
    found = tuple([_checked_position(n, args) for n in argnums])
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {found}")
    return found


def _checked_position(n: int, args: tuple[Any, ...]) -> int:
    if not -len(args) <= n < len(args):
        raise RuntimeError(f"Got argnum={n}, but only {len(args)} positional inputs")
    return n % len(args)


def with_arguments(args: tuple[Any, ...], numbers: tuple[int, ...], values: Any) -> list[Any]:
    """``args`` with ``values`` at the positions ``numbers``."""
    replaced = list(args)
    for n, value in zip(numbers, values, strict=True):
        replaced[n] = value
    return replaced


def grad_and_value(func: Callable[..., Any], argnums: Any = 0,
                   has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of ``func``'s scalar output, and that output."""

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        numbers = checked_argnums(argnums, args)
        outer = MODE.get().records
        with differentiating():
            picked = tuple(args[n] for n in numbers)
            inputs = Entered(picked if isinstance(argnums, tuple) else picked[0])
            inner = inputs.tree if isinstance(argnums, tuple) else (inputs.tree,)
            output = func(*with_arguments(args, numbers, inner), **kwargs)
            aux = None
            if has_aux:
                output, aux = output_and_aux(output, "grad_and_value(f)(*args)")
                checked_aux(aux)
            if not isinstance(output, Tensor):
                raise RuntimeError("grad_and_value(f)(*args): Expected f(*args) to return a Tensor,"
                                   f" got {type(output)}")
            if output.dim() != 0:
                raise RuntimeError("grad_and_value(f)(*args): Expected f(*args) to return a scalar "
                                   f"Tensor, got tensor with {output.dim()} dims. Maybe you wanted "
                                   "to use the vjp or jacrev APIs instead?")
            backward = Backward([output], inputs)
            record = outer and backward.is_watched()
            is_live = False
            if has_aux:
                aux, is_live = backward.shown(aux) if outer else (detached(aux), False)
            found = backward.gradients(None, record, retain=record or is_live)
            inputs.close()
        if not record:
            output = output._off_graph()
        gradients = trees.unflatten(found, inputs.structure)
        return (gradients, (output, aux)) if has_aux else (gradients, output)

    return wrapped


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of ``func``'s scalar output.

    The function that computes ``∂f/∂x`` of a scalar function ``f``.

    >>> torch.func.grad(lambda x: x ** 3)(torch.tensor(2.0))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        gradients, value = both(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return wrapped


# ---------------------------------------------------------------- vjp


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """``func(*primals)``, and the function that pulls gradients of it back to ``primals``.

    ``f(x)`` and the function that maps ``v`` to ``Jᵀ v``.

    >>> value, pull = torch.func.vjp(torch.sin, torch.tensor([0.0]))
    >>> pull(torch.tensor([2.0]))
    (tensor([2.]),)
    """
    output, aux, backward = ran(func, primals, has_aux)

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        return backward.pull(cotangents, retain_graph, create_graph)

    return (output, pull, aux) if has_aux else (output, pull)


def ran(func: Callable[..., Any], primals: tuple[Any, ...],
        has_aux: bool) -> tuple[Any, Any, Backward]:
    """``func(*primals)``, its auxiliary output, and the way back from its outputs."""
    name = "vjp(f, *primals)"
    outer = MODE.get().records
    with differentiating():
        inputs = Entered(primals)
        output = func(*inputs.tree)
        aux = None
        if has_aux:
            output, aux = output_and_aux(output, name)
            checked_aux(aux)
        outputs, structure = trees.flatten(output)
        check_outputs(outputs, name)
        for leaf in outputs:
            if not (leaf.is_floating_point() or leaf.is_complex()):
                raise RuntimeError("vjp(f, ...): All outputs of f must be floating-point or "
                                   f"complex Tensors, got Tensor with dtype {leaf.dtype}")
    backward = Backward(outputs, inputs, structure)
    backward.watched = bool(backward.live) and backward.is_watched()
    if not (outer and backward.watched):
        output = detached(output)
    elif len(outputs) > 1:  # some may be watched and others not
        output, _ = backward.shown(output)
    if has_aux:
        aux = backward.shown(aux)[0] if outer else detached(aux)
    inputs.close()
    return output, aux, backward


# ---------------------------------------------------------------- Jacobians


def jacrev(func: Callable[..., Any], argnums: Any = 0, *, has_aux: bool = False,
           chunk_size: int | None = None, _preallocate_and_copy: bool = False,
           ) -> Callable[..., Any]:
    """A function that returns the Jacobian of ``func``, by reverse mode.

    ``J[i, j] = ∂f(x)[i] / ∂x[j]``, row by row: for more inputs than outputs.

    >>> torch.func.jacrev(lambda x: x ** 2)(torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        from .batching import map_rows

        numbers = checked_argnums(argnums, args)
        picked = tuple(args[n] for n in numbers)

        def of_picked(*inner: Any) -> Any:
            return func(*with_arguments(args, numbers, inner), **kwargs)

        inputs, in_structure = trees.flatten(picked)
        output, aux, backward = ran(of_picked, picked, has_aux)
        outputs, structure = trees.flatten(output)
        _refuse_complex(inputs, outputs)
        sizes = [o.numel() for o in outputs]
        total = sum(sizes)
        basis = standard_basis(outputs, sizes)
        rows = backward.rows(basis, total) if chunk_size is None else None
        if rows is None:
            rows = trees.flatten(map_rows(
                lambda *seeds: backward.pull(trees.unflatten(list(seeds), structure)), basis, total,
                chunk_size=chunk_size))[0]
        blocks = [trees.unflatten(parts, in_structure)
                  for parts in cut_into_blocks(rows, outputs, inputs, sizes)]
        result = trees.unflatten(blocks if isinstance(argnums, tuple)
                                 else [block[0] for block in blocks], structure)
        return (result, aux) if has_aux else result

    return wrapped


def _refuse_complex(inputs: list[Any], outputs: list[Any]) -> None:
    """Raise if an output is complex and an input real: a row would leave half of its slope out."""
    for i, output in enumerate(outputs):
        if output.is_complex() and not all(t.is_complex() for t in inputs):
            raise RuntimeError("jacrev: Expected all outputs to be real but received complex "
                               f"tensor at flattened input idx: {i}")


def cut_into_blocks(rows: Sequence[Tensor], outputs: Sequence[Tensor], inputs: Sequence[Tensor],
                    sizes: list[int]) -> list[list[Tensor]]:
    """The rows that a basis of all outputs gave for each input, as a block for each of both."""
    blocks: list[list[Tensor]] = [[] for _ in outputs]
    for rows_of_input, source in zip(rows, inputs, strict=True):
        parts = rows_of_input.split(sizes, 0) if len(sizes) > 1 else (rows_of_input,)
        for block, part, out in zip(blocks, parts, outputs, strict=True):
            block.append(part.reshape((*out.shape, *source.shape)))
    return blocks


def standard_basis(tensors: list[Tensor], sizes: list[int]) -> list[Tensor]:
    """One-hot batches: together they reach every element of every tensor once."""
    total = sum(sizes)
    basis = []
    start = 0
    for tensor, size in zip(tensors, sizes, strict=True):
        library = library_of(innermost(tensor._data))
        chunk = library.zeros((total, size), tensor._data.dtype)
        chunk.reshape(-1)[start * size:(start + size) * size:size + 1] = 1
        start += size
        basis.append(wrap_any(chunk.reshape((total, *tensor._data.shape))))
    return basis


def hessian(func: Callable[..., Any], argnums: Any = 0, *, sparse: Any = None,
            chunk_size: int | None = None) -> Callable[..., Any]:
    """A function that returns the Hessian of ``func``: forward over reverse.

    With ``sparse="auto"``, or a pattern, it is a ``scipy.sparse`` array: see :func:`jacobian`.

    ``H[i, j] = ∂²f / ∂x[i] ∂x[j]``, forward over reverse.

    >>> torch.func.hessian(lambda x: (x ** 3).sum())(torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    if sparse is not None:
        from .sparse import sparse_hessian

        return sparse_hessian(func, argnums, sparse, chunk_size)
    from .forward import jacfwd

    return jacfwd(jacrev(func, argnums), argnums, chunk_size=chunk_size)
