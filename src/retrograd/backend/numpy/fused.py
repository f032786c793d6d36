"""Optimizer updates on raw arrays: many small parameters in one call.

The parameters of one dtype are treated as if laid end to end. Their optimizer state really is, in
one row per quantity; small parameters and their gradients are copied into scratch memory, a chunk
at a time, and moved there; large ones are moved where they lie, by NumPy a block at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from . import quiet
from .native import in_order, native

# Elements of small parameters that are moved together: larger ones move sooner without copies.
CHUNK = 8192
# Elements that NumPy moves at a time: what it finds on the way then stays in the cache of one core.
BLOCK = 32768


def is_packable(array: Any) -> bool:
    """Whether the updates below apply: their rounding is the dtype's own for these two only."""
    return isinstance(array, np.ndarray) and array.dtype in (np.float32, np.float64)


def lie_apart(arrays: Sequence[Any]) -> bool:
    """Whether no two arrays reach into the same stretch of memory."""
    stretches = sorted(np.lib.array_utils.byte_bounds(array) for array in arrays
                       if isinstance(array, np.ndarray) and array.size)
    return all(end <= start for (_, end), (start, _) in pairwise(stretches))


class Chunk:
    """Neighbouring parameters that are updated together, or one that is updated where it lies."""

    __slots__ = ("first", "grad", "grad_views", "last", "lies_open", "params", "singles", "state",
                 "work", "work_views")

    def __init__(self, arrays: Sequence[Any], first: int, last: int, state: Any, scratch: Any):
        self.first, self.last, self.state = first, last, state
        self.singles: list[Chunk] = []
        self.params = arrays[first:last]
        self.lies_open = _lies_open(arrays, first, last)
        if not self.lies_open:
            self.grad, self.work = scratch[:, :state.shape[1]]
            self.grad_views = _views(self.grad, self.params)
            self.work_views = _views(self.work, self.params)

    def joined(self, grads: Sequence[Any]) -> Any:
        """Return the gradients end to end: in scratch memory, or where a single one lies."""
        if self.last - self.first == 1:
            return grads[self.first].reshape(-1)
        for view, grad in zip(self.grad_views, grads[self.first:self.last]):
            view[...] = grad
        return self.grad

    def gather(self) -> None:
        """Copy the parameters into scratch memory."""
        for view, param in zip(self.work_views, self.params):
            view[...] = param

    def scatter(self) -> None:
        """Copy scratch memory into the parameters."""
        for view, param in zip(self.work_views, self.params):
            param[...] = view


class PackedParameters:
    """Parameters of one dtype, their optimizer state in rows, and scratch memory."""

    def __init__(self, arrays: Sequence[Any], rows: int, counts: int = 0,
                 count_dtype: Any = np.float32, chunks_joined: int = 1) -> None:
        self.arrays = arrays
        dtype = arrays[0].dtype
        sizes = [array.size for array in arrays]
        self.state = np.zeros((rows, sum(sizes)), dtype)
        self.counts = np.zeros((len(arrays), counts), count_dtype)
        spans = _spans(arrays, chunks_joined * CHUNK)
        largest = max((stop - start for first, last, start, stop in spans
                       if not _lies_open(arrays, first, last)), default=0)
        self.scratch = np.empty((2, largest), dtype)
        self.chunks = [Chunk(arrays, first, last, self.state[:, start:stop], self.scratch)
                       for first, last, start, stop in spans]

    def row_views(self, row: int) -> list[Any]:
        """Return one quantity of the state, an array per parameter, in the parameters' shapes."""
        return _views(self.state[row], self.arrays)

    def count_views(self, column: int) -> list[Any]:
        """Return one number of the state, a zero-dim array per parameter."""
        return [self.counts[i, column, ...] for i in range(len(self.arrays))]

    def _ready(self, grads: Sequence[Any]) -> list[Chunk]:
        """Return chunks whose gradients are all present, split where one is missing."""
        if not any(grad is None for grad in grads):
            return self.chunks
        ready = []
        for chunk in self.chunks:
            missing = [grads[i] is None for i in range(chunk.first, chunk.last)]
            if not any(missing):
                ready.append(chunk)
            elif not all(missing):
                singles = self._singles(chunk)
                ready += [single for single, gone in zip(singles, missing) if not gone]
        return ready

    def _singles(self, chunk: Chunk) -> list[Chunk]:
        if not chunk.singles:
            stop = 0
            for i in range(chunk.first, chunk.last):
                start, stop = stop, stop + self.arrays[i].size
                chunk.singles.append(Chunk(self.arrays, i, i + 1, chunk.state[:, start:stop],
                                           self.scratch))
        return chunk.singles

    def _agreeing(self, grads: Sequence[Any]) -> list[tuple[Chunk, list[float]]]:
        """Return chunks with the counts their parameters share, split where these differ."""
        agreeing: list[tuple[Chunk, list[float]]] = []
        for chunk in self._ready(grads):
            counts = self.counts[chunk.first:chunk.last]
            if counts.tobytes() == counts[0].tobytes() * len(counts):
                agreeing.append((chunk, counts[0].tolist()))
            else:
                agreeing += zip(self._singles(chunk), counts.tolist())
        return agreeing

    def update(self, grads: Sequence[Any], move: Callable[[Any, Any, Any, Any], None]) -> None:
        """Run ``move(param, grad, rows, counts)`` on chunks: it writes to all but ``grad``."""
        for chunk, agreed in self._agreeing(grads):
            counts = np.array(agreed, self.counts.dtype)
            if chunk.lies_open:
                move(chunk.params[0].reshape(-1), chunk.joined(grads), chunk.state, counts)
            else:
                chunk.gather()
                move(chunk.work, chunk.joined(grads), chunk.state, counts)
                chunk.scatter()
            self.counts[chunk.first:chunk.last] = counts

    def sgd(self, grads: Sequence[Any], *, lr: float, momentum: float, dampening: float,
            weight_decay: float, nesterov: bool, maximize: bool) -> None:
        """Take a step of gradient descent; row 0 of the state is the momentum buffer."""

        def move(param: Any, grad: Any, rows: Any, counts: Any) -> None:
            momentum_step(param, grad, rows[0], lr, momentum, 1 - dampening, weight_decay,
                          nesterov, maximize)

        with quiet():
            # Without state nothing is gained by joining parameters.
            if not momentum:
                for param, grad in zip(self.arrays, grads):
                    if grad is not None:
                        sgd_step(param, grad, lr, weight_decay, maximize)
            else:
                self.update(grads, move)

    def adam(self, grads: Sequence[Any], *, lr: float, beta1: float, beta2: float, eps: float,
             weight_decay: float, decoupled: bool, maximize: bool, amsgrad: bool) -> None:
        """Take a step of Adam; the rows are the two moments and, with amsgrad, the largest one."""
        shrink, decay = (1 - lr * weight_decay, 0) if decoupled else (1, weight_decay)

        def move(param: Any, grad: Any, rows: Any, counts: Any) -> None:
            counts += 1
            count = counts.item()
            # Both bias corrections are moved onto scalars, which saves a pass.
            root = math.sqrt(1 - beta2**count)
            adam_step(param, grad, rows[0], rows[1], rows[-1], beta1, beta2, eps * root,
                      -lr * root / (1 - beta1**count), decay, shrink, amsgrad, maximize)

        with quiet():
            self.update(grads, move)


