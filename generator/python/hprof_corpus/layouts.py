"""Every record and sub-record of HPROF, field by field.

Typed by hand from the manual of the JVM TI HPROF agent (which alone gives tag numbers), the restatement of 1.0.2 and
the format comment that HotSpot carries; the 1.0.3 part from what Android's runtime writes. It may not be generated from
records.def: a test compares the two, so that one slip cannot pass everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What a field of type ID refers to, which decides the symbols for it."""

    NUMBER = "number"
    STRING = "string"
    OBJECT = "object"
    FRAME = "frame"


class Default(Enum):
    """The default of a field that is not in the text."""

    NONE = "must be stated"
    ZERO = "0"
    COUNT = "the number of entries that are written"
    SUM = "the sum over the entries that are written"
    CHAIN = "the sum of the fields of the class and its superclasses"


@dataclass(frozen=True)
class Field:
    name: str
    type: str  # ID, U1, U2, U4, U8, I4
    word: str  # keyword in the notation; "" if its position identifies it
    kind: Kind = Kind.NUMBER
    default: Default = Default.NONE


@dataclass(frozen=True)
class Layout:
    fields: tuple[Field, ...]
    tail: str = ""  # what follows the fixed fields

    def field(self, name: str) -> Field:
        return next(field for field in self.fields if field.name == name)


@dataclass(frozen=True)
class Record:
    name: str
    tag: int
    since: int  # 101, 102, 103
    layout: Layout

    @property
    def word(self) -> str:
        return WORDS.get(self.name, self.name.lower().replace("_", "-"))


WIDTHS = {"U1": 1, "U2": 2, "U4": 4, "U8": 8, "I4": 4}

# Basic types: code and width; the width of an object is that of an ID.
BASIC_TYPES = {
    "object": (2, 0),
    "boolean": (4, 1),
    "char": (5, 2),
    "float": (6, 4),
    "double": (7, 8),
    "byte": (8, 1),
    "short": (9, 2),
    "int": (10, 4),
    "long": (11, 8),
}


def string(name: str, word: str, default: Default = Default.ZERO) -> Field:
    return Field(name, "ID", word, Kind.STRING, default)


def obj(name: str, word: str = "", default: Default = Default.NONE) -> Field:
    return Field(name, "ID", word, Kind.OBJECT, default)


def u4(name: str, word: str, default: Default = Default.NONE) -> Field:
    return Field(name, "U4", word, Kind.NUMBER, default)


TRACE_SERIAL = u4("trace_serial", "trace", Default.ZERO)
THREAD_SERIAL = u4("thread_serial", "thread")

