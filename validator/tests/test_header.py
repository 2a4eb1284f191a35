"""Files that are not dumps: the finding names the kind of the file."""

import base64
import binascii
import gzip
import io
import quopri
import re
import struct
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from dumps import VALID
from tool import SOURCE, report_one, run

HTML = "an HTML page: perhaps a login or error page saved in place of the dump"
AGENT_TEXT = "text of the HPROF agent ({}), which 'hprof-ascii check' checks"


def zip_file() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        file.writestr("heap.hprof", VALID)
    return made.getvalue()


def tar_file(form: int) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=form) as file:
        member = tarfile.TarInfo("heap.hprof")
        member.size = len(VALID)
        file.addfile(member, io.BytesIO(VALID))
    return made.getvalue()


JSON = "JSON: perhaps an error message saved in place of the dump"

# The first bytes of such files, longer than the validator needs, and the kind that it names.
KINDS = {
    "7z": (b"7z\xbc\xaf\x27\x1c\x00\x04", "a 7z file: '7z x' unpacks it"),
    "lz4": (b"\x04\x22\x4d\x18\x64\x40", "an lz4 file: 'lz4 -dc' decompresses it"),
    "lz4-legacy": (b"\x02\x21\x4c\x18\x10\x00\x00\x00", "an lz4 file: 'lz4 -dc' decompresses it"),
    "zlib-1": (b"\x78\x01\x00\x00", "zlib data: inflate it first"),
    "zlib-2": (b"\x78\x5e\x00\x00", "zlib data: inflate it first"),
    "zlib-6": (b"\x78\x9c\x00\x00", "zlib data: inflate it first"),
    "zlib-9": (b"\x78\xda\x00\x00", "zlib data: inflate it first"),
    "minidump": (b"MDMP\x93\xa7\x00\x00", "a minidump of Windows, not a heap dump of Java"),
    "git-lfs": (
        b"version https://git-lfs.github.com/spec/v1\n",
        "a pointer of Git LFS in place of the file: 'git lfs pull' fetches it",
    ),
    "javacore": (
        b"0SECTION       TITLE subcomponent dump routine\n",
        "a javacore of OpenJ9, text about threads and memory, not a heap dump",
    ),
    "openj9-text": (b"// Version: JRE 1.8.0\n", "a heap dump of OpenJ9 in its text format"),
    "http": (b"HTTP/1.1 404 Not Found\r\n", "an HTTP answer with its headers"),
    "agent-101": (
        b"JAVA PROFILE 1.0.1, created Mon Nov 23 10:00:00 2026\n\n\nHeader for -agentlib:hprof",
        AGENT_TEXT.format("format=a"),
    ),
    "agent-102": (
        b"JAVA PROFILE 1.0.2, created Mon Nov 23 10:00:00 2026\n\n\nHeader for -agentlib:hprof",
        AGENT_TEXT.format("format=a"),
    ),
    "agent-cpu-old": (b"count callee caller time\n3 java.lang.Object.<init>()V", AGENT_TEXT.format("cpu=old")),
    "agent-trace": (b"TRACE 300000:\n\tjava.lang.Object.<init>(Object.java:20)\n", AGENT_TEXT.format("cpu=old")),
    "agent-monitor": (b"WAIT: MONITOR Ljava/lang/ref/Reference$Lock;\n", AGENT_TEXT.format("cpu=old")),
    "zip": (zip_file(), "a zip or jar file: 'unzip' unpacks it"),
    "xz": (b"\xfd7zXZ\0\0\4\xe6\xd6\xb4\x46\2\0\x21\1\x16\0\0\0", "an xz file: 'xz -dc' decompresses it"),
    "zstd": (b"\x28\xb5\x2f\xfd\x04\x00\x09\x00\x00", "a zstd file: 'zstd -dc' decompresses it"),
    "bzip2": (b"BZh91AY&SY\0\0\0\0", "a bzip2 file: 'bzip2 -dc' decompresses it"),
    "class": (b"\xca\xfe\xba\xbe\0\0\0\x34\0\x10", "a class file"),
    "core": (b"\x7fELF\2\1\1\0\0\0\0\0\0\0\0\0\4\0\x3e\0", "an ELF file, as a core dump is"),
    "jfr": (b"FLR\0\0\2\0\1\0\0\0\0\0\1\0\0", "a recording of Flight Recorder"),
    "phd": (b"\0\x12portable heap dump\0\0\0\6", "a portable heap dump (PHD) of OpenJ9"),
    "base64-gzip": (base64.encodebytes(gzip.compress(VALID)), "base64 text of a gzip file: 'base64 -d' decodes it"),
    "base64-dump": (base64.encodebytes(VALID), "base64 text of a dump: 'base64 -d' decodes it"),
    "quoted-printable": (quopri.encodestring(VALID), "quoted-printable text of a dump: decode it first"),
    "quoted-printable-101": (b"JAVA PROFILE 1.0.1=00=00=00=00=04", "quoted-printable text of a dump: decode it first"),
    "uu": (b"begin 644 heap.hprof\n" + binascii.b2a_uu(VALID[:45]), "uuencoded text: 'uudecode' decodes it"),
    "uu-base64": (b"begin-base64 600 heap.hprof\n" + base64.encodebytes(VALID), "uuencoded text: 'uudecode' decodes it"),
    "hex": (VALID.hex().encode(), "hexadecimal text of a dump: 'xxd -r -p' decodes it"),
    "xxd": (b"00000000: 4a41 5641 2050 524f 4649 4c45 2031 2e30", "hexadecimal text of a dump: 'xxd -r' decodes it"),
    "hexdump": (b"00000000  4a 41 56 41 20 50 52 4f  46 49 4c 45 20 31 2e 30", "hexadecimal text of a dump, as hexdump prints it"),
    "utf-16": (
        b"\xff\xfe" + VALID.decode("cp437").encode("utf-16-le"),
        "UTF-16, as '>' of PowerShell writes: bytes of the dump are lost",
    ),
    "html-doctype": (b'<!DOCTYPE html>\n<html lang="en">\n<head>\n<title>Log in</title>', HTML),
    "html-lower-case": (b"<!doctype html>\n", HTML),
    "html": (b"<html><head><title>502 Bad Gateway</title></head>", HTML),
    "html-upper-case": (b"<HTML><HEAD><TITLE>502 Bad Gateway</TITLE></HEAD>", HTML),
    "html-break": (b"<br />\n<b>Warning</b>:  readfile(): failed to open stream", HTML),
    "json": (b'{"message": "404 Not Found"}', JSON),
    "json-with-mark": (b'\xef\xbb\xbf{"message": "404 Not Found"}', JSON),
    "json-in-lines": (b'{\n  "message": "404 Not Found"\n}\n', JSON),
    "json-array": (b'[{"message": "404 Not Found"}]', JSON),
    "json-array-in-lines": (b'[\n  {"message": "404 Not Found"}\n]\n', JSON),
    "tar-pax": (tar_file(tarfile.PAX_FORMAT), "a tar archive: 'tar -xf' unpacks it"),
    "tar-gnu": (tar_file(tarfile.GNU_FORMAT), "a tar archive: 'tar -xf' unpacks it"),
}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("name", KINDS)
def test_the_kind_of_a_file_is_named(name: str, packed: bool) -> None:
    data, kind = KINDS[name]
    found = report_one("-", stdin=gzip.compress(data) if packed else data)
    (one,) = found["findings"]
    assert (one["rule"], one["offset"], one["found"]) == ("HDR-001", 0, kind)
    assert found["hint"] is None


