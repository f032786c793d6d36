"""Modules that hold other modules or parameters."""

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Self

from ...base.warning import warn
from ...core.tensor import Tensor
from ..parameter import Parameter
from .module import Module, _addindent

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


def _position(index: Any, length: int) -> int:
    """Return ``index`` counted from the start, or raise as PyTorch's containers do."""
    index = operator.index(index)
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of range")
    return index % length


class Container(Module):
    """Modules under names, from before every module could hold others."""

    def __init__(self, **kwargs: Any) -> None:
        warn("`nn.Container` is deprecated. All of its functionality is now implemented "
             "in `nn.Module`. Subclass that instead.", FutureWarning)
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


class _ModuleSequence(Module):
    """What Sequential and ModuleList share: submodules named by their position."""

    def _renumber(self, modules: Iterable[Module]) -> None:
        self._modules = {str(place): module for place, module in enumerate(modules)}

    def _key_of(self, index: Any) -> str:
        return list(self._modules)[_position(index, len(self))]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._key_of(index), module)

    def __delitem__(self, index: int | slice) -> None:
        if isinstance(index, slice):
            for key in list(self._modules)[index]:
                delattr(self, key)
        else:
            delattr(self, self._key_of(index))
        self._renumber(self._modules.values())

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def append(self, module: Module) -> Self:
        """Add ``module`` at the end."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key: int | slice) -> Module:
        """Remove the module at ``key`` and return it."""
        module = self[key]  # type: ignore[index]
        del self[key]
        return module


class Sequential(_ModuleSequence):
    """Call modules one after another, each with the output of the one before.

    >>> from retrograd import nn
    >>> nn.Sequential(nn.ReLU(), nn.Tanh())
    Sequential(
      (0): ReLU()
      (1): Tanh()
    )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for place, module in enumerate(args):
                self.add_module(str(place), module)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._key_of(index)]

    def __add__(self, other: "Sequential") -> "Sequential":
        _check_sequential(other)
        return Sequential(*self, *other)

    def __iadd__(self, other: "Sequential") -> "Sequential":
        _check_sequential(other)
        return self.extend(list(other))

    def __mul__(self, other: int) -> "Sequential":
        self._check_factor(other)
        return Sequential(*(list(self) * other))

    def __rmul__(self, other: int) -> "Sequential":
        return self.__mul__(other)

    def __imul__(self, other: int) -> "Sequential":
        self._check_factor(other)
        return self.extend(list(self) * (other - 1))

    def _check_factor(self, factor: Any) -> None:
        if not isinstance(factor, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(factor)}")
        if factor <= 0:
            raise ValueError(f"Non-positive multiplication factor {factor} for {type(self)}")

    def insert(self, index: int, module: Module) -> "Sequential":
        """Add ``module`` before position ``index``."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        length = len(self)
        if not -length <= index <= length:
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def extend(self, sequential: Iterable[Module]) -> "Sequential":
        """Add the modules of ``sequential`` at the end."""
        for module in sequential:
            self.append(module)
        return self


def _check_sequential(other: Any) -> None:
    if not isinstance(other, Sequential):
        raise ValueError(
            f"add operator supports only objects of Sequential class, but {type(other)} is given.")


class ModuleList(_ModuleSequence):
    """A list of modules, all of them registered."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._modules[self._key_of(index)]

    def __iadd__(self, modules: Iterable[Module]) -> "ModuleList":
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> "ModuleList":
        return type(self)(chain(self, other))

    def insert(self, index: int, module: Module) -> None:
        """Add ``module`` before position ``index``."""
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)

    def extend(self, modules: Iterable[Module]) -> "ModuleList":
        """Add ``modules`` at the end."""
        if not isinstance(modules, Iterable):
            raise TypeError("ModuleList.extend should be called with an iterable, but got "
                            + type(modules).__name__)
        for module in list(modules):
            self.append(module)
        return self

    def __repr__(self) -> str:
        if len(self) == 0:
            return f"{self._get_name()}()"
        lines = [f"({first}): {_addindent(text)}" if first == last
                 else f"({first}-{last}): {last - first + 1} x {_addindent(text)}"
                 for first, last, text in _runs([repr(module) for module in self])]
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


def _runs(texts: list[str]) -> list[tuple[int, int, str]]:
    """Group neighbours that print alike into (first, last, text)."""
    runs: list[tuple[int, int, str]] = []
    for place, text in enumerate(texts):
        if runs and runs[-1][2] == text:
            runs[-1] = (runs[-1][0], place, text)
        else:
            runs.append((place, place, text))
    return runs


