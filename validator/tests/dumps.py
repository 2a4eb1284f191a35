"""Dumps for the tests of the tool, and the records that they are made of."""

import struct
from collections.abc import Sequence


def record(tag: int, body: bytes) -> bytes:
    return struct.pack(">BII", tag, 0, len(body)) + body


def utf8(string_id: int, text: str) -> bytes:
    return record(0x01, struct.pack(">Q", string_id) + text.encode())


def load_class(serial: int, class_id: int, name: int) -> bytes:
    return record(0x02, struct.pack(">IQIQ", serial, class_id, 0, name))


def class_dump(class_id: int, super_id: int, size: int = 0, ints: int = 0) -> bytes:
    """`size` of an instance, and the number of own fields, all of type int."""
    head = struct.pack(">BQIQ5QIHHH", 0x20, class_id, 0, super_id, 0, 0, 0, 0, 0, size, 0, 0, ints)
    return head + struct.pack(">QB", 1, 10) * ints


def instance(object_id: int, class_id: int) -> bytes:
    return struct.pack(">BQIQI", 0x21, object_id, 0, class_id, 0)


def object_array(object_id: int, class_id: int, elements: Sequence[int]) -> bytes:
    return struct.pack(f">BQIIQ{len(elements)}Q", 0x22, object_id, 0, len(elements), class_id, *elements)


OBJECT, OBJECTS = 0x10, 0x18


def dump(*objects: bytes, timestamp: int = 1795521603000) -> bytes:
    header = b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, timestamp)
    classes = utf8(1, "java/lang/Object") + utf8(2, "[Ljava/lang/Object;")
    classes += load_class(1, OBJECT, 1) + load_class(2, OBJECTS, 2)
    heap = class_dump(OBJECT, 0) + class_dump(OBJECTS, OBJECT) + b"".join(objects)
    return header + classes + record(0x1C, heap) + record(0x2C, b"")


def dangling(count: int) -> bytes:
    """A dump with `count` findings of REF-002: a warning, and a note in the profile hotspot, for which the array is the list of
    roots of the archive."""
    return dump(object_array(0x40, OBJECTS, [0x1000 + 8 * i for i in range(count)]), struct.pack(">BQQ", 0x01, 0x40, 0))


VALID = dump(instance(0x20, OBJECT), object_array(0x28, OBJECTS, [0x20, 0]))
DUPLICATE = dump(instance(0x20, OBJECT), instance(0x20, OBJECT))  # OBJ-004
WARNING = dump(timestamp=0)  # HDR-006
AGENT = (
    b"JAVA PROFILE 1.0.1\0" + struct.pack(">IQ", 4, 1795521603000) + record(0x0E, bytes(6)) + record(0x06, b"\x80\0" + bytes(32))
)
TRUNCATED = VALID[:-30]  # REC-002 or REC-001