@pytest.mark.parametrize("text", ["[    0.000000] Linux version 6.1\n", "[main] INFO: started\n"])
def test_the_kind_of_other_files_is_not_guessed(text: str) -> None:
    (one,) = report_one("-", stdin=text.encode())["findings"]
    assert one["rule"] == "HDR-001" and one["found"].startswith(chr(34))


@pytest.mark.parametrize(
    "text",
    [
        KINDS["agent-101"][0] + 200 * b"TRACE 300001:\n\tMain.main(Main.java:3)\n",
        KINDS["agent-101"][0] + 20 * "TRACE 300001:\n\tKäse.größe(Käse.java:3)\n".encode(),
        KINDS["http"][0] + 8 * b"X-Header: value\r\n" + b"\r\nnot found",
    ],
    ids=["ascii", "latin-1", "crlf"],
)
def test_text_that_is_no_dump_was_not_changed_by_a_transfer(text: bytes) -> None:
    found = report_one("-", stdin=text)
    assert found["findings"][0]["rule"] == "HDR-001"
    assert found["hint"] is None


def lz4_file(data: bytes) -> bytes:
    """A frame with one block that is not compressed."""
    return b"\x04\x22\x4d\x18\x60\x40\x82" + struct.pack("<I", len(data) | 1 << 31) + data + bytes(4)


