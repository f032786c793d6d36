"""``autograd.Function``: what forward and backward may do, and what is refused."""

from __future__ import annotations

from parity.harness import behaviour, behaviour_of_each
from shared import custom, leaf, saving, square

# The basics


@behaviour
def a_function_records_a_node_of_its_own_name(torch, log):
    x = leaf(torch, 3.0)
    y = square(torch).apply(x)
    log(y, y.grad_fn.next_functions, y.grad_fn.name(), type(y.grad_fn).__name__)
    log(y.grad_fn.saved_tensors, y.grad_fn.needs_input_grad, repr(y))
    y.backward()
    log(x.grad)


@behaviour
def a_function_without_gradient_records_nothing(torch, log):
    log(square(torch).apply(torch.tensor([3.0])))
    with torch.no_grad():
        log(square(torch).apply(leaf(torch, 3.0)))


@behaviour
def forward_runs_without_grad(torch, log):
    def forward(ctx, x):
        modes.append(torch.is_grad_enabled())
        y = x * 2
        modes.append(y.requires_grad)
        return y

    modes = []
    F = custom(torch, lambda ctx, g: g * 2, forward)
    log(F.apply(leaf(torch, 1.0)), modes)


@behaviour
def backward_runs_without_grad_unless_create_graph(torch, log):
    def backward(ctx, g):
        modes.append((torch.is_grad_enabled(), g.requires_grad))
        return g

    modes = []
    F = custom(torch, backward)
    x = leaf(torch, 1.0)
    F.apply(x).sum().backward()
    torch.autograd.grad((F.apply(x) ** 2).sum(), x, create_graph=True)
    log(modes)


@behaviour
def double_backward_through_a_function(torch, log):
    x = leaf(torch, 3.0)
    y = square(torch).apply(x) ** 2
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (h,) = torch.autograd.grad(g, x, create_graph=True)
    (k,) = torch.autograd.grad(h, x)
    log(g, h, k)


@behaviour
def several_inputs_and_outputs(torch, log):
    F = saving(torch, lambda x, y: (x * y, x + y), lambda g, h, x, y: (g * y + h, g * x + h))

    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    p, s = F.apply(x, y)
    log(p, s, p.output_nr, s.output_nr, p.grad_fn is s.grad_fn)
    (p * 2 + s).backward()
    log(x.grad, y.grad)


@behaviour
def unused_outputs_get_zeros(torch, log):
    def backward(ctx, g, h):
        log(g, h)
        return g + 2 * h

    F = custom(torch, backward, lambda ctx, x: (x * 1, x * 2))
    x = leaf(torch, 2.0, 3.0)
    a, _ = F.apply(x)
    a.sum().backward()
    log(x.grad)


@behaviour
def unused_outputs_get_none_without_materialisation(torch, log):
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 1, x * 2

    def backward(ctx, g, h):
        log(g, h)
        return g

    F = custom(torch, backward, forward)
    x = leaf(torch, 2.0, 3.0)
    a, _ = F.apply(x)
    a.sum().backward()
    log(x.grad)


@behaviour
def lists_and_other_outputs_are_passed_through(torch, log):
    def backward(ctx, g, *rest):
        log(rest)
        return g * 2

    F = custom(torch, backward, lambda ctx, x: (x * 2, "text", 5, None))
    x = leaf(torch, 2.0)
    y, text, number, nothing = F.apply(x)
    log(y, text, number, nothing)
    y.backward()
    log(x.grad)


@behaviour
def non_tensor_arguments(torch, log):
    def forward(ctx, x, factor, name="none"):
        ctx.factor = factor
        return x * factor

    def backward(ctx, g):
        log(ctx.needs_input_grad)
        return g * ctx.factor, None, None

    Scale = custom(torch, backward, forward)
    x = leaf(torch, 2.0)
    Scale.apply(x, 3, "given").backward()
    log(x.grad)
    log.raises(Scale.apply, x, factor=3)


@behaviour
def trailing_none_gradients_may_be_too_many(torch, log):
    F = custom(torch, lambda ctx, g: (g, None, None))
    x = leaf(torch, 2.0)
    F.apply(x).backward()
    log(x.grad)


