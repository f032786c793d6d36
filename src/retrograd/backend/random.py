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

import math
import operator
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import from_numpy_dtype

__all__ = ["DEFAULT_SEED", "STATE_BYTES", "Stream"]

DEFAULT_SEED = 67280421310721

_TWISTER_WORDS = 624
_STATE = np.dtype(
    [
        ("seed", "<u8"),
        ("left", "<i4"),
        ("seeded", "<i4"),
        ("next", "<u8"),
        ("words", "<u8", _TWISTER_WORDS),
        ("normal_x", "<f8"),
        ("normal_y", "<f8"),
        ("normal_rho", "<f8"),
        ("normal_is_valid", "<i4"),
        ("padding", "<i4"),
        ("float_normal", "V8"),
    ]
)
STATE_BYTES = _STATE.itemsize

_WORD = 0xFFFF_FFFF
_LONG = 0xFFFF_FFFF_FFFF_FFFF
_MANTISSA32 = np.uint32(2**24 - 1)
_MANTISSA64 = np.uint64(2**53 - 1)
_FEW_WORDS = 512
_NORMAL_BLOCK = 16
# From this range on, the bias of a 32-bit word modulo the range would be noticeable.
_WIDE_RANGE = 2**28
_HUGE_PERMUTATION = _WORD // 20
_FEW_SWAPS = 256

_C_NAMES = {
    "bool": "bool",
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short int",
    "int32": "int",
    "int64": "long int",
    "uint16": "short unsigned int",
    "uint32": "unsigned int",
    "uint64": "long unsigned int",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "float32": "float",
    "float64": "double",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}
_MANTISSA_BITS = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}
_COMPLEX_PARTS = {"complex64": np.dtype("float32"), "complex128": np.dtype("float64")}
_SIGNED_OR_BYTE = ("uint8", "int8", "int16", "int32", "int64")
_FLOATS = tuple(_MANTISSA_BITS)


