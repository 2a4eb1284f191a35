"""Symbols for the IDs of a dump that is being written as text, as the assembler will number them."""

from __future__ import annotations

import re

from hprof_corpus.layouts import Kind
from hprof_corpus.names import NUMBERING, SIGILS

_LEGAL = re.compile(r"[A-Za-z0-9_.+-]+\Z")
_CLASS_NAME = re.compile(r"[\w$.+/-]+\Z", re.ASCII)
_LONGEST = 60
_PRIMITIVES = dict(zip("ZCFDBSIJ", ("boolean", "char", "float", "double", "byte", "short", "int", "long"), strict=True))

# The default name of a symbol.
_GENERIC = {"$": "s", "%": "f", "@": "a"}


def _of_class(name: str) -> str:
    """A class's name, `java/util/Map$Entry` or `[[I` or `int[][]`, with words for the dimensions; or nothing."""
    dimensions = len(name) - len(name.lstrip("["))
    if dimensions:
        element = name[dimensions:]
        is_object = element[:1] == "L" and element[-1:] == ";"
        name = element[1:-1] if is_object else _PRIMITIVES.get(element, "")
    while name.endswith("[]"):
        name, dimensions = name[:-2], dimensions + 1
    if not name or not _CLASS_NAME.match(name):
        return ""
    return name + ".array" * dimensions


def _legal(name: str) -> str:
    name = name.replace("/", ".").replace("$", ".")
    return name if len(name) <= _LONGEST and _LEGAL.match(name) else ""


def _candidates(text: str) -> list[str]:
    """Shortest first."""
    name = text if _LEGAL.match(text) and "." not in text else _of_class(text)
    if not name:
        return []
    simple = re.split("[/.](?!array)", name)[-1]
    return [one for one in (_legal(simple), _legal(name)) if one]


class Symbols:
    """Gives every ID its word. Numbers that the assembler would not give have `id` statements, in `stated`."""

    def __init__(self, raw_ids: bool, most_objects: int) -> None:
        self._raw_ids = raw_ids
        self._names: dict[str, dict[int, str]] = {sigil: {} for sigil in NUMBERING}
        self._used: dict[str, set[str]] = {sigil: set() for sigil in NUMBERING}
        self._words: dict[str, dict[int, str]] = {sigil: {0: "null"} for sigil in NUMBERING}
        self._numbered = dict.fromkeys(NUMBERING, 0)
        self._generic = dict.fromkeys(NUMBERING, 0)
        self._objects_left = most_objects
        self.stated: list[tuple[str, int]] = []

    def name(self, kind: Kind, number: int, text: str | None = None) -> None:
        """Proposes a symbol, before the first use; the first proposal counts."""
        sigil = SIGILS[kind]
        names, used = self._names[sigil], self._used[sigil]
        if number in names or not number:
            return
        for candidate in _candidates(text) if text else []:
            if candidate not in used:
                used.add(candidate)
                names[number] = sigil + candidate
                return
        names[number] = ""  # named by a number when it is used

    def _new_name(self, sigil: str) -> str:
        while True:
            self._generic[sigil] += 1
            name = f"{_GENERIC[sigil]}{self._generic[sigil]}"
            if name not in self._used[sigil]:
                return sigil + name

    def _introduce(self, sigil: str, number: int) -> str:
        first, step = NUMBERING[sigil]
        is_next = number == first + step * self._numbered[sigil]
        name = self._names[sigil].get(number)
        if name is None:  # without a proposal: an object, or an undefined ID
            if sigil == "@":
                if self._objects_left <= 0:
                    return hex(number)
                self._objects_left -= 1
            elif not is_next:
                return hex(number)
        name = name or self._new_name(sigil)
        if is_next:
            self._numbered[sigil] += 1
        else:
            self.stated.append((name, number))
        return name

    def word(self, kind: Kind, number: int) -> str:
        if kind is Kind.NUMBER:
            return hex(number) if number else "0"
        sigil = SIGILS[kind]
        words = self._words[sigil]
        found = words.get(number)
        if found is None:
            if self._raw_ids:
                return hex(number)
            found = self._introduce(sigil, number)
            if found[0] == sigil:
                words[number] = found
        return found

    def object(self, number: int) -> str:
        return self._words["@"].get(number) or self.word(Kind.OBJECT, number)
