"""What comes back on a connection, in one form, from records or from text."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

from facts import Facts, read_binary_data, read_text_data
from session import Session
from wire import (
    SUMMARY,
    Command,
    Stream,
    StreamError,
    Summary,
    Tag,
    alloc_sites,
    command,
    cpu_samples,
    read_samples,
    read_sites,
    read_summary,
)

_SITE = re.compile(rb" *\d+ +\S+% +\S+% +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) ")
_SAMPLE = re.compile(rb" *\d+ +\S+% +\S+% +(\d+) +(\d+) ")
_TRACE = re.compile(rb"^TRACE (\d+):.*\n((?:\t.*\n)*)", re.MULTILINE)
_START = re.compile(rb'^THREAD START \(obj=([0-9a-f]+), id = \d+, name="(.*)", group=', re.MULTILINE)
SITES_END, SAMPLES_END, HEAP_END = b"SITES END\n", b"CPU SAMPLES END\n", b"HEAP DUMP END\n"


@dataclass(frozen=True)
class Row:
    """A site."""

    live_bytes: int
    live: int
    allocated_bytes: int
    allocated: int
    trace: int


@dataclass(frozen=True)
class Table:
    """ALLOC_SITES or SITES. Text has no flags, but says what the rows are ordered by."""

    by_allocation: bool
    flags: int | None
    live_bytes: int | None
    rows: list[Row]


def last_block(stream: Stream, begin: bytes, end: bytes) -> list[bytes]:
    """Lines of text, from BEGIN."""
    with stream.changed:
        data = bytes(stream.data)
    stop = data.rindex(end)
    return data[data.rindex(begin, 0, stop) : stop].splitlines()


def ask_text(stream: Stream, data: bytes, end: bytes, count: int = 1) -> None:
    before = stream.data.count(end)
    stream.send(data)
    stream.wait_text(end, before + count)


def ask_sites(session: Session, flags: int = 0, cutoff: float = 0.0) -> Table:
    stream = session.stream
    if stream.binary:
        sites = read_sites(stream.ask(alloc_sites(flags, cutoff), Tag.ALLOC_SITES)[0])
        rows = [Row(row[3], row[4], row[5], row[6], row[2]) for row in sites.rows]
        return Table(bool(sites.flags & 2), sites.flags, sites.live_bytes, rows)
    ask_text(stream, alloc_sites(flags, cutoff), SITES_END)
    lines = last_block(stream, b"SITES BEGIN", SITES_END)
    found = [[int(group) for group in match.groups()] for line in lines if (match := _SITE.match(line))]
    return Table(b"allocated bytes" in lines[0], None, None, [Row(*row) for row in found])


def ask_samples(session: Session, cutoff: float = 0.0) -> tuple[int, dict[int, int]]:
    """Without a sample the agent writes no text."""
    stream = session.stream
    if stream.binary:
        return read_samples(stream.ask(cpu_samples(cutoff), Tag.CPU_SAMPLES)[0])
    before = stream.data.count(SAMPLES_END)
    stream.send(cpu_samples(cutoff))
    fence(session)
    if stream.data.count(SAMPLES_END) == before:
        return 0, {}
    lines = last_block(stream, b"CPU SAMPLES BEGIN", SAMPLES_END)
    total = re.search(rb"total = (\d+)", lines[0])
    if total is None:
        raise StreamError(f"no total in {lines[0]!r}")
    found = [match for line in lines if (match := _SAMPLE.match(line))]
    return int(total[1]), {int(match[2]): int(match[1]) for match in found}


def ask_heap(session: Session) -> Facts:
    """All that came so far, with a heap dump at its end."""
    stream = session.stream
    if stream.binary:
        stream.ask(command(Command.DUMP_HEAP), Tag.HEAP_DUMP)
    else:
        ask_text(stream, command(Command.DUMP_HEAP), HEAP_END)
    return facts_of(stream)


def facts_of(stream: Stream) -> Facts:
    with stream.changed:
        data = bytes(stream.data[: stream.taken])
    return read_binary_data(data) if stream.binary else read_text_data(data)[0]


def ask_summary(session: Session) -> Summary:
    """Text has none: what all sites add up to is the same."""
    if session.stream.binary:
        return read_summary(session.stream.ask(SUMMARY, Tag.HEAP_SUMMARY)[0])
    rows = ask_sites(session).rows
    return Summary(
        sum(row.live_bytes for row in rows),
        sum(row.live for row in rows),
        sum(row.allocated_bytes for row in rows),
        sum(row.allocated for row in rows),
    )


def fence(session: Session) -> None:
    """Until the producer has taken all commands so far."""
    if session.stream.binary:
        session.stream.fence()
    else:
        ask_text(session.stream, alloc_sites(0, 1.0), SITES_END)


def traces(stream: Stream) -> dict[int, int]:
    """Serial number and number of frames of each trace that came."""
    if stream.binary:
        found = [struct.unpack_from(">III", record.body) for record in stream.of(Tag.TRACE)]
        return {serial: count for serial, _, count in found}
    with stream.changed:
        data = bytes(stream.data)
    return {int(match[1]): 0 if b"<empty>" in match[2] else match[2].count(b"\n") for match in _TRACE.finditer(data)}


def threads(stream: Stream) -> list[tuple[int, str]]:
    """Object ID and name of each thread that started, in order."""
    if not stream.binary:
        with stream.changed:
            data = bytes(stream.data)
        return [(int(match[1], 16), match[2].decode("utf-8", "replace")) for match in _START.finditer(data)]
    names = {record.body[:4]: record.body[4:] for record in stream.of(Tag.UTF8)}
    starts = [struct.unpack_from(">IIII", record.body) for record in stream.of(Tag.START_THREAD)]
    return [(id_, names.get(struct.pack(">I", name), b"").decode("utf-8", "replace")) for _, id_, _, name in starts]


def heap_dumps(stream: Stream) -> int:
    return len(stream.of(Tag.HEAP_DUMP)) if stream.binary else stream.data.count(HEAP_END)
