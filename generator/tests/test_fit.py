"""--fit: a profile is a function of the structure of a dump, holds no name but the JDK's, and is true.

The truth here is computed without hprof-gen, from what the reader in Python reads. Draws are fresh in each run; the seed is in each
message."""

import gzip
import random
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from fit_tool import OBJECT, Dump, Profile, following, layout, objects_of, parsed, read_dump, scrambled
from gen_tool import SOURCE, run
from some_cases import any_one, some

from hprof_conformance.gold import index, read
from hprof_corpus.reader import count
from hprof_corpus.walk import read_class_parts

SEED = random.SystemRandom().randrange(1 << 32)
GOLD = sorted(index(SOURCE))
CORPUS = sorted((SOURCE / "corpus").rglob("*.hprof"))
LIST = set(re.findall(r'^NAME\("(.*)"\)$', (SOURCE / "generator/src/fit/jdk_names.def").read_text(), re.MULTILINE))
SHARED = 20
HALF = 0.5
PARTS = 64  # of a heap
TYPES = {4: "boolean", 5: "char", 6: "float", 7: "double", 8: "byte", 9: "short", 10: "int", 11: "long"}
WORDS = """
    hprof-gen profile version id-size objects objects-of-unknown-classes sampled-one-of coder latin1 utf16 record sub-record trace
    stack text class super field static is null to at rest nothing unknown a class-names with dots
    instances arrays reference elements length mean
    rounded named where order follow frames no loaded by an object not dumped boolean char float double byte short int long - ?
"""
NAMES_OF_KINDS = re.compile(r"[A-Z][A-Z0-9_]+")
EDGES = ("jdk17", "jdk28", "agent8", "jdk8-i386", "sa17")


@cache
def gold(name: str) -> bytes:
    data = read(SOURCE, name)
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def fit(data: bytes, folder: Path) -> str | None:
    """The profile; None if the dump is damaged."""
    (folder / "fitted.hprof").write_bytes(data)
    done = run("-q", "--fit", folder / "fitted.hprof")
    if done.status == 3:
        assert done.out == b""
        assert re.search("damaged at offset|no heap dump|no HPROF|header|ends", done.err), done.err
        return None
    assert (done.status, done.err) == (0, ""), (done.status, done.err)
    return done.out.decode("ascii")


def check_scrambled(data: bytes, folder: Path) -> bool:
    """Whether the dump could be compared."""
    dump = read_dump(data)
    first = fit(data, folder)
    if dump is None or first is None:
        return False
    assert fit(scrambled(dump, random.Random(SEED)), folder) == first, SEED
    return True


@pytest.mark.parametrize("name", some(GOLD))
def test_values_leave_the_profile_as_it_is(name: str, tmp_path: Path) -> None:
    assert check_scrambled(gold(name), tmp_path)


def test_values_of_the_corpus_leave_the_profile_as_it_is(tmp_path: Path) -> None:
    files = some(CORPUS)
    compared = sum(check_scrambled(file.read_bytes(), tmp_path) for file in files)
    assert compared > len(files) / 6


@pytest.mark.parametrize("name", some(GOLD))
def test_only_names_of_the_list(name: str, tmp_path: Path) -> None:
    text = fit(gold(name), tmp_path)
    assert text is not None
    known = {one.replace("/", ".") for one in LIST} | LIST | set(WORDS.split())
    for word in set(text.split()):
        plain = word
        while plain.endswith("[]"):
            plain = plain[:-2]
        is_number = re.fullmatch(r"[+-]?\d+\+?|\d+:\d+|0x[0-9a-f]{2}|class\d+|1\.0\.[123]", plain)
        assert is_number or plain in known or NAMES_OF_KINDS.fullmatch(word), word


def test_the_list_is_that_of_the_gold_dumps() -> None:
    subprocess.run([sys.executable, SOURCE / "ci/jdk-names", "--check"], check=True)


def test_a_name_of_the_program_does_not_stay(tmp_path: Path) -> None:
    """Not even one that begins like the JDK's."""
    data = gold("jdk17")
    assert b"java/util/HashMap$Node" in data
    changed = data.replace(b"java/util/HashMap$Node", b"java/util/HashMap$Nodf")
    first, second = fit(data, tmp_path), fit(changed, tmp_path)
    assert first is not None
    assert second is not None
    assert "java.util.HashMap$Node\n" in first
    assert "HashMap$Nodf" not in second
    assert re.search(r"^class (\d+) class\1$", second, re.MULTILINE)


