"""NumPy's differences, integrals, interpolation, polynomials and complex numbers, on tensors."""

from __future__ import annotations

import math
from typing import Any

from ..backend.interface import kind_of
from ..core.tensor import Tensor
from .linalg import of as linalg
from .operands import (
    axes_of,
    axis_of,
    cast,
    common,
    dtype_of,
    given,
    inexact,
    numpy,
    operand,
    refused,
    strongly,
    torch,
    values,
)
from .products import convolve

# ---------------------------------------------------------------- rounding and complex numbers


def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    return given(torch.round(operand(a), decimals=decimals), out, "round")


around = round


def fix(x: Any, out: Any = None) -> Any:
    return given(torch.trunc(x), out, "fix")


def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None,
         max: Any = None) -> Any:
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    bounds = [b for b in (low, high) if b is not None]
    x, *bounds = common(a, *bounds)
    if low is not None:
        x = torch.clamp_min(x, bounds[0])
    if high is not None:
        x = torch.clamp_max(x, bounds[-1])
    return given(x, out, "clip")


def nan_to_num(x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None
               ) -> Tensor:
    found = torch.nan_to_num(operand(x), nan, posinf, neginf)
    return found if copy or not isinstance(x, Tensor) else x.copy_(found)


def real(val: Any) -> Tensor:
    return torch.real(operand(val))


def imag(val: Any) -> Tensor:
    x = operand(val)
    return torch.imag(x) if x.dtype.is_complex else torch.zeros_like(x)


def real_if_close(a: Any, tol: float = 100) -> Tensor:
    x = operand(a)
    close = numpy.named("real_if_close")(values(x), tol)
    return torch.real(x) if x.dtype.is_complex and kind_of(close.dtype) != "c" else x


def angle(z: Any, deg: bool = False) -> Tensor:
    found = torch.angle(inexact(z))
    return found * (180 / math.pi) if deg else found


def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: float = 2 * math.pi) -> Tensor:
    x = operand(p)
    steps = numpy.named("unwrap")(values(x), discont, axis, period=period) - values(x)
    return x + operand(steps)


def sinc(x: Any) -> Tensor:
    return torch.sinc(inexact(x))


def i0(x: Any) -> Tensor:
    return torch.i0(inexact(x))


def by_scimath(name: str) -> Any:
    """A function that leaves the real numbers where its argument does."""
    last = name.rpartition(".")[2]
    log = by_scimath("lib.scimath.log") if last == "logn" else None

    def called(*args: Any) -> Any:
        if log is not None:
            return numpy.named("divide")(log(args[1]), log(args[0]))
        x, *rest = [inexact(v) for v in args]
        data = values(x)
        outside = ((abs(data) > 1) if last.startswith("arc") else (data < 0)).any()
        if outside and last.startswith("arc"):
            raise refused(name, f"beyond 1 it lies on a branch cut: write np.{last} of complex "
                                "numbers")
        if not x.dtype.is_complex and outside:
            x = cast(x, numpy.result_type(x._data.dtype, "complex64"))
        return numpy.named(last)(x, *rest)

    return called


