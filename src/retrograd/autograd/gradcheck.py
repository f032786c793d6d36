"""Checking derivatives against finite differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from .. import dtypes
from ..modes import switched
from ..tensor import Tensor
from .backward import grad


class GradcheckError(RuntimeError):
    """An analytical derivative disagrees with the numerical one, or breaks another promise."""


class Settings(NamedTuple):
    """How to compare."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_grad_dtypes: bool


def gradcheck(func: Callable[..., Any], inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5,
              rtol: float = 1e-3, raise_exception: bool = True, nondet_tol: float = 0.0,
              check_undefined_grad: bool = True, check_grad_dtypes: bool = False,
              check_batched_grad: bool = False, check_batched_forward_grad: bool = False,
              check_forward_ad: bool = False, check_backward_ad: bool = True,
              fast_mode: bool = False, masked: bool | None = None) -> bool:
    """Compare ``func``'s derivatives with finite differences; raise or return False if they differ.

    Use float64 inputs: single precision is too coarse for the default tolerances.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be "
                             "True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to "
                             "be True")
    given = _as_tuple(inputs)
    settings = Settings(eps, atol, rtol, nondet_tol, check_grad_dtypes)
    try:
        _check_inputs(given)
        outputs = _as_tuple(func(*given))
        if check_backward_ad:
            for part in _real_functions(func, outputs):
                _check_backward(part, given, settings, fast_mode)
        if check_forward_ad:
            _check_forward(func, given, outputs, settings, fast_mode, check_undefined_grad)
        if check_batched_forward_grad:
            _check_batched_forward(func, given)
        if check_backward_ad:
            live = _differentiable(outputs)
            if check_batched_grad:
                for i, out in enumerate(live):
                    _check_batched(given, out, i)
            _check_scales_with_gradient(live, given)
            if check_undefined_grad:
                _check_undefined(func, given)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, *,
                  eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
                  gen_non_contig_grad_outputs: bool = False, raise_exception: bool = True,
                  nondet_tol: float = 0.0, check_undefined_grad: bool = True,
                  check_grad_dtypes: bool = False, check_batched_grad: bool = False,
                  check_fwd_over_rev: bool = False, check_rev_over_rev: bool = True,
                  fast_mode: bool = False, masked: bool = False) -> bool:
    """:func:`gradcheck` of the gradients of ``func``: its second derivatives."""
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to "
                             "be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be "
                             "True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be "
                             "True")
    given = _as_tuple(inputs)
    if grad_outputs is None:
        seeds = tuple([_random_like(o, gen_non_contig_grad_outputs)
                       for o in _differentiable(_as_tuple(func(*given)))])
    else:
        seeds = _as_tuple(grad_outputs)
    count = len(seeds)
    wanted = [i for i, x in enumerate(given) if isinstance(x, Tensor) and x.requires_grad]
    seeded = [i for i, x in enumerate(seeds) if x.requires_grad]

    def gradients(*args: Any) -> tuple[Tensor, ...]:
        own = [_requiring(x) if i in wanted else x for i, x in enumerate(args[:-count])]
        vectors = [_requiring(x) if i in seeded else x for i, x in enumerate(args[-count:])]
        outputs = _differentiable(_as_tuple(func(*own)))
        found = grad(outputs, [own[i] for i in wanted], vectors, create_graph=True,
                     allow_unused=True)
        return tuple([g for g in found if g is not None])

    return gradcheck(gradients, (*given, *seeds), eps=eps, atol=atol, rtol=rtol,
                     raise_exception=raise_exception, nondet_tol=nondet_tol,
                     check_undefined_grad=check_undefined_grad,
                     check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad,
                     check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev,
                     fast_mode=fast_mode, masked=masked)


def _requiring(x: Tensor) -> Tensor:
    return x if x.requires_grad or not x.is_leaf else x.requires_grad_()


def _random_like(tensor: Tensor, non_contiguous: bool) -> Tensor:
    from ..random import Generator

    kind = tensor.dtype if tensor.is_floating_point() or tensor.is_complex() else dtypes.float64
    generator = Generator().manual_seed(2 + tensor.numel())
    shape = (*tensor.shape, 2) if non_contiguous and tensor.numel() > 1 else tuple(tensor.shape)
    with switched(grad=False):
        made = tensor.new_empty(shape, dtype=kind).uniform_(-1, 1, generator=generator) \
            if not kind.is_complex else _random_complex(tensor, shape, kind, generator)
        if len(shape) > tensor.dim():
            made = made[..., 0]
    return made.requires_grad_()


def _random_complex(tensor: Tensor, shape: Any, kind: Any, generator: Any) -> Tensor:
    from ..ops.shape import view_as_complex

    pairs = tensor.new_empty((*shape, 2), dtype=kind.to_real())
    return view_as_complex(pairs.uniform_(-1, 1, generator=generator))


# ---------------------------------------------------------------- what is checked


def _as_tuple(value: Any) -> tuple[Any, ...]:
    if isinstance(value, tuple):
        return value
    return tuple(value) if isinstance(value, list) else (value,)


def _differentiable(outputs: tuple[Any, ...]) -> tuple[Tensor, ...]:
    return tuple([o for o in outputs if isinstance(o, Tensor) and o.requires_grad])


def _check_inputs(inputs: tuple[Any, ...]) -> None:
    found = False
    for i, x in enumerate(inputs):
        if not (isinstance(x, Tensor) and x.requires_grad):
            continue
        found = True
        if x.dtype not in (dtypes.float64, dtypes.complex128):
            warnings.warn(f"Input #{i} requires gradient and is not a double precision floating "
                          "point or complex. This check will likely fail if all the inputs are not "
                          "of double precision floating point or complex. ", UserWarning,
                          stacklevel=3)
        if any(s == 0 and n > 1 for s, n in zip(x.stride(), x.shape, strict=True)):
            raise RuntimeError(f"The {i}th input has a dimension with stride 0. gradcheck only "
                               "supports inputs that are non-overlapping to be able to compute the "
                               "numerical gradients correctly. You should call .contiguous on the "
                               "input before passing it to gradcheck.")
        x.retain_grad()
    if not found:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but "
                         "none of them have requires_grad=True.")


class Part(NamedTuple):
    """A function with real outputs: the whole, or one part of complex outputs."""

    func: Callable[..., tuple[Tensor, ...]]
    prefix: Callable[[int], str]


def _real_functions(func: Callable[..., Any], outputs: tuple[Any, ...]) -> list[Part]:
    """Complex outputs are checked as two real ones."""
    complex_at = [i for i, o in enumerate(outputs) if isinstance(o, Tensor) and o.is_complex()]
    if not complex_at:
        return [Part(lambda *xs: _as_tuple(func(*xs)), lambda i: "")]

    def imaginary(*xs: Any) -> tuple[Tensor, ...]:
        found = _as_tuple(func(*xs))
        return tuple([found[i].imag for i in complex_at])

    def real(*xs: Any) -> tuple[Any, ...]:
        return tuple([o.real if i in complex_at else o
                      for i, o in enumerate(_as_tuple(func(*xs)))])

    text = "While considering the {} part of complex outputs only, "
    return [Part(imaginary, lambda i: text.format("imaginary")),
            Part(real, lambda i: text.format("real") if i in complex_at else "")]


# ---------------------------------------------------------------- numerical derivatives


def _perturbed(x: Tensor) -> Tensor:
    """An input's memory, to be written to element by element without a word to its version."""
    return x.data


