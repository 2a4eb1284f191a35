"""--repair undoes what a transfer has done to a dump, where that can be undone exactly."""

import gzip
import json
import os
import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from dumps import OBJECT, dump, instance, object_array, utf8
from some_cases import any_one
from tool import SOURCE, report_one, run

from hprof_conformance import gold

HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n\r\n"
TRANSFERS: dict[str, Callable[[bytes], bytes]] = {
    "crlf": lambda data: data.replace(b"\n", b"\r\n"),
    "latin1": lambda data: data.decode("latin-1").encode(),
    "text-before": lambda data: HTTP + data,
    "crlf, latin1": lambda data: data.replace(b"\n", b"\r\n").decode("latin-1").encode(),
    "text-before, crlf": lambda data: HTTP + data.replace(b"\n", b"\r\n"),
    "text-before, crlf, latin1": lambda data: HTTP + data.replace(b"\n", b"\r\n").decode("latin-1").encode(),
}
CAUSES = {
    "crlf": "transferred as text: each LF became CR LF, which can be undone exactly",
    "latin1": "transferred as text: each byte from 128 on became a character of Latin-1 in UTF-8, which can be undone exactly",
    "text-before": "text precedes the dump: a message of the tool that wrote it, or the headers of a download",
}
REAL = ["jdk8", "jdk17", "jdk25", "agent8", "sa17"]


def undone(out: str) -> set[str]:
    found = json.loads(out)
    return set(found["undone"])


@pytest.mark.parametrize(("transfer", "name"), [case for how in TRANSFERS for case in any_one([(how, name) for name in REAL])])
def test_a_transfer_is_undone_exactly(transfer: str, name: str, tmp_path: Path) -> None:
    """From a file, and from a pipe, and compressed after the transfer."""
    data = gold.read(SOURCE, name)
    changed = TRANSFERS[transfer](data)
    (tmp_path / "changed").write_bytes(changed)
    (tmp_path / "changed.gz").write_bytes(gzip.compress(changed, 1))
    for arguments, stdin in ((["changed"], b""), (["changed.gz"], b""), (["-"], changed)):
        done = run("--format", "json", "--repair", "copy", *arguments, cwd=tmp_path, stdin=stdin)
        assert done.status == 0
        assert (tmp_path / "copy").read_bytes() == data
        assert undone(done.out) == set(transfer.split(", "))


@pytest.mark.parametrize("name", any_one(REAL))
def test_what_went_the_same_way_twice_is_undone(name: str, tmp_path: Path) -> None:
    data = gold.read(SOURCE, name)
    twice = TRANSFERS["latin1"](TRANSFERS["latin1"](data))
    (tmp_path / "changed").write_bytes(twice)
    (tmp_path / "changed.gz").write_bytes(gzip.compress(TRANSFERS["latin1"](twice), 1))
    (tmp_path / "before").write_bytes(TRANSFERS["latin1"](TRANSFERS["text-before, crlf, latin1"](data)))
    (tmp_path / "lines").write_bytes(TRANSFERS["crlf"](TRANSFERS["crlf"](data)))
    (tmp_path / "lines before").write_bytes(TRANSFERS["latin1"](HTTP + TRANSFERS["crlf"](TRANSFERS["crlf"](data))))
    ways = {"before": {"text-before", "crlf", "latin1"}, "lines": {"crlf"}, "lines before": {"text-before", "crlf", "latin1"}}
    for name in ("changed", "changed.gz", *ways):
        done = run("--format", "json", "--repair", "copy", name, cwd=tmp_path)
        assert (done.status, (tmp_path / "copy").read_bytes()) == (0, data), name
        assert undone(done.out) == ways.get(name, {"latin1"})


@pytest.mark.parametrize("transfer", CAUSES)
def test_the_check_says_what_happened_and_what_to_do(transfer: str, tmp_path: Path) -> None:
    (tmp_path / "changed").write_bytes(TRANSFERS[transfer](gold.read(SOURCE, "jdk17")))
    assert report_one("--profile", "auto", "changed", cwd=tmp_path)["hint"] == CAUSES[transfer]
    out = run("changed", cwd=tmp_path).out
    word = "fix" if transfer == "crlf" else "try"  # objects were read all the same
    assert f"  likely: {CAUSES[transfer]}\n  {word}: hprof-validate --repair fixed.hprof changed\n" in out


