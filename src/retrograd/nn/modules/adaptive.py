"""A softmax over many classes, most of which are rare."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ...core.tensor import Tensor
from .. import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    """The log-probability of each target, and minus their mean."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Frequent classes have a score each; rare ones share the score of their cluster.

    ``cutoffs`` says where clusters begin; the projections of each next one are ``div_value`` times
    narrower.
    """

    def __init__(self, in_features: int, n_classes: int, cutoffs: Sequence[int],
                 div_value: float = 4.0, head_bias: bool = False, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if cutoffs != sorted(set(cutoffs)) or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1 \
                or any(int(c) != c for c in cutoffs):
            raise ValueError("cutoffs should be a sequence of unique, positive integers sorted in "
                             "an increasing order, where each value is between 1 and n_classes-1")
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        options = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for number, (start, end) in enumerate(pairwise(self.cutoffs)):
            width = int(in_features // div_value ** (number + 1))
            self.tail.append(Sequential(Linear(in_features, width, bias=False, **options),
                                        Linear(width, end - start, bias=False, **options)))

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        self.head.reset_parameters()
        for projection in self.tail.modules():
            if isinstance(projection, Linear):
                projection.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        if target_.dim() > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if target_.dim() == 1 and input_.size(0) != target_.size(0):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input_.dim() != target_.dim() + 1:
            raise RuntimeError(f"{target_.dim()}D target tensor expects {target_.dim() + 1}D input "
                               f"tensors, but found inputs with size {input_.size()}")
        if target_.dim() == 0:
            output, loss = self.forward(input_.unsqueeze(0), target_.unsqueeze(0))
            return _ASMoutput(output.squeeze(0), loss)
        if bool(((target_ < 0) | (target_ >= self.n_classes)).any()):
            raise RuntimeError(f"Target values should be in [0, {self.n_classes - 1}], but values "
                               f"in range [{target_.min().item()}, {target_.max().item()}] were "
                               "found. ")
        in_head, output = target_.clone(), input_.new_zeros(target_.size(0))
        for number, (start, end) in enumerate(pairwise(self.cutoffs)):
            rows = ((target_ >= start) & (target_ < end)).nonzero().squeeze(1)
            if not rows.numel():
                continue
            inside = F.log_softmax(self.tail[number](input_.index_select(0, rows)), dim=1)
            picked = inside.gather(1, (target_.index_select(0, rows) - start).unsqueeze(1))
            output = output.index_copy(0, rows, picked.squeeze(1))
            in_head = in_head.index_fill(0, rows, self.shortlist_size + number)
        likely = F.log_softmax(self.head(input_), dim=1)
        output = output + likely.gather(1, in_head.unsqueeze(1)).squeeze(1)
        return _ASMoutput(output, (-output).mean())

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probability of every class."""
        head = F.log_softmax(self.head(input), dim=1)
        found = input.new_empty((head.size(0), self.n_classes))
        found[:, :self.shortlist_size] = head[:, :self.shortlist_size]
        for number, (start, end) in enumerate(pairwise(self.cutoffs)):
            inside = F.log_softmax(self.tail[number](input), dim=1)
            found[:, start:end] = inside + head[:, self.shortlist_size + number].unsqueeze(1)
        return found

    def predict(self, input: Tensor) -> Tensor:
        """The likeliest class of each sample; clusters are looked into where one is likeliest."""
        found = self.head(input).argmax(dim=1)
        rare = found >= self.shortlist_size
        if bool(rare.any()):
            found[rare] = self.log_prob(input[rare]).argmax(dim=1)
        return found
