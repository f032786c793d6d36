"""Autocast on the CPU: which functions choose which dtype, and the scaling of losses."""

from __future__ import annotations

import threading
import warnings

from parity.harness import behaviour, behaviour_of_each

# The values of products in half precision depend on the order of additions; dtypes do not.
CALLS = {
    "mm": lambda t, d: t.mm(d.x, d.x), "matmul": lambda t, d: d.x @ d.x,
    "matrix and vector": lambda t, d: d.x @ d.x[0], "bmm": lambda t, d: t.bmm(d.b, d.b),
    "addmm": lambda t, d: t.addmm(d.x, d.x, d.x), "baddbmm": lambda t, d: t.baddbmm(d.b, d.b, d.b),
    "addbmm": lambda t, d: t.addbmm(d.x, d.b, d.b), "mv": lambda t, d: t.mv(d.x, d.x[0]),
    "linear": lambda t, d: t.nn.functional.linear(d.x, d.x, d.x[0]),
    "dot": lambda t, d: t.dot(d.x[0], d.x[0]), "outer": lambda t, d: t.outer(d.x[0], d.x[0]),
    "einsum": lambda t, d: t.einsum("ij,jk->ik", d.x, d.x),
    "tensordot": lambda t, d: t.tensordot(d.x, d.x, 1), "inner": lambda t, d: t.inner(d.x, d.x),
    "vecdot": lambda t, d: t.linalg.vecdot(d.x, d.x),
    "multi_dot": lambda t, d: t.linalg.multi_dot([d.x, d.x, d.x]),
    "conv1d": lambda t, d: t.nn.functional.conv1d(d.seq, t.ones(4, 3, 3)),
    "conv2d": lambda t, d: t.nn.functional.conv2d(d.im, t.ones(4, 3, 3, 3)),
    "conv_transpose2d": lambda t, d: t.nn.functional.conv_transpose2d(d.im, t.ones(3, 4, 3, 3)),
    "prelu": lambda t, d: t.nn.functional.prelu(d.x, t.tensor([0.1])),
    "attention": lambda t, d: t.nn.functional.scaled_dot_product_attention(d.b, d.b, d.b),
    "double": lambda t, d: d.x.double() @ d.x.double(),
    "an out argument": lambda t, d: t.mm(d.x, d.x, out=t.empty(4, 4)),
    "in place": lambda t, d: d.x.clone().addmm_(d.x, d.x),
    "relu": lambda t, d: t.relu(d.h), "add": lambda t, d: d.h + d.x, "exp": lambda t, d: d.h.exp(),
    "softmax": lambda t, d: d.h.softmax(-1), "sum": lambda t, d: d.h.sum(),
    "mean": lambda t, d: d.h.mean(), "prod": lambda t, d: d.h.prod(),
    "prod along": lambda t, d: d.h.prod(0), "cumsum": lambda t, d: d.h.cumsum(0),
    "layer_norm": lambda t, d: t.nn.functional.layer_norm(d.h, (4,)),
    "batch_norm": lambda t, d: t.nn.functional.batch_norm(d.im.to(d.half), t.zeros(3), t.ones(3)),
    "mse_loss": lambda t, d: t.nn.functional.mse_loss(d.h, d.x),
    "l1_loss": lambda t, d: t.nn.functional.l1_loss(d.h, d.h),
    "huber_loss": lambda t, d: t.nn.functional.huber_loss(d.h, d.h),
    "smooth_l1_loss": lambda t, d: t.nn.functional.smooth_l1_loss(d.h, d.h),
    "cross_entropy": lambda t, d: t.nn.functional.cross_entropy(d.h, d.idx),
    "nll_loss": lambda t, d: t.nn.functional.nll_loss(d.h, d.idx),
    "bce": lambda t, d: t.nn.functional.binary_cross_entropy(d.p.to(d.half), d.p.to(d.half)),
    "bce with logits": lambda t, d: t.nn.functional.binary_cross_entropy_with_logits(d.h, d.p),
    "gaussian_nll": lambda t, d: t.nn.functional.gaussian_nll_loss(d.h, d.h, d.p.to(d.half)),
    "kl_div": lambda t, d: t.nn.functional.kl_div(d.h, d.h, reduction="sum"),
    "triplet": lambda t, d: t.nn.functional.triplet_margin_loss(d.h, d.h, d.h),
    "cat": lambda t, d: t.cat([d.h, d.x]), "cat of halves": lambda t, d: t.cat([d.h, d.h]),
    "stack": lambda t, d: t.stack([d.h, d.x]), "vstack": lambda t, d: t.vstack([d.h, d.x]),
    "index_copy": lambda t, d: t.index_copy(d.x, 0, d.idx, d.h),
    "cdist": lambda t, d: t.cdist(d.h, d.h), "trace": lambda t, d: t.trace(d.h),
    "inv": lambda t, d: t.linalg.inv(d.pd.to(d.half)),
    "svd": lambda t, d: t.svd(d.pd.to(d.half))[1],
    "cholesky": lambda t, d: t.linalg.cholesky(d.pd.to(d.half)),
    "eigh": lambda t, d: t.linalg.eigh(d.pd.to(d.half))[0],
    "solve": lambda t, d: t.linalg.solve(d.pd.to(d.half), d.x),
    "quantile": lambda t, d: t.quantile(d.h, 0.5), "det": lambda t, d: t.linalg.det(d.pd),
    "avg_pool2d": lambda t, d: t.nn.functional.avg_pool2d(d.im.to(d.half), 2),
    "avg_pool3d": lambda t, d: t.nn.functional.avg_pool3d(d.vol.to(d.half), 2),
    "max_pool3d": lambda t, d: t.nn.functional.max_pool3d(d.vol.to(d.half), 2),
    "adaptive_avg_pool3d": lambda t, d: t.nn.functional.adaptive_avg_pool3d(d.vol.to(d.half), 2),
    "reflect 1": lambda t, d: t.nn.functional.pad(d.seq.to(d.half), (1, 1), "reflect"),
    "reflect 3": lambda t, d: t.nn.functional.pad(d.vol.to(d.half), (1,) * 6, "reflect"),
    "replicate 3": lambda t, d: t.nn.functional.pad(d.vol.to(d.half), (1,) * 6, "replicate"),
    "GRU": lambda t, d: t.nn.GRU(2, 3)(t.ones(4, 1, 2))[0],
    "RNN": lambda t, d: t.nn.RNN(2, 3)(t.ones(4, 1, 2))[0],
    "LSTMCell": lambda t, d: t.nn.LSTMCell(2, 3)(t.ones(1, 2))[0],
    "MultiheadAttention": lambda t, d: t.nn.MultiheadAttention(4, 2)(*[t.ones(3, 1, 4)] * 3)[0],
    "TransformerEncoderLayer": lambda t, d: t.nn.TransformerEncoderLayer(4, 2)(t.ones(3, 1, 4)),
}


