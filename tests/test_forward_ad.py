"""Forward mode: dual tensors, custom tangents, writes, and both modes over each other."""

from __future__ import annotations

import gc
import warnings
import weakref
from typing import Any

import pytest

import retrograd as torch
from retrograd.autograd import Function, forward_ad as fw
from retrograd.base import trees
from retrograd.func import jvp, vmap


def vector(*values: float) -> Any:
    return torch.tensor(list(values), dtype=torch.float64)


X, V = (0.5, 1.5, -0.7), (1.0, -2.0, 0.25)


def tangent_of(f: Any, x: Any = None, v: Any = None) -> Any:
    with fw.dual_level():
        out = fw.unpack_dual(f(fw.make_dual(vector(*X) if x is None else x,
                                            vector(*V) if v is None else v)))
    return out.tangent


PROGRAMS = {
    "chain": lambda x: (x.sin() * x.exp()).cumsum(0),
    "views": lambda x: x.view(3, 1).expand(3, 2).t()[1] * x[0],
    "writes": lambda x: torch.cat([x, x * 2]).mul_(x[0]).relu_(),
    "buffer": lambda x: _filled(x),
    "view of a buffer": lambda x: _filled_by_rows(x),
    "parts that are written": lambda x: _written_parts(x),
    "index": lambda x: x[[0, 0, 2]] * x.flip(0),
    "matrices": lambda x: torch.outer(x, x).exp() @ x,
    "solve": lambda x: torch.linalg.solve(torch.outer(x, x) + torch.eye(3).double(), x),
}


def _filled(x: Any) -> Any:
    buffer = torch.zeros(5, dtype=torch.float64)
    early = buffer[2:]
    for i in range(3):
        buffer[i] = x[i] ** 2
    return torch.cat([buffer, early])


def _filled_by_rows(x: Any) -> Any:
    base = torch.ones(3, 4, dtype=torch.float64).t()
    column, row = base[:, 1], base[0]
    row.copy_(x)
    column.mul_(x[0])
    return base.sum(1) + column * row[1]


def _written_parts(x: Any) -> Any:
    buffer = torch.ones(3, 2, dtype=torch.float64)
    buffer.view(6)[1:4].copy_(x)
    buffer.t()[1].mul_(x[0])
    return torch.cat([buffer.reshape(-1), buffer[1] * x[1]])


@pytest.mark.parametrize("name", PROGRAMS)
def test_tangents_are_products_with_the_jacobian(name: str) -> None:
    f = PROGRAMS[name]
    J = torch.autograd.functional.jacobian(f, vector(*X))
    assert torch.allclose(tangent_of(f), J @ vector(*V))
    assert torch.allclose(jvp(f, (vector(*X),), (vector(*V),))[1], J @ vector(*V))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_batch_of_tangents(name: str) -> None:
    f = PROGRAMS[name]
    directions = torch.eye(3, dtype=torch.float64)
    J = torch.autograd.functional.jacobian(f, vector(*X))
    found = vmap(lambda v: jvp(f, (vector(*X),), (v,))[1])(directions)
    assert torch.allclose(found, J.t())


@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives_in_four_ways(name: str) -> None:
    def f(x: Any) -> Any:
        return PROGRAMS[name](x).square().sum()

    x, v = vector(*X), vector(*V)
    H = torch.autograd.functional.hessian(f, x)
    assert torch.allclose(jvp(torch.func.grad(f), (x,), (v,))[1], H @ v)
    assert torch.allclose(torch.func.grad(lambda t: jvp(f, (t,), (v,))[1])(x), H @ v)
    assert torch.allclose(jvp(lambda t: jvp(f, (t,), (v,))[1], (x,), (v,))[1], v @ H @ v)
    x.requires_grad_()
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    assert torch.allclose(torch.autograd.grad(g, x, v)[0], H @ v)


def test_views_taken_before_a_write_see_its_tangent() -> None:
    base = torch.zeros(2, 3, dtype=torch.float64)
    rows = [base[0], base[1]]
    inner = rows[1][1:]
    with fw.dual_level():
        base[1] = fw.make_dual(vector(*X), vector(*V))
        assert fw.unpack_dual(inner * 2).tangent.tolist() == [-4.0, 0.5]
        assert fw.unpack_dual(rows[0]).tangent.tolist() == [0.0, 0.0, 0.0]
    assert fw.unpack_dual(inner * 2).tangent is None


