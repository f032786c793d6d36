"""Every module of PyTorch's catalogue with one option at another value, in both libraries.

Its text, its state and what it gives must be the same; a value that makes no sense must be refused
alike, when it is built or when it is called.
"""

from __future__ import annotations

import inspect
import itertools
import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

import retrograd as rg
from parity.harness import same_message
from parity.test_module_db import MODULES, calls, tensors, translated

DIFFERENT = {
    *((f"{lazy}Conv{n}d", "padding", "sames") for lazy in ("", "Lazy") for n in (1, 2, 3)),
    *((f"{lazy}ConvTranspose{n}d", option, value) for lazy in ("", "Lazy")
      for n, option, value in ((1, "output_padding", 1), (3, "kernel_size", 0))),
    ("CrossEntropyLoss", "label_smoothing", -1.0),
    *(("MultiLabelSoftMarginLoss", "reduction", word) for word in ("means", "sums", "nones")),
    ("MultiheadAttention", "kdim", 1), ("MultiheadAttention", "vdim", 1),
}
"""What is refused in other words: PyTorch shows a set, which has no order, or names other sizes;
and a negative share of smoothing, which PyTorch takes for none."""


def others(value: Any) -> list[Any]:
    match value:
        case None:
            return [1]
        case bool():
            return [not value]
        case int():
            return [value + 1, -1, 0]
        case float():
            return [value + 0.5, -1.0]
        case str():
            return [value + "s"]
    return []


def variants(info: Any, call: Any) -> list[tuple[str, Any, tuple[Any, ...], dict[str, Any]]]:
    """An option, its other value, and the arguments with it."""
    args, options = call.constructor_input.args, call.constructor_input.kwargs
    _, *parameters = inspect.signature(info.module_cls.__init__).parameters.values()
    found = []
    for i, parameter in enumerate(parameters):
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD or parameter.name == "device":
            continue
        given = args[i] if i < len(args) else options.get(parameter.name, parameter.default)
        for other in others(given):
            changed = ((*args[:i], other, *args[i + 1:]), options) if i < len(args) else (
                args, {**options, parameter.name: other})
            found.append((parameter.name, other, *changed))
    return found


def outcome(lib: Any, name: str, args: Any, options: Any, given: Any) -> Any:
    """The text, the state and the results of a module, or who refuses what."""
    lib.manual_seed(0)
    shown: Any = None
    try:
        module = getattr(lib.nn, name)(*args, **options).to(lib.float64)
        shown = repr(module), {key: None if lib.nn.parameter.is_lazy(value) else tuple(value.shape)
                               for key, value in module.state_dict().items()}
        lib.manual_seed(1)
        return *shown, tensors(module(*given.args, **given.kwargs))
    except Exception as error:
        return shown, error


def compare(mine: Any, theirs: Any) -> None:
    *shown, found = mine
    *wanted, expected = theirs
    if isinstance(expected, Exception):
        assert isinstance(found, Exception), f"only PyTorch raised {expected!r}"
        assert isinstance(found, type(expected)), (found, expected)
        assert same_message(str(expected), str(found)), (found, expected)
    else:
        assert not isinstance(found, Exception), found
        for a, b in zip(found, expected, strict=True):
            # The weights are drawn in single precision.
            np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), 1e-5, 1e-6)
    assert shown == wanted


@pytest.mark.parametrize("name", MODULES)
def test_an_option_has_another_value(name: str) -> None:
    info, seen = MODULES[name], set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in calls(info, False, torch.float64)[:2]:
            given = call.forward_input
            own = type(given)(*translated(given.args), **translated(given.kwargs))
            for option, value, args, options in variants(info, call):
                key = name, option, value
                if key in DIFFERENT or repr(key) in seen:
                    continue
                seen.add(repr(key))
                try:
                    compare(outcome(rg, name, translated(args), translated(options), own),
                            outcome(torch, name, args, options, given))
                except AssertionError as error:
                    raise AssertionError(f"{option}={value!r}: {error}") from None


def refused(make: Any) -> str:
    """What is made, or why it is not."""
    try:
        return str(make())
    except Exception as error:
        return repr(error)


@pytest.mark.parametrize(("option", "values"), [
    ("chunking_method", [None, "auto", "other", "aspect_ratio", *(f"aspect_ratio:{n}" for n in
                                                                  ("", "0", "2", "x", "-1"))]),
    ("acc_policy", ["auto", "accurate", "balanced", "compact", "other", None]),
    ("batch_chunk_size", [None, 1, 0, -1, 2.5, "1"])])
def test_options_of_a_chunked_loss(option: str, values: list[Any]) -> None:
    for value in values:
        ours, theirs = (refused(partial(lib.nn.LinearCrossEntropyOptions, **{option: value}))
                        for lib in (rg, torch))
        assert ours == theirs, value


def chunked(lib: Any, rows: int, features: int, classes: int, factor: str) -> str:
    """The error that names the size of chunks, which another one does not fit."""
    options = lib.nn.LinearCrossEntropyOptions(batch_chunk_size=99,
                                               chunking_method="aspect_ratio" + factor)
    return refused(lambda: lib.nn.functional.linear_cross_entropy(
        lib.ones(rows, features), lib.ones(classes, features), lib.zeros(rows, dtype=lib.int64),
        options=options))


def test_chunks_of_a_loss_are_as_large() -> None:
    for case in itertools.product((1, 2, 7, 8, 9), (1, 3), (1, 3, 4, 10), ("", ":1", ":2", ":5")):
        ours, theirs = (chunked(lib, *case) for lib in (rg, torch))
        assert ours == theirs and "99 vs" in ours, case


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("options", [
    {}, {"reduction": "sum"}, {"reduction": "none"}, {"weight": True}, {"ignore_index": 1},
    {"weight": True, "ignore_index": 2, "reduction": "mean"}], ids=str)
def test_a_chunked_loss_is_that_of_the_layer(size: int, options: dict[str, Any]) -> None:
    found = []
    for lib in (rg, torch):
        x, w, b = (lib.linspace(-1, end, n, dtype=lib.float64).sin().reshape(shape)
                   .requires_grad_() for end, n, shape in
                   ((2, 10, (5, 2)), (3, 6, (3, 2)), (4, 3, (3,))))
        given = dict(options)
        if given.pop("weight", False):
            given["weight"] = lib.tensor([0.5, 2.0, 1.5], dtype=lib.float64)
        loss = lib.nn.functional.linear_cross_entropy(
            x, w, lib.tensor([0, 1, 2, 1, 0]), linear_bias=b, **given,
            options=lib.nn.LinearCrossEntropyOptions(batch_chunk_size=size, chunking_method=None))
        found.append([loss, *lib.autograd.grad(loss.square().sum(), [x, w, b])])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-12)
