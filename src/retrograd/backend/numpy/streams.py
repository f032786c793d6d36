"""Random numbers as PyTorch's CPU generator draws them: one seed, one stream, both libraries.

Every method consumes the same words of the Mersenne Twister, in the same order, as the PyTorch
kernel that it stands for, so that streams stay in step over any mixture of calls. Integers,
uniforms, permutations and Bernoulli draws are equal bit for bit; values that pass through a
logarithm or a sine agree to the rounding of those functions.

PyTorch swaps some kernels (``bernoulli_`` with a scalar probability, ``exponential_``, and what
builds on them) for Intel's own on Intel processors; those draw from another generator. The
portable kernels, which every other processor runs, are the ones reproduced here.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ...base.errors import C_NAMES
from ...base.locks import new_lock
from ...base.warning import warn
from . import FLOAT32, narrow, quiet, rejection

__all__ = ["DEFAULT_SEED", "STATE_BYTES", "Stream"]

DEFAULT_SEED = 67280421310721

_TWISTER_WORDS = 624
_STATE = np.dtype([
    ("seed", "<u8"), ("left", "<i4"), ("seeded", "<i4"), ("next", "<u8"),
    ("words", "<u8", _TWISTER_WORDS), ("normal_x", "<f8"), ("normal_y", "<f8"),
    ("normal_rho", "<f8"), ("normal_is_valid", "<i4"), ("padding", "<i4"), ("float_normal", "V8")])
STATE_BYTES = _STATE.itemsize

_WORD = 0xFFFF_FFFF
_LONG = 0xFFFF_FFFF_FFFF_FFFF
_LOW24 = np.uint64(2**24 - 1)
_MANTISSA32 = np.uint32(2**24 - 1)
_MANTISSA64 = np.uint64(2**53 - 1)
_FEW_WORDS = 2048
_SMALL_DRAW = 64
_NORMAL_BLOCK = 16
# From this range on, the bias of a 32-bit word modulo the range would be noticeable.
_WIDE_RANGE = 2**28
# PyTorch shuffles from this size on with an algorithm of its own.
_HUGE_PERMUTATION = _WORD // 20
_FEW_SWAPS = 256
# From this many on, results of algorithms that decide as they go are drawn from blocks of uniforms.
_FEW_RESULTS = 64
_BLOCK = 1024
_CACHED_VALUES = 2**14

_MANTISSA_BITS = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}
_COMPLEX_PARTS = {"complex64": "float32", "complex128": "float64"}
_FLOATS = frozenset(_MANTISSA_BITS)
_WIDE = frozenset({"float32", "float64"})
# Below it, which only negative concentrations are, a power of a uniform may overflow.
_LEAST_POWER = -19.0
_THIRD = np.float32(1) / np.float32(3)  # PyTorch writes it in single precision
_COUNTS = _FLOATS | {"uint8", "int8", "int16", "int32", "int64"}
_FLAGS = _COUNTS | {"bool"}


class _Kind(NamedTuple):
    """What drawing needs to know of a dtype, looked up once because NumPy is slow to tell."""

    dtype: np.dtype
    name: str
    parts: _Kind | None
    digits: int  # of the mantissa; 0 for what is not floating
    highest: float
    lowest: float

    @property
    def alias(self) -> str:
        from ...base.dtypes import from_numpy_dtype

        return from_numpy_dtype(self.dtype).alias

    @property
    def c_name(self) -> str:
        return C_NAMES[self.name]

    @property
    def last_integer(self) -> int:
        """The largest integer up to which the dtype holds all of them."""
        return 2**self.digits if self.digits else int(self.highest)

    def require(self, kernel: str, allowed: frozenset[str]) -> None:
        if self.name not in allowed:
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{self.alias}'")


@functools.cache
def _kind(dtype: Any) -> _Kind:
    if isinstance(dtype, str) and dtype == "bfloat16":
        dtype = narrow("bfloat16")
    dtype = np.dtype(dtype)
    name = dtype.name
    if name in _COMPLEX_PARTS:
        parts = _kind(_COMPLEX_PARTS[name])
        return _Kind(dtype, name, parts, 0, parts.highest, parts.lowest)
    if name in _FLOATS:
        highest = (2 - 2.0**-7) * 2.0**127 if name == "bfloat16" else float(np.finfo(dtype).max)
        return _Kind(dtype, name, None, _MANTISSA_BITS[name], highest, -highest)
    if name == "bool":
        return _Kind(dtype, name, None, 0, 1, 0)
    limits = np.iinfo(dtype)
    return _Kind(dtype, name, None, 0, int(limits.max), int(limits.min))


def seed_global_stream(base_seed: int, worker: int) -> None:
    """Seed ``np.random`` for one of several workers, as PyTorch's loaders do."""
    state: Any = np.random
    state.get_bit_generator().lock._at_fork_reinit()  # a thread may have held it at the fork
    np.random.seed(words_for_worker(base_seed, worker))


def words_for_worker(base_seed: int, worker: int) -> list[int]:
    """The seed of ``np.random`` in one of several workers."""
    words = [worker, base_seed & _WORD, base_seed >> 32, 0]
    return np.random.SeedSequence(words).generate_state(4).tolist()


