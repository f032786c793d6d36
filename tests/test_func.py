"""Transforms of functions: nested in any order, over containers and modules."""

from __future__ import annotations

import collections
import itertools
from typing import Any

import numpy as np
import pytest

import retrograd as rg
from retrograd import nn
from retrograd.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    per_sample_grad,
    reverse,
    stack_module_state,
    vjp,
    vmap,
)


def close(got: Any, expected: Any) -> None:
    got = got.detach().numpy() if isinstance(got, rg.Tensor) else got
    expected = expected.detach().numpy() if isinstance(expected, rg.Tensor) else expected
    np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-10)


# ---------------------------------------------------------------- nesting

WRAPPERS = {
    "grad": lambda f: grad(lambda x: f(x).sum()),
    "vjp": lambda f: lambda x: vjp(f, x)[1](rg.ones_like(f(x)))[0],
    "jacrev": lambda f: lambda x: jacrev(f)(x).reshape(-1, 3).sum(0),
    "jacfwd": lambda f: lambda x: jacfwd(f)(x).reshape(-1, 3).sum(0),
    "vmap": lambda f: lambda x: vmap(f)(rg.stack([x, x])).select(0, 1),
    "linearize": lambda f: lambda x: grad(lambda y: f(y).sum())(x),
}


def start(x: rg.Tensor) -> rg.Tensor:
    return x.sin() * x * (x * x).sum()


@pytest.mark.parametrize("order", list(itertools.product(WRAPPERS, repeat=2)),
                         ids=lambda order: "-".join(order))
def test_two_transforms_in_any_order(order: tuple[str, ...]) -> None:
    """Each wrapper gives the gradient of the sum (or the function itself, for vmap)."""
    x = rg.tensor([0.3, 0.7, -0.2], dtype=rg.float64)
    f: Any = start
    for name in order:
        f = WRAPPERS[name](f)
    expected = start(x)
    y = x.clone().requires_grad_()
    expected = start(y)
    for name in order:
        if name != "vmap":
            (expected,) = rg.autograd.grad(expected.sum(), y, create_graph=True)
    close(f(x), expected)


def test_jvp_of_grad_is_a_hessian_vector_product() -> None:
    x, v = rg.rand(4, dtype=rg.float64), rg.rand(4, dtype=rg.float64)

    def f(x: rg.Tensor) -> rg.Tensor:
        return (x.exp() * x).prod()

    close(jvp(grad(f), (x,), (v,))[1], hessian(f)(x) @ v)
    close(vjp(grad(f), x)[1](v)[0], hessian(f)(x) @ v)


# ---------------------------------------------------------------- containers

Pair = collections.namedtuple("Pair", "first second")


def test_gradients_come_in_the_container_of_the_argument() -> None:
    tree = {"a": rg.tensor([1.0, 2.0]), "b": [rg.tensor(3.0), Pair(rg.tensor(4.0), rg.tensor(5.0))]}
    found = grad(lambda t: (t["a"] * t["b"][0]).sum() + t["b"][1].first * t["b"][1].second)(tree)
    assert found["a"].tolist() == [3, 3]
    assert found["b"][0].item() == 3
    assert isinstance(found["b"][1], Pair)
    assert (found["b"][1].first.item(), found["b"][1].second.item()) == (5, 4)


def test_vmap_over_parts_of_a_container() -> None:
    x, w = rg.arange(6.0).reshape(3, 2), rg.tensor([1.0, 2.0])
    found = vmap(lambda t: {"y": t["x"] * t["w"], "s": t["x"].sum()},
                 in_dims=({"x": 0, "w": None},), out_dims={"y": 1, "s": 0})({"x": x, "w": w})
    assert tuple(found["y"].shape) == (2, 3)
    close(found["y"], (x * w).T)
    close(found["s"], x.sum(1))


