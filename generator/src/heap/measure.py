#!/usr/bin/env python3
"""Writes the rows of a .def file of this folder, measured in heap dumps of HotSpot.

    measure.py idle DUMP.hprof >idle_25.def              what a VM holds that does nothing
    measure.py load IDLE.hprof DUMP.hprof >load_web.def  what a program adds to that
    measure.py added idle_25.def DUMP.hprof              rows for the end of the first file: the hidden classes of a program
                                                         with lambdas, and those of virtual threads

A program that only waits, dumped by `jcmd GC.heap_dump`, is idle. Its own classes are left out. The rows are explained in
load_javac.def.
"""

from __future__ import annotations

import re
import struct
import sys
import textwrap
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from hprof_corpus import layouts
from hprof_corpus.layouts import BASIC_TYPES
from hprof_corpus.walk import Shapes, read_class_parts, read_header, records, struct_of, subrecords

LETTERS = {2: "L", 4: "Z", 5: "C", 6: "F", 7: "D", 8: "B", 9: "S", 10: "I", 11: "J"}
TYPES = {5: "CHARS", 6: "FLOATS", 7: "DOUBLES", 8: "BYTES", 9: "SHORTS", 10: "INTS", 11: "LONGS", 4: "BOOLEANS"}
NAMES = {code: name for name, (code, _) in BASIC_TYPES.items()}
CORE = {
    "java/lang/Object": "CORE_OBJECT",
    "java/lang/Class": "CORE_CLASS",
    "java/lang/String": "CORE_STRING",
    "java/lang/Thread": "CORE_THREAD",
    "java/lang/ThreadGroup": "CORE_THREAD_GROUP",
    "java/lang/ClassLoader": "CORE_CLASS_LOADER",
}
INTEGERS = {4: "B", 8: "b", 9: "h", 10: "i", 11: "q", 5: "H"}
EQUAL_PARTS, HALVED_PARTS = 31, 8
SHARES = 10_000_000
LEAST_SHARE = 1280  # of a load
FEW_ARRAYS = 8  # of an idle VM: arrays of a class with less count as Object[]
FEW_OBJECTS = 3  # of an idle VM: what less objects of a class refer to is not recorded
TARGETS = 16
ANY = -1
HIDDEN = re.compile(r"[+/]0x")
OF_VIRTUAL_THREADS = (
    "java/lang/VirtualThread$VThreadContinuation",
    "jdk/internal/misc/CarrierThread",
    "jdk/internal/vm/StackChunk",
)


@dataclass
class Class:
    """A class, and what its instances have."""

    id: int
    name: str
    super: int
    loader: int
    fields: list[tuple[str, int]]
    statics: list[tuple[str, int, int]]  # name, type, value
    largest: list[int]  # by field: the largest value of a primitive one, negative values as large ones
    objects: int = 0


@dataclass
class Kind:
    """Objects that have a row."""

    objects: int = 0
    lengths: list[int] = field(default_factory=list)
    slots: list[Counter[int]] = field(default_factory=list)  # targets: the number of a kind, ANY, or None as -2 for null
    nonnull: int = 0


NULL = -2


