"""Headless Chromium over its debugging pipe: what a page logs, requests and shows."""

from __future__ import annotations

import base64
import fcntl
import itertools
import json
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--remote-debugging-pipe",
)
# Chromium reads commands from this descriptor and answers on the next one.
PIPE = 3


def find() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Page:
    """One tab. Events are kept as they come; an answer ends the wait for it."""

    def __init__(self, commands: int, answers: int) -> None:
        self.commands = commands
        self.answers = answers
        self.numbers = itertools.count(1)
        self.unread = b""
        self.session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self.numbers)
        command = {"id": number, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.commands, json.dumps(command).encode() + b"\0")
        while True:
            message = self._receive()
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self.unread:
            received = os.read(self.answers, 1 << 16)
            if not received:
                raise RuntimeError("Chromium has ended")
            self.unread += received
        text, _, self.unread = self.unread.partition(b"\0")
        message = json.loads(text)
        if "method" in message:
            self.events.append(message)
        return message

    def open(self, path: Path) -> None:
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._receive()

    def resize(self, width: int, height: int) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def evaluate(self, expression: str) -> Any:
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return result["result"].get("value")

    def requested(self) -> list[str]:
        """Addresses that the page asked for, other than data in the page itself."""
        sent = [e["params"]["request"] for e in self._of("Network.requestWillBeSent")]
        return [request["url"] for request in sent if not request["url"].startswith("data:")]

    def complaints(self) -> list[str]:
        """What a developer would see in the console."""
        logged = [e["params"]["entry"]["text"] for e in self._of("Log.entryAdded")]
        called = [json.dumps(e["params"]["args"]) for e in self._of("Runtime.consoleAPICalled")]
        thrown = [json.dumps(e["params"]) for e in self._of("Runtime.exceptionThrown")]
        return logged + called + thrown

    def _of(self, method: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["method"] == method]

    def screenshot(self) -> bytes:
        result = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(result["data"])

    def pdf(self) -> bytes:
        result = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        return base64.b64decode(result["data"])


@contextmanager
def start(profile: Path) -> Iterator[Page]:
    """A browser with a profile of its own, ended with the block."""
    command_end, commands = os.pipe()
    answers, answer_end = os.pipe()
    # Out of the way of the two numbers that Chromium wants them to have.
    high = [fcntl.fcntl(end, fcntl.F_DUPFD, 2 * PIPE + 10) for end in (command_end, answer_end)]
    program = find()
    process = os.posix_spawn(
        program,
        [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, high[0], PIPE),
            (os.POSIX_SPAWN_DUP2, high[1], PIPE + 1),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ],
    )
    for end in (command_end, answer_end, *high):
        os.close(end)
    try:
        page = Page(commands, answers)
        yield page
        page.session = None
        page.call("Browser.close")
    finally:
        os.close(commands)
        os.close(answers)
        os.kill(process, signal.SIGTERM)
        os.waitpid(process, 0)
