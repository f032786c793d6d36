"""Messages worded as PyTorch words them, in one place."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any


def noted(error: BaseException, note: str) -> BaseException:
    """An error with a note below its message, if there is one to add.

    To be raised where it is made: a variable of its own would make a cycle with its traceback.
    """
    if note:
        error.add_note(note)
    return error


def size_mismatch(shapes: list[tuple[int, ...]]) -> RuntimeError:
    """The error of two shapes that do not broadcast."""
    a, b = shapes[0], shapes[1]
    rank = max(len(a), len(b))
    for position in range(rank - 1, -1, -1):
        i, j = position - rank + len(a), position - rank + len(b)
        if i >= 0 and j >= 0 and a[i] != b[j] and 1 not in (a[i], b[j]):
            return RuntimeError(
                f"The size of tensor a ({a[i]}) must match the size of tensor b ({b[j]}) at "
                f"non-singleton dimension {position}"
            )
    return RuntimeError(f"shapes {list(a)} and {list(b)} do not broadcast together")


def type_name(value: Any) -> str:
    """A value's type as PyTorch's argument errors call it."""
    kind = type(value)
    module = kind.__module__.split(".")[0]
    if module == "retrograd" and kind.__name__ in ("Size", "device", "dtype"):
        return f"torch.{kind.__name__}"
    if is_pytorch_tensor(value):
        return f"PyTorch's {kind.__name__} ({FROM_PYTORCH})"
    return f"numpy.{kind.__name__}" if module == "numpy" else kind.__name__


FROM_PYTORCH = "retrograd.from_numpy(t.detach().numpy()) makes a tensor of it"


def is_pytorch_tensor(value: Any) -> bool:
    """Whether a value is a tensor of PyTorch: by the name of the class below, which ours has not
    even where it is served as PyTorch's; PyTorch itself is not asked."""
    return any(c.__name__ == "TensorBase" and c.__module__ == "torch._C"
               for c in type(value).__mro__)


def refuse_pytorch_operand(value: Any) -> bool:
    """Raise the error of an operand that is PyTorch's; False for any other.

    Python would ask PyTorch next, which would ask here again, and then say that a Tensor and a
    Tensor do not go together.
    """
    if is_pytorch_tensor(value):
        raise TypeError(f"an operand is {type_name(value)}")
    return False


C_NAMES = {
    "bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short int",
    "int32": "int", "int64": "long int", "uint16": "short unsigned int", "uint32": "unsigned int",
    "uint64": "long unsigned int", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
    "float32": "float", "float64": "double", "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>"}
"""What C++ calls dtypes, by the names that they have here."""


def c_name(value: Any) -> str:
    """What C++ calls the dtype of a tensor or array."""
    return C_NAMES.get(value.dtype.name, value.dtype.name)


def does_not_fit(dtype: Any) -> RuntimeError:
    """The error of a number that no element of ``dtype`` can be."""
    name = dtype.name
    if name not in ("bool", "int32") and name.startswith(("int", "uint")):
        name = f"{name}_t"
    return RuntimeError(f"value cannot be converted to type {C_NAMES.get(name, name)} without "
                        "overflow")


def wrong_type(function: str, argument: str, position: int | None, wanted: str,
               value: Any) -> TypeError:
    """The error of an argument of another type; one that is given by keyword has no position."""
    where = "" if position is None else f" (position {position})"
    return TypeError(f"{function}(): argument '{argument}'{where} must be {wanted}, not "
                     f"{type_name(value)}")


def not_a_tensor(function: str, argument: str, position: int, value: Any) -> TypeError:
    return wrong_type(function, argument, position, "Tensor", value)


class Required:
    """The default of a parameter that must be given; the general path words its absence."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<required>"


REQUIRED: Any = Required()


def missing_arguments(function: str, names: list[str]) -> TypeError:
    """The error of a call that leaves out required arguments."""
    # PyTorch has singular and plural the wrong way round.
    noun = "arguments" if len(names) == 1 else "argument"
    listed = ", ".join(f'"{name}"' for name in names)
    return TypeError(f"{function}() missing {len(names)} required positional {noun}: {listed}")


def no_kernel(kernel: str, dtype: Any) -> NotImplementedError:
    """The error of a dtype that an op does not compute with."""
    return NotImplementedError(f'"{kernel}" not implemented for \'{dtype.alias}\'')


def no_overload(function: str, given: tuple[Any, ...], *expected: str, **named: Any) -> TypeError:
    """The error of arguments that fit none of a function's forms."""
    got = ", ".join([*(type(value).__name__ for value in given),
                     *(f"{name}={type(value).__name__}" for name, value in named.items())])
    forms = "".join(f"\n * ({form})" for form in expected)
    return TypeError(f"{function}() received an invalid combination of arguments - got ({got}), "
                     f"but expected one of:{forms}\n")


