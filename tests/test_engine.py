"""``backward`` and ``grad``: what they compute, accumulate, free and refuse."""

import inspect
import re
import warnings

import pytest

import retrograd as torch
from retrograd.autograd import backward, grad


def leaf(*values, **options):
    return torch.tensor(list(values), requires_grad=True, **options)


def line_above(offset=1):
    """Where the test is, as errors name it: a pattern of its file and a line above this call."""
    frame = inspect.currentframe().f_back
    return f'{re.escape(frame.f_code.co_filename)}", line {frame.f_lineno - offset}, in'


# ---------------------------------------------------------------- what is computed


def test_gradients_accumulate_into_leaves_in_place():
    x = leaf(1.0, 2.0)
    (x * 3).sum().backward()
    first = x.grad
    (x * 4).sum().backward()
    assert x.grad is first
    assert x.grad.tolist() == [7.0, 7.0]


def test_a_diamond_runs_each_node_once():
    x = leaf(2.0)
    y = x * 3
    calls = []
    y.register_hook(lambda g: calls.append(g.item()))
    (y * y + y).backward()
    assert calls == [13.0]
    assert x.grad.item() == 39.0


def test_several_roots_share_one_pass():
    x, w = leaf(2.0), leaf(5.0)
    y = x * w
    backward([y, y * 2], [torch.tensor([1.0]), torch.tensor([10.0])])
    assert x.grad.item() == 105.0
    assert w.grad.item() == 42.0


def test_the_same_root_twice_counts_twice():
    x = leaf(2.0)
    y = x * 3
    backward([y, y])
    assert x.grad.item() == 6.0


def test_a_root_may_be_an_input_of_another_root():
    x = leaf(2.0)
    y = x * 3
    backward([y * 5, y])
    assert x.grad.item() == 18.0


def test_a_leaf_is_its_own_root():
    x = leaf(2.0)
    x.backward()
    x.backward(torch.tensor([5.0]))
    assert x.grad.item() == 6.0


def test_only_what_leads_to_the_inputs_is_run():
    x, w = leaf(2.0), leaf(3.0)
    ran = []
    y = x * 2
    y.register_hook(lambda g: ran.append("x branch"))
    z = w * 2
    z.register_hook(lambda g: ran.append("w branch"))
    assert grad(y + z, w)[0].item() == 2.0
    assert ran == ["w branch"]
    assert x.grad is None and w.grad is None


def test_backward_with_inputs_leaves_the_others_alone():
    x, w = leaf(2.0), leaf(3.0)
    y = x * w
    (y * 10).backward(inputs=[y, x, x])
    assert y.grad.item() == 10.0
    assert x.grad.item() == 30.0
    assert w.grad is None


def test_a_frozen_leaf_gets_no_gradient():
    x = leaf(2.0)
    y = x * 3
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None


def test_gradients_take_the_dtype_of_what_they_belong_to():
    x = leaf(2.0)
    (x.double() * 3).backward()
    assert x.grad.dtype is torch.float32
    (g,) = grad(x * 3, x, torch.tensor([1.0], dtype=torch.float64))
    assert g.dtype is torch.float32


def test_gradients_are_laid_out_as_their_leaves():
    x = torch.zeros(3, 2).t().requires_grad_()
    (x * torch.ones(2, 3)).sum().backward()
    assert x.grad.stride() == x.stride() == (1, 2)


def test_two_leaves_never_share_a_gradient():
    x, w = leaf(1.0), leaf(1.0)
    (x + w).backward()
    x.grad.zero_()
    assert w.grad.item() == 1.0
    x.grad = w.grad = None
    for t in (x, w):
        t.grad = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (x + w).backward(create_graph=True)
    x.grad.zero_()
    assert w.grad.item() == 1.0


def test_a_given_gradient_is_not_kept():
    x = leaf(1.0, 2.0)
    g = torch.ones(2)
    x.backward(g)
    g.zero_()
    assert x.grad.tolist() == [1.0, 1.0]


# ---------------------------------------------------------------- graphs of gradients


def test_derivatives_of_every_order():
    x = leaf(2.0)
    value = x**5
    expected = [80.0, 160.0, 240.0, 240.0, 120.0]
    for derivative in expected:
        (value,) = grad(value, x, create_graph=True)
        assert value.item() == derivative


