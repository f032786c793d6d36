"""What one step of a recurrent network refuses, and in which words."""

from __future__ import annotations

from typing import Any

from ...base.errors import length_of


def check_cell(count: int, input: Any, states: Any, w_ih: Any, w_hh: Any) -> None:
    """A step with ``count`` gates, each kind of which looks at its weights at another time."""
    size = length_of(w_hh.shape, 1)
    if count == 1:
        _check_weights(count, size, w_ih, w_hh)
    given, expected = length_of(input.shape, 1), length_of(w_ih.shape, 1)
    if given != expected:
        raise RuntimeError(f"input has inconsistent input_size: got {given} expected {expected}")
    if count == 4:
        _check_weights(count, size, w_ih, w_hh)
    _check_states(input, states, size)
    if count == 3:
        _check_weights(count, size, w_ih, w_hh)


def _check_weights(count: int, size: int, w_ih: Any, w_hh: Any) -> None:
    for name, weight in (("weight_ih", w_ih), ("weight_hh", w_hh)):
        if weight.shape[0] != count * size:
            raise RuntimeError(f"{name} first dim must be {count} * hidden_size = {count * size}, "
                               f"but got {weight.shape[0]}")


def _check_states(input: Any, states: Any, size: int) -> None:
    for i, state in enumerate(states):
        if input.shape[0] != length_of(state.shape, 0):
            raise RuntimeError(f"Input batch size {input.shape[0]} doesn't match hidden{i} batch "
                               f"size {state.shape[0]}")
        if length_of(state.shape, 1) != size:
            raise RuntimeError(f"hidden{i} has inconsistent hidden_size: got {state.shape[1]}, "
                               f"expected {size}")
