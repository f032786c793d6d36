"""What losses refuse, and in which words."""

from __future__ import annotations

from typing import Any

from ...base import dtypes
from ...base.errors import as_int, no_kernel, wrong_type
from ...core.tensor import Tensor
from .common import scalar_type, unsupported


def check_likelihood(input: Any, weight: Any) -> None:
    unsupported("nll_loss_out_frame", input.dtype, "biuc")
    if weight is not None and weight.dtype != input.dtype:
        raise RuntimeError(f"expected scalar type {scalar_type(input)} but found "
                           f"{scalar_type(weight)}")


def check_classes(input: Tensor, target: Tensor, weight: Tensor | None) -> None:
    rank, classes = input.ndim, input.shape[1] if input.ndim > 1 else input.shape[0]
    if rank == 1 and target.ndim == 1 and target.shape[0] != 1:
        raise ValueError("For 1D input, 1D target must have size 1, but got target size: "
                         f"{target.shape[0]}")
    if rank > 1 and (not target.ndim or input.shape[0] != target.shape[0]):
        raise ValueError(f"Expected input batch_size ({input.shape[0]}) to match target batch_size "
                         f"({target.shape[0] if target.ndim else 0}).")
    if rank <= 2 and target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    expected = (input.shape[0], *input.shape[2:])
    if rank > 2 and tuple(target.shape) != expected:
        if rank == 4:
            raise RuntimeError(f"size mismatch (got input: {list(input.shape)} , target: "
                               f"{list(target.shape)}")
        raise RuntimeError(f"Expected target size {list(expected)}, got {list(target.shape)}")
    if target.dtype not in (dtypes.int64, dtypes.uint8):
        raise RuntimeError("expected target dtype to be Long or Byte, but got "
                           f"{target.dtype.alias}")
    if weight is not None and (weight.numel() != classes or (rank <= 2 and weight.ndim != 1)):
        raise RuntimeError("weight tensor should be defined either for all or no classes"
                           if rank > 2 else wrong_weight(classes, weight))
    if rank == target.ndim == 1 and input.shape[0] != target.shape[0]:
        raise RuntimeError(f"size mismatch (got input: {list(input.shape)}, target: "
                           f"{list(target.shape)})")
    if rank > 2 and rank != 4 and not input.numel() and target.numel():
        # Signals and volumes are seen as images, without any pixels if they have no elements.
        raise RuntimeError(
            f"size mismatch (got input: {[*input.shape[:2], 0, 0]} , target: "
            f"{[target.shape[0], 1, target.numel() // target.shape[0]]}")


def wrong_weight(classes: int, weight: Tensor) -> str:
    return (f"weight tensor should be defined either for all {classes} classes or no classes but "
            f"got weight tensor of shape: {list(weight.shape)}")


def check_fits(shape: tuple[int, ...], whole: tuple[int, ...]) -> None:
    """A weight may be broadcast to the values that it scales, but not the other way round."""
    if whole != shape:
        raise RuntimeError(f"output with shape {list(shape)} doesn't match the broadcast shape "
                           f"{list(whole)}")


def sequence_lengths(name: str, lengths: Any) -> tuple[int, ...]:
    """The length of each sequence, from a tensor or numbers."""
    if isinstance(lengths, Tensor):
        if not (lengths.dtype.is_signed and not lengths.dtype.is_floating_point
                and not lengths.dtype.is_complex) and lengths.dtype is not dtypes.uint8:
            raise RuntimeError(f"{name} must be integral")
        return tuple(lengths.reshape(-1).tolist())
    if not isinstance(lengths, (list, tuple)):
        raise wrong_type("ctc_loss", name, None, "Tensor or tuple of ints", lengths)
    return tuple([as_int(n, f"ctc_loss(): elements of '{name}'") for n in lengths])


def check_sequences(log_probs: Tensor, targets: Tensor, input_lengths: tuple[int, ...],
                    target_lengths: tuple[int, ...], blank: int) -> None:
    """Raise unless this is a batch of sequences and as many sequences of labels."""
    if not log_probs.numel():
        raise RuntimeError("log_probs tensor must not be empty")
    if log_probs.ndim != 3:
        raise _wrong_sequence(f"3-dimensional tensor, but got {log_probs.ndim}-dimensional tensor "
                              "for argument #1 'log_probs'")
    if targets.ndim not in (1, 2):
        raise _wrong_sequence(f"1 to 2 dimensions, but got {targets.ndim}-dimensional tensor for "
                              "argument #2 'targets'")
    if log_probs.dtype not in (dtypes.float32, dtypes.float64):
        raise no_kernel("ctc_loss_cpu", log_probs.dtype)
    length, samples, classes = log_probs.shape
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    for name, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        if len(lengths) != samples:
            raise RuntimeError(f"{name} must be of size batch_size")
        if min(lengths) < 0:
            raise _wrong_sequence(f"{name} to have value at least 0, but got value {min(lengths)}")
    total, longest = sum(target_lengths), max(target_lengths)
    if targets.ndim == 1 and targets.shape[0] != total:
        raise _wrong_sequence(f"tensor to have size {total} at dimension 0, but got size "
                              f"{targets.shape[0]} for argument #2 'targets'")
    if targets.ndim == 2 and targets.shape[0] != samples:
        raise _wrong_sequence(f"tensor to have size {samples} at dimension 0, but got size "
                              f"{targets.shape[0]} for argument #2 'targets'")
    if targets.ndim == 2 and targets.shape[1] < longest:
        raise _wrong_sequence(f"tensor to have size at least {longest} at dimension 1, but got "
                              f"size {targets.shape[1]} for argument #2 'targets'")
    if max(input_lengths) > length:
        raise _wrong_sequence(f"input_lengths to have value at most {length}, but got value "
                              f"{max(input_lengths)}")


def _wrong_sequence(what: str) -> RuntimeError:
    return RuntimeError(f"Expected {what} (while checking arguments for "
                        "ctc_loss_allocate_outputs)")
