"""The bytes of a dump, which can be read twice: a copy in a file without a name, which cannot become shorter."""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import BinaryIO, cast

MAGIC = b"\x1f\x8b"


def spool() -> BinaryIO:
    """A file without a name, which disappears with the program."""
    return cast(BinaryIO, tempfile.TemporaryFile(prefix="hprof-"))


def mapped(file: BinaryIO) -> memoryview:
    """All of a file. It may be closed afterwards."""
    file.flush()
    size = os.fstat(file.fileno()).st_size
    return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b"")


def _bytes_of(file: BinaryIO) -> memoryview:
    status = os.fstat(file.fileno())
    expected = status.st_size - file.tell() if stat.S_ISREG(status.st_mode) else 0
    with spool() as copy:
        shutil.copyfileobj(file, copy, 1 << 20)
        if copy.tell() < expected:
            raise OSError(errno.ESTALE, "the file became shorter while it was read")
        return mapped(copy)


def open_bytes(name: str) -> memoryview:
    """The bytes of the file with this name, or of standard input for `-`. Raises OSError."""
    if name == "-":
        return _bytes_of(sys.stdin.buffer)
    with Path(name).open("rb") as file:
        return _bytes_of(file)


def would_overwrite(name: str, output: str | None) -> bool:
    """Whether the file that `open_bytes(name)` reads is the one that is written; None is standard output."""
    try:
        here = os.fstat(sys.stdin.fileno()) if name == "-" else Path(name).stat()
        there = os.fstat(sys.stdout.fileno()) if output is None else Path(output).stat()
    except (OSError, AttributeError):  # nonexistent, or closed
        return False
    return stat.S_ISREG(here.st_mode) and os.path.samestat(here, there)


def is_gzip(data: memoryview) -> bool:
    return bytes(data[:2]) == MAGIC
