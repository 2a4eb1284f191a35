"""A binary dump, of the agent or of the VM itself: values, roots with their frames, threads, classes by their names in Java."""

from __future__ import annotations

import re
import struct
from collections import Counter
from dataclasses import dataclass

from hprof_corpus import layouts
from hprof_corpus.walk import Shapes, read_class_parts, read_header, records, struct_of, subrecords

_RECORDS = {record.tag: record for record in layouts.RECORDS}
EMPTY_TRACE = 300000  # of the agent
_CODES = {"Z": "boolean", "B": "byte", "C": "char", "S": "short", "I": "int", "J": "long", "F": "float", "D": "double"}


@dataclass(frozen=True)
class Frame:
    method: str  # class and method
    signature: str
    source: str
    line: int


@dataclass(frozen=True)
class Thread:
    object: int
    name: str
    group: str
    parent: str


def plain(name: str) -> str:
    """HotSpot writes `[Ljava/lang/String;` for `java.lang.String[]`, and other numbers after the names of hidden classes."""
    element = name.lstrip("[")
    dimensions = len(name) - len(element)
    if dimensions:
        element = _CODES.get(element) or element[1:-1]
    return re.sub(r"[+./](0x[0-9a-f]+|\d+)$", "", element).replace("/", ".") + "[]" * dimensions


