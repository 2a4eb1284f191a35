"""Reading a dump."""

import ctypes
import sys
import weakref
from array import array
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from enum import IntEnum
from threading import RLock
from types import TracebackType
from typing import Any

from ._library import IO, LIBRARY, LIMIT, VALID, CClass, CColumns, CField, CHeader, CItem, CReadOptions, made, text
from ._source import ObjectSource, PathOrFile, opened

_OBJECT = 2
_TYPES = {4: ("boolean", "B"), 5: ("char", "H"), 6: ("float", "f"), 7: ("double", "d"), 8: ("byte", "b"), 9: ("short", "h"),
          10: ("int", "i"), 11: ("long", "q")}
Value = int | float | bool | str


class Kind(IntEnum):
    RECORD = 1  # the sub-records of a heap dump record follow it as items of their own
    SUBRECORD = 2
    DAMAGE = 3  # bytes that are passed over


@dataclass(frozen=True, slots=True)
class Header:
    version: str
    id_size: int
    timestamp: int  # milliseconds since 1970-01-01 UTC
    compressed: bool


@dataclass(frozen=True, slots=True)
class Class:
    id: int
    name: str  # "java.lang.String[]"; "" if it is not known yet
    super_id: int
    loader_id: int
    instance_size: int
    is_dumped: bool  # its CLASS_DUMP was read


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: str  # "object", "int", ...
    class_id: int  # that declares it
    offset: int  # in the body of an instance, or of the CLASS_DUMP


@dataclass(frozen=True, slots=True)
class Objects:
    """All instances and arrays, a row each. numpy.asarray() of a column copies nothing."""

    id: "array[int]"
    class_id: "array[int]"  # 0 of arrays of a primitive type
    size: "array[int]"  # bytes of the sub-record
    offset: "array[int]"
    tag: "array[int]"  # 0x21 INSTANCE_DUMP, 0x22 OBJECT_ARRAY_DUMP, 0x23 PRIMITIVE_ARRAY_DUMP


@dataclass(frozen=True, slots=True)
class References:
    """All references of fields, static fields and elements that are not null, a row each."""

    source: "array[int]"  # the object, or the class of a static field
    target: "array[int]"


