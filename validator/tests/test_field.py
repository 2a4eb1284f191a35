"""Dumps as people hold them: is one complete, how much is missing, who wrote it."""

import gzip
import json
import random
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dumps import OBJECT, dump, instance
from some_cases import any_one, some
from tool import SOURCE, run

from hprof_conformance import gold

NAMES = {
    "agent8": "the HPROF agent",
    "jdk8": "HotSpot 8",
    "jdk8-i386": "HotSpot 8",
    "jdk11": "HotSpot 9 to 16",
    "jdk17": "HotSpot 17 to 20",
    "jdk17-gz": "HotSpot 17 to 20",
    "jdk17-i386": "HotSpot 17 to 20",
    "jdk21": "HotSpot 21 to 24",
    "jdk25": "HotSpot 25",
    "jdk25-gz": "HotSpot 25",
    "jdk26": "HotSpot 26 or 27",
    "jdk27": "HotSpot 26 or 27",
    "jdk28": "HotSpot 28 or later",
    "sa11": "the serviceability agent (jhsdb jmap)",
    "sa17": "the serviceability agent (jhsdb jmap)",
    "sa28": "the serviceability agent (jhsdb jmap)",
    "shark-jdk17": "HotSpot, or a copy of its dump",
}
DUMPS = sorted(set(NAMES) - {"shark-jdk17"})  # those that are valid
HEADER, END = 31, 0x2C
HEAPS = (0x0C, 0x1C)
WIDTHS = {4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}


def read(name: str) -> bytes:
    data = gold.read(SOURCE, name)
    return gzip.decompress(data) if name.endswith("-gz") else data


def check(data: bytes, folder: Path, *args: str) -> Any:
    (folder / "dump").write_bytes(data)
    done = run("--profile", "auto", "--format", "json", *args, "dump", cwd=folder)
    return json.loads(done.out)["files"][0]


def check_pipe(data: bytes) -> Any:
    return json.loads(run("--profile", "auto", "--format", "json", "-", stdin=data).out)["files"][0]


# ---- Who wrote it ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", some(sorted(gold.index(SOURCE))))
def test_a_producer_is_recognised_in_a_dump_that_is_cut(name: str, tmp_path: Path) -> None:
    """Never a wrong name. Strings may be a copy of HotSpot's; its version is known once all classes are read."""
    data, right = gold.read(SOURCE, name), NAMES.get(name) or NAMES[gold.index(SOURCE)[name]["producer"].removesuffix("-i386")]
    first = next((body - 9 for tag, body, _ in record_offsets(read(name)) if tag == 0x05), 0)
    for percent in (10, 50, 90, 100, random.uniform(1, 100)):
        found = check(data[: int(len(data) * percent / 100)], tmp_path)
        expected = {right}
        if right.startswith("HotSpot") and found["counts"]["loaded_classes"] == 0:
            expected = {"HotSpot, or a copy of its dump"}
        elif right.startswith("HotSpot") and found["bytes"] <= first:
            expected = {"HotSpot"}
        assert found["producer"] in expected, percent


# ---- Is it complete --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DUMPS)
def test_a_quirk_is_no_loss_where_its_rule_is_left_out(name: str, tmp_path: Path) -> None:
    found = check(gold.read(SOURCE, name), tmp_path)
    for args in (("--ignore", "REF-002"), ("--select", "CLS")):
        left_out = check(gold.read(SOURCE, name), tmp_path, *args)
        for key in ("status", "complete", "missing_objects", "hint"):
            assert left_out[key] == found[key], (args, key)


