"""What the statements of a random program may be, as templates by kind.

A place in braces is filled in by ``drawing.Writer``. The first tensor of a statement is its
subject, which dimensions, indices and sizes are drawn for:

    {t} {f} {r} {z} {i} {b} {m}   a tensor: any, floating, real floating, complex, integer, bool,
                                  a matrix
    {w} {leaf} {y} {q}            another matrix; a floating leaf; what requires grad; one that
                                  is contiguous, since draws follow the layout
    {u} {same}                    an operand that broadcasts with the subject; one of its shape
    {mask} {row}                  a mask for the subject; positions along the dimension of {d}
    {n} {x} {k} {dt} {fdt}        a number, a float, a small count, a dtype, a floating dtype
    {d} {e} {dims} {perm} {index} a dimension (twice), several, an order of all, an index
    {shape} {view} {wider}        any shape, one of as many elements, one to expand to
    {fn} {fn2} {loss} {loss2}     functions of one tensor or two, the losses have one value
    {o}                           operations on the subject, elementwise and smooth

What DIFFERENCES.md says to differ is not drawn: the first gradient of a leaf is a copy, a conjugate
is no view, ``kthvalue`` chooses among equal values, and the derivative that ``linearize`` gives has
a history. Nor are comparisons with numbers that results often are, but for rounding.
"""

from __future__ import annotations

# Defined once in each library, for statements to use.
PRELUDE = '''
import contextlib, copy, pickle
import numpy as np
nn, F, func, functional = torch.nn, torch.nn.functional, torch.func, torch.autograd.functional
checkpoint, fwAD = torch.utils.checkpoint.checkpoint, torch.autograd.forward_ad
grad = torch.autograd.grad
Function, once = torch.autograd.Function, torch.autograd.function.once_differentiable
log = []

def note(g):
    log.append(g.detach().clone() if isinstance(g, torch.Tensor) else g)

def in_rows(result):
    """A copy in one order of memory, whichever the library chose."""
    return result.clone(memory_format=torch.contiguous_format)

def doubled(g):
    return None if g is None else g * 2

def own(result):
    """Copies of the tensors in the result of a transform."""
    if isinstance(result, (tuple, list)):
        return type(result)(map(own, result))
    return result.clone() if isinstance(result, torch.Tensor) else result

class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0]

class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y
    @staticmethod
    @once
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]

class Both(Function):
    @staticmethod
    def forward(ctx, x, y, scale=2.0):
        ctx.save_for_backward(x, y)
        ctx.scale = scale
        return x * y, (x + y) * scale
    @staticmethod
    def backward(ctx, g, h):
        x, y = ctx.saved_tensors
        h = h * ctx.scale
        return ((g * y + h).sum_to_size(x.shape), (g * x + h).sum_to_size(y.shape), None)

class Sparing(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return x * 2, y * 3
    @staticmethod
    def backward(ctx, g, h):
        note([g is None, h is None, ctx.needs_input_grad])
        return None if g is None else g * 2, None if h is None else h * 3

class Sorted(Function):
    @staticmethod
    def forward(ctx, x):
        y, order = x.sort(dim=-1, stable=True)
        ctx.mark_non_differentiable(order)
        ctx.save_for_backward(order)
        return y, order
    @staticmethod
    def backward(ctx, g, _):
        order, = ctx.saved_tensors
        return torch.zeros_like(g).scatter(-1, order, g)

class Doubled(Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x
    @staticmethod
    def backward(ctx, g):
        return g * 2

class Same(Function):
    @staticmethod
    def forward(ctx, x):
        return x
    @staticmethod
    def backward(ctx, g):
        return g * 3

class Viewed(Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(-1)
    @staticmethod
    def backward(ctx, g):
        return g * 2

class Cube(Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(x):
        return x ** 3
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)
    @staticmethod
    def backward(ctx, g):
        return g * 3 * (ctx.saved_tensors[0] ** 2).conj().resolve_conj()
    @staticmethod
    def jvp(ctx, t):
        return t * 3 * ctx.saved_tensors[0] ** 2

class Doubles(torch.autograd.graph.saved_tensors_hooks):
    def __init__(self):
        super().__init__(lambda t: (t.clone(), t.shape), lambda p: p[0])
'''

