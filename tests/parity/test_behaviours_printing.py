"""What ``repr``, ``str`` and ``print`` show, to the character."""

from __future__ import annotations

import math

from parity.harness import behaviour, behaviour_of_each

DTYPES = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128", "uint8", "int8"]
DTYPES += ["int16", "int32", "int64", "bool"]

VALUES = {
    "integral floats": [1.0, 2.0, 3.0],
    "fractions": [0.1, 0.25, 1 / 3],
    "mixed magnitudes": [1e-3, 1.0, 1e3],
    "scientific small": [1e-10, 1.0],
    "scientific large": [1e10, 1.0],
    "large integral": [1e8, 2e8],
    "five digits": [12345.678, 1.0],
    "six digits": [123456.789, 1.0],
    "negative": [-1.5, 2.25],
    "zeros": [0.0, -0.0],
    "nan and inf": [math.nan, math.inf, -math.inf, 1.5],
    "only nan": [math.nan],
    "only inf": [math.inf, -math.inf],
    "inf and integral": [math.inf, 2.0],
    "tiny": [1e-38, 1e-44],
    "thousand and small": [1000.0, 0.0001],
    "ratio at the limit": [0.0001, 0.1],
    "hundred thousand": [100000.0, 0.5],
    "rounding": [0.99999, 1.00001],
    "rounding up": [9.99999],
    "single": [3.14159265],
    "empty": [],
}


@behaviour_of_each(VALUES.items())
def floats_are_printed_alike(torch, log, name, values):
    for dtype in (torch.float32, torch.float64):
        t = torch.tensor(values, dtype=dtype)
        log(repr(t), str(t), repr(t.reshape(-1, 1)), [repr(v) for v in t])


@behaviour_of_each(DTYPES)
def every_dtype_shows_its_name_when_it_must(torch, log, name):
    dtype = getattr(torch, name)
    t = torch.tensor([0, 1, 2], dtype=dtype)
    log(repr(t), repr(t[1]), repr(t[:0]), repr(t.reshape(3, 1)))


@behaviour
def integers_are_aligned(torch, log):
    for values in ([1, 10, 100], [-1, 10], [[1, -200], [30, 4]], [0], [], [2**62]):
        log(repr(torch.tensor(values)))


@behaviour
def bools_are_aligned(torch, log):
    log(
        repr(torch.tensor([True, False])),
        repr(torch.tensor([[True], [False]])),
        repr(torch.tensor(True)),
    )


@behaviour
def matrices_and_deeper_tensors_are_nested(torch, log):
    for shape in ((2, 3), (2, 2, 2), (1, 2, 3, 2), (2, 1), (1, 1, 1)):
        log(repr(torch.arange(float(math.prod(shape))).reshape(shape)))


@behaviour
def empty_tensors_show_their_size(torch, log):
    for shape in ((0,), (0, 3), (2, 0), (1, 0, 2)):
        log(repr(torch.zeros(shape)), repr(torch.zeros(shape, dtype=torch.int64)))
    log(repr(torch.zeros(0, requires_grad=True)), repr(torch.zeros(0, 2, dtype=torch.bool)))


@behaviour
def zero_dim_tensors(torch, log):
    for value in (1, 1.0, 1.5, True, 1j, 1e-8, 123456789.0, math.nan, -math.inf, 0.1, 1e5, 1e15):
        log(repr(torch.tensor(value)), str(torch.tensor(value)))


@behaviour
def long_rows_wrap_at_the_line_width(torch, log):
    log(repr(torch.arange(30)), repr(torch.arange(30.0)), repr(torch.arange(60).reshape(2, 30)))
    log(repr(torch.arange(0, 1, 0.05)), repr(torch.arange(24.0) * 1000))


@behaviour
def large_tensors_are_summarised(torch, log):
    log(repr(torch.arange(1001)), repr(torch.arange(1000)[:20]), repr(torch.zeros(1001)))
    log(repr(torch.arange(2000.0).reshape(2, 1000)), repr(torch.arange(1200).reshape(40, 30)))
    log(repr(torch.zeros(20, 20, 20)), repr(torch.arange(10000.0).reshape(100, 100)))


@behaviour
def requires_grad_and_grad_fn_are_shown(torch, log):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    log(repr(x), repr(x * 2), repr((x * 2).sum()), repr(x[0]), repr(x.detach()), repr(x.view(2, 1)))
    log(repr(x.to(torch.float64)), repr(torch.tensor(3.0, requires_grad=True)))


@behaviour
def parameters_say_what_they_contain(torch, log):
    p = torch.nn.Parameter(torch.tensor([[1.0, 2.0]]))
    log(repr(p), str(p), repr(p * 1), repr(torch.nn.Parameter(torch.zeros(2), requires_grad=False)))


