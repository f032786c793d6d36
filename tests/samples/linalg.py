"""Samples of products, matrix functions and factorisations."""

from tests.samples import array, call, samples

samples("mm", call(array(2, 3), array(3, 4)), call(array(0, 3), array(3, 4)),
        call(array(2, 0), array(0, 4)), complex=True)
samples("mv", call(array(2, 3), array(3)), call(array(0, 3), array(3)), complex=True)
samples("dot", call(array(4), array(4, seed=1)), call(array(0), array(0, seed=1)), complex=True)
samples("vdot", call(array(4), array(4, seed=1)), complex=True)
samples("bmm", call(array(5, 2, 3), array(5, 3, 4)), call(array(0, 2, 3), array(0, 3, 4)),
        complex=True)
samples("matmul",
        call(array(3), array(3, seed=1)), call(array(3), array(3, 4)), call(array(2, 3), array(3)),
        call(array(2, 3), array(3, 4)), call(array(5, 2, 3), array(3, 4)),
        call(array(2, 3), array(5, 3, 4)), call(array(5, 2, 3), array(3)),
        call(array(3), array(5, 3, 4)), call(array(5, 2, 3), array(5, 3, 4)),
        call(array(6, 1, 2, 3), array(5, 3, 4)), call(array(5, 2, 3), array(6, 5, 3, 4)),
        call(array(3), array(2, 5, 3, 4)), call(array(2, 5, 2, 3), array(3)),
        call(array(6, 5, 2, 3), array(3, 4)), call(array(2, 3, grad=False), array(5, 3, 4)),
        call(array(0, 2, 3), array(3, 4)), call(array(5, 2, 0), array(5, 0, 4)),
        complex=True)
samples("linalg.matmul", call(array(2, 3), array(3, 4)), complex=True)
samples("addmm",
        call(array(2, 4), array(2, 3), array(3, 4)),
        call(array(4), array(2, 3), array(3, 4), beta=0.5, alpha=2),
        call(array(), array(2, 3), array(3, 4), beta=0), complex=True)
samples("addmv", call(array(2), array(2, 3), array(3)),
        call(array(1), array(2, 3), array(3), beta=0.5, alpha=2), complex=True)
samples("addr", call(array(2, 3), array(2), array(3)),
        call(array(3, seed=1), array(2), array(3), beta=0.5, alpha=2), complex=True)
samples("baddbmm", call(array(5, 2, 4), array(5, 2, 3), array(5, 3, 4)),
        call(array(4), array(5, 2, 3), array(5, 3, 4), beta=0.5, alpha=2), complex=True)
samples("addbmm", call(array(2, 4), array(5, 2, 3), array(5, 3, 4)),
        call(array(4), array(5, 2, 3), array(5, 3, 4), beta=0.5, alpha=2), complex=True)
samples("nn.functional.linear",
        call(array(2, 3), array(4, 3), array(4)), call(array(2, 3), array(4, 3)),
        call(array(5, 2, 3), array(4, 3), array(4)), call(array(5, 2, 3), array(4, 3)),
        call(array(3), array(4, 3), array(4)), call(array(3), array(4, 3)),
        call(array(2, 3), array(3)), call(array(4, 2, 3), array(3)),
        call(array(2, 3), array(4, 3), array(1)), call(array(2, 3), array(4, 3), array(2, 4)),
        call(array(0, 3), array(4, 3), array(4)), call(array(6, 5, 2, 3), array(4, 3), array(4)),
        complex=True)
samples("outer", call(array(2), array(3)), call(array(0), array(3)), complex=True)
samples("ger", call(array(2), array(3)), complex=True)
samples("inner", call(array(2, 3), array(4, 3)), call(array(3), array(3, seed=1)),
        call(array(), array(3)), call(array(2, 3), array(3)), complex=True)
samples("tensordot", call(array(2, 3, 4), array(3, 4, 5)),
        call(array(2, 3, 4), array(4, 5), 1), call(array(2, 3), array(4, 5), 0),
        call(array(2, 3, 4), array(4, 3, 2), dims=([1, 2], [1, 0])),
        call(array(2, 3), array(1, 2), dims=([1], [0])), complex=True)
samples("kron", call(array(2, 3), array(4, 2)), call(array(2), array(3, 2)),
        call(array(), array(2)), complex=True)
samples("chain_matmul", call(array(2, 3), array(3, 4), array(4, 5)), complex=True)
samples("linalg.multi_dot", call([array(2, 3), array(3, 4), array(4, 5)]),
        call([array(3), array(3, 4), array(4)]), call([array(2, 3), array(3)]),
        call([array(10, 2), array(2, 8), array(8, 3), array(3, 9)]), complex=True)
