"""Random generators, with the same numbers as PyTorch's for the same seed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any

from .backend import xp
from .backend.interface import library_of
from .backend.numpy.streams import DEFAULT_SEED, Stream
from .base import dtypes
from .base.missing_names import suggest_names as _suggest_names
from .base.modes import MODE
from .core.tensor import Tensor, wrap


class Generator:
    """A stream of random numbers that can be seeded, saved and restored."""

    __slots__ = ("__weakref__", "stream")

    def __init__(self, device: Any = "cpu"):
        dtypes.as_device(device)
        self.stream = Stream(DEFAULT_SEED)

    @property
    def device(self) -> dtypes.device:
        return dtypes.CPU

    def manual_seed(self, seed: int) -> Generator:
        """Restart from ``seed``."""
        self.stream.seed(_seed_number(seed))
        return self

    def seed(self) -> int:
        """Restart from a seed taken from the system, and return it."""
        number = fresh_seed()
        self.stream.seed(number)
        return number

    def initial_seed(self) -> int:
        """The seed this generator was last started from."""
        return self.stream.initial_seed

    def get_state(self) -> Tensor:
        """The whole state as a tensor of bytes."""
        return wrap(self.stream.get_state())

    def set_state(self, new_state: Tensor) -> Generator:
        """Continue from a state that :meth:`get_state` returned."""
        if not isinstance(new_state, Tensor):
            raise TypeError("expected a torch.ByteTensor, but got "
                            f"{type(new_state).__module__}.{type(new_state).__name__}"
                            if type(new_state).__module__ != "builtins" else
                            f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        self.stream.set_state(new_state._array())
        return self

    def clone_state(self) -> Generator:
        """A generator that continues as this one will."""
        twin = Generator()
        twin.stream.set_state(self.stream.get_state())
        return twin

    def graphsafe_get_state(self) -> Generator:
        """Refused: there are no graphs of a GPU to be safe for."""
        raise NotImplementedError("graphsafe_get_state is not supported in this Generator")

    def graphsafe_set_state(self, state: Generator) -> None:
        """Refused, likewise."""
        raise NotImplementedError("graphsafe_set_state is not supported in this Generator")

    def __getstate__(self) -> Any:
        return self.stream

    def __setstate__(self, stream: Any) -> None:
        self.stream = stream

    def __reduce__(self) -> Any:
        return (_restored, (self.stream,))


def _restored(stream: Stream) -> Generator:
    made = Generator()
    made.stream = stream
    return made


def fresh_seed() -> int:
    """A seed nobody can foresee."""
    return int.from_bytes(os.urandom(8), "little") >> 11


def _seed_number(seed: Any) -> int:
    if isinstance(seed, float):
        raise RuntimeError("manual_seed expected a long, but got float")
    try:
        return int(seed)
    except (TypeError, ValueError):
        raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}"
                           ) from None


default_generator = Generator().manual_seed(fresh_seed())


VMAPS: ContextVar[tuple[tuple[str, int, int], ...]] = ContextVar("retrograd.vmaps", default=())
"""How each vmap that is being run treats random draws: (randomness, level, batch size)."""


def _check_vmaps(generator: Generator | None) -> None:
    if any(how == "error" for how, _, _ in VMAPS.get()):
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the "
            "'same' or 'different' randomness flags on vmap or perform the randomness operation "
            "out of vmap")
    journal = MODE.get().journal
    if journal is not None:
        journal.note_draw(default_generator if generator is None else generator)


def stream_of(generator: Generator | None, function: str = "random") -> Stream:
    """The stream to draw from: the given generator's, or the default one's."""
    if VMAPS.get():
        _check_vmaps(generator)
    if generator is None:
        return default_generator.stream
    if not isinstance(generator, Generator):
        raise TypeError(f"{function}() received an invalid combination of arguments - got "
                        f"generator={type(generator).__name__}, expected torch.Generator")
    return generator.stream


class _Moved:
    """A stream whose draws are arrays of another library: drawn as ever, and moved there."""

    def __init__(self, stream: Stream, library: Any):
        self._stream, self._library = stream, library

    def __getattr__(self, name: str) -> Any:
        library, draw = self._library, getattr(self._stream, name)

        def here(value: Any) -> Any:
            return library.to_numpy(value) if library.is_array(value) else value

        return lambda *given, **named: library.asarray(
            draw(*map(here, given), **{key: here(value) for key, value in named.items()}))


def stream_for(data: Any, generator: Generator | None = None) -> Any:
    """The stream to draw from beside ``data``: what it draws are arrays of the same library."""
    library, stream = library_of(data), stream_of(generator)
    return stream if library is xp else _Moved(stream, library)


stream_of.in_library = lambda library: lambda *given: _Moved(  # type: ignore[attr-defined]
    stream_of(*given), library)


def manual_seed(seed: int) -> Generator:
    """Restart the default generator from ``seed``."""
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Restart the default generator from a seed taken from the system, and return it."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed the default generator was last started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The default generator's whole state as a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Continue the default generator from a state that :func:`get_rng_state` returned."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices: Iterable[Any] | None = None, enabled: bool = True,
             _caller: str = "fork_rng", _devices_kw: str = "devices",
             device_type: str = "cpu") -> Iterator[None]:
    """Put the default generator's state back at the end of the block."""
    if not enabled:
        yield
        return
    before = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(before)


__all__ = ["Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed",
           "manual_seed", "seed", "set_rng_state", "stream_of"]

_suggest_names(__name__)
