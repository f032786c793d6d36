"""Views, strides and shared memory."""

from __future__ import annotations

import warnings

import numpy as np

from parity.harness import behaviour, behaviour_of_each


def cube(torch):
    return torch.arange(24.0).reshape(2, 3, 4)


VIEWS = {
    "view": lambda torch, x: x.view(6, 4),
    "view with -1": lambda torch, x: x.view(-1),
    "view as tuple": lambda torch, x: x.view((4, 6)),
    "view_as": lambda torch, x: x.view_as(torch.zeros(8, 3)),
    "reshape": lambda torch, x: x.reshape(3, 8),
    "reshape same": lambda torch, x: x.reshape(2, 3, 4),
    "flatten": lambda torch, x: x.flatten(),
    "flatten part": lambda torch, x: x.flatten(1, 2),
    "unflatten": lambda torch, x: x.unflatten(2, (2, 2)),
    "ravel": lambda torch, x: x.ravel(),
    "transpose": lambda torch, x: x.transpose(0, 2),
    "transpose negative": lambda torch, x: x.transpose(-1, -2),
    "swapaxes": lambda torch, x: x.swapaxes(0, 1),
    "permute": lambda torch, x: x.permute(2, 0, 1),
    "permute tuple": lambda torch, x: x.permute((1, 2, 0)),
    "movedim": lambda torch, x: x.movedim(0, -1),
    "mT": lambda torch, x: x.mT,
    "T": lambda torch, x: x[0].T,
    "t": lambda torch, x: x[0].t(),
    "squeeze": lambda torch, x: x[:1].squeeze(),
    "squeeze dim": lambda torch, x: x[:1].squeeze(0),
    "squeeze other dim": lambda torch, x: x[:1].squeeze(1),
    "squeeze dims": lambda torch, x: x[:1, :, :1].squeeze((0, 2)),
    "unsqueeze": lambda torch, x: x.unsqueeze(1),
    "unsqueeze last": lambda torch, x: x.unsqueeze(-1),
    "expand": lambda torch, x: x[:, :1].expand(2, 5, 4),
    "expand with -1": lambda torch, x: x[:, :1].expand(-1, 5, -1),
    "expand new dim": lambda torch, x: x[0, 0].expand(3, 4),
    "expand_as": lambda torch, x: x[:1].expand_as(torch.zeros(2, 3, 4)),
    "broadcast_to": lambda torch, x: x[0].broadcast_to((2, 3, 4)),
    "narrow": lambda torch, x: x.narrow(2, 1, 2),
    "select": lambda torch, x: x.select(1, -1),
    "diagonal": lambda torch, x: x.diagonal(),
    "diagonal of last dims": lambda torch, x: x.diagonal(1, -2, -1),
    "diagonal below": lambda torch, x: x[0].diagonal(-1),
    "unfold": lambda torch, x: x.unfold(2, 2, 1),
    "unfold apart": lambda torch, x: x.unfold(1, 2, 1),
    "as_strided": lambda torch, x: x.as_strided((2, 2), (1, 2)),
    "as_strided with offset": lambda torch, x: x.as_strided((3,), (4,), 2),
    "detach": lambda torch, x: x.detach(),
    "slice": lambda torch, x: x[..., 1:3],
    "step": lambda torch, x: x[..., ::2],
    "view of transpose": lambda torch, x: x.transpose(1, 2).transpose(1, 2).view(-1),
    "alias": lambda torch, x: x.view(2, 3, 4),
    "real": lambda torch, x: x.real,
    "contiguous": lambda torch, x: x.contiguous(),
}

MULTIPLE_VIEWS = {
    "unbind": lambda torch, x: x.unbind(),
    "unbind dim": lambda torch, x: x.unbind(-1),
    "split": lambda torch, x: x.split(2, 1),
    "split sizes": lambda torch, x: x.split([1, 2], 1),
    "chunk": lambda torch, x: x.chunk(2, 2),
    "chunk uneven": lambda torch, x: x.chunk(2, 1),
    "tensor_split": lambda torch, x: x.tensor_split(3, 2),
    "tensor_split indices": lambda torch, x: x.tensor_split((1, 3), 2),
    "hsplit": lambda torch, x: x.hsplit(3),
    "iteration": lambda torch, x: tuple(x),
}


