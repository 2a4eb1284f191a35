"""What the disassembler writes assembles to the same bytes, whatever they are; and people can read it."""

from __future__ import annotations

import gzip
import io
import os
import random
import re
import resource
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hprof_corpus.assembler import assemble
from hprof_corpus.disassembler import Options, disassemble
from hprof_corpus.source import open_bytes
from hprof_corpus.survey import MOST_OBJECTS
from hprof_corpus.walk import RECORD_HEADER, read_header
from tests.conftest import CORPUS, manifest_files

ENTRIES = [entry for entry in manifest_files() if entry["checked_in"]]
# The assembler takes its time.
SMALL = [entry for entry in ENTRIES if entry["bytes"] < 25_000]
Entry = dict[str, Any]
SEED = 20260101
REPEATABLE = settings(deadline=None, derandomize=True, database=None)


def name(entry: Entry) -> str:
    file: str = entry["file"]
    return file


def read(entry: Entry) -> bytes:
    return (CORPUS / name(entry)).read_bytes()


def text_of(data: bytes, options: Options | None = None) -> str:
    out = io.StringIO()
    disassemble(data, out, options)
    return out.getvalue()


def assert_same_again(data: bytes, options: Options | None = None) -> str:
    text = text_of(data, options)
    assert assemble(text).file.to_bytes() == data, text
    return text


# ---- the same bytes


@pytest.mark.parametrize("entry", SMALL, ids=name)
def test_corpus(entry: Entry) -> None:
    assert_same_again(read(entry))
    assert_same_again(read(entry), Options(offsets=False, raw_ids=True))


def test_truncations() -> None:
    """Each of one file, and one of every other; where there is time, each of all but the few that are larger."""
    every = os.environ.get("HPROF_ALL_CHANGES") == "all"
    chosen = random.Random(SEED)
    for entry in SMALL:
        data = read(entry)
        sizes = range(len(data))
        whole = name(entry) == "either/agent-style.hprof" or (every and len(data) <= 3000)
        for size in sizes if whole else chosen.sample(sizes, min(1, len(data))):
            assert_same_again(data[:size])


def mutations(count: int) -> Iterator[bytes]:
    """Of one byte, often to one that means something."""
    chosen = random.Random(SEED)
    files = [read(entry) for entry in SMALL if 0 < entry["bytes"] < 1000]
    for _ in range(count):
        data = bytearray(chosen.choice(files))
        at = chosen.randrange(len(data))
        data[at] = chosen.choice((0, 1, 2, 0x20, 0x21, 0x22, 0x23, 0xFF, data[at] ^ 1 << chosen.randrange(8)))
        yield bytes(data)


def test_mutations() -> None:
    for data in mutations(600):
        assert_same_again(data)


@given(st.binary(max_size=200))
@REPEATABLE
def test_any_bytes(data: bytes) -> None:
    assert_same_again(data)


HEADERS = st.builds(
    lambda version, id_size, time: b"JAVA PROFILE " + version + b"\0" + struct.pack(">IQ", id_size, time),
    st.sampled_from([b"1.0.1", b"1.0.2", b"1.0.3", b"1.0", b""]),
    st.sampled_from([4, 8, 4, 8, 0, 1, 3, 0x08000000]),
    st.integers(0, 2**64 - 1),
)
TAGS = st.sampled_from([1, 2, 3, 4, 5, 6, 7, 0xA, 0xB, 0xC, 0xD, 0xE, 0x1C, 0x2C, 0x77])
SUB_TAGS = st.sampled_from([*range(1, 9), 0x20, 0x20, 0x21, 0x21, 0x22, 0x23, 0x23, 0x89, 0x8E, 0xC3, 0xFE, 0xFF, 0x30])
# Small numbers, so that counts and types are often right.
NUMBERS = st.lists(st.sampled_from([0, 0, 0, 0, 1, 2, 4, 5, 6, 8, 10, 11, 0xFF]), max_size=80).map(bytes)
BODIES = st.one_of(
    st.binary(max_size=60),
    NUMBERS,
    st.lists(st.builds(lambda tag, rest: bytes([tag]) + rest, SUB_TAGS, NUMBERS), max_size=4).map(b"".join),
)
RECORDS = st.builds(
    lambda tag, time, lie, body: RECORD_HEADER.pack(tag, time, max(0, len(body) + lie)) + body,
    TAGS,
    st.sampled_from([0, 0, 5, 2**32 - 1]),
    st.sampled_from([0, 0, 0, 0, -1, 1, 9]),
    BODIES,
)


