"""Connectionist temporal classification: labels in order, at times that nobody gave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...backend import ctc as ctc_kernels
from ...base import dtypes
from ...base.errors import wrong_type
from ...core.op import Array, Index, composite, op, publish
from ...core.tensor import Tensor
from ..batching import all_batched, folded, merged, unfolded, unmerged
from ..checks.common import no_derivative
from ..checks.losses import check_sequences, sequence_lengths
from ..creation.from_data import tensor
from ..elementwise.where import where
from ..indexing.index_select import index_select
from ..reductions.sums import _sum_dims, mean, sum
from ..shapes.dimensions import squeeze, unsqueeze
from ..shapes.reshaping import reshape, zeros_of
from .reduction import MEAN, NONE, SUM, reduction_code


@op(outputs=("loss", "ways"), differentiable=(0,), node="CtcLossBackward0")
def _ctc_loss(log_probs: Array, targets: Index, input_lengths: Any, target_lengths: Any, blank: int,
              zero_infinity: bool) -> Any:
    return ctc_kernels.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank)


@op()
def _ctc_gradient(output: Array, log_probs: Array, targets: Index, loss: Index, ways: Index,
                  input_lengths: Any, target_lengths: Any, blank: int, zero_infinity: bool) -> Any:
    return ctc_kernels.ctc_gradient(output, log_probs, targets, loss, ways, input_lengths,
                                    target_lengths, blank, zero_infinity)


_ctc_loss.vjp(
    log_probs=lambda g, log_probs, targets, loss, ways, input_lengths, target_lengths, blank,
    zero_infinity: _ctc_gradient(g[0], log_probs, targets, loss, ways, input_lengths,
                                 target_lengths, blank, zero_infinity))
# Each sample's gradient is a multiple of its output's; of the scores it has no derivative, as it
# is by definition not quite that of the loss.
_ctc_gradient.vjp(
    output=lambda g, output, log_probs, targets, loss, ways, input_lengths, target_lengths, blank,
    zero_infinity: _sum_dims(g * _ctc_gradient(
        zeros_of(output, output.shape) + 1, log_probs, targets, loss, ways, input_lengths,
        target_lengths, blank, zero_infinity), (0, 2)),
    log_probs=lambda g: no_derivative("aten::_ctc_loss_backward"))


@_ctc_loss.batch
def _(batch: Any, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any,
      blank: int, zero_infinity: bool) -> Any:
    log_probs, targets = all_batched(batch, log_probs=log_probs, targets=targets)
    loss, ways = _ctc_loss(merged(log_probs, 1), folded(targets), input_lengths * batch.size,
                           target_lengths * batch.size, blank, zero_infinity)
    return unfolded(batch, loss), unmerged(batch, ways, 1)


@_ctc_gradient.batch
def _(batch: Any, output: Any, log_probs: Any, targets: Any, loss: Any, ways: Any,
      input_lengths: Any, target_lengths: Any, blank: int, zero_infinity: bool) -> Any:
    output, log_probs, targets, loss, ways = all_batched(
        batch, output=output, log_probs=log_probs, targets=targets, loss=loss, ways=ways)
    found = _ctc_gradient(folded(output), merged(log_probs, 1), folded(targets), folded(loss),
                          merged(ways, 1), input_lengths * batch.size,
                          target_lengths * batch.size, blank, zero_infinity)
    return unmerged(batch, found, 1)


def _in_rows(targets: Tensor, lengths: tuple[int, ...]) -> Tensor:
    """The targets that stand one after the other, a row for each sample."""
    longest, start, places = max(lengths, default=0), 0, []
    for length in lengths:
        # What lies behind a row's own targets is never looked at.
        places += [start + min(i, length - 1) if length else 0 for i in range(longest)]
        start += length
    return reshape(index_select(targets, 0, tensor(places, dtype=dtypes.int64)),
                   (len(lengths), longest))


def _torch_ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[int],
                    target_lengths: Tensor | Sequence[int], blank: int = 0, reduction: int = NONE,
                    zero_infinity: bool = False) -> Tensor:
    """:func:`ctc_loss` with the number of a reduction, as ``torch.ctc_loss`` takes it."""
    if not isinstance(reduction, int):
        raise wrong_type("ctc_loss", "reduction", 6, "int", reduction)
    times = sequence_lengths("input_lengths", input_lengths)
    counts = sequence_lengths("target_lengths", target_lengths)
    is_batched = log_probs.ndim == 3
    if not is_batched:
        log_probs = unsqueeze(log_probs, 1)
    check_sequences(log_probs, targets, times, counts, blank)
    targets = targets.to(dtypes.int64)
    targets = _in_rows(targets, counts) if targets.ndim == 1 else targets
    loss, _ = _ctc_loss(log_probs, targets, times, counts, blank, zero_infinity)
    if zero_infinity:
        loss = where(loss == float("inf"), loss.new_zeros(()), loss)
    if reduction == MEAN:
        return mean(loss / loss.new_tensor([max(n, 1) for n in counts]))
    return sum(loss) if reduction == SUM else loss if is_batched else squeeze(loss, 0)


publish(_torch_ctc_loss, "ctc_loss", method=False)


@composite(function="nn.functional")
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[int],
             target_lengths: Tensor | Sequence[int], blank: int = 0, reduction: str = "mean",
             zero_infinity: bool = False) -> Tensor:
    """Minus the log-likelihood of sequences of labels under log-probabilities at each time."""
    return _torch_ctc_loss(log_probs, targets, input_lengths, target_lengths, blank,
                           reduction_code(reduction), zero_infinity)
