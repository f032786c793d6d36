"""Sample calls: joining tensors, and grids of them."""

from __future__ import annotations

from tests.samples import array, call, samples

samples("cat", call([array(2, 3), array(1, 3, seed=1)]), call([array(2, 3), array(2, 2)], 1),
        call((array(2, 3), array(0))), call([array(4)]), complex=True)
samples("concat", call([array(2, 3), array(1, 3)]), complex=True)
samples("concatenate", call([array(2, 3), array(1, 3)]), complex=True)
samples("stack", call([array(2, 3), array(2, 3, seed=1)]), call([array(2, 3), array(2, 3)], -1),
        call([array(), array(seed=1)]), complex=True)
samples("hstack", call([array(2), array(3)]), call([array(2, 1), array(2, 3)]),
        call([array(), array(seed=1)]), complex=True)
samples("vstack", call([array(3), array(2, 3)]), complex=True)
samples("row_stack", call([array(3), array(2, 3)]), complex=True)
samples("dstack", call([array(3), array(1, 3, seed=1)]), call([array(2, 3), array(2, 3)]),
        complex=True)
samples("column_stack", call([array(3), array(3, 2)]), call([array(), array(seed=1)]), complex=True)
samples("atleast_1d", call(array()), call(array(3)), call(array(), array(2)), complex=True)
samples("atleast_2d", call(array()), call(array(3)), call(array(2, 3)), complex=True)
samples("atleast_3d", call(array()), call(array(3)), call(array(2, 3)), complex=True)
samples("meshgrid", call(array(2), array(3), indexing="ij"),
        call(array(2), array(3), indexing="xy"),
        call(array(2), array(), indexing="ij"), complex=True)
samples("cartesian_prod", call(array(2), array(3)), call(array(3)), complex=True)
samples("combinations", call(array(4)), call(array(4), 3), call(array(3), 2, True), complex=True)
samples("block_diag", call(array(2, 2), array(3), array()), complex=True)
