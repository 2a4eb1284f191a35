"""gzip members whose bytes depend only on the input; the output of zlib differs between versions. There are three ways to
deflate, one for each kind of block that a reader must know. Only `fixed` compresses, and only runs of one byte: the form
matters here, not the size.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

FTEXT, FHCRC, FEXTRA, FNAME, FCOMMENT = 1, 2, 4, 8, 16


class _Bits:
    def __init__(self) -> None:
        self.bytes = bytearray()
        self.pending = 0
        self.count = 0

    def put(self, value: int, width: int) -> None:
        """The lowest bit first, as in the numbers of deflate."""
        self.pending |= value << self.count
        self.count += width
        while self.count >= 8:
            self.bytes.append(self.pending & 0xFF)
            self.pending >>= 8
            self.count -= 8

    def put_code(self, code: int, width: int) -> None:
        """The highest bit first, as in the Huffman codes of deflate."""
        self.put(int(f"{code:0{width}b}"[::-1], 2), width)

    def finish(self) -> bytes:
        if self.count:
            self.put(0, 8 - self.count)
        return bytes(self.bytes)


def _fixed_code(symbol: int) -> tuple[int, int]:
    if symbol < 144:
        return 0x30 + symbol, 8
    if symbol < 256:
        return 0x190 + symbol - 144, 9
    if symbol < 280:
        return symbol - 256, 7
    return 0xC0 + symbol - 280, 8


def stored(data: bytes) -> bytes:
    blocks = [data[at : at + 0xFFFF] for at in range(0, len(data), 0xFFFF)] or [b""]
    return b"".join(struct.pack("<BHH", block is blocks[-1], len(block), len(block) ^ 0xFFFF) + block for block in blocks)


def fixed(data: bytes) -> bytes:
    bits = _Bits()
    bits.put(1, 1)
    bits.put(1, 2)
    at = 0
    while at < len(data):
        bits.put_code(*_fixed_code(data[at]))
        run = 0
        while at + 1 + run < len(data) and data[at + 1 + run] == data[at]:
            run += 1
        at += 1
        for _ in range(run // 258):
            bits.put_code(*_fixed_code(285))  # length 258
            bits.put_code(0, 5)  # distance 1
        at += run - run % 258
    bits.put_code(*_fixed_code(256))
    return bits.finish()


def dynamic(data: bytes) -> bytes:
    """A dynamic block with a code of 8 bits for the bytes 0 to 254, and of 9 for 255 and the end of the block."""
    bits = _Bits()
    bits.put(1, 1)
    bits.put(2, 2)
    bits.put(0, 5)  # 257 literal and length codes
    bits.put(0, 5)  # 1 distance code
    order = (16, 17, 18, 0, 8, 7, 9)
    bits.put(len(order) - 4, 4)
    widths = {0: 2, 8: 1, 9: 2}
    for symbol in order:
        bits.put(widths.get(symbol, 0), 3)
    for _ in range(255):
        bits.put_code(0b0, 1)  # 8
    for _ in range(2):
        bits.put_code(0b11, 2)  # 9
    bits.put_code(0b10, 2)  # 0: no distances
    for byte in data:
        bits.put_code(*((byte, 8) if byte < 255 else (0x1FE, 9)))
    bits.put_code(0x1FF, 9)
    return bits.finish()


METHODS = {"stored": stored, "fixed": fixed, "dynamic": dynamic}


@dataclass
class Member:
    """One gzip member. Arguments that are None are computed."""

    data: bytes
    method: str = "fixed"
    compression: int = 8
    flags: int | None = None
    text: bool = False
    mtime: int = 0
    xfl: int = 0
    os: int = 255
    extra: bytes | None = None
    name: bytes | None = None
    comment: bytes | None = None
    header_crc: int | None = None
    with_header_crc: bool = False
    crc: int | None = None
    isize: int | None = None

    def parts(self) -> list[tuple[str, bytes]]:
        """The parts of the member, each with its word in the notation."""
        flags = (
            FTEXT * self.text
            | FHCRC * self.with_header_crc
            | FEXTRA * (self.extra is not None)
            | FNAME * (self.name is not None)
            | FCOMMENT * (self.comment is not None)
        )
        parts = [
            ("gzip", b"\x1f\x8b"),
            ("method", bytes([self.compression])),
            ("flags", bytes([flags if self.flags is None else self.flags])),
            ("mtime", struct.pack("<I", self.mtime)),
            ("xfl", bytes([self.xfl])),
            ("os", bytes([self.os])),
        ]
        if self.extra is not None:
            parts.append(("extra", struct.pack("<H", len(self.extra)) + self.extra))
        if self.name is not None:
            parts.append(("name", self.name + b"\0"))
        if self.comment is not None:
            parts.append(("comment", self.comment + b"\0"))
        if self.with_header_crc:
            crc = zlib.crc32(b"".join(part for _, part in parts)) & 0xFFFF
            parts.append(("hcrc", struct.pack("<H", crc if self.header_crc is None else self.header_crc)))
        parts.append(("data", METHODS[self.method](self.data)))
        parts.append(("crc", struct.pack("<I", zlib.crc32(self.data) if self.crc is None else self.crc)))
        parts.append(("isize", struct.pack("<I", len(self.data) & 0xFFFFFFFF if self.isize is None else self.isize)))
        return parts
