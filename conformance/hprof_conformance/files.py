"""Files of the project and of earlier runs. A malformed one ends the run with one sentence."""

from __future__ import annotations

import fcntl
import json
import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from hprof_conformance import steps
from hprof_conformance.command import RefusedError


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise RefusedError(f"{path}: {error}") from error


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise RefusedError(f"{path}: {error}") from error


def replace_file(path: Path, data: bytes) -> None:
    """At once: others may read it meanwhile, and have the old one or the new one."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    partial.write_bytes(data)
    partial.rename(path)


def _is_mine(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Waits until no other thread or run builds in the folder. The lock ends with the process, however it ends. Raises
    StoppedError."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as file:
        step = steps.Step()
        while not _is_mine(file):
            step.wait(f"waits for another run, which builds in {folder}")
        yield
