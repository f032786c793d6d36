"""Reordering dims, and dims of length one."""

from __future__ import annotations

from typing import Any

from ...backend import xp
from ...base.errors import canonical_dim, no_overload
from ...base.warning import warn
from ...core.extensions import TRACED_TYPES
from ...core.op import Array, Dim, Dims, Ints, Sizes, composite, public, view
from ...core.tensor import Tensor, attach, method
from ..elementwise.conjugate import conj
from .reshaping import reshape, spread_method

# ---------------------------------------------------------------- reordering


@view(quiet=True, vjp=lambda g, dims: _permute(g, inverse_permutation(dims)),
      batches=lambda batch, input, dims: _permute(input, (0, *[d + 1 for d in dims])))
def _permute(input: Array, dims: Ints) -> Any:
    return input.transpose(dims)


def inverse_permutation(dims: Any) -> tuple[int, ...]:
    inverse = [0] * len(dims)
    for i, d in enumerate(dims):
        inverse[d] = i
    return tuple(inverse)


@composite()
@spread_method("dims")
def permute(input: Tensor, dims: Sizes) -> Any:
    """A view with its dimensions in another order."""
    rank = input.ndim
    given = (dims,) if isinstance(dims, int) else tuple(dims)
    if len(given) != rank:
        raise RuntimeError("permute(sparse_coo): number of dimensions in the tensor input does not "
                           f"match the length of the desired ordering of dimensions i.e. "
                           f"input.dim() = {rank} is not equal to len(dims) = {len(given)}")
    order = tuple([canonical_dim(d, rank) for d in given])
    if len(set(order)) != rank:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return _permute(input, order)


@view(quiet=True, aliases=("swapaxes", "swapdims"),
      vjp=lambda g, dim0, dim1: transpose(g, dim0, dim1))
def transpose(input: Array, dim0: Dim, dim1: Dim) -> Any:
    """A view with two dimensions exchanged."""
    return input.swapaxes(dim0, dim1) if input.ndim else input[...]