CREATE = """
torch.tensor({values}, dtype={dt})
torch.tensor({values}, dtype={fdt}, requires_grad=True)
torch.tensor({values})
torch.zeros({shape}, dtype={dt})
torch.ones({shape}, dtype={fdt}, requires_grad=True)
torch.full({shape}, {n})
torch.full({shape}, {x}, dtype={dt})
torch.randn({shape}, dtype={fdt}, requires_grad=True)
torch.randn({shape}, dtype={fdt})
torch.rand({shape}, requires_grad=True)
torch.randint(-4, 5, {shape})
torch.randint(0, 4, {shape}, dtype={dt})
torch.randperm({k})
torch.arange({k}, dtype={dt})
torch.arange({x}, {k}, 0.5)
torch.linspace({x}, {n}, {k})
torch.eye({k}, 3, dtype={dt})
torch.normal({x}, 0.5, {shape})
torch.bernoulli(torch.full({shape}, 0.5))
torch.zeros_like({t})
torch.ones_like({t}, dtype={dt})
torch.full_like({t}, {n})
torch.rand_like({q})
torch.randn_like({q}, requires_grad=True)
{t}.new_tensor({values})
{t}.new_zeros({shape})
{t}.new_full({shape}, {n}, requires_grad={flag})
torch.as_tensor({t}, dtype={dt})
torch.complex({r}.float(), {same}.float())
torch.polar({r}.float().abs(), {same}.float())
torch.from_numpy(np.arange({k}) * {x})
torch.tril_indices({k}, 3)
F.one_hot(torch.arange({k}), 5)
nn.Parameter({f}.detach().clone())
torch.scalar_tensor({n}, dtype={dt})
""".strip().splitlines()

UNARY = """
{f}.sin()
{f}.cos()
{f}.tanh()
{f}.sigmoid()
{f}.exp()
{t}.exp()
{r}.abs().log1p()
{r}.abs().sqrt()
{t}.square()
-{t}
{t}.abs()
{f}.reciprocal()
{r}.relu()
{t}.sign()
{t}.sgn()
{r}.floor()
{r}.ceil()
{r}.round()
{r}.trunc()
{r}.frac()
{r}.erf()
{r}.expm1()
{r}.atan()
{r}.sinh()
{f}.rsqrt()
{f}.log()
{r}.clamp(-0.5, {x})
{r}.clamp(min={x})
{t}.clamp(max={x})
{r}.clamp(min={same})
F.softplus({r})
F.gelu({r})
F.silu({r})
F.elu({r})
F.leaky_relu({r}, {x})
F.hardtanh({r})
F.logsigmoid({r})
F.softsign({r})
F.hardshrink({r}, 0.3)
{r}.softmax({d})
{r}.log_softmax({d})
F.normalize({r}, dim={d})
F.layer_norm({m}, {m}.shape[-1:])
F.pad({t}, (1, 1))
F.pad({t}, (1, 0), value={n})
F.dropout({q}, 0.5)
F.glu({r}, {d})
{t}.clone()
{t}.contiguous()
{t}.nan_to_num()
{t}.isnan()
{t}.isfinite()
{t}.logical_not()
~{i}
{t}.angle()
{f}.conj().resolve_conj()
{z}.real
{z}.imag
torch.view_as_real({z})
{t}.to({dt})
{t}.to({fdt})
{t}.float()
{t}.double()
{t}.half()
{t}.type_as({w})
{t}.to({w})
{t}.flip({d})
{t}.roll({k}, {d})
{t}.repeat(2, *[1] * {t}.dim())
{t}.repeat_interleave(2, {d})
{t}.tile(2)
{m}.tril()
{m}.triu(1)
{t}.diff(dim={d})
{r}.logit(0.1)
{t}.cumsum({d})
{t}.cumprod({d})
{r}.logcumsumexp({d})
{t}.rot90()
{r}.sinc()
{t}.positive()
{t}.fill_diagonal_({n})
{t}.diag_embed()
{t}.trapz(dim={d})
{t}.bool()
{t}.int()
{t}.isclose({same})
""".strip().splitlines()

