"""The text of tensors beside PyTorch's, on many shapes, dtypes, values and print options."""

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import example, given, settings, strategies as st
from hypothesis.extra import numpy as arrays_of
from torch.autograd import forward_ad

from retrograd.core import printing
from shared import PrintedDType, custom

FLOATS = ["float16", "bfloat16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
EVERY_DTYPE = [*FLOATS, *COMPLEX, *INTEGERS, "bool"]
SHAPES = [
    (),
    (1,),
    (7,),
    (23,),
    (2, 3),
    (1, 40),
    (9, 1),
    (3, 4, 5),
    (2, 1, 3, 2),
    (2, 3, 1, 2, 3),
    (1001,),
    (40, 30),
    (7, 3, 60),
    (300, 2, 2),
    (5, 5, 5, 5, 5),
    (2, 11, 3, 5, 7),
]
EMPTY_SHAPES = [(0,), (0, 3), (2, 0), (2, 0, 4), (1, 0, 0)]
OPTIONS = [
    {"precision": 0},
    {"precision": 1},
    {"precision": 8},
    {"threshold": 0},
    {"threshold": 5, "edgeitems": 1},
    {"threshold": 0, "edgeitems": 2},
    {"edgeitems": 0},
    {"threshold": 0, "edgeitems": 0},
    {"edgeitems": 20},
    {"linewidth": 0},
    {"linewidth": 24},
    {"linewidth": 45},
    {"linewidth": 200},
    {"profile": "short"},
    {"profile": "full"},
    {"profile": "full", "linewidth": 120, "precision": 2},
    {"profile": "no such profile"},
    {"sci_mode": True},
    {"sci_mode": False},
    {"sci_mode": True, "precision": 2, "linewidth": 60},
    {"profile": "short", "sci_mode": False},
]


@pytest.fixture(autouse=True)
def default_options():
    yield
    torch.set_default_dtype(torch.float32)
    for set_options in (torch.set_printoptions, printing.set_printoptions):
        set_options(profile="default")


def set_both(**options):
    torch.set_printoptions(**options)
    printing.set_printoptions(**options)


def dtype_of(torch_dtype):
    name = str(torch_dtype).removeprefix("torch.")
    return PrintedDType(name, torch_dtype.is_floating_point, torch_dtype.is_complex)


def numpy_dtype(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def torch_tensor(array):
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def array_of(tensor):
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def our_repr(tensor, **arguments):
    """What tensor_repr makes of a PyTorch tensor's array and metadata."""
    described = {
        "default_dtype": dtype_of(torch.get_default_dtype()),
        "requires_grad": tensor.requires_grad,
        "grad_fn_name": None if tensor.grad_fn is None else tensor.grad_fn.name(),
    }
    return printing.tensor_repr(
        array_of(tensor), dtype_of(tensor.dtype), **{**described, **arguments}
    )


def assert_same_text(array):
    tensor = torch_tensor(array)
    ours = printing.tensor_repr(
        array, dtype_of(tensor.dtype), default_dtype=dtype_of(torch.get_default_dtype())
    )
    assert ours == repr(tensor)


def spread_values(rng, size, kind):
    """Floats of a kind: the kinds differ in what notation and width they call for."""
    if kind == "unit":
        return rng.random(size)
    if kind == "normal":
        return rng.standard_normal(size)
    if kind == "integral":
        return rng.integers(-20, 20, size).astype(float)
    if kind == "large integral":
        return np.floor(10.0 ** rng.uniform(0, 12, size))
    if kind == "wide":
        return 10.0 ** rng.uniform(-12, 12, size) * rng.choice([-1.0, 1.0], size)
    if kind == "small":
        return 10.0 ** rng.uniform(-5, -3, size)
    if kind == "near limits":
        return rng.choice([1e-4, 0.99999e-4, 1.0, 1000.0, 1000.5, 1e8, 1.5e8, 0.1], size)
    if kind == "zeros":
        return rng.choice([0.0, -0.0], size)
    if kind == "special":
        return rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], size)
    mixed = rng.standard_normal(size) * 100
    return np.where(rng.random(size) < 0.3, rng.choice([np.nan, np.inf, -np.inf], size), mixed)


KINDS = [
    "unit",
    "normal",
    "integral",
    "large integral",
    "wide",
    "small",
    "near limits",
    "zeros",
    "special",
    "mixed",
]


def float_array(rng, shape, kind, dtype):
    with np.errstate(over="ignore"):
        real = np.asarray(spread_values(rng, shape, kind))
        if np.dtype(dtype).kind != "c":
            return real.astype(dtype)
        parts = np.empty(shape, dtype)
        parts.real = real
        parts.imag = spread_values(rng, shape, rng.choice(KINDS))
        return parts


