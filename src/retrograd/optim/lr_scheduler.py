"""Schedules that change an optimizer's learning rates from epoch to epoch."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from ..base.warning import warn
from ..core.tensor import Tensor
from .optimizer import Optimizer

_STEP_ORDER = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, "
    "you should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  "
    "Failure to do this will result in PyTorch skipping the first value of the learning rate "
    "schedule. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate")
_EPOCH_DEPRECATED = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use `scheduler.step()` to step the scheduler. During the deprecation, if "
    "epoch is different from None, the closed form is used instead of the new chainable form, "
    "where available. Please open an issue if you are unable to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose.")


def _detached(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) else value


def _set_rate(group: dict[str, Any], rate: Any) -> None:
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(float(rate))
    else:
        group["lr"] = rate


def _checked(optimizer: Any) -> Optimizer:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


class LRScheduler:
    """Base class of schedules: subclasses compute the next learning rates in ``get_lr``."""

    _get_lr_called_within_step = False
    _is_initial = False
    _next_rates: Any = None  # what ``get_lr`` returns, where a schedule says no more

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = _checked(optimizer)
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _detached(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{number}] when resuming "
                    "scheduler with last_epoch >= 0.\n"
                    "This typically happens when:\n"
                    "1. You're trying to resume training from a checkpoint but haven't properly "
                    "loaded the optimizer state\n"
                    "2. You're using last_epoch >= 0 for a fresh training run (not recommended)")
        self.base_lrs = [_detached(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        if not optimizer._is_scheduled:  # what it did before its first schedule does not count
            optimizer._is_scheduled, optimizer._opt_called = True, False
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Return everything but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what :meth:`state_dict` returned."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """Return the learning rates that are in force, one per group."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """Compute the learning rates of ``last_epoch`` from those before it."""
        if self._next_rates is None:
            raise NotImplementedError
        if not self._get_lr_called_within_step:
            warn("To get the last learning rate computed by the scheduler, please use "
                 "`get_last_lr()`.")
        return self._next_rates()

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch."""
        if self._step_count == 1 and not self.optimizer._opt_called:
            warn(_STEP_ORDER)
        self._step_count += 1
        if epoch is not None:
            warn(_EPOCH_DEPRECATED)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                rates = getattr(self, "_get_closed_form_lr", self.get_lr)()
        finally:
            self._get_lr_called_within_step = False
        self._set(rates)

    def _set(self, rates: list[Any]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates):
            _set_rate(group, rate)
        self._last_lr = self._current()

    def _current(self) -> list[Any]:
        return [_detached(group["lr"]) for group in self.optimizer.param_groups]


_LRScheduler = LRScheduler


class LambdaLR(LRScheduler):
    """The initial rate times a function of the epoch."""

    def __init__(self, optimizer: Optimizer,
                 lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
                 last_epoch: int = -1) -> None:
        groups = len(optimizer.param_groups)
        if isinstance(lr_lambda, (list, tuple)):
            if len(lr_lambda) != groups:
                raise ValueError(f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}")
            self.lr_lambdas = list(lr_lambda)
        else:
            self.lr_lambdas = [lr_lambda] * groups
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Return everything but the optimizer; of the functions, only the state of objects."""
        state = super().state_dict()
        state["lr_lambdas"] = [None if _is_plain_function(function) else function.__dict__.copy()
                               for function in state.pop("lr_lambdas")]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what :meth:`state_dict` returned; functions are kept."""
        state = dict(state_dict)
        saved = state.pop("lr_lambdas")
        self.__dict__.update(state)
        for function, attributes in zip(self.lr_lambdas, saved):
            if attributes is not None:
                function.__dict__.update(attributes)

    def _next_rates(self) -> list[Any]:
        """Return the initial rates times the functions of the epoch."""
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(LambdaLR):
    """Multiply the rate by a function of the epoch, every epoch."""

    def _next_rates(self) -> list[Any]:
        """Return the current rates times the functions of the epoch, but for the first."""
        if self._is_initial:
            return self._current()
        return [rate * f(self.last_epoch) for f, rate in zip(self.lr_lambdas, self._current())]


