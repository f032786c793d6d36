"""Attention whose scores are not kept, beside PyTorch: values, gradients and layouts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from retrograd.backend.numpy import native

pytestmark = pytest.mark.skipif(native.package is None, reason="without kernels, scores are kept")

LAYOUTS = {"heads first": lambda t: t.permute(0, 2, 1, 3).contiguous(),
           "tokens first": lambda t: t.transpose(1, 2),
           "three dimensions": lambda t: t[0].transpose(0, 1),
           "as they are": lambda t: t}


def run(lib: Any, layout: str, values: list[Any], given: dict[str, Any]) -> list[Any]:
    leaves = [lib.tensor(value, requires_grad=True) for value in values]
    heads = [LAYOUTS[layout](leaf) for leaf in leaves]
    found = lib.nn.functional.scaled_dot_product_attention(*heads, **given)
    assert layout == "three dimensions" or "FlashAttention" in found.grad_fn.name()
    (found * found).sum().backward()
    return [found.stride(), *[t.detach().numpy() for t in (found, *[leaf.grad for leaf in leaves])]]


@pytest.mark.parametrize("shape", [(2, 2, 8, 8), (1, 3, 1, 5), (2, 1, 40, 3), (1, 1, 17, 33)])
@pytest.mark.parametrize("is_causal", [False, True])
def test_short_sequences_of_heads(shape: tuple[int, ...], is_causal: bool) -> None:
    random = np.random.default_rng(0)
    values = [random.standard_normal(shape) for _ in range(3)]
    found, expected = [run(lib, "as they are", values, {"is_causal": is_causal})
                       for lib in (retrograd, torch)]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("layout", list(LAYOUTS)[:3])
@pytest.mark.parametrize("kind", ["all", "causal", "mask", "added"])
def test_as_in_pytorch(layout: str, kind: str) -> None:
    random = np.random.default_rng(0)
    values = [random.standard_normal((2, 70, 3, 16)) for _ in range(3)]
    mask = random.standard_normal((70, 70))
    results = []
    for lib in (torch, retrograd):
        given = {"all": {}, "causal": {"is_causal": True},
                 "mask": {"attn_mask": lib.tensor(mask > 0)},
                 "added": {"attn_mask": lib.tensor(mask)}}[kind]
        results.append(run(lib, layout, values, given))
    (strides, *expected), (found_strides, *found) = results
    assert found_strides == strides
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)
