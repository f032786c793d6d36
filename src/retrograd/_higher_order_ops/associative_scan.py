"""Running results of a function that may be applied in any grouping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..func import vmap
from ..ops.shapes.flipping import flip
from ..ops.shapes.joining import cat
from ..utils import _pytree

__all__ = ["associative_scan"]


def associative_scan(combine_fn: Callable[[Any, Any], Any], xs: Any, dim: int,
                     reverse: bool = False, combine_mode: str = "pointwise") -> Any:
    """The results of ``combine_fn`` from the first element along ``dim`` up to each, of a tree.

    The function is given trees of many pairs at once, ``"generic"`` ones without ``dim``. There are
    as many calls as the length has binary digits.
    """
    leaves, tree = _pytree.tree_flatten(xs)
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError("Combine_mode must either 'pointwise' or 'generic', but got "
                         f"{combine_mode}")
    if not leaves or not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise ValueError("xs leaves must be a Tensor, and there must be at least one")
    if any(leaf.shape[dim] != leaves[0].shape[dim] for leaf in leaves):
        raise ValueError("All xs leaves must at least have `dim` number of dimensions and scan "
                         "dimension > 0, of one length")
    leaves = [leaf.movedim(dim, 0) for leaf in leaves]
    combine = vmap(combine_fn) if combine_mode == "generic" else combine_fn

    def combined(earlier: list[Tensor], later: list[Tensor]) -> list[Tensor]:
        made = combine(_pytree.tree_unflatten(earlier, tree), _pytree.tree_unflatten(later, tree))
        return _pytree.tree_leaves(made)

    if reverse:
        leaves = [flip(leaf, (0,)) for leaf in leaves]
    distance, length = 1, leaves[0].shape[0]
    while distance < length:
        reached = combined([leaf[:-distance] for leaf in leaves],
                           [leaf[distance:] for leaf in leaves])
        leaves = [cat([leaf[:distance], part]) for leaf, part in zip(leaves, reached, strict=True)]
        distance *= 2
    if reverse:
        leaves = [flip(leaf, (0,)) for leaf in leaves]
    return _pytree.tree_unflatten([leaf.movedim(0, dim) for leaf in leaves], tree)
