"""Samples of activations, softmax and dropout."""

from tests.samples import array, call, samples


def shapes(**options):
    return [call(array(3, 4, **options)), call(array(5, **options)), call(array(**options)),
            call(array(0, 3, **options))]


F = "nn.functional."

samples("relu", *shapes())
samples("selu", *shapes())
samples("celu", *shapes(), call(array(5), 0.5))
samples("hardshrink", *shapes(), call(array(5), 0.3))
samples("threshold", call(array(5), 0.2, -1.5), call(array(3, 4), -1, 7))
samples("prelu", call(array(3, 4), array(4, seed=1)), call(array(2, 3, 4), array(3, seed=1)),
        call(array(3, 4), array(1, seed=1)), call(array(), array(seed=1)), call(array(3), array(1)))
for name in ("relu", "relu6", "selu", "silu", "mish", "hardswish"):
    samples(F + name, *shapes(), call(array(6, low=-8.0, high=8.0)))
samples(F + "hardsigmoid", *shapes(), call(array(6, low=-8.0, high=8.0)), twice=False)
for name in ("softsign", "tanhshrink", "logsigmoid", "sigmoid", "tanh"):
    samples(F + name, *shapes(), call(array(6, low=-8.0, high=8.0)))
samples(F + "leaky_relu", *shapes(), call(array(5), 0.3), call(array(5), 1.7), call(array(5), 0.0))
samples(F + "elu", *shapes(), call(array(5), 0.3))
samples(F + "celu", *shapes(), call(array(5), 0.5))
samples(F + "hardtanh", *shapes(), call(array(5), -0.5, 1.5))
samples(F + "softshrink", *shapes(), call(array(5), 0.3))
samples(F + "hardshrink", *shapes(), call(array(5), 0.3))
samples(F + "threshold", call(array(5), 0.2, -1.5))
samples(F + "prelu", call(array(3, 4), array(4, seed=1)))
samples(F + "gelu", *shapes(), *[call(array(6, low=-4.0, high=4.0), approximate=a)
                                 for a in ("none", "tanh")])
samples(F + "softplus", *shapes(), call(array(6, low=-4.0, high=4.0), 2.5, 3.0),
        call(array(6, low=-40.0, high=40.0)))

SOFTMAX = (call(array(3, 4), 0), call(array(3, 4), -1), call(array(2, 3, 4), 1), call(array(), 0),
           call(array(0, 3), 1), call(array(5, low=-60.0, high=60.0), dim=0))
for name in ("softmax", "log_softmax"):
    for where in ("", "special.", F):
        samples(where + name, *SOFTMAX)
samples(F + "softmin", *SOFTMAX)
samples(F + "glu", call(array(3, 4)), call(array(4, 3), 0), call(array(2, 6, 3), 1),
        call(array(0, 4)))
# Dropout draws from the generator: what it draws is compared elsewhere, for the same seed.
samples("dropout", call(array(3, 4), 0.5, False), call(array(3, 4), 1.0, True),
        call(array(3, 4), 0.0, True))
samples(F + "dropout", call(array(3, 4), 0.5, False), call(array(3, 4), 1.0))
for spatial in (1, 2, 3):
    samples(F + f"dropout{spatial}d", call(array(2, 3, *(4,) * spatial), 0.5, False))
samples("feature_dropout", call(array(2, 3, 4), 0.5, False))
samples("alpha_dropout", call(array(3, 4), 0.5, False), call(array(3, 4), 1.0, True))
samples("feature_alpha_dropout", call(array(2, 3, 4), 0.5, False))
samples(F + "alpha_dropout", call(array(3, 4)), call(array(3, 4), 1.0, True))
samples(F + "feature_alpha_dropout", call(array(2, 3, 4)))
for name in ("rrelu", F + "rrelu"):
    samples(name, *shapes(), call(array(5), 0.2, 0.4))
