"""LBFGS: quasi-Newton steps from a short memory of gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..autograd.grad_mode import enable_grad, no_grad
from ..backend import matrices, xp
from ..backend.numpy import fused
from ..core.tensor import Tensor, wrap
from ..ops.creation.filled import zeros_like
from ..ops.shapes.joining import cat
from ._single import real
from .optimizer import Optimizer, Params, check_lr


class LBFGS(Optimizer):
    """Quasi-Newton steps; ``step`` calls its closure as often as it needs the loss."""

    def __init__(self, params: Params, lr: float | Tensor = 1, max_iter: int = 20,
                 max_eval: int | None = None, tolerance_grad: float = 1e-7,
                 tolerance_change: float = 1e-9, history_size: int = 100,
                 line_search_fn: str | None = None) -> None:
        check_lr(lr)
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
            "history_size": history_size, "line_search_fn": line_search_fn})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params: list[Tensor] = self.param_groups[0]["params"]

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Take up to ``max_iter`` steps; return the loss before the first."""
        with no_grad():
            return _Run(self, closure).first_loss

    # ------------------------------------------------------------ all parameters as one vector

    def flat_grad(self) -> Tensor:
        """The gradients of all parameters, end to end."""
        return cat([real(zeros_like(param) if param.grad is None else param.grad).reshape(-1)
                    for param in self._params])

    def add(self, step: float, direction: Tensor) -> None:
        """Move all parameters along ``direction``."""
        start = 0
        for param in self._params:
            target = real(param)
            stop = start + target.numel()
            target.add_(direction[start:stop].view_as(target), alpha=step)
            start = stop

    def copies(self) -> list[Tensor]:
        return [param.detach().clone() for param in self._params]

    def restore(self, copies: list[Tensor]) -> None:
        for param, copy in zip(self._params, copies, strict=True):
            param.copy_(copy)


_SMALL = 1 << 14  # elements; of more of them one pass is worth its call


def _plus(vector: Tensor, other: Tensor, share: Tensor) -> Tensor:
    """``vector + share * other``, rounded once in half precision; ``vector`` may be given it."""
    if vector.numel() < _SMALL and vector.element_size() > 2:
        return vector + other * share
    return vector.add_(other, alpha=float(share))


def _value(loss: Any) -> float:
    """What a closure returned, as a number; that gradients reach it is known."""
    return float(loss.detach() if isinstance(loss, Tensor) else loss)


_KNOWN = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")
"""What one step keeps for the next, None until it is found."""


