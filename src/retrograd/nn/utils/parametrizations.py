"""Parametrizations in use: orthogonal matrices, weights by length and direction, spectral norms."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

from ... import linalg
from ...autograd.grad_mode import no_grad
from ...base.dtypes import finfo
from ...core.tensor import Tensor
from ...ops.creation.filled import zeros_like
from ...ops.creation.random import randn
from ...ops.creation.ranges import eye
from ...ops.elementwise.where import where
from ...ops.shapes.joining import cat
from .. import functional as F
from ..modules.conv import _ConvTranspose
from ..modules.module import Module
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _parametrized_tensor(module: Any, name: str) -> Tensor:
    found = getattr(module, name, None)
    if not isinstance(found, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return found


# ---------------------------------------------------------------- orthogonal


class _OrthMaps(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


class _Orthogonal(Module):
    """A matrix with orthonormal columns, or rows, from one without constraints.

    With a ``base``, the map starts at that matrix, so that any can be assigned.
    """

    base: Tensor

    def __init__(self, weight: Tensor, orthogonal_map: _OrthMaps, *,
                 use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map is _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        wide = X.size(-2) < X.size(-1)
        if wide:
            X = X.mT
        reflects = self.orthogonal_map is _OrthMaps.householder
        made = _from_reflections(X) if reflects else self._from_skew(X)
        if hasattr(self, "base"):
            made = self.base @ made
        return made.mT if wide else made

    def _from_skew(self, X: Tensor) -> Tensor:
        n, k = X.shape[-2:]
        lower = X.tril()
        if n != k:
            lower = cat([lower, X.new_zeros(n, n - k).expand(*X.shape[:-2], -1, -1)], dim=-1)
        skew = lower - lower.mH
        if self.orthogonal_map is _OrthMaps.matrix_exp:
            made = linalg.matrix_exp(skew)
        else:
            identity = eye(n, dtype=skew.dtype, device=skew.device)
            made = linalg.solve(identity - 0.5 * skew, identity + 0.5 * skew)
        return made if n == k else made[..., :k]

    def right_inverse(self, Q: Tensor) -> Tensor:
        if Q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a "
                             f"tensor of shape {Q.shape}.")
        with no_grad():
            wide = Q.size(-2) < Q.size(-1)
            tall = Q.mT if wide else Q
            if hasattr(self, "base"):
                self.base = _completed(tall)
                start = zeros_like(Q)
                start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
                return start
            if self.orthogonal_map is not _OrthMaps.householder:
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley "
                    "parametrizations when use_trivialization=False.")
            found = _reflections(tall)
            return found.mT if wide else found


def _from_reflections(X: Tensor) -> Tensor:
    """The first columns of a product of reflections, whose vectors lie below the diagonal of ``X``.

    The product of I - tau v vᵀ over all vectors is I - V T Vᵀ with an upper triangular T, of which
    the inverse is known: 1/tau on the diagonal and products of the vectors above it. The diagonal
    of ``X`` holds signs.
    """
    n, k = X.shape[-2:]
    columns = eye(n, k, dtype=X.dtype, device=X.device)
    vectors = X.tril(diagonal=-1) + columns
    products = vectors.mT @ vectors
    halves = (0.5 * products.diagonal(dim1=-2, dim2=-1)).diag_embed()
    inverse = halves + products.triu(diagonal=1)
    made = columns - vectors @ linalg.solve_triangular(inverse, vectors[..., :k, :].mT, upper=True)
    return made * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)


def _reflections(Q: Tensor) -> Tensor:
    """The vectors of the reflections that take ``Q`` to a triangle, and signs on the diagonal."""
    left = Q.clone()
    found = zeros_like(Q)
    for column in range(Q.size(-1)):
        part = left[..., column:, column]
        head, length = part[..., 0], linalg.vector_norm(part, dim=-1)
        is_done = linalg.vector_norm(part[..., 1:], dim=-1) == 0
        diagonal = where(is_done, head, where(head >= 0, -length, length))
        vector = part / where(is_done, 1, head - diagonal).unsqueeze(-1)
        vector[..., 0] = 1
        tau = where(is_done, 0, (diagonal - head) / diagonal)
        rest = left[..., column:, column:]
        rest -= (tau.unsqueeze(-1) * vector).unsqueeze(-1) * (vector.unsqueeze(-2) @ rest)
        found[..., column + 1:, column] = where(is_done.unsqueeze(-1), 0, vector[..., 1:])
        sign = diagonal.sign()
        found[..., column, column] = where(is_done, -sign, sign)
    return found


def _completed(Q: Tensor) -> Tensor:
    """A square orthogonal matrix that begins with ``Q``, made orthogonal where it is not."""
    n, k = Q.shape[-2:]
    if n != k:
        more = randn(*Q.shape[:-2], n, n - k, dtype=Q.dtype, device=Q.device)
        return _orthogonalized(cat([Q, more], dim=-1))
    identity = eye(k, dtype=Q.dtype, device=Q.device)
    is_orthogonal = (Q.mH @ Q).allclose(identity, atol=10.0 * n * finfo(Q.dtype).eps)
    return Q.clone() if is_orthogonal else _orthogonalized(Q)


def _orthogonalized(matrix: Tensor) -> Tensor:
    made, triangle = linalg.qr(matrix)
    return made * triangle.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def orthogonal(module: Any, name: str = "weight", orthogonal_map: str | None = None, *,
               use_trivialization: bool = True) -> Any:
    """Keep a matrix of a module orthogonal, or unitary."""
    weight = _parametrized_tensor(module, name)
    if weight.ndim < 2:
        raise ValueError("Expected a matrix or batch of matrices. Got a tensor of "
                         f"{weight.ndim} dimensions.")
    if orthogonal_map is None:
        smooth = weight.size(-2) == weight.size(-1) or weight.is_complex()
        orthogonal_map = "matrix_exp" if smooth else "householder"
    if orthogonal_map not in _OrthMaps.__members__:
        raise ValueError('orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
                         f"Got: {orthogonal_map}")
    made = _Orthogonal(weight, _OrthMaps[orthogonal_map], use_trivialization=use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)


# ---------------------------------------------------------------- length and direction


def norm_except_dim(v: Tensor, dim: int) -> Tensor:
    """The lengths of the slices of ``v`` along ``dim``; of all of it, where that is -1."""
    if dim == -1:
        return linalg.vector_norm(v)
    return linalg.vector_norm(v, dim=[d for d in range(v.dim()) if d != dim], keepdim=True)


def scaled_to(v: Tensor, g: Tensor, dim: int) -> Tensor:
    """The direction of ``v`` with the lengths ``g``."""
    return v * (g / norm_except_dim(v, dim))


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return scaled_to(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except_dim(weight, self.dim), weight


class _FromOlderNames:
    """Lets a state dict of ``nn.utils.weight_norm`` be loaded."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        old = [f"{prefix}{self.name}_g", f"{prefix}{self.name}_v"]
        if all(key in state_dict for key in old):
            for place, key in enumerate(old):
                new = f"{prefix}parametrizations.{self.name}.original{place}"
                state_dict[new] = state_dict.pop(key)


