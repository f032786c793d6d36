"""Reading and writing through indices of every kind."""

from __future__ import annotations

import numpy as np

from parity.harness import behaviour, behaviour_of_each


def cube(torch):
    return torch.arange(24.0).reshape(2, 3, 4)


BASIC = {
    "integer": lambda torch, x: x[1],
    "negative integer": lambda torch, x: x[-1],
    "several integers": lambda torch, x: x[1, 2, 3],
    "slice": lambda torch, x: x[0:1],
    "slice with step": lambda torch, x: x[:, ::2],
    "slice past the end": lambda torch, x: x[:, 1:100],
    "negative slice bounds": lambda torch, x: x[:, -2:-1],
    "empty slice": lambda torch, x: x[:, 2:1],
    "ellipsis": lambda torch, x: x[..., 1],
    "only ellipsis": lambda torch, x: x[...],
    "empty tuple": lambda torch, x: x[()],
    "colon": lambda torch, x: x[:],
    "none": lambda torch, x: x[None],
    "none in the middle": lambda torch, x: x[:, None, 1],
    "none after ellipsis": lambda torch, x: x[..., None],
    "mixed": lambda torch, x: x[1, ..., 1:3],
    "all kinds": lambda torch, x: x[None, 0, ..., ::3, None],
    "numpy integer": lambda torch, x: x[np.int64(1)],
    "zero dim tensor": lambda torch, x: x[torch.tensor(1)],
    "bounds from tensors": lambda torch, x: x[:, torch.tensor(1) : torch.tensor(3)],
    "slice object": lambda torch, x: x[slice(None, None, 2)],
}

ADVANCED = {
    "list": lambda torch, x: x[[1, 0, 1]],
    "integer tensor": lambda torch, x: x[torch.tensor([1, 0])],
    "two-dim integer tensor": lambda torch, x: x[torch.tensor([[1, 0], [0, 0]])],
    "negative integers": lambda torch, x: x[:, torch.tensor([-1, -3])],
    "two tensors": lambda torch, x: x[torch.tensor([0, 1]), torch.tensor([2, 1])],
    "broadcast tensors": lambda torch, x: x[torch.tensor([[0], [1]]), torch.tensor([2, 1])],
    "tensors apart": lambda torch, x: x[torch.tensor([0, 1]), :, torch.tensor([2, 1])],
    "tensor then slice": lambda torch, x: x[torch.tensor([0, 1]), 1:],
    "slice then tensor": lambda torch, x: x[:, torch.tensor([2, 0])],
    "tensor and integer": lambda torch, x: x[torch.tensor([0, 1]), 2],
    "integer and tensor apart": lambda torch, x: x[1, :, torch.tensor([0, 3])],
    "tensor and none": lambda torch, x: x[torch.tensor([0]), None, torch.tensor([1])],
    "ellipsis and tensor": lambda torch, x: x[..., torch.tensor([3, 3, 0])],
    "tuple of lists": lambda torch, x: x[[0, 1], [1, 2], [2, 3]],
    "mask of the whole": lambda torch, x: x[x > 11],
    "mask of the first dim": lambda torch, x: x[torch.tensor([True, False])],
    "mask of two dims": lambda torch, x: x[x[..., 0] > 3],
    "mask and slice": lambda torch, x: x[:, torch.tensor([True, False, True]), 1:],
    "mask and tensor": lambda torch, x: x[torch.tensor([True, True]), torch.tensor([0, 2])],
    "list of bools": lambda torch, x: x[[True, False]],
    "empty list": lambda torch, x: x[[]],
    "empty tensor": lambda torch, x: x[torch.tensor([], dtype=torch.int64)],
    "mask of nothing": lambda torch, x: x[x > 100],
    "true": lambda torch, x: x[True],
    "false": lambda torch, x: x[False],
    "numpy array": lambda torch, x: x[np.array([1, 0])],
    "numpy mask": lambda torch, x: x[np.array([True, False])],
    "range": lambda torch, x: x[range(2)],
    "int32 tensor": lambda torch, x: x[torch.tensor([1, 0], dtype=torch.int32)],
    "zero dim mask": lambda torch, x: x[torch.tensor(True)],
}

