"""Layers that are printed with their options, and families of layers: for 1, 2 and 3 dimensions,
or for functions that take the same arguments."""

from typing import Any, ClassVar

from .. import functional as F
from .module import Module


class Shown(Module):
    """A layer that prints the options its class names: ``class ELU(Shown, options="alpha")``.

    After them it says whether it overwrites its input, where that is an option too.
    """

    _options: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, options: str | None = None, **others: Any) -> None:
        super().__init_subclass__(**others)
        if options is not None:
            cls._options = tuple(options.split())

    def extra_repr(self) -> str:
        shown = [f"{name}={getattr(self, name)}" for name in self._options]
        return ", ".join([*shown, "inplace=True"] if getattr(self, "inplace", False) else shown)


def shown_if(module: Any, **wanted: Any) -> str:
    """The options of a layer that are to be shown behind others: those that are not as usual."""
    return "".join([f", {name}={getattr(module, name)}" for name in wanted if wanted[name]])


class Applying(Module):
    """A layer that calls a function of its own: ``class Mish(_InPlace, function="mish")``."""

    _function: ClassVar[Any]

    def __init_subclass__(cls, function: str | None = None, **others: Any) -> None:
        super().__init_subclass__(**others)
        if function is not None:
            cls._function = staticmethod(getattr(F, function))


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
