"""Damages a dump, repairs it, and compares the copy with the original, sub-record by sub-record.

The reader here is independent of the validator. A sub-record of the original is lost if the copy does not have its bytes; it
is lost *beyond* the damage if the damage did not touch it. A sub-record of the copy is new if the original does not have its
bytes, and it is no CLASS_DUMP: those are stand-ins.

    losses.py [--draws N] [--seed N] DUMP...     prints for each kind of damage what was lost beyond it
"""

import argparse
import random
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tool import TOOL

HEADER, RECORD_HEADER, PAGE = 31, 9, 4096
HEAP_DUMP, SEGMENT = 0x0C, 0x1C
CLASS, INSTANCE, OBJECTS, PRIMITIVES = 0x20, 0x21, 0x22, 0x23


@dataclass
class Subrecord:
    at: int
    end: int


@dataclass
class Original:
    data: bytes
    id_size: int
    heap: list[Subrecord] = field(default_factory=list)
    records: list[Subrecord] = field(default_factory=list)  # others than heap dump records,
    headers: list[Subrecord] = field(default_factory=list)  # and the headers of these


class Shapes:
    """Sizes of sub-records, by 1.0.2."""

    def __init__(self, i: int) -> None:
        self.i = i
        self.widths = {2: i, 4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
        self.fixed = {1: 2 * i, 2: i + 8, 3: i + 8, 4: i + 4, 5: i, 6: i + 4, 7: i, 8: i + 8, 0xFF: i}

    def size(self, data: bytes, at: int) -> int:
        i, tag = self.i, data[at]
        if tag == INSTANCE:
            return 2 * i + 9 + int(struct.unpack_from(">I", data, at + 2 * i + 5)[0])
        if tag == OBJECTS:
            return 2 * i + 9 + i * int(struct.unpack_from(">I", data, at + i + 5)[0])
        if tag == PRIMITIVES:
            return i + 10 + self.widths[data[at + i + 9]] * int(struct.unpack_from(">I", data, at + i + 5)[0])
        if tag == CLASS:
            fields = self.counts(data, at)[-1]
            return fields + 2 + int(struct.unpack_from(">H", data, fields)[0]) * (i + 1) - at
        return 1 + self.fixed[tag]

    def counts(self, data: bytes, at: int) -> list[int]:
        """Where a CLASS_DUMP has the numbers of its constants, static fields and fields."""
        counts = [at + 1 + 7 * self.i + 8]
        for head in (2, self.i):
            end = counts[-1] + 2
            for _ in range(struct.unpack_from(">H", data, counts[-1])[0]):
                end += head + 1 + self.widths[data[end + head]]
            counts.append(end)
        return counts


def read(data: bytes) -> Original:
    """A dump whose lengths are right."""
    (id_size,) = struct.unpack_from(">I", data, 19)
    shapes, found, at = Shapes(id_size), Original(data, id_size), HEADER
    while at < len(data):
        tag, _, length = struct.unpack_from(">BII", data, at)
        end = at + RECORD_HEADER + length
        if tag not in {HEAP_DUMP, SEGMENT}:
            found.records.append(Subrecord(at, end))
            at = end
            continue
        found.headers.append(Subrecord(at, at + RECORD_HEADER))
        at += RECORD_HEADER
        while at < end:
            size = shapes.size(data, at)
            found.heap.append(Subrecord(at, at + size))
            at += size
        if at != end:
            raise ValueError(f"the heap dump record that ends at {end:#x} ends within a sub-record")
    return found


# ---- Damage ----------------------------------------------------------------------------------------------------------


@dataclass
class Damage:
    """The bytes from `at` to `end` of the original were replaced."""

    at: int
    end: int
    by: bytes
    what: str

    def apply(self, data: bytes) -> bytes:
        return data[: self.at] + self.by + data[self.end :]


def _different(dice: random.Random, width: int, old: bytes) -> bytes:
    while (new := dice.randbytes(width)) == old:
        continue
    return new


def _overwrite(dice: random.Random, o: Original, at: int, width: int, what: str) -> list[Damage]:
    return [Damage(at, at + width, _different(dice, width, o.data[at : at + width]), what)]


def _draw(dice: random.Random, o: Original, tags: tuple[int, ...]) -> Subrecord:
    """By sub-record, or by byte: then large ones are drawn more often."""
    candidates = [s for s in o.heap if o.data[s.at] in tags] if tags else o.heap
    if dice.randrange(2):
        return dice.choice(candidates)
    return dice.choices(candidates, weights=[s.end - s.at for s in candidates])[0]


def tag(dice: random.Random, o: Original) -> list[Damage]:
    return _overwrite(dice, o, _draw(dice, o, ()).at, 1, "tag")


def element_type(dice: random.Random, o: Original) -> list[Damage]:
    return _overwrite(dice, o, _draw(dice, o, (PRIMITIVES,)).at + o.id_size + 9, 1, "type")


def count(dice: random.Random, o: Original) -> list[Damage]:
    at, width = _draw(dice, o, (OBJECTS, PRIMITIVES)).at + o.id_size + 5, dice.randrange(4)
    return _overwrite(dice, o, at + width, 4 - width, "count")


def class_count(dice: random.Random, o: Original) -> list[Damage]:
    at, width = dice.choice(Shapes(o.id_size).counts(o.data, _draw(dice, o, (CLASS,)).at)), dice.randrange(2)
    return _overwrite(dice, o, at + width, 2 - width, "count of a class")


def field_type(dice: random.Random, o: Original) -> list[Damage]:
    """Another basic type, in the class of an instance: most objects are of few classes."""
    i, classes = o.id_size, {_class_of(o, s): s.at for s in o.heap if o.data[s.at] == CLASS}
    fields = {c: Shapes(i).counts(o.data, at)[-1] for c, at in classes.items()}
    counts = {c: int.from_bytes(o.data[at : at + 2], "big") for c, at in fields.items()}
    hit = _class_of(o, dice.choice([s for s in o.heap if o.data[s.at] == INSTANCE and counts.get(_class_of(o, s))]))
    at = fields[hit] + 2 + dice.randrange(counts[hit]) * (i + 1) + i
    return [Damage(at, at + 1, bytes([dice.choice([t for t in (2, *range(4, 12)) if t != o.data[at]])]), "type of a field")]


def superclass(dice: random.Random, o: Original) -> list[Damage]:
    """Another class, often one below it, so that there is a cycle; an object; or wrong bytes."""
    i, at = o.id_size, {_class_of(o, s): s.at + 5 for s in o.heap if o.data[s.at] == CLASS}
    above = {c: o.data[p + i : p + 2 * i] for c, p in at.items()}
    below = dice.choice([c for c in above if int.from_bytes(above[c], "big") in at])
    chain = [below]
    while (up := int.from_bytes(above[chain[-1]], "big")) in at:
        chain.append(up)
    it = dice.choice(chain[1:])
    other = _draw(dice, o, (CLASS, INSTANCE)).at + 1
    new = dice.choice((below.to_bytes(i, "big"), o.data[other : other + i], dice.randbytes(i)))
    return [] if new == above[it] else [Damage(at[it] + i, at[it] + 2 * i, new, "superclass")]


def class_id(dice: random.Random, o: Original) -> list[Damage]:
    """A byte of the class of an object, or of a class's own ID."""
    s = _draw(dice, o, (CLASS, INSTANCE, OBJECTS))
    at = s.at + {CLASS: 1, INSTANCE: 5 + o.id_size, OBJECTS: 9 + o.id_size}[o.data[s.at]] + dice.randrange(o.id_size)
    return _overwrite(dice, o, at, 1, "class ID")


def length(dice: random.Random, o: Original) -> list[Damage]:
    at, width = _draw(dice, o, (INSTANCE,)).at + 2 * o.id_size + 5, dice.randrange(4)
    return _overwrite(dice, o, at + width, 4 - width, "length")


def _draw_record(dice: random.Random, o: Original) -> Subrecord:
    return dice.choice(dice.choice((o.records, o.records, o.records, o.headers)))


def record_tag(dice: random.Random, o: Original) -> list[Damage]:
    return _overwrite(dice, o, _draw_record(dice, o).at, 1, "tag of a record")


def record_length(dice: random.Random, o: Original) -> list[Damage]:
    """Any, or one that leads to another record, as many do by chance."""
    r = _draw_record(dice, o)
    at, width = r.at + 5, dice.randrange(4)
    if dice.randrange(2):
        return _overwrite(dice, o, at + width, 4 - width, "length of a record")
    before = [x.at for x in o.records if r.end < x.at < r.end + (1 << dice.randrange(6, 19))] or [r.end]
    new = (dice.choice(before) - r.at - RECORD_HEADER).to_bytes(4, "big")
    return [] if new == o.data[at : at + 4] else [Damage(at, at + 4, new, "length of a record that leads to another")]


def inserted(dice: random.Random, o: Original) -> list[Damage]:
    s = _draw(dice, o, ())
    at = dice.randrange(s.at, s.end)
    return [Damage(at, at, dice.randbytes(3), "3 bytes inserted")]


def missing(dice: random.Random, o: Original) -> list[Damage]:
    s = _draw(dice, o, ())
    at = dice.randrange(s.at, s.end)
    return [Damage(at, at + 1, b"", "1 byte missing")]


def record_inserted(dice: random.Random, o: Original) -> list[Damage]:
    r = dice.choice(o.records)
    at = dice.randrange(r.at, r.end)
    return [Damage(at, at, dice.randbytes(3), "3 bytes inserted into a record")]


def record_missing(dice: random.Random, o: Original) -> list[Damage]:
    r = dice.choice(o.records)
    at = dice.randrange(r.at, r.end)
    return [Damage(at, at + 1, b"", "1 byte of a record missing")]


def _anywhere(dice: random.Random, o: Original, n: int) -> int:
    """Most of a dump is heap; a part of it that holds the definitions is damaged as often as its size says."""
    return dice.randrange(HEADER, max(HEADER + 1, len(o.data) - n))


def lost(dice: random.Random, o: Original) -> list[Damage]:
    n = dice.choice([dice.randrange(1, 100), dice.randrange(100, 5000), dice.randrange(5000, 65538)])
    at = _anywhere(dice, o, n)
    return [Damage(at, at + n, b"", f"{n} bytes lost")]


def zeroed(dice: random.Random, o: Original) -> list[Damage]:
    pages = dice.sample(range(1, len(o.data) // PAGE), dice.randrange(1, 5))
    return [Damage(p * PAGE, (p + 1) * PAGE, bytes(PAGE), "page zeroed") for p in sorted(pages)]


def overwritten(dice: random.Random, o: Original) -> list[Damage]:
    """A sector of noise, or a page of text. A page that flash memory erased, whose bytes are 0xff, may by chance lead on."""
    sector = dice.randrange(1, len(o.data) // PAGE) * PAGE
    by = dice.choice((dice.randbytes(512), b"\xde\xad\xbe\xef" * 128, (b"INFO 08:00:00 a line of a log\n" * PAGE)[:PAGE]))
    return [Damage(sector, sector + len(by), by, f"{len(by)} bytes overwritten")]


def doubled(dice: random.Random, o: Original) -> list[Damage]:
    at = _anywhere(dice, o, PAGE) + PAGE
    return [Damage(at, at, o.data[at - PAGE : at], "4 KB doubled")]


Kind = Callable[[random.Random, Original], list[Damage]]
ONE_FAULT: tuple[Kind, ...] = (
    tag,
    element_type,
    field_type,
    superclass,
    class_id,
    count,
    class_count,
    length,
    inserted,
    missing,
    record_tag,
    record_length,
)
IN_RECORDS: tuple[Kind, ...] = (record_inserted, record_missing)
MANY_BYTES: tuple[Kind, ...] = (lost, zeroed, overwritten, doubled)


def damaged(o: Original, damages: list[Damage]) -> bytes:
    data = o.data
    for d in reversed(damages):
        data = d.apply(data)
    return data


# ---- Comparison ------------------------------------------------------------------------------------------------------


@dataclass
class Loss:
    beyond: int  # sub-records that the damage did not touch
    beyond_bytes: int
    new: int  # sub-records that the original does not have, beyond one for each damaged one and for each place of damage
    status: int
    by_class: int  # objects and classes whose own class or superclass the damage touched
    output: str
    by_class_bytes: int = 0
    again: int = 0  # copies of sub-records that the original has fewer of
    record_bytes: int = 0  # of records other than heap dumps that the damage did not touch


def _touched(s: Subrecord, damages: list[Damage]) -> bool:
    return any(d.at < s.end and s.at < d.end if d.at < d.end else s.at < d.at < s.end for d in damages)


def _class_of(o: Original, s: Subrecord) -> int:
    """Of an object, its class; of a class, itself; 0 for any other sub-record."""
    i = o.id_size
    at = {CLASS: 1, INSTANCE: 5 + i, OBJECTS: 9 + i}.get(o.data[s.at])
    return int.from_bytes(o.data[s.at + at : s.at + at + i], "big") if at else 0


def _classless(o: Original, damages: list[Damage]) -> set[int]:
    """The classes whose LOAD_CLASS, name or CLASS_DUMP the damage touched, and their subclasses."""
    i = o.id_size
    hit, supers, names = set[int](), dict[int, int](), set[int]()
    for r in o.records:
        if o.data[r.at] == 1 and _touched(r, damages):
            names.add(int.from_bytes(o.data[r.at + 9 : r.at + 9 + i], "big"))
    for r in o.records:
        if o.data[r.at] == 2 and (
            _touched(r, damages) or int.from_bytes(o.data[r.at + 17 + i : r.at + 17 + 2 * i], "big") in names
        ):
            hit.add(int.from_bytes(o.data[r.at + 13 : r.at + 13 + i], "big"))
    for s in o.heap:
        if o.data[s.at] == CLASS:
            supers[_class_of(o, s)] = int.from_bytes(o.data[s.at + 5 + i : s.at + 5 + 2 * i], "big")
            if _touched(s, damages):
                hit.add(_class_of(o, s))
    more = True
    while more:
        found = {c for c, above in supers.items() if above in hit and c not in hit}
        hit |= found
        more = bool(found)
    return hit


def _bytes_of_lost_records(o: Original, repaired: Original, damages: list[Damage]) -> int:
    """Apart from times, which a repair may change."""
    kept = Counter(repaired.data[r.at : r.at + 1] + repaired.data[r.at + 5 : r.end] for r in repaired.records)
    kept.subtract(o.data[r.at : r.at + 1] + o.data[r.at + 5 : r.end] for r in o.records if not _touched(r, damages))
    return sum(-n * (len(content) + 4) for content, n in kept.items() if n < 0)


def repair(o: Original, damages: list[Damage], folder: Path) -> Loss:
    broken, copy = folder / "broken.hprof", folder / "copy.hprof"
    broken.write_bytes(damaged(o, damages))
    done = subprocess.run(
        [TOOL, "--profile", "auto", "--force", "--repair", copy, broken], capture_output=True, text=True, check=False, timeout=600
    )
    whole = sum(s.end - s.at for s in o.heap)
    if done.returncode:
        return Loss(len(o.heap), whole, 0, done.returncode, 0, done.stdout + done.stderr)
    repaired = read(copy.read_bytes())
    classless = _classless(o, damages)
    there = {o.data[s.at : s.end] for s in o.heap}
    kept = Counter(repaired.data[s.at : s.end] for s in repaired.heap)
    beyond = beyond_bytes = touched = by_class = by_class_bytes = 0
    for is_hit, s in sorted(((_touched(s, damages), s) for s in o.heap), key=lambda one: one[0]):  # a copy is that of a whole one
        content = o.data[s.at : s.end]
        if kept[content]:
            kept[content] -= 1
        elif is_hit:
            touched += 1
        elif _class_of(o, s) in classless:
            by_class += 1
            by_class_bytes += s.end - s.at
        else:
            beyond += 1
            beyond_bytes += s.end - s.at
    return Loss(
        beyond,
        beyond_bytes,
        max(0, sum(n for c, n in kept.items() if c not in there and c[0] != CLASS) - touched - len(damages)),
        0,
        by_class,
        done.stdout + done.stderr,
        by_class_bytes,
        sum(n for c, n in kept.items() if c in there),
        _bytes_of_lost_records(o, repaired, damages),
    )


def draws(o: Original, kinds: tuple[Kind, ...], n: int, seed: int) -> Iterator[tuple[int, Kind, list[Damage]]]:
    for i in range(n):
        for kind in kinds:
            yield i, kind, kind(random.Random(f"{seed} {i} {kind.__name__}"), o)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--kind", default="")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("dumps", nargs="+", type=Path)
    given = parser.parse_args()
    print(f"seed {given.seed}")
    kinds = tuple(k for k in ONE_FAULT + IN_RECORDS + MANY_BYTES if k.__name__.startswith(given.kind))
    with tempfile.TemporaryDirectory() as folder:
        for path in given.dumps:
            o = read(path.read_bytes())
            size, results = len(o.data), dict[str, list[Loss]]()
            for i, kind, damages in draws(o, kinds, given.draws, given.seed):
                loss = repair(o, damages, Path(folder))
                results.setdefault(kind.__name__, []).append(loss)
                if given.verbose and (loss.beyond_bytes + loss.by_class_bytes > size / 2000 or loss.new):
                    where = ", ".join(f"{d.what} at {d.at:#x}" for d in damages)
                    print(f"  {path.name} {kind.__name__} {i}: {where}")
                    print(f"    {loss.beyond} lost, {loss.beyond_bytes} bytes, {loss.new} new, status {loss.status}")
            for name, losses in results.items():
                shares = [100 * loss.beyond_bytes / size for loss in losses]
                objects = max(loss.beyond for loss in losses)
                by_class = sum(loss.by_class for loss in losses)
                records = max(loss.record_bytes for loss in losses)
                new, failed = sum(loss.new for loss in losses), sum(loss.status != 0 for loss in losses)
                print(
                    f"{path.name:14} {name:12} mean {sum(shares) / len(shares):7.3f} %  max {max(shares):7.3f} %  "
                    f"{objects:6} objects  {records:6} bytes of records  {new} new  {failed} failed  {by_class} of lost classes"
                )
    sys.stdout.flush()


if __name__ == "__main__":
    main()
