"""Tensors as Python objects: numbers, sequences, copies, pickles, NumPy, subclasses."""

from __future__ import annotations

import copy
import math
import operator
import pickle
from typing import ClassVar

import numpy as np
import pytest

import retrograd as torch

# ---------------------------------------------------------------- numbers


def test_one_element_becomes_a_number():
    assert float(torch.tensor([[2.5]])) == 2.5
    assert int(torch.tensor(2.7)) == 2
    assert complex(torch.tensor(1 + 2j)) == 1 + 2j
    assert bool(torch.tensor([0.5])) and not torch.tensor(0)
    assert operator.index(torch.tensor([3])) == 3
    assert [10, 20, 30][torch.tensor(1)] == 20
    assert math.sqrt(torch.tensor(4.0)) == 2


@pytest.mark.parametrize("convert, error, message", [
    (float, ValueError, "only one element tensors can be converted to Python scalars"),
    (int, ValueError, "only one element tensors can be converted to Python scalars"),
    (bool, RuntimeError, "Boolean value of Tensor with more than one value is ambiguous"),
    (operator.index, TypeError, "only integer tensors of a single element"),
    (torch.Tensor.item, RuntimeError, "a Tensor with 2 elements cannot be converted to Scalar"),
])
def test_several_elements_are_no_number(convert, error, message):
    with pytest.raises(error, match=message):
        convert(torch.ones(2))


def test_a_number_without_its_gradient_warns_once():
    x = torch.tensor(1.5, requires_grad=True)
    torch.set_warn_always(True)
    try:
        for convert in (float, complex):
            with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True"):
                assert convert(x) == 1.5
    finally:
        torch.set_warn_always(False)
    assert x.item() == 1.5 and int(x) == 1


def test_format():
    x = torch.tensor(2.5)
    assert f"{x:.2f}" == "2.50" and f"{x}" == "2.5" and "%.1f" % x == "2.5"  # noqa: UP031
    assert f"{torch.ones(2)}" == "tensor([1., 1.])"
    with pytest.raises(TypeError, match=r"unsupported format string passed to Tensor.__format__"):
        format(torch.ones(2), ".2f")


def test_sequences():
    x = torch.arange(6.0).reshape(3, 2)
    assert len(x) == 3 and [r.tolist() for r in x] == x.tolist()
    assert 4.0 in x and 9 not in x
    assert hash(x) == id(x) and {x: 1}[x] == 1
    for use, message in ((len, "len"), (iter, "iteration")):
        with pytest.raises(TypeError, match=f"{message}.* a 0-d tensor"):
            use(torch.tensor(1.0))


# ---------------------------------------------------------------- shapes and memory


def test_sizes():
    size = torch.zeros(2, 3).shape
    assert repr(size) == "torch.Size([2, 3])" and size == (2, 3) and size.numel() == 6
    assert isinstance(size[:1], torch.Size) and size[0] == 2
    assert isinstance(size + (1,), torch.Size) and isinstance((1,) + size, torch.Size)
    assert isinstance(size * 2, torch.Size)
    assert pickle.loads(pickle.dumps(size)) == size
    assert torch.Size([torch.tensor(2), True]) == (2, 1)
    with pytest.raises(TypeError, match=r"takes an iterable of 'int' \(item 1 is 'float'\)"):
        torch.Size([1, 2.5])
    with pytest.raises(TypeError, match=r"can only concatenate tuple \(not list\)"):
        size + [1]


def test_strides_and_offsets_are_counted_in_elements():
    x = torch.arange(12.0).reshape(3, 4)
    assert x.stride() == (4, 1) and x.T.stride() == (1, 4) and x.stride(-1) == 1
    assert x[1, 2:].storage_offset() == 6 and x[1].data_ptr() == x.data_ptr() + 16
    assert torch.zeros(2, 0, 3).stride() == (3, 3, 1)
    assert not x.T.is_contiguous() and x.T.contiguous().is_contiguous()
    with pytest.raises(IndexError, match="Dimension specified as 0 but tensor has no dimensions"):
        torch.tensor(1.0).stride(0)