def test_chunks_give_the_whole() -> None:
    x = rg.arange(14.0, dtype=rg.float64).reshape(7, 2)
    for size in (1, 2, 3, 7, 100):
        close(vmap(lambda v: v.cumsum(0), chunk_size=size, out_dims=1)(x), x.cumsum(1).T)
        close(jacrev(lambda v: v.sin(), chunk_size=size)(x[0]), x[0].cos().diag())


# ---------------------------------------------------------------- linearize


def test_linearize_runs_the_function_once() -> None:
    calls = []

    def f(x: rg.Tensor, y: rg.Tensor) -> dict[str, rg.Tensor]:
        calls.append(1)
        return {"p": x * y, "s": x.sin()}

    x, y = rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0])
    output, push = linearize(f, x, y)
    for direction in (rg.tensor([1.0, 0.0]), rg.tensor([0.5, -1.0])):
        found = push(direction, direction)
        close(found["p"], direction * y + x * direction)
        close(found["s"], direction * x.cos())
    assert len(calls) == 1
    close(output["p"], x * y)


def test_linearized_functions_can_be_mapped_and_differentiated() -> None:
    x = rg.tensor([1.0, 2.0], dtype=rg.float64)
    _, push = linearize(lambda x: x ** 3, x)
    close(vmap(push)(rg.eye(2, dtype=rg.float64)), (3 * x ** 2).diag())
    close(grad(lambda v: push(v).sum())(x), 3 * x ** 2)


@pytest.mark.parametrize("which", [0, 1])
def test_a_linearized_function_is_differentiated_by_any_of_its_directions(which: int) -> None:
    x, y = rg.tensor([1.0, 2.0]), rg.tensor([3.0, 4.0])
    _, push = linearize(lambda x, y: x * y, x, y)
    directions = [rg.ones(2), rg.ones(2)]
    directions[which].requires_grad_()
    push(*directions).sum().backward()
    close(directions[which].grad, (y, x)[which])
    assert not push(rg.ones(2), rg.ones(2)).requires_grad


def test_linearized_constants_have_no_slope() -> None:
    output, push = linearize(lambda x: rg.ones(2), rg.zeros(3))
    assert push(rg.ones(3)).tolist() == [0, 0]
    assert output.tolist() == [1, 1]


# ---------------------------------------------------------------- per-sample gradients


def small_model() -> nn.Module:
    rg.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()


def test_per_sample_gradients_of_a_recorded_loss() -> None:
    model = small_model()
    x = rg.rand(5, 3, dtype=rg.float64)
    y = rg.tensor([0, 1, 1, 0, 1])
    losses = nn.functional.cross_entropy(model(x), y, reduction="none")
    found = per_sample_grad(losses, model)
    for i in range(5):
        loss = nn.functional.cross_entropy(model(x[i:i + 1]), y[i:i + 1])
        for (name, _), g in zip(model.named_parameters(),
                                rg.autograd.grad(loss, list(model.parameters())), strict=True):
            close(found[name][i], g)


def test_per_sample_gradients_in_chunks_and_containers() -> None:
    w = rg.rand(3, dtype=rg.float64, requires_grad=True)
    unused = rg.ones(2, requires_grad=True)
    x = rg.rand(5, 3, dtype=rg.float64)
    losses = (x @ w) ** 2
    found = per_sample_grad(losses, {"w": w, "rest": [unused]}, chunk_size=2, retain_graph=True)
    close(found["w"], (2 * (x @ w)).unsqueeze(1) * x)
    assert tuple(found["rest"][0].shape) == (5, 2)
    assert found["rest"][0].sum().item() == 0
    close(per_sample_grad(losses, w), found["w"])
    with pytest.raises(RuntimeError, match="second time"):
        per_sample_grad(losses, w)


def test_per_sample_gradients_can_be_differentiated_again() -> None:
    w = rg.rand(3, dtype=rg.float64, requires_grad=True)
    x = rg.rand(5, 3, dtype=rg.float64)
    found = per_sample_grad((x @ w) ** 2, w, create_graph=True)
    (again,) = rg.autograd.grad((found ** 2).sum(), w)
    norms = (x ** 2).sum(1)
    close(again, (8 * (x @ w) * norms) @ x)


