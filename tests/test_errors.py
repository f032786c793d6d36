"""Errors that a user meets: one traceback, in words that say what to do."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import retrograd as torch
from tests.samples import Call, Entry, Recipe, resolve
from tests.sweeps.cases import ENTRIES

# ---------------------------------------------------------------- one traceback


def is_single(error: BaseException) -> bool:
    """Whether a traceback shows this error alone, without one that it followed from."""
    return error.__cause__ is None and (error.__context__ is None or error.__suppress_context__)


class Thing:
    """Something that no op takes."""


def spoilt(value: Any) -> Iterator[Any]:
    """Values that are likely to be wrong in the place of ``value``."""
    yield from (Thing(), "spoilt", None, {})
    if isinstance(value, Recipe):
        yield torch.ones(7, 5, 3)
        yield torch.ones(())
        yield torch.ones([n + 1 for n in value.shape], dtype=torch.bool)
        yield torch.ones(value.shape, dtype=torch.complex64)
    elif isinstance(value, (list, tuple)):
        yield [*value, Thing()]
        yield [torch.ones(2, 3), torch.ones(4, 5, 6)]
    else:
        yield from (99, -99, 1.5, torch.ones(3))


def spoilt_calls(call: Call) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """The arguments of a call with one of them spoilt, one too many, or one missing."""
    args, kwargs, _ = call.build(torch)
    yield args[1:], kwargs
    yield [*args, Thing()], kwargs
    yield args, {**kwargs, "spoilt": 1}
    for place, value in enumerate(call.args):
        for wrong in spoilt(value):
            yield [*args[:place], wrong, *args[place + 1:]], kwargs
    for name, value in call.kwargs.items():
        for wrong in spoilt(value):
            yield args, {**kwargs, name: wrong}


def chained(function: Callable[..., Any], entry: Entry) -> tuple[int, list[str]]:
    """How many spoilt calls failed, and those of them that show more than one traceback."""
    failed, found = 0, []
    for call in entry.calls[:1]:
        for args, kwargs in spoilt_calls(call):
            try:
                function(*args, **kwargs)
            except Exception as error:
                failed += 1
                if not is_single(error):
                    shown = "".join(traceback.format_exception(error))
                    found.append(f"{entry.name}{tuple(args)}, {kwargs}\n{shown}")
    return failed, found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ENTRIES)
def test_a_wrong_argument_has_one_traceback(name: str) -> None:
    entry = ENTRIES[name]
    failed, found = chained(resolve(torch, name), entry)
    assert failed
    assert not found, f"{len(found)} of {failed}:\n{found[0]}"


@pytest.mark.filterwarnings("ignore")
def test_a_wrong_argument_of_a_write_has_one_traceback() -> None:
    total = 0
    for name, entry in ENTRIES.items():
        method = getattr(torch.Tensor, f"{name}_", None)
        if method is not None:
            failed, found = chained(method, entry)
            assert not found, f"{len(found)} of {failed}:\n{found[0]}"
            total += failed
    assert total > 500


def leaf(*shape: int) -> torch.Tensor:
    return torch.ones(shape, requires_grad=True)


def backward_twice() -> None:
    loss = leaf(2).exp().sum()
    loss.backward()
    loss.backward()


def written_after_use() -> None:
    x = leaf(2) * 1
    y = x.exp() * x
    x.add_(1)
    y.sum().backward()


@pytest.mark.parametrize("mistake", [
    lambda: leaf(2, 3) @ leaf(2, 3),
    lambda: leaf(2, 3) + leaf(4),
    lambda: leaf(2).add_(1),
    lambda: leaf(2)[5],
    lambda: leaf(2, 3)[:, [7]],
    lambda: leaf(2) + "a",
    lambda: leaf(2).sum(3),
    lambda: leaf(2).reshape(7),
    lambda: leaf(2).backward(),
    lambda: leaf(2).item(),
    lambda: leaf(2).numpy(),
    lambda: torch.ones(2).backward(),
    backward_twice,
    written_after_use,
    lambda: torch.autograd.grad(leaf(2).sum(), leaf(2)),
    lambda: torch.tensor([[1.0], [1.0, 2.0]]),
    lambda: torch.tensor("a"),
    lambda: torch.zeros(2, -3),
    lambda: torch.ones(2).to("mars"),
    lambda: torch.cat([torch.ones(2), torch.ones(2, 3)]),
    lambda: torch.ones(2).int().sin_(),
    lambda: torch.linalg.inv(torch.zeros(2, 2)),
    lambda: torch.einsum("ij,jk", leaf(2, 3), leaf(2, 3)),
    lambda: torch.nn.Linear(5, 7)(leaf(2, 3)),
    lambda: torch.nn.Conv2d(1, 2, 3)(leaf(2, 3)),
    lambda: torch.nn.functional.cross_entropy(leaf(2, 3), torch.ones(4, dtype=torch.int64)),
    lambda: torch.func.grad(lambda x: x @ x)(leaf(2, 3)),
    lambda: torch.func.vmap(lambda x: x @ torch.ones(7))(leaf(2, 3)),
    lambda: torch.func.vmap(torch.add)(leaf(2, 3), leaf(3)),
    lambda: torch.func.jvp(lambda x: x @ x, (leaf(2, 3),), (torch.ones(2, 3),)),
    lambda: torch.func.jvp(torch.sin, (leaf(2, 3),), (torch.ones(2),)),
])
def test_an_ordinary_mistake_has_one_traceback(mistake: Callable[[], Any]) -> None:
    with pytest.raises((RuntimeError, TypeError, ValueError, IndexError)) as caught:
        mistake()
    assert is_single(caught.value), "".join(traceback.format_exception(caught.value))
