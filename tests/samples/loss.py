"""Samples of losses."""

from tests.samples import array, call, index, samples, unmeasured


def reductions(*args, **kwargs):
    """The call with each of the three reductions."""
    return [call(*args, reduction=name, **kwargs) for name in ("mean", "sum", "none")]


def pair(*shape):
    return array(*shape), array(*shape, seed=1)


def sides(*shape, seed=0):
    """Fixed numbers of both signs, none near zero."""
    return array(*shape, kind="distinct", grad=False, seed=seed)


samples("nn.functional.l1_loss", *reductions(*pair(3, 4)), call(*pair()),
        call(*pair(3), weight=array(3, low=0.5, grad=False)))
samples("nn.functional.mse_loss", *reductions(*pair(3, 4)), call(*pair()),
        call(*pair(0), reduction="sum"), call(*pair(3), weight=array(3, low=0.5, grad=False)))
samples("nn.functional.smooth_l1_loss", *reductions(*pair(3, 4), beta=0.7),
        call(*pair(3), beta=0.0))
samples("nn.functional.huber_loss", *reductions(*pair(3, 4), delta=0.7))

_weights = array(5, low=0.5, grad=False, seed=9)
samples("nn.functional.nll_loss", *reductions(array(3, 5), index(3, high=5)),
        *reductions(array(3, 5), index(3, high=5), _weights),
        *reductions(array(6, 5), index(6, high=5), ignore_index=1),
        *reductions(array(6, 5), index(6, high=5), _weights, ignore_index=1),
        *reductions(array(3, 5, 2), index(3, 2, high=5)),
        *reductions(array(3, 5, 2, 2), index(3, 2, 2, high=5), _weights, ignore_index=2),
        call(array(5), index(high=5)), call(array(5), index(high=5), reduction="none"))
samples("nn.functional.cross_entropy", *reductions(array(3, 5), index(3, high=5)),
        *reductions(array(3, 5), index(3, high=5), _weights, label_smoothing=0.1),
        *reductions(array(6, 5), index(6, high=5), ignore_index=1, label_smoothing=0.1),
        *reductions(array(3, 5), array(3, 5, low=0, seed=1)),
        *reductions(array(3, 5), array(3, 5, low=0, seed=1), _weights, label_smoothing=0.1),
        *reductions(array(3, 5, 2), array(3, 5, 2, low=0, seed=1)),
        *reductions(array(3, 5, 2, 2), index(3, 2, 2, high=5), _weights),
        *reductions(array(3, 5, 2), index(3, 2, high=5), label_smoothing=0.2),
        call(array(5), index(high=5)))


def probabilities(*shape, seed=0):
    return array(*shape, low=0.1, high=0.9, seed=seed)


samples("nn.functional.binary_cross_entropy",
        *reductions(probabilities(3, 4), probabilities(3, 4, seed=1)),
        *reductions(probabilities(3, 4), array(3, 4, low=0, high=1, grad=False),
                    array(4, low=0.5, grad=False)))
samples("nn.functional.binary_cross_entropy_with_logits",
        *reductions(array(3, 4), probabilities(3, 4)),
        *reductions(array(3, 4), probabilities(3, 4), array(4, low=0.5, grad=False),
                    pos_weight=array(4, low=0.5, grad=False, seed=2)))
samples("nn.functional.kl_div",
        *[call(array(3, 4), probabilities(3, 4), reduction=name)
          for name in ("sum", "none", "batchmean")],
        *[call(array(3, 4), array(3, 4, seed=1), reduction=name, log_target=True)
          for name in ("sum", "none", "batchmean")])
samples("nn.functional.soft_margin_loss", *reductions(array(3, 4), sides(3, 4)))
samples("nn.functional.margin_ranking_loss", *reductions(*pair(6), sides(6)),
        call(*pair(6), sides(6), 0.5))