def test_buffers_are_ordinary_again_after_the_level() -> None:
    buffer = torch.zeros(3, dtype=torch.float64)
    with fw.dual_level():
        buffer.copy_(fw.make_dual(vector(*X), vector(*V)))
    buffer.mul_(2)
    with fw.dual_level():
        x = fw.make_dual(vector(1.0, 1.0, 1.0), vector(1.0, 0.0, 0.0))
        assert fw.unpack_dual(buffer).tangent is None
        assert fw.unpack_dual(buffer * x).tangent.tolist() == [1.0, 0.0, 0.0]
        buffer.mul_(x)
        assert fw.unpack_dual(buffer).tangent.tolist() == [1.0, 0.0, 0.0]
    assert buffer.tolist() == pytest.approx([2 * x for x in X])


def test_levels_leave_nothing_behind() -> None:
    with fw.dual_level():
        t = vector(*V)
        alive = weakref.ref(t._data)
        y = fw.make_dual(vector(*X), t).exp()
        del t
    del y
    gc.collect()
    assert alive() is None


# Custom functions


def cube(jvp: Any = None, factor: float = 1.0) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        y = x ** 3
        ctx.save_for_backward(x)
        ctx.save_for_forward(x, y)
        return y

    def slope(ctx: Any, t: Any) -> Any:
        return factor * 3 * ctx.saved_tensors[0] ** 2 * t

    methods = {"forward": forward, "backward": slope, "jvp": jvp or slope}
    return type("Cube", (Function,), {k: staticmethod(v) for k, v in methods.items()}).apply


def test_a_function_gives_its_own_tangent() -> None:
    wrong = cube(lambda ctx, t: 10 * t)
    assert torch.equal(tangent_of(wrong), 10 * vector(*V))
    assert torch.equal(jvp(wrong, (vector(*X),), (vector(*V),))[1], 10 * vector(*V))


def test_tangents_of_tangents_of_a_function() -> None:
    x, v = vector(*X), vector(*V)
    f = cube()
    second = jvp(lambda t: jvp(f, (t,), (v,))[1], (x,), (v,))[1]
    assert torch.allclose(second, 6 * x * v * v)
    third = jvp(lambda t: jvp(lambda s: jvp(f, (s,), (v,))[1], (t,), (v,))[1], (x,), (v,))[1]
    assert torch.allclose(third, 6 * v * v * v)


def test_the_output_saved_for_forward_has_the_lower_levels() -> None:
    def by_output(ctx: Any, t: Any) -> Any:
        x, y = ctx.saved_tensors
        return 3 * y / x * t

    x, v = vector(*X), vector(*V)
    f = cube(by_output)
    second = jvp(lambda t: jvp(f, (t,), (v,))[1], (x,), (v,))[1]
    assert torch.allclose(second, 6 * x * v * v)


def test_functions_and_reverse_mode() -> None:
    x, v = vector(*X), vector(*V)

    def f(t: Any) -> Any:
        return cube()(t).sum()

    assert torch.allclose(jvp(torch.func.grad(f), (x,), (v,))[1], 6 * x * v)
    assert torch.allclose(torch.func.grad(lambda t: jvp(f, (t,), (v,))[1])(x), 6 * x * v)
    x.requires_grad_()
    with fw.dual_level():
        y = cube()(fw.make_dual(x, v))
        slope = fw.unpack_dual(y).tangent
    slope.sum().backward()
    assert torch.allclose(x.grad, 6 * x.detach() * v)


def test_a_function_without_jvp_says_so() -> None:
    Plain = type("Plain", (Function,), {"forward": staticmethod(lambda ctx, x: x * 2)})
    with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
        tangent_of(Plain.apply)


def test_an_error_inside_a_level_closes_it() -> None:
    with pytest.raises(KeyError), fw.dual_level():
        raise KeyError
    with fw.dual_level() as level:
        assert level == 0
    with pytest.raises(RuntimeError, match="Dual level must be a positive number"):
        fw.exit_dual_level()


def test_detached_values_have_no_tangent() -> None:
    assert torch.allclose(tangent_of(lambda x: x * x.detach()), vector(*X) * vector(*V))
    slope = jvp(lambda x: x * x.detach(), (vector(*X),), (vector(*V),))[1]
    assert torch.allclose(slope, vector(*X) * vector(*V))
    both = jvp(torch.func.grad_and_value(lambda x: (x ** 3).sum()), (vector(*X),), (vector(*V),))[1]
    assert torch.allclose(both[1], (3 * vector(*X) ** 2 * vector(*V)).sum())