class Data:
    def __init__(self, torch, half):
        self.half = half
        self.x, self.b = torch.randn(4, 4), torch.randn(2, 4, 4)
        self.im, self.vol, self.seq = (torch.randn(2, 3, 8, 8), torch.randn(1, 2, 4, 4, 4),
                                       torch.randn(2, 3, 8))
        self.idx, self.p = torch.tensor([0, 1, 2, 3]), self.x.sigmoid()
        self.pd, self.h = self.x @ self.x.t() + 4 * torch.eye(4), self.x.to(half)


@behaviour_of_each([(name, dtype) for name in CALLS for dtype in ("bfloat16", "float16")])
def functions_choose_their_dtypes(torch, log, name, dtype):
    half = getattr(torch, dtype)
    data = Data(torch, half)
    with torch.autocast("cpu", dtype=half):
        log(str(CALLS[name](torch, data).dtype))


@behaviour_of_each(["mm", "matmul", "linear", "conv2d", "prelu", "attention", "prod", "cat", "GRU"])
def switched_off_they_do_not(torch, log, name):
    data = Data(torch, torch.bfloat16)
    with torch.autocast("cpu"):
        CALLS[name](torch, data)
        with torch.autocast("cpu", enabled=False):
            log(str(CALLS[name](torch, data).dtype))
    log(str(CALLS[name](torch, data).dtype))


@behaviour
def the_lstm_layer_keeps_its_state_in_float32(torch, log):
    with torch.autocast("cpu"):
        found = torch.nn.LSTM(2, 3)(torch.ones(4, 1, 2))[0]
    log.differs(str(found.dtype), torch="torch.bfloat16", retrograd="torch.float32")


