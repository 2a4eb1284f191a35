"""Damage to dumps of real JDKs: a repair keeps what the damage did not touch, and has nothing new."""

import gzip
import json
import os
import random
import re
import struct
from pathlib import Path

import pytest
from losses import (
    CLASS,
    HEADER,
    HEAP_DUMP,
    IN_RECORDS,
    INSTANCE,
    MANY_BYTES,
    OBJECTS,
    ONE_FAULT,
    PAGE,
    PRIMITIVES,
    RECORD_HEADER,
    SEGMENT,
    Damage,
    Kind,
    Original,
    Shapes,
    damaged,
    draws,
    read,
    repair,
)
from some_cases import any_one
from tool import SOURCE, report_one, run

from hprof_conformance import gold

GOLD = ("agent8", "jdk8", "jdk17", "jdk25", "sa17")
MANY_MOST = 0.08  # share of the dump that 24 places may cost beyond themselves; 0.02 were measured
ROOTS = {*range(1, 9), 0xFF}
STRING, TRACE, END = 1, 5, 0x2C
SAME = ("missing_objects", "skipped", "hint", "counts", "errors", "warnings", "sound_until", "totals")
DRAWS = int(os.environ.get("HPROF_DRAWS", "1"))  # ci/full has more


@pytest.fixture(scope="module", params=any_one(GOLD))
def original(request: pytest.FixtureRequest) -> Original:
    return read(gold.read(SOURCE, request.param))


@pytest.mark.parametrize(("kinds", "mean", "most"), [(ONE_FAULT, 0.0005, 0.005), (MANY_BYTES, 0.001, 0.01)])
def test_what_the_damage_did_not_touch_is_kept(
    kinds: tuple[Kind, ...], mean: float, most: float, original: Original, tmp_path: Path
) -> None:
    """Shares of the dump. An object whose class the damage touched is kept, too. losses.py prints what each kind costs."""
    seed = random.SystemRandom().randrange(1 << 32)
    shares = []
    for i, kind, damages in draws(original, kinds, DRAWS, seed):
        loss = repair(original, damages, tmp_path)
        assert (loss.status, loss.new) == (0, 0), f"seed {seed}, draw {i}, {kind.__name__}: {damages}, {loss}"
        share = (loss.beyond_bytes + loss.by_class_bytes + loss.record_bytes) / len(original.data)
        shares.append(share)
        assert share <= most, f"seed {seed}, draw {i}, {kind.__name__}: {damages}, {loss}"
    assert sum(shares) - (DRAWS < 10) * max(shares) <= mean * len(shares), f"seed {seed}: {shares}"  # one may be large among few


def test_damage_in_many_places_costs_what_each_place_costs(original: Original, tmp_path: Path) -> None:
    """What one place leads past may hold others."""
    seed = random.SystemRandom().randrange(1 << 32)
    for kind in random.Random(seed).sample(ONE_FAULT + MANY_BYTES, 2):
        dice = random.Random(f"{seed} {kind.__name__}")
        places = sorted((d for _ in range(24) for d in kind(dice, original)), key=lambda d: d.at)
        apart = places[:1]
        for place in places[1:]:
            if place.at >= apart[-1].end + 8192:
                apart.append(place)
        loss = repair(original, apart, tmp_path)
        share = loss.beyond_bytes / len(original.data)
        assert (loss.status, loss.new) == (0, 0) and share <= MANY_MOST, f"seed {seed}, {kind.__name__}: {apart}, {loss}"


GZIP_DAMAGES = ("zeros", "noise", "bit", "hole", "page")


def packed_and_damaged(dice: random.Random, data: bytes) -> tuple[str, bytes]:
    size, level = dice.choice([1 << 18, 1 << 20, len(data)]), dice.choice([1, 6])
    packed = b"".join(gzip.compress(data[at : at + size], level) for at in range(0, len(data), size))
    how, at = dice.choice(GZIP_DAMAGES), dice.randrange(200, len(packed) - 5000)
    if how == "page":
        at -= at % 4096
    by = {
        "zeros": bytes(dice.choice([16, 100, 1000, 4096])),
        "noise": dice.randbytes(dice.choice([16, 1000])),
        "bit": bytes([packed[at] ^ 1 << dice.randrange(8)]),
        "hole": b"",
        "page": bytes(4096),
    }[how]
    end = at + (dice.choice([1, 100, 4096]) if how == "hole" else len(by))
    return f"{how} from {at:#x} to {end:#x} of members of {size}, level {level}", packed[:at] + by + packed[end:]


