"""Every pair of subscripts beside PyTorch: what is read, what is written, and what is refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

import retrograd as rg
from parity.harness import same_message

ITEMS: dict[str, Callable[[Any], Any]] = {
    "0": lambda lib: 0, "-1": lambda lib: -1, "7": lambda lib: 7, "True": lambda lib: True,
    "False": lambda lib: False, "None": lambda lib: None, "...": lambda lib: ...,
    ":": lambda lib: slice(None), "1:": lambda lib: slice(1, None), "::2": lambda lib: slice(
        None, None, 2), "::-1": lambda lib: slice(None, None, -1), "-9:9": lambda lib: slice(-9, 9),
    "2:1": lambda lib: slice(2, 1), "::0": lambda lib: slice(None, None, 0),
    "1.5": lambda lib: 1.5, "[1, 0]": lambda lib: [1, 0], "[]": lambda lib: [],
    "index": lambda lib: lib.tensor([2, -1]), "zero-dim index": lambda lib: lib.tensor(1),
    "beyond": lambda lib: lib.tensor([0, 5]), "column": lambda lib: lib.tensor([[0], [2]]),
    "mask": lambda lib: lib.tensor([True, False, True]),
    "long mask": lambda lib: lib.tensor([True, False, True, True]),
    "mask of two dims": lambda lib: lib.arange(12).reshape(3, 4) % 3 == 0,
    "NumPy's": lambda lib: np.array([0, 1]), "floats": lambda lib: lib.tensor([0.0]),
}
WRONG = {"7", "::-1", "::0", "1.5", "beyond", "long mask", "mask of two dims", "floats"}
"""Of two things that are wrong, either may be named first."""
WRONG_VALUES = {"another dtype", "a row too many", "a column"}
VALUES: dict[str, Callable[[Any, Any], Any]] = {
    "a number": lambda lib, part: 7.5, "a whole number": lambda lib, part: 7,
    "True": lambda lib, part: True, "an infinity": lambda lib, part: float("-inf"),
    "a tensor": lambda lib, part: lib.arange(1.0, 1 + part.numel()).reshape(part.shape),
    "a zero-dim tensor": lambda lib, part: lib.tensor(3.5),
    "another dtype": lambda lib, part: lib.ones(part.shape, dtype=lib.float64),
    "a row too many": lambda lib, part: lib.ones((2, *part.shape)),
    "one more dim": lambda lib, part: lib.ones((1, *part.shape)),
    "a column": lambda lib, part: lib.arange(1.0, 1 + sum(part.shape[:1]))[:, None],
}


def outcome(run: Callable[[], Any]) -> Any:
    try:
        found = run()
    except Exception as error:
        return error
    strides = [step for step, n in zip(found.stride(), found.shape) if n > 1 and found.numel()]
    return tuple(found.shape), strides, found.tolist(), str(found.dtype)


def same(wanted: Any, found: Any) -> bool:
    if not isinstance(wanted, Exception):
        return bool(wanted == found)
    return isinstance(found, type(wanted)) and same_message(str(wanted), str(found))


def keys_with(first: str) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    yield first, ITEMS[first]
    for second in ITEMS if first not in WRONG else set(ITEMS) - WRONG:
        yield f"{first}, {second}", lambda lib, two=second: (ITEMS[first](lib), ITEMS[two](lib))


def base(lib: Any) -> Any:
    return lib.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize("first", ITEMS)
def test_reading(first: str) -> None:
    unlike = {}
    for name, key in keys_with(first):
        if "::-1" in name:
            continue  # which is an error there, and taken here
        wanted, found = (outcome(lambda lib=lib, key=key: base(lib)[key(lib)])
                         for lib in (torch, rg))
        if not same(wanted, found):
            unlike[name] = wanted, found
    assert not unlike


@pytest.mark.parametrize("first", ITEMS)
def test_writing(first: str) -> None:
    unlike = {}
    for (name, key), given in itertools.product(keys_with(first), VALUES):
        if given in WRONG_VALUES and WRONG & set(name.split(", ")):
            continue

        def write(lib: Any, key: Any = key, given: str = given) -> Any:
            x = base(lib)
            try:
                part = x[key(lib)]
            except Exception:
                part = x
            x[key(lib)] = VALUES[given](lib, part)
            return x

        wanted, found = (outcome(lambda lib=lib, write=write: write(lib)) for lib in (torch, rg))
        if not same(wanted, found):
            unlike[f"x[{name}] = {given}"] = wanted, found
    assert not unlike