def test_create_graph_accumulates_out_of_place():
    x = leaf(2.0)
    x.grad = kept = torch.tensor([1.0])
    with pytest.warns(UserWarning, match="will create a reference cycle"):
        torch.set_warn_always(True)
        try:
            (x * x).backward(create_graph=True)
        finally:
            torch.set_warn_always(False)
    assert kept.item() == 1.0
    assert x.grad.item() == 5.0
    assert x.grad.requires_grad
    assert grad(x.grad, x)[0].item() == 2.0
    x.grad = None


def test_what_rules_record_names_the_line_that_asked_for_the_pass():
    x = torch.tensor([0.3, 0.7], requires_grad=True)
    here = []

    def lines_of(tensor):
        nodes, found = [tensor.grad_fn], set()
        while nodes:
            node = nodes.pop()
            if node.name() == "MulBackward0" and node.seq > newest:
                found.add(node.site.line)
            nodes += [n for n, _ in node.next_functions if n is not None]
        return found

    def line():
        return inspect.currentframe().f_back.f_lineno

    y = x.sin() * x
    newest = y.grad_fn.seq
    (g,) = grad(y.sum(), x, create_graph=True); here.append(line())  # noqa: E702
    assert lines_of(g) == {here[0]}

    # A hook's own operations are its own; so are those of a pass inside it.
    hooked = []

    def hook(gradient):
        inner = x.exp() * x
        hooked.append(grad(inner.sum(), x, create_graph=True)[0]); here.append(line())  # noqa: E702
        changed = gradient * x; here.append(line())  # noqa: E702
        return changed

    y = x.sin() * x
    newest = y.grad_fn.seq
    y.register_hook(hook)
    (g,) = grad(y.sum(), x, create_graph=True); here.append(line())  # noqa: E702
    assert lines_of(hooked[0]) - {here[1] - 1} == {here[1]}
    assert lines_of(g) == {here[2], here[3]}


def test_a_gradient_carries_no_graph_unless_asked():
    x = leaf(2.0)
    (g,) = grad(x * x, x)
    assert not g.requires_grad
    (x * x).backward()
    assert not x.grad.requires_grad


def test_grad_through_grad_outputs():
    x, v = leaf(2.0), leaf(3.0)
    (g,) = grad(x * x, x, v, create_graph=True)
    assert grad(g, v)[0].item() == 4.0


# ---------------------------------------------------------------- what grad returns


def test_unused_inputs():
    x, w = leaf(2.0), leaf(3.0)
    with pytest.raises(RuntimeError, match="The differentiated Tensor at index 1 appears to not "
                                           "have been used in the graph"):
        grad(x * 2, [x, w])
    assert grad(x * 2, [x, w], allow_unused=True)[1] is None
    assert grad(x * 2, [x, w], materialize_grads=True)[1].item() == 0.0
    with pytest.raises(ValueError, match="allow_unused=False"):
        grad(x * 2, [x, w], materialize_grads=True, allow_unused=False)


@pytest.mark.parametrize("value", [3.0, float("inf"), float("nan")])
def test_zeros_for_unused_inputs_ask_for_no_values(value):
    def unused(x):
        u = torch.zeros(2, requires_grad=True)
        return grad((u * 2).sum(), [u, x], materialize_grads=True)[1]

    x = torch.full((2,), value, requires_grad=True)
    whole = torch.stack([x, x]).detach().requires_grad_()
    zeros, tangents = torch.func.jvp(unused, (x,), (torch.ones(2),))
    for found in (unused(x), torch.func.vmap(unused)(whole), zeros, tangents):
        assert not found.any() and found.shape[-1] == 2


def test_none_among_grad_outputs_means_one():
    x, w = leaf(2.0), leaf(3.0)
    found = grad([x * 2, w * 2], [x, w], [None, torch.tensor([10.0])])
    assert [g.item() for g in found] == [2.0, 20.0]


def test_the_same_input_twice():
    x = leaf(2.0)
    assert [g.item() for g in grad(x * 2, [x, x])] == [2.0, 2.0]


