"""The text of tensors: what PyTorch prints, written out by hand."""

import math

import ml_dtypes
import numpy as np
import pytest

from retrograd.core import printing
from shared import PrintedDType

FLOAT32 = PrintedDType("float32", True, False)
FLOAT64 = PrintedDType("float64", True, False)
INFINITY = math.inf
NAN = math.nan


def dtype_of(array):
    name = array.dtype.name
    return PrintedDType(name, "float" in name, "complex" in name)


def text_of(values, dtype="float32", default_dtype=FLOAT32, **arguments):
    array = np.asarray(values, dtype)
    return printing.tensor_repr(array, dtype_of(array), default_dtype=default_dtype, **arguments)


@pytest.fixture(autouse=True)
def default_options():
    yield
    printing.set_printoptions(profile="default")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (13.0, "tensor(13.)"),
        (0.5, "tensor(0.5000)"),
        (-0.0, "tensor(-0.)"),
        (NAN, "tensor(nan)"),
        (-INFINITY, "tensor(-inf)"),
        (1e10, "tensor(1.0000e+10)"),
        ([1.0, 2.0], "tensor([1., 2.])"),
        ([0.0, -0.0], "tensor([0., -0.])"),
        ([NAN, -INFINITY, 0.0], "tensor([nan, -inf, 0.])"),
        ([1.0, -2.0], "tensor([ 1., -2.])"),
        ([1.0, 10.0, NAN], "tensor([ 1., 10., nan])"),
        ([1.0, INFINITY], "tensor([1., inf])"),
        ([0.1, 100.25], "tensor([1.0000e-01, 1.0025e+02])"),
        ([0.2, 100.25], "tensor([  0.2000, 100.2500])"),
        ([0.5, NAN, -1.0], "tensor([ 0.5000,     nan, -1.0000])"),
        ([1.0, 1000.0], "tensor([   1., 1000.])"),
        ([1.0, 1001.0], "tensor([1.0000e+00, 1.0010e+03])"),
        ([1e8], "tensor([100000000.])"),
        ([5e-5], "tensor([5.0000e-05])"),
        ([[1.0, 2.0], [3.0, 4.5]], "tensor([[1.0000, 2.0000],\n        [3.0000, 4.5000]])"),
        ([[[1.0]], [[2.0]]], "tensor([[[1.]],\n\n        [[2.]]])"),
    ],
)
def test_floats(values, expected):
    assert text_of(values) == expected


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        (7, "int64", "tensor(7)"),
        ([1, -20, 300], "int64", "tensor([  1, -20, 300])"),
        ([0, 255], "uint8", "tensor([  0, 255], dtype=torch.uint8)"),
        ([2**64 - 1], "uint64", "tensor([18446744073709551615], dtype=torch.uint64)"),
        ([True, False], "bool", "tensor([ True, False])"),
        ([1.5], "float16", "tensor([1.5000], dtype=torch.float16)"),
        ([0.1], ml_dtypes.bfloat16, "tensor([0.1001], dtype=torch.bfloat16)"),
        (3.0, ml_dtypes.bfloat16, "tensor(3., dtype=torch.bfloat16)"),
        ([1.0], "float64", "tensor([1.], dtype=torch.float64)"),
    ],
)
def test_other_dtypes(values, dtype, expected):
    assert text_of(values, dtype) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (1 + 2j, "tensor(1.+2.j)"),
        ([1 - 2j, 10 + 0.5j], "tensor([ 1.-2.0000j, 10.+0.5000j])"),
        ([1 + 2j, 1.5 - 3e9j], "tensor([1.0000+2.0000e+00j, 1.5000-3.0000e+09j])"),
        ([complex(0, -0.0), complex(NAN, NAN)], "tensor([0.-0.j, nan+nanj])"),
        ([complex(1, -INFINITY), 2j], "tensor([1.-infj, 0.+2.j])"),
    ],
)
def test_complex_parts_are_formatted_apart(values, expected):
    assert text_of(values, "complex64") == expected


def test_default_dtype_decides_which_dtypes_are_named():
    assert text_of([1.0], "float64", default_dtype=FLOAT64) == "tensor([1.])"
    assert text_of([1.0], "float32", default_dtype=FLOAT64) == "tensor([1.], dtype=torch.float32)"
    assert text_of([1j], "complex128", default_dtype=FLOAT64) == "tensor([0.+1.j])"
    assert text_of([1j], "complex128") == "tensor([0.+1.j], dtype=torch.complex128)"


@pytest.mark.parametrize(
    ("shape", "dtype", "expected"),
    [
        ((0,), "float32", "tensor([])"),
        ((0, 3), "float32", "tensor([], size=(0, 3))"),
        ((0,), "int64", "tensor([], dtype=torch.int64)"),
        ((2, 0), "bool", "tensor([], size=(2, 0), dtype=torch.bool)"),
        ((0,), "complex64", "tensor([], dtype=torch.complex64)"),
    ],
)
def test_empty_tensors(shape, dtype, expected):
    assert text_of(np.empty(shape), dtype) == expected


