"""Bad input: what is refused, in which words, and that nothing is left half-changed."""

from __future__ import annotations

import numpy as np

from parity.harness import behaviour, behaviour_of_each
from shared import custom


def ones(torch, *shape):
    return torch.ones(*shape, requires_grad=True)


# Shapes

SHAPES = {
    "add": lambda torch: torch.ones(2) + torch.ones(3),
    "three dims": lambda torch: torch.ones(2, 3, 4) * torch.ones(2, 1, 3),
    "where": lambda torch: torch.where(torch.ones(2) > 0, torch.ones(3), torch.ones(3)),
    "maximum": lambda torch: torch.maximum(torch.ones(2), torch.ones(3)),
    "pow": lambda torch: torch.ones(2) ** torch.ones(3),
    "eq": lambda torch: torch.eq(torch.ones(2), torch.ones(3)),
    "matmul 2d": lambda torch: torch.ones(2, 3) @ torch.ones(2, 3),
    "matmul vectors": lambda torch: torch.ones(2) @ torch.ones(3),
    "matmul matrix vector": lambda torch: torch.ones(2, 3) @ torch.ones(2),
    "matmul vector matrix": lambda torch: torch.ones(3) @ torch.ones(2, 3),
    "matmul batched": lambda torch: torch.ones(2, 3, 4) @ torch.ones(2, 3, 4),
    "matmul batch sizes": lambda torch: torch.ones(2, 3, 4) @ torch.ones(3, 4, 5),
    "matmul zero dim": lambda torch: torch.tensor(1.0) @ torch.ones(2),
    "mm": lambda torch: torch.mm(torch.ones(2, 3), torch.ones(2, 3)),
    "mm of vectors": lambda torch: torch.mm(torch.ones(2), torch.ones(2)),
    "bmm": lambda torch: torch.bmm(torch.ones(2, 3, 4), torch.ones(3, 4, 5)),
    "bmm of matrices": lambda torch: torch.bmm(torch.ones(2, 3), torch.ones(3, 2)),
    "mv": lambda torch: torch.mv(torch.ones(2, 3), torch.ones(2)),
    "dot": lambda torch: torch.dot(torch.ones(2), torch.ones(3)),
    "dot of matrices": lambda torch: torch.dot(torch.ones(2, 2), torch.ones(2, 2)),
    "outer": lambda torch: torch.outer(torch.ones(2, 2), torch.ones(2)),
    "linear": lambda torch: torch.nn.functional.linear(torch.ones(2, 3), torch.ones(4, 2)),
    "addmm": lambda torch: torch.addmm(torch.ones(2, 2), torch.ones(2, 3), torch.ones(3, 3)),
    "einsum sizes": lambda torch: torch.einsum("ij,jk->ik", torch.ones(2, 3), torch.ones(2, 3)),
    "einsum operands": lambda torch: torch.einsum("ij,jk->ik", torch.ones(2, 3)),
    "einsum dims": lambda torch: torch.einsum("ijk->k", torch.ones(2, 3)),
    "einsum unknown output": lambda torch: torch.einsum("ij->k", torch.ones(2, 3)),
    "cat": lambda torch: torch.cat([torch.ones(2, 3), torch.ones(2, 2)]),
    "cat ranks": lambda torch: torch.cat([torch.ones(2, 3), torch.ones(3)]),
    "cat scalars": lambda torch: torch.cat([torch.tensor(1.0), torch.tensor(2.0)]),
    "cat nothing": lambda torch: torch.cat([]),
    "stack": lambda torch: torch.stack([torch.ones(2), torch.ones(3)]),
    "stack nothing": lambda torch: torch.stack([]),
    "mse_loss": lambda torch: torch.nn.functional.mse_loss(torch.ones(2, 1), torch.ones(3, 2)),
    "cross_entropy": lambda torch: torch.nn.functional.cross_entropy(
        torch.ones(2, 3), torch.tensor([0, 1, 2])
    ),
    "cross_entropy class out of range": lambda torch: torch.nn.functional.cross_entropy(
        torch.ones(2, 3), torch.tensor([0, 5])
    ),
    "nll_loss": lambda torch: torch.nn.functional.nll_loss(torch.ones(2, 3), torch.tensor([0])),
    "layer_norm": lambda torch: torch.nn.functional.layer_norm(torch.ones(2, 3), (2,)),
    "conv2d channels": lambda torch: torch.nn.functional.conv2d(
        torch.ones(1, 2, 5, 5), torch.ones(1, 3, 3, 3)
    ),
    "conv2d kernel too large": lambda torch: torch.nn.functional.conv2d(
        torch.ones(1, 1, 2, 2), torch.ones(1, 1, 3, 3)
    ),
    "conv2d rank": lambda torch: torch.nn.functional.conv2d(
        torch.ones(2, 2), torch.ones(1, 1, 3, 3)
    ),
    "embedding index": lambda torch: torch.nn.functional.embedding(
        torch.tensor([5]), torch.ones(2, 3)
    ),
    "bce": lambda torch: torch.nn.functional.binary_cross_entropy(torch.ones(2), torch.ones(3)),
    "bce range": lambda torch: torch.nn.functional.binary_cross_entropy(
        torch.tensor([2.0]), torch.tensor([1.0])
    ),
    "gather": lambda torch: torch.gather(torch.ones(2, 2), 1, torch.zeros(3, 1, dtype=torch.int64)),
    "max_pool2d": lambda torch: torch.nn.functional.max_pool2d(torch.ones(1, 1, 2, 2), 3),
    "topk": lambda torch: torch.topk(torch.ones(3), 4),
    "trace": lambda torch: torch.trace(torch.ones(3)),
    "norm order": lambda torch: torch.linalg.norm(torch.ones(2), ord="nonsense"),
}


