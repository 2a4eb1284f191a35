"""The positions of all records and sub-records of a dump, by layouts.py. All code that reads dumps uses this module.

It repairs nothing: malformed bytes raise an error, which has the offset up to which the dump was read. The reader ends
there. The disassembler writes the malformed bytes in its notation and continues.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from hprof_corpus import layouts
from hprof_corpus.layouts import BASIC_TYPES, WIDTHS, Default, Field, Layout, Record

Data = bytes | memoryview

LONGEST_FORMAT = 64
RECORD_HEADER = struct.Struct(">BII")
LENGTH_AT = 5
_HEADER_NUMBERS = struct.Struct(">IQ")
_CODES = {"U1": "B", "U2": "H", "U4": "I", "U8": "Q", "I4": "i"}

# How to measure a tail of a sub-record that is not a count of entries of equal size.
BY_TYPE, BY_ENTRIES = -1, -2


class FramingError(Exception):
    """The rest cannot be read."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(f"{offset:#x}: {reason}")
        self.offset = offset
        self.reason = reason


@dataclass(frozen=True)
class Header:
    format: bytes
    id_size: int
    time: int
    size: int


def read_header(data: Data) -> Header | None:
    """None if there is no NUL where one could be expected, or too few bytes after it."""
    end = bytes(data[: LONGEST_FORMAT + 1]).find(b"\0")
    size = end + 1 + _HEADER_NUMBERS.size
    if end < 0 or len(data) < size:
        return None
    id_size, time = _HEADER_NUMBERS.unpack_from(data, end + 1)
    return Header(bytes(data[:end]), id_size, time, size)


class Framed(NamedTuple):
    """A record; its body ends with the file if that is shorter than the length says."""

    at: int
    tag: int
    time: int
    length: int
    body: int
    end: int

    @property
    def is_cut(self) -> bool:
        return self.end - self.body < self.length


def records(data: Data, at: int) -> Iterator[Framed]:
    """Records from `at` on. The bytes after the last one are too few for the header of a record."""
    size = len(data)
    while size - at >= RECORD_HEADER.size:
        tag, time, length = RECORD_HEADER.unpack_from(data, at)
        body = at + RECORD_HEADER.size
        end = min(body + length, size)
        yield Framed(at, tag, time, length, body, end)
        at = end


def field_width(field: Field, id_size: int) -> int:
    return id_size if field.type == "ID" else WIDTHS[field.type]


def struct_of(layout: Layout, id_size: int) -> struct.Struct:
    """Reads all fields of fixed size at once."""
    code_of_id = "I" if id_size == 4 else "Q"
    return struct.Struct(">" + "".join(code_of_id if f.type == "ID" else _CODES[f.type] for f in layout.fields))


@dataclass(frozen=True, slots=True)
class Shape:
    """A sub-record's layout for one size of IDs."""

    record: Record
    fields: struct.Struct
    unit: int  # bytes for each entry of the tail, 0 if there is no tail; or BY_TYPE, BY_ENTRIES
    counter: int  # the field that counts them
    type: int  # the field that gives their type


def _shape(record: Record, id_size: int) -> Shape:
    fields = record.layout.fields
    names = [field.name for field in fields]
    counter = next((i for i, field in enumerate(fields) if field.default is Default.COUNT), 0)
    type_at = names.index("type") if "type" in names else 0
    tail = record.layout.tail
    if tail == "class":
        unit = BY_ENTRIES
    elif tail == "ids":
        unit = id_size
    elif tail == "bytes":
        unit = BY_TYPE if type_at else 1
    else:
        unit = 0
    return Shape(record, struct_of(record.layout, id_size), unit, counter, type_at)


class Shapes:
    """All that depends on the size of IDs."""

    def __init__(self, id_size: int, since: int = 103) -> None:
        """The sub-records of a version; by default all."""
        self.id_size = id_size
        self.by_tag: list[Shape | None] = [None] * 256
        for record in layouts.SUBRECORDS:
            if record.since <= since:
                self.by_tag[record.tag] = _shape(record, id_size)
        self.widths = [0] * 256  # of the basic types
        for code, width in BASIC_TYPES.values():
            self.widths[code] = width or id_size
        self.constant = struct_of(layouts.CONSTANT, id_size)
        self.static = struct_of(layouts.STATIC_FIELD, id_size)
        self.field = struct_of(layouts.INSTANCE_FIELD, id_size)


class Entry(NamedTuple):
    """A constant or a static field, its value between `value` and `end`."""

    key: int  # index or name
    type: int
    value: int
    end: int


@dataclass(slots=True)
class ClassParts:
    """What follows the fixed part of a CLASS_DUMP, as far as it could be read."""

    constants: list[Entry]
    statics: list[Entry]
    fields: list[tuple[int, int]]  # name, type
    counts: list[int]  # of the three, as stated; fewer if the bytes end before
    end: int  # of what could be read
    fault: str = ""
    fault_at: int = 0
    bad_type: int | None = None  # of a constant or a static field, which is why it ended


_COUNT = struct.Struct(">H")
_CUT = "ends beyond its record"


def read_class_parts(
    data: Data, at: int, end: int, shapes: Shapes, widths: list[int] | None = None, taken: int | None = None
) -> ClassParts:
    """The bytes from `at` on, after the fixed part. Never raises: `fault` says why it ended.

    `widths` are those of the basic types, unless the type `taken` is to be taken for one too."""
    parts = ClassParts([], [], [], [], at)
    widths = widths or shapes.widths
    for entries, layout in ((parts.constants, shapes.constant), (parts.statics, shapes.static)):
        if at + 2 > end:
            parts.fault, parts.fault_at = _CUT, at
            return parts
        (count,) = _COUNT.unpack_from(data, at)
        parts.counts.append(count)
        at += 2
        parts.end = at
        size = layout.size
        for _ in range(count):
            value = at + size
            if value > end:
                parts.fault, parts.fault_at = _CUT, at
                return parts
            key, code = layout.unpack_from(data, at)
            width = widths[code]
            if not width and code != taken:
                parts.fault, parts.fault_at, parts.bad_type = f"{code} is no basic type", value - 1, code
                return parts
            if value + width > end:
                parts.fault, parts.fault_at = _CUT, at
                return parts
            at = value + width
            entries.append(Entry(key, code, value, at))
            parts.end = at
    if at + 2 > end:
        parts.fault, parts.fault_at = _CUT, at
        return parts
    (count,) = _COUNT.unpack_from(data, at)
    parts.counts.append(count)
    at += 2
    whole = min(count, (end - at) // shapes.field.size)
    parts.end = at + whole * shapes.field.size
    parts.fields = list(shapes.field.iter_unpack(data[at : parts.end]))
    if whole < count:
        parts.fault, parts.fault_at = _CUT, parts.end
    return parts


class SubrecordError(FramingError):
    """A sub-record that cannot be read to its end, and how far it can."""

    def __init__(self, at: int, shape: Shape | None, offset: int, reason: str) -> None:
        super().__init__(offset, reason)
        self.at = at
        self.shape = shape  # None if the tag is undefined


# Shape, offset of the tag, the fields, the tail and its end.
Subrecord = tuple[Shape, int, tuple[int, ...], int, int]


def subrecords(data: Data, at: int, end: int, shapes: Shapes) -> Iterator[Subrecord]:
    """The sub-records between `at` and `end`. Raises SubrecordError at the first malformed one."""
    by_tag, widths = shapes.by_tag, shapes.widths
    while at < end:
        shape = by_tag[data[at]]
        if shape is None:
            raise SubrecordError(at, None, at, f"{data[at]:#04x} is no tag of a sub-record")
        tail = at + 1 + shape.fields.size
        if tail > end:
            raise SubrecordError(at, shape, at, f"{shape.record.name} {_CUT}")
        fields = shape.fields.unpack_from(data, at + 1)
        unit = shape.unit
        if not unit:
            stop = tail
        elif unit > 0:
            stop = tail + fields[shape.counter] * unit
        elif unit == BY_TYPE:
            width = widths[fields[shape.type]]
            if not width:
                raise SubrecordError(at, shape, tail - 1, f"{fields[shape.type]} is no basic type")
            stop = tail + fields[shape.counter] * width
        else:
            parts = read_class_parts(data, tail, end, shapes)
            if parts.fault:
                offset = at if parts.fault is _CUT else parts.fault_at
                raise SubrecordError(at, shape, offset, f"{shape.record.name}: {parts.fault}")
            stop = parts.end
        if stop > end:
            raise SubrecordError(at, shape, at, f"{shape.record.name} {_CUT}")
        yield shape, at, fields, tail, stop
        at = stop
