"""What a tensor says of its data must be true: generated code relies on it without looking."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.autograd.graph import Node
from retrograd.core.interned import ARRAYS_4
from tests.sweeps.cases import ENTRIES, cases, tensors


def is_true(tensor: Any) -> bool:
    form, data = tensor._form, tensor._data
    if form is None:
        return True
    kind = np.ndarray if form.shape else form.dtype.type
    return type(data) is kind and data.shape == form.shape and data.dtype == form.dtype


def learned(tensor: Any) -> Any:
    """``tensor``, after an op in which its form is noticed."""
    tensor * tensor
    tensor * 2.0
    return tensor


def known(*shape: int, dtype: Any = None) -> Any:
    tensor = learned(torch.ones(*shape, dtype=dtype).requires_grad_())
    assert tensor._form is not None
    return tensor


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ENTRIES)
def test_results_have_the_form_they_claim(name: str, dtype: str) -> None:
    for case in cases(torch, ENTRIES[name], dtype):
        leaves = [learned(x) for x in case.leaves()]
        inputs = [learned(x * 1.0) for x in leaves]
        results = tensors(torch, case.run(inputs))
        assert all(map(is_true, [*leaves, *inputs, *results])), case.name
        again = tensors(torch, case.run(leaves))
        for one, two in zip(results, again, strict=True):
            if one.dtype == two.dtype == getattr(torch, dtype):
                assert torch.equal(one.nan_to_num(), two.nan_to_num()), case.name


def test_tensors_of_one_shape_share_a_form() -> None:
    a, b = known(3), known(3)
    assert a._form is b._form is (a * b).tanh()._form
    assert a._form is not known(4)._form
    assert a._form is not known(3, dtype=torch.float64)._form


@pytest.mark.parametrize("change", [
    lambda x: setattr(x, "data", torch.ones(2, 2)),
    lambda x: x.resize_(2),
    lambda x: x.set_(torch.ones(5)),
    lambda x: x.unsqueeze_(0),
    lambda x: torch.add(torch.ones(3), 1, out=x.resize_(0)),
    lambda x: torch.ones(3, out=x),
], ids=["data", "resize_", "set_", "unsqueeze_", "out=", "creation out="])
def test_new_data_has_no_form_yet(change: Any) -> None:
    x = known(6).requires_grad_(False)
    change(x)
    assert x._form is None


def test_memory_of_a_scalar_has_no_form() -> None:
    y = torch.tensor(2.0, requires_grad=True)
    y = (y * y) * y
    assert y._form is not None
    y.data_ptr()
    assert y._form is None
    assert (y * y).item() == 64


def test_operands_that_only_look_alike_are_told_apart() -> None:
    row, column = known(1, 3), known(3, 1)
    (row + column).sum().backward()
    assert row.grad.tolist() == [[3, 3, 3]]
    assert column.grad.tolist() == [[3], [3], [3]]
    mixed = known(3) * known(3, dtype=torch.float64)
    assert mixed.dtype is torch.float64


def test_lean_nodes_give_what_full_ones_give() -> None:
    """Nodes for operands of one form leave out what the others need; nothing else differs."""
    x, factor = known(3), known(3)
    lean = torch.add(x, factor).grad_fn
    full = torch.add(x, factor, alpha=2).grad_fn
    assert isinstance(lean, Node)
    assert lean.name() == full.name() == "AddBackward0"
    assert (lean._saved_alpha, full._saved_alpha) == (1, 2)
    assert [g.tolist() for g in full(torch.ones(3))] == [[1, 1, 1], [2, 2, 2]]
    assert [g.tolist() for g in lean(torch.ones(3))] == [[1, 1, 1], [1, 1, 1]]


def test_hooks_on_saved_values_of_lean_nodes() -> None:
    x, factor = known(3), known(3)
    y = x * factor
    seen = []
    y.grad_fn._raw_saved_other.register_hooks(lambda t: seen.append(t) or t, lambda t: t * 10)
    y.sum().backward()
    assert x.grad.tolist() == [10, 10, 10]
    assert len(seen) == 1


def test_versions_of_memory_that_was_written_to_before() -> None:
    x, factor = known(3), torch.ones(3)
    factor.mul_(2)
    y = x * factor
    y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [2, 2, 2]
    factor.mul_(2)
    with pytest.raises(RuntimeError, match="is at version 2; expected version 1 instead"):
        y.sum().backward()


def test_numbers_and_shapes_that_programs_run_through_are_not_all_kept() -> None:
    x = torch.ones(3, requires_grad=True)
    for number in range(1, 10001):
        y = x * (number / 2)
    assert y.tolist() == [5000.0] * 3
    assert 0 < len(x._form.numbers) <= 4097
    forms = type(ARRAYS_4)(ARRAYS_4.dtype)
    for shape in itertools.product(range(1, 71), repeat=2):
        assert forms[shape].shape == shape
    assert 0 < len(forms) <= 4097


def test_operands_of_one_form_may_be_spread_by_what_is_no_operand() -> None:
    """The condition of ``where`` is larger than both: gradients are summed to the operands."""
    for shape in ((2, 3), (3,), (4, 1, 3)):
        x, y = (torch.full((3,), value, requires_grad=True) for value in (1.0, 2.0))
        for passes in (1, 2, 3):
            torch.where(torch.ones(shape) > 0, x, y).sum().backward()
            assert x.grad.tolist() == [passes * torch.ones(shape).numel() / 3] * 3
        assert y.grad.tolist() == [0.0] * 3