@behaviour_of_each(SHAPES.items())
def wrong_shapes_are_refused(torch, log, name, call):
    log.raises(call, torch)


# Dims

DIMS = {
    "sum": lambda torch, x: x.sum(2),
    "sum negative": lambda torch, x: x.sum(-3),
    "sum repeated": lambda torch, x: x.sum((0, 0)),
    "sum repeated by sign": lambda torch, x: x.sum((0, -2)),
    "mean": lambda torch, x: x.mean(5),
    "max": lambda torch, x: x.max(2),
    "amax": lambda torch, x: x.amax(2),
    "argmax": lambda torch, x: x.argmax(2),
    "softmax": lambda torch, x: x.softmax(2),
    "log_softmax": lambda torch, x: x.log_softmax(-3),
    "cumsum": lambda torch, x: x.cumsum(2),
    "logsumexp": lambda torch, x: x.logsumexp(2),
    "sort": lambda torch, x: x.sort(2),
    "topk dim": lambda torch, x: x.topk(1, 2),
    "cat": lambda torch, x: torch.cat([x, x], 2),
    "stack": lambda torch, x: torch.stack([x, x], 4),
    "prod": lambda torch, x: x.prod(2),
    "std": lambda torch, x: x.std(2),
    "norm": lambda torch, x: x.norm(dim=2),
    "gather": lambda torch, x: x.gather(2, torch.tensor([[0]])),
    "all": lambda torch, x: x.all(2),
    "flip": lambda torch, x: x.flip(2),
    "squeeze": lambda torch, x: x.squeeze(2),
    "zero dim sum": lambda torch, x: torch.tensor(1.0).sum(1),
    "dim as float": lambda torch, x: x.sum(1.5),
    "dim as string": lambda torch, x: x.sum("a"),
    "dim as tensor": lambda torch, x: x.sum(torch.tensor(1)),
    "softmax without dim": lambda torch, x: torch.softmax(x),
    "keepdim of wrong type": lambda torch, x: x.sum(0, keepdim="yes"),
}


@behaviour_of_each(DIMS.items())
def wrong_dims_are_refused(torch, log, name, call):
    log.raises(call, torch, torch.ones(2, 3))


EMPTY = {
    "sum": lambda torch, x: x.sum(),
    "mean": lambda torch, x: x.mean(),
    "prod": lambda torch, x: x.prod(),
    "max": lambda torch, x: x.max(),
    "max dim": lambda torch, x: x.max(0),
    "min": lambda torch, x: x.min(),
    "amax": lambda torch, x: x.amax(),
    "argmax": lambda torch, x: x.argmax(),
    "argmin dim": lambda torch, x: x.argmin(0),
    "std": lambda torch, x: x.std(),
    "var": lambda torch, x: x.var(),
    "any": lambda torch, x: x.any(),
    "all": lambda torch, x: x.all(),
    "logsumexp": lambda torch, x: x.logsumexp(0),
    "softmax": lambda torch, x: x.softmax(0),
    "cumsum": lambda torch, x: x.cumsum(0),
    "sort": lambda torch, x: x.sort(),
    "topk": lambda torch, x: x.topk(0),
    "norm": lambda torch, x: x.norm(),
    "cat": lambda torch, x: torch.cat([x, torch.ones(2)]),
    "matmul": lambda torch, x: torch.ones(2, 0) @ torch.ones(0, 3),
    "dot": lambda torch, x: x @ x,
    "median": lambda torch, x: x.median(),
    "mse_loss": lambda torch, x: torch.nn.functional.mse_loss(x, x),
    "item": lambda torch, x: x.item(),
    "exp": lambda torch, x: x.exp(),
    "stack": lambda torch, x: torch.stack([x, x]),
    "unbind": lambda torch, x: x.unbind(),
    "split": lambda torch, x: x.split(1),
    "nonzero": lambda torch, x: x.nonzero(),
    "cross_entropy": lambda torch, x: torch.nn.functional.cross_entropy(
        torch.ones(0, 3), torch.ones(0, dtype=torch.int64)
    ),
}


