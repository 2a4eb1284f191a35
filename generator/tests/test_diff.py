"""hprof-diff finds what was changed, and nothing else, whatever the order of the records; and says how a pair differs."""

import gzip
import json
import os
import random
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from gen_tool import SOURCE, VALIDATOR, memory_of, run, truth
from some_cases import SHARE, shortened, some

from hprof_corpus.assembler import assemble
from hprof_corpus.walk import Shapes, records, subrecords

TOOL = os.environ["HPROF_DIFF"]
SCHEMA = jsonschema.Draft202012Validator(json.loads((SOURCE / "validator/diff.schema.json").read_text()))
HEADER = 31
RUN = 16 << 20
LOAD_CLASS, HEAP_DUMP, SEGMENT, END = 2, 0x0C, 0x1C, 0x2C
KINDS = {"INSTANCE_DUMP": "instances", "OBJECT_ARRAY_DUMP": "object_arrays", "PRIMITIVE_ARRAY_DUMP": "primitive_arrays"}


def diff(*args: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([TOOL, *args], capture_output=True, text=True, check=False, timeout=120, stdin=subprocess.DEVNULL)


def report(a: Path, b: Path, *args: str) -> Any:
    done = diff("--format=json", *args, a, b)
    assert (done.returncode in (0, 1), done.stderr) == (True, ""), (done.returncode, done.stderr)
    found = json.loads(done.stdout)
    SCHEMA.validate(shortened(found))
    assert found["by"] == "id"
    assert found["equal"] == (done.returncode == 0)
    assert diff("--quiet", a, b).returncode == done.returncode
    return found


def changes(found: Any) -> dict[str, tuple[int, int, int]]:
    """What is not the same, by kind: changed, only in A, only in B."""
    numbers = {kind: (c["changed"], c["only_in_a"], c["only_in_b"]) for kind, c in found["kinds"].items()}
    return {kind: three for kind, three in numbers.items() if any(three)}


# ---- Dumps in pieces -------------------------------------------------------------------------------------------------


@dataclass
class Part:
    kind: str
    data: bytes
    payload: int  # where its values begin; 0 for what stays as it is


@dataclass
class Pieces:
    header: bytes
    records: list[bytes]  # but those of the heap
    heap: list[Part]

    def dump(self, dice: random.Random | None = None) -> bytes:
        """In their order in one record, or in any order in many."""
        first, heap = list(self.records), list(self.heap)
        if dice is None:
            return self.header + b"".join(first) + self.segment(heap) + self.record(END, b"")
        dice.shuffle(first)
        dice.shuffle(heap)
        cuts = sorted(dice.sample(range(len(heap)), 20))
        pairs = zip([0, *cuts], [*cuts, len(heap)], strict=True)
        return self.header + b"".join(first + [self.segment(heap[a:b]) for a, b in pairs]) + self.record(END, b"")

    def segment(self, parts: list[Part]) -> bytes:
        return self.record(SEGMENT, b"".join(part.data for part in parts))

    @staticmethod
    def record(tag: int, body: bytes) -> bytes:
        return bytes([tag]) + bytes(4) + len(body).to_bytes(4, "big") + body


def array(one: tuple[int, bytes]) -> bytes:
    """Of bytes: its ID and its elements."""
    id, values = one
    return b"\x23" + id.to_bytes(8, "big") + bytes(4) + len(values).to_bytes(4, "big") + b"\x08" + values


def pieces(data: bytes, id_size: int) -> Pieces:
    found = Pieces(data[:HEADER], [], [])
    for record in records(data, HEADER):
        if record.tag in (HEAP_DUMP, SEGMENT):
            for shape, at, _, tail, end in subrecords(data, record.body, record.end, Shapes(id_size)):
                name = shape.record.name
                found.heap.append(Part(name, data[at:end], tail - at if name in KINDS and end > tail else 0))
        elif record.tag != END:
            found.records.append(data[record.at : record.end])
    return found


def changed(parts: list[Part], dice: random.Random) -> tuple[list[Part], dict[str, tuple[int, int, int]]]:
    """Some objects with another value, some left out, some with another ID; and how many of each kind."""
    numbers: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS.values()}
    made = []
    for part in parts:
        kind, lot = KINDS.get(part.kind, ""), dice.randrange(100)
        if not part.payload or lot > 3:
            made.append(part)
        elif lot == 0:
            numbers[kind]["gone"] += 1
        elif lot == 1:
            new = part.data[:1] + bytes([0x66, *dice.randbytes(3)]) + part.data[5:]
            made.append(Part(part.kind, new, part.payload))
            numbers[kind]["gone"] += 1
            numbers[kind]["new"] += 1
        else:
            at = dice.randrange(part.payload, len(part.data))
            value = bytes([part.data[at] ^ dice.randrange(1, 256)])
            made.append(Part(part.kind, part.data[:at] + value + part.data[at + 1 :], part.payload))
            numbers[kind]["changed"] += 1
    three = {kind: (n["changed"], n["gone"], n["new"]) for kind, n in numbers.items()}
    return made, {kind: numbers for kind, numbers in three.items() if any(numbers)}


