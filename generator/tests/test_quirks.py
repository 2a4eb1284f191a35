"""What the dumps of a producer have that the specification does not ask for: each quirk is looked for, by the layouts
of the Python reader. That a dump has no other fault than its quirks' is test_both.py's.
"""

import json
import os
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import pytest

from hprof_corpus import layouts
from hprof_corpus.layouts import Layout
from hprof_corpus.walk import (
    ClassParts,
    Framed,
    Shapes,
    read_class_parts,
    read_header,
    records,
    struct_of,
    subrecords,
)

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
        """The IDs, by name."""
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
        """The classes with a static field of this name, and its value."""
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
                        shape.record.name,
                        named(shape.record.layout, values),
                        data[tail:end],
                        len(top),
                        parts,
                    )
                )
    return Dump(header.id_size, data, top, inner)


# ---- Names -----------------------------------------------------------------------------------------------------------

X = "\N{MATHEMATICAL ITALIC SMALL X}"
MODIFIED_X = b"\xed\xa0\xb5\xed\xb1\xa5"


@pytest.mark.parametrize(
    ("like", "package", "field"),
    [
        ("hotspot", "com/example/", MODIFIED_X),
        ("jdk8-agent", "com.example.", MODIFIED_X),
        ("sa", "com/example/", X.encode()),
        ("mat", "com.example.", X.encode()),
    ],
)
def test_names_beyond_ascii(like: str, package: str, field: bytes) -> None:
    """HotSpot copies its symbols, which are in modified UTF-8; Java writes the standard form."""
    one = dump(f"--like={like}")
    assert one.classes[f"{package}Stra\N{LATIN SMALL LETTER SHARP S}e".encode()] in one.objects
    assert one.statics(field)


def test_symbols_with_nul() -> None:
    assert any(b"\xc0\x80" in text for text in dump("--like=hotspot").strings.values())


def test_fields_that_java_does_not_know() -> None:
    one = dump("--like=hotspot")
    resolved = [item.fields["class_id"] for item, _ in one.statics(b"<resolved_references>")]
    assert len(set(resolved)) < len(resolved)  # of each version of a class
    assert one.statics(b"<init_lock>")


# ---- Frames ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("like", "generated"),
    [("hotspot", b"jdk/proxy1/$Proxy7"), ("jdk8-agent", b"com.sun.proxy.$Proxy7")],
)
def test_frames_without_lines(like: str, generated: bytes) -> None:
    one = dump(f"--like={like}")
    serials = {item.fields["class_serial"]: item.fields["class_id"] for item in one.all("LOAD_CLASS")}
    frames = [item.fields for item in one.all("FRAME")]
    without = [frame for frame in frames if frame["line"] == -1]
    assert {serials[frame["class_serial"]] for frame in frames if frame["source"] == 0} == {one.classes[generated]}
    assert all(frame["line"] == -1 for frame in frames if frame["source"] == 0)
    assert any(frame["source"] for frame in without)
    assert any(frame["line"] > 0 for frame in frames)
    assert any(frame["line"] == -3 for frame in frames) == (like == "hotspot")  # native ones


def test_a_source_that_is_empty() -> None:
    """In place of none."""
    one = dump("--like=android")
    sources = [one.strings[item.fields["source"]] for item in one.all("FRAME")]
    assert b"" in sources
    assert any(sources)


# ---- Objects ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("like", ["hotspot", "sa"])
def test_references_to_archived_mirrors(like: str) -> None:
    """Only elements of Object[]."""
    one = dump(f"--like={like}")
    dangling = {
        array.fields["class_id"]
        for array in one.all("OBJECT_ARRAY_DUMP")
        for element in one.elements(array)
        if element and element not in one.objects
    }
    assert dangling == {one.classes[b"[Ljava/lang/Object;"]}


@pytest.mark.parametrize("like", ["hotspot", "sa", "jdk8-agent"])
def test_mirrors_of_primitive_types(like: str) -> None:
    """Those of classes are the CLASS_DUMPs."""
    one = dump(f"--like={like}")
    mirror = one.classes[b"java.lang.Class" if like == "jdk8-agent" else b"java/lang/Class"]
    mirrors = {item.fields["object_id"] for item in one.all("INSTANCE_DUMP") if item.fields["class_id"] == mirror}
    assert len(mirrors) == 9
    assert mirrors <= {item.fields["object_id"] for item in one.all("ROOT_JNI_GLOBAL")}


