"""The random stream beside PyTorch's CPU generator: same seed, same numbers, same state."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys
import threading
import warnings
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import retrograd
from retrograd.backend.numpy.streams import DEFAULT_SEED, STATE_BYTES, Stream

SEEDS = [0, 1, 42, 2**31, 2**32 - 1, 2**32 + 5, 2**63, 2**64 - 1, -1, -(2**63)]
SIZES = [0, 1, 2, 7, 15, 16, 17, 31, 32, 33, 255, 256, 511, 512, 623, 624, 625, 1000, 5003]
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
COMPLEX = [torch.complex64, torch.complex128]
INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
UNSIGNED = [torch.uint16, torch.uint32, torch.uint64]
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
NUMPY_DTYPES = {
    dtype: BFLOAT16 if dtype == torch.bfloat16 else np.dtype(str(dtype).removeprefix("torch."))
    for dtype in (torch.bool, *INTEGERS, *UNSIGNED, *FLOATS, *COMPLEX)
}
# PyTorch's sines and logarithms may differ from NumPy's in the last bits.
TOLERANCE = {
    torch.float16: 2e-3,
    torch.bfloat16: 2e-2,
    torch.float32: 3e-6,
    torch.float64: 4e-15,
    torch.complex64: 3e-6,
    torch.complex128: 4e-15,
}


def as_numpy(tensor: torch.Tensor) -> np.ndarray:
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


class Pair:
    """A stream and a PyTorch generator that start alike."""

    def __init__(self, seed: int) -> None:
        self.theirs = torch.Generator().manual_seed(seed)
        self.ours = Stream(seed)

    def check_state(self) -> None:
        assert self.ours.initial_seed == self.theirs.initial_seed()
        ours, theirs = self.ours.get_state(), self.theirs.get_state().numpy()
        cached = slice(5024, 5032)
        np.testing.assert_allclose(
            ours[cached].view(np.float64), theirs[cached].view(np.float64), rtol=4e-15
        )
        ours[cached] = theirs[cached]
        assert np.array_equal(ours, theirs)


@pytest.fixture
def portable_kernels() -> None:
    """Skip where PyTorch runs Intel's kernels, which draw one word for a whole tensor."""
    generator = torch.Generator().manual_seed(0)
    torch.empty(100).exponential_(generator=generator)
    if int(generator.get_state().numpy()[16:24].view(np.uint64)[0]) != 200:
        pytest.skip("PyTorch uses Intel's random kernels on this processor")


def assert_same(ours: np.ndarray, theirs: torch.Tensor) -> None:
    expected = as_numpy(theirs)
    assert ours.dtype == expected.dtype
    assert ours.shape == expected.shape
    np.testing.assert_array_equal(ours, expected)


def assert_close(ours: np.ndarray, theirs: torch.Tensor) -> None:
    expected = as_numpy(theirs)
    assert ours.dtype == expected.dtype
    assert ours.shape == expected.shape
    wide = np.complex128 if theirs.is_complex() else np.float64
    tolerance = TOLERANCE[theirs.dtype]
    np.testing.assert_allclose(
        ours.astype(wide), expected.astype(wide), rtol=tolerance, atol=tolerance
    )


# ---------------------------------------------------------------------- seeds and state


def test_a_stream_starts_like_a_generator() -> None:
    assert Stream().initial_seed == DEFAULT_SEED == torch.Generator().initial_seed()
    assert np.array_equal(Stream().get_state(), torch.Generator().get_state().numpy())
    assert Stream().get_state().size == STATE_BYTES == 5056


@pytest.mark.parametrize("seed", SEEDS)
def test_every_seed_gives_the_same_words(seed: int) -> None:
    pair = Pair(seed)
    pair.check_state()
    words = torch.empty(700, dtype=torch.int64).random_(0, 2**27, generator=pair.theirs)
    assert np.array_equal(pair.ours.random32(700) % 2**27, words.numpy())
    longs = torch.empty(700, dtype=torch.int64).random_(-(2**63), None, generator=pair.theirs)
    assert np.array_equal(pair.ours.random64(700).view(np.int64), longs.numpy())
    pair.check_state()


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_seeds_beyond_64_bits_are_refused(seed: int) -> None:
    with pytest.raises(ValueError) as theirs:
        torch.manual_seed(seed)
    with pytest.raises(ValueError) as ours:
        Stream(seed)
    assert str(ours.value) == str(theirs.value)


