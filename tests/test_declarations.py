"""Declarations are checked where they stand; the message says what to write."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.backend import xp
from retrograd.codegen.switch import GeneralPath
from retrograd.core import declaration
from retrograd.core.op import (
    COMPOSITES,
    GENERATED,
    PUBLIC,
    REGISTRY,
    Array,
    Arrays,
    Dim,
    composite,
    elementwise,
    linear,
    op,
    view,
)
from retrograd.ops.elementwise.trigonometry import cos

HIDDEN: dict[str, Any] = {"function": None, "method": False}


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    """What a test declares is gone after it."""
    before = set(REGISTRY)
    yield
    for name in REGISTRY.keys() - before:
        del REGISTRY[name]


def refused(words: str) -> Any:
    return pytest.raises(TypeError, match=words)


def kernel_of(source: str) -> Any:
    """A kernel with any signature; annotations are text, as in a file that postpones them."""
    scope: dict[str, Any] = {"__name__": __name__}
    exec(compile(f"from __future__ import annotations\n{source}: return xp.sin(input)", "<user>",
                 "exec"), scope)
    return next(v for n, v in scope.items() if n.startswith("mine"))


def mine() -> Any:
    """A user's own op."""

    @elementwise(**HIDDEN)
    def mine(input: Array, other: Array, power: int = 2, mode: Any = None) -> Any:
        """A user's own op."""
        return xp.sin(input) * other ** power

    return mine


# ---------------------------------------------------------------- an op of one's own


def helper(input: Any) -> Any:
    return torch.cos(input)


