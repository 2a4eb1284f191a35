"""The bytes so far, and the offsets of the bytes of each line of the text. Long runs of zeros are kept as a number, so that a
dump of many gigabytes can be described, and written as a sparse file.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeAlias

from hprof_corpus.target import completed

_SPARSE = 1 << 20


class Spot(NamedTuple):
    """The offset of what a word of the text wrote."""

    offset: int
    line: int
    label: str
    rule: str | None = None


# In the order of writing: the offset, and a spot without its offset, or the spots of a piece that was put there.
_Spots: TypeAlias = "list[tuple[int, tuple[int, str, str | None] | _Spots]]"


def _flat(spots: _Spots, base: int) -> Iterator[Spot]:
    for offset, one in spots:
        if isinstance(one, tuple):
            yield Spot(base + offset, *one)
        else:
            yield from _flat(one, base + offset)


class Piece:
    def __init__(self, data: bytes = b"") -> None:
        self._chunks: list[bytearray | int] = [bytearray(data)]  # an int means this many zeros
        self.size = len(data)
        self._spots: _Spots = []

    def add(self, data: bytes | bytearray) -> None:
        last = self._chunks[-1]
        if isinstance(last, int):
            self._chunks.append(bytearray(data))
        else:
            last += data
        self.size += len(data)

    def add_repeated(self, data: bytes, count: int) -> None:
        if len(data) * count >= _SPARSE and not any(data):
            self._chunks.append(len(data) * count)
            self.size += len(data) * count
        else:
            self.add(data * count)

    def spot(self, line: int, label: str, rule: str | None = None) -> None:
        """The bytes that are added next come from `line`."""
        self._spots.append((self.size, (line, label, rule)))

    def spots(self, base: int = 0) -> Iterator[Spot]:
        """All offsets. They are made on request, because there are many and they are seldom needed."""
        return _flat(self._spots, base)

    def append(self, other: Piece) -> None:
        if other._spots:
            self._spots.append((self.size, other._spots))
        for chunk in other._chunks:
            if isinstance(chunk, int):
                self._chunks.append(chunk)
                self.size += chunk
            elif chunk:
                self.add(chunk)

    def cut(self, count: int) -> None:
        """Removes the last bytes; the piece must have this many."""
        self.size -= count
        while count:
            last = self._chunks.pop()
            size = last if isinstance(last, int) else len(last)
            if size > count:
                self._chunks.append(last - count if isinstance(last, int) else last[: size - count])
            count -= min(size, count)
        if not self._chunks:
            self._chunks.append(bytearray())

    def write(self, out: BinaryIO) -> None:
        for chunk in self._chunks:
            if isinstance(chunk, int):
                for at in range(0, chunk, _SPARSE):
                    out.write(bytes(min(_SPARSE, chunk - at)))
            else:
                out.write(chunk)

    def _write_sparsely(self, out: BinaryIO) -> None:
        for chunk in self._chunks:
            if isinstance(chunk, int):
                out.seek(chunk, io.SEEK_CUR)
            else:
                out.write(chunk)
        out.truncate()

    def save(self, path: Path) -> None:
        with completed(path) as out:
            if stat.S_ISREG(os.fstat(out.fileno()).st_mode):
                self._write_sparsely(out)
            else:
                self.write(out)

    def to_bytes(self) -> bytes:
        return b"".join(bytes(chunk) for chunk in self._chunks)
