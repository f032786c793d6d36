"""``autocast``: a block in which ops choose the dtypes of their arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from ..autograd.grad_mode import _ModeSwitch
from ..base import dtypes
from ..base.modes import MODE, Mode
from ..base.warning import warn
from ..core.tensor import Tensor
from ._casting import Casting, watch_calls

_CPU_DTYPES = (dtypes.bfloat16, dtypes.float16)
_HAVE_IT = {"cpu", "cuda", "xpu", "ipu", "hpu", "xla", "mps", "mtia", "maia", "privateuseone"}
_chosen: ContextVar[dict[str, dtypes.dtype] | None] = ContextVar("retrograd.autocast_dtypes",
                                                                 default=None)


class autocast(_ModeSwitch):
    """A block, or a decorated function, in which products are less precise and losses are not."""

    def __init__(self, device_type: str, dtype: dtypes.dtype | None = None, enabled: bool = True,
                 cache_enabled: bool | None = None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type "
                               f"'{device_type}'")
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None \
            else cache_enabled
        self._enabled = bool(enabled) and self._is_possible()

    def _is_possible(self) -> bool:
        if self.device == "cpu":
            if self.fast_dtype not in _CPU_DTYPES:
                warn("In CPU autocast, but the target dtype is not supported. Disabling autocast."
                     "\nCPU Autocast only supports dtypes of torch.bfloat16, torch.float16 "
                     "currently.")
            return self.fast_dtype in _CPU_DTYPES
        if self.device == "cuda":
            warn("CUDA is not available or torch_xla is imported. Disabling autocast.")
        return False  # no tensor lies there

    def clone(self) -> autocast:
        """The same switch again, for one call of what it decorates."""
        return autocast(self.device, self.fast_dtype, self._enabled, self._cache_enabled)

    def switched(self, mode: Mode) -> Mode:
        """``mode`` with autocast on or off; a nested block shares the casts of the outermost."""
        if self.device != "cpu":
            return mode
        if not self._enabled:
            return mode.but(autocast=None)
        watch_calls()
        cache = None
        if self._cache_enabled:
            outer = mode.autocast and mode.autocast.dtype is self.fast_dtype and mode.autocast.cache
            cache = outer if isinstance(outer, dict) else {}
        return mode.but(autocast=Casting(self.fast_dtype, cache))

    def __enter__(self) -> Any:
        chosen = _chosen.get()
        self.__dict__.setdefault("_chosen", []).append(chosen)
        super().__enter__()
        try:
            set_autocast_dtype(self.device, self.fast_dtype)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        chosen = self.__dict__["_chosen"]
        before = chosen[-1]
        try:
            chosen.pop()
        finally:
            try:
                _chosen.set(before)
            finally:
                _ModeSwitch.__exit__(self)


def is_autocast_available(device_type: str) -> bool:
    """Whether PyTorch knows autocast for this type of device."""
    return dtypes.device(device_type).type in _HAVE_IT


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocast is on for a type of device; for all but the CPU it never is."""
    return dtypes.device(device_type).type == "cpu" and MODE.get().autocast is not None


def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """The dtype that autocast uses, or would use, for products."""
    usual = dtypes.bfloat16 if device_type in ("cpu", "xla", "hpu") else dtypes.float16
    return (_chosen.get() or {}).get(device_type, usual)


def set_autocast_dtype(device_type: str, dtype: dtypes.dtype) -> None:
    """Set the dtype that autocast uses where none is given."""
    _chosen.set({**(_chosen.get() or {}), dtypes.device(device_type).type: dtype})


def set_autocast_enabled(device_type: str, enabled: bool) -> None:
    """Switch autocast on or off from here on."""
    MODE.set(autocast(device_type, enabled=enabled).switched(MODE.get()))


def is_autocast_cache_enabled() -> bool:
    """Whether casts of weights are remembered."""
    state = MODE.get().autocast
    return state is None or state.cache is not None


def clear_autocast_cache() -> None:
    """Forget the casts of weights."""
    state = MODE.get().autocast
    if state is not None and state.cache is not None:
        state.cache.clear()


def is_autocast_cpu_enabled() -> bool:
    """The older form of ``is_autocast_enabled("cpu")``."""
    _deprecated("is_autocast_cpu_enabled()", "is_autocast_enabled('cpu')")
    return is_autocast_enabled("cpu")


def get_autocast_cpu_dtype() -> dtypes.dtype:
    """The older form of ``get_autocast_dtype("cpu")``."""
    _deprecated("get_autocast_cpu_dtype()", "get_autocast_dtype('cpu')")
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> dtypes.dtype:
    """The older form of ``get_autocast_dtype("cuda")``."""
    _deprecated("get_autocast_gpu_dtype()", "get_autocast_dtype('cuda')")
    return get_autocast_dtype("cuda")


def _deprecated(old: str, new: str) -> None:
    warn(f"torch.{old} is deprecated. Please use torch.{new} instead.", DeprecationWarning)


# ---------------------------------------------------------------- custom functions


def custom_fwd(fwd: Callable[..., Any] | None = None, *, device_type: str,
               cast_inputs: dtypes.dtype | None = None) -> Any:
    """Decorate the ``forward`` of a custom function: it knows of autocast, or is kept out of it."""
    _check_device(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        is_on = is_autocast_enabled(device_type)
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = is_on and cast_inputs is None
        if not is_on or cast_inputs is None:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_cast(args, cast_inputs), **_cast(kwargs, cast_inputs))

    return forward


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """Decorate the ``backward`` of a custom function: autocast is as it was in its forward."""
    _check_device(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(ctx, *args, **kwargs)

    return backward


def _check_device(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def _cast(value: Any, dtype: dtypes.dtype) -> Any:
    """The floating point tensors in containers, cast; those of double precision stay."""
    if isinstance(value, Tensor):
        is_cast = value.is_floating_point() and value.dtype is not dtypes.float64
        return value.to(dtype) if is_cast else value
    if isinstance(value, Mapping):
        return {key: _cast(item, dtype) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_cast(item, dtype) for item in value])
    return value