class Dump:
    """The objects of a dump by kinds: the name of a class, "[]" and the name of a class, or a name of TYPES or TEXT."""

    def __init__(self, path: str) -> None:
        self.data = Path(path).read_bytes()
        header = read_header(self.data)
        assert header
        self.shapes = Shapes(header.id_size)
        self.id_size = header.id_size
        self.strings: dict[int, str] = {}
        self.names: dict[int, str] = {}
        self.classes: dict[int, Class] = {}
        self.heaps: list[tuple[int, int]] = []
        self.threads: list[int] = []
        self.globals = self.utf16 = 0
        self.kinds: dict[str, Kind] = defaultdict(Kind)
        self.kind_of: dict[int, str] = {}
        self.texts: set[int] = set()
        self.body_of: dict[int, int] = {}
        self._records(header.size)
        self._classes()
        self._objects()
        self._references()

    def _records(self, at: int) -> None:
        tags = {record.tag: record for record in layouts.RECORDS}
        for framed in records(self.data, at):
            record = tags[framed.tag]
            if record.name.startswith("HEAP_DUMP"):
                self.heaps.append((framed.body, framed.end))
                continue
            values = struct_of(record.layout, self.id_size)
            if record.name == "UTF8":
                (string,) = values.unpack_from(self.data, framed.body)
                self.strings[string] = self.data[framed.body + values.size : framed.end].decode("utf-8", "replace")
            elif record.name == "LOAD_CLASS":
                _, class_id, _, name = values.unpack_from(self.data, framed.body)
                self.names[class_id] = self.strings[name]

    def _classes(self) -> None:
        for at, end in self.heaps:
            for shape, _, values, tail, stop in subrecords(self.data, at, end, self.shapes):
                if shape.record.name != "CLASS_DUMP":
                    continue
                parts = read_class_parts(self.data, tail, stop, self.shapes)
                statics = [
                    (self.strings[entry.key], entry.type, int.from_bytes(self.data[entry.value : entry.end]))
                    for entry in parts.statics
                ]
                fields = [(self.strings[name], code) for name, code in parts.fields]
                self.classes[values[0]] = Class(
                    values[0], self.names[values[0]], values[2], values[3], fields, statics, [0] * len(fields)
                )

    def chain(self, class_id: int) -> list[Class]:
        chain = []
        while class_id:
            chain.append(self.classes[class_id])
            class_id = self.classes[class_id].super
        return chain

    def _objects(self) -> None:
        string = next(one for one in self.classes.values() if one.name == "java/lang/String")
        arrays: dict[int, tuple[int, int]] = {}
        widths = [self.id_size if code == 2 else self.shapes.widths[code] for _, code in string.fields]
        coder = next((sum(widths[:i]) for i, (name, _) in enumerate(string.fields) if name == "coder"), None)
        for at, end in self.heaps:
            for shape, _, values, tail, _ in subrecords(self.data, at, end, self.shapes):
                name = shape.record.name
                if name == "INSTANCE_DUMP":
                    kind = self.classes[values[2]].name
                    self.classes[values[2]].objects += 1
                    self.body_of[values[0]] = tail
                    if values[2] == string.id:
                        self.utf16 += coder is not None and self.data[tail + coder]
                        self.texts.add(self._references_of(string.id, tail)[0])
                elif name == "OBJECT_ARRAY_DUMP":
                    kind = "[]" + self.element_class(values[3])
                    self.kinds[kind].lengths.append(values[2])
                elif name == "PRIMITIVE_ARRAY_DUMP":
                    arrays[values[0]] = values[3], values[2]
                    continue
                else:
                    self.globals += name == "ROOT_JNI_GLOBAL"
                    if name == "ROOT_THREAD_OBJECT":
                        self.threads.append(values[0])
                    continue
                self.kind_of[values[0]] = kind
                self.kinds[kind].objects += 1
        for array, (code, length) in arrays.items():
            kind = "TEXT" if array in self.texts else TYPES[code]
            self.kind_of[array] = kind
            self.kinds[kind].objects += 1
            self.kinds[kind].lengths.append(length)
        self.text_type = next(arrays[text][0] for text in self.texts if text in arrays)

    def element_class(self, array: int) -> str:
        match = re.fullmatch(r"\[L(.*);", self.classes[array].name)
        return match[1] if match else "java/lang/Object"

    def _references_of(self, class_id: int, at: int) -> list[int]:
        found = []
        for one in self.chain(class_id):
            for i, (_, code) in enumerate(one.fields):
                width = self.id_size if code == 2 else self.shapes.widths[code]
                if code == 2:
                    found.append(int.from_bytes(self.data[at : at + width]))
                elif code in INTEGERS:
                    one.largest[i] = max(one.largest[i], int.from_bytes(self.data[at : at + width]))
                else:
                    one.largest[i] = 1 << 63
                at += width
        return found

    def _references(self) -> None:
        step = self.id_size
        for at, end in self.heaps:
            for shape, _, values, tail, stop in subrecords(self.data, at, end, self.shapes):
                name = shape.record.name
                if name == "INSTANCE_DUMP":
                    kind = self.kinds[self.classes[values[2]].name]
                    found = self._references_of(values[2], tail)
                    if not kind.slots:
                        kind.slots = [Counter() for _ in found]
                    for slot, target in zip(kind.slots, found, strict=True):
                        slot[self._target(target)] += 1
                elif name == "OBJECT_ARRAY_DUMP":
                    kind = self.kinds["[]" + self.element_class(values[3])]
                    if not kind.slots:
                        kind.slots = [Counter()]
                    for (target,) in struct.iter_unpack(">I" if step == 4 else ">Q", self.data[tail:stop]):
                        if target:
                            kind.nonnull += 1
                            kind.slots[0][self._target(target)] += 1

    def _target(self, target: int) -> int:
        if not target:
            return NULL
        kind = self.kind_of.get(target)
        return number_of(kind) if kind else ANY

    def thread_names(self) -> list[str]:
        names = []
        for thread in self.threads:
            at = self.body_of[thread]
            class_id = int.from_bytes(self.data[at - 4 - self.id_size : at - 4])
            slots = [n for one in self.chain(class_id) for n, code in one.fields if code == 2]
            string = self._references_of(class_id, at)[slots.index("name")]
            names.append(self._text(string))
        return names

    def _text(self, string: int) -> str:
        text_class = next(i for i, c in self.classes.items() if c.name == "java/lang/String")
        value = self._references_of(text_class, self.body_of[string])[0]
        for at, end in self.heaps:
            for shape, _, values, tail, stop in subrecords(self.data, at, end, self.shapes):
                if shape.record.name == "PRIMITIVE_ARRAY_DUMP" and values[0] == value:
                    return self.data[tail:stop].decode("utf-16-be" if values[3] == 5 else "latin-1")
        raise KeyError(string)


