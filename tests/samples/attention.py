"""Samples of attention."""

from tests.samples import array, call, mask, samples

_heads = array(2, 2, 3, 4), array(2, 2, 5, 4), array(2, 2, 5, 3)
samples("nn.functional.scaled_dot_product_attention",
        call(array(3, 4), array(5, 4), array(5, 3)), call(*_heads),
        call(array(2, 3, 4), array(2, 3, 4, seed=1), array(2, 3, 4, seed=2), is_causal=True),
        call(*_heads, array(3, 5)), call(*_heads, mask(3, 5, seed=3)), call(*_heads, scale=0.7),
        call(array(2, 4, 3, 4), array(2, 2, 5, 4), array(2, 2, 5, 3), enable_gqa=True))

_weights = array(12, 4), array(12), None, None, False, 0.0, array(4, 4), array(4)
samples("nn.functional.multi_head_attention_forward",
        call(array(3, 2, 4), array(5, 2, 4), array(5, 2, 4, seed=1), 4, 2, *_weights),
        call(array(3, 4), array(5, 4), array(5, 4, seed=1), 4, 2, *_weights, need_weights=False),
        call(array(3, 2, 4), array(3, 2, 4), array(3, 2, 4), 4, 2, *_weights,
             attn_mask=array(3, 3)))