@behaviour_of_each(EMPTY.items())
def empty_tensors(torch, log, name, call):
    log.raises(call, torch, torch.ones(0))


@behaviour_of_each(["sum", "mean", "prod", "exp", "cumsum", "softmax", "norm"])
def gradients_of_empty_tensors(torch, log, name):
    x = torch.ones(0, requires_grad=True)
    method = getattr(x, name)
    y = method(0) if name in ("cumsum", "softmax") else method()
    y.sum().backward()
    log(x.grad)


@behaviour_of_each(
    ["sum", "mean", "max", "min", "prod", "argmax", "cumsum", "softmax", "sort", "all"]
)
def zero_dim_tensors_accept_dim_zero(torch, log, name):
    x = torch.tensor(3.0, requires_grad=True)
    for dim in (0, -1):
        log.raises(getattr(x, name), dim)


# Types


@behaviour_of_each(["sin", "exp", "relu", "sum", "sigmoid", "abs", "neg", "sqrt", "tanh", "log"])
def unary_functions_refuse_what_is_no_tensor(torch, log, name):
    function = getattr(torch, name)
    for foreign in (1.0, "a", None, [1.0], np.ones(2)):
        log.raises(function, foreign)
    if name != "sum":
        log.raises(function)


WORDED_WRITES = {
    "add_": lambda x, y: x.add_(y, alpha="a"),
    "sub_": lambda x, y: x.sub_(y, alpha="a"),
    "addcmul_": lambda x, y: x.addcmul_(y, y, value="a"),
    "addcdiv_": lambda x, y: x.addcdiv_(y, y, value=None),
    "cumsum_": lambda x, y: x.cumsum_("a"),
    "nan_to_num_": lambda x, y: x.nan_to_num_("a"),
    "logit_": lambda x, y: x.logit_("a"),
    "normal_": lambda x, y: x.normal_("a"),
    "normal_ std": lambda x, y: x.normal_(0.0, "a"),
    "exponential_": lambda x, y: x.exponential_("a"),
    "geometric_": lambda x, y: x.geometric_("a"),
    "cauchy_": lambda x, y: x.cauchy_("a"),
    "log_normal_": lambda x, y: x.log_normal_("a"),
    "uniform_": lambda x, y: x.uniform_("a"),
    "uniform_ second": lambda x, y: x.uniform_(0.0, None),
    "uniform_ by name": lambda x, y: x.uniform_(**{"from": y}),
    "uniform_ of three": lambda x, y: x.uniform_(0.0, 1.0, 2.0),
    "random_": lambda x, y: x.random_("a"),
    "random_ number": lambda x, y: x.random_(3.0),
    "random_ flag": lambda x, y: x.random_(0, True),
    "unsqueeze_": lambda x, y: x.unsqueeze_("a"),
    "transpose_": lambda x, y: x.transpose_(0, "a"),
    "add": lambda x, y: x.add(y, alpha="a"),
}
REFUSED_WRITES = {
    "hardtanh_": lambda x, y, F: F.hardtanh_(x, "a"),
    "leaky_relu_": lambda x, y, F: F.leaky_relu_(x, "a"),
    "elu_": lambda x, y, F: F.elu_(x, "a"),
    "celu_": lambda x, y, F: F.celu_(x, "a"),
    "threshold_": lambda x, y, F: F.threshold_(x, "a", 1),
    "renorm_": lambda x, y, F: x.renorm_("a", 0, 1),
    "bernoulli_": lambda x, y, F: x.bernoulli_("a"),
    "squeeze_": lambda x, y, F: x.squeeze_("a"),
    "resize_": lambda x, y, F: x.resize_("a"),
    "set_": lambda x, y, F: x.set_("a"),
    "t_": lambda x, y, F: x.t_(1),
    "zero_": lambda x, y, F: x.zero_(1),
    "neg_": lambda x, y, F: x.neg_(1),
    "random_ misspelt": lambda x, y, F: x.random_(5, form=1),
}


@behaviour_of_each(WORDED_WRITES.items())
def writes_name_the_argument_that_does_not_fit(torch, log, name, call):
    for requires_grad in (False, True):
        x = torch.ones(2, 2, requires_grad=requires_grad).clone()
        log.raises(call, x, torch.ones(2, 2))
        log(x, x._version)


