"""Data types, devices, defaults and the promotion rules between them."""

from __future__ import annotations

import builtins
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ..backend import xp

__all__ = ["bfloat16", "bool", "can_cast", "cdouble", "cfloat", "chalf", "complex128", "complex32",
           "complex64", "device", "double", "dtype", "finfo", "float", "float16", "float32",
           "float64", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
           "float8_e8m0fnu", "get_default_dtype", "half", "iinfo", "int", "int16", "int32", "int64",
           "int8", "long", "promote_types", "set_default_dtype", "short", "uint16", "uint32",
           "uint64", "uint8"]


class dtype:
    """One element type; its repr is PyTorch's name for it."""

    __slots__ = ("alias", "is_complex", "is_floating_point", "is_signed", "itemsize", "name", "np")
    np: Any
    """The backend's own object for this type; one that takes a package is made when asked for."""

    def __init__(self, name: str, alias: str, itemsize: builtins.int, kind: str, np_dtype: Any):
        self.name, self.alias, self.itemsize = name, alias, itemsize
        self.is_floating_point = kind == "f"
        self.is_complex = kind == "c"
        self.is_signed = kind in "ifc"
        if np_dtype is not None:
            self.np = np_dtype

    def to_complex(self) -> dtype:
        """The complex dtype whose parts are of this dtype, or the nearest there is."""
        if category(self) < 2:
            raise RuntimeError(f"Unknown Complex ScalarType for {self.alias}")
        return _COMPLEX_OF.get(self, complex64)

    def to_real(self) -> dtype:
        return {complex32: float16, complex64: float32, complex128: float64}.get(self, self)

    if not TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:
            if name == "np":
                found = xp.narrow(self.name)
                _BY_NUMPY[found] = self
                if self is not bfloat16:
                    STORED_ONLY[found] = self
                self.np = found
                return found
            of_arrays = hasattr(xp.dtype("float32"), name) and not name.startswith("_")
            raise AttributeError(
                f"'torch.dtype' object has no attribute '{name}'" + of_arrays * (
                    ", which NumPy's dtypes have: what takes arrays takes tensor.numpy(); to save "
                    "tensors as safetensors, call retrograd.as_torch() and use safetensors.torch"))

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> Any:
        return (_dtype_named, (self.name,))


def _dtype_named(name: str) -> dtype:
    return _BY_NAME[name]


def _make(name: str, alias: str, itemsize: builtins.int, kind: str, np_name: str | None = ""
          ) -> dtype:
    np_dtype = None if np_name is None else xp.dtype(np_name or name)
    made = dtype(name, alias, itemsize, kind, np_dtype)
    _BY_NAME[name] = made
    if np_dtype is not None:
        _BY_NUMPY[np_dtype] = made
    return made


_BY_NAME: dict[str, dtype] = {}
_BY_NUMPY: dict[Any, dtype] = {}
STORED_ONLY: dict[Any, dtype] = {}
"""Those of :data:`STORAGE` that were met so far, by the backend's objects for them."""

float16 = half = _make("float16", "Half", 2, "f")
bfloat16 = _make("bfloat16", "BFloat16", 2, "f", None)
float32 = float = _make("float32", "Float", 4, "f")
float64 = double = _make("float64", "Double", 8, "f")
complex32 = chalf = _make("complex32", "ComplexHalf", 4, "c", None)
complex64 = cfloat = _make("complex64", "ComplexFloat", 8, "c")
complex128 = cdouble = _make("complex128", "ComplexDouble", 16, "c")
float8_e4m3fn = _make("float8_e4m3fn", "Float8_e4m3fn", 1, "f", None)
float8_e4m3fnuz = _make("float8_e4m3fnuz", "Float8_e4m3fnuz", 1, "f", None)
float8_e5m2 = _make("float8_e5m2", "Float8_e5m2", 1, "f", None)
float8_e5m2fnuz = _make("float8_e5m2fnuz", "Float8_e5m2fnuz", 1, "f", None)
float8_e8m0fnu = _make("float8_e8m0fnu", "Float8_e8m0fnu", 1, "f", None)
float8_e8m0fnu.is_signed = False
uint8 = _make("uint8", "Byte", 1, "u")
uint16 = _make("uint16", "UInt16", 2, "u")
uint32 = _make("uint32", "UInt32", 4, "u")
uint64 = _make("uint64", "UInt64", 8, "u")
int8 = _make("int8", "Char", 1, "i")
int16 = short = _make("int16", "Short", 2, "i")
int32 = int = _make("int32", "Int", 4, "i")
int64 = long = _make("int64", "Long", 8, "i")
bool = _make("bool", "Bool", 1, "b")

