"""Samples of functions that few programs use: copies of views, kernels behind modules, slopes."""

from tests.samples import array, call, index, mask, samples, unmeasured

_x = array(2, 3, 4)
for _name, *_calls in (
        ("alias", call(_x)), ("detach", unmeasured(call(array(2, 3, grad=False)))),
        ("as_strided", call(_x, (2, 2), (1, 2)), call(_x, (3, 2), (2, 1), 1)),
        ("diagonal", call(_x), call(_x, 1, 0, 2)), ("expand", call(_x, (5, 2, 3, 4))),
        ("narrow", call(_x, 1, 0, 2), call(_x, -1, 1, 3)), ("permute", call(_x, (2, 0, 1))),
        ("select", call(_x, 1, 2)), ("slice", call(_x, 1, 0, 3, 2), call(_x), call(_x, 2, -2)),
        ("split", call(_x, 2, 1)), ("split_with_sizes", call(_x, (1, 2), 1)),
        ("squeeze", call(array(1, 3, 1)), call(array(1, 3, 1), 0), call(array(1, 3, 1), (0, 2))),
        ("t", call(array(3, 4)), call(array(3))), ("transpose", call(_x, 0, 2)),
        ("unbind", call(_x), call(_x, 1)), ("unfold", call(_x, 2, 2, 1)),
        ("unsqueeze", call(_x, 1)), ("view", call(_x, (6, 4)))):
    samples(f"{_name}_copy", *_calls, complex=_name not in ("select", "slice"))
samples("view_as_complex_copy", call(array(3, 2, grad=False)))
samples("view_as_real_copy", call(array(3, 2, kind="complex")))
samples("Tensor.narrow_copy", call(_x, 1, 0, 2), complex=True)

for _way in ("index_reduce", "Tensor.index_reduce"):
    samples(_way, *[call(array(4, 3), 0, index(5, high=4), array(5, 3, seed=1), way,
                         include_self=include)
                    for way in ("prod", "mean", "amax", "amin") for include in (True, False)],
            call(array(3, 4), 1, index(2, high=4), array(3, 2), "amax"))
samples("nonzero_static", call(array(3, 4), size=5), call(index(3, 4, high=2), size=20),
        call(array(3), size=2, fill_value=7))
samples("unravel_index", call(index(4, high=12), (3, 4)),
        call(index(3, low=-3, high=30), (2, 3, 2)), call(index(high=5), 5))
samples("gradient", call(array(5)), call(array(4, 5)), call(array(4, 5), dim=1, spacing=0.5),
        call(array(4, 5), spacing=[2.0, 0.5], edge_order=2), call(array(4, 5), edge_order=2),
        call(array(5), spacing=(array(5, kind="distinct"),)),
        call(array(4, 5), spacing=(array(5, kind="distinct"),), dim=(1,), edge_order=2),
        complex=True)
samples("histogram", call(array(20, grad=False), 4),
        call(array(20, grad=False), 4, range=(-1.0, 1.0)),
        call(array(20, grad=False), 5, weight=array(20, grad=False, seed=1), density=True))
samples("histogramdd", call(array(20, 2, grad=False), [3, 4]),
        call(array(4, 5, 3, grad=False), 2, density=True),
        call(array(20, 2, grad=False), [3, 4], range=(-1.0, 1.0, 0.0, 2.0)))

samples("native_layer_norm", call(_x, (4,), array(4), array(4, seed=1), 1e-5),
        call(_x, (3, 4), None, None, 1e-3))
samples("native_group_norm", call(array(2, 6, 3), array(6), array(6, seed=1), 2, 6, 3, 3, 1e-5),
        call(array(2, 6, 3), None, None, 2, 6, 3, 2, 1e-5))
samples("native_batch_norm", call(_x, array(3), array(3, seed=1), None, None, True, 0.1, 1e-5),
        call(_x, None, None, array(3, grad=False), array(3, low=0.5, grad=False, seed=2), False,
             0.1, 1e-5))
samples("native_dropout", call(_x, 0.5, False), unmeasured(call(_x, 0.5, True)))
samples("norm_except_dim", call(_x), call(_x, 2, 1), call(_x, 3, 2), call(_x, 2, -1))
samples("instance_norm", call(_x, array(3), array(3, seed=1), None, None, True, 0.1, 1e-5, False))
samples("adaptive_max_pool1d", call(array(2, 3, 7, kind="distinct"), 3))
for _name in ("rnn_tanh_cell", "rnn_relu_cell"):
    samples(_name, call(array(2, 3), array(2, 4), array(4, 3), array(4, 4), array(4),
                        array(4, seed=1)),
            call(array(2, 3), array(2, 4), array(4, 3), array(4, 4)))
