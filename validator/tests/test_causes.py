"""The cause that a report names is the true one: damage of each kind, anywhere in a dump of each producer. A cause that cannot be
known is not named, or is one of several that are named."""

import functools
import os
import random
import re
import struct
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_field import HEADER, HEAPS, NAMES, check, read, record_offsets
from tool import SOURCE

DRAWS = int(os.environ.get("HPROF_DRAWS", "4"))
PRODUCERS = ["agent8", "jdk8", "jdk17", "jdk25", "jdk28", "sa17", "android"]
PAGE = 4096
Damage = Callable[[bytes, random.Random], bytes]

WRONG = "bytes within the dump are wrong, missing or too many"
LENGTH = "a length is wrong, or a part in the middle is missing or wrong"
EARLY = "the disk was full|the VM was killed"


def made(*options: str) -> bytes:
    if "HPROF_GEN" not in os.environ:
        pytest.skip("needs hprof-gen")
    command = [os.environ["HPROF_GEN"], *options, "--seed", str(random.SystemRandom().randrange(1 << 32))]
    return subprocess.run(command, capture_output=True, check=True, cwd=SOURCE).stdout


@functools.cache
def dump_of(producer: str) -> bytes:
    return read(producer) if producer in NAMES else made("--like", producer, "--objects", "10000")