def test_a_seed_must_be_an_integer() -> None:
    with pytest.raises(TypeError):
        Stream(1.5)  # type: ignore[arg-type]


def test_reseeding_forgets_the_cached_normal() -> None:
    pair = Pair(3)
    pair.ours.normal((1,), np.float64)
    torch.randn(1, generator=pair.theirs)
    pair.ours.seed(4)
    pair.theirs.manual_seed(4)
    pair.check_state()


@pytest.mark.parametrize("draws", [0, 1, 2, 623, 624, 625, 1248, 1249])
def test_states_travel_both_ways(draws: int) -> None:
    pair = Pair(11)
    torch.rand(draws, generator=pair.theirs)
    torch.randn(3, generator=pair.theirs)
    receiver = Stream(0)
    receiver.set_state(pair.theirs.get_state().numpy())
    assert np.array_equal(receiver.get_state(), pair.theirs.get_state().numpy())
    assert_same(
        receiver.normal((4,), np.float64),
        torch.randn(4, 1, generator=pair.theirs, dtype=torch.float64)[:, 0],
    )

    sender = Stream(12)
    sender.uniform((draws,), np.float32)
    sender.normal((3,), np.float32)
    generator = torch.Generator()
    generator.set_state(torch.from_numpy(sender.get_state()))
    assert_same(
        sender.normal((5,), np.float64), torch.randn(5, generator=generator, dtype=torch.float64)
    )
    assert_same(sender.uniform((900,), np.float32), torch.rand(900, generator=generator))


@pytest.mark.parametrize("draws", [0, 1, 623, 624, 625])
def test_untouched_and_exhausted_states_are_told_apart(draws: int) -> None:
    pair = Pair(5)
    torch.rand(draws, generator=pair.theirs)
    pair.ours.uniform((draws,), np.float32)
    assert np.array_equal(pair.ours.get_state(), pair.theirs.get_state().numpy())


@pytest.mark.parametrize("change", ["dtype", "size", "unseeded", "left"])
def test_bad_states_are_refused_alike(change: str) -> None:
    state = torch.Generator().get_state()
    if change == "dtype":
        state = state.float()
    elif change == "size":
        state = state[:5048].clone()
    elif change == "unseeded":
        state[12:16] = 0
    else:
        state[8:12] = 0
    with pytest.raises((TypeError, RuntimeError)) as theirs:
        torch.Generator().set_state(state)
    stream = Stream(1)
    before = stream.get_state()
    with pytest.raises((TypeError, RuntimeError)) as ours:
        stream.set_state(state.numpy())
    assert type(ours.value) is type(theirs.value)
    if change != "dtype":  # torch words this one differently for a Generator and for set_rng_state
        assert str(ours.value) == str(theirs.value).split("\n")[0]
    assert np.array_equal(stream.get_state(), before)


def test_the_state_is_a_copy_that_can_be_written() -> None:
    stream = Stream(1)
    before = stream.get_state()
    stream.get_state()[:] = 0
    assert np.array_equal(stream.get_state(), before)


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, copy.copy, lambda stream: pickle.loads(pickle.dumps(stream))]
)
def test_copies_go_on_alike_and_apart(duplicate) -> None:
    stream = Stream(9)
    stream.normal((3,), np.float32)
    twin = duplicate(stream)
    assert np.array_equal(twin.normal((40,), np.float64), stream.normal((40,), np.float64))
    stream.uniform((1,), np.float32)
    assert not np.array_equal(twin.get_state(), stream.get_state())


