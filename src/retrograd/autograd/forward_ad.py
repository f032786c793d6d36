"""Forward mode by hand: dual tensors inside a level."""

from __future__ import annotations

from contextvars import ContextVar
from typing import NamedTuple

from .. import transforms
from ..base.errors import wrong_type
from ..base.missing_names import refuse as _refuse
from ..base.modes import ACTIVE, MODE, Mode
from ..core.tensor import Tensor
from .grad_mode import _ModeSwitch

_data_level: ContextVar[int] = ContextVar("retrograd.dual_data_level", default=-1)
"""The level of the data, which differs for every opening; the public one is 0 when one is open."""


class UnpackedDualTensor(NamedTuple):
    """A dual tensor taken apart."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Open a level in which dual tensors can be made."""
    if _public_level() >= 0:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    level = transforms.next_level()
    outside = ACTIVE.get()
    try:
        ACTIVE.set((*outside, level))
        _data_level.set(level)
    except BaseException:  # an interrupt: nothing is open
        try:
            ACTIVE.set(outside)
        finally:
            _data_level.set(-1)
        raise
    return 0


def _public_level() -> int:
    return min(_data_level.get(), 0)


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level: its tangents are gone."""
    if level is None:
        level = _public_level()
    if level < 0:
        raise RuntimeError("Dual level must be a positive number.")
    if level != _public_level():
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was "
                           "created. This is not supported.")
    data_level = _data_level.get()
    outside = tuple([n for n in ACTIVE.get() if n != data_level])
    try:
        ACTIVE.set(outside)
    finally:
        _data_level.set(-1)


class dual_level:
    """A block in which forward mode is computed."""

    def __enter__(self) -> int:
        self._outside = ACTIVE.get()
        return enter_dual_level()

    def __exit__(self, *exc: object) -> None:
        try:
            exit_dual_level()
        finally:  # also after an interrupt
            try:
                ACTIVE.set(self._outside)
            finally:
                _data_level.set(-1)


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor with the values of ``tensor`` that carries ``tangent``."""
    if level is None:
        level = _public_level()
    if level < 0:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, "
                           "make sure to enter_dual_level() first.")
    for name, given in (("primal", tensor), ("tangent", tangent)):
        if not (given.is_floating_point() or given.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: "
                             f"{given.dtype}")
    if _data_level.get() in transforms.levels_of(tensor._data):
        raise RuntimeError("Making a dual Tensor based on a Tensor that already has a forward "
                           f"gradient at the same level {level} is not supported.")
    at = _data_level.get()
    if at in transforms.levels_of(tangent._data):
        raise RuntimeError("Setting a forward grad that itself has a forward gradient at the same "
                           f"level{level} is not supported.")
    transforms.check_tangent(tensor, tangent)
    kept = transforms.laid_out_as(tensor, tangent)
    dual = transforms.make_dual(tensor, kept, at)
    transforms.note_tangent(dual, at, kept)
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The value and the tangent of a tensor; None where it has no tangent."""
    if level is None:
        level = _public_level()
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        raise wrong_type("_unpack_dual", "dual", 1, "Tensor", tensor)
    at = _data_level.get()
    if not MODE.get().forward_grad or at not in transforms.levels_of(tensor._data):
        return UnpackedDualTensor(tensor, None)
    primal, tangent = transforms.dual_primal(tensor, at), transforms.known_tangent(tensor, at)
    primal._vc = tensor._counter()
    return UnpackedDualTensor(
        primal, transforms.dual_tangent(tensor, at) if tangent is None else tangent)


class _set_fwd_grad_enabled(_ModeSwitch):
    """Switch forward mode on or off."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def clone(self) -> _set_fwd_grad_enabled:
        return _set_fwd_grad_enabled(self.mode)

    def switched(self, mode: Mode) -> Mode:
        return mode.but(forward_grad=self.mode)


def _is_fwd_grad_enabled() -> bool:
    return MODE.get().forward_grad


__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual",
           "unpack_dual"]


def __getattr__(name: str) -> int:
    """The level that is open, by the name that it has in PyTorch; -1 outside of one."""
    if name == "_current_level":
        return _public_level()
    _refuse(__name__, name)
