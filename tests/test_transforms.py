"""Raw data of transforms: rules on it, its arithmetic, and that no short cut changes a result."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import numpy as np
import pytest

import retrograd as rg
from retrograd import func, nn
from retrograd.core.binding import raw
from retrograd.core.computing import compute
from retrograd.core.extensions import extensions
from retrograd.core.graph import Like
from retrograd.core.op import REGISTRY
from retrograd.core.tensor import wrap_any
from retrograd.transforms import (
    Batched,
    Dual,
    active,
    backward,
    batched,
    boundary,
    calls,
    dual,
    raw_rules,
)

# ---------------------------------------------------------------- rules on raw data


@pytest.mark.parametrize("name, arguments", [
    ("memory.casts.cast_gradient", (np.dtype("float32"),)), ("shapes.reshaping.reshape", ((4, 1),)),
    ("shapes.reshaping.zeros_of", ((2,),)), ("indexing.gather_scatter.constant_like", ((2,), 3.0)),
    ("elementwise.arithmetic.is_complex_value", ()), ("indexing.index_tensors._is_mask", ()),
    ("shapes.expanding.fitted", (Like((2,), np.dtype("float32")),))])
def test_helpers_of_rules_do_the_same_to_all_data(name: str, arguments: Any) -> None:
    module, function = name.rsplit(".", 1)
    helper = getattr(importlib.import_module(f"retrograd.ops.{module}"), function)
    rule = lambda value: helper(value, *arguments)
    arrays = np.arange(8.0).reshape(2, 2, 2)
    expected = rule(rg.tensor(arrays[1]))
    for made in (raw(rule, False)(arrays[1]), raw_rules.on_data(rule)(Batched(1, arrays))):
        found = made.value[1] if isinstance(made, Batched) else made
        if isinstance(expected, bool):
            assert found is expected
        else:
            assert found.dtype == expected._data.dtype
            assert np.array_equal(found, expected.numpy())


@pytest.mark.parametrize("name", ["add", "mul", "div", "tanh", "exp", "_pow_number", "mm", "mv",
                                  "_vecmat", "_linear", "_sum", "_sum_dims", "_mean", "_view",
                                  "expand", "_select", "_mse_loss", "index", "_softmax"])
def test_the_commonest_rules_work_on_raw_data(name: str) -> None:
    op = REGISTRY[name]
    rules = [*op.rules.values(), *op.forward_rules.values(), op.batch_rule]
    assert op.rules
    assert all(rule is None or raw_rules.on_data(rule) is not None for rule in rules)


def test_a_rule_that_looks_for_tensors_is_not_bound() -> None:
    def rule(g: Any) -> Any:
        return g if isinstance(g, rg.Tensor) else -g

    assert raw_rules.on_data(rule) is None
    assert raw_rules.on_data(lambda g: str(g)) is None


NUMBERS = {
    "tanh": rg.tanh, "cube": lambda x: x ** 3, "sigmoid": rg.sigmoid, "rsqrt": rg.rsqrt,
    "power of two": lambda x: 2 ** x, "arithmetic": lambda x: (x * 2 + 1) / 3 - 0.5,
    "log2": rg.log2, "atan": rg.atan, "log1p": rg.log1p, "mean": lambda x: x.mean() * x}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("dtype", [rg.float16, rg.bfloat16, rg.float32, rg.complex64,
                                   rg.complex128])
def test_numbers_in_rules_widen_nothing(name: str, dtype: Any) -> None:
    function, x = NUMBERS[name], rg.tensor([0.5, 1.5], dtype=dtype)

    def pushed(x: Any, f: Any = function) -> Any:
        return func.jvp(f, (x,), (x,))[1]

    def pulled(x: Any) -> Any:
        return func.vjp(function, x)[1](x)[0]

    for found in (pushed(x), pushed(x, pushed), pushed(x, pulled), func.vmap(pulled)(x),
                  func.vmap(pushed)(x), func.vjp(pushed, x)[1](x)[0]):
        assert found.dtype is dtype and found._data.dtype == x._data.dtype


@pytest.mark.parametrize("dtype", [rg.float16, rg.bfloat16, rg.float32, rg.float64, rg.complex64])
def test_a_number_takes_the_dtype_of_what_it_meets(dtype: Any) -> None:
    wanted = rg.ones((), dtype=dtype)._data.dtype
    found = raw_rules.number_as_array(2.5, wanted)
    assert found.dtype == wanted and float(found.real) == 2.5
    assert float(raw_rules.number_as_array(2.5, np.dtype("int64"))) == 2.5
    if dtype in (rg.float32, rg.float64):  # which are kept
        assert raw_rules.number_as_array(2.5, wanted) is found


# ---------------------------------------------------------------- arithmetic

x, y = np.array([[1.5, -2.0], [0.5, 3.0]]), np.array([[0.5, 4.0], [-1.0, 3.0]])
TRACED = {"batched": lambda a: Batched(1, a), "dual": lambda a: Dual(1, a, a * 2)}
SIGNS = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b, "lt": lambda a, b: a < b, "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
}


def parts(value: Any) -> list[Any]:
    if isinstance(value, Batched):
        return parts(value.value)
    return [*parts(value.primal), *parts(value.tangent)] if isinstance(value, Dual) else [value]


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("kind", TRACED)
def test_traced_data_computes_as_its_tensors_do(kind: str, sign: str) -> None:
    make, compute = TRACED[kind], SIGNS[sign]
    with active() as level:
        a, b = make(x), make(y)
        a.level = b.level = level
        for one, two in ((a, b), (a, y[0]), (y[0], a), (a, 2.0), (2.0, a), (a, y[0, 0])):
            got = compute(one, two)
            expected = compute(*(wrap_any(v) if isinstance(v, (Batched, Dual, np.ndarray))
                                 else v if isinstance(v, float) else wrap_any(np.asarray(v))
                                 for v in (one, two)))._data
            for mine, theirs in zip(parts(got), parts(expected), strict=True):
                np.testing.assert_array_equal(mine, theirs)


def test_traced_data_is_not_equal_to_what_is_no_number() -> None:
    held = Batched(1, x)
    assert (held == ()) is False
    assert held in [held] and len({held, held}) == 1


# ---------------------------------------------------------------- short cuts

rg.manual_seed(0)
w1, b1, w2 = rg.randn(4, 6), rg.randn(6), rg.randn(6, 3)
X, V, Y = rg.randn(5, 4), rg.randn(4), rg.randint(0, 3, (5,))
MODEL = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
WEIGHTS = {name: p.detach() for name, p in MODEL.named_parameters()}


def net(z: Any, w: Any = w1) -> Any:
    return rg.tanh(z @ w + b1) @ w2


def loss(w: Any, z: Any = X) -> Any:
    return ((net(z, w) - 1) ** 2).mean()


def sample_loss(weights: Any, z: Any, label: Any) -> Any:
    out = func.functional_call(MODEL, weights, (z.unsqueeze(0),))
    return nn.functional.cross_entropy(out, label.unsqueeze(0))


def adapted_loss(w: Any, z: Any) -> Any:
    return loss(w - 0.1 * func.grad(loss)(w, z), z)


PROGRAMS = {
    "vmap": lambda: func.vmap(net)(X),
    "vmap of a loss": lambda: func.vmap(loss, in_dims=(None, 0))(w1, X),
    "jvp": lambda: func.jvp(net, (V,), (V * 2,)),
    "jacrev": lambda: func.jacrev(net)(V),
    "jacfwd": lambda: func.jacfwd(net)(V),
    "hessian": lambda: func.hessian(lambda z: net(z).sum())(V),
    "jacrev of jacrev": lambda: func.jacrev(func.jacrev(net))(V),
    "samples": lambda: func.vmap(func.grad(sample_loss), in_dims=(None, 0, 0))(WEIGHTS, X, Y),
    "vmap of jacrev": lambda: func.vmap(func.jacrev(net))(X),
    "vmap of hessian": lambda: func.vmap(func.hessian(lambda z: net(z).prod()))(X),
    "jvp of grad": lambda: func.jvp(func.grad(loss), (w1,), (w1,)),
    "maml": lambda: func.grad(lambda w: func.vmap(adapted_loss, (None, 0))(
        w, X.unsqueeze(1)).mean())(w1),
    "indexing": lambda: func.jacrev(lambda z: z[[0, 2, 2]] * z[1:].sum())(V),
    "powers": lambda: func.hessian(lambda z: (z ** 3).sum() / (z * z).sum().sqrt())(V),
}


def flat(result: Any) -> list[Any]:
    if isinstance(result, dict):
        result = list(result.values())
    return [v for r in result for v in flat(r)] if isinstance(result, (list, tuple)) else [result]


@pytest.fixture
def general_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every op takes the general path, and every rule meets tensors."""
    for module, made, once in ((batched, "way_of", batched.way_of), (dual, "way_of", dual.way_of),
                               (backward, "_way_of", backward._way_of)):
        monkeypatch.setattr(module, made, cache(once.__wrapped__))
        monkeypatch.setattr(module, "on_data", lambda rule: None)
    monkeypatch.setattr(calls, "written", lambda op: None)
    monkeypatch.setattr(extensions, "traced_call", lambda op, args, mode: NotImplemented)
    monkeypatch.setattr(extensions, "traced_pull", lambda node, g, wanted: None)


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_short_cut_changes_a_result(name: str, request: pytest.FixtureRequest) -> None:
    quick = flat(PROGRAMS[name]())
    request.getfixturevalue("general_path")
    general = flat(PROGRAMS[name]())
    for mine, theirs in zip(quick, general, strict=True):
        assert mine.shape == theirs.shape and mine.dtype is theirs.dtype
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "complex128", "float64"])
def test_jacobians_of_every_kind_of_number(dtype: str) -> None:
    z = rg.tensor([0.5, -1.5, 2.0]).to(getattr(rg, dtype))
    rows = func.jacrev(lambda v: v * v * 3)(z)
    assert rows.dtype is z.dtype
    expected = rg.diag((6 * z).conj().resolve_conj())
    assert rg.allclose(rows.to(rg.complex128), expected.to(rg.complex128), rtol=1e-2)


