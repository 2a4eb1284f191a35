"""The offset until which a dump that ends early is complete: there the first incomplete record begins."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

from hprof_corpus import layouts
from hprof_corpus.source import is_gzip
from hprof_corpus.walk import FramingError, Shapes, read_header, records, subrecords

_END = struct.pack(">BII", next(record.tag for record in layouts.RECORDS if record.name == "HEAP_DUMP_END"), 0, 0)
_LONGEST_CODE = 258  # bytes that one code of deflate may give
_HEAP_TAGS = {record.tag for record in layouts.RECORDS if record.layout.tail == "subrecords"}


def _inflated(data: bytes) -> bytes:
    """All that can be had of the members, the last of which may end early."""
    found = []
    rest = data
    while rest:
        member = zlib.decompressobj(wbits=31)
        try:
            found.append(member.decompress(rest))
        except zlib.error as error:
            raise FramingError(len(data) - len(rest), str(error)) from error
        rest = member.unused_data
    return b"".join(found)


def _bytes(file: Path, read: int | None = None) -> bytes:
    """`read`: see whole_until()."""
    data = file.read_bytes()
    if not is_gzip(memoryview(data)):
        return data
    data = _inflated(data)
    return data[:read] if read is not None and read < len(data) <= read + _LONGEST_CODE else data


def whole_until(file: Path, read: int | None = None) -> int:
    """`read`: how many bytes another one has read. Where compressed data ends early, two may differ by what its last code gives,
    and whether a record ends within that is no matter of framing. Raises FramingError at a fault that no early end explains."""
    data = _bytes(file, read)
    header = read_header(data)
    if header is None:
        return 0
    shapes = Shapes(header.id_size)
    at = header.size
    for framed in records(data, at):
        # HotSpot 8 writes the length of a heap dump last.
        never_filled_in = framed.tag in _HEAP_TAGS and not framed.length and framed.end < len(data)
        if framed.is_cut or never_filled_in:
            return framed.at
        if framed.tag in _HEAP_TAGS:
            for _ in subrecords(data, framed.body, framed.end, shapes):
                pass
        at = framed.end
    return at


def ends_well(file: Path) -> bool:
    """Whether the last record closes the heap dump: then the producer had ended before it could be interrupted."""
    return _bytes(file).endswith(_END)