# ---------------------------------------------------------------- steps


def _by_blocks(step: Callable[..., None]) -> Callable[..., None]:
    """``step``, which arrays that lie row by row take a block of elements at a time."""

    @wraps(step)
    def blockwise(*given: Any) -> None:
        arrays = [value for value in given if isinstance(value, np.ndarray)]
        if arrays[0].size <= BLOCK or not in_order(*arrays):
            return step(*given)
        flat, options = [array.reshape(-1) for array in arrays], given[len(arrays):]
        for start in range(0, arrays[0].size, BLOCK):
            step(*[array[start:start + BLOCK] for array in flat], *options)

    return blockwise


def _slope(param: Any, grad: Any, decay: float, maximize: bool) -> Any:
    grad = -grad if maximize else grad
    return grad + param * decay if decay else grad


@native("sgd_step(param, grad, lr, decay, maximize)", when="in_order(param, grad)")
@_by_blocks
def sgd_step(param: Any, grad: Any, lr: float, decay: float, maximize: bool) -> None:
    """Move parameters down the gradient."""
    param += _slope(param, grad, decay, maximize) * -lr


@native("momentum_step(param, grad, buffer, lr, momentum, share, decay, nesterov, maximize)",
        when="in_order(param, grad, buffer)")
@_by_blocks
def momentum_step(param: Any, grad: Any, buffer: Any, lr: float, momentum: float, share: float,
                  decay: float, nesterov: bool, maximize: bool) -> None:
    """The same along the ``buffer``, which keeps a part of itself and takes a share of the new."""
    grad = _slope(param, grad, decay, maximize)
    buffer *= momentum
    buffer += grad if share == 1 else grad * share
    param += (grad + buffer * momentum if nesterov else buffer) * -lr


@native("adam_step(param, grad, first, second, largest, beta1, beta2, eps, rate, decay, shrink, "
        "amsgrad, maximize)", when="in_order(param, grad, first, second, largest)")
@_by_blocks
def adam_step(param: Any, grad: Any, first: Any, second: Any, largest: Any, beta1: float,
              beta2: float, eps: float, rate: float, decay: float, shrink: float, amsgrad: bool,
              maximize: bool) -> None:
    """Move parameters by ``rate`` times the first moment over the root of the second one.

    With ``amsgrad`` it is the largest second one so far.
    """
    if shrink != 1:
        param *= shrink
    grad = _slope(param, grad, decay, maximize)
    first *= beta1
    first += grad * (1 - beta1)
    second *= beta2
    grad = np.square(grad)
    grad *= 1 - beta2
    second += grad
    if amsgrad:
        second = np.maximum(largest, second, out=largest)
    root = np.sqrt(second, grad)
    root += eps
    np.divide(first, root, root)
    root *= rate
    param += root


# ---------------------------------------------------------------- chunks


def _views(flat: Any, arrays: Sequence[Any]) -> list[Any]:
    """Cut ``flat`` into consecutive views of the shapes of ``arrays``."""
    ends = accumulate(array.size for array in arrays)
    return [flat[end - array.size:end].reshape(array.shape)
            for array, end in zip(arrays, ends, strict=True)]


def _lies_open(arrays: Sequence[Any], first: int, last: int) -> bool:
    """Whether there is one array alone, whose elements lie row by row."""
    return last - first == 1 and arrays[first].flags.c_contiguous


def _spans(arrays: Sequence[Any], chunk: int) -> list[tuple[int, int, int, int]]:
    """Return chunks as (first array, last, first element, last)."""
    spans: list[tuple[int, int, int, int]] = []
    first = start = end = 0
    for i, array in enumerate(arrays):
        if end + array.size - start > chunk and first < i:
            spans.append((first, i, start, end))
            first, start = i, end
        end += array.size
    if first < len(arrays):
        spans.append((first, len(arrays), start, end))
    return spans
