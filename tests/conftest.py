"""What all tests share: a garbage collector that does not look at the tests themselves."""

from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    # Tens of thousands of collected tests, and what they imported, stay till the end: a collection
    # that looks through them takes a third of a second, and some tests collect many times.
    gc.collect()
    gc.freeze()
