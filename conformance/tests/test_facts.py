"""What a program says of itself, against dumps in which it is true and in which it is not."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from built import ROOT, TOOL, needs_tool
from some_cases import any_one, some

from hprof_conformance import cases, everything, expectations, facts, gold, producers, tools, ways
from hprof_conformance.whole import ends_well, whole_until
from hprof_corpus.assembler import assemble
from hprof_corpus.digest import Content, class_name
from hprof_corpus.layouts import BASIC_TYPES
from hprof_corpus.truth import holds, requires
from hprof_corpus.walk import FramingError, Shapes, read_header, records, subrecords

HEAP = """
hprof "JAVA PROFILE 1.0.2" id-size 8 time 0
utf8 $Object "java/lang/Object"
utf8 $Node "Node"
utf8 $number "number"
utf8 $next "next"
utf8 $count "count"
utf8 $String "java/lang/String"
utf8 $value "value"
utf8 $coder "coder"
load-class serial 1 class @Object name $Object
load-class serial 2 class @Node name $Node
load-class serial 3 class @String name $String
segment {
  class-dump @Object super null
  class-dump @Node super @Object {
    static $count int 3
    field $number int
    field $next object
  }
  class-dump @String super @Object {
    field $value object
    field $coder byte
  }
  instance-dump @a class @Node [ int 0 object @b ]
  instance-dump @b class @Node [ int 1 object @c ]
  instance-dump @c class @Node [ int 2 object null ]
  instance-dump @s class @String [ object @bytes byte 0 ]
  primitive-array-dump @bytes type byte [ 0x68e9 ]
}
end
"""
SAID = [
    *("class\tNode\t3", "loaded\tNode\t1", "text\th\u00e9", "chain\tNode\tnumber\tnext\t3"),
    *("static\tNode\tcount\t00000003", "array\t[B\t2", "dumps\t1"),
]


def words(dump: Path, said: list[facts.Fact]) -> str:
    return "; ".join(map(str, facts.compare(dump, said).differences))


@pytest.mark.parametrize("packed", [False, True])
def test_a_dump_that_has_all_that_the_program_says(packed: bool, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    data = assemble(HEAP).file.to_bytes()
    dump.write_bytes(gzip.compress(data) if packed else data)
    assert words(dump, facts.parse(SAID)) == ""


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (("end\n", "end\nsegment {\n}\nend\n"), "heap dumps: 2 instead of 1"),
        (("  instance-dump @c class @Node [ int 2 object null ]\n", ""), "instances of Node: 2 instead of 3; chain of Node: 2"),
        (("[ int 1 object @c ]", "[ int 1 object @a ]"), "chain of Node: 2 instead of 3"),
        (("instance-dump @s class @String", "instance-dump @s class @Node"), "instances of Node: 4 instead of 3"),
        (("[ int 0 object @b ]", "[ int 0 object @c ]"), "chain of Node: 1 instead of 3"),
        (("0x68e9", "0x68e8"), "String 'h\\xe9': none"),
        (("0x68e9", "0x68e900"), "[B of 2 elements: none"),
        (("count int 3", "count int 4"), "Node.count: 00000004 instead of 00000003"),
        (("class @Node name $Node", "class @Node name $next"), "classes Node: 0 instead of 1"),
        (("end\n", "cut 1\n"), "not readable"),
    ],
)
def test_a_dump_that_lacks_something(change: tuple[str, str], found: str, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    assert change[0] in HEAP
    dump.write_bytes(assemble(HEAP.replace(*change)).file.to_bytes())
    assert found in words(dump, facts.parse(SAID))


def test_objects_of_classes_whose_number_is_known_are_covered(tmp_path: Path) -> None:
    """That a class is loaded, or a text there, says nothing of how many objects there are."""
    dump = tmp_path / "dump"
    dump.write_bytes(assemble(HEAP).file.to_bytes())
    found = facts.compare(dump, facts.parse([*SAID, "loaded\tjava/lang/String\t1"]))
    assert (found.covered, found.objects) == (3, 5)
    assert facts.compare(dump, facts.parse([*SAID, "objects\t[B\t1\t1"])).covered == 4


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("hidden\tNode\t3", ""),
        ("hidden\tNode\t2", "instances of the hidden class Node: 3 instead of 2"),
        ("elements\t[B\t68e9", ""),
        ("elements\t[B\t68e8", "[B of 68e8: none instead of one"),
    ],
)
def test_objects_of_hidden_classes_and_elements(said: str, found: str, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    dump.write_bytes(assemble(HEAP.replace('$Node "Node"', '$Node "Node+0x00007f0c01003400"')).file.to_bytes())
    assert words(dump, facts.parse([said])) == found


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        ("static $count int 3", "static $count int 4", []),
        ("[ int 1 object @c ]", "[ int 9 object @c ]", []),
        ("[ int 1 object @c ]", "[ int 1 object @a ]", ["instances", "instance_bytes"]),
        ("static $first object @Node", "static $first object @Object", ["statics"]),
    ],
)
def test_without_the_payload_references_are_compared(old: str, new: str, differs: list[str], tmp_path: Path) -> None:
    text = HEAP.replace("static $count int 3", "static $count int 3\n    static $first object @Node")
    text = text.replace('utf8 $count "count"', 'utf8 $count "count"\nutf8 $first "first"')
    before, after = tmp_path / "before", tmp_path / "after"
    before.write_bytes(assemble(text).file.to_bytes())
    assert text.count(old) == 1
    after.write_bytes(assemble(text.replace(old, new)).file.to_bytes())
    assert [one.what for one in facts.compare_to(after, before, payload=False).differences] == differs


def test_a_malformed_gzip_file_is_reported(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    data = gzip.compress(assemble(HEAP).file.to_bytes())
    dump.write_bytes(data[:-1])
    assert "not readable" in words(dump, facts.parse(SAID))
    dump.write_bytes(data + b"no member")
    with pytest.raises(FramingError, match="incorrect header check"):
        whole_until(dump)


@pytest.mark.parametrize(("element", "found"), [("@c", ""), ("@b", "[LNode;.1: 00000001"), ("null", "[LNode;.1: none")])
def test_an_element_that_refers_to_another_object(element: str, found: str, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    named = HEAP.replace("segment {", 'utf8 $Nodes "[LNode;"\nload-class serial 4 class @Nodes name $Nodes\nsegment {')
    array = f"  class-dump @Nodes super @Object\n  object-array-dump @all class @Nodes [ @a {element} ]\n}}\nend\n"
    dump.write_bytes(assemble(named.replace("}\nend\n", array)).file.to_bytes())
    said = words(dump, facts.parse([f"refers\t[LNode;\t1\tNode\t00000002{bytes(8).hex()}"]))
    assert said.startswith(found) and bool(said) == bool(found)


NODES = (
    HEAP.replace(
        "segment {", 'utf8 $Nodes "[LNode;"\nload-class serial 4 class @Nodes name $Nodes\ntrace serial 1 thread 1 [ ]\nsegment {'
    )
    .replace("}\nend\n", "  class-dump @Nodes super @Object\n  object-array-dump @all class @Nodes [ @a @b @c ]\n}\nend\n")
    .replace("}\nend\n", "  primitive-array-dump @i type byte [ 0x010203 ]\n  primitive-array-dump @j type short [ 1 2 ]\n}\nend\n")
    .replace("}\nend\n", "  root-java-frame @a thread 1 frame 0\n  root-java-frame @b thread 1 frame 0\n}\nend\n")
)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (("segment {", "segment {"), ""),
        (("[ @a @b @c ]", "[ @a @b @b ]"), "[LNode; of 3 Node: none"),
        (("[ @a @b @c ]", "[ @a @b null ]"), "[LNode; of 3 Node: none"),
        (("[ @a @b @c ]", "[ @a @b @s ]"), "[LNode; of 3 Node: none"),
        (("[ @a @b @c ]", "[ @a @b ]"), "[LNode; of 3 Node: none"),
        (("0x010203", "0x010200"), "[B that counts to 3: none"),
        (("0x010203", "0x0102"), "[B that counts to 3: none"),
        (("short [ 1 2 ]", "short [ 1 0 ]"), "[S that counts to 2: none"),
        (("root-java-frame @b", "root-java-frame @a"), "Node in frames: 1 instead of 2"),
        (("root-java-frame @b thread 1 frame 0", "root-unknown @b"), "Node in frames: 1 instead of 2"),
        (('utf8 $count "count"', 'utf8 $count "amount"'), "strings that begin with 'co': 1 instead of 2"),
        (('utf8 $coder "coder"', 'utf8 $coder "co"'), "strings that begin with 'co': 1 instead of 2"),
    ],
)
def test_facts_of_many(change: tuple[str, str], found: str, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    assert change[0] in NODES
    dump.write_bytes(assemble(NODES.replace(*change)).file.to_bytes())
    said = ["members\t[LNode;\tNode\t3", "counting\t[B\t3", "counting\t[S\t2", "frames\tNode\t2", "strings\tco\t2"]
    differs = words(dump, facts.parse(said))
    assert differs.startswith(found) and bool(differs) == bool(found) and ";" not in differs.replace("[LNode;", "")


def test_an_unknown_fact_is_a_difference(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    dump.write_bytes(assemble(HEAP).file.to_bytes())
    assert words(dump, facts.parse(["classes\tNode\t3"])) == "fact classes: no such kind of fact instead of a known one"


def test_two_histograms_of_the_vm(tmp_path: Path) -> None:
    """What both say alike must be in the dump; an int[] more may be a filler."""
    dump = tmp_path / "dump"
    ints = "  primitive-array-dump @i type int [ 1 ]\n  primitive-array-dump @j type int [ 2 ]\n"
    dump.write_bytes(assemble(HEAP.replace("}\nend\n", f"{ints}}}\nend\n")).file.to_bytes())
    before = Counter({"Node": 3, "[B": 1, "[I": 1, "java/lang/Class": 9, "[Ljdk/internal/vm/FillerElement;": 1, "Gone": 1})
    assert words(dump, everything.agreed(before, before - Counter(["Gone"]))) == ""
    found = words(dump, everything.agreed(before, before))
    assert found == "objects of Gone: 0 instead of 1"
    without = Counter({"[I": 1, "Node": 2})
    found = words(dump, everything.agreed(without, without))
    assert found == "objects of [I: 2 instead of 1; objects of Node: 3 instead of 2"


def test_until_where_a_dump_is_complete(tmp_path: Path) -> None:
    """Whatever its size: until the last record that is whole."""
    dump = tmp_path / "dump"
    data = assemble(HEAP).file.to_bytes()
    starts = {spot.offset for spot in assemble(HEAP).spots if spot.label.isupper()}
    before = 0
    for size in range(min(starts), len(data)):
        dump.write_bytes(data[:size])
        assert not ends_well(dump)
        until = whole_until(dump)
        assert until <= size and (until in starts or until == size)
        assert whole_until(dump, size - 1) == until
        dump.write_bytes(gzip.compress(data[:size])[:-8])
        assert whole_until(dump) == until
        if before:  # one that inflates a byte less
            assert whole_until(dump, size - 1) == before
        if size > 300:  # less than any does
            assert whole_until(dump, size - 259) == until
        before = until
    dump.write_bytes(data)
    assert whole_until(dump) == len(data) and ends_well(dump)
    in_place = HEAP.replace("1.0.2", "1.0.1").replace("segment {", "heap-dump length 0 {").replace("}\nend\n", "}\n")
    at = next(spot.offset for spot in assemble(in_place).spots if spot.label == "HEAP_DUMP")
    dump.write_bytes(assemble(in_place).file.to_bytes())
    assert whole_until(dump) == at  # HotSpot 8 writes the length when all is written
    dump.write_bytes(assemble(HEAP.replace("segment {", "segment {\n  raw 0x77")).file.to_bytes())
    with pytest.raises(FramingError):
        whole_until(dump)


def test_every_producer_is_described() -> None:
    root = Path(__file__).resolve().parents[2]
    known = producers.read_producers(root)
    assert {"jdk8", "jdk28", "sa17", "interrupted25", "agent8", "shark", "hprof-gen"} <= {one.name for one in known}
    for one in known:
        assert one.kind in ways.KINDS or one.kind == "none"
        assert bool(one.why) == (one.kind == "none")
        assert one.ways or one.kind == "none"
        assert set(one.options) <= set(one.ways)
        assert set(one.gold) <= set(one.ways)


INDEX = gold.index(ROOT)


OF_PROGRAMS = sorted(name for name, one in INDEX.items() if "member" in one and one["producer"] != "shark")


@pytest.mark.parametrize("name", some(OF_PROGRAMS))
def test_gold_dumps_hold_what_the_program_says(name: str, tmp_path: Path) -> None:
    """But for what is known that the JVM does not dump as it is."""
    dump = tmp_path / "dump"
    dump.write_bytes(gold.read(ROOT, name))
    producer = INDEX[name]["producer"]
    known = expectations.read(ROOT / "conformance" / "expectations" / f"{producer}.toml").cases
    expected = known.get(name.removeprefix(producer).removeprefix("-") or "small")
    said = facts.parse(gold.facts_of(ROOT, name))
    assert said  # Odd Supplementary says one thing, and the agent prints no histogram
    found = {one.what: one.found for one in facts.compare(dump, said).differences}
    assert found == (expected.differs if expected else {})


ARRAYS_OF = {type_: class_name(f"{word}[]") for word, (type_, _) in BASIC_TYPES.items()}
CLASS_OF = {"INSTANCE_DUMP": 2, "OBJECT_ARRAY_DUMP": 3}  # the field that names the class
TYPE = 3  # of a primitive array, whose class no field names


def _each_without(data: bytes) -> Callable[[str], bytes]:
    """The dump without the middle one of the objects of a class."""
    content = Content(memoryview(data))
    (heap,) = content.dumps
    header = read_header(data)
    assert header is not None
    objects: dict[str, list[tuple[int, int, int, int]]] = {}
    for framed in records(data, header.size):
        if framed.tag in (0x0C, 0x1C):
            for shape, at, fields, _, end in subrecords(data, framed.body, framed.end, Shapes(header.id_size)):
                kind = shape.record.name
                if kind == "PRIMITIVE_ARRAY_DUMP":
                    objects.setdefault(ARRAYS_OF[fields[TYPE]], []).append((framed.at, framed.length, at, end))
                elif kind in CLASS_OF:
                    name = content.name_of_class(heap, fields[CLASS_OF[kind]])
                    objects.setdefault(name, []).append((framed.at, framed.length, at, end))

    def without(name: str) -> bytes:
        found = objects[name]
        record, length, at, end = found[len(found) // 2]
        shorter = (length - (end - at)).to_bytes(4, "big")
        return data[: record + 5] + shorter + data[record + 9 : at] + data[end:]

    return without


@pytest.mark.parametrize("name", ["jdk17", "agent8"])
def test_one_object_left_out_of_a_producers_dump_is_found(name: str, tmp_path: Path) -> None:
    """Of each class whose number the program says."""
    data, said, dump = gold.read(ROOT, name), facts.parse(gold.facts_of(ROOT, name)), tmp_path / "dump"
    classes = sorted({class_name(fact.words[0]) for fact in said if fact.kind == "class" and fact.words[1] != "0"})
    assert {"Everything", "Everything$Node", "Everything$Base", "Everything$Derived", "Everything$Color"} <= set(classes)
    without = _each_without(data)
    for one in classes:
        dump.write_bytes(without(one))
        assert f"of {one.replace('/', '.')}:" in words(dump, said), one


def test_one_object_of_any_class_of_the_histograms_is_found(tmp_path: Path) -> None:
    data, said, dump = gold.read(ROOT, "jdk17"), facts.parse(gold.facts_of(ROOT, "jdk17")), tmp_path / "dump"
    names = [fact.words[0] for fact in said if fact.kind == "objects"]
    primitive = [one for one in names if one in ARRAYS_OF.values()]
    arrays = [one for one in names if one.startswith("[") and one not in primitive]
    instances = [one for one in names if not one.startswith("[")]
    assert len(primitive) > 3 and len(arrays) > 10 and len(instances) > 100
    seed = random.SystemRandom().getrandbits(32)
    print("seed", seed)
    drawn = random.Random(seed)
    without = _each_without(data)
    for one in drawn.sample(primitive, 2) + drawn.sample(arrays, 3) + drawn.sample(instances, 3):
        dump.write_bytes(without(one))
        assert f"objects of {one.replace('/', '.')}:" in words(dump, said), one


def test_a_value_that_is_changed_in_a_producers_dump_is_found(tmp_path: Path) -> None:
    data, said, dump = gold.read(ROOT, "jdk17"), facts.parse(gold.facts_of(ROOT, "jdk17")), tmp_path / "dump"
    for value, where in (("1122334455667788", "Everything.Base.wide"), ("075bcd15", "Everything.Base.whole")):
        assert bytes.fromhex(value) in data
        dump.write_bytes(data.replace(bytes.fromhex(value), bytes(len(value) // 2)))
        assert where.replace("Everything.", "Everything$", 1) in words(dump, said)


AGENTS = ("sa21", "sa25", "sa26", "sa27")  # which lose objects, other ones in each run


def test_a_loss_that_an_agent_is_not_known_for_is_a_surprise(tmp_path: Path) -> None:
    """It is known to lose all that the program holds, or some of what varies."""
    data, dump = gold.read(ROOT, "jdk25"), tmp_path / "dump"
    said = [fact for fact in facts.parse(gold.facts_of(ROOT, "jdk25")) if fact.kind != "objects"]  # an agent asks for no histogram
    classes = {f"instances of {fact.words[0]}": class_name(fact.words[0]) for fact in said if fact.kind == "class"}
    without = _each_without(data)
    changed = {what: without(name) for what, name in classes.items()}
    for value, where in (("1122334455667788", "a field"), ("7fffffffffffffff", "a static field")):
        changed[where] = data.replace(bytes.fromhex(value), bytes.fromhex(f"{value[:-1]}0"))
    changed["a String"] = data.replace(b"conformance caf", b"conformance cof")
    differs = {}
    for what, its_data in changed.items():
        dump.write_bytes(its_data)
        differs[what] = {one.what: one.found for one in facts.compare(dump, said).differences}
        assert differs[what], what
    for agent in AGENTS:
        lines = expectations.read(ROOT / "conformance" / "expectations" / f"{agent}.toml").cases
        assert {*lines} == {"plain", "gz", "core"}
        for line in lines.values():
            known = {what for what, some in differs.items() if line.allows("content differs", some)}
            assert known == {*line.varies} & {*classes} and len(known) < 3, agent


# Whatever the version; HotSpot 8 alone has monitors, too.
ROOTS = {"ROOT_JNI_GLOBAL", "ROOT_JNI_LOCAL", "ROOT_JAVA_FRAME", "ROOT_STICKY_CLASS", "ROOT_THREAD_OBJECT"}


@pytest.mark.parametrize("name", ["jdk8", "jdk17", "jdk28"])
def test_gold_dumps_of_hotspot_have_every_kind_of_root(name: str) -> None:
    assert set(holds(memoryview(gold.read(ROOT, name))).sub_records) >= ROOTS


@pytest.mark.parametrize("name", [*any_one(sorted(INDEX)), "jdk17-gz"])
def test_the_index_has_the_features_that_a_gold_dump_needs(name: str) -> None:
    data = memoryview(gold.read(ROOT, name))
    assert INDEX[name]["requires"] == requires(data, cases.counts_of(holds(data)))


@needs_tool
@pytest.mark.parametrize("name", sorted(INDEX))
def test_auto_recognizes_the_producer_of_a_gold_dump(name: str) -> None:
    """And its profile leaves nothing but a known warning of the agent of 11 (PRODUCERS.md A.3), and what Shark's copy lacks."""
    data = gold.read(ROOT, name)
    words: list[str | Path] = [TOOL, "--profile", "auto", "--format", "json", "-"]
    (report,) = json.loads(subprocess.run(words, input=data, stdout=subprocess.PIPE, check=False).stdout)["files"]
    expected = {"agent8": "jdk8-agent", "sa11": "sa", "sa17": "sa", "sa28": "sa"}.get(INDEX[name]["producer"], "hotspot")
    assert report["profile"] == expected
    left = {one["rule"] for one in report["findings"] if one["severity"] != "note"}
    assert left <= ({"STR-003"} if name == "sa11" else {"STK-010", "REC-009"} if name.startswith("shark-") else set())


