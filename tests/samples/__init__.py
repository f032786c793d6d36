"""Sample calls of every op: the generated tests run each op on its samples.

A family's module registers calls like this::

    samples("mul", call(array(3, 4), array(4)), call(array(3), 2.5))

An array is a recipe, so that the same call can be made in any library and dtype.
"""

from __future__ import annotations

import importlib
import pkgutil
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from retrograd.ops import late

late.load_all()


@dataclass(frozen=True)
class Recipe:
    """How to make one array argument."""

    shape: tuple[int, ...]
    low: float = -2.0
    high: float = 2.0
    # "float": the dtype under test; "distinct": the same without ties; "complex": complex numbers
    # of that precision; "int"; "int32"; "bool"
    kind: str = "float"
    grad: bool = True
    seed: int = 0

    @property
    def differentiable(self) -> bool:
        return self.grad and self.kind not in ("int", "int32", "bool")

    def array(self, dtype: str) -> np.ndarray:
        identity = repr((self.shape, self.kind, self.seed))
        random = np.random.RandomState(zlib.crc32(identity.encode()))
        if self.kind.startswith("int"):
            found = random.randint(int(self.low), int(self.high), self.shape)
            return found.astype(np.int32 if self.kind == "int32" else np.int64)
        if self.kind == "bool":
            return random.rand(*self.shape) < 0.5
        if self.kind == "distinct":
            count = int(np.prod(self.shape))
            values = self.low + (self.high - self.low) * (random.permutation(count) + 0.5) / max(
                count, 1)
            found = values.reshape(self.shape)
        else:
            found = self.low + (self.high - self.low) * random.rand(*self.shape)
        if self.kind == "complex":
            dtype = {"float64": "complex128", "float32": "complex64"}.get(dtype, dtype)
        if dtype.startswith("complex"):
            other = self.low + (self.high - self.low) * random.rand(*self.shape)
            return np.asarray(found + 1j * other).astype(dtype)
        return np.asarray(found, dtype=dtype)


@dataclass
class Call:
    """One call of an op."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    smooth: bool = True  # whether the second derivative exists where the call is made
    measured: bool = True  # whether finite differences are what the gradient is meant to be

    def build(self, lib: Any, dtype: str = "float64", grad: bool = True) -> tuple[list, dict, list]:
        """Arguments for ``lib`` (torch or retrograd), and the list of differentiable tensors."""
        leaves: list[Any] = []

        def make(value: Any) -> Any:
            if isinstance(value, Recipe):
                made = lib.tensor(value.array(dtype))
                if grad and value.differentiable:
                    made.requires_grad_()
                    leaves.append(made)
                return made
            if isinstance(value, (list, tuple)):
                return type(value)(make(v) for v in value)
            return value

        args = [make(a) for a in self.args]
        kwargs = {k: make(v) for k, v in self.kwargs.items()}
        return args, kwargs, leaves


@dataclass
class Entry:
    """All that the tests know of one op."""

    name: str  # "mul", "nn.functional.relu", "linalg.norm", or "Tensor.unfold" for a method
    calls: list[Call]
    complex: bool = False  # whether the op takes complex numbers
    twice: bool = True  # whether its second derivative is to be checked
    errors: list[tuple[Call, str]] = field(default_factory=list)


ENTRIES: dict[str, Entry] = {}


def array(*shape: int, **options: Any) -> Recipe:
    return Recipe(shape, **options)


def index(*shape: int, high: int, low: int = 0, seed: int = 0) -> Recipe:
    return Recipe(shape, low, high, "int", False, seed)


def mask(*shape: int, seed: int = 0) -> Recipe:
    return Recipe(shape, 0, 1, "bool", False, seed)


def call(*args: Any, **kwargs: Any) -> Call:
    return Call(args, kwargs)


def kinked(sample: Call) -> Call:
    """A call at a point where the first derivative jumps: ties, ends of intervals."""
    sample.smooth = False
    return sample


def unmeasured(sample: Call) -> Call:
    """A call whose gradient is not the derivative of its value, by definition or by rounding."""
    sample.measured = False
    return sample


def samples(name: str, *calls: Call, complex: bool = False, twice: bool = True) -> None:
    """Register the sample calls of an op."""
    ENTRIES[name] = Entry(name, list(calls), complex, twice)


def resolve(lib: Any, name: str) -> Any:
    """The function called ``name`` in a library."""
    found = lib
    for part in name.split("."):
        found = getattr(found, part)
    return found


def load_all() -> dict[str, Entry]:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return ENTRIES