class Item:
    """A record, a sub-record or damage. Its contents can be read until the dump gives the next item."""

    __slots__ = (
        "_dump",
        "_turn",
        "class_id",
        "damage",
        "element_type",
        "elements",
        "heap_dump",
        "id",
        "kind",
        "line",
        "name",
        "name_id",
        "offset",
        "signature_id",
        "size",
        "source_id",
        "tag",
        "thread_serial",
        "trace_serial",
    )

    def __init__(self, dump: "Dump", item: CItem) -> None:
        self._dump = dump
        self._turn = dump._turn
        self.kind = Kind(item.kind)
        self.tag: int = item.tag
        self.offset: int = item.offset
        self.size: int = item.size
        self.heap_dump: int = item.heap_dump  # its number, from 1
        self.id: int = item.id  # of what the item defines, or of the object that is a root
        self.class_id: int = item.class_id
        self.name_id: int = item.name_id  # of a LOAD_CLASS; of a FRAME, its method
        self.signature_id: int = item.signature_id
        self.source_id: int = item.source_id
        self.line: int = item.line  # of a FRAME
        self.elements: int = item.elements  # of an array
        self.element_type: str = _TYPES[item.element_type][0] if item.element_type in _TYPES else ""
        self.thread_serial: int = item.thread_serial
        self.trace_serial: int = item.trace_serial
        self.damage: str = text(item.damage)
        name = LIBRARY.hprof_record_name if self.kind == Kind.RECORD else LIBRARY.hprof_subrecord_name
        self.name: str = "" if self.kind == Kind.DAMAGE else text(name(self.tag)) or f"0x{self.tag:02x}"

    def __repr__(self) -> str:
        return f"<{self.name or 'damage'} at 0x{self.offset:x}, {self.size} bytes>"

    def body(self) -> bytes:
        """The values of an instance, the elements of an array, the text of a UTF8: as they are in the dump."""
        return self._dump._body(self)

    def array(self) -> "array[int] | array[float]":
        """The elements of an array: IDs, or numbers of its type. numpy.asarray() copies nothing."""
        if self.name == "OBJECT_ARRAY_DUMP":
            code = "Q" if self._dump.header.id_size == 8 else "I"
        elif self.name == "PRIMITIVE_ARRAY_DUMP":
            code = next(code for name, code in _TYPES.values() if name == self.element_type)
        else:
            raise TypeError(f"{self!r} is not an array")
        elements: array[int] | array[float] = array(code)
        elements.frombytes(self.body())
        if sys.byteorder == "little":
            elements.byteswap()
        return elements

    def fields(self) -> dict[str, Value]:
        """The fields of an instance, those of superclasses after its own; of a CLASS_DUMP, the static fields. A reference is an
        ID, 0 for null. Of fields with the same name the one of the most special class is there. Empty if the class is not known
        yet: see Dump."""
        if self.name not in ("INSTANCE_DUMP", "CLASS_DUMP"):
            raise TypeError(f"{self!r} has no fields")
        is_static = self.name == "CLASS_DUMP"
        body, values = self.body(), dict[str, Value]()
        for field in self._dump.fields(self.id if is_static else self.class_id, is_static=is_static):
            size = self._dump.header.id_size if field.type == "object" else array(_code(field.type)).itemsize
            data = body[field.offset : field.offset + size]
            if len(data) == size and field.name not in values:
                values[field.name] = _value(field.type, data)
        return values


def _code(kind: str) -> str:
    return next(code for name, code in _TYPES.values() if name == kind)


def _value(kind: str, data: bytes) -> Value:
    if kind == "object":
        return int.from_bytes(data, "big")
    value: array[int] | array[float] = array(_code(kind), data)
    if sys.byteorder == "little":
        value.byteswap()
    return chr(int(value[0])) if kind == "char" else bool(value[0]) if kind == "boolean" else value[0]


