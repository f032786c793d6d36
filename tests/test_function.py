"""``autograd.Function``: the context, what forward may return, and what backward may."""

import re
import warnings

import pytest

import retrograd as torch
from retrograd.autograd import Function, grad
from retrograd.autograd.function import InplaceFunction, once_differentiable


def leaf(*values, **options):
    return torch.tensor(list(values), requires_grad=True, **options)


def function(forward, backward=lambda ctx, g: g, name="Custom", **methods):
    """A custom function of these two, by name."""
    given = {"forward": forward, "backward": backward, **methods}
    return type(name, (Function,), {key: staticmethod(value) for key, value in given.items()})


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.note = "kept"
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


# ---------------------------------------------------------------- the node is the context


def test_the_node_is_the_context():
    x = leaf(2.0)
    y = Cube.apply(x)
    node = y.grad_fn
    assert node.name() == type(node).__name__ == "CubeBackward"
    assert node.note == "kept"
    assert node.saved_tensors[0] is x
    assert node.needs_input_grad == (True,)
    assert isinstance(node, torch.autograd.graph.Node)
    assert re.match(r"<torch.autograd.function.CubeBackward object at 0x", repr(node))
    with pytest.raises(AttributeError, match="'CubeBackward' object has no attribute 'missing'"):
        _ = node.missing


def test_nothing_is_recorded_without_need():
    assert not Cube.apply(torch.tensor([2.0])).requires_grad
    with torch.no_grad():
        assert not Cube.apply(leaf(2.0)).requires_grad


def test_forward_and_setup_context_run_unrecorded():
    seen = []
    F = function(lambda x: seen.append(torch.is_grad_enabled()) or x * 2,
                 setup_context=lambda ctx, inputs, output: seen.append(torch.is_grad_enabled()))
    F.apply(leaf(1.0))
    assert seen == [False, False]
    assert torch.is_grad_enabled()


def test_the_grad_mode_survives_an_error_in_forward():
    def forward(ctx, x):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        function(forward).apply(leaf(1.0))
    assert torch.is_grad_enabled()


def test_backward_is_recorded_only_with_create_graph():
    seen = []
    F = function(lambda ctx, x: x * 1, lambda ctx, g: seen.append(torch.is_grad_enabled()) or g)
    x = leaf(1.0)
    F.apply(x).backward()
    grad(F.apply(x), x, create_graph=True)
    assert seen == [False, True]


def test_derivatives_of_every_order():
    x = leaf(2.0)
    value = Cube.apply(x)
    for derivative in (12.0, 12.0, 6.0):
        (value,) = grad(value, x, create_graph=True)
        assert value.item() == derivative


def test_derivatives_through_a_saved_output():
    x = leaf(1.0, dtype=torch.float64)
    value = Exp.apply(x)
    for _ in range(3):
        (value,) = grad(value, x, create_graph=True)
        assert value.item() == pytest.approx(2.718281828459045)


# ---------------------------------------------------------------- arguments


def test_arguments_that_are_not_tensors():
    F = function(lambda ctx, x, factor, name: x * factor, lambda ctx, g: (g * 3, None, None))
    x = leaf(2.0)
    y = F.apply(x, 3, "times")
    assert len(y.grad_fn.next_functions) == 1
    y.backward()
    assert x.grad.item() == 3.0


def test_keyword_arguments_and_defaults():
    seen = []
    F = function(lambda x, a=1, b=2: x * a * b, lambda ctx, g: (g, None, None),
                 setup_context=lambda ctx, inputs, output: seen.append(inputs[1:]))
    x = leaf(2.0)
    assert F.apply(x).item() == 4.0
    assert F.apply(x, b=5).item() == 10.0
    assert seen == [(1, 2), (1, 5)]
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'c'"):
        F.apply(x, c=1)
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        F.apply()
    G = function(lambda ctx, x, a: x * a, lambda ctx, g: (g, None))
    assert G.apply(x, a=4).item() == 8.0


def test_needs_input_grad_and_ignored_gradients():
    seen = []

    def backward(ctx, g):
        seen.append(ctx.needs_input_grad)
        return g, g, g

    x = leaf(2.0)
    function(lambda ctx, a, b, c: a * b, backward).apply(x, torch.ones(1), x).backward()
    assert seen == [(True, False, True)]
    assert x.grad.item() == 2.0