def test_every_gold_dump_is_in_the_index() -> None:
    folder = gold.folder_of(ROOT)
    assert {path.name for path in folder.iterdir()} == {"index.json", *(one["file"] for one in INDEX.values())}
    for file in {one["file"] for one in INDEX.values() if "member" in one}:
        with tarfile.open(folder / file, "r:xz") as archive:
            dumps = {name for name in archive.getnames() if name.endswith(".hprof")}
        assert dumps == {one["member"] for one in INDEX.values() if one["file"] == file}


@pytest.mark.parametrize("name", sorted(name for name in INDEX if name.endswith(ways.ALL_ODD)))
def test_a_gold_dump_of_all_odd_content_has_every_kind(name: str) -> None:
    """The index says so, and the program itself: the kinds of today, not those of the day when the dump was made."""
    arguments, said = INDEX[name]["about"].partition(",")[0].split(), "\n".join(gold.facts_of(ROOT, name))
    kinds = set(ways.KINDS_OF_ODD.values())
    assert {*arguments} == {"Everything", ways.SMALL, *kinds}
    assert {kind for kind in kinds if f"\tOdd${kind}" in said} == kinds


def test_a_gold_dump_made_anew_leaves_the_others_of_its_producer(tmp_path: Path) -> None:
    (tmp_path / "conformance").mkdir()
    names, packed = ["a", "a-gz", "a-odd", "a-new"], gzip.compress(b"packed")
    data = {"a": b"1", "a-gz": packed, "a-odd": b"2"}
    gold.keep(tmp_path, "a", [gold.Gold(name, "about", "accept", [], ["gzip"], one, ["said"]) for name, one in data.items()], names)
    gold.keep(tmp_path, "b", [gold.Gold("b", "about", "accept", [], [], b"3", [])], ["b"])
    before = gold.index(tmp_path)
    gold.keep(tmp_path, "a", [gold.Gold("a-odd", "other", "either", ["REC-001"], ["gzip"], b"4", ["more"])], names)
    after = gold.index(tmp_path)
    assert {name: gold.read(tmp_path, name) for name in after} == {"a": b"1", "a-gz": packed, "a-odd": b"4", "b": b"3"}
    assert gold.facts_of(tmp_path, "a") == ["said"] and gold.facts_of(tmp_path, "a-odd") == ["more"]
    assert after == {**before, "a-odd": {**before["a-odd"], "about": "other", "should": "either", "rules": ["REC-001"]}}
    with tarfile.open(gold.folder_of(tmp_path) / "a.tar.xz", "r:xz") as archive:
        assert archive.getnames() == ["a.hprof", "a.facts", "a-odd.hprof", "a-odd.facts"]
    gold.keep(tmp_path, "a", [], ["a"])  # its producer.toml names no other
    assert {*gold.index(tmp_path)} == {"a", "b"}


@needs_tool
def test_an_interrupted_dump_needs_a_finding_and_the_right_offset(tmp_path: Path) -> None:
    """A whole heap dump of 1.0.1 has no end that could be missing: nothing shows that it was interrupted."""
    tool, whole = tools.built(ROOT, "hprof-validate", "validator"), ROOT / "corpus/valid/arrays-all-types-101-id4.hprof"
    found = producers.check(tool, ways.Dump("killed", whole, "strict", interrupted=True), says=False)
    assert not found["fine"] and expectations.outcome_of_dump(found) == "neither error nor warning though interrupted"
    cut, size = tmp_path / "dump", whole.stat().st_size - 1
    cut.write_bytes(whole.read_bytes()[:-1])
    assert producers.check(tool, ways.Dump("killed", cut, "strict", interrupted=True), says=False)["fine"]
    right = producers._validate(tool, cut, "strict")["sound_until"]
    for until in (right - 1, right + 1):
        said = producers._whole(cut, {"sound_until": until, "bytes": size})
        assert said == f"sound until {until} instead of {right} of {size} bytes"