class Dump:
    """A dump that is read item by item. Its names, classes and fields are known once their records were read: HotSpot writes them
    before the first object. index() reads all of the dump, so that everything is known, and objects can be found by their IDs.
    Several threads may use it: they wait for each other, and the next item of one is the next item of all."""

    def __init__(self, source: PathOrFile, *, jobs: int = 1, check: bool = True, max_memory: int = 0) -> None:
        if jobs < 1:
            raise ValueError(f"jobs is 1 or more, not {jobs}")
        self._turn = 0
        self._lock = RLock()  # the library's reader is for one thread at a time
        self._reader = ctypes.c_void_p()
        self._classes: dict[tuple[int, bool], list[Field]] = {}
        with ExitStack() as stack:
            self._source = stack.enter_context(opened(source))
            options = made(CReadOptions)
            options.threads, options.unchecked, options.max_memory = jobs, not check, max_memory
            stack.callback(LIBRARY.hprof_close, self._reader)
            if isinstance(self._source, ObjectSource):
                options.threads = 1
                status = LIBRARY.hprof_open_source(self._source.source, options, ctypes.byref(self._reader))
            else:
                status = LIBRARY.hprof_open_fd(self._source, options, ctypes.byref(self._reader))
            if status != VALID:
                self._raise(status)
            self.header = self._read_header()
            self._close = weakref.finalize(self, stack.pop_all().close)  # also if nobody calls close()

    def close(self) -> None:
        with self._lock:
            self._turn += 1
            self._reader = ctypes.c_void_p()
            self._close()

    def __enter__(self) -> "Dump":
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _raise(self, status: int) -> None:
        if isinstance(self._source, ObjectSource):
            self._source.raise_failure()
        raise {IO: OSError, LIMIT: MemoryError}.get(status, ValueError)(text(LIBRARY.hprof_failure(self._reader)))

    def _call(self, function: "Callable[..., int]", *arguments: Any) -> int:
        """What the library answers, which is not below 0. Who uses a pointer from it holds the lock."""
        for number in arguments:
            if isinstance(number, int) and not 0 <= number < 1 << 64:  # ctypes would give its lowest bits
                raise OverflowError(f"{number} does not fit into 64 bits")
        with self._lock:
            if not self._reader:
                raise ValueError("the dump is closed")
            result = function(self._reader, *arguments)
            if result < 0:
                self._raise(-result)
            return result

    def _read_header(self) -> Header:
        header = made(CHeader)
        self._call(LIBRARY.hprof_read_header, header)
        return Header(text(header.version), header.id_size, header.timestamp, header.compressed)

    def _take(self, function: "Callable[..., int]", *arguments: Any) -> Item | None:
        """The item to which `function` goes, whose last argument it is."""
        with self._lock:
            self._turn += 1
            item = made(CItem)
            return Item(self, item) if self._call(function, *arguments, item) else None

    def __iter__(self) -> Iterator[Item]:
        """The items that follow the last one."""
        while (item := self._take(LIBRARY.hprof_next)) is not None:
            yield item

    def rewind(self) -> None:
        """Goes to the start. What is known stays known."""
        with self._lock:
            self._turn += 1
            self._call(LIBRARY.hprof_seek, None)

    def _body(self, item: Item) -> bytes:
        parts, pointer, done = list[bytes](), ctypes.c_void_p(), 0
        with self._lock:
            if item._turn != self._turn:
                raise ValueError("the dump has gone on: the contents of an item are there until the next one is read")
            while size := self._call(LIBRARY.hprof_body, done, 1 << 20, ctypes.byref(pointer)):
                parts.append(ctypes.string_at(pointer, size))
                done += size
        return b"".join(parts)

    def string(self, id: int) -> str | None:
        """The text of a UTF8; None if it is not known yet."""
        pointer, size = ctypes.c_void_p(), ctypes.c_size_t()
        with self._lock:
            if not self._call(LIBRARY.hprof_string, id, ctypes.byref(pointer), ctypes.byref(size)):
                return None
            data = ctypes.string_at(pointer, size.value)
        return _modified_utf8(data)

    def class_of(self, id: int) -> Class | None:
        """The class with an ID; None if it is not known yet."""
        c_class = made(CClass)
        return self._class(c_class) if self._call(LIBRARY.hprof_class, id, c_class) else None

    def _class(self, c: CClass) -> Class:
        name = _java_name(self.string(c.name_id) or "") if c.name_id else ""
        return Class(c.id, name, c.super_id, c.loader_id, c.instance_size, c.is_dumped)

    def classes(self) -> Iterator[Class]:
        """All classes that are known."""
        c_class, number = made(CClass), 0
        while self._call(LIBRARY.hprof_class_at, number, c_class):
            yield self._class(c_class)
            number += 1

    def fields(self, class_id: int, *, is_static: bool = False) -> list[Field]:
        """The fields of an instance, those of superclasses after its own, or the static fields of the class."""
        if (fields := self._classes.get((class_id, is_static))) is not None:
            return fields
        found, field = list[Field](), made(CField)
        with self._lock:
            is_known = self._is_known(class_id, with_superclasses=not is_static)
            while self._call(LIBRARY.hprof_field_at, class_id, is_static, len(found), field):
                kind = "object" if field.type == _OBJECT else _TYPES[field.type][0]
                found.append(Field(self.string(field.name_id) or f"0x{field.name_id:x}", kind, field.class_id, field.offset))
            if is_known:  # else there may be more later
                self._classes[class_id, is_static] = found
        return found

    def _is_known(self, class_id: int, *, with_superclasses: bool) -> bool:
        """Whether the CLASS_DUMP was read."""
        seen = set[int]()
        while (found := self.class_of(class_id)) is not None and found.is_dumped:
            seen.add(class_id)
            class_id = found.super_id
            if not with_superclasses or class_id == 0 or class_id in seen:
                return True
        return False

    def index(self, heap_dump: int = 1, *, max_memory: int = 0) -> None:
        """Reads all of the dump, and keeps where the objects of a heap dump are, for find(). 8 bytes an object."""
        with self._lock:
            self._turn += 1
            if not self._call(LIBRARY.hprof_index, heap_dump, max_memory):
                raise ValueError(f"there is no heap dump {heap_dump}")
            self._classes.clear()

    def find(self, id: int) -> Item | None:
        """An object, class or array of the heap dump that was indexed. The items that follow it are read next."""
        return self._take(LIBRARY.hprof_find, id)

    def objects(self, heap_dump: int = 0) -> Objects:
        """All objects, or those of one heap dump. Reads from the start; 33 bytes an object."""
        columns = self._collect(LIBRARY.hprof_python_objects, heap_dump)
        try:
            ids, classes, sizes, offsets = (
                _column("Q", pointer, columns.count) for pointer in (columns.a, columns.b, columns.c, columns.d)
            )
            return Objects(ids, classes, sizes, offsets, _column("B", columns.kind, columns.count))
        finally:
            LIBRARY.hprof_python_free(columns)

    def references(self, heap_dump: int = 0) -> References:
        """All references, or those of one heap dump. Reads from the start; 16 bytes a reference. Those of instances whose class
        is not known yet are missing: see index()."""
        columns = self._collect(LIBRARY.hprof_python_references, heap_dump)
        try:
            return References(_column("Q", columns.a, columns.count), _column("Q", columns.b, columns.count))
        finally:
            LIBRARY.hprof_python_free(columns)

    def _collect(self, collect: "Callable[..., int]", heap_dump: int) -> CColumns:
        columns = CColumns()
        try:
            with self._lock:
                self.rewind()
                self._call(collect, heap_dump, columns)
                self._turn += 1
        except BaseException:
            LIBRARY.hprof_python_free(columns)
            raise
        return columns


