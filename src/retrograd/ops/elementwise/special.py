"""Special functions: of the gamma and error families, Bessel's, and their kin."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from ...backend import pointwise as pointwise_kernels, xp
from ...base import dtypes
from ...core.op import PUBLIC, Array, elementwise, public, publish
from ...core.out_rules import CASTABLE, Out
from ...core.tensor import Tensor
from ..checks.common import kinds, no_derivative_of
from .arithmetic import sgn
from .exponentials import exp, exp2, expm1, log, log1p, logit, sigmoid
from .expressions import binary, unary
from .number_operands import BOTH, in_place, tensor_or_number
from .rounding import _round_decimals
from .trigonometry import sinc
from .where import where, zeroed

_ROOT_PI = math.sqrt(math.pi)
_ROOT_HALF_PI = math.sqrt(math.pi / 2)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)
_NOTHING = 1e-30  # half of a number below it may have lost its digits; 0 in float16


def _special(name: str, doc: str, kernel: Any, vjp: Any = None, node: str | None = None,
             guard: str = "") -> Any:
    """Declare a function of ``torch.special`` alone."""
    return unary(name, doc, kernel, vjp, promote="float", method=False, function="special",
                 node=node, guard=kinds("f", guard or f"{name}_cpu"))


# ---------------------------------------------------------------- error integrals

erf = unary("erf", "The error function.", lambda input: pointwise_kernels.erf(input),
            lambda g, input: g * (2 / _ROOT_PI * exp(-(input * input))), promote="float",
            inplace="function", guard=kinds("f", "erf_vml_cpu"))
erfc = unary("erfc", "One minus the error function, exact far from zero.",
             lambda input: pointwise_kernels.erfc(input),
             lambda g, input: g * (-2 / _ROOT_PI * exp(-(input * input))), promote="float",
             inplace="function", guard=kinds("f", "erfc_vml_cpu"))
erfinv = unary("erfinv", "The inverse of the error function.",
               lambda input: pointwise_kernels.erfinv(input),
               lambda g, input: erfinv_backward(g, input), promote="float", inplace=True,
               guard=kinds("f", "erfinv_vml_cpu"))


@elementwise(function=None, method=False, numbers=(), node="MulBackward0")
def erfinv_backward(input: Array, source: Array) -> Any:
    """``input`` times the derivative of :func:`erfinv` at ``source``."""
    return pointwise_kernels.erfinv_gradient(input, source)


erfinv_backward.vjp(
    input=lambda g, source: erfinv_backward(g, source),
    source=lambda g, input, source: erfinv_backward(
        erfinv_backward(g * input * (2.0 * erfinv(source)), source), source))


erfcx = _special("erfcx", "exp(x²) erfc(x), which does not underflow.",
                 lambda input: pointwise_kernels.erfcx(input),
                 lambda g, input, y: g * (2.0 * input * y - 2 / _ROOT_PI), "SpecialErfcxBackward0")
ndtr = _special("ndtr", "The area under the standard normal density to the left of ``input``.",
                lambda input: pointwise_kernels.ndtr(input),
                lambda g, input: g * (exp(-0.5 * input * input) / _ROOT_TWO_PI), "MulBackward1",
                "erf_vml_cpu")
log_ndtr = _special("log_ndtr", "The logarithm of :func:`ndtr`.",
                    lambda input: pointwise_kernels.log_ndtr(input),
                    lambda g, input: log_ndtr_backward(g, input), "SpecialLogNdtrBackward0")


@elementwise(function=None, method=False, numbers=(), node="MulBackward0")
def log_ndtr_backward(input: Array, source: Array) -> Any:
    """``input`` times the derivative of :func:`log_ndtr` at ``source``."""
    return pointwise_kernels.log_ndtr_gradient(input, source)


log_ndtr_backward.vjp(
    input=lambda g, source: log_ndtr_backward(g, source),
    source=lambda g, input, source: -g * input * _log_ndtr_bend(
        source, 1 / (erfcx(source * -math.sqrt(0.5)) * _ROOT_HALF_PI)))


def _log_ndtr_bend(input: Any, slope: Any) -> Any:
    return slope * (input + slope)


ndtri = _special("ndtri", "The inverse of :func:`ndtr`.",
                 lambda input: pointwise_kernels.ndtri(input),
                 lambda g, y: g * _ROOT_TWO_PI * exp(y * y / 2), "SpecialNdtriBackward0")
entr = _special("entr", "-x log x, the entropy of one probability.",
                lambda input: pointwise_kernels.entr(input),
                lambda g, input: g * where(input < 0, math.nan, -log(input) - 1),
                "SpecialEntrBackward0")

# ---------------------------------------------------------------- gamma and its derivatives

lgamma = unary("lgamma", "The logarithm of the gamma function's absolute value.",
               lambda input: pointwise_kernels.log_gamma(input),
               lambda g, input: g * digamma(input), promote="float", inplace=True,
               guard=kinds("f", "lgamma_vml_cpu"))
digamma = unary("digamma", "The derivative of the logarithm of gamma.",
                lambda input: pointwise_kernels.digamma(input),
                lambda g, input: g * polygamma(1, input), promote="float", inplace=True,
                guard=kinds("f", "digamma"))


@elementwise(promote="float", method=False,
             guard=lambda given, common: kinds(
                 "f", "trigamma" if given["n"] == 1 else "polygamma")(given, common))
def polygamma(n: int, input: Array) -> Any:
    """The ``n``-th derivative of digamma."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return pointwise_kernels.polygamma(n, input)


