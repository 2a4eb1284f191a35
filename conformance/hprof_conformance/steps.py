"""Steps that take long, such as the build of a crate: what they do, and for how long."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

_STEP = 20.0  # seconds: what takes longer is shown
_say: Callable[[str], None] = lambda words: None  # noqa: E731 # shows progress


def show(say: Callable[[str], None]) -> None:
    """From now on, `say` gets a line for each step that takes long, again and again until it ends."""
    global _say  # whoever builds is many calls away from the run that shows it
    _say = say


def run(command: Sequence[str | Path], folder: Path, log: Path) -> int:
    """The status of a command whose output is for a log."""
    log.parent.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        while True:
            try:
                return process.wait(_STEP)
            except subprocess.TimeoutExpired:
                _say(f"{Path(command[0]).name}, {time.monotonic() - began:.0f} s: its output is in {log}")
            except BaseException:
                process.kill()
                process.wait()
                raise