def test_a_hook_sees_every_row_of_a_jacobian() -> None:
    seen = []

    def hooked(z: rg.Tensor) -> rg.Tensor:
        y = z * z
        y.register_hook(lambda g: seen.append(tuple(g.shape)))
        return y * 2

    rows = func.jacrev(hooked)(V)
    assert seen == [(4,)]
    assert rg.equal(rows, rg.diag(4 * V))


def test_a_hook_set_between_two_pulls_is_called() -> None:
    kept: list[rg.Tensor] = []

    def keeping(z: rg.Tensor) -> rg.Tensor:
        kept.append(z * z)
        return kept[0] * 2

    _, pull = func.vjp(keeping, V)
    pull(rg.ones(4))
    calls_seen: list[rg.Tensor] = []
    kept[0].register_hook(calls_seen.append)
    pull(rg.ones(4))
    assert len(calls_seen) == 1


def test_an_error_inside_vmap_is_the_general_one() -> None:
    with pytest.raises(RuntimeError, match="must match the size of tensor b"):
        func.vmap(lambda z: z + rg.ones(3))(X)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        func.vmap(lambda z: z @ rg.ones(3, 2))(X)
    with pytest.raises(IndexError, match="Dimension out of range"):
        func.vmap(lambda z: z.sum(3))(X)