# ---- Properties ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id_size", [4, 8])
def test_the_changes_are_found_whatever_the_order(id_size: int, tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    dice = random.Random(seed)
    manifest = truth("--like=hotspot", f"--id-size={id_size}", "--objects=5000", f"--seed={seed}", folder=tmp_path)
    whole = pieces((tmp_path / "dump.hprof").read_bytes(), id_size)
    (tmp_path / "shuffled.hprof").write_bytes(whole.dump(dice))
    found = report(tmp_path / "dump.hprof", tmp_path / "shuffled.hprof")
    assert (found["equal"], changes(found), found["differences"]) == (True, {}, []), seed
    for kind, name in KINDS.items():
        assert found["kinds"][name]["same"] == manifest["sub_records"][kind]
    parts, expected = changed(whole.heap, dice)
    other = Pieces(whole.header, whole.records, parts)
    for in_order in (None, dice):
        (tmp_path / "other.hprof").write_bytes(other.dump(in_order))
        found = report(tmp_path / "dump.hprof", tmp_path / "other.hprof", "--max-differences=10000")
        assert changes(found) == expected, seed
        numbers = [sum(one[key] for one in found["classes"]) for key in ("changed", "only_in_a", "only_in_b")]
        assert numbers == [sum(three[i] for three in expected.values()) for i in range(3)], seed
        assert len(found["differences"]) == sum(numbers)
        first = report(tmp_path / "dump.hprof", tmp_path / "other.hprof", "--max-differences=3")["differences"]
        assert first == found["differences"][:3], seed
        back = report(tmp_path / "other.hprof", tmp_path / "dump.hprof")
        assert changes(back) == {kind: (one, b, a) for kind, (one, a, b) in expected.items()}, seed


def replaced(whole: Pieces, at: int, *parts: Part) -> bytes:
    return Pieces(whole.header, whole.records, [*whole.heap[:at], *parts, *whole.heap[at + 1 :]]).dump()


def test_objects_at_both_ends_of_a_run_are_compared(tmp_path: Path) -> None:
    """Objects that begin between two multiples of 16 MiB are compared as one, and one by one if they differ."""
    seed = random.randrange(1 << 32)
    dice = random.Random(seed)
    manifest = truth("--like=hotspot", "--id-size=8", "--bytes=8M", f"--seed={seed}", folder=tmp_path)
    whole = pieces((tmp_path / "dump.hprof").read_bytes(), 8)
    whole.heap.insert(len(whole.heap) // 4, Part("PRIMITIVE_ARRAY_DUMP", array((1 << 60, bytes(11 * RUN // 4))), 18))
    (tmp_path / "a").write_bytes(whole.dump())
    objects = sum(manifest["sub_records"][kind] for kind in KINDS) + 1
    ends: list[int] = []
    at, last = len(whole.header) + sum(map(len, whole.records)) + 9, 0
    for i, part in enumerate(whole.heap):
        if part.payload and (not ends or at // RUN > last // RUN or (at + len(part.data)) // RUN > at // RUN):
            ends.append(i)
        last, at = at, at + len(part.data)
    ends.append(max(i for i, part in enumerate(whole.heap) if part.payload))
    assert len(ends) > 4
    for i in some(ends):
        part, kind = whole.heap[i], KINDS[whole.heap[i].kind]
        other = replaced(whole, i, Part(part.kind, part.data[:-1] + bytes([part.data[-1] ^ 1]), part.payload))
        (tmp_path / "b").write_bytes(gzip.compress(other, 1) if dice.randrange(4) == 0 else other)
        found = report(tmp_path / "a", tmp_path / "b")
        assert (changes(found), len(found["differences"])) == ({kind: (1, 0, 0)}, 1), (seed, i)
        assert sum(found["kinds"][kind]["same"] for kind in KINDS.values()) == objects - 1, (seed, i)
    i = dice.choice(ends[1:])
    kind = KINDS[whole.heap[i].kind]
    (tmp_path / "b").write_bytes(replaced(whole, i))
    assert changes(report(tmp_path / "a", tmp_path / "b")) == {kind: (0, 1, 0)}, (seed, i)
    assert changes(report(tmp_path / "b", tmp_path / "a")) == {kind: (0, 0, 1)}, (seed, i)
    (tmp_path / "b").write_bytes(Pieces(whole.header, whole.records, whole.heap[:i]).dump())
    gone = Counter(KINDS[part.kind] for part in whole.heap[i:] if part.kind in KINDS)
    found = report(tmp_path / "a", tmp_path / "b", "--by=id")
    assert {kind: three for kind, three in changes(found).items() if kind in gone} == {kind: (0, n, 0) for kind, n in gone.items()}


def test_runs_of_many_segments_are_compared_by_any_number_of_threads(tmp_path: Path) -> None:
    """Each segment is a run; 64 are compared at once, while those of both dumps have the same size."""
    seed = random.randrange(1 << 32)
    dice = random.Random(seed)
    truth("--like=hotspot", "--id-size=8", "--bytes=8M", f"--seed={seed}", folder=tmp_path)
    whole = pieces((tmp_path / "dump.hprof").read_bytes(), 8)
    cuts = sorted(dice.sample(range(len(whole.heap)), dice.choice([30, 90])))
    a, b, expected = [], [], Counter[tuple[str, int]]()
    for first, end in zip([0, *cuts], [*cuts, len(whole.heap)], strict=True):
        other = whole.heap[first:end]
        if dice.randrange(8) == 0:
            other, numbers = changed(other, dice)
            expected.update({(kind, i): n for kind, three in numbers.items() for i, n in enumerate(three)})
        a.append(whole.segment(whole.heap[first:end]))
        b.append(whole.segment(other))
    for name, segments in (("a", a), ("b", b)):
        (tmp_path / name).write_bytes(whole.header + b"".join([*whole.records, *segments]) + whole.record(END, b""))
    all_three = {kind: (expected[kind, 0], expected[kind, 1], expected[kind, 2]) for kind in KINDS.values()}
    wanted = {kind: three for kind, three in all_three.items() if any(three)}
    reports = [report(tmp_path / "a", tmp_path / "b", f"--jobs={jobs}") for jobs in (1, 2, dice.choice([3, 8, 9, 64]))]
    assert changes(reports[0]) == wanted, seed
    assert reports[1:] == reports[:1] * 2, seed


def revalued(whole: Pieces, dice: random.Random) -> tuple[list[Part], Counter[str]]:
    """Every second object or so with other values, and some arrays with another class or length; how many of each kind."""
    classes = [part.data[17:25] for part in whole.heap if part.kind == "OBJECT_ARRAY_DUMP" and part.payload]
    made, numbers = [], Counter[str]()
    for part in whole.heap:
        data = part.data
        if part.payload and dice.randrange(2):
            at = dice.choice([len(data) - 1, dice.randrange(part.payload, len(data))])
            data = data[:at] + bytes([data[at] ^ dice.randrange(1, 256)]) + data[at + 1 :]
            if part.kind == "OBJECT_ARRAY_DUMP" and dice.randrange(3) == 0:
                data = data[:17] + dice.choice(classes) + data[25:]
            if part.kind == "PRIMITIVE_ARRAY_DUMP" and data[17] == 8 and dice.randrange(3) == 0:
                values = data[18:] + dice.randbytes(dice.randrange(90)) if dice.randrange(2) else data[18:-1]
                data = data[:13] + len(values).to_bytes(4, "big") + b"\x08" + values
            numbers[KINDS[part.kind]] += 1
        made.append(Part(part.kind, data, part.payload))
    return made, numbers


def test_objects_of_which_most_changed_are_counted_as_one_by_one(tmp_path: Path) -> None:
    """Their differences are not among the first ones, so they are counted a run at a time; otherwise they are looked at each."""
    seed = random.randrange(1 << 32)
    dice = random.Random(seed)
    truth("--like=hotspot", "--id-size=8", "--objects=6000", f"--seed={seed}", folder=tmp_path)
    whole = pieces((tmp_path / "dump.hprof").read_bytes(), 8)
    for i, length in enumerate(dice.choices([1 << 16, 1 << 17, 1 << 20], k=6)):
        large = array(((1 << 60) + i, dice.randbytes(length - dice.randrange(40))))
        whole.heap.insert(dice.randrange(len(whole.heap) // 2, len(whole.heap)), Part("PRIMITIVE_ARRAY_DUMP", large, 18))
    parts, numbers = revalued(whole, dice)
    cuts = sorted(dice.sample(range(len(parts)), dice.choice([0, 3, 20])))
    segments: list[list[bytes]] = [[], []]
    for first, end in zip([0, *cuts], [*cuts, len(parts)], strict=True):
        for side, heap in enumerate((whole.heap, parts)):
            segments[side].append(whole.segment(heap[first:end]))
    for name, some_segments in zip("ab", segments, strict=True):
        data = whole.header + b"".join([*whole.records, *some_segments]) + whole.record(END, b"")
        (tmp_path / name).write_bytes(data)
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(data, 1))
    each = report(tmp_path / "a", tmp_path / "b", "--max-differences=10000")
    assert changes(each) == {kind: (n, 0, 0) for kind, n in numbers.items()}, seed
    assert len(each["differences"]) == sum(numbers.values())
    for jobs, kind, most in ((1, "", 10), (2, "", 0), (dice.choice([3, 8, 9, 64]), "", 1), (2, ".gz", dice.choice([0, 100]))):
        found = report(tmp_path / f"a{kind}", tmp_path / f"b{kind}", f"--jobs={jobs}", f"--max-differences={most}")
        assert (found["kinds"], found["classes"]) == (each["kinds"], each["classes"]), (seed, jobs, kind)
        assert found["differences"] == each["differences"][:most], (seed, jobs, kind)


def test_classes_may_be_loaded_after_their_objects(tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    dice = random.Random(seed)
    truth("--like=hotspot", "--id-size=8", "--objects=3000", f"--seed={seed}", folder=tmp_path)
    whole = pieces((tmp_path / "dump.hprof").read_bytes(), 8)
    heaps = whole.heap, revalued(whole, dice)[0]
    loads = [record for record in whole.records if record[0] == LOAD_CLASS]
    others = [record for record in whole.records if record[0] != LOAD_CLASS]
    found = []
    for is_late in (False, True):
        for name, heap in zip("ab", heaps, strict=True):
            segment = whole.segment(sorted(heap, key=lambda part: part.kind == "CLASS_DUMP") if is_late else heap)
            data = [*others, segment, *loads] if is_late else [*others, *loads, segment]
            (tmp_path / name).write_bytes(whole.header + b"".join(data) + whole.record(END, b""))
        found += [report(tmp_path / "a", tmp_path / "b", "--by=id", f"--jobs={jobs}")["classes"] for jobs in (1, 2)]
    assert len(found[0]) > 10 and found[1:] == found[:1] * 3, seed


def test_runs_of_the_same_size_in_another_order_are_the_same(tmp_path: Path) -> None:
    """Some segments are left out of each dump, and some change places."""
    seed = random.randrange(1 << 32)
    dice = random.Random(seed)
    each, count = 700, 90

    arrays = [array((i + 1, dice.randbytes(40))) for i in range(count * each)]
    segments = [Pieces.record(SEGMENT, b"".join(arrays[n * each : n * each + each])) for n in range(count)]
    orders, kept = [], []
    for _ in range(2):
        order = dice.sample(range(count), count - dice.randrange(4))
        order = sorted(order[: count - 2 * dice.randrange(3)]) + order[count - 2 * dice.randrange(3) :]
        order = list(dict.fromkeys(order))
        orders.append(order)
        kept.append(set(order))
    header = b"JAVA PROFILE 1.0.2\0" + (8).to_bytes(4, "big") + bytes(8)
    for name, order in zip("ab", orders, strict=True):
        (tmp_path / name).write_bytes(header + b"".join(segments[i] for i in order) + Pieces.record(END, b""))
    reports = [report(tmp_path / "a", tmp_path / "b", "--by=id", f"--jobs={jobs}") for jobs in (1, 2, 9)]
    numbers = reports[0]["kinds"]["primitive_arrays"]
    found = tuple(numbers[key] for key in ("same", "changed", "only_in_a", "only_in_b"))
    assert found == (len(kept[0] & kept[1]) * each, 0, len(kept[0] - kept[1]) * each, len(kept[1] - kept[0]) * each), seed
    assert reports[1:] == reports[:1] * 2, seed


@pytest.mark.skipif("HPROF_SLOW" in os.environ, reason="the sanitizer's own memory")
def test_segments_in_another_order_wait_as_a_whole(tmp_path: Path) -> None:
    """Not object by object, each of which takes memory and time."""
    seed = random.randrange(1 << 32)
    truth("--like=hotspot", "--id-size=8", "--bytes=48M", f"--seed={seed}", folder=tmp_path)
    data = (tmp_path / "dump.hprof").read_bytes()
    framed = list(records(data, HEADER))
    first = [data[one.at : one.end] for one in framed if one.tag not in (SEGMENT, END)]
    segments = [data[one.at : one.end] for one in framed if one.tag == SEGMENT]
    assert len(segments) > 30
    random.Random(seed).shuffle(segments)
    (tmp_path / "shuffled").write_bytes(data[:HEADER] + b"".join([*first, *segments]) + Pieces.record(END, b""))
    command: list[str | Path] = [TOOL, "--quiet", "--by=id", tmp_path / "dump.hprof"]
    same, other = (memory_of(*command, tmp_path / name) for name in ("dump.hprof", "shuffled"))
    assert (same[0], other[0]) == (0, 0), seed
    assert other[1] < 3 * same[1] // 2, (seed, same, other)


def bytes_dump(*arrays: tuple[int, bytes], roots: int = 0) -> bytes:
    """Arrays with these IDs and elements, and roots that are all the same."""
    head = b"JAVA PROFILE 1.0.2\0" + (8).to_bytes(4, "big") + bytes(8)
    heap = b"".join(map(array, arrays)) + roots * (b"\xff" + bytes(7) + b"\1")
    return head + Pieces.record(SEGMENT, heap) + Pieces.record(END, b"")


def segmented(*segments: Iterable[tuple[int, bytes]]) -> bytes:
    """Arrays with these IDs and elements, in segments."""
    head = b"JAVA PROFILE 1.0.2\0" + (8).to_bytes(4, "big") + bytes(8)
    return head + b"".join(Pieces.record(SEGMENT, b"".join(map(array, arrays))) for arrays in segments) + Pieces.record(END, b"")


@pytest.mark.parametrize("most", [0, 1, 10000])
def test_what_changed_is_not_what_changed_places(most: int, tmp_path: Path) -> None:
    """In a run that is counted as a whole: two arrays that change places, and two of the same ID that do."""
    arrays = [(1 + i, i.to_bytes(40, "big")) for i in range(3000)]
    changed = [(id, bytes([id < 6]) + values[1:]) for id, values in arrays]
    swapped = [*changed[:2000], changed[2001], changed[2000], *changed[2002:]]
    twice = [*arrays, (9, bytes(40)), (9, b"\1" * 40)], [*changed, (9, b"\1" * 40), (9, bytes(40))]
    for a, b in ((arrays, changed), (arrays, swapped), twice):
        (tmp_path / "a").write_bytes(segmented(a))
        (tmp_path / "b").write_bytes(segmented(b))
        found = report(tmp_path / "a", tmp_path / "b", "--by=id", f"--max-differences={most}")
        assert (changes(found), len(found["differences"])) == ({"primitive_arrays": (5, 0, 0)}, min(most, 5))


def test_the_first_differences_may_be_in_runs_that_come_later(tmp_path: Path) -> None:
    def run(first: int, values: bytes) -> list[tuple[int, bytes]]:
        return [(first + i, values * 10) for i in range(3000)]

    (tmp_path / "a").write_bytes(segmented([(1, b"one")], run(1000, b"some"), [(2, b"two")], run(5000, b"more")))
    (tmp_path / "b").write_bytes(segmented([(1, b"One")], run(5000, b"More"), [(2, b"Two")], run(1000, b"Some")))
    found = report(tmp_path / "a", tmp_path / "b", "--by=id", "--max-differences=2")
    assert changes(found) == {"primitive_arrays": (6002, 0, 0)}
    assert [one["name"] for one in found["differences"]] == ["byte[] 0x1", "byte[] 0x3e8"]


def test_a_run_that_goes_on_is_not_the_same_whatever_its_hash(tmp_path: Path) -> None:
    """One array more, with the ID and the length that give both runs the same hash."""
    arrays = [(1 + i, bytes(40)) for i in range(100)]
    head = len(b"\x23" + bytes(8 + 4 + 4 + 1))
    length = next(n for n in range(961) if ((1 << 64) - 31 - head - n) % 961 == 0)
    more = (100 + ((1 << 64) - 31 - head - length) // 961, bytes(length))
    (tmp_path / "a").write_bytes(bytes_dump(*arrays))
    (tmp_path / "b").write_bytes(bytes_dump(*arrays, more))
    assert changes(report(tmp_path / "a", tmp_path / "b", "--by=id")) == {"primitive_arrays": (0, 0, 1)}


def test_two_objects_of_one_id_may_be_in_another_order(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes_dump((1, b"one"), (1, b"two"), (1, b"six"), (2, b"ten")))
    (tmp_path / "b").write_bytes(bytes_dump((1, b"two"), (1, b"six"), (1, b"two"), (2, b"ten")))
    found = report(tmp_path / "a", tmp_path / "b", "--by=id")
    assert changes(found) == {"primitive_arrays": (1, 0, 0)}
    assert [one["parts"][0] for one in found["differences"]] == [{"what": "[0]", "a": "111", "b": "116"}]


def test_what_waits_is_read_once(tmp_path: Path) -> None:
    """A long array, while 40,000 objects pass that are found at once. To read it for each takes minutes."""
    first = [(1 + i, b"") for i in range(40_000)]
    second = [(100_001 + i, b"") for i in range(40_000)]
    long = (200_001, bytes(16 << 20))
    (tmp_path / "a").write_bytes(bytes_dump(*first, *second))
    (tmp_path / "b").write_bytes(bytes_dump(*second, long, *first))
    assert changes(report(tmp_path / "a", tmp_path / "b", "--by=id")) == {"primitive_arrays": (0, 0, 1)}


@pytest.mark.parametrize("name", ["roots", "objects"])
def test_any_number_of_the_same_may_wait(name: str, tmp_path: Path) -> None:
    """To look at all that wait for each more of them takes minutes."""
    number = 400_000
    many = bytes_dump(roots=number) if name == "roots" else bytes_dump(*[(1, i.to_bytes(4, "big")) for i in range(number)])
    (tmp_path / "a").write_bytes(bytes_dump((2, b"")))
    (tmp_path / "b").write_bytes(many)
    kind = "roots" if name == "roots" else "primitive_arrays"
    found = report(tmp_path / "a", tmp_path / "b", "--by=id", "--max-differences=10")
    assert changes(found) == {"primitive_arrays": (0, 1, 0)} | {kind: (0, int(kind != "roots"), number)}
    same = report(tmp_path / "b", tmp_path / "b", "--by=id")
    assert (same["kinds"][kind]["same"], same["equal"]) == (number, True)


def test_a_compressed_copy_is_the_same(tmp_path: Path) -> None:
    truth("--like=hotspot", "--objects=2000", folder=tmp_path)
    (tmp_path / "dump.gz").write_bytes(gzip.compress((tmp_path / "dump.hprof").read_bytes(), 1))
    done = diff(tmp_path / "dump.hprof", tmp_path / "dump.gz")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "No difference.")


def test_the_corpus_is_like_itself() -> None:
    compared = 0
    for file in some(random.Random().sample(sorted((SOURCE / "corpus").rglob("*.hprof")), 80)):
        done = diff("--quiet", file, file)
        assert done.returncode in (0, 2), file
        compared += done.returncode == 0
    assert compared > 20 or SHARE > 1


def test_of_damage_nothing_is_claimed(tmp_path: Path) -> None:
    """Damaged bytes are not compared: there is no status 0."""
    truth("--like=hotspot", "--objects=2000", folder=tmp_path)
    whole = (tmp_path / "dump.hprof").read_bytes()
    at = len(whole) * 2 // 3
    (tmp_path / "dump.hprof").write_bytes(whole[:at] + bytes(3000) + whole[at + 3000 :])
    done = diff(tmp_path / "dump.hprof", tmp_path / "dump.hprof")
    assert done.returncode == 2
    assert "bytes of damage, which were not compared" in done.stdout
    assert done.stdout.endswith("\nNo difference was found in what can be compared.\n")


def test_a_repaired_dump_lacks_what_was_left_out(tmp_path: Path) -> None:
    truth("--like=hotspot", "--objects=3000", folder=tmp_path)
    whole = (tmp_path / "dump.hprof").read_bytes()
    (tmp_path / "cut.hprof").write_bytes(whole[: len(whole) * 9 // 10])
    repair: list[str | Path] = [VALIDATOR, "--repair", tmp_path / "fixed.hprof", tmp_path / "cut.hprof"]
    subprocess.run(repair, check=False, capture_output=True)
    found = report(tmp_path / "dump.hprof", tmp_path / "fixed.hprof")
    assert {kind for kind, (one, _, b) in changes(found).items() if one or b} == set()
    gone = sum(found["kinds"][kind]["only_in_a"] for kind in KINDS.values())
    left = sum(found["kinds"][kind]["same"] for kind in KINDS.values())
    assert gone > 0
    assert gone + left == 3000


# ---- How a pair differs ----------------------------------------------------------------------------------------------

TEXT = """hprof "JAVA PROFILE 1.0.1" id-size 8 time 2026-01-01T00:00:00Z
utf8 $Object "java/lang/Object"
utf8 $Point "Point"
utf8 $x "x"
utf8 $y "y"
utf8 $text "<TEXT>"
load-class serial 1 class @Object name $Object
load-class serial 2 class @Point name $Point
frame %f method $x signature $x class 2 line <LINE>
trace serial 1 thread 1 [ %f ]
heap-dump {
  class-dump @Object super null
  class-dump @Point super @Object {
    static $y int <STATIC>
    field $x int
    field $y object
  }
  instance-dump @p class @Point [ int <X> object <REF> ]
  object-array-dump @o class @Object [ @p <ELEMENT> ]
  primitive-array-dump @c type char [ <CHARS> ]
  root-unknown <ROOT>
}
"""
PLAIN = {
    "TEXT": "n",
    "LINE": "7",
    "STATIC": "5",
    "X": "1",
    "REF": "@p",
    "ELEMENT": "null",
    "CHARS": '"ab"',
    "ROOT": "@p",
}


def dump_of(**values: str) -> bytes:
    text = TEXT
    for name, value in (PLAIN | values).items():
        text = text.replace(f"<{name}>", value)
    return assemble(text).file.to_bytes()


@pytest.mark.parametrize(
    ("name", "value", "kind", "parts"),
    [
        ("TEXT", "longer", "strings", [("text", "n", "longer")]),
        ("LINE", "8", "frames", [("line", "7", "8")]),
        ("STATIC", "-6", "classes", [("y", "5", "-6")]),
        ("X", "-2147483648", "instances", [("x", "1", "-2147483648")]),
        ("REF", "null", "instances", [("y", None, "null")]),
        ("ELEMENT", "@c", "object_arrays", [("[1]", "null", None)]),
        ("CHARS", '"Ac"', "primitive_arrays", [("[0]", "'a'", "'A'"), ("[1]", "'b'", "'c'")]),
        ("CHARS", '"abc"', "primitive_arrays", [("number of elements", "2", "3")]),
    ],
)
def test_a_difference_is_described(
    name: str, value: str, kind: str, parts: list[tuple[str, str | None, str | None]], tmp_path: Path
) -> None:
    """None means an ID, which the assembler chooses."""
    (tmp_path / "a").write_bytes(dump_of())
    (tmp_path / "b").write_bytes(dump_of(**{name: value}))
    found = report(tmp_path / "a", tmp_path / "b")
    assert changes(found) == {kind: (1, 0, 0)}
    (difference,) = found["differences"]
    assert (difference["kind"], difference["part_count"]) == (kind, len(parts))
    for part, (what, a, b) in zip(difference["parts"], parts, strict=True):
        assert part["what"] == what
        assert part["a"] == a if a else part["a"].startswith("0x")
        assert part["b"] == b if b else part["b"].startswith("0x")
    text = diff(tmp_path / "a", tmp_path / "b").stdout
    for part in difference["parts"]:
        assert f"    {part['what']}: {part['a']} -> {part['b']}\n" in text
    assert text.endswith("\nThe dumps differ.\n")


def test_a_root_that_differs_is_in_one_dump_only(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(dump_of())
    (tmp_path / "b").write_bytes(dump_of(ROOT="@c"))
    found = report(tmp_path / "a", tmp_path / "b")
    assert changes(found) == {"roots": (0, 1, 1)}
    assert [one["name"].split()[0] for one in found["differences"]] == ["ROOT_UNKNOWN"] * 2


def test_a_difference_at_the_end_of_what_is_long(tmp_path: Path) -> None:
    long = "a" * 100_000
    (tmp_path / "a").write_bytes(dump_of(CHARS=f'"{long}b"', TEXT=f"{long}b"))
    (tmp_path / "b").write_bytes(dump_of(CHARS=f'"{long}c"', TEXT=f"{long}c"))
    found = report(tmp_path / "a", tmp_path / "b")
    assert changes(found) == {"strings": (1, 0, 0), "primitive_arrays": (1, 0, 0)}
    assert [one["parts"] for one in found["differences"] if one["kind"] != "strings"] == [
        [{"what": "[100000]", "a": "'b'", "b": "'c'"}]
    ]


def test_another_version_is_a_difference(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(dump_of())
    (tmp_path / "b").write_bytes(dump_of().replace(b"1.0.1", b"1.0.2"))
    found = report(tmp_path / "a", tmp_path / "b")
    assert (found["equal"], changes(found)) == (False, {})


def test_an_object_of_another_heap_dump_is_another_object(tmp_path: Path) -> None:
    """Also where both dumps have it next."""
    head = TEXT[: TEXT.index("heap-dump {")].replace("<TEXT>", "n").replace("<LINE>", "7")
    classes, object = "class-dump @Object super null", "instance-dump @x class @Object"
    heaps = {"a": (f"{classes}\n{object}", classes), "b": (classes, f"{object}\n{classes}")}
    for name, parts in heaps.items():
        text = head + "".join(f"heap-dump {{\n{part}\n}}\n" for part in parts)
        (tmp_path / name).write_bytes(assemble(text).file.to_bytes())
    assert changes(report(tmp_path / "a", tmp_path / "b")) == {"instances": (0, 1, 1)}


# ---- Usage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["a"],
        ["a", "a", "a"],
        ["--format=xml", "a", "a"],
        ["--jobs=0", "a", "a"],
        ["--max-differences=x", "a", "a"],
        ["-x", "a", "a"],
    ],
)
def test_wrong_usage(args: list[str], tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(dump_of())
    done = subprocess.run([TOOL, *args], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"hprof-diff: ")


def test_what_cannot_be_compared(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(dump_of())
    (tmp_path / "none").write_bytes(os.urandom(100))
    (tmp_path / "empty").touch()
    run("--objects=10", "--id-size=4", "-o", tmp_path / "four")
    trouble = {"missing": "No such file", "none": "header", "empty": "the file is empty", "four": "IDs have another size"}
    for other, words in trouble.items():
        done = diff("--by=id", tmp_path / "a", tmp_path / other)
        assert (done.returncode, done.stdout) == (2, ""), other
        assert words in done.stderr, other
    with Path("/dev/full").open("wb") as full:
        done_full = subprocess.run([TOOL, tmp_path / "a", tmp_path / "a"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done_full.returncode, b"No space left" in done_full.stderr) == (2, True)


def bytes_read(process: "subprocess.Popen[str]") -> int:
    return int(Path(f"/proc/{process.pid}/io").read_text().split()[1])


def test_a_dump_that_becomes_shorter_is_named(tmp_path: Path) -> None:
    """After both were checked, while they are compared."""
    truth("--like=hotspot", "--bytes=40M", folder=tmp_path)
    a, b = tmp_path / "dump.hprof", tmp_path / "shrinks.hprof"
    size = a.stat().st_size
    for _ in range(20):
        shutil.copy(a, b)
        with subprocess.Popen([TOOL, "--by=id", a, b], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
            while process.poll() is None and bytes_read(process) < 2 * size + size // 4:
                pass
            process.send_signal(signal.SIGSTOP)
            os.truncate(b, size // 2)
            process.send_signal(signal.SIGCONT)
            said = process.communicate()[1]
        if process.returncode != 0:  # it was not at the end
            break
    assert (process.returncode, said) == (2, f"hprof-diff: {b}: the file became shorter while it was read\n")


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(dump_of())
    command = f'"{TOOL}" a <(cat a)'
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "not a regular file" in done.stderr
    os.mkfifo(tmp_path / "fifo")  # nobody writes: it is not waited for
    without_writer = diff(tmp_path / "a", tmp_path / "fifo")
    assert (without_writer.returncode, "not a regular file" in without_writer.stderr) == (2, True)