BINARY = """
{t} + {u}
{t} - {u}
{t} * {u}
{t} / {u}
{f} * {u}
{f} + {u}
{f} / ({u} * {u} + 1)
{t} ** 2
{t} ** {u}
{f} ** {x}
2 ** {f}
{n} - {t}
{n} / {f}
{n} * {t}
{n} ** {t}
{t} // {u}
{t} % {u}
{i} & {u}
{i} | {u}
{i} ^ {u}
{b} & {u}
{i} << 1
{t} == {u}
{t} != {u}
{r} < {u}
{r} >= {u}
torch.add({t}, {u}, alpha=2)
torch.sub({t}, {u}, alpha={n})
torch.maximum({t}, {u})
torch.fmin({r}, {u})
torch.minimum({r}, {same})
torch.atan2({r}, {same})
torch.hypot({r}, {same})
torch.where({mask}, {t}, {u})
torch.where({mask}, {n}, {t})
torch.lerp({f}, {same}, 0.3)
torch.addcmul({f}, {same}, {same}, value={x})
torch.addcdiv({f}, {same}, {same} * {same} + 1)
torch.remainder({r}, {u})
torch.fmod({r}, {n})
torch.logaddexp({r}, {same})
torch.xlogy({r}.abs(), {same}.abs())
torch.copysign({r}, {u})
torch.logical_and({t}, {u})
torch.true_divide({t}, {u})
torch.div({t}, {n}, rounding_mode="floor")
torch.div({t}, {n}, rounding_mode="trunc")
torch.float_power({t}, {x})
torch.heaviside({r}, {same})
torch.gcd({i}, {same})
torch.bitwise_and({i}, {n})
torch.nextafter({r}, {same})
torch.outer({t}.reshape(-1), {w}.reshape(-1))
torch.kron({t}, {u})
torch.cdist({m}, {w})
{t}.masked_fill({mask}, {n})
{t}.masked_fill({mask}, {t}.sum())
{t}.masked_scatter({mask}, {same})
torch.ldexp({r}, torch.tensor(2))
""".strip().splitlines()

REDUCE = """
{t}.sum()
{t}.sum({d})
{t}.sum({dims}, keepdim={flag})
{t}.sum({d}, dtype={dt})
{f}.mean()
{f}.mean({d}, keepdim={flag})
{t}.prod()
{t}.prod({d})
{r}.max()
{r}.min()
{r}.amax({d})
{r}.amin({dims})
{r}.aminmax()
{f}.var()
{f}.std({d})
{f}.var({d}, correction=0)
torch.var_mean({f}, {d})
{f}.norm()
{f}.norm(dim={d})
{r}.norm({x}, {d})
torch.linalg.vector_norm({f}, 3)
{r}.logsumexp({d})
{r}.median()
{r}.topk(1, {d})[0]
{r}.kthvalue(1, {d})[0].detach()
{r}.median({d})[0]
{r}.mode({d})[0]
{r}.nanmean()
{t}.nansum({d})
{r}.argmax({d})
{r}.argmin()
{t}.all()
{t}.any({d})
{t}.count_nonzero()
{t}.count_nonzero({d})
{r}.quantile(0.4, {d})
{t}.sum().item()
{m}.trace()
{f}.cumsum({d}).sum()
torch.logsumexp({f}, {d})
{r}.renorm(2, {d}, 1.0)
F.mse_loss({r}, {same})
F.l1_loss({r}, {same}, reduction="none")
F.smooth_l1_loss({r}, {same})
F.cosine_similarity({f}, {same}, dim={d})
F.binary_cross_entropy_with_logits({r}, {same})
F.kl_div({r}, {same}, reduction="sum")
""".strip().splitlines()

PAIRS = """
{r}.max({d})
{r}.min({d}, keepdim=True)
{t}.sort(dim={d}, stable=True)
{r}.sort(dim={d}, descending=True, stable=True)
{r}.cummax({d})
{r}.cummin({d})
torch.frexp({r})
{t}.unique(return_inverse=True)
torch.aminmax({r}, dim={d})
torch.std_mean({f}, {d})
{t}.tensor_split(2, {d})
{t}.chunk(2, {d})
{m}.unbind({d})
torch.broadcast_tensors({t}, {same})
torch.meshgrid({t}.reshape(-1), {w}.reshape(-1), indexing="ij")
Both.apply({f}, {same})
Both.apply({f}, {same}, {x})
Sparing.apply({f}, {same})
Sorted.apply({r})
func.jvp({fn}, ({f},), ({same},))
func.vjp({fn}, {f})
functional.vjp({fn}, {f}, {same})
functional.jvp({fn}, {f}, {same}, create_graph={flag})
functional.vhp({loss}, {f}, {same})
functional.hvp({loss}, {f}, {same})
func.grad_and_value({loss})({f})
func.linearize({fn}, {f}.detach())
func.grad({loss2}, (0, 1))({f}, {same})
func.jacrev({fn2}, (0, 1))({f}, {same})
func.jacfwd({fn2}, (0, 1))({f}, {same})
functional.jacobian({fn2}, ({f}, {same}))
torch.vmap(lambda a: a.sort(dim=-1, stable=True))({m})
torch.vmap({fn2}, (0, None))({m}, {u}), 0
""".strip().splitlines()