# ---------------------------------------------------------------- differences and integrals


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    x = operand(a)
    edges = []
    for edge in (prepend, append):
        if edge is not None:
            edge = operand(edge)
            shape = list(x.shape)
            shape[axis] = 1
            edge = edge if edge.ndim else torch.broadcast_to(edge, shape)
        edges.append(edge)
    parts = common(*[part for part in (edges[0], x, edges[1]) if part is not None])
    return torch.diff(torch.cat(parts, axis), n, axis)


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Tensor:
    x = operand(ary).reshape(-1)
    parts = [x[1:] - x[:-1]]
    if to_begin is not None:
        parts.insert(0, cast(operand(to_begin).reshape(-1), x._data.dtype))
    if to_end is not None:
        parts.append(cast(operand(to_end).reshape(-1), x._data.dtype))
    return torch.cat(parts)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    x = inexact(f)
    axes = axes_of(x, axis)
    spacing = list(varargs) or [1.0] * min(len(axes), 1)
    if len(spacing) == 1 and len(axes) > 1 and not operand(spacing[0]).ndim:
        spacing *= len(axes)
    if len(spacing) != len(axes):
        raise TypeError("invalid number of arguments")
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    found = [_slope(x, dim, step, edge_order) for dim, step in zip(axes, spacing, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def _slope(x: Tensor, dim: int, spacing: Any, order: int) -> Tensor:
    """The derivative along one axis, by parabolas through neighbours."""
    n = x.shape[dim]
    if n < order + 1:
        raise ValueError("Shape of array too small to calculate a numerical gradient, at least "
                         "(edge_order + 1) elements are required.")
    step = operand(spacing)
    if step.ndim:
        if step.ndim > 1 or step.numel() != n:
            raise ValueError("when 1d, distances must match the length of the corresponding "
                             "dimension")
        step = torch.diff(step)
    else:
        step = torch.broadcast_to(step, (n - 1,))
    own = x._data.dtype
    x, step = common(torch.movedim(x, dim, -1), step)
    low, high = step[:-1], step[1:]
    rise = torch.diff(x, dim=-1) / step
    inside = (low * rise[..., 1:] + high * rise[..., :-1]) / (low + high)
    first, last = rise[..., :1], rise[..., -1:]
    if order == 2:
        bend = (rise[..., 1:] - rise[..., :-1]) / (low + high)
        first = first - step[0] * bend[..., :1]
        last = last + step[-1] * bend[..., -1:]
    return cast(torch.movedim(torch.cat([first, inside, last], -1), -1, dim), own)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Tensor:
    y = operand(y)
    if x is None:
        y, width = common(torch.movedim(y, axis_of(y, axis), -1), dx)
    else:
        y, x = common(y, x)
        x = torch.movedim(x, axis, -1) if x.ndim > 1 else x
        y, width = torch.movedim(y, axis_of(y, axis), -1), torch.diff(x, dim=-1)
    return (width * (y[..., 1:] + y[..., :-1]) / 2).sum(-1)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
           ) -> Tensor:
    x, xp = operand(x), operand(xp)
    if x.dtype.is_complex or xp.dtype.is_complex:
        raise TypeError("Cannot cast array data from dtype('complex128') to dtype('float64') "
                        "according to the rule 'safe'")
    x, xp = cast(x, "float64"), cast(xp, "float64")
    fp = operand(fp)
    fp = cast(fp, "complex128" if fp.dtype.is_complex else "float64")
    if period is not None:
        x, xp = torch.remainder(x, abs(period)), torch.remainder(xp, abs(period))
        order = operand(numpy.named("argsort")(values(xp)))
        xp, fp = xp[order], fp[order]
        xp = torch.cat([xp[-1:] - abs(period), xp, xp[:1] + abs(period)])
        fp = torch.cat([fp[-1:], fp, fp[:1]])
        left = right = None
    known, wanted = values(xp), values(x)
    n = len(known)
    place = operand((numpy.named("searchsorted")(known, wanted, "right") - 1).clip(
        0, max(n - 2, 0)))
    upper = torch.clamp_max(place + 1, n - 1)
    width = torch.where(upper > place, xp[upper] - xp[place], 1.0)
    found = fp[place] + (fp[upper] - fp[place]) * ((x - xp[place]) / width)
    found = torch.where(operand(wanted < known[0]), fp[0] if left is None else left, found)
    return torch.where(operand(wanted >= known[-1]), torch.where(
        operand(wanted == known[-1]), fp[-1], fp[-1] if right is None else right), found)


# ---------------------------------------------------------------- polynomials


def polyval(p: Any, x: Any) -> Tensor:
    p, x = strongly(p, x)
    found = torch.zeros_like(x)
    for coefficient in p:
        found = found * x + coefficient
    return found


def polyadd(a1: Any, a2: Any) -> Tensor:
    a1, a2 = map(torch.atleast_1d, common(a1, a2))
    n = max(len(a1), len(a2))
    first, second = [torch.cat([torch.zeros(n - len(a), dtype=a.dtype), a]) for a in (a1, a2)]
    return first + second


def polysub(a1: Any, a2: Any) -> Tensor:
    return polyadd(a1, -operand(a2))


def polymul(a1: Any, a2: Any) -> Tensor:
    return convolve(a1, a2)


def polyder(p: Any, m: int = 1) -> Tensor:
    found = operand(p)
    for _ in range(m):
        n = len(found)
        found = numpy.named("multiply")(found, numpy.named("arange")(n - 1, -1, -1))[:-1]
    return found


def polyint(p: Any, m: int = 1, k: Any = None) -> Tensor:
    found = inexact(p, numpy.result_type(dtype_of(p), "float64"))
    constants = torch.zeros(m, dtype=found.dtype) if k is None else torch.broadcast_to(
        cast(operand(k), found._data.dtype), (m,))
    for constant in constants:
        n = len(found)
        found = torch.cat([found / operand(numpy.named("arange")(n, 0, -1)), constant[None]])
    return found


def polydiv(u: Any, v: Any) -> tuple[Tensor, Tensor]:
    u, v = map(torch.atleast_1d, common(inexact(u), v))
    steps = max(len(u) - len(v) + 1, 0)
    quotient = []
    for place in range(steps):
        quotient.append(u[place] / v[0])
        used = torch.cat([torch.zeros(place, dtype=u.dtype), quotient[-1] * v,
                          torch.zeros(len(u) - place - len(v), dtype=u.dtype)])
        u = u - used
    rest = u
    while len(rest) > 1 and bool(numpy.named("allclose")(values(rest[0]), 0, rtol=1e-14)):
        rest = rest[1:]
    return (torch.stack(quotient) if quotient else torch.zeros(1, dtype=u.dtype)), rest


def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None,
            cov: Any = False) -> Tensor:
    if full or cov or not isinstance(deg, int):
        raise refused("polyfit", "only the coefficients of a degree can, without full= and cov=; "
                                 "np.linalg.lstsq() of np.vander() gives the rest")
    x, y, _ = strongly(inexact(x), inexact(y), 0.0)
    powers = torch.vander(x, deg + 1)
    if w is not None:
        w = cast(operand(w), x._data.dtype)
        powers, y = powers * w[:, None], y * (w if y.ndim == 1 else w[:, None])
    scale = torch.sqrt((powers * powers).sum(0))
    found = torch.matmul(linalg.pinv(powers / scale), y)
    return found / (scale if y.ndim == 1 else scale[:, None])


