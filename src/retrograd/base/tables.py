"""Tables of plain text, and the same for rich where that is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TextIO

Rows = Sequence[Sequence[str]]


def plain_table(headers: Sequence[str], rows: Rows, right: Sequence[int] = ()) -> str:
    """Columns side by side, those numbered in ``right`` flush right; a cell may have lines."""
    cells = [[str(cell).split("\n") for cell in row] for row in (headers, *rows)]
    widths = [max(len(line) for row in cells for line in row[i]) for i in range(len(headers))]
    lines = []
    for number, row in enumerate(cells):
        for height in range(max(map(len, row))):
            parts = [cell[height] if height < len(cell) else "" for cell in row]
            lines.append("  ".join(part.rjust(width) if i in right else part.ljust(width)
                                   for i, (part, width) in enumerate(zip(parts, widths,
                                                                         strict=True))).rstrip())
        if not number:
            lines.append("  ".join("-" * width for width in widths))
    return "\n".join(lines)


def rich_table(title: str, headers: Sequence[str], rows: Rows, right: Sequence[int] = ()) -> Any:
    """The same as an object of rich's."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left")
    for i, header in enumerate(headers):
        table.add_column(header, justify="right" if i in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*[Text(str(cell)) for cell in row])
    return table


def show(thing: Any, file: TextIO | None = None) -> None:
    """Print what has a table: by rich, where that is installed and ``file`` is a terminal."""
    import sys

    file = sys.stdout if file is None else file
    if file.isatty():
        try:
            from rich import print as rich_print
        except ImportError:
            pass
        else:
            rich_print(thing, file=file)
            return
    print(thing, file=file)


def size(count: int) -> str:
    """A number of bytes as people read it."""
    value, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"
