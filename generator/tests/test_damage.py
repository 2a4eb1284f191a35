"""--damage: the bytes are damaged as the manifest says, and what it lists is exactly what is not whole.

The truth here is computed without hprof-gen: the undamaged dump is read by the reader in Python, the places of the manifest are
applied to its bytes, and each record that they touch must be listed. Draws are fresh in each run; the seed is in each message."""

import gzip
import hashlib
import json
import random
import zlib
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from gen_tool import SCHEMA, SOURCE, run
from some_cases import any_one, shortened

from hprof_conformance.gold import read
from hprof_corpus import layouts
from hprof_corpus.walk import Shapes, read_header, records, struct_of, subrecords

SEED = random.SystemRandom().randrange(1 << 32)
DRAWS = 2

KINDS = [line.split()[0] for line in run("--list-damage").out.decode().splitlines()]
OF_GZIP = [kind for kind in KINDS if kind.startswith("gz-")]
OF_ALL = ["crlf", "latin1", "seven-bit"]
EDITS = [kind for kind in KINDS if kind not in (*OF_GZIP, *OF_ALL, "parts")]

BASES = {
    "plain": ("--objects=2000", "--records=all"),
    "one-record": ("--objects=3000", "--dump-version=1.0.1", "--id-size=4"),
    "segments": ("--objects=20000", "--like=hotspot", "--segment-size=100K"),
    "agent": ("--objects=3000", "--like=jdk8-agent"),
    "arrays": ("--objects=300", "--shape=arrays"),
    "android": ("--objects=2000", "--like=android"),
    "jdk8": ("--from", "jdk8"),
    "jdk25": ("--from", "jdk25"),
    "agent8": ("--from", "agent8"),
    "sa17": ("--from", "sa17"),
}

RECORD_NAMES = {record.tag: record.name for record in layouts.RECORDS}
HEAP_DUMPS = ("HEAP_DUMP", "HEAP_DUMP_SEGMENT")
HEADER_SIZE = 9


@dataclass(frozen=True)
class Item:
    record: str
    id: int | None
    at: int
    end: int


def first_id(fields: tuple[int, ...], record: layouts.Record) -> int | None:
    """The ID that a record is about: its first, except of records that only refer to things."""
    if record.name in ("TRACE", "HEAP_DUMP_INFO"):
        return None
    return next((value for field, value in zip(record.layout.fields, fields, strict=True) if field.type == "ID"), None)


def items(data: bytes) -> Iterator[Item]:
    header = read_header(data)
    assert header
    yield Item("HEADER", None, 0, header.size)
    shapes = Shapes(header.id_size)
    by_tag = {record.tag: record for record in layouts.RECORDS}
    for framed in records(data, header.size):
        record = by_tag[framed.tag]
        if record.name in HEAP_DUMPS:
            yield Item(record.name, None, framed.at, framed.body)
            for shape, at, fields, _, end in subrecords(data, framed.body, framed.end, shapes):
                yield Item(shape.record.name, first_id(fields, shape.record), at, end)
        else:
            fields = ()
            if record.layout.fields:
                fields = struct_of(record.layout, header.id_size).unpack_from(data, framed.body)
            yield Item(record.name, first_id(fields, record) if fields else None, framed.at, framed.end)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damage")


@cache
def gold(name: str, folder: Path) -> Path:
    path = folder / f"{name}.hprof"
    path.write_bytes(read(SOURCE, name))
    return path


@dataclass(frozen=True)
class Base:
    options: tuple[str, ...]
    data: bytes
    items: tuple[Item, ...]


@cache
def base(name: str, folder: Path) -> Base:
    options = BASES[name]
    if options[0] == "--from":
        options = ("--from", str(gold(options[1], folder)))
    done = run(*options, "-o", folder / "undamaged")
    assert (done.status, done.err) == (0, "")
    data = (folder / "undamaged").read_bytes()
    return Base(options, data, tuple(items(data)))


