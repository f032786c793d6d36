"""Sparse tensors beside PyTorch: elements, gradients, steps, files and refusals."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import retrograd as rg

BOTH = (torch, rg)


def places(lib: Any) -> Any:
    return lib.tensor([[0, 1, 1, 0], [2, 0, 2, 2]])


def matrix(lib: Any, **options: Any) -> Any:
    """A sparse matrix, one place of which occurs twice."""
    return lib.sparse_coo_tensor(places(lib), lib.tensor([3.0, 4.0, 5.0, 7.0]), (2, 3), **options)


def strided(lib: Any) -> Any:
    return lib.arange(6.0).reshape(2, 3)


def other(lib: Any) -> Any:
    """A sparse matrix with some of the same places."""
    return lib.sparse_coo_tensor([[0, 0, 1], [0, 2, 2]], [1.0, 2.0, 6.0], (2, 3)).coalesce()


def cube(lib: Any, sparse_dims: int = 3) -> Any:
    return lib.arange(12.0).reshape(2, 3, 2).to_sparse(sparse_dims)


def with_data(tensor: Any, given: Any) -> Any:
    tensor.data = given
    return tensor


def of_rows(lib: Any, reduce: str) -> Any:
    rows, table = matrix(lib).to_sparse_csr().requires_grad_(), strided(lib).T.contiguous()
    found = lib.sparse.mm(rows, table.requires_grad_(), reduce)
    return sum(g.to_dense().sum() for g in lib.autograd.grad((found * found).sum(), (rows, table)))


def shown(value: Any) -> Any:
    """A result in terms of Python and NumPy; how duplicates are kept is nobody's business."""
    if isinstance(value, (torch.Tensor, rg.Tensor)):
        layout = str(value.layout)
        dense = value.detach().to_dense() if layout != "torch.strided" else value.detach()
        return layout, str(dense.dtype), dense.numpy()
    return value


