"""Making tensors: factories, dtypes, promotion and random numbers."""

from __future__ import annotations

import itertools

import numpy as np

from parity.harness import behaviour, behaviour_of_each

FLOATING = ["float16", "bfloat16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]
DTYPES = [*FLOATING, *COMPLEX, *INTEGERS, "bool"]
PROMOTED = ["bool", "uint8", "int8", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
PROMOTED += COMPLEX


# torch.tensor and its relatives


@behaviour
def tensor_infers_the_dtype_of_python_numbers(torch, log):
    for data in (1, 1.5, True, 1j, [1, 2], [1, 2.0], [True, 2], [True, False], [1, 2j], [1.0, 2j]):
        log(torch.tensor(data))


@behaviour
def tensor_of_empty_lists_is_float(torch, log):
    log(torch.tensor([]), torch.tensor([[]]), torch.tensor([[], []]), torch.tensor(()))


@behaviour
def tensor_of_nested_sequences(torch, log):
    log(torch.tensor([[1, 2], [3, 4]]), torch.tensor(((1.0, 2.0), (3.0, 4.0))))
    log(torch.tensor([(1, 2), [3, 4]]), torch.tensor(range(4)), torch.tensor([range(2), range(2)]))


@behaviour
def tensor_of_ragged_lists_is_refused(torch, log):
    log.raises(torch.tensor, [[1, 2], [3]])
    log.raises(torch.tensor, [[1], 2])
    log.raises(torch.tensor, [1, [2]])
    log.raises(torch.tensor, [[[1, 2]], [[3]]])


@behaviour
def tensor_of_strings_is_refused(torch, log):
    log.raises(torch.tensor, "hello")
    log.raises(torch.tensor, ["a", "b"])
    log.raises(torch.tensor, None)
    log.raises(torch.tensor, [None])
    log.raises(torch.tensor, {"a": 1})
    log.raises(torch.tensor, object)
    log.raises(torch.tensor, [1, "a"])


@behaviour
def tensor_takes_an_explicit_dtype(torch, log):
    for name in DTYPES:
        log(torch.tensor([0, 1, 2], dtype=getattr(torch, name)))


@behaviour
def tensor_truncates_floats_to_integers(torch, log):
    log(torch.tensor([1.7, -1.7], dtype=torch.int64), torch.tensor([0.0, 0.5], dtype=torch.bool))


@behaviour
def tensor_refuses_integers_that_overflow(torch, log):
    log.raises(torch.tensor, 300, dtype=torch.uint8)
    log.raises(torch.tensor, -1, dtype=torch.uint8)
    log.raises(torch.tensor, 2**63)
    log.raises(torch.tensor, 2**40, dtype=torch.int32)
    log.raises(torch.tensor, 1j, dtype=torch.float32)
    log.raises(torch.tensor, float("nan"), dtype=torch.int64)


@behaviour
def tensor_with_requires_grad_is_a_leaf(torch, log):
    log(torch.tensor([1.0], requires_grad=True), torch.tensor(1j, requires_grad=True))


@behaviour
def tensor_of_integers_cannot_require_grad(torch, log):
    log.raises(torch.tensor, [1, 2], requires_grad=True)
    log.raises(torch.tensor, [True], requires_grad=True)
    log.raises(torch.zeros, 3, dtype=torch.int64, requires_grad=True)
    log.raises(torch.arange, 3, requires_grad=True)


@behaviour
def tensor_of_a_tensor_warns_and_copies(torch, log):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor(x)
    log(y, y.data_ptr() == x.data_ptr())


@behaviour
def tensor_of_tensors_in_a_list(torch, log):
    log(torch.tensor([torch.tensor(1.0), torch.tensor(2.0)]))
    log(torch.tensor([torch.tensor(1), 2.5]))
    log.raises(torch.tensor, [torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])])


@behaviour
def tensor_of_numpy_arrays_copies(torch, log):
    a = np.arange(3.0)
    t = torch.tensor(a)
    a[0] = 9
    log(t, torch.tensor(np.float32(2.5)), torch.tensor(np.int16(3)), torch.tensor(np.True_))
    log(torch.tensor([np.float32(1), np.float32(2)]), torch.tensor([np.int64(1), 2]))


