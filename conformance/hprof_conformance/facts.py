"""What a dumped program says of itself, against what is in the dump: a missing object is found, not only a malformed one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from hprof_corpus.digest import Content, HeapDump, Instance, PrimitiveArray, class_name
from hprof_corpus.layouts import BASIC_TYPES
from hprof_corpus.reader import decompressed
from hprof_corpus.source import is_gzip, open_bytes
from hprof_corpus.truth import objects_by_class
from hprof_corpus.walk import FramingError

# What HotSpot fills unused memory with. Some versions dump the arrays as int[].
FILLERS = ("[Ljdk/internal/vm/FillerElement;", "jdk/internal/vm/FillerObject")


@dataclass(frozen=True)
class Fact:
    """A line of Everything.java: class NAME COUNT, loaded NAME COUNT, text TEXT, chain CLASS NUMBER NEXT LENGTH,
    static CLASS NAME VALUE, array NAME LENGTH. Of a histogram of the VM: objects NAME LEAST MOST. Of the file: dumps COUNT."""

    kind: str
    words: list[str]


def parse(lines: list[str]) -> list[Fact]:
    return [Fact(kind, words) for kind, *words in (line.split("\t") for line in lines)]


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

    def static(self, name: str, static: str) -> list[str]:
        return [
            value.bytes.hex()
            for class_id in self.classes.get(class_name(name), [])
            for value in self._dump.classes[class_id].statics
            if self._content.strings.get(value.key) == static
        ]

    def has_array(self, name: str, length: int) -> bool:
        types = {type_: class_name(f"{word}[]") for word, (type_, *_) in BASIC_TYPES.items()}
        arrays = (one for one in self._dump.objects if isinstance(one, PrimitiveArray))
        return any(one.length == length and types[one.type] == name for one in arrays)

    def chain(self, name: str, number: str, following: str) -> int:
        """How many objects hang together, from number 0 on."""
        by_id = {one.id: self.fields(one) for one in self.of(name)}
        by_number = {int.from_bytes(fields[number], "big", signed=True): fields for fields in by_id.values()}
        at = by_number.get(0)
        length = 0
        while at is not None and int.from_bytes(at[number], "big") == length and length <= len(by_id):
            length += 1
            at = by_id.get(int.from_bytes(at[following], "big"))
        return length


def differences(file: Path, facts: list[Fact]) -> str:
    """Empty if the dump has all that the program says."""
    data = open_bytes(str(file))
    try:
        content = Content(decompressed(data) if is_gzip(data) else data)
    except FramingError as error:
        return f"not readable: {error}"
    if not content.dumps:
        return "no heap dump"
    heap = _Heap(content, content.dumps[-1])
    texts = heap.texts() if any(fact.kind == "text" for fact in facts) else Counter()
    objects = objects_by_class(content) if any(fact.kind == "objects" for fact in facts) else Counter()

    def difference(fact: Fact) -> str:
        name, *words = fact.words
        match fact.kind:
            case "class":
                number = len(heap.of(name))
                return "" if number == int(words[0]) else f"{name}: {number} instances instead of {words[0]}"
            case "loaded":
                number = len(heap.classes.get(class_name(name), []))
                return "" if number == int(words[0]) else f"{name}: {number} classes instead of {words[0]}"
            case "objects":
                least, most = map(int, words)
                expected = f"{least}" if least == most else f"{least} to {most}"
                return "" if least <= objects[name] <= most else f"{name}: {objects[name]} objects instead of {expected}"
            case "text":
                return "" if texts[name] else f"no String {name!r}"
            case "chain":
                number = heap.chain(name, words[0], words[1])
                return "" if number == int(words[2]) else f"{name}: a chain of {number} instead of {words[2]}"
            case "static":
                values = heap.static(name, words[0])
                return "" if values == [words[1]] else f"{name}.{words[0]} is {values} instead of {words[1]}"
            case "dumps":
                return "" if len(content.dumps) == int(name) else f"{len(content.dumps)} heap dumps instead of {name}"
            case "array":
                return "" if heap.has_array(name, int(words[0])) else f"no {name} of {words[0]} elements"
        return f"no such fact: {fact.kind}"

    return "; ".join(filter(None, map(difference, facts)))
