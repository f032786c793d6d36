"""Every op, on each of its samples: its derivatives in every mode agree with each other and with
finite differences."""

from __future__ import annotations

import inspect
import json
import runpy
import warnings
from pathlib import Path
from typing import Any

import pytest

import retrograd as rg
from retrograd.autograd import gradcheck, gradgradcheck
from retrograd.core.op import COMPOSITES, PUBLIC, REGISTRY
from tests.samples import Recipe, resolve
from tests.sweeps.cases import ENTRIES, Case, cases, failures_of, settle, tensors
from tests.sweeps.findings import FINDINGS_FILE
from tests.sweeps.known import KNOWN, NO_SAMPLES

ROOT = Path(__file__).parents[1]


class NothingToCheck(Exception):
    """The sample has no differentiable input or output."""


def dtypes_of(name: str) -> list[str]:
    return ["float64", "complex128"] if ENTRIES[name].complex else ["float64"]


LAST = json.loads(FINDINGS_FILE.read_text())


def over_samples(column: str, twice: bool = False) -> Any:
    """Make a check of one case into a test of each op and dtype, over all samples.

    ``column`` names the check, in docs/ops.md and among the known failures.
    """

    def declare(check: Any) -> Any:
        wanted = [(name, dtype) for name in ENTRIES for dtype in dtypes_of(name)]

        @pytest.mark.parametrize(("name", "dtype"), wanted)
        def test(name: str, dtype: str, record_property: Any) -> None:
            entry = ENTRIES[name]
            if twice and not entry.twice:
                pytest.skip("the second derivative does not exist everywhere")
            checked = []

            def counted(case: Case) -> None:
                if not case.call.measured or (twice and not case.call.smooth):
                    return
                try:
                    check(case)
                except NothingToCheck:
                    return
                checked.append(case)

            failures = failures_of(cases(rg, entry, dtype), counted)
            found = "fails" if failures else "passes" if checked else "nothing"
            record_property("finding", (name, column, dtype, found))
            settle(failures, KNOWN.get((name, column, dtype)))
            last = LAST.get(name, {}).get(f"{column} in {dtype}", found)
            assert found == last, f"{found} where docs/ops.md says {last}: run `make docs`"

        return test

    return declare


# ---------------------------------------------------------------- finite differences


@over_samples("vjp")
def test_first_derivative(case: Case) -> None:
    leaves = differentiable(case)
    if any(x.numel() for x in leaves):
        gradcheck(case.function, leaves, fast_mode=large(leaves))


@over_samples("double backward", twice=True)
def test_second_derivative(case: Case) -> None:
    leaves = differentiable(case)
    if any(x.numel() for x in leaves):
        outputs = live(case.function(*leaves))
        seeds = [scattered(y, 3).requires_grad_() for y in outputs]
        gradgradcheck(lambda *xs: live(case.function(*xs)), leaves, seeds, atol=1e-4,
                      fast_mode=large([*leaves, *outputs], 12))


# ---------------------------------------------------------------- beyond what the table shows


@pytest.mark.parametrize(("name", "dtype"), [(name, dtype) for name, entry in ENTRIES.items()
                                             if entry.twice for dtype in dtypes_of(name)])
def test_third_derivatives(name: str, dtype: str) -> None:
    """The rules of ops that only rules use, along one direction each."""
    smooth = [case for case in cases(rg, ENTRIES[name], dtype)
              if case.call.smooth and case.call.measured]
    settle(failures_of(iter(smooth[:1]), third_derivative), None)


def third_derivative(case: Case) -> None:
    leaves = case.leaves()
    if not (found := second_slopes(case, leaves)):
        return
    seeds, along = [scattered(h, 5) for h in found], [scattered(x, 6) for x in leaves]
    slopes = rg.autograd.grad(found, leaves, seeds, allow_unused=True, materialize_grads=True)

    def total(step: float) -> float:
        moved = [(x + step * v).detach().requires_grad_() for x, v in zip(leaves, along)]
        return inner(seeds, second_slopes(case, moved))

    measured = (total(STEP) - total(-STEP)) / (2 * STEP)
    wanted = inner(slopes, along)
    assert abs(measured - wanted) <= 1e-5 * (1 + abs(wanted)), (measured, wanted)


STEP = 1e-5


def second_slopes(case: Case, leaves: list[Any]) -> list[Any]:
    """Its second derivatives by the leaves, where they are not constant."""
    found = live(case.function(*leaves))
    for order in (1, 2):
        if found:
            gradients = rg.autograd.grad(found, leaves, [scattered(y, order) for y in found],
                                         allow_unused=True, create_graph=True)
            found = [g for g in gradients if g is not None and g.requires_grad]
    return found


