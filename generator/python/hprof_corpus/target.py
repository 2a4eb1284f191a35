"""Where a program writes: a file that gets its name when it is complete; standard output; messages."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


def _permissions(path: Path) -> int:
    """The permissions of the earlier file, or of any new one."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@contextlib.contextmanager
def completed(name: str | Path) -> Iterator[BinaryIO]:
    """The earlier file stays until the new one is complete, and a link keeps its target. Other than regular files are written
    directly. Raises OSError."""
    if Path(name).exists() and not Path(name).is_file():
        with Path(name).open("wb") as out:
            yield out
        return
    path = Path(os.path.realpath(name))
    with contextlib.ExitStack() as stack:
        number, part = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name[:200]}.", suffix=".part")
        stack.callback(Path(part).unlink, missing_ok=True)
        with os.fdopen(number, "wb") as out:
            os.fchmod(number, _permissions(path))
            yield out
        Path(part).replace(path)


@contextlib.contextmanager
def standard_output() -> Iterator[BinaryIO]:
    """Does not use sys.stdout, which has the encoding of the terminal and repeats failed writes. Raises OSError."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    with open(sys.stdout.fileno(), "wb", closefd=False) as out:
        yield out


def have_standard_error() -> None:
    """Otherwise the first file that is opened would get the messages, or they would be lost."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  as long as the program
