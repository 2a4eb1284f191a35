"""--answers: what hprof-gen says that a reader should answer, against a reader in Python that does it in the plainest way."""

import itertools
import json
import lzma
import random
import struct
import tarfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from gen_tool import AGENTS, HOTSPOTS, LIKES, SHAPES, SOURCE, dump, run, truth
from some_cases import some

from hprof_corpus.walk import Shapes, read_class_parts, read_header, records, subrecords

OBJECT, CHAR, BYTE = 2, 5, 8
WIDTHS = {4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
LETTERS = dict(zip(WIDTHS, "ZCFDBSIJ", strict=True))
MOST_TEXTS, MOST_OBJECTS = 1000, 100


def names(text: str) -> list[str]:
    return text.replace(" or ", ", ").split(", ")


@dataclass
class Object:
    group: int | str  # the ID of the class, or the name of a primitive array
    kind: str
    compressed: int
    uncompressed: int
    names: list[int]


@dataclass
class Heap:
    objects: dict[int, Object] = field(default_factory=dict)
    classes: dict[int, list[int]] = field(default_factory=dict)  # what each keeps
    roots: list[int] = field(default_factory=list)
    texts: list[str | None] = field(default_factory=list)
    coders: Counter[str] = field(default_factory=Counter)

    def reached(self, without: int = 0) -> set[int]:
        """The IDs to which paths lead that do not pass `without`."""
        found: set[int] = set()
        left = list(self.roots)
        while left:
            one = left.pop()
            if one in found or one == without or not (one in self.objects or one in self.classes):
                continue
            found.add(one)
            left += self.objects[one].names if one in self.objects else self.classes[one]
        return found

    def extent(self, ids: set[int]) -> dict[str, int]:
        found = [self.objects[one] for one in ids if one in self.objects]
        return {
            "objects": len(found),
            "compressed": sum(one.compressed for one in found),
            "uncompressed": sum(one.uncompressed for one in found),
        }


def rounded(size: int) -> int:
    return -(-size // 8) * 8


def read(dump: bytes) -> Heap:
    data = memoryview(dump)
    header = read_header(data)
    assert header
    shapes = Shapes(header.id_size)
    id_code = "I" if header.id_size == 4 else "Q"
    strings: dict[int, str] = {}
    class_names: dict[int, str] = {}
    dumped: dict[int, tuple[int, list[tuple[str, int]]]] = {}
    instances: list[tuple[int, int, int, int]] = []
    arrays: dict[int, tuple[int, memoryview]] = {}
    heap = Heap()

    def id_at(at: int) -> int:
        return int(struct.unpack_from(">" + id_code, data, at)[0])

    for record in records(data, header.size):
        if record.tag == 1:
            strings[id_at(record.body)] = bytes(data[record.body + header.id_size : record.end]).decode(errors="replace")
        elif record.tag == 2:
            class_names[id_at(record.body + 4)] = strings.get(id_at(record.body + 8 + header.id_size), "")
        elif record.tag in (0x0C, 0x1C):
            for shape, at, fields, tail, end in subrecords(data, record.body, record.end, shapes):
                name = shape.record.name
                if name.startswith("ROOT_") and name != "ROOT_UNREACHABLE":
                    heap.roots.append(fields[0])
                elif name == "CLASS_DUMP":
                    parts = read_class_parts(data, tail, end, shapes)
                    kept = [id_at(entry.value) for entry in (*parts.constants, *parts.statics) if entry.type == OBJECT]
                    heap.classes[fields[0]] = [fields[2], fields[3], fields[4], fields[5], *kept]
                    dumped[fields[0]] = (fields[2], [(strings.get(key, ""), code) for key, code in parts.fields])
                elif name == "INSTANCE_DUMP":
                    instances.append((fields[0], fields[2], tail, end))
                elif name == "OBJECT_ARRAY_DUMP":
                    named = [id_at(p) for p in range(tail, end, header.id_size)]
                    sizes = (rounded(16 + 4 * len(named)), rounded(24 + 8 * len(named)))
                    heap.objects[fields[0]] = Object(fields[3], "object_arrays", *sizes, [fields[3], *named])
                elif name.startswith("PRIMITIVE_ARRAY"):
                    count, code = fields[2], fields[3]
                    sizes = (rounded(16 + WIDTHS[code] * count), rounded(24 + WIDTHS[code] * count))
                    heap.objects[fields[0]] = Object("[" + LETTERS[code], "primitive_arrays", *sizes, [])
                    if name == "PRIMITIVE_ARRAY_DUMP":
                        arrays[fields[0]] = (code, data[tail:end])
                assert at < end
    for number, class_id, at, end in instances:
        chain, one = [], class_id
        while one:
            chain.append(one)
            one = dumped[one][0]
        values: dict[str, int] = {}
        references, compressed, uncompressed = [class_id], 12, 16
        for declaring, (name, code) in ((by, one) for by in chain for one in dumped[by][1]):
            width = header.id_size if code == OBJECT else WIDTHS[code]
            value = int.from_bytes(data[at : at + width], "big")
            if declaring == class_id:
                values[name] = value
            if code == OBJECT:
                references.append(value)
            compressed += 4 if code == OBJECT else width
            uncompressed += 8 if code == OBJECT else width
            at += width
        assert at == end
        heap.objects[number] = Object(class_id, "instances", rounded(compressed), rounded(uncompressed), references)
        if class_names[class_id].replace(".", "/") == "java/lang/String":
            code, text = arrays.get(values["value"], (0, data[:0]))
            first = values.get("offset", 0) * WIDTHS.get(code, 1)
            text = text[first : first + values["count"] * WIDTHS[code]] if "count" in values else text
            coder = {0: "without_text", CHAR: "chars", BYTE: ("latin1", "utf16")[values.get("coder", 0)]}[code]
            heap.coders[coder] += 1
            if code:
                encoding = {"chars": "utf-16-be", "latin1": "latin-1", "utf16": "utf-16-le"}[coder]
                heap.texts.append(bytes(text).decode(encoding, errors="surrogatepass"))
    return heap


def shown(text: str) -> str:
    return "".join("\ufffd" if c == "\0" or 0xD800 <= ord(c) < 0xE000 else c for c in text)


def compare(answers: Any, dump: bytes) -> Heap:
    heap = read(dump)
    reached = heap.reached()
    kinds = Counter(heap.objects[one].kind for one in reached if one in heap.objects)
    assert answers["reachable"] == heap.extent(reached) | {
        kind: kinds[kind] for kind in ("instances", "object_arrays", "primitive_arrays")
    }

    groups: dict[int | str, set[int]] = {}
    for number, one in heap.objects.items():
        groups.setdefault(one.group or "", set()).add(number)  # the agent of JVMPI names no class of an Object[]
    shallow = answers["shallow"]
    assert {int(row["id"], 16) if row["id"] else row["class"] for row in shallow} == set(groups)
    for row in shallow:
        expected = heap.extent(groups[int(row["id"], 16) if row["id"] else row["class"]])
        assert {key: row[key] for key in expected} == expected

    strings = answers["strings"]
    coders = ("latin1", "utf16", "chars", "without_text")
    assert {coder: strings[coder] for coder in coders} == {coder: heap.coders[coder] for coder in coders}
    counts = Counter(heap.texts)
    assert strings["distinct"] == len(counts)
    assert len(strings["texts"]) == min(len(counts), MOST_TEXTS)
    most = sorted(counts.values(), reverse=True)[:MOST_TEXTS]
    assert [row["count"] for row in strings["texts"]] == most
    if len(counts) <= MOST_TEXTS:
        pooled: Counter[tuple[str, int]] = Counter((shown(text or ""), count) for text, count in counts.items())
        assert Counter((row["text"], row["count"]) for row in strings["texts"]) == pooled

    retained = answers["retained"]
    alive = [one for one in reached if one in heap.objects]
    assert len(retained) == min(len(alive), MOST_OBJECTS)
    assert [row["compressed"] for row in retained] == sorted((row["compressed"] for row in retained), reverse=True)
    least = retained[-1]["compressed"] if retained else 0
    listed = {int(row["id"], 16): row for row in retained}
    others = [one for one in alive if one not in listed]
    for number in [*random.sample(sorted(listed), min(len(listed), 20)), *random.sample(others, min(len(others), 10))]:
        extent = heap.extent(reached - heap.reached(number))
        if number in listed:
            assert {key: listed[number][key] for key in extent} == extent
        else:
            assert extent["compressed"] <= least
    return heap


def check(*args: str, folder: Path) -> Heap:
    answers = truth("--answers", *args, folder=folder)["answers"]
    return compare(answers, (folder / "dump.hprof").read_bytes())


@pytest.mark.parametrize("like", some(names(LIKES)))
def test_producers(like: str, tmp_path: Path) -> None:
    check(f"--like={like}", "--objects=1500", f"--seed={random.randrange(1 << 32)}", folder=tmp_path)


@pytest.mark.parametrize(("shape", "id_size"), some(itertools.product(names(SHAPES), ["4", "8"])))
def test_shapes(shape: str, id_size: str, tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    check(f"--shape={shape}", f"--id-size={id_size}", "--objects=400", f"--seed={seed}", folder=tmp_path)


@pytest.mark.parametrize("objects", range(4))
def test_small_heaps(objects: int, tmp_path: Path) -> None:
    check(f"--objects={objects}", folder=tmp_path)


def test_a_long_list_and_a_tree(tmp_path: Path) -> None:
    """No stack is as deep as the list, and what a node retains is a node more than what its successor does."""
    for shape in ("list", "tree"):
        retained = truth("--answers", f"--shape={shape}", "--objects=300000", folder=tmp_path)["answers"]["retained"]
        assert len(retained) == MOST_OBJECTS
        sizes = [row["objects"] for row in retained]
        assert sizes == sorted(sizes, reverse=True)
        if shape == "list":
            assert sizes[:50] == list(range(sizes[0], sizes[0] - 50, -1))


def test_dumps_that_are_read(tmp_path: Path) -> None:
    """A real heap of each of two layouts of String: as the agent of JDK 8 wrote it, and HotSpot 17."""
    (tmp_path / "agent.hprof").write_bytes(
        lzma.decompress((SOURCE / "conformance/producers/agent8/gold/heap.hprof.xz").read_bytes())
    )
    with tarfile.open(SOURCE / "conformance/gold/jdk17.tar.xz") as gold:
        member = min((one for one in gold if one.name.endswith(".hprof")), key=lambda one: one.size)
        taken = gold.extractfile(member)
        assert taken
        (tmp_path / "hotspot.hprof").write_bytes(taken.read())
    for name, coder in (("agent", "chars"), ("hotspot", "latin1")):
        done = run("--from", f"{name}.hprof", "-o", "dump.hprof", "--manifest", "truth.json", "--answers", cwd=tmp_path)
        assert (done.status, done.err) == (0, "")
        answers = json.loads((tmp_path / "truth.json").read_text())["answers"]
        heap = compare(answers, (tmp_path / f"{name}.hprof").read_bytes())
        assert heap.coders[coder] > 500


@pytest.mark.parametrize("like", some([like for like in (*HOTSPOTS, *AGENTS) if like != "hotspot-8"]))
def test_both_coders(like: str) -> None:
    """As an idle VM has them: 58 to 66 of 7,000 to 9,000 Strings are UTF-16, and only where LATIN1 does not do."""
    seed = random.randrange(1 << 32)
    heap = read(dump(f"--like={like}", "--load=none", f"--seed={seed}", objects=30000))
    wide = [text for text in heap.texts if text and max(text) > "\xff"]
    assert heap.coders["utf16"] == len(wide)
    assert 25 < len(wide) < 120
    assert 6000 < heap.coders["latin1"] < 10000
    assert all(text.encode() for text in wide)  # no half of a character


def test_what_has_no_answers(tmp_path: Path) -> None:
    for words, sentence in (
        (["--answers"], "--answers adds to the --manifest"),
        (["--answers", "--manifest=m", "--violate=OBJ-004"], "--answers does not go with --violate"),
        (["--answers", "--manifest=m", "--damage=lose"], "--answers does not go with --damage"),
    ):
        done = run("--objects=10", "-o", "d", *words, cwd=tmp_path)
        assert done.status == 2
        assert sentence in done.err
    done = run("--objects=10", "-o", "d", "--manifest=m", "--answers", "--heap-dumps=2", cwd=tmp_path)
    assert done.status == 3
    assert "more than one heap dump" in done.err
    assert not (tmp_path / "d").exists()
