"""Samples of normalisation, similarity and embedding."""

from tests.samples import array, call, index, samples, unmeasured

samples("nn.functional.layer_norm",
        call(array(2, 3, 5), (5,), array(5), array(5, seed=1)), call(array(2, 3, 5), (5,)),
        call(array(2, 3, 5), (3, 5), array(3, 5), array(3, 5, seed=1)),
        call(array(5), [5], array(5), None, 0.1),
        call(array(0, 5), (5,), array(5)))
samples("layer_norm", call(array(2, 5), (5,), array(5), array(5, seed=1)))
samples("nn.functional.rms_norm", call(array(2, 3, 5), (5,), array(5)),
        call(array(2, 3, 5), (3, 5)), call(array(2, 5), (5,), eps=0.1))
samples("nn.functional.group_norm",
        call(array(2, 4, 3), 2, array(4), array(4, seed=1)), call(array(2, 4, 3, 2), 4),
        call(array(2, 4), 2, array(4)), call(array(2, 6, 3), 1, array(6), array(6, seed=1), 0.1))


def statistics(channels):
    return (array(channels, grad=False, seed=5),
            array(channels, low=0.5, high=2, grad=False, seed=6))


samples("nn.functional.batch_norm",
        call(array(4, 3, 2), None, None, array(3), array(3, seed=1), True),
        call(array(4, 3), None, None, training=True),
        call(array(2, 3, 2, 2), None, None, array(3), array(3, seed=1), True, 0.3, 0.1),
        call(array(2, 3, 2, 2), *statistics(3), array(3), array(3, seed=1)),
        call(array(4, 3), *statistics(3)))
samples("nn.functional.instance_norm",
        call(array(2, 3, 4)), call(array(2, 3, 2, 3), None, None, array(3), array(3, seed=1)),
        call(array(2, 3, 4), *statistics(3), array(3), array(3, seed=1), False))
samples("nn.functional.local_response_norm", call(array(2, 5, 4), 2),
        call(array(2, 5, 3, 2), 3, 0.1, 0.5, 2.0))
samples("nn.functional.normalize", call(array(2, 4)), call(array(2, 4), 3.0, 0),
        call(array(2, 4, 3), 1.0, 2), complex=False)
samples("nn.functional.cosine_similarity", call(array(2, 4), array(2, 4, seed=1)),
        call(array(2, 4), array(1, 4)), call(array(3, 4, 2), array(3, 4, 2, seed=1), dim=-1))
samples("nn.functional.pairwise_distance", call(array(2, 4), array(2, 4, seed=1)),
        call(array(2, 4), array(2, 4, seed=1), 3.0, 1e-6, True))
# What padding_idx and scale_grad_by_freq ask for is not the derivative.
samples("nn.functional.embedding", call(index(3, 2, high=5), array(5, 4)),
        unmeasured(call(index(6, high=5), array(5, 4), padding_idx=1)),
        unmeasured(call(index(9, high=5), array(5, 4), scale_grad_by_freq=True)),
        call(index(high=5), array(5, 4)), call(index(0, high=5), array(5, 4)))
samples("nn.functional.one_hot", call(index(3, 2, high=5), 6), call(index(3, high=5)))
samples("embedding", call(array(5, 4), index(3, 2, high=5)))
_start = index(1, high=1)  # one bag, which begins at the first index
samples("nn.functional.embedding_bag",
        *[call(index(3, 2, high=5), array(5, 4, kind="distinct"), mode=mode)
          for mode in ("sum", "mean", "max")],
        call(index(6, high=5), array(5, 4), _start, include_last_offset=False),
        call(index(3, 2, high=5), array(5, 4), mode="sum", per_sample_weights=array(3, 2)),
        unmeasured(call(index(6, high=5), array(5, 4), _start, padding_idx=1)),
        unmeasured(call(index(6, high=5), array(5, 4), _start, mode="max", padding_idx=-1)),
        unmeasured(call(index(6, high=5), array(5, 4), _start, mode="sum", padding_idx=2,
                        per_sample_weights=array(6))),
        call(index(0, high=1), array(5, 4), _start))
samples("embedding_bag",
        *[call(array(5, 4, kind="distinct"), index(6, high=5), _start, False, mode)
          for mode in (0, 1, 2)])
samples("group_norm", call(array(2, 4, 3), 2, array(4), array(4, seed=1)), call(array(1, 2), 2))
samples("batch_norm", call(array(4, 3, 2), array(3), array(3, seed=1), None, None, True, 0.1, 1e-5,
                           False))
