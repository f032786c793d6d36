"""Results that may not be there yet."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from .base.missing_names import suggest_names as _suggest_names

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")
S = TypeVar("S")


class Future(Generic[T]):
    """A result that somebody will set; functions can be told to wait for it.

    ``devices`` are those whose work it stands for; the CPU's is done when it is set.
    """

    def __init__(self, *, devices: Any = None) -> None:
        self._changed = threading.Condition()
        self._is_done, self._value, self._error = False, None, None
        self._callbacks: list[Callable[[Future[T]], Any]] = []

    def done(self) -> bool:
        """Whether there is a result or an error."""
        return self._is_done

    def wait(self) -> T:
        """Wait until it is done; return the result or raise the error."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_done)
        return self.value()

    def value(self) -> T:
        """The result of what is done, or its error, raised."""
        if not self._is_done:
            raise RuntimeError("value() was asked of a Future that is not done; wait() waits")
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]

    def set_result(self, result: T) -> None:
        """Say what the result is, once, and call who waits for it."""
        self._finish(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Say that there is an error in the place of a result."""
        if not isinstance(result, BaseException):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._finish(None, result)

    def _finish(self, value: Any, error: Any) -> None:
        with self._changed:
            if self._is_done:
                raise RuntimeError("Future can only be marked completed once")
            self._value, self._error, self._is_done = value, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._changed.notify_all()
        for callback in callbacks:
            callback(self)

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Call a function with this future when it is done, at once if it is."""
        with self._changed:
            if not self._is_done:
                self._callbacks.append(callback)
                return
        callback(self)

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """The future of what a function makes of this one."""
        result: Future[S] = Future()

        def follow(done: Future[T]) -> None:
            try:
                made = callback(done)
            except Exception as error:
                result.set_exception(error)
            else:
                result.set_result(made)

        self.add_done_callback(follow)
        return result


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """A future that is done when all of a list are; its result is the list."""
    result: Future[list[Future[Any]]] = Future()
    left, lock = len(futures), threading.Lock()

    def count(_: Any) -> None:
        nonlocal left
        with lock:
            left -= 1
            is_last = left == 0
        if is_last:
            result.set_result(futures)

    if not futures:
        result.set_result(futures)
    for future in list(futures):
        future.add_done_callback(count)
    return result


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """The results of a list of futures, all of which are waited for; the first error is raised."""
    return [future.wait() for future in collect_all(futures).wait()]


_suggest_names(__name__)
