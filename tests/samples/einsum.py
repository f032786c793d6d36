"""Samples of sums of products in Einstein's notation."""

from tests.samples import array, call, samples

samples("einsum",
        call("ij,jk->ik", array(2, 3), array(3, 4)),
        call("bij,bjk->bik", array(5, 2, 3), array(5, 3, 4)),
        call("bij,bjk->kib", array(5, 2, 3), array(5, 3, 4)),
        call("ij,jk", array(2, 3), array(3, 4)),
        call("i,j->ij", array(2), array(3)), call("i,i", array(3), array(3, seed=1)),
        call("ij,ij->ij", array(2, 3), array(2, 3, seed=1)), call("ij->ji", array(2, 3)),
        call("ij->", array(2, 3)), call("ij->j", array(2, 3)), call("ii->i", array(3, 3)),
        call("ii", array(3, 3)), call("iij->j", array(3, 3, 2)), call("iji->j", array(3, 2, 3)),
        call("...ij,...jk->...ik", array(5, 2, 3), array(7, 1, 3, 4)),
        call("...ij,jk", array(5, 2, 3), array(3, 4)), call("i...->...", array(2, 3, 4)),
        call("...->...", array(2, 3)), call("bi,bj,bk->ijk", array(2, 3), array(2, 4), array(2, 5)),
        call("ij,jk,kl->il", array(2, 3), array(3, 4), array(4, 5)),
        call("ijk,ilm,njm,nlk,abc->", array(2, 3, 2), array(2, 2, 3), array(2, 3, 3),
             array(2, 2, 2), array(1, 2, 2)),
        call("bn,anm,bm->ba", array(2, 5), array(3, 5, 4), array(2, 4)),
        call("ij,jk->ik", array(2, 1), array(3, 4)), call("ij,ij->i", array(2, 3), array(1, 3)),
        call("i,j->", array(3), array(2)), call("", array()), call(",i->i", array(), array(3)),
        call(array(2, 3), [0, 1], array(3, 4), [1, 2], [0, 2]),
        call(array(2, 3), [0, ...], [..., 0]), call("ba", array(2, 3)),
        call("ij,jk->ik", [array(2, 3), array(3, 4)]), call("ij,jk->ik", array(2, 0), array(0, 4)),
        complex=True)