def outcome(run: Callable[[Any], Any], lib: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return shown(run(lib))
        except Exception as error:
            return type(error).__name__


def check(run: Callable[[Any], Any]) -> None:
    theirs, ours = (outcome(run, lib) for lib in BOTH)
    np.testing.assert_equal(type(ours), type(theirs))
    if isinstance(theirs, tuple):
        assert ours[:2] == theirs[:2]
        np.testing.assert_allclose(ours[2], theirs[2], rtol=2e-6)
    else:
        assert ours == theirs


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "coalesce": lambda lib: matrix(lib).coalesce(),
    "indices": lambda lib: matrix(lib).coalesce().indices(),
    "values": lambda lib: matrix(lib).coalesce().values(),
    "values of an uncoalesced one": lambda lib: matrix(lib).values(),
    "indices of an uncoalesced one": lambda lib: matrix(lib).indices(),
    "number of elements": lambda lib: matrix(lib)._nnz(),
    "dims": lambda lib: (matrix(lib).sparse_dim(), matrix(lib).dense_dim(), matrix(lib).dim()),
    "is sparse": lambda lib: (matrix(lib).is_sparse, strided(lib).is_sparse,
                              matrix(lib).to_sparse_csr().is_sparse_csr),
    "to dense": lambda lib: matrix(lib).to_dense(),
    "rows": lambda lib: matrix(lib).to_sparse_csr(),
    "columns": lambda lib: matrix(lib).to_sparse_csc(),
    "row ends": lambda lib: matrix(lib).to_sparse_csr().crow_indices(),
    "column indices": lambda lib: matrix(lib).to_sparse_csr().col_indices(),
    "row ends of coordinates": lambda lib: matrix(lib).crow_indices(),
    "of a strided one": lambda lib: strided(lib).to_sparse(),
    "hybrid": lambda lib: strided(lib).to_sparse(1),
    "hybrid values": lambda lib: strided(lib).to_sparse(1).values(),
    "mask": lambda lib: strided(lib).sparse_mask(matrix(lib).coalesce()),
    "product": lambda lib: matrix(lib) @ strided(lib).T,
    **{f"{reduce} of products": lambda lib, reduce=reduce: lib.sparse.mm(
        matrix(lib).to_sparse_csr(), strided(lib).T.contiguous(), reduce)
       for reduce in ("sum", "mean", "amax", "amin", "median")},
    **{f"gradient of {reduce} of products": lambda lib, reduce=reduce: of_rows(lib, reduce)
       for reduce in ("mean", "amax", "amin")},
    "product by a vector": lambda lib: matrix(lib).mv(lib.ones(3)),
    "sparse.mm": lambda lib: lib.sparse.mm(matrix(lib), strided(lib).T),
    "strided times sparse": lambda lib: strided(lib) @ matrix(lib).t(),
    "sparse times sparse": lambda lib: matrix(lib) @ matrix(lib).t(),
    "rows times strided": lambda lib: matrix(lib).to_sparse_csr() @ strided(lib).T,
    "product of other shapes": lambda lib: matrix(lib) @ strided(lib),
    "product of other dtypes": lambda lib: matrix(lib) @ strided(lib).T.double(),
    "addmm": lambda lib: lib.sparse.addmm(lib.ones(2, 2), matrix(lib), strided(lib).T, beta=3,
                                          alpha=2),
    "sampled": lambda lib: lib.sparse.sampled_addmm(
        matrix(lib).to_sparse_csr(), strided(lib)[:, :2], strided(lib)[:2], beta=2, alpha=3),
    "sum": lambda lib: matrix(lib).sum(),
    "sum along a dim": lambda lib: lib.sparse.sum(matrix(lib), 0),
    "sum along another": lambda lib: lib.sparse.sum(matrix(lib), [1]),
    "plus sparse": lambda lib: matrix(lib) + matrix(lib) * 2,
    "minus sparse": lambda lib: matrix(lib) - matrix(lib),
    "strided plus sparse": lambda lib: strided(lib) + matrix(lib),
    "sparse plus strided": lambda lib: matrix(lib) + strided(lib),
    "times a number": lambda lib: matrix(lib) * 2,
    "times strided": lambda lib: matrix(lib) * strided(lib),
    "over a number": lambda lib: matrix(lib) / 2,
    "minus": lambda lib: -matrix(lib),
    "square root": lambda lib: matrix(lib).sqrt(),
    "power": lambda lib: matrix(lib).pow(2),
    "sine": lambda lib: matrix(lib).sin(),
    "relu": lambda lib: (-matrix(lib)).relu(),
    "exponential": lambda lib: matrix(lib).exp(),
    "equality": lambda lib: matrix(lib) == matrix(lib),
    "norm": lambda lib: matrix(lib).norm(),
    "softmax": lambda lib: lib.sparse.softmax(matrix(lib), 1),
    "log softmax": lambda lib: lib.sparse.log_softmax(matrix(lib), 0),
    "transposed": lambda lib: matrix(lib).t(),
    "row": lambda lib: matrix(lib)[1],
    "element": lambda lib: matrix(lib)[0, 2],
    "selected": lambda lib: matrix(lib).index_select(1, lib.tensor([2, 0])),
    "joined": lambda lib: lib.cat([matrix(lib), matrix(lib)], 1),
    "double": lambda lib: matrix(lib).double(),
    "to float64": lambda lib: matrix(lib).to(lib.float64),
    "to another layout": lambda lib: matrix(lib).to(layout=lib.sparse_csr),
    "to the same dtype": lambda lib: (lambda x: x.to(lib.float32) is x)(matrix(lib)),
    "to another's dtype": lambda lib: matrix(lib).to(lib.ones(1, dtype=lib.float64)),
    "as another's type": lambda lib: matrix(lib).type_as(other(lib).double()),
    "zeros like": lambda lib: lib.zeros_like(matrix(lib)),
    "clone": lambda lib: matrix(lib).clone(),
    "zeroed": lambda lib: matrix(lib).zero_(),
    "scaled in place": lambda lib: matrix(lib).mul_(2),
    "added to in place": lambda lib: strided(lib).add_(matrix(lib), alpha=2),
    "diagonals": lambda lib: lib.sparse.spdiags(strided(lib), lib.tensor([0, 1]), (3, 3)),
    "compressed rows": lambda lib: lib.sparse_csr_tensor([0, 1, 3], [2, 0, 1], [1.0, 2.0, 3.0]),
    "compressed of a layout": lambda lib: lib.sparse_compressed_tensor(
        [0, 1, 2], [0, 1], [1.0, 2.0], layout=lib.sparse_csc),
    "empty": lambda lib: lib.sparse_coo_tensor((2, 3)),
    "of no elements": lambda lib: lib.sparse_coo_tensor(places(lib)[:, :0], lib.zeros(0), (2, 3)),
    "complex": lambda lib: lib.sparse_coo_tensor([[0, 1]], [1j, 2.0]),
    "integers": lambda lib: lib.sparse_coo_tensor([[0, 0]], [1, 2]),
    "other dims than size": lambda lib: lib.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3, 3)),
    "fewer values": lambda lib: lib.sparse_coo_tensor([[0, 1]], [1.0, 2.0, 3.0], (3,)),
    "numpy": lambda lib: matrix(lib).numpy(),
    "view": lambda lib: matrix(lib).view(3, 2),
    "close": lambda lib: lib.allclose(matrix(lib), matrix(lib) + 1e-9 * other(lib)),
    "not close": lambda lib: lib.allclose(matrix(lib), other(lib)),
    "close enough": lambda lib: lib.allclose(matrix(lib), matrix(lib) * 1.1, atol=5.0),
    "a single element": lambda lib: lib.sparse_coo_tensor([[0]], [2.0]).item(),
    **{f"product of {kind}": lambda lib, kind=kind: matrix(lib).to(getattr(lib, kind)) @ strided(
        lib).T.to(getattr(lib, kind)) for kind in ("int64", "bfloat16", "float16", "complex64")},
    "length": lambda lib: [len(matrix(lib)), matrix(lib).is_contiguous()],
    "one number": lambda lib: lib.sparse_coo_tensor([[0]], [2.0]).sum().item(),
    "one value everywhere": lambda lib: lib.sparse_coo_tensor(places(lib), 2.0, (2, 3)),
    "one value, in one place": lambda lib: lib.sparse_coo_tensor([[0], [1]], 2.0),
    "compressed columns": lambda lib: lib.sparse_csc_tensor([0, 1, 3], [2, 0, 1], [1.0, 2.0, 3.0]),
    "row indices": lambda lib: matrix(lib).to_sparse_csc().row_indices(),
    "coordinates of coordinates": lambda lib: matrix(lib).to_sparse_coo(),
    "coordinates of rows": lambda lib: matrix(lib).to_sparse_csr().to_sparse_coo(),
    "coordinates of a strided one": lambda lib: strided(lib).to_sparse_coo(),
    "sparse of rows": lambda lib: matrix(lib).to_sparse_csr().to_sparse(),
    "sparse in rows": lambda lib: strided(lib).to_sparse(layout=lib.sparse_csr),
    "sparse in columns": lambda lib: matrix(lib).to_sparse(layout=lib.sparse_csc),
    "sparse by coordinates": lambda lib: strided(lib).to_sparse(layout=lib.sparse_coo),
    "a number times sparse": lambda lib: 3 * matrix(lib),
    "strided times sparse, by elements": lambda lib: strided(lib) * matrix(lib),
    "a zero-dim factor": lambda lib: lib.tensor(3.0) * matrix(lib),
    "sparse times sparse, by elements": lambda lib: matrix(lib) * (matrix(lib) + other(lib)),
    "rows plus strided": lambda lib: lib.add(strided(lib), matrix(lib).to_sparse_csr(), alpha=2),
    "rows plus rows": lambda lib: matrix(lib).to_sparse_csr() + other(lib).to_sparse_csr(),
    "rows plus double": lambda lib: matrix(lib).add(other(lib).double(), alpha=3),
    "more than the other shape": lambda lib: matrix(lib) + matrix(lib).t(),
    "masked by other places": lambda lib: matrix(lib).sparse_mask(other(lib)),
    "permuted": lambda lib: cube(lib).permute(2, 0, 1),
    "permuted by a tuple": lambda lib: cube(lib).permute((1, 0, -1)),
    "permuted with dense dims": lambda lib: cube(lib, 2).permute(1, 0, 2),
    "dense dims among sparse ones": lambda lib: cube(lib, 2).permute(2, 0, 1),
    "transposed with dense dims": lambda lib: cube(lib, 2).transpose(0, 1),
    "dense dims summed": lambda lib: lib.sparse.sum(cube(lib, 2), 2),
    "dense and sparse dims summed": lambda lib: lib.sparse.sum(cube(lib, 2), [0, 2]),
    "all dims summed": lambda lib: lib.sparse.sum(cube(lib, 2), [0, 1]),
    "summed as another dtype": lambda lib: lib.sparse.sum(matrix(lib), 0, dtype=lib.float64),
    "norm of order one": lambda lib: matrix(lib).norm(1),
    "zeros like, strided": lambda lib: lib.zeros_like(matrix(lib), layout=lib.strided),
    "empty like, strided": lambda lib: lib.empty_like(matrix(lib), layout=lib.strided).zero_(),
    "zeros like of another dtype": lambda lib: lib.zeros_like(
        matrix(lib), dtype=lib.float64, requires_grad=True).requires_grad,
    "data": lambda lib: matrix(lib, requires_grad=True).data.requires_grad,
    "other data": lambda lib: with_data(matrix(lib), other(lib)),
    "strided data": lambda lib: with_data(matrix(lib), strided(lib)),
    "rows as data": lambda lib: with_data(matrix(lib), matrix(lib).to_sparse_csr()),
    "sparse data of a strided one": lambda lib: with_data(strided(lib), matrix(lib)),
    "deep copy": lambda lib: copy.deepcopy(matrix(lib)),
    "requires grad of a deep copy": lambda lib: copy.deepcopy(
        matrix(lib, requires_grad=True)).requires_grad,
    "the same deep copy": lambda lib: len(set(map(id, copy.deepcopy([matrix(lib)] * 2)))),
    "deep copies are apart": lambda lib: (lambda x: (copy.deepcopy(x).mul_(2), x)[1])(matrix(lib)),
    "deep copy of no leaf": lambda lib: copy.deepcopy(matrix(lib, requires_grad=True) * 2),
    "pickled": lambda lib: pickle.loads(pickle.dumps(matrix(lib))),
    "pickled rows": lambda lib: pickle.loads(pickle.dumps(matrix(lib).to_sparse_csr())),
    "coalesced when pickled": lambda lib: [pickle.loads(pickle.dumps(x)).is_coalesced()
                                           for x in (matrix(lib), matrix(lib).coalesce())]}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    check(PROGRAMS[name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_where_calls_are_watched(name: str) -> None:
    type("Watching", (rg.Tensor,), {"__torch_function__": classmethod(lambda *args: None)})
    check(PROGRAMS[name])


@pytest.mark.parametrize("make", [
    matrix, lambda lib: matrix(lib).coalesce().double(), lambda lib: matrix(lib).to_sparse_csr(),
    lambda lib: matrix(lib).to_sparse_csc().long(), lambda lib: lib.sparse_coo_tensor((2, 3)),
    lambda lib: strided(lib).to_sparse(1), lambda lib: matrix(lib, requires_grad=True)])
def test_how_they_print(make: Callable[[Any], Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, ours = (repr(make(lib)) for lib in BOTH)
    assert ours == theirs


# ---------------------------------------------------------------- gradients


def gradients(lib: Any, name: str) -> Any:
    values = lib.tensor([3.0, 4.0, 5.0, 7.0], requires_grad=True)
    of_values = lib.sparse_coo_tensor(places(lib), values, (2, 3))
    leaf = matrix(lib, requires_grad=True)
    weight = strided(lib).requires_grad_()
    factor = strided(lib).T
    if name == "values by way of strided":
        (of_values.to_dense() ** 2 * strided(lib)).sum().backward()
        return values.grad
    if name == "values by way of a product":
        (lib.sparse.mm(of_values, factor) ** 2).sum().backward()
        return values.grad
    if name == "coalesced values":
        (of_values.coalesce().values() ** 3).sum().backward()
        return values.grad
    if name == "a sparse leaf":
        (leaf.to_dense() * strided(lib)).sum().backward()
        return leaf.grad
    if name == "a sparse leaf, twice":
        for _ in range(2):
            (leaf.to_dense() * strided(lib)).sum().backward()
        return leaf.grad
    if name == "a factor":
        (lib.sparse.mm(leaf, weight.T) ** 2).sum().backward()
        return weight.grad
    if name == "a sparse factor":
        (lib.sparse.mm(leaf, factor) ** 2).sum().backward()
        return leaf.grad
    if name == "sums":
        (lib.sparse.sum(leaf, 0).to_dense() ** 2).sum().backward()
        return leaf.grad
    if name == "a softmax":
        (lib.sparse.softmax(of_values, 1).to_dense() ** 2).sum().backward()
        return values.grad
    table = lib.ones(5, 2, requires_grad=True)
    rows = lib.tensor([1, 3, 1])
    if name.startswith("an embedding, differentiated twice"):
        found = lib.nn.functional.embedding(rows, table, sparse=True,
                                            padding_idx=3 if "padding" in name else None)
        (grad,) = lib.autograd.grad((found ** 3).sum(), table, create_graph=True)
        (grad.to_dense() * lib.arange(10.0).reshape(5, 2)).sum().backward()
    elif name == "an embedding":
        (lib.nn.functional.embedding(rows, table, sparse=True) ** 2).sum().backward()
    elif name == "an embedding with padding":
        lib.nn.functional.embedding(rows, table, padding_idx=3, sparse=True).sum().backward()
    elif name == "an embedding, twice":
        for _ in range(2):
            lib.nn.functional.embedding(rows, table, sparse=True).sum().backward()
    elif name == "an embedding and more":
        (lib.nn.functional.embedding(rows, table, sparse=True).sum() + table.sum()).backward()
    else:
        mode = name.removeprefix("bags by ")
        lib.nn.functional.embedding_bag(rows, table, lib.tensor([0, 2]), mode=mode,
                                        sparse=True).pow(2).sum().backward()
    return table.grad


@pytest.mark.parametrize("name", [
    "values by way of strided", "values by way of a product", "coalesced values", "a sparse leaf",
    "a sparse leaf, twice", "a factor", "a sparse factor", "sums", "a softmax", "an embedding",
    "an embedding with padding", "an embedding, differentiated twice",
    "an embedding, differentiated twice, with padding", "an embedding, twice",
    "an embedding and more", "bags by sum", "bags by mean"])
def test_gradients(name: str) -> None:
    check(lambda lib: gradients(lib, name))


# ---------------------------------------------------------------- optimizers


def trained(lib: Any, make: Callable[[Any, Any], Any]) -> Any:
    table = lib.nn.Embedding(5, 2, sparse=True)
    with lib.no_grad():
        table.weight.copy_(lib.arange(10.0).reshape(5, 2))
    optimizer = make(lib, list(table.parameters()))
    for step in range(4):
        optimizer.zero_grad()
        table(lib.tensor([1, 3, 1 + step % 2])).pow(2).sum().backward()
        optimizer.step()
    return table.weight


@pytest.mark.parametrize("make", [
    lambda lib, p: lib.optim.SGD(p, 0.1), lambda lib, p: lib.optim.SGD(p, 0.1, momentum=0.9),
    lambda lib, p: lib.optim.Adagrad(p, 0.1), lambda lib, p: lib.optim.SparseAdam(p, 0.1),
    lambda lib, p: lib.optim.SparseAdam(p, 0.1, betas=(0.5, 0.9), maximize=True),
    lambda lib, p: lib.optim.SGD(p, 0.1, weight_decay=0.1),
    lambda lib, p: lib.optim.Adagrad(p, 0.1, weight_decay=0.1),
    *(lambda lib, p, n=name: getattr(lib.optim, n)(p) for name in (
        "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop", "ASGD", "Adadelta"))])
def test_optimizers(make: Callable[[Any, Any], Any]) -> None:
    theirs, ours = (outcome(lambda lib: trained(lib, make), lib) for lib in BOTH)
    if isinstance(theirs, str):
        assert ours == theirs
        return
    np.testing.assert_allclose(ours[2], theirs[2], rtol=1e-4, atol=1e-6)


def test_adam_says_what_to_use_instead() -> None:
    for lib in BOTH:
        with pytest.raises(RuntimeError, match="Adam does not support sparse gradients, please "
                                               "consider SparseAdam instead"):
            trained(lib, lambda lib, p: lib.optim.Adam(p))
        with pytest.raises(RuntimeError, match="SparseAdam does not support dense gradients"):
            param = lib.ones(2, requires_grad=True)
            param.sum().backward()
            lib.optim.SparseAdam([param]).step()


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("make", [matrix, lambda lib: matrix(lib).coalesce(),
                                  lambda lib: matrix(lib).to_sparse_csr(),
                                  lambda lib: matrix(lib).to_sparse_csc()])
@pytest.mark.parametrize(("writer", "reader"), [(torch, rg), (rg, torch), (rg, rg)])
def test_files_go_both_ways(make: Callable[[Any], Any], writer: Any, reader: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        buffer = io.BytesIO()
        writer.save({"matrix": make(writer)}, buffer)
        buffer.seek(0)
        found = reader.load(buffer)["matrix"]
        expected = make(reader)
    assert found.layout == expected.layout and found.dtype == expected.dtype
    np.testing.assert_array_equal(found.to_dense().numpy(), expected.to_dense().numpy())


PARTS = ("indices", "values", "is_coalesced", "crow_indices", "col_indices", "ccol_indices",
         "row_indices", "sparse_dim", "dense_dim", "coalesce")


@pytest.mark.parametrize("name", PARTS)
def test_a_dense_tensor_says_that_it_has_no_such_part(name: str) -> None:
    def outcome(lib: Any) -> Any:
        try:
            return getattr(lib.ones(2, 3), name)()
        except RuntimeError as error:
            return str(error)

    assert outcome(rg) == outcome(torch)
    assert rg.ones(2).is_sparse_csr is torch.ones(2).is_sparse_csr is False


# ---------------------------------------------------------------- products by older names


@pytest.mark.parametrize("name", ["spmm", "dsmm", "hsmm", "hspmm", "smm", "saddmm", "sspaddmm"])
def test_products_by_older_names(name: str) -> None:
    def run(lib: Any) -> Any:
        x = lib.tensor([[0.0, 1, 2], [0, 0, 0], [3, 0, 0]]).to_sparse()
        dense = lib.arange(12.0).reshape(3, 4) - 5
        start = [lib.tensor([[1.0, 0, 0, 2]] * 3).to_sparse()] if "add" in name else []
        kwargs = {"beta": 2, "alpha": 0.5} if start else {}
        found = getattr(lib, name)(*start, x, dense, **kwargs)
        other = getattr(lib, name)(*start, x.to_dense(), dense) if name[0] == "d" else None
        kept = found.coalesce() if found.is_sparse else found
        return [str(found.layout), tuple(found.shape), kept.to_dense().tolist(),
                kept._values().shape if found.is_sparse else None, other is None or other.tolist()]

    mine, theirs = run(rg), run(torch)
    if "add" in name:  # sums of places that both have are zero or not
        mine[3] = theirs[3] = None
    assert mine == theirs


@pytest.mark.parametrize("call", [
    lambda lib, s, d: lib.smm(s.to_dense(), d), lambda lib, s, d: lib.smm(s, d.T),
    lambda lib, s, d: lib.hspmm(s, d.T), lambda lib, s, d: lib.hsmm(s.to_dense(), d)])
def test_what_products_by_older_names_refuse(call: Any) -> None:
    said = []
    for lib in (rg, torch):
        with pytest.raises((RuntimeError, NotImplementedError)) as raised:
            call(lib, lib.eye(3).to_sparse(), lib.ones(3, 4))
        said.append((raised.type, str(raised.value).split(".")[0]))
    assert said[0] == said[1]