VIEW = """
{t}.transpose({d}, {e})
{t}.permute({perm})
{t}.t()
{m}.T
{m}.mT
{m}.mH.resolve_conj()
{t}.unsqueeze({d})
{t}.unsqueeze(-1)
{t}.squeeze()
{t}.squeeze({d})
{t}.select({d}, {at})
{t}.narrow({d}, {at}, 1)
{t}.expand({wider})
{t}.expand_as({w})
{t}.broadcast_to({wider})
{t}.view({view})
{t}.reshape({view})
{t}.view(-1)
{t}.flatten()
{t}.ravel()
{m}.flatten({d}, {e})
{t}.unflatten({d}, (-1, 1))
{t}.view_as({same})
{t}.unfold({d}, {k}, {k})
{t}.unfold({d}, 2, 2)
{t}.unfold({d}, 2, 1).clone()
{m}.diagonal()
{m}.diagonal(offset={zero_or_one}, dim1={d}, dim2={e})
{t}.diag()
{t}.movedim({d}, {e})
{t}.swapaxes({d}, {e})
{t}.split(1, {d})[0]
{t}.chunk(2, {d})[-1]
{t}.unbind({d})[{at}]
{t}.hsplit(1)[0]
{q}.as_strided((2, 2), {strides})
{q}.as_strided((2,), (1,))
{t}.detach()
{t}.data
{t}.view_as({t})
torch.view_as_real({z})
{z}.real
{z}.imag
torch.view_as_complex(torch.view_as_real({z}))
{t}.view({dt})
{t}[{index}]
{t}[{index}]
{t}[{index}]
{t}[{index}]
{t}[{index}]
torch.atleast_2d({t})
{t}.contiguous()
{t}.real
{t}.adjoint().resolve_conj()
{t}.swapdims(0, -1)[..., 0]
""".strip().splitlines()

SELECT = """
{t}.gather({d}, {t}.argsort(dim={d}, stable=True))
{t}.index_select({d}, {row})
{t}.take({row})
{t}.take_along_dim({t}.argsort(dim={d}, stable=True), {d})
{t}.masked_select({mask})
{t}.nonzero().contiguous()
{t}.argsort(dim={d}, stable=True)
{t}.msort()
{t}.unique()
{t}.scatter({d}, {same}.long().clamp(0, 0), {n})
{t}.scatter({d}, {t}.argsort(dim={d}, stable=True), {same})
{t}.scatter_add({d}, {t}.argsort(dim={d}, stable=True), {same})
{r}.scatter_reduce({d}, {r}.argsort(dim={d}, stable=True), {same}, "amax")
{t}.index_add({d}, {row}, {t}.index_select({d}, {row}))
{t}.index_fill({d}, {row}, {n})
{t}.index_copy({d}, {row}, {t}.index_select({d}, {row}))
{t}.index_put(({row},), {t}.sum())
torch.cat([{t}, {t}], {d})
torch.cat([{t}, {same}], {d})
torch.cat([{t}, {u}])
torch.stack([{t}, {same}], {d})
torch.hstack([{t}, {same}])
torch.vstack([{t}, {u}])
torch.block_diag({t}.reshape(-1), {u})
torch.searchsorted(torch.tensor([0.0, 1.0, 2.0]), {r})
torch.bucketize({r}, torch.tensor([0.0, 1.0]))
torch.bincount({i}.reshape(-1).abs())
torch.histc({r}, 4, -2, 2)
torch.combinations({t}.reshape(-1)[:3])
torch.cartesian_prod({t}.reshape(-1)[:2], {t}.reshape(-1)[:2])
F.embedding(torch.tensor([0, 0]), {m})
torch.select_scatter({t}, {n} * {t}.select({d}, 0), {d}, 0)
torch.slice_scatter({t}, {t}.narrow({d}, 0, 1), {d}, 0, 1)
torch.diagonal_scatter({m}, {m}.diagonal() * 2)
torch.isin({t}, {u})
torch.tensor_split({t}, 2, {d})[0]
torch.multinomial({r}.abs() + 0.1, 2, replacement=True)
""".strip().splitlines()

