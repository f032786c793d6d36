"""The declared ops, by family; importing this package declares them all."""

# ruff: noqa: F401, I001 - imported for what they declare, family by family

from __future__ import annotations

from ..core import general  # the way of the calls that no generated code handles itself
from .memory import casts, filling, reshape_inplace, strides
from .shapes import (complex_views, dimensions, expanding, flipping, grids, joining, repeating,
                     reshaping, slicing, splitting)
from .elementwise import (arithmetic, clamping, comparison, complex_numbers, conjugate,
                          exponentials, floating_point, logic, number_operands, operators, powers,
                          rounding, special, trigonometry, where)
from .reductions import (arguments, correlation, cumulative, distances, extremes, norms, products,
                         quantiles, sums, truth, variance)
from .sorting import counting, searching, sorting
from .indexing import (gather_scatter, index_select, index_tensors, masked_fill, masked_select,
                       nonzero, overwriting, subscripts, take_put)
from .creation import filled, from_data, gamma_draws, nested_data, options, random, ranges
from .products import added_products, contractions, einsum, linear_layers, matmul
from . import linalg
from .nn import (activations, adaptive_pooling, along_axes, attention, attention_heads, batch_norm,
                 convolution, dropout, embedding, embedding_bag, folding, fractional_pooling,
                 grid_sampling, layer_norm, norm_pooling, padding, pooling, random_activations,
                 resampling, shuffling, similarity, sizes, softmax, unpooling)
from .losses import (binary_cross_entropy, cross_entropy, ctc, divergence, linear_cross_entropy,
                     margin, multilabel_margin, reduction, regression)
from . import late
from .descriptions import describe as _describe

_describe()


def __getattr__(name: str) -> object:
    """PyTorch's own names of ops, which programs look for here."""
    if name == "aten":
        from .._ops import aten

        late.load_all()  # a name may be that of any op
        return aten
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