@pytest.mark.parametrize("like", ["hotspot", "sa", "jdk8-agent"])
def test_class_loaders(like: str) -> None:
    one = dump(f"--like={like}")
    loader = one.classes[b"java.lang.ClassLoader" if like == "jdk8-agent" else b"java/lang/ClassLoader"]
    loaders = {item.fields["object_id"] for item in one.all("INSTANCE_DUMP") if item.fields["class_id"] == loader}
    assert loaders | {0} == {item.fields["loader_id"] for item in one.all("CLASS_DUMP")}
    assert len(loaders) == 3


# ---- Threads ---------------------------------------------------------------------------------------------------------


def test_groups_of_threads() -> None:
    """The main group's parent is the system's, and that has none."""
    one = dump("--like=jdk8-agent")
    strings = one.strings | {0: b""}
    started = one.all("START_THREAD")
    groups = {(strings[item.fields["group"]], strings[item.fields["parent_group"]]) for item in started}
    assert groups == {(b"main", b"system"), (b"system", b"")}


def test_threads_from_before_the_agent() -> None:
    one = dump("--like=jdk8-agent")
    started = {item.fields["thread_serial"] for item in one.all("START_THREAD")}
    roots = [item.fields["thread_serial"] for item in one.all("ROOT_THREAD_OBJECT") if item.fields["object_id"]]
    assert roots
    assert set(roots) - started


def test_traces_that_were_not_sampled() -> None:
    one = dump("--like=jdk8-agent", "--records=samples")
    traces = {item.fields["trace_serial"] for item in one.all("TRACE")}
    assert {item.fields["trace_serial"] for item in one.all("LOAD_CLASS")} - traces


def test_locals_of_a_thread_without_frames() -> None:
    for depth, frames in (("0", {-1}), ("5", {0})):
        one = dump("--like=hotspot", "--threads=2", f"--stack-depth={depth}")
        assert {item.fields["frame"] for item in one.all("ROOT_JNI_LOCAL")} == frames


# ---- Objects beside classes ------------------------------------------------------------------------------------------


def test_hubs_are_instances() -> None:
    """The ID of a class is that of its hub, plus 1."""
    one = dump("--like=graalvm")
    java_lang_class = one.classes[b"java.lang.Class"]
    hubs = {item.fields["object_id"] for item in one.all("INSTANCE_DUMP") if item.fields["class_id"] == java_lang_class}
    classes = {item.fields["class_id"] for item in one.all("CLASS_DUMP")}
    assert {hub + 1 for hub in hubs} <= classes
    assert len(hubs) > len(classes) / 2


def test_overhead_of_classes() -> None:
    """In a made-up array before the class."""
    one = dump("--like=android")
    values = {item.fields["class_id"]: int.from_bytes(value) for item, value in one.statics(b"$classOverhead")}
    before = {
        item.fields["class_id"]: one.items[at - 1]
        for at, item in enumerate(one.items)
        if item.name == "CLASS_DUMP" and values.get(item.fields["class_id"])
    }
    assert len(before) > 10
    for class_id, array in before.items():
        if array.name == "HEAP_DUMP_INFO":  # of the next segment
            continue
        assert array.name == "PRIMITIVE_ARRAY_DUMP"
        assert array.fields["object_id"] == values[class_id] == class_id | 1
        assert not any(array.body)


def test_a_class_is_an_object_with_fields() -> None:
    one = dump("--like=android")
    java_lang_class = one.classes[b"java.lang.Class"]
    assert {int.from_bytes(value) for _, value in one.statics(b"$class$shadow$_klass_")} == {java_lang_class}
    loaders = one.statics(b"$class$classLoader")
    assert all(item.fields["loader_id"] == int.from_bytes(value) for item, value in loaders)
    assert any(any(value) for _, value in loaders)


@pytest.mark.parametrize("like", ["graalvm", "android"])
@pytest.mark.parametrize("objects", [0, 1, 2, 300, 2000])
def test_objects_beside_classes_are_among_those_asked_for(like: str, objects: int) -> None:
    one = dump(f"--like={like}", f"--objects={objects}")
    kinds = ("INSTANCE_DUMP", "OBJECT_ARRAY_DUMP", "PRIMITIVE_ARRAY_DUMP")
    assert sum(len(one.all(kind)) for kind in kinds) == objects


