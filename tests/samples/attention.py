"""Samples of attention."""

from tests.samples import array, call, mask, samples

_heads = array(2, 2, 3, 4), array(2, 2, 5, 4), array(2, 2, 5, 3)
samples("nn.functional.scaled_dot_product_attention",
        call(array(3, 4), array(5, 4), array(5, 3)), call(*_heads),
        call(array(2, 3, 4), array(2, 3, 4, seed=1), array(2, 3, 4, seed=2), is_causal=True),
        call(*_heads, array(3, 5)), call(*_heads, mask(3, 5, seed=3)), call(*_heads, scale=0.7),
        call(array(2, 4, 3, 4), array(2, 2, 5, 4), array(2, 2, 5, 3), enable_gqa=True))
