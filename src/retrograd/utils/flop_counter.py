"""How many multiplications and additions a program makes, by module and by op.

Matrix products and convolutions are counted, also those that attention and recurrent layers are
made of, forward and backward; the rest of a network costs little beside them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from .._ops import OpOverloadPacket, aten
from ..autograd.grad_mode import is_grad_enabled
from ..base.missing_names import suggest_names as _suggest_names
from ..base.tables import plain_table
from ..core.tensor import Tensor
from ..nn.modules._calling import register_module_forward_hook, register_module_forward_pre_hook
from ..nn.modules.module import Module
from .checkpoint import Intercepting

__all__ = ["FlopCounterMode"]

_PRODUCTS = {"mm": "mm", "_rows_times_matrix": "mm", "_linear_plain": "mm",
             "_mm_transposed": "mm", "_transposed_mm": "mm", "addmm": "addmm",
             "_linear": "addmm", "_linear_rows": "addmm", "bmm": "bmm", "_scores": "bmm",
             "_batched": "bmm", "baddbmm": "baddbmm"}
_CONVOLUTIONS = ("_convolution", "_transposed")
_UNITS = ("", "K", "M", "B", "T")


class FlopCounterMode(Intercepting):
    """A block in which arithmetic is counted.

    At its end a table is printed, unless ``display`` is False; ``depth`` is how far below the
    outermost module it goes, None for all the way.
    """

    def __init__(self, mods: Any = None, depth: int | None = 2, display: bool = True,
                 custom_mapping: dict[Any, Any] | None = None) -> None:
        if custom_mapping:
            raise NotImplementedError("FlopCounterMode counts matrix products and convolutions; "
                                      "custom_mapping is not taken")
        self.depth, self.display = depth, display
        self.flop_counts: dict[str, Counter[OpOverloadPacket]] = defaultdict(Counter)
        self._found: _Cost | None = None
        self._unrecorded = 0  # how many were counted where nothing is recorded
        self._names: WeakKeyDictionary[Module, str] = WeakKeyDictionary()
        self._inside: list[str] = []

    # ------------------------------------------------------------ the block

    def __enter__(self) -> FlopCounterMode:  # type: ignore[override]
        self.flop_counts.clear()
        self._inside.clear()
        self._hooks = (register_module_forward_pre_hook(self._goes_in),
                       register_module_forward_hook(self._comes_out, always_call=True))
        super().__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        super().__exit__(*exc)
        for hook in self._hooks:
            hook.remove()
        if self.display and exc[0] is None:
            print(self.get_table(self.depth))

    def _goes_in(self, module: Module, args: Any) -> None:
        if module not in self._names:
            root = type(module).__name__
            self._names.update({part: f"{root}.{name}" if name else root
                                for name, part in module.named_modules()})
        self._inside.append(self._names[module])

    def _comes_out(self, module: Module, args: Any, output: Any) -> None:
        self._inside.pop()

    # ------------------------------------------------------------ counting

    def compute(self, op: Any, values: list[Any], compute: Any) -> Any:
        result = super().compute(op, values, compute)
        self._found = _cost(op, values, result)
        if self._found is not None:
            self._count(self._found.name, self._found.flops, self._places())
            self._unrecorded += not is_grad_enabled()
        return result

    def made(self, result: Any) -> None:
        super().made(result)
        found, self._found = self._found, None
        out = result[0] if isinstance(result, tuple) else result
        if found is None or not isinstance(out, Tensor) or out.grad_fn is None:
            return
        places, before = self._places(), 0

        def begins(_: Any) -> None:
            nonlocal before
            before = self._unrecorded

        def backward(gradients: Any, _: Any) -> None:
            # Where it is recorded, or what was saved is unpacked, it is made of ops that are seen.
            if not is_grad_enabled() and before == self._unrecorded:
                wanted = [g is not None for g in gradients[found.first:]]
                self._count(found.backward_name, found.backward(wanted), places)

        out.grad_fn.register_prehook(begins)
        out.grad_fn.register_hook(backward)

    def _places(self) -> list[str]:
        """Where arithmetic counts that is done now, each place once."""
        return list(dict.fromkeys(("Global", *self._inside)))

    def _count(self, name: str, flops: int, places: list[str]) -> None:
        for place in places if flops else ():
            self.flop_counts[place][getattr(aten, name)] += flops

    # ------------------------------------------------------------ results

    def get_total_flops(self) -> int:
        """The arithmetic of the whole block."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[OpOverloadPacket, int]]:
        """The arithmetic by the name of a module, and by op; all of it is called Global."""
        return {place: dict(counts) for place, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """The arithmetic of modules down to a depth, and their shares, as a text."""
        depth = self.depth if depth is None else depth
        total = self.get_total_flops()
        unit = max(0, min(len(_UNITS) - 1, (len(str(total)) - 2) // 3))

        def row(name: str, flops: int) -> tuple[str, str, str]:
            shown = f"{flops / 1000 ** unit:.3f}{_UNITS[unit]}" if unit else str(flops)
            return name, shown, f"{flops / total:.2%}" if total else "0%"

        rows: list[tuple[str, str, str]] = []
        for place in sorted(self.flop_counts):
            if place != "Global" and (depth is None or place.count(".") < depth):
                rows.append(row(place, sum(self.flop_counts[place].values())))
                rows += [row(f"- {op}", flops) for op, flops in self.flop_counts[place].items()]
        whole = [sum(counts.values()) for place, counts in self.flop_counts.items()
                 if place != "Global" and "." not in place]
        if total not in whole:
            rows.insert(0, row("Global", total))
        return plain_table(("Module  ", "  FLOP", "  % Total"), rows, right=(1, 2))


class _Cost(NamedTuple):
    """The arithmetic of an op and of its gradients, and what PyTorch calls them."""

    name: str
    backward_name: str
    flops: int
    backward: Callable[[list[bool]], int]
    """Of the gradients that are wanted, of the operand numbered ``first`` on."""
    first: int = 0


def _cost(op: Any, values: list[Any], result: Any) -> _Cost | None:
    if op.name in _PRODUCTS:
        name, first = _PRODUCTS[op.name], len(op.arrays) - 2
        left = values[[p.name for p in op.params].index(op.arrays[first])]
        flops = 2 * prod(result.shape) * left.shape[-2 if op.name == "_transposed_mm" else -1]
        return _Cost(name, "bmm" if "bmm" in name else "mm", flops,
                     lambda wanted: flops * sum(wanted), first)
    if op.name in _CONVOLUTIONS:
        input, weight = values[:2]
        whole = input if op.name == "_transposed" else result
        flops = 2 * prod(whole.shape) * prod(weight.shape[1:])
        return _Cost("convolution", "convolution_backward", flops,
                     lambda wanted: flops * sum(wanted[:2]))
    if op.name == "_attention":  # two products, of queries and keys, of weights and values
        query, key, value = (values[i].shape for i in range(3))
        pairs = 2 * prod(query[:-1]) * key[-2]
        scores, mixing = pairs * query[-1], pairs * value[-1]
        return _Cost("bmm", "bmm", scores + mixing, lambda wanted: (
            scores * sum(wanted[:2]) + mixing * (any(wanted[:2]) + wanted[2])))
    return None


_suggest_names(__name__)
