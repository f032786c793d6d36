"""The methods and operators that ops give to Tensor, for checkers and editors."""

# Written by `make stubs` from the declared functions and docs/stub_types.py.
# ruff: noqa

from .. import return_types
from ..base.dtypes import dtype
from ..base.layouts import layout, memory_format
from ..core.tensor import Tensor
from ..random import Generator
from ..types import Device, Number, SupportsArray
from builtins import bool as _bool, float as _float, int as _int, type as _type
from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import Any, Literal, Self, SupportsIndex, overload

Index = SupportsIndex | slice | EllipsisType | None | Tensor | SupportsArray | list[Any] | tuple[Any, ...]

class TensorMethods:
    @property
    def H(self) -> Tensor:
        """The conjugate transpose of a matrix."""
        ...
    @property
    def T(self) -> Tensor:
        """A view with all dimensions in reverse order."""
        ...
    def __abs__(self) -> Tensor:
        """The absolute value; of a complex number its distance from zero."""
        ...
    def __add__(self, other: Tensor | Number) -> Tensor:
        """Sum of ``input`` and ``alpha`` times ``other``, broadcast together."""
        ...
    def __and__(self, other: Tensor | Number) -> Tensor:
        """Bits that are set in both; of bools, their conjunction."""
        ...
    def __delitem__(self, key: Index) -> None:
        ...
    def __div__(self, other: Tensor | Number) -> Tensor:
        """Quotient of ``input`` and ``other``; integers divide to the default float."""
        ...
    def __eq__(self, other: Any) -> Tensor:  # type: ignore[override]
        """Where ``input`` and ``other`` are equal."""
        ...
    def __floordiv__(self, other: Tensor | Number) -> Tensor:
        """Quotient of ``input`` and ``other``, rounded down."""
        ...
    def __ge__(self, other: Tensor | Number) -> Tensor:
        """Where ``input`` is at least ``other``."""
        ...
    def __getitem__(self, key: Index) -> Tensor:
        """``self[key]``: a view for ints, slices and None, a copy for masks, index tensors and slices
        that go backwards.
        """
        ...
    def __gt__(self, other: Tensor | Number) -> Tensor:
        """Where ``input`` is greater than ``other``."""
        ...
    def __iadd__(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`add`."""
        ...
    def __iand__(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`bitwise_and`."""
        ...
    def __idiv__(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`div`."""
        ...
    def __ifloordiv__(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`floor_divide`."""
        ...
    def __ilshift__(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`bitwise_left_shift`."""
        ...
    def __imod__(self, other: Tensor | Number) -> Self:
        """``self %= other``, in place."""
        ...
    def __imul__(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`mul`."""
        ...
    def __invert__(self) -> Self:
        """``~self``."""
        ...
    def __ior__(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`bitwise_or`."""
        ...
    def __ipow__(self, other: Tensor | Number) -> Self:
        """``self **= other``, in place."""
        ...
    def __irshift__(self, other: Tensor | Number) -> Self:
        """``self >>= other``, in place."""
        ...
    def __isub__(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`sub`."""
        ...
    def __itruediv__(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`div`."""
        ...
    def __ixor__(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`bitwise_xor`."""
        ...
    def __le__(self, other: Tensor | Number) -> Tensor:
        """Where ``input`` is at most ``other``."""
        ...
    def __lshift__(self, other: Tensor | Number) -> Tensor:
        """Bits moved towards the higher places."""
        ...
    def __lt__(self, other: Tensor | Number) -> Tensor:
        """Where ``input`` is less than ``other``."""
        ...
    def __matmul__(self, other: Tensor) -> Tensor:
        ...
    def __mod__(self, other: Tensor | Number) -> Tensor:
        """``self % other``."""
        ...
    def __mul__(self, other: Tensor | Number) -> Tensor:
        """Product of ``input`` and ``other``, broadcast together."""
        ...
    def __ne__(self, other: Any) -> Tensor:  # type: ignore[override]
        """Where ``input`` and ``other`` differ."""
        ...
    def __neg__(self) -> Tensor:
        """The negative."""
        ...
    def __or__(self, other: Tensor | Number) -> Tensor:
        """Bits that are set in either; of bools, their disjunction."""
        ...
    def __pos__(self) -> Tensor:
        """``input`` itself."""
        ...
    def __pow__(self, other: Tensor | Number) -> Tensor:
        """``self ** other``."""
        ...
    def __radd__(self, other: Tensor | Number) -> Tensor:
        """Sum of ``input`` and ``alpha`` times ``other``, broadcast together."""
        ...
    def __rand__(self, other: Tensor | Number) -> Tensor:
        """``other and self``, bit by bit."""
        ...
    def __rdiv__(self, other: Tensor | Number) -> Tensor:
        """``other / self``."""
        ...
    def __rfloordiv__(self, other: Tensor | Number) -> Tensor:
        """``other // self``."""
        ...
    def __rlshift__(self, other: Tensor | Number) -> Tensor:
        """``other << self``."""
        ...
    def __rmatmul__(self, other: Tensor) -> Tensor:
        ...
    def __rmod__(self, other: Tensor | Number) -> Tensor:
        """``other % self``."""
        ...
    def __rmul__(self, other: Tensor | Number) -> Tensor:
        """Product of ``input`` and ``other``, broadcast together."""
        ...
    def __ror__(self, other: Tensor | Number) -> Tensor:
        """``other or self``, bit by bit."""
        ...
    def __rpow__(self, other: Tensor | Number) -> Tensor:
        """``other ** self``."""
        ...
    def __rrshift__(self, other: Tensor | Number) -> Tensor:
        """``other >> self``."""
        ...
    def __rshift__(self, other: Tensor | Number) -> Tensor:
        """Bits moved towards the lower places; the sign stays."""
        ...
    def __rsub__(self, other: Tensor | Number) -> Tensor:
        """``other - self``."""
        ...
    def __rtruediv__(self, other: Tensor | Number) -> Tensor:
        """``other / self``."""
        ...
    def __rxor__(self, other: Tensor | Number) -> Tensor:
        """``other xor self``, bit by bit."""
        ...
    def __setitem__(self, key: Index, value: Tensor | Number | SupportsArray) -> None:
        """``self[key] = value``, broadcast and cast; in place, and part of the graph."""
        ...
    def __sub__(self, other: Tensor | Number) -> Tensor:
        """Difference of ``input`` and ``alpha`` times ``other``."""
        ...
    def __truediv__(self, other: Tensor | Number) -> Tensor:
        """Quotient of ``input`` and ``other``; integers divide to the default float."""
        ...
    def __xor__(self, other: Tensor | Number) -> Tensor:
        """Bits that are set in exactly one; of bools, their difference."""
        ...
    @staticmethod
    def _make_subclass(cls: _type, data: Tensor, require_grad: _bool = False) -> Tensor:
        """A leaf of class ``cls`` on the memory of ``data``."""
        ...
    def abs(self) -> Tensor:
        """The absolute value; of a complex number its distance from zero.

        ``y = |x|``; the gradient is ``g · sign(x)``, and 0 at 0. For complex numbers it is the
        modulus.

        >>> torch.abs(torch.tensor([-1.5, 0.0, 2.0]))
        tensor([1.5000, 0.0000, 2.0000])
        """
        ...
    def abs_(self) -> Self:
        """In-place version of :func:`_abs_real`."""
        ...
    def absolute(self) -> Tensor:
        """The absolute value; of a complex number its distance from zero.

        ``y = |x|``; the gradient is ``g · sign(x)``, and 0 at 0. For complex numbers it is the
        modulus.

        >>> torch.abs(torch.tensor([-1.5, 0.0, 2.0]))
        tensor([1.5000, 0.0000, 2.0000])
        """
        ...
    def absolute_(self) -> Self:
        """In-place version of :func:`_abs_real`."""
        ...
    def acos(self) -> Tensor:
        """The angle whose cosine is ``input``."""
        ...
    def acos_(self) -> Self:
        """In-place version of :func:`acos`."""
        ...
    def acosh(self) -> Tensor:
        """The number whose hyperbolic cosine is ``input``."""
        ...
    def acosh_(self) -> Self:
        """In-place version of :func:`acosh`."""
        ...
    def add(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """Sum of ``input`` and ``alpha`` times ``other``, broadcast together.

        ``y = input + alpha · other``, with broadcasting; the gradients are ``g`` and ``alpha · g``,
        summed over what was broadcast.

        >>> torch.add(torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0]), alpha=2)
        tensor([21., 42.])
        """
        ...
    def add_(self, other: Tensor | Number, *, alpha: Number = 1) -> Self:
        """In-place version of :func:`add`."""
        ...
    def addbmm(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1,
               alpha: Number = 1) -> Tensor:
        """``beta * input + alpha * Σ(batch1 @ batch2)``, summed over the batch."""
        ...
    def addbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1,
                alpha: Number = 1) -> Self:
        """In-place version of :func:`addbmm`."""
        ...
    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
        """``input`` plus ``value`` times the quotient of two tensors."""
        ...
    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Self:
        """In-place version of :func:`addcdiv`."""
        ...
    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
        """``input`` plus ``value`` times the product of two tensors."""
        ...
    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Self:
        """In-place version of :func:`addcmul`."""
        ...
    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """``beta * input + alpha * (mat1 @ mat2)``.

        ``y = beta · input + alpha · A B``.

        >>> torch.addmm(torch.ones(2), torch.ones(1, 3), torch.ones(3, 2))
        tensor([[4., 4.]])
        """
        ...
    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Self:
        """In-place version of :func:`addmm`."""
        ...
    def addmv(self, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """``beta * input + alpha * (mat @ vec)``."""
        ...
    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Self:
        """In-place version of :func:`addmv`."""
        ...
    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """``beta * input + alpha * (vec1 ⊗ vec2)``."""
        ...
    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Self:
        """In-place version of :func:`addr`."""
        ...
    def adjoint(self) -> Tensor:
        """The conjugate transpose of the last two dimensions."""
        ...
    def all(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False) -> Tensor:
        """Whether every element over ``dim`` is not zero.

        Over everything, or along ``dim``.

        >>> torch.all(torch.tensor([[True, False], [False, False]]), dim=1)
        tensor([False, False])
        """
        ...
    def allclose(self, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08,
                 equal_nan: _bool = False) -> _bool:
        """Whether all elements are equal within tolerances.

        Whether ``|input - other| ≤ atol + rtol · |other|`` everywhere.

        >>> torch.allclose(torch.tensor([1.0]), torch.tensor([1.0 + 1e-7]))
        True
        """
        ...
    def amax(self, dim: _int | Sequence[_int] | None = (), keepdim: _bool = False) -> Tensor:
        """The largest element over ``dim``; equal ones share the gradient.

        The gradient is shared equally by all elements that are as large.

        >>> torch.amax(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=0)
        tensor([7., 5.])
        """
        ...
    def amin(self, dim: _int | Sequence[_int] | None = (), keepdim: _bool = False) -> Tensor:
        """The smallest element over ``dim``; equal ones share the gradient.

        The gradient is shared equally by all elements that are as large.

        >>> torch.amin(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=0)
        tensor([1., 2.])
        """
        ...
    def aminmax(self, *, dim: _int | None = None, keepdim: _bool = False) -> return_types.aminmax:
        """The smallest and the largest element along ``dim``."""
        ...
    def angle(self) -> Tensor:
        """The angle of a complex number; of a real one 0, or π below zero."""
        ...
    def any(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False) -> Tensor:
        """Whether some element over ``dim`` is not zero.

        Over everything, or along ``dim``.

        >>> torch.any(torch.tensor([[True, False], [False, False]]), dim=1)
        tensor([ True, False])
        """
        ...
    def apply_(self, callable: Callable[[Any], Any]) -> Self:
        """Exchange each element for what a Python function makes of it, in place and slowly."""
        ...
    def arccos(self) -> Tensor:
        """The angle whose cosine is ``input``."""
        ...
    def arccos_(self) -> Self:
        """In-place version of :func:`acos`."""
        ...
    def arccosh(self) -> Tensor:
        """The number whose hyperbolic cosine is ``input``."""
        ...
    def arccosh_(self) -> Self:
        """In-place version of :func:`acosh`."""
        ...
    def arcsin(self) -> Tensor:
        """The angle whose sine is ``input``."""
        ...
    def arcsin_(self) -> Self:
        """In-place version of :func:`asin`."""
        ...
    def arcsinh(self) -> Tensor:
        """The number whose hyperbolic sine is ``input``."""
        ...
    def arcsinh_(self) -> Self:
        """In-place version of :func:`asinh`."""
        ...
    def arctan(self) -> Tensor:
        """The angle whose tangent is ``input``."""
        ...
    def arctan2(self, other: Tensor) -> Tensor:
        """The angle of the point with ordinate ``input`` and abscissa ``other``."""
        ...
    def arctan2_(self, other: Tensor) -> Self:
        """In-place version of :func:`atan2`."""
        ...
    def arctan_(self) -> Self:
        """In-place version of :func:`atan`."""
        ...
    def arctanh(self) -> Tensor:
        """The number whose hyperbolic tangent is ``input``."""
        ...
    def arctanh_(self) -> Self:
        """In-place version of :func:`atanh`."""
        ...
    def argmax(self, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
        """The index of the first largest element, along ``dim`` or of the flattened tensor.

        A position has no gradient.

        >>> torch.argmax(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1)
        tensor([1, 0])
        """
        ...
    def argmin(self, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
        """The index of the first smallest element, along ``dim`` or of the flattened tensor.

        A position has no gradient.

        >>> torch.argmin(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1)
        tensor([0, 1])
        """
        ...
    def argsort(self, dim: _int = -1, descending: _bool = False, *,
                stable: _bool = False) -> Tensor:
        """The indices that put the elements in order along ``dim``.

        Positions have no gradient.

        >>> torch.argsort(torch.tensor([3.0, 1.0, 2.0]))
        tensor([1, 2, 0])
        """
        ...
    def argwhere(self) -> Tensor:
        """The coordinates of the non-zero elements, one row each."""
        ...
    def as_strided(self, size: Sequence[_int], stride: Sequence[_int],
                   storage_offset: _int | None = None) -> Tensor:
        """A view of ``input``'s memory with any shape, strides and offset (in elements)."""
        ...
    def as_strided_(self, size: Sequence[_int], stride: Sequence[_int],
                    storage_offset: _int | None = None) -> Self:
        """Take any shape, strides and offset in this tensor's storage, in place."""
        ...
    def as_strided_scatter(self, src: Tensor, size: Sequence[_int], stride: Sequence[_int],
                           storage_offset: _int | None = None) -> Tensor:
        """``input`` with ``src`` in place of a strided view of its memory."""
        ...
    def asin(self) -> Tensor:
        """The angle whose sine is ``input``."""
        ...
    def asin_(self) -> Self:
        """In-place version of :func:`asin`."""
        ...
    def asinh(self) -> Tensor:
        """The number whose hyperbolic sine is ``input``."""
        ...
    def asinh_(self) -> Self:
        """In-place version of :func:`asinh`."""
        ...
    def astype(self, dtype: dtype | None, order: str = 'K', casting: str = 'unsafe',
               subok: _bool = True, copy: _bool = True) -> Tensor:
        """A copy as ``dtype``, which may be NumPy's, by NumPy's name of it; gradients flow through."""
        ...
    def atan(self) -> Tensor:
        """The angle whose tangent is ``input``."""
        ...
    def atan2(self, other: Tensor) -> Tensor:
        """The angle of the point with ordinate ``input`` and abscissa ``other``."""
        ...
    def atan2_(self, other: Tensor) -> Self:
        """In-place version of :func:`atan2`."""
        ...
    def atan_(self) -> Self:
        """In-place version of :func:`atan`."""
        ...
    def atanh(self) -> Tensor:
        """The number whose hyperbolic tangent is ``input``."""
        ...
    def atanh_(self) -> Self:
        """In-place version of :func:`atanh`."""
        ...
    def baddbmm(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1,
                alpha: Number = 1) -> Tensor:
        """``beta * input + alpha * (batch1 @ batch2)``, for each pair of matrices."""
        ...
    def baddbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1,
                 alpha: Number = 1) -> Self:
        """In-place version of :func:`baddbmm`."""
        ...
    def bernoulli(self, p: _float | None = None, *, generator: Generator | None = None) -> Tensor:
        """Ones with the probabilities in ``input``, or with the one probability ``p``."""
        ...
    def bernoulli_(self, p: Tensor | _float = 0.5, *, generator: Generator | None = None) -> Self:
        """Ones with probability ``p``, in place."""
        ...
    def bfloat16(self, memory_format: memory_format | None = None) -> Tensor:
        """This tensor as bfloat16."""
        ...
    def bincount(self, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
        """How often each non-negative integer occurs, or the sum of its weights."""
        ...
    def bitwise_and(self, other: Tensor | Number) -> Tensor:
        """Bits that are set in both; of bools, their conjunction."""
        ...
    def bitwise_and_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`bitwise_and`."""
        ...
    def bitwise_left_shift(self, other: Tensor | Number) -> Tensor:
        """Bits moved towards the higher places."""
        ...
    def bitwise_left_shift_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`bitwise_left_shift`."""
        ...
    def bitwise_not(self) -> Tensor:
        """All bits turned over; of bools, their negation."""
        ...
    def bitwise_not_(self) -> Self:
        """In-place version of :func:`bitwise_not`."""
        ...
    def bitwise_or(self, other: Tensor | Number) -> Tensor:
        """Bits that are set in either; of bools, their disjunction."""
        ...
    def bitwise_or_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`bitwise_or`."""
        ...
    def bitwise_right_shift(self, other: Tensor | Number) -> Tensor:
        """Bits moved towards the lower places; the sign stays."""
        ...
    def bitwise_right_shift_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`bitwise_right_shift`."""
        ...
    def bitwise_xor(self, other: Tensor | Number) -> Tensor:
        """Bits that are set in exactly one; of bools, their difference."""
        ...
    def bitwise_xor_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`bitwise_xor`."""
        ...
    def bmm(self, mat2: Tensor) -> Tensor:
        """The products of two batches of matrices, pair by pair.

        ``yᵢ = Aᵢ Bᵢ`` for two batches of matrices.

        >>> torch.bmm(torch.ones(2, 1, 3), torch.ones(2, 3, 2)).shape
        torch.Size([2, 1, 2])
        """
        ...
    def bool(self, memory_format: memory_format | None = None) -> Tensor:
        """This tensor as bool."""
        ...
    @overload
    def broadcast_to(self, *size: _int) -> Tensor:
        """``input`` expanded to ``size``."""
        ...
    @overload
    def broadcast_to(self, size: Sequence[_int]) -> Tensor:
        """``input`` expanded to ``size``."""
        ...
    def byte(self, memory_format: memory_format | None = None) -> Tensor:
        """This tensor as uint8."""
        ...
    def cauchy_(self, median: _float = 0.0, sigma: _float = 1.0, *,
                generator: Generator | None = None) -> Self:
        """In-place version of :func:`cauchy`."""
        ...
    def ccol_indices(self) -> Tensor:
        """``ccol_indices`` of a sparse tensor; a dense one has none."""
        ...
    def cdouble(self, memory_format: memory_format | None = None) -> Tensor:
        """This tensor as complex128."""
        ...
    def ceil(self) -> Tensor:
        """The nearest integer that is not less.

        A step function: the gradient is zero everywhere.

        >>> torch.ceil(torch.tensor([-1.5, 1.5]))
        tensor([-1.,  2.])
        """
        ...
    def ceil_(self) -> Self:
        """In-place version of :func:`ceil`."""
        ...
    def cfloat(self, memory_format: memory_format | None = None) -> Tensor:
        """This tensor as complex64."""
        ...
    def chalf(self, memory_format: memory_format | None = None) -> Tensor:
        """This tensor as complex32."""
        ...
    def char(self, memory_format: memory_format | None = None) -> Tensor:
        """This tensor as int8."""
        ...
    def cholesky(self, upper: _bool = False) -> Tensor:
        """The triangular factor of a positive-definite matrix."""
        ...
    def cholesky_inverse(self, upper: _bool = False) -> Tensor:
        """The inverse of a matrix from its Cholesky factor ``L``."""
        ...
    def cholesky_solve(self, L: Tensor, upper: _bool = False) -> Tensor:
        """The solution X of ``A @ X = input``, from the Cholesky factor ``L`` of A."""
        ...
    def chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """At most ``chunks`` views of equal length along ``dim``; the last may be shorter.

        Views of parts of equal size, of which the last may be smaller.

        >>> torch.chunk(torch.arange(5), 2)
        (tensor([0, 1, 2]), tensor([3, 4]))
        """
        ...
    def clamp(self, min: Tensor | Number | None = None,
              max: Tensor | Number | None = None) -> Tensor:
        """``input`` held between two bounds, either of which may be missing."""
        ...
    def clamp_(self, min: Tensor | Number | None = None,
               max: Tensor | Number | None = None) -> Self:
        """In-place version of :func:`clamp`."""
        ...
    def clamp_max(self, max: Tensor | Number | None) -> Tensor:
        """``input``, or ``max`` where that is less."""
        ...
    def clamp_max_(self, max: Tensor | Number | None) -> Self:
        """In-place version of :func:`clamp_max`."""
        ...
    def clamp_min(self, min: Tensor | Number | None) -> Tensor:
        """``input``, or ``min`` where that is greater."""
        ...
    def clamp_min_(self, min: Tensor | Number | None) -> Self:
        """In-place version of :func:`clamp_min`."""
        ...
    def clip(self, min: Tensor | Number | None = None,
             max: Tensor | Number | None = None) -> Tensor:
        """``input`` held between two bounds, either of which may be missing."""
        ...
    def clip_(self, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Self:
        """In-place version of :func:`clamp`."""
        ...
    def clone(self, *, memory_format: memory_format | None = None) -> Tensor:
        """A copy with memory of its own; gradients flow through it."""
        ...
    def coalesce(self) -> Tensor:
        """Each place once, in order, its values added up."""
        ...
    def col_indices(self) -> Tensor:
        """``col_indices`` of a sparse tensor; a dense one has none."""
        ...
    def conj(self) -> Tensor:
        """The complex conjugate; a real tensor is its own."""
        ...
    def conj_physical(self) -> Tensor:
        """The complex conjugate in memory of its own; a real tensor is its own."""
        ...
    def conj_physical_(self) -> Self:
        """In-place version of :func:`_conj_physical_written`."""
        ...
    def const_data_ptr(self) -> _int:
        """The address of the first element, of somebody who only reads."""
        ...
    def contiguous(self, memory_format: memory_format | None = ...) -> Tensor:
        """``input`` itself if its memory is in order, otherwise a copy that is."""
        ...
    def copy(self, order: str = 'C') -> Tensor:
        """A copy, by NumPy's name of it; gradients flow through it."""
        ...
    def copy_(self, src: Tensor | Number, non_blocking: _bool = False) -> Self:
        """Overwrite with the values of ``src``, broadcast and cast."""
        ...
    def copysign(self, other: Tensor | Number) -> Tensor:
        """The magnitude of ``input`` with the sign of ``other``."""
        ...
    def copysign_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`copysign`."""
        ...
    def corrcoef(self) -> Tensor:
        """The matrix of correlation coefficients of variables in rows, observed in columns."""
        ...
    def cos(self) -> Tensor:
        """The cosine.

        ``y = cos x``; the gradient is ``-g · sin x``.

        >>> torch.cos(torch.tensor([0.0, 1.0]))
        tensor([1.0000, 0.5403])
        """
        ...
    def cos_(self) -> Self:
        """In-place version of :func:`cos`."""
        ...
    def cosh(self) -> Tensor:
        """The hyperbolic cosine."""
        ...
    def cosh_(self) -> Self:
        """In-place version of :func:`cosh`."""
        ...
    def count_nonzero(self, dim: _int | Sequence[_int] | None = None) -> Tensor:
        """How many elements over ``dim`` are not zero."""
        ...
    def cov(self, *, correction: _int = 1, fweights: Tensor | None = None,
            aweights: Tensor | None = None) -> Tensor:
        """The covariance matrix of variables in rows, observed in columns."""
        ...
    def cpu(self, memory_format: memory_format | None = None) -> Tensor:
        """This tensor on the CPU, where it is already."""
        ...
    def cross(self, other: Tensor, dim: _int | None = None) -> Tensor:
        """The cross product along ``dim``, by default the first dimension of length three."""
        ...
    def crow_indices(self) -> Tensor:
        """``crow_indices`` of a sparse tensor; a dense one has none."""
        ...
    def cuda(self, device: Device = None, non_blocking: _bool = False,
             memory_format: memory_format | None = None) -> Tensor:
        ...
    def cummax(self, dim: _int) -> return_types.cummax:
        """Running maximum along ``dim``, and where it was last met."""
        ...
    def cummin(self, dim: _int) -> return_types.cummin:
        """Running minimum along ``dim``, and where it was last met."""
        ...
    def cumprod(self, dim: _int, *, dtype: dtype | None = None) -> Tensor:
        """Running product along ``dim``.

        ``yᵢ = x₀ · … · xᵢ`` along ``dim``.

        >>> torch.cumprod(torch.tensor([1.0, 2.0, 3.0]), dim=0)
        tensor([1., 2., 6.])
        """
        ...
    def cumprod_(self, dim: _int, *, dtype: dtype | None = None) -> Self:
        """In-place version of :func:`cumprod`."""
        ...
    def cumsum(self, dim: _int, *, dtype: dtype | None = None) -> Tensor:
        """Running sum along ``dim``.

        ``yᵢ = x₀ + … + xᵢ`` along ``dim``; the gradient is the sum of those that come after.

        >>> torch.cumsum(torch.tensor([1.0, 2.0, 3.0]), dim=0)
        tensor([1., 3., 6.])
        """
        ...
    def cumsum_(self, dim: _int, *, dtype: dtype | None = None) -> Self:
        """In-place version of :func:`cumsum`."""
        ...
    def deg2rad(self) -> Tensor:
        """Degrees as radians."""
        ...
    def deg2rad_(self) -> Self:
        """In-place version of :func:`deg2rad`."""
        ...
    def dense_dim(self) -> _int:
        """How many dimensions each element of a sparse tensor has: all those of a dense one."""
        ...
    def det(self) -> Tensor:
        """The determinant of square matrices.

        The gradient is ``g · det(A) · A⁻ᵀ``, by cofactors where the matrix is singular.

        >>> torch.linalg.det(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor(-2.)
        """
        ...
    def diag(self, diagonal: _int = 0) -> Tensor:
        """A vector as a diagonal matrix, or the diagonal of a matrix.

        A vector becomes a matrix with it on the diagonal, of a matrix the diagonal is taken.

        >>> torch.diag(torch.tensor([1, 2]))
        tensor([[1, 0],
                [0, 2]])
        """
        ...
    def diag_embed(self, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
        """Matrices between ``dim1`` and ``dim2`` with ``input``'s last dimension on a diagonal."""
        ...
    def diagflat(self, offset: _int = 0) -> Tensor:
        """All elements on the diagonal of a matrix."""
        ...
    def diagonal(self, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """A view of a diagonal, as the last dimension."""
        ...
    def diagonal_scatter(self, src: Tensor, offset: _int = 0, dim1: _int = 0,
                         dim2: _int = 1) -> Tensor:
        """``input`` with ``src`` in place of a diagonal."""
        ...
    def diff(self, n: _int = 1, dim: _int = -1, prepend: Tensor | None = None,
             append: Tensor | None = None) -> Tensor:
        """The ``n``-th differences of neighbours along ``dim``."""
        ...
    def digamma(self) -> Tensor:
        """The derivative of the logarithm of gamma."""
        ...
    def digamma_(self) -> Self:
        """In-place version of :func:`digamma`."""
        ...
    def dim_order(self, *, ambiguity_check: _bool | Sequence[Any] = False) -> tuple[_int, ...]:
        """The dims in the order of their strides, the largest first."""
        ...
    def dist(self, other: Tensor, p: _float = 2) -> Tensor:
        """The ``p``-norm of the difference of two tensors."""
        ...
    def div(self, other: Tensor | Number, *, rounding_mode: str | None = None) -> Tensor:
        """Quotient of ``input`` and ``other``, optionally rounded towards zero or down.

        ``y = input / other``; the gradients are ``g / other`` and ``-g · input / other²``. With
        ``rounding_mode`` "floor" or "trunc" the quotient is rounded, and has no gradient.

        >>> torch.div(torch.tensor([7.0, -7.0]), 2)
        tensor([ 3.5000, -3.5000])
        >>> torch.div(torch.tensor([7.0, -7.0]), 2, rounding_mode="floor")
        tensor([ 3., -4.])
        """
        ...
    def div_(self, other: Tensor | Number, *, rounding_mode: str | None = None) -> Self:
        """In-place version of :func:`div`."""
        ...
    def divide(self, other: Tensor | Number, *, rounding_mode: str | None = None) -> Tensor:
        """Quotient of ``input`` and ``other``, optionally rounded towards zero or down.

        ``y = input / other``; the gradients are ``g / other`` and ``-g · input / other²``. With
        ``rounding_mode`` "floor" or "trunc" the quotient is rounded, and has no gradient.

        >>> torch.div(torch.tensor([7.0, -7.0]), 2)
        tensor([ 3.5000, -3.5000])
        >>> torch.div(torch.tensor([7.0, -7.0]), 2, rounding_mode="floor")
        tensor([ 3., -4.])
        """
        ...
    def divide_(self, other: Tensor | Number, *, rounding_mode: str | None = None) -> Self:
        """In-place version of :func:`div`."""
        ...
    def dot(self, tensor: Tensor) -> Tensor:
        """The sum of the products of two vectors' elements.

        ``y = Σ xᵢ yᵢ``; each vector's gradient is ``g`` times the other.

        >>> torch.dot(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
        tensor(11.)
        """
        ...
    def double(self, memory_format: memory_format | None = None) -> Tensor:
        """This tensor as float64."""
        ...
    def dsplit(self, indices_or_sections: Tensor | _int | Sequence[_int]) -> tuple[Tensor, ...]:
        """Views of parts behind each other."""
        ...
    def eq(self, other: Tensor | Number) -> Tensor:
        """Where ``input`` and ``other`` are equal.

        Comparisons have no gradient.

        >>> torch.eq(torch.tensor([1, 2]), torch.tensor([1, 3]))
        tensor([ True, False])
        """
        ...
    def eq_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`eq`."""
        ...
    def equal(self, other: Tensor) -> _bool:
        """Whether two tensors have the same shape and elements.

        Whether shapes and all elements are equal.

        >>> torch.equal(torch.tensor([1, 2]), torch.tensor([1, 2]))
        True
        """
        ...
    def erf(self) -> Tensor:
        """The error function.

        ``y = 2/√π ∫₀ˣ e^(-t²) dt``; the gradient is ``g · 2/√π · e^(-x²)``.

        >>> torch.erf(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8427])
        """
        ...
    def erf_(self) -> Self:
        """In-place version of :func:`erf`."""
        ...
    def erfc(self) -> Tensor:
        """One minus the error function, exact far from zero."""
        ...
    def erfc_(self) -> Self:
        """In-place version of :func:`erfc`."""
        ...
    def erfinv(self) -> Tensor:
        """The inverse of the error function."""
        ...
    def erfinv_(self) -> Self:
        """In-place version of :func:`erfinv`."""
        ...
    def exp(self) -> Tensor:
        """e to the power of ``input``.

        ``y = e^x``; the gradient is ``g · y``.

        >>> torch.exp(torch.tensor([0.0, 1.0]))
        tensor([1.0000, 2.7183])
        """
        ...
    def exp2(self) -> Tensor:
        """Two to the power of ``input``."""
        ...
    def exp2_(self) -> Self:
        """In-place version of :func:`exp2`."""
        ...
    def exp_(self) -> Self:
        """In-place version of :func:`exp`."""
        ...
    @overload
    def expand(self, *size: _int) -> Tensor:
        """A view with length-one dimensions repeated to ``size``, without copying."""
        ...
    @overload
    def expand(self, size: Sequence[_int]) -> Tensor:
        """A view with length-one dimensions repeated to ``size``, without copying."""
        ...
    def expand_as(self, other: Tensor) -> Tensor:
        """``input`` expanded to ``other``'s shape."""
        ...
    def expm1(self) -> Tensor:
        """e to the power of ``input``, minus one, exact for small ``input``."""
        ...
    def expm1_(self) -> Self:
        """In-place version of :func:`expm1`."""
        ...
    def exponential_(self, lambd: _float = 1.0, *, generator: Generator | None = None) -> Self:
        """In-place version of :func:`exponential`."""
        ...
    def fill_(self, value: Tensor | Number) -> Self:
        """Overwrite every element with ``value``, a number or a zero-dim tensor."""
        ...
    def fill_diagonal_(self, fill_value: Number, wrap: _bool = False) -> Self:
        """Set the main diagonal to ``fill_value``, in place; ``wrap`` goes on below a tall matrix."""
        ...
    def fix(self) -> Tensor:
        """The integer part."""
        ...
    def fix_(self) -> Self:
        """In-place version of :func:`trunc`."""
        ...
    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """Merge the dimensions from ``start_dim`` to ``end_dim``.

        The dims from ``start_dim`` to ``end_dim`` become one.

        >>> torch.flatten(torch.ones(2, 3, 4), 1).shape
        torch.Size([2, 12])
        """
        ...
    @overload
    def flip(self, *dims: _int) -> Tensor:
        """``input`` with the order along ``dims`` reversed."""
        ...
    @overload
    def flip(self, dims: Sequence[_int]) -> Tensor:
        """``input`` with the order along ``dims`` reversed."""
        ...
    def fliplr(self) -> Tensor:
        """``input`` with its columns in reverse order."""
        ...
    def flipud(self) -> Tensor:
        """``input`` with its rows in reverse order."""
        ...
    def float(self, memory_format: memory_format | None = None) -> Tensor:
        """This tensor as float32."""
        ...
    def float_power(self, exponent: Tensor | Number) -> Tensor:
        """``input`` to the power of ``exponent``, in double precision."""
        ...
    def float_power_(self, exponent: Tensor | Number) -> Self:
        """In-place version of :func:`float_power`."""
        ...
    def floor(self) -> Tensor:
        """The nearest integer that is not greater.

        A step function: the gradient is zero everywhere.

        >>> torch.floor(torch.tensor([-1.5, 1.5]))
        tensor([-2.,  1.])
        """
        ...
    def floor_(self) -> Self:
        """In-place version of :func:`floor`."""
        ...
    def floor_divide(self, other: Tensor | Number) -> Tensor:
        """Quotient of ``input`` and ``other``, rounded down."""
        ...
    def floor_divide_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`floor_divide`."""
        ...
    def fmax(self, other: Tensor) -> Tensor:
        """The greater of two, ignoring NaN; of equals, the first takes the gradient."""
        ...
    def fmin(self, other: Tensor) -> Tensor:
        """The smaller of two, ignoring NaN; of equals, the first takes the gradient."""
        ...
    def fmod(self, other: Tensor | Number) -> Tensor:
        """What is left of ``input`` after division by ``other``, with the sign of ``input``."""
        ...
    def fmod_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`fmod`."""
        ...
    def frac(self) -> Tensor:
        """The fractional part, with the sign of ``input``."""
        ...
    def frac_(self) -> Self:
        """In-place version of :func:`frac`."""
        ...
    def frexp(self) -> return_types.frexp:
        """``input`` as a mantissa between a half and one, and a power of two."""
        ...
    def gather(self, dim: _int, index: Tensor, *, sparse_grad: _bool = False) -> Tensor:
        """The elements of ``input`` whose coordinate along ``dim`` is given by ``index``.

        ``y[i][j] = input[index[i][j]][j]`` for ``dim=0``; the gradient is added to where it was
        taken.

        >>> torch.gather(torch.tensor([[1, 2], [3, 4]]), 1, torch.tensor([[0, 0], [1, 0]]))
        tensor([[1, 1],
                [4, 3]])
        """
        ...
    def gcd(self, other: Tensor) -> Tensor:
        """The greatest common divisor."""
        ...
    def gcd_(self, other: Tensor) -> Self:
        """In-place version of :func:`gcd`."""
        ...
    def ge(self, other: Tensor | Number) -> Tensor:
        """Where ``input`` is at least ``other``."""
        ...
    def ge_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`ge`."""
        ...
    def geometric_(self, p: _float, *, generator: Generator | None = None) -> Self:
        """In-place version of :func:`geometric`."""
        ...
    def geqrf(self) -> return_types.geqrf:
        """R with the vectors of the reflections that make Q below it, and their factors."""
        ...
    def ger(self, vec2: Tensor) -> Tensor:
        """The matrix of all products of two vectors' elements.

        ``yᵢⱼ = aᵢ bⱼ``.

        >>> torch.outer(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
        tensor([[3., 4.],
                [6., 8.]])
        """
        ...
    def greater(self, other: Tensor | Number) -> Tensor:
        """Where ``input`` is greater than ``other``."""
        ...
    def greater_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`gt`."""
        ...
    def greater_equal(self, other: Tensor | Number) -> Tensor:
        """Where ``input`` is at least ``other``."""
        ...
    def greater_equal_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`ge`."""
        ...
    def gt(self, other: Tensor | Number) -> Tensor:
        """Where ``input`` is greater than ``other``."""
        ...
    def gt_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`gt`."""
        ...
    def half(self, memory_format: memory_format | None = None) -> Tensor:
        """This tensor as float16."""
        ...
    def hardshrink(self, lambd: _float = 0.5) -> Tensor:
        """``input``, or 0 where it is no farther than ``lambd`` from 0."""
        ...
    def hash_tensor(self, dim: _int | Sequence[_int] | None = ..., *, keepdim: _bool = False,
                    mode: _int = 0) -> Tensor:
        """The exclusive or of the bits of all elements, each widened to 64 of them."""
        ...
    def heaviside(self, values: Tensor) -> Tensor:
        """0 below zero, 1 above it, and ``values`` at it."""
        ...
    def heaviside_(self, values: Tensor) -> Self:
        """In-place version of :func:`heaviside`."""
        ...
    def histc(self, bins: _int = 100, min: Number = 0, max: Number = 0) -> Tensor:
        """How many elements fall into each of ``bins`` equal intervals between ``min`` and ``max``."""
        ...
    def histogram(self, bins: _int | Tensor = 100, *, range: Sequence[_float] | None = None,
                  weight: Tensor | None = None, density: _bool = False) -> return_types.histogram:
        """How many elements lie in each bin, and the edges of the bins."""
        ...
    def hsplit(self, indices_or_sections: Tensor | _int | Sequence[_int]) -> tuple[Tensor, ...]:
        """Views of parts side by side."""
        ...
    def hypot(self, other: Tensor) -> Tensor:
        """The hypotenuse of a right triangle with the given legs."""
        ...
    def hypot_(self, other: Tensor) -> Self:
        """In-place version of :func:`hypot`."""
        ...
    def i0(self) -> Tensor:
        """The modified Bessel function of the first kind, of order 0."""
        ...
    def i0_(self) -> Self:
        """In-place version of :func:`i0`."""
        ...
    def igamma(self, other: Tensor) -> Tensor:
        """The lower incomplete gamma function, regularised."""
        ...
    def igamma_(self, other: Tensor) -> Self:
        """In-place version of :func:`gammainc`."""
        ...
    def igammac(self, other: Tensor) -> Tensor:
        """The upper incomplete gamma function, regularised."""
        ...
    def igammac_(self, other: Tensor) -> Self:
        """In-place version of :func:`gammaincc`."""
        ...
    @property
    def imag(self) -> Tensor:
        """The imaginary part, as a view."""
        ...
    @imag.setter
    def imag(self, value: Tensor) -> None: ...
    def index_add(self, dim: _int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
        """``input`` with ``alpha`` times the slices of ``source`` added where ``index`` says."""
        ...
    def index_add_(self, dim: _int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Self:
        """In-place version of :func:`index_add`."""
        ...
    def index_copy(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """``input`` with the slices of ``source`` written where ``index`` says."""
        ...
    def index_copy_(self, dim: _int, index: Tensor, source: Tensor) -> Self:
        """In-place version of :func:`index_copy`."""
        ...
    def index_fill(self, dim: _int, index: Tensor, value: Tensor | Number) -> Tensor:
        """``input`` with the slices along ``dim`` that ``index`` lists set to ``value``."""
        ...
    def index_fill_(self, dim: _int, index: Tensor, value: Tensor | Number) -> Self:
        """Set the slices along ``dim`` that ``index`` lists to ``value``, in place."""
        ...
    def index_put(self, indices: Sequence[Tensor | None], values: Tensor,
                  accumulate: _bool = False) -> Tensor:
        """A copy with ``values`` written (or added) where ``indices`` point."""
        ...
    def index_put_(self, indices: Sequence[Tensor | None], values: Tensor,
                   accumulate: _bool = False) -> Self:
        """Write (or add) ``values`` where ``indices`` point, in place."""
        ...
    def index_reduce(self, dim: _int, index: Tensor, source: Tensor, reduce: str, *,
                     include_self: _bool = True) -> Tensor:
        """``input`` with the slices of ``source`` reduced into it where ``index`` says."""
        ...
    def index_reduce_(self, dim: _int, index: Tensor, source: Tensor, reduce: str, *,
                      include_self: _bool = True) -> Self:
        """In-place version of :func:`index_reduce`."""
        ...
    def index_select(self, dim: _int, index: Tensor) -> Tensor:
        """The slices of ``input`` along ``dim`` that ``index`` lists.

        The entries of ``dim`` that ``index`` names, in its order.

        >>> torch.index_select(torch.tensor([[1, 2], [3, 4]]), 1, torch.tensor([1]))
        tensor([[2],
                [4]])
        """
        ...
    def indices(self) -> Tensor:
        """``indices`` of a sparse tensor; a dense one has none."""
        ...
    def inner(self, other: Tensor) -> Tensor:
        """The sum of products over the last dimension of both; a scalar multiplies."""
        ...
    def int(self, memory_format: memory_format | None = None) -> Tensor:
        """This tensor as int32."""
        ...
    def inverse(self) -> Tensor:
        """The inverse of square matrices.

        ``Y = A⁻¹``; the gradient is ``-Yᵀ g Yᵀ``.

        >>> torch.linalg.inv(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.2500]])
        """
        ...
    def is_coalesced(self) -> Tensor:
        """``is_coalesced`` of a sparse tensor; a dense one has none."""
        ...
    def is_distributed(self) -> _bool:
        """Whether the tensor lies on several machines, which none does."""
        ...
    def is_nonzero(self) -> _bool:
        """Whether the one element is not zero."""
        ...
    def is_pinned(self, device: Device = None) -> _bool:
        ...
    def is_same_size(self, other: Tensor) -> _bool:
        """Whether two tensors have the same shape."""
        ...
    def is_set_to(self, tensor: Tensor) -> _bool:
        """Whether both look at the same memory in the same way."""
        ...
    def is_shared(self) -> _bool:
        """Whether this tensor lies in memory that other processes may see."""
        ...
    def isclose(self, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08,
                equal_nan: _bool = False) -> Tensor:
        """Where ``input`` and ``other`` are equal within tolerances."""
        ...
    def isfinite(self) -> Tensor:
        """Where ``input`` is neither infinite nor NaN."""
        ...
    def isinf(self) -> Tensor:
        """Where ``input`` is infinite."""
        ...
    def isnan(self) -> Tensor:
        """Where ``input`` is not a number.

        True where a value is not a number.

        >>> torch.isnan(torch.tensor([1.0, float("nan")]))
        tensor([False,  True])
        """
        ...
    def isneginf(self) -> Tensor:
        """Where ``input`` is minus infinity."""
        ...
    def isposinf(self) -> Tensor:
        """Where ``input`` is plus infinity."""
        ...
    def isreal(self) -> Tensor:
        """Where the imaginary part is zero."""
        ...
    def istft(self, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None,
              window: Tensor | None = None, center: _bool = True, normalized: _bool = False,
              onesided: _bool | None = None, length: _int | None = None,
              return_complex: _bool = False) -> Tensor:
        """The signal of which :func:`stft` gave the spectra."""
        ...
    def kron(self, other: Tensor) -> Tensor:
        """The Kronecker product: every element of ``input`` times the whole of ``other``."""
        ...
    def kthvalue(self, k: _int, dim: _int = -1, keepdim: _bool = False) -> return_types.kthvalue:
        """The ``k``-th smallest element along ``dim``, and its index."""
        ...
    def lcm(self, other: Tensor) -> Tensor:
        """The least common multiple."""
        ...
    def lcm_(self, other: Tensor) -> Self:
        """In-place version of :func:`lcm`."""
        ...
    def ldexp(self, other: Tensor) -> Tensor:
        """``input`` times two to the power of ``other``."""
        ...
    def ldexp_(self, other: Tensor) -> Self:
        """In-place version of :func:`ldexp`."""
        ...
    def le(self, other: Tensor | Number) -> Tensor:
        """Where ``input`` is at most ``other``."""
        ...
    def le_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`le`."""
        ...
    def lerp(self, end: Tensor, weight: Tensor | Number) -> Tensor:
        """The point between ``input`` and ``end`` at ``weight`` of the way."""
        ...
    def lerp_(self, end: Tensor, weight: Tensor | Number) -> Self:
        """In-place version of :func:`lerp`."""
        ...
    def less(self, other: Tensor | Number) -> Tensor:
        """Where ``input`` is less than ``other``."""
        ...
    def less_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`lt`."""
        ...
    def less_equal(self, other: Tensor | Number) -> Tensor:
        """Where ``input`` is at most ``other``."""
        ...
    def less_equal_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`le`."""
        ...
    def lgamma(self) -> Tensor:
        """The logarithm of the gamma function's absolute value."""
        ...
    def lgamma_(self) -> Self:
        """In-place version of :func:`lgamma`."""
        ...
    def log(self) -> Tensor:
        """The natural logarithm.

        ``y = ln x``; the gradient is ``g / x``.

        >>> torch.log(torch.tensor([1.0, 10.0]))
        tensor([0.0000, 2.3026])
        """
        ...
    def log10(self) -> Tensor:
        """The logarithm to base ten."""
        ...
    def log10_(self) -> Self:
        """In-place version of :func:`log10`."""
        ...
    def log1p(self) -> Tensor:
        """The natural logarithm of one plus ``input``, exact for small ``input``.

        ``y = ln(1 + x)``, also exact for small ``x``; the gradient is ``g / (1 + x)``.

        >>> torch.log1p(torch.tensor([0.0, 1e-8], dtype=torch.float64))
        tensor([0.0000e+00, 1.0000e-08], dtype=torch.float64)
        """
        ...
    def log1p_(self) -> Self:
        """In-place version of :func:`log1p`."""
        ...
    def log2(self) -> Tensor:
        """The logarithm to base two."""
        ...
    def log2_(self) -> Self:
        """In-place version of :func:`log2`."""
        ...
    def log_(self) -> Self:
        """In-place version of :func:`log`."""
        ...
    def log_normal_(self, mean: _float = 1.0, std: _float = 2.0, *,
                    generator: Generator | None = None) -> Self:
        """In-place version of :func:`log_normal`."""
        ...
    def log_softmax(self, dim: _int, dtype: dtype | None = None) -> Tensor:
        """The logarithm of softmax, computed safely."""
        ...
    def logaddexp(self, other: Tensor) -> Tensor:
        """The logarithm of the sum of exponentials."""
        ...
    def logaddexp2(self, other: Tensor) -> Tensor:
        """The logarithm to base two of the sum of powers of two."""
        ...
    def logcumsumexp(self, dim: _int) -> Tensor:
        """The logarithm of the running sum of exponentials along ``dim``."""
        ...
    def logdet(self) -> Tensor:
        """The logarithm of the determinant; nan where that is negative."""
        ...
    def logical_and(self, other: Tensor) -> Tensor:
        """Where both are not zero."""
        ...
    def logical_and_(self, other: Tensor) -> Self:
        """In-place version of :func:`logical_and`."""
        ...
    def logical_not(self) -> Tensor:
        """Where ``input`` is zero."""
        ...
    def logical_not_(self) -> Self:
        """In-place version of :func:`logical_not`."""
        ...
    def logical_or(self, other: Tensor) -> Tensor:
        """Where at least one is not zero."""
        ...
    def logical_or_(self, other: Tensor) -> Self:
        """In-place version of :func:`logical_or`."""
        ...
    def logical_xor(self, other: Tensor) -> Tensor:
        """Where exactly one is not zero."""
        ...
    def logical_xor_(self, other: Tensor) -> Self:
        """In-place version of :func:`logical_xor`."""
        ...
    def logit(self, eps: _float | None = None) -> Tensor:
        """log(x / (1 - x)), with ``input`` held ``eps`` away from 0 and 1 if that is given."""
        ...
    def logit_(self, eps: _float | None = None) -> Self:
        """In-place version of :func:`logit`."""
        ...
    def logsumexp(self, dim: _int | Sequence[_int] | None, keepdim: _bool = False) -> Tensor:
        """The logarithm of the sum of exponentials over ``dim``, without overflow.

        ``y = log Σ e^x`` without overflow; the gradient is ``g · softmax(x)``.

        >>> torch.logsumexp(torch.tensor([1000.0, 1000.0]), dim=0)
        tensor(1000.6932)
        """
        ...
    def long(self, memory_format: memory_format | None = None) -> Tensor:
        """This tensor as int64."""
        ...
    def lt(self, other: Tensor | Number) -> Tensor:
        """Where ``input`` is less than ``other``."""
        ...
    def lt_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`lt`."""
        ...
    def lu(self, pivot: _bool = True, get_infos: _bool = False,
           out: Tensor | None = None) -> tuple[Tensor, ...]:
        """The factors L and U in one matrix, pivots, and with ``get_infos`` where a zero is met."""
        ...
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
        """The solution X of ``A @ X = input`` from the LU factors of A."""
        ...
    @property
    def mH(self) -> Tensor:
        """The conjugate transpose of the last two dimensions."""
        ...
    @property
    def mT(self) -> Tensor:
        """A view with the last two dimensions exchanged."""
        ...
    def map2_(self, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Self:
        """:meth:`apply_` with a function that is given elements of two other tensors besides."""
        ...
    def map_(self, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Self:
        """:meth:`apply_` with a function that is given an element of another tensor besides."""
        ...
    def masked_fill(self, mask: Tensor, value: Tensor | Number) -> Tensor:
        """``input`` with ``value`` where ``mask`` is true."""
        ...
    def masked_fill_(self, mask: Tensor, value: Tensor | Number) -> Self:
        """Write ``value`` where ``mask`` is true, in place."""
        ...
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """``input`` with the elements of ``source`` put in order where ``mask`` is true."""
        ...
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Self:
        """Put the elements of ``source`` in order where ``mask`` is true, in place."""
        ...
    def masked_select(self, mask: Tensor) -> Tensor:
        """The elements where ``mask`` is true, in one dimension.

        The elements where ``mask`` holds, in one dim.

        >>> torch.masked_select(torch.tensor([1, 2, 3]), torch.tensor([True, False, True]))
        tensor([1, 3])
        """
        ...
    def matmul(self, other: Tensor) -> Tensor:
        """The product of vectors, matrices or batches of matrices, by their numbers of dimensions.

        ``y = A B`` for the last two dims, over all others broadcast; the gradients are ``g Bᵀ`` and
        ``Aᵀ g``.

        >>> torch.matmul(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([1.0, 1.0]))
        tensor([3., 7.])
        """
        ...
    def matrix_exp(self) -> Tensor:
        """The exponential of square matrices."""
        ...
    def matrix_power(self, n: _int) -> Tensor:
        """The ``n``-th power of square matrices, by repeated squaring."""
        ...
    @overload
    def max(self) -> Tensor:
        """The largest element; along ``dim`` also its index; or the larger of two tensors.

        With ``dim`` also the positions, with a second tensor element by element. The gradient goes to
        the element that was found; to all of several equal ones, in equal parts, if none is chosen.

        >>> torch.max(torch.tensor([[1.0, 5.0], [7.0, 2.0]]))
        tensor(7.)
        >>> torch.max(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1).indices
        tensor([1, 0])
        """
        ...
    @overload
    def max(self, dim: _int, keepdim: _bool = False) -> return_types.max:
        """The largest element; along ``dim`` also its index; or the larger of two tensors.

        With ``dim`` also the positions, with a second tensor element by element. The gradient goes to
        the element that was found; to all of several equal ones, in equal parts, if none is chosen.

        >>> torch.max(torch.tensor([[1.0, 5.0], [7.0, 2.0]]))
        tensor(7.)
        >>> torch.max(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1).indices
        tensor([1, 0])
        """
        ...
    @overload
    def max(self, other: Tensor) -> Tensor:
        """The largest element; along ``dim`` also its index; or the larger of two tensors.

        With ``dim`` also the positions, with a second tensor element by element. The gradient goes to
        the element that was found; to all of several equal ones, in equal parts, if none is chosen.

        >>> torch.max(torch.tensor([[1.0, 5.0], [7.0, 2.0]]))
        tensor(7.)
        >>> torch.max(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1).indices
        tensor([1, 0])
        """
        ...
    def maximum(self, other: Tensor) -> Tensor:
        """The greater of two, NaN if either is; equals share the gradient.

        The gradient goes to the operand that was taken, by halves where both are equal.

        >>> torch.maximum(torch.tensor([1.0, 5.0]), torch.tensor([3.0, 2.0]))
        tensor([3., 5.])
        """
        ...
    @overload
    def mean(self, *, dtype: dtype | None = None) -> Tensor:
        """Mean over ``dim``; over every dimension by default.

        ``y = Σ x / n`` over ``dim``, or over everything; every element gets the gradient ``g / n``.

        >>> torch.mean(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=1)
        tensor([1.5000, 3.5000])
        """
        ...
    @overload
    def mean(self, dim: _int | Sequence[_int] | None, keepdim: _bool = False, *,
             dtype: dtype | None = None) -> Tensor:
        """Mean over ``dim``; over every dimension by default.

        ``y = Σ x / n`` over ``dim``, or over everything; every element gets the gradient ``g / n``.

        >>> torch.mean(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=1)
        tensor([1.5000, 3.5000])
        """
        ...
    @overload
    def mean(self, *, dtype: dtype | None = None, axis: _int | Sequence[_int] | None,
             keepdims: _bool = False) -> Tensor:
        """Mean over ``dim``; over every dimension by default.

        ``y = Σ x / n`` over ``dim``, or over everything; every element gets the gradient ``g / n``.

        >>> torch.mean(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=1)
        tensor([1.5000, 3.5000])
        """
        ...
    @overload
    def median(self) -> Tensor:
        """The lower median, along ``dim`` with its index or of all elements.

        Of an even number of values the lower one of the middle two.

        >>> torch.median(torch.tensor([4.0, 1.0, 3.0, 2.0]))
        tensor(2.)
        """
        ...
    @overload
    def median(self, dim: _int, keepdim: _bool = False) -> return_types.median:
        """The lower median, along ``dim`` with its index or of all elements.

        Of an even number of values the lower one of the middle two.

        >>> torch.median(torch.tensor([4.0, 1.0, 3.0, 2.0]))
        tensor(2.)
        """
        ...
    @overload
    def min(self) -> Tensor:
        """The smallest element; along ``dim`` also its index; or the smaller of two tensors.

        With ``dim`` also the positions, with a second tensor element by element. The gradient goes to
        the element that was found; to all of several equal ones, in equal parts, if none is chosen.

        >>> torch.min(torch.tensor([[1.0, 5.0], [7.0, 2.0]]))
        tensor(1.)
        >>> torch.min(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1).indices
        tensor([0, 1])
        """
        ...
    @overload
    def min(self, dim: _int, keepdim: _bool = False) -> return_types.min:
        """The smallest element; along ``dim`` also its index; or the smaller of two tensors.

        With ``dim`` also the positions, with a second tensor element by element. The gradient goes to
        the element that was found; to all of several equal ones, in equal parts, if none is chosen.

        >>> torch.min(torch.tensor([[1.0, 5.0], [7.0, 2.0]]))
        tensor(1.)
        >>> torch.min(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1).indices
        tensor([0, 1])
        """
        ...
    @overload
    def min(self, other: Tensor) -> Tensor:
        """The smallest element; along ``dim`` also its index; or the smaller of two tensors.

        With ``dim`` also the positions, with a second tensor element by element. The gradient goes to
        the element that was found; to all of several equal ones, in equal parts, if none is chosen.

        >>> torch.min(torch.tensor([[1.0, 5.0], [7.0, 2.0]]))
        tensor(1.)
        >>> torch.min(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1).indices
        tensor([0, 1])
        """
        ...
    def minimum(self, other: Tensor) -> Tensor:
        """The smaller of two, NaN if either is; equals share the gradient.

        The gradient goes to the operand that was taken, by halves where both are equal.

        >>> torch.minimum(torch.tensor([1.0, 5.0]), torch.tensor([3.0, 2.0]))
        tensor([1., 2.])
        """
        ...
    def mm(self, mat2: Tensor) -> Tensor:
        """The product of two matrices.

        ``y = A B`` for two matrices; the gradients are ``g Bᵀ`` and ``Aᵀ g``.

        >>> torch.mm(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0], [4.0]]))
        tensor([[11.]])
        """
        ...
    def mode(self, dim: _int = -1, keepdim: _bool = False) -> return_types.mode:
        """The commonest value along ``dim``, and an index of it."""
        ...
    def moveaxis(self, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor:
        """Move dimensions to other positions; the others keep their order."""
        ...
    def movedim(self, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor:
        """Move dimensions to other positions; the others keep their order."""
        ...
    def msort(self) -> Tensor:
        """The elements in ascending order along the first dimension."""
        ...
    def mul(self, other: Tensor | Number) -> Tensor:
        """Product of ``input`` and ``other``, broadcast together.

        ``y = input · other``; each factor's gradient is ``g`` times the other factor.

        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> torch.mul(x, torch.tensor([3.0, 4.0])).sum().backward()
        >>> x.grad
        tensor([3., 4.])
        """
        ...
    def mul_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`mul`."""
        ...
    def multinomial(self, num_samples: _int, replacement: _bool = False, *,
                    generator: Generator | None = None) -> Tensor:
        """Indices drawn with the weights in the rows of ``input``."""
        ...
    def multiply(self, other: Tensor | Number) -> Tensor:
        """Product of ``input`` and ``other``, broadcast together.

        ``y = input · other``; each factor's gradient is ``g`` times the other factor.

        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> torch.mul(x, torch.tensor([3.0, 4.0])).sum().backward()
        >>> x.grad
        tensor([3., 4.])
        """
        ...
    def multiply_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`mul`."""
        ...
    def mv(self, vec: Tensor) -> Tensor:
        """The product of a matrix and a vector."""
        ...
    def mvlgamma(self, p: _int) -> Tensor:
        """The logarithm of the gamma function of ``p`` dimensions."""
        ...
    def mvlgamma_(self, p: _int) -> Self:
        """In-place version of :func:`mvlgamma`."""
        ...
    def nan_to_num(self, nan: _float | None = None, posinf: _float | None = None,
                   neginf: _float | None = None) -> Tensor:
        """``input`` with numbers in place of NaN and the infinities."""
        ...
    def nan_to_num_(self, nan: _float | None = None, posinf: _float | None = None,
                    neginf: _float | None = None) -> Self:
        """In-place version of :func:`nan_to_num`."""
        ...
    def nanmean(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *,
                dtype: dtype | None = None) -> Tensor:
        """Mean of what is not NaN."""
        ...
    @overload
    def nanmedian(self) -> Tensor:
        """The lower median of what is not NaN."""
        ...
    @overload
    def nanmedian(self, dim: _int, keepdim: _bool = False) -> return_types.nanmedian:
        """The lower median of what is not NaN."""
        ...
    def nanquantile(self, q: Tensor | _float, dim: _int | None = None, keepdim: _bool = False, *,
                    interpolation: str = 'linear') -> Tensor:
        """The ``q``-th quantiles of what is not NaN."""
        ...
    def nansum(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *,
               dtype: dtype | None = None) -> Tensor:
        """Sum of what is not NaN."""
        ...
    def narrow(self, dim: _int, start: Tensor | _int, length: _int) -> Tensor:
        """A view of ``length`` positions along ``dim``, from ``start``."""
        ...
    def narrow_copy(self, dim: _int, start: _int, length: _int) -> Tensor:
        """What ``narrow`` shows, in memory of its own."""
        ...
    def ne(self, other: Tensor | Number) -> Tensor:
        """Where ``input`` and ``other`` differ."""
        ...
    def ne_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`ne`."""
        ...
    def neg(self) -> Tensor:
        """The negative.

        ``y = -x``; the gradient is ``-g``.

        >>> torch.neg(torch.tensor([1.0, -2.0]))
        tensor([-1.,  2.])
        """
        ...
    def neg_(self) -> Self:
        """In-place version of :func:`neg`."""
        ...
    def negative(self) -> Tensor:
        """The negative.

        ``y = -x``; the gradient is ``-g``.

        >>> torch.neg(torch.tensor([1.0, -2.0]))
        tensor([-1.,  2.])
        """
        ...
    def negative_(self) -> Self:
        """In-place version of :func:`neg`."""
        ...
    def new(self, *args: Any, **named: Any) -> Tensor:
        """A tensor of this one's dtype from sizes or data."""
        ...
    @overload
    def new_empty(self, *size: _int, dtype: dtype | None = None, layout: layout | None = None,
                  device: Device = None, pin_memory: _bool = False,
                  requires_grad: _bool = False) -> Tensor:
        """As :func:`empty`, with this tensor's dtype by default."""
        ...
    @overload
    def new_empty(self, size: Sequence[_int], *, dtype: dtype | None = None,
                  layout: layout | None = None, device: Device = None, pin_memory: _bool = False,
                  requires_grad: _bool = False) -> Tensor:
        """As :func:`empty`, with this tensor's dtype by default."""
        ...
    def new_empty_strided(self, size: Sequence[_int], stride: Sequence[_int], *,
                          dtype: dtype | None = None, layout: layout | None = None,
                          device: Device = None, pin_memory: _bool = False,
                          requires_grad: _bool = False) -> Tensor:
        """As :func:`empty_strided`, with this tensor's dtype by default."""
        ...
    def new_full(self, size: Sequence[_int], fill_value: Number, *, dtype: dtype | None = None,
                 layout: layout | None = None, device: Device = None, pin_memory: _bool = False,
                 requires_grad: _bool = False) -> Tensor:
        """As :func:`full`, with this tensor's dtype by default."""
        ...
    @overload
    def new_ones(self, *size: _int, dtype: dtype | None = None, layout: layout | None = None,
                 device: Device = None, pin_memory: _bool = False,
                 requires_grad: _bool = False) -> Tensor:
        """As :func:`ones`, with this tensor's dtype by default."""
        ...
    @overload
    def new_ones(self, size: Sequence[_int], *, dtype: dtype | None = None,
                 layout: layout | None = None, device: Device = None, pin_memory: _bool = False,
                 requires_grad: _bool = False) -> Tensor:
        """As :func:`ones`, with this tensor's dtype by default."""
        ...
    def new_tensor(self, data: Any, *, dtype: dtype | None = None, device: Device = None,
                   requires_grad: _bool = False, layout: layout | None = None,
                   pin_memory: _bool = False) -> Tensor:
        """A new tensor with a copy of ``data``, of this tensor's dtype by default."""
        ...
    @overload
    def new_zeros(self, *size: _int, dtype: dtype | None = None, layout: layout | None = None,
                  device: Device = None, pin_memory: _bool = False,
                  requires_grad: _bool = False) -> Tensor:
        """As :func:`zeros`, with this tensor's dtype by default."""
        ...
    @overload
    def new_zeros(self, size: Sequence[_int], *, dtype: dtype | None = None,
                  layout: layout | None = None, device: Device = None, pin_memory: _bool = False,
                  requires_grad: _bool = False) -> Tensor:
        """As :func:`zeros`, with this tensor's dtype by default."""
        ...
    def nextafter(self, other: Tensor) -> Tensor:
        """The next number after ``input`` in the direction of ``other``."""
        ...
    def nextafter_(self, other: Tensor) -> Self:
        """In-place version of :func:`nextafter`."""
        ...
    @overload
    def nonzero(self, *, as_tuple: Literal[False] = False) -> Tensor:
        """The coordinates of the non-zero elements: one row each, or one tensor per dimension.

        A row of indices for each element that is not zero.

        >>> torch.nonzero(torch.tensor([0, 3, 0, 4]))
        tensor([[1],
                [3]])
        """
        ...
    @overload
    def nonzero(self, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]:
        """The coordinates of the non-zero elements: one row each, or one tensor per dimension.

        A row of indices for each element that is not zero.

        >>> torch.nonzero(torch.tensor([0, 3, 0, 4]))
        tensor([[1],
                [3]])
        """
        ...
    def nonzero_static(self, *, size: _int, fill_value: _int = -1) -> Tensor:
        """The coordinates of the first ``size`` non-zero elements, filled up with ``fill_value``."""
        ...
    def norm(self, p: _float | str | None = 'fro', dim: _int | Sequence[_int] | None = None,
             keepdim: _bool = False, out: Tensor | None = None,
             dtype: dtype | None = None) -> Tensor:
        """The ``p``-norm over ``dim``: a number, "fro" or "nuc"."""
        ...
    def normal_(self, mean: _float = 0.0, std: _float = 1.0, *,
                generator: Generator | None = None) -> Self:
        """In-place version of :func:`normal`."""
        ...
    def not_equal(self, other: Tensor | Number) -> Tensor:
        """Where ``input`` and ``other`` differ."""
        ...
    def not_equal_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`ne`."""
        ...
    def orgqr(self, tau: Tensor) -> Tensor:
        """The first columns of the product of the reflections that ``geqrf`` gives."""
        ...
    def ormqr(self, input2: Tensor, input3: Tensor, left: _bool = True,
              transpose: _bool = False) -> Tensor:
        """``Q @ input3``, or ``input3 @ Q``, of the Q that the reflections of ``geqrf`` make."""
        ...
    def outer(self, vec2: Tensor) -> Tensor:
        """The matrix of all products of two vectors' elements.

        ``yᵢⱼ = aᵢ bⱼ``.

        >>> torch.outer(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
        tensor([[3., 4.],
                [6., 8.]])
        """
        ...
    @overload
    def permute(self, *dims: _int) -> Tensor:
        """A view with its dimensions in another order."""
        ...
    @overload
    def permute(self, dims: Sequence[_int]) -> Tensor:
        """A view with its dimensions in another order."""
        ...
    def pin_memory(self, device: Device = None) -> Tensor:
        ...
    def pinverse(self, rcond: _float = 1e-15) -> Tensor:
        """The pseudo-inverse."""
        ...
    def polygamma(self, n: _int) -> Tensor:
        """The ``n``-th derivative of digamma."""
        ...
    def polygamma_(self, n: _int) -> Self:
        """In-place version of :func:`polygamma`."""
        ...
    def positive(self) -> Tensor:
        """``input`` itself."""
        ...
    def pow(self, exponent: Tensor | Number) -> Tensor:
        """``input`` to the power of ``exponent``; either may be a number.

        ``y = input ** exponent``; the gradients are ``g · exponent · input^(exponent - 1)`` and
        ``g · y · log(input)``.

        >>> torch.pow(torch.tensor([1.0, 2.0, 3.0]), 2)
        tensor([1., 4., 9.])
        """
        ...
    def pow_(self, exponent: Tensor | Number) -> Self:
        """In-place version of :func:`pow`."""
        ...
    def prelu(self, weight: Tensor) -> Tensor:
        """``input``, times a learned slope where it is negative; one slope, or one per channel."""
        ...
    @overload
    def prod(self, *, dtype: dtype | None = None) -> Tensor:
        """Product along ``dim``; of all elements by default.

        ``y = Π x``; the gradient of an element is ``g`` times the product of the others, also where
        some are zero.

        >>> torch.prod(torch.tensor([2.0, 3.0, 4.0]))
        tensor(24.)
        """
        ...
    @overload
    def prod(self, dim: _int, keepdim: _bool = False, *, dtype: dtype | None = None) -> Tensor:
        """Product along ``dim``; of all elements by default.

        ``y = Π x``; the gradient of an element is ``g`` times the product of the others, also where
        some are zero.

        >>> torch.prod(torch.tensor([2.0, 3.0, 4.0]))
        tensor(24.)
        """
        ...
    def put(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """``input`` with ``source`` written at ``index``, counted through the flattened tensor."""
        ...
    def put_(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Self:
        """Write ``source`` at ``index``, counted through the flattened tensor, in place."""
        ...
    def qr(self, some: _bool = True) -> return_types.qr:
        """An orthogonal Q and an upper triangular R with ``input = Q @ R``."""
        ...
    def quantile(self, q: Tensor | _float, dim: _int | None = None, keepdim: _bool = False, *,
                 interpolation: str = 'linear') -> Tensor:
        """The ``q``-th quantiles along ``dim``, or of all elements; a tensor ``q`` comes first."""
        ...
    def rad2deg(self) -> Tensor:
        """Radians as degrees."""
        ...
    def rad2deg_(self) -> Self:
        """In-place version of :func:`rad2deg`."""
        ...
    @overload
    def random_(self, *, generator: Generator | None = None) -> Self:
        """Integers from ``[from, to)``, or the whole range of the dtype, in place."""
        ...
    @overload
    def random_(self, to: _int, /, *, generator: Generator | None = None) -> Self:
        """Integers from ``[from, to)``, or the whole range of the dtype, in place."""
        ...
    @overload
    def random_(self, low: _int, to: _int | None, /, *, generator: Generator | None = None) -> Self:
        """Integers from ``[from, to)``, or the whole range of the dtype, in place."""
        ...
    def ravel(self) -> Tensor:
        """All elements in one dimension."""
        ...
    @property
    def real(self) -> Tensor:
        """The real part, as a view; a real tensor is its own."""
        ...
    @real.setter
    def real(self, value: Tensor) -> None: ...
    def reciprocal(self) -> Tensor:
        """One over ``input``.

        ``y = 1 / x``; the gradient is ``-g · y²``.

        >>> torch.reciprocal(torch.tensor([2.0, 4.0]))
        tensor([0.5000, 0.2500])
        """
        ...
    def reciprocal_(self) -> Self:
        """In-place version of :func:`reciprocal`."""
        ...
    def relu(self) -> Tensor:
        """``input``, or 0 where it is negative."""
        ...
    def relu_(self) -> Self:
        """In-place version of :func:`relu`."""
        ...
    def remainder(self, other: Tensor | Number) -> Tensor:
        """What is left of ``input`` after division by ``other``, with the sign of ``other``."""
        ...
    def remainder_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`remainder`."""
        ...
    def renorm(self, p: _float, dim: _int, maxnorm: _float) -> Tensor:
        """Scale each slice along ``dim`` whose ``p``-norm exceeds ``maxnorm`` down to it."""
        ...
    def renorm_(self, p: _float, dim: _int, maxnorm: _float) -> Self:
        """In-place version of :func:`renorm`."""
        ...
    @overload
    def repeat(self, *repeats: _int) -> Tensor:
        """``input`` copied ``repeats`` times along each dimension."""
        ...
    @overload
    def repeat(self, repeats: Sequence[_int]) -> Tensor:
        """``input`` copied ``repeats`` times along each dimension."""
        ...
    def repeat_interleave(self, repeats: Tensor | _int | None = None, dim: _int | None = None, *,
                          output_size: _int | None = None) -> Tensor:
        """``input`` with each element (or each slice along ``dim``) repeated in place.

        Each element as often as ``repeats`` says.

        >>> torch.repeat_interleave(torch.tensor([1, 2]), torch.tensor([1, 3]))
        tensor([1, 2, 2, 2])
        """
        ...
    @overload
    def reshape(self, *shape: _int) -> Tensor:
        """``input`` in another shape; a view where its memory allows."""
        ...
    @overload
    def reshape(self, shape: Sequence[_int]) -> Tensor:
        """``input`` in another shape; a view where its memory allows."""
        ...
    def reshape_as(self, other: Tensor) -> Tensor:
        """``input`` reshaped to ``other``'s shape."""
        ...
    def resize(self, *sizes: _int) -> Tensor:
        """The same elements in another shape; deprecated."""
        ...
    @overload
    def resize_(self, *size: _int, memory_format: memory_format | None = None) -> Self:
        """Take another size in place: the same memory where it suffices, grown where not."""
        ...
    @overload
    def resize_(self, size: Sequence[_int], *, memory_format: memory_format | None = None) -> Self:
        """Take another size in place: the same memory where it suffices, grown where not."""
        ...
    def resize_as(self, tensor: Tensor) -> Tensor:
        """The same elements in the shape of another tensor; deprecated."""
        ...
    def resize_as_(self, the_template: Tensor, memory_format: memory_format | None = None) -> Self:
        """Take ``the_template``'s size in place."""
        ...
    def resolve_conj(self) -> Tensor:
        """``input`` itself: conjugates are never pending here."""
        ...
    def resolve_neg(self) -> Tensor:
        """``input`` itself: negations are never pending here."""
        ...
    def roll(self, shifts: _int | Sequence[_int], dims: _int | Sequence[_int] = ()) -> Tensor:
        """``input`` shifted along ``dims``; what leaves at the end enters at the front.

        What is shifted out at one end comes in at the other.

        >>> torch.roll(torch.arange(5), 2)
        tensor([3, 4, 0, 1, 2])
        """
        ...
    def rot90(self, k: _int = 1, dims: Sequence[_int] = ...) -> Tensor:
        """``input`` turned by ``k`` times 90 degrees in the plane of ``dims``."""
        ...
    def round(self, *, decimals: _int = 0) -> Tensor:
        """The nearest integer, or the nearest number with that many decimals; ties go to even.

        To the nearest whole number, halves to the even one, or to some ``decimals``; the gradient is
        zero.

        >>> torch.round(torch.tensor([0.5, 1.5, 2.567]), decimals=1)
        tensor([0.5000, 1.5000, 2.6000])
        """
        ...
    def round_(self, *, decimals: _int = 0) -> Self:
        """In-place version of :func:`round`."""
        ...
    def row_indices(self) -> Tensor:
        """``row_indices`` of a sparse tensor; a dense one has none."""
        ...
    def rsqrt(self) -> Tensor:
        """One over the square root.

        ``y = 1 / √x``; the gradient is ``-g · y³ / 2``.

        >>> torch.rsqrt(torch.tensor([4.0, 1.0]))
        tensor([0.5000, 1.0000])
        """
        ...
    def rsqrt_(self) -> Self:
        """In-place version of :func:`rsqrt`."""
        ...
    def scatter(self, dim: _int, index: Tensor, src: Tensor | Number | None = None, *,
                value: Number | None = None, reduce: str | None = None) -> Tensor:
        """``input`` with ``src`` (or a number) written where ``index`` points along ``dim``."""
        ...
    def scatter_(self, dim: _int, index: Tensor, src: Tensor | Number | None = None, *,
                 value: Number | None = None, reduce: str | None = None) -> Self:
        """Write ``src`` (or a number) where ``index`` points along ``dim``, in place."""
        ...
    def scatter_add(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """``input`` with ``src`` added where ``index`` points along ``dim``."""
        ...
    def scatter_add_(self, dim: _int, index: Tensor, src: Tensor) -> Self:
        """In-place version of :func:`scatter_add`."""
        ...
    def scatter_reduce(self, dim: _int, index: Tensor, src: Tensor, reduce: str, *,
                       include_self: _bool = True) -> Tensor:
        """``input`` with ``src`` reduced into it where ``index`` points along ``dim``."""
        ...
    def scatter_reduce_(self, dim: _int, index: Tensor, src: Tensor, reduce: str, *,
                        include_self: _bool = True) -> Self:
        """In-place version of :func:`scatter_reduce`."""
        ...
    def select(self, dim: _int, index: _int) -> Tensor:
        """A view of one position along ``dim``, which disappears."""
        ...
    def select_scatter(self, src: Tensor, dim: _int, index: _int) -> Tensor:
        """``input`` with ``src`` in place of one position along ``dim``."""
        ...
    def set_(self, source: Any = None, storage_offset: _int = 0, size: Sequence[_int] | None = None,
             stride: Sequence[_int] | None = None) -> Self:
        """Share the memory of ``source`` from now on."""
        ...
    def sgn(self) -> Tensor:
        """-1, 0 or 1; of a complex number the unit in its direction."""
        ...
    def sgn_(self) -> Self:
        """In-place version of :func:`sgn`."""
        ...
    def share_memory_(self) -> Self:
        """Move this tensor's memory to where other processes can see it too."""
        ...
    def short(self, memory_format: memory_format | None = None) -> Tensor:
        """This tensor as int16."""
        ...
    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(-x)).

        ``y = 1 / (1 + e^-x)``; the gradient is ``g · y · (1 - y)``.

        >>> torch.sigmoid(torch.tensor([-2.0, 0.0, 2.0]))
        tensor([0.1192, 0.5000, 0.8808])
        """
        ...
    def sigmoid_(self) -> Self:
        """In-place version of :func:`sigmoid`."""
        ...
    def sign(self) -> Tensor:
        """-1, 0 or 1.

        -1, 0 or 1; the gradient is zero everywhere.

        >>> torch.sign(torch.tensor([-2.5, 0.0, 4.0]))
        tensor([-1.,  0.,  1.])
        """
        ...
    def sign_(self) -> Self:
        """In-place version of :func:`sign`."""
        ...
    def signbit(self) -> Tensor:
        """Where the sign bit is set; it is for -0.0."""
        ...
    def sin(self) -> Tensor:
        """The sine.

        ``y = sin x``; the gradient is ``g · cos x``.

        >>> torch.sin(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8415])
        """
        ...
    def sin_(self) -> Self:
        """In-place version of :func:`sin`."""
        ...
    def sinc(self) -> Tensor:
        """sin(πx) / πx, which is 1 at 0."""
        ...
    def sinc_(self) -> Self:
        """In-place version of :func:`sinc`."""
        ...
    def sinh(self) -> Tensor:
        """The hyperbolic sine."""
        ...
    def sinh_(self) -> Self:
        """In-place version of :func:`sinh`."""
        ...
    def slice_scatter(self, src: Tensor, dim: _int = 0, start: _int | None = None,
                      end: _int | None = None, step: _int = 1) -> Tensor:
        """``input`` with ``src`` in place of a slice along ``dim``."""
        ...
    def slogdet(self) -> return_types.slogdet:
        """The sign of the determinant and the logarithm of its absolute value."""
        ...
    def smm(self, mat: Tensor) -> Tensor:
        """The product of a sparse and a dense matrix, as a sparse one."""
        ...
    def softmax(self, dim: _int, dtype: dtype | None = None) -> Tensor:
        """Exponentials along ``dim``, divided by their sum."""
        ...
    def sort(self, dim: _int = -1, descending: _bool = False, *,
             stable: _bool | None = None) -> return_types.sort:
        """The elements in order along ``dim``, and the indices they had; equal ones keep theirs.

            Without ``stable``, equal elements of bool and half precision may stand as PyTorch leaves them.
            

        The gradient goes back to where the values came from.

        >>> torch.sort(torch.tensor([3.0, 1.0, 2.0])).indices
        tensor([1, 2, 0])
        """
        ...
    def sparse_dim(self) -> _int:
        """How many dimensions the places of a sparse tensor's elements have: none of a dense one."""
        ...
    def sparse_mask(self, mask: Tensor) -> Tensor:
        """The elements of a tensor where a sparse one has its own."""
        ...
    def split(self, split_size: _int | Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """Views of parts of one length (the last may be shorter), or of the given lengths."""
        ...
    def split_with_sizes(self, split_sizes: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """Views of consecutive parts of the given lengths along ``dim``."""
        ...
    def sqrt(self) -> Tensor:
        """The square root.

        ``y = √x``; the gradient is ``g / 2y``.

        >>> torch.sqrt(torch.tensor([4.0, 2.0]))
        tensor([2.0000, 1.4142])
        """
        ...
    def sqrt_(self) -> Self:
        """In-place version of :func:`sqrt`."""
        ...
    def square(self) -> Tensor:
        """``input`` times itself.

        ``y = x²``; the gradient is ``2 · g · x``.

        >>> torch.square(torch.tensor([-2.0, 3.0]))
        tensor([4., 9.])
        """
        ...
    def square_(self) -> Self:
        """In-place version of :func:`square`."""
        ...
    def squeeze(self, dim: _int | Sequence[_int] | None = None, *,
                axis: _int | Sequence[_int] | None = None) -> Tensor:
        """A view without its dimensions of length one.

        A view without the dims of size 1, or without those that are named.

        >>> torch.squeeze(torch.ones(1, 2, 1)).shape
        torch.Size([2])
        """
        ...
    def squeeze_(self, dim: _int | Sequence[_int] | None = None) -> Self:
        """Drop dimensions of length one in place."""
        ...
    def sspaddmm(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1,
                 alpha: Number = 1) -> Tensor:
        """A sparse matrix times ``beta``, and a product as of :func:`smm` times ``alpha``."""
        ...
    def std(self, dim: _int | Sequence[_int] | None = None, unbiased: _bool | None = None,
            keepdim: _bool = False, *, correction: _float | None = None) -> Tensor:
        """Standard deviation over ``dim``: the square root of the variance.

        The square root of the variance; the gradient is ``g · (x - mean) / ((n - correction) · y)``.

        >>> torch.std(torch.tensor([1.0, 2.0, 3.0, 4.0]))
        tensor(1.2910)
        """
        ...
    def stft(self, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None,
             window: Tensor | None = None, center: _bool = True, pad_mode: str = 'reflect',
             normalized: _bool = False, onesided: _bool | None = None,
             return_complex: _bool | None = None, align_to_window: _bool | None = None) -> Tensor:
        """The spectra of windows that lie ``hop_length`` apart on a signal: frequencies by windows."""
        ...
    def sub(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """Difference of ``input`` and ``alpha`` times ``other``.

        ``y = input - alpha · other``; the gradients are ``g`` and ``-alpha · g``.

        >>> torch.sub(torch.tensor([5.0, 7.0]), 2)
        tensor([3., 5.])
        """
        ...
    def sub_(self, other: Tensor | Number, *, alpha: Number = 1) -> Self:
        """In-place version of :func:`sub`."""
        ...
    def subtract(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """Difference of ``input`` and ``alpha`` times ``other``.

        ``y = input - alpha · other``; the gradients are ``g`` and ``-alpha · g``.

        >>> torch.sub(torch.tensor([5.0, 7.0]), 2)
        tensor([3., 5.])
        """
        ...
    def subtract_(self, other: Tensor | Number, *, alpha: Number = 1) -> Self:
        """In-place version of :func:`sub`."""
        ...
    @overload
    def sum(self, *, dtype: dtype | None = None) -> Tensor:
        """Sum over ``dim``; over every dimension by default.

        ``y = Σ x`` over ``dim``, or over everything; every summand gets the gradient ``g``.

        >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> torch.sum(x), torch.sum(x, dim=0)
        (tensor(10.), tensor([4., 6.]))
        """
        ...
    @overload
    def sum(self, dim: _int | Sequence[_int] | None, keepdim: _bool = False, *,
            dtype: dtype | None = None) -> Tensor:
        """Sum over ``dim``; over every dimension by default.

        ``y = Σ x`` over ``dim``, or over everything; every summand gets the gradient ``g``.

        >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> torch.sum(x), torch.sum(x, dim=0)
        (tensor(10.), tensor([4., 6.]))
        """
        ...
    @overload
    def sum(self, *, dtype: dtype | None = None, axis: _int | Sequence[_int] | None,
            keepdims: _bool = False) -> Tensor:
        """Sum over ``dim``; over every dimension by default.

        ``y = Σ x`` over ``dim``, or over everything; every summand gets the gradient ``g``.

        >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> torch.sum(x), torch.sum(x, dim=0)
        (tensor(10.), tensor([4., 6.]))
        """
        ...
    @overload
    def sum_to_size(self, *size: _int) -> Tensor:
        """Sum ``input`` down to ``size``, which must broadcast to its shape."""
        ...
    @overload
    def sum_to_size(self, size: Sequence[_int]) -> Tensor:
        """Sum ``input`` down to ``size``, which must broadcast to its shape."""
        ...
    def svd(self, some: _bool = True, compute_uv: _bool = True) -> return_types.svd:
        """The singular value decomposition ``input = U @ diag(S) @ V.mH``."""
        ...
    def swapaxes(self, dim0: _int, dim1: _int) -> Tensor:
        """A view with two dimensions exchanged.

        A view with two dims exchanged.

        >>> torch.transpose(torch.ones(2, 3, 4), 0, 2).shape
        torch.Size([4, 3, 2])
        """
        ...
    def swapaxes_(self, dim0: _int, dim1: _int) -> Self:
        """Exchange two dimensions in place."""
        ...
    def swapdims(self, dim0: _int, dim1: _int) -> Tensor:
        """A view with two dimensions exchanged.

        A view with two dims exchanged.

        >>> torch.transpose(torch.ones(2, 3, 4), 0, 2).shape
        torch.Size([4, 3, 2])
        """
        ...
    def swapdims_(self, dim0: _int, dim1: _int) -> Self:
        """Exchange two dimensions in place."""
        ...
    def t(self) -> Tensor:
        """The transpose of a matrix; a vector is left as it is."""
        ...
    def t_(self) -> Self:
        """Transpose this matrix in place."""
        ...
    def take(self, index: Tensor) -> Tensor:
        """The elements at ``index``, counted through the flattened ``input``."""
        ...
    def take_along_dim(self, indices: Tensor, dim: _int | None = None) -> Tensor:
        """The elements whose coordinate along ``dim`` is given by ``indices``, broadcast together."""
        ...
    def tan(self) -> Tensor:
        """The tangent.

        ``y = tan x``; the gradient is ``g · (1 + y²)``.

        >>> torch.tan(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 1.5574])
        """
        ...
    def tan_(self) -> Self:
        """In-place version of :func:`tan`."""
        ...
    def tanh(self) -> Tensor:
        """The hyperbolic tangent.

        ``y = (e^x - e^-x) / (e^x + e^-x)``; the gradient is ``g · (1 - y²)``.

        >>> torch.tanh(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.7616,  0.0000,  0.7616])
        """
        ...
    def tanh_(self) -> Self:
        """In-place version of :func:`tanh`."""
        ...
    def tensor_split(self, indices_or_sections: Tensor | _int | Sequence[_int],
                     dim: _int = 0) -> tuple[Tensor, ...]:
        """Views of ``n`` nearly equal parts, or of the parts between the given indices."""
        ...
    @overload
    def tile(self, *dims: _int) -> Tensor:
        """``input`` copied ``dims`` times, counted from the last dimension."""
        ...
    @overload
    def tile(self, dims: Sequence[_int]) -> Tensor:
        """``input`` copied ``dims`` times, counted from the last dimension."""
        ...
    @overload
    def to(self, dtype: dtype, non_blocking: _bool = False, copy: _bool = False, *,
           memory_format: memory_format | None = None) -> Tensor:
        """This tensor with another dtype or device; itself if nothing changes."""
        ...
    @overload
    def to(self, device: Device = None, dtype: dtype | None = None, non_blocking: _bool = False,
           copy: _bool = False, *, memory_format: memory_format | None = None) -> Tensor:
        """This tensor with another dtype or device; itself if nothing changes."""
        ...
    @overload
    def to(self, other: Tensor, non_blocking: _bool = False, copy: _bool = False, *,
           memory_format: memory_format | None = None) -> Tensor:
        """This tensor with another dtype or device; itself if nothing changes."""
        ...
    def to_dense(self, dtype: dtype | None = None, *, masked_grad: _bool | None = None) -> Tensor:
        """The same tensor with all its elements; a sparse gradient has those of the sparse tensor."""
        ...
    def to_sparse(self, sparse_dim: _int | None = None, *, layout: layout | None = None,
                  blocksize: _int | None = None, dense_dim: _int | None = None) -> Tensor:
        """The elements that are not zero, as a sparse tensor."""
        ...
    def to_sparse_coo(self) -> Tensor:
        """The same tensor by coordinates."""
        ...
    def to_sparse_csc(self, dense_dim: _int | None = None) -> Tensor:
        """The same matrix in compressed columns."""
        ...
    def to_sparse_csr(self, dense_dim: _int | None = None) -> Tensor:
        """The same matrix in compressed rows."""
        ...
    def topk(self, k: _int, dim: _int = -1, largest: _bool = True,
             sorted: _bool = True) -> return_types.topk:
        """The ``k`` largest (or smallest) elements along ``dim``, and their indices.

        The gradient goes back to the elements that were found.

        >>> torch.topk(torch.tensor([1.0, 5.0, 3.0]), 2).values
        tensor([5., 3.])
        """
        ...
    def trace(self) -> Tensor:
        """The sum of a matrix's diagonal."""
        ...
    def transpose(self, dim0: _int, dim1: _int) -> Tensor:
        """A view with two dimensions exchanged.

        A view with two dims exchanged.

        >>> torch.transpose(torch.ones(2, 3, 4), 0, 2).shape
        torch.Size([4, 3, 2])
        """
        ...
    def transpose_(self, dim0: _int, dim1: _int) -> Self:
        """Exchange two dimensions in place."""
        ...
    def triangular_solve(self, A: Tensor, upper: _bool = True, transpose: _bool = False,
                         unitriangular: _bool = False) -> return_types.triangular_solve:
        """The solution X of ``A @ X = b`` for triangular ``A``, and a copy of A."""
        ...
    def tril(self, diagonal: _int = 0) -> Tensor:
        """The lower triangle of matrices; zeros above ``diagonal``.

        What lies beyond the ``diagonal`` is zero, and has no gradient.

        >>> torch.tril(torch.ones(2, 3))
        tensor([[1., 0., 0.],
                [1., 1., 0.]])
        """
        ...
    def tril_(self, diagonal: _int = 0) -> Self:
        """In-place version of :func:`tril`."""
        ...
    def triu(self, diagonal: _int = 0) -> Tensor:
        """The upper triangle of matrices; zeros below ``diagonal``.

        What lies beyond the ``diagonal`` is zero, and has no gradient.

        >>> torch.triu(torch.ones(2, 3))
        tensor([[1., 1., 1.],
                [0., 1., 1.]])
        """
        ...
    def triu_(self, diagonal: _int = 0) -> Self:
        """In-place version of :func:`triu`."""
        ...
    def true_divide(self, other: Tensor | Number) -> Tensor:
        """Quotient of ``input`` and ``other``; integers divide to the default float."""
        ...
    def true_divide_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`div`."""
        ...
    def trunc(self) -> Tensor:
        """The integer part."""
        ...
    def trunc_(self) -> Self:
        """In-place version of :func:`trunc`."""
        ...
    @overload
    def type(self, dtype: None = None, non_blocking: _bool = False) -> str:
        """The name of this tensor's type, or this tensor as another type."""
        ...
    @overload
    def type(self, dtype: dtype | str | _type, non_blocking: _bool = False) -> Tensor:
        """The name of this tensor's type, or this tensor as another type."""
        ...
    def type_as(self, other: Tensor) -> Tensor:
        """This tensor in ``other``'s dtype."""
        ...
    def unbind(self, dim: _int = 0) -> tuple[Tensor, ...]:
        """The views of each position along ``dim``, as a tuple."""
        ...
    def unflatten(self, dim: _int, sizes: _int | Sequence[_int]) -> Tensor:
        """Split dimension ``dim`` into ``sizes``."""
        ...
    def unfold(self, dimension: _int, size: _int, step: _int) -> Tensor:
        """A view of sliding windows along ``dimension``, as a new last dimension."""
        ...
    def uniform_(self, low: _float = 0, high: _float = 1, /, *,
                 generator: Generator | None = None) -> Self:
        """Uniform draws from ``[from, to)``, in place."""
        ...
    @overload
    def unique(self, sorted: _bool = True, return_inverse: Literal[False] = False,
               return_counts: Literal[False] = False, dim: _int | None = None) -> Tensor:
        """The distinct elements, or slices along ``dim``, in ascending order.

        What occurs, sorted; and on demand where and how often.

        >>> torch.unique(torch.tensor([3, 1, 3, 2]), return_counts=True)
        (tensor([1, 2, 3]), tensor([1, 1, 2]))
        """
        ...
    @overload
    def unique(self, sorted: _bool = True, return_inverse: _bool = False,
               return_counts: _bool = False, dim: _int | None = None) -> Any:
        """The distinct elements, or slices along ``dim``, in ascending order.

        What occurs, sorted; and on demand where and how often.

        >>> torch.unique(torch.tensor([3, 1, 3, 2]), return_counts=True)
        (tensor([1, 2, 3]), tensor([1, 1, 2]))
        """
        ...
    @overload
    def unique_consecutive(self, return_inverse: Literal[False] = False,
                           return_counts: Literal[False] = False,
                           dim: _int | None = None) -> Tensor:
        """The first of every run of equal elements, or of equal slices along ``dim``."""
        ...
    @overload
    def unique_consecutive(self, return_inverse: _bool = False, return_counts: _bool = False,
                           dim: _int | None = None) -> Any:
        """The first of every run of equal elements, or of equal slices along ``dim``."""
        ...
    def unsafe_chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """:func:`chunk` whose parts may be written to without the others noticing."""
        ...
    def unsafe_split(self, split_size: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """:func:`split` whose parts may be written to without the others noticing."""
        ...
    def unsafe_split_with_sizes(self, split_sizes: Sequence[_int],
                                dim: _int = 0) -> tuple[Tensor, ...]:
        """:func:`split` by lengths whose parts may be written to without the others noticing."""
        ...
    def unsqueeze(self, dim: _int) -> Tensor:
        """A view with a dimension of length one inserted at ``dim``.

        A view with a dim of size 1 more.

        >>> torch.unsqueeze(torch.tensor([1, 2]), 1)
        tensor([[1],
                [2]])
        """
        ...
    def unsqueeze_(self, dim: _int) -> Self:
        """Insert a dimension of length one in place."""
        ...
    def values(self) -> Tensor:
        """``values`` of a sparse tensor; a dense one has none."""
        ...
    def var(self, dim: _int | Sequence[_int] | None = None, unbiased: _bool | None = None,
            keepdim: _bool = False, *, correction: _float | None = None) -> Tensor:
        """Variance over ``dim``; ``correction`` is taken from the count that it is divided by.

        ``y = Σ (x - mean)² / (n - correction)``; the gradient is
        ``2 · g · (x - mean) / (n - correction)``.

        >>> torch.var(torch.tensor([1.0, 2.0, 3.0, 4.0]))
        tensor(1.6667)
        """
        ...
    def vdot(self, other: Tensor) -> Tensor:
        """The dot product with the first vector conjugated."""
        ...
    @overload
    def view(self, dtype: dtype) -> Tensor:
        """A view in another shape, or of the same memory as another dtype."""
        ...
    @overload
    def view(self, *size: _int) -> Tensor:
        """A view in another shape, or of the same memory as another dtype."""
        ...
    @overload
    def view(self, size: Sequence[_int]) -> Tensor:
        """A view in another shape, or of the same memory as another dtype."""
        ...
    def view_as(self, other: Tensor) -> Tensor:
        """``input`` viewed in ``other``'s shape."""
        ...
    @property
    def volatile(self) -> Tensor:
        ...
    @volatile.setter
    def volatile(self, value: Tensor) -> None: ...
    def vsplit(self, indices_or_sections: Tensor | _int | Sequence[_int]) -> tuple[Tensor, ...]:
        """Views of parts below each other."""
        ...
    def where(self, condition: Tensor, other: Tensor | Number) -> Tensor:
        """``input`` where ``condition`` holds, ``other`` elsewhere."""
        ...
    def xlogy(self, other: Tensor | Number) -> Tensor:
        """``input`` times the logarithm of ``other``, 0 where ``input`` is 0."""
        ...
    def xlogy_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`xlogy`."""
        ...
    def zero_(self) -> Self:
        """Overwrite every element with zero."""
        ...
