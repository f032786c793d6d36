"""What the current thread or async task has switched on: one context variable."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any


class Mode:
    """An immutable set of switches; :data:`GRAD` and :data:`NO_GRAD` are the ordinary ones.

    Generated code compares the current mode with those two by identity, so that an ordinary call
    pays one look-up for every mode there is.
    """

    __slots__ = ("grad", "inference", "saved_hooks", "hooks_disabled", "override", "forward_grad",
                 "intercept", "journal", "autocast", "functions", "profile", "ledger")

    def __init__(self, grad: bool = True, inference: bool = False,
                 saved_hooks: tuple[Any, ...] = (), hooks_disabled: str | None = None,
                 override: bool = True, forward_grad: bool = True, intercept: Any = None,
                 journal: Any = None, autocast: Any = None, functions: tuple[Any, ...] = (),
                 profile: Any = None, ledger: Any = None):
        self.grad, self.inference = grad, inference
        self.saved_hooks, self.hooks_disabled = saved_hooks, hooks_disabled
        self.override, self.forward_grad = override, forward_grad
        self.intercept = intercept  # computes every op, and is shown what came of it
        self.journal = journal  # is told of every write and draw, so that they can be undone
        self.autocast = autocast  # casts the arguments of every call
        self.functions = functions  # take over every public function, the last one first
        self.profile = profile  # measures every call
        self.ledger = ledger  # is shown every node that is recorded

    @property
    def records(self) -> bool:
        """Whether operations are recorded; inference mode wins over ``enable_grad``."""
        return self.grad and not self.inference

    def but(self, **changes: Any) -> Mode:
        """This mode with some switches changed."""
        made = Mode(self.grad, self.inference, self.saved_hooks, self.hooks_disabled,
                    self.override, self.forward_grad, self.intercept, self.journal, self.autocast,
                    self.functions, self.profile, self.ledger)
        for name, value in changes.items():
            setattr(made, name, value)
        ordinary = GRAD if made.grad else NO_GRAD
        return made if made._differs() else ordinary

    def _differs(self) -> bool:
        """Whether anything but recording is switched away from the ordinary."""
        return bool(self.inference or self.saved_hooks or self.hooks_disabled is not None
                    or not self.override or not self.forward_grad or self.intercept is not None
                    or self.journal is not None or self.autocast is not None or self.functions
                    or self.profile is not None or self.ledger is not None)


GRAD = Mode()
NO_GRAD = Mode(grad=False)

MODE: ContextVar[Mode] = ContextVar("retrograd.mode", default=GRAD)

ACTIVE: ContextVar[tuple[int, ...]] = ContextVar("retrograd.levels", default=())
"""The levels of the transforms that are being run, outermost first."""


LEVELS: ContextVar[Any] = ContextVar("retrograd.numbering", default=None)
"""Where the levels of new transforms come from, if not from the count of all."""

_fresh_level = itertools.count(1).__next__


def next_level() -> int:
    """The level of a transform that begins."""
    source = LEVELS.get()
    return _fresh_level() if source is None else source.next()


class numbered:
    """Note the levels of the transforms that a block runs, or give them those of another run.

    Only so the values of a second run fit into the graph of the first.
    """

    __slots__ = ("given", "seen", "outer")

    def __init__(self, given: Iterable[int] = ()):
        self.given = iter(given)
        self.seen: list[int] = []

    def __enter__(self) -> list[int]:
        self.outer = enter(LEVELS, self)
        return self.seen

    def __exit__(self, *exc: object) -> None:
        LEVELS.set(self.outer)

    def next(self) -> int:
        level = next(self.given, None)
        if level is None:
            level = _fresh_level() if self.outer is None else self.outer.next()
        self.seen.append(level)
        return level


RUNNING: ContextVar[Any] = ContextVar("retrograd.running", default=None)
"""The schedule of the backward pass that is being run, if there is one."""

DIFFERENTIATING: ContextVar[bool] = ContextVar("retrograd.differentiating", default=False)
"""Whether a function is being run whose derivative was asked for with :mod:`retrograd.func`."""


MULTITHREADED: ContextVar[bool] = ContextVar("retrograd.multithreaded", default=True)
"""What programs have said of threads in backward, which needs none."""


class ReplayedViews:
    """Whether a view gets a new history by the operations that made it, not by its strides."""

    setting: ContextVar[bool] = ContextVar("retrograd.view_replay", default=False)
    asked_for = False  # whether that was ever so: the setting is looked at only then


GRAD_LAYOUT: ContextVar[bool] = ContextVar("retrograd.grad_layout", default=True)
"""Whether the first gradient of a leaf is laid out as the leaf is."""


def enter(variable: ContextVar[Any], value: Any) -> Any:
    """Set a context variable and return what it was; an interrupt finds it as it was.

    Where there is no ``with`` to end it: the variable is set back in a ``finally``, by a call of
    its own ``set``, before which no interrupt comes.
    """
    before = variable.get()
    try:
        variable.set(value)
    except BaseException:
        variable.set(before)
        raise
    return before


class differentiating:
    """Run a function so that its derivative can be taken, whatever mode is on outside."""

    __slots__ = ("grad", "mode", "inside")

    def __init__(self, grad: bool = True):
        self.grad = grad

    def __enter__(self) -> None:
        mode = MODE.get()
        if mode.inference or mode.grad is not self.grad:
            mode = mode.but(grad=self.grad, inference=False)
        self.inside = DIFFERENTIATING.get()
        self.mode = enter(MODE, mode)
        try:
            DIFFERENTIATING.set(True)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *exc: object) -> None:
        try:
            MODE.set(self.mode)
        finally:
            DIFFERENTIATING.set(self.inside)


class switched:
    """Run a block under the current mode with some switches changed."""

    __slots__ = ("changes", "before")

    def __init__(self, **changes: Any):
        self.changes = changes

    def __enter__(self) -> None:
        self.before = enter(MODE, MODE.get().but(**self.changes))

    def __exit__(self, *exc: object) -> None:
        MODE.set(self.before)
