"""Recurrent layers on NumPy arrays: all steps of one layer in one direction, and their gradients.

The samples of all steps lie below one another, ``sizes[n]`` of them for step ``n``. A step moves
the first rows of the state; the others, of sequences that have ended or not begun, stay as they
are. The products with the inputs are made for all steps at once, and so are the gradients of the
weights, from what every step leaves behind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from . import INT64, quiet
from .matrices import dot, sum_rows
from .native import native

Arrays = Sequence[Any]


class Kind:
    """What one kind of layer does in a step."""

    has_own_bias = False  # one that is not added to the products of the inputs

    def left(self, rows: int, units: int, dtype: Any) -> Arrays:
        """Memory for what steps leave behind for their gradients, beside gates and states."""
        return ()

    def steps(self, weight: Any, bias: Any, spans: Any, gates: Any, state: Arrays, before: Any,
              output: Any, left: Arrays) -> None:
        """Take all steps: rows of ``gates`` have the inputs' products, ``before`` is given what
        the state was.
        """
        steps(self.step, weight, bias, spans, gates, state, before, output, left)

    def back(self, weight: Any, spans: Any, gates: Any, left: Arrays, before: Any, output: Any,
             of_output: Any, of_state: Arrays, slopes: Any, own: Any) -> None:
        """The gradients of both products and, in ``of_state``, those of the first state."""
        gradients(self.slope, weight, spans, gates, left, before, output, of_output, of_state,
                  slopes, own)

    def step(self, product: Any, bias: Any, gates: Any, state: Arrays, output: Any,
             left: Arrays) -> None:
        """Move the state, given its ``product`` with the weights; ``gates`` has the inputs'."""
        raise NotImplementedError

    def slope(self, gates: Any, left: Arrays, before: Any, output: Any, of_output: Any,
              of_state: Arrays, slopes: Any, own: Any) -> None:
        """The step's gradients: of both products, and in ``of_state`` what passes those by."""
        raise NotImplementedError


def steps(step: Callable[..., None], weight: Any, bias: Any, spans: Any, gates: Any, state: Arrays,
          before: Any, output: Any, left: Arrays) -> None:
    """One step after the other, each with the product of the state and the weights."""
    turned = np.ascontiguousarray(weight.T)  # thrice as quick in small products
    products = np.empty((len(state[0]), len(weight)), gates.dtype)
    for start, stop in spans.tolist():
        size, part = stop - start, slice(start, stop)
        now = before[part]
        now[...] = state[0][:size]
        step(np.matmul(now, turned, products[:size]), bias, gates[part],
             [a[:size] for a in state], output[part], [a[part] for a in left])


def gradients(slope: Callable[..., None], weight: Any, spans: Any, gates: Any, left: Arrays,
              before: Any, output: Any, of_output: Any, of_state: Arrays, slopes: Any,
              own: Any) -> None:
    """The gradients of one step after the other, the last one first."""
    products = np.empty(of_state[0].shape, gates.dtype)
    for start, stop in spans.tolist():
        size, part = stop - start, slice(start, stop)
        slope(gates[part], [a[part] for a in left], before[part], output[part],
              None if of_output is None else of_output[part], [a[:size] for a in of_state],
              slopes[part], own[part])
        of_state[0][:size] += np.matmul(own[part], weight, products[:size])


def run(mode: str, input: Any, state: Sequence[Any], weights: Sequence[Any], sizes: Sequence[int],
        is_reversed: bool) -> tuple[Any, Arrays, Arrays]:
    """The outputs of all steps, the last state, and what the gradients need."""
    kind, (weight, own_weight, *biases) = KINDS[mode], weights
    own_bias = biases[1] if biases else None
    rows, units, dtype = _rows(input), own_weight.shape[1], input.dtype
    state = [np.array(part) for part in state]
    before, output = (np.empty((len(rows), units), dtype) for _ in range(2))
    left = kind.left(len(rows), units, dtype)
    with quiet():
        gates = dot(rows, weight.T)
        if biases:
            gates += biases[0] if kind.has_own_bias else biases[0] + own_bias
        kind.steps(own_weight, own_bias, _spans(sizes, is_reversed), gates, state, before, output,
                   left)
    return output.reshape(*input.shape[:-1], units), tuple(state), (gates, before, *left)


