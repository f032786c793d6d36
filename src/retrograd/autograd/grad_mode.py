"""Grad modes: context managers, decorators and functions that switch recording."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Self, TypeVar, overload

from ..base.errors import wrong_type
from ..base.modes import (
    GRAD,
    GRAD_LAYOUT,
    MODE,
    MULTITHREADED,
    NO_GRAD,
    Mode,
    ReplayedViews,
    enter,
)
from ..base.warning import warn
from ..core.safe_zeros import SafeZeros
from ..core.tensor import Tensor

_F = TypeVar("_F", bound=Callable[..., Any])


class _ModeSwitch:
    """A context manager that is a decorator too, also of generators, coroutines and classes."""

    _previous: list[Mode]
    _settings: list[bool]

    def switched(self, mode: Mode) -> Mode:
        """``mode`` with this switch applied."""
        raise NotImplementedError

    def clone(self) -> _ModeSwitch:
        """A fresh switch of the same kind, for one call of what it decorates."""
        return type(self)()

    def __enter__(self) -> None:
        previous = MODE.get()
        self.__dict__.setdefault("_previous", []).append(previous)
        enter(MODE, self.switched(previous))

    def __exit__(self, *exc: object) -> None:
        previous = self._previous[-1]
        try:
            self._previous.pop()
        finally:
            MODE.set(previous)

    def __call__(self, function: _F) -> _F:
        if inspect.isclass(function):
            return _decorate_class(self, function)
        if inspect.isgeneratorfunction(function):
            return _decorate_generator(self, function)
        if inspect.iscoroutinefunction(function):
            return _decorate_coroutine(self, function)
        if inspect.isasyncgenfunction(function):
            return _decorate_async_generator(self, function)

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]


def _decorate_class(switch: _ModeSwitch, cls: Any) -> Any:

    warn("Decorating classes is deprecated and will be disabled in future versions. You "
         "should only decorate functions or methods. To preserve the current behavior of "
         "class decoration, you can directly decorate the `__init__` method and nothing "
         "else.", FutureWarning)
    cls.__init__ = switch(cls.__init__)
    return cls


def _decorate_coroutine(switch: _ModeSwitch, function: Callable[..., Any]) -> Any:
    @functools.wraps(function)
    async def wrapped(*args: Any, **kwargs: Any) -> Any:
        with switch.clone():
            return await function(*args, **kwargs)

    return wrapped


def _decorate_async_generator(switch: _ModeSwitch, function: Callable[..., Any]) -> Any:
    @functools.wraps(function)
    async def wrapped(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        try:
            with switch.clone():
                item = await generator.asend(None)
            while True:
                try:
                    received = yield item
                except GeneratorExit:
                    with switch.clone():
                        await generator.aclose()
                    raise
                except BaseException as error:
                    with switch.clone():
                        item = await generator.athrow(error)
                else:
                    with switch.clone():
                        item = await generator.asend(received)
        except StopAsyncIteration:
            return

    return wrapped


def _decorate_generator(switch: _ModeSwitch, function: Callable[..., Any]) -> Any:
    """Each resumption runs under the mode; the code between them does not."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        try:
            with switch.clone():
                item = generator.send(None)
            while True:
                try:
                    received = yield item
                except GeneratorExit:
                    with switch.clone():
                        generator.close()
                    raise
                except BaseException as error:
                    with switch.clone():
                        item = generator.throw(error)
                else:
                    with switch.clone():
                        item = generator.send(received)
        except StopIteration as stop:
            return stop.value

    return wrapped


class _NoArguments(_ModeSwitch):
    """May also be written without parentheses as a decorator."""

    @overload
    def __new__(cls, function: None = None) -> Self: ...

    @overload
    def __new__(cls, function: _F) -> _F: ...  # type: ignore[misc]

    def __new__(cls, function: Any = None) -> Any:
        made = super().__new__(cls)
        return made if function is None else made(function)

    def __init__(self, function: Any = None) -> None:
        pass


class no_grad(_NoArguments):
    """Switch recording off."""

    def switched(self, mode: Mode) -> Mode:
        return NO_GRAD if mode is GRAD else mode.but(grad=False)


class enable_grad(_NoArguments):
    """Switch recording on."""

    def switched(self, mode: Mode) -> Mode:
        return GRAD if mode is NO_GRAD else mode.but(grad=True)


