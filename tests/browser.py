"""A headless Chromium, driven over a pipe by its own protocol: real layout, and nothing to install beside it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")

PATH = next((found for name in NAMES if (found := shutil.which(name))), None)
"""The browser of this machine; None without one."""


@dataclass
class Page:
    """A page that is open in the browser."""

    to: BinaryIO
    back: BinaryIO
    session: str = ""
    count: int = 0
    events: list[dict[str, Any]] = field(default_factory=list)

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Call a method of the protocol, and return its result."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.to.write(json.dumps(message).encode() + b"\0")
        self.to.flush()
        while True:
            answer = self._next()
            if answer.get("id") == self.count:
                assert "error" not in answer, answer
                found: dict[str, Any] = answer["result"]
                return found
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        data = bytearray()
        while (byte := self.back.read(1)) != b"\0":
            assert byte, "the browser is gone"
            data += byte
        found: dict[str, Any] = json.loads(data)
        return found

    def read(self, expression: str) -> Any:
        """The value of an expression of JavaScript."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait_until(self, expression: str, seconds: float = 60) -> None:
        """Wait until an expression of JavaScript is true."""
        end = time.monotonic() + seconds
        while not self.read(f"Boolean({expression})"):
            assert time.monotonic() < end, f"it never came about that {expression}"
            time.sleep(0.02)

    def type(self, text: str) -> None:
        """Type a text where the focus is."""
        self.call("Input.insertText", text=text)

    def press(self, key: str, code: int, text: str = "") -> None:
        """Press a key: `press("Tab", 9)`."""
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def resize(self, width: int, height: int = 900) -> None:
        """Show the page on a screen of such a size."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, url: str) -> None:
        """Go to another page, and wait until it is loaded."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.wait_for("Page.loadEventFired")

    def prefer(self, scheme: str) -> None:
        """Prefer a `light` or a `dark` screen."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def wait_for(self, event: str) -> None:
        """Wait until the browser reports an event."""
        while not any(found.get("method") == event for found in self.events):
            self.events.append(self._next())


@contextmanager
def opened(url: str, profile: Path) -> Iterator[Page]:
    """A page in the browser, which ends with the block."""
    assert PATH is not None
    ours, theirs = os.pipe(), os.pipe()

    def connect() -> None:  # the browser reads from 3 and writes to 4
        reading, writing = os.dup(ours[0]), os.dup(theirs[1])
        os.dup2(reading, 3)
        os.dup2(writing, 4)

    options = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={profile}"]
    process = subprocess.Popen(
        [PATH, *options, "about:blank"],
        preexec_fn=connect,
        close_fds=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(ours[0])
    os.close(theirs[1])
    with os.fdopen(ours[1], "wb") as to, os.fdopen(theirs[0], "rb") as back:
        try:
            page = Page(to, back)
            target = page.call("Target.createTarget", url="about:blank")["targetId"]
            session: str = page.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            page.session = session
            for domain in ("Page", "Runtime", "Network", "Log"):
                page.call(f"{domain}.enable")
            page.open(url)
            yield page
        finally:
            process.kill()
            process.wait()
