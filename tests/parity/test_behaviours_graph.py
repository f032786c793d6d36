"""The recorded graph, ``backward`` and ``grad``."""

from __future__ import annotations

import gc
import weakref

from parity.harness import behaviour, behaviour_of_each, graph_of
from shared import leaf

# requires_grad and leaves


@behaviour
def requires_grad_spreads_from_any_input(torch, log):
    x, c = leaf(torch, 1.0, 2.0), torch.tensor([3.0, 4.0])
    log(x + c, c + c, c * x, (c * 2) + x.detach())


@behaviour
def requires_grad_is_off_for_integer_and_bool_results(torch, log):
    x = leaf(torch, 1.0, 2.0)
    log(x > 1, x.argmax(), x.long(), x == x, x.sort().indices, torch.sign(x).requires_grad)


@behaviour
def requires_grad_setter_and_method(torch, log):
    x = torch.zeros(2)
    x.requires_grad = True
    log(x)
    log(x.requires_grad_(False) is x, x)
    log(x.requires_grad_(), x.requires_grad_(True))
    log.raises(setattr, torch.zeros(2, dtype=torch.int64), "requires_grad", True)
    log.raises(torch.zeros(2, dtype=torch.bool).requires_grad_)
    log.raises(setattr, x, "requires_grad", "yes")


@behaviour
def requires_grad_of_a_non_leaf_cannot_be_switched_off(torch, log):
    y = leaf(torch, 1.0) * 2
    log.raises(setattr, y, "requires_grad", False)
    log.raises(y.requires_grad_, False)
    log.raises(setattr, y, "requires_grad", True)
    log(y.requires_grad_(True))


@behaviour
def switching_requires_grad_on_later_starts_a_new_leaf(torch, log):
    x = torch.tensor([1.0, 2.0])
    y = x * 2
    y.requires_grad_()
    (y * y).sum().backward()
    log(y.grad, x.grad, y)


@behaviour
def leaves_and_non_leaves(torch, log):
    x = leaf(torch, 1.0)
    plain = torch.tensor([1.0])
    for t in (x, plain, x * 2, plain * 2, x.detach(), x.data, x.clone(), (x * 2).detach()):
        log(t.is_leaf, t.requires_grad, t.grad_fn is None)


@behaviour
def grad_of_leaves_starts_as_none(torch, log):
    log(leaf(torch, 1.0).grad, torch.tensor([1.0]).grad)


@behaviour
def grad_of_a_non_leaf_warns(torch, log):
    y = leaf(torch, 1.0) * 2
    log.warns(lambda: y.grad)
    y.retain_grad()
    log.warns(lambda: y.grad)
    y.sum().backward()
    log(y.grad)


@behaviour
def grad_can_be_assigned_and_deleted(torch, log):
    x = leaf(torch, 1.0, 2.0)
    x.grad = torch.tensor([5.0, 6.0])
    (x * 2).sum().backward()
    log(x.grad)
    x.grad = None
    log(x.grad)
    x.grad = torch.ones(2)
    del x.grad
    log(x.grad)


@behaviour
def grad_must_fit_its_tensor(torch, log):
    x = leaf(torch, 1.0, 2.0)
    log.raises(setattr, x, "grad", torch.ones(3))
    log.raises(setattr, x, "grad", torch.ones(2, dtype=torch.float64))
    log.raises(setattr, x, "grad", 1.0)
    log.raises(setattr, x, "grad", x)
    log.raises(setattr, x, "grad", [1.0, 2.0])
    log(x.grad)
    plain = torch.zeros(2)
    plain.grad = torch.ones(2)
    log(plain.grad)


