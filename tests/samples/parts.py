"""Samples of the parts of complex numbers, and of ops that no family claims."""

from tests.samples import array, call, samples, unmeasured

for name in ("view_as_real", "imag"):
    samples(name, *[call(array(*shape, kind="complex")) for shape in ((3, 4), (5,), (), (0, 3))])
samples("detach", call(array(3)), call(array()), complex=True)
samples("is_same_size", call(array(3), array(3)), call(array(3), array(1, 3)), complex=True)
for name in ("is_floating_point", "is_complex", "is_signed", "is_conj", "is_neg", "is_inference",
             "numel"):
    samples(name, call(array(3)), call(array()), call(array(0, 2)), complex=True)
samples("is_nonzero", call(array()), call(array(1)), complex=True)
samples("nn.functional.gumbel_softmax", call(array(3, 4)), call(array(3, 4), tau=0.7, dim=0),
        call(array(5), 2.0))
# Random draws: PyTorch defines their gradient to be zero.
for name in ("poisson", "bernoulli"):
    samples(name, unmeasured(call(array(3, 4, low=0.1, high=0.9))),
            unmeasured(call(array(low=0.1, high=0.9))))
samples("multinomial", unmeasured(call(array(4, low=0.1, high=0.9), 2)),
        unmeasured(call(array(3, 4, low=0.1, high=0.9), 6, replacement=True)))
samples("normal", unmeasured(call(array(3, 4), 2.0)), unmeasured(call(1.5, array(4, low=0.1))),
        unmeasured(call(array(3), array(3, low=0.1, seed=1))))
for name in ("rand_like", "randn_like"):
    samples(name, call(array(3, 4, grad=False)), call(array(grad=False)))
samples("randint_like", call(array(3, 4, grad=False), 9), call(array(5, grad=False), 2, 7))
# Draws whose gradients follow their quantiles, which a difference of two draws does not.
for name in ("_standard_gamma", "_sample_dirichlet"):
    samples(name, unmeasured(call(array(3, 4, low=0.2, high=3.0))),
            unmeasured(call(array(2, low=0.5, high=9.0))), twice=False)
samples("_standard_gamma_grad", call(array(3, 4, low=0.2, high=3.0, grad=False),
                                     array(3, 4, low=0.1, high=3.0, seed=1, grad=False)))
samples("_dirichlet_grad", call(array(3, 4, low=0.1, high=0.9, grad=False),
                                array(4, low=0.2, high=3.0, seed=1, grad=False),
                                array(low=4.0, high=9.0, seed=2, grad=False)))
samples("binomial", call(array(3, 4, low=1, high=90, grad=False),
                         array(3, 4, low=0.1, high=0.9, seed=1, grad=False)),
        call(array(3, 4, low=1, high=40, grad=False), array(low=0.1, high=0.9, grad=False)))