def test_setup_context_fills_the_context():
    def setup(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output)

    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * 2 * y / x

    x = leaf(3.0)
    y = function(lambda x: x * x, backward, setup_context=setup).apply(x)
    (g,) = grad(y, x, create_graph=True)
    assert g.item() == 6.0
    assert grad(g, x)[0].item() == pytest.approx(2.0)


# ---------------------------------------------------------------- outputs


def test_several_outputs():
    def backward(ctx, g, h):
        return g * 2 + h * 3

    F = function(lambda ctx, x: (x * 2, x * 3), backward)
    x = leaf(1.0)
    a, b = F.apply(x)
    assert a.grad_fn is b.grad_fn
    assert (a.output_nr, b.output_nr) == (0, 1)
    (a + 10 * b).backward()
    assert x.grad.item() == 32.0


def test_outputs_without_a_gradient_are_zeros_or_none():
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(materialize)
        return x * 1, x * 2, "text"

    F = function(forward, lambda ctx, *g: seen.append(g) or g[0])
    for materialize in (True, False):  # noqa: B007
        F.apply(leaf(1.0, 2.0))[0].sum().backward()
    assert seen[0][1].tolist() == [0.0, 0.0]
    assert seen[0][2] is None
    assert seen[1][1:] == (None, None)


def test_a_function_runs_even_when_nothing_arrives():
    seen = []
    swallow = function(lambda ctx, x: x * 1, lambda ctx, g: None)
    first = function(lambda ctx, x: x * 1, lambda ctx, g: seen.append(g.tolist()) or g)
    x = leaf(1.0)
    swallow.apply(first.apply(x)).backward()
    assert seen == [[0.0]]
    assert x.grad.item() == 0.0


def test_outputs_that_are_not_tensors_pass_through():
    for value in (5, "text", None, [1], {"a": 1}, (), (None, "a")):
        assert function(lambda ctx, x, value=value: value).apply(leaf(1.0)) == value


def test_non_differentiable_outputs():
    def forward(ctx, x):
        indices = x.argsort()
        values = x * 2
        ctx.mark_non_differentiable(values)
        return x * 1, indices, values

    y, indices, values = function(forward, lambda ctx, *g: g[0]).apply(leaf(2.0, 1.0))
    assert y.requires_grad
    assert not indices.requires_grad and not values.requires_grad
    assert values.grad_fn is None


def test_an_input_returned_as_it_is():
    F = function(lambda ctx, x: x, lambda ctx, g: g * 5)
    x = leaf(2.0)
    y = F.apply(x)
    assert y is not x and y._is_view() and y._base is x
    y.backward()
    assert x.grad.item() == 5.0
    plain = torch.ones(1)
    assert F.apply(plain) is not plain
    with torch.no_grad():
        assert not F.apply(x).requires_grad


def test_views_from_a_function_are_not_written_to():
    F = function(lambda ctx, x: x.view(-1), lambda ctx, g: g.view(1, 2))
    x = torch.ones(1, 2, requires_grad=True)
    y = x * 1
    v = F.apply(y)
    with pytest.raises(RuntimeError, match=r"Output 0 of Custom is a view and is being modified "
                                           r"inplace. This view was created inside a custom"):
        v.add_(1)
    y.add_(1)
    with pytest.raises(RuntimeError, match="its base or another view of its base has been "):
        _ = v.grad_fn


def test_the_same_tensor_returned_twice():
    def forward(ctx, x):
        y = x * 2
        return y, y

    x = leaf(2.0)
    a, b = function(forward, lambda ctx, g, h: g * 10 + h).apply(x)
    (a + 3 * b).backward()
    assert x.grad.item() == 4.0


# ---------------------------------------------------------------- writing in place


