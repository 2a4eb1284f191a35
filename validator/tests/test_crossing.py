"""A heap dump in segments that end anywhere has the findings that it has in one segment, and REC-014 for each sub-record that
crosses: RULES.md M.2."""

import json
import random
import struct
from bisect import bisect_right
from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from dumps import class_dump, load_class, record, utf8
from tool import run

# No byte after a tag is a tag, so that no part of a sub-record looks like another one.
OBJECT, ARRAY, POINT = (0x7777777777777700 + 8 * i for i in range(14, 17))
OTHERS = [0x7777777777777900 + 16 * i for i in range(16)]
NAME = 0x7777777777777A10
CLASSES = (
    utf8(NAME, "java/lang/Object")
    + utf8(NAME + 16, "[Ljava/lang/String;")
    + utf8(NAME + 32, "Point")
    + load_class(1, OBJECT, NAME)
    + load_class(2, ARRAY, NAME + 16)
    + load_class(3, POINT, NAME + 32)
)


def point_class(size: int) -> bytes:
    """With nine fields of type int. All names but the first are undefined (STR-006)."""
    head = class_dump(POINT, OBJECT, size)[:-2] + struct.pack(">H", 9)
    return head + b"".join(struct.pack(">QB", NAME + (0 if i == 0 else 128 + 16 * i), 10) for i in range(9))


def array(dice: random.Random, object_id: int) -> bytes:
    elements = [dice.choice([0, OBJECT, *OTHERS]) for _ in range(dice.randrange(9, 32))]  # some dangle (REF-002)
    return struct.pack(f">BQIIQ{len(elements)}Q", 0x22, object_id, 0, len(elements), ARRAY, *elements)


def point(object_id: int, size: int) -> bytes:
    return struct.pack(">BQIQI", 0x21, object_id, 0, POINT, size) + bytes(size)


def heap(dice: random.Random) -> list[bytes]:
    classes = [class_dump(OBJECT, 0), class_dump(ARRAY, OBJECT), point_class(dice.choice([36, 36, 40]))]  # 40: CLS-017
    objects = [array(dice, dice.choice(OTHERS)) for _ in range(4)]  # some twice (OBJ-004)
    objects += [point(dice.choice(OTHERS), dice.choice([36, 36, 36, 37])) for _ in range(4)]  # 37: OBJ-006
    dice.shuffle(objects)
    plain = [array(dice, 0x7777777777777B00 + 16 * i) for i in range(2)]  # the last sub-records, which no failure follows
    return [*classes, *objects, *plain] if dice.random() < 0.5 else [*objects, *plain, *classes, array(dice, 0x7777777777777C00)]


def dump(subrecords: list[bytes], cuts: list[int]) -> bytes:
    body = b"".join(subrecords)
    parts = (body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True))
    header = b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 1795521603000)
    return header + CLASSES + b"".join(record(0x1C, part) for part in parts) + record(0x2C, b"")


def findings(path: Path | str, data: bytes = b"") -> list[tuple[str, int]]:
    report = json.loads(run("--profile", "strict", "--format", "json", "--max-errors", "0", path, stdin=data).out)["files"][0]
    assert report["skipped"] == 0
    return sorted((f["rule"], f["offset"] or 0) for f in report["findings"])


@pytest.mark.parametrize("seed", range(60))
def test_a_heap_dump_in_segments_that_end_anywhere(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    subrecords = heap(dice)
    body = sum(map(len, subrecords))
    begin = len(dump([], [])) - 9  # of the first sub-record: the last record is HEAP_DUMP_END
    cuts = list(accumulate(dice.randrange(8, dice.choice([40, 400])) for _ in range(200)))
    cuts = [cut for cut in cuts if cut < body - 150]
    starts = [0, *accumulate(map(len, subrecords))]

    def moved(offset: int) -> int:
        """The offset when there are cuts. Records have a header of 9 bytes."""
        return offset if offset < begin else offset + 9 * bisect_right(cuts, offset - begin)

    file = tmp_path / "dump.hprof"
    file.write_bytes(dump(subrecords, []))
    expected = [(rule, moved(offset)) for rule, offset in findings(file)]
    crossing = [a for a, b in pairwise(starts) if any(a < cut < b for cut in cuts)]
    expected += [("REC-014", moved(begin + a)) for a in crossing]
    assert crossing
    file.write_bytes(dump(subrecords, cuts))
    assert findings(file) == sorted(expected)
    assert findings("-", file.read_bytes()) == sorted((rule, 0 if rule == "REF-002" else at) for rule, at in expected)