def dim_out_of_range(dim: int, rank: int) -> IndexError:
    low, high = (-rank, rank - 1) if rank else (-1, 0)
    return IndexError(
        f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})"
    )


def canonical_dim(dim: int, rank: int) -> int:
    """``dim`` counted from the left; a zero-dim tensor accepts 0 and -1."""
    if dim.__class__ is not int:
        dim = as_int(dim)
    wrapped = dim + (rank or 1) if dim < 0 else dim
    if not 0 <= wrapped < (rank or 1):
        raise dim_out_of_range(dim, rank)
    return wrapped


def no_dims(dim: int) -> IndexError:
    """The error of a dimension asked of a zero-dim tensor where that has none to offer."""
    return IndexError(f"Dimension specified as {dim} but tensor has no dimensions")


def existing_dim(dim: int, rank: int) -> int:
    """``dim`` counted from the left, of a tensor that must have dimensions."""
    if not rank:
        raise no_dims(dim)
    return canonical_dim(dim, rank)


def length_of(shape: tuple[int, ...], dim: int) -> int:
    """The length of a dimension, which must exist."""
    return shape[existing_dim(dim, len(shape))]


def as_int(value: Any, argument: str = "argument 'dim'") -> int:
    """An int, from what may stand for one."""
    try:
        if not isinstance(value, bool) and not getattr(value, "ndim", 0):
            return value.__index__()  # type: ignore[no-any-return]
    except (AttributeError, TypeError):
        pass
    raise unplaced(f"{argument} must be int, not {type_name(value)}")


def unplaced(message: str) -> TypeError:
    """The error of a value that no argument may have, raised where it is not known which one has.

    The function that was called puts its own name and the argument's in the place of these words.
    """
    error = TypeError(message)
    error.is_unplaced = True  # type: ignore[attr-defined]
    return error


def canonical_dims(dim: Any, rank: int) -> tuple[int, ...] | None:
    """A tuple of dims counted from the left, or None for all of them."""
    if dim is None:
        return None
    if dim.__class__ is int:
        return (canonical_dim(dim, rank),)
    if getattr(dim, "ndim", 0):
        dim = dim.tolist()  # a tensor is a list of dims
    if not isinstance(dim, (tuple, list)):
        return (canonical_dim(dim, rank),)
    dims = tuple([canonical_dim(d, rank) for d in dim])
    if len(set(dims)) != len(dims):
        repeated = next(d for i, d in enumerate(dims) if d in dims[:i])
        raise RuntimeError(f"dim {repeated} appears multiple times in the list of dims")
    return dims


class _LinAlgError(RuntimeError):
    """A matrix that cannot be factored or inverted."""


LinAlgError = _LinAlgError


class CannotBatch(RuntimeError):
    """The program needs one value where vmap has many; :func:`retrograd.func.vmap` falls back."""

    level: int | None = None  # of the vmap whose values are needed one by one

    def at(self, level: int) -> CannotBatch:
        self.level = level
        return self


class OutOfMemoryError(RuntimeError, MemoryError):
    """There is not enough memory for a tensor: PyTorch's kind of error, and Python's."""


MOST_DIMS = 64


def too_many_dims(function: str, count: int | None = None) -> RuntimeError:
    """The error of more dims than NumPy knows."""
    given = "" if count is None else f", but the size has {count}"
    return RuntimeError(f"{function}(): a tensor has at most {MOST_DIMS} dimensions here, which is "
                        f"NumPy's limit{given}")


def is_of_dims(error: Exception) -> bool:
    """Whether NumPy refuses an array because of the number of its dims."""
    return isinstance(error, ValueError) and str(MOST_DIMS) in str(error) and (
        "dimension" in str(error) or "ndmax" in str(error))


def not_allocated(shape: Iterable[int], itemsize: int) -> OutOfMemoryError:
    """The error of memory for an array that is not there."""
    shape = list(shape)
    return OutOfMemoryError(f"can't allocate memory: you tried to allocate "
                            f"{math.prod(shape) * itemsize} bytes for a tensor of shape {shape}")


def in_bytes(error: MemoryError) -> MemoryError:
    """NumPy's error of an array that is too large in PyTorch's words; any other as it is."""
    try:
        return not_allocated(error.shape, error.dtype.itemsize)  # type: ignore[attr-defined]
    except AttributeError:
        return error