UTF8 = Layout((string("id", "", Default.NONE),), "bytes")
LOAD_CLASS = Layout((u4("class_serial", "serial"), obj("class_id", "class"), TRACE_SERIAL, string("name", "name")))
UNLOAD_CLASS = Layout((u4("class_serial", "serial"),))
FRAME = Layout(
    (
        Field("id", "ID", "", Kind.FRAME),
        string("method", "method"),
        string("signature", "signature"),
        string("source", "source"),
        u4("class_serial", "class"),
        Field("line", "I4", "line", Kind.NUMBER, Default.ZERO),
    )
)
TRACE = Layout(
    (u4("trace_serial", "serial"), u4("thread_serial", "thread", Default.ZERO), u4("frames", "frames", Default.COUNT)),
    "ids",
)
ALLOC_SITES = Layout(
    (
        Field("flags", "U2", "flags", Kind.NUMBER, Default.ZERO),
        u4("cutoff", "cutoff", Default.ZERO),
        u4("live_bytes", "live-bytes", Default.SUM),
        u4("live_instances", "live-instances", Default.SUM),
        Field("allocated_bytes", "U8", "allocated-bytes", Kind.NUMBER, Default.SUM),
        Field("allocated_instances", "U8", "allocated-instances", Kind.NUMBER, Default.SUM),
        u4("sites", "sites", Default.COUNT),
    ),
    "sites",
)
SITE = Layout(
    (
        Field("array_type", "U1", "array", Kind.NUMBER, Default.ZERO),
        u4("class_serial", "class"),
        TRACE_SERIAL,
        u4("live_bytes", "live-bytes", Default.ZERO),
        u4("live_instances", "live-instances", Default.ZERO),
        u4("allocated_bytes", "allocated-bytes", Default.ZERO),
        u4("allocated_instances", "allocated-instances", Default.ZERO),
    )
)
HEAP_SUMMARY = Layout(
    (
        u4("live_bytes", "live-bytes", Default.ZERO),
        u4("live_instances", "live-instances", Default.ZERO),
        Field("allocated_bytes", "U8", "allocated-bytes", Kind.NUMBER, Default.ZERO),
        Field("allocated_instances", "U8", "allocated-instances", Kind.NUMBER, Default.ZERO),
    )
)
START_THREAD = Layout(
    (
        u4("thread_serial", "serial"),
        obj("thread_id", "object"),
        TRACE_SERIAL,
        string("name", "name"),
        string("group", "group"),
        string("parent_group", "parent"),
    )
)
END_THREAD = Layout((u4("thread_serial", "serial"),))
HEAP_DUMP = Layout((), "subrecords")
HEAP_DUMP_END = Layout(())
CPU_SAMPLES = Layout((u4("samples", "samples", Default.SUM), u4("traces", "traces", Default.COUNT)), "traces")
SAMPLE = Layout((u4("samples", "samples"), u4("trace_serial", "trace")))
CONTROL_SETTINGS = Layout((u4("flags", "flags"), Field("depth", "U2", "depth", Kind.NUMBER, Default.ZERO)))

ROOT_OBJECT = Layout((obj("object_id"),))
ROOT_JNI_GLOBAL = Layout((obj("object_id"), Field("reference_id", "ID", "reference", Kind.NUMBER, Default.ZERO)))
ROOT_FRAME = Layout((obj("object_id"), THREAD_SERIAL, Field("frame", "I4", "frame")))
ROOT_THREAD = Layout((obj("object_id"), THREAD_SERIAL))
ROOT_THREAD_OBJECT = Layout((obj("object_id"), THREAD_SERIAL, TRACE_SERIAL))
CLASS_DUMP = Layout(
    (
        obj("class_id"),
        TRACE_SERIAL,
        obj("super_id", "super"),
        obj("loader_id", "loader", Default.ZERO),
        obj("signers_id", "signers", Default.ZERO),
        obj("domain_id", "domain", Default.ZERO),
        obj("reserved1", "reserved1", Default.ZERO),
        obj("reserved2", "reserved2", Default.ZERO),
        u4("instance_size", "instance-size", Default.CHAIN),
    ),
    "class",
)
CONSTANT = Layout((Field("index", "U2", ""), Field("type", "U1", "")), "value")
STATIC_FIELD = Layout((string("name", ""), Field("type", "U1", "")), "value")
INSTANCE_FIELD = Layout((string("name", ""), Field("type", "U1", "")))
INSTANCE_DUMP = Layout((obj("object_id"), TRACE_SERIAL, obj("class_id", "class"), u4("bytes", "bytes", Default.COUNT)), "bytes")
OBJECT_ARRAY_DUMP = Layout(
    (obj("object_id"), TRACE_SERIAL, u4("elements", "elements", Default.COUNT), obj("class_id", "class")), "ids"
)
ARRAY_HEAD = (obj("object_id"), TRACE_SERIAL, u4("elements", "elements", Default.COUNT), Field("type", "U1", "type"))
PRIMITIVE_ARRAY_DUMP = Layout(ARRAY_HEAD, "bytes")
PRIMITIVE_ARRAY_NODATA = Layout(ARRAY_HEAD)
HEAP_DUMP_INFO = Layout((u4("heap", "heap"), string("name", "name")))
ROOT_JNI_MONITOR = Layout((obj("object_id"), THREAD_SERIAL, u4("depth", "depth", Default.ZERO)))