@behaviour_of_each(REFUSED_WRITES.items())
def writes_refuse_what_does_not_fit(torch, log, name, call):
    for requires_grad in (False, True):
        x = torch.ones(2, 2, requires_grad=requires_grad).clone()
        log.refuses(call, x, torch.ones(2, 2), torch.nn.functional)
        log(x, x._version)


@behaviour
def bounds_of_draws_have_names(torch, log):
    for bounds, named in (((), {}), ((3,), {}), ((1, 5), {}), ((), {"to": 5}), ((1,), {"to": 5}),
                          ((), {"from": 1, "to": 5}), ((torch.tensor(3),), {})):
        torch.manual_seed(0)
        log(torch.zeros(4).random_(*bounds, **named), torch.zeros(4).uniform_(-1, 4))
        if bounds != (3,) and not torch.is_tensor(*(bounds or [None])[:1]):
            log(torch.zeros(4).uniform_(*bounds, **named))


@behaviour
def functions_of_several_forms_name_what_is_missing(torch, log):
    for call in (torch.sum, torch.add, lambda: torch.matmul(torch.ones(2))):
        log.refuses(call)
    try:
        torch.sum()
    except TypeError as error:
        log.differs("'input'" in str(error), torch=False, retrograd=True)


@behaviour_of_each(["add", "mul", "sub", "div", "maximum", "matmul", "pow", "eq", "atan2"])
def binary_functions_refuse_what_is_no_tensor(torch, log, name):
    function = getattr(torch, name)
    x = torch.ones(2)
    for foreign in ("a", None, [1.0]):
        log.refuses(function, x, foreign)
        log.refuses(function, foreign, x)
    log.refuses(function, x)
    log.refuses(function)


@behaviour
def unknown_keyword_arguments(torch, log):
    x = torch.ones(2)
    log.refuses(torch.sin, x, nonsense=1)
    log.refuses(torch.sum, x, nonsense=1)
    log.refuses(x.sum, nonsense=1)
    log.refuses(torch.zeros, 2, nonsense=1)
    log.refuses(torch.tensor, 1.0, nonsense=1)
    log.refuses(x.backward, nonsense=1)


@behaviour
def too_many_arguments(torch, log):
    x = torch.ones(2)
    log.refuses(torch.sin, x, x, x)
    log.refuses(x.exp, 1)
    log.refuses(torch.matmul, x, x, x, x)


@behaviour
def numpy_style_keywords_are_accepted(torch, log):
    x = torch.arange(6.0).reshape(2, 3)
    log(x.sum(axis=0), torch.sum(x, axis=1, keepdims=True), torch.mean(x, axis=0))
    log(torch.cat([x, x], axis=1), x.argmax(axis=0), torch.squeeze(x[:1], axis=0))
    log(x.max(axis=0), x.softmax(dim=0), torch.add(input=x, other=1))


@behaviour
def keyword_arguments_by_name(torch, log):
    x = torch.arange(4.0).reshape(2, 2)
    log(torch.sum(input=x, dim=0), torch.transpose(x, dim0=0, dim1=1), x.view(size=(4,)))
    log(torch.where(condition=x > 1, input=x, other=-x), torch.cat(tensors=(x, x), dim=0))
    log(torch.clamp(input=x, min=1, max=2), torch.reshape(input=x, shape=(4,)))
    log(torch.add(x, x, alpha=2), torch.matmul(input=x, other=x), torch.pow(input=x, exponent=2))


@behaviour
def alpha_must_suit_the_dtype(torch, log):
    i = torch.tensor([1, 2])
    log.raises(torch.add, i, i, alpha=0.5)
    log(torch.add(i, i, alpha=2), torch.sub(i, 1, alpha=3))
    log.raises(torch.add, torch.tensor([True]), torch.tensor([True]), alpha=2)


@behaviour
def subtracting_booleans_is_refused(torch, log):
    b = torch.tensor([True, False])
    log.raises(lambda: b - b)
    log.raises(lambda: 1 - b)
    log.raises(lambda: -b)
    log(b + b, b * b, b & b, ~b)


@behaviour
def integer_matmul_and_mixed_dtypes(torch, log):
    i, x, d = torch.ones(2, 2, dtype=torch.int64), torch.ones(2, 2), torch.ones(2, 2).double()
    log(i @ i)
    log.raises(lambda: i @ x)
    log.raises(lambda: x @ d)
    log.raises(torch.dot, x[0], d[0])
    log.raises(torch.bmm, x[None], d[None])
    log.raises(torch.nn.functional.linear, x, d)
    log.raises(torch.mv, x, d[0])