samples("gru_cell", call(array(2, 3), array(2, 4), array(12, 3), array(12, 4), array(12),
                         array(12, seed=1)))
samples("lstm_cell", call(array(2, 3), [array(2, 4), array(2, 4, seed=1)], array(16, 3),
                          array(16, 4), array(16), array(16, seed=1)))

_y, _ones = array(3, 4, seed=1), {"grad": False, "low": 1.0, "high": 1.0}
_chance = array(3, 4, low=0.0, high=1.0, seed=1)
samples("kl_div", call(array(3, 4), array(3, 4, low=0.1, high=1.0, seed=1), 1),
        call(array(3, 4), _y, 2, log_target=True), call(array(3, 4), _y, log_target=True))
samples("poisson_nll_loss", call(array(3, 4), _y, True, False, 1e-8, 0),
        call(array(3, 4), array(3, 4, low=1.5, high=3.0, seed=1), True, True, 1e-8, 1))
samples("cosine_embedding_loss", call(array(3, 4), _y, array(3, **_ones)))
samples("hinge_embedding_loss", call(array(3, 4), array(3, 4, **_ones)))
samples("margin_ranking_loss", call(array(3), array(3, seed=1), array(3, **_ones), 0.5, 2))
samples("triplet_margin_loss", call(array(3, 4), _y, array(3, 4, seed=2), reduction=1),
        call(array(3, 4), _y, array(3, 4, seed=2), 1.0, 2, 1e-6, True, 0))
samples("binary_cross_entropy_with_logits", call(array(3, 4), _chance),
        call(array(3, 4), _chance, array(4, low=0.5, grad=False),
             array(4, low=0.5, grad=False, seed=3), 2))

# ---------------------------------------------------------------- kernels by their names

samples("_native_batch_norm_legit", call(_x, array(3), array(3, seed=1), True, 0.1, 1e-5),
        call(_x, None, None, array(3, grad=False), array(3, low=0.5, grad=False, seed=2), False,
             0.1, 1e-5))
samples("ops.aten.native_dropout_backward", call(_x, mask(2, 3, 4), 2.0))
samples("ops.aten.max_pool2d_with_indices_backward",
        call(array(2, 1, 2, 2), array(2, 1, 4, 4), 2, 2, 0, 1, False, index(2, 1, 2, 2, high=16)))
samples("_safe_softmax", call(_x, 1), call(_x, -1))
samples("ops.aten._upsample_bilinear2d_aa", call(array(1, 2, 5, 6), (3, 4), False, None),
        call(array(1, 2, 5, 6), None, True, (0.5, 1.5)))
samples("ops.aten.slice", call(_x, 1, 0, 3, 2), call(_x, 2, -2), complex=True)
_table, _rows, _columns = array(3, 4), index(2, 1, low=-1, high=4), index(1, 5, low=-2, high=6)
samples("_unsafe_masked_index", call(_table, mask(2, 5), [_rows, _columns], 1.5),
        call(array(0, 4), mask(2, 5), [_rows, _columns], 1.5), complex=True)
samples("_unsafe_masked_index_put_accumulate",
        call(_table, mask(2, 5), [_rows, _columns], array(2, 5)), complex=True)

_twos = index(3, low=2, high=3)
samples("segment_reduce",
        *[call(array(6, 2, kind="distinct"), way, lengths=_twos, initial=start)
          for way in ("sum", "mean", "max", "min", "prod") for start in (None, 0.45)],
        call(array(6, 2), "sum", lengths=index(4, high=2), unsafe=True),
        call(array(2, 4), "mean", lengths=index(2, 2, low=2, high=3), axis=1))
samples("hash_tensor", call(array(3, 4, grad=False)), call(array(3, 4, grad=False), 1),
        call(array(3, 4, grad=False), (0, 1), keepdim=True), call(index(5, high=9)))
samples("conv_tbc", call(array(7, 2, 3), array(3, 3, 4), array(4), 1),
        call(array(5, 1, 2), array(2, 2, 2), array(2)))
samples("convolution",
        call(array(2, 3, 6), array(4, 3, 3), array(4), [1], [1], [1], False, [0], 1),
        call(array(1, 2, 4, 4), array(2, 3, 2, 2), None, [2, 2], [0, 0], [1, 1], True, [1, 1], 1))
