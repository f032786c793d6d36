"""Automatic differentiation with PyTorch's API and semantics, on NumPy arrays."""

# Written by `make stubs` from the declared functions and docs/stub_types.py.
# ruff: noqa

from .types import Device, Number, SupportsArray
from builtins import bool as _bool, complex as _complex, float as _float, int as _int
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Literal, overload
from . import (
    _C as _C,
    accelerator as accelerator,
    amp as amp,
    autograd as autograd,
    backends as backends,
    compiler as compiler,
    cpu as cpu,
    cuda as cuda,
    datasets as datasets,
    distributed as distributed,
    distributions as distributions,
    fft as fft,
    func as func,
    futures as futures,
    fx as fx,
    hub as hub,
    jit as jit,
    library as library,
    linalg as linalg,
    masked as masked,
    memory as memory,
    mps as mps,
    mtia as mtia,
    multiprocessing as multiprocessing,
    nn as nn,
    onnx as onnx,
    optim as optim,
    overrides as overrides,
    profiler as profiler,
    quasirandom as quasirandom,
    random as random,
    return_types as return_types,
    serialization as serialization,
    signal as signal,
    sparse as sparse,
    special as special,
    storage as storage,
    testing as testing,
    types as types,
    utils as utils,
    version as version,
    viz as viz,
    xpu as xpu,
)
from .__config__ import show_config as show_config
from .accelerator import Event as Event, Stream as Stream
from .amp import GradScaler as GradScaler
from .amp.autocast_mode import (
    autocast as autocast,
    clear_autocast_cache as clear_autocast_cache,
    get_autocast_cpu_dtype as get_autocast_cpu_dtype,
    get_autocast_dtype as get_autocast_dtype,
    get_autocast_gpu_dtype as get_autocast_gpu_dtype,
    is_autocast_cache_enabled as is_autocast_cache_enabled,
    is_autocast_cpu_enabled as is_autocast_cpu_enabled,
    is_autocast_enabled as is_autocast_enabled,
    set_autocast_dtype as set_autocast_dtype,
    set_autocast_enabled as set_autocast_enabled,
)
from .as_torch import as_torch as as_torch
from .autograd import (
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)
from .autograd.anomaly import (
    is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled,
    is_anomaly_enabled as is_anomaly_enabled,
    set_anomaly_enabled as set_anomaly_enabled,
)
from .autograd.explaining import explain as explain
from .autograd.grad_mode import (
    is_grad_enabled as is_grad_enabled,
    is_inference_mode_enabled as is_inference_mode_enabled,
)
from .base.dtypes import (
    bfloat16 as bfloat16,
    bool as bool,
    can_cast as can_cast,
    cdouble as cdouble,
    cfloat as cfloat,
    chalf as chalf,
    complex128 as complex128,
    complex32 as complex32,
    complex64 as complex64,
    device as device,
    double as double,
    dtype as dtype,
    finfo as finfo,
    float as float,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    float8_e4m3fn as float8_e4m3fn,
    float8_e4m3fnuz as float8_e4m3fnuz,
    float8_e5m2 as float8_e5m2,
    float8_e5m2fnuz as float8_e5m2fnuz,
    float8_e8m0fnu as float8_e8m0fnu,
    get_default_dtype as get_default_dtype,
    half as half,
    iinfo as iinfo,
    int as int,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    int8 as int8,
    long as long,
    promote_types as promote_types,
    set_default_dtype as set_default_dtype,
    short as short,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    uint8 as uint8,
)
from .base.errors import OutOfMemoryError as OutOfMemoryError
from .base.layouts import (
    channels_last as channels_last,
    channels_last_3d as channels_last_3d,
    contiguous_format as contiguous_format,
    layout as layout,
    memory_format as memory_format,
    preserve_format as preserve_format,
    sparse_coo as sparse_coo,
    sparse_csc as sparse_csc,
    sparse_csr as sparse_csr,
    strided as strided,
)
from .base.warning import (
    is_warn_always_enabled as is_warn_always_enabled,
    set_warn_always as set_warn_always,
)
from .cli.progress import progress as progress
from .compat.legacy import set_default_tensor_type as set_default_tensor_type
from .compat.presence import (
    compiled_with_cxx11_abi as compiled_with_cxx11_abi,
    cond as cond,
    get_device_module as get_device_module,
    get_file_path as get_file_path,
    has_lapack as has_lapack,
    has_mkl as has_mkl,
    has_openmp as has_openmp,
    has_spectral as has_spectral,
    is_distributed as is_distributed,
    is_vulkan_available as is_vulkan_available,
    legacy_contiguous_format as legacy_contiguous_format,
    while_loop as while_loop,
)
from .compat.settings import (
    are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled,
    get_default_device as get_default_device,
    get_deterministic_debug_mode as get_deterministic_debug_mode,
    get_float32_matmul_precision as get_float32_matmul_precision,
    get_num_interop_threads as get_num_interop_threads,
    get_num_threads as get_num_threads,
    is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled,
    is_storage as is_storage,
    is_tensor as is_tensor,
    result_type as result_type,
    set_default_device as set_default_device,
    set_deterministic_debug_mode as set_deterministic_debug_mode,
    set_float32_matmul_precision as set_float32_matmul_precision,
    set_flush_denormal as set_flush_denormal,
    set_num_interop_threads as set_num_interop_threads,
    set_num_threads as set_num_threads,
    typename as typename,
    use_deterministic_algorithms as use_deterministic_algorithms,
)
from .compat.symbols import (
    SymBool as SymBool,
    SymFloat as SymFloat,
    SymInt as SymInt,
    sym_float as sym_float,
    sym_int as sym_int,
    sym_ite as sym_ite,
    sym_max as sym_max,
    sym_min as sym_min,
    sym_not as sym_not,
    sym_sum as sym_sum,
)
from .compiler import compile as compile
from .core.printing import (
    get_printoptions as get_printoptions,
    set_printoptions as set_printoptions,
)
from .core.tensor import Size as Size, Tensor as Tensor
from .func import vmap as vmap
from .futures import Future as Future
from .jit import ScriptFunction as ScriptFunction, ScriptModule as ScriptModule
from .overrides import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from .random import (
    Generator as Generator,
    default_generator as default_generator,
    get_rng_state as get_rng_state,
    initial_seed as initial_seed,
    manual_seed as manual_seed,
    seed as seed,
    set_rng_state as set_rng_state,
)
from .serialization import PyTorchFileReader as PyTorchFileReader, load as load, save as save
from .storage import TypedStorage as TypedStorage, UntypedStorage as UntypedStorage
from .version import __version__ as __version__
from math import e as e, inf as inf, nan as nan, pi as pi

newaxis: None
BFloat16Tensor: type[Tensor]
BoolTensor: type[Tensor]
ByteTensor: type[Tensor]
CharTensor: type[Tensor]
DoubleTensor: type[Tensor]
FloatTensor: type[Tensor]
HalfTensor: type[Tensor]
IntTensor: type[Tensor]
LongTensor: type[Tensor]
ShortTensor: type[Tensor]

def _chunk_cat(tensors: Sequence[Tensor], dim: _int, num_chunks: _int) -> Tensor:
    """Tensors cut along ``dim`` into equal chunks, with zeros behind, joined chunk by chunk."""
    ...
def _dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor, *,
                    out: Tensor | None = None) -> Tensor:
    """The derivative of Dirichlet draws by their own concentrations, before normalisation."""
    ...
def _native_batch_norm_legit(input: Tensor, weight: Tensor | None, bias: Tensor | None,
                             *settings: Tensor | _float | None,
                             out: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """``native_batch_norm``; the running moments may be left out altogether."""
    ...
def _safe_softmax(input: Tensor, dim: _int, dtype: dtype | None = None) -> Tensor:
    """Softmax, with zeros where nothing but minus infinity is."""
    ...
def _sample_dirichlet(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Dirichlet draws with the concentrations in the rows of ``input``, which receive gradients."""
    ...
def _scaled_mm(input: Tensor, mat2: Tensor, scale_a: Tensor, scale_b: Tensor,
               bias: Tensor | None = None, scale_result: Tensor | None = None,
               out_dtype: dtype | None = None, use_fast_accum: _bool = False) -> Tensor:
    """The product of two matrices of 8 bits times their scales, in ``out_dtype``."""
    ...
def _softmax_backward_data(grad_output: Tensor, output: Tensor, dim: _int,
                           input_dtype: dtype) -> Tensor:
    """The gradient of a softmax, from its own."""
    ...
def _standard_gamma(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Gamma draws of rate 1 with the concentrations in ``input``, which receive gradients."""
    ...
def _standard_gamma_grad(input: Tensor, output: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of the gamma draws ``output`` by their concentrations ``input``."""
    ...
def _unsafe_masked_index(input: Tensor, mask: Tensor, indices: Sequence[Tensor | None],
                         fill: _complex) -> Tensor:
    """The elements at ``indices``, or ``fill`` where ``mask`` is False."""
    ...
def _unsafe_masked_index_put_accumulate(input: Tensor, mask: Tensor,
                                        indices: Sequence[Tensor | None], values: Tensor) -> Tensor:
    """``input`` with ``values`` added at ``indices`` where ``mask`` is True."""
    ...
def abs(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The absolute value; of a complex number its distance from zero.

    ``y = |x|``; the gradient is ``g · sign(x)``, and 0 at 0. For complex numbers it is the
    modulus.

    >>> torch.abs(torch.tensor([-1.5, 0.0, 2.0]))
    tensor([1.5000, 0.0000, 2.0000])
    """
    ...
def abs_(input: Tensor) -> Tensor:
    """In-place version of :func:`_abs_real`."""
    ...
def absolute(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The absolute value; of a complex number its distance from zero.

    ``y = |x|``; the gradient is ``g · sign(x)``, and 0 at 0. For complex numbers it is the
    modulus.

    >>> torch.abs(torch.tensor([-1.5, 0.0, 2.0]))
    tensor([1.5000, 0.0000, 2.0000])
    """
    ...
def acos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose cosine is ``input``."""
    ...
def acos_(input: Tensor) -> Tensor:
    """In-place version of :func:`acos`."""
    ...
def acosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The number whose hyperbolic cosine is ``input``."""
    ...
def acosh_(input: Tensor) -> Tensor:
    """In-place version of :func:`acosh`."""
    ...
def adaptive_avg_pool1d(input: Tensor, output_size: _int | Sequence[_int]) -> Tensor:
    """The means of ``output_size`` nearly equal parts of a signal."""
    ...
def adaptive_max_pool1d(input: Tensor,
                        output_size: _int | Sequence[_int | None] | None) -> tuple[Tensor, Tensor]:
    """``nn.functional.adaptive_max_pool1d``: the maxima, and where they were."""
    ...
def add(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1,
        out: Tensor | None = None) -> Tensor:
    """Sum of ``input`` and ``alpha`` times ``other``, broadcast together.

    ``y = input + alpha · other``, with broadcasting; the gradients are ``g`` and ``alpha · g``,
    summed over what was broadcast.

    >>> torch.add(torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0]), alpha=2)
    tensor([21., 42.])
    """
    ...
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1,
           out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * Σ(batch1 @ batch2)``, summed over the batch."""
    ...
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1,
            out: Tensor | None = None) -> Tensor:
    """``input`` plus ``value`` times the quotient of two tensors."""
    ...
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1,
            out: Tensor | None = None) -> Tensor:
    """``input`` plus ``value`` times the product of two tensors."""
    ...
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1,
          out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)``.

    ``y = beta · input + alpha · A B``.

    >>> torch.addmm(torch.ones(2), torch.ones(1, 3), torch.ones(3, 2))
    tensor([[4., 4.]])
    """
    ...
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1,
          out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * (mat @ vec)``."""
    ...
def addmv_(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1,
           alpha: Number = 1) -> Tensor:
    """In-place version of :func:`addmv`."""
    ...
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1,
         out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * (vec1 ⊗ vec2)``."""
    ...
def adjoint(self: Tensor) -> Tensor:
    """The conjugate transpose of the last two dimensions."""
    ...
def affine_grid_generator(theta: Tensor, size: Sequence[_int], align_corners: _bool) -> Tensor:
    """:func:`affine_grid` without its checks, as ``torch.affine_grid_generator``."""
    ...
def alias_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """What ``alias`` shows, in memory of its own."""
    ...
def all(input: Tensor, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *,
        out: Tensor | None = None) -> Tensor:
    """Whether every element over ``dim`` is not zero.

    Over everything, or along ``dim``.

    >>> torch.all(torch.tensor([[True, False], [False, False]]), dim=1)
    tensor([False, False])
    """
    ...
def allclose(input: Tensor, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08,
             equal_nan: _bool = False) -> _bool:
    """Whether all elements are equal within tolerances.

    Whether ``|input - other| ≤ atol + rtol · |other|`` everywhere.

    >>> torch.allclose(torch.tensor([1.0]), torch.tensor([1.0 + 1e-7]))
    True
    """
    ...
def alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """Dropout to the value that keeps mean and variance of :func:`selu` units."""
    ...
def alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """In-place version of :func:`alpha_dropout`."""
    ...
def amax(input: Tensor, dim: _int | Sequence[_int] | None = (), keepdim: _bool = False, *,
         out: Tensor | None = None) -> Tensor:
    """The largest element over ``dim``; equal ones share the gradient.

    The gradient is shared equally by all elements that are as large.

    >>> torch.amax(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=0)
    tensor([7., 5.])
    """
    ...
def amin(input: Tensor, dim: _int | Sequence[_int] | None = (), keepdim: _bool = False, *,
         out: Tensor | None = None) -> Tensor:
    """The smallest element over ``dim``; equal ones share the gradient.

    The gradient is shared equally by all elements that are as large.

    >>> torch.amin(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=0)
    tensor([1., 2.])
    """
    ...
def aminmax(input: Tensor, *, dim: _int | None = None, keepdim: _bool = False,
            out: Sequence[Tensor] | None = None) -> return_types.aminmax:
    """The smallest and the largest element along ``dim``."""
    ...
def angle(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle of a complex number; of a real one 0, or π below zero."""
    ...
def any(input: Tensor, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *,
        out: Tensor | None = None) -> Tensor:
    """Whether some element over ``dim`` is not zero.

    Over everything, or along ``dim``.

    >>> torch.any(torch.tensor([[True, False], [False, False]]), dim=1)
    tensor([ True, False])
    """
    ...
@overload
def arange(end: Number, *, out: Tensor | None = None, dtype: dtype | None = None,
           layout: layout | None = None, device: Device = None, pin_memory: _bool = False,
           requires_grad: _bool = False) -> Tensor:
    """``arange(end)``, ``arange(start, end, step=1)``: numbers up to but without ``end``.

    From ``start`` up to, but without, ``end``.

    >>> torch.arange(1, 10, 3)
    tensor([1, 4, 7])
    """
    ...