def run_back(mode: str, given: Sequence[Any], states: int, kept: Sequence[Any],
             arrived: Sequence[Any], wanted: Sequence[bool], sizes: Sequence[int],
             is_reversed: bool) -> list[Any]:
    """The gradients of input, state and weights, as far as they are wanted.

    Those that arrived, of the outputs and of the last state, may be None.
    """
    kind, (input, *state), (output, gates, before, *left) = KINDS[mode], given, kept
    state, (weight, own_weight, *_) = state[:states], state[states:]
    slopes = np.empty(gates.shape, gates.dtype)
    own = np.empty(gates.shape, gates.dtype) if kind.has_own_bias else slopes
    output = output.reshape(before.shape)
    of_output = None if arrived[0] is None else _rows(arrived[0])
    of_state = [np.zeros(a.shape, a.dtype) if g is None else np.array(g)
                for a, g in zip(state, arrived[1:], strict=True)]
    with quiet():
        kind.back(own_weight, _spans(sizes, not is_reversed), gates, left, before, output,
                  of_output, of_state, slopes, own)
        makers: list[Callable[[], Any]] = [
            lambda: dot(slopes, weight).reshape(input.shape),
            *(partial(of_state.__getitem__, i) for i in range(states)),
            lambda: dot(slopes.T, _rows(input)), lambda: dot(own.T, before),
            lambda: sum_rows(slopes), lambda: sum_rows(own)]
        return [make() if want else None for make, want in zip(makers, wanted, strict=False)]


def _rows(array: Any) -> Any:
    """All steps below one another, in order."""
    return np.ascontiguousarray(array).reshape(-1, array.shape[-1])


def _spans(sizes: Sequence[int], is_reversed: bool) -> Any:
    """Where the rows of each step begin and end, in the order in which they are taken."""
    ends = np.cumsum(sizes, dtype=INT64)
    found = np.stack([ends - sizes, ends], 1)
    return np.ascontiguousarray(found[::-1]) if is_reversed else found


# ---------------------------------------------------------------- plain


class Tanh(Kind):
    """The state is tanh of the sum of both products."""

    def step(self, product: Any, bias: Any, gates: Any, state: Arrays, output: Any,
             left: Arrays) -> None:
        np.add(gates, product, product)
        self.activate(product, output)
        state[0][...] = output

    def activate(self, sums: Any, output: Any) -> None:
        np.tanh(sums, output)

    def slope(self, gates: Any, left: Arrays, before: Any, output: Any, of_output: Any,
              of_state: Arrays, slopes: Any, own: Any) -> None:
        (of_hidden,) = of_state
        if of_output is not None:
            of_hidden += of_output
        self.slope_of_activation(output, slopes)
        slopes *= of_hidden
        of_hidden[...] = 0

    def slope_of_activation(self, output: Any, slopes: Any) -> None:
        np.multiply(output, output, slopes)
        np.subtract(1, slopes, slopes)


class Relu(Tanh):
    """The same with ReLU."""

    def activate(self, sums: Any, output: Any) -> None:
        np.maximum(sums, 0, out=output)

    def slope_of_activation(self, output: Any, slopes: Any) -> None:
        np.less_equal(output, 0, slopes)
        np.subtract(1, slopes, slopes)


def _blocks(array: Any, count: int) -> list[Any]:
    units = array.shape[1] // count
    return [array[:, i * units:(i + 1) * units] for i in range(count)]


def _sigmoid(array: Any) -> None:
    found = np.exp(-array)
    found += 1
    np.reciprocal(found, array)


def _times_sigmoid_slope(array: Any, gate: Any) -> None:
    array *= gate
    array *= 1 - gate


# ---------------------------------------------------------------- LSTM


class Lstm(Kind):
    """A cell that the gates in, keep, value and out fill, keep and show; left is what it was."""

    def left(self, rows: int, units: int, dtype: Any) -> Arrays:
        return (np.empty((rows, units), dtype),)

    def steps(self, weight: Any, bias: Any, spans: Any, gates: Any, state: Arrays, before: Any,
              output: Any, left: Arrays) -> None:
        lstm_steps(weight, spans, gates, *state, before, output, *left)

    def back(self, weight: Any, spans: Any, gates: Any, left: Arrays, before: Any, output: Any,
             of_output: Any, of_state: Arrays, slopes: Any, own: Any) -> None:
        lstm_gradients(weight, spans, gates, *left, of_output, *of_state, slopes)


@native("lstm_steps(weight, spans, gates, hidden, cell, before, output, cells)",
        when="in_order(weight, gates, hidden, cell)")
def lstm_steps(weight: Any, spans: Any, gates: Any, hidden: Any, cell: Any, before: Any,
               output: Any, cells: Any) -> None:
    """All steps; what follows ``spans`` is written to: ``gates`` had the products of the inputs."""
    # A sigmoid is half the tangent of half its argument and another half, so that one tangent
    # makes all gates.
    units, dtype = cells.shape[1], gates.dtype
    row = np.repeat(np.array([0.5, 0.5, 1, 0.5], dtype), units)
    turned = np.ascontiguousarray((weight * row[:, None]).T)
    gates *= row
    half = np.tile(row, (len(hidden), 1))  # as large as a step, for one loop over all numbers
    blocks, products, rest = _blocks(gates, 4), np.empty_like(half), 1 - half
    for start, stop in spans.tolist():
        size, part = stop - start, slice(start, stop)
        sums, now, own, shown = gates[part], before[part], cell[:size], output[part]
        into, keep, value, out = [block[part] for block in blocks]
        now[...] = hidden[:size]
        sums += np.matmul(now, turned, products[:size])
        np.tanh(sums, sums)
        sums *= half[:size]
        sums += rest[:size]
        cells[part] = own
        own *= keep
        own += into * value
        np.tanh(own, shown)
        shown *= out
        hidden[:size] = shown