@pytest.mark.parametrize("rule", [True, False], ids=["generated", "loop"])
def test_tangents_of_a_batched_function(rule: bool) -> None:
    def forward(x: Any) -> Any:
        return x ** 3

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    def wrong(ctx: Any, t: Any) -> Any:
        return 10 * ctx.saved_tensors[0] ** 2 * t

    methods = {"forward": forward, "setup_context": setup_context, "jvp": wrong}
    F = type("Cube", (Function,), {"generate_vmap_rule": rule, **{
        k: staticmethod(v) for k, v in methods.items()}})
    x, v = torch.stack([vector(*X)] * 2), torch.stack([vector(*V), vector(*X)])
    expected = 10 * x ** 2 * v
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the loop
        assert torch.allclose(jvp(vmap(F.apply), (x,), (v,))[1], expected)
        assert torch.allclose(vmap(lambda a, b: jvp(F.apply, (a,), (b,))[1])(x, v), expected)


def test_a_dual_written_into_a_batch() -> None:
    def f(scale: Any, x: Any) -> Any:
        buffer = scale * torch.ones(3, dtype=torch.float64)
        buffer[1:] = x[:2] * 2
        return buffer * x

    scales, x, v = vector(1.0, 2.0), vector(*X), vector(*V)
    outside = jvp(lambda t: vmap(lambda s: f(s, t))(scales), (x,), (v,))[1]
    inside = vmap(lambda s: jvp(lambda t: f(s, t), (x,), (v,))[1])(scales)
    for k, s in enumerate(scales):
        expected = jvp(lambda t, s=s: f(s, t), (x,), (v,))[1]
        assert torch.allclose(outside[k], expected)
        assert torch.allclose(inside[k], expected)


def test_the_parts_of_a_dual_number_require_grad_by_themselves() -> None:
    x, v = torch.ones(2, 3, requires_grad=True), torch.ones(2, 3)
    value, slope = jvp(lambda a: a.view(-1), (x,), (v,))
    assert value.requires_grad and not slope.requires_grad
    value, slope = jvp(lambda a: a.sin(), (x,), (v,))
    assert value.requires_grad and slope.requires_grad
    with fw.dual_level():
        dual = fw.make_dual(v, x).exp()
        assert not dual.requires_grad and dual.is_leaf and dual.grad_fn is None
        value, slope = fw.unpack_dual(dual)
        assert not value.requires_grad
        slope.sum().backward()  # type: ignore[union-attr]
    assert x.grad is not None and x.grad.allclose(v.exp())


def test_which_part_requires_grad_is_known_in_every_nest() -> None:
    x, w = vector(1.0, 1.0, 1.0), vector(2.0, 2.0, 2.0).requires_grad_()
    grad = torch.func.grad
    assert not jvp(lambda a: jvp(lambda b: b + w, (a,), (x,))[1], (x,), (x,))[0].requires_grad
    assert jvp(lambda a: jvp(lambda b: b * w, (a,), (x,))[1], (x,), (x,))[0].requires_grad
    rows = vmap(lambda t: jvp(lambda a: a * w, (x,), (t,))[1])(torch.eye(3, dtype=torch.float64))
    assert torch.autograd.grad(rows.sum(), w)[0].tolist() == [1.0, 1.0, 1.0]
    both = jvp(grad(lambda a: (a * w).sin().sum()), (x,), (x,))
    assert all(part.requires_grad for part in both)
    assert not jvp(grad(lambda a: a.sum()), (x,), (x,))[1].requires_grad


def test_torch_detach_leaves_tangents_behind() -> None:
    with fw.dual_level():
        dual = fw.make_dual(torch.ones(2), torch.ones(2))
        assert fw.unpack_dual(torch.detach(dual)).tangent is None


@pytest.mark.parametrize("f", [
    lambda a: a.cumprod(0), lambda a: a.logcumsumexp(0),
    lambda a: torch.nn.functional.layer_norm(a, (3,), eps=0.1)],
    ids=["cumprod", "logcumsumexp", "norm"])
def test_the_gradient_of_a_second_tangent(f: Any) -> None:
    """Rules without a forward rule of their own pass on what came from outside of both levels."""
    x, c, v = (torch.tensor(values, dtype=torch.float64, requires_grad=True)
               for values in ([1.0, 2.0, 3.0], [1.0, 0.3, 0.7], [0.5, -1.0, 2.0]))
    w = torch.tensor([0.2, 0.4, 0.9], dtype=torch.float64)
    second = jvp(lambda a: jvp(f, (a,), (c,))[1], (x,), (v,))[1]
    found = torch.autograd.grad((second * w).sum(), (x, c, v))
    slope, = torch.autograd.grad((f(x) * w).sum(), x, create_graph=True)
    along, = torch.autograd.grad((slope * c).sum(), x, create_graph=True)
    expected = torch.autograd.grad((along * v).sum(), (x, c, v))
    for one, other in zip(found, expected):
        assert torch.allclose(one, other)


