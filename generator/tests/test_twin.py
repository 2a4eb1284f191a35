"""--from-profile: a heap like the one that a profile describes. The twin is described again, and the two profiles are compared.

Draws are fresh in each run; the seed is in each message."""

import gzip
import json
import random
import re
import subprocess
import tempfile
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from fit_tool import Profile, following, objects_of, parsed, read_dump
from gen_tool import SOURCE, TOOL, VALIDATOR, run
from some_cases import any_one, some

from hprof_conformance.gold import index, read

SEED = random.SystemRandom().randrange(1 << 32)
DRAWS = 40  # of profiles that make no sense
HOTSPOTS = sorted(name for name in index(SOURCE) if re.fullmatch(r"jdk\d+(-i386)?", name))
OTHERS = ["agent8", "sa11", "sa17", "sa28"]
LEAST = 1000  # sampled objects of a class that is compared
# By Kolmogorov and Smirnov, of a class:
DEGREE = 0.06
DISTANCE = 0.12
MIDDLE = (0.05, 0.1)  # of half of the classes


@cache
def profile_of(name: str) -> str:
    """Of a gold dump, or of a load."""
    if name in index(SOURCE):
        return fitted(gold_of(name))
    return fitted(run("--like=hotspot-25", f"--load={name}", "--objects=1e5").out)


def gold_of(name: str) -> bytes:
    data = read(SOURCE, name)
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def fitted(data: bytes) -> str:
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        done = run("-q", "--fit", file.name)
    assert (done.status, done.err) == (0, "")
    return done.out.decode()


def twin(profile: str, folder: Path, *options: str) -> bytes:
    (folder / "a.profile").write_text(profile)
    done = run("--from-profile", folder / "a.profile", *options)
    assert (done.status, done.err) == (0, ""), (done.status, done.err)
    return bytes(done.out)


def verdict(data: bytes) -> Any:
    done = subprocess.run([VALIDATOR, "--format=json", "-"], input=data, stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout)["files"][0]


def far_apart(one: Counter[int], other: Counter[int]) -> float:
    """Kolmogorov and Smirnov."""
    most, sums = 0.0, [0.0, 0.0]
    for value in sorted({*one, *other}):
        sums[0] += one[value] / max(1, one.total())
        sums[1] += other[value] / max(1, other.total())
        most = max(most, abs(sums[0] - sums[1]))
    return most


def check_counts(original: Profile, made: Profile) -> None:
    assert made.numbers == original.numbers
    assert made.follow[1:] == original.follow[1:]
    assert made.follow[:1] == pytest.approx(original.follow[:1], rel=0.1)
    for label, classes in original.classes.items():
        for one, other in zip(classes, made.classes[label], strict=True):
            assert (other.kind, other.objects) == (one.kind, one.objects), label
            if one.kind == "instances":
                assert (other.nulls, other.not_null) == (one.nulls, one.not_null), label
            elif sum(number for number, _, _ in one.lengths) >= LEAST and one.nulls:
                shares = [each.nulls[0] / max(1, each.nulls[0] + each.not_null[0]) for each in (one, other)]
                assert abs(shares[0] - shares[1]) < 0.01, label
    for kind, elements in elements_of(original).items():
        assert elements_of(made)[kind] == pytest.approx(elements, rel=0.02), kind


def elements_of(profile: Profile) -> Counter[str]:
    """By type: of object arrays from the references, of others by the lengths, of which a few are rounded."""
    found: Counter[str] = Counter()
    for label, classes in profile.classes.items():
        for one in classes:
            if one.kind == "arrays":
                found["object" if one.nulls else label] += sum(one.nulls) + sum(one.not_null)
                found[label] += 0 if one.nulls else sum(number * length for number, length, _ in one.lengths)
    return found


