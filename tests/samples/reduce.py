"""Samples of reductions, scans, norms and distances."""

import math

from tests.samples import array, call, index, kinked, mask, samples


def distinct(*shape, **options):
    """Values that are far from each other, so that every extreme is unique."""
    return array(*shape, kind="distinct", **options)


# The same calls serve the sums: all elements, some dims, kept dims, a scalar, nothing.
SUMS = (call(array(3, 4)), call(array(3, 4), 0), call(array(3, 4), -1, True),
        call(array(2, 3, 4), (0, 2)), call(array(2, 3, 4), dim=[1, 2], keepdim=True),
        call(array()), call(array(), 0), call(array(3, 0)), call(array(2, 3, 4), ()),
        call(array(100)), call(array(8, 40)))

samples("sum", *SUMS, call(array(0)), call(array(3, 0), 1), call(array(2, 3), None),
        call(array(2, 3), axis=1, keepdims=True), complex=True)
samples("Tensor.sum", call(array(2, 3)), call(array(2, 3), 0), call(array(2, 3), (0, 1)),
        complex=True)
samples("mean", *[c for c in SUMS if 0 not in c.args[0].shape], call(array(3, 0), 0),
        call(array(2, 3), axis=1, keepdims=True), complex=True)
samples("nansum", *SUMS)
samples("nanmean", *[c for c in SUMS if 0 not in c.args[0].shape])
samples("prod", call(array(3, 4)), call(array(3, 4), 0), call(array(3, 4), -1, keepdim=True),
        call(array()), call(array(), 0), call(array(0)), call(array(1)), call(array(2, 3, 2), 1),
        complex=True)

SPREADS = (call(array(3, 4)), call(array(3, 4), 0), call(array(3, 4), (0, 1), keepdim=True),
           call(array(2, 3, 4), dim=(0, 2), correction=0), call(array(3, 4), False),
           call(array(3, 4), 1, True), call(array(3, 4), 1, False, True),
           call(array(3, 4), dim=-1, correction=2, keepdim=True), call(array(5), unbiased=False))

samples("var", *SPREADS, complex=True)
samples("std", *SPREADS, complex=True)
samples("var_mean", *SPREADS, complex=True)
samples("std_mean", *SPREADS, complex=True)

EXTREMES = (call(distinct(3, 4)), call(distinct(3, 4), 0), call(distinct(3, 4), 1, True),
            call(distinct(3, 4), dim=-1), call(distinct()), call(distinct(), 0),
            call(distinct(2, 3, 4), 1), call(distinct(2, 0), 0))

samples("max", *EXTREMES, call(distinct(3, 4), distinct(3, 4, seed=1, high=3.0)),
        call(distinct(3, 4), distinct(4, seed=1, high=3.0)))
samples("min", *EXTREMES, call(distinct(3, 4), distinct(3, 4, seed=1, high=3.0)))
samples("median", *EXTREMES, call(distinct(5)), call(distinct(6), 0))
samples("nanmedian", *EXTREMES, call(distinct(5)), call(distinct(6), 0))
samples("argmax", *EXTREMES, call(distinct(3, 4), None, True))
samples("argmin", *EXTREMES, call(distinct(3, 4), None, True))

RANGES = (call(distinct(3, 4)), call(distinct(3, 4), 0), call(distinct(2, 3, 4), (0, 2)),
          call(distinct(2, 3, 4), dim=(1,), keepdim=True), call(distinct()), call(distinct(), 0),
          call(distinct(2, 0), 0), call(distinct(3, 4), ()))

samples("amax", *RANGES)
samples("amin", *RANGES)
samples("aminmax", call(distinct(3, 4)), call(distinct(3, 4), dim=0),
        call(distinct(2, 3, 4), dim=-1, keepdim=True), call(distinct()), call(distinct(), dim=0))
samples("logsumexp", call(array(3, 4), 0), call(array(3, 4), (0, 1)), call(array(3, 4), 1, True),
        call(array(), 0), kinked(call(array(0), 0)),
        call(array(2, 3, 4), dim=(0, 2), keepdim=True), complex=True)
samples("any", call(array(3, 4)), call(mask(3, 4)), call(mask(3, 4), 0),
        call(mask(2, 3, 4), (0, 2), True), call(mask(3, 0), 1), call(index(3, high=2)),
        call(mask()), call(mask(), 0), call(mask(2, 3), ()), complex=True)
samples("all", call(array(3, 4)), call(mask(3, 4)), call(mask(3, 4), 0),
        call(mask(2, 3, 4), (0, 2), True), call(mask(3, 0), 1), call(index(3, high=2)),
        call(mask()), call(mask(), 0), call(mask(2, 3), ()), complex=True)