@pytest.mark.parametrize(("losses", "parameters", "error"), [
    (lambda w: (w * w).sum(), lambda w: w, "one loss for each sample"),
    (lambda w: w * w, lambda w: w.detach(), "requires grad"),
    (lambda w: w * w, lambda w: [w, 3], "must be a Tensor"),
])
def test_per_sample_gradients_refuse(losses: Any, parameters: Any, error: str) -> None:
    w = rg.rand(3, requires_grad=True)
    with pytest.raises(RuntimeError, match=error):
        per_sample_grad(losses(w), parameters(w))


# ---------------------------------------------------------------- modules


def test_an_ensemble_is_one_mapped_call() -> None:
    models = [nn.Linear(3, 2) for _ in range(4)]
    parameters, buffers = stack_module_state(models)
    x = rg.rand(5, 3)
    found = vmap(lambda p, b: functional_call(models[0], (p, b), (x,)))(parameters, buffers)
    np.testing.assert_allclose(found.detach().numpy(),
                               rg.stack([m(x) for m in models]).detach().numpy(), rtol=1e-5)


def test_per_sample_gradients_by_functional_call() -> None:
    model = small_model()
    parameters = {n: p.detach() for n, p in model.named_parameters()}
    x, y = rg.rand(5, 3, dtype=rg.float64), rg.rand(5, 2, dtype=rg.float64)

    def loss(p: Any, x: rg.Tensor, y: rg.Tensor) -> rg.Tensor:
        return ((functional_call(model, p, x) - y) ** 2).sum()

    found = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, x, y)
    recorded = per_sample_grad(((model(x) - y) ** 2).sum(1), model)
    for name in parameters:
        close(found[name], recorded[name])


def test_a_module_gets_its_own_tensors_back_after_an_error() -> None:
    model = nn.Linear(3, 2)
    own = model.weight
    with pytest.raises(RuntimeError):
        functional_call(model, {"weight": rg.ones(7, 7), "extra": rg.ones(1)}, rg.ones(3))
    assert model.weight is own
    assert not hasattr(model, "extra")


def test_buffers_that_a_module_replaces_are_handed_back() -> None:
    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", rg.zeros(()))

        def forward(self, x: rg.Tensor) -> rg.Tensor:
            self.count = self.count + 1
            return x * self.count

    model, state = Counter(), {"count": rg.tensor(5.0)}
    assert functional_call(model, state, rg.ones(())).item() == 6
    assert state["count"].item() == 6
    assert model.count.item() == 0


# ---------------------------------------------------------------- what stays outside


def test_results_of_a_plain_call_have_no_history() -> None:
    x = rg.rand(3)
    for found in (grad(lambda x: x.sum())(x), *vjp(lambda x: x * 2, x)[:1],
                  *jvp(lambda x: x * 2, (x,), (x,)), *grad_and_value(lambda x: x.prod())(x)):
        assert not found.requires_grad


def test_gradients_of_what_a_function_closes_over() -> None:
    w = rg.tensor([2.0, 3.0], requires_grad=True)
    x = rg.tensor([1.0, 4.0])
    grad(lambda x: (w * x ** 2).sum())(x).sum().backward()
    assert w.grad.tolist() == [2, 8]
    w.grad = None
    vmap(lambda v: (w * v).sum())(rg.stack([x, x])).sum().backward()
    assert w.grad.tolist() == [2, 8]


def test_argnums_that_name_one_argument_twice_are_refused() -> None:
    with pytest.raises(RuntimeError, match="must be unique"):
        grad(lambda a, b: a * b, argnums=(0, -2))(rg.tensor(1.0), rg.tensor(2.0))