class set_grad_enabled(_ModeSwitch):
    """Switch recording on or off, at once; as a context manager the old mode returns after it."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise wrong_type("set_grad_enabled", "enabled", 1, "bool", mode)
        self.mode = mode
        self._previous = [MODE.get()]
        enter(MODE, self.switched(MODE.get()))

    def switched(self, mode: Mode) -> Mode:
        return mode.but(grad=self.mode)

    def clone(self) -> _ModeSwitch:
        return set_grad_enabled(self.mode)

    def __enter__(self) -> None:
        try:
            MODE.set(self.switched(MODE.get()))
        except BaseException:
            MODE.set(self._previous[0])
            raise

    def __exit__(self, *exc: object) -> None:
        after = self._previous[0]
        try:  # other switches may have been changed for good
            after = MODE.get().but(grad=after.grad)
        finally:
            MODE.set(after)

    def __call__(self, function: _F) -> _F:
        # As a decorator it switches nothing until the function is called.
        MODE.set(self._previous[0])
        return super().__call__(function)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"


class inference_mode(_ModeSwitch):
    """Switch recording off for good: tensors made inside never take part in autograd."""

    @overload
    def __new__(cls, mode: bool = True) -> Self: ...

    @overload
    def __new__(cls, mode: _F) -> _F: ...  # type: ignore[misc]

    def __new__(cls, mode: Any = True) -> Any:
        made = super().__new__(cls)
        if isinstance(mode, bool):
            return made
        made.mode = True
        return made(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def switched(self, mode: Mode) -> Mode:
        return mode.but(inference=self.mode, grad=not self.mode)

    def clone(self) -> _ModeSwitch:
        return type(self)(self.mode)


def is_grad_enabled() -> bool:
    """Whether operations are being recorded."""
    return MODE.get().grad


def is_inference_mode_enabled() -> bool:
    """Whether inference mode is on."""
    return MODE.get().inference


class _unsafe_preserve_version_counter:
    """Let writes inside the block go uncounted; whoever uses it answers for the gradients."""

    def __init__(self, tensors: Tensor | tuple[Tensor, ...]) -> None:
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
        self.versions = [t._version for t in self.tensors]

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        for tensor, version in zip(self.tensors, self.versions, strict=True):
            tensor._counter().n = version


class _Setting(_ModeSwitch):
    """Switches a setting at once; as a context manager or decorator the old one returns."""

    setting: ContextVar[bool]

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self.previous = self.setting.get()
        self.setting.set(bool(mode))

    def __enter__(self) -> None:
        self.setting.set(bool(self.mode))

    def __exit__(self, *exc: object) -> None:
        self.setting.set(self.previous)

    def clone(self) -> _ModeSwitch:
        return type(self)(self.mode)

    def __call__(self, function: _F) -> _F:
        self.setting.set(self.previous)  # nothing is switched until the function is called
        return super().__call__(function)


class set_multithreading_enabled(_Setting):
    """Accepted for PyTorch's sake: backward always runs in the thread that called it."""

    setting = MULTITHREADED


class _force_original_view_tracking(_Setting):
    """Whether a view whose base was written to is made again by the operations that made it."""

    setting = ReplayedViews.setting

    def __init__(self, mode: bool) -> None:
        ReplayedViews.asked_for = True
        super().__init__(mode)


class safe_where(_ModeSwitch):
    """Run backward passes in which a gradient of exactly zero stays zero, whatever it meets.

    The branch that a ``where``, a ``clamp`` or a mask did not take then has gradients of zero, also
    where its derivative is infinite, and 0 x inf makes no NaN of it.

    >>> import retrograd as torch
    >>> x = torch.tensor([0.0, 4.0], requires_grad=True)
    >>> with safe_where():
    ...     torch.where(x > 0, x.sqrt(), 0.0).sum().backward()
    >>> x.grad
    tensor([0.0000, 0.2500])
    """

    def __enter__(self) -> None:
        SafeZeros.asked_for = True
        before = SafeZeros.setting.get()
        self.__dict__.setdefault("_settings", []).append(before)
        enter(SafeZeros.setting, True)

    def __exit__(self, *exc: object) -> None:
        before = self._settings[-1]
        try:
            self._settings.pop()
        finally:
            SafeZeros.setting.set(before)


class enforce_grad_layout_policy(_Setting):
    """Whether the first gradient of a leaf gets the leaf's strides, rather than keep its own."""

    setting = GRAD_LAYOUT


def is_multithreading_enabled() -> bool:
    """What :func:`set_multithreading_enabled` was last given."""
    return MULTITHREADED.get()


def is_view_replay_enabled() -> bool:
    """Whether views get their history back by the operations that made them."""
    return ReplayedViews.setting.get()