class Stream:
    """The state of one random generator."""

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self._lock = threading.RLock()
        self._bits: Any = None
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
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {STATE_BYTES} but found the input "
                f"RNG state size to be {state.size}"
            )
        record = np.frombuffer(state.tobytes(), _STATE)[0]
        left, position = int(record["left"]), int(record["next"])
        untouched = left == 1 and position == 0
        if not record["seeded"] or not (untouched or left + position == _TWISTER_WORDS + 1):
            raise RuntimeError("Invalid mt19937 state")
        with self._lock:
            self._twister().state = {
                "bit_generator": "MT19937",
                "state": {
                    "key": record["words"].astype(np.uint32),
                    "pos": _TWISTER_WORDS if untouched else position,
                },
            }
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
        return self._bits

    # ------------------------------------------------------------------ raw draws

    def random32(self, n: int) -> np.ndarray:
        """The next ``n`` words as uint32."""
        if n == 0:
            return np.empty(0, np.uint32)
        with self._lock:
            bits = self._twister()
            self._untouched = False
            if n < _FEW_WORDS:
                return bits.random_raw(n).astype(np.uint32)
            return self._filler.integers(0, _WORD, n, dtype=np.uint32, endpoint=True)

    def random64(self, n: int) -> np.ndarray:
        """The next ``n`` pairs of words as uint64, the first word of a pair on top."""
        if n == 0:
            return np.empty(0, np.uint64)
        with self._lock:
            bits = self._twister()
            self._untouched = False
            if 2 * n < _FEW_WORDS:
                words = bits.random_raw(2 * n)
                return words[::2] << np.uint64(32) | words[1::2]
            return self._filler.integers(0, _LONG, n, dtype=np.uint64, endpoint=True)

    def _unit32(self, n: int) -> np.ndarray:
        words = self.random32(n)
        words &= _MANTISSA32
        unit = words.view(np.int32).astype(np.float32)
        unit *= np.float32(2.0**-24)
        return unit

    def _unit64(self, n: int) -> np.ndarray:
        words = self.random64(n)
        words &= _MANTISSA64
        unit = words.view(np.int64).astype(np.float64)
        unit *= 2.0**-53
        return unit

    # ------------------------------------------------------------------ continuous

    def uniform(self, shape: Any, dtype: Any, low: float = 0.0, high: float = 1.0) -> np.ndarray:
        """Uniform draws from ``[low, high)``: ``rand`` and ``uniform_``."""
        dtype = _dtype(dtype)
        shape, n = _shape(shape)
        if dtype.name in _COMPLEX_PARTS:
            parts = self.uniform((2 * n,), _COMPLEX_PARTS[dtype.name], low, high)
            return parts.view(dtype).reshape(shape)
        _require("check_uniform_bounds", dtype, _FLOATS)
        _check_uniform_bounds(low, high, dtype)
        if dtype == np.float64:
            drawn = _fused_multiply_add(self._unit64(n), high - low, low)
        else:
            start, stop = np.float32(low), np.float32(high)
            drawn = _narrow(_scale32(self._unit32(n), stop - start, start), dtype)
        if (low, high) != (0, 1) or dtype.itemsize == 2:
            # Rounding may reach the excluded end.
            drawn[drawn == dtype.type(high)] = dtype.type(low)
        return drawn.reshape(shape)

    def normal(
        self,
        shape: Any,
        dtype: Any,
        mean: float = 0.0,
        std: float = 1.0,
        contiguous: bool = True,
    ) -> np.ndarray:
        """Normal draws: ``randn`` and ``normal_``; small or strided results take another path."""
        if not std >= 0:
            raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
        dtype = _dtype(dtype)
        shape, n = _shape(shape)
        if dtype.name in _COMPLEX_PARTS:
            part = _COMPLEX_PARTS[dtype.name]
            parts = self.normal((2 * n,), part, mean, std / math.sqrt(2.0), contiguous)
            return parts.view(dtype).reshape(shape)
        _require("normal_kernel_cpu", dtype, _FLOATS)
        with self._lock:
            if n >= _NORMAL_BLOCK and contiguous:
                drawn = self._block_normals(n, dtype, mean, std)
            else:
                drawn = _fused_multiply_add(self._paired_normals(n), std, mean)
        return _narrow(drawn, dtype).reshape(shape)

    def _block_normals(self, n: int, dtype: np.dtype, mean: float, std: float) -> np.ndarray:
        """Box-Muller over blocks of 16; a last incomplete block redraws the last 16 values."""
        unit = self._unit64 if dtype == np.float64 else self._unit32
        whole = n - n % _NORMAL_BLOCK
        drawn = np.empty(n, np.float64 if dtype == np.float64 else np.float32)
        # The half-precision kernels draw block by block; the others draw the remainder as well,
        # and then overwrite it.
        first = unit(n if dtype.itemsize > 2 else whole)
        drawn[:whole] = _box_muller(first[:whole], mean, std)
        if whole != n:
            drawn[-_NORMAL_BLOCK:] = _box_muller(unit(_NORMAL_BLOCK), mean, std)
        return drawn

    def _paired_normals(self, n: int) -> np.ndarray:
        """Standard normals made two at a time, of which an odd one out waits for the next call."""
        drawn = np.empty(n)
        if n == 0:
            return drawn
        done = 0
        if self._cached_normal is not None:
            drawn[0] = self._cached_normal
            self._cached_normal = None
            done = 1
        pairs = (n - done + 1) // 2
        if pairs:
            made = _polar_pairs(self._unit64(2 * pairs))
            drawn[done:] = made[: n - done]
            if (n - done) % 2:
                self._cached_normal = float(made[-1])
        return drawn

    def log_normal(self, shape: Any, dtype: Any, mean: float = 1.0, std: float = 2.0) -> np.ndarray:
        """Exponentials of normal draws: ``log_normal_``."""
        if not std > 0:
            raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
        dtype = _dtype(dtype)
        _require("log_normal_cpu", dtype, _FLOATS)
        shape, n = _shape(shape)
        with self._lock, np.errstate(all="ignore"):
            drawn = np.exp(_fused_multiply_add(self._paired_normals(n), std, mean))
        return _narrow(drawn, dtype).reshape(shape)

    def exponential(self, shape: Any, dtype: Any, lambd: float = 1.0) -> np.ndarray:
        """Exponential draws of rate ``lambd``: ``exponential_``."""
        dtype = _dtype(dtype)
        if dtype.name not in _FLOATS:
            raise RuntimeError(
                "Exponential distribution is a continuous probability distribution. dtype must "
                f"be a floating point but you specified {_alias(dtype)}"
            )
        if not lambd > 0:
            raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
        shape, n = _shape(shape)
        drawn = self._unit64(n)
        drawn = (-1.0 / lambd) * np.log1p(np.negative(drawn, out=drawn), out=drawn)
        return _narrow(drawn, dtype).reshape(shape)

    def cauchy(self, shape: Any, dtype: Any, median: float = 0.0, sigma: float = 1.0) -> np.ndarray:
        """Cauchy draws: ``cauchy_``."""
        dtype = _dtype(dtype)
        if dtype.name not in _FLOATS:
            raise RuntimeError(
                "Cauchy distribution is a continuous probability distribution. dtype must be a "
                f"floating point but you specified {_C_NAMES[dtype.name]}"
            )
        if not sigma > 0:
            raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
        shape, n = _shape(shape)
        angles = np.pi * (self._unit64(n) - 0.5)
        return _narrow(_fused_multiply_add(np.tan(angles), sigma, median), dtype).reshape(shape)

    # ------------------------------------------------------------------ discrete

    def integers(
        self, low: int | None, high: int | None, shape: Any, dtype: Any = np.int64
    ) -> np.ndarray:
        """Integers from ``[low, high)``: ``randint`` and ``random_``.

        Without ``high`` they reach to the last integer that ``dtype`` holds exactly, and without
        ``low`` they are what ``random_()`` draws.
        """
        dtype = _dtype(dtype)
        shape, n = _shape(shape)
        if low is None:
            _require("random_kernel_cpu", dtype, ("bool", *_SIGNED_OR_BYTE, *_FLOATS))
            wide = dtype.itemsize == 8
            return self._modulo(n, _last_integer(dtype) + 1, 0, wide, dtype).reshape(shape)
        low = operator.index(low)
        if high is None:
            span = _last_integer(dtype) - low + 1
            _check_integer_bound("from", low, dtype)
        else:
            low, high = _narrow_integer_range(low, operator.index(high), dtype)
            span = high - low
        return self._modulo(n, span, low, span >= _WIDE_RANGE, dtype).reshape(shape)

    def _modulo(self, n: int, span: int, low: int, wide: bool, dtype: np.dtype) -> np.ndarray:
        if not wide:
            # A span of 2**32 leaves a word as it is.
            words = self.random32(n)
            drawn = (words % np.uint32(span) if span <= _WORD else words).astype(np.int64)
            drawn += low
        else:
            longs = self.random64(n)
            # The full range takes every pair of words as the integer it spells.
            if span <= _LONG:
                longs %= np.uint64(span)
                longs += np.uint64(low & _LONG)
            drawn = longs.view(np.int64)
        return _narrow(drawn, dtype)

    def permutation(self, n: int, dtype: Any = np.int64) -> np.ndarray:
        """The integers below ``n`` in random order: ``randperm``."""
        dtype = _dtype(dtype)
        n = operator.index(n)
        _check_permutation(n, dtype)
        if n < 2:
            return np.arange(n).astype(dtype)
        remaining = np.arange(n, 1, -1, dtype=np.int64)
        if n < _HUGE_PERMUTATION:
            steps = (self.random32(n - 1) % remaining.astype(np.uint32)).astype(np.int64)
        else:
            steps = (self.random64(n - 1) % remaining.astype(np.uint64)).astype(np.int64)
        shuffled = _swap_forward(steps) if n <= _FEW_SWAPS else _swap_forward_vectorised(steps)
        return _narrow(shuffled, dtype)

    def bernoulli(self, p: Any, shape: Any = None, dtype: Any = None) -> np.ndarray:
        """Ones with probability ``p``: ``bernoulli_`` for a float, ``bernoulli`` for an array."""
        if np.ndim(p) == 0 and not isinstance(p, np.ndarray):
            return self._bernoulli_scalar(float(p), shape, _dtype(dtype or np.float32))
        p = np.asarray(p)
        dtype = _dtype(dtype or p.dtype)
        _require("bernoulli_tensor_cpu_self_", dtype, ("bool", *_SIGNED_OR_BYTE, *_FLOATS))
        _require("bernoulli_tensor_cpu_p_", p.dtype, _FLOATS)
        if not ((p >= 0) & (p <= 1)).all():
            raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
        shape, n = _shape(p.shape if shape is None else shape)
        unit = self._unit64(n) if p.dtype == np.float64 else self._unit32(n)
        return (unit.reshape(shape) < p.astype(unit.dtype)).astype(dtype)

    def _bernoulli_scalar(self, p: float, shape: Any, dtype: np.dtype) -> np.ndarray:
        if not 0 <= p <= 1:
            raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
        _require("bernoulli_scalar_cpu_", dtype, ("bool", *_SIGNED_OR_BYTE, *_FLOATS))
        shape, n = _shape(shape)
        return (self._unit64(n) < p).astype(dtype).reshape(shape)

    def dropout_mask(self, shape: Any, dtype: Any, p: float) -> np.ndarray:
        """What ``dropout`` multiplies by before scaling; a ``p`` of 0 or 1 draws nothing."""
        if p == 0 or p == 1:
            return np.full(shape, 1 - p).astype(_dtype(dtype))
        return self.bernoulli(1.0 - p, shape, dtype)

    def geometric(self, shape: Any, dtype: Any, p: float) -> np.ndarray:
        """Numbers of trials until the first success: ``geometric_``."""
        if not 0 < p < 1:
            raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
        dtype = _dtype(dtype)
        _require("geometric_cpu", dtype, (*_SIGNED_OR_BYTE, *_FLOATS))
        shape, n = _shape(shape)
        with np.errstate(divide="ignore"):
            trials = np.ceil(np.log(self._unit64(n)) / math.log1p(-p))
        return _narrow(trials, dtype).reshape(shape)

    def poisson(self, rates: np.ndarray) -> np.ndarray:
        """Poisson draws, one for each rate, of the rates' dtype."""
        rates = np.asarray(rates)
        _require("poisson_cpu", rates.dtype, _FLOATS)
        with self._lock:
            values = rates.astype(np.float64).ravel().tolist()
            drawn = [_poisson_draw(rate, self._next_unit64) for rate in values]
        return _narrow(np.array(drawn, np.float64), rates.dtype).reshape(rates.shape)

    def _next_unit64(self) -> float:
        raw = self._twister().random_raw
        self._untouched = False
        return ((raw() << 32 | raw()) & 0x1F_FFFF_FFFF_FFFF) * 2.0**-53

    def multinomial(self, probs: np.ndarray, num: int, replacement: bool = False) -> np.ndarray:
        """Indices drawn from the rows of ``probs`` as weights."""
        probs = np.asarray(probs)
        _check_multinomial(probs, num, replacement)
        if replacement and num > 1:
            with self._lock:
                rows = [self._sample_row(row, num) for row in np.atleast_2d(probs)]
            return np.array(rows, np.int64).reshape(probs.shape[:-1] + (num,))
        _check_weights(probs)
        # The race of exponentials: the first finishers are a sample without replacement.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            speed = probs / self.exponential(probs.shape, probs.dtype)
        if num == 1:
            return speed.argmax(-1, keepdims=True)
        return np.argsort(-speed, axis=-1, kind="stable")[..., :num]

    def _sample_row(self, weights: np.ndarray, num: int) -> np.ndarray:
        if not (weights >= 0).all():
            raise RuntimeError(
                "invalid multinomial distribution (encountering probability entry < 0)"
            )
        if np.isinf(weights).any():
            raise RuntimeError(
                "invalid multinomial distribution (encountering probability entry = infinity or "
                "NaN)"
            )
        cumulative = np.cumsum(
            weights, dtype=np.float64 if weights.dtype == np.float64 else np.float32
        )
        if not cumulative[-1] > 0:
            raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
        shares = (cumulative / cumulative[-1]).astype(np.float64)
        return np.searchsorted(shares, self._unit64(num), side="left")


