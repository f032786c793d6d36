"""Recurrent layers and cells: plain, LSTM and GRU."""

from __future__ import annotations

import math
from typing import Any

from ...base.warning import warn
from ...core.tensor import Tensor
from ...ops.shapes.joining import cat, stack
from .. import functional as F, init
from ..parameter import Parameter, add_parameters, empty_parameter
from ..utils.rnn import PackedSequence
from ._options import shown_if
from .module import Module
from .recurrence import STEPS, State, Weights, along

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]

_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}
"""How many gates each kind has; their weights lie one below the other."""


# ---------------------------------------------------------------- layers


class RNNBase(Module):
    """What recurrent layers share: weights by layer and direction, and the way through them."""

    def __init__(self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1,
                 bias: bool = True, batch_first: bool = False, dropout: float = 0.0,
                 bidirectional: bool = False, proj_size: int = 0, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__()
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout = float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._check_arguments(dropout)
        self._flat_weights_names: list[str] = []
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for suffix in self._suffixes(layer):
                self._add_weights(layer, suffix, device, dtype)
        self.reset_parameters()

    def _check_arguments(self, dropout: Any) -> None:
        if isinstance(dropout, bool) or not isinstance(dropout, (int, float)) \
                or not 0 <= dropout <= 1:
            raise ValueError("dropout should be a number in range [0, 1] representing the "
                             "probability of an element being zeroed")
        if dropout > 0 and self.num_layers == 1:
            warn("dropout option adds dropout after all but last recurrent layer, so non-zero "
                 f"dropout expects num_layers greater than 1, but got dropout={dropout} and "
                 f"num_layers={self.num_layers}")
        for name in ("input_size", "hidden_size"):
            value = getattr(self, name)
            if not isinstance(value, int):
                raise TypeError(f"{name} should be of type int, got: {type(value).__name__}")
        for name in ("input_size", "hidden_size", "num_layers"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable "
                             "projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.mode not in _GATES:
            raise ValueError(f"Unrecognized RNN mode: {self.mode}")

    def _suffixes(self, layer: int) -> list[str]:
        """What the weights of a layer are called, once for each direction."""
        return [f"_l{layer}", f"_l{layer}_reverse"][:1 + self.bidirectional]

    def _add_weights(self, layer: int, suffix: str, device: Any, dtype: Any) -> None:
        rows = _GATES[self.mode] * self.hidden_size
        state = self.proj_size or self.hidden_size
        width = self.input_size if layer == 0 else state * (1 + self.bidirectional)
        shapes: dict[str, Any] = {"weight_ih": (rows, width), "weight_hh": (rows, state)}
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        names = [name + suffix for name in shapes]
        for name, shape in zip(names, shapes.values(), strict=True):
            setattr(self, name, empty_parameter(shape, device, dtype))
        self._all_weights.append(names)
        self._flat_weights_names += names

    @property
    def _flat_weights(self) -> list[Any]:
        return [getattr(self, name, None) for name in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The weights of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Nothing: weights need not lie together here."""

    def reset_parameters(self) -> None:
        """Draw every weight uniformly from ±1/√hidden_size."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    # ------------------------------------------------------------ checks

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Raise unless ``input`` has the dtype, rank and width of the weights."""
        weight = self._flat_weights[0]
        if input.dtype != weight.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                f"Convert input: input.to({weight.dtype}), or convert model: "
                f"model.to({input.dtype})")
        expected = 2 if batch_sizes is not None else 3
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError("input.size(-1) must be equal to input_size. Expected "
                               f"{self.input_size}, got {input.size(-1)}")

    def _check_state(self, state: State, batch: int) -> None:
        count = self.num_layers * (1 + self.bidirectional)
        widths = [self.proj_size or self.hidden_size, self.hidden_size]
        names = ["hidden[0]", "hidden[1]"] if len(state) > 1 else ["hidden"]
        for tensor, width, name in zip(state, widths, names, strict=False):
            if tuple(tensor.shape) != (count, batch, width):
                raise RuntimeError(f"Expected {name} size {(count, batch, width)}, got "
                                   f"{list(tensor.shape)}")

    # ------------------------------------------------------------ the way through

    def forward(self, input: Any, hx: Any = None) -> Any:
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got "
                             f"{input.dim()}D instead")
        is_batched = input.dim() == 3
        batch_dim = 0 if self.batch_first else 1
        if not is_batched:
            input = input.unsqueeze(batch_dim)
        state = self._state_of(hx, is_batched)
        self.check_input(input, None)
        batch = input.size(batch_dim)
        if state is None:
            state = self._zeros(input, batch)
        else:
            if not is_batched:
                state = tuple([s.unsqueeze(1) for s in state])
            self._check_state(state, batch)
        steps = input.transpose(0, 1) if self.batch_first else input
        output, state = self._run(steps, state, None)
        if self.batch_first:
            output = output.transpose(0, 1)
        if not is_batched:
            output = output.squeeze(batch_dim)
            state = tuple([s.squeeze(1) for s in state])
        return output, self._shown(state)

    def _forward_packed(self, packed: PackedSequence, hx: Any) -> Any:
        data, batch_sizes, sorted_indices, unsorted_indices = packed
        self.check_input(data, batch_sizes)
        sizes = batch_sizes.tolist()
        state = self._state_of(hx, True)
        if state is None:
            state = self._zeros(data, sizes[0])
        else:
            if sorted_indices is not None:
                state = tuple([s.index_select(1, sorted_indices) for s in state])
            self._check_state(state, sizes[0])
        output, state = self._run(data, state, sizes)
        if unsorted_indices is not None:
            state = tuple([s.index_select(1, unsorted_indices) for s in state])
        return (PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices),
                self._shown(state))

    def _state_of(self, hx: Any, is_batched: bool) -> State | None:
        """The given state as a tuple, of as many tensors as this kind has."""
        if hx is None:
            return None
        rank = 3 if is_batched else 2
        word = "batched" if is_batched else "unbatched"
        if hx.dim() != rank:
            raise RuntimeError(f"For {word} {rank}-D input, hx should also be {rank}-D but got "
                               f"{hx.dim()}-D tensor")
        return (hx,)

    def _shown(self, state: State) -> Any:
        return state[0]

    def _zeros(self, like: Tensor, batch: int) -> State:
        count = self.num_layers * (1 + self.bidirectional)
        return (like.new_zeros((count, batch, self.proj_size or self.hidden_size)),)

    def _run(self, input: Tensor, state: State, sizes: list[int] | None) -> tuple[Tensor, State]:
        """Every layer over all steps; ``sizes`` says how many samples each step of a pack has."""
        last: list[State] = []
        for layer in range(self.num_layers):
            outputs = []
            for direction in range(1 + self.bidirectional):
                place = layer * (1 + self.bidirectional) + direction
                weights = [getattr(self, name) for name in self._all_weights[place]]
                start = tuple([s[place] for s in state])
                output, end = along(self.mode, input, start, weights, sizes, bool(direction))
                outputs.append(output)
                last.append(end)
            input = outputs[0] if len(outputs) == 1 else cat(outputs, -1)
            if self.dropout and layer < self.num_layers - 1:
                input = F.dropout(input, self.dropout, self.training)
        return input, tuple([stack(list(parts)) for parts in zip(*last, strict=True)])

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + shown_if(
            self, proj_size=self.proj_size, num_layers=self.num_layers != 1,
            bias=self.bias is not True, batch_first=self.batch_first is not False,
            dropout=self.dropout, bidirectional=self.bidirectional is not False)


class RNN(RNNBase):
    """A recurrent layer: the state is tanh, or ReLU, of a linear function of input and state."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1,
                 nonlinearity: str = "tanh", bias: bool = True, batch_first: bool = False,
                 dropout: float = 0.0, bidirectional: bool = False, device: Any = None,
                 dtype: Any = None, **options: Any) -> None:
        _refuse_projection(options)
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or "
                             "'relu'.")
        self.nonlinearity = nonlinearity
        super().__init__(f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, bias,
                         batch_first, dropout, bidirectional, 0, device, dtype)


class GRU(RNNBase):
    """A recurrent layer with gates that update and reset the state."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
                 device: Any = None, dtype: Any = None, **options: Any) -> None:
        _refuse_projection(options)
        super().__init__("GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout,
                         bidirectional, 0, device, dtype)


def _refuse_projection(options: dict[str, Any]) -> None:
    if "proj_size" in options:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
    if options:
        raise TypeError(f"RNNBase.__init__() got an unexpected keyword argument "
                        f"'{next(iter(options))}'")


class LSTM(RNNBase):
    """A recurrent layer with a cell that gates fill, keep and show."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
                 proj_size: int = 0, device: Any = None, dtype: Any = None) -> None:
        super().__init__("LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout,
                         bidirectional, proj_size, device, dtype)

    def _state_of(self, hx: Any, is_batched: bool) -> State | None:
        if hx is None:
            return None
        rank = 3 if is_batched else 2
        word = "batched" if is_batched else "unbatched"
        ranks = hx[0].dim(), hx[1].dim()
        if ranks != (rank, rank):
            raise RuntimeError(f"For {word} {rank}-D input, hx and cx should also be {rank}-D but "
                               f"got ({ranks[0]}-D, {ranks[1]}-D) tensors")
        return tuple(hx)

    def _shown(self, state: State) -> Any:
        return state

    def _zeros(self, like: Tensor, batch: int) -> State:
        count = self.num_layers * (1 + self.bidirectional)
        return (*super()._zeros(like, batch), like.new_zeros((count, batch, self.hidden_size)))


