"""What a dumped program says of itself, against what is in the dump: a missing object is found, not only a malformed one."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from hprof_corpus.digest import Content, HeapDump, Instance, Object, ObjectArray, PrimitiveArray, Value, class_name, identity
from hprof_corpus.layouts import BASIC_TYPES
from hprof_corpus.reader import decompressed
from hprof_corpus.source import is_gzip, open_bytes
from hprof_corpus.truth import objects_by_class
from hprof_corpus.walk import FramingError

_OBJECT = 2  # the type

SURROGATES = 0xD800  # the first half of a pair
# What HotSpot fills unused memory with. Some versions dump the arrays as int[].
FILLERS = ("[Ljdk/internal/vm/FillerElement;", "jdk/internal/vm/FillerObject")


@dataclass(frozen=True)
class Fact:
    """A line of Program.java: class NAME COUNT, hidden NAME COUNT (a hidden class's name goes on with +), loaded NAME COUNT,
    text TEXT, chain CLASS NUMBER NEXT LENGTH, static CLASS NAME VALUE, field CLASS NAME VALUE (of each instance), elements NAME
    BYTES (of an array), array NAME LENGTH, refers CLASS NAME OTHER BYTES (a field, or the element of that number, to an object of
    another class whose fields are these bytes), members NAME CLASS LENGTH (an array of LENGTH different objects of a class),
    counting NAME LENGTH (an array whose elements are 1, 2, ...), frames CLASS COUNT (objects that frames refer to), strings PREFIX
    COUNT (records of strings that begin with it and go on). Of a histogram of the VM: objects NAME LEAST MOST. Of the file: dumps
    COUNT."""

    kind: str
    words: list[str]


@dataclass(frozen=True)
class Difference:
    what: str  # the words of a fact before the last
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.what}: {self.found} instead of {self.expected}"


@dataclass(frozen=True)
class Compared:
    differences: list[Difference]
    covered: int  # objects of the dump that belong to a class whose number is known
    objects: int


_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")


def parse(lines: list[str]) -> list[Fact]:
    """\\uXXXX is a code unit of UTF-16."""
    found = []
    for line in lines:
        units = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), line)
        text = units.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")
        kind, *words = text.split("\t")
        found.append(Fact(kind, words))
    return found


def lines(facts: list[Fact]) -> list[str]:
    """As `parse` takes them."""
    found = []
    for fact in facts:
        units = "\t".join([fact.kind, *fact.words]).encode("utf-16-be", "surrogatepass")
        codes = [int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2)]
        found.append("".join(chr(code) if code < 128 else f"\\u{code:04x}" for code in codes))
    return found


class _Heap:
    def __init__(self, content: Content, dump: HeapDump) -> None:
        self._content = content
        self._dump = dump
        self._layout = content.layouts(dump)
        self.classes: dict[str, list[int]] = {}
        for class_id in dump.classes:
            self.classes.setdefault(content.name_of_class(dump, class_id), []).append(class_id)
        self.instances: dict[int, list[Instance]] = {}
        for one in dump.objects:
            if isinstance(one, Instance):
                self.instances.setdefault(one.class_id, []).append(one)

    def of(self, name: str) -> list[Instance]:
        return [one for class_id in self.classes.get(class_name(name), []) for one in self.instances.get(class_id, [])]

    def fields(self, one: Instance) -> dict[str, bytes]:
        """The first of a name: that of the class itself."""
        found: dict[str, bytes] = {}
        for each, value in self._content.values(one, self._layout(one.class_id)) or []:
            found.setdefault(self._content.strings.get(each.name, ""), value)
        return found

    def texts(self) -> Counter[str]:
        by_id = {one.id: one for one in self._dump.objects}
        found: Counter[str] = Counter()
        for one in self.of("java/lang/String"):
            text = self._content.text(self._dump, by_id, one, self._layout(one.class_id))
            if text is not None:
                found[text.decode("utf-16-be", "replace")] += 1
        return found

    def hidden(self, name: str) -> list[Instance]:
        """Of hidden classes, whose names have a + and an address of the VM, or a slash in its place."""
        prefix = class_name(name)
        names = [one for one in self.classes if one.startswith((f"{prefix}+", f"{prefix}/"))]
        return [one for each in names for class_id in self.classes[each] for one in self.instances.get(class_id, [])]

    def field(self, name: str, field: str) -> list[str]:
        """The values that instances have, each once."""
        return sorted({self.fields(one).get(field, b"").hex() for one in self.of(name)})

    def has_elements(self, name: str, elements: str) -> bool:
        return any(array.bytes is not None and array.bytes.hex() == elements for array in self._arrays(name))

    def static(self, name: str, static: str) -> list[str]:
        return [
            value.bytes.hex()
            for class_id in self.classes.get(class_name(name), [])
            for value in self._dump.classes[class_id].statics
            if self._content.strings.get(value.key) == static
        ]

    def _arrays(self, name: str) -> list[PrimitiveArray]:
        types = {type_: class_name(f"{word}[]") for word, (type_, *_) in BASIC_TYPES.items()}
        return [one for one in self._dump.objects if isinstance(one, PrimitiveArray) and types[one.type] == name]

    def referred(self, name: str, place: str) -> set[int]:
        """The IDs in a field, or in the elements of that number."""
        arrays = self.classes.get(class_name(name), []) if place.isdigit() else []
        found = {int.from_bytes(self.fields(one).get(place, b""), "big") for one in self.of(name)}
        return found | {
            one.elements[int(place)]
            for one in self._dump.objects
            if isinstance(one, ObjectArray) and one.class_id in arrays and int(place) < len(one.elements)
        }

    def has_members(self, name: str, members: str, length: int) -> bool:
        arrays, ids = self.classes.get(class_name(name), []), {one.id for one in self.of(members)}
        return any(
            isinstance(one, ObjectArray) and one.class_id in arrays and len(set(one.elements) & ids) == len(one.elements) == length
            for one in self._dump.objects
        )

    def counts(self, name: str, length: int) -> bool:
        """Whether such an array has the elements 1, 2, ..., each cut to its size; a char is below the surrogates."""
        most = SURROGATES if name == "[C" else 1 << 64
        for one in self._arrays(name):
            if one.length == length and one.bytes is not None:
                size = len(one.bytes) // length
                if one.bytes == b"".join((n % most % (1 << 8 * size)).to_bytes(size, "big") for n in range(1, length + 1)):
                    return True
        return False

    def in_frames(self, name: str) -> int:
        """How many objects frames refer to."""
        return len({one for kind, one in self._dump.roots if kind == "ROOT_JAVA_FRAME"} & {one.id for one in self.of(name)})

    def strings(self, prefix: str) -> int:
        """The prefix itself may be a string of the program, too."""
        return sum(one.startswith(prefix) and one != prefix for one in self._content.strings.values())

    def has_array(self, name: str, length: int) -> bool:
        return any(one.length == length for one in self._arrays(name))

    def chain(self, name: str, number: str, following: str) -> int:
        """How many objects hang together, from number 0 on."""
        read = ((one.id, self.fields(one)) for one in self.of(name))
        by_id = {object_id: fields for object_id, fields in read if {number, following} <= fields.keys()}  # that have such fields
        by_number = {int.from_bytes(fields[number], "big", signed=True): fields for fields in by_id.values()}
        at = by_number.get(0)
        length = 0
        while at is not None and int.from_bytes(at[number], "big") == length and length <= len(by_id):
            length += 1
            at = by_id.get(int.from_bytes(at[following], "big"))
        return length


def _covered(kinds: Counter[str], facts: list[Fact]) -> int:
    """How many objects of the dump are of a class whose number the facts give."""
    exact = {class_name(fact.words[0]) for fact in facts if fact.kind in ("class", "objects")}
    return sum(number for name, number in kinds.items() if name in exact)


def compare(file: Path, facts: list[Fact]) -> Compared:
    """What in the dump is not as the program says."""
    data = open_bytes(str(file))
    try:
        content = Content(decompressed(data) if is_gzip(data) else data)
    except FramingError as error:
        return Compared([Difference("dump", f"not readable: {error}", "a readable one")], 0, 0)
    if not content.dumps:
        return Compared([Difference("heap dump", "none", "one")], 0, 0)
    heap = _Heap(content, content.dumps[-1])
    texts = heap.texts() if any(fact.kind == "text" for fact in facts) else Counter()
    objects = objects_by_class(content)
    found = [one for fact in facts if (one := _difference(fact, heap, texts, objects, len(content.dumps)))]
    return Compared(found, _covered(objects, facts), objects.total())


def _without_payload(content: Content) -> None:
    """Zeros in place of the values that a redactor may replace: all but references, and lengths stay."""

    def blank(value: Value) -> Value:
        return value if value.type == _OBJECT else value._replace(bytes=bytes(len(value.bytes)))

    def blank_object(dump: HeapDump, one: Object) -> Object:
        if isinstance(one, PrimitiveArray):
            return one if one.bytes is None else one._replace(bytes=bytes(len(one.bytes)))
        layout = content.layout(dump, one.class_id) if isinstance(one, Instance) else None
        if not isinstance(one, Instance) or layout is None:
            return one
        blanked = bytearray(one.bytes)
        for field in layout:
            if field.type != _OBJECT:
                blanked[field.at : field.end] = bytes(len(blanked[field.at : field.end]))
        return one._replace(bytes=bytes(blanked))

    for dump in content.dumps:
        for each in content.classes(dump):
            each.statics[:] = map(blank, each.statics)
            each.constants[:] = map(blank, each.constants)
        dump.objects[:] = [blank_object(dump, one) for one in dump.objects]


def compare_to(file: Path, original: Path, payload: bool = True) -> Compared:
    """What in the dump is not as in another one: IDs are the same in both. Without `payload`, values that are no references may
    differ, and so may strings that name neither a class nor a field."""
    parts, objects = [], 0
    for one in (original, file):
        data = open_bytes(str(one))
        try:
            content = Content(decompressed(data) if is_gzip(data) else data)
        except FramingError as error:
            return Compared([Difference("dump", f"not readable: {error}", "a readable one")], 0, 0)
        if not payload:
            _without_payload(content)
        found = identity(content, "exact")
        if not payload:
            found["strings"].sum = 0
        parts.append({name: f"{part.count} items, {part.sum:032x}" for name, part in found.items()})
        objects = sum(len(dump.objects) for dump in content.dumps)
    before, after = parts
    return Compared(
        [Difference(name, after[name], before[name]) for name in before if after[name] != before[name]], objects, objects
    )


def _difference(fact: Fact, heap: _Heap, texts: Counter[str], objects: Counter[str], dumps: int) -> Difference | None:
    name, *words = fact.words
    shown = class_name(name).replace("/", ".")

    def unless(right: bool, what: str, found: object, expected: str) -> Difference | None:
        return None if right else Difference(what, str(found), expected)

    def number(found: int, what: str, expected: str) -> Difference | None:
        return unless(found == int(expected), what, found, expected)

    match fact.kind:
        case "class":
            return number(len(heap.of(name)), f"instances of {shown}", words[0])
        case "hidden":
            return number(len(heap.hidden(name)), f"instances of the hidden class {shown}", words[0])
        case "loaded":
            return number(len(heap.classes.get(class_name(name), [])), f"classes {shown}", words[0])
        case "objects":
            least, most = map(int, words)
            expected = f"{least}" if least == most else f"{least} to {most}"
            return unless(least <= objects[name] <= most, f"objects of {shown}", objects[name], expected)
        case "text":
            return unless(bool(texts[name]), f"String {name!a}", "none", "one")
        case "chain":
            return number(heap.chain(name, words[0], words[1]), f"chain of {shown}", words[2])
        case "static":
            values = heap.static(name, words[0])
            return unless(values == [words[1]], f"{shown}.{ascii(words[0])[1:-1]}", ", ".join(values) or "none", words[1])
        case "field":
            values = heap.field(name, words[0])
            return unless(values == [words[1]], f"{shown}.{ascii(words[0])[1:-1]}", ", ".join(values) or "none", words[1])
        case "elements":
            return unless(heap.has_elements(name, words[0]), f"{name} of {words[0]}", "none", "one")
        case "refers":
            place, other, expected = words
            values = sorted(one.bytes.hex() for one in heap.of(other) if one.id in heap.referred(name, place))
            return unless(values == [expected], f"{shown}.{place}", ", ".join(values) or "none", f"{other} of {expected}")
        case "members":
            right = heap.has_members(name, words[0], int(words[1]))
            return unless(right, f"{name} of {words[1]} {words[0].replace('/', '.')}", "none", "one")
        case "counting":
            return unless(heap.counts(name, int(words[0])), f"{name} that counts to {words[0]}", "none", "one")
        case "frames":
            return number(heap.in_frames(name), f"{shown} in frames", words[0])
        case "strings":
            return number(heap.strings(name), f"strings that begin with {name!a}", words[0])
        case "array":
            return unless(heap.has_array(name, int(words[0])), f"{name} of {words[0]} elements", "none", "one")
        case "dumps":
            return number(dumps, "heap dumps", name)
    return Difference(f"fact {fact.kind}", "no such kind of fact", "a known one")