def _stream_from_state(state: np.ndarray) -> Stream:
    stream = Stream()
    stream.set_state(state)
    return stream


# ---------------------------------------------------------------------- arguments


def _dtype(dtype: Any) -> np.dtype:
    if isinstance(dtype, str) and dtype == "bfloat16":
        import ml_dtypes

        dtype = ml_dtypes.bfloat16
    return np.dtype(dtype)


def _shape(shape: Any) -> tuple[tuple[int, ...], int]:
    shape = (operator.index(shape),) if isinstance(shape, int | np.integer) else tuple(shape)
    return shape, math.prod(shape)


def _require(kernel: str, dtype: np.dtype, allowed: tuple[str, ...]) -> None:
    if dtype.name not in allowed:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{_alias(dtype)}'")


def _alias(dtype: np.dtype) -> str:
    return from_numpy_dtype(dtype).alias


def _narrow(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """``values`` in ``dtype``, by way of float32 for the half-precision types."""
    if values.dtype == dtype:
        return values
    with np.errstate(all="ignore"):
        if values.dtype.kind == "f" and dtype.kind in "iu":
            values = values.astype(np.int64)
        elif values.dtype != np.float32 and dtype.name in ("float16", "bfloat16"):
            values = values.astype(np.float32)
        return values.astype(dtype)


def _largest(dtype: np.dtype) -> float:
    if dtype.name == "bfloat16":
        return (2 - 2.0**-7) * 2.0**127
    return float(np.finfo(dtype).max)


def _check_uniform_bounds(low: float, high: float, dtype: np.dtype) -> None:
    limit = _largest(dtype)
    for name, bound in (("from", low), ("to", high)):
        if not -limit <= bound <= limit:
            raise RuntimeError(f"{name} is out of bounds for {_C_NAMES[dtype.name]}")
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}"
        )
    if high - low > limit:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{_alias(dtype)}>::max(), "
            f"but found to={high:g} and from={low:g} which result in to-from to exceed the limit"
        )


