"""Attention by functions of places, beside PyTorch, which has no gradient of it on a CPU."""

from __future__ import annotations

import importlib
import math
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import retrograd

pytestmark = pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")


def flex_of(lib: Any) -> Any:
    return importlib.import_module(f"{lib.__name__}.nn.attention.flex_attention")


def inputs(lib: Any, dtype: str = "float64") -> list[Any]:
    random = np.random.default_rng(0)
    shapes = ((2, 4, 50, 8), (2, 2, 70, 8), (2, 2, 70, 6))
    return [lib.tensor(random.standard_normal(shape)).to(getattr(lib, dtype)) for shape in shapes]


def causal(b: Any, h: Any, i: Any, j: Any) -> Any:
    return i >= j


def near(b: Any, h: Any, i: Any, j: Any) -> Any:
    return (i - j).abs() <= 9


def by_head(b: Any, h: Any, i: Any, j: Any) -> Any:
    return (i + j) % (h + b + 2) > 0


def mask_of(flex: Any, name: str) -> Any:
    masks = {"causal": causal, "window": flex.and_masks(causal, near), "heads": by_head,
             "either": flex.or_masks(near, lambda b, h, i, j: j == 0),
             "nothing": lambda b, h, i, j: j < 0, "all": flex.noop_mask}
    sizes = (2, 4) if name == "heads" else (None, None)
    return flex.create_block_mask(masks[name], *sizes, 50, 70, device="cpu", BLOCK_SIZE=16)


MASKS = ("causal", "window", "heads", "either", "nothing", "all")


@pytest.mark.parametrize("name", MASKS)
def test_blocks_are_pytorchs(name: str) -> None:
    theirs, ours = (mask_of(flex_of(lib), name) for lib in (torch, retrograd))
    assert ours.shape == theirs.shape and ours.numel() == theirs.numel()
    assert ours.sparsity() == pytest.approx(theirs.sparsity())
    for part in ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices",
                 "q_num_blocks", "q_indices", "full_q_num_blocks", "full_q_indices"):
        found, expected = getattr(ours, part), getattr(theirs, part)
        assert found.tolist() == expected.tolist(), part
        assert str(found.dtype) == str(expected.dtype)
    assert ours.to_dense().tolist() == theirs.to_dense().tolist()
    assert ours[0].shape == theirs[0].shape and ours[:, -1].shape == theirs[:, -1].shape


@pytest.mark.parametrize("name", MASKS)
def test_what_a_mask_is_made_of(name: str) -> None:
    def plain(part: Any) -> Any:
        return part.tolist() if hasattr(part, "tolist") else \
            list(part) if isinstance(part, tuple) else part

    shown = []
    for lib in (torch, retrograd):
        mask = mask_of(flex_of(lib), name)
        moved = mask.to("cpu")
        shown.append([[plain(part) for part in made.as_tuple(*flat)][:-1]
                      for made in (mask, moved) for flat in ((), (True,), (False,))]
                     + [moved.mask_mod is mask.mask_mod, mask.as_tuple()[-1] is mask.mask_mod,
                        repr(mask)])
    assert shown[0] == shown[1]


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("asked", [{}, {"lse": True}])
def test_what_else_is_asked_for(name: str, asked: dict[str, bool]) -> None:
    found = []
    for lib in (torch, retrograd):
        flex = flex_of(lib)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out, aux = flex.flex_attention(*inputs(lib), block_mask=mask_of(flex, name),
                                           enable_gqa=True, return_aux=flex.AuxRequest(**asked))
        found.append([out, aux.lse, aux.max_scores])
    for theirs, ours in zip(*found, strict=True):
        assert (theirs is None) == (ours is None)
        if ours is not None:
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-10)


@pytest.mark.parametrize("name", MASKS)
def test_the_largest_scores(name: str) -> None:
    """PyTorch gives none on a CPU."""
    flex, (query, key, value) = flex_of(retrograd), inputs(retrograd)
    mask = mask_of(flex, name)
    scores = query @ key.repeat_interleave(2, 1).mT * 0.3
    scores = scores.masked_fill(~flex.create_mask(mask.mask_mod, *mask.shape), -math.inf)
    _, aux = flex.flex_attention(query, key, value, block_mask=mask, scale=0.3, enable_gqa=True,
                                 return_aux=flex.AuxRequest(max_scores=True))
    assert aux.lse is None
    np.testing.assert_allclose(aux.max_scores.numpy(), scores.amax(-1).numpy())


