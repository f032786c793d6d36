"""Collects the behaviours and refuses to run without PyTorch, the oracle."""

from __future__ import annotations

import importlib
import importlib.util
import signal

import pytest

from parity import harness

SECONDS_PER_PROGRAM = 60


def pytest_configure(config: pytest.Config) -> None:
    if importlib.util.find_spec("torch") is None:
        raise pytest.UsageError("the parity tests compare with PyTorch, which is not installed")
    # Where opt_einsum is installed PyTorch hands it the subscripts, and wrong ones get its words.
    importlib.import_module("torch").backends.opt_einsum.enabled = False


class BehaviourItem(pytest.Item):
    """One program with one case's arguments."""

    def __init__(self, *, declared: harness.Behaviour, arguments: tuple, **kwargs) -> None:
        super().__init__(**kwargs)
        self.declared = declared
        self.arguments = arguments

    def runtest(self) -> None:
        previous = signal.signal(signal.SIGALRM, self._too_slow)
        signal.alarm(SECONDS_PER_PROGRAM)
        try:
            harness.check(self.declared.program, *self.arguments, name=self.name)
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, previous)

    def _too_slow(self, *_) -> None:
        raise TimeoutError(f"{self.name} took more than {SECONDS_PER_PROGRAM} s")

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, harness.Mismatch):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        line = self.declared.program.__code__.co_firstlineno
        return self.path, line - 1, self.name


def pytest_pycollect_makeitem(collector, name, obj):
    if not isinstance(obj, harness.Behaviour):
        return None
    return [
        BehaviourItem.from_parent(
            collector,
            name=f"{name}[{case}]" if case else name,
            declared=obj,
            arguments=arguments,
        )
        for case, arguments in obj.cases
    ]