def exact_array(rng, shape, dtype):
    if dtype == "bool":
        return np.asarray(rng.random(shape) < 0.5)
    limits = np.iinfo(dtype)
    width = int(rng.integers(1, limits.bits))
    return np.asarray(rng.integers(max(limits.min, -(2**width)), 2**width - 1, shape, dtype))


def arrays_of_dtype(name, shape, seed):
    rng = np.random.default_rng(seed)
    if name in FLOATS or name in COMPLEX:
        return [float_array(rng, shape, kind, numpy_dtype(name)) for kind in KINDS]
    return [exact_array(rng, shape, name) for _ in range(3)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", EVERY_DTYPE)
def test_values_of_every_dtype_and_shape(name, shape):
    for array in arrays_of_dtype(name, shape, seed=len(shape)):
        assert_same_text(array)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_print_options(options):
    set_both(**options)
    assert printing.get_printoptions() == torch._tensor_str.get_printoptions()
    for name in ["bfloat16", "float32", "float64", "complex64", "int16", "bool"]:
        for shape in [(), (1,), (9,), (30,), (0, 3), (3, 4, 5), (1001,), (9, 130)]:
            for array in arrays_of_dtype(name, shape, seed=7):
                assert_same_text(array)


def test_options_follow_a_sequence_of_changes():
    for options in OPTIONS:
        set_both(**options)
        assert printing.get_printoptions() == torch._tensor_str.get_printoptions()
    for options in OPTIONS:
        with printing.printoptions(**options), torch._tensor_str.printoptions(**options):
            assert printing.get_printoptions() == torch._tensor_str.get_printoptions()
        assert printing.get_printoptions() == torch._tensor_str.get_printoptions()


@pytest.mark.parametrize("name", FLOATS + COMPLEX + INTEGERS)
def test_views_that_are_not_contiguous(name):
    for array in arrays_of_dtype(name, (40, 6, 50), seed=1):
        tensor = torch_tensor(array)
        views = [
            (array.T, tensor.permute(2, 1, 0)),
            (array[::3, 1, ::7], tensor[::3, 1, ::7]),
            (array[:, :, 4], tensor[:, :, 4]),
            (array[1:2].swapaxes(0, 2), tensor[1:2].swapaxes(0, 2)),
            (np.broadcast_to(array[0, 0, :1], (60, 30)), tensor[0, 0, :1].expand(60, 30)),
            (array[0, 0, 0:1][None, :, None], tensor[0, 0, 0:1][None, :, None]),
        ]
        for ours, theirs in views:
            text = printing.tensor_repr(
                ours, dtype_of(theirs.dtype), default_dtype=dtype_of(torch.float32)
            )
            assert text == repr(theirs)


@pytest.mark.parametrize("default", FLOATS)
@pytest.mark.parametrize("name", EVERY_DTYPE)
def test_dtype_suffix_under_every_default(default, name):
    torch.set_default_dtype(getattr(torch, default))
    for shape in [(), (1,), (3,), (2, 2), *EMPTY_SHAPES]:
        assert_same_text(np.ones(shape, numpy_dtype(name)))


def test_suffixes_break_at_the_same_column():
    rng = np.random.default_rng(0)
    for linewidth in [30, 50, 80, 100]:
        set_both(linewidth=linewidth)
        for length in range(40):
            for dtype in [torch.float32, torch.float64, torch.bfloat16]:
                leaf = torch.from_numpy(rng.random(length)).to(dtype).requires_grad_()
                for tensor in [leaf.detach(), leaf, leaf + 1, leaf.reshape(1, -1), leaf.sum()]:
                    assert our_repr(tensor) == repr(tensor)


def test_every_width_of_the_last_line_breaks_as_pytorch_does():
    for linewidth in range(20, 100):
        set_both(linewidth=linewidth)
        for tensor in [
            torch.arange(4.0, requires_grad=True) + 1,
            torch.ones(2, 3, dtype=torch.float64, requires_grad=True),
            torch.ones(2, 3, dtype=torch.complex128, requires_grad=True).exp(),
            torch.empty(2, 0, 3, dtype=torch.float64, requires_grad=True),
        ]:
            assert our_repr(tensor) == repr(tensor)


def test_grad_fn_of_a_custom_function_and_of_views():
    Double = custom(torch, lambda ctx, grad: grad * 2, lambda ctx, x: x * 2, name="Double")
    leaf = torch.rand(3, 3, requires_grad=True)
    for tensor in [Double.apply(leaf), leaf[1], leaf.T, leaf.to(torch.complex64).conj()]:
        assert our_repr(tensor) == repr(tensor)


# PyTorch's forward mode loads rules through its own deprecated torch.jit.script.
@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64])
@pytest.mark.parametrize("shape", [(), (2,), (9,), (3, 3), (2, 0), (40, 40)], ids=str)
def test_tangent_of_dual_tensors(shape, dtype):
    for requires_grad in [False, True]:
        primal = torch.rand(shape, dtype=dtype, requires_grad=requires_grad)
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(primal, torch.rand(shape, dtype=dtype))
            for tensor in [dual, dual * 3]:
                value, tangent = forward_ad.unpack_dual(tensor)
                grad_fn = None if tensor.grad_fn is None else tensor.grad_fn.name()
                shown_tangent = our_repr(tangent) if shape else tangent.item()
                ours = our_repr(value, grad_fn_name=grad_fn, tangent=shown_tangent)
                assert ours == repr(tensor)


