"""Sparse tensors: what they promise without PyTorch beside them."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import retrograd as rg
from retrograd.autograd import gradcheck, gradgradcheck

PLACES = rg.tensor([[0, 1, 1, 0], [2, 0, 2, 2]])


def values() -> rg.Tensor:
    return rg.tensor([3.0, 4.0, 5.0, 7.0], dtype=rg.float64, requires_grad=True)


def matrix(given: rg.Tensor | None = None) -> rg.Tensor:
    return rg.sparse_coo_tensor(PLACES, values().detach() if given is None else given, (2, 3))


FACTOR = rg.arange(6.0, dtype=rg.float64).reshape(3, 2) - 2


@pytest.mark.parametrize("func", [
    lambda v: matrix(v).to_dense() ** 2,
    lambda v: matrix(v).coalesce().values() ** 2,
    lambda v: (matrix(v) @ FACTOR).sin(),
    lambda v: FACTOR.T @ matrix(v).T,
    lambda v: (matrix(v).to_sparse_csr() @ FACTOR) ** 2,
    lambda v: (matrix(v) * FACTOR.T.reshape(2, 3) + matrix(v)).to_dense() ** 2,
    lambda v: matrix(v).sin().to_dense() * 2,
    lambda v: rg.sparse.sum(matrix(v), 1).to_dense() ** 2,
    lambda v: rg.sparse.log_softmax(matrix(v), 1).to_dense(),
    lambda v: rg.cat([matrix(v), matrix(v).coalesce()], 0).to_dense() ** 2,
    lambda v: matrix(v)[1].to_dense() ** 3,
    lambda v: matrix(v).t().to_dense().exp()])
def test_derivatives_by_way_of_values(func: object) -> None:
    assert gradcheck(func, (values(),))
    assert gradgradcheck(func, (values(),))


def test_a_factor_has_derivatives_too() -> None:
    assert gradcheck(lambda v, f: (matrix(v) @ f) ** 2, (values(), FACTOR.requires_grad_()))
    FACTOR.requires_grad_(False)
    assert rg.sparse.as_sparse_gradcheck(gradcheck)(
        lambda s: s.to_dense() ** 2, (matrix().coalesce().requires_grad_(),))


@pytest.mark.parametrize("dtype", [rg.float16, rg.bfloat16, rg.float32, rg.int64, rg.bool])
def test_dtypes(dtype: rg.dtype) -> None:
    ones = rg.sparse_coo_tensor(PLACES, rg.ones(4, dtype=dtype), (2, 3))
    dense = ones.to_dense()
    assert dense.dtype is dtype and ones.coalesce().dtype is dtype
    expected = [[0, 0, 1], [1, 0, 1]] if dtype is rg.bool else [[0, 0, 2], [1, 0, 1]]
    assert dense.tolist() == expected


def test_half_precision_adds_up_in_float32() -> None:
    many = rg.sparse_coo_tensor(rg.zeros(1, 5000, dtype=rg.int64),
                                rg.ones(5000, dtype=rg.bfloat16), (1,))
    assert many.coalesce().values().item() == pytest.approx(5000, rel=2**-8)
    table = rg.zeros(1, 1, dtype=rg.bfloat16, requires_grad=True)
    rg.nn.functional.embedding(rg.zeros(5000, dtype=rg.int64), table, sparse=True).sum().backward()
    assert table.grad.coalesce().values().item() == pytest.approx(5000, rel=2**-8)


def test_places_are_checked_and_nothing_is_made_of_wrong_ones() -> None:
    with pytest.raises(RuntimeError, match="for dim 0, size is 3 but found index 5"):
        rg.sparse_coo_tensor([[0, 5]], [1.0, 2.0], (3,))
    with pytest.raises(RuntimeError, match="found negative index -1 for dim 0"):
        rg.sparse_coo_tensor([[0, -1]], [1.0, 2.0], (3,))
    with pytest.raises(RuntimeError, match=r"indices must be whole numbers, not torch\.float32"):
        rg.sparse_coo_tensor([[0.5]], [1.0], (3,))
    with pytest.raises(RuntimeError, match="begin with 0, not decrease"):
        rg.sparse_csr_tensor([0, 2, 1], [0, 1], [1.0, 2.0])


def test_copies() -> None:
    leaf = matrix().requires_grad_()
    for made in (copy.deepcopy(leaf), pickle.loads(pickle.dumps(leaf))):
        assert made.requires_grad and made.layout is rg.sparse_coo and not made.is_coalesced()
        assert made.to_dense().tolist() == leaf.to_dense().tolist()
    copied = copy.deepcopy(matrix())
    copied._values()[0] = 100.0
    assert matrix().to_dense()[0, 2].item() == 10.0


def test_whole_tensors_are_compared_and_listed() -> None:
    assert rg.equal(matrix(), matrix().coalesce()) and not rg.equal(matrix(), matrix() * 2)
    assert matrix().tolist() == matrix().to_dense().tolist()
    assert matrix().layout is rg.sparse_coo and not matrix().is_contiguous()
    for layout in (rg.sparse_csr, rg.sparse_csc, rg.strided):
        given = matrix().to_dense() if layout is rg.strided else matrix().to_sparse(layout=layout)
        assert given.layout is layout and rg.equal(given, matrix())


def test_values_that_were_added_up_have_second_derivatives() -> None:
    given = values().requires_grad_()
    (grad,) = rg.autograd.grad((matrix(given).coalesce().values() ** 3).sum(), given,
                               create_graph=True)
    (grad * rg.arange(4.0)).sum().backward()
    assert given.grad is not None and given.grad.tolist() == [180.0, 24.0, 60.0, 180.0]


def test_modes() -> None:
    leaf = matrix().requires_grad_()
    with rg.no_grad():
        assert not (leaf * 2).requires_grad
    with rg.inference_mode():
        assert (leaf @ FACTOR).tolist() == (leaf.to_dense() @ FACTOR).tolist()
    with np.errstate(all="raise"):
        assert (leaf * 1e200).norm().item() > 1e200
    assert leaf.detach().requires_grad is False


def test_what_is_not_defined_says_what_to_do() -> None:
    with pytest.raises(NotImplementedError, match=r"'aten::exp'.*to_dense\(\) makes a strided"):
        matrix().exp()
    with pytest.raises(TypeError, match=r"Use Tensor\.to_dense"):
        matrix().numpy()


def test_hooks_see_sparse_gradients() -> None:
    seen: list[rg.Tensor] = []
    table = rg.ones(5, 2, requires_grad=True)
    table.register_hook(lambda g: seen.append(g))
    rg.nn.functional.embedding(rg.tensor([1, 3]), table, sparse=True).sum().backward()
    assert seen[0].is_sparse and seen[0]._nnz() == 2
    (again,) = rg.autograd.grad(
        rg.nn.functional.embedding(rg.tensor([1, 3]), table, sparse=True).sum(), table)
    assert again.is_sparse and again.to_dense().tolist() == table.grad.to_dense().tolist()


def test_an_optimizer_takes_strided_and_sparse_gradients_in_turn() -> None:
    table = rg.ones(3, 2, requires_grad=True)
    optimizer = rg.optim.SGD([table], 0.5, momentum=0.5)
    for sparse in (False, True, False):
        optimizer.zero_grad()
        rg.nn.functional.embedding(rg.tensor([1]), table, sparse=sparse).sum().backward()
        optimizer.step()
    assert table.tolist() == [[1.0, 1.0], [-1.125, -1.125], [1.0, 1.0]]


@pytest.mark.parametrize("dtype", [rg.float16, rg.bfloat16])
def test_many_halves_at_one_place_are_added_up_in_single_precision(dtype: rg.dtype) -> None:
    values = rg.full((4096,), 1.0, dtype=dtype)
    twice = rg.sparse_coo_tensor(rg.zeros(1, 4096, dtype=rg.int64), values, (2,))
    assert twice.coalesce().values().tolist() == [4096.0]
    assert twice.to_dense().tolist() == [4096.0, 0.0]


def row() -> rg.Tensor:
    return rg.sparse_coo_tensor([[0, 2]], [1.0, 2.0], (3,))


CUBE = rg.sparse_coo_tensor([[0, 1], [1, 0], [0, 0]], [1.0, 2.0], (2, 2, 2))
HYBRID = rg.sparse_coo_tensor([[0, 1]], [[1.0, 2.0], [3.0, 4.0]], (2, 2))
REFUSALS = [
    (lambda: rg.sparse_csr_tensor([0, 3, 2, 4], [0, 1, 2, 0], rg.ones(4)), "not decrease"),
    (lambda: rg.sparse_csr_tensor([0, 1, 3], [0, 1, 2, 0], rg.ones(4)), r"elements \(4\)"),
    (lambda: rg.sparse_csr_tensor([1, 2, 4], [0, 1, 2, 0], rg.ones(4)), "begin with 0"),
    (lambda: rg.sparse_csr_tensor([], [], rg.ones(0)), "begin with 0"),
    (lambda: rg.sparse_csr_tensor([0, 1, 3], [0, 1, 2], rg.ones(4)), "3 indices, 4 values"),
    (lambda: rg.sparse_csc_tensor([[0, 1]], [0], rg.ones(1)), "more than two dims"),
    (lambda: rg.sparse_coo_tensor([0, 1], rg.ones(2)), "sparse_dim x nnz"),
    (lambda: rg.sparse_coo_tensor([[0, 1]], rg.ones(3)), "same nnz"),
    (lambda: rg.sparse_coo_tensor([[0, 1]], rg.ones(2, 3), (2, 4)), "incorrect size"),
    (lambda: rg.sparse_coo_tensor([[0, 1]], rg.ones(2), (2, 4)), "number of dimensions must be"),
    (lambda: row().values(), "uncoalesced"), (lambda: row().stride(), "do not have strides"),
    (lambda: row().untyped_storage(), "do not have storage"),
    (lambda: row().data_ptr(), "doesn't have storage"),
    (lambda: row().crow_indices(), "row compressed tensor"),
    (lambda: row() + rg.ones(3), r"add\(sparse, dense\)"),
    (lambda: row() + rg.sparse_coo_tensor([[0]], [1.0], (4,)), "expected sizes"),
    (lambda: row() / row(), "zero-dim dense tensor"),
    (lambda: rg.sparse.mm(CUBE, rg.ones(2, 2)), "not a sparse tensor of 3"),
    (lambda: matrix() @ rg.ones(2, 2, dtype=rg.float64), "cannot be multiplied"),
    (lambda: matrix() @ rg.ones(3, 2), "same dtype"),
    (lambda: rg.sparse.softmax(HYBRID, 0), "dense dims"),
    (lambda: HYBRID.transpose(0, 1), "cannot be exchanged"), (lambda: row()[5], "out of bounds"),
    (lambda: row()[-4], "out of bounds"),
    (lambda: rg.ones(3).to_sparse(2), "between 1 and 1"),
    (lambda: rg.ones(3).to_sparse(0), "between 1 and 1"),
    (lambda: rg.ones(3).to_sparse_csr(), "only matrices"),
    (lambda: rg.ones(3).coalesce(), "but got Strided"),
    (lambda: rg.ones(3).sparse_mask(rg.ones(3)), "must be a sparse tensor")]


@pytest.mark.parametrize(("call", "says"), REFUSALS)
def test_what_does_not_fit_is_refused(call: object, says: str) -> None:
    with pytest.raises((RuntimeError, NotImplementedError, IndexError), match=says):
        call()