def check_references(original: Profile, made: Profile) -> int:
    """How many classes were compared."""
    degrees: list[float] = []
    distances: list[float] = []
    for label, classes in original.classes.items():
        one, other = classes[0], made.classes[label][0]
        if one.named.total() < LEAST * original.numbers["sampled-one-of"] or len(classes) > 1:
            continue
        degrees.append(far_apart(one.named, other.named))
        assert degrees[-1] <= DEGREE, (label, one.named, other.named)
        far: tuple[Counter[int], Counter[int]] = Counter(), Counter()
        for slot, targets in enumerate(one.targets):
            known = {target for target in targets if target not in ("rest", "nothing")}
            assert {target for target in other.targets[slot] if target not in ("rest", "class")} <= known | {"rest", "class"} or (
                "rest" in targets
            ), (label, slot)
            far[0].update(one.distances[slot])
            far[1].update(other.distances[slot])
        if far[0].total() >= LEAST:
            distances.append(far_apart(*far))
            assert distances[-1] <= DISTANCE, (label, far)
    for found, most in zip((degrees, distances), MIDDLE, strict=True):
        assert not found or sorted(found)[(len(found) - 1) // 2] <= most, sorted(found)
    return len(degrees)


@pytest.mark.parametrize("name", [*some(HOTSPOTS), "web", "map"])
def test_the_twin_is_like_the_original(name: str, tmp_path: Path) -> None:
    profile = profile_of(name)
    data = twin(profile, tmp_path, f"--seed={SEED}")
    original, made = parsed(profile), parsed(fitted(data))
    check_counts(original, made)
    assert check_references(original, made) >= 1, SEED


@pytest.mark.parametrize("name", some(HOTSPOTS))
def test_the_verdict_is_that_of_the_original(name: str, tmp_path: Path) -> None:
    """Except elements that name nothing: they name a class."""
    data = read(SOURCE, name)
    real, ours = verdict(data), verdict(twin(profile_of(name), tmp_path))
    assert ours["valid"]
    assert (ours["errors"], ours["warnings"]) == (0, 0)
    assert ours["producer"] == real["producer"]
    assert set(ours["totals"]) == set(real["totals"]) - {"REF-002"}


@pytest.mark.parametrize("name", any_one(OTHERS))
def test_twins_are_of_the_producer_of_the_original(name: str, tmp_path: Path) -> None:
    real, ours = verdict(read(SOURCE, name)), verdict(twin(profile_of(name), tmp_path))
    assert (ours["valid"], ours["errors"], ours["warnings"]) == (True, 0, 0)
    assert ours["producer"] == real["producer"]


@pytest.mark.parametrize("like", ["android", "jdk8-agent", "jvmpi-agent", "mat", "sa-21"])
def test_twins_are_of_the_producer_of_a_generated_dump(like: str, tmp_path: Path) -> None:
    data = run(f"--like={like}", "--objects=20000").out
    real, ours = verdict(data), verdict(twin(fitted(data), tmp_path))
    assert (ours["valid"], ours["producer"]) == (True, real["producer"])


def test_the_seed_decides(tmp_path: Path) -> None:
    profile = profile_of("jdk17")
    first = twin(profile, tmp_path)
    assert twin(profile, tmp_path) == first
    assert twin(profile, tmp_path, "--seed=1") == first
    assert twin(profile, tmp_path, "--seed=2") != first


@pytest.mark.parametrize("objects", [1, 100, 5000, 40000])
def test_more_or_fewer_objects(objects: int, tmp_path: Path) -> None:
    """Classes, roots and strings do not grow. Among few objects there is none for each thread and loader."""
    original = parsed(profile_of("jdk17"))
    data = twin(profile_of("jdk17"), tmp_path, f"--objects={objects}")
    made = parsed(fitted(data))
    found = verdict(data)
    assert (found["valid"], found["errors"]) == (True, 0)
    assert found["warnings"] == 0 or objects <= 100
    assert made.numbers["objects"] == objects
    for kind in ("record UTF8", "record LOAD_CLASS", "sub-record CLASS_DUMP", "sub-record ROOT_THREAD_OBJECT"):
        assert made.numbers[kind] == original.numbers[kind]
    (strings,), (before,) = made.classes["java.lang.String"], original.classes["java.lang.String"]
    assert abs(strings.objects - before.objects * objects / original.numbers["objects"]) < 1


def test_the_manifest_is_true(tmp_path: Path) -> None:
    """That of the same records, as they are read from the dump."""
    (tmp_path / "a.profile").write_text(profile_of("jdk25"))
    manifest = ("--manifest", tmp_path / "m.json", "--digests", "--answers", "-o")
    done = run("--from-profile", tmp_path / "a.profile", *manifest, tmp_path / "twin.hprof")
    assert (done.status, done.err) == (0, "")
    ours = json.loads((tmp_path / "m.json").read_text())
    done = run("--from", tmp_path / "twin.hprof", *manifest, tmp_path / "copy.hprof")
    assert (done.status, done.err) == (0, "")
    copy = json.loads((tmp_path / "m.json").read_text())
    assert (tmp_path / "twin.hprof").read_bytes() == (tmp_path / "copy.hprof").read_bytes()
    for key in ("records", "sub_records", "roots", "instances", "elements", "digests", "answers", "sha256", "class_names"):
        assert ours.get(key) == copy.get(key), key


# ---- Addresses -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sizes"), [("jdk17", (12, 16, 4)), ("jdk28", (8, 12, 4)), ("jdk17-i386", (8, 12, 4)), ("sa17", (12, 16, 4))]
)
def test_addresses_follow_sizes_as_in_the_original(name: str, sizes: tuple[int, int, int], tmp_path: Path) -> None:
    """Except where a class is between two objects, as it is in the original."""
    original = read_dump(gold_of(name))
    made = read_dump(twin(profile_of(name), tmp_path, f"--seed={SEED}"))
    assert original
    assert made
    keys = [each[0] for each in objects_of(made)]
    classes = [values[0] for each in made.heap for shape, _, values, _, _ in each if shape.record.name == "CLASS_DUMP"]
    assert keys == sorted({*keys} - {*classes})
    assert sum(keys[0] < each < keys[-1] for each in classes) > len(classes) * 0.9
    assert following(made, sizes) == pytest.approx(following(original, sizes), rel=0.1)
    assert following(made, sizes) >= len(keys) - len(classes) - 1