def test_inputs_and_outputs_may_be_any_iterable():
    x = leaf(2.0)
    assert grad((y for y in [x * 2]), (t for t in [x]))[0].item() == 2.0


def test_intermediates_can_be_inputs():
    x = leaf(2.0)
    y = x * 3
    z = y * y
    assert [g.item() for g in grad(z, [y, x])] == [12.0, 36.0]


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda x: (x * x).backward(), RuntimeError, "implicitly created only for scalar outputs"),
    (lambda x: (x * x)[:0].backward(), RuntimeError, "implicitly created only for scalar outputs"),
    (lambda x: (x[0] * 1j).backward(), RuntimeError, "only for real scalar outputs but got"),
    (lambda x: (x * x).backward(torch.ones(3)), RuntimeError, r"torch.Size\(\[3\]\)"),
    (lambda x: (x * x).backward(torch.ones(2) * 1j), RuntimeError, "Mismatch in dtype"),
    (lambda x: (x * x).backward([1.0]), TypeError, "gradients can be either Tensors or None"),
    (lambda x: backward([x[0], x[1]], [None]), RuntimeError, "got 2 tensors and 1 gradients"),
    (lambda x: backward(3), TypeError, "not iterable"),
    (lambda x: backward([3]), AssertionError, "Expected output to be a torch.Tensor"),
    (lambda x: backward(x[0], inputs=[]), RuntimeError, r"`backward\(\)` cannot be empty"),
    (lambda x: backward(x[0], inputs=[3]), RuntimeError, "all inputs have to be Tensors"),
    (lambda x: backward(x[0], inputs=[torch.ones(1)]), RuntimeError, "can't retain_grad"),
    (lambda x: grad(x[0], []), RuntimeError, r"`grad\(\)` cannot be empty"),
    (lambda x: grad(x[0], torch.ones(2)), RuntimeError, "One of the differentiated Tensors does"),
    (lambda x: torch.ones(1).backward(), RuntimeError, "element 0 of tensors does not require"),
    (lambda x: (x > 1)[0].backward(), RuntimeError, "element 0 of tensors does not require"),
    (lambda x: backward([x[0], torch.ones(1)]), RuntimeError, "element 1 of tensors does not"),
])
def test_bad_arguments(call, error, message):
    x = leaf(1.0, 2.0)
    with pytest.raises(error, match=message):
        call(x)
    assert x.grad is None


def test_deprecated_arguments_warn():
    x = leaf(2.0)
    with pytest.warns(FutureWarning, match="grad_variables"):
        backward(x * 2, grad_variables=torch.ones(1))
    with pytest.warns(FutureWarning, match="only_inputs"):
        grad(x * 2, x, only_inputs=False)


# ---------------------------------------------------------------- freeing the graph


def test_a_second_backward_names_the_line_of_the_first():
    x = leaf(2.0)
    y = x * x
    y.backward()
    where = line_above()
    with pytest.raises(RuntimeError, match="^Trying to backward through the graph a second time "
                                           f"(?s:.)*The first backward ran here:\n.*{where}"):
        y.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        _ = y.grad_fn._saved_self


def test_the_line_of_a_first_backward_made_by_a_module_is_the_users():
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh())
    loss = net(torch.ones(2)).sum()
    loss.backward()
    where = line_above()
    with pytest.raises(RuntimeError, match=where):
        loss.backward()


def test_nothing_saved_nothing_refused():
    x = leaf(2.0)
    y = x + 1
    y.backward()
    y.backward()
    assert x.grad.item() == 2.0