def test_after_damage_in_compressed_data_nothing_is_new(original: Original, tmp_path: Path) -> None:
    """Deflate data copies earlier bytes, so after damage it gives sub-records that look right. One changed bit may leave all
    lengths as they are, so that nothing shows which bytes are wrong; and what looks right at the edge may lead on for some
    hundred sub-records, seldom: without the rule, they were more than that in most draws."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    new = []
    there = {original.data[s.at : s.end] for s in original.heap}
    for draw in range(8 * DRAWS):
        what, broken = packed_and_damaged(dice, original.data)
        (tmp_path / "broken.gz").write_bytes(broken)
        name, stdin = dice.choice((("broken.gz", b""), ("-", broken)))
        done = run("--profile", "auto", "--force", "--repair", "copy", name, cwd=tmp_path, stdin=stdin)
        if done.status == 1 and ("no object" in done.err or "header" in done.err):
            continue
        assert done.status == 0, f"seed {seed}, draw {draw}, {what}: {done.err}"
        copy = read((tmp_path / "copy").read_bytes())
        made = [copy.data[s.at : s.end] for s in copy.heap if copy.data[s.at] != CLASS]
        if not what.startswith("bit"):
            new.append((what, sum(s not in there for s in made)))
    assert sum(n for _, n in new) <= DRAWS * len(there) // 20, f"seed {seed}: {[one for one in new if one[1]]}"


def test_a_length_that_leads_to_another_subrecord_is_not_believed(original: Original, tmp_path: Path) -> None:
    """Plain reading would go on there; in the agent's dump the class follows only later. A length up to 1,024 is believed then."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    i, data = original.id_size, original.data
    ends = {s.end: n for n, s in enumerate(original.heap)}
    for _ in range(4):
        one = dice.choice([s for s in original.heap if data[s.at] == INSTANCE])
        until, n = one.end, ends[one.end]
        while n + 1 < len(original.heap) and original.heap[n + 1].at == until and until < one.end + dice.randrange(1100, 1 << 16):
            n, until = n + 1, original.heap[n + 1].end
        if until <= one.end + 1100:
            continue
        length = struct.pack(">I", until - one.at - 2 * i - 9)
        loss = repair(original, [Damage(one.at + 2 * i + 5, one.at + 2 * i + 9, length, "length")], tmp_path)
        assert (loss.status, loss.beyond) == (0, 0), f"seed {seed}: {loss}"
        assert loss.new <= 2, f"seed {seed}: {loss}"  # the last bytes of the instance may look like roots


def test_a_count_that_leads_to_another_subrecord_is_not_believed(original: Original, tmp_path: Path) -> None:
    """Nor is it believed if half of the dump is between. A few objects that nothing names are payload as well as not."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    i, data = original.id_size, original.data
    widths = Shapes(i).widths
    for _ in range(4):
        one = dice.choice([s for s in original.heap if data[s.at] in (OBJECTS, PRIMITIVES)])
        width = i if data[one.at] == OBJECTS else widths[data[one.at + i + 9]]
        reach = one.end + int(2 ** dice.uniform(4, 22))
        others = [s.at for s in original.heap if one.end < s.at <= reach and (s.at - one.end) % width == 0]
        if not others:
            continue
        (count,) = struct.unpack_from(">I", data, one.at + i + 5)
        count += (others[-1] - one.end) // width
        loss = repair(original, [Damage(one.at + i + 5, one.at + i + 9, struct.pack(">I", count), "count")], tmp_path)
        checked = run("--profile", "auto", tmp_path / "broken.hprof").out
        assert "fix: hprof-validate --repair" in checked or "mended: the size" not in loss.output, f"seed {seed}: {checked}"
        assert (loss.status, loss.new) == (0, 0) and loss.beyond_bytes <= max(1000, len(data) // 200), f"seed {seed}: {loss}"


def test_a_count_of_references_takes_no_objects(original: Original, tmp_path: Path) -> None:
    """Wherever the count leads to, the array ends where the next object begins, and elements that are none name nothing."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    i, data = original.id_size, original.data
    whole, damaged = tmp_path / "whole.hprof", tmp_path / "damaged.hprof"
    whole.write_bytes(data)
    expected = report_one("--profile", "auto", whole)
    for _ in range(4):
        n = dice.choice([n for n, s in enumerate(original.heap) if data[s.at] == OBJECTS])
        one = original.heap[n]
        room = next((a.at for a, b in zip(original.heap[n:], original.heap[n + 1 :], strict=False) if a.end != b.at), len(data) - 9)
        objects = [s for s in original.heap[n + 1 : n + 20] if s.end < room and data[s.at] in (INSTANCE, OBJECTS, PRIMITIVES)]
        if len(objects) < 19:  # fewer are too little evidence
            continue
        least = objects[-1].end - one.end
        count = (one.end - one.at - 2 * i - 9 + dice.randrange(least, max(least + 1, room - one.end))) // i
        damage = Damage(one.at + i + 5, one.at + i + 9, struct.pack(">I", count), "count")
        damaged.write_bytes(damage.apply(data))
        for report in (report_one("--profile", "auto", path, stdin=damage.apply(data)) for path in (damaged, "-")):
            assert [(f["rule"], f["offset"]) for f in report["findings"] if f["severity"] == "error"] == [("REC-015", one.at)], seed
            for fact in ("counts", "missing_objects", "warnings"):
                assert report[fact] == expected[fact], (seed, fact)
        loss = repair(original, [damage], tmp_path)
        assert (loss.status, loss.new, loss.beyond) == (0, 0, 0), f"seed {seed}: {loss}"


def leads_to(data: bytes, at: int, i: int) -> int:
    """The end of the INSTANCE_DUMP or OBJECT_ARRAY_DUMP at an offset, as it says."""
    is_instance = data[at] == INSTANCE
    (count,) = struct.unpack_from(">I", data, at + (5 + 2 * i if is_instance else 5 + i))
    return at + 9 + 2 * i + int(count) * (1 if is_instance else i)


