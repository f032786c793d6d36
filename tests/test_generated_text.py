"""The code that is generated for ops of every form is what is expected, word for word.

What is missing from a fast path is done by the general path, with the same results: no other test
would notice. See `generated` for how the expected text is renewed.
"""

from __future__ import annotations

import pytest

from .generated.declarations import DECLARATIONS
from .generated.text import path_of, text_of


@pytest.mark.parametrize("name", DECLARATIONS)
def test_generated_code_reads_as_expected(name: str) -> None:
    assert text_of(name) == path_of(name).read_text()