def zstd_file(data: bytes) -> bytes:
    """Likewise."""
    return b"\x28\xb5\x2f\xfd\x00\x58" + struct.pack("<I", len(data) << 3 | 1)[:3] + data


@pytest.mark.parametrize(
    ("pack", "kind"),
    [
        (lz4_file, "an lz4 file: 'lz4 -dc' decompresses it"),
        (zstd_file, "a zstd file: 'zstd -dc' decompresses it"),
        (lambda data: KINDS["zip"][0], KINDS["zip"][1]),
        (lambda data: KINDS["tar-gnu"][0], KINDS["tar-gnu"][1]),
        (lambda data: KINDS["core"][0] + bytes(64) + data, KINDS["core"][1]),
    ],
)
def test_a_dump_within_another_file_does_not_follow_text(pack: Callable[[bytes], bytes], kind: str, tmp_path: Path) -> None:
    """An archive or a compressed file may hold the header as it is. Its bytes are no dump, so no repair is offered or made."""
    (tmp_path / "packed").write_bytes(pack(VALID))
    done = run("packed", cwd=tmp_path)
    assert f"not an HPROF dump: {kind}\n" in done.out
    assert "likely" not in done.out and "--repair" not in done.out
    done = run("--repair", "copy", "packed", cwd=tmp_path)
    assert (done.status, done.err) == (1, f"hprof-validate: packed: not an HPROF dump: {kind}\n")


@pytest.mark.parametrize("head", ["HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", "Dumping heap ...\n"])
def test_text_before_a_gzip_file(head: str, tmp_path: Path) -> None:
    data = head.encode() + gzip.compress(VALID)
    (tmp_path / "answer").write_bytes(data)
    found = report_one("answer", cwd=tmp_path)["findings"][0]["found"]
    command = re.search(rf"; a gzip file begins at offset {len(head)}: '(tail -c \+[0-9]+)' cuts off what precedes it$", found)
    assert command
    rest = subprocess.run([*command[1].split(), "answer"], cwd=tmp_path, capture_output=True, check=True).stdout
    assert report_one("-", stdin=rest)["errors"] == 0


def test_every_row_of_kinds_is_reached() -> None:
    """For each row of kinds[] there is a file above that no earlier row matches."""
    source = (SOURCE / "validator/src/input/file_kind.c").read_text()
    table = re.search(r"\} kinds\[\] = \{\n(.*?)\n    \};", source, re.DOTALL)
    assert table
    rows = re.findall(r'\{"((?:[^"\\]|\\.)*)", (\d+),\s*\{"[^"]*",\s*(?:true|false)\}\}', table[1])
    assert 2 * len(rows) == table[1].count("{")
    starts = [re.sub(rb"\\(x[0-9a-f]{2}|[0-7]{1,3}|n)", unescape, start.encode()).lower() for start, _ in rows]
    assert [len(start) for start in starts] == [int(size) for _, size in rows]
    first = {next((row for row, start in enumerate(starts) if data.lower().startswith(start)), None) for data, _ in KINDS.values()}
    assert first == {*range(len(rows)), None}  # None: "ustar" is not at the start


def unescape(found: re.Match[bytes]) -> bytes:
    code = found[1]
    if code == b"n":
        return b"\n"
    return bytes([int(code[1:], 16) if code.startswith(b"x") else int(code, 8)])