@overload
def arange(start: Number, end: Number, step: Number = 1, *, out: Tensor | None = None,
           dtype: dtype | None = None, layout: layout | None = None, device: Device = None,
           pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """``arange(end)``, ``arange(start, end, step=1)``: numbers up to but without ``end``.

    From ``start`` up to, but without, ``end``.

    >>> torch.arange(1, 10, 3)
    tensor([1, 4, 7])
    """
    ...
def arccos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose cosine is ``input``."""
    ...
def arccos_(input: Tensor) -> Tensor:
    """In-place version of :func:`acos`."""
    ...
def arccosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The number whose hyperbolic cosine is ``input``."""
    ...
def arccosh_(input: Tensor) -> Tensor:
    """In-place version of :func:`acosh`."""
    ...
def arcsin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose sine is ``input``."""
    ...
def arcsin_(input: Tensor) -> Tensor:
    """In-place version of :func:`asin`."""
    ...
def arcsinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The number whose hyperbolic sine is ``input``."""
    ...
def arcsinh_(input: Tensor) -> Tensor:
    """In-place version of :func:`asinh`."""
    ...
def arctan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose tangent is ``input``."""
    ...
def arctan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle of the point with ordinate ``input`` and abscissa ``other``."""
    ...
def arctan_(input: Tensor) -> Tensor:
    """In-place version of :func:`atan`."""
    ...
def arctanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The number whose hyperbolic tangent is ``input``."""
    ...
def arctanh_(input: Tensor) -> Tensor:
    """In-place version of :func:`atanh`."""
    ...
def argmax(input: Tensor, dim: _int | None = None, keepdim: _bool = False, *,
           out: Tensor | None = None) -> Tensor:
    """The index of the first largest element, along ``dim`` or of the flattened tensor.

    A position has no gradient.

    >>> torch.argmax(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1)
    tensor([1, 0])
    """
    ...
def argmin(input: Tensor, dim: _int | None = None, keepdim: _bool = False, *,
           out: Tensor | None = None) -> Tensor:
    """The index of the first smallest element, along ``dim`` or of the flattened tensor.

    A position has no gradient.

    >>> torch.argmin(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1)
    tensor([0, 1])
    """
    ...
def argsort(input: Tensor, dim: _int = -1, descending: _bool = False, *,
            stable: _bool = False) -> Tensor:
    """The indices that put the elements in order along ``dim``.

    Positions have no gradient.

    >>> torch.argsort(torch.tensor([3.0, 1.0, 2.0]))
    tensor([1, 2, 0])
    """
    ...
def argwhere(input: Tensor) -> Tensor:
    """The coordinates of the non-zero elements, one row each."""
    ...
def as_strided(input: Tensor, size: Sequence[_int], stride: Sequence[_int],
               storage_offset: _int | None = None) -> Tensor:
    """A view of ``input``'s memory with any shape, strides and offset (in elements)."""
    ...
def as_strided_(self: Tensor, size: Sequence[_int], stride: Sequence[_int],
                storage_offset: _int | None = None) -> Tensor:
    """Take any shape, strides and offset in this tensor's storage, in place."""
    ...
def as_strided_copy(input: Tensor, size: Sequence[_int], stride: Sequence[_int],
                    storage_offset: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """What ``as_strided`` shows, in memory of its own."""
    ...
def as_strided_scatter(input: Tensor, src: Tensor, size: Sequence[_int], stride: Sequence[_int],
                       storage_offset: _int | None = None) -> Tensor:
    """``input`` with ``src`` in place of a strided view of its memory."""
    ...
def as_tensor(data: Any, dtype: dtype | None = None, device: Device = None) -> Tensor:
    """``data`` as a tensor, on the same memory where that is possible."""
    ...
def asarray(obj: Any, *, dtype: dtype | None = None, device: Device = None,
            copy: _bool | None = None, requires_grad: _bool | None = None) -> Tensor:
    """``obj`` as a tensor; ``copy`` says whether it must have, or must not have, new memory."""
    ...
def asin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose sine is ``input``."""
    ...
def asin_(input: Tensor) -> Tensor:
    """In-place version of :func:`asin`."""
    ...
def asinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The number whose hyperbolic sine is ``input``."""
    ...
def asinh_(input: Tensor) -> Tensor:
    """In-place version of :func:`asinh`."""
    ...
def atan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose tangent is ``input``."""
    ...
def atan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle of the point with ordinate ``input`` and abscissa ``other``."""
    ...
def atan_(input: Tensor) -> Tensor:
    """In-place version of :func:`atan`."""
    ...
def atanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The number whose hyperbolic tangent is ``input``."""
    ...
def atanh_(input: Tensor) -> Tensor:
    """In-place version of :func:`atanh`."""
    ...
@overload
def atleast_1d(tensor: Tensor, /) -> Tensor:
    """The tensor (or each of several) with at least one dimension."""
    ...
@overload
def atleast_1d(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensor (or each of several) with at least one dimension."""
    ...
@overload
def atleast_1d(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]:
    """The tensor (or each of several) with at least one dimension."""
    ...
@overload
def atleast_2d(tensor: Tensor, /) -> Tensor:
    """The tensor (or each of several) with at least two dimensions."""
    ...
@overload
def atleast_2d(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensor (or each of several) with at least two dimensions."""
    ...
@overload
def atleast_2d(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]:
    """The tensor (or each of several) with at least two dimensions."""
    ...
@overload
def atleast_3d(tensor: Tensor, /) -> Tensor:
    """The tensor (or each of several) with at least three dimensions."""
    ...
@overload
def atleast_3d(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensor (or each of several) with at least three dimensions."""
    ...
@overload
def atleast_3d(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]:
    """The tensor (or each of several) with at least three dimensions."""
    ...
def avg_pool1d(input: Tensor, kernel_size: _int | Sequence[_int],
               stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0,
               ceil_mode: _bool = False, count_include_pad: _bool = True) -> Tensor:
    """The mean of every window of a signal."""
    ...
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1,
            out: Tensor | None = None) -> Tensor:
    """``beta * input + alpha * (batch1 @ batch2)``, for each pair of matrices."""
    ...
def bartlett_window(window_length: _int, periodic: _bool = True, *, dtype: dtype | None = None,
                    layout: layout | None = None, device: Device = None, pin_memory: _bool = False,
                    requires_grad: _bool = False) -> Tensor:
    """A triangle."""
    ...
def batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None,
               running_mean: Tensor | None, running_var: Tensor | None, training: _bool,
               momentum: _float, eps: _float, cudnn_enabled: _bool) -> Tensor:
    """:func:`batch_norm` with the argument order of ``torch.batch_norm``, and for any batch."""
    ...
def bernoulli(input: Tensor, p: _float | None = None, *, generator: Generator | None = None,
              out: Tensor | None = None) -> Tensor:
    """Ones with the probabilities in ``input``, or with the one probability ``p``."""
    ...
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input1 @ weight[k] @ input2`` for each k, plus ``bias``, over the last dimensions."""
    ...
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                     pos_weight: Tensor | None = None,
                                     reduction: _int = 0) -> Tensor:
    """``nn.functional.binary_cross_entropy_with_logits`` with the number of a reduction."""
    ...
def bincount(input: Tensor, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
    """How often each non-negative integer occurs, or the sum of its weights."""
    ...
def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """Numbers of successes in ``count`` trials, each with probability ``prob``."""
    ...
def bitwise_and(input: Tensor | Number, other: Tensor | Number, *,
                out: Tensor | None = None) -> Tensor:
    """Bits that are set in both; of bools, their conjunction."""
    ...
def bitwise_left_shift(input: Tensor | Number, other: Tensor | Number, *,
                       out: Tensor | None = None) -> Tensor:
    """Bits moved towards the higher places."""
    ...
def bitwise_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """All bits turned over; of bools, their negation."""
    ...
def bitwise_or(input: Tensor | Number, other: Tensor | Number, *,
               out: Tensor | None = None) -> Tensor:
    """Bits that are set in either; of bools, their disjunction."""
    ...
def bitwise_right_shift(input: Tensor | Number, other: Tensor | Number, *,
                        out: Tensor | None = None) -> Tensor:
    """Bits moved towards the lower places; the sign stays."""
    ...
def bitwise_xor(input: Tensor | Number, other: Tensor | Number, *,
                out: Tensor | None = None) -> Tensor:
    """Bits that are set in exactly one; of bools, their difference."""
    ...
def blackman_window(window_length: _int, periodic: _bool = True, *, dtype: dtype | None = None,
                    layout: layout | None = None, device: Device = None, pin_memory: _bool = False,
                    requires_grad: _bool = False) -> Tensor:
    """The sum of a cosine of one period and one of two."""
    ...
def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with the tensors as blocks along its diagonal."""
    ...
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The products of two batches of matrices, pair by pair.

    ``yᵢ = Aᵢ Bᵢ`` for two batches of matrices.

    >>> torch.bmm(torch.ones(2, 1, 3), torch.ones(2, 3, 2)).shape
    torch.Size([2, 1, 2])
    """
    ...
def broadcast_shapes(*shapes: _int | Sequence[_int]) -> Size:
    """The shape that tensors of these shapes broadcast to."""
    ...
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors, all expanded to the shape they broadcast to."""
    ...
def broadcast_to(input: Tensor, size: Sequence[_int]) -> Tensor:
    """``input`` expanded to ``size``."""
    ...
def bucketize(input: Tensor | Number, boundaries: Tensor, *, out_int32: _bool = False,
              right: _bool = False, out: Tensor | None = None) -> Tensor:
    """The index of the bucket between ``boundaries`` that each value falls into."""
    ...
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Every combination of one element of each vector, one per row."""
    ...
def cat(tensors: Sequence[Tensor], dim: _int = 0, *, axis: _int | None = None,
        out: Tensor | None = None) -> Tensor:
    """Join tensors along an existing dimension.

    The sizes agree in every other dim; each tensor gets its part of the gradient.

    >>> torch.cat([torch.tensor([1, 2]), torch.tensor([3])])
    tensor([1, 2, 3])
    """
    ...
def cdist(x1: Tensor, x2: Tensor, p: _float = 2.0, compute_mode: str | None = None) -> Tensor:
    """The ``p``-norm distance between each row of ``x1`` and each row of ``x2``."""
    ...
def ceil(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The nearest integer that is not less.

    A step function: the gradient is zero everywhere.

    >>> torch.ceil(torch.tensor([-1.5, 1.5]))
    tensor([-1.,  2.])
    """
    ...
def ceil_(input: Tensor) -> Tensor:
    """In-place version of :func:`ceil`."""
    ...
def celu(input: Tensor, alpha: Number = 1.0, *, out: Tensor | None = None) -> Tensor:
    """An :func:`elu` whose slope is continuous for every ``alpha``."""
    ...
def celu_(input: Tensor, alpha: Number = 1.0) -> Tensor:
    """In-place version of :func:`celu`."""
    ...
def chain_matmul(*matrices_: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of several matrices; :func:`retrograd.linalg.multi_dot` takes over from it."""
    ...
def channel_shuffle(input: Tensor, groups: _int, *, out: Tensor | None = None) -> Tensor:
    """Channels in another order: the first of each group, then the second of each."""
    ...
def cholesky(input: Tensor, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The triangular factor of a positive-definite matrix."""
    ...
def cholesky_inverse(L: Tensor, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The inverse of a matrix from its Cholesky factor ``L``."""
    ...
def cholesky_solve(input: Tensor, L: Tensor, upper: _bool = False, *,
                   out: Tensor | None = None) -> Tensor:
    """The solution X of ``A @ X = input``, from the Cholesky factor ``L`` of A."""
    ...
def chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` views of equal length along ``dim``; the last may be shorter.

    Views of parts of equal size, of which the last may be smaller.

    >>> torch.chunk(torch.arange(5), 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    ...
def clamp(input: Tensor, min: Tensor | Number | None = None, max: Tensor | Number | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """``input`` held between two bounds, either of which may be missing.

    ``y = min(max(x, low), high)``; the gradient passes where ``x`` lies between the bounds.

    >>> torch.clamp(torch.tensor([-1.0, 0.5, 3.0]), min=0.0, max=1.0)
    tensor([0.0000, 0.5000, 1.0000])
    """
    ...
def clamp_(input: Tensor, min: Tensor | Number | None = None,
           max: Tensor | Number | None = None) -> Tensor:
    """In-place version of :func:`clamp`."""
    ...
def clamp_max(input: Tensor, max: Tensor | Number | None, *, out: Tensor | None = None) -> Tensor:
    """``input``, or ``max`` where that is less."""
    ...
def clamp_max_(input: Tensor, max: Tensor | Number | None) -> Tensor:
    """In-place version of :func:`clamp_max`."""
    ...
def clamp_min(input: Tensor, min: Tensor | Number | None, *, out: Tensor | None = None) -> Tensor:
    """``input``, or ``min`` where that is greater."""
    ...
def clamp_min_(input: Tensor, min: Tensor | Number | None) -> Tensor:
    """In-place version of :func:`clamp_min`."""
    ...
def clip(input: Tensor, min: Tensor | Number | None = None, max: Tensor | Number | None = None, *,
         out: Tensor | None = None) -> Tensor:
    """``input`` held between two bounds, either of which may be missing.

    ``y = min(max(x, low), high)``; the gradient passes where ``x`` lies between the bounds.

    >>> torch.clamp(torch.tensor([-1.0, 0.5, 3.0]), min=0.0, max=1.0)
    tensor([0.0000, 0.5000, 1.0000])
    """
    ...
def clip_(input: Tensor, min: Tensor | Number | None = None,
          max: Tensor | Number | None = None) -> Tensor:
    """In-place version of :func:`clamp`."""
    ...
def clone(input: Tensor, *, memory_format: memory_format | None = None,
          out: Tensor | None = None) -> Tensor:
    """A copy with memory of its own; gradients flow through it."""
    ...
def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join vectors as columns, and matrices side by side."""
    ...
def combinations(input: Tensor, r: _int = 2, with_replacement: _bool = False) -> Tensor:
    """Every way to choose ``r`` elements of a vector, one per row."""
    ...
def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The complex numbers with the given parts."""
    ...
def concat(tensors: Sequence[Tensor], dim: _int = 0, *, axis: _int | None = None,
           out: Tensor | None = None) -> Tensor:
    """Join tensors along an existing dimension.

    The sizes agree in every other dim; each tensor gets its part of the gradient.

    >>> torch.cat([torch.tensor([1, 2]), torch.tensor([3])])
    tensor([1, 2, 3])
    """
    ...
def concatenate(tensors: Sequence[Tensor], dim: _int = 0, *, axis: _int | None = None,
                out: Tensor | None = None) -> Tensor:
    """Join tensors along an existing dimension.

    The sizes agree in every other dim; each tensor gets its part of the gradient.

    >>> torch.cat([torch.tensor([1, 2]), torch.tensor([3])])
    tensor([1, 2, 3])
    """
    ...
def conj(input: Tensor) -> Tensor:
    """The complex conjugate; a real tensor is its own."""
    ...
def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The complex conjugate in memory of its own; a real tensor is its own."""
    ...
def conj_physical_(input: Tensor) -> Tensor:
    """In-place version of :func:`_conj_physical_written`."""
    ...
def constant_pad_nd(input: Tensor, pad: Sequence[_int], value: Number = 0, *,
                    out: Tensor | None = None) -> Tensor:
    """``input`` with ``value`` around it; a negative ``pad`` cuts off."""
    ...
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None,
           stride: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] | str = 0,
           dilation: _int | Sequence[_int] = 1, groups: _int = 1) -> Tensor:
    """The cross-correlation of a batch of signals with ``weight``."""
    ...
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None,
           stride: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] | str = 0,
           dilation: _int | Sequence[_int] = 1, groups: _int = 1) -> Tensor:
    """The cross-correlation of a batch of images with ``weight``.

    ``y[o, r, c] = bias[o] + Σ weight[o, i, u, v] · x[i, r·stride + u, c·stride + v]`` over a
    padded input.

    >>> F.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2))
    tensor([[[[4., 4.],
              [4., 4.]]]])
    """
    ...
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None,
           stride: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] | str = 0,
           dilation: _int | Sequence[_int] = 1, groups: _int = 1) -> Tensor:
    """The cross-correlation of a batch of volumes with ``weight``."""
    ...
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: _int = 0, *,
             out: Tensor | None = None) -> Tensor:
    """:func:`conv1d` of signals of (time, batch, channels) with kernels of (time, in, out)."""
    ...
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None,
                     stride: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] = 0,
                     output_padding: _int | Sequence[_int] = 0, groups: _int = 1,
                     dilation: _int | Sequence[_int] = 1) -> Tensor:
    """The transpose of :func:`conv1d` as a map of its input."""
    ...
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None,
                     stride: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] = 0,
                     output_padding: _int | Sequence[_int] = 0, groups: _int = 1,
                     dilation: _int | Sequence[_int] = 1) -> Tensor:
    """The transpose of :func:`conv2d` as a map of its input."""
    ...
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None,
                     stride: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] = 0,
                     output_padding: _int | Sequence[_int] = 0, groups: _int = 1,
                     dilation: _int | Sequence[_int] = 1) -> Tensor:
    """The transpose of :func:`conv3d` as a map of its input."""
    ...
