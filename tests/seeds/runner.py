"""Runs the documents' code blocks with either library and describes what each of them did.

A document is a file of blocks, each under a line ``# %% title``. A block may supply names that the
document leaves undefined (``# given:``), then its own code (``# then:``), and finally use of ours
that shows the effect of a block that only defines something (``# use:``).
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import io
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
DOCUMENTS = (
    "computing_gradients",
    "automatic_differentiation",
    "differentiation_engine",
    "autograd_reference",
    "loss_gradients",
)
TITLE = re.compile(r"^# %% (.+)$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Block:
    """One code block of a document."""

    document: str
    title: str
    source: str

    @property
    def name(self) -> str:
        """The name of the block among all blocks."""
        return f"{self.document}: {self.title}"


@dataclasses.dataclass
class Outcome:
    """What running a block showed."""

    printed: str
    warned: list[tuple[str, str]]
    raised: tuple[str, str] | None
    left: dict[str, str]
    namespace: dict[str, Any] = dataclasses.field(default_factory=dict, repr=False)


def blocks() -> Iterator[Block]:
    """Every block of every document."""
    for document in DOCUMENTS:
        parts = TITLE.split((FOLDER / f"{document}.py").read_text())
        for title, source in zip(parts[1::2], parts[2::2]):
            yield Block(document, title, source.strip() + "\n")


def source_for(block: Block, library: str) -> str:
    """The block's source with imports of torch turned into imports of ``library``."""
    if library == "torch":
        return block.source
    source = re.sub(r"^import torch$", f"import {library} as torch", block.source, flags=re.M)
    return re.sub(r"^(import|from) torch\.", rf"\1 {library}.", source, flags=re.M)


def hide_addresses(text: str) -> str:
    """``text`` with memory addresses replaced."""
    return re.sub(r"0x[0-9a-fA-F]{6,}", "0x…", text)


def run(block: Block, library_name: str) -> Outcome:
    """Run ``block`` with a library and return what it did."""
    library = importlib.import_module(library_name)
    code = compile(source_for(block, library_name), f"<{block.name}>", "exec")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed, raised = io.StringIO(), None
    library.manual_seed(0)
    if hasattr(library, "set_warn_always"):
        library.set_warn_always(True)
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(printed):
        warnings.simplefilter("always")
        try:
            exec(code, namespace)
        except Exception as error:
            raised = (type(error).__name__, str(error))
        finally:
            library.autograd.set_detect_anomaly(False)
    warned = [(w.category.__name__, str(w.message)) for w in caught]
    left = dict(described(namespace, library))
    return Outcome(hide_addresses(printed.getvalue()), warned, raised, left, namespace)


def described(namespace: dict[str, Any], library: Any) -> Iterator[tuple[str, str]]:
    """The tensors and numbers that a block left behind, and their gradients, as text."""
    for name, value in namespace.items():
        if isinstance(value, library.Tensor):
            yield name, hide_addresses(repr(value))
            if value.is_leaf and value.grad is not None:
                yield f"{name}.grad", hide_addresses(repr(value.grad))
        elif isinstance(value, library.nn.Module):
            for key, parameter in value.named_parameters():
                yield f"{name}.{key}", repr(parameter)
                yield f"{name}.{key}.grad", repr(parameter.grad)
        elif isinstance(value, (int, float, list)) and not name.startswith("_"):
            yield name, hide_addresses(repr(value))