@behaviour
def dtypes_that_losses_refuse(torch, log):
    F = torch.nn.functional
    log.raises(F.cross_entropy, torch.ones(2, 3), torch.tensor([0.0, 1.0]))
    log.raises(F.cross_entropy, torch.ones(2, 3), torch.tensor([0, 1], dtype=torch.int32))
    log.raises(F.nll_loss, torch.ones(2, 3), torch.tensor([0.0, 1.0]))
    log.raises(F.mse_loss, torch.tensor([1, 2]), torch.tensor([1, 2]))
    log.raises(F.binary_cross_entropy, torch.tensor([0.5]), torch.tensor([1]))
    log.raises(F.embedding, torch.tensor([0.0]), torch.ones(2, 3))
    log.raises(F.mse_loss, torch.ones(2), torch.ones(2), reduction="nonsense")


@behaviour
def mse_loss_of_broadcast_shapes_warns(torch, log):
    log(torch.nn.functional.mse_loss(torch.ones(2, 1), torch.ones(2)))


@behaviour
def reductions_refuse_bool_and_int_where_torch_does(torch, log):
    i, b = torch.tensor([1, 2]), torch.tensor([True, False])
    for t in (i, b):
        for name in ("mean", "std", "var", "norm", "logsumexp", "softmax", "log_softmax"):
            arguments = (0,) if name in ("logsumexp", "softmax", "log_softmax") else ()
            log.raises(getattr(t, name), *arguments)
        for name in ("max", "min", "prod", "sum", "any", "all", "argmax"):
            log.raises(getattr(t, name))


@behaviour
def nan_propagates_or_not_as_in_torch(torch, log):
    nan = float("nan")
    x = torch.tensor([1.0, nan, 3.0], requires_grad=True)
    log(x.max(), x.min(), x.sum(), x.argmax(), x.sort(), x.clamp(0, 2), x.relu(), x.topk(2))
    log(torch.maximum(x, torch.zeros(3)), x.max(0), torch.where(x > 2, x, 0.0), x.nansum())
    log(torch.fmax(x, torch.zeros(3)), x.nan_to_num(), x.isnan(), x.cummax(0), x.softmax(0))
    log(x == x, x.any(), x.all(), x.bool(), x.sign(), x.floor(), torch.equal(x, x))
    log(torch.allclose(x, x), torch.allclose(x, x, equal_nan=True))


@behaviour
def gradients_with_nan_and_inf(torch, log):
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([0.0, inf, nan, -1.0], requires_grad=True)
    for name in ("log", "sqrt", "exp", "tanh", "abs", "relu", "sigmoid"):
        x.grad = None
        getattr(x, name)().sum().backward()
        log(x.grad)


@behaviour
def gradients_at_kinks(torch, log):
    x = torch.tensor([-1.0, 0.0, 1.0], requires_grad=True)
    F = torch.nn.functional
    calls = [
        x.abs,
        x.relu,
        lambda: x.clamp(0, 1),
        lambda: x.clamp(min=0),
        lambda: torch.maximum(x, -x),
    ]
    calls += [x.max, x.amax, lambda: x.norm(), lambda: F.leaky_relu(x), lambda: F.elu(x), x.sign]
    calls += [lambda: torch.minimum(x, x), lambda: x**2.0, lambda: x.prod(), lambda: F.softplus(x)]
    calls += [lambda: F.hardtanh(x), lambda: F.relu6(x), lambda: torch.fmod(x, 1.0), lambda: x % 1]
    for call in calls:
        x.grad = None
        call().sum().backward()
        log(x.grad)


@behaviour
def gradients_of_ties(torch, log):
    x = torch.tensor([[1.0, 2.0], [2.0, 2.0]], requires_grad=True)
    for call in (
        x.max,
        x.min,
        lambda: x.amax(0),
        lambda: x.max(0).values,
        x.median,
        lambda: x.amax(),
    ):
        x.grad = None
        call().sum().backward()
        log(x.grad)
    log(x.max(1), x.argmax(), x.sort(stable=True), x.topk(1, 0))


@behaviour
def prod_with_zeros(torch, log):
    for values in ([1.0, 2.0, 3.0], [0.0, 2.0, 3.0], [0.0, 0.0, 3.0]):
        x = torch.tensor(values, requires_grad=True)
        x.prod().backward()
        log(x.grad)
        y = torch.tensor([values, values], requires_grad=True)
        y.prod(1).sum().backward()
        log(y.grad)


@behaviour
def pow_at_zero_and_negative_bases(torch, log):
    x = torch.tensor([0.0, -2.0, 2.0], requires_grad=True)
    for exponent in (0, 1, 2, 3, 0.5, -1, 2.5):
        x.grad = None
        y = x**exponent
        y.sum().backward()
        log(y, x.grad)
    e = torch.tensor([2.0, 3.0, 0.0], requires_grad=True)
    x.grad = None
    (x**e).sum().backward()
    log(x.grad, e.grad)


