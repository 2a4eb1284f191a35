"""What is wrong where two digests differ, in words: `field x of Foo is 3, not 5`.

A reader gives a sum of hashes, no items. A guess, such as "this item is missing" or "this value is 0", is right if it leads from
the true sum to the reader's, to the last of 128 bits. What no guess leads to stays two digests.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import chain, combinations, islice

from hprof_conformance import gold
from hprof_conformance.cases import Case
from hprof_conformance.outcomes import Difference, root_kinds
from hprof_conformance.protocol import Hello
from hprof_corpus.digest import PARTS, Content, Digest, References, hash_of, identity, part
from hprof_corpus.reader import decompressed
from hprof_corpus.source import is_gzip
from hprof_corpus.walk import FramingError

_SUMS = 1 << 128
_DIGEST = re.compile(r"(\d+) items, ([0-9a-f]{32})")  # as outcomes.py writes them
_TYPES = {4: "boolean", 5: "char", 6: "float", 7: "double", 8: "byte", 9: "short", 10: "int", 11: "long"}
_FORMATS = {4: ">?", 5: ">H", 6: ">f", 7: ">d", 8: ">b", 9: ">h", 10: ">i", 11: ">q"}
_REFERENCE, _BOOLEAN, _CHAR, _FLOAT, _DOUBLE, _LONG = 2, 4, 5, 6, 7, 11
_OBJECT = {1: "ID", 2: "class"}
_IDS = {  # by kind of item: which parts are IDs, each in words
    b"string": {1: "ID"},
    b"class": {1: "ID", 3: "superclass"},
    b"loader": {1: "class", 2: "loader"},
    b"static": {1: "class"},
    b"constant": {1: "class"},
    b"instance": _OBJECT,
    b"instance bytes": _OBJECT,
    b"object array": _OBJECT,
    b"primitive array": {1: "ID"},
    b"root": {2: "object"},
}
_CANONICAL = {_FLOAT: bytes.fromhex("7fc00000"), _DOUBLE: bytes.fromhex("7ff8000000000000")}
_MOST = 3  # examples of one guess
_LONGEST = 40  # units of a text that are shown
_TRIES = 200_000  # of single values
_TRIES_OF_IDS = 20_000

Parts = list[bytes]
Changes = dict[int, tuple[Parts, int]]  # what a guess makes of items, by their place among all, and by how much the sum changes


@dataclass(frozen=True)
class Change:
    """What a guess changes, in words, and some of the items: as they are, and as it makes them."""

    words: str
    number: int
    some: list[tuple[Parts, Parts]]


@dataclass
class Kept(Digest):
    """With the items."""

    items: list[Parts] = field(default_factory=list)

    def add(self, encoded: bytes) -> None:
        super().add(encoded)
        self.items.append(_split(encoded))


def _split(encoded: bytes) -> Parts:
    found, at = [], 0
    while at < len(encoded):
        (length,) = struct.unpack_from(">I", encoded, at)
        found.append(encoded[at + 4 : at + 4 + length])
        at += 4 + length
    return found


def _joined(item: Parts) -> bytes:
    return b"".join(map(part, item))


def _hash(item: Parts) -> int:
    return int.from_bytes(hash_of(_joined(item)), "big")


# ---- where the parts of an item are: PROTOCOL.md 1.2


@dataclass(frozen=True)
class Place:
    """A value in an item: the parts of its class, its name (of a constant its index) and its type, and the value itself."""

    owner: int
    name: int
    type: int
    value: int


def _values(item: Parts) -> Iterator[Place]:
    if item[0] in (b"static", b"constant"):
        yield Place(1, 2, 3, 4)
    elif item[0] == b"instance" and item[3:4] != [b"undecoded"]:
        for at in range(3, len(item), 4):
            yield Place(at, at + 1, at + 2, at + 3)


def _names(item: Parts) -> list[int]:
    if item[0] in (b"string", b"class"):
        return [2, *range(4, len(item), 2)] if item[0] == b"class" else [2]
    return [place.name for place in _values(item)] if item[0] != b"constant" else []


def _references(item: Parts) -> list[int]:
    """The parts that hold IDs: of an array of objects all its elements in one."""
    found = [*_IDS.get(item[0], ())]
    for place in _values(item):
        found += [place.owner] if item[0] == b"instance" else []
        found += [place.value] if item[place.type][0] == _REFERENCE else []
    return [*found, 3] if item[0] == b"object array" else found


# ---- the guesses: what a reader may have made of an item


def _changed(item: Parts, changes: dict[int, bytes]) -> Parts:
    return [changes.get(at, one) for at, one in enumerate(item)]


def _replaced(text: bytes, by: bytes) -> bytes:
    """With each half of a surrogate pair replaced."""
    units = [text[at : at + 2] for at in range(0, len(text), 2)]
    return b"".join(by if 0xD8 <= one[0] <= 0xDF else one for one in units)


def _names_without_surrogates(item: Parts, marks: int) -> Parts:
    return _changed(item, {at: _replaced(item[at], b"\xff\xfd" * marks) for at in _names(item)})


def _as_standard(text: bytes, marks: int) -> bytes:
    """Modified UTF-8 that is read as the standard's: each byte that does not belong to it, or three together, becomes U+FFFD."""
    units = [text[at : at + 2] for at in range(0, len(text), 2)]
    return _replaced(b"".join(b"\xff\xfd" * 2 if one == b"\0\0" else one for one in units), b"\xff\xfd" * marks)