@behaviour
def halves_of_two_kinds_are_joined_in_float32(torch, log):
    half = torch.ones(1, dtype=torch.bfloat16)
    with torch.autocast("cpu", torch.float16):
        try:
            found = str(torch.cat([half, half]).dtype)
        except RuntimeError as error:
            found = str(error)
    log.differs(found, torch="Unexpected floating ScalarType in at::autocast::prioritize",
                retrograd="torch.float32")


@behaviour
def a_weight_written_to_is_cast_again(torch, log):
    w = torch.ones(1, 1, requires_grad=True)
    with torch.autocast("cpu"):
        torch.ones(1, 1) @ w
        with torch.no_grad():
            w.mul_(3)
        log.differs((torch.ones(1, 1) @ w).item(), torch=1.0, retrograd=3.0)


@behaviour
def a_model_is_trained_in_half_precision(torch, log):
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, target = torch.randn(6, 4), torch.tensor([0, 1, 0, 1, 0, 1])
    for _ in range(3):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = model(x)
            loss = torch.nn.functional.cross_entropy(out, target)
        loss.backward()
        optimizer.step()
        log(str(out.dtype), str(loss.dtype), round(loss.item(), 1))
    log([str(p.grad.dtype) for p in model.parameters()])


@behaviour
def weights_are_cast_once(torch, log):
    w = torch.ones(2, 2, requires_grad=True)
    x = torch.ones(1, 2)
    with torch.autocast("cpu"):
        first, second = x @ w, x @ w
        log(first.grad_fn.next_functions[1][0] is second.grad_fn.next_functions[1][0])
    with torch.autocast("cpu", cache_enabled=False):
        first, second = x @ w, x @ w
        log(first.grad_fn.next_functions[1][0] is second.grad_fn.next_functions[1][0],
            torch.is_autocast_cache_enabled())
    log.graph(first)
    log(torch.is_autocast_cache_enabled())


@behaviour
def states_and_nesting(torch, log):
    def state():
        return (torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled(),
                str(torch.get_autocast_dtype("cpu")), str(torch.get_autocast_dtype("cuda")))

    log(state())
    with torch.autocast("cpu", torch.float16) as block:
        log(state(), type(block).__name__)
        with torch.autocast("cpu"):
            log(state())
            with torch.amp.autocast(device_type="cpu", enabled=False):
                log(state())
            log(state())
        found = []
        thread = threading.Thread(target=lambda: found.append(state()))
        thread.start(), thread.join()
        log(found)  # a thread starts without
    log(state())
    torch.set_autocast_dtype("cpu", torch.float16)
    log(state(), str(torch.autocast("cpu").fast_dtype))
    torch.set_autocast_dtype("cpu", torch.bfloat16)
    torch.set_autocast_enabled("cpu", True)
    log(state(), str((torch.ones(1, 1) @ torch.ones(1, 1)).dtype))
    torch.set_autocast_enabled("cpu", False)
    log(state())
    try:
        with torch.autocast("cpu"):
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        log(state())


@behaviour
def as_a_decorator(torch, log):
    @torch.autocast("cpu")
    def product(x):
        """A product."""
        return x @ x

    log(str(product(torch.ones(2, 2)).dtype), product.__name__, torch.is_autocast_enabled("cpu"))


@behaviour
def in_transforms_and_checkpoints(torch, log):
    w, x = torch.ones(4, 4, requires_grad=True), torch.ones(2, 4)
    with torch.autocast("cpu"):
        log(str(torch.vmap(lambda v: v @ w.detach())(x).dtype))
        log(str(torch.func.grad(lambda v: (v @ w.detach()).sum())(x).dtype))
        log(str(torch.func.jvp(lambda v: v @ w.detach(), (x,), (x,))[1].dtype))
        outs = [torch.utils.checkpoint.checkpoint(lambda v: (v @ w).relu() @ w, x.requires_grad_(),
                                                  use_reentrant=again) for again in (True, False)]
    for out in outs:
        w.grad = x.grad = None
        out.float().sum().backward()
        log(str(out.dtype), w.grad, x.grad)


