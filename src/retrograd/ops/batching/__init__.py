"""Batching rules: how vmap computes each op on a whole batch at once.

Elementwise ops need none, and an op with one array and some dims is shifted by
:mod:`retrograd.transforms`. A rule here gets the batch (its size, and which arguments have one),
then the op's arguments, where those that are batched carry the batch as dim 0. It returns the
result with the batch as dim 0. Rules are written in ops, so they work inside other transforms.

======================  =============================================================
:mod:`.common`          the table of rules, and what rules are made of
:mod:`.shape`           views: shapes, dims, parts, strides
:mod:`.rearrange`       copies: joined, rearranged, triangular, diagonal, overwritten
:mod:`.index`           index tensors and masks in brackets
:mod:`.scatter`         gather, scatter, index_*, take, put, masked_*
:mod:`.sort`            sorting, sorted sequences, sets
:mod:`.reduce`          reductions, distances
:mod:`.product`         products, linear layers, linear algebra
:mod:`.conv`            convolution, pooling, padding, resampling
:mod:`.norm`            normalisation, softmax, embedding
:mod:`.loss`            losses
:mod:`.random`          random numbers
======================  =============================================================
"""

from __future__ import annotations

from ...core.op import REGISTRY
from . import conv, index, loss, norm, product, random, rearrange, reduce, scatter, shape, sort
from .common import RULES

for _name, _rule in RULES.items():
    if _name in REGISTRY:
        REGISTRY[_name].batch(_rule)

__all__ = ["RULES", "conv", "index", "loss", "norm", "product", "random", "rearrange", "reduce",
           "scatter", "shape", "sort"]