def weight_norm(module: Any, name: str = "weight", dim: int = 0) -> Any:
    """Train the lengths of a tensor's slices along ``dim`` and their directions apart."""
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    module._register_load_state_dict_pre_hook(_FromOlderNames(name))
    return module


# ---------------------------------------------------------------- spectral norm


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """``weight`` with ``dim`` as rows and everything else as columns."""
    if dim != 0:
        weight = weight.permute(dim, *(d for d in range(weight.dim()) if d != dim))
    return weight.flatten(1)


def check_iterations(count: int) -> None:
    if count <= 0:
        raise ValueError("Expected n_power_iterations to be positive, but got "
                         f"n_power_iterations={count}")


def dim_of_outputs(module: Module, dim: int | None) -> int:
    """The dimension of a weight that its outputs lie in, unless another is asked for."""
    if dim is not None:
        return dim
    return 1 if isinstance(module, _ConvTranspose) else 0


class _SpectralNorm(Module):
    """Divides a matrix by an estimate of its largest singular value."""

    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0,
                 eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, "
                             f"{ndim - 1}] but got {dim})")
        check_iterations(n_power_iterations)
        self.dim = dim % ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight, self.dim)
            for name, size in zip(("_u", "_v"), matrix.size(), strict=True):
                start = matrix.new_empty(size).normal_(0, 1)
                self.register_buffer(name, F.normalize(start, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _power_method(self, matrix: Tensor, count: int) -> None:
        with no_grad():
            for _ in range(count):
                self._u.copy_(F.normalize(matrix.mv(self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(matrix.mH.mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # Copies, since a second call may write to the buffers before the first one's backward.
        return weight / self._u.clone().vdot(matrix.mv(self._v.clone()))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(module: Any, name: str = "weight", n_power_iterations: int = 1,
                  eps: float = 1e-12, dim: int | None = None) -> Any:
    """Keep the largest singular value of a matrix at one, by steps of the power method."""
    weight = _parametrized_tensor(module, name)
    made = _SpectralNorm(weight, n_power_iterations, dim_of_outputs(module, dim), eps)
    return register_parametrization(module, name, made)
