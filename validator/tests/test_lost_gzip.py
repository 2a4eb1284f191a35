"""A gzip file whose beginning is damaged or lost: --repair finds the first member that can be read."""

import gzip
import io
import os
import random
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from dumps import VALID
from some_cases import any_one
from test_field import HEAPS, read, record_offsets
from test_repair import parts
from tool import report_one, run

MIB = 1 << 20
CAUSE = "the beginning of the gzip file is damaged, or was lost, and the dump follows"
COMMENT = b"HPROF BLOCKSIZE=1048576\0"


def member(data: bytes, flags: int = 0, texts: bytes = b"") -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    header = b"\x1f\x8b\x08" + bytes([flags]) + bytes(6) + texts
    if flags & 2:
        header += struct.pack("<H", zlib.crc32(header) & 0xFFFF)
    return header + packer.compress(data) + packer.flush() + struct.pack("<II", zlib.crc32(data), len(data))


def as_hotspot(data: bytes) -> list[bytes]:
    """Only the first member has a comment."""
    pieces = [data[at : at + MIB] for at in range(0, len(data), MIB)]
    return [member(pieces[0], 0x10, COMMENT), *map(member, pieces[1:])]


PACKED: dict[str, Callable[[bytes], list[bytes]]] = {
    "gzip": lambda data: [member(data, 8, b"heap.hprof\0")],
    "plain": lambda data: [member(data)],
    "hotspot": as_hotspot,
    "all flags": lambda data: [member(data, 0x1F, b"\4\0abcdname\0comment\0")],
}


def wrong_bytes(header: bytes, dice: random.Random) -> list[bytes]:
    """Each fixed byte, wrong in several ways. If the header has no checksum, the last six may be anything."""
    made = []
    for at in range(10):
        for byte in {header[at] ^ 1 << dice.randrange(8), dice.randrange(256), 0, 0xFF} - {header[at]}:
            made.append(header[:at] + bytes([byte]) + header[at + 1 :])
    return made


@pytest.mark.parametrize("how", PACKED)
def test_one_wrong_byte_in_a_header_loses_nothing(how: str, tmp_path: Path) -> None:
    """Of the first member, and of a later one; of a file, and of a pipe, unless a header of up to 64 KB has passed."""
    data, seed = read("jdk17"), random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    members = PACKED[how](data)
    for number in {0, len(members) - 1}:
        for header in any_one(wrong_bytes(members[number][:10], dice)):
            packed = b"".join([*members[:number], header + members[number][10:], *members[number + 1 :]])
            (tmp_path / "damaged").write_bytes(packed)
            for name, stdin in (("damaged", b""), ("-", packed)):
                if name == "-" and header[3] & 4 & ~members[number][3]:
                    continue
                done = run("--repair", "copy", name, cwd=tmp_path, stdin=stdin)
                assert done.status == 0, (header, done.err)
                assert (tmp_path / "copy").read_bytes() == data, (header, done.out)


def objects(data: bytes) -> list[bytes]:
    return [part for part in parts(data) if part[0] in (0x21, 0x22, 0x23)]


@pytest.mark.parametrize("size", [1, 5, 31, 512, 4096, 50_000, None])
@pytest.mark.parametrize("fill", ["zeros", "noise", "lost"])
def test_a_lost_beginning_loses_its_member_alone(fill: str, size: int | None, tmp_path: Path) -> None:
    """`size` bytes, or almost all of the first member."""
    data = read("jdk25")
    members = as_hotspot(data)
    size = size or len(members[0]) - 30
    packed = b"".join(members)
    noise = random.Random(size).randbytes(size)
    packed = {"zeros": bytes(size), "noise": noise, "lost": b""}[fill] + packed[size:]
    (tmp_path / "damaged").write_bytes(packed)
    out = run("damaged", cwd=tmp_path).out
    reports = [report_one("--profile", "auto", *one, cwd=tmp_path, stdin=packed) for one in (["damaged"], ["-"])]
    assert [one["hint"] for one in reports] == 2 * [reports[0]["hint"]]
    assert "  try: hprof-validate --repair fixed.hprof damaged\n" in out
    if size > 1:
        assert reports[0]["hint"] == CAUSE
    copies = []
    for name in ("damaged", "-"):
        assert run("--repair", "copy", name, cwd=tmp_path, stdin=packed).status == 0
        copies.append((tmp_path / "copy").read_bytes())
    if fill == "zeros" and size == 1:  # one wrong byte
        assert copies == [data, data]
    assert copies[0] == copies[1]
    assert next(body for tag, body, _ in record_offsets(data) if tag in HEAPS) > MIB
    assert objects(copies[0]) == objects(data)


def tar_of_gzip() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as file:
        info = tarfile.TarInfo("heap.hprof.gz")
        info.size = len(gzip.compress(VALID))
        file.addfile(info, io.BytesIO(gzip.compress(VALID)))
    return made.getvalue()


def zip_of_gzip() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        file.writestr("heap.hprof.gz", gzip.compress(VALID))
    return made.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        tar_of_gzip(),
        zip_of_gzip(),
        b"\x7fELF\2\1\1" + bytes(57) + gzip.compress(VALID),
        b"\x01\2\3" * 40 + gzip.compress(b"text that is no dump" * 1000),
        b"[main] INFO: " + bytes(range(32, 127)) * 2000,
        bytes(1 << 21),
        os.urandom(1 << 21),
    ],
    ids=["tar", "zip", "elf", "gzip of text", "text", "zeros", "random"],
)
def test_other_files_are_no_gzip_file_that_lost_its_beginning(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(data)
    done = run("other", cwd=tmp_path)
    assert "not an HPROF dump" in done.out and "likely" not in done.out and "--repair" not in done.out
    assert run("--repair", "copy", "other", cwd=tmp_path).status == 1
