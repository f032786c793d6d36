"""Muon."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ..backend.interface import library_of
from ..backend.numpy.whole_steps import orthogonal
from ..core.tensor import Tensor, wrap
from ..ops.creation.filled import zeros_like
from ._single import SingleOptimizer
from .optimizer import Group, Params, State


class Muon(SingleOptimizer):
    """Momentum whose matrices are made nearly orthogonal before each step."""

    def __init__(self, params: Params, lr: float = 1e-3, weight_decay: float = 0.1,
                 momentum: float = 0.95, nesterov: bool = True,
                 ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
                 eps: float = 1e-7, ns_steps: int = 5, adjust_lr_fn: str | None = None) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value in (("Learning rate", lr), ("momentum", momentum),
                            ("weight decay", weight_decay)):
            if not value >= 0.0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn})
        for group in self.param_groups:
            for param in group["params"]:
                if param.dim() != 2:
                    raise ValueError("Muon only supports 2D parameters whereas we found a "
                                     f"parameter with size: {param.size()}")

    def _first_state(self, group: Group, param: Tensor) -> State:
        return {"momentum_buffer": zeros_like(param)}

    def _move_singly(self, group: Group, params: list[Tensor]) -> None:
        self._refuse_sparse(params)
        _check_method(group)
        alike: dict[Any, list[tuple[Tensor, Tensor]]] = {}  # small matrices of one kind go together
        for param in params:
            if param.grad is not None:
                direction = self._direction(group, param, param.grad)
                form = (param.shape, param.dtype) if param.numel() <= _SMALL else param
                alike.setdefault(form, []).append((param, direction))
        for members in alike.values():
            first = members[0][0]
            rate = -float(group["lr"]) * _share(group, *first.shape)
            for (param, _), update in zip(members, _orthogonal(group, [d for _, d in members])):
                param.mul_(1 - group["lr"] * group["weight_decay"])
                param.add_(update, alpha=rate)

    def _direction(self, group: Group, param: Tensor, grad: Tensor) -> Tensor:
        """Which way a matrix goes, before it is made orthogonal."""
        buffer, momentum = self._state_of(group, param)["momentum_buffer"], group["momentum"]
        buffer.lerp_(grad, 1 - momentum)
        return grad.lerp(buffer, momentum) if group["nesterov"] else buffer


_SMALL = 1 << 14  # elements; more of them are not worth a copy


def _check_method(group: Group) -> None:
    if group["ns_steps"] >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(group["ns_coefficients"]) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")


def _share(group: Group, rows: int, columns: int) -> float:
    """How far matrices of a shape go, relative to the learning rate."""
    return 0.2 * math.sqrt(max(rows, columns)) if group["adjust_lr_fn"] == "match_rms_adamw" \
        else math.sqrt(max(1, rows / columns))


def _orthogonal(group: Group, directions: list[Tensor]) -> Iterator[Tensor]:
    """The orthogonal matrices nearest to some of one shape, in their dtype."""
    arrays = [direction._array() for direction in directions]
    library = library_of(arrays[0])
    matrices = library.to_numpy(arrays[0])[None] if len(arrays) == 1 else library.to_numpy(
        library.stack(arrays))
    found = orthogonal(matrices, group["ns_coefficients"], group["ns_steps"], group["eps"])
    return map(wrap, library.asarray(found.astype(matrices.dtype, copy=False)))
