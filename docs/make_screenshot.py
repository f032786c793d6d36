"""Draw docs/explorer.png: the graph of a training step of examples/char_gpt.py in a browser.

Run in the root of the project, where a Chromium is installed:
``PYTHONPATH=src:tests:examples python docs/make_screenshot.py``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import char_gpt

import retrograd as torch
from browser import Browser


def main() -> None:
    """Write the picture."""
    torch.manual_seed(0)
    model = char_gpt.GPT(letters=90, width=32)
    letters = torch.randint(90, (2, 12))
    with torch.viz.recording():
        scores = model(letters[:, :-1]).flatten(0, 1)
        loss = torch.nn.functional.cross_entropy(scores, letters[:, 1:].flatten())
        loss.backward()
    graph = torch.viz.graph(loss, params=model)
    graph.title = "A step of a small GPT"
    browser = Browser()
    with tempfile.TemporaryDirectory() as folder:
        graph.save(Path(folder) / "graph.html")
        browser.open(Path(folder) / "graph.html", 1180, 720)
        browser.run("document.getElementById('search').focus()")
        browser.type("attention")
        browser.press("Enter")
        picture = browser.picture()
    browser.close()
    Path(__file__).with_name("explorer.png").write_bytes(picture)


if __name__ == "__main__":
    main()
