"""Sparse Jacobians and Hessians: equal to the dense ones, from a pattern that the program tells."""

from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as rg
from retrograd.backend.index_sets import two_way_plan
from retrograd.func import hessian, jacfwd, jacobian, sparsity, vmap
from tests.samples import resolve
from tests.test_vmap import DRAWING, ENTRIES, Program

F8 = rg.float64


def point(*shape: int, seed: int = 0) -> rg.Tensor:
    return rg.tensor(np.random.default_rng(seed).normal(size=shape))


def pattern(func: Callable[..., Any], x: rg.Tensor) -> list[str]:
    """The pattern as a picture."""
    return ["".join(" x"[int(v)] for v in row) for row in sparsity(func)(x).toarray()]


def check(func: Callable[..., Any], *args: rg.Tensor) -> None:
    """The sparse Jacobian is the dense one, and all that is not zero is in the pattern."""
    numbers = tuple(range(len(args)))
    dense = [block.detach().numpy().reshape(func(*args).numel(), x.numel())
             for block, x in zip(jacfwd(func, numbers)(*args), args, strict=True)]
    found = jacobian(func, numbers, sparse="auto")(*args)
    for expected, got, held in zip(dense, found, sparsity(func, numbers)(*args), strict=True):
        np.testing.assert_allclose(got.toarray(), expected, rtol=1e-7, atol=1e-9)
        assert not ((abs(expected) > 1e-9) & ~held.toarray()).any()


# ---------------------------------------------------------------- every op


DETERMINED = [n for n in ENTRIES if not any(word in n for word in (*DRAWING, "normal"))] + [
    "nn.functional.normalize"]


@pytest.mark.parametrize("name", DETERMINED)
def test_every_op_on_its_samples(name: str) -> None:
    compared = 0
    for call in ENTRIES[name].calls:
        program = Program(name, call)
        places = [i for i, b in enumerate(program.arguments) if b.differentiable]
        values = program.value(0)

        def flat(*inputs: rg.Tensor, program: Any = program, places: Any = places,
                 values: Any = values) -> rg.Tensor:
            given = list(values)
            for place, value in zip(places, inputs, strict=True):
                given[place] = value
            outputs = [o.reshape(-1).double() for o in program.outputs(*given)
                       if o.is_floating_point()]
            return rg.cat(outputs) if outputs else rg.zeros(0, dtype=F8)

        inputs = [values[i] for i in places]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                size = flat(*inputs).numel() * sum(x.numel() for x in inputs)
                if compared and size > 100_000:
                    continue  # it takes seconds, and says what the small ones have said
                jacfwd(flat, tuple(range(len(inputs))))(*inputs) if inputs else None
            except Exception:
                continue  # values drawn at random need not suit
            if inputs:
                check(flat, *inputs)
                compared += 1
    takes_tensors = any(b.differentiable for call in ENTRIES[name].calls
                        for b in Program(name, call).arguments)
    assert compared or not takes_tensors or name in UNSUITED, resolve(rg, name)


UNSUITED = frozenset[str]()
"""Ops whose samples do not run on values drawn at random."""


# ---------------------------------------------------------------- patterns


