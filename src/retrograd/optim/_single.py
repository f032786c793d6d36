"""Optimizers written for one parameter, by operations on tensors; most move many at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from ..autograd.grad_mode import no_grad
from ..backend.numpy.fused import PackedParameters
from ..backend.numpy.updates import Program, contents, runs_on
from ..base import dtypes
from ..core.tensor import Tensor, fill
from ..ops.creation.filled import zeros_like
from ..ops.creation.from_data import tensor
from ..ops.shapes.complex_views import view_as_real
from ._packing import PackedOptimizer
from .optimizer import Group, Params, State, check_lr


def check(name: str, value: Any, is_right: bool) -> None:
    """Raise the usual error of an option that cannot be."""
    if not is_right:
        raise ValueError(f"Invalid {name} value: {value}")


def check_options(**options: Any) -> None:
    """Raise for the first option below zero, or average that keeps no share of what it was."""
    for name, value in options.items():
        if name != "betas":
            check(name, value, value >= 0.0)
            continue
        for index, beta in enumerate(value):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {index}: {beta}")


def step_count(value: float = 0.0) -> Tensor:
    """A count of steps, as wide as numbers are by default."""
    wide = dtypes.get_default_dtype() is dtypes.float64
    return tensor(value, dtype=dtypes.float64 if wide else dtypes.float32)


def real(value: Tensor) -> Tensor:
    """Complex numbers as pairs, which are moved like any others."""
    return view_as_real(value) if value.is_complex() else value


class SingleOptimizer(PackedOptimizer):
    """Runs :meth:`_update` for each parameter that has a gradient.

    Where it treats every element alone, ``_rows`` names the state tensors that are shaped like the
    parameter: then it is run on parameters laid end to end, which gives the same bits.
    """

    _rows: ClassVar[tuple[str, ...]] = ()
    _counts: ClassVar[tuple[str, ...]] = ("step",)
    _chunks_joined = 4
    _later_options: ClassVar[dict[str, Any]] = {
        "maximize": False, "foreach": None, "differentiable": False, "capturable": False}

    def __init__(self, params: Params, defaults: dict[str, Any]) -> None:
        check_lr(defaults["lr"])
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for param in group["params"]:
                saved = self.state.get(param, {})
                if "step" in saved and not isinstance(saved["step"], Tensor):
                    saved["step"] = step_count(float(saved["step"]))

    def _is_packed(self, group: Group) -> bool:
        # A rate that is a tensor takes part in promotion, where shapes and numbers are not alike.
        return bool(self._rows) and group["foreach"] is not False \
            and not isinstance(group["lr"], Tensor) and super()._is_packed(group)

    def _state_names(self, group: Group) -> tuple[str, ...]:
        return self._rows

    def _prepare(self, group: Group) -> None:
        for param in group["params"]:
            if param.grad is not None:
                self._state_of(group, param)

    def _state_of(self, group: Group, param: Tensor) -> State:
        state = self.state[param]
        if not state:
            state.update(self._first_state(group, param))
        return state

    def _first_state(self, group: Group, param: Tensor) -> State:
        """What a parameter's state is before its first step."""
        return {"step": step_count(), **self._zeros(group, param)}

    def _zeros(self, group: Group, param: Tensor) -> dict[str, Tensor]:
        return {name: zeros_like(param) for name in self._state_names(group)}

    def _move(self, group: Group, param: Tensor, grad: Tensor) -> None:
        self._count_and_update(group, self._state_of(group, param), param, grad)

    def _update_packed(self, group: Group, block: PackedParameters, grads: list[Any]) -> int:
        names, writes = (*self._state_names(group), *self._counts), 0
        programs: dict[bytes, tuple[Program, Any, int]] = {}  # by the counts before

        def moved(param: Any, grad: Any, rows: Iterable[Any], counts: Any) -> int:
            numbers = [_bare(counts[i, ...]) for i in range(len(counts))]
            self._count_and_update(group, dict(zip(names, [*rows, *numbers], strict=True)), param,
                                   grad)
            return param._version

        def move(param: Any, grad: Any, rows: Any, counts: Any) -> None:
            nonlocal writes
            if not runs_on(param, grad):
                writes = moved(_bare(param), _bare(grad), map(_bare, rows), counts)
                return
            before = contents(counts)
            if before not in programs:
                program = Program(1 + len(rows))
                to, *states, read = program.arrays()
                programs[before] = program, counts, moved(to, read, states, counts)
            program, counts[...], writes = programs[before]
            program.run(param, *rows, grad)

        with no_grad():
            block.update(grads, move)
        return writes

    def _count_and_update(self, group: Group, state: State, param: Tensor, grad: Tensor) -> None:
        if "step" in state:
            state["step"] += 1
        if group.get("maximize"):
            grad = -grad
        self._update(group, state, param, grad)

    def _update(self, group: Group, state: State, param: Tensor, grad: Tensor) -> None:
        """Move one parameter; its step has been counted, and the gradient turned to descend."""
        raise NotImplementedError


def _bare(array: Any) -> Tensor:
    return fill(object.__new__(Tensor), array, None)


def decayed(group: Group, param: Tensor, grad: Tensor) -> Tensor:
    """The gradient with weight decay; where that is decoupled, the parameter itself decays."""
    decay = group["weight_decay"]
    if decay == 0:
        return grad
    if group.get("decoupled_weight_decay"):
        param.mul_(1 - group["lr"] * decay)
        return grad
    return grad.add(param, alpha=decay)


def kept(group: Group, value: Tensor) -> Tensor:
    """A state tensor to compute with: it is overwritten in the next step, which backward of a
    differentiable one must not see."""
    return value.clone() if group.get("differentiable") else value


def move(param: Tensor, step: Any, direction: Tensor, denominator: Tensor | None = None) -> None:
    """``param -= step * direction / denominator``, where ``step`` may be a tensor."""
    if isinstance(step, Tensor):
        direction = direction * step
        param.sub_(direction if denominator is None else direction / denominator)
    elif denominator is None:
        param.add_(direction, alpha=-step)
    else:
        param.addcdiv_(direction, denominator, value=-step)
