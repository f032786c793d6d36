"""Hooks on tensors, on nodes, on groups of tensors and on what the graph saves."""

import pytest

import retrograd as torch
from retrograd.autograd import grad
from retrograd.autograd.graph import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    increment_version,
    register_multi_grad_hook,
    save_on_cpu,
    saved_tensors_hooks,
)


def leaf(*values):
    return torch.tensor(list(values), requires_grad=True)


# ---------------------------------------------------------------- on tensors


def test_tensor_hooks_run_in_order_and_replace_the_gradient():
    x = leaf(1.0)
    x.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: None)
    x.backward()
    assert x.grad.item() == 20.0


def test_a_handle_removes_its_hook():
    x = leaf(1.0)
    handle = x.register_hook(lambda g: g * 10)
    handle.remove()
    handle.remove()
    with x.register_hook(lambda g: g + 5):
        x.backward()
    x.backward()
    assert x.grad.item() == 7.0


def test_a_hook_sees_the_sum_of_all_uses():
    x = leaf(1.0)
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(g.item()))
    (y * 3 + y * 4).backward()
    assert seen == [7.0]


def test_hooks_on_what_grad_returns():
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    assert grad(y * 3, y)[0].item() == 30.0
    a, b = leaf(1.0, 2.0).unbind()
    b.register_hook(lambda g: g * 10)
    assert grad(a * b, b)[0].item() == 10.0


def test_hooks_are_differentiated():
    x = leaf(2.0)
    y = x * 1
    y.register_hook(lambda g: g * g)
    (g,) = grad(y * y, x, create_graph=True)
    assert g.item() == 16.0
    assert grad(g, x)[0].item() == 256.0  # 16, squared by the hook again


def test_hooks_and_retain_grad_follow_writes():
    x = leaf(1.0)
    y = x * 2
    order = []
    y.register_hook(lambda g: order.append(("before", g.item())))
    y.retain_grad()
    y.mul_(5)
    y.register_hook(lambda g: order.append(("after", g.item())))
    y.backward()
    assert order == [("after", 1.0), ("before", 5.0)]
    assert y.grad.item() == 1.0


def test_a_hook_on_an_output_that_gets_no_gradient_sees_none():
    a, b = leaf(1.0, 2.0).unbind()
    seen = []
    b.register_hook(seen.append)
    a.backward()
    assert seen == [None]


@pytest.mark.parametrize(("returned", "error", "message"), [
    ("text", TypeError, "expected Variable, but hook returned 'str'"),
    (1.0, TypeError, "expected Variable, but hook returned 'float'"),
    (torch.ones(3), RuntimeError, "hook '<lambda>' has changed the size of value"),
    (torch.ones(2).double(), RuntimeError,
     r"hook '<lambda>' has changed the type of value \(was torch.FloatTensor got "
     r"torch.DoubleTensor\)"),
])
def test_what_a_tensor_hook_may_not_return(returned, error, message):
    x = leaf(1.0, 2.0)
    x.register_hook(lambda g: returned)
    with pytest.raises(error, match=message):
        x.sum().backward()
    assert x.grad is None


def test_where_hooks_cannot_be_set():
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        torch.ones(1).register_hook(lambda g: g)
    with pytest.raises(RuntimeError, match="cannot be registered on non-leaf tensors"):
        (leaf(1.0) * 2).register_post_accumulate_grad_hook(lambda p: None)


def test_post_accumulate_hooks():
    x = leaf(1.0)
    seen = []
    x.register_post_accumulate_grad_hook(lambda p: seen.append((p is x, p.grad.item())))
    (x * 2).backward()
    (x * 3).backward()
    grad(x * 4, x)
    assert seen == [(True, 2.0), (True, 5.0)]
    x.register_post_accumulate_grad_hook(lambda p: 5)
    with pytest.raises(TypeError, match="hook returned 'int'"):
        (x * 2).backward()


def test_backward_inside_a_hook():
    x, w = leaf(2.0), leaf(3.0)
    inner = w * w
    y = x * 2
    y.register_hook(lambda g: inner.backward())
    y.backward()
    assert (x.grad.item(), w.grad.item()) == (2.0, 6.0)