@native("lstm_gradients(weight, spans, gates, cells, of_output, of_hidden, of_cell, slopes)",
        when="in_order(weight, gates, of_output, of_hidden, of_cell)")
def lstm_gradients(weight: Any, spans: Any, gates: Any, cells: Any, of_output: Any, of_hidden: Any,
                   of_cell: Any, slopes: Any) -> None:
    """The gradients of all steps' sums, and in those of the last state those of the first one."""
    # What gradients are multiplied by is known for all steps before any of them is taken back.
    of_gates = slopes.reshape(-1, 4, cells.shape[1]).swapaxes(0, 1)
    into, keep, value, out = by_gate = np.ascontiguousarray(
        gates.reshape(of_gates.swapaxes(0, 1).shape).swapaxes(0, 1))
    shown = np.tanh(keep * cells + into * value)
    through = out * (1 - shown * shown)
    factors = by_gate * (1 - by_gate)
    factors[0] *= value
    factors[1] *= cells
    np.multiply(into, 1 - value * value, factors[2])
    factors[3] *= shown
    for start, stop in spans.tolist():
        size, part = stop - start, slice(start, stop)
        hidden, cell = of_hidden[:size], of_cell[:size]
        if of_output is not None:
            hidden += of_output[part]
        cell += hidden * through[part]
        np.multiply(factors[:3, part], cell, of_gates[:3, part])
        np.multiply(factors[3, part], hidden, of_gates[3, part])
        cell *= keep[part]
        np.matmul(slopes[part], weight, hidden)


# ---------------------------------------------------------------- GRU


class Gru(Kind):
    """The gates reset, update and new; left is the state's part of the last."""

    has_own_bias = True
    left = Lstm.left

    def steps(self, weight: Any, bias: Any, spans: Any, gates: Any, state: Arrays, before: Any,
              output: Any, left: Arrays) -> None:
        gru_steps(weight, bias, spans, gates, *state, before, output, *left)

    def back(self, weight: Any, spans: Any, gates: Any, left: Arrays, before: Any, output: Any,
             of_output: Any, of_state: Arrays, slopes: Any, own: Any) -> None:
        gru_gradients(weight, spans, gates, *left, before, of_output, *of_state, slopes, own)


@native("gru_steps(weight, bias, spans, gates, hidden, before, output, fresh)",
        when="in_order(weight, bias, gates, hidden)")
def gru_steps(weight: Any, bias: Any, spans: Any, gates: Any, hidden: Any, before: Any,
              output: Any, fresh: Any) -> None:
    """All steps; what follows ``spans`` is written to."""
    steps(_gru_step, weight, bias, spans, gates, (hidden,), before, output, (fresh,))


@native("gru_gradients(weight, spans, gates, fresh, before, of_output, of_hidden, slopes, own)",
        when="in_order(weight, gates, of_output, of_hidden)")
def gru_gradients(weight: Any, spans: Any, gates: Any, fresh: Any, before: Any, of_output: Any,
                  of_hidden: Any, slopes: Any, own: Any) -> None:
    """The gradients of all steps' sums, and in that of the last state that of the first one."""
    gradients(_gru_slope, weight, spans, gates, (fresh,), before, before, of_output, (of_hidden,),
              slopes, own)


def _gru_step(product: Any, bias: Any, gates: Any, state: Arrays, output: Any,
              left: Arrays) -> None:
    (hidden,), (fresh,) = state, left
    units = hidden.shape[1]
    sums = product if bias is None else product + bias
    gates[:, :2 * units] += sums[:, :2 * units]
    _sigmoid(gates[:, :2 * units])
    reset, update, new = _blocks(gates, 3)
    fresh[...] = sums[:, 2 * units:]
    new += reset * fresh
    np.tanh(new, new)
    hidden -= new
    hidden *= update
    hidden += new
    output[...] = hidden


def _gru_slope(gates: Any, left: Arrays, before: Any, _: Any, of_output: Any, of_state: Arrays,
               slopes: Any, own: Any) -> None:
    (fresh,), (of_hidden,) = left, of_state
    units = before.shape[1]
    reset, update, new = _blocks(gates, 3)
    of_reset, of_update, of_new = _blocks(slopes, 3)
    if of_output is not None:
        of_hidden += of_output
    np.multiply(of_hidden, 1 - update, of_new)
    of_new *= 1 - new * new
    np.multiply(of_new, fresh, of_reset)
    np.multiply(of_hidden, before - new, of_update)
    for slope, gate in ((of_reset, reset), (of_update, update)):
        _times_sigmoid_slope(slope, gate)
    own[:, :2 * units] = slopes[:, :2 * units]
    np.multiply(of_new, reset, own[:, 2 * units:])
    of_hidden *= update


KINDS: dict[str, Kind] = {"RNN_TANH": Tanh(), "RNN_RELU": Relu(), "LSTM": Lstm(), "GRU": Gru()}