WRONG = {
    "integer out of range": lambda torch, x: x[2],
    "negative out of range": lambda torch, x: x[-3],
    "inner integer out of range": lambda torch, x: x[0, 3],
    "too many": lambda torch, x: x[0, 0, 0, 0],
    "too many slices": lambda torch, x: x[:, :, :, :],
    "float": lambda torch, x: x[1.5],
    "float tensor": lambda torch, x: x[torch.tensor([1.0])],
    "tensor out of range": lambda torch, x: x[torch.tensor([0, 2])],
    "tensor out of range below": lambda torch, x: x[:, torch.tensor([0, -4])],
    "shapes that do not broadcast": lambda torch, x: x[
        torch.tensor([0, 1]), torch.tensor([0, 1, 2])
    ],
    "mask of wrong length": lambda torch, x: x[torch.tensor([True, False, True])],
    "mask of wrong inner length": lambda torch, x: x[:, torch.tensor([True, False])],
    "two ellipses": lambda torch, x: x[..., ...],
    "zero step": lambda torch, x: x[::0],
    "float bound": lambda torch, x: x[1.5:],
    "zero dim": lambda torch, x: torch.tensor(1.0)[0],
    "dict": lambda torch, x: x[{}],
    "set": lambda torch, x: x[{1}],
}


@behaviour_of_each(BASIC.items())
def basic_indexing_gives_a_view(torch, log, name, index):
    x = cube(torch).requires_grad_()
    y = index(torch, x)
    log(y, y._is_view())
    if name not in ("empty slice", "all kinds"):
        log.layout(y)
    log.graph(y)


@behaviour
def layouts_that_no_element_depends_on(torch, log):
    x = cube(torch)
    log.differs(x[:, 2:1].storage_offset(), torch=8, retrograd=0)
    y = x[None, 0, ..., ::3, None]
    log(y.shape, y.is_contiguous(), y.stride()[1:3])
    log.differs((y.stride(0), y.stride(3)), torch=(24, 1), retrograd=(12, 3))


@behaviour
def slices_that_go_backwards(torch, log):
    x = torch.arange(3.0)
    log.differs(refused(lambda: x[::-1]), torch="ValueError", retrograd=None)
    log.raises(lambda: x.__setitem__(slice(None, None, -1), 1.0))
    log.differs(refused(lambda: x.__setitem__(0, np.ones(()))), torch="TypeError", retrograd=None)


def refused(call):
    """The name of the error that a call ends in, if it does."""
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return None


@behaviour_of_each(ADVANCED.items())
def advanced_indexing_gives_a_copy(torch, log, name, index):
    x = cube(torch).requires_grad_()
    y = index(torch, x)
    log(y, y._is_view())
    log.graph(y)
    log.layout(y)


@behaviour_of_each([*BASIC.items(), *ADVANCED.items()])
def indexing_gradient(torch, log, name, index):
    x = cube(torch).requires_grad_()
    y = index(torch, x)
    (y * y).sum().backward()
    log(x.grad)


@behaviour_of_each(WRONG.items())
def wrong_indices_are_refused(torch, log, name, index):
    log.raises(index, torch, cube(torch))


