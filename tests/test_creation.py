"""Making tensors: dtypes, shapes, memory and errors."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

import retrograd as torch

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]


# ---------------------------------------------------------------- from data


@pytest.mark.parametrize("data, dtype, shape", [
    (1, torch.int64, ()),
    (1.5, torch.float32, ()),
    (True, torch.bool, ()),
    (2j, torch.complex64, ()),
    ([], torch.float32, (0,)),
    ([[], []], torch.float32, (2, 0)),
    ([1, 2.0], torch.float32, (2,)),
    ([True, 2], torch.int64, (2,)),
    ([[1, 2], [3, 4]], torch.int64, (2, 2)),
    (((1.0,), [2.0]), torch.float32, (2, 1)),
    (range(3), torch.int64, (3,)),
    (np.float64(1), torch.float64, ()),
    ([np.int8(1), np.int8(2)], torch.int8, (2,)),
    (np.zeros((2, 3), np.float16), torch.float16, (2, 3)),
    (torch.Size([2, 3]), torch.int64, (2,)),
])
def test_dtype_and_shape_follow_the_data(data, dtype, shape):
    made = torch.tensor(data)
    assert made.dtype is dtype
    assert made.shape == shape


def test_default_dtype_decides_what_floats_become():
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.tensor(1.5).dtype is torch.float64
        assert torch.tensor(1j).dtype is torch.complex128
        assert torch.zeros(1).dtype is torch.float64
        assert torch.arange(1.0).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("data, error, message", [
    ([[1, 2], [3]], ValueError, r"expected sequence of length 2 at dim 1 \(got 1\)"),
    ([[1], 2], TypeError, "not a sequence"),
    ([1, [2]], TypeError, "'list' object cannot be interpreted as an integer"),
    ("text", TypeError, r"new\(\): invalid data type 'str'"),
    (["text"], ValueError, "too many dimensions 'str'"),
    (None, RuntimeError, "Could not infer dtype of NoneType"),
    ({"a": 1}, RuntimeError, "Could not infer dtype of dict"),
    (2**63, ValueError, "Overflow when unpacking long long"),
    (np.array(["a"]), TypeError, "can't convert np.ndarray of type numpy.str_"),
    (np.arange(3)[::-1], ValueError, "At least one stride in the given numpy array is negative"),
])
def test_data_that_is_refused(data, error, message):
    with pytest.raises(error, match=message):
        torch.tensor(data)


@pytest.mark.parametrize("value, dtype, error, message", [
    (300, torch.uint8, RuntimeError, "value cannot be converted to type uint8 without overflow"),
    (2**40, torch.int32, RuntimeError, "value cannot be converted to type int32 without overflow"),
    (math.nan, torch.int64, RuntimeError, "without overflow"),
    (1j, torch.float32, TypeError, "must be real number, not complex"),
    ("a", torch.float32, TypeError, "invalid data type 'str'"),
])
def test_values_that_do_not_fit_a_dtype_are_refused(value, dtype, error, message):
    with pytest.raises(error, match=message):
        torch.tensor(value, dtype=dtype)
    if not isinstance(value, str):
        with pytest.raises(error, match=message):
            torch.tensor([value], dtype=dtype)


def test_explicit_dtypes_convert():
    assert torch.tensor([1.7, -1.7], dtype=torch.int8).tolist() == [1, -1]
    assert torch.tensor([0.5, 0], dtype=torch.bool).tolist() == [True, False]
    assert torch.tensor(-1, dtype=torch.uint8).item() == 255
    assert torch.tensor(1e40, dtype=torch.float32).item() == math.inf
    assert torch.tensor([1], dtype=float).dtype is torch.float64


def test_tensor_copies_and_as_tensor_shares():
    array = np.arange(3.0)
    copied, shared = torch.tensor(array), torch.as_tensor(array)
    array[0] = 9
    assert copied[0].item() == 0
    assert shared[0].item() == 9
    assert torch.as_tensor(shared) is shared
    assert torch.as_tensor(shared, dtype=torch.float32).dtype is torch.float32


def test_tensor_of_a_tensor_warns():
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        made = torch.tensor(x)
    assert made.is_leaf and not made.requires_grad


def test_from_numpy_shares_memory_both_ways():
    array = np.zeros((2, 3))
    made = torch.from_numpy(array)
    made[0, 0] = 1
    assert array[0, 0] == 1
    assert made.numpy().__array_interface__["data"] == array.__array_interface__["data"]
    assert torch.from_numpy(array.T).stride() == (1, 3)


def test_asarray_copies_on_demand():
    x = torch.ones(2)
    assert torch.asarray(x) is x
    assert torch.asarray(x, copy=True).data_ptr() != x.data_ptr()
    with pytest.raises(ValueError, match="can't alias tensor with dtype 'Float' into dtype 'Doub"):
        torch.asarray(x, dtype=torch.float64, copy=False)


def test_frombuffer_reads_any_buffer():
    memory = bytearray(b"\x01\x02\x03\x04")
    made = torch.frombuffer(memory, dtype=torch.int16)
    assert made.tolist() == [513, 1027]
    memory[0] = 2
    assert made[0].item() == 514
    assert torch.frombuffer(memory, dtype=torch.uint8, count=2, offset=1).tolist() == [2, 3]
    with pytest.raises(ValueError, match="must be a multiple of element size"):
        torch.frombuffer(bytearray(3), dtype=torch.int16)


def test_dlpack_shares_memory():
    array = np.arange(3.0)
    made = torch.from_dlpack(array)
    made[0] = 7
    assert array[0] == 7
    assert np.from_dlpack(made)[0] == 7
    capsule = torch.utils.dlpack.to_dlpack(made)
    assert torch.utils.dlpack.from_dlpack(capsule).data_ptr() == made.data_ptr()
    with pytest.raises(BufferError, match="Can't export tensors that require gradient"):
        torch.from_dlpack(torch.ones(1, requires_grad=True))


# ---------------------------------------------------------------- filled, ranges


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, torch.bool, torch.complex64], ids=repr)
def test_filled_tensors_of_every_dtype(dtype):
    for made, value in ((torch.zeros(2, 3, dtype=dtype), 0), (torch.ones((2, 3), dtype=dtype), 1),
                        (torch.full((2, 3), 1, dtype=dtype), 1)):
        assert made.shape == (2, 3) and made.dtype is dtype
        assert made.tolist() == [[value] * 3] * 2
    like = torch.zeros(3, 2, dtype=dtype).T
    assert torch.ones_like(like).stride() == (1, 2)
    assert torch.full_like(like, 1).tolist() == [[1] * 3] * 2


def test_the_value_of_full_decides_its_dtype():
    dtypes = [torch.full((1,), v).dtype for v in (True, 1, 1.0, 1j)]
    assert dtypes == [torch.bool, torch.int64, torch.float32, torch.complex64]
    with pytest.raises(RuntimeError, match="value cannot be converted to type uint8_t without"):
        torch.full((1,), 300, dtype=torch.uint8)


@pytest.mark.parametrize("size, message", [
    ((2.5,), "argument 'size' (position 1) must be tuple of ints, not float"),
    (((2, 3.5),), "argument 'size' failed to unpack the object at pos 2"),
    ((None,), "must be tuple of ints, not NoneType"),
    ((), 'missing 1 required positional arguments: "size"'),
])
def test_wrong_sizes_are_refused(size, message):
    for factory in (torch.zeros, torch.ones, torch.ones(1).new_zeros):
        with pytest.raises(TypeError) as caught:
            factory(*size)
        assert message in str(caught.value)


def test_negative_sizes_are_refused():
    with pytest.raises(RuntimeError, match="zeros: Dimension size must be non-negative"):
        torch.zeros(-1)
    with pytest.raises(RuntimeError, match=r"negative dimension -1: \[2, -1\]"):
        torch.ones(2, -1)


@pytest.mark.parametrize("args, expected, dtype", [
    ((3,), [0, 1, 2], torch.int64),
    ((3.0,), [0.0, 1.0, 2.0], torch.float32),
    ((5, 1, -2), [5, 3], torch.int64),
    ((0, 1, 0.25), [0.0, 0.25, 0.5, 0.75], torch.float32),
    ((2, 2), [], torch.int64),
])
def test_arange(args, expected, dtype):
    made = torch.arange(*args)
    assert made.tolist() == expected and made.dtype is dtype


def test_arange_by_keyword_and_its_errors():
    assert torch.arange(end=2).tolist() == [0, 1]
    assert torch.arange(1, end=3).tolist() == [1, 2]
    assert torch.arange(start=1, end=6, step=2).tolist() == [1, 3, 5]
    for args, message in (((5, 1), "upper bound and lower bound inconsistent with step sign"),
                          ((1, 2, 0), "step must be nonzero"), ((math.nan,), "unsupported range")):
        with pytest.raises(RuntimeError, match=message):
            torch.arange(*args)


def test_linspace_meets_both_ends_exactly():
    made = torch.linspace(0.1, 0.7, 7, dtype=torch.float64)
    assert made[0].item() == 0.1 and made[-1].item() == 0.7
    assert torch.linspace(0, 10, 4, dtype=torch.int64).tolist() == [0, 3, 6, 10]
    assert torch.linspace(3, 9, 1).tolist() == [3.0]
    assert torch.logspace(0, 3, 4, base=2).tolist() == [1.0, 2.0, 4.0, 8.0]


def test_eye_and_strided_memory():
    assert torch.eye(2, 3, dtype=torch.int64).tolist() == [[1, 0, 0], [0, 1, 0]]
    made = torch.empty_strided((2, 3), (1, 2))
    assert made.stride() == (1, 2) and made.untyped_storage().nbytes() == 24
    assert made.new_empty_strided((2, 2), (4, 1)).untyped_storage().nbytes() == 24


def test_out_is_resized_and_written():
    out = torch.ones(3)
    assert torch.zeros(2, out=out) is out
    assert out.tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match=r"dtype Double does not match dtype of out parameter"):
        torch.zeros(2, out=out, dtype=torch.float64)


def test_requires_grad_needs_a_floating_dtype():
    assert torch.zeros(2, requires_grad=True).is_leaf
    for call in (lambda: torch.arange(3, requires_grad=True),
                 lambda: torch.tensor([1], requires_grad=True),
                 lambda: torch.full((2,), 1, requires_grad=True)):
        with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype"):
            call()


def test_only_the_cpu_is_there():
    assert torch.zeros(1, device="cpu").device == torch.device("cpu")
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        torch.zeros(1, device="cuda")
    with pytest.raises(NotImplementedError, match="no arrays on device 'mps'"):
        torch.zeros(1, device="mps")


# ---------------------------------------------------------------- casts


@pytest.mark.parametrize("source", [*FLOATS, *INTEGERS, torch.bool], ids=repr)
@pytest.mark.parametrize("target", [*FLOATS, *INTEGERS, torch.bool], ids=repr)
def test_casts_between_all_dtypes(source, target):
    x = torch.tensor([0, 1, 1], dtype=source)
    y = x.to(target)
    assert y.dtype is target and y.tolist() == [0, 1, 1]
    assert (y is x) == (source is target)


def test_casts_keep_layout_and_graph():
    x = torch.ones(2, 3, requires_grad=True)
    y = (2 * x).T.double()
    assert y.stride() == (1, 3)
    assert y.grad_fn.name() == "ToCopyBackward0"
    y.sum().backward()
    assert x.grad.dtype is torch.float32 and x.grad.tolist() == [[2.0] * 3] * 2
    assert not x.long().requires_grad


def test_every_way_to_call_to():
    x = torch.ones(2)
    assert x.to("cpu") is x and x.to(torch.float32) is x and x.to(x) is x and x.to() is x
    assert x.to(torch.float32, copy=True).data_ptr() != x.data_ptr()
    for y in (x.to(torch.float64), x.to("cpu", torch.float64), x.to(dtype=torch.float64),
              x.to(torch.ones(1, dtype=torch.float64)), x.type(torch.float64), x.double(),
              x.type("torch.DoubleTensor"), x.type_as(x.double()), x.to(float)):
        assert y.dtype is torch.float64
    with pytest.raises(TypeError, match=r"to\(\) received an invalid combination of arguments"):
        x.to(foo=1)


def test_channels_last():
    x = torch.zeros(2, 3, 4, 5)
    y = x.to(memory_format=torch.channels_last)
    assert y.stride() == (60, 1, 15, 3)
    assert y.is_contiguous(memory_format=torch.channels_last) and not y.is_contiguous()
    assert y.clone().stride() == y.stride()
    assert y.contiguous().stride() == x.stride()


# ---------------------------------------------------------------- random numbers


def test_a_seed_repeats_every_kind_of_draw():
    def draws():
        torch.manual_seed(3)
        return [torch.rand(3), torch.randn(20), torch.randint(9, (4,)), torch.randperm(5),
                torch.bernoulli(torch.full((5,), 0.5)), torch.normal(torch.zeros(3), 2.0),
                torch.empty(4).uniform_(-1, 1), torch.empty(3).exponential_(),
                torch.multinomial(torch.ones(4), 3), torch.poisson(torch.full((3,), 4.0))]

    assert all(torch.equal(a, b) for a, b in zip(draws(), draws(), strict=True))


def test_known_draws():
    torch.manual_seed(0)
    assert torch.rand(2).tolist() == [0.49625658988952637, 0.7682217955589294]
    assert torch.randint(0, 10, (3,)).tolist() == [3, 0, 3]
    assert torch.randperm(4).tolist() == [3, 2, 0, 1]


def test_generators_are_streams_of_their_own():
    first, second = torch.Generator().manual_seed(7), torch.Generator().manual_seed(7)
    torch.manual_seed(1)
    before = torch.get_rng_state()
    assert torch.equal(torch.rand(3, generator=first), torch.rand(3, generator=second))
    assert torch.equal(torch.get_rng_state(), before)
    revived = pickle.loads(pickle.dumps(first))
    assert torch.equal(torch.rand(3, generator=revived), torch.rand(3, generator=first))


def test_state_can_be_saved_and_forked():
    torch.manual_seed(2)
    state = torch.get_rng_state()
    expected = torch.rand(3)
    torch.set_rng_state(state)
    with torch.random.fork_rng():
        torch.rand(100)
    assert torch.equal(torch.rand(3), expected)
    with pytest.raises(TypeError, match=r"RNG state must be a torch.ByteTensor"):
        torch.set_rng_state(torch.zeros(3))


def test_random_writes_cut_the_gradient():
    x = torch.ones(3, requires_grad=True)
    y = (x * 2).uniform_()
    assert y.grad_fn.name() == "UniformBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.normal_()


def test_draws_follow_memory_not_indices():
    torch.manual_seed(4)
    packed = torch.rand(3, 2)
    torch.manual_seed(4)
    assert torch.equal(torch.rand_like(torch.zeros(3, 2).T), packed.T)


def test_a_warning_that_is_an_error_keeps_its_words() -> None:
    program = ("import numpy as np, retrograd as torch\n"
               "array = np.zeros(2)\narray.flags.writeable = False\n"
               "try:\n    torch.as_tensor(array)\n"
               "except UserWarning as warning:\n    print(warning)\n")
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True,
                          text=True, check=True)
    assert "is not writable" in done.stdout
