"""The content of a dump, and the features that a reader needs for it: for the manifest of the corpus and the conformance
matrix."""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import dataclass

from hprof_corpus import layouts
from hprof_corpus.assembler import Assembled
from hprof_corpus.digest import Content, PrimitiveArray
from hprof_corpus.reader import count, decompressed
from hprof_corpus.source import is_gzip
from hprof_corpus.walk import FramingError, read_header, records

# conformance/PROTOCOL.md, 2.2.
FEATURES = (
    "version-1.0.1",
    "version-1.0.2",
    "version-1.0.3",
    "id-size-4",
    "id-size-8",
    "gzip",
    "gzip-members",
    "several-heap-dumps",
    "no-heap-dump",
    "no-instances",
    "no-objects",
    "no-java-lang-class",
)
OBJECTS = {
    "instances": ("INSTANCE_DUMP",),
    "object_arrays": ("OBJECT_ARRAY_DUMP",),
    "primitive_arrays": ("PRIMITIVE_ARRAY_DUMP", "PRIMITIVE_ARRAY_NODATA"),
}
ROOTS = tuple(record.name for record in layouts.SUBRECORDS if record.name.startswith("ROOT_"))
_HEAP_TAGS = {record.tag for record in layouts.RECORDS if record.layout.tail == "subrecords"}
_END = next(record.tag for record in layouts.RECORDS if record.name == "HEAP_DUMP_END")
_SEGMENT = next(record.tag for record in layouts.RECORDS if record.name == "HEAP_DUMP_SEGMENT")
_UTF8 = next(record.tag for record in layouts.RECORDS if record.name == "UTF8")
_LOAD_CLASS = next(record.tag for record in layouts.RECORDS if record.name == "LOAD_CLASS")
_SERIAL = 4  # bytes
_OF_JAVA = (b"java/lang/Class", b"java/lang/ClassLoader")  # which the dump of each JVM has
_LONGEST = max(map(len, _OF_JAVA)) + 1  # of a name, and one more byte
_ARRAYS = {code: f"[{letter}" for code, letter in enumerate("ZCFDBSIJ", start=4)}


@dataclass(frozen=True)
class Holds:
    """The content of a file. If its framing is malformed, what its text writes."""

    records: dict[str, int]  # those that occur
    sub_records: dict[str, int]
    strings: int
    references: dict[str, int] | None  # all, not_null
    objects_by_class: dict[str, int] | None

    def counts(self) -> dict[str, int]:
        """By the names of PROTOCOL.md, 2.1."""
        found = {name: sum(self.sub_records.get(one, 0) for one in names) for name, names in OBJECTS.items()}
        roots = sum(self.sub_records.get(name, 0) for name in ROOTS)
        found["objects"] = sum(found.values())
        return {**found, "classes": self.sub_records.get("CLASS_DUMP", 0), "roots": roots, "strings": self.strings}


def objects_by_class(content: Content) -> Counter[str]:
    """Classes of the same name count as one. The name of an unknown class is empty."""
    found: Counter[str] = Counter()
    for dump in content.dumps:
        numbers = Counter(one.type if isinstance(one, PrimitiveArray) else (one.class_id,) for one in dump.objects)
        for kind, number in numbers.items():
            found[content.name_of_class(dump, *kind) if isinstance(kind, tuple) else _ARRAYS[kind]] += number
    return found


def _some(found: dict[str, int]) -> dict[str, int]:
    return {name: number for name, number in found.items() if number}


def holds(file: memoryview, assembled: Assembled | None = None) -> Holds:
    """Raises FramingError if the framing is malformed and there is no text."""
    try:
        counts = count(file)
        content = Content(decompressed(file) if is_gzip(file) else file)
    except FramingError:
        if assembled is None:
            raise
        spots = Counter(spot.label for spot in assembled.spots)
        top = {record.name: spots[record.name] for record in layouts.RECORDS}
        below = {record.name: spots[record.name] for record in layouts.SUBRECORDS}
        return Holds(_some(top), _some(below), spots["UTF8"], None, None)
    references = {"all": counts.references.all, "not_null": counts.references.not_null}
    by_class = dict(sorted(objects_by_class(content).items()))
    return Holds(_some(counts.records), _some(counts.sub_records), counts.strings, references, by_class)


def _members(data: memoryview) -> int:
    """The number of gzip members that can be read; 2 means more than one."""
    found = 0
    rest = bytes(data)
    while rest and found < 2:
        member = zlib.decompressobj(wbits=31)
        try:
            member.decompress(rest)
        except zlib.error:
            break
        found += 1
        rest = member.unused_data
    return found


def _of_format(file: memoryview) -> list[str]:
    found = []
    data = file
    if is_gzip(file):
        found.append("gzip")
        if _members(file) > 1:
            found.append("gzip-members")
        try:
            data = decompressed(file)
        except FramingError:  # what follows the fault is unknown
            return [*found, "no-java-lang-class"]
    header = read_header(data)
    if header is None:
        return found
    if header.format in (b"JAVA PROFILE 1.0.1", b"JAVA PROFILE 1.0.2", b"JAVA PROFILE 1.0.3"):
        found.append(f"version-{header.format[-5:].decode()}")
    if header.id_size in (4, 8):
        found.append(f"id-size-{header.id_size}")
    dumps, in_series = 0, False
    named: dict[bytes, bytes] = {}  # the names of _OF_JAVA, by their IDs
    loaded: set[bytes] = set()
    for framed in records(data, header.size):
        if framed.tag in _HEAP_TAGS:
            dumps += not (framed.tag == _SEGMENT and in_series)
            in_series = in_series or framed.tag == _SEGMENT
        elif framed.tag == _END:
            in_series = False
        elif framed.tag == _UTF8:
            text = framed.body + header.id_size
            if (name := bytes(data[text : min(framed.end, text + _LONGEST)]).replace(b".", b"/")) in _OF_JAVA:
                named[bytes(data[framed.body : text])] = name
        elif framed.tag == _LOAD_CLASS:
            at = framed.body + 2 * _SERIAL + header.id_size
            loaded.add(named.get(bytes(data[at : at + header.id_size]), b""))
    if dumps != 1:
        found.append("several-heap-dumps" if dumps else "no-heap-dump")
    if not loaded.issuperset(_OF_JAVA):
        found.append("no-java-lang-class")
    return found


def requires(file: memoryview, counts: dict[str, int]) -> list[str]:
    """The features that a reader needs for a file with these counts."""
    found = _of_format(file)
    if not counts["instances"]:
        found.append("no-instances")
    if not counts["objects"]:
        found.append("no-objects")
    return found
