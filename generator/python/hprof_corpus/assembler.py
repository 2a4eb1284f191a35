"""Text to bytes: statements are laid out as layouts.py says, lengths and counts are put in, and the offset of every
word is kept, so that the offset of a fault comes from the text and from no validator.

    python -m hprof_corpus.assembler dump.txt -o dump.hprof
    python -m hprof_corpus.assembler --offsets dump.txt
"""

from __future__ import annotations

import argparse
import gc
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from hprof_corpus import __version__, layouts
from hprof_corpus.arguments import Arguments, hex_bytes, is_word, raw_bytes, repeated, utf8
from hprof_corpus.deflate import METHODS, Member
from hprof_corpus.layouts import BASIC_TYPES, Default, Field, Kind, Layout, Record
from hprof_corpus.names import WIDTHS_BY_CODE, Names
from hprof_corpus.notation import Form, Listing, NotationError, Statement, Token, expand, integer, parse
from hprof_corpus.piece import Piece, Spot
from hprof_corpus.source import would_overwrite
from hprof_corpus.target import have_standard_error, standard_output


@dataclass(frozen=True)
class Verdicts:
    """What the text says for the manifest."""

    about: str = ""
    reader: str = ""  # accept, reject, report, either
    reader_why: str = ""
    severities: dict[tuple[str, str], str] = field(default_factory=dict)  # (profile, rule) to severity
    looks_like: str = ""
    importance: str = "theoretical"


@dataclass(frozen=True)
class Assembled:
    file: Piece
    inner: tuple[tuple[int, Piece], ...]  # the content of gzip members, and its offset in the dump
    version: str
    id_size: int
    compressed: bool
    verdicts: Verdicts

    @cached_property
    def spots(self) -> tuple[Spot, ...]:
        """Offsets in the dump, decompressed; those of gzip itself in the file."""
        return (*(spot for at, piece in self.inner for spot in piece.spots(at)), *self.file.spots())

    @property
    def faults(self) -> list[Spot]:
        return sorted((spot for spot in self.spots if spot.rule), key=lambda spot: (spot.offset, spot.line))


