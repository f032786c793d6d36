"""Normal distributions of vectors, and distributions of covariances and correlations."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import retrograd as rg

from ..base import dtypes
from ..base.warning import warn
from ..core.tensor import Size, Tensor
from . import constraints
from .distribution import Distribution, ExponentialFamily, tiny
from .gammas import Beta, Chi2
from .utils import NUMBERS, _standard_normal, broadcast_all, lazy_property

__all__ = ["LKJCholesky", "LowRankMultivariateNormal", "MultivariateNormal", "Wishart"]

_ONE_OF_THREE = ("Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                 "specified.")


def _batch_mv(matrices: Tensor, vectors: Tensor) -> Tensor:
    return (matrices @ vectors.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(bL: Tensor, bx: Tensor) -> Tensor:
    """The squared lengths of vectors in the metric of the covariances ``bL @ bL.mT``."""
    # What comes before the batch of the factors are columns to solve for at once.
    outer = bx.dim() - bL.dim() + 1
    columns = bx.reshape((-1, *bx.shape[outer:])).movedim(0, -1)
    solved = rg.linalg.solve_triangular(bL, columns, upper=False).pow(2).sum(-2)
    return solved.movedim(-1, 0).reshape(bx.shape[:-1])


def _precision_to_scale_tril(P: Tensor) -> Tensor:
    """The Cholesky factor of the inverse of ``P``, without inverting it."""
    # Of the matrix turned around, the factor's inverse is triangular on the side that is wanted.
    turned = rg.linalg.cholesky(P.flip(-2, -1)).flip(-2, -1).mT
    return rg.linalg.solve_triangular(turned, rg.eye(P.shape[-1], dtype=P.dtype), upper=False)


def _log_diagonal(tril: Tensor) -> Tensor:
    """Half of the log-determinant of the matrix that a Cholesky factor belongs to."""
    return tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)


class _NormalVectors(Distribution):
    """What normal distributions of vectors share, however their covariance is given."""

    support = constraints.real_vector
    has_rsample = True
    loc: Tensor
    mean = mode = property(lambda self: self.loc)

    def _of_events(self, tensor: Tensor, dims: int) -> Tensor:
        return tensor.expand(self._batch_shape + self._event_shape * dims)

    def _log_det(self) -> Tensor:
        """The log-determinant of the covariance."""
        raise NotImplementedError

    def _mahalanobis(self, apart: Tensor) -> Tensor:
        """The squared lengths of vectors, in units of the standard deviation."""
        raise NotImplementedError

    def _root(self) -> Tensor:
        """A matrix whose product with its transpose is the covariance."""
        raise NotImplementedError

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        size = self._event_shape[0]
        return -0.5 * (size * math.log(2 * math.pi) + self._log_det()
                       + self._mahalanobis(value - self.loc))

    def entropy(self) -> Tensor:
        size = self._event_shape[0]
        found = 0.5 * (size * (1.0 + math.log(2 * math.pi)) + self._log_det())
        return found.expand(self._batch_shape) if self._batch_shape else found

    def _divergence(self, other: _NormalVectors) -> Tensor:
        """The divergence from another normal distribution."""
        size = self._event_shape
        if size != other._event_shape:
            low_rank = sum(isinstance(each, LowRankMultivariateNormal) for each in (self, other))
            words = ("", "(Low Rank) ", "Low Rank ")[low_rank]
            raise ValueError(f"KL-divergence between two {words}Multivariate Normals with different"
                             " event shapes cannot be computed")
        columns = self._root().movedim(-1, 0)
        batch = rg.broadcast_shapes(self._batch_shape, other._batch_shape)
        columns = columns.reshape((len(columns), *[1] * (len(batch) + 2 - columns.dim()),
                                   *columns.shape[1:])).expand((-1, *batch, *size))
        apart = (other.loc - self.loc).expand(batch + size)
        return 0.5 * (other._log_det() - self._log_det() + other._mahalanobis(columns).sum(0)
                      + other._mahalanobis(apart) - size[0])


class MultivariateNormal(_NormalVectors):
    """Normal vectors, with a covariance, its inverse or its Cholesky factor."""

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky}

    def __init__(self, loc: Tensor, covariance_matrix: Tensor | None = None,
                 precision_matrix: Tensor | None = None, scale_tril: Tensor | None = None,
                 validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = _one_of(covariance_matrix, precision_matrix, scale_tril, ValueError)
        if matrix.dim() < 2:
            words = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(f"{words} must be at least two-dimensional, with optional leading "
                             "batch dimensions")
        batch_shape = rg.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.loc = loc.expand((*batch_shape, -1))
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = _FACTORS[name](matrix)

    @lazy_property
    def scale_tril(self) -> Tensor:
        return self._of_events(self._unbroadcasted_scale_tril, 2)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        factor = self._unbroadcasted_scale_tril
        return self._of_events(factor @ factor.mT, 2)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        return self._of_events(rg.cholesky_inverse(self._unbroadcasted_scale_tril), 2)

    variance = property(lambda self: self._of_events(
        self._unbroadcasted_scale_tril.pow(2).sum(-1), 1))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        drawn = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, drawn)

    def _log_det(self) -> Tensor:
        return 2 * _log_diagonal(self._unbroadcasted_scale_tril)

    def _mahalanobis(self, apart: Tensor) -> Tensor:
        return _batch_mahalanobis(self._unbroadcasted_scale_tril, apart)

    def _root(self) -> Tensor:
        return self._unbroadcasted_scale_tril


_FACTORS = {"scale_tril": lambda matrix: matrix, "covariance_matrix": rg.linalg.cholesky,
            "precision_matrix": _precision_to_scale_tril}
"""How the Cholesky factor of the covariance is found from each of the three."""


def _one_of(covariance_matrix: Any, precision_matrix: Any, scale_tril: Any, error: Any
            ) -> tuple[str, Tensor]:
    given = [(name, value) for name, value in (
        ("covariance_matrix", covariance_matrix), ("precision_matrix", precision_matrix),
        ("scale_tril", scale_tril)) if value is not None]
    if len(given) != 1:
        raise error(_ONE_OF_THREE)
    return given[0]


class LowRankMultivariateNormal(_NormalVectors):
    """Normal vectors with the covariance ``cov_factor @ cov_factor.mT + diag(cov_diag)``.

    Nothing larger than the factor is decomposed: the capacitance ``1 + W.mT @ W / D`` has as many
    rows as the factor has columns.
    """

    arg_constraints: ClassVar[Any] = {"loc": constraints.real_vector,
                                      "cov_factor": constraints.independent(constraints.real, 2),
                                      "cov_diag": constraints.independent(constraints.positive, 1)}

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor,
                 validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading "
                             "batch dimensions")
        if cov_factor.shape[-2:-1] != event_shape:
            raise ValueError("cov_factor must be a batch of matrices with shape "
                             f"{event_shape[0]} x m")
        if cov_diag.shape[-1:] != event_shape:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")
        try:
            column, factor, diagonal = rg.broadcast_tensors(
                loc.unsqueeze(-1), cov_factor, cov_diag.unsqueeze(-1))
        except RuntimeError as error:
            raise ValueError(f"Incompatible batch shapes: loc {loc.shape}, cov_factor "
                             f"{cov_factor.shape}, cov_diag {cov_diag.shape}") from error
        self.loc, self.cov_diag, self.cov_factor = column[..., 0], diagonal[..., 0], factor
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = rg.linalg.cholesky(
            self._weighed() @ cov_factor + rg.eye(cov_factor.shape[-1], dtype=loc.dtype))
        super().__init__(self.loc.shape[:-1], event_shape, validate_args=validate_args)

    def _weighed(self) -> Tensor:
        """The factor's transpose over the diagonal."""
        return self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)

    @lazy_property
    def variance(self) -> Tensor:
        return self._of_events(
            self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag, 1)

    @lazy_property
    def scale_tril(self) -> Tensor:
        roots = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / roots
        inner = scaled @ scaled.mT + rg.eye(self._event_shape[0], dtype=self.loc.dtype)
        return self._of_events(roots * rg.linalg.cholesky(inner), 2)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        factor = self._unbroadcasted_cov_factor
        return self._of_events(factor @ factor.mT + self._unbroadcasted_cov_diag.diag_embed(), 2)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        part = rg.linalg.solve_triangular(self._capacitance_tril, self._weighed(), upper=False)
        inverse = self._unbroadcasted_cov_diag.reciprocal().diag_embed()
        return self._of_events(inverse - part.mT @ part, 2)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        shared = _standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc.dtype)
        own = _standard_normal(shape, self.loc.dtype)
        return (self.loc + _batch_mv(self._unbroadcasted_cov_factor, shared)
                + self._unbroadcasted_cov_diag.sqrt() * own)

    def _log_det(self) -> Tensor:
        return (2 * _log_diagonal(self._capacitance_tril)
                + self._unbroadcasted_cov_diag.log().sum(-1))

    def _mahalanobis(self, apart: Tensor) -> Tensor:
        explained = _batch_mahalanobis(self._capacitance_tril, _batch_mv(self._weighed(), apart))
        return (apart.pow(2) / self._unbroadcasted_cov_diag).sum(-1) - explained

    def _root(self) -> Tensor:
        size = self.cov_factor.shape[-1]
        roots = self.cov_diag.sqrt().diag_embed()
        return rg.cat([self.cov_factor.expand((*roots.shape[:-1], size)), roots], -1)