@behaviour
def retain_grad_on_intermediates(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x * 3
    log(y.retains_grad, x.retains_grad)
    y.retain_grad()
    y.retain_grad()
    (y * y).sum().backward()
    log(y.grad, x.grad, y.retains_grad)
    log.raises(torch.zeros(2).retain_grad)
    x.retain_grad()
    log(x.retains_grad)


@behaviour
def retain_grad_accumulates_over_backwards(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x * 3
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    log(y.grad, x.grad)


@behaviour
def retain_grad_on_the_root(torch, log):
    x = leaf(torch, 2.0)
    y = (x * 3).sum()
    y.retain_grad()
    y.backward()
    log(y.grad)


@behaviour
def detach_cuts_and_shares(torch, log):
    x = leaf(torch, 1.0, 2.0)
    d = (x * 2).detach()
    log(d, d.requires_grad_() is d)
    (d * 3).sum().backward()
    log(d.grad, x.grad)


@behaviour
def detach_in_place_makes_a_leaf(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x * 2
    log(y.detach_() is y, y)
    log.raises(y.sum().backward)
    log(x.detach_())
    view = (leaf(torch, 1.0, 2.0) * 2)[0]
    log.raises(view.detach_)


@behaviour
def output_numbers(torch, log):
    x = leaf(torch, 1.0, 2.0, 3.0)
    a, b, c = x.unbind()
    log(a.output_nr, b.output_nr, c.output_nr, x.output_nr, (x * 2).output_nr)
    values, indices = x.sort()
    log(values.output_nr, indices.output_nr)


# Nodes


@behaviour
def node_names_and_next_functions(torch, log):
    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    z = x**2 + y * 3
    log(z.grad_fn.next_functions, z.grad_fn.next_functions[0][0].next_functions)
    log(
        z.grad_fn.name(), type(z.grad_fn).__name__, isinstance(z.grad_fn, torch.autograd.graph.Node)
    )
    log.graph(z)


NAMED = {
    "add": lambda torch, x, y: x + y,
    "add scalar": lambda torch, x, y: x + 1,
    "radd": lambda torch, x, y: 1 + x,
    "sub": lambda torch, x, y: x - y,
    "sub scalar": lambda torch, x, y: x - 1,
    "rsub": lambda torch, x, y: 1 - x,
    "mul": lambda torch, x, y: x * y,
    "mul scalar": lambda torch, x, y: x * 2,
    "div": lambda torch, x, y: x / y,
    "div scalar": lambda torch, x, y: x / 2,
    "rdiv": lambda torch, x, y: 2 / x,
    "pow scalar": lambda torch, x, y: x**2,
    "pow tensor": lambda torch, x, y: x**y,
    "rpow": lambda torch, x, y: 2**x,
    "mod": lambda torch, x, y: x % y,
    "neg": lambda torch, x, y: -x,
    "abs": lambda torch, x, y: abs(x),
    "matmul": lambda torch, x, y: x @ y,
    "matmul vector": lambda torch, x, y: x @ y[0],
    "dot": lambda torch, x, y: x[0] @ y[0],
    "sum": lambda torch, x, y: x.sum(),
    "sum dim": lambda torch, x, y: x.sum(0),
    "mean": lambda torch, x, y: x.mean(),
    "mean dim": lambda torch, x, y: x.mean(1),
    "prod": lambda torch, x, y: x.prod(),
    "prod dim": lambda torch, x, y: x.prod(0),
    "var": lambda torch, x, y: x.var(),
    "std": lambda torch, x, y: x.std(),
    "max": lambda torch, x, y: x.max(),
    "max dim": lambda torch, x, y: x.max(0).values,
    "min dim": lambda torch, x, y: x.min(0).values,
    "amax": lambda torch, x, y: x.amax(0),
    "maximum": lambda torch, x, y: torch.maximum(x, y),
    "minimum": lambda torch, x, y: torch.minimum(x, y),
    "exp": lambda torch, x, y: x.exp(),
    "log": lambda torch, x, y: x.log(),
    "sqrt": lambda torch, x, y: x.sqrt(),
    "sin": lambda torch, x, y: x.sin(),
    "tanh": lambda torch, x, y: x.tanh(),
    "sigmoid": lambda torch, x, y: x.sigmoid(),
    "relu": lambda torch, x, y: x.relu(),
    "gelu": lambda torch, x, y: torch.nn.functional.gelu(x),
    "softmax": lambda torch, x, y: x.softmax(0),
    "log_softmax": lambda torch, x, y: x.log_softmax(0),
    "logsumexp": lambda torch, x, y: x.logsumexp(0),
    "norm": lambda torch, x, y: x.norm(),
    "clamp": lambda torch, x, y: x.clamp(0, 1),
    "clamp_min": lambda torch, x, y: x.clamp(min=0),
    "where": lambda torch, x, y: torch.where(x > 1, x, y),
    "cat": lambda torch, x, y: torch.cat([x, y]),
    "stack": lambda torch, x, y: torch.stack([x, y]),
    "view": lambda torch, x, y: x.view(4),
    "reshape": lambda torch, x, y: x.reshape(4),
    "reshape of transpose": lambda torch, x, y: x.t().reshape(4),
    "transpose": lambda torch, x, y: x.transpose(0, 1),
    "t": lambda torch, x, y: x.t(),
    "T": lambda torch, x, y: x.T,
    "permute": lambda torch, x, y: x.permute(1, 0),
    "expand": lambda torch, x, y: x[:1].expand(3, 2),
    "squeeze": lambda torch, x, y: x[:1].squeeze(0),
    "squeeze all": lambda torch, x, y: x[:1].squeeze(),
    "unsqueeze": lambda torch, x, y: x.unsqueeze(0),
    "select": lambda torch, x, y: x[0],
    "slice": lambda torch, x, y: x[:1],
    "index": lambda torch, x, y: x[[0, 1]],
    "mask": lambda torch, x, y: x[x > 1],
    "gather": lambda torch, x, y: x.gather(0, torch.tensor([[0, 1]])),
    "index_select": lambda torch, x, y: x.index_select(0, torch.tensor([0])),
    "masked_fill": lambda torch, x, y: x.masked_fill(x > 1, 0.0),
    "cumsum": lambda torch, x, y: x.cumsum(0),
    "clone": lambda torch, x, y: x.clone(),
    "contiguous": lambda torch, x, y: x.t().contiguous(),
    "to": lambda torch, x, y: x.double(),
    "diagonal": lambda torch, x, y: x.diagonal(),
    "unbind": lambda torch, x, y: x.unbind()[0],
    "split": lambda torch, x, y: x.split(1)[0],
    "split sizes": lambda torch, x, y: x.split([1, 1])[0],
    "chunk": lambda torch, x, y: x.chunk(2)[0],
    "sort": lambda torch, x, y: x.sort().values,
    "topk": lambda torch, x, y: x.topk(1).values,
    "repeat": lambda torch, x, y: x.repeat(2, 1),
    "flip": lambda torch, x, y: x.flip(0),
    "roll": lambda torch, x, y: x.roll(1, 0),
    "linear": lambda torch, x, y: torch.nn.functional.linear(x, y, x[0]),
    "linear without bias": lambda torch, x, y: torch.nn.functional.linear(x, y),
    "addmm": lambda torch, x, y: torch.addmm(x, x, y),
    "addcmul": lambda torch, x, y: torch.addcmul(x, x, y),
    "mse_loss": lambda torch, x, y: torch.nn.functional.mse_loss(x, y),
    "nll_loss": lambda torch, x, y: torch.nn.functional.nll_loss(x, torch.tensor([0, 1])),
    "cross_entropy": lambda torch, x, y: torch.nn.functional.cross_entropy(x, torch.tensor([0, 1])),
    "layer_norm": lambda torch, x, y: torch.nn.functional.layer_norm(x, (2,)),
    "embedding": lambda torch, x, y: torch.nn.functional.embedding(torch.tensor([1]), x),
    "lerp": lambda torch, x, y: torch.lerp(x, y, 0.5),
    "outer": lambda torch, x, y: torch.outer(x[0], y[0]),
    "tril": lambda torch, x, y: x.tril(),
    "sign": lambda torch, x, y: x.sign(),
    "floor": lambda torch, x, y: x.floor(),
    "round": lambda torch, x, y: x.round(),
    "atan2": lambda torch, x, y: torch.atan2(x, y),
    "dropout": lambda torch, x, y: torch.nn.functional.dropout(x, 0.5),
    "bce": lambda torch, x, y: torch.nn.functional.binary_cross_entropy(x.sigmoid(), y.sigmoid()),
    "bce logits": lambda torch, x, y: torch.nn.functional.binary_cross_entropy_with_logits(x, y),
    "iadd": lambda torch, x, y: x.clone().add_(y),
    "imul": lambda torch, x, y: x.clone().mul_(y),
    "fill": lambda torch, x, y: x.clone().fill_(1.0),
    "zero": lambda torch, x, y: x.clone().zero_(),
    "copy": lambda torch, x, y: x.clone().copy_(y),
}


@behaviour_of_each(NAMED.items())
def graph_of_an_operation(torch, log, name, make):
    x = torch.tensor([[1.0, 2.0], [3.0, 0.5]], requires_grad=True)
    y = torch.tensor([[0.5, 1.5], [2.5, 1.0]], requires_grad=True)
    result = make(torch, x, y)
    log.graph(result)
    log(result.is_leaf, result.requires_grad, result.output_nr)


# How each product is made, and of how many nodes in either library.
FUSED = [
    ("batched matmul", lambda torch, x, y: x[None] @ y[None], 8, 3),
    ("einsum", lambda torch, x, y: torch.einsum("ij,jk->ik", x, y), 12, 5),
    ("linear of a batch", lambda torch, x, y: torch.nn.functional.linear(x[None], y, x[0]), 6, 3),
]


@behaviour_of_each(FUSED)
def graphs_of_products_are_shorter(torch, log, name, make, theirs, ours):
    x = torch.tensor([[1.0, 2.0], [3.0, 0.5]], requires_grad=True)
    y = torch.tensor([[0.5, 1.5], [2.5, 1.0]], requires_grad=True)
    result = make(torch, x, y)
    log(result.is_leaf, result.requires_grad, result.output_nr, result.grad_fn.name(), result)
    nodes = str(graph_of(result.grad_fn)).count("Backward")
    log.differs(nodes, torch=theirs, retrograd=ours)
    log(torch.autograd.grad(result.sum(), [x, y]))


SAVED = ["add", "sub", "mul", "div", "pow scalar", "exp", "sin", "tanh", "sigmoid"]
SAVED += ["relu", "sum", "sum dim", "mean", "view", "transpose", "select", "slice", "cat", "matmul"]
SAVED += ["max dim", "softmax", "clamp", "where", "expand", "unsqueeze", "log", "sqrt"]
SAVED += ["permute", "cumsum", "abs", "pow tensor", "maximum"]


@behaviour_of_each((name, NAMED[name]) for name in SAVED)
def saved_attributes_of_an_operation(torch, log, name, make):
    x = torch.tensor([[1.0, 2.0], [3.0, 0.5]], requires_grad=True)
    y = torch.tensor([[0.5, 1.5], [2.5, 1.0]], requires_grad=True)
    log.saved(make(torch, x, y))


@behaviour
def saved_numbers_have_the_dtype_they_were_used_in(torch, log):
    saved = (torch.ones(2, requires_grad=True) * 2).grad_fn._saved_other
    log(saved.shape, float(saved))
    log.differs(str(saved.dtype), torch="torch.int64", retrograd="torch.float32")


@behaviour
def saved_indices_are_one_tensor(torch, log):
    node = torch.ones(2, 2, requires_grad=True)[[0, 1]].grad_fn
    saved = node._saved_indices
    log(node.name(), (saved if hasattr(saved, "shape") else saved[0]).tolist())
    log.differs(hasattr(saved, "shape"), torch=False, retrograd=True)


@behaviour
def saved_attributes_after_backward_are_gone(torch, log):
    x = leaf(torch, 2.0)
    y = x.exp()
    node = y.grad_fn
    log(node._saved_result)
    y.backward()
    log.raises(lambda: node._saved_result)
    log.raises(lambda: node._raw_saved_result.register_hooks(lambda v: v, lambda v: v))


@behaviour
def saved_inputs_are_the_same_objects_or_equal(torch, log):
    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    z = x * y
    log(
        z.grad_fn._saved_self is x,
        z.grad_fn._saved_other,
        z.grad_fn._saved_self.data_ptr() == x.data_ptr(),
    )


@behaviour
def saved_output_knows_its_node(torch, log):
    y = leaf(torch, 2.0).exp()
    saved = y.grad_fn._saved_result
    log(saved, saved.grad_fn is y.grad_fn)


@behaviour
def multiplication_by_a_constant_saves_only_the_constant(torch, log):
    x = leaf(torch, 2.0)
    log(
        (x * torch.tensor([3.0])).grad_fn._saved_other,
        (x * torch.tensor([3.0])).grad_fn._saved_self,
    )


@behaviour
def accumulate_grad_node_holds_the_variable(torch, log):
    x = leaf(torch, 2.0)
    node = (x * 2).grad_fn.next_functions[0][0]
    log(node.name(), node.variable is x, node.next_functions)
    log((x * 3).grad_fn.next_functions[0][0] is node)


@behaviour
def next_functions_of_inputs_that_need_no_gradient_are_none(torch, log):
    x = leaf(torch, 2.0)
    log((x * torch.tensor([1.0])).grad_fn.next_functions, (x + 1).grad_fn.next_functions)
    log(torch.cat([x, torch.ones(1)]).grad_fn.next_functions)


@behaviour
def node_metadata_is_a_dictionary(torch, log):
    node = (leaf(torch, 2.0) * 2).grad_fn
    log(node.metadata)
    node.metadata["key"] = 1
    log(node.metadata)


@behaviour
def nodes_can_be_called(torch, log):
    x = leaf(torch, 2.0, 3.0)
    node = (x**2).grad_fn
    log(node(torch.ones(2)))
    node = (x * x.detach()).grad_fn
    log(node(torch.ones(2)))


@behaviour
def nodes_are_compared_by_identity(torch, log):
    x = leaf(torch, 2.0)
    y = x * 2
    log(y.grad_fn is y.grad_fn, y.grad_fn == y.grad_fn, len({y.grad_fn, y.grad_fn}))


# backward


@behaviour
def backward_of_a_scalar(torch, log):
    x = torch.tensor(3.0, requires_grad=True)
    log((x**2).backward(), x.grad)


@behaviour
def backward_accumulates(torch, log):
    x = leaf(torch, 1.0, 2.0)
    for _ in range(3):
        (x * x).sum().backward()
        log(x.grad)


@behaviour
def backward_of_one_element_with_dims_is_allowed(torch, log):
    x = torch.tensor([[3.0]], requires_grad=True)
    (x**2).backward()
    log(x.grad)


@behaviour
def backward_of_a_vector_needs_a_gradient(torch, log):
    x = leaf(torch, 1.0, 2.0)
    log.raises((x * 2).backward)
    (x * 2).backward(torch.tensor([1.0, 10.0]))
    log(x.grad)
    (x * 2).backward(gradient=torch.tensor([1.0, 10.0]))
    log(x.grad)


@behaviour
def backward_of_a_leaf(torch, log):
    x = torch.tensor(3.0, requires_grad=True)
    x.backward()
    log(x.grad)
    x.backward(torch.tensor(5.0))
    log(x.grad)


@behaviour
def backward_without_a_graph_is_refused(torch, log):
    log.raises(torch.tensor(2.0).backward)
    log.raises((torch.tensor(2.0) ** 2).backward)
    log.raises(torch.tensor(2).backward)
    x = leaf(torch, 1.0)
    log.raises(x.detach().backward)
    with torch.no_grad():
        y = x * 2
    log.raises(y.backward)


@behaviour
def backward_refuses_gradients_of_the_wrong_shape_or_type(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x * 2
    log.raises(y.backward, torch.ones(3))
    log.raises(y.backward, torch.ones(2, 1))
    log.raises(y.backward, torch.tensor(1.0))
    log.raises(y.backward, 1.0)
    log.raises(y.backward, [1.0, 1.0])
    log.raises(y.backward, torch.ones(2, dtype=torch.complex64))
    log(x.grad)
    y.backward(torch.ones(2, dtype=torch.float64))
    log(x.grad)


@behaviour
def backward_with_an_integer_gradient(torch, log):
    x = leaf(torch, 1.0, 2.0)
    log.raises((x * 2).backward, torch.tensor([1, 1]))
    log(x.grad)


@behaviour_of_each([("refused", lambda x: x**2), ("works_if_nothing_was_saved", lambda x: x + 1)])
def second_backward(torch, log, name, program):
    x = leaf(torch, 2.0)
    y = program(x)
    y.backward()
    log.raises(y.backward)
    log(x.grad)


@behaviour
def second_backward_through_a_shared_part_is_refused(torch, log):
    x = leaf(torch, 2.0)
    shared = x.exp()
    (shared * 2).backward()
    log.raises((shared * 3).backward)
    log(x.grad)


@behaviour
def retain_graph_allows_more_backwards(torch, log):
    x = leaf(torch, 2.0)
    y = x**3
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    y.backward()
    log(x.grad)
    log.raises(y.backward)


@behaviour
def create_graph_in_backward_warns_and_keeps_the_graph(torch, log):
    x = leaf(torch, 2.0)
    y = x**3
    y.backward(create_graph=True)
    log(x.grad)
    g = x.grad
    x.grad = None
    g.backward()
    log(x.grad)


@behaviour
def create_graph_false_still_frees(torch, log):
    x = leaf(torch, 2.0)
    y = x**3
    torch.autograd.grad(y, x, create_graph=True)
    torch.autograd.grad(y, x)
    log.raises(torch.autograd.grad, y, x)


@behaviour
def backward_with_inputs_accumulates_only_there(torch, log):
    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    (x * y).backward(inputs=[x])
    log(x.grad, y.grad)
    (x * y).backward(inputs=x)
    log(x.grad, y.grad)
    (x * y).backward(inputs=(x, y))
    log(x.grad, y.grad)


@behaviour
def backward_with_non_leaf_inputs(torch, log):
    x = leaf(torch, 2.0)
    y = x * 3
    y.retain_grad()
    (y**2).backward(inputs=[y])
    log(y.grad, x.grad)
    z = x * 3
    log.raises((z**2).backward, inputs=[z])


@behaviour
def backward_with_bad_inputs(torch, log):
    x = leaf(torch, 2.0)
    y = x * 3
    log.raises(y.backward, inputs=[])
    log.raises(y.backward, inputs=[torch.zeros(1)])
    log.raises(y.backward, inputs=[3])
    log(x.grad)


@behaviour
def autograd_backward_of_several_roots(torch, log):
    x, y = leaf(torch, 2.0), leaf(torch, 3.0, 4.0)
    torch.autograd.backward([x**2, y * x], [None, torch.ones(2)])
    log(x.grad, y.grad)
    torch.autograd.backward((x.sum(), y.sum()))
    log(x.grad, y.grad)


@behaviour
def autograd_backward_of_the_same_root_twice(torch, log):
    x = leaf(torch, 2.0)
    y = x**2
    torch.autograd.backward([y, y])
    log(x.grad)


@behaviour
def autograd_backward_of_nested_roots(torch, log):
    x = leaf(torch, 2.0)
    y = x**2
    z = y**2
    torch.autograd.backward([z, y])
    log(x.grad)


@behaviour
def autograd_backward_argument_errors(torch, log):
    x = leaf(torch, 2.0)
    y = x * 2
    log.raises(torch.autograd.backward, [y, y], [torch.ones(1)])
    log.raises(torch.autograd.backward, [])
    log.raises(torch.autograd.backward, y, grad_variables=torch.ones(1), grad_tensors=torch.ones(1))
    log.raises(torch.autograd.backward, [x * torch.ones(2)], [None])
    log.refuses(torch.autograd.backward, [3])
    log(x.grad)


@behaviour
def diamonds_add_up(torch, log):
    x = leaf(torch, 2.0)
    a = x * 3
    b, c = a.exp(), a.sin()
    d = b * c + a
    d.backward()
    log(x.grad)


@behaviour
def the_same_tensor_several_times_in_one_operation(torch, log):
    x = leaf(torch, 2.0)
    (x * x * x + torch.cat([x, x, x]).sum() + torch.where(x > 0, x, x)).backward()
    log(x.grad)


@behaviour
def unused_branches_are_not_visited(torch, log):
    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    used, unused = x * 2, y * x
    used.backward()
    log(x.grad, y.grad, unused)


@behaviour
def multiplying_by_zero_still_gives_a_gradient(torch, log):
    x = leaf(torch, 2.0)
    (x * 0).backward()
    log(x.grad)


@behaviour
def a_long_chain(torch, log):
    x = leaf(torch, 1.0)
    y = x
    for i in range(2000):
        y = y * 1.0001 if i % 2 else y + 0.001
    y.backward()
    log(x.grad, y)


@behaviour
def a_wide_graph(torch, log):
    x = leaf(torch, 1.0, 2.0)
    sum((x * i for i in range(200)), torch.zeros(2)).sum().backward()
    log(x.grad)


@behaviour
def broadcasting_sums_the_gradient_back(torch, log):
    for shapes in (
        ((3,), (2, 3)),
        ((2, 1), (1, 3)),
        ((), (2, 2)),
        ((1,), (4,)),
        ((2, 1, 3), (4, 1)),
    ):
        a, b = (torch.ones(s).requires_grad_() for s in shapes)
        (a * b * torch.arange(float((a * b).numel())).view((a * b).shape)).sum().backward()
        log(a.grad, b.grad)


@behaviour
def mixed_dtypes_cast_the_gradient_back(torch, log):
    a = torch.ones(2, dtype=torch.float32, requires_grad=True)
    b = torch.ones(2, dtype=torch.float64, requires_grad=True)
    c = torch.ones(2, dtype=torch.float16, requires_grad=True)
    (a * b * c).sum().backward()
    log(a.grad, b.grad, c.grad)


@behaviour
def real_and_complex_mixed(torch, log):
    a = torch.ones(2, requires_grad=True)
    z = torch.tensor([1 + 1j, 2 - 1j], requires_grad=True)
    (a * z).abs().sum().backward()
    log(a.grad, z.grad)


# Gradients as objects


@behaviour
def first_gradient_is_a_copy(torch, log):
    x = leaf(torch, 1.0, 2.0)
    g = torch.ones(2)
    y = x.view(2)
    y.backward(g)
    log(x.grad, x.grad is g)
    log.differs(x.grad.data_ptr() == g.data_ptr(), torch=True, retrograd=False)


@behaviour
def gradients_of_two_leaves_do_not_share_memory(torch, log):
    x, y = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)
    (x + y).sum().backward()
    x.grad.add_(100)
    log(x.grad, y.grad)


@behaviour
def accumulation_is_in_place(torch, log):
    x = leaf(torch, 1.0, 2.0)
    (x * 2).sum().backward()
    g = x.grad
    (x * 2).sum().backward()
    log(x.grad is g, g, g._version)


@behaviour
def accumulation_with_create_graph_is_out_of_place(torch, log):
    x = leaf(torch, 1.0, 2.0)
    (x * x).sum().backward(create_graph=True)
    g = x.grad
    (x * x).sum().backward(create_graph=True)
    log(x.grad is g, g, x.grad)
    x.grad = None


@behaviour
def gradient_layout_follows_the_leaf(torch, log):
    base = torch.arange(6.0).reshape(2, 3)
    x = base.T.detach().requires_grad_()
    (x * torch.arange(6.0).reshape(3, 2)).sum().backward()
    log.layout(x, x.grad)
    y = torch.zeros(2, 3, requires_grad=True)
    y.T.contiguous().sum().backward()
    log.layout(y.grad)
    z = torch.zeros(2, 3, requires_grad=True)
    (z.T * torch.arange(6.0).reshape(3, 2)).sum().backward()
    log.layout(z.grad)


@behaviour
def gradient_of_sum_is_materialised(torch, log):
    x = torch.zeros(2, 3, requires_grad=True)
    x.sum().backward()
    log.layout(x.grad)
    x.grad[0, 0] = 5
    log(x.grad)


@behaviour
def zeroing_gradients(torch, log):
    x = leaf(torch, 1.0, 2.0)
    (x * 2).sum().backward()
    g = x.grad
    x.grad.zero_()
    log(x.grad, g is x.grad, g._version)
    (x * 3).sum().backward()
    log(x.grad, g)


@behaviour
def gradients_do_not_require_grad_unless_asked(torch, log):
    x = leaf(torch, 2.0)
    (x**3).backward()
    log(x.grad)
    log(torch.autograd.grad(x**3, x), torch.autograd.grad(x**3, x, create_graph=True))


# grad


@behaviour
def grad_returns_a_tuple_and_leaves_grad_alone(torch, log):
    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    log(torch.autograd.grad(x * y, [x, y]), torch.autograd.grad(x * y, x))
    log(torch.autograd.grad((x * y, x**2), (x, y)), x.grad, y.grad)


@behaviour
def grad_of_intermediates(torch, log):
    x = leaf(torch, 2.0)
    y = x**2
    z = y**2
    log(
        torch.autograd.grad(z, [x, y], retain_graph=True),
        torch.autograd.grad(z, y, retain_graph=True),
    )
    log(torch.autograd.grad(z, z))


@behaviour
def grad_with_grad_outputs(torch, log):
    x = leaf(torch, 2.0, 3.0)
    log(torch.autograd.grad(x**2, x, torch.tensor([1.0, 10.0])))
    log(torch.autograd.grad([x**2, (x**3).sum()], x, [torch.tensor([1.0, 0.0]), None]))
    log(torch.autograd.grad([x.sum(), x.prod()], x, grad_outputs=[None, torch.tensor(2.0)]))


@behaviour
def grad_argument_errors(torch, log):
    x, y = leaf(torch, 2.0, 3.0), leaf(torch, 1.0)
    z = x * 2
    log.raises(torch.autograd.grad, z, x)
    log.raises(torch.autograd.grad, z.sum(), y)
    log.raises(torch.autograd.grad, z.sum(), torch.ones(2))
    log.raises(torch.autograd.grad, z, x, torch.ones(3))
    log.raises(torch.autograd.grad, [z, z], x, [torch.ones(2)])
    log.raises(torch.autograd.grad, torch.ones(()), x)
    log.raises(torch.autograd.grad, z.sum(), [])
    log.raises(torch.autograd.grad, [], x)
    log.raises(torch.autograd.grad, z.sum(), [3])
    log.raises(torch.autograd.grad, z.sum(), x, allow_unused=False, materialize_grads=True)


@behaviour
def grad_of_unused_inputs(torch, log):
    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    log(torch.autograd.grad(x * 2, [x, y], allow_unused=True))
    log(torch.autograd.grad(x * 2, [x, y], materialize_grads=True))
    log.raises(torch.autograd.grad, x * 2, [x, y])
    log(torch.autograd.grad(x * 2, [x, y], allow_unused=True, create_graph=True))


@behaviour
def grad_of_the_output_itself(torch, log):
    x = leaf(torch, 2.0)
    log(torch.autograd.grad(x, x), torch.autograd.grad(x, x, torch.tensor([5.0])))


@behaviour
def grad_of_the_same_input_twice(torch, log):
    x = leaf(torch, 2.0)
    log(torch.autograd.grad(x**2, [x, x]))


@behaviour
def grad_through_a_view_of_the_input_is_unused(torch, log):
    x = leaf(torch, 2.0, 3.0)
    y = x * 2
    z = y.view(2)
    log.raises(torch.autograd.grad, y.sum(), z)
    log(torch.autograd.grad(z.sum(), y))


@behaviour
def grad_frees_the_graph_like_backward(torch, log):
    x = leaf(torch, 2.0)
    y = x**2
    torch.autograd.grad(y, x)
    log.raises(torch.autograd.grad, y, x)
    log.raises(y.backward)


@behaviour
def grad_only_runs_what_is_needed(torch, log):
    seen = []
    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    a, b = x * 1, y * 1
    a.register_hook(lambda g: seen.append("a"))
    b.register_hook(lambda g: seen.append("b"))
    torch.autograd.grad((a * b).sum(), x)
    log(seen)


# Higher orders


@behaviour
def derivatives_to_the_third_order(torch, log):
    x = leaf(torch, 2.0, 3.0)
    value = (x**5).sum()
    for _ in range(3):
        (g,) = torch.autograd.grad(value, x, create_graph=True)
        log(g)
        value = g.sum()


SMOOTH = {
    "exp": lambda torch, x: x.exp(),
    "log": lambda torch, x: x.log(),
    "sin": lambda torch, x: x.sin(),
    "tanh": lambda torch, x: x.tanh(),
    "sigmoid": lambda torch, x: x.sigmoid(),
    "sqrt": lambda torch, x: x.sqrt(),
    "div": lambda torch, x: 1 / (x + x.flip(0)),
    "pow": lambda torch, x: x**x,
    "softmax": lambda torch, x: x.softmax(0) * torch.arange(3.0),
    "log_softmax": lambda torch, x: x.log_softmax(0) * torch.arange(3.0),
    "logsumexp": lambda torch, x: x.logsumexp(0),
    "prod": lambda torch, x: x.prod(),
    "norm": lambda torch, x: x.norm(),
    "var": lambda torch, x: x.var(),
    "std": lambda torch, x: x.std(),
    "matmul": lambda torch, x: x @ torch.outer(x, x) @ x,
    "cumsum": lambda torch, x: x.cumsum(0) ** 3,
    "atan2": lambda torch, x: torch.atan2(x, x.flip(0) + 1),
    "gelu": lambda torch, x: torch.nn.functional.gelu(x),
    "softplus": lambda torch, x: torch.nn.functional.softplus(x),
    "layer_norm": lambda torch, x: torch.nn.functional.layer_norm(x, (3,)) * torch.arange(3.0),
    "max": lambda torch, x: x.max() ** 3,
    "index": lambda torch, x: x[[0, 0, 1]] ** 3,
    "where": lambda torch, x: torch.where(x > 1, x**3, x**2),
    "clamp": lambda torch, x: x.clamp(0.7, 2.5) ** 3,
    "abs": lambda torch, x: (x - 1).abs() ** 3,
    "cat": lambda torch, x: torch.cat([x, x * 2]) ** 3,
    "expand": lambda torch, x: x.expand(2, 3) ** 3 * torch.arange(6.0).view(2, 3),
    "relu": lambda torch, x: (x - 1).relu() ** 3,
    "mse": lambda torch, x: torch.nn.functional.mse_loss(x**2, x.flip(0)),
}


@behaviour_of_each(SMOOTH.items())
def higher_derivatives_of(torch, log, name, function):
    x = torch.tensor([0.5, 1.5, 2.0], dtype=torch.float64, requires_grad=True)
    value = function(torch, x).sum()
    # PyTorch's third derivative of layer_norm is not that of the same formula written out.
    for order in range(2 if name == "layer_norm" else 3):
        if not value.requires_grad:
            log(f"constant at order {order}")
            break
        (g,) = torch.autograd.grad(value, x, create_graph=True, allow_unused=True)
        if g is None:
            log(f"unused at order {order}")
            break
        log(g.detach(), g.requires_grad)
        value = (g * torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)).sum()


@behaviour
def mixed_second_derivatives(torch, log):
    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    z = (x**2) * (y**3)
    gx, gy = torch.autograd.grad(z, [x, y], create_graph=True)
    log(torch.autograd.grad(gx, [x, y], retain_graph=True), torch.autograd.grad(gy, [x, y]))


@behaviour
def gradient_penalty_backward(torch, log):
    x = leaf(torch, 1.0, 2.0)
    w = leaf(torch, 0.5, -0.5)
    out = (w * x).tanh().sum()
    (g,) = torch.autograd.grad(out, x, create_graph=True)
    ((g.norm() - 1) ** 2).backward()
    log(w.grad, x.grad)


@behaviour
def graph_of_a_gradient(torch, log):
    x = leaf(torch, 2.0)
    (g,) = torch.autograd.grad(x**3, x, create_graph=True)
    log(g)
    (g,) = torch.autograd.grad((x * x).sum(), x, create_graph=True)
    log(g)
    (g,) = torch.autograd.grad(x.exp(), x, create_graph=True)
    log(g)


@behaviour
def graph_of_the_gradient_of_a_product_and_of_a_squashed_number(torch, log):
    x, w = leaf(torch, [1.0, 2.0]), leaf(torch, [0.5], [0.25])
    for squash in (torch.tanh, torch.sigmoid):
        for g in torch.autograd.grad(squash(x @ w).sum(), (x, w), create_graph=True):
            log(g, graph_of(g.grad_fn))
    g = torch.autograd.grad((x @ w).sum(), (x, w), torch.tensor(2.0, requires_grad=True),
                            create_graph=True)
    log(*g, *[graph_of(one.grad_fn) for one in g])
    for squash in (torch.tanh, torch.sigmoid):
        (g,) = torch.autograd.grad(squash(x).sum(), x, x.sum(), create_graph=True)
        log(g.grad_fn._saved_grad_output, g.grad_fn._saved_output)


@behaviour
def second_derivatives_of_a_squashed_complex_number(torch, log):
    for squash in (torch.tanh, torch.sigmoid):
        z = torch.tensor([0.3 + 0.4j, -1.0 + 0.5j], requires_grad=True)
        (g,) = torch.autograd.grad(squash(z), z, torch.tensor([1.0 - 2j, 0.5j]), create_graph=True)
        (h,) = torch.autograd.grad(g, z, torch.tensor([1.0 + 1j, 2.0 + 0j]), create_graph=True)
        log(g, h, torch.autograd.grad(h.abs().sum(), z)[0])


@behaviour
def gradients_summed_over_dimensions_are_no_copies(torch, log):
    for shape in ((3,), (2, 3), (5, 1, 3), (5, 1, 1)):
        x, b = torch.ones(5, 2, 3), torch.ones(shape, requires_grad=True)
        (x + b).sum().backward()
        log(b.grad, b.grad._version, b.grad.stride())
        (x * b).sum().backward()
        log(b.grad._version)


@behaviour
def inner_loop_of_meta_learning(torch, log):
    w = leaf(torch, 1.0, 2.0)
    fast = w
    for _ in range(2):
        (g,) = torch.autograd.grad((fast**2).sum(), fast, create_graph=True)
        fast = fast - 0.1 * g
    (fast**3).sum().backward()
    log(w.grad)


# Lifetime


@behaviour
def a_dropped_loss_frees_its_graph_without_the_collector(torch, log):
    x = leaf(torch, 2.0)
    gc.disable()
    try:
        y = x.exp()
        alive = weakref.ref(y)
        z = (y * 2).sin()
        del y
        log(alive() is None)
        del z
        log(alive() is None)
    finally:
        gc.enable()


@behaviour
def the_graph_keeps_leaves_alive(torch, log):
    x = leaf(torch, 2.0)
    ref = weakref.ref(x)
    y = x * 3
    del x
    log(ref() is not None, y.grad_fn.next_functions[0][0].variable)


@behaviour
def freeing_a_leaf_before_backward(torch, log):
    x = leaf(torch, 2.0)
    y = (x * 3).sum()
    del x
    y.backward()
    log(y.grad_fn.next_functions[0][0].next_functions[0][0].variable.grad)


@behaviour
def frozen_parameters_get_no_gradient(torch, log):
    w, b = leaf(torch, 2.0), leaf(torch, 3.0)
    b.requires_grad_(False)
    (w * 2 + b).backward()
    log(w.grad, b.grad)


@behaviour
def freezing_after_the_forward_pass(torch, log):
    w = leaf(torch, 2.0)
    y = w * 3
    w.requires_grad_(False)
    log.raises(y.backward)
    log(w.grad)


@behaviour
def data_swap_between_forward_and_backward(torch, log):
    w = leaf(torch, 2.0)
    y = w * w
    w.data = torch.tensor([10.0])
    y.backward()
    log(w.grad, w)


@behaviour
def a_factor_that_requires_gradients_later_counts_in_the_second_derivative(torch, log):
    x, c = torch.ones(2, requires_grad=True), torch.full((2,), 3.0)
    y = x * c
    c.requires_grad_()
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    log(g)
    g.sum().backward()
    log(x.grad, c.grad)


@behaviour
def edges_of_tensors(torch, log):
    x = torch.ones(3, requires_grad=True)
    first, second = (x * 2).split([1, 2])
    for y in (x, x * 2, first, second, (x * 2).max(0)[0]):
        edge = torch.autograd.graph.get_gradient_edge(y)
        log(type(edge.node).__name__, edge.output_nr)
    log.values(torch.autograd.grad(
        (second * 3).sum(), torch.autograd.graph.get_gradient_edge(second))[0])


@behaviour
def gradients_start_at_the_edge_of_a_leaf(torch, log):
    edge_of = torch.autograd.graph.get_gradient_edge
    x = torch.ones(2, requires_grad=True)
    torch.autograd.backward(edge_of(x), torch.tensor([1.0, 2.0]))
    log(x.grad)
    y = torch.tensor(3.0, requires_grad=True)
    log(torch.autograd.grad(edge_of(y), y, torch.tensor(2.0)))
    log.raises(lambda: torch.autograd.backward(edge_of(x), torch.ones(3)))
    log.raises(lambda: torch.autograd.backward(edge_of(x), torch.ones(2, dtype=torch.int64)))


@behaviour
def saved_tensors_written_to_inside_transforms(torch, log):
    def program(x):
        y = x * 1
        z = y.exp() * y
        y.mul_(3)
        z = z * y + y.sin()
        y[:1].add_(2)
        return z * y

    vmap, jvp = torch.func.vmap, torch.func.jvp
    x = torch.tensor([[0.1, 0.2], [0.3, 0.4]], dtype=torch.float64, requires_grad=True)
    for run in (vmap(program), lambda x: jvp(program, (x,), (x.detach(),))[1],
                vmap(lambda x: jvp(program, (x,), (x.detach(),))[1]),
                lambda x: jvp(vmap(program), (x,), (x.detach(),))[1]):
        with torch.autograd.graph.allow_mutation_on_saved_tensors():
            log(torch.autograd.grad(run(x).sum(), x))
