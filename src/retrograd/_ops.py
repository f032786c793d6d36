"""PyTorch's names of ops, ``torch.ops.aten.mm.default``, for the functions that they are here."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from .base.missing_names import suggest_names as _suggest_names
from .core.op import PUBLIC
from .core.tensor import Tensor


class OpOverload:
    """One form of an op; the forms of an op are one function, and equal to it."""

    def __init__(self, name: str, overload: str, function: Callable[..., Any]) -> None:
        self._name, self._overloadname, self._function = name, overload, function

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        return OpOverloadPacket(self._name, self._function)

    def name(self) -> str:
        return f"aten::{self._name}" + ("" if self._overloadname == "default"
                                        else f".{self._overloadname}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return self._function is (other._function if isinstance(other, OpOverload) else other)

    def __hash__(self) -> int:
        return hash(self._function)

    def __str__(self) -> str:
        return f"aten.{self._name}.{self._overloadname}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='aten.{self._name}', overload='{self._overloadname}')>"


class OpOverloadPacket:
    """An op of which the form is not said; its attributes are its forms."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self._name, self._function = name, function

    def __getattr__(self, overload: str) -> OpOverload:
        if overload.startswith("__"):
            raise AttributeError(overload)
        return OpOverload(self._name, overload, self._function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __str__(self) -> str:
        return f"aten.{self._name}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self._name}')>"


class _Aten:
    """The namespace of PyTorch's own ops."""

    @functools.cache  # noqa: B019 - there is one
    def __getattr__(self, name: str) -> OpOverloadPacket:
        for function in _candidates(name):
            if callable(function):
                return OpOverloadPacket(name, function)
        raise AttributeError(f"there is no op called aten::{name} here")


def _candidates(name: str) -> Iterator[Any]:
    """What may be meant by the name of an op."""
    for space, functions in PUBLIC.items():
        prefix = f"{space}_" if space in ("linalg", "special", "fft") else ""
        if name.startswith(prefix):
            yield functions.get(name.removeprefix(prefix))
    if not name.startswith("__"):
        yield vars(Tensor).get(name)


aten = _Aten()

__all__ = ["OpOverload", "OpOverloadPacket", "aten"]

_suggest_names(__name__)