MATMUL = """
{m} @ {m}
{m} @ {w}
{m} @ {m}.mT
{m}.mT @ {m}
{m}.matmul({m}.mT.conj())
{t} @ {u}
{m} @ torch.ones({m}.shape[-1], dtype={m}.dtype)
torch.dot({t}.reshape(-1), {same}.reshape(-1))
torch.vdot({f}.reshape(-1), {same}.reshape(-1))
torch.inner({t}, {same})
torch.mm({m}, {m}.t())
torch.bmm({m}.unsqueeze(0), {m}.unsqueeze(0).mT)
torch.einsum("...i,...i->...", {t}, {same})
torch.einsum("i...,j...->ij...", {t}, {same})
torch.tensordot({t}, {same}, {t}.dim())
torch.addmm({m}, {m}, {m}.mT @ {m})
torch.linalg.det({m} @ {m}.mH + 3 * torch.eye({m}.shape[-2], dtype={m}.dtype))
in_rows(torch.linalg.inv({m} @ {m}.mH + 3 * torch.eye({m}.shape[-2], dtype={m}.dtype)))
in_rows(torch.linalg.solve({m} @ {m}.mH + 3 * torch.eye({m}.shape[-2], dtype={m}.dtype), {m}))
in_rows(torch.linalg.cholesky({m} @ {m}.mH + 3 * torch.eye({m}.shape[-2], dtype={m}.dtype)))
torch.linalg.matrix_norm({m})
F.linear({f}, {w})
F.linear({f}, torch.ones(2, {f}.shape[-1], dtype={f}.dtype), torch.ones(2, dtype={f}.dtype))
F.conv1d({f}.reshape(1, 1, -1), torch.ones(1, 1, 2, dtype={f}.dtype), padding=1)
F.conv2d({m}.reshape(1, 1, -1, {m}.shape[-1]), torch.ones(2, 1, 2, 2, dtype={m}.dtype), padding=1)
F.avg_pool1d({r}.reshape(1, 1, -1), 2)
F.max_pool1d({r}.reshape(1, 1, -1), 2)
F.cross_entropy({m}, torch.zeros({m}.shape[0], dtype=torch.long))
F.nll_loss({m}.log_softmax(-1), torch.zeros({m}.shape[0], dtype=torch.long))
F.scaled_dot_product_attention({m}, {same}, {same})
F.interpolate({r}.reshape(1, 1, -1), scale_factor=2)
torch.matrix_power({m} @ {m}.mT, 2)
torch.cross({m}[..., :3], {m}[..., :3])
torch.cov({m})
""".strip().splitlines()

WRITE = """
{t}.add_({u})
{t}.sub_({u}, alpha=2)
{t}.mul_({u})
{f}.div_({u})
{f}.add_({n})
{f}.mul_({n})
{t} += {n}
{t} *= {u}
{f} -= {u}
{f} /= 2
{f}.pow_(2)
{t}.copy_({u})
{t}.zero_()
{t}.fill_({n})
{f}.fill_({f}.detach().sum())
{f}.sin_()
{f}.tanh_()
{f}.exp_()
{f}.sigmoid_()
{r}.relu_()
{r}.clamp_(-0.5, {x})
{t}.neg_()
{t}.abs_()
{r}.round_()
{t}.masked_fill_({mask}, {n})
{f}.masked_fill_({mask}, {f}.sum().detach())
{t}.masked_scatter_({mask}, {same}.clone())
{t}[{index}] = {n}
{t}[{index}] = {n}
{t}[{index}] = {n}
{t}[{index}] = {t}[{index}] * 2
{t}[{index}] += {n}
{t}[{index}] *= {n}
{f}[{index}] = {f}.sum()
{t}[{index}].mul_({n})
{t}[{index}].zero_()
{t}[{mask}] = {n}
{t}[{mask}] = {t}[{mask}] + {n}
{t}.index_put_(({row},), {t}.sum())
{t}.index_put_(({row},), torch.tensor({n}, dtype={t}.dtype), accumulate=True)
{t}.index_fill_({d}, {row}, {n})
{t}.index_add_({d}, {row}, {t}.index_select({d}, {row}).clone())
{t}.index_copy_({d}, {row}, {t}.index_select({d}, {row}) * 2)
{t}.scatter_({d}, {t}.argsort(dim={d}, stable=True), {n})
{t}.scatter_add_({d}, {t}.argsort(dim={d}, stable=True), {same}.clone())
{t}.transpose_({d}, {e})
{t}.unsqueeze_({d})
{t}.squeeze_()
{t}.t_()
{t}.diagonal().fill_({n})
{t}.diagonal().add_({n})
{t}.select({d}, {at}).mul_({u})
{t}.narrow({d}, {at}, 1).copy_({n} * {t}.narrow({d}, {at}, 1))
{t}.view(-1)[:1].add_({n})
{t}.reshape(-1).mul_({n})
{t}.unfold({d}, 1, 1).mul_({n})
{t}.detach().add_({n})
{i}.data.mul_({n})
{z}.real.mul_({n})
{z}.imag.zero_()
torch.view_as_real({z})[..., 0].add_({n})
{q}.normal_()
{q}.uniform_(-1, 1)
{q}.random_(0, 4)
{q}.bernoulli_(0.5)
{f}.lerp_({same}, 0.5)
{f}.addcmul_({same}, {same})
{t}.cumsum_({d})
{m}.tril_()
{t}.swapaxes_({d}, {e})
{t}.resize_(2, 2) if {t}.numel() == 4 else None
F.relu({r}, inplace=True)
torch.add({t}, {same}, out={t})
torch.sin({f}, out={f}.detach())
torch.mul({t}, {n}, out={t})
torch.sum({t}, {d}, out={t}.select({d}, 0).clone())
nn.init.uniform_({q}.detach())
""".strip().splitlines()

