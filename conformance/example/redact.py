#!/usr/bin/env python3
"""redact.py IN OUT: a small redactor. It writes zeros in place of all values that are no references, and stars in place of the text
of strings that name neither a class, a field, nor a part of a stack. Classes, objects and links stay."""

import gzip
import sys
from pathlib import Path

WIDTHS = {4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
OBJECT = 2
UTF8, LOAD_CLASS, FRAME = 0x01, 0x02, 0x04
HEAP = (0x0C, 0x1C)
# How many IDs and how many bytes follow the tag of a root.
ROOTS = {0xFF: (1, 0), 1: (2, 0), 2: (1, 8), 3: (1, 8), 4: (1, 4), 5: (1, 0), 6: (1, 4), 7: (1, 0), 8: (1, 8)}


class Dump:
    """The bytes of a dump, which are changed where they are: no length changes."""

    def __init__(self, data: bytes) -> None:
        self.data = bytearray(data)
        self.at = self.data.index(0) + 1
        self.id_size = 4
        self.id_size = self.number(4)
        self.keep(8)  # the time
        self.start = self.at
        self.fields: dict[int, tuple[int, list[int]]] = {}  # by class: its superclass, the types of its fields
        self.names: set[int] = set()

    def keep(self, length: int) -> None:
        if length > len(self.data) - self.at:
            raise ValueError(f"offset {self.at}: the dump ends early")
        self.at += length

    def blank(self, length: int, byte: bytes = b"\0") -> None:
        self.keep(length)
        self.data[self.at - length : self.at] = length * byte

    def number(self, length: int) -> int:
        self.keep(length)
        return int.from_bytes(self.data[self.at - length : self.at], "big")

    def id(self) -> int:
        return self.number(self.id_size)

    def records(self) -> "list[tuple[int, int, int]]":
        """Tag, offset and length of each body."""
        self.at = self.start
        found = []
        while self.at < len(self.data):
            tag, _, length = self.number(1), self.number(4), self.number(4)
            found.append((tag, self.at, length))
            self.keep(length)
        return found


def width_of(out: Dump, kind: int) -> int:
    return out.id_size if kind == OBJECT else WIDTHS[kind]


def class_dump(out: Dump) -> None:
    own, _, parent = out.id(), out.number(4), out.id()
    out.keep(5 * out.id_size + 4)
    for _ in range(out.number(2)):
        out.keep(2)
        width, kind = typed(out)
        if kind == OBJECT:
            out.keep(width)
        else:
            out.blank(width)
    for _ in range(out.number(2)):
        out.names.add(out.id())
        width, kind = typed(out)
        if kind == OBJECT:
            out.keep(width)
        else:
            out.blank(width)  # a static field
    kinds = []
    for _ in range(out.number(2)):
        out.names.add(out.id())
        kinds.append(out.number(1))
    out.fields[own] = parent, kinds


def typed(out: Dump) -> tuple[int, int]:
    kind = out.number(1)
    return width_of(out, kind), kind


def sub_record(out: Dump, redact: bool) -> None:
    """The first pass only collects the fields of classes and the names."""
    tag = out.number(1)
    if tag in ROOTS:
        ids, more = ROOTS[tag]
        out.keep(ids * out.id_size + more)
    elif tag == 0x20:
        class_dump(out)
    elif tag == 0x21:
        out.keep(out.id_size + 4)
        kind, length = out.id(), out.number(4)
        if redact:
            instance(out, kind, length)
        else:
            out.keep(length)
    elif tag == 0x22:
        out.keep(out.id_size + 4)
        number = out.number(4)
        out.keep(out.id_size)
        out.keep(number * out.id_size)
    elif tag == 0x23:
        out.keep(out.id_size + 4)
        number, kind = out.number(4), out.number(1)
        out.blank(number * WIDTHS[kind])
    else:
        raise ValueError(f"offset {out.at - 1}: no sub-record has the tag {tag:#x}")


def instance(out: Dump, kind: int, length: int) -> None:
    end = out.at + length
    while kind in out.fields and out.at < end:
        kind, kinds = out.fields[kind]
        for each in kinds:
            if each == OBJECT:
                out.keep(out.id_size)
            else:
                out.blank(WIDTHS[each])
    out.blank(end - out.at)  # of a class that is not there


def redact(data: bytes) -> bytes:
    out = Dump(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    all_records = out.records()
    for last in (False, True):
        for tag, at, length in all_records:
            out.at = at
            if tag in HEAP:
                while out.at < at + length:
                    sub_record(out, last)
            elif tag == LOAD_CLASS:
                out.keep(8 + out.id_size)
                out.names.add(out.id())
            elif tag == FRAME:
                out.keep(out.id_size)
                out.names |= {out.id() for _ in range(3)}
    for tag, at, length in all_records:
        out.at = at
        if tag == UTF8 and out.id() not in out.names:
            out.blank(length - out.id_size, b"*")
    return bytes(out.data)


def main() -> None:
    source, target = map(Path, sys.argv[1:])
    target.write_bytes(redact(source.read_bytes()))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)  # as the shell reports SIGINT