@behaviour
def std_of_one_element_warns(torch, log):
    log(torch.tensor([1.0]).std(), torch.tensor([1.0]).var(unbiased=False))
    log(torch.tensor([[1.0]]).var(0))


@behaviour
def backward_on_things_that_cannot(torch, log):
    x = ones(torch, 2)
    log.raises((x > 0).sum().backward)
    log.raises(x.argmax().backward)
    log.raises(x.detach().sum().backward)
    log.raises(x.long().sum().backward)
    log.raises(torch.autograd.grad, x.sum(), "x")
    log.raises(torch.autograd.grad, "y", x)
    log.raises(torch.autograd.backward, None)


@behaviour
def nothing_is_half_changed_by_a_failed_backward(torch, log):
    def backward(ctx, g):
        raise ValueError("stop")

    Fails = custom(torch, backward)
    x, y = ones(torch, 2), ones(torch, 2)
    z = (Fails.apply(x) * y).sum()
    log.raises(z.backward)
    log(x.grad, torch.is_grad_enabled())
    (x * 2).sum().backward()
    log(x.grad)


@behaviour
def backward_after_a_failed_backward(torch, log):
    x = ones(torch, 2)
    y = x * 2
    log.raises(y.backward)
    y.sum().backward()
    log(x.grad)


@behaviour
def unhashable_and_strange_arguments(torch, log):
    x = torch.ones(2, 2)
    log.refuses(x.sum, {})
    log.refuses(x.view, [[4]])
    log.refuses(x.permute, "ab")
    log.refuses(torch.cat, x, "a")
    log.refuses(torch.stack, [x, "a"])
    log.refuses(x.to, [])
    log.refuses(x.expand, "a")
    log.refuses(torch.zeros, [2, None])
    log.refuses(torch.arange, {})
    log.refuses(torch.full, (2,), [])
    log.refuses(torch.where, x, x, x)
    log.refuses(torch.tensor, 1.0, dtype="float32")
    log.refuses(x.register_hook, None)


@behaviour
def dtype_arguments_of_the_wrong_type(torch, log):
    log.raises(torch.zeros, 2, dtype="float32")
    log.raises(torch.tensor, 1.0, dtype=3)
    log.raises(torch.ones(2).sum, dtype="float64")
    log.raises(torch.zeros, 2, requires_grad="yes")
    log.raises(torch.zeros, 2, device=1.5)


@behaviour
def python_types_as_dtypes(torch, log):
    log(torch.zeros(2, dtype=float), torch.tensor([1], dtype=int), torch.ones(1, dtype=bool))
    log(torch.tensor([1.5]).to(int), torch.tensor([1], dtype=complex))


@behaviour
def clamp_errors(torch, log):
    x = ones(torch, 2)
    log.raises(x.clamp)
    log(x.clamp(2, 1), x.clamp(max=torch.tensor([0.0, 5.0])), x.clamp(torch.zeros(2), None))
    log.raises(x.clamp, "a")


@behaviour
def where_forms(torch, log):
    x = torch.tensor([1.0, -1.0], requires_grad=True)
    log(torch.where(x > 0, x, 0.0), torch.where(x > 0, 1, 0), torch.where(x > 0, 1.0, x))
    log(torch.where(x > 0, x, torch.tensor([1, 2])), x.where(x > 0, torch.zeros(2)))
    log.raises(torch.where, x, x, x)
    log.raises(torch.where, torch.tensor([1, 0]), x, x)


@behaviour
def module_errors(torch, log):
    nn = torch.nn
    layer = nn.Linear(3, 2)
    log.raises(layer, torch.ones(2))
    log.raises(layer, torch.ones(2, 3).double())
    log.raises(layer, "a")
    log.raises(lambda: layer.missing)
    log.raises(nn.Module().__call__, torch.ones(1))
    log.raises(layer.load_state_dict, {"weight": torch.ones(2, 3)})
    log.raises(layer.load_state_dict, {"weight": torch.ones(1, 1), "bias": torch.ones(2)})
    log.raises(layer.register_parameter, "weight.x", None)
    log.raises(setattr, layer, "weight", torch.ones(2, 3))


