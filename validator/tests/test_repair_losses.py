"""What --repair says was lost, compared with what is known of the dump before it was damaged."""

import contextlib
import json
import os
import random
import re
import struct
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from dumps import OBJECT, OBJECTS, class_dump, dump, instance, load_class, object_array, record, utf8
from some_cases import some
from test_field import record_offsets
from test_repair import size_of
from tool import SOURCE, on_a_terminal, run

from hprof_conformance import gold

SCHEMA = json.loads((SOURCE / "validator/repair.schema.json").read_text())
OBJECTS_OF = ("INSTANCE_DUMP", "OBJECT_ARRAY_DUMP", "PRIMITIVE_ARRAY_DUMP")
PRIMITIVES = {4: "boolean", 5: "char", 6: "float", 7: "double", 8: "byte", 9: "short", 10: "int", 11: "long"}
THREADS = "ROOT_THREAD_OBJECT"


def repair_json(folder: Path, name: str, options: tuple[str, ...] = ("--no-stand-ins",)) -> Any:
    done = run("--format", "json", *options, "--repair", "copy", name, cwd=folder)
    found = json.loads(done.out)
    jsonschema.validate(found, SCHEMA)
    assert found["status"] == done.status
    return found


def classes_of(data: bytes, tags: tuple[int, ...] = (0x21, 0x22, 0x23)) -> dict[int, str]:
    """The class of each object of these sub-records, by its ID. The names come from the dump's own records."""
    (i,) = struct.unpack_from(">I", data, 19)
    word = ">Q" if i == 8 else ">I"
    strings: dict[int, str] = {}
    names: dict[int, str] = {}
    found: dict[int, str] = {}

    def number(at: int) -> int:
        return int(struct.unpack_from(word, data, at)[0])

    for tag, body, end in record_offsets(data):
        if tag == 0x01:
            strings[number(body)] = data[body + i : end].decode(errors="replace")
        elif tag == 0x02:
            names[number(body + 4)] = strings.get(number(body + 8 + i), "")
    for tag, at, end in record_offsets(data):
        while tag in (0x0C, 0x1C) and at < end:
            sub = data[at] if data[at] in tags else 0
            if sub == 0x21:
                found[number(at + 1)] = dotted(names.get(number(at + 5 + i), ""))
            elif sub == 0x22:
                found[number(at + 1)] = dotted(names.get(number(at + 9 + i), ""))
            elif sub == 0x23:
                found[number(at + 1)] = PRIMITIVES[data[at + 9 + i]] + "[]"
            at += size_of(data, at, i)
    return found


def dotted(name: str) -> str:
    depth = len(name) - len(name.lstrip("["))
    if depth and name[depth : depth + 1] == "L":
        name = name[depth + 1 : -1]
    return name.replace("/", ".") + "[]" * depth


DAMAGES = ["truncate", "disk-full", "lose", "zero-page", "insert", "double", "tag", "count", "length", "lose-segment", "gz-cut"]


# Roots that are there twice, or that other bytes have made of something else.
MAY_MAKE_ROOTS = set(DAMAGES) - {"truncate", "disk-full", "lose-segment", "gz-cut"}