@given(HEADERS, st.lists(RECORDS, max_size=6).map(b"".join), st.binary(max_size=10))
@settings(REPEATABLE, max_examples=300)
def test_any_bytes_behind_a_header(header: bytes, records: bytes, rest: bytes) -> None:
    assert_same_again(header + records + rest)
    assert_same_again(header + records + rest, Options(raw_ids=True))


# ---- gzip


@pytest.mark.parametrize("level", [0, 1, 6, 9])
def test_gzip_of_zlib(level: int) -> None:
    data = (CORPUS / "valid/all-roots-102-id8.hprof").read_bytes()
    text = assert_same_again(gzip.compress(data, level))
    assert text.startswith("gzip ")
    assert "root-sticky-class @Object" in text
    assert not re.search(r"\braw\b", text)


def test_members_as_hotspot_writes_them() -> None:
    data = (CORPUS / "valid/all-roots-102-id8.hprof").read_bytes()
    comment = struct.pack("<HBBIBB", 0x8B1F, 8, 16, 0, 0, 0) + b"HPROF BLOCKSIZE=100\0"
    members = [gzip.compress(data[at : at + 100], mtime=0) for at in range(0, len(data), 100)]
    packed = comment + members[0][10:] + b"".join(members[1:])
    text = assert_same_again(packed)
    assert len(re.findall(r"^  member 100 ", text, re.MULTILINE)) == len(data) // 100
    assert 'comment "HPROF BLOCKSIZE=100"' in text


def test_broken_gzip() -> None:
    data = (CORPUS / "valid/all-roots-102-id8.hprof").read_bytes()
    packed = gzip.compress(data, mtime=0)
    for size in range(len(packed)):
        assert_same_again(packed[:size])
    for at in range(len(packed)):
        assert_same_again(packed[:at] + bytes([packed[at] ^ 1 << at % 8]) + packed[at + 1 :])


def test_what_can_be_inflated_is_told() -> None:
    data = (CORPUS / "valid/all-roots-102-id8.hprof").read_bytes() * 2
    packed = bytearray(gzip.compress(data, 0))
    packed[400] ^= 1  # within a stored block
    assert "root-sticky-class @Object" in assert_same_again(bytes(packed))
    assert "class-dump @Object" in assert_same_again(gzip.compress(data, 0)[:300])


def test_gzip_in_gzip() -> None:
    packed = b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 1)
    for _ in range(7):
        packed = gzip.compress(packed, mtime=0)
        assert_same_again(packed)


def test_many_small_members_take_linear_time() -> None:
    packed = gzip.compress(b"", mtime=0) * 20_000
    assert text_of(packed).count("\n") < 10


# ---- readable


@pytest.mark.parametrize(
    "entry", [entry for entry in SMALL if not name(entry).startswith(("invalid/", "warning/", "several/"))], ids=name
)
def test_sound_dumps_need_no_raw_bytes(entry: Entry) -> None:
    source = (CORPUS / entry["text"]).read_text(encoding="utf-8")
    assert len(re.findall(r"\braw\b", text_of(read(entry)))) <= len(re.findall(r"\braw\b", source))