class StepLR(LRScheduler):
    """Multiply the rate by ``gamma`` every ``step_size`` epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1,
                 last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _next_rates(self) -> list[Any]:
        """Return the current rates, multiplied where a step is due."""
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._current()
        return [rate * self.gamma for rate in self._current()]

    def _get_closed_form_lr(self) -> list[Any]:
        steps = self.last_epoch // self.step_size
        return [base * self.gamma**steps for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Multiply the rate by ``gamma`` at each of the ``milestones``."""

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1,
                 last_epoch: int = -1) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _next_rates(self) -> list[Any]:
        """Return the current rates, multiplied at a milestone."""
        times = self.milestones.get(self.last_epoch, 0)
        return [rate * self.gamma**times if times else rate for rate in self._current()]

    def _get_closed_form_lr(self) -> list[Any]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """Multiply the rate by ``factor`` until ``total_iters`` epochs have passed."""

    def __init__(self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5,
                 last_epoch: int = -1) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _next_rates(self) -> list[Any]:
        """Return the current rates, scaled at the first epoch and back after the last."""
        if self.last_epoch == 0:
            return [rate * self.factor for rate in self._current()]
        if self.last_epoch != self.total_iters:
            return self._current()
        return [rate * (1.0 / self.factor) for rate in self._current()]

    def _get_closed_form_lr(self) -> list[Any]:
        early = self.last_epoch < self.total_iters
        return [base * (self.factor if early else 1) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """Move the factor of the rate linearly from ``start_factor`` to ``end_factor``."""

    def __init__(self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0,
                 total_iters: int = 5, last_epoch: int = -1) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal "
                "to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _next_rates(self) -> list[Any]:
        """Return the current rates, moved one epoch along the line."""
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in self._current()]
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._current()
        slope = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * slope
        return [rate * (1.0 + slope / before) for rate in self._current()]

    def _get_closed_form_lr(self) -> list[Any]:
        passed = min(self.total_iters, self.last_epoch) / self.total_iters
        factor = self.start_factor + (self.end_factor - self.start_factor) * passed
        return [base * factor for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Multiply the rate by ``gamma`` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _next_rates(self) -> list[Any]:
        """Return the current rates, multiplied after the first epoch."""
        if self._is_initial:
            return self._current()
        return [rate * self.gamma for rate in self._current()]

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Let the rate follow half a cosine down to ``eta_min`` over ``T_max`` epochs."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0,
                 last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _next_rates(self) -> list[Any]:
        """Return the current rates, moved one epoch along the cosine."""
        if self._is_initial:
            return self._current()
        if self._step_count == 1 and self.last_epoch > 0:
            return self._get_closed_form_lr()
        previous = self.last_epoch - 1
        here = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        before = 1 + math.cos(math.pi * previous / self.T_max)
        if previous % (2 * self.T_max) == self.T_max:
            # At the bottom the ratio below is 0/0, so the climb starts from the base rate.
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [rate + (base - self.eta_min) * rise
                    for base, rate in zip(self.base_lrs, self._current())]
        return [here / before * (rate - self.eta_min) + self.eta_min for rate in self._current()]

    def _get_closed_form_lr(self) -> list[Any]:
        share = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Let the rate fall to zero over ``total_iters`` epochs, by a power of what is left."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0,
                 last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _next_rates(self) -> list[Any]:
        """Return the current rates, moved one epoch along the power."""
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._current()
        left = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return [rate * (left / before) ** self.power for rate in self._current()]

    def _get_closed_form_lr(self) -> list[Any]:
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine down, again and again, each ``T_mult`` times as long as the last."""

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0,
                 last_epoch: int = -1) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type "
                             f"{type(eta_min)}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult, self.eta_min = T_mult, eta_min
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch)

    def _next_rates(self) -> list[Any]:
        """Return the rates at this place of the cosine."""
        share = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:  # type: ignore[override]
        """Go on to the next epoch, or to any, whole or not."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur = self.T_cur + 1
            if self.T_cur >= self.T_i:
                self.T_cur = self.T_cur % self.T_i
                self.T_i = self.T_i * self.T_mult
        else:
            self._place(epoch)
        self.last_epoch = math.floor(epoch)
        self._get_lr_called_within_step = True
        try:
            self._set(self.get_lr())
        finally:
            self._get_lr_called_within_step = False

    def _place(self, epoch: float) -> None:
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch  # type: ignore[assignment]
        elif self.T_mult == 1:
            self.T_i, self.T_cur = self.T_0, epoch % self.T_0  # type: ignore[assignment]
        else:
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)  # type: ignore[assignment]
            self.T_i = self.T_0 * self.T_mult**n