@pytest.mark.parametrize("like", ["hotspot", "jdk8-agent", "sa"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_losses_against_the_manifest(damage: str, like: str, tmp_path: Path) -> None:
    if "HPROF_GEN" not in os.environ:
        pytest.skip("needs hprof-gen")
    seed = str(random.randrange(1 << 32))
    print(f"seed {seed}")
    more = ["--gz", "1"] if damage == "gz-cut" else []
    more += ["--segment-size", "20k"] if damage == "lose-segment" and like == "hotspot" else []
    gen = [os.environ["HPROF_GEN"], "--like", like, "--objects", "2000", "--seed", seed]
    made = subprocess.run(
        [*gen, "--damage", damage, *more, "-o", "broken", "--manifest", "truth.json"],
        cwd=tmp_path,
        check=False,
        capture_output=True,
    )
    if made.returncode == 2:
        pytest.skip(made.stderr.decode())
    subprocess.run([*gen, *(more if "--segment-size" in more else []), "-o", "whole"], cwd=tmp_path, check=True)
    truth = json.loads((tmp_path / "truth.json").read_text())
    whole = (tmp_path / "whole").read_bytes()
    found = repair_json(tmp_path, "broken")
    if found["status"] == 1:
        assert found["failure"].startswith(("no object can be read", "the header"))
        return
    harmed = truth["damage"]["not_whole"]
    names = classes_of(whole)
    lost = Counter(names[int(one["id"], 16)] for one in harmed if one["record"] in OBJECTS_OF)
    all_lost = truth["objects"] - found["kept"]["objects"]
    is_cut = damage in {"truncate", "disk-full"}
    # What follows the end of the heap dump once more is another heap dump.
    is_end_twice = damage == "double" and any(
        place["offset"] + place["bytes"] + 16 > len(whole) for place in truth["damage"]["places"]
    )

    assert found["kept"]["objects"] <= truth["objects"] or is_end_twice
    assert found["missing_objects"] <= all_lost + truth["quirks"].get("REF-002", 0) + truth["sub_records"]["CLASS_DUMP"]
    for kind, counts in found["roots"].items():
        assert counts["kept"] <= truth["roots"][kind] or damage in MAY_MAKE_ROOTS
        assert counts["kept"] + counts["lost"] <= truth["roots"][kind] or not is_cut
    for kind, count in truth["roots"].items():
        kept = found["roots"].get(kind, {"kept": 0})["kept"]
        harmed_roots = sum(one["record"] == kind for one in harmed)
        assert kept == count - harmed_roots if is_cut else kept <= count or damage in MAY_MAKE_ROOTS
    assert found["kept"]["threads"] == found["roots"].get(THREADS, {"kept": 0})["kept"]
    if is_cut and like != "jdk8-agent":  # whose classes come last
        assert all_lost == lost.total()
        assert all(one["objects"] <= lost[one["class"]] for one in found["lost_by_class"])
    elif is_cut:
        assert all_lost >= lost.total()

    copy, by_type = (Counter(classes_of((tmp_path / "copy").read_bytes(), tags).values()) for tags in ((0x21, 0x22), (0x23,)))
    for one in found["lost_by_class"]:
        assert one["objects"] > 0
        if not found["classes_without_name"] and not one["class"].startswith("class 0x"):
            # A class of primitive arrays is named by their type, or by an object whose class ID is damaged.
            assert one["kept"] == copy[one["class"]] or one["kept"] == by_type[one["class"]] > 0


def test_what_people_read(tmp_path: Path) -> None:
    """Three of eight objects of a class have no ID, one of two threads is there twice, and a class has lost its name."""
    nameless = [instance(0, OBJECT)] * 3
    kept = [instance(0x20 + 8 * n, OBJECT) for n in range(3)]
    others = [instance(0x80 + 8 * n, OBJECT) for n in range(2)]
    threads = [struct.pack(">BQII", 0x08, 0x20 + 8 * n, n + 1, 0) for n in range(2)]
    unnamed = class_dump(0x100, OBJECT) + instance(0x200, 0x100)
    array = object_array(0x300, 0x18, [0x5000, 0x5008])
    data = dump(*kept, *others, *nameless, array, threads[0], threads[1], threads[1], unnamed)
    (tmp_path / "broken").write_bytes(data)
    out = run("--profile", "hotspot", "--no-stand-ins", "--repair", "copy", "broken", cwd=tmp_path).out
    assert "lost:\n    3 objects that were read, 75 bytes\n    at least 2 objects that others refer to\n" in out
    assert "    3 of 8 java.lang.Object (38 %), 75 bytes\n" in out
    assert "    the names of 1 class\n" in out
    found = repair_json(tmp_path, "broken", ("--profile", "hotspot", "--no-stand-ins"))
    assert found["lost_by_class"] == [{"class": "java.lang.Object", "objects": 3, "bytes": 75, "kept": 5}]
    assert (found["missing_objects"], found["classes_without_name"], found["kept"]["objects"]) == (2, 1, 7)


def test_the_ten_largest_classes_are_shown(tmp_path: Path) -> None:
    names = b"".join(utf8(100 + n, f"Class{n}") + load_class(100 + n, 0x1000 + 8 * n, 100 + n) for n in range(15))
    classes = b"".join(class_dump(0x1000 + 8 * n, OBJECT) for n in range(15))
    objects = [instance(0x8000 + 8 * n, 0x1000 + 8 * (n % 15)) for n in range(120)]
    # So many of each class as its number, eight at most, have no ID.
    nameless = [instance(0, 0x1000 + 8 * (n % 15)) for n in range(120) if n // 15 < n % 15]
    data = dump(classes, *objects, *nameless)
    data = data[:31] + names + data[31:]
    (tmp_path / "broken").write_bytes(data)
    out = run("--repair", "copy", "broken", cwd=tmp_path).out
    shown = [int(count) for count in re.findall(r"^    (\d+) of \d+ Class\d+ \(", out, re.MULTILINE)]
    lost = sorted((min(n, 8) for n in range(1, 15)), reverse=True)
    assert shown == lost[:10]
    assert "    and objects of 4 other classes\n" in out
    assert len(repair_json(tmp_path, "broken")["lost_by_class"]) == 14


def test_what_is_there_twice_is_not_lost(tmp_path: Path) -> None:
    """Where the second copy begins with a whole sub-record, no length is wrong in it: each ID is dumped again."""
    data = gold.read(SOURCE, "jdk25")
    objects = [start for tag, start, _ in sub_records(data) if tag in (0x21, 0x22, 0x23)]
    first, last = objects[len(objects) * 9 // 10], objects[len(objects) * 9 // 10 + 1000]
    (tmp_path / "doubled").write_bytes(data[:last] + data[first:])
    out = run("--repair", "copy", "doubled", cwd=tmp_path).out
    assert " 1,000 sub-records whose ID is dumped already\n" in out
    assert "lost:" not in out and "of the objects" not in out


def test_the_reader_needs_a_setting_when_no_root_is_left(tmp_path: Path) -> None:
    """The roots of JDK 8 come last, so a cut takes all of them."""
    advice = 'GC roots: none are left; in MAT set "keep unreachable objects"'
    data = gold.read(SOURCE, "jdk8")
    (tmp_path / "cut").write_bytes(data[: len(data) * 2 // 3])
    out = run("--repair", "copy", "cut", cwd=tmp_path).out
    threads = {struct.unpack_from(">I", data, at + 4)[0] for tag, at, _ in record_offsets(data) if tag == 5} - {0}
    assert f"    all GC roots\n    {len(threads)} of {len(threads)} threads\n" in out
    assert f"in the reader: {advice}\n" in out
    shown = on_a_terminal("--color=never", "--repair", "copy", "cut", cwd=tmp_path, columns=60).replace("\r", "").splitlines()
    begin = next(i for i, line in enumerate(shown) if line.startswith("in the reader:"))
    assert max(map(len, shown[begin : begin + 2])) <= 60
    assert " ".join(" ".join(shown[begin : begin + 2]).split()) == f"in the reader: {advice}"
    assert repair_json(tmp_path, "cut")["advice"] == advice
    (tmp_path / "whole").write_bytes(data)
    out = run("--repair", "copy", "whole", cwd=tmp_path).out
    assert "lost:" not in out
    assert "in the reader" not in out
    assert repair_json(tmp_path, "whole")["advice"] is None


def test_a_thread_that_a_trace_names_is_lost_with_its_root(tmp_path: Path) -> None:
    """Threads 1 to 4 have stack traces. The first has its root, the third a START_THREAD, which the HPROF agent also writes of
    threads that end before the dump; the bytes of another root are damaged. In a dump without damage nothing is said of threads."""
    traces = b"".join(record(5, struct.pack(">III", n, n, 0)) for n in range(1, 5))
    traces += record(0x0A, struct.pack(">IQIQQQ", 3, 0x20, 3, 0, 0, 0))
    root, damage = struct.pack(">BQII", 0x08, 0x20, 1, 1), b"\x77" * 17
    for bytes_there, line, lost in ((damage, "    2 of 3 threads\n", 2), (b"", "", 0)):
        data = dump(instance(0x20, OBJECT), root, bytes_there, *[instance(0x28 + 8 * n, OBJECT) for n in range(40)])
        (tmp_path / "dump").write_bytes(data[:31] + traces + data[31:])
        out = run("--repair", "copy", "dump", cwd=tmp_path).out
        assert re.findall(r"^.* threads\n", out, re.MULTILINE) == [line][: lost > 0], out
        assert repair_json(tmp_path, "dump")["lost_threads"] == lost


def sub_records(data: bytes) -> list[tuple[int, int, int]]:
    """The tag, start and end of each."""
    (i,) = struct.unpack_from(">I", data, 19)
    found = []
    for tag, at, end in record_offsets(data):
        while tag in (0x0C, 0x1C) and at < end:
            found.append((data[at], at, at + size_of(data, at, i)))
            at = found[-1][2]
    return found


def is_root(tag: int) -> bool:
    return tag < 0x20 or tag == 0xFF or 0x89 <= tag <= 0x90


def roots_of(data: bytes) -> Counter[bytes]:
    return Counter(data[at:end] for tag, at, end in sub_records(data) if is_root(tag))


@pytest.mark.parametrize("damage", ["page", "gap", "cut", "tag"])
@pytest.mark.parametrize("name", some(["agent8", "jdk8", "jdk17", "jdk17-i386", "jdk25", "jdk28", "sa17"]))
def test_roots_in_what_cannot_be_read_are_lost(name: str, damage: str, tmp_path: Path) -> None:
    data, dice = gold.read(SOURCE, name), random.Random(seed := random.randrange(1 << 32))
    all_places = sub_records(data)
    places = [place for place in all_places if is_root(place[0])] if dice.randrange(3) else all_places
    _, start, end = dice.choice(places)
    at, size = dice.randrange(start, end), dice.choice((16, 100, 4096))
    broken = {
        "page": data[:at] + bytes(min(4096, len(data) - at)) + data[at + 4096 :],
        "gap": data[:at] + data[at + size :],
        "cut": data[:at],
        "tag": data[:start] + b"\x50" + data[start + 1 :],
    }[damage]
    (tmp_path / "broken").write_bytes(broken)
    out = run("--force", "--repair", "copy", "broken", cwd=tmp_path).out
    copy = (tmp_path / "copy").read_bytes()
    lost = roots_of(data) - roots_of(copy)
    told = re.search(r"^    (all|perhaps) GC roots|^    [\d,]+ of [\d,]+ ROOT_", out, re.MULTILINE)
    assert told or not lost, f"seed {seed}: {lost.total()} roots are lost, from {at:#x} on: {out}"
    assert lost or "GC roots, in" not in out or damage in {"cut", "gap"}, f"seed {seed}, from {at:#x} on: {out}"


@pytest.mark.parametrize("tag", [0x21, 0x22, 0x23])
@pytest.mark.parametrize("name", some(["agent8", "jdk8", "jdk17", "jdk17-i386", "jdk25", "jdk28", "sa17"]))
def test_an_object_that_cannot_be_read_is_missing_for_the_check_too(name: str, tag: int, tmp_path: Path) -> None:
    """It has lost some bytes. Its ID is there, but it is in no copy; and what it refers to does not count, because that may be no
    ID. An instance names it: what an array alone names may be excused where it is no longer seen that it was dumped."""
    data, dice = gold.read(SOURCE, name), random.Random(seed := random.randrange(1 << 32))
    (i,) = struct.unpack_from(">I", data, 19)
    head = {0x21: 9 + 2 * i, 0x22: 9 + 2 * i, 0x23: 10 + i}[tag]
    heap = sub_records(data)
    named = {data[at : at + i] for kind, start, end in heap if kind == 0x21 for at in range(start + 9 + 2 * i, end - i + 1)}
    places = [(start, end) for kind, start, end in heap if kind == tag and end - start > head + 16]
    start, end = dice.choice([place for place in places if data[place[0] + 1 : place[0] + 1 + i] in named])
    at = dice.randrange(start + head, end - 15)
    broken = data[:at] + data[at + dice.randrange(1, 16) :]
    (tmp_path / "broken").write_bytes(broken)
    repaired = repair_json(tmp_path, "broken")
    for one in ("broken", "-"):
        checked = json.loads(run("--format", "json", one, cwd=tmp_path, stdin=broken).out)["files"][0]["missing_objects"]
        assert checked == repaired["missing_objects"] or repaired["mended"]["sizes"], f"seed {seed}, {at:#x}: {checked}"


def lengths_lead_on(data: bytes, start: int, starts: set[int], most: int) -> bool:
    """Whether sub-records from `start` on come to one of `starts`."""
    (i,) = struct.unpack_from(">I", data, 19)
    with contextlib.suppress(KeyError, IndexError, struct.error):  # types that are none, and the end of the dump
        while start < most and start not in starts and (data[start] in (0x20, 0x21, 0x22, 0x23) or is_root(data[start])):
            start += size_of(data, start, i)
    return start in starts


@pytest.mark.parametrize("tag", [0x21, 0x22, 0x23])
@pytest.mark.parametrize("name", some(["agent8", "jdk8", "jdk17", "jdk17-i386", "jdk25", "jdk28", "sa17"]))
def test_an_object_that_bytes_which_are_there_twice_cut_in_two_is_kept(name: str, tag: int, tmp_path: Path) -> None:
    """Nothing else can be left of the second copy: its lengths do not lead on."""
    data, dice = gold.read(SOURCE, name), random.Random(seed := random.randrange(1 << 32))
    (i,) = struct.unpack_from(">I", data, 19)
    heap = sub_records(data)
    places = [(start, end) for kind, start, end in heap if kind == tag and end - start > 9 + 2 * i + 8]
    for start, end in dice.sample(places[len(places) // 4 :], 20):
        at = dice.randrange(start + 9 + 2 * i, end)
        size = at - start + dice.randrange(64, 4096)
        broken = data[:at] + data[at - size :]
        again = {one + size for _, one, _ in heap if at - size <= one}
        if not lengths_lead_on(broken, start, again, at + 2 * size):
            break
    (tmp_path / "broken").write_bytes(broken)
    run("--repair", "copy", "broken", cwd=tmp_path)
    assert (tmp_path / "copy").read_bytes() == data, f"seed {seed}, {size} bytes before {at:#x}"


def test_a_segment_that_ends_in_the_next_one_takes_nothing_of_it(tmp_path: Path) -> None:
    """Its last bytes are lost, so that it ends at any byte of the next header or of the first object there. That object is so made
    that what begins with the last byte of its class looks like a record, which ends out of sight."""
    class_id, serials = 0x70000001C, range(25000)
    values = struct.pack(">7I", 0x1C000000, 0x07000000, 0, 0, 0, 0, 0)
    objects = [struct.pack(">BQIQI", 0x21, 0x800000000 + 64 * i, 0, class_id, len(values)) + values for i in serials]
    names = utf8(1, "java/lang/Object") + utf8(2, "C") + load_class(1, OBJECT, 1) + load_class(2, class_id, 2)
    classes = class_dump(OBJECT, 0) + class_dump(class_id, OBJECT, len(values), 7)
    first, second = classes + b"".join(objects[:300]), b"".join(objects[300:])
    for past in range(1, 10 + len(objects[0])):
        segments = struct.pack(">BII", 0x1C, 0, len(first) + past) + first + record(0x1C, second)
        (tmp_path / "broken").write_bytes(b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 1) + names + segments + record(0x2C, b""))
        report = repair_json(tmp_path, "broken")
        assert (report["kept"]["objects"], report["missing_objects"]) == (len(objects), 0), past
        assert report["bytes_left_out"] <= 9, past


def test_an_array_that_the_end_of_the_dump_truncates_is_missing_for_the_check_too(tmp_path: Path) -> None:
    fields = class_dump(0x30, OBJECT, 8)[:-2] + struct.pack(">HQB", 1, 1, 2)
    holder = struct.pack(">BQIQIQ", 0x21, 0x2000, 0, 0x30, 8, 0x2008)
    array = struct.pack(">BQIIB", 0x23, 0x2008, 0, 4000, 8) + bytes(4000)
    data = dump(fields, holder, array)
    for lost in (random.randrange(10, 4000), 9):  # 9 for the HEAP_DUMP_END alone
        (tmp_path / "broken").write_bytes(data[:-lost])
        missing = int(lost > 9)
        assert repair_json(tmp_path, "broken", ("--force",))["missing_objects"] == missing
        for one in ("broken", "-"):
            done = run("--format", "json", one, cwd=tmp_path, stdin=data[:-lost])
            assert json.loads(done.out)["files"][0]["missing_objects"] == missing


# ---- The profile -----------------------------------------------------------------------------------------------------


def nameless(damage: str) -> bytes:
    """A dump of an unknown producer, in which something about names is wrong."""
    names = {"utf8": b"\xc0\xff\x80", "undefined": None}.get(damage, b"Thing")
    head = dump()[: dump().index(b"\x1c\0\0\0\0")]
    if damage == "array":
        head = head.replace(b"[Ljava/lang/Object;", b"XLjava/lang/Object;")
    thing = record(1, struct.pack(">Q", 9) + names) if names else b""
    thing += b"" if damage == "no load" else load_class(9, 0x100, 0 if damage == "zero" else 9)
    heap = (
        class_dump(OBJECT, 0)
        + class_dump(0x18, OBJECT)
        + class_dump(0x100, OBJECT, 4, 1).replace(
            struct.pack(">QB", 1, 10), struct.pack(">QB", 0x7777 if damage == "undefined" else 1, 10)
        )
    )
    heap += b"".join(struct.pack(">BQIQII", 0x21, 0x1000 + 8 * n, 0, 0x100, 4, n) for n in range(50))
    heap += object_array(0x4000, 0x18, [0x1000 + 8 * n for n in range(50)])
    return head + thing + record(0x1C, heap) + record(0x2C, b"")


@pytest.mark.parametrize("damage", ["utf8", "undefined", "no load", "zero", "array"])
def test_no_object_is_dropped_for_a_name(damage: str, tmp_path: Path) -> None:
    """Names get stand-ins, and the copy is valid by the profile that the next check uses."""
    data = nameless(damage)
    (tmp_path / "broken").write_bytes(data)
    assert run("--profile", "strict", "broken", cwd=tmp_path).status == 1
    found = repair_json(tmp_path, "broken", ())
    assert (found["status"], found["kept"]["objects"]) == (0, 51)
    assert run("copy", cwd=tmp_path).status == 0
    assert run("--profile", found["profile"], "copy", cwd=tmp_path).status == 0


@pytest.mark.parametrize("name", ["jdk8", "jdk17", "jdk25", "agent8"])
def test_a_real_dump_with_bad_names_keeps_all_objects(name: str, tmp_path: Path) -> None:
    """All names are gone, or have bytes that are not UTF-8."""
    data, seed = gold.read(SOURCE, name), random.randrange(1 << 32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    (i,) = struct.unpack_from(">I", data, 19)
    at, kept, spoiled = 31, [data[:31]], [data[:31]]
    while at < len(data):
        tag, _, length = struct.unpack_from(">BII", data, at)
        whole = data[at : at + 9 + length]
        text = tag == 0x01 and length > i and dice.random() < 0.3
        if not text:
            kept.append(whole)
        spoiled.append(whole[: 9 + i] + b"\xff" + whole[10 + i :] if text else whole)
        at += 9 + length
    objects = None
    for broken in (data, b"".join(kept), b"".join(spoiled)):
        (tmp_path / "broken").write_bytes(broken)
        found = repair_json(tmp_path, "broken")
        objects = objects or found["kept"]["objects"]
        assert found["kept"]["objects"] == objects
        assert found["bytes_left_out"] == 0 or found["lost_by_class"] == []


@pytest.mark.parametrize("name", ["jdk8", "jdk8-i386", "jdk17"])
def test_bytes_of_the_length_of_a_record_before_sub_records_hide_none(name: str, tmp_path: Path) -> None:
    """The end of a FRAME and the first segment's header are lost, and as many bytes of a CLASS_DUMP are left as the FRAME had."""
    data = gold.read(SOURCE, name)
    frame, after = [(body - 9, end) for tag, body, end in record_offsets(data) if tag == 0x04][-1]
    classes = [(start, end) for tag, start, end in sub_records(data) if tag == 0x20 and end - start > after - frame]
    _, end = random.choice(classes[:20])
    kept = random.randrange(1, 6)  # of the header
    (tmp_path / "broken").write_bytes(data[: frame + kept] + data[end - (after - frame - kept) :])
    repair_json(tmp_path, "broken", ("--force",))
    there = Counter(data[start:stop] for _, start, stop in sub_records(data) if start >= end)
    copy = (tmp_path / "copy").read_bytes()
    lost = there - Counter(copy[start:stop] for _, start, stop in sub_records(copy))
    assert lost.total() <= len(classes) + 10, (frame, end, kept)  # stand-ins are in place of classes that are lost by their names


@pytest.mark.parametrize("fakes", range(13))
def test_an_array_that_begins_in_roots_that_cannot_be_there_is_read(fakes: int, tmp_path: Path) -> None:
    """An array before it says that it has fewer elements. The rest of them, bytes 0xff, look like such roots; they take the first
    bytes of its header, and in its elements other roots follow, and then a failure."""
    dice = random.Random(seed := random.randrange(1 << 32))

    def array(number: int, data: bytes) -> bytes:
        return struct.pack(">BQIIB", 0x23, number, 0, len(data), 8) + data

    left = 9 * dice.randrange(1, 30) + 2  # the last root takes seven bytes of the next header
    short = bytearray(array(0x10100, b"\xff" * (left + dice.randrange(100))))
    struct.pack_into(">I", short, 13, len(short) - 18 - left)
    elements = dice.randbytes(7) + b"".join(struct.pack(">BQ", 5, 0x10600 + 8 * k) for k in range(fakes)) + b"\x77"
    elements += bytes((5 - len(elements)) % 256 + 256 * dice.randrange(3))
    after = [array(0x10540, elements), *(array(0x10800 + 8 * k, bytes(dice.randrange(30))) for k in range(40))]
    data = dump(class_dump(0x10000, OBJECT), array(0x100F8, b"abc"), bytes(short), *after)
    loaded = load_class(2, OBJECTS, 2)
    (tmp_path / "broken").write_bytes(data.replace(loaded, loaded + load_class(3, 0x10000, 1)))
    checked = json.loads(run("--format", "json", "broken", cwd=tmp_path).out)["files"][0]
    assert (checked["counts"]["PRIMITIVE_ARRAY_DUMP"], checked["counts"]["ROOT_STICKY_CLASS"]) == (2 + len(after), 0), seed
    assert checked["skipped"] <= left, seed
    repair_json(tmp_path, "broken")
    copy = (tmp_path / "copy").read_bytes()
    assert all(one in copy for one in after), seed


@pytest.mark.parametrize("name", ["array", "instance"])
def test_bytes_that_lead_to_the_next_object_by_chance_are_no_lost_one(name: str, tmp_path: Path) -> None:
    """The last bytes of an array, or of an instance whose class is lost, look like an array that ends where an object begins."""
    after = [instance(0x1000 + 8 * n, OBJECT) for n in range(40)]
    length = len(b"".join(after[:5]))
    like = struct.pack(">BQIIB", 0x23, 0x2C, 0x04010001, length, 8)  # dumped nowhere; its stack trace is not defined
    holder = (
        struct.pack(">BQIQI", 0x21, 0x400, 0, 0x600, 6 + len(like)) + bytes(6) + like
        if name == "instance"
        else struct.pack(">BQIIB", 0x23, 0x400, 0, 6 + len(like), 8) + bytes(6) + like
    )
    data = dump(object_array(0x300, OBJECTS, [0x2C, 0x700]), holder, *after)
    (tmp_path / "dump").write_bytes(data)
    assert "objects lie within" not in run("--profile", "hotspot", "dump", cwd=tmp_path).out
    run("--profile", "hotspot", "--no-stand-ins", "--force", "--repair", "copy", "dump", cwd=tmp_path)
    copy = (tmp_path / "copy").read_bytes()
    assert all(one in copy for one in after)
    assert copy.count(like) == (name == "array")
    if name == "array":
        assert copy == data