# ---- Truth -----------------------------------------------------------------------------------------------------------


def check_lengths(lengths: list[tuple[int, int, str]], truth: Counter[int]) -> None:
    shared = {length: number for length, number in truth.items() if number >= SHARED}
    assert {length: number for number, length, how in lengths if not how} == shared
    assert sum(number for number, _, _ in lengths) == sum(truth.values())
    means = [(number, length) for number, length, how in lengths if how == "mean"]
    rounded = [(number, length) for number, length, how in lengths if how == "rounded"]
    assert all(number >= SHARED for number, _ in means)
    assert sum(number for number, _ in rounded) < SHARED
    assert all(re.fullmatch("[0-9]0*", str(length)) for _, length in rounded)
    others = sorted(length for length, number in truth.items() if number < SHARED for _ in range(number))
    for number, mean in means:
        group, others = others[:number], others[number:]
        assert abs(sum(group) / number - mean) <= 0.5
    for number, length in rounded:
        group, others = others[:number], others[number:]
        assert all(abs(length - one) <= 0.5 * 10 ** (len(str(one)) - 1) for one in group)
    assert not others


def subrecords_of(dump: Dump) -> list[tuple[str, tuple[int, ...], int, int]]:
    return [(shape.record.name, values, tail, stop) for each in dump.heap for shape, _, values, tail, stop in each]


def names_of_classes(dump: Dump) -> dict[int, str]:
    """As the profile has them; only of those that the list has."""
    size = dump.shapes.id_size
    found: dict[int, str] = {}
    at = 31
    while at + 9 <= len(dump.data):
        length = int.from_bytes(dump.data[at + 5 : at + 9], "big")
        if dump.data[at] == 0x02:
            key = int.from_bytes(dump.data[at + 13 : at + 13 + size], "big")
            name = dump.strings[int.from_bytes(dump.data[at + 17 + size : at + 17 + 2 * size], "big")].decode(errors="replace")
            if name.replace(".", "/") in LIST:
                found[key] = name.replace("/", ".")
        at += 9 + length
    return found


def bits(distance: int) -> int:
    return abs(distance).bit_length() * (1 if distance > 0 else -1)


def bucket(references: int) -> int:
    return references if references <= 9 else 9 if references < 16 else 1 << (references.bit_length() - 1)


def check_edges(dump: Dump, profile: Profile) -> int:
    """Returns how many references were compared."""
    names = names_of_classes(dump)
    size = dump.shapes.id_size
    items = subrecords_of(dump)
    kinds = {"INSTANCE_DUMP", "OBJECT_ARRAY_DUMP", "PRIMITIVE_ARRAY_DUMP"}
    objects = [one for one in items if one[0] in kinds]
    position: dict[int, int] = {}
    for i, (_, values, _, _) in enumerate(objects):
        position.setdefault(values[0], i)
    classes = {values[0] for name, values, _, _ in items if name == "CLASS_DUMP"}
    in_degree: Counter[int] = Counter()
    distances: dict[tuple[str, int], Counter[int]] = {}
    nulls: Counter[tuple[str, int]] = Counter()
    not_null: Counter[tuple[str, int]] = Counter()
    label: dict[int, str] = {}
    for i, (name, values, tail, stop) in enumerate(objects):
        if name == "PRIMITIVE_ARRAY_DUMP":
            continue
        class_id = values[2] if name == "INSTANCE_DUMP" else values[3]
        label[values[0]] = names.get(class_id, "")
        references: list[tuple[int, int]] = []  # slot, ID
        if name == "INSTANCE_DUMP":
            at, slot = tail, 0
            for _, code, width in layout(dump, class_id) or []:
                if code == OBJECT:
                    references.append((slot, int.from_bytes(dump.data[at : at + size], "big")))
                    slot += 1
                at += width
        else:
            references = [(0, int.from_bytes(dump.data[at : at + size], "big")) for at in range(tail, stop, size)]
        for slot, target in references:
            key = (label[values[0]], slot)
            if target == 0:
                nulls[key] += 1
                continue
            not_null[key] += 1
            in_degree[target] += target in position
            if target in position:
                distances.setdefault(key, Counter())[bits(position[target] - i)] += 1
    for shape_name, _, tail, stop in items:
        if shape_name == "CLASS_DUMP":
            parts = read_parts(dump, tail, stop)
            for target in parts:
                in_degree[target] += target in position
    compared = 0
    several = Counter(names[one] for one in names if one in classes)
    degrees: dict[str, Counter[int]] = {}
    where: dict[str, Counter[tuple[int, int]]] = {}
    for one in position:
        if one in label:
            degrees.setdefault(label[one], Counter())[bucket(in_degree[one])] += 1
            if in_degree[one] > 1:
                part = position[one] * PARTS // len(objects)
                where.setdefault(label[one], Counter())[bucket(in_degree[one]), part] += 1
    for name, (described, *more) in profile.classes.items():
        if more or several[name] != 1 or name not in degrees:
            continue
        assert described.named == degrees[name], name
        assert described.where == where.get(name, Counter()), name
        for slot, number in enumerate(described.not_null):
            assert (number, described.nulls[slot]) == (not_null[name, slot], nulls[name, slot]), (name, slot)
            assert described.distances[slot] == distances.get((name, slot), Counter()), (name, slot)
            compared += number
    return compared


