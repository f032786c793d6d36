"""What checkers take expressions for."""

from typing import Any, assert_type

import retrograd as torch
import retrograd.nn.functional as F
from retrograd import Size, Tensor, return_types

x = torch.ones(2, 3)

assert_type(torch.float32, torch.dtype)
assert_type(torch.long, torch.dtype)
assert_type(torch.strided, torch.layout)
assert_type(torch.pi, float)
assert_type(x.shape, Size)
assert_type(x.shape[0], int)
assert_type(x.shape[1:], Size)
assert_type([n + 1 for n in x.shape], list[int])
assert_type(x.size(), Size)
assert_type(x.size(0), int)
assert_type(x.stride(), tuple[int, ...])
assert_type(x.dtype, torch.dtype)
assert_type(x.grad, Tensor | None)
assert_type(x.is_leaf, bool)
assert_type(x.item(), Any)

assert_type(x + 1, Tensor)
assert_type(1 - x, Tensor)
assert_type(2.0 / x, Tensor)
assert_type(x**2, Tensor)
assert_type(2**x, Tensor)
assert_type(x == 1, Tensor)
assert_type(x < x, Tensor)
assert_type(-x, Tensor)
assert_type(x @ x.T, Tensor)
assert_type(x[0, ..., None], Tensor)

assert_type(x.sum(), Tensor)
assert_type(x.sum(0, keepdim=True), Tensor)
assert_type(x.max(), Tensor)
assert_type(x.max(0), return_types.max)
assert_type(torch.max(x, dim=1).values, Tensor)
assert_type(torch.max(x, x), Tensor)
assert_type(torch.sort(x), return_types.sort)
assert_type(torch.linalg.qr(x).Q, Tensor)
assert_type(x.split(1), tuple[Tensor, ...])
assert_type(x.nonzero(), Tensor)
assert_type(x.nonzero(as_tuple=True), tuple[Tensor, ...])
assert_type(torch.allclose(x, x), bool)
assert_type(torch.autograd.grad(x, x), tuple[Tensor, ...])
assert_type(x.add_(1), Tensor)
assert_type(torch.nn.Parameter(x).detach(), Tensor)

assert_type(F.relu(x), Tensor)
assert_type(F.max_pool2d(x, 2), Tensor)
assert_type(F.max_pool2d(x, 2, return_indices=True), tuple[Tensor, Tensor])
assert_type(torch.special.erf(x), Tensor)


@torch.no_grad()
def doubled(value: Tensor) -> Tensor:
    return value * 2


assert_type(doubled(x), Tensor)
