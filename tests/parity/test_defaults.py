"""The defaults of every public function, method, module and optimizer are PyTorch's."""

from __future__ import annotations

import importlib
import inspect
import types
from collections.abc import Iterator
from typing import Any

import pytest
import torch

import retrograd as rg

SPACES = ["", "Tensor", "nn", "nn.functional", "nn.init", "nn.utils", "nn.utils.clip_grad",
          "nn.utils.fusion", "nn.utils.parametrizations", "nn.utils.parametrize", "nn.utils.prune",
          "nn.utils.rnn", "nn.utils.stateless", "nn.parallel", "nn.parameter", "nn.attention",
          "optim", "optim.lr_scheduler", "optim.swa_utils", "autograd", "autograd.forward_ad",
          "autograd.function", "autograd.functional", "autograd.graph",
          "autograd.profiler", "autograd.profiler_util", "func", "amp", "utils.checkpoint",
          "utils.data", "distributions", "sparse", "testing", "profiler"]
DIFFERENT = {
    ("cdist", "compute_mode"): "how it is computed is chosen here",
    ("compile", "backend"): "there is one, whatever it is called",
    ("random_split", "generator"): "the default one of each library",
}
LEFT_OUT = {
    "pin_memory": "no memory is pinned", "dtype": "a number in the schema",
    "unbiased": "the correction takes its place", "reduction": "the binding has another one",
}
"""Arguments whose default in PyTorch's schemas is not the one of a call from Python."""


def defaults(function: Any) -> dict[str, Any]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return {}
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def comparable(value: Any) -> Any:
    if isinstance(value, types.FunctionType):
        return value.__name__
    if isinstance(value, (list, tuple)):
        return value[0] if len(set(value)) == 1 else tuple(value) or None
    return value if isinstance(value, (bool, int, float, str)) else repr(value).replace(
        "retrograd", "torch")


def space(lib: Any, name: str) -> Any:
    for part in filter(None, name.split(".")):
        lib = getattr(lib, part, None) or importlib.import_module(f"{lib.__name__}.{part}")
    return lib


def shared_names(ours: Any, theirs: Any) -> list[str]:
    return sorted(name for name in {*dir(ours)} & {*dir(theirs)} if not name.startswith("_"))


def functions(ours: Any, theirs: Any) -> Iterator[tuple[str, Any, Any]]:
    """What can be called in a namespace, and the methods of its classes."""
    for public in shared_names(ours, theirs):
        found, wanted = getattr(ours, public), getattr(theirs, public)
        if (getattr(wanted, "__module__", None) or "torch").split(".")[0] != "torch":
            continue  # it was imported there
        yield public, found, wanted
        if isinstance(found, type) and isinstance(wanted, type):
            for method in shared_names(found, wanted):
                yield f"{public}.{method}", getattr(found, method), getattr(wanted, method)


@pytest.mark.parametrize("name", SPACES)
def test_functions_of_python(name: str) -> None:
    compared = 0
    for public, ours, theirs in functions(space(rg, name), space(torch, name)):
        found, wanted = defaults(ours), defaults(theirs)
        for argument in found.keys() & wanted.keys():
            compared += 1
            if (public, argument) not in DIFFERENT:
                assert comparable(found[argument]) == comparable(wanted[argument]), (
                    f"{public}({argument}={found[argument]!r}), not {wanted[argument]!r}")
    assert compared


UNLIKE = {"has_mkl", "has_openmp", "NON_GROUP_MEMBER", "RedOpType", "nan", "next_id"}
"""What PyTorch was built with, what stands for something, what equals nothing, and a counter."""


def constants(ours: Any, theirs: Any) -> Iterator[tuple[str, Any, Any]]:
    """The numbers, words and members of enumerations in a namespace and in its classes."""
    for name in shared_names(ours, theirs):
        found, wanted = getattr(ours, name), getattr(theirs, name)
        if isinstance(found, type) and isinstance(wanted, type):
            if not issubclass(found, type):
                yield from constants(found, wanted)
        elif hasattr(wanted, "name") and hasattr(wanted, "value"):
            yield name, *((member.name, member.value) for member in (found, wanted))
        elif isinstance(wanted, (int, float, str, list, tuple)):
            yield name, found, wanted


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*SPACES, "nn.modules", "utils", "utils._pytree", "distributed",
                                  "multiprocessing", "linalg", "special", "fft", "overrides"])
def test_constants(name: str) -> None:
    for public, ours, theirs in constants(space(rg, name), space(torch, name)):
        assert ours == theirs or public in UNLIKE, public


def test_functions_of_schemas() -> None:
    spaces = {"": rg, "linalg_": rg.linalg, "special_": rg.special, "fft_": rg.fft}
    compared = 0
    for schema in torch._C._jit_get_all_schemas():
        name = schema.name.removeprefix("aten::")
        if name == schema.name or schema.overload_name or name == "Generator":
            continue
        prefix = next((p for p in spaces if p and name.startswith(p)), "")
        found = defaults(getattr(spaces[prefix], name.removeprefix(prefix), None))
        for argument in schema.arguments:
            if argument.has_default_value() and argument.name in found \
                    and argument.name not in LEFT_OUT:
                compared += 1
                ours, theirs = found[argument.name], argument.default_value
                whole = repr(ours) == "<all>" or ours in ((), None)
                assert (whole and theirs in ([], None)) or comparable(ours) == comparable(theirs), (
                    f"{name}({argument.name}={ours!r}), not {theirs!r}")
    assert compared > 300