def double_(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


Double = function(double_, lambda ctx, g: g * 2)


def test_mark_dirty_makes_the_function_the_origin():
    x = leaf(3.0)
    y = x * 1
    assert Double.apply(y) is y
    assert y.grad_fn.name() == "CustomBackward"
    y.backward()
    assert x.grad.item() == 2.0


def test_mark_dirty_on_a_view_rebases_its_base():
    x = leaf(3.0, 4.0)
    y = x * 1
    Double.apply(y[:1])
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    (y * 10).sum().backward()
    assert y.tolist() == [6.0, 4.0]
    assert x.grad.tolist() == [20.0, 10.0]


def test_mark_dirty_with_more_inputs_on_a_view():
    def forward(ctx, x, factor, w):
        ctx.mark_dirty(x)
        ctx.save_for_backward(w)
        return x.mul_(w)

    F = function(forward, lambda ctx, g: (g * ctx.saved_tensors[0], None, g * 100))
    x, w = leaf(3.0, 4.0), leaf(5.0)
    y = x * 1
    F.apply(y[:1], "text", w)
    y.sum().backward()
    assert x.grad.tolist() == [5.0, 1.0]
    assert w.grad.tolist() == [100.0]


def test_what_mark_dirty_refuses():
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used"):
        Double.apply(leaf(2.0))
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        Double.apply(leaf(2.0)[:1])

    def forget(ctx, x):
        ctx.mark_dirty(x)
        return x * 1

    with pytest.raises(RuntimeError, match="Some elements marked as dirty"):
        function(forget).apply(leaf(2.0) * 1)

    def two(ctx, x):
        ctx.mark_dirty(x)
        return x, x * 2

    with pytest.raises(RuntimeError, match="cannot return more than one Tensor"):
        function(two, lambda ctx, g, h: g).apply((leaf(2.0, 3.0) * 1)[:1])

    def foreign(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    with pytest.warns(UserWarning, match="received a tensor that was not an input"):
        function(foreign).apply(leaf(2.0))


# ---------------------------------------------------------------- saved tensors


def test_saved_tensors_are_freed_with_the_graph():
    x = leaf(2.0)
    y = Cube.apply(x)
    y.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()
    with pytest.raises(RuntimeError, match="directly access saved tensors"):
        _ = y.grad_fn.saved_tensors


def test_saved_inputs_are_version_checked():
    y = leaf(2.0) * 1
    z = Cube.apply(y)
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"\[torch.FloatTensor \[1\]\], which is output 0 of Add,"
                                           " is at version 1; expected version 0 instead"):
        z.backward()


def test_saved_outputs_are_version_checked():
    y = Exp.apply(leaf(2.0))
    y.mul_(2)
    with pytest.raises(RuntimeError, match="which is output 0 of Exp, is at version 1"):
        y.backward()


def test_only_tensors_can_be_saved():
    def forward(ctx, x):
        ctx.save_for_backward(None, 3)
        return x * 1

    with pytest.raises(TypeError, match="can only save variables, but argument 1 is of type int"):
        function(forward).apply(leaf(1.0))


def test_saved_tensor_hooks_see_inputs_and_outputs():
    seen = []

    def pack(t):
        seen.append(t.item())
        return t

    x = leaf(2.0)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t * 10):
        y = Cube.apply(x)
        z = Exp.apply(x * 0)
    assert seen == [2.0, 1.0]
    y.backward()
    assert x.grad.item() == 1200.0
    assert z.grad_fn.saved_tensors[0].item() == 10.0


def test_hooks_on_one_saved_tensor():
    x = leaf(2.0)
    y = Cube.apply(x)
    (saved,) = y.grad_fn._raw_saved_tensors
    saved.register_hooks(lambda t: t.item(), lambda number: torch.tensor([number + 1]))
    with pytest.raises(RuntimeError, match="hooks have already been set"):
        saved.register_hooks(lambda t: t, lambda t: t)
    y.backward()
    assert x.grad.item() == 27.0


# ---------------------------------------------------------------- what backward may return


@pytest.mark.parametrize(("returned", "message"), [
    ((1, 2), r"function CustomBackward returned an incorrect number of gradients \(expected 1, "
             r"got 2\)"),
    ((), r"incorrect number of gradients \(expected 1, got 0\)"),
    (1.0, r"expected Variable or None \(got float\)"),
    ([1.0], r"expected Variable or None \(got list\)"),
    (torch.ones(2), r"Function CustomBackward returned an invalid gradient at index 0 - got \[2\] "
                    r"but expected shape compatible with \[3\]"),
    (torch.tensor(1.0), r"got \[\] but expected shape compatible with \[3\]"),
    (torch.ones(3) * 1j, "input_is_complex == grad_is_complex"),
])
def test_wrong_gradients(returned, message):
    x = leaf(1.0, 2.0, 3.0)
    y = function(lambda ctx, x: x * 1, lambda ctx, g: returned).apply(x)
    with pytest.raises(RuntimeError, match=message):
        y.sum().backward()
    assert x.grad is None


def test_a_gradient_for_what_is_no_tensor():
    F = function(lambda ctx, x, n: x * n, lambda ctx, g: (g, g))
    with pytest.raises(RuntimeError, match="different than None at position 2, but the "
                                           "corresponding forward input was not a Variable"):
        F.apply(leaf(1.0), 3).backward()