@pytest.mark.parametrize(("func", "expected"), [
    (lambda x: x * x, ["x   ", " x  ", "  x ", "   x"]),
    (lambda x: x[[2, 0, 0]], ["  x ", "x   ", "x   "]),
    (lambda x: x.gather(0, rg.tensor([3, 3])), ["   x", "   x"]),
    (lambda x: rg.zeros(3, dtype=F8).scatter_add(0, rg.tensor([0, 2, 2, 0]), x),
     ["x  x", "    ", " xx "]),
    (lambda x: x.cumsum(0), ["x   ", "xx  ", "xxx ", "xxxx"]),
    (lambda x: x.flip(0).cumsum(0).flip(0), ["xxxx", " xxx", "  xx", "   x"]),
    (lambda x: rg.where(rg.tensor([True, False, True, False]), x, x.roll(1)),
     ["x   ", "x   ", "  x ", "  x "]),
    (lambda x: x.diff(), ["xx  ", " xx ", "  xx"]),
    (lambda x: rg.diag(rg.ones(3, dtype=F8), 1) @ x, [" x  ", "  x ", "   x", "    "]),
    (lambda x: rg.ones(2, 4, dtype=F8) @ x, ["xxxx", "xxxx"]),
    (lambda x: x.reshape(2, 2).sum(1), ["xx  ", "  xx"]),
    (lambda x: x.reshape(2, 2).softmax(0).reshape(-1), ["x x ", " x x", "x x ", " x x"]),
    (lambda x: (x * rg.tensor([1.0, -1, 1, -1], dtype=F8)).relu() * 0 + 1, None),
    (lambda x: x.unfold(0, 2, 1).prod(1), ["xx  ", " xx ", "  xx"]),
    (lambda x: rg.nn.functional.conv1d(x[None, None], rg.ones(1, 1, 3, dtype=F8), padding=1)[0, 0],
     ["xx  ", "xxx ", " xxx", "  xx"]),
    (lambda x: rg.nn.functional.conv_transpose1d(x[None, None], rg.ones(1, 1, 2, dtype=F8),
                                                 stride=2)[0, 0],
     ["x   ", "x   ", " x  ", " x  ", "  x ", "  x ", "   x", "   x"]),
    (lambda x: rg.nn.functional.avg_pool1d(x[None], 2)[0], ["xx  ", "  xx"]),
    (lambda x: rg.stack([x[0].exp(), x.norm()]), ["x   ", "xxxx"]),
    (lambda x: rg.view_as_real(rg.view_as_complex(x.reshape(2, 1, 2)) * 2j).reshape(-1),
     ["xx  ", "xx  ", "  xx", "  xx"]),
    (lambda x: vmap(lambda a: a * a[0])(x.reshape(2, 2)).reshape(-1),
     ["x   ", "xx  ", "  x ", "  xx"])])
def test_the_pattern_is_that_of_the_program(func: Any, expected: Any) -> None:
    x = rg.tensor([1.0, 2.0, 3.0, 4.0], dtype=F8)
    if expected is not None:
        assert pattern(func, x) == expected
    check(func, x)


def test_sorting_depends_on_what_was_sorted() -> None:
    assert pattern(lambda x: x.sort().values, rg.tensor([3.0, 1.0, 2.0])) == [" x ", "  x", "x  "]
    assert pattern(lambda x: x.max(), rg.tensor([3.0, 1.0, 2.0])) == ["x  "]


def test_writes_in_place_and_through_views() -> None:
    def heat(u: rg.Tensor) -> rg.Tensor:
        u = u.clone()
        inner = u[1:-1]
        for _ in range(2):
            inner += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[0] = 0.0
        return u

    x = point(7)
    assert pattern(heat, x)[0] == " " * 7 and pattern(heat, x)[3] == " xxxxx "
    check(heat, x)


def test_branches_on_values_are_those_of_the_point() -> None:
    def func(x: rg.Tensor) -> rg.Tensor:
        return x * x[0] if x[0] > 0 else x.exp()

    check(func, rg.tensor([1.0, 2.0]))
    assert pattern(func, rg.tensor([-1.0, 2.0])) == ["x ", " x"]


class Cube(rg.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: rg.Tensor) -> rg.Tensor:
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, g: rg.Tensor) -> rg.Tensor:
        (x,) = ctx.saved_tensors
        return g * 3 * x**2


class PushedCube(Cube):
    @staticmethod
    def jvp(ctx: Any, t: rg.Tensor) -> rg.Tensor:
        (x,) = ctx.saved_tensors
        return t * 3 * x**2


