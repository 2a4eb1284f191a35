"""Takes gzip members apart: the counterpart of deflate.py. A fault is reported with all data before it."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from hprof_corpus.deflate import FCOMMENT, FEXTRA, FHCRC, FNAME
from hprof_corpus.walk import Data

_FIXED = struct.Struct("<HBBIBB")
TRAILER = struct.Struct("<II")
_FIRST_STEP, _LARGEST_STEP = 1 << 8, 1 << 16
_MAGIC = 0x8B1F


@dataclass(frozen=True)
class MemberHeader:
    compression: int
    flags: int
    mtime: int
    xfl: int
    os: int
    extra: bytes | None
    name: bytes | None
    comment: bytes | None
    header_crc: int | None
    header_crc_is_right: bool
    end: int


def _text(data: Data, at: int) -> tuple[bytes, int] | None:
    """Up to the NUL, and what follows it."""
    found = bytearray()
    while at < len(data):
        piece = bytes(data[at : at + 256])
        nul = piece.find(b"\0")
        if nul >= 0:
            return bytes(found + piece[:nul]), at + nul + 1
        found += piece
        at += len(piece)
    return None


def read_member_header(data: Data, at: int) -> MemberHeader | None:
    """None if there is none, or if it is truncated."""
    start = at
    if len(data) - at < _FIXED.size:
        return None
    magic, compression, flags, mtime, xfl, os = _FIXED.unpack_from(data, at)
    if magic != _MAGIC:
        return None
    at += _FIXED.size
    extra = None
    if flags & FEXTRA:
        if len(data) - at < 2:
            return None
        (size,) = struct.unpack_from("<H", data, at)
        extra = bytes(data[at + 2 : at + 2 + size])
        at += 2 + size
        if at > len(data):
            return None
    texts: list[bytes | None] = [None, None]
    for index, flag in enumerate((FNAME, FCOMMENT)):
        if flags & flag:
            found = _text(data, at)
            if found is None:
                return None
            texts[index], at = found
    header_crc, right = None, True
    if flags & FHCRC:
        if len(data) - at < 2:
            return None
        (header_crc,) = struct.unpack_from("<H", data, at)
        right = zlib.crc32(data[start:at]) & 0xFFFF == header_crc
        at += 2
    return MemberHeader(compression, flags, mtime, xfl, os, extra, texts[0], texts[1], header_crc, right, at)


@dataclass(frozen=True)
class Inflated:
    end: int  # of the deflated data: of the file, if it has a fault
    size: int
    crc: int
    fault: str = ""


def inflate(data: Data, at: int, write: Callable[[bytes], object]) -> Inflated:
    """Inflates from `at` on, to the end of the deflated data or to the wrong byte."""
    stream = zlib.decompressobj(-15)
    size = crc = 0

    def take(out: bytes) -> None:
        nonlocal size, crc
        size += len(out)
        crc = zlib.crc32(out, crc)
        write(out)

    size_of_step = _FIRST_STEP  # small, because the bytes after a member are copied
    while at < len(data):
        step = data[at : at + size_of_step]
        size_of_step = min(2 * size_of_step, _LARGEST_STEP)
        before = stream.copy()
        try:
            take(stream.decompress(step))
        except zlib.error as error:
            try:
                for index in range(len(step)):
                    take(before.decompress(step[index : index + 1]))
            except zlib.error:
                pass
            return Inflated(len(data), size, crc, str(error))
        at += len(step)
        if stream.eof:
            return Inflated(at - len(stream.unused_data), size, crc)
    take(stream.flush())
    return Inflated(len(data), size, crc, "ends within deflated data")