@pytest.mark.parametrize("name", ENTRIES)
def test_parts_that_got_a_history_when_the_whole_was_written_to(name: str) -> None:
    """An op asks for the history of an argument that nobody has asked for since the write."""
    settle(failures_of(cases(rg, ENTRIES[name]), same_of_written_parts), None)


def same_of_written_parts(case: Case) -> None:
    found = []
    for is_part in (False, True):
        leaves = case.leaves()
        given = [written_part(x) if is_part else x for x in leaves]
        outputs = live(case.function(*given))
        found.append((len(outputs), rg.autograd.grad(
            outputs, leaves, [scattered(y, 1) for y in outputs], allow_unused=True)
            if outputs else ()))
    (plain, wanted), (count, gradients) = found
    assert count == plain
    for one, other in zip(wanted, gradients, strict=True):
        assert (one is None) == (other is None)
        assert one is None or rg.allclose(one, other, equal_nan=True)


def written_part(x: Any) -> Any:
    """A tensor with the values of ``x``, which has its history only through its base."""
    whole = rg.zeros((2, *x.shape), dtype=x.dtype)
    part = whole[0]
    whole.copy_(x)
    assert part._edge is None
    return part


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if not entry.complex])
def test_complex_numbers_where_samples_are_real(name: str) -> None:
    """Derivatives are right where an op takes complex numbers too, for which PyTorch has none."""
    taken = [case for case in cases(rg, ENTRIES[name], "complex128")
             if case.call.measured and takes(case)]
    settle(failures_of(iter(taken[:2]), derivatives), None)


def takes(case: Case) -> bool:
    """Whether there is something to differentiate, and it is not refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            leaves = differentiable(case)
        except (NothingToCheck, RuntimeError, TypeError, ValueError, AssertionError):
            return False
    return any(x.numel() for x in leaves)


def derivatives(case: Case) -> None:
    leaves = case.leaves()
    assert gradcheck(case.function, leaves, fast_mode=True)
    outputs = live(case.function(*leaves))
    if case.entry.twice and case.call.smooth:
        seeds = [scattered(y, 3).requires_grad_() for y in outputs]
        assert gradgradcheck(lambda *xs: live(case.function(*xs)), leaves, seeds, atol=1e-4,
                             fast_mode=True)


# ---------------------------------------------------------------- the modes agree


@over_samples("jvp")
def test_forward_mode_is_the_transpose_of_reverse_mode(case: Case) -> None:
    """⟨u, Jv⟩ = ⟨Jᵀu, v⟩, and the function's value is the same in both modes."""
    leaves = differentiable(case)
    outputs = live(case.function(*leaves))
    u = [scattered(y, 1) for y in outputs]
    v = [scattered(x, 2) for x in leaves]
    pulled = rg.autograd.grad(outputs, leaves, u, allow_unused=True)
    values, pushed = rg.func.jvp(case.function, tuple(x.detach() for x in leaves), tuple(v))
    plain = case.function(*leaves)
    for value, tangent, wanted in zip(values, pushed, plain):
        assert_close(value, wanted, "value")
        assert (tangent.shape, tangent.dtype) == (wanted.shape, wanted.dtype)
    carrying = [t for t, y in zip(pushed, plain) if y.requires_grad]
    forward = inner(u, carrying)
    reverse = inner([g for g in pulled if g is not None],
                    [t for t, g in zip(v, pulled) if g is not None])
    assert abs(forward - reverse) <= 1e-9 * (1 + abs(reverse)), (forward, reverse)


@over_samples("recorded")
def test_recorded_backward_gives_the_same_gradients(case: Case) -> None:
    leaves = differentiable(case)
    outputs = live(case.function(*leaves))
    seeds = [scattered(y, 1) for y in outputs]
    raw = rg.autograd.grad(outputs, leaves, seeds, allow_unused=True, retain_graph=True)
    recorded = rg.autograd.grad(outputs, leaves, seeds, allow_unused=True, create_graph=True)
    for a, b in zip(raw, recorded):
        assert (a is None) == (b is None)
        if a is not None:
            assert a.dtype == b.dtype
            assert_close(a, b, "gradient")


