"""Dumps made to cost time or memory. Each shape makes a dump of about the given size; test_hostile.py knows what it may cost."""

import dataclasses
import functools
import gzip
import random
import struct
import sys
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Bytes = bytes | bytearray
Make = Callable[[int], Iterable[Bytes]]


# ---- Many records at once --------------------------------------------------------------------------------------------


def column(rows: bytearray, width: int, offset: int, size: int, values: "array[int]") -> None:
    """Puts the low `size` bytes of one value, big-endian, at an offset of each row of `width` bytes."""
    raw = values.tobytes()
    assert values.itemsize == 8 and len(rows) == len(values) * width
    for i in range(size):
        byte = i if sys.byteorder == "little" else 7 - i
        rows[offset + size - 1 - i :: width] = raw[byte::8]


def table(row: bytes, count: int, *columns: tuple[int, int, range]) -> bytearray:
    """`count` copies of a row, with each column (offset, size, values) filled in. Values are modulo 2**64."""
    rows = bytearray(row * count)
    for offset, size, values in columns:
        assert len(values) == count
        if values and max(values[0], values[-1]) >= 1 << 64:
            column(rows, len(row), offset, size, array("Q", (v & (1 << 64) - 1 for v in values)))
        else:
            column(rows, len(row), offset, size, array("Q", values))
    return rows


def numbers(count: int, step: int = 1, start: int | None = None) -> range:
    first = step if start is None else start
    return range(first, first + count * step, step)


