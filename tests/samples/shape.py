"""Sample calls: views, and shapes."""

from __future__ import annotations

from tests.samples import array, call, samples

# ---------------------------------------------------------------- another shape

samples("Tensor.view", call(array(3, 4), 2, 6), call(array(3, 4), (-1,)), call(array(), 1),
        call(array(0, 3), 0), complex=True)
samples("reshape", call(array(3, 4), (2, 6)), call(array(3, 4), (-1, 2, 2)), call(array(1), ()),
        complex=True)
samples("Tensor.view_as", call(array(3, 4), array(2, 6, grad=False)), complex=True)
samples("Tensor.reshape_as", call(array(3, 4), array(2, 6, grad=False)), complex=True)
samples("flatten", call(array(2, 3, 4)), call(array(2, 3, 4), 1), call(array(2, 3, 4), 0, 1),
        call(array()), complex=True)
samples("ravel", call(array(2, 3)), call(array()), complex=True)
samples("unflatten", call(array(2, 6), 1, (2, -1)), call(array(6), 0, (3, 2)), complex=True)
samples("unsqueeze", call(array(3, 4), 0), call(array(3, 4), -1), call(array(), 0), complex=True)
samples("squeeze", call(array(1, 3, 1)), call(array(1, 3, 1), 0), call(array(1, 3, 1), (0, 2)),
        call(array(3, 4), 1), complex=True)

# ---------------------------------------------------------------- repeated dimensions

samples("Tensor.expand", call(array(3, 1), 3, 4), call(array(3), 2, -1), call(array(), 2, 2),
        complex=True)
samples("Tensor.expand_as", call(array(3, 1), array(3, 4, grad=False)), complex=True)
samples("broadcast_to", call(array(3), (2, 3)), complex=True)
samples("broadcast_tensors", call(array(3, 1), array(4)), call(array(), array(2, 2)), complex=True)
samples("Tensor.sum_to_size", call(array(2, 3, 4), 3, 1), call(array(3, 4), 1, 4),
        call(array(3, 4), 3, 4), complex=True)

# ---------------------------------------------------------------- another order

samples("permute", call(array(2, 3, 4), (2, 0, 1)), call(array(2, 3), (-1, 0)), complex=True)
samples("transpose", call(array(2, 3, 4), 0, 2), call(array(2, 3), -1, 0), complex=True)
samples("swapaxes", call(array(2, 3, 4), 0, 1), complex=True)
samples("swapdims", call(array(2, 3, 4), 0, 1), complex=True)
samples("t", call(array(2, 3)), call(array(3)), complex=True)
samples("movedim", call(array(2, 3, 4), 0, 2), call(array(2, 3, 4), (0, 1), (2, 0)), complex=True)
samples("moveaxis", call(array(2, 3, 4), 0, -1), complex=True)
samples("adjoint", call(array(2, 3)), call(array(2, 3, 4)), complex=True)

# ---------------------------------------------------------------- parts

samples("select", call(array(3, 4), 0, 1), call(array(3, 4), -1, -1), complex=True)
samples("narrow", call(array(5, 4), 0, 1, 3), call(array(5, 4), 1, -2, 2), complex=True)
samples("diagonal", call(array(3, 4)), call(array(3, 4), 1), call(array(2, 3, 4), -1, 2, 1),
        complex=True)
samples("Tensor.unfold", call(array(7, 2), 0, 3, 2), call(array(7), 0, 3, 1), complex=True)
samples("as_strided", call(array(3, 4), (2, 2), (1, 4), 1), call(array(6), (3, 3), (1, 1)),
        complex=True)
samples("unbind", call(array(3, 4)), call(array(3, 4), -1), call(array(1, 4)), complex=True)
samples("split", call(array(5, 4), 2), call(array(5, 4), [1, 4]), call(array(5, 4), 3, 1),
        complex=True)
samples("split_with_sizes", call(array(5, 4), [2, 3]), call(array(5, 4), [1, 0, 3], 1),
        complex=True)
samples("chunk", call(array(5, 4), 2), call(array(5, 4), 3, 1), complex=True)
samples("tensor_split", call(array(5, 4), 2), call(array(5, 4), (1, 3)), call(array(5, 4), 3, 1),
        complex=True)
samples("hsplit", call(array(4, 6), 3), call(array(4), [1]), complex=True)
samples("vsplit", call(array(4, 6), 2), complex=True)
samples("dsplit", call(array(2, 2, 4), 2), complex=True)
samples("unsafe_split", call(array(5, 4), 2), complex=True)
samples("unsafe_split_with_sizes", call(array(5, 4), [2, 3]), complex=True)
samples("unsafe_chunk", call(array(5, 4), 2, 1), complex=True)

# ---------------------------------------------------------------- real and complex

samples("real", call(array(3, 4)), complex=True)
samples("view_as_complex", call(array(3, 2)))