# ---- Segments --------------------------------------------------------------------------------------------------------


def lengths(one: Dump) -> list[Framed]:
    tag = next(record.tag for record in layouts.RECORDS if record.name == "HEAP_DUMP_SEGMENT")
    header = read_header(one.data)
    assert header
    return [framed for framed in records(one.data, header.size) if framed.tag == tag]


def of_segments(one: Dump) -> list[list[Item]]:
    segments: dict[int, list[Item]] = {}
    for item in one.items:
        segments.setdefault(item.segment, []).append(item)
    return list(segments.values())


def test_segments_of_few_objects() -> None:
    """A segment ends after 128 objects or 4 KB."""
    segments = of_segments(dump("--like=android"))
    counts = [sum(item.name != "HEAP_DUMP_INFO" for item in segment) for segment in segments]
    assert max(counts) == 128
    sizes = [record.length for record in lengths(dump("--like=android"))]
    assert any(size >= 4096 for size in sizes)
    for count, size in zip(counts[:-1], sizes[:-1], strict=True):
        assert count == 128 or size >= 4096


def test_each_segment_says_its_heap() -> None:
    """Roots are of none."""
    segments = of_segments(dump("--like=android"))
    heaps = set()
    for segment in segments:
        heap = None
        for item in segment:
            if item.name == "HEAP_DUMP_INFO":
                assert item.fields["heap"] != heap
                heap = item.fields["heap"]
                heaps.add(heap)
            else:
                assert (heap is None) == item.name.startswith("ROOT_")
    assert heaps == {ord("A"), ord("Z")}
    assert len(segments) > 10


def test_strings_first() -> None:
    names = [item.name for item in dump("--like=android").records]
    last = max(at for at, name in enumerate(names) if name == "UTF8")
    assert set(names[: last + 1]) == {"UTF8"}


def test_segments_of_the_agent() -> None:
    """Segments nearly have the given length, except one with a longer sub-record."""
    one = dump("--like=jdk8-agent", "--dump-version=1.0.2", "--segment-size=10000")
    sizes = [record.length for record in lengths(one)]
    assert len(sizes) > 5
    assert mean(sizes[:-1]) > 9000
    for size, items in zip(sizes, of_segments(one), strict=True):
        assert size < 10000 or len(items) == 1


def test_empty_first_segment() -> None:
    """The agent ends a segment even before the first sub-record of a heap dump."""
    one = dump("--like=jdk8-agent", "--dump-version=1.0.2", "--segment-size=13")
    sizes = [record.length for record in lengths(one)]
    assert len(sizes) > 1000
    assert [number for number, size in enumerate(sizes) if not size] == [0]


@pytest.mark.parametrize(("records", "flags"), [("sites", 0), ("all", 0x8000)])
def test_flags_of_sites(records: str, flags: int) -> None:
    """The flags and the cutoff are those of a command on the socket, which also requests a HEAP_SUMMARY."""
    one = dump("--like=jdk8-agent", f"--records={records}", "--heap-dumps=2")
    assert [site.fields["flags"] for site in one.all("ALLOC_SITES")] == [flags] * 2
    assert bool(one.all("HEAP_SUMMARY")) == bool(flags)


# ---- Roots and the agent's records -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("like", "arrays"), [("hotspot", False), ("jdk8-agent", True), ("graalvm", True), ("android", True)])
def test_sticky_classes(like: str, arrays: bool) -> None:
    """Of the bootstrap loader; HotSpot names no array."""
    one = dump(f"--like={like}")
    loaded = {class_id: name for name, class_id in one.classes.items()}
    sticky = {item.fields["object_id"] for item in one.all("ROOT_STICKY_CLASS")}
    bootstrap = {item.fields["class_id"] for item in one.all("CLASS_DUMP") if not item.fields["loader_id"]}
    assert len(sticky & bootstrap) > 20
    assert any(b"[" in loaded[class_id] for class_id in sticky & bootstrap) == arrays


def test_no_roots_of_the_serviceability_agent_are_classes() -> None:
    assert dump("--like=sa").all("ROOT_STICKY_CLASS") == []


