"""A gzip file in the notation: its content, and the words that make the same members again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from hprof_corpus.deflate import FCOMMENT, FEXTRA, FHCRC, FNAME, FTEXT, METHODS
from hprof_corpus.inflate import TRAILER, Inflated, MemberHeader, inflate, read_member_header
from hprof_corpus.source import mapped, spool
from hprof_corpus.spelling import one_word
from hprof_corpus.walk import Data

# deflate.py is slow, and was used only for small members.
_LARGEST = 1 << 20
_DYNAMIC_START = METHODS["dynamic"](b"")[:-3]


@dataclass(frozen=True)
class FoundMember:
    size: int  # of its content
    options: str
    data: Data | None  # the deflated data, if deflate.py would make other bytes


@dataclass(frozen=True)
class Gzip:
    members: list[FoundMember]
    content: memoryview
    missing: int  # bytes of the last member's trailer
    end: int  # the following bytes are not a member


@dataclass(frozen=True)
class _Parts:
    header: MemberHeader
    found: Inflated
    start: int  # of its content
    trailer: bytes  # the part that exists


def _method(deflated: Data, content: Data) -> str | None:
    """The method of deflate.py that makes these bytes from the content."""
    kind = deflated[0] >> 1 & 3 if len(deflated) else 3
    if kind == 3 or len(content) > _LARGEST:
        return None
    method = ("stored", "fixed", "dynamic")[kind]
    if method == "dynamic" and bytes(deflated[: len(_DYNAMIC_START)]) != _DYNAMIC_START:
        return None
    return method if METHODS[method](bytes(content)) == deflated else None


def _options(parts: _Parts, method: str | None) -> Iterator[str]:
    header, found = parts.header, parts.found
    if method and method != "fixed":
        yield f"deflate {method}"
    if header.compression != 8:
        yield f"method {header.compression}"
    known = header.flags & (FTEXT | FHCRC | FEXTRA | FNAME | FCOMMENT)
    if header.flags != known:
        yield f"flags {header.flags:#04x}"
    if header.mtime:
        yield f"mtime {header.mtime}"
    if header.xfl:
        yield f"xfl {header.xfl}"
    if header.os != 255:
        yield f"os {header.os}"
    for word, value in (("extra", header.extra), ("name", header.name), ("comment", header.comment)):
        if value is not None:
            yield f"{word} {one_word(value)}"
    if header.flags & FTEXT:
        yield "text"
    if header.header_crc is not None:
        # A number only if it is not the right one, which depends on the flags.
        yield "hcrc" if header.header_crc_is_right else f"hcrc {header.header_crc:#06x}"
    right = TRAILER.pack(found.crc, found.size & 0xFFFFFFFF)
    crc, isize = TRAILER.unpack(parts.trailer + right[len(parts.trailer) :])
    if crc != found.crc:
        yield f"crc {crc:#010x}"
    if isize != found.size & 0xFFFFFFFF:
        yield f"isize {isize}"


def read_gzip(data: Data) -> Gzip | None:
    """The members at the start of the bytes. None if there is no header."""
    members: list[_Parts] = []
    at = start = 0
    with spool() as file:
        while (header := read_member_header(data, at)) is not None:
            found = inflate(data, header.end, file.write)
            trailer = b"" if found.fault else bytes(data[found.end : found.end + TRAILER.size])
            members.append(_Parts(header, found, start, trailer))
            start += found.size
            at = found.end + len(trailer)
        content = mapped(file)
    if not members:
        return None
    return Gzip([_member(data, content, parts) for parts in members], content, TRAILER.size - len(members[-1].trailer), at)


def _member(data: Data, content: memoryview, parts: _Parts) -> FoundMember:
    deflated = data[parts.header.end : parts.found.end]
    method = None if parts.found.fault else _method(deflated, content[parts.start : parts.start + parts.found.size])
    return FoundMember(parts.found.size, " ".join(_options(parts, method)), None if method else deflated)


def alike(members: list[FoundMember]) -> str | None:
    """One `gzip` statement for all members; None if that is impossible."""
    first = members[0]
    if any(member.data is not None or member.options != first.options for member in members):
        return None
    sizes = [member.size for member in members]
    words = ["gzip", first.options] if first.options else ["gzip"]
    if len(sizes) > 1:
        if set(sizes[:-1]) == {sizes[0]} and 0 < sizes[-1] <= sizes[0]:
            words.append(f"each {sizes[0]}")
        else:
            written = sizes[:-1] if sizes[-1] else sizes
            counted = [(size, len(list(same))) for size, same in groupby(written)]
            words.append(f"sizes [ {' '.join(f'{size} * {n}' if n > 1 else str(size) for size, n in counted)} ]")
    return " ".join(words)
