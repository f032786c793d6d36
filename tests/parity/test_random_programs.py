"""A fixed share of the random programs that ``make programs`` draws by the hundred thousand."""

from __future__ import annotations

import pytest

from parity.fuzz import __main__ as fuzz, lockstep
from parity.fuzz.drawing import Statement

PROGRAMS_IN_ONE = 25
PROGRAMS = 600
KNOWN = {79: "whether a second derivative that is zero everywhere requires grad",
         545: "the second derivative of the variance of one number, which is not a number"}


@pytest.fixture(scope="module", autouse=True)
def both_libraries() -> None:
    lockstep.load()


@pytest.mark.parametrize("first", range(0, PROGRAMS, PROGRAMS_IN_ONE))
def test_programs_do_the_same(first: int) -> None:
    for seed in range(first, first + PROGRAMS_IN_ONE):
        outcome = lockstep.random_program(seed)
        if outcome.difference is not None and seed not in KNOWN:
            pytest.fail(f"seed {seed}\n{fuzz.show(fuzz.shrunk(outcome, seed % 2 == 0))}", False)


def program(*texts: str) -> list[Statement]:
    return [Statement(text, text) for text in texts]


OTHERWISE = "torch.__name__ == 'retrograd'"


@pytest.mark.parametrize("what, last", [
    ("value", f"v4 = v2 * (2 + ({OTHERWISE}))"),
    ("raises", f"v4 = v2[2 * ({OTHERWISE})]"),
    ("dtype", f"v4 = v2.to(torch.float64 if {OTHERWISE} else torch.float32)"),
    ("requires_grad", f"v4 = v2.detach() if {OTHERWISE} else v2"),
    ("grad", f"(v2 * (2 + ({OTHERWISE}))).sum().backward()"),
    ("shape", f"v4 = v2[:1 + ({OTHERWISE})]"),
])
@pytest.mark.parametrize("watched", [True, False])
def test_a_difference_is_found_and_shrunk(what: str, last: str, watched: bool) -> None:
    outcome = lockstep.run(program("v1 = torch.ones(3)", "v2 = torch.ones(2, requires_grad=True)",
                                   "v3 = v1.sin()", last, "v5 = v1 * 3"), watched)
    assert outcome.difference is not None and outcome.difference.what == what
    short = fuzz.shrunk(outcome, watched)
    assert [s.text for s in short.program] == ["v2 = torch.ones(2, requires_grad=True)", last]


def test_rounding_does_not_add_up() -> None:
    outcome = lockstep.run(program("v1 = torch.linspace(0, 1, 50)", *["v1 = v1.sin().exp()"] * 9,
                                   "v2 = v1 * 0.1 * 3 == v1 * 0.3"))
    assert outcome.difference is None


def test_a_program_is_drawn_again_from_its_seed() -> None:
    assert lockstep.random_program(7).program == lockstep.random_program(7).program
