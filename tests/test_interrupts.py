"""An interrupt, wherever it comes, leaves nothing half done and nothing switched on."""

import os
import random
import warnings

import pytest

from .faults import programs
from .faults.checking import Course
from .faults.compiled import forget_compiled, quickly
from .faults.injecting import visits

EVERYWHERE = os.environ.get("RETROGRAD_FAULTS") == "full"
FIRST_USES = ["calls_and_backward", "higher_order", "unrecorded_writes", "batches",
              "linear_algebra"]


def check(course, visited, most):
    """Interrupt a program so many times at each of its places.

    Or once at some of them, and at all where blocks begin and end.
    """
    at = visits(course.places, visited if EVERYWHERE else 1)
    if not EVERYWHERE:
        of_blocks = {visit for (_, name, _), visit in course.places
                     if name.endswith(("__enter__", "__exit__"))}
        at = {*random.Random(len(at)).sample(at, min(most, len(at))), *of_blocks.intersection(at)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problems = [problem for place in at for problem in course.problems(place)]
    assert not problems, f"{len(problems)} problems:\n" + "\n".join(problems[:5])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_an_interrupt_leaves_nothing_half_done(name):
    check(Course(name), visited=5, most=60)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FIRST_USES)
def test_an_interrupt_while_an_op_is_compiled_leaves_nothing_half_made(name):
    with quickly():
        check(Course(name, forget_compiled), visited=3, most=10)
