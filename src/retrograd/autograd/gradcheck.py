"""Checking derivatives against finite differences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..backend import xp
from ..backend.interface import library_of
from ..base import dtypes
from ..base.modes import switched
from ..base.warning import warn
from ..core.tensor import Size, Tensor, wrap_any
from . import forward_ad
from .backward import grad
from .function import Function


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
    _require_one(check_forward_ad=check_forward_ad, check_backward_ad=check_backward_ad)
    _require("check_batched_grad", check_batched_grad, "check_backward_ad", check_backward_ad)
    _require("check_batched_forward_grad", check_batched_forward_grad, "check_forward_ad",
             check_forward_ad)
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
            _check_scales_with_gradient(live, given, bool(masked))
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
    _require_one(check_fwd_over_rev=check_fwd_over_rev, check_rev_over_rev=check_rev_over_rev)
    _require("check_undefined_grad", check_undefined_grad, "check_rev_over_rev", check_rev_over_rev)
    _require("check_batched_grad", check_batched_grad, "check_rev_over_rev", check_rev_over_rev)
    given = _as_tuple(inputs)
    if grad_outputs is None:
        random = _random_with_gaps if gen_non_contig_grad_outputs else _random_like
        seeds = tuple([random(o).requires_grad_()
                       for o in _differentiable(_as_tuple(func(*given)))])
    else:
        seeds = _as_tuple(grad_outputs)
    count = len(seeds)
    wanted = _live_places(given)
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


def _require_one(**ways: bool) -> None:
    if not any(ways.values()):
        raise AssertionError(f"Expected at least one of {' or '.join(ways)} to be True")


def _require(check: str, is_asked: bool, way: str, is_on: bool) -> None:
    if is_asked and not is_on:
        raise AssertionError(f"Setting {check}=True requires {way} to be True")


def _requiring(x: Tensor) -> Tensor:
    return x if x.requires_grad or not x.is_leaf else x.requires_grad_()


def _random_like(tensor: Tensor) -> Tensor:
    from ..random import Generator

    kind = tensor.dtype if tensor.is_floating_point() or tensor.is_complex() else dtypes.float64
    generator = Generator().manual_seed(2 + tensor.numel())
    if kind.is_complex:
        return _random_complex(tensor, kind, generator)
    return tensor.new_empty(tensor.shape, dtype=kind).uniform_(-1, 1, generator=generator)


def _random_complex(tensor: Tensor, kind: Any, generator: Any) -> Tensor:
    from ..ops.shapes.complex_views import view_as_complex

    pairs = tensor.new_empty((*tensor.shape, 2), dtype=kind.to_real())
    return view_as_complex(pairs.uniform_(-1, 1, generator=generator))


def _two_random(tensor: Tensor, dim: int = 0) -> Tensor:
    from ..ops.shapes.joining import stack

    return _random_like(stack([tensor, tensor], dim))


def _random_with_gaps(tensor: Tensor) -> Tensor:
    """Random numbers that do not lie side by side."""
    return _two_random(tensor, -1)[..., 0]


# ---------------------------------------------------------------- what is checked


def _as_tuple(value: Any) -> tuple[Any, ...]:
    if isinstance(value, tuple):
        return value
    return tuple(value) if isinstance(value, list) else (value,)


def _is_live(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _differentiable(values: tuple[Any, ...]) -> tuple[Tensor, ...]:
    return tuple([value for value in values if _is_live(value)])


def _live_places(values: tuple[Any, ...]) -> list[int]:
    return [i for i, value in enumerate(values) if _is_live(value)]


def _check_inputs(inputs: tuple[Any, ...]) -> None:
    for i in _live_places(inputs):
        x = inputs[i]
        if x.dtype not in (dtypes.float64, dtypes.complex128):
            warn(f"Input #{i} requires gradient and is not a double precision floating "
                 "point or complex. This check will likely fail if all the inputs are not "
                 "of double precision floating point or complex. ", UserWarning)
        if any(s == 0 and n > 1 for s, n in zip(x.stride(), x.shape, strict=True)):
            raise RuntimeError(f"The {i}th input has a dimension with stride 0. gradcheck only "
                               "supports inputs that are non-overlapping to be able to compute the "
                               "numerical gradients correctly. You should call .contiguous on the "
                               "input before passing it to gradcheck.")
        x.retain_grad()
    if not _live_places(inputs):
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


class Neighbourhood:
    """A function near one of its inputs, whose memory is written to and restored."""

    def __init__(self, func: Callable[..., Any], inputs: tuple[Any, ...], position: int,
                 eps: float):
        self.func, self.inputs, self.eps = func, inputs, eps
        self.memory = inputs[position]._array()  # written to without a word to its version

    def along(self, index: Any, step: Any) -> list[Any]:
        """(f(x + step) - f(x - step)) / 2 eps, raw and flat, for every output."""
        memory = self.memory
        original = memory[index].copy()
        try:
            memory[index] = original - step
            low = self._values()
            memory[index] = original + step
            high = self._values()
        finally:
            memory[index] = original
        for a, b in zip(low, high, strict=True):
            self._check_same_kind(a, b, index)
        with xp.quiet():
            return [((b - a) / (2 * self.eps)).reshape(-1) for a, b in zip(low, high, strict=True)]

    def _values(self) -> list[Any]:
        """One evaluation, with recording on: the function may itself take gradients."""
        with switched(grad=True):
            return [o._array().copy() for o in _as_tuple(self.func(*_passed(self.inputs)))
                    if isinstance(o, Tensor)]

    def _check_same_kind(self, a: Any, b: Any, index: Any) -> None:
        where = "" if index is Ellipsis else f"on index {index} "
        for what, one, other in (("shape", Size(a.shape), Size(b.shape)),
                                 ("dtype", dtypes.from_numpy_dtype(a.dtype),
                                  dtypes.from_numpy_dtype(b.dtype))):
            if one != other:
                raise AssertionError(
                    f"Expected `func` to return outputs with the same {what} when inputs are "
                    f"perturbed {where}by {self.eps}, but got: {what}s {one} and {other}.")


def _passed(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs for one evaluation: functions that write in place get copies to write to.

    Leaves that cannot be written to are passed themselves: a function may know them.
    """
    return tuple([x.detach().clone().requires_grad_(x.requires_grad) if isinstance(x, Tensor)
                  and (x.is_floating_point() or x.is_complex())
                  and not (x.requires_grad and x.is_leaf) else x for x in inputs])