@dataclasses.dataclass(frozen=True)
class Layout:
    """The layouts for one size of IDs."""

    id_size: int

    def ids(self, *values: int) -> bytes:
        return b"".join(v.to_bytes(self.id_size, "big") for v in values)

    def header(self, version: str = "1.0.2") -> bytes:
        return b"JAVA PROFILE %s\0" % version.encode() + struct.pack(">IQ", self.id_size, 1795521603000)

    def utf8(self, string_id: int, text: bytes = b"") -> bytes:
        return record(0x01, self.ids(string_id) + text)

    def load_class(self, serial: int, class_id: int, name: int, trace: int = 0) -> bytes:
        return record(0x02, u4(serial) + self.ids(class_id) + u4(trace) + self.ids(name))

    def class_dump(self, class_id: int, super_id: int = 0, size: int = 0, statics: bytes = b"", fields: bytes = b"") -> bytes:
        static_count = len(statics) // (self.id_size + 2)  # of one byte each
        field_count = len(fields) // (self.id_size + 1)
        return (
            b"\x20" + self.ids(class_id) + u4(0) + self.ids(super_id, 0, 0, 0, 0, 0)
            + struct.pack(">IHH", size, 0, static_count) + statics + struct.pack(">H", field_count) + fields
        )  # fmt: skip

    def instance(self, object_id: int, class_id: int, body: bytes = b"") -> bytes:
        return b"\x21" + self.ids(object_id) + u4(0) + self.ids(class_id) + u4(len(body)) + body

    def objects(self, array_id: int, class_id: int, elements: Bytes) -> bytes:
        head = b"\x22" + self.ids(array_id) + u4(0) + u4(len(elements) // self.id_size) + self.ids(class_id)
        return head + elements

    def array(self, object_id: int, body: bytes = b"") -> bytes:
        return b"\x23" + self.ids(object_id) + u4(0) + u4(len(body)) + b"\x08" + body


FOUR, EIGHT = Layout(4), Layout(8)
LAYOUTS = (FOUR, EIGHT)
OBJECT = 0x10


def u4(value: int) -> bytes:
    return struct.pack(">I", value)


def record(tag: int, body: Bytes, length: int | None = None) -> bytes:
    return struct.pack(">BII", tag, 0, len(body) if length is None else length) + body


def segment(*parts: Bytes) -> bytes:
    return record(0x1C, b"".join(parts))


END = record(0x2C, b"")


def in_heap(layout: Layout, *parts: Bytes) -> Iterator[Bytes]:
    """A dump of one segment."""
    yield layout.header()
    yield layout.utf8(1, b"java/lang/Object") + layout.load_class(1, OBJECT, 1)
    yield segment(layout.class_dump(OBJECT), *parts)
    yield END


def at_top(layout: Layout, *parts: Bytes) -> Iterator[Bytes]:
    yield layout.header("1.0.1")
    yield from parts


# ---- Shapes ----------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Shape:
    name: str
    make: Make
    valid: bool = False
    pipe: bool = False
    arguments: tuple[str, ...] = ()
    gzip: bool = False  # Memory is bounded by the dump inside.


SHAPES: list[Shape] = []


def shape(
    name: str, valid: bool = False, pipe: bool = False, arguments: tuple[str, ...] = (), gzip: bool = False
) -> Callable[[Make], Make]:
    def add(make: Make) -> Make:
        SHAPES.append(Shape(name, make, valid, pipe, arguments, gzip))
        return make

    return add


def shape_by_id_size(name: str, valid: bool = False, pipe: bool = False, arguments: tuple[str, ...] = ()) -> Callable[[Any], Any]:
    def add(make: Callable[[Layout, int], Iterable[Bytes]]) -> Any:
        for layout in LAYOUTS:
            SHAPES.append(Shape(f"{name}-{layout.id_size}", functools.partial(make, layout), valid, pipe, arguments))
        return make

    return add


# IDs

for bits in (16, 19, 32, 40):

    def alike(size: int, step: int = 1 << bits) -> Iterator[Bytes]:
        row = EIGHT.array(0)
        count = size // len(row)
        yield from in_heap(EIGHT, table(row, count, (1, 8, numbers(count, step))))

    shape(f"ids-equal-modulo-2-to-the-{bits}", valid=True)(alike)


@shape_by_id_size("ids-scattered", valid=True)
def ids_scattered(layout: Layout, size: int) -> Iterator[Bytes]:
    """IDs of objects, each in another page of the address space while there are any."""
    row = layout.array(0)
    count = size // len(row)
    yield from in_heap(layout, table(row, count, (1, layout.id_size, numbers(count, (1 << 19) + 8, start=0x80000))))


@shape_by_id_size("missing-elements-scattered")
def missing_elements(layout: Layout, size: int) -> Iterator[Bytes]:
    """An array whose elements are all undefined, each in another page than the one before."""
    count = size // layout.id_size
    elements = table(bytes(layout.id_size), count, (0, layout.id_size, numbers(count, (1 << 19) + 8, start=0x80000)))
    yield from in_heap(layout, layout.objects(0x20, OBJECT, elements))


@shape_by_id_size("missing-elements-in-pages-of-few")
def missing_in_pages(layout: Layout, size: int) -> Iterator[Bytes]:
    """The pages fill evenly, in turn, to some hundred IDs each."""
    pages, count = 1 << 16, size // layout.id_size
    rows = [bytearray(layout.objects(0x20, OBJECT, b""))]
    done = 0
    while done < count:
        n = min(pages, count - done)
        start = 0x80000 + 8 * (done // pages)
        rows.append(table(bytes(layout.id_size), n, (0, layout.id_size, numbers(n, 1 << 19, start=start))))
        done += n
    head = layout.objects(0x20, OBJECT, b"").replace(u4(0) + layout.ids(OBJECT), u4(count) + layout.ids(OBJECT))
    yield from in_heap(layout, head, *rows[1:])


@shape_by_id_size("strings-alike", valid=True)
def strings_alike(layout: Layout, size: int) -> Iterator[Bytes]:
    row = layout.utf8(0)
    count = size // len(row)
    yield from at_top(layout, table(row, count, (9, layout.id_size, numbers(count, 1 << 20 if layout is EIGHT else 1))))


# Classes


def chain(size: int, sub_first: bool) -> Iterator[Bytes]:
    row = EIGHT.class_dump(0) + EIGHT.instance(0, 0)
    count = size // len(row)
    head = len(EIGHT.class_dump(0))
    classes, supers = numbers(count, 16, start=0x1000), numbers(count, 16, start=0x1000 - 16)
    if sub_first:
        classes, supers = classes[::-1], supers[::-1]
    instances = numbers(count, 16, start=0x1008)
    rows = table(row, count, (1, 8, classes), (13, 8, supers), (head + 1, 8, instances), (head + 13, 8, classes))
    root = EIGHT.class_dump(0x1000 - 16)
    yield EIGHT.header()
    yield segment(*((rows, root) if sub_first else (root, rows)))
    yield END


@shape("superclass-chain")
def superclass_chain(size: int) -> Iterator[Bytes]:
    yield from chain(size, False)


@shape("superclass-chain-subclass-first")
def superclass_chain_backwards(size: int) -> Iterator[Bytes]:
    yield from chain(size, True)


@shape("superclass-chain-subclass-first-pipe", pipe=True)
def superclass_chain_backwards_pipe(size: int) -> Iterator[Bytes]:
    yield from chain(size, True)


@shape("superclass-cycle")
def superclass_cycle(size: int) -> Iterator[Bytes]:
    row = EIGHT.class_dump(0)
    count = size // len(row)
    rows = table(row, count, (1, 8, numbers(count, 16)), (13, 8, numbers(count, 16, start=32)))
    rows[13 - len(row) : 21 - len(row)] = EIGHT.ids(16)
    yield EIGHT.header()
    yield segment(rows)
    yield END


@shape("one-reference-in-each-class-of-a-chain", valid=True, arguments=("--profile", "hotspot", "--disable", "CLS-008"))
def reference_in_each_class(size: int) -> Iterator[Bytes]:
    """An instance of each class of a chain of 3000 has references from all superclasses."""
    field = EIGHT.ids(1) + b"\x02"
    length = 3000
    yield EIGHT.header() + EIGHT.utf8(1, b"f") + EIGHT.utf8(2, b"java/lang/Object") + EIGHT.load_class(1, 0x1000, 2)
    yield segment(
        EIGHT.class_dump(0x1000),
        *(EIGHT.class_dump(0x1000 + 16 * i, 0x1000 + 16 * (i - 1), 8 * i, fields=field) for i in range(1, length)),
    )
    body = bytes(8 * (length - 1))
    for i in range(size // len(body)):
        yield segment(EIGHT.instance(0x80008 + 16 * i, 0x1000 + 16 * (length - 1), body))
    yield END


@shape_by_id_size("wide-class-under-many-subclasses")
def wide_class(layout: Layout, size: int) -> Iterator[Bytes]:
    fields = (layout.ids(1) + b"\x04") * 65535
    row = layout.class_dump(0, 0x1000, 65535)
    count = min(100_000, size // 2 // len(row))
    yield layout.header() + layout.utf8(1, b"f")
    subclasses = table(row, count, (1, layout.id_size, numbers(count, 16, start=0x1010)))
    yield segment(layout.class_dump(0x1000, 0, 65535, fields=fields), subclasses)
    for i in range(size // 2 // 65536):
        yield segment(layout.instance(0x1000008 + 16 * i, 0x1010 + 16 * (i * 31 % count), bytes(65535)))
    yield END


@shape_by_id_size("fields-with-undefined-names")
def undefined_field_names(layout: Layout, size: int) -> Iterator[Bytes]:
    width = layout.id_size + 1
    parts = []
    for i in range(size // (65535 * width)):
        fields = table(layout.ids(0) + b"\x02", 65535, (0, layout.id_size, numbers(65535, 1, start=1 + i * 65535)))
        parts.append(layout.class_dump(0x1000 + 16 * i, OBJECT, 65535 * layout.id_size, fields=bytes(fields)))
    yield from in_heap(layout, *parts)


@shape_by_id_size("statics-with-undefined-names")
def undefined_static_names(layout: Layout, size: int) -> Iterator[Bytes]:
    width = layout.id_size + 2
    parts = []
    for i in range(size // (65535 * width)):
        statics = table(layout.ids(0) + b"\x08\0", 65535, (0, layout.id_size, numbers(65535, 1, start=1 + i * 65535)))
        parts.append(layout.class_dump(0x1000 + 16 * i, OBJECT, statics=bytes(statics)))
    yield from in_heap(layout, *parts)


@shape_by_id_size("class-dumps")
def class_dumps(layout: Layout, size: int) -> Iterator[Bytes]:
    """Classes that no LOAD_CLASS names."""
    row = layout.class_dump(0)
    count = size // len(row)
    yield from in_heap(layout, table(row, count, (1, layout.id_size, numbers(count, 16, start=0x1000))))


@shape_by_id_size("class-dumps-of-the-same-class")
def class_dumps_again(layout: Layout, size: int) -> Iterator[Bytes]:
    row = layout.class_dump(OBJECT)
    yield from in_heap(layout, row * (size // len(row)))


# Top-level records


@shape_by_id_size("load-class")
def load_classes(layout: Layout, size: int) -> Iterator[Bytes]:
    """Each with an undefined name and an undefined stack trace of its own."""
    row = layout.load_class(0, 0, 0)
    count, w = size // len(row), layout.id_size
    serials = numbers(count)
    classes = numbers(count, 8)
    yield from at_top(layout, table(row, count, (9, 4, serials), (13, w, classes), (13 + w, 4, serials), (17 + w, w, serials)))


@shape_by_id_size("frames")
def frames(layout: Layout, size: int) -> Iterator[Bytes]:
    w = layout.id_size
    row = record(0x04, bytes(4 * w + 8))
    count = size // len(row)
    columns = [(9 + i * w, w, numbers(count, 1, start=1 + i * count)) for i in range(4)]
    yield from at_top(layout, table(row, count, *columns, (9 + 4 * w, 4, numbers(count))))


@shape_by_id_size("traces-without-frames", valid=True)
def traces(layout: Layout, size: int) -> Iterator[Bytes]:
    row = record(0x05, bytes(12))
    count = size // len(row)
    yield from at_top(layout, table(row, count, (9, 4, numbers(count)), (13, 4, numbers(count))))


@shape_by_id_size("trace-of-undefined-frames")
def undefined_frames(layout: Layout, size: int) -> Iterator[Bytes]:
    count = size // layout.id_size
    ids = table(bytes(layout.id_size), count, (0, layout.id_size, numbers(count, 3)))
    yield from at_top(layout, record(0x05, u4(1) + u4(0) + u4(count) + ids))


@shape_by_id_size("start-thread")
def start_threads(layout: Layout, size: int) -> Iterator[Bytes]:
    w = layout.id_size
    row = record(0x0A, bytes(8 + 4 * w))
    count = size // len(row)
    columns = [(o, w, numbers(count, 1, start=1 + i * count)) for i, o in enumerate((17 + w, 17 + 2 * w, 17 + 3 * w))]
    yield from at_top(layout, table(row, count, (9, 4, numbers(count)), (13 + w, 4, numbers(count)), *columns))


for name, tag in (("end-thread", 0x0B), ("unload-class", 0x03)):

    def serials_only(size: int, tag: int = tag) -> Iterator[Bytes]:
        row = record(tag, bytes(4))
        count = size // len(row)
        yield from at_top(FOUR, table(row, count, (9, 4, numbers(count))))

    shape(name, valid=True)(serials_only)


@shape("allocation-sites")
def allocation_sites(size: int) -> Iterator[Bytes]:
    count = size // 25
    sites = table(bytes(25), count, (1, 4, numbers(count)), (5, 4, numbers(count)))
    yield from at_top(FOUR, record(0x06, struct.pack(">HIIIQQI", 0, 0, 0, 0, 0, 0, count) + sites))


@shape("cpu-samples")
def cpu_samples(size: int) -> Iterator[Bytes]:
    count = size // 8
    yield from at_top(FOUR, record(0x0D, u4(0) + u4(count) + table(bytes(8), count, (4, 4, numbers(count, 3)))))


@shape("unknown-records")
def unknown_records(size: int) -> Iterator[Bytes]:
    yield from at_top(FOUR, (record(0x77, b"") + record(0x0E, bytes(6))) * (size // 24))


@shape("unknown-records-only")
def unknown_records_only(size: int) -> Iterator[Bytes]:
    yield from at_top(FOUR, record(0x77, b"") * (size // 9))


@shape("strings-that-are-no-utf8")
def bad_strings(size: int) -> Iterator[Bytes]:
    row = FOUR.utf8(0, b"\xff")
    count = size // len(row)
    yield from at_top(FOUR, table(row, count, (9, 4, numbers(count))))


for name, row in (
    ("the-same-string", FOUR.utf8(1)),
    ("the-same-string-otherwise", FOUR.utf8(1) + FOUR.utf8(1, b"x")),
    ("the-same-load-class", FOUR.load_class(1, 16, 1)),
    ("the-same-frame", record(0x04, u4(1) * 4 + u4(1) + u4(1))),
    ("the-same-trace", record(0x05, u4(1) + u4(0) + u4(0))),
    ("the-same-thread", record(0x0A, u4(1) + bytes(20))),
    ("records-of-a-wrong-length", record(0x0E, bytes(3))),
    ("traces-of-a-wrong-length", record(0x05, u4(1) + u4(0) + u4(1))),
    ("heap-dump-ends", END),
    ("empty-segments", record(0x1C, b"")),
    ("empty-heap-dumps", record(0x0C, b"")),
):

    def again(size: int, row: bytes = row) -> Iterator[Bytes]:
        yield from (FOUR.header(), row * (size // len(row)), END)

    shape(name, valid=name in ("the-same-string", "the-same-trace", "heap-dump-ends", "empty-segments", "empty-heap-dumps"))(again)


# Roots

for tag, width, name in (
    (0xFF, 0, "unknown"), (0x01, 1, "jni-global"), (0x02, 8, "jni-local"), (0x03, 8, "java-frame"), (0x04, 4, "native-stack"),
    (0x05, 0, "sticky-class"), (0x06, 4, "thread-block"), (0x07, 0, "monitor-used"), (0x08, 8, "thread-object"),
):  # fmt: skip

    def roots(layout: Layout, size: int, tag: int = tag, width: int = width) -> Iterator[Bytes]:
        """Roots, each of another undefined object, and if it has one, of another thread."""
        w = layout.id_size
        row = bytes([tag]) + bytes(w + (w if width == 1 else width))
        count = size // len(row)
        columns = [(1, w, numbers(count, (1 << 19) + 8, start=0x80000))]
        if width >= 4:
            columns.append((1 + w, 4, numbers(count)))
        if tag == 0x08:
            columns.append((5 + w, 4, numbers(count)))
        yield from in_heap(layout, table(row, count, *columns))

    shape_by_id_size(f"roots-{name}", valid=width < 4)(roots)


@shape_by_id_size("roots-with-frames-of-one-thread")
def roots_with_frames(layout: Layout, size: int) -> Iterator[Bytes]:
    w = layout.id_size
    row = b"\x03" + layout.ids(OBJECT) + u4(1) + u4(0)
    count = size // len(row)
    yield layout.header() + record(0x05, u4(1) + u4(1) + u4(0))
    thread = b"\x08" + layout.ids(OBJECT) + u4(1) + u4(1)
    yield segment(thread, layout.class_dump(OBJECT), table(row, count, (5 + w, 4, numbers(count))))
    yield END


# The smallest of each kind: all that it defines or uses is distinct, scattered, and otherwise undefined


SCATTER = 0x9E3779B9  # Odd, so that its multiples are distinct in 4 bytes and in 8; in 8 bytes each lies in a page of its own.


def smallest(layout: Layout, size: int, head: bytes, kinds: str, before: int = 0) -> bytearray:
    """Rows of a head and fields: `i` is an ID and `s` a serial, which are filled; `o` is an ID of 0, and a digit is a byte."""
    row, columns = head, []
    for kind in kinds:
        width = layout.id_size if kind in "io" else 4 if kind == "s" else 1
        if kind in "is":
            columns.append((len(row), width))
        row += bytes(width) if kind in "ios" else bytes([int(kind)])
    if before:  # The length of a record.
        row = row[: before - 4] + u4(len(row) - before) + row[before:]
    count = size // len(row)
    step = SCATTER if layout is EIGHT else 8 * SCATTER  # In fewer pages, so that all get bitmaps within the allowance.
    return table(row, count, *((*c, numbers(count, step, start=step * (1 + i * count))) for i, c in enumerate(columns)))


for tag, kinds, name in (
    (0x01, "i", "utf8"), (0x02, "sisi", "load-class"), (0x03, "s", "unload-class"), (0x04, "iiiis0000", "frame"),
    (0x05, "ss0000", "trace"), (0x0A, "sisiii", "start-thread"), (0x0B, "s", "end-thread"),
):  # fmt: skip

    def smallest_records(layout: Layout, size: int, tag: int = tag, kinds: str = kinds) -> Iterator[Bytes]:
        yield from at_top(layout, smallest(layout, size, bytes([tag]) + bytes(8), kinds, before=9))

    shape_by_id_size(f"smallest-{name}", valid=name in ("utf8", "unload-class", "trace", "end-thread"))(smallest_records)

for tag, kinds, name in (
    (0x01, "ii", "root-jni-global"), (0x02, "is1234", "root-jni-local"), (0x03, "is1234", "root-java-frame"),
    (0x04, "is", "root-native-stack"), (0x05, "i", "root-sticky-class"), (0x08, "iss", "root-thread-object"),
    (0x20, "isiiiioo0000000000", "class"), (0x20, "isoiiioo0000000000", "class-without-superclass"),
    (0x20, "isiiiioo0000000001i2", "class-with-a-field"), (0x20, "isiiiioo0000000001i4", "class-with-a-boolean"),
    (0x20, "isiiiioo00000001i2i00", "class-with-a-static-field"), (0x20, "isiiiioo000001002i0000", "class-with-a-constant"),
    (0x21, "isi0000", "instance"), (0x22, "is0000i", "object-array"), (0x22, "is0001ii", "object-array-of-one"),
    (0x23, "is00008", "primitive-array"), (0x8E, "is1234", "root-jni-monitor"), (0xC3, "is00008", "primitive-array-nodata"),
    (0xFE, "si", "heap-dump-info"),
):  # fmt: skip

    def smallest_subrecords(layout: Layout, size: int, tag: int = tag, kinds: str = kinds) -> Iterator[Bytes]:
        rows = smallest(layout, size, bytes([tag]), kinds)
        yield from (layout.header("1.0.3" if tag >= 0x80 else "1.0.2"), segment(rows), END)

    shape_by_id_size(f"smallest-{name}", valid=tag in (0x01, 0x05))(smallest_subrecords)
    if tag in (0x20, 0x21, 0x22):
        shape_by_id_size(f"smallest-{name}-pipe", pipe=True)(smallest_subrecords)


for few in (1, 2, 3, 4, 6, 9):

    def few_in_a_page(layout: Layout, size: int, few: int = few) -> Iterator[Bytes]:
        """Elements of an array, all undefined, the given number in each page of IDs."""
        w = layout.id_size
        count = size // w // few
        rows = table(bytes(w * few), count, *((w * i, w, numbers(count, 1 << 19, start=(1 << 19) + 8 * i)) for i in range(few)))
        head = layout.objects(0x20, OBJECT, b"").replace(u4(0) + layout.ids(OBJECT), u4(count * few) + layout.ids(OBJECT))
        yield from in_heap(layout, head, rows)

    shape_by_id_size(f"missing-elements-{few}-in-a-page")(few_in_a_page)


for full in (1000, 2000, 2759, 3072, 3500, 4097):

    def pages_just_full(layout: Layout, size: int, full: int = full) -> Iterator[Bytes]:
        """Elements that fill page after page up to the given number of IDs."""
        w = layout.id_size
        pages = size // w // full
        rows = (table(bytes(w), full, (0, w, numbers(full, 8 * 13, start=(1 + page) << 19))) for page in range(pages))
        head = layout.objects(0x20, OBJECT, b"").replace(u4(0) + layout.ids(OBJECT), u4(pages * full) + layout.ids(OBJECT))
        yield from in_heap(layout, head, *rows)

    shape_by_id_size(f"missing-elements-{full}-in-a-page")(pages_just_full)


# Objects


@shape_by_id_size("instances-of-missing-classes")
def missing_classes(layout: Layout, size: int) -> Iterator[Bytes]:
    w = layout.id_size
    row = layout.instance(0, 0)
    count = size // len(row)
    yield from in_heap(layout, table(row, count, (1, w, numbers(count, 8, start=0x1000)), (5 + w, w, numbers(count, 1 << 19))))


@shape_by_id_size("instances-of-missing-classes-pipe", pipe=True)
def missing_classes_pipe(layout: Layout, size: int) -> Iterator[Bytes]:
    yield from missing_classes(layout, size)


@shape_by_id_size("instances-of-threads", valid=True)
def instances_of_threads(layout: Layout, size: int) -> Iterator[Bytes]:
    """What is an instance of java.lang.Thread is kept for the end of the heap dump."""
    row = layout.instance(0, 0x1000)
    count = size // len(row)
    step = SCATTER if layout is EIGHT else 8 * SCATTER
    yield layout.header() + layout.utf8(1, b"java/lang/Thread") + layout.load_class(1, 0x1000, 1)
    yield segment(layout.class_dump(0x1000), table(row, count, (1, layout.id_size, numbers(count, step))))
    yield END


@shape_by_id_size("sticky-arrays", valid=True)
def sticky_arrays(layout: Layout, size: int) -> Iterator[Bytes]:
    """Each root is a finding, as the class java.lang.Class is there."""
    w = layout.id_size
    row = b"\x05" + layout.ids(0) + layout.array(0)
    count = size // len(row)
    ids = numbers(count, SCATTER if layout is EIGHT else 8 * SCATTER)
    yield layout.header() + layout.utf8(1, b"java/lang/Class") + layout.load_class(1, 0x1000, 1)
    yield segment(layout.class_dump(0x1000), table(row, count, (1, w, ids), (2 + w, w, ids)))
    yield END


@shape_by_id_size("instances-before-their-class")
def agent_order(layout: Layout, size: int) -> Iterator[Bytes]:
    row = layout.instance(0, 0x1000)
    count = size // len(row)
    instances = table(row, count, (1, layout.id_size, numbers(count, 8, start=0x2000)))
    yield layout.header()
    yield segment(instances, layout.class_dump(0x1000))
    yield END


@shape_by_id_size("instances-before-their-class-pipe", pipe=True)
def agent_order_pipe(layout: Layout, size: int) -> Iterator[Bytes]:
    yield from agent_order(layout, size)


@shape_by_id_size("scattered-instances-before-their-class-pipe", pipe=True)
def agent_order_scattered(layout: Layout, size: int) -> Iterator[Bytes]:
    row = layout.instance(0, 0x1000)
    count = size // len(row)
    yield layout.header()
    yield segment(table(row, count, (1, layout.id_size, numbers(count, (1 << 19) + 8, start=0x80000))), layout.class_dump(0x1000))
    yield END


@shape_by_id_size("duplicates")
def duplicates(layout: Layout, size: int) -> Iterator[Bytes]:
    row = layout.array(0x2000)
    yield from in_heap(layout, row * (size // len(row)))


@shape_by_id_size("scattered-duplicates")
def scattered_duplicates(layout: Layout, size: int) -> Iterator[Bytes]:
    row = layout.array(0)
    count = size // 2 // len(row)
    rows = table(row, count, (1, layout.id_size, numbers(count, (1 << 19) + 8, start=0x80000)))
    yield from in_heap(layout, rows, rows)


@shape_by_id_size("records-that-end-within-their-first-object")
def short_records(layout: Layout, size: int) -> Iterator[Bytes]:
    """After damage each may be a heap dump record of another length, in which the next one lies."""
    row = record(0x1C, layout.instance(0x2000, 0x100), 1)
    yield layout.header() + layout.utf8(1, b"Foo") + layout.load_class(1, 0x100, 1)
    yield segment(layout.class_dump(0x100)) + b"\x90" * 40 + row * (size // len(row))
    yield END


@shape_by_id_size("failures-after-a-long-string")
def failures_after_a_string(layout: Layout, size: int) -> Iterator[Bytes]:
    """The string may be none, so each failure could lead back to it."""
    row = b"\x77" * 3 + layout.array(0x2000) * 14
    yield layout.header()
    yield layout.utf8(1, b"java/lang/Object") + layout.load_class(1, OBJECT, 1)
    yield segment(layout.class_dump(OBJECT)) + layout.utf8(2, b"x" * 70000) + segment(row * (size // len(row)))
    yield END


@shape_by_id_size("long-strings-that-may-be-records", valid=True)
def strings_of_tags(layout: Layout, size: int) -> Iterator[Bytes]:
    """Each is so long that it may be none: other items are sought in it, and any byte may begin one."""
    row = random.Random(size).choices(b"\x01\x02\x05\x07\x20\x21\x22\x23", k=70000)
    yield layout.header()
    for i in range(size // len(row)):
        yield layout.utf8(i + 1, bytes(row))


@shape_by_id_size("records-within-records")
def records_within_records(layout: Layout, size: int) -> Iterator[Bytes]:
    """Each string that is not UTF-8, and each record of unknown tag, has others in it, up to a byte that leads nowhere."""
    within = b"\xff\0" + layout.utf8(1, b"a") * 7 + b"\x01"
    rows = [layout.utf8(2, within), record(0x77, within)]
    yield layout.header()
    for i in range(size // len(rows[0])):
        yield rows[i % 2]


@shape_by_id_size("arrays-in-an-array")
def arrays_in_an_array(layout: Layout, size: int) -> Iterator[Bytes]:
    """One object is missing, and the payload of an array looks like objects: a repair looks for it there."""
    row = layout.array(0)
    count = size // len(row)
    node = layout.class_dump(0x100, OBJECT, layout.id_size, fields=layout.ids(1) + b"\x02")
    missing = layout.instance(0x1000, 0x100, layout.ids(0x7770))
    yield from in_heap(
        layout, node, missing, layout.array(0x2000, bytes(table(row, count, (1, layout.id_size, numbers(count, 8, 1 << 20)))))
    )


@shape_by_id_size("damage-after-each-object")
def damage_after_each(layout: Layout, size: int) -> Iterator[Bytes]:
    """One object is missing, so a repair looks for it in what is skipped each time."""
    row = layout.array(0) * 12 + b"\x99" * 9
    count, width = size // len(row), len(layout.array(0))
    columns = [(i * width + 1, layout.id_size, numbers(count, 96, 0x2000 + 8 * i)) for i in range(12)]
    node = layout.class_dump(0x100, OBJECT, layout.id_size, fields=layout.ids(1) + b"\x02")
    missing = layout.instance(0x1000, 0x100, layout.ids(0x1008))
    yield from in_heap(layout, node, missing, table(row, count, *columns))


@shape_by_id_size("chains-that-cross-the-end-of-an-array")
def chains_that_cross(layout: Layout, size: int) -> Iterator[Bytes]:
    """One object is missing. In an array objects lead to an array that ends far after it: does a sub-record begin there?"""
    far, ids, width = 2 << 20, layout.id_size, len(layout.instance(0, OBJECT))
    node = layout.class_dump(0x1000000, OBJECT, ids, fields=layout.ids(1) + b"\x02")
    missing = layout.instance(0x1000008, 0x1000000, layout.ids(0x1000010))
    row = layout.instance(0, OBJECT) * 4 + layout.objects(0x1000018, OBJECT, b"")
    count = max(size - 2 * far, size // 4) // len(row)
    counts = numbers(count, -(len(row) // ids), (count * len(row) + far) // ids)
    columns = [(i * width + 1, ids, numbers(count, 32, 0x1000020 + 8 * i)) for i in range(4)]
    payload = table(row, count, *columns, (4 * width + 5 + ids, 4, counts))
    yield from in_heap(layout, node, missing, layout.array(0x1000, bytes(payload)), layout.array(0x1008, bytes(2 * far)))


@shape_by_id_size("large-classes-of-missing-classes")
def large_classes(layout: Layout, size: int) -> Iterator[Bytes]:
    """Each says that its instances have half a megabyte, which its superclass, a stand-in, would have."""
    w = layout.id_size
    row = layout.class_dump(0, 0, 524000)
    count = size // len(row)
    yield from in_heap(layout, table(row, count, (1, w, numbers(count, 8, 1 << 20)), (5 + w, w, numbers(count, 8, 1 << 28))))


@shape_by_id_size("chain-of-classes-that-their-instances-contradict")
def contradicted_chain(layout: Layout, size: int) -> Iterator[Bytes]:
    """Each class is the superclass of the next, says another size than its fields take, and has an instance of a third."""
    w = layout.id_size
    row, one = layout.class_dump(0, 0, 99), layout.instance(0, 0, b"abc")
    count = size // len(row + one)
    chain = table(row, count, (1, w, numbers(count, 8, 1 << 20)), (5 + w, w, numbers(count, 8, (1 << 20) - 8)))
    instances = table(one, count, (1, w, numbers(count, 8, 1 << 28)), (5 + w, w, numbers(count, 8, 1 << 20)))
    yield from in_heap(layout, layout.class_dump((1 << 20) - 8, 0), chain, instances)


@shape("instances-of-a-wrong-length")
def wrong_lengths(size: int) -> Iterator[Bytes]:
    row = EIGHT.instance(0, OBJECT, b"x")
    count = size // len(row)
    yield from in_heap(EIGHT, table(row, count, (1, 8, numbers(count, 8, start=0x2000))))


@shape("instances-of-a-wrong-length-before-a-large-class")
def wrong_lengths_before_classes(size: int) -> Iterator[Bytes]:
    """Recovery looks at what follows a fault: here, seven times, a class of 60 KB."""
    fields = (EIGHT.ids(1) + b"\x08\0") * 6000
    row = EIGHT.instance(0, OBJECT, b"x") * 7 + EIGHT.class_dump(0x1000, OBJECT, statics=fields)
    yield from in_heap(EIGHT, row * (size // len(row)))


@shape("instances-of-a-wrong-length-pipe", pipe=True)
def wrong_lengths_pipe(size: int) -> Iterator[Bytes]:
    row = EIGHT.instance(0, 0x1000, b"x")
    count = size // len(row)
    yield EIGHT.header()
    yield segment(table(row, count, (1, 8, numbers(count, 8, start=0x2000))), EIGHT.class_dump(0x1000))
    yield END


@shape("headers-before-wrong-lengths")
def headers_before_wrong_lengths(size: int) -> Iterator[Bytes]:
    """At each of them the dump might begin anew: as much as 60 KB before the first."""
    unload = record(0x03, u4(1))
    row = EIGHT.utf8(1, EIGHT.header()) + record(0x03, u4(1), 5) + unload * 2
    yield EIGHT.header() + EIGHT.utf8(1, b"a" * 60000)
    yield row * (size // len(row))


@shape("boolean-fields-of-2")
def boolean_fields(size: int) -> Iterator[Bytes]:
    row = EIGHT.instance(0, 0x1000, b"\2" * 8)
    count = size // len(row)
    fields = b"".join(EIGHT.ids(1) + b"\x04" for _ in range(8))
    yield EIGHT.header() + EIGHT.utf8(1, b"f")
    yield segment(EIGHT.class_dump(0x1000, 0, 8, fields=fields), table(row, count, (1, 8, numbers(count, 8, start=0x2000))))
    yield END


@shape("boolean-arrays-of-2", valid=True)
def boolean_arrays(size: int) -> Iterator[Bytes]:
    row = b"\x23" + bytes(8) + u4(0) + u4(1) + b"\x04\x02"
    count = size // len(row)
    yield from in_heap(EIGHT, table(row, count, (1, 8, numbers(count, 8, start=0x2000))))


@shape("object-arrays-of-as-many-classes")
def array_classes(size: int) -> Iterator[Bytes]:
    row = FOUR.objects(0, 0, b"")
    count = size // len(row)
    yield from in_heap(
        FOUR, table(row, count, (1, 4, numbers(count, 8, start=0x2000)), (13, 4, numbers(count, 8, start=0x80000004)))
    )


@shape("a-stack-trace-for-each-object")
def object_traces(size: int) -> Iterator[Bytes]:
    row = FOUR.array(0)
    count = size // len(row)
    yield from in_heap(FOUR, table(row, count, (1, 4, numbers(count, (1 << 19) + 8, start=0x80000)), (5, 4, numbers(count))))


# Segments and dumps


@shape("segments-of-one-object", valid=True)
def small_segments(size: int) -> Iterator[Bytes]:
    row = segment(FOUR.array(0))
    count = size // len(row)
    yield from (FOUR.header(), table(row, count, (10, 4, numbers(count, 8))), END)


@shape("segments-that-cut-their-sub-record")
def cutting_segments(size: int) -> Iterator[Bytes]:
    """Each segment ends within an array that continues in the next one."""
    whole = FOUR.array(0x100, bytes(40))
    row = record(0x1C, whole[:20]) + record(0x1C, whole[20:])
    yield from (FOUR.header(), row * (size // len(row)), END)


@shape("segments-that-cut-a-large-class")
def cutting_classes(size: int) -> Iterator[Bytes]:
    whole = FOUR.class_dump(0x100, statics=(FOUR.ids(1) + b"\x08\0") * 65535)
    row = record(0x1C, whole[:-1]) + record(0x1C, whole[-1:])
    yield from (FOUR.header() + FOUR.utf8(1), row * (size // len(row)), END)


@shape("a-class-cut-into-segments-of-one-byte")
def cut_to_bytes(size: int) -> Iterator[Bytes]:
    whole = FOUR.class_dump(0x100, statics=(FOUR.ids(1) + b"\x08\0") * 65535)
    row = record(0x1C, whole[:300_000]) + b"".join(record(0x1C, whole[i : i + 1]) for i in range(300_000, 310_000))
    yield from (FOUR.header() + FOUR.utf8(1), row * (size // len(row)), END)


@shape("arrays-in-hundreds-of-segments")
def arrays_in_parts(size: int) -> Iterator[Bytes]:
    """Each is joined. A byte of a part is no tag."""
    whole = FOUR.array(0x77777777, b"\x77" * 90_000)
    row = record(0x1C, whole[:14]) + b"".join(record(0x1C, whole[i : i + 100]) for i in range(14, len(whole), 100))
    yield from (FOUR.header(), row * (size // len(row)), END)


@shape("arrays-too-long-to-be-joined")
def arrays_too_long(size: int) -> Iterator[Bytes]:
    whole = FOUR.array(0x77777777, b"\x77" * 90_000)
    row = record(0x1C, whole[:14]) + b"".join(record(0x1C, whole[i : i + 80]) for i in range(14, len(whole), 80))
    yield from (FOUR.header(), row * (size // len(row)), END)


@shape_by_id_size("instances-in-two-segments-before-their-class")
def cut_before_class(layout: Layout, size: int) -> Iterator[Bytes]:
    whole = layout.instance(0, 0x1000, bytes(layout.id_size))
    half = len(whole) // 2
    row = record(0x1C, whole[:half]) + record(0x1C, whole[half:])
    count = size // len(row)
    yield layout.header()
    yield table(row, count, (10, layout.id_size, numbers(count, 16, start=0x2000)))
    yield segment(layout.class_dump(0x1000, size=layout.id_size, fields=layout.ids(1) + b"\x02"))
    yield END


@shape_by_id_size("instances-in-two-segments-before-their-class-pipe", pipe=True)
def cut_before_class_pipe(layout: Layout, size: int) -> Iterator[Bytes]:
    yield from cut_before_class(layout, size)


@shape("segments-of-a-tag")
def tags_alone(size: int) -> Iterator[Bytes]:
    """The smallest segments after which plain reading fails: each has a jump of its own."""
    row = record(0x1C, b"\x05")
    yield from (FOUR.header(), row * (size // len(row)), END)


@shape("heap-dumps-of-one-object", valid=True)
def small_dumps(size: int) -> Iterator[Bytes]:
    row = record(0x0C, FOUR.array(0))
    count = size // len(row)
    yield from (FOUR.header("1.0.1"), table(row, count, (10, 4, numbers(count, 8))))


def faulty_dump(i: int, padding: int) -> bytes:
    """A dump with a class after its instance, a dangling reference and a duplicate."""
    field = EIGHT.ids(1) + b"\x02"
    return record(
        0x0C,
        EIGHT.instance(0x20, 0x10, EIGHT.ids(0x1000 + 8 * i))
        + EIGHT.class_dump(0x10, 0, 8, fields=field)
        + EIGHT.array(0x28) * 2
        + EIGHT.array(0x30, bytes(padding)),
    )


def faulty_dumps(size: int, padding: int) -> Iterator[Bytes]:
    yield EIGHT.header("1.0.1") + EIGHT.utf8(1, b"f")
    for i in range(max(1, size // len(faulty_dump(0, padding)))):
        yield faulty_dump(i, padding)


for padding in (0, 5000, 700_000, 1_500_000):
    shape(f"faulty-dumps-{padding}")(functools.partial(faulty_dumps, padding=padding))
    shape(f"faulty-dumps-{padding}-all-findings", arguments=("--max-errors", "0"))(functools.partial(faulty_dumps, padding=padding))


# The search for the way after a failure


def chains_that_break_late(layout: Layout, unit: bytes, size: int) -> Iterator[Bytes]:
    """A failure, and then bytes each of which may begin a chain. All chains end at one tag that does not exist."""
    yield layout.header() + layout.utf8(1, b"Object") + record(0x02, u4(1) + layout.ids(OBJECT) + u4(0) + layout.ids(1))
    yield segment(layout.class_dump(OBJECT), b"\x99", unit * (size // len(unit)), b"\x99" * 64)
    yield END


for items, fill in (
    ("roots", lambda w: b"\x05" * (w + 1)),
    ("classes", lambda w: b"\x20"),
    ("short-arrays", lambda w: b"\x23" + bytes(w - 1) + b"\x23" + bytes(4) + u4(0) + b"\x08"),
    ("overlapping-arrays", lambda w: b"\x23" * w + bytes(3) + b"\x23" + bytes(3) + b"\x08" * 2),
    ("instances", lambda w: b"\x21" + (OBJECT + 8).to_bytes(w, "big") + u4(0) + OBJECT.to_bytes(w, "big") + u4(0)),
    ("records", lambda w: record(0x02, b"\x02" * (2 * w + 8))),
    ("strings", lambda w: record(0x01, b"\x01" * 20)),
    ("heap-dump-ends", lambda w: END + b"\x2c"),
    ("headers-of-segments", lambda w: record(0x1C, b"\x21", 1000)),
):

    def late_chains(layout: Layout, size: int, fill: Callable[[int], bytes] = fill) -> Iterator[Bytes]:
        yield from chains_that_break_late(layout, fill(layout.id_size), size)

    shape_by_id_size(f"chains-of-{items}-that-break-late")(late_chains)


@shape_by_id_size("a-failure-after-each-object")
def many_failures(layout: Layout, size: int) -> Iterator[Bytes]:
    """Reading fails, goes on, and fails again."""
    row = layout.array(0x2000, b"x" * 20) * 3 + b"\x99"
    yield from in_heap(layout, row * (size // len(row)))


@shape_by_id_size("a-failure-after-each-array-of-sub-records")
def copies_of_subrecords(layout: Layout, size: int) -> Iterator[Bytes]:
    """An array holds what may be sub-records; then reading fails, so the array is doubted."""
    inner = layout.instance(0x2000, OBJECT) * 200
    row = layout.array(0x3000, inner) + b"\x99"
    yield from in_heap(layout, row * (size // len(row)))


@shape_by_id_size("one-array-of-sub-records-before-a-failure")
def copies_before_a_failure(layout: Layout, size: int) -> Iterator[Bytes]:
    inner = layout.instance(0x2000, OBJECT)
    yield from in_heap(layout, layout.array(0x3000, inner * (size // len(inner))), b"\x99")


@shape_by_id_size("unknown-records-of-sub-records")
def unknown_with_subrecords(layout: Layout, size: int) -> Iterator[Bytes]:
    """Each may be a heap dump record whose tag is wrong."""
    row = record(0x77, layout.instance(0x2000, OBJECT) * 8)
    yield from (layout.header(), layout.utf8(1), row * (size // len(row)), END)


@shape_by_id_size("unknown-records-of-tags")
def unknown_with_tags(layout: Layout, size: int) -> Iterator[Bytes]:
    """The body of each seems to begin with sub-records."""
    row = record(0x77, b"\x05" * 30)
    yield from (layout.header(), layout.utf8(1), row * (size // len(row)), END)


@shape_by_id_size("instances-with-roots-after-their-values")
def roots_in_instances(layout: Layout, size: int) -> Iterator[Bytes]:
    """Each instance is as long as its values and the roots after them; from the first of these a chain leads to the end."""
    w = layout.id_size
    sized = layout.class_dump(0x18, OBJECT, 8, fields=layout.ids(1) + b"\x0b")
    roots = [b"\x05" + layout.ids(i) for i in (OBJECT, 0x18)]
    objects = layout.instance(0, 0x18, b"whatever") * 5
    row = layout.instance(0, 0x18, b"whatever" + b"".join(roots)) + objects
    count = size // len(row)
    starts = [0, *range(len(row) - len(objects), len(row), len(objects) // 5)]
    columns = [(start + 1, w, numbers(count, 128, start=0x10000 + 16 * i)) for i, start in enumerate(starts)]
    yield layout.header()
    yield layout.utf8(1, b"java/lang/Object") + layout.load_class(1, OBJECT, 1) + layout.load_class(2, 0x18, 1)
    yield segment(layout.class_dump(OBJECT), sized, table(row, count, *columns))
    yield END


# gzip


def as_gzip(parts: Iterable[Bytes]) -> Iterator[Bytes]:
    """One gzip member."""
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    for part in parts:
        yield packer.compress(part)
    yield packer.flush()


for padding, larger in ((5000, 1), (1_500_000, 8)):

    def faulty_dumps_as_gzip(size: int, padding: int = padding, larger: int = larger) -> Iterator[Bytes]:
        """The second look needs a way back into the only member."""
        yield from as_gzip(faulty_dumps(larger * size, padding))

    shape(f"faulty-dumps-{padding}-gzip", gzip=True)(faulty_dumps_as_gzip)


@shape("gzip-of-zeros", valid=True, gzip=True)
def gzip_of_zeros(size: int) -> Iterator[Bytes]:
    """A string of zeros, a thousand times as long as the file."""

    def parts() -> Iterator[Bytes]:
        yield EIGHT.header() + record(0x01, EIGHT.ids(1), size)
        left = size - 8
        while left:
            yield bytes(min(left, 1 << 20))
            left -= min(left, 1 << 20)

    yield from as_gzip(parts())


@shape("gzip-of-empty-members", valid=True)
def empty_members(size: int) -> Iterator[Bytes]:
    member = gzip.compress(b"", mtime=0)
    yield gzip.compress(EIGHT.header(), mtime=0)
    yield member * (size // len(member))


@shape("gzip-of-members-of-one-byte")
def members_of_one_byte(size: int) -> Iterator[Bytes]:
    members = b"".join(gzip.compress(bytes([b]), mtime=0) for b in record(0x77, b""))
    yield gzip.compress(EIGHT.header(), mtime=0)
    yield members * (size // len(members))


@shape("gzip-member-with-a-long-name", valid=True)
def long_name(size: int) -> Iterator[Bytes]:
    member = gzip.compress(EIGHT.header(), mtime=0)
    yield member[:3] + b"\x08" + member[4:10] + b"x" * size + b"\0" + member[10:]


@shape("gzip-of-members-without-data")
def members_without_data(size: int) -> Iterator[Bytes]:
    """No set of flags leads to data: --repair tries them all, but not for each member."""
    yield b"".join(gzip.compress(part, mtime=0) for part in in_heap(EIGHT, EIGHT.array(0x20)))
    yield (b"\x1f\x8b\x08\0" + bytes(6) + b"\xff" * 8) * (size // 18)


@shape("garbage-after-gzip")
def garbage_after_gzip(size: int) -> Iterator[Bytes]:
    yield gzip.compress(EIGHT.header(), mtime=0) + b"x" * size


# What is no dump may be a gzip file whose beginning is lost: members are looked for in it.


@shape("no-dump-full-of-members-of-one-byte")
def no_dump_full_of_members(size: int) -> Iterator[Bytes]:
    member = gzip.compress(b"\x21", mtime=0)
    yield b"\x01" + member * (size // len(member))


@shape("no-dump-full-of-members-that-fail")
def no_dump_full_of_failing_members(size: int) -> Iterator[Bytes]:
    """Each header leads to the same data, which becomes 64 KB and then fails."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    unit = b"\x1f\x8b\x08\x08" + bytes(6) + b"x" * 500 + b"\0"
    yield (b"\x01" + unit * 100 + packer.compress(bytes(60 << 10)) + packer.flush() + b"\xff" * 20) * (size // 50_000)


# A valid member whose data is full of what looks like members: threads that look for members must not inflate them all.

FAKE_HEADER = b"\x1f\x8b\x08" + bytes(6) + b"\x03"


def stored(size: int, is_last: bool = False) -> bytes:
    """The header of a stored block: RFC 1951, 3.2.4."""
    return struct.pack("<BHH", is_last, size, 0xFFFF - size)


def member_of_stored_blocks(block: bytes, size: int) -> Iterator[Bytes]:
    """A dump of one byte[], which is filled with `block`, in one member. Each block of the member holds `block` once."""
    count = size // len(block) + 1
    array = b"\x23" + EIGHT.ids(0x20) + u4(0) + u4(count * len(block)) + b"\x08"
    start = b"".join([*in_heap(EIGHT)][:2]) + segment(EIGHT.class_dump(OBJECT))
    start += record(0x1C, array, len(array) + count * len(block))
    check = zlib.crc32(start)
    yield FAKE_HEADER + stored(len(start)) + start
    for _ in range(count):
        yield stored(len(block)) + block
        check = zlib.crc32(block, check)
    yield stored(len(END), is_last=True) + END
    yield struct.pack("<II", zlib.crc32(END, check), len(start) + count * len(block) + len(END))


@shape("gzip-of-fake-members-without-end", valid=True, gzip=True)
def fake_members_without_end(size: int) -> Iterator[Bytes]:
    """Every 15 bytes a member seems to begin. Its blocks are as long as those of the real member, and lead to its end."""
    unit = len(FAKE_HEADER) + len(stored(0))
    length = 0xFFFF // unit * unit - len(stored(0))
    yield from member_of_stored_blocks((FAKE_HEADER + stored(length)) * (length // unit) + FAKE_HEADER, size)


@shape("gzip-of-fake-members-with-a-wrong-checksum", valid=True, gzip=True)
def fake_members_with_wrong_checksum(size: int) -> Iterator[Bytes]:
    """Every 15 bytes a member of 32 KB seems to begin. Only its checksum, at its end, shows that it does not."""
    yield from member_of_stored_blocks((FAKE_HEADER + stored(32 << 10, is_last=True)) * 4000, size)


@shape("gzip-of-fake-members-that-grow", valid=True, gzip=True)
def fake_members_that_grow(size: int) -> Iterator[Bytes]:
    """Every 15 bytes a member seems to begin. Its first block leads to data that all of 4000 share, and that becomes 4 MB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    shared = packer.compress(bytes(4 << 20)) + packer.flush()
    unit = len(FAKE_HEADER) + len(stored(0))
    fakes = b"".join(FAKE_HEADER + stored(unit * (3999 - i)) for i in range(4000))
    yield from member_of_stored_blocks(fakes + shared, size)
