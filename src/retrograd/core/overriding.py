"""Arguments of classes that handle a call themselves: ``__torch_function__``."""

from __future__ import annotations

from typing import Any

from ..base.errors import is_pytorch_tensor
from .extensions import extensions
from .op import Op
from .tensor import NATIVE


def overriding(args: tuple[Any, ...]) -> list[Any]:
    """The arguments whose classes want to handle the call themselves."""
    found = []
    for value in args:
        for item in value if type(value) in (list, tuple) else (value,):
            cls = type(item)
            if cls in NATIVE:
                continue
            hook = getattr(cls, "__torch_function__", None)
            # PyTorch's tensors would have the same function run again, on themselves.
            if hook is not None and hook is not DISABLED and not is_pytorch_tensor(item):
                found.append(item)
    return found


def _disabled_torch_function(*args: Any, **kwargs: Any) -> Any:
    return NotImplemented


DISABLED = _disabled_torch_function


def dispatch_override(function: Any, found: list[Any], op: Op | None, args: tuple[Any, ...],
                      out: Any = None) -> Any:
    kwargs = {} if out is None else {"out": out}
    positional = []
    if op is None:
        positional = list(args)
    else:
        for param, value in zip(op.params, args, strict=True):
            if param.keyword_only:
                if value is not param.default:
                    kwargs[param.name] = value
            else:
                positional.append(value)
        while positional and len(positional) > 1 and not op.params[len(positional) - 1].required \
                and positional[-1] is op.params[len(positional) - 1].default:
            positional.pop()
    return extensions.take_over(function, found, tuple(positional), kwargs)
