"""Special functions and their derivatives, of arrays of single precision."""

from __future__ import annotations

from typing import Any

from ..declaring import Step, line, numbers, precise, taken

NAMES = "erf erfc erfinv lgamma digamma logit entr i0e ndtr ndtri log_ndtr sinc xlogy"
WITHOUT_DERIVATIVES = "bessel_y0 bessel_y1 modified_bessel_k0"


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


def value(name: str) -> Any:
    """What makes the step of a function that PyTorch gives no derivative of."""

    def make(lib: Any) -> Step:
        called = getattr(lib.special, name)
        x = lib.tensor(abs(numbers(0, 100_000)) * 10, dtype=precise(lib, "float32"))
        return lambda: called(x)

    return make


for _name in WITHOUT_DERIVATIVES.split():
    line(f"special: {_name} of 100,000 numbers, float32", goal=1.5)(value(_name))