def test_plain_tensors_inside_vmap_are_recorded_and_their_writes_undone() -> None:
    w = rg.ones(4, requires_grad=True)
    func.vmap(lambda z: (z * (w * 2 + 1).tanh()).sum())(X).sum().backward()
    assert w.grad is not None
    count = rg.zeros(())

    def counting(z: rg.Tensor) -> rg.Tensor:
        count.add_(1)
        return z * 2 if bool(z.sum() > 0) else z

    with pytest.warns(UserWarning, match="one by one"):
        func.vmap(counting)(X)
    assert count.item() == len(X)


# ---------------------------------------------------------------- writing in place


def writes_an_element(z: rg.Tensor) -> rg.Tensor:
    y = z.clone()
    y[0] = z[1] * 2
    return (y * y).sum()


def writes_all(z: rg.Tensor) -> rg.Tensor:
    return z.clone().mul_(z).add_(1).prod()


def writes_a_part(z: rg.Tensor) -> rg.Tensor:
    y = z * 1
    y[:2].mul_(z[1:3])
    return (y ** 3).sum()


def writes_a_column(z: rg.Tensor) -> rg.Tensor:
    y = z.unsqueeze(1) * z
    y.t()[0].mul_(z)
    return y.sin().prod()


def writes_nothing_there(z: rg.Tensor) -> rg.Tensor:
    y = z * z
    y[1].zero_()
    return (y ** 3).sum()