STATE = """
{f}.requires_grad_()
{f}.requires_grad_()
{f}.requires_grad_(False)
{t}.requires_grad_()
{f}.detach_()
{f}.retain_grad()
{f}.grad = None
{leaf}.grad = {leaf}.detach() * {n}
{leaf}.grad.zero_()
{leaf}.grad.add_({n})
{f}.requires_grad = {flag}
{f}.detach().requires_grad_()
{f}.clone().requires_grad_()
{f}.grad_fn and {f}.grad_fn.name()
{f}.is_leaf
{t}.tolist()
{t}.shape
{t}.item()
bool({t})
float({r})
int({i})
len({t})
repr({t})
repr({t})
str({t})
"%.3f" % {r}.sum().item()
[v for v in {t}]
{t}.numpy()
{t}.detach().numpy()
torch.equal({t}, {same})
torch.allclose({f}, {same})
torch.result_type({t}, {u})
torch.can_cast({t}.dtype, {dt})
torch.is_same_size({t}, {u})
{t}.data_ptr() == {t}.detach().data_ptr()
copy.deepcopy({leaf})
copy.copy({t})
pickle.loads(pickle.dumps({t}.detach()))
{t}.is_inference()
{n} in {t}
{t}.dim(), {t}.numel(), {t}.element_size(), {t}.nbytes
{t}.is_floating_point(), {t}.is_complex()
{t}.__array__()
torch.is_grad_enabled()
torch.manual_seed({k})
""".strip().splitlines()

HOOK = """
{y}.register_hook(lambda g: g * 2)
{y}.register_hook(note)
{y}.register_hook(lambda g: note(g.sum()))
{f}.register_hook(lambda g: g.clone().mul_({n}))
{y}.register_hook(lambda g: torch.zeros_like(g))
{leaf}.register_post_accumulate_grad_hook(lambda p: note(p.grad))
{leaf}.register_post_accumulate_grad_hook(lambda p: p.grad.mul_(2) and None)
{leaf}.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", None))
{y}.grad_fn and {y}.grad_fn.register_hook(lambda gi, go: note([g for g in gi if g is not None]))
{y}.grad_fn and {y}.grad_fn.register_prehook(lambda go: tuple(map(doubled, go)))
{y}.grad_fn and {y}.grad_fn.register_prehook(lambda go: note(list(go)))
{y}.grad_fn and {y}.grad_fn.register_hook(lambda gi, go: tuple(map(doubled, gi)))
{y}.register_hook(lambda g: g * 2).remove()
torch.autograd.graph.register_multi_grad_hook(({y}, {same}), note, mode="any")
""".strip().splitlines()

APPLY = """
Square.apply({f})
Exp.apply({f})
Doubled.apply({f})
Doubled.apply({f}.clone())
Doubled.apply({f}[{index}])
Same.apply({f})
Viewed.apply({f})
Cube.apply({f})
Cube.apply({f}).sum()
Both.apply({f}, {u})[{zero_or_one}]
Sparing.apply({f}, {same})[{zero_or_one}]
Sorted.apply({r})[0]
Doubled.apply({f}.view_as({f}))
Square.apply(Exp.apply({f}))
checkpoint({fn}, {f}, use_reentrant=False)
checkpoint({fn}, {f}, use_reentrant=True)
checkpoint({fn2}, {f}, {u}, use_reentrant={flag})
checkpoint(lambda a: checkpoint({fn}, a, use_reentrant=False) * 2, {f}, use_reentrant={flag})
checkpoint({fn}, {f}, use_reentrant=False).sum()
checkpoint(lambda a: F.dropout(a, 0.5), {q}, use_reentrant={flag})
torch.utils.checkpoint.checkpoint_sequential([{fn}, {fn}], 2, {f}, use_reentrant={flag})
({fn})({f})
({fn2})({f}, {u})
({loss})({f})
nn.Linear({k}, 2)({f})
nn.Sequential(nn.Flatten(0), nn.Tanh())({r})
nn.LayerNorm({f}.shape[-1:])({f})
torch.utils.checkpoint.checkpoint(Square.apply, {f}, use_reentrant={flag})
""".strip().splitlines()

