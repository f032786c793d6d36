"""Batching rules of random numbers: different for each value of a batch, or the same."""

from __future__ import annotations

from typing import Any

from ...random import VMAPS
from ...transforms import CannotBatch
from ..shapes.slicing import _select
from .common import (
    all_aligned,
    batched,
    folded,
    inner_rank,
    repeated,
    rule,
    rule_by_name,
    run,
    unfolded,
    with_rank,
)


def _randomness(batch: Any) -> str:
    """Whether the values of this batch want different numbers or the same."""
    return next((how for how, level, _ in VMAPS.get() if level == batch.level), "different")


def _need_different(batch: Any) -> None:
    if _randomness(batch) == "same":
        raise CannotBatch("vmap: the same random numbers are wanted for different distributions.")


@rule_by_name("uniform", "normal", "log_normal", "exponential", "cauchy", "geometric", "random",
              "_random_below", "_random_any", "bernoulli")
def _overwritten(name: str, batch: Any, input: Any, *rest: Any) -> Any:
    if _randomness(batch) == "same":
        return repeated(batch.size, run(name, _select(input, 0, 0), *rest))
    return run(name, input, *rest)


@rule("_bernoulli_tensor")
def _(batch: Any, input: Any, p: Any, generator: Any) -> Any:
    if not batch["p"]:
        return _overwritten("_bernoulli_tensor", batch, input, p, generator)
    _need_different(batch)
    input = batched(batch, "input", input)
    return run("_bernoulli_tensor", input, with_rank(p, inner_rank(input)), generator)


@rule_by_name("_bernoulli", "_poisson", "_normal_mean", "_normal_std")
def _(name: str, batch: Any, *values: Any) -> Any:
    _need_different(batch)
    return run(name, *values)


@rule("_normal_both")
def _(batch: Any, mean: Any, std: Any, generator: Any) -> Any:
    _need_different(batch)
    return run("_normal_both", *all_aligned(batch, mean=mean, std=std), generator)


@rule("_multinomial")
def _(batch: Any, input: Any, num_samples: int, replacement: bool, generator: Any) -> Any:
    _need_different(batch)
    if inner_rank(input) == 1:
        return run("_multinomial", input, num_samples, replacement, generator)
    return unfolded(batch, run("_multinomial", folded(input), num_samples, replacement, generator))
