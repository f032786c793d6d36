"""Calls as PyTorch's first versions took them: ``x.add_(-lr, grad)``, ``addmm(2, m, 3, a, b)``.

The numbers of such an op may be given by place, after the tensors; so a call of the former kind
arrives with numbers where tensors belong, and is put in order here. The fast path takes none.
"""

from __future__ import annotations

from typing import Any

from ..base.warning import warn
from .op import Op
from .tensor import Tensor


def in_present_order(op: Op, args: tuple[Any, ...], suffix: str = "") -> tuple[Any, ...]:
    """The arguments of ``op`` with its numbers behind its tensors, wherever they were given."""
    count = len(op.arrays)
    if not isinstance(args[count], Tensor):  # where the first number belongs
        return args
    tensors = tuple([value for value in args if isinstance(value, Tensor)])
    numbers = tuple([value for value in args if isinstance(value, (int, float, complex))])
    is_former = (len(tensors), len(numbers)) == (count, len(args) - count) and not all(
        isinstance(value, Tensor) for value in args[:count])
    if is_former and (isinstance(args[0], Tensor) or op.kind != "elementwise"):
        _warn(op, args, suffix)
        return (*tensors, *numbers)
    for param, value in zip(op.params[count:], args[count:], strict=True):
        if isinstance(value, Tensor) and value.ndim:
            raise TypeError(f"{op.title}{suffix}(): argument '{param.name}' must be Number, not "
                            "Tensor")
    return args


def _warn(op: Op, args: tuple[Any, ...], suffix: str) -> None:
    name = op.title + suffix
    arrays = [f"Tensor {array}" for array in op.arrays]
    numbers = [f"Number {param.name}" for param in op.params[len(arrays):]]
    left = {True: iter(arrays), False: iter(numbers)}
    given = args[:-1] if args[-1] is op.params[-1].default else args
    former = [next(left[isinstance(value, Tensor)]) for value in given]
    present = [*arrays, "*", *(f"{number} = 1" for number in numbers)]
    if suffix or (op.kind != "elementwise" and isinstance(args[0], Tensor)):  # a method
        former.remove(arrays[0])
        present.remove(arrays[0])
    else:
        former += ["*", "Tensor out = None"]
        present += ["Tensor out = None"]
    warn(f"This overload of {name} is deprecated:\n\t{name}({', '.join(former)})\nConsider using "
         f"one of the following signatures instead:\n\t{name}({', '.join(present)})", once=True)