def lost_from_a_class_on(dice: random.Random, original: Original, to_root: bool) -> tuple[int, int, int]:
    """Where the ID of the class of an object is, and from where to where bytes are lost, from within that ID on. What then follows
    the object as it is now looks like a root, if that is asked for."""
    data, heap, i = original.data, original.heap, original.id_size
    at_class = {INSTANCE: 5 + i, OBJECTS: 9 + i}
    while True:
        n = dice.randrange(len(heap) - 20)
        if data[heap[n].at] not in at_class or data[heap[n + 1].at] == CLASS:
            continue
        near = heap[n + 1 : n + 1000]
        last = next((m for m, s in enumerate(near) if data[s.at] == CLASS), len(near)) - 1
        at = heap[n].at + at_class[data[heap[n].at]]
        cut, end = at + dice.randrange(i), dice.randrange(near[0].at, near[last].end)
        damaged = data[heap[n].at : cut] + data[end : end + (1 << 16)]
        if len(damaged) < 9 + 2 * i:
            continue  # the dump ends within its fixed part
        leads = leads_to(damaged, 0, i)
        if not to_root or (leads < len(damaged) and damaged[leads] in ROOTS):
            return at, cut, end


def test_damage_that_begins_in_the_class_of_an_object_makes_no_class(original: Original, tmp_path: Path) -> None:
    """What follows the lost bytes takes the place of the rest of the ID. The check says the same as the repair, unless lengths
    lead on by chance: only a repair looks for lost objects then. One draw in 100 goes wrong all the same."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice, data, i = random.Random(seed), original.data, original.id_size
    classes = {data[s.at + 1 : s.at + 1 + i] for s in original.heap if data[s.at] == CLASS}
    broken, copy = tmp_path / "broken.hprof", tmp_path / "copy.hprof"
    wrong = []
    for draw in range(24):
        at, cut, end = lost_from_a_class_on(dice, original, to_root=draw % 2 == 1)
        changed = data[:cut] + data[end:]
        broken.write_bytes(changed)
        class_id = changed[at : at + i]
        done = run("--force", "--profile", "auto", "--repair", copy, broken)
        assert done.status == 0, (seed, cut, end, done.out, done.err)
        report = report_one("--profile", "auto", broken)
        if class_id in classes or not report["skipped"]:
            continue
        repaired = read(copy.read_bytes())
        made = {repaired.data[s.at + 1 : s.at + 1 + i] for s in repaired.heap if repaired.data[s.at] == CLASS}
        kept = sum(repaired.data[s.at] in (INSTANCE, OBJECTS, PRIMITIVES) for s in repaired.heap)
        checked = sum(report["counts"][tag] for tag in ("INSTANCE_DUMP", "OBJECT_ARRAY_DUMP", "PRIMITIVE_ARRAY_DUMP"))
        if class_id in made or kept != checked:
            wrong.append((cut, end, class_id in made, kept, checked, done.out))
    assert len(wrong) <= 3, (seed, wrong)


def test_noise_that_looks_like_a_record_of_another_version_is_passed(tmp_path: Path) -> None:
    """1.0.1 has no segments. One that leads past the end of the file, without a sub-record, is no heap dump record."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice, original = random.Random(seed), read(gold.read(SOURCE, "agent8"))
    records = [r for r in original.records if original.data[r.at] in (4, 5)]  # the names of the methods stay
    for record in dice.sample(records, 6):
        tag = dice.choice((SEGMENT, 0x2C))
        noise = struct.pack(">BII", tag, dice.randrange(1 << 32), dice.randrange(1 << 30, 1 << 32)) + dice.randbytes(300)
        noise = noise[:RECORD_HEADER] + b"\x55" + noise[RECORD_HEADER + 1 :]  # no tag of a sub-record
        loss = repair(original, [Damage(record.at, record.at + len(noise), noise, "noise")], tmp_path)
        assert (loss.status, loss.new, loss.beyond) == (0, 0, 0), (seed, record.at, tag, loss)


def test_a_pipe_loses_no_more_than_a_file(original: Original, tmp_path: Path) -> None:
    """A wrong length of a record is no reason to pass what follows, also where there is no way back from its end."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    objects = sum(original.data[s.at] in (INSTANCE, OBJECTS, PRIMITIVES) for s in original.heap)
    for _ in range(3):
        data = bytearray(original.data)
        faults = dice.choice((1, 1, 2, 5))
        for record in dice.sample(original.records[:-1], faults):
            data[record.at + dice.choice((0, 5, 5, 6, 7))] = dice.randrange(256)
        dump = tmp_path / "damaged.hprof"
        dump.write_bytes(data)
        file, pipe = report_one(dump), report_one("-", stdin=bytes(data))
        for fact in ("errors", "warnings", "skipped", "counts", "missing_objects", "sound_until"):
            assert file[fact] == pipe[fact], (seed, fact)
        kept = sum(file["counts"][tag] for tag in ("INSTANCE_DUMP", "OBJECT_ARRAY_DUMP", "PRIMITIVE_ARRAY_DUMP"))
        least = objects - 100 if faults == 1 else objects * 3 // 4  # a second fault may hide how the first one goes on
        assert least <= kept <= objects, seed


def test_another_dump_in_the_middle_is_not_read(original: Original, tmp_path: Path) -> None:
    """A file was cut anywhere in its heap dump, and another appended: the sub-record that was cut takes the header for its own."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice, data, i = random.Random(seed), original.data, original.id_size
    others = [other for other in (gold.read(SOURCE, name) for name in GOLD) if other != data]
    ids = {data[s.at + 1 : s.at + 1 + i] for s in original.heap}
    dump, copy = tmp_path / "joined.hprof", tmp_path / "copy.hprof"
    for _ in range(8):
        cut, other = dice.randrange(original.heap[0].at, original.heap[-1].end), dice.choice(others)
        joined = data[:cut] + other
        dump.write_bytes(joined)
        file, pipe = report_one(dump), report_one("-", stdin=joined)
        hint = f"another dump begins at 0x{cut:x}: two files were joined; check each by itself"
        assert (file["hint"], pipe["hint"]) == (hint, hint), (seed, cut, file, pipe)
        for fact in ("errors", "warnings", "skipped", "counts", "missing_objects", "sound_until"):
            assert file[fact] == pipe[fact], (seed, cut, fact)
        done = run("--force", "--repair", copy, dump)
        assert f"all from 0x{cut:x} on, where the header of another dump is" in done.out, (seed, cut, done)
        made = read(copy.read_bytes())
        new = {made.data[s.at + 1 : s.at + 1 + i] for s in made.heap if made.data[s.at] in (INSTANCE, OBJECTS, PRIMITIVES)} - ids
        assert not new, (seed, cut, new)


