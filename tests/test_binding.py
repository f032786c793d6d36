"""One function bound to several meanings."""

from __future__ import annotations

import math
import threading
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import retrograd as rg
from retrograd.core.binding import COMPLEX, REAL, Meaning, Unfit, bound, direct, raw
from retrograd.core.declaration import reads
from retrograd.core.op import REGISTRY
from retrograd.ops.elementwise.trigonometry import sin

SCALE, STEP = 10, 1


def scaled(x: Any) -> Any:
    return x * SCALE


def even(n: int) -> bool:
    return True if n == 0 else odd(n - STEP)


def odd(n: int) -> bool:
    return False if n == 0 else even(n - STEP)


class Doubled(Meaning):
    """Numbers mean their double; functions of this file are bound in turn."""

    def of(self, value: Any, bind: Any) -> Any:
        if isinstance(value, FunctionType) and value.__module__ == __name__:
            return bind(value)
        return value * 2 if type(value) is int else value


def test_a_global_name_has_another_meaning() -> None:
    meaning = Doubled()
    assert scaled(3) == 30
    assert bound(scaled, meaning)(3) == 60
    assert bound(scaled, meaning) is bound(scaled, meaning)
    assert scaled(3) == 30


def test_functions_that_name_each_other_are_bound_together() -> None:
    meaning = Doubled()
    assert even(7) is False
    assert bound(even, meaning)(8) is True
    assert bound(even, meaning)(6) is False is bound(odd, meaning)(8)  # in steps of two, 3 are odd
    assert set(meaning.functions) == {even, odd}
    assert bound(even, meaning).__globals__["odd"] is bound(odd, meaning)


def test_code_inside_code_closures_defaults_and_partial_functions() -> None:
    factor = 5

    def inner(x: int, *, by: int = 2) -> list[int]:
        return [scaled(n) * by * factor for n in range(x)]

    assert inner(2) == [0, 100]
    assert bound(inner, Doubled())(2) == [0, 400]  # both SCALE and the factor are doubled
    assert bound(partial(inner, by=3), Doubled())(2) == [0, 600]
    assert bound(partial(scaled, 3), Doubled())() == 120
    assert inner(2) == [0, 100]


def test_a_value_without_a_meaning_refuses_the_whole_group() -> None:
    class Strict(Doubled):
        def of(self, value: Any, bind: Any) -> Any:
            if value is STEP:
                raise Unfit
            return super().of(value, bind)

    meaning = Strict()
    with pytest.raises(Unfit):
        bound(even, meaning)
    assert not meaning.functions
    assert bound(scaled, meaning)(1) == 20


def test_what_a_function_reads() -> None:
    def function(x: Any) -> Any:
        return [math.pi * scaled(x.shape), (lambda y: y.dtype.kind)(x)]

    assert set(reads(function.__code__)) == {
        ("math", "", True), ("math", "pi", True), ("scaled", "", True), ("x", "shape", False),
        ("y", "dtype", False), ("", "kind", False)}


# ---------------------------------------------------------------- half made is never seen


def test_an_interrupt_in_the_middle_leaves_nothing_half_made() -> None:
    class Interrupted(Doubled):
        strikes = 1

        def of(self, value: Any, bind: Any) -> Any:
            if value is STEP and self.strikes:  # both functions exist by now, neither is complete
                self.strikes -= 1
                raise KeyboardInterrupt
            return super().of(value, bind)

    meaning = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        bound(even, meaning)
    assert not meaning.functions
    assert bound(even, meaning)(8) is True


def test_a_thread_that_comes_in_the_middle_meets_nothing_half_made() -> None:
    inside, go_on = threading.Event(), threading.Event()
    first = threading.current_thread()

    class Slow(Doubled):
        def of(self, value: Any, bind: Any) -> Any:
            if value is STEP and threading.current_thread() is not first:
                inside.set()
                assert go_on.wait(10)
            return super().of(value, bind)

    meaning = Slow()
    results: list[bool] = []
    other = threading.Thread(target=lambda: results.append(bound(even, meaning)(8)))
    other.start()
    assert inside.wait(10)
    try:
        assert bound(even, meaning)(8) is True
    finally:
        go_on.set()
        other.join()
    assert results == [True]
    assert bound(odd, meaning)(8) is False


# ---------------------------------------------------------------- raw arrays


def test_names_of_ops_mean_kernels_on_arrays() -> None:
    x = np.array([0.5, 1.0])

    def rule(g: Any, input: Any) -> Any:
        return g * rg_conj(sin(input))

    rg_conj = rg.conj
    assert np.array_equal(raw(rule, False)(x, x), x * np.sin(x))
    z = x + 2j
    assert np.array_equal(raw(rule, True)(z, z), z * np.conj(np.sin(z)))
    assert rule in REAL.functions and rule in COMPLEX.functions


def test_a_kernel_that_passes_its_arguments_on_is_the_backends_function() -> None:
    assert direct(REGISTRY["sin"].kernel) is np.sin
    assert direct(REGISTRY["mul"].kernel) is np.multiply
    for other in ("add", "sum_to_size_of", "_softmax"):
        assert direct(REGISTRY[other].kernel) is REGISTRY[other].kernel


def test_a_kernel_that_exchanges_its_arguments_is_called() -> None:
    from retrograd.backend import xp

    def exchanged(a: Any, b: Any) -> Any:
        return xp.subtract(b, a)

    def shifted(a: Any, b: Any) -> Any:
        return xp.subtract(a, b) + 1

    assert direct(exchanged) is exchanged
    assert direct(shifted) is shifted


def test_real_numbers_are_not_conjugated() -> None:
    rg_conj = rg.conj
    rule = lambda g: rg_conj(g)
    x = np.array([0.5, 1.0])
    assert raw(rule, False)(x) is x and raw(rule, True)(x) is not x


def test_a_kernel_that_returns_what_it_was_given_is_called() -> None:
    def twice(a: Any) -> Any:
        return a, a

    assert direct(twice) is twice