@behaviour
def as_tensor_shares_memory_where_it_can(torch, log):
    a = np.arange(3.0)
    t = torch.as_tensor(a)
    a[0] = 9
    log(t)
    u = torch.as_tensor(t)
    log(u is t, torch.as_tensor(t, dtype=torch.float32), torch.as_tensor([1, 2]))


@behaviour
def as_tensor_keeps_the_graph(torch, log):
    x = torch.tensor([1.0], requires_grad=True)
    log(torch.as_tensor(x) is x, torch.as_tensor(x, dtype=torch.float64))


@behaviour
def asarray_converts_and_copies_on_demand(torch, log):
    a = np.arange(3.0)
    log(torch.asarray(a), torch.asarray([1, 2, 3]), torch.asarray(2.5))
    t = torch.asarray(a, copy=True)
    a[0] = 9
    log(t)
    x = torch.tensor([1.0], requires_grad=True)
    log(torch.asarray(x), torch.asarray(x, requires_grad=True))


@behaviour_of_each(DTYPES)
def from_numpy_keeps_the_dtype(torch, log, name):
    if name == "bfloat16":
        log.raises(torch.from_numpy, "not an array")
    else:
        log(torch.from_numpy(np.array([0, 1, 2]).astype(name)))


@behaviour
def from_numpy_refuses_what_torch_has_no_dtype_for(torch, log):
    log.raises(torch.from_numpy, np.array(["a"]))
    log.raises(torch.from_numpy, np.array([object()]))
    log.raises(torch.from_numpy, [1, 2])
    log.raises(torch.from_numpy, np.arange(4)[::-1])


@behaviour
def from_numpy_of_non_contiguous_arrays_keeps_strides(torch, log):
    log.layout(torch.from_numpy(np.arange(6).reshape(2, 3).T))
    log.layout(torch.from_numpy(np.arange(10)[::2]))


@behaviour
def scalar_tensor_and_zero_dim_factories(torch, log):
    log(torch.scalar_tensor(3), torch.zeros(()), torch.ones([]), torch.full((), 7))


# Filled tensors


@behaviour
def zeros_ones_and_empty_take_sizes_in_every_form(torch, log):
    log(
        torch.zeros(2, 3), torch.zeros((2, 3)), torch.zeros([2, 3]), torch.zeros(torch.Size([2, 3]))
    )
    log(torch.ones(2), torch.ones(0), torch.ones(2, 0, 3), torch.zeros(size=(2,)))
    log(torch.empty(2, 3).shape, torch.empty((0,)).shape)


@behaviour
def zeros_refuses_bad_sizes(torch, log):
    log.raises(torch.zeros, -1)
    log.raises(torch.zeros, 2, -3)
    log.raises(torch.zeros, 1.5)
    log.raises(torch.zeros, "a")
    log.raises(torch.zeros, (2, "a"))
    log.raises(torch.zeros)


@behaviour_of_each(DTYPES)
def zeros_and_ones_in_every_dtype(torch, log, name):
    dtype = getattr(torch, name)
    log(torch.zeros(2, dtype=dtype), torch.ones(2, dtype=dtype), torch.eye(2, dtype=dtype))


@behaviour
def full_infers_the_dtype_of_its_fill_value(torch, log):
    for value in (1, 1.5, True, 1j):
        log(torch.full((2,), value))
    log(torch.full((2, 2), 3, dtype=torch.float64), torch.full([1], 2.5, dtype=torch.int32))
    log.raises(torch.full, (2,), "a")
    log.raises(torch.full, 2, 1.0)


@behaviour
def full_with_requires_grad(torch, log):
    log(torch.full((2,), 1.0, requires_grad=True))
    log.raises(torch.full, (2,), 1, requires_grad=True)


@behaviour
def the_like_factories_follow_shape_and_dtype(torch, log):
    x = torch.tensor([[1, 2], [3, 4]], dtype=torch.int16)
    log(torch.zeros_like(x), torch.ones_like(x), torch.full_like(x, 7), torch.empty_like(x).shape)
    log(torch.ones_like(x, dtype=torch.float64), torch.zeros_like(x, dtype=torch.bool))
    log(torch.ones_like(x, dtype=torch.float32, requires_grad=True))


