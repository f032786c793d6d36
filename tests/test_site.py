"""The site: it is built strictly, holds what the table of contents says, and asks nobody else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import retrograd

ROOT = Path(__file__).parent.parent
SOURCE = Path(retrograd.__file__).parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    proxies = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")  # no network
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q", "-d", str(folder)],
                          cwd=ROOT, capture_output=True, text=True, check=False,
                          env={**os.environ, **proxies, "PYTHONPATH": str(SOURCE),
                               "NO_MKDOCS_2_WARNING": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr, done.stderr
    return folder


def test_every_page_is_there(site: Path) -> None:
    start = (site / "index.html").read_text(encoding="utf-8")
    linked = set(re.findall(r'href="([\w./]+\.html)"', start))
    assert {"autograd.html", "backward.html", "from_pytorch.html", "numpy.html", "extending.html",
            "higher_order.html", "performance.html", "ops.html", "ARCHITECTURE.html",
            "api/torch.html", "api/nn.functional.html", "notebooks/01_gradients.html"} <= linked
    assert [path for path in linked if not (site / path).is_file()] == []


def test_pages_ask_no_other_server(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert re.findall(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="(?:https?:)?//[^"]*"',
                          text) == [], page


def test_the_reference_has_signatures_docs_and_examples(site: Path) -> None:
    text = (site / "api" / "profiler.html").read_text(encoding="utf-8")
    assert "torch.profiler.schedule(*, wait, warmup, active" in text
    assert "RECORD_AND_SAVE" in text and '<span class="gp">&gt;&gt;&gt; ' in text
    functions = (site / "api" / "torch.html").read_text(encoding="utf-8")
    assert len(re.findall(r"<h3", functions)) > 600


def test_generated_pages_and_pictures(site: Path) -> None:
    text = (site / "from_pytorch.html").read_text(encoding="utf-8")
    assert all(f'id="{part}"' in text for part in ("the-same", "better", "missing"))
    for name in ("layer", "diamond"):
        assert (site / "pictures" / f"{name}.svg").read_text().startswith("<svg")