def test_a_users_op_works_in_every_mode() -> None:
    """Its rule calls ops by module, and helpers of its own file."""

    @elementwise(**HIDDEN)
    def mine_sin(input: Array) -> Any:
        return xp.sin(input)

    mine_sin.vjp(input=lambda g, input: g * torch.conj(helper(input)))
    data = [0.5, -1.0, 2.0]
    x = torch.tensor(data, requires_grad=True)
    (first,) = torch.autograd.grad(mine_sin(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    np.testing.assert_allclose(first.detach().numpy(), np.cos(data), rtol=1e-6)
    np.testing.assert_allclose(second.numpy(), -np.sin(data), rtol=1e-6)
    x = torch.tensor(data)
    _, slope = torch.func.jvp(mine_sin, (x,), (torch.ones(3),))
    np.testing.assert_allclose(slope.numpy(), np.cos(data), rtol=1e-6)
    slopes = torch.func.vmap(torch.func.grad(mine_sin))(x)
    np.testing.assert_allclose(slopes.numpy(), np.cos(data), rtol=1e-6)
    jacobian = torch.func.jacrev(mine_sin)(x)
    np.testing.assert_allclose(jacobian.numpy(), np.diag(np.cos(data)), rtol=1e-6)
    z = torch.tensor([1 + 2j], requires_grad=True)
    (found,) = torch.autograd.grad(mine_sin(z).real.sum(), z)
    np.testing.assert_allclose(found.numpy(), np.conj(np.cos(z.detach().numpy())), rtol=1e-5)


# ---------------------------------------------------------------- kernels


@pytest.mark.parametrize("note, words", [
    ("Aray", "'input' is annotated 'Aray' \\(did you mean 'Array'\\?\\); write one of Array, "),
    ("Tensor", "'input' is annotated 'Tensor'; write one of Array, "),
    ("torch.Tensor | None", "'input' is annotated 'torch.Tensor | None'"),
])
def test_an_unknown_annotation(note: str, words: str) -> None:
    with refused(words):
        op(**HIDDEN)(kernel_of(f"def mine(input: {note})"))


def test_a_missing_annotation() -> None:
    with refused("'input' is not annotated; write one of Array, "):
        op(**HIDDEN)(kernel_of("def mine(input)"))


def test_annotations_that_are_not_text() -> None:
    def mine(input: Any) -> Any:
        return input

    mine.__annotations__["input"] = Array
    with refused("put 'from __future__ import annotations' at the top of the file"):
        op(**HIDDEN)(mine)


@pytest.mark.parametrize("rest", ["*more: Array", "**named: Array"])
def test_arguments_without_names(rest: str) -> None:
    with refused("an op names each of its arguments"):
        op(**HIDDEN)(kernel_of(f"def mine(input: Array, {rest})"))


def test_a_kernel_that_is_no_function() -> None:
    with refused("declared by a function, not by <ufunc 'sin'>"):
        op(**HIDDEN)(np.sin)


@pytest.mark.parametrize("name", ["g", "y", "like", "tangent", "node", "m", "call", "Tensor",
                                  "ndarray"])
def test_a_reserved_name(name: str) -> None:
    with refused(f"an argument cannot be called '{name}'.*call it otherwise"):
        op(**HIDDEN)(kernel_of(f"def mine(input: Array, {name}: int = 1)"))


def test_a_name_is_declared_once() -> None:
    mine()
    with refused("'mine' is declared already, in .*test_declarations: give this one another name"):
        mine()
    before = REGISTRY["sin"]
    with refused("'sin' is declared already, in retrograd.ops"):
        @elementwise()
        def sin(input: Array) -> Any:
            return xp.sin(input)
    assert REGISTRY["sin"] is before and PUBLIC["torch"]["sin"] is before.function is torch.sin


def test_a_public_name_is_offered_once() -> None:
    with refused("there is a public function 'flatten' already.*function=None"):
        @composite(function="torch")
        def flatten(input: Any) -> Any:
            return input
    assert COMPOSITES["flatten"] is torch.flatten
    with refused("there is a public function 'flatten' already"):
        @op(method=False)
        def flatten(input: Array) -> Any:
            return input
    assert "flatten" not in REGISTRY and PUBLIC["torch"]["flatten"] is torch.flatten


# ---------------------------------------------------------------- options


@pytest.mark.parametrize("declare", [elementwise, linear, view, op])
def test_an_unknown_option(declare: Any) -> None:
    with refused("there is no option 'inplce' \\(did you mean 'inplace'\\?\\); the options of a "
                 "declaration are aliases, any_dtype, "):
        declare(inplce=True)


def test_an_unknown_promotion() -> None:
    with refused("promote='int': write 'same'"):
        elementwise(promote="int")


@pytest.mark.parametrize("declare", [op, composite])
def test_an_unknown_namespace(declare: Any) -> None:
    with refused("function='functional' is no public namespace; write one of torch, nn.functional"):
        declare(function="functional")


@pytest.mark.parametrize("source", ["def mine(size: int)", "def mine(size: int, input: Array)",
                                    "def mine(input: Index)", "def mine()"])
def test_inplace_without_an_array_to_write_to(source: str) -> None:
    with refused("inplace writes to the first argument, which must be an Array"):
        op(inplace=True, **HIDDEN)(kernel_of(source))
    assert not hasattr(torch.Tensor, "mine_") and "mine" not in REGISTRY


def test_inplace_with_several_outputs_or_of_a_view() -> None:
    kernel = kernel_of("def mine(input: Array)")
    with refused("inplace is for ops with one output"):
        op(inplace=True, outputs=("values", "indices"), **HIDDEN)(kernel)
    with refused("in memory of its own"):
        view(inplace=True, **HIDDEN)(kernel)


@pytest.mark.parametrize("outputs", [("values", ""), ("values", None), "values", ["values"],
                                     ("1st", "2nd")])
def test_an_unnamed_output(outputs: Any) -> None:
    with refused("write a tuple with a name for each output"):
        op(outputs=outputs, **HIDDEN)(kernel_of("def mine(input: Array)"))


@pytest.mark.parametrize("outputs", [("values", "values"), ("input", "values"), ("g", "values"),
                                     ("y", "values")])
def test_an_output_with_the_name_of_something_else(outputs: Any) -> None:
    with refused("no output can be called '.*call it otherwise"):
        op(outputs=outputs, **HIDDEN)(kernel_of("def mine(input: Array)"))


@pytest.mark.parametrize("options, words", [
    ({"numbers": ("othr",)}, "numbers names 'othr', which is no array argument; those are input"),
    ({"steps": {"size": None}}, "steps names 'size', which is no array argument"),
    ({"saved": {"z": "self"}}, "saved names 'z', which is neither an argument nor an output"),
])
def test_options_that_name_what_is_not_there(options: Any, words: str) -> None:
    with refused(words):
        op(**options, **HIDDEN)(kernel_of("def mine(input: Array, size: int = 1)"))


# ---------------------------------------------------------------- rules


@pytest.mark.parametrize("way", ["vjp", "jvp"])
def test_a_rule_for_what_is_no_array(way: str) -> None:
    declared = mine()
    give = getattr(declared, way)
    with refused(f"mine.{way}: the argument 'inptu' does not exist \\(did you mean 'input'\\?\\); "
                 "rules are for input, other"):
        give(inptu=lambda input: input)
    with refused(f"mine.{way}: the argument 'power' is no array; rules are for input, other"):
        give(power=lambda input: input)
    assert not declared.op.rules and not declared.op.forward_rules


@pytest.mark.parametrize("way", ["vjp", "jvp"])
def test_two_rules_for_one_argument(way: str) -> None:
    give = getattr(mine(), way)
    give(input=lambda other: other)
    with refused(f"mine.{way}: the rule of 'input' is given already; an argument has one"):
        give(other=lambda other: other, input=lambda other: other)


@pytest.mark.parametrize("way, rule, words", [
    ("vjp", lambda g, inpt: g, "asks for 'inpt' \\(did you mean 'input'\\?\\); it can have g, y, "
                               "like, wanted, input, other, power, mode"),
    ("vjp", lambda tangent: tangent, "asks for 'tangent'"),
    ("jvp", lambda g: g, "asks for 'g'; it can have tangent, y, input"),
    ("jvp", lambda tangent, like: tangent, "asks for 'like'"),
    ("vjp", lambda g, *rest: g, "names what it needs as plain parameters: no \\*args"),
    ("vjp", lambda g, *, other: g, "names what it needs as plain parameters"),
    ("vjp", lambda g, other=1: g, ".*or defaults"),
    ("vjp", partial(lambda g, other: g), "must be a function, not functools.partial"),
    ("vjp", None, "must be a function, not None"),
])
def test_a_rule_with_other_parameters(way: str, rule: Any, words: str) -> None:
    with refused(f"mine.{way}: the rule of 'input' {words}"):
        getattr(mine(), way)(input=rule)


# ---------------------------------------------------------------- gradients found at once


def of_two() -> tuple[Any, list[str]]:
    """An op with a rule for each argument and one for both, and a list of those that run."""
    ran: list[str] = []

    @op(**HIDDEN)
    def mine(input: Array, other: Array, power: int) -> Any:
        return input * other ** power

    def first(g: Any, other: Any, power: int) -> Any:
        ran.append("first")
        return g * other ** power

    def second(g: Any, input: Any, other: Any, power: int) -> Any:
        ran.append("second")
        return g * input * power * other ** (power - 1)

    def both(g: Any, input: Any, other: Any, power: int) -> Any:
        ran.append("both")
        return g * other ** power, g * input * power * other ** (power - 1)

    mine.vjp(input=first, other=second)
    mine.vjp_jointly(both)
    return mine, ran


@pytest.mark.skipif(GeneralPath.only, reason="it has no such rules")
def test_gradients_are_found_at_once_where_all_are_wanted() -> None:
    mine, ran = of_two()
    x, y = (torch.tensor([value, 3.0], requires_grad=True) for value in (0.5, -2.0))
    mine(x, y, 2).backward(torch.ones(2))
    assert x.grad.tolist() == [4, 9] and y.grad.tolist() == [-2, 18] and ran == ["both"]
    found = torch.autograd.grad(mine(x, y, 2).sum(), (x, y))
    assert [f.tolist() for f in found] == [[4, 9], [-2, 18]] and ran == ["both"] * 2
    assert torch.autograd.grad(mine(x, y, 2).sum(), y)[0].tolist() == [-2, 18]
    mine(x.detach(), y, 2).sum().backward()
    assert ran == ["both"] * 2 + ["second"] * 2
    first, = torch.autograd.grad(mine(x, y, 2).sum(), x, create_graph=True)
    assert torch.autograd.grad(first.sum(), y)[0].tolist() == [-4, 6]
    assert "both" not in ran[2:]


@pytest.mark.skipif(GeneralPath.only, reason="it has no such rules")
def test_gradients_that_are_found_at_once_meet_others() -> None:
    mine, ran = of_two()
    x = torch.tensor([0.5, 3.0], requires_grad=True)
    (mine(x, x, 2) + x).backward(torch.ones(2))
    assert x.grad.tolist() == [1.75, 28] and ran == ["both"]


def test_a_joint_rule_that_cannot_work() -> None:
    declared, _ = of_two()
    with refused("mine.vjp_jointly: there is such a rule already; an op has one"):
        declared.vjp_jointly(lambda g: (g, g))
    declared = elementwise(**HIDDEN)(kernel_of("def mine_too(input: Array, other: Array)"))
    declared.vjp(input=lambda g, other: g * other)
    with refused("mine_too.vjp_jointly: it is for several arrays that all have rules"):
        declared.vjp_jointly(lambda g: (g, g))
    declared = op(**HIDDEN)(kernel_of("def mine_again(input: Array, other: Array)"))
    declared.vjp(input=lambda g, other: g * other, other=lambda g, wanted: g)
    with refused("mine_again.vjp_jointly asks for 'input'; it can have what the rules ask for: "
                 "g, other"):
        declared.vjp_jointly(lambda g, input: (g, g))


def test_a_rule_may_ask_for_outputs() -> None:
    declared = op(outputs=("values", "places"), **HIDDEN)(kernel_of("def mine(input: Array)"))
    with refused("it can have g, y, like, wanted, values, places, input"):
        declared.vjp(input=lambda g, value: g)
    declared.vjp(input=lambda g, values, places: g)


def test_an_argument_that_a_node_would_hide() -> None:
    declared = op(**HIDDEN)(kernel_of("def mine(input: Array, name: str = '')"))
    with refused("asks for 'name', and nodes have something else of that name"):
        declared.vjp(input=lambda g, name: g)


def test_a_rule_over_a_list_of_tensors() -> None:
    declared = op(**HIDDEN)(kernel_of("def mine(tensors: Arrays, dim: Dim = 0)"))
    with refused("over a list of tensors, may ask for like, and for no tensors"):
        declared.vjp(tensors=lambda g, tensors: [g])
    declared.vjp(tensors=lambda g, like, dim: [g])


@pytest.mark.parametrize("rule, asked", [
    (lambda g: g.sum(), "g for '.sum'"),
    (lambda g, input: g * input.cos(), "input for '.cos'"),
    (lambda g, input: g * input.T, "input for '.T'"),
    (lambda g, input: g * input.size, "input for '.size'"),
    (lambda g, input: g * input._data, "input for '._data'"),
    (lambda g, y: g * y.conj(), "y for '.conj'"),
    (lambda g, like: g.reshape(like.shape), "g for '.reshape'"),
    (lambda g, input: (g * input).sum(), "a value for '.sum'"),
    (lambda g, input: cos(input).exp() * g, "a value for '.exp'"),
    (lambda g, input: [part.sum() for part in (g, input)], "part for '.sum'"),
    (lambda g, input: [k * g.item() for k in (1, 2)], "g for '.item'"),
])
def test_a_rule_that_calls_methods(rule: Any, asked: str) -> None:
    declared = mine()
    with refused(f"the rule of 'input' asks {asked}, which arrays, tensors and the data of "
                 "transforms do not share: write it with operators, op functions"):
        declared.vjp(input=rule)
    assert not declared.op.rules


def test_a_forward_rule_that_calls_methods() -> None:
    with refused("mine.jvp: the rule of 'input' asks tangent for '.sum'"):
        mine().jvp(input=lambda tangent: tangent.sum())


def test_a_rule_that_calls_numpy() -> None:
    with refused("the rule of 'input' calls NumPy \\(np\\), which knows only arrays"):
        mine().vjp(input=lambda g, input: g * np.cos(input))


def test_what_a_rule_may_ask() -> None:
    declared = mine()
    declared.vjp(input=lambda g, input, like, mode: torch.reshape(
        g * cos(input), like.shape) if mode.count("x") or (input.ndim and g.dtype) else None)
    assert declared.op.rules


# ---------------------------------------------------------------- batching and writing


@pytest.mark.parametrize("rule", [
    lambda input: input,
    lambda batch, input: input,
    lambda batch, input, other, power, mode, more: input,
    partial(lambda batch, input, other, power, mode: input, "mine"),
])
def test_a_batching_rule_with_another_signature(rule: Any) -> None:
    with refused("mine.batch: a batching rule is called with the batch and all arguments in order: "
                 "\\(batch, input, other, power, mode\\)"):
        mine().batch(rule)


@pytest.mark.parametrize("rule", [
    lambda batch, input, other, power, mode: input,
    lambda batch, *arguments: arguments,
    lambda batch, input, other, power, mode, more=None: input,
    partial(lambda name, batch, input, other, power, mode: input, "mine"),
])
def test_a_batching_rule(rule: Any) -> None:
    declared = mine()
    declared.batch(rule)
    assert declared.op.batch_rule is rule
    with refused("the batching rule is given already; an op has one"):
        declared.batch(lambda batch, input, other, power, mode: input)


def test_rules_that_stand_in_the_declaration() -> None:
    @op(**HIDDEN, vjp=lambda g, factor: g * factor,
        batches=lambda batch, input, factor: mine(input, factor))
    def mine(input: Array, factor: float) -> Any:
        return input * factor

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    mine(x, 3.0).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert torch.vmap(lambda row: mine(row, 2.0))(torch.ones(2, 3)).tolist() == [[2.0] * 3] * 2
    with refused("mine_too.vjp: the rule of 'input' asks for 'facotr' .did you mean 'factor'"):
        @op(**HIDDEN, vjp=lambda g, facotr: g)
        def mine_too(input: Array, factor: float) -> Any:
            return input * factor


def test_a_users_op_whose_result_has_a_given_shape_is_run_for_each_value() -> None:
    """It is not taken for one that another dim could be put before."""
    @op(**HIDDEN)
    def mine(input: Array, dim: Dim, shape: Any) -> Any:
        made = xp.zeros(shape, input.dtype)
        made[:input.shape[dim]] = input
        return made

    with pytest.warns(UserWarning, match="performance drop"):
        found = torch.vmap(lambda row: mine(row, 0, (3,)))(torch.ones(2, 2))
    assert found.tolist() == [[1.0, 1.0, 0.0]] * 2


def test_a_users_op_writes_with_and_without_an_optional_array() -> None:
    @elementwise(**HIDDEN, inplace=True)
    def mine(input: Array, other: Array, scale: Array | None = None) -> Any:
        return input + other * (2 if scale is None else scale)

    x, y = torch.ones(2), torch.full((2,), 3.0)
    try:
        assert x.mine_(y).mine_(y, y).tolist() == [16.0, 16.0] and x._version == 2
    finally:
        del torch.Tensor.mine_


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_users_ops_over_lists(dtype: Any) -> None:
    """With another array beside the list, with several outputs, with saved values, in floats."""
    @op(**HIDDEN)
    def mine_beside(tensors: Arrays, other: Array) -> Any:
        return tensors[0] + tensors[-1] * other

    @op(**HIDDEN, outputs=("first", "last"))
    def mine_two(tensors: Arrays) -> Any:
        return tensors[0] * 2, tensors[-1] * 3

    @op(**HIDDEN, promote="float")
    def mine_mean(tensors: Arrays) -> Any:
        return (tensors[0] + tensors[-1]) / 2

    a, b = torch.ones(2, dtype=dtype), torch.full((2,), 2, dtype=dtype)
    assert mine_beside([a, b], b).tolist() == [5, 5]
    assert [t.tolist() for t in mine_two([a, b])] == [[2, 2], [6, 6]]
    found = mine_mean([a, b])
    assert found.tolist() == [1.5, 1.5] and found.dtype is torch.float32


def test_an_underscore_is_private() -> None:
    @elementwise(inplace=True)
    def _mine(input: Array) -> Any:
        return xp.sin(input)

    assert _mine.op.title == "mine" and not hasattr(torch.Tensor, "_mine")
    assert all("_mine" not in names for names in PUBLIC.values())
    del torch.Tensor._mine_


def test_ops_made_of_one_function_have_names_of_their_own() -> None:
    def declared(name: str, power: int) -> Any:
        @elementwise(**HIDDEN, name=name, doc=f"To the power of {power}.")
        def kernel(input: Array) -> Any:
            return input ** power

        return kernel

    square, cube = declared("mine_squared", 2), declared("mine_cubed", 3)
    assert (square.__name__, cube.__doc__) == ("mine_squared", "To the power of 3.")
    assert square(torch.tensor(3.0)).item() == 9.0 and cube(torch.tensor(3.0)).item() == 27.0


def test_a_writer_with_another_signature() -> None:
    with refused("mine.write: the kernel that writes is called with all arguments in order: "
                 "\\(input, other, power, mode\\)"):
        mine().write(lambda array: None)


# ---------------------------------------------------------------- ours


def test_the_rules_of_this_package_ask_only_for_what_is_shared() -> None:
    """Looking into each rule would cost the import; a user's rules are looked into at once."""
    for declared in REGISTRY.values():
        for way, rules in (("vjp", declared.rules), ("jvp", declared.forward_rules)):
            for argument, rule in rules.items():
                declaration.check_body(declared, f"{declared.name}.{way} of {argument}", rule)


def test_no_argument_of_this_package_has_a_reserved_name() -> None:
    """The first ops are declared before generated code has its names."""
    for declared in REGISTRY.values():
        assert not declared.by_name.keys() & (declaration.RESERVED | GENERATED.keys())


def test_a_tangent_of_a_users_linear_op_depends_on_no_value() -> None:
    """Whatever its rule asks for, of which it may use only the shape."""

    @linear(**HIDDEN)
    def mine_doubled(input: Array) -> Any:
        """Twice the input."""
        return input * 2

    mine_doubled.vjp(input=lambda g, input: torch.reshape(g * 2, input.shape))
    x = torch.ones(3, requires_grad=True)
    value, slope = torch.func.jvp(mine_doubled, (x,), (torch.ones(3),))
    assert value.requires_grad and not slope.requires_grad and slope.tolist() == [2, 2, 2]


def test_tangents_of_several_outputs_add_up_over_the_arguments() -> None:
    """A forward rule gives one for each output, or None for one that does not depend on it."""
    @op(**HIDDEN, outputs=("total", "first", "second"))
    def mine(input: Array, other: Array) -> Any:
        return input + 2 * other, 3 * input, 5 * other

    mine.vjp(input=lambda g: g[0] + 3 * g[1], other=lambda g: 2 * g[0] + 5 * g[2])
    mine.jvp(input=lambda tangent: (tangent, 3 * tangent, None),
             other=lambda tangent: (2 * tangent, None, 5 * tangent))
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    seeds = torch.tensor([1.0, 10.0]), torch.tensor([100.0, 1000.0])
    _, found = torch.func.jvp(lambda x, y: tuple(mine(x, y)), (x, y), seeds)
    assert [t.tolist() for t in found] == [[201.0, 2010.0], [3.0, 30.0], [500.0, 5000.0]]
    _, found = torch.func.jvp(lambda x: tuple(mine(x, y)), (x,), seeds[:1])
    assert [t.tolist() for t in found] == [[1.0, 10.0], [3.0, 30.0], [0.0, 0.0]]
