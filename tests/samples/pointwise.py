"""Samples of elementwise arithmetic, comparison and elementary functions."""

from tests.samples import array, call, index, kinked, mask, samples


def shapes(*, complex=False, **options):
    """One argument in every shape that matters."""
    return [call(array(3, 4, **options)), call(array(5, **options)), call(array(**options)),
            call(array(0, 3, **options)), call(array(2, 1, 3, **options))]


def pairs(second=None, **options):
    """Two arguments: alike, broadcast either way, a scalar tensor, nothing."""
    other = {"seed": 1, **options, **(second or {})}
    return [call(array(3, 4, **options), array(3, 4, **other)),
            call(array(3, 4, **options), array(4, **other)),
            call(array(2, 1, 3, **options), array(4, 1, **other)),
            call(array(4, **options), array(3, 4, **other)),
            call(array(3, **options), array(**other)),
            call(array(**options), array(**other)),
            call(array(0, 3, **options), array(3, **other)),
            call(array(3, 1, **options), array(1, 0, **other))]


POSITIVE = {"low": 0.3, "high": 3.0}
UNIT = {"low": -0.8, "high": 0.8}
PROBABILITY = {"low": 0.1, "high": 0.9}

# Where the values are real and complex numbers alike.
for name in ("neg", "negative", "exp", "exp2", "expm1", "sin", "cos", "sinh", "cosh",
             "tanh", "asinh", "atan", "sgn", "abs", "absolute", "square", "positive", "sigmoid",
             "sinc", "arcsinh", "arctan", "angle", "conj", "conj_physical", "resolve_conj",
             "resolve_neg"):
    samples(name, *shapes(), complex=True)
for name in ("sqrt", "rsqrt", "reciprocal", "log", "log2", "log10", "log1p"):
    samples(name, *shapes(**POSITIVE), complex=True)
for name in ("asin", "acos", "atanh", "arcsin", "arccos", "arctanh"):
    samples(name, *shapes(**UNIT), complex=True)
samples("tan", *shapes(low=-1.3, high=1.3), complex=True)
samples("acosh", *shapes(low=1.2, high=3.0))
samples("arccosh", *shapes(low=1.2, high=3.0))
for name in ("deg2rad", "rad2deg", "sign", "floor", "ceil", "trunc", "fix", "frac"):
    samples(name, *shapes())
samples("round", *shapes(), call(array(4), decimals=2), call(array(4, low=-300, high=300),
                                                               decimals=-1))

samples("add", *pairs(), call(array(3), 2), call(2.5, array(3)),
        call(array(3, 4), array(4), alpha=2),
        call(array(3), 1.5, alpha=-0.5), complex=True)
samples("sub", *pairs(), call(array(3), 2), call(2.5, array(3)),
        call(array(3, 4), array(4), alpha=2),
        complex=True)
samples("subtract", *pairs(), complex=True)
samples("rsub", *pairs(), call(array(3), 2), call(array(3), 2.5, alpha=3),
        call(array(3, 4), array(4), alpha=2), complex=True)
samples("mul", *pairs(), call(array(3), 2), call(2.5, array(3)), complex=True)
samples("multiply", *pairs(), complex=True)
for name in ("div", "divide", "true_divide"):
    samples(name, *pairs(POSITIVE), call(array(3), 2), call(2.5, array(3, **POSITIVE)),
            complex=True)
samples("div", *pairs(POSITIVE), call(array(3), 2), call(2.5, array(3, **POSITIVE)), complex=True)
samples("floor_divide", *[call(array(3, 4, grad=False), array(4, grad=False, **POSITIVE)),
                          call(array(5, grad=False), 0.7), call(3.0, array(4, grad=False))])
for name in ("remainder", "fmod"):
    samples(name, *pairs(POSITIVE), call(array(5), 0.7), call(array(5), -0.7))

samples("pow", *pairs({"low": -2.0, "high": 2.0}, **POSITIVE), call(array(4), 2), call(array(4), 3),
        call(array(3, low=-2.0, high=-0.5), array(3, kind="complex")),
        call(array(4, **POSITIVE), 0.5), call(array(4, **POSITIVE), -1.5), call(array(4), 0),
        call(array(4), 1), call(array(4), -2), call(2.5, array(4)), call(2, array(4)),
        complex=True)
samples("float_power", *pairs({"low": -2.0, "high": 2.0}, **POSITIVE), call(array(4), 2),
        call(2.5, array(4)), complex=True)
samples("addcmul", call(array(3, 4), array(3, 4, seed=1), array(3, 4, seed=2)),
        call(array(4), array(3, 1, seed=1), array(4, seed=2), value=0.5),
        call(array(), array(), array(seed=1), value=2), complex=True)
