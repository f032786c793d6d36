"""Initial values of parameters with every option: the same numbers for the same seed."""

from __future__ import annotations

import itertools

from parity.harness import behaviour, behaviour_of_each

SHAPES = [(4, 6), (6, 4), (5, 5), (6, 2, 3), (2, 3, 4, 5), (4, 2, 2, 3, 2), (1, 1), (3, 0), (0, 3)]
WHOLE = [shape for shape in SHAPES if 0 not in shape]
DTYPES = ("float32", "float64")


def blank(torch, shape, dtype="float64"):
    torch.manual_seed(3)
    return torch.full(shape, 7.0, dtype=getattr(torch, dtype))


def filled(torch, log, name, shape, *args, **options):
    for dtype in DTYPES:
        tensor = blank(torch, shape, dtype)
        made = getattr(torch.nn.init, name)(tensor, *args, **options)
        log(made is tensor, made.requires_grad)
        log.values(made)
        log.values(torch.rand(1))  # as many numbers were drawn


@behaviour_of_each(["xavier_uniform_", "xavier_normal_"])
def by_both_sizes(torch, log, name):
    for shape in SHAPES:
        for gain in (1.0, 2.5):
            if shape != (0, 3) or name == "xavier_normal_":
                filled(torch, log, name, shape, gain=gain)


@behaviour_of_each(["kaiming_uniform_", "kaiming_normal_"])
def by_one_size(torch, log, name):
    for shape, mode, (a, kind) in itertools.product(
            WHOLE, ("fan_in", "fan_out", "FAN_OUT"),
            ((0, "leaky_relu"), (0.3, "leaky_relu"), (0, "relu"), (0, "tanh"), (0, "selu"),
             (0, "linear"))):
        filled(torch, log, name, shape, a, mode, kind)
    for shape in ((3, 0), (0, 3)):
        log.warns(lambda shape=shape: getattr(torch.nn.init, name)(blank(torch, shape)).shape)
    for wrong in ({"mode": "fan"}, {"nonlinearity": "odd"}, {"a": "x"}):
        log.raises(getattr(torch.nn.init, name), blank(torch, (2, 2)), **wrong)


@behaviour
def by_formulas(torch, log):
    for shape in WHOLE:
        filled(torch, log, "uniform_", shape, -1.0, 3.0)
        filled(torch, log, "normal_", shape, 2.0, 0.5)
        filled(torch, log, "constant_", shape, 2.5)
        filled(torch, log, "ones_", shape)
        filled(torch, log, "zeros_", shape)
        if len(shape) == 2:
            filled(torch, log, "eye_", shape)
            for sparsity in (0.0, 0.1, 0.5, 0.9, 1.0):
                filled(torch, log, "sparse_", shape, sparsity)
            filled(torch, log, "sparse_", shape, 0.3, std=2.0)


@behaviour
def channels_that_pass_through(torch, log):
    for sizes, groups in itertools.product(
            ((6, 2), (6, 6), (4, 8), (2, 5), (12, 3)), (1, 2, 4)):
        for window in ((1,), (3,), (4,), (2, 3), (5, 4), (3, 3, 3), (2, 5, 7)):
            tensor = blank(torch, (*sizes, *window))
            log.raises(lambda tensor=tensor, groups=groups:
                       torch.nn.init.dirac_(tensor, groups).nonzero().tolist())
    for shape in ((3,), (3, 3), (1, 1, 1, 1, 1, 1)):
        log.raises(torch.nn.init.dirac_, blank(torch, shape))


CUT = [(mean, std, a, b) for mean, std in ((0.0, 1.0), (3.0, 1.0), (-2.0, 0.5), (0.5, 3.0))
       for a, b in ((-2.0, 2.0), (1.0, 2.0), (-1.0, 0.25), (3.5, 8.0), (-9.0, -2.5), (2.9, 3.1))
       if a - 4 * std <= mean <= b + 4 * std]


@behaviour_of_each([(f"{mean} {std} {a} {b}", mean, std, a, b) for mean, std, a, b in CUT])
def normal_values_that_are_cut_off(torch, log, _, mean, std, a, b):
    for dtype in DTYPES:
        def fill(dtype=dtype):
            made = torch.nn.init.trunc_normal_(blank(torch, (3, 7), dtype), mean, std, a, b)
            return made.tolist(), torch.rand(1).tolist()

        log.warns(fill)


@behaviour
def warnings_begin_at_two_deviations(torch, log):
    for std, far in itertools.product((0.25, 1.0, 2.0), (1.75, 2.0, 2.25)):
        for mean, a, b in ((-far * std, 0.0, 3.0), (3.0 + far * std, 0.0, 3.0)):
            log.warns(lambda mean=mean, std=std, a=a, b=b: torch.nn.init.trunc_normal_(
                blank(torch, (2,)), mean, std, a, b).tolist())


@behaviour
def which_way_is_taken_shows_in_the_numbers(torch, log):
    """Of an interval with about 0.3 of the values, on both sides of that share."""
    for half in (0.37, 0.38, 0.385, 0.386, 0.39, 0.4):
        for mean, std in ((0.0, 1.0), (5.0, 1.0), (0.0, 4.0), (-3.0, 0.25)):
            log.values(torch.nn.init.trunc_normal_(
                blank(torch, (6,)), mean, std, mean - half * std, mean + half * std))


@behaviour
def orthogonal_rows_or_columns(torch, log):
    for shape, gain in itertools.product(WHOLE, (1, 2.5)):
        filled(torch, log, "orthogonal_", shape, gain=gain)
    for shape in ((3, 0), (0, 3)):
        log(tuple(torch.nn.init.orthogonal_(blank(torch, shape)).shape))
    log.raises(torch.nn.init.orthogonal_, blank(torch, (3,)))


@behaviour_of_each(["uniform", "normal", "constant", "eye", "dirac", "xavier_uniform",
                    "xavier_normal", "kaiming_uniform", "kaiming_normal", "orthogonal", "sparse"])
def names_of_before(torch, log, name):
    function = getattr(torch.nn.init, name)
    more = {"constant": (2.0,), "sparse": (0.5,)}.get(name, ())
    shape = (3, 3, 3) if name == "dirac" else (3, 4)
    log(function.__name__, bool(function.__doc__))
    log.warns(lambda: function(blank(torch, shape), *more).tolist())


@behaviour
def own_generators(torch, log):
    for name in ("uniform_", "normal_", "trunc_normal_", "xavier_uniform_", "xavier_normal_",
                 "kaiming_uniform_", "kaiming_normal_", "orthogonal_"):
        generator = torch.Generator().manual_seed(8)
        tensor = blank(torch, (3, 4))
        log.values(getattr(torch.nn.init, name)(tensor, generator=generator))
        log.values(torch.rand(2), torch.rand(2, generator=generator))
    generator = torch.Generator().manual_seed(8)
    log.values(torch.nn.init.sparse_(blank(torch, (3, 4)), 0.4, generator=generator))


@behaviour
def gains(torch, log):
    gain = torch.nn.init.calculate_gain
    for name in ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
                 "conv_transpose3d", "sigmoid", "tanh", "relu", "selu", "leaky_relu", "gelu", ""):
        log.raises(gain, name)
    for slope in (0, 1, 0.2, -0.5, None, True, "a", 1j):
        log.raises(gain, "leaky_relu", slope)
