"""What a program says of itself, against dumps in which it is true and in which it is not."""

from __future__ import annotations

import gzip
import json
import lzma
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from built import TOOL, needs_tool

from hprof_conformance import everything, facts, producers, ways
from hprof_conformance.whole import ends_well, whole_until
from hprof_corpus.assembler import assemble
from hprof_corpus.truth import holds
from hprof_corpus.walk import FramingError

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


@pytest.mark.parametrize("packed", [False, True])
def test_a_dump_that_has_all_that_the_program_says(packed: bool, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    data = assemble(HEAP).file.to_bytes()
    dump.write_bytes(gzip.compress(data) if packed else data)
    assert facts.differences(dump, facts.parse(SAID)) == ""


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (("end\n", "end\nsegment {\n}\nend\n"), "2 heap dumps instead of 1"),
        (("  instance-dump @c class @Node [ int 2 object null ]\n", ""), "Node: 2 instances instead of 3; Node: a chain of 2"),
        (("[ int 1 object @c ]", "[ int 1 object @a ]"), "Node: a chain of 2 instead of 3"),
        (("[ int 0 object @b ]", "[ int 0 object @c ]"), "Node: a chain of 1 instead of 3"),
        (("0x68e9", "0x68e8"), "no String"),
        (("0x68e9", "0x68e900"), "no [B of 2 elements"),
        (("count int 3", "count int 4"), "Node.count is ['00000004'] instead of 00000003"),
        (("class @Node name $Node", "class @Node name $next"), "Node: 0 classes instead of 1"),
        (("end\n", "cut 1\n"), "not readable"),
    ],
)
def test_a_dump_that_lacks_something(change: tuple[str, str], found: str, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    assert change[0] in HEAP
    dump.write_bytes(assemble(HEAP.replace(*change)).file.to_bytes())
    assert found in facts.differences(dump, facts.parse(SAID))


def test_a_malformed_gzip_file_is_reported(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    data = gzip.compress(assemble(HEAP).file.to_bytes())
    dump.write_bytes(data[:-1])
    assert "not readable" in facts.differences(dump, facts.parse(SAID))
    dump.write_bytes(data + b"no member")
    with pytest.raises(FramingError, match="incorrect header check"):
        whole_until(dump)


def test_an_unknown_fact_is_a_difference(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    dump.write_bytes(assemble(HEAP).file.to_bytes())
    assert facts.differences(dump, facts.parse(["classes\tNode\t3"])) == "no such fact: classes"


def test_two_histograms_of_the_vm(tmp_path: Path) -> None:
    """What both say alike must be in the dump; an int[] more may be a filler."""
    dump = tmp_path / "dump"
    ints = "  primitive-array-dump @i type int [ 1 ]\n  primitive-array-dump @j type int [ 2 ]\n"
    dump.write_bytes(assemble(HEAP.replace("}\nend\n", f"{ints}}}\nend\n")).file.to_bytes())
    before = Counter({"Node": 3, "[B": 1, "[I": 1, "java/lang/Class": 9, "[Ljdk/internal/vm/FillerElement;": 1, "Gone": 1})
    assert facts.differences(dump, everything.agreed(before, before - Counter(["Gone"]))) == ""
    found = facts.differences(dump, everything.agreed(before, before))
    assert found == "Gone: 0 objects instead of 1"
    without = Counter({"[I": 1, "Node": 2})
    found = facts.differences(dump, everything.agreed(without, without))
    assert found == "[I: 2 objects instead of 1; Node: 3 objects instead of 2"


def test_until_where_a_dump_is_complete(tmp_path: Path) -> None:
    """Whatever its size: until the last record that is whole."""
    dump = tmp_path / "dump"
    data = assemble(HEAP).file.to_bytes()
    starts = {spot.offset for spot in assemble(HEAP).spots if spot.label.isupper()}
    for size in range(min(starts), len(data)):
        dump.write_bytes(data[:size])
        assert not ends_well(dump)
        until = whole_until(dump)
        assert until <= size and (until in starts or until == size)
        dump.write_bytes(gzip.compress(data[:size])[:-8])
        assert whole_until(dump) == until
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


GOLD = Path(__file__).resolve().parents[1] / "gold"
INDEX = json.loads((GOLD / "index.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(INDEX))
def test_gold_dumps_hold_what_the_program_says(name: str, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    kept = GOLD / INDEX[name]["file"]
    dump.write_bytes(lzma.decompress(kept.read_bytes()) if kept.suffix == ".xz" else kept.read_bytes())
    said = [
        "class\tEverything$Node\t1000",
        "loaded\tEverything$Node\t3",
        "chain\tEverything$Node\tnumber\tnext\t1000",
        "static\tEverything\tj\t7fffffffffffffff",
    ]
    if not name.startswith("shark-"):  # the copy has other text
        said.append("text\tconformance caf\u00e9")
    assert facts.differences(dump, facts.parse(said)) == ""


# Whatever the version; HotSpot 8 alone has monitors, too.
ROOTS = {"ROOT_JNI_GLOBAL", "ROOT_JNI_LOCAL", "ROOT_JAVA_FRAME", "ROOT_STICKY_CLASS", "ROOT_THREAD_OBJECT"}


@pytest.mark.parametrize("name", ["jdk8", "jdk17", "jdk28"])
def test_gold_dumps_of_hotspot_have_every_kind_of_root(name: str) -> None:
    kept = GOLD / INDEX[name]["file"]
    data = memoryview(lzma.decompress(kept.read_bytes()) if kept.suffix == ".xz" else kept.read_bytes())
    assert set(holds(data).sub_records) >= ROOTS


@needs_tool
@pytest.mark.parametrize("name", sorted(INDEX))
def test_auto_recognizes_the_producer_of_a_gold_dump(name: str) -> None:
    """And its profile leaves nothing but a known warning of the agent of 11 (PRODUCERS.md A.3), and what Shark's copy lacks."""
    kept = GOLD / INDEX[name]["file"]
    data = lzma.decompress(kept.read_bytes()) if kept.suffix == ".xz" else kept.read_bytes()
    words: list[str | Path] = [TOOL, "--profile", "auto", "--format", "json", "-"]
    (report,) = json.loads(subprocess.run(words, input=data, stdout=subprocess.PIPE, check=False).stdout)["files"]
    expected = {"agent": "jdk8-agent", "sa": "sa"}.get(name.rstrip("0123456789-gz"), "hotspot")
    assert report["profile"] == expected
    left = {one["rule"] for one in report["findings"] if one["severity"] != "note"}
    assert left <= ({"STR-003"} if name == "sa11" else {"STK-010", "REC-009"} if name.startswith("shark-") else set())


def test_every_gold_dump_is_in_the_index() -> None:
    assert {path.name for path in GOLD.glob("*.hprof.*")} == {one["file"] for one in INDEX.values()}