@behaviour
def needs_input_grad_tells_which(torch, log):
    def forward(ctx, x, y, z):
        log(ctx.needs_input_grad)
        return x * y * z

    def backward(ctx, g):
        log(ctx.needs_input_grad)
        return g, g, g

    Mul = custom(torch, backward, forward)
    x, y = leaf(torch, 2.0), torch.tensor([3.0])
    Mul.apply(x, y, x).backward()
    log(x.grad, y.grad)


@behaviour
def gradients_for_inputs_that_need_none_are_ignored(torch, log):
    F = custom(torch, lambda ctx, g: (g, g), lambda ctx, x, y: x + y)
    x = leaf(torch, 2.0)
    F.apply(x, torch.tensor([1.0])).backward()
    log(x.grad)


@behaviour
def none_gradient_leaves_grad_none(torch, log):
    F = custom(torch, lambda ctx, g: None)
    x = leaf(torch, 2.0)
    F.apply(x).backward()
    log(x.grad)
    log(torch.autograd.grad(F.apply(x), x, allow_unused=True))


@behaviour
def none_gradient_among_others(torch, log):
    F = custom(torch, lambda ctx, g: None)
    x = leaf(torch, 2.0)
    (F.apply(x) + x * 3).backward()
    log(x.grad)
    y = x.exp()
    F.apply(y).backward()
    log(x.grad)


# setup_context


@behaviour
def setup_context_separates_the_saving(torch, log):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(x, power):
            return x**power

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, power = inputs
            log(inputs[1], output)
            ctx.save_for_backward(x)
            ctx.power = power

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return ctx.power * x ** (ctx.power - 1) * g, None

    x = leaf(torch, 3.0)
    y = Square.apply(x, 3)
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    log(y, g.detach(), torch.autograd.grad(g, x))


# Errors