def _pairs(items: Any, owner: str) -> Iterator[tuple[Any, Any]]:
    """Yield the key/value pairs of a mapping or of an iterable of pairs."""
    if not isinstance(items, Iterable):
        name = "ParametersDict" if owner == "ParameterDict" else owner  # PyTorch's own spelling
        raise TypeError(
            f"{name}.update should be called with an iterable of key/value pairs, but got "
            + type(items).__name__)
    if isinstance(items, (Mapping, ModuleDict, ParameterDict)):
        sorts = owner == "ParameterDict" and not isinstance(items, (OrderedDict, ParameterDict))
        yield from sorted(items.items()) if sorts else items.items()
        return
    for place, item in enumerate(items):
        if not isinstance(item, Iterable):
            raise TypeError(f"{owner} update sequence element #{place} should be Iterable; is"
                            + type(item).__name__)
        pair = tuple(item)
        if len(pair) != 2:
            raise ValueError(
                f"{owner} update sequence element #{place} has length {len(pair)}; 2 is required")
        yield pair


class _Named(Module):
    """What ModuleDict and ParameterDict share: members under names, in order."""

    def __len__(self) -> int:
        return len(self.keys())

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, key: object) -> bool:
        return key in self.keys()

    def keys(self) -> Any:
        raise NotImplementedError


class ModuleDict(_Named):
    """A dictionary of modules, all of them registered."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def clear(self) -> None:
        """Remove every module."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Remove the module under ``key`` and return it."""
        return self._modules.pop(key)

    def keys(self) -> Any:
        """Return the names."""
        return self._modules.keys()

    def values(self) -> Any:
        """Return the modules."""
        return self._modules.values()

    def items(self) -> Any:
        """Return names and modules in pairs."""
        return self._modules.items()

    def update(self, modules: Any) -> None:
        """Add or replace modules from a mapping or from pairs."""
        for key, module in _pairs(modules, "ModuleDict"):
            self[key] = module


def _as_parameter(value: Any) -> Any:
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _describe(name: Any, value: Any, kind: Any) -> str:
    if not isinstance(value, Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    label = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(str(length) for length in value.shape)
    return f"  ({name}): {label} containing: [{kind(value)} of size {size}]"


class ParameterList(Module):
    """A list of parameters; tensors put into it become parameters."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            places = range(*index.indices(len(self)))
            return type(self)([self[place] for place in places])
        return getattr(self, str(_position(index, len(self))))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, str(_position(index, len(self))), _as_parameter(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter(self[place] for place in range(len(self)))

    def __iadd__(self, values: Iterable[Any]) -> "ParameterList":
        return self.extend(values)

    def append(self, value: Any) -> "ParameterList":
        """Add ``value`` at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> "ParameterList":
        """Add ``values`` at the end."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError("ParameterList.extend should be called with an iterable, but got "
                            + type(values).__name__)
        for value in values:
            self.append(value)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")

    def extra_repr(self) -> str:
        return "\n".join(_describe(place, value, lambda tensor: tensor.dtype)
                         for place, value in enumerate(self))


class ParameterDict(_Named):
    """A dictionary of parameters; tensors put into it become parameters."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string "
                f"(type is '{type(key).__name__}'). Open an issue on github if you need "
                "non-string keys.")
        self._keys[key] = None
        setattr(self, key, _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def keys(self) -> Any:
        """Return the names."""
        return self._keys.keys()

    def values(self) -> Iterator[Any]:
        """Return the parameters."""
        return (self[key] for key in self._keys)

    def items(self) -> Iterator[tuple[str, Any]]:
        """Return names and parameters in pairs."""
        return ((key, self[key]) for key in self._keys)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the parameter under ``key``, or ``default``."""
        return self[key] if key in self._keys else default

    def pop(self, key: str) -> Any:
        """Remove the parameter under ``key`` and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove the parameter that was put in last and return it with its name."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the parameter under ``key``, put there from ``default`` if there was none."""
        if key not in self._keys:
            self[key] = default
        return self[key]

    def copy(self) -> "ParameterDict":
        """Return a dictionary of the same parameters."""
        return ParameterDict(self)

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> "ParameterDict":
        """Return a dictionary that has ``default`` under each of ``keys``."""
        return ParameterDict((key, default) for key in keys)

    def __or__(self, other: "ParameterDict") -> "ParameterDict":
        joined = self.copy()
        joined.update(other)
        return joined

    def __ror__(self, other: "ParameterDict") -> "ParameterDict":
        joined = other.copy()
        joined.update(self)
        return joined

    def __ior__(self, other: "ParameterDict") -> Self:
        self.update(other)
        return self

    def clear(self) -> None:
        """Remove every parameter."""
        for key in list(self._keys):
            del self[key]

    def update(self, parameters: Any) -> None:
        """Add or replace parameters from a mapping or from pairs."""
        for key, value in _pairs(parameters, "ParameterDict"):
            self[key] = value

    def __call__(self, input: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")

    def extra_repr(self) -> str:
        return "\n".join(_describe(key, value, lambda tensor: tensor.type())
                         for key, value in self.items())