def record_offsets(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Tag, body and end of each record."""
    at = HEADER
    while at < len(data):
        tag, _, length = struct.unpack_from(">BII", data, at)
        yield tag, at + 9, at + 9 + length
        at += 9 + length


def objects(data: bytes, at: int, end: int, i: int) -> Iterator[tuple[int, int, int]]:
    """ID, start and end of each instance and array among the sub-records from `at` on, by their lengths."""
    roots = {0xFF: i, 0x05: i, 0x07: i, 0x01: 2 * i, 0x02: i + 8, 0x03: i + 8, 0x08: i + 8, 0x04: i + 4, 0x06: i + 4}
    sizes = {2: i, **WIDTHS}
    while at < end:
        start, tag = at, data[at]
        at += 1
        if tag in roots:
            at += roots[tag]
            continue
        (object_id,) = struct.unpack_from(">Q" if i == 8 else ">I", data, at)
        if tag == 0x20:
            at += 7 * i + 8
            (n,) = struct.unpack_from(">H", data, at)
            at += 2
            for _ in range(n):
                at += 3 + sizes[data[at + 2]]
            (n,) = struct.unpack_from(">H", data, at)
            at += 2
            for _ in range(n):
                at += i + 1 + sizes[data[at + i]]
            (n,) = struct.unpack_from(">H", data, at)
            at += 2 + n * (i + 1)
            continue
        if tag == 0x21:
            at += 2 * i + 8 + int(struct.unpack_from(">I", data, at + 2 * i + 4)[0])
        elif tag == 0x22:
            at += 2 * i + 8 + i * int(struct.unpack_from(">I", data, at + i + 4)[0])
        else:
            at += i + 9 + sizes[data[at + i + 8]] * int(struct.unpack_from(">I", data, at + i + 4)[0])
        yield object_id, start, at


def without_objects(data: bytes, share: float, dice: random.Random) -> bytes:
    """The dump without a run of objects of a heap dump record, whose length is made to fit."""
    (i,) = struct.unpack_from(">I", data, 19)
    heaps = [(body, end) for tag, body, end in record_offsets(data) if tag in HEAPS]
    body, end = max(heaps, key=lambda heap: len(list(objects(data, heap[0], heap[1], i))))
    found = list(objects(data, body, end, i))
    count = max(1, int(len(found) * share))
    first = dice.randrange(len(found) - count)
    left, right = found[first][1], found[first + count - 1][2]
    length = struct.pack(">I", end - body - (right - left))
    return data[: body - 4] + length + data[body:left] + data[right:]


@pytest.mark.parametrize("name", some(DUMPS))
def test_a_real_dump_is_complete_and_one_without_some_objects_is_not(name: str, tmp_path: Path) -> None:
    data, seed = read(name), random.randrange(1 << 32)
    dice = random.Random(seed)
    print(f"seed {seed}")
    for found in (check(data, tmp_path), check(data, tmp_path, "--jobs", "1"), check_pipe(data)):
        assert (found["status"], found["complete"], found["missing_objects"]) == (0, True, 0)
    for share in (0.02, 0.3):
        cut = without_objects(data, share, dice)
        found, piped = check(cut, tmp_path), check_pipe(cut)
        assert found["errors"] == piped["errors"]
        assert found["status"] == piped["status"] == 1
        assert found["missing_objects"] == piped["missing_objects"] > 0
        if not found["errors"]:
            assert "incomplete" in run("--profile", "auto", "dump", cwd=tmp_path).out
        named = [one["found"] for one in found["findings"] if one["rule"] == "REF-002" and one["severity"] == "warning"]
        assert all("; named by " in one for one in named)


@pytest.mark.parametrize("name", [name for name in DUMPS if name.startswith(("jdk17", "jdk25", "jdk28", "jdk11"))])
def test_a_dump_that_has_lost_a_segment_is_incomplete(name: str, tmp_path: Path) -> None:
    data, seed = read(name), random.randrange(1 << 32)
    print(f"seed {seed}")
    # To the objects of a small segment perhaps only roots refer, which do not count (RULES.md M.6).
    records = [(body - 9, end) for tag, body, end in record_offsets(data) if tag == 0x1C and end - body > len(data) // 50]
    start, end = random.Random(seed).choice(records)
    found = check(data[:start] + data[end:], tmp_path)
    assert (found["status"], found["complete"]) == (1, False)
    # Objects whose class is lost are errors; nothing else is.
    assert found["incomplete"] or set(found["totals"]) & {"OBJ-002", "OBJ-003", "CLS-010"}
    assert found["missing_objects"] > 0
    assert found["missing_objects"] < 16 or found["hint"]


@pytest.mark.parametrize("name", any_one(["jdk8", "jdk11", "jdk17", "jdk25-i386", "jdk25", "jdk28", "agent8", "sa17"]))
def test_a_dump_whose_heap_dump_is_empty_is_incomplete(name: str, tmp_path: Path) -> None:
    data = read(name)
    records = list(record_offsets(data))
    rest = b"".join(data[body - 9 : end] for tag, body, end in records if tag in (1, 2, 4, 5))
    segment, end, whole = bytes([0x1C]) + bytes(8), bytes([0x2C]) + bytes(8), bytes([0x0C]) + bytes(8)
    for heap in (end, segment + end, whole) if data[17:18] == b"2" else (whole,):
        found = check(data[:31] + rest + heap, tmp_path)
        assert (found["status"], found["incomplete"], found["complete"]) == (1, True, False), found["totals"]
        assert found["hint"].startswith("the heap dump is empty: ")


def test_a_dump_without_its_end_is_incomplete(tmp_path: Path) -> None:
    data = read("jdk25")
    assert data[-9] == END
    found = check(data[:-9], tmp_path)
    assert (found["status"], found["totals"]["REC-007"]) == (1, 1)
    assert "dump: incomplete" in run("dump", cwd=tmp_path).out
    assert run("--allow-incomplete", "dump", cwd=tmp_path).status == 0


def test_a_header_alone_and_definitions_alone_are_incomplete(tmp_path: Path) -> None:
    data = read("jdk17")
    definitions = next(body - 9 for tag, body, _ in record_offsets(data) if tag in HEAPS)
    for cut in (data[:HEADER], data[:definitions]):
        assert check(cut, tmp_path)["totals"]["REC-016"] == 1
        assert "dump: incomplete" in run("dump", cwd=tmp_path).out


# ---- Parts -----------------------------------------------------------------------------------------------------------


def test_parts_beside_a_dump_that_ends_early(tmp_path: Path) -> None:
    """As a VM leaves them that is killed while it joins its parts, or while it writes objects."""
    data = read("jdk25")
    records = [(tag, body - 9, end) for tag, body, end in record_offsets(data)]
    heap = next(start for tag, start, _ in records if tag in HEAPS)
    last = [start for tag, start, _ in records if tag in HEAPS][-1]
    for rest in (data[:last], data[: heap - 5], data[:heap]):
        (tmp_path / "heap.hprof").write_bytes(rest)
        alone = run("heap.hprof", cwd=tmp_path)
        assert (alone.status, "is in parts" in alone.out) == (1, False)
        for part in (1, 2):
            (tmp_path / f"heap.hprof.p{part}").write_bytes(data[last:])
        done = run("heap.hprof", cwd=tmp_path)
        assert done.status == 1
        assert "the dump is in parts; the rest is in heap.hprof.p1, heap.hprof.p2\n" in done.out
        assert "heap.hprof: incomplete" in done.out
        for part in (1, 2):
            (tmp_path / f"heap.hprof.p{part}").unlink()


def test_an_incomplete_dump_in_parts_is_allowed(tmp_path: Path) -> None:
    """Whatever its last record lacks. Without its parts a truncated dump is invalid."""
    data = read("jdk25")
    last = [body - 9 for tag, body, _ in record_offsets(data) if tag in HEAPS][-1]
    for cut in (last, last - 5, last - 100):
        (tmp_path / "heap.hprof").write_bytes(data[:cut])
        alone = run("--allow-incomplete", "heap.hprof", cwd=tmp_path).status
        assert alone == (cut != last)
        (tmp_path / "heap.hprof.p0").write_bytes(data[last:])
        assert run("heap.hprof", cwd=tmp_path).status == 1
        for options in ([], ["-j2", "heap.hprof.p0"]):
            done = run("--allow-incomplete", *options, "heap.hprof", cwd=tmp_path)
            assert done.status == 0 and "heap.hprof: incomplete" in done.out and "which is allowed" in done.out
        (tmp_path / "heap.hprof.p0").unlink()


def test_a_part_alone(tmp_path: Path) -> None:
    """It is called what it is, in a directory too, and the command to repair the dump is that of the file beside it."""
    data = read("jdk25")
    last = [body - 9 for tag, body, _ in record_offsets(data) if tag in HEAPS][-1]
    folder = tmp_path / "some"
    folder.mkdir()
    (folder / "heap.hprof.p0").write_bytes(data[last:])
    (folder / "heap.hprof.p10").write_bytes(data[last:])
    (folder / "heap.hprof.px").write_bytes(data[last:])
    for name in ("heap.hprof.p0", "heap.hprof.p10"):
        done = run(name, cwd=folder)
        assert (done.status, done.err) == (1, "")
        assert f"\n{name}: incomplete, a part of a dump, 1 error" in done.out
        assert "likely: the VM was killed while it dumped, and this is a part of the dump" in done.out and "fix:" not in done.out
        assert run("--allow-incomplete", name, cwd=folder).status == 0
    done = run("some", cwd=tmp_path)
    assert re.findall(r"^some/(\S+): incomplete, a part of a dump", done.out, re.M) == ["heap.hprof.p0", "heap.hprof.p10"]
    assert done.out.count("likely: the VM was killed while it dumped") == 2 and "2 files: 2 incomplete" in done.out
    (folder / "heap.hprof").write_bytes(data[:last])
    done = run("heap.hprof.p0", cwd=folder)
    assert "the beginning is in heap.hprof\n  fix: hprof-validate --repair fixed.hprof heap.hprof\n" in done.out
    done = run("some", cwd=tmp_path)
    assert "some/heap.hprof: incomplete" in done.out and "1 file: 1 incomplete" in done.out
    assert "the rest is in heap.hprof.p0, heap.hprof.p10; heap.hprof.p1 to p9 are not there\n" in done.out


def test_stale_parts_beside_a_complete_dump(tmp_path: Path) -> None:
    (tmp_path / "heap.hprof").write_bytes(read("jdk25"))
    (tmp_path / "heap.hprof.p0").write_bytes(b"\x1c" + bytes(8))
    done = run("heap.hprof", cwd=tmp_path)
    assert done.status == 0
    assert "a part of an earlier dump lies beside this one: heap.hprof.p0" in done.out


def test_a_stale_part_alone(tmp_path: Path) -> None:
    """The dump beside it has its end: to repair that one would not use the part."""
    data = read("jdk25")
    last = [body - 9 for tag, body, _ in record_offsets(data) if tag in HEAPS][-1]
    (tmp_path / "heap.hprof").write_bytes(data)
    (tmp_path / "heap.hprof.p0").write_bytes(data[last:])
    done = run("heap.hprof.p0", cwd=tmp_path)
    assert done.status == 1
    assert "likely: this is a part of an earlier dump that was not finished: heap.hprof has its end\n" in done.out
    assert "fix:" not in done.out


# ---- What it is, and what happened to it ------------------------------------------------------------------------------

KINDS = {
    b"7z\xbc\xaf\x27\x1c\x00\x04": "a 7z file",
    b"\x04\x22\x4d\x18dump": "an lz4 file",
    zlib.compress(b"JAVA PROFILE 1.0.2"): "zlib data",
    b"MDMP\x93\xa7\x00\x00": "a minidump",
    b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 7\n": "a pointer of Git LFS",
    b"0SECTION       TITLE subcomponent dump routine\nNULL\n": "a javacore",
    b'{"timestamp":"2026-01-01","status":404}': "JSON",
    bytes(4096): "zeros",
    b"From: a\r\nSubject: b\r\n\r\nSkFWQSBQUk9GSUxFIDEuMC4yAAAA\r\nAAgA\r\n": "text, and then base64 text of a dump",
    b"-----BEGIN DUMP-----\nH4sIAAAAAAAAAIv0DwAAAP//\n": "text, and then base64 text of a dump or a gzip file",
    b"\x1c" + bytes(7) + b"\x0c\x21" + bytes(11): "a part of a dump, without its header",
}


@pytest.mark.parametrize("start", KINDS)
def test_what_is_no_dump_is_named(start: bytes, tmp_path: Path) -> None:
    for data in (start, start + bytes(8192)):
        for found in (check(data, tmp_path), check_pipe(data)):
            (one,) = found["findings"]
            assert one["rule"] == "HDR-001"
            assert one["found"].startswith(KINDS[start])
            is_part = KINDS[start].startswith("a part of a dump")
            assert found["incomplete"] == is_part
            assert (found["hint"] or "").partition(" while")[0] == ("the VM was killed" if is_part else "")


SOUGHT = (64 << 10) - len(b"JAVA PROFILE 1.0.2\0")  # a header that ends in the first 64 KiB is found


@pytest.mark.parametrize(
    "text",
    [b"Dumping heap to /dev/stdout ...\n", b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", b"x" * SOUGHT, b"x" * (SOUGHT + 1)],
)
def test_text_before_the_header(text: bytes, tmp_path: Path) -> None:
    data = text + read("jdk8")
    for found in (check(data, tmp_path), check_pipe(data)):
        (one,) = found["findings"]
        assert one["rule"] == "HDR-001"
        assert one["found"].endswith(f"; a dump begins at offset {len(text)}") == (len(text) <= SOUGHT)


@pytest.mark.parametrize("name", ["agent8", "jdk8", "sa17", "jdk25"])
def test_a_gzip_file_without_its_trailer(name: str, tmp_path: Path) -> None:
    """Dumps of the agent and of the serviceability agent have no HEAP_DUMP_END: all of the deflate data is there."""
    data = read(name)
    members = [gzip.compress(data[at : at + (1 << 19)], 1) for at in range(0, len(data), 1 << 19)]
    for packed in (gzip.compress(data, 1), b"".join(members)):
        for cut in (1, 8):
            found = check(packed[:-cut], tmp_path)
            assert found["totals"]["GZ-005"] == 1
            assert found["hint"].startswith("the dump inside is complete")
        assert "complete" not in check(packed[:-1000], tmp_path)["hint"]
        (tmp_path / "cut.gz").write_bytes(packed[:-3])
        done = run("--repair", "copy", "--force", "cut.gz", cwd=tmp_path)
        assert (done.status, (tmp_path / "copy").read_bytes()) == (0, data)
        assert "lost" not in done.out
    records = [body - 9 for _, body, _ in record_offsets(data)]
    for end in (len(data) - 1, records[-1] + 1, records[len(records) // 2]):
        assert "complete" not in check(gzip.compress(data[:end], 1)[:-8], tmp_path)["hint"]


@pytest.mark.parametrize("name", any_one(["jdk8", "jdk17", "jdk25", "jdk28", "agent8", "sa17"]))
def test_a_tail_of_zeros_is_named_wherever_it_begins(name: str, tmp_path: Path) -> None:
    """A file is extended before it is written, and so may end with zeros from any byte on."""
    data, seed = read(name), random.randrange(1 << 32)
    dice = random.Random(seed)
    for _ in range(12):
        at = dice.randrange(len(data) // 20, len(data) - 100)
        hint = check(data[:at] + bytes(len(data) - at), tmp_path)["hint"]
        assert hint and hint.startswith("zeros are where records should be"), f"seed {seed}: {at:#x}, {hint}"


@pytest.mark.parametrize("name", any_one(["jdk8", "jdk17", "jdk25", "agent8", "sa17"]))
def test_zeros_that_end_a_gzip_file_are_not_inflated(name: str, tmp_path: Path) -> None:
    """They would make bytes that nobody wrote: check and repair are those of the file without them."""
    data, seed = read(name)[: 1 << 21], random.randrange(1 << 32)
    dice = random.Random(seed)
    for _ in range(6):
        piece = dice.choice([5000, 1 << 16, 1 << 20, len(data)])
        members = [gzip.compress(data[at : at + piece], dice.choice([1, 6])) for at in range(0, len(data), piece)]
        last = dice.randrange(len(members) // 3, len(members))
        cut = dice.randrange(20, len(members[last]) - 10)  # in its data, whose last byte may be zero
        written = (b"".join(members[:last]) + members[last][:cut]).rstrip(b"\0")
        copies = []
        for file in (written, written + bytes(dice.choice([600, 4096, 1 << 17]))):
            found = check(file, tmp_path)
            done = run("--repair", "copy", "--force", "dump", cwd=tmp_path)
            copies.append((found["findings"], found["hint"], done.status, done.out, (tmp_path / "copy").read_bytes()))
        for findings, *_ in copies:
            assert [one["rule"] for one in findings].count("GZ-005") == 1, (seed, last, cut)
            for one in findings:
                one["found"] = one["found"] if one["rule"] != "GZ-005" else one["found"].rpartition(", ")[2]
        assert copies[1][1].startswith("zeros are where the gzip file should go on"), (seed, last, cut)
        assert copies[0][0] == copies[1][0], (seed, last, cut)
        assert copies[0][2:] == copies[1][2:], (seed, last, cut)


def test_zeros_in_the_middle_and_at_the_end(tmp_path: Path) -> None:
    data = read("jdk8")
    heaps = [(body, end) for tag, body, end in record_offsets(data) if tag in HEAPS]
    body, end = max(heaps, key=lambda heap: heap[1] - heap[0])
    (i,) = struct.unpack_from(">I", data, 19)
    found = list(objects(data, body, end, i))
    _, at, _ = found[len(found) // 2]
    hundredth = [start - 9 for _, start, _ in record_offsets(data)][100]
    for broken in (data[:at] + bytes(4096) + data[at + 4096 :], data[:hundredth] + bytes(len(data) - hundredth)):
        assert check(broken, tmp_path)["hint"].startswith("zeros are where records should be")


def test_a_dump_without_roots(tmp_path: Path) -> None:
    heap = [instance(0x20 + 8 * i, OBJECT) for i in range(20)]
    data = dump(*heap)
    hint = "no GC root is in the heap dump: analysers will drop every object"
    assert check(data, tmp_path)["hint"] == hint
    assert check(dump(*heap, struct.pack(">BQ", 0x05, OBJECT)), tmp_path)["hint"] is None


# ---- What names a missing object -------------------------------------------------------------------------------------


def test_a_missing_object_is_reported_with_the_field_that_names_it(tmp_path: Path) -> None:
    """The field `value` of a String, the one in which all instances have the ID of an array."""
    data = read("jdk17")
    (string,) = [
        int(struct.unpack_from(">Q", data, body + 4)[0])
        for tag, body, _ in record_offsets(data)
        if tag == 0x02 and name_of(data, int(struct.unpack_from(">Q", data, body + 16)[0])) == b"java/lang/String"
    ]
    places = {
        object_id: (body, end, start, stop)
        for tag, body, end in record_offsets(data)
        if tag in HEAPS
        for object_id, start, stop in objects(data, body, end, 8)
    }
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    owners = [
        start
        for _, _, start, _ in places.values()
        if data[start] == 0x21 and struct.unpack_from(">Q", data, start + 13)[0] == string
    ]
    (field,) = [at for at in range(25, 32) if all(struct.unpack_from(">Q", data, owner + at)[0] in places for owner in owners[:50])]
    for owner in random.Random(seed).sample(owners, 5):
        (value,) = struct.unpack_from(">Q", data, owner + field)
        body, end, start, stop = places[value]
        cut = data[: body - 4] + struct.pack(">I", end - body - (stop - start)) + data[body:start] + data[stop:]
        lost = [one for one in check(cut, tmp_path)["findings"] if one["found"].startswith(f"{value:#x}, not dumped")]
        assert len(lost) == 1
        assert lost[0]["found"].endswith(" (java.lang.String)")
        assert "; named by field value of 0x" in lost[0]["found"]


def name_of(data: bytes, string: int) -> bytes:
    if not NAMES_OF_STRINGS:
        for tag, body, end in record_offsets(data):
            if tag == 0x01:
                NAMES_OF_STRINGS[int(struct.unpack_from(">Q", data, body)[0])] = data[body + 8 : end]
    return NAMES_OF_STRINGS.get(string, b"")


NAMES_OF_STRINGS: dict[int, bytes] = {}


@pytest.mark.parametrize("name", ["jdk8", "jdk11", "jdk17", "jdk21", "jdk25"])
def test_no_version_is_named_where_classes_may_be_lost(name: str, tmp_path: Path) -> None:
    """The newest class of the JDK that is there tells the version."""
    data = gold.read(SOURCE, name)
    dice = random.Random(seed := random.SystemRandom().randrange(1 << 32))
    at = dice.randrange(31, data.index(b"\x0c\0\0\0\0") if name == "jdk8" else data.index(b"\x1c\0\0\0\0"))
    (tmp_path / "lost").write_bytes(data[: dice.choice((31, at))] + data[at + dice.randrange(1, 1 << 16) :])
    found = json.loads(run("--format", "json", tmp_path / "lost").out)["files"][0]["producer"]
    whole = json.loads(run("--format", "json", "-", stdin=data).out)["files"][0]["producer"]
    assert found in (None, "HotSpot", "HotSpot, or a copy of its dump", whole), f"seed {seed}"