class _Ahead:
    """The words of the twister's block that were yet to be used.

    A draw that is repeated finds its next results ``ready``, for as long as words are used for
    nothing else: so many uniforms each, or so many normal numbers.
    """

    __slots__ = ("count", "normals", "ready", "repeated", "uniforms", "units", "used", "words")

    def __init__(self, words: np.ndarray, repeated: Any = (None, 0)) -> None:
        self.words, self.count, self.used = words, words.size, 0
        self.units: np.ndarray | None = None  # the float32 uniforms of all words
        # The last draw that found nothing ready, and how many times as much is made the next time.
        self.repeated = repeated
        self.uniforms: int | None = None
        self.normals: int | None = None
        self.ready: Iterator[np.ndarray] = iter(())

    def times(self, *draw: Any) -> int:
        """How many draws are worth their while to be made at once."""
        before, times = self.repeated
        times = min(2 * times, _TWISTER_WORDS) if draw == before else 1
        self.repeated = draw, times
        return times

    def last_uniforms(self, n: int) -> np.ndarray:
        """Of the last words used; if that is repeated, those of the rest are ready."""
        if self.units is None:
            self.units = _units_of(self.words)
        if self.times("uniforms", n) > 1:
            self.ready, self.uniforms = _copies(self.units[self.used:], n), n
        return self.units[self.used - n:self.used].copy()

    def last_normals(self, n: int) -> np.ndarray:
        """Of the last words used, an even number; if that is repeated, some more are ready."""
        start, times = self.used - 2 * n, self.times("normals", n)
        words = self.words[start:start + 2 * n * times]
        made = _polar_normals(words[:words.size // 4 * 4], FLOAT32)
        if times > 1:
            self.ready, self.normals = _copies(made[n:], n), n
        return made[:n].copy()


def _copies(numbers: np.ndarray, n: int) -> Iterator[np.ndarray]:
    """Copies of so many numbers each, one after another."""
    return map(np.ndarray.copy, numbers[:numbers.size // n * n].reshape(-1, n))


_NOTHING_AHEAD = _Ahead(np.empty(0, np.uint64))


class Stream:
    """The state of one random generator."""

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self._lock = new_lock()
        self._bits: Any = None
        self._ahead = _NOTHING_AHEAD
        self.seed(seed)

    def __reduce__(self) -> tuple[Callable[..., Stream], tuple[np.ndarray]]:
        return _stream_from_state, (self.get_state(),)

    # ------------------------------------------------------------------ state

    @property
    def initial_seed(self) -> int:
        """The seed that started the stream, as an unsigned 64-bit integer."""
        return self._initial_seed

    def seed(self, seed: int) -> None:
        """Restart the stream from ``seed``; a negative seed counts from 2**64 downwards."""
        seed = operator.index(seed)
        if not -(2**63) <= seed <= _LONG:
            raise ValueError("Overflow when unpacking long long")
        with self._lock:
            self._initial_seed = seed & _LONG
            self._cached_normal: float | None = None
            self._float_normal = bytes(8)
            self._untouched = True
            self._ahead = _NOTHING_AHEAD
            if self._bits is not None:
                self._seeder.seed(self._initial_seed & _WORD)

    def get_state(self) -> np.ndarray:
        """The whole state, byte for byte as ``torch.get_rng_state`` lays it out."""
        with self._lock:
            twister = self._twister().state["state"]
            position = 0 if self._untouched else int(twister["pos"])
            record = np.zeros((), _STATE)
            record["seed"] = self._initial_seed
            record["left"] = 1 if self._untouched else _TWISTER_WORDS + 1 - position
            record["seeded"] = 1
            record["next"] = position
            record["words"] = twister["key"]
            record["normal_is_valid"] = self._cached_normal is not None
            record["normal_y"] = self._cached_normal or 0.0
            record["float_normal"] = np.void(self._float_normal)
            return np.frombuffer(bytearray(record.tobytes()), np.uint8)

    def set_state(self, state: np.ndarray) -> None:
        """Continue from a state that ``get_state`` or ``torch.get_rng_state`` returned."""
        state = np.asarray(state)
        if state.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if state.size != STATE_BYTES:
            raise RuntimeError(f"Expected a CPUGeneratorImplState of size {STATE_BYTES} but found "
                               f"the input RNG state size to be {state.size}")
        record = np.frombuffer(state.tobytes(), _STATE)[0]
        left, position = int(record["left"]), int(record["next"])
        untouched = left == 1 and position == 0
        if not record["seeded"] or not (untouched or left + position == _TWISTER_WORDS + 1):
            raise RuntimeError("Invalid mt19937 state")
        with self._lock:
            self._twister().state = {"bit_generator": "MT19937", "state": {
                "key": record["words"].astype(np.uint32),
                "pos": _TWISTER_WORDS if untouched else position}}
            self._initial_seed = int(record["seed"])
            self._untouched = untouched
            valid = bool(record["normal_is_valid"])
            self._cached_normal = float(record["normal_y"]) if valid else None
            self._float_normal = record["float_normal"].tobytes()

    def _twister(self) -> Any:
        # Opened on first use because importing np.random takes longer than importing this module.
        if self._bits is None:
            self._bits = np.random.MT19937(0)
            self._seeder = np.random.RandomState(self._bits)
            self._filler = np.random.Generator(self._bits)
            self._seeder.seed(self._initial_seed & _WORD)
        ahead = self._ahead
        if ahead is not _NOTHING_AHEAD:  # drawn too early, and put back: the block is still there
            state = self._bits.state
            state["state"]["pos"] = _TWISTER_WORDS - (ahead.count - ahead.used)
            self._bits.state, self._ahead = state, _NOTHING_AHEAD
        return self._bits

    def _next(self, n: int) -> np.ndarray:
        """The next words, at most 64; not to be written to.

        They come from the rest of a block of the twister, which is drawn at once.
        """
        ahead = self._ahead
        start, stop = ahead.used, ahead.used + n
        ahead.uniforms = ahead.normals = None
        if stop > ahead.count:
            self._untouched = False
            if ahead is _NOTHING_AHEAD:
                ahead = self._draw_ahead(_TWISTER_WORDS - self._twister().state["state"]["pos"])
            if stop > ahead.count:
                rest, stop = ahead.words[start:], stop - ahead.count
                ahead = self._draw_ahead(_TWISTER_WORDS)  # the twister is at the end of a block
                ahead.used, start = stop, 0
                if rest.size:
                    return np.concatenate([rest, ahead.words[:stop]])
        ahead.used = stop
        return ahead.words[start:stop]

    def _draw_ahead(self, count: int) -> _Ahead:
        self._ahead = ahead = _Ahead(self._bits.random_raw(count), self._ahead.repeated)
        return ahead

    # ------------------------------------------------------------------ raw draws

    def random32(self, n: int) -> np.ndarray:
        """The next ``n`` words as uint32."""
        if n == 0:
            return np.empty(0, np.uint32)
        if n <= _SMALL_DRAW:
            with self._lock:
                return self._next(n).astype(np.uint32)
        with self._lock:
            bits = self._twister()
            self._untouched = False
            if n < _FEW_WORDS:
                return bits.random_raw(n).astype(np.uint32)
            return self._filler.integers(0, _WORD, n, dtype=np.uint32, endpoint=True)

    def random64(self, n: int) -> np.ndarray:
        """The next ``n`` pairs of words as uint64, the first word of a pair on top."""
        words = self._words64(n)
        return words if words.size == n else _paired(words)

    def _words64(self, n: int) -> np.ndarray:
        """The same, or both words of each pair; not to be written to."""
        with self._lock:
            if 0 < 2 * n <= _SMALL_DRAW:
                return self._next(2 * n)
            if n == 0:
                return np.empty(0, np.uint64)
            bits = self._twister()
            self._untouched = False
            if 2 * n < _FEW_WORDS:
                return bits.random_raw(2 * n)  # type: ignore[no-any-return]
            return self._filler.integers(0, _LONG, n, dtype=np.uint64, endpoint=True)

    def _unit32(self, n: int) -> np.ndarray:
        if 0 < n <= _SMALL_DRAW:
            with self._lock:
                ready = self.ready_uniforms(n)
                return self._few_units(n) if ready is None else ready
        return _as_unit(self.random32(n), _MANTISSA32, np.int32, np.float32)

    def _few_units(self, n: int) -> np.ndarray:
        words, ahead = self._next(n), self._ahead
        return _units_of(words) if ahead.used < n else ahead.last_uniforms(n)  # of two blocks

    def _few_floats(self, n: int) -> np.ndarray:
        """An even number of normal ones."""
        words, ahead = self._next(2 * n), self._ahead
        return _polar_normals(words, FLOAT32) if ahead.used < 2 * n else ahead.last_normals(n)

    def _unit64(self, n: int) -> np.ndarray:
        return _as_unit(self.random64(n), _MANTISSA64, np.int64, np.float64)

    # ------------------------------------------------------------------ continuous

    def ready_uniforms(self, n: int) -> np.ndarray | None:
        """What ``uniform((n,), float32)`` draws, if it draws as many as before."""
        with self._lock:
            ahead = self._ahead
            if ahead.uniforms == n:
                for drawn in ahead.ready:
                    ahead.used += n
                    return drawn
                return self._few_units(n)
        return None

    def ready_normals(self, n: int) -> np.ndarray | None:
        """What ``normal((n,), float32)`` draws, if it draws as many as before.

        None of a pair is waiting then: whatever left one would have used words.
        """
        with self._lock:
            ahead = self._ahead
            if ahead.normals == n:
                for drawn in ahead.ready:
                    ahead.used += 2 * n
                    return drawn
                return self._few_floats(n)
        return None

    def uniform(self, shape: Any, dtype: Any, low: float = 0.0, high: float = 1.0) -> np.ndarray:
        """Uniform draws from ``[low, high)``: ``rand`` and ``uniform_``."""
        is_standard = low == 0 and high == 1
        shape, n = _shape(shape)
        kind = _kind(dtype)
        if kind.digits == 24 and is_standard:
            return self._unit32(n).reshape(shape)
        if kind.parts is not None:
            parts = self.uniform(2 * n, kind.parts.dtype, low, high)
            return parts.view(kind.dtype).reshape(shape)
        kind.require("check_uniform_bounds", _FLOATS)
        if not is_standard:
            _check_uniform_bounds(low, high, kind)
        if kind.digits == 53:
            drawn = self._unit64(n)
            if not is_standard:
                drawn = _fused_multiply_add(drawn, high - low, low)
        else:
            drawn = self._unit32(n)
            if not is_standard:
                start = np.float32(low)
                drawn = _scale32(drawn, np.float32(high) - start, start)
            drawn = _narrow(drawn, kind)
        if not is_standard or kind.digits < 24:
            # Rounding may reach the excluded end.
            drawn[drawn == kind.dtype.type(high)] = low
        return drawn.reshape(shape)

    def normal(self, shape: Any, dtype: Any, mean: float = 0.0, std: float = 1.0,
               contiguous: bool = True) -> np.ndarray:
        """Normal draws: ``randn`` and ``normal_``; small or strided results take another path."""
        if not std >= 0:
            raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
        shape, n = _shape(shape)
        if n < _NORMAL_BLOCK and dtype is FLOAT32 and mean == 0 and std == 1:
            return self._few_normals(n, shape, dtype)
        kind = _kind(dtype)
        if kind.parts is not None:
            spread = std / math.sqrt(2.0)
            parts = self.normal(2 * n, kind.parts.dtype, mean, spread, contiguous)
            return parts.view(kind.dtype).reshape(shape)
        kind.require("normal_kernel_cpu", _FLOATS)
        with self._lock:
            if n >= _NORMAL_BLOCK and contiguous:
                drawn = self._block_normals(n, kind, mean, std)
            else:
                drawn = _fused_multiply_add(self._paired_normals(n), std, mean)
        drawn = _narrow(drawn, kind)
        # No memory to spare: it would be kept, and saved, with the tensor.
        whole = drawn.base is None or drawn.base.size == drawn.size
        return (drawn if whole else drawn.copy()).reshape(shape)

    def _block_normals(self, n: int, kind: _Kind, mean: float, std: float) -> np.ndarray:
        """Box-Muller over blocks of 16; a last incomplete block redraws the last 16 values."""
        unit = self._unit64 if kind.digits == 53 else self._unit32
        whole = n - n % _NORMAL_BLOCK
        # The half-precision kernels draw block by block; the others draw the remainder as well,
        # and then overwrite it.
        first = unit(whole if kind.dtype.itemsize == 2 else n)
        if whole == n:
            return _box_muller(first, mean, std)
        drawn = _box_muller(np.concatenate([first[:whole], unit(_NORMAL_BLOCK)]), mean, std)
        drawn[n - _NORMAL_BLOCK : n] = drawn[whole:]
        return drawn[:n]

    def _paired_normals(self, n: int) -> np.ndarray:
        """Standard normals made two at a time, of which an odd one out waits for the next call."""
        if n <= _NORMAL_BLOCK:
            return self._few_normals(n, (n,), np.dtype(np.float64))
        waiting = [] if self._cached_normal is None else [self._cached_normal]
        pairs = (n - len(waiting) + 1) // 2
        drawn = _polar_pairs(self._unit64(2 * pairs))
        if waiting:
            drawn = np.concatenate([waiting, drawn])
        self._cached_normal = float(drawn[n]) if drawn.size > n else None
        return drawn[:n]

    def _few_normals(self, n: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """The same, at most 16 of them."""
        if n == 0:
            return np.empty(shape, dtype)
        with self._lock:
            known = self._cached_normal
            if known is None and n % 2 == 0:
                if dtype is not FLOAT32:
                    return _polar_normals(self._next(2 * n), dtype).reshape(shape)
                ready = self.ready_normals(n)
                return (self._few_floats(n) if ready is None else ready).reshape(shape)
            found = [] if known is None else [known]
            missing = n - len(found)
            if missing:
                pairs = (missing + 1) // 2
                found += _polar_normals(self._next(4 * pairs), np.dtype(np.float64)).tolist()
            self._cached_normal = found.pop() if len(found) > n else None
        return np.array(found, dtype).reshape(shape)

    def log_normal(self, shape: Any, dtype: Any, mean: float = 1.0, std: float = 2.0) -> np.ndarray:
        """Exponentials of normal draws: ``log_normal_``."""
        if not std > 0:
            raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
        kind = _kind(dtype)
        kind.require("log_normal_cpu", _FLOATS)
        shape, n = _shape(shape)
        with self._lock, np.errstate(all="ignore"):
            drawn = np.exp(_fused_multiply_add(self._paired_normals(n), std, mean))
        return _narrow(drawn, kind).reshape(shape)

    def exponential(self, shape: Any, dtype: Any, lambd: float = 1.0) -> np.ndarray:
        """Exponential draws of rate ``lambd``: ``exponential_``."""
        kind = _kind(dtype)
        _check_continuous("Exponential", kind, kind.alias)
        if not lambd > 0:
            raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
        shape, n = _shape(shape)
        drawn = self._unit64(n)
        np.log1p(np.negative(drawn, out=drawn), out=drawn)
        drawn *= -1.0 / lambd
        return _narrow(drawn, kind).reshape(shape)

    def cauchy(self, shape: Any, dtype: Any, median: float = 0.0, sigma: float = 1.0) -> np.ndarray:
        """Cauchy draws: ``cauchy_``."""
        kind = _kind(dtype)
        _check_continuous("Cauchy", kind, kind.c_name)
        if not sigma > 0:
            raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
        shape, n = _shape(shape)
        tangents = np.tan(np.pi * (self._unit64(n) - 0.5))
        return _narrow(_fused_multiply_add(tangents, sigma, median), kind).reshape(shape)

    # ------------------------------------------------------------------ discrete

    def integers(self, low: int | None, high: int | None, shape: Any, dtype: Any = np.int64
                 ) -> np.ndarray:
        """Integers from ``[low, high)``: ``randint`` and ``random_``.

        Without ``high`` they reach to the last integer that ``dtype`` holds exactly, and without
        ``low`` they are what ``random_()`` draws.
        """
        kind = _kind(dtype)
        shape, n = _shape(shape)
        if low is None:
            kind.require("random_kernel_cpu", _FLAGS)
            wide = kind.dtype.itemsize == 8
            return self._modulo(n, kind.last_integer + 1, 0, wide, kind).reshape(shape)
        low = operator.index(low)
        if high is None:
            _check_integer_bound("from", low, kind)
            span = kind.last_integer - low + 1
        else:
            low, high = _representable_range(low, operator.index(high), kind)
            span = high - low
        return self._modulo(n, span, low, span >= _WIDE_RANGE, kind).reshape(shape)

    def _modulo(self, n: int, span: int, low: int, wide: bool, kind: _Kind) -> np.ndarray:
        if not wide:
            drawn = (self.random32(n) % np.uint32(span)).astype(np.int64)
            drawn += low
        else:
            longs = self.random64(n)
            # The full range takes every pair of words as the integer it spells.
            if span <= _LONG:
                longs %= np.uint64(span)
                longs += np.uint64(low & _LONG)
            drawn = longs.view(np.int64)
        return _narrow(drawn, kind)

    def permutation(self, n: int, dtype: Any = np.int64) -> np.ndarray:
        """The integers below ``n`` in random order: ``randperm``."""
        kind = _kind(dtype)
        n = operator.index(n)
        _check_permutation(n, kind)
        if n < 2:
            return np.arange(n).astype(kind.dtype)
        steps = self.random32(n - 1) % np.arange(n, 1, -1, dtype=np.uint32)
        shuffled = _swap_forward(steps) if n <= _FEW_SWAPS else _swap_forward_vectorised(steps)
        return _narrow(shuffled, kind)

    def bernoulli(self, p: Any, shape: Any = None, dtype: Any = None) -> np.ndarray:
        """Ones with probability ``p``: ``bernoulli_`` for a float, ``bernoulli`` for an array."""
        if not isinstance(p, np.ndarray):
            return self._bernoulli_scalar(float(p), shape, _kind(dtype or np.float32))
        kind, given = _kind(dtype or p.dtype), _kind(p.dtype)
        kind.require("bernoulli_tensor_cpu_self_", _FLAGS)
        given.require("bernoulli_tensor_cpu_p_", _FLOATS)
        if not ((p >= 0) & (p <= 1)).all():
            raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
        shape, n = _shape(p.shape if shape is None else shape)
        unit = self._unit64(n) if given.digits == 53 else self._unit32(n)
        return (unit.reshape(shape) < p.astype(unit.dtype)).astype(kind.dtype)

    def _bernoulli_scalar(self, p: float, shape: Any, kind: _Kind) -> np.ndarray:
        if not 0 <= p <= 1:
            raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
        kind.require("bernoulli_scalar_cpu_", _FLAGS)
        shape, n = _shape(shape)
        return self._flags(p, n).astype(kind.dtype).reshape(shape)

    def _flags(self, p: float, n: int) -> np.ndarray:
        """Whether each of ``n`` uniform numbers is below ``p``."""
        words = self.random64(n)
        words &= _MANTISSA64
        return words < np.uint64(_below(p))

    def dropout_mask(self, shape: Any, dtype: Any, p: float, part: float = 1.0) -> np.ndarray:
        """Random zeros, and elsewhere one over ``part``; a ``p`` of 0 or 1 draws nothing."""
        kind = _kind(dtype)
        if p == 0 or p == 1:
            return np.full(shape, 1 - p, kind.dtype)
        one = kind.dtype.type(1)
        value = one / one.dtype.type(part)
        if not kind.digits or not 0 < p < 1:
            drawn = self.bernoulli(1.0 - p, shape, dtype)
            return drawn if part == 1 else np.multiply(drawn, value, out=drawn)
        shape, n = _shape(shape)
        words = self._words64(n).view(np.int64)
        return made_of_words().mask(  # type: ignore[no-any-return]
            words, shape, kind.dtype, _below(1.0 - p), value)

    def geometric(self, shape: Any, dtype: Any, p: float) -> np.ndarray:
        """Numbers of trials until the first success: ``geometric_``."""
        if not 0 < p < 1:
            raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
        kind = _kind(dtype)
        kind.require("geometric_cpu", _COUNTS)
        shape, n = _shape(shape)
        with np.errstate(divide="ignore"):
            trials = np.ceil(np.log(self._unit64(n)) / math.log1p(-p))
        return _narrow(trials, kind).reshape(shape)

    def poisson(self, rates: np.ndarray) -> np.ndarray:
        """Poisson draws, one for each rate, of the rates' dtype."""
        rates = np.asarray(rates)
        kind = _kind(rates.dtype)
        kind.require("poisson_cpu", _FLOATS)
        values = rates.astype(np.float64).ravel().tolist()
        with self._one_by_one(len(values)) as uniform:
            drawn = [rejection.poisson(rate, uniform) for rate in values]
        return _narrow(np.array(drawn, np.float64), kind).reshape(rates.shape)

    def gamma(self, concentrations: np.ndarray) -> np.ndarray:
        """Standard gamma draws, one for each concentration, of their dtype and above zero."""
        kind = _kind(concentrations.dtype)
        kind.require("gamma_cpu", _WIDE)
        shapes = concentrations.ravel()
        with np.errstate(all="ignore"):
            # One shape higher accepts more often; a power of a uniform leads back.
            low = shapes < 1
            powers = np.where(low, np.maximum(1 / shapes, _LEAST_POWER), 0)
            shapes = np.where(low, shapes + 1, shapes)
            centers = shapes - kind.dtype.type(_THIRD)
        with self._one_by_one(shapes.size) as uniform:
            normal = self._normal_by_normal(uniform)
            drawn = [rejection.gamma(center, power, uniform, normal)
                     for center, power in zip(centers.tolist(), powers.tolist(), strict=True)]
        found = _narrow(np.array(drawn, np.float64), kind)
        least = np.finfo(kind.dtype).tiny
        return np.where(found > least, found, least).reshape(concentrations.shape)

    def dirichlet(self, concentrations: np.ndarray) -> np.ndarray:
        """Shares of gamma draws in the sums of their rows, inside of (0, 1)."""
        kind = _kind(concentrations.dtype)
        kind.require("dirichlet", _WIDE)
        drawn = self.gamma(concentrations.astype(np.float64))
        shares = _narrow(drawn / np.atleast_1d(drawn).sum(-1, keepdims=True), kind)
        one = kind.dtype.type(1)
        bounded = np.clip(shares, np.finfo(kind.dtype).tiny, np.nextafter(one, 0 * one))
        return bounded.reshape(concentrations.shape)

    def binomial(self, counts: np.ndarray, chances: np.ndarray) -> np.ndarray:
        """Numbers of successes in ``counts`` trials with those ``chances``, of the same shape."""
        kind = _kind(counts.dtype)
        kind.require("binomial_cpu", _WIDE)
        # The rarer outcome is the one that is drawn.
        rare = np.where(chances > 0.5, 1 - chances, chances)
        with np.errstate(all="ignore"):
            columns = (counts, rare, counts * rare, np.sqrt(counts * rare * (1 - rare)),
                       rare / (1 - rare), np.floor((counts + 1) * rare), np.log1p(-rare))
        rows = zip(*(column.ravel().tolist() for column in columns), strict=True)
        with self._one_by_one(counts.size) as uniform:
            drawn = [rejection.binomial(*row, uniform) for row in rows]  # type: ignore[call-arg]
        found = np.array(drawn, np.float64).reshape(counts.shape)
        return _narrow(np.where(chances > 0.5, np.maximum(counts, 0) - found, found), kind)

    def _normal_by_normal(self, uniform: Callable[[], float]) -> Callable[[], float]:
        """A function that draws one standard normal and leaves the other of its pair waiting."""

        def normal() -> float:
            waiting = self._cached_normal
            if waiting is None:
                drawn, self._cached_normal = _polar_pair(math, uniform(), uniform())
                return drawn
            self._cached_normal = None
            return waiting

        return normal

    @contextmanager
    def _one_by_one(self, count: int) -> Iterator[Callable[[], float]]:
        """A function that draws one float64 uniform, for algorithms that decide as they go.

        For many results the numbers are drawn in blocks, and those not used are put back.
        """
        with self._lock:
            twister = self._twister()
            if count < _FEW_RESULTS:
                word = twister.random_raw

                def uniform() -> float:
                    self._untouched = False
                    return ((word() << 32 | word()) & 0x1F_FFFF_FFFF_FFFF) * 2.0**-53

                yield uniform
                return
            before, untouched = twister.state, self._untouched
            blocks = []

            def drawn() -> Iterator[Any]:
                while True:
                    blocks.append(iter(self._unit64(_BLOCK).tolist()))
                    yield blocks[-1]

            try:
                yield itertools.chain.from_iterable(drawn()).__next__
            finally:
                twister.state = before
                used = len(blocks) * _BLOCK - (blocks[-1].__length_hint__() if blocks else 0)
                twister.random_raw(2 * used, output=False)
                self._untouched = untouched and not used

    def multinomial(self, probs: np.ndarray, num: int, replacement: bool = False) -> np.ndarray:
        """Indices drawn from the rows of ``probs`` as weights."""
        probs = np.asarray(probs)
        _check_multinomial(probs, num, replacement)
        if replacement and num > 1:
            with self._lock:
                rows = [self._sample_row(row, num) for row in np.atleast_2d(probs)]
            return np.array(rows, np.int64).reshape(probs.shape[:-1] + (num,))
        _check_weights(probs)
        # A race of exponentials: those who finish first are a sample without replacement.
        with np.errstate(all="ignore"):
            speed = probs / self.exponential(probs.shape, probs.dtype)
        if num == 1:
            return speed.argmax(-1, keepdims=True)
        return np.argsort(-speed, axis=-1, kind="stable")[..., :num]

    def _sample_row(self, weights: np.ndarray, num: int) -> np.ndarray:
        refusal = "invalid multinomial distribution "
        if not (weights >= 0).all():
            raise RuntimeError(refusal + "(encountering probability entry < 0)")
        if np.isinf(weights).any():
            raise RuntimeError(refusal + "(encountering probability entry = infinity or NaN)")
        precision = np.float64 if weights.dtype == np.float64 else np.float32
        cumulative = np.cumsum(weights, dtype=precision)
        if not cumulative[-1] > 0:
            raise RuntimeError(refusal + "(sum of probabilities <= 0)")
        shares = (cumulative / cumulative[-1]).astype(np.float64)
        return np.searchsorted(shares, self._unit64(num), side="left")


def _stream_from_state(state: np.ndarray) -> Stream:
    (stream := Stream()).set_state(state)
    return stream


# ---------------------------------------------------------------------- arguments


def _shape(shape: Any) -> tuple[tuple[int, ...], int]:
    if type(shape) is not tuple:
        shape = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    return shape, math.prod(shape)


def _narrow(values: np.ndarray, kind: _Kind) -> np.ndarray:
    """``values`` in the dtype of ``kind``, by way of float32 for the half-precision types."""
    if values.dtype == kind.dtype:
        return values
    with quiet():
        if values.dtype.kind == "f" and not kind.digits:
            values = values.astype(np.int64)
        elif values.dtype != np.float32 and kind.name in ("float16", "bfloat16"):
            values = values.astype(np.float32)
        return values.astype(kind.dtype)


def _check_continuous(distribution: str, kind: _Kind, name: str) -> None:
    if kind.name not in _FLOATS:
        raise RuntimeError(f"{distribution} distribution is a continuous probability distribution. "
                           f"dtype must be a floating point but you specified {name}")


def _check_uniform_bounds(low: float, high: float, kind: _Kind) -> None:
    for name, bound in (("from", low), ("to", high)):
        if not kind.lowest <= bound <= kind.highest:
            raise RuntimeError(f"{name} is out of bounds for {kind.c_name}")
    if low > high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found "
                           f"from={low:g} > to={high:g}")
    if high - low > kind.highest:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{kind.alias}>::max(), "
            f"but found to={high:g} and from={low:g} which result in to-from to exceed the limit")


def _check_integer_bound(name: str, bound: int, kind: _Kind) -> None:
    if kind.parts is not None:
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean "
                           "types")
    if not kind.lowest <= bound <= kind.highest:
        raise RuntimeError(f"{name} is out of bounds for {kind.c_name}")
    if kind.digits and not -kind.last_integer <= bound <= kind.last_integer:
        warn(
            f"{name} is out of bounds [-(2^{kind.digits}), 2^{kind.digits}]. Due to precision "
            f"limitations {kind.c_name} can support discrete uniform distribution only within this "
            "range. This warning will become an error in version 1.7 release, please fix the code "
            "in advance", UserWarning)


def _representable_range(low: int, high: int, kind: _Kind) -> tuple[int, int]:
    """The range, checked, and for a floating dtype with ends that it can hold."""
    if not (-(2**63) <= low < 2**63 and -(2**63) <= high < 2**63):
        raise ValueError("Overflow when unpacking long long")
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= "
                           f"to={high}")
    _check_integer_bound("from", low, kind)
    _check_integer_bound("to - 1", high - 1, kind)
    if not kind.digits:
        return low, high
    second, greatest = low + 1, high - 1
    first, last = _as_stored(second, kind), _as_stored(greatest, kind)
    if first < low:
        low = first + _spacing(second, kind.digits)
    if last >= high:
        high = last - _spacing(greatest, kind.digits)
    if low >= high:
        raise RuntimeError("random_ expects 'from' casted to dtype to be less than 'to' casted to "
                           f"dtype, but got from={low} >= to={high}")
    return low, high


def _as_stored(value: int, kind: _Kind) -> int:
    stored = int(_narrow(np.array(value, np.int64), kind))
    # What does not fit becomes the lowest integer, as processors convert it.
    return stored if stored < 2**63 else -(2**63)


def _spacing(value: int, digits: int) -> int:
    return 1 << (abs(value).bit_length() - digits)


def _check_permutation(n: int, kind: _Kind) -> None:
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    if kind.dtype.kind in "iu" and n - 1 > kind.highest:
        raise RuntimeError(f"value cannot be converted to type {kind.name}_t without overflow")
    kind.require("randperm", _COUNTS)
    if n >= _HUGE_PERMUTATION:
        raise NotImplementedError(f"permutations of {_HUGE_PERMUTATION} or more elements")
    # PyTorch checks every floating dtype but bfloat16.
    if kind.dtype.kind == "f" and n > kind.last_integer + 1:
        raise RuntimeError(f"n cannot be greater than {kind.last_integer + 1} for {kind.alias} "
                           "type.")


def _check_multinomial(probs: np.ndarray, num: int, replacement: bool) -> None:
    if probs.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    kind = _kind(probs.dtype)
    if kind.name not in _FLOATS:
        raise RuntimeError("multinomial only supports floating-point dtypes for input, got: "
                           f"{kind.alias}")
    if num <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num > probs.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without "
                           "replacement")


