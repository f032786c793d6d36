"""``out=`` of every function that has it, beside PyTorch: taken, refused, warned of, written to."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from tests.samples import Call, Recipe, array, call, resolve
from tests.sweeps.cases import ENTRIES, Case, tensors

import retrograd as rg
from parity.harness import close, essential, same_message

MAKERS = {
    "arange": (call(5),), "range": (call(1, 4),), "zeros": (call(2, 3),),
    "linspace": (call(0, 1, 4),), "logspace": (call(0, 1, 4),), "eye": (call(2, 3),),
    "ones": (call(2, 3),), "full": (call((2, 3), 2),), "empty": (call(0, 2),),
    "rand": (call(2, 3),), "randn": (call(2, 3),), "randint": (call(0, 5, (2, 3)),),
    "randperm": (call(5),), "normal": (call(0.0, 1.0, (2, 3)),),
    "bernoulli": (call(array(3, low=0.1, high=0.9)),), "linalg.eig": (call(array(3, 3)),),
    "multinomial": (call(array(4, low=0.1, high=0.9), 3),), "chain_matmul": (
        call(array(2, 3), array(3, 4)),), "cholesky": (call(array(1, 1, low=1, high=2)),),
    "qr": (call(array(3, 3)),),
}
"""Calls of functions that have no samples."""

CRASHES = {
    ("nn.functional.avg_pool3d", kind): "PyTorch writes beside the output's memory"
    for kind in ("every other", "transposed", "expanded", "a slice of another shape")}
"""What cannot be compared: functions and kinds of outputs with which PyTorch's process ends."""


def first_call(name: str) -> Call:
    """The first sample call that has elements."""
    return next(sample for sample in MAKERS.get(name) or ENTRIES[name].calls if not any(
        isinstance(a, Recipe) and 0 in a.shape for a in sample.args))


class Attempt:
    """The arguments of a call, its plain result, and the tensors to look at after it."""

    def __init__(self, lib: Any, name: str, sample: Call, dtype: str = "float32"):
        self.lib = lib
        entry = ENTRIES.get(name) or replace(ENTRIES["sin"], name=name)
        self.case = Case(lib, entry, sample, dtype)
        self.args, self.kwargs = self.case.arguments(self.case.inputs())
        self.watched: list[Any] = []

    def plain(self) -> Any:
        return self.case.run_with(*self.case.arguments(self.case.inputs()))

    def given(self) -> list[Any]:
        return tensors(self.lib, [*self.args, *self.kwargs.values()])


def filled(like: Any, lib: Any, shape: Any = None, dtype: Any = None) -> Any:
    return lib.full(tuple(like.shape) if shape is None else shape, 1,
                    dtype=dtype or like.dtype)


def each(make: Callable[..., Any]) -> Callable[[Attempt, Any], Any]:
    """One output made like each result."""

    def outs(attempt: Attempt, result: Any) -> Any:
        if isinstance(result, attempt.lib.Tensor):
            return make(attempt, result)
        return tuple([make(attempt, part) for part in result])

    return outs


