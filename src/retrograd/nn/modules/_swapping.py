"""Exchanging what two tensors are, so that whoever holds one holds the other."""

import copyreg
import weakref
from typing import Any

from ...core.cuts import Behind
from ...core.tensor import Tensor


def swap_tensors(t1: Any, t2: Any) -> None:
    """Exchange the data, class and attributes of two tensors; each keeps its identity."""
    for name, tensor in (("t1", t1), ("t2", t2)):
        if [known for known in weakref.getweakrefs(tensor) if type(known) is not Behind]:
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    slots = [set(copyreg._slotnames(type(tensor))) for tensor in (t1, t2)]  # type: ignore[attr-defined]
    if slots[0] != slots[1]:
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    for name in ("__class__", "__dict__", *slots[0]):
        mine, other = getattr(t1, name), getattr(t2, name)
        setattr(t1, name, other)
        setattr(t2, name, mine)
    for tensor in (t1, t2):
        if isinstance(tensor, Tensor):
            tensor._bump_version()  # a graph that saved it must not take the new values for its own