def test_ids_that_are_no_addresses_are_equidistant(tmp_path: Path) -> None:
    made = read_dump(twin(profile_of("agent8"), tmp_path))
    assert made
    keys = [each[0] for each in objects_of(made)]
    assert len({after - before for before, after in pairwise(keys)}) <= 2  # a class may be between two


SMALL_IDS = """hprof-gen profile 1
version 1.0.2
id-size 4
objects {objects}
follow 4 8 12 4
record 99 HEAP_DUMP_SEGMENT 0x1c
sub-record 2 CLASS_DUMP 0x20
sub-record 4 INSTANCE_DUMP 0x21
sub-record {arrays} PRIMITIVE_ARRAY_DUMP 0x23
class 7 long[]
 arrays {arrays}
 length {arrays} {length} rounded
class 8 java.lang.Object
 not loaded
class 9 class9
 not loaded
 super 8 java.lang.Object
 field long -
 instances 4
order 9 9 9 9
"""


@pytest.mark.parametrize(
    ("arrays", "length", "distance"), [(2, 100, 16), (2, 200_000_000, 16), (4, 500_000_000, 4), (12, 500_000_000, 1)]
)
def test_addresses_are_closer_where_ids_of_four_bytes_are_too_few(arrays: int, length: int, distance: int, tmp_path: Path) -> None:
    """An object of 16 bytes has so many IDs; the arrays, which follow, have the rest. They are not read."""
    (tmp_path / "a.profile").write_text(SMALL_IDS.format(objects=4 + arrays, arrays=arrays, length=length))
    with subprocess.Popen([TOOL, "-q", "--from-profile", tmp_path / "a.profile"], stdout=subprocess.PIPE) as process:
        assert process.stdout
        data = process.stdout.read(300)
        process.stdout.close()
    assert process.returncode == 0
    instance = re.compile(rb"\x21(.{4}).{4}(.{4})\0\0\0\x08.{8}", re.DOTALL)
    keys = [int.from_bytes(found[1], "big") for found in instance.finditer(data)]
    assert len(keys) == 4
    assert min(after - before for before, after in pairwise(keys)) == distance


# ---- Other profiles --------------------------------------------------------------------------------------------------


