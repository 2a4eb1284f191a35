"""The two digests of a dump's content, as conformance/PROTOCOL.md defines them.

`identity` includes IDs, so two readings of one file can be compared. `content` leaves IDs out, so two dumps can be compared.

    python -m hprof_corpus.digest DUMP          prints both as JSON; - is standard input; gzip is recognised
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from hprof_corpus import layouts
from hprof_corpus.layouts import BASIC_TYPES, Record
from hprof_corpus.reader import decompressed
from hprof_corpus.source import is_gzip, open_bytes
from hprof_corpus.target import standard_output
from hprof_corpus.walk import (
    LENGTH_AT,
    Entry,
    FramingError,
    Shapes,
    read_class_parts,
    read_header,
    records,
    struct_of,
    subrecords,
)

PARTS = (
    "strings",
    "classes",
    "loaders",
    "statics",
    "constants",
    "instances",
    "instance_bytes",
    "object_arrays",
    "primitive_arrays",
    "roots",
)
CONTENT_PARTS = ("strings", "classes", "statics", "constants", "instances", "object_arrays", "primitive_arrays")
ROUNDS = 3

_HASH = 16
_MASK = (1 << 128) - 1
_VERSIONS = {b"JAVA PROFILE 1.0.1": 101, b"JAVA PROFILE 1.0.2": 102, b"JAVA PROFILE 1.0.3": 103}
_RECORDS = {record.tag: record for record in layouts.RECORDS}
_OBJECT, _BOOLEAN, _CHAR, _BYTE, _INT = (BASIC_TYPES[name][0] for name in ("object", "boolean", "char", "byte", "int"))
_LETTERS = {"boolean": "Z", "char": "C", "float": "F", "double": "D", "byte": "B", "short": "S", "int": "I", "long": "J"}
_TRUE = bytes(min(value, 1) for value in range(256))
_U4 = struct.Struct(">I")
_U8 = struct.Struct(">Q")

References = Literal["exact", "resolved"]


# ---- the encoding


def part(data: bytes) -> bytes:
    """One part of an item: its length, then its bytes."""
    return _U4.pack(len(data)) + data


def number(value: int) -> bytes:
    return _U8.pack(value)


def hash_of(encoded: bytes) -> bytes:
    return hashlib.sha256(encoded).digest()[:_HASH]


def text_of(data: bytes) -> str:
    """The text of a UTF8 record, in standard or modified UTF-8. Bytes in neither form have the text U+FFFD."""
    try:
        text = data.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return "\ufffd"
    return units(text).decode("utf-16-be", "surrogatepass")  # a pair of surrogates is the same character as four bytes


def units(text: str) -> bytes:
    """The UTF-16 code units of a text, big-endian. Both forms of UTF-8 give the same units for a surrogate pair."""
    return text.encode("utf-16-be", "surrogatepass")


def class_name(name: str) -> str:
    """`java.lang.String[]` and `[Ljava/lang/String;` have one name: the second."""
    inner = name.replace(".", "/")
    element = re.sub(r"(\[\])+$", "", inner)
    dimensions = (len(inner) - len(element)) // 2
    if not dimensions:
        return inner
    descriptor = element if element.startswith("[") else _LETTERS.get(element) or f"L{element};"
    return "[" * dimensions + descriptor


@dataclass
class Digest:
    """The number of items of one part, and the sum of their hashes."""

    count: int = 0
    sum: int = 0

    def add(self, encoded: bytes) -> None:
        self.add_hash(hash_of(encoded))

    def add_hash(self, value: bytes) -> None:
        self.count += 1
        self.sum = (self.sum + int.from_bytes(value, "big")) & _MASK

    def to_json(self) -> dict[str, int | str]:
        return {"count": self.count, "sum": f"{self.sum:032x}"}


Parts = Mapping[str, Digest]


# ---- what a dump holds


class Value(NamedTuple):
    """A static field or a constant: the name or the index is `key`."""

    key: int
    type: int
    bytes: bytes


@dataclass(slots=True)
class DumpedClass:
    id: int
    super_id: int
    loader_id: int
    constants: list[Value]
    statics: list[Value]
    fields: list[tuple[int, int]]  # name, type


class Instance(NamedTuple):
    id: int
    class_id: int
    bytes: bytes


class ObjectArray(NamedTuple):
    id: int
    class_id: int
    elements: tuple[int, ...]


class PrimitiveArray(NamedTuple):
    id: int
    type: int
    length: int
    bytes: bytes | None  # None if the dump leaves out the elements


Object = Instance | ObjectArray | PrimitiveArray


@dataclass
class HeapDump:
    classes: dict[int, DumpedClass] = field(default_factory=dict)
    later_classes: list[DumpedClass] = field(default_factory=list)  # of an ID that another CLASS_DUMP has: invalid
    objects: list[Object] = field(default_factory=list)
    roots: list[tuple[str, int]] = field(default_factory=list)  # the sub-record, the object
    ended: dict[int, int] = field(default_factory=dict)  # by class ID: how many LOAD_CLASS had lost their meaning before it

    def defined(self) -> set[int]:
        """The IDs of what is dumped."""
        return {*self.classes, *(one.id for one in self.objects)}


class InstanceField(NamedTuple):
    """A field of an instance whose class and superclasses are known."""

    declared_by: int
    name: int
    type: int
    at: int
    end: int


class Content:
    """All strings, classes and objects of a file. Raises FramingError at a framing fault."""

    def __init__(self, data: memoryview) -> None:
        header = read_header(data)
        if header is None or header.format not in _VERSIONS or header.id_size not in (4, 8):
            raise FramingError(0, "no header of a dump")
        self._data = data
        self._shapes = Shapes(header.id_size, _VERSIONS[header.format])
        self._id_code = "I" if header.id_size == 4 else "Q"
        self.strings: dict[int, str] = {}
        self.dumps: list[HeapDump] = []
        self._names: dict[int, list[int]] = {}  # by class ID: a string for each LOAD_CLASS
        self._ended: dict[int, int] = {}  # by class ID: how many of them have lost their meaning
        self._first_serial: dict[int, int] = {}  # by class ID: the one whose unloading ends the meaning of the ID
        self._by_serial: dict[int, int] = {}
        self._series: HeapDump | None = None
        self._structs = {record.tag: struct_of(record.layout, header.id_size) for record in layouts.RECORDS}
        end = header.size
        for framed in records(data, end):
            record = _RECORDS.get(framed.tag)
            if record is None:
                raise FramingError(framed.at, f"{framed.tag:#04x} is no tag of a record")
            fixed = self._structs[framed.tag].size
            if framed.is_cut or framed.length < fixed:
                raise FramingError(framed.at + LENGTH_AT, f"{record.name} has a wrong length")
            self._record(record, framed.body, framed.end)
            end = framed.end
        if end < len(data):
            raise FramingError(end, "the header of a record ends beyond the file")

    def name_of_class(self, dump: HeapDump, class_id: int) -> str:
        """The name of a class in a heap dump (SPEC.md 6.3)."""
        names = self._names.get(class_id, [0])
        ended = dump.ended.get(class_id, 0)
        return class_name(self.strings.get(names[ended if ended < len(names) else 0], ""))

    def _record(self, record: Record, body: int, end: int) -> None:
        fixed = self._structs[record.tag]
        if record.name == "UTF8":
            (string_id,) = fixed.unpack_from(self._data, body)
            self.strings.setdefault(string_id, text_of(bytes(self._data[body + fixed.size : end])))
        elif record.name == "LOAD_CLASS":
            serial, class_id, _, name = fixed.unpack_from(self._data, body)
            self._names.setdefault(class_id, []).append(name)
            self._first_serial.setdefault(class_id, serial)
            self._by_serial[serial] = class_id
        elif record.name == "UNLOAD_CLASS":
            (serial,) = fixed.unpack_from(self._data, body)
            class_id = self._by_serial.get(serial)
            if class_id is not None and self._first_serial.get(class_id) == serial:
                del self._first_serial[class_id]
                self._ended[class_id] = len(self._names[class_id])
        elif record.name == "HEAP_DUMP_END":
            self._series = None
        elif record.name == "HEAP_DUMP":
            self._heap_record(self._new_dump(), body, end)
        elif record.name == "HEAP_DUMP_SEGMENT":
            self._series = self._series or self._new_dump()
            self._heap_record(self._series, body, end)

    def _new_dump(self) -> HeapDump:
        self.dumps.append(HeapDump(ended=dict(self._ended)))
        return self.dumps[-1]

    def _heap_record(self, dump: HeapDump, body: int, end: int) -> None:
        for shape, _, fields, tail, stop in subrecords(self._data, body, end, self._shapes):
            name = shape.record.name
            if name == "INSTANCE_DUMP":
                dump.objects.append(Instance(fields[0], fields[2], bytes(self._data[tail:stop])))
            elif name == "OBJECT_ARRAY_DUMP":
                ids = struct.unpack_from(f">{fields[2]}{self._id_code}", self._data, tail)
                dump.objects.append(ObjectArray(fields[0], fields[3], ids))
            elif name == "PRIMITIVE_ARRAY_DUMP":
                elements = self._canonical(fields[3], bytes(self._data[tail:stop]))
                dump.objects.append(PrimitiveArray(fields[0], fields[3], fields[2], elements))
            elif name == "PRIMITIVE_ARRAY_NODATA":
                dump.objects.append(PrimitiveArray(fields[0], fields[3], fields[2], None))
            elif name == "CLASS_DUMP":
                parts = read_class_parts(self._data, tail, stop, self._shapes)
                one = DumpedClass(
                    fields[0],
                    fields[2],
                    fields[3],
                    [self._value(entry) for entry in parts.constants],
                    [self._value(entry) for entry in parts.statics],
                    parts.fields,
                )
                if dump.classes.setdefault(one.id, one) is not one:
                    dump.later_classes.append(one)
            elif name.startswith("ROOT_"):
                dump.roots.append((name, fields[0]))

    def _value(self, entry: Entry) -> Value:
        return Value(entry.key, entry.type, self._canonical(entry.type, bytes(self._data[entry.value : entry.end])))

    def _canonical(self, code: int, data: bytes) -> bytes:
        """A boolean is 0 or 1, whatever byte represents true."""
        return data.translate(_TRUE) if code == _BOOLEAN else data

    def reference(self, data: bytes) -> int:
        return int.from_bytes(data, "big")

    def layout(self, dump: HeapDump, class_id: int) -> list[InstanceField] | None:
        """The fields of an instance in the order of its bytes; None if a class is not dumped, or the chain is a cycle."""
        found: list[InstanceField] = []
        seen: set[int] = set()
        at = 0
        while class_id or not seen:
            one = dump.classes.get(class_id)
            if one is None or class_id in seen:
                return None
            seen.add(class_id)
            for name, code in one.fields:
                width = self._shapes.widths[code]
                if not width:
                    return None
                found.append(InstanceField(class_id, name, code, at, at + width))
                at += width
            class_id = one.super_id
        return found

    def values(self, one: Instance, layout: list[InstanceField] | None) -> list[tuple[InstanceField, bytes]] | None:
        """None if the bytes do not match the class."""
        if layout is None or len(one.bytes) != (layout[-1].end if layout else 0):
            return None
        return [(each, self._canonical(each.type, one.bytes[each.at : each.end])) for each in layout]

    def layouts(self, dump: HeapDump) -> Callable[[int], list[InstanceField] | None]:
        known: dict[int, list[InstanceField] | None] = {}

        def layout(class_id: int) -> list[InstanceField] | None:
            if class_id not in known:
                known[class_id] = self.layout(dump, class_id)
            return known[class_id]

        return layout

    def text(self, dump: HeapDump, by_id: dict[int, Object], one: Instance, layout: list[InstanceField] | None) -> bytes | None:
        """The UTF-16 units of a java/lang/String; None for any other object, or if the fields are not those of a String."""
        values = self.values(one, layout)
        if not values or self.name_of_class(dump, one.class_id) != "java/lang/String":
            return None
        fields = {(self.strings.get(f.name, ""), f.type): v for f, v in values if f.declared_by == one.class_id}
        array = by_id.get(self.reference(fields.get(("value", _OBJECT), b"")))
        if not isinstance(array, PrimitiveArray) or array.bytes is None:
            return None
        coder = fields.get(("coder", _BYTE))
        if array.type == _CHAR:
            offset, count = fields.get(("offset", _INT)), fields.get(("count", _INT))
            if offset is None or count is None:
                return array.bytes
            first = self.reference(offset)
            return array.bytes[2 * first : 2 * (first + self.reference(count))]
        if array.type != _BYTE or coder is None:
            return None
        if coder == b"\0":
            return array.bytes.decode("latin-1").encode("utf-16-be")
        if coder == b"\1" and len(array.bytes) % 2 == 0:
            return b"".join(array.bytes[i : i + 2][::-1] for i in range(0, len(array.bytes), 2))
        return None

    def classes(self, dump: HeapDump) -> Iterator[DumpedClass]:
        yield from dump.classes.values()
        yield from dump.later_classes


# ---- identity


def identity(content: Content, references: References, parts: Parts | None = None) -> Parts:
    """`parts`: where the items are added to."""
    parts = parts if parts is not None else {name: Digest() for name in PARTS}
    for string_id, text in content.strings.items():
        parts["strings"].add(part(b"string") + part(number(string_id)) + part(units(text)))
    for dump in content.dumps:
        _identity_of_dump(content, dump, references, parts)
    return parts


def root_items(dump: HeapDump, references: References) -> Iterator[tuple[str, bytes]]:
    """The kind of each root, and the item; of an object that is 0 there is none."""
    defined = dump.defined()
    for kind, target in dump.roots:
        if target and (references == "exact" or target in defined):
            yield kind, part(b"root") + part(kind.encode("ascii")) + part(number(target))


def _identity_of_dump(content: Content, dump: HeapDump, references: References, parts: Parts) -> None:
    defined = dump.defined()
    texts = {string_id: part(units(text)) for string_id, text in content.strings.items()}
    layout = content.layouts(dump)

    def refer(target: int) -> bytes:
        return number(target if references == "exact" or target in defined else 0)

    def value(code: int, data: bytes) -> bytes:
        return part(refer(content.reference(data)) if code == _OBJECT else data)

    def name(string_id: int) -> bytes:
        return texts.get(string_id) or part(b"")

    for one in content.classes(dump):
        item = part(b"class") + part(number(one.id)) + part(units(content.name_of_class(dump, one.id))) + part(refer(one.super_id))
        parts["classes"].add(item + b"".join(name(string_id) + part(bytes([code])) for string_id, code in one.fields))
        parts["loaders"].add(part(b"loader") + part(number(one.id)) + part(refer(one.loader_id)))
        for key, code, data in one.statics:
            item = part(b"static") + part(number(one.id)) + name(key)
            parts["statics"].add(item + part(bytes([code])) + value(code, data))
        for key, code, data in one.constants:
            item = part(b"constant") + part(number(one.id)) + part(number(key))
            parts["constants"].add(item + part(bytes([code])) + value(code, data))
    for each in dump.objects:
        if isinstance(each, Instance):
            ids = part(number(each.id)) + part(number(each.class_id))
            parts["instance_bytes"].add(part(b"instance bytes") + ids + part(each.bytes))
            values = content.values(each, layout(each.class_id))
            if values is None:
                parts["instances"].add(part(b"instance") + ids + part(b"undecoded") + part(each.bytes))
                continue
            fields = (part(number(f.declared_by)) + name(f.name) + part(bytes([f.type])) + value(f.type, v) for f, v in values)
            parts["instances"].add(part(b"instance") + ids + b"".join(fields))
        elif isinstance(each, ObjectArray):
            ids = part(number(each.id)) + part(number(each.class_id))
            parts["object_arrays"].add(part(b"object array") + ids + part(b"".join(refer(target) for target in each.elements)))
        else:
            parts["primitive_arrays"].add(_primitive_array(each, number(each.id)))
    for _, item in root_items(dump, references):
        parts["roots"].add(item)


def _primitive_array(one: PrimitiveArray, *ids: bytes) -> bytes:
    head = b"".join(part(each) for each in (*ids, bytes([one.type])))
    if one.bytes is None:
        return part(b"primitive array without elements") + head + part(number(one.length))
    return part(b"primitive array") + head + part(one.bytes)


# ---- content


_NULL = bytes(_HASH)
_ANY_OBJECT = b"\xff" * _HASH
_DANGLING = hash_of(part(b"dangling"))


def _content(content: Content) -> Parts:
    parts = {name: Digest() for name in CONTENT_PARTS}
    for text in set(content.strings.values()):
        parts["strings"].add(part(b"string") + part(units(text)))
    for dump in content.dumps:
        _content_of_dump(content, dump, parts)
    return parts


def _content_of_dump(content: Content, dump: HeapDump, parts: Parts) -> None:
    names = {class_id: part(units(content.name_of_class(dump, class_id))) for class_id in dump.classes}
    layout = content.layouts(dump)
    by_id = {one.id: one for one in dump.objects}
    class_references = {class_id: hash_of(part(b"class reference") + name) for class_id, name in names.items()}
    before: dict[int, bytes] = {}

    def name_of_class(class_id: int) -> bytes:
        return names.get(class_id) or part(units(content.name_of_class(dump, class_id)))

    def refer(target: int) -> bytes:
        if not target:
            return _NULL
        if target in class_references:
            return class_references[target]
        if target not in by_id:
            return _DANGLING
        return before.get(target, _ANY_OBJECT)

    def value(code: int, data: bytes) -> bytes:
        return part(refer(content.reference(data)) if code == _OBJECT else data)

    def name(string_id: int) -> bytes:
        return part(units(content.strings.get(string_id, "")))

    def hash_of_object(one: Object) -> bytes:
        if isinstance(one, PrimitiveArray):
            return hash_of(_primitive_array(one))
        if isinstance(one, ObjectArray):
            elements = b"".join(refer(target) for target in one.elements)
            return hash_of(part(b"object array") + name_of_class(one.class_id) + part(elements))
        values = content.values(one, layout(one.class_id))
        if values is None:
            return hash_of(part(b"instance") + name_of_class(one.class_id) + part(b"undecoded") + part(one.bytes))
        text = content.text(dump, by_id, one, layout(one.class_id))
        if text is not None:
            return hash_of(part(b"text") + part(text))
        fields = (name_of_class(f.declared_by) + name(f.name) + part(bytes([f.type])) + value(f.type, v) for f, v in values)
        return hash_of(part(b"instance") + name_of_class(one.class_id) + b"".join(fields))

    for _ in range(ROUNDS + 1):
        before = {one.id: hash_of_object(one) for one in dump.objects}
    for each in dump.objects:
        kind = {Instance: "instances", ObjectArray: "object_arrays", PrimitiveArray: "primitive_arrays"}[type(each)]
        parts[kind].add_hash(before[each.id])
    for one in content.classes(dump):
        super_name = name_of_class(one.super_id) if one.super_id else part(b"")
        fields = b"".join(name(string_id) + part(bytes([code])) for string_id, code in one.fields)
        parts["classes"].add(part(b"class") + name_of_class(one.id) + super_name + fields)
        for key, code, data in one.statics:
            item = part(b"static") + name_of_class(one.id) + name(key)
            parts["statics"].add(item + part(bytes([code])) + value(code, data))
        for key, code, data in one.constants:
            item = part(b"constant") + name_of_class(one.id) + part(number(key))
            parts["constants"].add(item + part(bytes([code])) + value(code, data))


# ---- the program


@dataclass
class Digests:
    """`exact` and `resolved` are the two forms of `identity`: the second takes a dangling reference for null."""

    exact: Parts
    resolved: Parts
    content: Parts

    def to_json(self) -> dict[str, dict[str, dict[str, int | str]]]:
        return {
            "exact": {name: one.to_json() for name, one in self.exact.items()},
            "resolved": {name: one.to_json() for name, one in self.resolved.items()},
            "content": {name: one.to_json() for name, one in self.content.items()},
        }


def digests(file: memoryview) -> Digests:
    """Of a dump, plain or gzip. Raises FramingError."""
    content = Content(decompressed(file) if is_gzip(file) else file)
    return Digests(identity(content, "exact"), identity(content, "resolved"), _content(content))


def main() -> int:
    parser = argparse.ArgumentParser(prog="hprof_corpus.digest", description="Prints the digests of a dump's content.")
    parser.add_argument("dump", help="- is standard input")
    name = parser.parse_args().dump
    try:
        found = digests(open_bytes(name)).to_json()
        name = "standard output"
        with standard_output() as out:
            out.write(f"{json.dumps(found, indent=2)}\n".encode())
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
