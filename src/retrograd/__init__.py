"""Automatic differentiation with PyTorch's API and semantics, on NumPy arrays."""

# ruff: noqa: F401, F403 - what is imported here is what is offered

from __future__ import annotations

from math import e, inf, nan, pi
from typing import Any as _Any

from . import autograd, ops as _ops, overrides, random  # ops are declared by being imported
from .autograd import enable_grad, inference_mode, no_grad, set_grad_enabled
from .autograd.anomaly import (
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_anomaly_enabled,
)
from .autograd.grad_mode import is_grad_enabled, is_inference_mode_enabled
from .base.dtypes import *
from .base.layouts import *
from .base.loading import loaded as _loaded, share_one_lock as _share_one_lock
from .base.missing_names import refuse as _refuse
from .base.warning import is_warn_always_enabled, set_warn_always
from .compat.legacy import TENSOR_TYPES as _TENSOR_TYPES, set_default_tensor_type
from .compat.settings import *
from .core.op import PUBLIC as _PUBLIC
from .core.tensor import Size, Tensor
from .ops import late as _late
from .random import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from .storage import TypedStorage, UntypedStorage
from .version import __version__

newaxis = None

# Every op and factory that was declared for the top level: see `retrograd.ops`.
globals().update(_PUBLIC["torch"])
globals().update(_TENSOR_TYPES)

# Loaded when first asked for, since most programs use few of them.
_LAZY = {"_C", "accelerator", "amp", "as_torch", "backends", "compiler", "cpu", "cuda", "datasets",
         "distributed", "distributions", "fft", "func", "futures", "fx", "hub", "jit", "library",
         "linalg", "masked", "memory", "mps", "mtia", "multiprocessing", "nn", "onnx", "optim",
         "profiler", "quasirandom", "return_types", "serialization", "signal", "sparse", "special",
         "storage", "testing", "types", "utils", "version", "viz", "xpu"}
_LAZY_FUNCTIONS = {
    "as_torch": "as_torch", "explain": "autograd.explaining", "progress": "cli.progress",
    "show_config": "__config__",
    "vmap": "func", "save": "serialization", "load": "serialization",
    "PyTorchFileReader": "serialization", "Future": "futures", "ScriptModule": "jit",
    "ScriptFunction": "jit", "Event": "accelerator", "Stream": "accelerator", "compile": "compiler",
    "OutOfMemoryError": "base.errors",
    **dict.fromkeys(
        ("SymBool", "SymFloat", "SymInt", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min",
         "sym_not", "sym_sum"), "compat.symbols"),
    **dict.fromkeys(
        ("compiled_with_cxx11_abi", "cond", "get_device_module", "get_file_path", "has_lapack",
         "has_mkl", "has_openmp", "has_spectral", "is_distributed", "is_vulkan_available",
         "legacy_contiguous_format", "while_loop"), "compat.presence"),
    "GradScaler": "amp", "DisableTorchFunctionSubclass": "overrides",
    "get_printoptions": "core.printing", "set_printoptions": "core.printing",
    **dict.fromkeys(
        ("autocast", "clear_autocast_cache", "get_autocast_cpu_dtype", "get_autocast_dtype",
         "get_autocast_gpu_dtype", "is_autocast_cache_enabled", "is_autocast_cpu_enabled",
         "is_autocast_enabled", "set_autocast_dtype", "set_autocast_enabled"),
        "amp.autocast_mode")}
_LAZY_UNLISTED = {"__config__", "__future__", "_dynamo", "_functorch", "_higher_order_ops", "_ops",
                  "_subclasses", "_tensor_str", "_vmap_internals"}
_INTERNAL = {"annotations", "backend", "base", "cli", "codegen", "compat", "core", "numpy_code",
             "ops", "transforms"}


def __getattr__(name: str) -> _Any:
    if name in _LAZY or name in _LAZY_UNLISTED:
        return _loaded(f"{__name__}.{name}")
    if name in _LAZY_FUNCTIONS:
        return getattr(_loaded(f"{__name__}.{_LAZY_FUNCTIONS[name]}"), name)
    if name in _late.FUNCTIONS:
        return globals().setdefault(name, _late.function(name))
    if name.startswith("_foreach_"):
        return getattr(_loaded(f"{__name__}.compat.foreach"), name)
    _refuse(__name__, name)


def __dir__() -> list[str]:
    """The public names: no parts of the machinery."""
    names = {name for name in list(globals()) if not name.startswith("_")} - _INTERNAL
    late = {name for name in _late.FUNCTIONS if not name.startswith("_")}
    return sorted({*names, *_LAZY, *_LAZY_FUNCTIONS, *late, "__version__"})


_share_one_lock()