@view(quiet=True, vjp=lambda g: t(g))
def t(input: Array) -> Any:
    """The transpose of a matrix; a vector is left as it is."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return input.T


@t.batch
def _(batch: Any, input: Any) -> Any:
    rank = input.ndim - 1
    if rank > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {rank}D")
    return transpose(input, 1, 2) if rank == 2 else _permute(input, (0, 1)[:input.ndim])


@composite(method=True, aliases=("moveaxis",))
def movedim(input: Tensor, source: Any, destination: Any) -> Any:
    """Move dimensions to other positions; the others keep their order."""
    if isinstance(source, (tuple, list)) is not isinstance(destination, (tuple, list)):
        raise no_overload("movedim", (input, source, destination),
                          "Tensor input, int source, int destination",
                          "Tensor input, tuple of ints source, tuple of ints destination")
    rank = input.ndim
    src = tuple(source) if isinstance(source, (tuple, list)) else (source,)
    dst = tuple(destination) if isinstance(destination, (tuple, list)) else (destination,)
    if len(src) != len(dst):
        raise RuntimeError("movedim: Invalid source or destination dims: source "
                           f"({list(src)} dims) should contain the same number of dims as "
                           f"destination ({list(dst)} dims)")
    given = {"source": src, "destination": dst}
    src = tuple([canonical_dim(d, rank) for d in src])
    dst = tuple([canonical_dim(d, rank) for d in dst])
    for dims, (name, shown) in zip((src, dst), given.items(), strict=True):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(shown)})")
    if not rank:
        return _permute(input, ())
    order = [d for d in range(rank) if d not in src]
    for to, frm in sorted(zip(dst, src, strict=True)):
        order.insert(to, frm)
    return _permute(input, tuple(order))


def _identity_of_scalar(self: Tensor, name: str,
                        instead: str = "This function is the identity in these cases.") -> Tensor:
    warn(f"Tensor.{name} is deprecated on 0-D tensors. {instead}", once=True)
    return self


def _matrix_transpose(self: Tensor) -> Tensor:
    """A view with the last two dimensions exchanged."""
    if not self.ndim:
        return _identity_of_scalar(self, "mT")
    if self.ndim < 2:
        raise RuntimeError(f"tensor.mT is only supported on matrices or batches of matrices. Got "
                           f"{self.ndim}-D tensor.")
    return transpose(self, -2, -1)


def _full_transpose(self: Tensor) -> Tensor:
    """A view with all dimensions in reverse order."""
    if not self.ndim:
        _identity_of_scalar(self, "T")
    elif self.ndim != 2:
        warn("The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
             "deprecated and it will throw an error in a future release. Consider `x.mT` to "
             "transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to "
             "reverse the dimensions of a tensor.", once=True)
    return _permute(self, tuple(range(self.ndim - 1, -1, -1)))


_CONJUGATE = "Consider using x.conj()."


def _conjugated(self: Tensor) -> Tensor:
    return conj(self) if self.is_complex() else self


def _adjoint(self: Tensor) -> Tensor:
    """The conjugate transpose of a matrix."""
    if not self.ndim:
        return _conjugated(_identity_of_scalar(self, "H", _CONJUGATE))
    if self.ndim != 2:
        tail = ". For batches of matrices, consider using tensor.mH" if self.ndim > 2 else "."
        raise RuntimeError("tensor.H is only supported on matrices (2-D tensors). Got "
                           f"{self.ndim}-D tensor{tail}")
    return _conjugated(transpose(self, 0, 1))


@public("adjoint", method=False)
@method("adjoint")
def _matrix_adjoint(self: Tensor) -> Tensor:
    """The conjugate transpose of the last two dimensions."""
    if not self.ndim:
        return _conjugated(_identity_of_scalar(self, "mH", _CONJUGATE))
    if self.ndim < 2:
        raise RuntimeError("tensor.adjoint() is only supported on matrices or batches of "
                           f"matrices. Got {self.ndim}-D tensor.")
    return _conjugated(transpose(self, -2, -1))


attach(T=property(_full_transpose))
attach(mT=property(_matrix_transpose))
attach(H=property(_adjoint))
attach(mH=property(_matrix_adjoint))


# ---------------------------------------------------------------- length-one dimensions


@view(quiet=True, vjp=lambda g, dim: _squeeze_dim(g, dim if dim >= 0 else dim + g.ndim),
      batches=lambda batch, input, dim: unsqueeze(input, canonical_dim(dim, input.ndim) + 1))
def unsqueeze(input: Array, dim: int) -> Any:
    """A view with a dimension of length one inserted at ``dim``."""
    return xp.expand_dims(input, canonical_dim(dim, input.ndim + 1))


@view(quiet=True, vjp=lambda g, like: reshape(g, like.shape))
def _squeeze(input: Array, dim: Any) -> Any:
    keep = tuple([n for i, n in enumerate(input.shape) if not (n == 1 and i in dim)])
    return xp.viewed(input, keep)


@view(quiet=True, node="SqueezeBackward2", vjp=lambda g, like: reshape(g, like.shape))
def _squeeze_dims(input: Array, dim: Dims) -> Any:
    keep = tuple([n for i, n in enumerate(input.shape) if not (n == 1 and i in dim)])
    return xp.viewed(input, keep)


@_squeeze.batch
@_squeeze_dims.batch
def _(batch: Any, input: Any, dim: Any) -> Any:
    return _squeeze(input, tuple([d + 1 for d in dim]) if input.ndim > 1 else ())


@view(quiet=True, node="SqueezeBackward1", vjp=lambda g, like: reshape(g, like.shape))
def _squeeze_dim(input: Array, dim: Dim) -> Any:
    keep = tuple([n for i, n in enumerate(input.shape) if not (n == 1 and i == dim)])
    return xp.viewed(input, keep)


@composite(method=True)
def squeeze(input: Tensor, dim: Any = None, *, axis: Any = None) -> Any:
    """A view without its dimensions of length one."""
    dim = axis if dim is None else dim
    if dim is None:
        return _squeeze(input, tuple(range(input.ndim)))
    if isinstance(dim, (tuple, list)):
        return _squeeze_dims(input, tuple(dim))
    if type(input._data) in TRACED_TYPES and not input.ndim and dim not in (0, -1):
        raise RuntimeError("Dimension is out of range (expected to be in range of [-1, 0], but "
                           f"got [{dim}]")  # as PyTorch says it inside of vmap
    return _squeeze_dim(input, dim)
