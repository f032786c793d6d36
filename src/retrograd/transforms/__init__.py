"""Dual numbers and batches: data that a transform puts under a tensor.

A tensor's raw data is an array, or traced data of one of two kinds:

* :class:`Dual`: a value and its tangent (forward mode);
* :class:`Batched`: many values that the program sees as one (vmap).

The graph knows nothing of them. An op on such data is computed here, by the op's own rules, and the
call is recorded as any other; so reverse mode passes through forward mode and vmap, and they
through it, in any nesting. Traced data nests: the one with the highest level is outermost.

======================= ===========================================================
:mod:`.traced_data`     the two kinds of data, the tensor that carries them, levels
:mod:`.dual`            an op on dual numbers
:mod:`.batched`         an op on batches
:mod:`.dependencies`    tangents that are sets of inputs: sparsity patterns
:mod:`.raw_rules`       rules on raw data, arrays and traced data alike
:mod:`.calls`           the usual call of an op on such data
:mod:`.backward`        backward inside a transform
:mod:`.boundary`        where data and gradients enter a transform and leave it
:mod:`.tangent_history` which part of a dual number requires grad
:mod:`.writing`         writing in place
======================= ===========================================================

**Gradients that come from outside.** Backward inside a transform meets its data as ordinary
numbers. Backward from outside enters through the nodes that ended the transform, and what flows
there is marked ``outer``:

* a linear functional of a pair (p, t) is kept as the dual number G whose product with p + tε has
  the functional's value as its ε part. Dual numbers then obey the same rules as numbers, and for an
  input without a tangent the gradient is G's ε part;
* for an input that was the same for the whole batch, the gradient is the sum over the batch.

Both are settled where a gradient leaves a node (:func:`settle`).
"""

# ruff: noqa: F401 - what is imported here is what is offered

from . import calls
from .backward import takes_any_data
from .boundary import (
    MappedInput,
    batch_in,
    batch_out,
    batch_repeated,
    batched_like,
    dual_part,
    dual_primal,
    dual_tangent,
    in_every_batch,
    leave_batch,
    make_dual,
    settle,
    settle_tensor,
)
from .dual import check_tangent
from .known_tangents import known_tangent, laid_out_as, note_tangent
from .traced_data import (
    ROOMS,
    Batched,
    CannotBatch,
    Dual,
    TracedData,
    Unreadable,
    active,
    dual_levels,
    innermost,
    levels_of,
    made_inside,
    next_level,
    ones_like_data,
    zeros_like_data,
)
from .writing import carry_tangent, not_batched
