"""Values as words of the notation: the inverse of the assembler. Does not know records."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby

from hprof_corpus.layouts import BASIC_TYPES

_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_INVALID = re.compile("[\udc80-\udcff]+")
_WIDE = re.compile("[\ud800-\udfff]+")

# In raw bytes: one byte many times, a piece of text, or anything else up to the next of these.
_RAW = re.compile(
    rb"(?P<same>.)(?P=same){15,} | (?P<text>[\x20-~]{6,80}) | (?:(?!(.)\3{15} | [\x20-~]{6}).){1,32}",
    re.DOTALL | re.VERBOSE,
)
_LINE = 100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

OBJECT, BOOLEAN, CHAR, FLOAT, DOUBLE, BYTE = (
    BASIC_TYPES[name][0] for name in ("object", "boolean", "char", "float", "double", "byte")
)
_TYPES = {code: name for name, (code, _) in BASIC_TYPES.items()}


def quoted(text: str) -> str:
    """A string, with escapes for the ends of lines and for invisible characters."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(_ESCAPES.get(c) or (c if c.isprintable() else f"\\u{{{ord(c):x}}}") for c in text) + '"'


def hexadecimal(data: bytes) -> str:
    return "0x" + data.hex()


def type_name(code: int) -> str:
    return _TYPES.get(code) or str(code)


def text_of(data: bytes) -> str:
    """UTF-8. Other bytes become lone surrogates."""
    return data.decode("utf-8", "surrogateescape")


def utf8_words(data: bytes) -> list[str]:
    """Strings, and other bytes in hexadecimal."""
    text = text_of(data)
    words: list[str] = []
    at = 0
    for match in _INVALID.finditer(text):
        if match.start() > at:
            words.append(quoted(text[at : match.start()]))
        words.append(hexadecimal(match[0].encode("utf-8", "surrogateescape")))
        at = match.end()
    if at < len(text) or not words:
        words.append(quoted(text[at:]))
    return words


def one_word(data: bytes) -> str:
    """For statements that take one word for all bytes."""
    words = utf8_words(data)
    return words[0] if len(words) == 1 and text_of(data).isprintable() else hexadecimal(data)


def raw_words(data: bytes) -> Iterator[str]:
    for match in _RAW.finditer(data):
        piece = match[0]
        if match["same"] is not None:
            yield f"{hexadecimal(match['same'])} * {len(piece)}"
        elif match["text"] is not None:
            yield quoted(piece.decode())
        else:
            yield hexadecimal(piece)


def wrapped(words: Iterable[str]) -> Iterator[str]:
    """Lines of words."""
    line: list[str] = []
    size = 0
    for word in words:
        if line and size + len(word) > _LINE:
            yield " ".join(line)
            line, size = [], 0
        line.append(word)
        size += len(word) + 1
    if line:
        yield " ".join(line)


def runs(words: Iterable[str]) -> Iterator[str]:
    """`word * count` for words that repeat."""
    for word, same in groupby(words):
        count = sum(1 for _ in same)
        if count > 2:
            yield f"{word} * {count}"
        else:
            for _ in range(count):
                yield word


def float_text(bits: int, width: int) -> str:
    """The shortest number that has these bits; the bits themselves if none has."""
    code, whole = (">f", ">I") if width == 4 else (">d", ">Q")
    data = struct.pack(whole, bits)
    (value,) = struct.unpack(code, data)
    if value - value == 0:  # neither infinite nor NaN
        for digits in (6, 9) if width == 4 else (17,):
            text = repr(value) if width == 8 else f"{value:.{digits}g}"
            if struct.pack(code, float(text)) == data:
                return text
    return f"0x{bits:0{2 * width}x}"


def char_text(unit: int) -> str:
    character = chr(unit)
    return quoted(character) if character.isprintable() else f"{unit:#06x}"


def value_formats(id_size: int, of_object: Callable[[int], str]) -> dict[int, tuple[str, Callable[[int], str]]]:
    """For each basic type, the code of `struct`, and how a value is written."""
    return {
        OBJECT: ("I" if id_size == 4 else "Q", of_object),
        BOOLEAN: ("B", str),
        CHAR: ("H", char_text),
        FLOAT: ("I", lambda bits: float_text(bits, 4)),
        DOUBLE: ("Q", lambda bits: float_text(bits, 8)),
        BYTE: ("b", str),
        BASIC_TYPES["short"][0]: ("h", str),
        BASIC_TYPES["int"][0]: ("i", str),
        BASIC_TYPES["long"][0]: ("q", str),
    }


def char_words(data: bytes) -> Iterator[str]:
    """Elements of a char array: text where it can be read, the bytes of the rest."""
    text = data.decode("utf-16-be", "surrogatepass")
    for readable, part in groupby(text, lambda c: c.isprintable() or c in _ESCAPES):
        piece = "".join(part)
        if readable:
            for at in range(0, len(piece), 80):
                yield quoted(piece[at : at + 80])
        else:
            yield from hex_elements(piece.encode("utf-16-be", "surrogatepass"), 2)


def hex_words(data: bytes) -> Iterator[str]:
    """Bytes, 32 in a word; many zeros as a count."""
    if len(data) > 32 and not any(data):
        yield f"0x00 * {len(data)}"
        return
    for at in range(0, len(data), 32):
        yield hexadecimal(data[at : at + 32])


def hex_elements(data: bytes, width: int) -> Iterable[str]:
    """Elements as bytes: 0x and the digits of several elements."""
    if len(data) > 32 and not any(data):
        return (f"0 * {len(data) // width}",)
    return hex_words(data)


def byte_words(data: bytes) -> Iterable[str]:
    """Elements of a byte array: text, or a few numbers, or bytes."""
    if len(data) > 1:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = "\0"
        if text.isprintable():
            return (quoted(text[at : at + 80]) for at in range(0, len(text), 80))
    if len(data) <= 16:
        return runs(map(str, struct.unpack(f"{len(data)}b", data)))
    return hex_elements(data, 1)


def time_text(milliseconds: int) -> str:
    if not 0 < milliseconds < 253402300800000:  # the year 10000
        return str(milliseconds)
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    fraction = f".{milliseconds % 1000:03}" if milliseconds % 1000 else ""
    return f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}Z".rjust(len("2026-01-01T00:00:00Z") + len(fraction), "0")