def _check_weights(probs: np.ndarray) -> None:
    if not ((probs >= 0) & np.isfinite(probs)).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not (probs > 0).any(-1).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


# ---------------------------------------------------------------------- arithmetic


def _below(p: float) -> int:
    """What the last 53 bits of a word are below with probability ``p``.

    As integers: what they are scaled by is a power of two, and so exact on both sides.
    """
    return math.ceil(p * 2.0**53)


def _paired(words: np.ndarray) -> np.ndarray:
    """Words in pairs, the first one of each on top."""
    pairs = words[::2] << np.uint64(32)
    pairs |= words[1::2]
    return pairs


def _as_unit(words: np.ndarray, mantissa: Any, integer: Any, floating: Any) -> np.ndarray:
    """Words as numbers from 0 up to 1; they are lost."""
    words &= mantissa
    unit = words.view(integer).astype(floating)
    unit *= floating(1 / (int(mantissa) + 1))
    return unit


def _units_of(words: np.ndarray) -> np.ndarray:
    """The float32 uniforms that words make."""
    return ((words & _LOW24) * 2.0**-24).astype(FLOAT32)


def _is_power_of_two(value: float) -> bool:
    return abs(math.frexp(value)[0]) == 0.5


def _scale32(values: np.ndarray, factor: np.float32, offset: np.float32) -> np.ndarray:
    """``values * factor + offset`` in float32 with a single rounding."""
    if offset == 0:
        return values * factor
    if _is_power_of_two(float(factor)):
        return values * factor + offset
    return (values.astype(np.float64) * np.float64(factor) + np.float64(offset)).astype(np.float32)