# ---- Kinds by number, so that counters are small ----------------------------------------------------------------------

_numbers: dict[str, int] = {}
_kinds: list[str] = []


def number_of(kind: str) -> int:
    if kind not in _numbers:
        _numbers[kind] = len(_kinds)
        _kinds.append(kind)
    return _numbers[kind]


# ---- Rows ---------------------------------------------------------------------------------------------------------------


def lengths(values: list[int]) -> str:
    """As a struct length_table has them."""
    values = sorted(values)
    ends = [i / (EQUAL_PARTS + 1) for i in range(EQUAL_PARTS + 1)]
    ends += [1 - (1 - ends[-1]) / 2**half for half in range(1, HALVED_PARTS)] + [1]
    parts = []
    for low, high in pairwise(ends):
        first = min(int(low * len(values)), len(values) - 1)
        last = max(first, min(int(high * len(values)), len(values)) - 1)
        parts.append(f"{{{values[first]},~{values[last]}}}")
    return wrapped("LENGTHS(" + ", ".join(parts) + "))", "    ").replace("~", " ")


def wrapped(text: str, indent: str) -> str:
    return textwrap.fill(text, 124, initial_indent=indent, subsequent_indent=indent + "      ", break_long_words=False)


def quoted(words: str, indent: str) -> str:
    """A C string, on several lines if it is long."""
    lines = textwrap.wrap(words, 100, break_long_words=False, break_on_hyphens=False) or [""]
    return ("\n" + indent).join(f'"{line}{" " if i + 1 < len(lines) else ""}"' for i, line in enumerate(lines))


def form(name: str, code: int, largest: int) -> str:
    if code == 2:
        return ""
    if name == "coder" or (not largest and code not in (6, 7)):
        return "0"
    return "s" if largest < 128 and code != 4 else ""


