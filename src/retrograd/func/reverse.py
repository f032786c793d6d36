"""Reverse mode: ``grad``, ``vjp``, ``jacrev`` and ``hessian``.

No levels are needed here. An input is passed to the function as a fresh node of the one flat graph,
so gradients taken at that node see the inner function alone, while the graph behind it goes on to
whatever differentiates outside.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import trees
from ..autograd.backward import grad as graph_grad
from ..engine import Plan
from ..graph import Identity, next_sequence
from ..interpret import wrap_any
from ..modes import MODE, switched
from ..sites import here
from ..tensor import Tensor, edge_of


class FunctionInput(Identity):
    """Where a differentiated function's argument enters the graph."""

    __slots__ = ("is_open",)  # while the function runs: it will ask for gradients here


def entered(tensor: Tensor) -> Tensor:
    """``tensor`` behind a node of its own."""
    node = FunctionInput()
    node.seq = next_sequence()
    node.code, node.lasti = here(2)
    node.next0 = edge_of(tensor)
    node.is_open = True
    out = wrap_any(tensor._array())
    out._edge = node
    out._vc = tensor._counter()
    return out


def watched_outside(outputs: list[Tensor], inside: set[Any]) -> bool:
    """Whether anything but ``inside`` could ask for gradients of ``outputs``."""
    roots = [e for e in (edge_of(t) for t in outputs) if e is not None]
    plan = Plan(roots, None)
    if plan.leaves:
        return True
    return any(isinstance(n, FunctionInput) and n.is_open and n not in inside
               for n in plan.order)


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


def detached(tree: Any) -> Any:
    return trees.tree_map(lambda t: t._off_graph() if isinstance(t, Tensor) else t, tree)


def gradients_of(outputs: list[Tensor], entered: Entered, seeds: list[Any] | None, record: bool,
                 retain: bool = False) -> list[Tensor]:
    """The gradients at the entered arguments, zeros where an output does not depend on one."""
    live = [(o, None if seeds is None else s)
            for o, s in zip(outputs, seeds or [None] * len(outputs), strict=True)
            if o._edge is not None]
    if not live:
        return [zeros_like(t) for t in entered.outside]
    with switched(grad=record):
        found = graph_grad([o for o, _ in live], entered.inside,
                           None if seeds is None else [s for _, s in live],
                           create_graph=record, retain_graph=record or retain, allow_unused=True)
    return [zeros_like(t) if g is None else g for g, t in zip(found, entered.outside, strict=True)]


def zeros_like(tensor: Tensor) -> Tensor:
    with switched(grad=False):
        return wrap_any(_zeros(tensor))


def _zeros(tensor: Tensor) -> Any:
    from ..transforms import zeros_like_data

    return zeros_like_data(tensor._data)


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
    if len(set(argnums)) != len(argnums):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return tuple([_checked_position(n, args) for n in argnums])


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
        outer = MODE.get().grad
        with switched(grad=True):
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
            record = outer and watched_outside([output], inputs.nodes)
            found = gradients_of([output], inputs, None, record)
            inputs.close()
        if not record:
            output, aux = output._off_graph(), detached(aux)
        gradients = trees.unflatten(found, inputs.structure)
        return (gradients, (output, aux)) if has_aux else (gradients, output)

    return wrapped


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of ``func``'s scalar output."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        gradients, value = both(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return wrapped


