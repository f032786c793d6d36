"""The modules that PyTorch's catalogue leaves out, as they are and with each option changed."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch

import retrograd as rg
from parity.test_module_db import MODULES, tensors, translated
from parity.test_module_options import compare, outcome, variants

numbers = torch.Generator().manual_seed(0)


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=numbers)


def counted(*shape: int) -> torch.Tensor:
    """Distinct numbers, so that no two are equally large."""
    return torch.randperm(int(np.prod(shape)), generator=numbers).reshape(shape).double()


@dataclass
class Given:
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)


@dataclass
class Call:
    """How a module is built and what it is called with."""

    constructor_input: Given
    forward_input: Given


@dataclass
class Info:
    name: str

    @property
    def module_cls(self) -> type:
        return getattr(torch.nn, self.name)


def call(args: tuple[Any, ...], *inputs: Any, **options: Any) -> Call:
    return Call(Given(args, options), Given(inputs))


def pooled(dims: int) -> tuple[torch.Tensor, torch.Tensor]:
    pool = getattr(torch.nn, f"MaxPool{dims}d")(2, return_indices=True)
    return pool(counted(1, 2, *[4] * dims))


def far(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a - b).abs().sum(-1)


x, image, volume = drawn(2, 4, 6), drawn(2, 4, 6, 6), drawn(2, 4, 2, 2, 3)
targets = torch.tensor([0, 4, 8, 9])
triple = drawn(3, 5), drawn(3, 5), drawn(3, 5)
OTHERS: dict[str, list[Call]] = {
    "AdaptiveLogSoftmaxWithLoss": [
        call((16, 10, [3, 7]), drawn(4, 16), targets), call((16, 10, [3]), drawn(16), targets[1]),
        call((16, 10, [3, 5, 9], 1.5, True), drawn(4, 16), targets),
        *(call((16, 10, [3, 7]), *given) for given in (
            (drawn(4, 16), targets[None]), (drawn(3, 16), targets), (drawn(16), targets[:1]),
            (drawn(1, 4, 16), targets[:1]), (drawn(4, 16), targets + 1),
            (drawn(4, 16), targets - 1))),
        *(call((16, 10, cutoffs), drawn(4, 16), targets) for cutoffs in (
            [], [0, 3], [3, 3], [7, 3], [3, 10], [9], [1], [3, 5.5]))],
    **{f"{kind}Dropout": [call((0.4,), image), call((), x, inplace=True)]
       for kind in ("", "Alpha", "FeatureAlpha")},
    **{f"Dropout{n}d": [call((0.4,), given), call((0.0,), given), call((), drawn(2))]
       for n, given in ((1, x), (2, image), (3, volume))},
    "ChannelShuffle": [call((2,), image), call((3,), image), call((2,), drawn(4))],
    "CosineSimilarity": [call((), image, drawn(2, 4, 6, 6)), call((-1, 2.0), x, x[:1])],
    "PairwiseDistance": [call((), *triple[:2]), call((1.0, 0.5, True), *triple[:2]),
                         call((float("inf"),), drawn(5), drawn(5))],
    "EmbeddingBag": [
        call((10, 3), targets, torch.tensor([0, 4])), call((10, 3), targets[None]),
        call((10, 3), targets[None], None, drawn(1, 4), mode="sum"),
        call((10, 3, 1.0, 2.0), targets, torch.tensor([0, 1, 4]), mode="max",
             include_last_offset=True, padding_idx=4),
        call((10, 3), targets)],
    "Flatten": [call((), image), call((0, -2), image), call((2, 1), image)],
    "Unflatten": [call((1, (2, 2)), image), call((-1, (3, -1)), image), call((1, (3, 2)), image),
                  call((1, 4), image), call((1, (2.0, 2)), image)],
    "Fold": [call(((4, 5), (2, 2)), drawn(2, 8, 12)), call((5, 3, 1, 1, 2), drawn(9, 9)),
             call(((4, 5), (2, 2)), drawn(2, 8, 11))],
    "Unfold": [call((2,), image), call(((2, 3), 1, 1, 2), image), call((9,), image)],
    "Hardsigmoid": [call((), x * 4), call((True,), x * 4)],
    "Identity": [call((), x), call((3,), x, other=True)],
    **{f"MaxUnpool{n}d": [call((2,), *pooled(n)), call((2, 2, 0), *pooled(n)),
                          call((2,), pooled(n)[0], pooled(n)[1] + 99)] for n in (1, 2, 3)},
    "NLLLoss2d": [call((), drawn(2, 3, 2, 2), torch.ones(2, 2, 2, dtype=torch.int64))],
    "PixelShuffle": [call((2,), image), call((3,), image), call((2,), drawn(4, 3))],
    "PixelUnshuffle": [call((2,), image), call((3,), image), call((4,), image)],
    "RReLU": [call((), x), call((0.25, 0.5, True), x), call((0.5, 0.25), x)],
    "TripletMarginLoss": [call((), *triple), call((0.5, 1.0, 0.25, True), *triple),
                          call((), triple[0], triple[1], drawn(3, 4))],
    "TripletMarginWithDistanceLoss": [
        call((), *triple), call((), *triple, distance_function=far, margin=4.0, swap=True)],
    "Upsample": [call((), image, scale_factor=2), call(((3, 5),), image, mode="bilinear"),
                 call((), x, scale_factor=1.5, mode="linear", align_corners=True,
                      recompute_scale_factor=True),
                 call((), image), call((3,), image, mode="linear")],
    "UpsamplingBilinear2d": [call((), image, scale_factor=2), call((3,), image)],
    "UpsamplingNearest2d": [call((), image, scale_factor=2), call((3,), image), call((3,), x)],
    **{f"Lazy{kind}Norm{n}d": [call((), given), call((1e-3, 0.5), given, affine=True),
                               call((), drawn(3))]
       for kind in ("Batch", "Instance") for n, given in ((1, x), (2, image), (3, volume))},
    "SyncBatchNorm": [call((4,), image), call((4, 1e-3, 0.5, False), x), call((4,), drawn(4))],
    "TransformerDecoder": [call((torch.nn.TransformerDecoderLayer(4, 2, 8, 0.0), 2), drawn(3, 2, 4),
                                drawn(5, 2, 4), norm=torch.nn.LayerNorm(4))],
    "LazyLinear": [call((3,), x), call((3, False), x)],
}
ELSEWHERE = {"Container", "CrossMapLRN2d", "Module", "ModuleDict", "ModuleList", "ParameterDict",
             "ParameterList", "RNNBase", "RNNCellBase", "Sequential"}
"""Containers and base classes, and what other files compare."""
DIFFERENT = {("Upsample", "align_corners", 1)}  # a flag is judged before what it is for


def test_every_module_is_compared() -> None:
    modules = {name for name, found in vars(rg.nn).items()
               if isinstance(found, type) and issubclass(found, rg.nn.Module)}
    assert modules - MODULES.keys() - ELSEWHERE == OTHERS.keys()


def gradients(lib: Any, name: str, made: Call, training: bool) -> list[Any]:
    """Those of all inputs and weights, which are drawn twice."""
    lib.manual_seed(0)
    built = copy.deepcopy(made.constructor_input)  # it may hold modules, which keep gradients
    module = getattr(lib.nn, name)(*built.args, **built.kwargs)
    inputs = [t.detach().requires_grad_() if isinstance(t, lib.Tensor) and t.is_floating_point()
              else t for t in made.forward_input.args]
    module = module.to(lib.float64).train(training)
    for seed in (1, 2):  # lazy ones have no weights before
        lib.manual_seed(seed)
        result = tensors(module(
            *[t * 1 if getattr(t, "requires_grad", False) else t for t in inputs],
            **made.forward_input.kwargs))[0]
        if hasattr(module, "reset_parameters") and seed == 1:
            module.reset_parameters()
    leaves = [t for t in (*inputs, *module.parameters()) if getattr(t, "requires_grad", False)]
    (result * result).sum().backward()
    return [result, *leaves, *(leaf.grad for leaf in leaves if leaf.grad is not None)]


@pytest.mark.parametrize("name", OTHERS)
def test_as_it_is_and_with_an_option_changed(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, made in enumerate(OTHERS[name]):
            built, given = made.constructor_input, made.forward_input
            own = Given(translated(given.args), given.kwargs)
            ways = [("", None, built.args, built.kwargs)]
            for option, value, args, options in ways + variants(Info(name), made) * (number < 2):
                if (name, option, value) in DIFFERENT:
                    continue
                try:
                    compare(outcome(rg, name, translated(args), translated(options), own),
                            outcome(torch, name, args, options, given))
                except AssertionError as error:
                    raise AssertionError(f"call {number}, {option}={value!r}: {error}") from None


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("name", sorted(OTHERS.keys() - {"NLLLoss2d"}))
def test_gradients(name: str, training: bool) -> None:
    made = OTHERS[name][0]
    own = Call(*(Given(translated(each.args), translated(each.kwargs))
                 for each in (made.constructor_input, made.forward_input)))
    for a, b in zip(gradients(rg, name, own, training), gradients(torch, name, made, training),
                    strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), 1e-5, 1e-6)


def converted(lib: Any) -> list[Any]:
    """A net, each batch normalisation of which is exchanged for one over several processes."""
    nn = lib.nn
    net = nn.Sequential(nn.Conv2d(2, 3, 1), nn.BatchNorm2d(3), nn.Sequential(
        nn.BatchNorm1d(3, 1e-3, None, False), nn.BatchNorm3d(2, track_running_stats=False).eval()))
    made = nn.SyncBatchNorm.convert_sync_batchnorm(net, "group")
    return [repr(made), [part.training for part in made.modules()], made[1].process_group,
            made[1].weight is net[1].weight, made[1].running_mean is net[1].running_mean,
            made is net, list(made.state_dict())]


def test_batch_normalisations_are_exchanged() -> None:
    assert converted(rg) == converted(torch)


def test_an_adaptive_softmax_predicts() -> None:
    for cutoffs in ([3, 7], [1], [2, 3, 9]):
        results = []
        for lib in (rg, torch):
            lib.manual_seed(0)
            module = lib.nn.AdaptiveLogSoftmaxWithLoss(16, 10, cutoffs, div_value=2.0).double()
            input = lib.tensor(drawn(40, 16).numpy() * 9 if not results else results[0][0])
            results.append([input.numpy(), module.log_prob(input).detach().numpy(),
                            module.predict(input).numpy(), module.predict(input[:1]).numpy()])
        for a, b in zip(*results):
            np.testing.assert_allclose(a, b, 1e-5, 1e-6)