RECORDS = (
    Record("UTF8", 0x01, 101, UTF8),
    Record("LOAD_CLASS", 0x02, 101, LOAD_CLASS),
    Record("UNLOAD_CLASS", 0x03, 101, UNLOAD_CLASS),
    Record("FRAME", 0x04, 101, FRAME),
    Record("TRACE", 0x05, 101, TRACE),
    Record("ALLOC_SITES", 0x06, 101, ALLOC_SITES),
    Record("HEAP_SUMMARY", 0x07, 101, HEAP_SUMMARY),
    Record("START_THREAD", 0x0A, 101, START_THREAD),
    Record("END_THREAD", 0x0B, 101, END_THREAD),
    Record("HEAP_DUMP", 0x0C, 101, HEAP_DUMP),
    Record("CPU_SAMPLES", 0x0D, 101, CPU_SAMPLES),
    Record("CONTROL_SETTINGS", 0x0E, 101, CONTROL_SETTINGS),
    Record("HEAP_DUMP_SEGMENT", 0x1C, 102, HEAP_DUMP),
    Record("HEAP_DUMP_END", 0x2C, 102, HEAP_DUMP_END),
)

SUBRECORDS = (
    Record("ROOT_JNI_GLOBAL", 0x01, 101, ROOT_JNI_GLOBAL),
    Record("ROOT_JNI_LOCAL", 0x02, 101, ROOT_FRAME),
    Record("ROOT_JAVA_FRAME", 0x03, 101, ROOT_FRAME),
    Record("ROOT_NATIVE_STACK", 0x04, 101, ROOT_THREAD),
    Record("ROOT_STICKY_CLASS", 0x05, 101, ROOT_OBJECT),
    Record("ROOT_THREAD_BLOCK", 0x06, 101, ROOT_THREAD),
    Record("ROOT_MONITOR_USED", 0x07, 101, ROOT_OBJECT),
    Record("ROOT_THREAD_OBJECT", 0x08, 101, ROOT_THREAD_OBJECT),
    Record("ROOT_UNKNOWN", 0xFF, 101, ROOT_OBJECT),
    Record("CLASS_DUMP", 0x20, 101, CLASS_DUMP),
    Record("INSTANCE_DUMP", 0x21, 101, INSTANCE_DUMP),
    Record("OBJECT_ARRAY_DUMP", 0x22, 101, OBJECT_ARRAY_DUMP),
    Record("PRIMITIVE_ARRAY_DUMP", 0x23, 101, PRIMITIVE_ARRAY_DUMP),
    # Android
    Record("ROOT_INTERNED_STRING", 0x89, 103, ROOT_OBJECT),
    Record("ROOT_FINALIZING", 0x8A, 103, ROOT_OBJECT),
    Record("ROOT_DEBUGGER", 0x8B, 103, ROOT_OBJECT),
    Record("ROOT_REFERENCE_CLEANUP", 0x8C, 103, ROOT_OBJECT),
    Record("ROOT_VM_INTERNAL", 0x8D, 103, ROOT_OBJECT),
    Record("ROOT_JNI_MONITOR", 0x8E, 103, ROOT_JNI_MONITOR),
    Record("ROOT_UNREACHABLE", 0x90, 103, ROOT_OBJECT),
    Record("PRIMITIVE_ARRAY_NODATA", 0xC3, 103, PRIMITIVE_ARRAY_NODATA),
    Record("HEAP_DUMP_INFO", 0xFE, 103, HEAP_DUMP_INFO),
)

# Names in the notation other than the name of the record in lower case.
WORDS = {"HEAP_DUMP_SEGMENT": "segment", "HEAP_DUMP_END": "end"}

RECORDS_BY_WORD = {record.word: record for record in RECORDS}
SUBRECORDS_BY_WORD = {record.word: record for record in SUBRECORDS}
