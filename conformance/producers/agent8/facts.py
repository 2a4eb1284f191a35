"""What a dump of the agent says, binary or text, in one form, so that the two can be compared."""

from __future__ import annotations

import io
import re
import struct
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from hprof_corpus import layouts
from hprof_corpus.ascii.check import check
from hprof_corpus.ascii.findings import Findings
from hprof_corpus.ascii.grammar import Kind
from hprof_corpus.walk import Shapes, read_class_parts, read_header, records, struct_of, subrecords

_RECORDS = {record.tag: record for record in layouts.RECORDS}
_OBJECT = layouts.BASIC_TYPES["object"][0]
_TYPES = {code: name for name, (code, _) in layouts.BASIC_TYPES.items()}


@dataclass(frozen=True, order=True)
class Frame:
    method: str  # class and method
    source: str
    line: int  # -1 if it is not known


@dataclass(frozen=True)
class Trace:
    thread: int
    frames: tuple[Frame, ...]


@dataclass(frozen=True)
class Site:
    type: str
    frames: tuple[Frame, ...]
    live_bytes: int
    live: int
    allocated_bytes: int
    allocated: int


@dataclass
class Monitor:
    """An owned or unowned monitor of a monitor dump; threads by name."""

    owner: str = ""
    entries: int = 0
    to_enter: tuple[str, ...] = ()
    to_be_notified: tuple[str, ...] = ()


@dataclass
class Facts:
    version: str = ""
    blocks: Counter[str] = field(default_factory=Counter)  # heap dumps, sites, samples and so on
    traces: dict[int, Trace] = field(default_factory=dict)
    started: list[str] = field(default_factory=list)  # names of threads
    ended: int = 0
    supers: dict[str, str] = field(default_factory=dict)  # by class; "" if there is none
    statics: dict[tuple[str, str], str] = field(default_factory=dict)  # class and field: the type that it names
    instances: Counter[str] = field(default_factory=Counter)
    fields: Counter[tuple[str, str]] = field(default_factory=Counter)  # class and field: how many are not null
    arrays: Counter[str] = field(default_factory=Counter)
    elements: Counter[str] = field(default_factory=Counter)
    roots: Counter[str] = field(default_factory=Counter)
    sites: list[Site] = field(default_factory=list)
    samples: Counter[tuple[Frame, ...]] = field(default_factory=Counter)  # two traces may differ only within their lines
    total_samples: int = 0
    shares: list[float] = field(default_factory=list)  # of samples and times, as the text says
    calls: Counter[str] = field(default_factory=Counter)  # of a method, in cpu=times
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)  # calls of a method by another, in cpu=old
    waits: list[tuple[str, str]] = field(default_factory=list)  # monitor and thread of WAIT
    monitors: list[dict[str, Monitor]] = field(default_factory=list)  # of each monitor dump, by signature
    contended: Counter[str] = field(default_factory=Counter)  # entries of monitors of a class, in MONITOR TIME
    settings: tuple[int, int] | None = None  # flags and depth, in binary only
    nonzero_values: int = 0  # bytes of primitive fields, in binary only
    primitive_elements: int = 0

    @property
    def longest_trace(self) -> int:
        return max((len(trace.frames) for trace in self.traces.values()), default=0)


# ---- text

_ROOTS = {
    "thread": "ROOT_THREAD_OBJECT", "unknown": "ROOT_UNKNOWN", "JNI global ref": "ROOT_JNI_GLOBAL",
    "JNI local ref": "ROOT_JNI_LOCAL", "system class": "ROOT_STICKY_CLASS", "busy monitor": "ROOT_MONITOR_USED",
    "thread block": "ROOT_THREAD_BLOCK",
    "Java stack": "ROOT_JAVA_FRAME", "native stack": "ROOT_NATIVE_STACK",
}  # fmt: skip
_LINES = {"Unknown line": -1, "Compiled method": -2, "Native method": -3}
_BLOCKS = {
    Kind.HEAP_BEGIN: "heap dump", Kind.SITES_BEGIN: "sites", Kind.MONITOR_TIME_BEGIN: "monitor times",
    Kind.MONITOR_DUMP_BEGIN: "monitor dump", Kind.OLD_HEAD: "old times", Kind.WAIT: "waits",
}  # fmt: skip