def check_order(dump: Dump, profile: Profile) -> None:
    """All objects have a class here, and all stretches are kept."""
    names = names_of_classes(dump)
    of_class = {"INSTANCE_DUMP": 2, "OBJECT_ARRAY_DUMP": 3}
    objects = [one for one in subrecords_of(dump) if one[0] in of_class or one[0] == "PRIMITIVE_ARRAY_DUMP"]
    for (kind, values, _, _), (number, bits_of_length) in zip(objects, profile.order, strict=True):
        if kind == "PRIMITIVE_ARRAY_DUMP":
            assert profile.numbered[number].label == f"{TYPES[values[3]]}[]"
        else:
            assert profile.numbered[number].label == names.get(values[of_class[kind]], profile.numbered[number].label)
        assert bits_of_length == (values[2].bit_length() if kind == "OBJECT_ARRAY_DUMP" else 0)


def read_parts(dump: Dump, tail: int, stop: int) -> list[int]:
    parts = read_class_parts(dump.data, tail, stop, dump.shapes)
    return [int.from_bytes(dump.data[one.value : one.end], "big") for one in parts.statics if one.type == OBJECT]


SIZES = {"jdk17": (12, 16, 4), "jdk28": (8, 12, 4), "jdk17-i386": (8, 12, 4), "sa17": (12, 16, 4), "agent8": None}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_in_the_heap_are_those_with_which_most_ids_are_where_the_object_before_ends(name: str, tmp_path: Path) -> None:
    """The agent numbers its objects."""
    profile = fit(gold(name), tmp_path)
    dump = read_dump(gold(name))
    assert profile is not None
    assert dump is not None
    found = re.findall(r"^follow (\d+) (\d+) (\d+) (\d+)$", profile, re.MULTILINE)
    sizes = SIZES[name]
    if sizes is None:
        assert not found
        assert max(following(dump, each) for each in SIZES.values() if each) < HALF * len(objects_of(dump))
    else:
        assert found == [tuple(map(str, (following(dump, sizes), *sizes)))]


@pytest.mark.parametrize("name", any_one(EDGES))
def test_the_reader_in_python_has_the_same_figures(name: str, tmp_path: Path) -> None:
    data = gold(name)
    text = fit(data, tmp_path)
    dump = read_dump(data)
    assert text is not None
    assert dump is not None
    profile, counts = parsed(text), count(memoryview(data))
    assert profile.numbers["sampled-one-of"] == 1
    assert profile.numbers["objects"] == counts.instances + counts.object_arrays + counts.primitive_arrays
    for kind, number in counts.records.items():
        assert profile.numbers.get(f"record {kind}", 0) == number, kind
    for kind, number in counts.sub_records.items():
        assert profile.numbers.get(f"sub-record {kind}", 0) == number, kind
    for one in counts.classes:
        label = (one.name or "").replace("/", ".")
        if len(profile.classes.get(label, [])) == 1:
            described = profile.classes[label][0]
            assert (described.kind == "instances") * described.objects == one.instances, label
    lengths: dict[int, Counter[int]] = {}
    for kind, values, _, _ in subrecords_of(dump):
        if kind == "PRIMITIVE_ARRAY_DUMP":
            lengths.setdefault(values[3], Counter())[values[2]] += 1
    for code, truth in lengths.items():
        check_lengths(next(one for one in profile.classes[f"{TYPES[code]}[]"] if one.objects).lengths, truth)
    check_order(dump, profile)
    assert check_edges(dump, profile) > 1000


