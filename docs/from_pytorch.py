"""The page for people who come from PyTorch: what is the same, better and missing, as it is now."""

from __future__ import annotations

import re
from pathlib import Path

import make_names

from retrograd.base.missing_names import pytorch_names
from retrograd.base.missing_reasons import reason
from retrograd.ops import late

ROOT = Path(__file__).parent.parent


def page() -> str:
    """The whole page."""
    return "\n".join(["# Coming from PyTorch", "", START, "## The same", "", SAME, "", *counted(),
                      "", "## Better", "", *better(), "", "## Different on purpose", "",
                      *different(), "", "## Missing", "", *missing(), ""])


START = """\
This page is made from the package as it is when the site is built. `import retrograd as torch`
takes the place of `import torch`; or leave the program as it is and run it:

```console
retrograd doctor train.py    # which names of torch it uses, and which are missing
retrograd run train.py       # `import torch` gets this package, in it and in what it imports
```
"""

SAME = """\
Values, dtypes, shapes and strides, type promotion, names of graph nodes, hooks, in-place rules,
versions, views, error types and messages, printed tensors, random numbers for the same seed, files
of `torch.save`. The tests compare every function with PyTorch 2.13, forward and backward, in every
dtype, and run PyTorch's own test files. Of PyTorch's public names there are here:
"""


def counted() -> list[str]:
    """A row for each namespace: how many of its names exist."""
    late.load_all()
    wanted = pytorch_names()
    rows = ["| namespace | of | are here |", "|---|--:|--:|"]
    for space in make_names.SPACES:
        names = wanted[space]
        here = len(names & make_names.found_in(space))
        rows.append(f"| `torch{'.' if space else ''}{space}` | {len(names)} | {here} |")
    return rows


def better() -> list[str]:
    """What the README says of it."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = re.search(r"## Where it says more than PyTorch\n(.*?)\n## ", readme, re.DOTALL)
    return [section.group(1).strip() if section else "See the README."]


def different() -> list[str]:
    """The heads of DIFFERENCES.md, by section."""
    text = (ROOT / "DIFFERENCES.md").read_text(encoding="utf-8")
    lines = ["Each with its reason in [Differences from PyTorch](DIFFERENCES.md):", ""]
    for section in text.split("\n## ")[1:]:
        heads = re.findall(r"^- \*\*(.+?)\*\*", section, re.MULTILINE | re.DOTALL)
        if heads:
            lines.append(f"- *{section.splitlines()[0]}*: "
                         + "; ".join(" ".join(head.rstrip(".,:").split()) for head in heads))
    return lines


def missing() -> list[str]:
    """Why names are missing, with how many; all of them are in names.md."""
    found: dict[str, set[str]] = {}
    wanted = pytorch_names()
    for space in make_names.SPACES:
        for name in wanted[space] - make_names.found_in(space):
            found.setdefault(reason(name) or "to come", set()).add(name)
    rows = ["A name that is missing raises `AttributeError` with its reason and what is nearby. "
            "[Names of PyTorch](names.md) lists them all.", "", "| why | names | such as |",
            "|---|--:|---|"]
    for why, names in sorted(found.items(), key=lambda item: -len(item[1])):
        some = ", ".join(f"`{name}`" for name in sorted(names, key=str.lower)[:4])
        rows.append(f"| {why} | {len(names)} | {some} |")
    return rows
