"""Where the bytes of a dump come from: a path, a file of the system, or any object that has read()."""

import ctypes
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, BinaryIO, Protocol

from ._library import READ, READ_AT, CSource, made


class Readable(Protocol):
    """An object that gives bytes. If it has seek(), too, parts are read again to find offsets."""

    def read(self, size: int, /) -> bytes: ...


PathOrFile = str | os.PathLike[str] | BinaryIO | Readable


class ObjectSource:
    """A source for the library. An exception in read() or seek() is kept for raise_failure()."""

    def __init__(self, file: Any) -> None:
        self.failure: BaseException | None = None
        self._file = file
        self._lock = Lock()  # a file has one position, and several threads may read
        self.source = made(CSource)
        self._read = READ(self._take)
        self.source.read = self._read
        if hasattr(file, "seekable") and file.seekable():
            self._start = file.tell()
            self.source.size = file.seek(0, os.SEEK_END) - self._start
            file.seek(self._start)
            self._read_at = READ_AT(self._take_at)
            self.source.read_at = self._read_at

    def _take(self, _context: int | None, to: int, size: int) -> int:
        try:
            data = self._file.read(size)
            if not isinstance(data, bytes | bytearray | memoryview):
                raise TypeError(f"read() gave {type(data).__name__}, not bytes")
            if len(data) > size:
                raise ValueError(f"read({size}) gave {len(data)} bytes")
            ctypes.memmove(to, bytes(data), len(data))
            return len(data)
        except BaseException as failure:  # the library is C: nothing may pass through it
            self.failure = failure
            return -errno.EIO

    def _take_at(self, context: int | None, offset: int, to: int, size: int) -> int:
        with self._lock:
            try:
                self._file.seek(self._start + offset)
            except BaseException as failure:
                self.failure = failure
                return -errno.EIO
            return self._take(context, to, size)

    def raise_failure(self) -> None:
        if self.failure is not None:
            raise self.failure


def is_path(source: PathOrFile) -> bool:
    return isinstance(source, str | os.PathLike)


@contextmanager
def opened(source: PathOrFile) -> Iterator[int | ObjectSource]:
    """The descriptor of a path, or a source. Files of Python are not read by their descriptors: they have buffers."""
    if isinstance(source, str | os.PathLike):
        descriptor = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
    elif not hasattr(source, "read"):
        raise TypeError(f"a dump is a path, or an object with read(), not {type(source).__name__}")
    else:
        yield ObjectSource(source)
