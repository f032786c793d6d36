"""Samples of special functions."""

from tests.samples import array, call, index, samples


def shapes(**options):
    return [call(array(3, 4, **options)), call(array(**options)), call(array(0, 3, **options))]


POSITIVE = {"low": 0.3, "high": 3.0}

for name in ("erf", "erfc", "i0", "special.erf", "special.erfc", "special.erfcx", "special.ndtr",
             "special.log_ndtr", "special.i0", "special.i0e", "special.i1", "special.i1e",
             "special.expit", "special.exp2", "special.expm1", "special.sinc", "special.round"):
    samples(name, *shapes())
for name in ("erfinv", "special.erfinv"):
    samples(name, *shapes(low=-0.8, high=0.8))
samples("special.ndtri", *shapes(low=0.1, high=0.9))
samples("special.logit", *shapes(low=0.1, high=0.9))
for name in ("lgamma", "digamma", "special.entr", "special.gammaln", "special.digamma",
             "special.psi", "special.log1p"):
    samples(name, *shapes(**POSITIVE))
for name in ("polygamma", "special.polygamma"):
    samples(name, *[call(n, array(3, 4, **POSITIVE)) for n in (0, 1, 2, 3)])
samples("Tensor.polygamma", call(array(3, **POSITIVE), 1))
for name in ("mvlgamma", "special.multigammaln"):
    samples(name, call(array(3, 4, low=1.5, high=4.0), 3), call(array(low=1.0, high=2.0), 1))
for name in ("igamma", "igammac", "special.gammainc", "special.gammaincc"):
    samples(name, call(array(3, 4, grad=False, **POSITIVE), array(4, seed=1, **POSITIVE)))
samples("special.xlog1py", call(array(3, 4), array(4, **POSITIVE)), call(array(3), 1.5),
        call(2.0, array(3, **POSITIVE)))
samples("special.zeta", call(array(3, 4, low=1.5, high=4.0, grad=False), array(4, **POSITIVE)),
        call(2.5, array(3, **POSITIVE)))
for name in ("bessel_j0", "bessel_j1", "modified_bessel_i0", "modified_bessel_i1", "airy_ai",
             "spherical_bessel_j0"):
    samples(f"special.{name}", *shapes())
for name in ("bessel_y0", "bessel_y1", "modified_bessel_k0", "modified_bessel_k1",
             "scaled_modified_bessel_k0", "scaled_modified_bessel_k1"):
    samples(f"special.{name}", *shapes(**POSITIVE))
for name in ("chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v",
             "chebyshev_polynomial_w", "hermite_polynomial_h", "hermite_polynomial_he",
             "laguerre_polynomial_l", "legendre_polynomial_p", "shifted_chebyshev_polynomial_t",
             "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
             "shifted_chebyshev_polynomial_w"):
    samples(f"special.{name}", call(array(3, 4), index(4, high=6)), call(array(3, 4), 12),
            call(0.3, array(4, low=-2.0, high=6.0)), call(array(3, 1), array(4, low=0.0, high=5.0)),
            call(array(3), 40), call(index(3, low=-1, high=2), index(3, high=3)))
