"""Hooks on tensors, nodes and saved values, and the rest of ``autograd.graph``."""

from __future__ import annotations

from parity.harness import behaviour, behaviour_of_each
from shared import leaf, square

# Tensor.register_hook


@behaviour
def tensor_hook_sees_the_gradient(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x * 3
    y.register_hook(lambda g: log(g))
    x.register_hook(lambda g: log(g))
    (y * torch.tensor([1.0, 10.0])).sum().backward()
    log(x.grad)


@behaviour
def tensor_hook_replaces_the_gradient(torch, log):
    x = leaf(torch, 1.0, 2.0)
    x.register_hook(lambda g: g * 100)
    (x * 2).sum().backward()
    log(x.grad)
    y = x * 2
    y.register_hook(lambda g: g + 1)
    y.sum().backward()
    log(x.grad)


@behaviour
def tensor_hooks_run_in_order_of_registration(torch, log):
    x = leaf(torch, 1.0)
    x.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: None)
    x.sum().backward()
    log(x.grad)


@behaviour
def tensor_hook_can_be_removed(torch, log):
    x = leaf(torch, 1.0)
    first = x.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g + 1)
    first.remove()
    first.remove()
    x.sum().backward()
    log(x.grad)


@behaviour
def tensor_hook_handle_is_a_context_manager(torch, log):
    x = leaf(torch, 1.0)
    with x.register_hook(lambda g: g * 10):
        x.sum().backward()
    x.sum().backward()
    log(x.grad)


@behaviour
def tensor_hook_of_an_accumulating_leaf_runs_once_per_backward(torch, log):
    x = leaf(torch, 1.0)
    calls = []
    x.register_hook(lambda g: calls.append(g.tolist()))
    (x * 2 + x * 3).sum().backward()
    (x * 4).sum().backward()
    log(calls, x.grad)


@behaviour
def tensor_hook_on_a_shared_intermediate_sees_the_sum(torch, log):
    x = leaf(torch, 1.0)
    y = x * 2
    calls = []
    y.register_hook(lambda g: calls.append(g.tolist()))
    (y * 3 + y.exp() * 0).sum().backward()
    log(calls)


@behaviour
def tensor_hook_runs_for_autograd_grad(torch, log):
    x = leaf(torch, 1.0)
    y = x * 2
    x.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: g + 1)
    log(torch.autograd.grad(y.sum(), x), torch.autograd.grad((x * 2).sum(), [x]))


@behaviour
def tensor_hook_and_captured_intermediate(torch, log):
    x = leaf(torch, 1.0)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    z = y * 3
    log(torch.autograd.grad(z.sum(), y))


@behaviour
def tensor_hook_errors(torch, log):
    log.raises(torch.zeros(2).register_hook, lambda g: g)
    x = leaf(torch, 1.0)
    x.register_hook(3)
    log.raises(x.sum().backward)


@behaviour
def tensor_hook_that_raises(torch, log):
    x = leaf(torch, 1.0)

    def fail(grad):
        raise KeyError("hook")

    x.register_hook(fail)
    log.raises(x.sum().backward)
    log(x.grad)


@behaviour
def tensor_hook_returning_a_wrong_shape(torch, log):
    x = leaf(torch, 1.0, 2.0)
    x.register_hook(lambda g: torch.ones(3))
    log.raises(x.sum().backward)
    log(x.grad)


@behaviour
def tensor_hook_returning_a_wrong_type(torch, log):
    for wrong in ("text", 1.0, [1.0], (1.0,)):
        x = leaf(torch, 1.0)
        x.register_hook(lambda g, wrong=wrong: wrong)
        log.raises(x.sum().backward)


@behaviour
def tensor_hook_returning_another_dtype(torch, log):
    x = leaf(torch, 1.0, 2.0)
    x.register_hook(lambda g: g.double())
    log.raises(x.sum().backward)
    log(x.grad)
    y = leaf(torch, 1.0, 2.0)
    z = y * 2
    z.register_hook(lambda g: g.double())
    log.raises(z.sum().backward)
    log(y.grad)