def test_symbols_and_comments() -> None:
    text = """
hprof "JAVA PROFILE 1.0.2" id-size 4 time 2026-01-01T00:00:00Z
id $Object 0xa0000001
id @Object 0x50000001
utf8 $Object "java/lang/Object"
utf8 $1 "[I"
utf8 $2 "a \\"name\\"\\n"
utf8 $3 "other/Object"
load-class serial 1 class @Object name $Object
load-class serial 2 class @int name $1
load-class serial 3 class @other name $3
segment {
  class-dump @Object super null {
    static $2 float 0.5
    field $2 object
  }
  class-dump @other super @Object
  instance-dump @x class @other [ object @y ]
  primitive-array-dump @y type int [ -1 0 * 5 ]
}
end
"""
    assert text_of(assemble(text).file.to_bytes()).replace("        #", " #").splitlines() == [
        'hprof "JAVA PROFILE 1.0.2" id-size 4 time 2026-01-01T00:00:00Z # 0x0',
        "id $Object 0xa0000001",
        'utf8 $Object "java/lang/Object" # 0x1f',
        'utf8 $int.array "[I" # 0x3c',
        'utf8 $s1 "a \\"name\\"\\n" # 0x4b',
        'utf8 $other.Object "other/Object" # 0x61',
        "id @Object 0x50000001",
        'load-class serial 1 class @Object name $Object # 0x7a "java/lang/Object"',
        'load-class serial 2 class @int.array name $int.array # 0x93 "[I"',
        'load-class serial 3 class @other.Object name $other.Object # 0xac "other/Object"',
        "segment { # 0xc5",
        '  class-dump @Object super null { # 0xce "java/lang/Object"',
        '    static $s1 float 0.5 # 0xf7 "a \\"name\\"\\n"',
        '    field $s1 object # 0x102 "a \\"name\\"\\n"',
        "  }",
        '  class-dump @other.Object super @Object # 0x107 "other/Object"',
        '  instance-dump @a1 class @other.Object [ object @a2 ] # 0x132 (a \\"name\\"\\n)',
        "  primitive-array-dump @a2 type int [ -1 0 * 5 ] # 0x147",
        "}",
        "end # 0x16d",
    ]


def test_comments_are_never_faults() -> None:
    """A comment `# RULE-ID: why` would be one."""
    text = 'hprof "JAVA PROFILE 1.0.2" id-size 8 time 1\nutf8 $a "STR-001: x"\nload-class serial 1 class @a name $a\n'
    text += "segment {\nclass-dump @a super null {\nfield $a int\n}\ninstance-dump @b class @a [ int 1 ]\n}\nend\n"
    for offsets in (False, True):
        for raw_ids in (False, True):
            assert_same_again(assemble(text).file.to_bytes(), Options(offsets, raw_ids))


def test_offsets_are_where_things_are() -> None:
    """Those of the comments are those at which the assembler puts the statements."""
    for entry in SMALL[::7]:
        text = text_of(read(entry))
        if text.startswith(("gzip", "cut", "raw")):
            continue
        spots: dict[int, int] = {}
        for spot in assemble(text).spots:
            spots.setdefault(spot.line, spot.offset)
        for line, content in enumerate(text.split("\n"), 1):
            found = re.search(r"        # 0x([0-9a-f]+)", content)
            if found:
                assert int(found[1], 16) == spots[line], (entry["file"], content)


def test_many_objects_are_numbers() -> None:
    """Symbols for all of them would hide more than they show."""
    text = 'hprof "JAVA PROFILE 1.0.2" id-size 8 time 1\nutf8 $A "A"\nload-class serial 1 class @A name $A\n'
    start = assemble(text).file.to_bytes()
    for count in (MOST_OBJECTS, MOST_OBJECTS + 1):
        objects = b"".join(struct.pack(">BQIQI", 0x21, 1 + at, 0, 0x300008, 0) for at in range(count))
        lines = text_of(start + RECORD_HEADER.pack(0x1C, 0, len(objects)) + objects).splitlines()
        symbol = "@a2" if count == MOST_OBJECTS else "0x2"
        assert [line for line in lines if line.startswith(f"  instance-dump {symbol} class @A ")]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("utf8 1 length 20 cut 5", ["utf8 length 20 cut 5 null"]),
        ('utf8 1 "abc" length 20', ['utf8 length 20 $abc "abc"']),
        ("trace serial 1 frames 9 [ 5 ] extra 0xffff", ["trace extra 0xffff serial 1 frames 9 [ 0x5 ]"]),
        ("heap-summary cut 1", ["heap-summary cut 1"]),
        ("end extra 0x00", ["end extra 0x00"]),
        ("record 0x77 {\nraw 0x01\n}", ["record 0x77 {", "  raw 0x01", "}"]),
        (
            "cpu-samples samples 9 {\nsample samples 1 trace 1\n}",
            ["cpu-samples samples 9 {", "  sample samples 1 trace 1", "}"],
        ),
        (
            "segment {\nprimitive-array-dump 0x300008 elements 9 type int [ 1 2 ]\n}",
            ["segment {", "  primitive-array-dump @a1 elements 9 type int [ 1 2 ]", "}"],
        ),
        (
            "segment {\nroot-unknown 0x300008\nraw 0x55\nroot-unknown 0x300008\n}",
            ["segment {", "  root-unknown @a1", "  raw 0x55", "  root-unknown @a1", "}"],
        ),
        (
            "segment {\nclass-dump 0x300008 super null {\nconstant 1 0 0x00112233\nstatic 5 int 7\n}\n}",
            [
                *("segment {", "  class-dump @a1 super null {"),
                *("    constant 1 0 0x00112233", "    static 0x5 int 7", "  }", "}"),
            ],
        ),
        (
            "segment {\nclass-dump 0x300008 super null\ncut 14\n}",
            ["segment {", "  class-dump 0x300008 super null", "  cut 14", "}"],
        ),
    ],
)
def test_faults_are_said_in_words(body: str, lines: list[str]) -> None:
    header = 'hprof "JAVA PROFILE 1.0.2" id-size 8 time 1\n'
    data = assemble(header + body).file.to_bytes()
    written = assert_same_again(data, Options(offsets=False)).splitlines()
    assert [line for line in written if not line.startswith("id ")][1:] == lines


