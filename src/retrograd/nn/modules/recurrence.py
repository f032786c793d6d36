"""One recurrent layer in one direction: all steps at once, or step by step on tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...autograd.backward import grad
from ...autograd.function import Function
from ...autograd.grad_mode import enable_grad, is_grad_enabled
from ...backend.numpy import FLOAT32, FLOAT64, ndarray, recurrent
from ...base.modes import MODE
from ...core.tensor import PLAIN, Tensor, wrap
from ...ops.shapes.joining import cat, stack
from .. import functional as F

State = tuple[Tensor, ...]
Weights = list[Tensor]
Step = Callable[[Tensor, State, Weights], State]


# ---------------------------------------------------------------- one step


def _gates(inner: Tensor, hidden: Tensor, weights: Weights) -> Tensor:
    return inner + F.linear(hidden, weights[1], weights[3] if len(weights) > 3 else None)


def _tanh_step(inner: Tensor, state: State, weights: Weights) -> State:
    return (_gates(inner, state[0], weights).tanh(),)


def _relu_step(inner: Tensor, state: State, weights: Weights) -> State:
    return (_gates(inner, state[0], weights).relu(),)


def _lstm_step(inner: Tensor, state: State, weights: Weights) -> State:
    into, keep, value, out = _gates(inner, state[0], weights).chunk(4, 1)
    cell = keep.sigmoid() * state[1] + into.sigmoid() * value.tanh()
    hidden = out.sigmoid() * cell.tanh()
    if len(weights) in (3, 5):  # the last one projects
        hidden = F.linear(hidden, weights[-1])
    return hidden, cell


def _gru_step(inner: Tensor, state: State, weights: Weights) -> State:
    hidden = state[0]
    outer = F.linear(hidden, weights[1], weights[3] if len(weights) > 3 else None)
    reset_in, update_in, new_in = inner.chunk(3, 1)
    reset_out, update_out, new_out = outer.chunk(3, 1)
    update = (update_in + update_out).sigmoid()
    new = (new_in + (reset_in + reset_out).sigmoid() * new_out).tanh()
    return ((hidden - new) * update + new,)


STEPS: dict[str, Step] = {"RNN_TANH": _tanh_step, "RNN_RELU": _relu_step, "LSTM": _lstm_step,
                          "GRU": _gru_step}


# ---------------------------------------------------------------- a layer


def along(mode: str, input: Tensor, state: State, weights: Weights, sizes: list[int] | None,
          is_reversed: bool) -> tuple[Tensor, State]:
    """The outputs of all steps, and the state after the last.

    ``sizes`` says how many samples each step of a pack has.
    """
    if _fit_kernels(input, state, weights):
        output, *last = AllSteps.apply((mode, sizes, is_reversed), len(state), input, *state,
                                       *weights)
        return output, tuple(last)
    return _step_by_step(mode, input, state, weights, sizes, is_reversed)


def _fit_kernels(input: Tensor, state: State, weights: Weights) -> bool:
    """Whether these are plain tensors of an ordinary dtype, and no mode has to see the steps."""
    mode, dtype = MODE.get(), input._data.dtype
    return ((dtype is FLOAT32 or dtype is FLOAT64) and input._data.size > 0
            and len(weights) in (2, 4)  # there is no projection
            and mode.autocast is None and not mode.functions and mode.intercept is None
            and all([type(t) in PLAIN and type(t._data) is ndarray and t._data.dtype is dtype
                     for t in (input, *state, *weights)]))


class AllSteps(Function):
    """A layer as one node: its steps are no ops of their own.

    A backward pass that is itself recorded, or runs in a transform, takes them one by one.
    """

    @staticmethod
    def forward(ctx: Any, call: Any, states: int, *tensors: Tensor) -> Any:
        mode, sizes, is_reversed = call
        input, *others = [tensor._data for tensor in tensors]
        sizes = sizes or [input.shape[1]] * len(input)
        output, last, kept = recurrent.run(mode, input, others[:states], others[states:], sizes,
                                           is_reversed)
        result = wrap(output)
        ctx.call, ctx.states, ctx.sizes = call, states, sizes
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors, result, *map(wrap, kept))
        return result, *map(wrap, last)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        wanted, saved = ctx.needs_input_grad[2:], ctx.saved_tensors
        tensors, kept = saved[:len(wanted)], saved[len(wanted):]
        if is_grad_enabled() or not all([g is None or type(g) in PLAIN for g in gradients]):
            return None, None, *_replayed(ctx.call, ctx.states, tensors, wanted, gradients)
        mode, _, is_reversed = ctx.call
        found = recurrent.run_back(mode, [t._data for t in tensors], ctx.states,
                                   [t._data for t in kept],
                                   [None if g is None else g._data for g in gradients], wanted,
                                   ctx.sizes, is_reversed)
        return None, None, *[None if array is None else wrap(array) for array in found]


def _replayed(call: Any, states: int, tensors: Any, wanted: Any, gradients: Any) -> list[Any]:
    """The gradients, by ops on tensors: those of aliases, which lead nowhere else."""
    mode, sizes, is_reversed = call
    is_recorded = is_grad_enabled()
    with enable_grad():
        input, *others = [t.view_as(t) if w else t for t, w in zip(tensors, wanted, strict=True)]
        output, last = _step_by_step(mode, input, tuple(others[:states]), others[states:], sizes,
                                     is_reversed)
        ends = [(y, g) for y, g in zip((output, *last), gradients, strict=True) if g is not None]
        targets = [t for t, w in zip((input, *others), wanted, strict=True) if w]
        found = iter(grad([y for y, _ in ends], targets, [g for _, g in ends],
                          create_graph=is_recorded, allow_unused=True))
    return [next(found) if w else None for w in wanted]


# ---------------------------------------------------------------- step by step


def _step_by_step(mode: str, input: Tensor, state: State, weights: Weights,
                  sizes: list[int] | None, is_reversed: bool) -> tuple[Tensor, State]:
    """One layer in one direction: the outputs of all steps, and the state after the last."""
    step, bias = STEPS[mode], weights[2] if len(weights) > 3 else None
    inner = F.linear(input, weights[0], bias)  # of all steps at once
    if sizes is not None:
        return _along_pack(step, inner.split(sizes), state, weights, sizes, is_reversed)
    parts = inner.unbind(0)
    outputs = []
    for part in reversed(parts) if is_reversed else parts:
        state = step(part, state, weights)
        outputs.append(state[0])
    return stack(outputs[::-1] if is_reversed else outputs), state


def _along_pack(step: Step, parts: Any, state: State, weights: Weights, sizes: list[int],
                is_reversed: bool) -> tuple[Tensor, State]:
    """The same for a pack: sequences that end early leave, or come in late, at the end."""
    order = range(len(sizes))
    outputs: list[Any] = [None] * len(sizes)
    ended: list[State] = []
    first = state
    state = tuple([s[:sizes[-1 if is_reversed else 0]] for s in state])
    for n in reversed(order) if is_reversed else order:
        now, size = state[0].size(0), sizes[n]
        if size < now:
            ended.append(tuple([s[size:] for s in state]))
            state = tuple([s[:size] for s in state])
        elif size > now:
            state = tuple([cat([s, f[now:size]])
                           for s, f in zip(state, first, strict=True)])
        state = step(parts[n], state, weights)
        outputs[n] = state[0]
    for rest in reversed(ended):
        state = tuple([cat([s, r]) for s, r in zip(state, rest, strict=True)])
    return cat(outputs), state
