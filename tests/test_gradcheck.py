"""gradcheck finds what is wrong, and says where."""

from __future__ import annotations

import re
from typing import Any

import pytest

import retrograd as torch
import shared
from retrograd.autograd import gradcheck, gradgradcheck
from retrograd.autograd.gradcheck import GradcheckError

FAST = pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])


def cube(**changes: Any) -> Any:
    return shared.cube(torch, **changes).apply


def leaf(*values: Any, dtype: Any = torch.float64) -> Any:
    return torch.tensor(list(values), dtype=dtype, requires_grad=True)


@FAST
@pytest.mark.parametrize("at", range(3))
def test_one_wrong_element_is_found_and_named(fast: bool, at: int) -> None:
    factors = torch.ones(3, dtype=torch.float64)
    factors[at] = 1.5
    f = cube(backward=lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2 * factors)
    with pytest.raises(GradcheckError) as caught:
        gradcheck(f, leaf(1.0, 2.0, 3.0), fast_mode=fast)
    text = str(caught.value)
    right = 3.0 * (at + 1) ** 2
    assert text.startswith("Jacobian mismatch for output 0 with respect to input 0,\nnumerical:")
    worst = re.search(r"is at input element (\d) and output element (\d): numerical (\S+), "
                      r"analytical (\S+)\.\n", text)
    assert worst is not None
    assert [int(worst[1]), int(worst[2])] == [at, at]
    assert float(worst[3]) == pytest.approx(right) and float(worst[4]) == 1.5 * right
    assert gradcheck(f, leaf(1.0, 2.0, 3.0), fast_mode=fast, raise_exception=False) is False


@FAST
def test_a_wrong_tangent_is_found(fast: bool) -> None:
    f = cube(jvp=lambda ctx, t: t * 3 * ctx.saved_tensors[0] ** 2 * 1.01)
    assert gradcheck(f, leaf(1.0, 2.0), fast_mode=fast)
    with pytest.raises(GradcheckError, match="Jacobian computed with forward mode mismatch"):
        gradcheck(f, leaf(1.0, 2.0), fast_mode=fast, check_forward_ad=True)


@FAST
def test_a_wrong_complex_gradient_is_found(fast: bool) -> None:
    z = leaf(1 + 2j, -0.5j, dtype=torch.complex128)
    unconjugated = cube(backward=lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2)
    with pytest.raises(GradcheckError, match="While considering the imaginary part of complex out"):
        gradcheck(unconjugated, z, fast_mode=fast)
    right = cube(backward=lambda ctx, g: g * 3 * ctx.saved_tensors[0].conj() ** 2)
    assert gradcheck(right, z, fast_mode=fast, check_forward_ad=True)


@FAST
def test_nondeterminism_is_found(fast: bool) -> None:
    calls: list[int] = []

    def backward(ctx: Any, g: Any) -> Any:
        calls.append(1)
        return g * 3 * ctx.saved_tensors[0] ** 2 + 1e-8 * len(calls) * g

    with pytest.raises(GradcheckError, match="Backward is not reentrant"):
        gradcheck(cube(backward=backward), leaf(1.0, 2.0), fast_mode=fast)
    calls.clear()
    assert gradcheck(cube(backward=backward), leaf(1.0, 2.0), fast_mode=fast, nondet_tol=1e-4,
                     check_undefined_grad=False)


def test_second_derivatives_by_both_ways() -> None:
    x = leaf(0.3, 0.7)
    for program in (lambda x: x.tanh(), lambda x: x.prod() * x, lambda x: x.logsumexp(0)):
        assert gradgradcheck(program, x, check_fwd_over_rev=True, check_batched_grad=True)

    def half(ctx: Any, g: Any) -> Any:
        x = ctx.saved_tensors[0]
        return g * 3 * x * x.detach()

    assert gradcheck(cube(backward=half), x)
    with pytest.raises(GradcheckError):
        gradgradcheck(cube(backward=half), x)


def test_functions_may_write_to_copies_of_their_inputs() -> None:
    def written(x: Any, y: Any) -> Any:
        z = x.clone()
        z[1:] = y[:-1] * 2
        return z.mul_(x)

    assert gradcheck(written, (leaf(1.0, 2.0, 3.0), leaf(0.5, 1.5, 2.5)), check_forward_ad=True,
                     check_batched_grad=True, check_batched_forward_grad=True)


def test_everything_is_left_as_it_was() -> None:
    x = leaf(1.0, 2.0)
    version = x._version
    before = torch.get_rng_state()
    assert gradcheck(lambda t: t.exp(), x, fast_mode=True, check_forward_ad=True)
    assert x.tolist() == [1.0, 2.0] and x.grad is None and x._version == version
    assert torch.equal(torch.get_rng_state(), before)


def test_an_error_in_the_function_restores_the_input() -> None:
    x = leaf(1.0, 2.0)
    calls: list[int] = []

    def fails(t: Any) -> Any:
        calls.append(1)
        if len(calls) == 4:
            raise KeyError("inside")
        return t * 2

    with pytest.raises(KeyError):
        gradcheck(fails, x)
    assert x.tolist() == [1.0, 2.0]


def test_infinities_and_nan() -> None:
    assert gradcheck(lambda x: x / 0.0, leaf(1.0, 9.0), raise_exception=False) is False
    with pytest.raises(GradcheckError, match="The largest difference, inf"):
        gradcheck(cube(backward=lambda ctx, g: g * float("nan")), leaf(1.0), nondet_tol=1.0,
                  check_undefined_grad=False)


def test_single_precision_is_warned_about() -> None:
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double"):
        gradcheck(lambda x: x * 2, leaf(1.0, dtype=torch.float32), eps=1e-2, atol=1e-1)


def test_empty_and_scalar_inputs() -> None:
    assert gradcheck(lambda x: x * 2, torch.zeros(0, dtype=torch.float64, requires_grad=True))
    s = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda s: s ** 3, s, check_forward_ad=True)
    assert gradgradcheck(lambda s: s ** 3, s, check_fwd_over_rev=True)


def test_random_directions_are_no_constants() -> None:
    """A gradient that is right in the sum of all directions, and wrong in each."""
    class Mixed(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return 2 * g.roll(1, 0)

    for dtype in (torch.float64, torch.complex128):
        x = torch.tensor([1.0, -2.0, 3.0], dtype=dtype, requires_grad=True)
        for fast in (False, True):
            assert not gradcheck(Mixed.apply, (x,), raise_exception=False, fast_mode=fast)


@pytest.mark.parametrize("function", [torch.conv1d, torch.conv_transpose1d])
def test_second_derivatives_of_complex_convolutions(function: Any) -> None:
    torch.manual_seed(0)
    x, weight = (torch.randn(*shape, dtype=torch.complex128, requires_grad=True)
                 for shape in ((1, 2, 4), (2, 2, 2)))
    assert gradgradcheck(function, (x, weight))
