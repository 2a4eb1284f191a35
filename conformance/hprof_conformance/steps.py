"""Steps that take long, such as the build of a crate: what they do, and for how long; and how they end when the run ends early."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeVar

_EVERY = 20.0  # seconds: what takes longer is shown
_POLL = 0.1
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
_is_quiet = True  # whoever builds is many calls away from the run that shows it

stopping = threading.Event()  # the run ends early

S = TypeVar("S")
T = TypeVar("T")


class StoppedError(Exception):
    """The run ends before a step has."""


def show_all() -> None:
    """From now on, what is said goes to standard error."""
    global _is_quiet
    _is_quiet = False


def say(words: str) -> None:
    if not _is_quiet:
        sys.stderr.write(f"{words}\n")
        sys.stderr.flush()


class Step:
    """Begins when it is made."""

    def __init__(self) -> None:
        self._began = self._shown = time.monotonic()

    def goes_on(self, words: str) -> None:
        """To be called often: what takes long is said every 20 seconds."""
        now = time.monotonic()
        if now - self._shown >= _EVERY:
            self._shown = now
            say(f"{words}, {now - self._began:.0f} s")

    def wait(self, words: str) -> None:
        """For a moment. Raises StoppedError."""
        if stopping.wait(_POLL):
            raise StoppedError
        self.goes_on(words)


@contextmanager
def started(
    command: Sequence[str | Path],
    out: IO[bytes],
    error: IO[bytes],
    folder: Path | None = None,
    environment: dict[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a session of its own. The block ends the process, and all that the process started in this session."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=out, stderr=error, cwd=folder, env=environment, start_new_session=True
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run(command: Sequence[str | Path], folder: Path, log: Path) -> int:
    """The status of a command whose output is for a log. Raises StoppedError."""
    log.parent.mkdir(parents=True, exist_ok=True)
    step = Step()
    with log.open("wb") as out, started(command, out, out, folder) as process:
        while process.poll() is None:
            step.wait(f"{Path(command[0]).name}: its output is in {log}")
    return process.returncode


def each(words: str, items: Iterable[T], number: int) -> Iterator[T]:
    """The items, and how many of them are done."""
    step = Step()
    for done, item in enumerate(items):
        step.goes_on(f"{words}: {done} of {number}")
        yield item


def _of_a_pool() -> None:
    """Signals to the group, such as those of Ctrl-C and of `timeout`, are for the process that waits."""
    os.setsid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # it waits for work from a pipe that it holds itself
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def in_processes(words: str, work: Callable[[S], T], items: Sequence[S], jobs: int) -> Iterator[T]:
    """What `work` makes of each item, in their order, by as many processes. When the run ends early, no item is begun."""
    try:
        made = ProcessPoolExecutor(jobs, initializer=_of_a_pool)
    except OSError as error:
        say(f"{words}: by one process, because there are no semaphores (/dev/shm): {error.strerror}")
        yield from each(words, map(work, items), len(items))
        return
    with made as pool:
        try:
            yield from each(words, pool.map(work, items), len(items))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