# ---- as a program

PROGRAM = [sys.executable, "-m", "hprof_corpus.disassembler"]


def run(*arguments: str | Path, data: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*PROGRAM, *map(str, arguments)], input=data, capture_output=True, check=False)


def test_files_and_pipes(tmp_path: Path) -> None:
    dump, text = CORPUS / "either/agent-style.hprof", tmp_path / "text"
    assert run(dump, "-o", text).returncode == 0
    expected = text.read_bytes()
    assert expected.decode() == text_of(dump.read_bytes())
    assert run(dump).stdout == run("-", data=dump.read_bytes()).stdout == expected
    assert run("-", data=b"").stdout == b""
    assert b"#" not in run(dump, "--no-offsets", "--raw-ids").stdout.replace(b'# "', b"").replace(b"# (", b"")
    assert b"@" not in run(dump, "--raw-ids").stdout
    assembled = [sys.executable, "-m", "hprof_corpus.assembler", "-"]
    assert subprocess.run(assembled, input=expected, capture_output=True).stdout == dump.read_bytes()


def test_exit_status(tmp_path: Path) -> None:
    dump = CORPUS / "either/agent-style.hprof"
    assert run("--help").returncode == run("--version").returncode == 0
    assert run().returncode == run("--nonsense", dump).returncode == 2
    for arguments in ((tmp_path / "none",), (tmp_path,), (dump, "-o", tmp_path / "none" / "text")):
        failed = run(*arguments)
        assert (failed.returncode, failed.stdout) == (3, b"")
        assert failed.stderr.startswith(b"hprof-text: ")
    if Path("/dev/full").exists():
        assert run(dump, "-o", "/dev/full").returncode == 3