def broken(lines: list[str], dice: random.Random) -> list[str]:
    """With one to three changes."""
    lines = list(lines)
    for _ in range(dice.randint(1, 3)):
        at = dice.randrange(len(lines))
        what = dice.randrange(6)
        if what == 0:
            del lines[at]
        elif what == 1:
            lines.insert(at, lines[dice.randrange(len(lines))])
        elif what == 2:
            numbers = list(re.finditer(r"\d+", lines[at]))
            if numbers:
                one = dice.choice(numbers)
                new = dice.choice([0, 1, 2, 1000, 1 << 40, 1 << 64, 10**30])
                lines[at] = lines[at][: one.start()] + str(new) + lines[at][one.end() :]
        elif what == 3:
            words = lines[at].split(" ")
            words[dice.randrange(len(words))] = dice.choice(["", "-", "null", "object", "int[]", "java.lang.String", "\x01"])
            lines[at] = " ".join(words)
        elif what == 4:
            lines[at] = dice.choice(["", " ", "  "]) + lines[at].strip()
        else:
            del lines[dice.randrange(len(lines)) :]
        if not lines:
            return [""]
    return lines


def test_a_profile_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    """With one sentence, and never with a crash."""
    dice = random.Random(SEED)
    lines = parsed_lines("agent8")
    refused = 0
    for draw in range(DRAWS):
        (tmp_path / "a.profile").write_text("\n".join(broken(lines, dice)))
        done = run("--objects=200", "--from-profile", tmp_path / "a.profile", "-o", "/dev/null")
        assert done.status in (0, 3), (SEED, draw, done.status, done.err)
        assert done.err.count("\n") == (done.status == 3), (SEED, draw, done.err)
        assert not done.err or re.search("profile", done.err), (SEED, draw, done.err)
        refused += done.status == 3
    assert refused > DRAWS / 4, SEED


@cache
def parsed_lines(name: str) -> list[str]:
    return profile_of(name).splitlines()


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("hprof-gen profile 1", "hprof-gen profile 2", "line 1 of the profile: a profile begins with"),
        ("version 1.0.2", "version 1.0.9", "a version of the format"),
        ("id-size 8", "id-size 5", "4 or 8 bytes"),
        ("objects ", "objects 9", "the classes have other objects than all together"),
        (" instances ", " instances 9", "contradicts itself"),
        (" super ", " super 9999", "its superclass is not described"),
        ("class 4 byte[]", "class 4 bytes[]", "a type of primitive arrays"),
        ("record ", "record 99999999999999", "a number is too large"),
        ("\nclass ", "\n class ", "the line belongs to no class"),
        ("  to ", "  no ", "the line has no meaning"),
    ],
)
def test_the_sentence_says_what_is_wrong(old: str, new: str, why: str, tmp_path: Path) -> None:
    assert old in profile_of("jdk17")
    (tmp_path / "a.profile").write_text(profile_of("jdk17").replace(old, new, 1))
    done = run("--from-profile", tmp_path / "a.profile", "-o", tmp_path / "twin.hprof")
    assert (done.status, done.err.count("\n")) == (3, 1), done.err
    assert why in done.err
    assert not (tmp_path / "twin.hprof").exists()


@pytest.mark.parametrize("option", ["--like=plain", "--shape=list", "--bytes=1M", "--from=x", "--id-size=4", "--threads=2"])
def test_what_the_profile_says_is_no_option(option: str, tmp_path: Path) -> None:
    done = run("--from-profile", "x", option, cwd=tmp_path)
    assert done.status == 2
    assert "--from-profile" in done.err


def test_files_that_are_no_profile(tmp_path: Path) -> None:
    assert run("--from-profile", tmp_path / "absent").status == 3
    for data in (b"", b"\0", b"hprof-gen profile 1\n\0", b"JAVA PROFILE 1.0.2\0"):
        (tmp_path / "a.profile").write_bytes(data)
        done = run("--from-profile", tmp_path / "a.profile")
        assert (done.status, done.err.count("\n")) == (3, 1), data
    done = run("--from-profile", tmp_path / "a.profile", "-o", tmp_path / "a.profile")
    assert done.status == 2
    assert "overwritten" in done.err