def convolution(input: Tensor, weight: Tensor, bias: Tensor | None, stride: _int | Sequence[_int],
                padding: _int | Sequence[_int], dilation: _int | Sequence[_int], transposed: _bool,
                output_padding: _int | Sequence[_int], groups: _int, *,
                out: Tensor | None = None) -> Tensor:
    """The convolution that fits the kernel's rank, or its transpose."""
    ...
def copysign(input: Tensor | Number, other: Tensor | Number, *,
             out: Tensor | None = None) -> Tensor:
    """The magnitude of ``input`` with the sign of ``other``."""
    ...
def corrcoef(input: Tensor) -> Tensor:
    """The matrix of correlation coefficients of variables in rows, observed in columns."""
    ...
def cos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The cosine.

    ``y = cos x``; the gradient is ``-g · sin x``.

    >>> torch.cos(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.5403])
    """
    ...
def cos_(input: Tensor) -> Tensor:
    """In-place version of :func:`cos`."""
    ...
def cosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic cosine."""
    ...
def cosh_(input: Tensor) -> Tensor:
    """In-place version of :func:`cosh`."""
    ...
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0.0,
                          reduction: _int = 0) -> Tensor:
    """``nn.functional.cosine_embedding_loss`` with the number of a reduction."""
    ...
def cosine_similarity(x1: Tensor, x2: Tensor, dim: _int = 1, eps: _float = 1e-08) -> Tensor:
    """The cosine of the angle between ``x1`` and ``x2`` along ``dim``.

    ``y = a · b / max(|a| |b|, eps)`` along ``dim``.

    >>> F.cosine_similarity(torch.tensor([1.0, 0.0]), torch.tensor([1.0, 1.0]), dim=0)
    tensor(0.7071)
    """
    ...
def count_nonzero(input: Tensor, dim: _int | Sequence[_int] | None = None, *,
                  out: Tensor | None = None) -> Tensor:
    """How many elements over ``dim`` are not zero."""
    ...
def cov(input: Tensor, *, correction: _int = 1, fweights: Tensor | None = None,
        aweights: Tensor | None = None) -> Tensor:
    """The covariance matrix of variables in rows, observed in columns."""
    ...
def cross(input: Tensor, other: Tensor, dim: _int | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """The cross product along ``dim``, by default the first dimension of length three."""
    ...
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[_int],
             target_lengths: Tensor | Sequence[_int], blank: _int = 0, reduction: _int = 0,
             zero_infinity: _bool = False) -> Tensor:
    """:func:`ctc_loss` with the number of a reduction, as ``torch.ctc_loss`` takes it."""
    ...
def cummax(input: Tensor, dim: _int, *, out: Sequence[Tensor] | None = None) -> return_types.cummax:
    """Running maximum along ``dim``, and where it was last met."""
    ...
def cummin(input: Tensor, dim: _int, *, out: Sequence[Tensor] | None = None) -> return_types.cummin:
    """Running minimum along ``dim``, and where it was last met."""
    ...
def cumprod(input: Tensor, dim: _int, *, dtype: dtype | None = None,
            out: Tensor | None = None) -> Tensor:
    """Running product along ``dim``.

    ``yᵢ = x₀ · … · xᵢ`` along ``dim``.

    >>> torch.cumprod(torch.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([1., 2., 6.])
    """
    ...
def cumsum(input: Tensor, dim: _int, *, dtype: dtype | None = None,
           out: Tensor | None = None) -> Tensor:
    """Running sum along ``dim``.

    ``yᵢ = x₀ + … + xᵢ`` along ``dim``; the gradient is the sum of those that come after.

    >>> torch.cumsum(torch.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([1., 3., 6.])
    """
    ...
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: _float | None = None,
                         dim: _int = -1) -> Tensor:
    """The running integral of ``y`` along ``dim`` by the trapezoidal rule."""
    ...