def _names_as_standard(item: Parts, marks: int) -> Parts:
    return _changed(item, {at: _as_standard(item[at], marks) for at in _names(item)})


def _canonical(data: bytes, kind: int) -> bytes:
    width = len(_CANONICAL[kind])
    numbers = [data[at : at + width] for at in range(0, len(data), width)]
    return b"".join(_CANONICAL[kind] if one != _unless_nan(one, kind) else one for one in numbers)


def _unless_nan(data: bytes, kind: int) -> bytes:
    """The number as it is, or nothing if it is a NaN."""
    (value,) = struct.unpack(_FORMATS[kind], data)
    return data if value == value else b""


def _by_type(item: Parts, kinds: Iterable[int], change: Callable[[bytes, int], bytes]) -> Parts:
    """With the values and elements of some types changed."""
    if item[0] == b"primitive array" and item[2][0] in kinds:
        return _changed(item, {3: change(item[3], item[2][0])})
    places = [place for place in _values(item) if item[place.type][0] in kinds]
    return _changed(item, {place.value: change(item[place.value], item[place.type][0]) for place in places})


def _zeros(data: bytes, _: int) -> bytes:
    return bytes(len(data))


def _low_half(fill: bytes) -> Callable[[bytes, int], bytes]:
    """Of each long, what an int holds. `fill` is what the high half of a negative int becomes."""

    def change(data: bytes, _: int) -> bytes:
        halves = [data[at + 4 : at + 8] for at in range(0, len(data), 8)]
        return b"".join((fill if half[0] & 0x80 else bytes(4)) + half for half in halves)

    return change


def _each_id(item: Parts, change: Callable[[int], int]) -> Parts:
    def changed(ids: bytes) -> bytes:
        numbers = struct.unpack(f">{len(ids) // 8}Q", ids)
        return struct.pack(f">{len(numbers)}Q", *map(change, numbers))

    return _changed(item, {at: changed(item[at]) for at in _references(item)})


def _low(number: int) -> int:
    return number & 0xFFFFFFFF


def _signed(number: int) -> int:
    """An ID of 4 bytes, extended by its sign."""
    return number | 0xFFFFFFFF00000000 if number >> 31 == 1 else number


def _name_made_up(item: Parts) -> Parts:
    name = f"unknown-name@0x{int.from_bytes(item[1], 'big'):x}"
    return _changed(item, {2: name.encode("utf-16-be")}) if item[0] == b"class" else item