@over_samples("compositions", twice=True)
def test_four_compositions_agree(case: Case) -> None:
    """A Hessian times a vector: reverse and forward, over reverse and forward."""
    inputs = [x.detach() for x in differentiable(case)]
    v = tuple(scattered(x, 1) for x in inputs)
    u = tuple(scattered(x, 2) for x in inputs)
    every = tuple(range(len(inputs)))

    def total(*xs: Any) -> Any:
        outputs = case.function(*xs)
        return sum((rg.sum(rg.real(scattered(y, 3) * y + 0.5 * y * y.conj())) for y in outputs),
                   rg.zeros((), dtype=rg.float64))

    slopes = rg.func.grad(total, every)

    def along(*xs: Any) -> Any:
        return rg.func.jvp(total, xs, v)[1]

    reverse_reverse = rg.func.grad(lambda *xs: product(slopes(*xs), v), every)(*inputs)
    forward_reverse = rg.func.jvp(slopes, tuple(inputs), v)[1]
    reverse_forward = rg.func.grad(along, every)(*inputs)
    for a, b, c in zip(reverse_reverse, forward_reverse, reverse_forward):
        assert_close(a, b, "reverse over reverse, forward over reverse", 1e-8)
        assert_close(a, c, "reverse over reverse, reverse over forward", 1e-8)
    forward_forward = rg.func.jvp(along, tuple(inputs), u)[1].item()
    wanted = product(reverse_reverse, u).item()
    assert abs(forward_forward - wanted) <= 1e-8 * (1 + abs(wanted)), (forward_forward, wanted)


# ---------------------------------------------------------------- in place


UNLIKE_THEIR_METHODS = {"normal", "bernoulli"}
"""Their in-place methods fill memory with draws that its own values have no part in."""


def inplace_variants(name: str) -> list[str]:
    """The in-place forms of an op: a method, or an argument ``inplace``."""
    last = name.rpartition(".")[2]
    found = []
    if last not in UNLIKE_THEIR_METHODS and hasattr(rg.Tensor, last + "_"):
        found.append("Tensor." + last + "_")
    function = resolve(rg, name)
    if not hasattr(function, "op") and "inplace" in inspect.signature(function).parameters:
        found.append(name)
    return found


WRITERS = [(name, written, dtype) for name in ENTRIES for written in inplace_variants(name)
           for dtype in dtypes_of(name)]


@pytest.mark.parametrize(("name", "written", "dtype"), WRITERS)
def test_in_place_does_what_out_of_place_does(name: str, written: str, dtype: str) -> None:
    compared = []
    # Its number comes first in the function alone.
    place = int(written == "Tensor.polygamma_" and not name.startswith("Tensor."))

    def check(case: Case) -> None:
        if not (len(case.call.args) > place and isinstance(case.call.args[place], Recipe)):
            return
        leaves = case.leaves()
        plain = case.run(leaves)
        first = case.arguments(leaves)[0][place]
        if not isinstance(plain, rg.Tensor) or (
                plain.dtype not in (first.dtype, rg.bool) and (written, dtype) not in REFUSED) or (
                plain.shape != first.shape and written not in RESHAPING):
            return
        fresh = case.leaves()
        args, kwargs = case.arguments(fresh)
        target = args.pop(place).clone()
        if written == name:
            kwargs["inplace"] = True
        rg.manual_seed(0)
        compared.append(case)
        if (written, dtype) in REFUSED:
            with pytest.raises(RuntimeError, match=REFUSED[written, dtype]):
                resolve(rg, written)(target, *args, **kwargs)
            return
        result = resolve(rg, written)(target, *args, **kwargs)
        assert result is target
        assert_close(target, plain.to(target.dtype), "value")
        if plain.dtype == rg.bool:  # a comparison, written as zeros and ones
            return
        assert target.requires_grad == plain.requires_grad
        if plain.requires_grad and plain.grad_fn is not None:
            seed = scattered(plain, 1)
            wanted = rg.autograd.grad(plain, leaves, seed, allow_unused=True,
                                      materialize_grads=True)
            found = rg.autograd.grad(target, fresh, seed, allow_unused=True, materialize_grads=True)
            for a, b in zip(wanted, found):
                assert_close(a, b, "gradient")

    settle(failures_of(cases(rg, ENTRIES[name], dtype), check),
           KNOWN.get((name, written, dtype)))
    assert compared, "none of the samples was compared"


RESHAPING = {"Tensor.t_", "Tensor.transpose_", "Tensor.squeeze_", "Tensor.unsqueeze_",
             "Tensor.swapaxes_", "Tensor.swapdims_", "Tensor.as_strided_"}