@pytest.mark.parametrize("name", [None, *MASKS])
@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_values_are_pytorchs(name: str | None, dtype: str) -> None:
    results = []
    for lib in (torch, retrograd):
        flex, slopes = flex_of(lib), lib.arange(1.0, 5) / 10

        def bias(score: Any, b: Any, h: Any, i: Any, j: Any, slopes: Any = slopes) -> Any:
            return score - slopes[h] * (i - j).abs() + b

        mask = None if name is None else mask_of(flex, name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out, lse = flex.flex_attention(*inputs(lib, dtype), bias, mask, scale=0.3,
                                           enable_gqa=True, return_lse=True)
        assert str(out.dtype) == f"torch.{dtype}"
        results.append([out.to(lib.float64).numpy(), lse.numpy()])
    for ours, theirs in zip(*reversed(results), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10 if dtype == "float64" else 2e-2,
                                   atol=0 if dtype == "float64" else 1e-2)


@pytest.mark.parametrize("name", MASKS)
def test_gradients_are_those_of_attention_with_a_mask(name: str) -> None:
    """Of the function that has a kernel of its own, with the same mask written out."""
    flex = flex_of(retrograd)
    mask, gradients = mask_of(flex, name), []
    written = flex.create_mask(mask.mask_mod, *mask.shape)
    for way in (lambda *qkv: flex.flex_attention(*qkv, block_mask=mask, enable_gqa=True),
                lambda *qkv: retrograd.nn.functional.scaled_dot_product_attention(
                    *qkv, attn_mask=written, enable_gqa=True)):
        leaves = [leaf.requires_grad_() for leaf in inputs(retrograd)]
        out = way(*leaves)
        gradients.append([out, *retrograd.autograd.grad(out.square().sum(), leaves)])
    for found, expected in zip(*gradients, strict=True):
        np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), atol=1e-12)


def test_what_a_function_reads_has_a_gradient() -> None:
    flex = flex_of(retrograd)
    slopes = retrograd.tensor([0.3, 0.1], dtype=retrograd.float64, requires_grad=True)
    query, key, value = (leaf[:1, :2, :4] for leaf in inputs(retrograd))

    def loss(slopes: Any) -> Any:
        return flex.flex_attention(query, key, value, lambda score, b, h, i, j: (
            score + slopes[h] * (i - j))).square().sum()

    assert retrograd.autograd.gradcheck(loss, (slopes,))
    assert retrograd.autograd.gradgradcheck(loss, (slopes,))


def test_refusals() -> None:
    for lib in (torch, retrograd):
        flex = flex_of(lib)
        query, key, value = inputs(lib)
        with pytest.raises(ValueError, match=r"got Hq=4 and Hkv=2. Try setting enable_gqa=True"):
            flex.flex_attention(query, key, value)
        with pytest.raises(NotImplementedError, match="query, key, and value must be 4D tensors"):
            flex.flex_attention(query[0], key, value, enable_gqa=True)
        with pytest.raises(ValueError, match=r"shape=\(1, 1, 50, 70\) but got q_len=49"):
            flex.flex_attention(query[:, :, :49], key, value, enable_gqa=True,
                                block_mask=mask_of(flex, "causal"))
    with pytest.raises(RuntimeError, match=r"must be a BlockMask, .* but got float"):
        flex.flex_attention(query, key, value, enable_gqa=True, block_mask=math.inf)


@pytest.mark.parametrize("dims", [2, 3, 4])
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("size", [None, 16, (8, 4)])
@pytest.mark.parametrize("lengths", [None, (20, 30)])
def test_masks_of_listed_blocks(dims: int, full: bool, size: Any, lengths: Any) -> None:
    shown = []
    for lib in (torch, retrograd):
        flex = flex_of(lib)
        counts = lib.tensor([1, 1, 0], dtype=lib.int32)
        blocks = lib.tensor([[1, 0], [0, 1], [1, 0]], dtype=lib.int32)
        lead = (2, 1)[4 - dims:]
        parts = [counts.expand(*lead, 3).contiguous(), blocks.expand(*lead, 3, 2).contiguous()]
        options = {} if size is None else {"BLOCK_SIZE": size}
        options |= {} if lengths is None else {"seq_lengths": lengths}
        if full:
            more = lib.tensor([1, 0, 2], dtype=lib.int32)
            options |= {"full_kv_num_blocks": more.expand(*lead, 3).contiguous(),
                        "full_kv_indices": parts[1].flip(-1).contiguous()}
        made = flex.BlockMask.from_kv_blocks(*parts, **options)
        shown.append([tuple(made.shape), made.numel(), made.sparsity(), made.to_dense().tolist(),
                      tuple(made.BLOCK_SIZE), made.mask_mod is flex.noop_mask,
                      *(None if part is None else part.tolist() for part in (
                          made.q_num_blocks, made.q_indices, made.full_q_num_blocks,
                          made.full_q_indices))])
    assert shown[0] == shown[1]


@pytest.mark.parametrize("join", ["and_masks", "or_masks"])
@pytest.mark.parametrize("given", [(causal, 3), (3, causal), (3,), (causal, near), ()])
def test_only_functions_are_joined(join: str, given: tuple[Any, ...]) -> None:
    said = []
    for lib in (torch, retrograd):
        try:
            joined = getattr(flex_of(lib), join)(*given)
            places = [lib.tensor(n) for n in (0, 0, 20, 3)]
            said.append(bool(joined(*places)))
        except RuntimeError as error:
            said.append(str(error))
    assert said[0] == said[1]


@pytest.mark.parametrize("dtypes", ["fff", "fdf", "ffd", "dff", "ddf", "dfd", "fdd"])
def test_keys_and_values_become_what_queries_are(dtypes: str) -> None:
    found = []
    for lib in (torch, retrograd):
        parts = [part.to(lib.float32 if kind == "f" else lib.float64)
                 for part, kind in zip(inputs(lib), dtypes, strict=True)]
        out = flex_of(lib).flex_attention(*parts, enable_gqa=True)
        assert str(out.dtype) == ("torch.float32" if dtypes[0] == "f" else "torch.float64")
        found.append(out.numpy())
    np.testing.assert_allclose(*found, rtol=1e-5, atol=1e-6)