# ---------------------------------------------------------------- cells


class RNNCellBase(Module):
    """One step of a recurrent layer, with its weights."""

    bias_ih: Tensor | None
    bias_hh: Tensor | None

    def __init__(self, input_size: int, hidden_size: int, bias: bool, num_chunks: int,
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        add_parameters(self, {"weight_ih": (rows, input_size), "weight_hh": (rows, hidden_size),
                              "bias_ih": rows, "bias_hh": rows}, device, dtype, bias_ih=bias,
                       bias_hh=bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw every weight uniformly from ±1/√hidden_size."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + shown_if(
            self, bias=self.bias is not True,
            nonlinearity=getattr(self, "nonlinearity", "tanh") != "tanh")

    def _step(self, mode: str, input: Tensor, state: State | None, count: int = 1) -> State:
        """The next state, of ``count`` tensors, with the checks that a step begins with."""
        name = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for number, part in enumerate(state or ()):
            if part.dim() not in (1, 2):
                which = f"hx[{number}]" if count > 1 else "hidden"
                raise ValueError(f"{name}: Expected {which} to be 1D or 2D, got {part.dim()}D "
                                 "instead")
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
            state = None if state is None else tuple([s.unsqueeze(0) for s in state])
        if state is None:
            state = (input.new_zeros((input.size(0), self.hidden_size)),) * count
        self._check(input, state)
        weights: Weights = [self.weight_ih, self.weight_hh]
        if self.bias_ih is not None:
            weights += [self.bias_ih, self.bias_hh]  # type: ignore[list-item]
        state = STEPS[mode](F.linear(input, self.weight_ih, self.bias_ih), state, weights)
        return state if is_batched else tuple([s.squeeze(0) for s in state])

    def _check(self, input: Tensor, state: State) -> None:
        if input.size(1) != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {input.size(1)} expected "
                               f"{self.input_size}")
        for number, part in enumerate(state):
            if part.size(0) != input.size(0):
                raise RuntimeError(f"Input batch size {input.size(0)} doesn't match "
                                   f"hidden{number} batch size {part.size(0)}")
            if part.size(-1) != self.hidden_size:
                raise RuntimeError(f"hidden{number} has inconsistent hidden_size: got "
                                   f"{part.size(-1)}, expected {self.hidden_size}")


class RNNCell(RNNCellBase):
    """One step of :class:`RNN`."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True,
                 nonlinearity: str = "tanh", device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        state = None if hx is None else (hx,)
        return self._step(f"RNN_{self.nonlinearity.upper()}", input, state)[0]


class LSTMCell(RNNCellBase):
    """One step of :class:`LSTM`."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> State:
        return self._step("LSTM", input, hx, count=2)


class GRUCell(RNNCellBase):
    """One step of :class:`GRU`."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step("GRU", input, None if hx is None else (hx,))[0]
