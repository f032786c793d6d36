"""Products with, and matrices of, first and second derivatives of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..backend.interface import library_of
from ..base.missing_names import suggest_names as _suggest_names
from ..base.modes import MODE, switched
from ..core.engine import Schedule, run
from ..core.tensor import Tensor, edge_of, wrap_any
from .backward import grad, starting
from .function import BackwardCFunction
from .graph import GradientEdge

_MISSING = {
    "back": "The output of the user-provided function is independent of input {i}. This is not "
            "allowed in strict mode.",
    "back_trick": "The gradient with respect to the input is independent of entry {i} in the "
                  "grad_outputs when using the double backward trick to compute forward mode "
                  "gradients. This is not allowed in strict mode.",
    "double_back": "The jacobian of the user-provided function is independent of input {i}. This "
                   "is not allowed in strict mode.",
    "double_back_trick": "The hessian of the user-provided function is independent of entry {i} in "
                         "the grad_jacobian. This is not allowed in strict mode as it prevents "
                         "from using the double backward trick to replace forward mode AD.",
}
_UNRECORDED = ("The {kind} of the user-provided function is independent of input {i}. This is not "
               "allowed in strict mode when create_graph=True.")
_CONSTANT_GRADIENT = ("The gradient with respect to input {i} is independent of the inputs of the "
                      "user-provided function. This is not allowed in strict mode.")
_CONSTANT_JACOBIAN = (
    "While computing the hessian, found that the jacobian of the user-provided function with "
    "respect to input {i} is independent of the input. This is not allowed in strict mode. You "
    "should ensure that your function is twice differentiable and that the jacobian depends on the "
    "inputs (this would be violated by a linear function for example).")


# ---------------------------------------------------------------- checking and unpacking


class _Tensors(tuple[Tensor, ...]):
    """Tensors that a user gave in a tuple, or one alone; results go back in the same way."""

    is_tuple: bool

    def __new__(cls, tensors: Iterable[Tensor], is_tuple: bool) -> _Tensors:
        made = super().__new__(cls, tensors)
        made.is_tuple = is_tuple
        return made

    def unpacked(self, results: Any) -> Any:
        return results if self.is_tuple else results[0]


def _tensors(value: Any, argument: str, function: str) -> _Tensors:
    is_tuple = isinstance(value, tuple)
    found = value if is_tuple else (value,)
    for i, item in enumerate(found):
        if not isinstance(item, Tensor):
            where = f"value at index {i} has" if is_tuple else f"given {argument} has"
            raise TypeError(f"The {argument} given to {function} must be either a Tensor or a "
                            f"tuple of Tensors but the {where} type {type(item)}.")
    return _Tensors(found, is_tuple)


def _entered(value: Any, argument: str, function: str, create_graph: bool) -> _Tensors:
    """Copies of the tensors given to compute with: tied to the originals only if asked."""
    given = _tensors(value, argument, function)
    return _Tensors([t.view_as(t) if create_graph and t.requires_grad
                     else t.detach().requires_grad_(argument == "inputs") for t in given],
                    given.is_tuple)


def _left(results: Any, create_graph: bool) -> Any:
    """Results as the caller gets them: without a graph unless asked for."""
    if isinstance(results, (tuple, list)):
        return tuple([_left(r, create_graph) for r in results])
    return results if create_graph else results.detach()


# PyTorch's names of such helpers, which other libraries import.
_grad_postprocess = _left


def _as_tuple(value: Any, argument: str, function: str) -> tuple[bool, tuple[Tensor, ...]]:
    found = _tensors(value, argument, function)
    return found.is_tuple, tuple(found)


def _tuple_postprocess(results: Any, to_unpack: Any) -> Any:
    """Results without the tuples that the caller did not give, of outputs and of inputs."""
    of_outputs, of_inputs = to_unpack if isinstance(to_unpack, tuple) else (to_unpack, True)
    if not of_inputs:
        results = tuple([row[0] for row in results])
    return results if of_outputs else results[0]


def _outputs_of(func: Callable[..., Any], inputs: tuple[Tensor, ...], name: str,
                strict: bool) -> _Tensors:
    outputs = _tensors(func(*inputs), "outputs of the user-provided function", name)
    for i, out in enumerate(outputs):
        if strict and not out.requires_grad:
            raise RuntimeError(f"Output {i} of the user-provided function does not require "
                               "gradients. The outputs must be computed in a differentiable "
                               "manner from the input when running in strict mode.")
    return outputs


def _output_of(func: Callable[..., Any], inputs: tuple[Tensor, ...], name: str,
               strict: bool) -> _Tensors:
    """The one scalar that ``func`` has to return."""
    outputs = _outputs_of(func, inputs, name, strict)
    if outputs.is_tuple:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a "
                           "single element")
    return outputs


def _vector(v: Any, like: _Tensors, name: str, create_graph: bool, optional_if: str) -> Any:
    """The checked ``v`` of a product with tensors ``like`` these."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if {optional_if} a single Tensor "
                               "with a single element.")
        return None
    given = _entered(v, "v", name, create_graph)
    if len(given) != len(like):
        if like.is_tuple:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got "
                               f"{len(given)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (found, expected) in enumerate(zip(given, like, strict=True)):
        if found.shape != expected.shape:
            entry = f"Entry {i} in " if like.is_tuple else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {expected.shape} but got "
                               f"{found.shape}.")
    return given