class Rows:
    """The rows of the kinds that `keep` has, with their numbers of objects."""

    def __init__(self, dump: Dump, keep: dict[str, int], all_classes: bool) -> None:
        self.dump = dump
        self.keep = keep
        self.symbols: dict[str, str] = {}
        self.classes: dict[str, Class] = {}
        for one in dump.classes.values():
            self.classes.setdefault(one.name, one)
        wanted = [
            name
            for name, one in self.classes.items()
            if name in keep or (all_classes and not name.startswith("[") and not one.loader)
        ]
        wanted += [kind[2:] for kind in keep if kind.startswith("[]")]
        self.order: list[str] = []
        for name in sorted(set(wanted), key=lambda name: (-keep.get(name, 0), name)):
            for one in reversed(dump.chain(self.classes[name].id)):
                if one.name not in self.order and one.name not in CORE:
                    self.order.append(one.name)

    def symbol(self, kind: str) -> str:
        if kind not in self.symbols:
            words = re.split(r"[/$]", kind.removeprefix("[]"))
            last = "".join(words[-2:]) if words[-1][:1].isdigit() else words[-1]
            symbol = re.sub(r"\W", "_", re.sub(HIDDEN.pattern + ".*", "", last))
            symbol += "Arrays" if kind.startswith("[]") else ""
            taken = set(self.symbols.values())
            unique, n = symbol, 2
            while unique in taken:
                unique, n = f"{symbol}{n}", n + 1
            self.symbols[kind] = unique
        return self.symbols[kind]

    def of_class(self, name: str) -> str:
        return CORE[name] if name in CORE else f"class_{self.symbol(name)}"

    def specification(self, one: Class) -> tuple[str, str]:
        fields = [
            f"{LETTERS[code]}{form(name, code, largest)}:{name}"
            for (name, code), largest in zip(one.fields, one.largest, strict=True)
        ]
        statics = [
            f"{LETTERS[code]}{form(name, code, value)}:{name}" for name, code, value in one.statics if not name.startswith("<")
        ]
        return " ".join(fields), " ".join(statics)

    def slots(self, kind: str) -> list[str]:
        rows = []
        for slot in self.dump.kinds[kind].slots:
            total = sum(slot.values()) or 1
            nulls = round(slot[NULL] * 1000 / total)
            row = f"SLOT({nulls})"
            for target, count in slot.most_common(TARGETS):
                share = round(count * 1000 / total)
                if target >= 0 and _kinds[target] in self.keep and share > 2:
                    row += f" TARGET({self.symbol(_kinds[target])},~{share})"
            rows.append(wrapped(row, "    ").replace("~", " "))
        return rows

    def print_class(self, row: str, one: Class, objects: int) -> None:
        fields, statics = self.specification(one)
        above = self.of_class(self.dump.classes[one.super].name)
        head = f'{row}({self.symbol(one.name)}, {above}, "{one.name}", {objects},'
        if len(head) > 124:
            head = f'{row}({self.symbol(one.name)}, {above},\n      "{one.name}", {objects},'
        body = [quoted(fields, "      "), quoted(statics, "      ")]
        line = f"{head} {', '.join(body)})"
        print(line if len(line) < 124 else f"{head}\n      " + ",\n      ".join(body) + ")")

    def print(self, slots_from: int) -> None:
        for name, symbol in CORE.items():
            fields, statics = self.specification(self.classes[name])
            if slots_from and (fields or statics):
                print(f"CORE({symbol}, {quoted(fields, '      ')},\n      {quoted(statics, '      ')})")
        for kind in sorted((k for k in self.keep if k in {*TYPES.values(), "TEXT"}), key=lambda k: -self.keep[k]):
            code = self.dump.text_type if kind == "TEXT" else next(c for c, k in TYPES.items() if k == kind)
            print(f"PRIMITIVE_ARRAYS({kind}, TYPE_{NAMES[code].upper()}, {self.keep[kind]},")
            print(lengths(self.dump.kinds[kind].lengths))
        for name in ("java/lang/String", "java/lang/Object"):
            if name in self.keep:
                print(f"KNOWN({self.symbol(name)}, {CORE[name]}, {self.keep[name]})")
                print("".join(row + "\n" for row in self.slots(name)), end="")
        for name in self.order:
            objects = self.keep.get(name, 0)
            self.print_class("CLASS", self.classes[name], objects)
            if objects > slots_from:
                print("".join(row + "\n" for row in self.slots(name)), end="")
        for kind in sorted((k for k in self.keep if k.startswith("[]")), key=lambda k: (-self.keep[k], k)):
            counted = self.dump.kinds[kind]
            nonnull = round(counted.nonnull * 1000 / (sum(counted.lengths) or 1))
            print(f"OBJECT_ARRAYS({self.symbol(kind)}, {self.of_class(kind[2:])}, {self.keep[kind]}, {nonnull},")
            print(lengths(counted.lengths))
            print("".join(row + "\n" for row in self.slots(kind)), end="")


