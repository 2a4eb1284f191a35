"""Dumps as people hold them: what happened to one, and what --repair gets back of it."""

import gzip
import json
import os
import random
import re
import struct
import subprocess
import zlib
from pathlib import Path
from typing import Any

import losses
import pytest
from some_cases import any_one
from test_field import HEAPS, WIDTHS, check, check_pipe, objects, read, record_offsets
from tool import TOOL, run

DRAWS = int(os.environ.get("HPROF_DRAWS", "3"))
REAL = ["jdk8", "jdk11", "jdk17", "jdk25"]  # they end with HEAP_DUMP_END


def middle(data: bytes, dice: random.Random) -> tuple[int, int, int, int]:
    """A place within a small object in the middle of the largest heap dump record; the record's start; and its end."""
    (i,) = struct.unpack_from(">I", data, 19)
    body, end = max(((body, end) for tag, body, end in record_offsets(data) if tag in HEAPS), key=lambda heap: heap[1] - heap[0])
    found = list(objects(data, body, end, i))
    near = found[len(found) // 4 : len(found) // 2]
    _, start, stop = dice.choice([one for one in near if one[2] - one[1] < 200])
    return start, stop, body - 9, end


def hint(data: bytes, folder: Path) -> str:
    found, piped = check(data, folder)["hint"], check_pipe(data)["hint"]
    assert found == piped
    return str(found)


def repair(data: bytes, folder: Path) -> Any:
    (folder / "broken").write_bytes(data)
    done = run("--format", "json", "--repair", "copy", "broken", cwd=folder)
    assert done.status == 0
    return json.loads(done.out)


@pytest.mark.parametrize("name", any_one(REAL))
def test_a_page_of_zeros_among_records_is_named(name: str, tmp_path: Path) -> None:
    """Wherever the page begins, within the header of a record or its text."""
    data, seed = read(name), random.randrange(1 << 32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    strings = [body for tag, body, _ in record_offsets(data) if tag == 1]
    for _ in range(8):
        size = dice.choice([4096, 8192, 65536])
        at = dice.randrange(strings[0], strings[-1] - size)
        broken = data[:at] + bytes(size) + data[at + size :]
        if not check(broken, tmp_path)["valid"]:  # it is where all of the page is in one string
            assert hint(broken, tmp_path).startswith("zeros are where records should be")


@pytest.mark.parametrize("name", any_one(REAL))
def test_bytes_that_are_there_twice_are_passed_over(name: str, tmp_path: Path) -> None:
    """Wherever reading fails in the second copy, among records of any kind and among sub-records, the copy is the original.
    Where the item that crosses the beginning of the second copy is longer than this, nothing shows what is there twice."""
    data, seed = read(name), random.randrange(1 << 32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    exact = 0
    for _ in range(12):
        size = dice.choice([512, 4096, 65536, 100_001])
        at = dice.randrange(31, len(data) - size)
        broken = data[: at + size] + data[at:]
        if "are there twice" not in (check(broken, tmp_path)["hint"] or ""):
            continue
        done = repair(broken, tmp_path)
        exact += (tmp_path / "copy").read_bytes() == data and done["bytes_left_out"] == size
        (tmp_path / "copy").unlink()
    assert exact >= 2  # of twelve


@pytest.mark.parametrize("name", any_one(REAL))
def test_a_part_in_the_middle_is_missing_or_there_twice(name: str, tmp_path: Path) -> None:
    """Whole small objects, so that reading fails soon and the lengths show how much is missing. Where a lost or doubled block ends
    within a large array, nothing shows it; the report is then never that the dump was truncated."""
    data, seed = read(name), random.randrange(1 << 32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    shown = 0
    for _ in range(4):
        start, stop, record, _ = middle(data, dice)
        at = (start + stop) // 2
        lost = hint(data[:at] + data[at + 8192 :], tmp_path)
        twice = hint(data[: at + 4096] + data[at:], tmp_path)
        shown += lost == f"about 8 KB are missing in the heap dump record at {record:#x}: a part in the middle was lost"
        second = at + 4096  # and bytes before it that are the same by chance
        while data[second - 1 - 4096] == data[second - 1]:
            second -= 1
        shown += twice == f"the 4 KB before {second:#x} are there twice, one after the other"
        assert "truncated" not in lost
        assert "truncated" not in twice
    assert shown >= 1  # of eight


SIZES = {1: "1 byte is", 2: "2 bytes are", 1023: "1023 bytes are", 1024: "1 KB is", 1535: "1 KB is", 1536: "2 KB are"}


@pytest.mark.parametrize(("lost", "words"), SIZES.items())
def test_how_much_is_missing_is_said_in_bytes_or_rounded(lost: int, words: str, tmp_path: Path) -> None:
    """Out of a large array, which then takes as much of what follows it: whole sub-records by chance, and then the length alone is
    wrong. Here it ends within one."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    original = losses.read(read(dice.choice(REAL)))
    data, begins = original.data, {s.at for s in original.heap}
    arrays = [s for s in original.heap if data[s.at] == losses.PRIMITIVES and s.end - s.at > 3000 and s.end + lost not in begins]
    found = []
    for _ in range(3):  # of three: bytes that look like what follows may hide it, as the test below counts
        array = dice.choice(arrays)
        at = dice.randrange(array.at + 20, array.end - lost)
        found.append(hint(data[:at] + data[at + lost :], tmp_path))
    assert any(hint.startswith(f"about {words} missing in the heap dump record at ") for hint in found), (seed, found)


@pytest.mark.parametrize("name", any_one([*REAL, "agent8", "jdk28", "sa17"]))
def test_bytes_that_are_lost_within_a_heap_dump_record_are_counted(name: str, tmp_path: Path) -> None:
    """Wherever they begin, and whatever reading fails at first: 357 of 360. Bytes that look like what follows hide it."""
    data, seed = read(name), random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    records = [(body, end) for tag, body, end in record_offsets(data) if tag in HEAPS and end - body > 1 << 17]
    shown = 0
    for _ in range(10):
        body, end = dice.choices(records, [end - body for body, end in records])[0]
        kb = dice.choice([2, 4, 8, 64])
        at = dice.randrange(body, end - kb * 1024)
        found = hint(data[:at] + data[at + kb * 1024 :], tmp_path)
        shown += found == f"about {kb} KB are missing in the heap dump record at {body - 9:#x}: a part in the middle was lost"
    assert shown >= 7


@pytest.mark.parametrize("name", ["agent8", "jdk8", "jdk25", "sa17"])
def test_bytes_that_are_lost_among_definitions_have_a_cause(name: str, tmp_path: Path) -> None:
    """In a dump without a HEAP_DUMP_END, too. The report is never only that the dump was truncated."""
    data, seed = read(name), random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    end = next(body - 9 for tag, body, _ in record_offsets(data) if tag in HEAPS)
    for _ in range(8):
        size = dice.choice([1, 100, 4096, 8192])
        at = dice.randrange(31, end - size)
        broken = data[:at] + data[at + size :]
        totals = check(broken, tmp_path)["totals"]
        if totals.keys() & {"REC-001", "REC-002", "REC-003", "STR-001", "STR-006"}:  # else the text of a string is shorter
            found = hint(broken, tmp_path)
            assert "missing" in found or "a length is wrong" in found, f"seed {seed}, {size} at {at:#x}: {totals}"


@pytest.mark.parametrize("name", any_one(["agent8", "jdk17", "jdk25", "sa17"]))
def test_a_damaged_tag_of_a_definition_is_an_error(name: str, tmp_path: Path) -> None:
    """Who writes such dumps writes no records of other tags. No object is lost with one; a class may get a stand-in."""
    data, seed = bytes(read(name)), random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    definitions = [body - 9 for tag, body, _ in record_offsets(data) if tag < 8]
    whole = repair(data, tmp_path)["kept"]
    for _ in range(8):
        at, tag = dice.choice(definitions), dice.choice([0, 8, 9, *range(0x2D, 0x100)])
        broken = data[:at] + bytes([tag]) + data[at + 1 :]
        assert not check(broken, tmp_path)["valid"], f"seed {seed}, {tag:#x} at {at:#x}"
        kept = repair(broken, tmp_path)["kept"]
        assert all(kept[what] >= whole[what] for what in whole), f"seed {seed}, {tag:#x} at {at:#x}: {kept}"


@pytest.mark.parametrize("name", any_one(["agent8", "jdk17", "jdk25", "sa17"]))
def test_a_heap_dump_record_of_another_tag_is_read(name: str, tmp_path: Path) -> None:
    """Its tag may be that of any other record, or of none."""
    data, seed = bytes(read(name)), random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    heaps = [body - 9 for tag, body, end in record_offsets(data) if tag in HEAPS and end - body > 1000]
    whole = repair(data, tmp_path)["kept"]
    for _ in range(8):
        at, tag = dice.choice(heaps), dice.choice([tag for tag in range(0x80) if tag not in HEAPS])
        broken = data[:at] + bytes([tag]) + data[at + 1 :]
        assert not check(broken, tmp_path)["valid"], f"seed {seed}, {tag:#x} at {at:#x}"
        kept = repair(broken, tmp_path)["kept"]
        assert kept["objects"] == whole["objects"], f"seed {seed}, {tag:#x} at {at:#x}: {kept}"


@pytest.mark.parametrize("name", ["jdk8", "jdk17"])
def test_segments_of_a_dump_that_says_1_0_1_are_kept(name: str, tmp_path: Path) -> None:
    data = bytes(read(name))
    (tmp_path / "broken").write_bytes(data.replace(b"JAVA PROFILE 1.0.2", b"JAVA PROFILE 1.0.1", 1))
    done = run("--repair", "copy", "broken", cwd=tmp_path)
    assert (done.status, (tmp_path / "copy").read_bytes()) == (0, data)
    assert "mended: the version is 1.0.2" in done.out


def test_no_copy_is_made_of_a_dump_that_ends_before_its_heap_dump(tmp_path: Path) -> None:
    """The agent has written threads by then, but no profile."""
    data = bytes(read("agent8"))
    first = next(body - 9 for tag, body, _ in record_offsets(data) if tag in HEAPS)
    (tmp_path / "broken").write_bytes(data[: first - random.SystemRandom().randrange(1, 9)])
    done = run("--repair", "copy", "broken", cwd=tmp_path)
    assert done.status == 1 and "no object can be read" in done.err
    assert "--repair" not in run("broken", cwd=tmp_path).out


def test_a_part_that_is_lost_with_a_record_header_is_not_inserted(tmp_path: Path) -> None:
    """The record goes on with the sub-records of the next one."""
    data = read("jdk25")
    (record, second) = [body - 9 for tag, body, _ in record_offsets(data) if tag in HEAPS][:2]
    found = hint(data[: second - 30000] + data[second + 35536 :], tmp_path)
    assert found.startswith(f"the heap dump record at {record:#x} ends ")
    assert found.endswith(" KB before another begins: a part in the middle was lost, with the header of the next one")


@pytest.mark.parametrize("rest", ["text", "an older dump", "pieces"])
def test_bytes_after_the_end_of_a_damaged_dump_are_named(rest: str, tmp_path: Path) -> None:
    """Zeros in them, or what their first bytes say of a length, are not the cause."""
    data = read("jdk17")
    items = losses.read(data)
    tag = random.SystemRandom().choice(items.records[1000:9000] + items.heap[1000:9000]).at
    wrong = data[:tag] + b"\x7f" + data[tag + 1 :]
    if rest == "pieces":  # as 1, 10, 2 sorts them
        third = len(data) // 3
        wrong = data[:third] + data[2 * third :] + data[third : 2 * third]
    else:
        wrong += b"connection reset by peer\n" if rest == "text" else data[-50000:]
    assert hint(wrong, tmp_path).startswith("bytes follow the end of the dump, which is damaged, too: ")


def test_a_wrong_length_is_no_missing_part(tmp_path: Path) -> None:
    """Nothing in the record is wrong: its length is."""
    data = read("jdk17")
    _, _, record, end = middle(data, random.Random(0))
    for wrong in (end - record - 9 + 5000, end - record - 9 - 5000):
        found = hint(data[: record + 5] + struct.pack(">I", wrong) + data[record + 9 :], tmp_path)
        assert "missing in" not in found
        assert "twice" not in found


def test_a_page_of_zeros_in_the_only_segment(tmp_path: Path) -> None:
    """Only the objects on the page are lost, as many as fit on it at most."""
    data, seed = read("jdk8"), random.randrange(1 << 32)
    print(f"seed {seed}")
    whole = repair(data, tmp_path)["kept"]["objects"]
    start, _, _, _ = middle(data, random.Random(seed))
    found = repair(data[:start] + bytes(4096) + data[start + 4096 :], tmp_path)
    assert whole - found["kept"]["objects"] <= 4096 // 16
    assert found["roots"] == repair(data, tmp_path)["roots"]


def test_damaged_text_of_strings_costs_no_class_object_or_root(tmp_path: Path) -> None:
    """After a wrong byte a gzip member has other text up to its end, and some of it looks like a class with thousands of fields."""
    data, seed = read("jdk25"), random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    whole = repair(data, tmp_path)
    members = [gzip.compress(data[at : at + (1 << 20)], 1) for at in range(0, len(data), 1 << 20)]
    assert next(body for tag, body, _ in record_offsets(data) if tag != 1) > 2 << 20
    for _ in range(DRAWS):
        n, size = dice.randrange(2), dice.choice([1, 40, 4096])
        at = dice.randrange(1000, len(members[n]) - size - 8)
        member = bytearray(members[n])
        member[at : at + size] = bytes(one ^ 0xA5 for one in member[at : at + size]) if size == 1 else bytes(size)
        found = repair(b"".join([*members[:n], bytes(member), *members[n + 1 :]]), tmp_path)
        where = f"seed {seed}, {size} at {at} of member {n + 1}"
        assert (found["roots"], found["kept"]["objects"]) == (whole["roots"], whole["kept"]["objects"]), where
        assert found["kept"]["classes"] >= whole["kept"]["classes"], where


def test_zeros_in_place_of_the_header_are_named(tmp_path: Path) -> None:
    data = read("jdk17")
    for size in (31, 512, 4096, 1 << 16, 1 << 20, 16 << 20, 18 << 20):
        found = check(bytes(size) + data[min(size, 1 << 20) :], tmp_path)
        (one,) = found["findings"]
        assert one["found"].startswith("zeros in place of the header")
        follows = "the header is damaged, or the beginning was lost, and the dump follows"
        assert found["hint"] == (follows if size <= 16 << 20 else None), size  # zeros may never end


def test_zeros_without_end_are_no_dump() -> None:
    with Path("/dev/zero").open("rb") as zeros:
        done = subprocess.run([TOOL, "-"], stdin=zeros, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout.count("not an HPROF dump: zeros in place of the header")) == (1, 1)


def test_a_dump_that_ends_before_its_heap_dump_has_a_cause(tmp_path: Path) -> None:
    data = read("jdk17")
    definitions = next(body - 9 for tag, body, _ in record_offsets(data) if tag in HEAPS)
    for size in (31, definitions):
        assert hint(data[:size], tmp_path) == "the VM was killed, or the disk was full, before the heap dump was written"


def test_the_check_says_that_repair_goes_on_after_a_damaged_gzip_member(tmp_path: Path) -> None:
    data = read("jdk17")
    members = [gzip.compress(data[at : at + (1 << 20)]) for at in range(0, len(data), 1 << 20)]
    assert len(members) > 2
    crc = len(members[0]) + len(members[1]) - 8
    packed = bytearray(b"".join(members))
    packed[crc] ^= 1
    (tmp_path / "broken").write_bytes(packed)
    assert re.search(r"\n  readable: .* not checked \(--repair reads on\)\n", run("broken", cwd=tmp_path).out)
    assert run("--repair", "copy", "broken", cwd=tmp_path).status == 0
    assert (tmp_path / "copy").read_bytes() == data
    second = len(members[0])
    for at, wrong in ((second, bytes(8)), (second + 2, b"\7")):
        packed = bytearray(b"".join(members))
        packed[at : at + len(wrong)] = wrong
        (tmp_path / "broken").write_bytes(packed)
        out = run("broken", cwd=tmp_path).out
        assert re.search(r"\n  readable: .*; later gzip members not checked \(--repair reads on\)\n", out), out
    (tmp_path / "appended").write_bytes(b"".join(members) + b"text")
    assert "reads on" not in run("appended", cwd=tmp_path).out


def first_wrong(broken: bytes, data: bytes) -> int:
    """Where a damaged gzip member gives other bytes than those of the dump."""
    inflater, made = zlib.decompressobj(31), b""
    for at in range(0, len(broken), 512):
        try:
            made += inflater.decompress(broken[at : at + 512])
        except zlib.error:
            break
        if made != data[: len(made)]:
            break
    return next((i for i, (one, other) in enumerate(zip(made, data, strict=False)) if one != other), len(made))


def test_the_check_says_where_damaged_data_fails(tmp_path: Path) -> None:
    """Of one member all findings are dropped; but how far it can be read is known: up to the item with the first wrong byte, or a
    later one. A wrong trailer alone is no such place."""
    data, seed = read("jdk25"), random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    packed = gzip.compress(data, 1)
    far = []
    for _ in range(4):
        at = dice.randrange(len(packed) // 4, len(packed) // 2)
        broken = packed[:at] + bytes(4096) + packed[at + 4096 :]
        (tmp_path / "broken.gz").write_bytes(broken)
        out = run("broken.gz", cwd=tmp_path).out
        found = re.search(r"\n  likely: .* cannot be read from about 0x([0-9a-f]+) of the dump on\n", out)
        assert (found[0] if found else "") in run("--stdin-name", "broken.gz", "-", cwd=tmp_path, stdin=broken).out
        far += [int(found[1], 16) - first_wrong(broken, data)] if found else []
    assert far and min(far) > -4096 and min(far) < 1 << 16, far
    (tmp_path / "broken.gz").write_bytes(packed[:-8] + bytes([packed[-8] ^ 1]) + packed[-7:])
    out = run("broken.gz", cwd=tmp_path).out
    assert "\n  likely: the compressed data is damaged, as a faulty disk or copy leaves it\n" in out


@pytest.mark.parametrize("name", any_one(REAL))
def test_a_dump_over_a_longer_file_is_whole(name: str, tmp_path: Path) -> None:
    """The rest of the longer file is no part of it. By chance its first bytes may be a record, or more than one."""
    data, older, seed = read(name), read("jdk21"), random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    copies = []
    for _ in range(6):
        rest = older[dice.randrange(len(older) // 4, len(older)) :]
        (tmp_path / "broken").write_bytes(data + rest)
        assert run("broken", cwd=tmp_path).status == 1
        assert run("--repair", "copy", "broken", cwd=tmp_path).status == 0
        copies.append((tmp_path / "copy").read_bytes())
    assert copies.count(data) >= 4


def test_a_gzip_file_without_its_trailer_is_repaired_whole(tmp_path: Path) -> None:
    data = read("jdk17")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(data)[:-8])
    assert run("--repair", "copy", "cut.gz", cwd=tmp_path).status == 0
    assert (tmp_path / "copy").read_bytes() == data


def test_a_dump_that_koom_stripped_is_named(tmp_path: Path) -> None:
    if "HPROF_GEN" not in os.environ:
        pytest.skip("needs hprof-gen")
    made = subprocess.run(
        [os.environ["HPROF_GEN"], "--like", "android", "--objects", "300", "--seed", "1"], capture_output=True, check=True
    ).stdout
    hint_there = hint(stripped(made), tmp_path)
    assert hint_there == "perhaps KOOM stripped the dump, which leaves out the contents of arrays: its own tool restores them"


def stripped(data: bytes) -> bytes:
    """The contents of primitive arrays are cut, their counts and the lengths of records stay: what KOOM writes. Arrays are found by
    what looks like their header; a wrong hit does no harm here."""
    made, at = b"", 0
    while True:
        found = data.find(b"\x23", at)
        if found < 0 or found + 14 > len(data):
            return made + data[at:]
        count, kind = struct.unpack_from(">IB", data, found + 9)
        size = count * WIDTHS.get(kind, 0)
        if not size or size > 2000 or struct.unpack_from(">I", data, found + 1)[0] == 0:
            made += data[at : found + 1]
            at = found + 1
            continue
        made += data[at : found + 14]
        at = found + 14 + size


@pytest.mark.parametrize(
    "text",
    [
        b"// Version: JRE 17 Linux amd64-64 (build 0)\n0x00001000 [16] java/lang/Object\n",
        b"0SECTION       TITLE subcomponent dump routine\n",
    ],
)
def test_text_formats_of_openj9_are_named(text: bytes, tmp_path: Path) -> None:
    (one,) = check(text, tmp_path)["findings"]
    assert "OpenJ9" in one["found"]


def test_a_file_of_definitions_is_not_repaired(tmp_path: Path) -> None:
    """The report of the check names no repair, because the copy would be of no use."""
    data = read("jdk17")
    (tmp_path / "broken").write_bytes(data[: len(data) // 10])
    out = run("broken", cwd=tmp_path).out
    assert "--repair" not in out
    assert run("--repair", "copy", "broken", cwd=tmp_path).status == 1


def test_a_lost_segment_has_a_cause(tmp_path: Path) -> None:
    """Lengths lead to the end, and nothing but objects is missing."""
    data = read("jdk25")
    segments = [(body - 9, end) for tag, body, end in record_offsets(data) if tag == HEAPS[-1]]
    start, end = random.choice(segments)
    assert hint(data[:start] + data[end:], tmp_path).startswith("a whole segment or part of the heap dump was lost")