class Wishart(ExponentialFamily):
    """Sums of squares of ``df`` normal vectors: covariances, up to a factor."""

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self) -> Any:
        return {"covariance_matrix": constraints.positive_definite,
                "precision_matrix": constraints.positive_definite,
                "scale_tril": constraints.lower_cholesky,
                "df": constraints.greater_than(self.event_shape[-1] - 1)}

    def __init__(self, df: Any, covariance_matrix: Tensor | None = None,
                 precision_matrix: Tensor | None = None, scale_tril: Tensor | None = None,
                 validate_args: bool | None = None) -> None:
        name, matrix = _one_of(covariance_matrix, precision_matrix, scale_tril, AssertionError)
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading "
                             "batch dimensions")
        batch_shape, event_shape = matrix.shape[:-2], matrix.shape[-2:]
        number = isinstance(df, NUMBERS)
        if not number:
            batch_shape = rg.broadcast_shapes(batch_shape, df.shape)
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        self.df = rg.tensor(df, dtype=matrix.dtype) if number else df.expand(batch_shape)
        size = event_shape[-1]
        if (self.df <= size - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {size - 1}.")
        if (self.df < size).any():
            warn("Low df values detected. Singular samples are highly likely to occur for "
                 "ndim - 1 < df < ndim.")
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        self._unbroadcasted_scale_tril = _FACTORS[name](matrix)
        self._dist_chi2 = Chi2(self.df.unsqueeze(-1) - rg.arange(size, dtype=matrix.dtype).expand(
            (*batch_shape, -1)))

    def _batch_of_part(self, name: str, batch_shape: Size) -> Any:
        return batch_shape + self.event_shape[-1:]

    @lazy_property
    def scale_tril(self) -> Tensor:
        return self._unbroadcasted_scale_tril.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        factor = self._unbroadcasted_scale_tril
        return (factor @ factor.mT).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        factor = self._unbroadcasted_scale_tril
        identity = rg.eye(self._event_shape[-1], dtype=factor.dtype)
        return rg.cholesky_solve(identity, factor).expand(self._batch_shape + self._event_shape)

    def _times(self, factor: Tensor, matrices: Tensor) -> Tensor:
        return factor.view((*self._batch_shape, 1, 1)) * matrices

    mean = property(lambda self: self._times(self.df, self.covariance_matrix))

    @property
    def mode(self) -> Tensor:
        factor = self.df - self._event_shape[-1] - 1
        return self._times(factor.masked_fill(factor <= 0, math.nan), self.covariance_matrix)

    @property
    def variance(self) -> Tensor:
        matrix = self.covariance_matrix
        diagonal = matrix.diagonal(dim1=-2, dim2=-1)
        return self._times(self.df, matrix.pow(2)
                           + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def _bartlett_sampling(self, sample_shape: Any = ()) -> Tensor:
        """Bartlett's decomposition: chi on the diagonal of a factor, normal draws below it."""
        size = self._event_shape[-1]
        roots = self._dist_chi2.rsample(sample_shape).sqrt()
        factor = roots.clamp(min=dtypes.finfo(roots.dtype).eps).diag_embed()
        row, column = rg.tril_indices(size, size, offset=-1)
        factor[..., row, column] = rg.randn(
            (*sample_shape, *self._batch_shape, size * (size - 1) // 2), dtype=factor.dtype)
        factor = self._unbroadcasted_scale_tril @ factor
        return factor @ factor.mT

    def _any_in_batch(self, flags: Tensor) -> Tensor:
        dims = len(self._batch_shape)
        return flags.amax(tuple(range(-dims, 0))) if dims else flags

    def rsample(self, sample_shape: Any = (), max_try_correction: int | None = None) -> Tensor:
        drawn = self._bartlett_sampling(Size(sample_shape))
        # PyTorch draws again in the place of its first regular samples; to give its numbers, so
        # does this. From then on only singular ones are replaced.
        replaced = self._any_in_batch(self.support.check(drawn))
        for _ in range(10 if max_try_correction is None else max_try_correction):
            if not replaced.any():
                break
            again = self._bartlett_sampling(replaced[replaced].shape)
            drawn[replaced] = again
            singular = self._any_in_batch(~self.support.check(again))
            replaced = replaced.masked_scatter(replaced, singular)
        if replaced.any():
            warn("Singular sample detected.")
        return drawn

    def _log_scale(self) -> Tensor:
        """Half of the log-determinant of twice the covariance."""
        size = self._event_shape[-1]
        return size * math.log(2) / 2 + _log_diagonal(self._unbroadcasted_scale_tril)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        df, size = self.df, self._event_shape[-1]
        inner = rg.cholesky_solve(value, self._unbroadcasted_scale_tril)
        return (-df * self._log_scale() - (df / 2).mvlgamma(size)
                + (df - size - 1) / 2 * rg.linalg.slogdet(value).logabsdet
                - inner.diagonal(dim1=-2, dim2=-1).sum(-1) / 2)

    def entropy(self) -> Tensor:
        df, size = self.df, self._event_shape[-1]
        halves = rg.arange(size, dtype=df.dtype) / 2
        digammas = ((df / 2).unsqueeze(-1) - halves).digamma().sum(-1)
        return ((size + 1) * self._log_scale() + (df / 2).mvlgamma(size)
                - (df - size - 1) / 2 * digammas + df * size / 2)

    _natural_params = property(lambda self: (
        -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2))

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        size = self._event_shape[-1]
        half_df = y + (size + 1) / 2
        return (half_df * (size * math.log(2) - rg.linalg.slogdet(-2 * x).logabsdet)
                + half_df.mvlgamma(size))


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices, all alike where the concentration is 1."""

    arg_constraints: ClassVar[Any] = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None
                 ) -> None:
        if dim < 2:
            raise ValueError("Expected dim to be an integer greater than or equal to 2. Found "
                             f"dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        # Row by row: how far the part left of the diagonal reaches is a beta draw.
        row = (rg.arange(dim, dtype=self.concentration.dtype) - 1).clamp(min=0)
        total = self.concentration + 0.5 * (dim - 2)
        self._beta = Beta(row + 0.5, total.unsqueeze(-1) - 0.5 * row)
        super().__init__(self.concentration.shape, Size((dim, dim)), validate_args)

    def _batch_of_part(self, name: str, batch_shape: Size) -> Any:
        return (*batch_shape, self.dim)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        reach = self._beta.sample(sample_shape).unsqueeze(-1)
        drawn = rg.randn(self._extended_shape(sample_shape), dtype=reach.dtype).tril(-1)
        direction = drawn / drawn.norm(dim=-1, keepdim=True)
        direction[..., 0, :].fill_(0.0)
        left = reach.sqrt() * direction
        diagonal = (1 - (left ** 2).sum(-1)).clamp(min=tiny(left)).sqrt()
        return left + diagonal.diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        last = self.dim - 1
        powers = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - rg.arange(2, self.dim + 1)
        found = (powers * value.diagonal(dim1=-1, dim2=-2)[..., 1:].log()).sum(-1)
        alpha = self.concentration + 0.5 * last
        return found - (0.5 * last * math.log(math.pi) + (alpha - 0.5).mvlgamma(last)
                        - alpha.lgamma() * last)
