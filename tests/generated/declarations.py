"""One op of each form; they do nothing that would have to be computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from retrograd import cos, exp, sum
from retrograd.backend import xp
from retrograd.core.op import (
    Array,
    Arrays,
    Dim,
    Dims,
    Index,
    Ints,
    Number,
    by_factor,
    elementwise,
    linear,
    op,
    view,
)

DECLARATIONS: dict[str, Callable[[], Any]] = {}
"""What declares each op, by its name."""


def declared(declare: Callable[[], Any]) -> Callable[[], Any]:
    DECLARATIONS[declare.__name__] = declare
    return declare


# ---------------------------------------------------------------- elementwise


@declared
def one_function() -> Any:
    @elementwise(promote="float", inplace=True, function=None,
                 vjp=lambda g, input: g * cos(input))
    def one_function(input: Array) -> Any:
        return xp.sin(input)
    return one_function


@declared
def own_result() -> Any:
    @elementwise(promote="float", quiet=True, inplace=True, method=False, function=None,
                 vjp=lambda g, y: g * y)
    def own_result(input: Array) -> Any:
        return xp.exp(input)
    return own_result


@declared
def with_constants() -> Any:
    @elementwise(inplace=True, method=False, function=None,
                 vjp=lambda g, input: 4.0 * input * g)
    def with_constants(input: Array) -> Any:
        return 2 * input * input + 1.0
    return with_constants


@declared
def more_than_a_formula() -> Any:
    @elementwise(method=False, function=None, vjp=lambda g, input: g if input.ndim else -g)
    def more_than_a_formula(input: Array) -> Any:
        return input if input.ndim else -input
    return more_than_a_formula


@declared
def only_the_gradient() -> Any:
    @elementwise(quiet=True, method=False, function=None, fast="-{0}", inplace=True,
                 vjp=lambda g: -g)
    def only_the_gradient(input: Array) -> Any:
        return xp.negative(input)
    return only_the_gradient


@declared
def passed_through() -> Any:
    @elementwise(method=False, function=None, vjp=lambda g: g)
    def passed_through(input: Array) -> Any:
        return input
    return passed_through


@declared
def by_an_operator() -> Any:
    @elementwise(operator="tried", inplace=True, quiet=True, fast="{0} * {1}", function=None)
    def by_an_operator(input: Array, other: Array) -> Any:
        return input * other
    by_an_operator.vjp(input=lambda g, other: g * other, other=lambda g, input: g * input)
    return by_an_operator


@declared
def with_a_factor() -> Any:
    @by_factor("")
    def scaled(g: Any, alpha: Any) -> Any:
        return g if alpha == 1 else g * alpha

    @by_factor("-")
    def negative(g: Any, alpha: Any) -> Any:
        return -g if alpha == 1 else g * -alpha

    @elementwise(operator="weighed", inplace=True, quiet=True, fast="{0} + {1}",
                 numbers=("input", "other"), former=True)
    def with_a_factor(input: Array, other: Array, *, alpha: Number = 1) -> Any:
        return input + alpha * other
    with_a_factor.vjp(input=scaled, other=negative)
    return with_a_factor


@declared
def of_two() -> Any:
    def check(input: Any, other: Any) -> None:
        pass

    @elementwise(promote="float", inplace=True, function=None, method=False, check=check)
    def of_two(input: Array, other: Array) -> Any:
        return xp.arctan2(input, other) * 2.0
    of_two.vjp(input=lambda g, input, other: g * other, other=lambda g, y: g * exp(y) * 0.5)
    return of_two


@declared
def of_two_tensors() -> Any:
    @elementwise(numbers=(), inplace=True, function=None, method=False)
    def of_two_tensors(input: Array, other: Array) -> Any:
        return xp.hypot(input, other)
    of_two_tensors.vjp(other=lambda g, like: sum(g))
    return of_two_tensors


@declared
def of_any_numbers() -> Any:
    @elementwise(promote=None, inplace=True, function=None, method=False)
    def of_any_numbers(input: Array, other: Array) -> Any:
        return xp.logical_and(input, other)
    return of_any_numbers


@declared
def with_options() -> Any:
    @elementwise(inplace=True, function=None)
    def with_options(input: Array, power: Any, base: float = 2.0, exact: bool = True, *,
                     also: Any = None) -> Any:
        return input * 2.0 + power
    with_options.vjp(input=lambda g, y, power, base: g * y * power)
    return with_options


@declared
def of_three() -> Any:
    @elementwise(inplace=True, function=None, method=False)
    def of_three(input: Array, start: Array, end: Array | None, *, weight: Any) -> Any:
        return input
    of_three.vjp(input=lambda g: g, start=lambda g, end, weight: g * end * weight,
                 end=lambda g, start, weight: g * start * weight)
    return of_three


@declared
def with_a_mask() -> Any:
    @elementwise(function=None, method=False)
    def with_a_mask(mask: Index, input: Array, other: Index | None = None) -> Any:
        return input
    with_a_mask.vjp(input=lambda g, mask: g * mask)
    return with_a_mask


@declared
def written_by_a_kernel() -> Any:
    @elementwise(inplace=True, function=None, method=False, vjp=lambda g: g)
    def written_by_a_kernel(input: Array) -> Any:
        return input
    written_by_a_kernel.write(lambda input: None)
    return written_by_a_kernel


@declared
def of_any_dtype() -> Any:
    @elementwise(any_dtype=True, inplace=True, function=None, method=False)
    def of_any_dtype(input: Array, other: Array) -> Any:
        return input * 2.0 + other
    of_any_dtype.vjp(input=lambda g, other: g * other, other=lambda g, input: sum(g))
    return of_any_dtype


@declared
def of_complex_numbers() -> Any:
    @elementwise(of_complex=True, quiet=True, function=None, method=False,
                 vjp=lambda g, input: g * input)
    def of_complex_numbers(input: Array) -> Any:
        return xp.conj(input)
    return of_complex_numbers


@declared
def without_rules() -> Any:
    @elementwise(quiet=True, inplace=True, function=None, method=False)
    def without_rules(input: Array, other: Array) -> Any:
        return xp.less(input, other)
    return without_rules


@declared
def two_at_once() -> Any:
    @elementwise(outputs=("low", "high"), function=None, method=False)
    def two_at_once(input: Array) -> Any:
        return input, input
    two_at_once.vjp(input=lambda g, low, high: g[0] * low)
    return two_at_once


# ---------------------------------------------------------------- other ops


@declared
def along_a_dim() -> Any:
    @linear(quiet=True, function=None, vjp=lambda g, like, dim, keepdim: g)
    def along_a_dim(input: Array, dim: Dim, keepdim: bool = False, *, dtype: Any = None) -> Any:
        return input
    return along_a_dim


@declared
def along_dims() -> Any:
    @op(function=None, vjp=lambda g, input, y, dims: g * y)
    def along_dims(input: Array, dims: Dims = None, times: Number = 1, count: int = 1) -> Any:
        return input
    return along_dims


@declared
def broadcasting() -> Any:
    def guard(input: Any, other: Any) -> None:
        pass

    @op(broadcasts=True, guard=guard, function=None, method=False)
    def broadcasting(input: Array, other: Array) -> Any:
        return input
    broadcasting.vjp(input=lambda g, other: g, other=lambda g, input: sum(g))
    return broadcasting


@declared
def with_an_optional() -> Any:
    @op(promote="same", broadcasts=True, function=None, method=False, steps={})
    def with_an_optional(input: Array, weight: Array, bias: Array | None = None,
                         counts: Index | None = None) -> Any:
        return input
    with_an_optional.vjp(input=lambda g, weight: g, weight=lambda g, input, bias: g,
                         bias=lambda g, like, wanted: g)
    return with_an_optional


@declared
def by_an_index() -> Any:
    @linear(quiet=True, any_dtype=True, function=None, vjp=lambda g, like, dim, index: g)
    def by_an_index(input: Array, dim: Dim, index: Index) -> Any:
        return input
    return by_an_index


@declared
def largest() -> Any:
    @op(outputs=("values", "indices"), differentiable=(0,), function=None, method=False)
    def largest(input: Array, dim: Dim = -1) -> Any:
        return input, input
    largest.vjp(input=lambda g, like, indices, dim: g)
    return largest


@declared
def nothing_saved() -> Any:
    @op(outputs=("values", "indices"), differentiable=(0,), function=None, method=False)
    def nothing_saved(input: Array) -> Any:
        return input, input
    nothing_saved.vjp(input=lambda g: g[0])
    return nothing_saved


@declared
def results_of_any_dtype() -> Any:
    @op(outputs=("values", "others"), any_dtype=True, function=None, method=False)
    def results_of_any_dtype(input: Array) -> Any:
        return input, input
    results_of_any_dtype.vjp(input=lambda g, others: g[0] * others)
    return results_of_any_dtype


@declared
def three_results() -> Any:
    @op(outputs=("first", "second", "third"), function=None, method=False)
    def three_results(input: Array, other: Array) -> Any:
        return input, input, input
    three_results.vjp(input=lambda g, first, third: g[0], other=lambda g, input: g[1])
    return three_results


@declared
def results_without_rules() -> Any:
    @op(outputs=("low", "high"), function=None, method=False)
    def results_without_rules(input: Array, count: int = 2) -> Any:
        return input, input
    return results_without_rules


@declared
def looked_at() -> Any:
    @view(quiet=True, slices=True, function=None, vjp=lambda g, like, sizes: g)
    def looked_at(input: Array, sizes: Ints, start: int = 0) -> Any:
        return input
    return looked_at


@declared
def seen_and_saved() -> Any:
    @view(function=None, method=False, any_dtype=False, vjp=lambda g, y: g * y)
    def seen_and_saved(input: Array) -> Any:
        return input
    return seen_and_saved


@declared
def parts() -> Any:
    @view(outputs=("list",), function=None, method=False, vjp=lambda g, like, dim: g[0])
    def parts(input: Array, size: Any, dim: Dim = 0) -> Any:
        return [input]
    return parts


@declared
def parts_apart() -> Any:
    @linear(outputs=("list",), any_dtype=True, function=None, method=False,
            vjp=lambda g, like: g[0])
    def parts_apart(input: Array) -> Any:
        return [input]
    return parts_apart


@declared
def of_a_list() -> Any:
    @linear(promote="same", function=None, method=False, vjp=lambda g, like, dim: [g])
    def of_a_list(tensors: Arrays, dim: int = 0) -> Any:
        return tensors
    return of_a_list


@declared
def of_a_list_of_floats() -> Any:
    @linear(promote="float", function=None, method=False, vjp=lambda g, like: [g])
    def of_a_list_of_floats(tensors: Arrays) -> Any:
        return tensors
    return of_a_list_of_floats


@declared
def of_a_list_and_more() -> Any:
    @op(function=None, method=False, vjp=lambda g, like: [g])
    def of_a_list_and_more(tensors: Arrays, index: Index) -> Any:
        return tensors
    return of_a_list_and_more


@declared
def a_lists_own_result() -> Any:
    @op(function=None, method=False, vjp=lambda g, y: [g * y])
    def a_lists_own_result(tensors: Arrays) -> Any:
        return tensors
    return a_lists_own_result


@declared
def with_a_step() -> Any:
    @op(function=None, method=False, steps={"weight": one_function})
    def with_a_step(input: Array, weight: Array, bias: Array) -> Any:
        return input
    with_a_step.vjp(input=lambda g, weight: g, weight=lambda g, input: g, bias=lambda g, like: g)
    return with_a_step


@declared
def drawn() -> Any:
    @op(draws=True, function=None, method=False, vjp=lambda g: g)
    def drawn(input: Array, generator: Any = None) -> Any:
        return input
    return drawn


@declared
def of_nothing() -> Any:
    @op(function=None, method=False)
    def of_nothing(sizes: Ints, out: Any = None) -> Any:
        return sizes
    return of_nothing


@declared
def of_indices_alone() -> Any:
    @op(function=None, method=False)
    def of_indices_alone(index: Index) -> Any:
        return index
    return of_indices_alone
