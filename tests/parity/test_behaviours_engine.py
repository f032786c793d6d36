"""What programs ask the engine itself: the running pass, saved tensors, settings, odd functions."""

from __future__ import annotations

import gc
import weakref

from parity.harness import behaviour, behaviour_of_each
from shared import leaf

# ---------------------------------------------------------------- the pass that is running


@behaviour
def a_backward_pass_is_asked_about_itself(torch, log):
    x, w = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)
    y = x * w
    side = y.cos()
    z = y.sin()
    numbers = []

    def asked(gradient):
        numbers.append(torch._C._current_graph_task_id())
        log(torch._C._current_autograd_node() is y.grad_fn,
            torch._C._will_engine_execute_node(y.grad_fn),
            torch._C._will_engine_execute_node(side.grad_fn))
        log(torch._C._autograd._get_current_graph_task_keep_graph())
        log.raises(lambda: torch._C._current_graph_task_execution_order())
        with torch.autograd.set_multithreading_enabled(False):
            pass

    z.register_hook(asked)
    z.sum().backward(retain_graph=True)
    torch.autograd.grad(z.sum(), y)
    log(numbers[1] - numbers[0], torch._C._current_graph_task_id())
    log.raises(lambda: torch._C._current_graph_task_execution_order())
    log.raises(lambda: torch._C._will_engine_execute_node(y.grad_fn))
    log.raises(lambda: torch._C._will_engine_execute_node(y))


@behaviour
def the_order_of_a_pass(torch, log):
    x, w = leaf(torch, 1.0), leaf(torch, 2.0)
    y = x * w
    z = y.sin() + y.cos()
    found = []
    z.register_hook(lambda g: found.append(torch._C._current_graph_task_execution_order()))
    with torch.autograd.set_multithreading_enabled(False):
        z.backward(retain_graph=True)
        torch.autograd.grad(z, x)
    for order in found:
        log([node.name() for node in order])


@behaviour
def leaves_are_asked_about_in_a_pass(torch, log):
    x, w = leaf(torch, 1.0), leaf(torch, 2.0)
    y = x * w
    ends = [x.clone().grad_fn.next_functions[0][0], w.clone().grad_fn.next_functions[0][0]]
    y.register_hook(lambda g: log([torch._C._will_engine_execute_node(e) for e in ends]))
    y.backward(inputs=[x], retain_graph=True)
    y.backward(retain_graph=True)
    z = x * w
    z.register_hook(lambda g: log.raises(lambda: torch._C._will_engine_execute_node(ends[0])))
    torch.autograd.grad(z, x)


@behaviour
def sequence_numbers_are_set(torch, log):
    x = leaf(torch, 1.0)
    node = (x * 2).grad_fn
    node._set_sequence_nr(1000)
    log(node._sequence_nr())


@behaviour
def nodes_are_called_with_as_many_gradients_as_outputs(torch, log):
    x = leaf(torch, 3.0)
    node = (x ** 2).grad_fn
    log.raises(lambda: node())
    log.raises(lambda: node(x.detach(), x.detach()))
    log(node(x.detach()))


# ---------------------------------------------------------------- nodes that programs make


@behaviour
def a_gradient_that_is_undefined_is_zero_for_a_function(torch, log):
    class Shown(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            log(gradient)
            return gradient

    x = leaf(torch, 1.0)
    y = torch._C._functions.UndefinedGrad()(Shown.apply(x))
    log(y)
    y.backward()
    log(x.grad)


@behaviour
def an_error_waits_in_the_graph(torch, log):
    x, y = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)
    guarded = torch._C._functions.DelayedError("not this way", 1)(y)
    out = (x * 2).view(-1)
    out += guarded
    log(out, guarded, torch.autograd.grad(out.sum(), x, retain_graph=True))
    log(torch.autograd.grad(out.sum(), guarded, retain_graph=True))
    log.raises(lambda: out.sum().backward())
    node_class = torch.autograd.graph.Node
    log(issubclass(torch._C._functions.DelayedError, node_class),
        isinstance(x.clone().grad_fn.next_functions[0][0], torch._C._functions.AccumulateGrad))


