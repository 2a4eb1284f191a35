"""The notation and the assembler where the corpus does not reach: numbering, offsets, and what is refused."""

from __future__ import annotations

import gzip
import os
import signal
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from terminals import terminal

from hprof_corpus.assembler import assemble
from hprof_corpus.deflate import METHODS, Member
from hprof_corpus.notation import NotationError, expand, parse
from hprof_corpus.piece import Piece

HEADER = 'hprof "JAVA PROFILE 1.0.2" id-size 4 time 2026-01-01T00:00:00Z\n'


def body(text: str) -> bytes:
    return assemble(HEADER + text).file.to_bytes()[31:]


def test_header() -> None:
    data = assemble(HEADER).file.to_bytes()
    assert data == b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 4, 1767225600000)


def test_symbols_are_numbered_as_they_appear_unless_stated() -> None:
    data = body("id $b 7\nutf8 $a\nutf8 $b\nutf8 $c\nutf8 $a")
    ids = [struct.unpack_from(">I", data, at * 13 + 9)[0] for at in range(4)]
    assert ids == [0x100001, 7, 0x100002, 0x100001]


def test_lengths_are_computed_unless_stated() -> None:
    assert body('utf8 1 "abc"')[5:9] == b"\0\0\0\7"
    assert body('utf8 1 "abc" length 99')[5:9] == b"\0\0\0\x63"
    assert body('utf8 1 "abc" extra 0xffff cut 1')[5:] == b"\0\0\0\x08\0\0\0\1abc\xff"


def test_instance_size_is_that_of_the_chain() -> None:
    text = "segment {\nclass-dump @a super @b {\nfield null int\n}\nclass-dump @b super null {\nfield null object\n}\n}"
    data = body(text)
    assert struct.unpack_from(">I", data, 9 + 1 + 4 * 8)[0] == 8


def test_marks_give_offsets_in_the_dump_even_within_gzip() -> None:
    plain = HEADER + "utf8 !$a        # STR-002: why\n"
    packed = "gzip {\n" + plain + "}\n"
    [one], [other] = assemble(plain).faults, assemble(packed).faults
    assert (one.rule, one.offset) == (other.rule, other.offset) == ("STR-002", 40)
    assert assemble(packed).file.to_bytes()[:2] == b"\x1f\x8b"


def test_elements_by_their_bytes() -> None:
    array = "segment {{\nprimitive-array-dump 1 type {} [ {} ]\n}}"
    assert body(array.format("char", "0x00410042 0x0043")) == body(array.format("char", '"ABC"'))
    assert body(array.format("byte", "0xff00 1")) == body(array.format("byte", "-1 0 1"))
    assert body(array.format("int", "0x0000000100000002")) == body(array.format("int", "1 2"))


def test_numbers_of_symbols_within_a_heap_dump() -> None:
    assert body("segment {\nid @a 7\nroot-unknown @a\n}") == body("segment {\nroot-unknown 7\n}")


def test_members_one_by_one() -> None:
    plain = assemble(HEADER).file.to_bytes()
    data = assemble("gzip {\n" + HEADER + 'member 20 name "x" deflate stored\nmember 0\n}\n').file.to_bytes()
    assert gzip.decompress(data) == plain
    assert data.count(b"\x1f\x8b") == 3
    assert b"".join(part for _, part in Member(plain[:20], "stored", name=b"x").parts()) in data
    raw = assemble("gzip {\n" + HEADER + "member 31 data [ 0x0102 0x03 ] crc 5\n}\n").file.to_bytes()
    assert raw[10:] == b"\1\2\3" + struct.pack("<II", 5, 31)


def test_repeat_counts_from_zero_and_nests() -> None:
    statements = list(expand(parse('repeat 2 i {\nrepeat 2 j {\nutf8 $s.(i).(j+1) "(i)"\n}\n}\n')))
    assert [statement.items[0].text for statement in statements] == ["$s.0.1", "$s.0.2", "$s.1.1", "$s.1.2"]  # type: ignore[union-attr]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("data", [b"", b"a", b"a" * 700, bytes(range(256)) * 3, b"\xff" * 70000])