@behaviour
def optimizer_errors(torch, log):
    optim = torch.optim
    log.raises(optim.SGD, [], lr=0.1)
    log.raises(optim.SGD, [ones(torch, 1)], lr=-1)
    log.raises(optim.SGD, ones(torch, 1), lr=0.1)
    log.raises(optim.SGD, [ones(torch, 1) * 2], lr=0.1)
    log.raises(optim.SGD, [3], lr=0.1)
    log.raises(optim.Adam, [ones(torch, 1)], lr=0.1, betas=(1.5, 0.9))
    log.raises(optim.Adam, [ones(torch, 1)], eps=-1)
    log.raises(optim.SGD, [ones(torch, 1)], lr=0.1, momentum=-1)


@behaviour
def data_errors(torch, log):
    data = torch.utils.data
    log.raises(data.TensorDataset, torch.ones(2), torch.ones(3))
    log.raises(data.DataLoader, [1, 2], batch_size=0)
    log.raises(data.DataLoader, [1, 2], batch_size=-1)


@behaviour_of_each([
    ("flatten", lambda t, x: t.flatten(x)), ("cat", lambda t, x: t.cat(x)),
    ("kron", lambda t, x: t.kron(t.ones(2), x)), ("outer", lambda t, x: t.outer(x, t.ones(2))),
    ("conv2d", lambda t, x: t.nn.functional.conv2d(x, t.ones(1, 1, 1, 1))),
    ("diff", lambda t, x: t.diff(x)), ("cov", lambda t, x: t.cov(x)),
    ("layer_norm", lambda t, x: t.layer_norm(x, (2,))), ("trapezoid", lambda t, x: t.trapezoid(x)),
    ("block_diag", lambda t, x: t.block_diag(t.ones(2), x)),
    ("inner", lambda t, x: t.inner(t.ones(2), x)), ("fliplr", lambda t, x: t.fliplr(x)),
    ("matrix_power", lambda t, x: t.linalg.matrix_power(x, 2)),
    ("chunk", lambda t, x: t.chunk(t.ones(4), x)),
])
def functions_made_of_others_refuse_foreign_types(torch, log, name, call):
    for foreign in ("a", None, object(), {}, 1.5 + 2j):
        log.refuses(call, torch, foreign)


@behaviour_of_each([
    ("layer_norm", lambda t, x: t.layer_norm(x, None)),
    ("permute", lambda t, x: t.permute(x, None)),
    ("broadcast_to", lambda t, x: t.broadcast_to(x, None)),
    ("split_with_sizes", lambda t, x: t.split_with_sizes(x, "a")),
    ("chunk", lambda t, x: t.chunk(x, 1.5)),
    ("slice_scatter", lambda t, x: t.slice_scatter(x, x, 0, 0, [1])),
    ("addmv", lambda t, x: t.addmv(x, t.ones(2, 2), x, alpha="a")),
    ("as_strided_scatter", lambda t, x: t.as_strided_scatter(x, x[:1], (1,), (1,), 0.5)),
    ("stack", lambda t, x: t.stack(3)),
])
def what_an_argument_should_have_been(torch, log, name, call):
    log.raises(call, torch, torch.ones(2))


@behaviour
def losses_name_the_argument_that_is_no_tensor(torch, log):
    try:
        torch.nn.functional.mse_loss(torch.ones(2), 3.0)
    except (AttributeError, TypeError) as error:
        log.differs(f"{type(error).__name__}: {error}",
                    torch="AttributeError: 'float' object has no attribute 'size'",
                    retrograd="TypeError: mse_loss(): argument 'target' (position 2) must be "
                              "Tensor, not float")


@behaviour
def counts_that_cannot_be_made(torch, log):
    weights = torch.ones(3)
    for counted in (torch.tensor([0, 2, 2]), torch.tensor([0, -1, 2]), torch.tensor([0.0, 1, 2]),
                    torch.tensor([[0, 1, 2]]), torch.tensor([True, False, True])):
        for given in (None, weights, weights[:2], weights.double()):
            log.raises(torch.bincount, counted, given)
            log.raises(torch.bincount, counted, given, minlength=-1)


@behaviour
def classes_that_there_are_not(torch, log):
    loss = torch.nn.functional.multilabel_margin_loss
    scores = torch.tensor([[0.1, 0.2, 0.4], [0.8, 0.3, 0.5]])
    for target in ([[0, 2, -1], [1, -1, 0]], [[0, 3, -1], [1, -1, 0]], [[0, 2, -2], [1, -1, 0]],
                   [[0, -1, 5], [1, -1, 0]]):
        log.raises(loss, scores, torch.tensor(target))


@behaviour_of_each(["uniform_", "normal_", "log_normal_", "cauchy_", "exponential_", "geometric_",
                    "random_", "bernoulli_"])
def draws_in_every_dtype(torch, log, name):
    arguments = (0.5,) if name in ("geometric_", "bernoulli_") else ()
    for dtype in (torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.uint8,
                  torch.bool, torch.complex64):
        torch.manual_seed(3)
        log.raises(lambda dtype=dtype: getattr(torch.ones(9, dtype=dtype), name)(*arguments).dtype)