_MONITORS = (
    Kind.WAIT, Kind.MONITOR_DUMP_BEGIN, Kind.MONITOR, Kind.OWNER, Kind.WAITING_TO_ENTER, Kind.WAITING_FOR_NOTIFY,
)  # fmt: skip


def _method(call: str) -> str:
    """Without its descriptor."""
    return call.partition("(")[0]


class _Text:
    def __init__(self) -> None:
        self.facts = Facts()
        self.serial = 0
        self.owner = ""
        self.types: dict[str, str] = {}  # of the objects of this heap dump
        self.names: dict[str, str] = {}  # of classes
        self.supers: dict[str, str] = {}
        self.statics: dict[tuple[str, str], str] = {}
        self.table = ""
        self.threads: dict[int, str] = {}  # names
        self.monitor = Monitor()

    def observe(self, kind: Kind, match: re.Match[bytes]) -> None:
        words = [(group or b"").decode("utf-8", "replace") for group in match.groups()]
        facts = self.facts
        if kind in _BLOCKS:
            facts.blocks[_BLOCKS[kind]] += 1
        if kind is Kind.CPU_BEGIN:
            self.table = "samples" if words[0] == "SAMPLES" else "times"
            facts.blocks[self.table] += 1
            facts.total_samples = int(words[1]) if self.table == "samples" else 0
        elif kind is Kind.MONITOR_TIME_BEGIN:
            self.table = "monitor times"
        elif kind is Kind.THREAD_START:
            facts.started.append(words[2])
            self.threads[int(words[1])] = words[2]
        elif kind is Kind.THREAD_END:
            facts.ended += 1
        elif kind is Kind.TRACE:
            self.serial = int(words[0])
            facts.traces[self.serial] = Trace(int(words[1] or 0), ())
        elif kind is Kind.FRAME:
            frame = Frame(f"{words[0]}.{words[1]}", words[2], _LINES[words[3]] if words[3] in _LINES else int(words[3] or 0))
            old = facts.traces[self.serial]
            facts.traces[self.serial] = Trace(old.thread, (*old.frames, frame))
        elif kind is Kind.SITE:
            live_bytes, live, allocated_bytes, allocated = map(int, words[3:7])
            frames = facts.traces[int(words[7])].frames
            facts.sites.append(Site(words[8], frames, live_bytes, live, allocated_bytes, allocated))
        elif kind is Kind.RANKED:
            self._ranked(words)
        elif kind is Kind.OLD_CALL:
            facts.pairs[_method(words[1]), _method(words[2])] += int(words[0])
        elif kind in _MONITORS:
            self._monitor(kind, words)
        else:
            self._heap(kind, words, match.re is kind.open)

    def _ranked(self, words: list[str]) -> None:
        facts, count = self.facts, int(words[3])
        if self.table == "monitor times":
            facts.contended[words[5].removesuffix(" (Java)")] += count
            return
        facts.shares.append(float(words[1]))
        if self.table == "samples":
            facts.samples[facts.traces[int(words[4])].frames] += count
        else:
            facts.calls[words[5]] += count

    def _monitor(self, kind: Kind, words: list[str]) -> None:
        if kind is Kind.WAIT:
            self.facts.waits.append((words[0], self._thread(words[2])))
        elif kind is Kind.MONITOR_DUMP_BEGIN:
            self.facts.monitors.append({})
        elif kind is Kind.MONITOR:
            self.monitor = self.facts.monitors[-1][words[0]] = Monitor()
        elif kind is Kind.OWNER:
            self.monitor.owner, self.monitor.entries = self._thread(words[0]), int(words[1])
        else:
            threads = tuple(sorted(map(self._thread, re.findall(r"thread ?(\d*)", words[0]))))
            if kind is Kind.WAITING_TO_ENTER:
                self.monitor.to_enter = threads
            else:
                self.monitor.to_be_notified = threads

    def _thread(self, serial: str) -> str:
        return self.threads.get(int(serial or 0), "?")

    def _heap(self, kind: Kind, words: list[str], cut: bool) -> None:
        facts = self.facts
        if kind is Kind.ROOT:
            facts.roots[_ROOTS[words[1]]] += 1
        elif kind is Kind.OBJECT:
            self.owner = self.types[words[0]] = words[3]
            facts.instances[words[3]] += 1
        elif kind is Kind.FIELD:
            facts.fields[self.owner, words[0]] += 1
        elif kind is Kind.ARRAY:
            self.owner = self.types[words[0]] = words[4]
            facts.arrays[words[4]] += 1
            if not words[5] and not cut:
                facts.elements[words[4]] += int(words[3])
                facts.primitive_elements += int(words[3])
        elif kind is Kind.ELEMENT:
            facts.elements[self.owner] += 1
        elif kind is Kind.CLASS:
            self.owner = self.names[words[0]] = words[1]
            self.types[words[0]] = "class"
            self.supers[words[1]] = ""
        elif kind is Kind.CLASS_REFERENCE and words[0] == "super":
            self.supers[self.owner] = words[1]
        elif kind is Kind.STATIC:
            self.statics[self.owner, words[0]] = words[1]
        elif kind is Kind.HEAP_END:
            facts.supers = {name: self.names.get(id_, "") for name, id_ in self.supers.items()}
            facts.statics = {key: self.types.get(id_, "") for key, id_ in self.statics.items()}