def poly(seq_of_zeros: Any) -> Tensor:
    zeros = inexact(seq_of_zeros)
    if zeros.ndim == 2:
        zeros = linalg.eigvals(zeros)
    found = torch.ones(1, dtype=zeros.dtype)
    for zero in zeros.reshape(-1):
        found = torch.cat([found, torch.zeros(1, dtype=found.dtype)]) - torch.cat(
            [torch.zeros(1, dtype=found.dtype), found * zero])
    ordered = numpy.named("sort_complex")(values(zeros.reshape(-1)))
    pairs = numpy.named("all")(ordered == numpy.named("sort_complex")(ordered.conj()))
    return torch.real(found) if found.dtype.is_complex and pairs else found


def roots(p: Any) -> Tensor:
    p = inexact(p)
    there = numpy.named("flatnonzero")(values(p))
    if not len(there):
        return torch.zeros(0, dtype=p.dtype)
    trailing = len(p) - int(there[-1]) - 1
    p = p[int(there[0]):int(there[-1]) + 1]
    zeros = torch.zeros(trailing, dtype=p.dtype)
    if len(p) < 2:
        return zeros
    below = torch.diag(torch.ones(len(p) - 2, dtype=p.dtype), -1)[1:]
    found = linalg.eigvals(torch.cat([(-p[1:] / p[0])[None], below]))
    if not p.dtype.is_complex and not bool(values(found).imag.any()):
        found = torch.real(found)
    return torch.cat([found, cast(zeros, found._data.dtype)])


def vander(x: Any, N: Any = None, increasing: bool = False) -> Tensor:
    return torch.vander(strongly(x, 0)[0], N, increasing)
