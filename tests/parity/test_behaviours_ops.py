"""Operations called in typical ways: values, dtypes, gradients."""

from __future__ import annotations

import itertools
import math
import operator
import os
import tempfile

from parity.harness import behaviour, behaviour_of_each


def differentiate(torch, log, call, *inputs):
    """Log the value of ``call`` and, where there is a graph, the gradient for each input."""
    leaves = [x.clone().requires_grad_() if x.is_floating_point() else x for x in inputs]
    result = call(torch, *leaves)
    outputs = result if isinstance(result, (tuple, list)) else (result,)
    log.values(*outputs)
    total = None
    for i, y in enumerate(outputs):
        if y.requires_grad:
            weights = torch.arange(1.0, y.numel() + 1, dtype=y.dtype).reshape(y.shape) / (i + 2)
            part = (y * weights).sum()
            total = part if total is None else total + part
    if total is None:
        log("no graph")
        return
    wanted = [x for x in leaves if x.requires_grad]
    for grad in torch.autograd.grad(total, wanted, allow_unused=True):
        if grad is None:
            log(None)
        else:
            log.values(grad)


def matrix(torch, dtype="float64"):
    values = [[0.5, -1.25, 2.0], [1.5, 0.75, -0.3]]
    return torch.tensor(values, dtype=getattr(torch, dtype))


def other_matrix(torch, dtype="float64"):
    values = [[1.0, 0.5, -2.0], [0.25, 3.0, 1.5]]
    return torch.tensor(values, dtype=getattr(torch, dtype))


def positive(torch):
    return matrix(torch).abs() + 0.1


def unit(torch):
    return matrix(torch) / 3