def _own_id_null(item: Parts) -> Parts:
    return _changed(item, {1: bytes(8)}) if _IDS.get(item[0], {}).get(1) == "ID" else item


_GUESSES: dict[str, Callable[[Parts], Parts]] = {
    "names: each half of a surrogate pair is U+FFFD": lambda item: _names_without_surrogates(item, 1),
    "names: each half of a surrogate pair is three times U+FFFD": lambda item: _names_without_surrogates(item, 3),
    "as standard UTF-8: U+0000 is twice U+FFFD, each half of a surrogate pair once": lambda item: _names_as_standard(item, 1),
    "as standard UTF-8: U+0000 is twice U+FFFD, each half of a surrogate pair thrice": lambda item: _names_as_standard(item, 3),
    "each half of a surrogate pair is U+FFFD": lambda item: _by_type(item, [_CHAR], lambda data, _: _replaced(data, b"\xff\xfd")),
    "each half of a surrogate pair is left out": lambda item: _by_type(item, [_CHAR], lambda data, _: _replaced(data, b"")),
    "each NaN is canonical": lambda item: _by_type(item, [_FLOAT, _DOUBLE], _canonical),
    "the class has no name": lambda item: _changed(item, {2: b""}) if item[0] == b"class" else item,
    "the array has no class": lambda item: _changed(item, {2: bytes(8)}) if item[0] == b"object array" else item,
    "the loader is null": lambda item: _changed(item, {2: bytes(8)}) if item[0] == b"loader" else item,
    "the superclass is none": lambda item: _changed(item, {3: bytes(8)}) if item[0] == b"class" else item,
    "each element is null": lambda item: _changed(item, {3: bytes(len(item[3]))}) if item[0] == b"object array" else item,
    "each reference is null": lambda item: _by_type(item, [_REFERENCE], _zeros),
    "each number is 0": lambda item: _by_type(item, _TYPES, _zeros),
}

_ALONE: dict[str, Callable[[Parts], Parts]] = {  # fit most dumps, so trying each with all others would take long
    "each long is read as an int": lambda item: _by_type(item, [_LONG], _low_half(b"\xff" * 4)),
    "each long is read as an int without a sign": lambda item: _by_type(item, [_LONG], _low_half(bytes(4))),
    "the instance has no class": lambda item: _changed(item, {2: bytes(8)}) if item[0].startswith(b"instance") else item,
    "the ID is 0": _own_id_null,
    "the name is made up": _name_made_up,
    "the class is made up": lambda item: _changed(item, {2: b"\xff" * 8}) if item[0] == b"object array" else item,
    "each ID has lost its high half": lambda item: _each_id(item, _low),
    "each ID is extended by its sign": lambda item: _each_id(item, _signed),
}


def _made_by(guess: Callable[[Parts], Parts], items: list[Parts], hashes: list[int]) -> Changes:
    made = enumerate(map(guess, items))
    return {at: (wrong, (_hash(wrong) - hashes[at]) % _SUMS) for at, wrong in made if wrong != items[at]}


def _made_by_both(
    first: Changes, second: Changes, guess: Callable[[Parts], Parts], items: list[Parts], hashes: list[int]
) -> Changes:
    """By the first guess and then by the second, `guess`. What the first leaves alone is known of the second."""
    both = dict(second)
    for at, (once, by) in first.items():
        twice = guess(once)
        both[at] = (once, by) if twice == once else (twice, (_hash(twice) - hashes[at]) % _SUMS)
    return {at: change for at, change in both.items() if change[0] != items[at]}


def _of_all(words: str, changes: Changes, items: list[Parts]) -> Iterator[tuple[int, Change]]:
    if changes:
        some = [(items[at], changes[at][0]) for at in nsmallest(_MOST, changes)]
        yield sum(by for _, by in changes.values()) % _SUMS, Change(words, len(changes), some)