@behaviour
def gradients_keep_the_dtypes_of_what_they_are_of(torch, log):
    w, x = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2, requires_grad=True)
    outside = (x @ w).sum()
    with torch.autocast("cpu"):
        (grad,) = torch.autograd.grad(outside, w, create_graph=True)
        log(str(grad.dtype))
        (x @ w).sum().backward()
    log(str(w.grad.dtype), str(x.grad.dtype))


@behaviour
def custom_functions(torch, log):
    seen = []

    class Product(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu")
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return x @ w

        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            x, w = ctx.saved_tensors
            seen.append((torch.is_autocast_enabled("cpu"), str((g @ w.t()).dtype)))
            return g @ w.t(), x.t() @ g

    class Exact(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        def forward(ctx, x):
            seen.append((torch.is_autocast_enabled("cpu"), str(x.dtype)))
            return x * 2

        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            return g * 2

    x = torch.ones(2, 2, requires_grad=True)
    with torch.autocast("cpu"):
        out = Product.apply(x, x)
        exact = Exact.apply(out)
    log(str(out.dtype), str(exact.dtype))
    exact.sum().backward()
    Exact.apply(x.bfloat16())
    log(seen, x.grad)
    log.raises(torch.amp.custom_fwd, device_type=5)


@behaviour_of_each(["cuda", 5, "nonsense"])
def other_devices(torch, log, device):
    log.warns(lambda: log.raises(lambda: torch.autocast(device)._enabled))
    log.refuses(torch.is_autocast_enabled, str(device))
    log.refuses(torch.amp.is_autocast_available, str(device))


@behaviour
def unsupported_dtypes_switch_it_off(torch, log):
    log.warns(lambda: torch.autocast("cpu", dtype=torch.float32)._enabled)
    with warnings.catch_warnings(record=True), torch.autocast("cpu", dtype=torch.float64):
        log(torch.is_autocast_enabled("cpu"))


@behaviour
def older_names(torch, log):
    log.warns(lambda: torch.cuda.amp.autocast()._enabled)
    log.warns(lambda: torch.cuda.amp.GradScaler().is_enabled())
    log.warns(lambda: str(torch.cpu.amp.autocast().fast_dtype))
    log.warns(lambda: torch.cpu.amp.GradScaler().is_enabled())
    log.warns(lambda: torch.amp.GradScaler().get_scale())
    log.warns(torch.is_autocast_cpu_enabled)
    log.warns(lambda: str(torch.get_autocast_gpu_dtype()))


@behaviour
def losses_are_scaled_and_gradients_unscaled(torch, log):
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    for factor in (1.0, 1.0, float("inf"), 1.0, 1.0):
        optimizer.zero_grad()
        scaler.scale((w * factor).sum()).backward()
        log(w.grad)
        scaler.unscale_(optimizer)
        log(w.grad, scaler.step(optimizer), w)
        scaler.update()
        log(scaler.get_scale(), scaler.state_dict())
    scaler.update(4.0)
    log(scaler.get_scale())
    other = torch.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    log(other.state_dict(), other.scale([torch.ones(1), (torch.ones(2),)]))


@behaviour
def what_a_scaler_refuses(torch, log):
    scaler = torch.amp.GradScaler("cpu")
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
    for call in (scaler.update, lambda: scaler.step(optimizer), lambda: scaler.unscale_(optimizer),
                 lambda: scaler.scale(5), lambda: scaler.load_state_dict({}),
                 lambda: torch.amp.GradScaler("cpu", growth_factor=0.5),
                 lambda: torch.amp.GradScaler("cpu", backoff_factor=2)):
        log.raises(call)
    scaler.scale(torch.ones(1))
    log.raises(scaler.step, optimizer)  # which has no gradients
    log.raises(scaler.step, optimizer, closure=lambda: 1)
    p = optimizer.param_groups[0]["params"][0]
    p.grad = torch.ones(1)
    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(torch.ones(1))
    scaler.unscale_(optimizer)
    log.raises(scaler.unscale_, optimizer)
    scaler.step(optimizer)
    log.raises(scaler.step, optimizer)
    log.raises(scaler.unscale_, optimizer)
    off = torch.amp.GradScaler("cpu", enabled=False)
    log(off.scale(torch.ones(1)), off.state_dict(), off.get_scale(), off.update())