@pytest.mark.parametrize(("returned", "gradient"), [
    (lambda g: (g, None, None), [1.0, 1.0]),
    (lambda g: g.double(), [1.0, 1.0]),
    (lambda g: g.long(), [1.0, 1.0]),
    (lambda g: torch.ones(5, 2), [5.0, 5.0]),
    (lambda g: None, None),
])
def test_gradients_that_are_made_to_fit(returned, gradient):
    x = leaf(1.0, 2.0)
    function(lambda ctx, x: x * 1, lambda ctx, g: returned(g)).apply(x).sum().backward()
    if gradient is None:
        assert x.grad is None
    else:
        assert x.grad.tolist() == gradient
        assert x.grad.dtype is torch.float32


def test_gradients_are_made_to_fit_when_recorded():
    x = leaf(1.0, 2.0)
    F = function(lambda ctx, x: x * 1, lambda ctx, g: (g * g).double().expand(3, 2))
    v = leaf(1.0, 2.0)
    (g,) = grad(F.apply(x), x, v, create_graph=True)
    assert g.tolist() == [3.0, 12.0]
    assert g.dtype is torch.float32
    assert grad(g.sum(), v)[0].tolist() == [6.0, 12.0]


def test_once_differentiable():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            assert not torch.is_grad_enabled()
            (x,) = ctx.saved_tensors
            return 2 * x * g

    x, v = leaf(3.0), leaf(1.0)
    (g,) = grad(Square.apply(x), x, create_graph=True)
    assert g.item() == 6.0 and not g.requires_grad
    (g,) = grad(Square.apply(x), x, v, create_graph=True)
    with pytest.raises(RuntimeError, match="trying to differentiate twice a function that was "
                                           "marked with @once_differentiable"):
        g.backward()


# ---------------------------------------------------------------- what is missing or misused


def test_missing_methods():
    class Empty(Function):
        pass

    x = leaf(1.0)
    with pytest.raises(NotImplementedError, match="must implement the forward function"):
        Empty.apply(x)

    class NoBackward(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with pytest.raises(NotImplementedError, match="either the backward or vjp method"):
        NoBackward.apply(x).backward()
    both = function(lambda ctx, x: x * 1, vjp=lambda ctx, g: g)
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        both.apply(x).backward()
    with pytest.raises(NotImplementedError, match="must implement the jvp function"):
        Empty.jvp(None)
    with pytest.raises(NotImplementedError, match="override the vmap staticmethod"):
        Empty.vmap(None, None)
    assert Empty.generate_vmap_rule is False


def test_vjp_is_another_name_of_backward():
    class Named(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def vjp(ctx, g):
            return g * 7

    x = leaf(1.0)
    Named.apply(x).backward()
    assert x.grad.item() == 7.0


def test_functions_are_not_instantiated():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        instance = Cube()
    with pytest.raises(RuntimeError, match="Legacy autograd function"):
        instance(leaf(1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert InplaceFunction(inplace=True).inplace


def test_functions_inside_functions():
    def forward(ctx, x):
        with torch.enable_grad():
            ctx.inner = x.detach().requires_grad_()
            ctx.output = Cube.apply(ctx.inner)
        return ctx.output.detach()

    def backward(ctx, g):
        with torch.enable_grad():
            ctx.output.backward(g)
        return ctx.inner.grad

    x = leaf(2.0)
    F = function(forward, backward)
    F.apply(F.apply(x)).backward()
    assert x.grad.item() == 3 * 8.0**2 * 3 * 2.0**2


def test_gradients_that_stop_at_a_function_name_the_line_of_its_call() -> None:
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.detach() * 2

    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        y = Doubled.apply(x)
    with pytest.raises(RuntimeError, match=r"stopped flowing here:\n.*\n +y = Doubled.apply\(x\)"):
        y.sum().backward()


def test_where_the_history_of_a_functions_results_ended():
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            made, constant = torch.ones(2), torch.ones(2)
            ctx.mark_non_differentiable(constant)
            return made, constant

        @staticmethod
        def backward(ctx, *gradients):
            return gradients[0]

    x = torch.ones(2, requires_grad=True)
    made, constant = Both.apply(x)
    assert made.requires_grad and made._cut is None
    assert not constant.requires_grad and constant._cut is None
    with torch.no_grad():
        for result in Both.apply(x):
            assert result._cut is not None and result._cut[2] == "no_grad"
    assert all(result._cut is None for result in Both.apply(torch.ones(2)))
