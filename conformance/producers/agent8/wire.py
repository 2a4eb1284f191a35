"""The commands of the agent's socket, and the records that come back (TEXT.md B.3)."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from dataclasses import dataclass, field
from enum import IntEnum

from live import LiveCheck

PATIENCE = 20.0  # seconds for an answer
MOST = 256 << 20  # bytes of a stream, which is kept in memory


class Command(IntEnum):
    GC = 0x01
    DUMP_HEAP = 0x02
    ALLOC_SITES = 0x03
    HEAP_SUMMARY = 0x04
    EXIT = 0x05
    DUMP_TRACES = 0x06
    CPU_SAMPLES = 0x07
    CONTROL = 0x08
    EOF = 0xFF


class Tag(IntEnum):
    UTF8 = 0x01
    LOAD_CLASS = 0x02
    FRAME = 0x04
    TRACE = 0x05
    ALLOC_SITES = 0x06
    HEAP_SUMMARY = 0x07
    START_THREAD = 0x0A
    HEAP_DUMP = 0x0C
    CPU_SAMPLES = 0x0D
    CONTROL_SETTINGS = 0x0E


def command(tag: int, body: bytes = b"", serial: int = 0, length: int | None = None) -> bytes:
    """`length` if it is not that of the body."""
    return struct.pack(">BII", tag, serial, len(body) if length is None else length) + body


def alloc_sites(flags: int = 0, cutoff: float = 0.0, serial: int = 0, length: int | None = None) -> bytes:
    return command(Command.ALLOC_SITES, struct.pack(">Hf", flags, cutoff), serial, length)


def cpu_samples(cutoff: float = 0.0) -> bytes:
    return command(Command.CPU_SAMPLES, struct.pack(">Hf", 0, cutoff))


def control(what: int, body: bytes = b"") -> bytes:
    return command(Command.CONTROL, struct.pack(">H", what) + body)


SUMMARY = command(Command.HEAP_SUMMARY)


@dataclass(frozen=True)
class Record:
    tag: int
    time: int
    body: bytes


class StreamError(Exception):
    """The stream is not what the protocol promises."""


CLOCK_SLACK = 1.0  # seconds by which a producer's clock may be ahead of the one here

# What a record counts, where the count is, what precedes the counted parts, and their size, with IDs of 4 bytes.
_COUNTED: dict[int, tuple[int, int, int]] = {Tag.TRACE: (8, 12, 4), Tag.ALLOC_SITES: (30, 34, 25), Tag.CPU_SAMPLES: (4, 8, 8)}


def fault_of(record: Record, before: int, seconds: float) -> str:
    """What is wrong with the count or the time of a record that arrives so long after the producer's start; "" if
    nothing is."""
    if record.time < before:
        return f"the time {record.time} after {before}"
    if record.time > (seconds + CLOCK_SLACK) * 1_000_000:
        return f"the time {record.time}, {seconds:.1f} s after the start"
    if record.tag in _COUNTED:
        at, head, size = _COUNTED[record.tag]
        count = struct.unpack_from(">I", record.body, at)[0] if len(record.body) >= head else -1
        if len(record.body) != head + size * count:
            return f"{Tag(record.tag).name} with {count} parts in {len(record.body)} bytes"
    return ""


@dataclass
class Stream:
    """Takes all that comes over a connection, in a thread of its own, and cuts it into records as they arrive. `check` gets the
    bytes at once, of a binary stream in whole records."""

    connection: socket.socket
    binary: bool = True
    data: bytearray = field(default_factory=bytearray)
    records: list[Record] = field(default_factory=list)
    taken: int = 0  # bytes in whole records
    ended: bool = False
    stop_at: int | None = None  # close after so many bytes
    check: LiveCheck | None = None
    pieces: int = 0  # bytes in each packet that is sent; 0 for whole commands
    since: float = field(default_factory=time.monotonic)  # when the producer was started
    sent: int = 0
    fault: str = ""  # the first one of a record

    def __post_init__(self) -> None:
        self.changed = threading.Condition()
        self.checked = 0  # bytes that the check has
        self.thread = threading.Thread(target=self._take, daemon=True)
        self.thread.start()

    def _take(self) -> None:
        while True:
            try:
                piece = self.connection.recv(1 << 16)
            except OSError:
                piece = b""
            with self.changed:
                self.data += piece
                if self.binary:
                    self._cut()
                else:
                    self.taken = len(self.data)
                if self.check and self.taken > self.checked:
                    self.check.take(bytes(self.data[self.checked : self.taken]))
                    self.checked = self.taken
                if len(self.data) > MOST:
                    self.fault, piece = self.fault or f"more than {MOST} bytes", b""
                self.ended = not piece
                self.changed.notify_all()
            if not piece:
                return
            if self.stop_at is not None and len(self.data) >= self.stop_at:
                self.connection.close()
                return

    def _cut(self) -> None:
        if not self.taken:
            end = self.data.find(b"\0")
            if end < 0 or len(self.data) < end + 13:
                return
            self.taken = end + 13
        while len(self.data) - self.taken >= 9:
            tag, when, length = struct.unpack_from(">BII", self.data, self.taken)
            end = self.taken + 9 + length
            if len(self.data) < end:
                return
            record = Record(tag, when, bytes(self.data[self.taken + 9 : end]))
            before = self.records[-1].time if self.records else 0
            self.fault = self.fault or fault_of(record, before, time.monotonic() - self.since)
            self.records.append(record)
            self.taken = end

    def finish_check(self) -> str:
        """What is wrong with all that came so far, or nothing; what comes later is not checked."""
        with self.changed:
            check, self.check = self.check, None
        return self.fault or (check.finish() if check else "")

    def send(self, data: bytes) -> None:
        """A producer that has ended takes no more: its answers show whether it should have ended."""
        self.sent += len(data)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            if not self.pieces:
                self.connection.sendall(data)
                return
            self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for at in range(0, len(data), self.pieces):
                self.connection.sendall(data[at : at + self.pieces])

    def of(self, tag: Tag) -> list[Record]:
        with self.changed:
            return [record for record in self.records if record.tag == tag]

    def ask(self, data: bytes, tag: Tag, count: int = 1) -> list[Record]:
        """Sends, and waits until so many more records of the tag are there."""
        before = len(self.of(tag))
        self.send(data)
        return self.wait(tag, before + count)[before:]

    def wait(self, tag: Tag, count: int) -> list[Record]:
        with self.changed:
            found = self.changed.wait_for(lambda: self.ended or self._count(tag) >= count, PATIENCE)
        records = self.of(tag)
        if len(records) < count:
            reason = "the stream ended" if found else f"{PATIENCE:.0f} s went by"
            raise StreamError(f"{count - len(records)} records {tag.name} are missing: {reason}")
        return records

    def _count(self, tag: Tag) -> int:
        return sum(1 for record in self.records if record.tag == tag)

    def fence(self) -> None:
        """Until the agent has taken all commands so far."""
        self.ask(SUMMARY, Tag.HEAP_SUMMARY)

    def wait_text(self, word: bytes, count: int = 1) -> None:
        with self.changed:
            if not self.changed.wait_for(lambda: self.ended or self.data.count(word) >= count, PATIENCE):
                raise StreamError(f"{word!r} does not come")
        if self.data.count(word) < count:
            raise StreamError(f"the stream ended without {word!r}")

    def wait_end(self) -> None:
        with self.changed:
            if not self.changed.wait_for(lambda: self.ended, PATIENCE):
                raise StreamError("the stream does not end")


@dataclass(frozen=True)
class Summary:
    live_bytes: int
    live: int
    allocated_bytes: int
    allocated: int


def read_summary(record: Record) -> Summary:
    return Summary(*struct.unpack(">IIQQ", record.body))


@dataclass(frozen=True)
class Sites:
    flags: int
    cutoff: int
    live_bytes: int
    rows: list[tuple[int, ...]]  # array type, class, trace, live bytes and objects, allocated bytes and objects


def read_sites(record: Record) -> Sites:
    flags, cutoff, live_bytes, _, _, _, count = struct.unpack_from(">HIIIQQI", record.body)
    rows = [struct.unpack_from(">BIIIIII", record.body, 34 + 25 * i) for i in range(count)]
    if len(record.body) != 34 + 25 * count:
        raise StreamError("ALLOC_SITES has another length than its count says")
    return Sites(flags, cutoff, live_bytes, rows)


def read_samples(record: Record) -> tuple[int, dict[int, int]]:
    """All samples, and how many of each trace."""
    total, count = struct.unpack_from(">II", record.body)
    rows = [struct.unpack_from(">II", record.body, 8 + 8 * i) for i in range(count)]
    return total, {trace: samples for samples, trace in rows}
