"""Bytes to text: the inverse of the assembler. The text assembles to the same bytes, whatever they are.

Records are written by their layouts. Deviations have words in the notation: a wrong length, too many or too few bytes, a wrong
count. Bytes that do not fit any layout are `raw`.

    hprof-text dump.hprof
"""

from __future__ import annotations

import argparse
import io
import struct
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TextIO

from hprof_corpus import __version__, layouts
from hprof_corpus.gunzip import FoundMember, alike, read_gzip
from hprof_corpus.layouts import Default, Field, Kind, Layout, Record
from hprof_corpus.lines import Lines
from hprof_corpus.recovery import Damage, Unknown
from hprof_corpus.source import is_gzip, open_bytes, would_overwrite
from hprof_corpus.spelling import (
    BOOLEAN,
    BYTE,
    CHAR,
    OBJECT,
    byte_words,
    char_words,
    float_text,
    hex_elements,
    hex_words,
    hexadecimal,
    one_word,
    quoted,
    runs,
    time_text,
    type_name,
    utf8_words,
    value_formats,
)
from hprof_corpus.survey import RECORDS_BY_TAG, DumpedClass, class_parts, heap_pieces, make_survey, symbols_of
from hprof_corpus.target import completed, have_standard_error, standard_output
from hprof_corpus.walk import (
    LONGEST_FORMAT,
    Data,
    Entry,
    Framed,
    Header,
    Shapes,
    Subrecord,
    read_header,
    records,
    struct_of,
)

_PROFILE = b"JAVA PROFILE "
_FORMATS = tuple(_PROFILE + version for version in (b"1.0.2", b"1.0.1", b"1.0.3", b"1.0"))
_HELD = 1 << 20  # characters of a record that are held back, so that `id` statements can come before it
_DEEPEST = 4  # gzip in gzip
_SHORT_ARRAY = 16


@dataclass(frozen=True)
class Options:
    offsets: bool = True
    raw_ids: bool = False


@dataclass(frozen=True)
class _Plan:
    """How to read and to write the fields of an instance."""

    values: struct.Struct
    formats: list[tuple[str, Callable[[int], str]]]
    comment: str


def _short(text: str, most: int = 80) -> str:
    """For a comment."""
    return quoted(text if len(text) <= most else text[:most] + "...") if text else ""


