"""The generated code of a call, and of a node, does what the general path does.

Every sample call is made twice, once by the code generated for each op and once by
``core.general.call`` alone; values, strides, versions, the graph with all that it saved, and the
gradients must be the same to the last bit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import retrograd as rg
from retrograd.autograd.graph import Node
from retrograd.codegen.calls import signature_source
from retrograd.core.op import GENERATED, REGISTRY, Op
from retrograd.transforms import backward, calls
from retrograd.transforms.traced_data import Batched, Dual
from tests.samples import Recipe
from tests.sweeps.cases import ENTRIES, Case, tensors
from tests.test_every_op import UNLIKE_THEIR_METHODS, dtypes_of

# ---------------------------------------------------------------- the general path alone


def _general(op: Op, way: str, with_out: bool) -> Any:
    """The function of an op without its fast path."""
    label, given = f"general_{way}_{op.name}", "".join(f"{p.name}, " for p in op.params)
    source = (f"lambda {signature_source(op, with_out)}: "
              f"way(op, ({given}){', out' if with_out else ''})")
    GENERATED[label] = _evaluated(source, {**GENERATED, "way": GENERATED[way], "op": op})
    # Its code is put into a function whose globals are those of all generated code.
    return _evaluated(f"lambda *args, **kwargs: {label}(*args, **kwargs)", {})


def _evaluated(source: str, names: dict[str, Any]) -> Any:
    return eval(compile(source, "<retrograd general>", "eval"), names)


@functools.cache
def _detours() -> list[tuple[Any, Any]]:
    """Every function of an op, and code that takes its calls the general path."""
    return [(function, _general(op, way, with_out and op.takes_out).__code__)
            for op in REGISTRY.values()
            for function, way, with_out in ((op.function, "call", True),
                                            (op.operator_function, "call_operator", False),
                                            (op.inplace_function, "call_inplace", False))
            if function is not None and function.__globals__ is GENERATED]


@contextmanager
def general_path_only() -> Iterator[None]:
    """Run a block in which every op goes the general path, whatever it is called by."""
    kept = [(f, f.__code__, f.__defaults__, f.__kwdefaults__) for f, _ in _detours()]
    for function, code in _detours():
        function.__defaults__ = function.__kwdefaults__ = None
        function.__code__ = code
    try:
        yield
    finally:
        for function, code, defaults, kwdefaults in kept:
            function.__defaults__, function.__kwdefaults__ = defaults, kwdefaults
            function.__code__ = code


@contextmanager
def transforms_in_general() -> Iterator[None]:
    """Run a block in which nothing on a transform's data is written out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calls, "written", lambda op: None)
        patch.setattr(backward, "_way_of", lambda cls: backward.pull_by_replay)
        yield


# ---------------------------------------------------------------- what is compared


def shown(value: Any) -> Any:
    """A value as something that compares equal only if every bit is the same."""
    if isinstance(value, rg.Tensor):
        return ("tensor", shown(value._data))
    if isinstance(value, Dual):
        return ("dual", shown(value.primal), shown(value.tangent))
    if isinstance(value, Batched):
        return ("batch", shown(value.value))
    if isinstance(value, (np.ndarray, np.generic)):
        strides = tuple(s for s, n in zip(value.strides, value.shape) if n > 1)
        return (value.shape, value.dtype, strides if value.size else (), value.tobytes())
    if isinstance(value, (list, tuple)):
        return tuple(map(shown, value))
    return repr(value) if isinstance(value, float) else value


def shown_tensor(tensor: Any) -> Any:
    view = tensor._view
    return {"value": shown(tensor), "class": type(tensor), "version": tensor._version,
            "requires_grad": tensor.requires_grad, "output_nr": tensor.output_nr,
            "view": None if view is None else (view.op, shown(view.static), view.origin,
                                               view.version, shown(view.base)),
            "cut": None if tensor._cut is None else tensor._cut[:3]}


def shown_graph(roots: list[Any], leaves: list[Any]) -> list[Any]:
    """Every node that the roots come from: its name, edges, line, and what it saved."""
    numbers: dict[Any, int] = {}
    found: list[Any] = []
    queue = [root.grad_fn for root in roots if root.grad_fn is not None]
    for node in queue:
        if node in numbers:
            continue
        numbers[node] = len(numbers)
        queue += [edge for edge, _ in node.next_functions if edge is not None]
    places = {leaf: i for i, leaf in enumerate(leaves)}
    for node in numbers:
        edges = [(None if edge is None else numbers[edge], nr) for edge, nr in node.next_functions]
        found.append((node.name(), edges, _place_of(node, places), node.outputs, *_saved(node)))
    ages = sorted(numbers, key=lambda node: node._sequence_nr())
    return [*found, [numbers[node] for node in ages if not node.is_leaf]]