@behaviour
def missing_forward_or_backward(torch, log):
    class Empty(torch.autograd.Function):
        pass

    class NoBackward(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    x = leaf(torch, 1.0)
    log.raises(Empty.apply, x)
    log.raises(NoBackward.apply(x).backward)


@behaviour
def functions_are_not_instantiated_or_called(torch, log):
    F = square(torch)
    log.raises(F(), leaf(torch, 1.0))
    log.raises(F.apply)


@behaviour
def wrong_number_of_gradients(torch, log):
    x = leaf(torch, 1.0)
    log.raises(custom(torch, lambda ctx, g: (g, g)).apply(x).backward)
    log.raises(custom(torch, lambda ctx, g: ()).apply(x).backward)


@behaviour
def wrong_number_of_gradients_for_two_inputs(torch, log):
    F = custom(torch, lambda ctx, g: g, lambda ctx, x, y: x + y)
    log.raises(F.apply(leaf(torch, 1.0), leaf(torch, 2.0)).backward)


@behaviour
def wrong_shape_of_gradients(torch, log):
    x = leaf(torch, 1.0, 2.0)
    log.raises(custom(torch, lambda ctx, g: torch.ones(3)).apply(x).sum().backward)
    log.raises(custom(torch, lambda ctx, g: torch.ones(2, 2, 2)[:, 0]).apply(x).sum().backward)
    log(x.grad)


@behaviour
def broadcastable_gradients_are_summed(torch, log):
    x = leaf(torch, 1.0, 2.0)
    custom(torch, lambda ctx, g: torch.ones(3, 2)).apply(x).sum().backward()
    log(x.grad)


@behaviour
def smaller_gradients_are_refused(torch, log):
    x = leaf(torch, 1.0, 2.0)
    log.raises(custom(torch, lambda ctx, g: torch.tensor(1.0)).apply(x).sum().backward)
    log(x.grad)


@behaviour
def wrong_type_of_gradients(torch, log):
    x = leaf(torch, 1.0)
    for wrong in (1.0, "text", [1.0], 3):
        log.raises(custom(torch, lambda ctx, g, wrong=wrong: wrong).apply(x).backward)


@behaviour
def gradients_of_another_dtype_are_cast(torch, log):
    x = leaf(torch, 1.0)
    custom(torch, lambda ctx, g: g.double()).apply(x).backward()
    log(x.grad)
    y = leaf(torch, 1.0)
    log.raises(custom(torch, lambda ctx, g: g.long()).apply(y).backward)
    log(y.grad)


@behaviour
def complex_gradient_for_a_real_input(torch, log):
    x = leaf(torch, 1.0)
    log.refuses(custom(torch, lambda ctx, g: g * (2 + 3j)).apply(x).backward)
    log(x.grad)


@behaviour
def backward_that_raises(torch, log):
    def backward(ctx, g):
        raise ZeroDivisionError("mine")

    x = leaf(torch, 1.0)
    log.raises(custom(torch, backward).apply(x).backward)
    log(x.grad)


@behaviour
def forward_that_raises(torch, log):
    def forward(ctx, x):
        raise LookupError("mine")

    log.raises(custom(torch, lambda ctx, g: g, forward).apply, leaf(torch, 1.0))
    log(torch.is_grad_enabled())


@behaviour
def forward_returning_non_tensors_only(torch, log):
    for value in (5, "text", None, [leaf(torch, 1.0)]):
        F = custom(torch, lambda ctx, g: g, lambda ctx, x, value=value: value)
        log.raises(F.apply, leaf(torch, 1.0))


@behaviour
def saved_tensors_are_freed_by_backward(torch, log):
    x = leaf(torch, 2.0)
    y = square(torch).apply(x)
    y.backward()
    log.raises(y.backward)
    log.raises(lambda: y.grad_fn.saved_tensors)


@behaviour
def saved_tensors_are_version_checked(torch, log):
    x = leaf(torch, 2.0)
    y = x * 1
    z = square(torch).apply(y)
    y.add_(1)
    log.raises(z.backward)


@behaviour
def save_for_backward_takes_tensors_and_none(torch, log):
    def forward(ctx, x):
        ctx.save_for_backward(x, None)
        return x * 2

    def backward(ctx, g):
        log(ctx.saved_tensors)
        return g * 2

    x = leaf(torch, 2.0)
    custom(torch, backward, forward).apply(x).backward()

    def wrong(ctx, x):
        ctx.save_for_backward(3)
        return x * 2

    log.raises(custom(torch, backward, wrong).apply, x)


@behaviour
def save_for_backward_keeps_the_last_call(torch, log):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x * 2, x * 3)
        return x * 2

    def backward(ctx, g):
        log(ctx.saved_tensors)
        return g * 2

    custom(torch, backward, forward).apply(leaf(torch, 2.0)).backward()


@behaviour
def saving_an_output(torch, log):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y

    x = leaf(torch, 1.0)
    F = custom(torch, backward, forward)
    y = F.apply(x)
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    log(g.detach(), torch.autograd.grad(g, x))
    z = F.apply(x)
    z.mul_(2)
    log.raises(z.backward)


@behaviour
def context_attributes_are_kept(torch, log):
    def forward(ctx, x):
        ctx.shape = x.shape
        ctx.anything = {"a": [1, 2]}
        return x.sum()

    def backward(ctx, g):
        log(ctx.anything, type(ctx).__name__)
        return g.expand(ctx.shape)

    x = leaf(torch, 1.0, 2.0)
    custom(torch, backward, forward).apply(x).backward()
    log(x.grad)
    log.layout(x.grad)


# Dirty, non-differentiable and returned inputs


def doubling_in_place(torch):
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    return custom(torch, lambda ctx, g: g * 2, forward)


@behaviour
def mark_dirty_records_an_in_place_function(torch, log):
    F = doubling_in_place(torch)
    x = leaf(torch, 2.0)
    y = x * 1
    z = F.apply(y)
    log(z is y, y, y._version)
    y.backward()
    log(x.grad)
    log.raises(F.apply, leaf(torch, 2.0))


@behaviour
def mark_dirty_on_a_view(torch, log):
    F = doubling_in_place(torch)
    x = leaf(torch, 2.0, 3.0)
    y = x * 1
    F.apply(y[:1])
    log(y)
    y.sum().backward()
    log(x.grad)


@behaviour
def mark_dirty_without_returning_it(torch, log):
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x * 1

    F = custom(torch, lambda ctx, g: g * 2, forward)
    log.raises(lambda: F.apply(leaf(torch, 2.0) * 1))


