"""The public namespace ``retrograd.special``: what the ops declare for it."""

# Written by `make stubs` from the declared functions and docs/stub_types.py.
# ruff: noqa

from .base.dtypes import dtype
from .core.tensor import Tensor
from .types import Number
from collections.abc import Sequence

def airy_ai(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Airy's function Ai."""
    ...
def bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the first kind, of order 0."""
    ...
def bessel_j1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the first kind, of order 1."""
    ...
def bessel_y0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the second kind, of order 0."""
    ...
def bessel_y1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the second kind, of order 1."""
    ...
def chebyshev_polynomial_t(x: Tensor | Number, n: Tensor | Number, *,
                           out: Tensor | None = None) -> Tensor:
    """Chebyshev's polynomials of the first kind."""
    ...
def chebyshev_polynomial_u(x: Tensor | Number, n: Tensor | Number, *,
                           out: Tensor | None = None) -> Tensor:
    """Chebyshev's polynomials of the second kind."""
    ...
def chebyshev_polynomial_v(x: Tensor | Number, n: Tensor | Number, *,
                           out: Tensor | None = None) -> Tensor:
    """Chebyshev's polynomials of the third kind."""
    ...
def chebyshev_polynomial_w(x: Tensor | Number, n: Tensor | Number, *,
                           out: Tensor | None = None) -> Tensor:
    """Chebyshev's polynomials of the fourth kind."""
    ...
def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of the logarithm of gamma."""
    ...
def entr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-x log x, the entropy of one probability."""
    ...
def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The error function.

    ``y = 2/√π ∫₀ˣ e^(-t²) dt``; the gradient is ``g · 2/√π · e^(-x²)``.

    >>> torch.erf(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8427])
    """
    ...
def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """One minus the error function, exact far from zero."""
    ...
def erfcx(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(x²) erfc(x), which does not underflow."""
    ...
def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the error function."""
    ...
def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Two to the power of ``input``."""
    ...
def expit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """1 / (1 + exp(-x)).

    ``y = 1 / (1 + e^-x)``; the gradient is ``g · y · (1 - y)``.

    >>> torch.sigmoid(torch.tensor([-2.0, 0.0, 2.0]))
    tensor([0.1192, 0.5000, 0.8808])
    """
    ...
def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """e to the power of ``input``, minus one, exact for small ``input``."""
    ...
def gammainc(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The lower incomplete gamma function, regularised."""
    ...
def gammaincc(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The upper incomplete gamma function, regularised."""
    ...
def gammaln(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the gamma function's absolute value."""
    ...
def hermite_polynomial_h(x: Tensor | Number, n: Tensor | Number, *,
                         out: Tensor | None = None) -> Tensor:
    """Hermite's polynomials, of physicists."""
    ...
def hermite_polynomial_he(x: Tensor | Number, n: Tensor | Number, *,
                          out: Tensor | None = None) -> Tensor:
    """Hermite's polynomials, of probability."""
    ...
def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 0."""
    ...
def i0e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """:func:`i0` times exp(-|x|)."""
    ...
def i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 1."""
    ...
def i1e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """:func:`i1` times exp(-|x|)."""
    ...
def laguerre_polynomial_l(x: Tensor | Number, n: Tensor | Number, *,
                          out: Tensor | None = None) -> Tensor:
    """Laguerre's polynomials."""
    ...
def legendre_polynomial_p(x: Tensor | Number, n: Tensor | Number, *,
                          out: Tensor | None = None) -> Tensor:
    """Legendre's polynomials."""
    ...
def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The natural logarithm of one plus ``input``, exact for small ``input``.

    ``y = ln(1 + x)``, also exact for small ``x``; the gradient is ``g / (1 + x)``.

    >>> torch.log1p(torch.tensor([0.0, 1e-8], dtype=torch.float64))
    tensor([0.0000e+00, 1.0000e-08], dtype=torch.float64)
    """
    ...
def log_ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of :func:`ndtr`."""
    ...
def log_softmax(input: Tensor, dim: int, dtype: dtype | None = None, *,
                out: Tensor | None = None) -> Tensor:
    """The logarithm of softmax, computed safely."""
    ...
def logit(input: Tensor, eps: float | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(x / (1 - x)), with ``input`` held ``eps`` away from 0 and 1 if that is given."""
    ...
def logsumexp(input: Tensor, dim: int | Sequence[int] | None, keepdim: bool = False, *,
              out: Tensor | None = None) -> Tensor:
    """The logarithm of the sum of exponentials over ``dim``, without overflow.

    ``y = log Σ e^x`` without overflow; the gradient is ``g · softmax(x)``.

    >>> torch.logsumexp(torch.tensor([1000.0, 1000.0]), dim=0)
    tensor(1000.6932)
    """
    ...
def modified_bessel_i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, order 0."""
    ...
def modified_bessel_i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, order 1."""
    ...
def modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind, order 0."""
    ...
def modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind, order 1."""
    ...
def multigammaln(input: Tensor, p: int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the gamma function of ``p`` dimensions."""
    ...
def ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The area under the standard normal density to the left of ``input``."""
    ...
def ndtri(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of :func:`ndtr`."""
    ...
def polygamma(n: int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The ``n``-th derivative of digamma."""
    ...
def psi(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of the logarithm of gamma."""
    ...
def round(input: Tensor, *, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """The nearest number with that many decimals; ties go to even."""
    ...
def scaled_modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """:func:`modified_bessel_k0` times exp(x)."""
    ...
def scaled_modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """:func:`modified_bessel_k1` times exp(x)."""
    ...
def shifted_chebyshev_polynomial_t(x: Tensor | Number, n: Tensor | Number, *,
                                   out: Tensor | None = None) -> Tensor:
    """:func:`chebyshev_polynomial_t` of 2x - 1, for x from 0 to 1."""
    ...
def shifted_chebyshev_polynomial_u(x: Tensor | Number, n: Tensor | Number, *,
                                   out: Tensor | None = None) -> Tensor:
    """:func:`chebyshev_polynomial_u` of 2x - 1, for x from 0 to 1."""
    ...
def shifted_chebyshev_polynomial_v(x: Tensor | Number, n: Tensor | Number, *,
                                   out: Tensor | None = None) -> Tensor:
    """:func:`chebyshev_polynomial_v` of 2x - 1, for x from 0 to 1."""
    ...
def shifted_chebyshev_polynomial_w(x: Tensor | Number, n: Tensor | Number, *,
                                   out: Tensor | None = None) -> Tensor:
    """:func:`chebyshev_polynomial_w` of 2x - 1, for x from 0 to 1."""
    ...
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """sin(πx) / πx, which is 1 at 0."""
    ...
def softmax(input: Tensor, dim: int, dtype: dtype | None = None, *,
            out: Tensor | None = None) -> Tensor:
    """Exponentials along ``dim``, divided by their sum."""
    ...
def spherical_bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The spherical Bessel function of the first kind, of order 0."""
    ...
def xlog1py(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """``input`` times log(1 + ``other``), 0 where ``input`` is 0."""
    ...
def xlogy(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """``input`` times the logarithm of ``other``, 0 where ``input`` is 0."""
    ...
def zeta(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The zeta function of Hurwitz."""
    ...