ALL = tuple(_BY_NAME.values())
_COMPLEX_OF = {float16: complex32, complex32: complex32, float64: complex128,
               complex128: complex128}


def from_numpy_dtype(np_dtype: Any) -> dtype:
    """Our dtype for the backend's ``np_dtype``."""
    found = _BY_NUMPY.get(np_dtype)
    if found is None:
        # NumPy calls pairs of halves by their bits.
        found = _BY_NAME.get(np_dtype.name.replace("void32", "complex32"))
        if found is not None and (found is not complex32 or found.np == np_dtype):
            found.np  # noqa: B018 - registers the type
            return found
        raise TypeError(
            f"can't convert np.ndarray of type {np_dtype.type.__module__}."
            f"{np_dtype.type.__name__}. The only supported types are: float64, float32, float16, "
            "complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, "
            "and bool.")
    return found


PYTHON_TYPES = {builtins.float: float64, builtins.int: int64, builtins.bool: bool,
                builtins.complex: complex128}
"""The dtype that a Python type stands for as a ``dtype=`` argument."""


def as_dtype(value: Any) -> dtype:
    """Our dtype for anything that names one: ours, the backend's, or a Python type."""
    if isinstance(value, dtype):
        return value
    found = PYTHON_TYPES.get(value)
    return from_numpy_dtype(xp.dtype(value)) if found is None else found


_type_of = builtins.type


def dtype_given(function: str, argument: str, position: builtins.int, value: Any) -> dtype:
    """The dtype that an argument is or, as a Python type, stands for."""
    if isinstance(value, dtype):
        return value
    if isinstance(value, _type_of) and value in PYTHON_TYPES:
        return PYTHON_TYPES[value]
    raise TypeError(f"{function}(): argument '{argument}' (position {position}) must be "
                    f"torch.dtype, not {_type_of(value).__name__}")


class _Info:
    """The numerical properties of a dtype."""

    dtype: str

    def __eq__(self, other: object) -> builtins.bool:
        return type(other) is type(self) and other.dtype == self.dtype

    def __hash__(self) -> builtins.int:
        return hash(self.dtype)


class finfo(_Info):
    """The numerical properties of a floating or complex dtype."""

    def __init__(self, type: dtype | None = None):
        type = get_default_dtype() if type is None else type
        kind = dtype_given("finfo", "type", 1, type).to_real()
        if not kind.is_floating_point:
            raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo "
                            "to handle 'torch.finfo'")
        info = xp.float_info(kind.np)
        self.bits = kind.itemsize * 8
        self.eps = builtins.float(info.eps)
        self.max = builtins.float(info.max)
        self.min = builtins.float(info.min)
        self.tiny = self.smallest_normal = builtins.float(info.tiny)
        self.resolution = 10.0 ** -builtins.int(info.precision)
        self.dtype = kind.name

    def __repr__(self) -> str:
        return (f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
                f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, "
                f"tiny={self.tiny:g}, dtype={self.dtype})")


class iinfo(_Info):
    """The range of an integer dtype."""

    def __init__(self, type: dtype):
        type = dtype_given("iinfo", "type", 1, type)
        if type.is_floating_point or type.is_complex:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to "
                            "handle 'torch.iinfo'")
        if type is bool:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        info = xp.iinfo(type.np)
        self.bits = info.bits
        self.max = builtins.int(info.max)
        self.min = builtins.int(info.min)
        self.dtype = type.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