@behaviour
def writing_without_mark_dirty(torch, log):
    def forward(ctx, x):
        x.mul_(2)
        return x

    F = custom(torch, lambda ctx, g: g * 2, forward)
    x = leaf(torch, 2.0)
    y = x * 1
    z = F.apply(y)
    log(z is y, z, y)


@behaviour
def mark_non_differentiable_outputs(torch, log):
    def forward(ctx, x):
        values, indices = x.sort()
        ctx.mark_non_differentiable(indices)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(indices)
        return values, indices

    def backward(ctx, g, unused):
        log(unused)
        (indices,) = ctx.saved_tensors
        return torch.zeros(3).index_add(0, indices, g)

    F = custom(torch, backward, forward)
    x = leaf(torch, 3.0, 1.0, 2.0)
    values, indices = F.apply(x)
    log(values, indices)
    (values * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    log(x.grad)


@behaviour
def integer_outputs_are_not_differentiable_anyway(torch, log):
    F = custom(torch, lambda ctx, g, h: g, lambda ctx, x: (x * 1, x.long()))
    y, i = F.apply(leaf(torch, 2.0))
    log(y, i)


@behaviour
def mark_non_differentiable_float_output(torch, log):
    def forward(ctx, x):
        a, b = x * 1, x * 2
        ctx.mark_non_differentiable(b)
        return a, b

    def backward(ctx, g, h):
        log(g, h)
        return g

    F = custom(torch, backward, forward)
    x = leaf(torch, 2.0)
    a, b = F.apply(x)
    log(a, b)
    (a + b).backward()
    log(x.grad)


@behaviour
def returning_an_input_makes_a_view(torch, log):
    F = custom(torch, lambda ctx, g: g * 5, lambda ctx, x: x)
    x = leaf(torch, 2.0)
    y = F.apply(x)
    log(y, y is x, y._is_view())
    y.backward()
    log(x.grad)
    log(F.apply(torch.tensor([1.0])))


@behaviour
def returning_a_view_of_an_input(torch, log):
    F = custom(torch, lambda ctx, g: g.view(2), lambda ctx, x: x.view(2, 1))
    x = leaf(torch, 2.0, 3.0)
    y = F.apply(x)
    log(y, y._is_view())
    y.sum().backward()
    log(x.grad)
    z = F.apply(x * 1)
    log.raises(z.add_, 1)


@behaviour
def returning_the_same_tensor_twice(torch, log):
    def forward(ctx, x):
        y = x * 2
        return y, y

    F = custom(torch, lambda ctx, g, h: g * 2 + h * 2, forward)
    x = leaf(torch, 2.0)
    a, b = F.apply(x)
    log(a, b, a is b)
    (a + 3 * b).backward()
    log(x.grad)


# once_differentiable


@behaviour
def once_differentiable_forbids_double_backward(torch, log):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    x = leaf(torch, 3.0)
    F.apply(x).backward()
    log(x.grad)
    (g,) = torch.autograd.grad(F.apply(x), x, create_graph=True)
    log(g.detach(), g.requires_grad)
    log.raises(torch.autograd.grad, g, x)


# Graphs of functions


@behaviour
def functions_in_a_chain_and_a_diamond(torch, log):
    F = square(torch)
    x = leaf(torch, 1.5)
    y = F.apply(x)
    z = F.apply(y) + F.apply(y * 2) + y
    z.backward()
    log(x.grad)
    log.graph(F.apply(F.apply(x) + x))


@behaviour
def a_function_called_inside_a_function(torch, log):
    F = square(torch)

    def forward(ctx, x):
        with torch.enable_grad():
            inner = x.detach().requires_grad_()
            out = F.apply(inner).sum()
        ctx.inner, ctx.out = inner, out
        return out.detach()

    def backward(ctx, g):
        (grad,) = torch.autograd.grad(ctx.out, ctx.inner)
        return g * grad

    x = leaf(torch, 2.0, 3.0)
    custom(torch, backward, forward).apply(x).backward()
    log(x.grad)


@behaviour
def reentrant_backward(torch, log):
    def forward(ctx, x):
        with torch.enable_grad():
            ctx.x = x.detach().requires_grad_()
            ctx.y = ctx.x**3
        return ctx.y.detach()

    def backward(ctx, g):
        with torch.enable_grad():
            ctx.y.sum().backward()
        return ctx.x.grad * g

    Reentrant = custom(torch, backward, forward)
    x = leaf(torch, 2.0)
    Reentrant.apply(Reentrant.apply(x)).backward()
    log(x.grad)


@behaviour
def hooks_on_the_node_of_a_function(torch, log):
    x = leaf(torch, 3.0)
    y = square(torch).apply(x)
    y.grad_fn.register_hook(lambda gi, go: log(gi, go))
    y.grad_fn.register_prehook(lambda go: (go[0] * 2,))
    y.register_hook(lambda g: g + 1)
    y.backward()
    log(x.grad)


@behaviour
def a_function_on_leaves_and_views_of_them(torch, log):
    F = square(torch)
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    (F.apply(x[0]).sum() + F.apply(x.T)[1:].sum()).backward()
    log(x.grad)


@behaviour
def straight_through_estimator(torch, log):
    F = custom(torch, lambda ctx, g: g, lambda ctx, x: x.round())
    x = leaf(torch, 0.4, 0.6)
    (F.apply(x) * 3).sum().backward()
    log(x.grad)


@behaviour
def gradient_reversal(torch, log):
    F = custom(torch, lambda ctx, g: -g, lambda ctx, x: x.view_as(x))
    x = leaf(torch, 0.4, 0.6)
    y = F.apply(x)
    y.sum().backward()
    log(y, x.grad)


@behaviour
def fixed_point_by_implicit_differentiation(torch, log):
    def forward(ctx, a):
        z = torch.zeros_like(a)
        for _ in range(60):
            z = torch.tanh(a * z + 1)
        ctx.save_for_backward(a, z)
        return z

    def backward(ctx, g):
        a, z = ctx.saved_tensors
        slope = 1 - z**2
        return g * slope * z / (1 - slope * a)

    FixedPoint = custom(torch, backward, forward)
    a = torch.tensor([0.3, 0.5], dtype=torch.float64, requires_grad=True)
    z = FixedPoint.apply(a)
    z.sum().backward()
    log(z, a.grad)


@behaviour
def mark_dirty_then_other_views_follow(torch, log):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.zero_()

    F = custom(torch, lambda ctx, g: torch.zeros_like(g), forward)
    x = leaf(torch, 2.0, 3.0)
    y = x * 1
    v = y[0]
    F.apply(y)
    log(v, y)
    log.graph(v)
    y.sum().backward()
    log(x.grad)


@behaviour
def apply_takes_keyword_arguments(torch, log):
    log.raises(square(torch).apply, x=leaf(torch, 1.0))


@behaviour
def inputs_in_lists_are_not_tracked(torch, log):
    F = custom(torch, lambda ctx, g: g, lambda ctx, xs: xs[0] * 2)
    log(F.apply([leaf(torch, 1.0)]))


@behaviour
def optional_tensor_arguments(torch, log):
    def forward(ctx, x, w, b=None):
        ctx.save_for_backward(x, w, b)
        return x * w if b is None else x * w + b

    def backward(ctx, g):
        x, w, b = ctx.saved_tensors
        gx = g * w if ctx.needs_input_grad[0] else None
        gw = g * x if ctx.needs_input_grad[1] else None
        gb = g if b is not None and ctx.needs_input_grad[2] else None
        return gx, gw, gb

    Affine = custom(torch, backward, forward)
    x, w, b = torch.tensor([2.0]), leaf(torch, 3.0), leaf(torch, 4.0)
    Affine.apply(x, w).backward()
    log(w.grad)
    log.raises(Affine.apply(x, w, b).backward)
    log(w.grad, b.grad)


SHAPES = [(), (1,), (3,), (2, 3), (1, 3), (2, 1), (5, 3), (3, 2), (4, 2, 3), (1, 1, 1), (0, 3)]


@behaviour_of_each([(str(shape), shape) for shape in SHAPES])
def gradients_of_every_shape(torch, log, name, shape):
    for given in SHAPES:
        F = custom(torch, lambda ctx, g, given=given: torch.ones(given), lambda ctx, x: x * 2)
        x = torch.ones(shape, requires_grad=True)
        try:
            F.apply(x).sum().backward()
            log(given, x.grad)
        except RuntimeError as error:
            log(given, str(error).split("\n")[0])


@behaviour_of_each([1, 2])
def a_written_input_retains_the_gradient_it_has_afterwards(torch, log, outputs):
    def forward(ctx, a):
        ctx.mark_dirty(a)
        a.mul_(2)
        return (a, a * 3)[:outputs]

    F = custom(torch, lambda ctx, g, h=0.0: g * 2 + h * 6, forward)
    x = leaf(torch, 1.0, 2.0)
    a = x * 1
    a.retain_grad()
    y = F.apply(a)
    (a * 5 + y[-1]).sum().backward()
    log(x.grad, a.grad, a.retains_grad)


# What few functions do


@behaviour
def older_names_of_what_was_saved(torch, log):
    seen = []

    def backward(ctx, g):
        seen.append([t.tolist() for t in ctx.saved_variables])
        return g

    def forward(ctx, x):
        ctx.mark_shared_storage((x, x))
        ctx.save_for_backward(x, x * 2)
        return x * 2

    custom(torch, backward, forward).apply(leaf(torch, 1.0, 2.0)).sum().backward()
    log(seen)


@behaviour
def saved_tensors_one_by_one(torch, log):
    F = saving(torch, lambda x, y: x * y, lambda g, x, y: (g * y, g * x))
    y = F.apply(leaf(torch, 2.0), leaf(torch, 3.0))
    node = y.grad_fn
    log(len(node._raw_saved_tensors))
    for saved, factor in zip(node._raw_saved_tensors, (10, 100)):
        saved.register_hooks(lambda t, f=factor: t * f, lambda t: t / 10)
    log.values(*node.saved_tensors)
    y.backward()
    log.raises(lambda: node._raw_saved_tensors)
    log.raises(lambda: node.saved_tensors)


@behaviour
def what_is_saved_is_cleared(torch, log):
    def backward(ctx, g):
        log(ctx.saved_tensors[0].tolist())
        ctx.maybe_clear_saved_tensors()
        log.raises(lambda: ctx.saved_tensors[0].tolist())
        return g

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    for retain in (True, False):
        y = custom(torch, backward, forward).apply(leaf(torch, 1.0))
        y.backward(retain_graph=retain)


@behaviour
def inputs_returned_in_inference_mode(torch, log):
    F = custom(torch, lambda ctx, g: g, lambda ctx, x: x)
    plain = torch.ones(2)
    with torch.inference_mode():
        made = torch.ones(2)
        for x in (made, plain, leaf(torch, 1.0)):
            y = F.apply(x)
            log(y.tolist(), y.requires_grad, y.is_inference(), y is x,
                y.data_ptr() == x.data_ptr())
    y = F.apply(made)
    log(y.is_inference(), y is made, y.data_ptr() == made.data_ptr())
    y = F.apply(plain)
    plain.add_(1)
    log(y.tolist(), y._version)


@behaviour
def undifferentiable_outputs_made_with_grad(torch, log):
    def forward(ctx, x, w):
        with torch.enable_grad():
            y = w * 2
        ctx.mark_non_differentiable(y)
        return x * 3, y

    F = custom(torch, lambda ctx, g, h: (g * 3, None), forward)
    x, y = F.apply(leaf(torch, 1.0), leaf(torch, 5.0))
    log(x, y.requires_grad, y.grad_fn, y.tolist())


@behaviour
def dirty_views_are_refused_where_writing_to_them_is(torch, log):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    F = custom(torch, lambda ctx, g: g * 2, forward)
    base = leaf(torch, 1.0, 2.0) * 1
    for view in (base.unbind(0)[0], base.split(1)[1], base.chunk(2)[0], base[:1]):
        log.raises(F.apply, view)
    with torch.no_grad():
        made = base[:1]
    log.refuses(F.apply, made)
    log.raises(F.apply, leaf(torch, 1.0))