def damaged(base: Base, damage: str, seed: int, folder: Path, *more: str) -> tuple[bytes, Any]:
    """The file, and the manifest's damage. With --from the seed draws only the damage."""
    seeded = ("--seed", str(seed)) if base.options[0] == "--from" else ()
    done = run(*base.options, *seeded, *more, "--damage", damage, "-o", folder / "dump", "--manifest", folder / "truth")
    assert (done.status, done.err) == (0, ""), (damage, seed, done.err)
    manifest = json.loads((folder / "truth").read_text())
    truth = manifest["damage"]
    SCHEMA.validate(shortened(manifest))
    data = (folder / "dump").read_bytes()
    assert (manifest["bytes"], manifest["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    assert truth["undamaged"] == {"bytes": len(base.data), "sha256": hashlib.sha256(base.data).hexdigest()}
    assert truth["lost"] + truth["damaged"] == len(truth["not_whole"])
    assert truth["lost"] == sum(entry["state"] == "lost" for entry in truth["not_whole"])
    return data, truth


def listed(truth: Any) -> dict[Item, str]:
    return {
        Item(e["record"], None if e["id"] is None else int(e["id"], 16), e["offset"], e["offset"] + e["bytes"]): e["state"]
        for e in truth["not_whole"]
    }


@dataclass
class Change:
    """The fate of bytes: `gone` are missing or overwritten, `other` are missing or have another value; `splits` are offsets at
    which something was put between."""

    gone: list[tuple[int, int]]
    other: list[tuple[int, int]]
    splits: list[int]


def near(base: Base, at: int, end: int) -> list[Item]:
    """The records that reach into the bytes from `at` to `end`."""
    first = max(0, bisect_right(base.items, at, key=lambda item: item.at) - 1)
    return [item for item in base.items[first : bisect_left(base.items, end, key=lambda item: item.at)] if item.end > at]


def expected(base: Base, change: Change) -> dict[Item, str]:
    """What is not whole, from the ranges alone."""
    gone: Counter[Item] = Counter()
    hit: set[Item] = set()
    for at, end in change.gone:
        for item in near(base, at, end):
            gone[item] += min(item.end, end) - max(item.at, at)
    for at, end in change.other:
        hit.update(near(base, at, end))
    for split in change.splits:
        hit.update(item for item in near(base, split, split + 1) if item.at < split)
    return {item: "lost" if gone[item] == item.end - item.at else "damaged" for item in hit}


def merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges of single bytes, joined."""
    joined: list[tuple[int, int]] = []
    for at, end in ranges:
        if joined and joined[-1][1] == at:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((at, end))
    return joined


def apply_places(base: Base, data: bytes, places: list[dict[str, Any]]) -> Change:
    """Follows the places through both dumps: what is between them is the same in both."""
    change = Change([], [], [])
    old, at = base.data, 0  # `at` is in the damaged dump
    done = 0  # in the undamaged one
    for place in places:
        start, end = place["offset"], place["offset"] + place["bytes"]
        assert data[at : at + start - done] == old[done:start]
        at += start - done
        new = data[at : at + place["written"]]
        match place["kind"]:
            case "truncate" | "disk-full" | "lose" | "lose-segment" if not new:
                change.gone.append((start, end))
                change.other.append((start, end))
            case "zero-page" | "disk-full":
                assert new == bytes(end - start)
                change.gone.append((start, end))
                change.other += merged([(i, i + 1) for i in range(start, end) if old[i]])
            case "tag" | "type" | "count" | "length" | "record-tag" | "record-length":
                assert (len(new), end - start) == (1, 1)
                assert new != old[start:end]
                change.gone.append((start, end))
                change.other.append((start, end))
            case "insert" | "text-before":
                assert end == start
                assert new
                change.splits.append(start)
            case "double":
                assert new == 2 * old[start:end]
                change.splits.append(end)
            case "swap":
                middle = (start + end) // 2
                assert new == old[middle:end] + old[start:middle]
                change.splits += [start, middle, end]
            case other:
                raise AssertionError(other)
        at += place["written"]
        done = end
    assert data[at:] == old[done:]
    return change


def is_field(item: Item, kind: str, offset: int, id_size: int) -> bool:
    """Whether the changed byte is in the field that the kind is about."""
    at = offset - item.at
    objects = {"INSTANCE_DUMP": 1 + 2 * id_size + 4, "OBJECT_ARRAY_DUMP": 1 + id_size + 4}
    counts = objects | {"PRIMITIVE_ARRAY_DUMP": 1 + id_size + 4, "PRIMITIVE_ARRAY_NODATA": 1 + id_size + 4}
    match kind:
        case "tag":
            return at == 0 and item.record not in RECORD_NAMES.values()
        case "type":
            return item.record.startswith("PRIMITIVE_ARRAY") and at == 1 + id_size + 4 + 4
        case "count":
            return item.record.endswith(("ARRAY_DUMP", "NODATA")) and 0 <= at - counts[item.record] < 4
        case "length":
            return item.record == "INSTANCE_DUMP" and 0 <= at - objects[item.record] < 4
        case "record-tag":
            return at == 0 and item.record in RECORD_NAMES.values()
        case "record-length":
            return item.record in RECORD_NAMES.values() and 5 <= at < HEADER_SIZE
        case _:
            return True


@pytest.mark.parametrize(("name", "kind"), [case for kind in EDITS for case in any_one([(name, kind) for name in BASES])])
def test_places(name: str, kind: str, folder: Path) -> None:
    there = base(name, folder)
    header = read_header(there.data)
    assert header
    for draw in range(DRAWS):
        seed = SEED + draw
        at = f"@{random.Random(seed).random():.6f}" if kind not in ("text-before",) and draw % 2 else ""
        data, truth = damaged(there, kind + at, seed, folder)
        change = apply_places(there, data, truth["places"])
        assert listed(truth) == expected(there, change), (kind + at, seed)
        for place in truth["places"]:
            assert place["kind"] == kind
            hit = next((item for item in there.items if item.at <= place["offset"] < item.end), None)
            assert hit is None or is_field(hit, kind, place["offset"], header.id_size), (kind + at, seed, place)
        if kind == "lose-segment":
            assert {"HEAP_DUMP", "HEAP_DUMP_SEGMENT"} & {item.record for item in listed(truth)}
        if kind == "text-before":
            assert data.endswith(there.data)
            assert data[: -len(there.data)].endswith(b"\n")


@pytest.mark.parametrize("name", ["plain", "jdk25"])
def test_several_places(name: str, folder: Path) -> None:
    there = base(name, folder)
    for draw in range(DRAWS):
        data, truth = damaged(there, "tag:5,lose:100,insert:7,zero-page,double:50", SEED + draw, folder)
        assert len(truth["places"]) == 9
        assert listed(truth) == expected(there, apply_places(there, data, truth["places"])), SEED + draw


@pytest.mark.parametrize(
    ("damage", "removed", "added"),
    [
        ("truncate:1000", 1000, 0),
        ("lose:77", 77, 0),
        ("insert:4K", 0, 4096),
        ("double:100", 100, 200),
        ("swap:300", 600, 600),
        ("zero-page:2@0.1", 8192, 8192),
    ],
)
def test_sizes(damage: str, removed: int, added: int, folder: Path) -> None:
    _, truth = damaged(base("jdk25", folder), damage, SEED, folder)
    (place,) = truth["places"]
    assert (place["bytes"], place["written"]) == (removed, added)


@pytest.mark.parametrize("kind", OF_ALL)
@pytest.mark.parametrize("name", ["plain", "one-record", "agent"])
def test_all_bytes(name: str, kind: str, folder: Path) -> None:
    there = base(name, folder)
    data, truth = damaged(there, kind, SEED, folder)
    old = there.data
    if kind == "crlf":
        assert data == old.replace(b"\n", b"\r\n")
        change = Change([], [], [i for i, byte in enumerate(old) if byte == 10])
    else:
        assert data == (old.decode("latin1").encode() if kind == "latin1" else bytes(byte & 0x7F for byte in old))
        ranges = merged([(i, i + 1) for i, byte in enumerate(old) if byte > 0x7F])
        change = Change(ranges, ranges, [])
    assert listed(truth) == expected(there, change), SEED


# ---- gzip --------------------------------------------------------------------------------------------------------------

BLOCK = 1 << 20


def members(data: bytes) -> list[tuple[int, int]]:
    found, at = [], 0
    while at < len(data):
        member = zlib.decompressobj(wbits=31)
        member.decompress(data[at:])
        end = len(data) - len(member.unused_data)
        found.append((at, end))
        at = end
    return found


def inflated(data: bytes) -> bytes:
    """What comes out of a member, to its end or to the first fault."""
    try:
        return zlib.decompressobj(wbits=31).decompress(data)
    except zlib.error:
        member, out = zlib.decompressobj(wbits=31), []
    try:
        for i in range(len(data)):
            out.append(member.decompress(data[i : i + 1]))
    except zlib.error:
        pass
    return b"".join(out)


@pytest.mark.parametrize("kind", OF_GZIP)
@pytest.mark.parametrize("name", ["segments", "jdk25"])
def test_gzip(name: str, kind: str, folder: Path) -> None:
    there = base(name, folder)
    done = run(*there.options, "--gz=6", "-o", folder / "sound.gz")
    assert (done.status, done.err) == (0, "")
    sound = (folder / "sound.gz").read_bytes()
    assert gzip.decompress(sound) == there.data
    ends = members(sound)
    for draw in range(DRAWS):
        at = f"@{random.Random(SEED + draw).random():.6f}" if kind != "gz-no-trailer" and draw % 2 else ""
        data, truth = damaged(there, kind + at, SEED + draw, folder)
        (place,) = truth["places"]
        start, end = place["offset"], place["offset"] + place["bytes"]
        index, (first, last) = next((i, m) for i, m in enumerate(ends) if m[0] <= start < m[1])
        wrong = (index * BLOCK, min((index + 1) * BLOCK, len(there.data)))
        block = there.data[slice(*wrong)]
        match kind:
            case "gz-cut":
                assert data == sound[:start]
                out = inflated(sound[first:start])
                assert block.startswith(out)
                wrong = (wrong[0] + len(out), len(there.data))
            case "gz-no-trailer":
                assert data == sound[:-8]
                wrong = (0, 0)
            case "gz-damage-member":
                assert (place["bytes"], place["written"]) == (1, 1)
                assert (data[:start], data[end:]) == (sound[:start], sound[end:])
                assert data[start] != sound[start]
                out = inflated(data[first:last])
                same = next((i for i, (a, b) in enumerate(zip(out, block, strict=False)) if a != b), min(len(out), len(block)))
                wrong = (wrong[0] + same, wrong[1])
            case "gz-lose-member":
                assert (start, end) == (first, last)
                assert data == sound[:first] + sound[last:]
        ranges = [wrong] if wrong[0] < wrong[1] else []
        assert listed(truth) == expected(there, Change(ranges, ranges, [])), (kind + at, SEED + draw)


# ---- Several files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [(), ("--gz=1",)])
@pytest.mark.parametrize("name", ["segments", "jdk25"])
def test_parts(name: str, more: tuple[str, ...], folder: Path) -> None:
    there = base(name, folder)
    for draw, moment in enumerate(["", "@0.3", "@0.7"]):
        where = folder / f"parts{draw}"
        where.mkdir(exist_ok=True)
        for old in where.iterdir():
            old.unlink()
        parts = 2 if name == "jdk25" else 3
        data, truth = damaged(there, f"parts:{parts}{moment}", SEED + draw, where, *more)
        names = {"dump": data} | {path.name: path.read_bytes() for path in where.iterdir() if path.name.startswith("dump.p")}
        assert {file["file"] for file in truth["files"]} == set(names)
        kept = []
        for file in truth["files"]:
            content = names[file["file"]]
            assert (file["bytes"], file["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
            start, end = file["offset"], file["offset"] + file["length"]
            assert (gzip.decompress(content) if more else content) == there.data[start:end]
            kept.append((start, end))
            assert file["file"] == "dump" or there.data[start] == 0x1C
        covered = sorted(kept)
        gone, at = [], 0
        for start, end in [*covered, (len(there.data), len(there.data))]:
            if start > at:
                gone.append((at, start))
            at = max(at, end)
        assert listed(truth) == expected(there, Change(gone, gone, [])), (moment, SEED + draw)
        if moment == "@0.7":  # all objects are somewhere
            assert {item.record for item in listed(truth)} <= {"HEAP_DUMP_END"}


# ---- Refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--damage", "truncat"], "no kind is called 'truncat'; --list-damage lists them all; did you mean 'truncate'?"),
        (["--damage", "crlf:3"], "crlf takes no number"),
        (["--damage", "crlf@0.5"], "crlf takes no @FRACTION"),
        (["--damage", "truncate:5@0.5"], "truncate:N takes no @FRACTION"),
        (["--damage", "lose:0"], "N of lose:N is a number from 1"),
        (["--damage", "lose@2"], "FRACTION of lose@FRACTION is a number from 0 to 1"),
        (["--damage", "crlf,lose"], "alone"),
        (["--damage", "parts"], "needs -o FILE"),
        (["--damage", "tag:3@0.5"], "N places are drawn"),
        (["--damage", "lose:1G"], "the dump has only"),
        (["--damage", "lose-segment:3"], "the dump has fewer places (1)"),
        (["--damage", "lose", "--violate", "OBJ-004"], "damage hides faults"),
        (["--damage", "lose", "--digests", "--manifest", "/dev/null"], "--damage"),
    ],
)
def test_refused_with_a_sentence(arguments: list[str], words: str) -> None:
    done = run("--objects=100", *arguments)
    assert done.status == 2
    assert words in done.err


def test_parts_need_segments(tmp_path: Path) -> None:
    done = run("--objects=100", "--dump-version=1.0.1", "--damage=parts", "-o", tmp_path / "dump")
    assert (done.status, "no HEAP_DUMP_SEGMENTs" in done.err) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_the_same_seed_gives_the_same_damage(tmp_path: Path) -> None:
    arguments = ["--objects=3000", "--damage=lose,tag:3,insert", f"--seed={SEED}"]
    assert run(*arguments).out == run(*arguments).out