@behaviour
def tensor_hook_that_writes_in_place(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x * 2
    y.register_hook(lambda g: g.mul_(5) if g.numel() > 5 else g * 5)
    y.sum().backward()
    log(x.grad)


@behaviour
def tensor_hook_with_create_graph_sees_a_graph(torch, log):
    x = leaf(torch, 2.0)
    y = x**2
    seen = []
    y.register_hook(lambda g: seen.append((g.requires_grad, torch.is_grad_enabled())))
    torch.autograd.grad((y**2).sum(), x, create_graph=True)
    torch.autograd.grad((y**2).sum(), x)
    log(seen)


@behaviour
def tensor_hook_is_part_of_double_backward(torch, log):
    x = leaf(torch, 2.0)
    y = x * 1
    y.register_hook(lambda g: g * g)
    (g,) = torch.autograd.grad((y**2).sum(), x, create_graph=True)
    log(g.detach(), torch.autograd.grad(g.sum(), x))


@behaviour
def tensor_hook_before_and_after_in_place(torch, log):
    x = leaf(torch, 1.0)
    y = x * 2
    order = []
    y.register_hook(lambda g: order.append(("first", g.item())))
    y.mul_(5)
    y.register_hook(lambda g: order.append(("second", g.item())))
    y.sum().backward()
    log(order)


@behaviour
def retain_grad_runs_after_hooks(torch, log):
    x = leaf(torch, 1.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    y.sum().backward()
    log(y.grad, x.grad)


@behaviour
def hooks_added_during_backward(torch, log):
    x = leaf(torch, 1.0)
    y = x * 2
    y.register_hook(lambda g: x.register_hook(lambda h: h * 10) and None)
    y.sum().backward()
    log(x.grad)


@behaviour
def backward_inside_a_hook(torch, log):
    x, w = leaf(torch, 2.0), leaf(torch, 3.0)
    y = x * 2
    inner = w**2
    y.register_hook(lambda g: inner.backward())
    y.sum().backward()
    log(x.grad, w.grad)


# register_post_accumulate_grad_hook


@behaviour
def post_accumulate_hook_sees_the_accumulated_gradient(torch, log):
    x = leaf(torch, 1.0, 2.0)
    seen = []
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    log(seen)


@behaviour
def post_accumulate_hook_can_clear_the_gradient(torch, log):
    x = leaf(torch, 1.0, 2.0)

    def step(p):
        with torch.no_grad():
            p.sub_(p.grad, alpha=0.1)
        p.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * 2).sum().backward()
    log(x, x.grad)


@behaviour
def post_accumulate_hook_order_and_removal(torch, log):
    x = leaf(torch, 1.0)
    order = []
    x.register_hook(lambda g: order.append("tensor"))
    handle = x.register_post_accumulate_grad_hook(lambda p: order.append("post 1"))
    x.register_post_accumulate_grad_hook(lambda p: order.append("post 2"))
    x.sum().backward()
    handle.remove()
    x.sum().backward()
    log(order)


@behaviour
def post_accumulate_hook_errors(torch, log):
    x = leaf(torch, 1.0)
    log.raises((x * 2).register_post_accumulate_grad_hook, lambda p: None)
    log.raises(torch.zeros(1).register_post_accumulate_grad_hook, lambda p: None)
    x.register_post_accumulate_grad_hook(lambda p: 5)
    log.raises(x.sum().backward)


@behaviour
def post_accumulate_hook_does_not_run_for_grad(torch, log):
    x = leaf(torch, 1.0)
    seen = []
    x.register_post_accumulate_grad_hook(lambda p: seen.append(1))
    torch.autograd.grad((x * 2).sum(), x)
    log(seen)


# Node hooks


@behaviour
def node_hook_sees_inputs_and_outputs(torch, log):
    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    z = x * y
    z.grad_fn.register_hook(lambda grad_inputs, grad_outputs: log(grad_inputs, grad_outputs))
    z.backward()


@behaviour
def node_hook_replaces_gradients(torch, log):
    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    z = x * y
    z.grad_fn.register_hook(lambda gi, go: (gi[0] * 10, gi[1]))
    z.backward()
    log(x.grad, y.grad)


@behaviour
def node_prehook_replaces_the_incoming_gradient(torch, log):
    x = leaf(torch, 2.0)
    z = x * 3
    z.grad_fn.register_prehook(lambda go: (go[0] * 10,))
    z.backward()
    log(x.grad)


@behaviour
def node_hooks_and_tensor_hooks_in_order(torch, log):
    x = leaf(torch, 2.0)
    z = x * 3
    order = []
    z.grad_fn.register_hook(lambda gi, go: order.append("node post"))
    z.grad_fn.register_prehook(lambda go: order.append("node pre"))
    z.register_hook(lambda g: order.append("tensor"))
    z.retain_grad()
    accumulate = z.grad_fn.next_functions[0][0]
    accumulate.register_hook(lambda gi, go: order.append("accumulate post"))
    accumulate.register_prehook(lambda go: order.append("accumulate pre"))
    x.register_hook(lambda g: order.append("leaf"))
    x.register_post_accumulate_grad_hook(lambda p: order.append("leaf post"))
    z.backward()
    log(order)


@behaviour
def node_hooks_can_be_removed(torch, log):
    x = leaf(torch, 2.0)
    z = x * 3
    pre = z.grad_fn.register_prehook(lambda go: (go[0] * 10,))
    post = z.grad_fn.register_hook(lambda gi, go: tuple(g * 10 if g is not None else g for g in gi))
    pre.remove()
    post.remove()
    z.backward()
    log(x.grad)


@behaviour
def node_hooks_returning_wrong_things(torch, log):
    for wrong in ((), (1, 2, 3), "text", 5):
        x = leaf(torch, 2.0)
        z = x.exp()
        z.grad_fn.register_hook(lambda gi, go, wrong=wrong: wrong)
        log.raises(z.backward)
    for wrong in ((), (1, 2, 3), 5):
        x = leaf(torch, 2.0)
        z = x.exp()
        z.grad_fn.register_prehook(lambda go, wrong=wrong: wrong)
        log.raises(z.backward)


@behaviour
def node_hooks_see_none_for_inputs_without_gradient(torch, log):
    x = leaf(torch, 2.0)
    z = x * torch.tensor([3.0])
    z.grad_fn.register_hook(lambda gi, go: log(gi, go))
    z.backward()


@behaviour
def node_hooks_of_multi_output_nodes(torch, log):
    x = leaf(torch, 1.0, 2.0, 3.0)
    a, _, c = x.unbind()
    a.grad_fn.register_prehook(lambda go: log(go))
    (a * 2 + c).backward()
    log(x.grad)


@behaviour
def root_node_hooks_run_too(torch, log):
    x = leaf(torch, 2.0)
    y = x.sum()
    y.register_hook(lambda g: g * 5)
    y.backward()
    log(x.grad)


# Saved-tensor hooks


@behaviour
def saved_tensor_hooks_pack_and_unpack(torch, log):
    order = []

    def pack(t):
        order.append(("pack", t.tolist()))
        return t.tolist()

    def unpack(values):
        order.append(("unpack", values))
        return torch.tensor(values)

    x = leaf(torch, 2.0)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x.exp() * x
    log(order)
    y.backward()
    log(order, x.grad)


@behaviour
def saved_tensor_hooks_nest_and_the_inner_one_wins(torch, log):
    order = []

    def hooks(name):
        return torch.autograd.graph.saved_tensors_hooks(
            lambda t: order.append(name) or t, lambda t: t
        )

    x = leaf(torch, 2.0)
    with hooks("outer"):
        first = x**2
        with hooks("inner"):
            second = x**2
        third = x**2
    log(order, (first + second + third + x**2).detach())


@behaviour
def saved_tensor_hooks_can_change_the_value(torch, log):
    x = leaf(torch, 2.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 10, lambda t: t):
        y = x**2
    y.backward()
    log(x.grad)


@behaviour
def saved_tensor_hooks_pack_is_given_what_would_be_saved(torch, log):
    x = leaf(torch, 2.0)
    seen = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append(t) or t, lambda t: t):
        y = x.exp()
    log(seen[0].tolist(), seen[0].requires_grad, seen[0].is_leaf, seen[0].grad_fn, seen[0] is y)


