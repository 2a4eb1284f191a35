"""--repair: a valid copy of what can be read, without anything new."""

import gzip
import json
import os
import random
import re
import struct
import subprocess
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dumps import DUPLICATE, OBJECT, OBJECTS, VALID, class_dump, dump, instance, load_class, object_array, record, utf8
from losses import read
from some_cases import TAKES_SOME, any_one, some
from test_field import record_offsets
from tool import SOURCE, run

from hprof_conformance import gold

HEADER = 31
HEAPS = (0x0C, 0x1C)
END = record(0x2C, b"")


def parts(data: bytes) -> Iterator[bytes]:
    """The records of a valid dump and the sub-records of its heap dumps, by their lengths."""
    (id_size,) = struct.unpack_from(">I", data, 19)
    at = HEADER
    while at < len(data):
        tag, _, length = struct.unpack_from(">BII", data, at)
        end = at + 9 + length
        if tag not in HEAPS:
            yield data[at : at + 1] + data[at + 9 : end]
            at = end
            continue
        at += 9
        while at < end:
            size = size_of(data, at, id_size)
            yield data[at : at + size]
            at += size


def size_of(data: bytes, at: int, i: int) -> int:
    """The size of a sub-record."""
    tag = data[at]
    widths = {2: i, 4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
    fixed = {1: 2 * i, 2: i + 8, 3: i + 8, 4: i + 4, 5: i, 6: i + 4, 7: i, 8: i + 8, 0xFF: i, 0xFE: 4 + i, 0x8E: i + 8, 0xC3: i + 9}
    if tag == 0x20:
        end = at + 1 + 7 * i + 8
        for head in (2, i):
            (count,) = struct.unpack_from(">H", data, end)
            end += 2
            for _ in range(count):
                end += head + 1 + widths[data[end + head]]
        (count,) = struct.unpack_from(">H", data, end)
        return int(end + 2 + count * (i + 1) - at)
    if tag == 0x21:
        return 2 * i + 9 + int(struct.unpack_from(">I", data, at + 2 * i + 5)[0])
    if tag == 0x22:
        return 2 * i + 9 + i * int(struct.unpack_from(">I", data, at + i + 5)[0])
    if tag == 0x23:
        return i + 10 + widths[data[at + i + 9]] * int(struct.unpack_from(">I", data, at + i + 5)[0])
    return 1 + fixed.get(tag, i)


def has_no_fault(dump: Path, profile: str) -> bool:
    """Nothing is wrong but that something is missing."""
    found = json.loads(run("--format", "json", "--profile", profile, dump).out)["files"][0]
    return bool(found["errors"] == found["totals"].get("REC-016", 0))


def repair(data: bytes, folder: Path, profile: str = "auto") -> tuple[bytes, str]:
    """The copy, which must be valid, and the output. It may hold no object. test_stand_ins.py has the tests of stand-ins."""
    (folder / "broken").write_bytes(data)
    done = run("--profile", profile, "--force", "--no-stand-ins", "--repair", "copy", "broken", cwd=folder)
    assert (done.status, done.err) == (0, "")
    assert has_no_fault(folder / "copy", profile)
    return (folder / "copy").read_bytes(), done.out


def find_instance(part: bytes, data: bytes, at: int, i: int) -> int:
    """The length of an instance may have been mended: it is not compared."""
    head, values = part[: 2 * i + 5], part[2 * i + 9 :]
    found = data.find(head, at)
    while found >= 0 and data[found + len(head) + 4 : found + len(part)] != values:
        found = data.find(head, found + 1)
    return found


def check_nothing_is_new(copy: bytes, data: bytes) -> None:
    """All parts of the copy except a HEAP_DUMP_END are in the original, in this order."""
    assert copy[:HEADER] == data[:HEADER]
    (id_size,) = struct.unpack_from(">I", data, 19)
    at = HEADER
    for part in parts(copy):
        body = part if part[0] not in {1, 2, 3, 4, 5, 6, 7, 10, 11, 13, 14} else part[1:]
        if part == b"\x2c":
            continue
        found = find_instance(body, data, at, id_size) if part[0] == 0x21 else data.find(body, at)
        assert found >= 0
        at = found + len(body)


def left_out(text: str) -> int:
    return sum(int(count.replace(",", "")) for count in re.findall(r"^ +([0-9,]+) bytes ", text, re.MULTILINE))


# ---- Truncated -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    if "HPROF_GEN" not in os.environ:
        pytest.skip("needs hprof-gen")
    path = tmp_path_factory.mktemp("made") / "dump.hprof"
    subprocess.run([os.environ["HPROF_GEN"], "--like", "hotspot", "--objects", "300", "-o", path], check=True)
    return path.read_bytes()


def test_a_dump_that_is_truncated_anywhere(made: bytes, tmp_path: Path) -> None:
    """Classes refer to a stack trace that follows them; if it is missing, the references are set to 0."""
    for size in range(HEADER, len(made), len(made) // 60):
        copy, text = repair(made[:size], tmp_path)
        if "set to 0" not in text:
            check_nothing_is_new(copy, made[:size])
        kept = len(copy) - len(END) * ("HEAP_DUMP_END, which" in text)
        assert kept + left_out(text) == size


def test_the_class_of_a_truncated_instance(tmp_path: Path) -> None:
    array = object_array(0x40, OBJECT, range(8, 800, 8))
    copy, text = repair(dump(instance(0x20, OBJECT), array).partition(array)[0] + array[:100], tmp_path)
    assert re.search(r"^ +100 bytes   1 OBJECT_ARRAY_DUMP java.lang.Object$", text, re.MULTILINE)
    assert copy.endswith(instance(0x20, OBJECT) + END)


def test_a_valid_dump_stays_as_it_is(made: bytes, tmp_path: Path) -> None:
    for data in (VALID, made):
        copy, text = repair(data, tmp_path)
        assert copy == data
        assert text.startswith("nothing was left out\ncopy: valid by profile ")


# ---- Malformed -------------------------------------------------------------------------------------------------------


def test_the_whole_corpus(tmp_path: Path) -> None:
    """A copy is valid and has nothing new, whatever the fault. Only a wrong header or gzip header gives none."""
    refused = 0
    files = sorted((SOURCE / "corpus").rglob("*.hprof"))
    for path in some(files):
        done = run("--profile", "auto", "--force", "--no-stand-ins", "--repair", tmp_path / "copy", path)
        if done.status:
            assert done.status == 1
            reasons = ("header", "not an HPROF dump: ", "1.0.3", "JAVA PROFILE")
            assert path.parent.name == "GZ-001" or any(reason in done.err for reason in reasons), path
            refused += 1
            continue
        data, copy = path.read_bytes(), (tmp_path / "copy").read_bytes()
        if "bytes of text before the header" in done.out:
            data = data[data.index(b"JAVA PROFILE") :]
        if "mended: the version is 1.0.2" in done.out:
            data = data.replace(b"JAVA PROFILE 1.0.1", b"JAVA PROFILE 1.0.2", 1)
        if not data.startswith(b"\x1f\x8b") and not re.search("^(set to 0|joined): ", done.out, re.MULTILINE):
            check_nothing_is_new(copy, data)
    assert refused < len(files) // 10


def test_lengths(tmp_path: Path) -> None:
    """A heap dump record and a record of a known size whose lengths are wrong lose nothing."""
    segment = VALID.index(b"\x1c\0\0\0\0")
    (length,) = struct.unpack_from(">I", VALID, segment + 5)
    for wrong in (length - 25, length + 300, 0xFFFFFFF0):
        broken = VALID[: segment + 5] + struct.pack(">I", wrong) + VALID[segment + 9 :]
        copy, text = repair(broken, tmp_path)
        assert copy == VALID
        assert "mended: 1 record length\n" in text
    load = VALID.index(b"\x02\0\0\0\0\0\0\0\x18")
    copy, _ = repair(VALID[: load + 8] + b"\x14" + VALID[load + 9 :], tmp_path)
    assert copy == VALID


def test_a_heap_dump_among_segments_becomes_a_segment(tmp_path: Path) -> None:
    """Readers take it for all of the heap dump."""
    rest = record(0x1C, instance(0x1000, OBJECT))
    whole = dump(instance(0x20, OBJECT))[: -len(END)] + rest + record(0x1C, instance(0x2000, OBJECT)) + END
    at = whole.index(rest)
    copy, text = repair(whole[:at] + b"\x0c" + whole[at + 1 :], tmp_path)
    assert copy == whole
    assert text.startswith("nothing was left out\nmended: the tag of 1 heap dump record among segments\n")


def test_zeros_after_the_end_held_no_roots(made: bytes, tmp_path: Path) -> None:
    copy, text = repair(made + bytes(5000), tmp_path)
    assert copy == made
    assert "GC roots" not in text


def test_what_follows_a_malformed_sub_record_is_kept(tmp_path: Path) -> None:
    after = instance(0x1000, OBJECT)
    rest = record(0x1C, instance(0x2000, OBJECT))
    broken = dump(instance(0x20, OBJECT), b"\x77" + after)[: -len(END)] + rest + END
    copy, text = repair(broken, tmp_path)
    assert copy == dump(instance(0x20, OBJECT), after)[: -len(END)] + rest + END
    assert left_out(text) == 1


@pytest.mark.parametrize("lost", [1, 9, 24, 31, 60])
def test_a_sub_record_that_crosses_segments_is_joined(lost: int, tmp_path: Path) -> None:
    """Wherever it is cut. What the next segment has after it stays."""
    array, more = object_array(0x40, OBJECTS, [0x20] * 9), instance(0x20, OBJECT)
    whole = dump(array, more)[: -len(END)]
    cut = whole.index(array) + len(array) - lost
    segment = whole.index(b"\x1c\0\0\0\0")
    first = whole[:segment] + record(0x1C, whole[segment + 9 : cut])
    copy, text = repair(first + record(0x1C, whole[cut:]) + END, tmp_path)
    assert copy == whole + END
    assert text.startswith(
        "nothing was left out\nmended: 1 record length\njoined: 1 sub-record that crossed the end of a segment\n"
    )
    copy, text = repair(first + record(0x1C, more) + END, tmp_path)  # the next segment does not go on with it
    assert copy == dump()[: -len(END)] + record(0x1C, more) + END
    assert left_out(text) == len(array) - lost


def test_what_breaks_a_rule_is_left_out_until_the_copy_is_valid(tmp_path: Path) -> None:
    copy, text = repair(DUPLICATE, tmp_path, "strict")
    assert copy == dump(instance(0x20, OBJECT))
    assert re.search(r"^ +25 bytes   1 sub-record whose ID is dumped already$", text, re.MULTILINE)


def test_all_uses_of_a_missing_class_are_left_out(tmp_path: Path) -> None:
    """Only the first is an error. Its subclasses go, too; in another heap dump that has the class they stay."""
    missing, subclass, array = 0x100, 0x108, 0x110
    uses = [instance(0x2000 + 8 * i, (missing, subclass)[i % 2]) for i in range(500)]
    kept = [object_array(0x4000 + 8 * i, OBJECTS, []) for i in range(500)]
    mixed = b"".join(one + two for one, two in zip(uses, kept, strict=True))
    classes = class_dump(OBJECT, 0) + class_dump(OBJECTS, OBJECT)
    others = class_dump(subclass, missing) + class_dump(array, subclass)
    start = VALID[: VALID.index(b"\x1c\0\0\0\0")]
    start += b"".join(load_class(serial, number, 1) for serial, number in ((3, missing), (4, subclass), (5, array)))
    whole = record(0x1C, classes + class_dump(missing, OBJECT) + others + mixed) + END
    broken = start + whole + record(0x1C, classes + others + mixed) + END + whole
    copy, text = repair(broken, tmp_path)
    assert copy == start + whole + record(0x1C, classes + b"".join(kept)) + END + whole
    assert left_out(text) == len(others) + sum(len(use) for use in uses)


def test_all_uses_of_what_is_undefined_are_left_out(tmp_path: Path) -> None:
    """Names, class serials, frames and threads, in far more records than there are passes."""
    many = range(100)
    missing = struct.pack(">Q", 0x77777777)
    records = [record(2, struct.pack(">IQIQ", 100 + i, 0x1000 + i, 0, 0x77777777)) for i in many]
    records += [record(4, struct.pack(">QQQQII", 0x2000 + i, 1, 1, 0, 100 + i % 7, 1)) for i in many]
    records += [record(4, struct.pack(">QQQQII", 0x3000 + i, 1, 0x77777777, 0, 1, 1)) for i in many]
    records += [record(5, struct.pack(">IIIQ", 200 + i, 0, 1, 0x2000 + i % 7)) for i in many]
    records += [record(0x0A, struct.pack(">IQIQQQ", 300 + i, 0x20, 0, 0x77777777, 0, 0)) for i in many]
    roots = [struct.pack(">BQII", 0x03, 0x20, 999, 0) for i in many]
    fields = [class_dump(0x4000 + 8 * i, OBJECT, 4, 1).replace(struct.pack(">QB", 1, 10), missing + b"\x0a") for i in many]
    loads = [load_class(400 + i, 0x4000 + 8 * i, 1) for i in many]
    start = VALID[: VALID.index(b"\x1c\0\0\0\0")] + b"".join(loads)
    heap = VALID[VALID.index(b"\x1c\0\0\0\0") + 9 : -len(END)]
    copy, text = repair(start + b"".join(records) + record(0x1C, heap + b"".join(roots + fields)) + END, tmp_path, "strict")
    assert copy == start + record(0x1C, heap) + END
    assert left_out(text) == sum(map(len, records + roots + fields))


def test_a_record_without_a_length_that_leads_to_it(tmp_path: Path) -> None:
    """A record of unknown size, and bytes that are none: what follows is found by its own lengths."""
    rest = record(0x1C, b"".join(instance(0x2000 + 8 * i, OBJECT) for i in range(20)))
    for lost in (b"\x77" * 40, struct.pack(">BII", 0x01, 0, 0xFFFFFF) + b"abc", record(0x77, b"abc")[:-1] + b"\x77" * 30):
        copy, text = repair(VALID[: -len(END)] + lost + rest + END, tmp_path)
        assert copy == VALID[: -len(END)] + rest + END
        assert left_out(text) == len(lost)


def test_references_to_missing_stack_traces_are_set_to_0(tmp_path: Path) -> None:
    """However many there are: nothing is left out for them, and references to a trace that is there stay."""
    missing = [0x71717171, 0x72727272, 0x73737373, 0xFFFFFFFF]
    traces = [0, 8, *missing[:2]]
    data = (
        VALID[:HEADER]
        + record(5, struct.pack(">III", 8, 0, 0))
        + b"".join(record(1, struct.pack(">Q", number) + name) for number, name in ((1, b"Thing"), (2, b"[LThing;")))
    )
    for number in range(60):
        data += record(2, struct.pack(">IQIQ", number + 1, 0x100 + number, traces[number % 4], 2 if number == 1 else 1))
    data += record(0x0A, struct.pack(">IQIQQQ", 1, 0x200, missing[0], 1, 1, 1))
    heap = b"".join(
        struct.pack(">BQIQ", 0x20, 0x100 + number, traces[number % 4], 0x100 if number else 0) + bytes(5 * 8 + 4 + 6)
        for number in range(60)
    )
    heap += struct.pack(">BQIQI", 0x21, 0x200, missing[0], 0x100, 0) + struct.pack(">BQIIQ", 0x22, 0x208, missing[2], 0, 0x101)
    heap += struct.pack(">BQIIB", 0x23, 0x210, missing[3], 0, 8) + struct.pack(">BQII", 0x08, 0x200, 1, missing[0])
    data += record(0x1C, heap) + END
    copy, text = repair(data, tmp_path, "strict")
    assert text.startswith("nothing was left out\nset to 0: 65 references to missing stack traces\ncopy: valid by profile strict, ")
    for serial in missing:
        data = data.replace(struct.pack(">I", serial), bytes(4))
    assert copy == data


def test_warnings_are_counted(tmp_path: Path) -> None:
    _, text = repair(dump(object_array(0x40, OBJECTS, [0x1000, 0x1008])), tmp_path, "strict")
    assert "copy: valid by profile strict, 2 warnings, " in text


def test_an_instance_without_a_class_is_left_out_at_once(tmp_path: Path) -> None:
    """Zeros took its end. One record is mended, once."""
    rest = b"".join(instance(0x100 + 16 * i, OBJECT) for i in range(20))
    zeros = instance(0x40, OBJECT)[:13] + bytes(12) + bytes(4096)
    copy, text = repair(dump(instance(0x20, OBJECT), zeros, rest), tmp_path)
    assert copy == dump(instance(0x20, OBJECT), rest)
    assert "4,121 bytes   1 range outside of records\nmended: 1 record length\n" in text


def test_a_repair_gives_the_same_copy_each_time(tmp_path: Path) -> None:
    """It gives new IDs to two classes, which lie in a hash table whose key is drawn in each run."""
    dump = SOURCE / "corpus/either/jvmpi-agent-style.hprof"
    for copy in range(12):
        run("--profile", "strict", "--force", "--repair", str(copy), dump, cwd=tmp_path)
    assert len({(tmp_path / str(copy)).read_bytes() for copy in range(12)}) == 1


def test_the_number_of_threads_changes_nothing(tmp_path: Path) -> None:
    """Several records, each larger than what is worth threads."""
    if "HPROF_GEN" not in os.environ:
        pytest.skip("needs hprof-gen")
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    path = tmp_path / "dump.hprof"
    subprocess.run([os.environ["HPROF_GEN"], "--like", "hotspot", "--bytes", "12M", "--seed", str(seed), "-o", path], check=True)
    data = bytearray(path.read_bytes())
    for _ in range(dice.randrange(1, 4)):
        at = dice.randrange(HEADER, len(data))
        data[at : at + dice.choice([1, 4096, 65536])] = bytes(dice.choice([0, 1, 4096]))
    (tmp_path / "broken").write_bytes(data)
    copies = []
    for jobs in (1, 2, 5):
        done = run(f"-j{jobs}", "--repair", "copy", "broken", cwd=tmp_path)
        copies.append((done.status, done.out, done.err, (tmp_path / "copy").read_bytes()))
    assert copies[0] == copies[1] == copies[2], f"seed {seed}"


def test_random_changes(made: bytes, tmp_path: Path) -> None:
    dice = random.Random(17)
    copies = 0
    for _ in range(40):
        broken = bytearray(made)
        for _ in range(dice.choice([1, 1, 3, 30])):
            broken[dice.randrange(HEADER, len(made))] = dice.randrange(256)
        (tmp_path / "broken").write_bytes(broken)
        done = run("--profile", "auto", "--no-stand-ins", "--repair", "copy", "broken", cwd=tmp_path)
        assert done.status in (0, 1)
        if done.status == 0:
            copies += 1
            assert has_no_fault(tmp_path / "copy", "auto")
            if "set to 0" not in done.out:
                check_nothing_is_new((tmp_path / "copy").read_bytes(), bytes(broken))
    assert copies > 30


# ---- gzip ------------------------------------------------------------------------------------------------------------

MEMBER = 1 << 20


def members(packed: bytes) -> list[tuple[int, int]]:
    """Where each member begins and ends."""
    found, at = [], 0
    while at < len(packed):
        inflater = zlib.decompressobj(31)
        inflater.decompress(packed[at:])
        end = len(packed) - len(inflater.unused_data)
        found.append((at, end))
        at = end
    return found


def members_of_segments(data: bytes) -> bytes:
    """Compressed in members that begin with a segment each, as HotSpot makes them."""
    starts, at = [0], HEADER
    while at < len(data):
        tag, _, length = struct.unpack_from(">BII", data, at)
        if tag == 0x1C and at - starts[-1] > MEMBER // 2:
            starts.append(at)
        at += 9 + length
    return b"".join(gzip.compress(data[a:b], 1) for a, b in zip(starts, [*starts[1:], len(data)], strict=True))


@pytest.fixture(scope="module", params=[False, True])
def packed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """A dump, compressed and not: 9 members that begin anywhere in segments of 300 KiB, with all classes in the first one; or the
    members begin with a segment each. No other bytes look like the start of a member: one within a damaged member would count."""
    if "HPROF_GEN" not in os.environ:
        pytest.skip("needs hprof-gen")
    path = tmp_path_factory.mktemp("packed") / "dump.hprof"
    packed = data = b""
    while packed.count(b"\x1f\x8b\x08") != len(members(packed)) or not packed:
        command = ["--like=hotspot-8", "--load=map", "--bytes=9M", "--segment-size=300k", "--gz=1"]
        command.append(f"--seed={random.SystemRandom().randrange(1 << 32)}")
        print("hprof-gen", *command)
        subprocess.run([os.environ["HPROF_GEN"], *command, "-o", path], check=True)
        packed = path.read_bytes()
        data = gzip.decompress(packed)
        if request.param:
            packed = members_of_segments(data)
    return packed, data


def hole(packed: bytes, start: int, end: int) -> bytes:
    return packed[:start] + packed[end:]


def changed(packed: bytes, start: int, new: bytes) -> bytes:
    return packed[:start] + new + packed[start + len(new) :]


DAMAGES: dict[str, Callable[[bytes, int, int], bytes]] = {
    "magic": lambda p, start, end: changed(p, start, b"\0"),
    "method": lambda p, start, end: changed(p, start + 2, b"\7"),
    "header": lambda p, start, end: changed(p, start + 1, b"\0\7"),
    "zeros": lambda p, start, end: changed(p, (start + end) // 2, bytes(1000)),
    "noise": lambda p, start, end: changed(p, (start + end) // 2, random.Random(start).randbytes(1000)),
    "hole": lambda p, start, end: hole(p, (start + end) // 2, (start + end) // 2 + 1000),
    "gone": hole,
    "trailer": lambda p, start, end: changed(p, end - 8, bytes(8)),
}


@pytest.mark.parametrize(("number", "damage"), [case for how in DAMAGES for case in any_one([(3, how), (5, how)])])
def test_what_follows_a_damaged_gzip_member_is_used(packed: tuple[bytes, bytes], damage: str, number: int, tmp_path: Path) -> None:
    """At most that member is lost, and what remains of the segments in which it begins and ends."""
    original, data = packed
    broken = DAMAGES[damage](original, *members(original)[number - 1])
    copy, text = repair(broken, tmp_path)
    assert len(copy) > len(data) - MEMBER - 2 * (300 << 10)
    check_parts_are_old(copy, data)
    if damage in {"magic", "method"}:
        assert copy == data and "mended: the header of 1 gzip member\n" in text
    if damage == "header":
        assert re.search(rf"^ +[0-9,]+ bytes   1 range of gzip member {number} that cannot be decompressed$", text, re.MULTILINE)
    if damage != "gone":
        assert "gzip member" in text
    again = run("--profile", "auto", "--repair", "again", "-", cwd=tmp_path, stdin=broken)
    assert again.status == 0
    assert len((tmp_path / "again").read_bytes()) > len(data) - 2 * MEMBER - 2 * (300 << 10)


def check_parts_are_old(copy: bytes, data: bytes) -> None:
    """All parts of the copy are in the original. The instance that a missing member cuts takes the bytes after it, the rest of
    which may look like a root."""
    old = set(parts(data))
    new = sum(len(part) for part in parts(copy) if part not in old and part != b"\x2c\0\0\0\0\0\0\0\0")
    assert new <= 64


def test_several_damaged_gzip_members(packed: tuple[bytes, bytes], tmp_path: Path) -> None:
    """And a truncated last one."""
    original, data = packed
    broken = original[:-3000]
    for number in (3, 5, 7):
        broken = changed(broken, members(original)[number - 1][0] + 1, b"\0\7")
    copy, text = repair(broken, tmp_path)
    assert len(copy) > len(data) - 4 * MEMBER - 7 * (300 << 10)
    check_parts_are_old(copy, data)
    assert "resumed: after 3 damaged gzip members\n" in text
    assert "lost, if there was more: what follows the last fault of the gzip file\n" in text


def test_the_rest_of_a_longer_gzip_file_is_no_part_of_the_dump(packed: tuple[bytes, bytes], made: bytes, tmp_path: Path) -> None:
    """The dump was written over it. Later members may even begin with a segment each."""
    original, data = packed
    for whole, inside in ((original, data), (gzip.compress(made), made)):
        broken = whole + original[random.SystemRandom().randrange(100, len(original) // 2) :]
        (tmp_path / "broken").write_bytes(broken)
        done = run("broken", cwd=tmp_path)
        assert "likely: the dump is complete, and other bytes follow its gzip data: " in done.out, done.out
        copy, text = repair(broken, tmp_path)
        assert copy == inside and text.startswith("nothing was left out\ncopy: valid"), text


def test_a_gzip_member_with_a_wrong_checksum_is_used(made: bytes, tmp_path: Path) -> None:
    first = gzip.compress(made[:3000])
    copy, text = repair(changed(first, len(first) - 8, b"\1\2\3") + gzip.compress(made[3000:]), tmp_path)
    assert copy == made
    assert text.startswith("nothing was left out\nused: 1 gzip member with a wrong checksum or size\ncopy: valid")


def stored(data: bytes) -> bytes:
    """A gzip member without compression, so that a changed byte of it is a changed byte of the dump."""
    return gzip.compress(data, 0)


def test_nothing_is_named_by_bytes_that_may_be_wrong(tmp_path: Path) -> None:
    """A member with a wrong checksum gives the name of a class, and the class of an instance."""
    header, heap = VALID[:31], VALID.index(b"\x1c\0\0\0\0")
    names = utf8(5, "Secret") + load_class(5, 0x30, 5)
    records, segment = VALID[31:heap], VALID[heap:]
    undefined = record(0x1C, instance(0x48, 0x30))
    plain = header + records + names + undefined + segment
    assert re.search(r" 25 bytes   1 INSTANCE_DUMP Secret$", repair(plain, tmp_path)[1], re.MULTILINE)

    wrong = stored(records + names).replace(b"Secret", b"Zecret")
    text = repair(stored(header) + wrong + stored(undefined + segment), tmp_path)[1]
    assert re.search(r" 25 bytes   1 INSTANCE_DUMP class 0x30$", text, re.MULTILINE)
    assert "ecret" not in text

    classes = record(0x1C, class_dump(0x30, OBJECT))
    wrong = stored(undefined).replace(struct.pack(">Q", 0x30), struct.pack(">Q", 0x1030))
    before = record(0x1C, b"".join(instance(0x100 + 8 * i, 0x999) for i in range(3)))  # they move what follows
    text = repair(stored(header + records + names + before + classes) + wrong + stored(segment), tmp_path)[1]
    assert re.search(r" 75 bytes   3 INSTANCE_DUMP class 0x999$", text, re.MULTILINE)
    assert re.search(r" 25 bytes   1 record or object that may be wrong: the gzip member is damaged$", text, re.MULTILINE)
    assert "0x1030" not in text


def test_objects_that_are_defined_twice_in_a_damaged_member_are_not_known(tmp_path: Path) -> None:
    """Compressed data repeats earlier bytes. So the first sign of damage may be an ID that is there already, long before reading
    fails."""
    heap = VALID.index(b"\x1c\0\0\0\0")
    old = [instance(0x1000 + 16 * i, OBJECT) for i in range(500)]
    wrong = [*old[:150], old[149], *(instance(0x9000 + 16 * i, OBJECT) for i in range(340)), b"\xee" * len(old[0]), *old[492:]]
    member = stored(record(0x1C, b"".join(old))).replace(b"".join(old), b"".join(wrong))
    copy, text = repair(stored(VALID[:heap]) + member + stored(VALID[heap:]), tmp_path)
    assert {part for part in parts(copy) if part in wrong} <= set(old[:150])
    assert "records and objects that may be wrong: the gzip member is damaged\n" in text


@pytest.mark.parametrize("seed", range(3 if TAKES_SOME else 11))
def test_no_class_is_made_of_damaged_bytes(packed: tuple[bytes, bytes], seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    start, end = members(packed[0])[dice.choice([2, 3, 4, 5])]
    at = dice.randrange(start + 20, end - 20)
    text = repair(changed(packed[0], at, bytes([packed[0][at] ^ 1 << dice.randrange(8)])), tmp_path)[1]
    assert "class 0x" not in text


def test_a_truncated_gzip_file(made: bytes, tmp_path: Path) -> None:
    packed = gzip.compress(made[:3000]) + gzip.compress(made[3000:])
    assert repair(packed, tmp_path)[0] == made
    copy, text = repair(packed[:-200], tmp_path)
    assert "lost, if there was more: what follows the last fault of the gzip file" in text
    check_nothing_is_new(copy, made)
    assert len(copy) > 3000


# ---- What the report of the check names -------------------------------------------------------------------------------


def damaged_in_some_way(dice: random.Random, data: bytes) -> tuple[str, bytes]:
    at = dice.randrange(1, len(data) if dice.randrange(2) else len(data) // 10)
    end = min(len(data), at + dice.choice([1, 100, 4096, 1 << 20]))
    plain = {
        "cut": data[:at],
        "zeros": data[:at] + bytes(end - at) + data[end:],
        "noise": data[:at] + dice.randbytes(end - at) + data[end:],
        "lost": data[:at] + data[end:],
        "no header": data[at:],
        "text before": b"Dumping ...\n" + data[:at],
        "twice": data + data[:at],
    }
    kind = dice.choice([*plain])
    damaged, how = plain[kind], f"{kind} at {at:#x}"
    for change in dice.sample(["latin-1", "CR LF", "gzip", "cut again"], dice.randrange(3)):
        if change == "latin-1":
            damaged = damaged.decode("latin-1").encode()
        elif change == "CR LF":
            damaged = damaged.replace(b"\n", b"\r\n")
        elif change == "gzip":
            damaged = gzip.compress(damaged, 1)
        else:
            damaged = damaged[: dice.randrange(len(damaged) + 1)]
        how += f", {change}"
    return how, damaged


@pytest.mark.parametrize("name", ["agent8", "jdk8", "jdk17", "jdk25", "sa17"])
def test_a_fix_that_is_named_makes_a_copy(name: str, tmp_path: Path) -> None:
    """What may give nothing is only to be tried."""
    data, seed = gold.read(SOURCE, name), random.SystemRandom().randrange(1 << 32)
    dice, fixes = random.Random(seed), 0
    for _ in range(6 if TAKES_SOME else 40):
        how, damaged = damaged_in_some_way(dice, data)
        (tmp_path / "damaged").write_bytes(damaged)
        named = re.search(r"^  fix: hprof-validate (.*)$", run("damaged", cwd=tmp_path).out, re.MULTILINE)
        if named is None:
            continue
        fixes += 1
        (tmp_path / "fixed.hprof").unlink(missing_ok=True)
        done = run(*named[1].split(), cwd=tmp_path)
        assert (done.status, (tmp_path / "fixed.hprof").exists()) == (0, True), f"seed {seed}, {how}: {done.err}"
    assert fixes or TAKES_SOME


@pytest.mark.parametrize("name", some(["agent8", "jdk8", "jdk17", "jdk25", "sa17"]))
def test_no_repair_is_offered_that_makes_nothing(name: str, tmp_path: Path) -> None:
    """A dump that is no more than definitions, or ends with zeros, noise or nothing within them."""
    data, seed = gold.read(SOURCE, name), random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    heap = next(body - 9 for tag, body, _ in record_offsets(data) if tag in HEAPS)
    for _ in range(5):
        at = dice.randrange(HEADER + 1, heap)
        damaged = data[:at] + dice.choice(
            [bytes(len(data) - at), dice.randbytes(len(data) - at), b"", bytes(dice.randrange(1, 5000))]
        )
        (tmp_path / "damaged").write_bytes(damaged)
        (tmp_path / "copy").unlink(missing_ok=True)
        checked = run("damaged", cwd=tmp_path)
        offered = "--repair" in checked.out
        made = run("--repair", "copy", "damaged", cwd=tmp_path).status == 0
        assert made == (tmp_path / "copy").exists()
        assert offered == made or checked.status == 0, f"seed {seed}, {at:#x}: {offered} {made}"


def test_the_length_of_a_record_is_mended_where_something_follows_it(made: bytes, tmp_path: Path) -> None:
    """A record, or the end of the dump. Before noise, nothing shows that it is one."""
    dice = random.Random(seed := random.SystemRandom().randrange(1 << 32))
    heap = next(body - 9 for tag, body, _ in record_offsets(made) if tag in HEAPS)
    for tag, length in ((7, 24), (3, 4), (0xE, 6)):
        item = struct.pack(">BII", tag, 0, dice.randrange(1 << 31, 1 << 32)) + dice.randbytes(length)
        noise = b"\x7f" + dice.randbytes(300)
        for after, kept in ((made[heap:], 1), (b"", 1), (noise, 0)):
            copy, text = repair(made[:heap] + item + after, tmp_path)
            assert copy.count(item[9:]) == kept == text.count("mended: 1 record length\n"), (seed, tag, text)


def test_what_was_appended_is_no_record(made: bytes, tmp_path: Path) -> None:
    """Whatever its first byte is: CR is the tag of CPU_SAMPLES."""
    for text in (b"\r\n--boundary--\r\n", b"\nconnection reset\n", b"\x01" * 12):
        copy, report = repair(made + text, tmp_path)
        assert copy == made
        assert report.startswith(f"left out:\n{len(text):>16} bytes   1 range outside of records\n"), report


# ---- The file --------------------------------------------------------------------------------------------------------


def test_what_follows_the_end_is_left_out(made: bytes, tmp_path: Path) -> None:
    for more in (b"abc", b"x" * 100):
        copy, text = repair(made + more, tmp_path)
        assert copy == made
        assert left_out(text) == len(more)
        assert "HEAP_DUMP_END" not in text


def test_two_dumps_are_not_made_one(made: bytes, tmp_path: Path) -> None:
    copy, text = repair(made + VALID, tmp_path)
    assert copy == made
    assert f"all from 0x{len(made):x} on, where the header of another dump is" in text
    copy, text = repair(made[: len(made) // 2] + VALID, tmp_path)
    check_nothing_is_new(copy, made)
    assert f"all from 0x{len(made) // 2:x} on" in text


def test_the_offset_of_a_joined_dump(made: bytes, tmp_path: Path) -> None:
    (tmp_path / "joined").write_bytes(made + made)
    for arguments, offset in (([], hex(len(made))), (["--decimal"], str(len(made)))):
        assert f"left out: all from {offset} on, " in run(*arguments, "--repair", "copy", "joined", cwd=tmp_path).out


def test_the_limit_of_memory(tmp_path: Path) -> None:
    (tmp_path / "broken").write_bytes(VALID[:-3])
    done = run("--max-memory", "100K", "--repair", "copy", "broken", cwd=tmp_path)
    assert (done.status, done.err) == (4, "hprof-validate: broken: the memory limit was met\n")
    assert not (tmp_path / "copy").exists()


def test_standard_input(tmp_path: Path) -> None:
    done = run("--repair", "copy", "-", cwd=tmp_path, stdin=VALID[:-3])
    assert (done.status, (tmp_path / "copy").read_bytes()) == (0, VALID)


def test_a_class_that_is_dumped_again_is_left_out(tmp_path: Path) -> None:
    """Producers' profiles only warn, but VisualVM reads such a dump short, and MAT refuses it."""
    (tmp_path / "twice").write_bytes(dump(instance(0x20, OBJECT), class_dump(OBJECTS, OBJECT)))
    done = run("--profile", "hotspot", "--repair", "copy", "twice", cwd=tmp_path)
    assert (done.status, (tmp_path / "copy").read_bytes()) == (0, dump(instance(0x20, OBJECT)))
    assert "1 sub-record whose ID is dumped already\n" in done.out


def test_a_copy_from_which_objects_are_missing_is_incomplete(tmp_path: Path) -> None:
    (tmp_path / "cut").write_bytes(dump(instance(0x20, OBJECT), object_array(0x28, OBJECTS, [0x20, 0x30]))[:-9])
    done = run("--profile", "hotspot", "--repair", "copy", "cut", cwd=tmp_path)
    assert (done.status, done.out.splitlines()[-1].split(",")[0]) == (0, "copy: incomplete by profile hotspot")
    done = run("--profile", "hotspot", "--format", "json", "--force", "--repair", "copy", "cut", cwd=tmp_path)
    assert (done.status, json.loads(done.out)["complete"]) == (0, False)
    assert run("--profile", "hotspot", "copy", cwd=tmp_path).status == 1


def test_the_report_says_which_readers_refuse_a_copy_without_names_of_classes(tmp_path: Path) -> None:
    """As a VM that is killed before the first LOAD_CLASS has reached the disk leaves it."""
    data = dump(instance(0x20, OBJECT))
    for one in (load_class(1, OBJECT, 1), load_class(2, OBJECTS, 2)):
        data = data.replace(one, b"")
    (tmp_path / "nameless").write_bytes(data)
    done = run("--profile", "hotspot", "--force", "--repair", "copy", "nameless", cwd=tmp_path)
    assert done.status == 0
    assert "in the reader: no class is java.lang.System or java.lang.Class any more; VisualVM, which needs" in done.out


@pytest.mark.parametrize(("lost", "said"), [
    (["java/lang/System"], "no class is java.lang.System any more, which VisualVM needs: it refuses the copy; "),
    (["java/lang/Class"], "no class is java.lang.Class any more, which MAT needs: it refuses the copy; "),
    (["java/lang/System", "java/lang/Class"], "no class is java.lang.System or java.lang.Class any more; VisualVM, which "),
    (["java/lang/StringBuilder"], ""),
])  # fmt: skip
def test_the_report_says_which_readers_miss_the_name_of_a_class(lost: list[str], said: str, tmp_path: Path) -> None:
    original = read(gold.read(SOURCE, "jdk17"))
    data = original.data
    for r in reversed(original.records):
        if data[r.at] == 1 and data[r.at + 17 : r.end].decode("utf-8", "replace") in lost:
            data = data[: r.at] + bytes(r.end - r.at) + data[r.end :]
    (tmp_path / "broken").write_bytes(data)
    done = run("--repair", "copy", "broken", cwd=tmp_path)
    assert done.status == 0
    assert f"in the reader: {said}" in done.out if said else " is java.lang." not in done.out, done.out


def test_quiet(tmp_path: Path) -> None:
    (tmp_path / "broken").write_bytes(VALID[:-3])
    whole = run("--repair", "copy", "broken", cwd=tmp_path).out
    done = run("--quiet", "--repair", "copy", "broken", cwd=tmp_path)
    assert (done.status, done.out, done.err) == (0, whole.splitlines(keepends=True)[-1], "")
    assert done.out.startswith("copy: valid by profile ")
    done = run("-qq", "--repair", "copy", "broken", cwd=tmp_path)
    assert (done.status, done.out, done.err) == (0, "", "")
    for quiet in ("-q", "-qq"):
        done = run(quiet, "--output", "report", "--repair", "copy", "broken", cwd=tmp_path)
        assert (done.status, done.out, (tmp_path / "report").read_text()) == (0, "", whole)


def test_without_a_valid_copy_the_file_stays(tmp_path: Path) -> None:
    (tmp_path / "broken").write_bytes(b"no dump at all\n")
    (tmp_path / "copy").write_text("before")
    done = run("--repair", "copy", "broken", cwd=tmp_path)
    assert done.status == 1
    assert "header" in done.err
    assert (tmp_path / "copy").read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken", "copy"]


def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    """A device, such as /dev/null, is not replaced either."""
    (tmp_path / "broken").write_bytes(VALID[:-3])
    os.mkfifo(tmp_path / "pipe")
    done = run("--repair", "pipe", "broken", cwd=tmp_path)
    assert (done.status, done.err) == (3, "hprof-validate: pipe: not a regular file\n")
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--repair", "copy"], 2, "--repair takes one FILE"),
        (["--repair", "copy", "a", "b"], 2, "--repair takes one FILE"),
        (["--repair", "-", "valid"], 2, "--repair takes the name of a file, not '-'"),
        (["--repair", "valid", "valid"], 2, "would overwrite the input"),
        (["--repair", "copy", "--output", "./copy", "valid"], 2, "--repair and --output name the same file, 'copy'"),
        (["--repair", "copy", "--format", "sarif", "valid"], 2, "--repair has the formats concise and json only"),
        (["--repair", "copy", "missing"], 3, "missing: No such file"),
        (["--repair", "no/copy", "valid"], 3, "no/copy: No such file"),
        (["--repair", ".", "valid"], 3, ".: not a regular file"),
    ],
)
def test_usage(files: Path, arguments: list[str], status: int, message: str) -> None:
    before = sorted(files.iterdir())
    done = run(*arguments, cwd=files)
    assert done.status == status
    assert message in done.err
    assert sorted(files.iterdir()) == before