WRITERS = [writes_an_element, writes_all, writes_a_part, writes_a_column, writes_nothing_there]
DERIVATIVES = {
    "jacrev": func.jacrev, "jacfwd": func.jacfwd, "hessian": func.hessian,
    "forward twice": lambda f: func.jacfwd(func.jacfwd(f)),
    "reverse twice": lambda f: func.jacrev(func.jacrev(f)),
    "reverse over forward": lambda f: func.jacrev(func.jacfwd(f)),
    "directions": lambda f: lambda z: func.vmap(lambda v: func.jvp(f, (z,), (v,))[1])(
        rg.ones(2, 4, dtype=rg.float64)),
}


@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("function", WRITERS)
def test_writing_in_place_inside_nested_transforms(function: Any, derivative: str) -> None:
    """All values at once, without a warning, are what they are one by one."""
    slope = DERIVATIVES[derivative](function)
    whole = X[:3].double()
    expected = rg.stack([slope(row) for row in whole])
    assert rg.allclose(func.vmap(slope)(whole), expected)
    twice = func.vmap(func.vmap(slope))(whole.expand(2, 3, 4))
    assert rg.allclose(twice, expected.expand(2, *expected.shape))


def test_data_is_real_if_all_of_it_is_of_one_floating_dtype() -> None:
    are_real = raw_rules.are_real
    single, double = np.ones(2, np.float32), np.ones(2)
    assert are_real([double, 3, double], [0, 2]) and are_real([[single, single]], [0])
    assert not are_real([single, double], [0, 1]) and not are_real([np.ones(2, int)], [0])
    assert not are_real([None], [0]) and are_real([None, single], [0, 1])


# ---------------------------------------------------------------- the marks of data from outside


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("second", [False, True])
def test_of_several_any_one_from_outside_marks_the_result(first: bool, second: bool) -> None:
    x, cat = np.ones((2, 3)), REGISTRY["_cat"]
    many = [Batched(1, x, first), np.zeros(3), Batched(1, x, second)]
    joined = compute(cat, [many, 0])
    assert joined.outer is (first or second) and joined.value.shape == (2, 9)
    duals = [Dual(1, x, x, first), np.zeros((2, 3)), Dual(1, x, 2 * x, second)]
    joined = compute(cat, [duals, 0])
    # Without such a mark the level is over, and with it the tangents are.
    assert isinstance(joined, Dual) is (first or second)
    if first or second:
        assert joined.outer and np.array_equal(joined.tangent[:, 0], [1, 1, 0, 0, 2, 2])


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_batches_are_entered_and_left_below_data_of_higher_levels(dim: int) -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    above = Batched(5, np.stack([x, -x]))
    for data in (x, Dual(5, x, 2 * x), above, Dual(6, above, above)):
        size = x.shape[dim]
        entered = boundary.enter_batch(data, dim, 1)
        inner = entered
        while inner.level > 1:
            inner = inner.primal if isinstance(inner, Dual) else inner.value
        assert inner.level == 1 and entered.shape == tuple(np.delete(x.shape, dim))
        left = boundary.leave_batch(entered, dim, 1, size)
        for found, expected in zip(_arrays(left), _arrays(data), strict=True):
            assert np.array_equal(found, expected)
        for found, expected in zip(_arrays(boundary.leave_batch(data, dim, 1, 7)), _arrays(data),
                                   strict=True):
            at = dim + expected.ndim - 3
            assert found.shape == (*expected.shape[:at], 7, *expected.shape[at:])
            assert np.array_equal(np.take(found, 6, at), expected)


def _arrays(data: Any) -> list[Any]:
    if isinstance(data, Dual):
        return [*_arrays(data.primal), *_arrays(data.tangent)]
    return _arrays(data.value) if isinstance(data, Batched) else [data]