@behaviour_of_each(VIEWS.items())
def view_shares_memory_and_records_a_node(torch, log, name, make):
    x = cube(torch).requires_grad_()
    y = make(torch, x)
    log(
        y,
        y._is_view(),
        y._base is x,
        y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr(),
    )
    log.layout(y)
    log.graph(y)


@behaviour_of_each(VIEWS.items())
def view_gradient_reaches_the_base(torch, log, name, make):
    x = cube(torch).requires_grad_()
    y = make(torch, x)
    if y.requires_grad:
        (y * y).sum().backward()
    log(x.grad)
    if x.grad is not None:
        log.layout(x.grad)


@behaviour_of_each(VIEWS.items())
def writing_to_a_view_of_a_plain_tensor_writes_to_the_base(torch, log, name, make):
    x = cube(torch)
    y = make(torch, x)
    if name.startswith("unfold"):
        return  # overlapping elements: PyTorch leaves the result undefined
    log.raises(y.add_, 100)
    log(x, y, x._version, y._version)


@behaviour_of_each(VIEWS.items())
def second_derivative_through_a_view(torch, log, name, make):
    x = cube(torch).requires_grad_()
    y = make(torch, x)
    if not y.requires_grad:
        return
    (g,) = torch.autograd.grad((y**3).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    log.values(g, h)


@behaviour_of_each(MULTIPLE_VIEWS.items())
def several_views_share_memory_and_one_node(torch, log, name, make):
    x = cube(torch).requires_grad_()
    parts = make(torch, x)
    log(type(parts), parts, [p._is_view() for p in parts], [p.output_nr for p in parts])
    log.layout(*parts)
    log.graph(parts[0])
    (parts[0].sum() + (parts[-1] ** 2).sum()).backward()
    log(x.grad)


@behaviour
def reshape_copies_when_it_must(torch, log):
    x = cube(torch).requires_grad_()
    y = x.transpose(0, 2).reshape(4, 6)
    log(y, y._is_view())
    log.layout(y)
    (y * y).sum().backward()
    log(x.grad)
    log(x.transpose(0, 1).flatten()._is_view(), x.flatten()._is_view())


@behaviour
def view_of_incompatible_strides_is_refused(torch, log):
    x = cube(torch)
    log.raises(x.transpose(0, 2).view, -1)
    log.raises(x[:, :, ::2].view, 12)
    log(x.transpose(0, 1).view(3, 2, 2, 2).shape)


@behaviour
def view_and_reshape_refuse_wrong_sizes(torch, log):
    x = cube(torch)
    log.raises(x.view, 5, 5)
    log.raises(x.reshape, 5, 5)
    log.raises(x.view, -1, -1)
    log.raises(x.view, -1, 5)
    log.raises(x.view, -2, 12)
    log.raises(x.reshape, 7, -1)
    log.raises(torch.zeros(0).view, -1, 0)
    log.raises(x.view)
    log.raises(x.view, "a")
    log.raises(x.view, 2.5)


@behaviour
def views_refuse_dims_out_of_range(torch, log):
    x = cube(torch)
    log.raises(x.transpose, 0, 3)
    log.raises(x.permute, 0, 1)
    log.raises(x.permute, 0, 1, 1)
    log.raises(x.permute, 0, 1, 5)
    log.raises(x.squeeze, 3)
    log.raises(x.unsqueeze, 5)
    log.raises(x.unsqueeze, -5)
    log.raises(x.select, 3, 0)
    log.raises(x.select, 0, 2)
    log.raises(x.narrow, 0, 1, 2)
    log.raises(x.narrow, 0, -3, 1)
    log.raises(x.narrow, 0, 0, -1)
    log.raises(x.flatten, 2, 1)
    log.raises(x.diagonal, 0, 1, 1)
    log.raises(x.t)
    log.raises(x.unfold, 0, 3, 1)
    log.raises(x.unfold, 0, 1, 0)
    log.raises(x.unbind, 4)
    log.raises(torch.tensor(1.0).unbind)
    log.raises(x.movedim, 0, 3)
    log.raises(torch.tensor(1.0).transpose, 0, 1)


@behaviour
def expand_refuses_what_does_not_broadcast(torch, log):
    x = torch.zeros(2, 3)
    log.raises(x.expand, 4, 3)
    log.raises(x.expand, 3)
    log.raises(x.expand, -1, 2, 3)
    log.raises(x.expand, 2, -2)
    log(x.expand(2, 3).shape, torch.zeros(1).expand(0).shape)
    log.raises(torch.broadcast_to, x, (2, 4))
    log.raises(torch.broadcast_tensors, x, torch.zeros(2))
    log(torch.broadcast_shapes((2, 1), (3,)))
    log.raises(torch.broadcast_shapes, (2,), (3,))


@behaviour
def splits_refuse_bad_sizes(torch, log):
    x = torch.zeros(4, 3)
    log.raises(x.split, [1, 2])
    log.raises(x.split, -1)
    log.raises(x.split, 0)
    log.raises(x.split, 2, 2)
    log.raises(x.chunk, 0)
    log.raises(x.split, [5, -1])
    log.raises(torch.tensor(1.0).split, 1)
    log([p.shape for p in x.split(3)], [p.shape for p in x.chunk(7)])


@behaviour
def t_of_other_ranks(torch, log):
    log(torch.tensor(1.0).t(), torch.arange(3).t(), torch.arange(3).T)
    log.raises(lambda: torch.tensor([1.0]).mT)
    log(torch.arange(8).reshape(2, 2, 2).T)


@behaviour
def H_and_mH_conjugate(torch, log):
    z = torch.tensor([[1 + 1j, 2], [3, 4 - 2j]])
    log.values(z.H, z.mH)
    log.raises(lambda: torch.zeros(2, 2, 2).H)


@behaviour
def contiguous_returns_self_or_copies(torch, log):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    log(x.contiguous() is x, x.T.contiguous(), x.T.is_contiguous(), x.T.contiguous()._is_view())
    log.layout(x.T.contiguous(), torch.zeros(2, 1).T.contiguous())


@behaviour
def strides_of_new_tensors(torch, log):
    x = torch.zeros(2, 3, 4)
    log(x.stride(), x.stride(0), x.stride(-1), torch.zeros(0, 3).stride(), torch.zeros(()).stride())
    log(torch.zeros(2, 0, 3).stride(), torch.zeros(1, 1).stride())
    log.raises(x.stride, 3)


@behaviour
def results_of_elementwise_operations_keep_the_layout(torch, log):
    x = torch.zeros(2, 3).T
    log.layout(x + 1, x + x, x.exp(), torch.zeros(3, 2) + x, x * x.T.T)
    log.differs((x + torch.zeros(3, 2)).stride(), torch=(1, 3), retrograd=(2, 1))
    log.layout(torch.zeros(2, 3, 4).permute(2, 0, 1) * 2, x[:, :1] + x, -x, x.clone())


@behaviour
def results_of_reductions_and_matmul_are_contiguous(torch, log):
    x = torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1)
    log.layout(x.sum(0), x.sum(1, keepdim=True), x.mean(-1), x[0] @ x[0].T, torch.cat([x, x]))
    log.layout(torch.stack([x, x]), x.cumsum(0), x.max(0).values, x.softmax(-1))