def fold(dump: Dump, kind: str) -> None:
    """Counts the arrays of this kind as Object[]."""
    few = dump.kinds.pop(kind)
    into = dump.kinds["[]java/lang/Object"]
    into.objects += few.objects
    into.lengths += few.lengths
    into.nonnull += few.nonnull


def idle(path: str) -> None:
    dump = Dump(path)
    of_program = {one.name for one in dump.classes.values() if one.loader and not one.name.startswith(("java/", "jdk/", "sun/"))}
    for kind in [kind for kind, one in dump.kinds.items() if kind.startswith("[]")]:
        if kind != "[]java/lang/Object" and (dump.kinds[kind].objects < FEW_ARRAYS or kind[2:] in of_program):
            fold(dump, kind)
    made = {*of_program, "java/lang/Class", "java/lang/Thread", "java/lang/ThreadGroup", "java/lang/ClassLoader"}
    keep = {kind: one.objects for kind, one in dump.kinds.items() if kind not in made and one.objects}
    total = sum(keep.values())
    print(f"/* What an idle VM holds, of {Path(path).name}: {total} objects. Made by measure.py; see load_javac.def. */")
    print(f"IDLE({total + 1}, {len(dump.strings)}, {dump.globals}, {dump.utf16})")
    for name in dump.thread_names():
        print(f'IDLE_THREAD("{name}")')
    Rows(dump, keep, True).print(FEW_OBJECTS)


def load(before: str, path: str) -> None:
    idle_kinds = Dump(before).kinds
    dump = Dump(path)
    more = {kind: one.objects - idle_kinds[kind].objects for kind, one in dump.kinds.items()}
    for kind, one in dump.kinds.items():
        one.lengths = list((Counter(one.lengths) - Counter(idle_kinds[kind].lengths)).elements()) or one.lengths
    total = sum(count for count in more.values() if count > 0)
    keep = {kind: round(count * SHARES / total) for kind, count in more.items()}
    keep = {kind: share for kind, share in keep.items() if share >= LEAST_SHARE or kind == "TEXT"}
    print(f"/* What a load adds, of {Path(path).name}: {total} objects. Made by measure.py; see load_javac.def. */")
    Rows(dump, keep, False).print(0)


def added(rows: str, path: str) -> None:
    """Those that the rows lack. Of a hidden class that has objects, a program has at least one."""
    dump = Dump(path)
    names = {one.name: one for one in dump.classes.values()}
    have = {name: symbol for symbol, name in re.findall(r'CLASS\((\w+), \w+,\s+"([^"]+)"', Path(rows).read_text())}
    hidden = sorted(name for name in names if HIDDEN.search(name))
    writer = Rows(dump, {}, False)
    writer.symbols = dict(have)
    print("/* Of a program with lambdas and virtual threads. */")
    for name in (*hidden, *(name for name in OF_VIRTUAL_THREADS if name in names)):
        for one in reversed(dump.chain(names[name].id)):
            if one.name in have or one.name in CORE:
                continue
            writer.print_class("ADDED", one, int(one.name in hidden and one.objects > 0))
            have[one.name] = writer.symbol(one.name)


if __name__ == "__main__":
    if sys.argv[1:2] == ["idle"] and len(sys.argv) == 3:
        idle(sys.argv[2])
    elif sys.argv[1:2] == ["load"] and len(sys.argv) == 4:
        load(sys.argv[2], sys.argv[3])
    elif sys.argv[1:2] == ["added"] and len(sys.argv) == 4:
        added(sys.argv[2], sys.argv[3])
    else:
        sys.exit(__doc__)