@behaviour
def the_like_factories_do_not_inherit_requires_grad(torch, log):
    x = torch.tensor([1.0], requires_grad=True)
    log(torch.zeros_like(x), torch.ones_like(x * 2), torch.full_like(x, 2.0))
    log(torch.rand_like(x).shape, torch.randn_like(x).requires_grad)


@behaviour
def the_like_factories_preserve_strides(torch, log):
    x = torch.zeros(2, 3, 4).permute(2, 0, 1)
    log.layout(torch.zeros_like(x), torch.empty_like(x), torch.ones_like(x[::2]))
    log.layout(torch.zeros_like(x.expand(4, 2, 3)), torch.zeros_like(torch.zeros(1).expand(3)))


@behaviour
def new_factories_follow_dtype_and_device(torch, log):
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    log(x.new_zeros(2), x.new_ones((1, 2)), x.new_full((2,), 5), x.new_empty(3).shape)
    log(x.new_tensor([1, 2]), x.new_zeros(2, dtype=torch.int32), x.new_tensor(3, dtype=torch.bool))
    log(x.new_ones(2, requires_grad=True))


@behaviour
def arange_in_every_form(torch, log):
    log(torch.arange(5), torch.arange(1, 4), torch.arange(1, 10, 3), torch.arange(5.0))
    log(torch.arange(0, 1, 0.25), torch.arange(5, 0, -2), torch.arange(3, 3), torch.arange(0))
    log(torch.arange(1, 2.5, 0.5, dtype=torch.float64), torch.arange(3, dtype=torch.float16))
    log(torch.arange(start=1, end=3), torch.arange(end=2), torch.arange(3.0, requires_grad=True))


@behaviour
def arange_refuses_bad_ranges(torch, log):
    log.raises(torch.arange, 0, 3, 0)
    log.raises(torch.arange, 0, 3, -1)
    log.raises(torch.arange, 3, 0, 1)
    log.raises(torch.arange, 0, float("inf"))
    log.raises(torch.arange, 0, float("nan"))
    log.raises(torch.arange, "a")
    log.raises(torch.arange)


@behaviour
def linspace_and_logspace(torch, log):
    log(torch.linspace(0, 1, 5), torch.linspace(-1, 1, 4), torch.linspace(3, 3, 1))
    log(torch.linspace(0, 10, 3, dtype=torch.int64), torch.linspace(0, 1, 0))
    log(torch.linspace(1, 0, 3, dtype=torch.float64), torch.linspace(0, 1, steps=2))
    log(torch.logspace(0, 3, 4), torch.logspace(0, 3, 4, base=2.0), torch.logspace(1, 2, 1))
    log.raises(torch.linspace, 0, 1, -1)
    log.raises(torch.linspace, 0, 1)


@behaviour
def eye_square_and_rectangular(torch, log):
    log(
        torch.eye(3), torch.eye(2, 3), torch.eye(3, 2), torch.eye(0), torch.eye(2, dtype=torch.bool)
    )
    log.raises(torch.eye, -1)
    log.raises(torch.eye, 2, -1)


@behaviour
def meshgrid_and_cartesian_prod(torch, log):
    a, b = torch.arange(2), torch.arange(3)
    log(torch.meshgrid(a, b, indexing="ij"), torch.meshgrid(a, b, indexing="xy"))


@behaviour
def tril_triu_and_indices(torch, log):
    x = torch.arange(9.0).reshape(3, 3)
    log(torch.tril(x), torch.triu(x), torch.tril(x, 1), torch.triu(x, -1))


@behaviour
def complex_builds_from_parts(torch, log):
    log(torch.complex(torch.tensor([1.0]), torch.tensor([2.0])))
    log.raises(torch.complex, torch.tensor([1.0]), torch.tensor([2.0], dtype=torch.float64))
    log.raises(torch.complex, torch.tensor([1]), torch.tensor([2]))
    log.values(torch.polar(torch.tensor([1.0]), torch.tensor([0.5])))


@behaviour
def out_arguments_write_into_a_tensor(torch, log):
    out = torch.empty(3)
    result = torch.add(torch.ones(3), torch.ones(3), out=out)
    log(result is out, out)
    torch.zeros(3, out=out)
    log(out)
    log.raises(torch.add, torch.ones(3, requires_grad=True), torch.ones(3), out=out)
    log.raises(torch.add, torch.ones(3), torch.ones(3), out=torch.empty(3, dtype=torch.int64))