@behaviour
def data_ptr_and_storage_offset(torch, log):
    x = torch.arange(6.0)
    y = x[2:]
    log(y.storage_offset(), (y.data_ptr() - x.data_ptr()) // x.element_size())
    log(y[1:].storage_offset(), y.view(2, 2)[1].storage_offset(), y.clone().storage_offset())
    log(y.untyped_storage().nbytes(), y.untyped_storage().data_ptr() == x.data_ptr())


@behaviour
def base_of_views_is_the_root(torch, log):
    x = torch.zeros(4, requires_grad=True)
    y = x.view(2, 2)
    z = y[0]
    log(x._base, y._base is x, z._base is x, z._is_view(), x._is_view())
    d = x.detach()
    log(d._base, d._is_view(), d[0]._base is d)


@behaviour
def base_of_plain_views(torch, log):
    x = torch.zeros(4)
    y = x.view(2, 2)
    log(y._is_view(), y._base is x, y[0]._base is x, y.T._base is x, x._is_view())
    log(x.reshape(2, 2)._is_view(), x.clone()._is_view(), x.to(torch.float32)._is_view())


@behaviour
def base_inside_no_grad(torch, log):
    x = torch.zeros(4, requires_grad=True)
    with torch.no_grad():
        y = x[:2]
    log(y, y._is_view(), y._base is x, y.requires_grad)


@behaviour
def version_counters_are_shared_by_views_and_detach(torch, log):
    x = torch.zeros(4)
    y, z, d = x[:2], x.view(2, 2)[0], x.detach()
    for t in (x, y, z, d):
        t.add_(1)
        log(x._version, y._version, z._version, d._version)
    log(x.clone()._version, x.data._version)


@behaviour
def data_shares_memory_but_not_the_version(torch, log):
    x = torch.zeros(2, requires_grad=True)
    x.data[0] = 5
    x.data.add_(1)
    log(x, x._version, x.data.requires_grad)
    x.data = torch.tensor([7.0, 8.0, 9.0])
    log(x)
    log.raises(setattr, x, "data", torch.tensor([1]))
    log.raises(setattr, x, "data", 3)
    log.raises(delattr, x, "data")


@behaviour
def view_with_another_dtype(torch, log):
    x = torch.tensor([1.0, 2.0])
    log(x.view(torch.int32), x.view(torch.float32)._is_view(), x.view(torch.uint8).shape)
    log(x.view(torch.float64).shape, torch.tensor([1, 2]).view(torch.int32))
    log.raises(torch.zeros(3).view, torch.float64)
    log.raises(torch.zeros(2, 2).T.view, torch.uint8)


@behaviour
def view_as_real_and_complex(torch, log):
    z = torch.tensor([1 + 2j, 3 - 1j])
    r = torch.view_as_real(z)
    r[0, 0] = 9
    log(z, r, torch.view_as_complex(r), z.real, z.imag, r._is_view())
    z.imag[1] = 5
    log(z)
    log.raises(torch.view_as_real, torch.zeros(2))
    log.raises(torch.view_as_complex, torch.zeros(3))
    log.raises(lambda: torch.zeros(2).imag)
    log.raises(torch.view_as_complex, torch.zeros(2, 3))


@behaviour
def as_strided_checks_its_bounds(torch, log):
    x = torch.arange(6.0)
    log(x.as_strided((2, 3), (3, 1)), x.as_strided((3,), (0,)), x[2:].as_strided((2,), (1,), 0))
    log.raises(x.as_strided, (10,), (1,))
    log.raises(x.as_strided, (2,), (-1,))
    log.raises(x.as_strided, (2, 2), (1,))
    log.raises(x.as_strided, (2,), (1,), 6)


@behaviour
def overlapping_as_strided_gradient(torch, log):
    x = torch.arange(4.0, requires_grad=True)
    y = x.as_strided((3, 2), (1, 1))
    log(y)
    (y * torch.arange(6.0).view(3, 2)).sum().backward()
    log(x.grad)


@behaviour
def writing_to_expanded_memory_is_refused(torch, log):
    x = torch.zeros(1).expand(3)
    log.raises(x.add_, 1)
    log.raises(x.copy_, torch.ones(3))
    log.raises(x.__setitem__, slice(None), torch.ones(3))
    log.raises(x.add_, torch.ones(3))
    x.fill_(2)
    log(x)


@behaviour
def overlapping_input_and_output_is_refused(torch, log):
    x = torch.arange(4.0)
    log.raises(x[1:].add_, x[:-1])
    log.raises(torch.add, x[1:], 1, out=x[:-1])
    x.add_(x)
    log(x)


@behaviour
def resize_and_set_change_storage(torch, log):
    x = torch.arange(4.0)
    log(x.resize_(2, 2), x.shape)
    y = torch.zeros(2)
    y.set_(torch.tensor([5.0, 6.0, 7.0]))
    log(y)
    log.raises(torch.zeros(2, requires_grad=True).resize_, 4)


@behaviour
def squeeze_and_unsqueeze_in_place(torch, log):
    x = torch.zeros(1, 3)
    log(
        x.squeeze_().shape,
        x.unsqueeze_(1).shape,
        x.t_().shape,
        x.transpose_(0, 1).shape,
        x._version,
    )


@behaviour
def numpy_and_torch_write_to_the_same_bytes(torch, log):
    a = np.zeros((2, 2))
    t = torch.from_numpy(a)
    t[0] = 1
    a[1] = 2
    log(t, a, t._version)
    v = t.T
    v[0, 1] = 7
    log(a, t.numpy() is a)


@behaviour
def repeat_tile_and_repeat_interleave_copy(torch, log):
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    for y in (x.repeat(2, 2), x.tile(2), x.repeat_interleave(2, 1), x.repeat(1, 1, 2)):
        log(y)
    x.repeat(3, 2).sum().backward()
    log(x.grad)
    log.raises(x.repeat, 2)
    log.raises(x.repeat, -1, 1)


@behaviour
def flip_and_roll_copy(torch, log):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    log(x.flip(0), x.flip((0, 1)), x.roll(1), x.roll(1, 0), x.roll((1, 1), (0, 1)), x.fliplr())
    (x.flip(1) * torch.arange(3.0)).sum().backward()
    log(x.grad)
    log.raises(x.flip, 2)
    log.raises(x.flip, 0, 0)


@behaviour
def storage_is_shared_after_slicing_and_not_after_cloning(torch, log):
    x = torch.arange(4.0)
    log(x[1:].untyped_storage().data_ptr() == x.untyped_storage().data_ptr())
    log(x[1:].clone().untyped_storage().data_ptr() == x.untyped_storage().data_ptr())
    log(torch.equal(x, x.clone()), x.is_set_to(x), x.is_set_to(x.clone()))


@behaviour
def views_of_views_of_empty_tensors(torch, log):
    e = torch.zeros(2, 0, 3, requires_grad=True)
    log(e.view(0, 6), e.transpose(0, 2), e[:, :, 0], e.sum(), e.reshape(-1))
    e.sum().backward()
    log(e.grad)


@behaviour
def as_strided_of_an_expanded_tensor_shares_the_gradient(torch, log):
    w = torch.tensor([-1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    expanded = (w * w)[None].expand(2, 3)
    windows = expanded.unfold(1, 2, 1)
    for view in (expanded.as_strided((2,), (1,)), windows.as_strided((2, 3), (0, 1))):
        first = torch.autograd.grad((view**2).sum(), w, create_graph=True)[0]
        log.values(first, torch.autograd.grad(first.sum(), w, retain_graph=True)[0])


@behaviour
def a_view_with_a_refused_history_still_tells_that_it_requires_grad(torch, log):
    x = torch.ones(3, requires_grad=True) * 1
    with torch.no_grad():
        view = x.view(3)
    x.add_(1)
    log(view.requires_grad)
    log.raises(lambda: view.is_leaf)
    log.raises(lambda: view.grad_fn)


@behaviour_of_each([
    ("packed", lambda c, s: c.reshape(-1)), ("as it is", lambda c, s: c.reshape(4, 6)),
    ("transposed", lambda c, s: c.t().reshape(6, 2, 2)),
    ("transposed copy", lambda c, s: c.t().reshape(-1)),
    ("slice", lambda c, s: c[:, :3].reshape(4, 3, 1)),
    ("slice as it is", lambda c, s: c[:, :3].reshape(4, 3)),
    ("slice copy", lambda c, s: c[:, :3].flatten()),
    ("steps", lambda c, s: c[:, ::2].reshape(2, 2, 3)),
    ("row", lambda c, s: c[1].reshape(2, 3)), ("column", lambda c, s: c[:, 1].reshape(2, 2)),
    ("column viewed", lambda c, s: c[:, 1].view(2, 2)),
    ("expanded", lambda c, s: s.expand(2, 3).reshape(6)),
    ("expanded as it is", lambda c, s: s.expand(2).reshape(2)),
    ("expanded rows", lambda c, s: c[:1].expand(4, 6).reshape(2, 2, 6)),
    ("flattened", lambda c, s: s.expand(2, 3).flatten())])
def node_of_a_reshape(torch, log, name, reshape):
    c, s = torch.arange(24.0, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    made = reshape(c.reshape(4, 6).clone(), s)
    log(made, made._is_view())
    log.graph(made)
    log.layout(made)
    (made * made).sum().backward()
    log(c.grad, s.grad)


@behaviour
def results_of_pooling_are_laid_out_in_order(torch, log):
    pool = torch.nn.functional.max_pool2d
    for shape in ((64, 20, 10, 10), (2, 3, 6, 6), (4, 4, 16, 16), (8, 4, 17, 17)):
        x = torch.arange(float(torch.Size(shape).numel())).reshape(shape)
        for requires_grad in (False, True):
            log.layout(pool(x.clone().requires_grad_(requires_grad), 2))
        log.layout(*pool(x, 2, return_indices=True))


@behaviour_of_each([("sort", lambda torch, x: x.sort(0)), ("topk", lambda torch, x: x.topk(2, 1)),
                    ("cummax", lambda torch, x: x.cummax(0)),
                    ("flip", lambda torch, x: (x.flip(1), x.flip(0, 1))),
                    ("argsort", lambda torch, x: (x.argsort(1),)),
                    ("msort", lambda torch, x: (torch.msort(x),))])
def results_of_sorting_are_laid_out_as_their_input(torch, log, name, call):
    rows = torch.arange(24.0).reshape(2, 3, 4)
    for x in (rows, rows.transpose(0, 2), rows.permute(1, 2, 0), rows[:, :, ::2], rows[0].t()):
        log.layout(*call(torch, x))


@behaviour_of_each([(call, call) for call in (
    "x.set_(x.untyped_storage(), 2, (2, 3), (4, 1))", "x.set_(x[1:], 2, (2,), (1,))",
    "x.set_(x.untyped_storage(), -1, (2,), (1,))", "x.set_(x.untyped_storage(), 0, (2, 2), (1,))",
    "x.set_(x.untyped_storage(), 0, (-2, 2), (1, 1))",
    "x.set_(x.untyped_storage(), 0, (2, 2), (-1, 2))", "x.set_(x, 0, (2, 2), (2, -1))",
    "x.as_strided_((2, 2), (4, 1))", "x.as_strided_((2, 2), (-1, 4))",
    "x.as_strided_((2, 2), (4,))", "x.as_strided_((20,), (1,))", "x.as_strided_((2,), (1,), -1)",
    "torch.as_strided_scatter(x, torch.ones(2, 2), [2, 2], [4], 1)",
    "torch.as_strided_scatter(x, torch.ones(2, 2), [2, 2], [-1, 4], 1)",
    "torch.as_strided_scatter(x, torch.ones(2, 2), [2, 2], [1, 4], -1)",
    "torch.as_strided_scatter(x, torch.ones(2, 2), [2, 2], [100, 4], 1)")])
def no_strides_leave_the_memory(torch, log, name, call):
    x = torch.arange(12.0).reshape(3, 4)
    log.refuses(lambda: log.layout(eval(call, {"torch": torch, "x": x})))


@behaviour
def set_to_the_same_memory(torch, log):
    x = torch.arange(6.0).reshape(2, 3)
    for y in (x, x[:], x.detach(), x.view(3, 2), x.view(6), x.t(), x[1:], x[:, :2], x.clone(),
              x[:1], torch.arange(6.0).reshape(2, 3)):
        log(x.is_set_to(y), y.is_set_to(x))
    square = torch.arange(4.0).reshape(2, 2)
    log(square.is_set_to(square.t()), square.is_set_to(square.mT.mT))


@behaviour_of_each(["float64", "float32", "int32", "uint8", "bool", "complex64"])
def python_functions_on_every_element(torch, log, dtype):
    x = torch.tensor([[0, 1, 1], [1, 0, 1]], dtype=getattr(torch, dtype))
    two = torch.tensor([[1, 0, 1], [1, 1, 0]], dtype=x.dtype)
    log(x.clone().apply_(lambda v: v * 2 + 1))
    log(x.clone().map_(two, lambda v, w: v * 2 + w))
    log(x.clone().map_(two[0], lambda v, w: v * 2 + w))  # spread over the rows
    log(x.clone().map2_(two, two[:1], lambda v, w, u: v * 4 + w * 2 + u))
    y = x.t()
    log(y.map_(two.t(), lambda v, w: w) is y, x)
    log(torch.empty(0, dtype=x.dtype).apply_(abs))


@behaviour
def python_functions_on_elements_refuse(torch, log):
    x, whole = torch.ones(2), torch.ones(2, dtype=torch.int64)
    for wanted in (x.clone().requires_grad_(), x.clone().requires_grad_() * 2):
        log.raises(lambda wanted=wanted: wanted.apply_(abs))
        log.raises(lambda wanted=wanted: x.map_(wanted, lambda v, w: v))
        log.raises(lambda wanted=wanted: x.map2_(x, wanted, lambda v, w, u: v))
    log.raises(lambda: x.map_(whole, lambda v, w: v))
    log.raises(lambda: x.map2_(whole, x, lambda v, w, u: v))
    log.raises(lambda: x.map2_(x, whole, lambda v, w, u: v))


@behaviour
def order_of_the_dims(torch, log):
    x = cube(torch)
    for y in (x, x.permute(2, 0, 1), x.transpose(1, 2), x[:, :1], x[0, 0, 0]):
        log(y.dim_order(), y.dim_order(ambiguity_check=False))
    log(x.permute(1, 2, 0).dim_order(ambiguity_check=True))
    log.refuses(lambda: torch.ones(2, 1, 1).dim_order(ambiguity_check=True))
    log(x.const_data_ptr() == x.data_ptr(), x[1].const_data_ptr() - x.const_data_ptr())
    log(x.is_distributed())


@behaviour
def resizing_what_is_not_written(torch, log):
    x = cube(torch).requires_grad_()
    for call in (lambda: x.resize(4, 6), lambda: x.resize(24), lambda: x.resize_as(x[0].t().expand(
            2, 4, 3)), lambda: x.transpose(0, 2).resize(4, 6)):
        log.warns(lambda call=call: call().detach())
        (call() * torch.arange(24.0).reshape(call().shape)).sum().backward()
        log(x.grad)
    log.raises(lambda: x.resize(5, 5))
    log.raises(lambda: x.resize_as(x[0]))


@behaviour
def set_is_recorded_and_has_no_derivative(torch, log):
    for leaf, source in ((True, True), (True, False), (False, True)):
        x = torch.zeros(2, requires_grad=leaf) * 1
        y = x.set_(torch.ones(3).requires_grad_(source))
        log(y is x, x.shape, x.requires_grad, x.grad_fn.name(), x._version)
        log.raises(lambda x=x: x.sum().backward())
    log.raises(lambda: torch.zeros(2, requires_grad=True).set_(torch.ones(2)))
    with torch.no_grad():
        x = torch.zeros(2, requires_grad=True)
        log(x.set_(torch.ones(3)), x._version)
    log(torch.ones(2, dtype=torch.int32).set_(), torch.ones(2, 3).set_()._version)


@behaviour_of_each(["untyped_storage", "storage"])
def storages_are_shared_with_all_that_look_at_them(torch, log, kind):
    whole = torch.arange(6.0)
    part, other = whole[2:4], torch.zeros(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each library tells of typed ones once, or may have before
        storage = getattr(whole, kind)()
    log(storage.is_shared(), [t.is_shared() for t in (whole, part, other)])
    log(storage.share_memory_() is storage, storage.is_shared(), part.untyped_storage().is_shared())
    log([t.is_shared() for t in (whole, part, other)])
    part += 10
    log(whole, list(whole.untyped_storage()) == list(storage.untyped()
                                                     if kind == "storage" else storage))
