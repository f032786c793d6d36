"""Writing in place: versions, the errors that name both lines, and history through views."""

import inspect
import re
from typing import Any

import pytest

import retrograd as torch


def leaf(*values, **options):
    return torch.tensor(list(values), requires_grad=True, **options)


def here():
    return inspect.currentframe().f_back.f_lineno


def named(line, function):
    return f'File "{re.escape(__file__)}", line {line}, in {function}\n'


# ---------------------------------------------------------------- versions


def test_every_write_counts_once():
    x = torch.zeros(3)
    assert x._version == 0
    x.add_(1)
    x[0] = 5
    x[1:].mul_(2)
    x.copy_(torch.ones(3))
    x.zero_()
    assert x._version == 5


def test_views_and_detached_twins_share_a_version():
    x = torch.zeros(3)
    view, twin, data = x[:1], x.detach(), x.data
    view.add_(1)
    twin.add_(1)
    assert x._version == view._version == twin._version == 2
    data.add_(1)
    assert (data._version, x._version) == (1, 2)


def test_failed_writes_do_not_count():
    x = torch.zeros(3)
    for write in (lambda: x.add_(torch.ones(2)), lambda: x.add_("text"), lambda: x.add_(1j)):
        with pytest.raises((RuntimeError, TypeError)):
            write()
    assert x._version == 0
    assert x.tolist() == [0.0, 0.0, 0.0]


# ---------------------------------------------------------------- stale saved values


def test_an_overwritten_input_names_both_lines():
    x = leaf(1.0, 2.0)
    y = x * 1
    z = y * y
    saved = here() - 1
    y.add_(1)
    written = here() - 1
    name = "test_an_overwritten_input_names_both_lines"
    message = ("^one of the variables needed for gradient computation has been modified by an "
               r"inplace operation: \[torch.FloatTensor \[2\]\], which is output 0 of Add, is at "
               "version 1; expected version 0 instead. Hint: .*\n"
               f"The value was saved for MulBackward0 here:\n  {named(saved, name)}    z = y . y\n"
               rf"and overwritten here:\n  {named(written, name)}    y.add_\(1\)$")
    with pytest.raises(RuntimeError, match=message):
        z.sum().backward()
    assert x.grad is None


def test_an_overwritten_output_names_both_lines():
    y = leaf(1.0).exp()
    saved = here() - 1
    y *= 2
    written = here() - 1
    name = "test_an_overwritten_output_names_both_lines"
    message = (f"which is output 0 of Exp, is at version 1(?s:.)*ExpBackward0 here:\n  "
               f"{named(saved, name)}(?s:.)*{named(written, name)}")
    with pytest.raises(RuntimeError, match=message):
        y.backward()


def test_lines_inside_modules_are_the_users():
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    x = torch.ones(3, 2, requires_grad=True)
    y = net(x)
    saved = here() - 1
    loss = y.sum()
    loss.backward(retain_graph=True)
    optimizer.step()
    written = here() - 1
    name = "test_lines_inside_modules_are_the_users"
    with pytest.raises(RuntimeError, match=f"{named(saved, name)}(?s:.)*{named(written, name)}"):
        loss.backward()


def test_a_write_to_any_view_of_what_was_saved_is_noticed():
    x = leaf(1.0, 2.0)
    y = x * 1
    z = y[:1] ** 2
    y[1] = 5
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        z.sum().backward()


def test_what_was_not_saved_may_be_overwritten():
    x = leaf(1.0, 2.0)
    y = x * 3
    z = y + 1
    y.zero_()
    z.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_data_writes_go_unnoticed():
    x = leaf(2.0)
    y = x * x
    x.data.mul_(10)
    y.backward()
    assert x.grad.item() == 40.0


# ---------------------------------------------------------------- leaves


def test_leaves_are_not_written_to_while_recording():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match=r"^a leaf Variable that requires grad is being used in "
                                           r"an in-place operation\.$"):
        x.add_(1)
    with pytest.raises(RuntimeError, match=r"^a view of a leaf Variable that requires grad is "
                                           r"being used in an in-place operation\.$"):
        x[:1].add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        torch.zeros(2)[:1].requires_grad_().add_(1)
    assert x.tolist() == [1.0, 2.0] and x._version == 0