class _Run:
    """One call of ``step``."""

    def __init__(self, optimizer: LBFGS, closure: Callable[[], Any]):
        self.optimizer = optimizer
        self.options = options = optimizer.param_groups[0]
        self.closure = enable_grad()(closure)
        # The state lies with the first parameter, where state_dict finds it.
        self.state = state = optimizer.state[optimizer._params[0]]
        for count in ("func_evals", "n_iter"):
            state.setdefault(count, 0)
        self.first_loss = self.closure()
        self.loss = _value(self.first_loss)
        self.evaluations = 1
        state["func_evals"] += 1
        self.grad = optimizer.flat_grad()
        if not self._is_flat():
            self._iterate(options)

    def _is_flat(self) -> bool:
        return bool(self.grad.abs().max() <= self.options["tolerance_grad"])

    def _iterate(self, options: dict[str, Any]) -> None:
        state = self.state
        direction, step, *_, previous_grad, previous_loss = [
            state.setdefault(fact) for fact in _KNOWN]
        rounds = 0
        while rounds < options["max_iter"]:
            rounds += 1
            state["n_iter"] += 1
            direction = self._direction(direction, step)
            previous_grad = self.grad.clone()
            previous_loss = self.loss
            state["prev_flat_grad"], state["prev_loss"] = previous_grad, previous_loss
            lr = float(options["lr"])
            step = min(1.0, 1.0 / float(self.grad.abs().sum())) * lr \
                if state["n_iter"] == 1 else options["lr"]
            slope = self.grad.dot(direction)
            if slope > -options["tolerance_change"]:
                break
            used, step = self._advance(step, direction, slope, rounds)
            self.evaluations += used
            state["func_evals"] += used
            state["d"], state["t"] = direction, step
            if rounds == options["max_iter"] or self.evaluations >= options["max_eval"] \
                    or self._is_flat():
                break
            if direction.mul(step).abs().max() <= options["tolerance_change"]:
                break
            if abs(self.loss - previous_loss) < options["tolerance_change"]:
                break
        state.update(d=direction, t=step, prev_flat_grad=previous_grad, prev_loss=previous_loss)

    def _direction(self, direction: Any, step: Any) -> Tensor:
        """Where to go: the gradient turned by what earlier steps say of the curvature."""
        state = self.state
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return self.grad.neg()
        changes, moves, weights = state["old_dirs"], state["old_stps"], state["ro"]
        change = self.grad.sub(state["prev_flat_grad"])
        moved = direction.mul(step)
        curvature = change.dot(moved)
        if curvature > 1e-10:
            if len(changes) == self.options["history_size"]:
                for memory in (changes, moves, weights):
                    memory.pop(0)
            changes.append(change)
            moves.append(moved)
            weights.append(1.0 / curvature)
            state["H_diag"] = curvature / change.dot(change)
        if "al" not in state:
            state["al"] = [None] * self.options["history_size"]
        shares = state["al"]
        if type(self.grad) is Tensor and fused.is_packable(self.grad._data) \
                and self.grad.numel() < _SMALL and len(changes) <= len(shares):
            parts = ([tensor._data for tensor in each] for each in (changes, moves, weights))
            with xp.quiet():
                array, found_shares = matrices.quasi_newton(
                    self.grad._data, *parts, getattr(state["H_diag"], "_data", 1))
            shares[:len(changes)] = map(wrap, found_shares)
            return wrap(array)
        found = self.grad.neg()
        for i in range(len(changes) - 1, -1, -1):
            shares[i] = moves[i].dot(found) * weights[i]
            found = _plus(found, changes[i], -shares[i])
        found = found * state["H_diag"]
        for i in range(len(changes)):
            back = changes[i].dot(found) * weights[i]
            found = _plus(found, moves[i], shares[i] - back)
        return found

    def _advance(self, step: Any, direction: Tensor, slope: Tensor,
                 rounds: int) -> tuple[int, Any]:
        """Move; return how often the loss was computed, and how far it went."""
        options, optimizer = self.options, self.optimizer
        search = options["line_search_fn"]
        if search is None:
            optimizer.add(float(step), direction)
            if rounds == options["max_iter"]:
                return 0, step
            self.loss = _value(self.closure())
            self.grad = optimizer.flat_grad()
            return 1, step
        if search != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        start = optimizer.copies()

        def at(distance: float) -> tuple[float, Tensor]:
            optimizer.add(distance, direction)
            loss = _value(self.closure())
            grad = optimizer.flat_grad()
            optimizer.restore(start)
            return loss, grad

        self.loss, self.grad, step, used = strong_wolfe(
            at, float(step), direction, self.loss, self.grad, float(slope),
            rounds_left=options["max_eval"] - self.evaluations)
        optimizer.add(step, direction)
        return used, step