def _place_of(node: Any, places: dict[Any, int]) -> Any:
    return places.get(node.variable, "not a leaf") if hasattr(node, "variable") else None


def _saved(node: Node) -> Iterator[Any]:
    yield node.site.code, node.site.lasti
    yield sorted((node.saved_versions or {}).items())
    for public, name, kind in node.saved_names:
        value = getattr(node, name if kind != "output" else "out_" + name)
        yield public, shown(getattr(node, "_saved_" + public)), value is None
    for i in getattr(getattr(node, "layout", None), "likes", ()):
        like = getattr(node, f"like{i}")
        if like is not None:
            yield [(one.shape, one.dtype) for one in (like if isinstance(like, list) else [like])]


def outcome(outputs: list[Any], leaves: list[Any]) -> Any:
    """What a call came to: its results and graph, and the gradients by every way there is."""
    found = {"results": [shown_tensor(y) for y in outputs], "inputs": [shown(x) for x in leaves],
             "graph": shown_graph(outputs, leaves)}
    live = [y for y in outputs if y.requires_grad]
    wanted = [x for x in leaves if x.requires_grad]
    if not live or not wanted:
        return found
    seeds = [seed_for(y) for y in live]
    pull, replay = [attempt(functools.partial(
        rg.autograd.grad, live, wanted, seeds, allow_unused=True, retain_graph=True,
        create_graph=recorded)) for recorded in (False, True)]
    refused = attempt(rg.autograd.backward, live, seeds)
    passed_on = refused or [x.grad for x in wanted]
    return {**found, "pull": shown(pull), "replay": shown(replay), "pass_on": shown(passed_on),
            "agreed": all(map(is_near, pull, replay)) and all(map(is_near, passed_on, replay))}


def is_near(one: Any, two: Any) -> bool:
    """Whether two gradients are the same but for the last bits, where rules are written out."""
    if not (isinstance(one, rg.Tensor) and isinstance(two, rg.Tensor)):
        return one is two or type(one) is type(two) is str
    # A row of operations may lose as much as this on the way.
    allowed = 16 * float(rg.finfo(one.dtype).eps)
    return one.dtype == two.dtype and one.shape == two.shape and rg.allclose(
        one, two.detach(), rtol=allowed, atol=allowed, equal_nan=True)


def seed_for(output: Any) -> Any:
    """A gradient to send down from ``output``, which differs from element to element."""
    numbers = np.cos(np.arange(1.0, output.numel() + 1)).reshape(output.shape)
    return rg.tensor(numbers).to(output.dtype)


def attempt(run: Callable[..., Any], *args: Any) -> Any:
    try:
        return run(*args)
    except Exception as error:
        return type(error), str(error)


def differences(one: Any, two: Any, where: str = "") -> Iterator[str]:
    """The places at which two outcomes differ."""
    if isinstance(one, dict) and isinstance(two, dict):
        for key in one.keys() | two.keys():
            yield from differences(one.get(key), two.get(key), f"{where}.{key}")
    elif isinstance(one, (list, tuple)) and type(one) is type(two) and len(one) == len(two):
        for i, (a, b) in enumerate(zip(one, two)):
            yield from differences(a, b, f"{where}[{i}]")
    elif one != two:
        yield f"{where}: {str(one)[:300]} by the fast path, {str(two)[:300]} by the general one"


class Sample(Case):
    """A sample call whose arrays are made once."""

    def tensor(self, recipe: Recipe) -> Any:
        return rg.tensor(_array_of(recipe, self.dtype))


@functools.lru_cache(maxsize=1024)
def _array_of(recipe: Recipe, dtype: str) -> np.ndarray:
    return recipe.array(dtype)


def compare(name: str, dtype: str, way: Any, outcomes: Callable[[Case], Iterator[Any]]) -> None:
    """Compare what each sample of an op comes to with what it comes to within ``way``."""
    samples = [Sample(rg, ENTRIES[name], call, dtype) for call in ENTRIES[name].calls]
    fast = [list(outcomes(case)) for case in samples]
    with way():
        plain = [list(outcomes(case)) for case in samples]
    found = [place for case, one, two in zip(samples, fast, plain)
             for place in differences(one, two, case.name)]
    found += [f"{case.name}[{i}]: pull, pass_on and replay differ"
              for case, outcomes_of in zip(samples, fast) for i, one in enumerate(outcomes_of)
              if isinstance(one, dict) and not one.get("agreed", True)]
    assert not found, "\n".join(found[:5])


over_samples = pytest.mark.parametrize(("name", "dtype"), [
    (name, dtype) for name in ENTRIES for dtype in ("float32", *dtypes_of(name))])


# ---------------------------------------------------------------- plain calls


def as_leaves(inputs: list[Any]) -> list[Any]:
    return [x.requires_grad_() for x in inputs]


