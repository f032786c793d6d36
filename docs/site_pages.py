"""What MkDocs is given beside the pages of this folder: the reference, pictures, and pages that lie
elsewhere in the checkout. Nothing of it is kept: it is made whenever the site is built.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parent))

import api_pages
import from_pytorch
import pictures

ROOT = Path(__file__).parent.parent
ELSEWHERE = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "DIFFERENCES.md")
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(\s*([^)\s]+)\s*\)")


def on_config(config: Any) -> Any:
    """Put the reference into the table of contents, and leave out pages that are not there."""
    made = {name for name, _ in _made()}
    for section in config.nav:
        for title, pages in section.items():
            if title == "Reference":
                pages[:] = [{name: path} for name, path in api_pages.contents()]
            else:
                pages[:] = [page for page in pages for path in page.values()
                            if path in made or (ROOT / "docs" / path).is_file()]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add what is made here."""
    for name, text in _made():
        files.append(File.generated(config, name, content=text()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Let links to files of the checkout that are no pages be the names of those files."""
    folder = PurePosixPath("." if page.file.src_uri in ELSEWHERE else "docs")

    def linked(match: re.Match[str]) -> str:
        sign, text, target = match.groups()
        if "://" in target or target.startswith(("#", "mailto:")):
            return match.group()
        path, hash_sign, anchor = target.partition("#")
        for name in (path, _within(folder, path)):
            if files.get_file_from_path(name) is not None:
                return f"{sign}[{text}]({name}{hash_sign}{anchor})"
        return text if text.startswith("`") else f"`{text}`"

    return _LINK.sub(linked, markdown)


def _notebook(path: Path) -> str:
    """A notebook as a page: its text and its programs."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) if cell["cell_type"] == "markdown" else
             f"```python\n{''.join(cell['source'])}\n```" for cell in cells]
    return "\n\n".join([*texts[:1], f"*This page is the notebook* `docs/notebooks/{path.name}`.",
                        *texts[1:]])


def _within(folder: PurePosixPath, path: str) -> str:
    """Where a file of the checkout is in the site, as seen from a page of this folder."""
    parts: list[str] = []
    for part in (folder / path).parts:
        if part == "..":
            parts[-1:] = []
        else:
            parts.append(part)
    return "/".join(parts[1:] if parts[:1] == ["docs"] else parts)


def _made() -> list[tuple[str, Callable[[], str]]]:
    """The pages and pictures that are made, each with the function that makes it."""
    return [*[(name, (ROOT / name).read_text) for name in ELSEWHERE],
            ("from_pytorch.md", from_pytorch.page),
            *[(f"notebooks/{path.stem}.md", partial(_notebook, path)) for path in NOTEBOOKS],
            *[(f"pictures/{name}.svg", draw) for name, draw in pictures.ALL.items()],
            *[(path, page) for path, page in api_pages.pages()]]
