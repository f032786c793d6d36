"""Recurrent layers: all steps in one node give what the steps give one by one, in every order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd import nn
from retrograd.nn.modules import recurrence
from retrograd.nn.utils.rnn import pack_padded_sequence

LAYERS = [(nn.LSTM, {}), (nn.GRU, {}), (nn.RNN, {}), (nn.RNN, {"nonlinearity": "relu"})]
layers = pytest.mark.parametrize(("layer", "options"), LAYERS)


def values(found: Any) -> list[Any]:
    """The tensors of a layer's result."""
    output, last = found
    output = output.data if isinstance(output, nn.utils.rnn.PackedSequence) else output
    return [output, *(last if isinstance(last, tuple) else (last,))]


def made(layer: Any, options: Any, **more: Any) -> tuple[Any, Any, Any]:
    torch.manual_seed(3)
    model = layer(3, 4, dtype=more.pop("dtype", torch.float64), **options, **more)
    kind = model.weight_hh_l0.dtype
    x = torch.randn(5, 2, 3, dtype=kind, requires_grad=True)
    states = [torch.randn(model.num_layers * (1 + model.bidirectional), 2, 4, dtype=kind,
                          requires_grad=True) for _ in range(1 + (layer is nn.LSTM))]
    return model, x, states


def results(model: Any, input: Any, states: Any, leaves: Any) -> list[Any]:
    found = values(model(input, tuple(states) if len(states) > 1 else states[0]))
    loss = sum((y * torch.arange(y.numel(), dtype=y.dtype).reshape(y.shape).sin()).sum()
               for y in found)
    return [*found, *torch.autograd.grad(loss, leaves)]


@layers
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("more", [{"bidirectional": True, "num_layers": 2}, {"bias": False},
                                  {"batch_first": True}])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_all_steps_at_once_are_the_steps_one_by_one(
        layer: Any, options: Any, packed: bool, more: Any, dtype: Any,
        monkeypatch: pytest.MonkeyPatch) -> None:
    model, x, states = made(layer, options, **more, dtype=dtype)
    leaves = [x, *states, *model.parameters()]

    def run() -> list[Any]:
        input = x.transpose(0, 1) if model.batch_first else x
        if packed:
            input = pack_padded_sequence(input, [3, 5], model.batch_first, enforce_sorted=False)
        return results(model, input, states, leaves)

    found = run()
    monkeypatch.setattr(recurrence, "_fit_kernels", lambda *given: False)
    bound = 1e-12 if dtype is torch.float64 else 1e-5
    for one, other in zip(found, run(), strict=True):
        assert torch.allclose(one, other, rtol=bound, atol=bound)


@layers
def test_derivatives_of_every_order_and_mode(layer: Any, options: Any) -> None:
    model, _, _ = made(layer, options, bidirectional=layer is nn.GRU)
    names = [name for name, _ in model.named_parameters()]

    def run(x: Any, *weights: Any) -> tuple[Any, ...]:
        given = dict(zip(names, weights, strict=True))
        return tuple(values(torch.func.functional_call(model, given, (x,))))

    x = torch.randn(2, 2, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(run, (x, *model.parameters()), check_forward_ad=True,
                                    check_batched_grad=True)
    if options:  # second derivatives of ReLU are zero but at the kink
        return
    assert torch.autograd.gradgradcheck(run, (x, *model.parameters()))
    rows = torch.vmap(lambda row: run(row.unsqueeze(1), *model.parameters())[0])(
        x.detach().transpose(0, 1))
    assert torch.allclose(rows.squeeze(2).transpose(0, 1), run(x, *model.parameters())[0])


def test_a_state_that_hangs_on_the_weights_is_differentiated_once() -> None:
    # The recorded backward pass runs the steps again: on what they were given, not on its history.
    model, x, _ = made(nn.GRU, {})
    weight = model.weight_hh_l0

    def loss() -> Any:
        return model(x, weight[:4].sum().expand(1, 2, 4))[0].square().sum()

    plain = torch.autograd.grad(loss(), weight)[0]
    recorded = torch.autograd.grad(loss(), weight, create_graph=True)[0]
    assert torch.allclose(plain, recorded)


def test_only_what_is_used_and_wanted() -> None:
    model, x, _ = made(nn.LSTM, {})
    model.weight_hh_l0.requires_grad_(False)
    _, (hidden, _) = model(x.detach())
    hidden.sum().backward()
    assert model.weight_hh_l0.grad is None and x.grad is None
    found = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
    assert set(found) == {"weight_ih_l0", "bias_ih_l0", "bias_hh_l0"}
    assert not np.shares_memory(found["bias_ih_l0"].numpy(), found["bias_hh_l0"].numpy())
    assert torch.equal(found["bias_ih_l0"], found["bias_hh_l0"])


def test_what_was_saved_is_freed_and_watched() -> None:
    model, x, _ = made(nn.GRU, {})
    output, _ = model(x)
    output.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        output.sum().backward()
    output, _ = model(x)
    with torch.no_grad():
        model.weight_hh_l0.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        output.sum().backward()
    seen = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append(t.shape) or t,
                                                  lambda t: t):
        output, _ = model(x)
    output.sum().backward()
    assert torch.Size([10, 12]) in seen  # the gates


def test_modes_that_watch_or_cast_see_the_steps() -> None:
    model, x, _ = made(nn.LSTM, {}, dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        assert model(x)[0].dtype == torch.float32
    with torch.inference_mode():
        assert model(x)[0].is_inference()
    with np.errstate(all="raise"):
        model(x * 1e4)[0].sum().backward()
    model.bfloat16()
    assert model(x.bfloat16())[0].dtype == torch.bfloat16
    assert nn.LSTM(3, 4, proj_size=2)(x)[0].shape == (5, 2, 2)
