"""In-place operations: versions, errors, and history rebased through views."""

from __future__ import annotations

import copy

from parity.harness import behaviour, behaviour_of_each
from shared import leaf

WRITES = {
    "add_": lambda torch, t: t.add_(1),
    "sub_": lambda torch, t: t.sub_(1),
    "mul_": lambda torch, t: t.mul_(2),
    "div_": lambda torch, t: t.div_(2),
    "pow_": lambda torch, t: t.pow_(2),
    "add_ alpha": lambda torch, t: t.add_(torch.ones_like(t), alpha=3),
    "exp_": lambda torch, t: t.exp_(),
    "log_": lambda torch, t: t.log_(),
    "sqrt_": lambda torch, t: t.sqrt_(),
    "sin_": lambda torch, t: t.sin_(),
    "tanh_": lambda torch, t: t.tanh_(),
    "sigmoid_": lambda torch, t: t.sigmoid_(),
    "relu_": lambda torch, t: t.relu_(),
    "neg_": lambda torch, t: t.neg_(),
    "abs_": lambda torch, t: t.abs_(),
    "clamp_": lambda torch, t: t.clamp_(0.5, 1.5),
    "zero_": lambda torch, t: t.zero_(),
    "fill_": lambda torch, t: t.fill_(3),
    "copy_": lambda torch, t: t.copy_(torch.ones_like(t)),
    "masked_fill_": lambda torch, t: t.masked_fill_(t > 1.5, 0),
    "setitem": lambda torch, t: t.__setitem__(0, 5.0),
    "setitem slice": lambda torch, t: t.__setitem__(slice(0, 2), 5.0),
    "index_fill_": lambda torch, t: t.index_fill_(0, torch.tensor([0]), 2.0),
    "addcmul_": lambda torch, t: t.addcmul_(torch.ones_like(t), torch.ones_like(t)),
    "lerp_": lambda torch, t: t.lerp_(torch.zeros_like(t), 0.5),
    "floor_": lambda torch, t: t.floor_(),
    "reciprocal_": lambda torch, t: t.reciprocal_(),
    "square_": lambda torch, t: t.square_(),
    "cumsum_": lambda torch, t: t.cumsum_(0),
}


@behaviour_of_each(WRITES.items())
def write_to_a_plain_tensor(torch, log, name, write):
    t = torch.tensor([1.0, 2.0, 3.0])
    result = write(torch, t)
    log(result is t or result is None, t, t._version)