MIB = 1 << 20


def as_hotspot(data: bytes) -> bytes:
    """A member for each MiB."""
    return b"".join(gzip.compress(data[at : at + MIB], 1) for at in range(0, len(data), MIB))


@pytest.mark.parametrize("pack", [lambda data: gzip.compress(data, 1), as_hotspot], ids=["one member", "members"])
@pytest.mark.parametrize("transfer", TRANSFERS)
def test_a_transfer_of_a_gzip_file_is_undone_exactly(transfer: str, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """From a file, and from a pipe, and where the dump was transferred, too, before it was compressed."""
    data = gold.read(SOURCE, "jdk17")
    changed = TRANSFERS[transfer](pack(data))
    (tmp_path / "changed").write_bytes(changed)
    (tmp_path / "twice").write_bytes(TRANSFERS[transfer](pack(TRANSFERS["crlf"](data))))
    for arguments, stdin in ((["changed"], b""), (["-"], changed), (["twice"], b"")):
        done = run("--format", "json", "--repair", "copy", *arguments, cwd=tmp_path, stdin=stdin)
        assert done.status == 0, done.err
        assert (tmp_path / "copy").read_bytes() == data
        assert undone(done.out) == {*transfer.split(", "), *(["crlf"] if arguments == ["twice"] else [])}


@pytest.mark.parametrize("transfer", CAUSES)
def test_a_gzip_file_that_was_transferred_is_named(transfer: str, tmp_path: Path) -> None:
    (tmp_path / "changed").write_bytes(TRANSFERS[transfer](as_hotspot(gold.read(SOURCE, "jdk17"))))
    out = run("changed", cwd=tmp_path).out
    assert f"  likely: {CAUSES[transfer]}\n  try: hprof-validate --repair fixed.hprof changed\n" in out
    found = [
        report_one("--profile", "auto", *arguments, stdin=stdin, cwd=tmp_path)
        for arguments, stdin in ((["changed"], b""), (["-"], (tmp_path / "changed").read_bytes()))
    ]
    assert [one["hint"] for one in found] == 2 * [CAUSES[transfer]]


def test_a_gzip_file_is_undone_that_was_damaged_before_the_transfer(tmp_path: Path) -> None:
    """The copy then is that of the damaged file, read once."""
    whole = gzip.compress(gold.read(SOURCE, "jdk17"), 1)
    at = len(whole) * 5 // 6
    for damaged in (whole[:at], whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :]):
        (tmp_path / "changed").write_bytes(TRANSFERS["crlf"](damaged))
        assert run("--repair", "copy", "changed", cwd=tmp_path).status == 0
        assert run("--repair", "other", "-", cwd=tmp_path, stdin=damaged).status == 0
        assert (tmp_path / "copy").read_bytes() == (tmp_path / "other").read_bytes()


def stored(data: bytes) -> bytes:
    """A gzip file whose bytes are those of the dump."""
    return gzip.compress(data, 0)


def test_nothing_is_undone_in_a_gzip_file_that_was_not_transferred(tmp_path: Path) -> None:
    """Each LF of the file follows a CR, in strings. It is valid; or its checksum is wrong, and it can be read twice."""
    lines = b"".join(b"\x01\0\0\0\0\0\0\0\x0c" + (0x1000 * i).to_bytes(8, "big") + b"ab\r\n" for i in range(1, 50))
    whole = dump(instance(0x20, OBJECT))
    data = whole[:31] + lines + whole[31:]
    packed = next(one for one in (b"\x1f\x8b\x08\0" + n.to_bytes(4, "big") + stored(data)[8:] for n in range(99)) if b"\n" in one)
    assert packed.replace(b"\r\n", b"").count(b"\n") == 0
    (tmp_path / "dump").write_bytes(packed)
    (tmp_path / "wrong").write_bytes(packed[:-8] + bytes([packed[-8] ^ 1]) + packed[-7:])
    for arguments, stdin in ((["dump"], b""), (["-"], packed), (["wrong"], b"")):
        done = run("--format", "json", "--repair", "copy", *arguments, cwd=tmp_path, stdin=stdin)
        assert (done.status, undone(done.out)) == (0, set()), done.err
        assert (tmp_path / "copy").read_bytes() == data


