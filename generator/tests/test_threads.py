"""The report of a dump is true whatever the number of threads that check it: by the manifest of hprof-gen, and for dumps in which
every reference leads nowhere. Comparing threads with one thread would not show what both miss."""

import json
import os
import random
import re
import struct
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from some_cases import some

VALIDATE, GEN = os.environ["HPROF_VALIDATE"], os.environ["HPROF_GEN"]
OBJECTS = "80000"  # 5 MB and more: several jobs
THREADS = (1, 2, 3, 8)
SEED = int(os.environ.get("HPROF_SEED", str(random.SystemRandom().randrange(1 << 32))))

Finding = tuple[str, int]
UNREAD = {"OBJ-002", "OBJ-006"}  # the references of such an instance are not read

DUMPS = {
    "plain": [],
    "hotspot": ["--like", "hotspot"],
    "instances before classes": ["--like", "jdk8-agent"],
    "one heap dump record": ["--like", "sa"],
    "version 1.0.1": ["--dump-version", "1.0.1"],
    "small segments": ["--segment-size", "2K"],
    "heap dumps": ["--heap-dumps", "3"],
    "wide classes": ["--shape", "deep"],
    "a graph": ["--shape", "graph", "--id-size", "4", "--objects", "200000"],
    "duplicates": ["--violate", "OBJ-004", "--violations", "3"],
    "an object with the ID of a class": ["--violate", "OBJ-005"],
    "undefined objects": ["--violate", "REF-002", "--violations", "30"],
    "undefined classes": ["--violate", "OBJ-002"],
    "wrong lengths of instances": ["--violate", "OBJ-006", "--violations", "30"],
    "undefined stack traces": ["--violate", "STK-012", "--violations", "3"],
    "an undefined sub-record": ["--violate", "REC-013"],
}


def report(path: Path, threads: int, form: str = "lines", *options: str) -> str:
    command: list[str | Path] = [VALIDATE, "--profile=strict", "--format", form, "--max-errors", "0"]
    command += ["--jobs", str(threads), *options, path]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False, text=True)
    assert done.returncode in (0, 1), done.stdout
    return done.stdout


def generate(path: Path, *options: str) -> None:
    manifest = path.with_suffix(".json")
    command: list[str | Path] = [GEN, "--quiet", "--objects", OBJECTS, "--seed", str(SEED), *options, "--manifest", manifest]
    subprocess.run([*command, "-o", path], check=True, timeout=120)
    assert path.stat().st_size > 4 << 20


@pytest.mark.parametrize("name", some(DUMPS))
def test_the_report_is_what_the_manifest_says(name: str, tmp_path: Path) -> None:
    path = tmp_path / "dump.hprof"
    generate(path, *DUMPS[name])
    manifest = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    planted = Counter((violation["rule"], violation["offset"]) for violation in manifest["violations"])
    for threads in THREADS:
        done = json.loads(report(path, threads, "json", "--profile", manifest["profile"]))["files"][0]
        found = Counter((finding["rule"], finding["offset"]) for finding in done["findings"] if finding["severity"] != "note")
        assert found == planted, f"{threads} threads, HPROF_SEED={SEED}"
        if "REC-013" in {rule for rule, _ in planted}:
            continue  # the rest of its segment is not checked
        counts = {tag: count for tag, count in done["counts"].items() if tag in manifest["sub_records"] | manifest["records"]}
        assert counts == manifest["sub_records"] | manifest["records"]
        if not UNREAD & {rule for rule, _ in planted}:
            assert done["counts"]["references"] == manifest["references"], f"{threads} threads, HPROF_SEED={SEED}"


def test_a_truncated_dump_is_the_same_for_threads(tmp_path: Path) -> None:
    path = tmp_path / "dump.hprof"
    generate(path)
    os.truncate(path, path.stat().st_size - 1234567)
    expected = report(path, 1)
    for threads in THREADS:
        assert report(path, threads) == expected


# ---- Every reference leads nowhere ----


@dataclass
class Writer:
    """Sub-records in segments of about the same size, and the findings that they are worth."""

    segment: int
    done: bytearray
    body: bytearray
    expected: "Counter[Finding]"

    @property
    def at(self) -> int:
        return len(self.done) + 9 + len(self.body)

    def end_segment(self) -> None:
        self.done += struct.pack(">BII", 0x1C, 0, len(self.body)) + self.body
        self.body.clear()

    def add(self, subrecord: bytes, *findings: Finding) -> None:
        """The offsets of the findings are within the sub-record."""
        if self.body and len(self.body) + len(subrecord) > self.segment:
            self.end_segment()
        self.expected.update((rule, self.at + offset) for rule, offset in findings)
        self.body += subrecord


def record(tag: int, body: bytes) -> bytes:
    return struct.pack(">BII", tag, 0, len(body)) + body


