"""What an interrupt may not change, and how to tell."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import retrograd as torch
from retrograd.autograd.measured_functions import watch
from retrograd.base import locks, modes
from retrograd.core.anomaly import Anomaly
from retrograd.random import VMAPS

from .injecting import Place, Visit, interrupted, places
from .programs import PROGRAMS


def surroundings() -> dict[str, Any]:
    """What a program shares with the rest of its process."""
    return {
        "mode": modes.MODE.get(), "levels": modes.ACTIVE.get(), "pass": modes.RUNNING.get(),
        "differentiating": modes.DIFFERENTIATING.get(), "vmaps": VMAPS.get(),
        "default dtype": torch.get_default_dtype(), "anomaly": (Anomaly.enabled, Anomaly.check_nan,
                                                                Anomaly.running),
        "NumPy's errors": (np.geterr(), np.geterrcall(), np.getbufsize()),
        "filters of warnings": list(warnings.filters),
        "profilers": (set(watch.users), len(watch.changed)),
        "locks": [lock for lock in locks._ALL if lock._is_owned()],
    }


def seen(value: Any) -> Any:
    """What a program may see of a value."""
    if isinstance(value, torch.Tensor):
        data = value.detach()
        inference = data.is_inference()
        return (str(data.dtype), tuple(data.shape), data.contiguous().view(torch.uint8).tolist()
                if data.dtype.itemsize and data.dim() else data.tolist(),
                None if inference else value._version, value.requires_grad, history(value.grad_fn),
                seen(value.grad) if value.is_leaf or value.retains_grad else None)
    if isinstance(value, torch.nn.Module):
        return {name: seen(t) for name, t in value.state_dict(keep_vars=True).items()}
    if isinstance(value, list | tuple):
        return [seen(item) for item in value]
    return repr(value) if isinstance(value, str | int | float | type(None)) else type(value)


def history(node: Any, depth: int = 4) -> Any:
    if node is None or not depth:
        return None
    return node.name(), [history(other, depth - 1) for other, _ in node.next_functions]


class Course:
    """A program's course without an interrupt: what is seen after each of its statements."""

    def __init__(self, name: str, prepare: Callable[[], None] = lambda: None):
        self.make, self.body = PROGRAMS[name]
        self.prepare = prepare
        objects = self.make()
        self.states = [self.objects_of(objects)]
        self.results = []
        for result in self.body(objects):
            self.results.append(seen(result))
            self.states.append(self.objects_of(objects))
        self.places = self.passed()
        while len(self.places) != len(again := self.passed()):
            self.places = again  # what a run keeps may shorten the next one

    def passed(self) -> list[tuple[Place, Visit]]:
        self.prepare()
        objects = self.make()
        return places(lambda: [None for _ in self.body(objects)])

    def is_step(self, state: Any, before: Any) -> bool:
        """Whether an optimizer has begun to move a parameter, and counted that.

        A step is many writes, here as in PyTorch: it may be interrupted between them.
        """
        values, version = slice(0, 3), 3
        return self.body.__name__.endswith("_steps") and (
            state[values] == before[values] or state[version] > before[version])

    @staticmethod
    def objects_of(objects: Any) -> dict[str, Any]:
        found = {}
        for name, value in vars(objects).items():
            described = seen(value)
            found |= {f"{name}.{part}": state for part, state in described.items()} \
                if isinstance(described, dict) else {name: described}
        return found

    def problems(self, at: Visit) -> list[str]:
        """What is wrong after an interrupt at a place."""
        self.prepare()
        objects, done = self.make(), 0

        def run() -> None:
            nonlocal done
            for _ in self.body(objects):
                done += 1

        outside = surroundings()
        where = interrupted(run, at)
        found = []
        for what, value in surroundings().items():
            if value != outside[what]:
                found.append(f"{what}: {value} was {outside[what]}")
                restore(outside)
        if where:
            before, after = self.states[done], self.states[min(done + 1, len(self.states) - 1)]
            for name, state in self.objects_of(objects).items():
                if state not in (before.get(name, state), after.get(name)) \
                        and not self.is_step(state, before.get(name)):
                    found.append(f"{name} is neither what it was nor what it becomes: {state}; "
                                 f"{before.get(name)}; {after.get(name)}")
        try:
            results = [seen(result) for result in self.body(self.make())]
        except Exception as error:
            found.append(f"then {type(error).__name__}: {error}")
        else:
            if results != self.results:
                found.append(f"then {results} instead of {self.results}")
        return [f"{where}: {problem}" for problem in found]


def restore(outside: dict[str, Any]) -> None:
    """Let one leak be one finding."""
    modes.MODE.set(outside["mode"])
    modes.ACTIVE.set(outside["levels"])
    modes.RUNNING.set(outside["pass"])
    modes.DIFFERENTIATING.set(outside["differentiating"])
    VMAPS.set(outside["vmaps"])
    Anomaly.enabled, Anomaly.check_nan, Anomaly.running = outside["anomaly"]
    errors, call, size = outside["NumPy's errors"]
    np.seterr(**errors)
    np.seterrcall(call)
    np.setbufsize(size)
    warnings.filters[:] = outside["filters of warnings"]
    for lock in locks._ALL:
        while lock._is_owned():
            lock.release()