def deg2rad(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Degrees as radians."""
    ...
def deg2rad_(input: Tensor) -> Tensor:
    """In-place version of :func:`deg2rad`."""
    ...
def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The determinant of square matrices.

    The gradient is ``g · det(A) · A⁻ᵀ``, by cofactors where the matrix is singular.

    >>> torch.linalg.det(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor(-2.)
    """
    ...
def detach(input: Tensor) -> Tensor:
    """A tensor on the same memory, outside the graph and without tangents."""
    ...
def detach_(self: Tensor) -> Tensor:
    """Leave the graph, in place."""
    ...
def detach_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """What ``detach`` shows, in memory of its own."""
    ...
def diag(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """A vector as a diagonal matrix, or the diagonal of a matrix.

    A vector becomes a matrix with it on the diagonal, of a matrix the diagonal is taken.

    >>> torch.diag(torch.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    ...
def diag_embed(input: Tensor, offset: _int = 0, dim1: _int = -2, dim2: _int = -1, *,
               out: Tensor | None = None) -> Tensor:
    """Matrices between ``dim1`` and ``dim2`` with ``input``'s last dimension on a diagonal."""
    ...
def diagflat(input: Tensor, offset: _int = 0) -> Tensor:
    """All elements on the diagonal of a matrix."""
    ...
def diagonal(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
    """A view of a diagonal, as the last dimension."""
    ...
def diagonal_copy(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1, *,
                  out: Tensor | None = None) -> Tensor:
    """What ``diagonal`` shows, in memory of its own."""
    ...
def diagonal_scatter(input: Tensor, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1,
                     *, out: Tensor | None = None) -> Tensor:
    """``input`` with ``src`` in place of a diagonal."""
    ...
def diff(input: Tensor, n: _int = 1, dim: _int = -1, prepend: Tensor | None = None,
         append: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """The ``n``-th differences of neighbours along ``dim``."""
    ...
def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of the logarithm of gamma."""
    ...
def dist(input: Tensor, other: Tensor, p: _float = 2, *, out: Tensor | None = None) -> Tensor:
    """The ``p``-norm of the difference of two tensors."""
    ...
def div(input: Tensor | Number, other: Tensor | Number, *, rounding_mode: str | None = None,
        out: Tensor | None = None) -> Tensor:
    """Quotient of ``input`` and ``other``, optionally rounded towards zero or down.

    ``y = input / other``; the gradients are ``g / other`` and ``-g · input / other²``. With
    ``rounding_mode`` "floor" or "trunc" the quotient is rounded, and has no gradient.

    >>> torch.div(torch.tensor([7.0, -7.0]), 2)
    tensor([ 3.5000, -3.5000])
    >>> torch.div(torch.tensor([7.0, -7.0]), 2, rounding_mode="floor")
    tensor([ 3., -4.])
    """
    ...
def divide(input: Tensor | Number, other: Tensor | Number, *, rounding_mode: str | None = None,
           out: Tensor | None = None) -> Tensor:
    """Quotient of ``input`` and ``other``, optionally rounded towards zero or down.

    ``y = input / other``; the gradients are ``g / other`` and ``-g · input / other²``. With
    ``rounding_mode`` "floor" or "trunc" the quotient is rounded, and has no gradient.

    >>> torch.div(torch.tensor([7.0, -7.0]), 2)
    tensor([ 3.5000, -3.5000])
    >>> torch.div(torch.tensor([7.0, -7.0]), 2, rounding_mode="floor")
    tensor([ 3., -4.])
    """
    ...
def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sum of the products of two vectors' elements.

    ``y = Σ xᵢ yᵢ``; each vector's gradient is ``g`` times the other.

    >>> torch.dot(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
    tensor(11.)
    """
    ...
def dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """``input`` with elements zeroed at random and the rest scaled up, while training."""
    ...
def dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """In-place version of :func:`dropout`."""
    ...
def dsmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of two matrices.

    ``y = A B`` for two matrices; the gradients are ``g Bᵀ`` and ``Aᵀ g``.

    >>> torch.mm(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0], [4.0]]))
    tensor([[11.]])
    """
    ...
def dsplit(input: Tensor,
           indices_or_sections: Tensor | _int | Sequence[_int]) -> tuple[Tensor, ...]:
    """Views of parts behind each other."""
    ...
def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join tensors behind each other."""
    ...
@overload
def einsum(equation: str, *operands: Tensor) -> Tensor:
    """The sum of products of the operands over the subscripts that the output does not name.

    Letters name dims: those that the result does not name are summed over.

    >>> torch.einsum("ij,ij->i", torch.ones(2, 3), torch.ones(2, 3))
    tensor([3., 3.])
    """
    ...
@overload
def einsum(equation: str, operands: Sequence[Tensor], /) -> Tensor:
    """The sum of products of the operands over the subscripts that the output does not name.

    Letters name dims: those that the result does not name are summed over.

    >>> torch.einsum("ij,ij->i", torch.ones(2, 3), torch.ones(2, 3))
    tensor([3., 3.])
    """
    ...
@overload
def einsum(operand: Tensor, *sublists: Tensor | Sequence[_int | EllipsisType]) -> Tensor:
    """The sum of products of the operands over the subscripts that the output does not name.

    Letters name dims: those that the result does not name are summed over.

    >>> torch.einsum("ij,ij->i", torch.ones(2, 3), torch.ones(2, 3))
    tensor([3., 3.])
    """
    ...
def embedding(weight: Tensor, indices: Tensor, padding_idx: _int = -1,
              scale_grad_by_freq: _bool = False, sparse: _bool = False) -> Tensor:
    """:func:`embedding` with the argument order of ``torch.embedding``."""
    ...
def embedding_bag(weight: Tensor, indices: Tensor, offsets: Tensor,
                  scale_grad_by_freq: _bool = False, mode: _int = 0, sparse: _bool = False,
                  per_sample_weights: Tensor | None = None, include_last_offset: _bool = False,
                  padding_idx: _int | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """:func:`embedding_bag` as ``torch.embedding_bag`` has it, with what it found on the way.

    That is the bag of each index, the size of each bag unless they are summed, and the row that
    each element of a maximum is from.
    """
    ...
def embedding_renorm_(input: Tensor, indices: Tensor, max_norm: _float,
                      norm_type: _float) -> Tensor:
    """Scale the rows at ``indices`` that are longer than ``max_norm``, in place."""
    ...
@overload
def empty(*size: _int, out: Tensor | None = None, dtype: dtype | None = None,
          layout: layout | None = None, device: Device = None, pin_memory: _bool = False,
          requires_grad: _bool = False, memory_format: memory_format | None = None) -> Tensor:
    """A tensor whose values are not set."""
    ...
@overload
def empty(size: Sequence[_int], *, out: Tensor | None = None, dtype: dtype | None = None,
          layout: layout | None = None, device: Device = None, pin_memory: _bool = False,
          requires_grad: _bool = False, memory_format: memory_format | None = None) -> Tensor:
    """A tensor whose values are not set."""
    ...
def empty_like(input: Tensor, *, dtype: dtype | None = None, layout: layout | None = None,
               device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False,
               memory_format: memory_format | None = None) -> Tensor:
    """A tensor shaped as ``input`` whose values are not set."""
    ...
def empty_permuted(size: Sequence[_int], physical_layout: Sequence[_int], *,
                   dtype: dtype | None = None, layout: layout | None = None, device: Device = None,
                   pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """A tensor whose values are not set and whose dims lie in memory in the order that is given."""
    ...
def empty_strided(size: Sequence[_int], stride: Sequence[_int], *, dtype: dtype | None = None,
                  layout: layout | None = None, device: Device = None, requires_grad: _bool = False,
                  pin_memory: _bool = False) -> Tensor:
    """A tensor with given strides whose values are not set."""
    ...
def eq(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` and ``other`` are equal.

    Comparisons have no gradient.

    >>> torch.eq(torch.tensor([1, 2]), torch.tensor([1, 3]))
    tensor([ True, False])
    """
    ...
def equal(input: Tensor, other: Tensor) -> _bool:
    """Whether two tensors have the same shape and elements.

    Whether shapes and all elements are equal.

    >>> torch.equal(torch.tensor([1, 2]), torch.tensor([1, 2]))
    True
    """
    ...
def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The error function.

    ``y = 2/√π ∫₀ˣ e^(-t²) dt``; the gradient is ``g · 2/√π · e^(-x²)``.

    >>> torch.erf(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8427])
    """
    ...
def erf_(input: Tensor) -> Tensor:
    """In-place version of :func:`erf`."""
    ...
def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """One minus the error function, exact far from zero."""
    ...
def erfc_(input: Tensor) -> Tensor:
    """In-place version of :func:`erfc`."""
    ...
def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the error function."""
    ...
def exp(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """e to the power of ``input``.

    ``y = e^x``; the gradient is ``g · y``.

    >>> torch.exp(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    """
    ...
def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Two to the power of ``input``."""
    ...
def exp2_(input: Tensor) -> Tensor:
    """In-place version of :func:`exp2`."""
    ...
def exp_(input: Tensor) -> Tensor:
    """In-place version of :func:`exp`."""
    ...
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """``input`` expanded to ``other``'s shape."""
    ...
def expand_copy(input: Tensor, size: Sequence[_int], *, implicit: _bool = False,
                out: Tensor | None = None) -> Tensor:
    """What ``expand`` shows, in memory of its own."""
    ...
def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """e to the power of ``input``, minus one, exact for small ``input``."""
    ...
def expm1_(input: Tensor) -> Tensor:
    """In-place version of :func:`expm1`."""
    ...
def eye(n: _int, m: _int | None = None, *, out: Tensor | None = None, dtype: dtype | None = None,
        layout: layout | None = None, device: Device = None, pin_memory: _bool = False,
        requires_grad: _bool = False) -> Tensor:
    """A matrix with ones on its diagonal.

    ``yᵢⱼ = 1`` where ``i = j``, else 0.

    >>> torch.eye(2, 3)
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    ...
def feature_alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """:func:`alpha_dropout` of whole channels."""
    ...
def feature_alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """In-place version of :func:`feature_alpha_dropout`."""
    ...
def feature_dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """Dropout of whole channels."""
    ...
def feature_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """In-place version of :func:`feature_dropout`."""
    ...
def fill(input: Tensor, value: Tensor | Number) -> Tensor:
    """A tensor shaped like ``input`` with every element ``value``."""
    ...
def fill_(input: Tensor, value: Tensor | Number) -> Tensor:
    """Overwrite every element with ``value``, a number or a zero-dim tensor."""
    ...
def fix(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The integer part."""
    ...
def fix_(input: Tensor) -> Tensor:
    """In-place version of :func:`trunc`."""
    ...
def flatten(input: Tensor, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
    """Merge the dimensions from ``start_dim`` to ``end_dim``.

    The dims from ``start_dim`` to ``end_dim`` become one.

    >>> torch.flatten(torch.ones(2, 3, 4), 1).shape
    torch.Size([2, 12])
    """
    ...
def flip(input: Tensor, dims: _int | Sequence[_int]) -> Tensor:
    """``input`` with the order along ``dims`` reversed.

    A copy with the order of some dims reversed.

    >>> torch.flip(torch.tensor([[1, 2], [3, 4]]), dims=(0,))
    tensor([[3, 4],
            [1, 2]])
    """
    ...
def fliplr(input: Tensor) -> Tensor:
    """``input`` with its columns in reverse order."""
    ...
def flipud(input: Tensor) -> Tensor:
    """``input`` with its rows in reverse order."""
    ...
def float_power(input: Tensor | Number, exponent: Tensor | Number, *,
                out: Tensor | None = None) -> Tensor:
    """``input`` to the power of ``exponent``, in double precision."""
    ...
def floor(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The nearest integer that is not greater.

    A step function: the gradient is zero everywhere.

    >>> torch.floor(torch.tensor([-1.5, 1.5]))
    tensor([-2.,  1.])
    """
    ...
def floor_(input: Tensor) -> Tensor:
    """In-place version of :func:`floor`."""
    ...
def floor_divide(input: Tensor | Number, other: Tensor | Number, *,
                 out: Tensor | None = None) -> Tensor:
    """Quotient of ``input`` and ``other``, rounded down."""
    ...
def fmax(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The greater of two, ignoring NaN; of equals, the first takes the gradient."""
    ...
def fmin(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smaller of two, ignoring NaN; of equals, the first takes the gradient."""
    ...
def fmod(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """What is left of ``input`` after division by ``other``, with the sign of ``input``."""
    ...
def frac(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The fractional part, with the sign of ``input``."""
    ...
def frac_(input: Tensor) -> Tensor:
    """In-place version of :func:`frac`."""
    ...
def frexp(input: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.frexp:
    """``input`` as a mantissa between a half and one, and a power of two."""
    ...
def frobenius_norm(input: Tensor, dim: _int | Sequence[_int], keepdim: _bool = False) -> Tensor:
    """The root of the sum of squares over ``dim``; deprecated."""
    ...
def from_dlpack(ext_tensor: Any, *, device: Device = None, copy: _bool | None = None) -> Tensor:
    """A tensor on memory that another library offers through DLPack."""
    ...
def from_file(filename: str, shared: _bool | None = None, size: _int | None = 0, *,
              dtype: dtype | None = None, layout: layout | None = None, device: Device = None,
              pin_memory: _bool | None = None, requires_grad: _bool = False) -> Tensor:
    """A tensor of ``size`` elements on the memory of a file.

    If it is shared, what is written to the tensor is written to the file, which is made or
    lengthened as needed; else the file stays as it is.
    """
    ...
def from_numpy(ndarray: SupportsArray) -> Tensor:
    """A tensor on the memory of a NumPy array."""
    ...
def frombuffer(buffer: Any, *, dtype: dtype | None, count: _int = -1, offset: _int = 0,
               requires_grad: _bool = False) -> Tensor:
    """A one-dimensional tensor on the memory of anything with the buffer protocol."""
    ...
def full(size: Sequence[_int], fill_value: Number, *, out: Tensor | None = None,
         dtype: dtype | None = None, layout: layout | None = None, device: Device = None,
         pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """A tensor filled with one value, whose type decides the dtype.

    The dtype is that of the value, unless it is given.

    >>> torch.full((2, 2), 7)
    tensor([[7, 7],
            [7, 7]])
    """
    ...
def full_like(input: Tensor, fill_value: Number, *, dtype: dtype | None = None,
              layout: layout | None = None, device: Device = None, pin_memory: _bool = False,
              requires_grad: _bool = False, memory_format: memory_format | None = None) -> Tensor:
    """A tensor shaped as ``input`` and filled with one value."""
    ...
def gather(input: Tensor, dim: _int, index: Tensor, *, sparse_grad: _bool = False,
           out: Tensor | None = None) -> Tensor:
    """The elements of ``input`` whose coordinate along ``dim`` is given by ``index``.

    ``y[i][j] = input[index[i][j]][j]`` for ``dim=0``; the gradient is added to where it was
    taken.

    >>> torch.gather(torch.tensor([[1, 2], [3, 4]]), 1, torch.tensor([[0, 0], [1, 0]]))
    tensor([[1, 1],
            [4, 3]])
    """
    ...
def gcd(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The greatest common divisor."""
    ...
def gcd_(input: Tensor, other: Tensor) -> Tensor:
    """In-place version of :func:`gcd`."""
    ...
def ge(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is at least ``other``."""
    ...
def geqrf(input: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.geqrf:
    """R with the vectors of the reflections that make Q below it, and their factors."""
    ...
def ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The matrix of all products of two vectors' elements.

    ``yᵢⱼ = aᵢ bⱼ``.

    >>> torch.outer(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    ...
def get_device(input: Tensor) -> _int:
    """The number of the accelerator that holds the tensor: -1, for it lies on the CPU."""
    ...
def gradient(input: Tensor, *, spacing: Tensor | Number | Sequence[Tensor | Number] | None = None,
             dim: _int | Sequence[_int] | None = None, edge_order: _int = 1) -> tuple[Tensor, ...]:
    """The slopes along each of ``dim``: of neighbours on both sides, at the ends of one side."""
    ...
def greater(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is greater than ``other``."""
    ...
def greater_equal(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is at least ``other``."""
    ...
def grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: _int, padding_mode: _int,
                 align_corners: _bool) -> Tensor:
    """:func:`grid_sample` with numbers of modes, as ``torch.grid_sampler`` takes them."""
    ...
def grid_sampler_2d(input: Tensor, grid: Tensor, interpolation_mode: _int, padding_mode: _int,
                    align_corners: _bool) -> Tensor:
    """:func:`grid_sample` with numbers of modes, as ``torch.grid_sampler`` takes them."""
    ...
def grid_sampler_3d(input: Tensor, grid: Tensor, interpolation_mode: _int, padding_mode: _int,
                    align_corners: _bool) -> Tensor:
    """:func:`grid_sample` with numbers of modes, as ``torch.grid_sampler`` takes them."""
    ...
def group_norm(input: Tensor, num_groups: _int, weight: Tensor | None = None,
               bias: Tensor | None = None, eps: _float = 1e-05,
               cudnn_enabled: _bool = True) -> Tensor:
    """:func:`group_norm` for any batch."""
    ...
def gru_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
             b_hh: Tensor | None = None) -> Tensor:
    """The next state of gated recurrent units."""
    ...
def gt(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is greater than ``other``."""
    ...
def hamming_window(window_length: _int, periodic: _bool = True, alpha: _float = 0.54,
                   beta: _float = 0.46, *, dtype: dtype | None = None, layout: layout | None = None,
                   device: Device = None, pin_memory: _bool = False,
                   requires_grad: _bool = False) -> Tensor:
    """One period of a cosine: ``alpha`` less ``beta`` times it."""
    ...
def hann_window(window_length: _int, periodic: _bool = True, *, dtype: dtype | None = None,
                layout: layout | None = None, device: Device = None, pin_memory: _bool = False,
                requires_grad: _bool = False) -> Tensor:
    """One period of a cosine, raised to begin at zero."""
    ...
def hardshrink(input: Tensor, lambd: _float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """``input``, or 0 where it is no farther than ``lambd`` from 0."""
    ...
def hash_tensor(input: Tensor, dim: _int | Sequence[_int] | None = ..., *, keepdim: _bool = False,
                mode: _int = 0, out: Tensor | None = None) -> Tensor:
    """The exclusive or of the bits of all elements, each widened to 64 of them."""
    ...
def heaviside(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor:
    """0 below zero, 1 above it, and ``values`` at it."""
    ...
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: _float = 1.0,
                         reduction: _int = 0) -> Tensor:
    """``nn.functional.hinge_embedding_loss`` with the number of a reduction."""
    ...
def histc(input: Tensor, bins: _int = 100, min: Number = 0, max: Number = 0, *,
          out: Tensor | None = None) -> Tensor:
    """How many elements fall into each of ``bins`` equal intervals between ``min`` and ``max``."""
    ...
def histogram(input: Tensor, bins: _int | Tensor = 100, *, range: Sequence[_float] | None = None,
              weight: Tensor | None = None, density: _bool = False,
              out: Sequence[Tensor] | None = None) -> return_types.histogram:
    """How many elements lie in each bin, and the edges of the bins."""
    ...
def histogramdd(input: Tensor, bins: _int | Sequence[_int] | Sequence[Tensor],
                range: Sequence[_float] | None = None, weight: Tensor | None = None,
                density: _bool = False) -> return_types.histogramdd:
    """How many rows lie in each cell of a grid, and the edges of the grid along each dim."""
    ...
def hsmm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """The product of a sparse and a dense matrix, sparse in its rows alone."""
    ...
def hsplit(input: Tensor,
           indices_or_sections: Tensor | _int | Sequence[_int]) -> tuple[Tensor, ...]:
    """Views of parts side by side."""
    ...
def hspmm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """The product of a sparse and a dense matrix, sparse in its rows alone."""
    ...
def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join tensors side by side."""
    ...
def hypot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hypotenuse of a right triangle with the given legs."""
    ...
def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 0."""
    ...
def i0_(input: Tensor) -> Tensor:
    """In-place version of :func:`i0`."""
    ...
def igamma(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The lower incomplete gamma function, regularised."""
    ...
def igammac(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The upper incomplete gamma function, regularised."""
    ...
def imag(input: Tensor) -> Tensor:
    """The imaginary part, as a view."""
    ...
def index_add(input: Tensor, dim: _int, index: Tensor, source: Tensor, *, alpha: Number = 1,
              out: Tensor | None = None) -> Tensor:
    """``input`` with ``alpha`` times the slices of ``source`` added where ``index`` says."""
    ...
def index_copy(input: Tensor, dim: _int, index: Tensor, source: Tensor, *,
               out: Tensor | None = None) -> Tensor:
    """``input`` with the slices of ``source`` written where ``index`` says."""
    ...
def index_fill(input: Tensor, dim: _int, index: Tensor, value: Tensor | Number) -> Tensor:
    """``input`` with the slices along ``dim`` that ``index`` lists set to ``value``."""
    ...
def index_put(input: Tensor, indices: Sequence[Tensor | None], values: Tensor,
              accumulate: _bool = False) -> Tensor:
    """A copy with ``values`` written (or added) where ``indices`` point."""
    ...
def index_put_(input: Tensor, indices: Sequence[Tensor | None], values: Tensor,
               accumulate: _bool = False) -> Tensor:
    """Write (or add) ``values`` where ``indices`` point, in place."""
    ...
def index_reduce(input: Tensor, dim: _int, index: Tensor, source: Tensor, reduce: str, *,
                 include_self: _bool = True, out: Tensor | None = None) -> Tensor:
    """``input`` with the slices of ``source`` reduced into it where ``index`` says."""
    ...
def index_select(input: Tensor, dim: _int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The slices of ``input`` along ``dim`` that ``index`` lists.

    The entries of ``dim`` that ``index`` names, in its order.

    >>> torch.index_select(torch.tensor([[1, 2], [3, 4]]), 1, torch.tensor([1]))
    tensor([[2],
            [4]])
    """
    ...
def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sum of products over the last dimension of both; a scalar multiplies."""
    ...
def instance_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None,
                  running_mean: Tensor | None, running_var: Tensor | None, use_input_stats: _bool,
                  momentum: _float, eps: _float, cudnn_enabled: _bool) -> Tensor:
    """``nn.functional.instance_norm``, with the parameters first."""
    ...
def inverse(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of square matrices.

    ``Y = A⁻¹``; the gradient is ``-Yᵀ g Yᵀ``.

    >>> torch.linalg.inv(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    ...
def is_complex(input: Tensor) -> _bool:
    """Whether the dtype is a complex type."""
    ...
def is_conj(input: Tensor) -> _bool:
    """Whether conjugation is pending: never, it is done at once here."""
    ...
def is_floating_point(input: Tensor) -> _bool:
    """Whether the dtype is a floating point type."""
    ...
def is_inference(input: Tensor) -> _bool:
    """Whether the tensor was made in inference mode."""
    ...
def is_neg(input: Tensor) -> _bool:
    """Whether negation is pending: never, it is done at once here."""
    ...
def is_nonzero(input: Tensor) -> _bool:
    """Whether the one element is not zero."""
    ...
def is_same_size(input: Tensor, other: Tensor) -> _bool:
    """Whether two tensors have the same shape."""
    ...
def is_signed(input: Tensor) -> _bool:
    """Whether the dtype has negative numbers."""
    ...
def isclose(input: Tensor, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08,
            equal_nan: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` and ``other`` are equal within tolerances."""
    ...
def isfinite(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is neither infinite nor NaN."""
    ...
def isin(elements: Tensor | Number, test_elements: Tensor | Number, *, assume_unique: _bool = False,
         invert: _bool = False, out: Tensor | None = None) -> Tensor:
    """Whether each element is among ``test_elements``."""
    ...
def isinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is infinite."""
    ...
def isnan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is not a number.

    True where a value is not a number.

    >>> torch.isnan(torch.tensor([1.0, float("nan")]))
    tensor([False,  True])
    """
    ...
def isneginf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is minus infinity."""
    ...
def isposinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is plus infinity."""
    ...
def isreal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where the imaginary part is zero."""
    ...
def istft(input: Tensor, n_fft: _int, hop_length: _int | None = None,
          win_length: _int | None = None, window: Tensor | None = None, center: _bool = True,
          normalized: _bool = False, onesided: _bool | None = None, length: _int | None = None,
          return_complex: _bool = False) -> Tensor:
    """The signal of which :func:`stft` gave the spectra."""
    ...
def kaiser_window(window_length: _int, periodic: _bool = True, beta: _float = 12.0, *,
                  dtype: dtype | None = None, layout: layout | None = None, device: Device = None,
                  pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """Bessel's function of a semicircle; the larger ``beta``, the narrower."""
    ...
def kl_div(input: Tensor, target: Tensor, reduction: _int = 0, *,
           log_target: _bool = False) -> Tensor:
    """``nn.functional.kl_div`` with the number of a reduction."""
    ...
def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Kronecker product: every element of ``input`` times the whole of ``other``."""
    ...
def kthvalue(input: Tensor, k: _int, dim: _int = -1, keepdim: _bool = False, *,
             out: Sequence[Tensor] | None = None) -> return_types.kthvalue:
    """The ``k``-th smallest element along ``dim``, and its index."""
    ...
def layer_norm(input: Tensor, normalized_shape: _int | Sequence[_int], weight: Tensor | None = None,
               bias: Tensor | None = None, eps: _float = 1e-05,
               cudnn_enable: _bool = True) -> Tensor:
    """Mean 0 and variance 1 over the last dimensions, then scaled and shifted.

    ``y = (x - mean) / √(var + eps) · weight + bias`` over the last dims.

    >>> F.layer_norm(torch.tensor([[1.0, 2.0, 3.0]]), (3,))
    tensor([[-1.2247,  0.0000,  1.2247]])
    """
    ...
def lcm(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The least common multiple."""
    ...
def lcm_(input: Tensor, other: Tensor) -> Tensor:
    """In-place version of :func:`lcm`."""
    ...
def ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``input`` times two to the power of ``other``."""
    ...
def ldexp_(input: Tensor, other: Tensor) -> Tensor:
    """In-place version of :func:`ldexp`."""
    ...
def le(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is at most ``other``."""
    ...
def lerp(input: Tensor, end: Tensor, weight: Tensor | Number, *,
         out: Tensor | None = None) -> Tensor:
    """The point between ``input`` and ``end`` at ``weight`` of the way."""
    ...
def less(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is less than ``other``."""
    ...
def less_equal(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is at most ``other``."""
    ...
def lgamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the gamma function's absolute value."""
    ...
def linspace(start: Tensor | Number, end: Tensor | Number, steps: _int | None = None, *,
             out: Tensor | None = None, dtype: dtype | None = None, layout: layout | None = None,
             device: Device = None, pin_memory: _bool = False,
             requires_grad: _bool = False) -> Tensor:
    """``steps`` evenly spaced numbers from ``start`` to ``end``, both included.

    ``steps`` values at equal distances, both ends among them.

    >>> torch.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    ...
def lobpcg(A: Tensor, k: _int | None = None, B: Tensor | None = None, X: Tensor | None = None,
           n: _int | None = None, iK: Tensor | None = None, niter: _int | None = None,
           tol: _float | None = None, largest: _bool | None = None, method: str | None = None,
           tracker: None = None, ortho_iparams: dict[str, _int] | None = None,
           ortho_fparams: dict[str, _float] | None = None,
           ortho_bparams: dict[str, _bool] | None = None) -> tuple[Tensor, Tensor]:
    """The ``k`` largest or smallest eigenvalues of ``A x = e B x``, and their vectors.

    The subspace of the vectors, what they lack and the last steps is searched until nothing is
    missing; ``iK`` tells what to make of what is missing. Gradients are those of ``eigh``.
    """
    ...
def log(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The natural logarithm.

    ``y = ln x``; the gradient is ``g / x``.

    >>> torch.log(torch.tensor([1.0, 10.0]))
    tensor([0.0000, 2.3026])
    """
    ...
def log10(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm to base ten."""
    ...
def log10_(input: Tensor) -> Tensor:
    """In-place version of :func:`log10`."""
    ...
def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The natural logarithm of one plus ``input``, exact for small ``input``.

    ``y = ln(1 + x)``, also exact for small ``x``; the gradient is ``g / (1 + x)``.

    >>> torch.log1p(torch.tensor([0.0, 1e-8], dtype=torch.float64))
    tensor([0.0000e+00, 1.0000e-08], dtype=torch.float64)
    """
    ...
def log1p_(input: Tensor) -> Tensor:
    """In-place version of :func:`log1p`."""
    ...
def log2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm to base two."""
    ...
def log2_(input: Tensor) -> Tensor:
    """In-place version of :func:`log2`."""
    ...
def log_(input: Tensor) -> Tensor:
    """In-place version of :func:`log`."""
    ...
def log_softmax(input: Tensor, dim: _int, dtype: dtype | None = None, *,
                out: Tensor | None = None) -> Tensor:
    """The logarithm of softmax, computed safely."""
    ...
def logaddexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the sum of exponentials."""
    ...
def logaddexp2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm to base two of the sum of powers of two."""
    ...
def logcumsumexp(input: Tensor, dim: _int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the running sum of exponentials along ``dim``."""
    ...
def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant; nan where that is negative."""
    ...
def logical_and(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where both are not zero."""
    ...
def logical_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is zero."""
    ...
def logical_or(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where at least one is not zero."""
    ...
def logical_xor(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where exactly one is not zero."""
    ...
def logit(input: Tensor, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(x / (1 - x)), with ``input`` held ``eps`` away from 0 and 1 if that is given."""
    ...
def logit_(input: Tensor, eps: _float | None = None) -> Tensor:
    """In-place version of :func:`logit`."""
    ...
def logspace(start: Tensor | Number, end: Tensor | Number, steps: _int | None = None,
             base: _float = 10.0, *, out: Tensor | None = None, dtype: dtype | None = None,
             layout: layout | None = None, device: Device = None, pin_memory: _bool = False,
             requires_grad: _bool = False) -> Tensor:
    """``base`` to the power of ``steps`` evenly spaced exponents."""
    ...
def logsumexp(input: Tensor, dim: _int | Sequence[_int] | None, keepdim: _bool = False, *,
              out: Tensor | None = None) -> Tensor:
    """The logarithm of the sum of exponentials over ``dim``, without overflow.

    ``y = log Σ e^x`` without overflow; the gradient is ``g · softmax(x)``.

    >>> torch.logsumexp(torch.tensor([1000.0, 1000.0]), dim=0)
    tensor(1000.6932)
    """
    ...
def lstm_cell(input: Tensor, hx: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor,
              b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The next state of long short-term memory: what is shown, and what is kept."""
    ...
def lt(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` is less than ``other``."""
    ...
def lu(A: Tensor, pivot: _bool = True, get_infos: _bool = False,
       out: Tensor | None = None) -> tuple[Tensor, ...]:
    """The factors L and U in one matrix, pivots, and with ``get_infos`` where a zero is met."""
    ...
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *,
             out: Tensor | None = None) -> Tensor:
    """The solution X of ``A @ X = input`` from the LU factors of A."""
    ...
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: _bool = True,
              unpack_pivots: _bool = True, *,
              out: Sequence[Tensor] | None = None) -> return_types.lu_unpack:
    """The matrices P, L and U of packed LU factors; those that are not wanted are empty."""
    ...
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0.0,
                        reduction: _int = 0) -> Tensor:
    """``nn.functional.margin_ranking_loss`` with the number of a reduction."""
    ...
def masked_fill(input: Tensor, mask: Tensor, value: Tensor | Number) -> Tensor:
    """``input`` with ``value`` where ``mask`` is true."""
    ...
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """``input`` with the elements of ``source`` put in order where ``mask`` is true."""
    ...
def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements where ``mask`` is true, in one dimension.

    The elements where ``mask`` holds, in one dim.

    >>> torch.masked_select(torch.tensor([1, 2, 3]), torch.tensor([True, False, True]))
    tensor([1, 3])
    """
    ...
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of vectors, matrices or batches of matrices, by their numbers of dimensions.

    ``y = A B`` for the last two dims, over all others broadcast; the gradients are ``g Bᵀ`` and
    ``Aᵀ g``.

    >>> torch.matmul(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([1.0, 1.0]))
    tensor([3., 7.])
    """
    ...
def matrix_exp(A: Tensor) -> Tensor:
    """The exponential of square matrices."""
    ...
def matrix_power(A: Tensor, n: _int, *, out: Tensor | None = None) -> Tensor:
    """The ``n``-th power of square matrices, by repeated squaring."""
    ...
@overload
def max(input: Tensor, *, out: Tensor | None = None) -> Tensor:
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
def max(input: Tensor, dim: _int, keepdim: _bool = False, *,
        out: Sequence[Tensor] | None = None) -> return_types.max:
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
def max(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
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
def max_pool1d(input: Tensor, kernel_size: _int | Sequence[_int],
               stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0,
               dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False,
               return_indices: Literal[False] = False) -> Tensor:
    """The largest value of every window of a signal."""
    ...
@overload
def max_pool1d(input: Tensor, kernel_size: _int | Sequence[_int],
               stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0,
               dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False, *,
               return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest value of every window of a signal."""
    ...
@overload
def max_pool1d(input: Tensor, kernel_size: _int | Sequence[_int],
               stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0,
               dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False,
               return_indices: _bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest value of every window of a signal."""
    ...
def max_pool1d_with_indices(input: Tensor, kernel_size: _int | Sequence[_int],
                            stride: _int | Sequence[_int] | None = None,
                            padding: _int | Sequence[_int] = 0, dilation: _int | Sequence[_int] = 1,
                            ceil_mode: _bool = False,
                            return_indices: _bool = False) -> tuple[Tensor, Tensor]:
    """:func:`max_pool1d`, and where in a signal each maximum lies."""
    ...
@overload
def max_pool2d(input: Tensor, kernel_size: _int | Sequence[_int],
               stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0,
               dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False,
               return_indices: Literal[False] = False) -> Tensor:
    """The largest value of every window of an image.

    The largest value of each window; the gradient goes to its place.

    >>> F.max_pool2d(torch.arange(16.0).reshape(1, 4, 4), 2)
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """
    ...
@overload
def max_pool2d(input: Tensor, kernel_size: _int | Sequence[_int],
               stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0,
               dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False, *,
               return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest value of every window of an image.

    The largest value of each window; the gradient goes to its place.

    >>> F.max_pool2d(torch.arange(16.0).reshape(1, 4, 4), 2)
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """
    ...
@overload
def max_pool2d(input: Tensor, kernel_size: _int | Sequence[_int],
               stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0,
               dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False,
               return_indices: _bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest value of every window of an image.

    The largest value of each window; the gradient goes to its place.

    >>> F.max_pool2d(torch.arange(16.0).reshape(1, 4, 4), 2)
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """
    ...
@overload
def max_pool3d(input: Tensor, kernel_size: _int | Sequence[_int],
               stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0,
               dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False,
               return_indices: Literal[False] = False) -> Tensor:
    """The largest value of every window of a volume."""
    ...
@overload
def max_pool3d(input: Tensor, kernel_size: _int | Sequence[_int],
               stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0,
               dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False, *,
               return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest value of every window of a volume."""
    ...
@overload
def max_pool3d(input: Tensor, kernel_size: _int | Sequence[_int],
               stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0,
               dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False,
               return_indices: _bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest value of every window of a volume."""
    ...
def maximum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The greater of two, NaN if either is; equals share the gradient.

    The gradient goes to the operand that was taken, by halves where both are equal.

    >>> torch.maximum(torch.tensor([1.0, 5.0]), torch.tensor([3.0, 2.0]))
    tensor([3., 5.])
    """
    ...
@overload
def mean(input: Tensor, *, dtype: dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Mean over ``dim``; over every dimension by default.

    ``y = Σ x / n`` over ``dim``, or over everything; every element gets the gradient ``g / n``.

    >>> torch.mean(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=1)
    tensor([1.5000, 3.5000])
    """
    ...
@overload
def mean(input: Tensor, dim: _int | Sequence[_int] | None, keepdim: _bool = False, *,
         dtype: dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Mean over ``dim``; over every dimension by default.

    ``y = Σ x / n`` over ``dim``, or over everything; every element gets the gradient ``g / n``.

    >>> torch.mean(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=1)
    tensor([1.5000, 3.5000])
    """
    ...
@overload
def mean(input: Tensor, *, dtype: dtype | None = None, axis: _int | Sequence[_int] | None,
         keepdims: _bool = False) -> Tensor:
    """Mean over ``dim``; over every dimension by default.

    ``y = Σ x / n`` over ``dim``, or over everything; every element gets the gradient ``g / n``.

    >>> torch.mean(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=1)
    tensor([1.5000, 3.5000])
    """
    ...
@overload
def median(input: Tensor) -> Tensor:
    """The lower median, along ``dim`` with its index or of all elements.

    Of an even number of values the lower one of the middle two.

    >>> torch.median(torch.tensor([4.0, 1.0, 3.0, 2.0]))
    tensor(2.)
    """
    ...
@overload
def median(input: Tensor, dim: _int, keepdim: _bool = False, *,
           out: Sequence[Tensor] | None = None) -> return_types.median:
    """The lower median, along ``dim`` with its index or of all elements.

    Of an even number of values the lower one of the middle two.

    >>> torch.median(torch.tensor([4.0, 1.0, 3.0, 2.0]))
    tensor(2.)
    """
    ...
def meshgrid(*tensors: Tensor, indexing: str | None = None) -> tuple[Tensor, ...]:
    """The coordinates of every point of the grid that vectors span, one tensor per vector."""
    ...
@overload
def min(input: Tensor, *, out: Tensor | None = None) -> Tensor:
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
def min(input: Tensor, dim: _int, keepdim: _bool = False, *,
        out: Sequence[Tensor] | None = None) -> return_types.min:
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
def min(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smallest element; along ``dim`` also its index; or the smaller of two tensors.

    With ``dim`` also the positions, with a second tensor element by element. The gradient goes to
    the element that was found; to all of several equal ones, in equal parts, if none is chosen.

    >>> torch.min(torch.tensor([[1.0, 5.0], [7.0, 2.0]]))
    tensor(1.)
    >>> torch.min(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1).indices
    tensor([0, 1])
    """
    ...
def minimum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smaller of two, NaN if either is; equals share the gradient.

    The gradient goes to the operand that was taken, by halves where both are equal.

    >>> torch.minimum(torch.tensor([1.0, 5.0]), torch.tensor([3.0, 2.0]))
    tensor([1., 2.])
    """
    ...
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of two matrices.

    ``y = A B`` for two matrices; the gradients are ``g Bᵀ`` and ``Aᵀ g``.

    >>> torch.mm(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0], [4.0]]))
    tensor([[11.]])
    """
    ...
def mode(input: Tensor, dim: _int = -1, keepdim: _bool = False, *,
         out: Sequence[Tensor] | None = None) -> return_types.mode:
    """The commonest value along ``dim``, and an index of it."""
    ...
def moveaxis(input: Tensor, source: _int | Sequence[_int],
             destination: _int | Sequence[_int]) -> Tensor:
    """Move dimensions to other positions; the others keep their order."""
    ...
def movedim(input: Tensor, source: _int | Sequence[_int],
            destination: _int | Sequence[_int]) -> Tensor:
    """Move dimensions to other positions; the others keep their order."""
    ...
def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements in ascending order along the first dimension."""
    ...
def mul(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Product of ``input`` and ``other``, broadcast together.

    ``y = input · other``; each factor's gradient is ``g`` times the other factor.

    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> torch.mul(x, torch.tensor([3.0, 4.0])).sum().backward()
    >>> x.grad
    tensor([3., 4.])
    """
    ...
def multinomial(input: Tensor, num_samples: _int, replacement: _bool = False, *,
                generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
    """Indices drawn with the weights in the rows of ``input``."""
    ...
def multiply(input: Tensor | Number, other: Tensor | Number, *,
             out: Tensor | None = None) -> Tensor:
    """Product of ``input`` and ``other``, broadcast together.

    ``y = input · other``; each factor's gradient is ``g`` times the other factor.

    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> torch.mul(x, torch.tensor([3.0, 4.0])).sum().backward()
    >>> x.grad
    tensor([3., 4.])
    """
    ...
def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of a matrix and a vector."""
    ...
def mvlgamma(input: Tensor, p: _int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the gamma function of ``p`` dimensions."""
    ...
def nan_to_num(input: Tensor, nan: _float | None = None, posinf: _float | None = None,
               neginf: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """``input`` with numbers in place of NaN and the infinities."""
    ...
def nan_to_num_(input: Tensor, nan: _float | None = None, posinf: _float | None = None,
                neginf: _float | None = None) -> Tensor:
    """In-place version of :func:`nan_to_num`."""
    ...
def nanmean(input: Tensor, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *,
            dtype: dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Mean of what is not NaN."""
    ...
@overload
def nanmedian(input: Tensor) -> Tensor:
    """The lower median of what is not NaN."""
    ...
@overload
def nanmedian(input: Tensor, dim: _int, keepdim: _bool = False, *,
              out: Sequence[Tensor] | None = None) -> return_types.nanmedian:
    """The lower median of what is not NaN."""
    ...
def nanquantile(input: Tensor, q: Tensor | _float, dim: _int | None = None, keepdim: _bool = False,
                *, interpolation: str = 'linear', out: Tensor | None = None) -> Tensor:
    """The ``q``-th quantiles of what is not NaN."""
    ...
def nansum(input: Tensor, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *,
           dtype: dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Sum of what is not NaN."""
    ...
def narrow(input: Tensor, dim: _int, start: Tensor | _int, length: _int) -> Tensor:
    """A view of ``length`` positions along ``dim``, from ``start``."""
    ...
def narrow_copy(input: Tensor, dim: _int, start: _int, length: _int, *,
                out: Tensor | None = None) -> Tensor:
    """What ``narrow`` shows, in memory of its own."""
    ...
def native_batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None,
                      running_mean: Tensor | None, running_var: Tensor | None, training: _bool,
                      momentum: _float, eps: _float, *,
                      out: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """``batch_norm``; while training, also the means and one over the deviations."""
    ...
def native_channel_shuffle(input: Tensor, groups: _int, *, out: Tensor | None = None) -> Tensor:
    """Channels in another order: the first of each group, then the second of each."""
    ...
def native_dropout(input: Tensor, p: _float, train: _bool | None) -> tuple[Tensor, Tensor]:
    """Elements zeroed at random and the rest scaled up, and which ones were kept."""
    ...
def native_group_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, N: _int, C: _int,
                      HxW: _int, group: _int, eps: _float) -> tuple[Tensor, Tensor, Tensor]:
    """``group_norm`` of N samples of C channels, the means and one over the deviations."""
    ...
def native_layer_norm(input: Tensor, normalized_shape: Sequence[_int], weight: Tensor | None,
                      bias: Tensor | None, eps: _float) -> tuple[Tensor, Tensor, Tensor]:
    """:func:`layer_norm`, the means and one over the deviations."""
    ...
def ne(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` and ``other`` differ."""
    ...
def neg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The negative.

    ``y = -x``; the gradient is ``-g``.

    >>> torch.neg(torch.tensor([1.0, -2.0]))
    tensor([-1.,  2.])
    """
    ...
def neg_(input: Tensor) -> Tensor:
    """In-place version of :func:`neg`."""
    ...
def negative(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The negative.

    ``y = -x``; the gradient is ``-g``.

    >>> torch.neg(torch.tensor([1.0, -2.0]))
    tensor([-1.,  2.])
    """
    ...
def negative_(input: Tensor) -> Tensor:
    """In-place version of :func:`neg`."""
    ...
def nextafter(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The next number after ``input`` in the direction of ``other``."""
    ...
@overload
def nonzero(input: Tensor, *, out: Tensor | None = None,
            as_tuple: Literal[False] = False) -> Tensor:
    """The coordinates of the non-zero elements: one row each, or one tensor per dimension.

    A row of indices for each element that is not zero.

    >>> torch.nonzero(torch.tensor([0, 3, 0, 4]))
    tensor([[1],
            [3]])
    """
    ...
@overload
def nonzero(input: Tensor, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]:
    """The coordinates of the non-zero elements: one row each, or one tensor per dimension.

    A row of indices for each element that is not zero.

    >>> torch.nonzero(torch.tensor([0, 3, 0, 4]))
    tensor([[1],
            [3]])
    """
    ...
def nonzero_static(input: Tensor, *, size: _int, fill_value: _int = -1,
                   out: Tensor | None = None) -> Tensor:
    """The coordinates of the first ``size`` non-zero elements, filled up with ``fill_value``."""
    ...
def norm(input: Tensor, p: _float | str | None = 'fro', dim: _int | Sequence[_int] | None = None,
         keepdim: _bool = False, out: Tensor | None = None, dtype: dtype | None = None) -> Tensor:
    """The ``p``-norm over ``dim``: a number, "fro" or "nuc"."""
    ...
def norm_except_dim(v: Tensor, pow: _int = 2, dim: _int = 0) -> Tensor:
    """The norm of each slice along ``dim``, or of all elements for -1."""
    ...
@overload
def normal(mean: Tensor | _float, std: Tensor | _float = 1.0, *, generator: Generator | None = None,
           out: Tensor | None = None) -> Tensor:
    """Normal draws with the given means and standard deviations."""
    ...
@overload
def normal(mean: _float, std: _float, size: Sequence[_int], *, generator: Generator | None = None,
           out: Tensor | None = None, dtype: dtype | None = None, layout: layout | None = None,
           device: Device = None, pin_memory: _bool = False,
           requires_grad: _bool = False) -> Tensor:
    """Normal draws with the given means and standard deviations."""
    ...
def not_equal(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Where ``input`` and ``other`` differ."""
    ...
def nuclear_norm(input: Tensor, dim: Sequence[_int] = ..., keepdim: _bool = False) -> Tensor:
    """The sum of singular values; deprecated."""
    ...
def numel(input: Tensor) -> _int:
    """The number of elements."""
    ...
@overload
def ones(*size: _int, out: Tensor | None = None, dtype: dtype | None = None,
         layout: layout | None = None, device: Device = None, pin_memory: _bool = False,
         requires_grad: _bool = False, memory_format: memory_format | None = None) -> Tensor:
    """A tensor of ones.

    The size is given as numbers or as one tuple.

    >>> torch.ones(2, 3)
    tensor([[1., 1., 1.],
            [1., 1., 1.]])
    """
    ...
@overload
def ones(size: Sequence[_int], *, out: Tensor | None = None, dtype: dtype | None = None,
         layout: layout | None = None, device: Device = None, pin_memory: _bool = False,
         requires_grad: _bool = False, memory_format: memory_format | None = None) -> Tensor:
    """A tensor of ones.

    The size is given as numbers or as one tuple.

    >>> torch.ones(2, 3)
    tensor([[1., 1., 1.],
            [1., 1., 1.]])
    """
    ...
def ones_like(input: Tensor, *, dtype: dtype | None = None, layout: layout | None = None,
              device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False,
              memory_format: memory_format | None = None) -> Tensor:
    """A tensor of ones shaped as ``input``.

    Shape, dtype and layout are those of ``input``.

    >>> torch.ones_like(torch.tensor([1.5, 2.5]))
    tensor([1., 1.])
    """
    ...
def orgqr(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first columns of the product of the reflections that ``geqrf`` gives."""
    ...
def ormqr(input: Tensor, input2: Tensor, input3: Tensor, left: _bool = True,
          transpose: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """``Q @ input3``, or ``input3 @ Q``, of the Q that the reflections of ``geqrf`` make."""
    ...
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The matrix of all products of two vectors' elements.

    ``yᵢⱼ = aᵢ bⱼ``.

    >>> torch.outer(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    ...
def pairwise_distance(x1: Tensor, x2: Tensor, p: _float = 2.0, eps: _float = 1e-06,
                      keepdim: _bool = False) -> Tensor:
    """The ``p``-norm of the differences along the last dimension."""
    ...
def pca_lowrank(A: Tensor, q: _int | None = None, center: _bool = True,
                niter: _int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """The ``q`` largest principal components of the rows of ``A``, centred unless told not to."""
    ...
def pdist(input: Tensor, p: _float = 2) -> Tensor:
    """The ``p``-norm distance between each two rows, without doubles and without zeros."""
    ...
def permute(input: Tensor, dims: _int | Sequence[_int]) -> Tensor:
    """A view with its dimensions in another order.

    A view with the dims in another order.

    >>> torch.permute(torch.ones(2, 3, 4), (2, 0, 1)).shape
    torch.Size([4, 2, 3])
    """
    ...
def permute_copy(input: Tensor, dims: Sequence[_int], *, out: Tensor | None = None) -> Tensor:
    """What ``permute`` shows, in memory of its own."""
    ...
def pinverse(input: Tensor, rcond: _float = 1e-15) -> Tensor:
    """The pseudo-inverse."""
    ...
def pixel_shuffle(input: Tensor, upscale_factor: _int, *, out: Tensor | None = None) -> Tensor:
    """Channels rearranged into blocks of ``upscale_factor`` squared pixels."""
    ...
def pixel_unshuffle(input: Tensor, downscale_factor: _int, *, out: Tensor | None = None) -> Tensor:
    """Blocks of pixels rearranged into channels: undoes :func:`pixel_shuffle`."""
    ...
def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Poisson draws with the rates in ``input``."""
    ...
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: _bool, full: _bool, eps: _float,
                     reduction: _int) -> Tensor:
    """``nn.functional.poisson_nll_loss`` with the number of a reduction."""
    ...
def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The complex numbers with the given distances and angles."""
    ...
def polygamma(n: _int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The ``n``-th derivative of digamma."""
    ...
def positive(input: Tensor) -> Tensor:
    """``input`` itself."""
    ...
def pow(input: Tensor | Number, exponent: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """``input`` to the power of ``exponent``; either may be a number.

    ``y = input ** exponent``; the gradients are ``g · exponent · input^(exponent - 1)`` and
    ``g · y · log(input)``.

    >>> torch.pow(torch.tensor([1.0, 2.0, 3.0]), 2)
    tensor([1., 4., 9.])
    """
    ...
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """``input``, times a learned slope where it is negative; one slope, or one per channel."""
    ...
@overload
def prod(input: Tensor, *, dtype: dtype | None = None) -> Tensor:
    """Product along ``dim``; of all elements by default.

    ``y = Π x``; the gradient of an element is ``g`` times the product of the others, also where
    some are zero.

    >>> torch.prod(torch.tensor([2.0, 3.0, 4.0]))
    tensor(24.)
    """
    ...
@overload
def prod(input: Tensor, dim: _int, keepdim: _bool = False, *, dtype: dtype | None = None,
         out: Tensor | None = None) -> Tensor:
    """Product along ``dim``; of all elements by default.

    ``y = Π x``; the gradient of an element is ``g`` times the product of the others, also where
    some are zero.

    >>> torch.prod(torch.tensor([2.0, 3.0, 4.0]))
    tensor(24.)
    """
    ...
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
    """``input`` with ``source`` written at ``index``, counted through the flattened tensor."""
    ...
def qr(input: Tensor, some: _bool = True, *,
       out: Sequence[Tensor] | None = None) -> return_types.qr:
    """An orthogonal Q and an upper triangular R with ``input = Q @ R``."""
    ...
def quantile(input: Tensor, q: Tensor | _float, dim: _int | None = None, keepdim: _bool = False, *,
             interpolation: str = 'linear', out: Tensor | None = None) -> Tensor:
    """The ``q``-th quantiles along ``dim``, or of all elements; a tensor ``q`` comes first."""
    ...
def rad2deg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Radians as degrees."""
    ...
def rad2deg_(input: Tensor) -> Tensor:
    """In-place version of :func:`rad2deg`."""
    ...
@overload
def rand(*size: _int, generator: Generator | None = None, out: Tensor | None = None,
         dtype: dtype | None = None, layout: layout | None = None, device: Device = None,
         pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """Uniform draws from [0, 1).

    The same seed gives the numbers that PyTorch draws.

    >>> _ = torch.manual_seed(0)
    >>> torch.rand(3)
    tensor([0.4963, 0.7682, 0.0885])
    """
    ...
@overload
def rand(size: Sequence[_int], *, generator: Generator | None = None, out: Tensor | None = None,
         dtype: dtype | None = None, layout: layout | None = None, device: Device = None,
         pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """Uniform draws from [0, 1).

    The same seed gives the numbers that PyTorch draws.

    >>> _ = torch.manual_seed(0)
    >>> torch.rand(3)
    tensor([0.4963, 0.7682, 0.0885])
    """
    ...
def rand_like(input: Tensor, *, generator: Generator | None = None, dtype: dtype | None = None,
              layout: layout | None = None, device: Device = None, pin_memory: _bool = False,
              requires_grad: _bool = False, memory_format: memory_format | None = None) -> Tensor:
    """Uniform draws from [0, 1), shaped as ``input``."""
    ...
@overload
def randint(high: _int, size: Sequence[_int], *, generator: Generator | None = None,
            out: Tensor | None = None, dtype: dtype | None = None, layout: layout | None = None,
            device: Device = None, pin_memory: _bool = False,
            requires_grad: _bool = False) -> Tensor:
    """Integers from ``[low, high)``.

    From ``low`` up to, but without, ``high``; the same seed gives PyTorch's draws.

    >>> _ = torch.manual_seed(0)
    >>> torch.randint(0, 10, (4,))
    tensor([4, 9, 3, 0])
    """
    ...
@overload
def randint(low: _int, high: _int, size: Sequence[_int], *, generator: Generator | None = None,
            out: Tensor | None = None, dtype: dtype | None = None, layout: layout | None = None,
            device: Device = None, pin_memory: _bool = False,
            requires_grad: _bool = False) -> Tensor:
    """Integers from ``[low, high)``.

    From ``low`` up to, but without, ``high``; the same seed gives PyTorch's draws.

    >>> _ = torch.manual_seed(0)
    >>> torch.randint(0, 10, (4,))
    tensor([4, 9, 3, 0])
    """
    ...
def randint_like(input: Tensor, low: _int = 0, high: _int | None = None, *,
                 generator: Generator | None = None, dtype: dtype | None = None,
                 layout: layout | None = None, device: Device = None, pin_memory: _bool = False,
                 requires_grad: _bool = False,
                 memory_format: memory_format | None = None) -> Tensor:
    """Integers from ``[low, high)``, shaped as ``input``."""
    ...
@overload
def randn(*size: _int, generator: Generator | None = None, out: Tensor | None = None,
          dtype: dtype | None = None, layout: layout | None = None, device: Device = None,
          pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """Draws from the standard normal distribution.

    The same seed gives the numbers that PyTorch draws.

    >>> _ = torch.manual_seed(0)
    >>> torch.randn(3)
    tensor([ 1.5410, -0.2934, -2.1788])
    """
    ...
@overload
def randn(size: Sequence[_int], *, generator: Generator | None = None, out: Tensor | None = None,
          dtype: dtype | None = None, layout: layout | None = None, device: Device = None,
          pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """Draws from the standard normal distribution.

    The same seed gives the numbers that PyTorch draws.

    >>> _ = torch.manual_seed(0)
    >>> torch.randn(3)
    tensor([ 1.5410, -0.2934, -2.1788])
    """
    ...
def randn_like(input: Tensor, *, generator: Generator | None = None, dtype: dtype | None = None,
               layout: layout | None = None, device: Device = None, pin_memory: _bool = False,
               requires_grad: _bool = False, memory_format: memory_format | None = None) -> Tensor:
    """Draws from the standard normal distribution, shaped as ``input``."""
    ...
def randperm(n: _int, *, generator: Generator | None = None, out: Tensor | None = None,
             dtype: dtype | None = None, layout: layout | None = None, device: Device = None,
             pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """The integers below ``n`` in random order.

    The same seed gives PyTorch's order.

    >>> _ = torch.manual_seed(0)
    >>> torch.randperm(5)
    tensor([4, 0, 1, 3, 2])
    """
    ...
def range(start: Number = 0, end: Number | None = None, step: Number = 1, *,
          out: Tensor | None = None, dtype: dtype | None = None, layout: layout | None = None,
          device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """Numbers from ``start`` up to and with ``end``; deprecated in favour of :func:`arange`."""
    ...
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension."""
    ...
def real(input: Tensor) -> Tensor:
    """The real part, as a view; a real tensor is its own."""
    ...
def reciprocal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """One over ``input``.

    ``y = 1 / x``; the gradient is ``-g · y²``.

    >>> torch.reciprocal(torch.tensor([2.0, 4.0]))
    tensor([0.5000, 0.2500])
    """
    ...
def reciprocal_(input: Tensor) -> Tensor:
    """In-place version of :func:`reciprocal`."""
    ...
def relu(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``input``, or 0 where it is negative."""
    ...
def relu_(input: Tensor) -> Tensor:
    """In-place version of :func:`relu`."""
    ...
def remainder(input: Tensor | Number, other: Tensor | Number, *,
              out: Tensor | None = None) -> Tensor:
    """What is left of ``input`` after division by ``other``, with the sign of ``other``."""
    ...
def renorm(input: Tensor, p: _float, dim: _int, maxnorm: _float, *,
           out: Tensor | None = None) -> Tensor:
    """Scale each slice along ``dim`` whose ``p``-norm exceeds ``maxnorm`` down to it."""
    ...
def repeat_interleave(input: Tensor, repeats: Tensor | _int | None = None, dim: _int | None = None,
                      *, output_size: _int | None = None) -> Tensor:
    """``input`` with each element (or each slice along ``dim``) repeated in place.

    Each element as often as ``repeats`` says.

    >>> torch.repeat_interleave(torch.tensor([1, 2]), torch.tensor([1, 3]))
    tensor([1, 2, 2, 2])
    """
    ...
def reshape(input: Tensor, shape: _int | Sequence[_int]) -> Tensor:
    """``input`` in another shape; a view where its memory allows.

    A view where strides allow it, else a copy; one size may be -1.

    >>> torch.reshape(torch.arange(6), (2, -1))
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    ...
def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """``input`` reshaped to ``other``'s shape."""
    ...
def resize_as_(self: Tensor, the_template: Tensor,
               memory_format: memory_format | None = None) -> Tensor:
    """Take ``the_template``'s size in place."""
    ...
def resolve_conj(input: Tensor) -> Tensor:
    """``input`` itself: conjugates are never pending here."""
    ...
def resolve_neg(input: Tensor) -> Tensor:
    """``input`` itself: negations are never pending here."""
    ...
def rms_norm(input: Tensor, normalized_shape: _int | Sequence[_int], weight: Tensor | None = None,
             eps: _float | None = None) -> Tensor:
    """Divided by the root mean square over the last dimensions, then scaled."""
    ...
def rnn_relu_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
                  b_hh: Tensor | None = None) -> Tensor:
    """The next state of a network that remembers by relu."""
    ...
def rnn_tanh_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
                  b_hh: Tensor | None = None) -> Tensor:
    """The next state of a network that remembers by tanh."""
    ...
def roll(input: Tensor, shifts: _int | Sequence[_int], dims: _int | Sequence[_int] = ()) -> Tensor:
    """``input`` shifted along ``dims``; what leaves at the end enters at the front.

    What is shifted out at one end comes in at the other.

    >>> torch.roll(torch.arange(5), 2)
    tensor([3, 4, 0, 1, 2])
    """
    ...
def rot90(input: Tensor, k: _int = 1, dims: Sequence[_int] = ...) -> Tensor:
    """``input`` turned by ``k`` times 90 degrees in the plane of ``dims``."""
    ...
def round(input: Tensor, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor:
    """The nearest integer, or the nearest number with that many decimals; ties go to even.

    To the nearest whole number, halves to the even one, or to some ``decimals``; the gradient is
    zero.

    >>> torch.round(torch.tensor([0.5, 1.5, 2.567]), decimals=1)
    tensor([0.5000, 1.5000, 2.6000])
    """
    ...
def round_(input: Tensor, *, decimals: _int = 0) -> Tensor:
    """In-place version of :func:`round`."""
    ...
def row_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join tensors below each other."""
    ...
def rrelu(input: Tensor, lower: _float = 0.125, upper: _float = 0.3333333333333333,
          training: _bool = False, generator: Generator | None = None) -> Tensor:
    """A leaky unit with random slopes while training, and their mean otherwise."""
    ...
def rrelu_(input: Tensor, lower: _float = 0.125, upper: _float = 0.3333333333333333,
           training: _bool = False, generator: Generator | None = None) -> Tensor:
    """In-place version of :func:`rrelu`."""
    ...
def rsqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """One over the square root.

    ``y = 1 / √x``; the gradient is ``-g · y³ / 2``.

    >>> torch.rsqrt(torch.tensor([4.0, 1.0]))
    tensor([0.5000, 1.0000])
    """
    ...
def rsqrt_(input: Tensor) -> Tensor:
    """In-place version of :func:`rsqrt`."""
    ...
def rsub(input: Tensor, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """Difference of ``other`` and ``alpha`` times ``input``."""
    ...
def saddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1,
           alpha: Number = 1) -> Tensor:
    """A sparse matrix times ``beta``, and a product as of :func:`smm` times ``alpha``."""
    ...
def scalar_tensor(s: Number, *, dtype: dtype | None = None, device: Device = None,
                  layout: layout | None = None, pin_memory: _bool = False,
                  requires_grad: _bool = False) -> Tensor:
    """A zero-dim tensor of the default dtype."""
    ...
def scatter(input: Tensor, dim: _int, index: Tensor, src: Tensor | Number | None = None, *,
            value: Number | None = None, reduce: str | None = None,
            out: Tensor | None = None) -> Tensor:
    """``input`` with ``src`` (or a number) written where ``index`` points along ``dim``."""
    ...
def scatter_add(input: Tensor, dim: _int, index: Tensor, src: Tensor, *,
                out: Tensor | None = None) -> Tensor:
    """``input`` with ``src`` added where ``index`` points along ``dim``."""
    ...
def scatter_reduce(input: Tensor, dim: _int, index: Tensor, src: Tensor, reduce: str, *,
                   include_self: _bool = True, out: Tensor | None = None) -> Tensor:
    """``input`` with ``src`` reduced into it where ``index`` points along ``dim``."""
    ...
def searchsorted(sorted_sequence: Tensor, input: Tensor | Number, *, out_int32: _bool = False,
                 right: _bool = False, side: str | None = None, sorter: Tensor | None = None,
                 out: Tensor | None = None) -> Tensor:
    """Where each value of ``input`` would be inserted to keep the last dimension sorted."""
    ...
def segment_reduce(data: Tensor, reduce: str, *, lengths: Tensor | None = None,
                   indices: Tensor | None = None, offsets: Tensor | None = None, axis: _int = 0,
                   unsafe: _bool = False, initial: _float | None = None) -> Tensor:
    """The sum, mean, product or extreme of each segment along ``axis``."""
    ...
def select(input: Tensor, dim: _int, index: _int) -> Tensor:
    """A view of one position along ``dim``, which disappears."""
    ...
def select_copy(input: Tensor, dim: _int, index: _int, *, out: Tensor | None = None) -> Tensor:
    """What ``select`` shows, in memory of its own."""
    ...
def select_scatter(input: Tensor, src: Tensor, dim: _int, index: _int) -> Tensor:
    """``input`` with ``src`` in place of one position along ``dim``."""
    ...
def selu(input: Tensor) -> Tensor:
    """:func:`elu` scaled so that it keeps mean 0 and variance 1."""
    ...
def selu_(input: Tensor) -> Tensor:
    """In-place version of :func:`selu`."""
    ...
def sgn(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-1, 0 or 1; of a complex number the unit in its direction."""
    ...
def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """1 / (1 + exp(-x)).

    ``y = 1 / (1 + e^-x)``; the gradient is ``g · y · (1 - y)``.

    >>> torch.sigmoid(torch.tensor([-2.0, 0.0, 2.0]))
    tensor([0.1192, 0.5000, 0.8808])
    """
    ...
def sigmoid_(input: Tensor) -> Tensor:
    """In-place version of :func:`sigmoid`."""
    ...
def sign(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-1, 0 or 1.

    -1, 0 or 1; the gradient is zero everywhere.

    >>> torch.sign(torch.tensor([-2.5, 0.0, 4.0]))
    tensor([-1.,  0.,  1.])
    """
    ...
def signbit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where the sign bit is set; it is for -0.0."""
    ...
def sin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sine.

    ``y = sin x``; the gradient is ``g · cos x``.

    >>> torch.sin(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8415])
    """
    ...
def sin_(input: Tensor) -> Tensor:
    """In-place version of :func:`sin`."""
    ...
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """sin(πx) / πx, which is 1 at 0."""
    ...
def sinc_(input: Tensor) -> Tensor:
    """In-place version of :func:`sinc`."""
    ...
def sinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic sine."""
    ...
def sinh_(input: Tensor) -> Tensor:
    """In-place version of :func:`sinh`."""
    ...
def slice_copy(input: Tensor, dim: _int = 0, start: _int | None = None, end: _int | None = None,
               step: _int = 1, *, out: Tensor | None = None) -> Tensor:
    """What ``slice`` shows, in memory of its own."""
    ...
def slice_scatter(input: Tensor, src: Tensor, dim: _int = 0, start: _int | None = None,
                  end: _int | None = None, step: _int = 1, *, out: Tensor | None = None) -> Tensor:
    """``input`` with ``src`` in place of a slice along ``dim``."""
    ...
def slogdet(input: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.slogdet:
    """The sign of the determinant and the logarithm of its absolute value."""
    ...
def smm(input: Tensor, mat: Tensor) -> Tensor:
    """The product of a sparse and a dense matrix, as a sparse one."""
    ...
def softmax(input: Tensor, dim: _int, dtype: dtype | None = None, *,
            out: Tensor | None = None) -> Tensor:
    """Exponentials along ``dim``, divided by their sum."""
    ...
def sort(input: Tensor, dim: _int = -1, descending: _bool = False, *, stable: _bool | None = None,
         out: Sequence[Tensor] | None = None) -> return_types.sort:
    """The elements in order along ``dim``, and the indices they had; equal ones keep theirs.

        Without ``stable``, equal elements of bool and half precision may stand as PyTorch leaves them.
        

    The gradient goes back to where the values came from.

    >>> torch.sort(torch.tensor([3.0, 1.0, 2.0])).indices
    tensor([1, 2, 0])
    """
    ...
def sparse_compressed_tensor(compressed_indices: Tensor | Sequence[_int],
                             plain_indices: Tensor | Sequence[_int], values: Tensor | Sequence[Any],
                             size: Sequence[_int] | None = None, *, dtype: dtype | None = None,
                             layout: layout | None = None, device: Device = None,
                             requires_grad: _bool = False,
                             check_invariants: _bool | None = None) -> Tensor:
    """A sparse matrix of compressed rows or columns, as ``layout`` says."""
    ...
def sparse_coo_tensor(indices: Any = None, values: Any = None, size: Sequence[_int] | None = None,
                      *, dtype: dtype | None = None, device: Device = None,
                      requires_grad: _bool = False, check_invariants: _bool | None = None,
                      is_coalesced: _bool | None = None) -> Tensor:
    """A sparse tensor with ``values`` at ``indices``, a column of them for each value."""
    ...
def sparse_csc_tensor(ccol_indices: Tensor | Sequence[_int], row_indices: Tensor | Sequence[_int],
                      values: Tensor | Sequence[Any], size: Sequence[_int] | None = None, *,
                      dtype: dtype | None = None, device: Device = None,
                      requires_grad: _bool = False,
                      check_invariants: _bool | None = None) -> Tensor:
    """A sparse matrix of compressed columns: where each ends, the rows, and the values."""
    ...
def sparse_csr_tensor(crow_indices: Tensor | Sequence[_int], col_indices: Tensor | Sequence[_int],
                      values: Tensor | Sequence[Any], size: Sequence[_int] | None = None, *,
                      dtype: dtype | None = None, device: Device = None,
                      requires_grad: _bool = False,
                      check_invariants: _bool | None = None) -> Tensor:
    """A sparse matrix of compressed rows: where each ends, the columns, and the values."""
    ...
def split(tensor: Tensor, split_size_or_sections: _int | Sequence[_int],
          dim: _int = 0) -> tuple[Tensor, ...]:
    """Views of parts of one length (the last may be shorter), or of the given lengths.

    Views of parts of some size, or of the sizes in a list.

    >>> torch.split(torch.arange(5), 2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    ...
def split_copy(input: Tensor, split_size: _int, dim: _int = 0, *,
               out: Tensor | None = None) -> tuple[Tensor, ...]:
    """What ``split`` shows, in memory of its own."""
    ...
def split_with_sizes(input: Tensor, split_sizes: Sequence[_int],
                     dim: _int = 0) -> tuple[Tensor, ...]:
    """Views of consecutive parts of the given lengths along ``dim``."""
    ...
def split_with_sizes_copy(input: Tensor, split_sizes: Sequence[_int], dim: _int = 0, *,
                          out: Tensor | None = None) -> tuple[Tensor, ...]:
    """What ``split_with_sizes`` shows, in memory of its own."""
    ...
def spmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of two matrices.

    ``y = A B`` for two matrices; the gradients are ``g Bᵀ`` and ``Aᵀ g``.

    >>> torch.mm(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0], [4.0]]))
    tensor([[11.]])
    """
    ...
def sqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The square root.

    ``y = √x``; the gradient is ``g / 2y``.

    >>> torch.sqrt(torch.tensor([4.0, 2.0]))
    tensor([2.0000, 1.4142])
    """
    ...
def sqrt_(input: Tensor) -> Tensor:
    """In-place version of :func:`sqrt`."""
    ...
def square(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``input`` times itself.

    ``y = x²``; the gradient is ``2 · g · x``.

    >>> torch.square(torch.tensor([-2.0, 3.0]))
    tensor([4., 9.])
    """
    ...
def square_(input: Tensor) -> Tensor:
    """In-place version of :func:`square`."""
    ...
def squeeze(input: Tensor, dim: _int | Sequence[_int] | None = None, *,
            axis: _int | Sequence[_int] | None = None) -> Tensor:
    """A view without its dimensions of length one.

    A view without the dims of size 1, or without those that are named.

    >>> torch.squeeze(torch.ones(1, 2, 1)).shape
    torch.Size([2])
    """
    ...
def squeeze_copy(input: Tensor, dim: _int | Sequence[_int] | None = None, *,
                 out: Tensor | None = None) -> Tensor:
    """What ``squeeze`` shows, in memory of its own."""
    ...
def sspaddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1,
             alpha: Number = 1) -> Tensor:
    """A sparse matrix times ``beta``, and a product as of :func:`smm` times ``alpha``."""
    ...
def stack(tensors: Sequence[Tensor], dim: _int = 0, *, axis: _int | None = None,
          out: Tensor | None = None) -> Tensor:
    """Join tensors of one shape along a new dimension.

    The tensors have one shape; the result has a dim more.

    >>> torch.stack([torch.tensor([1, 2]), torch.tensor([3, 4])], dim=1)
    tensor([[1, 3],
            [2, 4]])
    """
    ...
def std(input: Tensor, dim: _int | Sequence[_int] | None = None, unbiased: _bool | None = None,
        keepdim: _bool = False, *, correction: _float | None = None,
        out: Tensor | None = None) -> Tensor:
    """Standard deviation over ``dim``: the square root of the variance.

    The square root of the variance; the gradient is ``g · (x - mean) / ((n - correction) · y)``.

    >>> torch.std(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    tensor(1.2910)
    """
    ...
def std_mean(input: Tensor, dim: _int | Sequence[_int] | None = None, unbiased: _bool | None = None,
             keepdim: _bool = False, *, correction: _float | None = None) -> tuple[Tensor, Tensor]:
    """Standard deviation and mean over ``dim``."""
    ...
def stft(input: Tensor, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None,
         window: Tensor | None = None, center: _bool = True, pad_mode: str = 'reflect',
         normalized: _bool = False, onesided: _bool | None = None,
         return_complex: _bool | None = None, align_to_window: _bool | None = None) -> Tensor:
    """The spectra of windows that lie ``hop_length`` apart on a signal: frequencies by windows."""
    ...
def sub(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1,
        out: Tensor | None = None) -> Tensor:
    """Difference of ``input`` and ``alpha`` times ``other``.

    ``y = input - alpha · other``; the gradients are ``g`` and ``-alpha · g``.

    >>> torch.sub(torch.tensor([5.0, 7.0]), 2)
    tensor([3., 5.])
    """
    ...
def subtract(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1,
             out: Tensor | None = None) -> Tensor:
    """Difference of ``input`` and ``alpha`` times ``other``.

    ``y = input - alpha · other``; the gradients are ``g`` and ``-alpha · g``.

    >>> torch.sub(torch.tensor([5.0, 7.0]), 2)
    tensor([3., 5.])
    """
    ...
@overload
def sum(input: Tensor, *, dtype: dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Sum over ``dim``; over every dimension by default.

    ``y = Σ x`` over ``dim``, or over everything; every summand gets the gradient ``g``.

    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> torch.sum(x), torch.sum(x, dim=0)
    (tensor(10.), tensor([4., 6.]))
    """
    ...
@overload
def sum(input: Tensor, dim: _int | Sequence[_int] | None, keepdim: _bool = False, *,
        dtype: dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Sum over ``dim``; over every dimension by default.

    ``y = Σ x`` over ``dim``, or over everything; every summand gets the gradient ``g``.

    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> torch.sum(x), torch.sum(x, dim=0)
    (tensor(10.), tensor([4., 6.]))
    """
    ...
@overload
def sum(input: Tensor, *, dtype: dtype | None = None, axis: _int | Sequence[_int] | None,
        keepdims: _bool = False) -> Tensor:
    """Sum over ``dim``; over every dimension by default.

    ``y = Σ x`` over ``dim``, or over everything; every summand gets the gradient ``g``.

    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> torch.sum(x), torch.sum(x, dim=0)
    (tensor(10.), tensor([4., 6.]))
    """
    ...
def svd(input: Tensor, some: _bool = True, compute_uv: _bool = True, *,
        out: Sequence[Tensor] | None = None) -> return_types.svd:
    """The singular value decomposition ``input = U @ diag(S) @ V.mH``."""
    ...
def svd_lowrank(A: Tensor, q: _int | None = 6, niter: _int | None = 2,
                M: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """The ``q`` largest singular values of ``A``, or of ``A - M``, and their vectors."""
    ...
def swapaxes(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """A view with two dimensions exchanged.

    A view with two dims exchanged.

    >>> torch.transpose(torch.ones(2, 3, 4), 0, 2).shape
    torch.Size([4, 3, 2])
    """
    ...
def swapdims(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """A view with two dimensions exchanged.

    A view with two dims exchanged.

    >>> torch.transpose(torch.ones(2, 3, 4), 0, 2).shape
    torch.Size([4, 3, 2])
    """
    ...
def t(input: Tensor) -> Tensor:
    """The transpose of a matrix; a vector is left as it is."""
    ...
def t_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """What ``t`` shows, in memory of its own."""
    ...
def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements at ``index``, counted through the flattened ``input``."""
    ...
def take_along_dim(input: Tensor, indices: Tensor, dim: _int | None = None, *,
                   out: Tensor | None = None) -> Tensor:
    """The elements whose coordinate along ``dim`` is given by ``indices``, broadcast together."""
    ...
def tan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The tangent.

    ``y = tan x``; the gradient is ``g · (1 + y²)``.

    >>> torch.tan(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 1.5574])
    """
    ...
def tan_(input: Tensor) -> Tensor:
    """In-place version of :func:`tan`."""
    ...
def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic tangent.

    ``y = (e^x - e^-x) / (e^x + e^-x)``; the gradient is ``g · (1 - y²)``.

    >>> torch.tanh(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.7616,  0.0000,  0.7616])
    """
    ...
def tanh_(input: Tensor) -> Tensor:
    """In-place version of :func:`tanh`."""
    ...
def tensor(data: Any, *, dtype: dtype | None = None, device: Device = None,
           requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """A new tensor with a copy of ``data``.

    Numbers in nested lists, or an array, are copied: the tensor is a leaf of its own.

    >>> torch.tensor([[1, 2], [3, 4]], dtype=torch.float64)
    tensor([[1., 2.],
            [3., 4.]], dtype=torch.float64)
    """
    ...
def tensor_split(input: Tensor, indices_or_sections: Tensor | _int | Sequence[_int],
                 dim: _int = 0) -> tuple[Tensor, ...]:
    """Views of ``n`` nearly equal parts, or of the parts between the given indices."""
    ...
def tensordot(a: Tensor, b: Tensor, dims: _int | Sequence[Sequence[_int]] = 2,
              out: Tensor | None = None) -> Tensor:
    """The sum of products over ``dims`` of ``a`` and ``b``."""
    ...
def threshold(input: Tensor, threshold: Number, value: Number, *,
              out: Tensor | None = None) -> Tensor:
    """``input``, or ``value`` where it is not above ``threshold``."""
    ...
def threshold_(input: Tensor, threshold: Number, value: Number) -> Tensor:
    """In-place version of :func:`threshold`."""
    ...
def tile(input: Tensor, dims: _int | Sequence[_int]) -> Tensor:
    """``input`` copied ``dims`` times, counted from the last dimension."""
    ...
def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule of a tensor's memory, to be read once by another library."""
    ...
def topk(input: Tensor, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True, *,
         out: Sequence[Tensor] | None = None) -> return_types.topk:
    """The ``k`` largest (or smallest) elements along ``dim``, and their indices.

    The gradient goes back to the elements that were found.

    >>> torch.topk(torch.tensor([1.0, 5.0, 3.0]), 2).values
    tensor([5., 3.])
    """
    ...
def trace(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sum of a matrix's diagonal."""
    ...
def transpose(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """A view with two dimensions exchanged.

    A view with two dims exchanged.

    >>> torch.transpose(torch.ones(2, 3, 4), 0, 2).shape
    torch.Size([4, 3, 2])
    """
    ...
def transpose_copy(input: Tensor, dim0: _int, dim1: _int, *, out: Tensor | None = None) -> Tensor:
    """What ``transpose`` shows, in memory of its own."""
    ...
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: _float | None = None,
              dim: _int = -1) -> Tensor:
    """The integral of ``y`` along ``dim`` by the trapezoidal rule."""
    ...
def trapz(y: Tensor, x: Tensor | None = None, *, dx: _float | None = None,
          dim: _int = -1) -> Tensor:
    """The integral of ``y`` along ``dim`` by the trapezoidal rule."""
    ...
def triangular_solve(b: Tensor, A: Tensor, upper: _bool = True, transpose: _bool = False,
                     unitriangular: _bool = False, *,
                     out: Sequence[Tensor] | None = None) -> return_types.triangular_solve:
    """The solution X of ``A @ X = b`` for triangular ``A``, and a copy of A."""
    ...
def tril(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """The lower triangle of matrices; zeros above ``diagonal``.

    What lies beyond the ``diagonal`` is zero, and has no gradient.

    >>> torch.tril(torch.ones(2, 3))
    tensor([[1., 0., 0.],
            [1., 1., 0.]])
    """
    ...
def tril_indices(row: _int, col: _int, offset: _int = 0, *, dtype: dtype | None = None,
                 layout: layout | None = None, device: Device = None,
                 pin_memory: _bool = False) -> Tensor:
    """The coordinates of a matrix's lower triangle, as two rows."""
    ...
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: _float = 1.0,
                        p: _float = 2, eps: _float = 1e-06, swap: _bool = False,
                        reduction: _int = 0) -> Tensor:
    """``nn.functional.triplet_margin_loss`` with the number of a reduction."""
    ...
def triu(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """The upper triangle of matrices; zeros below ``diagonal``.

    What lies beyond the ``diagonal`` is zero, and has no gradient.

    >>> torch.triu(torch.ones(2, 3))
    tensor([[1., 1., 1.],
            [0., 1., 1.]])
    """
    ...
def triu_indices(row: _int, col: _int, offset: _int = 0, *, dtype: dtype | None = None,
                 layout: layout | None = None, device: Device = None,
                 pin_memory: _bool = False) -> Tensor:
    """The coordinates of a matrix's upper triangle, as two rows."""
    ...
def true_divide(input: Tensor | Number, other: Tensor | Number, *,
                out: Tensor | None = None) -> Tensor:
    """Quotient of ``input`` and ``other``; integers divide to the default float."""
    ...
def trunc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The integer part."""
    ...
def trunc_(input: Tensor) -> Tensor:
    """In-place version of :func:`trunc`."""
    ...
def unbind(input: Tensor, dim: _int = 0) -> tuple[Tensor, ...]:
    """The views of each position along ``dim``, as a tuple."""
    ...
def unbind_copy(input: Tensor, dim: _int = 0, *, out: Tensor | None = None) -> tuple[Tensor, ...]:
    """What ``unbind`` shows, in memory of its own."""
    ...
def unflatten(input: Tensor, dim: _int, sizes: _int | Sequence[_int]) -> Tensor:
    """Split dimension ``dim`` into ``sizes``."""
    ...
def unfold_copy(input: Tensor, dimension: _int, size: _int, step: _int, *,
                out: Tensor | None = None) -> Tensor:
    """What ``unfold`` shows, in memory of its own."""
    ...
@overload
def unique(input: Tensor, sorted: _bool = True, return_inverse: Literal[False] = False,
           return_counts: Literal[False] = False, dim: _int | None = None) -> Tensor:
    """The distinct elements, or slices along ``dim``, in ascending order.

    What occurs, sorted; and on demand where and how often.

    >>> torch.unique(torch.tensor([3, 1, 3, 2]), return_counts=True)
    (tensor([1, 2, 3]), tensor([1, 1, 2]))
    """
    ...
@overload
def unique(input: Tensor, sorted: _bool = True, return_inverse: _bool = False,
           return_counts: _bool = False, dim: _int | None = None) -> Any:
    """The distinct elements, or slices along ``dim``, in ascending order.

    What occurs, sorted; and on demand where and how often.

    >>> torch.unique(torch.tensor([3, 1, 3, 2]), return_counts=True)
    (tensor([1, 2, 3]), tensor([1, 1, 2]))
    """
    ...
@overload
def unique_consecutive(input: Tensor, return_inverse: Literal[False] = False,
                       return_counts: Literal[False] = False, dim: _int | None = None) -> Tensor:
    """The first of every run of equal elements, or of equal slices along ``dim``."""
    ...
@overload
def unique_consecutive(input: Tensor, return_inverse: _bool = False, return_counts: _bool = False,
                       dim: _int | None = None) -> Any:
    """The first of every run of equal elements, or of equal slices along ``dim``."""
    ...
def unravel_index(indices: Tensor, shape: _int | Sequence[_int]) -> tuple[Tensor, ...]:
    """The coordinates of positions that count through a tensor of ``shape``, one for each dim."""
    ...
def unsafe_chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """:func:`chunk` whose parts may be written to without the others noticing."""
    ...
def unsafe_split(tensor: Tensor, split_size: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """:func:`split` whose parts may be written to without the others noticing."""
    ...
def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[_int],
                            dim: _int = 0) -> tuple[Tensor, ...]:
    """:func:`split` by lengths whose parts may be written to without the others noticing."""
    ...
def unsqueeze(input: Tensor, dim: _int) -> Tensor:
    """A view with a dimension of length one inserted at ``dim``.

    A view with a dim of size 1 more.

    >>> torch.unsqueeze(torch.tensor([1, 2]), 1)
    tensor([[1],
            [2]])
    """
    ...
def unsqueeze_copy(input: Tensor, dim: _int, *, out: Tensor | None = None) -> Tensor:
    """What ``unsqueeze`` shows, in memory of its own."""
    ...
def vander(x: Tensor, N: _int | None = None, increasing: _bool = False) -> Tensor:
    """The matrix whose columns are the powers of a vector, the highest first."""
    ...
def var(input: Tensor, dim: _int | Sequence[_int] | None = None, unbiased: _bool | None = None,
        keepdim: _bool = False, *, correction: _float | None = None,
        out: Tensor | None = None) -> Tensor:
    """Variance over ``dim``; ``correction`` is taken from the count that it is divided by.

    ``y = Σ (x - mean)² / (n - correction)``; the gradient is
    ``2 · g · (x - mean) / (n - correction)``.

    >>> torch.var(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    tensor(1.6667)
    """
    ...
def var_mean(input: Tensor, dim: _int | Sequence[_int] | None = None, unbiased: _bool | None = None,
             keepdim: _bool = False, *, correction: _float | None = None) -> tuple[Tensor, Tensor]:
    """Variance and mean over ``dim``."""
    ...
def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The dot product with the first vector conjugated."""
    ...
def view_as(input: Tensor, other: Tensor) -> Tensor:
    """``input`` viewed in ``other``'s shape."""
    ...
def view_as_complex(input: Tensor) -> Tensor:
    """Pairs of real numbers as complex ones, on the same memory."""
    ...
def view_as_complex_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """What ``view_as_complex`` shows, in memory of its own."""
    ...
def view_as_real(input: Tensor) -> Tensor:
    """A complex tensor's memory as pairs of real numbers."""
    ...
def view_as_real_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """What ``view_as_real`` shows, in memory of its own."""
    ...
def view_copy(input: Tensor, size: Sequence[_int], *, out: Tensor | None = None) -> Tensor:
    """What ``view`` shows, in memory of its own."""
    ...
def vsplit(input: Tensor,
           indices_or_sections: Tensor | _int | Sequence[_int]) -> tuple[Tensor, ...]:
    """Views of parts below each other."""
    ...
def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join tensors below each other."""
    ...
@overload
def where(condition: Tensor, input: Tensor | Number, other: Tensor | Number, *,
          out: Tensor | None = None) -> Tensor:
    """``input`` where ``condition`` holds, ``other`` elsewhere; alone, where it holds.

    ``y`` is ``input`` where ``condition`` holds and ``other`` elsewhere; the gradient goes to
    the one that was taken.

    >>> torch.where(torch.tensor([True, False]), torch.tensor([1.0, 2.0]), 0.0)
    tensor([1., 0.])
    """
    ...
@overload
def where(condition: Tensor) -> tuple[Tensor, ...]:
    """``input`` where ``condition`` holds, ``other`` elsewhere; alone, where it holds.

    ``y`` is ``input`` where ``condition`` holds and ``other`` elsewhere; the gradient goes to
    the one that was taken.

    >>> torch.where(torch.tensor([True, False]), torch.tensor([1.0, 2.0]), 0.0)
    tensor([1., 0.])
    """
    ...
def xlogy(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """``input`` times the logarithm of ``other``, 0 where ``input`` is 0."""
    ...
def xlogy_(input: Tensor, other: Tensor | Number) -> Tensor:
    """In-place version of :func:`xlogy`."""
    ...
def zero_(input: Tensor) -> Tensor:
    """Overwrite every element with zero."""
    ...
@overload
def zeros(*size: _int, out: Tensor | None = None, dtype: dtype | None = None,
          layout: layout | None = None, device: Device = None, pin_memory: _bool = False,
          requires_grad: _bool = False, memory_format: memory_format | None = None) -> Tensor:
    """A tensor of zeros.

    The size is given as numbers or as one tuple.

    >>> torch.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    ...
@overload
def zeros(size: Sequence[_int], *, out: Tensor | None = None, dtype: dtype | None = None,
          layout: layout | None = None, device: Device = None, pin_memory: _bool = False,
          requires_grad: _bool = False, memory_format: memory_format | None = None) -> Tensor:
    """A tensor of zeros.

    The size is given as numbers or as one tuple.

    >>> torch.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    ...
def zeros_like(input: Tensor, *, dtype: dtype | None = None, layout: layout | None = None,
               device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False,
               memory_format: memory_format | None = None) -> Tensor:
    """A tensor of zeros shaped as ``input``.

    Shape, dtype and layout are those of ``input``.

    >>> torch.zeros_like(torch.tensor([1.5, 2.5]))
    tensor([0., 0.])
    """
    ...