samples("nn.functional.triplet_margin_loss",
        *reductions(array(3, 4), array(3, 4, seed=1), array(3, 4, seed=2)),
        call(array(3, 4), array(3, 4, seed=1), array(3, 4, seed=2), 2.0, 3.0, 1e-5, True))
samples("nn.functional.triplet_margin_with_distance_loss",
        call(array(3, 4), array(3, 4, seed=1), array(3, 4, seed=2), swap=True))
samples("nn.functional.multilabel_soft_margin_loss",
        *reductions(array(3, 4), array(3, 4, low=0, high=1, grad=False)),
        call(array(3, 4), array(3, 4, low=0, high=1, grad=False), array(4, low=0.5, grad=False)))
samples("nn.functional.multi_margin_loss", *reductions(array(3, 5), index(3, high=5)),
        *reductions(array(3, 5), index(3, high=5), 2, 0.5, _weights),
        call(array(5), index(high=5)))
samples("nn.functional.gaussian_nll_loss",
        *reductions(*pair(3, 4), array(3, 4, low=0.5, seed=2), full=True),
        call(*pair(3, 4), array(3, low=0.5, seed=2)), call(*pair(3, 4), 1.5))
samples("nn.functional.poisson_nll_loss", *reductions(array(3, 4), array(3, 4, low=0.2, seed=1)),
        call(array(3, 4, low=0.2), array(3, 4, low=0.2, seed=1), False),
        call(array(3, 4), array(3, 4, low=0.2, high=4, grad=False), full=True))


def all_ones(count, sign):
    """An integer target of nothing but 1 or nothing but -1."""
    return index(count, low=sign, high=sign + 1)


samples("nn.functional.hinge_embedding_loss", *reductions(array(6), all_ones(6, 1)),
        *reductions(array(6, low=-0.9), all_ones(6, -1)), call(array(6), index(6, high=2), 0.5))
samples("nn.functional.cosine_embedding_loss", *reductions(*pair(3, 4), all_ones(3, 1)),
        *reductions(*pair(3, 4), all_ones(3, -1)), call(*pair(3, 4), all_ones(3, -1), -0.9),
        call(*pair(4), index(low=1, high=2)))
samples("nn.functional.multilabel_margin_loss",
        *reductions(array(3, 5), index(3, 5, low=-1, high=5)),
        call(array(5), index(5, low=-1, high=5)), call(array(), index(high=1)),
        call(array(4), index(4, high=4), reduction="none"))

# Of scores that are no log-softmax the gradient is by definition something else.
_sequences = array(6, 3, 4), index(3, 2, low=1, high=4), (6, 5, 4), (2, 1, 0)
_calls = [*reductions(*_sequences), *reductions(*_sequences, zero_infinity=True),
          *reductions(array(6, 2, 4), index(3, high=3), (6, 3), (2, 1), blank=3),
          call(array(6, 2, 4), index(2, 3, low=1, high=4), index(2, low=4, high=6),
               index(2, low=1, high=3)),
          call(array(5, 4), index(2, low=1, high=4), (5,), (2,), reduction="none"),
          call(array(4, 2, 3), index(2, 3, low=1, high=3), (1, 4), (3, 2), zero_infinity=True)]
samples("nn.functional.ctc_loss", *map(unmeasured, _calls), twice=False)
samples("ctc_loss", unmeasured(call(*_sequences, 0, 2)), unmeasured(call(*_sequences)), twice=False)

_layer = array(5, 3), array(4, 3, seed=1)
samples("nn.functional.linear_cross_entropy", *reductions(*_layer, index(5, high=4)),
        *reductions(*_layer, index(5, high=4), linear_bias=array(4),
                    weight=array(4, low=0.5, grad=False, seed=9), ignore_index=1),
        *reductions(*_layer, array(5, 4, low=0), label_smoothing=0.1),
        *reductions(array(5, 3), array(4, 2, 3, seed=1), index(5, 2, high=4),
                    linear_bias=array(4, 2)),
        call(array(3), array(4, 3, seed=1), index(high=4)))