WRITES = {
    "integer": lambda torch, x, v: x.__setitem__(1, v),
    "several integers": lambda torch, x, v: x.__setitem__((1, 2, 3), v),
    "slice": lambda torch, x, v: x.__setitem__(slice(0, 1), v),
    "slice with step": lambda torch, x, v: x.__setitem__((slice(None), slice(None, None, 2)), v),
    "ellipsis": lambda torch, x, v: x.__setitem__((..., 1), v),
    "only ellipsis": lambda torch, x, v: x.__setitem__(..., v),
    "empty tuple": lambda torch, x, v: x.__setitem__((), v),
    "none": lambda torch, x, v: x.__setitem__((None, 1), v),
    "list": lambda torch, x, v: x.__setitem__([0, 1], v),
    "tensor": lambda torch, x, v: x.__setitem__(torch.tensor([1]), v),
    "repeated tensor": lambda torch, x, v: x.__setitem__((0, torch.tensor([1, 2])), v),
    "two tensors": lambda torch, x, v: x.__setitem__(
        (torch.tensor([0, 1]), torch.tensor([2, 1])), v
    ),
    "tensors apart": lambda torch, x, v: x.__setitem__(
        (torch.tensor([0, 1]), slice(None), torch.tensor([2, 1])), v
    ),
    "mask": lambda torch, x, v: x.__setitem__(x > 11, v),
    "mask of first dim": lambda torch, x, v: x.__setitem__(torch.tensor([True, False]), v),
    "mask and slice": lambda torch, x, v: x.__setitem__(
        (slice(None), torch.tensor([True, False, True])), v
    ),
    "true": lambda torch, x, v: x.__setitem__(True, v),
    "false": lambda torch, x, v: x.__setitem__(False, v),
    "empty slice": lambda torch, x, v: x.__setitem__(slice(1, 1), v),
    "empty list": lambda torch, x, v: x.__setitem__([], v),
}


@behaviour_of_each(WRITES.items())
def assigning_a_number(torch, log, name, write):
    x = cube(torch)
    write(torch, x, -1)
    log(x)
    write(torch, x, 2.5)
    log(x)


@behaviour_of_each(WRITES.items())
def assigning_a_tensor_that_requires_grad(torch, log, name, write):
    base = cube(torch).requires_grad_()
    x = base * 1
    v = torch.tensor(5.0, requires_grad=True)
    write(torch, x, v)
    log(x)
    log.graph(x)
    (x * x).sum().backward()
    log(base.grad, v.grad)


@behaviour_of_each(WRITES.items())
def assigning_a_number_inside_a_graph(torch, log, name, write):
    base = cube(torch).requires_grad_()
    x = base * 1
    write(torch, x, 7)
    log(x)
    (x * x).sum().backward()
    log(base.grad)


@behaviour
def assigning_broadcasts_the_value(torch, log):
    x = torch.zeros(2, 3)
    x[:] = torch.tensor([1.0, 2.0, 3.0])
    log(x)
    x[:, 1:] = torch.tensor([[7.0], [8.0]])
    log(x)
    x[1] = torch.ones(1, 3) * 4
    log(x)
    x[0, 0] = torch.tensor([9.0])
    log(x)


@behaviour
def assigning_wrong_shapes_is_refused(torch, log):
    x = torch.zeros(2, 3)
    log.raises(x.__setitem__, 0, torch.ones(2))
    log.raises(x.__setitem__, slice(None), torch.ones(3, 3))
    log.raises(x.__setitem__, (0, 0), torch.ones(2))
    log.raises(x.__setitem__, torch.tensor([0, 1]), torch.ones(3, 3))
    log.raises(x.__setitem__, x > 5, torch.ones(2))
    log.raises(x.__setitem__, x == 0, torch.ones(2))
    log(x)


@behaviour
def assigning_foreign_values_is_refused(torch, log):
    x = torch.zeros(2)
    log.raises(x.__setitem__, 0, "a")
    log.raises(x.__setitem__, 0, None)
    log.raises(x.__setitem__, 0, [1.0])
    log.raises(x.__setitem__, slice(None), [1.0, 2.0])
    log.raises(x.__setitem__, 0, 1j)
    log.raises(x.__setitem__, 0, {})
    log(x)


@behaviour
def assigning_out_of_range_changes_nothing(torch, log):
    x = torch.zeros(3)
    log.raises(x.__setitem__, 3, 1.0)
    log.raises(x.__setitem__, torch.tensor([5]), 1.0)
    log.raises(x.__setitem__, (0, 0), 1.0)
    log.raises(x.__setitem__, torch.tensor([1.0]), 1.0)
    log(x)


@behaviour
def assigning_casts_to_the_dtype_of_the_target(torch, log):
    i = torch.zeros(3, dtype=torch.int64)
    i[0] = 2.7
    i[1] = torch.tensor(3.9)
    i[2] = True
    log(i)
    b = torch.zeros(2, dtype=torch.bool)
    b[0] = 3
    log(b)
    f = torch.zeros(2, dtype=torch.float16)
    f[0] = torch.tensor(1.0, dtype=torch.float64)
    log(f)