def test_an_update_under_no_grad():
    w = leaf(1.0, 2.0)
    (w * w).sum().backward()
    with torch.no_grad():
        w -= 0.5 * w.grad
        w.grad.zero_()
    assert w.tolist() == [0.0, 0.0]
    assert w.is_leaf and w.requires_grad
    assert w.grad.tolist() == [0.0, 0.0]


# ---------------------------------------------------------------- history


def test_the_write_becomes_the_origin():
    x = leaf(2.0)
    y = x * 1
    y.mul_(x)
    assert y.grad_fn.name() == "MulBackward0"
    y.backward()
    assert x.grad.item() == 4.0
    z = x * 1
    z.add_(x).mul_(3)
    z.backward()
    assert x.grad.item() == 10.0


def test_writing_to_a_slice_of_a_buffer():
    x = leaf(1.0, 2.0, 3.0)
    buffer = torch.zeros(2, 3)
    buffer[0] = x * 2
    buffer[1, 1:] = x[:2]
    assert buffer.requires_grad and not buffer.is_leaf
    (buffer * torch.arange(6.0).view(2, 3)).sum().backward()
    assert x.grad.tolist() == [4.0, 7.0, 4.0]


def test_writing_through_chains_of_views():
    x = leaf(1.0, 2.0, 3.0, 4.0)
    y = x * 1
    y.view(2, 2).t()[0].mul_(10)
    assert y.tolist() == [10.0, 2.0, 30.0, 4.0]
    y.sum().backward()
    assert x.grad.tolist() == [10.0, 1.0, 10.0, 1.0]


def test_older_views_follow_a_write_to_their_base():
    x = leaf(1.0, 2.0)
    y = x * 1
    first, second = y[:1], y[1:]
    y.mul_(3)
    assert first.grad_fn.name() == "AsStridedBackward0"
    (first + second * 10).sum().backward()
    assert x.grad.tolist() == [3.0, 30.0]


def test_views_follow_a_write_to_their_sibling():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    a, b = y[:2], y[1:]
    a.mul_(2)
    b.mul_(5)
    assert (a.tolist(), b.tolist()) == ([2.0, 20.0], [20.0, 15.0])
    a.sum().backward()
    assert x.grad.tolist() == [2.0, 10.0, 0.0]


def test_a_write_can_give_a_constant_base_a_history():
    x = leaf(5.0)
    base = torch.zeros(2)
    view = base[:1]
    view += x
    assert base.requires_grad and view.requires_grad and not view.is_leaf
    (base * 7).sum().backward()
    assert x.grad.item() == 7.0


def test_second_derivatives_through_writes():
    x = leaf(2.0, 3.0)
    y = x * x
    y[:1].mul_(x[1:])
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert g.tolist() == [12.0, 10.0]
    assert torch.autograd.grad(g[0], x)[0].tolist() == [6.0, 4.0]


def test_real_views_of_complex_tensors():
    z = torch.tensor([1 + 1j, 2 - 1j], requires_grad=True)
    w = z * 1
    torch.view_as_real(w)[:, 0].mul_(2)
    assert w.tolist() == [2 + 1j, 4 - 1j]
    (w * w.conj()).real.sum().backward()
    assert z.grad.tolist() == [8 + 2j, 16 - 2j]


def test_retained_gradients_are_those_of_the_latest_write():
    x = leaf(2.0)
    y = x * 3
    y.retain_grad()
    y.mul_(10)
    (y * 2).backward()
    assert y.grad.item() == 2.0
    assert x.grad.item() == 60.0


# ---------------------------------------------------------------- what is refused


def test_parts_of_one_memory():
    x = torch.arange(4.0)
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to "
                                           "tensor refer to a single memory location"):
        x[1:].add_(x[:-1])
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers"):
        torch.zeros(1).expand(3).add_(1)
    x.add_(x)
    assert x.tolist() == [0.0, 2.0, 4.0, 6.0]


@pytest.mark.parametrize(("write", "message"), [
    (lambda x: x.add_(torch.ones(2, 3)), r"output with shape \[3\] doesn't match the broadcast "
                                         r"shape \[2, 3\]"),
    (lambda x: x.long().add_(1.5), "result type Float can't be cast to the desired output type "
                                   "Long"),
    (lambda x: x.add_(1j), "result type ComplexFloat can't be cast to the desired output type"),
])
def test_results_that_do_not_fit(write, message):
    with pytest.raises(RuntimeError, match=message):
        write(torch.zeros(3))


