"""vmap against a loop: every op on its samples, forward and in both directions of derivatives;
and what happens where a program does not batch."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import retrograd as rg
from retrograd import transforms
from retrograd.core.op import REGISTRY, WAYS_TO_BATCH
from retrograd.func import grad, jvp, vmap
from tests.samples import Call, Recipe, load_all, resolve

SIZE = 2
ENTRIES = load_all()
DRAWING = ("dropout", "rrelu", "gumbel_softmax", "bernoulli", "binomial", "poisson", "multinomial",
           "rand", "_standard_gamma", "_sample_dirichlet", "nn.functional.fractional_max_pool")
# A view by strides looks at the memory of the whole batch, wherever that lies.
BY_MEMORY = ("as_strided", "as_strided_copy", "as_strided_scatter", "view_as_complex",
             "view_as_complex_copy")


class Batch:
    """One argument of a call, with a value for each element of the batch."""

    def __init__(self, recipe: Recipe):
        self.values = [Recipe(recipe.shape, recipe.low, recipe.high, recipe.kind, recipe.grad,
                              recipe.seed + 1000 * i).array("float64") for i in range(SIZE)]
        self.differentiable = recipe.grad and recipe.kind in ("float", "distinct")


def batches_of(call: Call) -> tuple[Any, list[Batch]]:
    """The call's arguments with batches in place of recipes, and the list of these."""
    found: list[Batch] = []

    def make(value: Any) -> Any:
        if isinstance(value, Recipe):
            found.append(Batch(value))
            return found[-1]
        if isinstance(value, (list, tuple)):
            return type(value)(make(v) for v in value)
        if isinstance(value, dict):
            return {k: make(v) for k, v in value.items()}
        return value

    return (make(tuple(call.args)), make(call.kwargs)), found


def filled(tree: Any, values: dict[int, Any]) -> Any:
    if isinstance(tree, Batch):
        return values[id(tree)]
    if isinstance(tree, (list, tuple)):
        return type(tree)(filled(v, values) for v in tree)
    if isinstance(tree, dict):
        return {k: filled(v, values) for k, v in tree.items()}
    return tree


def tensors_in(output: Any) -> list[rg.Tensor]:
    if isinstance(output, rg.Tensor):
        return [output]
    if isinstance(output, (list, tuple)):
        return [t for part in output for t in tensors_in(part)]
    return []


class Program:
    """One sample call as a function of its array arguments."""

    def __init__(self, name: str, call: Call):
        self.function = resolve(rg, name)
        self.tree, self.arguments = batches_of(call)

    def outputs(self, *tensors: rg.Tensor) -> tuple[rg.Tensor, ...]:
        values = {id(b): t for b, t in zip(self.arguments, tensors, strict=True)}
        args, kwargs = filled(self.tree, values)
        return tuple(tensors_in(self.function(*args, **kwargs)))

    def scalar(self, *tensors: rg.Tensor) -> rg.Tensor:
        """All outputs in one number, no two elements with the same weight."""
        total: Any = 0
        for output in self.outputs(*tensors):
            if output.is_complex():
                output = output.abs()
            if output.is_floating_point():
                weight = np.cos(np.arange(output.numel())).reshape(tuple(output.shape))
                total = total + (output * rg.tensor(weight)).sum()
        return total

    def value(self, i: int) -> list[rg.Tensor]:
        return [rg.tensor(b.values[i]) for b in self.arguments]

    def stacked(self, chosen: Any, dim: int = 0) -> list[rg.Tensor]:
        return [rg.tensor(np.stack(b.values, axis=dim)) if i in chosen else rg.tensor(b.values[0])
                for i, b in enumerate(self.arguments)]

    def chosen_value(self, chosen: Any, i: int) -> list[rg.Tensor]:
        return [rg.tensor(b.values[i if k in chosen else 0]) for k, b in enumerate(self.arguments)]


