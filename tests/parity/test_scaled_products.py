"""Products of matrices of 8 bits and their scales, beside PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import retrograd

RANDOM = np.random.default_rng(0)
A, B = RANDOM.standard_normal((15, 16)) * 3, RANDOM.standard_normal((16, 32)) * 3
ROWS, COLUMNS, BIAS = (RANDOM.standard_normal(shape) for shape in ((15, 1), (1, 32), (32,)))


def matrices(lib: Any, *kinds: str) -> list[Any]:
    return [lib.tensor(m, dtype=lib.float32).to(getattr(lib, kind))
            for m, kind in zip((A, B), kinds, strict=True)]


def of(lib: Any, numbers: Any, dtype: str = "float32") -> Any:
    return lib.tensor(numbers, dtype=lib.float32).to(getattr(lib, dtype))


@pytest.mark.parametrize("kinds", [("float8_e4m3fn", "float8_e4m3fn"),
                                   ("float8_e5m2", "float8_e4m3fn")])
@pytest.mark.parametrize("options", [
    {}, {"out_dtype": "float32"}, {"out_dtype": "bfloat16", "bias": "bfloat16"},
    {"out_dtype": "float8_e5m2"}, {"scale_result": 2.0},
    {"scale_result": 2.0, "out_dtype": "float32"},
    {"scale_result": 3.0, "out_dtype": "float8_e4m3fn"}, {"rows": True, "out_dtype": "float32"}])
def test_products_are_pytorchs(kinds: tuple[str, str], options: dict[str, Any]) -> None:
    found = []
    for lib in (retrograd, torch):
        scales = (of(lib, ROWS), of(lib, COLUMNS)) if "rows" in options else (
            of(lib, 0.77), of(lib, [-0.2]))
        given = {"out_dtype": getattr(lib, options.get("out_dtype", ""), None),
                 "bias": of(lib, BIAS, options["bias"]) if "bias" in options else None,
                 "scale_result": of(lib, options["scale_result"]) if "scale_result" in options
                 else None}
        made = lib._scaled_mm(*matrices(lib, *kinds), *scales, **given)
        found.append((str(made.dtype).rpartition(".")[2], made.float().numpy()))
    assert found[0][0] == found[1][0]
    # One rounding may fall the other way, and BLAS add up in another order on another processor.
    (_, ours), (_, theirs) = found
    assert np.mean(ours != theirs) < 0.01 \
        or np.allclose(ours, theirs, 1e-6, 2 ** -23 * abs(theirs).max())


@pytest.mark.parametrize("rowwise", [False, True])
def test_recipes_say_what_scales_are_of(rowwise: bool) -> None:
    found = []
    for lib in (retrograd, torch):
        F = lib.nn.functional
        recipe = F.ScalingType.RowWise if rowwise else F.ScalingType.TensorWise
        first, second = (of(lib, ROWS), of(lib, COLUMNS)) if rowwise else (of(lib, 2), of(lib, 3))
        made = F.scaled_mm(*matrices(lib, "float8_e4m3fn", "float8_e4m3fn"), first, recipe,
                           [second], [recipe], F.SwizzleType.NO_SWIZZLE, F.SwizzleType.NO_SWIZZLE)
        found.append(made.float().numpy())
        with pytest.raises(ValueError, match="Invalid scaling configuration"):
            F.scaled_mm(*matrices(lib, "float8_e4m3fn", "float8_e4m3fn"), first,
                        F.ScalingType.BlockWise1x128, second, recipe)
    assert np.allclose(*found, 1e-2)


@pytest.mark.parametrize("call", [
    lambda lib, a, b, one: lib._scaled_mm(a, a, one, one),
    lambda lib, a, b, one: lib._scaled_mm(a[0], b, one, one),
    lambda lib, a, b, one: lib._scaled_mm(a, b, one.double(), one),
    lambda lib, a, b, one: lib._scaled_mm(a, b, one, lib.ones(1, 32)),
    lambda lib, a, b, one: lib._scaled_mm(a.float(), b, one, one),
    lambda lib, a, b, one: lib._scaled_mm(a, b, one, one, bias=lib.ones(3))])
def test_what_is_refused_is_refused_in_pytorchs_words(call: Any) -> None:
    said = []
    for lib in (retrograd, torch):
        with pytest.raises((RuntimeError, ValueError)) as raised:
            call(lib, *matrices(lib, "float8_e4m3fn", "float8_e4m3fn"), of(lib, 1))
        said.append((raised.type, str(raised.value).split("\n")[0]))
    assert said[0] == said[1]