polygamma.vjp(input=lambda g, n, input: g * polygamma(n + 1, input))


@public("polygamma", function=None)
def _polygamma_method(input: Tensor, n: int) -> Tensor:
    """The ``n``-th derivative of digamma."""
    return polygamma(n, input)


@public("polygamma_", function=None)
def _polygamma_in_place(input: Tensor, n: int) -> Tensor:
    """In-place version of :func:`polygamma`."""
    # The rule needs the values that are overwritten.
    return input.copy_(polygamma(n, input.clone()))


@elementwise(promote="float", inplace=True, guard=lambda given, common: _check_mvlgamma(
    given, common), out=Out("mvlgamma: " + CASTABLE))
def mvlgamma(input: Array, p: int) -> Any:
    """The logarithm of the gamma function of ``p`` dimensions."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    return xp.in_rows(pointwise_kernels.log_multigamma(input, p))


def _check_mvlgamma(given: dict[str, Any], common: dtypes.dtype) -> None:
    if given["input"].dtype is dtypes.bool:
        raise RuntimeError("The input tensor may not be a boolean tensor.")
    kinds("f", "mvlgamma")(given, common)


mvlgamma.vjp(input=lambda g, input, p: g * _multi_digamma(input, p))


def _multi_digamma(input: Any, p: int) -> Any:
    total = digamma(input)
    for j in range(1, p):
        total = total + digamma(input - j / 2)
    return total


_incomplete = partial(binary, promote="same", function="special", method=False, inplace=True,
                      numbers=())
gammainc = _incomplete("gammainc", "The lower incomplete gamma function, regularised.",
                       lambda input, other: pointwise_kernels.gammainc(input, other),
                       title="igamma", node="IgammaBackward0", guard=kinds("f", "igamma_cpu"),
                       input=lambda g: no_derivative_of("igamma: input"),
                       other=lambda g, input, other: g * _gamma_density(input, other))
gammaincc = _incomplete("gammaincc", "The upper incomplete gamma function, regularised.",
                        lambda input, other: pointwise_kernels.gammaincc(input, other),
                        title="igammac", node="IgammacBackward0", guard=kinds("f", "igammac_cpu"),
                        input=lambda g: no_derivative_of("igammac: input"),
                        other=lambda g, input, other: -g * _gamma_density(input, other))


def _gamma_density(input: Any, other: Any) -> Any:
    return exp((input - 1) * log(other) - other - lgamma(input))


for _name, _made in (("igamma", gammainc), ("igammac", gammaincc)):
    publish(_made, _name)
    publish(in_place(_made), _name + "_", function=None)
    delattr(Tensor, _made.op.name + "_")

# ---------------------------------------------------------------- zeta and logarithms


_CAMEL = {"zeta": "Zeta", "xlog1py": "Xlog1Py"}


def _in_three_forms(declared: str, doc: str, guard: Any, **rules: Any) -> Any:
    """Declare a function of two tensors, or of a number and a tensor on either side."""
    with_tensor, of_number, with_number = [
        binary(declared + suffix, doc,
               lambda input, other: getattr(pointwise_kernels, declared)(input, other),
               promote="float", function=None, method=False, numbers=BOTH, title=declared,
               node=f"Special{_CAMEL[declared]}Backward{form}", guard=guard,
               **{name: rules[name] for name in tensors})
        for form, (suffix, tensors) in enumerate((
            ("", BOTH), ("_of_number", ("other",)), ("_number", ("input",))))]
    publish(tensor_or_number(f"special_{declared}", with_tensor, with_number, of_number), declared,
            method=False, function="special")
    return with_tensor


zeta = _in_three_forms(
    "zeta", "The zeta function of Hurwitz.", kinds("f", "zeta"),
    input=lambda g: no_derivative_of("zeta"),
    other=lambda g, input, other: g * -input * zeta(input + 1, other))
xlog1py = _in_three_forms(
    "xlog1py", "``input`` times log(1 + ``other``), 0 where ``input`` is 0.",
    kinds("f", "xlog1py_cpu"),
    input=lambda g, input, other: g * zeroed(log1p(other), (input == 0) & (other <= -1)),
    other=lambda g, input, other: g * input / (other + 1))

# ---------------------------------------------------------------- Bessel functions


i0 = unary("i0", "The modified Bessel function of the first kind, of order 0.",
           lambda input: pointwise_kernels.i0(input),
           lambda g, input: g * i1(input), promote="float", inplace="function",
           guard=kinds("f", "i0_vml_cpu"))
i0e = _special("i0e", ":func:`i0` times exp(-|x|).",
               lambda input: pointwise_kernels.i0e(input),
               lambda g, input, y: g * (i1e(input) - sgn(input) * y), "SpecialI0EBackward0")
i1 = _special("i1", "The modified Bessel function of the first kind, of order 1.",
              lambda input: pointwise_kernels.i1(input),
              lambda g, input, y: g * where(abs(input) <= _NOTHING, 0.5, i0(input) - y / input),
              "SpecialI1Backward0")
i1e = _special("i1e", ":func:`i1` times exp(-|x|).",
               lambda input: pointwise_kernels.i1e(input),
               lambda g, input, y: g * where(
                   abs(input) <= _NOTHING, 0.5, i0e(input) - y * sgn(input) - y / input),
               "SpecialI1EBackward0")


def _without_derivative(name: str, doc: str) -> Any:
    """Declare a function of one argument that PyTorch does not differentiate."""
    return _special(name, doc, lambda input: getattr(pointwise_kernels, name)(input))


for _kind, _text in (
        ("bessel_j1", "The Bessel function of the first kind, of order 1."),
        ("bessel_y0", "The Bessel function of the second kind, of order 0."),
        ("bessel_y1", "The Bessel function of the second kind, of order 1."),
        ("modified_bessel_k0", "The modified Bessel function of the second kind, order 0."),
        ("modified_bessel_k1", "The modified Bessel function of the second kind, order 1."),
        ("scaled_modified_bessel_k0", ":func:`modified_bessel_k0` times exp(x)."),
        ("scaled_modified_bessel_k1", ":func:`modified_bessel_k1` times exp(x).")):
    _without_derivative(_kind, _text)
bessel_j0 = _without_derivative("bessel_j0", "The Bessel function of the first kind, of order 0.")
modified_bessel_i0 = _special(
    "modified_bessel_i0", "The modified Bessel function of the first kind, order 0.",
    lambda input: pointwise_kernels.i0(input))
modified_bessel_i1 = _special(
    "modified_bessel_i1", "The modified Bessel function of the first kind, order 1.",
    lambda input: pointwise_kernels.i1(input))
airy_ai = _special("airy_ai", "Airy's function Ai.", lambda input: pointwise_kernels.airy_ai(input))
spherical_bessel_j0 = _special(
    "spherical_bessel_j0", "The spherical Bessel function of the first kind, of order 0.",
    lambda input: pointwise_kernels.sine_ratio(input))

# ---------------------------------------------------------------- other names

for _name, _made in {"erf": erf, "erfc": erfc, "erfinv": erfinv, "exp2": exp2, "expm1": expm1,
                     "log1p": log1p, "expit": sigmoid, "logit": logit, "gammaln": lgamma,
                     "digamma": digamma, "psi": digamma, "polygamma": polygamma,
                     "multigammaln": mvlgamma, "i0": i0, "sinc": sinc}.items():
    PUBLIC["special"][_name] = _made


@public("round", method=False, function="special")
def _special_round(input: Tensor, *, decimals: int = 0, out: Any = None) -> Tensor:
    """The nearest number with that many decimals; ties go to even."""
    return _round_decimals(input, decimals, out=out)
