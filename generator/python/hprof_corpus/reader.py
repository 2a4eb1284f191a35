"""Counts the contents of a dump: an independent check of the manifest of a generator, and of a validator.

It validates nothing. A fault of the framing ends it, with the offset. Other faults do not: an instance whose class is
not dumped, or has another size, is counted, but its references are not.

    python -m hprof_corpus.reader DUMP          prints the counts as JSON; - is standard input; gzip is recognised by its content
"""

from __future__ import annotations

import argparse
import hashlib
import json
import struct
import sys
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Literal

from hprof_corpus import layouts
from hprof_corpus.inflate import TRAILER, inflate, read_member_header
from hprof_corpus.layouts import BASIC_TYPES, Default, Record
from hprof_corpus.source import is_gzip, mapped, open_bytes, spool
from hprof_corpus.target import standard_output
from hprof_corpus.walk import (
    LENGTH_AT,
    ClassParts,
    Entry,
    Framed,
    FramingError,
    Shapes,
    Subrecord,
    read_class_parts,
    read_header,
    records,
    struct_of,
    subrecords,
)

_VERSIONS = {b"JAVA PROFILE 1.0.1": 101, b"JAVA PROFILE 1.0.2": 102, b"JAVA PROFILE 1.0.3": 103}
_RECORDS = {record.tag: record for record in layouts.RECORDS}
_SERIES, _END = "HEAP_DUMP_SEGMENT", "HEAP_DUMP_END"
_OBJECT = BASIC_TYPES["object"][0]
_TYPES = {code: name for name, (code, _) in BASIC_TYPES.items()}
_RESERVED_FLAGS = 0xE0
_ELEMENTS_AT_ONCE = 1 << 16


@dataclass
class References:
    """IDs of type object, in one kind of place."""

    all: int = 0
    not_null: int = 0


@dataclass
class ClassCounts:
    """A class that is loaded, dumped, or named by an object; over all heap dumps."""

    id: int
    name: str | None = None  # as its first LOAD_CLASS gives it
    super_id: int | None = None  # of its first CLASS_DUMP
    loads: int = 0
    dumps: int = 0
    instances: int = 0
    instance_bytes: int = 0  # of the values of fields, all instances together
    arrays: int = 0  # object arrays of this class
    elements: int = 0


@dataclass
class ArrayCounts:
    """Arrays of one primitive type."""

    arrays: int = 0
    elements: int = 0


@dataclass
class Counts:
    version: str
    id_size: int
    time: int
    compressed: bool
    bytes: int  # of the dump, decompressed
    sha256: str
    file_bytes: int
    file_sha256: str
    records: dict[str, int] = field(default_factory=dict)
    sub_records: dict[str, int] = field(default_factory=dict)
    heap_dumps: int = 0  # a HEAP_DUMP, or segments up to their end
    strings: int = 0  # IDs, each counted once
    string_bytes: int = 0
    roots: dict[str, int] = field(default_factory=dict)
    instances: int = 0
    instance_bytes: int = 0
    instances_not_followed: int = 0  # whose class is unknown, or has another size
    object_arrays: int = 0
    elements: int = 0  # of object arrays
    primitive_arrays: int = 0
    primitive_arrays_by_type: dict[str, ArrayCounts] = field(default_factory=dict)
    references: References = field(default_factory=References)
    references_in: dict[str, References] = field(default_factory=dict)  # fields, elements, statics, constants
    deepest_chain: int = 0  # classes from one up to the one without a superclass, itself included
    classes: list[ClassCounts] = field(default_factory=list)


@dataclass
class _Class:
    """A class of one heap dump."""

    super_id: int
    types: bytes


@dataclass(slots=True)
class _Plan:
    """How to read the references of an instance."""

    size: int
    references: struct.Struct | None  # of them alone
    count: int


class _HeapDump:
    """The state of one heap dump: its classes, and the instances that precede their class."""

    def __init__(self) -> None:
        self.classes: dict[int, _Class] = {}
        self.plans: dict[int, _Plan] = {}
        self.waiting: dict[int, array[int]] = {}  # by class: where the values begin, and how many bytes they are


def _length_fault(record: Record, framed: Framed, what: str) -> FramingError:
    return FramingError(framed.at + LENGTH_AT, f"{record.name} of {framed.length} bytes {what}")