def _input_vector(v: Any, inputs: _Tensors, name: str, create_graph: bool) -> Any:
    return _vector(v, inputs, name, create_graph, "the input to the user-provided function is")


def _check_inputs_depend(gradients: tuple[Any, ...], constant: str) -> None:
    for i, g in enumerate(gradients):
        if g is None:
            raise RuntimeError(_MISSING["back"].format(i=i))
        if not g.requires_grad:
            raise RuntimeError(constant.format(i=i))


def _gradients(outputs: tuple[Tensor, ...], inputs: tuple[Tensor, ...], vectors: Any = None,
               create_graph: bool = False, retain_graph: bool | None = None) -> tuple[Any, ...]:
    """``grad`` over those outputs that have a graph; None where nothing arrives."""
    vectors = vectors if vectors is not None else (None,) * len(outputs)
    live = [(o, v) for o, v in zip(outputs, vectors, strict=True) if o.requires_grad]
    if not live:
        return (None,) * len(inputs)
    return grad([o for o, _ in live], inputs, [v for _, v in live], allow_unused=True,
                create_graph=create_graph, retain_graph=retain_graph)


def _zeros_where_none(gradients: tuple[Any, ...], like: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return tuple([t.new_zeros(t.shape) if g is None else g
                  for g, t in zip(gradients, like, strict=True)])


def _zero_seeds(like: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Points at which a linear function, the backward pass, is differentiated."""
    return tuple([t.new_zeros(t.shape).requires_grad_() for t in like])


# ---------------------------------------------------------------- products


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Any, Any]:
    """``func(*inputs)`` and the product of ``v`` with its Jacobian."""
    with switched(grad=True):
        inner = _entered(inputs, "inputs", "vjp", create_graph)
        outputs = _outputs_of(func, inner, "vjp", strict)
        v = _vector(v, outputs, "vjp", create_graph, "the user-provided function returns")
    return _result(outputs, outputs, inner, v, inner, "back", create_graph, strict)


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Any, Any]:
    """``func(*inputs)`` and the product of its Jacobian with ``v``, by transposing twice."""
    with switched(grad=True):
        inner = _entered(inputs, "inputs", "jvp", create_graph)
        v = _input_vector(v, inner, "jvp", create_graph)
        outputs = _outputs_of(func, inner, "jvp", strict)
        seeds = _zero_seeds(outputs)
        pulled = _gradients(outputs, inner, seeds, create_graph=True)
        if strict:
            _check_inputs_depend(pulled, _CONSTANT_GRADIENT)
        pulled = _zeros_where_none(pulled, inner)
    return _result(outputs, pulled, seeds, v, outputs, "back_trick", create_graph, strict)


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Any, Any]:
    """``func(*inputs)`` and the product of ``v`` with its Hessian."""
    with switched(grad=True):
        inner = _entered(inputs, "inputs", "vhp", create_graph)
        v = _input_vector(v, inner, "vhp", create_graph)
        output = _output_of(func, inner, "vhp", strict)
        slope = _slope(output, inner, strict)
    return _result(output, slope, inner, v, inner, "double_back", create_graph, strict)


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Any, Any]:
    """``func(*inputs)`` and the product of its Hessian with ``v``."""
    with switched(grad=True):
        inner = _entered(inputs, "inputs", "hvp", create_graph)
        v = _input_vector(v, inner, "hvp", create_graph)
        output = _output_of(func, inner, "hvp", strict)
        # The Hessian that the ops' own rules give is symmetric; its transposed product is cheaper.
        is_symmetric = not (strict or create_graph) and _has_rules_only(output[0])
        pulled, seeds = _slope(output, inner, strict), tuple(inner)
        if not is_symmetric:
            seeds = _zero_seeds(inner)
            pulled = _zeros_where_none(_gradients(pulled, inner, seeds, create_graph=True), inner)
    return _result(output, pulled, seeds, v, inner, "double_back_trick", create_graph, strict)


def _slope(output: _Tensors, inputs: _Tensors, strict: bool) -> tuple[Tensor, ...]:
    """The recorded gradient of a scalar."""
    found = _gradients(output, inputs, create_graph=True)
    if strict:
        _check_inputs_depend(found, _CONSTANT_JACOBIAN)
    return _zeros_where_none(found, inputs)


def _result(outputs: _Tensors, heads: tuple[Tensor, ...], sources: tuple[Tensor, ...], v: Any,
            like: _Tensors, stage: str, create_graph: bool, strict: bool) -> tuple[Any, Any]:
    """The outputs, and the product of ``v`` with the derivative of ``heads`` by ``sources``."""
    with switched(grad=create_graph or MODE.get().grad):
        found = _gradients(heads, sources, v, create_graph=create_graph)
        if strict:
            _check_product(found, stage, create_graph)
        product = _zeros_where_none(found, like)
    return (outputs.unpacked(_left(outputs, create_graph)),
            like.unpacked(_left(product, create_graph)))


def _check_product(product: tuple[Any, ...], stage: str, create_graph: bool) -> None:
    for i, g in enumerate(product):
        if g is None:
            raise RuntimeError(_MISSING[stage].format(i=i))
        if create_graph and not g.requires_grad:
            kind = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(_UNRECORDED.format(kind=kind, i=i))


def _has_rules_only(output: Tensor) -> bool:
    """Whether no hook and no custom function has a say in the gradients of ``output``."""
    edge = edge_of(output)
    nodes = [] if edge is None else Schedule([edge], None).order
    return not any(isinstance(node, BackwardCFunction) or node.is_watched for node in nodes)


# ---------------------------------------------------------------- Jacobians and Hessians


def _construct_standard_basis_for(tensors: tuple[Tensor, ...],
                                  tensor_numels: tuple[int, ...]) -> tuple[Tensor, ...]:
    """The unit vectors of the space of all elements together, cut into parts for each tensor."""
    from ..func.reverse import standard_basis

    return tuple([part.reshape((len(part), count)) for part, count in zip(
        standard_basis(list(tensors), list(tensor_numels)), tensor_numels, strict=True)])


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
        inner = _entered(inputs, "inputs", "jacobian", create_graph)
        outputs = _outputs_of(func, inner, "jacobian", strict)
        if vectorize:
            if strict:
                raise RuntimeError("torch.autograd.functional.jacobian: `strict=True` and "
                                   "`vectorized=True` are not supported together. Please either "
                                   "set `strict=False` or `vectorize=False`.")
            blocks = _rows_at_once(outputs, inner, create_graph)
        else:
            blocks = _rows_one_by_one(outputs, inner, create_graph, strict)
    return outputs.unpacked(tuple([inner.unpacked(row) for row in _left(blocks, create_graph)]))


def _rows_one_by_one(outputs: tuple[Tensor, ...], inputs: tuple[Tensor, ...], create_graph: bool,
                     strict: bool) -> tuple[Any, ...]:
    from ..ops.shapes.joining import stack

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
                                           f"independent of input {k}. This is not allowed in "
                                           "strict mode.")
                    g = source.new_zeros(source.shape)
                elif strict and create_graph and not g.requires_grad:
                    raise RuntimeError(_UNRECORDED.format(kind="jacobian", i=i))
                rows[k].append(g)
        blocks.append(tuple([
            stack(parts, 0).view((*out.shape, *source.shape)) if parts
            else source.new_zeros((*out.shape, *source.shape))
            for parts, source in zip(rows, inputs, strict=True)]))
    return tuple(blocks)


def _raw_rows(out: Tensor, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """One output's rows as arrays: the backward pass is scheduled once and run for each row."""
    edge, targets = edge_of(out), [edge_of(t) for t in inputs]
    schedule = Schedule([edge], set(targets))
    shape, dtype = out._data.shape, out._data.dtype
    library = library_of(out._data)
    blocks = [library.zeros((out.numel(), *t._data.shape), t._data.dtype) for t in inputs]
    for j in range(out.numel()):
        seed = library.zeros(shape, dtype)
        seed.reshape(-1)[j] = 1
        found = run([edge], [seed], retain=True, recorded=False, targets=targets,
                    accumulate=False, schedule=schedule)
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
    from ..func import jvp as push, vmap
    from ..func.reverse import standard_basis

    if strict:
        raise RuntimeError("torch.autograd.functional.jacobian: `strict=True` and "
                           '`strategy="forward-mode"` are not supported together (yet). Please '
                           'either set `strict=False` or `strategy="reverse-mode"`.')
    given = _tensors(inputs, "inputs", "jacobian")
    if not vectorize:
        raise NotImplementedError("Computing Jacobian using forward-AD or forward-over-reverse "
                                  "Hessian isonly implemented for `vectorize=True`.")
    sizes = [t.numel() for t in given]
    outputs: _Tensors

    def checked(*xs: Tensor) -> tuple[Tensor, ...]:
        nonlocal outputs
        outputs = _tensors(func(*xs), "outputs", "None")
        return tuple(outputs)

    def column(*directions: Tensor) -> tuple[Tensor, ...]:
        return push(checked, tuple(given), directions)[1]

    # PyTorch returns lists here, and tuples everywhere else.
    blocks: Any = []
    for columns in vmap(column)(*standard_basis(list(given), sizes)):
        rows = columns.movedim(0, -1)
        blocks.append([part.reshape((*rows.shape[:-1], *t.shape))
                       for part, t in zip(rows.split(sizes, -1), given, strict=True)])
    if not given.is_tuple:
        blocks = tuple([row[0] for row in blocks])
    return outputs.unpacked(blocks)


def hessian(func: Callable[..., Any], inputs: Any, create_graph: bool = False,
            strict: bool = False, vectorize: bool = False,
            outer_jacobian_strategy: str = "reverse-mode") -> Any:
    """The Hessian of a function with one scalar output."""
    given = _tensors(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def scalar(*xs: Tensor) -> Tensor:
        return _output_of(func, xs, "hessian", strict)[0].squeeze()

    def slope(*xs: Tensor) -> Any:
        if outer_jacobian_strategy == "forward-mode":
            xs = tuple([x.requires_grad_() if x.is_leaf else x for x in xs])
        found = jacobian(scalar, xs, create_graph=True)
        if strict:
            _check_inputs_depend(found, _CONSTANT_JACOBIAN)
        return found

    result = jacobian(slope, given, create_graph=create_graph, strict=strict, vectorize=vectorize,
                      strategy=outer_jacobian_strategy)
    return result if given.is_tuple else result[0][0]


# ---------------------------------------------------------------- batched gradients


def batched_grad(outputs: tuple[Any, ...], inputs: tuple[Any, ...], gradients: tuple[Any, ...],
                 retain_graph: bool | None, create_graph: bool, allow_unused: bool,
                 materialize_grads: bool) -> tuple[Any, ...]:
    """``grad`` for many ``grad_outputs`` at once: their first dimension is a batch."""
    from ..func import vmap

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


_suggest_names(__name__)