# Dtypes


@behaviour_of_each(DTYPES)
def dtype_properties(torch, log, name):
    dtype = getattr(torch, name)
    log(str(dtype), repr(dtype), dtype.is_floating_point, dtype.is_complex, dtype.is_signed)
    log(dtype.itemsize, dtype == getattr(torch, name), hash(dtype) == hash(getattr(torch, name)))


@behaviour
def dtypes_have_aliases(torch, log):
    pairs = [("half", "float16"), ("float", "float32"), ("double", "float64"), ("short", "int16")]
    pairs += [("int", "int32"), ("long", "int64"), ("cfloat", "complex64")]
    pairs += [("cdouble", "complex128")]
    for alias, name in pairs:
        log(getattr(torch, alias) is getattr(torch, name), str(getattr(torch, alias)))


@behaviour
def dtypes_convert_to_real_and_complex(torch, log):
    for name in ("float16", "float32", "float64", "complex64", "complex128"):
        dtype = getattr(torch, name)
        log(dtype.to_complex(), dtype.to_real())


@behaviour_of_each(FLOATING)
def finfo_of_every_floating_dtype(torch, log, name):
    info = torch.finfo(getattr(torch, name))
    log(info.bits, info.dtype, info.eps, info.max, info.min)
    log(info.tiny, info.smallest_normal, info.resolution, repr(info))


@behaviour_of_each(INTEGERS)
def iinfo_of_every_integer_dtype(torch, log, name):
    info = torch.iinfo(getattr(torch, name))
    log(info.bits, info.dtype, info.max, info.min, repr(info))


@behaviour
def finfo_and_iinfo_refuse_the_wrong_kind(torch, log):
    log.raises(torch.finfo, torch.int64)
    log.raises(torch.iinfo, torch.float32)
    log.raises(torch.iinfo, torch.bool)
    log(torch.finfo().dtype, torch.finfo(torch.complex64).dtype)


@behaviour
def the_default_dtype_governs_new_floats(torch, log):
    log(torch.get_default_dtype())
    torch.set_default_dtype(torch.float64)
    log(torch.get_default_dtype(), torch.tensor(1.0), torch.zeros(2), torch.tensor(1j))
    log(torch.arange(3) / 2, torch.arange(0, 1, 0.5), torch.tensor([1, 2]).exp())
    log(torch.tensor([1, 2]) * 1.5, torch.tensor(1.0, dtype=torch.float32) * 2.5)


@behaviour
def the_default_dtype_must_be_floating(torch, log):
    log.raises(torch.set_default_dtype, torch.int64)
    log.raises(torch.set_default_dtype, torch.complex64)
    torch.set_default_dtype(torch.float16)
    log(torch.tensor([1.5]))


def is_complex_half(left, right):
    """Half with complex gives complex32, an experimental dtype that is left out."""
    return {left, right} in ({"float16", name} for name in COMPLEX)


@behaviour_of_each(p for p in itertools.product(PROMOTED, PROMOTED) if not is_complex_half(*p))
def adding_tensors_promotes(torch, log, left, right):
    a = torch.ones(2, dtype=getattr(torch, left))
    b = torch.ones(2, dtype=getattr(torch, right))
    log.values(a + b, a + b[0], a[0] + b, a[0] + b[0])
    log(torch.result_type(a, b), torch.promote_types(a.dtype, b.dtype))
    log(torch.can_cast(a.dtype, b.dtype))


@behaviour_of_each(DTYPES)
def python_scalars_promote_by_category_only(torch, log, name):
    a = torch.ones(2, dtype=getattr(torch, name))
    scalars = (True, 2, 2.5) if name == "float16" else (True, 2, 2.5, 1j)
    for scalar in scalars:
        log.values(a * scalar, scalar * a, a[0] * scalar)
        log(torch.result_type(a, scalar))


@behaviour_of_each(DTYPES)
def division_promotes_integers_to_the_default_float(torch, log, name):
    a = torch.tensor([1, 1], dtype=getattr(torch, name))
    log.values(a / 2, a / a, torch.true_divide(a, 4), 1 / a)