def test_a_dump_that_was_compressed_twice_is_named(tmp_path: Path) -> None:
    (tmp_path / "twice").write_bytes(gzip.compress(gzip.compress(gold.read(SOURCE, "jdk17"), 1), 1))
    out = run("twice", cwd=tmp_path).out
    assert "likely: the dump was compressed twice: gunzip it once\n" in out
    assert "--repair" not in out


@pytest.mark.parametrize("kind", ["crlf", "latin1", "text-before"])
def test_made_dumps(kind: str, tmp_path: Path) -> None:
    if "HPROF_GEN" not in os.environ:
        pytest.skip("needs hprof-gen")
    seed = str(random.randrange(1 << 32))
    print(f"seed {seed}")
    for damage in ([], ["--damage", kind]):
        subprocess.run(
            [
                os.environ["HPROF_GEN"],
                "--like",
                "hotspot",
                "--objects",
                "3000",
                "--seed",
                seed,
                *damage,
                "-o",
                f"dump{len(damage)}",
            ],
            cwd=tmp_path,
            check=True,
        )
    assert run("--repair", "copy", "dump2", cwd=tmp_path).status == 0
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "dump0").read_bytes()


def test_what_is_cut_after_a_transfer_is_undone_too(tmp_path: Path) -> None:
    """The copy then is that of the dump cut at the same place."""
    data = gold.read(SOURCE, "jdk17")
    data = data[: len(data) * 4 // 5]
    for transfer in ("crlf", "latin1"):
        for name, content in (("changed", TRANSFERS[transfer](data)), ("cut", data)):
            (tmp_path / name).write_bytes(content)
            assert run("--repair", f"{name}.copy", name, cwd=tmp_path).status == 0
        assert (tmp_path / "changed.copy").read_bytes() == (tmp_path / "cut.copy").read_bytes()


SEVEN_BITS = bytes(range(128)) * 2


@pytest.mark.parametrize("name", any_one(REAL))
def test_what_follows_from_a_transfer_is_one_line(name: str, tmp_path: Path) -> None:
    """Of hundreds of findings. -v lists them, and so do the formats for programs."""
    data = gold.read(SOURCE, name)
    for changed in (TRANSFERS["crlf"](data), TRANSFERS["latin1"](data), data.translate(SEVEN_BITS)):
        (tmp_path / "changed").write_bytes(changed)
        found = report_one("--profile", "auto", "changed", cwd=tmp_path)
        lines = run("changed", cwd=tmp_path).out.splitlines()
        assert len(lines) <= 8 and len([one for one in lines if ": error[" in one or ": warning[" in one]) == 1, lines
        more = found["errors"] - 1
        if more + found["warnings"]:
            numbers = [int(n.replace(",", "")) for n in re.findall(r"[0-9,]*[0-9]", lines[1].partition(":")[0])]
            assert lines[1].startswith("  and ") and numbers == [n for n in (more, found["warnings"]) if n], lines
        assert len(run("-v", "changed", cwd=tmp_path).out.splitlines()) > len(lines)


@pytest.mark.parametrize("name", any_one(REAL))
def test_replaced_bytes_are_lost(name: str, tmp_path: Path) -> None:
    """There is no command that brings them back, so none is named."""
    (tmp_path / "changed").write_bytes(gold.read(SOURCE, name).decode("utf-8", "replace").encode())
    done = run("changed", cwd=tmp_path)
    assert "replaced by U+FFFD (EF BF BD) and are lost; transfer the dump again, in binary mode" in done.out
    assert "--repair" not in done.out and done.out.count(": error[") == 1
    assert run("--repair", "copy", "changed", cwd=tmp_path).status == 1


def test_a_truncated_dump_whose_strings_have_replacement_characters_is_repaired(tmp_path: Path) -> None:
    """Its bytes are UTF-8 by chance."""
    for count in range(4, 12):
        data = dump(*[instance(0x20 + 8 * n, OBJECT) for n in range(count)], timestamp=0x10101010101)
        data = data[:31] + utf8(0x70, "\ufffd\ufffd\ufffd") + data[31:]
        if data == data.decode("utf-8", "ignore").encode():
            break
    else:
        pytest.fail("no such dump")
    (tmp_path / "cut").write_bytes(data[:-30])
    assert "  fix: hprof-validate --repair fixed.hprof cut\n" in run("cut", cwd=tmp_path).out
    assert run("--repair", "copy", "cut", cwd=tmp_path).status == 0


@pytest.mark.parametrize(
    ("change", "what", "why"),
    [
        (lambda byte: byte & 0x7F, "the highest bit of each byte was cleared", "cleared the highest bit of each byte"),
        (lambda byte: byte if byte < 0x80 else 0x3F, "each byte from 128 on became '?'", "by '?'"),
    ],
)
@pytest.mark.parametrize("name", any_one(REAL))
@pytest.mark.parametrize("pack", [lambda data: data, as_hotspot], ids=["plain", "gzip"])
def test_lost_bits_cannot_be_undone(
    pack: Callable[[bytes], bytes], name: str, change: Callable[[int], int], what: str, why: str, tmp_path: Path
) -> None:
    data = bytes(map(change, pack(gold.read(SOURCE, name))))
    (tmp_path / "changed").write_bytes(data)
    out = run("changed", cwd=tmp_path).out
    assert f"likely: transferred as text: {what} and is lost; transfer the dump again" in out
    assert "--repair" not in out
    for arguments, stdin in ((["changed"], b""), (["-"], data)):
        done = run("--repair", "copy", *arguments, cwd=tmp_path, stdin=stdin)
        assert done.status == 1
        assert f"{why}, which cannot be undone" in done.err
        assert not (tmp_path / "copy").exists()


def test_nothing_is_undone_in_a_dump_that_was_not_transferred(tmp_path: Path) -> None:
    """Strings in which each LF follows a CR, or all characters are from Latin-1, in a valid dump and in one with an error."""
    lines = b"".join(b"\x01\0\0\0\0\0\0\0\x0c" + (0x100 + i).to_bytes(8, "big") + b"ab\r\n" for i in range(50))
    words = "".join(chr(0xC0 + i) for i in range(40)).encode()
    string = b"\x01\0\0\0\0" + (8 + len(words)).to_bytes(4, "big") + (0x900).to_bytes(8, "big") + words
    for text in (lines, string, lines + string):
        for heap in ([instance(0x20, OBJECT)], [instance(0x20, OBJECT), instance(0x20, OBJECT)]):
            whole = dump(*heap)
            data = whole[:31] + text + whole[31:]
            (tmp_path / "dump").write_bytes(data)
            for arguments, stdin in ((["dump"], b""), (["-"], data)):
                done = run("--format", "json", "--repair", "copy", *arguments, cwd=tmp_path, stdin=stdin)
                assert (done.status, undone(done.out)) == (0, set())
                copy = dump(instance(0x20, OBJECT))
                assert (tmp_path / "copy").read_bytes() == copy[:31] + text + copy[31:]


def test_a_transfer_that_lost_something_is_not_undone(tmp_path: Path) -> None:
    """One LF without CR after the first 64 KiB: some other program has changed the file."""
    data = dump(*(object_array(0x1000 + 8 * i, 0x18, [0x0A0A]) for i in range(10000)))
    changed = TRANSFERS["crlf"](data)
    half = len(changed) // 2
    (tmp_path / "changed").write_bytes(changed[:half] + changed[half:].replace(b"\r\n", b"\n"))
    done = run("--format", "json", "--repair", "copy", "changed", cwd=tmp_path)
    assert undone(done.out) == set() if done.status == 0 else done.status == 1