def test_a_reader_that_goes_away_ends_it_quietly(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    dump.write_bytes(b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 1) + RECORD_HEADER.pack(0x2C, 0, 0) * 100_000)
    with subprocess.Popen([*PROGRAM, dump], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None and program.stderr is not None
        program.stdout.read(100)
        program.stdout.close()
        assert program.stderr.read() == b""
        assert program.wait() == 0


def test_what_is_read_is_not_overwritten(tmp_path: Path) -> None:
    """By neither program, under no name."""
    dump, link = tmp_path / "dump", tmp_path / "link"
    link.symlink_to(dump)
    for module in ("disassembler", "assembler"):
        dump.write_text("raw 0x01")
        program = [sys.executable, "-m", f"hprof_corpus.{module}", str(dump)]
        refused = [subprocess.run([*program, "-o", str(name)], capture_output=True) for name in (dump, link)]
        with dump.open("ab") as file:
            refused.append(subprocess.run(program, stdout=file, stderr=subprocess.PIPE))
        assert [one.returncode for one in refused] == [2] * 3
        assert all(b"that is read would be overwritten" in one.stderr for one in refused)
        assert dump.read_text() == "raw 0x01"


def test_a_pipe_has_no_holes(tmp_path: Path) -> None:
    text, dump = tmp_path / "text", tmp_path / "dump"
    text.write_text("raw 0x00 * 3000000 0x01")
    program = [sys.executable, "-m", "hprof_corpus.assembler", str(text)]
    assert subprocess.run([*program, "-o", str(dump)]).returncode == 0
    assert len(dump.read_bytes()) == 3_000_001
    for arguments in ([], ["-o", "/dev/stdout"]):
        done = subprocess.run([*program, *arguments], capture_output=True)
        assert (done.returncode, done.stdout) == (0, dump.read_bytes())


@pytest.mark.parametrize("module", ["disassembler", "assembler"])
def test_standard_output_that_is_closed(module: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("raw 0x01")
    program = [sys.executable, "-m", f"hprof_corpus.{module}", str(tmp_path / "text")]
    done = subprocess.run(program, stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1))
    assert done.returncode == 3
    assert done.stderr.endswith(b": standard output: Bad file descriptor\n")


@pytest.mark.parametrize("module", ["disassembler", "assembler"])
def test_standard_error_that_is_closed(module: str, tmp_path: Path) -> None:
    """The status is the same, and no message gets into the file."""
    (tmp_path / "text").write_text("raw 0x01")
    program = [sys.executable, "-m", f"hprof_corpus.{module}"]
    for arguments, status in (([tmp_path / "none"], 3), ([tmp_path / "text", "-o", tmp_path / "out"], 0), ([], 2)):
        done = subprocess.run([*program, *arguments], stdout=subprocess.PIPE, preexec_fn=lambda: os.close(2))
        assert (done.returncode, done.stdout) == (status, b"")
    assert len((tmp_path / "out").read_bytes()) in (1, len(b'raw "raw 0x01"        # 0x0\n'))


@pytest.mark.parametrize("module", ["disassembler", "assembler"])
def test_a_file_has_its_name_when_it_is_complete(module: str, tmp_path: Path) -> None:
    """A full disk: what was there before stays, under whatever name; nothing else is left over."""
    text, real, link = tmp_path / "text", tmp_path / "real", tmp_path / "link"
    text.write_text("raw 0xff01 * 3000000")
    if module == "disassembler":
        text.write_bytes(bytes(range(256)) * 20000)
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    program = [sys.executable, "-m", f"hprof_corpus.{module}", str(text), "-o", str(link)]
    limits = (resource.RLIMIT_FSIZE, (5_500_000, 5_500_000))
    done = subprocess.run(program, stderr=subprocess.PIPE, preexec_fn=lambda: resource.setrlimit(*limits))
    assert (done.returncode, real.read_text()) == (3, "old"), done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real", "text"]
    assert subprocess.run(program).returncode == 0
    assert link.is_symlink()
    assert real.stat().st_size > 5_500_000
    assert real.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real", "text"]


def test_a_file_that_becomes_shorter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the file is read, this is an error; the bytes that were read stay as they are."""
    dump = tmp_path / "dump"
    dump.write_bytes(bytes(3 << 20))
    data = open_bytes(str(dump))
    os.truncate(dump, 0)
    assert data == bytes(3 << 20)

    def copy(source: BinaryIO, target: BinaryIO, _: int) -> None:
        target.write(source.read(1 << 20))
        os.truncate(dump, 1 << 20)
        target.write(source.read())

    dump.write_bytes(bytes(3 << 20))
    monkeypatch.setattr("shutil.copyfileobj", copy)
    with pytest.raises(OSError, match="became shorter"):
        open_bytes(str(dump))


def test_header_alone_or_less() -> None:
    header = read_header((CORPUS / "valid/all-roots-102-id8.hprof").read_bytes())
    assert header is not None
    whole = b"JAVA PROFILE 1.0.1\0" + struct.pack(">IQ", 4, 0x0102030405060708)
    for size in range(1, len(whole) + 1):
        text = assert_same_again(whole[:size])
        assert text.startswith("hprof ")
        assert not re.search(r"\braw\b", text)


def test_text_that_is_no_text(tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.write_bytes(b"\xff\xfe")
    program = [sys.executable, "-m", "hprof_corpus.assembler"]
    assert subprocess.run([*program, bad], capture_output=True).returncode == 1
    assert subprocess.run([*program, tmp_path / "none"], capture_output=True).returncode == 3