@behaviour_of_each(["exp", "sin", "sqrt", "log", "tanh", "sigmoid", "rsqrt", "cos", "atan", "erf"])
def unary_functions_promote_integers_to_the_default_float(torch, log, name):
    function = getattr(torch, name)
    for dtype in ("bool", "uint8", "int64", "float16", "bfloat16", "float32", "float64"):
        log.values(function(torch.tensor([1, 1], dtype=getattr(torch, dtype))))


@behaviour_of_each(["sum", "prod", "cumsum"])
def reductions_promote_small_integers_to_int64(torch, log, name):
    for dtype in ("bool", "uint8", "int8", "int32", "int64", "float16", "float32"):
        x = torch.tensor([1, 1, 1], dtype=getattr(torch, dtype))
        log.values(getattr(x, name)(0))
        log.values(getattr(x, name)(0, dtype=torch.float64))


@behaviour
def mean_of_integers_is_refused(torch, log):
    log.raises(lambda: torch.tensor([1, 2]).mean())
    log.raises(lambda: torch.tensor([True]).mean(0))
    log.values(torch.tensor([1, 2]).mean(dtype=torch.float32))
    log.raises(lambda: torch.tensor([1, 2]).var())
    log.raises(lambda: torch.tensor([1, 2]).std())
    log.raises(lambda: torch.tensor([1, 2]).norm())


@behaviour_of_each(DTYPES)
def conversion_methods(torch, log, name):
    x = torch.tensor([0, 1, 2], dtype=getattr(torch, name))
    log.values(x.float(), x.double(), x.half(), x.bfloat16(), x.bool())
    if not x.is_complex():
        log.values(x.long(), x.int(), x.short(), x.char(), x.byte())
    log.values(x.cfloat(), x.cdouble())


@behaviour
def to_returns_self_when_nothing_changes(torch, log):
    x = torch.tensor([1.0, 2.0])
    log(x.to(torch.float32) is x, x.to("cpu") is x, x.to(torch.float64), x.float() is x)
    log(x.to(torch.float32, copy=True) is x, x.to(torch.tensor(1, dtype=torch.int32)))
    log(x.to("cpu", torch.float16), x.to(device="cpu", dtype=torch.int64), x.type(torch.float64))
    log(x.cpu() is x, x.type(), x.type_as(torch.tensor(1, dtype=torch.int8)))


@behaviour
def to_records_a_node_that_casts_gradients_back(torch, log):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.to(torch.float64)
    log(y)
    (y * 3).sum().backward()
    log(x.grad, x.half(), x.to(torch.int64), x.bool())


@behaviour
def to_refuses_nonsense(torch, log):
    x = torch.tensor([1.0])
    log.raises(x.to, "nowhere")
    log.raises(x.type, "torch.NoSuchTensor")


@behaviour
def casting_out_of_range_values(torch, log):
    log(torch.tensor([300, -1]).to(torch.uint8), torch.tensor([1e10]).to(torch.float16))
    log(torch.tensor([1.9, -1.9]).to(torch.int32), torch.tensor([0.1, 0.0, 2.0]).to(torch.bool))


@behaviour
def casting_complex_to_real_warns(torch, log):
    z = torch.tensor([1 + 2j])
    log(z.to(torch.float32))
    log(z.to(torch.bool))


@behaviour
def devices(torch, log):
    cpu = torch.device("cpu")
    log(
        cpu, str(cpu), repr(cpu), cpu.type, cpu.index, torch.device("cpu", 0), torch.device("cpu:0")
    )
    log(
        torch.zeros(1).device,
        torch.zeros(1, device="cpu").device,
        torch.zeros(1, device=cpu).device,
    )
    log(
        cpu == torch.device("cpu"),
        cpu == torch.device("cpu:0"),
        hash(cpu) == hash(torch.device("cpu")),
    )
    log(torch.zeros(1).is_cpu, torch.zeros(1).is_cuda, torch.zeros(1).get_device())
    log(torch.device("cuda"), torch.device("cuda:1").index, cpu == "cpu")


@behaviour
def unknown_devices_are_refused(torch, log):
    log.raises(torch.device, "nowhere")
    log.raises(torch.device, "cpu:x")
    log.raises(torch.device, 1.5)
    log.raises(torch.device, "cpu", -2)
    log.raises(torch.zeros, 1, device="nowhere")


