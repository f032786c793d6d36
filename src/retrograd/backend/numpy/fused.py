"""Optimizer updates on raw arrays: many small parameters in one array call, no temporaries.

The parameters of one dtype are treated as if laid end to end. Their optimizer state really is, in
one row per quantity; gradients are copied into scratch memory a chunk at a time, the update of the
whole chunk is computed there, and is then added to each parameter where it lies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from . import QUIET, error_state, quieten

# Elements handled at a time: scratch and state of a chunk then stay in the cache of one core.
CHUNK = 32768


def is_packable(array: Any) -> bool:
    """Whether the updates below apply: their rounding is the dtype's own for these two only."""
    return isinstance(array, np.ndarray) and array.dtype in (np.float32, np.float64)


def lie_apart(arrays: Sequence[Any]) -> bool:
    """Whether no two arrays reach into the same stretch of memory."""
    stretches = sorted(np.lib.array_utils.byte_bounds(array) for array in arrays
                       if isinstance(array, np.ndarray) and array.size)
    return all(end <= start for (_, end), (start, _) in pairwise(stretches))


class Chunk:
    """Neighbouring parameters, or a part of one large parameter, that are updated together."""

    __slots__ = ("first", "grad", "grad_views", "last", "params", "part", "singles", "state",
                 "with_square", "work", "work_views")

    def __init__(self, arrays: Sequence[Any], first: int, last: int, state: Any, scratch: Any,
                 part: slice | None = None):
        self.first, self.last, self.part, self.state = first, last, part, state
        self.singles: list[Chunk] = []
        self.params = [arrays[i] if part is None else arrays[i].reshape(-1)[part]
                       for i in range(first, last)]
        size = state.shape[1]
        self.with_square = scratch[:2, :size]
        self.grad = scratch[0, :size]
        self.work = scratch[2, :size]
        self.grad_views = _views(self.grad, self.params)
        self.work_views = _views(self.work, self.params)

    def load(self, grads: Sequence[Any]) -> None:
        """Copy the gradients into scratch memory."""
        if self.part is not None:
            self.grad[...] = grads[self.first].reshape(-1)[self.part]
        else:
            for view, grad in zip(self.grad_views, grads[self.first:self.last]):
                view[...] = grad

    def joined(self, grads: Sequence[Any]) -> Any:
        """Return the gradients end to end: in scratch memory, or where a single one lies."""
        if self.last - self.first > 1:
            self.load(grads)
            return self.grad
        flat = grads[self.first].reshape(-1)
        return flat if self.part is None else flat[self.part]

    def gather(self) -> None:
        """Copy the parameters into scratch memory."""
        for view, param in zip(self.work_views, self.params):
            view[...] = param

    def scatter(self) -> None:
        """Copy scratch memory into the parameters."""
        for view, param in zip(self.work_views, self.params):
            param[...] = view

    def decayed(self, grad: Any, weight_decay: float) -> Any:
        """Return ``grad`` plus ``weight_decay`` times the parameters, in scratch memory."""
        self.gather()
        np.multiply(self.work, weight_decay, self.work)
        return np.add(grad, self.work, self.grad)

    def scale_params(self, factor: float) -> None:
        """Multiply the parameters by ``factor``."""
        for param in self.params:
            np.multiply(param, factor, param)

    def apply(self) -> None:
        """Add the computed update to the parameters."""
        for view, param in zip(self.work_views, self.params):
            np.add(param, view, param)


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
        largest = max((stop - start for _, _, start, stop, _ in spans), default=0)
        self.scratch = np.empty((3, largest), dtype)
        self.chunks = [Chunk(arrays, first, last, self.state[:, start:stop], self.scratch, part)
                       for first, last, start, stop, part in spans]
        self._constants: dict[tuple, tuple] = {}

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

    def _advance(self, grads: Sequence[Any]) -> list[tuple[Chunk, float]]:
        """Count a step for every parameter with a gradient; return chunks with their counts."""
        stepped = [(chunk, count + 1) for chunk, (count,) in self._agreeing(grads)]
        for chunk, count in stepped:
            self.counts[chunk.first:chunk.last] = count
        return stepped

    def update(self, grads: Sequence[Any], move: Callable[[Any, Any, Any, Any], None]) -> None:
        """Run ``move(param, grad, rows, counts)`` on chunks: it writes to all but ``grad``."""
        for chunk, agreed in self._agreeing(grads):
            counts = np.array(agreed, self.counts.dtype)
            first = chunk.params[0]
            if len(chunk.params) == 1 and first.flags.c_contiguous:
                move(first.reshape(-1), chunk.joined(grads), chunk.state, counts)
            else:
                chunk.gather()
                move(chunk.work, chunk.joined(grads), chunk.state, counts)
                chunk.scatter()
            self.counts[chunk.first:chunk.last] = counts

    def sgd(self, grads: Sequence[Any], *, lr: float, momentum: float, dampening: float,
            weight_decay: float, nesterov: bool, maximize: bool) -> None:
        """Take a step of gradient descent; row 0 of the state is the momentum buffer."""
        errors = error_state()
        try:
            quieten(QUIET)
            for chunk in self._ready(grads):
                grad, work = chunk.joined(grads), chunk.work
                if maximize:
                    grad = np.negative(grad, chunk.grad)
                if weight_decay:
                    grad = chunk.decayed(grad, weight_decay)
                if momentum:
                    buffer = chunk.state[0]
                    np.multiply(buffer, momentum, buffer)
                    if dampening:
                        np.multiply(grad, 1 - dampening, work)
                        np.add(buffer, work, buffer)
                    else:
                        np.add(buffer, grad, buffer)
                    if nesterov:
                        np.multiply(buffer, momentum, work)
                        grad = np.add(grad, work, chunk.grad)
                    else:
                        grad = buffer
                np.multiply(grad, -lr, work)
                chunk.apply()
        finally:
            quieten(errors)

    def adam(self, grads: Sequence[Any], *, lr: float, beta1: float, beta2: float, eps: float,
             weight_decay: float, decoupled: bool, maximize: bool, amsgrad: bool) -> None:
        """Take a step of Adam; the rows are the two moments and, with amsgrad, the largest one."""
        keep, take = self._moment_factors(beta1, beta2)
        errors = error_state()
        try:
            quieten(QUIET)
            for chunk, count in self._advance(grads):
                chunk.load(grads)
                if maximize:
                    np.negative(chunk.grad, chunk.grad)
                if weight_decay:
                    if decoupled:
                        chunk.scale_params(1 - lr * weight_decay)
                    else:
                        chunk.decayed(chunk.grad, weight_decay)
                # Both moments at once: row 0 averages the gradient, row 1 its square.
                fresh, moments, work = chunk.with_square, chunk.state[:2], chunk.work
                np.square(chunk.grad, fresh[1])
                np.multiply(fresh, take, fresh)
                np.multiply(moments, keep, moments)
                np.add(moments, fresh, moments)
                second = moments[1]
                if amsgrad:
                    second = np.maximum(chunk.state[2], second, out=chunk.state[2])
                # Both bias corrections are moved onto scalars, which saves a pass.
                root = math.sqrt(1 - beta2**count)
                np.sqrt(second, work)
                np.add(work, eps * root, work)
                np.divide(moments[0], work, work)
                np.multiply(work, -lr * root / (1 - beta1**count), work)
                chunk.apply()
        finally:
            quieten(errors)

    def _moment_factors(self, beta1: float, beta2: float) -> tuple[Any, Any]:
        factors = self._constants.get((beta1, beta2))
        if factors is None:
            keep = np.array([[beta1], [beta2]], self.state.dtype)
            take = np.array([[1 - beta1], [1 - beta2]], self.state.dtype)
            factors = self._constants[beta1, beta2] = keep, take
        return factors


def _views(flat: Any, arrays: Sequence[Any]) -> list[Any]:
    """Cut ``flat`` into consecutive views of the shapes of ``arrays``."""
    ends = accumulate(array.size for array in arrays)
    return [flat[end - array.size:end].reshape(array.shape)
            for array, end in zip(arrays, ends, strict=True)]


def _spans(arrays: Sequence[Any],
           chunk: int) -> list[tuple[int, int, int, int, slice | None]]:
    """Return chunks as (first array, last, first element, last, part of a large array)."""
    spans: list[tuple[int, int, int, int, slice | None]] = []
    first = start = end = 0
    for i, array in enumerate(arrays):
        if array.size > chunk and array.flags.c_contiguous:
            if first < i:
                spans.append((first, i, start, end, None))
            for cut in range(0, array.size, chunk):
                stop = min(cut + chunk, array.size)
                spans.append((i, i + 1, end + cut, end + stop, slice(cut, stop)))
            first = i + 1
            start = end = end + array.size
        else:
            if end + array.size - start > chunk and first < i:
                spans.append((first, i, start, end, None))
                first, start = i, end
            end += array.size
    if first < len(arrays):
        spans.append((first, len(arrays), start, end, None))
    return spans
