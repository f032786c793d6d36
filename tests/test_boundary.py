"""The boundary to array libraries: an interface that is named, and nothing beside it."""

from __future__ import annotations

from retrograd.backend import interface, xp


def test_a_library_offers_exactly_what_the_interface_names() -> None:
    assert {name for name in vars(xp) if not name.startswith("__")} == interface.NAMES
    assert {name for name in vars(xp.linalg) if not name.startswith("__")} == interface.LINALG
