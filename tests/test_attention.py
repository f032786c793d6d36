"""Attention whose scores are computed once more in the backward pass, and not kept."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd as torch
from retrograd.nn.functional import scaled_dot_product_attention as attention
from retrograd.ops.nn import attention as subject

NODE = "ScaledDotProductFlashAttentionForCpuBackward0"


@pytest.fixture(autouse=True)
def _keeps_no_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SCORES_KEPT", "SCORES_OF_HEADS_KEPT"):
        monkeypatch.setattr(subject.attention_kernels, name, -1)


def heads(*lead: int, dtype: Any = torch.float64) -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [torch.randn(*lead, *shape, dtype=dtype, requires_grad=True)
            for shape in ((3, 4), (5, 4), (5, 2))]


def kept(query: Any, key: Any, value: Any, mask: Any = None, causal: bool = False) -> Any:
    """The same, written out: its scores are part of the graph."""
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if causal:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool \
            else scores + mask
    return scores.softmax(-1) @ value


MASKS = [{}, {"is_causal": True},
         {"attn_mask": torch.tensor([[True, False, True, True, False]] * 3)},
         {"attn_mask": torch.linspace(-1, 1, 15, dtype=torch.float64).reshape(3, 5)}]


def written_out(given: dict[str, Any]) -> Any:
    return lambda *qkv: kept(*qkv, given.get("attn_mask"), given.get("is_causal", False))


@pytest.mark.parametrize("given", MASKS)
def test_values_and_derivatives_of_every_order(given: dict[str, Any]) -> None:
    query, key, value = heads(2)
    function = lambda *qkv: attention(*qkv, **given)
    assert function(query, key, value).grad_fn.name() == NODE
    torch.testing.assert_close(function(query, key, value), written_out(given)(query, key, value))
    assert torch.autograd.gradcheck(function, (query, key, value), check_batched_grad=True)
    assert torch.autograd.gradgradcheck(function, (query, key, value))
    third = [torch.autograd.functional.hessian(
        lambda q, f=f: torch.autograd.grad((f(q, key, value) ** 2).sum(), key,
                                           create_graph=True)[0].square().sum(), query)
             for f in (function, written_out(given))]
    torch.testing.assert_close(*third)


def test_a_query_that_may_look_nowhere_finds_nothing_and_changes_nothing() -> None:
    query, key, value = heads()
    mask = torch.tensor([[True] * 5, [False] * 5, [True] * 5])
    found = attention(query, key, value, mask)
    assert (found[1] == 0).all()
    found.sum().backward()
    assert (query.grad[1] == 0).all() and key.grad.isfinite().all()


@pytest.mark.parametrize("wanted", [(0,), (1,), (2,), (0, 2), (1, 2)])
def test_some_gradients_alone(wanted: tuple[int, ...]) -> None:
    tensors = [t.detach().requires_grad_(i in wanted) for i, t in enumerate(heads(2))]
    asked = [tensors[i] for i in wanted]
    for found, expected in zip(torch.autograd.grad(attention(*tensors).square().sum(), asked),
                               torch.autograd.grad(kept(*tensors).square().sum(), asked)):
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves_are_rounded_once(dtype: Any) -> None:
    query, key, value = heads(2, dtype=dtype)
    found = attention(query, key, value)
    assert found.dtype == dtype
    exact = attention(query.double(), key.double(), value.double())
    assert (found - exact).abs().max() <= torch.finfo(dtype).eps * exact.abs().max()
    found.sum().backward()
    assert query.grad.dtype == dtype


def test_in_transforms() -> None:
    query, key, value = (t.detach() for t in heads(2))
    expected = kept(query, key, value)
    torch.testing.assert_close(torch.vmap(attention)(query, key, value), expected)
    loss = lambda q: attention(q, key, value).square().sum()
    torch.testing.assert_close(
        torch.func.jvp(loss, (query,), (query,))[1],
        (torch.func.grad(loss)(query) * query).sum())
    torch.testing.assert_close(
        torch.func.jacrev(lambda q: attention(q, key, value))(query),
        torch.func.jacrev(lambda q: kept(q, key, value))(query))


def test_any_layout() -> None:
    x = torch.randn(2, 6, 3 * 2 * 4, dtype=torch.float64, requires_grad=True)
    parts = [t.reshape(2, 6, 2, 4).transpose(1, 2) for t in x.split(8, -1)]
    for function in (attention, kept):
        x.grad = None
        (function(*parts) ** 2).sum().backward(retain_graph=True)
        if function is attention:
            found = x.grad
    torch.testing.assert_close(found, x.grad)
    key = torch.ones(1, 4, dtype=torch.float64).expand(6, 4)
    torch.testing.assert_close(attention(parts[0], *[key.expand(2, 2, 6, 4)] * 2),
                               torch.ones(2, 2, 6, 4, dtype=torch.float64))