@behaviour
def layout_and_memory_format_names(torch, log):
    log(torch.zeros(1).layout, torch.strided, torch.contiguous_format, torch.preserve_format)
    log(torch.channels_last)


@behaviour
def predicates_on_tensors_and_dtypes(torch, log):
    x, z, i = torch.tensor([1.0]), torch.tensor([1j]), torch.tensor([1])
    for t in (x, z, i):
        log(torch.is_tensor(t), torch.is_floating_point(t), torch.is_complex(t))
        log(t.is_floating_point(), t.is_complex(), t.is_signed())
    log(torch.is_tensor([1]), torch.is_tensor(np.zeros(1)), torch.is_nonzero(x))
    log.raises(torch.is_nonzero, torch.tensor([1.0, 2.0]))


@behaviour
def size_information(torch, log):
    x = torch.zeros(2, 3, 4)
    log(x.size(), x.size(1), x.size(-1), x.shape, x.dim(), x.ndim, x.numel(), x.nelement())
    log(x.shape.numel(), x.shape[1:], x.shape + (5,), x.element_size(), x.nbytes, x.itemsize)
    log(repr(x.shape), x.shape == (2, 3, 4), torch.Size([1, 2]), torch.numel(x), len(x.shape))
    log.raises(x.size, 3)
    log.raises(x.size, -4)


# Random numbers


@behaviour_of_each([1, 5, 15, 16, 17, 40, 64])
def seeded_uniform_numbers_are_the_same(torch, log, count):
    torch.manual_seed(count)
    log(torch.rand(count), torch.rand(count, dtype=torch.float64), torch.rand(2, 3))


@behaviour_of_each([1, 5, 15, 16, 17, 40, 64])
def seeded_normal_numbers_are_the_same(torch, log, count):
    torch.manual_seed(count)
    log(torch.randn(count), torch.randn(count, dtype=torch.float64), torch.randn(2, 3))
    log(torch.randn(count))


@behaviour
def seeded_integers_and_permutations_are_the_same(torch, log):
    torch.manual_seed(7)
    log(torch.randint(10, (20,)), torch.randint(-5, 5, (2, 3)), torch.randint(0, 2**40, (3,)))
    log(torch.randint(3, (4,), dtype=torch.int32), torch.randint(0, 3, (4,), dtype=torch.float32))
    log(torch.randperm(10), torch.randperm(1), torch.randperm(0), torch.randperm(50))
    log.raises(torch.randint, 5, 5, (2,))
    log.raises(torch.randperm, -1)


@behaviour
def seeded_normal_with_parameters(torch, log):
    torch.manual_seed(3)
    log.values(torch.normal(1.0, 2.0, (5,)), torch.normal(torch.zeros(4), 1.0))
    log.values(torch.normal(torch.arange(3.0), torch.ones(3)), torch.normal(2.0, torch.ones(20)))
    log.raises(torch.normal, 0.0, -1.0, (2,))


@behaviour
def seeded_in_place_random_fills(torch, log):
    torch.manual_seed(3)
    log(torch.empty(5).uniform_(), torch.empty(20).normal_(), torch.empty(5).uniform_(-2, 3))
    log(torch.empty(3).normal_(10, 0.1), torch.empty(4).bernoulli_(0.5))
    log(torch.empty(3, dtype=torch.float64).uniform_(-1, 1))
    log.raises(torch.empty(3).uniform_, 3, 1)


@behaviour
def seeded_bernoulli_and_multinomial(torch, log):
    torch.manual_seed(3)
    log(torch.bernoulli(torch.full((10,), 0.3)))


@behaviour
def seeded_like_variants(torch, log):
    torch.manual_seed(3)
    x = torch.zeros(3, dtype=torch.float64)
    log(torch.rand_like(x), torch.randn_like(x), torch.randint_like(x, 10))
    log(torch.rand_like(x, dtype=torch.float32), torch.randn(2, requires_grad=True))


@behaviour
def a_generator_has_its_own_stream(torch, log):
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(42)
    log(torch.rand(3, generator=g), torch.rand(3), torch.randn(3, generator=g))
    log(torch.randint(5, (3,), generator=g), torch.randperm(5, generator=g), g.initial_seed())
    log(g.device)