def quietly(function: Any, *args: Any) -> Any:
    """The result, or None where these arguments are refused (values of a batch need not suit)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args)
        except Exception:
            return None


def same(got: rg.Tensor, expected: rg.Tensor) -> None:
    assert got.dtype is expected.dtype
    assert tuple(got.shape) == tuple(expected.shape)
    if got.dtype is rg.bfloat16:
        got, expected = got.float(), expected.float()
    np.testing.assert_allclose(got.detach().numpy(), expected.detach().numpy(), rtol=1e-6,
                               atol=1e-8)


def runs_of(name: str) -> list[Program]:
    return [p for p in (Program(name, c) for c in ENTRIES[name].calls) if p.arguments]


NAMES = [n for n in ENTRIES if n != "normal" and (
    "nll" in n or not any(word in n for word in DRAWING))]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore")
def test_every_op_gives_what_a_loop_gives(name: str) -> None:
    for program in runs_of(name):
        count = len(program.arguments)
        for chosen in [{i} for i in range(count)] + ([set(range(count))] if count > 1 else []):
            each = [quietly(program.outputs, *program.chosen_value(chosen, i)) for i in range(SIZE)]
            if any(e is None for e in each) or not each[0] or any(
                    a.shape != b.shape for e in each for a, b in zip(each[0], e, strict=True)):
                continue
            for dim in (0,) if name in BY_MEMORY else (0, -1):
                dims = tuple(dim if i in chosen else None for i in range(count))
                found = vmap(program.outputs, in_dims=dims)(*program.stacked(chosen, dim))
                for k, got in enumerate(found):
                    same(got, rg.stack([e[k] for e in each]))


def differentiable(program: Program) -> tuple[int, ...]:
    return tuple(i for i, b in enumerate(program.arguments) if b.differentiable)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore")
def test_gradients_inside_and_outside_of_vmap_are_those_of_a_loop(name: str) -> None:
    for program in runs_of(name):
        numbers = differentiable(program)
        if not numbers:
            continue
        gradients = grad(program.scalar, argnums=numbers)
        for chosen in ({numbers[0]}, set(range(len(program.arguments)))):
            each = [quietly(gradients, *program.chosen_value(chosen, i)) for i in range(SIZE)]
            if any(e is None for e in each):
                continue
            dims = tuple(0 if i in chosen else None for i in range(len(program.arguments)))
            stacked = program.stacked(chosen)
            inside = vmap(gradients, in_dims=dims)(*stacked)
            outside = grad(lambda *t, d=dims, p=program: vmap(p.scalar, in_dims=d)(*t).sum(),
                           argnums=numbers)(*stacked)
            for k, number in enumerate(numbers):
                expected = rg.stack([e[k] for e in each])
                same(inside[k], expected)
                same(outside[k], expected if number in chosen else expected.sum(0))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore")
def test_tangents_inside_vmap_are_those_of_a_loop(name: str) -> None:
    for program in runs_of(name):
        numbers = differentiable(program)
        if not numbers:
            continue

        def slope(*tensors: rg.Tensor, p: Program = program, at: Any = numbers) -> rg.Tensor:
            def of_some(*some: rg.Tensor) -> rg.Tensor:
                every = list(tensors)
                for n, value in zip(at, some, strict=True):
                    every[n] = value
                return p.scalar(*every)

            given = tuple(tensors[n] for n in at)
            return jvp(of_some, given, tuple(t.cos() for t in given))[1]

        each = [quietly(slope, *program.value(i)) for i in range(SIZE)]
        if all(e is not None for e in each):
            same(vmap(slope)(*program.stacked(range(len(program.arguments)))), rg.stack(each))


def test_every_op_has_a_batching_rule() -> None:
    """Elementwise ops need none, and an op along dims is shifted.

    Norms keep their moments only where no transform is at work. Bags of embeddings and the entropy
    of scores made in chunks are run one by one, which says so. Sparse tensors are in no batch.
    """
    one_by_one = {"_set", "histc", "_bag_of_each", "_embedding_bag", "_chunked_entropy",
                  "_chunked_entropy_gradient"}
    one_by_one |= {name for name, op in REGISTRY.items() if ".ops.sparse." in op.kernel.__module__}
    kinds, sizes = ("dim", "dims"), {"size", "input_sizes", "shape", "source"}
    missing = {name for name, op in REGISTRY.items()
               if op.kind != "elementwise" and op.batch_rule is None
               and not (any(p.kind in kinds for p in op.params) and not sizes & set(op.by_name))}
    assert {name for name in missing if not name.endswith("_with_moments")} <= one_by_one


def test_ops_name_the_ways_to_batch_that_exist() -> None:
    assert {op.batches for op in REGISTRY.values()} - {None} == set(WAYS_TO_BATCH)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["matmul", "nn.functional.conv2d", "nn.functional.cross_entropy",
                                  "nn.functional.layer_norm", "nn.functional.embedding", "gather",
                                  "linalg.solve", "cat", "sort"])
def test_common_ops_are_not_run_one_by_one(name: str) -> None:
    transforms.batched._TOLD.clear()
    for program in runs_of(name):
        numbers = differentiable(program)
        if quietly(program.outputs, *program.value(0)) is None or \
                quietly(program.outputs, *program.value(1)) is None:
            continue
        everything = range(len(program.arguments))
        vmap(program.outputs)(*program.stacked(everything))
        if numbers:
            vmap(grad(program.scalar, argnums=numbers))(*program.stacked(everything))


# ---------------------------------------------------------------- writing


def test_views_of_a_batch_can_be_written_to() -> None:
    def doubled_corner(x: rg.Tensor) -> rg.Tensor:
        y = x.clone()
        y[0, 0] = 5.0
        y.t()[1].mul_(2)
        y.view(-1)[-1:].add_(1)
        return y

    x = rg.arange(8.0).reshape(2, 2, 2)
    same(vmap(doubled_corner)(x), rg.stack([doubled_corner(v) for v in x]))
    same(vmap(doubled_corner, in_dims=2)(x), rg.stack([doubled_corner(v) for v in x.unbind(2)]))


def test_a_batch_passed_in_is_written_to() -> None:
    x = rg.zeros(3, 2)
    vmap(lambda row: row.add_(1))(x)
    assert x.tolist() == [[1, 1]] * 3


def test_gradients_pass_through_writes_to_views_in_vmap() -> None:
    def f(x: rg.Tensor) -> rg.Tensor:
        y = x * 1
        y[0].mul_(x[1])
        return (y * y).sum()

    x = rg.arange(1.0, 7.0).reshape(3, 2)
    same(vmap(grad(f))(x), rg.stack([grad(f)(v) for v in x]))


def test_zeros_like_a_batch_can_be_filled_value_by_value() -> None:
    def f(x: rg.Tensor) -> rg.Tensor:
        out = x.new_zeros(2)
        out[1] = x.sum()
        return out + rg.zeros_like(x).copy_(x).sum()

    x = rg.arange(6.0).reshape(2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(vmap(f)(x), rg.stack([f(v) for v in x]))


# ---------------------------------------------------------------- programs that do not batch


def test_data_dependent_branches_run_one_by_one_with_one_warning_that_names_the_line() -> None:
    def f(x: rg.Tensor) -> rg.Tensor:
        if x.sum() > 1:  # the line
            return x * 2
        return -x

    x = rg.tensor([[0.0, 0.5], [3.0, 4.0]])
    with pytest.warns(UserWarning, match="one by one") as caught:
        found = vmap(f)(x)
    assert len(caught) == 1
    assert "if x.sum() > 1:  # the line" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert found.tolist() == [[-0.0, -0.5], [6.0, 8.0]]


@pytest.mark.parametrize("f", [
    lambda x: x * x.sum().item(),
    lambda x: x * float(x[0]),
    lambda x: rg.zeros(2).add_(x),
    lambda x: x[x > 1].sum(),
    lambda x: rg.tensor(x.numpy() * 2),
    lambda x: x * len(rg.unique(x.round())),
    lambda x: x[int(x[0]) % 2] * x.max(),
], ids=["item", "float", "write", "mask", "numpy", "unique", "int"])
def test_no_program_is_refused(f: Any) -> None:
    x = rg.tensor([[0.4, 0.6], [3.0, 4.0], [1.0, 7.0]])
    with pytest.warns(UserWarning, match="one by one"):
        found = vmap(f)(x)
    same(found, rg.stack([f(v) for v in x]))


def test_gradients_of_programs_that_run_one_by_one() -> None:
    def f(x: rg.Tensor) -> rg.Tensor:
        return (x ** 2).sum() if x[0] > 1 else x.sum()

    x = rg.tensor([[0.4, 0.6], [3.0, 4.0]])
    with pytest.warns(UserWarning, match="one by one"):
        same(vmap(grad(f))(x), rg.stack([grad(f)(v) for v in x]))
    with pytest.warns(UserWarning, match="one by one"):
        outside = grad(lambda t: vmap(f)(t).sum())(x)
    same(outside, rg.stack([grad(f)(v) for v in x]))


def test_the_vmap_whose_values_are_needed_is_the_one_that_loops() -> None:
    inner_sizes = []

    def outer(row: rg.Tensor, flag: rg.Tensor) -> rg.Tensor:
        def inner(x: rg.Tensor) -> rg.Tensor:
            inner_sizes.append(tuple(x.shape))
            return x * 2 if flag > 0 else x

        return vmap(inner)(row)

    x, flags = rg.arange(6.0).reshape(2, 3), rg.tensor([1.0, -1.0])
    with pytest.warns(UserWarning, match="runs outer once for each of 2"):
        found = vmap(outer)(x, flags)
    assert found.tolist() == [[0, 2, 4], [3, 4, 5]]


def test_what_a_failed_attempt_wrote_is_undone() -> None:
    calls = rg.zeros(())
    seen = rg.zeros(2)

    def f(x: rg.Tensor) -> rg.Tensor:
        calls.add_(1)
        seen[0] = 7.0
        return x * x.sum().item()

    x = rg.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    before = calls._version
    with pytest.warns(UserWarning, match="one by one"):
        vmap(f)(x)
    assert calls.item() == 3
    assert calls._version == before + 3
    assert seen.tolist() == [7.0, 0.0]


def test_numbers_drawn_in_a_failed_attempt_are_drawn_again() -> None:
    def f(x: rg.Tensor) -> rg.Tensor:
        noise = rg.rand(2)
        return noise * float(x[0])

    x = rg.ones(3, 2)
    rg.manual_seed(3)
    with pytest.warns(UserWarning, match="one by one"):
        found = vmap(f, randomness="different")(x)
    rg.manual_seed(3)
    same(found, rg.stack([f(v) for v in x]))
    rg.manual_seed(3)
    with pytest.warns(UserWarning, match="one by one"):
        found = vmap(f, randomness="same")(x)
    rg.manual_seed(3)
    same(found, rg.stack([f(x[0])] * 3))


def test_the_same_numbers_for_different_distributions() -> None:
    mean = rg.tensor([[0.0], [10.0]])
    rg.manual_seed(0)
    with pytest.warns(UserWarning, match="one by one"):
        found = vmap(lambda m: rg.normal(m, 1.0), randomness="same")(mean)
    assert found[1].item() - found[0].item() == pytest.approx(10.0)


def test_random_draws_are_refused_also_where_vmap_loops() -> None:
    with pytest.warns(UserWarning, match="one by one"), \
            pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(lambda x: x.sum().item() * rg.rand(2))(rg.ones(2, 2))


def test_values_of_a_batch_cannot_be_lost_in_numpy() -> None:
    with pytest.warns(UserWarning, match="one by one"):
        found = vmap(lambda x: rg.tensor(np.asarray(x)))(rg.ones(2, 3))
    assert tuple(found.shape) == (2, 3)


# ---------------------------------------------------------------- custom functions


def scaled_by(**members: Any) -> Any:
    """A custom function x, w -> x * w, whose derivative is recognisably the user's: twice too
    large."""

    class Scale(rg.autograd.Function):
        @staticmethod
        def forward(x, w):
            return x * w

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            x, w = ctx.saved_tensors
            return 2 * g * w, 2 * g * x

    for name, member in members.items():
        setattr(Scale, name, member)
    return Scale


def own_rule(info: Any, in_dims: Any, x: rg.Tensor, w: rg.Tensor) -> Any:
    assert info.batch_size == 3
    cls = scaled_by()
    x = x.movedim(in_dims[0], 0) if in_dims[0] is not None else x.unsqueeze(0)
    w = w.movedim(in_dims[1], 0) if in_dims[1] is not None else w.unsqueeze(0)
    return cls.apply(*rg.broadcast_tensors(x, w)), 0


@pytest.mark.parametrize("members", [{"generate_vmap_rule": True},
                                     {"vmap": staticmethod(own_rule)}, {}],
                         ids=["generated", "own", "loop"])
@pytest.mark.filterwarnings("ignore:vmap runs Scale")
def test_custom_functions_in_vmap(members: dict[str, Any]) -> None:
    cls = scaled_by(**members)
    x, w = rg.arange(6.0).reshape(3, 2), rg.tensor([2.0, 3.0])
    same(vmap(lambda v: cls.apply(v, w))(x), x * w)
    same(vmap(lambda v: cls.apply(w, v))(x), x * w)
    per_sample = vmap(grad(lambda p, v: cls.apply(v, p).sum()), in_dims=(None, 0))(w, x)
    same(per_sample, 2 * x)
    summed = grad(lambda p: vmap(lambda v: cls.apply(v, p))(x).sum())(w)
    same(summed, 2 * x.sum(0))
    same(grad(lambda t: vmap(lambda v: cls.apply(v, w))(t).sum())(x), (2 * w).expand(3, 2))


def test_a_custom_function_without_a_rule_warns_once_on_the_line() -> None:
    cls = scaled_by()
    x = rg.ones(3, 2)
    with pytest.warns(UserWarning, match="runs Scale once for each of 3") as caught:
        vmap(lambda v: cls.apply(v, v))(x)
        vmap(lambda v: cls.apply(v, v))(x)
    assert len(caught) == 1
    assert "vmap(lambda v: cls.apply(v, v))(x)" in str(caught[0].message)


def test_a_custom_function_may_leave_the_library() -> None:
    class Sine(rg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return rg.tensor(np.sin(x.numpy()))

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * rg.tensor(np.cos(x.numpy()))

    x = rg.arange(6.0).reshape(3, 2)
    with pytest.warns(UserWarning, match="runs Sine once"):
        same(vmap(grad(lambda v: Sine.apply(v).sum()))(x), x.cos())


@pytest.mark.parametrize("norm", ["layer_norm", "group_norm", "batch_norm"])
def test_weights_of_a_large_norm_are_batched(norm: str) -> None:
    x = rg.randn(64, 4, 300, dtype=rg.float64).requires_grad_()
    weights = rg.randn(3, 300 if norm == "layer_norm" else 4, dtype=rg.float64)

    def run(weight: Any) -> Any:
        if norm == "layer_norm":
            return rg.nn.functional.layer_norm(x, (300,), weight)
        if norm == "group_norm":
            return rg.nn.functional.group_norm(x, 2, weight)
        return rg.nn.functional.batch_norm(x, None, None, weight, training=True)

    same(vmap(run)(weights), rg.stack([run(w) for w in weights]))


# ---------------------------------------------------------------- memory from outside


def test_a_view_of_the_input_is_a_view_outside() -> None:
    w = rg.ones(3, 2, requires_grad=True)
    x = w * 2
    y = vmap(lambda v: v[:1])(x)
    assert y._base is x and vmap(lambda v: v, 1, 1)(x) is x
    y.mul_(5)
    x.sum().backward()
    assert w.grad.tolist() == [[10.0, 2.0]] * 3  # type: ignore[union-attr]
    assert vmap(lambda v: v.exp())(x)._base is None


def test_a_write_inside_is_history_outside() -> None:
    w = rg.ones(3, 2, requires_grad=True)
    x = w * 2
    stale = x * x
    vmap(lambda v: v.mul_(5))(x)
    assert x._version == 1
    x.sum().backward(retain_graph=True)
    assert w.grad.tolist() == [[10.0, 10.0]] * 3  # type: ignore[union-attr]
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        stale.sum().backward()
    with pytest.raises(RuntimeError, match="a leaf Variable"):
        vmap(lambda v: v.mul_(5))(w)
    assert w.tolist() == [[1.0, 1.0]] * 3


def test_the_loop_starts_from_the_values_that_were_there() -> None:
    def program(v: Any) -> Any:
        v.mul_(2)
        v[:1].add_(1)
        return v.sum() * v.sum().item()

    x = rg.ones(3, 2)
    with pytest.warns(UserWarning, match="one by one"):
        same(vmap(program)(x), rg.full((3,), 25.0))
    assert x.tolist() == [[3.0, 2.0]] * 3


REPLACING = {
    "copy": lambda x, r: x.copy_(r), "fill": lambda x, r: x.fill_(r[0]),
    "item": lambda x, r: x.__setitem__(0, r[0]),
    "index": lambda x, r: x.__setitem__(rg.tensor([0, 1]), r),
    "scatter": lambda x, r: x.scatter_(0, rg.tensor([0, 1]), r),
    "index_copy": lambda x, r: x.index_copy_(0, rg.tensor([0, 1]), r),
    "index_fill": lambda x, r: x.index_fill_(0, rg.tensor([0, 1]), r[0]),
    "put": lambda x, r: x.put_(rg.tensor([0, 1]), r),
    "masked_scatter": lambda x, r: x.masked_scatter_(rg.tensor([True, False]), r),
    "masked_fill": lambda x, r: x.masked_fill_(rg.tensor([True, False]), r[0]),
    "data": lambda x, r: x.data.copy_(r), "out": lambda x, r: rg.sin(r, out=x),
    "in another vmap": lambda x, r: vmap(lambda one: x.copy_(one))(r.expand(3, 2)),
}


@pytest.mark.parametrize("name", REPLACING)
def test_the_values_of_a_batch_do_not_overwrite_one_another(name: str) -> None:
    x, count = rg.zeros(2), rg.zeros(())

    def program(r: Any) -> Any:
        count.add_(1)
        REPLACING[name](x, r)
        return r * 1

    with pytest.raises(RuntimeError, match=r"not possible because|Batching rule not implemented"):
        vmap(program)(rg.arange(1.0, 7.0).reshape(3, 2))
    assert x.tolist() == [0, 0] and count.item() == 0 and not x._version and not count._version


def test_a_tensor_of_the_programs_own_takes_the_values_of_a_batch() -> None:
    def program(r: Any) -> Any:
        own = rg.zeros(2)
        own.copy_(r)
        own[0] = r[1]
        return own

    x = rg.arange(6.0).reshape(3, 2)
    with pytest.warns(UserWarning, match="one by one"):
        same(vmap(program)(x), x[:, [1, 1]])


def test_a_tensor_from_outside_adds_up_the_values_of_a_batch() -> None:
    total = rg.zeros(2)
    x = rg.arange(6.0).reshape(3, 2)
    with pytest.warns(UserWarning, match="one by one"):
        same(vmap(lambda r: total.add_(r))(x), x.cumsum(0))
    same(total, x.sum(0))


def test_inference_tensors_are_written_inside() -> None:
    with rg.inference_mode():
        x, count = rg.ones(3, 2), rg.zeros(())

        def program(v: Any) -> Any:
            count.add_(1)
            return v.mul_(2) * v.sum().item()

        assert vmap(lambda v: v.mul_(2))(x).tolist() == x.tolist() == [[2.0, 2.0]] * 3
        with pytest.warns(UserWarning, match="one by one"):
            assert vmap(program)(x)[:, 0].tolist() == [32.0] * 3
        assert x.tolist() == [[4.0, 4.0]] * 3 and count.item() == 3


def test_a_second_derivative_enters_a_finished_batch_from_outside() -> None:
    """A gradient of what a batch only captured is summed over it, and recorded."""
    rows = rg.arange(6.0, dtype=rg.float64).reshape(3, 2)
    for nested in (False, True):
        found = []
        for batched in (True, False):
            w = rg.tensor([0.3, -0.7], dtype=rg.float64, requires_grad=True)

            def f(row: Any, w: Any = w) -> Any:
                return (row * w).sin() * w

            if nested:
                made = vmap(vmap(f))(rows[:, None]) if batched else \
                    rg.stack([f(row) for row in rows])
            else:
                made = vmap(f)(rows) if batched else rg.stack([f(row) for row in rows])
            (first,) = rg.autograd.grad(made.sum(), w, create_graph=True)
            (second,) = rg.autograd.grad((first * first).sum(), w)
            found.append((first.detach(), second))
        for ours, wanted in zip(*found):
            assert ours.shape == wanted.shape
            assert rg.allclose(ours, wanted)


def test_a_gradient_that_a_batch_summed_goes_back_to_each_of_its_values() -> None:
    rows, weights = rg.ones(3, 2), rg.tensor([2.0, 5.0])
    for add in (vmap(lambda row, w: row + w, in_dims=(0, None)),
                lambda x, w: vmap(vmap(lambda row, w: row + w, (0, None)), (0, None))(x[None], w)):
        w, v = rg.zeros(2, requires_grad=True), rg.ones(3, 2, requires_grad=True)
        made = add(rows, w)
        (first,) = rg.autograd.grad(made, w, v.reshape(made.shape), create_graph=True)
        assert first.tolist() == [3.0, 3.0]
        (second,) = rg.autograd.grad((first * weights).sum(), v)
        assert second.tolist() == [[2.0, 5.0]] * 3


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("out_dim", [0, 1, 2])
@pytest.mark.parametrize("in_dim", [0, 1, 2])
def test_batches_of_gradients_enter_a_finished_batch(in_dim: int, out_dim: int,
                                                     nested: bool) -> None:
    def f(row: Any) -> Any:
        return row.sin() * 2

    x = rg.linspace(-1, 1, 24, dtype=rg.float64).reshape(2, 3, 4).requires_grad_()
    made = vmap(vmap(f, 1, 1) if nested else f, in_dim, out_dim)(x)
    g = rg.linspace(0, 3, 5 * 24, dtype=rg.float64).reshape(5, *made.shape).requires_grad_()
    (rows,) = rg.autograd.grad(made, x, g, is_grads_batched=True, create_graph=True)
    wanted = rg.stack([rg.autograd.grad(made, x, own, create_graph=True)[0] for own in g])
    assert rg.allclose(rows, wanted)
    h = rows.detach().cos() * rg.tensor([1.0, 2.0]).reshape(2, 1, 1, 1, 1)
    (found,) = rg.autograd.grad(rows, g, h, is_grads_batched=True)
    assert rg.allclose(found, rg.stack([rg.autograd.grad(wanted, g, own, retain_graph=True)[0]
                                        for own in h]))


def test_data_is_assigned_inside_transforms() -> None:
    def double(x: Any) -> Any:
        y = x * 1
        y.data = x.data * 2
        return y

    rows = rg.arange(6.0).reshape(3, 2)
    assert vmap(double)(rows).tolist() == (rows * 2).tolist()
    assert jvp(double, (rows,), (rg.ones(3, 2),))[0].tolist() == (rows * 2).tolist()


# ---------------------------------------------------------------- what few calls come by

SCALARS, ROWS = rg.arange(1.0, 4.0, dtype=rg.float64), rg.arange(6.0, dtype=rg.float64).view(3, 2)
YES, NO = rg.tensor(True), rg.tensor(False)
GRAD = rg.func.grad


def _hinge(x: Any) -> Any:
    return rg.nn.functional.multi_margin_loss(x, rg.tensor(1), p=2)


@pytest.mark.parametrize(("function", "given"), [
    (lambda x: GRAD(lambda x: (x.masked_select(YES) ** 2).sum())(x), (SCALARS,)),
    (lambda x: GRAD(lambda x: (x.masked_select(NO) ** 2).sum() + x * x)(x), (SCALARS,)),
    (lambda x: GRAD(GRAD(lambda x: (x.masked_select(YES) ** 3).sum()))(x), (SCALARS,)),
    (lambda x: x.masked_scatter(rg.tensor([False, False]), x[:0]), (ROWS,)),
    (lambda x, m: x.masked_scatter(m, x * 10), (ROWS, ROWS % 2 == 0)),
    (lambda x: x.index_select(0, rg.tensor([0])), (SCALARS,)),
    (lambda x: GRAD(lambda x: (x.index_select(0, rg.tensor([0])) ** 2).sum())(x), (SCALARS,)),
    (lambda x: GRAD(lambda x: (x.unfold(0, 1, 1) ** 2).sum())(x), (SCALARS,)),
    (lambda x: GRAD(lambda x: (x[:0] ** 2).sum() + (x ** 3).sum())(x), (ROWS,)),
    (lambda x: GRAD(lambda x: GRAD(lambda x: GRAD(_hinge)(x).pow(2).sum())(x).pow(2).sum())(x),
     (ROWS / 10,)),
    (lambda x: GRAD(lambda x: (x.clone().fill_(x.sum()) * x).sum())(x), (ROWS,)),
    (lambda x: rg.dist(x, rg.ones(2, dtype=rg.float64), 0), (ROWS,)),
    (lambda x: rg.nn.functional.scaled_dot_product_attention(x, x * 2, x.sin()),
     (ROWS.view(3, 1, 2).expand(3, 4, 2) * rg.arange(1.0, 5.0, dtype=rg.float64)[:, None],)),
    (lambda x: GRAD(lambda x: rg.nn.functional.scaled_dot_product_attention(
        x, x.cos(), x.sin(), is_causal=True).pow(2).sum())(x),
     (ROWS.view(3, 1, 2).expand(3, 4, 2) * rg.arange(1.0, 5.0, dtype=rg.float64)[:, None],))])
def test_a_batch_is_a_loop_where_few_calls_come_by(function: Any, given: tuple[Any, ...]) -> None:
    looped = rg.stack([function(*values) for values in zip(*given)])
    batched = rg.func.vmap(function)(*given)
    assert batched.shape == looped.shape and rg.allclose(batched, looped)


def test_draws_of_a_batch_keep_to_the_chances_of_each() -> None:
    sure = rg.nn.functional.one_hot(rg.tensor([[0, 2], [1, 0], [2, 2]]), 3).double()
    drawn = rg.func.vmap(lambda p: rg.multinomial(p, 4, True), randomness="different")(sure)
    assert drawn.equal(sure.argmax(-1)[..., None].expand(3, 2, 4))
    either = rg.tensor([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    for x in (rg.zeros(3, 2), rg.zeros(3, 4, 2)):
        drawn = rg.func.vmap(lambda x, p: x.clone().bernoulli_(p),
                             randomness="different")(x, either)
        assert drawn.equal(either.view(3, *[1] * (x.ndim - 2), 2).expand(x.shape))


PLACES_OF_MASKS = {(2,): 0, (2, 3): 0, (2, 3, 4): 0, (3,): 1, (3, 4): 1, (4,): 2}


@pytest.mark.parametrize("value", ["number", "tensor", "of the batch"])
@pytest.mark.parametrize("shape", PLACES_OF_MASKS, ids=str)
def test_one_value_is_written_under_masks_that_a_batch_does_not_share(shape: tuple[int, ...],
                                                                      value: str) -> None:
    x = rg.arange(72.0, dtype=rg.float64).reshape(3, 2, 3, 4).requires_grad_()
    masks = (rg.arange(3 * rg.Size(shape).numel()) % 5 < 2).reshape(3, *shape)
    given = rg.tensor([5.0, 7.0, 9.0], dtype=rg.float64, requires_grad=True)
    key = (slice(None),) * PLACES_OF_MASKS[shape]

    def written(x: Any, mask: Any, one: Any) -> Any:
        out = x * 2
        out[(*key, mask)] = 3.0 if value == "number" else given[1] if value == "tensor" else one
        return out

    def added(x: Any, mask: Any, one: Any) -> Any:
        return (x * 2).index_put((mask,), one if value == "of the batch" else given[:1], True)

    for write in (written, added) if not key else (written,):
        looped = rg.stack([write(*parts) for parts in zip(x, masks, given)])
        batched = vmap(write)(x, masks, given)
        same(batched, looped)
        leaves = [x, given][:1 + (value != "number" or write is added)]
        for found, expected in zip(*(rg.autograd.grad((y * y * x).sum(), leaves)
                                     for y in (batched, looped))):
            assert rg.allclose(found, expected)
