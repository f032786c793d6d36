"""What autocast does to a call: casting its floating point arguments as a list of functions says.

Ops ask for it on their general path, where the mode sends them. Functions made of ops start to ask
when autocast is used first: their code is exchanged then, as for classes that take calls over.
"""

from __future__ import annotations

from typing import Any

from ..base import dtypes
from ..base.locks import new_lock
from ..base.modes import ACTIVE, MODE
from ..core.arguments import put_in_front
from ..core.op import PUBLIC
from ..core.tensor import Tensor
from ..ops import late

_LOWER = {
    "torch": "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d bmm mm "
             "baddbmm addmm addbmm matmul prelu",
    "nn.functional": "linear scaled_dot_product_attention prelu",
    "linalg": "matmul vecdot"}
_FLOAT32 = {
    "torch": "polar quantile nanquantile cdist trace view_as_complex cholesky cholesky_inverse "
             "cholesky_solve inverse lu_solve pinverse qr svd triangular_solve orgqr ormqr geqrf "
             "binary_cross_entropy_with_logits cosine_embedding_loss hinge_embedding_loss kl_div "
             "margin_ranking_loss poisson_nll_loss triplet_margin_loss ctc_loss stft",
    "fft": "fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft",
    "nn.functional": "avg_pool3d binary_cross_entropy grid_sample max_pool3d "
                     "max_pool3d_with_indices max_unpool2d max_unpool3d adaptive_avg_pool3d "
                     "adaptive_max_pool3d adaptive_max_pool3d_with_indices fractional_max_pool2d "
                     "fractional_max_pool2d_with_indices fractional_max_pool3d "
                     "fractional_max_pool3d_with_indices mse_loss cosine_embedding_loss nll_loss "
                     "hinge_embedding_loss poisson_nll_loss smooth_l1_loss cross_entropy l1_loss "
                     "huber_loss margin_ranking_loss soft_margin_loss triplet_margin_loss "
                     "multi_margin_loss ctc_loss kl_div multilabel_margin_loss "
                     "binary_cross_entropy_with_logits",
    "linalg": "cond matrix_rank solve cholesky svdvals eigvals eigvalsh inv householder_product "
              "tensorinv tensorsolve qr cholesky_ex svd eig eigh lstsq inv_ex"}
_WIDEST = {"torch": "cat concat concatenate stack index_copy"}
_FLOAT32_OPS = ("_prod", "_prod_dim", "_pad_reflect1d", "_pad_reflect2d", "_pad_replicate1d",
                "_pad_replicate2d", "_pad_replicate3d")
"""Ops that a public function is made of, which takes other arguments too."""


class Casting:
    """The state of autocast: the dtype of what may be less precise, and the casts it remembers."""

    __slots__ = ("dtype", "cache")

    def __init__(self, dtype: dtypes.dtype, cache: dict[int, Any] | None):
        self.dtype, self.cache = dtype, cache

    def cast_for(self, op: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of an op, as it wants them."""
        policy = _POLICIES.get(op.name)
        return args if policy is None else tuple(self.cast(policy, args))

    def cast(self, policy: str, values: Any) -> Any:
        """The floating point tensors among arguments, in the dtype that the policy chooses."""
        if policy == "widest":
            kinds = {tensor.dtype for tensor in _eligible(values)}
            policy = "lower" if kinds <= {self.dtype} else "float32"
        dtype = self.dtype if policy == "lower" else dtypes.float32
        return [self._converted(value, dtype) for value in values]

    def _converted(self, value: Any, dtype: dtypes.dtype) -> Any:
        if type(value) in (list, tuple):
            return type(value)([self._converted(item, dtype) for item in value])
        if not _is_eligible(value) or value.dtype is dtype:
            return value
        is_weight = value.dtype is dtypes.float32 and dtype is self.dtype and value.is_leaf \
            and value.requires_grad and not value._is_view()
        if not is_weight or self.cache is None or ACTIVE.get() or not MODE.get().records:
            return value.to(dtype)
        known = self.cache.get(id(value))
        # A weight that was written to since is cast again.
        if known is None or known[0] is not value or known[1] != value._version:
            known = self.cache[id(value)] = (value, value._version, value.to(dtype))
        return known[2]


def _is_eligible(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point() \
        and value.dtype is not dtypes.float64


def _eligible(values: Any) -> Any:
    for value in values:
        if type(value) in (list, tuple):
            yield from _eligible(value)
        elif _is_eligible(value):
            yield value


# ---------------------------------------------------------------- who is asked

_POLICIES: dict[str, str] = {}
"""How the arguments of each op are cast; filled when autocast is used first."""
_LOCK = new_lock()


class _Cast:
    """A public function made of ops, whose arguments are cast where autocast is on."""

    __slots__ = ("plain", "policy")

    def __init__(self, plain: Any, policy: str):
        self.plain, self.policy = plain, policy

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        mode = MODE.get()
        if mode.autocast is None or kwargs.get("out") is not None:
            return self.plain(*args, **kwargs)
        try:
            MODE.set(mode.but(autocast=None))
            *args, kept = mode.autocast.cast(self.policy, [*args, list(kwargs.values())])
            return self.plain(*args, **dict(zip(kwargs, kept, strict=True)))
        finally:
            MODE.set(mode)


def watch_calls() -> None:
    """From now on the functions of the lists look whether autocast is on."""
    with _LOCK:
        if _POLICIES:
            return
        late.load_all()
        for policy, spaces in (("lower", _LOWER), ("float32", _FLOAT32), ("widest", _WIDEST)):
            for space, names in spaces.items():
                for name in names.split():
                    _watch(PUBLIC[space].get(name), policy)
        _POLICIES.update(dict.fromkeys(_FLOAT32_OPS, "float32"))


def _watch(function: Any, policy: str) -> None:
    if hasattr(function, "op"):
        _POLICIES[function.op.name] = policy
    elif function is not None and not hasattr(function, "is_cast"):
        function.is_cast = True
        put_in_front(function, lambda plain: _Cast(plain, policy))