@pytest.mark.parametrize("output", [None, (), []])
def test_a_function_without_results_has_no_derivative(output: Any) -> None:
    x = rg.ones(2)
    for transform in (lambda f: rg.func.vjp(f, x), lambda f: rg.func.jvp(f, (x,), (x,)),
                      lambda f: rg.func.jacrev(f)(x), lambda f: rg.func.jacfwd(f)(x)):
        with pytest.raises(RuntimeError, match="has non-empty output"):
            transform(lambda x: output)


def test_forward_mode_that_is_off_outside_is_on_inside_jvp() -> None:
    x = rg.tensor(0.5)
    with rg.autograd.forward_ad._set_fwd_grad_enabled(False):
        assert rg.func.jvp(rg.sin, (x,), (rg.ones(()),))[1].item() == x.cos().item()


def test_vjp_made_without_recording_can_be_recorded() -> None:
    x = rg.tensor(3.0, requires_grad=True)
    with rg.no_grad():
        out, pull = rg.func.vjp(lambda a: a ** 2, x)
    (y,) = pull(rg.tensor(1.0))
    assert not out.requires_grad and y.item() == 6
    assert rg.autograd.grad(y, x)[0].item() == 2


def test_transforms_can_be_looked_into() -> None:
    functorch = rg._C._functorch
    x = rg.arange(6.0).reshape(2, 3)
    seen = []

    def program(v: Any) -> Any:
        seen.append((functorch.is_batchedtensor(v), functorch.maybe_get_level(v),
                     functorch.maybe_get_bdim(v), functorch.get_unwrapped(v).tolist(),
                     rg.func.debug_unwrap(v).tolist(),
                     rg.func.debug_unwrap(v, recurse=False).tolist()))
        return v

    rg.vmap(program)(x)
    assert seen == [(True, 1, 0, x.tolist(), x.tolist(), x.tolist())]
    assert functorch.maybe_get_level(x) == functorch.maybe_get_bdim(x) == -1
    assert not functorch.is_functorch_wrapped_tensor(x) and rg.func.debug_unwrap(x) is x
    with pytest.raises(RuntimeError, match="No wrappers"):
        functorch.get_unwrapped(x)
    with rg.autograd.forward_ad.dual_level():
        dual = rg.autograd.forward_ad.make_dual(x, x)
        assert functorch.is_gradtrackingtensor(dual) and functorch.maybe_current_level() == 1
        assert rg.func.debug_unwrap(dual).tolist() == x.tolist()


def test_names_of_functorch() -> None:
    from retrograd._functorch.eager_transforms import _slice_argnums

    assert _slice_argnums((1, 2, 3), (0, -1)) == (1, 3)
    assert _slice_argnums((1, 2, 3), -1) == (3,) and _slice_argnums((1,), 0, as_tuple=False) == 1
    assert rg._functorch.apis.vmap is rg._functorch.vmap.vmap is rg.func.vmap
    x = rg.arange(24.0).reshape(2, 3, 4)
    functorch = rg._C._functorch
    assert functorch.reshape_dim_into(0, -1, x).equal(x.movedim(0, 1).reshape(3, 8))
    assert functorch.reshape_dim_outof(-1, 2, x).equal(x.reshape(2, 3, 2, 2))
    with pytest.raises(RuntimeError, match="no multiple"):
        functorch.reshape_dim_outof(1, 2, x)


def test_complex_slopes_along_real_inputs_are_left_to_forward_mode() -> None:
    """A row of reverse mode would hold half of such a slope."""
    x, z = rg.tensor([2.0, 3.0]), rg.tensor([1 + 1j, 2j])

    def product(x: Any, z: Any) -> Any:
        return x * z

    for argnums in (0, (0, 1)):
        with pytest.raises(RuntimeError, match="Expected all outputs to be real"):
            jacrev(product, argnums)(x, z)
    assert jacrev(product, 1)(x, z).tolist() == [[2, 0], [0, 3]]
    assert jacfwd(product)(x, z).tolist() == [[1 + 1j, 0], [0, 2j]]


