"""Products with, and matrices of, first and second derivatives of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..backend import numpy as xp
from ..engine import Plan, run
from ..interpret import wrap_any
from ..modes import switched
from ..tensor import Tensor, edge_of
from .backward import grad, starting
from .function import BackwardCFunction
from .graph import GradientEdge

_STRICT = " This is not allowed in strict mode."


# ---------------------------------------------------------------- checking and unpacking


def _tensors(value: Any, argument: str, function: str) -> tuple[bool, tuple[Tensor, ...]]:
    """Whether a tuple was given, and the tensors in any case."""
    is_tuple = isinstance(value, tuple)
    found = value if is_tuple else (value,)
    for i, item in enumerate(found):
        if not isinstance(item, Tensor):
            where = f"value at index {i} has" if is_tuple else f"given {argument} has"
            raise TypeError(f"The {argument} given to {function} must be either a Tensor or a "
                            f"tuple of Tensors but the {where} type {type(item)}.")
    return is_tuple, found


def _entered(inputs: tuple[Tensor, ...], create_graph: bool,
             need_graph: bool = True) -> tuple[Tensor, ...]:
    """Copies of the inputs to differentiate at: tied to the originals only if asked."""
    return tuple([t.view_as(t) if create_graph and t.requires_grad
                  else t.detach().requires_grad_(need_graph) for t in inputs])


def _left(results: Any, create_graph: bool) -> Any:
    """Results as the caller gets them: without a graph unless asked for."""
    if isinstance(results, (tuple, list)):
        return tuple([_left(r, create_graph) for r in results])
    return results if create_graph else results.detach()


def _unpacked(results: Any, is_tuple: bool) -> Any:
    return results if is_tuple else results[0]


def _check_vector(v: tuple[Tensor, ...], like: tuple[Tensor, ...], is_tuple: bool) -> None:
    if len(v) != len(like):
        if is_tuple:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got "
                               f"{len(v)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (given, expected) in enumerate(zip(v, like, strict=True)):
        if given.shape != expected.shape:
            entry = f"Entry {i} in " if is_tuple else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {expected.shape} but got "
                               f"{given.shape}.")


def _check_outputs_depend(outputs: tuple[Tensor, ...], strict: bool) -> None:
    for i, out in enumerate(outputs):
        if strict and not out.requires_grad:
            raise RuntimeError(f"Output {i} of the user-provided function does not require "
                               "gradients. The outputs must be computed in a differentiable "
                               "manner from the input when running in strict mode.")


def _check_inputs_depend(gradients: tuple[Any, ...], kind: str) -> None:
    for i, g in enumerate(gradients):
        if g is None:
            raise RuntimeError("The output of the user-provided function is independent of input "
                               f"{i}.{_STRICT}")
        if not g.requires_grad:
            if kind == "jacobian":
                raise RuntimeError(
                    "While computing the hessian, found that the jacobian of the user-provided "
                    f"function with respect to input {i} is independent of the input. This is not "
                    "allowed in strict mode. You should ensure that your function is twice "
                    "differentiable and that the jacobian depends on the inputs (this would be "
                    "violated by a linear function for example).")
            if kind == "hessian":
                raise RuntimeError(
                    f"The hessian of the user-provided function with respect to input {i} is "
                    "independent of the input. This is not allowed in strict mode. You should "
                    "ensure that your function is thrice differentiable and that the hessian "
                    "depends on the inputs.")
            raise RuntimeError(f"The gradient with respect to input {i} is independent of the "
                               f"inputs of the user-provided function.{_STRICT}")


def _gradients(outputs: tuple[Tensor, ...], inputs: tuple[Tensor, ...], vectors: Any = None,
               create_graph: bool = False, retain_graph: bool | None = None) -> tuple[Any, ...]:
    """``grad`` over those outputs that have a graph; None where nothing arrives."""
    vectors = vectors if vectors is not None else (None,) * len(outputs)
    live = [(o, v) for o, v in zip(outputs, vectors, strict=True) if o.requires_grad]
    if not live:
        return (None,) * len(inputs)
    return grad([o for o, _ in live], inputs, [v for _, v in live], allow_unused=True,
                create_graph=create_graph, retain_graph=retain_graph)


_MISSING = {
    "back": "The output of the user-provided function is independent of input {i}.",
    "back_trick": "The gradient with respect to the input is independent of entry {i} in the "
                  "grad_outputs when using the double backward trick to compute forward mode "
                  "gradients.",
    "double_back": "The jacobian of the user-provided function is independent of input {i}.",
    "double_back_trick": "The hessian of the user-provided function is independent of entry {i} in "
                         "the grad_jacobian. This is not allowed in strict mode as it prevents "
                         "from using the double backward trick to replace forward mode AD.",
}


def _filled(gradients: tuple[Any, ...], like: tuple[Tensor, ...], strict: bool, create_graph: bool,
            stage: str) -> tuple[Tensor, ...]:
    """Zeros in place of missing gradients; in strict mode they are errors."""
    found = []
    for i, (g, ref) in enumerate(zip(gradients, like, strict=True)):
        if g is None:
            if strict:
                text = _MISSING[stage].format(i=i)
                raise RuntimeError(text if stage == "double_back_trick" else text + _STRICT)
            g = ref.new_zeros(ref.shape)
        elif strict and create_graph and not g.requires_grad and "double" not in stage:
            raise RuntimeError(f"The jacobian of the user-provided function is independent of "
                               f"input {i}. This is not allowed in strict mode when "
                               "create_graph=True.")
        elif strict and create_graph and not g.requires_grad:
            raise RuntimeError(f"The hessian of the user-provided function is independent of "
                               f"input {i}. This is not allowed in strict mode when "
                               "create_graph=True.")
        found.append(g)
    return tuple(found)


def _vector_or_none(v: Any, inputs: tuple[Tensor, ...], is_tuple: bool, name: str,
                    create_graph: bool) -> Any:
    """The checked ``v`` of a product on the input side."""
    if v is not None:
        _, given = _tensors(v, "v", name)
        given = _entered(given, create_graph, need_graph=False)
        _check_vector(given, inputs, is_tuple)
        return given
    if len(inputs) != 1 or inputs[0].numel() != 1:
        raise RuntimeError("The vector v can only be None if the input to the user-provided "
                           "function is a single Tensor with a single element.")
    return None


def _single_output(outputs: tuple[Tensor, ...], is_tuple: bool, name: str) -> None:
    if is_tuple:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a "
                           "single element")


# ---------------------------------------------------------------- products


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Any, Any]:
    """``func(*inputs)`` and the product of ``v`` with its Jacobian."""
    with switched(grad=True):
        is_inputs_tuple, given = _tensors(inputs, "inputs", "vjp")
        inner = _entered(given, create_graph)
        is_outputs_tuple, outputs = _tensors(func(*inner), "outputs of the user-provided function",
                                             "vjp")
        _check_outputs_depend(outputs, strict)
        vectors = None
        if v is not None:
            _, vectors = _tensors(v, "v", "vjp")
            vectors = _entered(vectors, create_graph, need_graph=False)
            _check_vector(vectors, outputs, is_outputs_tuple)
        elif len(outputs) != 1 or outputs[0].numel() != 1:
            raise RuntimeError("The vector v can only be None if the user-provided function returns"
                               " a single Tensor with a single element.")
    with switched(grad=create_graph or _grad_enabled()):
        found = _gradients(outputs, inner, vectors, create_graph=create_graph)
        product = _filled(found, inner, strict, create_graph, "back")
    return (_unpacked(_left(outputs, create_graph), is_outputs_tuple),
            _unpacked(_left(product, create_graph), is_inputs_tuple))


def _grad_enabled() -> bool:
    from ..modes import MODE

    return MODE.get().grad


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Any, Any]:
    """``func(*inputs)`` and the product of its Jacobian with ``v``, by transposing twice."""
    with switched(grad=True):
        is_inputs_tuple, given = _tensors(inputs, "inputs", "jvp")
        inner = _entered(given, create_graph)
        vectors = _vector_or_none(v, inner, is_inputs_tuple, "jvp", create_graph)
        is_outputs_tuple, outputs = _tensors(func(*inner), "outputs of the user-provided function",
                                             "jvp")
        _check_outputs_depend(outputs, strict)
        seeds = tuple([o.new_zeros(o.shape).requires_grad_() for o in outputs])
        pulled = _gradients(outputs, inner, seeds, create_graph=True)
        if strict:
            _check_inputs_depend(pulled, "gradient")
        pulled = tuple([i.new_zeros(i.shape) if g is None else g
                        for g, i in zip(pulled, inner, strict=True)])
    with switched(grad=create_graph or _grad_enabled()):
        found = _gradients(pulled, seeds, vectors, create_graph=create_graph) if create_graph \
            else _gradients(pulled, seeds, vectors)
        product = _filled(found, outputs, strict, create_graph, "back_trick")
    return (_unpacked(_left(outputs, create_graph), is_outputs_tuple),
            _unpacked(_left(product, create_graph), is_outputs_tuple))


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Any, Any]:
    """``func(*inputs)`` and the product of ``v`` with its Hessian."""
    with switched(grad=True):
        is_tuple, given = _tensors(inputs, "inputs", "vhp")
        inner = _entered(given, create_graph)
        vectors = _vector_or_none(v, inner, is_tuple, "vhp", create_graph)
        is_outputs_tuple, outputs = _tensors(func(*inner), "outputs of the user-provided function",
                                             "vhp")
        _check_outputs_depend(outputs, strict)
        _single_output(outputs, is_outputs_tuple, "vhp")
        slope = _gradients(outputs, inner, create_graph=True)
        if strict:
            _check_inputs_depend(slope, "jacobian")
        slope = _zeros_where_none(slope, inner)
    with switched(grad=create_graph or _grad_enabled()):
        found = _gradients(slope, inner, vectors, create_graph=create_graph)
        product = _filled(found, inner, strict, create_graph, "double_back")
    return (_unpacked(_left(outputs, create_graph), is_outputs_tuple),
            _unpacked(_left(product, create_graph), is_tuple))


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Any, Any]:
    """``func(*inputs)`` and the product of its Hessian with ``v``."""
    with switched(grad=True):
        is_tuple, given = _tensors(inputs, "inputs", "hvp")
        inner = _entered(given, create_graph)
        vectors = _vector_or_none(v, inner, is_tuple, "hvp", create_graph)
        is_outputs_tuple, outputs = _tensors(func(*inner), "outputs of the user-provided function",
                                             "hvp")
        _check_outputs_depend(outputs, strict)
        _single_output(outputs, is_outputs_tuple, "hvp")
        # The Hessian that the ops' own rules give is symmetric; its transposed product is cheaper.
        is_symmetric = not (strict or create_graph) and _has_rules_only(outputs[0])
        slope = _gradients(outputs, inner, create_graph=True)
        if strict:
            _check_inputs_depend(slope, "jacobian")
        slope = _zeros_where_none(slope, inner)
        if not is_symmetric:
            seeds = tuple([i.new_zeros(i.shape).requires_grad_() for i in inner])
            pulled = _zeros_where_none(_gradients(slope, inner, seeds, create_graph=True), inner)
    with switched(grad=create_graph or _grad_enabled()):
        if is_symmetric:
            found = _gradients(slope, inner, vectors)
        else:
            found = _gradients(pulled, seeds, vectors, create_graph=create_graph)
        product = _filled(found, inner, strict, create_graph, "double_back_trick")
    return (_unpacked(_left(outputs, create_graph), is_outputs_tuple),
            _unpacked(_left(product, create_graph), is_tuple))


def _has_rules_only(output: Tensor) -> bool:
    """Whether no hook and no custom function has a say in the gradients of ``output``."""
    if output._edge is None:
        return True
    plan = Plan([edge_of(output)], None)
    return not any(isinstance(node, BackwardCFunction) or node.is_watched for node in plan.order)


def _zeros_where_none(gradients: tuple[Any, ...], like: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return tuple([t.new_zeros(t.shape) if g is None else g
                  for g, t in zip(gradients, like, strict=True)])


# ---------------------------------------------------------------- Jacobians and Hessians


def jacobian(func: Callable[..., Any], inputs: Any, create_graph: bool = False,
             strict: bool = False, vectorize: bool = False,
             strategy: str = "reverse-mode") -> Any:
    """The Jacobian of ``func``: for each output and input, all derivatives of one by the other."""
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode". Hint'
                             ': If your function has more outputs than inputs, "forward-mode" '
                             'tends to be more performant. Otherwise, prefer to use '
                             '"reverse-mode".')
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError("torch.autograd.functional.jacobian: `create_graph=True` and "
                                      '`strategy="forward-mode"` are not supported together (yet). '
                                      "Please either set `create_graph=False` or "
                                      '`strategy="reverse-mode"`.')
        return _forward_jacobian(func, inputs, strict, vectorize)
    with switched(grad=True):
        is_inputs_tuple, given = _tensors(inputs, "inputs", "jacobian")
        inner = _entered(given, create_graph)
        is_outputs_tuple, outputs = _tensors(func(*inner), "outputs of the user-provided function",
                                             "jacobian")
        _check_outputs_depend(outputs, strict)
        if vectorize:
            if strict:
                raise RuntimeError("torch.autograd.functional.jacobian: `strict=True` and "
                                   "`vectorized=True` are not supported together. Please either "
                                   "set `strict=False` or `vectorize=False`.")
            blocks = _rows_at_once(outputs, inner, create_graph)
        else:
            blocks = _rows_one_by_one(outputs, inner, create_graph, strict)
    return _matrix(_left(blocks, create_graph), is_outputs_tuple, is_inputs_tuple)


def _matrix(blocks: Any, is_outputs_tuple: bool, is_inputs_tuple: bool) -> Any:
    """Tuples only where the caller used tuples."""
    rows = tuple([_unpacked(row, is_inputs_tuple) for row in blocks])
    return _unpacked(rows, is_outputs_tuple)


def _rows_one_by_one(outputs: tuple[Tensor, ...], inputs: tuple[Tensor, ...], create_graph: bool,
                     strict: bool) -> tuple[Any, ...]:
    from ..ops.join import stack

    blocks = []
    for i, out in enumerate(outputs):
        if not create_graph and not strict and out.requires_grad and out.numel() \
                and not out._is_traced and not out.is_complex():
            blocks.append(_raw_rows(out, inputs))
            continue
        rows: list[list[Tensor]] = [[] for _ in inputs]
        flat = out.reshape(-1)
        for j in range(out.numel()):
            found = _gradients((flat[j],), inputs, retain_graph=True, create_graph=create_graph)
            for k, (g, source) in enumerate(zip(found, inputs, strict=True)):
                if g is None:
                    if strict:
                        raise RuntimeError(f"Output {i} of the user-provided function is "
                                           f"independent of input {k}.{_STRICT}")
                    g = source.new_zeros(source.shape)
                elif strict and create_graph and not g.requires_grad:
                    raise RuntimeError("The jacobian of the user-provided function is independent "
                                       f"of input {i}. This is not allowed in strict mode when "
                                       "create_graph=True.")
                rows[k].append(g)
        blocks.append(tuple([
            stack(parts, 0).view((*out.shape, *source.shape)) if parts
            else source.new_zeros((*out.shape, *source.shape))
            for parts, source in zip(rows, inputs, strict=True)]))
    return tuple(blocks)


def _raw_rows(out: Tensor, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """One output's rows as arrays: the backward pass is planned once and run for each row."""
    edge, targets = edge_of(out), [edge_of(t) for t in inputs]
    plan = Plan([edge], set(targets))
    shape, dtype = out._data.shape, out._data.dtype
    blocks = [xp.zeros((out.numel(), *t._data.shape), t._data.dtype) for t in inputs]
    for j in range(out.numel()):
        seed = xp.zeros(shape, dtype)
        seed.reshape(-1)[j] = 1
        found = run([edge], [seed], retain=True, recorded=False, targets=targets,
                    accumulate=False, plan=plan)
        for block, target in zip(blocks, targets, strict=True):
            row = found.get(target)
            if row is not None:
                block[j] = row
    return tuple([wrap_any(b.reshape((*shape, *t._data.shape)))
                  for b, t in zip(blocks, inputs, strict=True)])