@behaviour
def assigning_with_an_index_tensor_needs_the_same_dtype(torch, log):
    x = torch.zeros(3)
    log.raises(x.__setitem__, torch.tensor([0]), torch.tensor([1.0], dtype=torch.float64))
    log.raises(x.__setitem__, torch.tensor([0]), torch.tensor([1]))
    log.raises(x.__setitem__, x == 0, torch.tensor(1.0, dtype=torch.float64))
    log(x)


@behaviour
def assigning_with_repeated_indices_keeps_the_last(torch, log):
    x = torch.zeros(3)
    x[torch.tensor([0, 0, 1])] = torch.tensor([1.0, 2.0, 3.0])
    log(x)
    x[[2, 2]] += 1
    log(x)


@behaviour
def augmented_assignment_through_an_index(torch, log):
    x = torch.arange(6.0).reshape(2, 3)
    x[0] += 1
    x[:, 1] *= 2
    x[x > 3] -= 10
    x[torch.tensor([1])] /= 2
    log(x)


@behaviour
def augmented_assignment_inside_a_graph(torch, log):
    w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x = w * 1
    x[0] += w[1]
    x[1:] *= w[0]
    log(x)
    x.sum().backward()
    log(w.grad)


@behaviour
def assigning_to_a_slice_of_a_leaf_is_refused(torch, log):
    w = torch.zeros(3, requires_grad=True)
    log.raises(w.__setitem__, 0, 1.0)
    log.raises(w.__setitem__, slice(0, 2), torch.ones(2))
    log.raises(w.__setitem__, torch.tensor([0]), 1.0)
    log.raises(w.__setitem__, w > 1, 1.0)
    with torch.no_grad():
        w[0] = 5
        w[torch.tensor([1])] = 6
    log(w)


@behaviour
def assigning_overlapping_parts_of_itself(torch, log):
    x = torch.arange(5.0)
    x[1:] = x[:-1].clone()
    log(x)
    y = torch.arange(4.0).reshape(2, 2)
    y[0] = y[1]
    log(y)


@behaviour
def assigning_a_tensor_with_grad_to_a_plain_buffer(torch, log):
    buffer = torch.zeros(3)
    v = torch.tensor(2.0, requires_grad=True)
    for i in range(3):
        buffer[i] = v * i
    log(buffer)
    log.graph(buffer)
    buffer.sum().backward()
    log(v.grad)


@behaviour
def deleting_an_item_is_refused(torch, log):
    x = torch.zeros(3)
    log.raises(lambda: x.__delitem__(0))
    log.raises(lambda: operator_delete(x))


def operator_delete(x):
    del x[0]


@behaviour
def indexing_with_uint8_masks_warns(torch, log):
    x = torch.arange(3.0)
    log(x[torch.tensor([1, 0, 1], dtype=torch.uint8)])


@behaviour
def indexing_a_zero_dim_tensor(torch, log):
    x = torch.tensor(5.0, requires_grad=True)
    log(x[()], x[...], x[None], x[True], x[False], x[None, ...])
    log.raises(lambda: x[:])
    log.raises(lambda: x[0])
    y = torch.tensor(1.0)
    y[()] = 3
    log(y)
    y[...] = 4
    log(y)
    log(y[y > 3], y[torch.tensor(True)])


@behaviour
def indexing_empty_tensors(torch, log):
    e = torch.zeros(0, 3)
    log(e[:, 1], e[[]], e[torch.zeros(0, dtype=torch.bool)], e[..., None])
    log.raises(lambda: e[0])
    log.raises(lambda: e[[0]])


@behaviour
def index_put_accumulates_on_demand(torch, log):
    x = torch.zeros(3)
    x.index_put_((torch.tensor([0, 0, 2]),), torch.tensor([1.0, 2.0, 3.0]), accumulate=True)
    log(x)
    y = torch.zeros(3, requires_grad=True)
    v = torch.tensor([1.0, 2.0], requires_grad=True)
    z = y.index_put((torch.tensor([0, 1]),), v)
    (z * z).sum().backward()
    log(z, y.grad, v.grad)