class _Reader:
    def __init__(self, data: memoryview, counts: Counts, since: int) -> None:
        self._data = data
        self._counts = counts
        self._shapes = Shapes(counts.id_size, since)
        self._structs = {record.tag: struct_of(record.layout, counts.id_size) for record in layouts.RECORDS}
        self._id_code: Literal["I", "Q"] = "I" if counts.id_size == 4 else "Q"
        self._strings: dict[int, bytes] = {}
        self._names: dict[int, int] = {}
        self._classes: dict[int, ClassCounts] = {}
        self._places = {name: References() for name in ("fields", "elements", "statics", "constants")}
        self._by_type = {name: ArrayCounts() for name in BASIC_TYPES if name != "object"}
        self._sub_records = dict.fromkeys((r.name for r in layouts.SUBRECORDS if r.since <= since), 0)
        self._series: _HeapDump | None = None

    def read(self, at: int) -> None:
        found: Counter[str] = Counter()
        end = at
        for framed in records(self._data, at):
            record = _RECORDS.get(framed.tag)
            if record is None:
                raise FramingError(framed.at, f"{framed.tag:#04x} is no tag of a record")
            if framed.is_cut:
                raise _length_fault(record, framed, "ends beyond the file")
            found[record.name] += 1
            self._record(record, framed)
            end = framed.end
        if end < len(self._data):
            raise FramingError(end, "the header of a record ends beyond the file")
        self._close_series()
        self._finish(found)

    # ---- records

    def _record(self, record: Record, framed: Framed) -> None:
        if record.layout.tail == "subrecords":
            self._heap_record(record, framed)
            return
        fixed = self._structs[record.tag]
        if framed.length < fixed.size:
            raise _length_fault(record, framed, "is too short")
        fields = fixed.unpack_from(self._data, framed.body)
        rest = framed.length - fixed.size
        if record.name == "UTF8":
            self._counts.string_bytes += rest
            self._strings.setdefault(fields[0], bytes(self._data[framed.body + fixed.size : framed.end]))
            return
        if rest != self._expected_tail(record, fields):
            raise _length_fault(record, framed, "should have another length")
        if record.name == "LOAD_CLASS":
            _, class_id, _, name = fields
            self._class(class_id).loads += 1
            self._names.setdefault(class_id, name)
        elif record.name == _END:
            self._close_series()

    def _expected_tail(self, record: Record, fields: tuple[int, ...]) -> int:
        sizes = {"ids": self._counts.id_size, "sites": self._size(layouts.SITE), "traces": self._size(layouts.SAMPLE)}
        if record.layout.tail not in sizes:
            return 0
        counter = next(i for i, one in enumerate(record.layout.fields) if one.default is Default.COUNT)
        return fields[counter] * sizes[record.layout.tail]

    def _size(self, layout: layouts.Layout) -> int:
        return struct_of(layout, self._counts.id_size).size

    def _heap_record(self, record: Record, framed: Framed) -> None:
        if record.name == _SERIES:
            if self._series is None:
                self._series = self._open()
            self._walk(self._series, framed)
        else:
            dump = self._open()
            self._walk(dump, framed)
            self._close(dump)

    def _open(self) -> _HeapDump:
        self._counts.heap_dumps += 1
        return _HeapDump()

    def _close_series(self) -> None:
        if self._series is not None:
            self._close(self._series)
            self._series = None

    # ---- sub-records

    def _walk(self, dump: _HeapDump, framed: Framed) -> None:
        data, sub_records, plans, classes = self._data, self._sub_records, dump.plans, self._classes
        fields_of_objects = self._places["fields"]
        for item in subrecords(data, framed.body, framed.end, self._shapes):
            shape, _, fields, tail, stop = item
            name = shape.record.name
            sub_records[name] += 1
            if name == "INSTANCE_DUMP":
                class_id = fields[2]
                size = stop - tail
                plan = plans.get(class_id)
                if plan is None and class_id not in dump.waiting:
                    plan = self._plan(dump, class_id)
                one = classes.get(class_id) or self._class(class_id)
                one.instances += 1
                one.instance_bytes += size
                if plan is None:
                    dump.waiting.setdefault(class_id, array("Q")).extend((tail, size))
                elif plan.size != size:
                    self._counts.instances_not_followed += 1
                elif plan.references is not None:
                    values = plan.references.unpack_from(data, tail)
                    fields_of_objects.all += plan.count
                    fields_of_objects.not_null += plan.count - values.count(0)
            elif name == "OBJECT_ARRAY_DUMP":
                self._object_array(item)
            elif name == "PRIMITIVE_ARRAY_DUMP" or name == "PRIMITIVE_ARRAY_NODATA":
                self._primitive_array(item)
            elif name == "CLASS_DUMP":
                self._class_dump(dump, item)

    def _class(self, class_id: int) -> ClassCounts:
        found = self._classes.get(class_id)
        if found is None:
            found = self._classes[class_id] = ClassCounts(class_id)
        return found

    def _class_dump(self, dump: _HeapDump, item: Subrecord) -> None:
        _, _, fields, tail, stop = item
        class_id, super_id = fields[0], fields[2]
        parts: ClassParts = read_class_parts(self._data, tail, stop, self._shapes)
        self._values(self._places["constants"], parts.constants)
        self._values(self._places["statics"], parts.statics)
        one = self._class(class_id)
        one.dumps += 1
        if one.super_id is None:
            one.super_id = super_id
        dump.classes.setdefault(class_id, _Class(super_id, bytes(code for _, code in parts.fields)))

    def _values(self, place: References, entries: list[Entry]) -> None:
        for entry in entries:
            if entry.type == _OBJECT:
                place.all += 1
                place.not_null += any(self._data[entry.value : entry.end])

    def _object_array(self, item: Subrecord) -> None:
        _, _, fields, tail, stop = item
        elements, class_id = fields[2], fields[3]
        one = self._class(class_id)
        one.arrays += 1
        one.elements += elements
        place = self._places["elements"]
        place.all += elements
        step = _ELEMENTS_AT_ONCE * self._counts.id_size
        for at in range(tail, stop, step):
            # Zero is zero in any byte order.
            ids = self._data[at : min(at + step, stop)].cast(self._id_code).tolist()
            place.not_null += len(ids) - ids.count(0)

    def _primitive_array(self, item: Subrecord) -> None:
        shape, _, fields, tail, _ = item
        name = _TYPES.get(fields[3], "")
        if name not in self._by_type:
            raise FramingError(tail - 1, f"{shape.record.name}: {fields[3]} is no primitive type")
        self._by_type[name].arrays += 1
        self._by_type[name].elements += fields[2]

    # ---- instances

    def _chain(self, dump: _HeapDump, class_id: int) -> Iterator[_Class | None]:
        """A class and its superclasses. The last is None if it is undefined, or if the chain is a cycle."""
        seen: set[int] = set()
        while class_id or not seen:
            found = dump.classes.get(class_id) if class_id not in seen else None
            yield found
            if found is None:
                return
            seen.add(class_id)
            class_id = found.super_id

    def _plan(self, dump: _HeapDump, class_id: int) -> _Plan | None:
        """None if a class is not known yet."""
        types = bytearray()
        for one in self._chain(dump, class_id):
            if one is None:
                return None
            types += one.types
        plan = dump.plans[class_id] = self._plan_of(types)
        return plan

    def _plan_of(self, types: bytearray) -> _Plan:
        widths = self._shapes.widths
        code, size, count, skipped = [">"], 0, 0, 0
        for one in types:
            if not widths[one]:
                return _Plan(-1, None, 0)
            if one == _OBJECT:
                code.append(f"{skipped}x{self._id_code}")
                count, skipped = count + 1, 0
            else:
                skipped += widths[one]
            size += widths[one]
        return _Plan(size, struct.Struct("".join(code)) if count else None, count)

    def _close(self, dump: _HeapDump) -> None:
        """Counts the instances that waited for their class, and the depths of the chains."""
        place = self._places["fields"]
        for class_id, where in dump.waiting.items():
            plan = self._plan(dump, class_id)
            for tail, size in zip(where[::2], where[1::2], strict=True):
                if plan is None or plan.size != size:
                    self._counts.instances_not_followed += 1
                elif plan.references is not None:
                    values = plan.references.unpack_from(self._data, tail)
                    place.all += plan.count
                    place.not_null += plan.count - values.count(0)
        self._note_depths(dump)

    def _note_depths(self, dump: _HeapDump) -> None:
        """An undefined superclass counts nothing, and neither does a class in a cycle."""
        depths: dict[int, int] = {0: 0}
        for class_id in dump.classes:
            chain: list[int] = []
            seen: set[int] = set()
            at = class_id
            while at not in depths and at in dump.classes and at not in seen:
                seen.add(at)
                chain.append(at)
                at = dump.classes[at].super_id
            endless = at in seen or depths.get(at, 0) < 0
            depth = depths.get(at, 0)
            for one in reversed(chain):
                depth = -1 if endless else depth + 1
                depths[one] = depth
        self._counts.deepest_chain = max(self._counts.deepest_chain, *depths.values())

    # ---- the sum

    def _finish(self, found: Counter[str]) -> None:
        counts = self._counts
        counts.records = {record.name: found[record.name] for record in layouts.RECORDS}
        counts.sub_records = self._sub_records
        counts.roots = {name: n for name, n in self._sub_records.items() if name.startswith("ROOT_")}
        counts.strings = len(self._strings)
        counts.instances = self._sub_records["INSTANCE_DUMP"]
        counts.object_arrays = self._sub_records["OBJECT_ARRAY_DUMP"]
        counts.primitive_arrays = sum(one.arrays for one in self._by_type.values())
        counts.primitive_arrays_by_type = self._by_type
        counts.classes = list(self._classes.values())
        counts.instance_bytes = sum(one.instance_bytes for one in counts.classes)
        counts.elements = sum(one.elements for one in counts.classes)
        counts.references_in = self._places
        counts.references.all = sum(one.all for one in self._places.values())
        counts.references.not_null = sum(one.not_null for one in self._places.values())
        for one in counts.classes:
            name = self._strings.get(self._names.get(one.id, 0))
            one.name = None if name is None else name.decode("utf-8", "backslashreplace")