# ---------------------------------------------------------------- defaults

_default = float32
default_numpy: Any = float32.np  # the backend's own object for it


def get_default_dtype() -> dtype:
    """The dtype of tensors made from Python floats."""
    return _default


def set_default_dtype(d: dtype) -> None:
    """Set the dtype of tensors made from Python floats."""
    global _default, default_numpy
    if not isinstance(d, dtype):
        raise TypeError("invalid dtype object: only floating-point types are supported as the "
                        "default type")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    array_dtype = d.np
    _default, default_numpy = d, array_dtype


# ---------------------------------------------------------------- promotion

_WIDE_UNSIGNED = {uint16, uint32, uint64}
_FLOAT_RANK = {float16: 0, bfloat16: 0, float32: 1, float64: 2}
_COMPLEX = (complex32, complex64, complex128)
_WIDTHS = {float16: 0, bfloat16: 1, float32: 1, float64: 2, complex32: 0, complex64: 1,
           complex128: 2}
_EIGHTS = {float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu}
STORAGE = frozenset((*_EIGHTS, complex32))
"""The dtypes that are stored, moved and converted, but not computed with."""


def category(d: dtype) -> builtins.int:
    """0 bool, 1 integer, 2 floating, 3 complex."""
    if d.is_complex:
        return 3
    if d.is_floating_point:
        return 2
    return 0 if d is bool else 1


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype that holds both, by PyTorch's table."""
    type1 = dtype_given("promote_types", "type1", 1, type1)
    type2 = dtype_given("promote_types", "type2", 2, type2)
    if type1 is type2:
        return type1
    if type1 in _EIGHTS or type2 in _EIGHTS:
        raise RuntimeError("Promotion for Float8 Types is not supported, attempted to promote "
                           f"{type1.alias} and {type2.alias}")
    c1, c2 = category(type1), category(type2)
    if c1 < 2 and c2 < 2 and (type1 in _WIDE_UNSIGNED or type2 in _WIDE_UNSIGNED):
        raise RuntimeError(
            "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
            f"{type1.alias} and {type2.alias}")
    if c1 > c2:
        type1, type2, c1, c2 = type2, type1, c2, c1
    if c2 == 3:
        return _COMPLEX[max(_WIDTHS.get(type1, 0), _WIDTHS[type2])]
    if c1 != c2:
        return type2
    if c2 == 2:
        r1, r2 = _FLOAT_RANK[type1], _FLOAT_RANK[type2]
        if r1 == r2:
            return float32
        return type1 if r1 > r2 else type2
    return from_numpy_dtype(xp.promote_types(type1.np, type2.np))


def can_cast(from_: dtype, to: dtype) -> builtins.bool:
    """Whether a value of ``from_`` may be stored as ``to`` without losing its category."""
    return category(dtype_given("can_cast", "from_", 1, from_)) <= category(
        dtype_given("can_cast", "to", 2, to))


def result_dtype(dimensioned: dtype | None, zero_dim: dtype | None, scalar: dtype | None) -> dtype:
    """Promote across the three classes of operand; a lower one only wins by category."""
    result = dimensioned
    for other in (zero_dim, scalar):
        if other is None:
            continue
        if result is None:
            result = other
        elif category(other) > category(result):
            result = result.to_complex() if other.is_complex and result.is_floating_point \
                else promote_types(result, other)
    if result is None:
        raise RuntimeError("at least one operand expected, got none")
    return result


def of_scalar(value: Any) -> dtype:
    """The dtype a Python number takes part in promotion with."""
    if isinstance(value, builtins.bool):
        return bool
    if isinstance(value, builtins.int):
        return int64
    if isinstance(value, builtins.float):
        return get_default_dtype()
    return get_default_dtype().to_complex()


def readable(data: Any) -> Any:
    """Data whose elements Python can read: of dtypes that NumPy lacks in single precision."""
    if xp.is_stored_only(data.dtype):
        return xp.cast(data, xp.dtype("complex64") if data.dtype.itemsize == 4 else xp.FLOAT32)
    return data.astype(xp.FLOAT32) if xp.kind_of(data.dtype) == "V" else data