def test_gradient_suffixes():
    assert text_of([1.0, 2.0], requires_grad=True) == "tensor([1., 2.], requires_grad=True)"
    added = text_of(13.0, requires_grad=True, grad_fn_name="AddBackward0")
    assert added == "tensor(13., grad_fn=<AddBackward0>)"
    both = text_of([1.0], "float64", grad_fn_name="MulBackward0")
    assert both == "tensor([1.], dtype=torch.float64, grad_fn=<MulBackward0>)"
    dual = text_of([1.0], requires_grad=True, tangent=text_of([2.0]))
    assert dual == "tensor([1.], requires_grad=True, tangent=tensor([2.]))"


def test_suffix_moves_to_its_own_line_when_the_last_line_is_full():
    six = text_of([0.5] * 6, grad_fn_name="MulBackward0")
    assert six == (
        "tensor([0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000],\n       grad_fn=<MulBackward0>)"
    )
    five = text_of([0.5] * 5, grad_fn_name="MulBackward0")
    assert five == "tensor([0.5000, 0.5000, 0.5000, 0.5000, 0.5000], grad_fn=<MulBackward0>)"
    only_the_second = text_of(range(8), "float64", requires_grad=True)
    assert only_the_second == (
        "tensor([0., 1., 2., 3., 4., 5., 6., 7.], dtype=torch.float64,\n       requires_grad=True)"
    )


def test_parameters_subclasses_and_wrappers():
    plain = text_of([1.0], requires_grad=True, is_parameter=True)
    assert plain == "tensor([1.], requires_grad=True)"
    assert text_of([[1.0], [2.0]], kind="Sub(") == "Sub([[1.],\n     [2.]])"
    marked = text_of([1.0], kind="Sub(", is_parameter=True, requires_grad=True)
    assert marked == "Parameter(Sub([1.], requires_grad=True))"
    wrapped = printing.wrapper_repr("BatchedTensor", 2, "tensor([[1.],\n        [2.]])", 0)
    assert wrapped == (
        "BatchedTensor(lvl=2, bdim=0, value=\n    tensor([[1.],\n            [2.]])\n)"
    )


def test_extra_suffixes_come_first_and_contents_replace_the_values():
    text = text_of([1.0], "float64", extra=["device='meta'"], contents="...")
    assert text == "tensor(..., device='meta', dtype=torch.float64)"


def test_long_rows_wrap_at_the_line_width():
    assert text_of(range(25), "int64") == (
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
        "        18, 19, 20, 21, 22, 23, 24])"
    )
    printing.set_printoptions(linewidth=20)
    assert text_of([[1, 2, 3, 4, 5]], "int64") == "tensor([[1, 2, 3, 4,\n         5]])"


def test_summary_of_large_tensors():
    assert text_of(np.ones(1000)).count("1.") == 1000
    assert text_of(np.ones(1001)) == "tensor([1., 1., 1.,  ..., 1., 1., 1.])"
    assert text_of(np.arange(2002).reshape(1001, 2), "int64") == (
        "tensor([[   0,    1],\n        [   2,    3],\n        [   4,    5],\n        ...,\n"
        "        [1996, 1997],\n        [1998, 1999],\n        [2000, 2001]])"
    )


def test_summary_formats_by_the_values_that_it_shows():
    values = np.ones(2000)
    values[1000] = 1e-9
    assert text_of(values) == "tensor([1., 1., 1.,  ..., 1., 1., 1.])"


def test_summary_costs_what_it_shows():
    class Watched(np.ndarray):
        converted = 0

        def tolist(self):
            Watched.converted += self.size
            return super().tolist()

    array = np.zeros((400, 500, 100)).view(Watched)
    printing.tensor_repr(array, FLOAT64, default_dtype=FLOAT32)
    assert Watched.converted == 6**3


def test_print_options():
    defaults = {
        "precision": 4,
        "threshold": 1000,
        "edgeitems": 3,
        "linewidth": 80,
        "sci_mode": None,
    }
    assert printing.get_printoptions() == defaults
    printing.set_printoptions(precision=2)
    assert text_of([0.125]) == "tensor([0.12])"
    printing.set_printoptions(profile="short", sci_mode=True)
    assert printing.get_printoptions() == {
        **defaults,
        "precision": 2,
        "edgeitems": 2,
        "sci_mode": True,
    }
    assert text_of([1.0, 0.0]) == "tensor([1.00e+00, 0.00e+00])"
    printing.set_printoptions(profile="full")
    assert printing.get_printoptions() == {**defaults, "threshold": math.inf}
    assert text_of(np.ones(3000)).count("1.") == 3000
    printing.set_printoptions(profile="default", sci_mode=False)
    assert text_of([1e-3, 1e4]) == "tensor([    0.0010, 10000.0000])"
    printing.set_printoptions(edgeitems=1, threshold=2)
    assert printing.get_printoptions()["sci_mode"] is None
    assert text_of([1, 2, 3], "int64") == "tensor([1,  ..., 3])"
    printing.set_printoptions(edgeitems=0)
    assert text_of([1, 2, 3], "int8") == "tensor([...], size=(3,), dtype=torch.int8)"


def test_options_hold_inside_a_block_only():
    before = printing.get_printoptions()
    with pytest.raises(ZeroDivisionError), printing.printoptions(precision=1):
        assert text_of(0.5) == "tensor(0.5)"
        raise ZeroDivisionError
    assert printing.get_printoptions() == before