@behaviour
def generator_state_can_be_saved_and_restored(torch, log):
    torch.manual_seed(1)
    torch.randn(3)
    state = torch.get_rng_state()
    first = torch.randn(5)
    torch.set_rng_state(state)
    log(first, torch.randn(5), state.dtype, torch.initial_seed())
    g = torch.Generator()
    g.manual_seed(5)
    kept = g.get_state()
    first = torch.rand(2, generator=g)
    g.set_state(kept)
    log(first, torch.rand(2, generator=g))


@behaviour
def manual_seed_returns_a_generator_and_takes_integers_only(torch, log):
    log(type(torch.manual_seed(3)).__name__, torch.manual_seed(3).initial_seed())
    log(torch.manual_seed(-1).initial_seed())
    log.raises(torch.manual_seed, "a")


@behaviour
def odd_normal_draws_leave_the_stream_where_torch_leaves_it(torch, log):
    torch.manual_seed(11)
    log(torch.randn(3), torch.rand(2), torch.randn(1), torch.randn(17), torch.rand(1))
    log(torch.randn((), dtype=torch.float64), torch.randn(2), torch.randint(100, (3,)))


@behaviour
def random_half_precision_numbers(torch, log):
    torch.manual_seed(4)
    log(torch.rand(4, dtype=torch.float16), torch.randn(4, dtype=torch.bfloat16))
    log.raises(torch.rand, 3, dtype=torch.int64)
    log.raises(torch.randn, 3, dtype=torch.int64)


@behaviour
def complex_random_numbers(torch, log):
    torch.manual_seed(4)
    log(torch.randn(3, dtype=torch.complex64), torch.rand(3, dtype=torch.complex128))


@behaviour
def dropout_with_a_seed(torch, log):
    torch.manual_seed(4)
    x = torch.ones(10, requires_grad=True)
    y = torch.nn.functional.dropout(x, 0.5)
    y.sum().backward()
    log.values(y, x.grad)
    log.values(torch.nn.functional.dropout(x, 0.5, training=False))