BACKWARD = """
{y}.sum().backward()
{y}.sum().backward()
{y}.sum().backward(retain_graph=True)
{y}.backward(torch.ones_like({y}))
{y}.backward({same}.clone())
{y}.backward()
({y} * {y}).sum().backward(retain_graph=True)
{y}.abs().sum().backward(create_graph=True)
{y}.sum().backward(inputs=[{leaf}])
{y}.sum().backward(inputs=[{leaf}], retain_graph=True)
({y} ** 2).sum().backward()
torch.autograd.backward([{y}.sum(), {f}.sum()])
torch.autograd.backward([{y}, {same}], [torch.ones_like({y}), None], retain_graph=True)
""".strip().splitlines()

GRAD = """
grad({y}.sum(), {leaf}, allow_unused={flag})
grad({y}.sum(), {leaf}, allow_unused=True, retain_graph=True)
grad(({y} ** 2).sum(), {leaf}, create_graph=True, allow_unused=True)
grad(({y} ** 2).sum(), [{leaf}, {y}], create_graph=True, allow_unused=True)
grad({y}.sum(), [{y}], create_graph=True)
grad({y}.sin().sum(), [{leaf}, {y}], materialize_grads=True, create_graph={flag})
grad({y}, {leaf}, torch.ones_like({y}), retain_graph=True, allow_unused=True)
grad({y}, {leaf}, {same}, create_graph=True, allow_unused=True)
grad({y}, {y}, torch.stack([{same}, {same}]), is_grads_batched=True, retain_graph=True)
grad({y} * 2, {leaf}, torch.ones(2, *{y}.shape), is_grads_batched=True, allow_unused=True)
grad([{y}.sum(), {y}.cos().sum()], [{leaf}], retain_graph=True, allow_unused=True)
grad(grad(({y} ** 3).sum(), {y}, create_graph=True)[0].sum(), {y}, retain_graph=True)
grad(grad({y}.sin().sum(), {leaf}, create_graph=True, allow_unused=True)[0].sum(), {leaf})
""".strip().splitlines()

TRANSFORM = """
func.grad({loss})({f})
func.grad({loss})({r})
func.grad(func.grad({loss}))({r}) if {r}.dim() == 0 else None
func.grad(lambda a: func.grad({loss})(a).sum())({f})
func.vjp({fn}, {f})[0]
func.vjp({fn}, {f})[1]({same})[0]
func.jvp({fn}, ({f},), ({same},))[1]
func.jvp(func.grad({loss}), ({f},), ({same},))[1]
func.jvp(lambda a: func.jvp({fn}, (a,), ({same},))[1], ({f},), ({same},))[1]
torch.vmap({fn})({m})
torch.vmap({fn}, {d}, {e})({m})
torch.vmap({fn2}, (0, None))({m}, {n})
torch.vmap(torch.vmap({fn}))({m})
torch.vmap(func.grad({loss}))({m})
torch.vmap(func.jvp, (None, 0, 0))({fn}, ({m},), ({same},))
func.grad(lambda a: torch.vmap({fn})(a).sum())({m})
func.jacrev({fn})({f})
func.jacfwd({fn})({f})
func.jacrev(func.jacfwd({fn}))({f})
func.jacfwd(func.jacrev({fn}))({f})
func.jacrev({fn}, chunk_size=2)({f})
func.hessian({loss})({f})
torch.vmap(func.hessian({loss}))({m})
torch.vmap(func.jacrev({fn}))({m})
func.linearize({fn}, {f}.detach())[1]({same}.detach()).detach()
functional.jacobian({fn}, {f})
functional.jacobian({fn}, {f}, create_graph=True)
functional.jacobian({fn}, {f}, vectorize=True)
functional.jacobian({fn}, {f}, strategy="forward-mode", vectorize=True)
functional.hessian({loss}, {f})
functional.hessian({loss}, {f}, create_graph=True)
functional.hessian({loss}, {f}, vectorize=True)
functional.vjp({fn}, {f}, {same}, create_graph=True)[1]
functional.hvp({loss}, {f}, {same}, create_graph={flag})[1]
torch.vmap(lambda a: a.mul_({n}))({m})
torch.vmap(lambda a: a.clone().add_({n}))({m})
torch.vmap(lambda a: torch.where(a > 0, a, {n}))({m})
torch.vmap(lambda a, b: a @ b)({m}, {w})
torch.vmap(lambda a: a + torch.randn(()), randomness="different")({m})
torch.vmap(lambda a: a + torch.randn(()), randomness="same")({m})
torch.vmap(lambda a: a[{zero_or_one}])({m})
torch.vmap(lambda a: a.sum(0), out_dims=-1)({m})
torch.vmap(Cube.apply)({m})
func.jvp(Cube.apply, ({f},), ({same},))[1]
func.grad(lambda a: Cube.apply(a).sum())({f})
func.grad(lambda a: Square.apply(a).sum())({f})
func.grad(lambda a: (a * {f}).sum())({f})
func.grad(lambda a: (a.detach() * a).sum())({f})
torch.vmap(lambda a: grad((a * {f}).sum(), {f}, allow_unused=True))({m})
func.functional_call(nn.Tanh(), dict(), ({f},))
func.stack_module_state([nn.Linear(2, 1), nn.Linear(2, 1)])[0]
""".strip().splitlines()