def test_storage_is_shared_by_views():
    x = torch.arange(4.0)
    storage = x.untyped_storage()
    assert storage.nbytes() == len(storage) == 16
    assert x[2:].untyped_storage() == storage and x.clone().untyped_storage() != storage
    assert "UntypedStorage(device=cpu) of size 16" in repr(storage)
    storage.fill_(0)
    assert x.tolist() == [0.0] * 4


@pytest.mark.parametrize("made, strides", [
    (lambda x: x.T.clone(), (1, 4)),
    (lambda x: x.T.clone(memory_format=torch.contiguous_format), (3, 1)),
    (lambda x: x.T[::2].clone(), (1, 2)),
    (lambda x: x[:1].expand(3, 4).clone(), (4, 1)),
    (lambda x: x.expand(2, 3, 4).clone(), (12, 4, 1)),
    (lambda x: torch.zeros_like(x.T), (1, 4)),
])
def test_copies_keep_the_order_of_dimensions(made, strides):
    assert made(torch.arange(12.0).reshape(3, 4)).stride() == strides


def test_dtypes_and_devices():
    assert repr(torch.float32) == "torch.float32" and torch.float is torch.float32
    assert pickle.loads(pickle.dumps(torch.int8)) is torch.int8
    assert copy.deepcopy(torch.bfloat16) is torch.bfloat16
    assert torch.float64.to_complex() is torch.complex128 and torch.int64.itemsize == 8
    device = torch.device("cuda", 1)
    assert repr(device) == "device(type='cuda', index=1)" and str(device) == "cuda:1"
    assert pickle.loads(pickle.dumps(device)) == device and device != torch.device("cuda")
    for text in ("cuda:-1", "cuda:01", "cpu:"):
        with pytest.raises(RuntimeError, match="Invalid device string"):
            torch.device(text)
    with pytest.raises(RuntimeError, match=r"Expected one of cpu, cuda, .* device string: foo"):
        torch.device("foo")


def test_limits_of_dtypes():
    assert repr(torch.finfo(torch.float16)) == (
        "finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, "
        "smallest_normal=6.10352e-05, tiny=6.10352e-05, dtype=float16)")
    assert torch.finfo(torch.bfloat16).eps == 2.0**-7
    assert torch.finfo() == torch.finfo(torch.float32) == torch.finfo(torch.complex64)
    assert repr(torch.iinfo(torch.int8)) == "iinfo(min=-128, max=127, dtype=int8)"
    with pytest.raises(TypeError, match="requires a floating point input type"):
        torch.finfo(torch.int64)
    with pytest.raises(TypeError, match=r"torch.bool is not supported by torch.iinfo"):
        torch.iinfo(torch.bool)


def test_promotion():
    assert torch.promote_types(torch.float16, torch.bfloat16) is torch.float32
    assert torch.promote_types(torch.uint8, torch.int8) is torch.int16
    assert torch.result_type(torch.ones(2, dtype=torch.int8), 2.5) is torch.float32
    assert torch.result_type(torch.tensor(1.0, dtype=torch.float64), torch.ones(1)) is torch.float32
    assert torch.can_cast(torch.float64, torch.float16)
    assert not torch.can_cast(torch.float32, torch.int64)
    with pytest.raises(RuntimeError, match="attempted to promote UInt16 and Bool"):
        torch.promote_types(torch.uint16, torch.bool)


# ---------------------------------------------------------------- NumPy


def test_numpy_shares_memory():
    x = torch.zeros(2, 3)
    x.T.numpy()[0, 1] = 5
    assert x[1, 0].item() == 5
    assert np.asarray(x).dtype == np.float32
    assert np.array(x, dtype=np.int64).tolist() == [[0, 0, 0], [5, 0, 0]]


