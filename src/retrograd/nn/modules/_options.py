"""Layers that are printed with their options, and families of layers: for 1, 2 and 3 dimensions,
or for functions that take the same arguments."""

from typing import Any, ClassVar

from ...core.tensor import Tensor
from .. import functional as F
from .module import Module

_UNSHOWN = ("inplace", "training", "return_indices")


class WithOptions(Module):
    """A layer whose class names its options: ``class Flatten(Shown, options="start_dim end_dim")``.
    """

    _options: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, options: str | None = None, **others: Any) -> None:
        super().__init_subclass__(**others)
        if options is not None:
            cls._options = tuple(options.split())


class Shown(WithOptions):
    """A layer that prints its options, and after them whether it overwrites its input."""

    def extra_repr(self) -> str:
        shown = [f"{name}={getattr(self, name)}" for name in self._options if name not in _UNSHOWN]
        return ", ".join([*shown, "inplace=True"] if getattr(self, "inplace", False) else shown)


class Applying(WithOptions):
    """A layer that calls a function of its own: ``class Mish(_InPlace, function="mish")``."""

    _function: ClassVar[Any]

    def __init_subclass__(cls, function: str | None = None, **others: Any) -> None:
        super().__init_subclass__(**others)
        if function is not None:
            cls._function = staticmethod(getattr(F, function))


class Handing(Applying, Shown):
    """A layer that hands its function the options its class names, behind the input."""

    def forward(self, input: Tensor) -> Any:
        return self._function(input, *[getattr(self, name) for name in self._options])


class OfDims(Module):
    """A layer for one number of dimensions: ``class Conv2d(_Conv, dims=2)``.

    A family that names a function, ``class _Conv(OfDims, function="conv")``, gets the one of its
    dimensions, here ``F.conv2d``, as ``_function``.
    """

    dims: ClassVar[int]
    _family: ClassVar[str | None] = None
    _function: ClassVar[Any]

    def __init_subclass__(cls, dims: int | None = None, function: str | None = None,
                          **others: Any) -> None:
        super().__init_subclass__(**others)
        cls._family = function or cls._family
        if dims is not None:
            cls.dims = dims
            if cls._family is not None:
                cls._function = staticmethod(getattr(F, f"{cls._family}{dims}d"))
