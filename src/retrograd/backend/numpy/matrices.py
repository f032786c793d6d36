"""Products of NumPy arrays: the shortest way to BLAS."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ..plain import fill_with_plain_bodies, matrices as plain
from ..plain.precision import is_half
from . import FLOAT32, FLOAT64
from .native import FOR_KERNELS, in_order, kernels, native, strided
from .routines import (
    are_few,
    in_columns,
    indices,
    keep,
    routine,
    routine_for,
    routines_for,
    work_size,
)
from .sharing import over_blocks
from .threads import one_thread

_matmul = np.matmul


def are_pairs(a: Any, b: Any) -> bool:
    """Whether these are stacks of matrices, which kernels take pair by pair, or two large ones."""
    if a.ndim < 3:
        return are_large(a, b)
    return a.shape[:-2] == b.shape[:-2] and strided(a, b) and (
        math.prod(a.shape[-2:]) * b.shape[-1] <= 1 << 24 or min(a.shape[-2], b.shape[-1]) > 31)


def are_large(a: Any, b: Any) -> bool:
    """Whether these are two matrices, no vectors, that BLAS would copy as well to multiply them, or
    a column and a row."""
    return a.ndim == 2 == b.ndim and (a.size * b.shape[1] > 1_000_000 or a.shape[1] == 1) \
        and min(a.shape[0], b.shape[1]) > 31 and strided(a, b)


def product_like(a: Any, b: Any) -> Any:
    return np.empty((*a.shape[:-1], b.shape[-1]), a.dtype)


@native("matrix_products(a, b, None, product_like(a, b))", are_pairs, product_like,
        when="a.ndim > 1 and a.size * b.shape[-1] >= 1 << (17 if a.ndim > 2 else 10) "
             "and are_pairs(a, b)")
def product(a: Any, b: Any) -> Any:
    dtype = a.dtype  # the two that need no other one
    if a.ndim > 1 < b.ndim and a.shape[-1] == 1:
        return np.multiply(a, b, order="C")  # without BLAS's detour for columns and rows
    if dtype is not FLOAT32 and dtype is not FLOAT64:
        return plain.product(a, b)
    if a.ndim > 2 and b.ndim > 1 and dtype is b.dtype:
        each = math.prod(a.shape[-2:]) * b.shape[-1]
        if a.shape[:-2] == b.shape[:-2] and each * math.prod(a.shape[:-2]) >= 2 * _PART > 2 * each:
            return _product_of_pairs(a, b, each)
        if each in _ALONE:
            with one_thread:
                return _matmul(a, b, order="C")
    return _matmul(a, b, order="C")


_PART = 1 << 22
"""Products of numbers that are worth a thread."""
_ALONE = range(1 << 18, _PART)
"""Of products of so many numbers one thread makes a stack sooner than BLAS's threads, which wait
for each other in each."""


def _product_of_pairs(a: Any, b: Any, each: int) -> Any:
    """The products of large stacks, which threads share, each of them made by one."""
    axis = next(i for i, length in enumerate(a.shape) if length > 1)
    lead, found = (slice(None),) * axis, product_like(a, b)

    def fill(part: slice) -> None:
        place = (*lead, part)
        _matmul(a[place], b[place], found[place])

    parts = 1 << (each * math.prod(a.shape[:-2]) // _PART).bit_length() - 1
    with one_thread:
        over_blocks(fill, a.shape[axis], -(-a.shape[axis] // parts))
    return found


@native("matrix_products(a, b, None, product_like(a, b))", are_large, product_like,
        when="a.size > 1023 and are_large(a, b)")
def dot(a: Any, b: Any) -> Any:
    dtype = a.dtype  # the method is cheaper to call than the function
    return a.dot(b) if dtype is FLOAT32 or dtype is FLOAT64 else plain.dot(a, b)


@lru_cache(maxsize=64)
def _ones(count: int, dtype: Any) -> Any:
    return np.ones(count, dtype)


def sum_rows(array: Any) -> Any:
    dtype = array.dtype  # BLAS beats a reduction by far
    return _ones(array.shape[0], dtype).dot(array) if dtype is FLOAT32 or dtype is FLOAT64 \
        else plain.sum_rows(array)


@native("matrix_products(x, weight.T, bias, product_like(x, weight.T))", are_large, product_like,
        when="x.size > 1023 and are_large(x, weight.T) and ready(bias)")
def affine(x: Any, weight: Any, bias: Any) -> Any:
    if is_half(x.dtype):
        return plain.affine(x, weight, bias)
    y = x.dot(weight.T)  # one buffer, in the dtype that is wanted anyway
    y += bias
    return y


def eigh(a: Any, side: str) -> tuple[Any, Any]:
    found = eigenvectors(a, side == "L")
    return plain.eigh(a, side) if found is None or found[2].any() else found[:2]  # which says why


def eigvalsh(a: Any, side: str) -> Any:
    found = _hermitian(a, side == "L", False)
    return plain.eigvalsh(a, side) if found is None or found[2].any() else found[0]


_BY_OWN_STEPS = range(17, 1449)
"""Sizes of symmetric matrices of which a kernel finds the eigenvectors sooner than LAPACK."""


def eigenvectors(a: Any, lower: bool) -> tuple[Any, Any, Any] | None:
    """Eigenvalues, vectors, and where there are none; None where they are found in another way."""
    find: Any = _EIGENVECTORS.get(a.dtype.char)
    chosen = find is not None and a.shape[-1] in _BY_OWN_STEPS and a.flags.aligned
    return find(a, lower) if chosen else _hermitian(a, lower, True)


_EIGENVECTORS = {} if "symmetric_eigenvectors" not in kernels else dict.fromkeys(
    "fd", lambda a, lower: kernels["symmetric_eigenvectors"](
        a, np.empty(a.shape[:-1], a.dtype), np.empty(a.shape, a.dtype),
        np.empty(a.shape[:-2], np.int32), lower))


def _hermitian(a: Any, lower: bool, vectors: bool) -> tuple[Any, Any, Any] | None:
    name = "syevd" if a.dtype.kind == "f" else "heevd"
    find = routine_for(name, a)
    if find is None:
        return None
    values, whole = np.empty(a.shape[:-1], a.real.dtype), in_columns(a)
    size = work_size(name, a.dtype, a.shape[-1], compute_v=vectors, lower=lower)
    info = np.empty(a.shape[:-2], np.int32)
    with routines_for(2 * a.shape[-1]):
        for index in indices(a.shape[:-2]):
            target = whole[index]
            values[index], found, info[index] = find(target, vectors, lower, size, overwrite_a=1)
            keep(target, found)
    return values, whole, info


def eig(a: Any, finite: bool) -> tuple[Any, Any]:
    found = _general(a, True)
    return plain.eig(a, finite) if found is None else found


def eigvals(a: Any, finite: bool) -> Any:
    found = _general(a, False)
    return plain.eigvals(a, finite) if found is None else found[0]


def _general(a: Any, vectors: bool) -> tuple[Any, Any] | None:
    """Eigenvalues and ``vectors``; None where they are found in another way, or not at all."""
    find = routine_for("geev", a)
    if find is None or not np.isfinite(a).all():
        return None
    kind = np.result_type(a.dtype, np.complex64)
    values, whole = np.empty(a.shape[:-1], kind), np.empty(a.shape if vectors else (), kind)
    size = work_size("geev", a.dtype, a.shape[-1], compute_vl=0, compute_vr=vectors)
    info = np.empty(a.shape[:-2], np.int32)
    with routines_for(2 * a.shape[-1]):  # products with vectors are worth a thread sooner
        for index in indices(a.shape[:-2]):
            *parts, _, right, info[index] = find(a[index], 0, vectors, size)
            values[index] = parts[0]
            if len(parts) > 1:  # of a real matrix, whose pairs share two columns
                values[index].imag = parts[1]
            if vectors:
                whole[index] = right if len(parts) == 1 else _paired(right, parts[1])
    return None if info.any() else (values, whole)


def _paired(columns: Any, imaginary: Any) -> Any:
    """Complex eigenvectors from the real and imaginary parts of one of each pair."""
    found = columns.astype(np.result_type(columns.dtype, np.complex64))
    first = np.flatnonzero(imaginary > 0)
    found.imag[:, first] = columns[:, first + 1]
    found[:, first + 1] = found[:, first].conj()
    return found


def qr(a: Any, mode: str) -> tuple[Any, Any]:
    rows, columns = a.shape[-2:]
    if not has_reflections(a):
        return plain.qr(a, mode)
    least = min(rows, columns)
    packed, tau = reflections(a)
    r = np.triu(packed[..., :rows if mode == "complete" else least, :])
    if mode == "r":
        return np.empty((0,), a.dtype), r
    return reflected_identity(packed, tau, rows if mode == "complete" else least), r


_FEW = 32


def has_reflections(a: Any) -> bool:
    """Whether a kernel or LAPACK's own routine is quicker than NumPy's, which has no single
    precision.
    """
    if not a.size or (_BY_KERNEL and are_few(a, _FEW)) or are_in_blocks(a):
        return a.size > 0
    return routine("geqrf", a.dtype) is not None and (
        a.dtype.char in "fF" or min(a.shape[-2:]) > _FEW)


def factors_of(a: Any) -> Any:
    """A new array for the factors of the reflections that make a triangle of ``a``."""
    return np.empty((*a.shape[:-2], min(a.shape[-2:])), a.dtype)


@native("reflections(a, empty(a.shape, a.dtype), factors_of(a))", are_few, factors_of,
        when=f"are_few(a, {_FEW})")
def reflections(a: Any) -> tuple[Any, Any]:
    """R with the vectors of the reflections below it, and the factors of these."""
    return _reflected_in_blocks(a) or _reflected_by_lapack(a)


def _reflected_in_blocks(a: Any) -> tuple[Any, Any] | None:
    if not are_in_blocks(a):
        return None
    rows, columns = a.shape[-2:]
    packed, tau = kernels["reflections_by_columns"](
        a, np.empty((*a.shape[:-2], columns, rows), a.dtype), factors_of(a))
    return packed.swapaxes(-1, -2), tau


def _reflected_by_lapack(a: Any) -> tuple[Any, Any]:
    rows, columns = a.shape[-2:]
    packed, tau = in_columns(a), factors_of(a)
    size, factor = work_size("geqrf", a.dtype, rows, columns), routine("geqrf", a.dtype)
    with routines_for(min(rows, columns)):
        for index in indices(a.shape[:-2]):
            target = packed[index]
            found, tau[index], _, _ = factor(target, size, overwrite_a=1)
            keep(target, found)
    return packed, tau


@native("reflected_identity(packed, tau, empty((*packed.shape[:-1], columns), packed.dtype))",
        are_few, when=f"are_few(packed, {_FEW}) and tau.dtype is packed.dtype "
                        "and in_order(tau)")
def reflected_identity(packed: Any, tau: Any, columns: int) -> Any:
    """The first columns of the product of reflections."""
    found = _identity_in_blocks(packed, tau, columns)
    return _identity_by_lapack(packed, tau, columns) if found is None else found


def _identity_in_blocks(packed: Any, tau: Any, columns: int) -> Any:
    if not are_in_blocks(packed) or tau.dtype is not packed.dtype or not in_order(tau):
        return None
    of_columns = np.empty((*packed.shape[:-2], columns, packed.shape[-2]), packed.dtype)
    return kernels["reflected_identity_by_columns"](packed, tau, of_columns).swapaxes(-1, -2)


FOR_KERNELS.extend((_reflected_in_blocks, _identity_in_blocks))


def _identity_by_lapack(packed: Any, tau: Any, columns: int) -> Any:
    rows, steps, lead = packed.shape[-2], tau.shape[-1], packed.shape[:-2]
    q = np.empty((*lead, columns, rows), packed.dtype).swapaxes(-1, -2)
    q[..., :steps] = packed[..., :steps]
    make = routine("orgqr" if packed.dtype.kind == "f" else "ungqr", packed.dtype)
    with routines_for(steps):
        for index in indices(lead):
            target = q[index]
            keep(target, make(target, tau[index], 64 * rows, overwrite_a=1)[0])
    return q


_BY_KERNEL = "reflections" in kernels
_IN_BLOCKS = "reflections_by_columns" in kernels
_BLOCK = 16  # columns that are reflected before all others are, by what those reflections come to


def are_in_blocks(a: Any) -> bool:
    """Whether a kernel reflects the columns of these matrices, a block of them at a time."""
    return _IN_BLOCKS and a.dtype.char in "fd" and a.flags.aligned and min(a.shape[-2:]) >= _BLOCK


def are_vectors(a: Any, b: Any) -> bool:
    """Whether a kernel multiplies these vectors of three."""
    return a.shape == b.shape and a.dtype is b.dtype and a.dtype.char in "fd" and in_order(a, b)


fill_with_plain_bodies(
    globals(), plain, triangle=native(
        "triangle(array, like(array), diagonal, upper)", when="array.ndim > 1 and ready(array)"),
    cross=native("cross_products(a, b, like(a), axis % a.ndim)", are_vectors,
                 when="are_vectors(a, b)"))