UNARY = ["abs", "neg", "exp", "exp2", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan"]
UNARY += ["asinh", "sigmoid", "relu", "square", "sign", "floor", "ceil", "round", "trunc", "frac"]
UNARY += ["erf", "erfc", "positive", "isnan", "isfinite", "isinf", "logical_not", "clone"]
UNARY_POSITIVE = [
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "lgamma",
    "digamma",
]
UNARY_UNIT = ["asin", "acos", "atanh", "erfinv"]
ACTIVATIONS = ["relu", "sigmoid", "tanh", "gelu", "softplus", "leaky_relu", "elu", "selu", "silu"]
ACTIVATIONS += ["mish", "hardtanh", "relu6", "logsigmoid", "softsign", "tanhshrink", "hardsigmoid"]
ACTIVATIONS += ["hardswish", "celu"]


@behaviour_of_each(UNARY)
def unary(torch, log, name):
    differentiate(torch, log, lambda torch, x: getattr(torch, name)(x), matrix(torch))
    differentiate(torch, log, lambda torch, x: getattr(x, name)(), matrix(torch, "float32"))
    differentiate(torch, log, lambda torch, x: getattr(torch, name)(x.T), matrix(torch))


@behaviour_of_each(UNARY_POSITIVE)
def unary_of_positive_numbers(torch, log, name):
    differentiate(torch, log, lambda torch, x: getattr(torch, name)(x), positive(torch))
    differentiate(torch, log, lambda torch, x: getattr(x, name)(), positive(torch).float())


@behaviour_of_each(UNARY_UNIT)
def unary_within_one(torch, log, name):
    differentiate(torch, log, lambda torch, x: getattr(torch, name)(x), unit(torch))


@behaviour_of_each(ACTIVATIONS)
def activation(torch, log, name):
    function = getattr(torch.nn.functional, name)
    differentiate(torch, log, lambda torch, x: function(x), matrix(torch))
    differentiate(torch, log, lambda torch, x: function(x * 10), matrix(torch, "float32"))


BINARY = ["add", "sub", "mul", "div", "maximum", "minimum", "atan2", "fmod", "remainder", "fmax"]
BINARY += ["fmin", "hypot", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or"]
BINARY += ["logical_xor", "isclose", "copysign", "logaddexp", "floor_divide"]


@behaviour_of_each(BINARY)
def binary(torch, log, name):
    function = getattr(torch, name)
    a, b = matrix(torch), other_matrix(torch)
    if name == "floor_divide":
        log.values(function(a, b), function(a, 2.0))
        return
    differentiate(torch, log, lambda torch, x, y: function(x, y), a, b)
    differentiate(torch, log, lambda torch, x, y: function(x, y), a, b[0])
    differentiate(torch, log, lambda torch, x, y: function(x[:, :1], y), a, b)
    differentiate(torch, log, lambda torch, x, y: function(x, y), a.float(), b.float()[0, 0])


CALLS = {
    "pow scalar": lambda torch, x, y: torch.pow(x, 3),
    "pow tensor": lambda torch, x, y: torch.pow(x.abs(), y),
    "pow of scalar": lambda torch, x, y: torch.pow(2.0, x),
    "add alpha": lambda torch, x, y: torch.add(x, y, alpha=2),
    "sub alpha": lambda torch, x, y: torch.sub(x, y, alpha=0.5),
    "rsub": lambda torch, x, y: torch.rsub(x, y),
    "div floor": lambda torch, x, y: torch.div(x, y, rounding_mode="floor").detach(),
    "div trunc": lambda torch, x, y: torch.div(x, y, rounding_mode="trunc").detach(),
    "addcmul": lambda torch, x, y: torch.addcmul(x, x, y, value=0.5),
    "addcdiv": lambda torch, x, y: torch.addcdiv(x, x, y, value=0.5),
    "lerp scalar": lambda torch, x, y: torch.lerp(x, y, 0.3),
    "lerp tensor": lambda torch, x, y: torch.lerp(x, y, x.sigmoid()),
    "clamp": lambda torch, x, y: x.clamp(-1, 1),
    "clamp min": lambda torch, x, y: x.clamp(min=0),
    "clamp max": lambda torch, x, y: x.clamp_max(0.5),
    "clamp tensors": lambda torch, x, y: torch.clamp(x, y - 1, y + 1),
    "clip": lambda torch, x, y: x.clip(-1, 1),
    "where": lambda torch, x, y: torch.where(x > y, x, y),
    "where scalar": lambda torch, x, y: torch.where(x > 0, x, 0.0),
    "sum": lambda torch, x, y: x.sum(),
    "sum dim": lambda torch, x, y: x.sum(0),
    "sum dims": lambda torch, x, y: x.sum((0, 1)),
    "sum keepdim": lambda torch, x, y: x.sum(-1, keepdim=True),
    "sum dtype": lambda torch, x, y: x.sum(dtype=torch.float32),
    "sum empty dims": lambda torch, x, y: x.sum(()),
    "mean": lambda torch, x, y: x.mean(),
    "mean dims": lambda torch, x, y: x.mean((0, 1), keepdim=True),
    "mean dim": lambda torch, x, y: x.mean(1),
    "prod": lambda torch, x, y: x.prod(),
    "prod dim": lambda torch, x, y: x.prod(1, keepdim=True),
    "var": lambda torch, x, y: x.var(),
    "var dim": lambda torch, x, y: x.var(1, unbiased=False),
    "var correction": lambda torch, x, y: x.var(dim=1, correction=0, keepdim=True),
    "std": lambda torch, x, y: x.std(),
    "std dim": lambda torch, x, y: x.std(0),
    "var_mean": lambda torch, x, y: torch.var_mean(x, 1),
    "std_mean": lambda torch, x, y: torch.std_mean(x),
    "max": lambda torch, x, y: x.max(),
    "max dim": lambda torch, x, y: x.max(1),
    "max keepdim": lambda torch, x, y: x.max(0, keepdim=True),
    "max of two": lambda torch, x, y: torch.max(x, y),
    "min": lambda torch, x, y: x.min(),
    "min dim": lambda torch, x, y: x.min(1),
    "amax": lambda torch, x, y: x.amax((0, 1)),
    "amin": lambda torch, x, y: x.amin(1, keepdim=True),
    "aminmax": lambda torch, x, y: torch.aminmax(x),
    "argmax": lambda torch, x, y: x.argmax(),
    "argmax dim": lambda torch, x, y: x.argmax(1, keepdim=True),
    "argmin": lambda torch, x, y: x.argmin(0),
    "median": lambda torch, x, y: x.median(1),
    "any": lambda torch, x, y: (x > 1).any(0),
    "all": lambda torch, x, y: (x > -5).all(),
    "logsumexp": lambda torch, x, y: x.logsumexp(1),
    "logsumexp dims": lambda torch, x, y: x.logsumexp((0, 1), keepdim=True),
    "norm": lambda torch, x, y: x.norm(),
    "norm p": lambda torch, x, y: x.norm(p=1),
    "norm p3 dim": lambda torch, x, y: x.norm(p=3, dim=1),
    "norm inf": lambda torch, x, y: x.norm(p=float("inf")),
    "norm fro": lambda torch, x, y: torch.norm(x, p="fro"),
    "vector_norm": lambda torch, x, y: torch.linalg.vector_norm(x, 2, dim=0),
    "cumsum": lambda torch, x, y: x.cumsum(1),
    "cumprod": lambda torch, x, y: x.cumprod(1),
    "cummax": lambda torch, x, y: x.cummax(1),
    "cummin": lambda torch, x, y: x.cummin(0),
    "diff": lambda torch, x, y: x.diff(),
    "softmax": lambda torch, x, y: x.softmax(1),
    "softmax dim 0": lambda torch, x, y: torch.softmax(x, 0),
    "softmax dtype": lambda torch, x, y: torch.softmax(x.float(), 0, dtype=torch.float64),
    "log_softmax": lambda torch, x, y: x.log_softmax(-1),
    "matmul": lambda torch, x, y: x @ y.T,
    "matmul vector": lambda torch, x, y: x @ y[0],
    "vector matmul": lambda torch, x, y: x[0] @ y.T,
    "dot": lambda torch, x, y: torch.dot(x[0], y[1]),
    "mv": lambda torch, x, y: torch.mv(x, y[0]),
    "mm": lambda torch, x, y: torch.mm(x.T, y),
    "bmm": lambda torch, x, y: torch.bmm(x[None].expand(2, 2, 3), y.T[None].expand(2, 3, 2)),
    "batched matmul": lambda torch, x, y: torch.stack([x, y]) @ y.T,
    "matmul broadcast batch": lambda torch, x, y: torch.stack([x, y])[:, None] @ y.T[None, None],
    "matmul batch vector": lambda torch, x, y: torch.stack([x, y]) @ y[0],
    "vector batch matmul": lambda torch, x, y: x[:, 0] @ torch.stack([x, y]),
    "outer": lambda torch, x, y: torch.outer(x[0], y[1]),
    "addmm": lambda torch, x, y: torch.addmm(x[:, :2], x, y.T, beta=0.5, alpha=2),
    "baddbmm": lambda torch, x, y: torch.baddbmm(x[None, :, :2], x[None], y.T[None]),
    "addmv": lambda torch, x, y: torch.addmv(x[:, 0], x, y[0]),
    "linear": lambda torch, x, y: torch.nn.functional.linear(x, y, y[:, 0]),
    "bilinear einsum": lambda torch, x, y: torch.einsum("ij,kj->ik", x, y),
    "einsum trace": lambda torch, x, y: torch.einsum("ii", x @ y.T),
    "einsum diagonal": lambda torch, x, y: torch.einsum("ii->i", x @ y.T),
    "einsum sum": lambda torch, x, y: torch.einsum("ij->", x),
    "einsum transpose": lambda torch, x, y: torch.einsum("ij->ji", x),
    "einsum implicit": lambda torch, x, y: torch.einsum("ij,jk", x, y.T),
    "einsum ellipsis": lambda torch, x, y: torch.einsum("...j,...j->...", x, y),
    "einsum three": lambda torch, x, y: torch.einsum("ij,jk,kl->il", x, y.T, x),
    "einsum outer": lambda torch, x, y: torch.einsum("i,j->ij", x[0], y[0]),
    "einsum batch": lambda torch, x, y: torch.einsum("bij,bjk->bik", x[None], y.T[None]),
    "tensordot": lambda torch, x, y: torch.tensordot(x, y, dims=([1], [1])),
    "inner": lambda torch, x, y: torch.inner(x, y),
    "kron": lambda torch, x, y: torch.kron(x, y),
    "trace": lambda torch, x, y: torch.trace(x @ y.T),
    "cat": lambda torch, x, y: torch.cat([x, y]),
    "cat dim": lambda torch, x, y: torch.cat([x, y, x], dim=1),
    "cat dtypes": lambda torch, x, y: torch.cat(
        [x, y.float(), torch.ones(1, 3, dtype=torch.int64)]
    ),
    "cat with empty": lambda torch, x, y: torch.cat([x, torch.zeros(0), y]),
    "concat": lambda torch, x, y: torch.concat((x, y), -1),
    "stack": lambda torch, x, y: torch.stack([x, y], 1),
    "hstack": lambda torch, x, y: torch.hstack([x, y]),
    "vstack": lambda torch, x, y: torch.vstack([x[0], y[1]]),
    "split": lambda torch, x, y: x.split(2, 1),
    "chunk": lambda torch, x, y: x.chunk(3, 1),
    "unbind": lambda torch, x, y: x.unbind(1),
    "index": lambda torch, x, y: x[[0, 1], [2, 0]],
    "masked_fill": lambda torch, x, y: x.masked_fill(y > 1, 9.0),
    "masked_fill tensor": lambda torch, x, y: x.masked_fill(y > 1, y[0, 0]),
    "masked_select": lambda torch, x, y: x.masked_select(y > 0.3),
    "gather": lambda torch, x, y: x.gather(1, torch.tensor([[0, 0], [2, 1]])),
    "scatter": lambda torch, x, y: x.scatter(1, torch.tensor([[0], [2]]), y[:, :1]),
    "scatter value": lambda torch, x, y: x.scatter(1, torch.tensor([[0], [2]]), 3.0),
    "scatter_add": lambda torch, x, y: x.scatter_add(1, torch.tensor([[0, 0], [2, 1]]), y[:, :2]),
    "index_select": lambda torch, x, y: x.index_select(1, torch.tensor([2, 2, 0])),
    "index_add": lambda torch, x, y: x.index_add(0, torch.tensor([1, 1]), y),
    "index_copy": lambda torch, x, y: x.index_copy(0, torch.tensor([1]), y[:1]),
    "index_fill": lambda torch, x, y: x.index_fill(1, torch.tensor([0]), 5.0),
    "take": lambda torch, x, y: x.take(torch.tensor([0, 5, 0])),
    "take_along_dim": lambda torch, x, y: x.take_along_dim(x.argsort(1), 1),
    "sort": lambda torch, x, y: x.sort(1),
    "sort descending": lambda torch, x, y: torch.sort(x, 0, descending=True),
    "argsort": lambda torch, x, y: x.argsort(1, descending=True),
    "topk": lambda torch, x, y: x.topk(2, 1),
    "topk smallest": lambda torch, x, y: x.topk(1, 1, largest=False),
    "kthvalue": lambda torch, x, y: x.kthvalue(2, 1),
    "unique": lambda torch, x, y: x.detach().round().unique(),
    "flip": lambda torch, x, y: x.flip(1),
    "roll": lambda torch, x, y: x.roll((1, 1), (0, 1)),
    "repeat": lambda torch, x, y: x.repeat(2, 1, 2),
    "repeat_interleave": lambda torch, x, y: x.repeat_interleave(2, 0),
    "tile": lambda torch, x, y: x.tile((1, 2)),
    "tril": lambda torch, x, y: x.tril(),
    "triu": lambda torch, x, y: x.triu(1),
    "diag": lambda torch, x, y: torch.diag(x[0]),
    "diag of a matrix": lambda torch, x, y: torch.diag(x @ y.T),
    "diag_embed": lambda torch, x, y: torch.diag_embed(x),
    "pad": lambda torch, x, y: torch.nn.functional.pad(x, (1, 2, 0, 1), value=7.0),
    "one_hot": lambda torch, x, y: torch.nn.functional.one_hot(torch.tensor([0, 2, 1]), 4),
    "dist": lambda torch, x, y: torch.dist(x, y),
    "cosine_similarity": lambda torch, x, y: torch.nn.functional.cosine_similarity(x, y),
    "normalize": lambda torch, x, y: torch.nn.functional.normalize(x),
    "layer_norm": lambda torch, x, y: torch.nn.functional.layer_norm(x, (3,)),
    "layer_norm affine": lambda torch, x, y: torch.nn.functional.layer_norm(x, (3,), y[0], y[1]),
    "layer_norm two dims": lambda torch, x, y: torch.nn.functional.layer_norm(x, (2, 3), eps=0.1),
    "embedding": lambda torch, x, y: torch.nn.functional.embedding(
        torch.tensor([[1, 0], [1, 1]]), x
    ),
    "embedding padding": lambda torch, x, y: torch.nn.functional.embedding(
        torch.tensor([1, 0]), x, padding_idx=0
    ),
    "mse_loss": lambda torch, x, y: torch.nn.functional.mse_loss(x, y),
    "mse_loss none": lambda torch, x, y: torch.nn.functional.mse_loss(x, y, reduction="none"),
    "mse_loss sum": lambda torch, x, y: torch.nn.functional.mse_loss(x, y, reduction="sum"),
    "l1_loss": lambda torch, x, y: torch.nn.functional.l1_loss(x, y),
    "smooth_l1_loss": lambda torch, x, y: torch.nn.functional.smooth_l1_loss(x, y),
    "huber_loss": lambda torch, x, y: torch.nn.functional.huber_loss(x, y),
    "kl_div": lambda torch, x, y: torch.nn.functional.kl_div(
        x.log_softmax(1), y.softmax(1), reduction="batchmean"
    ),
    "nll_loss": lambda torch, x, y: torch.nn.functional.nll_loss(
        x.log_softmax(1), torch.tensor([0, 2])
    ),
    "nll_loss weight": lambda torch, x, y: torch.nn.functional.nll_loss(
        x, torch.tensor([0, 2]), weight=y[0].detach().abs()
    ),
    "cross_entropy": lambda torch, x, y: torch.nn.functional.cross_entropy(x, torch.tensor([0, 2])),
    "cross_entropy sum": lambda torch, x, y: torch.nn.functional.cross_entropy(
        x, torch.tensor([0, 2]), reduction="sum"
    ),
    "cross_entropy none": lambda torch, x, y: torch.nn.functional.cross_entropy(
        x, torch.tensor([0, 2]), reduction="none"
    ),
    "cross_entropy ignored": lambda torch, x, y: torch.nn.functional.cross_entropy(
        x, torch.tensor([0, -100])
    ),
    "cross_entropy smoothing": lambda torch, x, y: torch.nn.functional.cross_entropy(
        x, torch.tensor([0, 2]), label_smoothing=0.1
    ),
    "cross_entropy weight": lambda torch, x, y: torch.nn.functional.cross_entropy(
        x, torch.tensor([0, 2]), weight=torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    ),
    "cross_entropy probabilities": lambda torch, x, y: torch.nn.functional.cross_entropy(
        x, y.softmax(1)
    ),
    "cross_entropy one sample": lambda torch, x, y: torch.nn.functional.cross_entropy(
        x[0], torch.tensor(1)
    ),
    "bce": lambda torch, x, y: torch.nn.functional.binary_cross_entropy(x.sigmoid(), y.sigmoid()),
    "bce logits": lambda torch, x, y: torch.nn.functional.binary_cross_entropy_with_logits(
        x, y.sigmoid()
    ),
    "bce logits pos_weight": lambda torch, x, y: (
        torch.nn.functional.binary_cross_entropy_with_logits(
            x, y.sigmoid(), pos_weight=torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
        )
    ),
    "gelu tanh": lambda torch, x, y: torch.nn.functional.gelu(x, approximate="tanh"),
    "softplus beta": lambda torch, x, y: torch.nn.functional.softplus(x, beta=2, threshold=1),
    "leaky_relu slope": lambda torch, x, y: torch.nn.functional.leaky_relu(x, 0.3),
    "glu": lambda torch, x, y: torch.nn.functional.glu(torch.cat([x, y], 1)),
    "prelu": lambda torch, x, y: torch.nn.functional.prelu(x, y[0, :1].abs()),
    "softmin": lambda torch, x, y: torch.nn.functional.softmin(x, 1),
    "nan_to_num": lambda torch, x, y: (x / 0).nan_to_num(0.0, 5.0, -5.0),
    "bincount": lambda torch, x, y: torch.tensor([0, 1, 1, 3]).bincount(),
    "searchsorted": lambda torch, x, y: torch.searchsorted(torch.tensor([1.0, 2.0, 3.0]), 2.5),
    "cov": lambda torch, x, y: torch.cov(x),
    "logical": lambda torch, x, y: (x > 0) & (y > 0) | ~(x < y),
    "count_nonzero": lambda torch, x, y: torch.count_nonzero(x > 0),
    "heaviside": lambda torch, x, y: torch.heaviside(x.detach(), y.detach()),
    "xlogy": lambda torch, x, y: torch.xlogy(x, y.abs()),
    "sinc": lambda torch, x, y: torch.sinc(x),
    "logit": lambda torch, x, y: torch.logit(x.sigmoid()),
    "cdist": lambda torch, x, y: torch.cdist(x, y),
    "bitwise": lambda torch, x, y: torch.bitwise_and(torch.tensor([6, 5]), torch.tensor([3, 1])),
}


@behaviour_of_each(CALLS.items())
def call(torch, log, name, function):
    differentiate(torch, log, function, matrix(torch), other_matrix(torch))


SINGLE = ["sum", "mean dim", "var", "std dim", "softmax", "log_softmax", "matmul", "linear", "norm"]
SINGLE += ["logsumexp", "layer_norm affine", "cross_entropy", "mse_loss", "bce logits", "cumsum"]
SINGLE += ["einsum ellipsis", "prod", "clamp", "where", "max dim", "cat", "gelu tanh", "pow scalar"]


@behaviour_of_each((name, CALLS[name]) for name in SINGLE)
def call_in_single_precision(torch, log, name, function):
    inputs = (matrix(torch, "float32"), other_matrix(torch, "float32"))
    differentiate(torch, log, function, *inputs)


@behaviour_of_each(["add", "mul", "sub", "div", "maximum"])
def binary_in_half_precision(torch, log, name):
    for dtype in ("float16", "bfloat16"):
        inputs = (matrix(torch, dtype), other_matrix(torch, dtype))
        differentiate(torch, log, lambda torch, x, y: getattr(torch, name)(x, y), *inputs)


@behaviour_of_each(
    ["exp", "sin", "tanh", "sqrt", "sum", "mean", "softmax", "relu", "sigmoid", "log"]
)
def unary_in_half_precision(torch, log, name):
    for dtype in ("float16", "bfloat16"):
        x = matrix(torch, dtype).abs()
        call = operator.methodcaller(name, 0) if name == "softmax" else operator.methodcaller(name)
        differentiate(torch, log, lambda torch, x, call=call: call(x), x)


# Convolution and pooling


def image(torch, channels=2, size=5):
    count = 2 * channels * size * size
    return (torch.arange(count, dtype=torch.float64) * 0.37 % 2 - 1).reshape(
        2, channels, size, size
    )


def kernel(torch, out=3, channels=2, size=3):
    count = out * channels * size * size
    shape = (out, channels, size, size)
    return (torch.arange(count, dtype=torch.float64) * 0.73 % 1.5 - 0.7).reshape(shape)


CONVOLUTIONS = {
    "plain": {},
    "stride": {"stride": 2},
    "strides": {"stride": (2, 1)},
    "padding": {"padding": 1},
    "paddings": {"padding": (0, 2)},
    "same": {"padding": "same"},
    "valid": {"padding": "valid"},
    "dilation": {"dilation": 2},
    "stride and padding": {"stride": 2, "padding": 1},
}


@behaviour_of_each(CONVOLUTIONS.items())
def conv2d(torch, log, name, options):
    bias = torch.tensor([0.1, 0.2, 0.3], dtype=torch.float64)
    differentiate(
        torch,
        log,
        lambda torch, x, w, b: torch.nn.functional.conv2d(x, w, b, **options),
        image(torch),
        kernel(torch),
        bias,
    )


@behaviour
def conv2d_without_bias_groups_and_unbatched(torch, log):
    conv = torch.nn.functional.conv2d
    differentiate(torch, log, lambda torch, x, w: conv(x, w), image(torch), kernel(torch))
    differentiate(torch, log, lambda torch, x, w: conv(x[0], w), image(torch), kernel(torch))
    grouped = kernel(torch, out=4, channels=1)
    differentiate(torch, log, lambda torch, x, w: conv(x, w, groups=2), image(torch), grouped)
    log(conv(image(torch).requires_grad_(), kernel(torch)).grad_fn.name())


@behaviour
def conv2d_second_derivative(torch, log):
    x, w = image(torch).requires_grad_(), kernel(torch).requires_grad_()
    y = (torch.nn.functional.conv2d(x, w) ** 2).sum()
    gx, gw = torch.autograd.grad(y, (x, w), create_graph=True)
    for grad in torch.autograd.grad((gx**2).sum() + (gw**2).sum(), (x, w)):
        log.values(grad)


POOLINGS = {
    "plain": {"kernel_size": 2},
    "stride": {"kernel_size": 2, "stride": 1},
    "padding": {"kernel_size": 3, "stride": 2, "padding": 1},
    "rectangle": {"kernel_size": (2, 3)},
    "dilation": {"kernel_size": 2, "dilation": 2, "stride": 1},
    "ceil": {"kernel_size": 2, "ceil_mode": True},
}


@behaviour_of_each(POOLINGS.items())
def max_pool2d(torch, log, name, options):
    pool = torch.nn.functional.max_pool2d
    differentiate(torch, log, lambda torch, x: pool(x, **options), image(torch))
    log.values(*pool(image(torch), return_indices=True, **options))


# Modules, optimizers, data


@behaviour
def linear_layers_start_from_the_same_values(torch, log):
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 2)
    log(layer.weight, layer.bias, layer(torch.ones(1, 3)), layer.in_features, layer.out_features)
    log(torch.nn.Linear(2, 2, bias=False).bias)


@behaviour
def modules_list_their_parameters(torch, log):
    nn = torch.nn
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    log([name for name, _ in model.named_parameters()], len(list(model.parameters())))
    log([type(m).__name__ for m in model.modules()], list(dict(model.named_children())))
    log(model.training, model.eval().training, model.train()[0].training, list(model.state_dict()))
    log(model[0].weight.shape, len(model), model(torch.zeros(4, 2)).shape)


@behaviour
def modules_zero_their_gradients(torch, log):
    layer = torch.nn.Linear(2, 1)
    layer(torch.ones(1, 2)).sum().backward()
    log(layer.weight.grad, layer.bias.grad)
    layer.zero_grad(set_to_none=False)
    log(layer.weight.grad)
    layer.zero_grad()
    log(layer.weight.grad)


@behaviour
def custom_modules(torch, log):
    class Scale(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = torch.nn.Parameter(torch.tensor(2.0))
            self.register_buffer("offset", torch.tensor(1.0))
            self.inner = torch.nn.Linear(1, 1)

        def forward(self, x):
            return x * self.factor + self.offset

    scale = Scale()
    scale(torch.tensor(3.0)).backward()
    log(scale.factor.grad, list(scale.state_dict()), [n for n, _ in scale.named_buffers()])
    log(scale.double().factor, scale.requires_grad_(False).factor)
    copy = Scale()
    copy.load_state_dict(scale.state_dict())
    log(copy.inner.weight.shape, repr(scale))


@behaviour
def module_hooks(torch, log):
    layer = torch.nn.Linear(2, 1)
    seen = []
    handle = layer.register_forward_hook(lambda m, args, out: seen.append(tuple(out.shape)))
    layer.register_forward_pre_hook(lambda m, args: seen.append(len(args)))
    layer(torch.ones(3, 2))
    handle.remove()
    layer(torch.ones(3, 2))
    log(seen)


OPTIMIZERS = {
    "SGD": lambda torch, p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda torch, p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "nesterov": lambda torch, p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "dampening": lambda torch, p: torch.optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.5),
    "decay": lambda torch, p: torch.optim.SGD(p, lr=0.1, weight_decay=0.1),
    "Adam": lambda torch, p: torch.optim.Adam(p, lr=0.1),
    "Adam decay": lambda torch, p: torch.optim.Adam(p, lr=0.1, weight_decay=0.1),
    "Adam betas": lambda torch, p: torch.optim.Adam(p, lr=0.1, betas=(0.5, 0.6), eps=0.1),
    "amsgrad": lambda torch, p: torch.optim.Adam(p, lr=0.1, amsgrad=True),
    "maximize": lambda torch, p: torch.optim.SGD(p, lr=0.1, maximize=True),
}


@behaviour_of_each(OPTIMIZERS.items())
def optimizer_steps(torch, log, name, make):
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    b = torch.tensor(0.5, requires_grad=True)
    unused = torch.ones(1, requires_grad=True)
    optimizer = make(torch, [w, b, unused])
    for _ in range(5):
        optimizer.zero_grad()
        loss = ((w * 3 - b) ** 2).sum() * (0.1 if name == "maximize" else 1)
        loss.backward()
        optimizer.step()
        log.values(w, b, unused)
    log(sorted(optimizer.state_dict()), len(optimizer.param_groups))


@behaviour
def optimizer_parameter_groups_and_closures(torch, log):
    a, b = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    optimizer = torch.optim.SGD([{"params": [a]}, {"params": [b], "lr": 1.0}], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (a * 2 + b * 3).sum()
        loss.backward()
        return loss

    log(optimizer.step(closure), a, b, [g["lr"] for g in optimizer.param_groups])
    optimizer.zero_grad(set_to_none=False)
    log(a.grad)


@behaviour
def training_a_small_network(torch, log):
    nn = torch.nn
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    x, y = torch.randn(30, 2), torch.randint(3, (30,))
    for _ in range(10):
        optimizer.zero_grad()
        loss = nn.CrossEntropyLoss()(model(x), y)
        loss.backward()
        optimizer.step()
        log.values(loss)


@behaviour
def data_loaders_batch_and_shuffle_alike(torch, log):
    data = torch.utils.data
    pairs = data.TensorDataset(torch.arange(10.0).view(10, 1), torch.arange(10))
    log(len(pairs), pairs[3], len(data.DataLoader(pairs, batch_size=4)))
    for batch in data.DataLoader(pairs, batch_size=4):
        log(batch)
    torch.manual_seed(0)
    for batch in data.DataLoader(pairs, batch_size=4, shuffle=True, drop_last=True):
        log(batch)
    generator = torch.Generator().manual_seed(7)
    log([int(y) for _, y in data.DataLoader(pairs, shuffle=True, generator=generator)])


@behaviour
def data_loaders_collate_python_values(torch, log):
    data = torch.utils.data
    log(list(data.DataLoader([1, 2, 3], batch_size=2)))
    log(
        list(data.DataLoader([1.5, 2.5], batch_size=2)),
        list(data.DataLoader(["a", "b"], batch_size=2)),
    )
    log(list(data.DataLoader([{"x": 1, "y": 2.0}, {"x": 3, "y": 4.0}], batch_size=2)))


@behaviour
def losses_as_modules(torch, log):
    nn = torch.nn
    x, y = matrix(torch), other_matrix(torch)
    for loss in (nn.MSELoss(), nn.MSELoss(reduction="sum"), nn.L1Loss(), nn.BCEWithLogitsLoss()):
        log.values(loss(x, y.sigmoid()))
    log.values(
        nn.CrossEntropyLoss()(x, torch.tensor([0, 2])), nn.NLLLoss()(x, torch.tensor([0, 2]))
    )


# ---------------------------------------------------------------- products and images


@behaviour_of_each(["rows", "columns", "both", "neither"])
def products_of_groups(torch, log, ragged):
    # Whole numbers, whose sums are exact in whatever order a processor adds them up.
    a, b = torch.arange(64.0).reshape(8, 8) % 7 - 3, torch.arange(64.0).reshape(2, 8, 4) % 5 - 2
    turned = b.transpose(1, 2).contiguous()
    x, y = {"rows": (a, b), "columns": (turned, a), "both": (a, a), "neither": (turned, b)}[ragged]
    ends = None if ragged == "neither" else torch.tensor([4, 8], dtype=torch.int32)
    differentiate(torch, log, lambda torch, x, y: torch.nn.functional.grouped_mm(x, y, offs=ends),
                  x, y)


@behaviour
def products_of_groups_that_do_not_fit(torch, log):
    a, b = torch.ones(6, 8), torch.ones(2, 8, 4)
    ends = torch.tensor([2, 6], dtype=torch.int32)
    for x, y, options in ((a.double(), b, {"offs": ends}), (a, b, {}),
                          (a, b, {"offs": ends.long()}), (a, b[:, :4], {"offs": ends}),
                          (a, b, {"offs": ends[:1]}), (a[0], b, {"offs": ends})):
        log.raises(lambda x=x, y=y, options=options: torch.nn.functional.grouped_mm(
            x, y, **options))


@behaviour_of_each(["bilinear", "bicubic", "lanczos"])
def images_resampled_by_means(torch, log, mode):
    image = torch.arange(84.0, dtype=torch.float64).reshape(1, 2, 6, 7).sin()
    for size in ((3, 4), (9, 2), (6, 7)):
        differentiate(torch, log, lambda torch, x, size=size: torch.nn.functional.interpolate(
            x, size, mode=mode, antialias=True), image)
    log.values(torch.nn.functional.interpolate(image, scale_factor=0.7, mode=mode, antialias=True))
    grey = ((image + 1) * 127).to(torch.uint8)
    log.values(torch.nn.functional.interpolate(grey, (4, 5), mode=mode, antialias=True))
    if mode != "lanczos":
        log.values(torch.nn.functional.interpolate(grey, (4, 9), mode=mode))


@behaviour
def means_that_do_not_exist(torch, log):
    image = torch.ones(1, 1, 4, 4)
    for mode, antialias, corners in (("nearest", True, None), ("lanczos", False, None),
                                     ("lanczos", True, True), ("linear", True, None)):
        log.raises(lambda mode=mode, antialias=antialias, corners=corners:
                   torch.nn.functional.interpolate(image, 2, mode=mode, antialias=antialias,
                                                   align_corners=corners))


@behaviour
def extreme_eigenvalues(torch, log):
    half = torch.arange(400.0, dtype=torch.float64).reshape(20, 20).sin()
    A = half @ half.T + torch.diag(torch.arange(20.0, dtype=torch.float64))
    B = torch.diag(torch.arange(1.0, 21.0, dtype=torch.float64))
    for options in ({"k": 3}, {"k": 2, "largest": False}, {"k": 2, "B": B}, {"k": 1, "n": 3}):
        values, vectors = torch.lobpcg(A, **options)
        log.values(values.float())
        log.values(vectors.abs().float().mul(100).round())
    log.values(torch.lobpcg(torch.stack([A, 2 * A]), k=2)[0].float())
    leaf = A.clone().requires_grad_()
    log.values(torch.autograd.grad(torch.lobpcg(leaf, k=2)[0].sum(), leaf)[0].float())
    log.raises(lambda: torch.lobpcg(A, k=8))
    log.raises(lambda: torch.lobpcg(A[:, :5]))


@behaviour
def rows_shortened_in_place(torch, log):
    table = torch.arange(6.0).reshape(3, 2)
    log.values(torch.embedding_renorm_(table, torch.tensor([0, 2]), 2.0, 2.0), table)
    log.raises(lambda: torch.embedding_renorm_(table, torch.tensor([0.0]), 2.0, 2.0))


@behaviour
def memory_of_a_file(torch, log):
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "numbers")
        log.values(torch.from_file(name, shared=True, size=3, dtype=torch.int32).fill_(7))
        log(os.path.getsize(name))
        apart = torch.from_file(name, size=2, dtype=torch.int32)
        apart.zero_()
        log.values(apart, torch.from_file(name, shared=False, size=3, dtype=torch.int32))
        log.values(torch.from_file(name))
        log.refuses(lambda: torch.from_file(name, size=9))
        log.refuses(lambda: torch.from_file(os.path.join(folder, "none"), size=9))


@behaviour_of_each([(f"{one}, {other}", one, other) for one, other in
                    [("float16", "float32"), ("bfloat16", "float16"), ("float64", "float16"),
                     ("float32", "float64"), ("int64", "bfloat16"), ("bool", "float32"),
                     ("int64", "int32"), ("complex64", "float32")]])
def cosines_of_mixed_dtypes(torch, log, name, one, other):
    """Each of two vectors is made of length one in its own precision."""
    left = (torch.arange(21) - 8).reshape(3, 7).to(getattr(torch, one))
    right = (torch.arange(7) * 5 % 7 - 1).to(getattr(torch, other))
    log.raises(torch.nn.functional.cosine_similarity, left, right)


@behaviour
def broadcast_to_takes_sizes_one_by_one(torch, log):
    x = torch.arange(3.0)
    log(x.broadcast_to(2, 3), x.broadcast_to((2, 3)), x.broadcast_to(size=(1, 3)),
        torch.broadcast_to(x, (2, 3)))
    log.raises(x.broadcast_to)


@behaviour
def integers_to_negative_powers(torch, log):
    bases = torch.tensor([-3, -1, 1, 2, -1, 1, 7, -1])
    exponents = torch.tensor([-1, -2, -2, -3, -3, -5, 2, 0])
    for dtype in (torch.int64, torch.int8):
        log(bases.to(dtype) ** exponents.to(dtype))
    log.raises(lambda: bases ** -2)
    log.raises(lambda: torch.pow(-1, exponents))


@behaviour_of_each([("batch_norm", "batch_norm"), ("instance_norm", "instance_norm")])
def running_moments_of_which_one_is_missing(torch, log, name, function):
    norm = getattr(torch.nn.functional, function)
    x = torch.arange(24.0).reshape(2, 3, 4)
    switch = "training" if function == "batch_norm" else "use_input_stats"
    for given in ((True, False), (False, True), (True, True), (False, False)):
        for training in (False, True):
            mean, var = (torch.ones(3) if some else None for some in given)
            log.raises(norm, x, mean, var, **{switch: training})
            log(mean, var)


@behaviour
def chains_of_matrices(torch, log):
    matrices = [torch.arange(6.0).reshape(2, 3), torch.arange(12.0).reshape(3, 4) - 5,
                torch.arange(8.0).reshape(4, 2) / 3, torch.ones(2, 5)]
    for count in range(1, 5):
        log.warns(lambda count=count: log(torch.chain_matmul(*matrices[:count])))
    log.raises(lambda: torch.chain_matmul())
    log.raises(lambda: torch.chain_matmul(matrices[0], torch.ones(3)))
    log.raises(lambda: torch.chain_matmul(matrices[0], matrices[0]))


@behaviour
def least_squares_of_which_some_have_no_full_rank(torch, log):
    full = torch.tensor([[1.0, 0.5], [2.0, -1.0], [0.0, 3.0], [1.0, 1.0]], dtype=torch.float64)
    lacking = torch.ones(4, 2, dtype=torch.float64)
    right = torch.arange(8.0, dtype=torch.float64).reshape(4, 2)
    for matrices in ([full, full], [full, lacking], [lacking, lacking], [full[:2], full[:2]]):
        for driver in ("gelsd", "gelss", "gelsy"):
            sides = torch.stack([right[:len(matrix)] for matrix in matrices])
            found = torch.linalg.lstsq(torch.stack(matrices), sides, driver=driver)
            log(found.residuals.shape, found.rank, found.solution)
            log.values(found.residuals)


@behaviour_of_each(["sum", "mean", "max"])
def bags_whose_ends_are_given(torch, log, mode):
    indices, ends = torch.tensor([1, 2, 0, 2, 4, 1]), torch.tensor([0, 2, 2, 6])
    for last in (False, True):
        table = (torch.arange(20.0).reshape(5, 4) % 7).requires_grad_()
        found = torch.nn.functional.embedding_bag(indices, table, ends, mode=mode,
                                                  include_last_offset=last)
        found.pow(2).sum().backward()
        log(found, table.grad)


@behaviour_of_each([(upper, dtype) for upper in (False, True)
                    for dtype in ("float64", "complex128")])
def factors_as_far_as_elimination_comes(torch, log, upper, dtype):
    """Of a matrix that has no factor the first columns are those of its leading minor's."""
    base = torch.arange(25.0, dtype=torch.float64).reshape(5, 5).sin().to(getattr(torch, dtype))
    good = base @ base.mH + torch.eye(5)
    if dtype == "complex128":
        good = good + 0.1j * (torch.triu(good, 1) - torch.tril(good, -1))
    for k in range(5):
        bad = good.clone()
        bad[k, k] = -1.0
        factor, info = torch.linalg.cholesky_ex(torch.stack([bad, good]), upper=upper)
        log(info)
        log.values(factor)


@behaviour_of_each([float, int, bool, complex])
def python_types_that_stand_for_dtypes(torch, log, kind):
    log.raises(lambda: torch.finfo(kind).dtype)
    log.raises(lambda: torch.iinfo(kind).dtype)
    log.raises(lambda: torch.zeros(4).view(kind))
    for other in (torch.float32, torch.int8, torch.complex64, kind, float):
        log(torch.promote_types(kind, other), torch.promote_types(other, kind),
            torch.can_cast(kind, other), torch.can_cast(other, kind))


@behaviour
def what_stands_for_no_dtype(torch, log):
    for value in (str, "float32", 3, None, []):
        log.raises(torch.promote_types, value, torch.float32)
        log.raises(torch.can_cast, torch.float32, value)
        log.raises(torch.iinfo, value)


@behaviour_of_each(["cumsum", "cumprod", "mean", "nanmean", "sum", "prod", "nansum"])
def reductions_asked_for_truths(torch, log, name):
    log.raises(lambda: getattr(torch.ones(2), name)(0, dtype=torch.bool))


@behaviour
def signs_before_a_tensor(torch, log):
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    log(+x, (+x).grad_fn, -x, ~torch.tensor([1, 2]), abs(x), (+x).sum())
    log.raises(lambda: +torch.tensor([True]))
    log.raises(lambda: -torch.tensor([True]))
    log.raises(lambda: ~x)


FACTORS = {
    "add": lambda torch, x, y, n: torch.add(x, y, alpha=n),
    "sub": lambda torch, x, y, n: torch.sub(x, y, alpha=n),
    "add_": lambda torch, x, y, n: x.clone().add_(y, alpha=n),
    "add of a number": lambda torch, x, y, n: torch.add(x, 2, alpha=n),
    "rsub": lambda torch, x, y, n: torch.rsub(x, y, alpha=n),
    "addcmul": lambda torch, x, y, n: torch.addcmul(x, x, y, value=n),
    "addcdiv": lambda torch, x, y, n: torch.addcdiv(x, x, y, value=n),
    "addr by alpha": lambda torch, x, y, n: torch.addr(x, x[0], y[0], alpha=n),
    "addr by beta": lambda torch, x, y, n: torch.addr(x, x[0], y[0], beta=n),
}


@behaviour_of_each([(name, kind) for name in FACTORS
                    for kind in ("bool", "int64", "float32", "complex64")])
def factors_of_every_kind(torch, log, name, kind):
    x, y = (torch.tensor(values, dtype=getattr(torch, kind))
            for values in ([[1, 0], [2, 3]], [[1, 1], [4, 2]]))
    for number in (True, 2, 1.5, 2.0, 1j, 2 + 0j):
        log.refuses(lambda number=number: FACTORS[name](torch, x, y, number))


@behaviour_of_each([(str(p), p) for p in (None, 2, -2, 1, -1, float("inf"), -float("inf"), "fro",
                                          "nuc", 3, 0.5, "other")])
def condition_numbers_and_norms_of_every_order(torch, log, name, p):
    x = torch.tensor([[4.0, 1.0], [2.0, 3.0]], dtype=torch.float64)
    for function in (torch.linalg.cond, torch.linalg.norm):
        for given in (x, torch.stack([x, x.mT + 1]), x[0]):
            log.refuses(lambda f=function, given=given: f(given, p))
    for shape in ((0, 0), (0, 3), (2, 0, 0)):
        log.refuses(lambda shape=shape: torch.linalg.cond(torch.zeros(shape), p))


@behaviour_of_each([("0", 0), ("last", -1), ("both", (0, 1)), ("turned", (1, 0)), ("list", [1])])
def older_norms(torch, log, name, dim):
    for keepdim in (False, True):
        differentiate(torch, log, lambda torch, x, keepdim=keepdim: torch.frobenius_norm(
            x, dim, keepdim), matrix(torch))


@behaviour
def nuclear_norms_of_matrices(torch, log):
    stack = torch.stack([matrix(torch), other_matrix(torch)])
    for dim in ((1, 2), (0, 2), (-1, 0)):
        for keepdim in (False, True):
            differentiate(torch, log, lambda torch, x, dim=dim, keepdim=keepdim:
                          torch.nuclear_norm(x, dim, keepdim), stack)
    differentiate(torch, log, lambda torch, x: torch.nuclear_norm(x), matrix(torch))
    log.raises(lambda: torch.nuclear_norm(matrix(torch), (1,)))


@behaviour_of_each(["nearest", "bilinear", "area"])
def older_names_of_interpolate(torch, log, mode):
    x = torch.arange(16.0).reshape(1, 1, 4, 4).requires_grad_()
    upsample = torch.nn.functional.upsample
    log(upsample(x, (2, 6), mode=mode), upsample(x, scale_factor=2, mode=mode))
    if mode == "bilinear":
        log(upsample(x, 6, mode=mode, align_corners=True))


FLAGS = list(itertools.product((None, False, True), repeat=2))


@behaviour_of_each(["l1_loss", "mse_loss", "smooth_l1_loss", "soft_margin_loss", "kl_div",
                    "poisson_nll_loss", "binary_cross_entropy", "hinge_embedding_loss",
                    "binary_cross_entropy_with_logits", "multilabel_margin_loss",
                    "multilabel_soft_margin_loss", "nll_loss", "cross_entropy",
                    "multi_margin_loss"])
def older_flags_of_losses(torch, log, name):
    x, y = unit(torch).sigmoid(), other_matrix(torch).sigmoid().round()
    if name in ("nll_loss", "cross_entropy", "multi_margin_loss"):
        y = torch.tensor([2, 0])
    elif name == "multilabel_margin_loss":
        y = torch.tensor([[1, -1, 0], [0, 2, -1]])
    loss = getattr(torch.nn.functional, name)
    for size_average, reduce in FLAGS:
        for reduction in ("mean", "sum"):
            log.values(loss(x, y, size_average=size_average, reduce=reduce, reduction=reduction))
    log.values(loss(x, y, reduce=False), loss(x, y, size_average=False))


@behaviour_of_each(["cosine_embedding_loss", "margin_ranking_loss", "triplet_margin_loss"])
def older_flags_of_losses_of_pairs(torch, log, name):
    x, y = matrix(torch), other_matrix(torch)
    third = x + 1 if name == "triplet_margin_loss" else torch.tensor([1.0, -1.0]).double()
    if name == "margin_ranking_loss":
        x, y = x[:, 0], y[:, 0]
    for size_average, reduce in FLAGS:
        log.values(getattr(torch.nn.functional, name)(x, y, third, size_average=size_average,
                                                      reduce=reduce))


@behaviour_of_each(["mse_loss", "l1_loss", "huber_loss"])
def losses_with_weights(torch, log, name):
    loss = getattr(torch.nn.functional, name)
    for reduction in ("mean", "sum", "none"):
        differentiate(torch, log, lambda torch, x, y, w, reduction=reduction: loss(
            x, y, reduction=reduction, weight=w), matrix(torch), other_matrix(torch),
            positive(torch))
    log.raises(lambda: loss(matrix(torch), other_matrix(torch), weight=torch.ones(3)))


@behaviour
def zero_dim_tensors_are_their_own_transposes(torch, log):
    x, z = torch.tensor(2.0, requires_grad=True), torch.tensor(2.0 + 1j)
    log(x.T, x.mT, x.H, x.mH, z.T, z.H, z.mH)


@behaviour
def types_by_name(torch, log):
    x = torch.tensor([1.5, 2.5])
    for kind in ("torch.DoubleTensor", "torch.LongTensor", torch.float16, torch.DoubleTensor,
                 torch.IntTensor, "torch.Tensor", torch.Tensor):
        log(x.double().type(kind))
    for kind in ("torch.NoTensor", int, 3):
        log.raises(lambda kind=kind: x.type(kind))
    log(x.type(), x.view(dtype=torch.int32), x.view(size=(2, 1)))
    log.refuses(lambda: x.cuda())
    log.refuses(lambda: x.cuda("nowhere"))


@behaviour
def arguments_in_a_tensor(torch, log):
    x, y = matrix(torch), other_matrix(torch)
    log.values(torch.tensordot(x, y, torch.tensor(2)),
               torch.tensordot(x, y, torch.tensor([[0, 1], [0, 1]])))
    log(torch.ones(2, 3, dtype=torch.int32).sum_to_size(()), torch.ones(2, 3).sum_to_size(()),
        torch.ones(2, 3, dtype=torch.int32).sum_to_size(3))
    log.raises(lambda: x.__pow__(2, 3))
    log.raises(lambda: pow(x, 2, 3))


@behaviour
def conditions_of_bytes(torch, log):
    mask = torch.tensor([1, 0, 2], dtype=torch.uint8)
    log(torch.where(mask, torch.ones(3), torch.zeros(3)))


@behaviour_of_each([1, -1, "inf", "-inf", "fro", "nuc"])
def conditions_of_singular_matrices(torch, log, p):
    p = float(p) if p in ("inf", "-inf") else p
    regular = torch.tensor([[2.0, 1.0], [1.0, 3.0]], dtype=torch.float64)
    log.values(torch.linalg.cond(torch.stack([regular, regular - regular[0]]), p),
               torch.linalg.cond(regular - regular[0], p),
               torch.linalg.cond(torch.zeros(0, 2, 2), p))
    log.refuses(lambda: torch.linalg.cond(torch.zeros(0, 2, 3), p).shape)


@behaviour
def norms_in_another_dtype(torch, log):
    x = matrix(torch, "float32")
    for order in ("fro", "nuc", 2, 1):
        log.values(torch.linalg.matrix_norm(x, order, dtype=torch.float64))


@behaviour
def pairs_and_components_by_default(torch, log):
    x = torch.arange(40.0, dtype=torch.float64).reshape(8, 5).sin()
    for rows in (x, x[:3]):
        U, S, V = torch.pca_lowrank(rows)
        log.values(S, (U * S) @ V.T)
    square = (x.T @ x).requires_grad_()
    for largest in (True, False):
        values, _ = torch.lobpcg(square, k=1, largest=largest)
        log.values(values)
    factors = torch.lu((x[:5] + 2 * torch.eye(5)).detach())
    log.values(*torch.lu_unpack(*factors, unpack_data=False),
               *torch.lu_unpack(*factors, unpack_pivots=False))


@behaviour
def a_grid_of_one_point(torch, log):
    theta = torch.tensor([[[1.0, 0.5, 0.0], [0.0, 1.0, 0.25]]])
    log.values(torch.nn.functional.affine_grid(theta, [1, 1, 1, 2], align_corners=True),
               torch.nn.functional.affine_grid(theta, [1, 1, 1, 2], align_corners=False))


@behaviour
def frames_narrower_than_their_transform(torch, log):
    x = torch.arange(20.0, dtype=torch.float64).sin()
    for window in (None, torch.hann_window(4, dtype=torch.float64)):
        log.values(torch.view_as_real(torch.stft(x, 8, 3, 4, window, return_complex=True)),
                   torch.view_as_real(torch.stft(x, 8, win_length=5, return_complex=True)))


@behaviour
def halves_beside_single_precision(torch, log):
    for dtype in (torch.float16, torch.bfloat16):
        x = torch.tensor([[1.0, 2.0, 4.0], [0.5, -1.0, 3.0]]).to(dtype)
        weight, bias = torch.tensor([1.5, 0.5, 2.0]), torch.tensor([0.25, 0.0, 1.0])
        log.values(torch.nn.functional.layer_norm(x, (3,), weight, bias))
        y = x.softmax(1)
        log.values(torch._softmax_backward_data(x, y, 1, dtype))


@behaviour
def einsum_over_several_batch_dims(torch, log):
    x = torch.arange(24.0, dtype=torch.float64).reshape(2, 2, 3, 2) / 5
    y = torch.arange(32.0, dtype=torch.float64).reshape(2, 2, 2, 4).sin()
    for equation, a, b in (("abij,abjk->abik", x, y), ("abij,bajk->abik", x, y),
                           ("baij,abjk->kiab", x, y)):
        differentiate(torch, log, lambda torch, a, b, equation=equation: torch.einsum(
            equation, a, b), a, b)


@behaviour_of_each([("", {}), ("with padding", {"padding_idx": 1})])
def embeddings_differentiated_twice(torch, log, name, options):
    table = torch.arange(8.0, dtype=torch.float64).reshape(4, 2).sin().requires_grad_()
    rows = torch.tensor([[1, 3, 1], [0, 1, 2]])
    found = torch.nn.functional.embedding(rows, table, **options)
    (grad,) = torch.autograd.grad((found ** 3).sum(), table, create_graph=True)
    log.values(grad)
    (grad * torch.arange(8.0, dtype=torch.float64).reshape(4, 2).cos()).sum().backward()
    log.values(table.grad)


@behaviour_of_each([
    ("sum", {"mode": "sum"}), ("mean", {}), ("padding", {"padding_idx": 1}),
    ("weights", {"mode": "sum", "weights": True}),
    ("weights and padding", {"mode": "sum", "weights": True, "padding_idx": 3})])
def bags_with_sparse_gradients(torch, log, name, options):
    table = torch.arange(8.0, dtype=torch.float64).reshape(4, 2).sin().requires_grad_()
    rows = torch.tensor([1, 3, 1, 0, 2])
    options = dict(options)
    if options.pop("weights", False):
        options["per_sample_weights"] = torch.arange(5.0, dtype=torch.float64) + 1
    for sparse in (False, True):
        table.grad = None
        found = torch.nn.functional.embedding_bag(rows, table, torch.tensor([0, 2, 2]),
                                                  sparse=sparse, **options)
        (found ** 2).sum().backward()
        log.values(found, table.grad.to_dense())


@behaviour
def bags_with_arguments_in_their_former_order(torch, log):
    table, rows = torch.arange(8.0).reshape(4, 2), torch.tensor([[1, 3], [0, 0]])
    log.warns(torch.nn.functional.embedding_bag, table, rows)


@behaviour_of_each([(f"{name}{' biased' if biased else ''}", name, biased)
                    for name in ("same widths", "other widths") for biased in (False, True)])
def heads_with_weights_of_their_own(torch, log, label, name, biased):
    def filled(*shape):
        count = 1
        for n in shape:
            count *= n
        return torch.arange(float(count), dtype=torch.float64).reshape(shape).sin()

    k, v = (4, 4) if name == "same widths" else (3, 5)
    query, key, value = filled(3, 2, 4), filled(5, 2, k), filled(5, 2, v) * 2
    found, weights = torch.nn.functional.multi_head_attention_forward(
        query, key, value, 4, 2, None, filled(12) if biased else None, None, None, False, 0.0,
        filled(4, 4) / 3, None, use_separate_proj_weight=True, q_proj_weight=filled(4, 4),
        k_proj_weight=filled(4, k).cos(), v_proj_weight=filled(4, v))
    log.values(found, weights)
    log.raises(lambda: torch.nn.functional.multi_head_attention_forward(
        query, key, value[:2], 4, 2, None, None, None, None, False, 0.0, filled(4, 4), None,
        use_separate_proj_weight=True, q_proj_weight=filled(4, 4), k_proj_weight=filled(4, k),
        v_proj_weight=filled(4, v)))


@behaviour
def convolutions_of_nothing(torch, log):
    for shape, kernels in (((0, 2, 5, 5), (3, 2, 2, 2)), ((2, 2, 5, 5), (0, 2, 2, 2)),
                           ((0, 2, 5), (3, 2, 2)), ((2, 0, 5, 5), (0, 0, 2, 2))):
        name = "conv1d" if len(shape) == 3 else "conv2d"
        log.raises(lambda s=shape, k=kernels, n=name: differentiate(
            torch, log, lambda torch, x, w: getattr(torch.nn.functional, n)(x, w),
            torch.ones(s, dtype=torch.float64), torch.ones(k, dtype=torch.float64)))


@behaviour
def draws_at_the_edge(torch, log):
    nan = float("nan")
    log(torch.binomial(torch.tensor([5.0, 0.0, 5.0]), torch.tensor([0.0, 0.5, 1.0])))
    log.raises(lambda: torch.binomial(torch.tensor([5.0]), torch.tensor([nan])))
    log.raises(lambda: torch._standard_gamma(torch.tensor([0.0, 0.0])))
    log.raises(lambda: torch.poisson(torch.tensor([0.0, -1.0])))
    log(torch.poisson(torch.tensor([0.0, 0.0])))
    log.raises(lambda: torch.nn.functional.dropout(torch.ones(6, dtype=torch.complex64), 0.5))


@behaviour_of_each([5, 5000])
def choices_between_numbers_and_tensors(torch, log, count):
    mask = torch.arange(count) % 3 == 0
    many, whole = torch.arange(float(count)), torch.arange(count)
    zero, wide = torch.tensor(2.5), torch.tensor(1.5, dtype=torch.float64)
    kinds = (many, many.double(), whole, zero, wide, torch.tensor(7), 3, -0.0, True)
    for one, other in itertools.product(kinds, repeat=2):
        found = torch.where(mask, one, other)
        log(found.dtype, found[:4].tolist(), found.double().sum().item())


@behaviour_of_each([-2, -1, 0, 1, 2])
def rounding_to_decimals(torch, log, decimals):
    for dtype in (torch.float64, torch.float32):
        x = torch.tensor([123.456, -0.55, 2.5, 3.45, -99.95], dtype=dtype)
        y = x.clone()
        log(y.round_(decimals=decimals) is y, y, y._version)
        log(x.round(decimals=decimals), torch.round(x, decimals=decimals, out=torch.empty_like(x)))


@behaviour_of_each([(-2, -1), (-2, -2), (-1, 2), (1, 1), (3, 3), (4, 0)])
def sides_that_are_cut_off_or_come_round(torch, log, before, after):
    x = torch.arange(6.0, dtype=torch.float64).reshape(1, 2, 3)
    for mode in ("circular", "replicate", "reflect", "constant"):
        log.refuses(lambda mode=mode: torch.nn.functional.pad(x, (before, after), mode))


@behaviour_of_each((f"{reduction} {rank}", reduction, shape, targets)
                   for reduction in ("mean", "sum", "none")
                   for rank, (shape, targets) in enumerate((
                       ((3,), 0), ((2, 3), [0, 1]), ((2, 3, 2), [[0, 1], [1, 0]])), 1))
def only_targets_to_be_ignored_count_nothing(torch, log, name, reduction, shape, targets):
    targets = torch.tensor(targets)
    for weight, ignored, value, gradient in itertools.product(
            (None, [0.0, 0.0, 0.0], [0.0, 1.0, 2.0]), (-100, 0, 1), (-1.0, -math.inf),
            (1.0, math.inf)):
        for loss in (torch.nn.functional.nll_loss, torch.nn.functional.cross_entropy):
            x = torch.full(shape, value, requires_grad=True)
            y = loss(x, targets, None if weight is None else torch.tensor(weight),
                     ignore_index=ignored, reduction=reduction)
            y.backward(torch.full(tuple(y.shape), gradient))
            log.values(y, x.grad)
