"""Sparse Jacobians and Hessians: the pattern found from the program, and few passes for all of it.

Columns that no row holds two of are pushed through the program together, as one direction: for a
banded Jacobian that makes a handful of passes, whatever its size. Rows are pulled back in the same
way where that takes fewer passes, and a few full rows do not spoil it for the others: they are
pulled back one by one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..backend import coordinates, index_sets, sparse_matrices
from ..backend.interface import library_of
from ..base import dtypes, trees
from ..base.modes import MODE, differentiating
from ..core.tensor import Tensor, wrap_any
from ..transforms import Dual, active, dual_part, innermost
from ..transforms.dependencies import Dependencies, IndexSets
from .batching import map_rows
from .forward import jvp
from .reverse import checked_argnums, grad, jacrev, ran, with_arguments

Function = Callable[..., Any]


class Pattern:
    """Which outputs depend on which inputs: a matrix of which only the places are known."""

    def __init__(self, columns: Any, ends: Any, shape: tuple[int, int]):
        self.columns, self.ends, self.shape = columns, ends, shape

    @property
    def rows(self) -> Any:
        return coordinates.rows_of(self.ends)


# ---------------------------------------------------------------- the pattern


def sparsity(func: Function, argnums: Any = 0) -> Function:
    """A function that returns which outputs of ``func`` depend on which of its inputs.

    The result is a boolean ``scipy.sparse`` array with a row for each element of the output and a
    column for each element of the input; for several arguments, a tuple of them. It is the pattern
    at the given point: what a branch or a mask leaves out there is not in it.
    """

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        call = _Call(func, argnums, args, kwargs)
        pattern = found_pattern(call)
        return call.result(sparse_matrices.booleans(pattern.columns, pattern.ends, pattern.shape))

    return wrapped


class _Call:
    """A function's call as one of flat inputs to flat outputs."""

    def __init__(self, func: Function, argnums: Any, args: tuple[Any, ...],
                 kwargs: dict[str, Any]):
        self.func, self.args, self.kwargs = func, args, kwargs
        self.argnums = argnums
        self.numbers = checked_argnums(argnums, args)
        self.picked = tuple(args[n] for n in self.numbers)
        for value in self.picked:
            if not isinstance(value, Tensor):
                raise TypeError("a sparse derivative is taken by tensors, not by "
                                f"{type(value).__name__}")
            if value._is_traced:
                raise RuntimeError("a sparse derivative cannot be taken inside vmap or jvp: its "
                                   "result is no tensor")
            if not (value.is_floating_point() or value.is_complex()):
                raise RuntimeError("only Tensors of floating point dtype can require gradients")
        self.sizes = [t.numel() for t in self.picked]

    def of_picked(self, *inner: Any) -> Any:
        output = self.func(*with_arguments(self.args, self.numbers, inner), **self.kwargs)
        if not isinstance(output, Tensor):
            raise TypeError("a sparse derivative is that of a function which returns a tensor, not "
                            f"{type(output).__name__}")
        return output

    def split(self, flat: Any) -> list[Any]:
        """Rows over all inputs, cut into rows over each."""
        parts = flat.split(self.sizes, 1)
        return [part.reshape((len(part), *t.shape))
                for part, t in zip(parts, self.picked, strict=True)]

    def pattern(self, given: Pattern | None) -> Pattern:
        """The pattern that is given, or else found."""
        if any(t.dtype is dtypes.bfloat16 for t in self.picked):
            raise TypeError("scipy.sparse holds no bfloat16: take the derivative by x.float()")
        if given is None:
            return found_pattern(self)
        shape = (self.of_picked(*self.picked).numel(), sum(self.sizes))
        if given.shape != shape:
            raise RuntimeError(f"the pattern is of shape {given.shape}, the derivative of {shape}")
        return given

    def result(self, matrix: Any) -> Any:
        """The matrix over all inputs, or one for each of several arguments."""
        if isinstance(self.argnums, int):
            return matrix
        return tuple(sparse_matrices.columns_of(matrix, self.sizes))


def found_pattern(call: _Call) -> Pattern:
    """The pattern of a call, from one run of it on sets of inputs."""
    if MODE.get().inference:
        with differentiating(grad=False):
            return found_pattern(call)
    dependencies = Dependencies(sum(call.sizes))
    try:
        with active() as level:
            inputs, first = [], 0
            for tensor in call.picked:
                value = innermost(tensor._array())
                inputs.append(wrap_any(Dual(level, value, dependencies.inputs(value, first))))
                first += tensor.numel()
            output = call.of_picked(*inputs)
            sets = dual_part(output._data, level, "tangent")
        ids = sets.ids if isinstance(sets, IndexSets) else index_sets.empty_sets(sets.shape)
        columns, ends = dependencies.table.matrix(ids.reshape(-1))
        return Pattern(columns, ends, (output.numel(), sum(call.sizes)))
    finally:
        dependencies.close()


