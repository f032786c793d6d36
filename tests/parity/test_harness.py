"""The comparison itself: what counts as a difference, and what does not."""

from __future__ import annotations

import warnings

import pytest

from parity import harness


def found(their_program, our_program) -> list[str]:
    """The differences between two programs, both run by PyTorch."""
    torch = harness.oracle()
    theirs, ours = harness.run(their_program, torch), harness.run(our_program, torch)
    return list(harness.record_differences(theirs, ours))


def logging(make):
    return lambda torch, log: log(make(torch))


DIFFERENT = {
    "value": (lambda t: t.tensor([1.0]), lambda t: t.tensor([1.001])),
    "nan": (lambda t: t.tensor([1.0]), lambda t: t.tensor([float("nan")])),
    "inf": (lambda t: t.tensor([float("inf")]), lambda t: t.tensor([1e38])),
    "integer": (lambda t: t.tensor([10**9]), lambda t: t.tensor([10**9 + 1])),
    "dtype": (lambda t: t.tensor([1.0]), lambda t: t.tensor([1.0], dtype=t.float64)),
    "shape": (lambda t: t.ones(1), lambda t: t.ones(1, 1)),
    "requires_grad": (lambda t: t.ones(1), lambda t: t.ones(1, requires_grad=True)),
    "version": (
        lambda t: t.ones(1, requires_grad=True) * 1,
        lambda t: (t.ones(1, requires_grad=True) * 1).mul_(1),
    ),
    "type": (lambda t: t.ones(1), lambda t: t.nn.Parameter(t.ones(1), requires_grad=False)),
    "graph": (
        lambda t: t.ones(1, requires_grad=True) * 1,
        lambda t: t.ones(1, requires_grad=True) / 1,
    ),
    "container": (lambda t: (1, 2), lambda t: [1, 2]),
    "number type": (lambda t: 1, lambda t: 1.0),
    "text": (lambda t: "a", lambda t: "b"),
    "error": (lambda t: ValueError("a"), lambda t: TypeError("a")),
    "message": (lambda t: ValueError("a b"), lambda t: ValueError("a")),
}

SAME = {
    "rounding": (lambda t: t.tensor([1.0]), lambda t: t.tensor([1.0 + 1e-6])),
    "nan": (lambda t: t.tensor([float("nan")]), lambda t: t.tensor([float("nan")])),
    "longer message": (lambda t: ValueError("a"), lambda t: ValueError("a; line 3 saved it")),
    "addresses": (lambda t: "<x at 0x7f0011223344>", lambda t: "<x at 0x7f0011223355>"),
    "overloads": (
        lambda t: TypeError("f() got (str), but expected one of:\n * (int)"),
        lambda t: TypeError("f() got (str)"),
    ),
}


@pytest.mark.parametrize(("theirs", "ours"), DIFFERENT.values(), ids=DIFFERENT)
def test_a_difference_is_reported(theirs, ours) -> None:
    assert found(logging(theirs), logging(ours))


@pytest.mark.parametrize(("theirs", "ours"), SAME.values(), ids=SAME)
def test_what_may_differ_is_not_reported(theirs, ours) -> None:
    assert not found(logging(theirs), logging(ours))


def test_printed_text_is_compared() -> None:
    assert found(lambda torch: print("a"), lambda torch: print("b"))


def test_warnings_are_compared() -> None:
    def warn(text):
        return lambda torch: warnings.warn(text, stacklevel=2)

    assert found(warn("a"), warn("b"))
    assert found(warn("a"), lambda torch: None)
    assert not found(warn("a"), warn("a"))


def test_a_missing_observation_is_reported() -> None:
    assert found(lambda torch, log: log(1, 2), lambda torch, log: log(1))


def test_a_program_that_fails_under_pytorch_is_a_mistake() -> None:
    with pytest.raises(harness.Mismatch, match="fails under PyTorch"):
        harness.check(lambda torch: torch.nonsense)


def test_observations_do_not_change_with_later_writes() -> None:
    def program(torch, log):
        x = torch.zeros(1)
        log(x)
        x.add_(5)

    record = harness.run(program, harness.oracle())
    assert record.observations[0].value.values == [0.0]


def test_global_settings_are_undone() -> None:
    def program(torch):
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)

    torch = harness.oracle()
    harness.run(program, torch)
    assert torch.get_default_dtype() == torch.float32
    assert torch.is_grad_enabled()


def state(torch_gives, retrograd_gives):
    return lambda torch, log: log.differs(1, torch=torch_gives, retrograd=retrograd_gives)


def test_a_stated_difference_must_hold() -> None:
    torch = harness.oracle()
    assert harness.run(state(1, 2), torch).raised is None
    refused = harness.run(state(2, 1), torch).raised
    assert refused is not None and "torch is stated to give 2, but gave 1" in refused.message