@behaviour
def what_is_differentiable_once_has_one_node(torch, log):
    class Once(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, number, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, None, g * x

    x, y = leaf(torch, 1.0), leaf(torch, 2.0)
    g = torch.ones(1, requires_grad=True)
    a, b = torch.autograd.grad(Once.apply(x, 3, y), (x, y), g, create_graph=True)
    log(a, b, a.grad_fn is b.grad_fn, a.output_nr, b.output_nr)
    log([edge and edge.name() for edge, _ in a.grad_fn.next_functions])
    log.raises(lambda: torch.autograd.grad(a, x))


# ---------------------------------------------------------------- saved tensors


@behaviour
def saved_tensors_show_what_is_kept(torch, log):
    def pack(value):
        return value

    def unpack(value):
        return value

    x = leaf(torch, 2.0)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x ** 2
    z = y.exp()
    w = z ** 2
    packed, output, given = (y.grad_fn._raw_saved_self, z.grad_fn._raw_saved_result,
                             w.grad_fn._raw_saved_self)
    log(packed.data is x, packed.unpack_hook is unpack)
    log(output.data is z, output.data.requires_grad, output.unpack_hook)
    log(given.data is z, given.unpack_hook, given.unpack() is z)
    log([isinstance(s, torch._C._autograd.SavedTensor) for s in (packed, output, given)])
    log.raises(lambda: torch.autograd.SavedTensor())


@behaviour
def a_tensor_is_saved_by_hand(torch, log):
    x, counts = leaf(torch, 1.0), [0, 0]

    def count(position, value):
        counts[position] += 1
        return value

    plain = torch._C._autograd._make_saved_tensor(x, is_output=False)
    log(plain.unpack() is x)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: count(0, t), lambda t: count(1, t)):
        saved = torch._C._autograd._make_saved_tensor(x, is_output=False)
        log(counts, saved.unpack(), counts)


@behaviour
def hooks_on_saved_tensors_are_switched_off(torch, log):
    enabled = torch._C._autograd._saved_tensors_hooks_is_enabled
    with torch.autograd.graph.disable_saved_tensors_hooks("outer"):
        with torch.autograd.graph.disable_saved_tensors_hooks("inner"):
            log(enabled(), torch._C._autograd._saved_tensors_hooks_get_disabled_error_message())
        log(enabled())
    log(enabled())


@behaviour
def versions_are_set(torch, log):
    x = torch.ones(2)
    x.add_(1)
    torch._C._autograd._unsafe_set_version_counter((x,), (7,))
    log(x._version)
    log.raises(lambda: torch._C._autograd._unsafe_set_version_counter((x,), (-1,)))
    log(x._version)


# ---------------------------------------------------------------- settings


@behaviour
def views_get_their_history_back_in_two_ways(torch, log):
    def tensor():
        out = leaf(torch, [1.0, 2.0], [3.0, 4.0]).clone().view(-1)[1:]
        out.add_(1)
        return out

    def written():
        return type(tensor().grad_fn).__name__

    for on in (False, True):
        with torch.autograd._force_original_view_tracking(on):
            log(torch.autograd.is_view_replay_enabled(), written())
        log(torch.autograd.is_view_replay_enabled())
    torch.autograd._force_original_view_tracking(True)
    log(torch.autograd.is_view_replay_enabled())
    wrapped = torch.autograd._force_original_view_tracking(False)(written)
    log(torch.autograd.is_view_replay_enabled(), wrapped())
    made = torch.autograd._force_original_view_tracking(False)(tensor)()
    log(type(made.grad_fn).__name__)
    torch.autograd._force_original_view_tracking(False)


@behaviour
def a_replayed_view_has_the_same_gradient(torch, log):
    x = leaf(torch, [1.0, 2.0], [3.0, 4.0])
    with torch.autograd._force_original_view_tracking(True):
        out = x.clone().t()[0].view(-1)
        out.mul_(3)
        (out * out).sum().backward()
    log(x.grad)


