#!/usr/bin/env python3
"""A small reader that speaks the protocol of the conformance matrix. It is written from PROTOCOL.md and SPEC.md alone, and uses
nothing else of this project."""

import gzip
import hashlib
import json
import sys
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

# By the tag of a root: its kind, how many IDs and how many other bytes follow.
ROOTS = {
    0x01: ("ROOT_JNI_GLOBAL", 2, 0),
    0x02: ("ROOT_JNI_LOCAL", 1, 8),
    0x03: ("ROOT_JAVA_FRAME", 1, 8),
    0x04: ("ROOT_NATIVE_STACK", 1, 4),
    0x05: ("ROOT_STICKY_CLASS", 1, 0),
    0x06: ("ROOT_THREAD_BLOCK", 1, 4),
    0x07: ("ROOT_MONITOR_USED", 1, 0),
    0x08: ("ROOT_THREAD_OBJECT", 1, 8),
    0xFF: ("ROOT_UNKNOWN", 1, 0),
}
KINDS = [kind for kind, _, _ in ROOTS.values()]
NAME = "example"
HELLO: dict[str, Any] = {
    "protocol": 1,
    "name": NAME,
    "version": "1",
    "bugs": "https://example.org/bugs",
    "unsupported": {"version-1.0.3": "the versions of Java alone"},
    "counts": ["strings", "classes", "instances", "object_arrays", "primitive_arrays", "objects", "roots", *KINDS, "ends"],
    "digests": ["instance_bytes", "object_arrays", "primitive_arrays", "roots"],
    "references": "exact",
}
HEADERS = {b"JAVA PROFILE 1.0.1", b"JAVA PROFILE 1.0.2"}
WIDTHS = {4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
OBJECT, BOOLEAN = 2, 4
UTF8, HEAP_DUMP, SEGMENT, END = 0x01, 0x0C, 0x1C, 0x2C


class MalformedError(Exception):
    pass


class Cursor:
    """Reads forward, and never beyond the end."""

    def __init__(self, data: memoryview, at: int, end: int, id_size: int) -> None:
        self.data, self.at, self.end, self.id_size = data, at, end, id_size

    def bytes(self, length: int) -> bytes:
        if length > self.end - self.at:
            raise MalformedError(f"offset {self.at}: {length} bytes are due, and {self.end - self.at} are left")
        self.at += length
        return bytes(self.data[self.at - length : self.at])

    def number(self, length: int) -> int:
        return int.from_bytes(self.bytes(length), "big")

    def id(self) -> int:
        return self.number(self.id_size)

    def value(self, kind: int) -> None:
        if kind != OBJECT and kind not in WIDTHS:
            raise MalformedError(f"offset {self.at}: no type is {kind}")
        self.bytes(self.id_size if kind == OBJECT else WIDTHS[kind])


class Found:
    """What a dump holds."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.strings: set[int] = set()
        self.items = {name: [0, 0] for name in HELLO["digests"]}  # how many, and the sum of their hashes

    def add(self, entry: str, word: str, *parts: "int | bytes") -> None:
        encoded = b""
        for part in (word.encode(), *parts):
            part = part.to_bytes(8, "big") if isinstance(part, int) else part
            encoded += len(part).to_bytes(4, "big") + part
        item = self.items[entry]
        item[0] += 1
        item[1] = (item[1] + int.from_bytes(hashlib.sha256(encoded).digest()[:16], "big")) % (1 << 128)

    def reply(self) -> dict[str, Any]:
        objects = sum(self.counts[name] for name in ("instances", "object_arrays", "primitive_arrays"))
        counts = {**self.counts, "strings": len(self.strings), "objects": objects}
        return {
            "counts": {name: counts.get(name, 0) for name in HELLO["counts"]},
            "digests": {name: {"count": number, "sum": f"{total:032x}"} for name, (number, total) in self.items.items()},
        }


def class_dump(cursor: Cursor) -> None:
    cursor.bytes(cursor.id_size + 4 + 6 * cursor.id_size + 4)
    for _ in range(cursor.number(2)):  # constants
        cursor.bytes(2)
        cursor.value(cursor.number(1))
    for _ in range(cursor.number(2)):  # static fields
        cursor.id()
        cursor.value(cursor.number(1))
    for _ in range(cursor.number(2)):  # fields
        cursor.id()
        if (kind := cursor.number(1)) != OBJECT and kind not in WIDTHS:
            raise MalformedError(f"offset {cursor.at - 1}: no type is {kind}")


def sub_record(cursor: Cursor, found: Found) -> None:
    tag = cursor.number(1)
    if tag in ROOTS:
        root, ids, more = ROOTS[tag]
        target, _ = cursor.id(), cursor.bytes((ids - 1) * cursor.id_size + more)
        if target:
            found.add("roots", "root", root.encode(), target)
        found.counts.update(["roots", root])
    elif tag == 0x20:
        class_dump(cursor)
        found.counts["classes"] += 1
    elif tag == 0x21:
        own, _, kind = cursor.id(), cursor.bytes(4), cursor.id()
        found.add("instance_bytes", "instance bytes", own, kind, cursor.bytes(cursor.number(4)))
        found.counts["instances"] += 1
    elif tag == 0x22:
        own, _, number, kind = cursor.id(), cursor.bytes(4), cursor.number(4), cursor.id()
        elements = cursor.bytes(number * cursor.id_size)
        wide = elements if cursor.id_size == 8 else b"".join(bytes(4) + elements[at : at + 4] for at in range(0, 4 * number, 4))
        found.add("object_arrays", "object array", own, kind, wide)
        found.counts["object_arrays"] += 1
    elif tag == 0x23:
        own, _, number, kind = cursor.id(), cursor.bytes(4), cursor.number(4), cursor.number(1)
        if kind not in WIDTHS:
            raise MalformedError(f"offset {cursor.at - 1}: no type of elements is {kind}")
        elements = cursor.bytes(number * WIDTHS[kind])
        if kind == BOOLEAN:
            elements = bytes(1 if one else 0 for one in elements)
        found.add("primitive_arrays", "primitive array", own, bytes([kind]), elements)
        found.counts["primitive_arrays"] += 1
    else:
        raise MalformedError(f"offset {cursor.at - 1}: no sub-record has the tag {tag:#x}")


def read(data: bytes) -> Found:
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    header, nul, _ = data[:32].partition(b"\0")
    if header not in HEADERS or not nul:
        raise MalformedError("no header of a heap dump")
    top = Cursor(memoryview(data), len(header) + 1, len(data), 4)
    top.id_size = top.number(4)
    if top.id_size not in (4, 8):
        raise MalformedError(f"IDs have {top.id_size} bytes")
    top.bytes(8)  # the time
    found = Found()
    while top.at < top.end:
        tag, _, length = top.number(1), top.bytes(4), top.number(4)
        body = top.at
        top.bytes(length)
        if tag == UTF8:
            found.strings.add(Cursor(top.data, body, top.at, top.id_size).id())
        elif tag in (HEAP_DUMP, SEGMENT):
            within = Cursor(top.data, body, top.at, top.id_size)
            while within.at < within.end:
                sub_record(within, found)
        elif tag == END:
            found.counts["ends"] += 1
    return found


def answer(file: str) -> dict[str, Any]:
    try:
        return {"outcome": "accepted", **read(Path(file).read_bytes()).reply()}
    except (MalformedError, EOFError, OSError, ValueError, zlib.error) as error:  # what gzip raises
        return {"outcome": "rejected", "message": str(error)}


def main() -> None:
    print(json.dumps(HELLO), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps({"case": asked["case"], **answer(asked["file"])}), flush=True)


if __name__ == "__main__":
    main()