@pytest.mark.parametrize("swapped", [False, True])
def test_values_and_tangents_of_different_batches(swapped: bool) -> None:
    """A dual number of a level around them both."""
    outer, inner = vector(1.0, 2.0), vector(3.0, 4.0, 5.0)
    with fw.dual_level():
        def parts(a: Any, b: Any) -> Any:
            primal, tangent = (b, a) if swapped else (a, b)
            return tuple(fw.unpack_dual(fw.make_dual(primal, tangent).square()))

        values, tangents = vmap(lambda a: vmap(lambda b: parts(a, b))(inner))(outer)
    primal, tangent = (inner[None], outer[:, None]) if swapped else (outer[:, None], inner[None])
    assert values.tolist() == (primal.square() + 0 * tangent).tolist()
    assert tangents.tolist() == (2 * primal * tangent).tolist()


def test_a_custom_function_is_given_what_has_no_tangent_as_it_is() -> None:
    weight, seen = torch.nn.Parameter(vector(*V)), []

    class Scaled(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, w: Any) -> Any:
            seen.append((x is weight, w is weight))
            return x * w.detach()

        @staticmethod
        def jvp(ctx: Any, t: Any, _: Any) -> Any:
            return t * weight.detach()

    found = tangent_of(lambda x: Scaled.apply(x, weight))
    assert seen == [(False, True)] and found.tolist() == [v * v for v in V]


