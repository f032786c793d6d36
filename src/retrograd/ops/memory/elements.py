"""Python functions applied to elements one by one, and older ways to look at memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...base.warning import warn
from ...core.tensor import Tensor, method


def _check(name: str, self: Tensor, others: dict[str, Tensor]) -> None:
    if any(t.requires_grad for t in (self, *others.values())):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use "
                           f"var.detach().{name}() instead.")
    for label, other in others.items():
        if other.dtype is not self.dtype:
            raise TypeError(f"{name}: expected torch.{self.dtype.alias}Tensor for {label} (got "
                            f"torch.{other.dtype.alias}Tensor)")


def _written(self: Tensor, function: Callable[..., Any], *others: Tensor) -> Tensor:
    """``self`` with each element exchanged for what the function makes of it and others."""
    rows = [tensor.expand(self.shape).reshape(-1).tolist() for tensor in (self, *others)]
    kind = int if self.dtype.itemsize and not (self.is_floating_point() or self.is_complex()) \
        else None
    found = [function(*values) for values in zip(*rows, strict=True)]
    return self.copy_(self.new_tensor([kind(v) for v in found] if kind else found).reshape(
        self.shape))


@method("apply_")
def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Exchange each element for what a Python function makes of it, in place and slowly."""
    _check("apply_", self, {})
    return _written(self, callable)


@method("map_")
def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """:meth:`apply_` with a function that is given an element of another tensor besides."""
    _check("map_", self, {"'other'": tensor})
    return _written(self, callable, tensor)


@method("map2_")
def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """:meth:`apply_` with a function that is given elements of two other tensors besides."""
    _check("map2_", self, {"argument 'x'": x, "argument 'y'": y})
    return _written(self, callable, x, y)


@method("const_data_ptr")
def const_data_ptr(self: Tensor) -> int:
    """The address of the first element, of somebody who only reads."""
    return self.data_ptr()


@method("dim_order")
def dim_order(self: Tensor, *, ambiguity_check: bool | Sequence[Any] = False) -> tuple[int, ...]:
    """The dims in the order of their strides, the largest first."""
    strides = self.stride()
    order = sorted(range(self.ndim), key=lambda d: -strides[d])
    if ambiguity_check and len(set(strides)) < self.ndim:
        raise RuntimeError("The tensor does not have unique dim order, or cannot map to exact one "
                           "of the given memory formats.")
    return tuple(order)


@method("is_distributed")
def is_distributed(self: Tensor) -> bool:
    """Whether the tensor lies on several machines, which none does."""
    return False


def _same_elements(name: str, self: Tensor, sizes: Any) -> Tensor:
    warn(f"non-inplace {name} is deprecated")
    count = math.prod(sizes)
    if count != self.numel():
        shown = "x".join(map(str, sizes))
        raise RuntimeError(f"requested resize to {shown} ({count} elements in total), but the "
                           f"given tensor has a size of {'x'.join(map(str, self.shape))} "
                           f"({self.numel()} elements). autograd's resize can only change the "
                           "shape of a given tensor, while preserving the number of elements. ")
    return self.contiguous().view(sizes)


@method("resize")
def resize(self: Tensor, *sizes: int) -> Tensor:
    """The same elements in another shape; deprecated."""
    return _same_elements("resize", self, sizes)


@method("resize_as")
def resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """The same elements in the shape of another tensor; deprecated."""
    return _same_elements("resize_as", self, tuple(tensor.shape))
