"""What a dumped program says of itself, against what is in the dump: a missing object is found, not only a malformed one."""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from hprof_corpus.digest import Content, HeapDump, Instance, PrimitiveArray, class_name
from hprof_corpus.layouts import BASIC_TYPES
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
    return [Fact(line.split("\t")[0], line.split("\t")[1:]) for line in lines]


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
        content = Content(memoryview(gzip.decompress(data)) if is_gzip(data) else data)
    except FramingError as error:
        return f"not readable: {error}"
    if not content.dumps:
        return "no heap dump"
    heap = _Heap(content, content.dumps[-1])
    texts = heap.texts() if any(fact.kind == "text" for fact in facts) else Counter()
    objects = objects_by_class(content) if any(fact.kind == "objects" for fact in facts) else Counter()
    found = []
    for fact in facts:
        words = fact.words
        if fact.kind == "class" and len(heap.of(words[0])) != int(words[1]):
            found.append(f"{words[0]}: {len(heap.of(words[0]))} instances instead of {words[1]}")
        elif fact.kind == "loaded" and len(heap.classes.get(class_name(words[0]), [])) != int(words[1]):
            found.append(f"{words[0]}: {len(heap.classes.get(class_name(words[0]), []))} classes instead of {words[1]}")
        elif fact.kind == "objects" and not int(words[1]) <= objects[words[0]] <= int(words[2]):
            found.append(f"{words[0]}: {objects[words[0]]} objects instead of {' to '.join(sorted({*words[1:]}))}")
        elif fact.kind == "text" and not texts[words[0]]:
            found.append(f"no String {words[0]!r}")
        elif fact.kind == "chain" and heap.chain(*words[:3]) != int(words[3]):
            found.append(f"{words[0]}: a chain of {heap.chain(*words[:3])} instead of {words[3]}")
        elif fact.kind == "static" and heap.static(*words[:2]) != [words[2]]:
            found.append(f"{words[0]}.{words[1]} is {heap.static(*words[:2])} instead of {words[2]}")
        elif fact.kind == "dumps" and len(content.dumps) != int(words[0]):
            found.append(f"{len(content.dumps)} heap dumps instead of {words[0]}")
        elif fact.kind == "array" and not heap.has_array(words[0], int(words[1])):
            found.append(f"no {words[0]} of {words[1]} elements")
    return "; ".join(found)