@behaviour
def modules_are_moved_by_what_is_known(torch, log):
    one = torch.ones(1)
    for args in ((), (None,), (torch.float64,), ("cpu",), (one,), (torch.float64, True),
                 (torch.float64, torch.float32), ("cpu", torch.float64), (None, torch.float64),
                 ("cpu", torch.float64, True), ("cpu", torch.float64, True, False), (one, True),
                 (torch.float64, True, True, True), ("cpu", None, True), (torch.float64, "cpu"),
                 ("cpu", True), (one, torch.float64), (torch.float64, 1), ("cpu", "cpu")):
        for named in ({}, {"dtype": torch.float64}, {"device": "cpu"}, {"non_blocking": True},
                      {"non_blocking": 1}, {"other": 1}, {"tensor": one}, {"memory_format": 3},
                      {"memory_format": torch.preserve_format}):
            module = torch.nn.Linear(1, 1)
            log.refuses(lambda m=module, a=args, n=named: m.to(*a, **n).weight.dtype)


@behaviour_of_each(["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "float16",
                    "bfloat16", "float64", "complex64"])
def dtypes_by_their_names_in_c(torch, log, name):
    other = torch.zeros(2).to(getattr(torch, name))
    log.raises(lambda: torch.zeros(2).masked_fill_(other, 0).dtype)
    log.raises(lambda: torch.zeros(2).set_(other).dtype)
    if not other.is_complex():
        log.raises(lambda: torch.hann_window(3, dtype=other.dtype).dtype)


UNFIT = {
    "add": lambda torch, x, n: x.add(x, alpha=n),
    "add_": lambda torch, x, n: x.add_(x, alpha=n),
    "sub": lambda torch, x, n: x.sub(x, alpha=n),
    "rsub": lambda torch, x, n: torch.rsub(x, x, alpha=n),
    "addmv beta": lambda torch, x, n: torch.addmv(x, x.new_ones(2, 2), x, beta=n),
    "addmv alpha": lambda torch, x, n: torch.addmv(x, x.new_ones(2, 2), x, alpha=n),
    "threshold": lambda torch, x, n: torch.threshold(x, 0, n),
    "pad": lambda torch, x, n: torch.nn.functional.pad(x, (1, 1), value=n),
    "constant_pad_nd": lambda torch, x, n: torch.constant_pad_nd(x, (1, 1), n),
    "linspace": lambda torch, x, n: torch.linspace(0, n, 3, dtype=x.dtype),
}
UNFIT_WHOLE = {
    "addcmul": lambda torch, x, n: torch.addcmul(x, x, x, value=n),
    "threshold": lambda torch, x, n: torch.threshold(x, n, 0),
    "pow": lambda torch, x, n: x ** abs(n),
    "where": lambda torch, x, n: torch.where(x > 1, x, n),
    "where first": lambda torch, x, n: torch.where(x > 1, n, x),
}


def numbers_that_may_not_fit(torch, log, call, dtypes):
    for dtype in dtypes:
        for number in (1000, -1000, -1, 70000, 2 ** 40, 7):
            x = torch.tensor([1, 2], dtype=dtype)
            log.raises(call, torch, x, number)
            log(x)


@behaviour_of_each(UNFIT.items())
def numbers_are_not_rounded_to_what_they_are_not(torch, log, name, call):
    numbers_that_may_not_fit(torch, log, call, (torch.uint8, torch.int8, torch.int32,
                                                torch.float16, torch.bfloat16, torch.float32))


@behaviour_of_each(UNFIT_WHOLE.items())
def whole_numbers_do_not_wrap_around(torch, log, name, call):
    numbers_that_may_not_fit(torch, log, call, (torch.uint8, torch.int8, torch.int32, torch.int64))


@behaviour
def options_that_are_nan_are_refused(torch, log):
    functional, x, nan = torch.nn.functional, torch.ones(2, 2), float("nan")
    log.raises(functional.huber_loss, x, x + 1, delta=nan)
    log.raises(functional.smooth_l1_loss, x, x + 1, beta=nan)
    log.raises(torch.renorm, x, nan, 0, 1.0)
    log.raises(torch.renorm, x, 2.0, 0, nan)


@behaviour_of_each((name,) for name in ("max", "min", "prod", "median", "nanmedian", "mean"))
def dims_are_kept_only_where_some_are_given(torch, log, name):
    log.refuses(getattr(torch, name), torch.ones(2, 2), keepdim=True)
    log.refuses(torch.ones(2, 2).__getattribute__(name), keepdim=True)