@behaviour
def repeated_indices_sum_their_gradients(torch, log):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x[torch.tensor([0, 0, 2, 0])].sum().backward()
    log(x.grad)


@behaviour
def second_derivatives_through_indexing(torch, log):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = (x[torch.tensor([0, 0, 2])] ** 3).sum() + (x[1:] ** 3).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    log(g)
    (h,) = torch.autograd.grad(g.sum(), x)
    log(h)


@behaviour
def take_and_masked_select_and_nonzero(torch, log):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    log(torch.take(x, torch.tensor([0, 5])), torch.masked_select(x, x > 2), torch.nonzero(x > 2))
    log(torch.nonzero(x > 2, as_tuple=True), torch.where(x > 2), torch.argwhere(x > 3))
    log(torch.take_along_dim(x, torch.tensor([[0], [2]]), 1))
    log.raises(torch.masked_select, x, torch.tensor([1, 0]))
    log.raises(torch.take, x, torch.tensor([6]))


@behaviour
def index_select_gather_and_scatter(torch, log):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    log(x.index_select(1, torch.tensor([2, 0])), x.gather(1, torch.tensor([[0, 0], [2, 1]])))
    log(torch.zeros(2, 3).scatter(1, torch.tensor([[0], [2]]), 5.0))
    log(torch.zeros(2, 3).scatter(1, torch.tensor([[0], [2]]), x[:, :1]))
    log(torch.zeros(2, 3).scatter_add(0, torch.tensor([[0, 0, 0]]), x[1:]))
    log(torch.zeros(3).index_add(0, torch.tensor([0, 0]), torch.ones(2)))
    log(torch.zeros(3).index_fill(0, torch.tensor([1]), 4.0))
    log(torch.zeros(3).index_copy(0, torch.tensor([2]), torch.ones(1)))


@behaviour
def gather_and_scatter_refuse_bad_indices(torch, log):
    x = torch.arange(6.0).reshape(2, 3)
    log.raises(x.gather, 1, torch.tensor([[3]]))
    log.raises(x.gather, 1, torch.tensor([0]))
    log.raises(x.gather, 2, torch.tensor([[0]]))
    log.raises(x.gather, 1, torch.tensor([[0.0]]))
    log.raises(x.scatter, 1, torch.tensor([[5]]), 1.0)
    log.raises(x.index_select, 0, torch.tensor([2]))
    log.raises(x.index_select, 0, torch.tensor([[0]]))
    log.raises(x.index_select, 5, torch.tensor([0]))


@behaviour
def masked_fill_and_masked_scatter(torch, log):
    x = torch.arange(4.0, requires_grad=True)
    mask = torch.tensor([True, False, True, False])
    y = x.masked_fill(mask, -1.0)
    log(y)
    y.sum().backward()
    log(x.grad)
    log.raises(x.masked_fill, torch.tensor([1, 0, 1, 0]), 0.0)
    log.raises(x.masked_fill, mask[:3], 0.0)
    log.raises(x.masked_fill, mask, torch.ones(2))
    log(torch.zeros(4).masked_scatter(mask, torch.tensor([5.0, 6.0])))


@behaviour_of_each([(repr(cut), cut) for cut in (
    slice(0, 2), slice(0, 3), slice(None, 3), slice(-2, None), slice(-5, None), slice(0, None),
    slice(None, None, 1), slice(-2, 2), slice(None, 0), slice(1, None), slice(None, 2, 2))])
def node_of_a_slice(torch, log, name, cut):
    """A slice that takes everything leaves no node, unless its start is counted from the end."""
    x = torch.ones(2, 3, requires_grad=True) * 1
    log(x[cut], x[None, cut], x[cut, None])
    x[cut] = 5.0
    log.graph(x)
    empty = torch.ones(2, 0, 3, requires_grad=True)
    log(empty[:, cut], empty[0, cut])


@behaviour
def indices_of_nothing_are_not_checked(torch, log):
    x = torch.ones(2, 1, requires_grad=True)
    log(x[1:1, ..., [-1, 1, -1]])
    x[1:1, ..., [-1, 1, -1]].sum().backward()
    log(x.grad)