def decompressed(data: memoryview) -> memoryview:
    """The content of the gzip members of a file. Raises FramingError, with the offset in the file."""
    with spool() as file:
        at = 0
        while at < len(data):
            if at and not data[at] and not bytes(data[at:]).strip(b"\0"):
                break  # zeros after the last member (SPEC.md 8.1)
            header = read_member_header(data, at)
            sound = header is not None and header.compression == 8 and header.header_crc_is_right
            if header is None or not sound or header.flags & _RESERVED_FLAGS:
                raise FramingError(at, "no sound header of a gzip member")
            found = inflate(data, header.end, file.write)
            if found.fault or len(data) - found.end < TRAILER.size:
                raise FramingError(at, found.fault or "the gzip member is cut")
            if TRAILER.unpack_from(data, found.end) != (found.crc, found.size & 0xFFFFFFFF):
                raise FramingError(found.end, "the checksum or the size of the gzip member is wrong")
            at = found.end + TRAILER.size
        return mapped(file)


def count(file: memoryview) -> Counts:
    """The counts of a dump, plain or gzip. Raises FramingError."""
    data = decompressed(file) if is_gzip(file) else file
    header = read_header(data)
    if header is None or header.format not in _VERSIONS:
        raise FramingError(0, "no header of a dump")
    if header.id_size not in (4, 8):
        raise FramingError(header.size - 12, f"IDs of {header.id_size} bytes")
    sha256 = hashlib.sha256(data).hexdigest()
    counts = Counts(
        version=header.format.decode().removeprefix("JAVA PROFILE "),
        id_size=header.id_size,
        time=header.time,
        compressed=data is not file,
        bytes=len(data),
        sha256=sha256,
        file_bytes=len(file),
        file_sha256=sha256 if data is file else hashlib.sha256(file).hexdigest(),
    )
    _Reader(data, counts, _VERSIONS[header.format]).read(header.size)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(prog="hprof_corpus.reader", description="Counts what is in an HPROF dump.")
    parser.add_argument("dump", help="- is standard input")
    name = parser.parse_args().dump
    try:
        counts = count(open_bytes(name))
        name = "standard output"
        with standard_output() as out:
            out.write(f"{json.dumps(asdict(counts), indent=2)}\n".encode())
    except BrokenPipeError:
        return 0  # the reader of the pipe has gone
    except OSError as error:
        sys.stderr.write(f"{name}: {error.strerror}\n")
        return 3
    except FramingError as error:
        sys.stderr.write(f"{name}: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