def _of_one_value(item: Parts) -> Iterator[Parts]:
    """Items in which one value is another number: 0, one more or less, the bytes turned round, one type narrower."""
    for place in _values(item):
        right = item[place.value]
        number = int.from_bytes(right, "big")
        for wrong in (0, number - 1, number + 1, int.from_bytes(right, "little")):
            yield _changed(item, {place.value: (wrong % (1 << 8 * len(right))).to_bytes(len(right), "big")})


def _of_one_id(item: Parts, classes: list[bytes]) -> Iterator[Parts]:
    """Items in which one ID is another: one more or less, the bytes turned round, that of another class."""
    for at, what in _IDS.get(item[0], {}).items():
        number = int.from_bytes(item[at], "big")
        for wrong in (number - 1, number + 1, int.from_bytes(item[at], "little")):
            yield _changed(item, {at: (wrong % (1 << 64)).to_bytes(8, "big")})
        if what in ("class", "superclass"):
            yield from (_changed(item, {at: one}) for one in classes)


# ---- in words


def _shown(text: bytes) -> str:
    units = [int.from_bytes(text[at : at + 2], "big") for at in range(0, len(text), 2)]
    shown = "".join(chr(one) if 31 < one < 127 else f"\\u{one:04x}" for one in units[:_LONGEST]) or "(empty)"
    return f"{shown}..." if len(units) > _LONGEST else shown


def _value(data: bytes, kind: int) -> str:
    if kind == _REFERENCE:
        return f"0x{data.hex().lstrip('0')}" if any(data) else "null"
    if kind not in _FORMATS or len(data) != struct.calcsize(_FORMATS[kind]):
        return data.hex()
    (value,) = struct.unpack(_FORMATS[kind], data)
    is_odd = kind == _CHAR or (kind == _BOOLEAN and data[0] > 1)
    return f"0x{data.hex()}" if is_odd else f"NaN {data.hex()}" if value != value else str(value)


class _Bytes(Content):
    """Booleans are the bytes that the dump has."""

    has_odd_booleans = False

    def _canonical(self, code: int, data: bytes) -> bytes:
        self.has_odd_booleans = self.has_odd_booleans or super()._canonical(code, data) != data
        return data


