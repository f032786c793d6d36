"""Special functions and their derivatives."""

from __future__ import annotations

from typing import Any

from ..declaring import Step, line, numbers, precise, taken

NAMES = "erf erfc erfinv lgamma digamma logit entr i0e ndtr ndtri log_ndtr sinc xlogy"
WITHOUT_DERIVATIVES = {"float32": ("bessel_y0", "bessel_y1", "modified_bessel_k0"),
                       "float64": ("airy_ai", "bessel_j0", "modified_bessel_k1")}


def function(name: str) -> Any:
    """What makes the step of one function; its arguments are inside of 0 and 1, where all have
    values.
    """

    def make(lib: Any) -> Step:
        called = getattr(lib.special, {"lgamma": "gammaln"}.get(name, name))
        x = lib.tensor(1 / (1 + abs(numbers(0, 100_000))), dtype=precise(lib, "float32"))
        x.requires_grad_()
        given, ones = (x, x) if name == "xlogy" else (x,), lib.ones_like(x)

        def step() -> Any:
            y = called(*given)
            y.backward(ones)
            return [y.detach(), *taken(x)]

        return step

    return make


for _name in NAMES.split():
    line(f"special: {_name} of 100,000 numbers, float32, forward and backward", goal=1.5)(
        function(_name))


def value(name: str, dtype: str) -> Any:
    """What makes the step of a function that PyTorch gives no derivative of."""

    def make(lib: Any) -> Step:
        called = getattr(lib.special, name)
        x = lib.tensor(abs(numbers(0, 100_000)) * 10, dtype=precise(lib, dtype))
        return lambda: called(x)

    return make


for _dtype, _names in WITHOUT_DERIVATIVES.items():
    for _name in _names:  # PyTorch has some of double precision to 6 digits
        line(f"special: {_name} of 100,000 numbers, {_dtype}", goal=1.5,
             exact=1e-5 if _dtype == "float64" else 1e-7)(value(_name, _dtype))


def of_pairs(name: str, dtype: str) -> Any:
    """What makes the step of a function that PyTorch derives by its second argument."""

    def make(lib: Any) -> Step:
        called = getattr(lib.special, name)
        a, x = [lib.tensor(1.1 + abs(numbers(seed, 100_000)), dtype=precise(lib, dtype))
                for seed in (0, 1)]
        x.requires_grad_()
        ones = lib.ones_like(x)

        def step() -> Any:
            y = called(a, x)
            y.backward(ones)
            return [y.detach(), *taken(x)]

        return step

    return make


for _name, _dtype in (("gammainc", "float32"), ("gammaincc", "float32"), ("gammaincc", "float64"),
                      ("zeta", "float32")):
    line(f"special: {_name} of 100,000 pairs, {_dtype}, forward and backward", goal=1.5)(
        of_pairs(_name, _dtype))