def only_the_last(inputs: list[Any]) -> list[Any]:
    """Arguments of which all but one need no gradient."""
    return [*inputs[:-1], *(x.requires_grad_() for x in inputs[-1:])]


def known_and_written(inputs: list[Any]) -> list[Any]:
    """Results of ops, whose forms are known and whose memory has been written to."""
    made = [(x if x.requires_grad else x.requires_grad_()) * 1.0 for x in inputs]
    for x in made:
        x * x
        x.mul_(1.0)
    return made


def as_views(inputs: list[Any]) -> list[Any]:
    """Views with gaps in them, of bases that were written to after they were taken."""
    made = []
    for x in inputs:
        base = rg.stack([x.requires_grad_(), x], -1)
        made.append(base.select(-1, 0))
        base.mul_(1.0)
    return made


def as_constants(inputs: list[Any]) -> list[Any]:
    return inputs


ARRANGEMENTS = {"float64": (as_leaves, known_and_written),
                "float32": (as_leaves, only_the_last, as_views),
                "complex128": (as_leaves,)}


def plain_outcomes(case: Case) -> Iterator[Any]:
    for arranged in ARRANGEMENTS[case.dtype]:
        # Some calls refuse views with gaps.
        yield attempt(made, case, arranged) if arranged is as_views else made(case, arranged)
    with rg.no_grad():
        yield made(case, as_leaves)


def made(case: Case, arranged: Any) -> Any:
    inputs = case.inputs()
    return outcome(tensors(rg, case.run(arranged(inputs))), inputs)


@over_samples
def test_calls(name: str, dtype: str) -> None:
    compare(name, dtype, general_path_only, plain_outcomes)


# ---------------------------------------------------------------- writing calls


def writing_outcomes(case: Case) -> Iterator[Any]:
    """Writes to leaves, which are refused if they need a gradient, to results and to views."""
    if not isinstance(case.call.args[0], Recipe):
        return
    for arranged in (as_constants, *ARRANGEMENTS[case.dtype]):
        yield attempt(written, case, arranged)
    with rg.no_grad():
        yield attempt(written, case, as_leaves)


def written(case: Case, arranged: Any) -> Any:
    inputs = case.inputs()
    args, kwargs = case.arguments(arranged(inputs))
    rg.manual_seed(0)
    target = getattr(args[0], case.entry.name.rpartition(".")[2] + "_")(*args[1:], **kwargs)
    base = [] if target._view is None else [target._view.base]
    return target is args[0], outcome([target, *base], inputs)


@pytest.mark.parametrize(("name", "dtype"), [
    (name, dtype) for name, entry in ENTRIES.items() for dtype in ("float32", *dtypes_of(name))
    if hasattr(rg.Tensor, name.rpartition(".")[2] + "_") and name not in UNLIKE_THEIR_METHODS
    and isinstance(entry.calls[0].args[0], Recipe)])
def test_writes(name: str, dtype: str) -> None:
    compare(name, dtype, general_path_only, writing_outcomes)


# ---------------------------------------------------------------- calls inside a transform


def traced_outcomes(case: Case) -> Iterator[Any]:
    """Gradients of batches, and of dual numbers; and backward inside of either."""
    inputs = case.inputs()
    if not inputs:
        return
    others = [(x * 0.9).detach() for x in inputs]

    def outputs(*xs: Any) -> list[Any]:
        return tensors(rg, case.run(list(xs)))

    def inside(*xs: Any) -> Any:
        """Results, with what is known of them and of their gradients inside the transform."""
        xs = tuple(known_and_written(list(xs)))
        found = outputs(*xs)
        seen.append([shown_tensor(y) for y in found])
        seen.append(shown_graph(found, []))
        live = [y for y in found if y.requires_grad]
        wanted = [x for x in xs if x.requires_grad]
        if live and wanted:
            found += [g for g in rg.autograd.grad(live, wanted, [y.detach() * 0.5 for y in live],
                                                  allow_unused=True) if g is not None]
        return tuple(found)

    def batched() -> Any:
        leaves = [rg.stack([x, y]).requires_grad_() for x, y in zip(inputs, others)]
        return outcome(list(rg.func.vmap(inside, randomness="same")(*leaves)), leaves)

    def dual() -> Any:
        leaves = [x.clone().requires_grad_() for x in inputs]
        pair = rg.func.jvp(inside, tuple(leaves), tuple(others))
        return outcome([*pair[0], *pair[1]], leaves)

    for run in (batched, dual):
        seen: list[Any] = []
        yield attempt(run), seen


@pytest.mark.parametrize(("name", "dtype"), [(name, "float64") for name in ENTRIES])
def test_calls_inside_transforms(name: str, dtype: str) -> None:
    compare(name, dtype, transforms_in_general, traced_outcomes)