def _last_integer(dtype: np.dtype) -> int:
    if dtype.name in _MANTISSA_BITS:
        return 2 ** _MANTISSA_BITS[dtype.name]
    return 1 if dtype == np.bool_ else int(np.iinfo(dtype).max)


def _check_integer_bound(name: str, bound: int, dtype: np.dtype) -> None:
    exact = _MANTISSA_BITS.get(dtype.name)
    if dtype.kind == "c":
        raise RuntimeError(
            "check_random_bounds handles only integral, floating-point and boolean types"
        )
    if exact is None:
        lowest = 0 if dtype.kind in "bu" else int(np.iinfo(dtype).min)
        highest = _last_integer(dtype)
    else:
        highest = int(_largest(dtype))
        lowest = -highest
    if not lowest <= bound <= highest:
        raise RuntimeError(f"{name} is out of bounds for {_C_NAMES[dtype.name]}")
    if exact is not None and not -(2**exact) <= bound <= 2**exact:
        warnings.warn(
            f"{name} is out of bounds [-(2^{exact}), 2^{exact}]. Due to precision limitations "
            f"{_C_NAMES[dtype.name]} can support discrete uniform distribution only within this "
            "range. This warning will become an error in version 1.7 release, please fix the "
            "code in advance",
            UserWarning,
            stacklevel=4,
        )