# ---------------------------------------------------------------- vjp


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """``func(*primals)``, and the function that pulls gradients of it back to ``primals``."""
    name = "vjp(f, *primals)"
    outer = MODE.get().grad
    with switched(grad=True):
        inputs = Entered(primals)
        output = func(*inputs.tree)
        aux = None
        if has_aux:
            output, aux = output_and_aux(output, name)
            checked_aux(aux)
        outputs, structure = trees.flatten(output)
        if not outputs:
            raise RuntimeError(f"{name}: Expected f to be a function that has non-empty output "
                               f"(got output = {outputs})")
        for leaf in outputs:
            if not isinstance(leaf, Tensor):
                raise RuntimeError(f"{name}: expected f(*primals) to return only tensors, got "
                                   f"unsupported type {type(leaf)}")
        for leaf in outputs:
            if not (leaf.is_floating_point() or leaf.is_complex()):
                raise RuntimeError("vjp(f, ...): All outputs of f must be floating-point or "
                                   f"complex Tensors, got Tensor with dtype {leaf.dtype}")
    live = [o for o in outputs if o._edge is not None]
    watched = outer and bool(live) and watched_outside(live, inputs.nodes)
    inputs.close()

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        seeds, given = trees.flatten(cotangents)
        if given != structure:
            raise RuntimeError("Expected pytree structure of cotangents to be the same as pytree "
                               "structure of outputs to the function. cotangents: "
                               f"{given.pictured()}, primal output: {structure.pictured()}")
        for seed in seeds:
            if not (seed is None or isinstance(seed, Tensor)):
                raise TypeError("gradients can be either Tensors or None, but got "
                                f"{type(seed).__name__}")
        wanted = MODE.get().grad and (watched or any(
            s is not None and s._edge is not None for s in seeds))
        record = wanted if create_graph is None else create_graph
        found = gradients_of(outputs, inputs, seeds, record, retain=retain_graph)
        return trees.unflatten(found, inputs.structure)

    if not watched:
        shown, aux = detached(output), detached(aux)
    else:
        shown = output
    return (shown, pull, aux) if has_aux else (shown, pull)


# ---------------------------------------------------------------- Jacobians


def jacrev(func: Callable[..., Any], argnums: Any = 0, *, has_aux: bool = False,
           chunk_size: int | None = None, _preallocate_and_copy: bool = False,
           ) -> Callable[..., Any]:
    """A function that returns the Jacobian of ``func``, by reverse mode."""
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        from .batching import vmap

        numbers = checked_argnums(argnums, args)
        picked = tuple(args[n] for n in numbers)

        def of_picked(*inner: Any) -> Any:
            return func(*with_arguments(args, numbers, inner), **kwargs)

        results = vjp(of_picked, *picked, has_aux=has_aux)
        output, pull = results[0], results[1]
        outputs, structure = trees.flatten(output)
        sizes = [o.numel() for o in outputs]
        basis = standard_basis(outputs, sizes)

        def rows(*seeds: Any) -> Any:
            return pull(trees.unflatten(list(seeds), structure))

        batched = vmap(rows, chunk_size=chunk_size)(*basis)
        flat, in_structure = trees.flatten(batched)
        inputs = trees.flatten(picked)[0]
        per_output: list[list[Any]] = [[] for _ in outputs]
        for rows_of_input, source in zip(flat, inputs, strict=True):
            parts = rows_of_input.split(sizes, 0)
            for k, (part, out) in enumerate(zip(parts, outputs, strict=True)):
                per_output[k].append(part.reshape((*out.shape, *source.shape)))
        blocks = []
        for parts in per_output:
            block = trees.unflatten(parts, in_structure)
            blocks.append(block if isinstance(argnums, tuple) else block[0])
        result = trees.unflatten(blocks, structure)
        return (result, results[2]) if has_aux else result

    return wrapped


def standard_basis(tensors: list[Tensor], sizes: list[int]) -> list[Tensor]:
    """One-hot batches: together they reach every element of every tensor once."""
    total = sum(sizes)
    basis = []
    start = 0
    with switched(grad=False):
        for tensor, size in zip(tensors, sizes, strict=True):
            chunk = tensor.new_zeros((total, size))
            chunk.diagonal(-start).fill_(1)
            start += size
            basis.append(chunk.view((total, *tensor.shape)))
    return basis


def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """A function that returns the Hessian of ``func``: forward over reverse."""
    from .forward import jacfwd

    return jacfwd(jacrev(func, argnums), argnums)
