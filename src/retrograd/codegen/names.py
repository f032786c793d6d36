"""What a public name stands for: functions, and the ops that they are made of."""

from __future__ import annotations

import difflib
import dis
import inspect
from types import CodeType, FunctionType
from typing import Any

from ..core.op import COMPOSITES, PUBLIC, REGISTRY, Op, home_of
from ..core.tensor import Tensor

_SHORT = {"F": "nn.functional", "functional": "nn.functional"}


def public_functions() -> dict[str, Any]:
    """Every function by its full name: ``torch.sum``, ``Tensor.sum``, ``nn.functional.relu``."""
    return {f"{space}.{name}": value
            for space, names in (*PUBLIC.items(), ("Tensor", vars(Tensor)))
            for name, value in names.items() if isinstance(value, FunctionType)}


def functions_called(name: str) -> dict[str, Any]:
    """What ``name`` may mean, by full names: with a namespace or without, or an op's own name."""
    space, _, last = name.removeprefix("retrograd.").rpartition(".")
    if space != "torch":
        space = space.removeprefix("torch.")
    space = _SHORT.get(space, space)
    known = public_functions()
    if space == "nn.functional" and f"{space}.{last}" not in known:
        space = "torch"  # where PyTorch offers some functions of nn.functional too
    found = {key: value for key, value in known.items()
             if key == f"{space}.{last}" or (not space and key.endswith(f".{last}"))}
    if not space and last in REGISTRY:
        found[last] = REGISTRY[last].function
    first: dict[int, str] = {}
    for key, value in found.items():
        first.setdefault(id(value), key)
    return {key: found[key] for key in first.values()}


def near(name: str) -> list[str]:
    """Names that ``name`` may have been meant for."""
    last = name.rpartition(".")[2]
    known = {full.rpartition(".")[2] for full in public_functions()} | REGISTRY.keys()
    return difflib.get_close_matches(last, sorted(n for n in known if n[0] != "_"), 4)


def ops_of(function: Any, through_composites: bool = True) -> list[Op]:
    """The ops that a function names, itself or by way of functions that it names."""
    pending, seen, ops = [function], {id(function)}, []
    for value in pending:
        op = getattr(value, "op", None)
        if isinstance(op, Op):
            ops.append(op)
        elif through_composites or value is function or value not in COMPOSITES.values():
            for named in _named(value):
                if id(named) not in seen:
                    seen.add(id(named))
                    pending.append(named)
    return list(dict.fromkeys(ops))


def _named(value: Any) -> list[Any]:
    """What a function of :mod:`retrograd.ops` uses by name; what a table of functions holds."""
    if isinstance(value, (tuple, list)):
        return list(value)
    if isinstance(value, dict):
        return [] if value is REGISTRY or value in (PUBLIC, *PUBLIC.values()) else \
            list(value.values())
    if not isinstance(value, FunctionType) or not home_of(value).startswith("retrograd.ops"):
        return []
    function = inspect.unwrap(value)
    found = [cell.cell_contents for cell in function.__closure__ or ()]
    for part in _parts(function.__code__):
        for step in dis.get_instructions(part):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                found.append(function.__globals__.get(step.argval))
            elif step.opname in ("LOAD_METHOD", "LOAD_ATTR") and not any(
                    hasattr(kind, step.argval) for kind in (list, dict, set, str)):
                found.append(getattr(Tensor, step.argval, None))
    return found


def _parts(code: CodeType) -> list[CodeType]:
    return [code, *(part for const in code.co_consts if isinstance(const, CodeType)
                    for part in _parts(const))]
