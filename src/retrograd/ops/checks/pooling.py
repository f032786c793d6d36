"""What pooling refuses, and in which words; the sizes that it works on."""

from __future__ import annotations

import math
from typing import Any

from ...backend import pool as pool_kernels, xp
from ...base import dtypes
from ...base.errors import no_kernel, wrong_type
from ...core.tensor import Tensor
from ..nn.sizes import Ints, is_whole, spread
from .convolution import as_planes

TIMES = {1: "one int", 2: "two ints", 3: "three ints"}


def need_bool(name: str, argument: str, position: int, value: Any) -> None:
    if not isinstance(value, bool):
        raise wrong_type(name, argument, position, "bool", value)


def pool_sizes(rank: int, name: str, **sizes: Any) -> list[Ints]:
    found = []
    for label, value in sizes.items():
        size = spread(value, rank)
        if len(size) != rank:
            raise RuntimeError(f"{name}: {label} must either be a single int, or a tuple of "
                               f"{TIMES[rank]}")
        found.append(size)
    return found


def each(label: str, values: Ints) -> str:
    """Numbers with the letters of their dimensions: time, height, width."""
    return " ".join([f"{label}{axis}: {n}" for axis, n in zip("THW"[-len(values):], values,
                                                              strict=True)])


def check_windows(kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> None:
    for s, p, k, d in zip(stride, padding, kernel, dilation, strict=True):
        if s == 0:
            raise RuntimeError("stride should not be zero")
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > int((d * (k - 1) + 1) / 2):
            raise RuntimeError("pad should be at most half of effective kernel size, but got "
                               f"pad={p}, kernel_size={k} and dilation={d}")
    for name, label, values in (("kernel size", "k", kernel), ("stride", "d", stride),
                                ("dilation", "dilation", dilation)):
        if min(values) <= 0:
            raise RuntimeError(f"{name} should be greater than zero, but got "
                               + each(label, values))


def check_planes(rank: int, name: str, shape: Ints) -> None:
    empty = 0 in shape[-rank - 1:]
    if rank == 2 and (empty or len(shape) not in (3, 4)):
        raise RuntimeError("Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size "
                           f"for input, but got:{list(shape)}")
    if empty:
        title = "max_pool3d_with_indices_out_cpu_template" if "max" in name else name
        raise RuntimeError(f"{title}(): Expected input's non-batch dimensions to have positive "
                           f"length, but input has a shape of {list(shape)} and non-batch "
                           "dimension 0 has length zero!")


def pooled_space(name: str, shape: Ints, kernel: Ints, stride: Ints, padding: Ints,
                 dilation: Ints, ceil_mode: bool) -> Ints:
    """The space of the pooled images or volumes, with everything checked."""
    rank = len(kernel)
    check_windows(kernel, stride, padding, dilation)
    check_planes(rank, name, shape)
    space = shape[-rank:]
    if name == "avg_pool3d" and any(n < k for n, k in zip(space, kernel, strict=True)):
        raise RuntimeError(f"input image ({each('', space)}) smaller than kernel size "
                           f"({each('k', kernel)})")
    out = pool_kernels.pool_space(space, kernel, stride, padding, dilation, ceil_mode)
    if any(n < 1 for n in out):
        plane = shape[-rank - 1]
        before, after = ("x".join(map(str, (plane, *sizes))) for sizes in (space, out))
        raise RuntimeError(f"Given input size: ({before}). Calculated output size: ({after}). "
                           "Output size is too small")
    return out


def pooled_length(name: str, shape: Ints, kernel: Ints, stride: Ints, padding: Ints,
                  dilation: Ints, ceil_mode: bool) -> Ints:
    """The length of pooled signals, which are checked as images of height one."""
    if len(shape) not in (2, 3):
        raise RuntimeError(f"Expected 2 to 3 dimensions, but got {len(shape)}-dimensional tensor "
                           f"for argument #1 'self' (while checking arguments for {name})")
    return pooled_space(name, (*shape[:-1], 1, shape[-1]), (1, *kernel), (1, *stride),
                        (0, *padding), (1, *dilation), ceil_mode)[1:]


def check_max_pool1d(shape: Ints, kernel: int, stride: int, padding: int, dilation: int) -> None:
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError("max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim "
                           f"batch size for input, but got:{list(shape)}")
    for name, value in (("kernel_size", kernel), ("stride", stride)):
        if value <= 0:
            raise RuntimeError(f"max_pool1d() {name} must be greater than zero, but got {value}")
    if padding < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {padding}")
    if padding > kernel // 2:
        raise RuntimeError("max_pool1d() padding should be at most half of kernel size, but got "
                           f"padding={padding} and kernel_size={kernel}")
    if dilation <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {dilation}")


def max_pooled_space(name: str, shape: Ints, kernel: Ints, stride: Ints, padding: Ints,
                     dilation: Ints, ceil_mode: bool, return_indices: bool) -> Ints:
    rank = len(kernel)
    given = (kernel, stride, padding, dilation)
    if rank == 1 and return_indices:
        return pooled_length(name, shape, *given, ceil_mode)
    if rank == 1:
        check_max_pool1d(shape, *[value[0] for value in given])
        out = pool_kernels.pool_space(shape[-1:], *given, ceil_mode)
        if out[0] < 1:
            raise RuntimeError(f"{name}() Invalid computed output size: {out[0]}")
        return out
    check_rank(rank, shape)
    return pooled_space(name, shape, *given, ceil_mode)


def check_rank(rank: int, shape: Ints) -> None:
    if len(shape) not in (rank + 1, rank + 2):
        raise RuntimeError(f"non-empty {rank + 1}D or {rank + 2}D (batch mode) tensor expected for "
                           "input")


def floats_and_longs(kernel: str) -> Any:
    def guard(given: dict[str, Any], common: dtypes.dtype) -> None:
        if not common.is_floating_point and common is not dtypes.int64:
            raise no_kernel(kernel, common)

    return guard


def target_size(rank: int, name: str, input: Tensor, output_size: Any) -> Ints:
    wanted = (None,) * rank if output_size is None else \
        (output_size.__index__(),) * rank if is_whole(output_size) else tuple(output_size)
    space = input.shape[-rank:]
    if len(wanted) != rank:
        raise RuntimeError(wrong_length(rank, name, len(wanted)))
    out = tuple([space[i] if n is None else int(n) for i, n in enumerate(wanted)])
    if any(n < 0 for n in out):
        raise RuntimeError(negative_size(rank, name, input, out))
    return out


def wrong_length(rank: int, name: str, length: int) -> str:
    if rank == 1:
        return f"{name}() argument 'output_size' should contain one int (got {length})"
    if "avg" in name:
        return f"{name}: output_size must be {rank}"
    return f"{name}(): internal error: output_size.size() must be {rank}"


def negative_size(rank: int, name: str, input: Tensor, out: Ints) -> str:
    planes = (1, *out) if rank == 1 else out
    if "avg" in name:
        # The last comma has no space after it in three dimensions.
        shown = f"{planes[0]}, " + ",".join([str(n) for n in planes[1:]])
        return (f"{name.replace('1d', '2d')}: elements of output_size must be greater than or "
                f"equal to 0 but received {{{shown}}}")
    whole = [*input.shape[:-rank], *planes]
    return (f"Trying to create tensor with negative dimension {min(planes)}: {whole}")


def refuse_empty_planes(rank: int, name: str, shape: Ints) -> None:
    first = 1
    if "avg" in name and rank < 3:
        # A signal is averaged as an image of height one.
        shape, name = (*shape[:-rank], *as_planes(shape[-rank:])), "adaptive_avg_pool2d"
        first = len(shape) - 2
    if 0 in shape[first:]:
        raise RuntimeError(f"{name}(): Expected input to have non-zero size for non-batch "
                           f"dimensions, but input has sizes {list(shape)} with dimension "
                           f"{shape.index(0, first)} being empty")


def check_target(rank: int, name: str, input: Tensor, output_size: Any) -> None:
    if rank == 1:
        if isinstance(output_size, (list, tuple)) and None in output_size:
            raise TypeError(f"{name}(): argument 'output_size' (position 2) must be tuple of ints, "
                            "but found element of type NoneType at pos 0")
        if input.ndim not in (2, 3):
            raise RuntimeError(f"Expected 2 to 3 dimensions, but got {input.ndim}-dimensional "
                               "tensor for argument #1 'self' (while checking arguments for "
                               f"{name})")
    elif not isinstance(output_size, int) and input.ndim <= rank:
        raise ValueError(f"Input dimension should be at least {rank + 1}")


def check_adaptive(rank: int, name: str, input: Tensor) -> None:
    if input.ndim not in (rank + 1, rank + 2):
        colon = ":" if "max" in name else ""
        raise RuntimeError(f"{name}(): Expected {rank + 1}D or {rank + 2}D tensor, but got{colon} "
                           f"{list(input.shape)}")
    refuse_empty_planes(rank, name, tuple(input.shape))


def unpooled_space(rank: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any,
                   output_size: Any) -> tuple[Any, Ints]:
    """The space that pooled values are put back into, and the strides of the pooling."""
    kernel, pad = spread(kernel_size, rank), spread(padding, rank)
    steps = kernel if stride is None else spread(stride, rank)
    space = tuple(input.shape)[-len(kernel):]
    usual = [(space[d] - 1) * steps[d] + kernel[d] - 2 * pad[d] for d in range(len(kernel))]
    if output_size is None:
        output_size = usual
    else:
        if len(output_size) == rank + 2:
            output_size = output_size[2:]
        if len(output_size) != rank:
            raise ValueError(f"output_size should be a sequence containing {rank} or {rank + 2} "
                             f"elements, but it has a length of '{len(output_size)}'")
        for d in range(rank):
            low, high = usual[d] - steps[d], usual[d] + steps[d]
            if not low < output_size[d] < high:
                raise ValueError(f'invalid output_size "{output_size}" (dim {d} must be between '
                                 f"{low} and {high})")
    for d, n in enumerate(output_size):
        if n < 0:
            raise ValueError("max_unpooling: output_size must contain non-negative spatial "
                             f"dimensions, but got output_size[{d}]={n}")
    return tuple(output_size), steps


def check_unpooling(input: Tensor, indices: Tensor, space: Ints, stride: Ints) -> None:
    rank, shape = len(space), tuple(input.shape)
    if indices.dtype is not dtypes.int64:
        raise RuntimeError(f"elements in indices should be type int64 but got: "
                           f"{indices.dtype.alias}")
    if len(shape) not in (rank + 1, rank + 2):
        raise RuntimeError(f"Input to max_unpooling{rank}d should be a {rank + 1}d or {rank + 2}d "
                           f"Tensor, but got a tensor with {len(shape)} dimensions.")
    if tuple(indices.shape) != shape:
        raise RuntimeError("Expected shape of indices to be same as that of the input tensor ("
                           f"{list(shape)}) but got indices tensor with shape: "
                           f"{list(indices.shape)}")
    for d in range(1, len(shape)):
        if not shape[d]:
            raise RuntimeError(f"max_unpooling{rank}d_forward_out_cpu(): Expected input to have "
                               f"non-zero size for non-batch dimensions, but got {list(shape)} "
                               f"with dimension {d} being empty.")
    if rank == 3 and min(stride) <= 0:
        raise RuntimeError("strides should be greater than zero, but got stride: "
                           f"{list(stride)}")
    if not input.dtype.is_floating_point and input.numel():
        raise no_kernel(f"max_unpool{rank}d", input.dtype)


def fractional_sizes(rank: int, input: Tensor, kernel_size: Any, output_size: Any,
                     output_ratio: Any) -> tuple[Ints, Ints]:
    """The kernel, and the output size from itself or from a part of the input's."""
    name = f"fractional_max_pool{rank}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is None:
        if isinstance(output_ratio, (int, float)):
            output_ratio = (output_ratio,) * rank
        if len(output_ratio) > rank:
            raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of "
                             "Ints.")
        output_size = tuple([int(input.size(d - rank) * output_ratio[d]) for d in range(rank)])
    sizes = []
    for label, value in (("kernel_size", kernel_size), ("output_size", output_size)):
        size = (value.__index__(),) * rank if is_whole(value) else tuple(value)
        if len(size) != rank:
            raise RuntimeError(f"{name}: {label} must either be a single Int or tuple of Ints")
        sizes.append(size)
    return sizes[0], sizes[1]


