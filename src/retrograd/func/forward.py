"""Forward mode: ``jvp``, ``jacfwd`` and ``linearize``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..autograd.backward import grad as graph_grad
from ..base import trees
from ..base.modes import MODE, differentiating, switched
from ..core.tensor import Tensor, edge_of
from ..transforms import (
    active,
    check_tangent,
    dual_primal,
    dual_tangent,
    levels_of,
    make_dual,
)
from .batching import map_rows
from .reverse import (
    check_outputs,
    checked_argnums,
    checked_aux,
    output_and_aux,
    ran,
    standard_basis,
    with_arguments,
    zeros_like,
)


def jvp(func: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...], *,
        strict: bool = False, has_aux: bool = False) -> Any:
    """``func(*primals)`` and its derivative in the direction ``tangents``.

    ``f(x)`` and ``J v``, in one pass forward.

    >>> torch.func.jvp(torch.sin, (torch.tensor([0.0]),), (torch.tensor([2.0]),))
    (tensor([0.]), tensor([2.]))
    """
    name = "jvp(f, primals, tangents)"
    mode = MODE.get()
    if mode.inference or not mode.forward_grad:
        with differentiating(grad=mode.records), switched(forward_grad=True):
            return jvp(func, primals, tangents, strict=strict, has_aux=has_aux)
    flat, directions, structure = _checked_pairs(name, primals, tangents)
    with active() as level:
        duals = [make_dual(p, t, level) for p, t in zip(flat, directions, strict=True)]
        output = func(*trees.unflatten(duals, structure))
        aux = None
        if has_aux:
            output, aux = output_and_aux(output, name)
            aux = trees.tree_map(lambda t: dual_primal(t, level), checked_aux(aux))
        leaves, out_structure = trees.flatten(output)
        check_outputs(leaves, name)
        for leaf in leaves:
            if strict and level not in levels_of(leaf._data):
                raise RuntimeError("jvp(f, primals, tangents, strict=True): The output of f is "
                                   "independent of the inputs. This is not allowed with "
                                   "strict=True.")
        values = [dual_primal(t, level) for t in leaves]
        slopes = [dual_tangent(t, level) for t in leaves]
    result = (trees.unflatten(values, out_structure), trees.unflatten(slopes, out_structure))
    return (*result, aux) if has_aux else result


def _checked_pairs(name: str, primals: Any, tangents: Any) -> tuple[list[Any], list[Any], Any]:
    """The flat values and tangents of a call, and their structure."""
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{name}: Expected primals to be a tuple. E.g. it should be valid to "
                           "call f(*primals).")
    flat, structure = trees.flatten(primals)
    directions, given = trees.flatten(tangents)
    if structure != given:
        raise RuntimeError(f"{name}: Expected primals and tangents to have the same python "
                           "structure. For example, if primals is a tuple of 3 tensors, tangents "
                           f"also must be. Got primals with structure {structure} and tangents "
                           f"with structure {given}")
    for kind, values in (("primals", flat), ("tangents", directions)):
        if not values:
            raise RuntimeError(f"{name}: Expected {kind} to contain at least one Tensor.")
        for value in values:
            if not isinstance(value, Tensor):
                raise RuntimeError(f"{name}: Expected {kind} to only contain Tensors, got "
                                   f"{type(value)}")
    for p, t in zip(flat, directions, strict=True):
        for kind, value in (("primal", p), ("tangent", t)):
            if not (value.is_floating_point() or value.is_complex()):
                raise ValueError(f"Expected {kind} to be floating point or complex, but got: "
                                 f"{value.dtype}")
        check_tangent(p, t)
    return flat, directions, structure


def jacfwd(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, *,
           randomness: str = "error", chunk_size: int | None = None) -> Callable[..., Any]:
    """A function that returns the Jacobian of ``func``, by forward mode.

    ``argnums`` says for which arguments; None means for all of them.

    ``J[i, j] = ∂f(x)[i] / ∂x[j]``, column by column: for more outputs than inputs.

    >>> torch.func.jacfwd(lambda x: x ** 2)(torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        numbers = tuple(range(len(args))) if argnums is None else checked_argnums(argnums, args)
        picked = tuple(args[n] for n in numbers)
        inputs, in_structure = trees.flatten(picked)
        sizes = [t.numel() for t in inputs]
        basis = standard_basis(inputs, sizes)

        def of_picked(*inner: Any) -> Any:
            return func(*with_arguments(args, numbers, inner), **kwargs)

        def columns(*directions: Any) -> Any:
            tangents = trees.unflatten(list(directions), in_structure)
            results = jvp(of_picked, picked, tangents, has_aux=has_aux)
            return (results[1], results[2]) if has_aux else results[1]

        batched = map_rows(columns, basis, sum(sizes), randomness, chunk_size)
        aux = None
        if has_aux:
            batched, aux = batched
            aux = trees.tree_map(lambda t: t[0] if isinstance(t, Tensor) else t, aux)
        outputs, structure = trees.flatten(batched)
        blocks = []
        for output in outputs:
            moved = output.movedim(0, -1)
            parts = [part.reshape((*moved.shape[:-1], *source.shape))
                     for part, source in zip(moved.split(sizes, -1), inputs, strict=True)]
            block = trees.unflatten(parts, in_structure)
            blocks.append(block[0] if isinstance(argnums, int) else block)
        result = trees.unflatten(blocks, structure)
        return (result, aux) if has_aux else result

    return wrapped


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """``func(*primals)``, and its derivative there as a linear function of tangents.

    ``func`` runs once. Its reverse pass u ↦ Jᵀu is recorded on the first call, and every call
    transposes that record once more.
    """
    output, _aux, backward = ran(func, primals, False)
    inputs, structure = trees.flatten(primals)
    outputs, out_structure = trees.flatten(output)
    record: list[Any] = []

    def recorded_pull() -> Any:
        if not record:
            with switched(grad=True, inference=False):
                seeds = [zeros_like(o).requires_grad_() for o in outputs]
                pulled = backward.pull(trees.unflatten(seeds, out_structure), record=True)
            record[:] = seeds, trees.flatten(pulled)[0]
        return record

    def push(*tangents: Any) -> Any:
        flat, given = trees.flatten(tangents)
        if structure != given:
            raise RuntimeError(f"Expected the tangents {given} to have the same argspec as the "
                               f"primals {structure}")
        for i, (p, t) in enumerate(zip(inputs, flat, strict=True)):
            for what, own, wanted in (("shape", t.shape, p.shape), ("dtype", t.dtype, p.dtype)):
                if own != wanted:
                    raise RuntimeError(
                        f"tangent:{i} with {what} {own} in flattened pytree doesn't match the "
                        f"{what} {wanted} of the corresponding primal.")
        seeds, pulled = recorded_pull()
        pairs = [(p, t) for p, t in zip(pulled, flat, strict=True) if p._edge is not None]
        slopes: Any = [None] * len(seeds)
        if pairs:
            keep = MODE.get().records and (
                backward.watched or any(edge_of(t) is not None for t in flat))
            slopes = graph_grad([p for p, _ in pairs], seeds, [t for _, t in pairs],
                                retain_graph=True, create_graph=keep, allow_unused=True)
        return trees.unflatten([zeros_like(o) if s is None else s
                                for o, s in zip(outputs, slopes, strict=True)], out_structure)

    return output, push
