"""Samples of copies, casts and of making tensors from tensors."""

from tests.samples import array, call, samples, unmeasured

SHAPES = (call(array(3, 4)), call(array()), call(array(0, 2)))

samples("clone", *SHAPES, complex=True)
samples("Tensor.contiguous", *SHAPES, complex=True)
samples("Tensor.to", call(array(2, 3), "cpu"), complex=True)
samples("Tensor.double", *SHAPES)
samples("Tensor.float", *[unmeasured(call(*shape.args)) for shape in SHAPES])
samples("Tensor.cdouble", *SHAPES, complex=True)
for _name in ("half", "bfloat16", "cfloat"):
    samples(f"Tensor.{_name}", *[unmeasured(call(*shape.args)) for shape in SHAPES])
samples("Tensor.type_as", call(array(2, 3), array(1, grad=False)))
samples("zeros_like", *SHAPES, complex=True)
samples("ones_like", *SHAPES, complex=True)
samples("full_like", call(array(2, 3), 2.5), call(array(), -1), complex=True)
samples("as_tensor", *SHAPES, complex=True)
samples("Tensor.new_zeros", call(array(2), (2, 3)), call(array(2), 4), complex=True)
samples("Tensor.new_ones", call(array(2), (2, 3)), call(array(2), 4), complex=True)
samples("Tensor.new_full", call(array(2), (2, 3), 1.5), complex=True)
