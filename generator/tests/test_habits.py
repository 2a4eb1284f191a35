"""What the dumps of a producer have that the specification does not ask for: each habit is looked for, by the Python reader's own
layouts. That a dump has no other fault than its habits' is test_both.py's.
"""

import os
import subprocess
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from hprof_corpus import layouts
from hprof_corpus.layouts import Layout
from hprof_corpus.walk import ClassParts, Shapes, read_class_parts, read_header, records, struct_of, subrecords

TOOL = os.environ["HPROF_GEN"]
RECORDS = {record.tag: record for record in layouts.RECORDS}


# ---- Reading ---------------------------------------------------------------------------------------------------------


class Item(NamedTuple):
    """A record, or a sub-record of the segment-th heap dump record."""

    name: str
    fields: dict[str, int]
    body: bytes
    segment: int = 0
    parts: ClassParts | None = None


def named(layout: Layout, values: tuple[int, ...]) -> dict[str, int]:
    return dict(zip((field.name for field in layout.fields), values, strict=True))


@dataclass(frozen=True)
class Dump:
    id_size: int
    data: bytes
    records: list[Item]
    items: list[Item]

    def all(self, name: str) -> list[Item]:
        return [item for item in (*self.records, *self.items) if item.name == name]

    @property
    def strings(self) -> dict[int, bytes]:
        return {item.fields["id"]: item.body for item in self.all("UTF8")}

    @property
    def classes(self) -> dict[bytes, int]:
        """By name, the IDs."""
        strings = self.strings
        return {strings[item.fields["name"]]: item.fields["class_id"] for item in reversed(self.all("LOAD_CLASS"))}

    @property
    def objects(self) -> set[int]:
        """All that is dumped."""
        kinds = ("INSTANCE_DUMP", "OBJECT_ARRAY_DUMP", "PRIMITIVE_ARRAY_DUMP")
        ids = {item.fields["object_id"] for item in self.items if item.name in kinds}
        return ids | {item.fields["class_id"] for item in self.all("CLASS_DUMP")}

    def elements(self, array: Item) -> list[int]:
        step = self.id_size
        return [int.from_bytes(array.body[at : at + step]) for at in range(0, len(array.body), step)]

    def statics(self, name: bytes) -> list[tuple[Item, bytes]]:
        """The classes with a static field of that name, and its value."""
        strings = self.strings
        return [
            (item, self.data[entry.value : entry.end])
            for item in self.all("CLASS_DUMP")
            if item.parts
            for entry in item.parts.statics
            if strings[entry.key] == name
        ]


@cache
def dump(*args: str) -> Dump:
    data = subprocess.run([TOOL, "--objects=2000", *args], stdout=subprocess.PIPE, check=True).stdout
    header = read_header(data)
    assert header
    shapes = Shapes(header.id_size)
    top: list[Item] = []
    inner: list[Item] = []
    for framed in records(data, header.size):
        record = RECORDS[framed.tag]
        fields = struct_of(record.layout, header.id_size)
        top.append(
            Item(
                record.name,
                named(record.layout, fields.unpack_from(data, framed.body)),
                data[framed.body + fields.size : framed.end],
            )
        )
        if record.name.startswith("HEAP_DUMP") and framed.length:
            for shape, _, values, tail, end in subrecords(data, framed.body, framed.end, shapes):
                parts = read_class_parts(data, tail, end, shapes) if shape.record.name == "CLASS_DUMP" else None
                inner.append(
                    Item(
                        shape.record.name, named(shape.record.layout, values), data[tail:end], len(top), parts
                    )
                )
    return Dump(header.id_size, data, top, inner)


# ---- HotSpot and the serviceability agent ------------------------------------------------------------------------------


def test_references_to_archived_mirrors() -> None:
    """Of Object[] alone."""
    for like in ("hotspot", "sa"):
        one = dump(f"--like={like}")
        dangling = {
            array.fields["class_id"]
            for array in one.all("OBJECT_ARRAY_DUMP")
            for element in one.elements(array)
            if element and element not in one.objects
        }
        assert dangling == {one.classes[b"[Ljava/lang/Object;"]}, like