def _fused_multiply_add(values: np.ndarray, factor: float, offset: float) -> np.ndarray:
    """``values * factor + offset`` in float64 with a single rounding, as a fused instruction."""
    if offset == 0:
        return values if factor == 1 else values * factor
    # Beyond these magnitudes the halves of the factor would overflow or vanish.
    if factor == 0 or _is_power_of_two(factor) or not 1e-250 < abs(factor) < 1e250:
        return values * factor + offset
    result = np.empty_like(values)
    for start in range(0, values.size, _CACHED_VALUES):
        some = slice(start, start + _CACHED_VALUES)
        result[some] = _product_plus_offset(values[some], np.float64(factor), np.float64(offset))
    return result


def _product_plus_offset(values: np.ndarray, factor: np.float64, offset: np.float64) -> np.ndarray:
    """The rounding errors of the product and of the sum are exact numbers: add them back."""
    product = values * factor
    total = product + offset
    part = total - product
    sum_error = (product - (total - part)) + (offset - part)
    high, low = _halves(values)
    factor_high, factor_low = _halves(factor)
    product_error = low * factor_low - (
        ((product - high * factor_high) - low * factor_high) - high * factor_low)
    return total + (sum_error + product_error)


def _halves(values: Any) -> tuple[Any, Any]:
    """Two numbers of 26 bits that add up to each value."""
    shifted = values * 134217729.0
    high = shifted - (shifted - values)
    return high, values - high