def _narrow_integer_range(low: int, high: int, dtype: np.dtype) -> tuple[int, int]:
    if not (-(2**63) <= low < 2**63 and -(2**63) <= high < 2**63):
        raise ValueError("Overflow when unpacking long long")
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    _check_integer_bound("from", low, dtype)
    _check_integer_bound("to - 1", high - 1, dtype)
    exact = _MANTISSA_BITS.get(dtype.name)
    if exact is not None:
        low, high = _rounded_low(low, dtype, exact), _rounded_high(high, dtype, exact)
        if low >= high:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, "
                f"but got from={low} >= to={high}"
            )
    return low, high


def _as_stored(value: int, dtype: np.dtype) -> int:
    stored = int(_narrow(np.array(value, np.int64), dtype))
    # What does not fit becomes the lowest integer, as processors convert it.
    return stored if stored < 2**63 else -(2**63)


def _rounded_low(low: int, dtype: np.dtype, exact: int) -> int:
    """``low``, or the next number that ``dtype`` holds if ``low + 1`` rounds to below it."""
    stored = _as_stored(low + 1, dtype)
    return low if stored >= low else stored + (1 << (abs(low + 1).bit_length() - exact))


def _rounded_high(high: int, dtype: np.dtype, exact: int) -> int:
    """``high``, or the last number that ``dtype`` holds if ``high - 1`` rounds to ``high``."""
    stored = _as_stored(high - 1, dtype)
    return high if stored < high else stored - (1 << (abs(high - 1).bit_length() - exact))


def _check_permutation(n: int, dtype: np.dtype) -> None:
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    if dtype.kind in "iu" and n - 1 > np.iinfo(dtype).max:
        raise RuntimeError(f"value cannot be converted to type {dtype.name}_t without overflow")
    _require("randperm", dtype, (*_SIGNED_OR_BYTE, *_FLOATS))
    if dtype.kind == "f" and n > _last_integer(dtype) + 1:
        raise RuntimeError(
            f"n cannot be greater than {_last_integer(dtype) + 1} for {_alias(dtype)} type."
        )


def _check_multinomial(probs: np.ndarray, num: int, replacement: bool) -> None:
    if probs.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if probs.dtype.name not in _FLOATS:
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {_alias(probs.dtype)}"
        )
    if num <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num > probs.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )


def _check_weights(probs: np.ndarray) -> None:
    if not ((probs >= 0) & np.isfinite(probs)).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if (probs.sum(-1) == 0).any():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


# ---------------------------------------------------------------------- arithmetic


def _is_power_of_two(value: float) -> bool:
    return abs(math.frexp(value)[0]) == 0.5


def _scale32(unit: np.ndarray, factor: np.float32, offset: np.float32) -> np.ndarray:
    """``unit * factor + offset`` with a single rounding."""
    if offset == 0:
        return unit if factor == 1 else unit * factor
    if _is_power_of_two(float(factor)):
        return unit * factor + offset
    return (unit.astype(np.float64) * np.float64(factor) + np.float64(offset)).astype(np.float32)


def _fused_multiply_add(values: np.ndarray, factor: float, offset: float) -> np.ndarray:
    """``values * factor + offset`` in float64 with a single rounding, as a fused instruction."""
    if offset == 0:
        return values if factor == 1 else values * factor
    # Beyond these magnitudes the halves below would overflow or vanish.
    if factor == 0 or _is_power_of_two(factor) or not 1e-250 < abs(factor) < 1e250:
        return values * factor + offset
    product = values * factor
    value_high, value_low = _halves(values)
    factor_high, factor_low = _halves(np.float64(factor))
    product_error = value_low * factor_low - (
        ((product - value_high * factor_high) - value_low * factor_high) - value_high * factor_low
    )
    total, total_error = _sum_with_error(product, offset)
    correction, lost = _sum_with_error(total_error, product_error)
    return total + _round_to_odd(correction, lost)


def _halves(values: Any) -> tuple[Any, Any]:
    """Two numbers of 26 bits that add up to each value."""
    shifted = values * 134217729.0
    high = shifted - (shifted - values)
    return high, values - high


def _sum_with_error(left: Any, right: Any) -> tuple[Any, Any]:
    total = left + right
    part = total - left
    return total, (left - (total - part)) + (right - part)


def _round_to_odd(values: np.ndarray, lost: np.ndarray) -> np.ndarray:
    """Mark in the last bit that something was lost, so that the next rounding is correct."""
    even = (np.ascontiguousarray(values).view(np.int64) & 1) == 0
    return np.where(even & (lost != 0), np.nextafter(values, np.copysign(np.inf, lost)), values)


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
    if unit.size <= 2 * _NORMAL_BLOCK:
        return np.array([value for pair in _exact_pairs(unit.tolist()) for value in pair])
    radius = np.sqrt(-2.0 * np.log1p(-unit[1::2]))
    angle = 2.0 * math.pi * unit[::2]
    drawn = np.empty_like(unit)
    drawn[::2] = radius * np.cos(angle)
    drawn[1::2] = radius * np.sin(angle)
    return drawn


def _exact_pairs(unit: list[float]) -> Any:
    # The C library's functions, unlike NumPy's vectorised ones, give PyTorch's very bits.
    for turn, square in zip(unit[::2], unit[1::2], strict=True):
        radius = math.sqrt(-2.0 * math.log1p(-square))
        angle = 2.0 * math.pi * turn
        yield radius * math.cos(angle), radius * math.sin(angle)


def _poisson_draw(rate: float, uniform: Callable[[], float]) -> float:
    if not rate >= 0:
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    if rate == 0:
        return 0.0
    return _poisson_rejection(rate, uniform) if rate >= 10 else _poisson_product(rate, uniform)


def _poisson_product(rate: float, uniform: Callable[[], float]) -> float:
    """Count the uniforms whose running product stays above ``exp(-rate)``."""
    floor = math.exp(-rate)
    product, count = uniform(), 0
    while product > floor:
        product *= uniform()
        count += 1
    return float(count)


def _poisson_rejection(rate: float, uniform: Callable[[], float]) -> float:
    """Hörmann's transformed rejection (PTRS), for rates that would need many uniforms."""
    log_rate = math.log(rate)
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    quick_limit = 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = uniform() - 0.5, uniform()
        distance = 0.5 - abs(u)
        if distance == 0:
            continue
        k = float(math.floor((2 * a / distance + b) * u + rate + 0.43))
        if distance >= 0.07 and v <= quick_limit:
            return k
        if k < 0 or (distance < 0.013 and v > distance):
            continue
        density = math.log(v) + math.log(inverse_alpha) - math.log(a / distance**2 + b)
        if density <= -rate + k * log_rate - math.lgamma(k + 1):
            return k


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