def place(data: bytes, dice: random.Random, size: int = 0, first: int = HEADER) -> int:
    """Anywhere, or at the start of a page."""
    at = dice.randrange(first, len(data) - size)
    return max(PAGE, at // PAGE * PAGE) if dice.random() < 0.5 and first < PAGE < len(data) - size else at


def truncated(data: bytes, dice: random.Random) -> bytes:
    return data[: place(data, dice)]


def lost(data: bytes, dice: random.Random) -> bytes:
    size = dice.choice([1, dice.randrange(1, 64), 512, PAGE, 2 * PAGE, dice.randrange(1, 1 << 16)])
    at = place(data, dice, size + 1)
    return data[:at] + data[at + size :]


def zero_page(data: bytes, dice: random.Random) -> bytes:
    size = dice.choice([1, 1, 2, 4]) * PAGE
    at = max(PAGE, dice.randrange(len(data) - size) // PAGE * PAGE)
    return data[:at] + bytes(size) + data[at + size :]


def zero_tail(data: bytes, dice: random.Random) -> bytes:
    at = place(data, dice)
    return data[:at] + bytes(len(data) - at)


def doubled(data: bytes, dice: random.Random) -> bytes:
    size = dice.choice([512, PAGE, 2 * PAGE, 1 << 16])
    at = dice.randrange(HEADER + size, len(data))
    return data[:at] + data[at - size :]


def one_byte(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(HEADER, len(data))
    return data[:at] + bytes([data[at] ^ dice.choice([1 << dice.randrange(8), dice.randrange(1, 256)])]) + data[at + 1 :]


def random_bytes(data: bytes, dice: random.Random) -> bytes:
    size = dice.choice([16, 512, PAGE])
    at = dice.randrange(HEADER, len(data) - size)
    return data[:at] + dice.randbytes(size) + data[at + size :]


def wrong_length(data: bytes, dice: random.Random) -> bytes:
    records = [(tag, body, end) for tag, body, end in record_offsets(data)]
    heaps = [one for one in records if one[0] in HEAPS]
    _, body, end = dice.choice(dice.choice([heaps, records]))
    near = (end - body + dice.choice([-1, 1]) * dice.randrange(1, 5000)) % (1 << 32)
    return data[: body - 4] + struct.pack(">I", dice.choice([near, dice.randrange(1 << 16)])) + data[body:]


@dataclass(frozen=True)
class Kind:
    damage: Damage
    is_true: str  # what the cause may be called, besides what is always true
    is_right: str  # what it should be called,
    at_least: float  # in this share of the reports that have errors


KINDS = [
    Kind(truncated, "HEAP_DUMP_END|objects are|no whole record follows|bytes were appended", EARLY, 0.9),
    Kind(lost, f"missing|lost|{LENGTH}", "missing|lost", 0.6),
    Kind(zero_page, LENGTH, "^zeros", 0.75),
    Kind(zero_tail, LENGTH, "^zeros", 0.7),
    Kind(doubled, f"there twice|bytes were inserted|{LENGTH}", "there twice", 0.6),
    Kind(one_byte, f"are wrong|{LENGTH}|a length is wrong", WRONG + "|wrong", 0),
    Kind(random_bytes, f"are wrong|{LENGTH}|a length", WRONG + "|wrong", 0.6),
    Kind(wrong_length, f"{LENGTH}|length (there )?is wrong", WRONG + "|wrong", 0.6),
]


@pytest.mark.parametrize("kind", KINDS, ids=[kind.damage.__name__ for kind in KINDS])
def test_no_other_cause_is_named(kind: Kind, tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    wrong, invalid, right = [], 0, 0
    for producer in PRODUCERS:
        data = bytes(dump_of(producer))
        for draw in range(DRAWS):
            found = check(kind.damage(data, dice), tmp_path)
            cause = found["hint"] or ""
            if cause and not re.search(f"{kind.is_true}|{kind.is_right}|{WRONG}", cause):
                wrong.append(f"{producer}, draw {draw}: {cause}")
            if found["errors"]:
                invalid += 1
                right += re.search(kind.is_right, cause) is not None
    # Lengths or zeros in the data may look like other damage by chance: in 1 of 300 draws.
    assert len(wrong) <= max(2, len(PRODUCERS) * DRAWS // 100), f"seed {seed}: {wrong}"
    assert right >= kind.at_least * (invalid - 2), f"seed {seed}: {right} of {invalid}"


@pytest.mark.parametrize("producer", ["android", "graalvm", "mat"])
def test_a_damaged_tag_is_an_error(producer: str, tmp_path: Path) -> None:
    """Who writes such dumps writes no records of other tags."""
    data, seed = bytes(dump_of(producer)), random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    records = [body - 9 for tag, body, _ in record_offsets(data) if tag in (1, *HEAPS)]
    for _ in range(DRAWS):
        at, tag = dice.choice(records), dice.choice([0, 8, 9, *range(0x2D, 0x100)])
        found = check(data[:at] + bytes([tag]) + data[at + 1 :], tmp_path)
        assert found["errors"], f"seed {seed}, {tag:#x} at {at:#x}: {found['totals']}"


@pytest.mark.parametrize("producer", ["hotspot-25", "jdk8-agent"])
def test_heap_dumps_that_are_alike_are_no_bytes_that_are_there_twice(producer: str, tmp_path: Path) -> None:
    """If bytes of the second are lost, what follows them, and the third up to there, is there once more before."""
    data, seed = made("--like", producer, "--heap-dumps", "3", "--objects", "300"), random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    heaps = [(body, end) for tag, body, end in record_offsets(data) if tag in HEAPS]
    (first, _), (_, end) = heaps[len(heaps) // 3], heaps[2 * len(heaps) // 3 - 1]
    for _ in range(DRAWS):
        size = dice.choice([1, 100, 512, PAGE])
        at = dice.randrange(first, end - size)
        cause = check(data[:at] + data[at + size :], tmp_path)["hint"] or ""
        assert "twice" not in cause, f"seed {seed}, {size} at {at:#x}: {cause}"


@pytest.mark.parametrize("producer", ["jdk25", "android"])
def test_the_tag_of_the_first_segment_is_wrong(producer: str, tmp_path: Path) -> None:
    """By SPEC.md it is a heap dump of its own then, which the segments after it need."""
    data = bytes(dump_of(producer))
    first = next(body - 9 for tag, body, _ in record_offsets(data) if tag in HEAPS)
    cause = check(data[:first] + b"\x0c" + data[first + 1 :], tmp_path)["hint"]
    assert cause.startswith(f"the tag at {first:#x} is wrong")