@behaviour
def long_suffixes_wrap(torch, log):
    x = torch.arange(12.0, requires_grad=True)
    log(repr(x * 1000.123), repr(torch.arange(14.0, dtype=torch.float64, requires_grad=True)))
    log(repr(torch.arange(16.0, requires_grad=True).sigmoid()))


@behaviour
def complex_numbers(torch, log):
    for values in (
        [1 + 2j, 3.5 - 1j],
        [1j],
        [1e-5 + 1e5j, 1],
        [complex(math.nan, 1)],
        [0j, 1 + 1j],
    ):
        log(repr(torch.tensor(values)), repr(torch.tensor(values, dtype=torch.complex128)))
    log(repr(torch.tensor(1 - 0.5j)), repr(torch.tensor([[1 + 1j, 2], [3, 4]])))
    log(repr(torch.tensor([1 + 1j], requires_grad=True)))


@behaviour
def default_dtype_changes_what_is_named(torch, log):
    torch.set_default_dtype(torch.float64)
    log(repr(torch.tensor([1.0])), repr(torch.tensor([1.0], dtype=torch.float32)))
    log(repr(torch.tensor([1j])), repr(torch.tensor([1j], dtype=torch.complex64)))


@behaviour
def print_options_precision(torch, log):
    x = torch.tensor([math.pi, math.e])
    for precision in (0, 2, 8):
        torch.set_printoptions(precision=precision)
        log(repr(x), repr(x.double()))


@behaviour
def print_options_threshold_and_edgeitems(torch, log):
    torch.set_printoptions(threshold=5, edgeitems=2)
    log(repr(torch.arange(10)), repr(torch.arange(100.0).reshape(10, 10)), repr(torch.arange(5)))


@behaviour
def print_options_linewidth(torch, log):
    torch.set_printoptions(linewidth=40)
    log(repr(torch.arange(30)), repr(torch.arange(12.0).reshape(2, 6) * 10))


@behaviour
def print_options_sci_mode(torch, log):
    torch.set_printoptions(sci_mode=True)
    log(repr(torch.tensor([1.0, 1000.0])), repr(torch.tensor(0.5)))
    torch.set_printoptions(sci_mode=False)
    log(repr(torch.tensor([1e-8, 1e8])))


@behaviour_of_each(["default", "short", "full"])
def print_options_profiles(torch, log, profile):
    torch.set_printoptions(profile=profile)
    log(repr(torch.tensor([math.pi, 1.0])), repr(torch.arange(1100))[:300])


@behaviour
def print_writes_the_repr(torch, log):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    print(x, x.sum(), [x], {"x": x.detach()}, x.grad)
    print(x.shape, x.dtype, x.device, torch.Size([]))


@behaviour
def nodes_print_their_name(torch, log):
    x = torch.tensor([1.0], requires_grad=True)
    print((x * 2).grad_fn, (x + 1).sum().grad_fn.next_functions)
    log(repr((x**2).grad_fn), str((x @ x).grad_fn))


@behaviour
def views_and_non_contiguous_tensors_print_their_elements(torch, log):
    x = torch.arange(6.0).reshape(2, 3)
    log(repr(x.T), repr(x[:, ::2]), repr(x[0].expand(2, 3)), repr(x.flip(0)))


@behaviour
def containers_of_tensors(torch, log):
    x = torch.arange(4.0)
    log(repr([x, x[0]]), repr((x,)), repr({"a": x}), repr(torch.max(x.view(2, 2), 0)))
    log(repr(torch.sort(x)), repr(torch.topk(x, 2)), str(torch.zeros(2, 2).shape))


@behaviour
def subclasses_print_their_class(torch, log):
    class Marked(torch.Tensor):
        pass

    log(repr(torch.tensor([1.0, 2.0]).as_subclass(Marked)))


@behaviour
def half_precisions(torch, log):
    for dtype in (torch.float16, torch.bfloat16):
        log(
            repr(torch.tensor([1.0, 0.1, 1000.0], dtype=dtype)),
            repr(torch.tensor(0.3, dtype=dtype)),
        )


@behaviour
def negative_zero_and_subnormals(torch, log):
    log(repr(torch.tensor([-0.0])), repr(torch.tensor([-0.0, 1.5])), repr(torch.tensor([1e-45])))


@behaviour
def modules_print_their_tree(torch, log):
    nn = torch.nn
    print(nn.Linear(2, 3), nn.Linear(2, 3, bias=False), nn.ReLU(), nn.Tanh())
    print(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 1)))
    print(nn.MSELoss(), nn.CrossEntropyLoss())
