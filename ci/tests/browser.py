"""Chromium without a window, by its protocol over two pipes; and a server of the pages that it shows."""

import base64
import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

NAMES = ("chromium", "chromium-browser", "google-chrome")
PROGRAM = next((found for name in NAMES if (found := shutil.which(name))), None)
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe", "about:blank")
OWN_HOSTS = (".google.com", ".googleapis.com")  # of which Chromium itself asks, whatever the page does


class Server(ThreadingHTTPServer):
    """Of the pages in a folder, for this machine. It notes what was asked."""

    def __init__(self, folder: Path) -> None:
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
        self.address = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass

    def parse_request(self) -> bool:
        assert isinstance(self.server, Server)
        is_whole = super().parse_request()
        host = urlsplit(self.path if "://" in self.path else f"//{self.path}").hostname if not self.path.startswith("/") else None
        if not (host or "").endswith(OWN_HOSTS):
            self.server.asked.append(self.requestline)
        return is_whole


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    with Server(folder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


class Browser:
    """One page. What it asks of any host is noted by the witness, its proxy for all but this machine."""

    def __init__(self, folder: Path, witness: Server | None = None) -> None:
        assert PROGRAM is not None
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        start = 'exec "$@" 3<&"$IN" 4>&"$OUT" 2>/dev/null'
        options = (f"--proxy-server={witness.address}", *OPTIONS) if witness else OPTIONS
        self._process = subprocess.Popen(
            ["bash", "-c", start, "bash", PROGRAM, *options, f"--user-data-dir={folder}"],
            pass_fds=(theirs_in, theirs_out),
            env=os.environ | {"IN": str(theirs_in), "OUT": str(theirs_out)},
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._out, self._in = os.fdopen(ours_out, "wb"), os.fdopen(ours_in, "rb")
        self._number, self._session, self._rest = 0, "", b""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        self._out.close()
        self._in.close()

    def call(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        self._out.flush()
        while True:
            *whole, self._rest = self._rest.split(b"\0", 1) if b"\0" in self._rest else (self._rest,)
            for one in map(json.loads, whole):
                if one.get("id") == self._number:
                    assert "error" not in one, one
                    return one["result"]
            if not whole:
                read = os.read(self._in.fileno(), 1 << 20)
                assert read, "the browser has ended"
                self._rest += read

    def evaluate(self, code: str) -> Any:
        """The value of an expression, or of what it promises."""
        found = self.call("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, code: str, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not self.evaluate(f"!!({code})"):
            assert time.monotonic() < end, (code, self.evaluate("document.body.innerText"))
            time.sleep(0.05)

    def go(self, address: str) -> None:
        self.call("Page.navigate", url=address)

    def drop(self, file: Path, selector: str) -> None:
        """A field of the test gets the file from the disk, and an event hands it to the element as a drop does."""
        self.evaluate("document.body.insertAdjacentHTML('beforeend', '<input type=file id=of-the-test hidden>')")
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        field = self.call("DOM.querySelector", nodeId=root, selector="#of-the-test")["nodeId"]
        self.call("DOM.setFileInputFiles", files=[str(file.resolve())], nodeId=field)
        self.evaluate(
            "(field => {const dataTransfer = new DataTransfer(); dataTransfer.items.add(field.files[0]); field.remove();"
            f"document.querySelector({selector!r}).dispatchEvent(new DragEvent('drop', {{dataTransfer, cancelable: true}}))}})"
            "(document.getElementById('of-the-test'))"
        )

    def look(self, width: int, dark: bool) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, file: Path) -> None:
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]))