REFUSED = {(f"Tensor.{name}", "complex128"): "In-place abs is not supported for complex tensors"
           for name in ("abs_", "absolute_")}


# ---------------------------------------------------------------- batches


@over_samples("vmap")
def test_a_batch_is_a_loop(case: Case) -> None:
    """Values under vmap, without falling back to a loop: that would warn."""
    inputs = case.inputs()
    if not inputs or not tensors(rg, case.run(inputs)):
        raise NothingToCheck
    batches = tuple(rg.stack([x, x * 0.9]) for x in inputs)

    def outputs(*xs: Any) -> tuple[Any, ...]:
        return tuple(tensors(rg, case.run(list(xs))))

    together = rg.func.vmap(outputs, randomness="same")(*batches)
    for i in range(2):
        for found, wanted in zip(together, outputs(*(x[i].clone() for x in batches))):
            assert found.dtype == wanted.dtype
            assert_close(found[i], wanted, "value")


# ---------------------------------------------------------------- every op is here


def public_names() -> dict[str, Any]:
    """Every function of tensors that the package offers: functions, and methods without one."""
    found = {name if space == "torch" else f"{space}.{name}": function
             for space, names in PUBLIC.items() for name, function in names.items()}
    offered = {id(function) for function in found.values()}
    declared = {id(op.function) for op in REGISTRY.values()} | {id(f) for f in COMPOSITES.values()}
    for name, function in vars(rg.Tensor).items():
        if id(function) in declared - offered and not name.startswith("_"):
            found[f"Tensor.{name}"] = function
    return found


def test_every_public_op_has_samples() -> None:
    sampled = {id(resolve(rg, name)) for name in ENTRIES}
    last_names = {name.rpartition(".")[2] for name in ENTRIES}

    def covered(name: str, function: Any) -> bool:
        last = name.rpartition(".")[2]
        return (name in ENTRIES or id(function) in sampled
                or (last.endswith("_") and last[:-1] in last_names))

    names = public_names()
    missing = {name for name, function in names.items() if not covered(name, function)}
    assert missing - set(NO_SAMPLES) == set()
    assert set(NO_SAMPLES) - missing == set(), "these have samples now, or are gone"


def test_every_entry_is_called() -> None:
    assert all(entry.calls for entry in ENTRIES.values())


def test_known_failures_are_of_known_ops() -> None:
    assert {key[0] for key in KNOWN} <= set(ENTRIES)


def test_the_page_of_ops_is_made_from_the_findings() -> None:
    make_ops = runpy.run_path(str(ROOT / "docs" / "make_ops.py"))
    findings = json.loads((ROOT / "tests" / "sweeps" / "findings.json").read_text())
    assert set(findings) == set(ENTRIES), "run `make docs`"
    assert (ROOT / "docs" / "ops.md").read_text() == make_ops["page"](findings)


# ---------------------------------------------------------------- helpers


def differentiable(case: Case) -> list[Any]:
    """The leaves of a case that has a derivative."""
    leaves = case.leaves()
    if not leaves or not live(case.function(*leaves)):
        raise NothingToCheck
    return leaves


def large(tensors: list[Any], most: int = 24) -> bool:
    """Whether finite differences go along one random direction instead of every element's."""
    return sum(x.numel() for x in tensors) > most


def live(outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(y for y in outputs if y.requires_grad)


def scattered(like: Any, seed: int) -> Any:
    """Numbers between -1 and 1 in the shape and dtype of ``like``."""
    generator = rg.Generator().manual_seed(seed)
    if not like.is_complex():
        return rg.rand(like.shape, generator=generator, dtype=rg.float64).to(like.dtype) * 2 - 1
    parts = rg.rand((2, *like.shape), generator=generator, dtype=rg.float64) * 2 - 1
    return rg.complex(parts[0], parts[1]).to(like.dtype)


def product(first: Any, second: Any) -> Any:
    """The real inner product of two lists of tensors."""
    return sum((rg.real(rg.sum(a.conj() * b)) for a, b in zip(first, second)),
               rg.zeros((), dtype=rg.float64))


def inner(first: Any, second: Any) -> float:
    return product([x.detach() for x in first], [x.detach() for x in second]).item()


def assert_close(found: Any, wanted: Any, what: str, tolerance: float = 1e-10) -> None:
    assert found.shape == wanted.shape, (what, found.shape, wanted.shape)
    assert rg.allclose(found.detach(), wanted.detach(), rtol=tolerance, atol=tolerance,
                       equal_nan=True), (what, found, wanted)