@behaviour
def a_gradient_keeps_its_layout(torch, log):
    class Rows(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sum()

        @staticmethod
        def backward(ctx, g):
            return torch.ones(2, 3)

    x = torch.ones(3, 2).t().requires_grad_()
    for on in (True, False):
        with torch.autograd.enforce_grad_layout_policy(on):
            Rows.apply(x).backward()
        log(x.grad.stride())
        x.grad = None
    torch.autograd.enforce_grad_layout_policy(False)(lambda: Rows.apply(x).backward())()
    log(x.grad.stride())


# ---------------------------------------------------------------- the dtype of gradients


@behaviour
def gradients_have_a_dtype_of_their_own(torch, log):
    class Wider(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g.to(torch.float64)

    for wanted in ("its own", None, torch.float16):
        x = leaf(torch, 1.0, 2.0)
        if wanted != "its own":
            x.grad_dtype = wanted
        log(x.grad_dtype)
        for _ in range(2):
            Wider.apply(x).sum().backward()
            log(x.grad)
        (x * 3).sum().backward()
        log(x.grad)


@behaviour
def a_gradient_of_another_dtype_is_assigned(torch, log):
    x = leaf(torch, 1.0, 2.0)
    log.raises(lambda: setattr(x, "grad", torch.ones(2, dtype=torch.float64)))
    x.grad_dtype = torch.float16
    log.raises(lambda: setattr(x, "grad", torch.ones(2)))
    x.grad_dtype = None
    x.grad = torch.ones(2, dtype=torch.float64)
    (x * 2).sum().backward()
    log(x.grad)
    log.raises(lambda: setattr(x, "grad_dtype", torch.float16))
    log.raises(lambda: setattr(x, "grad_dtype", 3))
    log.raises(lambda: (x * 2).grad_dtype)


@behaviour
def attributes_that_cannot_be_deleted(torch, log):
    x = leaf(torch, 1.0)
    log.raises(lambda: delattr(x, "requires_grad"))
    log(x)


# ---------------------------------------------------------------- custom functions


def _doubling(torch, **attributes):
    class Doubling(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, *given):
            return attributes["backward"](ctx, *given)

    for name, value in attributes.items():
        if name != "backward":
            setattr(Doubling, name, value)
    return Doubling


@behaviour
def gradients_arrive_in_a_list(torch, log):
    def backward(ctx, gradients):
        log(type(gradients).__name__, gradients)
        first, second = gradients
        known = weakref.ref(first)
        total = first * 2 + second * 3
        gradients.clear()
        del first, second
        log(known() is None)
        return total

    x = leaf(torch, 1.0, 2.0)
    function = _doubling(torch, boxed_grads_call=True, backward=backward)
    a, b = function.apply(x)
    (a.sum() + b.sum()).backward()
    log(x.grad)
    b = function.apply(x)[1]
    b.sum().backward()
    log(x.grad)
    a, b = function.apply(x)
    log(a.grad_fn.apply(torch.ones(2), torch.ones(2)))


@behaviour
def saved_tensors_are_taken_once(torch, log):
    def backward(ctx, first, second):
        (x,) = ctx.saved_tensors
        known = weakref.ref(x)
        del x
        gc.collect()
        log(known() is None)
        log.raises(lambda: ctx.saved_tensors)
        return first

    function = _doubling(torch, clear_saved_tensors_on_access=True, backward=backward)
    x = leaf(torch, 1.0, 2.0)
    function.apply(x.clone())[0].sum().backward()
    log(x.grad)


@behaviour_of_each([(str(on), on) for on in (True, False)])
def outputs_that_cannot_have_a_gradient(torch, log, name, on):
    class Partly(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            first, second, third = x.clone(), x.clone(), torch.tensor([1, 2])
            ctx.mark_non_differentiable(second)
            ctx._materialize_non_diff_grads = on
            return first, second, third

        @staticmethod
        def backward(ctx, first, second, third):
            log(first, second, third)
            return first

    x = leaf(torch, 1.0, 2.0)
    Partly.apply(x)[0].sum().backward()
    log(x.grad)


@behaviour
def an_input_is_returned_twice_after_a_write(torch, log):
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x, x

        @staticmethod
        def backward(ctx, first, second):
            log(first, second)
            return first * 2 + second * 2

    x = leaf(torch, 1.0, 2.0)
    y = x.clone()
    a, b = Twice.apply(y)
    log(a is b, a is y, a.output_nr)
    (a + b).sum().backward()
    log(x.grad)


@behaviour
def what_is_marked_dirty_was_no_input(torch, log):
    def marking(make):
        class Marking(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                out = make(x)
                ctx.mark_dirty(out)
                return out

            @staticmethod
            def backward(ctx, g):
                return g

        return Marking

    x = leaf(torch, 1.0, 2.0)
    log.raises(lambda: marking(lambda x: x.clone().view_as(x)).apply(x.clone()))
    log(marking(lambda x: x.clone()).apply(x.clone()))


def _viewing(torch, pure, outputs=1):
    class Viewing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx._is_pure_view = pure
            view = x.narrow(0, 0, 2)
            return (view, x * 2)[:outputs] if outputs > 1 else view

        @staticmethod
        def backward(ctx, g, *others):
            log_of_calls.append(1)
            return torch.nn.functional.pad(g, (0, 1))

    log_of_calls: list[int] = []
    return Viewing, log_of_calls


@behaviour_of_each([(f"{pure} {outputs}", (pure, outputs))
                    for pure in (True, False) for outputs in (1, 2)])
def views_that_functions_return_are_written_to(torch, log, name, kind):
    pure, outputs = kind
    function, calls = _viewing(torch, pure, outputs)
    x = leaf(torch, 1.0, 2.0, 3.0)

    def write():
        out = function.apply(x.clone())
        view = out if outputs == 1 else out[0]
        view *= 3
        view.sum().backward()

    log.raises(write) if outputs > 1 or not pure else write()
    log(x.grad, len(calls))


@behaviour
def a_view_that_a_function_took_of_a_constant_is_written_to(torch, log):
    function, _ = _viewing(torch, False)
    constant, x = torch.zeros(3), leaf(torch, 1.0)
    view = function.apply(constant)
    log(view)
    log.raises(lambda: view.add_(x))
    log.raises(lambda: view.copy_(x))
    view.add_(1)
    log(constant)


@behaviour
def shapes_of_outputs_and_gradients(torch, log):
    out, gradient = torch.ones(2, 3), torch.ones(4, 2, 3)
    log(torch.autograd._calculate_shape(out, gradient, True),
        torch.autograd._calculate_shape(out, gradient, False))


@behaviour
def weak_references_to_tensors(torch, log):
    x = torch.ones(2)
    reference = torch._C._WeakTensorRef(x)
    log(reference.expired())
    del x
    log(reference.expired())


@behaviour
def forward_mode_is_switched_by_its_private_names(torch, log):
    forward_ad = torch.autograd.forward_ad
    log(forward_ad._current_level)
    with forward_ad.dual_level():
        log(forward_ad._current_level)
        torch._C._set_fwd_grad_enabled(False)
        try:
            with forward_ad._set_fwd_grad_enabled(True):
                log(forward_ad._is_fwd_grad_enabled())
            log(torch._C._is_fwd_grad_enabled())
        finally:
            torch._C._set_fwd_grad_enabled(True)
    log(forward_ad._current_level, torch._C.is_grad_enabled())


# ---------------------------------------------------------------- the order of hooks and nodes


@behaviour
def numbers_of_nodes_decide_where_the_graph_does_not(torch, log):
    x, y, z = leaf(torch, 1.0), leaf(torch, 2.0), leaf(torch, 3.0)
    a, b = x * y, y * z
    c = a + b
    for number, tensor in ((98, c), (99, b), (100, a)):
        tensor.grad_fn._set_sequence_nr(number)
    order = []
    for name, tensor in (("a", a), ("b", b), ("c", c)):
        tensor.register_hook(lambda g, name=name: order.append(name))
    c.sum().backward()
    log(order, x.grad, y.grad, z.grad)


@behaviour
def hooks_of_a_node_at_which_a_pass_ends(torch, log):
    order = []

    def hook(name, factor):
        def run(gradients):
            order.append(name)
            return tuple([g * factor for g in gradients]) if isinstance(gradients, tuple) \
                else gradients * factor

        return run

    x = leaf(torch, 1.0)
    y = x.clone()
    y.grad_fn.register_prehook(hook("before", 2))
    y.register_hook(hook("tensor", 3))
    y.grad_fn.register_hook(lambda inputs, outputs: order.append("after"))
    y.sum().backward(inputs=[y])
    log(order, y.grad, x.grad)
    order.clear()
    (y * 1).sum().backward(inputs=[x])
    log(order, x.grad)


@behaviour
def a_write_to_a_view_is_differentiated_twice(torch, log):
    x = leaf(torch, -1.0, 0.5, 2.0)
    y = (x * 2).view_as(x)
    torch.nn.functional.relu(y, inplace=True)
    (g,) = torch.autograd.grad(y.pow(2).sum(), x, create_graph=True)
    log(g, torch.autograd.grad(g.sum(), x))
    y = (x * 2).view_as(x)
    y.sigmoid_()
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    g.sum().backward()
    log(x.grad)


@behaviour
def a_log_tells_which_nodes_run(torch, log):
    import logging

    class Collected(logging.Handler):
        def emit(self, record):
            told.append(record.getMessage())

    told, handler = [], Collected()
    logger = logging.getLogger(torch.__name__ + ".autograd.graph")
    level = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addHandler(handler)
    try:
        x = leaf(torch, 1.0, 2.0)
        y = (x * 2).sum()
        torch.autograd.backward((y, y.clone()))
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    (x * 2).sum().backward()
    names = ("Clone", "Sum", "Mul", "AccumulateGrad")
    log([[name for name in names if name in line.partition(" with ")[0]] for line in told], x.grad)


# ---------------------------------------------------------------- saved and written to


@behaviour
def what_is_saved_is_copied_when_it_is_written_to(torch, log):
    with torch.autograd.graph.allow_mutation_on_saved_tensors() as context:
        x = leaf(torch, 1.0, 2.0)
        y = x.clone()
        a, b = y ** 2, y ** 2
        log(len(context.cloned))
        y[:1].sin_()
        log(len(context.cloned))
        c = y ** 2
        torch.cos(torch.ones(2), out=y.detach())
        log(len(context.cloned))
        (a + b + c).sum().backward()
        log(x.grad)
        del a, b, c
        log(len(context.cloned))


@behaviour
def an_optimizer_writes_to_what_is_saved(torch, log):
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        w, x = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)
        loss = (w * x).sum()
        w.grad = torch.ones(2)
        torch.optim.SGD([w], 0.5).step()
        loss.backward()
        log(w, x.grad)


@behaviour
def a_saved_result_and_the_output_have_one_version(torch, log):
    x = leaf(torch, 1.0, 2.0)
    y = x.exp()
    shown = y.grad_fn._saved_result
    log(y._version, shown._version)
    with torch.no_grad():
        y += 1
    log(y._version, shown._version, shown)
    log.raises(lambda: y.sum().backward())


@behaviour
def an_unpack_hook_returns_other_memory(torch, log):
    class Writing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            x.add_(1)
            log.values(x)
            log(x.requires_grad, a._version, other._version)
            return g

    a = leaf(torch, 1.0)
    other = a.detach().clone()
    with torch.autograd.graph.saved_tensors_hooks(lambda x: other, lambda x: x):
        b = Writing.apply(a)
    b.backward()


# ---------------------------------------------------------------- modes and words


@behaviour
def inference_tensors_take_another_shape(torch, log):
    with torch.inference_mode():
        x = torch.ones(1, 2, 3)
        y = torch.ones(2, 3, requires_grad=True)
        y.resize_(3)
        log(y.shape, y.requires_grad, y.is_inference())
    log.raises(lambda: x.transpose_(0, 1))
    with torch.no_grad():
        log.raises(lambda: torch.ones(2, requires_grad=True).resize_(3))


@behaviour
def a_view_whose_history_is_refused_is_printed(torch, log):
    x = leaf(torch, 1.0)
    with torch.no_grad():
        y = x[:]
        y *= 2
    log(repr(y), repr(x))


@behaviour
def forward_mode_of_what_has_no_derivative(torch, log):
    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        x = forward_ad.make_dual(torch.ones(3), torch.ones(3))
        try:
            torch.igamma(x, x)
        except NotImplementedError as error:
            log(str(error).partition(" because ")[0])


def test_a_warning_that_is_an_error_does_not_hide_the_one_it_explains(capsys):
    import warnings

    import pytest

    import retrograd as torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.set_detect_anomaly(True):
            x = torch.ones(2, requires_grad=True)
            y = x + 1
            z = y ** 2
            y += 1
            warnings.simplefilter("error")
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                z.sum().backward()
    assert "Error detected in PowBackward0" in capsys.readouterr().err


# ---------------------------------------------------------------- names from former times


@behaviour
def former_attributes_of_tensors(torch, log):
    x = leaf(torch, 1.0)
    log.warns(lambda: x.volatile)
    log.warns(lambda: setattr(x, "volatile", True))
    log(x._backward_hooks)
    handle = x.register_hook(lambda g: g * 2)
    log(len(x._backward_hooks))
    handle.remove()
    for name in ("_grad_fn", "_backward_hooks"):
        log.raises(lambda name=name: delattr(x, name))


@behaviour
def tensors_are_counted(torch, log):
    x = leaf(torch, 1.0)
    log(x._use_count())
    y = x * 2
    log(x._use_count())
    z = x * x
    log(x._use_count())
    del y
    log(x._use_count())
    del z
    log(x._use_count())


@behaviour
def parts_of_a_standard_basis(torch, log):
    tensors = (torch.ones(2), torch.ones((), dtype=torch.float64), torch.ones(1, 2))
    log(torch.autograd.functional._construct_standard_basis_for(tensors, (2, 1, 2)))


FOREACH = {
    "a number": lambda torch, a, b: torch._foreach_add(a, 2.0),
    "a list": lambda torch, a, b: torch._foreach_sub(a, b, alpha=3),
    "numbers": lambda torch, a, b: torch._foreach_mul(a, [2.0, 3.0]),
    "a tensor": lambda torch, a, b: torch._foreach_div(a, torch.tensor(2.0)),
    "scaled products": lambda torch, a, b: torch._foreach_addcmul(a, b, b, 0.5),
    "scaled quotients": lambda torch, a, b: torch._foreach_addcdiv(a, b, b, scalars=[1.0, 2.0]),
    "a value": lambda torch, a, b: torch._foreach_addcdiv(a, b, b, value=2),
    "norms": lambda torch, a, b: (torch._foreach_norm(a), torch._foreach_norm(a, 1)),
    "a base": lambda torch, a, b: torch._foreach_pow(2.0, a),
    "bounds": lambda torch, a, b: (torch._foreach_maximum(a, 1.5), torch._foreach_minimum(a, b)),
    "between": lambda torch, a, b: torch._foreach_lerp(a, b, 0.25),
    "one": lambda torch, a, b: (torch._foreach_exp(a), torch._foreach_max(a)),
    "written": lambda torch, a, b: (torch._foreach_mul_(a, 2.0) is a, a,
                                    torch._foreach_addcmul_(a, b, b, value=3) is a, a,
                                    torch._foreach_sqrt_(b), torch._foreach_copy_(a, b),
                                    torch._foreach_zero_(b), a, b),
    "no list": lambda torch, a, b: torch._foreach_exp(a[0]),
    "nothing": lambda torch, a, b: torch._foreach_exp([]),
    "no tensors": lambda torch, a, b: torch._foreach_exp([1.0]),
    "unlike lists": lambda torch, a, b: torch._foreach_add(a, b[:1]),
    "too few numbers": lambda torch, a, b: torch._foreach_add(a, [1.0]),
}


@behaviour_of_each(FOREACH.items())
def lists_of_tensors_in_one_call(torch, log, name, call):
    a = [torch.tensor([1.0, 2.0]), torch.tensor([[3.0], [4.0]])]
    b = [torch.tensor([2.0, 0.5]), torch.tensor([[1.0], [9.0]])]
    log.raises(lambda: log.values(*_flat(call(torch, a, b))))


def _flat(values):
    return [t for v in values for t in (_flat(v) if isinstance(v, (list, tuple)) else [v])]


@behaviour
def an_input_of_a_subclass_is_returned_as_one(torch, log):
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    class Named(torch.Tensor):
        pass

    for x in (torch.ones(2), torch.ones(2, requires_grad=True)):
        y = Same.apply(x.as_subclass(Named))
        log(type(y).__name__, y.requires_grad)
    log(type(Same.apply(torch.nn.Parameter(torch.ones(2)))).__name__)


# What few programs do


@behaviour
def a_leaf_that_requires_no_grad_any_more(torch, log):
    for hooked in (False, True):
        x = torch.ones(2, requires_grad=True)
        y = x * 2
        if hooked:
            x.register_hook(lambda g: log(g))
        x.requires_grad_(False)
        log.raises(lambda y=y: y.sum().backward())
        log(x.grad, x.requires_grad)


@behaviour
def gradients_of_another_dtype_are_recorded(torch, log):
    for create_graph in (False, True):
        x = torch.ones(2, requires_grad=True)
        x.grad_dtype = torch.float64
        for _ in range(2):
            (x ** 3).sum().backward(create_graph=create_graph)
            log(x.grad.dtype, x.grad.requires_grad)
            log.values(x.grad.detach())


@behaviour
def writes_to_parts_are_differentiated_twice(torch, log):
    def program(x, w):
        for write in (lambda part: part.copy_(w[:1]), lambda part: part.fill_(w[1]),
                      lambda part: part.mul_(w[:1]), lambda part: part.zero_()):
            y = x * x
            write(y[1:2])
            yield (y * y * w).sum()

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 5.0], requires_grad=True)
    for loss in program(x, w):
        first = torch.autograd.grad(loss, (x, w), create_graph=True)
        log.values(*first)
        log.values(*torch.autograd.grad(sum(g.sum() for g in first), (x, w)))
    for loss in program(x, w):
        loss.backward()
        log.raises(lambda loss=loss: loss.backward(create_graph=True))


@behaviour
def small_promises_of_tensors(torch, log):
    x = torch.ones(2, requires_grad=True)
    log((x * 2).grad_fn.requires_grad)
    log.refuses(lambda: [1] + torch.Size([2]))
    log.refuses(lambda: 3 + torch.Size([2]))
    log((1, 2) + torch.Size([3]), type((1, 2) + torch.Size([3])).__name__)
    memo = {}
    copied = x.__deepcopy__(memo)
    log(copied is x, x.__deepcopy__(memo) is copied)
    for alpha in (torch.tensor(2.0), torch.tensor(3)):
        log(torch.add(x, x, alpha=alpha), torch.sub(x, x, alpha=alpha))

    class Failing(torch.Tensor):
        @property
        def part(self):
            raise AttributeError("there is none")

    log.raises(lambda: torch.ones(2).as_subclass(Failing).part)
    log.refuses(lambda: torch.ones(2).as_subclass(Failing).nothing)


@behaviour_of_each([True, False])
def create_graph_where_nothing_else_is_recorded(torch, log, again):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for mode in (torch.no_grad, torch.enable_grad):
        x.grad = torch.ones(2) if again else None
        y = (x ** 3).sum()
        with mode():
            y.backward(create_graph=True)
        log(x.grad, x.grad.requires_grad)