def _difference(func: Callable[..., Any], inputs: tuple[Any, ...], x: Tensor, index: Any,
                step: Any, eps: float) -> list[Tensor]:
    """(f(x + step) - f(x - step)) / 2 eps for every output."""
    with switched(grad=False):
        original = x[index].clone()
        x[index] = original - step
        low = [o.detach().clone() for o in _evaluated(func, inputs)]
        x[index] = original + step
        high = [o.detach().clone() for o in _evaluated(func, inputs)]
        x[index] = original
    for a, b in zip(low, high, strict=True):
        _check_same_kind(a, b, eps)
    return [((b - a) / (2 * eps)).reshape(-1) for a, b in zip(low, high, strict=True)]


def _evaluated(func: Callable[..., Any], inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """One evaluation, with recording on: the function may itself take gradients."""
    with switched(grad=True):
        return _as_tuple(func(*_passed(inputs)))


def _passed(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs for one evaluation: functions that write in place get copies to write to."""
    return tuple([x.detach().clone().requires_grad_(x.requires_grad) if isinstance(x, Tensor)
                  and (x.is_floating_point() or x.is_complex()) else x for x in inputs])


def _check_same_kind(a: Tensor, b: Tensor, eps: float) -> None:
    if a.shape != b.shape:
        raise AssertionError(f"Expected `func` to return outputs with the same shape when inputs "
                             f"are perturbed by {eps}, but got: shapes {a.shape} and {b.shape}.")
    if a.dtype is not b.dtype:
        raise AssertionError(f"Expected `func` to return outputs with the same dtype when inputs "
                             f"are perturbed by {eps}, but got: dtypes {a.dtype} and {b.dtype}.")


def _indices(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for n in shape:
        found = [(*i, k) for i in found for k in range(n)]
    return found


def _numerical(func: Callable[..., Any], inputs: tuple[Any, ...], position: int,
               outputs: tuple[Tensor, ...], eps: float, forward: bool = False) -> list[Tensor]:
    """For each output the matrix of derivatives: one row per input element, one column per output's.

    A complex input's row holds ∂/∂x + i ∂/∂y, the gradient convention for real outputs.
    """
    x = _perturbed(inputs[position])
    rows: list[list[Tensor]] = [[] for _ in outputs]
    for index in _indices(tuple(x.shape)):
        found = _difference(func, inputs, x, index, eps, eps)
        if x.is_complex() and not forward:
            turned = _difference(func, inputs, x, index, eps * 1j, eps)
            found = [a + 1j * b for a, b in zip(found, turned, strict=True)]
        for k, column in enumerate(found):
            rows[k].append(column)
    return [_matrix(r, x.numel(), o) for r, o in zip(rows, outputs, strict=True)]


def _matrix(rows: list[Tensor], count: int, output: Tensor) -> Tensor:
    from ..ops.join import stack

    if rows:
        return stack(rows, 0)
    return output.detach().new_zeros((count, output.numel()))


# ---------------------------------------------------------------- reverse mode


def _check_backward(part: Part, inputs: tuple[Any, ...], settings: Settings, fast: bool) -> None:
    outputs = tuple(part.func(*inputs))
    positions = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    live = [i for i, o in enumerate(outputs) if isinstance(o, Tensor) and o.requires_grad]
    if not live:
        for i in positions:
            for matrix in _numerical(part.func, inputs, i, outputs, settings.eps):
                if bool((matrix != 0).any()):
                    raise GradcheckError("Numerical gradient for function expected to be zero")
        return
    wanted = [inputs[i] for i in positions]
    analytical = [_analytical(outputs[o], wanted, settings) for o in live]
    if fast:
        _check_projection(part, inputs, positions, outputs, live, analytical, settings)
        return
    for j, position in enumerate(positions):
        numerical = _numerical(part.func, inputs, position, outputs, settings.eps)
        for k, o in enumerate(live):
            _compare(analytical[k][j], numerical[o], k, j, part.prefix(o), "", settings)


def _analytical(output: Tensor, inputs: list[Tensor], settings: Settings) -> list[Tensor]:
    """The matrices of derivatives by backward, computed twice to see that it repeats itself."""
    first = _by_backward(output, inputs, settings)
    second = _by_backward(output, inputs, settings)
    for a, b in zip(first, second, strict=True):
        if a.numel() and float((a - b).abs().max()) > settings.nondet_tol:
            raise GradcheckError(
                "Backward is not reentrant, i.e., running backward with same input and grad_output "
                "multiple times gives different values, although analytical gradient matches "
                f"numerical gradient.The tolerance for nondeterminism was {settings.nondet_tol}."
                "\n\nNOTE: If your op relies on non-deterministic operations i.e., it is listed "
                "here:\nhttps://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms"
                ".html\nthis failure might be expected.\n\nIf you are adding a new operator, please "
                "file an issue and then use one of the\nworkarounds. The workaround depends on how "
                "your test invokes gradcheck/gradgradcheck.\nIf the test\n- manually invokes "
                "gradcheck/gradgradcheck, then call gradcheck/gradgradcheck\n  with "
                "`nondet_tol=<tol>` as a keyword argument.\n- is OpInfo-based (e.g., in "
                "test_ops_gradients.py), then modify the OpInfo for the test\n  to have "
                "`gradcheck_nondet_tol=<tol>`.\n- is a Module test (e.g., in common_nn.py), then "
                "modify the corresponding\n  module_test entry to have `gradcheck_nondet_tol=<tol>`"
                "\n")
    return first


def _by_backward(output: Tensor, inputs: list[Tensor], settings: Settings) -> list[Tensor]:
    columns: list[list[Tensor]] = [[] for _ in inputs]
    for index in _indices(tuple(output.shape)):
        seed = output.detach().new_zeros(output.shape)
        seed[index] = 1
        found = grad(output, inputs, seed, retain_graph=True, allow_unused=True)
        for j, (g, x) in enumerate(zip(found, inputs, strict=True)):
            if g is None:
                g = x.detach().new_zeros(x.shape)
            if settings.check_grad_dtypes and g.dtype is not x.dtype:
                raise GradcheckError("Gradient has dtype mismatch")
            if g.shape != x.shape:
                raise GradcheckError("Analytical gradient has incorrect size")
            columns[j].append(g.reshape(-1))
    from ..ops.join import stack

    return [stack(c, 1) if c else x.detach().new_zeros((x.numel(), 0))
            for c, x in zip(columns, inputs, strict=True)]


def _check_projection(part: Part, inputs: tuple[Any, ...], positions: list[int],
                      outputs: tuple[Tensor, ...], live: list[int],
                      analytical: list[list[Tensor]], settings: Settings) -> None:
    """Fast mode: v·J·u for one random pair of directions instead of every element of J.

    A disagreement is worked out in full afterwards, so that the error shows the matrices.
    """
    for j, position in enumerate(positions):
        x = _perturbed(inputs[position])
        u = _unit_like(x)
        with switched(grad=False):
            original = x.clone()
            x.copy_(original - settings.eps * u)
            low = [o.detach().clone() for o in _evaluated(part.func, inputs)]
            x.copy_(original + settings.eps * u)
            high = [o.detach().clone() for o in _evaluated(part.func, inputs)]
            x.copy_(original)
            for k, o in enumerate(live):
                v = _unit_like(outputs[o]).reshape(-1)
                numerical = (((high[o] - low[o]) / (2 * settings.eps)).reshape(-1) * v).sum()
                matrix, flat = analytical[k][j], u.reshape(-1)
                products = (matrix.conj() * flat[:, None]).real if matrix.is_complex() \
                    else matrix * flat[:, None]
                projected = (products.sum(0) * v).sum()
                allowed = settings.atol * max(float(u.abs().sum()) * float(v.abs().sum()), 1.0)
                if not _close(projected, numerical, settings.rtol, allowed):
                    full = _numerical(part.func, inputs, position, outputs, settings.eps)[o]
                    raise GradcheckError(_projection_text(part.prefix(o), k, j, numerical,
                                                          projected, full, matrix))


def _projection_text(prefix: str, output: int, position: int, numerical: Tensor,
                     analytical: Tensor, full: Tensor, matrix: Tensor) -> str:
    return (f"{prefix}Jacobian mismatch for output {output} with respect to input {position},\n"
            f"numerical:{numerical.item()}\nanalytical:{analytical.item()}\n"
            "\nThe above quantities relating the numerical and analytical jacobians are computed \n"
            "in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more "
            "background \nabout fast mode. Below, we recompute numerical and analytical jacobians "
            f"in slow mode:\n\nNumerical:\n {full}\nAnalytical:\n{matrix}\n\n"
            f"The max per-element difference (slow mode) is: {float((full - matrix).abs().max())}."
            "\n" + _worst(matrix, full))


def _unit_like(x: Tensor) -> Tensor:
    """A reproducible random direction of length one."""
    direction = _random_like(x, False).detach()
    length = float((direction.abs() ** 2).sum()) ** 0.5
    return direction / length if length else direction


# ---------------------------------------------------------------- forward mode


def _check_forward(func: Callable[..., Any], inputs: tuple[Any, ...], outputs: tuple[Any, ...],
                   settings: Settings, fast: bool, undefined: bool) -> None:
    """Columns by forward mode; complex inputs are perturbed along both axes."""
    positions = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    tensors = tuple([o for o in outputs if isinstance(o, Tensor)])
    plain = lambda *xs: tuple([o for o in _as_tuple(func(*xs)) if isinstance(o, Tensor)])  # noqa: E731
    for j, position in enumerate(positions):
        x = inputs[position]
        parts = [("real", 1.0), ("imaginary", 1j)] if x.is_complex() else [("", 1.0)]
        for name, unit in parts:
            analytical = [_matrix(r, x.numel(), o) for r, o in zip(
                _forward_rows(plain, inputs, position, unit, tensors, settings), tensors,
                strict=True)]
            numerical = _numerical_along(plain, inputs, position, unit, tensors, settings.eps)
            prefix = f"While considering the {name} part of complex inputs only, " if name else ""
            for k, (a, n) in enumerate(zip(analytical, numerical, strict=True)):
                if not (tensors[k].is_floating_point() or tensors[k].is_complex()):
                    continue
                _compare(a, n, k, j, prefix, "computed with forward mode ", settings)


def _numerical_along(func: Callable[..., Any], inputs: tuple[Any, ...], position: int, unit: Any,
                     outputs: tuple[Tensor, ...], eps: float) -> list[Tensor]:
    x = _perturbed(inputs[position])
    rows: list[list[Tensor]] = [[] for _ in outputs]
    for index in _indices(tuple(x.shape)):
        for k, column in enumerate(_difference(func, inputs, x, index, eps * unit, eps)):
            rows[k].append(column)
    return [_matrix(r, x.numel(), o) for r, o in zip(rows, outputs, strict=True)]


def _forward_rows(func: Callable[..., Any], inputs: tuple[Any, ...], position: int, unit: Any,
                  outputs: tuple[Tensor, ...], settings: Settings) -> list[list[Tensor]]:
    from . import forward_ad

    rows: list[list[Tensor]] = [[] for _ in outputs]
    x = inputs[position]
    for index in _indices(tuple(x.shape)):
        tangent = x.detach().new_zeros(x.shape)
        tangent[index] = unit
        with forward_ad.dual_level():
            duals = [forward_ad.make_dual(t.detach(), tangent) if i == position
                     else t.detach() if isinstance(t, Tensor) else t
                     for i, t in enumerate(inputs)]
            found = [forward_ad.unpack_dual(o) for o in func(*duals)]
        for k, pair in enumerate(found):
            slope = pair.tangent
            if slope is None:
                slope = outputs[k].detach().new_zeros(outputs[k].shape)
            elif settings.check_grad_dtypes and slope.dtype is not outputs[k].dtype:
                raise GradcheckError("Forward AD gradient has dtype mismatch.")
            rows[k].append(slope.detach().reshape(-1))
    return rows


# ---------------------------------------------------------------- comparing


def _close(a: Tensor, b: Tensor, rtol: float, atol: float) -> bool:
    if not a.numel():
        return True
    difference = (a - b).abs()
    allowed = atol + rtol * b.abs()
    same_infinity = (a == b)
    return bool(((difference <= allowed) | same_infinity).all())


def _compare(analytical: Tensor, numerical: Tensor, output: int, position: int, prefix: str,
             mode: str, settings: Settings) -> None:
    with switched(grad=False):
        if analytical.is_complex() and not numerical.is_complex():
            numerical = numerical + 0j
        if numerical.is_complex() and not analytical.is_complex():
            analytical = analytical + 0j
        if _close(analytical, numerical, settings.rtol, settings.atol):
            return
        raise GradcheckError(
            f"{prefix}Jacobian {mode}mismatch for output {output} with respect to input {position},"
            f"\nnumerical:{numerical}\nanalytical:{analytical}\n"
            + _worst(analytical, numerical))


def _worst(analytical: Tensor, numerical: Tensor) -> str:
    """Where the two differ most."""
    rows, columns = analytical.shape
    a, n = analytical.tolist(), numerical.tolist()

    def distance(i: int, o: int) -> float:
        d = abs(a[i][o] - n[i][o])
        return float("inf") if d != d else d

    i, o = max(((i, o) for i in range(rows) for o in range(columns)),
               key=lambda place: distance(*place))
    return (f"The largest difference, {distance(i, o):.3g}, is at input element {i} and output "
            f"element {o}: numerical {n[i][o]}, analytical {a[i][o]}.\n")


# ---------------------------------------------------------------- other promises

_BATCHED_HINT = (
    "gradcheck or gradgradcheck failed while testing batched gradient computation.\nThis could "
    "have been invoked in a number of ways (via a test that calls\ngradcheck/gradgradcheck directly "
    "or via an autogenerated test).")


def _check_batched(inputs: tuple[Any, ...], output: Tensor, position: int) -> None:
    """A batch of gradients gives what they give one by one."""
    from ..ops.join import stack

    wanted = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
    seeds = [_random_like(output, False).detach() * (k + 1) for k in range(2)]
    one_by_one = [grad(output, wanted, s, retain_graph=True, allow_unused=True) for s in seeds]
    try:
        batched = grad(output, wanted, stack(seeds, 0), retain_graph=True, allow_unused=True,
                       is_grads_batched=True)
    except RuntimeError as error:
        raise GradcheckError(f"While computing batched gradients, got: {error}\n\n"
                             f"{_BATCHED_HINT}") from error
    for j, found in enumerate(batched):
        parts = [row[j] for row in one_by_one]
        if found is None or parts[0] is None:
            continue
        expected = stack(parts, 0)
        if not _close(found, expected, 1e-5, 1e-8):
            raise GradcheckError(f"For output {position} and input {j}:\n\n{_BATCHED_HINT}\n\n"
                                 f"Got:\n{found}\n\nExpected:\n{expected}")


def _check_batched_forward(func: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    """A batch of tangents gives what they give one by one."""
    from ..func import jvp, vmap
    from ..ops.join import stack

    for j, x in enumerate(inputs):
        if not (isinstance(x, Tensor) and x.requires_grad):
            continue

        def along(t: Tensor, at: int = j) -> Any:
            def of_one(z: Tensor) -> Any:
                return tuple([o for o in _as_tuple(func(*(
                    z if i == at else v.detach() if isinstance(v, Tensor) else v
                    for i, v in enumerate(inputs)))) if isinstance(o, Tensor)])

            return jvp(of_one, (inputs[at].detach(),), (t,))[1]

        tangents = [_random_like(x, False).detach() for _ in range(2)]
        tangents[1] = tangents[1] * 2
        expected = [along(t) for t in tangents]
        try:
            batched = vmap(along)(stack(tangents, 0))
        except RuntimeError as error:
            raise GradcheckError(f"While computing batched gradients, got: {error}\n\n"
                                 f"{_BATCHED_HINT}") from error
        for k, found in enumerate(batched):
            if not _close(found, stack([e[k] for e in expected], 0), 1e-5, 1e-8):
                raise GradcheckError(f"For output {k} and input {j}:\n\n{_BATCHED_HINT}")


def _check_scales_with_gradient(outputs: tuple[Tensor, ...], inputs: tuple[Any, ...]) -> None:
    """Zero gradients give zero gradients of the right kind."""
    wanted = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
    if not wanted:
        raise GradcheckError("no Tensors requiring grad found in input")
    if not outputs:
        return
    zeros = [o.detach().new_zeros(o.shape) for o in outputs]
    found = grad(outputs, wanted, zeros, retain_graph=True, allow_unused=True)
    for g, x in zip(found, wanted, strict=True):
        if g is None:
            continue
        if not bool((g == 0).all()):
            raise GradcheckError("backward not multiplied by grad_output")
        if g.dtype is not x.dtype:
            raise GradcheckError("grad is incorrect type")
        if g.shape != x.shape:
            raise GradcheckError("grad is incorrect size")


def _check_undefined(func: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    """Backward must cope with outputs that receive no gradient."""
    wanted = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
    count = len(_differentiable(_as_tuple(func(*inputs))))
    missing = [set(range(count))] + ([{i} for i in range(count)] if count > 1 else [])
    for absent in missing:
        outputs = list(_differentiable(_as_tuple(func(*inputs))))
        for i in absent:
            outputs[i] = _Undefined.apply(outputs[i])
        zeros = [o.detach().new_zeros(o.shape) for o in outputs]
        try:
            found = grad(outputs, wanted, zeros, allow_unused=True)
        except RuntimeError as error:
            _warn_undefined()
            raise GradcheckError(
                "Expected backward function to handle undefined output grads. Please look at "
                '"Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
            ) from error
        if any(g is not None and not bool((g == 0).all()) for g in found):
            _warn_undefined()
            raise GradcheckError(
                "Expected all input grads to be undefined or zero when all output grads are "
                'undefined or zero. Please look at "Notes about undefined output gradients" in '
                '"tools/autograd/derivatives.yaml"')


def _warn_undefined() -> None:
    warnings.warn("Backwards compatibility: New undefined gradient support checking feature is "
                  "enabled by default, but it may break existing callers of this function. If this "
                  "is true for you, you can call this function with "
                  '"check_undefined_grad=False" to disable the feature', UserWarning, stacklevel=3)


def _undefined_class() -> Any:
    from .function import Function

    class Undefined(Function):
        """Passes its input on and never a gradient back."""

        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, g: Tensor) -> None:
            return None

    return Undefined


_Undefined: Any = _undefined_class()
