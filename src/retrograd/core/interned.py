"""What ordinary data looks like: one object for each shape and dtype that occurs.

Generated code asks whether two tensors have the same form by identity, which takes the place of
comparing their shapes, dtypes and types. Only plain tensors of single or double precision ever get
one (``Tensor._form``), when they are made by themselves or met another; None means that nothing is
known.
"""

from __future__ import annotations

import math
from typing import Any

from ..backend import xp
from ..backend.numpy import LARGE, ndarray
from .graph import Like
from .tensor import Tensor


class Form(Like):
    """The shape and dtype of an array, or of a NumPy scalar."""

    __slots__ = ("numbers",)

    def __init__(self, shape: tuple[int, ...], dtype: Any, numbers: Constants):
        super().__init__(shape, dtype)
        self.numbers = numbers  # what Python numbers become when they meet data of this form


_MANY = 4096  # numbers, or shapes: then all are forgotten


class Constants(dict[Any, Tensor]):
    """Python numbers as zero-dim tensors of one dtype, made once and kept."""

    def __init__(self, dtype: Any, as_scalar: bool = False):
        self.dtype, self.as_scalar = dtype, as_scalar

    def __missing__(self, number: Any) -> Tensor:
        made = object.__new__(Tensor)
        made._data = xp.asarray(number, dtype=self.dtype)
        if self.as_scalar:
            made._data = made._data[()]
        made._form = made._edge = made._view = made._vc = made._cut = None
        made._wrapped_number = True
        # 0.0 == -0.0, and nan is never found again: neither can be a key.
        if number and number == number:
            if len(self) > _MANY:
                self.clear()
            self[number] = made
        return made


class ArrayForms(dict[tuple[int, ...], Form | None]):
    """The forms of arrays of one dtype, by shape; zero-dim arrays have none, nor have large ones.

    So whoever knows a form knows that it is not of an array that threads would compute.
    """

    def __init__(self, dtype: Any):
        self.dtype = dtype
        self.numbers = Constants(dtype)

    def __missing__(self, shape: tuple[int, ...]) -> Form | None:
        # An equal form made after this compares as another: slower, not wrong.
        if len(self) > _MANY:
            self.clear()
        self[shape] = made = Form(shape, self.dtype, self.numbers) \
            if math.prod(shape) < LARGE else None
        return made


ARRAYS_4, ARRAYS_8 = ArrayForms(xp.FLOAT32), ArrayForms(xp.FLOAT64)


def form_of(data: Any) -> Form | None:
    """The form of an array, if it may have one."""
    if type(data) is not ndarray or not data.ndim:
        return None
    dtype = data.dtype
    return ARRAYS_4[data.shape] if dtype is xp.FLOAT32 else \
        ARRAYS_8[data.shape] if dtype is xp.FLOAT64 else None


NUMBERS_4, NUMBERS_8 = Constants(xp.FLOAT32, True), Constants(xp.FLOAT64, True)
SCALAR_FORMS = {xp.FLOAT32.type: Form((), xp.FLOAT32, NUMBERS_4),
                xp.FLOAT64.type: Form((), xp.FLOAT64, NUMBERS_8)}
"""The forms of NumPy scalars, by their class."""