@behaviour
def saved_tensor_hooks_errors(torch, log):
    x = leaf(torch, 2.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: 5):
        y = x**2
    log.raises(y.backward)

    def fail(t):
        raise ValueError("no packing")

    with torch.autograd.graph.saved_tensors_hooks(fail, lambda t: t):
        log.raises(lambda: x**2)
    log(torch.is_grad_enabled())


@behaviour
def saved_tensor_hooks_that_write_to_the_input(torch, log):
    x = leaf(torch, 2.0)

    def pack(t):
        t.add_(1)
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        log.raises(lambda: (x * 1).exp())


@behaviour
def saved_tensor_hooks_apply_to_functions(torch, log):
    order = []
    x = leaf(torch, 3.0)
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: order.append("pack") or t, lambda t: order.append("unpack") or t
    ):
        y = square(torch).apply(x)
    y.backward()
    log(order, x.grad)


@behaviour
def saved_tensor_hooks_unpack_in_double_backward(torch, log):
    x = leaf(torch, 2.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x**3
        (g,) = torch.autograd.grad(y, x, create_graph=True)
    log(g.detach(), torch.autograd.grad(g, x))


@behaviour
def raw_saved_tensors_take_hooks(torch, log):
    x = leaf(torch, 2.0)
    y = x**2
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t * 10, lambda t: t)
    y.backward()
    log(x.grad)
    z = x**2
    z.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
    log.raises(z.grad_fn._raw_saved_self.register_hooks, lambda t: t, lambda t: t)
    w = x**2
    log.raises(w.grad_fn._raw_saved_self.register_hooks, lambda: 1, lambda t: t)
    log.raises((x * 2).grad_fn.__getattribute__, "_raw_saved_nothing")