def test_what_numpy_cannot_have():
    x = torch.ones(2, requires_grad=True)
    for convert in (torch.Tensor.numpy, np.asarray):
        with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires gr"):
            convert(x)
    assert x.numpy(force=True).tolist() == [1, 1]
    with pytest.raises(TypeError, match="Got unsupported ScalarType BFloat16"):
        torch.ones(1, dtype=torch.bfloat16).numpy()


def test_numpy_functions_on_tensors_return_tensors():
    x = torch.ones(2)
    assert torch.equal(np.add(x, np.ones(2)), torch.full((2,), 2.0, dtype=torch.float64))
    assert type(np.sin(x)) is torch.Tensor
    assert (np.float64(2) * x).dtype is torch.float32
    assert (x + np.ones(2)).dtype is torch.float64


# ---------------------------------------------------------------- copies and pickles


def test_shallow_copies_share_memory():
    x = torch.ones(2, requires_grad=True)
    x.note = "kept"
    y = copy.copy(x)
    assert y is not x and y.data_ptr() == x.data_ptr() and y.is_leaf and y.note == "kept"


def test_deep_copies_share_among_themselves_only():
    base = torch.arange(4.0, requires_grad=True)
    base.grad = torch.ones(4)
    base.note = ["kept"]
    other = base.detach()[1:]
    base_copy, other_copy = copy.deepcopy([base, other])
    assert base_copy.data_ptr() != base.data_ptr()
    assert other_copy.data_ptr() == base_copy.data_ptr() + 4
    assert base_copy.requires_grad and torch.equal(base_copy.grad, base.grad)
    assert base_copy.note == ["kept"] and base_copy.note is not base.note
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(base * 2)


@pytest.mark.parametrize("made", [
    lambda: torch.arange(6.0).reshape(2, 3).T,
    lambda: torch.ones(2, dtype=torch.bfloat16),
    lambda: torch.tensor(1 + 2j),
    lambda: torch.zeros(0, 2),
    lambda: torch.ones(2, requires_grad=True),
], ids=["transposed", "bfloat16", "complex", "empty", "leaf"])
def test_pickles(made):
    x = made()
    y = pickle.loads(pickle.dumps(x))
    assert torch.equal(x, y) and y.dtype is x.dtype and y.stride() == x.stride()
    assert y.requires_grad == x.requires_grad and y.is_leaf


def test_pickles_leave_graph_and_gradient_behind():
    x = torch.ones(2, requires_grad=True)
    (2 * x).sum().backward()
    x.note = "kept"
    y = pickle.loads(pickle.dumps(x))
    assert y.grad is None and y.note == "kept"
    assert pickle.loads(pickle.dumps(2 * x)).is_leaf


# ---------------------------------------------------------------- constructors of old


def test_legacy_constructors():
    assert torch.Tensor([1, 2]).dtype is torch.float32
    assert torch.Tensor().shape == (0,) and torch.Tensor(2, 3).shape == (2, 3)
    assert torch.LongTensor([1.5]).tolist() == [1]
    assert isinstance(torch.ones(1), torch.FloatTensor)
    assert not isinstance(torch.ones(1), torch.LongTensor)
    assert torch.ones(1).type() == "torch.FloatTensor"
    with pytest.raises(TypeError, match=r"new\(\): data must be a sequence \(got float\)"):
        torch.Tensor(2.5)
    with pytest.raises(TypeError, match="keywords were incorrect: dtype"):
        torch.Tensor([1], dtype=torch.int64)


# ---------------------------------------------------------------- subclasses


class Marked(torch.Tensor):
    pass


class Traced(torch.Tensor):
    calls: ClassVar[list[str]] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


def test_ops_on_a_subclass_return_it():
    x = torch.ones(2, 3).as_subclass(Marked)
    for result in (x + 1, 1 - x, x.sum(), x[0], x.T, x.detach(), x.double(), x.view(-1), x.clone(),
                   torch.zeros_like(x), x.new_zeros(2), torch.cat([x, torch.ones(1, 3)]), x.data):
        assert type(result) is Marked
    assert type(x.as_subclass(torch.Tensor)) is torch.Tensor
    assert repr(x[0, :1]) == "Marked([1.])"