def _indices(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    return list(itertools.product(*[range(n) for n in shape]))


def _numerical(func: Callable[..., Any], inputs: tuple[Any, ...], position: int,
               outputs: tuple[Tensor, ...], eps: float, unit: Any = None) -> list[Tensor]:
    """For each output a matrix: one row per element of the input, one column per element of it.

    A complex input's row holds ∂/∂x + i ∂/∂y, the gradient convention for real outputs; with
    ``unit`` it is the derivative in that direction alone.
    """
    x = inputs[position]
    near = Neighbourhood(func, inputs, position, eps)
    rows: list[list[Any]] = [[] for _ in outputs]
    for index in _indices(tuple(x.shape)):
        found = near.along(index, eps * (1 if unit is None else unit))
        if x.is_complex() and unit is None:
            turned = near.along(index, eps * 1j)
            found = [a + 1j * b for a, b in zip(found, turned, strict=True)]
        for k, column in enumerate(found):
            rows[k].append(column)
    return [_matrix(r, x.numel(), o) for r, o in zip(rows, outputs, strict=True)]


def _matrix(rows: list[Any], count: int, output: Tensor) -> Tensor:
    if rows:
        return wrap_any(library_of(rows[0]).stack(rows))
    return output.detach().new_zeros((count, output.numel()))


# ---------------------------------------------------------------- reverse mode


def _check_backward(part: Part, inputs: tuple[Any, ...], settings: Settings, fast: bool) -> None:
    outputs = tuple([o for o in part.func(*inputs) if isinstance(o, Tensor)])
    positions = _live_places(inputs)
    live = [i for i, o in enumerate(outputs) if o.requires_grad]
    if fast and live:
        _check_projections(part, inputs, positions, outputs, live, settings)
        return
    numerical = [_numerical(part.func, inputs, i, outputs, settings.eps) for i in positions]
    if not live:
        for matrix in itertools.chain(*numerical):
            if bool((matrix != 0).any()):
                raise GradcheckError("Numerical gradient for function expected to be zero")
        return
    wanted = [inputs[i] for i in positions]
    for k, o in enumerate(live):
        analytical = _analytical(outputs[o], wanted, settings)
        for j, matrices in enumerate(numerical):
            _compare(analytical[j], matrices[o], k, j, part.prefix(o), "", settings)


def _one_hot(output: Tensor) -> Iterator[Tensor]:
    for index in _indices(tuple(output.shape)):
        seed = library_of(output._data).zeros(tuple(output.shape), output._data.dtype)
        seed[index] = 1
        yield wrap_any(seed)


def _analytical(output: Tensor, inputs: list[Tensor], settings: Settings) -> list[Tensor]:
    """The matrices of derivatives by backward."""
    columns: list[list[Any]] = [[] for _ in inputs]
    for seed in _one_hot(output):
        for j, g in enumerate(_pulled(output, inputs, seed, settings)):
            columns[j].append(g._array().reshape(-1))
    return [wrap_any(library_of(c[0]).stack(c, 1)) if c else x.detach().new_zeros((x.numel(), 0))
            for c, x in zip(columns, inputs, strict=True)]


def _pulled(output: Tensor, inputs: list[Tensor], seed: Tensor, settings: Settings) -> list[Tensor]:
    """The gradients for one seed, computed twice to see that backward repeats itself."""
    first = grad(output, inputs, seed, retain_graph=True, allow_unused=True)
    second = grad(output, inputs, seed, retain_graph=True, allow_unused=True)
    found = []
    for g, again, x in zip(first, second, inputs, strict=True):
        if g is not None and settings.check_grad_dtypes and g.dtype is not x.dtype:
            raise GradcheckError("Gradient has dtype mismatch")
        if g is not None and g.shape != x.shape:
            raise GradcheckError("Analytical gradient has incorrect size")
        if g is None or again is None:
            g = again = x.detach().new_zeros(x.shape)
        if g.numel():
            with xp.quiet():
                difference = float(abs(g._array() - again._array()).max())
            if difference > settings.nondet_tol:  # NaN is nobody's derivative, and refused later
                raise GradcheckError(_NONDETERMINISM.format(settings.nondet_tol))
        found.append(g)
    return found


_NONDETERMINISM = """\
Backward is not reentrant, i.e., running backward with same input and grad_output multiple times \
gives different values, although analytical gradient matches numerical gradient.\
The tolerance for nondeterminism was {}.

NOTE: If your op relies on non-deterministic operations i.e., it is listed here:
https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
this failure might be expected.

If you are adding a new operator, please file an issue and then use one of the
workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck.
If the test
- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck
  with `nondet_tol=<tol>` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `gradcheck_nondet_tol=<tol>`.
- is a Module test (e.g., in common_nn.py), then modify the corresponding
  module_test entry to have `gradcheck_nondet_tol=<tol>`
"""


def _check_projections(part: Part, inputs: tuple[Any, ...], positions: list[int],
                       outputs: tuple[Tensor, ...], live: list[int], settings: Settings) -> None:
    """Fast mode: v·J·u for one random pair of directions instead of every element of J.

    A disagreement is worked out in full afterwards, so that the error shows the matrices.
    """
    wanted = [inputs[i] for i in positions]
    seeds = [_direction(outputs[o]) for o in live]
    pulled = [_pulled(outputs[o], wanted, v, settings) for o, v in zip(live, seeds, strict=True)]
    for j, position in enumerate(positions):
        u = _direction(inputs[position])
        near = Neighbourhood(part.func, inputs, position, settings.eps)
        # Along each axis of complex numbers alone, which bends less than along both at once.
        slopes = [near.along(Ellipsis, settings.eps * step._array())
                  for step in ((u.real, 1j * u.imag) if u.is_complex() else (u,))]
        for k, o in enumerate(live):
            v, g = seeds[k], pulled[k][j]
            numerical = (wrap_any(sum(each[o] for each in slopes)) * v.reshape(-1)).sum()
            analytical = (g.conj() * u).real.sum() if g.is_complex() else (g * u).sum()
            allowed = settings.atol * max(_total(u) * _total(v), 1.0)
            if not _close(analytical, numerical, settings.rtol, allowed):
                full = _numerical(part.func, inputs, position, outputs, settings.eps)[o]
                matrix = _analytical(outputs[o], wanted, settings)[j]
                raise GradcheckError(_projection_text(part.prefix(o), k, j, "", numerical,
                                                      analytical, full, matrix, settings))


def _projection_text(prefix: str, output: int, position: int, mode: str, numerical: Tensor,
                     analytical: Tensor, full: Tensor, matrix: Tensor, settings: Settings) -> str:
    full, matrix = _same_domain(full, matrix)
    text = (f"{prefix}Jacobian {mode}mismatch for output {output} with respect to input {position},"
            f"\nnumerical:{numerical}\nanalytical:{analytical}\n"
            "\nThe above quantities relating the numerical and analytical jacobians are computed \n"
            "in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more "
            "background \nabout fast mode. Below, we recompute numerical and analytical jacobians "
            f"in slow mode:\n\nNumerical:\n {full}\nAnalytical:\n{matrix}\n\n"
            f"The max per-element difference (slow mode) is: {(full - matrix).abs().max()}.\n")
    if _close(matrix, full, settings.rtol, settings.atol):
        return text + "Slow mode would have accepted these matrices: rerun with fast_mode=False.\n"
    return text + _worst(matrix, full)


def _total(direction: Tensor) -> float:
    """How far an error of one in every element could go along a direction."""
    parts = (direction.real, direction.imag) if direction.is_complex() else (direction,)
    return sum(float(part.abs().sum()) for part in parts)


def _direction(x: Tensor) -> Tensor:
    """A reproducible random direction of length one, with no negative parts."""
    made = _random_like(x)
    direction = made.real.abs() + 1j * made.imag.abs() if made.is_complex() else made.abs()
    length = float((direction.abs() ** 2).sum()) ** 0.5
    return direction / length if length else direction


# ---------------------------------------------------------------- forward mode


def _check_forward(func: Callable[..., Any], inputs: tuple[Any, ...], outputs: tuple[Any, ...],
                   settings: Settings, fast: bool, undefined: bool) -> None:
    """Columns by forward mode; complex inputs are perturbed along both axes."""
    positions = _live_places(inputs)
    places = _live_places(outputs)

    def chosen(*xs: Any) -> tuple[Tensor, ...]:
        found = _as_tuple(func(*xs))
        return tuple([found[i] for i in places])

    live = _differentiable(outputs)
    for j, position in enumerate(positions):
        parts = [("imaginary", 1j), ("real", 1.0)] if inputs[position].is_complex() \
            else [("", 1.0)]
        for name, unit in parts:
            prefix = f"While considering the {name} part of complex inputs only, " if name else ""
            tangents = Tangents(chosen, inputs, position, unit, live, settings)
            (tangents.check_projection if fast else tangents.check)(j, prefix)
    if undefined:
        _check_undefined_tangents(chosen, inputs, positions)


class Tangents:
    """The derivatives of all outputs with respect to one input, or to one part of a complex one."""

    def __init__(self, func: Callable[..., tuple[Tensor, ...]], inputs: tuple[Any, ...],
                 position: int, unit: Any, outputs: tuple[Tensor, ...], settings: Settings):
        self.func, self.inputs, self.position, self.unit = func, inputs, position, unit
        self.outputs, self.settings = outputs, settings

    def check(self, j: int, prefix: str) -> None:
        """Compare every element."""
        numerical = self.numerical()
        for k, matrix in enumerate(self.analytical()):
            _compare(matrix, numerical[k], k, j, prefix, "computed with forward mode ",
                     self.settings)

    def check_projection(self, j: int, prefix: str) -> None:
        """Compare along one random direction."""
        x, settings = self.inputs[self.position], self.settings
        u = _direction(x).real * complex(self.unit) if x.is_complex() else _direction(x)
        near = Neighbourhood(self.func, self.inputs, self.position, settings.eps)
        slopes = near.along(Ellipsis, settings.eps * u._array())
        allowed = settings.atol * max(_total(u), 1.0)
        for k, found in enumerate(self.pushed(u)):
            numerical = wrap_any(slopes[k])
            if not _close(found, numerical, settings.rtol, allowed):
                raise GradcheckError(_projection_text(
                    prefix, k, j, "computed with forward mode ", numerical, found,
                    self.numerical()[k], self.analytical()[k], settings))

    def numerical(self) -> list[Tensor]:
        """The matrices by finite differences."""
        return _numerical(self.func, self.inputs, self.position, self.outputs, self.settings.eps,
                          self.unit)

    def analytical(self) -> list[Tensor]:
        """The matrices by forward mode."""
        x = self.inputs[self.position]
        rows: list[list[Any]] = [[] for _ in self.outputs]
        for seed in _one_hot(x):
            for k, slope in enumerate(self.pushed(seed * self.unit)):
                rows[k].append(slope._array())
        return [_matrix(r, x.numel(), o) for r, o in zip(rows, self.outputs, strict=True)]

    def pushed(self, tangent: Tensor) -> list[Tensor]:
        """The tangents of the outputs for one of the input, flat."""
        found = []
        with forward_ad.dual_level():
            duals = [x if not isinstance(x, Tensor) else x.detach() if not x.requires_grad
                     else forward_ad.make_dual(x.detach(), tangent if i == self.position
                                               else x.detach().new_zeros(x.shape))
                     for i, x in enumerate(self.inputs)]
            for value, slope in [forward_ad.unpack_dual(o) for o in self.func(*duals)]:
                if slope is None:
                    slope = value.detach().new_zeros(value.shape)
                elif self.settings.check_grad_dtypes and value.is_complex() != slope.is_complex():
                    raise GradcheckError("Forward AD gradient has dtype mismatch.")
                found.append(slope.detach().reshape(-1))
        return found


def _check_undefined_tangents(func: Callable[..., tuple[Tensor, ...]], inputs: tuple[Any, ...],
                              positions: list[int]) -> None:
    """An input without a tangent must count as one whose tangent is zero."""
    with forward_ad.dual_level():
        def slopes(at: int, zero: bool) -> list[Any]:
            given = []
            for i, x in enumerate(inputs):
                if i not in positions:
                    given.append(x)
                elif i == at and not zero:
                    given.append(x.detach())
                else:
                    tangent: Any = _direction(x) * (i != at)
                    given.append(forward_ad.make_dual(x.detach(), tangent))
            return [forward_ad.unpack_dual(o).tangent for o in func(*given)]

        for at in positions:
            for k, (a, b) in enumerate(zip(slopes(at, True), slopes(at, False), strict=True)):
                if a is not None and b is not None and not _close(a, b, 1e-5, 1e-8):
                    raise GradcheckError("Mismatch in tangent values for output with index: ", k,
                                         " when input: ", inputs[at],
                                         " has an undefined tangent value. ", " Got: ", a,
                                         " but expected: ", b)


# ---------------------------------------------------------------- by PyTorch's former names


def _warn_private(name: str, grad_out: float) -> None:
    warn(f"`{name}` was part of PyTorch's private API and not meant to be exposed. We are "
         "deprecating it and it will be removed in a future version of PyTorch. If you "
         "have a specific use for this or feature request for this to be a stable API, "
         "please file us an issue at https://github.com/pytorch/pytorch/issues/new",
         FutureWarning)
    if grad_out != 1.0:
        raise ValueError(f"Expected grad_out to be 1.0. {name} no longer supports values of "
                         "grad_out != 1.0.")


def get_numerical_jacobian(fn: Callable[..., Any], inputs: tuple[Any, ...], target: Any = None,
                           eps: float = 1e-3, grad_out: float = 1.0) -> tuple[Tensor, ...]:
    """The derivatives of the first output of ``fn(inputs)`` by each input, numerically."""
    _warn_private("get_numerical_jacobian", grad_out)
    wanted = inputs if target is None else _as_tuple(target)
    outputs = _as_tuple(fn(inputs))
    return tuple([_numerical(lambda *xs: fn(xs), inputs, place, outputs, eps)[0]
                  for place in _live_places(inputs) if any(inputs[place] is t for t in wanted)])


def get_analytical_jacobian(inputs: tuple[Any, ...], output: Tensor, nondet_tol: float = 0.0,
                            grad_out: float = 1.0) -> tuple[tuple[Tensor, ...], bool, bool, bool]:
    """The derivatives of ``output`` by backward; whether they repeat, and fit in size and type."""
    _warn_private("get_analytical_jacobian", grad_out)
    wanted = list(_differentiable(_as_tuple(inputs)))

    def found(tolerance: float) -> tuple[Tensor, ...]:
        return tuple(_analytical(output, wanted, Settings(0, 0, 0, tolerance, False)))

    try:
        return found(nondet_tol), True, True, True
    except GradcheckError as error:
        if "not reentrant" not in str(error):
            raise
        return found(float("inf")), False, True, True


# ---------------------------------------------------------------- comparing


def _close(a: Tensor, b: Tensor, rtol: float, atol: float) -> bool:
    if not a.numel():
        return True
    x, y = a._array(), b._array()
    with xp.quiet():
        return bool(((abs(x - y) <= atol + rtol * abs(y)) | (x == y)).all())


def _compare(analytical: Tensor, numerical: Tensor, output: int, position: int, prefix: str,
             mode: str, settings: Settings) -> None:
    with switched(grad=False):
        numerical, analytical = _same_domain(numerical, analytical)
        if _close(analytical, numerical, settings.rtol, settings.atol):
            return
        raise GradcheckError(
            f"{prefix}Jacobian {mode}mismatch for output {output} with respect to input {position},"
            f"\nnumerical:{numerical}\nanalytical:{analytical}\n"
            + _worst(analytical, numerical))


def _same_domain(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Both complex if one of them is."""
    both: Any = (a + 0j, b + 0j) if a.is_complex() != b.is_complex() else (a, b)
    return both


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

_BATCHED_HINT = """
gradcheck or gradgradcheck failed while testing batched gradient computation.
This could have been invoked in a number of ways (via a test that calls
gradcheck/gradgradcheck directly or via an autogenerated test).
""".strip()
_BATCHED_FORWARD_HINT = """
gradcheck failed while testing batched gradient computation with forward-mode AD.
This test is enabled automatically when both `check_batched_grad=True`
and `check_forward_ad=True`, but can be disabled in the following ways
"""


def _check_batched(inputs: tuple[Any, ...], output: Tensor, position: int) -> None:
    """A batch of gradients gives what they give one by one."""
    from ..ops.shapes.joining import stack

    wanted = _differentiable(inputs)
    seeds = _two_random(output)
    one_by_one = [grad(output, wanted, s, retain_graph=True, allow_unused=True) for s in seeds]
    try:
        batched = grad(output, wanted, seeds, retain_graph=True, allow_unused=True,
                       is_grads_batched=True)
    except RuntimeError as error:
        raise GradcheckError(f"While computing batched gradients, got: {error}\n\n"
                             f"{_BATCHED_HINT}") from error
    for j, found in enumerate(batched):
        if found is None:
            continue
        expected = stack([row[j] for row in one_by_one], 0)
        if not _close(found, expected, 1e-5, 1e-8):
            raise GradcheckError(f"For output {position} and input {j}:\n\n{_BATCHED_HINT}\n\n"
                                 f"Got:\n{found}\n\nExpected:\n{expected}")


def _check_batched_forward(func: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    """A batch of tangents gives what they give one by one."""
    from ..func import jvp, vmap
    from ..ops.shapes.joining import stack

    for j in _live_places(inputs):
        def along(t: Tensor, at: int = j) -> Any:
            def of_one(z: Tensor) -> Any:
                return tuple([o for o in _as_tuple(func(*(
                    z if i == at else v.detach() if isinstance(v, Tensor) else v
                    for i, v in enumerate(inputs)))) if isinstance(o, Tensor)])

            return jvp(of_one, (inputs[at].detach(),), (t,))[1]

        tangents = _two_random(inputs[j])
        expected = [along(t) for t in tangents]
        try:
            batched = vmap(along)(tangents)
        except RuntimeError as error:
            told = "vmap: We do not yet support calling random operations inside of vmap. Please " \
                   "perform random operations outside of vmap as a workaround" \
                if "random operation" in str(error) else str(error)
            raise GradcheckError(f"While computing batched gradients, got: {told}\n\n"
                                 f"{_BATCHED_FORWARD_HINT}") from error
        for k, found in enumerate(batched):
            if not _close(found, stack([e[k] for e in expected], 0), 1e-5, 1e-8):
                raise GradcheckError(f"For output {k} and input {j}:\n\n{_BATCHED_FORWARD_HINT}")


def _check_scales_with_gradient(outputs: tuple[Tensor, ...], inputs: tuple[Any, ...],
                                masked: bool) -> None:
    """Zero gradients give zero gradients of the right kind."""
    wanted = _differentiable(inputs)
    if not wanted:
        raise GradcheckError("no Tensors requiring grad found in input")
    if not outputs:
        return
    zeros = [o.detach().new_zeros(o.shape) for o in outputs]
    found = grad(outputs, wanted, zeros, retain_graph=True, allow_unused=True)
    for g, x in zip(found, wanted, strict=True):
        if g is None:
            continue
        if not bool((g.abs() <= (1e-8 if masked else 0)).all()):
            raise GradcheckError("backward not multiplied by grad_output")
        if g.dtype is not x.dtype:
            raise GradcheckError("grad is incorrect type")
        if g.shape != x.shape:
            raise GradcheckError("grad is incorrect size")


def _check_undefined(func: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    """Backward must cope with outputs that receive no gradient."""
    wanted = _differentiable(inputs)
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
    warn("Backwards compatibility: New undefined gradient support checking feature is "
         "enabled by default, but it may break existing callers of this function. If this "
         "is true for you, you can call this function with "
         '"check_undefined_grad=False" to disable the feature', UserWarning)


class _Undefined(Function):
    """Passes its input on and never a gradient back."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> None:
        return None
