"""What tests of --fit need: dumps with other values, and the lines of a profile."""

import random
from collections import Counter
from dataclasses import dataclass, field

from hprof_corpus.layouts import BASIC_TYPES
from hprof_corpus.walk import Framed, FramingError, Shapes, Subrecord, read_class_parts, read_header, records, subrecords

OBJECT = BASIC_TYPES["object"][0]
HEAP_RECORDS = (0x0C, 0x1C)
UTF8 = 0x01


@dataclass
class Dump:
    """The items of a dump with sound framing."""

    data: memoryview
    shapes: Shapes
    strings: dict[int, bytes]
    heap: list[list[Subrecord]]  # of each heap dump record
    fields: dict[int, tuple[int, list[tuple[int, int]]]]  # by class: the superclass, and the names and types


def read_dump(data: bytes) -> Dump | None:
    """None if something does not lead on."""
    view = memoryview(data)
    header = read_header(view)
    if header is None or header.id_size not in (4, 8) or header.format[-3:] not in (b"0.1", b"0.2", b"0.3"):
        return None
    shapes = Shapes(header.id_size, 100 + int(header.format[-1:]))
    dump = Dump(view, shapes, {}, [], {})
    last: Framed | None = None
    try:
        for last in records(view, header.size):
            if last.is_cut:
                return None
            if last.tag == UTF8 and last.length >= header.id_size:
                key = int.from_bytes(view[last.body : last.body + header.id_size], "big")
                dump.strings.setdefault(key, bytes(view[last.body + header.id_size : last.end]))
            elif last.tag in HEAP_RECORDS:
                dump.heap.append(list(subrecords(view, last.body, last.end, shapes)))
    except FramingError:
        return None
    for shape, _, values, tail, stop in (one for each in dump.heap for one in each):
        if shape.record.name == "CLASS_DUMP":
            parts = read_class_parts(view, tail, stop, shapes)
            dump.fields.setdefault(values[0], (values[2], parts.fields))
    return dump if last is None or last.end == len(data) else None


def layout(dump: Dump, class_id: int) -> list[tuple[int, int, int]] | None:
    """Name, type and width of the fields of an instance."""
    found: list[tuple[int, int, int]] = []
    seen: set[int] = set()
    while class_id:
        if class_id in seen or class_id not in dump.fields:
            return None
        seen.add(class_id)
        class_id, fields = dump.fields[class_id]
        found += [(name, code, dump.shapes.widths[code]) for name, code in fields]
    return found


def scrambled(dump: Dump, dice: random.Random) -> bytes:
    """The dump with other primitive values and elements; `coder` stays."""
    out = bytearray(dump.data)
    layouts: dict[int, list[tuple[int, int, int]] | None] = {}
    for shape, _, values, tail, stop in (one for each in dump.heap for one in each):
        name = shape.record.name
        if name == "PRIMITIVE_ARRAY_DUMP":
            out[tail:stop] = dice.randbytes(stop - tail)
        elif name == "CLASS_DUMP":
            parts = read_class_parts(dump.data, tail, stop, dump.shapes)
            for entry in parts.constants + parts.statics:
                if entry.type != OBJECT:
                    out[entry.value : entry.end] = dice.randbytes(entry.end - entry.value)
        elif name == "INSTANCE_DUMP":
            if values[2] not in layouts:
                layouts[values[2]] = layout(dump, values[2])
            at = tail
            for key, code, width in layouts[values[2]] or []:
                if code != OBJECT and dump.strings.get(key) != b"coder" and at + width <= stop:
                    out[at : at + width] = dice.randbytes(width)
                at += width
    return bytes(out)


