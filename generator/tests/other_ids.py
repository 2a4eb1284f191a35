"""The same heap under other IDs: what another run of a program, or another JVM, writes of it."""

import random
from dataclasses import dataclass, field

WIDTHS = {4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
OBJECT = 2
UTF8, LOAD_CLASS, FRAME, TRACE, START_THREAD = 0x01, 0x02, 0x04, 0x05, 0x0A
HEAP = (0x0C, 0x1C)
# How many IDs and how many bytes follow the tag of a root.
ROOTS = {0xFF: (1, 0), 1: (2, 0), 2: (1, 8), 3: (1, 8), 4: (1, 4), 5: (1, 0), 6: (1, 4), 7: (1, 0), 8: (1, 8)}
# The bodies of other records with IDs: I for an ID, numbers for bytes.
RECORDS: dict[int, list[int | str]] = {
    LOAD_CLASS: [4, "I", 4, "I"],
    FRAME: ["I", "I", "I", "I", 8],
    START_THREAD: [4, "I", 4, "I", "I", "I"],
}


@dataclass
class Source:
    data: bytes
    id_size: int
    at: int = 0

    def number(self, size: int) -> int:
        self.at += size
        assert self.at <= len(self.data)
        return int.from_bytes(self.data[self.at - size : self.at], "big")

    def take(self, size: int) -> bytes:
        self.at += size
        assert self.at <= len(self.data)
        return self.data[self.at - size : self.at]


@dataclass
class Renumbering:
    id_size: int
    dice: random.Random
    ids: dict[int, int] = field(default_factory=lambda: {0: 0})
    taken: set[int] = field(default_factory=lambda: {0})
    fields: dict[int, tuple[int, list[int]]] = field(default_factory=dict)  # by class: its superclass, the types of its fields
    knows_all: bool = False  # whether `fields` has all classes: in the second reading

    def id(self, source: Source) -> bytes:
        old = source.number(source.id_size)
        while old not in self.ids:
            new = self.dice.randrange(1 << (8 * self.id_size))
            if new not in self.taken:
                self.taken.add(new)
                self.ids[old] = new
        return self.ids[old].to_bytes(self.id_size, "big")

    def value(self, source: Source, kind: int) -> bytes:
        return self.id(source) if kind == OBJECT else source.take(WIDTHS[kind])


def class_dump(source: Source, to: Renumbering) -> bytes:
    own = source.data[source.at : source.at + source.id_size]
    out = to.id(source) + source.take(4)
    parent = int.from_bytes(source.data[source.at : source.at + source.id_size], "big")
    out += b"".join(to.id(source) for _ in range(6))
    size = source.number(4)
    tail = b""
    for has_name in (False, True):
        count = source.take(2)
        tail += count
        for _ in range(int.from_bytes(count, "big")):
            tail += to.id(source) if has_name else source.take(2)
            kind = source.take(1)
            tail += kind + to.value(source, kind[0])
    count = source.take(2)
    tail += count
    kinds = []
    for _ in range(int.from_bytes(count, "big")):
        tail += to.id(source)
        kinds.append(source.number(1))
        tail += bytes([kinds[-1]])
    to.fields[int.from_bytes(own, "big")] = parent, kinds
    if size:
        size = size_of(to, int.from_bytes(own, "big"))
    return out + size.to_bytes(4, "big") + tail


def size_of(to: Renumbering, of_class: int) -> int:
    """Of the fields, with those of the superclasses."""
    size = 0
    while of_class in to.fields:
        of_class, kinds = to.fields[of_class]
        size += sum(to.id_size if kind == OBJECT else WIDTHS[kind] for kind in kinds)
    return size


def instance(source: Source, to: Renumbering) -> bytes:
    out = to.id(source) + source.take(4)
    kind = int.from_bytes(source.data[source.at : source.at + source.id_size], "big")
    out += to.id(source)
    end = source.number(4) + source.at
    body = b""
    while kind in to.fields and to.knows_all:
        kind, kinds = to.fields[kind]
        body += b"".join(to.value(source, each) for each in kinds)
    assert source.at == end or not to.knows_all, "an instance of another length than its class says"
    source.at = end
    return out + len(body).to_bytes(4, "big") + body


def sub_record(source: Source, to: Renumbering) -> bytes:
    tag = source.take(1)
    if tag[0] in ROOTS:
        ids, more = ROOTS[tag[0]]
        return tag + b"".join(to.id(source) for _ in range(ids)) + source.take(more)
    if tag[0] == 0x20:
        return tag + class_dump(source, to)
    if tag[0] == 0x21:
        return tag + instance(source, to)
    head = tag + to.id(source) + source.take(4)
    count = source.take(4)
    number = int.from_bytes(count, "big")
    if tag[0] == 0x22:
        return head + count + b"".join(to.id(source) for _ in range(number + 1))
    assert tag[0] == 0x23, f"no sub-record has the tag {tag[0]:#x}"
    kind = source.take(1)
    return head + count + kind + source.take(number * WIDTHS[kind[0]])


def record(source: Source, to: Renumbering, shuffle: bool) -> bytes:
    tag, time, length = source.take(1), source.take(4), source.number(4)
    end = source.at + length
    parts = []
    if tag[0] in HEAP:
        while source.at < end:
            parts.append(sub_record(source, to))
        if shuffle:
            to.dice.shuffle(parts)
    elif tag[0] == UTF8:
        parts = [to.id(source), source.take(end - source.at)]
    elif tag[0] == TRACE:
        parts = [source.take(12)] + [to.id(source) for _ in range((length - 12) // source.id_size)]
    elif tag[0] in RECORDS:
        parts = [to.id(source) if each == "I" else source.take(int(each)) for each in RECORDS[tag[0]]]
    parts.append(source.take(end - source.at))
    body = b"".join(parts)
    return tag + time + len(body).to_bytes(4, "big") + body


def renumber(data: bytes, dice: random.Random, id_size: int | None = None, shuffle: bool = False) -> bytes:
    """All IDs drawn anew, of another size if it is given; with `shuffle`, sub-records in any order within their record."""
    at = data.index(0) + 1
    old_size = int.from_bytes(data[at : at + 4], "big")
    to = Renumbering(id_size or old_size, dice)
    out: list[bytes] = []
    for to.knows_all in (False, True):
        source = Source(data, old_size, at + 12)
        out = [data[:at], to.id_size.to_bytes(4, "big"), data[at + 4 : at + 12]]
        while source.at < len(data):
            out.append(record(source, to, shuffle))
    return b"".join(out)