def test_uncounted_writes():
    x = torch.zeros(2)
    with torch.autograd._unsafe_preserve_version_counter(x):
        x.add_(1)
    assert x._version == 0


def test_second_derivatives_of_a_write_to_a_part():
    x = torch.linspace(0.1, 2, 12, dtype=torch.float64).view(3, 4).requires_grad_()

    def written(a):
        base = a * a
        part = base.transpose(0, 1)[1:3].diagonal()
        part.cos_()
        return base

    assert torch.autograd.gradgradcheck(written, (x,))


def test_a_gradient_that_somebody_holds_is_not_written_to() -> None:
    """The part that a write covers is cut out of a gradient, in place where nobody else has it."""
    w, x = torch.ones(3, requires_grad=True), torch.ones(4, 3, requires_grad=True)
    y = x * 2
    y[1] = w
    y[2:] *= 3.0
    given = torch.full((4, 3), 5.0)
    seen: list[Any] = []
    z = y * 1
    z.register_hook(seen.append)
    z.backward(given, retain_graph=True)
    y.backward(given)
    assert (given == 5).all() and (seen[0] == 5).all()
    expected = torch.tensor([10.0, 0.0, 30.0, 30.0])[:, None].expand(4, 3)
    assert torch.equal(x.grad, 2 * expected) and torch.equal(w.grad, torch.full((3,), 10.0))


def test_one_gradient_of_two_buffers_is_cut_for_each() -> None:
    a, b = torch.ones(4, requires_grad=True), torch.ones(4, requires_grad=True)
    first, second = a * 1, b * 1
    first[0] = 7.0
    second[3:] = torch.zeros(1, requires_grad=True)
    (first + second).sum().backward()
    assert a.grad.tolist() == [0, 1, 1, 1] and b.grad.tolist() == [1, 1, 1, 0]


def test_a_gradient_that_goes_two_ways_is_not_overwritten_on_one():
    """Both operands of the sum are given the same memory, and each was written to in part."""
    x, y = (torch.ones(4, requires_grad=True) for _ in range(2))
    a, b = x * 2, y * 3
    a[:2] = 0
    b[2:] = 0
    c = a + b
    c[1:3] *= 10
    c[0] *= 5
    c.sum().backward()
    assert x.grad.tolist() == [0, 0, 20, 2]
    assert y.grad.tolist() == [15, 30, 0, 0]


def test_writes_one_after_another_pass_one_gradient_on():
    x, seed = torch.ones(4, requires_grad=True), torch.ones(4)
    y = x * 2
    for i in range(4):
        y[i] *= i
    y.backward(seed)
    assert x.grad.tolist() == [0, 2, 4, 6]
    assert seed.tolist() == [1, 1, 1, 1]  # what the program gave is its own


def test_a_part_that_is_written_back_is_one_write():
    x = torch.ones(4, 3, requires_grad=True)
    y = x * 1
    y[1, 1:] += 2
    y[2:4] *= 3
    y[0] -= x[3]
    assert y._version == 6
    (y * torch.arange(12.0).reshape(4, 3)).sum().backward()
    assert x.grad.tolist() == [[0, 1, 2], [3, 4, 5], [18, 21, 24], [27, 29, 31]]


def test_a_part_of_another_tensor_is_not_taken_for_one_that_is_written_back():
    x = torch.ones(4, requires_grad=True)
    y, z = x * 1, x * 2
    y[1:3] = z[1:3].mul_(5)
    z[2:] = z[:2]
    y.sum().backward()
    assert y.tolist() == [1, 10, 10, 1] and z.tolist() == [2, 10, 2, 10]
    assert x.grad.tolist() == [1, 10, 10, 1]


def test_a_view_that_was_given_other_memory_of_its_base_is_written_where_it_lies():
    x = torch.ones(6, requires_grad=True)
    y = x * 1
    view = y[1:3]
    view.data = y.data[4:6]
    view.mul_(3)
    assert y.tolist() == [1, 1, 1, 1, 3, 3]
    y.sum().backward()
    assert x.grad.tolist() == [1, 1, 1, 1, 3, 3]


def test_writes_to_parts_of_parts_have_gradients_of_every_order():
    def written(x):
        y = (x * x).reshape(4, 3)
        rest = y[1:]
        rest[::2, 1] *= x[0]
        rest[0][1:] = x[:2] * x[1:3]
        y[..., 0].mul_(x[3])
        return y

    x = torch.arange(1.0, 13, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(written, x, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(written, x)
