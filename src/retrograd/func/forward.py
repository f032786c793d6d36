"""Forward mode: ``jvp``, ``jacfwd`` and ``linearize``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import trees
from ..tensor import Tensor
from ..transforms import active, dual_primal, dual_tangent, make_dual


def jvp(func: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...], *,
        strict: bool = False, has_aux: bool = False) -> Any:
    """``func(*primals)`` and its derivative in the direction ``tangents``."""
    if not isinstance(primals, tuple):
        raise RuntimeError("jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it "
                           "should be valid to call f(*primals).")
    flat, structure = trees.flatten(primals)
    directions, given = trees.flatten(tangents)
    if structure != given:
        raise RuntimeError("jvp(f, primals, tangents): Expected primals and tangents to have the "
                           f"same python structure. For example, if primals is a tuple of 3 "
                           f"tensors, tangents also must be. Got primals with structure "
                           f"{structure} and tangents with structure {given}")
    for name, values in (("primals", flat), ("tangents", directions)):
        for value in values:
            if not isinstance(value, Tensor):
                raise RuntimeError(f"jvp(f, primals, tangents): Expected {name} to be a tuple of "
                                   f"Tensors, got {type(value).__name__}")
    for p, t in zip(flat, directions, strict=True):
        if tuple(p.shape) != tuple(t.shape):
            raise RuntimeError(f"Expected primal and tangent to have the same shape, got "
                               f"{list(p.shape)} and {list(t.shape)}")
    with active() as level:
        duals = [make_dual(p, t, level) for p, t in zip(flat, directions, strict=True)]
        output = func(*trees.unflatten(duals, structure))
        aux = None
        if has_aux:
            if not (isinstance(output, tuple) and len(output) == 2):
                raise RuntimeError("jvp(f, primals, tangents): output of function f should be a "
                                   "tuple: (output, aux) if has_aux is True")
            output, aux = output
            aux = trees.tree_map(
                lambda t: dual_primal(t, level) if isinstance(t, Tensor) else t, aux)
        leaves, out_structure = trees.flatten(output)
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                raise RuntimeError("jvp(f, primals, tangents): Expected f(*primals) to return only "
                                   f"tensors, got unsupported type {type(leaf)}")
        values = [dual_primal(t, level) for t in leaves]
        slopes = [dual_tangent(t, level) for t in leaves]
    result = (trees.unflatten(values, out_structure), trees.unflatten(slopes, out_structure))
    return (*result, aux) if has_aux else result


def jacfwd(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, *,
           randomness: str = "error", chunk_size: int | None = None) -> Callable[..., Any]:
    """A function that returns the Jacobian of ``func``, by forward mode."""

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        from .batching import vmap
        from .reverse import _checked_argnums, standard_basis

        numbers = _checked_argnums(argnums, args)
        picked = tuple(args[n] for n in numbers)
        inputs, in_structure = trees.flatten(picked)
        sizes = [t.numel() for t in inputs]
        basis = standard_basis(inputs, sizes)

        def of_picked(*inner: Any) -> Any:
            replaced = list(args)
            for n, value in zip(numbers, inner, strict=True):
                replaced[n] = value
            return func(*replaced, **kwargs)

        def columns(*directions: Any) -> Any:
            tangents = trees.unflatten(list(directions), in_structure)
            results = jvp(of_picked, picked, tangents, has_aux=has_aux)
            return (results[1], results[2]) if has_aux else results[1]

        batched = vmap(columns, randomness=randomness, chunk_size=chunk_size)(*basis)
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
            blocks.append(block if isinstance(argnums, tuple) else block[0])
        result = trees.unflatten(blocks, structure)
        return (result, aux) if has_aux else result

    return wrapped


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """``func(*primals)``, and its derivative there as a linear function of tangents."""
    output = func(*primals)

    def push(*tangents: Any) -> Any:
        flat, given = trees.flatten(tangents)
        inputs, structure = trees.flatten(primals)
        if structure != given:
            raise RuntimeError(f"Expected the tangents {given} to have the same argspec as the "
                               f"primals {structure}")
        for p, t in zip(inputs, flat, strict=True):
            if tuple(p.shape) != tuple(t.shape):
                raise RuntimeError(f"Expected tangent to have the shape of its primal, "
                                   f"{list(p.shape)}, got {list(t.shape)}")
        return jvp(func, primals, tangents)[1]

    return output, push
