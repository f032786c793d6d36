"""Sample calls: subscripts, gathering and scattering, masks, copies in another order."""

from __future__ import annotations

from tests.samples import array, call, index, mask, samples

# ---------------------------------------------------------------- subscripts

samples(
    "Tensor.__getitem__",
    call(array(3, 4), 1),
    call(array(3, 4), -1),
    call(array(3, 4), (slice(None), 2)),
    call(array(5, 4), slice(1, None, 2)),
    call(array(3, 4), (None, slice(0, 2), ..., 1)),
    call(array(3, 4), ...),
    call(array(3, 4), ()),
    call(array(3, 4), None),
    call(array(), ...),
    call(array(3, 4), slice(2, 2)),
    call(array(3, 4), index(5, high=3)),
    call(array(3, 4), (slice(None), index(2, 3, high=4))),
    call(array(3, 4), (index(2, high=3), index(2, high=4))),
    call(array(3, 4, 2), (index(2, 1, high=3), slice(None), index(3, high=2))),
    call(array(3, 4, 2), (1, slice(None), index(3, high=2))),
    call(array(3, 4), mask(3, 4)),
    call(array(3, 4), mask(3)),
    call(array(2, 3, 4), (slice(None), mask(3, 4))),
    call(array(3, 4), [2, 0, 2]),
    call(array(3, 4), ([0, 1], [1, 3])),
    call(array(3, 4), True),
    call(array(3, 4), []),
    complex=True,
)

samples(
    "index_put",
    call(array(3, 4), (index(5, high=3),), array(4), accumulate=True),
    call(array(3, 4), (index(1, high=3),), array(1, 4)),
    call(array(3, 4), (index(2, high=3), index(2, high=4)), array(2), accumulate=True),
    call(array(3, 4), (mask(3, 4),), array()),
    call(array(3, 4), (mask(3),), array(4)),
    complex=True,
)

samples("index_select", call(array(3, 4), 0, index(5, high=3)),
        call(array(3, 4), -1, index(2, high=4)), call(array(3, 4), 1, index(0, high=4)),
        call(array(5), 0, index(high=5)), complex=True)
samples("gather", call(array(3, 4), 1, index(3, 2, high=4)),
        call(array(3, 4), 0, index(2, 3, high=3)),
        call(array(2, 3, 4), -1, index(2, 2, 5, high=4)), call(array(4), 0, index(6, high=4)),
        call(array(3, 4), 1, index(3, 0, high=4)), complex=True)
samples("take", call(array(3, 4), index(2, 3, high=12)),
        call(array(3, 4), index(4, low=-12, high=12)), complex=True)
samples("take_along_dim", call(array(3, 4), index(3, 2, high=4), 1),
        call(array(3, 4), index(1, 4, high=3), 0), call(array(3, 4), index(5, high=12)),
        complex=True)
samples("masked_select", call(array(3, 4), mask(3, 4)), call(array(3, 4), mask(4)),
        call(array(4), mask(3, 4)), call(array(3, 1), mask(1, 4)), complex=True)

# ---------------------------------------------------------------- writing through indices

samples("scatter_add", call(array(3, 4), 1, index(3, 6, high=4), array(3, 6)),
        call(array(3, 4), 0, index(2, 4, high=3), array(2, 4)),
        call(array(4), 0, index(3, high=4), array(3)), complex=True)
samples("scatter", call(array(3, 4), 1, index(3, 1, high=4), array(3, 1)),
        call(array(3, 4), 0, index(1, 4, high=3), array(1, 4)),
        call(array(3, 4), 1, index(3, 2, high=4), 1.5), complex=True)
samples("scatter_reduce", *[
    call(array(3, 4, kind="distinct", seed=1), 1, index(3, 5, high=4),
         array(3, 5, kind="distinct", low=-1.93, high=2.171), how, include_self=include)
    for how in ("sum", "mean", "prod", "amax", "amin") for include in (True, False)])
samples("index_add", call(array(3, 4), 0, index(5, high=3), array(5, 4)),
        call(array(3, 4), 1, index(2, high=4), array(3, 2), alpha=2), complex=True)
samples("index_copy", call(array(3, 4), 0, index(1, high=3), array(1, 4)),
        call(array(3, 4), 1, index(1, high=4), array(3, 1)), complex=True)
samples("index_fill", call(array(3, 4), 0, index(2, high=3), 1.5),
        call(array(3, 4), 1, index(2, high=4), array()), complex=True)
samples("masked_fill", call(array(3, 4), mask(3, 4), 1.5), call(array(3, 4), mask(4), array()),
        call(array(4), mask(3, 4), -2.0), complex=True)
samples("masked_scatter", call(array(3, 4), mask(3, 4), array(12)),
        call(array(3, 4), mask(4), array(4, 3)), complex=True)
samples("put", call(array(3, 4), index(1, high=12), array(1)),
        call(array(3, 4), index(6, high=12), array(6), accumulate=True), complex=True)
samples("fill", call(array(3, 4), 2.0), call(array(3, 4), array()), complex=True)
samples("select_scatter", call(array(3, 4), array(4), 0, 1), call(array(3, 4), array(3), 1, -1))
samples("slice_scatter", call(array(3, 4), array(2, 4), 0, 1),
        call(array(3, 4), array(3, 2), 1, 0, 4, 2))
samples("diagonal_scatter", call(array(3, 4), array(3)), call(array(3, 4), array(3), 1),
        call(array(2, 3, 4), array(2, 3), 0, 1, 2), complex=True)
# PyTorch's gradient of the input is wrong here (it is zero where it should not be).
samples("as_strided_scatter", call(array(3, 4, grad=False), array(2, 2), (2, 2), (1, 4), 1),
        complex=True)

# ---------------------------------------------------------------- places

samples("nonzero", call(mask(3, 4)), call(mask(3, 4), as_tuple=True), call(index(5, high=2)))
samples("argwhere", call(mask(3, 4)), call(index(5, high=2)))
samples("tril_indices", call(3, 4), call(3, 3, 1), call(4, 2, -1))
samples("triu_indices", call(3, 4), call(3, 3, 1), call(4, 2, -1))

# ---------------------------------------------------------------- another order

samples("flip", call(array(3, 4), (0,)), call(array(3, 4), (0, -1)), call(array(2, 0), (0,)),
        complex=True)
samples("fliplr", call(array(3, 4)), complex=True)
samples("flipud", call(array(3, 4)), complex=True)
samples("roll", call(array(3, 4), 2), call(array(3, 4), 1, 0), call(array(3, 4), (1, -2), (0, 1)),
        complex=True)
samples("rot90", call(array(3, 4)), call(array(3, 4), 2), call(array(2, 3, 4), 3, (0, 2)),
        call(array(3, 4), -1), complex=True)
samples("Tensor.repeat", call(array(3, 2), 2, 3), call(array(3), 2, 2), call(array(), 3),
        complex=True)
samples("tile", call(array(3, 2), (2,)), call(array(3, 2), (2, 1, 2)), complex=True)
samples("repeat_interleave", call(array(3, 2), 2), call(array(3, 2), 2, 1),
        call(array(4, 2), index(4, high=3), 0), call(array(3, 2), index(1, low=2, high=3), 1),
        complex=True)
# PyTorch cannot differentiate its own.
samples("vander", call(array(3, grad=False)), call(array(3, grad=False), 4),
        call(array(3, grad=False), 2, True), complex=True)