def strong_wolfe(at: Callable[[float], tuple[float, Tensor]], step: float, direction: Tensor,
                 loss: float, grad: Tensor, slope: float, *, rounds_left: int, c1: float = 1e-4,
                 c2: float = 0.9, tolerance_change: float = 1e-9,
                 ) -> tuple[float, Tensor, float, int]:
    """A step that lowers the loss and its slope enough: loss, gradient, step, evaluations."""
    longest = float(direction.abs().max())
    grad = grad.clone()
    new_loss, new_grad = at(step)
    used = 1
    new_slope = float(new_grad.dot(direction))
    before = (0.0, loss, grad, slope)
    rounds = 0
    bracket: list[tuple[float, float, Tensor, float]] = []
    done = False
    while rounds < rounds_left:
        here = (step, new_loss, new_grad.clone(), new_slope)
        if new_loss > loss + c1 * step * slope or (rounds > 1 and new_loss >= before[1]):
            bracket = [before, here]
            break
        if abs(new_slope) <= -c2 * slope:
            bracket = [here]
            done = True
            break
        if new_slope >= 0:
            bracket = [before, here]
            break
        least, most = step + 0.01 * (step - before[0]), step * 10
        last, step = step, _cubic_interpolate(before[0], before[1], before[3], step, new_loss,
                                              new_slope, (least, most))
        before = (last, *here[1:])
        new_loss, new_grad = at(step)
        used += 1
        new_slope = float(new_grad.dot(direction))
        rounds += 1
    if rounds == rounds_left:
        bracket = [(0.0, loss, grad, slope), (step, new_loss, new_grad, new_slope)]
    stalled = False
    low, high = (0, -1) if bracket[0][1] <= bracket[-1][1] else (-1, 0)
    while not done and rounds < rounds_left:
        if abs(bracket[1][0] - bracket[0][0]) * longest < tolerance_change:
            break
        step = _cubic_interpolate(bracket[0][0], bracket[0][1], bracket[0][3], bracket[1][0],
                                  bracket[1][1], bracket[1][3])
        ends = bracket[0][0], bracket[1][0]
        margin = 0.1 * (max(ends) - min(ends))
        if min(max(ends) - step, step - min(ends)) < margin:
            if stalled or step >= max(ends) or step <= min(ends):
                step = max(ends) - margin if abs(step - max(ends)) < abs(step - min(ends)) \
                    else min(ends) + margin
                stalled = False
            else:
                stalled = True
        else:
            stalled = False
        new_loss, new_grad = at(step)
        used += 1
        new_slope = float(new_grad.dot(direction))
        rounds += 1
        here = (step, new_loss, new_grad.clone(), new_slope)
        if new_loss > loss + c1 * step * slope or new_loss >= bracket[low][1]:
            bracket[high] = here
            low, high = (0, 1) if bracket[0][1] <= bracket[1][1] else (1, 0)
            continue
        if abs(new_slope) <= -c2 * slope:
            done = True
        elif new_slope * (bracket[high][0] - bracket[low][0]) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = here
    best = bracket[low]
    return best[1], best[2], best[0], used


def _strong_wolfe(obj_func: Callable[..., tuple[float, Tensor]], x: Any, t: float, d: Tensor,
                  f: float, g: Tensor, gtd: float, c1: float = 1e-4, c2: float = 0.9,
                  tolerance_change: float = 1e-9, max_ls: int = 25
                  ) -> tuple[float, Tensor, float, int]:
    """The search by PyTorch's name and arguments, which other libraries call."""
    return strong_wolfe(lambda step: obj_func(x, step, d), t, d, f, g, gtd, rounds_left=max_ls,
                        c1=c1, c2=c2, tolerance_change=tolerance_change)


def _cubic_interpolate(x1: float, f1: float, g1: float, x2: float, f2: float, g2: float,
                       bounds: tuple[float, float] | None = None) -> float:
    """The lowest point of the cubic through two values and slopes, inside the bounds."""
    least, most = bounds or (min(x1, x2), max(x1, x2))
    d1 = g1 + g2 - 3 * _ratio(f1 - f2, x1 - x2)
    square = d1 * d1 - g1 * g2
    if not square >= 0:  # or not a number
        return (least + most) / 2.0
    root = square ** 0.5
    if x1 <= x2:
        found = x2 - (x2 - x1) * _ratio(g2 + root - d1, g2 - g1 + 2 * root)
    else:
        found = x1 - (x1 - x2) * _ratio(g1 + root - d1, g1 - g2 + 2 * root)
    return min(max(found, least), most)


def _ratio(a: float, b: float) -> float:
    """``a / b`` as it is of tensors, which do not refuse a zero."""
    return a / b if b else a * math.copysign(math.inf, b)