samples("addcdiv", call(array(3, 4), array(3, 4, seed=1), array(3, 4, seed=2, **POSITIVE)),
        call(array(4), array(3, 1, seed=1), array(4, seed=2, **POSITIVE), value=0.5),
        complex=True)
samples("lerp", call(array(3, 4), array(3, 4, seed=1), 0.3),
        call(array(3, 4), array(4, seed=1), 0.8),
        call(array(3, 4), array(4, seed=1), array(3, 1, **PROBABILITY)),
        call(array(), array(seed=1), 2),
        complex=True)
samples("hypot", *pairs(POSITIVE))
samples("atan2", *pairs(POSITIVE))
samples("arctan2", *pairs(POSITIVE))
samples("logaddexp", *pairs(), complex=True)
samples("logaddexp2", *pairs())
samples("xlogy", *pairs(POSITIVE), call(array(4), 2.5), call(1.5, array(4, **POSITIVE)))
samples("special.xlogy", *pairs(POSITIVE), call(array(4), 2.5))
samples("ldexp", *pairs(), complex=True)
samples("nextafter", *[call(array(4, grad=False), array(4, seed=1, grad=False))])
samples("copysign", *pairs(), call(array(4), -1.5), call(array(4), 2))
samples("heaviside", call(array(3, 4, grad=False), array(4, grad=False)))
samples("frexp", *shapes())

for name in ("eq", "ne", "not_equal"):
    samples(name, *pairs(), call(array(3), 0.5), complex=True)
for name in ("lt", "le", "gt", "ge", "less", "less_equal", "greater", "greater_equal"):
    samples(name, *pairs(), call(array(3), 0.5))
samples("isclose", *pairs(), call(array(3), array(3), rtol=0.5, atol=1.0, equal_nan=True),
        complex=True)
samples("allclose", call(array(3), array(3)), call(array(3), array(3, seed=1), atol=5.0),
        complex=True)
samples("equal", call(array(3), array(3)), call(array(3), array(3, seed=1)),
        call(array(3), array(3, 1)), complex=True)
for name in ("logical_and", "logical_or", "logical_xor"):
    samples(name, *pairs(), call(mask(3, 4), mask(4, seed=1)), complex=True)
samples("logical_not", *shapes(), call(mask(3)), complex=True)
for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    samples(name, call(index(3, 4, high=9), index(4, high=9, seed=1)),
            call(mask(3), mask(3, seed=1)),
            call(index(3, high=9), 5), call(5, index(3, high=9)))
samples("bitwise_not", call(index(3, 4, high=9)), call(mask(3)))
for name in ("bitwise_left_shift", "bitwise_right_shift"):
    samples(name, call(index(3, 4, low=-9, high=9), index(4, high=4, seed=1)),
            call(index(3, high=9), 2), call(64, index(3, high=4)))
for name in ("gcd", "lcm"):
    samples(name, call(index(3, 4, high=40), index(4, high=40, seed=1)))
for name in ("isnan", "isinf", "isfinite", "isreal"):
    samples(name, *shapes(), complex=True)
for name in ("isposinf", "isneginf", "signbit"):
    samples(name, *shapes())

samples("clamp", call(array(3, 4), -0.5, 0.7), call(array(5), min=0.1), call(array(5), max=0.1),
        call(array(3, 4), array(4, low=-1.5, high=-0.5), array(4, low=0.5, high=1.5)),
        call(array(3, 4), min=array(3, 1, seed=1)), call(array(3, 4), max=array(4, seed=1)),
        call(array(), -1, 1), call(array(4), 1.0, -1.0))
samples("clip", call(array(3, 4), -0.5, 0.7))
samples("clamp_min", call(array(3, 4), 0.2), call(array(3, 4), array(4, seed=1)))
samples("clamp_max", call(array(3, 4), 0.2), call(array(3, 4), array(4, seed=1)))
for name in ("maximum", "minimum"):
    samples(name, *pairs(), kinked(call(array(3), array(3))))
for name in ("fmax", "fmin"):
    samples(name, *pairs())
samples("where", call(mask(3, 4), array(3, 4), array(3, 4, seed=1)),
        call(mask(2, 3, 4), array(3, 4), array(4, seed=1)), call(mask(3), array(3), 0.5),
        call(mask(3), 1.5, array(3)), call(mask(3), 1, 0), call(mask(3, 4)),
        call(mask(), array(3), array()),
        complex=True)
samples("Tensor.where", call(array(3, 4), mask(3, 4), array(4, seed=1)),
        call(array(3), mask(3), 2.0))
samples("nan_to_num", *shapes(), call(array(3), nan=1.0, posinf=2.0, neginf=3.0))
samples("logit", *shapes(**PROBABILITY), call(array(6, low=-0.5, high=1.5), eps=0.1))
samples("complex", *pairs())
samples("polar", *pairs({"low": -2.0, "high": 2.0}, **POSITIVE))
