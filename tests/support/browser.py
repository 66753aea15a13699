"""A headless Chromium that opens pages and says what it saw, by its own protocol over a pipe."""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""What the program is called, on Debian and elsewhere."""

FLAGS = (
    "--headless",
    "--hide-scrollbars",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--remote-debugging-pipe",
)

SECONDS = 60.0
"""An answer that takes longer than this will not come."""


def found_browser():
    """The path of a browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@dataclass
class Seen:
    """What happened while a page was open: messages and errors of its console, and requests."""

    messages: list = field(default_factory=list)
    requests: list = field(default_factory=list)


class Browser:
    """One tab; use it in a ``with``."""

    def __init__(self):
        self._folder = tempfile.mkdtemp(prefix="vbks-browser-")
        to_browser, self._write = _high_pipe()
        self._read, from_browser = _high_pipe()

        def connect():
            os.dup2(to_browser, 3)
            os.dup2(from_browser, 4)

        self._process = subprocess.Popen(
            [found_browser(), *FLAGS, f"--user-data-dir={self._folder}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=connect,
            pass_fds=(3, 4),
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer, self._number, self._session, self.seen = b"", 0, None, Seen()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._read)
        os.close(self._write)
        shutil.rmtree(self._folder, ignore_errors=True)

    def open(self, path, width, height=800, dark=False, mobile=False):
        """Open a file in a window of this size, and wait until it is there."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=mobile,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.seen = Seen()
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        deadline = time.monotonic() + SECONDS
        while self.value("document.readyState + location.protocol") != "completefile:":
            assert time.monotonic() < deadline, "the page was never complete"
            time.sleep(0.02)
        return self.seen

    def value(self, script):
        """What a script says on the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def screenshot(self, path):
        """The whole page as a PNG."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        found = self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        Path(path).write_bytes(base64.b64decode(found["data"]))

    def print(self, path):
        """The page as a PDF on the paper that it asks for."""
        found = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=False)
        Path(path).write_bytes(base64.b64decode(found["data"]))

    def call(self, method, **parameters):
        """A command, and what it answers; events that come before are noted."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self._note(answer)

    def _note(self, event):
        name, said = event.get("method"), event.get("params", {})
        if name == "Runtime.exceptionThrown":
            self.seen.messages.append(said["exceptionDetails"]["text"])
        elif name == "Runtime.consoleAPICalled":
            self.seen.messages.append(str(said["args"]))
        elif name == "Log.entryAdded":
            self.seen.messages.append(said["entry"]["text"])
        elif name == "Network.requestWillBeSent":
            url = said["request"]["url"]
            if not url.startswith("data:") and said.get("type") != "Document":
                self.seen.requests.append(url)

    def _message(self):
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], SECONDS)
            assert ready, "the browser does not answer"
            more = os.read(self._read, 1 << 20)
            assert more, "the browser has ended"
            self._buffer += more
        first, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(first)


def _high_pipe():
    """A pipe whose ends are not 3 or 4, which the browser reads and writes."""
    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return high