def test_a_part_of_the_objects(tmp_path: Path) -> None:
    """More objects than the sample holds: shares are those of the whole dump, counts are exact."""
    done = run("--like=hotspot", "--objects=1e6", "-o", tmp_path / "large.hprof")
    assert (done.status, done.err) == (0, "")
    done = run("-q", "--fit", tmp_path / "large.hprof")
    assert done.status == 0
    profile = parsed(done.out.decode())
    assert profile.numbers["objects"] == 1000000
    assert profile.numbers["sampled-one-of"] > 1
    (strings,) = profile.classes["java.lang.String"]
    assert strings.named.total() == pytest.approx(strings.objects, rel=0.1)
    assert 1e6 / 4 < len(profile.order) < 1e6
    compared = 0
    for label, (one, *more) in profile.classes.items():
        for slot, not_null in enumerate(one.not_null):
            if not more and not_null > 20000:
                assert one.targets[slot].total() == pytest.approx(not_null, rel=0.1), (label, slot)
                compared += 1
    assert compared > 20


def test_what_few_name_is_known_of_a_part_of_the_objects(tmp_path: Path) -> None:
    """The targets of static fields, and of a class with a few instances. In a sample of IDs there is one in many."""
    done = run("--like=hotspot", "--objects=1e6", "-o", tmp_path / "large.hprof")
    assert done.status == 0
    done = run("-q", "--fit", tmp_path / "large.hprof")
    text = done.out.decode()
    assert parsed(text).numbers["sampled-one-of"] > 1
    statics = re.findall(r"^ is (\d+) null (\d+)\n(  to)?", text, re.MULTILINE)
    assert len([one for one in statics if one[0] == "1"]) > 100
    assert all(to for named, _, to in statics if named == "1")
    few = re.findall(r"^ instances [1-4]\n((?: reference .*\n(?:  .*\n)*)*)", text, re.MULTILINE)
    references = [one for each in few for one in re.findall(r"^ reference ([1-9]\d*) null .*\n(  to)?", each, re.MULTILINE)]
    assert len(references) > 100
    assert all(to for _, to in references)


# ---- The tool --------------------------------------------------------------------------------------------------------


def test_what_the_profile_reveals_is_printed(tmp_path: Path) -> None:
    (tmp_path / "heap.hprof").write_bytes(gold("jdk17"))
    done = run("--fit", "heap.hprof", "-o", "heap.profile", cwd=tmp_path)
    assert done.status == 0
    assert done.out == b""
    found = re.search(r"([\d,]+) of ([\d,]+) names of classes", done.err)
    assert found is not None
    text = (tmp_path / "heap.profile").read_text()
    own = len(re.findall(r"^class \d+ class\d+(?:\[\])*$", text, re.MULTILINE))
    kept, names = (int(one.replace(",", "")) for one in found.groups())
    assert names - kept <= own
    following = re.search(r"^follow (\d+)", text, re.MULTILINE)
    assert following
    assert f"that {int(following[1]):,} objects begin in the VM where the one before ends" in done.err
    assert (tmp_path / "heap.hprof").read_bytes() == gold("jdk17")


def test_the_last_heap_dump_is_described(tmp_path: Path) -> None:
    one = run("--objects=3000", "--heap-dumps=3", "-o", tmp_path / "three.hprof")
    assert one.status == 0
    done = run("--fit", tmp_path / "three.hprof")
    assert "It describes the last of 3 heap dumps." in done.err
    assert parsed(done.out.decode()).numbers["objects"] == 1000


@pytest.mark.parametrize("option", ["--objects=5", "--violate=REF-002", "--manifest=x", "--from=x", "--gz=1", "--damage=tag"])
def test_options_of_dumps_are_refused(option: str, tmp_path: Path) -> None:
    done = run("--fit", "x", option, cwd=tmp_path)
    assert done.status == 2
    assert "--fit, which writes a profile" in done.err


def test_what_cannot_be_described(tmp_path: Path) -> None:
    data = gold("jdk17")
    (tmp_path / "cut").write_bytes(data[: len(data) // 2])
    done = run("--fit", "cut", "-o", "profile", cwd=tmp_path)
    assert (done.status, list(tmp_path.iterdir())) == (3, [tmp_path / "cut"]), done.err
    assert "cut: " in done.err
    assert run("--fit", "absent", cwd=tmp_path).status == 3
    done = run("--fit", "cut", "-o", "cut", cwd=tmp_path)
    assert done.status == 2
    assert "overwritten" in done.err
    (tmp_path / "names").write_bytes(data[:31])
    done = run("--fit", "names", cwd=tmp_path)
    assert (done.status, done.out) == (3, b"")
    assert "no heap dump" in done.err