def test_members_inflate(method: str, data: bytes) -> None:
    member = Member(data, method, text=True, extra=b"xy", name=b"n", comment=b"c", with_header_crc=True)
    assert gzip.decompress(b"".join(part for _, part in member.parts())) == data
    assert zlib.decompress(METHODS[method](data), -15) == data


def test_long_runs_of_zeros_take_no_memory() -> None:
    piece = Piece(b"ab")
    piece.add_repeated(b"\0", 1 << 40)
    piece.add(b"c")
    assert piece.size == (1 << 40) + 3
    piece.cut((1 << 40) + 2)
    assert piece.to_bytes() == b"a"


def test_spots_of_pieces_within_pieces() -> None:
    inmost, inner, outer = Piece(), Piece(b"abc"), Piece(b"a")
    inmost.spot(3, "inmost", "STR-002")
    inmost.add(b"x")
    inner.append(inmost)
    inner.spot(2, "inner")
    outer.spot(1, "first")
    outer.append(inner)
    outer.append(inner)
    outer.spot(1, "last")
    found = [(spot.offset, spot.line, spot.label, spot.rule) for spot in outer.spots(10)]
    once = ((14, 3, "inmost", "STR-002"), (15, 2, "inner", None))
    twice = [(at + more, *rest) for more in (0, 4) for at, *rest in once]
    assert found == [(11, 1, "first", None), *twice, (19, 1, "last", None)]
    assert outer.to_bytes() == b"aabcxabcx"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "unknown statement"),
        ("segment {", "not closed"),
        ("}", "unexpected }"),
        ("utf8 @a", "is no string"),
        ("utf8 $a [ 1 ]", "unexpected list"),
        ("load-class serial 1 class @a color red", "unexpected color"),
        ("load-class class @a", "serial is missing"),
        ("unload-class serial 5000000000", "does not fit"),
        ("id @a", "value is missing"),
        ("heap-dump {\nclass-dump @a {\nfield $x\n}\n}", "value is missing"),
        ('raw "\\u{110000}"', "no character"),
        ('raw "\\u{d800}"', "half a character"),
        ("utf8 !$a", "needs both"),
        ("utf8 $a  # STR-002: why", "needs both"),
        ("segment {\ninstance-dump @a class @b [ int ]\n}", "a type and a value"),
        ("segment {\nutf8 $a\n}", "is no sub-record"),
        ("primitive-array-dump @a type object", "unknown statement"),
        ("utf8 $a\nid $a 5", "was mentioned before"),
        ("cut 1000", "only"),
        ("raw 0x123", "even number"),
        ("gzip {\nmember 1\n}", "only 0 bytes left"),
        ('utf8 $a "\\q"', "unknown escape"),
        ('utf8 $a   "abc', "cannot read '\"abc'"),
    ],
)
def test_refused_with_the_line(text: str, message: str) -> None:
    with pytest.raises(NotationError, match=r"line \d+: ") as error:
        assemble(HEADER + text + "\n")
    assert message in str(error.value)
    assert error.value.line >= 2


def test_a_dump_is_not_written_to_a_terminal(tmp_path: Path) -> None:
    text = tmp_path / "dump.txt"
    text.write_text(HEADER)
    ours, theirs = terminal()
    try:
        words = [sys.executable, "-m", "hprof_corpus.assembler", str(text)]
        done = subprocess.run(words, stdout=theirs, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 2
        assert b"a dump is nothing for a terminal" in done.stderr
        assert subprocess.run([*words, "-o", tmp_path / "dump.hprof"], stdout=theirs, check=False).returncode == 0
    finally:
        os.close(theirs)
        os.close(ours)


@pytest.mark.parametrize("tool", ["assembler", "disassembler"])
def test_an_interrupt_is_silent(tool: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    words = [sys.executable, "-m", f"hprof_corpus.{tool}", str(pipe)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process, pipe.open("wb"):
        process.send_signal(signal.SIGINT)  # it has opened the pipe, and waits for its end
        _, messages = process.communicate()
    assert (process.returncode, messages) == (130, b"")