class Exporter:
    """Something that shares its memory by DLPack alone."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self, **options):
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


@behaviour
def asarray_of_everything(torch, log):
    array, x = np.arange(3.0), torch.arange(3.0)
    log(torch.asarray(Exporter(x)), torch.asarray(Exporter(x), dtype=torch.float64))
    for source in (array, bytearray(array.tobytes()), [0.0, 1.0, 2.0], x, torch.arange(3)):
        for options in ({}, {"dtype": torch.float64}, {"dtype": torch.float64, "copy": True},
                        {"dtype": torch.float64, "requires_grad": True}, {"copy": False},
                        {"dtype": torch.float64, "copy": False}, {"device": "cpu"}):
            log.raises(lambda s=source, o=options: torch.asarray(s, **o))
    log.raises(lambda: torch.asarray(array, device="nowhere"))
    for copied in (None, False, True):
        given = np.arange(3.0)
        made = torch.asarray(given, copy=copied)
        given[0] = 7
        log(made)


@behaviour
def asarray_of_tensors_that_require_grad(torch, log):
    leaf = torch.ones(2, requires_grad=True)
    for given in (leaf, leaf * 2, leaf.detach()):
        for wanted in (None, False, True):
            for copied in (None, True):
                if given is leaf and wanted is False:
                    continue  # PyTorch makes the leaf itself one that requires none
                made = torch.asarray(given, requires_grad=wanted, copy=copied)
                log(made, made is given)
    log(torch.asarray(leaf, dtype=torch.float64, requires_grad=True))
    log(torch.asarray(leaf.detach(), dtype=torch.float64, requires_grad=True))


@behaviour
def memory_that_may_only_be_read(torch, log):
    array = np.arange(3.0)
    array.flags.writeable = False
    log(torch.from_numpy(array), torch.frombuffer(b"\x01\x02", dtype=torch.uint8))
    log(torch.as_tensor(array), torch.asarray(array))


@behaviour
def tensors_of_tensors_and_arrays(torch, log):
    x = torch.arange(2.0)
    log(torch.tensor(x), x.new_tensor(x), x.new_tensor([1, 2]), x.double().new_tensor(x))
    log(torch.tensor([np.arange(2.0), np.arange(2.0)]), torch.tensor([np.arange(2.0)]))
    log(torch.tensor([x[0], x[1]]), torch.tensor([x[0], 2]), torch.tensor(np.array(2)))
    log(torch.tensor([x[0].requires_grad_(), torch.ones(1)]))
    log(torch.tensor([[], []]), torch.tensor([np.float32(1), 2]), torch.tensor([(), ()]).shape)
    log(torch.tensor([torch.ones(1), torch.ones(1, 1)]), torch.tensor([[torch.ones(1)], [3]]))
    log(torch.full((2,), np.float64(3)), torch.full((2,), torch.tensor(3.0)),
        torch.full((2,), np.int64(3)), torch.full_like(x, np.float32(2)))


@behaviour
def meta_from_data(torch, log):
    for made in (torch.as_tensor([1, 2], device="meta"),
                 torch.as_tensor(torch.ones(2), device="meta"),
                 torch.as_tensor(torch.ones(2), dtype=torch.float64, device="meta"),
                 torch.as_tensor([1, 2], dtype=torch.float64, device="meta"),
                 torch.zeros_like(torch.ones(2), device="meta"),
                 torch.ones_like(torch.ones(2), device="meta", requires_grad=True),
                 torch.empty_like(torch.ones(2), dtype=torch.int64, device="meta")):
        log(made.device, made.dtype, made.shape, made.requires_grad)


@behaviour
def sizes_below_zero(torch, log):
    for make in (torch.zeros, torch.ones, torch.empty):
        log.raises(make, 2, -1)
        log.raises(make, -1)


class Counted:
    def __init__(self, n):
        self.n = n

    def __index__(self):
        return self.n


@behaviour
def sizes_and_bounds_of_other_kinds(torch, log):
    log(torch.zeros(Counted(2)), torch.zeros(np.int64(2), 1), torch.zeros((Counted(1), 2)))
    log(torch.arange(torch.tensor(3)), torch.arange(end=3), torch.arange(torch.tensor(1.0), 3),
        torch.linspace(torch.tensor(0.0), torch.tensor(1.0), 3))
    log(torch.zeros(2, out=torch.empty(0)), torch.ones(3, out=torch.empty(3)))


class Handled:
    """A tensor's class that is asked first."""

    @staticmethod
    def of(torch, log):
        class Asked(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                log(func.__name__, len(args), sorted(kwargs or {}))
                return "handled"

        return torch.ones(2).as_subclass(Asked)


@behaviour
def a_class_is_asked_for_tensors_like_its_own(torch, log):
    x = Handled.of(torch, log)
    for make in (torch.zeros_like, torch.ones_like, torch.empty_like, torch.rand_like,
                 torch.randn_like):
        log(make(x), make(x, dtype=torch.float64))
    log(torch.full_like(x, 2), x.new_zeros(2), x.new_full((2,), 3))
    log(x.new_ones(2, requires_grad=True))


@behaviour
def ranges_of_unusual_arguments(torch, log):
    log(torch.range(3, 7), torch.range(0, 4, 2), torch.range(5, 1, -2))
    for dtype in (torch.float32, torch.float64, torch.complex64, torch.int64):
        log.raises(lambda dtype=dtype: torch.linspace(0, 1 + 1j, 3, dtype=dtype))
        log.raises(lambda dtype=dtype: torch.logspace(0, 1 + 1j, 3, dtype=dtype))
    torch.set_default_dtype(torch.float64)
    log.raises(lambda: torch.linspace(0, 1 + 1j, 3, dtype=torch.float32))
    log(torch.linspace(0, 1 + 1j, 3))


@behaviour
def results_without_memory(torch, log):
    x = torch.ones(2, 3, device="meta")
    for _ in range(2):
        for make in (lambda out: torch.zeros(2, 3, out=out), lambda out: torch.add(x, 1, out=out),
                     lambda out: torch.full((4,), 2.0, out=out), lambda out: torch.exp(x, out=out)):
            for dtype in (torch.float32, torch.float64):
                out = torch.empty(0, device="meta", dtype=dtype)
                log(make(out) is out, out.shape, out.dtype, out.is_meta)
        Handled.of(torch, log)  # from now on functions look for classes that are asked