# Each of these is followed by one to three other statements inside it.
BLOCK = """
with torch.no_grad():
with torch.no_grad():
with torch.enable_grad():
with torch.inference_mode():
with torch.inference_mode({flag}):
with torch.set_grad_enabled({flag}):
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
with torch.autograd.graph.save_on_cpu():
with Doubles():
with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
with torch.autograd.graph.allow_mutation_on_saved_tensors():
with torch.autograd.set_multithreading_enabled({flag}):
with torch.autograd.detect_anomaly(check_nan=False):
with torch.autocast("cpu", torch.bfloat16):
with torch.no_grad(), torch.enable_grad():
with fwAD.dual_level():
for _ in range(2):
""".strip().splitlines()

# Bodies of functions: ``@`` stands for an expression of the parameters.
SMOOTH = """
@.sin()
@.tanh()
@.exp()
@ * @
@ + @
@ - {n}
@ * {x}
@ ** 2
@ / (1 + @ * @)
@.sigmoid()
@.cos()
torch.where(@.abs() > 1.03, @, @ * 2)
torch.maximum(@, @ * {x})
@.clone().mul_(@)
@.clone().sin_()
@.flip(0)
@.cumsum(-1)
@.softmax(-1)
@.sum(-1, keepdim=True)
@ * @.sum()
@.unsqueeze(0).squeeze(0)
@.reshape(-1)
@.transpose(0, -1)
@.clamp(-1, 1)
@[..., :1]
@[0]
@.mean()
@ * {f}
@ + {f}.detach()
torch.stack([@, @])
torch.cat([@, @])
@.detach() * @
@.pow(3)
@.abs().sqrt()
@.relu()
@.log_softmax(-1)
(@ + 3).norm()
@.prod()
@.masked_fill(@ > 0, {x})
@.expand(2, *@.shape)
Square.apply(@)
Cube.apply(@)
checkpoint(torch.sin, @, use_reentrant=False)
func.grad(lambda c: (c * c.sin()).sum())(@)
func.jvp(torch.sin, (@,), (torch.ones_like(@),))[1]
func.vjp(torch.tanh, @)[1](torch.ones_like(@))[0]
torch.vmap(lambda c: c * c.sum())(@)
grad(@.sin().sum(), @, create_graph=True)[0]
@.index_select(-1, torch.tensor([0]))
@.conj().resolve_conj()
@.logsumexp(-1)
@.var()
@.diff()
@.view(-1)
torch.matmul(@, @)
torch.zeros_like(@).copy_(@)
@.clone().zero_() + @
@.unfold(-1, 1, 1)
""".strip().splitlines()

# How often a statement is of each kind.
KINDS = {
    "create": (CREATE, 4), "unary": (UNARY, 8), "binary": (BINARY, 8), "reduce": (REDUCE, 4),
    "pairs": (PAIRS, 4), "view": (VIEW, 11), "select": (SELECT, 5), "matmul": (MATMUL, 3),
    "write": (WRITE, 14), "state": (STATE, 7), "hook": (HOOK, 3), "apply": (APPLY, 6),
    "backward": (BACKWARD, 5), "grad": (GRAD, 5), "transform": (TRANSFORM, 6), "block": (BLOCK, 6),
}
# What a statement of these kinds gives is two values; of those, nothing that is kept.
GIVES_TWO, GIVES_NOTHING = ("pairs",), ("write", "backward", "hook")
# Whether the result of a transform is a view, and of what, is not promised; so programs copy it.
COPIED = r"vmap\(|func\.|functional\.|is_grads_batched"