class Explainer:
    """Of one dump. Its items are read once."""

    def __init__(self, data: memoryview, references: References) -> None:
        content = _Bytes(data)
        self._as_bytes = self._parts = {name: Kept() for name in PARTS}
        identity(content, references, self._as_bytes)
        if content.has_odd_booleans:
            self._parts = {name: Kept() for name in PARTS}
            identity(Content(data), references, self._parts)
        self._tried: dict[str, tuple[dict[int, Change], Iterator[tuple[int, Change]]]] = {}  # by entry
        self._names = {one.id: content.name_of_class(dump, one.id) for dump in content.dumps for one in content.classes(dump)}

    def _class(self, data: bytes) -> str:
        return self._names.get(int.from_bytes(data, "big")) or _value(data, _REFERENCE)

    def _item(self, item: Parts) -> str:
        if item[0] == b"root":
            return f"{item[1].decode()} of 0x{int.from_bytes(item[2], 'big'):x}"
        kind, number = item[0].decode(), int.from_bytes(item[1], "big")
        if kind == "string":
            return f"string 0x{number:x}, {_shown(item[2])}"
        if kind == "static":
            return f"static field {_shown(item[2])} of {self._class(item[1])}"
        if kind == "constant":
            return f"constant {int.from_bytes(item[2], 'big')} of class {self._class(item[1])}"
        if kind in ("class", "loader"):
            return f"{'loader of ' if kind == 'loader' else ''}class {self._class(item[1])}"
        of = f"of {self._class(item[2])}" if kind != "primitive array" else f"of {_TYPES.get(item[2][0], item[2].hex())}"
        return f"{kind.removesuffix(' bytes')} 0x{number:x} {of}"

    def _difference(self, right: Parts, wrong: Parts) -> str:
        """What is another in the two, the first of it."""
        for at, what in _IDS.get(right[0], {}).items():
            if right[at] != wrong[at]:
                of = self._item(right) if what == "loader" else f"the {what} of {self._item(right)}"
                shown = self._class if what in ("class", "superclass") else lambda data: _value(data, _REFERENCE)
                return f"{of} is {shown(wrong[at])}, not {shown(right[at])}"
        if right[0] == b"instance":
            for place in _values(right):
                if right[place.name] != wrong[place.name]:
                    owner = self._class(right[place.owner])
                    return f"field {_shown(right[place.name])} of {owner} is named {_shown(wrong[place.name])}"
                if right[place.value] != wrong[place.value]:
                    kind = right[place.type][0]
                    where = f"field {_shown(right[place.name])} of {self._class(right[2])} 0x{int.from_bytes(right[1], 'big'):x}"
                    return f"{where} is {_value(wrong[place.value], kind)}, not {_value(right[place.value], kind)}"
        if right[0] in (b"static", b"constant") and right[4] != wrong[4]:
            return f"{self._item(right)} is {_value(wrong[4], right[3][0])}, not {_value(right[4], right[3][0])}"
        if right[0] == b"static":
            return f"{self._item(right)} is named {_shown(wrong[2])}"
        if right[0] in (b"class", b"string"):
            at = next(at for at in _names(right) if right[at] != wrong[at])
            return f"{self._item(right)}: {_shown(wrong[at])}, not {_shown(right[at])}"
        return self._of_element(right, wrong) or self._item(right)

    def _of_element(self, right: Parts, wrong: Parts) -> str:
        """Of an array: the first element that is another."""
        if right[0] not in (b"object array", b"primitive array") or len(right[3]) != len(wrong[3]):
            return ""
        kind = right[2][0] if right[0] == b"primitive array" else _REFERENCE
        width = struct.calcsize(_FORMATS.get(kind, ">Q"))
        for at in range(0, len(right[3]), width):
            one, other = right[3][at : at + width], wrong[3][at : at + width]
            if one != other:
                return f"element {at // width} of {self._item(right)} is {_value(other, kind)}, not {_value(one, kind)}"
        return ""

    def _of_kinds(self, kinds: Iterable[str]) -> str:
        """The entry that has the roots of these kinds alone."""
        entry = " ".join(["roots", *kinds])
        if entry not in self._parts:
            kept = self._parts[entry] = Kept()
            for item in self._parts["roots"].items:
                if item[1].decode() in kinds:
                    kept.add(_joined(item))
        return entry

    def explain(self, entry: str, found: str, expected: str, kinds: Iterable[str] = ()) -> str:
        """Empty where no guess leads from one digest to the other. `kinds`: of roots, those that the reader gives; none for all."""
        one, other = _DIGEST.fullmatch(found), _DIGEST.fullmatch(expected)
        entry = self._of_kinds(kinds) if entry == "roots" and kinds else entry
        kept = self._parts.get(entry)
        if not one or not other or kept is None or kept.count != int(other[1]) or kept.sum != int(other[2], 16):
            return ""
        delta = (int(one[2], 16) - kept.sum) % _SUMS
        if int(one[1]) == kept.count - 1:
            missing = (item for item in kept.items if (_hash(item) + delta) % _SUMS == 0)
            return next((f"{self._item(item)} is missing" for item in missing), "")
        if int(one[1]) < kept.count:
            return self._missing(kept, kept.count - int(one[1]), delta)
        if int(one[1]) != kept.count:
            return ""
        return self._changed(entry, delta)

    def _missing(self, kept: Kept, number: int, delta: int) -> str:
        """That all items are missing, or of one class or one type of elements all, or all except one, if it is so."""
        groups: dict[bytes, list[Parts]] = {}
        for item in kept.items:
            groups.setdefault(item[1 if item[0] in (b"static", b"constant", b"root") else 2], []).append(item)
        for items in groups.values():
            if len(items) - number not in (0, 1):
                continue
            rest = (sum(map(_hash, items)) + delta) % _SUMS  # what the reader has of them
            if len(items) == number and not rest:
                return f"all {number} of one kind are missing, such as {self._item(items[0])}"
            left = [item for item in items if len(items) > number and _hash(item) == rest]
            if left:
                return f"of {len(items)} of one kind one is left, {self._item(left[0])}"
        return f"all {number} are missing, such as {self._item(kept.items[0])}" if not (kept.sum + delta) % _SUMS else ""

    def _in_words(self, change: Change) -> str:
        some = "; ".join(self._difference(item, wrong) for item, wrong in change.some)
        more = f"; and {change.number - _MOST} more" if change.number > _MOST else ""
        return f"{change.words}: {some}{more}" if change.words else f"{some}{more}"

    def _changed(self, entry: str, delta: int) -> str:
        """What is tried for one reader is kept for the next one, which is wrong in the same entry."""
        changes = chain(self._of_booleans(entry), self._try_changes(self._parts[entry].items))
        tried, untried = self._tried.setdefault(entry, ({}, changes))
        while delta not in tried:
            change = next(untried, None)
            if change is None:
                return ""
            tried.setdefault(*change)
        return self._in_words(tried[delta])

    def _of_booleans(self, entry: str) -> Iterator[tuple[int, Change]]:
        """PROTOCOL.md 1.1 makes each 0 or 1."""
        pairs = zip(self._parts[entry].items, self._as_bytes[entry].items if entry in self._as_bytes else (), strict=False)
        others = {at: (wrong, (_hash(wrong) - _hash(right)) % _SUMS) for at, (right, wrong) in enumerate(pairs) if wrong != right}
        yield from _of_all("each boolean is the byte that the dump has", others, self._parts[entry].items)

    def _try_changes(self, items: list[Parts]) -> Iterator[tuple[int, Change]]:
        """By how much each guess changes the sum, and what it changes."""
        hashes = [_hash(item) for item in items]
        matching: dict[str, Changes] = {}
        for words, guess in (_GUESSES | _ALONE).items():
            changes = _made_by(guess, items, hashes)
            if changes and words in _GUESSES:
                matching[words] = changes
            yield from _of_all(words, changes, items)
            yield from ((by, Change(words, 1, [(items[at], wrong)])) for at, (wrong, by) in changes.items())
        for (one, first), (two, second) in combinations(matching.items(), 2):
            yield from _of_all(f"{one}; {two}", _made_by_both(first, second, _GUESSES[two], items, hashes), items)
        classes = [number.to_bytes(8, "big") for number in self._names]
        single: list[tuple[Callable[[Parts], Iterator[Parts]], int]] = [
            (_of_one_value, _TRIES),
            (lambda item: _of_one_id(item, classes), _TRIES_OF_IDS),
        ]
        for of_one, most in single:
            tries = ((item, old, wrong) for item, old in zip(items, hashes, strict=True) for wrong in of_one(item))
            yield from (((_hash(wrong) - old) % _SUMS, Change("", 1, [(item, wrong)])) for item, old, wrong in islice(tries, most))


def in_words(of_a_dump: tuple[Case, list[tuple[Hello, Difference]]]) -> list[str]:
    """Of differences that readers have in one dump, each with the reader's hello: each in words, or empty."""
    case, asked = of_a_dump
    explainers: dict[str, Explainer] = {}
    found = []
    for hello, one in asked:
        references = hello.references
        if references not in explainers:
            raw = memoryview(case.file.read_bytes() if case.member is None else gold.unpacked(case.file, case.member))
            try:
                explainers[references] = Explainer(
                    decompressed(raw) if is_gzip(raw) else raw, "exact" if references == "exact" else "resolved"
                )
            except FramingError:
                return [""] * len(asked)  # no digest is known either
        found.append(explainers[references].explain(one.what, one.found, one.expected, root_kinds(hello.counts)))
    return found