# ---------------------------------------------------------------- devices


_NO_DEVICE = object()


class device:
    """Where a tensor's memory lies; ``cpu`` today."""

    __slots__ = ("index", "type")
    type: str
    index: builtins.int | None

    def __init__(self, type: Any = _NO_DEVICE, index: builtins.int | None = None):
        if type is _NO_DEVICE:
            raise TypeError("device() received an invalid combination of arguments - got (), but "
                            "expected one of:\n * (torch.device device)\n * (str type, int index "
                            "= -1)\n")
        if isinstance(type, device):
            if index is not None:
                raise TypeError("device(): argument 'type' (position 1) must be str, not "
                                "torch.device")
            self.type, self.index = type.type, type.index
            return
        if isinstance(type, builtins.int):
            raise RuntimeError(_NO_ACCELERATOR)
        if not isinstance(type, str):
            raise TypeError(_DEVICE_USAGE.format(got=_type_of(type).__name__))
        kind, colon, tail = type.partition(":")
        if colon and index is not None:
            raise RuntimeError("type (string) must not include an index because index was passed "
                               f"explicitly: {type}")
        if kind not in _DEVICE_KINDS:
            raise RuntimeError(f"Expected one of {', '.join(_DEVICE_KINDS)} device type at start "
                               f"of device string: {kind}")
        if colon and (not tail.isdigit() or (len(tail) > 1 and tail[0] == "0")):
            raise RuntimeError(f"Invalid device string: '{type}'")
        if index is not None and index < 0:
            raise RuntimeError("Device index must not be negative")
        self.type = kind
        self.index = builtins.int(tail) if colon else index

    def __eq__(self, other: object) -> builtins.bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> builtins.int:
        return hash((self.type, self.index))

    def __repr__(self) -> str:
        tail = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{tail})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self) -> Any:
        return (device, (self.type, self.index))

    def __enter__(self) -> device:
        _ENTERED.set((DEFAULT_DEVICE.get(), _ENTERED.get()))
        DEFAULT_DEVICE.set(self)
        return self

    def __exit__(self, *exc: object) -> None:
        outer, rest = _ENTERED.get()
        DEFAULT_DEVICE.set(outer)
        _ENTERED.set(rest)


_NO_ACCELERATOR = "Cannot access accelerator device when none is available."
_DEVICE_USAGE = (
    "device() received an invalid combination of arguments - got ({got}), but expected one of:\n"
    " * (torch.device device)\n"
    "      didn't match because some of the arguments have invalid types: (!{got}!)\n"
    " * (str type, int index = -1)\n"
)
_DEVICE_KINDS = ["cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve",
                 "fpga", "maia", "xla", "lazy", "vulkan", "mps", "meta", "hpu", "mtia",
                 "privateuseone"]
CPU = device("cpu")

DEFAULT_DEVICE: ContextVar[device | None] = ContextVar("device", default=None)
"""Where factories make tensors if they are not told; None is the CPU."""
_ENTERED: ContextVar[Any] = ContextVar("entered", default=None)  # what to return to, a linked list


def is_meta(value: Any, function: str | None = None) -> builtins.bool:
    """Whether ``value`` names the device of tensors without memory; if not, it must be the CPU."""
    if (isinstance(value, str) and value == "meta") or (
            isinstance(value, device) and value.type == "meta"):
        return True
    as_device(value, function)
    return False


def as_device(value: Any, function: str | None = None) -> device:
    """The device ``value`` names; only the CPU can hold data here."""
    if value is None:
        return CPU
    if function is not None and not isinstance(value, (device, str, builtins.int)):
        raise TypeError(f"{function}(): argument 'device' must be torch.device, not "
                        f"{_type_of(value).__name__}")
    wanted = device(value)
    if wanted.type == "cuda":
        raise AssertionError("Torch not compiled with CUDA enabled")
    if wanted.type != "cpu":
        raise NotImplementedError(f"retrograd has no arrays on device '{wanted}', only on 'cpu'")
    return wanted
