"""Layers that are printed with their options."""

from typing import Any, ClassVar

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