# ---------------------------------------------------------------- derivatives


def jacobian(func: Function, argnums: Any = 0, *, sparse: Any = None,
             chunk_size: int | None = None) -> Function:
    """A function that returns the Jacobian of ``func``.

    With ``sparse="auto"`` it is a ``scipy.sparse`` array with a row for each element of the output
    and a column for each of the input (a tuple of arrays where ``argnums`` is one), in memory
    proportional to what can differ from zero: where that is, is found from the program itself.
    ``sparse`` may also be the pattern, if it is known: whatever has its nonzeros.
    """
    if sparse is None:
        return jacrev(func, argnums, chunk_size=chunk_size)
    given = _given_pattern(sparse)

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        call = _Call(func, argnums, args, kwargs)
        pattern = call.pattern(given)
        values = _both_ways(call, pattern, chunk_size)
        return call.result(sparse_matrices.matrix(values, pattern.columns, pattern.ends,
                                                  pattern.shape))

    return wrapped


def sparse_hessian(func: Function, argnums: Any, sparse: Any, chunk_size: int | None) -> Function:
    """A function that returns the Hessian of ``func`` as a sparse matrix, forward over reverse."""
    given = _given_pattern(sparse)

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if not isinstance(argnums, int):
            raise TypeError("a sparse Hessian is taken by one argument: argnums is an int")
        call = _Call(grad(func, argnums), argnums, args, kwargs)
        pattern = call.pattern(given)
        values = _symmetric(call, pattern, chunk_size)
        return sparse_matrices.matrix(values, pattern.columns, pattern.ends, pattern.shape)

    return wrapped


def _given_pattern(sparse: Any) -> Pattern | None:
    if isinstance(sparse, str):
        if sparse != "auto":
            raise ValueError(f"sparse is 'auto' or a pattern, not {sparse!r}")
        return None
    if isinstance(sparse, Tensor):
        sparse = sparse.numpy()
    return Pattern(*sparse_matrices.pattern_of(sparse))


def _both_ways(call: _Call, pattern: Pattern, chunk_size: int | None) -> Any:
    """The values of a Jacobian: columns together, rows together, long ones apart."""
    places = pattern.rows, pattern.columns, pattern.shape
    forward, reverse = index_sets.two_way_plan(*places)
    try:
        return _gathered(call, pattern, forward, reverse, chunk_size)
    except NotImplementedError:  # a custom Function that has no jvp
        return _gathered(call, pattern, None, index_sets.rows_plan(*places), chunk_size)


def _symmetric(call: _Call, pattern: Pattern, chunk_size: int | None) -> Any:
    """The values of a Hessian: what a full row holds is read from the column of that number."""
    places = pattern.rows, pattern.columns, pattern.shape
    passes = index_sets.symmetric_plan(*places)
    try:
        return _gathered(call, pattern, passes, None, chunk_size)
    except NotImplementedError:  # a Hessian's rows are its columns
        return _gathered(call, pattern, None, passes, chunk_size)


def _gathered(call: _Call, pattern: Pattern, forward: Any, reverse: Any,
              chunk_size: int | None) -> Any:
    """All values of a matrix, from passes both ways."""
    results = [(passes, run(call, passes, chunk_size))
               for passes, run in ((forward, _pushed), (reverse, _pulled))
               if passes is not None and passes.count]
    dtype = results[0][1].dtype if results else innermost(call.picked[0]._data).dtype
    return index_sets.gathered(results, len(pattern.columns), dtype)


def _seeds(passes: Any, like: Tensor) -> Tensor:
    value = innermost(like._data)
    return wrap_any(library_of(value).asarray(index_sets.seeds(passes, value.dtype)))


def _pushed(call: _Call, passes: Any, chunk_size: int | None) -> Any:
    """The products of the Jacobian with the sum of the columns of each pass."""
    seeds = call.split(_seeds(passes, call.picked[0]))

    def push(*directions: Any) -> Any:
        return jvp(call.of_picked, call.picked, directions)[1]

    found = map_rows(push, seeds, passes.count, chunk_size=chunk_size)
    return found.detach().reshape(passes.count, -1).numpy()


def _pulled(call: _Call, passes: Any, chunk_size: int | None) -> Any:
    """The products of the sum of the rows of each pass with the Jacobian."""
    output, _, backward = ran(call.of_picked, call.picked, False)
    seeds = [_seeds(passes, output).reshape((passes.count, *output.shape))]
    rows = backward.rows(seeds, passes.count) if chunk_size is None else None
    if rows is None:
        rows = trees.flatten(map_rows(backward.pull, seeds, passes.count, chunk_size=chunk_size))[0]
    parts = [r.detach().reshape(passes.count, -1).numpy() for r in rows]
    return index_sets.side_by_side(parts)