def _rows_at_once(outputs: tuple[Tensor, ...], inputs: tuple[Tensor, ...],
                  create_graph: bool) -> tuple[Any, ...]:
    """All rows in one batched backward pass."""
    from ..func.reverse import standard_basis

    sizes = [o.numel() for o in outputs]
    basis = standard_basis(list(outputs), sizes)
    live = [(o, b) for o, b in zip(outputs, basis, strict=True) if o.requires_grad]
    found: tuple[Any, ...] = (None,) * len(inputs)
    if live:
        found = batched_grad(tuple(o for o, _ in live), inputs, tuple(b for _, b in live), True,
                             create_graph, True, False)
    total = sum(sizes)
    columns = [source.new_zeros((total, *source.shape)) if g is None else g
               for g, source in zip(found, inputs, strict=True)]
    blocks = []
    start = 0
    for out, size in zip(outputs, sizes, strict=True):
        blocks.append(tuple([c.narrow(0, start, size).reshape((*out.shape, *source.shape))
                             for c, source in zip(columns, inputs, strict=True)]))
        start += size
    return tuple(blocks)


def _forward_jacobian(func: Callable[..., Any], inputs: Any, strict: bool,
                      vectorize: bool) -> Any:
    from ..func.batching import vmap
    from ..func.forward import jvp as push
    from ..func.reverse import standard_basis

    if strict:
        raise RuntimeError("torch.autograd.functional.jacobian: `strict=True` and "
                           '`strategy="forward-mode"` are not supported together (yet). Please '
                           'either set `strict=False` or `strategy="reverse-mode"`.')
    is_inputs_tuple, given = _tensors(inputs, "inputs", "jacobian")
    if not vectorize:
        raise NotImplementedError("Computing Jacobian using forward-AD or forward-over-reverse "
                                  "Hessian isonly implemented for `vectorize=True`.")
    sizes = [t.numel() for t in given]
    is_outputs_tuple = False

    def checked(*xs: Tensor) -> tuple[Tensor, ...]:
        nonlocal is_outputs_tuple
        is_outputs_tuple, outputs = _tensors(func(*xs), "outputs", "None")
        return outputs

    def column(*directions: Tensor) -> tuple[Tensor, ...]:
        return push(checked, given, directions)[1]

    # PyTorch returns lists here, and tuples everywhere else.
    blocks: Any = []
    for columns in vmap(column)(*standard_basis(list(given), sizes)):
        rows = columns.movedim(0, -1)
        blocks.append([part.reshape((*rows.shape[:-1], *t.shape))
                       for part, t in zip(rows.split(sizes, -1), given, strict=True)])
    if not is_inputs_tuple:
        blocks = tuple([row[0] for row in blocks])
    return _unpacked(blocks, is_outputs_tuple)