# ---------------------------------------------------------------- on nodes


def test_node_hooks_replace_gradients():
    x, w = leaf(2.0), leaf(3.0)
    z = x * w
    z.grad_fn.register_prehook(lambda outputs: (outputs[0] * 10,))
    z.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] + outputs[0], inputs[1]))
    z.backward()
    assert (x.grad.item(), w.grad.item()) == (40.0, 20.0)


def test_hooks_of_a_node_and_of_its_output_in_order():
    x = leaf(2.0)
    z = x * 3
    order = []
    accumulate = z.grad_fn.next_functions[0][0]
    accumulate.register_hook(lambda inputs, outputs: order.append("accumulate post"))
    accumulate.register_prehook(lambda outputs: order.append("accumulate pre"))
    z.grad_fn.register_hook(lambda inputs, outputs: order.append("node post"))
    z.grad_fn.register_prehook(lambda outputs: order.append("node pre"))
    z.register_hook(lambda g: order.append("tensor"))
    x.register_hook(lambda g: order.append("leaf"))
    x.register_post_accumulate_grad_hook(lambda p: order.append("leaf post"))
    z.backward()
    assert order == ["tensor", "node pre", "node post", "leaf", "accumulate pre", "leaf post",
                     "accumulate post"]


def test_retain_grad_and_captured_gradients_come_before_prehooks():
    x = leaf(2.0)
    z = x * 3
    z.retain_grad()
    z.grad_fn.register_prehook(lambda outputs: (outputs[0] * 10,))
    assert grad(z * 2, z, retain_graph=True)[0].item() == 2.0
    z.grad = None
    (z * 2).backward()
    assert (z.grad.item(), x.grad.item()) == (2.0, 60.0)


@pytest.mark.parametrize(("returned", "error", "message"), [
    ((), RuntimeError, r"hook '<lambda>' has returned an incorrect number of values \(got 0, but "
                       r"expected 1\)"),
    (5, TypeError, "expected tuple, but hook returned 'int'"),
    ((5,), TypeError, "expected Variable, but hook returned 'int'"),
])
def test_what_a_node_hook_may_not_return(returned, error, message):
    for register in ("register_prehook", "register_hook"):
        y = leaf(2.0).exp()
        getattr(y.grad_fn, register)(lambda *gradients: returned)
        with pytest.raises(error, match=message):
            y.backward()


# ---------------------------------------------------------------- on several tensors


def test_all_gradients_of_a_group():
    x, w, unused = leaf(1.0), leaf(2.0), leaf(3.0)
    seen = []
    handle = register_multi_grad_hook(
        (x, w, unused), lambda gradients: seen.append([g and g.item() for g in gradients]))
    (x * w).backward()
    (x * 5).backward()
    handle.remove()
    (x * w).backward()
    assert seen == [[2.0, 1.0, None], [5.0, None, None]]


def test_all_gradients_of_a_group_in_a_partial_pass():
    x = leaf(1.0)
    a, b = x * 2, x * 3
    seen = []
    register_multi_grad_hook((a, b), lambda gradients: seen.append(gradients))
    c = a * b
    grad(c, a, retain_graph=True)
    grad(c, x)
    assert [[g and g.item() for g in gradients] for gradients in seen] == [[3.0, None], [3.0, 2.0]]


def test_the_first_gradient_of_a_group():
    x, w = leaf(1.0), leaf(2.0)
    seen = []
    register_multi_grad_hook((x, w), seen.append, mode="any")
    (x * w).backward()
    (w * 5).backward()
    assert len(seen) == 2
    assert seen[1].item() == 5.0


def test_groups_that_are_refused():
    with pytest.raises(ValueError, match=r"one of \('all', 'any'\) but got some"):
        register_multi_grad_hook((leaf(1.0),), lambda g: None, mode="some")
    with pytest.raises(AssertionError, match="Expected gradient function to be set"):
        register_multi_grad_hook((torch.ones(1),), lambda g: None)


# ---------------------------------------------------------------- on saved values


