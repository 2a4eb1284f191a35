"""HEAP DUMP (TEXT.md H.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hprof_corpus.ascii.findings import show
from hprof_corpus.ascii.grammar import ROOT_DETAILS, Kind
from hprof_corpus.ascii.ids import IdSet
from hprof_corpus.ascii.state import Life, State, brief, show_brief

ELEMENT_SIZES = {
    b"boolean[]": 1, b"byte[]": 1, b"char[]": 2, b"short[]": 2, b"int[]": 4, b"float[]": 4, b"long[]": 8, b"double[]": 8,
}  # fmt: skip

REFERENCES = (Kind.CLASS_REFERENCE, Kind.STATIC, Kind.CONSTANT, Kind.FIELD, Kind.ELEMENT)


def _serials(kind: bytes) -> tuple[bytes, ...]:
    """The details of a root that are decimal serial numbers."""
    return (b"thread", b"trace", b"id") if kind == b"thread" else (b"thread", b"trace")


@dataclass(slots=True)
class _Class:
    """What objects and CLS lines say of a class."""

    name: bytes | None  # as brief() keeps it; None if its line is cut
    used_at: int
    size: bytes = b""
    defined: bool = False
    super: int = 0
    super_at: int = 0


class HeapDump:
    kinds: tuple[Kind, ...] = (Kind.OBJECT, Kind.ELEMENT, Kind.ARRAY, Kind.ROOT, Kind.CLASS)
    end_kind: Kind | None = Kind.HEAP_END

    def __init__(self, state: State, match: re.Match[bytes]) -> None:
        self.state = state
        self.begin = state.line
        self.totals = int(match[1]), int(match[2])
        self.objects = self.bytes = 0
        self.defined, self.named = IdSet(), IdSet()
        self.roots: dict[int, int] = {}  # first line
        self.supers: dict[int, int] = {}  # first line
        self.classes: dict[int, _Class] = {}
        self.owner = 0  # the class to which references belong
        self.seen: set[bytes] = set()  # kinds of references of the owner
        self.elements = 0
        self.next_index = 0
        self.dangling = IdSet()

    def line(self, kind: Kind, match: re.Match[bytes]) -> None:
        if kind is Kind.ELEMENT:
            self._element(match)
        elif kind in REFERENCES:
            self._reference(kind, match)
        elif kind is Kind.ROOT:
            self._root(match)
        else:
            self._define(kind, match)

    def _define(self, kind: Kind, match: re.Match[bytes]) -> None:
        number = self._id(match[1])
        if number and not self.defined.add(number):
            self.state.report("ASC-041", "an ID that is not yet defined", match[1].decode())
        if kind is Kind.CLASS:
            self.kinds = (Kind.CLASS_REFERENCE, Kind.STATIC, Kind.CONSTANT, *HeapDump.kinds)
            self._define_class(number, match)
            return
        self.objects += 1
        self.bytes += int(match[2])
        self.state.use_trace(match[3])
        if kind is Kind.OBJECT:
            self.kinds = (Kind.FIELD, *HeapDump.kinds)
            if match[5] is not None:
                self._use_class(match[5], match[4], match[2])
            return
        self.kinds = HeapDump.kinds
        self.elements, self.next_index = int(match[4]), 0
        if match[6] is not None:
            self._use_class(match[6], match[5], b"")
            return
        size = ELEMENT_SIZES.get(match[5])
        if match.re is Kind.ARRAY.open:
            return
        if size is None:
            self.state.report("ASC-003", "an array of a primitive type, or an object array with its class", show(match[0]))
        elif self.elements * size > int(match[2]):
            self.state.report("ASC-050", f"a size of at least {self.elements * size}", f"sz={match[2].decode()}")

    def _define_class(self, number: int, match: re.Match[bytes]) -> None:
        self.objects += 1
        self.state.use_trace(match[3])
        self.owner, self.seen = number, set()
        name = None if match[3] is None else brief(match[2])
        known = self.classes.setdefault(number, _Class(name, self.state.line))
        known.defined = True
        self._same_name(known, name)

    def _use_class(self, id_: bytes, name: bytes, size: bytes) -> None:
        number = self._id(id_)
        name, size = brief(name), brief(size)
        known = self.classes.get(number)
        if known is None:
            known = self.classes[number] = _Class(name, self.state.line)
        self._same_name(known, name)
        if size and known.size and known.size != size:
            shape = "array-as-class" if name == b"java.lang.Class" else ""
            self.state.report("ASC-047", f"the size {show(known.size)} of other instances", f"sz={show(size)}", shape)
        known.size = known.size or size

    def _same_name(self, known: _Class, name: bytes | None) -> None:
        if known.name is None:
            known.name = name
        elif name is not None and known.name != name:
            self.state.report("ASC-045", f"the name {show_brief(known.name)}, as on line {known.used_at}", show_brief(name))

    def _element(self, match: re.Match[bytes]) -> None:
        index = int(match[1])
        if not self.next_index <= index < self.elements:
            self.state.report("ASC-046", f"an index from {self.next_index} to {self.elements - 1}", f"[{index}]")
        self.next_index = max(self.next_index, index + 1)
        self._name(self._id(match[2]))

    def _reference(self, kind: Kind, match: re.Match[bytes]) -> None:
        if match[2] is None:  # the line is cut
            return
        number = self._id(match[2])
        if kind is not Kind.CLASS_REFERENCE:
            self._name(number)
            return
        if match[1] in self.seen:
            self.state.report("ASC-053", f"one {match[1].decode()} of a class", "another")
            return
        self.seen.add(match[1])
        if match[1] == b"super":
            self._super(number)
        else:
            self._name(number)

    def _name(self, number: int) -> None:
        if number:
            self.named.add(number)

    def _super(self, number: int) -> None:
        self.supers.setdefault(number, self.state.line)
        owner = self.classes[self.owner]
        if not owner.super:
            owner.super, owner.super_at = number, self.state.line

    def _root(self, match: re.Match[bytes]) -> None:
        self.kinds = HeapDump.kinds
        kind, state = match[2], self.state
        parts = [part.split(b"=", 1) for part in (match[4] or b"").split(b", ")[1:]]
        details = dict(parts)
        if match[3] is not None:
            details[b"name"] = match[3]
        wanted = ROOT_DETAILS.get(kind)
        if wanted is None:
            state.report("ASC-003", "a kind of root that TEXT.md names", f"<{show(kind)}>")
        elif tuple(details) != wanted:
            texts = [", ".join(name.decode() for name in names) or "nothing" for names in (wanted, details)]
            state.report("ASC-052", f"{show(kind)} with {texts[0]}", texts[1])
        elif len(parts) > len(details):
            state.report("ASC-052", f"{show(kind)} with each detail once", f"{len(parts)} details")
        elif wrong := [name for name in _serials(kind) if not details.get(name, b"0").isdigit()]:
            state.report("ASC-052", f"a decimal {wrong[0].decode()}", show(details[wrong[0]]))
        else:
            if kind == b"thread":
                state.threads.setdefault(int(details[b"id"]), Life.KNOWN)
            state.use_thread(details.get(b"thread"))
            if b"trace" in details:
                state.use_trace(details[b"trace"])
        number = int(match[1], 16)
        if number:
            self.roots.setdefault(self._id(match[1]), state.line)
        else:
            unknown = kind == b"thread" and details.get(b"id") == b"200000"
            state.report("ASC-051", "an ID other than 0", "a root of 0", "unknown-thread" if unknown else "")

    def _id(self, digits: bytes) -> int:
        number = int(digits, 16)
        if not number:
            self.state.report("ASC-051", "an ID other than 0", "0")
        self.state.use_id(digits)
        return number

    def end(self, match: re.Match[bytes] | None) -> None:
        """`dangling` is left for a second look, which finds the lines of these references."""
        state = self.state
        if match and (self.objects != self.totals[0] or self.bytes > self.totals[1]):
            state.report(
                "ASC-040",
                f"{self.objects} objects, and at least {self.bytes} bytes, as in the block",
                "{} objects, {} bytes".format(*self.totals),
                "" if self.bytes > self.totals[1] else "fewer-objects" if self.objects > self.totals[0] else "freed-since",
                self.begin,
            )
        for number, one in self.classes.items():
            if number and not one.defined:
                state.report("ASC-044", "a class with a CLS line", f"{show_brief(one.name or b'')}@{number:x}", "", one.used_at)
        for number, line in self.supers.items():
            known = self.classes.get(number)
            if number and not (known and known.defined):
                state.report("ASC-049", "a superclass with a CLS line", f"{number:x}", "", line)
        for number, line in self.roots.items():
            if number not in self.defined:
                state.report("ASC-043", "a root that is defined in the heap dump", f"{number:x}", "", line)
        self._find_cycles()
        self.dangling = self.named.difference(self.defined)

    def _find_cycles(self) -> None:
        """Each cycle of superclasses has one finding, at its first `super` line in the order of classes."""
        left: set[int] = set()  # classes known to lead out of all cycles, or to one that is reported
        for number in self.classes:
            chain: dict[int, _Class] = {}
            while number not in left and (one := self.classes.get(number)) and number not in chain:
                chain[number] = one
                number = one.super
            if number in chain:
                self.state.report("ASC-054", "a superclass that is not the class itself", f"{number:x}", "", chain[number].super_at)
            left |= chain.keys()
