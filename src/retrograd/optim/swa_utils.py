"""Averages of weights over training: of all visited, or exponential."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from ..autograd.grad_mode import no_grad
from ..base import dtypes
from ..core.tensor import Tensor
from ..nn.modules.batchnorm import _BatchNorm
from ..nn.modules.module import Module
from ..ops.creation.from_data import tensor
from .lr_scheduler import LRScheduler, _per_group
from .optimizer import Optimizer

__all__ = ["AveragedModel", "update_bn", "SWALR", "get_ema_multi_avg_fn", "get_swa_multi_avg_fn",
           "get_ema_avg_fn", "get_swa_avg_fn"]


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] "
                         "range.")


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[[list[Tensor], list[Tensor], Any], None]:
    """An exponential average of several tensors at once, in place."""
    _check_decay(decay)

    def average(ema_param_list: list[Tensor], current_param_list: list[Tensor], _: Any) -> None:
        with no_grad():
            for mean, value in zip(ema_param_list, current_param_list, strict=True):
                if mean.is_floating_point() or mean.is_complex():
                    mean.lerp_(value, 1 - decay)
                else:
                    mean.copy_(mean * decay + value * (1 - decay))

    return average


def get_swa_multi_avg_fn() -> Callable[[list[Tensor], list[Tensor], Any], None]:
    """The mean of several tensors at once, in place."""

    def average(averaged_param_list: list[Tensor], current_param_list: list[Tensor],
                num_averaged: Any) -> None:
        with no_grad():
            for mean, value in zip(averaged_param_list, current_param_list, strict=True):
                if mean.is_floating_point() or mean.is_complex():
                    mean.lerp_(value, float(1 / (num_averaged + 1)))
                else:
                    mean.add_((value - mean) // (int(num_averaged) + 1))

    return average


def get_ema_avg_fn(decay: float = 0.999) -> Callable[[Tensor, Tensor, Any], Tensor]:
    """An exponential average."""
    _check_decay(decay)

    def average(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        with no_grad():
            return decay * ema_param + (1 - decay) * current_param

    return average


def get_swa_avg_fn() -> Callable[[Tensor, Tensor, Any], Tensor]:
    """The mean."""

    def average(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        with no_grad():
            return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return average


class AveragedModel(Module):
    """A copy of a model whose weights are averages of those it was updated with."""

    n_averaged: Tensor

    def __init__(self, model: Module, device: Any = None,
                 avg_fn: Callable[[Tensor, Tensor, Any], Tensor] | None = None,
                 multi_avg_fn: Callable[[list[Tensor], list[Tensor], Any], None] | None = None,
                 use_buffers: bool = False) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=dtypes.int64, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the weights of ``model`` into the averages."""
        mine, theirs = self._averaged(self), self._averaged(model)
        own = [p.detach() for p in mine]
        given = [p.detach() for p in theirs]
        if self.n_averaged == 0:
            for mean, value in zip(own, given, strict=True):
                mean.copy_(value)
        elif self.avg_fn is not None:
            for mean, value in zip(own, given, strict=True):
                mean.copy_(self.avg_fn(mean, value, self.n_averaged))
        else:
            average = self.multi_avg_fn or get_swa_multi_avg_fn()
            average(own, given, self.n_averaged)
        if not self.use_buffers:
            for mean, value in zip(self.module.buffers(), model.buffers(), strict=True):
                mean.detach().copy_(value.detach())
        self.n_averaged += 1

    def _averaged(self, model: Module) -> list[Tensor]:
        inner = model.module if isinstance(model, AveragedModel) else model
        parameters: Iterable[Tensor] = inner.parameters()
        if self.use_buffers:
            parameters = itertools.chain(parameters, inner.buffers())
        return list(parameters)


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Let the batch norms of a model see all data anew."""
    norms = [m for m in model.modules() if isinstance(m, _BatchNorm)]
    if not norms:
        return
    momenta = {norm: norm.momentum for norm in norms}
    was_training = model.training
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # a mean over all batches
    with no_grad():
        for batch in loader:
            model(batch[0] if isinstance(batch, (list, tuple)) else batch)
    for norm, momentum in momenta.items():
        norm.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Brings the rate to a constant one over some epochs."""

    def __init__(self, optimizer: Optimizer, swa_lr: float, anneal_epochs: int = 10,
                 anneal_strategy: str = "cos", last_epoch: int = -1) -> None:
        rates = _per_group("swa_lr", optimizer, swa_lr)
        for rate, group in zip(rates, optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError("anneal_strategy must be one of 'cos' or 'linear', instead got "
                             f"{anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError("anneal_epochs must be equal or greater than 0, got "
                             f"{anneal_epochs}")
        self._anneal = (lambda t: (1 - math.cos(math.pi * t)) / 2) if anneal_strategy == "cos" \
            else (lambda t: t)
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer and the function."""
        return {k: v for k, v in super().state_dict().items() if k != "_anneal"}

    def _next_rates(self) -> list[Any]:
        """The current rates, moved one epoch towards the constant one."""
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        span = max(1, self.anneal_epochs)
        before = self._anneal(max(0, min(1, (step - 1) / span)))
        now = self._anneal(max(0, min(1, step / span)))
        rates = []
        for group, rate in zip(self.optimizer.param_groups, self._current(), strict=True):
            start = group["swa_lr"] if before == 1 else \
                (rate - before * group["swa_lr"]) / (1 - before)
            rates.append(group["swa_lr"] * now + start * (1 - now))
        return rates
