"""Dumps whose threads are made to cost time, memory or output of --stats. test_hostile.py knows what they may cost."""

from collections.abc import Callable, Iterable

from hostile_shapes import END, Bytes, Layout, numbers, record, segment, table, u4

THREAD, LAST = 0x1000, 0x2000  # classes; the threads are instances of the second
OBJECT, TEXT = 0x800000, 0x1800  # the first thread, and its name


def root(layout: Layout, trace: int = 0) -> bytes:
    return b"\x08" + layout.ids(OBJECT) + u4(0) + u4(trace)


def dump(layout: Layout, count: int, *classes: Bytes, step: int = 8) -> Iterable[Bytes]:
    """So many threads, each with an object; with a step of 0, all objects have the same ID."""
    width, row, body = layout.id_size, root(layout), layout.ids(TEXT)
    columns = [(1, width, numbers(count, step, start=OBJECT))] if step else []
    roots = table(row, count, *columns, (1 + width, 4, numbers(count)))
    yield layout.header() + b"".join(layout.utf8(i + 1, name) for i, name in enumerate((b"java/lang/Thread", b"name", b"Last")))
    yield layout.load_class(1, THREAD, 1) + layout.load_class(2, LAST, 3)
    yield segment(layout.class_dump(THREAD, 0, width, fields=layout.ids(2) + b"\x02"), *classes, roots)
    yield segment(layout.array(TEXT, b"a name"), table(layout.instance(OBJECT, LAST, body), count, *columns))
    yield END


def with_one_object(layout: Layout, size: int) -> Iterable[Bytes]:
    row = len(root(layout)) + len(layout.instance(0, 0, layout.ids(0)))
    yield from dump(layout, size // row, layout.class_dump(LAST, THREAD, layout.id_size), step=0)


def of_the_last_class_of_a_chain(layout: Layout, size: int) -> Iterable[Bytes]:
    """A third of the bytes are classes, whose fields are all of the first one."""
    row, w = layout.class_dump(0), layout.id_size
    count = size // 3 // len(row)
    chain = table(row, count, (1, w, numbers(count, 16, start=LAST)), (5 + w, w, numbers(count, 16, start=LAST + 16)))
    yield from dump(layout, size // 3 // len(root(layout)), layout.class_dump(LAST + 16 * count, THREAD, w), chain)


def of_a_wide_class(layout: Layout, size: int) -> Iterable[Bytes]:
    last = layout.class_dump(LAST, THREAD, 60000, fields=(layout.ids(3) + b"\x08") * 60000)
    yield from dump(layout, max(0, size - len(last)) // 2 // len(root(layout)), last)


def with_one_trace(layout: Layout, size: int) -> Iterable[Bytes]:
    """Half of the bytes are its frames."""
    frames = size // 2 // layout.id_size
    trace = record(0x05, u4(1) + u4(0) + u4(frames) + layout.ids(1) * frames)
    count = size // 2 // len(root(layout))
    roots = table(root(layout, trace=1), count, (1 + layout.id_size, 4, numbers(count)))
    yield layout.header() + layout.utf8(1, b"name") + record(0x04, layout.ids(1, 1, 1, 1) + u4(1) + u4(1)) + trace
    yield segment(layout.class_dump(OBJECT), roots)
    yield END


def smallest(layout: Layout, size: int) -> Iterable[Bytes]:
    row = root(layout)
    count = size // len(row)
    columns = ((1, layout.id_size, numbers(count, 8, start=OBJECT)), (1 + layout.id_size, 4, numbers(count)))
    yield layout.header()
    yield segment(layout.class_dump(THREAD), table(row, count, *columns))
    yield END


def with_a_long_name(layout: Layout, size: int) -> Iterable[Bytes]:
    row = record(0x0A, u4(0) + layout.ids(0) + u4(0) + layout.ids(1, 1, 1))
    count = size // len(row)
    yield layout.header("1.0.1") + layout.utf8(1, b"x" * 300)
    yield table(row, count, (9, 4, numbers(count)))


def of_classes_with_a_long_name(layout: Layout, size: int) -> Iterable[Bytes]:
    load, row, width = layout.load_class(0, 0, 1), layout.class_dump(0), layout.id_size
    count = size // (len(load) + len(row))
    ids = numbers(count, 16)
    yield layout.header() + layout.utf8(1, b"x" * 300) + table(load, count, (9, 4, numbers(count)), (13, width, ids))
    yield segment(table(row, count, (1, width, ids)))
    yield END


SHAPES: dict[str, Callable[[Layout, int], Iterable[Bytes]]] = {
    make.__name__: make
    for make in (
        with_one_object, of_the_last_class_of_a_chain, of_a_wide_class, with_one_trace, with_a_long_name,
        of_classes_with_a_long_name, smallest,
    )
}  # fmt: skip
