"""Samples of sorting, selecting, searching and counting."""

from tests.samples import array, call, index, samples


def distinct(*shape, **options):
    """Values that are far from each other, so that the order is unique."""
    return array(*shape, kind="distinct", **options)


samples("sort", call(distinct(5)), call(distinct(3, 4)), call(distinct(3, 4), 0),
        call(distinct(3, 4), -1, True), call(distinct(3, 4), dim=0, descending=True),
        call(distinct(3, 4), stable=True), call(distinct()), call(distinct(0)),
        call(index(3, 4, high=3), stable=True), call(index(3, 4, high=3), 1, True))
samples("argsort", call(distinct(5)), call(distinct(3, 4), 0), call(distinct(3, 4), -1, True),
        call(distinct()), call(distinct(3, 4), stable=True))
samples("msort", call(distinct(5)), call(distinct(3, 4)))
samples("topk", call(distinct(5), 2), call(distinct(3, 4), 2, 0),
        call(distinct(3, 4), 3, -1, False),
        call(distinct(40), 3), call(distinct(40), 3, largest=False), call(distinct(5), 0),
        call(distinct(), 1), call(distinct(2, 50), 4, dim=1))
samples("kthvalue", call(distinct(5), 2), call(distinct(3, 4), 2, 0),
        call(distinct(3, 4), 3, -1, True), call(distinct(), 1))
samples("mode", call(distinct(5)), call(distinct(3, 4), 0), call(distinct(3, 4), 1, True),
        call(distinct()), call(index(4, 6, high=3)))
samples("quantile", call(distinct(5), 0.3), call(distinct(3, 4), 0.5, 0),
        call(distinct(3, 4), 0.7, dim=1, keepdim=True), call(distinct(3, 4), 0.25, keepdim=True),
        call(distinct(2, 3, 4), array(3, low=0.1, high=0.9), 1),
        call(distinct(2, 3, 4), array(2, low=0.1, high=0.9), 1, True),
        call(distinct(7), 0.3, interpolation="lower"),
        call(distinct(7), 0.3, interpolation="higher"),
        call(distinct(7), 0.3, interpolation="midpoint"),
        call(distinct(7), 0.3, interpolation="nearest"), call(distinct(), 0.5))
samples("nanquantile", call(distinct(5), 0.3), call(distinct(3, 4), 0.5, 0),
        call(distinct(3, 4), 0.7, dim=1, keepdim=True),
        call(distinct(2, 3, 4), array(3, low=0.1, high=0.9), 1))
samples("searchsorted", call(array(1, low=0.0), array(3, 4)),
        call(index(1, high=5), index(3, high=7)),
        call(index(2, 1, high=5), index(2, 4, high=7), right=True),
        call(index(1, high=5), 3, side="right", out_int32=True))
samples("bucketize", call(array(3, 4), array(1)), call(index(3, 4, high=9), index(1, high=5)),
        call(index(4, high=9), index(1, high=5), right=True))
samples("unique", call(index(8, high=4)), call(index(3, 4, high=4), return_inverse=True),
        call(index(3, 4, high=4), True, True, True), call(index(6, 2, high=2), dim=0),
        call(index(2, 6, high=2), return_inverse=True, return_counts=True, dim=1),
        call(array(4, grad=False)))
samples("unique_consecutive", call(index(8, high=2)),
        call(index(3, 4, high=2), return_inverse=True),
        call(index(8, high=2), True, True), call(index(8, 1, high=2), dim=0, return_counts=True))
samples("bincount", call(index(8, high=4)), call(index(8, high=4), minlength=9),
        call(index(8, high=4), array(8, grad=False)), call(index(8, high=4), index(8, high=3)))
samples("histc", call(array(20, grad=False), 4), call(array(20, grad=False), 4, -1, 1),
        call(array(20, grad=False), bins=3, min=0, max=2))
samples("isin", call(index(3, 4, high=6), index(3, high=6)), call(index(5, high=6), 2),
        call(array(4, grad=False), array(4, grad=False), invert=True))