def hessian(func: Callable[..., Any], inputs: Any, create_graph: bool = False,
            strict: bool = False, vectorize: bool = False,
            outer_jacobian_strategy: str = "reverse-mode") -> Any:
    """The Hessian of a function with one scalar output."""
    is_inputs_tuple, given = _tensors(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def scalar(*xs: Tensor) -> Tensor:
        is_tuple, outputs = _tensors(func(*xs), "outputs of the user-provided function", "hessian")
        _check_outputs_depend(outputs, strict)
        _single_output(outputs, is_tuple, "hessian")
        return outputs[0].squeeze()

    def slope(*xs: Tensor) -> Any:
        if outer_jacobian_strategy == "forward-mode":
            xs = tuple([x.requires_grad_() if x.is_leaf else x for x in xs])
        found = jacobian(scalar, xs, create_graph=True)
        if strict:
            _check_inputs_depend(found, "jacobian")
        return found

    result = jacobian(slope, given, create_graph=create_graph, strict=strict, vectorize=vectorize,
                      strategy=outer_jacobian_strategy)
    return result if is_inputs_tuple else result[0][0]


# ---------------------------------------------------------------- batched gradients


def batched_grad(outputs: tuple[Any, ...], inputs: tuple[Any, ...], gradients: tuple[Any, ...],
                 retain_graph: bool | None, create_graph: bool, allow_unused: bool,
                 materialize_grads: bool) -> tuple[Any, ...]:
    """``grad`` for many ``grad_outputs`` at once: their first dimension is a batch."""
    from ..func.batching import vmap

    missing: list[bool] = []
    for position, (output, gradient) in enumerate(zip(outputs, gradients, strict=True)):
        _check_batch(position, output, gradient)

    def one(*seeds: Tensor) -> tuple[Tensor, ...]:
        found = grad(outputs, inputs, seeds, retain_graph=retain_graph, create_graph=create_graph,
                     allow_unused=allow_unused)
        missing[:] = [g is None for g in found]
        return tuple([g for g in found if g is not None])

    if any(g is None for g in gradients):
        raise ValueError("vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but "
                         "that input is a Tensor of dimensionality 0 so expected in_dim to satisfy "
                         "0 <= in_dim < 0.")
    batched = iter(vmap(one)(*gradients))
    return tuple([next(batched) if not absent else t.new_zeros(t.shape) if materialize_grads
                  else None for absent, t in zip(missing, inputs, strict=True)])


def _check_batch(position: int, output: Any, gradient: Any) -> None:
    """Raise unless ``gradient`` is a batch of gradients of ``output``."""
    if gradient is None:
        starting((output,), (None,), False)  # says what is wrong with it, if anything is
    if gradient is None or not isinstance(gradient, Tensor) or isinstance(output, GradientEdge):
        return
    if gradient.dim() == 0:
        raise IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
                         "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number")
    if tuple(gradient.shape[1:]) != tuple(output.shape):
        raise RuntimeError(
            "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as "
            "the batch dimension. The sizes of the remaining dimensions are expected to match the "
            "shape of corresponding output, but a mismatch was detected: grad_output"
            f"[{position}] has a shape of {gradient.shape[1:]} and output[{position}] has a shape "
            f"of {output.shape}. If you only want some tensors in `grad_output` to be considered "
            "batched, consider using vmap.")