def read_text_data(data: bytes) -> tuple[Facts, Findings]:
    """With the findings of the profile strict."""
    text = _Text()
    findings = Findings()
    text.facts.version = data.partition(b",")[0].decode("utf-8", "replace").removeprefix("JAVA PROFILE ")
    check(io.BytesIO(data), findings, text.observe)
    return text.facts, findings


def read_text(path: Path) -> tuple[Facts, Findings]:
    return read_text_data(path.read_bytes())


def findings_of_agent(data: bytes) -> Findings:
    """Those of the profile jdk8-agent."""
    findings = Findings("jdk8-agent")
    check(io.BytesIO(data), findings)
    return findings


# ---- binary

UNKNOWN = "?"  # a class without a LOAD_CLASS


class _Binary:
    def __init__(self, data: bytes) -> None:
        header = read_header(data)
        assert header is not None
        self.data, self.shapes, self.at = data, Shapes(header.id_size), header.size
        self.id = ">I" if header.id_size == 4 else ">Q"
        self.facts = Facts(header.format.decode().removeprefix("JAVA PROFILE "))
        self.strings: dict[int, str] = {}
        self.names: dict[int, str] = {}  # of classes, by ID
        self.serials: dict[int, str] = {}
        self.frames: dict[int, Frame] = {}
        self.waiting: list[tuple[int, int, int]] = []  # class, first and last byte of an instance
        self.types: dict[int, str] = {}
        self.classes: dict[int, tuple[int, list[tuple[int, int]]]] = {}
        self.static_ids: dict[tuple[str, str], int] = {}

    def read(self) -> Facts:
        sizes = {tag: struct_of(record.layout, self.shapes.id_size) for tag, record in _RECORDS.items()}
        for framed in records(self.data, self.at):
            record = _RECORDS[framed.tag]
            if record.name in ("HEAP_DUMP", "HEAP_DUMP_SEGMENT"):
                self._heap(framed.body, framed.end)
                continue
            fields = dict(
                zip((f.name for f in record.layout.fields), sizes[framed.tag].unpack_from(self.data, framed.body), strict=True)
            )
            self._record(record.name, fields, framed.body + sizes[framed.tag].size, framed.end)
        self._resolve()
        return self.facts

    def _record(self, name: str, r: dict[str, int], tail: int, end: int) -> None:
        facts = self.facts
        if name == "UTF8":
            self.strings[r["id"]] = self.data[tail:end].decode("utf-8", "replace")
        elif name == "LOAD_CLASS":
            facts.blocks["loads"] += 1
            self.names[r["class_id"]] = self.serials[r["class_serial"]] = self.strings[r["name"]]
        elif name == "FRAME":
            method = f"{self.serials.get(r['class_serial'], '')}.{self.strings[r['method']]}"
            line = r["line"] - (1 << 32) if r["line"] >= 1 << 31 else r["line"]
            self.frames[r["id"]] = Frame(method, self.strings.get(r["source"], "<Unknown Source>"), line)
        elif name == "TRACE":
            ids = [struct.unpack_from(self.id, self.data, at)[0] for at in range(tail, end, self.shapes.id_size)]
            facts.traces[r["trace_serial"]] = Trace(r["thread_serial"], tuple(self.frames[id_] for id_ in ids))
        elif name == "START_THREAD":
            facts.started.append(self.strings.get(r["name"], ""))
        elif name == "END_THREAD":
            facts.ended += 1
        elif name == "CONTROL_SETTINGS":
            facts.settings = r["flags"], r["depth"]
        elif name == "ALLOC_SITES":
            facts.blocks["sites"] += 1
            for at in range(tail, end, 25):
                _, class_, trace, *counts = struct.unpack_from(">BIIIIII", self.data, at)
                facts.sites.append(Site(self.serials.get(class_, UNKNOWN), facts.traces[trace].frames, *counts))
        elif name == "CPU_SAMPLES":
            facts.blocks["samples"] += 1
            facts.total_samples = r["samples"]
            for at in range(tail, end, 8):
                count, trace = struct.unpack_from(">II", self.data, at)
                facts.samples[facts.traces[trace].frames] += count
        elif name == "HEAP_SUMMARY":
            facts.blocks["summary"] += 1

    def _heap(self, body: int, end: int) -> None:
        facts, shapes = self.facts, self.shapes
        facts.blocks["heap dump"] += 1
        for shape, _, values, tail, stop in subrecords(self.data, body, end, shapes):
            name = shape.record.name
            fields = dict(zip((f.name for f in shape.record.layout.fields), values, strict=True))
            if name.startswith("ROOT"):
                facts.roots[name] += 1
            elif name == "INSTANCE_DUMP":
                self.waiting.append((fields["class_id"], tail, stop))
                self.types[fields["object_id"]] = self.names.get(fields["class_id"], UNKNOWN)
            elif name == "OBJECT_ARRAY_DUMP":
                type_ = self.types[fields["object_id"]] = self.names.get(fields["class_id"], UNKNOWN)
                facts.arrays[type_] += 1
                ids = struct.unpack_from(f">{(stop - tail) // shapes.id_size}{self.id[1]}", self.data, tail)
                facts.elements[type_] += sum(1 for id_ in ids if id_)
            elif name == "PRIMITIVE_ARRAY_DUMP":
                type_ = self.types[fields["object_id"]] = _TYPES[fields["type"]] + "[]"
                facts.arrays[type_] += 1
                facts.elements[type_] += fields["elements"]
                facts.primitive_elements += fields["elements"]
            elif name == "CLASS_DUMP":
                self._class(fields, tail, stop)

    def _class(self, fields: dict[str, int], tail: int, stop: int) -> None:
        parts = read_class_parts(self.data, tail, stop, self.shapes)
        name = self.names.get(fields["class_id"], UNKNOWN)
        self.types[fields["class_id"]] = "class"
        self.classes[fields["class_id"]] = fields["super_id"], parts.fields
        self.facts.supers[name] = self.names.get(fields["super_id"], "")
        for entry in parts.statics:
            if entry.type == _OBJECT:
                target = struct.unpack_from(self.id, self.data, entry.value)[0]
                if target:
                    self.static_ids[name, self.strings[entry.key]] = target

    def _resolve(self) -> None:
        """Instances come before their classes."""
        facts = self.facts
        facts.statics = {key: self.types.get(id_, "") for key, id_ in self.static_ids.items()}
        for class_id, at, _ in self.waiting:
            name = self.names.get(class_id, UNKNOWN)
            facts.instances[name] += 1
            layer = class_id
            while layer in self.classes:
                super_id, fields = self.classes[layer]
                for key, code in fields:
                    size = self.shapes.widths[code]
                    value = self.data[at : at + size]
                    if any(value):
                        if code == _OBJECT:
                            facts.fields[name, self.strings[key]] += 1
                        else:
                            facts.nonzero_values += 1
                    at += size
                layer = super_id


def read_binary_data(data: bytes) -> Facts:
    return _Binary(data).read()


def read_binary(path: Path) -> Facts:
    return read_binary_data(path.read_bytes())
