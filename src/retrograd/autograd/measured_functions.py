"""Functions made of ops, which look out for a profiler as long as there is one.

Ops notice it on their general path. Functions made of ops, and those of users, would cost more if
each call looked for it: their code is exchanged when a profiler begins, and put back at the end.
"""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import Any

from ..base.locks import new_lock
from ..base.modes import MODE
from ..core.arguments import put_in_front
from .event_names import functions_to_watch
from .function import Function


class _Measured:
    """A public function made of ops, and the plain one that it runs."""

    __slots__ = ("plain", "name")

    def __init__(self, plain: Any, name: str):
        self.plain, self.name = plain, name

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        recorder = MODE.get().profile
        if recorder is None or not recorder.is_on:
            return self.plain(*args, **kwargs)
        return self.measured(recorder, args, kwargs)

    def measured(self, recorder: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return recorder.function(self.name, self.plain, args, kwargs)


class _MeasuredApply(_Measured):
    """The call of a function of the user's, which is an event of its name."""

    __slots__ = ()

    def measured(self, recorder: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return recorder._measured(args[0].__name__, lambda: self.plain(*args, **kwargs), args[1:],
                                  kwargs)


class _Watch:
    """The functions that look out for a profiler, while there is one."""

    def __init__(self) -> None:
        self.lock = new_lock()
        self.users: set[Any] = set()
        # Each with what it was: code, defaults, and what it wrapped.
        self.changed: list[tuple[FunctionType, CodeType, Any, Any, Any]] = []

    def begin(self, user: Any) -> None:
        """Have functions look out as long as ``user`` is there."""
        with self.lock:
            try:
                is_first = not self.users
                if is_first:
                    self._put_back()  # whatever an interrupt left
                self.users.add(user)
                if is_first:
                    for function, name in functions_to_watch().items():
                        self._put(function, _Measured, name)
                    self._put(vars(Function)["apply"].__func__, _MeasuredApply, "apply")
            except BaseException:
                self.end(user)
                raise

    def _put(self, function: FunctionType, kind: type[_Measured], name: str) -> None:
        self.changed.append((function, function.__code__, function.__defaults__,
                             function.__kwdefaults__, function.__dict__.get("__wrapped__")))
        put_in_front(function, lambda plain: kind(plain, name))

    def end(self, user: Any) -> None:
        """Let functions be what they were, unless others use this too."""
        with self.lock:
            self.users.discard(user)
            self._put_back()

    def _put_back(self) -> None:
        while self.changed and not self.users:
            function, code, defaults, named, wrapped = self.changed[-1]
            # Not if somebody else looks out too by now, by way of this one.
            if any(isinstance(held, _Measured) for held in function.__code__.co_consts):
                # The defaults first: until the code is back, nothing looks at them.
                function.__defaults__, function.__kwdefaults__ = defaults, named
                function.__code__ = code
                if wrapped is not None:
                    function.__wrapped__ = wrapped  # type: ignore[attr-defined]
                else:
                    function.__dict__.pop("__wrapped__", None)
            self.changed.pop()


watch = _Watch()
