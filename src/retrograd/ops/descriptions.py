"""The formula and an example of the functions that programs use most.

They go behind the sentence that each declaration has; here, so that a declaration stays the size of
what it declares. The tests run the examples.
"""

from __future__ import annotations

from ..core.op import PUBLIC

_TEXTS = {
    "torch": """\
abs: ``y = |x|``; the gradient is ``g · sign(x)``, and 0 at 0. For complex numbers it is the
modulus.
>>> torch.abs(torch.tensor([-1.5, 0.0, 2.0]))
tensor([1.5000, 0.0000, 2.0000])

add: ``y = input + alpha · other``, with broadcasting; the gradients are ``g`` and ``alpha · g``,
summed over what was broadcast.
>>> torch.add(torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0]), alpha=2)
tensor([21., 42.])

sub: ``y = input - alpha · other``; the gradients are ``g`` and ``-alpha · g``.
>>> torch.sub(torch.tensor([5.0, 7.0]), 2)
tensor([3., 5.])

mul: ``y = input · other``; each factor's gradient is ``g`` times the other factor.
>>> x = torch.tensor([1.0, 2.0], requires_grad=True)
>>> torch.mul(x, torch.tensor([3.0, 4.0])).sum().backward()
>>> x.grad
tensor([3., 4.])

div: ``y = input / other``; the gradients are ``g / other`` and ``-g · input / other²``. With
``rounding_mode`` "floor" or "trunc" the quotient is rounded, and has no gradient.
>>> torch.div(torch.tensor([7.0, -7.0]), 2)
tensor([ 3.5000, -3.5000])
>>> torch.div(torch.tensor([7.0, -7.0]), 2, rounding_mode="floor")
tensor([ 3., -4.])

pow: ``y = input ** exponent``; the gradients are ``g · exponent · input^(exponent - 1)`` and
``g · y · log(input)``.
>>> torch.pow(torch.tensor([1.0, 2.0, 3.0]), 2)
tensor([1., 4., 9.])

exp: ``y = e^x``; the gradient is ``g · y``.
>>> torch.exp(torch.tensor([0.0, 1.0]))
tensor([1.0000, 2.7183])

log: ``y = ln x``; the gradient is ``g / x``.
>>> torch.log(torch.tensor([1.0, 10.0]))
tensor([0.0000, 2.3026])

log1p: ``y = ln(1 + x)``, also exact for small ``x``; the gradient is ``g / (1 + x)``.
>>> torch.log1p(torch.tensor([0.0, 1e-8], dtype=torch.float64))
tensor([0.0000e+00, 1.0000e-08], dtype=torch.float64)

sqrt: ``y = √x``; the gradient is ``g / 2y``.
>>> torch.sqrt(torch.tensor([4.0, 2.0]))
tensor([2.0000, 1.4142])

rsqrt: ``y = 1 / √x``; the gradient is ``-g · y³ / 2``.
>>> torch.rsqrt(torch.tensor([4.0, 1.0]))
tensor([0.5000, 1.0000])

sin: ``y = sin x``; the gradient is ``g · cos x``.
>>> torch.sin(torch.tensor([0.0, 1.0]))
tensor([0.0000, 0.8415])

cos: ``y = cos x``; the gradient is ``-g · sin x``.
>>> torch.cos(torch.tensor([0.0, 1.0]))
tensor([1.0000, 0.5403])

tan: ``y = tan x``; the gradient is ``g · (1 + y²)``.
>>> torch.tan(torch.tensor([0.0, 1.0]))
tensor([0.0000, 1.5574])

tanh: ``y = (e^x - e^-x) / (e^x + e^-x)``; the gradient is ``g · (1 - y²)``.
>>> torch.tanh(torch.tensor([-1.0, 0.0, 1.0]))
tensor([-0.7616,  0.0000,  0.7616])

sigmoid: ``y = 1 / (1 + e^-x)``; the gradient is ``g · y · (1 - y)``.
>>> torch.sigmoid(torch.tensor([-2.0, 0.0, 2.0]))
tensor([0.1192, 0.5000, 0.8808])

clamp: ``y = min(max(x, low), high)``; the gradient passes where ``x`` lies between the bounds.
>>> torch.clamp(torch.tensor([-1.0, 0.5, 3.0]), min=0.0, max=1.0)
tensor([0.0000, 0.5000, 1.0000])

where: ``y`` is ``input`` where ``condition`` holds and ``other`` elsewhere; the gradient goes to
the one that was taken.
>>> torch.where(torch.tensor([True, False]), torch.tensor([1.0, 2.0]), 0.0)
tensor([1., 0.])

maximum: The gradient goes to the operand that was taken, by halves where both are equal.
>>> torch.maximum(torch.tensor([1.0, 5.0]), torch.tensor([3.0, 2.0]))
tensor([3., 5.])

minimum: The gradient goes to the operand that was taken, by halves where both are equal.
>>> torch.minimum(torch.tensor([1.0, 5.0]), torch.tensor([3.0, 2.0]))
tensor([1., 2.])

sign: -1, 0 or 1; the gradient is zero everywhere.
>>> torch.sign(torch.tensor([-2.5, 0.0, 4.0]))
tensor([-1.,  0.,  1.])

floor: A step function: the gradient is zero everywhere.
>>> torch.floor(torch.tensor([-1.5, 1.5]))
tensor([-2.,  1.])

ceil: A step function: the gradient is zero everywhere.
>>> torch.ceil(torch.tensor([-1.5, 1.5]))
tensor([-1.,  2.])

round: To the nearest whole number, halves to the even one, or to some ``decimals``; the gradient is
zero.
>>> torch.round(torch.tensor([0.5, 1.5, 2.567]), decimals=1)
tensor([0.5000, 1.5000, 2.6000])

reciprocal: ``y = 1 / x``; the gradient is ``-g · y²``.
>>> torch.reciprocal(torch.tensor([2.0, 4.0]))
tensor([0.5000, 0.2500])

square: ``y = x²``; the gradient is ``2 · g · x``.
>>> torch.square(torch.tensor([-2.0, 3.0]))
tensor([4., 9.])

neg: ``y = -x``; the gradient is ``-g``.
>>> torch.neg(torch.tensor([1.0, -2.0]))
tensor([-1.,  2.])

erf: ``y = 2/√π ∫₀ˣ e^(-t²) dt``; the gradient is ``g · 2/√π · e^(-x²)``.
>>> torch.erf(torch.tensor([0.0, 1.0]))
tensor([0.0000, 0.8427])

eq: Comparisons have no gradient.
>>> torch.eq(torch.tensor([1, 2]), torch.tensor([1, 3]))
tensor([ True, False])

isnan: True where a value is not a number.
>>> torch.isnan(torch.tensor([1.0, float("nan")]))
tensor([False,  True])

sum: ``y = Σ x`` over ``dim``, or over everything; every summand gets the gradient ``g``.
>>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
>>> torch.sum(x), torch.sum(x, dim=0)
(tensor(10.), tensor([4., 6.]))

mean: ``y = Σ x / n`` over ``dim``, or over everything; every element gets the gradient ``g / n``.
>>> torch.mean(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=1)
tensor([1.5000, 3.5000])

prod: ``y = Π x``; the gradient of an element is ``g`` times the product of the others, also where
some are zero.
>>> torch.prod(torch.tensor([2.0, 3.0, 4.0]))
tensor(24.)

var: ``y = Σ (x - mean)² / (n - correction)``; the gradient is
``2 · g · (x - mean) / (n - correction)``.
>>> torch.var(torch.tensor([1.0, 2.0, 3.0, 4.0]))
tensor(1.6667)

std: The square root of the variance; the gradient is ``g · (x - mean) / ((n - correction) · y)``.
>>> torch.std(torch.tensor([1.0, 2.0, 3.0, 4.0]))
tensor(1.2910)

max: With ``dim`` also the positions, with a second tensor element by element. The gradient goes to
the element that was found; to all of several equal ones, in equal parts, if none is chosen.
>>> torch.max(torch.tensor([[1.0, 5.0], [7.0, 2.0]]))
tensor(7.)
>>> torch.max(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1).indices
tensor([1, 0])

min: With ``dim`` also the positions, with a second tensor element by element. The gradient goes to
the element that was found; to all of several equal ones, in equal parts, if none is chosen.
>>> torch.min(torch.tensor([[1.0, 5.0], [7.0, 2.0]]))
tensor(1.)
>>> torch.min(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1).indices
tensor([0, 1])

argmax: A position has no gradient.
>>> torch.argmax(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1)
tensor([1, 0])

argmin: A position has no gradient.
>>> torch.argmin(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1)
tensor([0, 1])

amax: The gradient is shared equally by all elements that are as large.
>>> torch.amax(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=0)
tensor([7., 5.])

amin: The gradient is shared equally by all elements that are as large.
>>> torch.amin(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=0)
tensor([1., 2.])

logsumexp: ``y = log Σ e^x`` without overflow; the gradient is ``g · softmax(x)``.
>>> torch.logsumexp(torch.tensor([1000.0, 1000.0]), dim=0)
tensor(1000.6932)

cumsum: ``yᵢ = x₀ + … + xᵢ`` along ``dim``; the gradient is the sum of those that come after.
>>> torch.cumsum(torch.tensor([1.0, 2.0, 3.0]), dim=0)
tensor([1., 3., 6.])

cumprod: ``yᵢ = x₀ · … · xᵢ`` along ``dim``.
>>> torch.cumprod(torch.tensor([1.0, 2.0, 3.0]), dim=0)
tensor([1., 2., 6.])

any: Over everything, or along ``dim``.
>>> torch.any(torch.tensor([[True, False], [False, False]]), dim=1)
tensor([ True, False])

all: Over everything, or along ``dim``.
>>> torch.all(torch.tensor([[True, False], [False, False]]), dim=1)
tensor([False, False])

topk: The gradient goes back to the elements that were found.
>>> torch.topk(torch.tensor([1.0, 5.0, 3.0]), 2).values
tensor([5., 3.])

sort: The gradient goes back to where the values came from.
>>> torch.sort(torch.tensor([3.0, 1.0, 2.0])).indices
tensor([1, 2, 0])

argsort: Positions have no gradient.
>>> torch.argsort(torch.tensor([3.0, 1.0, 2.0]))
tensor([1, 2, 0])

unique: What occurs, sorted; and on demand where and how often.
>>> torch.unique(torch.tensor([3, 1, 3, 2]), return_counts=True)
(tensor([1, 2, 3]), tensor([1, 1, 2]))

median: Of an even number of values the lower one of the middle two.
>>> torch.median(torch.tensor([4.0, 1.0, 3.0, 2.0]))
tensor(2.)

matmul: ``y = A B`` for the last two dims, over all others broadcast; the gradients are ``g Bᵀ`` and
``Aᵀ g``.
>>> torch.matmul(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([1.0, 1.0]))
tensor([3., 7.])

mm: ``y = A B`` for two matrices; the gradients are ``g Bᵀ`` and ``Aᵀ g``.
>>> torch.mm(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0], [4.0]]))
tensor([[11.]])

bmm: ``yᵢ = Aᵢ Bᵢ`` for two batches of matrices.
>>> torch.bmm(torch.ones(2, 1, 3), torch.ones(2, 3, 2)).shape
torch.Size([2, 1, 2])

dot: ``y = Σ xᵢ yᵢ``; each vector's gradient is ``g`` times the other.
>>> torch.dot(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
tensor(11.)

outer: ``yᵢⱼ = aᵢ bⱼ``.
>>> torch.outer(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
tensor([[3., 4.],
        [6., 8.]])

addmm: ``y = beta · input + alpha · A B``.
>>> torch.addmm(torch.ones(2), torch.ones(1, 3), torch.ones(3, 2))
tensor([[4., 4.]])

einsum: Letters name dims: those that the result does not name are summed over.
>>> torch.einsum("ij,ij->i", torch.ones(2, 3), torch.ones(2, 3))
tensor([3., 3.])

zeros: The size is given as numbers or as one tuple.
>>> torch.zeros(2, 3)
tensor([[0., 0., 0.],
        [0., 0., 0.]])

ones: The size is given as numbers or as one tuple.
>>> torch.ones(2, 3)
tensor([[1., 1., 1.],
        [1., 1., 1.]])

full: The dtype is that of the value, unless it is given.
>>> torch.full((2, 2), 7)
tensor([[7, 7],
        [7, 7]])

arange: From ``start`` up to, but without, ``end``.
>>> torch.arange(1, 10, 3)
tensor([1, 4, 7])

linspace: ``steps`` values at equal distances, both ends among them.
>>> torch.linspace(0, 1, 5)
tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])

eye: ``yᵢⱼ = 1`` where ``i = j``, else 0.
>>> torch.eye(2, 3)
tensor([[1., 0., 0.],
        [0., 1., 0.]])

rand: The same seed gives the numbers that PyTorch draws.
>>> _ = torch.manual_seed(0)
>>> torch.rand(3)
tensor([0.4963, 0.7682, 0.0885])

randn: The same seed gives the numbers that PyTorch draws.
>>> _ = torch.manual_seed(0)
>>> torch.randn(3)
tensor([ 1.5410, -0.2934, -2.1788])

randint: From ``low`` up to, but without, ``high``; the same seed gives PyTorch's draws.
>>> _ = torch.manual_seed(0)
>>> torch.randint(0, 10, (4,))
tensor([4, 9, 3, 0])

randperm: The same seed gives PyTorch's order.
>>> _ = torch.manual_seed(0)
>>> torch.randperm(5)
tensor([4, 0, 1, 3, 2])

tensor: Numbers in nested lists, or an array, are copied: the tensor is a leaf of its own.
>>> torch.tensor([[1, 2], [3, 4]], dtype=torch.float64)
tensor([[1., 2.],
        [3., 4.]], dtype=torch.float64)

zeros_like: Shape, dtype and layout are those of ``input``.
>>> torch.zeros_like(torch.tensor([1.5, 2.5]))
tensor([0., 0.])

ones_like: Shape, dtype and layout are those of ``input``.
>>> torch.ones_like(torch.tensor([1.5, 2.5]))
tensor([1., 1.])

reshape: A view where strides allow it, else a copy; one size may be -1.
>>> torch.reshape(torch.arange(6), (2, -1))
tensor([[0, 1, 2],
        [3, 4, 5]])

transpose: A view with two dims exchanged.
>>> torch.transpose(torch.ones(2, 3, 4), 0, 2).shape
torch.Size([4, 3, 2])

permute: A view with the dims in another order.
>>> torch.permute(torch.ones(2, 3, 4), (2, 0, 1)).shape
torch.Size([4, 2, 3])

cat: The sizes agree in every other dim; each tensor gets its part of the gradient.
>>> torch.cat([torch.tensor([1, 2]), torch.tensor([3])])
tensor([1, 2, 3])

stack: The tensors have one shape; the result has a dim more.
>>> torch.stack([torch.tensor([1, 2]), torch.tensor([3, 4])], dim=1)
tensor([[1, 3],
        [2, 4]])

split: Views of parts of some size, or of the sizes in a list.
>>> torch.split(torch.arange(5), 2)
(tensor([0, 1]), tensor([2, 3]), tensor([4]))

chunk: Views of parts of equal size, of which the last may be smaller.
>>> torch.chunk(torch.arange(5), 2)
(tensor([0, 1, 2]), tensor([3, 4]))

squeeze: A view without the dims of size 1, or without those that are named.
>>> torch.squeeze(torch.ones(1, 2, 1)).shape
torch.Size([2])

unsqueeze: A view with a dim of size 1 more.
>>> torch.unsqueeze(torch.tensor([1, 2]), 1)
tensor([[1],
        [2]])

flatten: The dims from ``start_dim`` to ``end_dim`` become one.
>>> torch.flatten(torch.ones(2, 3, 4), 1).shape
torch.Size([2, 12])

flip: A copy with the order of some dims reversed.
>>> torch.flip(torch.tensor([[1, 2], [3, 4]]), dims=(0,))
tensor([[3, 4],
        [1, 2]])

roll: What is shifted out at one end comes in at the other.
>>> torch.roll(torch.arange(5), 2)
tensor([3, 4, 0, 1, 2])

gather: ``y[i][j] = input[index[i][j]][j]`` for ``dim=0``; the gradient is added to where it was
taken.
>>> torch.gather(torch.tensor([[1, 2], [3, 4]]), 1, torch.tensor([[0, 0], [1, 0]]))
tensor([[1, 1],
        [4, 3]])

index_select: The entries of ``dim`` that ``index`` names, in its order.
>>> torch.index_select(torch.tensor([[1, 2], [3, 4]]), 1, torch.tensor([1]))
tensor([[2],
        [4]])

masked_select: The elements where ``mask`` holds, in one dim.
>>> torch.masked_select(torch.tensor([1, 2, 3]), torch.tensor([True, False, True]))
tensor([1, 3])

tril: What lies beyond the ``diagonal`` is zero, and has no gradient.
>>> torch.tril(torch.ones(2, 3))
tensor([[1., 0., 0.],
        [1., 1., 0.]])

triu: What lies beyond the ``diagonal`` is zero, and has no gradient.
>>> torch.triu(torch.ones(2, 3))
tensor([[1., 1., 1.],
        [0., 1., 1.]])

diag: A vector becomes a matrix with it on the diagonal, of a matrix the diagonal is taken.
>>> torch.diag(torch.tensor([1, 2]))
tensor([[1, 0],
        [0, 2]])

repeat_interleave: Each element as often as ``repeats`` says.
>>> torch.repeat_interleave(torch.tensor([1, 2]), torch.tensor([1, 3]))
tensor([1, 2, 2, 2])

nonzero: A row of indices for each element that is not zero.
>>> torch.nonzero(torch.tensor([0, 3, 0, 4]))
tensor([[1],
        [3]])

allclose: Whether ``|input - other| ≤ atol + rtol · |other|`` everywhere.
>>> torch.allclose(torch.tensor([1.0]), torch.tensor([1.0 + 1e-7]))
True

equal: Whether shapes and all elements are equal.
>>> torch.equal(torch.tensor([1, 2]), torch.tensor([1, 2]))
True

conv2d: ``y[o, r, c] = bias[o] + Σ weight[o, i, u, v] · x[i, r·stride + u, c·stride + v]`` over a
padded input.
>>> F.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2))
tensor([[[[4., 4.],
          [4., 4.]]]])

layer_norm: ``y = (x - mean) / √(var + eps) · weight + bias`` over the last dims.
>>> F.layer_norm(torch.tensor([[1.0, 2.0, 3.0]]), (3,))
tensor([[-1.2247,  0.0000,  1.2247]])

cosine_similarity: ``y = a · b / max(|a| |b|, eps)`` along ``dim``.
>>> F.cosine_similarity(torch.tensor([1.0, 0.0]), torch.tensor([1.0, 1.0]), dim=0)
tensor(0.7071)
""",
    "nn.functional": """\
relu: ``y = max(x, 0)``; the gradient passes where ``x > 0``.
>>> F.relu(torch.tensor([-1.0, 0.0, 2.0]))
tensor([0., 0., 2.])

leaky_relu: ``y = x`` where ``x > 0``, else ``negative_slope · x``.
>>> F.leaky_relu(torch.tensor([-1.0, 2.0]), 0.1)
tensor([-0.1000,  2.0000])

elu: ``y = x`` where ``x > 0``, else ``alpha · (e^x - 1)``.
>>> F.elu(torch.tensor([-1.0, 2.0]))
tensor([-0.6321,  2.0000])

gelu: ``y = x · Φ(x)`` with the normal distribution ``Φ``; ``approximate="tanh"`` is a formula close
to it.
>>> F.gelu(torch.tensor([-1.0, 0.0, 1.0]))
tensor([-0.1587,  0.0000,  0.8413])

silu: ``y = x · sigmoid(x)``.
>>> F.silu(torch.tensor([-1.0, 0.0, 1.0]))
tensor([-0.2689,  0.0000,  0.7311])

softplus: ``y = ln(1 + e^(beta · x)) / beta``; the gradient is ``g · sigmoid(beta · x)``.
>>> F.softplus(torch.tensor([-1.0, 0.0, 1.0]))
tensor([0.3133, 0.6931, 1.3133])

softmax: ``yᵢ = e^xᵢ / Σ e^xⱼ`` along ``dim``; the gradient is ``y · (g - Σ g y)``.
>>> F.softmax(torch.tensor([1.0, 2.0, 3.0]), dim=0)
tensor([0.0900, 0.2447, 0.6652])

log_softmax: ``yᵢ = xᵢ - log Σ e^xⱼ`` along ``dim``; the gradient is ``g - e^y · Σ g``.
>>> F.log_softmax(torch.tensor([1.0, 2.0, 3.0]), dim=0)
tensor([-2.4076, -1.4076, -0.4076])

linear: ``y = x Aᵀ + b``.
>>> F.linear(torch.ones(1, 2), torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([0.5, 0.0]))
tensor([[3.5000, 7.0000]])

max_pool2d: The largest value of each window; the gradient goes to its place.
>>> F.max_pool2d(torch.arange(16.0).reshape(1, 4, 4), 2)
tensor([[[ 5.,  7.],
         [13., 15.]]])

avg_pool2d: The mean of each window, which shares the gradient equally.
>>> F.avg_pool2d(torch.arange(16.0).reshape(1, 4, 4), 2)
tensor([[[ 2.5000,  4.5000],
         [10.5000, 12.5000]]])

batch_norm: ``y = (x - mean) / √(var + eps) · weight + bias`` for each channel: of the batch in
training, else of the running averages.
>>> F.batch_norm(torch.tensor([[1.0], [3.0]]), None, None, training=True)
tensor([[-1.0000],
        [ 1.0000]])

dropout: In training each element is zero with probability ``p``, and the others are
``x / (1 - p)``.
>>> F.dropout(torch.ones(3), p=0.5, training=False)
tensor([1., 1., 1.])

embedding: The rows of ``weight`` that ``input`` names; a row's gradient is the sum over its uses.
>>> F.embedding(torch.tensor([1, 0, 1]), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
tensor([[3., 4.],
        [1., 2.],
        [3., 4.]])

one_hot: Zeros with a one at the place that each number names.
>>> F.one_hot(torch.tensor([0, 2]), 3)
tensor([[1, 0, 0],
        [0, 0, 1]])

pad: ``pad`` names the sizes before and after, of the last dim first.
>>> F.pad(torch.tensor([[1, 2]]), (1, 1), value=0)
tensor([[0, 1, 2, 0]])

mse_loss: The mean of ``(input - target)²``; the gradient is ``2 · g · (input - target) / n``.
>>> F.mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
tensor(2.)

l1_loss: The mean of ``|input - target|``.
>>> F.l1_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
tensor(1.)

smooth_l1_loss: The mean of ``d² / 2beta`` where ``d = |input - target| < beta``, else of
``d - beta / 2``.
>>> F.smooth_l1_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.5, 4.0]))
tensor(0.8125)

nll_loss: The mean of ``-input[i, target[i]]``, where ``input`` are log-probabilities.
>>> F.nll_loss(torch.tensor([[-0.5, -1.5]]), torch.tensor([1]))
tensor(1.5000)

cross_entropy: The mean of ``-log softmax(input)[i, target[i]]``; the gradient of the scores is
``(softmax - one_hot(target)) · g / n``. A target may also be probabilities of classes.
>>> F.cross_entropy(torch.tensor([[2.0, 0.0], [0.0, 1.0]]), torch.tensor([0, 1]))
tensor(0.2201)

binary_cross_entropy_with_logits: The mean of ``-t · log σ(x) - (1 - t) · log(1 - σ(x))`` with
``σ`` the sigmoid, without overflow.
>>> F.binary_cross_entropy_with_logits(torch.tensor([0.0, 2.0]), torch.tensor([0.0, 1.0]))
tensor(0.4100)

normalize: ``y = x / max(|x|, eps)`` along ``dim``.
>>> F.normalize(torch.tensor([3.0, 4.0]), dim=0)
tensor([0.6000, 0.8000])

scaled_dot_product_attention: ``y = softmax(Q Kᵀ · scale + mask) V`` with ``scale = 1 / √d``.
>>> query, keys, values = torch.ones(1, 2, 4), torch.ones(1, 3, 4), torch.ones(1, 3, 5)
>>> F.scaled_dot_product_attention(query, keys, values).shape
torch.Size([1, 2, 5])
""",
    "linalg": """\
inv: ``Y = A⁻¹``; the gradient is ``-Yᵀ g Yᵀ``.
>>> torch.linalg.inv(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
tensor([[0.5000, 0.0000],
        [0.0000, 0.2500]])

det: The gradient is ``g · det(A) · A⁻ᵀ``, by cofactors where the matrix is singular.
>>> torch.linalg.det(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
tensor(-2.)

solve: ``X`` with ``A X = B``; the gradient of ``B`` is ``A⁻ᵀ g``, that of ``A`` is ``-A⁻ᵀ g Xᵀ``.
>>> torch.linalg.solve(torch.tensor([[2.0, 0.0], [0.0, 4.0]]), torch.tensor([2.0, 2.0]))
tensor([1.0000, 0.5000])

norm: Of a vector ``(Σ |x|^p)^(1/p)``, of a matrix one of its norms.
>>> torch.linalg.norm(torch.tensor([3.0, 4.0]))
tensor(5.)

cholesky: The lower triangle ``L`` with ``A = L Lᴴ``.
>>> torch.linalg.cholesky(torch.tensor([[4.0, 2.0], [2.0, 5.0]]))
tensor([[2., 0.],
        [1., 2.]])

eigh: Of a symmetric matrix ``A = Q diag(L) Qᴴ``, the eigenvalues in ascending order.
>>> torch.linalg.eigh(torch.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
tensor([1., 2.])

qr: ``A = Q R`` with orthonormal columns in ``Q`` and a triangle ``R``.
>>> torch.linalg.qr(torch.tensor([[3.0, 1.0], [4.0, 2.0]])).R.shape
torch.Size([2, 2])

svd: ``A = U diag(S) Vh``, the singular values in descending order.
>>> torch.linalg.svd(torch.tensor([[3.0, 0.0], [0.0, 4.0]])).S
tensor([4., 3.])
""",
}


def _entry(text: str) -> tuple[str, str]:
    """A function's name, and what is said of it: a blank line goes before the example."""
    name, _, said = text.partition(": ")
    return name, said.rstrip().replace("\n>>>", "\n\n>>>", 1)


DESCRIBED = {space: dict(map(_entry, texts.split("\n\n"))) for space, texts in _TEXTS.items()}


def describe() -> None:
    """Complete the docstrings of the functions."""
    for space, texts in DESCRIBED.items():
        for name, text in texts.items():
            function = PUBLIC[space][name]
            function.__doc__ = f"{function.__doc__}\n\n{text}"
