"""Every op on a batch of one argument alone (values, indices, masks), of gradients, of tangents.

Where the batch lies, and that nothing else has one, may make no difference. An op that takes its
batch in a loop warns of it, which is an error here unless that op has to.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import retrograd as rg
from tests.sweeps.cases import ENTRIES, Case, cases, failures_of, settle, tensors
from tests.test_every_op import NothingToCheck, assert_close, differentiable, live, scattered

LOOK_AT_VALUES = {
    "Tensor.__getitem__", "index_put", "masked_select", "nonzero", "argwhere", "where", "unique",
    "unique_consecutive", "bincount", "histogram", "histogramdd", "repeat_interleave",
    "segment_reduce", "lu_unpack", "nn.functional.one_hot", "nn.functional.ctc_loss",
    "nn.functional.embedding_bag", "embedding_bag",
    "normal", "bernoulli", "poisson", "multinomial", "binomial", "_standard_gamma",
    "_sample_dirichlet"}
"""Ops with an argument that is looked at: it says how much there is to return, or what is drawn."""
LOOK_AT_MEMORY = {"as_strided", "as_strided_copy", "as_strided_scatter", "view_as_complex",
                  "view_as_complex_copy"}
"""What these make of a batch depends on where it lies: theirs lies in order."""


def another(x: Any) -> Any:
    """Other values for an argument: of indices, the same ones elsewhere."""
    if x.is_floating_point() or x.is_complex():
        return x * 0.9
    return x.flip(-1) if x.ndim else x


@pytest.mark.parametrize("name", ENTRIES)
def test_a_batch_of_one_argument_is_a_loop(name: str) -> None:
    with warnings.catch_warnings(record=True) as looped:
        warnings.simplefilter("always" if name in LOOK_AT_VALUES else "error")
        settle(failures_of(cases(rg, ENTRIES[name]), check_each_argument), None)
    assert (name in LOOK_AT_VALUES) == any("once for each" in str(w.message) for w in looped)


def check_each_argument(case: Case) -> None:
    for place, (run, x) in enumerate(as_functions_of_each(case)):
        values = [x, another(x)]
        try:
            wanted = [run(value) for value in values]
        except (RuntimeError, ValueError):
            continue  # the arguments do not go together
        if not wanted[0] or any(a.shape != b.shape for a, b in zip(*wanted)):
            continue
        dim = 0 if case.entry.name in LOOK_AT_MEMORY else -1
        found = rg.func.vmap(run, in_dims=dim, out_dims=dim, randomness="same")(
            rg.stack(values, dim))
        for i in range(2):
            for a, b in zip(found, wanted[i]):
                assert a.dtype == b.dtype
                assert_close(a.select(dim, i), b, f"value {i} of argument {place}")


def as_functions_of_each(case: Case) -> Iterator[tuple[Any, Any]]:
    """The call as a function of each of its tensors, with what stands there."""
    args, kwargs = case.arguments(case.inputs())
    given = tensors(rg, [args, list(kwargs.values())])

    def run_with(place: int, one: Any) -> tuple[Any, ...]:
        remaining = iter([*given[:place], one, *given[place + 1:]])
        filled = refilled(args, remaining)
        options = {key: refilled(value, remaining) for key, value in kwargs.items()}
        return tuple(tensors(rg, case.run_with(filled, options)))

    return ((lambda one, place=place: run_with(place, one), x) for place, x in enumerate(given))


def refilled(value: Any, remaining: Iterator[Any]) -> Any:
    """The same arguments around other tensors."""
    if isinstance(value, rg.Tensor):
        return next(remaining)
    if isinstance(value, (list, tuple)):
        return type(value)(refilled(part, remaining) for part in value)
    return value


@pytest.mark.parametrize("values", [rg.tensor(7.5), rg.tensor([7.5]), rg.tensor([7.5, 8.5])])
def test_one_value_is_written_under_a_batch_of_masks_without_a_loop(values: Any) -> None:
    x, masks = rg.arange(6.0).reshape(3, 2), rg.tensor([[True, False, True], [True, True, False]])

    def write(mask: Any) -> Any:
        return x.index_put((mask[:, None] & rg.tensor([True, False]),), values)

    wanted = rg.stack([write(mask) for mask in masks])
    if values.numel() > 1:
        with pytest.warns(UserWarning, match="once for each"):
            found = rg.func.vmap(write)(masks)
    else:
        found = rg.func.vmap(write)(masks)
    assert_close(found, wanted, "value")


@pytest.mark.parametrize("name", ENTRIES)
def test_a_batch_of_gradients_or_tangents_is_a_loop(name: str) -> None:
    settle(failures_of(cases(rg, ENTRIES[name]), check_derivatives), None)


def check_derivatives(case: Case) -> None:
    """As Jacobians ask for them: the gradients or tangents have a batch, the values have none."""
    try:
        leaves = differentiable(case)
    except NothingToCheck:
        return
    outputs = live(case.function(*leaves))

    def pulled(*seeds: Any) -> Any:
        return rg.autograd.grad(outputs, leaves, seeds, retain_graph=True, materialize_grads=True,
                                allow_unused=True)

    def pushed(*tangents: Any) -> Any:
        return rg.func.jvp(case.function, tuple(x.detach() for x in leaves), tangents)[1]

    for function, like in ((pulled, outputs), (pushed, leaves)):
        given = [tuple(scattered(x, n) for x in like) for n in (1, 2)]
        found = rg.func.vmap(function, randomness="same")(*map(rg.stack, zip(*given)))
        for i in range(2):
            for a, b in zip(found, function(*given[i])):
                assert_close(a[i], b, function.__name__)
