"""What modules and tensors show of themselves in a notebook, where that is more than their text."""

from __future__ import annotations

from html import escape
from typing import Any

from ..core.tensor import Tensor
from ._palette import shape_text, size_text

_SMALL = "color:#667085;font-size:90%"


def tensor_html(tensor: Tensor) -> str:
    """The text of a tensor, and below it what one asks for next: shape, dtype and size."""
    facts = [shape_text(tuple(tensor.shape)), str(tensor.dtype).removeprefix("torch."),
             size_text(tensor.numel() * tensor.element_size())]
    if tensor.requires_grad and tensor.is_leaf:
        facts.append("no gradient yet" if tensor.grad is None else "has a gradient")
    return (f'<pre style="margin:0">{escape(repr(tensor))}</pre>'
            f'<div style="{_SMALL}">{escape(" · ".join(facts))}</div>')


def module_html(module: Any, name: str = "") -> str:
    """A module and those in it, to be folded, each with the number of its parameters."""
    count = sum([parameter.numel() for parameter in module.parameters()])
    label = f'<span style="{_SMALL}">{escape(name)}</span> ' if name else ""
    extra = f'<span style="{_SMALL}">({escape(module.extra_repr())})</span> ' \
        if module.extra_repr() else ""
    title = (f"{label}<b>{escape(module._get_name())}</b> {extra}"
             f'<span style="{_SMALL}">{count:,} parameter{"s" * (count != 1)}</span>')
    inner = [(key, child) for key, child in module._modules.items() if child is not None]
    if not inner:
        return f'<div style="margin-left:1.1em">{title}</div>'
    below = "".join([module_html(child, key) for key, child in inner])
    return ('<details open="open" style="margin-left:1.1em">'
            f"<summary>{title}</summary>{below}</details>")