def test_a_subclass_keeps_its_place_in_the_graph():
    x = torch.ones(2, requires_grad=True)
    y = (x * 3).as_subclass(Marked)
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    leaf = torch.Tensor._make_subclass(Marked, torch.ones(2), True)
    assert leaf.is_leaf and leaf.requires_grad and type(leaf) is Marked


def test_every_public_call_is_reported_once():
    x = torch.tensor([[1.0, 2.0]]).as_subclass(Traced)
    Traced.calls.clear()
    torch.exp(x)
    x.sum()
    torch.mean(x, 0)
    x.to(torch.float64)
    x.flatten()
    torch.ones_like(x)
    assert Traced.calls == ["exp", "sum", "mean", "to", "flatten", "ones_like"]


def test_most_derived_class_decides_and_strangers_are_refused():
    class Derived(Marked):
        pass

    class Stranger(torch.Tensor):
        pass

    marked = torch.ones(2).as_subclass(Marked)
    assert type(marked + torch.ones(2).as_subclass(Derived)) is Derived
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+"):
        marked + torch.ones(2).as_subclass(Stranger)


def test_calls_can_be_taken_over_by_any_class():
    class Recorder:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__, len(args), kwargs

    assert torch.add(Recorder(), 2) == ("add", 2, {})
    assert torch.ones(1) * Recorder() == ("mul", 2, {})
    assert torch.overrides.is_tensor_like(Recorder())


def test_overrides_can_be_switched_off():
    x = torch.ones(2).as_subclass(Marked)
    with torch._C.DisableTorchFunctionSubclass():
        assert type(x + 1) is torch.Tensor
    assert type(x + 1) is Marked


def test_attributes_of_a_subclass_survive_copies():
    class Tagged(torch.Tensor):
        def __new__(cls, data, tag):
            made = torch.as_tensor(data).as_subclass(cls)
            made.tag = tag
            return made

        def __init__(self, data, tag):
            super().__init__()

    x = Tagged([1.0], tag="a")
    assert copy.deepcopy(x).tag == "a" and type(copy.copy(x)) is Tagged
    assert not hasattr(x + 1, "tag")


# ---------------------------------------------------------------- about the library


def test_questions():
    x = torch.ones(2)
    assert torch.is_tensor(x) and not torch.is_tensor([1])
    assert torch.is_floating_point(x) and not torch.is_complex(x) and torch.numel(x) == 2
    assert torch.typename(x) == "torch.FloatTensor" and torch.typename(1) == "int"
    assert torch.pi == math.pi and torch.inf == math.inf and torch.newaxis is None
    assert torch.get_default_dtype() is torch.float32
    assert not torch.cuda.is_available() and not torch.backends.mps.is_available()
    assert torch.get_device(x) == -1 and torch.detach(x).data_ptr() == x.data_ptr()
    assert torch.compile(len) is len and torch.compile(dynamic=True)(len) is len
    with pytest.raises(TypeError, match="only floating-point types are supported as the default"):
        torch.set_default_dtype(torch.int64)
    with pytest.raises(RuntimeError, match="set_num_threads expects a positive integer"):
        torch.set_num_threads(0)


def test_set_does_not_leave_the_storage() -> None:
    """PyTorch makes the storage larger, or lets other memory be read."""
    x = torch.arange(12.0).reshape(3, 4)
    for source, offset, size in ((x, 0, (13,)), (x[1:], 0, (9,)), (x.untyped_storage(), 12, (1,))):
        with pytest.raises(RuntimeError, match="out of bounds for storage of size 48"):
            x.set_(source, offset, size, (1,))
    assert x.tolist() == torch.arange(12.0).reshape(3, 4).tolist()
    assert x.set_(x[1:], 4, (4,), (1,)).tolist() == [8, 9, 10, 11]