def test_saved_values_are_packed_and_unpacked():
    seen = []
    x, w = leaf(2.0), leaf(3.0)
    with saved_tensors_hooks(lambda t: seen.append(t) or t.item(), lambda n: torch.tensor([n])):
        y = x * w + x.exp()
    assert {id(t) for t in seen[:2]} == {id(x), id(w)}
    y.backward()
    assert x.grad.item() == pytest.approx(3 + 7.389056)
    assert w.grad.item() == 2.0


def test_the_innermost_pair_wins_and_numbers_are_not_packed():
    names = []

    def hooks(name):
        return saved_tensors_hooks(lambda t: names.append(name) or t, lambda t: t)

    x = leaf(2.0)
    with hooks("outer"):
        with hooks("inner"):
            x.exp()
        x.sin()
        _ = x * 3
    x.exp()
    assert names == ["inner", "outer"]


def test_an_output_is_packed_as_it_is_after_a_write():
    kept = []
    with saved_tensors_hooks(lambda t: kept.append(t.clone()) or t, lambda t: t):
        y = (leaf(0.0) * 1).exp_()
    assert kept[-1].item() == y.item() == 1.0


def test_hooks_in_a_second_derivative():
    x = leaf(2.0)
    with saved_tensors_hooks(lambda t: t, lambda t: t):
        (g,) = grad(x * x * x, x, create_graph=True)
    assert grad(g, x)[0].item() == 12.0


def test_bad_saved_tensor_hooks():
    x = leaf(2.0)
    with saved_tensors_hooks(lambda t: t, lambda t: 5):
        y = x * x
    with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor but got"):
        y.backward()
    with pytest.raises(RuntimeError, match="pack hook is modifying its input in place"), \
            saved_tensors_hooks(lambda t: t.add_(1), lambda t: t):
        (x * 1).exp()
    with pytest.raises(TypeError), saved_tensors_hooks(1, 2):
        pass
    assert (x * x).grad_fn._saved_self is x


def test_disabled_hooks():
    with disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match="not here"), saved_tensors_hooks(id, id):
            pass
        with disable_saved_tensors_hooks("nor here"), \
                pytest.raises(RuntimeError, match="nor here"), saved_tensors_hooks(id, id):
            pass
    with saved_tensors_hooks(lambda t: t, lambda t: t), \
            pytest.raises(RuntimeError, match="not now"), disable_saved_tensors_hooks("not now"):
        pass
    with saved_tensors_hooks(lambda t: t, lambda t: t):
        leaf(1.0).exp()


def test_hooks_on_one_saved_value():
    x = leaf(2.0)
    y = x**2
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t * 10, lambda t: t)
    with pytest.raises(RuntimeError, match="hooks have already been set"):
        y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
    y.backward()
    assert x.grad.item() == 40.0
    with pytest.raises(RuntimeError, match="after it has been freed"):
        y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)


def test_hooks_on_a_saved_value_whose_rule_runs_on_tensors():
    x = leaf(2.0).to(torch.bfloat16).detach().requires_grad_()
    y = x**2
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t * 10, lambda t: t)
    y.backward()
    assert x.grad.item() == 40.0


def test_save_on_cpu():
    x = leaf(2.0)
    with save_on_cpu():
        y = x * x
    y.backward()
    assert x.grad.item() == 4.0


def test_allowed_mutation():
    with allow_mutation_on_saved_tensors() as context:
        x = leaf(1.0)
        y = x * 2
        z = y * y
        y.mul_(5)
        (z + y).backward()
        assert x.grad.item() == 18.0
        with pytest.raises(RuntimeError, match="cannot be nested"), \
                allow_mutation_on_saved_tensors():
            pass
        late = y * y
        context.clear()
        with pytest.raises(AssertionError, match="Trying to backward outside"):
            late.backward()
        late = y * y
    with pytest.raises(AssertionError, match="Trying to backward outside"):
        late.backward()


def test_increment_version():
    x = torch.ones(1)
    increment_version(x)
    increment_version([x, x])
    assert x._version == 3
    with pytest.raises(RuntimeError, match="expect a Iterable"):
        increment_version(3)