def _column(code: str, pointer: int | None, count: int) -> "array[int]":
    column: array[int] = array(code)
    if pointer is not None and count:
        column.frombytes((ctypes.c_char * (count * column.itemsize)).from_address(pointer))
    return column


_PRIMITIVES = {
    "Z": "boolean", "C": "char", "F": "float", "D": "double", "B": "byte", "S": "short", "I": "int", "J": "long"
}


def _java_name(name: str) -> str:
    """The name of a class as people write it, of "[Ljava/lang/String;" or "[I", whole and with all its characters."""
    element = name.lstrip("[")
    if dimensions := len(name) - len(element):
        if element.startswith("L") and element.endswith(";"):
            element = element[1:-1]
        element = _PRIMITIVES.get(element, element)
    return element.replace("/", ".") + "[]" * dimensions


def _modified_utf8(data: bytes) -> str:
    """Characters above U+FFFF are pairs of surrogates, and U+0000 is two bytes. What is malformed becomes U+FFFD."""
    units = data.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass" if _has_surrogates(data) else "replace")
    return units.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _has_surrogates(data: bytes) -> bool:
    try:
        data.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def read(path_or_file: PathOrFile, *, jobs: int = 1, check: bool = True, max_memory: int = 0) -> Dump:
    """Opens a dump, plain or compressed with gzip: an iterator of its items.

    The dump is checked first if it can be read twice, so that damage is passed over as the check does; check=False reads it by its
    lengths alone. Raises OSError if it cannot be read, and ValueError if it does not begin with a valid header.
    """
    return Dump(path_or_file, jobs=jobs, check=check, max_memory=max_memory)