class _Several(LRScheduler):
    """A schedule that is made of others."""

    _schedulers: Any

    def state_dict(self) -> dict[str, Any]:
        """Return everything but the optimizer, and the states of the schedules."""
        state = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "_schedulers")}
        return {**state, "_schedulers": [part.state_dict() for part in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what :meth:`state_dict` returned."""
        state = dict(state_dict)
        parts = state.pop("_schedulers")
        self.__dict__.update(state)
        for part, saved in zip(self._schedulers, parts):
            part.load_state_dict(saved)


class SequentialLR(_Several):
    """One schedule after the other, each until its milestone."""

    def __init__(self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int],
                 last_epoch: int = -1) -> None:
        if len(schedulers) < 1:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler, but got no "
                             "scheduler.")
        _check_schedulers(type(self).__name__, schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError("Sequential Schedulers expects number of schedulers provided to be "
                             "one more than the number of milestone points, but got number of "
                             f"schedulers {len(schedulers)} and the number of milestones to be "
                             f"equal to {len(milestones)}")
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # Each schedule took a first step when it was made: only that of the first one counts.
        for group in optimizer.param_groups:
            _set_rate(group, group["initial_lr"])
        _take_back(self)
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Go on to the next epoch of the schedule that is due."""
        self.last_epoch += 1
        due = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[due]
        if due > 0 and self._milestones[due - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Several):
    """Several schedules, all of which step together."""

    def __init__(self, schedulers: Any, optimizer: Optimizer | None = None) -> None:
        if len(schedulers) < 1:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler to be "
                             "chained, but got no scheduler.")
        optimizer = optimizer or schedulers[0].optimizer
        _check_schedulers(type(self).__name__, schedulers, optimizer)
        self._schedulers, self.optimizer = schedulers, optimizer
        self._last_lr = self._current()

    def step(self) -> None:  # type: ignore[override]
        """Go on to the next epoch of all schedules."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._current()


class ReduceLROnPlateau(LRScheduler):
    """Multiply the rate by ``factor`` when a metric has stopped improving."""

    def __init__(self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1,
                 patience: int = 10, threshold: float = 1e-4, threshold_mode: str = "rel",
                 cooldown: int = 0, min_lr: float | list[float] = 0, eps: float = 1e-8) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.optimizer = _checked(optimizer)
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.factor = factor
        if isinstance(min_lr, (list, tuple)):
            if len(min_lr) != len(optimizer.param_groups):
                raise ValueError(f"expected {len(optimizer.param_groups)} min_lrs, got "
                                 f"{len(min_lr)}")
            self.default_min_lr = None
            self.min_lrs = list(min_lr)
        else:
            self.default_min_lr = min_lr
            self.min_lrs = [min_lr] * len(optimizer.param_groups)
        self.patience, self.cooldown, self.eps = patience, cooldown, eps
        self.last_epoch = 0
        self._last_lr = self._current()
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self._reset()

    def _reset(self) -> None:
        self.best = math.inf if self.mode == "min" else -math.inf
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Tell the metric of an epoch."""
        current = float(metrics)
        if epoch is None:
            epoch = self.last_epoch + 1
        else:
            warn(_EPOCH_DEPRECATED)
        self.last_epoch = epoch
        if self._is_better(current):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = self._current()

    def _reduce(self) -> None:
        for number, group in enumerate(self.optimizer.param_groups):
            rate = float(group["lr"])
            lower = max(rate * self.factor, self.min_lrs[number])
            if rate - lower > self.eps:
                _set_rate(group, lower)

    @property
    def in_cooldown(self) -> bool:
        """Whether the last reduction is so recent that nothing counts yet."""
        return self.cooldown_counter > 0

    def _is_better(self, value: float) -> bool:
        if self.mode == "min":
            limit = self.best * (1.0 - self.threshold) if self.threshold_mode == "rel" \
                else self.best - self.threshold
            return value < limit
        limit = self.best * (1.0 + self.threshold) if self.threshold_mode == "rel" \
            else self.best + self.threshold
        return value > limit

    is_better = _is_better


def _uses_beta1(optimizer: Optimizer) -> bool:
    """Whether what schedules call momentum is Adam's first beta, and not an option of that name."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` "
                         "option enabled")
    return "betas" in optimizer.defaults


def _set_momentum(group: dict[str, Any], value: float, use_beta1: bool) -> None:
    if use_beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


class CyclicLR(LRScheduler):
    """Move the rate up and down between two bounds."""

    def __init__(self, optimizer: Optimizer, base_lr: float | list[float],
                 max_lr: float | list[float], step_size_up: int = 2000,
                 step_size_down: int | None = None, mode: str = "triangular", gamma: float = 1.0,
                 scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle",
                 cycle_momentum: bool = True, base_momentum: float | list[float] = 0.8,
                 max_momentum: float | list[float] = 0.9, last_epoch: int = -1) -> None:
        self.optimizer = _checked(optimizer)
        for rate, group in zip(_per_group("base_lr", optimizer, base_lr), optimizer.param_groups):
            if last_epoch == -1:
                _set_rate(group, rate)
        self.max_lrs = _per_group("max_lr", optimizer, max_lr)
        up, down = float(step_size_up), float(step_size_down or step_size_up)
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma = mode, gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = "iterations" if scale_fn is None and mode == "exp_range" else \
            "cycle" if scale_fn is None else scale_mode
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _uses_beta1(optimizer)
            self.base_momentums = _per_group("base_momentum", optimizer, base_momentum)
            self.max_momentums = _per_group("max_momentum", optimizer, max_momentum)
            for value, low, group in zip(self.max_momentums, self.base_momentums,
                                         optimizer.param_groups):
                group["max_momentum"], group["base_momentum"] = value, low
        super().__init__(optimizer, last_epoch)
        self.base_lrs = _per_group("base_lr", optimizer, base_lr)

    def scale_fn(self, x: float) -> float:
        """How much of the distance between the bounds is used."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        if self.mode == "triangular2":
            return 1 / (2.0 ** (x - 1))
        return self.gamma**x

    def _next_rates(self) -> list[Any]:
        """Return the rates at this place of the cycle, and set the momentum."""
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for low, high, group in zip(self.base_momentums, self.max_momentums,
                                        self.optimizer.param_groups):
                _set_momentum(group, high - (high - low) * height * scale, self.use_beta1)
        return [low + (high - low) * height * scale
                for low, high in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self) -> dict[str, Any]:
        """Return everything but the optimizer; of a function, only the state of an object."""
        state = super().state_dict()
        function = state.pop("_scale_fn_custom")
        state["_scale_fn_custom"] = None if function is None or _is_plain_function(function) \
            else function.__dict__.copy()
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what :meth:`state_dict` returned; a function is kept."""
        state = dict(state_dict)
        attributes = state.pop("_scale_fn_custom")
        super().load_state_dict(state)
        if attributes is not None:
            self._scale_fn_custom.__dict__.update(attributes)


class OneCycleLR(LRScheduler):
    """Move the rate up to ``max_lr`` and then far down, in one cycle over all steps."""

    def __init__(self, optimizer: Optimizer, max_lr: float | list[float],
                 total_steps: int | None = None, epochs: int | None = None,
                 steps_per_epoch: int | None = None, pct_start: float = 0.3,
                 anneal_strategy: str = "cos", cycle_momentum: bool = True,
                 base_momentum: float | list[float] = 0.85,
                 max_momentum: float | list[float] = 0.95, div_factor: float = 25.0,
                 final_div_factor: float = 1e4, three_phase: bool = False,
                 last_epoch: int = -1) -> None:
        self.optimizer = _checked(optimizer)
        self.total_steps = _total_steps(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError("Expected float between 0 and 1 pct_start, but got "
                             f"{pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError("anneal_strategy must be one of 'cos' or 'linear', instead got "
                             f"{anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        last = self.total_steps - 1
        rise = pct_start * self.total_steps - 1
        phases = [(rise, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
        if three_phase:
            phases += [(2 * rise, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
                       (last, "initial_lr", "min_lr", "max_momentum", "max_momentum")]
        else:
            phases += [(last, "max_lr", "min_lr", "base_momentum", "max_momentum")]
        self._schedule_phases: list[dict[str, Any]] = [
            dict(zip(("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum"), phase))
            for phase in phases]
        highest = _per_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, highest):
                group["initial_lr"] = rate / div_factor
                group["max_lr"] = rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _uses_beta1(optimizer)
            if last_epoch == -1:
                for high, low, group in zip(
                        _per_group("max_momentum", optimizer, max_momentum),
                        _per_group("base_momentum", optimizer, base_momentum),
                        optimizer.param_groups):
                    group["max_momentum"], group["base_momentum"] = high, low
        super().__init__(optimizer, last_epoch)

    def _anneal(self, start: float, end: float, share: float) -> float:
        if self._anneal_func_type == "linear":
            return (end - start) * share + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)

    def _next_rates(self) -> list[Any]:
        """Return the rates at this place of the cycle, and set the momentum."""
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is "
                             f"{self.total_steps}")
        start: Any = 0.0
        for number, phase in enumerate(self._schedule_phases):
            end = phase["end_step"]
            if step <= end or number == len(self._schedule_phases) - 1:
                break
            start = end
        share = (step - start) / (end - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._anneal(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                _set_momentum(group, self._anneal(
                    group[phase["start_momentum"]], group[phase["end_momentum"]], share),
                    self.use_beta1)
        return rates


def _total_steps(total: int | None, epochs: int | None, per_epoch: int | None) -> int:
    if total is not None:
        if total <= 0 or not isinstance(total, int):
            raise ValueError(f"Expected positive integer total_steps, but got {total}")
        return total
    if epochs is None or per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, value in (("epochs", epochs), ("steps_per_epoch", per_epoch)):
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return epochs * per_epoch


def _per_group(name: str, optimizer: Optimizer, value: Any) -> list[float]:
    """One number for each group, given as such or as one for all."""
    count = len(optimizer.param_groups)
    if isinstance(value, (list, tuple)):
        if len(value) != count:
            raise ValueError(f"{name} must have the same length as optimizer.param_groups. {name} "
                             f"has {len(value)} values, param_groups has {count}.")
        return list(value)
    return [value] * count


def _check_schedulers(name: str, schedulers: Any, optimizer: Optimizer) -> None:
    """Raise unless all schedules can step together, on one optimizer."""
    for number, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"{name} at index {number} should have `optimizer` "
                            "as its attribute.")
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ValueError(f"{name} does not support `ReduceLROnPlateau` "
                             "scheduler as it requires additional kwargs to be specified when "
                             f"calling `step`, but got one at index {number} in the given "
                             "schedulers sequence.")
        if optimizer is not scheduler.optimizer:
            raise ValueError(f"{name} expects all schedulers to belong to the "
                             f"same optimizer, but got scheduler {type(scheduler).__name__} at "
                             f"index {number} has {scheduler.optimizer}, which is different "
                             f"from {type(optimizer).__name__}.")


def _take_back(scheduler: Any) -> None:
    """Undo the first epoch of a schedule, or of all that it is made of."""
    for part in getattr(scheduler, "_schedulers", ()):
        _take_back(part)
    if not hasattr(scheduler, "_schedulers"):
        scheduler.last_epoch -= 1


def _is_plain_function(value: Any) -> bool:
    return type(value).__name__ in ("function", "builtin_function_or_method", "method", "type")