class _Dump:
    """The records of one dump."""

    def __init__(self, data: Data, at: int, id_size: int, options: Options, lines: Lines) -> None:
        self._data = data
        self._start = at
        self._raw_ids = options.raw_ids
        self._lines = lines
        self._id_size = id_size
        self._shapes = Shapes(id_size)
        self._survey = make_survey(data, at, self._shapes)
        self._symbols = symbols_of(self._survey, options.raw_ids)
        self._formats = value_formats(id_size, self._symbols.object)
        self._structs = {record.tag: struct_of(record.layout, id_size) for record in layouts.RECORDS}
        self._heap: dict[int, DumpedClass] = {}
        self._plans: dict[int, _Plan] = {}

    def write(self) -> None:
        at = self._start
        for framed in records(self._data, at):
            self._record(framed)
            self._flush()
            at = framed.end
        self._lines.raw(self._data, at, len(self._data))
        self._flush()

    def _flush(self) -> None:
        """Writes the `id` statements of symbols before the held-back lines, and so before their first use."""
        stated = self._symbols.stated
        self._lines.flush([f"id {symbol} {number:#x}" for symbol, number in stated])
        stated.clear()

    # ---- fields

    def _field(self, spec: Field, value: int, is_cut: bool) -> str:
        if spec.type == "ID":
            # A truncated number gets no symbol.
            return hex(value) if is_cut and value else self._symbols.word(spec.kind, value)
        if spec.name == "type":
            return type_name(value)
        if spec.name == "cutoff":
            text = float_text(value, 4)
            return text if "." in text else hex(value)
        return str(value)

    def _fields(
        self, layout: Layout, values: Iterable[int], computed: dict[str, int] | None = None, is_cut: bool = False
    ) -> list[str]:
        """Fields of fixed size, except those that have the default of the assembler."""
        computed = computed or {}
        words: list[str] = []
        for spec, value in zip(layout.fields, values, strict=True):
            if spec.word == "":
                words.append(self._field(spec, value, is_cut))
            elif spec.name in computed:
                if value != computed[spec.name]:
                    words += [spec.word, str(value)]
            elif value or spec.default is Default.NONE:
                words += [spec.word, self._field(spec, value, is_cut)]
        return words

    # ---- comments

    def _class_name(self, number: int) -> str:
        return _short(self._survey.class_names.get(number, ""))

    def _class_of_serial(self, serial: int) -> str:
        return self._class_name(self._survey.serials.get(serial, 0))

    def _name_unless_told(self, word: str, number: int) -> str:
        text = self._survey.strings.get(number, "")
        return "" if word[1:] == text else _short(text)

    def _comment(self, record: Record, values: tuple[int, ...]) -> str:
        if record.name in ("LOAD_CLASS", "START_THREAD"):
            return self._name_unless_told(self._symbols.word(Kind.STRING, values[3]), values[3])
        if record.name == "UNLOAD_CLASS":
            return self._class_of_serial(values[0])
        if record.name == "FRAME":
            names = (self._name_unless_told(self._symbols.word(Kind.STRING, one), one) for one in values[1:4])
            return " ".join(filter(None, (self._class_of_serial(values[4]), *names)))
        return ""

    # ---- records

    def _record(self, framed: Framed) -> None:
        record = RECORDS_BY_TAG.get(framed.tag)
        head = [record.word if record else f"record {framed.tag:#04x}"]
        if framed.time:
            head.append(f"at {framed.time}")
        if framed.is_cut:
            head.append(f"length {framed.length}")
        if record is None:
            self._lines.open(" ".join(head), framed.at)
            self._lines.raw(self._data, framed.body, framed.end)
            self._lines.close()
        elif record.layout.tail == "subrecords":
            self._lines.open(" ".join(head), framed.at)
            self._heap_record(framed)
            self._lines.close()
        else:
            self._plain_record(record, framed, head)

    def _plain_record(self, record: Record, framed: Framed, head: list[str]) -> None:
        layout, fixed = record.layout, self._structs[record.tag]
        body = bytes(self._data[framed.body : framed.end])
        values, rest = fixed.unpack(body[: fixed.size].ljust(fixed.size, b"\0")), body[fixed.size :]
        if len(body) < fixed.size:
            head += [f"cut {fixed.size - len(body)}", *self._fields(layout, values, is_cut=True)]
            self._lines.add(" ".join(head), framed.at)
        elif record.name == "UTF8":
            self._lines.add(" ".join([*head, *self._fields(layout, values), *utf8_words(rest)]), framed.at)
        elif layout.tail == "ids":
            count = min(values[2], len(rest) // self._id_size)
            ids = struct.unpack_from(f">{count}{'I' if self._id_size == 4 else 'Q'}", rest)
            head += self._extra(rest[count * self._id_size :]) + self._fields(layout, values, {"frames": count})
            frames = runs(self._symbols.word(Kind.FRAME, one) for one in ids)
            self._lines.listing(" ".join(head), list(frames), framed.at)
        elif layout.tail == "sites":
            self._entries(record, framed, [*head, "site"], layouts.SITE, values, rest)
        elif layout.tail == "traces":
            self._entries(record, framed, [*head, "sample"], layouts.SAMPLE, values, rest)
        else:
            head += self._extra(rest) + self._fields(layout, values)
            self._lines.add(" ".join(head), framed.at, self._comment(record, values))

    def _extra(self, data: bytes) -> list[str]:
        return ["extra", one_word(data)] if data else []

    def _entries(
        self, record: Record, framed: Framed, head: list[str], layout: Layout, values: tuple[int, ...], rest: bytes
    ) -> None:
        """Sites or samples, each with its word."""
        entry = struct_of(layout, self._id_size)
        stated = values[[spec.default for spec in record.layout.fields].index(Default.COUNT)]
        count = min(stated, len(rest) // entry.size)
        entries = list(entry.iter_unpack(rest[: count * entry.size]))
        names = [spec.name for spec in layout.fields]
        computed = {
            spec.name: count if spec.default is Default.COUNT else sum(one[names.index(spec.name)] for one in entries)
            for spec in record.layout.fields
            if spec.default in (Default.COUNT, Default.SUM)
        }
        word = head.pop()
        head += self._extra(rest[count * entry.size :]) + self._fields(record.layout, values, computed)
        text = " ".join(head)
        if not entries:
            self._lines.add(text, framed.at)
            return
        self._lines.open(text, framed.at)
        at = framed.end - len(rest)
        for one in entries:
            self._lines.add(" ".join([word, *self._fields(layout, one)]), at)
            at += entry.size
        self._lines.close()

    # ---- sub-records

    def _heap_record(self, framed: Framed) -> None:
        heap = self._survey.heaps[framed.at]
        if heap is not self._heap:
            self._heap, self._plans = heap, {}
        flushed = False
        for piece in heap_pieces(self._data, framed, self._shapes):
            if isinstance(piece, tuple):
                shape = piece[0]
                name = shape.record.name
                if name == "INSTANCE_DUMP":
                    self._instance(piece)
                elif name == "CLASS_DUMP":
                    self._class_dump(piece)
                elif shape.unit:
                    self._array(piece)
                else:
                    words = self._fields(shape.record.layout, piece[2])
                    self._lines.add(" ".join([shape.record.word, *words]), piece[1])
            elif isinstance(piece, Unknown):
                self._lines.raw(self._data, piece.at, piece.stop)
            else:
                self._damage(piece)
            if flushed or self._lines.held > _HELD:
                flushed = True
                self._flush()

    def _damage(self, damage: Damage) -> None:
        record = damage.shape.record
        item = (damage.shape, damage.at, damage.fields, damage.tail, damage.stop)
        if damage.missing:
            words = self._fields(record.layout, damage.fields, is_cut=True)
            self._lines.add(" ".join([record.word, *words]), damage.at)
            # The assembler writes three counts after the fields of a class.
            self._lines.add(f"cut {damage.missing + (6 if record.name == 'CLASS_DUMP' else 0)}")
        elif record.name == "CLASS_DUMP":
            self._class_dump(item, damage)
        elif record.name == "INSTANCE_DUMP":
            self._instance(item)
        else:
            self._array(item)

    def _class_dump(self, item: Subrecord, damage: Damage | None = None) -> None:
        shape, at, values, _, _ = item
        parts = class_parts(self._data, damage or item, self._shapes)
        words = [shape.record.word]
        words += self._fields(shape.record.layout, values, {"instance_size": self._survey.chain_sizes.of(values[0])})
        numbers = (len(parts.constants), len(parts.statics), len(parts.fields))
        for word, stated, number in zip(("constants", "statics", "fields"), parts.counts, numbers, strict=False):
            if stated != number:
                words += [word, str(stated)]
        comment = "" if words[1][1:] == self._survey.class_names.get(values[0]) else self._class_name(values[0])
        if any(numbers):
            self._lines.open(" ".join(words), at, comment)
            for entry in parts.constants:
                self._entry("constant", str(entry.key), entry, self._shapes.constant.size, "")
            for entry in parts.statics:
                name = self._symbols.word(Kind.STRING, entry.key)
                self._entry("static", name, entry, self._shapes.static.size, self._name_unless_told(name, entry.key))
            size = self._shapes.field.size
            at = parts.end - size * len(parts.fields)
            for key, code in parts.fields:
                name = self._symbols.word(Kind.STRING, key)
                self._lines.add(f"field {name} {type_name(code)}", at, self._name_unless_told(name, key))
                at += size
            self._lines.close()
        else:
            self._lines.add(" ".join(words), at, comment)
        missing = 3 - len(parts.counts)
        if missing:
            self._lines.add(f"cut {2 * missing}")

    def _entry(self, word: str, key: str, entry: Entry, head: int, comment: str) -> None:
        data = bytes(self._data[entry.value : entry.end])
        found = self._formats.get(entry.type)
        value = hexadecimal(data) if data else '""'
        if found is not None:
            value = found[1](struct.unpack(">" + found[0], data)[0])
        self._lines.add(f"{word} {key} {type_name(entry.type)} {value}", entry.value - head, comment)

    # ---- objects

    def _instance(self, item: Subrecord) -> None:
        _, at, (object_id, trace, class_id, size), tail, stop = item
        # In the order of the text, which decides the numbers of symbols.
        text = f"instance-dump {self._symbols.object(object_id)}"
        if trace:
            text += f" trace {trace}"
        text += f" class {self._symbols.object(class_id)}"
        if size != stop - tail:
            text += f" bytes {size}"
        plan = self._plans.get(class_id)
        if plan is None:
            plan = self._plans[class_id] = self._plan(class_id)
        if tail + plan.values.size <= stop:
            values = plan.values.unpack_from(self._data, tail)
            words = [f"{word} {spell(value)}" for (word, spell), value in zip(plan.formats, values, strict=True)]
            rest = tail + plan.values.size
        else:
            words, rest = self._first_values(plan, tail, stop)
        if rest < stop:
            words += [f"raw {word}" for word in hex_words(bytes(self._data[rest:stop]))]
        self._lines.listing(text, words, at, plan.comment)

    def _first_values(self, plan: _Plan, at: int, stop: int) -> tuple[list[str], int]:
        """The complete fields, and their end."""
        words = []
        for code, (word, spell) in zip(plan.values.format[1:], plan.formats, strict=True):
            one = struct.Struct(">" + code)
            if at + one.size > stop:
                break
            words.append(f"{word} {spell(one.unpack_from(self._data, at)[0])}")
            at += one.size
        return words, at

    def _plan(self, class_id: int) -> _Plan:
        """The fields of a class and its superclasses, up to an unknown one."""
        formats: list[tuple[str, Callable[[int], str]]] = []
        codes, names = "", []
        comment = self._class_name(class_id) if self._raw_ids else ""
        seen: set[int] = set()
        fields: list[tuple[int, int]] = []
        while class_id in self._heap and class_id not in seen:
            seen.add(class_id)
            fields += self._heap[class_id].fields
            class_id = self._heap[class_id].super_id
        for name, code in fields:
            if code not in self._formats:
                break
            letter, spell = self._formats[code]
            codes += letter
            formats.append((type_name(code), spell))
            names.append(_short(self._survey.strings.get(name, ""), 40)[1:-1] or "?")
        shown = " ".join(names)
        comment = f"{comment} {shown if len(shown) <= 120 else ''}".strip()
        return _Plan(struct.Struct(">" + codes), formats, comment and f"({comment})")

    def _array(self, item: Subrecord) -> None:
        shape, at, values, tail, stop = item
        record = shape.record
        is_object_array = record.layout.tail == "ids"
        code = OBJECT if is_object_array else values[3]
        width = self._shapes.widths[code]
        whole = (stop - tail) // width if width else 0
        rest = tail + whole * width
        words = [record.word, *self._fields(record.layout, values, {"elements": whole})]
        elements = list(self._elements(code, width, bytes(self._data[tail:rest])))
        if rest < stop:
            elements += [f"raw {word}" for word in hex_words(bytes(self._data[rest:stop]))]
        comment = self._class_name(values[3]) if is_object_array and self._raw_ids else ""
        self._lines.listing(" ".join(words), elements, at, comment)

    def _elements(self, code: int, width: int, data: bytes) -> Iterable[str]:
        if not data:
            return ()
        if code == CHAR:
            return char_words(data)
        if code == BYTE:
            return byte_words(data)
        if code == BOOLEAN and len(data) > _SHORT_ARRAY:
            return hex_elements(data, 1)
        letter, spell = self._formats[code]
        return runs(map(spell, struct.unpack(f">{len(data) // width}{letter}", data)))


# ---- the file


def _is_header(header: Header | None) -> bool:
    """Whether the bytes look like a header, even a wrong one."""
    if header is None or not header.format.isascii() or not header.format.decode().isprintable():
        return False
    return header.id_size in (4, 8) or header.format.upper().startswith(_PROFILE)


def _find_header(data: Data) -> tuple[int, Header | None]:
    """The header, and its offset: a few bytes may precede it."""
    for at in (0, bytes(data[:64]).find(_PROFILE)):
        header = read_header(data[at:]) if at >= 0 else None
        if _is_header(header):
            return at, header
    return 0, None


def _guessed_id_size(data: Data, at: int) -> int:
    """The size of IDs by the length of a LOAD_CLASS, if the header does not give it."""
    for framed in records(data, at):
        record = RECORDS_BY_TAG.get(framed.tag)
        if record and record.name == "LOAD_CLASS":
            return 4 if framed.length == struct_of(record.layout, 4).size else 8
    return 8


def _write_dump(data: Data, options: Options, lines: Lines) -> None:
    start, header = _find_header(data)
    if header is None:
        _write_start(data, lines)
        return
    lines.raw(data, 0, start)
    at = start + header.size
    id_size = header.id_size
    if id_size not in (4, 8) and at < len(data):
        id_size = _guessed_id_size(data, at)
        lines.add(f"id-size {id_size}")
    format_text = quoted(header.format.decode())
    lines.add(f"hprof {format_text} id-size {header.id_size} time {time_text(header.time)}", start)
    lines.flush([])
    if at < len(data):
        _Dump(data, at, id_size, options, lines).write()


def _write_start(data: Data, lines: Lines) -> None:
    """Bytes without a header, perhaps the first bytes of one."""
    text = bytes(data[:LONGEST_FORMAT]).partition(b"\0")[0]
    if text == data:
        text = next((one for one in _FORMATS if one.startswith(text)), text)
    whole = text + b"\0"
    missing = len(whole) + 12 - len(data)
    if text in _FORMATS and 0 < missing < len(whole) + 12:
        id_size, time = struct.unpack(">IQ", bytes(data[len(whole) :]).ljust(12, b"\0"))
        # The size is cut off: 8 is the most frequent.
        id_size = 8 if missing > 11 else id_size
        lines.add(f"hprof {quoted(text.decode())} id-size {id_size} time {time_text(time)}", 0)
        lines.add(f"cut {missing}")
    else:
        lines.raw(data, 0, len(data))


def _write_member(member: FoundMember, lines: Lines) -> None:
    text = f"member {member.size} {member.options}".rstrip()
    if member.data is None:
        lines.add(text)
    elif len(member.data):
        lines.listing(f"{text} data", list(hex_words(bytes(member.data))))
    else:
        lines.add(f'{text} data [ "" ]')


def _write_file(data: memoryview, options: Options, lines: Lines, depth: int = 0) -> None:
    found = read_gzip(data) if is_gzip(data) and depth < _DEEPEST else None
    if found is None:
        _write_dump(data, options, lines)
        return
    together = alike(found.members)
    lines.open(together or "gzip")
    _write_file(found.content, options, lines, depth + 1)
    if together is None:
        for member in found.members:
            _write_member(member, lines)
            lines.flush([])
    lines.close()
    if found.missing:
        lines.add(f"cut {found.missing}")
    lines.raw(data, found.end, len(data))


def disassemble(data: Data, out: TextIO, options: Options | None = None) -> None:
    """Writes the text of a dump, or of any other bytes."""
    options = options or Options()
    lines = Lines(out, options.offsets)
    _write_file(memoryview(data), options, lines)
    lines.flush([])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hprof-text",
        description="Prints an HPROF dump as readable text, from which hprof-assemble makes the same bytes again.",
    )
    parser.add_argument("dump", help="the dump, plain or gzip, valid or not; - is standard input")
    parser.add_argument("-o", "--output", metavar="FILE", help="where the text goes, if not to standard output")
    parser.add_argument(
        "--offsets",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="where each statement's bytes are in the dump, as a comment",
    )
    parser.add_argument("--raw-ids", action="store_true", help="IDs as numbers, not as symbols")
    parser.add_argument("--version", action="version", version=f"hprof-text {__version__}")
    return parser


def _write(data: memoryview, output: str | None, options: Options) -> None:
    with standard_output() if output is None else completed(output) as file:
        out = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
        disassemble(data, out, options)
        out.flush()
        out.detach()


def main() -> int:
    have_standard_error()
    parser = _parser()
    arguments = parser.parse_args()
    name = arguments.dump
    if would_overwrite(name, arguments.output):
        parser.error(f"the dump that is read would be overwritten: {name}")
    try:
        data = open_bytes(name)
        name = arguments.output or "standard output"
        _write(data, arguments.output, Options(arguments.offsets, arguments.raw_ids))
    except KeyboardInterrupt:
        return 130  # as the shell reports SIGINT
    except BrokenPipeError:
        return 0  # the reader of the pipe has gone
    except OSError as error:
        sys.stderr.write(f"hprof-text: {name}: {error.strerror}\n")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