@pytest.mark.parametrize("name", any_one(("sa28", "shark-jdk17", "agent8")))
def test_another_dump_after_a_long_heap_dump_record_that_was_cut_is_not_read(name: str, tmp_path: Path) -> None:
    """The only HEAP_DUMP ends far within the other dump, anywhere in its records."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice, original = random.Random(seed), read(gold.read(SOURCE, name))
    data, early = original.data, original.heap[: len(original.heap) // 3]
    others = [other for other in (gold.read(SOURCE, name) for name in GOLD) if other != data and len(other) > len(data)]
    for i in range(6):
        cut = dice.choice(early).at if i % 2 else dice.randrange(early[0].at, early[-1].at)
        (tmp_path / "joined.hprof").write_bytes(data[:cut] + dice.choice(others))
        hint = f"another dump begins at 0x{cut:x}: two files were joined; check each by itself"
        assert report_one(tmp_path / "joined.hprof")["hint"] == hint, (seed, cut)


@pytest.mark.parametrize("name", any_one(("sa11", "sa17", "sa28")))
def test_records_within_a_heap_dump_do_not_divide_it(name: str, tmp_path: Path) -> None:
    """Blocks of the file changed places: strings are within the only HEAP_DUMP, which goes on after them, in 1.0.2 as segments."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice, original = random.Random(seed), read(gold.read(SOURCE, name))
    data, heap = original.data, original.heap
    assert [data[one.at] for one in original.headers] == [HEAP_DUMP]
    strings = [one for one in original.records if data[one.at] == STRING and one.end < heap[0].at]
    subrecords = {data[one.at : one.end] for one in heap}
    dump, copy = tmp_path / "moved.hprof", tmp_path / "copy.hprof"
    dump.write_bytes(data)
    most = report_one(dump)["missing_objects"] + 3
    within = heap[len(heap) // 8 : -len(heap) // 8]
    for is_between in (True, False, True, False):
        first = dice.randrange(len(strings) - 40)
        block = strings[first : first + dice.randrange(4, 40)]
        to = dice.choice(within).at if is_between else dice.randrange(within[0].at, within[-1].end)
        start, end = block[0].at, block[-1].end
        where = (seed, f"from {start:#x} to {end:#x}, moved to {to:#x}")
        dump.write_bytes(data[:start] + data[end:to] + data[start:end] + data[to:])
        done = run("--repair", copy, dump)
        assert done.status == 0 and "for lost classes" not in done.out, (where, done)
        made = read(copy.read_bytes())
        assert len(subrecords - {made.data[one.at : one.end] for one in made.heap}) <= 4, where  # one is cut, headers take room
        tags = [made.data[one.at] for one in made.headers]
        assert tags == [HEAP_DUMP] or set(tags) == {SEGMENT}, where
        if is_between:  # else the strings may be elements of an array
            assert max(report_one(file)["missing_objects"] for file in (dump, copy)) <= most, where
        copy.unlink()


def test_another_heap_dump_follows_one_that_records_divide(tmp_path: Path) -> None:
    """The parts of the first become a series of segments, which ends before the second."""
    original = read(gold.read(SOURCE, "sa17"))
    data, (header,), dice = original.data, original.headers, random.Random()
    strings = [one for one in original.records if data[one.at] == STRING and one.end < header.at]
    start, to = dice.choice(strings[:-40]).at, original.heap[len(original.heap) // 2].at + dice.choice([0, 3])
    end = next(one.end for one in strings if one.end > start + 800)
    (tmp_path / "twice").write_bytes(data[:start] + data[end:to] + data[start:end] + data[to:] + data[header.at :])
    done = run("--repair", tmp_path / "copy", tmp_path / "twice")
    made, found = read((tmp_path / "copy").read_bytes()), report_one(tmp_path / "copy")
    tags = [made.data[one.at] for one in (*made.headers, *made.records) if made.data[one.at] in (HEAP_DUMP, SEGMENT, END)]
    assert (done.status, found["errors"], tags) == (0, 0, [SEGMENT, SEGMENT, HEAP_DUMP, END]), (start, to, done)


def chains_of_superclasses(original: Original) -> tuple[dict[int, int], list[list[int]]]:
    """Where the superclass of each class is; each class with its superclasses, from the lowest on."""
    i, data = original.id_size, original.data
    at = {int.from_bytes(data[s.at + 1 : s.at + 1 + i], "big"): s.at + 5 + i for s in original.heap if data[s.at] == CLASS}
    chains = []
    for lowest in at:
        chain = [lowest]
        while (above := int.from_bytes(data[at[chain[-1]] : at[chain[-1]] + i], "big")) in at:
            chain.append(above)
        chains.append(chain)
    return at, [chain for chain in chains if len(chain) > 1]


def superclass_becomes(original: Original, at: int, below: int) -> Damage:
    return Damage(at, at + original.id_size, below.to_bytes(original.id_size, "big"), f"{below:#x} over the superclass at {at:#x}")


def test_a_cycle_of_superclasses_costs_no_instances(original: Original, tmp_path: Path) -> None:
    """Superclasses become classes below them, or themselves, also java.lang.Object. Of a cycle one class is left out: where the
    sizes of its instances do not say which one, it may be another than the wrong one; where wrong classes are above each other,
    one may go along."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    at, chains = chains_of_superclasses(original)
    for wanted in (1, 1, 4):
        damages = dict[int, Damage]()
        while len(damages) < wanted:
            chain = dice.choice(chains)
            top = dice.choice([len(chain) - 1, dice.randrange(len(chain))])
            it, below = chain[top], chain[dice.randrange(top + 1)]
            damages[at[it]] = superclass_becomes(original, at[it], below)
        loss = repair(original, sorted(damages.values(), key=lambda d: d.at), tmp_path)
        assert (loss.status, loss.beyond, loss.new) == (0, 0, 0), f"seed {seed}: {damages}, {loss}"
        assert loss.output.count(" CLASS_DUMP ") < 2 * wanted, f"seed {seed}: {damages}, {loss}"
        assert "INSTANCE_DUMP" not in loss.output and "ARRAY_DUMP" not in loss.output, f"seed {seed}: {damages}, {loss}"


def test_object_below_a_cycle_costs_no_other_class(original: Original, tmp_path: Path) -> None:
    """A class becomes its own superclass, and that of java.lang.Object. Both are left out, and their subclasses are kept."""
    seed = random.SystemRandom().randrange(1 << 32)
    at, chains = chains_of_superclasses(original)
    for cycle, top in random.Random(seed).sample(sorted({(chain[-2], chain[-1]) for chain in chains if len(chain) > 2}), 4):
        damages = sorted((superclass_becomes(original, at[it], cycle) for it in (cycle, top)), key=lambda d: d.at)
        loss = repair(original, damages, tmp_path)
        assert (loss.status, loss.beyond, loss.new) == (0, 0, 0), f"seed {seed}: {damages}, {loss}"
        assert loss.output.count(" CLASS_DUMP ") == 2, f"seed {seed}: {damages}, {loss}"
        assert "INSTANCE_DUMP" not in loss.output and "ARRAY_DUMP" not in loss.output, f"seed {seed}: {damages}, {loss}"


def test_a_damaged_dump_has_one_report(original: Original, tmp_path: Path) -> None:
    """However it is read. That objects lie within others is seen only where the dump can be read twice (RULES.md M.2)."""
    seed = random.SystemRandom().randrange(1 << 32)
    for i, kind, damages in draws(original, (*ONE_FAULT, *MANY_BYTES), DRAWS, seed):
        data = damaged(original, damages)
        (tmp_path / "dump").write_bytes(data)
        (tmp_path / "dump.gz").write_bytes(gzip.compress(data, 1))
        ways = [run("--format", "json", option, "dump", cwd=tmp_path) for option in ("-j1", "-j4")]
        ways += [run("--format", "json", "-", cwd=tmp_path, stdin=data), run("--format", "json", "dump.gz", cwd=tmp_path)]
        first, *others = ({key: json.loads(way.out)["files"][0][key] for key in SAME} for way in ways)
        for other in others:
            if first["hint"] and first["hint"].startswith("objects lie within"):
                other["hint"] = first["hint"]
            assert other == first, f"seed {seed}, draw {i}, {kind.__name__}: {damages}"


def test_a_class_with_the_tag_of_an_instance_is_no_object(original: Original, tmp_path: Path) -> None:
    """Its superclass is at the place of the class of an instance, and a loader that is null makes a length of 0. The arrays of the
    class keep it."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice, data, i = random.Random(seed), original.data, original.id_size
    used = {data[s.at + 9 + i : s.at + 9 + 2 * i] for s in original.heap if data[s.at] == OBJECTS}
    hit = [s for s in original.heap if data[s.at] == CLASS and data[s.at + 1 : s.at + 1 + i] in used]
    for s in dice.sample(hit, 8):
        loss = repair(original, [Damage(s.at, s.at + 1, bytes([INSTANCE]), "tag")], tmp_path)
        assert (loss.status, loss.beyond, loss.by_class, loss.new) == (0, 0, 0, 0), (seed, s, loss)


def test_a_damaged_record_costs_no_other(original: Original, tmp_path: Path) -> None:
    """A byte that is missing makes the next record begin within it; of two records with one ID the damaged one is wrong. Of forty
    draws of the agent one changes the number of frames in a TRACE, which then leads to another record by chance."""
    seed = random.SystemRandom().randrange(1 << 32)
    hits = draws(original, IN_RECORDS, 6, seed)
    losses = [(kind.__name__, damages, repair(original, damages, tmp_path)) for _, kind, damages in hits]
    assert sum(loss.record_bytes > 0 for *_, loss in losses) <= 2, (seed, losses)
    assert all((loss.status, loss.beyond, loss.new) == (0, 0, 0) for *_, loss in losses), (seed, losses)


def test_roots_after_the_declared_end_are_read(tmp_path: Path) -> None:
    """Bytes were inserted into the only heap dump record, whose length leads to somewhere among its last roots, out of sight from
    there. Nothing follows them."""
    original = read(gold.read(SOURCE, "sa28"))
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    for n in dice.sample(range(36, 54), 8):  # more than three roots
        s = dice.choice([s for s in original.heap if len(original.data) - s.end > (1 << 20) + PAGE])
        loss = repair(original, [Damage(s.end, s.end, dice.randbytes(n), "bytes inserted")], tmp_path)
        assert (loss.status, loss.beyond, loss.new) == (0, 0, 0), (seed, n, s, loss)


@pytest.mark.parametrize("name", any_one(("agent8", "jdk17", "jdk28", "sa17", "sa28")))
def test_damage_among_the_last_roots_costs_few_of_them(name: str, tmp_path: Path) -> None:
    """They are much alike, so that wrong ones follow bytes that are missing or too many, up to the end of their record."""
    original = read(gold.read(SOURCE, name))
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    roots = [s for s in original.heap if original.data[s.at] in ROOTS][-100:]
    for draw in range(6):
        s = dice.choice(roots)
        at = dice.randrange(s.at, s.end)
        damage = Damage(at, at + 1, b"", "a byte missing") if draw % 2 else Damage(at, at, dice.randbytes(3), "3 bytes inserted")
        loss = repair(original, [damage], tmp_path)
        assert (loss.status, loss.new) == (0, 0) and loss.beyond <= 3, (seed, damage, loss)


def leading_on_by_chance(o: Original) -> list[tuple[int, Damage]]:
    """The tag of each record, and a byte of it without which its length or the number of its frames leads to a later record."""
    found = []
    starts = {s.at for s in [*o.records, *o.headers]}
    for r in o.records:
        for at in range(r.at + 5, min(r.end, r.at + RECORD_HEADER + 12)):
            head = (o.data[r.at : at] + o.data[at + 1 : at + 30]).ljust(21)[:21]
            tag, _, length = struct.unpack_from(">BII", head)
            ends = {length, 12 + o.id_size * int.from_bytes(head[-4:], "big")} if tag == TRACE else {length}
            if any(end + 9 != r.end - r.at - 1 and r.at + RECORD_HEADER + end + 1 in starts for end in ends):
                found.append((tag, Damage(at, at + 1, b"", f"the byte at {at - r.at} of a record of tag {tag} missing")))
    return found


def test_a_record_that_leads_on_by_chance_costs_no_other(original: Original, tmp_path: Path) -> None:
    """Unless they are fewer than the 256 bytes from which on a length is doubted that leads on."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    candidates = leading_on_by_chance(original)
    for tag in sorted({tag for tag, _ in candidates}):
        for damage in dice.sample(of_tag := [d for t, d in candidates if t == tag], min(3, len(of_tag))):
            loss = repair(original, [damage], tmp_path)
            assert (loss.status, loss.beyond, loss.new) == (0, 0, 0) and loss.record_bytes < 256, (seed, damage, loss)


def test_an_erased_page_among_records_is_no_row_of_roots(original: Original, tmp_path: Path) -> None:
    """The bytes of flash memory that was erased are 0xff. So are the tag of ROOT_UNKNOWN, and the ID after it."""
    seed = random.SystemRandom().randrange(1 << 32)
    last = min(original.heap[0].at, max(s.end for s in original.records)) - PAGE
    at = random.Random(seed).randrange(HEADER, max(last, HEADER + 1))
    loss = repair(original, [Damage(at, at + PAGE, b"\xff" * PAGE, "page erased")], tmp_path)
    assert (loss.status, loss.new) == (0, 0), (seed, at, loss)


def test_a_dump_that_is_begun_anew_is_read(original: Original, tmp_path: Path) -> None:
    """A download broke off, and began anew after what was there. All that it has is kept. Where it broke off, what follows may by
    chance be the rest of a sub-record."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    whole = {original.data[s.at : s.end] for s in original.heap}
    broken, copy = tmp_path / "broken.hprof", tmp_path / "copy.hprof"
    for _ in range(3):
        cut = dice.randrange(64, len(original.data))
        broken.write_bytes(original.data[:cut] + original.data)
        done = run("--profile", "auto", "--repair", copy, broken)
        assert done.status == 0, (seed, cut, done.out)
        repaired = read(copy.read_bytes())
        kept = {repaired.data[s.at : s.end] for s in repaired.heap}
        assert whole <= kept and len(kept - whole) <= 2, (seed, cut, done.out)


def test_a_dump_that_is_begun_anew_anywhere_in_a_string_is_read(tmp_path: Path) -> None:
    """The string takes the header of the second dump. By chance records follow its end, or that of a record which begins there."""
    data = gold.read(SOURCE, "agent8")
    original = read(data)
    seed = random.SystemRandom().randrange(1 << 32)
    strings = [r for r in original.records if data[r.at] == 1 and r.end - r.at < 64]
    string = random.Random(seed).choice(strings)
    whole = {data[s.at : s.end] for s in original.heap}
    broken, copy = tmp_path / "broken.hprof", tmp_path / "copy.hprof"
    for cut in range(string.at, string.end):
        broken.write_bytes(data[:cut] + data)
        done = run("--profile", "auto", "--repair", copy, broken)
        assert done.status == 0, (seed, cut, done.out)
        repaired = read(copy.read_bytes())
        assert whole == {repaired.data[s.at : s.end] for s in repaired.heap}, (seed, cut, done.out)


def test_marks_all_over_a_dump_cost_what_is_beside_them(original: Original, tmp_path: Path) -> None:
    """8 bytes every so often, as the chunks of a transfer leave them: a length that they make wrong may end at a sub-record."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    marks = range(original.heap[0].at + dice.randrange(8192), original.heap[-1].end, dice.randrange(8192, 65536))
    loss = repair(original, [Damage(at, at, b"\r\n2000\r\n", "a mark") for at in marks], tmp_path)
    assert (loss.status, loss.new) == (0, 0), (seed, loss)
    assert loss.beyond <= 2 * len(marks), (seed, loss)


@pytest.mark.parametrize("marks", [range(2326844, 4273555, 10288), range(2326641, 4273555, 14484), range(2324053, 4273555, 11832)])
def test_roots_after_lost_objects_are_lost_with_them(marks: range, tmp_path: Path) -> None:
    """One mark makes a CLASS_DUMP or an array so long that it takes the roots, too; the next one is in the first of these."""
    loss = repair(read(gold.read(SOURCE, "jdk25")), [Damage(at, at, b"\r\n2000\r\n", "a mark") for at in marks], tmp_path)
    assert (loss.status, loss.new) == (0, 0) and loss.beyond <= 20, loss


def test_what_can_be_the_id_of_no_object_is_no_missing_object(original: Original, tmp_path: Path) -> None:
    """9 bytes in an object move what follows them, which is no ID then. In the damaged dump no more objects count as missing than
    were lost, and what each mark makes of the reference that it hits."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    large = [s for s in original.heap if original.data[s.at] in {INSTANCE, OBJECTS, PRIMITIVES} and s.end - s.at > 64]
    marks = sorted(dice.randrange(s.at + 32, s.end) for s in dice.sample(large, len(original.data) >> 16))
    loss = repair(original, [Damage(at, at, b"\r\n10000\r\n", "a mark") for at in marks], tmp_path)
    there, kept = (
        {one.data[s.at + 1 : s.at + 1 + one.id_size] for s in one.heap if one.data[s.at] in {CLASS, INSTANCE, OBJECTS, PRIMITIVES}}
        for one in (original, read((tmp_path / "copy.hprof").read_bytes()))
    )
    missing = report_one("--profile", "auto", tmp_path / "broken.hprof")["missing_objects"]
    assert (loss.status, loss.new) == (0, 0) and missing <= len(there - kept) + len(marks), (seed, missing, loss)


def test_a_damaged_class_costs_no_object_but_those_at_other_damage(tmp_path: Path) -> None:
    """8 bytes before the counts of a CLASS_DUMP make them zeros: it has no fields, and no instance has the size of its class. The
    class is java.lang.String, which no stretch of the heap is without."""
    original = read(gold.read(SOURCE, "jdk17"))
    marks = range(1947437, original.heap[-1].end, 11832)
    loss = repair(original, [Damage(at, at, b"\r\n2000\r\n", "a mark") for at in marks], tmp_path)
    assert (loss.status, loss.new) == (0, 0) and loss.beyond <= 30, loss


def test_the_agent_is_known_by_its_stack_traces(tmp_path: Path) -> None:
    """Without a class: by `strict`, its roots would have to go."""
    original = read(gold.read(SOURCE, "agent8"))
    loads = [r.end for r in original.records if original.data[r.at] == 2]
    loss = repair(original, [Damage(0, loads[-1], b"", "beginning lost")], tmp_path)
    assert (loss.status, loss.beyond, loss.new) == (0, 0, 0), loss


def test_pieces_in_the_wrong_order_are_put_in_the_right_one(original: Original, tmp_path: Path) -> None:
    """Wherever the dump was cut. Where another dump precedes it, or the end of one, nothing is turned around."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice, data = random.Random(seed), original.data
    broken, copy = tmp_path / "broken.hprof", tmp_path / "copy.hprof"
    for _ in range(3):
        cut = dice.randrange(2 * HEADER, len(data) - 2 * PAGE)
        broken.write_bytes(data[cut:] + data[:cut])
        done = run("--profile", "auto", "--repair", copy, broken)
        assert done.status == 0 and copy.read_bytes() == data, (seed, cut, done.out)
        assert "undone: the end of the dump came before its beginning\n" in done.out
    cut = dice.randrange(original.heap[0].at, len(data) - 16 * PAGE)
    broken.write_bytes(data[cut:] + data)
    done = run("--profile", "auto", "--repair", copy, broken)
    assert "came before" not in done.out, (seed, cut, done.out)


def test_the_end_of_a_gzip_file_is_checked_by_any_threads(original: Original, tmp_path: Path) -> None:
    """Also where the heap dump is looked at again before: what a thread has read ahead is read once more."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice, after = random.Random(seed), original.records[0].end
    for rule in ("GZ-003", "GZ-004", "GZ-005", "GZ-006") * 2:
        text = b"x" * dice.randrange(1 << 20)  # what is kept to go back to depends on the size
        string = struct.pack(">BII", 1, 0, original.id_size + len(text)) + bytes([1] * original.id_size) + text
        packed = bytearray(gzip.compress(original.data[:after] + string + original.data[after:], 1))
        if rule == "GZ-005":
            del packed[-dice.randrange(1, 8) :]
        elif rule == "GZ-006":
            packed += b"abc"
        else:
            packed[dice.randrange(-8, -4) + (4 if rule == "GZ-004" else 0)] ^= 1 << dice.randrange(8)
        (tmp_path / "dump.gz").write_bytes(packed)
        ways = [report_one(tmp_path / "dump.gz", "-j", threads) for threads in ("1", "2", "2", "4")]
        for way in (*ways, report_one("-", stdin=bytes(packed))):
            assert way["totals"][rule] == 1, (seed, rule, len(text))
            assert {key: way[key] for key in SAME} == {key: ways[0][key] for key in SAME}, (seed, rule, len(text))


def test_a_wrong_checksum_costs_nothing(original: Original, tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    packed = bytearray(gzip.compress(original.data, 1))
    packed[len(packed) - 8 + seed % 4] ^= 1 << seed // 4 % 8
    (tmp_path / "dump.gz").write_bytes(packed)
    done = run("--profile", "auto", "--repair", tmp_path / "copy", tmp_path / "dump.gz")
    assert done.status == 0 and (tmp_path / "copy").read_bytes() == original.data, (seed, done.out)


def test_a_damaged_header_is_made_anew(original: Original, tmp_path: Path) -> None:
    """What is left of it is kept. Without any of it, more can be read with the right size of IDs than with the other one."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    data, at = original.data, dice.randrange(17)  # not the digit of the version
    broken, copy = tmp_path / "broken.hprof", tmp_path / "copy.hprof"
    for kind, header in {
        "a byte of the text": data[:at] + bytes([data[at] ^ dice.randrange(1, 256)]) + data[at + 1 :],
        "the size of IDs": data[:19] + dice.choice((bytes(4), b"\0\0\0\x09", dice.randbytes(4))) + data[23:],
        "the other size of IDs": data[:22] + bytes([12 - data[22]]) + data[23:],
        "random bytes": dice.randbytes(HEADER) + data[HEADER:],
        "a page of zeros": bytes(PAGE) + data[PAGE:],
        "many zeros": bytes(zeros := dice.randrange(1 << 16, max(original.heap[0].at, (1 << 16) + 1))) + data[zeros:],
        "the beginning lost": data[dice.randrange(1, 4 * PAGE) :],
    }.items():
        broken.write_bytes(header)
        out = run(broken).out
        assert re.search(f"(try|fix): hprof-validate --repair fixed.hprof {broken}\n", out), (seed, kind)
        assert ("the header is damaged: it says that IDs have" in out) == (kind == "the other size of IDs"), (seed, kind)
        done = run("--profile", "auto", "--repair", copy, broken)
        assert done.status == 0, (seed, kind, done.out)
        content = copy.read_bytes()
        if kind in {"a byte of the text", "the size of IDs", "the other size of IDs"}:
            assert content == data, (seed, kind)
        elif kind == "random bytes":
            assert (content[19:23], content[HEADER:]) == (data[19:23], data[HEADER:]), (seed, kind)
        else:  # strings, which are first, are lost, or the threads of the agent
            lost = {data[s.at : s.end] for s in original.heap} - {content[s.at : s.end] for s in read(content).heap}
            assert sum(len(x) for x in lost) <= len(data) // 100, (seed, kind, done.out)


def with_array(original: Original, content: bytes, at: int) -> tuple[bytes, int]:
    """The dump with a byte[] before a sub-record, and where that is."""
    data, i = original.data, original.id_size
    array = bytes([PRIMITIVES]) + (1 << 28 | 8).to_bytes(i, "big") + struct.pack(">IIB", 1, len(content), 8) + content
    header = HEADER
    while True:
        tag, _, length = struct.unpack_from(">BII", data, header)
        if tag in {HEAP_DUMP, SEGMENT} and at < header + RECORD_HEADER + length:
            break
        header += RECORD_HEADER + length
    size = struct.pack(">I", length + len(array))
    return data[: header + 5] + size + data[header + RECORD_HEADER : at] + array + data[at:], at


@pytest.mark.parametrize("what", ["random bytes", "zeros and IDs", "a dump"])
def test_the_content_of_an_array_gives_no_objects(original: Original, what: str, tmp_path: Path) -> None:
    """The header of the array is damaged, so where it ends is not known."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    some = dice.choice([s for s in original.heap if s.end - s.at > 9])  # not a whole root: such bytes are a root
    content = {
        "random bytes": lambda: dice.randbytes(dice.randrange(1, 1 << 20)),
        "zeros and IDs": lambda: b"".join(
            dice.choice([bytes(8), original.data[some.at : some.at + 9]]) for _ in range(1 << dice.randrange(16))
        ),
        "a dump": lambda: original.data,
    }[what]()
    data, at = with_array(original, content, dice.choice(original.heap).at)
    o = read(data)
    for width, name in ((0, "tag"), (o.id_size + 5, "count"), (o.id_size + 9, "type")):
        loss = repair(o, [Damage(at + width, at + width + 1, b"\x99", name)], tmp_path)
        assert loss.status == 0 and loss.new == loss.again == 0, f"seed {seed}, {name}: {loss}"


def test_a_dump_in_an_array_gives_back_no_objects_that_are_lost(original: Original, tmp_path: Path) -> None:
    """It has them, but they are payload."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    data, _ = with_array(original, original.data, dice.choice(original.heap).at)
    o = read(data)
    first = dice.randrange(len(o.heap) // 2)
    last = first + dice.randrange(1, len(o.heap) // 3)
    array = next(i for i, s in enumerate(o.heap) if s.end - s.at > len(original.data))
    if first <= array < last:
        first = array + 1
        last = max(last, first)
    loss = repair(o, [Damage(o.heap[first].at, o.heap[last].at, b"", "sub-records lost")], tmp_path)
    assert loss.status == 0 and loss.new == loss.again == loss.beyond == 0, f"seed {seed}: {loss}"