def of_shape(change: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Any:
    return each(lambda a, y: filled(y, a.lib, change(tuple(y.shape))))


def of_dtype(dtype: str) -> Any:
    return each(lambda a, y: filled(y, a.lib, dtype=getattr(a.lib, dtype)))


def first_of_dtype(dtype: str) -> Any:
    """The last of several results has another dtype."""

    def outs(attempt: Attempt, result: Any) -> Any:
        made = list(of_dtype_same(attempt, result))
        made[-1] = filled(result[-1], attempt.lib, dtype=getattr(attempt.lib, dtype))
        return tuple(made)

    return outs


of_dtype_same = of_shape(lambda shape: shape)


def part_of(attempt: Attempt, base: Any, index: Any) -> Any:
    attempt.watched.append(base)
    return base[index]


def transposed(attempt: Attempt, y: Any) -> Any:
    base = filled(y, attempt.lib, tuple(y.shape)[::-1])
    attempt.watched.append(base)
    return base.permute(tuple(range(y.ndim))[::-1])


def the_input(fits: bool) -> Callable[[Attempt, Any], Any]:
    """The first argument, if it has the shape and dtype of the result, or only if not."""

    def outs(attempt: Attempt, result: Any) -> Any:
        given = attempt.given()
        first = result if isinstance(result, attempt.lib.Tensor) else result[0]
        if not given or fits is not (given[0].shape == first.shape
                                     and given[0].dtype == first.dtype):
            raise NotThere
        return given[0] if first is result else (
            given[0], *[filled(y, attempt.lib) for y in result[1:]])

    return outs


def one_row(place: int) -> Callable[[Attempt, Any], Any]:
    """An argument that is to be broadcast: it has only one row."""

    def outs(attempt: Attempt, result: Any) -> Any:
        where = [i for i, value in enumerate(attempt.args) if tensors(attempt.lib, [value])]
        if not isinstance(result, attempt.lib.Tensor) or len(where) < 2 or not result.ndim:
            raise NotThere
        out = attempt.args[where[place]]
        if not isinstance(out, attempt.lib.Tensor) or out.shape != result.shape:
            raise NotThere
        out = attempt.args[where[place]] = out[:1].clone()
        return out

    return outs


def overlapping(attempt: Attempt, result: Any) -> Any:
    """An output that begins one row after an input of the same shape."""
    if not isinstance(result, attempt.lib.Tensor):
        raise NotThere
    for i, value in enumerate(attempt.args):
        if isinstance(value, attempt.lib.Tensor) and value.shape == result.shape and value.ndim \
                and value.dtype == result.dtype:
            base = attempt.lib.cat([value, value[:1]])
            attempt.args[i] = base[:-1]
            attempt.watched.append(base)
            return base[1:]
    raise NotThere


def with_gradient(attempt: Attempt, result: Any) -> Any:
    given = [t for t in attempt.given() if t.is_floating_point() or t.is_complex()]
    if not given:
        raise NotThere
    given[0].requires_grad_()
    return of_dtype_same(attempt, result)


def requiring(attempt: Attempt, y: Any) -> Any:
    out = filled(y, attempt.lib)
    return out.requires_grad_() if y.is_floating_point() or y.is_complex() else out


def expanded(attempt: Attempt, y: Any) -> Any:
    if not y.ndim:
        raise NotThere
    return filled(y, attempt.lib, (1,) * y.ndim).expand(tuple(y.shape))


class NotThere(Exception):
    """A case that a call does not have."""


KINDS: dict[str, Callable[[Attempt, Any], Any]] = {
    "as it is": of_dtype_same,
    "empty": of_shape(lambda shape: (0,)),
    "another shape": of_shape(lambda shape: (2, *shape)),
    "every other": each(lambda a, y: part_of(
        a, filled(y, a.lib, tuple([2 * n for n in y.shape])), (slice(None, None, 2),) * y.ndim)),
    "a slice of another shape": each(lambda a, y: part_of(
        a, filled(y, a.lib, (3, *y.shape)), slice(1, 3))),
    "transposed": each(transposed),
    "expanded": each(expanded),
    "the input": the_input(True),
    "the input of another shape": the_input(False),
    "the first argument of one row": one_row(0),
    "the last argument of one row": one_row(-1),
    "overlapping": overlapping,
    "a gradient is wanted": with_gradient,
    "requires grad": each(requiring),
    **{dtype: of_dtype(dtype) for dtype in
       ("float64", "float16", "int64", "bool", "complex64")},
    "the second in float64": first_of_dtype("float64"),
    "the second in int32": first_of_dtype("int32"),
    "a number": lambda a, y: 3,
    "a list": lambda a, y: list(y) if isinstance(y, tuple) else [filled(y, a.lib)],
    "a tuple of one": lambda a, y: tuple(of_dtype_same(a, y))[:1] if isinstance(y, tuple) else (
        filled(y, a.lib),),
}


REFUSED = {"expanded", "overlapping", "the input of another shape", "a number",
           "the first argument of one row", "the last argument of one row"}
"""Kinds of which only refusals are compared: what PyTorch writes over itself is no result."""
TYPE_ONLY = {"a number", "a list", "a tuple of one"}
"""Kinds that PyTorch refuses in the words of one overload or of all."""


def outcome(lib: Any, name: str, sample: Call, kind: str, dtype: str) -> Any:
    """What a call with an output of this kind shows: a list of facts, or an error."""
    attempt = Attempt(lib, name, sample, dtype)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        result = attempt.plain()
        if kind.startswith("the second") and not isinstance(result, tuple):
            raise NotThere
        out = KINDS[kind](attempt, result)
        warnings.simplefilter("always")
        lib.manual_seed(0)
        try:
            returned = resolve(lib, name)(*attempt.args, **attempt.kwargs, out=out)
        except Exception as error:
            return error
    facts = [facts_of(t) for t in [*tensors(lib, out), *attempt.watched]]
    same = returned is out or (isinstance(returned, tuple) and all(
        a is b for a, b in zip(returned, out)))
    several = isinstance(out, tuple)  # whose warnings are about what becomes of them inside
    warned = [(w.category.__name__, several or essential(str(w.message))) for w in caught
              if "resized" in str(w.message)]
    return facts, same, warned[:1] if several else warned


def facts_of(tensor: Any) -> Any:
    return (str(tensor.dtype), tuple(tensor.shape), tensor.requires_grad,
            tensor.detach().tolist())


HALF, SINGLE = (1e-2, 1e-3), (2e-5, 1e-6)


def unlike(theirs: Any, ours: Any, kind: str) -> str:
    """How two outcomes differ, or nothing."""
    if kind in REFUSED and not (isinstance(theirs, Exception) and any(
            words in str(theirs) for words in ("memory location", "broadcast shape", "must be T"))):
        return ""
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        if type(theirs).__name__ != type(ours).__name__:
            return f"outcome: {shown(theirs)} | {shown(ours)}"
        if kind not in TYPE_ONLY and not same_message(*[
                text.split("(): ")[-1] if "functions with out=" in text else text
                for text in (str(theirs), str(ours))]):
            return f"words: {shown(theirs)} | {shown(ours)}"
        return ""
    for what, t, o in zip(("facts", "returned identity", "warnings"), theirs, ours):
        if what == "facts":
            for (*kind, values), (*own, found) in zip(t, o):
                if kind != own:
                    return f"{what}: {kind} | {own}"
                if not close(values, found, HALF if kind[0] == "torch.float16" else SINGLE):
                    return f"values: {values} | {found}"
        elif t != o:
            return f"{what}: {t} | {o}"
    return ""


def shown(found: Any) -> str:
    if isinstance(found, Exception):
        return f"{type(found).__name__}: {essential(str(found))[:200]}"
    return f"{[f[:2] for f in found[0]]} {found[2]}"


def has_out(name: str) -> bool:
    """Whether PyTorch's function of this name takes ``out=``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _takes_out(name)


def _takes_out(name: str) -> bool:
    try:
        attempt = Attempt(torch, name, first_call(name))
        result = attempt.plain()
        if not tensors(torch, result):
            return False
        out = of_dtype_same(attempt, result)
        resolve(torch, name)(*attempt.args, **attempt.kwargs, out=out)
    except TypeError:
        return False
    except RuntimeError as error:
        return "out" in str(error)
    return True


def compared(name: str, dtype: str = "float32") -> Iterator[tuple[str, str]]:
    """The kinds of outputs of a function, each with what differs or nothing."""
    sample = first_call(name)
    for kind in KINDS:
        if (name, kind) in CRASHES:
            continue
        try:
            theirs = outcome(torch, name, sample, kind, dtype)
        except NotThere:
            continue
        try:
            ours = outcome(rg, name, sample, kind, dtype)
        except Exception as error:
            ours = error
        yield kind, unlike(theirs, ours, kind)


_COLUMNS = "PyTorch's result lies in columns, which the memory around it shows"
_THROUGH = "PyTorch lets a gradient through some outputs; where it does not, the words differ"
_WORDS = "other words for the same refusal"
_KERNEL = "PyTorch has no kernel for the dtype of this output"
_DISPATCH = "PyTorch's dispatcher words the refusal, and its warning passes Python by"
_ORDER = "PyTorch draws in the order of the output's memory"


def _known(names: str, kinds: str, reason: str) -> dict[tuple[str, str], str]:
    return {(name, kind): reason for name in names.split() for kind in kinds.split(", ")}


KNOWN = {
    **_known("linalg.inv inverse linalg.inv_ex linalg.qr qr linalg.solve linalg.solve_triangular "
             "nonzero linalg.lu_factor linalg.lu_factor_ex linalg.solve_ex linalg.lu_solve "
             "lu_solve linalg.ldl_factor linalg.ldl_factor_ex linalg.ldl_solve",
             "a slice of another shape", _COLUMNS),
    **_known("rand randn randint normal", "transposed", _ORDER),
    **_known("softmax log_softmax slice_scatter diag linalg.eigvals svd special.ndtr empty randn",
             "requires grad", _THROUGH),
    **_known("fft.ifftn fft.ifft2", "float64, float16, int64, bool", _WORDS),
    **_known("conj_physical floor_divide heaviside special.ndtr fft.ifft fft.ihfft "
             "lu_solve linalg.ldl_factor linalg.ldl_factor_ex linalg.ldl_solve",
             "a gradient is wanted", _THROUGH),
    **_known("nansum nanmean", "int64, bool, complex64", _KERNEL),
    **_known("bernoulli", "complex64", _KERNEL),
    **_known("matrix_power linalg.matrix_power diag mvlgamma special.multigammaln max min",
             "int64, bool", _WORDS),
    **_known("heaviside", "complex64", _WORDS),
    **_known("median nanmedian", "bool, complex64", _WORDS),
    **_known("nn.functional.gelu", "every other, transposed", "PyTorch leaves it unwritten"),
    **_known("histogram", "a gradient is wanted", _THROUGH),
    **_known("ops.aten._upsample_bilinear2d_aa ops.aten.native_dropout_backward",
             "another shape, a slice of another shape, a list, a tuple of one", _DISPATCH),
    **_known("ops.aten.native_dropout_backward", "a gradient is wanted", _THROUGH),
    **_known("outer ger bernoulli", "the input of another shape, overlapping",
             "the result is right all the same"),
}
"""What differs, by function and kind."""
BY_CHANCE = _known("matrix_power linalg.matrix_power", "the input",
                   "on some processors PyTorch multiplies by what it has overwritten")
"""What differs on some machines only."""

FUNCTIONS = [name for name in [*ENTRIES, *MAKERS] if not name.startswith("Tensor.")
             and name != "ops.aten.max_pool2d_with_indices_backward"  # there it is grad_input=
             and name != "histogramdd"  # whose results are no plain tuple
             and name != "chain_matmul"  # PyTorch's forgets out= where a default device is set
             and not name.endswith("_copy")]  # with whose outputs PyTorch's process ends


@pytest.mark.parametrize("name", FUNCTIONS)
def test_out_is_taken_refused_and_written_alike(name: str) -> None:
    found = {kind: how for kind, how in (compared(name) if has_out(name) else ())
             if (name, kind) not in BY_CHANCE}
    new = [f"{kind}: {how}" for kind, how in found.items() if how and (name, kind) not in KNOWN]
    assert not new, "\n".join(new)
    gone = [kind for kind, how in found.items() if (name, kind) in KNOWN and not how]
    assert not gone, f"alike now, so strike them from the known ones: {gone}"


@pytest.mark.parametrize("lib", [torch, rg])
def test_an_operand_that_is_written_keeps_its_shape(lib: Any) -> None:
    row, rows, other = lib.ones(3), lib.ones(2, 3), lib.ones(5)
    for function in (lib.add, lib.mul, lib.maximum):
        with pytest.raises(RuntimeError, match=(
                r"output with shape \[3\] doesn't match the broadcast shape \[2, 3\]")):
            function(row, rows, out=row)
        assert function(rows, row, out=rows) is rows
        with pytest.warns(UserWarning, match="was resized"):
            function(row, rows, out=other)
        assert tuple(other.shape) == (2, 3)
        other = lib.ones(5)