def check_fractional(rank: int, input: Tensor, samples: Tensor, kernel: Ints, out: Ints) -> None:
    shape = tuple(input.shape)
    name = f"fractional_max_pool{rank}d" + ("" if rank == 2 else "_out")
    if len(shape) not in (rank + 1, rank + 2):
        raise RuntimeError(f"{name}(): Expected {rank + 1}D or {rank + 2}D tensor, but got: "
                           f"{list(shape)}")
    for d in range(1, len(shape)):
        if not shape[d]:
            raise RuntimeError(f"{name}(): Expected input to have non-zero size for non-batch "
                               f"dimensions, but got{list(shape)} with dimension {d} being empty.")
    for axis, n, k, m in zip(("time", "height", "width")[-rank:], shape[-rank:], kernel, out,
                             strict=True):
        if m + k - 1 > n - (axis == "time"):  # which has to leave one element more
            raise RuntimeError(f"{name}(): pool {axis} {k} too large relative to input {axis} {n}")
    if min(out) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(out)}: "
                           f"{[*shape[:-rank], *out]}")
    if samples.dtype is not input.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if samples.ndim != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {samples.ndim}")
    if samples.shape[0] < (1 if len(shape) == rank + 1 else shape[0]):
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if samples.shape[1] != shape[-rank - 1]:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if samples.shape[2] != rank:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {rank}; got "
                           f"{samples.shape[2]}.")


def check_places(indices: Any, space: Ints) -> None:
    """Raise unless all indices lie in planes of this size; those of empty planes are unused."""
    wrong = (indices < 0) | (indices >= math.prod(space))
    if 0 not in space and xp.any(wrong):
        raise RuntimeError(f"Found an invalid max index: {int(indices[wrong][-1])} (output volumes "
                           f"are of size {'x'.join(map(str, space))})")