samples("count_nonzero", call(array(3, 4)), call(mask(3, 4)), call(mask(3, 4), 0),
        call(mask(2, 3, 4), (0, 2)), call(index(3, high=2)), call(mask()), complex=True)
samples("trace", call(array(3, 3)), call(array(2, 4)), call(array(4, 2)), call(array(0, 0)),
        complex=True)

# ---------------------------------------------------------------- scans

samples("cumsum", call(array(5), 0), call(array(3, 4), -1), call(array(3, 4), dim=0),
        call(array(), 0), call(array(0), 0), call(array(70), 0), complex=True)
samples("cumprod", call(array(5), 0), call(array(3, 4), -1), call(array(3, 4), dim=0),
        call(array(), 0), call(array(0), 0), call(array(80, low=-1, high=1), 0), complex=True)
samples("logcumsumexp", call(array(5), 0), call(array(3, 4), -1), call(array(3, 4), dim=0),
        call(array(), 0), call(array(0), 0), call(array(70), 0), complex=True)
samples("cummax", call(distinct(5), 0), call(distinct(3, 4), -1), call(distinct(3, 4), dim=0),
        call(distinct(), 0), call(distinct(0), 0))
samples("cummin", call(distinct(5), 0), call(distinct(3, 4), -1), call(distinct(3, 4), dim=0),
        call(distinct(), 0), call(distinct(0), 0))
samples("diff", call(array(5)), call(array(3, 4), 2), call(array(3, 4), dim=0),
        call(array(3, 4), prepend=array(3, 1), append=array(3, 2)), call(array(3), 5),
        call(array(3), 0), complex=True)
samples("trapezoid", call(array(5)), call(array(3, 4)), call(array(3, 4), dim=0),
        call(array(3, 4), dx=0.5), call(array(3, 4), array(4)), call(array(3, 4), array(3, 4)),
        call(array(3, 4), array(3), dim=0), call(array(3, 0)), complex=True)
samples("cumulative_trapezoid", call(array(5)), call(array(3, 4)), call(array(3, 4), dim=0),
        call(array(3, 4), dx=0.5), call(array(3, 4), array(4)), call(array(3, 4), array(3, 4)),
        complex=True)

# ---------------------------------------------------------------- norms and distances

INF = float("inf")
samples("norm", call(array(3, 4)), call(array(3, 4), 2, 0), call(array(3, 4), "fro", (0, 1)),
        call(array(3, 4), None, 1, True), call(array(3, 4), 1), call(distinct(3, 4), INF, 1),
        call(distinct(3, 4, high=1.7), -INF), call(array(5), 3), call(array(5), 1.5),
        call(array(5), 0.5),
        call(array(5, low=1.0), -1), call(array(2, 3, 4), 3, (0, 2), True), call(array()),
        call(array(0)), complex=True)
samples("linalg.vector_norm", call(array(3, 4)), call(array(3, 4), 2, 0),
        call(array(3, 4), 1, (0, 1)), call(array(2, 3, 4), 3, (0, 2), True),
        call(distinct(3, 4), INF, 1), call(array(3, 4), 2.5, -1, True), complex=True)
samples("dist", call(array(3, 4), array(3, 4, seed=1)), call(array(3, 4), array(4), 1),
        call(array(3, 4), array(3, 1), 3), call(distinct(4), distinct(4, seed=1, high=7.0), INF),
        call(array(), array(seed=1)), complex=True)
samples("pdist", *[call(array(4, 3), p) for p in (2.0, 1.0, 3.0, math.inf, 0.0)],
        call(array(1, 3)), call(array(3, 0)))
samples("cdist", call(array(3, 2), array(4, 2)), call(array(2, 3, 4), array(2, 5, 4), 1.0),
        call(array(3, 2), array(2, 4, 2), p=3.0), call(array(3, 2), array(4, 2, seed=5), 1.5),
        call(array(3, 2), array(4, 2, seed=5), INF), twice=True)
samples("renorm", call(array(3, 4), 2, 0, 1.0), call(array(3, 4), 1, 1, 2.5),
        call(array(2, 3, 4), 3, -1, 1.5), call(array(3, 4), 2, 0, 100.0), complex=True)
samples("cov", call(array(3, 5)), call(array(5)), call(array(3, 5), correction=0),
        call(array(3, 4), fweights=index(4, low=1, high=5)),
        complex=True)
samples("Tensor.cov", call(array(3, 4), aweights=array(4, low=0.5, high=1.0, grad=False)))
samples("corrcoef", call(array(3, 5)), call(array(5)))