@pytest.mark.parametrize("like", ["hotspot-8", "hotspot-11", "jdk8-agent"])
def test_monitors(like: str) -> None:
    assert dump(f"--like={like}").all("ROOT_MONITOR_USED")


@pytest.mark.parametrize("records", ["all", "sites", "samples"])
def test_each_heap_dump_of_the_agent_has_its_statistics(records: str) -> None:
    """As each SIGQUIT gives one; threads and unloaded classes are always written."""
    one = dump("--like=jdk8-agent", f"--records={records}", "--heap-dumps=3")
    wanted = {"all": ["ALLOC_SITES", "CPU_SAMPLES"], "sites": ["ALLOC_SITES"], "samples": ["CPU_SAMPLES"]}[records]
    names = [item.name for item in one.records]
    assert [name for name in names if name in ("HEAP_DUMP", "ALLOC_SITES", "CPU_SAMPLES")] == ["HEAP_DUMP", *wanted] * 3
    assert {"START_THREAD", "END_THREAD", "UNLOAD_CLASS"} <= set(names)


def test_classes_of_elements_of_the_jvmpi_agent() -> None:
    """An object array names the class of its elements, and Object[] none: one names int[]. reserved1 is a name in some classes."""
    one = dump("--like=jvmpi-agent")
    named = {item.fields["class_id"] for item in one.all("OBJECT_ARRAY_DUMP")}
    arrays = {identifier for name, identifier in one.classes.items() if name.startswith(b"[")}
    ints = one.classes[b"[I"]
    assert {0, ints} < named
    assert named - {0, ints} <= set(one.classes.values()) - arrays
    assert sum(item.fields["class_id"] == ints for item in one.all("OBJECT_ARRAY_DUMP")) == 1
    reserved = [item.fields["reserved1"] != 0 for item in one.all("CLASS_DUMP")]
    assert 0.4 < mean(reserved) < 0.6


# ---- What the strict profile finds in them ---------------------------------------------------------------------------

# A quirk must not be lost in generator and validator at once, which test_both.py would not notice.
FOUND = {
    "plain": set[str](),
    "hotspot": {"REF-002"},
    **{f"hotspot-{version}": {"CLS-004"} for version in (8, 11, 17)},
    **{f"hotspot-{version}": {"REF-002"} for version in (21, 25, 28)},
    "sa-11": {"STR-002", "STR-003", "STK-008"},
    "sa-17": {"STR-002", "STK-008"},
    "sa-21": {"STR-002", "STK-008", "REF-002"},
    "sa-25": {"STR-002", "STK-008", "REF-002"},
    "sa-28": {"STR-002", "STK-008", "ROOT-005"},
    "jvmpi-agent": {"CLS-013", "OBJ-003", "OBJ-007", "OBJ-012", "ROOT-001", "ROOT-004", "ROOT-007"},
    "jdk8-agent": {"REC-004", "CLS-007", "CLS-017", "STK-012", "THR-005", "PRF-003", "PRF-004", "REC-010", "ROOT-005", "REF-001"},
    "sa": {"STR-002", "STK-008", "STK-011", "ROOT-005", "REF-002"},
    "graalvm": {"STR-003", "CLS-017", "REF-001"},
    "mat": {"REC-004", "REC-010", "CLS-002", "CLS-013", "STK-005", "STK-011", "ROOT-004"},
    "android": {"HDR-003", "HDR-006", "CLS-017", "REF-002", "STK-002", "STK-012", "STK-013", "STK-014"},
}


@pytest.mark.parametrize("like", FOUND)
def test_findings_of_the_strict_profile(like: str, tmp_path: Path) -> None:
    found = set()
    runs = {
        "jdk8-agent": [["--records=all"], ["--records=samples"], ["--dump-version=1.0.2", "--segment-size=13"]],
        "jvmpi-agent": [["--shape=mixed"]],
    }
    for options in runs.get(like, [["--shape=arrays"]]):
        command = [TOOL, "--objects=2000", f"--like={like}", *options, "--manifest", str(tmp_path / "truth")]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        found |= {rule for rule, findings in json.loads((tmp_path / "truth").read_text())["quirks"].items() if findings}
    assert found == FOUND[like]