def test_a_custom_function_is_dense_and_says_so_unless_it_has_a_jvp() -> None:
    x = point(5)
    with pytest.warns(UserWarning, match="Cube: how its result depends on its input is not known"):
        held = sparsity(lambda v: Cube.apply(v[:3]))(x)
    assert held.toarray().tolist() == [[True] * 3 + [False] * 2] * 3
    assert pattern(PushedCube.apply, x[:3]) == ["x  ", " x ", "  x"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = jacobian(lambda v: Cube.apply(v) * v, sparse="auto")(x)
    np.testing.assert_allclose(found.toarray(), np.diag(4 * x.numpy()**3))


class Gated(rg.autograd.Function):
    """Has no jvp, an argument that may be constant, and an output that is no function of it."""

    @staticmethod
    def forward(ctx: Any, x: rg.Tensor, scale: Any) -> Any:
        open_ = x > 0
        ctx.mark_non_differentiable(open_)
        return x * scale, open_

    @staticmethod
    def backward(ctx: Any, g: rg.Tensor, _: Any) -> Any:
        raise AssertionError("the pattern needs no gradient")


@pytest.mark.filterwarnings("ignore:Gated")
def test_a_custom_function_depends_on_the_arguments_that_vary() -> None:
    x = point(4)
    for scale in (2.0, point(2), None):
        def func(v: rg.Tensor, scale: Any = scale) -> rg.Tensor:
            y, open_ = Gated.apply(v[:2], v[3:] if scale is None else scale)
            return y + open_
        held = sparsity(func)(x).toarray()
        assert held.tolist() == [[True, True, False, scale is None]] * 2


@pytest.mark.parametrize("func", [
    lambda x, w: rg.nn.functional.conv1d(x.reshape(2, 4, 5), w.reshape(6, 2, 2), groups=2, stride=2,
                                         padding=1),
    lambda x, w: rg.nn.functional.conv_transpose1d(x.reshape(2, 4, 5), w.reshape(4, 3, 2), groups=2,
                                                   stride=2),
    lambda x, w: rg.nn.functional.conv2d(x.reshape(2, 2, 2, 5), w[:8].reshape(2, 1, 2, 2), groups=2,
                                         dilation=(1, 2))])
def test_windows_keep_batches_and_groups_apart(func: Any) -> None:
    x, w = point(40), point(24, seed=1)
    dense = jacfwd(lambda v: func(v, w).reshape(-1))(x).numpy()
    held = sparsity(lambda v: func(v, w).reshape(-1))(x).toarray()
    assert (held == (dense != 0)).all()


# ---------------------------------------------------------------- random programs

STEPS: list[Callable[[rg.Tensor, np.random.Generator], rg.Tensor]] = [
    lambda v, r: v.sin(),
    lambda v, r: v * v.roll(1),
    lambda v, r: v[rg.tensor(r.integers(0, len(v), len(v)))],
    lambda v, r: v.scatter_add(0, rg.tensor(r.integers(0, len(v), len(v))), v.exp() * 0.1),
    lambda v, r: rg.where(v > 0, v, 0.5 * v.flip(0)),
    lambda v, r: rg.tensor(np.where(r.random((len(v), len(v))) < 0.15, 1.0, 0.0)) @ v,
    lambda v, r: rg.cat([v[1:], v[:1].exp() * 0.1]),
    lambda v, r: v.sort().values,
    lambda v, r: v + rg.nn.functional.pad(v[2:].tanh(), (1, 1)),
    lambda v, r: v.clone().index_put_((rg.tensor([0, 2]),), v[1:3] ** 2),
    lambda v, r: v - 0.1 * v.reshape(2, -1).softmax(1).reshape(-1)]


def random_program(seed: int) -> Callable[[rg.Tensor], rg.Tensor]:
    steps = np.random.default_rng(seed).choice(len(STEPS), size=4)

    def program(x: rg.Tensor) -> rg.Tensor:
        generator = np.random.default_rng(seed)
        for step in steps:
            x = STEPS[step](x, generator)
        return x

    return program


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed: int) -> None:
    program = random_program(seed)
    x = point(10, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(program, x)

        def scalar(v: rg.Tensor) -> rg.Tensor:
            return (program(v) ** 2).sin().sum()

        found = hessian(scalar, sparse="auto")(x).toarray()
    np.testing.assert_allclose(found, hessian(scalar)(x).numpy(), rtol=1e-6, atol=1e-8)


# ---------------------------------------------------------------- few passes, little memory


def arrow(x: rg.Tensor) -> rg.Tensor:
    """One full row, one full column, and a diagonal."""
    return rg.cat([x.sum()[None].sin(), x[1:] * x[0]])


def test_full_rows_and_columns_do_not_cost_a_pass_for_every_column() -> None:
    x = point(200)
    held = sparsity(arrow)(x).tocoo()
    forward, reverse = two_way_plan(held.row, held.col, held.shape)
    assert forward.count + reverse.count <= 3
    check(arrow, x)

    def star(v: rg.Tensor) -> rg.Tensor:
        return (v[0] * v[1:] ** 2).sum() + v[0] ** 3

    np.testing.assert_allclose(hessian(star, sparse="auto")(x).toarray(), hessian(star)(x).numpy())


def test_memory_is_that_of_the_nonzeros() -> None:
    count = 20_000

    def tridiagonal(v: rg.Tensor) -> rg.Tensor:
        padded = rg.nn.functional.pad(v, (1, 1))
        return padded[2:] * v - padded[:-2].sin() + v**2

    x = point(count)
    jacobian(tridiagonal, sparse="auto")(x[:10])
    tracemalloc.start()
    found = jacobian(tridiagonal, sparse="auto")(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.nnz == 3 * count - 2
    assert peak < 600 * found.nnz  # the dense one takes 3.2 GB
    np.testing.assert_allclose(found.diagonal(1)[0], x[0].item())


# ---------------------------------------------------------------- arguments and circumstances


def test_several_arguments_and_a_known_pattern() -> None:
    x, y = point(4), point(3, seed=1)

    def func(a: rg.Tensor, b: rg.Tensor) -> rg.Tensor:
        return a[:3] * b

    by_a, by_b = jacobian(func, (0, 1), sparse="auto")(x, y)
    np.testing.assert_allclose(by_a.toarray(), np.eye(3, 4) * y.numpy()[:, None])
    np.testing.assert_allclose(by_b.toarray(), np.diag(x.numpy()[:3]))
    known = sparsity(func)(x, y)
    again = jacobian(func, sparse=known)(2 * x, y)
    np.testing.assert_allclose(again.toarray(), by_a.toarray())
    assert again.dtype == np.float64
    assert jacobian(func)(x, y).shape == (3, 4)  # dense, as a tensor


@pytest.mark.parametrize("dtype", [rg.float32, rg.float64, rg.bfloat16, rg.complex128])
def test_dtypes(dtype: rg.dtype) -> None:
    x = point(4).to(dtype)
    assert pattern(lambda v: v * v.flip(0), x) == ["x  x", " xx ", " xx ", "x  x"]
    if dtype is not rg.bfloat16:
        found = jacobian(lambda v: v * v, sparse="auto")(x)
        np.testing.assert_allclose(found.toarray(), np.diag(2 * x.numpy()), rtol=1e-6)
        assert found.dtype == x.numpy().dtype


def test_odd_shapes() -> None:
    assert jacobian(lambda v: v * 2, sparse="auto")(rg.zeros(0)).shape == (0, 0)
    assert jacobian(lambda v: v * 2, sparse="auto")(rg.tensor(3.0)).toarray() == [[2.0]]
    assert jacobian(lambda v: rg.ones(2), sparse="auto")(rg.ones(3)).nnz == 0
    x = point(2, 3)
    found = jacobian(lambda v: v.T.expand(2, 3, 2), sparse="auto")(x)
    assert found.shape == (12, 6) and found.nnz == 12


def test_modes_around_it() -> None:
    x = point(3).requires_grad_()
    expected = np.diag(np.cos(x.detach().numpy()))
    for mode in (rg.no_grad, rg.inference_mode, rg.enable_grad):
        with mode():
            np.testing.assert_allclose(jacobian(rg.sin, sparse="auto")(x).toarray(), expected)
            found = hessian(lambda v: v.sin().sum(), sparse="auto")(x)
            np.testing.assert_allclose(found.diagonal(), -np.sin(x.detach().numpy()))
    with np.errstate(all="raise"):
        jacobian(lambda v: v.exp().log(), sparse="auto")(x)
    assert x.grad is None


def test_what_is_refused() -> None:
    x = point(3)
    with pytest.raises(ValueError, match="sparse is 'auto' or a pattern, not 'yes'"):
        jacobian(rg.sin, sparse="yes")
    with pytest.raises(TypeError, match="taken by tensors, not by float"):
        jacobian(rg.sin, sparse="auto")(1.0)
    with pytest.raises(TypeError, match="returns a tensor, not tuple"):
        jacobian(lambda v: (v, v), sparse="auto")(x)
    with pytest.raises(TypeError, match=r"no bfloat16: take the derivative by x\.float\(\)"):
        jacobian(rg.sin, sparse="auto")(x.bfloat16())
    with pytest.raises(TypeError, match="no bfloat16"):
        jacobian(rg.add, argnums=(0, 1), sparse="auto")(x, x.bfloat16())
    with pytest.raises(RuntimeError, match="floating point"):
        jacobian(rg.sin, sparse="auto")(rg.tensor([1, 2]))
    with pytest.raises(RuntimeError, match="cannot be taken inside vmap"):
        vmap(lambda v: jacobian(rg.sin, sparse="auto")(v))(x)
    with pytest.raises(RuntimeError, match=r"pattern is of shape \(2, 2\).*\(3, 3\)"):
        jacobian(rg.sin, sparse=np.eye(2))(x)


def test_hessians_of_what_is_added_up_along_a_dim() -> None:
    programs: list[Callable[..., Any]] = [
        lambda x: (x.cumsum(0) ** 3).sum(), lambda x: (x.flip(0).cumsum(-1) * x).sin().sum(),
        lambda x: x.reshape(2, 3).cumsum(1).square().square().sum(),
        lambda x: x.reshape(2, 3).cumsum(-2).exp().sum(), lambda x: (x[:3].cumsum(0) ** 3).sum(),
        lambda x: x[0].cumsum(0) ** 3, lambda x: x.cumprod(0).sum(), lambda x: x.cummax(0)[0].sum()]
    for program in programs:
        x = point(6)
        found = hessian(program, sparse="auto")(x).toarray()
        np.testing.assert_allclose(found, hessian(program)(x).numpy(), rtol=1e-9, atol=1e-12)
    assert pattern(lambda x: x.cumsum(0), point(3)) == ["x  ", "xx ", "xxx"]


def test_layers_whose_weights_are_the_input() -> None:
    batch, weight = point(3, 2), point(4, 2, seed=1)
    check(lambda w: rg.nn.functional.linear(batch, w), weight)
    check(lambda w: rg.nn.functional.linear(batch, w.sin(), w[:, 0]), weight)
    check(lambda w, x: rg.nn.functional.linear(x, w), weight, batch)


def test_a_pattern_may_be_given_as_a_tensor() -> None:
    x = point(4)

    def program(x: Any) -> Any:
        return x * x.flip(0)

    full = rg.tensor(sparsity(program)(x).toarray())
    expected = jacfwd(program)(x).numpy()
    for given in (full, full.to(rg.int64), full.numpy()):
        np.testing.assert_allclose(jacobian(program, sparse=given)(x).toarray(), expected)