@behaviour_of_each([(f"{reduce} of {kind}", reduce, kind) for reduce in ("add", "multiply")
                    for kind in ("float32", "int64", "complex64", "bfloat16")])
def scatter_that_combines(torch, log, name, reduce, kind):
    x = torch.arange(1, 7).reshape(2, 3).to(getattr(torch, kind))
    index = torch.tensor([[0, 1, 1], [1, 0, 0]])
    for dim in (0, 1):
        log(x.scatter(dim, index, x + 1, reduce=reduce))
        log(x.scatter(dim, index[:, :2], x + 1, reduce=reduce))
        log(torch.scatter(x, dim, index, 3, reduce=reduce))
        log(torch.scatter(x, dim, index, value=3, reduce=reduce))
        y = x.clone()
        log(y.scatter_(dim, index, x, reduce=reduce) is y, y)
        log(y.scatter_(dim, index, 2, reduce=reduce) is y, y)


@behaviour
def scatter_that_combines_has_no_derivative_and_knows_two_ways(torch, log):
    x, index = torch.ones(2, 3, requires_grad=True), torch.tensor([[0, 1, 1]])
    for src in (torch.ones(1, 3), 2.0):
        y = x.scatter(0, index, src, reduce="add")
        log(y.grad_fn.name())
        log.raises(lambda y=y: y.sum().backward())
        log.raises(lambda src=src: x.detach().scatter(0, index, src, reduce="mean"))


class Pair(tuple):
    """A subscript of a class of its own."""


@behaviour
def subscripts_of_unusual_kinds(torch, log):
    x = torch.arange(12.0).reshape(3, 4)
    log(x[Pair((1, 2))], x[Pair((slice(1), 2))], x[np.array(1)], x[np.array([1, 0])],
        x[np.int64(1), np.array(2)], x[np.array(1), [0, 2]], x[torch.tensor(1), np.array([2])])
    zero = torch.tensor(5.0)
    for key in (0, slice(None), slice(1, 2)):
        log.raises(lambda key=key: zero[key])
        log.raises(lambda key=key: zero.__setitem__(key, 1.0))
    zero[...] = 2.0
    log(zero)


@behaviour
def selecting_from_what_is_empty(torch, log):
    for shape, dim, index in (((0,), 0, [0]), ((2, 0), 1, [0]), ((0, 2), 0, [0]), ((2, 3), 1, [3]),
                              ((2, 3), 0, [2]), ((3,), 0, [3]), ((2, 0, 2), 1, [0]),
                              ((2, 3, 2), 1, [-1]), ((2, 0), 0, [1])):
        log.raises(lambda s=shape, d=dim, i=index: torch.zeros(s).index_select(d, torch.tensor(i)))


@behaviour_of_each([(f"{i}", *given) for i, given in enumerate([
    ("x[1] += 1",), ("x[1, :2] *= 3",), ("x[1:] += x[1:]",), ("p = x[1]; p.mul_(2); x[1] = p",),
    ("p = x[1]; p.mul_(2); x[0] = p",), ("p = x[1, :2]; p.mul_(2); x[1] = p[0]",),
    ("p = x[1]; p.mul_(2); x.mul_(2); x[1] = p",),
    ("p = x.detach()[1]; p.mul_(2); x[1] = p",), ("p = x[1][1:3]; p.mul_(5); x[1, 1:3] = p",),
    ("p = x.t()[1]; p.mul_(5); x[:, 1] = p",), ("p = x[1]; q = p[1:]; q.mul_(5); x[1] = p",),
    ("p = x[1]; q = p[1:]; q.mul_(5); x[1, 1:] = q",),
    ("p = x[1].clone(); p.mul_(2); x[1] = p",)])])
def a_part_that_is_written_back(torch, log, name, program):
    leaf = torch.arange(12.0).reshape(3, 4).requires_grad_()
    x = leaf * 2
    exec(program, {"x": x, "torch": torch})
    log.values(x)
    log(x._version)
    (x * torch.arange(12.0).reshape(3, 4).cos()).sum().backward()
    log(leaf.grad)