@behaviour_of_each(WRITES.items())
def write_to_an_intermediate(torch, log, name, write):
    x = leaf(torch, 1.0, 2.0, 3.0)
    y = x * 1.5
    write(torch, y)
    log(y, y._version)
    log.graph(y)
    (y * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    log(x.grad)


@behaviour_of_each(WRITES.items())
def write_to_a_leaf_is_refused(torch, log, name, write):
    x = leaf(torch, 1.0, 2.0, 3.0)
    log.raises(write, torch, x)
    log(x)
    with torch.no_grad():
        write(torch, x)
    log(x)


@behaviour_of_each(WRITES.items())
def write_to_a_view_of_a_leaf_is_refused(torch, log, name, write):
    x = leaf(torch, 1.0, 2.0, 3.0)
    log.raises(write, torch, x[:])
    log.raises(write, torch, x.view(3))
    log(x)


@behaviour_of_each(WRITES.items())
def write_to_a_view_reaches_the_base(torch, log, name, write):
    x = leaf(torch, 1.0, 2.0, 3.0, 4.0)
    base = x * 1.5
    view = base[:2]
    write(torch, view)
    log(view, base, base._version, view._version)
    log.graph(base)
    log.graph(view)
    (base**2).sum().backward()
    log(x.grad)


@behaviour_of_each(WRITES.items())
def write_to_a_base_reaches_the_view(torch, log, name, write):
    x = leaf(torch, 1.0, 2.0, 3.0, 4.0)
    base = x * 1.5
    view = base.view(2, 2)[1]
    write(torch, base)
    log(view, base)
    log.graph(view)
    (view**2).sum().backward()
    log(x.grad)


@behaviour_of_each(WRITES.items())
def second_derivative_after_a_write(torch, log, name, write):
    x = leaf(torch, 1.0, 2.0, 3.0)
    y = x**2
    write(torch, y)
    (g,) = torch.autograd.grad((y**2).sum(), x, create_graph=True)
    log.values(g)
    if g.requires_grad:
        log.values(torch.autograd.grad(g.sum(), x, allow_unused=True, materialize_grads=True)[0])


@behaviour_of_each(WRITES.items())
def write_after_a_value_was_saved(torch, log, name, write):
    x = leaf(torch, 1.0, 2.0, 3.0)
    y = x * 1
    z = y**2
    write(torch, y)
    log.raises(z.sum().backward)


# Version errors


@behaviour
def overwriting_a_saved_output(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x.exp()
    y.add_(1)
    log.raises(y.sum().backward)


@behaviour
def overwriting_a_saved_output_many_times(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x.sigmoid()
    for _ in range(3):
        y.mul_(2)
    log.raises(y.sum().backward)


@behaviour
def overwriting_a_saved_input(torch, log):
    x, w = leaf(torch, 1.0, 2.0), torch.tensor([3.0, 4.0])
    y = x * w
    w[0] = 7
    log.raises(y.sum().backward)


@behaviour
def overwriting_a_saved_leaf_under_no_grad(torch, log):
    w = leaf(torch, 1.0, 2.0)
    y = w**2
    with torch.no_grad():
        w.add_(1)
    log.raises(y.sum().backward)


@behaviour
def overwriting_through_data_is_not_noticed(torch, log):
    w = leaf(torch, 1.0, 2.0)
    y = w**2
    w.data.add_(10)
    y.sum().backward()
    log(w.grad)


@behaviour
def overwriting_through_detach_is_noticed(torch, log):
    w = leaf(torch, 1.0, 2.0)
    y = w**2
    w.detach().add_(10)
    log.raises(y.sum().backward)


@behaviour
def overwriting_through_a_view_is_noticed(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x * 2
    z = y**2
    y[0] = 5
    log.raises(z.sum().backward)


@behaviour
def overwriting_the_base_of_a_saved_view_is_noticed(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x * 2
    z = y[0] ** 2
    y[1] = 5
    log.raises(z.backward)


@behaviour
def overwriting_through_numpy_is_not_noticed(torch, log):
    c = torch.tensor([3.0, 4.0])
    x = leaf(torch, 1.0, 2.0)
    y = x * c
    c.numpy()[0] = 100
    y.sum().backward()
    log(x.grad)


@behaviour
def overwriting_what_was_not_saved_is_fine(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x + 1
    y.mul_(3)
    z = y.sum()
    y.add_(5)
    z.backward()
    log(x.grad)


@behaviour
def overwriting_an_index_tensor_is_noticed(torch, log):
    x = leaf(torch, 1.0, 2.0, 3.0)
    index = torch.tensor([0, 2])
    y = x[index]
    index[0] = 1
    log.raises(y.sum().backward)


@behaviour
def overwriting_a_mask_is_noticed(torch, log):
    x = leaf(torch, 1.0, 2.0)
    mask = torch.tensor([True, False])
    y = torch.where(mask, x, torch.zeros(2))
    mask[0] = False
    log.raises(y.sum().backward)


@behaviour
def version_error_in_double_backward(torch, log):
    x = leaf(torch, 2.0)
    y = x * 1
    z = y**3
    (g,) = torch.autograd.grad(z, x, create_graph=True)
    with torch.no_grad():
        y.add_(1)
    log.raises(g.sum().backward)


@behaviour
def version_error_names_the_shape_and_dtype(torch, log):
    x = torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
    y = x.exp()
    y.zero_()
    log.raises(y.sum().backward)
    w = torch.ones(3, 2, dtype=torch.float64)
    z = x @ w
    w.add_(1)
    log.raises(z.sum().backward)


@behaviour
def version_counters_count_every_write(torch, log):
    x = torch.zeros(3)
    log(x._version)
    x.add_(1)
    x[0] = 2
    x.zero_()
    x += 1
    x[1:].mul_(2)
    x.view(3, 1).copy_(torch.ones(3, 1))
    x.data.add_(1)
    log(x._version, x[0]._version, x.clone()._version)
    x.requires_grad_()
    log(x._version)


@behaviour
def a_leaf_that_is_itself_a_view(torch, log):
    x = torch.arange(3.0).reshape(3, 1).requires_grad_()
    log(x.is_leaf, x._is_view())
    for view in (x.view(3), x[:1], x.detach()):
        log.raises(view.add_, 1.0)
        log.raises(view.add_, torch.ones(1, requires_grad=True))
    log.raises(x.add_, 1.0)


@behaviour
def a_view_of_such_a_leaf_keeps_its_gradient(torch, log):
    x = torch.arange(3.0).reshape(3, 1).requires_grad_()
    view = x.view(3)
    with torch.no_grad():
        x.add_(1.0)
    log.differs(view.grad_fn.name(), torch="AsStridedBackward0", retrograd="ViewBackward0")
    (x + view[:, None]).sum().backward()
    log.differs(x.grad.flatten().tolist(), torch=[1.0] * 3, retrograd=[2.0] * 3)


@behaviour
def recorded_fills_of_expanded_memory_are_refused_at_once(torch, log):
    x = torch.ones(1, requires_grad=True) * 1
    y = x.expand(3)
    for step in ("write", "backward"):
        try:
            y.fill_(2.0) if step == "write" else y.sum().backward()
        except RuntimeError as error:
            assert "more than one element of the written-to tensor" in str(error)
            refused = step
            break
    log.differs(refused, torch="backward", retrograd="write")


@behaviour_of_each([True, False])
def a_plain_view_of_a_base_that_got_a_history(torch, log, looked_at):
    w = torch.ones(3, requires_grad=True)
    base = torch.zeros(3)
    view = base.view(3)
    base.add_(w)
    if looked_at:
        log(view.grad_fn)
    try:
        view.add_(w)
        written = True
    except RuntimeError as error:
        assert "a leaf Variable that requires grad" in str(error)
        written = False
    log.differs(written, torch=looked_at, retrograd=True)
    log(base.requires_grad)


@behaviour
def a_backward_that_fails_changes_no_gradient(torch, log):
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    s = x.sigmoid()
    s.add_(1.0)
    loss = (y * 2).sum() + s.sum()
    log.raises(loss.backward)
    log(x.grad)
    log.differs(y.grad is None, torch=False, retrograd=True)


@behaviour
def failed_writes_do_not_count(torch, log):
    x = torch.zeros(3)
    for write in (
        lambda: x.add_(torch.ones(4)),
        lambda: x.__setitem__(5, 1),
        lambda: x.copy_(torch.ones(2)),
        lambda: x.add_("a"),
        lambda: x.masked_fill_(torch.ones(3), 0),
    ):
        log.raises(write)
    log(x)


@behaviour
def increment_version_by_hand(torch, log):
    x = torch.zeros(3)
    torch.autograd.graph.increment_version(x)
    log(x._version)
    torch.autograd.graph.increment_version([x, x])
    log(x._version)


@behaviour
def unsafe_version_override(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x * 1
    z = y**2
    with torch.autograd._unsafe_preserve_version_counter(y), torch.no_grad():
        y.add_(1)
    log(y._version)
    z.sum().backward()
    log(x.grad)


# Rebasing


@behaviour
def writing_slices_of_a_buffer(torch, log):
    x = leaf(torch, 1.0, 2.0, 3.0)
    buffer = torch.zeros(2, 3)
    buffer[0] = x * 2
    buffer[1] = x**2
    log(buffer)
    log.graph(buffer)
    (buffer * torch.arange(6.0).view(2, 3)).sum().backward()
    log(x.grad)


@behaviour
def a_plain_buffer_starts_requiring_grad_when_written(torch, log):
    x = leaf(torch, 1.0)
    buffer = torch.zeros(2)
    log(buffer.requires_grad, buffer.is_leaf)
    buffer[:1].copy_(x)
    log(buffer, buffer.is_leaf)
    buffer.sum().backward()
    log(x.grad)


@behaviour
def views_made_before_the_write_follow(torch, log):
    x = leaf(torch, 1.0, 2.0)
    buffer = torch.zeros(4)
    before = buffer[:2]
    buffer[1:3] = x
    after = buffer[1:]
    log(before, after, before.requires_grad)
    log.graph(before)
    (before.sum() + (after**2).sum()).backward()
    log(x.grad)


@behaviour
def chains_of_views(torch, log):
    x = leaf(torch, 1.0, 2.0, 3.0, 4.0)
    y = x * 1
    v = y.view(2, 2)[1][1:]
    v.mul_(10)
    log(y, v)
    log.graph(y)
    (y**2).sum().backward()
    log(x.grad)


@behaviour
def transposed_views(torch, log):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 1
    y.T[0] *= 3
    y.t()[1:].add_(x.t()[1:])
    log(y)
    (y**2).sum().backward()
    log(x.grad)


@behaviour
def diagonal_views(torch, log):
    x = torch.ones(3, 3, requires_grad=True)
    d = leaf(torch, 1.0, 2.0, 3.0)
    y = x * 2
    y.diagonal().copy_(d)
    y.diagonal(1).mul_(5)
    log(y)
    (y**2).sum().backward()
    log(x.grad, d.grad)


@behaviour
def expanded_views_of_intermediates(torch, log):
    x = leaf(torch, 2.0)
    y = (x * 1).expand(3)
    log.raises(y.add_, 1)
    log.raises(y.mul_, torch.ones(3))
    log(y)


@behaviour
def unfolded_views(torch, log):
    x = torch.arange(6.0, requires_grad=True)
    y = x * 1
    y.unfold(0, 2, 2)[:, 0].mul_(3)
    log(y)
    y.sum().backward()
    log(x.grad)


@behaviour
def as_strided_views(torch, log):
    x = torch.arange(6.0, requires_grad=True)
    y = x * 1
    y.as_strided((3,), (2,)).mul_(3)
    log(y)
    log.graph(y)
    y.sum().backward()
    log(x.grad)


@behaviour
def real_views_of_complex_tensors(torch, log):
    z = torch.tensor([1 + 1j, 2 - 1j], requires_grad=True)
    w = z * 1
    torch.view_as_real(w)[:, 0].mul_(2)
    log(w)
    w.abs().sum().backward()
    log(z.grad)
    v = z * 1
    v.imag.zero_()
    log(v)


@behaviour
def a_view_of_a_view_written_twice(torch, log):
    x = leaf(torch, 1.0, 2.0, 3.0, 4.0)
    y = x * 1
    a, b = y[:3], y[1:]
    a.mul_(2)
    b.mul_(3)
    log.raises(a.add_, b[0])
    a.add_(b[0].clone())
    log(y, a, b, y._version)
    (y * torch.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    log(x.grad)


@behaviour
def write_through_a_view_and_use_the_old_result(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x * 2
    old = y.sum()
    y[0] = 0
    new = y.sum()
    (old + 10 * new).backward()
    log(x.grad)


@behaviour
def write_a_tensor_into_its_own_view(torch, log):
    x = leaf(torch, 1.0, 2.0, 3.0, 4.0)
    y = x * 1
    y[:2] = y[2:]
    log(y)
    (y**2).sum().backward()
    log(x.grad)
    z = x * 1
    z[:2] += z[2:] * z[:2]
    log.raises((z**2).sum().backward)
    log(x.grad)


@behaviour
def multi_output_views_cannot_be_written(torch, log):
    x = leaf(torch, 1.0, 2.0, 3.0, 4.0)
    for parts in ((x * 1).unbind(), (x * 1).split(2), (x * 1).chunk(2), (x * 1).split([1, 3])):
        log.raises(parts[0].add_, 1)
    log.raises((x * 1).tensor_split(2)[0].mul_, 2)


@behaviour
def multi_output_views_of_plain_tensors_can_be_written(torch, log):
    x = torch.arange(4.0)
    a, b = x.split(2)
    a.add_(10)
    log(x, a, b, b._version)
    for element in x:
        element.mul_(2)
    log(x)


@behaviour
def multi_output_views_written_with_grad_are_refused(torch, log):
    x = torch.zeros(4)
    a, _ = x.split(2)
    w = leaf(torch, 1.0, 2.0)
    log.raises(a.copy_, w)
    log.raises(a.add_, w)


@behaviour
def writing_the_base_of_multi_output_views(torch, log):
    x = leaf(torch, 1.0, 2.0, 3.0, 4.0)
    y = x * 1
    a, b = y.split(2)
    y.mul_(2)
    log.raises(lambda: a.grad_fn)
    log.raises(lambda: (b * 2).sum().backward())


@behaviour
def views_made_in_no_grad_and_written_outside(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x * 1
    with torch.no_grad():
        v = y[:1]
    log.raises(v.add_, 1)
    w = leaf(torch, 1.0, 2.0)
    with torch.no_grad():
        u = w[:1]
    log.raises(u.add_, 1)


@behaviour
def views_made_outside_and_written_in_no_grad(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x * 1
    v = y[:1]
    with torch.no_grad():
        v.mul_(5)
    log(y, v)
    y.sum().backward()
    log(x.grad)


@behaviour
def views_of_leaves_written_in_no_grad(torch, log):
    w = leaf(torch, 1.0, 2.0)
    v = w.view(2, 1)
    with torch.no_grad():
        w.view(2, 1)[0] = 7
        v[1] = 8
    log(w, v)
    (w**2).sum().backward()
    log(w.grad)
    log(v)


@behaviour
def views_made_in_inference_mode_and_written_outside(torch, log):
    x = torch.zeros(2)
    with torch.inference_mode():
        v = x[:1]
    log.raises(v.add_, 1)
    log(x)


@behaviour
def no_grad_view_written_in_no_grad_then_read(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x * 1
    with torch.no_grad():
        v = y[:1]
        v.mul_(3)
    log(y)
    log.raises(lambda: v.requires_grad)
    log.raises(lambda: v.grad_fn)


@behaviour
def leaf_that_became_part_of_a_buffer(torch, log):
    x = leaf(torch, 1.0, 2.0)
    buffer = torch.zeros(3)
    view = buffer[:2]
    view += x
    log(view.is_leaf, buffer.is_leaf, buffer)
    buffer.sum().backward()
    log(x.grad)


@behaviour
def requires_grad_on_a_view_of_a_plain_tensor(torch, log):
    x = torch.zeros(3)
    v = x[:2].requires_grad_()
    log(v, x.requires_grad)
    (v * 2).sum().backward()
    log(v.grad)
    log.raises(v.add_, 1)
    x.add_(1)
    log(v, x)


@behaviour
def writing_a_base_whose_view_requires_grad(torch, log):
    x = torch.zeros(3)
    x[:2].requires_grad_()
    x.mul_(2)
    log(x)


@behaviour
def copy_from_integers_and_other_dtypes(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x * 1
    y.copy_(torch.tensor([3, 4]))
    log(y)
    z = x * 1
    d = torch.tensor([5.0, 6.0], dtype=torch.float64, requires_grad=True)
    z.copy_(d)
    log(z)
    z.sum().backward()
    log(d.grad, x.grad)


@behaviour
def copy_broadcasts(torch, log):
    x = leaf(torch, 3.0)
    y = torch.zeros(2, 2)
    y.copy_(x)
    log(y)
    y.sum().backward()
    log(x.grad)
    log.raises(torch.zeros(2).copy_, torch.zeros(3))
    log.raises(torch.zeros(2).copy_, 3)


@behaviour
def writing_to_a_tensor_that_is_its_own_operand(torch, log):
    x = leaf(torch, 2.0)
    y = x * 1
    y.mul_(y)
    log(y)
    log.raises(y.backward)
    z = x * 1
    z.add_(z)
    z.backward()
    log(x.grad)


@behaviour
def in_place_on_an_input_saved_by_itself(torch, log):
    x = leaf(torch, 2.0)
    y = x * 1
    y.pow_(2)
    y.pow_(2)
    log.raises(y.backward)
    log(x.grad)


@behaviour
def in_place_relu_and_sigmoid_use_their_results(torch, log):
    for name in ("relu_", "sigmoid_", "tanh_", "exp_", "sqrt_"):
        x = leaf(torch, 1.0, 2.0)
        y = x * 1.5
        getattr(y, name)()
        y.sum().backward()
        log(x.grad)


@behaviour
def in_place_after_relu_overwrites_its_result(torch, log):
    x = leaf(torch, 1.0, -2.0)
    y = x.relu()
    y += 1
    log.raises(y.sum().backward)


@behaviour
def in_place_on_the_result_of_addition_is_fine(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x + 1
    y += 1
    y *= 2
    y.sum().backward()
    log(x.grad, y)


@behaviour
def gradient_descent_updates(torch, log):
    w = leaf(torch, 5.0)
    for _ in range(4):
        loss = (w - 2) ** 2
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
        log(w, w._version)


@behaviour
def forgetting_no_grad_in_an_update(torch, log):
    w = leaf(torch, 5.0)
    (w**2).backward()
    log.raises(w.sub_, 0.1 * w.grad)
    log.raises(w.__isub__, 0.1 * w.grad)
    log(w)


@behaviour
def updating_data(torch, log):
    w = leaf(torch, 5.0)
    (w**2).backward()
    w.data -= 0.1 * w.grad
    w.data[0] += 1
    log(w, w._version)


@behaviour
def in_place_between_two_backwards(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x**2
    y.sum().backward(retain_graph=True)
    with torch.no_grad():
        x.add_(1)
    log.raises(y.sum().backward)
    log(x.grad)


@behaviour
def hooks_and_retain_grad_survive_in_place(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y.sum().backward()
    log(y.grad, x.grad)


@behaviour
def tensor_hooks_before_in_place_see_the_old_value(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(("before", g.tolist())))
    y.mul_(3)
    y.register_hook(lambda g: seen.append(("after", g.tolist())))
    y.sum().backward()
    log(seen)


@behaviour
def detach_does_not_stop_writes(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x * 1
    y.detach().zero_()
    log(y, x)
    y.sum().backward()
    log(x.grad)


@behaviour
def set_grad_of_a_written_tensor(torch, log):
    x = torch.zeros(2, requires_grad=True)
    x.grad = torch.ones(2)
    x.grad += 1
    x.grad.mul_(3)
    log(x.grad, x.grad._version)


@behaviour
def swapping_rows_in_place(torch, log):
    x = torch.arange(4.0).reshape(2, 2).requires_grad_()
    y = x * 1
    y[[0, 1]] = y[[1, 0]]
    log(y)
    (y * torch.tensor([[1.0, 1.0], [10.0, 10.0]])).sum().backward()
    log(x.grad)


@behaviour
def fibonacci_in_a_buffer(torch, log):
    x = leaf(torch, 1.0)
    buffer = torch.zeros(6)
    buffer[0] = x
    buffer[1] = x
    for i in range(2, 6):
        buffer[i] = buffer[i - 1].clone() + buffer[i - 2].clone()
    log(buffer)
    buffer[5].backward()
    log(x.grad)


@behaviour
def fibonacci_in_a_buffer_with_products_fails(torch, log):
    x = leaf(torch, 2.0)
    buffer = torch.zeros(4)
    buffer[0] = x
    buffer[1] = x
    for i in range(2, 4):
        buffer[i] = buffer[i - 1] * buffer[i - 2]
    log.raises(buffer[3].backward)


@behaviour
def random_fills_in_place(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x * 1
    y.uniform_()
    log(y)
    y.sum().backward()
    log(x.grad)
    log.raises(x.normal_)


@behaviour
def in_place_with_broadcasting(torch, log):
    x, b = torch.ones(2, 3, requires_grad=True), leaf(torch, 1.0, 2.0, 3.0)
    y = x * 1
    y.mul_(b)
    y.add_(b, alpha=2)
    log(y)
    y.sum().backward()
    log(x.grad, b.grad)
    log.raises((b * 1).mul_, torch.ones(2, 3))


@behaviour
def in_place_changes_of_shape(torch, log):
    x = torch.ones(1, 3, requires_grad=True)
    y = x * 1
    log(y.squeeze_(0), y.unsqueeze_(1), y.t_())
    log.graph(y)
    y.sum().backward()
    log(x.grad)
    log.raises(x.squeeze_)


@behaviour
def in_place_on_integer_tensors(torch, log):
    i = torch.tensor([1, 2, 3])
    i.add_(1).mul_(2)
    i.clamp_(max=5)
    log(i)
    log.raises(i.exp_)
    log.raises(i.div_, 2)
    log.raises(i.add_, 1.5)
    log.raises(i.sigmoid_)
    log(i)


@behaviour_of_each([("written", 0), ("sibling", 1)])
def view_of_a_constant_that_got_a_history(torch, log, name, which):
    def view():
        base = torch.zeros(3)
        views = base[:2], base[1:]
        views[0].copy_(leaf(torch, 1.0, 2.0) * 2)
        return views[which]

    log(view(), view().requires_grad, view().is_leaf, view().output_nr, view().data)
    log.graph(view())
    log(view().clone(), view().detach(), copy.copy(view()).requires_grad)
    log.raises(view().numpy)
    log.raises(view().detach_)
    log.raises(view().retain_grad)
    log.raises(view().register_post_accumulate_grad_hook, print)
    log.raises(lambda: copy.deepcopy(view()))
    log.raises(torch.autograd.grad, view().sum(), view(), allow_unused=True)


@behaviour_of_each([("mul_", lambda y, b: y.mul_(b)), ("sin_", lambda y, b: y.sin_()),
                    ("tanh_", lambda y, b: y.tanh_()), ("div_", lambda y, b: y.div_(b)),
                    ("number", lambda y, b: y.mul_(2.5)),
                    ("factor", lambda y, b: y.add_(b, alpha=3)),
                    ("several", lambda y, b: y.mul_(2).add_(b).sigmoid_())])
def derivatives_of_a_recorded_write(torch, log, name, write):
    x, b = leaf(torch, 0.5, -1.0), leaf(torch, 2.0, 3.0)
    y = x * 1.5
    log(write(y, b) is y, y, y._version)
    log.graph(y)
    first = torch.autograd.grad(y.sum(), (x, b), create_graph=True, allow_unused=True)
    log.values(*(g for g in first if g is not None))
    parts = [(g * g).sum() for g in first if g is not None and g.requires_grad]
    if parts:
        log(*torch.autograd.grad(sum(parts), (x, b), allow_unused=True, retain_graph=True))
    y.add_(1)
    log.raises((y * 2).sum().backward)


@behaviour_of_each([("itself", lambda y: y.mul_(y)), ("its result", lambda y: y.tanh_().mul_(2)),
                    ("its operand", lambda y: (y.sin(), y.mul_(2))[0])])
def write_over_what_was_saved(torch, log, name, write):
    x = leaf(torch, 0.5, -1.0)
    log.raises(write(x * 1.5).sum().backward)


SHAPED = {"t_": (), "transpose_": (0, 1), "unsqueeze_": (1,), "squeeze_": (),
          "as_strided_": ((2,), (1,))}


@behaviour_of_each([("leaf", lambda x: x), ("slice", lambda x: (x * 1)[1:]),
                    ("slice of a leaf", lambda x: x[1:]),
                    ("view of a view", lambda x: (x * 1)[:2].view(4, 2))])
def shapes_taken_while_nothing_is_recorded(torch, log, name, taken):
    for write, arguments in SHAPED.items():
        x = torch.ones(3, 4, requires_grad=True)
        part = taken(x)
        with torch.no_grad():
            getattr(part, write)(*arguments)
        weights = torch.arange(float(part.numel())).reshape(part.shape)
        (part * part * weights).sum().backward()
        log(part.tolist(), part.is_leaf, x.grad)


@behaviour_of_each([(name, name) for name in SHAPED if name != "unsqueeze_"])
def a_gradient_of_another_shape_than_was_recorded(torch, log, name, write):
    """PyTorch names the function that returned the gradient."""
    x = torch.ones(1, 4, requires_grad=True)
    y = x * 3
    with torch.no_grad():
        getattr(y, write)(*SHAPED[write])
    log.refuses((y * 2).sum().backward)
    log(x.grad)


@behaviour
def a_dimension_that_is_not_recorded_is_summed_away(torch, log):
    x = leaf(torch, 0.5, -1.0)
    y = x * 3
    with torch.no_grad():
        y.unsqueeze_(0)
    (y * torch.tensor([[1.0, 2.0]])).sum().backward()
    log(y.tolist(), x.grad)


@behaviour_of_each([(call, call) for call in (
    "x.fill_(3)", "x.fill_(torch.tensor(3.0))", "x.zero_()", "x.masked_fill_(mask, 3)",
    "x.masked_fill_(mask, torch.tensor(3.0))", "x.index_fill_(0, index, 3)",
    "x.index_fill_(1, index, 3)", "x.index_put_((index,), torch.full((1, 3), 5.0))",
    "x.index_put_((index,), torch.tensor(5.0), accumulate=True)",
    "x.index_fill_(0, index, torch.tensor(3.0))", "x.masked_fill_(mask, 2j)",
    "x.index_fill_(0, index, torch.ones(2))", "x.masked_fill_(mask, torch.ones(2))",
    "x.__setitem__(index, 5.0)", "x.__setitem__(0, 5.0)",
    "x.__setitem__((index, index), torch.tensor(7.0))", "x.add_(1)", "x.copy_(torch.ones(3))")])
def writes_to_memory_that_elements_share(torch, log, name, call):
    for source in (torch.zeros(3), torch.zeros(3, dtype=torch.float64)):
        x, version = source.expand(2, 3), source._version
        names = {"torch": torch, "x": x, "mask": torch.ones(2, 3, dtype=torch.bool),
                 "index": torch.tensor([0])}
        log.refuses(eval, call, names)
        log(source, source._version - version)


@behaviour
def filling_with_a_tensor(torch, log):
    for value in (torch.tensor(3), torch.tensor(2.5), torch.tensor(1 + 2j)):
        for x in (torch.zeros(2), torch.zeros(2, dtype=torch.int32), torch.zeros(2) * 1j):
            log.raises(lambda x=x, value=value: torch.fill(x, value))
            log.raises(lambda x=x, value=value: x.fill_(value))
    log.raises(lambda: torch.fill(torch.zeros(2), torch.ones(1)))
    x, v = torch.zeros(2, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    (torch.fill(x, v) * torch.tensor([1.0, 3.0])).sum().backward()
    log(x.grad, v.grad)
    big = torch.zeros(300, 300)
    log(big.copy_(torch.ones(300, 300)).sum(), big._version)


@behaviour_of_each([3, 100_000])
def each_write_counts_once_however_large(torch, log, size):
    w = torch.ones(size, requires_grad=True)
    for write in (lambda y: y.mul_(w), lambda y: y.add_(w, alpha=2), lambda y: y.sin_(),
                  lambda y: y.copy_(w), lambda y: y.mul_(2.0), lambda y: y.zero_(),
                  lambda y: y[1:].copy_(w[1:]), lambda y: y[:2].fill_(3.0)):
        y = w * 1
        kept = y.exp()
        write(y)
        log(y._version, y.grad_fn.name())
        log.raises(lambda kept=kept: kept.sum().backward())
        used = w * y
        write(y)
        log(y._version)
        log.raises(lambda used=used: used.sum().backward())