def test_a_custom_function_takes_a_direction_without_a_version() -> None:
    class Doubled(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            return t * 2

    with torch.inference_mode():
        direction = vector(*V)
    assert tangent_of(Doubled.apply, v=direction).tolist() == [2 * n for n in V]


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("is_batched", [False, True])
def test_parts_have_the_tangents_that_a_write_gives_to_the_whole(is_batched: bool,
                                                                 is_complex: bool) -> None:
    def cut_real(whole: Any) -> list[Any]:
        return [*whole.unbind(1), *whole.split([1, 2], 1), *whole.t().chunk(2), whole.t()[1:],
                *whole.unbind(0)[1].split(2), *whole[:, 1:].tensor_split([1], 1)]

    def cut(whole: Any) -> list[Any]:
        if not is_complex:
            return cut_real(whole)
        pairs = torch.view_as_real(whole)  # parts of another dtype than that of the whole
        return [*cut_real(whole), *cut_real(whole.real), *cut_real(whole.imag.t().t()),
                *pairs.unbind(-1), *pairs.split(1, 2), *pairs.transpose(0, 2).split([1, 2], 1)]

    def tangents(v: Any) -> list[Any]:
        with fw.dual_level():
            buffer = torch.ones(2, 3, dtype=torch.complex128 if is_complex else torch.float64)
            early = cut(buffer)
            buffer.mul_(fw.make_dual(vector(*X), v))
            return [fw.unpack_dual(part).tangent.clone() for part in early]

    directions = torch.stack([vector(*V), vector(*X)])
    found = vmap(tangents)(directions) if is_batched else tangents(directions[0])
    expected = [cut((torch.complex(v, 0 * v) if is_complex else v).expand(2, 3))
                for v in directions]
    assert len(found) == len(expected[0])
    for k, part in enumerate(found):
        assert torch.equal(part, torch.stack([whole[k] for whole in expected]) if is_batched
                           else expected[0][k])


# ---------------------------------------------------------------- interrupts


class _Interrupted:
    """A context variable: setting it is interrupted the first time, before it is set or after."""

    def __init__(self, variable: Any, is_set: bool):
        self.variable, self.is_set, self.get, self.count = variable, is_set, variable.get, 0

    def set(self, value: Any) -> None:
        self.count += 1
        if self.count > 1 or self.is_set:
            self.variable.set(value)
        if self.count == 1:
            raise KeyboardInterrupt


@pytest.mark.parametrize("is_set", [False, True])
@pytest.mark.parametrize("name", ["ACTIVE", "_data_level"])
def test_a_level_that_is_interrupted_is_not_open(
        name: str, is_set: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    active = fw.ACTIVE.get()

    def interrupt() -> None:
        monkeypatch.setattr(fw, name, _Interrupted(getattr(fw, name), is_set))

    def check() -> None:
        monkeypatch.undo()
        assert fw._current_level == -1 and fw.ACTIVE.get() == active and fw._data_level.get() == -1

    interrupt()
    with pytest.raises(KeyboardInterrupt):
        fw.enter_dual_level()
    check()
    level = fw.dual_level()
    level.__enter__()
    interrupt()
    with pytest.raises(KeyboardInterrupt):
        level.__exit__()
    check()


# ---------------------------------------------------------------- writes between levels


def _into_part(x: Any, c: Any) -> Any:
    whole = x * 2
    whole[0] = c[1]
    whole[1:].mul_(c[:2])
    return whole


def _into_views(x: Any, c: Any) -> Any:
    whole = c * 2
    first, rest = whole[:1], whole.view(3)[1:]
    whole.mul_(x)
    rest.add_(c[1:])
    return torch.cat([whole, first, rest * x[0]])


def _twice(x: Any, c: Any) -> Any:
    whole = c.clone()
    early = whole[1:]
    whole.copy_(c.sin())
    early.mul_(x[1:])
    whole.mul_(c * x)
    return whole * early[0]


def _anew(x: Any, c: Any) -> Any:
    whole = x.clone()
    whole.copy_(c)
    return whole * x.mul(3).fill_(2.0)


WRITES = {
    _into_part: lambda x, c: torch.cat([c[1:2], x[1:] * 2 * c[:2]]),
    _into_views: lambda x, c: torch.cat([
        2 * c[:1] * x[:1], 2 * c[1:] * x[1:] + c[1:], 2 * c[:1] * x[:1],
        (2 * c[1:] * x[1:] + c[1:]) * x[0]]),
    _twice: lambda x, c: (lambda whole: whole * whole[1])(
        c.sin() * torch.cat([torch.ones_like(x[:1]), x[1:]]) * c * x),
    _anew: lambda x, c: 2 * c,
}
"""Programs that write, and what they give without a write."""

NESTED: dict[str, Any] = {
    "jvp of jvp": lambda f, x, c: jvp(lambda s: jvp(
        lambda x: f(x, s.sin()), (s * x,), (c,)), (c,), (x,)),
    "jvp of jvp by the inner one": lambda f, x, c: jvp(lambda s: jvp(
        lambda y: f(y, s.sin()), (x,), (c,)), (c,), (x,)),
    "jvp of jvp by the outer one": lambda f, x, c: jvp(lambda s: jvp(
        lambda y: f(s.sin(), y), (x,), (c,)), (c,), (x,)),
    "vmap of jvp": lambda f, x, c: vmap(lambda s: jvp(
        lambda x: f(s * x, s.sin()), (x,), (c,)))(torch.stack([c, x, c * x])),
    "jvp of vmap": lambda f, x, c: jvp(lambda s: vmap(
        lambda y: f(s * y, y.sin()))(torch.stack([c, x])), (c,), (x,)),
    "jvp of vmap over one": lambda f, x, c: jvp(lambda s: vmap(
        lambda y: f(y, s.sin()))(torch.stack([c, x])), (c,), (x,)),
    "vmap of vmap": lambda f, x, c: vmap(lambda s: vmap(
        lambda y: f(s * y, y.cos() * s))(torch.stack([c, x])))(torch.stack([c, x, c * x])),
    "vmap of vmap over one": lambda f, x, c: vmap(lambda s: vmap(
        lambda y: f(y * s, y.cos()))(torch.stack([c, x])))(torch.stack([c, x, c * x])),
    "jvp of vmap of jvp": lambda f, x, c: jvp(lambda s: vmap(lambda y: jvp(
        lambda z: f(z * y, s * y), (s,), (x,)))(torch.stack([c, x])), (c,), (x,)),
    "vmap of jvp of vmap": lambda f, x, c: vmap(lambda s: jvp(lambda y: vmap(
        lambda z: f(z * s, y * z))(torch.stack([c, x])), (c,), (s,)))(torch.stack([c, x])),
}


@pytest.mark.filterwarnings("ignore:vmap runs")  # one by one
@pytest.mark.parametrize("order", NESTED)
@pytest.mark.parametrize("program", WRITES)
def test_writes_between_levels(program: Any, order: str) -> None:
    x, c = vector(*X), vector(*V)
    found = trees.flatten(NESTED[order](program, x, c))[0]
    expected = trees.flatten(NESTED[order](WRITES[program], x, c))[0]
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other), (one, other)