def objects_of(dump: Dump) -> list[tuple[int, bool, int, int]]:
    """ID, whether it is an array, how many references it has, and the bytes of its other values."""
    found = []
    for shape, _, values, tail, stop in (one for each in dump.heap for one in each):
        name = shape.record.name
        if name == "INSTANCE_DUMP":
            references = sum(code == OBJECT for _, code, _ in layout(dump, values[2]) or [])
            found.append((values[0], False, references, stop - tail - references * dump.shapes.id_size))
        elif name == "OBJECT_ARRAY_DUMP":
            found.append((values[0], True, values[2], 0))
        elif name == "PRIMITIVE_ARRAY_DUMP":
            found.append((values[0], True, 0, stop - tail))
    return found


def following(dump: Dump, sizes: tuple[int, int, int]) -> int:
    """How many objects begin where the one before ends, if headers, those of arrays, and references have so many bytes."""
    count, end = 0, -1
    for key, is_array, references, other in objects_of(dump):
        count += key == end
        end = key + (sizes[is_array] + references * sizes[2] + other + 7) // 8 * 8
    return count


@dataclass
class Described:
    """A class of a profile."""

    label: str
    kind: str = ""  # instances or arrays
    objects: int = 0
    nulls: list[int] = field(default_factory=list)  # by reference
    not_null: list[int] = field(default_factory=list)
    targets: list[Counter[str]] = field(default_factory=list)
    distances: list[Counter[int]] = field(default_factory=list)
    lengths: list[tuple[int, int, str]] = field(default_factory=list)  # arrays, length, how it is known
    named: Counter[int] = field(default_factory=Counter)  # by the least number of references
    where: Counter[tuple[int, int]] = field(default_factory=Counter)  # likewise, and by the part of the heap


@dataclass
class Profile:
    numbers: dict[str, int] = field(default_factory=dict)  # "record UTF8"
    lengths: list[tuple[int, int, str]] = field(default_factory=list)  # of texts
    classes: dict[str, list[Described]] = field(default_factory=dict)
    numbered: dict[int, Described] = field(default_factory=dict)  # classes
    follow: tuple[int, ...] = ()  # how many objects, and the sizes
    order: list[tuple[int, int]] = field(default_factory=list)  # classes of objects, and bits of lengths


def parsed(text: str) -> Profile:
    profile = Profile()
    one = Described("")
    in_static = False
    for line in text.splitlines():
        words = line.split()
        if line.startswith("class "):
            one = Described(" ".join(words[2:]))
            profile.classes.setdefault(one.label, []).append(one)
            profile.numbered[int(words[1])] = one
        elif words[0] == "order":
            pairs = (word.partition(":") for word in words[1:])
            profile.order += [(int(number), int(bits or 0)) for number, _, bits in pairs]
        elif words[0] == "follow":
            profile.follow = tuple(map(int, words[1:]))
        elif words[0] in ("record", "sub-record"):
            profile.numbers[f"{words[0]} {words[2]}"] = int(words[1])
        elif words[0] == "text":
            profile.lengths.append((int(words[1]), int(words[2]), " ".join(words[3:])))
        elif words[0] in ("instances", "arrays"):
            one.kind, one.objects = words[0], int(words[1])
        elif words[0] in ("reference", "elements", "is"):
            in_static = words[0] == "is"
            if not in_static:
                one.not_null.append(int(words[1]))
                one.nulls.append(int(words[3]))
                one.targets.append(Counter())
                one.distances.append(Counter())
        elif words[0] == "to" and not in_static:
            one.targets[-1][words[-1]] += int(words[1])
        elif words[0] == "at" and not in_static:
            one.distances[-1][int(words[2])] += int(words[1])
        elif words[0] == "length":
            one.lengths.append((int(words[1]), int(words[2]), " ".join(words[3:])))
        elif words[0] == "named":
            one.named[int(words[2].rstrip("+"))] += int(words[1])
        elif words[0] == "where":
            one.where[int(words[2].rstrip("+")), int(words[3])] += int(words[1])
        elif not line.startswith(" "):
            profile.numbers[words[0]] = int(words[1]) if words[1].isdigit() else 0
    return profile
