"""Modules of another dtype or on another device."""

from collections.abc import Callable, Iterator
from typing import Any, Self

from ...autograd.grad_mode import no_grad
from ...backend.interface import library_of
from ...base import dtypes, layouts
from ...base.warning import warn
from ...core.tensor import Tensor
from ...ops.memory.casts import to_arguments, to_refusal
from ..parameter import Parameter
from ._conversion_flags import (
    get_overwrite_module_params_on_conversion,
    get_swap_module_params_on_conversion,
)
from ._swapping import swap_tensors

Conversion = Callable[[Any], Any]

_COMPLEX_MODULE = (
    "Complex modules are a new feature under active development whose design may change, and some "
    "modules might not work as expected when using complex tensors as parameters or buffers. "
    "Please file an issue at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml "
    "if a complex module does not work as expected.")


class Conversions:
    """The part of a module that converts its parameters and buffers, in place."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    children: Callable[[], Iterator[Any]]
    _get_name: Callable[[], str]

    def _apply(self, fn: Conversion, recurse: bool = True) -> Self:
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is not None:
                self._parameters[name] = _converted(parameter, fn, f"{self._get_name()}.{name}")
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert floating parameters and buffers to a dtype, in place: ``module.to(float64)``."""
        device, dtype, memory_format = _parse_to(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError("nn.Module.to only accepts floating point or complex dtypes, but got "
                            f"desired dtype={dtype}")
        if dtype is not None and dtype.is_complex:
            warn(_COMPLEX_MODULE)

        def convert(tensor: Tensor) -> Tensor:
            floating = tensor.is_floating_point() or tensor.is_complex()
            target = dtype if dtype is not None and floating else tensor.dtype
            place = tensor.device if device is None else device
            options = {"memory_format": memory_format} \
                if memory_format is not None and tensor.dim() in (4, 5) else {}
            if tensor.is_meta and place.type != "meta":
                raise NotImplementedError(
                    "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty()"
                    " instead of torch.nn.Module.to() when moving module from meta to a different "
                    "device.")
            return tensor.to(place, target, **options)

        return self._apply(convert)

    def _cast_floating(self, dtype: dtypes.dtype) -> Self:
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self) -> Self:
        """Convert floating parameters and buffers to float32."""
        return self._cast_floating(dtypes.float32)

    def double(self) -> Self:
        """Convert floating parameters and buffers to float64."""
        return self._cast_floating(dtypes.float64)

    def half(self) -> Self:
        """Convert floating parameters and buffers to float16."""
        return self._cast_floating(dtypes.float16)

    def bfloat16(self) -> Self:
        """Convert floating parameters and buffers to bfloat16."""
        return self._cast_floating(dtypes.bfloat16)

    def type(self, dst_type: Any) -> Self:
        """Convert every parameter and buffer to ``dst_type``."""
        return self._apply(lambda t: t.type(dst_type))

    def cpu(self) -> Self:
        """Move everything to the CPU."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Any = None) -> Self:
        """Move everything to a CUDA device, of which there is none."""
        return self._apply(lambda t: t.cuda(device))

    def xpu(self, device: Any = None) -> Self:
        """Move everything to an XPU, of which there is none."""
        return self._apply(lambda t: t.to("xpu"))

    def ipu(self, device: Any = None) -> Self:
        """Move everything to an IPU, of which there is none."""
        return self._apply(lambda t: t.to("ipu"))

    def mtia(self, device: Any = None) -> Self:
        """Move everything to an MTIA device, of which there is none."""
        return self._apply(lambda t: t.to("mtia"))

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Give parameters and buffers new memory on a device, with values still to be set."""
        from ...ops.creation.filled import empty_like

        return self._apply(lambda t: empty_like(t, device=device), recurse=recurse)

    def share_memory(self) -> Self:
        """Move everything to memory that other processes can be given."""
        return self._apply(lambda t: t.share_memory_())


def _converted(parameter: Any, fn: Conversion, name: str) -> Any:
    """``parameter`` after a conversion: itself where that is possible, with its gradient."""
    with no_grad():
        made = fn(parameter)
    grad = parameter.grad
    if get_swap_module_params_on_conversion():
        return _swapped(parameter, made, grad, fn, name)
    kept = parameter
    if _can_share(parameter, made):
        parameter.data = made
    else:
        kept = Parameter(made, parameter.requires_grad)
    if grad is not None:
        with no_grad():
            made_grad = fn(grad)
        if _can_share(grad, made_grad):
            grad.data = made_grad
            kept._grad = grad
        else:
            kept.grad = made_grad.requires_grad_(grad.requires_grad)
    return kept


def _can_share(tensor: Tensor, made: Tensor) -> bool:
    """Whether ``tensor`` may take the data of ``made`` and stay the object it is."""
    return (library_of(tensor._data) is library_of(made._data)
            and tensor.is_meta is made.is_meta and not get_overwrite_module_params_on_conversion())


def _swapped(parameter: Any, made: Tensor, grad: Any, fn: Conversion, name: str) -> Any:
    try:
        parameter.grad = None
        swap_tensors(parameter, Parameter(made, requires_grad=parameter.requires_grad))
    except Exception as error:
        parameter.grad = grad
        raise RuntimeError(f"_apply(): Couldn't swap {name}") from error
    if grad is not None:
        with no_grad():
            made = fn(grad)
        try:
            swap_tensors(grad, made.requires_grad_(grad.requires_grad))
        except Exception as error:
            raise RuntimeError(f"_apply(): Couldn't swap {name}.grad") from error
        parameter.grad = grad
    return parameter


_NOTHING = type(None)
_TO_TYPES: dict[str, tuple[type, ...]] = {
    "device": (str, int, dtypes.device, _NOTHING), "dtype": (dtypes.dtype, type, _NOTHING),
    "tensor": (Tensor,), "non_blocking": (bool,), "copy": (bool,),
    "memory_format": (layouts.memory_format, _NOTHING)}


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
    """The device, dtype and memory format that the arguments of ``to`` name, each perhaps None."""
    given = to_arguments(args, kwargs)
    if any(not isinstance(value, _TO_TYPES[name]) or (name == "device" and isinstance(value, bool))
           for name, value in given.items()):
        raise to_refusal(args, kwargs)
    if "copy" in given:
        raise RuntimeError(".to() does not accept copy argument")
    device, dtype, like = given.get("device"), given.get("dtype"), given.get("tensor")
    if like is not None:
        device, dtype = like.device, like.dtype
    return (None if device is None else dtypes.device(device),
            None if dtype is None else dtypes.as_dtype(dtype), given.get("memory_format"))
