"""A real browser without a window, told what to do by Chromium's own protocol over two pipes."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_OPTIONS = ("--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
            "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
            "--disable-background-networking", "--window-size=1280,800")
# The browser reads commands from the file 3 and writes to the file 4.
_START = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); " \
    "os.execv(sys.argv[3], sys.argv[3:])"


def found() -> str | None:
    """The program of a browser, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """A page in a browser; ``requests`` and ``errors`` tell what it asked for and what failed."""

    def __init__(self) -> None:
        read_commands, self.commands = os.pipe()
        self.answers, write_answers = os.pipe()
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-c", _START, str(read_commands), str(write_answers),
             str(found()), *_OPTIONS, f"--user-data-dir={self.profile.name}", "about:blank"],
            pass_fds=(read_commands, write_answers), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(read_commands)
        os.close(write_answers)
        self.number, self.pending, self.session = 0, b"", ""
        self.requests: list[str] = []
        self.errors: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        os.close(self.commands)
        self.process.terminate()
        self.process.wait(20)
        os.close(self.answers)
        self.profile.cleanup()

    def call(self, method: str, **params: Any) -> Any:
        """Give a command and return its result."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.commands, json.dumps(command).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.pending:
            more = os.read(self.answers, 1 << 20)
            if not more:
                raise RuntimeError("the browser has gone")
            self.pending += more
        text, _, self.pending = self.pending.partition(b"\0")
        answer = json.loads(text)
        about = answer.get("params", {})
        if answer.get("method") == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif answer.get("method") == "Runtime.exceptionThrown":
            details = about["exceptionDetails"]
            self.errors.append(details.get("exception", details).get("description", str(details)))
        elif answer.get("method") == "Log.entryAdded" and about["entry"]["level"] == "error":
            self.errors.append(about["entry"]["text"])
        return answer

    def open(self, path: Path, width: int = 1280, height: int = 800, dark: bool = False) -> None:
        """Open a file and wait until its script has run."""
        self.requests.clear()
        self.errors.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=path.as_uri())
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def run(self, script: str) -> Any:
        """The value of an expression of JavaScript."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"]["description"])
        return result["result"].get("value")

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key,
                      **({"text": "\r"} if key == "Enter" and kind == "keyDown" else {}))

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x: float, y: float, times: int = 1) -> None:
        for time in range(1, times + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.mouse(kind, x, y, button="left", clickCount=time)

    def picture(self) -> bytes:
        """What the page looks like, as PNG."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
