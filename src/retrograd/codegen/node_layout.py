"""What the node of an op stores."""

from __future__ import annotations

from typing import Any

from ..core.op import Op, parameters_of


def rule_needs(op: Op) -> dict[str, list[str]]:
    """For each differentiable argument, the names its rule asks for."""
    return {arg: [p.name for p in parameters_of(rule)] for arg, rule in op.rules.items()}


def has_lean_class(op: Op) -> bool:
    return op.kind == "elementwise" and not (op.indices or op.has_list or op.outputs)


class NodeLayout:
    """What the node of an op stores, worked out from its rules.

    A ``lean`` one is that of the commonest call of an elementwise op: operands of one form and
    options left alone, so that gradients fit as they are.
    """

    def __init__(self, op: Op, lean: bool = False):
        self.op = op
        self.is_lean = lean
        self.needs = rule_needs(op)
        self.arity = len(op.arrays)
        # Rules that ask for ``like`` bring their gradients to the input's shape and dtype; the
        # engine does it for the others of an op that broadcasts or promotes.
        self.likes = [i for i, a in enumerate(op.arrays) if "like" in self.needs.get(a, ())]
        self.fitted = [i for i, a in enumerate(op.arrays)
                       if op.fits and a in op.rules and i not in self.likes]
        asked = {name for names in self.needs.values() for name in names}
        # In the order in which the rules ask, which is that of PyTorch's pack hooks.
        order = dict.fromkeys(n for a in op.arrays for n in self.needs.get(a, ()))
        self.saved_arrays = [n for n in order if n in op.arrays or n in op.indices]
        self.saved_static = [n for n in op.static if n in asked]
        self.saved_outputs = [n for n in ("y", *op.outputs) if n in asked]
        self.defaults: dict[str, Any] = {}
        self._users = {name: [i for i, a in enumerate(op.arrays) if name in self.needs.get(a, ())]
                       for name in asked}
        if lean:
            self.fitted = []
            self.defaults = {n: op.by_name[n].default for n in self.saved_static
                             if not op.by_name[n].required}

    def users(self, name: str) -> list[int]:
        """Positions of the arguments whose rules need ``name``."""
        return self._users.get(name, [])

    def saved_slots(self) -> list[str]:
        """The slots that are freed after a backward pass."""
        return [*self.saved_arrays, *(f"out_{n}" for n in self.saved_outputs)]

    def slots(self) -> list[str]:
        names = []
        if self.arity > 1:
            names.append("next1")
        if self.arity > 2 or self.op.has_list:
            names.append("rest")
        names += [f"like{i}" for i in self.likes]
        if self.fitted:
            names.append("fits")
        names += [n for n in self.saved_static if n not in self.defaults]
        if self.saved_arrays or self.saved_outputs:
            # The line is named by the errors of saved values.
            names += ["code", "lasti", *self.saved_arrays]
        if self.saved_outputs:
            names += [*(f"out_{n}" for n in self.saved_outputs), "seal"]
        return names
