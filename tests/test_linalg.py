"""Factorisations: they factor, and their derivatives agree with finite differences.

Eigenvectors and singular vectors are determined up to a phase only, so these tests look at what
does not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.backend.numpy import routines, systems


def positive(x: Any) -> Any:
    return x @ x.mH + torch.eye(x.shape[-1], dtype=x.dtype)


def hermitian(x: Any) -> Any:
    return x + x.mH


def weights_of(U: Any, S: Any, Vh: Any) -> Any:
    return (U.abs() ** 2) @ (S.unsqueeze(-1) * Vh.abs() ** 2)


CASES: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "cholesky": (lambda x: torch.linalg.cholesky(positive(x)), (3, 3)),
    "cholesky of a batch": (lambda x: torch.linalg.cholesky(positive(x)), (2, 3, 3)),
    "upper cholesky": (lambda x: torch.linalg.cholesky(positive(x), upper=True), (3, 3)),
    "cholesky_solve": (lambda x: torch.cholesky_solve(
        x, torch.linalg.cholesky(positive(x))), (3, 3)),
    "cholesky_inverse": (lambda x: torch.cholesky_inverse(
        torch.linalg.cholesky(positive(x))), (3, 3)),
    "eigvalsh": (lambda x: torch.linalg.eigvalsh(hermitian(x)), (3, 3)),
    "eigh": (lambda x: torch.linalg.eigh(hermitian(x)).eigenvectors.abs() ** 2, (3, 3)),
    "eigh of the upper triangle": (lambda x: torch.linalg.eigvalsh(hermitian(x), "U"), (3, 3)),
    "tall svd": (lambda x: weights_of(*torch.linalg.svd(x, full_matrices=False)), (4, 3)),
    "wide svd": (lambda x: weights_of(*torch.linalg.svd(x, full_matrices=False)), (3, 4)),
    "polar factor": (lambda x: (lambda s: s.U @ s.Vh)(
        torch.linalg.svd(x, full_matrices=False)), (4, 3)),
    "eig": (lambda x: torch.linalg.eig(x).eigenvectors.abs() ** 2, (3, 3)),
    "eigvals": (lambda x: torch.linalg.eigvals(x).abs(), (3, 3)),
    "hermitian pinv": (lambda x: torch.linalg.pinv(hermitian(x), hermitian=True), (3, 3)),
    "logdet": (lambda x: torch.logdet(positive(x)), (3, 3)),
}


def weighted(y: Any) -> Any:
    y = y.real if y.is_complex() else y
    return (y * torch.tensor(np.asarray(np.random.RandomState(1).randn(*y.shape)))).sum()


def slope(f: Callable[[Any], Any], x: np.ndarray, direction: np.ndarray) -> float:
    """The derivative of ``f`` along ``direction``, by central differences."""
    step = 1e-6
    return (f(x + step * direction) - f(x - step * direction)) / (2 * step)


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("name", CASES)
def test_derivatives_agree_with_differences(name: str, kind: str) -> None:
    function, shape = CASES[name]
    random = np.random.RandomState(0)

    def draw() -> np.ndarray:
        drawn = random.randn(*shape)
        return drawn + 1j * random.randn(*shape) if kind == "complex" else drawn

    def first(array: np.ndarray) -> Any:
        x = torch.tensor(array, requires_grad=True)
        (g,) = torch.autograd.grad(weighted(function(x)), x, create_graph=True)
        return x, g

    at, along, across = draw(), draw(), draw()
    x, g = first(at)
    expected = slope(lambda a: weighted(function(torch.tensor(a))).item(), at, along)
    assert np.vdot(g.detach().numpy(), along).real == pytest.approx(expected, rel=1e-5, abs=1e-6)

    def projected(array: np.ndarray) -> float:
        return float(np.vdot(first(array)[1].detach().numpy(), across).real)

    fixed = torch.tensor(across)
    product = g.conj() * fixed
    (h,) = torch.autograd.grad((product.real if kind == "complex" else product).sum(), x)
    expected = slope(projected, at, along)
    assert np.vdot(h.numpy(), along).real == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 5), (2, 4, 3)])
def test_factors_multiply_back(shape: tuple[int, ...]) -> None:
    a = torch.tensor(np.random.RandomState(2).randn(*shape))
    Q, R = torch.linalg.qr(a)
    assert torch.allclose(Q @ R, a)
    assert torch.equal(R, R.triu())
    U, S, Vh = torch.linalg.svd(a, full_matrices=False)
    assert torch.allclose((U * S.unsqueeze(-2)) @ Vh, a)
    assert torch.allclose(a @ torch.linalg.pinv(a) @ a, a)


def test_the_determinant_of_a_singular_matrix_has_a_gradient() -> None:
    a = torch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=torch.float64, requires_grad=True)
    torch.linalg.det(a).backward()
    expected = torch.tensor([[4.0, -2.0], [-2.0, 1.0]], dtype=torch.float64)
    assert torch.allclose(a.grad, expected)


def test_a_singular_triangle_divides_by_zero() -> None:
    a = torch.tensor([[1.0, 1.0], [0.0, 0.0]])
    found = torch.linalg.solve_triangular(a, torch.ones(2, 1), upper=True)
    assert torch.isinf(found).all()


def test_errors_name_the_bad_matrix() -> None:
    good, bad = torch.eye(2), torch.zeros(2, 2)
    with pytest.raises(torch.linalg.LinAlgError, match=r"Batch element 1.*diagonal element 1"):
        torch.linalg.inv(torch.stack([good, bad]))
    with pytest.raises(torch.linalg.LinAlgError, match="leading minor of order 2"):
        torch.linalg.cholesky(torch.diag(torch.tensor([1.0, -1.0])))


def test_results_have_names() -> None:
    found = torch.linalg.slogdet(torch.eye(2))
    assert repr(found) == ("torch.return_types.linalg_slogdet(\nsign=tensor(1.),\n"
                           "logabsdet=tensor(0.))")


@pytest.mark.parametrize("f", [
    torch.linalg.inv, torch.linalg.det, torch.linalg.cholesky, torch.linalg.eigvalsh,
    torch.linalg.svdvals, torch.linalg.pinv, torch.linalg.matrix_norm, torch.diag,
    lambda A, out: torch.linalg.solve(A, A, out=out),
    lambda A, out: torch.linalg.solve_triangular(A, A, upper=True, out=out),
    lambda A, out: torch.linalg.matrix_power(A, 3, out=out),
    lambda A, out: torch.linalg.vecdot(A, A, out=out)])
def test_an_empty_out_takes_the_shape_of_the_result(f: Callable[..., Any]) -> None:
    A = torch.tensor([[4.0, 1.0], [1.0, 3.0]])
    out = torch.empty(0)
    assert f(A, out=out) is out
    assert torch.equal(out, f(A, out=None))


@pytest.mark.parametrize("columns", [1, 2, 4])  # the gradient of the factor is found in two ways
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_cholesky_solve_of_few_and_of_many_right_hand_sides(columns: int, upper: bool,
                                                           dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    a = torch.randn(2, 4, 4, dtype=dtype)
    factor = torch.linalg.cholesky(a @ a.mH + 3 * torch.eye(4, dtype=dtype), upper=upper)
    sides = torch.randn(4, columns, dtype=dtype, requires_grad=True)

    def solved(sides: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
        return torch.cholesky_solve(sides, factor.triu() if upper else factor.tril(), upper)

    given = sides, factor.requires_grad_()
    assert torch.autograd.gradcheck(solved, given, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(solved, given)


def test_scipys_threads_are_its_own_again() -> None:
    from concurrent.futures import ThreadPoolExecutor

    from retrograd.backend.numpy.routines import _scipys

    if _scipys("get_num_threads") is None:
        pytest.skip("SciPy came without OpenBLAS")
    before = _scipys("get_num_threads")()
    spd = torch.eye(100, dtype=torch.float64) * 2
    try:
        _scipys("set_num_threads")(2)
        with ThreadPoolExecutor(8) as pool:
            factors = list(pool.map(torch.linalg.cholesky, [spd] * 64))
        with pytest.raises(torch.linalg.LinAlgError):
            torch.linalg.cholesky(-spd)
        assert _scipys("get_num_threads")() == 2
        assert all(torch.allclose(factor @ factor.T, spd) for factor in factors)
    finally:
        _scipys("set_num_threads")(before)


@pytest.mark.parametrize("shape", [(3, 40), (40, 3)])
def test_the_rank_depends_on_the_longer_side(shape: tuple[int, int]) -> None:
    eps = torch.finfo(torch.float64).eps
    for smallest, rank in ((60 * eps, 3), (20 * eps, 2)):
        matrix = torch.zeros(shape, dtype=torch.float64)
        matrix.diagonal().copy_(torch.tensor([1.0, 0.5, smallest]))
        assert torch.linalg.matrix_rank(matrix).item() == rank
        assert (torch.linalg.pinv(matrix).abs().max() > 3).item() is (rank == 3)


OF_MATRICES = {
    "qr": torch.linalg.qr, "complete qr": lambda a: torch.linalg.qr(a, mode="complete"),
    "geqrf": torch.geqrf, "lu": torch.linalg.lu_factor, "svd": torch.linalg.svdvals,
    "eigh": lambda a: torch.linalg.eigh(a + a.mH)[0],
    "eigenvectors": lambda a: torch.linalg.eigh(a + a.mH)[1].abs(),
    "ldl": lambda a: torch.linalg.ldl_factor(a + a.mT),
    "ldl solve": lambda a: torch.linalg.ldl_solve(*torch.linalg.ldl_factor(a + a.mT), a),
    "inv": torch.linalg.inv, "slogdet": torch.linalg.slogdet,
    "solve": lambda a: torch.linalg.solve(a, a.mH),
    "triangle": lambda a: torch.linalg.solve_triangular(a, a.mH, upper=True),
    "lower triangle": lambda a: torch.linalg.solve_triangular(a, a.mH, upper=False),
    "cholesky": lambda a: torch.linalg.cholesky(a @ a.mH), "lstsq": lambda a:
        torch.linalg.lstsq(a, a.mH).solution}


@pytest.mark.parametrize("dtype", ["float32", "complex64", "float64"])
@pytest.mark.parametrize("size", [3, 5, 33, 101])
@pytest.mark.parametrize("name", OF_MATRICES)
def test_a_batch_is_its_matrices_wherever_they_lie(name: str, size: int, dtype: str) -> None:
    # Those of an odd size lie at odd places, at which some of LAPACK's routines do not write.
    torch.manual_seed(0)
    kind = getattr(torch, dtype)
    a = torch.randn(3, size, size, dtype=kind) + 2 * size**0.5 * torch.eye(size, dtype=kind)
    function = OF_MATRICES[name]
    together, single = function(a), [function(matrix) for matrix in a]
    if isinstance(together, torch.Tensor):
        together, single = (together,), [(one,) for one in single]
    for part, ones in zip(together, zip(*single, strict=True), strict=True):
        expected = torch.stack(ones)
        scale = float(expected.abs().max())
        tolerance = 1e-10 if dtype == "float64" else 2e-4
        assert torch.allclose(part, expected, rtol=tolerance, atol=tolerance * scale)


def test_routines_use_one_thread_and_leave_as_many_as_there_were(
        monkeypatch: pytest.MonkeyPatch) -> None:
    threads = [5]
    functions: dict[str, Any] = {"get_num_threads": lambda: threads[-1],
                                 "set_num_threads": threads.append}
    monkeypatch.setattr(routines._ONE_THREAD, "function", functions.get)
    with routines.routines_for(routines._SMALL):
        assert threads == [5]  # small matrices are worth none to BLAS either
    with routines.routines_for(routines._SMALL + 1):
        assert threads == [5, 1]
        with routines.routines_for(1000):
            assert threads == [5, 1]
        assert threads == [5, 1]
    assert threads == [5, 1, 5]
    with pytest.raises(KeyError), routines.routines_for(1000):
        raise KeyError
    assert threads == [5, 1, 5, 1, 5]
    functions.clear()  # a SciPy whose BLAS does not say
    with routines.routines_for(1000):
        assert threads == [5, 1, 5, 1, 5]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex128])
@pytest.mark.parametrize("shape", [(140, 140), (150, 131), (131, 150), (2, 140, 132)])
def test_least_squares_of_independent_columns_or_rows_ask_for_no_singular_values(
        shape: tuple[int, ...], dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    a = torch.randn(*shape, dtype=dtype) + 30 * torch.eye(*shape[-2:], dtype=dtype)
    pytest.importorskip("scipy.linalg")
    whole = torch.linalg.pinv(a)

    def refused(*args: Any) -> Any:
        raise AssertionError("singular values")

    monkeypatch.setattr(systems, "svd", refused)
    found = torch.as_tensor(systems.inverse_of_least_squares(a.numpy(), None, None))
    assert torch.allclose(found, whole, rtol=0, atol=2e3 * torch.finfo(dtype).eps)
    a[..., 1] = a[..., 0]
    a[..., 1, :] = a[..., 0, :]
    with pytest.raises(AssertionError, match="singular values"):
        systems.inverse_of_least_squares(a.numpy(), None, None)


@pytest.mark.parametrize("shape", [(33, 40), (40, 33), (2, 33, 40), (1, 2, 33, 33)])
def test_large_matrices_have_lapacks_routines_however_many_they_are(shape):
    from retrograd.backend.numpy.routines import routine, routine_for

    assert routine_for("geqrf", np.ones(shape)) is routine("geqrf", np.dtype("float64"))


@pytest.mark.parametrize("shape", [(32, 100), (100, 32), (100, 2, 100), (0, 40, 40), (40, 40, 0)])
def test_small_matrices_have_none_of_lapacks_routines(shape):
    from retrograd.backend.numpy.routines import routine_for

    assert routine_for("geqrf", np.ones(shape)) is None


def test_the_factors_of_a_matrix_are_one_step_of_the_graph() -> None:
    A = torch.randn(3, 5, 4, dtype=torch.float64, requires_grad=True)
    P, L, U = torch.linalg.lu(A)
    assert not P.requires_grad and L.grad_fn is U.grad_fn
    ((leaf, _),) = U.grad_fn.next_functions
    assert leaf.name() == "torch::autograd::AccumulateGrad" and leaf.variable is A
    with torch.no_grad():
        U.mul_(2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        L.sum().backward()


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5), (2, 3, 3)])
@pytest.mark.parametrize("part", [1, 2])
def test_the_gradient_of_one_factor_alone(shape: tuple[int, ...], part: int) -> None:
    A = torch.randn(*shape, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda A: torch.linalg.lu(A)[part], A)
    assert torch.autograd.gradgradcheck(lambda A: torch.linalg.lu(A)[part], A)


def test_minors_of_singular_matrices_beside_others() -> None:
    A = torch.randn(5, 3, 3, dtype=torch.float64)
    A[2, 1] = A[2, 0]
    A.requires_grad_()
    (found,) = torch.autograd.grad(torch.linalg.det(A).sum(), A)
    rows = A.detach()
    minors = torch.stack([torch.linalg.cross(rows[:, (i + 1) % 3], rows[:, (i + 2) % 3])
                          for i in range(3)], 1)
    torch.testing.assert_close(found, minors)