class Assembler:
    def __init__(self, statements: tuple[Statement, ...]) -> None:
        self._statements = statements
        self._names = Names(statements)
        self._version = ""
        self._about = ""
        self._reader = ""
        self._reader_why = ""
        self._looks_like = ""
        self._importance = Verdicts.importance
        self._severities: dict[tuple[str, str], str] = {}

    # ---- values

    def _number(self, value: int, width: int, line: int) -> bytes:
        try:
            return value.to_bytes(width, "big", signed=value < 0)
        except (OverflowError, ValueError):
            raise NotationError(line, f"{value} does not fit in {width} bytes") from None

    def _float(self, token: Token, width: int) -> bytes:
        """A hexadecimal number is the bits, any other the value."""
        if token.text.startswith("0x"):
            return self._number(integer(token), width, token.line)
        try:
            return struct.pack(">f" if width == 4 else ">d", float(token.text))
        except ValueError:
            raise NotationError(token.line, f"{token.text} is no number") from None

    def _value(self, code: int, token: Token) -> bytes:
        """One value of a basic type, or a whole string of type char or byte. For an undefined type, the bytes."""
        width = WIDTHS_BY_CODE.get(code)
        if width is None:
            return raw_bytes(token)
        if code in (6, 7):
            return self._float(token, 4 if code == 6 else 8)
        if token.form is Form.STRING:
            if code == 5:
                return token.text.encode("utf-16-be", "surrogatepass")
            if code == 8:
                return utf8(token)
            raise NotationError(token.line, "only char and byte take a string")
        if code == 2:
            return self._number(self._names.id(token, Kind.OBJECT), self._names.id_size, token.line)
        return self._number(integer(token), width, token.line)

    # ---- layouts

    def _field(self, piece: Piece, spec: Field, token: Token | None, computed: int, at: Token) -> None:
        width = self._names.id_size if spec.type == "ID" else layouts.WIDTHS[spec.type]
        piece.spot(at.line, spec.name, at.rule)
        if token is None:
            piece.add(self._number(computed, width, at.line))
        elif spec.type == "ID":
            piece.add(self._number(self._names.id(token, spec.kind), width, token.line))
        elif spec.name == "type":
            piece.add(self._number(self._names.type(token)[0], width, token.line))
        elif spec.name == "cutoff" and token.text.count("."):
            piece.add(self._float(token, 4))
        else:
            piece.add(self._number(integer(token), width, token.line))

    def _fixed(self, layout: Layout, arguments: Arguments, computed: dict[str, int], positional: tuple[Token, ...] = ()) -> Piece:
        """The fields of fixed size. A field that is not in the text must have a default."""
        piece = Piece()
        given = list(positional)
        for spec in layout.fields:
            if spec.word == "":
                token = given.pop(0) if given else arguments.positional()
                self._field(piece, spec, token, 0, token)
                continue
            if spec.name in computed and not arguments.peek_number(spec.word):
                # The word alone only carries a mark.
                mark = arguments.flag(spec.word) or Token(Form.WORD, "", arguments.line)
                self._field(piece, spec, None, computed[spec.name], mark)
                continue
            found = arguments.keyword(spec.word)
            if found:
                key, token = found
                self._field(piece, spec, token, 0, key if key.rule else token)
            elif spec.default is Default.NONE:
                raise arguments.fail(f"{spec.word} is missing")
            else:
                self._field(piece, spec, None, 0, Token(Form.WORD, "", arguments.line))
        return piece

    def _raw(self, tokens: list[Token]) -> Piece:
        piece = Piece()
        for token, count in repeated(tokens):
            piece.spot(token.line, "raw", token.rule)
            piece.add_repeated(raw_bytes(token), count)
        return piece

    def _elements(self, listing: Listing | None, code: int) -> tuple[Piece, int]:
        """The values of an array, and their number. `raw` adds bytes that are not counted."""
        piece, count = Piece(), 0
        tokens = list(listing.tokens) if listing else []
        pairs = iter(list(repeated(tokens)))
        for token, times in pairs:
            raw = is_word(token, "raw")
            if raw:
                token, times = next(pairs)
            data = raw_bytes(token) if raw else self._element(code, token)
            piece.spot(token.line, "raw" if raw else "element", token.rule)
            piece.add_repeated(data, times)
            if not raw:
                width = self._names.type(Token(Form.NUMBER, str(code), token.line))[1]
                count += times * (len(data) // width if width else 1)
        return piece, count

    def _element(self, code: int, token: Token) -> bytes:
        """An element, or the bytes of several."""
        width = WIDTHS_BY_CODE.get(code, 0)
        digits = len(token.text) - 2
        is_bytes = width and token.form is Form.NUMBER and token.text.startswith("0x")
        if is_bytes and digits > 2 * width and digits % (2 * width) == 0:
            return hex_bytes(token)
        return self._value(code, token)

    def _ids(self, listing: Listing | None, kind: Kind) -> tuple[Piece, int]:
        piece, count = Piece(), 0
        for token, times in repeated(list(listing.tokens) if listing else []):
            piece.spot(token.line, "id", token.rule)
            piece.add_repeated(self._number(self._names.id(token, kind), self._names.id_size, token.line), times)
            count += times
        return piece, count

    def _values(self, listing: Listing | None) -> Piece:
        """`int 5 object @a boolean 1 * 8 raw 0xff`: the fields of an instance."""
        piece = Piece()
        pairs = iter(list(repeated(list(listing.tokens) if listing else [])))
        for word, _ in pairs:
            token, times = next(pairs, (None, 0))
            if token is None:
                raise NotationError(word.line, "a type and a value, or raw and bytes")
            data = hex_bytes(token) if is_word(word, "raw") else self._value(self._names.type(word)[0], token)
            piece.spot(token.line, word.text, token.rule or word.rule)
            piece.add_repeated(data, times)
        return piece

    # ---- sub-records

    def _class_dump(self, arguments: Arguments, record: Record) -> Piece:
        class_id = arguments.positional()
        counts = {word: arguments.keyword(word) for word in ("constants", "statics", "fields")}
        head = self._fixed(
            record.layout,
            arguments,
            {"instance_size": self._names.chain_sizes.of(self._names.id(class_id, Kind.OBJECT))},
            (class_id,),
        )
        parts: dict[str, tuple[Piece, int]] = {word: (Piece(), 0) for word in counts}
        entries = {
            "constant": ("constants", layouts.CONSTANT, True),
            "static": ("statics", layouts.STATIC_FIELD, True),
            "field": ("fields", layouts.INSTANCE_FIELD, False),
        }
        tail = Piece()
        for statement in arguments.statement.block or ():
            if statement.word == "raw":
                tail.append(self._raw(Arguments(statement).rest()))
                continue
            if statement.word not in entries:
                raise NotationError(statement.line, f"{statement.word} has no place in a class-dump")
            word, layout, has_value = entries[statement.word]
            inner = Arguments(statement)
            piece = self._entry(inner, layout, has_value)
            parts[word][0].append(piece)
            parts[word] = parts[word][0], parts[word][1] + 1
        for word, (piece, count) in parts.items():
            found = counts[word]
            head.spot(arguments.line, word, found[1].rule or found[0].rule if found else None)
            head.add(self._number(integer(found[1]) if found else count, 2, arguments.line))
            head.append(piece)
        head.append(tail)
        return head

    def _entry(self, arguments: Arguments, layout: Layout, has_value: bool) -> Piece:
        name, basic_type = arguments.positional(), arguments.positional()
        piece = self._fixed(layout, arguments, {}, (name, basic_type))
        if has_value:
            value = arguments.positional()
            piece.spot(value.line, "value", value.rule)
            piece.add(self._value(self._names.type(basic_type)[0], value))
        arguments.done()
        return piece

    def _subrecord_body(self, arguments: Arguments, record: Record) -> Piece:
        layout = record.layout
        if layout.tail == "class":
            return self._class_dump(arguments, record)
        listing = arguments.listing()
        if record.name == "INSTANCE_DUMP":
            tail = self._values(listing)
            body = self._fixed(layout, arguments, {"bytes": tail.size})
        elif record.name == "OBJECT_ARRAY_DUMP":
            tail, count = self._elements(listing, BASIC_TYPES["object"][0])
            body = self._fixed(layout, arguments, {"elements": count})
        elif record.name == "PRIMITIVE_ARRAY_DUMP":
            shadow = Arguments(arguments.statement).keyword("type")
            if shadow is None:
                raise arguments.fail("type is missing")
            tail, count = self._elements(listing, self._names.type(shadow[1])[0])
            body = self._fixed(layout, arguments, {"elements": count})
        else:
            if listing:
                raise arguments.fail("takes no list")
            return self._fixed(layout, arguments, {})
        body.append(tail)
        return body

    def _subrecord(self, statement: Statement) -> Piece:
        record = layouts.SUBRECORDS_BY_WORD[statement.word]
        arguments = Arguments(statement)
        piece = Piece()
        piece.spot(statement.line, record.name, statement.head.rule)
        piece.add(bytes([record.tag]))
        piece.append(self._subrecord_body(arguments, record))
        arguments.done(block=record.name == "CLASS_DUMP")
        return piece

    # ---- records

    def _sequence(self, statements: tuple[Statement, ...], one: Callable[[Statement], Piece]) -> Piece:
        """The statements of a block, including those that may be anywhere: raw, cut, here."""
        piece = Piece()
        for statement in statements:
            arguments = Arguments(statement)
            if statement.word == "raw":
                if statement.head.rule:
                    piece.spot(statement.line, "raw", statement.head.rule)
                piece.append(self._raw(arguments.rest()))
            elif statement.word == "cut":
                self._cut(piece, statement)
            elif statement.word == "id":
                pass  # given to Names
            elif statement.word == "here":
                piece.spot(statement.line, "here", statement.head.rule)
            else:
                piece.append(one(statement))
        return piece

    def _cut(self, piece: Piece, statement: Statement) -> None:
        arguments = Arguments(statement)
        count = integer(arguments.positional())
        arguments.done()
        if count > piece.size:
            raise arguments.fail(f"there are only {piece.size} bytes")
        piece.cut(count)

    def _in_heap(self, statement: Statement) -> Piece:
        if statement.word not in layouts.SUBRECORDS_BY_WORD:
            raise NotationError(statement.line, f"{statement.word} is no sub-record")
        return self._subrecord(statement)

    def _entries(self, statement: Statement, word: str, layout: Layout) -> tuple[Piece, list[dict[str, int]]]:
        """The sites or the samples of a block, and their figures for the totals."""
        numbers: list[dict[str, int]] = []

        def one(inner: Statement) -> Piece:
            if inner.word != word:
                raise NotationError(inner.line, f"expected {word}, not {inner.word}")
            shadow = Arguments(inner)
            found = {spec.name: shadow.keyword(spec.word) for spec in layout.fields}
            numbers.append({name: integer(pair[1]) if pair else 0 for name, pair in found.items()})
            arguments = Arguments(inner)
            piece = self._fixed(layout, arguments, {})
            arguments.done()
            return piece

        return self._sequence(statement.block or (), one), numbers

    def _record_body(self, arguments: Arguments, record: Record) -> Piece:
        layout, statement = record.layout, arguments.statement
        if record.name == "UTF8":
            body = self._fixed(layout, arguments, {})
            body.append(self._raw(arguments.rest()))
            return body
        if record.name == "TRACE":
            tail, count = self._ids(arguments.listing(), Kind.FRAME)
            body = self._fixed(layout, arguments, {"frames": count})
        elif layout.tail == "sites":
            tail, sites = self._entries(statement, "site", layouts.SITE)
            names = ("live_bytes", "live_instances", "allocated_bytes", "allocated_instances")
            sums = {name: sum(site[name] for site in sites) for name in names}
            body = self._fixed(layout, arguments, {"sites": len(sites), **sums})
        elif layout.tail == "traces":
            tail, samples = self._entries(statement, "sample", layouts.SAMPLE)
            total = sum(sample["samples"] for sample in samples)
            body = self._fixed(layout, arguments, {"samples": total, "traces": len(samples)})
        elif layout.tail == "subrecords":
            return self._sequence(statement.block or (), self._in_heap)
        else:
            return self._fixed(layout, arguments, {})
        body.append(tail)
        return body

    def _framed(self, statement: Statement, tag: int, name: str, body_of: Callable[[Arguments], Piece]) -> Piece:
        """Tag, time and length around a body. Every record takes `at TIME`, `length [N]`, `cut N` and `extra BYTES`."""
        arguments = Arguments(statement)
        time = arguments.keyword("at")
        length_value = arguments.keyword("length") if arguments.peek_number("length") else None
        length_mark = length_value[0] if length_value else arguments.flag("length")
        cut = arguments.keyword("cut")
        extra = arguments.keyword("extra")
        body = body_of(arguments)
        arguments.done(block=True)
        if extra:
            body.append(self._raw([extra[1]]))
        if cut:
            if integer(cut[1]) > body.size:
                raise arguments.fail(f"there are only {body.size} bytes to cut")
            body.cut(integer(cut[1]))
        piece = Piece()
        piece.spot(statement.line, name, statement.head.rule)
        piece.add(bytes([tag]))
        piece.spot(statement.line, "time", (time[0].rule or time[1].rule) if time else None)
        piece.add(self._number(integer(time[1]) if time else 0, 4, statement.line))
        rule = length_mark.rule if length_mark else None
        piece.spot(statement.line, "length", rule or (length_value[1].rule if length_value else None))
        piece.add(self._number(integer(length_value[1]) if length_value else body.size & 0xFFFFFFFF, 4, statement.line))
        piece.append(body)
        return piece

    def _in_dump(self, statement: Statement) -> Piece:
        """A record, the header, or a statement that writes nothing."""
        word = statement.word
        if word in layouts.RECORDS_BY_WORD:
            record = layouts.RECORDS_BY_WORD[word]
            if statement.block is not None and record.layout.tail not in ("subrecords", "sites", "traces"):
                raise NotationError(statement.line, f"{word} takes no block")
            return self._framed(statement, record.tag, record.name, lambda a: self._record_body(a, record))
        if word == "record":
            tag = integer(Arguments(statement).positional())
            return self._framed(statement, tag, "record", self._unnamed_body)
        if word == "hprof":
            return self._header(Arguments(statement))
        if word in ("about", "reader", "profile", "looks-like", "importance", "id", "id-size"):
            self._remark(statement)
            return Piece()
        if word == "gzip":
            return self._gzip(statement)[0]
        raise NotationError(statement.line, f"unknown statement {word}")

    def _unnamed_body(self, arguments: Arguments) -> Piece:
        arguments.positional()
        return self._sequence(arguments.statement.block or (), self._in_heap)

    def _header(self, arguments: Arguments) -> Piece:
        piece = Piece()
        line, head = arguments.line, arguments.statement.head
        version = arguments.positional()
        self._version = version.text.removeprefix("JAVA PROFILE ") if version.text.startswith("JAVA PROFILE ") else ""
        piece.spot(line, "hprof", head.rule or version.rule)
        piece.add(utf8(version) + b"\0")
        for word in ("id-size", "time"):
            found = arguments.keyword(word)
            if found is None:
                raise arguments.fail(f"{word} is missing")
            key, value = found
            piece.spot(line, word, key.rule or value.rule)
            if word == "id-size":
                piece.add(self._number(integer(value), 4, line))
            else:
                piece.add(self._number(_milliseconds(value), 8, line))
        arguments.done()
        return piece

    def _remark(self, statement: Statement) -> None:
        arguments = Arguments(statement)
        tokens = arguments.rest()
        texts = [token.text for token in tokens]
        if statement.word == "about" and len(texts) == 1:
            self._about = texts[0]
        elif statement.word == "reader" and len(texts) == 2 and texts[0] in ("accept", "reject", "report", "either"):
            self._reader, self._reader_why = texts
        elif statement.word == "profile" and len(texts) == 3:
            self._severities[texts[0], texts[1]] = texts[2]
        elif statement.word == "looks-like" and len(texts) == 1:
            self._looks_like = texts[0]
        elif statement.word == "importance" and texts in (["written"], ["plausible"]):
            self._importance = texts[0]
        elif statement.word not in ("id", "id-size"):
            raise arguments.fail("see corpus/README.md")

    # ---- gzip

    def _gzip(self, statement: Statement) -> tuple[Piece, Piece]:
        """The members that a block becomes, and their content."""
        arguments = Arguments(statement)
        block = statement.block or ()
        inner = self._sequence(tuple(one for one in block if one.word != "member"), self._in_dump)
        data = inner.to_bytes()
        piece = Piece()
        listed = [Arguments(one) for one in block if one.word == "member"]
        for one in listed:
            size = integer(one.positional())
            if not 0 <= size <= len(data):
                raise one.fail(f"there are only {len(data)} bytes left")
            self._members(piece, one, [data[:size]])
            data = data[size:]
        if listed and not data:
            arguments.done(block=True)
            return piece, inner
        sizes = arguments.listing("sizes")
        each = arguments.keyword("each")
        if each:
            step = integer(each[1])
            members = [data[at : at + step] for at in range(0, len(data), step)]
        else:
            members, at = [], 0
            for token, count in repeated(list(sizes.tokens) if sizes else []):
                for _ in range(count):
                    members.append(data[at : at + integer(token)])
                    at += integer(token)
            if at < len(data) or not members:
                members.append(data[at:])
        self._members(piece, arguments, members)
        return piece, inner

    def _members(self, piece: Piece, arguments: Arguments, contents: list[bytes]) -> None:
        """Members that differ only in their content."""
        given = arguments.listing("data")
        deflated = self._raw(list(given.tokens)) if given else None
        options, marks = self._gzip_options(arguments)
        for content in contents:
            member = Member(content)
            for name, value in options.items():
                setattr(member, name, value)
            for label, part in member.parts():
                piece.spot(arguments.line, label, marks.get(label))
                if label == "data" and deflated:
                    piece.append(deflated)
                else:
                    piece.add(part)
            marks = {}  # marks are those of the first member

    def _gzip_options(self, arguments: Arguments) -> tuple[dict[str, object], dict[str, str | None]]:
        options: dict[str, object] = {}
        marks: dict[str, str | None] = {"gzip": arguments.statement.head.rule}
        readers: dict[str, tuple[str, Callable[[Token], object]]] = {
            "deflate": ("method", lambda token: token.text),
            "method": ("compression", integer),
            "flags": ("flags", integer),
            "mtime": ("mtime", integer),
            "xfl": ("xfl", integer),
            "os": ("os", integer),
            "extra": ("extra", raw_bytes),
            "name": ("name", raw_bytes),
            "comment": ("comment", raw_bytes),
            "crc": ("crc", integer),
            "isize": ("isize", integer),
        }
        if arguments.peek_number("hcrc"):
            readers["hcrc"] = ("header_crc", integer)
            options["with_header_crc"] = True
        elif arguments.flag("hcrc"):
            options["with_header_crc"] = True
        if arguments.flag("text"):
            options["text"] = True
        for word, (name, read) in readers.items():
            found = arguments.keyword(word)
            if found:
                options[name] = read(found[1])
                marks[word] = found[0].rule or found[1].rule
        arguments.done(block=True)
        if options.get("method", "fixed") not in METHODS:
            raise arguments.fail("deflate is stored, fixed or dynamic")
        return options, marks

    # ---- the file

    def assemble(self) -> Assembled:
        file = Piece()
        inside: list[tuple[int, Piece]] = []
        dump_size = 0
        compressed = any(statement.word == "gzip" for statement in self._statements)
        for statement in self._statements:
            if statement.word == "gzip":
                members, inner = self._gzip(statement)
                inside.append((dump_size, inner))
                dump_size += inner.size
                file.append(members)
            elif statement.word == "cut":
                self._cut(file, statement)
            else:
                file.append(self._sequence((statement,), self._in_dump))
        verdicts = Verdicts(self._about, self._reader, self._reader_why, self._severities, self._looks_like, self._importance)
        return Assembled(file, tuple(inside), self._version, self._names.id_size, compressed, verdicts)


def _milliseconds(token: Token) -> int:
    if token.form is Form.NUMBER:
        return integer(token)
    try:
        moment = datetime.fromisoformat(token.text)
    except ValueError:
        raise NotationError(token.line, f"{token.text} is no time") from None
    if moment.tzinfo is None:
        raise NotationError(token.line, "a time needs its zone: 2026-01-01T00:00:00Z")
    delta = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (delta.days * 86400 + delta.seconds) * 1000 + delta.microseconds // 1000


def assemble(text: str) -> Assembled:
    """The bytes that a text describes. Raises NotationError, which names the line."""
    return Assembler(tuple(expand(parse(text)))).assemble()


def assemble_file(path: Path) -> Assembled:
    try:
        return assemble(path.read_text(encoding="utf-8"))
    except NotationError as error:
        raise SystemExit(f"{path}: {error}") from None


def _spot_line(spot: Spot) -> bytes:
    fault = f"  {spot.rule}" if spot.rule else ""
    return f"{spot.offset:#010x}  line {spot.line:<5} {spot.label}{fault}\n".encode()


def main() -> int:
    have_standard_error()
    parser = argparse.ArgumentParser(prog="hprof-assemble", description="Assembles an HPROF dump from its text.")
    parser.add_argument("text", help="- is standard input")
    parser.add_argument("-o", "--output", type=Path, help="where the dump goes, if not to standard output")
    parser.add_argument("--offsets", action="store_true", help="print where each line put its fields")
    parser.add_argument("--version", action="version", version=f"hprof-assemble {__version__}")
    arguments = parser.parse_args()
    name = arguments.text
    if would_overwrite(name, arguments.output):
        parser.error(f"the text that is read would be overwritten: {name}")
    if not arguments.output and not arguments.offsets and sys.stdout is not None and sys.stdout.isatty():
        parser.error("a dump is nothing for a terminal: give -o FILE, or send standard output elsewhere")
    gc.disable()  # There are millions of words and no cycles; the search for cycles would take half of the time.
    try:
        text = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        assembled = assemble(text.decode())
        name = arguments.output or "standard output"
        if arguments.output:
            assembled.file.save(arguments.output)
        if arguments.offsets:
            name = "standard output"
            with standard_output() as out:
                out.writelines(map(_spot_line, assembled.spots))
        elif not arguments.output:
            with standard_output() as out:
                assembled.file.write(out)
    except KeyboardInterrupt:
        return 130  # as the shell reports SIGINT
    except BrokenPipeError:
        return 0  # the reader of the pipe has gone
    except (MemoryError, OverflowError):
        sys.stderr.write(f"hprof-assemble: {name}: out of memory\n")
        return 4
    except OSError as error:
        sys.stderr.write(f"hprof-assemble: {name}: {error.strerror}\n")
        return 3
    except (NotationError, UnicodeDecodeError) as error:
        sys.stderr.write(f"hprof-assemble: {name}: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
