"""Questions about tensors, dtypes and the library itself."""

from __future__ import annotations

from typing import Any

from ..base import dtypes
from ..base.errors import wrong_type
from ..base.warning import warn
from ..core.op import publish
from ..core.signatures import named
from ..core.tensor import Tensor, attach

__all__ = ["are_deterministic_algorithms_enabled", "get_default_device",
           "get_deterministic_debug_mode", "get_float32_matmul_precision",
           "get_num_interop_threads", "get_num_threads",
           "is_deterministic_algorithms_warn_only_enabled", "is_storage", "is_tensor",
           "result_type", "set_default_device", "set_deterministic_debug_mode",
           "set_float32_matmul_precision", "set_flush_denormal", "set_num_interop_threads",
           "set_num_threads", "typename", "use_deterministic_algorithms"]


def is_tensor(obj: Any, /) -> bool:
    """Whether ``obj`` is a tensor."""
    return isinstance(obj, Tensor)


def is_storage(obj: Any, /) -> bool:
    """Whether ``obj`` is a storage."""
    from ..storage import TypedStorage, UntypedStorage

    return isinstance(obj, (UntypedStorage, TypedStorage))


def _asked(function: str, input: Any) -> Tensor:
    if not isinstance(input, Tensor):
        raise wrong_type(function, "input", 1, "Tensor", input)
    return input


_QUESTIONS: dict[str, tuple[Any, str]] = {
    "is_floating_point": (bool, "Whether the dtype is a floating point type."),
    "is_complex": (bool, "Whether the dtype is a complex type."),
    "is_signed": (bool, "Whether the dtype has negative numbers."),
    "is_conj": (bool, "Whether conjugation is pending: never, it is done at once here."),
    "is_neg": (bool, "Whether negation is pending: never, it is done at once here."),
    "is_inference": (bool, "Whether the tensor was made in inference mode."),
    "numel": (int, "The number of elements."),
    "get_device": (int, "The number of the accelerator that holds the tensor: -1, for it lies on "
                        "the CPU.")}
"""Methods that are functions too: what they return, and what they do."""


def _publish_method(name: str, kind: Any, doc: str) -> None:
    @named(name, doc)
    def function(input: Tensor) -> Any:
        return getattr(_asked(name, input), name)()

    function.__annotations__["return"] = kind.__name__
    publish(function, name, method=False)


for _name, _answer in _QUESTIONS.items():
    _publish_method(_name, *_answer)


def is_nonzero(input: Tensor) -> bool:
    """Whether the one element is not zero."""
    if _asked("is_nonzero", input).numel() != 1:
        count = "more than one value" if input.numel() else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {count} is ambiguous")
    return bool(input)


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape."""
    return tuple(input.shape) == tuple(other.shape)


def detach(input: Tensor) -> Tensor:
    """A tensor on the same memory, outside the graph and without tangents."""
    return _asked("detach", input).detach()


for _function in (is_nonzero, is_same_size, detach, Tensor.detach_):
    publish(_function, _function.__name__, method=False)
attach(is_nonzero=is_nonzero, is_same_size=is_same_size)


def typename(obj: Any, /) -> str:
    """The name of a value's type, as PyTorch gives it for tensors."""
    if isinstance(obj, Tensor):
        return obj.type()  # type: ignore[attr-defined,no-any-return]
    kind = obj if isinstance(obj, type) or hasattr(obj, "__qualname__") else type(obj)
    module = getattr(kind, "__module__", None)
    if module in (None, "builtins"):
        return kind.__qualname__  # type: ignore[no-any-return]
    return f"{module}.{kind.__qualname__}"