@behaviour
def save_on_cpu(torch, log):
    x = leaf(torch, 2.0, 3.0)
    with torch.autograd.graph.save_on_cpu():
        y = (x.exp() * x).sum()
    y.backward()
    log(x.grad)
    with torch.autograd.graph.save_on_cpu(pin_memory=False):
        y = (x**3).sum()
    y.backward()
    log(x.grad)


@behaviour
def disable_saved_tensors_hooks(torch, log):
    x = leaf(torch, 2.0)
    identity = (lambda t: t, lambda t: t)
    with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
        log(x**2)
        log.raises(torch.autograd.graph.saved_tensors_hooks(*identity).__enter__)
    with torch.autograd.graph.saved_tensors_hooks(*identity):
        log.raises(torch.autograd.graph.disable_saved_tensors_hooks("not now").__enter__)
    log(x**2)


@behaviour
def disable_saved_tensors_hooks_nested(torch, log):
    outer = torch.autograd.graph.disable_saved_tensors_hooks
    with outer("outer"):
        with outer("inner"):
            log.raises(torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__)
        log.raises(torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        log(leaf(torch, 2.0) ** 2)


# Multi-grad hooks


@behaviour
def multi_grad_hook_of_all(torch, log):
    x, y, z = leaf(torch, 1.0), leaf(torch, 2.0), leaf(torch, 3.0)
    seen = []
    torch.autograd.graph.register_multi_grad_hook((x, y, z), lambda grads: seen.append(grads))
    (x * y).sum().backward()
    log(seen)


@behaviour
def multi_grad_hook_of_all_runs_each_backward(torch, log):
    x, y = leaf(torch, 1.0), leaf(torch, 2.0)
    seen = []
    handle = torch.autograd.graph.register_multi_grad_hook(
        (x, y), lambda grads: seen.append([None if g is None else g.tolist() for g in grads])
    )
    (x * y).sum().backward()
    (x * 3).sum().backward()
    handle.remove()
    (x * y).sum().backward()
    log(seen)


@behaviour
def multi_grad_hook_of_any(torch, log):
    x, y = leaf(torch, 1.0), leaf(torch, 2.0)
    seen = []
    handle = torch.autograd.graph.register_multi_grad_hook(
        (x, y), lambda grad: seen.append(grad.tolist()), mode="any"
    )
    (x * y).sum().backward()
    (y * 5).sum().backward()
    log(len(seen))
    handle.remove()
    (x * y).sum().backward()
    log(len(seen))


@behaviour
def multi_grad_hook_on_intermediates(torch, log):
    x = leaf(torch, 1.0, 2.0)
    a, b = x * 2, x * 3
    seen = []
    torch.autograd.graph.register_multi_grad_hook((a, b), lambda grads: seen.append(grads))
    (a * b).sum().backward()
    log(seen)


@behaviour
def multi_grad_hook_errors(torch, log):
    x = leaf(torch, 1.0)
    log.raises(torch.autograd.graph.register_multi_grad_hook, (x,), lambda g: g, mode="some")
    log.raises(torch.autograd.graph.register_multi_grad_hook, (torch.zeros(1),), lambda g: g)


# Gradient edges


@behaviour
def gradient_edges_stand_in_for_tensors(torch, log):
    x = leaf(torch, 2.0)
    y = x**2
    z = y * 3
    edge = torch.autograd.graph.get_gradient_edge(y)
    log(edge.node, edge.output_nr)
    log(torch.autograd.grad(z, edge, retain_graph=True))
    x_edge = torch.autograd.graph.get_gradient_edge(x)
    log(x_edge.node, torch.autograd.grad(z, [x_edge, edge], retain_graph=True))
    log(torch.autograd.grad(torch.autograd.graph.get_gradient_edge(z), x))


@behaviour
def gradient_edge_as_the_root_of_backward(torch, log):
    x = leaf(torch, 2.0)
    y = (x**2).sum()
    torch.autograd.backward(torch.autograd.graph.get_gradient_edge(y))
    log(x.grad)
    z = x**2
    torch.autograd.backward(torch.autograd.graph.get_gradient_edge(z), torch.tensor([3.0]))
    log(x.grad)


@behaviour
def gradient_edge_as_inputs_of_backward(torch, log):
    x, w = leaf(torch, 2.0), leaf(torch, 3.0)
    y = x * w
    torch.autograd.backward(y, inputs=[torch.autograd.graph.get_gradient_edge(x)])
    log(x.grad, w.grad)


@behaviour
def gradient_edge_errors(torch, log):
    log.raises(torch.autograd.graph.get_gradient_edge, torch.zeros(1))
    x = leaf(torch, 2.0)
    edge = torch.autograd.graph.get_gradient_edge(x * 2)
    log.raises(torch.autograd.grad, x * 3, edge)
    log(torch.autograd.grad(x * 3, edge, allow_unused=True))


@behaviour
def gradient_edge_from_a_node(torch, log):
    x = leaf(torch, 2.0, 3.0)
    a, b = x.unbind()
    edge = torch.autograd.graph.GradientEdge(b.grad_fn, 1)
    log(torch.autograd.grad(a * b, edge, retain_graph=True))
    log(torch.autograd.graph.get_gradient_edge(b).output_nr)


# Mutation of saved tensors


@behaviour
def allow_mutation_on_saved_tensors(torch, log):
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        x = leaf(torch, 1.0, 2.0)
        y = x.clone()
        z = y.sin()
        y.sin_()
        (z.sum() + y.sum()).backward()
    log(x.grad)


@behaviour
def allow_mutation_on_saved_tensors_twice(torch, log):
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        x = leaf(torch, 1.0, 2.0)
        y = x * 1
        a = y.exp() * y
        y.mul_(2)
        b = y**2
        y.add_(1)
        (a + b + y).sum().backward()
    log(x.grad)


@behaviour
def backward_outside_allow_mutation_is_refused(torch, log):
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        x = leaf(torch, 1.0)
        y = x * 1
        z = y**2
        y.add_(1)
    log.raises(z.sum().backward)


# The order in which the engine runs


@behaviour
def later_nodes_run_first(torch, log):
    x = leaf(torch, 1.0)
    order = []
    a = x * 1
    b = x * 2
    c = x * 3
    for name, t in (("a", a), ("b", b), ("c", c)):
        t.register_hook(lambda g, name=name: order.append(name))
    (a + b + c).sum().backward(retain_graph=True)
    (c + a + b).sum().backward()
    log(order)


@behaviour
def nodes_wait_for_all_their_consumers(torch, log):
    x = leaf(torch, 1.0)
    order = []
    a = x * 1
    b = a * 2
    c = b * 3
    d = a + c
    for name, t in (("a", a), ("b", b), ("c", c), ("d", d)):
        t.register_hook(lambda g, name=name: order.append((name, g.item())))
    d.backward()
    log(order)


@behaviour
def leaves_accumulate_as_soon_as_they_can(torch, log):
    order = []
    x, w = leaf(torch, 1.0), leaf(torch, 2.0)
    x.register_post_accumulate_grad_hook(lambda p: order.append("x"))
    w.register_post_accumulate_grad_hook(lambda p: order.append("w"))
    y = x * 1
    y.register_hook(lambda g: order.append("y"))
    (y * w).backward()
    log(order)


@behaviour
def queue_callback_runs_at_the_end(torch, log):
    order = []
    x = leaf(torch, 1.0)

    def hook(grad):
        order.append("hook")
        torch.autograd.Variable._execution_engine.queue_callback(lambda: order.append("end"))

    y = x * 2
    y.register_hook(hook)
    x.register_hook(lambda g: order.append("leaf"))
    y.backward()
    log(order)


@behaviour
def hooks_of_leaves_run_when_their_gradient_is_whole(torch, log):
    """Also after a tensor that is no leaf had a hook, elsewhere."""
    (leaf(torch, 1.0) * 2).register_hook(lambda g: None)
    a, b = leaf(torch, 2.0), leaf(torch, 3.0)
    for name, x in (("a", a), ("b", b)):
        x.register_hook(lambda g, name=name: log(name, g))
    ((a * 2 + 1) * b * a).sum().backward()
    log(a.grad, b.grad)


@behaviour_of_each(["none", "hook", "prehook", "posthook", "several", "retained"])
def the_node_at_which_a_pass_ends_is_not_run(torch, log, watched):
    """What it saved may be overwritten or gone, and its own rule fail."""
    for spoil in ("nothing", "written", "freed"):
        x = torch.tensor([0.5, 1.0], requires_grad=True)
        inner = x * 1
        a = inner.sin()
        if spoil == "written":
            inner.add_(1)
        elif spoil == "freed":
            a.sum().backward()
        if watched == "hook":
            a.register_hook(lambda g: log("hook", g))
        elif watched == "prehook":
            a.grad_fn.register_prehook(lambda g: log("prehook", g))
        elif watched == "posthook":
            a.grad_fn.register_hook(lambda *g: log("posthook", g))
        elif watched == "several":
            torch.autograd.graph.register_multi_grad_hook([a, x], lambda g: log(g))
        elif watched == "retained":
            a.retain_grad()
        y = (a * 3).sum()
        log.values(*torch.autograd.grad(y, a, retain_graph=True))
        log.values(*torch.autograd.grad(y, a, create_graph=True))
