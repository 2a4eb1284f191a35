"""Checks a stream while it comes, not when it is complete."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path
from typing import Protocol

from hprof_corpus.ascii.check import check
from hprof_corpus.ascii.findings import Findings
from hprof_corpus.ascii.rules import Severity

ROOT = Path(__file__).resolve().parents[3]
VALIDATOR = Path(os.environ.get("HPROF_VALIDATE", ROOT / "build/release/validator/hprof-validate"))


class LiveCheck(Protocol):
    def take(self, data: bytes) -> None:
        """The next bytes of the stream."""

    def finish(self) -> str:
        """The stream ends here. What is wrong with it, or nothing."""


class BinaryCheck:
    """`hprof-validate -` reads the other end of a pipe."""

    def __init__(self) -> None:
        words = [str(VALIDATOR), "--profile", "jdk8-agent", "-"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe)
        self.taken = 0

    def take(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.taken += len(data)
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has seen enough; finish() says why

    def finish(self) -> str:
        output, errors = self.process.communicate()
        if self.process.returncode == 0 or not self.taken:
            return ""
        return f"hprof-validate - ends with {self.process.returncode}: {output.decode()}{errors.decode()}"


class TextCheck:
    """The checker of hprof-ascii reads the other end of a pipe, in a thread of its own."""

    def __init__(self) -> None:
        read, self._write = os.pipe()
        self.findings = Findings("jdk8-agent")
        self._thread = threading.Thread(target=self._read, args=(read,), daemon=True)
        self._thread.start()

    def _read(self, descriptor: int) -> None:
        with open(descriptor, "rb") as stream:
            check(stream, self.findings)

    def take(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._write, data) :]

    def finish(self) -> str:
        os.close(self._write)
        self._thread.join()
        bad = [f"{one.rule.id} at line {one.line}" for one in self.findings.kept if one.severity is Severity.ERROR]
        return f"hprof-ascii finds {', '.join(bad)}" if bad else ""
