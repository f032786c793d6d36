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
samples("bilinear", call(array(2, 3), array(2, 4), array(5, 3, 4), array(5)),
        call(array(3), array(4), array(5, 3, 4)),
        call(array(2, 2, 3), array(2, 2, 4), array(5, 3, 4)))
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
samples("linalg.multi_dot", call([array(2, 3), array(3, 4), array(4, 5)]),
        call([array(3), array(3, 4), array(4)]), call([array(2, 3), array(3)]),
        call([array(10, 2), array(2, 8), array(8, 3), array(3, 9)]), complex=True)

samples("tril", call(array(3, 4)), call(array(2, 3, 3), 1), call(array(3, 4), -1), complex=True)
samples("triu", call(array(3, 4)), call(array(2, 3, 3), 1), call(array(3, 4), -1), complex=True)
samples("diag", call(array(3)), call(array(3, 4)), call(array(3), 1), call(array(4, 3), -1),
        complex=True)
samples("diag_embed", call(array(2, 3)), call(array(3), 1), call(array(2, 3), -1, 0, 2),
        complex=True)
samples("diagflat", call(array(2, 3)), call(array(3), -2), call(array()), complex=True)
samples("cross", call(array(2, 3), array(2, 3, seed=1), 1),
        call(array(3, 2), array(3, 2, seed=1), 0), complex=True)
samples("linalg.cross", call(array(2, 3), array(2, 3, seed=1)), call(array(2, 3), array(1, 3)),
        call(array(3, 2), array(3, 2, seed=1), dim=0), complex=True)
samples("linalg.diagonal", call(array(2, 3, 4)), call(array(3, 4), offset=1), complex=True)

# A general matrix of random numbers is well enough conditioned at these sizes and seeds.
_square = array(3, 3, seed=4)
_batch = array(2, 3, 3, seed=5)
for _name in ("linalg.inv", "inverse", "linalg.det", "det"):
    samples(_name, call(_square), call(_batch), call(array(1, 1)), complex=True)
samples("linalg.inv_ex", call(_square), complex=True)
samples("linalg.slogdet", call(_square), call(_batch), complex=True)
samples("slogdet", call(_square), complex=True)
samples("logdet", call(_square), complex=True)
samples("linalg.solve", call(_square, array(3, 2)), call(_square, array(3)),
        call(_batch, array(2, 3)), call(_batch, array(2, 3, 2)), call(_batch, array(3, 2)),
        call(_square, array(2, 3), left=False), complex=True)
samples("linalg.solve_triangular", call(_square, array(3, 2), upper=True),
        call(_square, array(3, 2), upper=False), call(_batch, array(3, 2), upper=True),
        call(_square, array(2, 3), upper=False, left=False),
        call(_square, array(3, 2), upper=True, unitriangular=True), complex=True)
samples("linalg.qr", call(array(4, 3)), call(_square), call(array(3, 5)), call(array(2, 4, 3)),
        call(_square, "complete"), complex=True)
samples("linalg.svdvals", call(array(4, 3)), call(array(2, 3, 4)), complex=True)
samples("linalg.pinv", call(array(4, 3)), call(array(3, 4)), call(_batch), complex=True)
samples("pinverse", call(array(4, 3)), complex=True)
samples("linalg.lstsq", call(array(4, 3), array(4, 2)), call(_square, array(3, 2)))
samples("linalg.matrix_exp", call(_square), call(_batch), call(array(1, 1)), complex=True)
samples("matrix_exp", call(_square), complex=True)
samples("linalg.matrix_power", call(_square, 3), call(_batch, 2), call(_square, -2),
        call(_square, 0), call(_square, 1), complex=True)
samples("matrix_power", call(_square, 5), complex=True)
samples("linalg.matrix_norm",
        *[call(array(3, 4, kind="distinct"), order)
          for order in ("fro", "nuc", 1, -1, 2, -2, float("inf"), -float("inf"))],
        call(array(2, 3, 4), dim=(0, 2)), call(array(2, 3, 4), "nuc", keepdim=True),
        call(array(2, 3, 4), 1, (2, 0), True))
samples("linalg.norm", call(array(3, 4)), call(array(4), 3), call(array(3, 4), "nuc"),
        call(array(2, 3, 4), 1, 1), call(array(2, 3, 4), 2, (0, 1)),
        call(array(2, 3), None, 1, True))
samples("linalg.cond", call(_square), call(_square, -2))
samples("linalg.matrix_rank", call(array(4, 3, grad=False)))
samples("linalg.vecdot", call(array(2, 3), array(2, 3, seed=1)),
        call(array(3, 2), array(3, 2, seed=1), dim=0), complex=True)
samples("linalg.tensorinv", call(array(2, 3, 6)), call(array(4, 2, 2), 1), complex=True)
samples("linalg.tensorsolve", call(array(2, 3, 6), array(2, 3)), complex=True)
samples("linalg.vander", call(array(3)), call(array(2, 3), N=4), complex=True)
samples("linalg.eigvals", call(_square), complex=True)

# Only numbers (matrices of one element) are Hermitian or free of an arbitrary phase whatever is
# drawn; test_linalg.py has larger matrices.
_number = array(1, 1, low=0.5)
for _name in ("linalg.cholesky", "linalg.cholesky_ex", "linalg.eigh", "linalg.eigvalsh",
              "linalg.svd", "svd"):
    samples(_name, call(_number), call(array(2, 1, 1, low=0.5)))
samples("cholesky_solve", call(array(1, 2), _number), call(array(1, 2), _number, True))
samples("cholesky_inverse", call(_number), call(_number, True))

# Factors, and calls that solve with them, of whatever swaps; a single number needs none.
_pivots = array(3, low=3, high=4, kind="int32")
for _name in ("linalg.lu", "linalg.lu_factor", "linalg.lu_factor_ex"):
    samples(_name, call(_square), call(_batch), call(array(3, 5)), call(array(5, 3)), complex=True)
samples("linalg.solve_ex", call(_square, array(3, 2)), call(_batch, array(2, 3)),
        call(_square, array(2, 3), left=False), complex=True)
samples("linalg.householder_product", call(array(4, 3), array(3)), call(array(4, 3), array(2)),
        call(array(2, 3, 3), array(2, 3)), complex=True)
samples("orgqr", call(array(4, 3), array(3)), complex=True)
samples("ormqr", call(array(4, 3), array(3), array(4, 2)),
        call(array(4, 3), array(3), array(2, 4), False),
        call(_square, array(3), _square, True, True),
        call(_batch, array(2, 3), array(2, 2, 3), False, True), complex=True)
samples("geqrf", call(array(4, 3, grad=False)), call(array(2, 3, 4, grad=False)), complex=True)
samples("linalg.ldl_factor", call(array(3, 3, seed=4, grad=False)),
        call(array(2, 3, 3, seed=5, grad=False)), complex=True)
samples("linalg.ldl_factor_ex", call(array(3, 3, seed=4, grad=False)),
        call(array(3, 3, seed=4, grad=False), hermitian=True), complex=True)
samples("lu_unpack", call(_square, _pivots), call(array(3, 5), _pivots),
        call(array(5, 3), _pivots), call(_square, _pivots, True, False), complex=True)
samples("linalg.lu_solve", call(_square, _pivots, array(3, 2)),
        call(_square, _pivots, array(2, 3, 2), adjoint=True),
        call(_square, _pivots, array(2, 3), left=False),
        call(_square, _pivots, array(2, 3), left=False, adjoint=True), complex=True)
samples("linalg.ldl_solve", call(array(3, 3, seed=4, grad=False), _pivots,
                                 array(3, 2, grad=False)), complex=True)
