"""What a declaration says of ``out=``: which other dtypes it takes, and how it refuses the rest."""

from __future__ import annotations

from typing import Any, NamedTuple

CASTABLE = "result type {result} can't be cast to the desired output type {out}"
FOUND = "Found dtype {out} but expected {result}"
EQUAL = "Expected out tensor to have dtype {c_result}, but got {c_out} instead"
SAFELY = ("{function}: Expected {name} to be safely castable from {result} dtype, but got {name} "
          "with dtype {out}")


class Out(NamedTuple):
    """How a function writes to the tensors given as ``out=``.

    ``words`` refuse every dtype but the result's; words about casts refuse only what a result of
    its kind is not cast to. Results with names may have words of their own.
    """

    words: str | tuple[str, ...] = EQUAL
    error: type[Exception] = RuntimeError
    castable: bool | None = None  # whether it may be of a higher kind; None: the words say so
    also: tuple[Any, ...] = ()  # other dtypes that it may have
    computes: bool = False  # it is computed in the dtype of ``out``
    copies: bool = False  # it is written as by copy_(), which is recorded
    silent: bool = False  # it takes another shape without a warning
    apart: bool = False  # it may share no memory at all with an input
    last_first: bool = False  # the last of several is looked at first
    function: str = ""  # what the words call the function, where that is not its name
    names: tuple[str, ...] = ("result",)  # what the words call the results