def _box_muller(unit: np.ndarray, mean: float, std: float) -> np.ndarray:
    """Normals from uniforms: in each block of 16, the first 8 give radii, the last 8 angles."""
    blocks = unit.reshape(-1, 2, _NORMAL_BLOCK // 2)
    number = unit.dtype.type
    radius = np.sqrt(number(-2) * np.log(number(1) - blocks[:, 0]))
    angle = number(2 * math.pi) * blocks[:, 1]
    drawn = np.empty_like(blocks)
    np.multiply(radius, np.cos(angle), out=drawn[:, 0])
    np.multiply(radius, np.sin(angle), out=drawn[:, 1])
    drawn = drawn.reshape(-1)
    if mean == 0 and std == 1:
        return drawn
    if unit.dtype == np.float64:
        return _fused_multiply_add(drawn, std, mean)
    return _scale32(drawn, np.float32(std), np.float32(mean))


def _polar_pairs(unit: np.ndarray) -> np.ndarray:
    """Normals from pairs of uniforms, the cosine of a pair before its sine."""
    return np.stack(_polar_pair(np, unit[::2], unit[1::2]), 1).reshape(-1)


def _polar_pair(library: Any, turn: Any, square: Any) -> tuple[Any, Any]:
    radius, angle = library.sqrt(-2.0 * library.log1p(-square)), 2.0 * math.pi * turn
    return radius * library.cos(angle), radius * library.sin(angle)


def _polar_normals(words: np.ndarray, dtype: Any) -> np.ndarray:
    """As many normal numbers as half the words."""
    return made_of_words().polar_normals(  # type: ignore[no-any-return]
        words.view(np.int64), (words.size // 2,), dtype)


@functools.cache
def made_of_words() -> Any:
    """The module of that name, which loads the kernels."""
    from . import made_of_words as found

    return found


# ---------------------------------------------------------------------- shuffling


def _swap_forward(steps: np.ndarray) -> np.ndarray:
    """Exchange each place ``i`` in turn with place ``i + steps[i]``."""
    places = list(range(steps.size + 1))
    for here, step in enumerate(steps.tolist()):
        there = here + step
        places[here], places[there] = places[there], places[here]
    return np.array(places, np.int64)


def _swap_forward_vectorised(steps: np.ndarray) -> np.ndarray:
    """The same exchanges without a loop over places.

    Swap ``i`` settles place ``i`` for good: it takes what lies at its target, and leaves there
    what lay at ``i``. So what lies at a place is its own index if no earlier swap aimed at it,
    and otherwise what lay at the latest such swap's own place. Those references form chains,
    which doubling follows to their ends in a logarithmic number of passes.
    """
    n = steps.size + 1
    swaps = np.arange(n, dtype=np.int64)
    targets = swaps.copy()
    targets[:-1] += steps
    by_target = (targets << 32) | swaps
    by_target.sort()
    target, swap = by_target >> 32, by_target & _WORD
    repeated = target[1:] == target[:-1]

    aimed_before = np.full(n, -1, np.int64)
    aimed_before[swap[1:][repeated]] = swap[:-1][repeated]

    came_from = swaps.copy()
    away = swap != target
    # Within one target the swaps ascend, and the last assignment is the one that stays.
    came_from[target[away]] = swap[away]
    while True:
        further = came_from[came_from]
        if np.array_equal(further, came_from):
            break
        came_from = further
    return np.where(aimed_before < 0, targets, came_from[aimed_before])
