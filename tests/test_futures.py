"""Futures: results that somebody sets, and functions that wait for them."""

from __future__ import annotations

import threading

import pytest

from retrograd.futures import Future, collect_all, wait_all


def test_a_result_is_set_once_and_waited_for() -> None:
    future: Future[int] = Future()
    assert not future.done()
    with pytest.raises(RuntimeError, match="value\\(\\) was asked of a Future that is not done"):
        future.value()
    thread = threading.Timer(0.01, future.set_result, [3])
    thread.start()
    assert future.wait() == future.value() == 3 and future.done()
    thread.join()
    with pytest.raises(RuntimeError, match="can only be marked completed once"):
        future.set_result(4)
    assert future.value() == 3


def test_functions_are_called_when_it_is_done_or_at_once() -> None:
    future: Future[int] = Future()
    met: list[int] = []
    future.add_done_callback(lambda done: met.append(done.value()))
    doubled = future.then(lambda done: 2 * done.wait())
    assert not met and not doubled.done()
    future.set_result(5)
    assert met == [5] and doubled.wait() == 10
    assert future.then(lambda done: done.value() + 1).value() == 6


def test_errors_travel_with_the_result() -> None:
    future: Future[int] = Future()
    after = future.then(lambda done: done.value() + 1)
    future.set_exception(ValueError("lost"))
    for waiting in (future, after):
        with pytest.raises(ValueError, match="lost"):
            waiting.wait()
    with pytest.raises(AssertionError, match="3 is of type <class 'int'>, not an Exception"):
        Future().set_exception(3)  # type: ignore[arg-type]


def test_many_are_waited_for_together() -> None:
    futures: list[Future[int]] = [Future() for _ in range(3)]
    together = collect_all(futures)
    for number, future in enumerate(reversed(futures)):
        assert not together.done()
        future.set_result(number)
    assert together.wait() == futures and wait_all(futures) == [2, 1, 0]
    assert wait_all([]) == []
    failing: Future[int] = Future()
    failing.set_exception(KeyError("x"))
    with pytest.raises(KeyError):
        wait_all([futures[0], failing])
