"""Which parameters of a group are updated together on raw arrays, and which one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter, is_, itemgetter
from typing import Any

from retrograd import sites
from retrograd.backend import fused
from retrograd.graph import INFERENCE
from retrograd.tensor import Tensor

_data = attrgetter("_data")


class Pack:
    """Parameters of one dtype whose optimizer state lies in one block of memory.

    The tensors in the optimizer's state are views of that block. Users may replace any of them, so
    before each step it is verified that nothing was exchanged since the pack was made.
    """

    def __init__(
        self, params: list[Tensor], states: list[dict], names: Sequence[str], counted: bool
    ) -> None:
        self.params = params
        self.states = states
        self.arrays = [param._array() for param in params]
        step_dtype = states[0]["step"]._data.dtype if counted else None
        self.block = fused.Packed(self.arrays, len(names), step_dtype)
        views = [(name, self.block.row_views(row)) for row, name in enumerate(names)]
        if counted:
            views.append(("step", self.block.step_views()))
        self.adopted = [self._adopt(name, arrays) for name, arrays in views]

    def _adopt(self, name: str, views: list[Any]) -> tuple[Callable, list[Tensor], list[Any]]:
        tensors = [state[name] for state in self.states]
        for tensor, view in zip(tensors, views):
            view[...] = tensor._data
            tensor._data = view
        return itemgetter(name), tensors, views

    def is_current(self, state: dict) -> bool:
        """Whether parameters and state are still the tensors and the memory packed here."""
        if not all(map(is_, map(_data, self.params), self.arrays)):
            return False
        if not self.adopted:
            return True
        if not all(map(is_, map(state.get, self.params), self.states)):
            return False
        try:
            return all(
                all(map(is_, map(get, self.states), tensors))
                and all(map(is_, map(_data, tensors), views))
                for get, tensors, views in self.adopted
            )
        except KeyError:
            return False

    def grads(self) -> list[Any]:
        """Return the gradients as arrays, None where there is none."""
        return [None if (grad := param._grad) is None else grad._data for param in self.params]

    def bump_versions(self, grads: list[Any], writes: int = 1) -> None:
        """Count ``writes`` to every parameter that had a gradient, as PyTorch would have made."""
        # Found once: all these writes are made by one line.
        code, lasti = sites.here()
        counter: Any
        for param, grad in zip(self.params, grads):
            if grad is not None and (counter := param._counter()) is not INFERENCE:
                counter.n += writes
                counter.code = code
                counter.lasti = lasti


class Plan:
    """How the parameters of one group are updated: in packs, or singly as tensors.

    A plan is provisional if the step it is made for will give a parameter the state it lacks.
    """

    def __init__(
        self,
        params: list[Tensor],
        names: Sequence[str],
        packs: list[Pack],
        single: list[Tensor],
        provisional: bool,
    ) -> None:
        self.params = list(params)
        self.names = names
        self.provisional = provisional
        self.packs = packs
        self.single = single
        planned = {id(param) for pack in packs for param in pack.params}
        planned.update(map(id, single))
        self.idle = [param for param in params if id(param) not in planned]

    def is_current(self, params: list[Tensor], state: dict) -> bool:
        """Whether the plan still fits the group and its state."""
        return (
            len(params) == len(self.params)
            and all(map(is_, params, self.params))
            and not any(param._grad is not None for param in self.idle)
            and all(pack.is_current(state) for pack in self.packs)
        )


def make_plan(
    params: list[Tensor],
    state: dict,
    names: Sequence[str],
    counted: bool,
    is_ready: Callable[[Tensor], bool],
) -> Plan:
    """Group the parameters that have gradients into packs by dtype.

    ``names`` are the state tensors shaped like the parameter, ``counted`` says that there is a
    ``step`` too, and ``is_ready`` whether a parameter's state exists.
    """
    repeated = len({id(param) for param in params}) != len(params)
    groups: dict[Any, list[Tensor]] = {}
    single: list[Tensor] = []
    provisional = False
    for param in params:
        has_state = param in state and is_ready(param)
        if param._grad is None and not (has_state and names):
            continue
        packable = not repeated and fused.is_packable(param._data)
        if not packable or (names and not has_state):
            single.append(param)
            provisional |= packable
            continue
        step_dtype = state[param]["step"]._data.dtype if counted else None
        groups.setdefault((param._data.dtype, step_dtype), []).append(param)
    packs = [
        Pack(members, [state[param] for param in members] if names else [], names, counted)
        for members in groups.values()
    ]
    return Plan(params, names, packs, single, provisional)
