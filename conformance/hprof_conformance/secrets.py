"""Dumps with secrets in all places where a heap keeps them, for filters that should remove what a program held."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from hprof_corpus.assembler import assemble
from hprof_corpus.digest import Content, HeapDump, Instance, PrimitiveArray
from hprof_corpus.layouts import BASIC_TYPES
from hprof_corpus.reader import decompressed
from hprof_corpus.source import is_gzip
from hprof_corpus.walk import FramingError

# By the type: how many values a place has. A filter that draws new ones makes the same by chance in one of 2^32 draws.
_MANY = {"boolean": 32, "char": 4, "float": 2, "double": 2, "byte": 8, "short": 4, "int": 2, "long": 2}
_NAMES = {code: name for name, (code, _) in BASIC_TYPES.items()}
_WIDTHS = {name: width for name, (_, width) in BASIC_TYPES.items()}

_STRINGS = """
  instance-dump @chars{n} trace 1 class @String [ object @char-array{n} byte 0 ]
  instance-dump @latin{n} trace 1 class @String [ object @latin-array{n} byte 0 ]
  instance-dump @utf16{n} trace 1 class @String [ object @utf16-array{n} byte 1 ]
  primitive-array-dump @char-array{n} trace 1 type char [ "{chars}" ]
  primitive-array-dump @latin-array{n} trace 1 type byte [ 0x{latin} ]
  primitive-array-dump @utf16-array{n} trace 1 type byte [ 0x{utf16} ]
  root-jni-global @holder{n}
  root-jni-global @latin{n}
  root-jni-global @utf16{n}"""

_FORMS = ("latin-1", "utf-16-be", "utf-16-le")
_BYTES = 5  # of a number, in a row: that other bytes are the same by chance is improbable


# ---- what a dump holds, by its place


_Place = tuple[int, str, int]  # the heap dump, in words, the object or class


def _values(content: Content, at: int, dump: HeapDump) -> Iterator[tuple[_Place, bytes]]:
    for one in dump.classes.values():
        for value in one.constants:
            yield (at, f"a constant of type {_NAMES[value.type]}", one.id), value.bytes
        for value in one.statics:
            yield (at, f"a static {_NAMES[value.type]}", one.id), value.bytes
    layout = content.layouts(dump)
    for each in dump.objects:
        if isinstance(each, PrimitiveArray) and each.bytes is not None:
            yield (at, f"{'an' if each.type == BASIC_TYPES['int'][0] else 'a'} {_NAMES[each.type]}[]", each.id), each.bytes
        if isinstance(each, Instance):
            for field, found in content.values(each, layout(each.class_id)) or []:
                which = "a field" if field.declared_by == each.class_id else "an inherited field"
                yield (at, f"{which} of type {_NAMES[field.type]}", each.id), found


def _payload(data: bytes) -> dict[_Place, bytes]:
    """All values of a place in a row, without references."""
    found: dict[_Place, bytes] = {}
    with contextlib.suppress(FramingError):
        content = Content(memoryview(data))
        for at, dump in enumerate(content.dumps):
            for place, value in _values(content, at, dump):
                found[place] = found.get(place, b"") + value
    return {place: value for place, value in found.items() if not place[1].endswith(" object")}


@dataclass(frozen=True)
class Planted:
    dump: bytes
    words: dict[str, str]  # by the place
    numbers: dict[str, bytes]  # the same: long and double, as the dump has them

    def left_in(self, file: bytes) -> list[str]:
        """The places whose secret is there: all its values where they were, or the half of a word or number anywhere, in an
        encoding that a dump may have."""
        plain = bytes(decompressed(memoryview(file))) if is_gzip(memoryview(file)) else file
        everywhere = file if plain is file else file + plain
        parts = {
            place: [word[at : at + len(word) // 2].encode(form) for at in range(len(word) // 2 + 1) for form in _FORMS]
            for place, word in self.words.items()
        } | {
            place: [one[at : at + _BYTES] for one in (number, number[::-1]) for at in range(len(number) - _BYTES + 1)]
            for place, number in self.numbers.items()
        }
        left = [place for place, some in parts.items() if any(one in everywhere for one in some)]
        there, known = _payload(plain), Counter[str]()
        drawn = {place: value for place, value in _payload(self.dump).items() if len({*value}) > 1}
        for place, value in drawn.items():
            number = known[place[1]] = known[place[1]] + 1
            words = place[1] if number == 1 else f"{place[1]} ({number})"
            if there.get(place) == value and words not in left:
                left.append(words)
        return left


# ---- how the secrets are drawn


def _drawn(draw: Random, kind: str) -> list[str]:
    """Values as the notation takes them, not all the same."""
    width = _WIDTHS[kind]
    while True:
        values = [draw.getrandbits(1 if kind == "boolean" else 8 * width) for _ in range(_MANY[kind])]
        if kind in ("float", "double"):  # no NaN, which a filter may make canonical
            values = [value & ~(0x7F << 8 * width - 8) | 0x41 << 8 * width - 8 for value in values]
        if kind == "long":
            values = [value | 0x0101010101010101 for value in values]  # no byte is 0, of which a dump has many in a row
        if len({*values}) > 1:
            return [f"0x{value:0{2 * width}x}" for value in values]


def _each(draw: Random, line: Callable[[int, str, str], str]) -> str:
    """A line for each value of each type."""
    values = [(kind, value) for kind in _MANY for value in _drawn(draw, kind)]
    return "".join(f"\n    {line(at, kind, value)}" for at, (kind, value) in enumerate(values))


def _classes(draw: Random) -> str:
    fields = _each(draw, lambda at, kind, _: f"field $f{at} {kind}")
    return f"""
  class-dump @Object super null trace 1
  class-dump @String super @Object trace 1 {{
    field $value object
    field $coder byte
  }}
  class-dump @Base super @Object trace 1 {{{fields}
  }}
  class-dump @Holder super @Base trace 1 {{{_each(draw, lambda at, kind, value: f"constant {at + 1} {kind} {value}")}{
        _each(draw, lambda at, kind, value: f"static $f{at} {kind} {value}")
    }{fields}
    field $text object
  }}"""


def _objects(draw: Random, n: int, words: dict[str, str]) -> str:
    texts = {"latin": words["latin"].encode("ascii").hex(), "utf16": words["utf16"].encode("utf-16-le").hex()}
    arrays = "".join(
        f"\n  primitive-array-dump @{kind}{n} trace 1 type {kind} [ {' '.join(_drawn(draw, kind))} ]\n  root-jni-global @{kind}{n}"
        for kind in _MANY
    )
    own, inherited = (_each(draw, lambda _, kind, value: f"{kind} {value}") for _ in range(2))
    holder = f"\n  instance-dump @holder{n} trace 1 class @Holder [{own}\n    object @chars{n}{inherited}\n  ]"
    return holder + arrays + _STRINGS.format(n=n, chars=words["chars"], **texts)


@dataclass(frozen=True)
class _Form:
    version: str
    id_size: int
    record: str
    again: bool  # the second part has the classes, too
    end: str


FORMS = {"planted": _Form("1.0.2", 8, "segment", False, "\nend"), "planted-101-id4": _Form("1.0.1", 4, "heap-dump", True, "")}


def planted(form: str, seed: int) -> Planted:
    """`form`: one of FORMS. Both have two parts: two segments of one heap dump, or two heap dumps."""
    one, draw = FORMS[form], Random(f"{form} {seed}")
    names = "".join(f'\nutf8 $f{at} "f{at}"' for at in range(sum(_MANY.values())))
    literal = f"{draw.getrandbits(64):016x}"
    words = [{name: f"{draw.getrandbits(64):016x}" for name in ("chars", "latin", "utf16")} for _ in range(2)]
    parts = [(_classes(draw) if not n or one.again else "") + _objects(draw, n, words[n]) for n in range(2)]
    heap = "".join(f"\n{one.record} {{{part}\n}}" for part in parts)
    text = f"""hprof "JAVA PROFILE {one.version}" id-size {one.id_size} time 1700000000000
utf8 $Object "java/lang/Object"
utf8 $String "java/lang/String"
utf8 $Base "Base"
utf8 $Holder "Holder"
utf8 $value "value"
utf8 $coder "coder"
utf8 $text "text"
utf8 $literal "{literal}"{names}
load-class serial 1 class @Object name $Object
load-class serial 2 class @String name $String
load-class serial 3 class @Base name $Base
load-class serial 4 class @Holder name $Holder
trace serial 1 thread 0 [ ]{heap}{one.end}
"""
    dump = assemble(text).file.to_bytes()
    kinds = {"chars": "a String of char", "latin": "a String of bytes in Latin-1", "utf16": "a String of bytes in UTF-16"}
    hidden = {"a string that names nothing": literal}
    for n, some in enumerate(words):
        hidden |= {f"{kinds[name]}{f' ({n + 1})' if n else ''}": word for name, word in some.items()}
    numbers: dict[str, bytes] = {}
    for (_, place, _), value in _payload(dump).items():
        if "long" in place or "double" in place:
            numbers.setdefault(place, value[:8])
    return Planted(dump, hidden, numbers)