def test_a_call_with_other_tensors_leaves_tied_ones_that_are_not_given():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 2, bias=False)
            self.second.weight = self.first.weight

        def forward(self, x):
            return self.second(self.first(x))

    model, x = Tied(), rg.ones(2)
    shifted = functional_call(model, {"first.bias": model.first.bias + 1}, (x,))
    expected = model(x) + model.first.weight @ rg.ones(2)
    assert rg.allclose(shifted, expected)
    doubled = functional_call(model, {"second.weight": 2 * rg.eye(2)}, (x,))
    assert rg.allclose(doubled, 4 * x + 2 * model.first.bias)


# ---------------------------------------------------------------- the rows of a Jacobian


@pytest.mark.parametrize("is_watched, grad, at_once", [
    (False, True, True), (False, False, True), (True, True, False), (True, False, True)])
def test_rows_are_pulled_back_in_one_pass_unless_they_are_recorded(
        is_watched: bool, grad: bool, at_once: bool) -> None:
    w = rg.tensor([2.0, 3.0], requires_grad=is_watched)
    _, _, backward = reverse.ran(lambda x: x * w, (rg.ones(2),), False)
    with rg.set_grad_enabled(grad):
        rows = backward.rows(reverse.standard_basis(backward.outputs, [2]), 2)
    assert (rows is not None) is at_once
    if rows is not None:
        assert rg.equal(rows[0], rg.diag(w.detach()))


@pytest.mark.parametrize("fails", [False, True])
def test_numbers_are_drawn_as_before_after_values_were_taken_one_by_one(fails: bool) -> None:
    def one(v: rg.Tensor) -> rg.Tensor:
        if v.item() > 1 and fails:
            raise KeyError
        return v * v.item()

    x = rg.arange(3.0)
    with pytest.warns(UserWarning, match="once for each of 3 values"):
        if fails:
            with pytest.raises(KeyError):
                vmap(one)(x)
        else:
            assert vmap(one)(x).tolist() == [0.0, 1.0, 4.0]
    assert rg.rand(2).unique().numel() == 2
    assert vmap(lambda v: v * 0 + rg.rand(()), randomness="same")(x).unique().numel() == 1


@pytest.mark.parametrize(("randomness", "count"), [("same", 1), ("different", 4)])
def test_what_is_drawn_where_values_are_taken_one_by_one(randomness: str, count: int) -> None:
    with pytest.warns(UserWarning, match="once for each of 4 values"):
        drawn = vmap(lambda v: rg.rand(()) + 0 * v.item(), randomness=randomness)(rg.ones(4))
    assert drawn.unique().numel() == count


COUNTING = {
    "in place": lambda buffer: buffer.add_(1), "out": lambda buffer: rg.add(buffer, 1, out=buffer),
    "part": lambda buffer: buffer[1:].add_(1), "put": lambda buffer: buffer.__setitem__(0, 1.0),
    "copy": lambda buffer: buffer.copy_(buffer + 1), "data": lambda buffer: buffer.fill_(5.0),
    "out of part": lambda buffer: rg.mul(buffer[:1], 2, out=buffer[:1]),
    "function": lambda buffer: rg.cumsum(buffer.clone(), 0, out=buffer),
}


@pytest.mark.parametrize("name", COUNTING)
def test_what_was_written_before_values_are_taken_one_by_one_is_written_once_for_each(
        name: str) -> None:
    write, buffer, wanted = COUNTING[name], rg.ones(3), rg.ones(3)
    for _ in range(3):
        write(wanted)

    def one(v: rg.Tensor) -> rg.Tensor:
        write(buffer)
        return v * v.item()

    with pytest.warns(UserWarning, match="once for each of 3 values"):
        vmap(one)(rg.arange(3.0))
    assert buffer.tolist() == wanted.tolist()