def test_parameters_and_subclasses():
    class Named(torch.Tensor):
        pass

    class OwnParameter(torch.nn.Parameter):
        pass

    for linewidth in range(30, 100):
        set_both(linewidth=linewidth)
        for shape in [(), (9,), (3, 4), (0, 2)]:
            data = torch.rand(shape, dtype=torch.float64)
            for requires_grad in [True, False]:
                plain = torch.nn.Parameter(data, requires_grad=requires_grad)
                text = our_repr(plain, is_parameter=True)
                assert "Parameter containing:\n" + text == repr(plain)
                own = OwnParameter(data, requires_grad=requires_grad)
                text = our_repr(own, kind="OwnParameter(", is_parameter=True)
                assert "Parameter containing:\n" + text == repr(own)
                marked = torch.nn.Parameter(data.as_subclass(Named), requires_grad=requires_grad)
                assert our_repr(marked, kind="Named(", is_parameter=True) == repr(marked)
            named = data.as_subclass(Named).requires_grad_()
            for tensor in [named, named * 2]:
                assert our_repr(tensor, kind="Named(") == repr(tensor)


def test_contents_and_extra_suffixes():
    for edgeitems in [0, 3]:
        set_both(edgeitems=edgeitems)
        for tensor in [torch.ones(2, 3), torch.ones(1001).double(), torch.empty(0, 3)]:
            tensor.requires_grad_()
            assert our_repr(tensor, contents="here") == tensor.__repr__(tensor_contents="here")
    set_both(profile="default")
    for shape in [(3,), (2, 0)]:
        meta = torch.ones(shape, device="meta", dtype=torch.float64)
        stored = torch.ones(3, dtype=torch.float64)
        extra = ["device='meta'", f"size={shape}"]
        assert our_repr(stored, contents="...", extra=extra) == repr(meta)


def test_tensors_inside_function_transforms():
    texts = []

    def inner(row):
        texts.append(repr(row))
        return row.sum()

    def outer(x):
        texts.append(repr(x))
        return torch.vmap(inner)(x).sum()

    x = torch.rand(2, 3)
    torch.func.grad(outer)(x)
    tracked = printing.wrapper_repr("GradTrackingTensor", 1, our_repr(x))
    assert texts == [tracked, printing.wrapper_repr("BatchedTensor", 2, tracked, batch_dim=0)]


shapes = st.one_of(
    arrays_of.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=8),
    st.tuples(st.integers(900, 1100)),
    st.tuples(st.integers(1, 12), st.integers(60, 200)),
)


@st.composite
def printable_arrays(draw):
    name = draw(st.sampled_from(EVERY_DTYPE))
    if name == "bfloat16":
        bits = draw(arrays_of.arrays(np.uint16, shapes))
        return np.asarray(bits).view(ml_dtypes.bfloat16)
    return np.asarray(draw(arrays_of.arrays(name, shapes)))


option_sets = st.fixed_dictionaries(
    {},
    optional={
        "precision": st.integers(0, 12),
        "threshold": st.integers(0, 2000),
        "edgeitems": st.integers(0, 6),
        "linewidth": st.integers(0, 160),
        "profile": st.sampled_from(["default", "short", "full"]),
        "sci_mode": st.sampled_from([None, True, False]),
    },
)


@settings(max_examples=400, deadline=None)
@given(printable_arrays(), option_sets)
@example(np.array([5e-324, 1e308]), {})
@example(np.array([0.0, -0.0]), {"sci_mode": True})
@example(np.array(complex(np.nan, -np.inf)), {})
def test_any_array_under_any_options(array, options):
    set_both(profile="default")
    set_both(**options)
    assert_same_text(array)
