"""Every op's samples with one argument that does not fit, beside PyTorch: taken or refused alike.

Another length, rank or dtype of a tensor, a number beyond its range, a list too short or too long,
a word that means nothing: what is refused must be refused in the same words. Where it is not, what
happens here stands in odd_arguments.json; RETROGRAD_OUTCOMES=write writes what is found there.
PyTorch is asked in a process of its own, since some calls write where they may not, and end it.
"""

from __future__ import annotations

import faulthandler
import io
import itertools
import json
import os
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests import sweeps
from tests.samples import Call, Recipe
from tests.sweeps.cases import ENTRIES, Case, tensors

import retrograd as rg
from parity.harness import same_message
from parity.test_every_op import Unlike, compare_outcomes, fact, quietly

torch.set_num_threads(1)

KNOWN_FILE = Path(sweeps.__file__).with_name("odd_arguments.json")
KINDS = ("int", "bool", "complex", "float")
NARROW = ("torch.float32", "torch.complex64")
TOGETHER = 16  # ops that one process answers for
FEW = 3  # of the ways to change the first element of a list


UNSTABLE = ("ops.aten.max_pool2d_with_indices_backward", "lu_unpack", "segment_reduce",
            "unique_consecutive", "nn.functional.l1_loss")
"""Where PyTorch looks at other memory, which holds something else each time; the last takes weights
of any size after other tests, and refuses them alone."""
CHECKED = [name for name in ENTRIES if name not in UNSTABLE]


def others(value: Any) -> Iterator[Any]:
    """What might be given by mistake in the place of an argument."""
    match value:
        case Recipe(shape=shape, kind=kind):
            if shape:
                yield replace(value, shape=(shape[0] + 1, *shape[1:]))
                yield replace(value, shape=shape[1:])
            if len(shape) > 1:
                yield replace(value, shape=(*shape[:-1], shape[-1] + 1))
            yield replace(value, shape=(2, *shape))
            for other in KINDS:
                if other != kind and (other, kind) != ("float", "distinct"):
                    yield replace(value, kind=other, grad=False)
            if kind == "int":
                yield replace(value, low=value.high + 3, high=value.high + 5)
                yield replace(value, low=-9, high=-7)
        case bool():
            yield not value
        case int():
            yield from sorted({value + 1, value + 7, -value - 1, -9, 0} - {value})
        case float():
            yield from sorted({-value, 0.0, value * 2} - {value})
        case str():
            yield value + "s"
        case [first, *rest]:
            yield type(value)(value[:-1])
            yield type(value)((*value, value[-1]))
            for other in itertools.islice(others(first), FEW):
                yield type(value)((other, *rest))
            if rest:
                for other in itertools.islice(others(value[-1]), FEW):
                    yield type(value)((*value[:-1], other))


def changed_calls(call: Call, others: Callable[[Any], Iterator[Any]]) -> Iterator[Call]:
    """A call with one argument after the other changed to each of its ``others``."""
    for i, value in enumerate(call.args):
        for other in others(value):
            yield replace(call, args=(*call.args[:i], other, *call.args[i + 1:]))
    for key, value in call.kwargs.items():
        for other in others(value):
            yield replace(call, kwargs={**call.kwargs, key: other})


def telling(name: str) -> Iterator[Call]:
    """The first sample of an op, and those that give it an argument which none before them did."""
    seen: set[Any] = set()
    for call in ENTRIES[name].calls:
        given = {(place, type(value)) for place, value in (*enumerate(call.args),
                                                           *call.kwargs.items())}
        if not given <= seen:
            seen |= given
            yield call


def odd_cases(name: str) -> list[Case]:
    """Samples of an op, with one argument after the other changed; each call once."""
    made = [Case(rg, ENTRIES[name], odd) for call in telling(name)
            for odd in changed_calls(call, others)]
    return list({case.name: case for case in made}.values())


def values(case: Case) -> list[tuple[str, Any]]:
    with quietly():
        found = tensors(case.lib, case.run(case.inputs()))
        return [(f"output {i}", fact(y)) for i, y in enumerate(found)]


ANSWERS: dict[str, list[Any]] = {}
"""PyTorch's values for the cases of an op, or the names and the words of its errors."""


def of_pytorch(name: str) -> list[Any]:
    """PyTorch's answers, up to where it ends the process; those for the next ops come along."""
    if name not in ANSWERS:
        place = CHECKED.index(name)
        next_ones = [n for n in CHECKED[place:place + TOGETHER] if n not in ANSWERS]
        for asked, answer in _in_a_child(next_ones):
            ANSWERS.setdefault(asked, []).append(answer)
    return ANSWERS.get(name, [])


def _in_a_child(names: list[str]) -> Iterator[tuple[str, Any]]:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        faulthandler.disable()
        try:
            with os.fdopen(writing, "wb") as pipe:
                for case in itertools.chain.from_iterable(map(odd_cases, names)):
                    try:
                        answer: Any = values(replace(case, lib=torch))
                    except Exception as error:
                        answer = type(error).__name__, str(error)
                    pipe.write(pickle.dumps((case.entry.name, answer)))
                    pipe.flush()
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answers = io.BytesIO(pipe.read())
    os.waitpid(child, 0)
    while answers.tell() < len(answers.getvalue()):
        yield pickle.load(answers)


def difference(case: Case, wanted: Any) -> str | None:
    """What retrograd does with a call, if PyTorch does something else."""
    refused = isinstance(wanted, tuple)
    try:
        found = values(case)
    except Exception as error:
        kinds = [kind.__name__ for kind in type(error).__mro__]
        if refused and wanted[0] in kinds and same_message(wanted[1], str(error)):
            return None
        return f"{type(error).__name__}: {error}".split("\n")[0][:100]
    if refused:
        return "taken"
    try:
        narrow = any(dtype in NARROW for _, (dtype, *_) in wanted)
        compare_outcomes(wanted, found, "float32" if narrow else case.dtype)
    except Unlike as unlike:
        return f"unlike: {unlike}".split(": torch ")[0]
    return None


@pytest.mark.parametrize("name", CHECKED)
def test_an_argument_that_does_not_fit(name: str) -> None:
    found = {case.name: how for case, wanted in zip(odd_cases(name), of_pytorch(name))
             if (how := difference(case, wanted))}
    known = json.loads(KNOWN_FILE.read_text())
    if os.environ.get("RETROGRAD_OUTCOMES") == "write":
        known = {place: how for place, how in {**known, name: found}.items() if how}
        KNOWN_FILE.write_text(json.dumps(known, indent=0, sort_keys=True) + "\n")
    assert found == known.get(name, {})
