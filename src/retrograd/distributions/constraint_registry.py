"""Which transform leads from all real numbers to a region."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import constraints, transforms
from .utils import NUMBERS

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Makes a transform for a region, by the region's class."""

    def __init__(self) -> None:
        self._registry: dict[type, Callable[[Any], Any]] = {}

    def register(self, constraint: Any, factory: Any = None) -> Any:
        """Have ``factory`` make the transforms for a class of regions; also as a decorator."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, constraints.Constraint):
            raise TypeError("Expected constraint to be either a Constraint subclass or instance, "
                            f"but got {constraint}")
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """The transform to a region."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _above(region: Any) -> Any:
    return transforms.ComposeTransform([
        transforms.ExpTransform(), transforms.AffineTransform(region.lower_bound, 1)])


def _below(region: Any) -> Any:
    return transforms.ComposeTransform([
        transforms.ExpTransform(), transforms.AffineTransform(region.upper_bound, -1)])


def _between(region: Any) -> Any:
    low, high = region.lower_bound, region.upper_bound
    if isinstance(low, NUMBERS) and isinstance(high, NUMBERS) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([
        transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


def _register_common(registry: ConstraintRegistry) -> None:
    """What both registries have, each made of its own transforms."""
    for region, factory in (
            (constraints.real, lambda _: transforms.identity_transform),
            (constraints.greater_than, _above), (constraints.greater_than_eq, _above),
            (constraints.less_than, _below), (constraints.interval, _between),
            (constraints.half_open_interval, _between),
            (constraints.corr_cholesky, lambda _: transforms.CorrCholeskyTransform()),
            (constraints.independent, lambda region: transforms.IndependentTransform(
                registry(region.base_constraint), region.reinterpreted_batch_ndims)),
            (constraints.cat, lambda region: transforms.CatTransform(
                [registry(each) for each in region.cseq], region.dim, region.lengths)),
            (constraints.stack, lambda region: transforms.StackTransform(
                [registry(each) for each in region.cseq], region.dim))):
        registry.register(region, factory)


_register_common(biject_to)
_register_common(transform_to)
biject_to.register(constraints.simplex, lambda _: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda _: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda _: transforms.LowerCholeskyTransform())
for _region in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_region, lambda _: transforms.PositiveDefiniteTransform())