def test_retain_graph_keeps_what_was_saved():
    x = leaf(2.0)
    y = x * x
    y.backward(retain_graph=True)
    grad(y, x, create_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()


# ---------------------------------------------------------------- where the graph was cut


def cut_by_detach(x):
    return (x * 2).detach()


def cut_by_no_grad(x):
    with torch.no_grad():
        return x * 2


def cut_by_a_cast(x):
    return (x * 2).long()


def cut_by_a_comparison(x):
    return x > 1


def cut_by_data(x):
    return (x * 2).data


def cut_by_a_write(x):
    buffer = torch.zeros(2)
    with torch.no_grad():
        return buffer.add_(x)


def cut_by_a_module(x):
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    with torch.no_grad():
        return net(x)


@pytest.mark.parametrize("cut", [cut_by_detach, cut_by_no_grad, cut_by_a_cast, cut_by_a_comparison,
                                 cut_by_data, cut_by_a_write, cut_by_a_module])
def test_the_error_names_the_line_that_cut_the_graph(cut):
    lines, first = inspect.getsourcelines(cut)
    last = first + len(lines) - 1
    loss = (cut(leaf(1.0, 2.0)).float() * 3).sum()
    message = ("^element 0 of tensors does not require grad and does not have a grad_fn\n"
               "Gradients stopped flowing here:\n"
               f'  File "{re.escape(__file__)}", line {last}, in {cut.__name__}\n'
               f"    {re.escape(lines[-1].strip())}$")
    with pytest.raises(RuntimeError, match=message):
        loss.backward()


def test_no_line_is_named_where_nothing_was_cut():
    with pytest.raises(RuntimeError, match=r"does not have a grad_fn$"):
        torch.ones(2).sum().backward()


# ---------------------------------------------------------------- looking at the graph


def test_nodes_know_their_neighbours():
    x, w = leaf(2.0), leaf(3.0)
    y = x * w + 1
    assert y.grad_fn.name() == "AddBackward0"
    (mul, nr), (nothing, _) = y.grad_fn.next_functions
    assert (mul.name(), nr, nothing) == ("MulBackward0", 0, None)
    assert mul.next_functions[0][0].variable is x
    assert mul.next_functions[0][0].name() == "torch::autograd::AccumulateGrad"
    assert isinstance(mul, torch.autograd.graph.Node)
    assert not isinstance(x, torch.autograd.graph.Node)


def test_nodes_can_be_called():
    x = leaf(2.0, 3.0)
    assert (x**2).grad_fn(torch.ones(2)).tolist() == [4.0, 6.0]


def test_saved_values_can_be_read():
    x = leaf(2.0)
    y = x.exp()
    assert y.grad_fn._saved_result.item() == y.item()
    assert y.grad_fn._saved_result.grad_fn is y.grad_fn
    with pytest.raises(AttributeError, match="_saved_nothing"):
        _ = y.grad_fn._saved_nothing


def test_metadata_is_a_dictionary_of_ones_own():
    y = leaf(2.0) * 2
    y.grad_fn.metadata["note"] = 1
    assert y.grad_fn.metadata == {"note": 1}


def test_gradient_edges_stand_for_tensors():
    x = leaf(2.0)
    y = x * x
    z = y * 3
    of_y, of_z = (torch.autograd.graph.get_gradient_edge(t) for t in (y, z))
    del y
    assert grad(of_z, [of_y, x], retain_graph=True)[0].item() == 3.0
    backward(of_z)
    assert x.grad.item() == 12.0
    with pytest.raises(RuntimeError, match="does not require gradients"):
        torch.autograd.graph.get_gradient_edge(torch.ones(1))


def test_the_edge_of_a_vector_needs_a_gradient():
    x = leaf(1.0, 2.0)
    edge = torch.autograd.graph.get_gradient_edge(x * 2)
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        backward(edge)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        backward(edge, torch.ones(3))
    backward(edge, torch.ones(2))
    assert x.grad.tolist() == [2.0, 2.0]


def test_the_engine_runs_callbacks_at_the_end():
    order = []
    queue = torch.autograd.Variable._execution_engine.queue_callback
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: queue(lambda: order.append("end")))
    x.register_hook(lambda g: order.append("leaf"))
    y.backward()
    assert order == ["leaf", "end"]
    with pytest.raises(RuntimeError, match="during backward pass"):
        queue(lambda: None)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_gradients_of_zero_dim_halves_are_halves(dtype: torch.dtype) -> None:
    x, factor = torch.tensor(2.0, dtype=dtype, requires_grad=True), torch.tensor(3.0, dtype=dtype)
    for product in (x * factor, factor * x, x / factor):
        (slope,) = torch.autograd.grad(product, x)
        assert slope.dtype == dtype


def test_what_is_added_to_a_gradient_reaches_each_element_once():
    one = torch.ones(1)
    x = torch.ones(3, requires_grad=True)
    x.grad = one.expand(3)
    (x * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [2, 3, 4] and one.tolist() == [1]
