"""Products with derivatives, Jacobians and Hessians, checked against formulas."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd as torch
from retrograd.autograd import functional as F, grad
from shared import saving

JACOBIANS = pytest.mark.parametrize("options", [
    {}, {"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}],
    ids=["rows", "vectorized", "forward"])


def vector(*values: float, grad: bool = False) -> Any:
    return torch.tensor(list(values), dtype=torch.float64, requires_grad=grad)


def rosenbrock(x: Any) -> Any:
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def rosenbrock_hessian(x: list[float]) -> Any:
    n = len(x)
    H = [[0.0] * n for _ in range(n)]
    for i in range(n - 1):
        H[i][i] += 1200 * x[i] ** 2 - 400 * x[i + 1] + 2
        H[i + 1][i + 1] += 200
        H[i][i + 1] = H[i + 1][i] = -400 * x[i]
    return torch.tensor(H, dtype=torch.float64)


@pytest.mark.parametrize("options", [
    {}, {"vectorize": True}, {"vectorize": True, "outer_jacobian_strategy": "forward-mode"},
    {"create_graph": True}], ids=["rows", "vectorized", "forward", "graph"])
def test_the_hessian_of_rosenbrocks_function(options: dict[str, Any]) -> None:
    x = torch.linspace(-1.5, 2.0, 12, dtype=torch.float64)
    assert torch.allclose(F.hessian(rosenbrock, x, **options), rosenbrock_hessian(x.tolist()))


@pytest.mark.parametrize("product", [F.hvp, F.vhp])
def test_products_with_a_symmetric_hessian(product: Any) -> None:
    x = torch.linspace(-1.5, 2.0, 12, dtype=torch.float64)
    v = torch.linspace(0.3, -1.0, 12, dtype=torch.float64)
    value, found = product(rosenbrock, x, v)
    assert torch.allclose(found, rosenbrock_hessian(x.tolist()) @ v)
    assert torch.allclose(value, rosenbrock(x))


@JACOBIANS
def test_the_jacobian_of_a_linear_map_is_its_matrix(options: dict[str, Any]) -> None:
    A = torch.arange(12, dtype=torch.float64).reshape(3, 4)
    x = torch.ones(4, dtype=torch.float64)
    assert torch.equal(F.jacobian(lambda x: A @ x, x, **options), A)


@JACOBIANS
def test_every_strategy_agrees_on_a_network(options: dict[str, Any]) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 5),
                                torch.nn.Softmax(dim=-1)).double()
    x = torch.rand(6, dtype=torch.float64)
    with torch.no_grad():
        (w1, b1), (w2, b2) = [(model[i].weight, model[i].bias) for i in (0, 2)]
        h = torch.tanh(w1 @ x + b1)
        s = torch.softmax(w2 @ h + b2, 0)
        J = (torch.diag(s) - torch.outer(s, s)) @ w2 @ torch.diag(1 - h ** 2) @ w1
    found = F.jacobian(model, x, **options)
    assert torch.allclose(found, J)
    assert all(p.grad is None for p in model.parameters())


def test_products_match_matrices() -> None:
    def f(x: Any, y: Any) -> Any:
        return x.sin() * y, (x * y).exp()

    x, y = vector(0.3, -0.7), vector(1.2, 0.4)
    J = F.jacobian(f, (x, y))
    v = (vector(1.0, 2.0), vector(-1.0, 0.5))
    pushed = F.jvp(f, (x, y), v)[1]
    pulled = F.vjp(f, (x, y), v)[1]
    for i in range(2):
        assert torch.allclose(pushed[i], sum(J[i][j] @ v[j] for j in range(2)))
        assert torch.allclose(pulled[i], sum(v[j] @ J[j][i] for j in range(2)))


def test_third_derivatives() -> None:
    x = vector(1.0, 2.0)
    third = F.jacobian(lambda t: F.hessian(lambda s: (s ** 4).sum(), t, create_graph=True), x)
    expected = torch.zeros(2, 2, 2, dtype=torch.float64)
    expected[0, 0, 0], expected[1, 1, 1] = 24.0, 48.0
    assert torch.allclose(third, expected)


@JACOBIANS
def test_functional_inside_func(options: dict[str, Any]) -> None:
    x = vector(0.5, 1.5)

    def trace(t: Any) -> Any:
        return F.jacobian(lambda s: s ** 3, t, create_graph=True).diagonal().sum()

    assert torch.allclose(torch.func.grad(trace)(x), 6 * x)
    inner = F.jacobian(lambda t: torch.func.grad(lambda s: (s ** 3).sum())(t), x, **options)
    assert torch.allclose(inner, torch.diag(6 * x))


def test_batched_gradients_are_the_rows() -> None:
    x = vector(1.0, 2.0, 3.0, grad=True)
    y = x.exp().cumsum(0)
    rows = torch.eye(3, dtype=torch.float64)
    (batched,) = grad(y, x, rows, retain_graph=True, is_grads_batched=True)
    for row, seed in zip(batched, rows, strict=True):
        assert torch.allclose(row, grad(y, x, seed, retain_graph=True)[0])
    (nothing,) = grad(y, x, torch.zeros(0, 3, dtype=torch.float64), is_grads_batched=True)
    assert nothing.shape == (0, 3)


def test_batched_gradients_through_writes() -> None:
    x = vector(1.0, 2.0, 3.0, grad=True)
    y = x * 1
    y[0] = x[1] ** 2
    y[1:].mul_(x[:2])
    (J,) = grad(y, x, torch.eye(3, dtype=torch.float64), is_grads_batched=True)
    expected = torch.tensor([[0, 4, 0], [2, 1, 0], [0, 3, 2]], dtype=torch.float64)
    assert torch.allclose(J, expected)


def test_shapes_of_batches_are_checked() -> None:
    x = vector(1.0, 2.0, grad=True)
    with pytest.raises(RuntimeError, match=r"grad_output\[0\] has a shape of torch.Size\(\[5\]\)"):
        grad(x * 2, x, torch.ones(3, 5, dtype=torch.float64), is_grads_batched=True)


def test_a_product_that_is_not_symmetric() -> None:
    Odd = saving(torch, lambda x, y: x * y, lambda g, x, y: (g * y ** 2, g * x ** 3))
    x, y = vector(2.0), vector(5.0)
    v = (vector(1.0), vector(3.0))

    def f(a: Any, b: Any) -> Any:
        return Odd.apply(a, b).sum()

    assert [h.item() for h in F.hvp(f, (x, y), v)[1]] == [30.0, 12.0]
    assert [h.item() for h in F.vhp(f, (x, y), v)[1]] == [36.0, 10.0]


def test_errors_name_the_function() -> None:
    with pytest.raises(TypeError, match="inputs given to jacobian must be either a Tensor"):
        F.jacobian(lambda x: x, 3.0)
    with pytest.raises(RuntimeError, match=r"Output 0 .* independent of input 1"):
        F.jacobian(lambda x, y: x, (vector(1.0), vector(2.0)), strict=True)
    with pytest.raises(RuntimeError, match="should contain a single element"):
        F.hessian(lambda x: x, vector(1.0, 2.0))