def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """The dtype that arithmetic between two operands results in."""
    classes: list[dtypes.dtype | None] = [None, None, None]
    for operand in (tensor1, tensor2):
        if not isinstance(operand, (Tensor, bool, int, float, complex)):
            got = ", ".join(type(o).__name__ for o in (tensor1, tensor2))
            raise TypeError("result_type() received an invalid combination of arguments - got "
                            f"({got})")
        if not isinstance(operand, Tensor):
            place, kind = 2, dtypes.of_scalar(operand)
        elif operand._wrapped_number:
            place, kind = 2, operand.dtype
        else:
            place, kind = (0 if operand.ndim else 1), operand.dtype
        known = classes[place]
        classes[place] = kind if known is None else dtypes.promote_types(known, kind)
    return dtypes.result_dtype(*classes)


# ---------------------------------------------------------------- the library


def get_num_threads() -> int:
    """How many threads a large matrix product may use."""
    from ..backend.numpy import threads

    return threads.count()


def _check_count(function: str, n: int) -> None:
    if isinstance(n, bool) or not isinstance(n, int):
        raise RuntimeError(f"{function} expects an int, but got {type(n).__name__}")
    if n <= 0:
        raise RuntimeError(f"{function} expects a positive integer")


def set_num_threads(n: int, /) -> None:
    """Let matrix products and native kernels use ``n`` threads; all else runs in the caller's."""
    _check_count("set_num_threads", n)
    from ..backend.numpy import threads

    threads.limit(n)


_matmul_precision = "highest"


def get_float32_matmul_precision() -> str:
    """What :func:`set_float32_matmul_precision` was last told."""
    return _matmul_precision


def set_float32_matmul_precision(precision: str) -> None:
    """Allow less precise products, an offer that is not taken up here."""
    global _matmul_precision
    if precision in ("highest", "high", "medium"):
        _matmul_precision = precision
    else:
        warn(f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
             "setFloat32MatmulPrecision call has no effect.")


_interop_threads: int | None = None


def get_num_interop_threads() -> int:
    """How many ops may run at once by themselves: what was asked for; one runs at a time here."""
    return _interop_threads or 1


def set_num_interop_threads(n: int, /) -> None:
    """Ask for threads that run whole ops, of which there are none here; once, as in PyTorch."""
    global _interop_threads
    _check_count("set_num_interop_threads", n)
    if _interop_threads is not None:
        raise RuntimeError("Error: cannot set number of interop threads after parallel work has "
                           "started or set_num_interop_threads called")
    _interop_threads = n


def set_flush_denormal(mode: bool, /) -> bool:
    """Say that denormal numbers cannot be flushed to zero: NumPy keeps them."""
    return not mode


_DEBUG_MODES = ("default", "warn", "error")
_determinism = 0


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Every op here is deterministic; the setting is only remembered."""
    global _determinism
    if not isinstance(mode, bool):
        raise wrong_type("_set_deterministic_algorithms", "mode", 1, "bool", mode)
    _determinism = (1 if warn_only else 2) if mode else 0


def are_deterministic_algorithms_enabled() -> bool:
    """What :func:`use_deterministic_algorithms` was last told."""
    return _determinism > 0


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether :func:`use_deterministic_algorithms` was last told to warn only."""
    return _determinism == 1


def get_deterministic_debug_mode() -> int:
    """The same setting as a number: 0 for off, 1 for warnings, 2 for errors."""
    return _determinism


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Set it by that number, or by its name."""
    global _determinism
    if isinstance(debug_mode, str):
        if debug_mode not in _DEBUG_MODES:
            raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, "
                               f"`error`, but got {debug_mode}")
        debug_mode = _DEBUG_MODES.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise RuntimeError("invalid value of debug_mode, expected 0, 1, or 2, but got "
                           f"{debug_mode}")
    _determinism = debug_mode


def get_default_device() -> dtypes.device:
    """The device that factories make tensors on."""
    return dtypes.DEFAULT_DEVICE.get() or dtypes.CPU


def set_default_device(device: Any) -> None:
    """Let factories make tensors on the CPU, or ``meta`` ones, which have no memory."""
    dtypes.DEFAULT_DEVICE.set(dtypes.device("meta") if dtypes.is_meta(device) else None)