def test_threads_share_a_stream_without_losing_draws() -> None:
    stream, drawn = Stream(7), []

    def draw() -> None:
        for _ in range(1000):
            drawn.append(stream.normal(1, np.float64).item())

    threads = [threading.Thread(target=draw) for _ in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    alone = Stream(7)
    assert sorted(drawn) == sorted(alone.normal(1, np.float64).item() for _ in range(4000))
    assert np.array_equal(stream.get_state(), alone.get_state())


def test_importing_the_module_does_not_load_numpy_random() -> None:
    program = (
        "import sys\n"
        "from retrograd.backend.numpy.streams import Stream\n"
        "Stream(3)\n"
        "print([name for name in ('numpy.random', 'ml_dtypes') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


# ---------------------------------------------------------------------- continuous


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", FLOATS + COMPLEX, ids=str)
def test_rand(dtype: torch.dtype, size: int) -> None:
    for seed in SEEDS[:4]:
        pair = Pair(seed)
        theirs = torch.rand(size, dtype=dtype, generator=pair.theirs)
        assert_same(pair.ours.uniform((size,), NUMPY_DTYPES[dtype]), theirs)
        pair.check_state()


@pytest.mark.parametrize(
    "bounds",
    [
        (-1.0, 1.0),
        (0.1, 0.7),
        (3.3, 1000.0),
        (0.0, 0.3),
        (-1.0, -0.3),
        (-5.3, 0.0),
        (2.0, 2.0),
        (0.25, 0.2501),
        (1000.0, 1000.001),
        (-1e-30, 1e-30),
        (math.pi, math.e * 7),
    ],
)
@pytest.mark.parametrize("dtype", FLOATS + COMPLEX, ids=str)
def test_uniform_between_bounds(dtype: torch.dtype, bounds: tuple[float, float]) -> None:
    pair = Pair(21)
    theirs = torch.empty(300, 101, dtype=dtype).uniform_(*bounds, generator=pair.theirs)
    assert_same(pair.ours.uniform((300, 101), NUMPY_DTYPES[dtype], *bounds), theirs)
    pair.check_state()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", FLOATS + COMPLEX, ids=str)
def test_randn(dtype: torch.dtype, size: int) -> None:
    for seed in SEEDS[:4]:
        pair = Pair(seed)
        theirs = torch.randn(size, dtype=dtype, generator=pair.theirs)
        assert_close(pair.ours.normal((size,), NUMPY_DTYPES[dtype]), theirs)
        pair.check_state()


@pytest.mark.parametrize("size", [3, 15, 16, 50])
@pytest.mark.parametrize("dtype", FLOATS + COMPLEX, ids=str)
def test_normal_with_mean_and_spread(dtype: torch.dtype, size: int) -> None:
    pair = Pair(22)
    theirs = torch.empty(size, dtype=dtype).normal_(0.3, 1.7, generator=pair.theirs)
    assert_close(pair.ours.normal((size,), NUMPY_DTYPES[dtype], 0.3, 1.7), theirs)
    pair.check_state()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_normal_into_a_strided_tensor(dtype: torch.dtype) -> None:
    pair = Pair(23)
    theirs = torch.zeros(77, 2, dtype=dtype)[:, 0].normal_(0.3, 1.7, generator=pair.theirs)
    ours = pair.ours.normal((77,), NUMPY_DTYPES[dtype], 0.3, 1.7, contiguous=False)
    assert_close(ours, theirs.contiguous())
    pair.check_state()


@pytest.mark.parametrize("seed", range(20))
def test_few_normals_are_equal_to_the_bit(seed: int) -> None:
    pair = Pair(seed)
    for size in (1, 2, 15, 7, 0, 3):
        theirs = torch.empty(size, dtype=torch.float64).normal_(0.1, 2.3, generator=pair.theirs)
        assert_same(pair.ours.normal((size,), np.float64, 0.1, 2.3), theirs)
    assert np.array_equal(pair.ours.get_state(), pair.theirs.get_state().numpy())


@pytest.mark.parametrize("size", [0, 1, 9, 16, 1001])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_log_normal_and_cauchy(dtype: torch.dtype, size: int) -> None:
    pair = Pair(24)
    empty = torch.empty(size, dtype=dtype)
    theirs = empty.clone().log_normal_(0.3, 0.8, generator=pair.theirs)
    assert_close(pair.ours.log_normal((size,), NUMPY_DTYPES[dtype], 0.3, 0.8), theirs)
    pair.check_state()
    theirs = empty.clone().cauchy_(0.3, 0.8, generator=pair.theirs)
    assert_close(pair.ours.cauchy((size,), NUMPY_DTYPES[dtype], 0.3, 0.8), theirs)
    pair.check_state()


@pytest.mark.usefixtures("portable_kernels")
@pytest.mark.parametrize("rate", [1.0, 0.3, 17.5, math.inf])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_exponential(dtype: torch.dtype, rate: float) -> None:
    pair = Pair(25)
    theirs = torch.empty(1001, dtype=dtype).exponential_(rate, generator=pair.theirs)
    assert_close(pair.ours.exponential((1001,), NUMPY_DTYPES[dtype], rate), theirs)
    pair.check_state()


# ---------------------------------------------------------------------- discrete


@pytest.mark.parametrize(
    "bounds",
    [
        (0, 2),
        (0, 1),
        (-5, 5),
        (3, 100),
        (0, 10**6),
        (-(10**6), 7),
        (0, 2**24),
        (0, 2**28 - 1),
        (0, 2**28),
        (0, 2**31),
        (-(2**31), 2**31),
        (5, 2**32),
        (0, 2**32 + 1),
        (0, 2**53),
        (-(2**62), 2**62),
        (-(2**63), 2**63 - 1),
        (-(2**63) + 2**40, 5),
        (0, 2**24 + 2),
        (-(2**24) - 1, 9),
        (0, 4099),
    ],
)
@pytest.mark.parametrize("dtype", INTEGERS + UNSIGNED + FLOATS + [torch.bool], ids=str)
def test_randint(dtype: torch.dtype, bounds: tuple[int, int]) -> None:
    pair = Pair(31)
    with warnings.catch_warnings(record=True) as theirs_warned:
        warnings.simplefilter("always")
        try:
            theirs = torch.empty(700, dtype=dtype).random_(*bounds, generator=pair.theirs)
        except RuntimeError as error:
            theirs = error
    with warnings.catch_warnings(record=True) as ours_warned:
        warnings.simplefilter("always")
        if isinstance(theirs, RuntimeError):
            with pytest.raises(RuntimeError) as ours_error:
                pair.ours.integers(*bounds, (700,), NUMPY_DTYPES[dtype])
            assert str(ours_error.value) == str(theirs).split("\n")[0]
        else:
            assert_same(pair.ours.integers(*bounds, (700,), NUMPY_DTYPES[dtype]), theirs)
    pair.check_state()
    if theirs_warned:  # PyTorch warns once in a process, the stream each time
        first = str(theirs_warned[0].message).split(" (Triggered")[0]
        assert first in [str(warning.message) for warning in ours_warned]


@pytest.mark.parametrize("low", [0, 5, 100])
@pytest.mark.parametrize("dtype", INTEGERS + FLOATS, ids=str)
def test_random_from_a_lower_bound(dtype: torch.dtype, low: int) -> None:
    pair = Pair(32)
    theirs = torch.empty(700, dtype=dtype).random_(low, None, generator=pair.theirs)
    assert_same(pair.ours.integers(low, None, (700,), NUMPY_DTYPES[dtype]), theirs)
    pair.check_state()


@pytest.mark.parametrize("dtype", [torch.bool, *INTEGERS, *FLOATS], ids=str)
def test_random_without_bounds(dtype: torch.dtype) -> None:
    pair = Pair(33)
    theirs = torch.empty(700, dtype=dtype).random_(generator=pair.theirs)
    assert_same(pair.ours.integers(None, None, (700,), NUMPY_DTYPES[dtype]), theirs)
    pair.check_state()


@pytest.mark.parametrize("size", [0, 1, 2, 3, 10, 127, 255, 256, 257, 258, 1000, 4096, 300_001])
def test_randperm(size: int) -> None:
    for seed in range(5):
        pair = Pair(seed)
        assert_same(pair.ours.permutation(size), torch.randperm(size, generator=pair.theirs))
        pair.check_state()


@pytest.mark.parametrize("size", [100, 127, 128, 255, 256, 257, 258, 2049, 2050, 70_000])
@pytest.mark.parametrize("dtype", INTEGERS + FLOATS + [torch.bool, torch.uint16], ids=str)
def test_randperm_of_every_dtype(dtype: torch.dtype, size: int) -> None:
    pair = Pair(34)
    try:
        theirs = torch.randperm(size, dtype=dtype, generator=pair.theirs)
    except RuntimeError as error:
        with pytest.raises(type(error)) as ours:
            pair.ours.permutation(size, NUMPY_DTYPES[dtype])
        assert str(ours.value) == str(error).split("\n")[0]
    else:
        assert_same(pair.ours.permutation(size, NUMPY_DTYPES[dtype]), theirs)
    pair.check_state()


@pytest.mark.parametrize("output", [torch.bool, *INTEGERS, *FLOATS], ids=str)
@pytest.mark.parametrize("given", FLOATS, ids=str)
def test_bernoulli_of_an_array(given: torch.dtype, output: torch.dtype) -> None:
    pair = Pair(35)
    p = torch.rand(33, 40, dtype=torch.float64).to(given)
    theirs = torch.empty(33, 40, dtype=output).bernoulli_(p, generator=pair.theirs)
    assert_same(pair.ours.bernoulli(as_numpy(p), dtype=NUMPY_DTYPES[output]), theirs)
    row = p[:1]
    theirs = torch.empty(33, 40, dtype=output).bernoulli_(row, generator=pair.theirs)
    assert_same(pair.ours.bernoulli(as_numpy(row), (33, 40), NUMPY_DTYPES[output]), theirs)
    theirs = torch.bernoulli(p, generator=pair.theirs)
    assert_same(pair.ours.bernoulli(as_numpy(p)), theirs)
    pair.check_state()


@pytest.mark.usefixtures("portable_kernels")
@pytest.mark.parametrize("p", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("dtype", [torch.bool, *INTEGERS, *FLOATS], ids=str)
def test_bernoulli_of_a_number(dtype: torch.dtype, p: float) -> None:
    pair = Pair(36)
    theirs = torch.empty(1001, dtype=dtype).bernoulli_(p, generator=pair.theirs)
    assert_same(pair.ours.bernoulli(p, (1001,), NUMPY_DTYPES[dtype]), theirs)
    pair.check_state()


@pytest.mark.usefixtures("portable_kernels")
@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_dropout_mask(dtype: torch.dtype, p: float) -> None:
    stream = Stream(37)
    with torch.random.fork_rng():
        torch.manual_seed(37)
        kept = torch.nn.functional.dropout(torch.ones(40, 50, dtype=dtype), p) != 0
        state = torch.get_rng_state()
    mask = stream.dropout_mask((40, 50), NUMPY_DTYPES[dtype], p)
    assert mask.dtype == NUMPY_DTYPES[dtype]
    assert np.array_equal(mask.astype(bool), kept.numpy())
    assert np.array_equal(stream.get_state(), state.numpy())


# A probability of 0.2 keeps the counts within eight bits, 0.003 within sixteen.
@pytest.mark.parametrize(
    "dtype,p",
    [
        *((dtype, p) for dtype in INTEGERS + FLOATS for p in (0.2, 0.99)),
        *((dtype, 0.003) for dtype in [torch.int16, torch.int32, torch.int64, *FLOATS]),
    ],
    ids=str,
)
def test_geometric(dtype: torch.dtype, p: float) -> None:
    pair = Pair(38)
    theirs = torch.empty(1001, dtype=dtype).geometric_(p, generator=pair.theirs)
    assert_same(pair.ours.geometric((1001,), NUMPY_DTYPES[dtype], p), theirs)
    pair.check_state()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_poisson(dtype: torch.dtype) -> None:
    pair = Pair(39)
    rates = torch.tensor([0.0, 0.1, 1.0, 3.7, 9.99, 10.0, 12.5, 80.0, 3000.0]).to(dtype)
    rates = rates.repeat(100).reshape(30, 30)
    assert_same(pair.ours.poisson(as_numpy(rates)), torch.poisson(rates, generator=pair.theirs))
    pair.check_state()


@pytest.mark.usefixtures("portable_kernels")
@pytest.mark.parametrize("shape", [(1,), (10,), (4, 33)])
@pytest.mark.parametrize("count,replacement", [(1, True), (1, False), (7, False), (7, True)])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_multinomial(
    dtype: torch.dtype, count: int, replacement: bool, shape: tuple[int, ...]
) -> None:
    if not replacement:
        count = min(count, shape[-1])
    for seed in range(10):
        pair = Pair(seed)
        weights = (torch.rand(shape, generator=torch.Generator().manual_seed(seed)) + 0.1).to(dtype)
        theirs = torch.multinomial(weights, count, replacement, generator=pair.theirs)
        assert_same(pair.ours.multinomial(as_numpy(weights), count, replacement), theirs)
        pair.check_state()


@pytest.mark.usefixtures("portable_kernels")
def test_multinomial_never_picks_a_zero() -> None:
    weights = torch.tensor([0.0, 1.0, 0.0, 2.0, 0.0])
    for replacement, count in ((True, 50), (False, 2), (True, 1)):
        pair = Pair(40)
        theirs = torch.multinomial(weights, count, replacement, generator=pair.theirs)
        ours = pair.ours.multinomial(weights.numpy(), count, replacement)
        assert_same(ours, theirs)
        assert set(ours.tolist()) <= {1, 3}


# ---------------------------------------------------------------------- whole programs


@pytest.mark.parametrize("seed", range(12))
def test_repeated_draws_of_a_few_numbers_stay_in_step(seed: int) -> None:
    """They find their next results ready, until something else is drawn or the state is read."""
    choose = np.random.default_rng(seed)
    libraries = retrograd, torch
    for library in libraries:
        library.manual_seed(seed)
    for _ in range(40):
        name = str(choose.choice(["rand", "randn", "randperm"], p=[0.45, 0.45, 0.1]))
        size = int(choose.choice([0, 1, 2, 5, 8, 14, 16, 40]))
        shape = (size,) if name == "randperm" or choose.random() < 0.7 else (2, size)
        for _ in range(int(choose.choice([1, 2, 3, 50, 170]))):
            ours, theirs = (getattr(library, name)(*shape) for library in libraries)
            (assert_close if name == "randn" else assert_same)(ours.numpy(), theirs)
        if choose.random() < 0.3:
            states = [library.get_rng_state().numpy() for library in libraries]
            cached = slice(5024, 5032)  # a normal number that waits, equal but for a last bit
            np.testing.assert_allclose(*[s[cached].view(np.float64) for s in states], rtol=4e-15)
            assert np.array_equal(*[np.delete(s, cached) for s in states])


@pytest.mark.parametrize("name", ["rand", "randn"])
def test_threads_share_what_is_ready(name: str) -> None:
    draw, found = getattr(retrograd, name), []
    retrograd.manual_seed(3)
    threads = [threading.Thread(target=lambda: found.extend(draw(8) for _ in range(1000)))
               for _ in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    state = retrograd.get_rng_state()
    retrograd.manual_seed(3)
    alone = [draw(8).tolist() for _ in range(4000)]
    assert sorted(x.tolist() for x in found) == sorted(alone)
    assert retrograd.equal(state, retrograd.get_rng_state())


@pytest.mark.usefixtures("portable_kernels")
@pytest.mark.parametrize("seed", range(8))
def test_mixed_calls_stay_in_step(seed: int) -> None:
    pair = Pair(seed)
    choose = np.random.default_rng(seed)
    for _ in range(60):
        size = int(choose.choice([1, 3, 7, 15, 16, 17, 31, 600]))
        dtype = FLOATS[choose.integers(4)]
        ours, theirs, given = pair.ours, pair.theirs, NUMPY_DTYPES[dtype]
        empty = torch.empty(size, dtype=dtype)
        match int(choose.integers(7)):
            case 0:
                assert_close(ours.normal(size, given), empty.normal_(generator=theirs))
            case 1:
                assert_same(ours.uniform(size, given), empty.uniform_(generator=theirs))
            case 2:
                assert_same(ours.permutation(size), torch.randperm(size, generator=theirs))
            case 3:
                assert_same(
                    ours.integers(0, 9, size), torch.randint(0, 9, (size,), generator=theirs)
                )
            case 4:
                assert_close(
                    ours.log_normal(size, given, 0.0, 1.0),
                    empty.log_normal_(0.0, 1.0, generator=theirs),
                )
            case 5:
                assert_same(
                    ours.bernoulli(0.4, size, given), empty.bernoulli_(0.4, generator=theirs)
                )
            case 6:
                state = torch.from_numpy(ours.get_state())
                ours.set_state(theirs.get_state().numpy())
                theirs.set_state(state)
        pair.check_state()


@pytest.mark.parametrize("fan_in,fan_out", [(1, 1), (3, 5), (10, 4), (784, 100)])
def test_linear_layer_initialisation(fan_in: int, fan_out: int) -> None:
    """``nn.Linear`` draws its weight, then its bias, both from ``±1/sqrt(fan_in)``."""
    with torch.random.fork_rng():
        torch.manual_seed(50)
        layer = torch.nn.Linear(fan_in, fan_out)
    stream = Stream(50)
    gain = math.sqrt(2.0 / (1 + math.sqrt(5) ** 2))
    bound = math.sqrt(3.0) * (gain / math.sqrt(fan_in))
    weight = stream.uniform((fan_out, fan_in), np.float32, -bound, bound)
    assert_same(weight, layer.weight.detach())
    bound = 1 / math.sqrt(fan_in)
    assert_same(stream.uniform((fan_out,), np.float32, -bound, bound), layer.bias.detach())


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_a_million_draws(dtype: torch.dtype) -> None:
    pair, given = Pair(51), NUMPY_DTYPES[dtype]
    size = 1_000_003
    assert_same(
        pair.ours.uniform(size, given, -0.1, 0.37),
        torch.empty(size, dtype=dtype).uniform_(-0.1, 0.37, generator=pair.theirs),
    )
    assert_close(
        pair.ours.normal(size, given), torch.randn(size, dtype=dtype, generator=pair.theirs)
    )
    pair.check_state()


SPREAD = np.geomspace(1e-3, 1e5, 3000)
CHANCES = np.random.default_rng(0).permutation(np.linspace(0, 1, 3000))
ROUND = np.arange(0, 41, 0.5)  # where one way to draw ends and another begins
REJECTIONS = {
    "binomial": lambda lib: lib.binomial(lib.tensor(SPREAD).floor(), lib.tensor(CHANCES)),
    "binomial of few": lambda lib: lib.binomial(
        lib.tensor(SPREAD).floor().clamp(max=40), lib.tensor(CHANCES)),
    "binomial in single precision": lambda lib: lib.binomial(
        lib.tensor(SPREAD).floor().float(), lib.tensor(CHANCES).float()),
    "poisson": lambda lib: lib.poisson(lib.tensor(SPREAD)),
    "poisson of few": lambda lib: lib.poisson(lib.tensor(CHANCES * 20)),
    "gamma": lambda lib: lib._standard_gamma(lib.tensor(SPREAD)),
    "gamma of shapes below one": lambda lib: lib._standard_gamma(lib.tensor(CHANCES + 1e-3)),
    "binomial of round numbers": lambda lib: lib.binomial(
        lib.tensor(ROUND).floor()[:, None].repeat(3, 6),
        lib.tensor([0, 0.25, 0.5, 0.625, 0.75, 1]).double().repeat(len(ROUND) * 3, 1)),
    "poisson of round numbers": lambda lib: lib.poisson(lib.tensor(ROUND).repeat(9)),
    "gamma of round numbers": lambda lib: lib._standard_gamma(lib.tensor(ROUND[1:]).repeat(9)),
    "dirichlet": lambda lib: lib._sample_dirichlet(lib.tensor(SPREAD.reshape(-1, 3))),
}


@pytest.mark.parametrize("name", REJECTIONS)
def test_draws_that_are_made_until_one_is_taken(name: str) -> None:
    """Of parameters of every size: each draw takes as many numbers as PyTorch's."""
    drawn = []
    for lib in (torch, retrograd):
        lib.manual_seed(3)
        drawn += [REJECTIONS[name](lib), lib.rand(3)]
    wanted, theirs_next, found, ours_next = (x.numpy() for x in drawn)
    np.testing.assert_allclose(found, wanted, rtol=1e-6 if found.dtype == np.float32 else 1e-12)
    assert ours_next.tolist() == theirs_next.tolist()


# ---------------------------------------------------------------------- refusals


def filled(name: str, *args: float, dtype: torch.dtype = torch.float32) -> tuple[Any, Any]:
    """Filling a tensor by the method of this name, and drawing as many numbers."""
    return (
        lambda: getattr(torch.empty(3, dtype=dtype), f"{name}_")(*args),
        lambda s: getattr(s, name)(3, NUMPY_DTYPES[dtype], *args),
    )


REFUSALS = {
    "uniform backwards": filled("uniform", 2, 1),
    "uniform beyond float": filled("uniform", 0, 1e39),
    "uniform from nan": filled("uniform", math.nan, 1),
    "uniform too wide": filled("uniform", -3e38, 3e38),
    "uniform beyond half": filled("uniform", 0, 1e6, dtype=torch.float16),
    "uniform beyond bfloat16": filled("uniform", 0, 3.4e38, dtype=torch.bfloat16),
    "normal spread": filled("normal", 0, -1),
    "log-normal spread": filled("log_normal", 0, 0),
    "log-normal integers": filled("log_normal", dtype=torch.int64),
    "cauchy spread": filled("cauchy", 0, 0),
    "cauchy integers": filled("cauchy", dtype=torch.int64),
    "exponential rate": filled("exponential", -1),
    "exponential integers": filled("exponential", dtype=torch.int64),
    "geometric p": filled("geometric", 1),
    "geometric bool": filled("geometric", 0.5, dtype=torch.bool),
    "uniform integers": (
        lambda: torch.rand(3, dtype=torch.int64),
        lambda s: s.uniform(3, np.int64),
    ),
    "normal integers": (
        lambda: torch.randn(3, dtype=torch.int32),
        lambda s: s.normal(3, np.int32),
    ),
    "randint empty": (lambda: torch.randint(5, 5, (3,)), lambda s: s.integers(5, 5, 3)),
    "randint too large": (
        lambda: torch.randint(0, 2**63, (3,)),
        lambda s: s.integers(0, 2**63, 3),
    ),
    "random complex": (
        lambda: torch.empty(3, dtype=torch.complex64).random_(),
        lambda s: s.integers(None, None, 3, np.complex64),
    ),
    "random_ of uint16": (
        lambda: torch.empty(3, dtype=torch.uint16).random_(),
        lambda s: s.integers(None, None, 3, np.uint16),
    ),
    "randint complex": (
        lambda: torch.empty(3, dtype=torch.complex64).random_(0, 3),
        lambda s: s.integers(0, 3, 3, np.complex64),
    ),
    "randperm negative": (lambda: torch.randperm(-1), lambda s: s.permutation(-1)),
    "bernoulli number": (
        lambda: torch.empty(3).bernoulli_(1.5),
        lambda s: s.bernoulli(1.5, 3, np.float32),
    ),
    "bernoulli array": (
        lambda: torch.bernoulli(torch.tensor([0.5, math.nan])),
        lambda s: s.bernoulli(np.array([0.5, math.nan], np.float32)),
    ),
    "bernoulli integers": (
        lambda: torch.bernoulli(torch.ones(3, dtype=torch.int64)),
        lambda s: s.bernoulli(np.ones(3, np.int64)),
    ),
    "poisson rate": (
        lambda: torch.poisson(torch.tensor([-1.0])),
        lambda s: s.poisson(np.array([-1.0], np.float32)),
    ),
    "poisson integers": (
        lambda: torch.poisson(torch.tensor([1])),
        lambda s: s.poisson(np.array([1])),
    ),
    **{
        f"multinomial {probs} {count} {replacement}": (
            lambda probs=probs, count=count, replacement=replacement: torch.multinomial(
                torch.tensor(probs), count, replacement
            ),
            lambda s, probs=probs, count=count, replacement=replacement: s.multinomial(
                np.asarray(probs, None if probs in (1, [1, 2]) else np.float32), count, replacement
            ),
        )
        for probs, count, replacement in [
            ([1.0, -1.0], 1, False),
            ([1.0, -1.0], 3, True),
            ([0.0, 0.0], 1, False),
            ([0.0, 0.0], 3, True),
            ([1.0, math.inf], 1, True),
            ([1.0, math.inf], 3, True),
            ([1.0, math.nan], 3, True),
            ([1.0, math.nan], 1, True),
            ([1.0, 2.0], 0, True),
            ([1.0, 2.0], 3, False),
            ([[[1.0]]], 1, False),
            (1.0, 1, False),
            ([1, 2], 1, False),
        ]
    },
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_are_worded_alike(name: str) -> None:
    theirs_call, ours_call = REFUSALS[name]
    with pytest.raises(Exception) as theirs:
        theirs_call()
    with pytest.raises(Exception) as ours:
        ours_call(Stream(1))
    assert type(ours.value) is type(theirs.value)
    wording = str(theirs.value).split("\n")[0].split("  (Could this")[0]
    assert str(ours.value) == wording