class Dump:
    def __init__(self, data: bytes) -> None:
        header = read_header(data)
        assert header is not None
        self.id_size, self.strings, self.names = header.id_size, {0: ""}, dict[int, str]()
        self.serials: dict[int, str] = {}  # of classes
        self.unloaded: list[str] = []
        self._ids: dict[int, int] = {}  # of loaded classes, by serial number
        self._gone: set[int] = set()
        self.threads: dict[int, Thread] = {}  # by serial number, as is the next
        self.traces: dict[int, list[str]] = {}  # their methods
        self.roots: list[tuple[str, dict[str, int]]] = []
        self.statics: dict[tuple[str, str], bytes] = {}
        self.supers: dict[int, int] = {}
        self.loaders: dict[str, int] = {}
        self.domains: dict[str, int] = {}
        self.signers: dict[str, int] = {}
        self.constants: dict[str, dict[int, int]] = {}  # by class and index
        self.sizes: dict[int, int] = {}  # of instances, as their classes say
        self.class_fields: dict[int, list[tuple[int, int]]] = {}
        self.instances: dict[int, tuple[int, bytes]] = {}
        self.objects: dict[int, tuple[int, bytes]] = {}
        self.primitives: dict[int, tuple[int, bytes]] = {}
        self.types: dict[int, str] = {}  # of all objects
        self.frames: dict[int, Frame] = {}
        self.sites: list[tuple[str, int]] = []  # classes, and the types of arrays that the sites say
        self.seconds: list[float] = []  # of each record, since the start
        shapes = Shapes(self.id_size)
        for framed in records(data, header.size):
            self.seconds.append(framed.time / 1e6)
            record = _RECORDS[framed.tag]
            if record.name in ("HEAP_DUMP", "HEAP_DUMP_SEGMENT"):
                self._heap(data, framed.body, framed.end, shapes)
                continue
            layout = struct_of(record.layout, self.id_size)
            values = layout.unpack_from(data, framed.body)
            fields = dict(zip((field.name for field in record.layout.fields), values, strict=True))
            self._record(record.name, fields, data[framed.body + layout.size : framed.end])
        self.widths = shapes.widths

    def id(self, data: bytes) -> int:
        return int.from_bytes(data[: self.id_size], "big")

    def _record(self, name: str, fields: dict[str, int], tail: bytes) -> None:
        if name == "UTF8":
            self.strings[fields["id"]] = tail.decode("utf-8", "replace")
        elif name == "LOAD_CLASS":
            self._ids[fields["class_serial"]] = fields["class_id"]
            self.names[fields["class_id"]] = self.serials[fields["class_serial"]] = plain(self.strings[fields["name"]])
        elif name == "UNLOAD_CLASS":
            self.unloaded.append(self.serials[fields["class_serial"]])
            self._gone.add(self._ids[fields["class_serial"]])
        elif name == "FRAME":
            method, signature, source = (self.strings[fields[key]] for key in ("method", "signature", "source"))
            class_ = self.serials[fields["class_serial"]]
            self.frames[fields["id"]] = Frame(f"{class_}.{method}", signature, source, fields["line"])
        elif name == "TRACE":
            ids = [self.id(tail[at:]) for at in range(0, len(tail), self.id_size)]
            self.traces[fields["trace_serial"]] = [self.frames[id_].method for id_ in ids]
        elif name == "ALLOC_SITES":
            rows = [struct.unpack_from(">BI", tail, at) for at in range(0, len(tail), 25)]
            self.sites += [(self.serials[serial], type_) for type_, serial in rows]
        elif name == "START_THREAD":
            names = [self.strings[fields[key]] for key in ("name", "group", "parent_group")]
            self.threads[fields["thread_serial"]] = Thread(fields["thread_id"], *names)

    def _heap(self, data: bytes, at: int, end: int, shapes: Shapes) -> None:
        for shape, _, values, tail, stop in subrecords(data, at, end, shapes):
            fields = dict(zip((f.name for f in shape.record.layout.fields), values, strict=True))
            name = shape.record.name
            if self.threads:  # the VM itself defines none
                assert name != "ROOT_THREAD_OBJECT" or fields["thread_serial"] in self.threads
                assert fields.get("trace_serial", EMPTY_TRACE) in self.traces
            if name.startswith("ROOT"):
                self.roots.append((name.removeprefix("ROOT_"), fields))
            elif name == "INSTANCE_DUMP":
                self.instances[fields["object_id"]] = fields["class_id"], data[tail:stop]
                self.types[fields["object_id"]] = self.names[fields["class_id"]]
            elif name == "OBJECT_ARRAY_DUMP":
                self.objects[fields["object_id"]] = fields["elements"], data[tail:stop]
                self.types[fields["object_id"]] = self.names[fields["class_id"]]
            elif name == "PRIMITIVE_ARRAY_DUMP":
                self.primitives[fields["object_id"]] = fields["type"], data[tail:stop]
                self.types[fields["object_id"]] = f"primitive {fields['type']}"
            elif name == "CLASS_DUMP":
                self._class(fields, data, tail, stop, shapes)

    def _class(self, fields: dict[str, int], data: bytes, tail: int, stop: int, shapes: Shapes) -> None:
        parts = read_class_parts(data, tail, stop, shapes)
        class_id = fields["class_id"]
        assert class_id not in self._gone
        name = self.names[class_id]
        self.types[class_id] = f"class {name}"
        self.supers[class_id] = fields["super_id"]
        self.loaders[name] = fields["loader_id"]
        self.domains[name] = fields["domain_id"]
        self.signers[name] = fields["signers_id"]
        self.sizes[class_id] = fields["instance_size"]
        self.class_fields[class_id] = parts.fields
        self.constants[name] = {entry.key: self.id(data[entry.value :]) for entry in parts.constants}
        for entry in parts.statics:
            width = shapes.widths[entry.type]
            self.statics[name, self.strings[entry.key]] = data[entry.value : entry.value + width]

    def instance(self, id_: int) -> dict[str, bytes]:
        class_id, data = self.instances[id_]
        values, at = {}, 0
        while class_id:
            for key, type_ in self.class_fields[class_id]:
                values[self.strings[key]] = data[at : at + self.widths[type_]]
                at += self.widths[type_]
            class_id = self.supers[class_id]
        assert at == len(data)
        return values

    def static(self, name: str, class_: str = "Graph") -> int:
        return self.id(self.statics[class_, name])

    def mark(self, value: bytes | int) -> int:
        id_ = value if isinstance(value, int) else self.id(value)
        return int.from_bytes(self.instance(id_)["mark"], "big")

    def rooted(self, kind: str) -> Counter[tuple[str, str]]:
        """The types of the objects that the roots of a kind name, and the methods of their frames, if they have one."""
        stacks = {root["thread_serial"]: self.traces[root["trace_serial"]] for name, root in self.roots if name == "THREAD_OBJECT"}
        found: Counter[tuple[str, str]] = Counter()
        for name, root in self.roots:
            if name == kind:
                stack, frame = stacks.get(root.get("thread_serial", 0), []), root.get("frame", -1)
                found[self.types[root["object_id"]], stack[frame] if 0 <= frame < len(stack) else ""] += 1
        return found