def class_dump(class_id: int, super_id: int, size: int, fields: int) -> bytes:
    head = struct.pack(">BQIQ5QIHHH", 0x20, class_id, 0, super_id, 0, 0, 0, 0, 0, size, 0, 0, fields)
    return head + struct.pack(">QB", 4, 2) * fields


OBJECT, EARLY, LATE, ARRAY = 0x100, 0x200, 0x300, 0x400


def copies_of_instances(dice: random.Random) -> bytes:
    """Looks like sub-records, of which the last one leads into the middle of what follows."""
    count = dice.randrange(40000, 90000)
    copies = (
        struct.pack(">BQIQIQ", 0x21, dice.randrange(1, 1 << 40), 0, EARLY, 8, dice.randrange(1, 1 << 40)) for _ in range(count)
    )
    return b"".join(copies) + struct.pack(">BQIIB", 0x23, 1, 0, dice.randrange(1000, 100000), 8)


def write(
    order: str, segment: int, duplicates: bool, dice: random.Random, arrays_of_copies: int = 0
) -> tuple[bytes, "Counter[Finding]"]:
    """Instances of a class that was dumped before them, of one that is dumped at the end, and Object[]; 30,000 references, each to
    another ID that is not dumped. Each object in seven is dumped twice if `duplicates` is set. A byte[] with copies of instances
    is not read."""
    names = ["java/lang/Object", "Early", "Late", "[Ljava/lang/Object;"]
    done = bytearray(b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 1795521603000))
    for i, name in enumerate([*names, "reference"]):
        done += record(0x01, struct.pack(">Q", i or 5) + name.encode())
    for i, class_id in enumerate((OBJECT, EARLY, LATE, ARRAY)):
        done += record(0x02, struct.pack(">IQIQ", i + 1, class_id, 0, i or 5))
    w = Writer(segment, done, bytearray(), Counter())
    for class_id, fields in ((OBJECT, 0), (EARLY, 1), (ARRAY, 0)):
        w.add(class_dump(class_id, OBJECT if class_id != OBJECT else 0, 8 * fields, fields))
    places = dice.sample(range(1 << 20), 60000)  # 8 MB of addresses, so that pages of IDs are shared
    defined: list[int] = []
    for number in range(30000):
        object_id, undefined = 0x7000000000 + 8 * places[2 * number], 0x7000000000 + 8 * places[2 * number + 1]
        is_duplicate = bool(duplicates and defined and dice.randrange(7) == 0)
        if is_duplicate:
            object_id = dice.choice(defined)
        defined.append(object_id)
        twice = [("OBJ-004", 1)] if is_duplicate else []
        kind = order if order != "mixed" else dice.choice(["early", "late", "array"])
        if kind == "array":
            w.add(struct.pack(">BQIIQQ", 0x22, object_id, 0, 1, ARRAY, undefined), ("REF-002", 25), *twice)
        else:
            class_id = EARLY if kind == "early" else LATE
            w.add(struct.pack(">BQIQIQ", 0x21, object_id, 0, class_id, 8, undefined), ("REF-002", 25), *twice)
        w.add(struct.pack(">BQIIB160x", 0x23, (1 << 40) + 8 * number, 0, 160, 8))
        if arrays_of_copies and number % (30000 // arrays_of_copies) == 0:
            copies = copies_of_instances(dice)
            w.add(struct.pack(">BQIIB", 0x23, (1 << 41) + 8 * number, 0, len(copies), 8) + copies)
    w.add(class_dump(LATE, OBJECT, 8, 1))
    w.end_segment()
    return bytes(w.done) + record(0x2C, b""), w.expected


def expect(path: Path, content: bytes, expected: "Counter[Finding]") -> None:
    path.write_bytes(content)
    assert len(content) > 4 << 20
    for threads in THREADS:
        lines = re.findall(r":0x([0-9a-f]+): \w+: ([A-Z]+-\d+) ", report(path, threads))
        found = Counter((rule, int(offset, 16)) for offset, rule in lines)
        assert found == expected, f"{threads} threads, HPROF_SEED={SEED}"


@pytest.mark.parametrize("order", ["early", "late", "array", "mixed"])
@pytest.mark.parametrize("duplicates", [False, True], ids=["once", "twice"])
def test_all_references_lead_nowhere(order: str, duplicates: bool, tmp_path: Path) -> None:
    dice = random.Random(f"{SEED} {order} {duplicates}")
    expect(tmp_path / "dump.hprof", *write(order, dice.choice([3000, 100000, 1 << 20, 1 << 26]), duplicates, dice))


def test_copies_of_sub_records_in_a_giant_record_are_not_checked(tmp_path: Path) -> None:
    """Where a giant record is cut within such an array, a thread takes the copies for sub-records until it knows better."""
    dice = random.Random(SEED)
    expect(tmp_path / "dump.hprof", *write("mixed", 1 << 26, True, dice, arrays_of_copies=6))
